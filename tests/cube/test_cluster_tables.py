"""Clusters in the file of a cube: a round trip, what is refused of a damaged one, and what never leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand import Cube
from evenhand.core.records import MisfitError
from evenhand.cube import cluster_tables
from evenhand.errors import CallError, DataError

ROLES: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": ["g", "s"], "cluster": "c"}


def people(rows: int = 400, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {
        "y": rng.integers(0, 2, rows).tolist(),
        "p": rng.integers(0, 2, rows).tolist(),
        "g": rng.choice(["a", "b", "c"], rows).tolist(),
        "s": rng.choice(["f", "m"], rows).tolist(),
        "c": [f"{seed} {i}" for i in rng.integers(0, 60, rows)],
        "h": rng.choice(["u", "v", "w"][: seed % 2 + 2], rows).tolist(),
        "w": rng.choice([0.5, 1.0, 2.5], rows).tolist(),
    }


def joined(*parts: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"design_strata": "h", "control": "s", "sensitive": "g"}])
def test_a_saved_cube_is_the_same(tmp_path: Path, more: dict[str, Any]) -> None:
    cube = Cube.count(people(), **{**ROLES, **more})
    cube.save(tmp_path / "day.cube")
    again = Cube.load(tmp_path / "day.cube")
    assert again == cube
    assert again.clusters is not None
    assert again.clusters.same(cube.clusters)


def test_a_saved_audit_keeps_no_sums_over_clusters(tmp_path: Path) -> None:
    audit = eh.audit(people(), **ROLES)
    assert "products" not in json.dumps(audit.to_dict()["cube"])
    audit.save(tmp_path / "audit.json")
    again = eh.Audit.load(tmp_path / "audit.json")
    assert (again.cube.meaning.cluster, again.cube.clusters) == ("c", None)
    assert again.findings == audit.findings


def test_a_shared_audit_keeps_no_sums_over_clusters() -> None:
    shared = eh.audit(people(2000), **ROLES).shared()
    assert shared.findings
    assert all(cube.clusters is None for cube in (shared.cube, *shared.parts))


@pytest.mark.parametrize("saved", [False, True])
def test_cubes_are_added_only_where_the_caller_says_that_no_cluster_spans_them(tmp_path: Path, saved: bool) -> None:
    parts = [people(400, seed) for seed in range(3)]
    cubes: list[Any] = [Cube.count(part, **ROLES, design_strata="h") for part in parts]
    if saved:
        for i, cube in enumerate(cubes):
            cube.save(tmp_path / f"{i}.cube")
        cubes = sorted(tmp_path.glob("*.cube"))
    whole = Cube.count(joined(*parts), **ROLES, design_strata="h")
    assert Cube.merge(cubes, clusters="within") == whole
    message = r"clusters of 'c'.*counted as two\. If none has, say clusters='within'"
    with pytest.raises(CallError, match=message):
        Cube.merge(cubes)
    assert eh.audit(cubes, clusters="within").cube == whole
    with pytest.raises(CallError, match=message):
        eh.audit(cubes)
    with pytest.raises(CallError, match="clusters='across' must be 'within'"):
        Cube.merge(cubes, clusters="across")  # type: ignore[arg-type]


def test_adding_two_cubes_by_a_plus_is_refused() -> None:
    one, other = (Cube.count(people(400, seed), **ROLES) for seed in range(2))
    with pytest.raises(CallError, match="say clusters='within'"):
        one + other


def test_a_cube_alone_is_merged_without_a_word(tmp_path: Path) -> None:
    cube = Cube.count(people(), **ROLES)
    assert Cube.merge([cube]) == cube


def test_chunks_are_counted_where_the_caller_says_that_no_cluster_spans_them() -> None:
    parts = [people(300, seed) for seed in range(20)]
    parts[3] = {name: values[:1] for name, values in parts[3].items()}  # a chunk may hold a single cluster
    assert Cube.count(iter(parts), **ROLES, clusters="within") == Cube.count(joined(*parts), **ROLES)
    with pytest.raises(CallError, match="say clusters='within'"):
        Cube.count(iter(parts), **ROLES)


def test_a_cube_without_the_sums_of_its_clusters_stays_without_when_it_is_added() -> None:
    one, other = (Cube.count(people(400, seed), **ROLES) for seed in range(2))
    assert Cube.merge([one, replace(other, clusters=None)], clusters="within").clusters is None


def test_cubes_with_clusters_are_not_watched() -> None:
    with pytest.raises(CallError, match=r"clusters of 'c'.*counted without cluster="):
        eh.trend([Cube.count(people(400, seed), **ROLES) for seed in range(2)])


DAMAGE: list[tuple[str, Any, str]] = [
    ("counts", lambda values: [-values[0]], "counts holds a number that is negative"),
    ("counts", lambda values: [1], "products are not those of the sums"),
    ("sums", lambda values: [values[0] + 1, *values[1:]], "sums do not add up to decisions"),
    ("sums", lambda values: values[1:], "columns of different lengths"),
    ("products", lambda values: [values[0] * 1e6, *values[1:]], "products are not those of the sums"),
    ("products", lambda values: [values[0], values[1] * 1e4, *values[2:]], "larger than their squares allow"),
    ("products", lambda values: [-1.0, *values[1:]], "products holds a number that is not finite, or not above 0"),
    ("first", lambda values: [10**6, *values[1:]], "first holds a place that the cube does not have"),
    ("sum_stratum", lambda values: [1] * len(values), "a design stratum that is not named"),
    ("first", lambda values: [values[-1], *values[1:]], "holds one place twice, or not in order"),
    ("strata", lambda values: ["", ""], "another number of counts than of design strata"),
    ("distinct", lambda values: [], "does not count the clusters of each group"),
    (
        "distinct",
        lambda values: [[names, [[pair, 61] for pair, _ in known]] for names, known in values],
        "not between 1 and 60",
    ),
    ("distinct", lambda values: 7, "clusters.distinct is 7"),
]


@pytest.mark.parametrize(("name", "change", "message"), DAMAGE)
def test_sums_that_nobody_counted_are_refused(name: str, change: Any, message: str) -> None:
    cube = Cube.count(people(), **ROLES)
    assert cube.clusters is not None
    record = json.loads(json.dumps(cluster_tables.write(cube.clusters)))
    assert cluster_tables.read(record, cube).same(cube.clusters)
    with pytest.raises(MisfitError, match=message):
        cluster_tables.read({**record, name: change(record[name])}, cube)


def test_clusters_that_the_cube_does_not_name_are_refused() -> None:
    cube = Cube.count(people(), **ROLES)
    assert cube.clusters is not None
    unnamed = replace(cube, meaning=replace(cube.meaning, cluster=None))
    with pytest.raises(MisfitError, match="the cube names no cluster"):
        cluster_tables.read(cluster_tables.write(cube.clusters), unnamed)


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "day.cube"
    Cube.count(people(), **ROLES).save(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"counts": [60]', b'"counts": [61]'))
    assert path.read_bytes() != content
    with pytest.raises(DataError, match="damaged cube"):
        Cube.load(path)
