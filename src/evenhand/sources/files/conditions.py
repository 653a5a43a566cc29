"""Conditions on columns as SQL over files, with the meaning of `Condition.holds`."""

from __future__ import annotations

from evenhand.errors import DataError, shorten
from evenhand.sources.conditions import Condition, Value, as_number
from evenhand.sources.files.formats import Column, Table, double, literal
from evenhand.sources.files.statement import present
from evenhand.sources.roles import Roles

_DAY = "[0-9]{4}-[0-9]{2}(-[0-9]{2}([ T].*)?)?"


def filtered(table: Table, roles: Roles) -> Table:
    """The rows that fulfil all conditions."""
    if not roles.where:
        return table
    for each in roles.where:
        if each.column in table.twice:
            raise DataError(f"two columns are called {shorten(each.column)!r}: rename one.")
    tests = " AND ".join(f"({_test(table.columns[each.column], each, roles)})" for each in roles.where)
    return table._replace(relation=f"(SELECT * FROM {table.relation} WHERE {tests})")  # noqa: S608 - values are quoted


def _test(column: Column, condition: Condition, roles: Roles) -> str:
    if condition.operator == "!=":
        return f"{_known(column, roles)} AND NOT coalesce({_equal(column, condition.values[0], roles)}, false)"
    if condition.operator in ("=", "in"):
        return " OR ".join(f"coalesce({_equal(column, value, roles)}, false)" for value in condition.values)
    wanted = condition.values[0]
    if wanted.number is not None:
        return f"{present(column, roles)} {condition.operator} {double(wanted.number)}"
    text = _text(column)
    day = f"regexp_full_match({text}, {literal(_DAY)}, 's')"
    return f"{_known(column, roles)} AND {day} AND {text} {condition.operator} {literal(wanted.text)}"


def _known(column: Column, roles: Roles) -> str:
    absent = "".join(f" AND {_text(column)} <> {literal(text)}" for text in roles.na)
    number = f" AND {present(column, roles)} IS NOT NULL" if column.numeric else ""
    return f"{column.key} IS NOT NULL{number}{absent}"


def _text(column: Column) -> str:
    """The value as text: a time with a zone in UTC, as everywhere."""
    return column.text if column.kind == "JSON" else f"CAST({column.key} AS VARCHAR)"


def _equal(column: Column, wanted: Value, roles: Roles) -> str:
    """Whether the column holds a value; quoted text is a number only where the column holds numbers."""
    number = as_number(wanted.text) if column.numeric else wanted.number
    if column.numeric:
        return "false" if number is None else f"{present(column, roles)} = {double(number)}"
    if column.kind == "BOOLEAN" and number is None:
        return f"{_text(column)} = {literal(wanted.text.casefold())}"
    if number is not None:
        return f"{_known(column, roles)} AND {present(column, roles)} = {double(number)}"
    text, other = _text(column), wanted.text
    text, other = (f"lower({text})", other.casefold()) if wanted.truth else (text, other)
    return f"{_known(column, roles)} AND {text} = {literal(other)}"
