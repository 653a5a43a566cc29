"""Findings of metrics that are an index over everyone, with intervals from draws of the cells."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evenhand import drawn, wording
from evenhand.bounds import TOLERANCE
from evenhand.cube import Cube
from evenhand.findings import Estimate, Finding, Row, Verdict, spell
from evenhand.indices import INDICES, Index
from evenhand.inference import simultaneous, spread
from evenhand.inference.simultaneous import Ends
from evenhand.measures import MEASURES
from evenhand.policy import Policy, Request

Floats = npt.NDArray[np.float64]


def finding(asked: Request, cube: Cube) -> Finding:
    """The index over everyone, its parts, and its value in each group."""
    metric = asked.metric
    whole = cube.marginal(control=False)
    function = INDICES[str(metric.index)]
    index = function(whole.cells, **asked.options)
    names = list(index.parts)

    def statistic(cells: Floats) -> Floats:
        found = function(cells, **asked.options)
        return np.concatenate([np.stack([found.value, *found.parts.values()], axis=-1), found.by_group], axis=-1)

    low, high, _ = drawn.interval(statistic, whole, asked.policy)
    if metric.index == "differential_fairness":
        low, high = _largest_log_ratio(whole, asked.policy, index, low, high)
    rows = [
        Row(
            metric.name,
            group,
            n=int(n),
            estimate=_estimate(value, low[1 + len(names) + i], high[1 + len(names) + i]),
            reason=index.reason if math.isnan(value) else None,
        )
        for i, ((_, group), n, value) in enumerate(
            zip(whole.pairs, whole.counts.sum(axis=1), index.by_group, strict=True)
        )
    ]
    rows += [
        Row(name, (), n=whole.size, estimate=_estimate(index.parts[name], low[1 + i], high[1 + i]))
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
        (f"Rows of this finding: the {index.title}.",),
        settings={"interval": _method(asked), "confidence": asked.policy.confidence, "draws": asked.policy.draws,
                  "random_state": asked.policy.random_state, **asked.options},
    )  # fmt: skip


def _largest_log_ratio(cube: Cube, policy: Policy, index: Index, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Draws fail where no group differs; the interval of the ratio between extremes, for both outcomes, does not."""
    rates = spread.of(MEASURES["selection_rate"], cube.cells, cube.squares)
    if not isinstance(rates, spread.Proportions):
        return low, high
    refused = spread.Proportions(rates.n - rates.k, rates.n, rates.form)
    usable = np.array([[None not in group for _, group in cube.pairs]])
    share = math.sqrt(policy.confidence)
    both: list[Ends] = [simultaneous.between_extremes([part], usable, share) for part in (rates, refused)]
    for i, ends in enumerate(both):
        value = float(list(index.parts.values())[i])
        low[1 + i] = min(-math.log(ends.ratio[1]) if ends.ratio[1] > 0 else math.inf, value)
        high[1 + i] = max(-math.log(ends.ratio[0]) if ends.ratio[0] > 0 else math.inf, value)
    low[0], high[0] = low[1:3].max(), high[1:3].max()
    own = simultaneous.own(rates, policy.confidence)
    low[3:], high[3:] = np.fmin(own[0], index.by_group), np.fmax(own[1], index.by_group)
    return low, high


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
