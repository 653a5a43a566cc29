"""Intervals by name: for a proportion, for two of them, and from draws. The default one is in `simultaneous`.

Each holds for one comparison by itself. Between the highest and the lowest of many groups, chosen after looking,
none of them covers as it should: that is what the default is for.

Arguments are arrays of any shapes that broadcast. Counts need not be whole (effective counts of weights).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats, Indices
from evenhand.errors import CallError

Ends = tuple[Floats, Floats]


def wilson(k: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> Ends:
    """Wilson's score interval of k / n; [0, 1] where n = 0.

    >>> low, high = wilson([0, 5, 0], [10, 10, 0])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.2366, 0.0], [0.2775, 0.7634, 1.0])
    """
    k, n = _counts(k, n)
    z = _deviate(confidence)
    people = np.where(n > 0, n, 1.0)
    middle = (k + z**2 / 2) / (people + z**2)
    reach = z / (people + z**2) * np.sqrt(k * (people - k) / people + z**2 / 4)
    return _closed(k, n, middle - reach, middle + reach)


def agresti_coull(k: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> Ends:
    """The plain interval after z²/2 successes and z²/2 failures were added, cut at 0 and 1; [0, 1] where n = 0.

    >>> [round(float(end), 4) for end in agresti_coull(5, 10)]
    [0.2366, 0.7634]
    """
    k, n = _counts(k, n)
    z = _deviate(confidence)
    more = n + z**2
    p = (k + z**2 / 2) / more
    reach = z * np.sqrt(p * (1 - p) / more)
    return np.where(n > 0, np.maximum(p - reach, 0.0), 0.0), np.where(n > 0, np.minimum(p + reach, 1.0), 1.0)


def clopper_pearson(k: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> Ends:
    """The exact interval of k / n: it never covers less often than it says; [0, 1] where n = 0.

    >>> [round(float(end), 4) for end in clopper_pearson(0, 10)]
    [0.0, 0.3085]
    """
    return _beta(*_counts(k, n), confidence, 0.0)


def jeffreys(k: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> Ends:
    """The middle of the posterior of k / n under Jeffreys' prior; [0, 1] where n = 0.

    As Brown, Cai and DasGupta (2001) define it, it reaches 0 where k = 0 and 1 where k = n.

    >>> [round(float(end), 4) for end in jeffreys(1, 10)]
    [0.011, 0.3813]
    """
    return _beta(*_counts(k, n), confidence, 0.5)


def newcombe(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike, confidence: float = 0.95
) -> Ends:
    """Newcombe's hybrid score interval of k1/n1 − k2/n2 (1998, method 10); [−1, 1] where a group is empty.

    >>> [round(float(end), 4) for end in newcombe(56, 70, 48, 80)]
    [0.0524, 0.3339]
    """
    k1, n1, k2, n2 = _pairs(k1, n1, k2, n2)
    (low1, high1), (low2, high2) = wilson(k1, n1, confidence), wilson(k2, n2, confidence)
    there = (n1 > 0) & (n2 > 0)
    p1, p2 = k1 / np.where(there, n1, 1.0), k2 / np.where(there, n2, 1.0)
    low = p1 - p2 - np.hypot(p1 - low1, high2 - p2)
    high = p1 - p2 + np.hypot(high1 - p1, p2 - low2)
    return np.where(there, np.maximum(low, -1.0), -1.0), np.where(there, np.minimum(high, 1.0), 1.0)


def agresti_caffo(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike, confidence: float = 0.95
) -> Ends:
    """The plain interval of k1/n1 − k2/n2 after one success and one failure were added to each group.

    Cut at −1 and 1; [−1, 1] where a group is empty.

    >>> [round(float(end), 4) for end in agresti_caffo(56, 70, 48, 80)]
    [0.0525, 0.3358]
    """
    k1, n1, k2, n2 = _pairs(k1, n1, k2, n2)
    there = (n1 > 0) & (n2 > 0)
    p1, p2 = (k1 + 1) / (n1 + 2), (k2 + 1) / (n2 + 2)
    reach = _deviate(confidence) * np.sqrt(p1 * (1 - p1) / (n1 + 2) + p2 * (1 - p2) / (n2 + 2))
    low, high = np.maximum(p1 - p2 - reach, -1.0), np.minimum(p1 - p2 + reach, 1.0)
    return np.where(there, low, -1.0), np.where(there, high, 1.0)


def katz(k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike, confidence: float = 0.95) -> Ends:
    """Katz' interval of (k1/n1) / (k2/n2), on logarithms.

    Where it is not defined it is completed as Aho and Bowyer do (2015; in R, `asbio` and `DescTools`): k1 = 0 makes
    the lower end 0, and the upper one comes from k1 = ½; k2 = 0 makes the upper end infinite, and the lower one
    comes from k2 = ½; both 0, or an empty group, leaves [0, ∞). With k = n in both groups, both count as n − ½.

    >>> [round(float(end), 4) for end in katz(56, 70, 48, 80)]
    [1.0766, 1.6512]
    >>> [round(float(end), 4) for end in katz(0, 70, 48, 80)]
    [0.0, 0.1895]
    """
    k1, n1, k2, n2 = _pairs(k1, n1, k2, n2)
    there = (n1 > 0) & (n2 > 0) & ((k1 > 0) | (k2 > 0))
    sure = (k1 == n1) & (k2 == n2)
    n1, n2 = np.where(there, n1, 1.0), np.where(there, n2, 1.0)
    x1 = np.where(sure, np.maximum(n1 - 0.5, n1 / 2), np.where(k1 > 0, k1, np.minimum(0.5, n1)))
    x2 = np.where(sure, np.maximum(n2 - 0.5, n2 / 2), np.where(k2 > 0, k2, np.minimum(0.5, n2)))
    middle = np.log(x1) - np.log(n1) - np.log(x2) + np.log(n2)
    reach = _deviate(confidence) * np.sqrt((1 - x1 / n1) / x1 + (1 - x2 / n2) / x2)
    with np.errstate(over="ignore"):  # of fewer than one effective person: infinite
        low = np.where(there & (k1 > 0), np.exp(middle - reach), 0.0)
        high = np.where(there & (k2 > 0), np.exp(middle + reach), np.inf)
    return low, high


class Drawn(NamedTuple):
    """An interval from draws, and the share of draws that were undefined and left out. All undefined: NaN."""

    low: Floats
    high: Floats
    undefined: Floats


def percentile(draws: npt.ArrayLike, confidence: float = 0.95) -> Drawn:
    """The middle of the draws [draws, …]. Of Dirichlet draws it is the Bayesian interval "bayes".

    >>> low, high, undefined = percentile([[1.0], [2.0], [3.0], [4.0], [5.0], [np.nan]], confidence=0.5)
    >>> low.tolist(), high.tolist(), undefined.round(3).tolist()
    ([2.0], [4.0], [0.167])
    """
    tail = _tail(confidence)
    ordered, there, undefined = _ordered(draws)
    return Drawn(_quantile(ordered, there, tail), _quantile(ordered, there, 1 - tail), undefined)


def basic(draws: npt.ArrayLike, estimate: npt.ArrayLike, confidence: float = 0.95) -> Drawn:
    """The draws mirrored at the estimate. It can leave the range of what is estimated, and is not cut.

    >>> low, high, _ = basic([1.0, 2.0, 3.0, 4.0, 9.0], 3.0, confidence=0.5)
    >>> float(low), float(high)
    (2.0, 4.0)
    """
    low, high, undefined = percentile(draws, confidence)
    twice = 2 * np.asarray(estimate, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        return Drawn(np.asarray(twice - high), np.asarray(twice - low), undefined)


def bca(
    draws: npt.ArrayLike, estimate: npt.ArrayLike, acceleration: npt.ArrayLike = 0.0, confidence: float = 0.95
) -> Drawn:
    """Efron's bias-corrected and accelerated interval; the acceleration is made by `acceleration` below.

    Draws that equal the estimate count half below it. Where the estimate lies outside all draws the correction has
    no end, and half a draw is taken to lie beyond; the interval is then an extreme of the draws.

    >>> low, high, _ = bca(np.arange(101.0), 50.0, confidence=0.9)
    >>> round(float(low), 6), round(float(high), 6)
    (5.0, 95.0)
    """
    from scipy.special import ndtr, ndtri

    z = _deviate(confidence)
    ordered, there, undefined = _ordered(draws)
    value = np.asarray(estimate, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        below = ((ordered < value).sum(axis=0) + (ordered <= value).sum(axis=0)) / 2
    m = np.maximum(there, 1)
    bias = ndtri(np.clip(below / m, 0.5 / m, 1 - 0.5 / m))
    a = np.asarray(acceleration, dtype=np.float64)
    if not np.isfinite(a).all():
        raise CallError("acceleration must be a finite number.")

    def level(deviate: float) -> Floats:
        shifted = bias + deviate
        slope = 1 - a * shifted
        # Past the pole of the correction everything lies on one side.
        moved = np.where(slope > 0, bias + shifted / np.where(slope > 0, slope, 1.0), np.copysign(np.inf, shifted))
        return np.asarray(ndtr(moved))

    low, high = _quantile(ordered, there, level(-z)), _quantile(ordered, there, level(z))
    known = ~np.isnan(value)
    return Drawn(np.where(known, low, np.nan), np.where(known, high, np.nan), undefined)


def acceleration(n: npt.ArrayLike, values: npt.ArrayLike) -> Floats:
    """The acceleration for `bca`, from the cells: everyone in a cell has the same influence.

    `n` are the people of each cell, of any shape; `values` [cells, …] is the statistic with one person less in each
    (see `draws.one_less`). It equals the jackknife over the rows and costs the cells. Where one person less leaves
    the statistic undefined, that cell is left out. A statistic that nobody moves has 0.

    >>> n = np.array([3, 7])
    >>> mean = [7 / 9, 6 / 9]  # of three zeros and seven ones, without a zero and without a one
    >>> round(float(acceleration(n, mean)), 4)
    -0.046
    """
    people = np.asarray(n, dtype=np.float64).reshape(-1)
    table = np.asarray(values, dtype=np.float64)
    if table.ndim == 0 or len(table) != len(people):
        raise CallError(f"there must be one value for each of {len(people)} cells; the shape is {table.shape}.")
    people = people.reshape(-1, *[1] * (table.ndim - 1))
    used = (people > 0) & np.isfinite(table)
    weight = np.where(used, people, 0.0)
    table = np.where(used, table, 0.0)
    total = weight.sum(axis=0)
    away = (weight * table).sum(axis=0) / np.where(total > 0, total, 1.0) - table
    # In units of the largest, or cubes of differences as small as 1/n would vanish.
    unit = np.where(used, np.abs(away), 0.0).max(axis=0, initial=0.0)
    away = away / np.where(unit > 0, unit, 1.0)
    spread = (weight * away**2).sum(axis=0)
    return np.asarray((weight * away**3).sum(axis=0) / np.where(spread > 0, 6 * spread**1.5, 1.0) * (unit > 0))


class Classical(NamedTuple):
    """A family of closed-form intervals: for a proportion (k, n), and for the difference and the ratio of two
    proportions (k1, n1, k2, n2). Each function takes the confidence last."""

    name: str
    proportion: Callable[..., Ends]
    difference: Callable[..., Ends]
    ratio: Callable[..., Ends]


class Resampled(NamedTuple):
    """An interval made of draws of the cells: how they are drawn, and what `function` needs besides the draws."""

    name: str
    function: Callable[..., Drawn]
    drawn: Literal["multinomial", "dirichlet"]
    needs: tuple[str, ...] = ()


Method = Classical | Resampled

PERCENTILE = Resampled("percentile", percentile, "multinomial")

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Classical("wilson", wilson, newcombe, katz),
        Classical("clopper-pearson", clopper_pearson, newcombe, katz),
        Classical("jeffreys", jeffreys, newcombe, katz),
        Classical("agresti-coull", agresti_coull, agresti_caffo, katz),
        Classical("newcombe", wilson, newcombe, katz),
        Classical("agresti-caffo", agresti_coull, agresti_caffo, katz),
        Classical("katz", wilson, newcombe, katz),
        PERCENTILE,
        Resampled("basic", basic, "multinomial", ("estimate",)),
        Resampled("bca", bca, "multinomial", ("estimate", "acceleration")),
        Resampled("bayes", percentile, "dirichlet"),
    )
}
"""The intervals that a policy can name besides the default, "simultaneous". A new row is all that a new one needs."""


def interval_names() -> tuple[str, ...]:
    """Every name that a policy's `interval` may have, the default first.

    "jackknife" is for functions of rows, and "none" leaves every interval out.
    """
    return ("simultaneous", *METHODS, "jackknife", "none")


def _ordered(draws: npt.ArrayLike) -> tuple[Floats, Indices, Floats]:
    """Draws in order with the undefined ones last, how many are defined, and the share of those that are not."""
    table = np.asarray(draws, dtype=np.float64)
    if table.ndim == 0 or len(table) == 0:
        raise CallError("there are no draws to make an interval of.")
    ordered = np.sort(table, axis=0)
    there = (~np.isnan(ordered)).sum(axis=0)
    return ordered, there, np.asarray(1 - there / len(ordered))


def _quantile(ordered: Floats, there: Indices, level: npt.ArrayLike) -> Floats:
    """The quantile of the defined draws of each column, between two draws in proportion."""
    last = np.maximum(there - 1, 0)
    place = np.asarray(level) * last
    under = np.minimum(np.floor(place).astype(np.intp), last)
    part = place - under
    low, high = (np.take_along_axis(ordered, i[None], axis=0)[0] for i in (under, np.minimum(under + 1, last)))
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        between = low + part * (high - low)
    return np.asarray(np.where((part == 0) | (low == high), low, between))


def _beta(k: Floats, n: Floats, confidence: float, offset: float) -> Ends:
    from scipy.special import betainccinv, betaincinv

    tail = _tail(confidence)
    rest = n - k
    low = betaincinv(np.where(k > 0, k, 1.0) + offset, rest + 1 - offset, tail)
    high = betainccinv(k + 1 - offset, np.where(rest > 0, rest, 1.0) + offset, tail)
    # Before 1.17 scipy gives up on some counts past 10^11; there Wilson's ends are the same for any purpose.
    rough = wilson(k, n, confidence)
    return _closed(k, n, np.where(np.isnan(low), rough[0], low), np.where(np.isnan(high), rough[1], high))


def _closed(k: Floats, n: Floats, low: Floats, high: Floats) -> Ends:
    """0 is possible where nobody was counted, and 1 where all were."""
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)


def _pairs(k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike) -> list[Floats]:
    return [np.asarray(part) for part in np.broadcast_arrays(*_counts(k1, n1), *_counts(k2, n2))]


def _counts(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    of = np.asarray(n, dtype=np.float64)
    some = np.where(of == 0, 0.0, np.asarray(k, dtype=np.float64))
    if not ((some >= 0) & (some <= of) & np.isfinite(of)).all():
        raise CallError("counts must have 0 ≤ k ≤ n.")
    return some, np.broadcast_to(of, some.shape)


def _deviate(confidence: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(_tail(confidence)))


def _tail(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise CallError(f"confidence={confidence!r} must lie between 0 and 1, such as 0.95.")
    return (1 - confidence) / 2
