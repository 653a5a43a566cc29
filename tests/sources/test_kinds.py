"""The values of groups come back as the caller holds them: 1 is not "1", whatever the names of groups look like."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand import Cube
from evenhand.sources.kinds import kind_of, united, value_of
from evenhand.sources.spelling import spelling
from support.backends import BACKENDS
from support.profiles import each_of
from support.seals import seal_json

ROLES = {"label": "y", "prediction": "p", "sensitive": ["code", "sex"], "control": "year"}


def table() -> dict[str, list[Any]]:
    random = np.random.default_rng(1)
    return {
        "code": random.choice([1, 2, 30], 300).tolist(),
        "sex": random.choice(["f", "m"], 300).tolist(),
        "year": random.choice([24, 25], 300).tolist(),
        "y": random.integers(0, 2, 300).tolist(),
        "p": random.integers(0, 2, 300).tolist(),
    }


def as_lists(frame: Any) -> dict[str, list[Any]]:
    if hasattr(frame, "to_pylist"):
        return frame.to_pydict()
    return {name: list(frame[name]) for name in frame.columns}


@each_of("backend", list(BACKENDS), handful=14)
def test_values_keep_their_type_and_names_their_spelling(backend, tmp_path):
    found = eh.audit(BACKENDS[backend](table(), tmp_path), **ROLES)
    text = backend.startswith(("csv", "tsv"))
    columns = as_lists(found.groups())
    single = [place for place, names in enumerate(columns["attributes"]) if names == "code"]
    expected = {"1", "2", "30"} if text else {1, 2, 30}
    assert {columns["code"][place] for place in single} == expected
    assert {columns["group"][place] for place in single} == {"1", "2", "30"}
    assert {columns["year"][place] for place in single} == ({"24", "25"} if text else {24, 25})
    assert {columns["stratum"][place] for place in single} == {"24", "25"}
    both = [place for place, names in enumerate(columns["attributes"]) if names == "code × sex"]
    assert {(columns["code"][place], columns["sex"][place]) for place in both} == {
        (code, sex) for code in expected for sex in "fm"
    }
    named = {row.group[0] for finding in found.findings for row in finding.groups if row.group}
    assert named == {"1", "2", "30", "f", "m"}


def test_the_table_of_groups_joins_with_the_data():
    frame = pd.DataFrame(table())
    frame.loc[:9, "code"] = None  # which makes pandas hold the codes as fractions
    rates = eh.audit(frame, prediction="p", sensitive=["code", "sex"]).groups()
    rates = rates[(rates["attributes"] == "code") & (rates["measure"] == "selection_rate")]
    joined = frame.merge(rates[["code", "value"]], on="code")
    assert len(joined) == len(frame)
    means = joined.groupby("code", dropna=False)["p"].transform("mean")
    assert joined["value"].tolist() == pytest.approx(means.tolist())
    other = pl.DataFrame(table())
    lines = eh.audit(other, prediction="p", sensitive=["code", "sex"]).groups()
    lines = lines.filter((pl.col("attributes") == "code × sex") & (pl.col("measure") == "selection_rate"))
    assert other.join(lines, on=["code", "sex"]).height == 300


def test_whole_numbers_with_gaps_stay_whole():
    frame = pd.DataFrame(table()).astype({"code": "Int64"})
    frame.loc[:9, "code"] = pd.NA
    found = eh.audit(frame, prediction="p", sensitive=["code", "sex"]).groups()
    assert str(found["code"].dtype) == "Int64"


def test_an_attribute_may_have_the_name_of_a_column():
    columns = {"group": [1, 2] * 20, "value": ["a", "b", "b", "a"] * 10, "p": [0, 1, 1, 1] * 10}
    found = eh.audit(columns, prediction="p", sensitive=["group", "value"]).groups()
    assert set(found["group_value"].dropna()) == {1, 2}
    assert set(found["value_value"].dropna()) == {"a", "b"}
    assert set(found["group"]) >= {"1", "2", "a", "b"}


@pytest.mark.parametrize("reference", [1, "1", 1.0, {"code": 1}, {"code": "1"}])
def test_a_reference_is_found_as_value_and_as_name(reference):
    finding = eh.demographic_parity(table(), prediction="p", sensitive="code", reference=reference)
    assert finding.lowest == "1"


def test_cubes_of_a_csv_and_of_a_table_are_equal_and_add(tmp_path):
    roles = {"prediction": "p", "sensitive": ["code", "sex"]}
    typed = Cube.count(table(), **roles)
    text = Cube.count(BACKENDS["csv"](table(), tmp_path), **roles)
    assert typed.kinds == {"code": "integer", "sex": "text"}
    assert text.kinds == {"code": "text", "sex": "text"}
    assert typed == text
    assert (typed + text).kinds["code"] == "text"
    typed.save(tmp_path / "typed.cube")
    text.save(tmp_path / "text.cube")
    assert Cube.load(tmp_path / "typed.cube").kinds == typed.kinds
    merged = Cube.merge(str(tmp_path / "*.cube"))
    assert (merged.size, merged.kinds["code"]) == (600, "text")
    assert (typed + typed).kinds == typed.kinds


def test_a_saved_audit_keeps_the_kinds_and_an_old_one_has_none(tmp_path):
    found = eh.audit(table(), prediction="p", sensitive="code")
    found.save(tmp_path / "audit.json")
    assert eh.Audit.load(tmp_path / "audit.json").cube.kinds == {"code": "integer"}
    text = (tmp_path / "audit.json").read_text(encoding="utf-8")
    (tmp_path / "old.json").write_text(text.replace('"kinds"', '"more"'), encoding="utf-8")
    seal_json(tmp_path / "old.json")
    old = eh.Audit.load(tmp_path / "old.json")
    assert old.cube.kinds == {}
    assert set(old.groups()["code"]) == {"1", "2", "30"}


def test_bands_are_text():
    columns = {"age": list(range(60)), "p": [0, 1, 1] * 20}
    cube = Cube.count(columns, prediction="p", sensitive="age", bands={"age": [0, 30, 60]})
    assert cube.values(["age"], cube.groups[0]) == ("[0, 30)",)


VALUES = st.one_of(
    st.lists(st.integers(-(10**18), 10**18), min_size=1),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.text(), min_size=1),
    st.lists(st.dates(), min_size=1),
    st.lists(st.datetimes(), min_size=1),
)


@given(VALUES)
def test_a_spelling_becomes_the_value_again(values):
    kind = kind_of(values)
    again = [value_of(spelling(value), kind) for value in values]
    assert again == values
    assert [type(value) for value in again] == [type(value) for value in values]


def test_kinds_of_values():
    assert kind_of([date(2024, 1, 1)]) == "date"
    assert kind_of([datetime(2024, 1, 1)]) == "datetime"
    assert kind_of([Decimal("1.5")]) == "decimal"
    assert kind_of([]) == "text"
    assert united(["integer category", "integer"]) == "integer category"
    assert united(["integer", "float"]) == "float"
    assert united(["integer", "text"]) == "text"
    assert value_of("everyone else", "integer") == "everyone else"
