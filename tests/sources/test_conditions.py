"""where=: one meaning of a condition in memory, in files and in engines, and nothing of it is run."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import evenhand as eh
from evenhand.errors import CallError, DataError
from evenhand.sources.conditions import parse
from support.backends import FILES, IN_MEMORY, LAZY

PEOPLE = {
    "p": [1, 0, 1, 1, 0, 0, 1, 0],
    "sex": ["m", "f", "m", "f", "m", "f", "m", "f"],
    "age": [10, 20, 30, 40, None, 60, 30, 7],
    "town": ["x", "y", "it's", "y", None, "2", "x", "true"],
}
HELD = {
    "age >= 30": 4,
    "age < 30.5": 5,
    "age = 30": 2,
    "age != 40": 6,
    "age in (10, 20, 99)": 2,
    "town = x": 2,
    "town = 'x'": 2,
    "town != x": 5,
    "town in (y, 'it''s')": 3,
    '"town" = x': 2,
}
SOURCES = {**IN_MEMORY, **FILES, **{name: maker for name, maker in LAZY.items() if name.startswith("polars")}}


@pytest.mark.parametrize("where", HELD)
def test_every_source_counts_the_same_rows(where: str, tmp_path: Path):
    expected = eh.Cube.count(PEOPLE, prediction="p", sensitive="sex", where=where)
    assert expected.size == HELD[where]
    for name in ("pandas", "polars", "arrow", "csv", "jsonl", "parquet", "feather", "polars-lazy"):
        folder = tmp_path / name
        folder.mkdir()
        data = SOURCES[name](PEOPLE, folder)
        assert eh.Cube.count(data, prediction="p", sensitive="sex", where=where) == expected, name


def test_dates_and_truth_values(tmp_path: Path):
    days = [date(2026, 1, 5), date(2026, 2, 5), date(2026, 3, 5), None]
    table = pl.DataFrame({"p": [1, 0, 1, 1], "s": list("abab"), "day": days, "new": [True, False, True, None]})
    table.write_csv(tmp_path / "x.csv")
    table.write_parquet(tmp_path / "x.parquet")
    sources = [table, table.lazy(), table.to_pandas(), tmp_path / "x.csv", tmp_path / "x.parquet"]
    for data in sources:
        sizes = [
            eh.Cube.count(data, prediction="p", sensitive="s", where=where).size
            for where in ("day >= 2026-02", "day < 2026-02-05", "new = true", "new != TRUE")
        ]
        assert sizes == [2, 1, 2, 1]


def test_all_of_several_hold_and_the_audit_says_so():
    audit = eh.audit(PEOPLE, prediction="p", sensitive="sex", where=["age >= 10", "age <= 30"])
    assert audit.cube.size == 4
    assert "Only rows are counted where age >= 10 and age <= 30." in audit.notes
    assert "age >= 10" in str(audit.to_dict()["notes"])


def test_na_is_missing_for_conditions_too(tmp_path: Path):
    frame = pd.DataFrame(PEOPLE).fillna({"town": "NA"})
    frame.to_csv(tmp_path / "x.csv", index=False)
    for data in (frame, tmp_path / "x.csv"):
        assert eh.Cube.count(data, prediction="p", sensitive="sex", where="town != x", na=["NA"]).size == 5


def test_a_column_may_have_any_name():
    table = {"p": [1, 0, 1], "s": list("aba"), "a = b": [1, 2, 3], 'x"y': [1, 1, 2]}
    assert eh.Cube.count(table, prediction="p", sensitive="s", where="a = b >= 2").size == 2
    assert eh.Cube.count(table, prediction="p", sensitive="s", where='"x""y" = 1').size == 2


def test_arrays_beside_a_table_lose_the_same_rows():
    cube = eh.Cube.count(
        {"age": PEOPLE["age"]}, prediction=PEOPLE["p"], sensitive={"sex": PEOPLE["sex"]}, where="age >= 30"
    )
    assert cube.size == 4


def test_a_measure_of_rows_sees_the_same_rows():
    rows = {**PEOPLE, "y": [1, 0, 0, 1, 1, 0, 1, 0]}
    seen = []
    own = eh.metric("seen", measures=eh.measure("seen", lambda y, p: seen.append(len(y)) or 0.5, title="seen"))
    own(rows, label="y", prediction="p", sensitive="sex", where="age >= 30")
    assert sum(seen[:2]) == 4


def test_chunks_without_such_rows_are_passed_over():
    frame = pd.DataFrame(PEOPLE)
    chunks = [frame[:2], frame[2:4], frame[4:]]
    assert eh.Cube.count(chunks, prediction="p", sensitive="sex", where="age >= 30").size == 4


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("tonw = x", "'tonw' is not a column; did you mean 'town'"),
        ("age", "is not a condition: write a column"),
        ("age >= old", ">= compares numbers and dates"),
        ("age = ", "has no value after ="),
        ("age = 1, 2", "has several values: write age in"),
        ("town = it's", "is not a value: quote text"),
        ("p = 1); DROP TABLE x; --", "is not a value"),
        ("town = 'x' OR 1 = 1", "is not a value"),
        (3, "must be a text such as"),
        ("", "is not a condition"),
    ],
)
def test_what_is_not_a_condition_is_an_error(where: object, says: str):
    with pytest.raises(CallError, match=says.replace("(", r"\(")):
        eh.Cube.count(PEOPLE, prediction="p", sensitive="sex", where=where)


def test_where_needs_a_table_and_rows():
    with pytest.raises(CallError, match="there is no table"):
        eh.Cube.count(prediction=[1, 0], sensitive=["a", "b"], where="x = 1")
    with pytest.raises(DataError, match="there is none where age > 1000"):
        eh.Cube.count(PEOPLE, prediction="p", sensitive="sex", where="age > 1000")
    with pytest.raises(CallError, match="leave out where="):
        eh.audit(eh.Cube.count(PEOPLE, prediction="p", sensitive="sex"), where="age > 3")


def test_a_quoted_value_is_text_and_stays_what_it_is():
    assert parse("town = '1'", ["town"]).values[0].number is None
    assert parse("town = '''; DROP'", ["town"]).values[0].text == "'; DROP"


ROLES_OF_P = {"prediction": "p", "sensitive": "g"}


@pytest.mark.parametrize("where", ["k != x and m = 1", "k = x or z", "m = > 1", "m => 1"])
def test_a_slip_is_not_taken_for_one_long_value(where):
    with pytest.raises(eh.CallError, match=r"give each condition by itself|is not a condition|is not a value"):
        eh.audit(
            {"g": ["a", "b"], "k": ["x", "z"], "m": [1, 2], "p": [1, 0]}, prediction="p", sensitive="g", where=where
        )
    quoted = {"g": ["a", "b"], "k": ["x and y", "z"], "p": [1, 0]}
    assert eh.Cube.count(quoted, prediction="p", sensitive="g", where="k = 'x and y'").size == 1


def test_conditions_are_on_codes_and_not_on_their_names():
    data, labels = {"g": [1, 2, 3] * 9, "p": [1, 0, 1] * 9}, {"g": {1: "one", 2: "two", 3: "three"}}
    with pytest.raises(eh.CallError, match=r"'three' is the name of '3' in labels=.* write 3 in its place"):
        eh.audit(data, prediction="p", sensitive="g", labels=labels, where="g != three")
    assert eh.Cube.count(data, prediction="p", sensitive="g", labels=labels, where="g != 3").size == 18


def test_a_contest_says_which_rows_it_counts():
    data = {"g": ["a", "b"] * 40, "k": [1, 1, 2, 2] * 20, "y": [1, 0, 0, 1] * 20, "p": [1, 0] * 40, "q": [0, 1] * 40}
    found = eh.contest(data, label="y", predictions=["p", "q"], sensitive="g", where="k = 1")
    assert "Only rows are counted where k = 1." in found.notes
