"""evenhand explain: files, cubes and databases in; a sentence, tables, JSON and pages out."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.cli import run

ROLES = ["--prediction", "admitted", "--sensitive", "gender", "--count", "count"]
BY = [*ROLES, "--control", "department"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(eh.datasets.berkeley())
    frame.to_csv("berkeley.csv", index=False)
    with duckdb.connect("berkeley.duckdb") as database:
        database.execute("CREATE TABLE admissions AS FROM read_csv('berkeley.csv')")
    random = np.random.default_rng(0)
    risk = random.random(2000)
    group = random.choice(["a", "b", "c"], 2000)
    pd.DataFrame({"g": group, "risk": risk, "d": (risk + 0.1 * (group == "a") > 0.6).astype(int)}).to_csv(
        "people.csv", index=False
    )
    return tmp_path


def found(**changes):
    read = {"prediction": "admitted", "sensitive": "gender", "count": "count", "control": "department"}
    return eh.explain(eh.datasets.berkeley(), **{**read, **changes})


def test_it_says_what_the_function_says(folder, capsys):
    assert run(["explain", "berkeley.csv", *BY]) == 0
    out = capsys.readouterr().out
    assert found().interpretation in out
    assert "From Female to Male in the selection rate" in out
    assert "Male and Female (the other group) by department" in out


def test_lines_fit_into_80_columns(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["explain", "berkeley.csv", *BY]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out


def test_json_holds_every_number(folder, capsys):
    assert run(["explain", "berkeley.csv", *BY, "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    rows = {row["measure"]: row["difference"] for row in finding["rows"] if row.get("difference")}
    for row in found().rows:
        if row.difference is not None:
            assert rows[row.measure]["value"] == row.difference.value
            assert rows[row.measure]["low"] == row.difference.low
    assert finding["panels"][0]["role"] == "waterfall"


def test_cubes_and_databases(folder, capsys):
    assert run(["cube", "berkeley.csv", *BY, "-q", "-o", "b.cube"]) == 0
    assert run(["explain", "b.cube"]) == 0
    assert found().interpretation in capsys.readouterr().out
    assert run(["explain", "--database", "duckdb:///berkeley.duckdb", "--table", "admissions", *BY]) == 0
    assert found().interpretation in capsys.readouterr().out


def test_groups_are_named_in_one_option_or_in_two(folder, capsys):
    people = ["explain", "people.csv", "--prediction", "d", "--sensitive", "g", "--risk", "risk"]
    assert run(people) == 2
    assert "there are 3 groups: say which two are compared with --between" in capsys.readouterr().err
    outs = []
    for between in (["--between", "a,b"], ["--between", "a", "--between", "b"]):
        assert run([*people, *between]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]
    expected = eh.explain("people.csv", prediction="d", sensitive="g", risk="risk", between=("a", "b"))
    assert expected.notes[0] in outs[0]


def test_a_page_and_other_files(folder):
    files = ["x.html", "x.json", "x.md", "x.xml"]
    assert run(["explain", "berkeley.csv", *BY, "-q", *(part for name in files for part in ("-o", name))]) == 0
    assert all((folder / name).stat().st_size for name in files)
    assert eh.Audit.load(folder / "x.json").findings[0].interpretation == found().interpretation


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([*ROLES], "name the columns that say where people are with --control, such as a department.\n"),
        ([*BY, "--metric", "equalized_odds"], "explain the gap in one of them, --metric"),
        ([*BY, "--metric", "calibration"], "explain another one, such as --metric equal_opportunity"),
        ([*BY, "--between", "Male"], "must name two groups"),
        ([*BY, "--between", "Male,Man"], "'Man' is not a group"),
        ([*ROLES, "--control", "gender"], "plays two roles, sensitive and control"),
        ([*ROLES, "--control", "dept"], "department"),
        ([*ROLES, "--risk", "department"], "department"),
    ],
)
def test_errors_are_said_in_options(more, message, folder, capsys):
    assert run(["explain", "berkeley.csv", *more]) == 2
    assert message in capsys.readouterr().err
