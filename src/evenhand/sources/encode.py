"""From a column of any kind to levels and integer codes: the first half of a group-by, without the rows' values.

A code of −1 is a missing value, so that a look-up table whose last entry stands for "missing" needs no mask.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.errors import DataError, shorten

Codes = npt.NDArray[np.integer[Any]]
Levels = list[Any]

_DENSE = 4096  # a range of whole numbers up to this width is its own encoding


def encode(column: Any) -> tuple[Levels, Codes]:  # noqa: PLR0911 - one for each kind of column
    """The distinct values of a column (missing left out) and for each row the index of its value, or −1.

    >>> encode(["b", "a", None, "b"])[0], encode(["b", "a", None, "b"])[1].tolist()
    (['b', 'a'], [0, 1, -1, 0])
    """
    kind = type(column).__module__.partition(".")[0]
    if kind == "pandas":
        return _pandas(column)
    if kind == "polars":
        return _polars(column)
    if kind == "pyarrow":
        return _arrow(column)
    if isinstance(column, np.ma.MaskedArray):
        return _numbers(np.asarray(column.data), np.ma.getmaskarray(column))
    array = column if isinstance(column, np.ndarray) else np.asarray(column)
    if array.dtype.kind in "biuf":
        return _numbers(array, None)
    if array.dtype.kind in "US" and isinstance(column, np.ndarray):
        return _objects(array.tolist())
    return _objects(list(column))


def numbers(column: Any, role: str, name: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """A column as floats, with where it is missing. Text that is no number is an error that shows it."""
    kind = type(column).__module__.partition(".")[0]
    if kind == "polars":
        column = column.to_arrow() if column.dtype.is_decimal() else column.to_numpy()
    elif kind == "pyarrow":
        column = column.to_pandas() if _is_text(column) else column.cast("float64").to_numpy(zero_copy_only=False)
    elif kind == "pandas":
        if column.dtype.kind in "biuf" and hasattr(column.array, "to_numpy"):
            column = column.to_numpy(dtype="float64", na_value=np.nan)
        else:
            column = column.to_numpy(dtype=object, na_value=None)
    if isinstance(column, np.ma.MaskedArray):
        column = np.ma.filled(column.astype(float), np.nan)
    try:
        values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array([_number(value, role, name) for value in column], dtype=np.float64)
    return values, np.isnan(values)


def _number(value: Any, role: str, name: str) -> float:
    if _is_missing(value) or (isinstance(value, str) and not value.strip()):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        shown = shorten(repr(value))
        raise DataError(f"{role} column {shorten(name)!r} holds {shown}, which is not a number.") from None


def _pandas(column: Any) -> tuple[Levels, Codes]:
    import pandas as pd

    series = column if isinstance(column, pd.Series) else pd.Series(column)
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return list(series.cat.categories), series.cat.codes.to_numpy()
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return _numbers(series.to_numpy(), None)
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
        return _arrow(series.array.__arrow_array__())
    if getattr(dtype, "kind", "O") in "biuf":
        mask = series.isna().to_numpy()
        return _numbers(series.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0)), mask)
    try:
        codes, levels = pd.factorize(series.to_numpy() if dtype.kind == "O" and isinstance(dtype, np.dtype) else series)
    except TypeError:
        return _objects(series.tolist())
    return list(levels), codes


def _polars(column: Any) -> tuple[Levels, Codes]:
    import polars as pl

    dtype = column.dtype
    if dtype == pl.String or dtype in (pl.Categorical, pl.Enum):
        text = column.cast(pl.String)
        levels = text.drop_nulls().unique()
        codes = text.cast(pl.Enum(levels)).to_physical()
        return levels.to_list(), codes.cast(pl.Int32).fill_null(-1).to_numpy()
    if dtype == pl.Boolean or dtype.is_integer() or dtype.is_float():
        mask = column.is_null().to_numpy() if column.null_count() else None
        filled = column.fill_null(False if dtype == pl.Boolean else 0)
        return _numbers(filled.to_numpy(), mask)
    return _objects(column.to_list())


def _arrow(column: Any) -> tuple[Levels, Codes]:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
    if _is_text(column):
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        indices = encoded.indices
        codes = indices.fill_null(-1) if indices.null_count else indices
        return encoded.dictionary.to_pylist(), codes.to_numpy(zero_copy_only=False)
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        mask = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        filled = column.fill_null(False if pa.types.is_boolean(kind) else 0) if column.null_count else column
        return _numbers(filled.to_numpy(zero_copy_only=False), mask)
    return _objects(column.to_pylist())


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    kind = column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind))


def _numbers(values: npt.NDArray[Any], mask: npt.NDArray[np.bool_] | None) -> tuple[Levels, Codes]:
    if values.dtype.kind == "b":
        return [False, True], _masked(values.view(np.int8), mask)
    if values.dtype.kind == "f":
        missing = np.isnan(values)
        if missing.any():
            mask = missing if mask is None else mask | missing
            values = np.where(missing, values.dtype.type(0), values)
    if values.size == 0:
        return [], np.zeros(0, dtype=np.int8)
    low, high = values.min(), values.max()
    with np.errstate(invalid="ignore", over="ignore"):
        narrow = bool(np.float64(high) - np.float64(low) < _DENSE)
    if narrow and (values.dtype.kind != "f" or bool(np.all(values == np.floor(values)))):
        first, width = int(low), int(high) - int(low)
        small = np.int8 if width < 127 else np.int16
        codes = values.astype(small) if first >= 0 and int(high) < np.iinfo(small).max else None
        if codes is None:
            codes = (values - low).astype(small)
            return list(range(first, first + width + 1)), _masked(codes, mask)
        return list(range(int(high) + 1)), _masked(codes, mask)
    levels, inverse = np.unique(values, return_inverse=True)
    return levels.tolist(), _masked(inverse.reshape(-1), mask)


def _masked(codes: npt.NDArray[Any], mask: npt.NDArray[np.bool_] | None) -> Codes:
    if mask is None or not mask.any():
        return codes
    return np.where(mask, codes.dtype.type(-1), codes)


def _objects(values: list[Any]) -> tuple[Levels, Codes]:
    try:
        distinct = dict.fromkeys(values)
    except TypeError:
        raise DataError("a column holds lists or other values that cannot name a group; make them text.") from None
    lookup: dict[Any, int] = {}
    levels: Levels = []
    for value in distinct:
        lookup[value] = -1 if _is_missing(value) else len(levels)
        if lookup[value] >= 0:
            levels.append(value)
    return levels, np.fromiter(map(lookup.__getitem__, values), dtype=np.int32, count=len(values))


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")
