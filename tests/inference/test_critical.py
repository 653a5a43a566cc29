"""Critical values: the same as tables and scipy have them, and as simulation has those that no table has."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evenhand.inference import critical

SIMULATED = 400_000


def test_nodes_and_weights_integrate_polynomials() -> None:
    for degree in range(0, 40, 2):
        assert (critical._WEIGHTS * critical._NODES**degree).sum() == pytest.approx(2 / (degree + 1), rel=1e-13)


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


def test_sidak() -> None:
    assert critical.sidak(1, 0.95) == pytest.approx(critical.upper(0.025))
    for groups in (2, 5, 20):
        inside = 1 - 2 * stats.norm.sf(critical.sidak(groups, 0.95))
        assert inside**groups == pytest.approx(0.95)


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
