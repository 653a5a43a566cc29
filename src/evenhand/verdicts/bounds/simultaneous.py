"""Bounds: the intervals of a table of groups, and what a verdict asks of them.

A fail may rest on any group, because the near ends hold for all groups at once. A pass rests only on groups that are
large enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.inference import simultaneous
from evenhand.inference.spread import Spread
from evenhand.verdicts import comparison
from evenhand.verdicts.comparison import Gap, Plan
from evenhand.verdicts.policy import Request
from evenhand.verdicts.table import Table
from evenhand.verdicts.verdict import TOLERANCE

Interval = tuple[float, float]

_NONE: Interval = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Bounds:
    """Ends of all that a finding shows. `by_group` is (difference low, high, ratio low, high), [measures, groups].

    `outside`: the gap is beyond the threshold, whatever the truth within the intervals. `inside`: it is within.
    """

    own: list[tuple[Floats, Floats]]
    difference: Interval = _NONE
    ratio: Interval = _NONE
    by_measure: tuple[tuple[Interval, Interval], ...] = ()
    by_group: tuple[Floats, Floats, Floats, Floats] | None = None
    outside: bool = False
    inside: bool = False
    undefined_draws: float = 0.0
    near_pair: tuple[int, int, int] | None = None
    """(measure, group, group) with the strongest evidence of a gap; −1 for a baseline."""


@dataclass(frozen=True)
class Judged:
    """The groups that take part, [measures, groups]: all that have a name, and those large enough for a pass."""

    everyone: Bools
    large: Bools

    def in_measure(self, i: int) -> Bools:
        """Who takes part in one measure, [1, groups]; in one that is shown and not judged, all who do anywhere."""
        own = self.everyone[i : i + 1]
        return own if own.any() else np.asarray(self.everyone.any(axis=0, keepdims=True))

    def enough(self, binned: bool) -> bool:
        """Are there two large groups to compare in every measure? Of calibration bins, in any."""
        two = self.large[self.everyone.any(axis=1)].sum(axis=1) >= 2
        return bool(two.any() if binned else two.all())


def own_limits(table: Table, confidence: float) -> list[tuple[Floats, Floats]]:
    """Limits of each group's own value; NaN where a measure has none."""
    none = np.full(len(table.groups), np.nan)
    return [(none, none) if part is None else simultaneous.own(part, confidence) for part in table.spreads]


def find(asked: Request, plan: Plan, table: Table, gap: Gap, judged: Judged) -> Bounds:
    """The default: simultaneous over all groups compared, with no draws."""
    confidence = asked.confidence
    own = own_limits(table, confidence)
    spreads = [part for part in table.spreads if part is not None]
    if len(spreads) < len(table.spreads) or np.isnan(gap.difference):
        return Bounds(own)
    if plan.against == "highest":
        return replace(_between(asked, spreads, judged, own), by_group=_below_highest(asked, spreads, judged))
    if table.base is None:
        return _between(asked, spreads, judged, own)
    return _against(asked, plan, table, gap, judged, own)


def _between(asked: Request, spreads: list[Spread], judged: Judged, own: list[tuple[Floats, Floats]]) -> Bounds:
    confidence = asked.confidence
    ends = simultaneous.between_extremes(spreads, judged.everyone, confidence, asked.aggregate)
    for_pass = ends
    if (judged.large != judged.everyone).any():
        for_pass = simultaneous.between_extremes(spreads, judged.large, confidence, asked.aggregate)
    enough = judged.enough(asked.metric.binned)
    parts = [
        simultaneous.between_extremes([part], judged.in_measure(i), confidence ** (1 / len(spreads)))
        for i, part in enumerate(spreads if len(spreads) > 1 and not asked.metric.binned else [])
    ]
    if asked.judged_on == "ratio":
        outside, inside = ratio_beyond(*ends.ratio, asked, False), ratio_within(*for_pass.ratio, asked, False)
    else:
        outside, inside = beyond(*ends.difference, asked), within(*for_pass.difference, asked)
    return Bounds(
        own,
        ends.difference,
        ends.ratio,
        tuple((part.difference, part.ratio) for part in parts),
        outside=bool(outside),
        inside=bool(inside) and enough,
        near_pair=ends.pair,
    )


def _below_highest(asked: Request, spreads: list[Spread], judged: Judged) -> tuple[Floats, Floats, Floats, Floats]:
    """Ends of every group against the highest in each measure."""
    share = asked.confidence ** (1 / len(spreads))
    rows = [simultaneous.below_highest(part, judged.everyone[i], share) for i, part in enumerate(spreads)]
    low, high, least, most = (np.stack(ends) for ends in zip(*rows, strict=True))
    return low, high, least, most


def _against(
    asked: Request, plan: Plan, table: Table, gap: Gap, judged: Judged, own: list[tuple[Floats, Floats]]
) -> Bounds:
    spreads = [part for part in table.spreads if part is not None]
    bases = [part for part in table.base_spreads if part is not None]
    place = next((i for i, group in enumerate(table.groups) if group == plan.reference), None)
    compared = judged.everyone.copy()
    if place is not None:
        compared[:, place] = False
    ends = simultaneous.against(spreads, bases, compared, asked.confidence, shares=table.shares)
    large = judged.large & compared
    by_group = (*ends.difference_near, *ends.ratio_near)
    return settle(asked, plan, gap, own, by_group, (*ends.difference_far, *ends.ratio_far), compared, large)


def settle(
    asked: Request,
    plan: Plan,
    gap: Gap,
    own: list[tuple[Floats, Floats]],
    near: tuple[Floats, Floats, Floats, Floats],
    far: tuple[Floats, Floats, Floats, Floats],
    compared: Bools,
    large: Bools,
) -> Bounds:
    """Bounds against a baseline from the ends of each group: near ones for a fail, far ones for a pass."""
    difference = pick((near[0], near[1]), gap.difference_at, asked.aggregate)
    ratio = pick((near[2], near[3]), gap.ratio_at, asked.aggregate)
    if asked.aggregate == "mean_abs" or plan.fold:
        difference, ratio = fold_difference(difference), fold_ratio(ratio)
    near_ends = _aggregated(near, asked.aggregate)
    far_ends = _aggregated(far, asked.aggregate)
    two_sided = not asked.one_sided or plan.fold
    if asked.judged_on == "ratio":
        outside = ratio_beyond(near_ends[2], near_ends[3], asked, two_sided)
        inside = ratio_within(far_ends[2], far_ends[3], asked, two_sided)
    else:
        outside, inside = beyond(near_ends[0], near_ends[1], asked), within(far_ends[0], far_ends[1], asked)
    if asked.aggregate != "worst":
        compared, large = (np.asarray(part.all(axis=0, keepdims=True)) for part in (compared, large))
    distance = np.where(outside & compared, _clearance(near_ends, asked), -np.inf)
    strongest = np.unravel_index(int(np.argmax(distance)), distance.shape)
    return Bounds(
        own,
        difference,
        ratio,
        by_group=near,
        near_pair=(int(strongest[0]), int(strongest[1]), -1) if np.isfinite(distance.max()) else None,
        outside=bool((outside & compared).any()),
        inside=bool(large.any() and inside[large].all()),
    )


def _clearance(ends: list[Floats], asked: Request) -> Floats:
    """How far the near end of each comparison is from no gap at all."""
    if asked.judged_on == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.maximum(-np.log(ends[3]), np.log(ends[2]))
    return np.maximum(ends[0], -ends[1])


def _aggregated(ends: tuple[Floats, ...], aggregate: str) -> list[Floats]:
    if aggregate == "worst":
        return list(ends)
    if aggregate == "mean":
        return [part.mean(axis=0, keepdims=True) for part in ends]
    low, high = _sizes(ends[0], ends[1])
    least, most = _folds(ends[2], ends[3])
    return [part.mean(axis=0, keepdims=True) for part in (low, high, least, most)]


def pick(ends: tuple[Floats, Floats], place: tuple[int, int] | None, aggregate: str) -> Interval:
    """The ends of the comparison that speaks for the finding."""
    if place is None:
        return _NONE
    if aggregate == "worst":
        return float(ends[0][place]), float(ends[1][place])
    return float(ends[0][:, place[1]].mean()), float(ends[1][:, place[1]].mean())


def fold_difference(ends: Interval) -> Interval:
    low, high = _sizes(np.array(ends[0]), np.array(ends[1]))
    return float(low), float(high)


def fold_ratio(ends: Interval) -> Interval:
    low, high = _folds(np.array(ends[0]), np.array(ends[1]))
    return float(low), float(high)


def _sizes(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """An interval of d as one of |d|."""
    return np.maximum(0, np.maximum(low, -high)), np.maximum(np.abs(low), np.abs(high))


def _folds(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """An interval of r as one of min(r, 1/r)."""
    ends = comparison.folded(low), comparison.folded(high)
    across = (low <= 1) & (high >= 1)
    return np.minimum(*ends), np.where(across, 1.0, np.maximum(*ends))


def beyond(low: Floats | float, high: Floats | float, asked: Request) -> Bools:
    """Is a difference surely larger than the threshold?"""
    limit = (asked.threshold or 0.0) + TOLERANCE
    return (np.asarray(low) > limit) | (np.asarray(high) < -limit)


def within(low: Floats | float, high: Floats | float, asked: Request) -> Bools:
    """Is a difference surely no larger than the threshold?"""
    limit = (asked.threshold or 0.0) + TOLERANCE
    return (np.asarray(low) >= -limit) & (np.asarray(high) <= limit)


def ratio_beyond(low: Floats | float, high: Floats | float, asked: Request, two_sided: bool) -> Bools:
    limit = (asked.threshold or 0.0) - TOLERANCE
    outside = np.asarray(np.asarray(high) < limit)
    if two_sided and limit > 0:
        outside = np.asarray(outside | (np.asarray(low) > 1 / limit))
    return np.asarray(outside)


def ratio_within(low: Floats | float, high: Floats | float, asked: Request, two_sided: bool) -> Bools:
    limit = (asked.threshold or 0.0) - TOLERANCE
    inside = np.asarray(low) >= limit
    if two_sided and limit > 0:
        inside = inside & (np.asarray(high) <= 1 / limit)
    return np.asarray(inside)
