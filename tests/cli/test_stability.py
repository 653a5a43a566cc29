"""evenhand stability and evenhand replicate: files in, a verdict as exit code out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.core import progress


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A column for each of 12 replicas, which move the people of one group much farther."""
    random = np.random.default_rng(0)
    group = np.repeat(["north", "south"], 150)
    logits = random.normal(0, 1, 300) + np.where(group == "south", 2.0, 0.2) * random.normal(size=(12, 300))
    replicas = 1 / (1 + np.exp(-logits))
    frame = pd.DataFrame({f"p_{i}": row for i, row in enumerate(replicas)})
    frame = frame.assign(repaid=np.where(random.random(300) < 0.5, "yes", "no"), region=group)
    path = tmp_path_factory.mktemp("replicas") / "replicas.csv"
    frame.to_csv(path, index=False)
    return path


def called(people, *more):
    return run(["stability", str(people), "--replicas-columns", "p_*", "--sensitive", "region", *more])


def test_the_verdict_is_the_exit_code(people, capsys):
    assert called(people) == 1
    told = capsys.readouterr().out
    assert "Verdict: fail (failed: label_stability_difference on region)" in told
    assert "The label stability is" in told
    assert "Setting aside the least stable 10.0 %" in told
    assert called(people, "-q", "--threshold", "label_stability_difference=0.9") == 0
    assert called(people, "-q", "--require", "std_difference") == 0  # which has no threshold of its own
    assert called(people, "-q", "--require", "std_ratio", "--metric", "std_ratio") == 1
    assert capsys.readouterr().out == ""


def test_it_says_what_the_library_says(people, capsys, tmp_path):
    out = tmp_path / "audit.json"
    code = called(people, "--label", "repaid", "--positive", "yes", "--reference", "rest", "-q", "-o", str(out))
    found = eh.stability("p_*", data=people, label="repaid", positive=["yes"], sensitive="region", reference="rest")
    assert code == 1
    saved = json.loads(out.read_text())
    assert [each["metric"] for each in saved["findings"]] == [each.metric for each in found.findings]
    assert saved["findings"][0]["interpretation"] == found.findings[0].interpretation
    called(people, "--json", "--metric", "jitter_difference", "--require", "jitter_difference")
    assert json.loads(capsys.readouterr().out)["findings"][0]["settings"]["replicas"] == 12


def test_options_of_reading_are_passed_on(people, capsys):
    assert called(people, "--higher-is", "negative", "--convention", "virny", "--reference", "north", "-q") == 1
    assert called(people, "--cutoff", "0.9", "--confidence", "0.9", "--min-group-size", "5", "-q") in (0, 1, 3)
    assert called(people, "--label", "repaid") == 2
    assert "positive" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--replicas-columns", "q_*"], "no column is called 'q_*' or matches it"),
        (["--replicas-columns", "region"], "holds 'north', which is not a number"),
        (["--replicas-columns", "p_*", "--metric", "jiter_difference"], "did you mean 'jitter_difference'"),
        (["--replicas-columns", "p_*", "-o", "audit.txt"], "an audit is saved as"),
    ],
)
def test_mistakes_leave_with_two(people, capsys, arguments, message):
    assert run(["stability", str(people), "--sensitive", "region", *arguments]) == 2
    assert message in capsys.readouterr().err


# --- replicate


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    random = np.random.default_rng(1)
    income, job = random.normal(30, 8, 400), random.choice(["clerk", "cook", "nurse"], 400)
    repaid = np.where(random.random(400) < 1 / (1 + np.exp(-(income - 30) / 8)), "yes", "no")
    frame = pd.DataFrame({"income": income, "job": job, "repaid": repaid, "sex": random.choice(["f", "m"], 400)})
    frame.loc[::50, "income"] = np.nan
    path = tmp_path_factory.mktemp("loans") / "loans.csv"
    frame.to_csv(path, index=False)
    return path


def fitted(loans, *more):
    chosen = {"--label": "repaid", "--positive": "yes", "--sensitive": "sex", "--n-replicas": "8", "--n-jobs": "1"}
    usual = [part for name, value in chosen.items() if name not in more for part in (name, value)]
    return run(["replicate", str(loans), *usual, *more])


def test_replicas_are_fitted_judged_and_saved(loans, capsys, tmp_path):
    saved = tmp_path / "replicas.parquet"
    code = fitted(loans, "--save-replicas", str(saved), "--json")
    first = json.loads(capsys.readouterr().out)
    assert code in (0, 1, 3)
    frame = pd.read_parquet(saved)
    assert list(frame) == ["repaid", "sex", *(f"p_{i}" for i in range(8))]
    assert len(frame) == 120
    again = ["stability", str(saved), "--replicas-columns", "p_*", "--label", "repaid", "--positive", "yes"]
    assert run([*again, "--sensitive", "sex", "--json"]) == code
    second = json.loads(capsys.readouterr().out)
    assert [each["interpretation"] for each in first["findings"]] == [
        each["interpretation"] for each in second["findings"]
    ]


def test_the_estimator_is_chosen_with_its_parameters(loans, capsys):
    tree = ["--estimator", "sklearn.tree:DecisionTreeClassifier", "--parameter", "max_depth=2", "--feature", "income"]
    assert fitted(loans, *tree, "-q") in (0, 1, 3)
    assert fitted(loans, "--estimator", "sklearn.linear_model:RidgeClassifier") in (0, 1, 3)
    assert "std_difference" not in capsys.readouterr().out  # labels only


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--estimator", "sklearn.tree"], "write it as MODULE:CLASS"),
        (["--estimator", "sklearn.tree:Oak"], "'sklearn.tree' has no class 'Oak'"),
        (["--estimator", "no_such_library:Model"], "Is it installed?"),
        (["--parameter", "colour=red"], "cannot be made"),
        (["--label", "paid"], "'paid' is not a column"),
        (["--positive", "maybe"], "'maybe'"),
        (["--test-share", "1.5"], "must be a share"),
        (["--feature", "repaid"], "the features name 'repaid', which is the label itself: leave it out"),
        (["--feature", "income", "--feature", "repaid"], "the features name 'repaid', which is the label itself"),
        (["--random-state", "-1"], "'--random-state': -1 is not a whole number from 0"),
        (["--n-jobs", "0"], "'--n-jobs': 0 is not a whole number"),
        (["--n-jobs", "1000"], "'--n-jobs': 1000 is not a whole number"),
        (["--n-replicas", "10000000000"], "is not a whole number from 2 to 100,000"),
        (["--n-replicas", "9" * 400], "is not a whole number from 2 to 100,000"),
        (["--estimator", "evenhand.errors:EvenhandError"], "is not an estimator"),
        (["--estimator", "sys:exit"], "cannot be made: SystemExit"),
        (["--save-replicas", "x.txt"], "saved as .parquet or .csv"),
    ],
)
def test_mistakes_are_told(loans, capsys, arguments, message):
    assert fitted(loans, *arguments) == (70 if "SystemExit" in message else 2)
    assert message in capsys.readouterr().err


# --- how far the work is


class Terminal:
    def __init__(self):
        self.written = ""

    def isatty(self):
        return True

    def write(self, text):
        self.written += text

    def flush(self):
        pass


def test_a_bar_is_shown_on_a_terminal_when_it_takes_long(monkeypatch):
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    with progress.shown("fitting replicas", 10) as tell:
        tell(5)
    assert stderr.written == ""
    monkeypatch.setattr(progress, "SECONDS_BEFORE_A_BAR", -1.0)
    with progress.shown("fitting replicas", 10) as tell:
        tell(5)
    assert "fitting replicas" in stderr.written
