"""Table: every measure of a metric for every group, with its spread and the baseline that it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats, Ints
from evenhand.core.results import Group, spell
from evenhand.cube.cube import Cube
from evenhand.inference.clustered import together_of
from evenhand.inference.spread import Spread
from evenhand.measures.base import Measure, evaluate, undefined_reason
from evenhand.measures.group_data import GroupData, Whose
from evenhand.measures.known import known
from evenhand.verdicts.comparison import Plan


class Drawn(NamedTuple):
    """Draws of measures that are functions of rows, [draws, measures, groups].

    For BCa also `less`, the values with one row less ([rows, measures, groups]), and how many `people` have each row.
    `base` and `less_base` are the same of what groups are compared with, where that is not one of them.
    """

    sample: Floats
    people: Ints | None = None
    less: Floats | None = None
    base: Floats | None = None
    less_base: Floats | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Each measure of each group with its spread, and what it is compared with; arrays are [measures, groups]."""

    cube: Cube
    measures: Sequence[Measure]
    groups: Sequence[Group]
    spreads: Sequence[Spread | None]
    values: Floats
    support: Array
    base: Floats | None = None
    base_spreads: Sequence[Spread | None] = ()
    base_support: Array | None = None
    """The rows that each baseline is measured on, as `support` is for the groups."""
    shares: Floats | None = None
    """Against everyone, the share of each group in everyone; NaN for a measure whose value for everyone is not a mean
    over the groups. The spread of its baseline is then that of everyone, else that of the rest."""
    common: Floats | None = None
    """Against everyone, the correlation of each group's error with everyone's, where draws of the rows tell it."""
    signed: Bools | None = None
    """Which measures can be negative, so that their ratio has a meaning only where all values are above 0."""
    drawn: Drawn | None = None

    def name(self, group: int) -> str:
        """A group as people read it."""
        return spell(self.groups[group], self.cube.meaning.sensitive)

    def reason(self, measure: int, group: int) -> str | None:
        """Why a measure is undefined for a group; None where it is defined."""
        if not np.isnan(self.values[measure, group]):
            return None
        name, people = self.name(group), int(self.support[measure, group])
        return undefined_reason(self.measures[measure], self._data, group, name, people)

    @cached_property
    def sizes(self) -> Floats:
        """The weight of each group beside that of the heaviest: the larger of two equals is named."""
        mass = self.cube.n if self.cube.w is None else self.cube.w
        sums = mass.sum(axis=(1, 2), dtype=np.float64)
        return np.asarray(np.round(sums / max(float(sums.max(initial=0.0)), 1e-300), 9), dtype=np.float64)

    @cached_property
    def _data(self) -> GroupData:
        return GroupData.of(self.cube)


def tabulate(measures: Sequence[Measure], cube: Cube, plan: Plan) -> Table:
    """The measures of the groups of a cube, and their baselines as the plan says."""
    groups = [group for _, group in cube.pairs]
    data = GroupData.of(cube)
    spreads, values, support = _evaluate(measures, data)
    signed = np.array([row.signed(data) for row in measures], dtype=bool)
    table = Table(cube, measures, groups, _known(spreads, data), values, support, signed=signed)
    if plan.between_extremes:
        return table
    if plan.against == "reference":
        return against_reference(table, plan)
    rest_spreads, rest, theirs = _of_others(measures, cube, "rest")
    if plan.against == "rest":
        return replace(table, base=rest, base_spreads=rest_spreads, base_support=theirs)
    return _against_everyone(table, rest_spreads)


def _evaluate(measures: Sequence[Measure], data: GroupData) -> tuple[list[Spread | None], Floats, Array]:
    """The spreads, the values and the support of all measures."""
    spreads, values, support = zip(*(evaluate(row, data) for row in measures), strict=True)
    return list(spreads), np.stack(values), np.stack(support)


def _of_others(measures: Sequence[Measure], cube: Cube, whose: Whose) -> tuple[list[Spread | None], Floats, Array]:
    """The same of everyone else or of everyone, for each measure those of whom it is known."""
    each = zip(measures, _known_data(measures, cube, whose), strict=True)
    every = [_evaluate([row], data) for row, data in each]
    spreads, values, support = zip(*every, strict=True)
    data = GroupData.of(cube, whose)
    return _known([part[0] for part in spreads], data), np.concatenate(values), np.concatenate(support)


def _known(spreads: Sequence[Spread | None], data: GroupData) -> list[Spread | None]:
    """Where rows belong together, only the spreads that take account of it."""
    return [spread if not data.clustered or together_of(spread) is not None else None for spread in spreads]


def _known_data(measures: Sequence[Measure], cube: Cube, whose: Whose) -> list[GroupData]:
    """The data of whom each measure is known; measures of the same people read the same."""
    found: dict[int, GroupData] = {}
    parts = [known(row, cube) for row in measures]
    return [found.setdefault(id(part), GroupData.of(part, whose)) for part in parts]


def against_reference(table: Table, plan: Plan) -> Table:
    """Compared with one group; the group itself has no baseline. All are NaN where the group is not in the table."""
    place = next((i for i, group in enumerate(table.groups) if group == plan.reference), None)
    if place is None:
        none: list[Spread | None] = [None] * len(table.measures)
        return replace(table, base=np.full(table.values.shape, np.nan), base_spreads=none)
    base = np.repeat(table.values[:, [place]], len(table.groups), axis=1)
    base[:, place] = np.nan
    repeated = [place] * len(table.groups)
    spreads = [None if spread is None else spread.scaled(1.0, repeated) for spread in table.spreads]
    return replace(table, base=base, base_spreads=spreads, base_support=table.support[:, repeated])


def _against_everyone(table: Table, rest: Sequence[Spread | None]) -> Table:
    """Compared with everyone, whose values are computed from everyone as one group.

    `rest` are the spreads of all other groups, from which the interval of a mean follows by the share of the group.
    """
    groups = len(table.groups)
    everyone, values, people = _of_others(table.measures, table.cube, "everyone")
    each = zip(table.measures, _known_data(table.measures, table.cube, "groups"), strict=True)
    mass = np.stack([row.mass(data) if row.linear else np.full(groups, np.nan) for row, data in each])
    repeated = [0] * groups
    spreads = [
        others if row.linear or whole is None else whole.scaled(1.0, repeated)
        for row, whole, others in zip(table.measures, everyone, rest, strict=True)
    ]
    shares = mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
    base, support = (np.repeat(part, groups, axis=1) for part in (values, people))
    return replace(table, base=base, base_spreads=spreads, shares=shares, base_support=support)
