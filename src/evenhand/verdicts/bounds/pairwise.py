"""Bounds by the classical intervals of two proportions: Wilson, Clopper-Pearson, Newcombe, Agresti-Caffo, Katz.

Each holds for one pair of groups that was chosen beforehand. Between extremes the pair is chosen by the data, so they
are too narrow there; the finding says so.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.inference.intervals import METHODS, Classical
from evenhand.inference.spread import Proportions
from evenhand.verdicts.bounds.bounds import Bounds, Interval, JudgedGroups, bounds_against_baseline
from evenhand.verdicts.comparison import Gap, Plan, gap
from evenhand.verdicts.request import Request
from evenhand.verdicts.table import Table
from evenhand.verdicts.verdict import beyond, ratio_beyond, ratio_within, within


def pairwise_bounds(request: Request, plan: Plan, table: Table, largest: Gap, judged: JudgedGroups) -> Bounds | None:
    """The bounds by the family of classical intervals that the policy names.

    None where it names no family, where a measure is not a plain proportion, and for groups that are compared with
    everyone, who include the group itself.
    """
    method = METHODS.get(request.policy.interval)
    plain = all(isinstance(part, Proportions) and part.form.plain for part in table.spreads)
    if not isinstance(method, Classical) or not plain or plan.against == "overall":
        return None
    confidence = request.confidence
    parts = [part for part in table.spreads if isinstance(part, Proportions)]
    limits = [method.proportion(part.k, part.n, confidence) for part in parts]
    if table.base is None:
        return _between(request, table, largest, judged, limits, method)
    bases = [part for part in table.base_spreads if isinstance(part, Proportions)]
    sides = [
        (*method.difference(a.k, a.n, b.k, b.n, confidence), *method.ratio(a.k, a.n, b.k, b.n, confidence))
        for a, b in zip(parts, bases, strict=True)
    ]
    compared = judged.everyone & ~np.isnan(table.base)
    near = tuple(np.where(compared, np.stack([side[i] for side in sides]), np.nan) for i in range(4))
    large = judged.large & compared
    return bounds_against_baseline(request, plan, largest, limits, near, near, compared, large)  # type: ignore[arg-type]


def _between(
    request: Request,
    table: Table,
    largest: Gap,
    judged: JudgedGroups,
    limits: list[tuple[Floats, Floats]],
    method: Classical,
) -> Bounds:
    def ends(usable: Bools) -> list[tuple[Interval, Interval]]:
        intervals = []
        for i, part in enumerate(table.spreads):
            one = gap(table.values[i : i + 1], None, usable[i : i + 1])
            if one.high is None or one.low is None or not isinstance(part, Proportions):
                continue
            top, low = (part.k[one.high], part.n[one.high]), (part.k[one.low], part.n[one.low])
            sides = method.difference(*top, *low, request.confidence), method.ratio(*low, *top, request.confidence)
            intervals.append(((float(sides[0][0]), float(sides[0][1])), (float(sides[1][0]), float(sides[1][1]))))
        return intervals

    everyone, large = ends(judged.everyone), ends(judged.large)
    if not everyone:
        return Bounds(limits)
    difference, ratio = _combined(everyone, request.aggregate)
    outside = beyond(*difference, request.threshold)
    inside: Bools | bool = False
    if large and len(large) == len(everyone):
        for_pass = _combined(large, request.aggregate)
        inside = within(*for_pass[0], request.threshold)
        if request.judged_on == "ratio":
            inside = ratio_within(*for_pass[1], request.threshold, False)
    if request.judged_on == "ratio":
        outside = ratio_beyond(*ratio, request.threshold, False)
    by_measure = tuple(everyone) if len(everyone) > 1 and largest.measure is not None else ()
    return Bounds(limits, difference, ratio, by_measure, None, bool(outside), bool(inside))


def _combined(parts: list[tuple[Interval, Interval]], aggregate: str) -> tuple[Interval, Interval]:
    table = np.array(parts)
    if aggregate == "worst":
        difference, ratio = table[:, 0].max(axis=0), table[:, 1].min(axis=0)
    else:
        difference, ratio = table[:, 0].mean(axis=0), table[:, 1].mean(axis=0)
    return (float(difference[0]), float(difference[1])), (float(ratio[0]), float(ratio[1]))
