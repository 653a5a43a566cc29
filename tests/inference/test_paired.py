"""Two decisions about the same people: McNemar's exact test, Tango's interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from evenhand.errors import CallError
from evenhand.inference.paired import mcnemar, score_limits, tango

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
