"""Tests within strata: Cochran-Mantel-Haenszel, the common odds ratio, and Breslow-Day.

Everything takes counts [strata, groups]: `k` positives of `n` people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats
from evenhand.errors import CallError
from evenhand.inference import critical
from evenhand.inference.contingency import SMALL
from evenhand.inference.hypotheses import Test, counts, from_chi_square, nothing, ratio


def cochran_mantel_haenszel(k: npt.ArrayLike, n: npt.ArrayLike) -> Test:
    """Test whether the rates of the groups differ within strata. `k` and `n` are [strata, groups].

    Within each stratum the positives are dealt out to the groups; what each group has above its expectation is
    added over the strata and set against its covariance. For two groups this is the classical test,
    without a continuity correction. A stratum with one group, or one outcome, contributes nothing.

    >>> test = cochran_mantel_haenszel([[512, 89], [353, 17]], [[825, 108], [560, 25]])
    >>> round(test.statistic, 2), test.df
    (15.47, 1.0)
    """
    k, n = _strata(k, n)
    present = n.any(axis=0)
    k, n = k[:, present], n[:, present]
    groups = n.shape[1]
    name = "Cochran-Mantel-Haenszel"
    if not np.any((n > 0).sum(axis=1) > 1):
        return nothing(name, "no stratum has two groups to compare")
    k, n = _informative(k, n)
    everyone, positives = n.sum(axis=1), k.sum(axis=1)
    above = (k - n * (positives / everyone)[:, None]).sum(axis=0)
    factor = positives * (everyone - positives) / (everyone**2 * (everyone - 1))
    between = (n * factor[:, None]).T @ n
    np.fill_diagonal(between, 0)
    variance = between.sum(axis=1)
    if not variance.any():
        return from_chi_square(name, 0.0, groups - 1)
    if groups == 2:
        return from_chi_square(name, float(above[0] ** 2 / variance[0]), 1)
    # In units of each group's own deviation, so that a group of 30 counts beside one of 10^12. The covariance has
    # no inverse: what all groups that share strata have above expectation adds up to 0.
    varies = variance > 0
    deviation = np.sqrt(variance[varies])
    covariance = np.eye(len(deviation)) - between[np.ix_(varies, varies)] / np.outer(deviation, deviation)
    values, vectors = np.linalg.eigh(covariance)
    free = values > 1e-10
    along = (above[varies] / deviation) @ vectors[:, free]
    return from_chi_square(name, float(np.sum(along**2 / values[free])), int(free.sum()))


def mantel_haenszel_odds_ratio(k: npt.ArrayLike, n: npt.ArrayLike) -> float:
    """The odds of the first group against the second, common to all strata; `k` and `n` are [strata, 2].

    >>> round(mantel_haenszel_odds_ratio([[512, 89], [353, 17]], [[825, 108], [560, 25]]), 3)
    0.425
    """
    k, n = _pairs(k, n)
    k, n = _informative(k, n)
    everyone = n.sum(axis=1)
    rest = n - k
    return ratio(float(np.sum(k[:, 0] * rest[:, 1] / everyone)), float(np.sum(k[:, 1] * rest[:, 0] / everyone)))


@dataclass(frozen=True)
class Common:
    """What the first of two groups has against the second within strata, as by Mantel and Haenszel.

    `odds_ratio` and `ratio` are (value, low, high), NaN where a value has no interval; `deviations` is the number of
    standard deviations by which the first group lies above what is expected within strata (its square is the statistic
    of the test without continuity correction) and `p_value` its p; `shortfall` is how many more of the first group
    would have been positive, had both groups had one rate in each stratum. `strata` is how many strata tell anything.
    """

    odds_ratio: tuple[float, float, float]
    ratio: tuple[float, float, float]
    deviations: float
    p_value: float
    shortfall: float
    strata: int


def common(k: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> Common:
    """Odds ratio, ratio of rates and test of two groups over strata; `k` and `n` are [strata, 2].

    The interval of the odds ratio is that of Robins, Breslow and Greenland (1986), that of the ratio of rates that of
    Greenland and Robins (1985).

    >>> found = common([[512, 89], [353, 17]], [[825, 108], [560, 25]])
    >>> round(found.odds_ratio[0], 3), round(found.ratio[0], 3), round(found.deviations, 2)
    (0.425, 0.783, -3.93)
    """
    k, n = _pairs(k, n)
    both = (n > 0).all(axis=1)  # a stratum in which all are positive, in both groups, has a ratio of rates: 1
    kept, people = _informative(k, n)
    everyone, positives = people.sum(axis=1), kept.sum(axis=1)
    expected = people[:, 0] * positives / np.maximum(everyone, 1.0)
    above = float((kept[:, 0] - expected).sum())
    test = cochran_mantel_haenszel(k, n)
    deviations = math.nan if math.isnan(test.p_value) else math.copysign(math.sqrt(test.statistic), above)
    deviate = critical.upper((1 - confidence) / 2)
    return Common(
        _ends(mantel_haenszel_odds_ratio(k, n), _log_odds_variance(kept, people), deviate),
        _ends(*_common_ratio(k[both], n[both]), deviate),
        deviations if above else 0.0 * deviations,
        test.p_value,
        -above if len(people) else math.nan,
        len(people),
    )


def _ends(value: float, variance: float, deviate: float) -> tuple[float, float, float]:
    """A ratio with its interval on logarithms; NaN ends where it is 0, infinite or undefined."""
    if not 0 < value < math.inf:
        return value, math.nan, math.nan
    with np.errstate(over="ignore"):  # of next to nobody: there is no upper end
        low, high = value * np.exp(np.array([-1, 1]) * deviate * math.sqrt(variance))
    return value, float(low), float(high)


def _log_odds_variance(k: Floats, n: Floats) -> float:
    """Of the logarithm of the common odds ratio, by Robins, Breslow and Greenland."""
    everyone, rest = n.sum(axis=1), n - k
    r, s = k[:, 0] * rest[:, 1] / everyone, k[:, 1] * rest[:, 0] / everyone
    same, crossed = (k[:, 0] + rest[:, 1]) / everyone, (k[:, 1] + rest[:, 0]) / everyone
    top, bottom = r.sum(), s.sum()
    if not (top and bottom):
        return math.nan
    mixed = float((same * s + crossed * r).sum())
    return float((same @ r) / top**2 + (crossed @ s) / bottom**2 + mixed / (top * bottom)) / 2


def _common_ratio(k: Floats, n: Floats) -> tuple[float, float]:
    """The common ratio of rates, and the variance of its logarithm by Greenland and Robins."""
    everyone, positives = n.sum(axis=1), k.sum(axis=1)
    top, bottom = float((k[:, 0] * n[:, 1] / everyone).sum()), float((k[:, 1] * n[:, 0] / everyone).sum())
    if not (top and bottom):
        return ratio(top, bottom), math.nan
    each = (n[:, 0] * n[:, 1] * positives - k[:, 0] * k[:, 1] * everyone) / everyone**2
    return top / bottom, max(0.0, float(each.sum()) / (top * bottom))


def breslow_day(k: npt.ArrayLike, n: npt.ArrayLike) -> Test:
    """Test whether the odds ratio of two groups differs between strata. `k` and `n` are [strata, 2].

    A small p-value says that one common odds ratio does not describe the strata: they differ among themselves. In
    sparse strata the statistic is not a chi-square with one degree of freedom for each (15 % at nominal 5 % in fifty
    strata of 4 and 4 people): there it is compared with the chi-square that has its exact mean and variance.

    >>> round(breslow_day([[512, 89], [353, 17]], [[825, 108], [560, 25]]).p_value, 3)
    0.098
    """
    name = "Breslow-Day"
    k, n = _pairs(k, n)
    k, n = _informative(k, n)
    if len(n) < 2:
        return nothing(name, "fewer than two strata have an odds ratio")
    odds = mantel_haenszel_odds_ratio(k, n)
    if not 0 < odds < math.inf:
        return nothing(name, f"the common odds ratio is {'0' if odds == 0 else 'infinite'}")
    if odds > 1:  # below 1 the root is a sum without cancellation
        k, odds = n - k, 1 / odds
    positives, everyone = k.sum(axis=1), n.sum(axis=1)
    expected = _cell(n[:, 0], positives, everyone, odds)
    other = _cell(n[:, 1], everyone - positives, everyone, odds)
    cells = np.stack([expected, n[:, 0] - expected, positives - expected, other])
    variance = 1 / np.sum(1 / cells, axis=0)
    above, df = k[:, 0] - expected, len(n) - 1
    statistic = float(np.sum(above**2 / variance))
    small = np.flatnonzero(cells.min(axis=0) < SMALL)
    if not len(small):
        return from_chi_square(name, statistic, df)
    # Chi-square with the mean and the variance that the statistic, less Tarone's correction (1985), has in strata like
    # these. One stratum's worth went into the common odds ratio.
    statistic -= float(above.sum() ** 2 / variance.sum())
    mean, spread = np.ones(len(n)), np.full(len(n), 2.0)
    for i in small:
        margins = n[i, 0], positives[i], everyone[i]
        mean[i], spread[i] = _moments(*margins, odds, expected[i], variance[i])
    total, variation = mean.sum() * df / len(n), spread.sum() * df / len(n)
    if not variation > 0:
        return nothing(name, "no stratum could have come out otherwise")
    scale = variation / (2 * total)
    note = "an expected count is below 5: the degrees of freedom are those of small strata"
    return from_chi_square(name, statistic / float(scale), float(total / scale), note)


def _moments(
    row: float, column: float, everyone: float, odds: float, expected: float, variance: float
) -> tuple[float, float]:
    """Mean and variance of (count − expected)² / variance over all tables with these margins and this odds ratio."""
    from scipy.special import gammaln

    reach = 30 + 10 * math.sqrt(variance)
    low, high = max(0.0, row + column - everyone), min(row, column)
    count = np.arange(low + max(0, math.floor(expected - reach - low)), min(high, expected + reach) + 1e-9)
    cells = count, row - count, column - count, everyone - row - column + count
    chance = count * math.log(odds) - sum(gammaln(np.maximum(cell, 0.0) + 1) for cell in cells)
    share = np.exp(chance - chance.max())
    share /= share.sum()
    away = (count - expected) ** 2 / variance
    mean = float(share @ away)
    return mean, float(share @ (away - mean) ** 2)


def _cell(row: Floats, column: Floats, everyone: Floats, odds: float) -> Floats:
    """The corner of a 2 x 2 table with these margins whose odds ratio is `odds`, at most 1."""
    slope = everyone - (1 - odds) * (row + column)
    root = np.sqrt(slope**2 + 4 * (1 - odds) * odds * row * column)
    # Both are the one positive root; which of them cancels depends on the sign of the slope.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slope > 0, 2 * odds * row * column / (slope + root), (root - slope) / (2 * (1 - odds)))


def _strata(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    k, n = counts(k, n)
    if k.ndim != 2:
        raise CallError(f"k and n must be [strata, groups]; they have shape {k.shape}.")
    return k, n


def _pairs(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    k, n = _strata(k, n)
    if k.shape[1] != 2:
        raise CallError(f"an odds ratio compares two groups and there are {k.shape[1]}.")
    return k, n


def _informative(k: Floats, n: Floats) -> tuple[Floats, Floats]:
    """The strata with at least two groups and both outcomes."""
    positives, everyone = k.sum(axis=1), n.sum(axis=1)
    keep = ((n > 0).sum(axis=1) > 1) & (positives > 0) & (positives < everyone) & (everyone > 1)
    return k[keep], n[keep]
