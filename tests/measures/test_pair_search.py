"""What is found among the pairs that can decide is what is found among all pairs."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.measures import distances, pair_search
from evenhand.measures.group_data import BinnedScores

DISTANCES = {"ks": distances.ks, "wasserstein": distances.wasserstein, "abroca": distances.abroca}


def first_largest(values):
    """The largest of the pairs that are measured, with the first place of it in the upper triangle."""
    upper = np.where(np.triu(np.ones_like(values, bool), 1) & ~np.isnan(values), values, -np.inf)
    return float(upper.max()), int(np.argmax(upper))


def farthest(values):
    return np.argmax(np.where(np.isnan(values), -np.inf, values), axis=1), np.fmax.reduce(values, axis=1)


def same(found, every, near, far, most):
    known = ~np.isnan(found)
    assert np.array_equal(found[known], every[known])
    for one, other in zip(farthest(found), farthest(every), strict=True):
        assert np.array_equal(one, other)
    upper = [first_largest(np.minimum(values + far, most)) for values in (found, every)]
    lower = [first_largest(np.maximum(values - near, 0.0)) for values in (found, every)]
    assert upper[0] == upper[1]
    assert lower[0][0] == lower[1][0]
    assert lower[1][0] == 0 or lower[0][1] == lower[1][1]


@pytest.mark.parametrize("seed", range(40))
def test_the_pairs_that_decide_are_those_of_all_pairs(seed):
    random = np.random.default_rng(seed)
    many, wide = int(random.integers(2, 90)), int(random.integers(1, 6))
    points = random.normal(size=(many, wide)) * random.choice([1e-3, 1.0, 1e3])
    if seed % 3 == 0:  # ties
        points = np.round(random.normal(size=(many, wide)))
    largest = seed % 2 == 0

    def apart(i, others):
        gaps = np.abs(points[others] - points[i])
        return gaps.max(axis=-1) if largest else gaps.sum(axis=-1)

    middle = np.abs(points - points.mean(axis=0))
    centre = middle.max(axis=-1) if largest else middle.sum(axis=-1)
    every = pair_search.every_pair(apart, many)
    own = random.gamma(1, np.nanmax(every) / 4, many)
    near = far = own[:, None] + own
    for most in (np.inf, np.nanmax(every), np.nanmax(every + far) * 0.8):
        same(pair_search.deciding_pairs(apart, centre, near, far, most), every, near, far, most)


def cube(rows, groups, seed, *, ties=False, weights=False):
    random = np.random.default_rng(seed)
    group = random.integers(0, groups, rows)
    score = np.clip(random.beta(2, 2, rows) + 0.05 * np.sin(group), 0, 1)
    arrays = {"label": (random.random(rows) < score).astype(int), "score": np.round(score, 1) if ties else score}
    if weights:
        arrays["weights"] = random.gamma(2, 1, rows)
    return eh.Cube.count(**arrays, sensitive=np.char.add("g", group.astype(str)))


@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize(
    ("rows", "options"), [(12_000, {}), (400, {"ties": True}), (250, {}), (4_000, {"weights": True, "ties": True})]
)
@pytest.mark.parametrize("levels", [(0.95, 0.95), (0.99, 0.95)])
def test_distances_of_many_groups_are_those_of_all_pairs(name, rows, options, levels, monkeypatch):
    whole = cube(rows, 90, 1, **options).named()
    data = BinnedScores.from_table(whole.scores, len(whole.pairs))
    found = DISTANCES[name](data, levels, 0)
    monkeypatch.setattr(distances, "EVERY_PAIR", 1000)
    every = DISTANCES[name](data, levels, 0)
    assert found.worst == every.worst
    assert np.isnan(found.values).sum() >= np.isnan(every.values).sum()
    for one, other in zip(farthest(found.values), farthest(every.values), strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    assert first_largest(found.high) == first_largest(every.high)
    if every.worst[1] > 0:
        assert first_largest(found.low) == first_largest(every.low)


def test_of_many_groups_few_pairs_are_measured():
    whole = cube(40_000, 400, 2).named()
    found = distances.wasserstein(BinnedScores.from_table(whole.scores, 400), (0.95, 0.95), 0)
    assert np.isfinite(found.values).mean() < 0.12


def test_cross_group_values_have_the_ends_that_all_of_them_have(monkeypatch):
    whole = cube(12_000, 80, 3).named()
    data = BinnedScores.from_table(whole.scores, len(whole.pairs))
    found = distances.cross_auc(data, (0.99, 0.95), 0)
    monkeypatch.setattr(distances, "EVERY_PAIR", 1000)
    every = distances.cross_auc(data, (0.99, 0.95), 0)
    assert found.worst == every.worst
    places = distances.extremes(every.values)
    for part in ("values", "low", "high"):
        assert np.array_equal(getattr(found, part)[places], getattr(every, part)[places])
