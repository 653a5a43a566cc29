"""The scripts in examples/: each is short, and each is run, on a small table of its own and on the public file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT, require
from support.cases import SHARED

SCRIPTS = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".sh"))
MOST_LINES = 15


def _adult(rng: np.random.Generator) -> dict[str, Any]:
    hours = rng.integers(20, 60, 800)
    return {
        "age": rng.integers(20, 70, 800),
        "education_num": rng.integers(5, 16, 800),
        "hours_per_week": hours,
        "race": rng.choice(["Black", "White"], 800),
        "sex": rng.choice(["Female", "Male"], 800),
        "income_gt50k": (hours + rng.normal(0, 10, 800) > 40).astype(int),
    }


def _german(rng: np.random.Generator) -> dict[str, Any]:
    values = {"credit": [1, 2], "sex": ["male", "female"], "foreign_worker": ["A201", "A202"]}
    return {name: rng.choice(each, 400) for name, each in values.items()} | {"age": rng.integers(19, 75, 400)}


def _compas(rng: np.random.Generator) -> dict[str, Any]:
    decile = rng.integers(1, 11, 900)
    return {
        "race": rng.choice(["African-American", "Caucasian"], 900),
        "decile_score": decile,
        "two_year_recid": (rng.random(900) < decile / 12).astype(int),
        "days_b_screening_arrest": rng.integers(-60, 60, 900),
    }


def _law(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "race": rng.choice(["White", "Non-White"], 900),
        **{name: rng.integers(0, 2, 900) for name in ("male", "pass_bar", "pred_pass")},
    }


def _acs(rng: np.random.Generator) -> dict[str, Any]:
    numbers = {"PINCP": (0, 2), "pred_lightgbm": (0, 2), "SEX": (1, 3), "AGEP": (18, 80)}
    return {name: rng.integers(*ends, 900) for name, ends in numbers.items()}


# A table with the columns of the public file; that file, beside the checkout; and a name by which it is written.
TABLES = {
    "adult_own_model": (_adult, "adult_scored.csv"),
    "german_credit": (_german, "german_credit.csv"),
    "compas_raw_file": (_compas, "compas_two_years.csv"),
    "law_school": (_law, "law_school_scored.csv"),
    "parquet_command_line": (_acs, "acs_income_scored.parquet"),
}
# What each of them shows.
SAYS = {
    "adult_own_model": ("Verdict: ", "sex (2 groups)"),
    "german_credit": ("foreign worker", "[0, 25)"),
    "compas_raw_file": ("days_b_screening_arrest >= -30", "predictive_equality"),
    "law_school": ("men", "women"),
    "lending_with_weights": ("Verdict: ", "disparate_impact on race"),
    "admissions_by_department": (
        "Over everyone: The selection rate is 44.5 % for Male",
        "Within departments: In department = A",
    ),
    "score_with_cutoff": ("cutoff 5: a gap of 57.7 points",),
    "regressor": ("regression_separation on sex", "mean prediction"),
    "several_classes": ("Verdict: ", "class 'call'"),
    "missing_labels": ("inconclusive", "have no label"),
    "polars_lazy": ("shape: (6, 6)",),
    "parquet_command_line": ("Income above 50,000", "women", "AGEP >= 25"),
    "ci_gate": ("1 passed",),
    "two_models": ("new against old, on the same 5,000 people",),
    "twelve_months": ("Alarm: since 2025-08", "12 periods"),
}


def run(script: Path, folder: Path, *arguments: str) -> str:
    """What a script prints, in a folder of its own, with this package and this Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    known = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": path, "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"}
    start = ["sh"] if script.suffix == ".sh" else [sys.executable]
    if script.stem == "ci_gate":
        start += ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-n", "0"]
    done = subprocess.run(
        [*start, str(script), *arguments],
        cwd=folder,
        env=known,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_is_one_for_each_of_the_first_tasks():
    assert {path.stem for path in SCRIPTS} == set(SAYS)
    assert len(SCRIPTS) == 15


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_it_is_short(script: Path):
    assert len(script.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_it_runs(script: Path, tmp_path: Path):
    arguments = []
    if script.stem in TABLES:
        make, name = TABLES[script.stem]
        table = pd.DataFrame(make(np.random.default_rng(0)))
        arguments = [name]
        table.to_parquet(tmp_path / name) if name.endswith(".parquet") else table.to_csv(tmp_path / name, index=False)
    printed = run(script, tmp_path, *arguments)
    for words in SAYS[script.stem]:
        assert words in printed


@pytest.mark.parametrize("stem", TABLES)
def test_it_runs_on_the_public_file(stem: str, tmp_path: Path):
    file = SHARED / "data" / TABLES[stem][1]
    require("shared", file.is_file(), f"there is no {file.name} beside the checkout")
    printed = run(next(path for path in SCRIPTS if path.stem == stem), tmp_path, str(file))
    for words in SAYS[stem]:
        assert words in printed


def test_the_cookbook_lists_every_script():
    page = (ROOT / "docs" / "cookbook" / "index.md").read_text(encoding="utf-8")
    assert [path.name for path in SCRIPTS if f"`{path.name}`" not in page] == []
