"""Adding cubes: from memory, from files, in any order; and what is said when they were not counted alike."""

from __future__ import annotations

import random as shuffling
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import evenhand as eh
from evenhand import CallError, Cube, DataError
from evenhand.cube.merge import natural
from support.hostile import as_group, every_file_name, every_name
from support.profiles import examples
from support.seals import seal_cube
from support.strategies import several_cubes

ROLES = {"label": "y", "prediction": "d", "sensitive": "g"}


def table(seed: int, size: int = 300, scores=None, groups=("a", "b", "c")) -> dict[str, list]:
    random = np.random.default_rng(seed)
    columns = {
        "g": random.choice(groups, size).tolist(),
        "y": random.integers(0, 2, size).tolist(),
        "d": random.integers(0, 2, size).tolist(),
    }
    return columns if scores is None else {**columns, "s": scores(random, size).tolist()}


def together(tables: list[dict[str, list]]) -> dict[str, list]:
    return {name: [value for part in tables for value in part[name]] for name in tables[0]}


SCORES = {
    "deciles": (lambda random, size: random.integers(1, 11, size), {}),
    "few deciles": (lambda random, size: random.integers(random.integers(1, 5), 8, size), {}),
    "probabilities": (lambda random, size: random.random(size), {"score_range": (0, 1)}),
    "probabilities with a cutoff": (lambda random, size: random.random(size), {"score_range": (0, 1), "cutoff": 0.37}),
    "rounded": (lambda random, size: random.random(size).round(2), {}),
}


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("from_files", [False, True])
def test_days_add_up_to_the_year(scores, from_files, tmp_path):
    make, arguments = SCORES[scores]
    tables = [table(day, 300 + 700 * (day % 3), make) for day in range(7)]
    cubes = [Cube.count(day, score="s", **ROLES, **arguments) for day in tables]
    expected = Cube.count(together(tables), score="s", **ROLES, **arguments)
    parts = cubes
    if from_files:
        parts = [tmp_path / f"day-{i}.cube" for i in range(len(cubes))]
        for path, cube in zip(parts, cubes, strict=True):
            cube.save(path)
    shuffling.Random(3).shuffle(parts)
    found = Cube.merge(parts)
    if found.scores.bins.exact and not expected.scores.bins.exact:
        pytest.fail("single values were kept where the whole has a grid")
    assert found == expected


@examples(8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(several_cubes(4), st.randoms(use_true_random=False))
def test_files_add_as_cubes_do_in_any_order(tmp_path_factory, four, random):
    folder = tmp_path_factory.mktemp("cubes")
    for i, cube in enumerate(four):
        cube.save(folder / f"{i}.cube")
    parts = [folder / f"{i}.cube" for i in range(4)]
    random.shuffle(parts)
    assert Cube.merge(parts) == Cube.merge(four) == Cube.merge(str(folder / "*.cube"))


def test_cubes_and_paths_and_names_mix(tmp_path):
    one, two = (Cube.count(table(i), **ROLES) for i in (1, 2))
    two.save(tmp_path / "two.cube")
    assert Cube.merge([one, tmp_path / "two.cube"]) == one + two
    assert Cube.merge({"monday": one, "tuesday": str(tmp_path / "two.cube")}) == one + two
    assert Cube.merge(one) == one


def test_groups_that_appear_later_are_there():
    first, second = Cube.count(table(1, groups=("a", "b")), **ROLES), Cube.count(table(2, groups=("b", "z")), **ROLES)
    assert (first + second).groups == (("a",), ("b",), ("z",))


def test_classes_and_regressions_add_from_files(tmp_path):
    random = np.random.default_rng(0)
    days = [
        {"g": random.choice(["a", "b"], 200), "y": random.choice(list("uvw")[: 2 + i], 200), "d": ["u", "v"] * 100}
        for i in range(2)
    ]
    cubes = [Cube.count(day, task="multiclass", **ROLES) for day in days]
    numbers = [{"g": random.choice(["a", "b"], 200), "y": random.random(200), "d": random.random(200)} for _ in "12"]
    like = Cube.count(together([{k: list(v) for k, v in day.items()} for day in numbers]), task="regression", **ROLES)
    for parts in (cubes, [Cube.count(day, like=like, **ROLES) for day in numbers]):
        paths = [tmp_path / f"{i}.cube" for i in range(2)]
        for path, cube in zip(paths, parts, strict=True):
            cube.save(path)
        assert Cube.merge(paths) == parts[0] + parts[1]


# --- what does not add


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"positive": {"label": 0, "prediction": 1}}, "positive is .*Count both with the same positive="),
        ({"missing": "drop"}, "missing is 'group' here and 'drop' there"),
        ({"label": None}, "label is 'y' here and None there"),
        ({"prediction": None}, "prediction is 'd' here and None there"),
    ],
)
def test_a_difference_is_told_with_the_file_and_the_remedy(other, said, tmp_path):
    Cube.count(table(1), **ROLES).save(tmp_path / "first.cube")
    Cube.count(table(1), **{**ROLES, **other}).save(tmp_path / "other.cube")
    with pytest.raises(CallError, match=f"were not counted alike: {said}") as caught:
        Cube.merge([tmp_path / "first.cube", tmp_path / "other.cube"])
    assert "first.cube" in str(caught.value)
    assert "other.cube" in str(caught.value)


def test_a_difference_between_cubes_in_memory_names_their_place():
    one, two = Cube.count(table(1), **ROLES), Cube.count(table(1), **{**ROLES, "missing": "drop"})
    with pytest.raises(CallError, match="Here means cube 1, there cube 3"):
        Cube.merge([one, one, two])
    with pytest.raises(CallError, match="Here means monday, there tuesday"):
        Cube.merge({"monday": one, "tuesday": two})


def test_scores_that_are_cut_differently_are_told_with_the_file(tmp_path):
    scores = SCORES["probabilities"][0]
    for name, low in (("first", 0.0), ("other", -1.0)):
        cube = Cube.count(table(1, 3000, scores), score="s", score_range=(low, 1.0), **ROLES)
        cube.save(tmp_path / f"{name}.cube")
    with pytest.raises(CallError, match=r"other.cube' does not add to .*first.cube'.*same score_range="):
        Cube.merge([tmp_path / "first.cube", tmp_path / "other.cube"])


def test_few_values_outside_the_range_of_a_grid_are_an_error():
    grid = Cube.count(table(1, 3000, SCORES["probabilities"][0]), score="s", **ROLES)
    few = Cube.count(table(2, 50, SCORES["deciles"][0]), score="s", **ROLES)
    with pytest.raises(CallError, match=r"score_range="):
        grid + few


def test_a_file_twice_is_an_error(tmp_path):
    Cube.count(table(1), **ROLES).save(tmp_path / "a.cube")
    with pytest.raises(CallError, match="given twice: its people would count twice"):
        Cube.merge([tmp_path / "a.cube", tmp_path / "a.cube"])


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ([], CallError, "no cubes to merge"),
        ([3], CallError, "cube 1 is of type int"),
        (3, CallError, "not int"),
        ("nothing-*.cube", DataError, "there is no file 'nothing-"),
    ],
)
def test_what_is_no_cube_is_an_error(given, kind, said):
    with pytest.raises(kind, match=said):
        Cube.merge(given)


def test_a_folder_is_an_error_with_the_pattern_to_type(tmp_path):
    with pytest.raises(DataError, match=r"is a folder: name its files.*\*\.cube"):
        Cube.merge(tmp_path)


@pytest.mark.parametrize("harm", ["cut", "text", "table"])
def test_a_damaged_file_among_many_is_named(harm, tmp_path):
    for i in range(4):
        Cube.count(table(i), **ROLES).save(tmp_path / f"{i}.cube")
    bad = tmp_path / "2.cube"
    if harm == "cut":
        bad.write_bytes(bad.read_bytes()[:400])
    elif harm == "text":
        bad.write_text("not a cube at all", encoding="utf-8")
    else:
        import duckdb

        duckdb.execute(f"COPY (SELECT 1 AS x) TO '{bad}' (FORMAT parquet)")
    with pytest.raises(DataError, match=r"2\.cube' is (not a cube|a Parquet file but not a cube)"):
        Cube.merge(str(tmp_path / "*.cube"))


@pytest.mark.parametrize(("name", "value"), [("n", -1), ("label", 7)])
def test_numbers_that_no_cube_holds_are_told(name, value, tmp_path):
    good, bad = tmp_path / "good.cube", tmp_path / "bad.cube"
    for path in (good, bad):
        Cube.count(table(1), **ROLES).save(path)
    seal_cube(bad, f"UPDATE cells SET {name} = {value} WHERE rowid = 0")
    with pytest.raises(DataError, match=rf"bad\.cube' is a damaged cube: decisions\.{name}"):
        Cube.merge([good, bad])


# --- names


@every_name
def test_hostile_groups_add_from_files(name, tmp_path):
    cube = Cube.count(as_group(name), prediction="what was decided", sensitive="who it was")
    for i in range(2):
        cube.save(tmp_path / f"{i}.cube")
    assert Cube.merge(str(tmp_path / "*.cube")) == cube + cube


@every_file_name
def test_hostile_paths_add(name, tmp_path):
    cube = Cube.count(table(1), **ROLES)
    for part in ("a", "b"):
        cube.save(tmp_path / f"{name}{part}.cube")
    assert Cube.merge([tmp_path / f"{name}{part}.cube" for part in ("a", "b")]) == cube + cube


def test_day_2_comes_before_day_10():
    assert sorted(["d10", "d9", "d1", "e", "d"], key=natural) == ["d", "d1", "d9", "d10", "e"]


def test_notes_and_facts_travel(tmp_path):
    from dataclasses import replace

    cube = replace(Cube.count(table(1), **ROLES), notes=("one file was left out.",), facts={"dropped": 2})
    cube.save(tmp_path / "a.cube")
    cube.save(tmp_path / "b.cube")
    found = Cube.merge(str(tmp_path / "*.cube"))
    assert found.notes == cube.notes
    assert found.facts == {"dropped": 4}
    assert found == cube + cube
    assert found.audit().notes[0] == "one file was left out."


# --- cubes in place of data


def saved(folder) -> tuple[Cube, list[str]]:
    """A cube, and the paths of its two halves."""
    halves = [Cube.count(table(day), **ROLES) for day in range(2)]
    paths = [str(folder / f"{day}.cube") for day in range(2)]
    for half, path in zip(halves, paths, strict=True):
        half.save(path)
    return Cube.merge(halves), paths


def test_an_audit_takes_cubes_and_files_of_cubes(tmp_path):
    whole, paths = saved(tmp_path)
    expected = whole.audit().findings
    for data in (whole, paths, tuple(map(Path, paths)), str(tmp_path / "*.cube"), [Cube.load(paths[0]), paths[1]]):
        assert eh.audit(data).findings == expected
        assert eh.demographic_parity(data).value == next(
            finding.value for finding in expected if finding.metric == "demographic_parity"
        )
    one = Cube.load(paths[0])
    assert eh.audit(paths[0], reference="a").findings == one.audit(reference="a").findings
    assert eh.audit(Path(paths[0]), metrics=["equal_opportunity"]).cube == one


@pytest.mark.parametrize("function", [eh.audit, eh.equalized_odds])
def test_a_cube_knows_its_columns_already(function, tmp_path):
    whole, paths = saved(tmp_path)
    for data in (whole, paths, paths[0]):
        with pytest.raises(CallError, match=r"knows its columns.*leave out prediction=, sensitive=\."):
            function(data, prediction="d", sensitive=["g"])
        with pytest.raises(CallError, match=r"leave out bands=\."):
            function(data, bands={"g": None})
        assert function(data, missing="group", positive=1) is not None  # which is what a cube is counted with


def test_cubes_and_data_are_not_mixed(tmp_path):
    whole, paths = saved(tmp_path)
    for data in ([paths[0], "people.csv"], [whole, {"g": ["a"]}]):
        with pytest.raises(CallError, match="cannot be read together: count that first"):
            eh.audit(data)
    with pytest.raises(DataError, match=r"there is no file 'nowhere\.cube'"):
        eh.audit("nowhere.cube")


def test_a_measure_of_rows_needs_the_rows(tmp_path):
    whole, paths = saved(tmp_path)
    own = eh.metric("agreement", measures=eh.measure("agreement", lambda y, p: (y == p).mean()))
    for data in (whole, paths):
        with pytest.raises(CallError, match="needs the rows; a cube does not keep them"):
            own(data)
        with pytest.raises(CallError, match="needs the rows; a cube does not keep them"):
            eh.audit(data, metrics=[own])
