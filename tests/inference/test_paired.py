"""Two decisions or scores of the same people: tests, intervals, and what they are elsewhere."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from evenhand.errors import CallError
from evenhand.inference.paired import Differences, cochran, mcnemar, score_limits, sign_flips, tango

counts = st.tuples(st.integers(0, 300), st.integers(0, 300), st.integers(0, 2000)).map(lambda t: (t[0], t[1], sum(t)))


@pytest.mark.parametrize(
    ("table", "confidence", "ends"),
    [
        ((1, 7, 21), 0.95, (-0.517, -0.026)),  # airway hyper-responsiveness; Fagerland, Lydersen and Laake 2014
        ((28, 25, 618), 0.90, (-0.0148, 0.0247)),  # R: PropCIs 0.3-0, scoreci.mp(25, 28, 618, 0.9)
    ],
)
def test_published_intervals(table, confidence, ends):
    low, high = tango(*table, confidence)
    digits = len(str(ends[0])) - 3
    assert (round(float(low), digits), round(float(high), digits)) == ends


@pytest.mark.parametrize("table", [(40, 20, 160), (12, 2, 50), (0, 3, 30), (5, 5, 10), (1, 0, 2000)])
def test_the_ends_solve_the_score_equation_with_the_likelihood_maximised_by_search(table):
    b, c, n = table

    def score(difference):
        def unlikely(q):  # -log likelihood of shares (q + difference, q, rest) of pairs
            shares = np.array([q + difference, q, 1 - 2 * q - difference])
            seen = np.array([b, c, n - b - c])
            return -np.sum(seen[seen > 0] * np.log(np.maximum(shares[seen > 0], 1e-300)))

        ends = max(0.0, -difference), (1 - difference) / 2
        found = optimize.minimize_scalar(unlikely, bounds=ends, method="bounded", options={"xatol": 1e-13})
        q = min((found.x, *ends), key=unlikely)
        return (b - c - n * difference) / np.sqrt(n * (2 * q + difference - difference**2))

    low, high = tango(b, c, n)
    z = stats.norm.ppf(0.975)
    assert score(float(low)) == pytest.approx(z, abs=2e-4)
    assert score(float(high)) == pytest.approx(-z, abs=2e-4)


def test_without_any_pair_that_differs_the_ends_are_known():
    z2 = stats.norm.ppf(0.975) ** 2
    for n in (1, 30, 10**9):
        low, high = tango(0, 0, n)
        assert float(high) == pytest.approx(z2 / (n + z2))
        assert float(low) == -float(high)


@given(counts)
def test_the_interval_holds_the_difference_has_a_width_and_turns_with_the_pair(table):
    b, c, n = table
    if n == 0:
        assert np.isnan(tango(b, c, n)).all()
        return
    low, high = tango(b, c, n)
    assert -1 <= low <= (b - c) / n <= high <= 1
    assert low < high
    assert (-high, -low) == tango(c, b, n)


def test_at_no_difference_the_score_is_that_of_mcnemar():
    b, c = 40, 20
    z = (b - c) / np.sqrt(b + c)
    low, _ = score_limits(b, c, 500, z, z)
    assert float(low) == pytest.approx(0, abs=1e-12)


def test_many_comparisons_at_once_are_those_one_by_one():
    b, c, n = np.array([[3, 0], [10, 7]]), np.array([[1, 0], [30, 7]]), np.array([[20, 20], [50, 50]])
    together = np.array(tango(b, c, n, 0.9))
    alone = [
        [[float(tango(*each, 0.9)[end]) for each in zip(*row, strict=True)] for row in zip(b, c, n, strict=True)]
        for end in (0, 1)
    ]
    assert together.tolist() == alone


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_that_of_statsmodels(b, c):
    from statsmodels.stats.contingency_tables import mcnemar as theirs

    assert float(mcnemar(b, c)) == pytest.approx(theirs([[5, b], [c, 9]], exact=True).pvalue, rel=1e-9)


def test_mcnemar_of_very_many_pairs_is_that_of_chi_square():
    b, c = 10**6, 10**6 + 3000
    assert float(mcnemar(b, c)) == pytest.approx(stats.chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1), rel=1e-3)


def test_impossible_counts_are_errors():
    for call in (
        lambda: tango(6, 6, 10),
        lambda: tango(-1, 0, 10),
        lambda: tango(np.nan, 0, 10),
        lambda: mcnemar(-1, 2),
    ):
        with pytest.raises(CallError, match="pairs"):
            call()
    with pytest.raises(CallError, match="whole"):
        mcnemar(1.5, 2)


# --- differences within units


def test_differences_of_decisions_have_tangos_limits():
    d = np.array([[1.0, -1, 0, 0, 1, 0, 0, 0, np.nan, 0]]).T
    low, high = Differences.of(d, 1.0).limits(1.96, 1.96)
    assert (float(low[0]), float(high[0])) == tuple(map(float, score_limits(2, 1, 9, 1.96, 1.96)))


def test_flips_alone_have_wilsons_upper_limit_and_a_lower_one_just_below():
    from statsmodels.stats.proportion import proportion_confint

    d = np.array([[1.0] * 7 + [0.0] * 93]).T
    low, high = Differences.of(d, 1.0).limits(*[stats.norm.ppf(0.975)] * 2)
    wilson = proportion_confint(7, 100, method="wilson")
    assert float(high[0]) == pytest.approx(wilson[1])
    assert wilson[0] - 0.005 < low[0] < wilson[0]


def test_many_differences_have_students_limits_and_p_value():
    random = np.random.default_rng(0)
    d = random.normal(0.02, 0.1, 4000)
    found = Differences.of(d[:, None], 1.0)
    test = stats.ttest_1samp(d, 0)
    z = stats.norm.ppf(0.975)
    low, high = found.limits(z, z)
    assert float(found.student[0]) == pytest.approx(test.pvalue)
    ours, theirs = float(high[0] - low[0]), float(np.ptp(test.confidence_interval()))
    assert theirs < ours < 1.01 * theirs


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0, np.nan]), min_size=1, max_size=30))
def test_no_width_is_0_and_a_swap_turns_the_interval(values):
    d = np.array(values)[:, None]
    found, turned = Differences.of(d, 1.0), Differences.of(-d, 1.0)
    low, high = found.limits(1.96, 2.5)
    if np.isnan(d).all():
        assert np.isnan([low, high]).all()
        return
    assert -1 <= low[0] <= found.values[0] <= high[0] <= 1
    assert high[0] > low[0]
    again = turned.limits(2.5, 1.96)
    assert (-high[0], -low[0]) == (again[0][0], again[1][0])
    assert found.student.tolist() == turned.student.tolist() or np.isnan(found.student).all()


def test_rounding_is_not_a_difference():
    d = np.array([[0.1 + 0.2 - 0.3] * 50]).T
    found = Differences.of(d, 1.0)
    assert found.moved[0] == 0
    assert found.student[0] == 1.0


def test_scores_that_are_all_the_same_have_no_limits():
    assert np.isnan(Differences.of(np.zeros((5, 1)), 0.0).limits(1.96, 1.96)).all()


@given(st.lists(st.integers(-4, 4), max_size=10))
def test_flipped_signs_are_all_combinations(steps):
    steps = np.array(steps, dtype=np.int64)
    every = [abs(np.dot(steps, signs)) for signs in itertools.product((1, -1), repeat=len(steps))]
    assert sign_flips(steps) == pytest.approx(np.mean(np.array(every) >= abs(steps.sum())))


@given(st.integers(0, 60), st.integers(0, 200))
def test_flipped_signs_of_decisions_are_mcnemars(b, c):
    steps = np.array([1] * b + [-1] * c + [0] * 20, dtype=np.int64)
    exact, few = float(mcnemar(b, c)), b + c <= 100
    assert sign_flips(3 * steps) == pytest.approx(exact, rel=1e-9 if few else 0.1, abs=1e-12 if few else 1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([0.1, 0.5]))
def test_cochrans_q_is_that_of_statsmodels(seed, groups, rate):
    from statsmodels.stats.contingency_tables import cochrans_q

    x = (np.random.default_rng(seed).random((120, groups)) < rate + 0.1 * np.arange(groups) / groups).astype(float)
    ours, theirs = cochran(x), cochrans_q(x)
    assert (ours.statistic, ours.df) == (pytest.approx(theirs.statistic), theirs.df)
    if not ours.note:
        assert ours.p_value == pytest.approx(theirs.pvalue)


def test_cochrans_q_of_few_units_is_a_permutation_test():
    x = np.zeros((50, 3))
    x[:3, 0] = 1  # three units, each positive in the first group alone: 1 of 9 ways to place them is at least as far
    test = cochran(x)
    assert "permutations" in test.note
    assert test.p_value == pytest.approx(1 / 9, abs=0.04)
    assert cochran(np.ones((5, 3))).p_value == 1.0
    assert np.isnan(cochran(np.ones((0, 3))).p_value)
