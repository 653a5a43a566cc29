"""Data in memory: arrays, lists, mappings, pandas, Polars and PyArrow. The columns are counted as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core import frames
from evenhand.core.arrays import Floats
from evenhand.core.wording import number_of
from evenhand.errors import CallError, DataError, Problems, shorten
from evenhand.sources.columns import encode, fractional, library, numbers
from evenhand.sources.engines.table import is_arrow_dataset, is_lazy
from evenhand.sources.lines import Lines, complain_twice, read_masses
from evenhand.sources.named_columns import one_column
from evenhand.sources.roles import Roles
from evenhand.sources.scores import band_codes, outcome_edges, read_scores


class MemorySource:
    """A table in memory; or no table, where all roles are arrays."""

    def __init__(self, data: Any) -> None:
        self.data = _as_table(data)
        names = _column_names(self.data)
        self.columns = {str(name): name for name in names}
        self.twice = {name for name, times in Counter(map(str, names)).items() if times > 1}

    @property
    def names(self) -> list[str] | None:
        return None if self.data is None else list(self.columns)

    def fractional(self, roles: Roles) -> bool:
        """Do the first labels and predictions both hold fractions?"""
        if {roles.label, roles.prediction} & self.twice:
            return False
        columns = [
            roles.arrays[key] if key in roles.arrays else self.data[self.columns[roles.keys[key]]]
            for key in ("label", "prediction")
        ]
        return all(fractional(column) for column in columns)

    def lines(self, roles: Roles) -> Lines:
        problems = Problems()
        complain_twice(self.twice, roles, problems)
        problems.raise_if_any(DataError)
        columns = {}
        for key, name in roles.keys.items():
            if key in roles.arrays:
                columns[key] = roles.arrays[key]
            else:
                columns[key] = one_column(f"column {shorten(name)!r}", self.data[self.columns[name]], problems)
        problems.raise_if_any(DataError)
        length = _common_length(columns, roles, self.data)
        named = {f"{key.partition(':')[0]} {shorten(roles.keys[key])!r}": column for key, column in columns.items()}
        check_indexes(named, self.data)
        columns, length = self._chosen(columns, length, roles)
        columns, length = _with_people(columns, length, roles)
        if roles.axis is None or length == 0:
            return Lines(columns, length)
        if roles.task == "regression":
            return _regressed(columns, length, roles)
        scores, missing = numbers(columns["score"], "score", str(roles.score), roles.na)
        mass = read_masses(columns, roles).total if roles.strategy == "quantile" else None
        read = read_scores(scores, missing, roles, mass)
        scores = read.turn(scores)
        columns["bin"] = read.bins.codes(scores)
        if read.cutoff is not None:
            columns["decided"] = decide(scores, read.cutoff)
        return Lines(columns, length, reading=read, scores=scores)

    def _chosen(self, columns: dict[str, Any], length: int, roles: Roles) -> tuple[dict[str, Any], int]:
        """The rows that fulfil the conditions of the call; each different value is compared once."""
        if not roles.where:
            return columns, length
        chosen, problems = np.ones(length, dtype=np.bool_), Problems()
        for each in roles.where:
            shown = f"column {shorten(each.column)!r}"
            if each.column in self.twice:
                raise DataError(f"two columns are called {shorten(each.column)!r}: rename one.")
            column = one_column(shown, self.data[self.columns[each.column]], problems)
            problems.raise_if_any(DataError)
            if len(column) != length:
                raise DataError(f"lengths differ: {shown} of where= has {number_of(len(column))}, others {length:,}.")
            values, codes = encode(column, shown, roles.na)
            chosen &= np.array([*(each.holds(value) for value in values), False], dtype=np.bool_)[codes]
        rows = np.flatnonzero(chosen)
        return {key: frames.take(column, rows) for key, column in columns.items()}, len(rows)


def _regressed(columns: dict[str, Any], length: int, roles: Roles) -> Lines:
    """The lines of a regressor: its prediction is cut into bins, its label into bands."""
    predicted, missing = numbers(columns.pop("prediction"), "prediction", str(roles.prediction), roles.na)
    mass = read_masses(columns, roles).total
    read = read_scores(predicted, missing, roles, mass)
    columns["bin"] = read.bins.codes(predicted)
    if roles.label is None:
        return Lines(columns, length, reading=replace(read, outcome=()), scores=predicted)
    outcomes, unknown = numbers(columns.pop("label"), "label", roles.label, roles.na)
    if roles.exposure is not None:
        exposed, _ = numbers(columns["weight"], "exposure", roles.exposure, roles.na)
        outcomes = outcomes / np.where(exposed > 0, exposed, 1.0)  # others are refused where rows are counted
    edges = outcome_edges(outcomes[~unknown], roles, None if mass is None else mass[~unknown])
    columns["band"] = band_codes(outcomes, edges)
    return Lines(columns, length, reading=replace(read, outcome=edges), scores=predicted, outcomes=outcomes)


def _with_people(columns: dict[str, Any], length: int, roles: Roles) -> tuple[dict[str, Any], int]:
    """The rows that stand for someone: one with a count of 0 has no say in where anything is cut."""
    if roles.count is None:
        return columns, length
    counts, _ = numbers(columns["count"], "count", roles.count, roles.na)
    if not (counts == 0).any():
        return columns, length
    rows = np.flatnonzero(counts != 0)
    return {key: frames.take(column, rows) for key, column in columns.items()}, len(rows)


def decide(scores: Floats, cutoff: float) -> npt.NDArray[np.int8]:
    """1 at or above the cutoff, 0 below, −1 where there is no score."""
    return np.where(np.isnan(scores), np.int8(-1), (scores >= cutoff).astype(np.int8))


def _as_table(data: Any) -> Any:  # noqa: PLR0911 - one for each kind of table
    if library(data) == "sklearn" and type(data).__name__ == "Bunch":
        return _of_bunch(data)
    if data is None or isinstance(data, Mapping):
        return data
    if isinstance(data, (list, tuple)) and data and all(isinstance(row, Mapping) for row in data):
        return _of_rows(data)
    if is_arrow_dataset(data):
        return data.to_table()
    if is_lazy(data) and not hasattr(data, "__arrow_c_stream__"):
        raise CallError(
            f"this needs the rows in memory, and those of a {library(data)} {type(data).__name__} are with its engine: "
            "collect it first."
        )
    if library(data) in ("pandas", "polars", "pyarrow") and hasattr(data, "columns"):
        return data
    if isinstance(data, np.ndarray) and data.dtype.names:
        return {name: data[name] for name in data.dtype.names}
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__"):
        return _by_protocol(data)
    remedy = "pass a table (pandas, Polars, PyArrow, a mapping of arrays)"
    if hasattr(data, "convert_to_dataframe"):  # a dataset of AIF360
        remedy = "pass data.convert_to_dataframe()[0]"
    raise CallError(
        f"data is of type {type(data).__name__}; {remedy}, a file's path, or only arrays by their roles: "
        "prediction=yhat, sensitive=race."
    )


def _of_bunch(bunch: Mapping[str, Any]) -> Any:
    """The table in a dataset of scikit-learn; one without is a mapping of different things, not of columns."""
    table = bunch.get("frame")
    if table is None:
        raise CallError(
            "data is a Bunch of scikit-learn without a table: load it with as_frame=True, or pass its arrays by their "
            "roles, as in label=bunch.target."
        )
    return table


def _of_rows(rows: Sequence[Mapping[Any, Any]]) -> dict[Any, list[Any]]:
    """The columns of a list of rows, each of which is a mapping; a key that a row lacks is missing there.

    >>> _of_rows([{"y": 1, "sex": "f"}, {"y": 0}])
    {'y': [1, 0], 'sex': ['f', None]}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _by_protocol(data: Any) -> Any:
    """The columns of a table of another library, read by one of the protocols that tables share."""
    import narwhals.stable.v2 as nw

    with suppress(TypeError):
        frame = nw.from_native(data, eager_only=True)
        return {name: frame.get_column(name).to_native() for name in frame.columns}
    with suppress(ImportError, TypeError, ValueError):
        import pyarrow as pa

        return pa.table(data)
    with suppress(ImportError, TypeError, ValueError, AttributeError):
        from pyarrow.interchange import from_dataframe

        return from_dataframe(data)
    raise CallError(
        f"data is of type {type(data).__name__}, which could not be read as a table; pass a table of pandas, Polars or "
        "PyArrow, or pip install pyarrow, which reads tables of other libraries."
    )


def _column_names(data: Any) -> list[Any]:
    if data is None:
        return []
    return getattr(data, "column_names", None) or (list(data) if isinstance(data, Mapping) else list(data.columns))


def _common_length(columns: Mapping[str, Any], roles: Roles, data: Any) -> int:
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(
            f"{key.partition(':')[0]} {shorten(roles.keys[key])!r} {size:,}" for key, size in lengths.items()
        )
        beside = "" if data is None else " An array beside a table needs one value for each row of the table."
        raise DataError(f"lengths differ: {shown}.{beside}")
    return next(iter(lengths.values()))


def check_indexes(columns: Mapping[str, Any], data: Any) -> None:
    """Refuse pandas objects whose indexes differ: rows are paired by position, which is probably not what was meant.

    `columns` are the objects by what an error calls them; others than those of pandas have no index.
    """
    problems = Problems()
    indexed = {
        name: column.index
        for name, column in columns.items()
        if library(column) == "pandas" and hasattr(column, "index")
    }
    base = data.index if data is not None and library(data) == "pandas" else next(iter(indexed.values()), None)
    for name, index in indexed.items():
        if index is not base and not index.equals(base):
            problems.add(
                f"the pandas index of {name} differs from the others': rows pair by position. Align them first, or "
                "pass .to_numpy()."
            )
    problems.raise_if_any(DataError)
