"""The default bounds: intervals that hold for all groups at once, from the spreads of the measures."""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.inference import simultaneous
from evenhand.inference.spread import Spread
from evenhand.verdicts.bounds.bounds import Bounds, Ends, JudgedGroups, Question
from evenhand.verdicts.bounds.extremes import Reach, bounds_between
from evenhand.verdicts.comparison import EXTREMES
from evenhand.verdicts.request import Request
from evenhand.verdicts.table import Table


def own_limits(table: Table, confidence: float) -> list[tuple[Floats, Floats]]:
    """Limits of each group's own value; NaN where a measure has none."""
    none = np.full(len(table.groups), np.nan)
    return [(none, none) if part is None else simultaneous.own(part, confidence) for part in table.spreads]


def simultaneous_bounds(question: Question) -> Bounds:
    """The default bounds: they hold for all groups at once and need no draws."""
    request, plan, table, judged = question.request, question.plan, question.table, question.judged
    own = own_limits(table, request.confidence)
    spreads = [part for part in table.spreads if part is not None]
    if len(spreads) < len(table.spreads) or np.isnan(question.estimate):
        return question.without_interval(own)
    if table.base is not None:
        return _against(question, own)
    bounds = _between(question, spreads, own)
    if plan.against in EXTREMES:
        return bounds._replace(by_group=_against_extreme(request, spreads, judged, lowest=plan.against == "lowest"))
    return bounds


def _between(question: Question, spreads: list[Spread], own: list[tuple[Floats, Floats]]) -> Bounds:
    request, judged, confidence = question.request, question.judged, question.request.confidence
    near = request.near_confidence

    def reach(usable: Bools) -> Reach:
        ends = simultaneous.between_extremes(
            spreads, usable, confidence, request.aggregate, near=near, yardsticks=judged.yardsticks
        )
        return Reach(ends.difference, ends.ratio, ends.pairs)

    everyone = reach(judged.everyone)
    large = everyone
    if (judged.large != judged.everyone).any():
        large = reach(judged.large)
    share = 1 / len(spreads)
    parts = [
        simultaneous.between_extremes(
            [part], judged.in_measure(i), confidence**share, near=near**share, yardsticks=judged.able_in_measure(i)
        )
        for i, part in enumerate(spreads if len(spreads) > 1 and not request.metric.binned else [])
    ]
    by_measure = tuple((part.difference, part.ratio) for part in parts)
    return bounds_between(question, own, everyone, large if judged.enough(request.metric.binned) else None, by_measure)


def _against_extreme(request: Request, spreads: list[Spread], judged: JudgedGroups, *, lowest: bool) -> Ends:
    """Ends of every group against the highest, or the lowest, in each measure."""
    share = request.near_confidence ** (1 / len(spreads))
    able = judged.everyone if judged.yardsticks is None else judged.yardsticks
    rows = [
        simultaneous.against_extreme(part, judged.everyone[i], share, able[i], lowest=lowest)
        for i, part in enumerate(spreads)
    ]
    low, high, least, most = (np.stack(ends) for ends in zip(*rows, strict=True))
    return low, high, least, most


def _against(question: Question, own: list[tuple[Floats, Floats]]) -> Bounds:
    from evenhand.verdicts.bounds.baseline import bounds_against_baseline

    table = question.table
    spreads = [part for part in table.spreads if part is not None]
    bases = [part for part in table.base_spreads if part is not None]
    place = next((i for i, group in enumerate(table.groups) if group == question.plan.reference), None)
    compared = question.judged.everyone.copy()
    if place is not None:
        compared[:, place] = False
    request = question.request
    ends = simultaneous.against(
        spreads,
        bases,
        compared,
        request.confidence,
        shares=table.shares,
        near=request.near_confidence,
        common=table.common,
    )
    near, far = (*ends.difference_near, *ends.ratio_near), (*ends.difference_far, *ends.ratio_far)
    return bounds_against_baseline(question, own, near, far, compared)
