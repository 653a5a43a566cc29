"""Neighbours: exact ones equal brute force, whatever the points; the index says how near it comes."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import evenhand as eh
from conftest import require
from evenhand.errors import CallError, DataError, MissingDependencyError
from evenhand.individual import approximate_search, exact_search, neighbours
from evenhand.individual.distances import ByFunction, Points, Precomputed


def brute(points: np.ndarray, k: int) -> np.ndarray:
    """The k least distances of each person to others."""
    apart = cdist(points, points)
    np.fill_diagonal(apart, np.inf)
    return np.sort(apart, axis=1)[:, :k]


def check(found: neighbours.Nearest, points: np.ndarray, k: int) -> None:
    """k different others, nearest first, at the distances they are said to be, and nobody is nearer."""
    people = np.arange(len(points))[:, None]
    assert found.index.shape == found.distance.shape == (len(points), k)
    assert (found.index != people).all()
    assert all(len(set(row)) == k for row in found.index.tolist())
    apart = np.sqrt(((points[found.index] - points[:, None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(found.distance, apart, rtol=1e-12)
    np.testing.assert_allclose(found.distance, brute(points, k), rtol=1e-12)


@pytest.mark.parametrize(
    ("people", "width"), [(7, 1), (300, 2), (1000, 8), (1000, 9), (2500, 12), (3000, 20), (2500, 60)]
)
def test_exact_neighbours_are_those_of_scikit_learn(people, width):
    points = np.random.default_rng(width).normal(size=(people, width))
    k = min(6, people - 1)
    found = neighbours.nearest_people(Points(points), k)
    distance, order = NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(points).kneighbors(points)
    np.testing.assert_array_equal(found.index, order[:, 1:])
    np.testing.assert_allclose(found.distance, distance[:, 1:], rtol=1e-7)
    assert found.recall is None


@pytest.mark.parametrize("outliers", [0.0, 1e3, 1e8, 1e17])
def test_rounding_in_blocks_never_costs_a_neighbour(outliers):
    """Float32 cannot tell these points apart; the bound on its rounding sends them to float64."""
    random = np.random.default_rng(1)
    centres = random.normal(size=(25, 12))
    points = centres[random.integers(0, 25, 2500)] + 1e-7 * random.normal(size=(2500, 12))
    points[::100] += outliers
    check(neighbours.nearest_people(Points(points), 5), points, 5)


@pytest.mark.parametrize("levels", [1, 2, 3, 10])
def test_people_who_are_the_same_are_spread_over_each_other(levels):
    points = np.random.default_rng(2).integers(0, levels, size=(300, 3)).astype(float)
    found = neighbours.nearest_people(Points(points), 5)
    check(found, points, 5)
    chosen = np.bincount(found.index.ravel(), minlength=300)
    assert chosen.max() <= 60  # by the order of rows the first would be everyone's neighbours


def test_minus_zero_is_zero():
    alike = neighbours.distinct(np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]]))
    assert len(alike.first) == 2
    assert alike.which[0] == alike.which[1] != alike.which[2]


def test_rows_with_one_hash_are_still_told_apart(monkeypatch):
    class Zeros:
        def integers(self, *_: object, **__: object) -> np.ndarray:
            return np.zeros(2, dtype=np.uint64)

    monkeypatch.setattr(neighbours.np.random, "default_rng", lambda *_: Zeros())
    alike = neighbours.distinct(np.array([[2.0, 3.0], [3.0, 2.0], [2.0, 3.0]]))
    assert alike.which[0] == alike.which[2] != alike.which[1]


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=3, max_size=40),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_any_points_with_ties(rows, k, seed):
    points = np.array(rows, dtype=float)
    k = min(k, len(points) - 1)
    check(neighbours.nearest_people(Points(points), k, random_state=seed), points, k)


def test_a_seed_gives_the_same_neighbours():
    points = np.random.default_rng(3).integers(0, 2, size=(200, 3)).astype(float)
    first, again = (neighbours.nearest_people(Points(points), 4, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.index, again.index)
    other = neighbours.nearest_people(Points(points), 4, random_state=8)
    assert (first.index != other.index).any()


def test_some_rows_alone_are_what_they_are_among_all():
    points = np.random.default_rng(4).normal(size=(2600, 15))
    rows = np.array([0, 17, 2599])
    every, some = exact_search.nearest(points, 3), exact_search.nearest(points, 3, rows)
    np.testing.assert_array_equal(every[0][rows], some[0])


def test_functions_and_matrices_find_the_same_as_points():
    points = np.random.default_rng(5).normal(size=(400, 4))
    wanted = neighbours.nearest_people(Points(points), 5)
    for distances in (ByFunction(points, cdist), Precomputed(cdist(points, points), np.arange(400))):
        found = neighbours.nearest_people(distances, 5)
        np.testing.assert_array_equal(found.index, wanted.index)
        with pytest.raises(CallError, match="works with the Euclidean distance only"):
            neighbours.nearest_people(distances, 5, method="approximate")


def test_blocks_work_without_a_hold_on_the_threads_of_products(monkeypatch):
    points = np.random.default_rng(6).normal(size=(2500, 10))
    wanted = exact_search.nearest(points, 4)
    monkeypatch.setattr(exact_search, "_one_thread_each", lambda: None)
    np.testing.assert_array_equal(exact_search.nearest(points, 4)[0], wanted[0])


def test_what_goes_wrong_in_a_block_is_raised():
    def work(first: int) -> None:
        raise ZeroDivisionError(first)

    with pytest.raises(ZeroDivisionError):
        list(exact_search.in_parallel(work, range(3)))


def test_the_index_needs_faiss(monkeypatch):
    monkeypatch.setattr(approximate_search, "available", lambda: False)
    with pytest.raises(MissingDependencyError, match=r"pip install 'evenhand\[neighbours\]'"):
        neighbours.nearest_people(Points(np.random.default_rng(0).normal(size=(50, 3))), 3, method="approximate")


def test_auto_takes_the_index_only_for_very_many(monkeypatch):
    points = np.random.default_rng(7).normal(size=(600, 10))
    called = []
    monkeypatch.setattr(approximate_search, "available", lambda: True)
    monkeypatch.setattr(
        approximate_search, "nearest", lambda *a: (called.append(1), (*exact_search.nearest(a[0], a[1]), 0.99))[1]
    )
    assert neighbours.nearest_people(Points(points), 3).recall is None
    monkeypatch.setattr(neighbours, "_MOST_PRODUCTS", 1e5)
    assert neighbours.nearest_people(Points(points), 3).recall == 0.99
    assert neighbours.nearest_people(Points(points), 3, method="exact").recall is None
    assert len(called) == 1


def test_the_index_finds_nearly_all_and_says_how_many():
    require("faiss", importlib.util.find_spec("faiss") is not None, "pip install 'evenhand[neighbours]'")
    points = np.random.default_rng(8).normal(size=(4000, 12))
    found = neighbours.nearest_people(Points(points), 5, method="approximate")
    exact = neighbours.nearest_people(Points(points), 5)
    recall = np.mean(found.distance <= exact.distance[:, -1:] * (1 + 1e-9))
    assert found.recall >= 0.95
    assert recall == pytest.approx(found.recall, abs=0.03)
    apart = np.sqrt(((points[found.index] - points[:, None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(found.distance, apart)
    assert (found.index != np.arange(4000)[:, None]).all()
    assert all(len(set(row)) == 5 for row in found.index.tolist())


def test_the_index_sees_to_people_who_are_the_same():
    require("faiss", importlib.util.find_spec("faiss") is not None, "pip install 'evenhand[neighbours]'")
    points = np.random.default_rng(9).integers(0, 3, size=(500, 4)).astype(float)
    check(neighbours.nearest_people(Points(points), 5, method="approximate"), points, 5)


def test_nobody_is_near_at_an_infinite_distance():
    """In a ring everyone has two neighbours; the third nearest was anyone, and even the person."""
    size, decisions = 40, np.tile([0, 1], 20)
    ring = np.full((size, size), np.inf)
    ring[np.arange(size), (np.arange(size) + 1) % size] = 1
    ring = np.minimum(ring, ring.T)
    assert float(eh.consistency(ring, prediction=decisions, k=2, distance="precomputed")) == 0
    with pytest.raises(DataError, match="someone has fewer than 3 others at a finite distance"):
        eh.consistency(ring, prediction=decisions, k=3, distance="precomputed")
    with pytest.raises(DataError, match="fewer than 1 others at a finite distance"):
        eh.consistency(
            np.arange(size)[:, None], prediction=decisions, k=1, distance=lambda a, b: np.full((len(a), len(b)), np.inf)
        )
