"""Reweigher and Reweighed: known weights, independence afterwards, and the ways of scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import evenhand as eh
from evenhand.mitigate import Reweighed, Reweigher
from support import hostile

X10, Y10, SEX10 = np.zeros((10, 1)), list("++++---+-+"), list("MMMMMFFFFF")


def people(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A feature that is higher in one group, and an outcome that follows it."""
    chance = np.random.default_rng(seed)
    group = chance.integers(0, 2, n)
    x = chance.normal(group, 1)
    return pd.DataFrame({"group": group, "x": x}), (x + chance.normal(0, 1, n) > 0.5).astype(int)


# --- the weights


def test_weights_by_name_as_a_table_and_by_row():
    found = Reweigher().fit(X10, Y10, sensitive=SEX10)
    assert found.weights_ == pytest.approx({("F", "+"): 1.5, ("F", "-"): 2 / 3, ("M", "+"): 0.75, ("M", "-"): 2.0})
    assert (found.groups_, found.classes_.tolist()) == ((("F",), ("M",)), ["+", "-"])
    assert found.counts_.tolist() == [[2, 3], [4, 1]]
    assert found.table_ == pytest.approx(np.array([[1.5, 2 / 3], [0.75, 2.0]]))
    by_row = [found.weights_[key] for key in zip(SEX10, Y10, strict=True)]
    assert found.sample_weights().tolist() == by_row
    assert found.sample_weights(["-", "+"], ["M", "F"]).tolist() == pytest.approx([2.0, 1.5])


def test_reversed_discrimination_is_evened_out_too():
    swapped = ["F" if sex == "M" else "M" for sex in SEX10]
    assert Reweigher().fit(X10, Y10, sensitive=swapped).weights_["F", "-"] == pytest.approx(2.0)


def test_intersections_several_classes_and_missing_values():
    y = ["low", "mid", "high", "low", "mid", "high"]
    who = {"sex": ["F", "F", "F", None, None, None], "old": [1, 1, 1, 1, 1, 1]}
    found = Reweigher().fit(np.zeros((6, 1)), y, sensitive=who)
    assert found.weights_[(None, "1"), "high"] == 1.0
    assert found.classes_.tolist() == ["high", "low", "mid"]


def test_weights_of_the_rows_are_counted_and_multiplied():
    """A weight of 2 is the same as two rows."""
    own = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1, 1], dtype=float)
    twice = np.repeat(np.arange(10), own.astype(int))
    weighted = Reweigher().fit(X10, Y10, sensitive=SEX10, sample_weight=own)
    repeated = Reweigher().fit(X10[twice], np.array(Y10)[twice], sensitive=np.array(SEX10)[twice])
    assert weighted.weights_ == pytest.approx(repeated.weights_)
    gap = eh.base_rate_parity(label=Y10, positive="+", sensitive=SEX10, weight=weighted.sample_weights())
    assert float(gap.difference) == pytest.approx(0, abs=1e-12)
    assert weighted.sample_weights().sum() == pytest.approx(own.sum())


def test_an_empty_combination_is_named_and_has_no_weight():
    with pytest.warns(UserWarning, match="nobody is in 'b' with class 1: no weight can correct that"):
        found = Reweigher().fit(np.zeros((4, 1)), [1, 0, 0, 0], sensitive=list("aabb"))
    assert found.empty_ == (("b", 1),)
    assert np.isnan(found.weights_["b", 1])
    assert np.isfinite(found.sample_weights()).all()
    with pytest.raises(eh.DataError, match="nobody is in 'b' with class 1 when fitted"):
        found.sample_weights([1], ["b"])


def test_a_combination_of_rows_that_weigh_nothing_is_empty():
    with pytest.warns(UserWarning, match="nobody is in 'b' with class 1"):
        found = Reweigher().fit(np.zeros((4, 1)), [1, 0, 1, 0], sensitive=list("aabb"), sample_weight=[1, 1, 0, 1])
    assert found.sample_weights().tolist() == pytest.approx([2 / 3, 4 / 3, 0, 2 / 3])


def test_without_an_attribute_nothing_changes_and_that_is_said():
    with pytest.warns(UserWarning, match="has no sensitive="):
        found = Reweigher().fit(X10, Y10)
    assert found.sample_weights().tolist() == [1.0] * 10


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import evenhand.mitigate", "mitigation"),
        ("import evenhand; evenhand.scorer('demographic_parity')", "a scorer"),
    ],
)
def test_without_scikit_learn_the_line_to_type_is_said(code, what):
    absent = f"import sys; sys.modules['sklearn'] = None; {code}"
    done = subprocess.run([sys.executable, "-c", absent], capture_output=True, text=True, check=False)
    assert f"MissingDependencyError: {what} needs scikit-learn" in done.stderr
    assert "pip install 'evenhand[ml]'" in done.stderr


def test_the_package_reaches_it_without_importing_it_first():
    code = "import sys, evenhand; assert 'sklearn' not in sys.modules; evenhand.mitigate.Reweigher()"
    subprocess.run([sys.executable, "-c", code], check=True)


@hostile.every_name
def test_a_hostile_name_is_a_group_and_a_class(name):
    found = Reweigher().fit(np.zeros((4, 1)), [name, "y", name, "y"], sensitive=[name, name, "z", "z"])
    assert found.weights_[name, name] == 1.0


@pytest.mark.parametrize(
    "make",
    [list, np.array, pd.Series, lambda y: pd.Series(y, dtype="category"), pl.Series],
    ids=["list", "array", "pandas", "categorical", "polars"],
)
def test_labels_of_any_kind(make):
    assert Reweigher().fit(X10, make(Y10), sensitive=SEX10).weights_["M", "-"] == 2.0


ERRORS = {
    "fractions": (lambda: Reweigher().fit(X10, np.linspace(0, 0.9, 10), sensitive=SEX10), "y holds fractions"),
    "missing": (lambda: Reweigher().fit(X10, [*Y10[:9], None], sensitive=SEX10), "missing value in 1 row"),
    "unseen class": (
        lambda: Reweigher().fit(X10, Y10, sensitive=SEX10).sample_weights(["?"], ["F"]),
        "y holds '?', which was not there when the model was fitted: it knows '+', '-'",
    ),
    "unseen group": (
        lambda: Reweigher().fit(X10, Y10, sensitive=SEX10).sample_weights(["+"], ["D"]),
        "not there when the model was fitted: 'D'",
    ),
    "half": (
        lambda: Reweigher().fit(X10, Y10, sensitive=SEX10).sample_weights(sensitive=["F"]),
        "needs y= and sensitive=",
    ),
    "weightless": (
        lambda: Reweigher().fit(X10, Y10, sensitive=SEX10, sample_weight=np.zeros(10)),
        "every sample_weight is zero",
    ),
    "no weights": (
        lambda: Reweighed(KNeighborsClassifier(), sensitive="x0").fit(X10, Y10),
        "KNeighborsClassifier does not take sample_weight",
    ),
    "no weights in a pipeline": (
        lambda: Reweighed(make_pipeline(StandardScaler(), KNeighborsClassifier()), sensitive="x0").fit(X10, Y10),
        "KNeighborsClassifier does not take sample_weight",
    ),
    "a class": (lambda: Reweighed(LogisticRegression, sensitive="x0").fit(X10, Y10), "is not a classifier"),
    "nothing to drop": (lambda: Reweighed(LogisticRegression(), drop=True).fit(X10, Y10), "drop=True needs sensitive="),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_is_wrong_is_said_with_its_remedy(name):
    call, words = ERRORS[name]
    with pytest.raises(eh.EvenhandError) as told:
        call()
    assert words in str(told.value)


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from([0, 1, 2]), st.floats(0.1, 10)), min_size=1, max_size=40
)


@given(rows)
@pytest.mark.filterwarnings("ignore:nobody is in")
def test_weighted_classes_are_independent_of_groups(drawn):
    groups, y, own = (list(column) for column in zip(*drawn, strict=True))
    found = Reweigher().fit(np.zeros((len(y), 1)), y, sensitive=groups, sample_weight=own)
    weights = found.sample_weights()
    assert (weights > 0).all()
    if found.empty_:
        return
    assert weights.sum() == pytest.approx(sum(own))
    shares = pd.Series(weights).groupby([groups, y]).sum().unstack(fill_value=0.0)
    shares = shares.div(shares.sum(axis=1), axis=0)
    assert np.ptp(shares.to_numpy(), axis=0) == pytest.approx(0, abs=1e-9)


# --- the classifier


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy", "sparse"])
def test_a_reweighed_classifier_is_one_fitted_with_the_weights(kind):
    import scipy.sparse

    X, y = people()
    named = "x0" if kind in ("numpy", "sparse") else "group"
    X = {
        "pandas": X,
        "polars": pl.from_pandas(X),
        "numpy": X.to_numpy(),
        "sparse": scipy.sparse.csr_matrix(X.to_numpy()),
    }[kind]
    model = Reweighed(LogisticRegression(), sensitive=named).fit(X, y)
    weights = Reweigher(sensitive=named).fit(X, y).sample_weights()
    plain = LogisticRegression().fit(X, y, sample_weight=weights)
    assert model.predict_proba(X) == pytest.approx(plain.predict_proba(X))
    assert model.score(X, y) == plain.score(X, y)
    assert model.classes_.tolist() == [0, 1]
    dropped = Reweighed(LogisticRegression(), sensitive=named, drop=True).fit(X, y)
    assert dropped.estimator_.n_features_in_ == 1
    assert len(dropped.predict(X)) == len(y)


def test_reweighing_lowers_the_gap():
    X, y = people(2000)
    plain = LogisticRegression().fit(X, y).predict(X)
    even = Reweighed(LogisticRegression(), sensitive="group").fit(X, y).predict(X)
    gaps = [float(eh.demographic_parity(X, prediction=said, sensitive="group").difference) for said in (plain, even)]
    assert gaps[1] < 0.5 * gaps[0]


def test_weights_reach_the_end_of_nested_pipelines_and_searches():
    X, y = people()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    searched = GridSearchCV(pipeline, {"logisticregression__C": [1.0]}, cv=2)
    weights = Reweigher(sensitive="group").fit(X, y).sample_weights()
    expected = clone(pipeline).fit(X, y, logisticregression__sample_weight=weights).predict_proba(X)
    assert Reweighed(searched, sensitive="group").fit(X, y).predict_proba(X) == pytest.approx(expected)
    assert Reweighed(pipeline, sensitive="group").fit(X, y).predict_proba(X) == pytest.approx(expected)


def test_what_the_classifier_lacks_is_lacking():
    assert not hasattr(Reweighed(LinearSVC()), "predict_proba")
    assert hasattr(Reweighed(LinearSVC()), "decision_function")


def test_parameters_are_searched_and_cloned():
    X, y = people()
    search = GridSearchCV(
        Reweighed(LogisticRegression(), sensitive="group"), {"estimator__C": [0.1, 1.0], "drop": [True, False]}, cv=2
    ).fit(X, y)
    assert set(search.best_params_) == {"estimator__C", "drop"}
    assert clone(search.best_estimator_).get_params()["sensitive"] == "group"


@pytest.mark.parametrize("routing", [False, True])
def test_groups_beside_x_with_metadata_routing_on_and_off(routing):
    X, y = people()
    with sklearn.config_context(enable_metadata_routing=routing):
        model = Reweighed(make_pipeline(StandardScaler(), LogisticRegression()))
        if routing:
            model.set_fit_request(sensitive=True)
        found = cross_validate(model, X[["x"]], y, params={"sensitive": X["group"]}, cv=3, return_estimator=True)
        for fitted in found["estimator"]:
            assert fitted.reweigher_.groups_ == (("0",), ("1",))
        assert np.isfinite(found["test_score"]).all()


def test_requests_that_a_user_has_set_are_followed():
    X, y = people()
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        last = LogisticRegression().set_fit_request(sample_weight=True)
        model = Reweighed(make_pipeline(scaler, last), sensitive="group").fit(X, y)
        weights = model.reweigher_.sample_weights()
    mean = np.average(X["x"], weights=weights)
    assert model.estimator_[0].mean_[1] == pytest.approx(mean)
