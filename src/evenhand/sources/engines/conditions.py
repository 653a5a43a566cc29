"""Conditions on columns as expressions of an engine, with the meaning of `Condition.holds` as far as its types allow:
text is text, whatever it looks like, unless the engine holds the column as numbers or dates."""

from __future__ import annotations

from datetime import date, datetime
from functools import reduce
from operator import and_, or_
from typing import Any

import narwhals.stable.v2 as nw

from evenhand.errors import DataError, shorten
from evenhand.sources.columns import as_floats
from evenhand.sources.conditions import ORDERED, Condition, Value, as_number
from evenhand.sources.engines.plan import Columns


def chosen(columns: Columns) -> nw.LazyFrame[Any]:
    """The frame with the rows that fulfil all conditions."""
    return columns.frame.filter(reduce(and_, [_test(columns, each) for each in columns.roles.where]))


def _test(columns: Columns, condition: Condition) -> nw.Expr:
    name = columns.reached[condition.column]
    kind = columns.schema[name]
    value = nw.col(name).cast(nw.String) if kind in (nw.Categorical, nw.Enum) else nw.col(name)
    known = ~value.is_null()
    if kind.is_float() and columns.has_nan:
        known = known & ~value.is_nan()
    absent: list[Any] = ["", *columns.roles.na] if _is_text(kind) else []
    absent += as_floats(columns.roles.na) if kind.is_numeric() else []
    for each in absent:
        known = known & (value != nw.lit(each))
    wanted = [_literal(columns, condition, kind, each) for each in condition.values]
    if condition.operator in ORDERED:
        return known & ORDERED[condition.operator](value, wanted[0])
    lower = _is_text(kind) and any(each.truth for each in condition.values)
    texts = value.str.to_lowercase() if lower else value  # true and TRUE are one, where they were not quoted
    pairs = [
        (texts if each.truth and lower else value, one) for each, one in zip(condition.values, wanted, strict=True)
    ]
    equal = [column == one for column, one in pairs if one is not None]
    found = reduce(or_, equal) if equal else known & ~known
    return known & (~found if condition.operator == "!=" else found)


def _is_text(kind: Any) -> bool:
    return kind in (nw.String, nw.Categorical, nw.Enum)


def _literal(columns: Columns, condition: Condition, kind: Any, wanted: Value) -> Any:
    """The value in the type of the column; None where the column cannot hold it."""
    shown, ordered = shorten(condition.said), condition.operator in ORDERED
    if kind.is_numeric():
        number = as_number(wanted.text)
        if number is None and ordered:
            raise DataError(
                f"where={shown!r}: the column is held as {kind}, and {shorten(wanted.text)!r} is not a number."
            )
        return None if number is None else columns.literal(number)
    if kind == nw.Boolean and not ordered:
        truth = {"true": True, "1": True, "false": False, "0": False}.get(wanted.text.casefold())
        return None if truth is None else nw.lit(truth)
    if kind in (nw.Date, nw.Datetime):
        try:
            moment = datetime.fromisoformat(wanted.text if len(wanted.text) > 7 else f"{wanted.text}-01")
        except ValueError:
            raise DataError(f"where={shown!r}: the column is held as {kind}: write a date as 2026-01-31.") from None
        return nw.lit(date(moment.year, moment.month, moment.day) if kind == nw.Date else moment)
    if not _is_text(kind) or (ordered and wanted.number is not None):
        raise DataError(f"where={shown!r}: the column is held as {kind}: cast it in the engine first.")
    return nw.lit(wanted.text.casefold() if wanted.truth else wanted.text)
