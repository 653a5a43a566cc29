"""Shrunken rates: near what the values suggest for a small group, near its own rate for a large one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

import evenhand as eh
from evenhand.subgroups.conjunctions import Profiles, conjunctions
from evenhand.subgroups.shrinkage import shrunken_rates


def table(rates: np.ndarray, people: np.ndarray, seed: int = 0):
    """The conjunctions of two columns with these rates and people, and the counts of the profiles."""
    a, b = (part.ravel() for part in np.indices(rates.shape))
    k = np.random.default_rng(seed).binomial(people.ravel(), rates.ravel())
    data = {
        "a": [f"a{i}" for i in a] * 2,
        "b": [f"b{i}" for i in b] * 2,
        "y": [1] * len(a) + [0] * len(a),
        "n": np.r_[k, people.ravel() - k],
    }
    cube = eh.Cube.count(data, prediction="y", count="n", sensitive=["a", "b"])
    groups = conjunctions(Profiles.of(cube), 2, 2)
    return groups, cube.n[:, 2, 1].astype(float), cube.n[:, 2, 0].astype(float)


def by_name(groups, rates):
    return {groups.name(i): float(rate) for i, rate in enumerate(rates)}


def raw_rates(groups, top, rest):
    k, n = groups.rolled_up(np.stack([top, top + rest], axis=1)).T
    return k / n


def test_a_large_group_keeps_its_own_rate():
    rates = np.array([[0.2, 0.3, 0.4], [0.5, 0.1, 0.6]])
    groups, top, rest = table(rates, np.full((2, 3), 200_000))
    assert shrunken_rates(groups, top, rest) == pytest.approx(raw_rates(groups, top, rest), abs=0.002)


def test_a_small_group_borrows_from_groups_with_the_same_values():
    additive = expit(logit(0.3) + np.array([[-0.8], [0.0], [0.8]]) + np.array([-0.5, -0.2, 0.2, 0.5]))
    people = np.full((3, 4), 4000)
    people[0, 0] = 6
    errors = []
    for seed in range(20):
        groups, top, rest = table(additive, people, seed)
        found = by_name(groups, shrunken_rates(groups, top, rest))["a = a0, b = b0"]
        errors.append((found - additive[0, 0], by_name(groups, raw_rates(groups, top, rest))["a = a0, b = b0"]))
    shrunken, raw = np.array(errors).T
    assert np.abs(shrunken).max() < 0.06
    assert np.abs(raw - additive[0, 0]).max() > 0.1


def test_shrunken_rates_are_nearer_to_the_truth_than_counted_ones():
    random = np.random.default_rng(3)
    gain = []
    for seed in range(10):
        truth = expit(-0.8 + random.normal(0, 0.5, (8, 1)) + random.normal(0, 0.5, 8) + random.normal(0, 0.2, (8, 8)))
        groups, top, rest = table(truth, np.full((8, 8), 40), seed)
        pairs = np.array([len(groups.values(i)) == 2 for i in range(len(groups))])
        wanted = np.array(
            [
                truth[int(values[0][1][1:]), int(values[1][1][1:])]
                for values in (groups.values(int(i)) for i in np.flatnonzero(pairs))
            ]
        )
        mine, raw = (part[pairs] - wanted for part in (shrunken_rates(groups, top, rest), raw_rates(groups, top, rest)))
        gain.append((mine**2).mean() / (raw**2).mean())
    assert np.mean(gain) < 0.6


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_nobody_and_everybody(rate):
    groups, top, rest = table(np.full((2, 2), rate), np.full((2, 2), 50))
    assert shrunken_rates(groups, top, rest) == pytest.approx(rate, abs=0.02)
