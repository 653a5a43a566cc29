"""evenhand representation: files in, shares against a benchmark out, and an exit code for a threshold."""

from __future__ import annotations

import json

import pytest

import evenhand as eh
from evenhand.cli import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{race},{sex},{n},{n % 2}" for race, n in (("White", 700), ("Black", 199), ("Asian", 101)) for sex in "fm"
    ]
    (tmp_path / "people.csv").write_text("\n".join(["race,sex,n,y", *lines]) + "\n")
    (tmp_path / "census.csv").write_text("value,share\nWhite,0.6\nBlack,0.3\nAsian,0.1\n")
    (tmp_path / "sexes.csv").write_text("value,share\nf,0.5\nm,0.5\n")
    return tmp_path


CALL = ["representation", "people.csv", "--count", "n", "--benchmark", "race=census.csv"]


def test_it_says_what_the_function_says(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*CALL, "--threshold", "0.8", "--sensitive", "race"]) == 1
    out = capsys.readouterr().out
    found = eh.representation("people.csv", count="n", benchmark={"race": "census.csv"}, threshold=0.8)
    assert found.verdict == "fail"
    assert found.interpretation in " ".join(out.split())
    (row,) = [line for line in out.splitlines() if line.startswith(" Black") and "398" in line]
    assert row.split()[1:5] == ["398", "19.9%", "30.0%", "0.66"]
    assert "chi-square" in out
    assert max(map(len, out.splitlines())) <= 80


def test_exit_codes_follow_the_verdict(folder, capsys):
    assert run([*CALL, "-q"]) == 0  # nothing is judged
    assert run([*CALL, "-q", "--threshold", "0.8"]) == 1
    assert run([*CALL, "-q", "--threshold", "0.5"]) == 0
    assert run([*CALL, "-q", "--threshold", "0.66"]) == 3
    assert run([*CALL, "-q", "--threshold", "0.05", "--judged-on", "difference"]) == 1
    assert capsys.readouterr().out == ""


def test_several_benchmarks_are_findings_of_one_audit(folder, capsys):
    call = [*CALL, "--benchmark", "sex=sexes.csv", "--threshold", "0.8", "--label", "y", "--json"]
    assert run(call) == 1
    data = json.loads(capsys.readouterr().out)
    assert [finding["attributes"] for finding in data["findings"]] == [["race"], ["sex"]]
    assert [finding["verdict"] for finding in data["findings"]] == ["fail", "pass"]
    assert "label KL" in data["findings"][0]["panels"][2]["columns"]


@pytest.mark.parametrize("suffix", [".html", ".json", ".md", ".xml"])
def test_every_form(folder, capsys, suffix):
    assert run([*CALL, "--threshold", "0.8", "-q", "-o", f"out{suffix}"]) == 1
    text = (folder / f"out{suffix}").read_text()
    assert "representation" in text
    if suffix == ".md":
        assert "### Shares against the benchmark" in text


def test_cubes(folder, capsys):
    cube = ["cube", "people.csv", "--count", "n", "--label", "y", "--sensitive", "race", "-o", "people.cube", "-q"]
    assert run(cube) == 0
    assert run(["representation", "people.cube", "--benchmark", "race=census.csv", "--threshold", "0.8", "-q"]) == 1
    assert run(["representation", "people.cube", "--benchmark", "race=census.csv", "--count", "n"]) == 2
    assert "counted already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--benchmark", "census.csv"], "write it as NAME=VALUE"),
        (["--benchmark", "race=none.csv"], "names 'race' twice"),
        (["--benchmark", "rase=census.csv"], "rase"),
        (["--benchmark", "sex=census.csv"], "has no share for 'f', 'm' of 'sex'"),
        (["-o", "census.csv", "--force"], "saved as .html"),
    ],
)
def test_errors_say_what_to_do(folder, capsys, more, message):
    assert run([*CALL, *more]) == 2
    assert message in capsys.readouterr().err


def test_a_benchmark_is_not_overwritten(folder, capsys):
    (folder / "census.json").write_text('{"value": "White", "share": 0.6}\n{"value": "Black", "share": 0.4}\n')
    assert run(["representation", "people.csv", "--benchmark", "race=census.json", "-o", "census.json", "--force"]) == 2
    assert "input of this command" in capsys.readouterr().err
