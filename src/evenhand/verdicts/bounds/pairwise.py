"""Bounds by the classical intervals of two proportions: Wilson, Clopper-Pearson, Newcombe, Agresti-Caffo, Katz.

Each holds for one pair of groups that was chosen beforehand. Between extremes the pair is chosen by the data, so they
are too narrow there; the finding says so.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.inference import critical
from evenhand.inference.intervals import METHODS, Classical
from evenhand.inference.spread import Proportions
from evenhand.verdicts.bounds.baseline import bounds_against_baseline
from evenhand.verdicts.bounds.bounds import Bounds, Ends, Interval, Question
from evenhand.verdicts.bounds.extremes import Reach, bounds_between
from evenhand.verdicts.comparison import gap


def pairwise_bounds(question: Question) -> Bounds | None:
    """The bounds by the family of classical intervals that the policy names.

    None where it names no family, where a measure is not a plain proportion, and for groups that are compared with
    everyone, who include the group itself.
    """
    request, table, judged = question.request, question.table, question.judged
    method = METHODS.get(request.policy.interval)
    plain = all(isinstance(part, Proportions) and part.form.plain for part in table.spreads)
    if not isinstance(method, Classical) or not plain or question.plan.against == "overall":
        return None
    confidence = request.confidence
    levels = request.near_confidence, critical.left(confidence, request.family)
    parts = [part for part in table.spreads if isinstance(part, Proportions)]
    limits = [_own(method, part, confidence) for part in parts]
    if table.base is None:
        return _between(question, limits, method, levels)
    bases = [part for part in table.base_spreads if isinstance(part, Proportions)]
    if len(bases) < len(parts):  # the reference is not among these groups
        return question.without_interval(limits)
    compared = judged.everyone & ~np.isnan(table.base)

    def ends(level: float) -> Ends:
        sides = [
            (*method.difference(a.k, a.n, b.k, b.n, level), *method.ratio(a.k, a.n, b.k, b.n, level))
            for a, b in zip(parts, bases, strict=True)
        ]
        low, high, least, most = (np.where(compared, np.stack([side[i] for side in sides]), np.nan) for i in range(4))
        return low, high, least, most

    return bounds_against_baseline(question, limits, ends(levels[0]), ends(levels[1]), compared)


def _own(method: Classical, part: Proportions, confidence: float) -> tuple[Floats, Floats]:
    """The interval of each group's own rate. It contains the rate, which the middle of a posterior may leave out."""
    low, high = method.proportion(part.k, part.n, confidence)
    return np.fmin(low, part.values), np.fmax(high, part.values)


def _between(
    question: Question, limits: list[tuple[Floats, Floats]], method: Classical, levels: tuple[float, float]
) -> Bounds:
    request, table = question.request, question.table

    def ends(usable: Bools) -> list[tuple[Interval, Interval]]:
        intervals = []
        for i, part in enumerate(table.spreads):
            able = question.judged.able_in_measure(i)
            one = gap(table.values[i : i + 1], None, usable[i : i + 1], yardsticks=able, sizes=table.sizes)
            if one.high is None or one.low is None or not isinstance(part, Proportions):
                continue
            top, low = (part.k[one.high], part.n[one.high]), (part.k[one.low], part.n[one.low])
            near, far = ((method.difference(*top, *low, at), method.ratio(*low, *top, at)) for at in levels)
            intervals.append(((float(near[0][0]), float(far[0][1])), (float(far[1][0]), float(near[1][1]))))
        return intervals

    everyone, large = ends(question.judged.everyone), ends(question.judged.large)
    if not everyone:
        return question.without_interval(limits)
    for_pass = Reach(*_combined(large, request.aggregate)) if large and len(large) == len(everyone) else None
    by_measure = tuple(everyone) if len(everyone) > 1 and question.gap.measure is not None else ()
    return bounds_between(question, limits, Reach(*_combined(everyone, request.aggregate)), for_pass, by_measure)


def _combined(parts: list[tuple[Interval, Interval]], aggregate: str) -> tuple[Interval, Interval]:
    table = np.array(parts)
    if aggregate == "worst":
        difference, ratio = table[:, 0].max(axis=0), table[:, 1].min(axis=0)
    else:
        difference, ratio = table[:, 0].mean(axis=0), table[:, 1].mean(axis=0)
    return (float(difference[0]), float(difference[1])), (float(ratio[0]), float(ratio[1]))
