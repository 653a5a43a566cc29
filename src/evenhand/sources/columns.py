"""A column of any kind as levels (its distinct values) and integer codes: the first half of a group-by.

A code of −1 is a missing value, so that a look-up table whose last entry stands for "missing" needs no mask.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Bools, Codes, Floats
from evenhand.core.frames import readable
from evenhand.errors import DataError, shorten
from evenhand.sources.spelling import spelling

Levels = list[Any]

_HEAD = 1000  # rows that show whether a column holds fractions
_DENSE = 4096  # a range of whole numbers up to this width is its own encoding
_EXACT = 2**53  # whole numbers above it do not survive a float


def encode(column: Any, name: str = "a column", absent: Collection[str] = ()) -> tuple[Levels, Codes]:
    """The distinct values of a column (missing left out) and for each row the index of its value, or −1.

    Empty text is missing, as in a CSV, and so are values spelled as one of `absent`. A null byte is an error, as in a
    file of text.

    >>> encode(["b", "a", None, "b", ""])[0], encode(["b", "a", None, "b", ""])[1].tolist()
    (['b', 'a'], [0, 1, -1, 0, -1])
    >>> encode(["b", "NA", "b"], absent=["NA"])[1].tolist()
    [0, -1, 0]
    """
    readers = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}
    levels, codes = readers.get(library(column), _sequence)(column, name)
    texts = [spelling(level) for level in levels if isinstance(level, (str, bytes))]
    damaged = next((text for text in texts if "\0" in text), None)
    if damaged is not None:
        raise DataError(f"{name} holds a null byte, in {shorten(repr(damaged))}: the data is damaged or not text.")
    if not absent and "" not in texts:
        return levels, codes
    gone = {"", *absent}
    kept = [spelling(level) not in gone for level in levels]
    if all(kept):
        return levels, codes
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    return [level for level, keeps in zip(levels, kept, strict=True) if keeps], np.append(place, -1)[codes]


def numbers(column: Any, role: str, name: str, absent: Collection[str] = ()) -> tuple[Floats, Bools]:
    """A column as floats, and where it is missing. Text that is not a number is an error that shows it."""
    values = _floats(column)
    if values is None:
        levels, codes = encode(column, f"{role} column {shorten(name)!r}", absent)
        values = np.array([*(_number(level, role, name) for level in levels), np.nan], dtype=np.float64)[codes]
    elif absent:
        values = np.where(np.isin(values, as_floats(absent)), np.nan, values)
    return values, np.isnan(values)


def is_categorical(column: Any) -> bool:
    """Does the caller's own type say that the values are categories, whatever they look like?"""
    if library(column) == "pandas":
        return type(column.dtype).__name__ == "CategoricalDtype"
    if library(column) == "pyarrow":
        import pyarrow as pa

        return bool(pa.types.is_dictionary(column.type))
    return library(column) == "polars" and str(column.dtype).startswith(("Categorical", "Enum"))


def fractional(column: Any) -> bool:
    """Do the first values of a column include a number that is not whole?"""
    rows = getattr(column, "iloc", readable(column))
    sliced = hasattr(column, "iloc") or hasattr(rows, "__array__")
    values = _floats(rows[:_HEAD] if sliced else list(itertools.islice(rows, _HEAD)))
    return values is not None and bool(np.any(np.isfinite(values) & (values != np.floor(values))))


def library(value: Any) -> str:
    """The library that a value comes from."""
    return type(value).__module__.partition(".")[0]


def as_floats(texts: Collection[str]) -> list[float]:
    """The numbers among some texts."""
    found = []
    for text in texts:
        try:
            found.append(float(text))
        except ValueError:
            continue
    return found


def _floats(column: Any) -> Floats | None:  # noqa: PLR0911 - one for each kind of column
    """A column of numbers as floats, NaN where missing; None for a column of anything else."""
    kind = library(column)
    if kind == "pandas":
        import pandas as pd

        series = pd.Series(column)
        plain = series.dtype.kind in "biuf" and not isinstance(series.dtype, (pd.CategoricalDtype, pd.SparseDtype))
        return series.to_numpy(dtype="float64", na_value=np.nan) if plain else None
    if kind == "polars":
        import polars as pl

        plain = column.dtype.is_numeric() or column.dtype == pl.Boolean
        return column.alias("").cast(pl.Float64).to_numpy() if plain else None
    if kind == "pyarrow":
        import pyarrow as pa

        tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
        plain = any(test(column.type) for test in tests)
        return column.cast("float64", safe=False).to_numpy(zero_copy_only=False) if plain else None
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column.astype(float), np.nan) if column.dtype.kind in "biuf" else None
    array = np.asarray(column) if hasattr(column, "__array__") else list(column)
    if isinstance(array, np.ndarray) and array.dtype.kind not in "biufOUS":
        return None
    try:
        values = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return values if values.ndim == 1 else None


def _number(value: Any, role: str, name: str) -> float:
    if isinstance(value, str) and not value.strip():
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        shown = shorten(repr(value))
        raise DataError(f"{role} column {shorten(name)!r} holds {shown}, which is not a number.") from None


def _sequence(column: Any, name: str) -> tuple[Levels, Codes]:
    """Arrays and lists. Text never goes through an array of fixed width, nor a large whole number through a float."""
    if getattr(column, "ndim", 1) != 1:
        raise DataError(f"{name} has {column.ndim} dimensions; pass one value for each row.")
    if isinstance(column, np.ma.MaskedArray):
        plain = column.dtype.kind in "biuf"
        return _numbers(column.data, np.ma.getmaskarray(column)) if plain else _objects(column.tolist(), name)
    if not hasattr(column, "__array__"):
        return _list(list(column), name)
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        return _numbers(array, None)
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] in ("ns", "ps", "fs", "as"):
        array = array.astype("datetime64[us]")
    return _objects(array.tolist(), name)


def _list(values: list[Any], name: str) -> tuple[Levels, Codes]:
    if any(isinstance(value, (str, bytes)) for value in values):
        return _objects(values, name)
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        return _objects(values, name)
    if array.ndim > 1:
        raise DataError(f"{name} has {array.ndim} dimensions; pass one value for each row.")
    if array.dtype.kind in "mM":
        return _sequence(array, name)
    rounded = array.dtype.kind == "f" and bool(np.any(np.abs(array) >= _EXACT))
    return _objects(values, name) if rounded or array.dtype.kind not in "biuf" else _numbers(array, None)


def _pandas(column: Any, name: str) -> tuple[Levels, Codes]:
    import pandas as pd

    series = pd.Series(column)
    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return list(series.cat.categories), series.cat.codes.to_numpy()
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return _numbers(series.to_numpy(), None)
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
        return _arrow(series.array.__arrow_array__(), name)
    if getattr(dtype, "kind", "O") in "biuf":
        mask = series.isna().to_numpy()
        return _numbers(series.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0)), mask)
    try:
        codes, levels = pd.factorize(series.to_numpy() if dtype.kind == "O" and isinstance(dtype, np.dtype) else series)
    except TypeError:
        return _objects(series.tolist(), name)
    return list(levels), codes


def _polars(column: Any, name: str) -> tuple[Levels, Codes]:
    import polars as pl

    column = column.alias("")  # by its name Polars would find it, and take the name for a pattern
    dtype = column.dtype
    if dtype == pl.String or dtype in (pl.Categorical, pl.Enum):
        text = column.cast(pl.String)
        levels = text.drop_nulls().unique()
        codes = text.cast(pl.Enum(levels)).to_physical()
        return levels.to_list(), codes.cast(pl.Int32).fill_null(-1).to_numpy()
    if dtype == pl.Boolean or dtype.is_float() or (dtype.is_integer() and "128" not in str(dtype)):
        mask = column.is_null().to_numpy() if column.null_count() else None
        filled = column.fill_null(False if dtype == pl.Boolean else 0)
        return _numbers(filled.to_numpy(), mask)
    return _objects(column.to_list(), name)


def _arrow(column: Any, name: str) -> tuple[Levels, Codes]:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
    if _is_text(column):
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        if encoded.dictionary.null_count:
            return _objects(column.to_pylist(), name)
        indices = encoded.indices
        codes = indices.cast("int64").fill_null(-1) if indices.null_count else indices
        return encoded.dictionary.to_pylist(), codes.to_numpy(zero_copy_only=False)
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        mask = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        filled = column.fill_null(False if pa.types.is_boolean(kind) else 0) if column.null_count else column
        return _numbers(filled.to_numpy(zero_copy_only=False), mask)
    return _objects(column.to_pylist(), name)


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    kind = column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind))


def _numbers(values: Array, mask: Bools | None) -> tuple[Levels, Codes]:
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
        kind = float if values.dtype.kind == "f" else int
        if codes is None:
            codes = np.subtract(values, low, dtype=np.int64 if values.dtype.kind == "i" else None).astype(small)
            return list(map(kind, range(first, first + width + 1))), _masked(codes, mask)
        return list(map(kind, range(int(high) + 1))), _masked(codes, mask)
    levels, inverse = np.unique(values, return_inverse=True)
    return levels.tolist(), _masked(inverse.reshape(-1), mask)


def _masked(codes: Array, mask: Bools | None) -> Codes:
    if mask is None or not mask.any():
        return codes
    return np.where(mask, codes.dtype.type(-1), codes)


def _objects(values: Sequence[Any], name: str) -> tuple[Levels, Codes]:
    first: defaultdict[Any, int] = defaultdict(itertools.count().__next__)  # one look for each value, in C
    try:
        places = np.fromiter(map(first.__getitem__, values), dtype=np.int32, count=len(values))
    except TypeError:
        raise DataError(f"{name} holds lists or other values that cannot name a group; make them text.") from None
    known = np.array([not _is_missing(value) for value in first], dtype=bool)
    levels = list(itertools.compress(first, known))
    return levels, places if known.all() else np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)[places]


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, Decimal, np.generic)) and bool(value != value)  # noqa: PLR0124 - NaN and NaT
