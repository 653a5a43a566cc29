"""Bounds of the gap between extremes, whatever method made the ends: what a pass may rest on, and the deciding pair."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.results import Estimate
from evenhand.inference.pairs import Pairs
from evenhand.verdicts import comparison
from evenhand.verdicts.bounds.bounds import Bounds, Evidence, Interval, Question, largest_and_surest, sureness, tie
from evenhand.verdicts.verdict import beyond, verdict


class Reach(NamedTuple):
    """Ends of highest − lowest and of lowest / highest over some groups; `pairs` has those of all pairs, if known."""

    difference: Interval
    ratio: Interval
    pairs: tuple[Pairs | None, ...] = ()


def bounds_between(
    question: Question,
    own: list[tuple[Floats, Floats]],
    everyone: Reach,
    large: Reach | None,
    by_measure: tuple[tuple[Interval, Interval], ...] = (),
) -> Bounds:
    """The bounds from the reach over all groups and over the large ones; None where there are not two of these."""
    gap, threshold, judged_on = question.gap, question.request.threshold, question.judged_on
    far: tuple[Reach, ...] = (everyone,) if large is None else (large,)
    difference, ratio, value = _ends(question, everyone, far)
    decided = verdict(value, threshold, judged_on)
    if large is not None and decided != "pass":
        far = (everyone, large)
        difference, ratio, value = _ends(question, everyone, far)
        decided = verdict(value, threshold, judged_on)
    if large is None and decided == "pass":
        # No two groups are large enough, so nothing bounds the gap on its far side.
        difference, ratio, value = _unbounded(question, difference, ratio)
        decided = verdict(value, threshold, judged_on)
    bounds = Bounds(own, value, None, difference, ratio, by_measure)
    pick = None if threshold is None or gap.measure is None else _strongest(question, everyone, far, decided == "fail")
    if pick is not None:
        evidence = _evidence(question, everyone, *pick)
        evidence = evidence if decided == "fail" else _with_far_end(question, evidence, value)
        judged = evidence.ratio if judged_on == "ratio" else evidence.difference
        if judged.defined and verdict(judged, threshold, judged_on) == decided:
            return bounds._replace(evidence=evidence)
    # The extremes themselves decide, such as a group without an interval that lies beyond the threshold. A pass rests
    # on those that are large enough.
    named = question.gap_of_large if decided == "pass" else gap
    ends = Estimate.of(named.difference, *difference), Estimate.of(named.ratio, *ratio)
    return bounds._replace(
        evidence=None if gap.high is None else Evidence(gap.measure, named.high or 0, named.low, *ends)
    )


def _ends(question: Question, near: Reach, far: tuple[Reach, ...]) -> tuple[Interval, Interval, Estimate]:
    """Both intervals, which contain their estimates, and the judged one with its estimate."""
    gap = question.gap
    # np.minimum and np.maximum keep NaN, which is an end that is not known.
    difference = (
        float(np.minimum(near.difference[0], gap.difference)),
        float(np.maximum.reduce([gap.difference, *(each.difference[1] for each in far)])),
    )
    ratio = (
        float(np.minimum.reduce([gap.ratio, *(each.ratio[0] for each in far)])),
        float(np.maximum(near.ratio[1], gap.ratio)),
    )
    pairs = None if gap.measure is None or not near.pairs else near.pairs[gap.measure]
    if pairs is not None and gap.difference < 0 and gap.high is not None and gap.low is not None:
        # The only group that others may be measured by lies below them all: the gap has an end on that side too.
        below, above = pairs.difference(gap.high, gap.low)[2], pairs.ratio(gap.low, gap.high)[3]
        difference = float(np.fmin(difference[0], below)), difference[1]
        ratio = ratio[0], float(np.fmax(ratio[1], above))
    if question.judged.yardsticks is not None and gap.difference < 0:
        difference, ratio = (difference[0], max(difference[1], 0.0)), (min(ratio[0], 1.0), ratio[1])
    ends = ratio if question.judged_on == "ratio" else difference
    return difference, ratio, Estimate.of(question.estimate, *ends)


def _unbounded(question: Question, difference: Interval, ratio: Interval) -> tuple[Interval, Interval, Estimate]:
    """The same with the farthest possible gap as the far end of what is judged."""
    if question.judged_on == "ratio":
        ratio = (question.farthest, ratio[1])
        return difference, ratio, Estimate.of(question.estimate, *ratio)
    difference = (difference[0], question.farthest)
    return difference, ratio, Estimate.of(question.estimate, *difference)


Pick = tuple[Reach, int, int, int]
"""Where the far ends are from, the measure, the higher group, the lower group."""


def _strongest(question: Question, near: Reach, far: tuple[Reach, ...], failed: bool) -> Pick | None:
    """On a fail the pair whose gap is surest, of those that alone fail; else the pair with the farthest far end."""
    on_ratio = question.judged_on == "ratio"
    best: tuple[float, Pick] | None = None
    for reach in (near,) if failed else far:
        for measure, pairs in enumerate(reach.pairs):
            if pairs is None:
                continue
            if question.judged.yardsticks is not None:
                pairs = pairs.among(question.judged.yardsticks[measure])  # noqa: PLW2901 - the same, fewer of them
            if failed:
                size = near_end = _sureness(question, measure, pairs)
            else:
                size = -pairs.ratio_far if on_ratio else pairs.difference_far
                near_end = -pairs.ratio_near if on_ratio else pairs.difference_near
            at = largest_and_surest(size, near_end, ~np.isnan(size))
            if at is None:
                continue
            row, column = at
            high, low = (column, row) if on_ratio else (row, column)
            if best is None or size[row, column] > best[0] + tie(best[0]):
                groups = int(pairs.groups[high]), int(pairs.groups[low])
                best = float(size[row, column]), (reach, measure, *groups)
    return None if best is None else best[1]


def _sureness(question: Question, measure: int, pairs: Pairs) -> Floats:
    """How sure the gap of each pair is whose near end alone lies beyond the threshold; NaN for the other pairs."""
    values, threshold = question.table.values[measure, pairs.groups], question.request.threshold or 0.0
    on_ratio = question.judged_on == "ratio"
    near = pairs.ratio_near if on_ratio else pairs.difference_near
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = values[:, None] / values if on_ratio else values[:, None] - values
    failing = beyond(near, near, threshold, "ratio" if on_ratio else "value")  # a gap below 0 is that of another pair
    return np.where(failing, sureness(seen, near, question.judged_on), np.nan)


def _evidence(question: Question, near: Reach, far: Reach, measure: int, high: int, low: int) -> Evidence:
    """A pair of groups with the ends of its difference and of its ratio."""
    pairs, ends = near.pairs[measure], far.pairs[measure]
    assert pairs is not None and ends is not None  # noqa: S101, PT018 - the pair was found in them
    top, bottom = question.table.values[measure, high], question.table.values[measure, low]
    difference = float(top - bottom)
    signed = question.table.signed is not None and question.table.signed[measure]
    ratio = float(comparison.ratio(bottom, top, signed))
    # A gap between extremes has no sign: no gap at all is the near end where the near end lies beyond it. Only a pair
    # whose estimate has the other sign has an end on the other side.
    near_low, _, far_low, far_high = (*pairs.difference(high, low)[:2], *ends.difference(high, low)[2:])
    _, near_most, far_least, far_most = (*pairs.ratio(low, high)[:2], *ends.ratio(low, high)[2:])
    near_low = max(near_low, 0.0) if difference >= 0 else far_low
    near_most = min(near_most, 1.0) if difference >= 0 else far_most
    return Evidence(
        measure,
        high,
        low,
        Estimate.of(difference, min(near_low, difference), max(far_high, difference)),
        Estimate.of(ratio, min(far_least, ratio), max(near_most, ratio)),
    )


def _with_far_end(question: Question, evidence: Evidence, value: Estimate) -> Evidence:
    """The evidence; where nothing bounds the judged value on its far side, nothing bounds the pair's either."""
    if question.judged_on == "ratio" and value.low == 0 and evidence.ratio.low is not None:
        return evidence._replace(ratio=replace(evidence.ratio, low=0.0))
    if question.judged_on != "ratio" and value.high == question.farthest and evidence.difference.high is not None:
        return evidence._replace(difference=replace(evidence.difference, high=question.farthest))
    return evidence
