"""RowSource: the rows behind the counts of an audit, read when a metric first needs them and shared by all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand import sources
from evenhand.catalogue import find
from evenhand.core.arrays import Array, Bools, Indices
from evenhand.core.frames import row_count
from evenhand.core.results import Group
from evenhand.cube import chunks
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, nearest, shorten
from evenhand.measures.row_measure import PARAMETERS, RowMeasure
from evenhand.sources.files import is_path
from evenhand.sources.memory import MemorySource
from evenhand.sources.roles import Roles, assign
from evenhand.sources.rows import Rows, load_files, read

_SCORE = "score:columns"  # the key of a score with a column for each class


@dataclass(frozen=True)
class Taken:
    """The arrays of a metric's functions, by parameter, and the rows of each pair of a cube that have all they take."""

    arrays: Sequence[dict[str, Array]]
    atoms: Sequence[Indices]


class RowSource:
    """The data and the arguments of a call; `metrics` are those that it may be asked for, or their names."""

    def __init__(self, data: Any, arguments: Mapping[str, Any], metrics: Iterable[Any] = ()) -> None:
        self.data, self.arguments = data, dict(arguments)
        self.measures = [row for metric in metrics for row in find(metric)[0].rows if isinstance(row, RowMeasure)]

    @cached_property
    def counted(self) -> dict[str, Any]:
        """The arguments for the counts, which cannot hold a score with a column for each class."""
        if not self.has_columns_of_scores:
            return self.arguments
        if not any("score" in row.inputs.roles.values() for row in self.measures):
            raise CallError(
                "score= has a column for each class, which only a function of the rows takes: name one in metrics=, "
                "such as sklearn.metrics.log_loss, or pass the column of the positive class, as in score=proba[:, 1]."
            )
        return {**self.arguments, "score": None}

    @cached_property
    def has_columns_of_scores(self) -> bool:
        """Has the score a column for each class, as predict_proba returns it?"""
        score = self.arguments.get("score")
        if score is None or isinstance(score, str):
            return False
        if _are_names(score):
            return self.data is not None and len(score) > 1
        if isinstance(score, (list, tuple)):
            return bool(score) and hasattr(score[0], "__len__") and not isinstance(score[0], (str, bytes))
        shape: tuple[int, ...] = getattr(score, "shape", ())
        return len(shape) == 2 and shape[1] > 1

    def has(self, role: str, cube: Cube) -> bool:
        """Whether the rows have a label, a prediction or a score."""
        return cube.has[role] or (role == "score" and self.has_columns_of_scores)

    def inputs(self, measures: Sequence[RowMeasure], cube: Cube, counted: Cube) -> Taken:
        """What the functions of one metric take, and which rows belong to each pair of a cube.

        `counted` is the cube before groups were joined, if they were. Rows that lack a label, a prediction or a score
        which one of the functions takes are left out.
        """
        rows = self._read(counted)
        arrays = [{name: rows.columns[key] for name, key in self._keys(row, rows).items()} for row in measures]
        there = np.ones(len(rows.codes), dtype=np.bool_)
        for role in sorted({role for row in measures for role in row.inputs.needs}):
            there &= _present(rows.columns[_SCORE if role == "score" and _SCORE in rows.columns else role])
        places = np.where(there, self._places(rows, cube, counted), -1)
        kind = np.int16 if len(cube.pairs) < np.iinfo(np.int16).max else np.int64
        order = np.argsort(places.astype(kind), kind="stable")
        starts = np.searchsorted(places[order], np.arange(len(cube.pairs) + 1))
        return Taken(arrays, [order[start:end] for start, end in pairwise(starts)])

    def _places(self, rows: Rows, cube: Cube, counted: Cube) -> Indices:
        """The pair of a cube that each row belongs to; −1 where it belongs to none."""
        positions = [self._sensitive.index(name) for name in cube.meaning.sensitive]
        known, before = set(cube.groups), set(counted.groups)
        pooled = [group for group in known if group not in before]

        def named(group: Group) -> Group:
            own = tuple(group[position] for position in positions)
            return own if own in known or not pooled else pooled[0]

        index = {pair: place for place, pair in enumerate(cube.pairs)}
        names = [named(group) for group in rows.groups]
        table = np.array([[index.get((stratum, name), -1) for name in names] for stratum in rows.strata], dtype=np.intp)
        return table[0][rows.codes] if rows.stratum_codes is None else table[rows.stratum_codes, rows.codes]

    def _read(self, cube: Cube) -> Rows:
        """All rows, read once: as the cube was counted, where that was found in the data."""
        if self._rows is None:
            self._rows = self._read_rows(cube)
        return self._rows

    _rows: Rows | None = None
    _sensitive: tuple[str, ...] = ()

    def _read_rows(self, cube: Cube) -> Rows:
        if chunks.is_chunks(self.data):
            raise CallError("a function of rows needs all rows at once: pass one table instead of several.")
        meaning = cube.meaning
        source = sources.open_source(self.data, hive=self.arguments.get("hive", False))
        roles = assign(source.names, **{**self.counted, "task": meaning.task})
        attributes = (*roles.sensitive, *roles.control)
        bands = {name: edges for name, edges in meaning.bands.items() if name in attributes}
        others, arrays = self._others(source.names)
        roles = replace(
            roles,
            bands=bands,
            categories=frozenset(attributes),
            others=others,
            arrays={**roles.arrays, **arrays},
        )
        if is_path(self.data):
            source = MemorySource(load_files(self.data, _columns_of(roles), hive=roles.hive))
        self._sensitive = roles.sensitive
        rows = read(source.lines(roles), roles, raw=any(row.inputs.raw for row in self.measures))
        columns = rows.columns
        if is_path(self.data):  # a file of text does not say which of its columns are numbers
            columns = {key: _as_numbers(values) if key in others else values for key, values in columns.items()}
        columns = self._joined(columns)
        if meaning.task != "regression":
            columns |= {f"{role}:known": _plain(columns[role]) for role in ("label", "prediction") if role in columns}
        return replace(rows, columns=columns)

    def _others(self, names: Sequence[str] | None) -> tuple[dict[str, str], dict[str, Any]]:
        """The columns that are read for functions: by key what each is called, and those that are arrays."""
        others: dict[str, str] = {}
        arrays: dict[str, Any] = {}
        wanted = [(row, name, value) for row in self.measures for name, value in row.inputs.columns.items()]
        for row, name, value in wanted:
            for part in value if _are_names(value) else [value]:
                if isinstance(part, str):
                    _check_column(row, name, part, names)
                    others[f"column:{part}"] = part
                else:
                    others[f"array:{id(value)}"] = name
                    arrays[f"array:{id(value)}"] = _sized(row, name, value)
        if self.has_columns_of_scores:
            score = self.arguments["score"]
            for part in score if _are_names(score) else ():
                if names is None or part not in names:
                    raise CallError(f"score={shorten(part)!r} is not a column; {nearest(part, names or ())}")
                others[f"column:{part}"] = part
            if not _are_names(score):
                others[_SCORE] = "score"
                arrays[_SCORE] = np.asarray(score) if isinstance(score, (list, tuple)) else score
        return others, arrays

    def _joined(self, columns: dict[str, Array]) -> dict[str, Array]:
        """The columns with those that a function takes side by side as one array."""
        joined = dict(columns)
        for row in self.measures:
            for value in row.inputs.columns.values():
                if _are_names(value):
                    joined[_together(value)] = np.column_stack([columns[f"column:{part}"] for part in value])
        score: Any = self.arguments.get("score")
        if self.has_columns_of_scores and _are_names(score):
            joined[_SCORE] = np.column_stack([columns[f"column:{part}"] for part in score])
        return joined

    def _keys(self, row: RowMeasure, rows: Rows) -> dict[str, str]:
        """The key of the column behind each parameter of a function."""
        keys = {name: _column_key(value) for name, value in row.inputs.columns.items()}
        for name, role in row.inputs.roles.items():
            wanted = (
                f"{role}:raw" if row.inputs.raw else "",
                f"{role}:known" if role in row.inputs.needs else "",
                f"{role}:columns",
                role,
            )
            found = next((key for key in wanted if key in rows.columns), None)
            if found is not None:
                keys[name] = found
        if "weight" in rows.columns and row.inputs.parameter("weight") is None:
            raise CallError(
                f"{row.name} takes no weight, and the rows are weighted: add an argument weight (or sample_weight) "
                "to its function, or leave weight= out."
            )
        weight = row.inputs.parameter("weight")
        if "weight" not in rows.columns and weight is not None and weight not in row.inputs.optional:
            raise CallError(f"{row.name} takes {weight}, and there are no weights: pass weight=, or give it a default.")
        return keys


def reusable(columns: Any) -> Any:
    """Columns that can be read twice, for the counts and for the rows: an iterator in a mapping becomes a list."""
    if not isinstance(columns, dict):
        return columns
    return {key: list(item) if isinstance(item, Iterator) else reusable(item) for key, item in columns.items()}


def _are_names(value: Any) -> bool:
    """Is it a list of columns?"""
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(part, str) for part in value)


def _together(names: Sequence[str]) -> str:
    return f"columns:{tuple(names)!r}"


def _column_key(value: Any) -> str:
    if isinstance(value, str):
        return f"column:{value}"
    return _together(value) if _are_names(value) else f"array:{id(value)}"


def _columns_of(roles: Roles) -> list[str]:
    """The columns of the data that are read."""
    read = [name for key, name in roles.keys.items() if key not in roles.arrays]
    return list(dict.fromkeys([*read, *(each.column for each in roles.where)]))


def _check_column(row: RowMeasure, parameter: str, column: str, names: Sequence[str] | None) -> None:
    if names is not None and column in names:
        return
    if parameter in row.inputs.assumed:
        known = [name for role in PARAMETERS.values() for name in role[:2]]
        raise CallError(
            f"the function of {row.name} takes {parameter!r}, which is neither a role ({', '.join(known)}) nor a "
            f"column of the data: say what it is by columns={{{parameter!r}: ...}}, or set it by functools.partial."
        )
    if names is None:
        raise CallError(
            f"columns={{{parameter!r}: {shorten(column)!r}}} of {row.name} names a column, but there is no data: pass "
            "data, or an array."
        )
    raise CallError(f"columns= of {row.name}: {shorten(column)!r} is not a column; {nearest(column, names)}")


def _sized(row: RowMeasure, parameter: str, value: Any) -> Any:
    """An array of the caller's, with a row for each person and one or two dimensions."""
    if isinstance(value, (str, bytes, Mapping)) or not (hasattr(value, "__len__") or hasattr(value, "__array__")):
        raise CallError(
            f"columns={{{parameter!r}: {shorten(repr(value))}}} of {row.name} must be the name of a column, a list of "
            "names, or an array with a row for each person."
        )
    if len(getattr(value, "shape", (1,))) not in (1, 2) or row_count(value) == 0:
        raise DataError(f"columns= of {row.name}: {parameter!r} must have one or two dimensions, and rows.")
    return value


def _as_numbers(values: Array) -> Array:
    """Text as numbers, where all of it is numbers or empty; anything else as it is."""
    if values.dtype != object:
        return values
    try:
        return np.array([np.nan if value in (None, "") else float(value) for value in values])
    except (TypeError, ValueError):
        return values


def _present(values: Array) -> Bools:
    """Which rows have a value; of several columns, in each."""
    if values.dtype == object:
        return np.array([value is not None for value in values], dtype=np.bool_)
    if values.dtype.kind != "f":
        return np.ones(len(values), dtype=np.bool_)
    there = ~np.isnan(values)
    return there if there.ndim == 1 else np.asarray(there.all(axis=1))


def _plain(values: Array) -> Array:
    """Classes as whole numbers where they are such; those of rows without one are any, because they are left out."""
    there = _present(values)
    if values.dtype != object:
        return np.where(there, values, 0.0).astype(np.int64)
    kinds = {type(value) for value in values[there]}
    if len(kinds) != 1 or not kinds <= {int, float, bool}:
        return values
    (kind,) = kinds
    return np.array([kind() if value is None else value for value in values])
