"""eh.scorer: metrics in cross_validate and GridSearchCV, with metadata routing on and off."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import evenhand as eh
from evenhand.mitigate import GroupThresholds


def people(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    chance = np.random.default_rng(0)
    group = chance.choice(["a", "b"], n)
    x = chance.normal(group == "b", 1)
    frame = pd.DataFrame({"x": x, "z": chance.normal(size=n), "group": pd.Categorical(group)})
    return frame, (x + chance.normal(0, 1, n) > 0.5).astype(int)


class Picky(LogisticRegression):
    """Sees the numbers alone, whatever table it is given."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(np.asarray(X[["x", "z"]]), y, sample_weight)

    def predict(self, X):
        return super().predict(np.asarray(X[["x", "z"]]))

    def predict_proba(self, X):
        return super().predict_proba(np.asarray(X[["x", "z"]]))

    def decision_function(self, X):
        return super().decision_function(np.asarray(X[["x", "z"]]) if hasattr(X, "columns") else X)


@pytest.fixture(scope="module")
def fitted():
    X, y = people()
    return Picky().fit(X, y), X, y


@pytest.mark.parametrize(
    ("metric", "given"),
    [
        ("demographic_parity", "prediction"),
        ("equalized_odds", "prediction"),
        ("theil_index", "prediction"),
        ("auc_parity", "score"),
        ("calibration_error_parity", "score"),
    ],
)
def test_a_gap_is_negated(fitted, metric, given):
    model, X, y = fitted
    said = model.predict(X) if given == "prediction" else model.predict_proba(X)[:, 1]
    found = getattr(eh, metric)(label=y, **{given: said}, sensitive=X["group"])
    assert eh.scorer(metric, sensitive="group")(model, X, y) == pytest.approx(-float(found.value))


def test_a_ratio_is_left(fitted):
    model, X, y = fitted
    found = eh.disparate_impact(prediction=model.predict(X), sensitive=X["group"])
    assert eh.scorer("four_fifths", sensitive="group")(model, X, y) == float(found.value)


def test_a_ratio_above_a_reference_is_turned(fitted):
    model, X, y = fitted
    one, other = (eh.scorer("disparate_impact", sensitive="group", reference=name) for name in "ab")
    assert one(model, X, y) == pytest.approx(other(model, X, y))
    assert one(model, X, y) < 1


def test_scores_and_a_cutoff(fitted):
    model, X, y = fitted
    scorer = eh.scorer("demographic_parity", sensitive="group", response_method="predict_proba", cutoff=0.3)
    found = eh.demographic_parity(prediction=model.predict_proba(X)[:, 1] >= 0.3, sensitive=X["group"])
    assert scorer(model, X, y) == pytest.approx(-float(found.value))


def test_classes_with_names(fitted):
    _, X, y = fitted
    named = np.where(y == 1, "yes", "no")
    model = Picky().fit(X, named)
    for metric in ("equal_opportunity", "auc_parity"):
        assert eh.scorer(metric, sensitive="group", positive="yes")(model, X, named) == pytest.approx(
            eh.scorer(metric, sensitive="group")(fitted[0], X, y)
        )
    with pytest.raises(eh.DataError, match="positive=1 is not a class of the estimator"):
        eh.scorer("auc_parity", sensitive="group")(model, X, named)


def test_weights_and_polars(fitted):
    model, X, y = fitted
    weight = np.arange(1.0, len(y) + 1)
    found = eh.demographic_parity(prediction=model.predict(X), sensitive=X["group"], weight=weight)
    scorer = eh.scorer("demographic_parity", sensitive="group")
    assert scorer(model, X, y, sample_weight=weight) == pytest.approx(-float(found.value))
    assert scorer(model, pl.from_pandas(X), y) == pytest.approx(scorer(model, X, y))


def test_in_cross_validation_with_others(fitted):
    model, X, y = fitted
    gaps = {"parity": eh.scorer("demographic_parity", sensitive="group"), "accuracy": "accuracy"}
    found = cross_validate(model, X, y, scoring=gaps, cv=3)
    assert (found["test_parity"] < 0).all()
    searched = GridSearchCV(model, {"C": [1e-4, 1.0]}, scoring=gaps["parity"], cv=3).fit(X, y)
    assert searched.best_score_ <= 0


def test_groups_beside_x_with_metadata_routing(fitted):
    model, X, y = fitted
    with sklearn.config_context(enable_metadata_routing=True):
        beside = eh.scorer("demographic_parity").set_score_request(sensitive=True)
        found = cross_val_score(model, X, y, scoring=beside, params={"sensitive": np.asarray(X["group"])}, cv=3)
        again = clone(beside)
        assert again.get_metadata_routing().score.requests["sensitive"] is True
    inside = cross_val_score(model, X, y, scoring=eh.scorer("demographic_parity", sensitive="group"), cv=3)
    assert found == pytest.approx(inside)


def test_columns_of_an_array():
    X, y = people()
    array = np.column_stack([X["x"], X["group"] == "b"])
    model = LogisticRegression().fit(array, y)
    assert eh.scorer("demographic_parity", sensitive="x1")(model, array, y) < 0


def test_several_attributes_make_intersections(fitted):
    model, X, y = fitted
    X = X.assign(old=X["z"] > 0)
    found = eh.scorer("demographic_parity", sensitive=["group", "old"]).finding(model, X, y)
    assert len(found.groups) == 4


def test_a_metric_of_your_own(fitted):
    model, X, y = fitted
    flagged = eh.metric("flagged", measures=eh.measure("flagged_share", numerator="FP", denominator="TN FP FN TP"))
    assert eh.scorer(flagged, sensitive="group")(model, X, y) < 0


def test_undefined_is_nan_with_a_warning(fitted):
    _, X, y = fitted
    nobody = DummyClassifier(strategy="constant", constant=0).fit(X, y)
    with pytest.warns(UndefinedMetricWarning, match="disparate_impact is undefined here"):
        assert np.isnan(eh.scorer("disparate_impact", sensitive="group")(nobody, X, y))


def test_it_can_be_sent_to_other_processes():
    scorer = pickle.loads(pickle.dumps(eh.scorer("demographic_parity", sensitive="group", threshold=0.2)))
    assert (scorer.sensitive, scorer.arguments) == ("group", {"threshold": 0.2})


ERRORS = {
    "no metric": (lambda: eh.scorer("demografic_parity"), "did you mean 'demographic_parity'"),
    "no function": (lambda: eh.scorer(max), "pass a name, or what eh.metric(...) returns"),
    "of individuals": (lambda: eh.scorer("consistency"), "is not a metric of predictions or scores"),
    "a role": (lambda: eh.scorer("demographic_parity", label="y"), "takes label= from the estimator"),
    "an argument": (lambda: eh.scorer("demographic_parity", treshold=1), "did you mean 'threshold'"),
    "a method": (lambda: eh.scorer("demographic_parity", response_method="guess"), "must be one of 'predict'"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_is_wrong_is_said_at_once(name):
    call, words = ERRORS[name]
    with pytest.raises(eh.CallError) as told:
        call()
    assert words in str(told.value)


def test_groups_have_to_be_given(fitted):
    model, X, y = fitted
    with pytest.raises(eh.CallError, match="the scorer has no sensitive="):
        eh.scorer("demographic_parity")(model, X, y)
    with pytest.raises(eh.CallError, match="'grup' is not a column of X; did you mean 'group'"):
        eh.scorer("demographic_parity", sensitive="grup")(model, X, y)


# --- estimators that need each row's group to predict


def cut_by_group(**arguments):
    return GroupThresholds(LogisticRegression(), constraint="demographic_parity", within=0.02, cv=2, **arguments)


def test_an_estimator_that_needs_groups_to_predict_gets_those_of_the_scorer():
    X, y = people()
    features = X[["x", "z"]]
    gap = eh.scorer("demographic_parity", sensitive="group")
    # The groups are a column of X, but the estimator does not name it.
    seen = X.assign(group=(X["group"] == "a").astype(int))
    model = cut_by_group().fit(seen, y, sensitive=seen["group"])
    expected = eh.demographic_parity(prediction=model.predict(seen, sensitive=seen["group"]), sensitive=seen["group"])
    assert gap(model, seen, y) == pytest.approx(-float(expected.value))
    with sklearn.config_context(enable_metadata_routing=True):
        beside = eh.scorer("demographic_parity").set_score_request(sensitive=True)
        estimator = cut_by_group().set_fit_request(sensitive=True)
        scores = cross_validate(estimator, features, y, scoring=beside, params={"sensitive": X["group"]}, cv=3)
    assert np.isfinite(scores["test_score"]).all()


def test_a_pipeline_hands_groups_on_to_who_requests_them():
    X, y = people()
    features = X[["x", "z"]]
    with sklearn.config_context(enable_metadata_routing=True):
        beside = eh.scorer("demographic_parity").set_score_request(sensitive=True)
        inside = cut_by_group().set_fit_request(sensitive=True).set_predict_request(sensitive=True)
        pipeline = make_pipeline(StandardScaler(), inside)
        found = cross_validate(
            pipeline, features, y, scoring=beside, params={"sensitive": X["group"]}, cv=3, error_score="raise"
        )
        deaf = make_pipeline(StandardScaler(), LogisticRegression()).fit(features, y)
        assert np.isfinite(beside(deaf, features, y, sensitive=X["group"]))
    assert np.isfinite(found["test_score"]).all()


def test_an_estimator_keeps_to_the_columns_that_it_names():
    """The gap between regions of a model that cuts by group: the regions are not passed to it."""
    X, y = people()
    seen = X.assign(group=(X["group"] == "a").astype(int), region=np.arange(len(X)) % 3)
    model = cut_by_group(sensitive="group").fit(seen, y)
    expected = eh.demographic_parity(prediction=model.predict(seen), sensitive=seen["region"])
    assert eh.scorer("demographic_parity", sensitive="region")(model, seen, y) == pytest.approx(-float(expected.value))


def test_an_estimator_of_fairlearn_gets_groups_by_its_own_name():
    X, y = people()
    features = X[["x", "z"]]
    model = ThresholdOptimizer(
        estimator=LogisticRegression(), constraints="demographic_parity", predict_method="predict_proba"
    ).fit(features, y, sensitive_features=X["group"])
    gap = eh.scorer("demographic_parity")
    score = gap(model, features, y, sensitive=X["group"])
    assert score == gap(model, features, y, sensitive=X["group"])  # drawn by lot, with a fixed seed
    chosen = model.predict(features, sensitive_features=X["group"], random_state=0)
    assert score == pytest.approx(-float(eh.demographic_parity(prediction=chosen, sensitive=X["group"]).value))


def test_a_model_fitted_without_groups_is_measured_by_groups():
    X, y = people()
    features = X[["x", "z"]]
    with pytest.warns(UserWarning, match="everyone is one group"):
        model = cut_by_group().fit(features, y)
    assert eh.scorer("demographic_parity")(model, features, y, sensitive=X["group"]) <= 0
