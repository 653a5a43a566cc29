"""Sums over clusters: against plain loops, under other pairs and cells, and added up."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.cube import clusters as module
from evenhand.cube.clusters import Clusters, merged
from evenhand.errors import DataError

PAIRS, CELLS = 3, 4


def sample(seed: int = 0, strata: int = 1, rows: int = 200, number: int = 20) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    cluster = np.concatenate([np.arange(number), rng.integers(0, number, rows - number)])
    place = rng.integers(0, PAIRS * CELLS, rows)
    return {
        "stratum_of": np.arange(number) % strata,
        "cluster": cluster,
        "place": place,
        "mass": rng.choice([1.0, 2.0, 0.5], rows),
    }


def counted(rows: dict[str, np.ndarray], strata: int = 1) -> Clusters:
    names = ("",) if strata == 1 else tuple(f"h{i}" for i in range(strata))
    return Clusters.from_lines(CELLS, names, **rows)


def by_hand(rows: dict[str, np.ndarray], weights: list[np.ndarray]) -> np.ndarray:
    """Σ_h C/(C−1) Σ_c (x_c − mean)(x_c − mean)ᵀ of the totals [patterns, pairs] of every cluster."""
    totals = np.zeros((len(rows["stratum_of"]), len(weights), PAIRS))
    for cluster, place, mass in zip(rows["cluster"], rows["place"], rows["mass"], strict=True):
        for i, weight in enumerate(weights):
            totals[cluster, i, place // CELLS] += mass * weight[place // CELLS, place % CELLS]
    found = np.zeros((len(weights), len(weights), PAIRS, PAIRS))
    for stratum in np.unique(rows["stratum_of"]):
        own = totals[rows["stratum_of"] == stratum]
        away = own - own.mean(axis=0)
        found += len(own) / (len(own) - 1) * np.einsum("cip,cjq->ijpq", away, away)
    return found


WEIGHTS = [np.random.default_rng(i).normal(size=(PAIRS, CELLS)) for i in (5, 6)]


@pytest.mark.parametrize("strata", [1, 3])
def test_covariances_of_totals(strata: int) -> None:
    rows = sample(1, strata)
    np.testing.assert_allclose(counted(rows, strata).of_pairs(WEIGHTS, PAIRS), by_hand(rows, WEIGHTS), rtol=1e-10)


def test_a_pattern_may_be_the_same_for_every_pair() -> None:
    clusters, row = counted(sample(2)), np.array([1.0, 0.0, 1.0, 0.0])
    whole = np.broadcast_to(row, (PAIRS, CELLS))
    np.testing.assert_array_equal(clusters.of_pairs([row], PAIRS), clusters.of_pairs([whole], PAIRS))


def test_pairs_and_cells_that_are_joined_or_left_out() -> None:
    rows = sample(3)
    where, cell_where = np.array([0, -1, 0]), np.array([1, 0, 1, -1])
    pair, cell = where[rows["place"] // CELLS], cell_where[rows["place"] % CELLS]
    kept = (pair >= 0) & (cell >= 0)
    again = {**rows, "cluster": rows["cluster"][kept], "mass": rows["mass"][kept], "place": (pair * 2 + cell)[kept]}
    direct = Clusters.from_lines(2, ("",), **again)
    moved = counted(rows).moved(where, 2, cell_where)
    assert moved.same(direct)
    assert moved.number == 20, "clusters without anyone left still count: the design has not changed"


def test_cubes_that_share_no_cluster_add_up() -> None:
    first, second = sample(4), sample(5)
    both = {name: np.concatenate([first[name], second[name]]) for name in first}
    both["cluster"] = np.concatenate([first["cluster"], second["cluster"] + 20])
    assert merged([counted(first), counted(second)]).same(counted(both))


def test_strata_of_two_cubes_are_matched_by_name() -> None:
    rows = sample(6, 2)
    left = Clusters.from_lines(CELLS, ("a", "b"), **rows)
    right = Clusters.from_lines(CELLS, ("b", "c"), **rows)
    total = merged([left, right])
    assert total.strata == ("a", "b", "c")
    assert total.counts.tolist() == [10, 20, 10]


def test_products_of_the_totals_of_clusters() -> None:
    rows = sample(8)
    totals = np.zeros((20, PAIRS))
    for cluster, place, mass in zip(rows["cluster"], rows["place"], rows["mass"], strict=True):
        totals[cluster, place // CELLS] += mass * WEIGHTS[0][place // CELLS, place % CELLS]
    np.testing.assert_allclose(counted(rows).squares(WEIGHTS[0], PAIRS), totals.T @ totals, rtol=1e-10)


def test_too_many_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PRODUCTS", 10)
    with pytest.raises(DataError, match=r"more than 10 products.*fewer attributes"):
        counted(sample(7))


def test_a_design_stratum_without_clusters_is_none() -> None:
    rows = sample(9, 2)
    rows["stratum_of"] = rows["stratum_of"] * 2
    found = Clusters.from_lines(CELLS, ("a", "nobody", "b"), **rows)
    assert found.same(Clusters.from_lines(CELLS, ("a", "b"), **sample(9, 2)))


def test_products_are_made_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sample(8, 3)
    whole = counted(rows, 3)
    monkeypatch.setattr(module, "MOST_PRODUCTS", len(whole.products))
    assert len(whole.products) * 4 // (PAIRS * CELLS) < 100
    assert counted(rows, 3).same(whole)
    monkeypatch.setattr(module, "MOST_PRODUCTS", len(whole.products) - 1)
    with pytest.raises(DataError, match="products"):
        counted(rows, 3)


def test_one_cluster_in_very_many_cells_is_refused_before_memory_is_filled() -> None:
    """Of 100,000 cells there would be five thousand million products."""
    place = np.arange(100_000)
    with pytest.raises(DataError, match=r"more than 1,000,000 products"):
        Clusters.from_lines(4, ("",), np.zeros(1, int), np.zeros(100_000, int), place, np.ones(100_000))


def test_many_design_strata() -> None:
    strata = 5_000
    stratum_of = np.repeat(np.arange(strata), 2)[::-1].copy()
    cluster = np.tile(np.arange(2 * strata), 3)
    names = tuple(f"{i:05d}" for i in range(strata))
    clusters = Clusters.from_lines(4, names, stratum_of, cluster, cluster % 4, np.ones(len(cluster)))
    assert clusters.counts.tolist() == [2] * strata
    assert clusters.products.sum() == 9 * 2 * strata
