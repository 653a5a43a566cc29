"""Stratum: one stratum of one metric, with its gap, its bounds and its verdict."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core.results import Group, Verdict
from evenhand.verdicts import comparison
from evenhand.verdicts.bounds import find_bounds
from evenhand.verdicts.bounds.bounds import JudgedGroups
from evenhand.verdicts.comparison import Plan
from evenhand.verdicts.request import Request
from evenhand.verdicts.table import Table
from evenhand.verdicts.verdict import passes, verdict


class Stratum:
    """One table of groups, judged: the gap over all groups, its interval, and which groups are too small for a pass.

    `name` is (), where there is only one stratum or all are taken together.
    """

    def __init__(self, request: Request, plan: Plan, name: Group, table: Table) -> None:
        self.request, self.plan, self.name, self.table = request, plan, name, table
        self.one_sided = request.one_sided and not plan.fold
        named = np.array([None not in group or group == plan.reference for group in table.groups])
        people = table.cube.n.sum(axis=(1, 2))
        rare = named & (people < request.policy.min_group_share * people.sum())
        rare &= np.array([group != plan.reference for group in table.groups])
        self.rare = [group for group, left_out in zip(table.groups, rare, strict=True) if left_out]
        named &= ~rare
        large = table.support >= request.policy.min_group_size
        judged = np.array([row.judged for row in table.measures])
        self.small = [group for i, group in enumerate(table.groups) if named[i] and not large[judged, i].all()]
        everyone = named & judged[:, None]
        if request.metric.binned:
            everyone = everyone & (table.support >= request.options["min_bin"])
        self.judged = JudgedGroups(everyone, everyone & large & (plan.reference not in self.small))
        self.gap = comparison.gap(
            table.values,
            table.base,
            everyone,
            aggregate=request.aggregate,
            judged_on=request.judged_on,
            one_sided=self.one_sided,
            fold=plan.fold,
            signed=table.signed,
        )
        self.bounds = find_bounds(request, plan, table, self.gap, self.judged)

    @property
    def value(self) -> float:
        return self.gap.ratio if self.request.judged_on == "ratio" else self.gap.difference

    @property
    def unit(self) -> str:
        return self.table.measures[self.gap.measure or 0].unit if self.table.measures else "rate"

    @property
    def severity(self) -> float:
        """How bad the gap is; the finding reports the stratum with the worst one."""
        if math.isnan(self.value):
            return -math.inf
        if self.request.judged_on == "difference":
            return abs(self.value)
        return -self.value if self.one_sided else -float(comparison.folded(self.value))

    @property
    def passes(self) -> bool | None:
        """Is the estimate within the threshold? None where either is missing."""
        two_sided = self.table.base is not None and not self.one_sided
        return passes(self.value, self.request.threshold, self.request.judged_on, two_sided=two_sided)

    @property
    def verdict(self) -> Verdict:
        """Fail when the whole interval is outside, pass when all of it is inside, else inconclusive."""
        within = self.passes
        inside = self.bounds.inside and within is True
        return verdict(judged=within is not None, outside=self.bounds.outside, inside=inside)

    def highest(self, i: int) -> int | None:
        """The group with the highest value of a measure, among those compared."""
        values = np.where(self.judged.everyone[i], self.table.values[i], np.nan)
        return None if np.isnan(values).all() else int(np.nanargmax(values))
