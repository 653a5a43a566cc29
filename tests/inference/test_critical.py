"""Critical values: the same as tables and scipy have them, and as simulation has those that no table has."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evenhand.inference import critical

SIMULATED = 400_000


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("groups", [2, 3, 5, 8, 20, 100])
def test_tukey_is_the_studentised_range(groups: int, confidence: float) -> None:
    expected = stats.studentized_range.ppf(confidence, groups, np.inf) / math.sqrt(2)
    assert critical.tukey(groups, confidence) == pytest.approx(expected, abs=1e-6)


def test_tukey_of_one_group_is_a_plain_deviate() -> None:
    assert critical.tukey(1, 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_tukey_grows_with_the_groups_and_with_the_confidence() -> None:
    by_groups = [critical.tukey(groups, 0.95) for groups in (2, 3, 5, 10, 50, 500)]
    by_confidence = [critical.tukey(6, confidence) for confidence in (0.5, 0.9, 0.95, 0.99, 0.999)]
    assert by_groups == sorted(by_groups)
    assert by_confidence == sorted(by_confidence)


@pytest.mark.parametrize(
    ("others", "published"), [(1, 1.96), (2, 2.21), (3, 2.35), (4, 2.44), (5, 2.51), (6, 2.57), (7, 2.61), (9, 2.69)]
)
def test_dunnett_is_that_of_the_table(others: int, published: float) -> None:
    """Dunnett (1964), two-sided, 5 %, infinite degrees of freedom, equal sizes."""
    assert critical.dunnett((40.0,) * others, 40.0, 0.95) == pytest.approx(published, abs=0.006)


@pytest.mark.parametrize(
    ("sizes", "reference"), [((30.0, 200.0, 2000.0), 500.0), ((2000.0,) * 7, 30.0), ((30.0,) * 7, 2000.0)]
)
def test_dunnett_holds_as_often_as_it_says(sizes: tuple[float, ...], reference: float) -> None:
    random = np.random.default_rng(1)
    error = random.normal(0, 1 / np.sqrt(sizes), (SIMULATED, len(sizes)))
    away = error - random.normal(0, 1 / math.sqrt(reference), (SIMULATED, 1))
    away /= np.sqrt(1 / np.array(sizes) + 1 / reference)
    q = critical.dunnett(sizes, reference, 0.95)
    assert (np.abs(away).max(axis=1) <= q).mean() == pytest.approx(0.95, abs=0.0015)


def test_dunnett_lies_between_one_comparison_and_independent_ones() -> None:
    for reference in (1.0, 100.0, 1e6):
        q = critical.dunnett((100.0,) * 6, reference, 0.95)
        assert critical.upper(0.025) < q <= critical.sidak(6, 0.95) + 1e-9


def test_sidak_and_bonferroni() -> None:
    assert critical.sidak(1, 0.95) == critical.bonferroni(1, 0.95) == pytest.approx(critical.upper(0.025))
    for groups in (2, 5, 40):
        together = stats.norm.cdf(critical.sidak(groups, 0.95)) * 2 - 1
        assert together**groups == pytest.approx(0.95)
        assert stats.norm.sf(critical.bonferroni(groups, 0.95)) == pytest.approx(0.025 / groups)
        assert critical.sidak(groups, 0.95) < critical.bonferroni(groups, 0.95)


def test_the_far_end_spends_what_the_near_end_leaves() -> None:
    for groups in (2, 5, 20, 300):
        q = critical.tukey(groups, 0.95)
        c = critical.one_sided(q, 0.95)
        assert stats.norm.sf(q) + stats.norm.sf(c) == pytest.approx(0.05)
        assert stats.norm.isf(0.05) < c <= q + 1e-9
    assert critical.one_sided(critical.tukey(2, 0.95), 0.95) == pytest.approx(1.959964, abs=1e-6)


@pytest.mark.parametrize(
    "deviations",
    [[1.0, 1.0], [0.3] * 8, [0.01, 0.1, 1.0], [1.0] + [0.001] * 5, [0.2, 0.0], [0.2, 0.1, 0.0, 0.0], [0.05] * 40],
)
def test_expected_range_is_that_of_simulated_values(deviations: list[float]) -> None:
    drawn = np.random.default_rng(2).normal(0, deviations, (SIMULATED // 4, len(deviations)))
    expected = np.ptp(drawn, axis=1).mean()
    assert critical.expected_range(deviations) == pytest.approx(expected, rel=0.01)


def test_nothing_varies_and_nothing_lies_apart() -> None:
    assert critical.expected_range([]) == 0.0
    assert critical.expected_range([0.0, 0.0]) == 0.0
