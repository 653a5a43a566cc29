"""Bounds: the intervals of one table of groups, the value that is judged, and the pair of groups it rests on.

A fail may rest on any group, because near ends hold for all groups at once. A pass rests on far ends, and only on
groups that are large enough. An interval shows all groups, unless the finding passes and leaves small ones out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.core.results import UNDEFINED, Estimate, JudgedOn
from evenhand.inference.spread import Relative
from evenhand.verdicts import comparison
from evenhand.verdicts.comparison import Gap, Plan
from evenhand.verdicts.request import Request
from evenhand.verdicts.table import Table
from evenhand.verdicts.verdict import TOLERANCE

Interval = tuple[float, float]
Ends = tuple[Floats, Floats, Floats, Floats]
"""Difference low, difference high, ratio low, ratio high; each [measures, groups]."""

NO_INTERVAL: Interval = (math.nan, math.nan)
BothEnds = tuple[Floats, Floats] | tuple[float, float]


class Evidence(NamedTuple):
    """The two groups that a verdict rests on, as indices, with their difference and their ratio.

    `measure` is None where measures were averaged, `other` where the other side is a baseline. Between extremes the
    ratio is other / group, as lowest / highest is; against a baseline it is group / baseline.
    """

    measure: int | None
    group: int
    other: int | None
    difference: Estimate = UNDEFINED
    ratio: Estimate = UNDEFINED


class Bounds(NamedTuple):
    """The intervals of everything that a finding shows.

    `own` holds the limits of each group's value, by measure. `value` is the estimate that is judged: its ends decide.
    `difference` and `ratio` are intervals of the gap between extremes, or of the group farthest from its baseline.
    """

    own: list[tuple[Floats, Floats]]
    value: Estimate = UNDEFINED
    evidence: Evidence | None = None
    difference: Interval = NO_INTERVAL
    ratio: Interval = NO_INTERVAL
    by_measure: tuple[tuple[Interval, Interval], ...] = ()
    by_group: Ends | None = None
    note: str = ""
    """Why the intervals are made by another method than the policy names."""
    without_labels: Estimate | None = None
    """Where the ends allow for whatever the missing labels are: the value with the ends of those that are there."""


class JudgedGroups(NamedTuple):
    """The groups that take part, [measures, groups]: all that have a name, and those large enough for a pass."""

    everyone: Bools
    large: Bools
    yardsticks: Bools | None = None
    """Who may be the highest group that others are measured by; None is everyone."""

    def in_measure(self, i: int) -> Bools:
        """Who takes part in one measure, [1, groups]; in one that is shown and not judged, all who do anywhere."""
        own = self.everyone[i : i + 1]
        return own if own.any() else np.asarray(self.everyone.any(axis=0, keepdims=True))

    def able_in_measure(self, i: int) -> Bools | None:
        """Who may be the highest in one measure, [1, groups]."""
        return None if self.yardsticks is None else self.yardsticks[i : i + 1]

    def enough(self, binned: bool) -> bool:
        """Are there two large groups to compare in every measure? Of calibration bins, in any."""
        two = self.large[self.everyone.any(axis=1)].sum(axis=1) >= 2
        return bool(two.any() if binned else two.all())


class Question(NamedTuple):
    """What bounds are asked for: the table of groups, how it is compared and judged, and its gap."""

    request: Request
    plan: Plan
    table: Table
    gap: Gap
    judged: JudgedGroups

    @property
    def judged_on(self) -> JudgedOn:
        return self.request.judged_on

    @property
    def two_sided(self) -> bool:
        """Does a ratio above 1 count as its inverse?"""
        return self.table.base is not None and (not self.request.one_sided or self.plan.fold)

    @property
    def estimate(self) -> float:
        """The gap itself, of the kind that is judged."""
        return self.gap.ratio if self.judged_on == "ratio" else self.gap.difference

    @property
    def farthest(self) -> float:
        """The largest gap that is possible, where the data cannot bound it."""
        if self.judged_on == "ratio":
            return 0.0
        if all(row.unit == "rate" for row in self.table.measures):
            return 1.0
        spans = [part.span if isinstance(part, Relative) else math.inf for part in self.table.spreads]
        return max(spans, default=math.inf)

    @property
    def gap_of_large(self) -> Gap:
        """The gap over the groups that are large enough for a pass; that over all where there are not two of these."""
        request, table = self.request, self.table
        large = comparison.gap(
            table.values,
            table.base,
            self.judged.large,
            aggregate=request.aggregate,
            judged_on=request.judged_on,
            one_sided=request.one_sided and not self.plan.fold,
            fold=self.plan.fold,
            signed=table.signed,
            yardsticks=self.judged.yardsticks,
            sizes=table.sizes,
        )
        return self.gap if large.high is None else large

    def without_interval(self, own: list[tuple[Floats, Floats]]) -> Bounds:
        """The bounds where there is no interval: the estimate alone, of the extremes or of the farthest group."""
        gap = self.gap
        evidence = None
        if gap.high is not None:
            evidence = Evidence(gap.measure, gap.high, gap.low, Estimate(gap.difference), Estimate(gap.ratio))
        return Bounds(own, Estimate(self.estimate), evidence)


def deciding_ends(near: BothEnds, far: BothEnds, values: Floats | float, middle: float) -> tuple[Floats, Floats]:
    """The ends that decide: towards no gap the near one, away from it the far one; they contain the value.

    An end is `middle`, no gap at all, where the near end lies on one side of it and the far end on the other.
    """
    near_low, near_high, far_low, far_high = (np.asarray(end) for end in (*near, *far))
    low = np.where(near_low > middle, near_low, np.minimum(far_low, middle))
    high = np.where(near_high < middle, near_high, np.maximum(far_high, middle))
    unknown = np.isnan(near_low) | np.isnan(near_high)
    low, high = np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
    return np.asarray(np.minimum(low, values)), np.asarray(np.maximum(high, values))


def fold_differences(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Intervals of d as intervals of |d|."""
    return np.maximum(0, np.maximum(low, -high)), np.maximum(np.abs(low), np.abs(high))


def fold_ratios(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Intervals of r as intervals of min(r, 1/r)."""
    ends = comparison.folded(low), comparison.folded(high)
    across = (low <= 1) & (high >= 1)
    return np.minimum(*ends), np.where(across, 1.0, np.maximum(*ends))


def sureness(seen: Floats, near: Floats, judged_on: JudgedOn) -> Floats:
    """How sure gaps are: each gap over the margin down to its near end, of ratios on logarithms.

    So it does not depend on how large a gap is, only on how many of its margins lie between it and no gap at all. A
    ratio of 0 has a margin as well: from where a rate of 0 is expected to lie up to its limit.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        gap, end = (np.abs(np.log(each)) if judged_on == "ratio" else np.abs(each) for each in (seen, near))
        return np.where(np.isinf(gap), 1.0 + end / _MARGIN_OF_NONE, gap / (gap - end))


_MARGIN_OF_NONE = 2.8
"""Of a rate of 0 of n, on logarithms: from Jeffreys' median, .23/n, to the upper limit at 97.5 %, 3.7/n."""


def largest_at(values: Floats, where: Bools) -> tuple[int, ...] | None:
    """The index of the largest value among those that are wanted; None where nothing is."""
    if not where.any():
        return None
    return first_of_largest(np.where(where, np.maximum(values, _LOWEST), -np.inf))


_LOWEST = float(np.finfo(np.float64).min)


def largest_and_surest(extents: Floats, strengths: Floats, where: Bools) -> tuple[int, ...] | None:
    """The index of the largest extent among those that are wanted; of equals the one with the most strength."""
    first = largest_at(extents, where)
    if first is None:
        return None
    equal = where & (np.maximum(extents, _LOWEST) >= _but_for_rounding(max(float(extents[first]), _LOWEST)))
    return largest_at(np.where(np.isnan(strengths), -np.inf, strengths), equal)


def first_of_largest(values: Floats) -> tuple[int, ...]:
    """The index of the first value that is the largest but for rounding: which of equals is named is not left to it."""
    top = float(np.nanmax(values))
    place = int(np.flatnonzero(values.reshape(-1) >= _but_for_rounding(top))[0])
    return tuple(int(i) for i in np.unravel_index(place, values.shape))


def _but_for_rounding(top: float) -> float:
    """The least value that counts as equal to this one."""
    least = top - tie(top)
    return least if math.isfinite(least) else top


def tie(value: float) -> float:
    """By how much a value may differ from this one and count as equal."""
    return TOLERANCE * max(1.0, abs(value))
