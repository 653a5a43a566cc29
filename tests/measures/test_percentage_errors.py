"""Percentage errors of a regressor, and average precision of a score, beside scikit-learn's and pandas' figures."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.cube.scores import merge_tables
from evenhand.measures.evaluate import every_measure

RANDOM = np.random.default_rng(11)
PEOPLE = 1500
GROUP = RANDOM.choice(["a", "b", "c"], PEOPLE)
PREDICTED = RANDOM.gamma(3, 10, PEOPLE)
OUTCOME = PREDICTED * RANDOM.lognormal(0, 0.4, PEOPLE)
WEIGHT = RANDOM.integers(1, 5, PEOPLE) / 2


def by_name(cube: eh.Cube) -> dict[str, list[float]]:
    return {each.measure.name: each.values.tolist() for each in every_measure(cube, 0.95)}


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_percentage_errors_are_those_of_scikit_learn(weight):
    metrics = pytest.importorskip("sklearn.metrics")
    cube = eh.Cube.count(label=OUTCOME, prediction=PREDICTED, sensitive=GROUP, weight=weight, task="regression")
    found = by_name(cube)
    for i, name in enumerate("abc"):
        own = name == GROUP
        mass = np.ones(own.sum()) if weight is None else weight[own]
        mape = metrics.mean_absolute_percentage_error(OUTCOME[own], PREDICTED[own], sample_weight=mass)
        wape = (mass * np.abs(OUTCOME - PREDICTED)[own]).sum() / (mass * OUTCOME[own]).sum()
        assert found["mean_absolute_percentage_error"][i] == pytest.approx(mape, rel=1e-9)
        assert found["weighted_absolute_percentage_error"][i] == pytest.approx(wape, rel=1e-9)


@pytest.mark.parametrize("kind", ["csv", "parquet", "polars", "duckdb"])
def test_every_source_sums_the_same(kind, tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"y": OUTCOME, "f": PREDICTED, "g": GROUP, "w": WEIGHT})
    data: object = frame.lazy()
    if kind == "csv":
        data = tmp_path / "people.csv"
        frame.write_csv(data)
    elif kind == "parquet":
        data = tmp_path / "people.parquet"
        frame.write_parquet(data)
    elif kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        frame.write_parquet(tmp_path / "people.parquet")
        data = duckdb.connect().read_parquet(str(tmp_path / "people.parquet"))
    roles = {"label": "y", "prediction": "f", "sensitive": "g", "weight": "w", "task": "regression"}
    here, there = eh.Cube.count(frame, **roles), eh.Cube.count(data, **roles)
    for name in ("ay", "p", "pp"):
        for by in ("w_", "w2_"):
            one, other = (cube.scores.sums[by + name].sum() for cube in (here, there))
            assert one == pytest.approx(other, rel=1e-9)


def test_an_outcome_of_0_leaves_the_percentage_undefined_and_not_huge():
    y, f, group = [0.0, 2.5, 4.0, 8.0], [1.0, 2.0, 5.0, 6.0], ["a", "a", "b", "b"]
    found = eh.mape_difference(y, f, sensitive=group, task="regression")
    assert np.isnan(float(found))
    assert "no labels, or a label of 0, among group a" in found.interpretation
    weighted = eh.wape_difference(y, f, sensitive=group, task="regression")
    assert float(weighted) == pytest.approx(1.5 / 2.5 - 3 / 12)


def test_negative_outcomes_have_no_weighted_percentage():
    found = eh.wape_difference([-1.0, 2.5, 4.0, 8.0], [1.0, 2.0, 5.0, 6.0], sensitive=list("aabb"), task="regression")
    assert np.isnan(float(found))
    assert "below 0" in found.interpretation


def test_tables_of_before_are_added_and_lose_what_they_lack():
    from dataclasses import replace

    cube = eh.Cube.count(label=OUTCOME, prediction=PREDICTED, sensitive=GROUP, task="regression")
    old = replace(cube.scores, sums={name: part for name, part in cube.scores.sums.items() if name not in ("p", "pp")})
    merged = merge_tables([old, cube.scores])
    assert "p" not in merged.sums
    assert "ay" in merged.sums
    found = by_name(replace(cube, scores=old))
    assert np.isnan(found["mean_absolute_percentage_error"]).all()
    assert np.isfinite(found["weighted_absolute_percentage_error"]).all()


@pytest.mark.parametrize("digits", [1, 3])
def test_average_precision_is_that_of_scikit_learn(digits):
    metrics = pytest.importorskip("sklearn.metrics")
    score = RANDOM.random(PEOPLE).round(digits)
    label = (RANDOM.random(PEOPLE) < score).astype(int)
    found = by_name(eh.Cube.count(label=label, score=score, sensitive=GROUP))["average_precision"]
    for i, name in enumerate("abc"):
        expected = metrics.average_precision_score(label[name == GROUP], score[name == GROUP])
        assert found[i] == pytest.approx(expected, abs=1e-12)


def test_the_error_of_the_grid_bounds_average_precision():
    metrics = pytest.importorskip("sklearn.metrics")
    from evenhand.measures.group_data import GroupData
    from evenhand.measures.scores import SCORE_MEASURES

    score = RANDOM.beta(2, 5, 40_000)
    label = (RANDOM.random(40_000) < score).astype(int)
    group = RANDOM.choice(["a", "b"], 40_000)
    data = GroupData.of(eh.Cube.count(label=label, score=score, sensitive=group))
    row = SCORE_MEASURES["average_precision"]
    values, error = row.spread(data).values, row.grid_error(data)
    for i, name in enumerate("ab"):
        expected = metrics.average_precision_score(label[group == name], score[group == name])
        assert 0 < abs(values[i] - expected) <= error[i] < 0.01


def test_the_variance_of_average_precision_is_that_of_resampled_people():
    from evenhand.measures import curves

    random = np.random.default_rng(5)
    positives, negatives = random.integers(0, 9, 40) * np.arange(40) // 20, random.integers(0, 30, 40)
    cells = np.stack([positives, negatives]).astype(float)
    drawn = random.multinomial(int(cells.sum()), (cells / cells.sum()).ravel(), 4000).reshape(-1, 2, 40).astype(float)
    seen = curves.average_precision(drawn[:, 0], drawn[:, 1]).std()
    value = curves.average_precision(cells[0], cells[1])
    assert np.sqrt(curves.average_precision_variance(cells[0], cells[1], value)) == pytest.approx(seen, rel=0.05)
