"""Findings of metrics that are an index over everyone, with intervals from draws of the cells."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.results import Finding, Row, spell
from evenhand.cube.cube import Cube
from evenhand.inference import simultaneous
from evenhand.inference.spread import Proportions
from evenhand.measures import cells as measures
from evenhand.measures.cells import MEASURES
from evenhand.measures.entropy import INDICES, Index
from evenhand.verdicts import sentences, valued
from evenhand.verdicts.bounds import draws
from evenhand.verdicts.distance_finding import FINDERS
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request

_LABELLED, _DECIDED = slice(0, 4), slice(0, 6)  # of the cells: those with a label and a decision; those decided


def finding(asked: Request, cube: Cube) -> Finding:
    """The index over everyone, its parts, and its value in each group."""
    metric = asked.metric
    if metric.index in FINDERS:
        return FINDERS[metric.index](asked, cube)
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
        low, high = draws.interval(statistic, whole, asked.policy)
    rows = [
        Row(
            metric.name,
            group,
            n=int(n),
            estimate=valued.estimate(value, low[1 + len(names) + i], high[1 + len(names) + i]),
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
            estimate=valued.estimate(index.parts[name], low[1 + i], high[1 + i]),
            reason=index.reason if math.isnan(index.parts[name]) else None,
        )
        for i, name in enumerate(names)
    ]
    value = valued.estimate(index.value, low[0], high[0])
    settings = {"interval": _method(asked), "draws": asked.policy.draws}
    return valued.conclude(
        asked,
        cube,
        value,
        _sentence(asked, index, valued.passes(value, asked.threshold)),
        _extremes(metric.name, whole, index),
        rows,
        [f"Rows of this finding: the {index.title}."],
        settings=settings,
    )


def _largest_log_ratio(cube: Cube, policy: Policy, index: Index) -> tuple[Floats, Floats]:
    """Draws fail where no group differs; the interval of the ratio between extremes, for both outcomes, does not."""
    rates = measures.spread(MEASURES["selection_rate"], cube.cells, cube.squares)
    assert isinstance(rates, Proportions)  # noqa: S101 - the selection rate is a plain proportion
    refused = Proportions(rates.n - rates.k, rates.n, rates.form)
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


def _method(asked: Request) -> str:
    if asked.metric.index == "differential_fairness":
        return "simultaneous"
    return asked.policy.interval if asked.policy.uses_draws else "percentile"


def _sentence(asked: Request, index: Index, passes: bool | None) -> str:
    title, value = asked.metric.title, float(index.value)
    if math.isnan(value):
        return f"{title} is undefined: {index.reason}."
    ending = sentences.bound(asked.threshold, passes, "value", "ratio")
    return sentences.index(title, value, [(name, float(part)) for name, part in index.parts.items()], ending)


def _extremes(name: str, cube: Cube, index: Index) -> Row:
    values = index.by_group
    if np.isnan(values).all():
        return Row(name, ())
    high, low = int(np.nanargmax(values)), int(np.nanargmin(values))
    return Row(name, cube.pairs[high][1], against=spell(cube.pairs[low][1]))
