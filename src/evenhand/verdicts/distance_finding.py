"""Findings on distances between groups, on shifts from everyone, on the largest loss, and on dependence."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from evenhand.core import wording
from evenhand.core.arrays import Floats
from evenhand.core.results import Estimate, Finding, Group, Row, spell
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable
from evenhand.errors import CallError
from evenhand.inference import simultaneous
from evenhand.measures import dependence
from evenhand.measures.distances import SCORE_INDICES, largest_shift
from evenhand.measures.group_data import BinnedScores, RegressionSums
from evenhand.measures.regression import LOSSES
from evenhand.verdicts import sentences, valued
from evenhand.verdicts.request import Request


def distances(asked: Request, cube: Cube) -> Finding:
    """A distance for every pair of groups; the largest is judged."""
    metric, groups, table = asked.metric, *_named(cube)
    crossed = metric.index == "cross_auc"
    found = SCORE_INDICES[str(metric.index)](
        _binned(cube, table, len(groups)), asked.policy.confidence, asked.policy.random_state
    )
    pairs = [(i, j) for i in range(len(groups)) for j in range(len(groups)) if crossed or i < j]
    rows = [
        Row(
            metric.name,
            groups[i],
            against=spell(groups[j]),
            estimate=valued.estimate(found.values[i, j], found.low[i, j], found.high[i, j]),
        )
        for i, j in pairs
    ]
    value = valued.estimate(*found.worst)
    summary = _farthest(metric.name, found.values, groups, pairs)
    sentence = f"{metric.title} is undefined: fewer than two groups have scores with what it needs."
    if value.defined:
        ending = _ending(asked, value)
        sentence = f"The largest {found.title} is {value.value:.3g}{ending}."
        if crossed:
            sentence = f"The values of the {found.title} differ by up to {value.value:.3g}{ending}."
        elif summary.against is not None:
            sentence = f"{sentence[:-1]}, between {spell(summary.group)} and {summary.against}."
    notes = [sentences.precision(table.bins, found.error, exact=found.exact)]
    return valued.conclude(asked, cube, value, sentence, summary, rows, notes, unit="score")


def shift(asked: Request, cube: Cube) -> Finding:
    """How far each group's distribution of predictions lies from everyone's; the largest is judged."""
    groups, table = _named(cube)
    found = largest_shift(
        RegressionSums.from_table(table, len(groups)).by_bin(), asked.policy.confidence, asked.policy.random_state
    )
    people = np.bincount(table.pair, weights=table.n, minlength=len(groups))
    rows = [
        Row(
            asked.metric.name,
            group,
            against="everyone",
            n=int(people[i]),
            estimate=valued.estimate(found.values[i, 0], found.low[i, 0], found.high[i, 0]),
        )
        for i, group in enumerate(groups)
    ]
    value = valued.estimate(*found.worst)
    sentence = f"{asked.metric.title} is undefined: fewer than two groups have predictions."
    summary: Group = ()
    if value.defined:
        summary = groups[int(np.nanargmax(found.values[:, 0]))]
        sentence = (
            f"The share of people predicted above some value differs most between {spell(summary)} and everyone: "
            f"by {value.value:.3g}{_ending(asked, value)}."
        )
    last = Row(asked.metric.name, summary, against="everyone" if summary else None)
    notes = [sentences.precision(table.bins, found.error)]
    return valued.conclude(asked, cube, value, sentence, last, rows, notes, unit="score")


def largest_loss(asked: Request, cube: Cube) -> Finding:
    """The mean loss of the group that fares worst; limits of all groups hold together."""
    loss = asked.options["loss"]
    if loss not in LOSSES:
        raise CallError(f"loss={loss!r} must be {' or '.join(map(repr, LOSSES))}.")
    row, (groups, table) = LOSSES[loss], _named(cube)
    spread = row.function(RegressionSums.from_table(table, len(groups)))
    low, high = simultaneous.own(spread, asked.policy.confidence)
    rows = [
        Row(
            row.name,
            group,
            n=int(spread.sizes[i]),
            estimate=valued.estimate(spread.values[i], low[i], high[i]),
            reason=row.reason(spell(group)) if math.isnan(spread.values[i]) else None,
        )
        for i, group in enumerate(groups)
    ]
    value, summary = Estimate(math.nan), Row(asked.metric.name, ())
    sentence = f"{asked.metric.title} is undefined: no group has outcomes."
    if np.isfinite(spread.values).any():
        value = valued.estimate(np.nanmax(spread.values), float(np.nanmax(low)), float(np.nanmax(high)))
        worst, best = (groups[int(pick(spread.values))] for pick in (np.nanargmax, np.nanargmin))
        summary = Row(asked.metric.name, worst, against=spell(best))
        sentence = (
            f"The {row.title} is largest for {spell(worst)}: {wording.amount(value.value, 'score')}"
            f"{_ending(asked, value)}; it is smallest for {spell(best)}: "
            f"{wording.amount(float(np.nanmin(spread.values)), 'score')}."
        )
    return valued.conclude(asked, cube, value, sentence, summary, rows, [], unit="score")


def dependent(asked: Request, cube: Cube) -> Finding:
    """How strongly what is decided depends on the groups, beside what chance alone would show."""
    kind, policy = str(asked.metric.index), asked.policy
    whole = cube.marginal(control=False).named()
    table, of = _joint(whole)
    found = dependence.against_chance(table, kind, dependence.DRAWS, policy.random_state)
    why = f"fewer than two groups, or only one value of the {of}"
    rows = [
        Row(name, (), n=int(table.sum()), estimate=Estimate(number), reason=why if math.isnan(number) else None)
        for name, number in (("observed", found.raw), ("mean_under_independence", found.null_mean))
    ]
    sentence = f"{asked.metric.title} is undefined: {why}."
    if not math.isnan(found.value):
        sentence = (
            f"The {asked.metric.title} of {' × '.join(cube.meaning.sensitive)} and the {of} is {found.raw:.3g}; "
            f"without any dependence {found.null_mean:.3g} is usual in a sample of this size (p = {found.p_value:.2g})."
        )
    notes = [f"From a table of {table.shape[0]} groups and {table.shape[1]} values of the {of}."]
    if kind == "mutual_information":
        notes.append("The value is the observed one less what chance adds on average, (rows − 1)(columns − 1)/2n.")
    p = None if math.isnan(found.p_value) else found.p_value
    summary = Row(asked.metric.name, ())
    return valued.conclude(
        asked, cube, Estimate(found.value), sentence, summary, rows, notes,
        unit="score", p_value=p, tested="permutation",
    )  # fmt: skip


def _named(cube: Cube) -> tuple[list[Group], ScoreTable]:
    """The groups that have a name, over all strata, and their scores."""
    whole = cube.marginal(control=False).named()
    assert whole.scores is not None  # noqa: S101 - the roles were checked
    return [group for _, group in whole.pairs], whole.scores


def _binned(cube: Cube, table: ScoreTable, groups: int) -> BinnedScores:
    """The scores, or as scores without a label the predictions of a regressor."""
    if cube.meaning.task != "regression":
        return BinnedScores.from_table(table, groups)
    moments = RegressionSums.from_table(table, groups)
    people = np.zeros((groups, 3, table.bins.count))
    people[:, 2] = moments.by_bin()
    first = people * moments.places
    return BinnedScores(table.reading, {"n": people, "s": first, "s2": first * moments.places})


def _joint(cube: Cube) -> tuple[Floats, str]:
    """People by group and by what is decided: the score (or predicted number) in at most ten bins, else the decision,
    else the label; and what that is called."""
    if cube.scores is not None:
        of = "prediction" if cube.meaning.task == "regression" else "score"
        table = _binned(cube, cube.scores, len(cube.pairs))
        people = sum((table.of_label(label) for label in range(3)), np.zeros(1))
        return _cut(people), of
    mass = (cube.n if cube.w is None else cube.w).astype(np.float64)
    if cube.w is not None and cube.w2 is not None:  # as many people as the weights are worth
        mass = mass * mass.sum() / cube.w2.sum()
    axis = 1 if cube.has_predictions else 2
    return mass.sum(axis=axis)[:, :-1], "decision" if cube.has_predictions else "label"


def _cut(people: Floats) -> Floats:
    """Columns joined into at most ten that hold about equally many people."""
    reached = np.cumsum(people.sum(axis=0))
    place = np.minimum(((reached - 0.5 * people.sum(axis=0)) / reached[-1] * dependence.MOST_COLUMNS).astype(int), 9)
    columns = np.zeros((len(people), dependence.MOST_COLUMNS))
    np.add.at(columns.T, place, people.T)
    return columns[:, columns.any(axis=0)]


def _ending(asked: Request, value: Estimate) -> str:
    ends = math.nan if value.low is None else value.low, math.nan if value.high is None else value.high
    ending = wording.reach(ends, asked.policy.confidence, "value", "score")
    return ending + sentences.bound(asked.threshold, valued.passes(value, asked.threshold), "value", "ratio")


def _farthest(name: str, values: Floats, groups: list[Group], pairs: list[tuple[int, int]]) -> Row:
    defined = [pair for pair in pairs if not np.isnan(values[pair])]
    if not defined:
        return Row(name, ())
    i, j = max(defined, key=lambda pair: values[pair])
    return Row(name, groups[i], against=spell(groups[j]))


FINDERS: dict[str, Callable[[Request, Cube], Finding]] = {
    **dict.fromkeys(SCORE_INDICES, distances),
    "largest_shift": shift,
    "largest_loss": largest_loss,
    **dict.fromkeys(dependence.KINDS, dependent),
}
