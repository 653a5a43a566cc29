"""Functions of rows give the numbers of fairlearn's MetricFrame: by group, overall and as gaps, for scikit-learn's
functions and for others."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

import evenhand as eh

RANDOM = np.random.default_rng(11)
N = 400
GROUP = RANDOM.choice(["a", "b", "c", "d"], N)
STRATA = RANDOM.choice(["x", "y"], N)
LABEL = RANDOM.integers(0, 2, N)
DECISION = np.where(RANDOM.random(N) < 0.7, LABEL, 1 - LABEL)
SCORE = np.clip(0.3 * LABEL + 0.7 * RANDOM.random(N), 0.01, 0.99)
NUMBER = RANDOM.gamma(3, 2, N)
GUESS = NUMBER + RANDOM.normal(0, 0.3, N).clip(-0.5, 0.5) + 1
CLASS = RANDOM.choice(["x", "y", "z"], N)
NAMED = np.where(RANDOM.random(N) < 0.6, CLASS, RANDOM.choice(["x", "y", "z"], N))
WEIGHT = RANDOM.random(N) * 3

CASES = {
    "accuracy_score": (theirs.accuracy_score, "binary"),
    "f1_score": (theirs.f1_score, "binary"),
    "precision_score": (theirs.precision_score, "binary"),
    "recall_score": (theirs.recall_score, "binary"),
    "jaccard_score": (theirs.jaccard_score, "binary"),
    "matthews_corrcoef": (theirs.matthews_corrcoef, "binary"),
    "cohen_kappa_score": (theirs.cohen_kappa_score, "binary"),
    "zero_one_loss": (theirs.zero_one_loss, "binary"),
    "roc_auc_score": (theirs.roc_auc_score, "score"),
    "average_precision_score": (theirs.average_precision_score, "score"),
    "log_loss": (theirs.log_loss, "score"),
    "brier_score_loss": (theirs.brier_score_loss, "score"),
    "mean_absolute_error": (theirs.mean_absolute_error, "regression"),
    "root_mean_squared_error": (theirs.root_mean_squared_error, "regression"),
    "r2_score": (theirs.r2_score, "regression"),
    "max_error": (theirs.max_error, "regression"),
    "balanced_accuracy_score": (theirs.balanced_accuracy_score, "multiclass"),
    "macro_f1": (partial(theirs.f1_score, average="macro"), "multiclass"),
}
ROLES = {
    "binary": (LABEL, {"prediction": DECISION}),
    "score": (LABEL, {"score": SCORE}),
    "regression": (NUMBER, {"prediction": GUESS}),
    "multiclass": (CLASS, {"prediction": NAMED, "task": "multiclass"}),
}


def frame(function, label, guess, **arguments):
    if isinstance(function, partial):
        function.__name__ = "partial"  # without a name fairlearn warns
    return MetricFrame(metrics=function, y_true=label, y_pred=guess, sensitive_features=GROUP, **arguments)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_by_group_are_those_of_a_metric_frame(name, weighted):
    function, kind = CASES[name]
    label, roles = ROLES[kind]
    if weighted and name == "max_error":
        pytest.skip("takes no weights")
    guess = next(iter(roles.values()))
    params = {"sample_params": {"sample_weight": WEIGHT}} if weighted else {}
    expected = frame(function, label, guess, **params)
    own = eh.metric("own", measures=function)
    weight = {"weight": WEIGHT} if weighted else {}
    found = own(label=label, **roles, **weight, sensitive=GROUP, draws=0)
    values = {row.group[0]: row.estimate.value for row in found.groups}
    assert values == pytest.approx(expected.by_group.to_dict())
    assert found.value.value == pytest.approx(expected.difference())
    everyone = own(
        label=label, **roles, **weight, sensitive=GROUP, reference="overall", convention="fairlearn", draws=0
    )
    assert everyone.value.value == pytest.approx(expected.difference(method="to_overall"))


@pytest.mark.parametrize("name", ["f1_score", "roc_auc_score", "mean_absolute_error", "macro_f1"])
def test_values_within_strata_are_those_of_control_features(name):
    function, kind = CASES[name]
    label, roles = ROLES[kind]
    expected = frame(function, label, next(iter(roles.values())), control_features=STRATA)
    found = eh.metric("own", measures=function)(label=label, **roles, sensitive=GROUP, control=STRATA, draws=0)
    values = {(*row.stratum, *row.group): row.estimate.value for row in found.groups}
    assert values == pytest.approx(expected.by_group.to_dict())
    assert found.value.value == pytest.approx(expected.difference().max())


def test_a_matrix_by_group():
    function = partial(theirs.confusion_matrix, labels=[0, 1], normalize="true")
    expected = frame(function, LABEL, DECISION).by_group
    found = eh.metric("own", measures=function)(label=LABEL, prediction=DECISION, sensitive=GROUP, draws=0)
    for row in found.groups:
        i, j = map(int, row.measure.partition("[")[2].rstrip("]").split(", "))
        assert row.estimate.value == pytest.approx(expected[row.group[0]][i, j])


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_rows(data):
    """Whatever the rows are, a mean and an extra column have the values of a MetricFrame, also in groups of one."""
    n = data.draw(st.integers(2, 30))
    group = [data.draw(st.sampled_from("ab")) for _ in range(n - 2)] + ["a", "b"]
    label = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    decision = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    amount = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)))

    def gain(y_true, y_pred, amount):
        return float(np.sum(np.where(np.asarray(y_true) == np.asarray(y_pred), amount, -np.asarray(amount))))

    expected = MetricFrame(
        metrics=gain, y_true=label, y_pred=decision, sensitive_features=group, sample_params={"amount": amount}
    )
    found = eh.metric("own", measures=gain, columns={"amount": amount})(
        label=label, prediction=decision, sensitive=group, draws=0
    )
    values = {row.group[0]: row.estimate.value for row in found.groups}
    assert values == pytest.approx(expected.by_group.to_dict(), abs=1e-6)
