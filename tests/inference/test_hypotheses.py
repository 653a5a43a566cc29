"""Tests agree with statsmodels and scipy, hold their size where those do not, and take counts of any size."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.proportion import proportions_ztest

import evenhand as eh
from evenhand.errors import CallError
from evenhand.inference import hypotheses
from evenhand.inference import stratified as stratified_tests
from evenhand.inference.hypotheses import (
    chi_square,
    class_independence,
    cohens_h,
    combined,
    fisher_exact,
    independence,
    odds_ratio,
    permutation,
    two_proportion_z,
)
from evenhand.inference.stratified import breslow_day, cochran_mantel_haenszel, mantel_haenszel_odds_ratio
from support.profiles import examples


def close(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-8, abs=1e-12)


SEVERAL = st.integers(2, 6)


@st.composite
def tables(draw: st.DrawFn, groups: st.SearchStrategy[int] = SEVERAL, most: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Positives and people of some groups; some outcome of both kinds."""
    many = draw(groups)
    n = np.array(draw(st.lists(st.integers(1, most), min_size=many, max_size=many)))
    k = np.array([draw(st.integers(0, int(each))) for each in n])
    assume(0 < k.sum() < n.sum())
    return k, n


@st.composite
def stratified(draw: st.DrawFn, groups: int = 2, least: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """[strata, groups] in which every stratum has all groups and both outcomes."""
    return tuple(
        np.stack(part)
        for part in zip(
            *draw(st.lists(tables(groups=st.just(groups), most=60), min_size=least, max_size=5)), strict=True
        )
    )


def two_by_two(k: np.ndarray, n: np.ndarray) -> list[np.ndarray]:
    return [np.array([[a, m - a], [b, o - b]]) for (a, b), (m, o) in zip(k.tolist(), n.tolist(), strict=True)]


def berkeley() -> tuple[np.ndarray, np.ndarray]:
    """Admitted and applicants, [department, (Male, Female)]."""
    table = eh.datasets.berkeley()
    cells = {
        (department, gender, admitted): count
        for department, gender, admitted, count in zip(
            *(table[column].tolist() for column in ("department", "gender", "admitted", "count")), strict=True
        )
    }
    genders = ("Male", "Female")
    departments = sorted({department for department, _, _ in cells})
    k = np.array([[cells[d, g, 1] for g in genders] for d in departments])
    return k, k + np.array([[cells[d, g, 0] for g in genders] for d in departments])


class TestAgainstOthers:
    @given(tables(groups=st.just(2)))
    def test_two_proportion_z(self, table):
        k, n = table
        z, p = proportions_ztest(k, n)
        test = two_proportion_z(k[0], n[0], k[1], n[1])
        assert (test.statistic, test.p_value) == close((z, p))

    @given(tables())
    def test_chi_square(self, table):
        k, n = table
        expected = stats.chi2_contingency(np.stack([k, n - k]), correction=False)
        test = chi_square(k, n)
        assert (test.statistic, test.p_value, test.df) == close((expected.statistic, expected.pvalue, expected.dof))

    @given(tables(groups=st.just(2)))
    def test_fisher(self, table):
        k, n = table
        expected = stats.fisher_exact(np.stack([k, n - k], axis=1))
        test = fisher_exact(k[0], n[0], k[1], n[1])
        assert test.p_value == close(expected.pvalue)
        assert odds_ratio(k[0], n[0], k[1], n[1]) == test.statistic == close(expected.statistic)

    @given(stratified())
    def test_stratified(self, table):
        k, n = table
        other = StratifiedTable(two_by_two(k, n))
        test = cochran_mantel_haenszel(k, n)
        expected = other.test_null_odds(correction=False)
        assert (test.statistic, test.p_value, test.df) == close((expected.statistic, expected.pvalue, 1))

    @given(stratified())
    def test_common_odds_ratio(self, table):
        k, n = table
        assume(np.any(k[:, 1] * (n - k)[:, 0]))
        other = StratifiedTable(two_by_two(k, n))
        assert mantel_haenszel_odds_ratio(k, n) == close(other.oddsratio_pooled)

    @given(stratified(least=2))
    def test_equal_odds(self, table):
        k, n = table
        odds = mantel_haenszel_odds_ratio(k, n)
        # Near 1 the other's formula divides 0 by 0, and near the ends of its range it cancels.
        assume(0.02 < odds < 50 and abs(odds - 1) > 1e-3)
        expected = StratifiedTable(two_by_two(k, n)).test_equal_odds(adjust=False)
        with patch.object(stratified_tests, "SMALL", 0):  # sparse strata are treated otherwise: see test_stratified
            test = breslow_day(k, n)
        assert test.statistic == pytest.approx(expected.statistic, rel=1e-8, abs=1e-8)
        assert test.p_value == pytest.approx(expected.pvalue, rel=1e-8, abs=1e-8)
        assert test.df == len(n) - 1

    @given(stratified(groups=4))
    def test_stratified_with_several_groups(self, table):
        """The definition, stratum by stratum, with the last group left out so that the covariance has an inverse."""
        k, n = table
        above, covariance = np.zeros(3), np.zeros((3, 3))
        for positives, people in zip(k, n, strict=True):
            total, m = people.sum(), positives.sum()
            above += (positives - people * m / total)[:3]
            share = people[:3] / total
            covariance += m * (total - m) * total / (total - 1) / total * (np.diag(share) - np.outer(share, share))
        statistic = above @ np.linalg.solve(covariance, above)
        test = cochran_mantel_haenszel(k, n)
        assert (test.statistic, test.df) == close((statistic, 3))
        assert test.p_value == close(stats.chi2.sf(statistic, 3))

    def test_permutation_nears_the_exact_p_value(self):
        assert permutation([7, 1], [12, 11], draws=40_000).p_value == pytest.approx(
            stats.fisher_exact([[7, 5], [1, 10]]).pvalue, abs=0.002
        )

    def test_permutation_p_value_is_exact_on_an_enumerated_table(self):
        k, n = np.array([0, 3, 1]), np.array([6, 5, 4])
        seen, exact = chi_square(k, n).statistic, 0.0
        for a in range(5):
            for b in range(5 - a):
                dealt = np.array([a, b, 4 - a - b])
                if np.all(dealt <= n) and chi_square(dealt, n).statistic >= seen - 1e-9:
                    exact += stats.multivariate_hypergeom.pmf(dealt, n, 4)
        assert permutation(k, n, draws=40_000).p_value == pytest.approx(exact, abs=0.01)

    @given(st.data())
    def test_classes(self, data):
        shape = data.draw(st.tuples(st.integers(2, 4), st.integers(2, 4)))
        cells = st.lists(st.integers(5, 90), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
        table = np.array(data.draw(cells)).reshape(shape)
        expected = stats.chi2_contingency(table, correction=False)
        assume(expected.expected_freq.min() >= 5)
        test = class_independence(table)
        assert (test.statistic, test.p_value, test.df) == close((expected.statistic, expected.pvalue, expected.dof))
        assert class_independence(table[::-1, ::-1]).p_value == close(expected.pvalue)


class TestBerkeley:
    def test_pooled(self):
        k, n = berkeley()
        (men, women), (all_men, all_women) = k.sum(axis=0), n.sum(axis=0)
        assert odds_ratio(men, all_men, women, all_women) == pytest.approx(1.841, abs=5e-4)
        assert chi_square([men, women], [all_men, all_women]).statistic == pytest.approx(92.21, abs=5e-3)

    def test_within_departments(self):
        k, n = berkeley()
        assert mantel_haenszel_odds_ratio(k, n) == pytest.approx(0.905, abs=5e-4)
        assert cochran_mantel_haenszel(k, n).p_value == pytest.approx(0.217, abs=5e-4)

    def test_departments_differ(self):
        k, n = berkeley()
        assert breslow_day(k, n).p_value == pytest.approx(0.002, abs=5e-4)
        assert breslow_day(k, n).df == 5


class TestChoice:
    def test_by_expected_counts(self):
        assert independence([50, 40], [100, 100]).name == "chi-square"
        assert independence([2, 0], [30, 30]).name == "Fisher's exact"
        assert independence([50, 40, 2], [100, 100, 8]).name == hypotheses.BOTH
        assert independence([5, 4, 2], [10, 10, 8]).name == "permutation"
        assert independence([50, 40, 20], [100, 100, 40]).name == "chi-square"

    def test_weighted_counts_go_to_chi_square(self):
        assert independence([50.5, 40], [100, 100]).note == ""
        test = independence([2.5, 0], [30, 30])
        assert test.name == "chi-square"
        assert "approximate" in test.note

    def test_size_on_sparse_tables(self):
        """Chi-square alone rejects 8 % of these at nominal 5 %."""
        rng = np.random.default_rng(7)
        n = np.array([2000, 30, 30, 30, 30])
        rejected = [
            independence(rng.binomial(n, 0.02), n, draws=999, random_state=seed).p_value <= 0.05 for seed in range(500)
        ]
        assert np.mean(rejected) <= 0.06

    def test_a_group_beside_a_huge_one_is_tested_exactly(self):
        """By enumeration chi-square rejects 7.8 % of these at nominal 5 %: 28 people allow 29 rates."""
        positives = np.arange(29)
        chance = stats.binom.pmf(positives, 28, 0.179)
        tests = [independence([k, 17_900], [28, 100_000]) for k in positives]
        chi = [chi_square([k, 17_900], [28, 100_000]).p_value <= 0.05 for k in positives]
        assert {test.name for test in tests} == {"Fisher's exact"}
        assert chance @ [test.p_value <= 0.05 for test in tests] <= 0.05 < 0.07 < chance @ chi
        assert independence([600, 17_900], [1500, 100_000]).name == "chi-square"

    def test_a_small_group_does_not_put_a_floor_under_the_p_value(self):
        """COMPAS by race: the groups of 11 and 32 people took 4e-42 up to 1/1001."""
        k, n = [900, 500, 3], [1500, 1500, 9]
        test = independence(k, n, draws=1000)
        without = chi_square(k[:2], n[:2])
        assert (test.name, test.p_value) == (hypotheses.BOTH, 2 * without.p_value)
        assert test.p_value < 1e-40
        unusual = independence([150, 150, 9], [1500, 1500, 9], draws=1000)
        assert unusual.p_value < 1e-4  # which the test without the small group cannot see

    def test_size_with_classes(self):
        """Adding tables of each class against the rest rejects 7 to 9 % at nominal 5 %."""
        rng = np.random.default_rng(8)
        for sizes in ([100, 60, 40], [300, 10, 8]):
            rejected = [
                class_independence(
                    np.stack([rng.multinomial(n, [0.6, 0.25, 0.15]) for n in sizes]), 200, seed
                ).p_value <= 0.05
                for seed in range(600)
            ]  # fmt: skip
            assert np.mean(rejected) <= 0.08

    def test_empty_groups_and_classes(self):
        assert class_independence([[3, 0, 4], [5, 0, 6]]) == class_independence([[3, 4], [5, 6]])
        assert class_independence([[3, 4, 1], [0, 0, 0]]).note
        assert class_independence([[3, 0], [9, 0]]).p_value == 1
        assert class_independence([[0, 0], [0, 0]]).note

    def test_seeds(self):
        k, n = [3, 0, 2, 1], [9, 90, 20, 7]
        assert permutation(k, n, random_state=4) == permutation(k, n, random_state=4)
        several = {permutation(k, n, draws=500, random_state=seed).p_value for seed in range(5)}
        assert len(several) > 1
        assert max(several) - min(several) < 0.1

    def test_permutation_draws_in_portions_without_counting_any_twice(self):
        n = np.full(2000, 3)
        k = np.zeros(2000)
        k[:10] = 3
        assert permutation(k, n, draws=1200, most=1200).p_value == 1 / 1201

    @examples(30)
    @given(tables(most=30), st.randoms(use_true_random=False))
    def test_neither_order_nor_naming_matters(self, table, random):
        k, n = table
        order = list(range(len(n)))
        random.shuffle(order)
        for test in (chi_square, independence, lambda k, n: permutation(k, n, draws=200)):
            assert test(k, n) == test(k[order], n[order])
            flipped = test(n - k, n)
            assert (flipped.name, flipped.p_value) == (test(k, n).name, close(test(k, n).p_value))

    @given(stratified(groups=3), st.randoms(use_true_random=False))
    def test_order_of_strata_and_groups(self, table, random):
        k, n = table
        strata, groups = list(range(len(n))), list(range(3))
        random.shuffle(strata)
        random.shuffle(groups)
        moved = np.ix_(strata, groups)
        assert cochran_mantel_haenszel(k, n).statistic == close(cochran_mantel_haenszel(k[moved], n[moved]).statistic)


class TestCombined:
    def test_chi_squares_add(self):
        first, second = chi_square([50, 40], [100, 100]), chi_square([30, 40, 50], [100, 100, 100])
        both = combined([first, second])
        assert both.statistic == close(first.statistic + second.statistic)
        assert both.df == 3
        assert both.p_value == close(stats.chi2.sf(both.statistic, 3))
        assert combined([second, first]) == both

    def test_others_by_bonferroni(self):
        first, second = chi_square([50, 40], [100, 100]), fisher_exact(5, 9, 0, 9)
        assert combined([first, first], apart=False).p_value == 2 * first.p_value
        both = combined([first, second])
        assert (both.name, both.p_value) == ("Fisher's exact", 2 * second.p_value)
        assert "Bonferroni" in both.note
        assert combined([first, first, fisher_exact(1, 9, 1, 9)]).p_value <= 1

    def test_tests_that_were_not_made(self):
        none, one = chi_square([5], [9]), chi_square([50, 40], [100, 100])
        assert combined([none, one]) == one
        assert math.isnan(combined([none, none]).p_value)
        assert math.isnan(combined([]).p_value)


class TestEdges:
    @pytest.mark.parametrize("k", [[0, 0, 0], [7, 8, 9]])
    @pytest.mark.parametrize("test", [chi_square, permutation, independence])
    def test_one_outcome(self, test, k):
        found = test(k, [7, 8, 9])
        assert (found.statistic, found.p_value) == (0, 1)

    def test_one_outcome_of_two_groups(self):
        assert two_proportion_z(0, 5, 0, 9) == hypotheses.Test("two-proportion z", 0.0, 1.0)
        assert two_proportion_z(5, 5, 9, 9).p_value == 1
        assert fisher_exact(5, 5, 9, 9).p_value == 1

    def test_empty_groups_are_left_out(self):
        assert chi_square([5, 0, 9], [20, 0, 20]) == chi_square([5, 9], [20, 20])
        assert permutation([5, 0, 9], [20, 0, 20]) == permutation([5, 9], [20, 20])
        for test in (chi_square, permutation, independence):
            assert math.isnan(test([5, 0], [20, 0]).p_value)
            assert test([], []).note
        assert math.isnan(two_proportion_z(1, 2, 0, 0).p_value)
        assert math.isnan(fisher_exact(0, 0, 1, 2).p_value)

    def test_strata_without_a_comparison_contribute_nothing(self):
        k, n = [[5, 3, 6], [2, 7, 4]], [[9, 12, 10], [8, 11, 9]]
        idle_k, idle_n = [[3, 0, 0], [4, 5, 6], [0, 0, 0], [0, 0, 0]], [[9, 0, 0], [4, 5, 6], [3, 3, 3], [0, 0, 0]]
        found, expected = cochran_mantel_haenszel(k + idle_k, n + idle_n), cochran_mantel_haenszel(k, n)
        assert (found.statistic, found.df) == close((expected.statistic, expected.df))
        two = np.array(k)[:, :2], np.array(n)[:, :2]
        more = np.array(k + idle_k)[:, :2], np.array(n + idle_n)[:, :2]
        assert mantel_haenszel_odds_ratio(*more) == mantel_haenszel_odds_ratio(*two)
        assert breslow_day(*more) == breslow_day(*two)

    def test_groups_that_never_meet(self):
        """a and b share one stratum, c and d another: two comparisons, so two degrees of freedom."""
        k, n = [[5, 3, 0, 0], [0, 0, 8, 2]], [[9, 12, 0, 0], [0, 0, 10, 11]]
        found = cochran_mantel_haenszel(k, n)
        parts = [cochran_mantel_haenszel([k[0][:2]], [n[0][:2]]), cochran_mantel_haenszel([k[1][2:]], [n[1][2:]])]
        assert found.df == 2
        assert found.statistic == close(sum(part.statistic for part in parts))

    def test_nothing_to_compare_within_strata(self):
        assert math.isnan(cochran_mantel_haenszel([[5, 0], [0, 3]], [[9, 0], [0, 9]]).p_value)
        assert cochran_mantel_haenszel([[0, 0], [3, 3]], [[9, 5], [3, 3]]).p_value == 1
        assert math.isnan(mantel_haenszel_odds_ratio([[0, 0]], [[4, 4]]))
        assert mantel_haenszel_odds_ratio([[3, 0]], [[4, 4]]) == math.inf
        assert math.isnan(breslow_day([[3, 1]], [[4, 4]]).p_value)
        assert "infinite" in breslow_day([[3, 0], [2, 0]], [[4, 4], [5, 5]]).note

    def test_equal_odds_at_a_common_ratio_of_one(self):
        assert breslow_day([[2, 2], [3, 3]], [[4, 4], [9, 9]]).statistic == close(0)
        test = breslow_day([[30, 10], [10, 30]], [[40, 40], [40, 40]])
        assert test.statistic == close(40)

    def test_refusals(self):
        with pytest.raises(CallError, match="whole counts"):
            fisher_exact(1.5, 3, 1, 3)
        with pytest.raises(CallError, match="chi_square"):
            permutation([1.5, 1, 1], [3, 3, 3])
        with pytest.raises(CallError, match="one shape"):
            chi_square([1, 2], [3, 3, 3])
        for k, n in (([4, 1], [3, 3]), ([-1, 1], [3, 3]), ([math.nan, 1], [3, 3]), ([1, 1], [3, math.inf])):
            with pytest.raises(CallError, match="0 <= k <= n"):
                chi_square(k, n)
        with pytest.raises(CallError, match="two groups"):
            breslow_day([[1, 1, 1]], [[3, 3, 3]])
        with pytest.raises(CallError, match="strata, groups"):
            cochran_mantel_haenszel([1, 1], [3, 3])
        with pytest.raises(CallError, match="one number for each group"):
            chi_square([[1, 1]], [[3, 3]])
        with pytest.raises(CallError, match="draws=0"):
            permutation([1, 1], [3, 3], draws=0)

    def test_effect_sizes(self):
        assert cohens_h(1, 0) == close(math.pi)
        assert cohens_h(0.2, 0.6) == -cohens_h(0.6, 0.2)
        assert math.isnan(cohens_h(math.nan, 0.5))
        assert odds_ratio(3, 3, 1, 3) == math.inf
        assert math.isnan(odds_ratio(0, 3, 0, 3))


class TestHugeCounts:
    MANY = 10**12

    @pytest.mark.parametrize("small", [(1, 2), (0, 30), (29, 30), (500, 10**6), (5 * 10**11, 10**12), (0, 10**12)])
    @pytest.mark.parametrize("positives", [1, 10**3, 10**6, 5 * 10**11, 10**12 - 1])
    def test_finite(self, small, positives):
        k, n = [small[0], positives], [small[1], self.MANY]
        for test in (
            two_proportion_z(k[0], n[0], k[1], n[1]),
            fisher_exact(k[0], n[0], k[1], n[1]),
            chi_square(k, n),
            independence(k, n),
            permutation([*k, 3], [*n, 7]),
            independence([*k, 3], [*n, 7]),
            cochran_mantel_haenszel([k, [1, 2]], [n, [4, 5]]),
            cochran_mantel_haenszel([[*k, 3], [1, 2, 3]], [[*n, 7], [4, 5, 6]]),
            breslow_day([k, [1, 2]], [n, [4, 5]]),
        ):
            assert 0 <= test.p_value <= 1
            assert not math.isnan(test.statistic)

    def test_a_small_group_beside_a_huge_one_counts(self):
        """The group of 30 in strata of 10^12 tells as much as it would against a known rate."""
        k, n = np.array([[9, 2 * 10**11, 10**11]]), np.array([[30, 10**12, 5 * 10**11]])
        test = cochran_mantel_haenszel(k, n)
        assert test.df == 2
        assert test.statistic == pytest.approx((9 - 6) ** 2 / (30 * 0.2 * 0.8), rel=1e-5)

    @pytest.mark.parametrize(("k", "n"), [(0, 30), (3, 30), (29, 30), (2, 3)])
    @pytest.mark.parametrize("share", [1e-4, 0.02, 0.4, 0.9])
    def test_fisher_past_its_limit(self, k, n, share, monkeypatch):
        rest = 9 * 10**6
        exact = fisher_exact(k, n, int(share * rest), rest)
        monkeypatch.setattr(hypotheses, "FISHER_MOST", 10**6)
        near = fisher_exact(k, n, int(share * rest), rest)
        assert "binomial" in near.note
        assert near.p_value == pytest.approx(exact.p_value, rel=0.01)
        assert fisher_exact(int(share * rest), rest, k, n).p_value == near.p_value

    def test_fisher_past_its_limit_with_few_positives(self, monkeypatch):
        exact = fisher_exact(3, 10**6, 4, 8 * 10**6)
        monkeypatch.setattr(hypotheses, "FISHER_MOST", 10**6)
        near = fisher_exact(3, 10**6, 4, 8 * 10**6)
        assert near.p_value == pytest.approx(exact.p_value, rel=1e-3)
        assert fisher_exact(10**6 - 3, 10**6, 8 * 10**6 - 4, 8 * 10**6).p_value == close(near.p_value)

    def test_fisher_past_its_limit_with_large_cells(self):
        test = fisher_exact(5 * 10**11, 10**12, 5 * 10**11 + 10**6, 10**12)
        assert test.name == "chi-square"
        assert "too many" in test.note
        assert test.p_value == close(chi_square([5 * 10**11, 5 * 10**11 + 10**6], [10**12, 10**12]).p_value)

    def test_permutation_past_its_limit(self):
        test = permutation([3, 10**11, 9], [30, 10**12, 60])
        assert test.name == "chi-square"
        assert "asymptotic" in test.note


class TestCases:
    """Numbers of other tools that may lie beside the checkout."""

    @staticmethod
    def load(shared: Path, name: str) -> dict[str, Any]:
        cases = json.loads((shared / "cases" / f"{name}.json").read_text(encoding="utf-8"))
        return {case["id"]: case for case in cases}

    @staticmethod
    def rows(shared: Path, name: str) -> list[dict[str, str]]:
        with (shared / "data" / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_berkeley(self, shared):
        cases = self.load(shared, "peers")
        k, n = berkeley()
        same = breslow_day(k, n)
        found = {
            "ucb_cmh_pvalue": cochran_mantel_haenszel(k, n).p_value,
            "ucb_breslow_day_statistic": same.statistic,
            "ucb_breslow_day_pvalue": same.p_value,
            "ucb_fisher_dept_A_p": fisher_exact(k[0, 0], n[0, 0], k[0, 1], n[0, 1]).p_value,
        }
        assert found == {name: close(cases[name]["expected"]) for name in found}

    def test_the_table_is_the_same(self, shared):
        k, _ = berkeley()
        admitted = {
            (row["Dept"], row["Gender"]): int(row["Freq"])
            for row in self.rows(shared, "ucb_admissions.csv")
            if row["Admit"] == "Admitted"
        }
        assert k.tolist() == [[admitted[d, g] for g in ("Male", "Female")] for d in "ABCDEF"]

    @pytest.mark.parametrize("name", ["stat_compasbw_ztest", "stat_german_ztest"])
    def test_z(self, shared, name):
        case = self.load(shared, "peers")[name]
        (attribute,) = case["sensitive"]
        rows = self.rows(shared, case["file"])
        counts: list[int] = []
        for group in (case["params"]["group1"], case["params"]["group2"]):
            decided = [float(row[case["prediction"]]) for row in rows if row[attribute] == group]
            counts += [sum(value == 1 for value in decided), len(decided)]
        assert two_proportion_z(*counts).statistic == close(case["expected"])

    @pytest.mark.parametrize("name", ["exf-ztest-8-0", "exf-ztest-equal"])
    def test_small_z(self, shared, name):
        case = self.load(shared, "virny_exfairness_kamiran")[name]
        decided, group = (np.array(case["inputs"][column]) for column in ("y_pred", "A"))
        k1, n1, k2, n2 = (value for g in (0, 1) for value in (decided[group == g].sum(), (group == g).sum()))
        test, expected = two_proportion_z(k1, n1, k2, n2), case["expected"]
        assert (test.statistic, test.p_value) == close((expected["z"], expected["p_value"]))
        assert (test.p_value < 0.05) == expected["significant"]
        assert cohens_h(k1 / n1, k2 / n2) == close(expected.get("cohens_h", 0.0))

    def test_cohens_h(self, shared):
        case = self.load(shared, "virny_exfairness_kamiran")["exf-cohens-h"]
        assert [cohens_h(*pair) for pair in case["inputs"]["pairs"]] == close(case["expected"])

    def test_chi_square_p_values(self, shared):
        """A chi-square comes out of `combined` as it went in, with the p-value of its sum and degrees of freedom."""
        case = self.load(shared, "virny_exfairness_kamiran")["exf-chi2-bug"]
        nought = hypotheses.Test("chi-square", 0.0, 1.0, 0)
        found = [
            combined([hypotheses.Test("chi-square", value, 0.5, case["inputs"]["df"]), nought]).p_value
            for value in case["inputs"]["chi_square"]
        ]
        assert found == close(case["expected"]["correct_value"])
