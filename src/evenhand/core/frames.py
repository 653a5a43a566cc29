"""Tables of the caller's own kind: make one, take rows, select, drop and replace columns.

pandas, Polars and PyArrow are recognised without importing them. A mapping of arrays is a table too, and `take` and
`drop` also work on arrays and sparse matrices. Nothing that the caller passed is changed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Indices, Ints
from evenhand.errors import CallError, MissingDependencyError, either, shorten

KINDS = ("pandas", "polars", "pyarrow")


def kind_of(data: Any) -> str | None:
    """The library that a table or column comes from: one of KINDS, or None for everything else."""
    kind = type(data).__module__.partition(".")[0]
    return kind if kind in KINDS else None


def frame(columns: Mapping[str, Sequence[Any]], kind: str | None) -> Any:
    """A dataframe of that kind. For None it is of pandas, or of Polars where pandas is not installed."""
    if kind is None:
        kind = next((name for name in ("pandas", "polars") if importlib.util.find_spec(name)), None)
    if kind is None:
        raise MissingDependencyError("a dataframe needs pandas or Polars: pip install pandas")
    if kind not in KINDS:
        raise CallError(f"kind={shorten(repr(kind))} must be {either(map(repr, KINDS))}, or None.")
    library = importlib.import_module(kind)
    if kind == "pyarrow":
        return library.table(dict(columns))
    if kind == "pandas":
        columns = {name: _with_gaps(values, library) for name, values in columns.items()}
    return library.DataFrame(dict(columns))


def readable(value: Any) -> Any:
    """A column as something that can be read row by row: what only numpy or an index can read becomes an array.

    >>> class Wrapped:
    ...     def __array__(self, dtype=None, copy=None):
    ...         return np.array([1, 0])
    >>> readable(Wrapped()).tolist(), readable("name"), readable([1, 0])
    ([1, 0], 'name', [1, 0])
    """
    if isinstance(value, memoryview):
        return np.asarray(value)
    if type(value).__module__.startswith("dask") and type(value).__name__ in ("Array", "Index", "Series"):
        return value.compute()  # a column of Dask, whose rows are not in memory yet
    # Of the class: to name its columns, a lazy table would have to be resolved.
    if hasattr(value, "__iter__") or isinstance(value, type) or hasattr(type(value), "columns"):
        return value
    if any(hasattr(value, name) for name in ("__array__", "__array_interface__", "__array_struct__")):
        return np.asarray(value)
    if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        return [value[i] for i in range(len(value))]
    return value


def _with_gaps(values: Sequence[Any], pandas: Any) -> Any:
    """A column for pandas: whole numbers and truth values stay what they are where some are missing."""
    types = {type(value) for value in values}
    for own, dtype in ((int, "Int64"), (bool, "boolean")):
        if types == {own, type(None)}:
            return pandas.array(values, dtype=dtype)
    return values


def row_count(table: Any) -> int:
    """How many rows a table, an array, a sparse matrix or a mapping of columns has."""
    if hasattr(table, "shape"):
        return int(table.shape[0])
    if isinstance(table, Mapping):
        return len(next(iter(table.values()), ()))
    return len(table if hasattr(table, "__len__") else readable(table))


def take(table: Any, rows: Ints | Indices) -> Any:
    """The rows at these positions (or where a mask is true) of a table, a column, an array, a sparse matrix or a list.

    >>> take({"a": [1, 2, 3], "b": ["x", "y", "z"]}, np.array([2, 0]))
    {'a': [3, 1], 'b': ['z', 'x']}
    """
    if rows.dtype == np.bool_:
        rows = np.flatnonzero(rows)
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if kind_of(table) == "pyarrow":
        if str(getattr(table, "type", "")) in ("string_view", "binary_view"):  # which PyArrow cannot take rows of
            table = table.cast(str(table.type).removesuffix("_view"))
        return table.take(rows)
    if hasattr(table, "tocsr"):
        return (table.tocsr() if table.format in ("bsr", "coo", "dia") else table)[rows]  # these cannot be indexed
    if isinstance(table, Mapping):
        return {name: take(column, rows) for name, column in table.items()}
    if isinstance(table, (list, tuple)):
        return [table[row] for row in rows]
    whole = hasattr(table, "shape") and not isinstance(table, memoryview)
    return (table if whole else np.asarray(readable(table)))[rows]


def select(table: Any, names: Sequence[str]) -> Any:
    """These columns of a table, in this order."""
    if kind_of(table) == "polars":
        return table.select([table[name] for name in names])  # a name alone may be read as a pattern
    if kind_of(table) == "pyarrow":
        return table.select(list(names))
    return table[list(names)] if kind_of(table) == "pandas" else {name: table[name] for name in names}


def drop(table: Any, names: Collection[str], array_names: Sequence[str] = ()) -> Any:
    """A table without these columns; names that it does not have are ignored.

    `array_names` are the names of an array's columns, which has none itself.
    """
    kind = kind_of(table)
    if kind == "polars":
        return select(table, [name for name in table.columns if name not in names])
    if kind == "pyarrow":
        return table.drop_columns([name for name in table.column_names if name in names])
    if kind == "pandas":
        return table.loc[:, [str(name) not in names for name in table.columns]]
    array = table if hasattr(table, "shape") else np.asarray(table)
    return array[:, [i for i, name in enumerate(array_names) if name not in names]]


def replace(table: Any, columns: Mapping[Any, Array]) -> Any:
    """A table with new values in some of its columns; text and categories in pandas keep the type of their column."""
    kind = kind_of(table)
    if kind == "pandas":
        changed = table.copy(deep=False)
        for name, values in columns.items():
            changed[name] = _like_column(values, table[name])
        return changed
    if kind == "polars":
        import polars as pl

        plain = {name: values if values.dtype != object else values.tolist() for name, values in columns.items()}
        return table.with_columns([pl.Series(name, values) for name, values in plain.items()])
    if kind == "pyarrow":
        import pyarrow as pa

        for name, values in columns.items():
            table = table.set_column(table.column_names.index(name), name, pa.array(values))
        return table
    return {**table, **columns}


def _like_column(values: Array, column: Any) -> Any:
    """New values of a pandas column; values that are objects get the type that the column has."""
    import pandas as pd

    series = pd.Series(values, index=column.index)
    return series.astype(column.dtype) if values.dtype == object and column.dtype != object else series
