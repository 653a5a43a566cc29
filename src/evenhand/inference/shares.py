"""Shares of a whole against those that are expected: z, exact tests, chi-square, and distances of distributions.

Everything takes plain arrays, one entry a group: `k` of all people, and the `expected` shares, which add up to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.inference import contingency, critical
from evenhand.inference.hypotheses import PERMUTATION_MOST, Test, from_chi_square
from evenhand.inference.spread import PLAIN, Proportions


def z_scores(k: Floats, expected: Floats) -> Floats:
    """By how many standard deviations each count differs from what is expected of as many draws; NaN for nobody.

    >>> z_scores(np.array([339.0, 531.0]), np.array([0.791, 0.209])).round(2).tolist()
    [-29.11, 29.11]
    """
    n = k.sum()
    if not n > 0:
        return np.full(len(k), np.nan)
    return np.asarray((k - n * expected) / np.sqrt(n * expected * (1 - expected)))


def exact_p(k: Floats, expected: Floats) -> Floats:
    """Two-sided p-values of the binomial test of each share; NaN for nobody."""
    from scipy import stats

    n = int(k.sum())
    if not n:
        return np.full(len(k), np.nan)
    return np.array([stats.binomtest(int(count), n, float(p)).pvalue for count, p in zip(k, expected, strict=True)])


def limits(k: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Limits of all shares that hold together: Clopper and Pearson's, with Bonferroni's correction for their number."""
    spread = Proportions(k, np.full(len(k), float(k.sum())), PLAIN)
    return spread.limits(critical.upper((1 - confidence) / 2 / len(k)), 0.0)


def goodness_of_fit(
    k: Floats, expected: Floats, *, draws: int = contingency.LEAST_DRAWS, random_state: int = 0
) -> Test:
    """Test whether all shares are as expected: Pearson's chi-square, whose p-value is drawn where a count is too small.

    Draws are from the expected shares, at least `draws` of them. Fractional counts always go to chi-square.

    >>> test = goodness_of_fit(np.array([30.0, 50.0, 20.0]), np.array([0.25, 0.5, 0.25]))
    >>> round(test.statistic, 3), test.df, round(test.p_value, 3)
    (2.0, 2.0, 0.368)
    """
    n, name = k.sum(), "chi-square"
    if not n > 0:
        return Test(name, math.nan, math.nan, note="nobody is counted")
    usual = n * expected
    seen = float(((k - usual) ** 2 / usual).sum())
    found = from_chi_square(name, seen, len(k) - 1)
    whole = bool((k == np.rint(k)).all())
    if usual.min() >= contingency.SMALL or not whole or n > PERMUTATION_MOST:
        return found
    random = np.random.default_rng(random_state)

    def draw(size: int) -> Floats:
        drawn = random.multinomial(int(n), expected, size=size)
        return np.asarray(((drawn - usual) ** 2 / usual).sum(axis=1))

    p = contingency.permutation_p(draw, seen, len(k), max(draws, contingency.LEAST_DRAWS))
    return replace(found, name="chi-square, drawn", p_value=p, df=None, note="an expected count is below 5")


@dataclass(frozen=True)
class Distances:
    """How far one distribution is from another: Kullback and Leibler's divergence of the first from the second, Jensen
    and Shannon's, both in nats; the total variation; and the Euclidean distance (Lp with p = 2)."""

    kl: float
    js: float
    tvd: float
    l2: float


def distances(first: Floats, second: Floats) -> Distances:
    """The distances of two distributions over the same classes; NaN where one of them is empty.

    >>> found = distances(np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    >>> [round(value, 4) for value in (found.kl, found.js, found.tvd, found.l2)]
    [0.1438, 0.0338, 0.25, 0.3536]
    """
    apart = np.abs(first - second)
    middle = (first + second) / 2
    js = (_divergence(first, middle) + _divergence(second, middle)) / 2
    return Distances(_divergence(first, second), js, float(apart.sum()) / 2, float(np.sqrt((apart**2).sum())))


def _divergence(first: Floats, second: Floats) -> float:
    """Σ p ln(p/q); infinite where q is 0 and p is not."""
    if np.isnan(first).any() or np.isnan(second).any():
        return math.nan
    there = first > 0
    with np.errstate(divide="ignore"):
        return float(np.sum(first[there] * np.log(first[there] / second[there])))
