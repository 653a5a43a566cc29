"""Reading the answers of a correspondence audit: from anything, in any order; and what cannot be paired."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand.core import records
from evenhand.counterfactual.units import read_units
from evenhand.errors import CallError, DataError

ROWS = {
    "case": ["u", "u", "u", "u", "v", "v", "w", "x", "x"],
    "name": ["Ann", "Ann", "Bo", "Bo", "Ann", "Bo", "Bo", "Ann", "Cy"],
    "run": [1, 2, 1, 2, 1, 1, 1, 1, 1],
    "answer": ["yes", "no", "no", "no", "yes", "yes", "yes", "yes", "no"],
}
ROLES = {"unit": "case", "sensitive": "name", "prediction": "answer", "run": "run", "positive": "yes"}


def read(data, **changes):
    arguments = {"score": None, "run": None, "positive": 1, "bands": None, "na": (), "prediction": None}
    return read_units(data, **{**arguments, **changes})


def everything(finding):
    """All that a finding holds; as text, because an undefined value is not equal to itself."""
    return repr(records.write(finding))


def test_means_over_runs_and_units_that_are_left_out():
    units = read(ROWS, **ROLES)
    assert units.groups == (("Ann",), ("Bo",), ("Cy",))
    assert units.names.tolist() == ["u", "v", "x"]
    assert np.array_equal(units.means, [[0.5, 0, np.nan], [1, 1, np.nan], [1, np.nan, 0]], equal_nan=True)
    assert units.runs.tolist() == [[2, 2, 0], [1, 1, 0], [1, 0, 1]]
    assert units.alone == ("w",)
    assert np.array_equal(units.noise[0], [1, 0, np.nan], equal_nan=True)
    assert units.flips(0, 1)[:2].tolist() == [0.5, 0.0]
    assert units.several
    assert units.even
    assert units.notes == (
        "Seen in one group only, so left out: 1 unit ('w').",
        "Not seen in every group: 3 units. Each two groups are compared on the units with both.",
    )


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["dict", "pandas", "polars", "arrow"]
)
def test_every_kind_of_table_gives_the_same(make):
    assert everything(eh.correspondence(make(ROWS), **ROLES)) == everything(eh.correspondence(ROWS, **ROLES))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_give_the_same(suffix, tmp_path):
    path = tmp_path / f"answers.{suffix}"
    frame = pd.DataFrame(ROWS | {"unread": 1})
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    assert everything(eh.correspondence(path, **ROLES)) == everything(eh.correspondence(ROWS, **ROLES))


def test_arrays_give_the_same():
    roles = {**ROLES, **{role: ROWS[ROLES[role]] for role in ("unit", "prediction", "run")}}
    found = eh.correspondence(**{**roles, "sensitive": {"name": ROWS["name"]}})
    assert everything(found) == everything(eh.correspondence(ROWS, **ROLES))


def test_units_may_be_numbers_and_one_spelling_is_one_unit():
    units = read(None, unit=[10, 10.0, 2, "2"], sensitive=["a", "b", "a", "b"], prediction=[1, 0, 1, 1])
    assert sorted(units.names) == ["10", "2"]


def test_numbers_that_make_groups_are_not_cut_unless_bands_say_so():
    age = list(range(20, 60))
    roles = {"unit": [7] * 40, "sensitive": {"age": age}, "prediction": [1, 0] * 20}
    assert len(read(None, **roles).groups) == 40
    unit = [f"{i // 2}" for i in range(40)]
    cut = read(None, **{**roles, "unit": unit, "sensitive": {"age": [30, 50] * 20}}, bands={"age": [0, 40, 99]})
    assert len(cut.groups) == 2


def test_rows_without_a_group_or_a_score_are_left_out_and_counted():
    units = read(None, unit=[1, 1, 1, 2, 2], sensitive=["a", "b", None, "a", "b"], score=[0.5, 0.25, 1, np.nan, 0.3])
    assert units.names.tolist() == ["1"]
    assert units.notes[:2] == ("1 row without a score left out.", "1 row without a group left out.")
    assert units.alone == ("2",)


def test_a_group_that_shares_no_unit_is_left_out_by_name():
    units = read(None, unit=[1, 1, 2], sensitive=["a", "b", "c"], prediction=[1, 0, 1])
    assert units.groups == (("a",), ("b",))
    assert "No unit in common with another group, so left out: c." in units.notes


def test_the_cube_has_a_row_for_each_unit_and_group():
    cube = read(ROWS, **ROLES).count()
    assert cube.size == 6
    one_run = {**ROWS, "run": list(range(9)), "case": ["u", "r", "u", "r", *ROWS["case"][4:]]}
    assert read(one_run, **{**ROLES, "run": None}).count().has["prediction"]


BASE = {"unit": [1, 1, 2, 2], "sensitive": ["a", "b", "a", "b"], "prediction": [1, 0, 1, 1]}


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"unit": None}, CallError, "unit= is missing: name the column that says which rows are the same case"),
        ({"prediction": None}, CallError, "give prediction= (what was decided) or score= (a number)"),
        ({"score": [1, 2, 3, 4]}, CallError, "one at a time: give one of them"),
        ({"prediction": [0.5, 0, 1, 1]}, CallError, "looks like a score: pass it as score="),
        ({"prediction": [1, None, 1, 1]}, DataError, "is missing in 1 row: if no answer is an answer, write it as one"),
        ({"prediction": ["y", "n", "m", "y"]}, DataError, "say which count as positive with positive=[...]"),
        ({"unit": [1, None, 2, 2]}, DataError, "unit column 'unit' is missing in 1 row: fill it in"),
        ({"run": [1, 1, None, 2]}, DataError, "run column 'run' is missing in 1 row: fill it in"),
        ({"unit": [1, 1, 1, 2]}, DataError, "same unit and group (1 row too many), such as '1' in a: tell repeated"),
        ({"unit": [1] * 4, "run": [1, 1, 1, 2]}, DataError, "same unit, group and run (1 row too many), such as '1'"),
        ({"unit": [1, 2, 3, 4]}, DataError, "no unit was seen in two groups"),
        ({"sensitive": ["a"] * 4}, DataError, "has one group only ('a'): there is nothing to compare"),
        ({"sensitive": [None] * 4}, DataError, "has one group only (no value at all)"),
        ({"unit": [1, 1, 2]}, DataError, "lengths differ"),
        ({"unit": "prompt"}, CallError, "unit='prompt' names a column, but there is no data"),
    ],
)  # fmt: skip
def test_bad_answers_are_errors_with_a_remedy(changes, error, said):
    with pytest.raises(error) as caught:
        eh.correspondence(**{**BASE, **changes})
    assert said in str(caught.value)


@pytest.mark.parametrize("score", [[np.nan] * 4, [np.inf, 1, 2, 3], [1e200, 1, 2, 3]])
def test_scores_that_cannot_be_compared(score):
    with pytest.raises(DataError, match="score= "):
        eh.correspondence(**{**BASE, "prediction": None, "score": score})


def test_a_column_in_two_roles_and_one_that_is_not_there():
    with pytest.raises(CallError, match="plays two roles, unit and sensitive"):
        eh.correspondence(ROWS, **{**ROLES, "unit": "name"})
    with pytest.raises(CallError, match="unit='cas' is not a column; did you mean 'case'"):
        eh.correspondence(ROWS, **{**ROLES, "unit": "cas"})


def test_pandas_indexes_that_differ_are_refused():
    unit = pd.Series(ROWS["case"], index=range(9, 18))
    with pytest.raises(DataError, match="index of unit"):
        eh.correspondence(pd.DataFrame(ROWS), **{**ROLES, "unit": unit})


def test_too_many_cells_are_refused():
    unit = np.repeat(np.arange(100_000), 2)
    group = np.tile(np.arange(0, 900), 223)[: len(unit)]
    with pytest.raises(DataError, match="compare fewer groups at a time"):
        eh.correspondence(unit=unit, sensitive=group.astype(str), prediction=np.zeros(len(unit), dtype=int))
