"""Data in memory: arrays, lists, mappings, pandas, Polars and PyArrow. The columns go to counting as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.errors import CallError, DataError, Problems, shorten
from evenhand.roles import Roles
from evenhand.sources.counting import Lines
from evenhand.sources.encode import numbers


class MemorySource:
    """A table in memory, or none and only arrays."""

    def __init__(self, data: Any) -> None:
        self.data = _as_table(data)
        self.columns = _column_names(self.data)

    @property
    def names(self) -> list[str] | None:
        return None if self.data is None else list(self.columns)

    def lines(self, roles: Roles) -> Lines:
        columns = {key: self._column(key, name, roles) for key, name in roles.keys.items()}
        length = _common_length(columns, roles, self.data)
        _check_indexes(columns, roles, self.data)
        if roles.cutoff is not None:
            columns["decided"] = decide(columns["score"], roles.cutoff, str(roles.score))
        return Lines(columns, length)

    def _column(self, key: str, name: str, roles: Roles) -> Any:
        if key in roles.arrays:
            values = roles.arrays[key]
            if getattr(values, "ndim", 1) != 1:
                raise CallError(f"{key.partition(':')[0]}= has {values.ndim} dimensions; pass one value for each row.")
            return values if hasattr(values, "__len__") else list(values)
        column = self.data[self.columns[name]]
        if getattr(column, "ndim", 1) == 2:
            raise DataError(f"the data has several columns named {shorten(name)!r}; rename them.")
        return column


def decide(score: Any, cutoff: float, name: str) -> npt.NDArray[np.int8]:
    """1 at or above the cutoff, 0 below, −1 where there is no score."""
    values, missing = numbers(score, "score", name)
    return np.where(missing, np.int8(-1), (values >= cutoff).astype(np.int8))


def _as_table(data: Any) -> Any:
    if data is None or isinstance(data, Mapping) or _kind(data) in ("pandas", "polars", "pyarrow"):
        if data is not None and not isinstance(data, Mapping) and not hasattr(data, "columns"):
            raise CallError(f"data is a {type(data).__name__}; pass a table, or arrays by their roles.")
        return data
    if isinstance(data, np.ndarray) and data.dtype.names:
        return {name: data[name] for name in data.dtype.names}
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__"):
        import narwhals.stable.v2 as nw

        frame = nw.from_native(data, eager_only=True, pass_through=False)
        return {name: frame.get_column(name).to_native() for name in frame.columns}
    raise CallError(
        f"data is a {type(data).__name__}; pass a table (pandas, Polars, PyArrow, a mapping of arrays), "
        "a file's path, or only arrays by their roles: prediction=yhat, sensitive=race."
    )


def _kind(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _column_names(data: Any) -> dict[str, Any]:
    if data is None:
        return {}
    names = getattr(data, "column_names", None) or (list(data) if isinstance(data, Mapping) else list(data.columns))
    return {str(name): name for name in names}


def _common_length(columns: Mapping[str, Any], roles: Roles, data: Any) -> int:
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(
            f"{key.partition(':')[0]} {shorten(roles.keys[key])!r} {size:,}" for key, size in lengths.items()
        )
        beside = "" if data is None else " An array beside a table needs one value for each row of the table."
        raise DataError(f"lengths differ: {shown}.{beside}")
    return next(iter(lengths.values()))


def _check_indexes(columns: Mapping[str, Any], roles: Roles, data: Any) -> None:
    """Rows pair by position; pandas objects whose indexes differ were probably meant to pair otherwise."""
    problems = Problems()
    indexed = {
        key: column.index for key, column in columns.items() if _kind(column) == "pandas" and hasattr(column, "index")
    }
    base = data.index if data is not None and _kind(data) == "pandas" else next(iter(indexed.values()), None)
    for key, index in indexed.items():
        if index is not base and not index.equals(base):
            problems.add(
                f"the pandas index of {key.partition(':')[0]} {shorten(roles.keys[key])!r} differs from the "
                "others': rows pair by position. Align them first, or pass .to_numpy()."
            )
    problems.raise_if_any(DataError)
