"""The default bounds: intervals that hold for all groups at once, from the spreads of the measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.inference import simultaneous
from evenhand.inference.spread import Spread
from evenhand.verdicts.bounds.bounds import Bounds, Ends, JudgedGroups, bounds_against_baseline
from evenhand.verdicts.comparison import Gap, Plan
from evenhand.verdicts.request import Request
from evenhand.verdicts.table import Table
from evenhand.verdicts.verdict import beyond, ratio_beyond, ratio_within, within


def own_limits(table: Table, confidence: float) -> list[tuple[Floats, Floats]]:
    """Limits of each group's own value; NaN where a measure has none."""
    none = np.full(len(table.groups), np.nan)
    return [(none, none) if part is None else simultaneous.own(part, confidence) for part in table.spreads]


def simultaneous_bounds(request: Request, plan: Plan, table: Table, gap: Gap, judged: JudgedGroups) -> Bounds:
    """The default bounds: they hold for all groups at once and need no draws."""
    confidence = request.confidence
    own = own_limits(table, confidence)
    spreads = [part for part in table.spreads if part is not None]
    if len(spreads) < len(table.spreads) or np.isnan(gap.difference):
        return Bounds(own)
    if plan.against == "highest":
        return replace(_between(request, spreads, judged, own), by_group=_below_highest(request, spreads, judged))
    if table.base is None:
        return _between(request, spreads, judged, own)
    return _against(request, plan, table, gap, judged, own)


def _between(request: Request, spreads: list[Spread], judged: JudgedGroups, own: list[tuple[Floats, Floats]]) -> Bounds:
    confidence = request.confidence
    ends = simultaneous.between_extremes(spreads, judged.everyone, confidence, request.aggregate)
    for_pass = ends
    if (judged.large != judged.everyone).any():
        for_pass = simultaneous.between_extremes(spreads, judged.large, confidence, request.aggregate)
    enough = judged.enough(request.metric.binned)
    parts = [
        simultaneous.between_extremes([part], judged.in_measure(i), confidence ** (1 / len(spreads)))
        for i, part in enumerate(spreads if len(spreads) > 1 and not request.metric.binned else [])
    ]
    if request.judged_on == "ratio":
        outside, inside = (
            ratio_beyond(*ends.ratio, request.threshold, False),
            ratio_within(*for_pass.ratio, request.threshold, False),
        )
    else:
        outside, inside = beyond(*ends.difference, request.threshold), within(*for_pass.difference, request.threshold)
    return Bounds(
        own,
        ends.difference,
        ends.ratio,
        tuple((part.difference, part.ratio) for part in parts),
        outside=bool(outside),
        inside=bool(inside) and enough,
        near_pair=ends.pair,
    )


def _below_highest(request: Request, spreads: list[Spread], judged: JudgedGroups) -> Ends:
    """Ends of every group against the highest in each measure."""
    share = request.confidence ** (1 / len(spreads))
    rows = [simultaneous.below_highest(part, judged.everyone[i], share) for i, part in enumerate(spreads)]
    low, high, least, most = (np.stack(ends) for ends in zip(*rows, strict=True))
    return low, high, least, most


def _against(
    request: Request, plan: Plan, table: Table, gap: Gap, judged: JudgedGroups, own: list[tuple[Floats, Floats]]
) -> Bounds:
    spreads = [part for part in table.spreads if part is not None]
    bases = [part for part in table.base_spreads if part is not None]
    place = next((i for i, group in enumerate(table.groups) if group == plan.reference), None)
    compared = judged.everyone.copy()
    if place is not None:
        compared[:, place] = False
    ends = simultaneous.against(spreads, bases, compared, request.confidence, shares=table.shares)
    large = judged.large & compared
    near, far = (*ends.difference_near, *ends.ratio_near), (*ends.difference_far, *ends.ratio_far)
    return bounds_against_baseline(request, plan, gap, own, near, far, compared, large)
