"""What is wrong is said once, with the remedy, and nothing is written: in the library and on the command line."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand import Cube, audit
from evenhand.cli.audit import command
from evenhand.errors import CallError, DataError, EvenhandError, on_command_line
from support.backends import BACKENDS, FILES
from support.refusals import arguments, refused

GOOD = {
    "race": ["Black", "White"] * 20,
    "sex": ["F", "F", "M", "M"] * 10,
    "y": [0, 1, 1, 0] * 10,
    "p": [1, 0, 1, 0] * 10,
    "s": [0.2, 0.7, 0.9, 0.4] * 10,
    "w": [1.0] * 40,
    "c": [1] * 40,
}
ROLES = {"label": "y", "prediction": "p", "sensitive": "race"}


def with_value(name: str, value: object) -> dict[str, list]:
    return {**GOOD, name: [value, *GOOD[name][1:]]}


# What the data may have wrong, whatever holds it: the table, roles beside the usual ones, and the message.
BAD_DATA = {
    "unknown label": (GOOD, {"label": "yy"}, r"label='yy' is not a column; did you mean 'y'\?"),
    "unknown group": (GOOD, {"sensitive": "Rasse"}, r"sensitive='Rasse' is not a column; did you mean 'race'"),
    "unknown capital": (GOOD, {"sensitive": "RACE"}, r"did you mean 'race'\?"),
    "nothing near": (GOOD, {"sensitive": "zzzzz"}, r"there are: '.*'\."),
    "one group": ({**GOOD, "race": ["Black"] * 40}, {}, r"'race' has one group only \('Black'\): there is nothing"),
    "no group": ({**GOOD, "race": [None] * 39 + ["x"]}, {"missing": "drop"}, r"'race' has one group only"),
    "third label": (
        with_value("y", 2),
        {},
        r"label column 'y' has 3 values \('0', '1', '2'\).*(positive=\[\.\.\.\]|--positive)",
    ),
    "other label": (
        {**GOOD, "y": ["no", "yes"] * 20},
        {},
        r"never holds the positive value '1'; it holds 'no', 'yes'\. Say which of its values counts as positive with "
        r"(positive=|--positive), or for this column alone with (positive=\{'label': \.\.\.\}|--positive-label)\.$",
    ),
    "score as prediction": ({**GOOD, "p": GOOD["s"]}, {}, r"looks like a score .*pass it as score= with cutoff="),
    "fraction as label": (with_value("y", 0.5), {}, r"label column 'y' holds fractions \('0.5'\)"),
    "missing prediction": (
        with_value("p", None),
        {},
        r"prediction column 'p' is missing in 1 row: .*leave those rows out",
    ),
    "missing score": (
        with_value("s", None),
        {"prediction": None, "score": "s", "cutoff": 0.5},
        r"score column 's' is missing in 1 row.*or give prediction=",
    ),
    "score of text": (
        with_value("s", "high"),
        {"score": "s", "cutoff": 0.5},
        r"score column 's' holds 'high', which is not a number",
    ),
    "negative weight": (
        with_value("w", -1.0),
        {"weight": "w"},
        r"weight column 'w' is negative, missing or infinite, or outside 1e-60 to 1e\+60, in 1 row",
    ),
    "missing weight": (
        with_value("w", None),
        {"weight": "w"},
        r"weight column 'w' is negative, missing or infinite, or outside 1e-60 to 1e\+60, in 1 row",
    ),
    "weight of text": (
        with_value("w", "much"),
        {"weight": "w"},
        r"weight column 'w' holds 'much', which is not a number",
    ),
    "huge weight": (with_value("w", 1e300), {"weight": "w"}, r"weight column 'w' is negative, missing or infinite"),
    "negative count": (
        with_value("c", -1),
        {"count": "c"},
        r"count column 'c' is negative, missing, infinite or not whole, or above 9,007,199,254,740,991, in 1 row",
    ),
    "missing count": (with_value("c", None), {"count": "c"}, r"count column 'c' is negative, missing"),
    "fractional count": (
        with_value("c", 1.5),
        {"count": "c"},
        r"count column 'c' is .*not whole, or above .* in 1 row",
    ),
    "huge count": (with_value("c", 1e300), {"count": "c"}, r"count column 'c' is .*infinite"),
    "no people": ({**GOOD, "c": [0] * 40}, {"count": "c"}, r"every count is 0"),
    "ids": (
        {**GOOD, **{name: GOOD[name] * 40 for name in GOOD}, "race": [f"id {i}" for i in range(1600)]},
        {},
        r"'race' has 1,600 different values: an id\?.*choose a coarser column",
    ),
    "two roles": (GOOD, {"sensitive": ["race", "y"]}, r"column 'y' plays two roles, label and sensitive"),
    "group and control": (GOOD, {"control": "race"}, r"column 'race' plays two roles, sensitive and control"),
    "cutoff alone": (GOOD, {"cutoff": 0.5}, r"cutoff= is given without score="),
    "nothing to measure": (GOOD, {"label": None, "prediction": None}, r"there is nothing to measure"),
    "bands elsewhere": (GOOD, {"bands": {"sex": [0, 1]}}, r"bands= names 'sex', which is not an attribute"),
    "falling bands": (GOOD, {"sensitive": "c", "bands": {"c": [2, 1]}}, r"at least two rising numbers"),
    "bands of text": (GOOD, {"bands": {"race": [0, 1]}}, r"the column is not numeric; it holds 'Black'"),
    "outside bands": (GOOD, {"sensitive": "c", "bands": {"c": [5, 9]}}, r"'c' holds values outside its bands"),
    "missing error": (
        with_value("race", None),
        {"missing": "error"},
        r"1 row has no value for race; missing='group'",
    ),
    "several": (
        {**with_value("y", 2), "p": GOOD["s"]},
        {},
        r"(?s)^2 problems:\n- label column 'y' has 3 values.*\n- prediction column 'p' looks like a score",
    ),
    "several names": (
        GOOD,
        {"label": "yy", "sensitive": "rac", "cutoff": 1.0},
        r"(?s)^3 problems:\n- .*'yy'.*\n- .*'rac'.*\n- cutoff=",
    ),
}


@pytest.mark.parametrize("backend", ["lists", "pandas", "polars", "arrow", "csv", "jsonl", "parquet", "feather"])
@pytest.mark.parametrize("bad", BAD_DATA)
def test_bad_data_is_an_error_with_the_remedy(bad, backend, tmp_path):
    table, roles, message = BAD_DATA[bad]
    if backend in ("polars", "arrow", "parquet", "feather") and bad in ("score of text", "weight of text"):
        table = {name: list(map(str, values)) if name in "sw" else values for name, values in table.items()}
    data = BACKENDS[backend](table, tmp_path)
    with pytest.raises(EvenhandError, match=message) as caught:
        audit(data, **{**ROLES, **roles})
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("bad", BAD_DATA)
def test_bad_data_on_the_command_line(bad, tmp_path, capsys):
    table, roles, _ = BAD_DATA[bad]
    path = FILES["csv"](table, tmp_path)
    err = refused([str(path), *arguments({**ROLES, **roles})], tmp_path / "audit.json", capsys)
    with pytest.raises(EvenhandError) as caught, on_command_line():
        audit(path, **{**ROLES, **roles})
    if bad == "nothing to measure":  # the command line also lists the columns
        assert err.startswith("say which column is what was decided or happened (--prediction, --score or --label).")
    else:
        assert err == command.in_options(str(caught.value))


RACE, P = ["a", "b", "a", "b"], [1, 0, 1, 1]
BAD_CALLS = {
    "lengths": ({"prediction": P, "sensitive": RACE[:3]}, r"lengths differ: .*sensitive 'sensitive' 3.*prediction"),
    "empty": ({"prediction": [], "sensitive": []}, r"there are no rows to count"),
    "no groups": ({"prediction": P}, r"sensitive= is missing: name the attribute"),
    "empty sensitive": ({"prediction": P, "sensitive": {}}, r"sensitive= is empty"),
    "column without data": ({"prediction": "p", "sensitive": RACE}, r"names a column, but there is no data"),
    "two dimensions": ({"prediction": np.ones((4, 2)), "sensitive": RACE}, r"prediction= has 2 dimensions"),
    "no dimension": ({"prediction": np.array(1), "sensitive": RACE}, r"prediction= has 0 dimensions"),
    "list of lists": ({"prediction": [[1], [0], [1], [1]], "sensitive": RACE}, r"has 2 dimensions"),
    "nameless table": ({"prediction": P, "sensitive": np.ones((4, 2))}, r"a table without names: pass a mapping"),
    "list of arrays": ({"prediction": P, "sensitive": [RACE, RACE]}, r"a table without names: pass a mapping"),
    "ragged": ({"prediction": P, "sensitive": {"g": [[1], [1, 2], [1], [2]]}}, r"'g' holds lists or other values"),
    "unhashable": ({"prediction": P, "sensitive": {"g": pl.Series([[1], [2], [1], [2]])}}, r"'g' holds lists"),
    "number": ({"prediction": 1, "sensitive": RACE}, r"prediction= is 1: pass the name of a column.* or an array"),
    "mapping": ({"prediction": {"a": P}, "sensitive": RACE}, r"prediction= is \{'a': .*: pass the name"),
    "set": ({"prediction": {0, 1}, "sensitive": RACE}, r"prediction= is \{0, 1\}: pass the name"),
    "pandas table": ({"prediction": pd.DataFrame({"p": P, "q": P}), "sensitive": RACE}, r"is a whole table"),
    "polars table": ({"prediction": pl.DataFrame({"p": P, "q": P}), "sensitive": RACE}, r"is a whole table"),
    "arrow table": ({"prediction": pa.table({"p": P, "q": P}), "sensitive": RACE}, r"is a whole table"),
    "arrow twice": (
        {"prediction": P, "sensitive": pa.table([RACE, RACE], names=["a", "a"])},
        r"several columns of one name",
    ),
    "dates as score": (
        {"score": [datetime.date(2020, 1, 1)] * 4, "cutoff": 1, "sensitive": RACE},
        r"which is not a number",
    ),
    "arrow dates": (
        {"score": pa.array([datetime.date(2020, 1, 1)] * 4), "cutoff": 1, "sensitive": RACE},
        r"which is not a number",
    ),
    "polars dates": (
        {"score": pl.Series([datetime.date(2020, 1, 1)] * 4), "cutoff": 1, "sensitive": RACE},
        r"which is not a number",
    ),
    "infinite weight": ({"prediction": P, "sensitive": RACE, "weight": [np.inf, 1, 1, 1]}, r"infinite, .* in 1 row"),
    "infinite count": (
        {"prediction": P, "sensitive": RACE, "count": [np.inf, 1, 1, 1]},
        r"infinite or not whole, or above 9,007,199,254,740,991, in 1 row",
    ),
    "too many people": (
        {"prediction": P * 600, "sensitive": RACE * 600, "count": [2**53 - 1] * 2400},
        r"more people than can be counted",
    ),
    "cutoff": ({"score": [0.1] * 4, "cutoff": float("nan"), "sensitive": RACE}, r"cutoff=nan must be a finite number"),
    "cutoff text": ({"score": [0.1] * 4, "cutoff": "x", "sensitive": RACE}, r"cutoff='x' must be a finite number"),
    "missing": (
        {"prediction": P, "sensitive": RACE, "missing": "no"},
        r"missing='no' must be 'group', 'drop' or 'error'",
    ),
    "bands list": (
        {"prediction": P, "sensitive": {"g": P}, "bands": [0, 1]},
        r"bands=\[0, 1\] must name the attribute",
    ),
    "positive keys": ({"prediction": P, "sensitive": RACE, "positive": {"y": 1}}, r"positive= has keys 'y'"),
    "positive empty": ({"prediction": P, "sensitive": RACE, "positive": []}, r"positive= is empty"),
    "bands text": ({"prediction": P, "sensitive": {"g": P}, "bands": {"g": "ab"}}, r"bands for 'g' must be numbers"),
    "series index": (
        {"prediction": pd.Series(P), "sensitive": pd.Series(RACE, index=[1, 2, 3, 4])},
        r"the pandas index of .* differs from the others'.*\.to_numpy\(\)",
    ),
}


@pytest.mark.parametrize("bad", BAD_CALLS)
def test_bad_calls(bad):
    roles, message = BAD_CALLS[bad]
    with pytest.raises(EvenhandError, match=message):
        Cube.count(**roles)
    with pytest.raises(EvenhandError, match=message):
        audit(**roles)


def test_tables_that_cannot_be_read():
    frame = pd.DataFrame([["a", "b", 1]], columns=["race", "race", "p"])
    with pytest.raises(DataError, match="several columns named 'race'; rename them"):
        Cube.count(frame, prediction="p", sensitive="race")
    table = pa.table([RACE, RACE, P], names=["race", "race", "p"])
    with pytest.raises(DataError, match="several columns named 'race'"):
        Cube.count(table, prediction="p", sensitive="race")
    assert Cube.count(table, prediction="p", sensitive={"g": RACE}).size == 4
    mixed = pd.DataFrame({1: RACE, "1": RACE, "p": P})
    with pytest.raises(DataError, match="several columns named '1'"):
        Cube.count(mixed, prediction="p", sensitive="1")
    for column, message in ((RACE[0], "is 'a'"), (5, "is 5"), (np.ones((4, 2)), "2 dim"), (frame, "whole table")):
        with pytest.raises(DataError, match=rf"column 'g' .*{message}"):
            Cube.count({"g": column, "p": P}, prediction="p", sensitive="g")
    for odd in (5, b"abc", pd.Series(P), frame.groupby("p")):
        with pytest.raises(CallError, match=r"data is of type .*; pass a table"):
            Cube.count(odd, prediction="p", sensitive="g")
    with pytest.raises(DataError, match="index of sensitive"):
        Cube.count(pd.DataFrame({"p": P}), prediction="p", sensitive=pd.Series(RACE, index=list("wxyz")))
    with pytest.raises(DataError, match=r"lengths differ.*needs one value for each row of the table"):
        Cube.count(pd.DataFrame({"p": P}), prediction="p", sensitive=np.array(RACE[:2]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reference": "Green"}, r"'Green' is not a group"),
        ({"reference": {"race": "Green"}}, r"'Green' is not a group of 'race'; the groups are 'Black', 'White'"),
        ({"reference": {"rac": "Black"}}, r"not an attribute here; did you mean 'race'\?"),
        ({"metrics": ["demographic_party"]}, r"'demographic_party' is not a metric; did you mean 'demographic_parity'"),
        ({"min_group_size": 0}, r"min_group_size=0"),
    ],
)
def test_bad_judging(arguments, message):
    with pytest.raises(CallError, match=message):
        audit(GOOD, **ROLES, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": -1}, r"threshold=-1 must be a number of at least 0"),
        ({"threshold": float("nan")}, r"threshold=nan"),
        ({"threshold": "0.1"}, r"threshold='0.1'"),
        ({"convention": "fairlern"}, r"convention='fairlern' is not known; did you mean 'fairlearn'\?"),
        ({"judged_on": "value"}, r"judged_on='value' does not fit demographic_parity"),
        ({"thresold": 0.1}, r"takes no argument 'thresold'; did you mean 'threshold'\?"),
        ({"reference": "Green"}, r"reference='Green' is not a group"),
    ],
)
def test_bad_arguments_of_a_metric(arguments, message):
    with pytest.raises(CallError, match=message):
        eh.demographic_parity(GOOD, prediction="p", sensitive="race", **arguments)
