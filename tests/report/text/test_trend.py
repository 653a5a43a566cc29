"""A trend as text: no row is longer than the screen."""

from __future__ import annotations

import re

import numpy as np
import pytest

import evenhand as eh
from evenhand.report.text import Screen
from evenhand.report.text.trend import plain


@pytest.fixture(scope="module")
def trend():
    rng = np.random.default_rng(0)
    sex = rng.choice(["Female", "Male"], 4_800)
    rows = {"sex": sex, "month": np.resize([f"2026-{month:02d}" for month in range(1, 9)], 4_800)}
    rows["selected"] = (rng.random(4_800) < np.where(sex == "Male", 0.5, 0.3)).astype(int)
    return eh.trend(eh.Cube.series(rows, by="month", prediction="selected", sensitive="sex"))


@pytest.mark.parametrize("width", [80, 100])
def test_no_row_is_longer_than_the_screen(trend, width):
    said = plain(trend, Screen(width)).splitlines()
    assert trend.alarm is not None
    assert [line for line in said if len(line) > width] == []


def test_long_periods_and_great_evidence_leave_no_room_for_the_chart():
    rng = np.random.default_rng(0)
    sex = rng.choice(["Female", "Male"], 9_600)
    rows = {"sex": sex, "week": np.resize([f"week {week} of the year 2026" for week in range(1, 9)], 9_600)}
    rows["selected"] = (rng.random(9_600) < np.where(sex == "Male", 0.6, 0.3)).astype(int)
    told = plain(eh.trend(eh.Cube.series(rows, by="week", prediction="selected", sensitive="sex")), Screen(80))
    assert [line for line in told.splitlines() if len(line) > 80] == []
    assert "week 8 of the year 2026" in told
    assert "│ threshold" not in told


def test_intervals_stay_whole_where_there_is_little_room(trend):
    wide, narrow = (re.findall(r"\[-?\d.*?\]", plain(trend, Screen(width))) for width in (120, 80))
    assert len(wide) > 8
    assert narrow == wide
