"""The robust outcome test on arrays: known numbers, agreement of limit and p-value, strata, symmetry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, hypergeom, norm

from evenhand.inference.outcome_test import Rates, outcome_test


def rates(k, n):
    return Rates(np.atleast_2d(np.array(k, float)), np.atleast_2d(np.array(n, float)))


LENDER = rates([2500, 1000], [5000, 5000]), rates([2250, 950], [2500, 1000])


def lower(first, second, z):
    """The lower limit of first − second by hand: Clopper-Pearson limits joined as the sides of a triangle."""
    (k, n), (j, m) = first, second
    down = k / n - beta.ppf(norm.sf(z), k, n - k + 1)
    up = beta.ppf(norm.cdf(z), j + 1, m - j) - j / m
    return k / n - j / m - math.hypot(down, up)


def test_the_lender():
    test = outcome_test(*LENDER, 0.95)
    assert test.selection[1, 0] == pytest.approx(0.3)
    assert test.outcome[1, 0] == pytest.approx(0.05)
    # Of two ordered pairs each is tested at half of 5 %.
    assert test.low[1, 0] == pytest.approx(lower((950, 1000), (2250, 2500), norm.isf(0.025)), rel=1e-9)
    p = test.p[1, 0]
    assert lower((950, 1000), (2250, 2500), norm.isf(p)) == pytest.approx(0, abs=1e-5)
    assert p == pytest.approx(hypergeom.sf(949, 3500, 3200, 1000), rel=0.1)  # Fisher's exact test
    assert test.adjusted[1, 0] == pytest.approx(2 * p)
    assert (test.p[0, 1], test.adjusted[0, 1]) == (1, 1)


def test_the_larger_p_value_counts():
    sure, unsure = rates([800, 200], [1000, 1000]), rates([400, 101], [800, 200])
    assert outcome_test(sure, unsure, 0.95).p[1, 0] > 0.3


def test_strata_are_weighted_as_by_mantel_and_haenszel():
    """Simpson: within both strata b is selected as often as a and does as well, and pooled it is not."""
    selected = rates([[800, 80], [20, 200]], [[1000, 100], [100, 1000]])
    positive = rates([[400, 40], [18, 180]], [[800, 80], [20, 200]])
    within = outcome_test(selected, positive, 0.95)
    assert within.selection[1, 0] == pytest.approx(0)
    assert within.outcome[1, 0] == pytest.approx(0)
    assert within.adjusted[1, 0] == 1
    pooled = outcome_test(*(Rates(each.k.sum(0)[None], each.n.sum(0)[None]) for each in (selected, positive)), 0.95)
    assert pooled.adjusted[1, 0] < 1e-6
    three = rates([[500, 200], [500, 200]], [[1000, 1000], [500, 500]])
    weights = np.array([500, 250]) / 750
    assert outcome_test(three, three, 0.95).selection[1, 0] == pytest.approx(weights @ [0.3, 0.6])


def test_strata_without_both_groups_do_not_count():
    one = outcome_test(*LENDER, 0.95)
    more = [Rates(np.vstack([each.k, [[7, 0]]]), np.vstack([each.n, [[9, 0]]])) for each in LENDER]
    np.testing.assert_allclose(outcome_test(*more, 0.95).p, one.p)


def test_no_pair():
    test = outcome_test(rates([3, 4], [9, 9]), rates([0, 2], [0, 4]), 0.95)
    assert np.isnan(test.p).all()
    assert np.isnan(test.low).all()


GROUPS = st.lists(st.tuples(st.integers(1, 300), st.integers(0, 300), st.integers(0, 300)), min_size=2, max_size=5)


@given(GROUPS, st.randoms(use_true_random=False))
def test_limit_and_p_value_agree_and_names_do_not_matter(groups, random):
    n = np.array([group[0] for group in groups])
    k = np.minimum([group[1] for group in groups], n)
    hits = np.minimum([group[2] for group in groups], k)
    test = outcome_test(rates(k, n), rates(hits, k), 0.95)
    tested = ~np.isnan(test.p)
    count = tested.sum()
    assert ((test.low > 0) == (test.p < 0.05 / max(count, 1)))[tested].all()
    assert not ((test.p < 1) & (test.p.T < 1)).any()  # nobody is disfavoured against each other
    order = list(range(len(groups)))
    random.shuffle(order)
    again = outcome_test(rates(k[order], n[order]), rates(hits[order], k[order]), 0.95)
    np.testing.assert_allclose(again.p, test.p[np.ix_(order, order)], rtol=1e-12)
    np.testing.assert_allclose(again.low, test.low[np.ix_(order, order)], rtol=1e-9, atol=1e-12)
