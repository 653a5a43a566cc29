"""Two decisions about the same people: the exact test of McNemar, and Tango's interval of the difference of rates.

Of n pairs, b have the first decision positive and the second negative, c the other way round; those in which the two
agree tell of the difference only by their number. Everything takes arrays, one entry for each comparison.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats
from evenhand.errors import CallError
from evenhand.inference.critical import upper

_HALVINGS = 60  # of [-1, 1]: past these, the ends are the same number


def mcnemar(b: npt.ArrayLike, c: npt.ArrayLike) -> Floats:
    """The two-sided p-value of "as many pairs differ one way as the other": twice the smaller binomial tail.

    1 where no pair differs. It holds however few pairs differ.

    >>> mcnemar([9, 0, 3], [1, 0, 3]).round(4).tolist()
    [0.0215, 1.0, 1.0]
    """
    from scipy.special import bdtr

    b, c, _ = _counts(b, c, np.inf)
    if not (np.array_equal(b, np.rint(b)) and np.array_equal(c, np.rint(c))):
        raise CallError("McNemar's exact test needs whole counts of pairs.")
    return np.asarray(np.minimum(2 * bdtr(np.minimum(b, c), np.rint(b + c).astype(np.int64), 0.5), 1.0))


def tango(b: npt.ArrayLike, c: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The score interval of the difference of two paired rates, (b - c) / n (Tango 1998); NaN where n is 0.

    Its width is never 0: without any pair that differs, it reaches as far as pairs that differ could be missing.

    >>> low, high = tango([0, 40], [1, 20], [44, 160])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-0.1181, 0.0309], [0.0594, 0.2181])
    """
    deviate = upper((1 - confidence) / 2)
    return score_limits(b, c, n, deviate, deviate)


def score_limits(
    b: npt.ArrayLike, c: npt.ArrayLike, n: npt.ArrayLike, below: npt.ArrayLike, above: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Tango's limits so many deviates below and above the difference. Counts may be fractional (effective counts)."""
    b, c, n = _counts(b, c, n)
    return _lower(b, c, n, np.asarray(below, dtype=np.float64)), -_lower(c, b, n, np.asarray(above, dtype=np.float64))


def _lower(b: Floats, c: Floats, n: Floats, deviate: Floats) -> Floats:
    """The smallest difference whose score is at most the deviate: the score falls as the difference grows."""
    b, c, n, deviate = np.broadcast_arrays(b, c, n, deviate)
    people = np.where(n > 0, n, 1.0)
    low, high = np.full(b.shape, -1.0), (b - c) / people
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = b - c - people * middle > deviate * _error(b, c, people, middle)
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.asarray(np.where(n > 0, high, np.nan))


def _error(b: Floats, c: Floats, n: Floats, difference: Floats) -> Floats:
    """The standard error of b - c, where the difference is this and the rest is as likely as it can be."""
    linear = (2 * n - b + c) * difference - b - c
    constant = c * difference * (1 - difference)
    root = np.sqrt(np.maximum(linear**2 + 8 * n * constant, 0.0))
    # The share of pairs that differ the second way: of two equal forms, the one that does not subtract near numbers.
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(linear > 0, 2 * constant / (root + linear), (root - linear) / (4 * n))
    return np.asarray(np.sqrt(np.maximum(n * (2 * share + difference * (1 - difference)), 0.0)))


def _counts(b: npt.ArrayLike, c: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    b, c, n = (np.asarray(each, dtype=np.float64) for each in (b, c, n))
    if not (np.all(np.isfinite(b)) and np.all(np.isfinite(c)) and np.all(b >= 0) and np.all(c >= 0)):
        raise CallError("counts of pairs that differ must be finite and at least 0.")
    if not np.all(b + c <= n * (1 + 1e-9)):
        raise CallError("there cannot be more pairs that differ than pairs.")
    return b, c, n
