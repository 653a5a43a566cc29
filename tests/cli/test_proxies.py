"""evenhand proxies: files in; a ranked table, JSON and pages out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.cli import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    sex = random.choice(["f", "m"], 500)
    frame = pd.DataFrame(
        {
            "sex": sex,
            "height": np.where(sex == "m", 178.0, 166.0) + random.normal(0, 7, 500),
            "income": random.lognormal(10, 0.5, 500),
        }
    )
    frame.to_csv("people.csv", index=False)
    (frame[["height", "income"]] * [0.01, 1e-6]).to_csv("shap.csv", index=False)
    return tmp_path


def test_it_says_what_the_function_says(folder, capsys):
    assert run(["proxies", "people.csv", "--sensitive", "sex"]) == 0
    out = capsys.readouterr().out
    found = eh.proxies("people.csv", sensitive="sex")
    assert found.interpretation in out
    assert "What columns say about sex" in out


def test_lines_fit_into_80_columns(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    call = ["proxies", "people.csv", "--sensitive", "sex", "--contributions", "shap.csv"]
    assert run(call) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_contributions_come_from_a_file(folder, capsys):
    call = ["proxies", "people.csv", "--sensitive", "sex", "--features", "height,income", "--json"]
    assert run([*call, "--contributions", "shap.csv", "--between", "m,f"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    parts = {row["measure"]: row["difference"]["value"] for row in finding["rows"] if row.get("difference")}
    assert parts["contribution: height"] + parts["contribution: income"] == pytest.approx(parts["score gap"], abs=1e-12)
    assert parts["score gap"] > 0


def test_a_page_and_other_files(folder):
    files = ["x.html", "x.json", "x.md", "x.xml"]
    call = ["proxies", "people.csv", "--sensitive", "sex", "-q"]
    assert run([*call, *(part for name in files for part in ("-o", name))]) == 0
    assert all((folder / name).stat().st_size for name in files)
    assert eh.Audit.load(folder / "x.json").findings[0] == eh.proxies("people.csv", sensitive="sex")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--sensitive", "sexx"], "sexx"),
        (["--sensitive", "sex", "--features", "hight"], "height"),
        (["--sensitive", "sex", "--features", "sex"], "'sex', which is the attribute itself"),
        (["--sensitive", "sex", "--between", "m,f"], "--between is for the gap that --contributions share out"),
        (["--sensitive", "sex", "--contributions", "people.csv"], "--contributions has a column 'sex'"),
        (["--sensitive", "sex", "--contributions", "none.csv"], "none.csv"),
        (["--sensitive", "sex", "--contributions", "shap.csv", "--between", "m,x"], "'x' is not a group"),
    ],
)
def test_errors_are_said_in_options(more, message, folder, capsys):
    assert run(["proxies", "people.csv", *more]) == 2
    assert message in capsys.readouterr().err
