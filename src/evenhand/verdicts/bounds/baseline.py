"""Bounds of groups against a baseline (a reference, the rest or everyone), whatever method made the ends."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.core.results import Estimate, JudgedOn
from evenhand.verdicts import comparison
from evenhand.verdicts.bounds.bounds import (
    NO_INTERVAL,
    Bounds,
    Ends,
    Evidence,
    Interval,
    Question,
    deciding_ends,
    fold_differences,
    fold_ratios,
    largest_and_surest,
    largest_at,
    sureness,
)
from evenhand.verdicts.bounds.extremes import Reach, bounds_between
from evenhand.verdicts.verdict import beyond, passes, verdict, within


class _Sides(NamedTuple):
    """Differences and ratios with the ends that decide, [measures, groups]; one measure where they are averaged."""

    difference: Floats
    ratio: Floats
    ends: Ends

    def of(self, kind: JudgedOn) -> tuple[Floats, Floats, Floats]:
        """Values, lower and upper ends of the differences or of the ratios."""
        if kind == "ratio":
            return self.ratio, self.ends[2], self.ends[3]
        return self.difference, self.ends[0], self.ends[1]

    def estimate(self, at: tuple[int, ...], kind: JudgedOn) -> Estimate:
        return Estimate.of(*(float(part[at]) for part in self.of(kind)))

    def interval(self, at: tuple[int, ...] | None, kind: JudgedOn) -> Interval:
        return NO_INTERVAL if at is None else (float(self.of(kind)[1][at]), float(self.of(kind)[2][at]))


def bounds_against_baseline(
    question: Question, own: list[tuple[Floats, Floats]], near: Ends, far: Ends, compared: Bools
) -> Bounds:
    """Bounds from the ends of each group against its baseline: near ones for a fail, far ones for a pass."""
    table, aggregate = question.table, question.request.aggregate
    assert table.base is not None  # noqa: S101 - groups are compared with it
    signed = False if table.signed is None else table.signed[:, None]
    differences, ratios = table.values - table.base, comparison.ratio(table.values, table.base, signed)
    by_group = _decide(differences, ratios, near, far)
    large = question.judged.large & compared
    if np.isnan(question.estimate):
        return question.without_interval(own)._replace(by_group=by_group.ends)
    if question.plan.fold:
        everyone, for_pass = (_reach(by_group.ends, mask, aggregate) for mask in (compared, large))
        folded = (
            question.without_interval(own) if everyone is None else bounds_between(question, own, everyone, for_pass)
        )
        evidence = folded.evidence if aggregate != "worst" else _folded(question, by_group, compared, large)
        return folded._replace(evidence=evidence, by_group=by_group.ends)
    sides = by_group
    if aggregate != "worst":
        difference, ratio = _average((differences, ratios), aggregate)
        sides = _decide(difference, ratio, _average(near, aggregate), _average(far, aggregate))
        compared, large = (np.asarray(part.all(axis=0, keepdims=True)) for part in (compared, large))
    at, supported = _deciding_group(question, sides, compared, large)
    if at is None:
        return question.without_interval(own)._replace(by_group=by_group.ends)
    estimates = {kind: sides.estimate(at, kind) for kind in ("difference", "ratio")}
    estimates[question.judged_on] = _bounded(question, estimates[question.judged_on], supported)
    return Bounds(
        own,
        estimates[question.judged_on],
        Evidence(at[0] if aggregate == "worst" else None, at[1], None, **estimates),
        sides.interval(question.gap.difference_at, "difference"),
        sides.interval(question.gap.ratio_at, "ratio"),
        by_group=by_group.ends,
    )


def _folded(question: Question, sides: _Sides, compared: Bools, large: Bools) -> Evidence | None:
    """The group that decides where signs do not count, with the sizes of its own difference and ratio."""
    ends = *fold_differences(*sides.ends[:2]), *fold_ratios(*sides.ends[2:])
    sizes = _Sides(np.abs(sides.difference), comparison.folded(sides.ratio), ends)
    at, supported = _deciding_group(question, sizes, compared, large)
    if at is None:
        return None
    estimates = {kind: sizes.estimate(at, kind) for kind in ("difference", "ratio")}
    estimates[question.judged_on] = _bounded(question, estimates[question.judged_on], supported)
    return Evidence(at[0], at[1], None, **estimates)


def _decide(differences: Floats, ratios: Floats, near: tuple[Floats, ...], far: tuple[Floats, ...]) -> _Sides:
    ends = (
        *deciding_ends((near[0], near[1]), (far[0], far[1]), differences, 0.0),
        *deciding_ends((near[2], near[3]), (far[2], far[3]), ratios, 1.0),
    )
    return _Sides(differences, ratios, ends)


def _average(parts: tuple[Floats, ...], aggregate: str) -> tuple[Floats, ...]:
    """Values (difference, ratio) or ends (low and high of each) averaged over the measures; sizes with "mean_abs"."""
    if aggregate == "mean_abs" and len(parts) == 2:
        parts = np.abs(parts[0]), comparison.folded(parts[1])
    elif aggregate == "mean_abs":
        parts = *fold_differences(parts[0], parts[1]), *fold_ratios(parts[2], parts[3])
    return tuple(part.mean(axis=0, keepdims=True) for part in parts)


def _reach(ends: Ends, compared: Bools, aggregate: str) -> Reach | None:
    """The farthest of the groups without regard to sign: over all measures, or in each and then on average.

    None where nobody is compared.
    """
    if not compared.any():
        return None
    low, high = (np.where(compared, end, np.nan) for end in fold_differences(ends[0], ends[1]))
    least, most = (np.where(compared, end, np.nan) for end in fold_ratios(ends[2], ends[3]))
    differences = [np.fmax.reduce(part, axis=1) for part in (low, high)]
    ratios = [np.fmin.reduce(part, axis=1) for part in (least, most)]
    largest, smallest = (np.fmax.reduce, np.fmin.reduce) if aggregate == "worst" else (np.mean, np.mean)
    return Reach(
        (float(largest(differences[0])), float(largest(differences[1]))),
        (float(smallest(ratios[0])), float(smallest(ratios[1]))),
    )


def _deciding_group(
    question: Question, sides: _Sides, compared: Bools, large: Bools
) -> tuple[tuple[int, ...] | None, bool]:
    """(measure, group) on which the verdict rests, and whether a pass is supported by groups that are large enough.

    On a fail it is the group whose gap is surest, otherwise the one with the farthest far end; without a
    threshold the one that lies farthest apart.
    """
    judged_on, threshold, two_sided = question.judged_on, question.request.threshold, question.two_sided
    values, low, high = sides.of(judged_on)
    compared = compared & ~np.isnan(values)
    if threshold is None:
        return question.gap.ratio_at if judged_on == "ratio" else question.gap.difference_at, False
    failing = beyond(low, high, threshold, judged_on, two_sided=two_sided) & compared
    with np.errstate(divide="ignore", invalid="ignore"):
        start, end = (np.log(low), np.log(high)) if judged_on == "ratio" else (low, high)
    if failing.any():
        # The end towards no gap is the near one.
        near = np.where(np.abs(start) < np.abs(end), low, high)
        return largest_at(sureness(values, near, judged_on), failing), False
    inside = within(low, high, threshold, judged_on, two_sided=two_sided)
    close = all(passes(float(each), threshold, judged_on, two_sided=two_sided) for each in values[compared])
    supported = bool(large.any() and inside[large].all() and close)
    extent = -start if judged_on == "ratio" and not two_sided else np.maximum(end, -start)
    # Of groups that may lie equally far from no gap, the one that surely lies farthest.
    surely, taking = np.maximum(start, -end), large if supported else compared
    return largest_and_surest(np.nan_to_num(extent, nan=-np.inf, posinf=np.inf), surely, taking), supported


def _bounded(question: Question, value: Estimate, supported: bool) -> Estimate:
    """The value; where no large group supports a pass, nothing bounds it on its far side."""
    decided = verdict(value, question.request.threshold, question.judged_on, two_sided=question.two_sided)
    if supported or decided != "pass":
        return value
    if question.judged_on == "ratio":
        return replace(value, low=0.0)
    if value.value < 0:
        return replace(value, low=-question.farthest)
    return replace(value, high=question.farthest)
