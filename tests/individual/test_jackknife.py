"""Errors of figures about people who depend on each other: the jackknife, and the limits made from it."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.individual import jackknife, neighbours, shares
from evenhand.individual.distances import Points
from evenhand.individual.pairs import KNearest, NamedPairs, Within
from evenhand.inference import simultaneous


def sample(people: int = 80, seed: int = 0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(people, 2))
    return X, random.random(people), random.integers(0, 3, people)


def test_leaving_people_out_of_pairs_is_what_it_says():
    """Against leaving each person out by hand, with what two people bring about together taken off once."""
    X, score, codes = sample()
    similar = Within(Points(X), 0.7)
    found = shares.lipschitz(similar, score, codes, 3, L=0.5, epsilon=0.2, most=0).within
    (chunk,) = similar.pairs()
    alike = np.abs(score[chunk.one] - score[chunk.other]) <= 0.2

    def share(kept, group):
        ends = (codes[chunk.one] == group).astype(int) + (codes[chunk.other] == group)
        return (ends * alike)[kept].sum() / ends[kept].sum()

    for group in range(3):
        value = share(np.ones(len(alike), bool), group)
        without = [share((chunk.one != p) & (chunk.other != p), group) for p in range(80)]
        plain = 79 / 80 * np.sum((np.array(without) - np.mean(without)) ** 2)
        ends = (codes[chunk.one] == group).astype(int) + (codes[chunk.other] == group)
        together = np.sum((ends * (alike - value)) ** 2) / ends.sum() ** 2
        assert found.values[group] == pytest.approx(value)
        assert found.errors[group] ** 2 >= plain - together - 1e-12
        assert found.errors[group] ** 2 <= plain - together + 0.5 * plain  # raised only where groups are opposed
    whole = np.array([alike[(chunk.one != p) & (chunk.other != p)].mean() for p in range(80)])
    together = np.sum((alike - alike.mean()) ** 2) / len(alike) ** 2
    assert found.errors[-1] ** 2 == pytest.approx(79 / 80 * np.sum((whole - whole.mean()) ** 2) - together)


def test_independent_pairs_have_the_error_of_a_share():
    """Pairs that share nobody are as many independent draws."""
    pairs = 200
    alike = np.random.default_rng(1).random(pairs) < 0.3
    score = np.zeros(2 * pairs)
    score[1::2] = np.where(alike, 0.0, 1.0)
    one = np.arange(0, 2 * pairs, 2)
    similar = NamedPairs(Points(np.arange(2.0 * pairs)[:, None]), one, one + 1)
    codes = np.zeros(2 * pairs, dtype=np.int64)
    found = shares.lipschitz(similar, score, codes, 1, L=1, epsilon=0.5, most=0).within
    p = alike.mean()
    assert found.values[-1] == p
    assert found.errors[-1] == pytest.approx(np.sqrt(p * (1 - p) / pairs), rel=0.01)


def test_neighbours_that_are_pairs_have_about_the_error_of_a_share():
    """Everyone's only neighbour has only them: half as many independent draws as people. It errs on the safe side."""
    pairs = 300
    random = np.random.default_rng(2)
    x = np.repeat(np.arange(pairs) * 10.0, 2) + np.tile([0.0, 1.0], pairs)
    y = random.integers(0, 2, 2 * pairs).astype(float)
    similar = KNearest(neighbours.nearest_people(Points(x[:, None]), 6), 1)
    found = shares.consistency(similar, y, np.zeros(2 * pairs, dtype=np.int64), 1, include_self=False, most=0).figures
    p = float((y[::2] != y[1::2]).mean())
    assert found.values[-1] == pytest.approx(1 - p)
    assert 1 <= found.errors[-1] / np.sqrt(p * (1 - p) / pairs) <= 1.3


@pytest.mark.parametrize("include_self", [True, False])
def test_every_way_to_compare_has_the_same_figures(include_self):
    """The nearest as they are, and the same pairs given."""
    X, _, codes = sample(60)
    y = (X[:, 0] > 0).astype(float)
    similar = Within(Points(X), np.inf)
    found = shares.consistency(similar, y, codes, 3, include_self=include_self, most=0)
    mean = y.sum() - (0 if include_self else y)
    assert found.figures.values[-1] == pytest.approx(1 - np.abs(y - mean / (60 - (not include_self))).mean())
    assert found.alone == 0


def test_errors_are_raised_where_figures_vary_in_opposite_directions():
    moves = np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    errors, _ = jackknife.errors(moves, np.zeros(2))
    assert np.hypot(*errors) == pytest.approx(np.sqrt(2 / 3 * ((moves[:, 0] - moves[:, 1]) ** 2).sum()))


def test_what_is_taken_off_leaves_something():
    moves = np.random.default_rng(3).normal(size=(50, 1))
    plain, freedom = jackknife.errors(moves, np.zeros(1))
    least, _ = jackknife.errors(moves, np.array([1e9]))
    assert least == pytest.approx(plain / np.sqrt(3))
    assert 10 < freedom[0] < 50


def test_limits_stay_inside_and_undefined_stays_undefined():
    spread = jackknife.Dependent(
        np.array([0.0, 0.02, 0.5, 1.0, np.nan, 0.4]),
        np.array([0.0, 0.02, 0.05, 0.0, 0.1, np.nan]),
        np.array([40.0, 40, 40, 40, 40, 1]),
        np.array([40.0, 3, 30, 40, 40, 1]),
    )
    low, high = simultaneous.own(spread, 0.95)
    assert np.isnan(low[4:]).all()
    assert np.isnan(high[4:]).all()
    assert (low[:4] >= 0).all()
    assert (high[:4] <= 1).all()
    assert low[0] == 0
    assert 0.1 < high[0] < 0.35  # nothing seen among 40 is as little as nothing seen among 20 independent people
    assert low[3] == pytest.approx(1 - high[0])
    narrow = spread.scaled(4.0, [2])
    assert narrow.errors[0] == pytest.approx(0.025)
    assert np.ptp(narrow.limits(1.96, 0.0)) < high[2] - low[2]
