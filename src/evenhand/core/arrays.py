"""The kinds of arrays, columns and tables that signatures speak of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
"""Counts of people, up to 2⁶³."""
Indices = npt.NDArray[np.intp]
"""Positions in another array."""
Codes = npt.NDArray[np.integer[Any]]
"""Positions of whatever width is enough; −1 is missing."""
Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]


class HasArray(Protocol):
    """What numpy can read: a Series of any library, a tensor, a buffer."""

    def __array__(self) -> Array: ...


class HasColumns(Protocol):
    """A table of any library: pandas, Polars, PyArrow, Dask, Spark, Ibis, DuckDB."""

    @property
    def columns(self) -> Any: ...


class HasArrow(Protocol):
    """A table that can be read as a stream of Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class HasDataframe(Protocol):
    """A table that can be read by the dataframe interchange protocol."""

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any: ...


ColumnLike = str | Iterable[Any] | HasArray
"""One value for each row: the name of a column of the data, or a list, an array or a Series."""
ColumnsLike = ColumnLike | Mapping[str, Any] | HasColumns
"""One or more such columns: a name, a list of names, an array, a table, or a mapping {name: array}."""
DataLike = str | os.PathLike[str] | Iterable[Any] | Mapping[str, Any] | HasColumns | HasArrow | HasDataframe
"""Rows: a table of any library, a mapping of arrays, a list of rows, the path of a file, or something counted."""

LIKE = {"ColumnLike": ColumnLike, "ColumnsLike": ColumnsLike, "DataLike": DataLike}
"""The kinds that whoever reads a column or a table checks, by the names that signatures show."""
