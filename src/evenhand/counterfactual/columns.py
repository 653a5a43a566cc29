"""Columns of a table as arrays of numbers or of codes, and back into a table of the caller's own kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Ints
from evenhand.errors import CallError, DataError, Problems, listing, nearest, shorten
from evenhand.sources.columns import encode, library, numbers
from evenhand.sources.files import is_path
from evenhand.sources.levels import order_key
from evenhand.sources.memory import MemorySource
from evenhand.sources.roles import spelling

MOST_LEVELS = 200

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]*)?([eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Column:
    """One column: numbers, or with `levels` the place of each row's value among them."""

    name: str
    values: Array
    levels: tuple[Any, ...] | None = None

    @property
    def categorical(self) -> bool:
        return self.levels is not None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Ints) -> Column:
        return replace(self, values=self.values[rows])

    def filled(self, value: Any) -> Column:
        """The same column with one value in every row; a value that a categorical one does not know is an error."""
        if self.levels is None:
            if not _is_number(value) or not np.isfinite(float(value)):
                raise CallError(f"{shorten(self.name)!r} holds numbers, so it cannot be {shorten(repr(value))}.")
            return replace(self, values=np.full(len(self), float(value)))
        spelled = [spelling(level) for level in self.levels]
        if spelling(value) not in spelled:
            raise CallError(
                f"{shorten(self.name)!r} is never {shorten(repr(value))}; {nearest(spelling(value), spelled)}"
            )
        return replace(self, values=np.full(len(self), spelled.index(spelling(value)), dtype=np.int64))

    def raw(self) -> Array:
        """The values as a table holds them."""
        if self.levels is None:
            return self.values
        if all(isinstance(level, (bool, np.bool_)) for level in self.levels):
            return np.array(self.levels, dtype=np.bool_)[self.values]
        levels = np.empty(len(self.levels), dtype=object)
        levels[:] = self.levels
        return levels[self.values]


Columns = dict[str, Column]


def names_of(data: Any) -> list[str]:
    """The names of all columns."""
    return list(_source(data).columns)


def read(
    data: Any, names: Iterable[str], *, categorical: Collection[str] = (), like: Mapping[str, Column] | None = None
) -> Columns:
    """The columns of that name, whole; missing and infinite values are errors. With `like`, coded as there."""
    source, wanted = _source(data), list(names)
    problems, found = Problems(), {}
    for name in wanted:
        if name not in source.columns:
            problems.add(f"there is no column {shorten(name)!r}; {nearest(name, list(source.columns))}")
        elif name in source.twice:
            problems.add(f"two columns are called {shorten(name)!r}: rename one.")
        else:
            given = source.data[source.columns[name]]
            known = None if like is None else like[name]
            column = _column(name, given, name in categorical or _declared(given), known, problems)
            if column is not None:
                found[name] = column
    problems.raise_if_any(DataError)
    lengths = {name: len(column) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"lengths differ: {', '.join(f'{shorten(name)!r} {size:,}' for name, size in lengths.items())}."
        )
    if not all(lengths.values()):
        raise DataError("the data has no rows.")
    return found


def _source(data: Any) -> MemorySource:
    if is_path(data):
        raise CallError("a causal model needs the rows in memory: read the file into a dataframe first.")
    source = MemorySource(data)
    if source.data is None:
        raise CallError("data is missing: pass a table (pandas, Polars, PyArrow, or a mapping of arrays).")
    return source


def _declared(column: Any) -> bool:
    """Does the column's own type say that it holds categories, whatever they look like?"""
    return "categor" in str(getattr(column, "dtype", "")).lower() or "enum" in str(getattr(column, "dtype", "")).lower()


def _column(name: str, given: Any, categorical: bool, like: Column | None, problems: Problems) -> Column | None:
    categorical = categorical if like is None else like.categorical
    if _plain_numbers(given) and not categorical:
        return _numeric(name, numbers(given, "", name)[0], problems)
    levels, codes = encode(given, shorten(repr(name)))
    if (codes < 0).any():
        problems.add(_missing(name, int((codes < 0).sum())))
        return None
    numeric = all(_is_number(level) for level in levels)
    if categorical or (like is None and not numeric):
        return _coded(name, levels, codes.astype(np.int64), like, ordered=_ordered(given), problems=problems)
    if not numeric:
        problems.add(f"column {shorten(name)!r} held numbers when the model was fitted and now holds text.")
        return None
    return _numeric(name, np.array([float(level) for level in levels])[codes] if levels else np.zeros(0), problems)


def _numeric(name: str, values: Array, problems: Problems) -> Column | None:
    if np.isnan(values).any():
        problems.add(_missing(name, int(np.isnan(values).sum())))
        return None
    if not np.isfinite(values).all():
        problems.add(f"column {shorten(name)!r} holds an infinite value: leave those rows out.")
        return None
    return Column(name, values)


def _missing(name: str, rows: int) -> str:
    return (
        f"column {shorten(name)!r} is missing in {rows:,} rows: a counterfactual needs every value. Leave these rows "
        "out, or fill them, and say so."
    )


def _plain_numbers(given: Any) -> bool:
    """Does the column's type alone say that it holds numbers? Then its values need no look."""
    kind = getattr(given, "dtype", None)
    if library(given) == "polars":
        return bool(kind.is_numeric())  # type: ignore[union-attr]
    return (
        library(given) in ("numpy", "pandas") and getattr(kind, "kind", "") in "iuf" and getattr(given, "ndim", 1) == 1
    )


def _ordered(given: Any) -> bool:
    kind = getattr(given, "dtype", None)
    return bool(getattr(kind, "ordered", False)) or (library(given) == "polars" and "enum" in str(kind).lower())


def _coded(
    name: str, levels: list[Any], codes: Ints, like: Column | None, *, ordered: bool, problems: Problems
) -> Column | None:
    used = np.unique(codes)
    if like is None:
        chosen = [levels[i] for i in used]
        if not ordered:
            chosen.sort(key=lambda level: order_key(spelling(level)))
        if len(chosen) > MOST_LEVELS:
            problems.add(
                f"column {shorten(name)!r} is text with {len(chosen):,} different values: an id, or numbers written as "
                "text? Make them numbers, or take it out of the graph."
            )
            return None
    else:
        chosen = list(like.levels or ())
    places = {spelling(level): i for i, level in enumerate(chosen)}
    unknown = [levels[i] for i in used if spelling(levels[i]) not in places]
    if unknown:
        problems.add(f"column {shorten(name)!r} holds {listing(unknown)}, which the model has not seen.")
        return None
    lookup = np.full(len(levels), -1, dtype=np.int64)
    for i in used:
        lookup[i] = places[spelling(levels[i])]
    return Column(name, lookup[codes], tuple(chosen))


def _is_number(level: Any) -> bool:
    return isinstance(level, (Real, Decimal)) and not isinstance(level, (bool, np.bool_))


def replaced(data: Any, columns: Mapping[str, Column]) -> Any:
    """The caller's table with some columns in place of its own; nothing of the caller's is changed."""
    source = _source(data)
    kind, new = library(source.data), {source.columns[name]: column.raw() for name, column in columns.items()}
    if kind == "pandas":
        frame = source.data.copy(deep=False)
        for name, values in new.items():
            frame[name] = _as_before(values, source.data[name])
        return frame
    if kind == "polars":
        import polars as pl

        series = [
            pl.Series(name, values if values.dtype != object else values.tolist()) for name, values in new.items()
        ]
        return source.data.with_columns(series)
    if kind == "pyarrow":
        import pyarrow as pa

        table = source.data
        for name, values in new.items():
            table = table.set_column(table.column_names.index(name), name, pa.array(values))
        return table
    return {**source.data, **new}


def _as_before(values: Array, column: Any) -> Any:
    """New values of a pandas column; text and categories keep the column's own type."""
    import pandas as pd

    series = pd.Series(values, index=column.index)
    return series.astype(column.dtype) if values.dtype == object and column.dtype != object else series


def length(data: Any) -> int:
    """How many rows a table has."""
    source = _source(data)
    return len(source.data[next(iter(source.columns.values()))])


def rows_of(data: Any, rows: Ints) -> Any:
    """Some rows of a table, in the caller's kind."""
    source = _source(data)
    kind = library(source.data)
    if kind == "pandas":
        return source.data.iloc[rows]
    if kind == "polars":
        return source.data[rows]
    if kind == "pyarrow":
        return source.data.take(rows)
    return {name: _entries(column, rows) for name, column in source.data.items()}


def _entries(column: Any, rows: Ints) -> Any:
    if library(column) == "pandas":
        return column.iloc[rows]
    return column[rows] if hasattr(column, "dtype") else np.array(list(column), dtype=object)[rows].tolist()


def chosen(table: Any, names: Sequence[str]) -> Any:
    """Some columns of a table."""
    known = names_of(table)
    for name in names:
        if name not in known:
            raise CallError(f"predict needs a column {shorten(name)!r}, which the data lacks; {nearest(name, known)}")
    if library(table) == "polars":
        return table.select(names)
    if library(table) == "pyarrow":
        return table.select(list(names))
    return table[list(names)] if library(table) == "pandas" else {name: table[name] for name in names}


def text_numbers(table: Mapping[str, Any], categorical: Collection[str] = ()) -> dict[str, Any]:
    """Columns of a file in which every value is a number written as text, as numbers: a CSV does not tell them apart.

    A missing value among them is NaN.

    >>> text_numbers({"age": ["31", "40"], "code": ["007", "012"]})
    {'age': array([31., 40.]), 'code': ['007', '012']}
    """
    return {
        name: column if name in categorical or not _written_numbers(column) else np.array(list(map(_number, column)))
        for name, column in table.items()
    }


def _written_numbers(column: Any) -> bool:
    """Is everything in a column a number written as text, or missing? A code such as 007 is no number."""
    if not isinstance(column, list) or all(value is None for value in column):
        return False
    return all(value is None or (isinstance(value, str) and _NUMBER.fullmatch(value)) for value in column)


def _number(text: str | None) -> float:
    return np.nan if text is None else float(text)
