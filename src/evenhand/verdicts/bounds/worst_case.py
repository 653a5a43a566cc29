"""Labels that are missing for a reason: a pass must hold whatever they are.

Labels that are missing about as often among the selected as among the refused are taken as missing at random. Where
they are not, the interval goes from the lower limit of the lower bound to the upper limit of the upper one. A fail
needs no such interval: it says what the labels that are there show.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.cube.cube import Cube
from evenhand.inference import simultaneous
from evenhand.inference.spread import Bounded
from evenhand.measures.group_data import MISSING_AT_RANDOM, GroupData, Whose
from evenhand.measures.known import known
from evenhand.verdicts.bounds.bounds import Bounds, Question
from evenhand.verdicts.bounds.extremes import Reach, bounds_between
from evenhand.verdicts.verdict import verdict


def unlabelled_shares(cube: Cube) -> Floats:
    """The share of people without a label among those with each decision, [pairs, decisions]; NaN where nobody is."""
    decided = (cube.n if cube.w is None else cube.w)[:, :, :-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(decided[:, -1] / decided.sum(axis=1))


def selective(question: Question) -> Bools:
    """The groups that may support a pass and whose labels are missing more often for one decision than for another."""
    cube = question.table.cube
    judged = np.asarray(question.judged.large.any(axis=0))
    if not cube.has_labels or not cube.has_predictions or not cube.n[:, -1].any():
        return np.zeros(judged.shape, dtype=np.bool_)
    shares = unlabelled_shares(cube)
    apart = np.fmax.reduce(shares, axis=1) - np.fmin.reduce(shares, axis=1)
    return np.asarray(judged & (np.nan_to_num(apart) > MISSING_AT_RANDOM + 1e-12))


def with_worst_case(question: Question, bounds: Bounds) -> Bounds:
    """The bounds; unless they fail, those of the worst case where labels are missing for a reason."""
    request, table = question.request, question.table
    if request.policy.missing_labels != "bounds" or request.threshold is None or bounds.value.low is None:
        return bounds
    if not selective(question).any():
        return bounds
    spreads = _bounded(question, "groups")
    if spreads is not None:  # who has no value among the people that are known is not compared
        values = zip(spreads, table.values, strict=True)
        spreads = [replace(spread, values=np.where(np.isnan(own), np.nan, spread.values)) for spread, own in values]
    if spreads is None or not any(_open(spread) for spread in spreads):
        return bounds
    decided = _verdict(question, bounds)
    if decided == "fail":
        return bounds
    worst = _between(question, bounds, spreads) if table.base is None else _against(question, bounds, spreads)
    if worst is None or _verdict(question, worst) not in (decided, "inconclusive"):
        return bounds
    return worst._replace(by_measure=bounds.by_measure, without_labels=bounds.value)


def _verdict(question: Question, bounds: Bounds) -> str:
    return verdict(bounds.value, question.request.threshold, question.judged_on, two_sided=question.two_sided)


def _bounded(question: Question, whose: Whose) -> list[Bounded] | None:
    """The bounds of each measure; None where one is not made of cells."""
    from evenhand.measures.missing import bounded

    cube, rows = question.table.cube, question.table.measures
    found = [bounded(row, GroupData.of(cube if whose == "groups" else known(row, cube), whose)) for row in rows]
    spreads = [spread for spread in found if spread is not None]
    return spreads if len(spreads) == len(found) else None


def _open(spread: Bounded) -> bool:
    """Do the missing labels leave anything open?"""
    return not np.array_equal(spread.low.values, spread.high.values, equal_nan=True)


def _between(question: Question, bounds: Bounds, spreads: list[Bounded]) -> Bounds:
    request, judged = question.request, question.judged

    def reach(usable: Bools) -> Reach:
        near, able = request.near_confidence, judged.yardsticks
        ends = simultaneous.between_extremes(
            spreads, usable, request.confidence, request.aggregate, near=near, yardsticks=able
        )
        return Reach(ends.difference, ends.ratio, ends.pairs)

    large = reach(judged.large) if judged.enough(request.metric.binned) else None
    return bounds_between(question, bounds.own, reach(judged.everyone), large)._replace(by_group=bounds.by_group)


def _against(question: Question, bounds: Bounds, spreads: list[Bounded]) -> Bounds | None:
    from evenhand.verdicts.bounds.baseline import bounds_against_baseline

    table = question.table
    assert table.base is not None  # noqa: S101 - groups are compared with it
    compared = question.judged.everyone & ~np.isnan(table.base)
    bases, shares = _bases(question, spreads)
    if bases is None:
        return None
    confidence, near_confidence = question.request.confidence, question.request.near_confidence
    ends = simultaneous.against(spreads, bases, compared, confidence, shares=shares, near=near_confidence)
    near, far = (*ends.difference_near, *ends.ratio_near), (*ends.difference_far, *ends.ratio_far)
    return bounds_against_baseline(question, bounds.own, near, far, compared)


def _bases(question: Question, spreads: list[Bounded]) -> tuple[list[Bounded] | None, Floats | None]:
    """The bounds of what groups are compared with and, against everyone, the least share of each group in them."""
    table, plan = question.table, question.plan
    every = len(table.groups)
    if plan.against == "reference":
        places = [i for i, group in enumerate(table.groups) if group == plan.reference] * every
        return ([_repeated(spread, places) for spread in spreads] if places else None), None
    rest = _bounded(question, "rest")
    if plan.against == "rest" or rest is None or table.shares is None:
        return rest, None
    everyone = _bounded(question, "everyone") or []
    mixed = [bool(np.isfinite(row).all()) for row in table.shares]
    bases = [
        mine if row else _repeated(all_, [0] * every) for mine, all_, row in zip(rest, everyone, mixed, strict=True)
    ]
    return bases, np.stack([_least_shares(question, i) if row else table.shares[i] for i, row in enumerate(mixed)])


def _repeated(spread: Bounded, places: list[int]) -> Bounded:
    return Bounded(spread.values[places], spread.low.scaled(1.0, places), spread.high.scaled(1.0, places))


def _least_shares(question: Question, i: int) -> Floats:
    """The smaller the share of a group in everyone, the farther it lies from everyone at a given gap from the rest."""
    from evenhand.measures.missing import denominators

    row = question.table.measures[i]
    cube = known(row, question.table.cube)
    mine, theirs = denominators(row, GroupData.of(cube))[0], denominators(row, GroupData.of(cube, "rest"))[1]
    return np.asarray(mine / np.maximum(mine + theirs, 1e-300))
