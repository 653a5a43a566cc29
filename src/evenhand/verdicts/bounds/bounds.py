"""Bounds: the intervals of one table of groups and what they say about the threshold; shared by all methods.

A fail may rest on any group, because the ends nearer to the threshold hold for all groups at once. A pass rests only
on groups that are large enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.verdicts import comparison
from evenhand.verdicts.comparison import Gap, Plan
from evenhand.verdicts.request import Request
from evenhand.verdicts.verdict import beyond, ratio_beyond, ratio_within, within

Interval = tuple[float, float]
Ends = tuple[Floats, Floats, Floats, Floats]
"""Difference low, difference high, ratio low, ratio high; each [measures, groups]."""

_NONE: Interval = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Bounds:
    """The intervals of everything that a finding shows.

    `own` holds the limits of each group's value, by measure; `by_group` is (difference low, high, ratio low, high),
    each [measures, groups]. `outside`: the gap is beyond the threshold wherever in its interval the truth lies.
    `inside`: it is within the threshold wherever the truth lies.
    """

    own: list[tuple[Floats, Floats]]
    difference: Interval = _NONE
    ratio: Interval = _NONE
    by_measure: tuple[tuple[Interval, Interval], ...] = ()
    by_group: Ends | None = None
    outside: bool = False
    inside: bool = False
    near_pair: tuple[int, int, int] | None = None
    """(measure, group, group) with the strongest evidence of a gap; −1 for a baseline."""


@dataclass(frozen=True)
class JudgedGroups:
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


def bounds_against_baseline(
    request: Request,
    plan: Plan,
    gap: Gap,
    own: list[tuple[Floats, Floats]],
    near: Ends,
    far: Ends,
    compared: Bools,
    large: Bools,
) -> Bounds:
    """Bounds against a baseline from the ends of each group: near ones for a fail, far ones for a pass."""
    difference = pick((near[0], near[1]), gap.difference_at, request.aggregate)
    ratio = pick((near[2], near[3]), gap.ratio_at, request.aggregate)
    if request.aggregate == "mean_abs" or plan.fold:
        difference, ratio = fold_difference(difference), fold_ratio(ratio)
    near_ends = _aggregated(near, request.aggregate)
    far_ends = _aggregated(far, request.aggregate)
    two_sided = not request.one_sided or plan.fold
    if request.judged_on == "ratio":
        outside = ratio_beyond(near_ends[2], near_ends[3], request.threshold, two_sided)
        inside = ratio_within(far_ends[2], far_ends[3], request.threshold, two_sided)
    else:
        outside, inside = (
            beyond(near_ends[0], near_ends[1], request.threshold),
            within(far_ends[0], far_ends[1], request.threshold),
        )
    if request.aggregate != "worst":
        compared, large = (np.asarray(part.all(axis=0, keepdims=True)) for part in (compared, large))
    distance = np.where(outside & compared, _clearance(near_ends, request), -np.inf)
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


def _clearance(ends: list[Floats], request: Request) -> Floats:
    """How far the near end of each comparison is from no gap at all."""
    if request.judged_on == "ratio":
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
    """The ends of the comparison that the finding reports."""
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
