"""No command overwrites what it reads, and none replaces a file of another kind without --force."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from evenhand.cli import run
from evenhand.cli.targets import INPUTS, Target
from support.commands import COMMANDS

ROLES = ["--prediction", "d", "--sensitive", "g"]
PEOPLE = ["people.csv", "--label", "y", "--sensitive", "g"]
FITTED = ["--n-replicas", "3", "--n-jobs", "1", "--feature", "x", "-q"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    lines = [f"{'AB'[i % 2]},{i},{i // 3 % 2},{i // 2 % 2},0.{i % 9},0.5,0.{i % 7},{i // 2}" for i in range(80)]
    Path("people.csv").write_text("g,x,y,d,s,p_0,p_1,u\n" + "\n".join(lines) + "\n")
    Path("shares.csv").write_text("value,share\nA,0.5\nB,0.5\n")
    Path("model.py").write_text("def predict(table):\n    return [1] * len(table)\n")
    Path("g.dot").write_text("digraph { g -> x }")
    return tmp_path


def calls() -> dict[str, tuple[list[str], list[str]]]:
    """For every output of every command: the call, and the option with a path to write to."""
    return {
        "audit": (["audit", "people.csv", *ROLES, "-q"], ["-o", "x.html"]),
        "contest": (["contest", "people.csv", *ROLES, "--prediction", "y", "-q"], ["-o", "x.html"]),
        "counterfactual": (
            [
                "counterfactual",
                "people.csv",
                "--sensitive",
                "g",
                "--flip",
                "--prediction-function",
                "model:predict",
                "-q",
            ],
            ["-o", "x.json"],
        ),
        "correspondence": (["correspondence", "people.csv", *ROLES, "--unit", "u", "-q"], ["-o", "x.html"]),
        "cube": (["cube", "people.csv", *ROLES, "-q"], ["-o", "x.cube"]),
        "demo": (["demo"], ["-o", "x.md"]),
        "diff": (["diff", "saved.json", "saved.json", "-q"], ["-o", "x.md"]),
        "impact": (["impact", "people.csv", *ROLES, "-q"], ["-o", "x.html"]),
        "explain": (["explain", "people.csv", *ROLES, "--control", "y", "-q"], ["-o", "x.html"]),
        "individual": (["individual", "people.csv", "--prediction", "d", "--features", "x", "-q"], ["-o", "x.xml"]),
        "mitigate reweigh": (["mitigate", *PEOPLE, "--method", "reweigh", "-q"], ["-o", "x.csv"]),
        "mitigate thresholds": (
            ["mitigate", *PEOPLE, "--method", "thresholds", "--score", "s", "--cutoff", "0.5", "-q"],
            ["-o", "x.json"],
        ),
        "policy init": (["policy", "init", "--from", "four-fifths"], ["x.toml"]),
        "proxies": (["proxies", "people.csv", "--sensitive", "g", "--features", "x,s", "-q"], ["-o", "x.html"]),
        "replicate": (["replicate", *PEOPLE, *FITTED], ["-o", "x.html"]),
        "replicate csv": (["replicate", *PEOPLE, *FITTED], ["--save-replicas", "x.csv"]),
        "replicate parquet": (["replicate", *PEOPLE, *FITTED], ["--save-replicas", "x.parquet"]),
        "report": (["report", "saved.json"], ["-o", "x.html"]),
        "representation": (["representation", "people.csv", "--benchmark", "g=shares.csv", "-q"], ["-o", "x.html"]),
        "search": (
            ["search", "people.csv", "--prediction", "d", "--within", "g", "--least", "2", "-q"],
            ["-o", "x.html"],
        ),
        "stability": (["stability", *PEOPLE, "--replicas-columns", "p_*", "-q"], ["-o", "x.html"]),
        "watch": (["watch", "saved.cube", "-q"], ["-o", "x.html"]),
    }


@pytest.fixture
def made(folder) -> Path:
    run(["audit", "people.csv", *ROLES, "-q", "-o", "saved.json"])
    run(["cube", "people.csv", *ROLES, "-q", "-o", "saved.cube"])
    return folder


def test_every_output_is_listed_and_every_path_is_an_input_or_an_output():
    outputs, paths = set(), set()
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if isinstance(parameter.type, Target):
                outputs.add(name.removeprefix("evenhand "))
            elif isinstance(parameter.type, click.Path) or isinstance(parameter, click.Argument):
                paths.add(parameter.name)
    assert outputs == {name.partition(" ")[0] if "init" not in name else name for name in calls()}
    assert paths - {"name"} <= set(INPUTS)  # the name of a metric


@pytest.mark.parametrize("name", calls())
def test_a_file_of_the_same_kind_is_replaced_and_another_is_not(name, made, capsys):
    call, output = calls()[name]
    target = Path(output[-1])
    assert run([*call, *output]) in (0, 1, 3), capsys.readouterr().err
    first = target.read_bytes()
    if name == "policy init":
        assert run([*call, *output]) == 2
        assert "exists already" in capsys.readouterr().err
    else:
        assert run([*call, *output]) in (0, 1, 3), capsys.readouterr().err
    target.write_bytes(b"a,b\nmine,1\n")
    target.chmod(0o600)
    assert run([*call, *output]) == 2
    shown = capsys.readouterr().err
    assert "exists already" in shown
    assert "--force" in shown
    assert target.read_bytes() == b"a,b\nmine,1\n"
    assert run([*call, *output, "--force"]) in (0, 1, 3)
    assert target.read_bytes()[:20] == first[:20]
    assert target.stat().st_mode & 0o777 == 0o600
    target.write_bytes(b"")  # an empty file holds nothing that could be lost
    assert run([*call, *output]) in (0, 1, 3)


def test_our_files_of_different_kinds_do_not_replace_each_other(made, capsys):
    call, output = calls()["mitigate thresholds"]
    assert run([*call, *output]) == 0
    assert run(["audit", "people.csv", *ROLES, "-q", *output]) == 2
    assert "another kind" in capsys.readouterr().err
    assert run([*call, "-o", "saved.json"]) == 2


@pytest.mark.parametrize(
    "way", ["itself", "dots", "absolute", "soft", "hard", "soft to soft", "glob", "read by a link"]
)
@pytest.mark.parametrize("more", [[], ["--force"]])
def test_an_input_is_never_overwritten(way, more, folder, capsys):
    before = Path("people.csv").read_bytes()
    Path("soft.csv").symlink_to("people.csv")
    Path("soft2.csv").symlink_to("soft.csv")
    os.link("people.csv", "hard.csv")
    output = {
        "dots": f"../{folder.name}/people.csv",
        "absolute": str(folder / "people.csv"),
        "soft": "soft.csv",
        "hard": "hard.csv",
        "soft to soft": "soft2.csv",
    }.get(way, "people.csv")
    file = {"glob": "peo*.csv", "read by a link": "soft2.csv"}.get(way, "people.csv")
    for call in (
        ["mitigate", file, "--method", "reweigh", "--label", "y", "--sensitive", "g", "-o", output],
        ["replicate", file, "--label", "y", "--sensitive", "g", *FITTED, "--save-replicas", output],
    ):
        assert run([*call, *more]) == 2
        assert "cannot be written: it is an input of this command. Name another file." in capsys.readouterr().err
    assert Path("people.csv").read_bytes() == before


@pytest.mark.parametrize(
    "call",
    [
        ["report", "saved.json", "-o", "saved.json"],
        ["cube", "saved.cube", "-o", "saved.cube"],
        ["watch", "sav*.cube", "-o", "x.json", "--policy", "x.json"],
        ["policy", "init", "p.toml", "--from", "p.toml", "--force"],
        ["cube", "--database", "duckdb:///d.cube", "--table", "t", *ROLES, "-o", "d.cube"],
    ],
)
def test_other_inputs(call, made, capsys):
    Path("x.json").write_text("{}")
    Path("p.toml").write_text("")
    Path("d.cube").write_text("a database")
    assert run(call) == 2
    assert "it is an input of this command" in capsys.readouterr().err


def test_a_database_named_by_the_environment_is_an_input(made, capsys, monkeypatch):
    Path("d.cube").write_text("a database")
    monkeypatch.setenv("EVENHAND_DATABASE", "duckdb:///d.cube")
    assert run(["cube", "--table", "t", *ROLES, "-o", "d.cube", "--force"]) == 2
    assert "it is an input of this command" in capsys.readouterr().err


def test_streams_that_are_files(folder):
    call = [sys.executable, "-m", "evenhand"]
    before = Path("people.csv").read_bytes()
    with open("people.csv", "rb") as data:
        mitigate = ["mitigate", "-", *PEOPLE[1:], "--method", "reweigh", "-o", "people.csv", "--force"]
        found = subprocess.run([*call, *mitigate], stdin=data, capture_output=True, check=False)
    assert (found.returncode, Path("people.csv").read_bytes()) == (2, before)
    assert b"it is an input of this command" in found.stderr
    with open("out.json", "wb") as out:
        audit = ["audit", "people.csv", *ROLES, "--json", "-o", "out.json"]
        found = subprocess.run([*call, *audit], stdout=out, stderr=subprocess.PIPE, check=False)
    assert found.returncode == 2
    assert b"standard output is written to it" in found.stderr


@pytest.mark.parametrize(
    ("first", "second"),
    [("x.html", "x.html"), ("x.html", "./x.html"), ("x.html", "there.html"), ("hard.html", "real.html")],
)
def test_two_outputs_are_two_files(first, second, folder, capsys):
    Path("there.html").symlink_to("x.html")
    Path("real.html").write_text("")
    os.link("real.html", "hard.html")
    assert run(["audit", "people.csv", *ROLES, "-o", first, "-o", second]) == 2
    assert "are the same file: name two." in capsys.readouterr().err
    assert not Path("x.html").exists()


def test_a_link_that_is_an_output_stays(folder):
    Path("reports").mkdir()
    Path("latest.html").symlink_to("reports/today.html")
    assert run(["audit", "people.csv", *ROLES, "-q", "-o", "latest.html"]) in (0, 1, 3)
    assert Path("latest.html").is_symlink()
    assert b'content="evenhand"' in Path("reports/today.html").read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_where_nothing_can_be_written(folder, capsys):
    os.mkfifo("pipe.html")
    Path("null.html").symlink_to(os.devnull)
    Path("folder.html").mkdir()
    for path, message in (
        ("pipe.html", "--output 'pipe.html' cannot be written: it is a device or a pipe. Name a file."),
        ("null.html", "--output 'null.html' cannot be written: it is a device or a pipe. Name a file."),
        ("folder.html", "--output 'folder.html' cannot be written: it is a folder. Name a file in it."),
        ("no/x.html", "--output 'no/x.html' cannot be written: there is no folder 'no'. Make it first."),
        ("/dev/stdout", "--output '/dev/stdout': an audit is saved as .html, .json, .md, .pdf or .xml."),
        ("/dev/null", "--output '/dev/null': an audit is saved as .html, .json, .md, .pdf or .xml."),
        ("", "--output is empty"),
        (".", "--output '.': an audit is saved as"),
    ):
        for more in ([], ["--force"]):
            assert run(["audit", "people.csv", *ROLES, "-o", path, *more]) == 2
            assert message in capsys.readouterr().err
    for path in ("/dev/null", "/dev/full", "pipe.html", "/dev/stdout"):
        assert run(["policy", "init", path, "--force"]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert os.path.samefile("/dev/null", "null.html")


def test_a_full_disk_is_one_sentence(folder, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert run(["policy", "init", "x.toml"]) == 2
    assert "'x.toml' cannot be written: No space left on device." in capsys.readouterr().err
    assert not Path("x.toml").exists()
