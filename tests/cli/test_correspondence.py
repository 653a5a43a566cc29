"""evenhand correspondence: files in, exit codes, tables and pages out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.report.results import findings_data
from support.hostile import NAMES

ROLES = ["--unit", "prompt", "--sensitive", "name", "--prediction", "answer", "--positive", "yes"]


@pytest.fixture
def file(tmp_path):
    random = np.random.default_rng(0)
    prompt, name, again = (part.ravel() for part in np.indices((400, 3, 2)))
    latent = random.normal(size=400)[prompt] + 0.2 * random.normal(size=prompt.size) + 0.3 * (name == 0)
    frame = pd.DataFrame(
        {
            "prompt": [f"case {i}" for i in prompt],
            "name": np.array(["Ann", "Bo", "Cy"])[name],
            "run": again,
            "answer": np.where(latent > 0, "yes", "no"),
            "rating": latent.round(4),
        }
    )
    path = tmp_path / "answers.csv"
    frame.to_csv(path, index=False)
    return path


def test_it_says_what_the_function_says(file, capsys):
    code = run(["correspondence", str(file), *ROLES, "--run", "run", "--worst", "3"])
    out = capsys.readouterr().out
    found = eh.correspondence(
        pd.read_csv(file), unit="prompt", sensitive="name", prediction="answer", positive="yes", run="run", worst=3
    )
    assert (code, found.verdict) == (1, "fail")
    assert found.interpretation in out
    assert "Gaps between groups within the same units" in out
    assert "The units that flip most" in out
    assert all(row[0] in out for row in found.panels[1].rows)


def test_exit_codes_follow_the_verdict(file, capsys):
    call = ["correspondence", str(file), *ROLES, "--run", "run", "-q"]
    assert run([*call, "--threshold", "0.5"]) == 0
    assert run([*call, "--threshold", "0.12"]) == 3
    assert run(call) == 1
    assert run(["correspondence", str(file), *ROLES, "-q"]) == 2
    assert "tell repeated answers apart with --run" in capsys.readouterr().err


def test_a_score_as_json_with_every_number(file, capsys):
    call = ["correspondence", str(file), *ROLES[:4], "--score", "rating", "--run", "run", "--json"]
    assert run(call) == 1
    saved = json.loads(capsys.readouterr().out)
    found = eh.correspondence(pd.read_csv(file), unit="prompt", sensitive="name", score="rating", run="run")
    [finding] = saved["findings"]
    assert finding["metric"] == "correspondence"
    assert finding["value"]["value"] == pytest.approx(found.value.value)
    assert len(finding["rows"]) == len(found.rows)
    assert "noise_share" not in {row["measure"] for row in finding["rows"]}


def test_every_report_holds_the_finding_and_comes_back(file, tmp_path, capsys):
    outputs = [tmp_path / f"audit.{suffix}" for suffix in ("html", "json", "md", "xml")]
    call = ["correspondence", str(file), *ROLES, "--run", "run", "-q"]
    assert run([*call, *(part for path in outputs for part in ("-o", str(path)))]) == 1
    for path in outputs:
        assert "Of the same units (n = 400), 59" in path.read_text("utf-8").replace("\u00a0", " ")
    loaded = eh.Audit.load(outputs[1])
    [finding], panels = findings_data(loaded, curves=False)
    assert [panels[i]["title"] for i in finding["panels"]] == [panel.title for panel in loaded.findings[0].panels]
    assert len(panels) == 2
    assert loaded.verdict == "fail"
    assert loaded.cube.size == 1200  # a row for each unit and group, not for each run


def test_the_call_that_lacks_something(file, capsys):
    assert run(["correspondence", str(file), *ROLES[2:]]) == 2
    assert "Missing option '--unit'" in capsys.readouterr().err
    assert run(["correspondence", str(file), *ROLES[:4]]) == 2
    assert "give --prediction (what was decided) or --score (a number)" in capsys.readouterr().err
    assert run(["correspondence", str(file), *ROLES[:4], "--score", "ratings"]) == 2
    assert "did you mean 'rating'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", [name for name in NAMES.values() if "\r" not in name], ids=lambda name: repr(name)[:12]
)
def test_hostile_names_are_printed_as_names(name, tmp_path, capsys):
    units = [f"{name} {unit}" for unit in range(40) for _ in "ab"]
    frame = pd.DataFrame({"u": units, "g": [name, "b"] * 40, "d": [1, 0] * 40})
    path = tmp_path / "answers.parquet"
    frame.to_parquet(path)
    assert run(["correspondence", str(path), "--unit", "u", "--sensitive", "g", "--prediction", "d"]) == 1
    out, err = capsys.readouterr()
    assert not set("\x1b\x07\x9b\u202e") & set(out + err)
