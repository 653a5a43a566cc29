"""evenhand counterfactual: a graph, a model or a function, and exit codes by verdict."""

from __future__ import annotations

import json
import sys
from xml.etree import ElementTree

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


# --- every door: Python, exit code, JSON and JUnit say the same


@pytest.fixture
def deciders(folder):
    """Models that decide by the group alone, so that everyone's decision flips; and models that fail."""
    (folder / "deciders.py").write_text(
        "import sys\nimport numpy as np\n\n"
        "def inside(rows):\n    return np.asarray(rows['group']) == 'b'\n\n"
        "def numbers(rows):\n    return inside(rows).astype(int)\n\n"
        "def words(rows):\n    return np.where(inside(rows), 'yes', 'no')\n\n"
        "def late(rows):\n    yes = inside(rows) & (rows['exam'] > 3)\n"
        "    return np.where(yes, 'yes', np.where(inside(rows), 'no', 'wait'))\n\n"
        "def scores(rows):\n    return np.where(inside(rows), 0.9, 0.1)\n\n"
        "def missing(rows):\n    return np.where(inside(rows), np.nan, 0.1)\n\n"
        "def infinite(rows):\n    return np.where(inside(rows), np.inf, 0.1)\n\n"
        "def leave(rows):\n    sys.exit(0)\n\n"
        "def leave_later(rows):\n    return numbers(rows) if len(set(rows['group'])) > 1 else sys.exit(0)\n\n"
        "def broken_pipe(rows):\n    raise BrokenPipeError(32, 'Broken pipe')\n\n"
        "def generator_exit(rows):\n    raise GeneratorExit\n",
        encoding="utf-8",
    )
    (folder / "leaves.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    yield folder
    for name in ("deciders", "leaves"):
        sys.modules.pop(name, None)


WAYS = {"flip": ("--flip",), "graph": ("--graph", "g.dot")}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def outputs(folder, capsys, *arguments):
    """The exit code, the verdict in JSON, the failures in JUnit, and what was printed on standard error."""
    code = call(*arguments, "--json", "-o", "a.xml", "-o", "a.html")
    printed = capsys.readouterr()
    if not printed.out:
        assert not (folder / "a.xml").exists()
        assert not (folder / "a.html").exists()
        return code, None, None, printed.err
    suite = ElementTree.parse(folder / "a.xml").getroot()
    return code, json.loads(printed.out)["verdict"], len(suite.findall(".//failure")), printed.err


@every_way
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("numbers", ()),
        *(("numbers", ("--positive", value)) for value in ("1", "1.0", "True", " 1")),
        *(("words", ("--positive", value)) for value in ("yes", " yes")),
        ("scores", ("--cutoff", "0.5")),
    ],
)
def test_every_door_fails_a_model_that_decides_by_group(deciders, capsys, way, function, arguments):
    code, verdict, failures, _ = outputs(
        deciders, capsys, *way, "--prediction-function", f"deciders:{function}", *arguments
    )
    assert (code, verdict, failures) == (1, "fail", 1)


@every_way
@pytest.mark.parametrize(
    ("function", "arguments", "told"),
    [
        ("words", ("--positive", "Yes"), "never gives the positive value 'Yes'; it gives 'no', 'yes'"),
        ("numbers", ("--positive", "2"), "never gives the positive value '2'; it gives '0', '1'"),
        ("numbers", ("--positive", "1", "--cutoff", "0.5"), "--cutoff and --positive both say"),
        ("scores", ("--positive", "1"), "--positive names a class, and predict gives scores"),
        ("words", ("--cutoff", "0.5"), "--cutoff needs a predict that gives numbers"),
        *(("scores", ("--cutoff", value), "is not a finite number") for value in ("nan", "inf", "-inf", "1e400")),
        ("scores", ("--cutoff", "50"), "every answer of predict is below the cutoff 50"),
        ("missing", (), "gave no number or class in 70 of 200 rows"),
        ("infinite", (), "gave no number or class in 70 of 200 rows"),
        ("infinite", ("--cutoff", "0.5"), "gave no number or class in 70 of 200 rows"),
        ("leave", (), "predict failed in call 1, on 200 rows: SystemExit: 0"),
        ("leave_later", (), "SystemExit: 0"),
        ("broken_pipe", (), "predict failed in call 1, on 200 rows: BrokenPipeError"),
        ("generator_exit", (), "predict failed in call 1, on 200 rows: GeneratorExit"),
    ],
)
def test_no_door_opens_for_a_call_that_decides_nothing(deciders, capsys, way, function, arguments, told):
    found = outputs(deciders, capsys, *way, "--prediction-function", f"deciders:{function}", *arguments)
    stopped = any(name in told for name in ("SystemExit", "BrokenPipe", "GeneratorExit"))
    assert found[:3] == (70 if stopped else 2, None, None)
    assert told in " ".join(found[3].split())


def test_a_class_that_only_people_who_are_moved_get_is_counted(deciders, capsys):
    """Nobody of b has such an exam, so that yes is an answer only about people of a who are moved."""
    found = outputs(deciders, capsys, "--flip", "--prediction-function", "deciders:late", "--positive", "yes")
    assert found[:2] == (3, "inconclusive")


def test_a_module_that_leaves_the_program_when_it_is_imported_has_not_passed(deciders, capsys):
    assert call("--flip", "--prediction-function", "leaves:f") == 70
    assert "'leaves' cannot be imported: SystemExit: 0" in capsys.readouterr().err


def test_a_pickle_that_leaves_the_program_has_not_passed(deciders, capsys):
    (deciders / "leaves.joblib").write_bytes(b"csys\nexit\n(I0\ntR.")
    assert call("--flip", "--model", "leaves.joblib", "--trust") == 70
    assert "cannot be loaded: SystemExit: 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--jobs", "0"), "'--jobs': 0 is not a whole number"),
        (("--jobs", "1000"), "'--jobs': 1000 is not a whole number"),
        (("--random-state", "-1"), "'--random-state': -1 is not a whole number"),
        (("--random-state", "9" * 400), "is not a whole number"),
        (("--refits", "10000000000"), "is not a whole number from 0 to 100,000"),
        (("--noise-draws", "10000000000"), "is not a whole number from 1 to 1,000,000"),
        (("--noise-draws", "0"), "0 is not a whole number from 1"),
        (("--policy", "fourfifths"), "did you mean 'four-fifths'"),
    ],
)
def test_numbers_that_cannot_be_meant_exit_with_2(deciders, capsys, arguments, told):
    roles = ("people.csv", "--sensitive", "group", "--graph", "g.dot", "--prediction-function", "deciders:numbers")
    assert run(["counterfactual", *roles, *arguments]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
