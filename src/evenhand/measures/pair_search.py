"""Of many points in a metric space: the distances of the pairs that can matter, without measuring the others.

Two points are no farther apart than both are from a third (the triangle inequality). So the distances of all points
from a few of them, the pivots, bound the distance of every pair. A pair is measured only where its bound lets it be the
farthest of one of its points, or the pair whose lower or upper end is largest; the result is that of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices

Apart = Callable[[int, Indices], Floats]
"""The distances of one point from some others."""

_PIVOTS = 12
_ROUNDING = 1 + 1e-9


def every_pair(apart: Apart, points: int) -> Floats:
    """The distance of every pair, [points, points]; NaN of a point from itself."""
    values = np.full((points, points), np.nan)
    _measure(values, apart, np.triu(np.ones((points, points), bool), 1))
    return values


def deciding_pairs(apart: Apart, centre: Floats, near: Floats, far: Floats, most: float) -> Floats:
    """As `every_pair`, with NaN for pairs that decide nothing.

    What is in it: the point that is farthest from each, and the pairs with the largest lower end (the distance less
    `near`, at least 0) and the largest upper end (the distance and `far`, at most `most`); of equals the first.

    Parameters
    ----------
    apart
        The distances of one point from some others.
    centre
        The distance of every point from one that lies among them.
    near, far
        How far the ends of every pair lie below and above its distance, [points, points].
    most
        The largest upper end.
    """
    values, bounds = _from_pivots(apart, centre)
    lower, upper = np.maximum(values - near, 0.0), np.minimum(values + far, most)
    can = bounds >= np.fmax.reduce(values, axis=1, keepdims=True)
    can |= can.T
    can |= np.maximum(bounds - near, 0.0) >= max(np.fmax.reduce(lower, axis=None), _LEAST)
    highest = np.fmax.reduce(upper, axis=None)
    if highest < most:
        can |= bounds + far >= highest
    _measure(values, apart, _open(values) & can)
    if highest >= most:
        _measure_first(values, apart, bounds + far >= most, far, most)
    return values


def _from_pivots(apart: Apart, centre: Floats) -> tuple[Floats, Floats]:
    """The distances from the pivots, and bounds of all others; each pivot is the point farthest from those before."""
    points = len(centre)
    values, bounds, everyone = np.full((points, points), np.nan), centre[:, None] + centre, np.arange(points)
    nearest, pivot = np.full(points, np.inf), int(np.argmax(centre))
    for _ in range(min(_PIVOTS, points)):
        measured = apart(pivot, everyone)
        np.minimum(bounds, measured[:, None] + measured, out=bounds)
        np.minimum(nearest, measured, out=nearest)
        measured[pivot] = np.nan
        values[pivot] = values[:, pivot] = measured
        pivot = int(np.argmax(nearest))
    return values, bounds * _ROUNDING


def _open(values: Floats) -> Bools:
    """The pairs that are not measured yet, each once."""
    return np.triu(np.isnan(values), 1)


def _measure(values: Floats, apart: Apart, wanted: Bools) -> None:
    for i in np.flatnonzero(wanted.any(axis=1)).tolist():
        others = np.flatnonzero(wanted[i])
        values[i, others] = values[others, i] = apart(i, others)


def _measure_first(values: Floats, apart: Apart, can: Bools, far: Floats, most: float) -> None:
    """Measure until the first pair is known of those whose upper end is cut at `most`, which may be nearly all."""
    left = _open(values) & can
    for i in range(len(values)):
        others = np.flatnonzero(left[i])
        if len(others):
            values[i, others] = values[others, i] = apart(i, others)
        if (values[i, i + 1 :] + far[i, i + 1 :] >= most).any():
            return


_LEAST = float(np.finfo(np.float64).tiny)  # a lower end of 0 decides nothing
