"""Two rates: exact tests as in scipy, odds ratios as in statsmodels, and what turns a result by trying every number."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import Table2x2

from evenhand.inference import hypotheses, two_rates
from evenhand.verdicts.verdict import passes


def tables(many: int, seed: int, most: int = 300) -> list[tuple[int, int, int, int]]:
    """Random (k1, n1, k2, n2), with small and empty margins among them."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(many):
        n1, n2 = random.integers(1, 10 ** random.uniform(0.4, math.log10(most)), 2, endpoint=True)
        rates = random.choice([0.0, 0.05, 0.5, 0.9, 1.0], 2) if random.random() < 0.3 else random.random(2)
        found.append((int(random.binomial(n1, rates[0])), int(n1), int(random.binomial(n2, rates[1])), int(n2)))
    return found


@pytest.mark.parametrize("most", [30, 1000, 1_000_000])
def test_fisher_and_mid_p_are_those_of_scipy(most):
    for k1, n1, k2, n2 in tables(200, most, most):
        fisher, mid = two_rates.exact_p(k1, n1, k2, n2)
        theirs = stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]])[1]
        assert fisher == pytest.approx(theirs, rel=1e-8, abs=1e-12)
        assert hypotheses.fisher_exact(k1, n1, k2, n2).p_value == fisher
        if n1 + n2 < 5000:  # the mid-p by its definition, over all tables
            law = stats.hypergeom(n1 + n2, k1 + k2, n1)
            every = law.pmf(np.arange(max(0, k1 + k2 - n2), min(n1, k1 + k2) + 1))
            seen = law.pmf(k1)
            alike = np.isclose(every, seen, rtol=1e-7, atol=0)
            assert mid == pytest.approx(every[(every < seen) & ~alike].sum() + every[alike].sum() / 2, rel=1e-8)


def test_the_lady_tasting_tea():
    """Fisher (1935): 3 of 4 cups. 1, 16, 36, 16 and 1 of 70 tables; those with 16 are as likely as what was seen."""
    assert two_rates.exact_p(3, 4, 1, 4) == (pytest.approx(34 / 70, rel=1e-12), pytest.approx(18 / 70, rel=1e-12))


def test_past_ten_million_people_there_is_still_a_p():
    fisher, mid = two_rates.exact_p(5_000_000, 10_000_000, 5_003_000, 10_000_000)
    theirs = stats.chi2_contingency([[5_000_000] * 2, [5_003_000, 4_997_000]], correction=False)[1]
    assert fisher == mid == pytest.approx(theirs, rel=1e-8)


@pytest.mark.parametrize("counts", [(0, 0, 3, 10), (3, 10, 0, 0), (0, 0, 0, 0)])
def test_nobody_in_a_group_has_no_test(counts):
    assert all(map(math.isnan, two_rates.exact_p(*counts)))
    assert math.isnan(two_rates.odds_ratio(*counts).value)
    assert two_rates.turn(*counts, lambda ratio: ratio >= 0.8) == two_rates.NO_TURN


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_odds_ratios_are_those_of_statsmodels(confidence):
    for k1, n1, k2, n2 in tables(200, 7):
        cells = np.array([[k1, n1 - k1], [k2, n2 - k2]], dtype=float)
        found = two_rates.odds_ratio(k1, n1, k2, n2, confidence)
        assert found.corrected == bool((cells == 0).any())
        theirs = Table2x2(cells + 0.5 if found.corrected else cells, shift_zeros=False)
        low, high = theirs.oddsratio_confint(1 - confidence)
        assert found.value == pytest.approx(theirs.oddsratio, rel=1e-8)
        assert (found.low, found.high) == (pytest.approx(low, rel=1e-8), pytest.approx(high, rel=1e-8))


def test_haldane_where_a_cell_is_0():
    """(0.5 × 7.5) / (10.5 × 3.5), by hand."""
    found = two_rates.odds_ratio(0, 10, 3, 10)
    assert (found.corrected, found.value) == (True, pytest.approx(3.75 / 36.75))
    reach = 1.959963984540054 * math.sqrt(1 / 0.5 + 1 / 10.5 + 1 / 3.5 + 1 / 7.5)
    assert found.low == pytest.approx(found.value * math.exp(-reach))


@pytest.mark.parametrize("limit", [Fraction(4, 5), Fraction(9, 10), Fraction(1, 2), Fraction(1)])
def test_what_turns_a_result_by_trying_every_number(limit):
    """Flip and swaps of 500 random tables, in exact fractions."""

    def ratio(k1, n1, k2, n2):
        return math.inf if k2 == 0 and k1 else math.nan if k2 == 0 else Fraction(k1, n1) / Fraction(k2, n2)

    turned = 0
    for k1, n1, k2, n2 in tables(500, 11, 60):
        found = two_rates.turn(k1, n1, k2, n2, lambda value: passes(value, float(limit), "ratio"))
        if k1 + k2 == 0:
            assert found == two_rates.NO_TURN
            continue
        moves = range(min(n1 - k1, k2) + 1)
        to_pass = [m for m in moves if ratio(k1 + m, n1, k2 - m, n2) >= limit]
        to_reverse = [m for m in moves if Fraction(k1 + m, n1) > Fraction(k2 - m, n2)]
        assert found.to_pass == (to_pass[0] if to_pass else None)
        assert found.to_reverse == (to_reverse[0] if to_reverse else None)
        now = ratio(k1, n1, k2, n2) >= limit
        more = k1 < n1 and ratio(k1 + 1, n1, k2, n2) >= limit
        fewer = k1 > 0 and ratio(k1 - 1, n1, k2, n2) < limit
        assert found.flip == ("one more" if not now and more else "one fewer" if now and fewer else "no")
        turned += found.flip != "no"
    assert turned > 20


@pytest.mark.parametrize("counts", tables(50, 5))
def test_a_shortfall_makes_it_even(counts):
    k1, n1, k2, n2 = counts
    missing = two_rates.shortfall(*counts)
    assert (k1 + missing) / n1 == pytest.approx((k2 - missing) / n2)


def test_tests_do_not_depend_on_which_outcome_is_counted():
    for k1, n1, k2, n2 in tables(100, 3):
        assert two_rates.exact_p(k1, n1, k2, n2) == pytest.approx(two_rates.exact_p(n1 - k1, n1, n2 - k2, n2), rel=1e-9)
        assert two_rates.exact_p(k1, n1, k2, n2) == pytest.approx(two_rates.exact_p(k2, n2, k1, n1), rel=1e-9)
