"""evenhand contest: from files and databases, exit codes as those of diff, files that are not lost."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pytest

from evenhand.cli import run
from support.backends import csv_text

ROLES = ("--label", "y", "--sensitive", "g")


def columns(*, worse: bool = False, size: int = 3000) -> dict[str, list]:
    random = np.random.default_rng(5)
    group = random.choice(["north", "south"], size)
    label = random.random(size) < 0.5
    old = np.where(random.random(size) < 0.8, label, ~label)
    new = np.where((group == "south") & (random.random(size) < 0.4), False, old) if worse else old
    score = (0.4 * old + 0.6 * random.random(size)).round(3)
    table = {"g": group, "y": label, "old": old, "new": new}
    return {name: (values if name == "g" else values.astype(int)).tolist() for name, values in table.items()} | {
        "p": score.tolist(),
        "q": np.clip(score + 0.05, 0, 1).round(3).tolist(),
    }


@pytest.fixture
def file(tmp_path):
    def made(**changes):
        path = tmp_path / "people.csv"
        path.write_text(csv_text(columns(**changes)), encoding="utf-8")
        return str(path)

    return made


@pytest.mark.parametrize(("worse", "code", "verdict"), [(False, 0, "pass"), (True, 1, "fail")])
def test_exit_codes(file, capsys, worse, code, verdict):
    assert run(["contest", file(worse=worse), *ROLES, "--prediction", "old", "--prediction", "new"]) == code
    assert capsys.readouterr().out.startswith(f"Change: {verdict}")


def test_json_and_files(file, tmp_path, capsys):
    call = ["contest", file(worse=True), *ROLES, "--prediction", "old", "--prediction", "new"]
    outputs = [str(tmp_path / f"out{suffix}") for suffix in (".html", ".json", ".md")]
    assert run([*call, "--json", *(part for path in outputs for part in ("-o", path))]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert run([*call, "-q", "-o", outputs[1]]) == 1  # its own file is replaced
    assert capsys.readouterr().out == ""
    (tmp_path / "out.md").write_text("mine", encoding="utf-8")
    assert run([*call, "-q", "-o", outputs[2]]) == 2
    assert "file of another kind" in capsys.readouterr().err


def test_scores_with_one_cutoff_or_several(file, capsys):
    call = ["contest", file(), *ROLES, "--score", "p", "--score", "q"]
    assert run([*call, "--cutoff", "0.5", "-q"]) == 0
    assert run([*call, "--cutoff", "0.5", "--cutoff", "0.6", "-q"]) in (0, 1, 3)
    assert run(call) == 2
    assert "give --cutoff" in capsys.readouterr().err


def test_one_model_is_too_few(file, capsys):
    assert run(["contest", file(), *ROLES, "--prediction", "old"]) == 2
    assert "--prediction is given for 1 of the two or more models" in capsys.readouterr().err


def test_a_table_of_a_database(tmp_path, file, capsys):
    database = tmp_path / "people.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE people AS FROM read_csv(?)", [file(worse=True)])
    table = ["--database", f"duckdb:///{database}", "--table", "people"]
    assert run(["contest", *table, *ROLES, "--prediction", "old", "--prediction", "new"]) == 1
    assert "on the same 3,000 people" in capsys.readouterr().out
