"""A regressor: measures equal to scikit-learn's, the same cube from every source, intervals that cover, and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import evenhand as eh
from evenhand.measures.evaluate import every_measure
from support.backends import BACKENDS
from support.profiles import each_of, examples
from support.tables import by_group, close

GROUPS = ("a", "b", "c")


def people(n=600, seed=0, shift=3.0):
    random = np.random.default_rng(seed)
    group = random.choice(GROUPS, n, p=[0.5, 0.3, 0.2])
    outcome = random.normal(50, 10, n) + shift * (group == "b")
    predicted = 0.6 * outcome + 20 + random.normal(0, 5, n)
    return {"group": group, "y": outcome, "f": predicted, "w": random.uniform(0.5, 3, n)}


def count(data, **more):
    return eh.Cube.count(data, label="y", prediction="f", sensitive="group", task="regression", **more)


def measured(cube):
    return {told.measure.name: dict(zip(GROUPS, told.values, strict=True)) for told in every_measure(cube, 0.95)}


@pytest.mark.parametrize("weight", [None, "w"])
def test_measures_equal_scikit_learn(weight):
    data = people()
    found = measured(count(data, weight=weight))
    for group in GROUPS:
        inside = data["group"] == group
        y, f = data["y"][inside], data["f"][inside]
        w = None if weight is None else data["w"][inside]
        assert found["mean_absolute_error"][group] == close(mean_absolute_error(y, f, sample_weight=w))
        assert found["root_mean_squared_error"][group] == close(root_mean_squared_error(y, f, sample_weight=w))
        assert found["r_squared"][group] == close(r2_score(y, f, sample_weight=w), 1e-10)
        assert found["mean_prediction"][group] == close(np.average(f, weights=w))
        assert found["mean_outcome"][group] == close(np.average(y, weights=w))
        assert found["mean_residual"][group] == close(np.average(y - f, weights=w), 1e-10)


def test_sums_keep_their_digits_far_from_zero():
    data = people()
    data["y"], data["f"] = data["y"] + 1e8, data["f"] + 1e8
    found = measured(count(data))
    inside = data["group"] == "a"
    assert found["r_squared"]["a"] == close(r2_score(data["y"][inside], data["f"][inside]), 1e-6)


def test_errors_are_those_of_the_bootstrap():
    """The analytic error of each measure, beside 2,000 resamples of the rows."""
    data = people(400, seed=3)
    inside = data["group"] == "a"
    y, f = data["y"][inside], data["f"][inside]
    random = np.random.default_rng(1)
    drawn = [random.integers(0, len(y), len(y)) for _ in range(2000)]
    bootstrap = {
        "mean_absolute_error": np.std([mean_absolute_error(y[i], f[i]) for i in drawn]),
        "root_mean_squared_error": np.std([root_mean_squared_error(y[i], f[i]) for i in drawn]),
        "r_squared": np.std([r2_score(y[i], f[i]) for i in drawn]),
        "mean_prediction": np.std([f[i].mean() for i in drawn]),
    }
    told = {each.measure.name: each for each in every_measure(count(data), 0.95)}
    for name, error in bootstrap.items():
        half = (told[name].high[0] - told[name].low[0]) / 2
        assert half / 2.3877 == pytest.approx(error, rel=0.12), name  # Šidák's deviate of three groups


def test_demographic_parity_of_a_regressor_by_hand():
    """Agarwal, Dudík and Wu's definition, over every value that occurs."""
    data = people(300)
    found = eh.regression_demographic_parity(
        label=data["y"], prediction=data["f"], sensitive=data["group"], task="regression", resolution="exact"
    )
    everyone = np.array([(data["f"] >= z).mean() for z in np.sort(data["f"])])
    for group, value in by_group(found).items():
        inside = data["f"][data["group"] == group]
        own = np.array([(inside >= z).mean() for z in np.sort(data["f"])])
        assert value == close(np.abs(own - everyone).max())
    assert found.value.low <= found.value.value <= found.value.high
    assert "everyone" in found.interpretation


def test_wasserstein_and_ks_take_a_regressor():
    from scipy.stats import ks_2samp, wasserstein_distance

    data = people(500)
    a, b = data["f"][data["group"] == "a"], data["f"][data["group"] == "b"]
    kept = np.isin(data["group"], ["a", "b"])
    given_ = {"prediction": data["f"][kept], "sensitive": data["group"][kept], "task": "regression"}
    assert eh.wasserstein_distance(**given_, resolution="exact").value.value == close(wasserstein_distance(a, b), 1e-9)
    assert eh.ks_distance(**given_, resolution="exact").value.value == close(ks_2samp(a, b).statistic, 1e-9)


def test_separation_names_the_band_and_the_groups():
    data = people(6000)
    data["f"] = np.where((data["group"] == "c") & (data["y"] > 60), data["f"] - 12, data["f"])
    found = eh.regression_separation(data, label="y", prediction="f", sensitive="group", task="regression")
    assert found.verdict == "fail"
    assert found.lowest == "c"
    assert "labels from 5" in found.interpretation
    frame = pd.DataFrame(data)
    edges = next(row.bin for row in found.rows if row.bin)
    inside = frame[(frame.y >= edges[0]) & (frame.y < edges[1]) & (frame.group == "a")]
    first = next(row for row in found.rows if row.bin == edges and row.group == ("a",))
    assert first.n == len(inside)
    assert first.estimate.value == close(inside.f.mean(), 1e-10)


def test_bands_of_the_outcome_may_be_given():
    cube = count(people(), bands={"y": [0, 50, 120]})
    assert cube.scores.reading.outcome == (0, 50, 120)
    with pytest.raises(eh.DataError, match="outside its bands"):
        count(people(), bands={"y": [0, 50, 60]})


@pytest.mark.parametrize("name", ["mae_difference", "rmse_ratio", "r2_difference", "mean_prediction_ratio"])
def test_gaps_are_those_of_the_measures(name):
    data = people()
    entry = getattr(eh, name)
    found = entry(data, label="y", prediction="f", sensitive="group", task="regression")
    values = [row.estimate.value for row in found.groups]
    expected = min(values) / max(values) if found.judged_on == "ratio" else max(values) - min(values)
    assert found.value.value == close(expected)
    assert found.value.low <= found.value.value <= found.value.high


def test_bounded_group_loss_is_judged_only_with_a_bound():
    data = people(3000)
    call = {"label": data["y"], "prediction": data["f"], "sensitive": data["group"], "task": "regression"}
    assert eh.bounded_group_loss(**call).verdict == "not judged"
    assert eh.bounded_group_loss(**call, threshold=20).verdict == "pass"
    assert eh.bounded_group_loss(**call, threshold=1).verdict == "fail"
    squared = eh.bounded_group_loss(**call, loss="squared")
    worst = max(np.mean((data["y"] - data["f"])[data["group"] == group] ** 2) for group in GROUPS)
    assert squared.value.value == close(worst)
    with pytest.raises(eh.CallError, match="loss='cubic' must be 'absolute' or 'squared'"):
        eh.bounded_group_loss(**call, loss="cubic")


def test_a_regression_is_recognised_and_said():
    data = people()
    found = eh.audit(data, label="y", prediction="f", sensitive="group")
    assert found.cube.meaning.task == "regression"
    assert any("task='regression'" in note for note in found.notes)
    assert {finding.metric for finding in found.findings} >= {"mean_absolute_error_parity", "regression_separation"}
    told = eh.audit(data, label="y", prediction="f", sensitive="group", task="regression")
    assert not any("both hold fractions" in note for note in told.notes)
    assert "mean_absolute_error" in set(found.groups()["measure"])


def test_without_a_label_only_the_prediction_is_compared():
    data = people()
    found = eh.audit(data, prediction="f", sensitive="group", task="regression")
    assert found.required == ("regression_demographic_parity",)
    assert "mean_absolute_error_parity" not in {finding.metric for finding in found.findings}


TABLE = {
    "group": ["a", "b", None, "a", "b", "c", "a", "c"] * 4,
    "y": [1.5, 2.25, 3.0, None, 0.5, 1.0, 2.5, 4.75] * 4,
    "f": [1.25, 2.5, 2.0, 1.75, 0.75, 1.5, 2.25, 4.0] * 4,
    "w": [1.0, 2.0, 0.5, 1.0, 1.5, 1.0, 2.0, 1.0] * 4,
}


@pytest.mark.parametrize("weight", [None, "w"])
@each_of("kind", list(BACKENDS), handful=12)
def test_every_source_gives_the_same_cube(kind, weight, tmp_path):
    data = BACKENDS[kind](TABLE, tmp_path)
    found = count(data, weight=weight)
    expected = count({name: np.array(values, dtype=object) for name, values in TABLE.items()}, weight=weight)
    assert found == expected


def test_a_grid_from_a_file_equals_one_from_memory(tmp_path):
    data = people(5000)
    path = tmp_path / "people.parquet"
    pd.DataFrame(data).to_parquet(path)
    assert count(str(path)) == count(data)


def test_cubes_merge_and_are_saved(tmp_path):
    data = pd.DataFrame(people(2000))
    whole = count(data)
    first = count(data.iloc[:900], like=whole)
    second = count(data.iloc[900:], like=whole)
    assert first + second == whole
    whole.save(tmp_path / "x.cube")
    assert eh.Cube.load(tmp_path / "x.cube") == whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [np.inf]}, "label column 'y' holds an infinite value"),
        ({"f": [np.inf]}, "prediction column 'f' holds an infinite value"),
        ({"f": [np.nan]}, "prediction column 'f' is missing in 1 row"),
    ],
)
def test_numbers_that_are_none_are_errors(change, message):
    data = people(20)
    for name, values in change.items():
        data[name] = np.concatenate([values, data[name][1:]])
    with pytest.raises(eh.DataError, match=message):
        count(data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "regresion"}, "task='regresion' must be"),
        ({"task": "regression", "score": "f"}, "takes no score="),
        ({"task": "regression", "prediction": None}, "needs prediction="),
    ],
)
def test_wrong_calls_say_the_remedy(arguments, message):
    with pytest.raises(eh.CallError, match=message):
        eh.Cube.count(people(20), **{"label": "y", "prediction": "f", "sensitive": "group", **arguments})


def test_a_metric_of_decisions_points_to_the_score():
    with pytest.raises(eh.DataError, match="looks like a score, pass it as score="):
        eh.equalized_odds(people(50), label="y", prediction="f", sensitive="group")


def test_a_metric_of_another_task_is_refused():
    with pytest.raises(eh.CallError, match=r"equalized_odds is for task 'binary' or 'multiclass'; this is"):
        eh.equalized_odds(people(50), label="y", prediction="f", sensitive="group", task="regression")


def test_constant_predictions_and_outcomes_are_undefined_not_zero():
    data = {"group": ["a", "a", "b", "b"] * 10, "y": [1.5, 1.5, 2.5, 3.5] * 10, "f": [2.5] * 40}
    found = eh.r_squared_parity(data, label="y", prediction="f", sensitive="group", task="regression")
    assert np.isnan(found.groups[0].estimate.value)
    assert found.groups[0].reason == "no labels that differ among group = a"
    assert found.verdict == "inconclusive"


@examples(30)
@given(st.integers(0, 10_000), st.floats(-1e6, 1e6), st.floats(0.01, 1e4))
def test_gaps_move_with_the_scale(seed, move, stretch):
    data = people(200, seed)
    moved = {**data, "y": data["y"] * stretch + move, "f": data["f"] * stretch + move}
    first, second = measured(count(data)), measured(count(moved))
    for group in GROUPS:
        assert second["mean_absolute_error"][group] == close(stretch * first["mean_absolute_error"][group], 1e-6)
        assert second["r_squared"][group] == pytest.approx(first["r_squared"][group], abs=1e-5)
