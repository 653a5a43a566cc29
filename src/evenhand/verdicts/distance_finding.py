"""Finders of distances between groups, shifts from everyone, and dependence: values to be judged."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats, Indices
from evenhand.core.results import Estimate, Group, Row, number_or_none, pair_names, spell
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable
from evenhand.errors import join_names
from evenhand.inference.hypotheses import BOTH
from evenhand.measures import dependence
from evenhand.measures.base import no_labels
from evenhand.measures.distances import EVERY_PAIR, Distances, extremes
from evenhand.measures.group_data import SIDES, BinnedScores, GroupData, RegressionSums, worth
from evenhand.measures.indices import ConditionalDependence, DependenceIndex, ScoreDistance, ShiftFromEveryone
from evenhand.verdicts import sentences
from evenhand.verdicts.index_finding import ValueResult, deciding_row, nobody
from evenhand.verdicts.request import Request
from evenhand.verdicts.verdict import verdict


def distances(request: Request, cube: Cube, index: ScoreDistance) -> ValueResult:
    """A distance for every pair of groups; the largest is judged."""
    metric, groups, table = request.metric, *_named(cube)
    binned, silent = _binned(cube, table, len(groups)), _without_labels(request, cube, groups)
    binned = binned.without_labels(np.array([group in silent for group in groups]))
    apart = _apart(request, index, binned)
    between = np.ones_like(apart.values, bool) if apart.ordered else np.triu(np.ones_like(apart.values, bool), 1)
    shown = _shown_pairs(apart, between)
    rows = [
        Row(
            metric.name,
            groups[i],
            against=spell(groups[j]),
            estimate=Estimate.of(*ends),
            reason=(silent.get(groups[i]) or silent.get(groups[j]) or nobody(groups[i], groups[j]))
            if math.isnan(ends[0])
            else None,
        )
        for i, j, *ends in zip(*(part.tolist() for part in shown), strict=True)
    ]
    value = Estimate.of(*apart.worst)
    summary = _farthest(metric.name, apart.values, groups, between)
    why = join_names(list(silent.values()), 4, mark="; ") or "fewer than two groups have scores with what it needs"
    sentence = f"{metric.title} is undefined: {why}."
    notes = [sentences.precision(table.bins, apart.error, exact=apart.exact)]
    if len(groups) > EVERY_PAIR:
        notes.append(f"Of {len(groups):,} groups, each is shown with the one that is farthest from it.")
    if silent:
        notes.append(f"Undefined, so not compared: {join_names(list(silent.values()), 6, mark='; ')}.")
    evidence = None
    if value.defined and apart.ordered:
        ending = sentences.value_ending(request, value)
        sentence = f"The values of the {apart.title} differ by up to {value.value:.3g}{ending}."
    elif value.defined:
        evidence = _evidence(request, apart, groups, table, between)
        own = evidence.estimate or value
        ending = sentences.value_ending(request, own)
        first, second = pair_names(evidence, groups, cube.meaning.sensitive)
        names = f"{first} (n = {evidence.n:,}) and {second} (n = {evidence.n_against:,})"
        sentence = f"The {apart.title} between {names} is {own.value:.3g}{ending}."
        if (summary.group, summary.against) != (evidence.group, evidence.against):
            pair = " and ".join(pair_names(summary, groups, cube.meaning.sensitive))
            decided = verdict(value, request.threshold, "value")
            notes.append(sentences.larger_estimate(f"{value.value:.3g}", f"between {pair}", decided))
    return ValueResult(value, sentence, summary, rows, notes, unit="score", evidence=evidence)


def _without_labels(request: Request, cube: Cube, groups: list[Group]) -> dict[Group, str]:
    """The groups in which a side of the decision has no label, with that reason, where the metric rests on labels."""
    if "label" not in request.metric.needs:
        return {}
    silent = GroupData.of(cube.marginal(control=False).named()).silent
    return {
        group: no_labels(SIDES[int(np.argmax(silent[i]))], spell(group, cube.meaning.sensitive))
        for i, group in enumerate(groups)
        if silent[i].any()
    }


def _apart(request: Request, index: ScoreDistance | ShiftFromEveryone, binned: BinnedScores) -> Distances:
    """The distances with their ends; the lower ones share the error probability of a fail with other findings."""
    return index.function(binned, (request.near_confidence, request.confidence), request.policy.random_state)


def _evidence(request: Request, apart: Distances, groups: list[Group], table: ScoreTable, between: Bools) -> Row:
    """The pair of groups on which the verdict rests, with the people who have scores in both."""
    failed = verdict(Estimate.of(*apart.worst), request.threshold) == "fail"
    # An end that is not known counts as the smallest.
    i, j = _first_largest(apart.low if failed else apart.high, between & ~np.isnan(apart.values))
    people = np.bincount(table.pair, weights=table.n, minlength=len(groups))
    return Row(
        request.metric.name,
        groups[i],
        against=spell(groups[j]),
        n=int(people[i]),
        n_against=int(people[j]),
        estimate=Estimate.of(apart.values[i, j], apart.low[i, j], apart.high[i, j]),
    )


def shift(request: Request, cube: Cube, index: ShiftFromEveryone) -> ValueResult:
    """How far each group's distribution of predictions lies from everyone's; the largest is judged."""
    groups, table = _named(cube)
    binned = _binned(cube, table, len(groups))
    apart = _apart(request, index, binned)
    people = np.bincount(table.pair, weights=table.n, minlength=len(groups))
    rows = [
        Row(
            request.metric.name,
            group,
            against="everyone",
            n=int(people[i]),
            estimate=Estimate.of(apart.values[i, 0], apart.low[i, 0], apart.high[i, 0]),
            reason=nobody(group) if math.isnan(apart.values[i, 0]) else None,
        )
        for i, group in enumerate(groups)
    ]
    value = Estimate.of(*apart.worst)
    sentence = f"{request.metric.title} is undefined: fewer than two groups have predictions."
    summary, evidence = Row(request.metric.name, ()), None
    notes = [sentences.precision(table.bins, apart.error)]
    if value.defined:
        farthest = groups[int(np.nanargmax(apart.values[:, 0]))]
        summary = Row(request.metric.name, farthest, against="everyone")
        evidence = replace(deciding_row(rows, value, request.threshold), n_against=int(people.sum()))
        own = evidence.estimate or value
        name = spell(evidence.group, cube.meaning.sensitive)
        sentence = (
            f"The share of people predicted above some value differs between {name} (n = "
            f"{evidence.n:,}) and everyone (n = {evidence.n_against:,}) by up to {own.value:.3g}"
            f"{sentences.value_ending(request, own)}."
        )
        if farthest != evidence.group:
            name = spell(farthest, cube.meaning.sensitive)
            decided = verdict(value, request.threshold, "value")
            notes.append(sentences.larger_estimate(f"{value.value:.3g}", f"for {name}", decided))
    return ValueResult(value, sentence, summary, rows, notes, unit="score", evidence=evidence)


def dependent(request: Request, cube: Cube, index: DependenceIndex) -> ValueResult:
    """How strongly what is decided depends on the groups, and how strongly it would by chance alone."""
    table, of = _joint(cube.marginal(control=False).named())
    observed = dependence.against_chance(
        table,
        index.statistic,
        dependence.DRAWS,
        request.policy.random_state,
        power=index.power,
        chance=index.chance,
    )
    names = " × ".join(cube.meaning.sensitive)
    notes = [f"From a table of {table.shape[0]} groups and {table.shape[1]} values of the {of}."]
    if index.chance is not None:
        notes.append("The value is the observed one less what chance adds on average, (rows − 1)(columns − 1)/2n.")
    why = f"fewer than two groups, or only one value of the {of}"
    return _beside_chance(request, observed, table, f"The {request.metric.title} of {names} and the {of}", why, notes)


def conditional(request: Request, cube: Cube, index: ConditionalDependence) -> ValueResult:
    """How much groups tell within each label, or within what was decided, and how much they would by chance alone."""
    table, of = _joint_with_label(cube.marginal(control=False).named())
    strata = (
        [table[..., i] for i in range(2)] if index.given == "label" else [table[:, j] for j in range(table.shape[1])]
    )
    observed = dependence.within_strata(strata, dependence.DRAWS, request.policy.random_state)
    told, within = (of, "label") if index.given == "label" else ("label", of)
    why = f"fewer than two groups, or only one value of the {told}, among people with the same {within}"
    names = " × ".join(cube.meaning.sensitive)
    notes = [
        f"From {len(strata)} tables of {table.shape[0]} groups, one for each value of the {within}.",
        "The value is the observed one less what chance adds on average, (rows − 1)(columns − 1)/2n in each table.",
    ]
    what = f"Among people with the same {within}, the mutual information of {names} and the {told}"
    return _beside_chance(request, observed, table, what, why, notes)


def _beside_chance(
    request: Request, observed: dependence.Dependence, table: Floats, what: str, why: str, notes: list[str]
) -> ValueResult:
    """A dependence beside what is usual without any; `why` says why it is undefined where it is."""
    rows = [
        Row(name, (), n=int(table.sum()), estimate=Estimate(number), reason=why if math.isnan(number) else None)
        for name, number in (("observed", observed.raw), ("mean_under_independence", observed.null_mean))
    ]
    sentence = f"{request.metric.title} is undefined: {why}."
    if not math.isnan(observed.value):
        sentence = (
            f"{what} is {observed.raw:.3g}; without any dependence {observed.null_mean:.3g} is usual in a sample of "
            f"this size (p = {observed.p_value:.2g})."
        )
    summary, p_value = Row(request.metric.name, ()), number_or_none(observed.p_value)
    return ValueResult(
        Estimate(observed.value), sentence, summary, rows, notes, unit="score", p_value=p_value, tested=BOTH
    )


def _joint_with_label(cube: Cube) -> tuple[Floats, str]:
    """People with a label by group, by what is decided and by label, [groups, values, 2], as `_joint` has it."""
    if cube.scores is not None:
        scores = BinnedScores.from_table(cube.scores, len(cube.pairs))
        mass, squares = (part[:, :2] for part in (scores.mass, scores.squares[0]))
        both = _in_all(mass, squares)
        place = _columns(both.sum(axis=(0, 1)))
        table = np.moveaxis(both @ np.eye(place.max(initial=0) + 1)[place], 1, 2)
        return np.asarray(table[:, table.any(axis=(0, 2))]), "score"
    mass = (cube.n if cube.w is None else cube.w).astype(np.float64)[:, :2, :2]
    squares = mass if cube.w2 is None else cube.w2[:, :2, :2]
    return np.moveaxis(_in_all(mass, squares), 1, 2), "decision"


def _named(cube: Cube) -> tuple[list[Group], ScoreTable]:
    """The groups that have a name, over all strata, and their scores."""
    whole = cube.marginal(control=False).named()
    assert whole.scores is not None  # noqa: S101 - the roles were checked
    return [group for _, group in whole.pairs], whole.scores


def _binned(cube: Cube, table: ScoreTable, groups: int) -> BinnedScores:
    """The scores, or as scores without a label the predictions of a regressor."""
    if cube.meaning.task != "regression":
        return BinnedScores.from_table(table, groups)
    return RegressionSums.from_table(table, groups).predictions()


def _joint(cube: Cube) -> tuple[Floats, str]:
    """People by group and by what is decided: the score (or predicted number) in at most ten bins, else the decision,
    else the label; and what that is called. Shares are by weight; all together are as many as the weights are worth.
    """
    if cube.scores is not None:
        of = "prediction" if cube.meaning.task == "regression" else "score"
        scores = _binned(cube, cube.scores, len(cube.pairs))
        return _cut(_in_all(scores.mass.sum(axis=1), scores.squares[0].sum(axis=1))), of
    mass = (cube.n if cube.w is None else cube.w).astype(np.float64)
    squares = mass if cube.w2 is None else cube.w2
    axis = 1 if cube.has_predictions else 2
    table = _in_all(mass.sum(axis=axis)[:, :-1], squares.sum(axis=axis)[:, :-1])
    return table, "decision" if cube.has_predictions else "label"


def _in_all(mass: Floats, squares: Floats) -> Floats:
    """Weights in proportion, over all groups as many people as they are worth."""
    return worth(mass.reshape(1, -1), squares.reshape(1, -1)).reshape(mass.shape)


def _cut(people: Floats) -> Floats:
    """The table with its columns joined into at most ten, which hold about equally many people.

    Ten values or fewer stay as they are: a rare one joined to the next would hide what it has to do with the group.
    """
    people = people[:, people.any(axis=0)]
    if people.shape[1] <= dependence.MOST_COLUMNS:
        return people
    columns = np.zeros((len(people), dependence.MOST_COLUMNS))
    np.add.at(columns.T, _columns(people.sum(axis=0)), people.T)
    return columns[:, columns.any(axis=0)]


def _columns(people: Floats) -> Indices:
    """The column that each value goes to, of at most ten; `people` are those with each value."""
    seen = people > 0
    if seen.sum() <= dependence.MOST_COLUMNS:
        return np.asarray(np.maximum(np.cumsum(seen) - 1, 0))
    reached = np.cumsum(people)
    share = (reached - 0.5 * people) / reached[-1]
    return np.asarray(np.minimum((share * dependence.MOST_COLUMNS).astype(np.intp), dependence.MOST_COLUMNS - 1))


def _shown_pairs(apart: Distances, between: Bools) -> tuple[Array, ...]:
    """The pairs that have a row, with their values and ends; of very many groups, each with its farthest.

    Where a pair has an order, the farthest are the group's highest value and its lowest.
    """
    first, second = np.nonzero(between)
    if len(between) > EVERY_PAIR:
        first, second = extremes(apart.values)
        if not apart.ordered:
            first, second = first[::2], second[::2]
    return first, second, *(part[first, second] for part in (apart.values, apart.low, apart.high))


def _farthest(name: str, values: Floats, groups: list[Group], between: Bools) -> Row:
    defined = between & ~np.isnan(values)
    if not defined.any():
        return Row(name, ())
    i, j = _first_largest(values, defined)
    return Row(name, groups[i], against=spell(groups[j]))


def _first_largest(values: Floats, among: Bools) -> tuple[int, int]:
    """Where the largest of some values stands; of equals the first."""
    place = int(np.argmax(np.where(among, np.nan_to_num(values, nan=_LOWEST), -np.inf)))
    return place // values.shape[1], place % values.shape[1]


_LOWEST = float(np.finfo(np.float64).min)
