"""The rows themselves, from memory or from files, for what counts cannot hold: functions of rows, distances, models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats, Indices
from evenhand.core.results import Group
from evenhand.core.wording import number_of
from evenhand.errors import CallError, DataError, Problems, nearest, shorten
from evenhand.sources import groups, levels
from evenhand.sources.columns import encode, library, numbers
from evenhand.sources.files import FileSource, query
from evenhand.sources.files.formats import Column, explain
from evenhand.sources.groups import Attributes
from evenhand.sources.lines import Lines
from evenhand.sources.roles import Roles
from evenhand.sources.spelling import canonical

_MOST_VALUES = 2_000_000_000


@dataclass(frozen=True)
class Rows:
    """One row for each person: the groups that occur, the index of each person's group, and arrays by role.

    `strata` and `stratum_codes` are the same of the controls; without any there is one, ().
    """

    groups: tuple[Group, ...]
    codes: Indices
    columns: dict[str, Array]
    strata: tuple[Group, ...] = ((),)
    stratum_codes: Indices | None = None


NO_STRATA: tuple[tuple[Group, ...], None] = ((),), None
RAW = ("label:raw", "prediction:raw")
"""The keys of labels and predictions as the caller passed them."""


def read(lines: Lines, roles: Roles, *, raw: bool = False) -> Rows:
    """The rows in their order, one for each person.

    `label` and `prediction` are 1, 0 or NaN for missing; of a regressor they are its numbers; with several classes they
    are the caller's own values, and None for missing. `weight` and `score` are numbers. Columns in `roles.others` stay
    as they are, and with `raw` labels and predictions are there as they are too, by the keys in `RAW`.
    """
    if lines.n is not None:
        raise CallError(
            "a function of rows needs one row for each person, in memory: collect the table first, or read the "
            "result of the query into a dataframe, as by pandas.read_sql, and pass it to evenhand.audit in Python."
        )
    problems = Problems()
    columns = _outcomes(lines, roles, problems)
    if roles.weight is not None:
        columns["weight"] = numbers(lines.columns["weight"], "weight", roles.weight)[0]
    if roles.score is not None and lines.scores is not None:
        columns["score"] = lines.scores
    columns |= {key: as_they_are(lines.columns[key]) for key in roles.others}
    for key in RAW if raw else ():
        role = key.partition(":")[0]
        if role in columns:
            columns[key] = as_they_are(lines.columns[role]) if role in lines.columns else columns[role]
    attributes = _attributes("sensitive", roles.sensitive, lines, roles, problems)
    strata = _attributes("control", roles.control, lines, roles, problems) if roles.control else None
    problems.raise_if_any(DataError)
    rows = Rows(*attributes.combined(), columns, *(NO_STRATA if strata is None else strata.combined()))
    if roles.count is None:
        return rows
    return _written_out(rows, numbers(lines.columns["count"], "count", roles.count)[0])


def as_they_are(column: Any) -> Array:
    """A column or a table of numbers as an array of the caller's own values; text is an array of objects."""
    if library(column) == "pyarrow" and hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if hasattr(column, "to_numpy"):
        try:
            values = column.to_numpy(zero_copy_only=False) if library(column) == "pyarrow" else column.to_numpy()
        except (TypeError, ValueError):
            values = _as_array(list(column))
        return np.asarray(values)
    if hasattr(column, "__array__"):
        return np.asarray(column)
    if any(value is None or isinstance(value, (str, bytes)) for value in column):
        return _as_array(list(column))
    return np.asarray(column)


def _outcomes(lines: Lines, roles: Roles, problems: Problems) -> dict[str, Array]:
    """Label and prediction of each row."""
    if roles.task == "regression":
        numbers_by_role = {"label": lines.outcomes, "prediction": lines.scores}
        return {role: values for role, values in numbers_by_role.items() if values is not None}
    columns: dict[str, Array] = {}
    own: dict[str, Any] = {}
    for role in ("label", "prediction"):
        if role not in lines.columns:
            continue
        values, codes = encode(lines.columns[role], f"{role} column {shorten(roles.keys[role])!r}", roles.na)
        if roles.task == "multiclass":
            # A class that label and prediction spell alike is one value, though one may be 1 and the other "1".
            columns[role] = _as_array([*(own.setdefault(canonical(value), value) for value in values), None])[codes]
            continue
        seen = np.ones(len(values), bool)
        lookup = levels.classes(role, roles.keys[role], values, seen, roles.positive[role], problems)
        columns[role] = np.where(lookup[codes] == levels.NEITHER, np.nan, lookup[codes])
    if "prediction" not in columns and "decided" in lines.columns:
        columns["prediction"] = lines.columns["decided"].astype(float)
    return columns


def _as_array(values: Sequence[Any]) -> Array:
    """Any values as an array of objects, also those that are sequences themselves."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value.item() if isinstance(value, np.generic) else value
    return array


def _written_out(rows: Rows, count: Floats) -> Rows:
    """The rows with each as often as its count says."""
    people = count.sum()
    if people * (len(rows.columns) + 1) > _MOST_VALUES:
        raise DataError(f"{people:,.0f} people do not fit into memory: a function needs a row for each of them.")
    times = count.astype(np.int64)
    columns = {role: np.repeat(values, times, axis=0) for role, values in rows.columns.items()}
    strata = None if rows.stratum_codes is None else np.repeat(rows.stratum_codes, times)
    return Rows(rows.groups, np.repeat(rows.codes, times), columns, rows.strata, strata)


def _attributes(role: str, names: tuple[str, ...], lines: Lines, roles: Roles, problems: Problems) -> Attributes:
    """The attributes that make the groups, or the strata; without any, everyone is one group."""
    if not names:
        return groups.everyone(lines.length)
    read = [
        groups.attribute(
            name,
            lines.columns[f"{role}:{name}"],
            roles.bands.get(name),
            problems,
            roles.na,
            categories=name in roles.categories,
            call=roles.caller(name),
        )
        for name in names
    ]
    parts, codes = zip(*read, strict=True)
    return Attributes(names, parts, codes)


def load_files(data: Any, names: Iterable[str] | None = None, *, hive: bool = False) -> dict[str, Any]:
    """Columns of files as arrays, in the order of the rows; by default all of them. `hive` is as in `FileSource`.

    Text stays text and numbers stay numbers: the caller decides what they mean, as for a table in memory.
    """
    import duckdb

    source = FileSource(data, hive=hive, ordered=True)
    selected = _selected(source, names)
    columns = [source.table.columns[name] for name in selected]
    fields = ", ".join(f"{column.key} AS v{i}" for i, column in enumerate(columns))
    try:
        size = query.fetch(source.connection, f"SELECT count(*) FROM {source.table.relation}")[0][0]  # noqa: S608
        if size == 0:
            raise DataError("the file has no rows.")
        if size * len(selected) > _MOST_VALUES:
            raise DataError(f"{number_of(size)} of {len(selected)} columns do not fit into memory: name fewer columns.")
        found = source.connection.execute(f"SELECT {fields} FROM {source.table.relation}").fetchnumpy()  # noqa: S608
    except (duckdb.Error, MemoryError, UnicodeError, SystemError) as error:  # the last two: text is not UTF-8
        raise DataError(explain(source.paths, source.format, error)) from None
    return {
        name: _decoded(column, found[f"v{i}"]) for i, (name, column) in enumerate(zip(selected, columns, strict=True))
    }


def _selected(source: FileSource, names: Iterable[str] | None) -> Sequence[str]:
    known = source.names
    selected = known if names is None else list(dict.fromkeys(names))
    for name in selected:
        if name not in known:
            raise CallError(f"{shorten(name)!r} is not a column; {nearest(name, known)}")
        if name in source.table.twice:
            raise DataError(f"two columns are called {shorten(name)!r}: rename one.")
    return selected


def _decoded(column: Column, values: Any) -> Any:
    """The values as they stand in the file; each distinct value is decoded once, and numbers not at all."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        plain = values.data
        if plain.dtype.kind in "iuf":
            return np.where(mask, np.nan, plain.astype(np.float64))
        values = plain.astype(object)
        values[mask] = None
    if values.dtype.kind != "O":
        return values
    known: dict[Any, Any] = {}
    return [known[value] if value in known else known.setdefault(value, column.decode(value)) for value in values]
