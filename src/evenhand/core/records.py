"""Frozen records as plain data and back, by the types of their fields: one way to write them, for every file.

Undefined is null, an infinity is spelled out. A record reads back from what it wrote; a field that a file does not
have takes its default, so that files of an older version stay readable.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import types
import typing
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union

Reader = Callable[[Any], Any]
T = TypeVar("T")

UNSAVED = types.MappingProxyType({"saved": False})
"""The metadata of a field that is neither written nor read."""
NEWER = types.MappingProxyType({"newer": True})
"""The metadata of a field that is written only where it is not None: files of earlier versions, which do not have it,
keep their checksum."""

INFINITIES = {"infinite": math.inf, "-infinite": -math.inf}


class MisfitError(ValueError):
    """A value that is not what its place asks for; `path` leads to it."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path: list[str | int] = []

    def __str__(self) -> str:
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return f"{steps.lstrip('.')} {self.problem}".strip()


def number(value: float | None) -> float | str | None:
    """A number for JSON, which has no NaN and no infinity."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "infinite" if value > 0 else "-infinite"


def write(value: Any) -> Any:
    """A record, or whatever its fields hold, as plain data.

    >>> write({"low": -math.inf, "group": ("a", None), "value": math.nan})
    {'low': '-infinite', 'group': ['a', None], 'value': None}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        told = {part: getattr(value, part.name) for part in saved_fields(value)}
        return {
            part.name: write(item) for part, item in told.items() if not (item is None and "newer" in part.metadata)
        }
    if isinstance(value, Mapping):
        return {str(key): write(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [write(item) for item in value]
    return number(value) if isinstance(value, float) else value


def saved_fields(record: Any) -> list[dataclasses.Field[Any]]:
    """The fields of a record, or of its class, that are written and read."""
    return [part for part in dataclasses.fields(record) if part.metadata.get("saved", True)]


def read(kind: type[T], value: Any, place: str = "") -> T:
    """A record of that kind from plain data; anything that does not fit is named with its place.

    >>> from evenhand.core.results import Estimate
    >>> read(Estimate, {"value": None, "low": 0, "high": "infinite"})
    Estimate(value=nan, low=0.0, high=inf)
    >>> read(Estimate, {"value": [0.5]}, "difference")
    Traceback (most recent call last):
    evenhand.core.records.MisfitError: difference.value is [0.5], not a number
    """
    try:
        record: T = reader(typing.cast(Any, kind))(value)
    except MisfitError as error:
        if place:
            error.path.insert(0, place)
        raise
    return record


def refuse_unknown(kind: type, value: Mapping[str, Any], place: str) -> None:
    """Say no to fields that this version does not know: what they mean would be lost."""
    known = {part.name for part in dataclasses.fields(kind)}
    strange = [key for key in value if key not in known]
    if strange:
        raise MisfitError(f"{place} has {shown(strange[0])}, which this version does not know")


def shown(value: Any) -> str:
    """A strange value in a message, short."""
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


@cache
def reader(kind: Any) -> Reader:
    """What reads values of a type."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if dataclasses.is_dataclass(kind):
        return _record(typing.cast(type, kind))
    if origin in (Union, types.UnionType):
        return _one_of([reader(part) for part in parts if part is not type(None)], type(None) in parts)
    if origin is Literal:
        return _literal(parts)
    if origin is tuple:
        return _tuple(parts)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(reader(parts[1]))
    raise TypeError(f"no way to read {kind!r} from plain data")


def _float(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str) and value in INFINITIES:
        return INFINITIES[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise MisfitError(f"is {shown(value)}, not a number")
    try:
        return float(value)
    except OverflowError:
        raise MisfitError(f"is {shown(value)}, too large for a number") from None


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**63:
        raise MisfitError(f"is {shown(value)}, not a whole number")
    return value


def _exactly(kind: type, name: str) -> Reader:
    def take(value: Any) -> Any:
        if not isinstance(value, kind):
            raise MisfitError(f"is {shown(value)}, not {name}")
        return value

    return take


_SIMPLE: dict[Any, Reader] = {
    Any: lambda value: value,
    object: lambda value: value,
    float: _float,
    int: _whole,
    str: _exactly(str, "text"),
    bool: _exactly(bool, "true or false"),
    type(None): _exactly(type(None), "null"),
}


def _literal(choices: tuple[Any, ...]) -> Reader:
    def take(value: Any) -> Any:
        if not isinstance(value, str) or value not in choices:
            raise MisfitError(f"is {shown(value)}, not one of {', '.join(map(repr, choices))}")
        return value

    return take


def _one_of(readers: list[Reader], may_lack: bool) -> Reader:
    def take(value: Any) -> Any:
        if value is None and may_lack:
            return None
        for read_part in readers[:-1]:
            try:
                return read_part(value)
            except MisfitError:
                continue
        return readers[-1](value)

    return take


def _tuple(parts: tuple[Any, ...]) -> Reader:
    many = len(parts) == 2 and parts[1] is Ellipsis
    each = [reader(part) for part in parts if part is not Ellipsis]

    def take(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise MisfitError(f"is {shown(value)}, not a list")
        if not many and len(value) != len(each):
            raise MisfitError(f"has {len(value)} parts, not {len(each)}")
        values = []
        for i, item in enumerate(value):
            try:
                values.append(each[0 if many else i](item))
            except MisfitError as error:
                error.path.insert(0, i)
                raise
        return tuple(values)

    return take


def _mapping(read_item: Reader) -> Reader:
    def take(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise MisfitError(f"is {shown(value)}, not an object")
        return {key: _within(key, read_item, item) for key, item in value.items()}

    return take


def _record(kind: type) -> Reader:
    hints = typing.get_type_hints(kind)
    fields = saved_fields(kind)
    readers = {part.name: reader(hints[part.name]) for part in fields}
    required = [
        part.name
        for part in fields
        if part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING
    ]

    def take(value: Any) -> Any:
        if not isinstance(value, dict):
            raise MisfitError(f"is {shown(value)}, not an object")
        for name in required:
            if name not in value:
                raise MisfitError(f"lacks {name!r}")
        return kind(**{key: _within(key, readers[key], item) for key, item in value.items() if key in readers})

    return take


def _within(key: str, read_item: Reader, item: Any) -> Any:
    try:
        return read_item(item)
    except MisfitError as error:
        error.path.insert(0, shown(key) if not key.isidentifier() else key)
        raise


def pack(value: Any) -> str:
    """Plain data as base64 of raw deflate of JSON, as the page's DecompressionStream("deflate-raw") reads it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()
