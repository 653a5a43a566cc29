"""evenhand individual: files in, exit codes and tables out; and the rows of files in memory."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.errors import CallError, DataError
from evenhand.sources.rows import load_files


@pytest.fixture
def file(tmp_path):
    random = np.random.default_rng(0)
    size = 400
    frame = pd.DataFrame(
        {
            "case": [f"no {i}" for i in range(size)],
            "group": random.choice(["a", "b"], size),
            "income": random.normal(30, 8, size).round(3),
            "job": random.choice(["office", "shop", "007"], size),
        }
    )
    noise = np.where(frame["group"] == "b", 2.0, 0.0) * random.normal(size=size)
    frame["score"] = (1 / (1 + np.exp(-(frame["income"] - 30) / 4 - noise))).round(6)
    frame["decision"] = np.where(frame["score"] > 0.5, "yes", "no")
    frame.loc[:9, "income"] = np.nan
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


ROLES = ["--prediction", "decision", "--positive", "yes", "--features", "income,job"]


def test_it_says_what_the_function_says(file, capsys):
    code = run(["individual", str(file), *ROLES, "--sensitive", "group", "--id", "case", "--worst", "2", "-v"])
    said = capsys.readouterr().out
    found = eh.consistency(
        pd.read_csv(file),
        prediction="decision",
        positive="yes",
        features=["income", "job"],
        sensitive="group",
        id="case",
    )
    assert code == {"pass": 0, "fail": 1, "inconclusive": 3}[found.verdict]
    assert found.interpretation in said
    assert "The nearest people who were decided differently" in said
    assert f" {eh.worst_pairs(found)['person'][0]} " in said
    assert "Missing features: income (10)" in said


def test_both_as_json(file, capsys):
    limits = ["--threshold", "lipschitz=0.01", "--lipschitz", "0.4", "--epsilon", "0.05"]
    code = run(["individual", str(file), *ROLES, "--score", "score", "--sensitive", "group", *limits, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == 1
    assert told["verdict"] == "fail"
    assert told["required"] == ["consistency", "lipschitz"]
    first, second = told["findings"]
    assert first["panels"][0]["kind"] == second["panels"][0]["kind"] == "pairs"
    assert (second["settings"]["L"], second["settings"]["epsilon"]) == (0.4, 0.05)


def test_without_groups_nothing_is_judged(file, capsys):
    assert run(["individual", str(file), *ROLES, "--include-self", "-q"]) == 0
    assert capsys.readouterr().out == ""
    assert run(["individual", str(file), "--score", "score", "--features", "income", "--worst", "0"]) == 0
    said = capsys.readouterr().out
    assert "Verdict: not judged" in said
    assert "The pairs whose" not in said


def test_columns_of_other_parts_are_no_features(file, tmp_path, capsys):
    path = tmp_path / "few.csv"
    pd.read_csv(file).drop(columns="case").to_csv(path, index=False)
    run(["individual", str(path), "--prediction", "decision", "--positive", "yes", "--score", "score", "--json"])
    first, second = json.loads(capsys.readouterr().out)["findings"]
    for finding in (first, second):
        assert "over income (in standard deviations) and group, job (a mismatch counts 1)" in " ".join(finding["notes"])


def test_weights_learning_and_saving(file, tmp_path):
    out = tmp_path / "found.html"
    options = ["--weight", "income=4", "--distance", "learned", "--label", "group", "-o", str(out), "-q"]
    assert run(["individual", str(file), *ROLES, *options]) == 0
    assert "consistency" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "there is nothing to measure: give --prediction, --score or both"),
        (["--prediction", "nope"], "'nope' is not a column"),
        (["--prediction", "decision"], "never holds the positive value"),
        ([*ROLES, "--threshold", "parity=0.1"], "--threshold 'parity' is not measured here"),
        ([*ROLES, "--weight", "income=much"], "--weight: 'much' is not a number"),
        ([*ROLES, "--weight", "wage=2"], "--weight names 'wage'"),
        ([*ROLES, "--k", "400"], "--k 400 needs more than 400 people"),
        ([*ROLES, "--features", "case"], None),
    ],
)
def test_what_is_wrong_is_said(file, capsys, options, message):
    code = run(["individual", str(file), *options])
    if message is None:
        assert code == 0
        return
    assert code == 2
    assert message in capsys.readouterr().err


# --- the rows of files


def test_rows_keep_their_order_and_their_kinds(tmp_path):
    frame = pd.DataFrame(
        {"n": [3, 1, None], "x": [0.5, None, 2.0], "t": ["b", None, "a"], "f": [True, False, True], "i": [3, 2, 1]}
    )
    frame.to_parquet(tmp_path / "a.parquet")
    found = load_files(tmp_path / "a.parquet")
    assert list(found) == list("nxtfi")
    np.testing.assert_array_equal(found["n"], [3, 1, np.nan])
    np.testing.assert_array_equal(found["x"], [0.5, np.nan, 2])
    assert list(found["t"]) == ["b", None, "a"]
    assert np.asarray(found["f"]).tolist() == [True, False, True]
    assert np.asarray(found["i"]).tolist() == [3, 2, 1]


def test_text_of_a_csv_stays_text(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2.0,\n007,y\n")
    assert load_files(tmp_path / "a.csv") == {"a": ["1", "2", "007"], "b": ["x", None, "y"]}
    assert list(load_files(tmp_path / "a.csv", ["b"])) == ["b"]


def test_json_lines_are_read(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1, "b": "x"}\n{"a": null, "b": "y"}\n')
    assert load_files(tmp_path / "a.jsonl") == {"a": [1, None], "b": ["x", "y"]}


def test_a_large_file_keeps_its_order(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("i\n" + "\n".join(map(str, range(300_000))))
    assert [int(value) for value in load_files(path)["i"]] == list(range(300_000))


def test_files_without_such_a_column_or_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,b\n1,2,3\n")
    with pytest.raises(CallError, match="'c' is not a column"):
        load_files(tmp_path / "a.csv", ["c"])
    with pytest.raises(DataError, match="two columns are called 'b'"):
        load_files(tmp_path / "a.csv", ["b"])
    (tmp_path / "b.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="has no rows"):
        load_files(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--features", "income,approved"), "the features name 'approved', which is the decision or score itself"),
        (("--features", "income,p", "--label", "p"), "the features name 'p', which is the label itself"),
    ],
)
def test_an_outcome_is_not_a_feature(tmp_path, capsys, arguments, told):
    rows = tmp_path / "rows.csv"
    lines = [f"{i},{i % 2},{(i * 7) % 3},{'ab'[i % 2]}" for i in range(60)]
    rows.write_text("\n".join(["income,approved,p,sex", *lines]), encoding="utf-8")
    assert run(["individual", str(rows), "--prediction", "approved", "--sensitive", "sex", *arguments]) == 2
    assert told in capsys.readouterr().err
