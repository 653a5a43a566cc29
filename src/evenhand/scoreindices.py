"""Distances between the score distributions and ROC curves of groups, for every pair, with honest intervals.

A distance between samples is never 0, even where the truth is. All of these are distances in the strict sense, so the
triangle inequality bounds the error: the estimate is off by no more than how far each group's sample lies from its
own truth, and that is what resampling the group from itself measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand import curves
from evenhand.inference import critical, simultaneous
from evenhand.inference.spread import Logit
from evenhand.policy import Policy
from evenhand.scoremeasures import NEGATIVE, POSITIVE, Binned
from evenhand.sources.bins import GRID

Floats = npt.NDArray[np.float64]
Distance = Callable[[Floats, Floats, Floats], float]

_DRAWS = 200


@dataclass(frozen=True)
class Distances:
    """The distance of every pair of groups, [groups, groups], with both ends; NaN where there is none."""

    values: Floats
    low: Floats
    high: Floats
    worst: tuple[float, float, float]
    title: str
    error: float = 0.0
    """How far a value may be off because scores within a bin are not told apart."""


def ks(data: Binned, policy: Policy) -> Distances:
    """The largest distance between two cumulative distributions."""
    found = _between(data, policy, "Kolmogorov-Smirnov distance", lambda a, b, _: curves.ks(a[0], b[0]), labels=False)
    everyone = _cells(data, labels=False)[:, 0]
    share = everyone.max(axis=1) / np.maximum(everyone.sum(axis=1), 1)
    return replace(_capped(found), error=float(share.max()))


def wasserstein(data: Binned, policy: Policy) -> Distances:
    """How far scores must move, on average, to turn one distribution into the other."""
    found = _between(
        data, policy, "Wasserstein distance", lambda a, b, places: curves.wasserstein(a[0], b[0], places), labels=False
    )
    bins = data.reading.bins
    return replace(found, error=(bins.high - bins.low) / GRID)


def abroca(data: Binned, policy: Policy) -> Distances:
    """The area between two ROC curves."""

    def area(a: Floats, b: Floats, _: Floats) -> float:
        return curves.area_between(curves.roc(a[1], a[0]), curves.roc(b[1], b[0]))

    found = _between(data, policy, "area between ROC curves", area, labels=True)
    off = curves.auc_error(data.of_label(POSITIVE), data.of_label(NEGATIVE))
    return replace(_capped(found), error=2 * float(np.nan_to_num(off).max()))


def cross_auc(data: Binned, policy: Policy) -> Distances:
    """P(a positive of the first group scores higher than a negative of the second), for every two groups.

    The worst is the largest gap between any two of these.
    """
    positives, negatives = data.of_label(POSITIVE), data.of_label(NEGATIVE)
    values = curves.cross_auc(positives, negatives)
    groups = len(values)
    first, second = np.repeat(np.arange(groups), groups), np.tile(np.arange(groups), groups)
    p, n = positives[first], negatives[second]
    variance = np.fmax(curves.auc_variance(p, n), curves.auc_floor(values.reshape(-1), p.sum(axis=1), n.sum(axis=1)))
    spread = Logit(values.reshape(-1), np.sqrt(variance), np.minimum(p.sum(axis=1), n.sum(axis=1)))
    low, high = simultaneous.own(spread, policy.confidence)
    there = np.isfinite(spread.values)
    ends = simultaneous.between_extremes([spread], there[None, :], policy.confidence).difference
    gap = float(np.nanmax(values) - np.nanmin(values)) if there.sum() > 1 else np.nan
    shape = values.shape
    off = float(np.nan_to_num(curves.auc_error(p, n)).max())
    return Distances(values, low.reshape(shape), high.reshape(shape), (gap, *ends), "cross-group AUC", 2 * off)


def _between(data: Binned, policy: Policy, title: str, distance: Distance, *, labels: bool) -> Distances:
    cells = _cells(data, labels)
    groups = len(cells)
    usable = (cells.sum(axis=-1) > 0).all(axis=-1)
    errors = _own_errors(cells, data.places, policy, distance, usable)
    values, low, high = (np.full((groups, groups), np.nan) for _ in range(3))
    for i in np.flatnonzero(usable):
        for j in np.flatnonzero(usable):
            if i < j:
                value = distance(cells[i], cells[j], data.places)
                reach = errors[i] + errors[j]
                values[i, j] = values[j, i] = value
                low[i, j] = low[j, i] = max(0.0, value - reach)
                high[i, j] = high[j, i] = value + reach
    if np.isnan(values).all():
        return Distances(values, low, high, (np.nan, np.nan, np.nan), title)
    worst = float(np.nanmax(values)), float(np.nanmax(low)), float(np.nanmax(high))
    return Distances(values, low, high, worst, title)


def _capped(found: Distances) -> Distances:
    """A distance that cannot exceed 1."""
    value, low, high = found.worst
    return replace(found, high=np.minimum(found.high, 1.0), worst=(value, low, min(high, 1.0)))


def _cells(data: Binned, labels: bool) -> Floats:
    """People by bin: [groups, 1, bins], or [groups, (negative, positive), bins]."""
    if labels:
        return np.stack([data.of_label(NEGATIVE), data.of_label(POSITIVE)], axis=1)
    everyone = np.stack([data.of_label(label) for label in range(3)], axis=1)
    return np.asarray(everyone.sum(axis=1, keepdims=True))


def _own_errors(
    cells: Floats, places: Floats, policy: Policy, distance: Distance, usable: npt.NDArray[np.bool_]
) -> Floats:
    """How far a sample of each group is expected to lie from its truth, at the confidence that all pairs need."""
    random = np.random.default_rng(policy.random_state)
    z = critical.upper((1 - policy.confidence) / (2 * max(int(usable.sum()), 1)))
    errors = np.full(len(cells), np.nan)
    for i in np.flatnonzero(usable):
        drawn = np.empty(_DRAWS)
        people = np.maximum(np.rint(cells[i].sum(axis=-1)), 1).astype(np.int64)
        shares = cells[i] / cells[i].sum(axis=-1, keepdims=True)
        for k in range(_DRAWS):
            drawn[k] = distance(random.multinomial(people, shares).astype(np.float64), cells[i], places)
        errors[i] = drawn.mean() + z * drawn.std(ddof=1)
    return errors


SCORE_INDICES: dict[str, Callable[[Binned, Policy], Distances]] = {
    "ks": ks,
    "wasserstein": wasserstein,
    "abroca": abroca,
    "cross_auc": cross_auc,
}
