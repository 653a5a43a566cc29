"""Clusters from rows in memory: against sums by hand, in every cube made from another, and what is refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand import Cube
from evenhand.cube import clusters as clusters_module
from evenhand.cube.cluster_tally import check_design
from evenhand.cube.clusters import Clusters
from evenhand.errors import CallError, DataError
from evenhand.measures.group_data import against_rest, correctness

ROLES: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": ["g", "s"], "cluster": "c"}


def people(rows: int = 400, seed: int = 0, classes: tuple[Any, ...] = (0, 1)) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "y": [None if u < 0.1 else value for u, value in zip(rng.random(rows), rng.choice(classes, rows), strict=True)],
        "p": rng.choice(classes, rows).tolist(),
        "g": rng.choice(["a", "b", None], rows, p=[0.5, 0.4, 0.1]).tolist(),
        "s": rng.choice(["f", "m"], rows).tolist(),
        "k": rng.choice(["x", "y"], rows).tolist(),
        "c": rng.integers(0, 60, rows).tolist(),
        "h": rng.choice(["u", "v"], rows).tolist(),
        "w": rng.choice([0.5, 1.0, 2.5], rows).tolist(),
        "times": rng.integers(0, 4, rows).tolist(),
    }


Products = dict[tuple[str, int, int], float]


def by_hand(cube: Cube, data: dict[str, Any], mass: list[float], stratum: list[str]) -> Products:
    """Σ over clusters of the products of two places, by design stratum, from a loop over rows."""
    of: dict[tuple[str, Any], Counter[int]] = defaultdict(Counter)
    control = data["k"] if cube.meaning.control else None
    for i, (label, decided, cluster) in enumerate(zip(data["y"], data["p"], data["c"], strict=True)):
        pair = ((control[i],) if control else (), (data["g"][i], data["s"][i]))
        cell = (2 if label is None else label) * 3 + decided
        of[stratum[i], cluster][cube.pairs.index(pair) * 9 + cell] += mass[i]
    found: Counter[tuple[str, int, int]] = Counter()
    for (name, _), places in of.items():
        for one, other in product(places, repeat=2):
            if one <= other:
                found[name, one, other] += places[one] * places[other]
    return {key: value for key, value in found.items() if value}


def products(clusters: Clusters | None) -> Products:
    assert clusters is not None
    keys = zip(clusters.product_stratum, clusters.first, clusters.second, strict=True)
    return {
        (clusters.strata[h], int(i), int(j)): float(value)
        for (h, i, j), value in zip(keys, clusters.products, strict=True)
    }


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("count", [None, "times"])
@pytest.mark.parametrize("strata", [None, "h"])
@pytest.mark.parametrize("control", [None, "k"])
def test_products_are_those_of_a_loop_over_rows(weight: Any, count: Any, strata: Any, control: Any) -> None:
    data = people()
    cube = Cube.count(data, **ROLES, weight=weight, count=count, design_strata=strata, control=control)
    mass = [(data["w"][i] if weight else 1.0) * (data["times"][i] if count else 1.0) for i in range(len(data["y"]))]
    stratum = data["h"] if strata else [""] * len(mass)
    expected = by_hand(cube, {**data, "c": [c if mass[i] else -1 for i, c in enumerate(data["c"])]}, mass, stratum)
    assert products(cube.clusters) == pytest.approx(expected)
    assert cube.clusters is not None
    total = np.bincount(cube.clusters.sum_place, cube.clusters.sums, len(cube.pairs) * 9)
    np.testing.assert_allclose(total, (cube.n if cube.w is None else cube.w).reshape(-1))
    assert (cube.meaning.cluster, cube.meaning.design_strata) == ("c", strata)


def test_an_id_that_is_used_again_in_another_stratum_is_another_cluster() -> None:
    data = people()
    clusters = Cube.count(data, **ROLES, design_strata="h").clusters
    assert clusters is not None
    for name, number in zip(clusters.strata, clusters.counts, strict=True):
        assert number == len({c for c, h in zip(data["c"], data["h"], strict=True) if h == name})


def test_clusters_are_counted_in_the_groups_of_each_set_of_attributes() -> None:
    data = people()
    cube = Cube.count(data, **ROLES, control="k")
    sets = cube.attribute_sets().sets
    assert len(sets) == 3
    for names, control in product(sets, (True, False)):
        part = cube.marginal(names, control=control)
        assert part.clusters is not None
        seen: dict[Any, set[int]] = defaultdict(set)
        for i, cluster in enumerate(data["c"]):
            stratum = (data["k"][i],) if control else ()
            seen[stratum, tuple(data[name][i] for name in names)].add(cluster)
        known = part.clusters.in_pairs((part.meaning.control, part.meaning.sensitive), part.pairs)
        assert known == [len(seen[pair]) for pair in part.pairs]


def without_numbers(cube: Cube) -> Clusters:
    assert cube.clusters is not None
    return replace(cube.clusters, distinct={})


def test_a_cube_made_from_another_has_the_clusters_of_its_rows() -> None:
    data = people()
    cube = Cube.count(data, **ROLES, control="k")
    roles = {**ROLES, "sensitive": "g"}
    assert without_numbers(cube.marginal(["g"], control=False)).same(without_numbers(Cube.count(data, **roles)))
    inside = [i for i, k in enumerate(data["k"]) if k == "x"]
    part = {name: [values[i] for i in inside] for name, values in data.items()}
    one = cube.stratum(("x",))
    again = Cube.count({**part, "k": part["k"]}, **ROLES, control="k")
    assert products(one.clusters) == pytest.approx(products(again.clusters))
    assert one.clusters is not None
    assert one.clusters.number == 60, "the design does not change with the part that is looked at"
    named = [i for i, g in enumerate(data["g"]) if g is not None]
    known = Cube.count({name: [values[i] for i in named] for name, values in data.items()}, **ROLES)
    assert products(Cube.count(data, **ROLES).named().clusters) == pytest.approx(products(known.clusters))
    pooled = Cube.count({**data, "g": [g and ("a" if g == "a" else "rest") for g in data["g"]]}, **roles)
    three = {**data, "g": [("z" if i % 7 == 0 else g) if g == "b" else g for i, g in enumerate(data["g"])]}
    assert products(Cube.count(three, **roles).pool(("a",), "rest").clusters) == pytest.approx(
        products(pooled.clusters)
    )


def test_classes_folded_into_two_take_their_clusters_with_them() -> None:
    data = people(classes=("x", "y", "z"))
    cube = Cube.count(data, **ROLES, task="multiclass")
    assert cube.clusters is not None
    assert cube.clusters.cells == 16
    binary = Cube.count(data, **ROLES, positive=["y"])
    assert products(against_rest(cube, "y").clusters) == pytest.approx(products(binary.clusters))
    total = correctness(cube)
    assert total.clusters is not None
    summed = np.bincount(total.clusters.sum_place, total.clusters.sums, len(total.pairs) * 9)
    np.testing.assert_array_equal(summed, total.n.reshape(-1))


def test_rows_without_a_group_that_are_dropped_take_their_clusters_with_them() -> None:
    data = people(60)
    data["c"] = [*range(60)]
    cube = Cube.count(data, **ROLES, missing="drop")
    assert cube.clusters is not None
    assert cube.clusters.number == sum(g is not None for g in data["g"])


def test_a_score_with_a_cutoff_and_a_regressor() -> None:
    data = people()
    scores = np.random.default_rng(1).random(len(data["y"]))
    roles = {**ROLES, "prediction": None}
    by_score = Cube.count({**data, "r": scores}, **roles, score="r", cutoff=0.5)
    decided = Cube.count({**data, "p": (scores >= 0.5).astype(int)}, **ROLES)
    assert products(by_score.clusters) == pytest.approx(products(decided.clusters))
    numbers = Cube.count({**data, "p": scores, "y": scores**2}, **ROLES, task="regression")
    assert numbers.clusters is not None
    summed = np.bincount(numbers.clusters.sum_place, numbers.clusters.sums, len(numbers.pairs) * 9)
    np.testing.assert_array_equal(summed, numbers.n.reshape(-1))


def test_cubes_that_differ_in_their_clusters_are_not_equal() -> None:
    data = people()
    one = Cube.count(data, **ROLES)
    assert one == Cube.count({**data, "c": [f"id {c}" for c in data["c"]]}, **ROLES)
    assert one != Cube.count({**data, "c": data["c"][::-1]}, **ROLES)
    assert one != replace(one, clusters=None)


@pytest.mark.parametrize("names", [list, np.array, lambda values: [str(value) for value in values]])
def test_clusters_are_told_apart_by_their_values_whatever_holds_them(names: Any) -> None:
    data = people()
    assert Cube.count({**data, "c": names(data["c"])}, **ROLES) == Cube.count(data, **ROLES)


def test_numbers_of_clusters_with_wide_gaps() -> None:
    data = people()
    wide = {**data, "c": [c * 10**12 for c in data["c"]], "h": ["u"] * 200 + ["v"] * 200}
    close = {**wide, "c": data["c"]}
    assert Cube.count(wide, **ROLES, design_strata="h") == Cube.count(close, **ROLES, design_strata="h")


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"cluster": [None, "", *["a", "b"] * 199]}, DataError, "cluster column 'cluster' is missing in 2 rows: give each"),
    ({"cluster": ["NA", *["a", "b"] * 199, "a"], "na": "NA"}, DataError, "missing in 1 row"),
    ({"cluster": ["a"] * 400}, DataError, "all rows belong to one cluster of 'cluster'.*leave out cluster="),
    (
        {"design_strata": ["z", *["q"] * 399]},
        DataError,
        "design stratum 'z' of 'design_strata' has only one cluster.*join it with",
    ),
    ({"design_strata": [None, *["q"] * 399]}, DataError, "design_strata column 'design_strata' is missing in 1 row"),
    ({"cluster": None, "design_strata": "h"}, CallError, "design_strata= is given without cluster=: name the clusters"),
    ({"cluster": "g"}, CallError, "column 'g' plays two roles, cluster and sensitive"),
    ({"cluster": "h", "design_strata": "h"}, CallError, "column 'h' plays two roles, cluster and design_strata"),
    ({"cluster": "customer"}, CallError, "cluster='customer' is not a column"),
]


@pytest.mark.parametrize(("arguments", "kind", "message"), REFUSED)
def test_what_is_refused(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Cube.count(people(), **{**ROLES, **arguments})


def test_too_many_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters_module, "MOST_PRODUCTS", 100)
    with pytest.raises(DataError, match=r"more than 100 products.*name fewer attributes"):
        Cube.count(people(), **ROLES)


def test_clusters_of_one_row_each() -> None:
    data = {**people(), "c": [*range(400)]}
    clusters = Cube.count(data, **ROLES).clusters
    assert clusters is not None
    assert (clusters.number, bool((clusters.first == clusters.second).all())) == (400, True)
    np.testing.assert_array_equal(clusters.products, clusters.sums)


def test_a_design_that_tells_a_variance() -> None:
    clusters = Cube.count(people(), **ROLES).clusters
    assert clusters is not None
    check_design(clusters, "c", None)


def test_every_reader_takes_the_roles() -> None:
    data = people()
    found = eh.audit(data, **ROLES, design_strata="h")
    assert found.cube.meaning.design_strata == "h"
