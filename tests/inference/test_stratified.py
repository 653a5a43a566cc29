"""Strata that are too sparse for the classical Breslow-Day test; the rest stands in test_hypotheses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from evenhand.inference import stratified
from evenhand.inference.stratified import breslow_day


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
