"""A name is only a name: hostile columns, groups and files, from reading to findings and saved cubes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand import Cube
from evenhand.cli import run
from evenhand.errors import EvenhandError
from support import hostile
from support.backends import BACKENDS, FILES
from support.hostile import DECISION, GROUP, LABEL, as_column, as_group

READERS = ["lists", "pandas", "polars", "csv", "csv-semicolon", "jsonl", "parquet"]


@pytest.mark.parametrize("backend", READERS)
def test_groups_keep_their_names(backend, tmp_path):
    tables = [as_group(name) for name in hostile.NAMES.values()]
    everyone = {role: [value for table in tables for value in table[role]] for role in tables[0]}
    cube = Cube.count(BACKENDS[backend](everyone, tmp_path), label=LABEL, prediction=DECISION, sensitive=GROUP)
    untyped = backend.startswith(("csv", "tsv"))
    names = {hostile.IN_CSV.get(name, name) if untyped else name for name in hostile.NAMES.values()}
    assert set(cube.groups) == {*((name,) for name in names), ("other people",), (None,)}
    sizes = dict(zip(cube.groups, cube.n.sum(axis=(1, 2)).tolist(), strict=True))
    assert {sizes[name,] for name in names} == {40}


@pytest.mark.parametrize("backend", ["polars", "csv-semicolon", "jsonl", "parquet"])
@hostile.every_name
def test_a_column_keeps_its_name(name, backend, tmp_path):
    data = BACKENDS[backend](as_column(name), tmp_path)
    cube = Cube.count(data, label=LABEL, prediction=DECISION, sensitive=[name])
    assert cube.meaning.sensitive == (name,)
    assert cube == Cube.count(as_column(name), label=LABEL, prediction=DECISION, sensitive=[name])


@pytest.mark.parametrize("backend", ["pandas", "csv", "parquet"])
@hostile.every_name
def test_every_role_may_have_such_a_name(name, backend, tmp_path):
    values = {
        "label": [1, 0, None, 1],
        "prediction": [1, 0, 0, 1],
        "score": [0.9, 0.1, 0.5, 0.7],
        "count": [1, 2, 3, 4],
        "weight": [0.5, 1.5, 1.0, 2.0],
        "control": ["x", "y", "x", "y"],
        "sensitive": ["a", "b", "a", "b"],
        "bystander": ["q", "r", "s", "t"],
    }
    names = {role: f"{name} {i}" for i, role in enumerate(values)} | {"sensitive": name}
    columns = {names[role]: column for role, column in values.items()}
    del names["bystander"]
    roles = {**names, "sensitive": [name], "control": [names["control"]], "cutoff": 0.5}
    assert Cube.count(BACKENDS[backend](columns, tmp_path), **roles) == Cube.count(columns, **roles)


@pytest.mark.parametrize("backend", [name for name in BACKENDS if not name.endswith(("glob", "paths", "duckdb"))])
def test_columns_that_differ_only_in_capitals(backend, tmp_path):
    columns = {"race": ["a", "b"], "Race": ["x", "y"], "RACE_1": ["q", "r"], "p": [1, 0], "P": [0, 0]}
    data = BACKENDS[backend](columns, tmp_path)
    for name in ("race", "Race", "RACE_1"):
        cube = Cube.count(data, prediction="p", sensitive=name)
        assert [group[0] for group in cube.groups] == columns[name], name


def test_columns_nobody_asked_for_may_be_strange(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text("g,p,,,p q\na,1,,,x\nb,0,,,\n")
    assert Cube.count(path, prediction="p", sensitive="g").size == 2


@hostile.every_name
def test_findings_carry_the_name_exactly(name):
    found = eh.demographic_parity(as_group(name), prediction=DECISION, sensitive=GROUP)
    assert found.highest == name
    assert (name,) in [row.group for row in found.groups]
    assert found.passes is False
    assert eh.demographic_parity(as_column(name), prediction=DECISION, sensitive=[name]).attributes == (name,)


@hostile.every_name
def test_a_group_can_be_the_reference(name):
    found = eh.demographic_parity(as_group(name), prediction=DECISION, sensitive=GROUP, reference={GROUP: name})
    assert found.lowest == name
    assert found.settings["against"] == name


@pytest.mark.parametrize("column", [False, True], ids=["group", "column"])
@hostile.every_name
def test_a_saved_cube_keeps_the_name(name, column, tmp_path):
    cube = hostile.audited(name, column=column).cube
    cube.save(tmp_path / "x.cube")
    assert Cube.load(tmp_path / "x.cube") == cube


def test_half_a_character_is_not_saved_in_a_cube(tmp_path):
    with pytest.raises(EvenhandError, match="cannot be written"):
        hostile.audited("\ud83d", column=False).cube.save(tmp_path / "x.cube")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("backend", ["csv-gz", "jsonl", "parquet"])
@hostile.every_file_name
def test_files_may_have_any_name(name, backend, tmp_path, capsys, monkeypatch):
    made = FILES[backend](as_group("a"), tmp_path)
    suffix = "".join(made.suffixes)
    folder = tmp_path / f"folder {name}"
    folder.mkdir()
    path = made.rename(folder / (name + suffix))
    (folder / f"a-b{suffix}").write_bytes(b"not read")
    roles = {"label": LABEL, "prediction": DECISION, "sensitive": GROUP}
    expected = Cube.count(as_group("a"), **roles)
    assert Cube.count(path, **roles) == expected
    assert Cube.count([str(path)], **roles) == expected
    monkeypatch.chdir(folder)
    given = ["audit", f"--label={LABEL}", f"--prediction={DECISION}", f"--sensitive={GROUP}", "-q"]
    given += ["--metric=demographic_parity", "--", path.name]
    assert run(given) in (1, 3)
    assert capsys.readouterr() == ("", "")


@hostile.every_file_name
def test_a_cube_may_be_saved_under_any_name(name, tmp_path):
    cube = Cube.count(as_group("a"), prediction=DECISION, sensitive=GROUP)
    cube.save(tmp_path / name)
    assert Cube.load(tmp_path / name) == cube
    assert [path.name for path in tmp_path.iterdir()] == [name]


TEXTS = {
    "F and T": ("g,p\nF,1\nT,0\n", ["F", "T"]),
    "leading zeros": ("g,p\n01,1\n1,0\n", ["1", "01"]),
    "dates": ("g,p\n2024-01-01,1\n1/2/2024,0\n", ["1/2/2024", "2024-01-01"]),
    "NA": ('g,p\nNA,1\nnan,0\nnull,1\nNone,0\n,1\n"",0\n', ["NA", "None", "nan", "null", None]),
    "byte-order mark": ("\ufeffg,p\na,1\nb,0\n", ["a", "b"]),
    "mark, quotes, semicolons": ('\ufeff"g";p\r\na;1\r\n"b\nc";0\r\n', ["a", "b\nc"]),
    "quotes": ('"g","p"\n"say ""hi""",1\n"b,c",0\n', ["b,c", 'say "hi"']),
    "one quote": ('g,p\n5" tall,1\nb,0\n', ['5" tall', "b"]),
    "old Macintosh": ("g,p\ra,1\rb,0\r", ["a", "b"]),
    "no end": ("g,p\na,1\nb,0", ["a", "b"]),
    "empty lines": ("p,g\n1,a\n\n0,b\n\n\n", ["a", "b"]),
    "header of two lines": ('"g\nh",g,p\nx,a,1\ny,b,0\n', ["a", "b"]),
    "spaces": ("g,p\na, 1 \nb,0.0\n", ["a", "b"]),
    "booleans": ("g,p\na,TRUE\nb,false\n", ["a", "b"]),
    "whole numbers": ("g,p\n1.0,1\n2.00,0\n,1\n", ["1", "2", None]),
    "fractions": ("g,p\n1.50,1\n2.0,0\n", ["1.50", "2"]),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_csv_is_text(kind, tmp_path):
    text, expected = TEXTS[kind]
    (tmp_path / "x.csv").write_bytes(text.encode())
    cube = Cube.count(tmp_path / "x.csv", prediction="p", sensitive="g")
    assert [group[0] for group in cube.groups] == expected


def test_na_adds_to_what_is_missing_in_a_csv(tmp_path):
    (tmp_path / "x.csv").write_text("g,p\nNA,1\nnan,0\nnull,1\n,0\n")
    cube = Cube.count(tmp_path / "x.csv", prediction="p", sensitive="g", na=["NA", "null"])
    assert [group[0] for group in cube.groups] == ["nan", None]


@pytest.mark.parametrize("backend", ["lists", "pandas", "polars", "csv", "jsonl", "parquet"])
def test_names_that_are_equal_only_to_the_eye_stay_apart(backend, tmp_path):
    names = [hostile.NAMES["composed"], hostile.NAMES["decomposed"], "Cafe"]
    data = BACKENDS[backend]({"g": names, "p": [1, 0, 1]}, tmp_path)
    assert {group[0] for group in Cube.count(data, prediction="p", sensitive="g").groups} == set(names)


def test_columns_of_pandas_that_are_no_text():
    frame = pd.DataFrame({0: ["a", "b"], 1.5: [1, 0], ("x", "y"): ["c", "d"]})
    assert Cube.count(frame, prediction="1.5", sensitive=["0", "('x', 'y')"]).size == 2
    record = np.array([("a", 1), ("b", 0)], dtype=[("g", "U1"), ("p", "i4")])
    assert Cube.count(record, prediction="p", sensitive="g").size == 2
