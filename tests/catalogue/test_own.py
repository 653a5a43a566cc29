"""Metrics by function and scikit-learn's by name: found wherever a metric may be named."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest
import sklearn.metrics
from sklearn.metrics import f1_score, fbeta_score, mean_absolute_error

import evenhand as eh
from evenhand.catalogue import find
from evenhand.catalogue.own import find_sklearn, metric_of

RANDOM = np.random.default_rng(0)
LABEL = RANDOM.integers(0, 2, 300)
DATA = {
    "label": LABEL,
    "prediction": np.where(RANDOM.random(300) < 0.8, LABEL, 1 - LABEL),
    "sensitive": RANDOM.choice(["a", "b"], 300),
}


@pytest.mark.parametrize("metric", ["f1_score", "sklearn.f1_score", "sklearn.metrics.f1_score", f1_score])
def test_a_function_of_scikit_learn_by_name_or_object(metric):
    found = eh.audit(**DATA, metrics=[metric], draws=100).findings[0]
    expected = eh.f1_parity(**DATA) if hasattr(eh, "f1_parity") else None
    assert (found.metric, found.threshold) == ("f1_score", 0.1)
    for row in found.groups:
        chosen = DATA["sensitive"] == row.group[0]
        assert row.estimate.value == pytest.approx(f1_score(LABEL[chosen], DATA["prediction"][chosen]))
    assert expected is None or found.value.value == pytest.approx(expected.value.value)


def test_one_function_needs_no_list():
    assert eh.audit(**DATA, metrics=f1_score, draws=0).findings[0].metric == "f1_score"


def test_a_function_by_itself_is_shown_and_not_judged():
    def agreement(label, prediction):
        return np.mean(label == prediction)

    found = eh.audit(**DATA, metrics=[agreement], draws=100)
    assert (found.verdict, found.findings[0].verdict, found.findings[0].unit) == ("not judged", "not judged", "ratio")
    assert found.findings[0].value.low is not None
    assert any("agreement has no threshold, so it is shown and not judged" in note for note in found.findings[0].notes)
    judged = eh.audit(**DATA, metrics=[eh.metric("agreement_parity", measures=agreement, threshold=0.5)], draws=100)
    assert judged.verdict == "pass"


def test_units_and_limits_are_those_of_the_table():
    assert metric_of(mean_absolute_error).threshold is None
    assert metric_of(mean_absolute_error).rows[0].unit == "ratio"
    assert find("matthews_corrcoef")[0].threshold is None
    assert find_sklearn("f1_score") is find_sklearn("f1_score")
    assert find_sklearn("no_such_score") is None


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("sklearn.f1_scor", "'sklearn.f1_scor' is not a metric function of scikit-learn; did you mean 'f1_score'"),
        ("f1_scores", "'f1_scores' is not a metric; did you mean .*'f1_score'"),
        (lambda y, p: 0, "'<lambda>' is not a name for a metric: give the function one, as in evenhand.metric"),
        (7, "given by its name, as a Metric or as a function, not as 7"),
        ([f1_score, partial(f1_score, average="macro")], "two metrics are called 'f1_score': give one of them another"),
        (partial(fbeta_score), "takes 'beta', which is neither a role .* set it by functools.partial"),
    ],
)
def test_what_is_not_a_metric_says_what_to_do(metric, said):
    with pytest.raises(eh.CallError, match=said):
        eh.audit(**DATA, metrics=metric if isinstance(metric, list) else [metric])


def test_a_function_named_like_a_metric_of_ours():
    def equalized_odds(label, prediction):
        return 0.0

    with pytest.raises(eh.CallError, match="equalized_odds has the name of a metric of the catalogue"):
        eh.audit(**DATA, metrics=[equalized_odds])


def test_without_scikit_learn_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    find_sklearn.cache_clear()
    with pytest.raises(eh.MissingDependencyError, match="pip install scikit-learn"):
        find("f1_score")
    monkeypatch.undo()
    monkeypatch.delattr(sklearn.metrics, "f1_score")
    with pytest.raises(eh.CallError, match="this version of scikit-learn does not have f1_score"):
        find("f1_score")
    find_sklearn.cache_clear()


def test_a_policy_may_name_a_function_of_scikit_learn():
    policy = eh.Policy(required="f1_score", thresholds={"f1_score": 0.5})
    found = eh.audit(**DATA, policy=policy, draws=100)
    deciding = next(each for each in found.findings if found.decides(each))
    assert (deciding.metric, deciding.threshold, found.verdict) == ("f1_score", 0.5, "pass")


def test_settings_of_a_function_are_refused_for_measures():
    with pytest.raises(eh.CallError, match="columns= is for a function of the rows"):
        eh.metric("own", measures="accuracy", columns={"a": "b"})
