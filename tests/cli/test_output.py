"""The command line: audits in several forms, reports without the data, diffs with exit codes, the schema."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

import evenhand as eh
from evenhand.cli import run
from support import hostile

EVEN = {"A": (500, 1000), "B": (500, 1000)}
UNEVEN = {"A": (500, 1000), "B": (250, 1000)}
FEW = {"A": (10, 20), "B": (8, 20)}
ROLES = ["--prediction", "d", "--sensitive", "g", "--count", "n"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, rates in (("even", EVEN), ("uneven", UNEVEN), ("few", FEW)):
        lines = [f"{group},1,{k}\n{group},0,{n - k}" for group, (k, n) in rates.items()]
        Path(f"{name}.csv").write_text("g,d,n\n" + "\n".join(lines) + "\n")
        run(["audit", f"{name}.csv", *ROLES, "-q", "-o", f"{name}.json"])
    return tmp_path


def test_one_audit_in_several_forms(folder, capsys):
    assert run(["audit", "uneven.csv", *ROLES, "-q", "-o", "a.json", "-o", "a.md", "--output", "a.xml"]) == 1
    assert capsys.readouterr() == ("", "")
    assert json.loads(Path("a.json").read_text())["verdict"] == "fail"
    assert Path("a.md").read_text(encoding="utf-8").startswith("# Verdict: fail\n")
    assert ElementTree.parse("a.xml").getroot().get("failures") == "1"


@pytest.mark.parametrize("command", [["audit", "even.csv", *ROLES], ["demo"], ["report", "even.json"]])
def test_where_nothing_can_be_saved_nothing_is_read(command, folder, capsys):
    before = sorted(path.name for path in folder.iterdir())
    assert run([*command, "-o", "x.json", "-o", "x.txt"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(r"--output 'x.txt': an audit (or a form )?is saved as \.html, \.json, \.md, \.pdf", err)
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("name", ["x" * 300 + ".json", "a/b.json", "folder.json"])
def test_an_output_that_cannot_be(name, folder, capsys):
    Path("folder.json").mkdir()
    assert run(["report", "even.json", "-o", name]) == 2
    assert capsys.readouterr().err.startswith("evenhand: error: ")


# --- report


def test_a_report_says_what_the_audit_said(folder, capsys):
    assert run(["audit", "uneven.csv", *ROLES]) == 1
    told = capsys.readouterr().out
    assert run(["report", "uneven.json"]) == 0
    assert capsys.readouterr().out == told
    assert run(["report", "uneven.json", "--json"]) == 0
    assert capsys.readouterr().out == Path("uneven.json").read_text()


def test_a_report_in_other_forms_without_the_data(folder, capsys):
    run(["audit", "uneven.csv", *ROLES, "-q", "-o", "direct.md", "-o", "direct.xml"])
    for path in folder.glob("*.csv"):
        path.unlink()
    assert run(["report", "uneven.json", "-o", "x.md", "-o", "x.xml", "-o", "x.json"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("Saved for yourself: with the full counts") == 1
    assert Path("x.json").read_bytes() == Path("uneven.json").read_bytes()
    for form in ("md", "xml"):
        assert Path(f"x.{form}").read_bytes() == Path(f"direct.{form}").read_bytes()


# --- diff


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("even", "even", 0),
        ("even", "uneven", 1),
        ("uneven", "even", 0),
        ("even", "few", 3),
        ("even", "nothing", 2),
        ("nothing", "even", 2),
    ],
)
def test_exit_codes_of_diff(before, after, code, folder, capsys):
    given = ["diff", f"{before}.json", f"{after}.json"]
    assert run(given) == code
    out, err = capsys.readouterr()
    assert bool(out) == (code != 2)
    assert bool(err) == (code == 2)
    assert run([*given, "--quiet"]) == code
    assert capsys.readouterr().out == ""


def test_diff_as_text_and_json(folder, capsys):
    assert run(["diff", "even.json", "uneven.json"]) == 1
    told = capsys.readouterr().out
    assert told == f"{eh.diff('even.json', 'uneven.json')}\n"
    assert run(["diff", "even.json", "uneven.json", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == eh.diff("even.json", "uneven.json").to_dict()


def test_diff_of_files_that_are_not_audits(folder, capsys):
    assert run(["diff", "even.csv", "even.json"]) == 2
    assert "'even.csv' is not an audit" in capsys.readouterr().err


@hostile.every_name
def test_hostile_names(name, tmp_path, capsys):
    roles = {"label": hostile.LABEL, "prediction": hostile.DECISION, "metrics": ["demographic_parity"]}
    paths = []
    for i, each in enumerate((name, f"{name}x")):
        paths.append(str(tmp_path / f"{i}.json"))
        eh.audit(hostile.as_group(each), sensitive=hostile.GROUP, **roles).save(paths[-1])
    for command in (["diff", *paths], ["diff", *paths, "--json"], ["report", paths[0]], ["report", paths[0], "--json"]):
        assert run(command) in (0, 1, 3)
        out, err = capsys.readouterr()
        assert hostile.unseen(out) == set()
        assert err == ""


# --- the rest


def test_the_schema(folder, capsys):
    assert run(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema).validate(json.loads(Path("uneven.json").read_text()))


def test_the_module_is_the_program(folder):
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "report", "uneven.json"], capture_output=True, check=False, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Verdict: fail")
    done = subprocess.run([sys.executable, "-m", "evenhand", "nothing"], capture_output=True, check=False, text=True)
    assert done.returncode == 2


@pytest.mark.parametrize("command", ["diff", "report", "schema"])
def test_help(command, capsys):
    assert run([command, "--help"]) == 0
    assert f"Usage: evenhand {command}" in capsys.readouterr().out


def test_a_reader_that_goes_away(folder):
    command = f"{sys.executable} -m evenhand schema | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, check=False, text=True)
    assert (done.stdout, done.stderr) == ("{\n", "")
