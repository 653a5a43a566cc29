"""evenhand counterfactual: a graph, a model or a function, and exit codes by verdict."""

from __future__ import annotations

import json
import sys

import joblib
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from evenhand.cli import run
from support.causal_cases import people

QUICK = ("--refits", "4")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data, a graph, a model and a module; it is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    rows = pd.DataFrame(people(200))[["group", "effort", "exam", "grade"]]
    rows.to_csv("people.csv", index=False)
    (tmp_path / "g.dot").write_text("digraph { group -> exam; effort -> exam }", encoding="utf-8")
    joblib.dump(LinearRegression().fit(rows[["effort"]], rows["grade"]), "by_effort.joblib")
    joblib.dump(LinearRegression().fit(rows[["exam"]], rows["grade"]), "by_exam.joblib")
    (tmp_path / "own_predictors.py").write_text(
        "def by_exam(rows):\n    return (rows['exam'] > 0).astype(int)\n\nnumber = 3\n", encoding="utf-8"
    )
    yield tmp_path
    sys.modules.pop("own_predictors", None)


def call(*arguments):
    return run(["counterfactual", "people.csv", "--sensitive", "group", *QUICK, *arguments])


def test_a_pickle_is_not_loaded_without_trust(folder, capsys):
    (folder / "evil.joblib").write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    assert call("--graph", "g.dot", "--model", "evil.joblib") == 2
    assert "Add --trust if you know who made it" in capsys.readouterr().err
    assert not (folder / "ran").exists()


def test_a_trusted_model_passes_or_fails_by_what_it_uses(folder, capsys):
    assert call("--graph", "g.dot", "--model", "by_effort.joblib", "--trust") == 0
    assert "No prediction would change" in capsys.readouterr().out
    assert call("--graph", "g.dot", "--model", "by_exam.joblib", "--trust", "--threshold", "0.01") == 1


def test_a_function_of_a_module_here(folder, capsys):
    assert call("--graph", "g.dot", "--prediction-function", "own_predictors:by_exam") == 1
    out = capsys.readouterr().out
    assert "of the decisions would be different had they been" in out
    assert "counterfactual_fairness" in out


def test_the_flip_test_takes_no_graph(folder, capsys):
    assert call("--flip", "--prediction-function", "own_predictors:by_exam") == 0
    assert "Only the column of the attribute was changed" in capsys.readouterr().out


def test_what_is_found_can_be_saved(folder, capsys):
    code = call(
        "--graph", "g.dot", "--prediction-function", "own_predictors:by_exam", "-q", "-o", "a.json", "-o", "a.md"
    )
    assert code == 1
    assert capsys.readouterr().out == ""
    saved = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    assert saved["findings"][0]["metric"] == "counterfactual_fairness"
    assert saved["verdict"] == "fail"
    assert call("--graph", "g.dot", "--model", "by_exam.joblib", "--trust", "--threshold", "9", "--json") == 0
    assert json.loads(capsys.readouterr().out)["data"]["task"] == "regression"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give one model"),
        (("--model", "x.joblib", "--prediction-function", "a:b"), "give one model"),
        (("--prediction-function", "own_predictors:by_exam"), "give --graph FILE, or --flip"),
        (("--graph", "g.dot", "--flip", "--prediction-function", "own_predictors:by_exam"), "give --graph FILE"),
        (("--graph", "g.dot", "--prediction-function", "own_predictors"), "write it as MODULE:FUNCTION"),
        (("--graph", "g.dot", "--prediction-function", "no_such:f"), "there is no module 'no_such'"),
        (("--graph", "g.dot", "--prediction-function", "own_predictors:number"), "has no function 'number'"),
        (("--graph", "g.dot", "--model", "none.joblib", "--trust"), "there is no such file"),
        (("--graph", "g.dot", "--model", "people.csv", "--trust"), "cannot be loaded"),
        (("--graph", "g.dot", "--model", "by_exam.joblib", "--trust", "--method", "predict_proba"), "has no predict_"),
        (("--graph", "none.dot", "--prediction-function", "own_predictors:by_exam"), "none.dot"),
        (("--graph", "people.csv", "--prediction-function", "own_predictors:by_exam"), "the graph has no edges"),
    ],
)
def test_a_call_that_is_wrong_exits_with_2(folder, capsys, arguments, told):
    assert call(*arguments) == 2
    assert told in capsys.readouterr().err


def test_help_tells_of_the_danger(capsys):
    assert run(["counterfactual", "--help"]) == 0
    assert "can run any code" in " ".join(capsys.readouterr().out.split())
