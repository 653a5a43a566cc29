"""The columns that a causal model reads from a table in memory, and puts back into a table of the same kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.core import frames
from evenhand.errors import CallError, DataError, nearest, shorten
from evenhand.sources.features import Column, ColumnRules, Columns, read_columns
from evenhand.sources.files import is_path
from evenhand.sources.levels import as_numbers
from evenhand.sources.memory import MemorySource

NODES = ColumnRules(
    "column",
    most_levels=200,
    too_many_levels="an id, or numbers written as text? Make them numbers, or take it out of the graph.",
    text_numbers=False,
    binary_categories=False,
    own_order=True,
    missing_is="a counterfactual needs every value. Leave these rows out, or fill them, and say so.",
)
"""For nodes of a graph: text is a category, and numbers are numbers, also 0 and 1."""

_EXPONENT = re.compile(r"\.?([eE][-+]?[0-9]+)?$")  # what programs write after a plain number, as in 1e-05 and 1.


def names_of(data: Any) -> list[str]:
    """The names of all columns of a table."""
    return list(_source(data).columns)


def row_count(data: Any) -> int:
    """How many rows a table has."""
    source = _source(data)
    return len(source.data[next(iter(source.columns.values()))])


def read_nodes(
    data: Any, names: Iterable[str], *, categorical: Collection[str] = (), like: Mapping[str, Column] | None = None
) -> Columns:
    """Columns of a table by name. A missing or infinite value is an error; with `like`, they are coded as those are."""
    columns = read_columns(_source(data), list(names), NODES, categorical=categorical, like=like)
    if not all(len(column) for column in columns.values()):
        raise DataError("the data has no rows.")
    return columns


def with_columns(data: Any, columns: Mapping[str, Column]) -> Any:
    """The caller's table with these columns in place of its own; columns that it does not have are left out."""
    source = _source(data)
    known = {source.columns[name]: column.raw() for name, column in columns.items() if name in source.columns}
    return frames.replace(source.data, known)


def take_rows(data: Any, rows: Any) -> Any:
    """The caller's table at some rows."""
    return frames.take(_source(data).data, rows)


def select_features(table: Any, names: Sequence[str]) -> Any:
    """The columns of a table that a model predicts from; one that is not there is an error."""
    known = names_of(table)
    for name in names:
        if name not in known:
            raise CallError(f"predict needs a column {shorten(name)!r}, which the data lacks; {nearest(name, known)}")
    return frames.select(table, names)


def text_numbers(table: Mapping[str, Any], categorical: Collection[str] = ()) -> dict[str, Any]:
    """The columns of a file, with numbers in place of text in columns where every value is a number written as text.

    A CSV file does not tell numbers and text apart. A missing value among numbers is NaN; a code such as 007 is text.

    >>> text_numbers({"age": ["31", "40"], "code": ["007", "012"]})
    {'age': array([31., 40.]), 'code': ['007', '012']}
    """
    return {name: column if name in categorical else _as_numbers(column) for name, column in table.items()}


def _as_numbers(column: Any) -> Any:
    """A list of text that spells numbers as an array; any other column as it is."""
    if not isinstance(column, list) or not all(value is None or isinstance(value, str) for value in column):
        return column
    levels = [value for value in dict.fromkeys(column) if value is not None]
    if as_numbers([_EXPONENT.sub("", level, count=1) for level in levels], declared=False) is None:
        return column
    numbers: dict[str | None, float] = {None: np.nan} | {level: float(level) for level in levels}
    return np.array([numbers[value] for value in column])


def _source(data: Any) -> MemorySource:
    if is_path(data):
        raise CallError("a causal model needs the rows in memory: read the file into a dataframe first.")
    source = MemorySource(data)
    if source.data is None:
        raise CallError("data is missing: pass a table (pandas, Polars, PyArrow, or a mapping of arrays).")
    return source
