"""`sensitive=` of any kind as one code for each row, when a model is fitted and later."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.sources import groups
from support import hostile

SEX = ["F", "M", "F", None]
FRAME = pd.DataFrame({"sex": SEX, "old": [1, 0, 0, 1], "x": [0.5, 1.5, 2.5, 3.5]})

KINDS = {
    "list": SEX,
    "tuple": tuple(SEX),
    "array": np.array(SEX, dtype=object),
    "pandas": pd.Series(SEX),
    "categorical": pd.Series(SEX, dtype="category"),
    "polars": pl.Series(SEX),
    "arrow": pa.array(SEX),
    "mapping": {"sex": SEX},
    "frame": FRAME[["sex"]],
    "polars frame": pl.DataFrame({"sex": SEX}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_makes_the_same_groups(kind):
    found = groups.encode(KINDS[kind])
    assert found.names == (("F",), ("M",), (None,))
    assert found.codes.tolist() == [0, 1, 0, 2]
    assert found.match(KINDS[kind]).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("X", [FRAME, pl.from_pandas(FRAME), pa.table(FRAME)], ids=["pandas", "polars", "arrow"])
@pytest.mark.parametrize("sensitive", ["sex", ["sex"], ("sex",)], ids=["name", "list", "tuple"])
def test_a_column_of_x_by_its_name(X, sensitive):
    assert groups.encode(sensitive, X).codes.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_matrix, scipy.sparse.csr_array, list])
def test_columns_of_an_array_are_numbered(make):
    found = groups.encode("x1", make([[5, 0], [6, 1], [7, 1]]))
    assert (found.attributes, found.names, found.codes.tolist()) == (("x1",), (("0",), ("1",)), [0, 1, 1])


def test_groups_are_those_of_the_library():
    cube = eh.Cube.count(FRAME, label=[1, 0, 1, 0], sensitive=["sex", "old"])
    assert groups.encode(["sex", "old"], FRAME).names == tuple(group for _, group in cube.pairs)


def test_intersections_are_tuples_and_single_attributes_plain():
    assert groups.encode(["sex", "old"], FRAME).shown == (("F", "0"), ("F", "1"), ("M", "0"), (None, "1"))
    assert groups.encode("sex", FRAME).shown == ("F", "M", None)


def test_a_quantity_is_cut_into_bands_that_hold_later():
    ages = np.arange(18.0, 98.0, 0.5)
    found = groups.encode({"age": ages})
    assert len(found) == 5
    assert found.match({"age": [-3.0, 18.0, 300.0]}).tolist() == [0, 0, 4]  # beyond the ends: the outermost bands
    assert found.match(ages).tolist() == found.codes.tolist()  # an array that has lost its name


def test_later_columns_may_come_in_another_order():
    found = groups.encode(["sex", "old"], FRAME)
    assert found.match(FRAME[["old", "sex"]]).tolist() == found.codes.tolist()


def test_whole_numbers_far_apart_are_two_groups():
    found = groups.encode({"a": [0, 4000, 0], "b": [0, 4000, 4000]})
    assert found.names == (("0", "0"), ("0", "4000"), ("4000", "4000"))


@hostile.every_name
def test_a_name_is_only_a_name(name):
    found = groups.encode([name, "other people", None, name])
    assert set(found.shown) == {name, "other people", None}
    assert found.match([name]).tolist() == [found.shown.index(name)]


def test_a_list_of_texts_is_values_unless_all_are_columns():
    assert groups.encode(["F", "M", "F", "F"], FRAME).names == (("F",), ("M",))
    assert groups.encode(["old", "sex"], FRAME).attributes == ("old", "sex")


def test_everyone_is_one_group_without_an_attribute():
    found = groups.encode(None, FRAME)
    assert (found.names, found.codes.tolist()) == ((("everyone",),), [0, 0, 0, 0])
    assert found.match(None, FRAME).tolist() == [0, 0, 0, 0]


ERRORS = {
    "unknown column": (lambda: groups.encode("sx", FRAME), "'sx' is not a column; did you mean 'sex'"),
    "no X": (lambda: groups.encode("sex"), "names a column, but there is no X"),
    "nothing": (lambda: groups.encode(None), "name the attribute that makes the groups"),
    "too short": (lambda: groups.encode([1, 0], FRAME), "sensitive= has 2 rows and X has 4"),
    "another index": (lambda: groups.encode(FRAME["sex"].iloc[::-1], FRAME), "Align them first"),
    "no names": (lambda: groups.encode(np.zeros((4, 2)), FRAME), "pass a mapping {name: array} or a dataframe"),
    "an id": (lambda: groups.encode([f"id{i}" for i in range(1001)]), "an id?"),
    "unseen": (lambda: groups.encode(["a", "b"]).match(["a", "z", "z"]), "fitted: 'z' (2 rows). It knows 'a', 'b'"),
    "unseen missing": (lambda: groups.encode(["a", "b"]).match(["a", None]), "fitted: '(missing)' (1 row)"),
    "not given": (lambda: groups.encode({"sex": SEX}).match(None), "the model was fitted by 'sex'"),
    "one too few": (lambda: groups.encode(["sex", "old"], FRAME).match(SEX), "fitted by 2 ('sex', 'old')"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_is_wrong_is_said_with_its_remedy(name):
    call, words = ERRORS[name]
    with pytest.raises(eh.EvenhandError) as told:
        call()
    assert words in str(told.value)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(-2, 2)), min_size=1, max_size=30))
def test_codes_name_each_row(rows):
    first, second = zip(*rows, strict=True)
    found = groups.encode({"first": list(first), "second": list(second)})
    assert [found.names[code] for code in found.codes] == [(a, str(b)) for a, b in rows]
    assert set(found.codes) == set(range(len(found)))
