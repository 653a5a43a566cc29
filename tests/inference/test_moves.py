"""Moves of rates of the same people: Tango's limits by their own equation, McNemar's test as in statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from evenhand.inference import moves
from evenhand.inference.moves import Moves, mcnemar

Z = 1.959964


def limits(up: float, down: float, n: float, deviate: float = Z) -> tuple[float, float]:
    change, variance = (up - down) / n, ((up + down) - (up - down) ** 2 / n) / n**2
    low, high = moves.limits(np.array([change]), np.array([variance]), np.array([float(n)]), deviate)
    return float(low[0]), float(high[0])


def score(up: int, down: int, n: int, change: float) -> float:
    """Tango's statistic with the likeliest shares found by search, not by the formula."""

    def unlikely(share: float) -> float:
        parts = ((up, share + change), (down, share), (n - up - down, 1 - 2 * share - change))
        return -sum(count * np.log(max(part, 1e-300)) for count, part in parts)

    bounds = (max(0.0, -change), (1 - change) / 2)
    share = minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    return (up - down - n * change) / np.sqrt(n * (2 * share + change * (1 - change)))


@pytest.mark.parametrize(("up", "down", "n"), [(12, 2, 50), (1, 9, 30), (3, 3, 20), (40, 15, 400), (17, 1, 20)])
def test_the_limits_are_where_the_score_test_just_rejects(up, down, n):
    low, high = limits(up, down, n)
    assert score(up, down, n, low) == pytest.approx(Z, abs=1e-4)
    assert score(up, down, n, high) == pytest.approx(-Z, abs=1e-4)


@pytest.mark.parametrize("n", [1, 5, 50, 5000])
def test_without_a_flip_the_limits_have_a_width(n):
    low, high = limits(0, 0, n)
    assert high == pytest.approx(Z**2 / (n + Z**2), abs=1e-9)
    assert low == -high


@pytest.mark.parametrize(("up", "down", "n"), [(5, 0, 5), (0, 1, 1), (30, 0, 100), (0, 100, 100)])
def test_all_flips_in_one_direction(up, down, n):
    low, high = limits(up, down, n)
    seen = (up - down) / n
    assert -1 <= low <= seen <= high <= 1
    assert high - low > 0


def test_nobody_has_no_limits():
    low, high = moves.limits(np.zeros(1), np.zeros(1), np.zeros(1), Z)
    assert np.isnan(low[0])
    assert np.isnan(high[0])


def test_a_rate_that_moves_in_half_steps_is_not_taken_for_one_of_whole_ones():
    # Half an accuracy: 40 of 400 flips each move it by half of 1/400, so its standard error is half as large.
    whole, half = (
        limits(40, 0, 400),
        moves.limits(np.array([0.05]), np.array([(40 - 4) / 400**2 / 4]), np.array([400.0]), Z),
    )
    assert float(half[1][0] - half[0][0]) == pytest.approx((whole[1] - whole[0]) / 2, rel=0.05)


def test_many_flips_are_as_the_paired_variance_says():
    low, high = limits(300, 200, 10_000)
    error = np.sqrt(((500) - 100**2 / 10_000) / 10_000**2)
    assert (high - low) / (2 * Z * error) == pytest.approx(1, abs=0.01)


def test_a_factor_of_each_side_scales_the_reach():
    one = np.array([0.3])
    moved = Moves(one, one + 0.1, one / 1000, one / 1000, one / 1500, np.array([400.0]))
    plain, twice = moved.reach(Z), moved.reach(Z, 2.0, 2.0)
    assert [float(end[0]) for end in twice] == pytest.approx([2 * float(end[0]) for end in plain])


@pytest.mark.parametrize(("up", "down"), [(0, 0), (1, 0), (9, 1), (12, 12), (3, 20), (30, 10), (400, 350), (0, 40)])
def test_mcnemar_is_that_of_statsmodels(up, down):
    ours = mcnemar(up, down)
    table = [[10, up], [down, 10]]
    theirs = statsmodels_mcnemar(table, exact=True)
    assert ours.p_value == pytest.approx(1.0 if up + down == 0 else min(1.0, theirs.pvalue), rel=1e-9)
    assert ours.name == "McNemar (exact)"
