"""evenhand search: files in, exit codes, tables and pages out."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.datasets import compas

ROLES = ["--label", "recidivated", "--score", "decile", "--cutoff", "5", "--count", "count"]
WITHIN = ["--within", "race", "--within", "sex", "--within", "age"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "compas.csv"
    pd.DataFrame(compas()).to_csv(path, index=False)
    return path


@pytest.fixture
def odd(tmp_path):
    """The same people one by one, with a column of unique values and one in which every value is missing."""
    path = tmp_path / "odd.csv"
    frame = pd.DataFrame(compas())
    frame = frame.loc[frame.index.repeat(frame["count"])].assign(count=1, none=None)
    frame.assign(id=[f"p{i}" for i in range(len(frame))]).to_csv(path, index=False)
    return path


def found(**arguments):
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
    return eh.search(compas(), within=["race", "sex", "age"], **roles, **arguments)


def test_it_says_what_the_function_says(file, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code = run(["search", str(file), *WITHIN, *ROLES, "--metric", "false_positive_rate"])
    out = capsys.readouterr().out
    finding = found(metric="false_positive_rate")
    assert (code, finding.verdict) == (1, "fail")
    assert finding.interpretation in out
    assert all(note in out for note in finding.notes)
    for row in finding.panels[0].rows:
        assert row[0] in out


def test_groups_that_are_open_stand_below_those_that_fail(file, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["search", str(file), *WITHIN, *ROLES, "--metric", "false_positive_rate"]) == 1
    out = capsys.readouterr().out
    finding = found(metric="false_positive_rate")
    (panel,) = (panel for panel in finding.panels if panel.title == "Groups that are open")
    below = out.partition("Groups that are open: false positive rate %")[2]
    assert all(str(row[0]) in " ".join(below.split()) or str(row[0]).split(", ")[-1] in below for row in panel.rows)


def test_a_narrow_terminal_is_enough(file, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run(["search", str(file), *WITHIN, *ROLES, "--metric", "equalized_odds"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "Groups beyond the threshold" in out
    assert "true positive rate" in out


def test_options_are_the_arguments_of_the_function(file, capsys):
    options = ["--depth", "2", "--least", "200", "--threshold", "0.2", "--against", "overall", "--draws", "199"]
    code = run(["search", str(file), *WITHIN, *ROLES, *options, "--metric", "tpr", "--random-state", "3", "--json"])
    finding = found(metric="tpr", depth=2, least=200, threshold=0.2, against="overall", draws=199, random_state=3)
    shown = json.loads(capsys.readouterr().out)["findings"][0]
    assert code == {"pass": 0, "fail": 1, "inconclusive": 3}[finding.verdict]
    assert shown["interpretation"] == finding.interpretation
    assert shown["settings"]["deviate"] == finding.settings["deviate"]


def test_split(file, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["search", str(file), *WITHIN, *ROLES, "--metric", "fpr", "--split"]) == 1
    assert found(metric="fpr", split=True).interpretation in capsys.readouterr().out


def test_it_is_saved_and_cubes_are_searched(file, tmp_path, capsys):
    sensitive = [word.replace("within", "sensitive") for word in WITHIN]
    assert run(["cube", str(file), *sensitive, *ROLES, "-o", str(tmp_path / "people.cube")]) == 0
    capsys.readouterr()
    targets = [part for suffix in ("html", "json", "md", "xml") for part in ("-o", str(tmp_path / f"found.{suffix}"))]
    assert run(["search", str(tmp_path / "people.cube"), "--metric", "fpr", "--quiet", *targets]) == 1
    assert capsys.readouterr().out == ""
    loaded = eh.Audit.load(tmp_path / "found.json")
    assert loaded.findings[0].interpretation == found(metric="fpr").interpretation
    assert loaded.verdict == "fail"
    assert run(["search", str(tmp_path / "people.cube"), "--within", "race", "--metric", "fpr", "--depth", "1"]) == 1
    assert "race = " in capsys.readouterr().out
    assert run(["search", str(file), *WITHIN, *ROLES, "--metric", "fpr", "-v"]) == 1
    assert "Groups" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([*ROLES], "Missing option '--within'"),
        ([*WITHIN, *ROLES, "--depth", "0"], "--depth"),
        ([*WITHIN, *ROLES, "--least", "100000"], "lower --least"),
        ([*WITHIN, *ROLES, "--metric", "nothing"], "'nothing' is not a metric or a measure"),
        ([*WITHIN, *ROLES, "--sensitive", "race"], "name the sensitive attribute there, not in --sensitive"),
        ([*WITHIN, *ROLES, "--control", "race"], "a search has no strata: name the column in --within"),
        ([*WITHIN, *ROLES, "--cluster", "race"], "takes people as strangers, so it does not take --cluster"),
        ([*WITHIN, *ROLES, "--sensitiv", "race"], "No such option"),
        ([*WITHIN, "--within", "id", *ROLES], "an id? So many groups need several people each"),
        ([*WITHIN, "--within", "none", *ROLES], "'none' is missing in every row"),
        ([*WITHIN, "--within", "shoe", *ROLES], "shoe"),
    ],
)
def test_what_is_wrong_is_said(odd, options, said, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    assert run(["search", str(odd), *options]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
