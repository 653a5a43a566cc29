"""Of which kind the values of an attribute were, before they were spelled: so that results can give them back.

A cube names groups by their spelling, whatever held them, so that cubes of a CSV and of a dataframe add up. The kind
of each attribute travels beside the names, is not compared, and turns a spelling back into the caller's value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

TEXT = "text"
_CATEGORY = " category"

# In the order in which the types of values are asked for: a truth value is a whole number too, and a time a date.
_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool, np.bool_),
    "integer": (int, np.integer),
    "float": (float, np.floating),
    "decimal": (Decimal,),
    "datetime": (datetime,),
    "date": (date,),
}
_PARSERS: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: {"True": True, "False": False}[text],
    "integer": int,
    "float": float,
    "decimal": Decimal,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
}
NUMBERS = ("integer", "float", "decimal")


def kind_of(values: Sequence[Any], *, categories: bool = False) -> str:
    """The kind of some values; `categories` says that numbers are only names.

    >>> kind_of([1, 2]), kind_of([1, 2.5]), kind_of(["1"]), kind_of([True]), kind_of([1, "a"])
    ('integer', 'float', 'text', 'boolean', 'text')
    >>> kind_of([7, 9], categories=True)
    'integer category'
    """
    kinds = {next((kind for kind, types in _TYPES.items() if isinstance(value, types)), TEXT) for value in values}
    kind = united(kinds)
    return kind + _CATEGORY if categories and kind in NUMBERS else kind


def united(kinds: Iterable[str]) -> str:
    """The kind of values of several kinds: whole numbers and fractions are fractions, anything else is text."""
    several = set(kinds)
    plain = {kind.removesuffix(_CATEGORY) for kind in several}
    suffix = _CATEGORY if any(map(are_categories, several)) else ""
    if plain == {"integer", "float"}:
        return "float" + suffix
    return next(iter(several)) if len(several) == 1 else next(iter(plain)) + suffix if len(plain) == 1 else TEXT


def united_by_name(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The kinds of attributes in several cubes; one that does not know a kind has no say."""
    found: dict[str, list[str]] = {}
    for part in parts:
        for name, kind in part.items():
            found.setdefault(name, []).append(kind)
    return {name: united(kinds) for name, kinds in found.items()}


def are_categories(kind: str) -> bool:
    """Are these numbers that are only names?"""
    return kind.endswith(_CATEGORY)


def value_of(text: str | None, kind: str) -> Any:
    """A spelled value as what it was; the text itself where it does not fit the kind, as the name of a band.

    >>> value_of("1", "integer"), value_of("1", "text"), value_of("True", "boolean"), value_of(None, "float")
    (1, '1', True, None)
    """
    parse = _PARSERS.get(kind.removesuffix(_CATEGORY))
    if text is None or parse is None:
        return text
    try:
        return parse(text)
    except (ValueError, KeyError, InvalidOperation):
        return text
