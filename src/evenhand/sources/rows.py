"""The rows themselves, group by group, for measures that no cell can hold. Data in memory only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Array
from evenhand.core.results import Group
from evenhand.errors import CallError, DataError, Problems, shorten
from evenhand.sources import levels as reading
from evenhand.sources.columns import encode, numbers
from evenhand.sources.lines import Lines
from evenhand.sources.roles import Roles


@dataclass(frozen=True)
class Rows:
    """One row for each person: the groups that occur, the place of each person's among them, and arrays by role."""

    groups: tuple[Group, ...]
    codes: npt.NDArray[np.intp]
    columns: dict[str, Array]


def read(lines: Lines, roles: Roles) -> Rows:
    """The rows: `label` and `prediction` as 1, 0 (or NaN unlabelled), `weight` as numbers, in the order they came."""
    if lines.n is not None or roles.count is not None:
        raise CallError("a measure made of a function needs one row for each person, in memory.")
    if roles.control:
        raise CallError("a measure made of a function takes no control=; audit each stratum by itself.")
    problems = Problems()
    columns: dict[str, Array] = {}
    for role in ("label", "prediction"):
        if role in lines.columns:
            found, codes = encode(lines.columns[role], f"{role} column {shorten(roles.keys[role])!r}", roles.na)
            lookup = reading.classes(
                role, roles.keys[role], found, np.ones(len(found), bool), roles.positive[role], problems
            )
            columns[role] = np.where(lookup[codes] == reading.NEITHER, np.nan, lookup[codes])
    if "prediction" not in columns and "decided" in lines.columns:
        columns["prediction"] = lines.columns["decided"].astype(float)
    if roles.weight is not None:
        columns["weight"] = numbers(lines.columns["weight"], "weight", roles.weight)[0]
    names, keys = _groups(lines, roles, problems)
    problems.raise_if_any(DataError)
    there, places = np.unique(keys, return_inverse=True)
    return Rows(tuple(names(int(key)) for key in there), places.astype(np.intp), columns)


def by_group(lines: Lines, roles: Roles) -> Iterator[tuple[Group, dict[str, Array]]]:
    """Each group with the arrays of its rows."""
    rows = read(lines, roles)
    for place, group in enumerate(rows.groups):
        inside = rows.codes == place
        yield group, {role: values[inside] for role, values in rows.columns.items()}


def _groups(lines: Lines, roles: Roles, problems: Problems) -> tuple[Any, Array]:
    attributes, keys = [], np.zeros(lines.length, dtype=np.int64)
    for name in roles.grouping:
        title = name.partition(":")[2]
        found, codes = encode(lines.columns[name], repr(shorten(title)), roles.na)
        people = np.bincount(np.add(codes, 1, dtype=np.intp), minlength=len(found) + 1)[1:].astype(float)
        read = reading.attribute(title, found, partial(np.copy, people), roles.bands.get(title), problems)
        attributes.append(read)
        keys = keys * len(read.names) + read.lookup[codes]
    shape = [len(read.names) for read in attributes]

    def spelled(key: int) -> Group:
        return tuple(read.names[int(i)] for read, i in zip(attributes, np.unravel_index(key, shape), strict=True))

    return spelled, keys
