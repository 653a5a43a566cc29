"""The rows themselves, from memory or from files, for what counts cannot hold: functions of rows, distances, models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats, Indices
from evenhand.core.results import Group
from evenhand.errors import CallError, DataError, Problems, nearest, shorten
from evenhand.sources import groups, levels
from evenhand.sources.columns import encode, numbers
from evenhand.sources.files import FileSource, query
from evenhand.sources.files.formats import Column, explain
from evenhand.sources.groups import Attributes
from evenhand.sources.lines import Lines
from evenhand.sources.roles import Roles
from evenhand.sources.spelling import canonical

_MOST_VALUES = 2_000_000_000


@dataclass(frozen=True)
class Rows:
    """One row for each person: the groups that occur, the index of each person's group, and arrays by role."""

    groups: tuple[Group, ...]
    codes: Indices
    columns: dict[str, Array]


def read(lines: Lines, roles: Roles) -> Rows:
    """The rows in their order, one for each person.

    `label` and `prediction` are 1, 0 or NaN for missing; of a regressor they are its numbers; with several classes they
    are the caller's own values, and None for missing. `weight` is a number.
    """
    if lines.n is not None:
        raise CallError(
            "a function of rows needs one row for each person, in memory: read the file first, as by pandas.read_csv, "
            "or collect the table."
        )
    if roles.control:
        raise CallError("a function of rows takes no control=: audit each stratum by itself.")
    problems = Problems()
    columns = _outcomes(lines, roles, problems)
    if roles.weight is not None:
        columns["weight"] = numbers(lines.columns["weight"], "weight", roles.weight)[0]
    attributes = _attributes(lines, roles, problems)
    problems.raise_if_any(DataError)
    rows = Rows(*attributes.combined(), columns)
    if roles.count is None:
        return rows
    return _written_out(rows, numbers(lines.columns["count"], "count", roles.count)[0])


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
    columns = {role: np.repeat(values, times) for role, values in rows.columns.items()}
    return Rows(rows.groups, np.repeat(rows.codes, times), columns)


def _attributes(lines: Lines, roles: Roles, problems: Problems) -> Attributes:
    """The attributes that make the groups; without any, everyone is one group."""
    if not roles.sensitive:
        return groups.everyone(lines.length)
    read = [
        groups.attribute(
            name,
            lines.columns[f"sensitive:{name}"],
            roles.bands.get(name),
            problems,
            roles.na,
            categories=name in roles.categories,
        )
        for name in roles.sensitive
    ]
    parts, codes = zip(*read, strict=True)
    return Attributes(roles.sensitive, parts, codes)


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
            raise DataError(f"{size:,} rows of {len(selected)} columns do not fit into memory: name fewer columns.")
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
