"""Strata that are too sparse for the classical Breslow-Day test, and common ratios as in statsmodels and R; the rest
stands in test_hypotheses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from evenhand.inference import stratified
from evenhand.inference.stratified import breslow_day


def test_strata_of_next_to_nobody_have_a_common_ratio_without_an_end():
    """Weights of a millionth beside millions: the interval on logarithms is wider than numbers are."""
    for k in ([[1e-6, 2.0]], [[2.0, 1e-6]]):
        found = stratified.common(k, [[3.0, 2.5]])
        for value, low, high in (found.odds_ratio, found.ratio):
            assert (low, high) == (0.0, math.inf) or low <= value <= high


def test_moments_are_those_of_all_tables_with_these_margins():
    row, column, everyone, odds, expected, variance = 6, 5, 14, 0.4, 1.7, 0.9
    law = stats.nchypergeom_fisher(everyone, row, column, odds)
    counts = np.arange(0, 6)
    away = (counts - expected) ** 2 / variance
    mean = float(law.pmf(counts) @ away)
    found = stratified._moments(row, column, everyone, odds, expected, variance)
    assert found == pytest.approx((mean, float(law.pmf(counts) @ away**2) - mean**2))


def test_moments_of_a_large_stratum_are_those_of_a_chi_square():
    expected = float(stratified._cell(np.array([4e5]), np.array([3e5]), np.array([1e6]), 0.5)[0])
    cells = expected, 4e5 - expected, 3e5 - expected, 3e5 + expected
    found = stratified._moments(4e5, 3e5, 1e6, 0.5, expected, 1 / sum(1 / cell for cell in cells))
    assert found == pytest.approx((1, 2), rel=1e-3)


def test_strata_with_enough_people_are_tested_as_usual():
    k, n = [[30, 20], [40, 50], [20, 20]], [[100, 90], [110, 100], [80, 90]]
    test = breslow_day(k, n)
    assert (test.df, test.note) == (2.0, "")
    sparse = breslow_day([*k, [1, 0]], [*n, [3, 4]])
    assert sparse.note
    assert sparse.df is not None
    assert 2 < sparse.df < 6
    assert sparse.p_value == pytest.approx(stats.chi2.sf(sparse.statistic, sparse.df))


@pytest.mark.parametrize(("size", "strata", "odds"), [(4, 50, 1.0), (10, 10, 3.0), (5, 20, 1.0)])
def test_size_in_sparse_strata(size, strata, odds):
    """The classical test rejects 15 % of fifty strata of 4 and 4 people at nominal 5 %."""
    random = np.random.default_rng(4)
    n = np.full((strata, 2), size)
    rate = 0.35 / 0.65 * odds
    rejected = [breslow_day(random.binomial(n, [rate / (1 + rate), 0.35]), n).p_value <= 0.05 for _ in range(800)]
    assert np.mean(rejected) <= 0.06 + 0.012


def test_strata_in_which_nothing_can_vary_have_no_test():
    k, n = [[7.5, 0.2], [0.3, 1.5]], [[7.5, 0.4], [0.6, 1.5]]
    assert math.isnan(breslow_day(k, n).p_value)
    assert breslow_day(k, n).note


def test_strata_that_differ_are_found_though_they_are_sparse():
    k = np.array([[4, 0], [0, 4]] * 6)
    assert breslow_day(k, np.full((12, 2), 5)).p_value < 1e-4


def test_neither_outcome_nor_order_matters():
    k, n = np.array([[1, 0], [3, 2], [0, 2], [4, 1]]), np.array([[4, 5], [6, 4], [3, 7], [5, 5]])
    test = breslow_day(k, n)
    for order in itertools.islice(itertools.permutations(range(4)), 5):
        again = breslow_day(k[list(order)], n[list(order)])
        assert again.p_value == pytest.approx(test.p_value, rel=1e-9)
    assert breslow_day(n - k, n).p_value == pytest.approx(test.p_value, rel=1e-9)
    assert breslow_day(k[:, ::-1], n[:, ::-1]).p_value == pytest.approx(test.p_value, rel=1e-9)
    assert math.isfinite(breslow_day(k * 0.7, n * 0.7).p_value)


def test_common_ratios_are_those_of_statsmodels():
    random = np.random.default_rng(3)
    compared = 0
    for i in range(200):
        strata = int(random.integers(2, 8))
        n = random.integers(1, (200, 4)[i % 2], (strata, 2))
        k = random.binomial(n, random.random((strata, 2)))
        tables = [np.array([[a, m - a], [b, o - b]]) for (a, b), (m, o) in zip(k, n, strict=True)]
        with np.errstate(all="ignore"):
            theirs, ours = StratifiedTable(tables), stratified.common(k, n)
            if not 0 < theirs.oddsratio_pooled < math.inf:
                continue
            test, ends = theirs.test_null_odds(correction=False), theirs.oddsratio_pooled_confint()
        assert ours.odds_ratio == pytest.approx((theirs.oddsratio_pooled, *ends), rel=1e-8)
        assert ours.ratio[0] == pytest.approx(theirs.riskratio_pooled, rel=1e-8)
        assert ours.deviations**2 == pytest.approx(test.statistic, rel=1e-8, abs=1e-12)
        assert ours.p_value == pytest.approx(test.pvalue, rel=1e-8)
        compared += 1
    assert compared > 120


def test_berkeley_as_in_r():
    """mantelhaen.test(UCBAdmissions, correct = FALSE) of R: men's odds of admission against women's."""
    k = [[512, 89], [353, 17], [120, 202], [138, 131], [53, 94], [22, 24]]
    n = [[825, 108], [560, 25], [325, 593], [417, 375], [191, 393], [373, 341]]
    found = stratified.common(k, n)
    assert found.odds_ratio == pytest.approx((0.9046968, 0.7719074, 1.0603298), abs=5e-8)
    assert (round(found.deviations**2, 4), round(found.p_value, 4)) == (1.5246, 0.2169)
    assert found.strata == 6


def test_a_ratio_with_strata_held_fixed_by_hand():
    """Greenland and Robins: (10 × 40/60 + 5 × 30/60) / (20 × 20/60 + 12 × 30/60), and the variance of its logarithm."""
    k, n = np.array([[10, 20], [5, 12]]), np.array([[20, 40], [30, 30]])
    top, bottom = 10 * 40 / 60 + 5 * 30 / 60, 20 * 20 / 60 + 12 * 30 / 60
    variance = ((20 * 40 * 30 - 10 * 20 * 60) / 3600 + (30 * 30 * 17 - 5 * 12 * 60) / 3600) / (top * bottom)
    found = stratified.common(k, n).ratio
    assert found[0] == pytest.approx(top / bottom)
    assert math.log(found[2] / found[0]) == pytest.approx(1.959963984540054 * math.sqrt(variance))


def test_strata_that_hold_nothing_to_compare():
    found = stratified.common([[3, 0], [0, 2]], [[5, 0], [0, 4]])
    assert math.isnan(found.p_value)
    assert math.isnan(found.odds_ratio[0])
    assert math.isnan(found.ratio[0])
    assert (math.isnan(found.shortfall), found.strata) == (True, 0)
    even = stratified.common([[2, 4], [3, 3]], [[4, 8], [6, 6]])
    assert (even.deviations, even.p_value, even.shortfall) == (0.0, 1.0, 0.0)
