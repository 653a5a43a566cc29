"""The rows themselves with their groups, for measures that cannot be computed from counts. Data in memory only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Array, Indices
from evenhand.core.results import Group
from evenhand.errors import CallError, DataError, Problems, shorten
from evenhand.sources import groups, levels
from evenhand.sources.columns import encode, numbers
from evenhand.sources.groups import Attributes
from evenhand.sources.lines import Lines
from evenhand.sources.roles import Roles


@dataclass(frozen=True)
class Rows:
    """One row for each person: the groups that occur, the position of each person's group, and arrays by role."""

    groups: tuple[Group, ...]
    codes: Indices
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
            values, codes = encode(lines.columns[role], f"{role} column {shorten(roles.keys[role])!r}", roles.na)
            seen = np.ones(len(values), bool)
            lookup = levels.classes(role, roles.keys[role], values, seen, roles.positive[role], problems)
            columns[role] = np.where(lookup[codes] == levels.NEITHER, np.nan, lookup[codes])
    if "prediction" not in columns and "decided" in lines.columns:
        columns["prediction"] = lines.columns["decided"].astype(float)
    if roles.weight is not None:
        columns["weight"] = numbers(lines.columns["weight"], "weight", roles.weight)[0]
    attributes = _attributes(lines, roles, problems)
    problems.raise_if_any(DataError)
    return Rows(*attributes.combined(), columns)


def _attributes(lines: Lines, roles: Roles, problems: Problems) -> Attributes:
    """The attributes that make the groups; without any, everyone is one group."""
    if not roles.sensitive:
        return groups.everyone(lines.length)
    read = [
        groups.attribute(name, lines.columns[f"sensitive:{name}"], roles.bands.get(name), problems, roles.na)
        for name in roles.sensitive
    ]
    parts, codes = zip(*read, strict=True)
    return Attributes(roles.sensitive, parts, codes)


def by_group(lines: Lines, roles: Roles) -> Iterator[tuple[Group, dict[str, Array]]]:
    """Each group with the arrays of its rows."""
    rows = read(lines, roles)
    for code, group in enumerate(rows.groups):
        inside = rows.codes == code
        yield group, {role: values[inside] for role, values in rows.columns.items()}
