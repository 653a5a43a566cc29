"""Columns on screens of every width: numbers are never cut, names only at last, signs by their stand-ins."""

from __future__ import annotations

import pytest

from evenhand.report.text import Screen, plain_text
from evenhand.report.text.columns import Columns


def shown(width: int, encoding: str = "utf-8", **how: object) -> list[str]:
    def write(console):
        table = Columns(console, "name", "rate", "limit", "between", "verdict", left=("between", "verdict"), **how)
        table.add(["African-American, Male", "12.5 [10.0, 15.0]", "≤ 10 points", "A | B", "fail"])
        table.add(["x", "undefined", "-", "-", "not judged"])
        table.show()

    return plain_text(write, Screen(width, encoding)).splitlines()


def test_one_line_where_there_is_room():
    assert shown(120)[1:] == [
        " name                                  rate         limit   between   verdict",
        " " + "─" * 79,
        " African-American, Male   12.5 [10.0, 15.0]   ≤ 10 points   A | B     fail",
        " x                                undefined             -   -         not judged",
    ]


def test_less_space_between_columns_comes_first():
    assert len(shown(120)) == len(shown(77, below="between", fold=[("rate",)]))


def test_a_column_in_which_nothing_stands_takes_no_room():
    def write(console):
        table = Columns(console, "name", "between", "alarm", "", left=("between",), fold=[("between",)])
        table.add(["x", "group one", "0.5", ""])
        table.show()

    lines = plain_text(write, Screen(len(" name  between    alarm"))).splitlines()
    assert lines[1:] == [" name  between    alarm", " " + "─" * 22, " x     group one    0.5"]


def test_a_column_moves_below():
    lines = shown(70, below="between")
    assert lines[3].split() == ["African-American,", "Male", "12.5", "[10.0,", "15.0]", "≤", "10", "points", "fail"]
    assert lines[4] == "   A | B"
    assert [line.split() for line in lines[5:]] == [["x", "undefined", "-", "not", "judged"]]


def test_a_spare_column_is_left_out_at_last():
    how = {"below": "between", "fold": [("rate",)], "spare": "limit"}
    assert "points" in "".join(shown(64, **how))
    assert "points" not in "".join(shown(40, **how))


def test_a_number_is_broken_before_its_interval():
    lines = shown(64, below="between", fold=[("rate",)])
    assert lines[3].split() == ["African-American,", "Male", "12.5", "≤", "10", "points", "fail"]
    assert lines[4].split() == ["[10.0,", "15.0]"]


@pytest.mark.parametrize("width", range(20, 120))
def test_no_number_is_ever_cut(width):
    told = "\n".join(shown(width, below="between", fold=[("rate",)]))
    for number in ("12.5", "[10.0, 15.0]", "≤ 10 points", "undefined", "fail", "not judged", "A | B"):
        assert number in told


def test_stand_ins_keep_the_columns_straight():
    lines = shown(120, "ascii")
    assert "<= 10 points" in lines[3]
    assert lines[2].strip(" -") == ""
    assert len({lines[1].index("verdict"), lines[3].index("fail"), lines[4].index("not judged")}) == 1


def test_letters_that_take_two_columns():
    def write(console):
        table = Columns(console, "name", "n")
        table.add(["中文", "1"])
        table.add(["ab", "2"])
        table.show()

    lines = plain_text(write, Screen(40)).splitlines()
    assert [lines[3], lines[4]] == [" 中文   1", " ab     2"]
