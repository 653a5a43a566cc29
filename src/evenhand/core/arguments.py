"""The kinds of arguments, checked at the door: a public function or method says in its annotations what it takes.

An argument of another kind is a `CallError` that names it, before anything is computed; familiar names of arguments
(`core.familiar`) are taken too; whether a number or a name of
the right kind has a meaning is for the function itself to say. What is annotated as `Any` is not looked at here, and
neither is an object of ours, such as a Cube.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from numbers import Integral, Rational
from typing import Any, Literal, TypeVar, Union

import numpy as np

from evenhand.core.arrays import LIKE, Array
from evenhand.core.familiar import in_our_words
from evenhand.core.quantities import number, shown
from evenhand.errors import CallError, either

T = TypeVar("T")

_SERIES = (Iterable, Sequence, Collection, tuple, list)
_LARGEST = 2**63 - 1
_PLURAL = {"text": "texts", "a number": "numbers", "a whole number": "whole numbers"}
_WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "text", type(None): "None"}


def checked(door: T, itself: Collection[str] = ()) -> T:
    """A function that checks the kinds of its arguments, or a class whose public methods do.

    Methods in `itself` check their arguments themselves, where they have more to say.

    >>> @checked
    ... def share(of: str, least: int = 1) -> str:
    ...     return of * least
    >>> share("a", least=[2])
    Traceback (most recent call last):
    evenhand.errors.CallError: least=[2] must be a whole number.
    """
    if not isinstance(door, type):
        return typing.cast(T, _guarded(typing.cast(Callable[..., Any], door)))
    for name, part in list(vars(door).items()):
        made = hasattr(part, "__signature__") or (name == "__init__" and dataclasses.is_dataclass(door))
        if made or name in itself or (name.startswith("_") and name != "__init__"):
            continue  # what made a signature checks it, too
        if isinstance(part, (classmethod, staticmethod)):
            setattr(door, name, type(part)(_guarded(part.__func__)))
        elif inspect.isfunction(part):
            setattr(door, name, _guarded(part))
    return door


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        signature, hints, order = _annotated(function)
        if named and not _open_ended(signature):  # else whoever is handed the arguments knows their names
            named = in_our_words(function.__qualname__, named, signature.parameters)
        if not hints:
            return function(*positional, **named)
        if len(positional) > len(order):  # the rest of them are one argument, or one too many
            bound = signature.bind(*positional, **named)
            bound.arguments |= _fitting(bound.arguments, hints)
            return function(*bound.args, **bound.kwargs)
        first = dict(zip(order, positional, strict=False))
        return function(*{**first, **_fitting(first, hints)}.values(), **{**named, **_fitting(named, hints)})

    return call


def _fitting(given: Mapping[str, Any], hints: Mapping[str, Any]) -> dict[str, Any]:
    """Those arguments that have an annotation, checked."""
    return {name: check_argument(name, hints[name], value) for name, value in given.items() if name in hints}


def _open_ended(signature: inspect.Signature) -> bool:
    return any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())


@cache
def _annotated(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any], list[str]]:
    """The signature; the annotation of each parameter, but for those that name what only a type checker imports; and
    the parameters that may be given by their place."""
    found: dict[str, Any] = {}
    signature = inspect.signature(function)
    for each in signature.parameters.values():
        if each.annotation is each.empty or each.kind is each.VAR_KEYWORD:
            continue
        part = types.SimpleNamespace(__annotations__={each.name: each.annotation})
        with suppress(NameError):
            found |= typing.get_type_hints(part, globalns=getattr(function, "__globals__", {}))
        if each.kind is each.VAR_POSITIONAL and each.name in found:
            found[each.name] = types.GenericAlias(tuple, (found[each.name], ...))
        elif str(getattr(found.get(each.name), "__module__", "")).startswith("evenhand"):
            del found[each.name]  # the function says how to get such an object, by `errors.check_kind`
        elif _is_read(found.get(each.name)):
            del found[each.name]  # whoever reads it says what is wrong with it
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return signature, found, [name for name, each in signature.parameters.items() if each.kind in placed]


def _is_read(hint: Any) -> bool:
    """Is it the annotation of a column or a table, or of one of these and something else?"""
    return any({*typing.get_args(kind)} <= {*_choices(hint)} for kind in LIKE.values())


def check_argument(name: str, hint: Any, value: Any) -> Any:
    """The value, where it fits its annotation; what can be gone through once only is gone through here."""
    if isinstance(value, Iterator) and _takes_many(hint):
        value = tuple(value)
    if isinstance(value, int) and abs(value) > _LARGEST and hint is not Any:
        raise CallError(f"{name}={shown(value)} is too large.")
    if not fits(hint, value):
        such = f", such as [{shown(value)}]" if isinstance(value, str) and _takes_many(hint) else ""
        raise CallError(f"{name}={shown(value)} must be {either(dict.fromkeys(_described(hint)))}{such}.")
    return float(value) if isinstance(value, Rational) and not isinstance(value, Integral) else value


def _takes_many(hint: Any) -> bool:
    return any(typing.get_origin(each) in _SERIES for each in _choices(hint))


def _choices(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)


def fits(hint: Any, value: Any) -> bool:  # noqa: PLR0911 - one for each kind of annotation
    """Is the value of the kind that the annotation says?

    >>> fits(int, True), fits(float, 3), fits(tuple[str, ...], ["a"]), fits(Mapping[str, float], {1: 2.0})
    (False, True, True, False)
    """
    if hint is Any or isinstance(hint, TypeVar):
        return True
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(each, value) for each in inner)
    if origin is Literal:
        return any(type(value) is type(each) for each in inner)  # which of them is for the function to check
    if origin in _SERIES:
        if origin is tuple and not isinstance(value, (tuple, list)):
            return False
        return is_series(value) and all(fits(inner[0], each) for each in value)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(fits(inner[0], key) for key in value)
    if hint is bool:
        return isinstance(value, (bool, np.bool_))
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, float) or math.isfinite(number(value))
    kind = origin or hint
    return not isinstance(kind, type) or isinstance(value, kind)


def array_of(name: str, values: Any) -> Array:
    """The values as an array; lists within them that differ in length are an error."""
    try:
        return np.asarray(values)
    except ValueError:
        problem = "holds lists that differ in length: pass one value for each row."
        raise CallError(f"{name}={shown(values)} {problem}") from None


def check_fields(record: Any) -> None:
    """Check the fields of a record that a caller makes, by their annotations: for its `__post_init__`."""
    hints = typing.get_type_hints(type(record))
    for part in dataclasses.fields(record):
        check_argument(part.name, hints[part.name], getattr(record, part.name))


def is_series(value: Any) -> bool:
    """Are these several values? A text is one value, though Python goes through its letters.

    >>> is_series(("a", "b")), is_series("ab"), is_series(np.array(1)), is_series({"a": 1})
    (True, False, False, False)
    """
    several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    return several and getattr(value, "ndim", 1) == 1


def _described(hint: Any) -> Iterator[str]:
    """What fits, in words."""
    for each in _choices(hint):
        origin = typing.get_origin(each)
        if each in _WORDS:
            yield _WORDS[each]
        elif origin is Literal:
            yield either(map(repr, typing.get_args(each)))
        elif origin in _SERIES:
            inner = either(_described(typing.get_args(each)[0]))
            yield f"a list of {_PLURAL.get(inner, inner)}" if typing.get_args(each)[0] is not Any else "a list"
        else:
            yield _named(origin or each)


_NAMED: dict[Any, str] = {Mapping: "a mapping", os.PathLike: "a path", Callable: "a function"}


def _named(kind: Any) -> str:
    for known, words in _NAMED.items():
        if isinstance(kind, type) and issubclass(kind, known):
            return words
    name = getattr(kind, "__name__", str(kind))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
