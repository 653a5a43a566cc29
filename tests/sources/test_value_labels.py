"""labels=: names for coded values, wherever groups are shown, and references by code or by name."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import evenhand as eh
from evenhand.errors import CallError

CODED = {"p": [1, 0, 1, 1, 0, 1], "y": [1, 0, 1, 0, 0, 1], "sex": [1, 2, 1, 2, 9, 1], "race": list("aabbab")}
LABELS = {"sex": {1: "male", 2: "female"}}


def test_every_source_calls_groups_by_name(tmp_path: Path):
    expected = eh.Cube.count(CODED, prediction="p", sensitive="sex", labels=LABELS)
    assert expected.groups == (("9",), ("female",), ("male",))
    frame = pd.DataFrame(CODED)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    floats, text = frame.astype({"sex": float}), frame.astype({"sex": str})
    sources = [frame, floats, text, pl.DataFrame(CODED).lazy(), tmp_path / "x.csv", tmp_path / "x.parquet"]
    for data in sources:
        assert eh.Cube.count(data, prediction="p", sensitive="sex", labels=LABELS) == expected
        by_text = {"sex": {"1": "male", "2": "female"}}
        assert eh.Cube.count(data, prediction="p", sensitive="sex", labels=by_text) == expected


def test_truth_values_and_many_codes():
    cube = eh.Cube.count(prediction=[1, 0], sensitive={"new": [True, False]}, labels={"new": {1: "new", 0: "old"}})
    assert cube.groups == (("new",), ("old",))
    many = {"p": [1, 0] * 30, "code": list(range(60))}
    cube = eh.Cube.count(many, prediction="p", sensitive="code", labels={"code": {i: f"n{i % 2}" for i in range(60)}})
    assert cube.groups == (("n0",), ("n1",)), "codes are names, which are never cut into bands, and may share a name"


def test_strata_have_names_too():
    cube = eh.Cube.count(CODED, prediction="p", sensitive="race", control="sex", labels=LABELS)
    assert ("male",) in cube.strata


@pytest.mark.parametrize("reference", [1, "1", "male", {"sex": 1}, {"sex": "male"}, [1]])
def test_a_reference_is_a_code_or_a_name(reference: object):
    finding = eh.demographic_parity(CODED, prediction="p", sensitive="sex", labels=LABELS, reference=reference)
    audit = eh.audit(
        CODED, prediction="p", sensitive="sex", labels=LABELS, reference=reference, metrics=["demographic_parity"]
    )
    assert {row.against for row in (*finding.rows, *audit.findings[0].rows) if row.against} == {"male"}


@pytest.mark.parametrize("reference", [1, "1", 1.0, "male", {"sex": 1}, {"sex": "male"}, [1]])
def test_a_cube_knows_a_reference_by_code_and_by_name(reference: object, tmp_path: Path):
    cube = eh.Cube.count(CODED, prediction="p", sensitive="sex", labels=LABELS)
    cube.save(tmp_path / "x.cube")
    loaded = eh.Cube.load(tmp_path / "x.cube")
    for each in (cube, loaded, cube + loaded, cube.marginal(["sex"])):
        found = each.audit(reference=reference, metrics=["demographic_parity"])
        assert found["demographic_parity"].settings["against"] == "male"
        assert eh.demographic_parity(each, reference=reference).settings["against"] == "male"
    found.save(tmp_path / "audit.json")
    assert eh.Audit.load(tmp_path / "audit.json").cube.audit(reference=reference).reference == {"sex": "male"}
    assert eh.trend([cube, loaded], reference=reference, metrics=["demographic_parity"]).series


def test_a_cube_lists_its_groups_where_a_reference_is_not_one():
    cube = eh.Cube.count(CODED, prediction="p", sensitive="sex", labels=LABELS)
    for asked in (3, {"sex": 3}):
        with pytest.raises(CallError, match=r"is not a group.*'9', 'female', 'male'"):
            cube.audit(reference=asked)
    other = eh.Cube.count(CODED, prediction="p", sensitive="sex", labels={"sex": {1: "man", 2: "female"}})
    assert (cube + other).audit(reference=2).reference == {"sex": "female"}
    with pytest.raises(CallError, match="'male', 'man'"):
        (cube + other).audit(reference=1)


def test_one_reference_is_that_of_every_attribute_which_has_it():
    """A value that is the code of one attribute and the name of a group of another is the reference of both."""
    data = {"prediction": [1, 0] * 40, "sensitive": {"s": [0, 0, 1, 1] * 20, "t": [0, 1] * 40}}
    audit = eh.audit(**data, labels={"s": {0: "no", 1: "yes"}}, reference=0, metrics=["demographic_parity"])
    assert {str(k): str(v) for k, v in audit.reference.items()} == {"s": "no", "t": "0"}
    assert audit["demographic_parity", "t"].settings["against"] == "0"


def test_the_names_are_in_every_output():
    audit = eh.audit(CODED, label="y", prediction="p", sensitive=["sex", "race"], labels=LABELS)
    assert "female" in str(audit)
    assert "female" in str(audit.to_dict())
    assert "female" in set(audit.groups()["sex"])


def test_a_measure_of_rows_and_a_contest_have_the_names():
    own = eh.metric("mine", measures=eh.measure("mine", lambda y, p: float(p.mean()), title="mine"))
    found = own(CODED, label="y", prediction="p", sensitive="sex", labels=LABELS)
    assert ("male",) in {row.group for row in found.rows}
    models = {"old": CODED["p"], "new": CODED["y"]}
    contest = eh.contest(CODED, label="y", predictions=models, sensitive="sex", labels=LABELS, reference=1)
    assert "female" in str(contest)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ({"sxe": {1: "m"}}, "names 'sxe', which is not a column; did you mean 'sex'"),
        ({"sex": {None: "m"}}, "a value that is not missing"),
        ({"sex": {1: 2}}, "1 is called 2"),
        ({"sex": {1: " "}}, "is given a name"),
        ({"sex": "m"}, "must name the column"),
        ("codes.toml", "must name the column"),
    ],
)
def test_what_is_not_a_book_of_codes_is_an_error(labels: object, says: str):
    with pytest.raises(CallError, match=says):
        eh.Cube.count(CODED, prediction="p", sensitive="sex", labels=labels)


def test_a_book_may_name_other_columns_and_bands_have_their_own_names():
    book = {**LABELS, "y": {1: "paid"}}
    assert eh.Cube.count(CODED, prediction="p", sensitive="sex", labels=book).groups[-1] == ("male",)
    with pytest.raises(CallError, match="in both bands= and labels="):
        eh.Cube.count(CODED, prediction="p", sensitive="sex", labels=LABELS, bands={"sex": [0, 5, 10]})
