"""A forged file, whose checksum fits, is refused where its numbers cannot be those of people, or ask for too much."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given

import evenhand as eh
from evenhand.cube import invariants, parquet, tables
from evenhand.report import json as report_json
from support.profiles import examples
from support.seals import seal_cube, sealed
from support.strategies import cubes


def people(**more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    n = 3000
    roles = {
        "sensitive": rng.choice(["a", "b"], n),
        "label": rng.integers(0, 2, n),
        "score": rng.random(n),
        "cutoff": 0.5,
    }
    numbers = {"weight": rng.random(n) + 0.1, "outcome": rng.random(n), "few": rng.integers(1, 6, n) / 5}
    return {
        name: numbers.get(value, value) if isinstance(value, str) else value
        for name, value in {**roles, **more}.items()
    }


CUBES = {
    "grid": people(),
    "values": people(score="few"),
    "mirrored": people(higher_is="negative"),
    "weights": people(weight="weight"),
    "beside a decision": people(prediction=people()["label"]),
    "regression": people(label="outcome", prediction="few", score=None, cutoff=None),
    "weighted regression": people(label="outcome", prediction="few", score=None, cutoff=None, weight="weight"),
}


@pytest.mark.parametrize("kind", CUBES)
def test_what_was_counted_holds(kind):
    cube = eh.Cube.count(**CUBES[kind])
    for each in (cube, cube.coarsen(64), cube + cube, cube.only([True, False]), cube.marginal(())):
        invariants.check(each)


@examples(60)
@given(cubes())
def test_any_cube_holds(cube):
    invariants.check(cube)


FORGED = [
    ("grid", "UPDATE cells SET n = n + 1 WHERE rowid = 0", "scores.n does not add up to decisions.n"),
    ("grid", "UPDATE cells SET n = n + 1 WHERE bin IS NOT NULL AND rowid = 40", "scores.n does not add up"),
    ("grid", "UPDATE cells SET s = s + n WHERE bin IS NOT NULL", "scores.s"),
    ("grid", "UPDATE cells SET s2 = 0 WHERE bin IS NOT NULL", "scores.s is larger than scores.s2 allows"),
    ("grid", "UPDATE cells SET s2 = -1 WHERE bin IS NOT NULL", "scores.s2 holds a number that is negative"),
    ("grid", "UPDATE cells SET l = l + 100 WHERE bin IS NOT NULL", "scores.l is larger than scores.l2 allows"),
    ("grid", "UPDATE cells SET bin = bin + 1 WHERE bin IS NOT NULL", "scores"),
    ("grid", "UPDATE cells SET prediction = 1 - prediction WHERE prediction < 2", "scores.n does not add up"),
    ("values", "UPDATE cells SET s = s * 1.1, s2 = s2 * 2 WHERE bin = 0", "scores.s lies outside its bin"),
    ("weights", "UPDATE cells SET w = w * 30 WHERE bin IS NULL", "decisions.w is larger than decisions.w2 allows"),
    ("weights", "UPDATE cells SET w = w * 1.01 WHERE bin IS NULL", "scores.w does not add up to decisions.w"),
    ("weights", "UPDATE cells SET w2 = -w2", "decisions.w2 holds a number that is negative"),
    ("beside a decision", "UPDATE cells SET n = n * 2 WHERE bin IS NOT NULL", "scores.n does not add up"),
    ("regression", "UPDATE cells SET ee = ee / 2", "allows"),
    ("regression", "UPDATE cells SET f = f + n WHERE bin IS NOT NULL", "scores.f"),
    ("weighted regression", "UPDATE cells SET w_y = w_y + 100 WHERE bin IS NOT NULL", "scores.w_y is larger"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "change", "problem"), FORGED)
def test_numbers_that_nobody_counted_are_refused(kind, change, problem, tmp_path):
    path = tmp_path / "forged.cube"
    eh.Cube.count(**CUBES[kind]).save(path)
    seal_cube(path)
    eh.Cube.load(path)
    seal_cube(path, change)
    with pytest.raises(eh.DataError, match=r"forged\.cube' is a damaged cube: ") as caught:
        eh.Cube.load(path)
    assert problem in str(caught.value)


MEANT = [
    ("grid", {"higher_is": "negative"}, "the score was read the other way round"),
    ("mirrored", {"higher_is": "positive"}, "the score was read the other way round"),
    ("grid", {"cutoff": 0.75}, "the cutoff is 0.75, and the score was cut at 0.5"),
    ("mirrored", {"cutoff": 0.75}, "the cutoff is 0.75, and the score was cut at 0.5"),
    ("grid", {"higher_is": "sideways"}, "meaning.higher_is is 'sideways', not one of"),
    ("grid", {"missing": "perhaps"}, "meaning.missing is 'perhaps', not one of"),
    ("grid", {"task": "multiclass"}, "does not fit 0 classes of a multiclass task"),
]


@pytest.mark.parametrize(("kind", "meant", "problem"), MEANT)
def test_a_meaning_that_contradicts_itself_is_refused(kind, meant, problem, tmp_path):
    path = tmp_path / "forged.cube"
    cube = eh.Cube.count(**CUBES[kind])
    cube.save(path)
    seal_cube(path, meaning={**tables.header(cube)["meaning"], **meant})
    with pytest.raises(eh.DataError) as caught:
        eh.Cube.load(path)
    assert problem in str(caught.value)


BINS = [
    ("grid", {"cells": 2**40}, "bins.cells is 1099511627776, not a power of two up to 1024"),
    ("grid", {"cells": 1000}, "bins.cells is 1000, not a power of two"),
    ("grid", {"low": 2.0}, "does not rise within"),
    ("values", {"values": []}, "bins.values is empty"),
    ("values", {"values": [0.2, 0.4, 0.3, 0.8, 1.0]}, "values of the score does not rise"),
]


@pytest.mark.parametrize(("kind", "changed", "problem"), BINS)
def test_bins_that_nothing_is_counted_into_are_refused(kind, changed, problem, tmp_path):
    path = tmp_path / "forged.cube"
    cube = eh.Cube.count(**CUBES[kind])
    cube.save(path)
    reading = tables.header(cube)["reading"]
    seal_cube(path, reading={**reading, "bins": {**reading["bins"], **changed}})
    with pytest.raises(eh.DataError) as caught:
        eh.Cube.load(path)
    assert problem in str(caught.value) or "there are only" in str(caught.value)


# --- small files that ask for much


def refused_cheaply(load, path: Path) -> str:
    """The error of a small file, which was refused before it was given memory."""
    assert path.stat().st_size < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(eh.DataError) as caught:
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 100 * path.stat().st_size + 20_000_000
    finally:
        tracemalloc.stop()
    assert path.name in str(caught.value)
    return str(caught.value)


def saved_audit(**roles: Any) -> dict[str, Any]:
    return json.loads(report_json.dumps(eh.audit(**roles, metrics=["demographic_parity"])))


def many(told: dict[str, Any], size: int) -> dict[str, Any]:
    """A cube with one person in each of many groups."""
    rows = {"pair": list(range(size)), "label": [2] * size, "prediction": [0] * size, "n": [1] * size}
    return {**told, "pairs": [[[], [str(i)]] for i in range(size)], "decisions": rows}


def test_many_groups_of_many_classes(tmp_path):
    told = saved_audit(
        prediction=["p", "q", "p", "q"], label=["p", "p", "q", "q"], sensitive=list("aabb"), task="multiclass"
    )
    classes = [str(i) for i in range(1000)]
    cube = {**many(told["cube"], 90), "classes": classes, "shape": [1001, 1001]}
    for parts in ([], [cube] * 10):
        (tmp_path / "small.json").write_text(json.dumps({**told, "cube": cube, "parts": parts}))
        assert "decisions declares 90,180,090 cells, and there are only 90 rows" in refused_cheaply(
            eh.Audit.load, tmp_path / "small.json"
        )
    few = {**many(told["cube"], 10), "classes": classes, "shape": [1001, 1001]}
    (tmp_path / "parts.json").write_text(json.dumps({**told, "cube": few, "parts": [few] * 20}))
    tracemalloc.start()
    with pytest.raises(eh.DataError, match="there are only 10 rows"):
        eh.Audit.load(tmp_path / "parts.json")
    assert tracemalloc.get_traced_memory()[1] < 400_000_000  # twenty-one of them would take 1.7 GB
    tracemalloc.stop()


def test_many_groups_of_many_scores(tmp_path):
    told = saved_audit(score=[0.1, 0.2, 0.1, 0.2], cutoff=0.15, sensitive=list("aabb"))
    values = [i / 8000 for i in range(8000)]
    cube = many(told["cube"], 6000)
    cube["reading"] = {**cube["reading"], "bins": {"low": 0.0, "high": 1.0, "values": values}}
    (tmp_path / "small.json").write_text(json.dumps({**told, "cube": cube}))
    assert "scores declares 144,000,000 cells, and there are only 4 rows" in refused_cheaply(
        eh.Audit.load, tmp_path / "small.json"
    )


def test_groups_without_a_row(tmp_path):
    told = saved_audit(prediction=[0, 1, 0, 1], sensitive=list("aabb"))
    told["cube"]["pairs"] += [[[], [str(i)]] for i in range(5000)]
    (tmp_path / "small.json").write_text(json.dumps(told))
    assert "pairs names a group that holds nobody" in refused_cheaply(eh.Audit.load, tmp_path / "small.json")


def test_a_run_of_many_equal_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_MOST_ROWS", 10**4)
    path = tmp_path / "small.cube"
    eh.Cube.count(prediction=[0, 1], sensitive=["a", "b"]).save(path)
    seal_cube(path, "INSERT INTO cells SELECT cells.* FROM cells, range(1_000_000)")
    assert "rows in" in refused_cheaply(eh.Cube.load, path)


def test_a_header_that_is_nested_too_deeply(tmp_path):
    path = tmp_path / "deep.cube"
    eh.Cube.count(prediction=[0, 1], sensitive=["a", "b"]).save(path)
    with duckdb.connect() as connection:
        entries = f"evenhand_cube: '{'[' * 100_000}', evenhand_sha256: '{'0' * 64}'"
        connection.execute(f"COPY (SELECT 1 AS n) TO '{path}' (FORMAT parquet, KV_METADATA {{{entries}}})")
    parquet.seal(path)
    assert "damaged cube" in refused_cheaply(eh.Cube.load, path)


def test_a_forged_audit_is_refused_by_what_holds(tmp_path):
    told = saved_audit(score=[0.1, 0.2, 0.1, 0.2], cutoff=0.15, sensitive=list("aabb"))
    told["cube"]["decisions"]["n"][0] += 1
    (tmp_path / "forged.json").write_text(json.dumps(told))
    with pytest.raises(eh.DataError, match=r"forged\.json' is a damaged audit: scores\.n does not add up"):
        eh.Audit.load(tmp_path / "forged.json")
    plain = saved_audit(prediction=[0, 1, 0, 1], sensitive=list("aabb"))
    plain["cube"]["decisions"]["n"][0] += 1
    (tmp_path / "forged.json").write_text(json.dumps(sealed(plain)))
    assert eh.Audit.load(tmp_path / "forged.json").cube.size == 5  # nothing in the file tells: see docs/data.md


# --- arguments that no cube allows


@pytest.mark.parametrize("confidence", [1.5, 1, 0, -1, float("nan"), float("inf")])
def test_a_confidence_that_is_no_share_is_refused(confidence):
    with pytest.raises(eh.CallError, match="must be a share between 0 and 1"):
        eh.Cube.count(**people()).limits("selection_rate", confidence)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cube: cube.attribute_sets(-1), "intersections=-1 must be True, False or a whole number"),
        (lambda cube: cube.attribute_sets(2.5), r"intersections=2\.5 must be"),
        (lambda cube: cube.audit(intersections=-3), "intersections=-3 must be"),
        (lambda cube: cube.stratum(("q",)), r"\('q',\) is not a stratum of this cube"),
        (lambda cube: cube.only([True]), "chosen= has 1 values, and the cube has 2 pairs"),
        (lambda cube: cube.marginal(["sensitive", "sensitive"]), "'sensitive' is named twice"),
        (lambda cube: cube.audit().counts(("sensitive", "sensitive")), "'sensitive' is named twice"),
    ],
)
def test_what_a_cube_does_not_have_is_said(call, message):
    with pytest.raises(eh.CallError, match=message):
        call(eh.Cube.count(**people()))
