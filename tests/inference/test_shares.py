"""Shares against expected ones: as scipy has them, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from evenhand.inference import shares


def drawn(seed: int, groups: int = 4, people: int = 500) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    expected = random.dirichlet(np.full(groups, 3.0))
    return random.multinomial(people, random.dirichlet(50 * expected)).astype(float), expected


@pytest.mark.parametrize("seed", range(8))
def test_tests_are_those_of_scipy(seed):
    k, expected = drawn(seed, people=20_000)
    theirs = stats.chisquare(k, k.sum() * expected)
    found = shares.goodness_of_fit(k, expected)
    assert (found.statistic, found.p_value) == (
        pytest.approx(theirs.statistic, rel=1e-10),
        pytest.approx(theirs.pvalue),
    )
    n = int(k.sum())
    for count, share, p in zip(k, expected, shares.exact_p(k, expected), strict=True):
        assert p == stats.binomtest(int(count), n, share).pvalue


def test_castaneda_against_partida():
    """430 U.S. 482 (1977), note 17: 870 people were summoned, 79.1 % of the population were Mexican-American; about 688
    were expected and 339 came. The standard deviation is about 12, the difference about 29 of them, and the chance of
    it less than 1 in 10¹⁴⁰."""
    k, expected = np.array([339.0, 531.0]), np.array([0.791, 0.209])
    assert round(870 * 0.791) == 688
    z = shares.z_scores(k, expected)[0]
    assert (round((339 - 870 * 0.791) / z), round(z)) == (12, -29)
    assert shares.exact_p(k, expected)[0] < 1e-140


@pytest.mark.parametrize("seed", range(5))
def test_small_counts_are_drawn(seed):
    k, expected = np.array([0.0, 3.0, 9.0]), np.array([0.1, 0.2, 0.7])
    found = shares.goodness_of_fit(k, expected, draws=20_000, random_state=seed)
    exact = 0.0
    for a in range(13):
        for b in range(13 - a):
            table = np.array([a, b, 12 - a - b])
            if ((table - 12 * expected) ** 2 / (12 * expected)).sum() >= found.statistic - 1e-9:
                exact += stats.multinomial.pmf(table, 12, expected)
    assert found.name == "chi-square, drawn"
    assert found.p_value == pytest.approx(exact, abs=0.02)


def test_limits_hold_together():
    random, expected, covered = np.random.default_rng(1), np.array([0.02, 0.1, 0.38, 0.5]), 0
    for _ in range(400):
        low, high = shares.limits(random.multinomial(200, expected).astype(float), 0.95)
        covered += bool(((low <= expected) & (expected <= high)).all())
    assert covered / 400 >= 0.95


def test_distances_are_those_of_scipy():
    for seed in range(20):
        random = np.random.default_rng(seed)
        first, second = random.dirichlet([1, 1, 1]), random.dirichlet([2, 1, 1])
        found = shares.distances(first, second)
        assert found.kl == pytest.approx(stats.entropy(first, second))
        assert found.js == pytest.approx(jensenshannon(first, second) ** 2)
        assert found.l2 == pytest.approx(np.linalg.norm(first - second))
        assert found.tvd == pytest.approx(np.abs(first - second).sum() / 2)


def test_distances_of_what_is_not_there():
    assert shares.distances(np.array([0.5, 0.5]), np.array([1.0, 0.0])).kl == math.inf
    assert shares.distances(np.array([1.0, 0.0]), np.array([0.5, 0.5])).kl == pytest.approx(math.log(2))
    assert math.isnan(shares.distances(np.array([np.nan, np.nan]), np.array([0.5, 0.5])).js)


def test_nobody_has_no_test():
    none, expected = np.zeros(2), np.array([0.5, 0.5])
    assert np.isnan(shares.z_scores(none, expected)).all()
    assert np.isnan(shares.exact_p(none, expected)).all()
    assert math.isnan(shares.goodness_of_fit(none, expected).p_value)
