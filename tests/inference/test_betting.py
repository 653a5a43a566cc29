"""The mathematics of evidence over time: bets that lose on average while a claim holds, however they are placed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from evenhand.inference.betting import Pool, wagers
from support.profiles import each_of

BOTH = np.array([0, 1]), np.array([1, 0])


def money(k, n, share=1.0, shift=0.1, pairs=BOTH) -> np.ndarray:
    """The money of each pair after each period."""
    return np.exp(np.array(list(wagers(np.array(k), np.array(n), *pairs, share, shift))))


def expected(past_k, past_n, n, rates, share, shift) -> np.ndarray:
    """The exact mean, over everything the next period may bring, of what the money is multiplied by."""
    first, second = (np.arange(size + 1) for size in n)
    weights = np.outer(binom.pmf(first, n[0], rates[0]), binom.pmf(second, n[1], rates[1]))
    before = money(past_k, past_n, share, shift)[-1] if past_n else np.ones(2)
    total = np.zeros(2)
    for i, j in itertools.product(first, second):
        total += weights[i, j] * money([*past_k, [i, j]], [*past_n, list(n)], share, shift)[-1]
    return total / before


@pytest.mark.parametrize("past", [[], [[9, 1]], [[9, 1], [8, 3]], [[2, 8]]])
@pytest.mark.parametrize("n", [(6, 6), (2, 9), (1, 1)])
@each_of(
    "rates, share, shift",
    [
        ((0.6, 0.5), 1.0, 0.1),
        ((0.5, 0.5), 1.0, 0.1),
        ((1.0, 0.9), 1.0, 0.1),
        ((0.5, 0.4), 0.8, 0.0),
        ((0.3, 0.3), 1, 0),
    ],
    handful=2,
)
def test_on_average_nothing_is_won_while_the_claim_holds(past, n, rates, share, shift):
    """By enumeration of everything that can happen: the process is a supermartingale, not only in the long run."""
    assert expected(past, [[10, 10]] * len(past), n, rates, share, shift)[0] <= 1 + 1e-9


def test_on_average_much_is_won_when_it_does_not_hold():
    assert expected([[90, 30], [90, 30]], [[100, 100]] * 2, (8, 8), (0.9, 0.3), 1.0, 0.1)[0] > 2


@given(
    st.lists(st.tuples(*[st.tuples(st.integers(0, 40), st.integers(0, 40))] * 3), min_size=1, max_size=8),
    st.sampled_from([(1.0, 0.0), (1.0, 0.1), (1.0, 0.9), (0.8, 0.0), (0.0, 0.0)]),
)
def test_money_is_never_negative_or_undefined(periods, claim):
    n = [[max(a, b) for a, b in period] for period in periods]
    k = [[min(a, b) for a, b in period] for period in periods]
    pairs = tuple(np.array(part) for part in zip(*itertools.permutations(range(3), 2), strict=True))
    held = money(k, n, *claim, pairs=pairs)
    assert np.isfinite(held).all()
    assert (held > 0).all()


def test_nothing_is_bet_on_who_is_absent():
    held = money([[5, 0], [0, 7]], [[9, 0], [0, 9]])
    assert held == pytest.approx(1.0)


def test_the_first_period_costs_at_most_half():
    assert money([[50, 50]], [[100, 100]]).min() >= 0.5


def test_few_of_a_thousand_years_raise_an_alarm_at_the_boundary():
    random = np.random.default_rng(0)
    years, days = 400, 100
    n = random.poisson(60, (days, 2 * years))
    k = random.binomial(n, np.tile([0.5, 0.4], years))
    first = np.arange(years) * 2
    top = np.max(list(wagers(k, n, first, first + 1, 1.0, 0.1)), axis=0)
    assert (top >= math.log(20)).mean() <= 0.05
    assert np.exp(list(wagers(k, n, first, first + 1, 1.0, 0.1))[-1]).mean() <= 1.1


def test_a_pool_holds_the_mean():
    pool = Pool(2)
    known = np.array([True, True])
    assert math.exp(pool.after(np.log([3.0, 1.0]), known)) == pytest.approx(2.0)
    assert math.exp(pool.after(np.log([9.0, 1.0]), known)) == pytest.approx(5.0)


def test_a_newcomer_does_not_change_the_mean():
    pool = Pool(3)
    pool.after(np.log([8.0, 2.0, 1.0]), np.array([True, True, False]))
    assert math.exp(pool.log_mean) == pytest.approx(5.0)
    everyone = np.array([True, True, True])
    assert math.exp(pool.after(np.log([8.0, 2.0, 1.0]), everyone)) == pytest.approx(5.0)
    assert math.exp(pool.after(np.log([8.0, 2.0, 2.0]), everyone)) == pytest.approx(20 / 3)


def test_a_pool_of_nobody_stays_where_it_is():
    pool = Pool(1)
    assert pool.after(np.zeros(1), np.array([False])) == 0.0
