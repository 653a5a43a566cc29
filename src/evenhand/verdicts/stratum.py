"""Stratum: one stratum of one metric, with its gap, its bounds and its verdict."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Bools, Ints
from evenhand.core.results import Estimate, Group, JudgedOn, Verdict, spell, spell_stratum
from evenhand.inference.spread import Proportions
from evenhand.measures.group_data import SIDES, GroupData
from evenhand.verdicts import comparison
from evenhand.verdicts.bounds import find_bounds
from evenhand.verdicts.bounds.bounds import Evidence, JudgedGroups, Question
from evenhand.verdicts.clustered import few_clusters, few_clusters_note
from evenhand.verdicts.comparison import Plan
from evenhand.verdicts.request import Request
from evenhand.verdicts.table import Table
from evenhand.verdicts.verdict import ORDER, passes, verdict


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
        large = table.support >= self.least
        judged = np.array([row.judged for row in table.measures])
        small = named & ~large[judged].all(axis=0)
        self.small = [table.groups[i] for i in np.flatnonzero(small).tolist()]
        everyone = named & judged[:, None]
        supported = everyone & large & (plan.reference not in self.small)
        if request.metric.binned:
            # A pass rests on every bin that is judged: bins too small for it would hide the gap that they may have.
            everyone = everyone & large
            supported = everyone & _reference_in(table, plan, everyone)
        if request.policy.small_groups == "inconclusive" and self.small_names:
            supported = np.zeros_like(supported)  # a pass would leave them out
        # A group may have rows enough and yet too few clusters to say how they vary: that is no reason to leave it out.
        numbers = np.where(supported, few_clusters(table.cube, table.spreads), 0)
        few = np.where((numbers > 0).any(axis=0), np.where(numbers > 0, numbers, np.iinfo(np.int64).max).min(axis=0), 0)
        self.few_clusters = few_clusters_note(table.cube, few) if few.any() and request.threshold is not None else ""
        if few.any():
            supported = np.zeros_like(supported)
        self.judged = JudgedGroups(everyone, supported, self._yardsticks(everyone & large, people))
        self.gap = comparison.gap(
            table.values,
            table.base,
            everyone,
            aggregate=request.aggregate,
            judged_on=request.judged_on,
            one_sided=self.one_sided,
            fold=plan.fold,
            signed=table.signed,
            yardsticks=self.judged.yardsticks,
            sizes=table.sizes,
        )
        if self.judged.yardsticks is not None and self.gap.difference < 0:
            # Who others may be measured by lies below them all, and is measured by nobody: no pass rests on that.
            self.judged = self.judged._replace(large=np.zeros_like(everyone))
        self.question = Question(request, plan, table, self.gap, self.judged)
        self.bounds = find_bounds(self.question)

    def _yardsticks(self, large: Bools, people: Ints) -> Bools | None:
        """Who may be the highest group that the others are measured by, [measures, groups]; None is everyone.

        A handful of people who are all selected is no measure for thousands. Where nobody is large enough, nobody can
        support a pass either, and the highest of all is taken.
        """
        if self.plan.against != "highest":
            return None
        able = large & (people >= self.request.policy.min_reference_share * people.sum())
        return np.where(able.any(axis=1, keepdims=True), able, True)

    @property
    def is_impact(self) -> bool:
        """Is it one rate of people whose ratio is judged against a yardstick? Then `verdicts.impact` has its tables."""
        spread = self.table.spreads[0] if len(self.table.spreads) == 1 else None
        highest = self.plan.against == "highest"
        against = highest or (self.request.metric.one_sided and self.plan.against in ("reference", "rest"))
        plain = isinstance(spread, Proportions) and self.unit == "rate" and not self.plan.fold
        return against and plain and self.request.judged_on == "ratio"

    @property
    def least(self) -> int:
        """The people that a measure of a group must rest on to support a pass; of a bin, those to be judged at all."""
        least = self.request.options["min_bin"] if self.request.metric.binned else self.request.policy.min_group_size
        return int(least)

    @property
    def where(self) -> str:
        """The stratum as people read it."""
        return spell_stratum(self.name, self.table.cube.meaning.control)

    @property
    def baseline(self) -> str | None:
        """What each group is set against, as people read it; None between extremes."""
        reference = self.plan.reference
        return self.plan.name if reference is None else spell(reference, self.table.cube.meaning.sensitive)

    @property
    def value(self) -> Estimate:
        """The estimate that is judged: its ends are those that decide."""
        return self.bounds.value

    @property
    def evidence(self) -> Evidence | None:
        """The two groups on which the verdict rests."""
        return self.bounds.evidence

    @property
    def unit(self) -> str:
        if self.evidence is not None and self.evidence.measure is not None:
            return self.table.measures[self.evidence.measure].unit
        return self.table.measures[0].unit if self.table.measures else "rate"

    @cached_property
    def passes(self) -> bool | None:
        """Is the estimate within the threshold? None where either is missing."""
        request = self.request
        return passes(self.value.value, request.threshold, request.judged_on, two_sided=self.question.two_sided)

    @cached_property
    def verdict(self) -> Verdict:
        """What the rule says of the value and its ends."""
        request = self.request
        return verdict(self.value, request.threshold, request.judged_on, two_sided=self.question.two_sided)

    @property
    def lacks_labels(self) -> bool:
        """Would it pass, were labels missing at random, and does it not because of what they may be?"""
        without = self.bounds.without_labels
        if without is None or self.verdict == "pass":
            return False
        request = self.request
        return verdict(without, request.threshold, request.judged_on, two_sided=self.question.two_sided) == "pass"

    @cached_property
    def small_names(self) -> dict[str, str]:
        """The groups that are too small for a pass, each with what people read in its place.

        Of bins, those in which they have people, but too few.
        """
        names = self.table.cube.meaning.sensitive
        if not self.request.metric.binned:
            return {spell(group): spell(group, names) for group in self.small}
        return {
            f"{spell(group)}{_within(row.bin)}": f"{spell(group, names)}{_within(row.bin)}"
            for i, row in enumerate(self.table.measures)
            for j, group in enumerate(self.table.groups)
            if row.bin is not None and None not in group and 0 < self.table.support[i, j] < self.least
        }

    @cached_property
    def without_value(self) -> set[str]:
        """Those of `small_names` that lack rows only in measures that are undefined for them, such as a false positive
        rate without negative labels: how many rows they have is not the reason."""
        if self.request.metric.binned:
            return set()
        table, judged = self.table, np.array([row.judged for row in self.table.measures])
        short = (table.support < self.least) & judged[:, None]
        unknown = ~(short & np.isfinite(table.values)).any(axis=0)
        small = set(self.small)
        return {spell(table.groups[i]) for i in np.flatnonzero(unknown).tolist() if table.groups[i] in small}

    @property
    def signed(self) -> bool:
        """Is the value that of one group against its baseline, on either side of it, and not a size?"""
        return self.table.base is not None and not self.plan.fold

    @property
    def size(self) -> float:
        """How large the gap between extremes is, or that of the group farthest from its baseline."""
        if math.isnan(self.question.estimate):
            return -math.inf
        return _sizes(Estimate(self.question.estimate), self.request.judged_on, one_sided=self.one_sided)[1]

    @property
    def hides(self) -> bool:
        """Can nothing be computed because a whole side of the decision has no label in a group that is large enough?"""
        if self.value.defined:
            return False
        sides = [SIDES.index(side) for side in dict.fromkeys(s for row in self.table.measures for s in row.labels_of)]
        large = self.table.cube.n.sum(axis=(1, 2)) >= self.request.policy.min_group_size
        return bool((GroupData.of(self.table.cube).silent[:, sides].any(axis=1) & large).any())

    @cached_property
    def weight(self) -> tuple[bool, int, bool, float]:
        """The finding speaks of the stratum with the largest weight: by verdict, then by the end that decides.

        One in which nothing can be computed weighs least, unless that hides something: then it leaves a pass open.
        """
        value, decided = self.value, self.verdict
        size = -math.inf
        if value.defined:
            near, far = _sizes(value, self.request.judged_on, one_sided=self.one_sided)
            size = near if decided == "fail" else far
        return value.defined or self.hides, -ORDER.index(decided), value.defined, size

    def yardstick(self, i: int) -> int | None:
        """The group with the highest, or lowest, value of a measure, among those that others may be measured by."""
        able = self.judged.everyone[i] if self.judged.yardsticks is None else self.judged.yardsticks[i]
        values = np.where(able & self.judged.everyone[i], self.table.values[i], np.nan)
        if np.isnan(values).all():
            return None
        best = np.nanmin(values) if self.plan.against == "lowest" else np.nanmax(values)
        return int(np.argmax(np.where(values == best, 1 + self.table.sizes, 0)))


def _within(ends: tuple[float, float]) -> str:
    return f" from {ends[0]:g} to {ends[1]:g}"


def _reference_in(table: Table, plan: Plan, judged: Bools) -> Bools:
    """In which measures the reference is judged, [measures, 1]; in all where there is none."""
    place = next((i for i, group in enumerate(table.groups) if group == plan.reference), None)
    return np.ones((len(judged), 1), dtype=bool) if place is None else judged[:, [place]]


def _sizes(value: Estimate, judged_on: JudgedOn, *, one_sided: bool) -> tuple[float, float]:
    """How far from no gap the interval starts, and how far it reaches; the estimate alone where there is none."""
    low, high = (value.value if end is None else end for end in (value.low, value.high))
    if judged_on == "ratio":
        low, high = (math.inf if end == math.inf else math.log(end) if end > 0 else -math.inf for end in (low, high))
        high = min(high, 0.0) if one_sided else high
    return max(low, -high), max(high, -low)
