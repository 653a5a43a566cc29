"""Critical values: how many standard errors an interval must reach so that all of a family hold together.

By quadrature over one normal variable. scipy.stats has the studentised range too, but importing it costs more
than a whole audit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from evenhand.core.arrays import Floats


def _nodes(panels: int, degree: int) -> tuple[Floats, Floats]:
    """The nodes and weights of a quadrature over [−1, 1], by Gauss and Legendre in panels of equal width.

    In panels, because a sharp peak is met as well, and because numpy finds the nodes of a high degree with threads on
    every core, which then wait for more to do in a busy loop.
    """
    x, weights = np.polynomial.legendre.leggauss(degree)
    middles = (2 * np.arange(panels) + 1) / panels - 1
    return (middles[:, None] + x / panels).reshape(-1), np.tile(weights / panels, panels)


_REACH = 8.5  # the normal density beyond this is below 1e-16
_NODES, _WEIGHTS = _nodes(8, 20)
_X = _REACH * _NODES
_DENSITY = _REACH * _WEIGHTS * np.exp(-(_X**2) / 2) / math.sqrt(2 * math.pi)


def upper(tail: float) -> float:
    """The normal deviate with that much probability above it.

    >>> round(upper(0.025), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(-ndtri(tail))


@lru_cache(maxsize=1024)
def tukey(groups: int, confidence: float) -> float:
    """For all pairs of groups: the studentised range with known variance, over √2.

    >>> round(tukey(2, 0.95), 3), round(tukey(5, 0.95), 3)
    (1.96, 2.728)
    """
    if groups <= 2:  # of two, the range over √2 is the size of one normal variable
        return upper((1 - confidence) / 2)
    return _range_quantile(groups, confidence) / math.sqrt(2)


def beyond_tukey(groups: int, deviate: float) -> float:
    """The probability that some pair of groups lies farther apart than this, of which `tukey` is the inverse.

    Past 6 deviates it is the sum over all pairs, from which it differs by less than rounding.

    >>> round(beyond_tukey(5, tukey(5, 0.95)), 6)
    0.05
    """
    from scipy.special import ndtr

    pairs = float(groups * (groups - 1) * ndtr(-deviate))
    return pairs if deviate > 6 else min(pairs, 1 - _range_below(math.sqrt(2) * deviate, groups))


def _range_below(q: float, groups: int) -> float:
    """The probability that the range of so many normal variables is below q."""
    return float(groups * (_DENSITY * _within(q) ** (groups - 1)).sum())


def _within(q: float) -> Floats:
    """The probability that another normal variable lies at most q below each of the nodes, and not above it."""
    from scipy.special import ndtr

    return np.asarray(ndtr(_X) - ndtr(_X - q))


def _range_quantile(groups: int, confidence: float) -> float:
    """The q at which `_range_below` is the confidence: by Newton's steps from the limit of Bonferroni, which is never
    below it; by halving where a step leads astray."""
    q = math.sqrt(2) * upper((1 - confidence) / (groups * (groups - 1)))
    low, high = 0.0, q
    for _ in range(100):
        within = _within(q)
        fewer = _DENSITY * within ** (groups - 2)
        beyond = float(groups * (fewer * within).sum()) - confidence
        low, high = (q, high) if beyond < 0 else (low, q)
        slope = float(groups * (groups - 1) * (fewer * np.exp(-((_X - q) ** 2) / 2)).sum()) / math.sqrt(2 * math.pi)
        step = q - beyond / slope if slope > 0 else low
        step = step if low < step < high else (low + high) / 2
        if abs(step - q) <= 1e-14 * q:
            break
        q = step
    return q


def sidak(groups: int, confidence: float) -> float:
    """Two-sided limits for each of several values; safe under any correlation of normal errors (Šidák 1967)."""
    return upper((1 - confidence ** (1 / max(groups, 1))) / 2)


def shared(confidence: float, family: int) -> float:
    """The confidence of near ends where any of so many findings may fail: they share the error probability.

    >>> round(shared(0.95, 5), 3)
    0.99
    """
    return 1 - (1 - confidence) / family


def left(confidence: float, family: int) -> float:
    """The confidence of a two-sided interval whose far end has what a shared near end leaves of the error probability.

    >>> round(left(0.95, 1), 3), round(left(0.95, 5), 3)
    (0.95, 0.91)
    """
    return 1 - (1 - confidence) * (2 - 1 / family)


def one_sided(q: float, confidence: float) -> float:
    """The deviate for the far end of a largest gap: it belongs to one fixed pair, so no family is needed.

    What the near end leaves of the error probability is spent here.
    """
    from scipy.special import ndtr

    return upper((1 - confidence) - float(ndtr(-q)))


def expected_range(deviations: Sequence[float] | Floats) -> float:
    """How far apart independent normal variables with mean 0 are expected to lie, highest less lowest.

    >>> round(expected_range([1.0, 1.0]), 4)
    1.1284
    """
    from scipy.special import ndtr

    sigma = np.asarray(deviations, dtype=np.float64)
    sigma = sigma[sigma > 0]
    if sigma.size == 0:
        return 0.0
    reach = _REACH * sigma.max()
    x = reach * _NODES
    below = ndtr(x[:, None] / sigma)
    if sigma.size < len(np.asarray(deviations)):  # some do not vary: a constant 0 takes part
        below = np.column_stack([below, (x >= 0).astype(float)])
    return float((reach * _WEIGHTS * (1 - below.prod(axis=1) - (1 - below).prod(axis=1))).sum())
