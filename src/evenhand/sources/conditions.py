"""Conditions on columns, from the argument where=: which rows are counted.

A condition is a column, one of = != < <= > >= in, and a value or a list of values. It is not SQL and nothing of it is
run: it is read here and compared value by value, with one meaning for tables, files and engines. A missing value
fulfils no condition.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from operator import ge, gt, le, lt
from typing import Any, NamedTuple

from evenhand.errors import DataError, Problems, nearest, shorten
from evenhand.sources.spelling import spelling

ORDERED: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_OPERATOR = r"(?s)\s*(!=|<=|>=|==|=|<|>|in(?=[\s(]))\s*(.*)"
_VALUE = r"\s*(?:'((?:[^']|'')*)'|([^',()]+?))\s*(?:,|$)"
_SECOND = r"(?i)[=<>!]|\s(and|or|not)\s"  # in a value without quotes, a slip
_DAY = r"(?s)\d{4}-\d\d(-\d\d([ T].*)?)?"
"""How text writes a date, by which it can be ordered: the year first."""


class NoRowsError(DataError):
    """No row fulfils the conditions."""


class Value(NamedTuple):
    """A value of a condition: its text and, where it was not quoted, the number or the truth value that it is."""

    text: str
    number: float | None = None
    truth: bool = False


class Condition(NamedTuple):
    """A column, an operator and what its values are compared with; `said` is how the caller wrote it.

    >>> [parse("age >= 65", ["age"]).holds(age) for age in (64, 65, "70", None, "old")]
    [False, True, True, False, False]
    """

    column: str
    operator: str
    values: tuple[Value, ...]
    said: str

    def holds(self, value: object) -> bool:
        """Does a value of the column fulfil it?"""
        if value is None:
            return False
        if self.operator == "!=":
            return not _equal(value, self.values[0])
        if self.operator in ("=", "in"):
            return any(_equal(value, each) for each in self.values)
        wanted = self.values[0]
        if wanted.number is not None:
            number = as_number(value)
            return number is not None and ORDERED[self.operator](number, wanted.number)
        text = spelling(value)
        return re.fullmatch(_DAY, text) is not None and ORDERED[self.operator](text, wanted.text)


def as_number(value: object) -> float | None:
    """A value as a number, where it is one or is text that spells one."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _equal(value: object, wanted: Value) -> bool:
    if isinstance(value, str):
        if wanted.truth:
            return value.casefold() == wanted.text.casefold()
        return value == wanted.text if wanted.number is None else as_number(value) == wanted.number
    if isinstance(value, bool) or type(value).__name__ == "bool_" or isinstance(value, date):
        return spelling(value).casefold() == wanted.text.casefold() or (
            wanted.number is not None and as_number(value) == wanted.number
        )
    number = as_number(wanted.text)
    return spelling(value) == wanted.text or (number is not None and as_number(value) == number)


def conditions(where: Any, names: Sequence[str] | None, problems: Problems) -> tuple[Condition, ...]:
    """The conditions of where=: one text, or several, all of which hold. What is wrong is added to `problems`."""
    if where is None:
        return ()
    texts = [where] if isinstance(where, str) else where
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        problems.add(f"where={shorten(repr(where))} must be a text such as {_SUCH}, or a list of such texts.")
        return ()
    if texts and names is None:
        problems.add("where= names columns, and there is no table: leave out the rows of the arrays yourself.")
        return ()
    found = []
    for text in texts:
        try:
            found.append(parse(text, names or ()))
        except ValueError as error:
            problems.add(str(error))
    return tuple(found)


def check_codes(found: Sequence[Condition], labels: Mapping[str, Mapping[str, str]], problems: Problems) -> None:
    """Conditions are on the values of the data: the name that labels= gives to one of them is not found there."""
    for each in found:
        codes = labels.get(each.column, {})
        for value in each.values:
            code = next((code for code, name in codes.items() if name == value.text), None)
            if code is not None and value.text not in codes:
                problems.add(
                    f"where={shorten(each.said)!r}: {shorten(value.text)!r} is the name of {code!r} in labels=, and "
                    f"conditions are on the values of the data: write {shorten(code)} in its place."
                )


_SUCH = '"sex = \'F\'", "age >= 65" or "state in (NY, NJ)"'


def parse(text: str, names: Sequence[str]) -> Condition:
    """A condition on one of some columns; ValueError with the remedy where it is not one.

    The column may stand in double quotes. It is found by its name, which may hold any character.

    >>> parse("state in (NY, 'N''J')", ["state"]).values
    (Value(text='NY', number=None, truth=False), Value(text="N'J", number=None, truth=False))
    """
    shown = shorten(text)
    for name in sorted(names, key=len, reverse=True):
        for start in (name, '"' + name.replace('"', '""') + '"'):
            match = re.fullmatch(_OPERATOR, text.strip()[len(start) :]) if text.strip().startswith(start) else None
            if match is not None:
                return _condition(name, match[1].replace("==", "="), match[2].strip(), text.strip())
    column, operator = re.match(r'\s*("[^"]*"|[^=!<>\s]*)\s*(.?)', text, re.DOTALL).groups()  # type: ignore[union-attr]
    bare = column.strip('"')
    if operator and bare and bare not in names:
        raise ValueError(f"where={shown!r}: {shorten(bare)!r} is not a column; {nearest(bare, names)}")
    raise ValueError(f"where={shown!r} is not a condition: write a column, then = != < <= > >= or in, as in {_SUCH}.")


def _condition(column: str, operator: str, rest: str, said: str) -> Condition:
    shown = shorten(said)
    if operator == "in":
        rest = rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest
    values, place = [], 0
    while place < len(rest):
        match = re.compile(_VALUE).match(rest, place)
        if match is None:
            raise ValueError(
                f"where={shown!r}: {shorten(rest[place:])!r} is not a value: quote text that holds marks, as in "
                "\"city = 'St. John''s'\"."
            )
        quoted, bare = match.groups()
        if bare is not None and re.search(_SECOND, bare):
            raise ValueError(
                f"where={shown!r}: {shorten(bare)!r} looks like more than one value: give each condition by itself, "
                "all of which must hold, or quote the value, as in \"city = 'A and B'\"."
            )
        truth = bare is not None and bare.casefold() in ("true", "false")
        values.append(Value(quoted.replace("''", "'")) if bare is None else Value(bare, as_number(bare), truth))
        place = match.end()
    if not values:
        raise ValueError(f"where={shown!r} has no value after {operator}: give one, as in {_SUCH}.")
    if operator != "in" and len(values) > 1:
        raise ValueError(f"where={shown!r} has several values: write {shorten(column)} in (…), or give one.")
    wanted = values[0]
    if operator in ORDERED and wanted.number is None and not re.fullmatch(_DAY, wanted.text):
        raise ValueError(
            f"where={shown!r}: {operator} compares numbers and dates that begin with the year, as 2026-01-31; "
            f"{shorten(wanted.text)!r} is neither."
        )
    return Condition(column, operator, tuple(values), said)


def note(found: Sequence[Condition]) -> str:
    """What an audit says of the rows that it counts."""
    return f"Only rows are counted where {' and '.join(shorten(each.said) for each in found)}."
