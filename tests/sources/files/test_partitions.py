"""Folders named KEY=VALUE: columns only where they are asked for, and never in place of a column of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.errors import CallError, DataError
from evenhand.sources.rows import load_files
from support.backends import FILES

# Black people are approved less often: 10 of 100 against 90 of 100.
TABLE = {
    "race": ["Black"] * 100 + ["White"] * 100,
    "approved": [1] * 10 + [0] * 90 + [1] * 90 + [0] * 10,
    "repaid": [1, 0] * 100,
}
ROLES: dict[str, Any] = {"prediction": "approved", "sensitive": "race"}
OPTIONS = ["--prediction=approved", "--sensitive=race"]
KINDS = ("csv", "csv-gz", "tsv", "jsonl", "jsonl-gz", "parquet", "parquet-duckdb", "parquet-polars", "feather")
every_kind = pytest.mark.parametrize("kind", KINDS)


def put(kind: str, folder: Path, table: dict[str, list[Any]] = TABLE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return FILES[kind](table, folder)


@every_kind
@pytest.mark.parametrize("name", ["approved=1", "race=all", "APPROVED=1", "json=1", "c0=1", "c1=1"])
def test_a_folder_does_not_change_what_a_file_holds(kind, name, tmp_path):
    path = put(kind, tmp_path / name)
    assert eh.Cube.count(path, **ROLES) == eh.Cube.count(TABLE, **ROLES)
    assert eh.audit(path, **ROLES).verdict == "fail"
    assert list(load_files(path, ["approved"])["approved"]) in (TABLE["approved"], list(map(str, TABLE["approved"])))
    with pytest.raises(CallError, match="'year' is not a column"):
        eh.audit(put(kind, tmp_path / "year=2026"), **{**ROLES, "sensitive": "year"})


@every_kind
def test_a_fail_stays_a_fail_through_every_door(kind, tmp_path, capsys):
    path = put(kind, tmp_path / "approved=1" / "race=all")
    outputs = [tmp_path / name for name in ("audit.json", "audit.xml", "audit.md", "audit.html")]
    code = run(["audit", str(path), *OPTIONS, *(f"-o{each}" for each in outputs)])
    assert code == 1
    assert json.loads(outputs[0].read_text())["verdict"] == "fail"
    assert "<failure" in outputs[1].read_text()
    assert run(["cube", str(path), *OPTIONS, "-o", str(tmp_path / "day.cube")]) == 0
    assert eh.Cube.load(tmp_path / "day.cube") == eh.Cube.count(TABLE, **ROLES)
    with pytest.raises(AssertionError):
        eh.testing.assert_fair(path, **ROLES)
    capsys.readouterr()


@every_kind
def test_a_key_that_is_also_a_column_is_an_error(kind, tmp_path, capsys):
    path = put(kind, tmp_path / "approved=1")
    message = r"'approved' is the name of a folder \(approved=…\) and of a column in the files: rename the folder"
    for ask in (eh.audit, eh.Cube.count, eh.demographic_parity):
        with pytest.raises(DataError, match=message):
            ask(path, **ROLES, hive=True)
    commands = {
        "audit": OPTIONS,
        "cube": [*OPTIONS, "-o", str(tmp_path / "x.cube")],
        "mitigate": ["--method=reweigh", "--label=repaid", "--sensitive=race"],
        "individual": ["--prediction=approved", "--sensitive=race"],
        "stability": ["--replicas-columns=approved", "--sensitive=race"],
        "replicate": ["--label=repaid", "--sensitive=race"],
        "counterfactual": ["--flip", "--sensitive=race", "--prediction-function=math:floor"],
    }
    for command, options in commands.items():
        assert run([command, str(path), *options, "--hive"]) == 2, command
        assert "is the name of a folder" in capsys.readouterr().err, command


@every_kind
def test_folders_are_columns_where_they_are_asked_for(kind, tmp_path, capsys):
    values = {"north": "north", "a%20b%2Fc": "a b/c", "007": "007", "__HIVE_DEFAULT_PARTITION__": None, "": None}
    whole: dict[str, list[Any]] = {name: [] for name in (*TABLE, "region", "year")}
    for i, (folder, region) in enumerate(values.items()):
        put(kind, tmp_path / "data" / f"region={folder}" / f"year={2020 + i % 2}")
        for name, column in {**TABLE, "region": [region] * 200, "year": [2020 + i % 2] * 200}.items():
            whole[name] += column
    roles = {**ROLES, "sensitive": ["race", "region"], "control": "year"}
    pattern = str(tmp_path / "data" / "*" / "*" / "*.*")
    assert eh.Cube.count(pattern, **roles, hive=True) == eh.Cube.count(whole, **roles)
    loaded = load_files(pattern, hive=True)
    assert set(loaded) == set(whole)
    assert sorted(map(str, loaded["region"])) == sorted(map(str, whole["region"]))
    options = ["--prediction=approved", "--sensitive=race", "--sensitive=region", "--control=year", "--hive"]
    assert run(["cube", pattern, *options, "-o", str(tmp_path / "day.cube")]) == 0
    assert eh.Cube.load(tmp_path / "day.cube") == eh.Cube.count(whole, **roles)
    capsys.readouterr()


def test_columns_of_parts_are_joined_by_name(tmp_path):
    put("parquet", tmp_path / "day=1")
    put("parquet", tmp_path / "day=2", {"approved": [1.0, None], "race": ["Black", "White"], "note": ["x", "y"]})
    cube = eh.Cube.count(str(tmp_path / "*" / "*"), label="repaid", sensitive=["race", "day"], hive=True)
    assert cube.size == 202
    loaded = load_files(str(tmp_path / "*" / "*"), hive=True)
    assert list(loaded["note"][-2:]) == ["x", "y"]
    put("csv", tmp_path / "day=1")
    put("csv", tmp_path / "day=2", {"race": ["a"], "approved": [1]})
    with pytest.raises(DataError, match="the files have different columns"):
        eh.audit(str(tmp_path / "*" / "*.csv"), **ROLES, hive=True)


def test_folders_that_are_no_partitions(tmp_path, capsys):
    plain = put("csv", tmp_path / "plain")
    with pytest.raises(DataError, match=r"lies in no folder that is named KEY=VALUE"):
        eh.audit(plain, **ROLES, hive=True)
    one, other = put("csv", tmp_path / "day=1"), put("csv", tmp_path / "hour=1")
    with pytest.raises(DataError, match=r"folders with different keys: 'day'; 'hour'"):
        eh.audit([one, other], **ROLES, hive=True)
    with pytest.raises(DataError, match="lies in two folders of the key 'day'"):
        eh.audit(put("csv", tmp_path / "day=1" / "day=2"), **ROLES, hive=True)
    with pytest.raises(CallError, match=r"hive=True reads the names of folders, and this data is not in files"):
        eh.audit(TABLE, **ROLES, hive=True)
    for value in ("yes", 1, None):
        with pytest.raises(CallError, match=rf"hive={value!r} must be True or False"):
            eh.audit(one, **ROLES, hive=value)
    eh.Cube.count(one, **ROLES).save(tmp_path / "x.cube")
    with pytest.raises(CallError, match="leave out hive="):
        eh.audit(tmp_path / "x.cube", hive=True)
    assert run(["audit", str(tmp_path / "x.cube"), "--hive"]) == 2
    assert "--hive cannot be given" in capsys.readouterr().err
