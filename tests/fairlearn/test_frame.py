"""MetricFrame beside fairlearn's own: every argument, answer and error."""

from __future__ import annotations

import copy
import functools
import pickle
import warnings
from typing import Any

import fairlearn.metrics as theirs
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.metrics as skm
from hypothesis import given
from hypothesis import strategies as st

import evenhand.fairlearn as ours
from evenhand.fairlearn.counted import _METRICS
from support.fairlearn_results import outcome, same, same_frames
from support.profiles import each_of, examples

ROWS = 60
RANDOM = np.random.default_rng(3)
Y, P = RANDOM.integers(0, 2, ROWS), RANDOM.integers(0, 2, ROWS)
WEIGHTS = {"fractions": RANDOM.random(ROWS) + 0.1, "whole": RANDOM.integers(1, 5, ROWS)}
RACE, CITY, AGE = RANDOM.choice(["x", "y", "z"], ROWS), RANDOM.choice(["u", "v"], ROWS), RANDOM.choice([3, 1, 2], ROWS)

# Every function that is counted, as fairlearn's user writes it; the count comes first, and names are not sorted.
COUNTED = {
    f"{'z' if i % 2 else 'a'} {name}": getattr(theirs, name, None) or getattr(skm, name)
    for i, name in enumerate(_METRICS)
}
WEIGHABLE = {name: function for name, function in COUNTED.items() if function is not theirs.count}


def length(y_true: Any, y_pred: Any) -> int:
    return len(y_true)


def spelled(y_true: Any, y_pred: Any) -> str:
    return f"n={len(y_true)}"


def disagreement(y_true: Any, y_pred: Any, cost: Any) -> float:
    return float((cost * (y_true != y_pred)).sum())


# --- what metrics return

METRICS = {
    "all that is counted": COUNTED,
    "one": skm.recall_score,
    "a count": theirs.count,
    "a function of one's own": length,
    "lambda": lambda y_true, y_pred: (y_true * y_pred).mean(),
    "without a name": functools.partial(skm.fbeta_score, beta=2),
    "counted and called": {"called": skm.r2_score, "counted": skm.accuracy_score, "count": theirs.count},
    "whole numbers": {"a": length, "b": theirs.count},
    "truths": {"a": lambda y_true, y_pred: bool(y_true.any()), "b": lambda y_true, y_pred: 0.5},
    "a matrix": skm.confusion_matrix,
    "matrices": {
        "m": skm.confusion_matrix,
        "f": skm.f1_score,
        "n": functools.partial(skm.confusion_matrix, normalize="all"),
    },
    "lists": {"l": lambda y_true, y_pred: [1, 2], "a": skm.accuracy_score},
    "text": {"s": spelled, "a": length},
    "one text": spelled,
    "None": {"n": lambda y_true, y_pred: None, "a": skm.accuracy_score},
    "nothing": {},
    "two levels of names": {("a", "b"): skm.accuracy_score, ("a", "c"): skm.recall_score},
    "names that are numbers": {1: skm.accuracy_score, 0: skm.recall_score},
    "roc": {"roc": skm.roc_auc_score, "loss": skm.log_loss},
}

FEATURES = {
    "an array": {"sensitive_features": RACE},
    "two": {"sensitive_features": {"race": RACE, "age": AGE}},
    "within strata": {"sensitive_features": RACE, "control_features": AGE},
    "two within two": {
        "sensitive_features": pd.DataFrame({"race": RACE, "city": CITY}),
        "control_features": {"age": AGE, "half": np.arange(ROWS) % 2 == 0},
    },
}


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("metrics", METRICS)
def test_every_answer_is_that_of_fairlearn(metrics, features):
    same_frames(METRICS[metrics], y_true=Y, y_pred=P, **FEATURES[features])


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_weighted_answers_are_those_of_fairlearn(weights, features):
    given = {"sample_weight": WEIGHTS[weights]}
    same_frames(WEIGHABLE, y_true=Y, y_pred=P, sample_params=dict.fromkeys(WEIGHABLE, given), **FEATURES[features])
    same_frames(skm.precision_score, y_true=Y, y_pred=P, sample_params=given, **FEATURES[features])


@pytest.mark.parametrize(
    "weight", [WEIGHTS["whole"] - 1, np.zeros(ROWS), -WEIGHTS["fractions"], WEIGHTS["fractions"].astype(np.float32)]
)
@each_of("name", WEIGHABLE.keys())
def test_unusual_weights(name, weight):
    """Weights of 0, below 0 or of fewer bytes go by rows, and meet whatever scikit-learn says to them."""
    params = {"sample_weight": weight}
    arguments = {"y_true": Y, "y_pred": P, "sensitive_features": RACE, "sample_params": params}
    if name.endswith("_rate") and not weight.all():
        arguments["sample_params"] = {"sample_weight": weight + 1}
    same_frames(WEIGHABLE[name], messages=False, **arguments)


def test_other_parameters_of_rows():
    params = {"cost": RANDOM.random(ROWS)}
    arguments = {"y_true": Y, "y_pred": P, "sensitive_features": CITY, "control_features": RACE}
    same_frames(disagreement, sample_params=params, **arguments)
    same_frames({"d": disagreement, "a": skm.accuracy_score}, sample_params={"d": params}, **arguments)
    same_frames(disagreement, sample_params={"cost": 2.5}, **arguments)
    same_frames(disagreement, sample_params={"cost": [2] * ROWS}, **arguments)
    same_frames(disagreement, sample_params={"cost": params["cost"].reshape(-1, 1)}, **arguments)
    same_frames(skm.accuracy_score, sample_params={"sample_weight": None}, **arguments)


# --- labels, predictions and features of any kind

YES = np.where(Y == 1, "yes", "no")

LABELS = {
    "lists": (Y.tolist(), P.tolist()),
    "series": (pd.Series(Y, index=np.arange(ROWS)[::-1]), pd.Series(P)),
    "frames": (pd.DataFrame({"y": Y}), pd.DataFrame({"p": P})),
    "columns": (Y.reshape(-1, 1), P.reshape(1, -1)),
    "truths": (Y == 1, P == 1),
    "a truth and a number": (Y == 1, P),
    "minus one": (2 * Y - 1, 2 * P - 1),
    "one and minus one": (Y, 2 * P - 1),
    "zeros": (np.zeros(ROWS, int), np.zeros(ROWS, int)),
    "minus ones": (-np.ones(ROWS, int), -np.ones(ROWS, int)),
    "ones": (np.ones(ROWS), np.ones(ROWS)),
    "floats": (Y.astype(float), P.astype(float)),
    "small numbers": (Y.astype(np.int8), P.astype(np.uint8)),
    "small floats": (Y.astype(np.float32), P.astype(np.float32)),
    "objects": (Y.astype(object), P.astype(object)),
    "nullable": (pd.Series(Y, dtype="Int64"), pd.Series(P, dtype="boolean")),
    "categories": (pd.Series(Y).astype("category"), pd.Series(P).astype("category")),
    "text": (YES, np.where(P == 1, "yes", "no")),
    "three classes": (AGE, RANDOM.permutation(AGE)),
    "two classes": (Y + 1, P + 1),
    "scores": (Y, RANDOM.random(ROWS)),
    "numbers": (RANDOM.normal(size=ROWS), RANDOM.normal(size=ROWS)),
    "missing numbers": (Y, np.where(np.arange(ROWS) == 7, np.nan, P)),
    "infinite": (Y, np.where(np.arange(ROWS) == 7, np.inf, P)),
    "polars": (pl.Series(Y), pl.DataFrame({"p": P})),
    "arrow": (pa.chunked_array([Y]), pd.Series(P, dtype="int64[pyarrow]")),
    "two outputs": (RANDOM.random((ROWS, 2)), RANDOM.random((ROWS, 2))),
}


@each_of("name", [*COUNTED, "r2", "length"])
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_any_kind(labels, name):
    metric = {**COUNTED, "r2": skm.r2_score, "length": length}[name]
    y_true, y_pred = LABELS[labels]
    same_frames(metric, messages=False, y_true=y_true, y_pred=y_pred, sensitive_features=RACE)


KINDS = {
    "a list": RACE.tolist(),
    "numbers": AGE,
    "a list of numbers": AGE.tolist(),
    "truths": Y == 1,
    "floats": AGE / 2,
    "objects": RACE.astype(object),
    "numbers of two types": [1 if one else 1.0 for one in Y] + [],
    "text and numbers": ["a" if one else 3 for one in Y],
    "truths and numbers": [True if one else 7 for one in Y],
    "a series": pd.Series(RACE, name="race", index=np.arange(ROWS) + 5),
    "a series without a name": pd.Series(RACE),
    "categories": pd.Series(pd.Categorical(RACE, categories=["z", "unused", "y", "x"]), name="race"),
    "arrow": pd.Series(RACE, dtype="string[pyarrow]", name="race"),
    "small numbers": pd.Series(AGE.astype(np.int8), name="age"),
    "dates": pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(AGE, "D"), name="day"),
    "a frame": pd.DataFrame({"race": RACE, "age": AGE}),
    "a frame of one": pd.DataFrame({"race": RACE}),
    "a dictionary": {"race": RACE.tolist(), "age": AGE},
    "a dictionary of series": {"race": pd.Series(RACE), "age": pd.Series(AGE)},
    "a column": RACE.reshape(-1, 1),
    "a row": RACE.reshape(1, -1),
    "two columns": np.stack([RACE, CITY], axis=1),
    "two columns of objects": np.array([RACE, AGE], dtype=object).T,
    "everybody alone": np.arange(ROWS).astype(str),
    "one group": ["all"] * ROWS,
    "markup": np.where(Y == 1, "<b>[/red]", "=cmd()"),
    "a tuple": tuple(RACE.tolist()),
    "polars": pl.Series("race", RACE),
    "a frame of polars": pl.DataFrame({"race": RACE, "age": AGE}),
    "an array of arrow": pa.array(RACE),
    "times of numpy": np.array(AGE, dtype="datetime64[D]"),
    "intervals": pd.Series(pd.cut(AGE, [0, 1, 2, 3]), name="age"),
    "numbers past 64 bits": [2**70 if one else 5 for one in Y],
    "infinity and two zeros": np.array([np.inf, -0.0, 0.0])[AGE - 1],
    "empty text": np.where(Y == 1, "", "q"),
    # what is refused
    "a series with a number for a name": pd.Series(RACE, name=3),
    "a frame with numbers for names": pd.DataFrame(np.stack([RACE, CITY], axis=1)),
    "two names alike": pd.DataFrame(np.stack([RACE, CITY], axis=1), columns=["a", "a"]),
    "a list of lists": [RACE.tolist(), CITY.tolist()],
    "a list of series": [pd.Series(RACE), pd.Series(CITY)],
    "a dictionary of columns": {"race": RACE.reshape(-1, 1)},
    "a dictionary with a number for a name": {3: RACE},
    "nothing at all": "race",
    "three dimensions": np.zeros((ROWS, 2, 2)),
    "too short": RACE[:-1],
    "a list too short": RACE[:-1].tolist(),
    "a series too short": pd.Series(RACE[:-1]),
    "a frame too short": pd.DataFrame({"a": RACE[:-1]}),
    "None among them": [None, *RACE.tolist()[1:]],
    "NaN among them": [float("nan"), *AGE.tolist()[1:]],
    "NaN in an array": np.where(Y == 1, np.nan, 2.0),
    "NaN in a series": pd.Series(np.where(Y == 1, np.nan, 2.0), name="n"),
    "NA in a series": pd.Series([pd.NA, *AGE.tolist()[1:]], dtype="Int64"),
    "no date": pd.Series([pd.NaT] * ROWS, name="day"),
}


@pytest.mark.parametrize("role", ["sensitive_features", "control_features"])
@pytest.mark.parametrize("kind", KINDS)
def test_features_of_any_kind(kind, role):
    arguments = {"sensitive_features": CITY, role: KINDS[kind]}
    for metrics in (skm.recall_score, {"a": skm.accuracy_score, "n": length}):
        same_frames(metrics, y_true=Y, y_pred=P, **arguments)


def test_one_name_for_a_sensitive_and_a_control_feature():
    same_frames(length, y_true=Y, y_pred=P, sensitive_features={"a": RACE}, control_features={"a": CITY})


def test_a_feature_may_be_called_like_a_column():
    """fairlearn would take the feature for the labels; here it is a feature."""
    frame = ours.MetricFrame(metrics=skm.accuracy_score, y_true=Y, y_pred=P, sensitive_features={"y_true": RACE})
    expected = theirs.MetricFrame(metrics=skm.accuracy_score, y_true=Y, y_pred=P, sensitive_features={"race": RACE})
    assert frame.by_group.tolist() == expected.by_group.tolist()


def test_no_rows():
    with pytest.raises(ValueError, match="hold no rows"):
        ours.MetricFrame(metrics=length, y_true=[], y_pred=[], sensitive_features=[])


def test_a_frame_can_be_pickled_and_copied():
    drawn = {"n_boot": 3, "ci_quantiles": np.array([0.2, 0.8]), "random_state": 1}
    frame = ours.MetricFrame(metrics=COUNTED, y_true=Y, y_pred=P, sensitive_features=RACE, **drawn)
    for other in (pickle.loads(pickle.dumps(frame)), copy.deepcopy(frame)):
        same(frame.by_group, other.by_group)
        same(frame.ratio_ci(), other.ratio_ci())


def test_one_row():
    for features in (["a"], pd.Series(["a"]), {"a": ["a"], "b": ["b"]}):
        same_frames(skm.balanced_accuracy_score, y_true=[1], y_pred=[1], sensitive_features=features)
    # fairlearn cannot read an array of one value
    one = ours.MetricFrame(metrics=skm.accuracy_score, y_true=[1], y_pred=[1], sensitive_features=np.array(["a"]))
    assert one.by_group["a"] == 1


# --- errors

REFUSED = {
    "None": {"metrics": None},
    "text": {"metrics": "accuracy"},
    "None among metrics": {"metrics": {"a": None}},
    "text among metrics": {"metrics": {"a": "accuracy"}},
    "parameters in a list": {"metrics": length, "sample_params": [1]},
    "parameters of a metric in a list": {"metrics": {"a": length}, "sample_params": {"a": [1]}},
    "parameters of nobody": {"metrics": {"a": length}, "sample_params": {"b": {}}},
    "a parameter too short": {"metrics": length, "sample_params": {"cost": [1, 2]}},
    "a parameter of two columns": {"metrics": length, "sample_params": {"cost": np.zeros((ROWS, 2))}},
    "an unknown parameter": {"metrics": length, "sample_params": {"cost": Y}},
    "an unknown parameter of a counted metric": {"metrics": theirs.count, "sample_params": {"sample_weight": Y}},
    "labels too short": {"metrics": length, "y_true": Y[:-1]},
    "predictions too short": {"metrics": length, "y_pred": P[:-1]},
    "an error of the metric": {"metrics": lambda y_true, y_pred: 1 / 0},
    "n_boot alone": {"metrics": length, "n_boot": 10},
    "ci_quantiles alone": {"metrics": length, "ci_quantiles": [0.5]},
    "no quantiles": {"metrics": length, "n_boot": 10, "ci_quantiles": []},
    "half a draw": {"metrics": length, "n_boot": 0.5, "ci_quantiles": [0.5]},
    "no draw": {"metrics": length, "n_boot": 0, "ci_quantiles": [0.5]},
    "a quantile in words": {"metrics": length, "n_boot": 10, "ci_quantiles": ["a"]},
    "a whole quantile": {"metrics": length, "n_boot": 10, "ci_quantiles": [1]},
    "a quantile of 0": {"metrics": length, "n_boot": 10, "ci_quantiles": [0.0]},
    "a quantile of 1": {"metrics": length, "n_boot": 10, "ci_quantiles": [0.5, 1.0]},
    "a state in words": {"metrics": length, "n_boot": 10, "ci_quantiles": [0.5], "random_state": "abc"},
    "a state of another kind": {
        "metrics": length,
        "n_boot": 2,
        "ci_quantiles": [0.5],
        "random_state": np.random.default_rng(),
    },
    "a matrix to draw": {"metrics": skm.confusion_matrix, "n_boot": 3, "ci_quantiles": [0.5], "random_state": 1},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_fairlearn_refuses_is_refused_in_its_words(name):
    arguments = {"y_true": Y, "y_pred": P, "sensitive_features": RACE, **REFUSED[name]}
    one, other = (outcome(lambda frame=frame: frame(**arguments)) for frame in (theirs.MetricFrame, ours.MetricFrame))
    assert isinstance(one, Exception)
    if name == "a state of another kind":
        one, other = (type(error)(str(error).split(":")[0]) for error in (one, other))
    same(one, other)


def test_the_cause_of_what_cannot_be_drawn_is_numpys():
    for frame in (theirs.MetricFrame, ours.MetricFrame):
        with pytest.raises(ValueError, match="non-scalar") as caught:
            frame(**{"y_true": Y, "y_pred": P, "sensitive_features": RACE, **REFUSED["a matrix to draw"]})
        assert str(caught.value.__cause__).startswith("The truth value of an array with more than one element")


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError):
        ours.MetricFrame(length, Y, P, sensitive_features=RACE)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("group_min", {"errors": "WRONG"}),
        ("group_max", {"errors": "WRONG"}),
        ("difference", {"errors": "WRONG"}),
        ("ratio", {"errors": "WRONG"}),
        ("difference", {"method": "some_string"}),
        ("ratio", {"method": "some_string"}),
        ("difference", {"method": "WRONG", "errors": "WRONG"}),
        ("difference_ci", {}),
        ("ratio_ci", {}),
        ("difference_ci", {"method": "some_string"}),
        ("ratio_ci", {"method": "some_string"}),
        ("group_min_ci", {}),
        ("group_max_ci", {}),
    ],
)
def test_what_a_method_refuses(method, arguments):
    asked = {"metrics": length, "y_true": Y, "y_pred": P, "sensitive_features": RACE}
    one, other = (
        outcome(lambda frame=frame: getattr(frame(**asked), method)(**arguments))
        for frame in (theirs.MetricFrame, ours.MetricFrame)
    )
    assert isinstance(one, ValueError)
    same(one, other)


@pytest.mark.parametrize("name", ["overall_ci", "by_group_ci"])
def test_no_intervals_without_draws(name):
    asked = {"metrics": length, "y_true": Y, "y_pred": P, "sensitive_features": RACE}
    one, other = (
        outcome(lambda frame=frame: getattr(frame(**asked), name)) for frame in (theirs.MetricFrame, ours.MetricFrame)
    )
    assert isinstance(one, ValueError)
    same(one, other)


# --- bootstrap


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize(
    "metrics", ["one", "a count", "a function of one's own", "all that is counted", "counted and called"]
)
def test_the_bootstrap_draws_what_fairlearn_draws(metrics, features):
    drawn = {"n_boot": 4, "ci_quantiles": [0.1, 0.5, 0.9], "random_state": 5}
    same_frames(METRICS[metrics], y_true=Y, y_pred=P, **FEATURES[features], **drawn)


def test_the_bootstrap_takes_a_random_state_and_weights():
    for state in (np.int64(4), True, 2**40):
        same_frames(
            WEIGHABLE,
            y_true=Y,
            y_pred=P,
            sensitive_features=RACE,
            sample_params={name: {"sample_weight": WEIGHTS["fractions"]} for name in WEIGHABLE},
            n_boot=4,
            ci_quantiles=[0.25, 0.5],
            random_state=state,
        )
    asked = {
        "metrics": length,
        "y_true": Y,
        "y_pred": P,
        "sensitive_features": RACE,
        "n_boot": 4,
        "ci_quantiles": [0.3],
    }
    ends = [
        frame(**asked, random_state=np.random.RandomState(8)).by_group_ci
        for frame in (theirs.MetricFrame, ours.MetricFrame)
    ]
    same(*ends)
    assert len(ours.MetricFrame(**asked).overall_ci) == 1


@pytest.mark.parametrize("rows", [3, 8])
def test_the_bootstrap_of_groups_that_are_not_always_drawn(rows):
    part = {"y_true": Y[:rows], "y_pred": P[:rows], "n_boot": 5, "ci_quantiles": [0.2, 0.8], "random_state": 2}
    alone = np.arange(rows) % 5
    for features in ({"sensitive_features": alone}, {"sensitive_features": {"a": alone, "b": RACE[:rows]}}):
        same_frames(METRICS["counted and called"], **part, **features)
        same_frames(theirs.selection_rate, **part, **features, control_features=CITY[:rows])


# --- what is ours


def test_a_list_of_metrics_is_a_dictionary_by_their_names():
    arguments = {"y_true": Y, "y_pred": P, "sensitive_features": RACE}
    listed = ours.MetricFrame(metrics=[skm.accuracy_score, length], **arguments)
    named = theirs.MetricFrame(metrics={"accuracy_score": skm.accuracy_score, "length": length}, **arguments)
    same(named.by_group, listed.by_group)
    with pytest.raises(ValueError, match="two functions of one name"):
        ours.MetricFrame(metrics=[length, length], **arguments)
    with pytest.raises(ValueError, match="not callable"):
        ours.MetricFrame(metrics=["accuracy"], **arguments)


def test_a_metric_without_a_name_is_warned_of_where_it_is_called():
    with pytest.warns(UserWarning, match="Supplied 'func' had no __name__ attribute") as caught:
        frame = ours.MetricFrame(metrics=METRICS["without a name"], y_true=Y, y_pred=P, sensitive_features=RACE)
    assert frame.by_group.name == "metric"
    assert [warning.filename for warning in caught] == [__file__]


def test_zero_by_zero_is_zero_with_one_warning_at_the_line_of_the_caller():
    y_true, y_pred, groups = [1, 0, 0, 0], [1, 0, 0, 0], ["a", "a", "b", "c"]
    metrics = {"tpr": ours.true_positive_rate, "precision": skm.precision_score, "accuracy": skm.accuracy_score}
    with pytest.warns(ours.UndefinedRateWarning) as caught:
        frame = ours.MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=groups)
    assert frame.by_group.loc["b"].tolist() == [0, 0, 1]
    (warning,) = caught
    assert str(warning.message) == "0/0 is shown as 0, as fairlearn does: tpr of b, c; precision of b, c."
    assert warning.filename == __file__
    with pytest.warns(ours.UndefinedRateWarning) as caught:
        ours.equalized_odds_difference(y_true, y_pred, sensitive_features=groups)
    assert [warning.filename for warning in caught] == [__file__]


def test_what_is_defined_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = ours.MetricFrame(
            metrics={"tpr": ours.true_positive_rate},
            y_true=Y,
            y_pred=P,
            sensitive_features=RACE,
            n_boot=20,
            ci_quantiles=[0.5],
        )
        frame.ratio(method="to_overall")
        frame.ratio_ci(method="to_overall")


def test_what_is_handed_out_is_the_callers():
    """A metric may change its arrays, and a caller may change a result."""

    def vandal(y_true, y_pred, cost):
        for column in (y_true, y_pred, cost):
            column[:] = 0
        return len(cost)

    cost = np.ones(ROWS)
    frame = ours.MetricFrame(
        metrics={"v": vandal, "a": lambda y_true, y_pred: y_true.mean(), "count": ours.count},
        y_true=Y,
        y_pred=P,
        sensitive_features=RACE,
        sample_params={"v": {"cost": cost}},
    )
    assert cost.all()
    assert frame.overall["a"] == Y.mean()
    frame.by_group["count"] = 0
    assert frame.group_min()["count"] > 0
    assert frame.by_group is frame.by_group


# --- anything

GROUPS = st.sampled_from(["a", "b", "c"])
# Weights that add up exactly: else 1 less an accuracy of 1 is rounding noise, and a ratio of noise is anything.
WEIGHT = st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0])
ROW = st.tuples(st.integers(0, 1), st.integers(0, 1), GROUPS, GROUPS, WEIGHT)


@examples(60)
@given(rows=st.lists(ROW, min_size=1, max_size=12), strata=st.booleans(), weighted=st.booleans(), minus=st.booleans())
def test_any_small_table(rows, strata, weighted, minus):
    y_true, y_pred, group, stratum, weight = map(np.array, zip(*rows, strict=True))
    if minus:
        y_true, y_pred = 2 * y_true - 1, 2 * y_pred - 1
    same_frames(
        {**(WEIGHABLE if weighted else COUNTED), "called": length},
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=group.tolist(),
        control_features=stratum.tolist() if strata else None,
        sample_params={name: {"sample_weight": weight} for name in WEIGHABLE} if weighted else None,
    )


@examples(25)
@given(
    rows=st.lists(ROW, min_size=1, max_size=8),
    strata=st.booleans(),
    draws=st.integers(1, 5),
    seed=st.integers(0, 2**32),
    quantile=st.floats(0.01, 0.99),
)
def test_any_bootstrap(rows, strata, draws, seed, quantile):
    y_true, y_pred, group, stratum, _ = map(np.array, zip(*rows, strict=True))
    same_frames(
        {"rate": theirs.true_positive_rate, "error": skm.mean_squared_error, "called": length},
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=group.tolist(),
        control_features=stratum.tolist() if strata else None,
        n_boot=draws,
        ci_quantiles=[quantile, 0.5],
        random_state=seed,
    )


@examples(100)
@given(
    values=st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), GROUPS, st.floats(0.1, 9)), min_size=1, max_size=15
    )
)
def test_any_numbers(values):
    y_true, y_pred, group, weight = map(np.array, zip(*values, strict=True))
    metrics = {
        name: getattr(skm, name) for name in ("mean_squared_error", "mean_absolute_error", "root_mean_squared_error")
    }
    metrics |= {"mean": theirs.mean_prediction, "selected": theirs.selection_rate}
    params = {name: {"sample_weight": weight} for name in metrics}
    arguments = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": group.tolist()}
    for weights in (None, params):
        frames = [
            frame(metrics=metrics, sample_params=weights, **arguments).by_group
            for frame in (theirs.MetricFrame, ours.MetricFrame)
        ]
        pd.testing.assert_frame_equal(*frames, rtol=1e-12, atol=1e-9)
