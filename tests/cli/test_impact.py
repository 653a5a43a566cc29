"""evenhand impact: the tables as text, JSON and Markdown, and an exit code for four fifths."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.audits.adverse_impact import impact_lines
from evenhand.cli import run
from support.hostile import NAMES

CALL = ["--prediction", "hired", "--positive", "yes", "--sensitive", "race", "--count", "people"]
COUNTS = {"White": (480, 1000), "Black": (300, 900), "": (3, 8)}


def write(path, counts, dept="A"):
    decided = [(race, hired, n) for race, (k, of) in counts.items() for hired, n in (("yes", k), ("no", of - k))]
    lines = [f'"{race}",{hired},{dept},{n}' for race, hired, n in decided]
    path.write_text("\n".join(["race,hired,dept,people", *lines]) + "\n")
    return str(path)


def join(first, second):
    """Two files with the same header as one text."""
    return Path(first).read_text() + Path(second).read_text().partition("\n")[2]


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "applicants.csv", COUNTS)


def test_it_says_what_the_function_says(file, capsys):
    code = run(["impact", file, *CALL])
    out = capsys.readouterr().out
    roles = {"prediction": "hired", "positive": "yes", "sensitive": "race", "count": "people"}
    found = eh.adverse_impact(file, **roles)
    assert (code, found.verdict) == (1, "fail")
    assert found.interpretation in out
    line = next(each for each in impact_lines(found) if each.name == "Black")
    (row,) = [text for text in out.splitlines() if text.startswith(" Black") and "900" in text]
    assert row.split()[1:5] == ["900", "300", "33.3%", "0.69"]
    assert f"{line.shortfall:.1f}" in row
    for part in ("Impact ratios, against White", "White (reference)", "(unknown)", "Tests and effect sizes", "mid-p"):
        assert part in out
    assert "How few decisions turn the result, at 0.8, against White" in out


@pytest.mark.parametrize("suffix", ["", ".md"])
def test_ratios_where_nobody_is_selected_are_undefined_and_not_blank(tmp_path, capsys, suffix):
    path = write(tmp_path / "nobody.csv", {"White": (0, 100), "Black": (0, 90), "": (0, 8)})
    more = ["-q", "-o", str(tmp_path / f"out{suffix}")] if suffix else []
    assert run(["impact", path, *CALL, *more]) == 3
    out = (tmp_path / f"out{suffix}").read_text() if suffix else capsys.readouterr().out
    assert "impact ratio" in " ".join(out.split())
    for name, shown in (("White", True), ("Black", True), ("(unknown)", False)):
        table = out.partition("Impact ratios, against")[2].splitlines()[1:]
        first = next(line for line in table if line.lstrip("| `").startswith(name))
        assert ("undefined" in first) == shown, first


@pytest.mark.parametrize("more", [[], ["--control", "dept"], ["--reference", "rest"], ["--sensitive", "dept"]])
def test_it_fits_80_columns(tmp_path, capsys, monkeypatch, more):
    path = tmp_path / "applicants.csv"
    first, second = (write(tmp_path / f"{name}.csv", COUNTS, name) for name in ("Sales", "Engineering"))
    path.write_text(join(first, second))
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["impact", str(path), *CALL, *more]) in (1, 3)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_exit_codes_follow_the_verdict(file, tmp_path, capsys):
    assert run(["impact", file, *CALL, "-q"]) == 1
    assert run(["impact", file, *CALL, "-q", "--threshold", "0.5"]) == 0
    assert run(["impact", file, *CALL, "-q", "--policy", "nyc-ll144"]) == 0
    few = write(tmp_path / "few.csv", {"White": (5, 10), "Black": (3, 10)})
    assert run(["impact", few, *CALL, "-q"]) == 3
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--reference", "lowest"], "not a reference of adverse impact"),
        (["--reference", "Whit"], "did you mean 'White'"),
        (["--threshold", "1.2"], "on a ratio is at most 1"),
    ],
)
def test_errors_say_what_to_do(file, capsys, more, message):
    assert run(["impact", file, *CALL, *more]) == 2
    assert message in capsys.readouterr().err


def test_nobody_selected_is_said(tmp_path, capsys):
    path = write(tmp_path / "none.csv", {"White": (0, 100), "Black": (0, 90)})
    assert run(["impact", path, *CALL]) == 3
    out = capsys.readouterr().out
    assert "undefined" in out
    assert "Black" in out


def test_json_and_markdown_hold_the_tables(file, tmp_path, capsys):
    assert run(["impact", file, *CALL, "--json", "-o", str(tmp_path / "impact.md")]) == 1
    data = json.loads(capsys.readouterr().out)
    panels = {panel["title"]: panel for panel in data["findings"][0]["panels"]}
    assert list(panels) == ["Impact ratios", "Tests and effect sizes", "How few decisions turn the result, at 0.8"]
    first = panels["Impact ratios"]
    assert dict(zip(first["columns"], first["rows"][0], strict=True))["selected"] == 300
    text = (tmp_path / "impact.md").read_text()
    assert "### Impact ratios, against White" in text
    assert "| `Black` | 900 | 300 | 33.3% | 0.69 [" in text


def test_strata_are_held_fixed(tmp_path, capsys):
    path = tmp_path / "applicants.csv"
    first, second = (write(tmp_path / f"{name}.csv", COUNTS, name) for name in "AB")
    path.write_text(join(first, second))
    assert run(["impact", str(path), *CALL, "--control", "dept"]) == 1
    out = capsys.readouterr().out
    assert "Within strata (Mantel-Haenszel), against White" in out
    assert "Impact ratios, dept = B, against White" in out


def test_hostile_names_stay_names(tmp_path, capsys):
    path = tmp_path / "names.csv"
    with path.open("w", newline="", encoding="utf-8") as page:
        writer = csv.writer(page)
        writer.writerow(["race", "hired", "people"])
        for i, name in enumerate(NAMES):
            writer.writerow([name, "yes", 50 + i])
            writer.writerow([name, "no", 40])
    assert run(["impact", str(path), *CALL, "-o", str(tmp_path / "impact.md")]) in (0, 1, 3)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    text = (tmp_path / "impact.md").read_text()
    assert all("<script" not in part for part in text.split("`")[::2])  # names are code, and code is not read
