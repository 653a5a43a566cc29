"""Columns by name: several at once as a list in a text, where no column has that name itself."""

from __future__ import annotations

import pytest

import evenhand as eh
from evenhand.errors import CallError
from evenhand.sources.named_columns import listed

TABLE = {"p": [1, 0, 1, 0], "race": list("aabb"), "sex": list("fmfm"), "x": list("cdcd")}


@pytest.mark.parametrize("sensitive", ["race,sex", "race, sex", ["race,sex"], ["race", "sex"]])
def test_a_list_in_a_text_is_a_list(sensitive: object):
    assert eh.Cube.count(TABLE, prediction="p", sensitive=sensitive).meaning.sensitive == ("race", "sex")


def test_a_column_of_that_name_comes_first():
    table = {**TABLE, "race,sex": list("zzyy")}
    assert eh.Cube.count(table, prediction="p", sensitive="race,sex").meaning.sensitive == ("race,sex",)


def test_one_name_that_is_not_a_column_leaves_the_text_whole():
    with pytest.raises(CallError, match="'race,sxe' is not a column"):
        eh.Cube.count(TABLE, prediction="p", sensitive="race,sxe")
    assert listed("race,sex", None) == "race,sex"


def test_controls_are_listed_alike():
    assert eh.Cube.count(TABLE, prediction="p", sensitive="race", control="sex,x").meaning.control == ("sex", "x")
