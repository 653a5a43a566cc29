"""Counterfactual fairness, the public functions: would the same people be predicted differently in another group?

`counterfactual_fairness` moves people with a causal model, `flip_test` changes only the attribute's column, and
`decompose` splits an observed gap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.catalogue import METRICS
from evenhand.core import frames
from evenhand.core.arguments import checked, fits
from evenhand.core.arrays import Floats, Ints
from evenhand.core.quantities import MOST_REFITS, check_processes, check_whole, shown
from evenhand.core.results import Caller, Estimate, Finding, Row, Verdict, spell
from evenhand.counterfactual import changes, confounding, decomposition, residual_checks, text
from evenhand.counterfactual.changes import Ends, PredictionChanges, Subject, World
from evenhand.counterfactual.columns import names_of, read_nodes, row_count
from evenhand.counterfactual.decomposition import GapSplit
from evenhand.counterfactual.groups import People, group_people
from evenhand.counterfactual.invariant import InvariantPredictor
from evenhand.counterfactual.mechanisms import Equation
from evenhand.counterfactual.model import CausalModel, FittedModel, fitted_model, read_rows
from evenhand.counterfactual.predictor import Predictor
from evenhand.counterfactual.refits import resampled
from evenhand.counterfactual.scale import by_range, to_scale
from evenhand.errors import CallError, Problems, nearest, shorten
from evenhand.sources.documentation import documented
from evenhand.sources.features import Columns
from evenhand.sources.spelling import spelling
from evenhand.verdicts.finding import on_value
from evenhand.verdicts.index_finding import ValueResult, deciding_pair
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request
from evenhand.verdicts.verdict import verdict

__all__ = [
    "CausalModel",
    "Equation",
    "InvariantPredictor",
    "GapSplit",
    "counterfactual_fairness",
    "decompose",
    "flip_test",
]


REFITS, NOISE_DRAWS = 200, 10
_MOST_NOISE_DRAWS = 10_000

FLIP_WARNING = (
    "Only the column of the attribute was changed, and its effects on other columns were left as they are: the test "
    "does not see them. counterfactual_fairness() follows the causes."
)


@documented
@checked
def counterfactual_fairness(
    predict: Any,
    data: Any,
    model: Any,
    *,
    sensitive: str | Sequence[str],
    features: Sequence[str] | None = None,
    cutoff: float | None = None,
    positive: Any = None,
    threshold: float | None = None,
    reference: Any = None,
    refits: int = REFITS,
    noise_draws: int = NOISE_DRAWS,
    confidence: float | None = None,
    min_group_size: int | None = None,
    policy: Policy | str | Path | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Finding:
    """How far predictions change when people are moved to another group, together with the effects of that group.

    Parameters
    ----------
    predict
        A fitted model, or a function that takes a table and returns a value for each row.
    data
        A table in memory, with every node of the graph and every column that `predict` needs.
    model
        A CausalModel, or what makes one (edges, DOT text, a networkx or dowhy.gcm model). One that is not fitted
        is fitted to `data`.
    sensitive
        The attribute to change, or several to change together.
    features
        The columns that are passed to `predict`; by default those a fitted model names, or all.
    cutoff
        Numbers at or above it are positive decisions; then the share of decisions that flip is judged. Without
        it, how far numbers change is judged.
    positive
        The favourable class, where `predict` returns classes; without it, any other class is a flip. Spelled
        as everywhere: 1, 1.0, "1" and True are one value. It must be among the answers of `predict`.
    threshold
        The largest mean size of a change that is tolerated, for any pair of groups. By default 0.1 for
        decisions and probabilities, for other numbers a tenth of the range that holds 95 % of the predictions.
    reference
        The group to which the gap of each other is split; the largest one by default.
    refits
        How often the model is fitted again to resampled rows, for the intervals; 0 takes it as known.
    noise_draws
        How often the noise of categories is drawn, where the attribute causes some.
    confidence
        Of the intervals.
    min_group_size
        Smaller groups cannot support a pass.
    policy
        Thresholds, confidence and seed, where they are not passed here.
    random_state
        The seed of resamples, draws and checks.
    n_jobs
        Processes that share the refits (joblib); None is one.

    >>> rows = {"group": ["a", "b"] * 50, "score": [float(i % 7 + 2 * (i % 2)) for i in range(100)]}
    >>> model = CausalModel([("group", "score")]).fit(rows)
    >>> found = counterfactual_fairness(lambda table: table["score"], rows, model, sensitive="group", threshold=1.0)
    >>> found.verdict, round(found.value.value, 2)
    ('fail', 2.02)
    """
    request = _request("counterfactual_fairness", policy, threshold, confidence, min_group_size, random_state)
    _check_work(refits, noise_draws, n_jobs)
    subject, world = _moved_by_causes(
        predict, data, model, sensitive, (features, cutoff, positive), request, noise_draws
    )
    learned = _learned(world)
    measured = changes.measure(subject, world)
    baseline = _baseline(subject.people, reference)
    trial = _Refits(subject, world, measured, baseline)
    drawn = trial.run(refits, request.policy.random_state, n_jobs)
    ends = changes.ends(
        measured, None if drawn is None else drawn.distances, trial.learned_from, request.policy.confidence
    )
    request = to_scale(request, measured, explicit=threshold is not None)
    checks = residual_checks.check(learned, subject.rows, request.policy.random_state)
    concluded = _concluded(request, subject, measured, ends, text.FOLLOWED)
    notes = [
        *concluded.notes,
        *_of_refits(drawn, refits),
        *by_range(request, measured, threshold),
        *residual_checks.notes(checks),
    ]
    notes += _of_graph(data, learned, subject.people)
    if (tip := _tipping(request, subject, world, measured, ends, concluded.verdict)) is not None:
        notes.insert(0, confounding.sentence(tip))
    shown = text.panels(measured, ends, learned.graph, checks)
    if measured.kind != "class":
        views = trial.views(measured)
        parts = None if drawn is None else drawn.parts
        split = decomposition.splits(subject.people, baseline, views, parts, request.policy.confidence)
        shown = (decomposition.panel(split), *shown)
        notes.insert(0, decomposition.note(split))
    settings = {**concluded.settings, "refits": 0 if drawn is None else refits, "noise_draws": world.draws}
    caller = Caller(frames.kind_of(data))
    return replace(concluded, notes=tuple(notes), panels=shown, settings=settings, caller=caller)


@documented(like=counterfactual_fairness)
@checked
def flip_test(
    predict: Any,
    data: Any,
    *,
    sensitive: str | Sequence[str],
    features: Sequence[str] | None = None,
    cutoff: float | None = None,
    positive: Any = None,
    threshold: float | None = None,
    confidence: float | None = None,
    min_group_size: int | None = None,
    policy: Policy | str | Path | None = None,
) -> Finding:
    """How far predictions change when only the attribute's column is changed. Its effects on others are ignored.

    >>> rows = {"group": ["a", "b"] * 50, "score": [float(i % 7) for i in range(100)]}
    >>> flip_test(lambda table: table["score"], rows, sensitive="group").verdict
    'pass'
    """
    request = _request("flip_test", policy, threshold, confidence, min_group_size, None)
    attributes = _attributes(sensitive)
    rows = read_nodes(data, attributes)
    predictor = Predictor(predict, features, cutoff, positive)
    subject = Subject(predictor.needed(data), rows, group_people(rows, attributes), predictor)
    measured = changes.measure(subject, World(None))
    ends = changes.ends(measured, None, subject.people.sizes, request.policy.confidence)
    request = to_scale(request, measured, explicit=threshold is not None)
    concluded = _concluded(request, subject, measured, ends, text.FLIPPED)
    notes = (FLIP_WARNING, *concluded.notes, *by_range(request, measured, threshold))
    caller = Caller(frames.kind_of(data))
    return replace(concluded, notes=notes, panels=text.panels(measured, ends, None, ()), caller=caller)


@documented(like=counterfactual_fairness)
@checked
def decompose(
    predict: Any,
    data: Any,
    model: Any,
    *,
    sensitive: str | Sequence[str],
    features: Sequence[str] | None = None,
    cutoff: float | None = None,
    positive: Any = None,
    reference: Any = None,
    refits: int = REFITS,
    noise_draws: int = NOISE_DRAWS,
    confidence: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> tuple[GapSplit, ...]:
    """Split the gap of each group to a reference into its direct, indirect and spurious part.

    The parts of each group sum to its gap.

    Parameters
    ----------
    predict
        A model or function as in `counterfactual_fairness`, or the name of a node: then the gap in that column is
        split.
    reference
        The group to which the gap of each other is split; the largest one by default.

    Returns
    -------
    tuple[GapSplit, ...]
        For each other group its gap to the reference and the three parts, each with its interval.

    >>> rows = {"group": ["a"] * 3 + ["b"] * 2, "score": [1.0, 2, 3, 5, 7], "grade": [1.0, 2, 3, 6, 8]}
    >>> model = CausalModel([("group", "score"), ("score", "grade"), ("group", "grade")])
    >>> print(decompose("grade", rows, model, sensitive="group", refits=0)[0])
    a − b: -5, of which direct -1, indirect -4, spurious +0
    """
    request = _request("counterfactual_fairness", None, None, confidence, None, random_state)
    _check_work(refits, noise_draws, n_jobs)
    node = predict if isinstance(predict, str) else None
    if node is not None and (cutoff is not None or positive is not None):
        raise CallError("cutoff= and positive= are for a predict that is a function; the values of a node are numbers.")
    how = (features, cutoff, positive)
    function = (lambda table: np.zeros(row_count(table))) if node is not None else predict
    subject, world = _moved_by_causes(function, data, model, sensitive, how, request, noise_draws)
    learned, baseline = _learned(world), _baseline(subject.people, reference)
    if node is not None:
        learned.graph.check_nodes([node], "predict")
        moved = learned.graph.descendants(subject.people.attributes)
        if node in subject.people.attributes or subject.rows[node].categorical or learned.random & moved:
            raise CallError(
                f"the gap in {shorten(node)!r} cannot be split: it and all that the attribute causes must be numbers "
                "with additive noise. Pass a function as predict=."
            )
    few, places = subject.some(changes.MOST_REFITTED)
    if node is not None:
        whole = decomposition.node_views(learned, subject.rows, subject.people, baseline, node)
    else:
        whole = decomposition.predictor_views(subject, world, baseline)

    def again(by: FittedModel) -> Floats:
        if node is not None:
            views = decomposition.node_views(by, few.rows, few.people, baseline, node)
        else:
            moved = decomposition.predictions_moved(few, replace(world, learned=by), baseline)
            views = decomposition.Views(whole.before[places], whole.flipped[places], moved)
        return decomposition.parts(views, few.people, baseline)

    drawn = None
    if refits and learned.estimated(learned.graph.nodes):
        strata = group_people(_rows(learned), subject.people.attributes).codes
        seed = request.policy.random_state
        drawn = resampled(learned, strata, again, count=refits, random_state=seed, n_jobs=n_jobs)
    return decomposition.splits(subject.people, baseline, whole, drawn, request.policy.confidence)


# --- how they are computed


@dataclass(frozen=True)
class _Drawn:
    """Results of refits, [refit, groups, ...]: how far their changes differ from the model's, and the parts of gaps."""

    distances: Floats
    parts: Floats


class _Refits:
    """The changes of one predictor with the causal model refitted to resampled rows."""

    def __init__(self, subject: Subject, world: World, measured: PredictionChanges, baseline: int) -> None:
        self.world, self.baseline, self.learned = world, baseline, _learned(world)
        self.subject, places = subject.some(changes.MOST_REFITTED)
        self.measured = replace(
            measured,
            people=self.subject.people,
            before=measured.before.take(places),
            apart=measured.apart[:, :, places],
        )
        self.flipped = subject.predictor.answers(subject.acted[baseline]).values
        self.places = places
        groups = group_people(_rows(self.learned), subject.people.attributes)
        sizes = dict(zip(groups.names, groups.sizes, strict=True))
        self.strata, self.learned_from = groups.codes, np.array([sizes.get(name, 0) for name in subject.people.names])

    def run(self, count: int, random_state: int, n_jobs: int | None) -> _Drawn | None:
        moved = self.learned.graph.descendants(self.subject.people.attributes)
        if count == 0 or not self.learned.estimated(moved):
            return None
        groups = len(self.subject.people.names)

        def again(learned: FittedModel) -> Floats:
            refitted = changes.measure(self.subject, replace(self.world, learned=learned), self.measured.before)
            parts = decomposition.parts(self.views(refitted, self.places), self.subject.people, self.baseline)
            return np.concatenate([refitted.distance(self.measured), parts], axis=1)

        every = resampled(self.learned, self.strata, again, count=count, random_state=random_state, n_jobs=n_jobs)
        return _Drawn(every[:, :, :groups], every[:, :, groups:])

    def views(self, measured: PredictionChanges, places: Ints | None = None) -> decomposition.Views:
        flipped = self.flipped if places is None else self.flipped[places]
        moved = measured.before.values + measured.apart[self.baseline].mean(axis=0)
        return decomposition.Views(measured.before.values, flipped, moved)


def _moved_by_causes(
    predict: Any, data: Any, model: Any, sensitive: str | Sequence[str], how: Any, request: Request, noise_draws: int
) -> tuple[Subject, World]:
    """The people that are audited, and the model by which they are moved."""
    attributes = _attributes(sensitive)
    causal = model if isinstance(model, CausalModel) else CausalModel(model)
    causal.graph.check_nodes(attributes, "sensitive")
    learned = fitted_model(causal, data)
    rows = read_rows(causal, data, learned)
    learned = learned if learned.rows is not None else replace(learned, rows=rows)
    predictor = Predictor(predict, *how)
    subject = Subject(predictor.needed(data), rows, group_people(rows, attributes), predictor)
    several = not learned.random.isdisjoint(learned.graph.descendants(attributes))
    cells = max(len(subject.people.codes) * len(subject.people.names), 1)
    draws = max(1, min(noise_draws, changes.MOST_CELLS // cells)) if several else 1
    return subject, World(learned, draws, request.policy.random_state)


def _learned(world: World) -> FittedModel:
    assert world.learned is not None  # noqa: S101 - only a flip test has none
    return world.learned


def _rows(learned: FittedModel) -> Columns:
    assert learned.rows is not None  # noqa: S101 - set where people are moved
    return learned.rows


def _baseline(groups: People, reference: Any) -> int:
    """The position of the reference group; by default the largest group."""
    if reference is None:
        return int(groups.sizes.argmax())
    values = tuple(reference.get(name) for name in groups.attributes) if isinstance(reference, dict) else reference
    values = values if isinstance(values, (tuple, list)) else (values,)
    wanted = tuple(spelling(value) for value in values)
    if wanted not in groups.names:
        known = [spell(name) for name in groups.names]
        raise CallError(f"reference={shorten(repr(reference))} is not a group; {nearest(', '.join(wanted), known)}")
    return groups.names.index(wanted)


# --- how they are judged


def _request(
    name: str,
    policy: Policy | str | Path | None,
    threshold: float | None,
    confidence: float | None,
    min_group_size: int | None,
    random_state: int | None,
) -> Request:
    return make_request(
        METRICS[name],
        policy=policy,
        threshold=threshold,
        confidence=confidence,
        min_group_size=min_group_size,
        random_state=random_state,
    )


def _check_work(refits: Any, noise_draws: Any, n_jobs: Any) -> None:
    """Raise an error for counts that are not whole numbers, or that would run for ever."""
    problems = Problems()
    check_whole("refits", refits, 0, MOST_REFITS, problems, usual=f"; {REFITS} is usual")
    if fits(int, refits) and refits == 1:
        problems.add(
            f"refits=1 cannot show how much a fit varies: pass 2 or more, {REFITS} is usual; 0 for no interval."
        )
    check_whole("noise_draws", noise_draws, 1, _MOST_NOISE_DRAWS, problems, usual=f"; {NOISE_DRAWS} is usual")
    check_processes(n_jobs, problems, "--jobs")
    problems.raise_if_any(CallError)


def _attributes(sensitive: str | Sequence[str]) -> tuple[str, ...]:
    """The attributes to change, by name."""
    names = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive) if np.iterable(sensitive) else ()
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise CallError(f"sensitive={shown(sensitive)} must name one attribute or more, each once.")
    return names


def _concluded(request: Request, subject: Subject, measured: PredictionChanges, ends: Ends, how: str) -> Finding:
    """The finding of the pair of groups between which predictions change most."""
    groups, policy = subject.people, request.policy
    large = groups.sizes >= policy.min_group_size
    value, pairs = _judged(request, measured, ends, [pair for pair in groups.pairs if large[list(pair)].all()])
    failed = verdict(value, request.threshold) == "fail"
    left_out = [i for i, enough in enumerate(large.tolist()) if not enough]
    pair = deciding_pair((ends.low, np.where(np.isfinite(ends.far), ends.far, math.inf)), pairs, failed=failed)
    if request.threshold is None:
        pair = text.largest(measured)[0]
    evidence = Row(
        request.metric.name,
        groups.names[pair[0]],
        against=spell(groups.names[pair[1]]),
        n=int(groups.sizes[pair[0]]),
        n_against=int(groups.sizes[pair[1]]),
        estimate=_of_pair(measured, ends, pair, value),
    )
    farthest = text.largest(measured)[0]
    result = ValueResult(
        value,
        text.leaving_out(
            text.sentence(measured, evidence, request, verdict(value, request.threshold), how),
            [groups.shown(i) for i in left_out] if verdict(value, request.threshold) == "pass" else [],
            policy.min_group_size,
        ),
        Row(request.metric.name, groups.names[farthest[0]], against=spell(groups.names[farthest[1]])),
        text.rows(measured, ends),
        text.small_note(groups, policy.min_group_size),
        unit=text.unit(measured),
        p_value=ends.p_value,
        tested=None if ends.p_value is None else "refits of the causal model",
        evidence=evidence,
        left_out=[spell(groups.names[i]) for i in left_out],
    )
    return on_value(request, groups.attributes, result)


def _judged(
    request: Request, measured: PredictionChanges, ends: Ends, large: list[tuple[int, int]]
) -> tuple[Estimate, list[tuple[int, int]]]:
    """The value that is judged, and the pairs of groups that may decide: for a pass only pairs of large groups."""
    every = list(measured.people.pairs)
    size, low = float(np.nanmax(_of_pairs(measured.size, every))), float(np.nanmax(ends.low))
    far = np.where(np.isfinite(ends.far), ends.far, math.inf)
    if large:
        value = Estimate(size, low, max(size, float(np.max(_of_pairs(far, large)))))
        if verdict(value, request.threshold) == "pass":
            return value, large
    value = Estimate(size, low, max(size, float(np.nanmax(_of_pairs(far, every)))))
    if verdict(value, request.threshold) == "pass":  # no two groups are large enough, so nothing bounds the change
        value = replace(value, high=math.inf if measured.kind == "number" else 1.0)
    return value, every


def _of_pair(measured: PredictionChanges, ends: Ends, pair: tuple[int, int], value: Estimate) -> Estimate:
    """The change between two groups with the ends that decide."""
    size = float(measured.size[pair])
    far = float(ends.far[pair]) if np.isfinite(ends.far[pair]) else math.inf
    unbounded = value.high is not None and value.high >= (math.inf if measured.kind == "number" else 1.0)
    return Estimate(size, min(size, float(ends.low[pair])), value.high if unbounded else max(size, far))


def _of_pairs(values: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    return np.array([values[pair] for pair in pairs])


def _tipping(
    request: Request, subject: Subject, world: World, measured: PredictionChanges, ends: Ends, verdict: Verdict
) -> confounding.Tipping | None:
    if request.threshold is None:
        return None
    margins = measured.size - ends.low, ends.far - measured.size
    return confounding.tipping(subject, world, measured, margins, request.threshold, verdict)


def _of_refits(drawn: _Drawn | None, refits: int) -> list[str]:
    if drawn is not None:
        return [
            f"Intervals from {refits:,} refits of the causal model to resampled rows, and from the sampling of people."
        ]
    if refits:
        return ["No mechanism that moves people was estimated, so the intervals cover the sampling of people alone."]
    return ["The mechanisms are taken as known (refits=0): the intervals cover the sampling of people alone."]


def _of_graph(data: Any, learned: FittedModel, groups: People) -> list[str]:
    rows = _rows(learned)
    numeric = [
        name
        for name in groups.attributes
        if rows[name].levels is None and len(np.unique(rows[name].values)) > 2 and learned.graph.children(name)
    ]
    return text.graph_notes(learned.graph, groups, names_of(data), numeric)
