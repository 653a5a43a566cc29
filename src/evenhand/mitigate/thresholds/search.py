"""find_thresholds(): cutoffs by group that keep a constraint at the lowest cost, from a cube with scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real

import numpy as np

from evenhand.core.arguments import checked
from evenhand.core.arrays import Floats
from evenhand.core.results import spell
from evenhand.cube.cube import Cube
from evenhand.cube.cutoffs import decide
from evenhand.errors import CallError, check_kind, listing, nearest
from evenhand.measures.cells import CELLS, MEASURES, CellMeasure, cell_measures, evaluate, find_cell_measure
from evenhand.mitigate.thresholds import solver
from evenhand.mitigate.thresholds.options import Options, coefficient_rows, is_linear, options_by_group
from evenhand.mitigate.thresholds.rules import SHOWN, Rule, Thresholds
from evenhand.sources.documentation import documented
from evenhand.verdicts.finding import judge
from evenhand.verdicts.request import Request, make_request

OBJECTIVES = ("accuracy", "balanced_accuracy")
_CELLS = ("TN", "FP", "FN", "TP")
_ON_THE_SAMPLE = (
    "The cutoffs were chosen on these people, who keep the constraint better than others will: audit the decisions on "
    "people who were not used, or pass confidence= to leave room for that."
)


@documented
@checked
def find_thresholds(
    cube: Cube,
    *,
    constraint: str | None = "equal_opportunity",
    within: float | None = None,
    floors: Mapping[str, float] | None = None,
    objective: str | Mapping[str, float] = "accuracy",
    randomised: bool = False,
    confidence: float | None = None,
) -> Thresholds:
    """The cutoffs of each group with the highest objective among those that keep the constraint.

    Parameters
    ----------
    cube
        Counted with `label=` and `score=`; with resolution="exact" every score can be a cutoff.
    constraint
        A metric of the catalogue that compares measures of cells; None for floors alone.
    within
        The largest difference, or smallest ratio, between groups; by default the metric's own threshold.
    floors
        The smallest value of a measure in every group, as {"true_positive_rate": 0.8}: groups below it are
        raised and no group is lowered.
    objective
        "accuracy", "balanced_accuracy", or what a person in each cell is worth, as {"TP": 1, "FP": -4}.
    randomised
        Whether a random draw between cutoffs is allowed, by which a constraint can be kept exactly.
    confidence
        As 0.95: leave enough room that the constraint also holds for the population of these people,
        whichever cutoffs are chosen (Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990).

    Returns
    -------
    Thresholds
        The cutoffs of each group, what they keep and what they cost; print it.

    >>> from evenhand.datasets import compas
    >>> cube = Cube.count(compas(), label="recidivated", score="decile", count="count", sensitive="sex")
    >>> found = find_thresholds(cube, constraint="demographic_parity", within=0.05)
    >>> {spell(rule.group): rule.cutoffs[0] for rule in found.rules}
    {'Female': 5.0, 'Male': 5.0}
    """
    check_kind(cube, Cube, "cube", "pass a Cube that was counted with label= and score=, such as audit.cube")
    request = None if constraint is None else make_request(constraint, threshold=within)
    options = options_by_group(cube)
    gain = _gain(objective, options)
    goal = _goal(request, _floors(floors), gain, options, confidence)
    choice = (solver.best_mixture if randomised else solver.best_single)(options, goal)
    if choice is None:
        raise CallError(_impossible(goal, randomised, confidence))
    free = solver.best_single(options, replace(goal, measures=(), floors=(), margins=()))
    assert free is not None  # noqa: S101 - without a constraint something is always best
    common, counts = _common(cube, options, gain)
    people = sum(each.positives + each.negatives for each in options)
    mirror = cube.scores.reading.mirror if cube.scores is not None else None
    rules = []
    for i, each in enumerate(options):
        places, weights = choice.places[i], choice.weights[i]
        cutoffs = each.cutoffs[places] if mirror is None else mirror - each.cutoffs[places]
        after = _measures(each, float(weights @ each.tp[places]), float(weights @ each.fp[places]))
        drawn = tuple(map(float, cutoffs)), tuple(map(float, weights))
        rules.append(Rule(each.group, each.people, *drawn, _measures(each, *counts[i]), after))
    found = Thresholds(
        attributes=cube.meaning.sensitive,
        constraint=None if request is None else request.metric.name,
        within=None if request is None else request.threshold,
        objective=objective if isinstance(objective, str) else "gain",
        rules=tuple(rules),
        gain=_mean(options, choice, gain),
        best_gain=_mean(options, free, gain),
        common=common,
        common_gain=sum(_worth(each, gain, *pair) for each, pair in zip(options, counts, strict=True)) / people,
        higher_is=cube.meaning.higher_is,
        notes=_notes(cube, options, goal, confidence),
        bands=cube.meaning.bands,
    )
    return found if request is None else replace(found, finding=judge(request, decided(cube, found)))


def decided(cube: Cube, thresholds: Thresholds) -> Cube:
    """The cube with the decisions of these cutoffs; where they are random, its rates are the expected ones."""
    whole = cube.marginal(control=False)
    if thresholds.randomised and whole.w is None:
        whole = _as_weights(whole)
    table = whole.scores
    assert table is not None  # noqa: S101 - the cutoffs were chosen from it
    starts = table.bins.starts[table.bin]
    scores = starts if table.reading.mirror is None else table.reading.mirror - starts
    chance = thresholds.chances_at(scores, table.pair.astype(np.intp))
    meaning = replace(whole.meaning, prediction="by cutoffs", score=None, cutoff=None, higher_is="positive")
    return replace(decide(whole, chance), meaning=meaning, scores=None)


def _as_weights(cube: Cube) -> Cube:
    """The cube with a weight of 1 for each person: weights can be shared between decisions, and people cannot."""
    table = cube.scores
    assert table is not None  # noqa: S101 - as above
    people, ones = cube.n.astype(np.float64), table.n.astype(np.float64)
    return replace(cube, w=people, w2=people, scores=replace(table, sums={**table.sums, "w": ones, "w2": ones}))


# --- what is requested


def _gain(objective: str | Mapping[str, float], options: Sequence[Options]) -> Floats:
    """The gain of a person in each cell of the objective."""
    worth = dict.fromkeys(_CELLS, 0.0)
    if isinstance(objective, Mapping):
        for cell, value in objective.items():
            if cell not in worth:
                raise CallError(f"objective: {cell!r} is not a cell; {nearest(str(cell), _CELLS)}")
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise CallError(f"objective: {cell} is worth {value!r}; pass a number, negative for a cost.")
            worth[cell] = float(value)
    elif objective == "accuracy":
        worth |= {"TN": 1.0, "TP": 1.0}
    elif objective == "balanced_accuracy":
        positives, negatives = (sum(getattr(each, kind) for each in options) for kind in ("positives", "negatives"))
        if not positives or not negatives:
            raise CallError("balanced accuracy needs positive and negative labels, and there is only one kind.")
        half = (positives + negatives) / 2
        worth |= {"TP": half / positives, "TN": half / negatives}
    else:
        raise CallError(
            f"objective={objective!r}; {nearest(str(objective), OBJECTIVES)} Or say what each cell is worth, as "
            "{'TP': 1, 'FP': -4}."
        )
    row = np.zeros(len(CELLS))
    for cell, value in worth.items():
        row[CELLS.index(cell)] = value
    return row


def _floors(floors: Mapping[str, float] | None) -> tuple[tuple[CellMeasure, float], ...]:
    found: list[tuple[CellMeasure, float]] = []
    for name, floor in (floors or {}).items():
        measure = find_cell_measure(name)
        coefficient_rows(measure)
        if measure.of and not is_linear(measure):
            raise CallError(f"floors: {measure.title} is a mean of others: set a floor under each of them.")
        if isinstance(floor, bool) or not isinstance(floor, Real) or not 0 <= floor <= 1:
            raise CallError(f"floors: {measure.name} is to be at least {floor!r}; pass a number from 0 to 1.")
        found.append((measure, float(floor)))
    return tuple(found)


def _goal(
    request: Request | None,
    floors: tuple[tuple[CellMeasure, float], ...],
    gain: Floats,
    options: Sequence[Options],
    confidence: float | None,
) -> solver.Goal:
    if request is None:
        if confidence is not None:
            raise CallError("confidence= leaves room for a constraint: pass constraint=, too.")
        return solver.Goal((), False, 0.0, gain, floors)
    metric = request.metric
    rows = cell_measures(metric.rows)
    if metric.index is not None or metric.binned or not rows or len(rows) < len(metric.rows):
        raise CallError(
            f"{metric.name} is not made of the cells of a decision, so cutoffs cannot keep it: choose one that is, "
            "such as demographic_parity, equal_opportunity or equalized_odds."
        )
    if request.aggregate != "worst" and len(rows) > 1:
        raise CallError(f"{metric.name} is a mean of gaps, which may hide one of them: choose equalized_odds.")
    if request.threshold is None:
        raise CallError(f"{metric.name} has no default threshold: say how large a gap is allowed with within=.")
    for row in rows:
        coefficient_rows(row)
    margins = () if confidence is None else _margins(rows, options, confidence)
    return solver.Goal(tuple(rows), request.judged_on == "ratio", float(request.threshold), gain, floors, margins)


def _margins(rows: Sequence[CellMeasure], options: Sequence[Options], confidence: float) -> tuple[Floats, ...]:
    """How far a measure of the sample may be from the population's at any cutoff, in any group: a confidence band.

    A rate among people of one label is a distribution function, and √(ln(2m/α) / 2n) holds for m of them at once. The
    accuracy is made of two parts that each are one, of the whole group.
    """
    if not 0 < confidence < 1:
        raise CallError(f"confidence={confidence!r} must lie between 0 and 1.")
    if not all(is_linear(row) for row in rows):
        raise CallError(
            f"for {listing(row.title for row in rows)} no room can be computed that holds at every cutoff: leave "
            "confidence= out, and audit the decisions on people who were not used."
        )
    used = [[_bands(part) for part, _ in coefficient_rows(row)] for row in rows]
    bands = len(options) * sum(count for parts in used for count in parts)
    found = []
    for row, counts in zip(rows, used, strict=True):
        total = np.zeros(len(options))
        for (_, bottom), count in zip(coefficient_rows(row), counts, strict=True):
            n = np.array([float(each.count(bottom)[0]) for each in options])
            with np.errstate(divide="ignore"):
                total += count * np.sqrt(math.log(2 * bands / (1 - confidence)) / (2 * n)) / len(counts)
        found.append(total)
    return tuple(found)


def _bands(top: Floats) -> int:
    """The number of distribution functions in a numerator: one for the selection rate, two for the accuracy."""
    pairs = (("TN", "FP"), ("FN", "TP"))
    by_label = [top[CELLS.index(chosen)] - top[CELLS.index(refused)] for refused, chosen in pairs]
    return 1 if by_label[0] == by_label[1] else int(np.count_nonzero(by_label))


def _impossible(goal: solver.Goal, randomised: bool, confidence: float | None) -> str:
    """Why no cutoffs keep the constraint, and what to do about it."""
    room = max((float(part.max()) for part in goal.margins), default=0.0)
    if confidence is not None and not goal.as_ratio and 2 * room > goal.within:
        return (
            f"there are too few people to promise a gap of at most {goal.within:g} with {100 * confidence:g} % "
            f"confidence: in the smallest group a rate may be off by {room:.3g}. Widen within= to {2 * room:.3g} or "
            "more, or bring more people."
        )
    remedy = "widen within=, or lower the floors" if randomised else "widen within=, or pass randomised=True"
    return f"no cutoffs keep this in every group: {remedy}."


# --- what comes of it ------------------------------------------------------------------------------------------------


def _common(cube: Cube, options: Sequence[Options], gain: Floats) -> tuple[float, list[tuple[float, float]]]:
    """One cutoff for everyone, the audited one or else the best, and the (tp, fp) it selects in each group."""
    reading = cube.scores.reading if cube.scores is not None else None
    cutoff = None if reading is None else reading.cutoff
    if cutoff is None:
        every = np.unique(np.concatenate([each.cutoffs for each in options]))
        total = np.zeros(len(every))
        for each in options:
            total += each.count(gain)[np.searchsorted(each.cutoffs, every)]
        cutoff = float(every[int(total.argmax())])
    places = [int(np.searchsorted(each.cutoffs, cutoff)) for each in options]
    counts = [(float(each.tp[place]), float(each.fp[place])) for each, place in zip(options, places, strict=True)]
    mirror = None if reading is None else reading.mirror
    return cutoff if mirror is None else mirror - cutoff, counts


def _measures(each: Options, tp: float, fp: float) -> dict[str, float]:
    cells = np.zeros((1, len(CELLS)))
    cells[0, [CELLS.index(name) for name in _CELLS]] = each.negatives - fp, fp, each.positives - tp, tp
    found = evaluate(cells, [MEASURES[name] for name in SHOWN])
    return {name: float(values[0]) for name, values in found.items()}


def _worth(each: Options, gain: Floats, tp: float, fp: float) -> float:
    chosen = replace(each, cutoffs=np.zeros(1), tp=np.array([tp]), fp=np.array([fp]))
    return float(chosen.count(gain)[0])


def _mean(options: Sequence[Options], choice: solver.Choice, gain: Floats) -> float:
    worth = sum(
        float(weights @ each.count(gain)[places])
        for each, places, weights in zip(options, choice.places, choice.weights, strict=True)
    )
    return worth / sum(each.positives + each.negatives for each in options)


def _notes(cube: Cube, options: Sequence[Options], goal: solver.Goal, confidence: float | None) -> tuple[str, ...]:
    notes = []
    for measure in goal.measures:
        empty = [spell(each.group) for each in options if np.isnan(each.values(measure)).all()]
        if empty:
            notes.append(f"There are no {measure.empty} among {listing(empty)}: nothing constrains their cutoff.")
    if cube.scores is not None and not cube.scores.bins.exact:
        notes.append(f"Cutoffs are edges of {cube.scores.bins.count:,} bins; resolution='exact' tries every score.")
    unlabelled = int(cube.n[:, 2].sum())
    if unlabelled:
        notes.append(f"{unlabelled:,} people have no label and were not used to choose the cutoffs.")
    if confidence is None and goal.measures:
        notes.append(_ON_THE_SAMPLE)
    elif goal.measures:
        notes.append(f"With {100 * confidence:g} % confidence the constraint holds beyond these people too.")  # type: ignore[operator]
    return tuple(notes)
