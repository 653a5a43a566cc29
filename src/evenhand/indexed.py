"""Findings of metrics that are an index over everyone, with intervals from draws of the cells."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evenhand import drawn, wording
from evenhand.bounds import TOLERANCE
from evenhand.cube import Cube
from evenhand.findings import Estimate, Finding, Group, Row, Verdict, spell
from evenhand.indices import INDICES, Index
from evenhand.inference import simultaneous, spread
from evenhand.measures import MEASURES
from evenhand.policy import Policy, Request
from evenhand.scoreindices import SCORE_INDICES
from evenhand.scoremeasures import Binned

Floats = npt.NDArray[np.float64]

_LABELLED, _DECIDED = slice(0, 4), slice(0, 6)  # of the cells: those with a label and a decision; those decided


def finding(asked: Request, cube: Cube) -> Finding:
    """The index over everyone, its parts, and its value in each group."""
    if asked.metric.index in SCORE_INDICES:
        return _distances(asked, cube)
    metric = asked.metric
    whole = cube.marginal(control=False)
    cells = _LABELLED
    if metric.index == "differential_fairness":
        whole, cells = whole.named(), _DECIDED
    function = INDICES[str(metric.index)]
    index = function(whole.cells, **asked.options)
    names = list(index.parts)

    def statistic(cells: Floats) -> Floats:
        found = function(cells, **asked.options)
        return np.concatenate([np.stack([found.value, *found.parts.values()], axis=-1), found.by_group], axis=-1)

    if metric.index == "differential_fairness":
        low, high = _largest_log_ratio(whole, asked.policy, index)
    else:
        low, high, _ = drawn.interval(statistic, whole, asked.policy)
    rows = [
        Row(
            metric.name,
            group,
            n=int(n),
            estimate=_estimate(value, low[1 + len(names) + i], high[1 + len(names) + i]),
            reason=index.reason if math.isnan(value) else None,
        )
        for i, ((_, group), n, value) in enumerate(
            zip(whole.pairs, whole.counts[:, cells].sum(axis=1), index.by_group, strict=True)
        )
    ]
    rows += [
        Row(
            name,
            (),
            n=int(whole.counts[:, cells].sum()),
            estimate=_estimate(index.parts[name], low[1 + i], high[1 + i]),
            reason=index.reason if math.isnan(index.parts[name]) else None,
        )
        for i, name in enumerate(names)
    ]
    value = _estimate(index.value, low[0], high[0])
    passes = None if asked.threshold is None or not value.defined else value.value <= asked.threshold + TOLERANCE
    return Finding(
        metric.name,
        metric.title,
        cube.meaning.sensitive,
        value,
        "value",
        asked.threshold,
        passes,
        _verdict(value, asked.threshold),
        _sentence(asked, index, passes),
        _extremes(metric.name, whole, index),
        tuple(rows),
        (f"Rows of this finding: the {index.title}.", *_strata_note(cube)),
        settings={"interval": _method(asked), "confidence": asked.policy.confidence, "draws": asked.policy.draws,
                  "random_state": asked.policy.random_state, **asked.options},
    )  # fmt: skip


def _distances(asked: Request, cube: Cube) -> Finding:
    """An index that is a distance for every pair of groups; the largest is judged."""
    metric = asked.metric
    whole = cube.marginal(control=False)
    named = [i for i, (_, group) in enumerate(whole.pairs) if None not in group]
    place = np.full(len(whole.pairs), -1, dtype=np.intp)
    place[named] = np.arange(len(named))
    assert whole.scores is not None  # noqa: S101 - the roles were checked
    table = whole.scores.regroup(place)
    groups = [whole.pairs[i][1] for i in named]
    found = SCORE_INDICES[str(metric.index)](Binned.of(table, len(groups)), asked.policy)
    pairs = [(i, j) for i in range(len(groups)) for j in range(len(groups)) if metric.index == "cross_auc" or i < j]
    rows = [
        Row(
            metric.name,
            groups[i],
            against=spell(groups[j]),
            estimate=_estimate(found.values[i, j], found.low[i, j], found.high[i, j]),
        )
        for i, j in pairs
    ]
    value = _estimate(*found.worst)
    passes = None if asked.threshold is None or not value.defined else value.value <= asked.threshold + TOLERANCE
    summary = _farthest(metric.name, found.values, groups, pairs)
    note = (
        "Exact: every score is a bin of its own."
        if table.bins.exact
        else f"From {table.bins.count:,} bins of the score; within {found.error:.2g} of the exact value."
    )
    sentence = f"{metric.title} is undefined: fewer than two groups have scores with what it needs."
    if value.defined:
        ending = wording.reach((found.worst[1], found.worst[2]), asked.policy.confidence, "value", "score")
        ending += wording.bound(asked.threshold, passes, "value", "ratio")
        sentence = f"The largest {found.title} is {value.value:.3g}{ending}."
        if metric.index != "cross_auc" and summary.against is not None:
            sentence = f"{sentence[:-1]}, between {spell(summary.group)} and {summary.against}."
        elif metric.index == "cross_auc":
            sentence = f"The values of the {found.title} differ by up to {value.value:.3g}{ending}."
    settings: dict[str, object] = {
        "confidence": asked.policy.confidence,
        "random_state": asked.policy.random_state,
        **asked.options,
    }
    return Finding(
        metric.name,
        metric.title,
        cube.meaning.sensitive,
        value,
        "value",
        asked.threshold,
        passes,
        _verdict(value, asked.threshold),
        sentence,
        summary,
        tuple(rows),
        (note, *_strata_note(cube)),
        unit="score",
        settings=settings,
    )


def _farthest(name: str, values: Floats, groups: list[Group], pairs: list[tuple[int, int]]) -> Row:
    defined = [pair for pair in pairs if not np.isnan(values[pair])]
    if not defined:
        return Row(name, ())
    i, j = max(defined, key=lambda pair: values[pair])
    return Row(name, groups[i], against=spell(groups[j]))


def _largest_log_ratio(cube: Cube, policy: Policy, index: Index) -> tuple[Floats, Floats]:
    """Draws fail where no group differs; the interval of the ratio between extremes, for both outcomes, does not."""
    rates = spread.of(MEASURES["selection_rate"], cube.cells, cube.squares)
    assert isinstance(rates, spread.Proportions)  # noqa: S101 - the selection rate is a plain proportion
    refused = spread.Proportions(rates.n - rates.k, rates.n, rates.form)
    usable = np.array([[None not in group for _, group in cube.pairs]])
    ends = []
    for part, value in zip((rates, refused), index.parts.values(), strict=True):
        near = simultaneous.between_extremes([part], usable, math.sqrt(policy.confidence)).ratio
        with np.errstate(divide="ignore"):
            ends.append((min(-np.log(near[1]), value), max(-np.log(near[0]), value)))
    own = simultaneous.own(rates, policy.confidence)
    low = [max(end[0] for end in ends), *(end[0] for end in ends), *np.fmin(own[0], index.by_group)]
    high = [max(end[1] for end in ends), *(end[1] for end in ends), *np.fmax(own[1], index.by_group)]
    return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)


def _strata_note(cube: Cube) -> tuple[str, ...]:
    return ("Computed over all strata together.",) if cube.meaning.control else ()


def _method(asked: Request) -> str:
    if asked.metric.index == "differential_fairness":
        return "simultaneous"
    return asked.policy.interval if asked.policy.uses_draws else "percentile"


def _estimate(value: Floats | float, low: float, high: float) -> Estimate:
    if math.isnan(float(value)) or math.isnan(low) or math.isnan(high):
        return Estimate(float(value))
    return Estimate(float(value), float(low), float(high))


def _verdict(value: Estimate, threshold: float | None) -> Verdict:
    if threshold is None or value.low is None or value.high is None:
        return "not judged"
    if value.low > threshold + TOLERANCE:
        return "fail"
    return "pass" if value.high <= threshold + TOLERANCE else "inconclusive"


def _sentence(asked: Request, index: Index, passes: bool | None) -> str:
    title, value = asked.metric.title, float(index.value)
    if math.isnan(value):
        return f"{title} is undefined: {index.reason}."
    ending = wording.bound(asked.threshold, passes, "value", "ratio")
    return wording.index(title, value, [(name, float(part)) for name, part in index.parts.items()], ending)


def _extremes(name: str, cube: Cube, index: Index) -> Row:
    values = index.by_group
    if np.isnan(values).all():
        return Row(name, ())
    high, low = int(np.nanargmax(values)), int(np.nanargmin(values))
    return Row(name, cube.pairs[high][1], against=spell(cube.pairs[low][1]))
