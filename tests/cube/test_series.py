"""Cube.series: a cube for each period, from one read, in the order of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import evenhand as eh
from evenhand.errors import CallError, DataError

ROLES = {"prediction": "p", "sensitive": "sex"}


def people(size: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "date": pd.Timestamp("2025-11-20") + pd.to_timedelta(rng.integers(0, 90, size), "D"),
            "p": rng.integers(0, 2, size),
            "y": rng.integers(0, 2, size),
            "score": rng.random(size),
            "sex": rng.choice(["f", "m"], size),
            "place": rng.choice(["a", "b"], size),
        }
    )


def test_each_period_is_the_cube_of_its_rows(tmp_path: Path):
    frame = people()
    frame.to_csv(tmp_path / "x.csv", index=False)
    pl.from_pandas(frame).write_parquet(tmp_path / "x.parquet")
    months = frame["date"].dt.strftime("%Y-%m")
    roles = {**ROLES, "label": "y", "score": "score", "control": "place", "score_range": (0, 1)}
    for data in (frame, pl.from_pandas(frame).lazy(), tmp_path / "x.csv", tmp_path / "x.parquet"):
        series = eh.Cube.series(data, by="date", every="month", **roles)
        assert list(series) == ["2025-11", "2025-12", "2026-01", "2026-02"]
        for month, cube in series.items():
            alone = eh.Cube.count(frame[months == month], **roles)
            assert np.array_equal(cube.n, alone.n)
            assert cube.meaning == alone.meaning
        assert eh.Cube.merge(series) == eh.Cube.count(data, **roles)


@pytest.mark.parametrize(
    ("every", "first"), [("day", "2025-11-20"), ("week", "2025-W47"), ("quarter", "2025-Q4"), ("year", "2025")]
)
def test_periods_of_every_length(every: str, first: str):
    assert next(iter(eh.Cube.series(people(3000), by="date", every=every, **ROLES))) == first


def test_values_of_a_column_are_periods_in_the_order_of_time():
    names = ["Mar", "Jan", "Feb"]
    table = {"month": names * 4, "p": [1, 0] * 6, "sex": list("ffmm") * 3}
    assert list(eh.Cube.series(table, by="month", **ROLES)) == ["Jan", "Feb", "Mar"]
    weeks = {**table, "month": [9, 10, 11] * 4}
    assert list(eh.Cube.series(weeks, by="month", **ROLES)) == ["9", "10", "11"]


def test_many_whole_numbers_are_periods_and_not_cut_into_bands():
    table = {"week": list(range(1, 31)) * 4, "p": [1, 0] * 60, "sex": list("fm" * 60)}
    table["sex"] = ["f"] * 60 + ["m"] * 60  # both in every week
    assert len(eh.Cube.series(table, by="week", **ROLES)) == 30


def test_a_trend_takes_the_series():
    trend = eh.trend(eh.Cube.series(people(), by="date", every="month", **ROLES), metrics=["demographic_parity"])
    assert trend.periods == ("2025-11", "2025-12", "2026-01", "2026-02")


def test_what_is_wrong_is_said():
    table = {"day": ["2026-01-01", None, "01/02/2026"], "p": [1, 0, 1], "sex": list("fmf")}
    with pytest.raises(DataError, match="'01/02/2026', which is not a date with the year first"):
        eh.Cube.series(table, by="day", every="month", **ROLES)
    with pytest.raises(DataError, match="is missing in 1 row, and"):
        eh.Cube.series(table, by="day", **ROLES)
    assert len(eh.Cube.series(table, by="day", **ROLES, where="day != none")) == 2
    with pytest.raises(CallError, match="'dya' is not a column"):
        eh.Cube.series(table, by="dya", **ROLES)
    with pytest.raises(CallError, match="must be 'day', 'week'"):
        eh.Cube.series(table, by="day", every="hour", **ROLES)
    with pytest.raises(CallError, match="a cluster may have rows in two periods"):
        eh.Cube.series(table, by="day", **ROLES, cluster="p")
    with pytest.raises(CallError, match="by=3 must be"):
        eh.Cube.series(table, by=3, **ROLES)


def test_the_column_of_periods_is_there_and_has_no_other_part():
    data = {"month": ["1", "2"] * 4, "p": [1, 0] * 4, "g": list("aabb") * 2}
    with pytest.raises(CallError, match="by='moth' is not a column; did you mean 'month'"):
        eh.Cube.series(data, by="moth", prediction="p", sensitive="g")
    with pytest.raises(CallError, match="by='g' is also a sensitive attribute"):
        eh.Cube.series(data, by="g", prediction="p", sensitive="g")
