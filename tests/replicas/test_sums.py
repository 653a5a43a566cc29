"""Sums over groups: they add, and the spread of their means allows for people and for replicas."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.inference import simultaneous
from evenhand.inference.replica_spread import Shared
from evenhand.replicas.dimensions import measure
from evenhand.replicas.sums import Sums, collect


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_what_moves_two_groups_alike_does_not_widen_the_interval_of_their_gap():
    moves = np.random.default_rng(0).normal(0, 0.05, 20)
    apart = Shared(np.array([0.4, 0.6]), np.full(2, 0.01), np.full(2, 400.0), np.stack([moves, -moves]))
    together = Shared(apart.values, apart.errors, apart.sizes, np.stack([moves, moves]))
    still = Shared(apart.values, apart.errors, apart.sizes, np.zeros((2, 20)))
    both = np.ones((1, 2), dtype=bool)
    ends = [simultaneous.between_extremes([spread], both, 0.95).difference for spread in (apart, together, still)]
    assert ends[1] == close(ends[2])
    assert ends[0][0] < ends[1][0]
    assert ends[0][1] > ends[1][1]
    own = [simultaneous.own(spread, 0.95) for spread in (apart, together, still)]
    assert own[0][0].tolist() == own[1][0].tolist()
    assert (own[1][0] < own[2][0]).all()


def test_sums_add_and_take_away():
    values, codes = np.array([0.1, 0.2, 0.4, np.nan, 0.9]), np.array([0, 1, 2, 0, -1])
    sums = Sums.of(values, codes, 3, None)
    assert sums.n.tolist() == [1, 1, 1]
    assert sums.means == close([0.1, 0.2, 0.4])
    assert sums.regroup([0, 0, 1], 2).means == close([0.15, 0.4])
    assert sums.rest().means == close([0.3, 0.25, 0.15])
    assert np.isnan(sums.spread().limits(2.0, 0.0)[0]).all()


def test_a_group_that_does_not_vary_by_chance_borrows_some_variance():
    values = np.concatenate([np.ones(5), np.random.default_rng(0).random(500)])
    sums = Sums.of(values, np.repeat([0, 1], [5, 500]), 2, np.zeros((10, 2)))
    assert sums.spread().errors[0] > 0.05
    low, high = sums.spread().limits(1.96, 0.0)
    assert low[0] < 0.6
    assert high[0] == 1.0


def test_the_jackknife_of_a_mean_is_its_standard_error():
    """What is known in closed form: the mean over replicas of a group's mean prediction."""
    p = np.random.default_rng(0).random((12, 5))
    sums = collect(measure(p, groups=np.zeros(5, dtype=np.intp)), np.zeros(5, dtype=np.intp), 1)
    spread = sums["mean_prediction"].spread()
    expected = p.mean(axis=1).var(ddof=1) / 12
    assert float((spread.moves**2).sum()) == close(expected)
