"""replicate(): bootstrap replicas of scikit-learn models, whoever fits them and whatever the data is held in."""

from __future__ import annotations

import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import evenhand as eh
from evenhand.replicas import fit as replicating


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = (random.random(120) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    return X, y, random.normal(size=(30, 3))


def fitted(data, model=None, **arguments):
    return eh.replicate(
        LogisticRegression() if model is None else model, *data, **{"n_replicas": 6, "n_jobs": 1} | arguments
    )


class Noting(ClassifierMixin, BaseEstimator):
    """Remembers nothing of the rows but what came with them: the mean of its metadata is its probability."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None, sensitive=None):
        self.classes_ = np.unique(y)
        noted = sample_weight if sample_weight is not None else sensitive
        self.noted_ = float(np.mean(noted)) if noted is not None else 0.0
        self.same_ = float(np.all(np.asarray(X)[:, 0] == np.asarray(noted))) if noted is not None else 1.0
        return self

    def predict_proba(self, X, sensitive=None):
        chance = self.same_ * self.noted_ + (0.0 if sensitive is None else np.asarray(sensitive) * 0.1)
        return np.column_stack([1 - chance * np.ones(len(X)), chance * np.ones(len(X))])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


class Failing(Noting):
    """Fails on the samples of some seeds."""

    def fit(self, X, y):
        if self.random_state % 3 == 0:
            raise RuntimeError("did not converge")
        return super().fit(X, y)


# --- what a replica is


def test_each_replica_is_a_fresh_fit_to_a_sample_of_its_own(data):
    X, y, X_test = data
    found = fitted(data, fraction=0.5)
    assert (found.shape, found.kind, found.rows, found.fraction) == ((6, 30), "probability", 60, 0.5)
    assert found.values.dtype == np.float32
    for seed, said in zip(found.seeds, found.values, strict=True):
        rows = np.random.default_rng(seed).integers(0, 120, 60)
        again = LogisticRegression(random_state=seed).fit(X[rows], y[rows]).predict_proba(X_test)[:, 1]
        assert said.tolist() == again.astype(np.float32).tolist()


def test_the_model_itself_is_left_as_it_was(data):
    model = LogisticRegression()
    fitted(data, model)
    assert not hasattr(model, "coef_")
    assert model.random_state is None


def test_seeds_are_recorded_and_do_not_depend_on_how_many_there_are(data):
    few, many = fitted(data, n_replicas=3), fitted(data, n_replicas=8)
    assert few.seeds == many.seeds[:3]
    assert few.values.tolist() == many.values[:3].tolist()
    assert fitted(data, random_state=1).seeds != fitted(data).seeds
    assert len(set(many.seeds)) == 8


def test_random_models_and_their_parts_get_the_seed_of_their_replica(data):
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=3))
    first, second = fitted(data, forest), fitted(data, forest)
    assert first.values.tolist() == second.values.tolist()
    assert len({tuple(row) for row in first.values.tolist()}) == 6


def test_the_number_of_workers_changes_nothing(data):
    alone = fitted(data, RandomForestClassifier(n_estimators=3), n_jobs=1)
    with joblib.parallel_config(backend="threading"):
        together = fitted(data, RandomForestClassifier(n_estimators=3), n_jobs=3)
    assert alone.values.tolist() == together.values.tolist()
    assert alone.seeds == together.seeds


def test_models_without_probabilities_give_labels(data):
    found = fitted(data, RidgeClassifier())
    assert found.kind == "label"
    assert set(np.unique(found.values)) <= {0, 1}
    assert list(eh.stability(found, sensitive=["a", "b"] * 15).people) == ["label_stability", "jitter"]


def test_replicas_of_a_tree_stay_probabilities(data):
    """They are all 0 or 1, and yet probabilities: the model says so."""
    found = fitted(data, DecisionTreeClassifier())
    assert found.kind == "probability"
    assert "aleatoric_uncertainty" in eh.stability(found, sensitive=["a", "b"] * 15).people


# --- whatever the data is held in


@pytest.mark.parametrize(
    "hold",
    [pd.DataFrame, lambda X: pl.DataFrame(X, schema=["a", "b", "c"]), sparse.csr_matrix, lambda X: X.tolist()],
    ids=["pandas", "polars", "sparse", "lists"],
)
def test_tables_of_any_kind(data, hold):
    X, y, X_test = data
    plain = fitted(data)
    found = fitted((hold(X), y.tolist(), hold(X_test)))
    assert found.values == pytest.approx(plain.values, abs=1e-5)


def test_outcomes_are_matched_by_value(data):
    X, y, X_test = data
    plain = fitted(data)
    words = np.where(y, "yes", "no")
    assert fitted((X, words, X_test), positive="yes").values == pytest.approx(plain.values, abs=1e-6)
    assert fitted((X, pd.Series(words), X_test), positive="no").values == pytest.approx(1 - plain.values, abs=1e-6)
    labels = fitted((X, words, X_test), RidgeClassifier(), positive="yes").values
    assert labels.tolist() == fitted(data, RidgeClassifier()).values.tolist()


def test_one_of_several_classes_is_set_against_the_rest(data):
    X, y, X_test = data
    several = np.where(X[:, 1] > 1, 2, y)
    one, others = (
        fitted((X, several, X_test), GaussianNB(), positive=2),
        fitted((X, several, X_test), GaussianNB(), positive=[0, 1]),
    )
    assert one.values + others.values == pytest.approx(np.ones((6, 30)), abs=1e-6)


def test_a_sample_of_one_class_has_no_chance_of_the_other():
    X, y = np.arange(10.0).reshape(-1, 1), np.array([1] + [0] * 9)
    found = fitted((X, y, X), DecisionTreeClassifier(), n_replicas=20, fraction=0.3)
    assert (found.values.sum(axis=1) == 0).any()
    assert (found.values.sum(axis=1) > 0).any()


def test_metadata_is_drawn_along_with_the_rows(data):
    X, y, X_test = data
    weights = np.random.default_rng(1).random(120)
    X = np.column_stack([weights, X[:, 1:]])
    for name in ("sample_weight", "sensitive"):
        found = fitted((X, y, X_test), Noting(), **{name: weights})
        assert found.values[:, 0] == pytest.approx(
            [weights[np.random.default_rng(seed).integers(0, 120, 96)].mean() for seed in found.seeds], abs=1e-6
        )
    in_pipeline = fitted((X, y, X_test), make_pipeline("passthrough", Noting()), sample_weight=weights)
    assert in_pipeline.values.tolist() == fitted((X, y, X_test), Noting(), sample_weight=weights).values.tolist()


def test_a_model_may_ask_for_groups_to_predict(data):
    found = fitted(data, Noting(), sensitive_test=np.repeat([0, 1], 15))
    assert found.values[0].tolist() == pytest.approx([0.0] * 15 + [0.1] * 15)


def test_what_is_too_large_for_memory_is_kept_in_a_file(data, monkeypatch):
    plain = fitted(data)
    monkeypatch.setattr(replicating, "IN_MEMORY", 100)
    found = fitted(data)
    assert isinstance(found.values, np.memmap)
    assert np.asarray(found).tolist() == plain.values.tolist()
    groups = ["a", "b"] * 15
    assert eh.stability(found, sensitive=groups).overall == eh.stability(plain, sensitive=groups).overall


def test_replicas_are_an_array_where_one_is_wanted(data):
    found = fitted(data)
    assert len(found) == 6
    assert np.asarray(found).shape == (6, 30)
    assert np.array(found, dtype=np.float64, copy=True).dtype == np.float64
    assert "values" not in repr(found)


# --- what goes wrong


def test_a_fit_that_fails_is_told_with_its_number(data):
    with pytest.raises(
        eh.DataError, match=r"replica \d+ \(seed \d+\) failed: RuntimeError: did not converge"
    ) as caught:
        fitted(data, Failing(), n_replicas=12)
    assert "a replica that fails is not left out" in str(caught.value)


def test_predictions_that_are_no_probabilities_are_an_error(data):
    class Odd(Noting):
        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    with pytest.raises(eh.DataError, match=r"replica 0 .* not all probabilities"):
        fitted(data, Odd())


def test_every_mistake_in_a_call_is_told_at_once(data):
    with pytest.raises(eh.CallError) as caught:
        eh.replicate("model", *data, n_replicas=1, fraction=0, random_state=-1)
    for word in ("4 problems", "model='model'", "n_replicas=1", "fraction=0", "random_state=-1"):
        assert word in str(caught.value)
    with pytest.raises(eh.CallError, match="is not an estimator"):
        eh.replicate(LogisticRegression, *data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, 1]}, "y has 2 rows and X has 120"),
        ({"y": [None] + [0, 1] * 59 + [1]}, "y has missing labels"),
        ({"y": [0] * 120}, "positive=1 does not occur in y"),
        ({"y": [1] * 120}, "y has one value only"),
        ({"y": np.zeros((120, 2))}, "y has 2 dimensions"),
        ({"sample_weight": [1.0]}, "sample_weight has 1 row and X has 120"),
        ({"sensitive_test": [1.0]}, "sensitive_test has 1 row and X_test has 30"),
    ],
)
def test_data_that_does_not_fit_together(data, change, message):
    X, y, X_test = data
    with pytest.raises(eh.DataError, match=message):
        eh.replicate(LogisticRegression(), X, change.pop("y", y), X_test, n_replicas=2, n_jobs=1, **change)


def test_the_extra_is_named_where_it_is_missing(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(eh.MissingDependencyError, match=r"pip install 'evenhand\[ml\]'"):
        fitted(data)


# --- predictions that are none


class Renaming(ClassifierMixin, BaseEstimator):
    """Predicts other names than it was fitted to, as a model does that encodes its labels itself."""

    def __init__(self, names=(0, 1), probabilities=True, shape=None):
        self.names, self.probabilities, self.shape = names, probabilities, shape

    def fit(self, X, y):
        self.classes_ = np.array(self.names)
        self.seed_ = int(np.abs(X[:, 0]).sum() * 1000)
        return self

    def predict(self, X):
        chosen = np.random.default_rng(self.seed_).integers(0, 2, len(X))
        return self.classes_[chosen][: self.shape]

    def __getattr__(self, name):
        if name != "predict_proba" or not self.__dict__.get("probabilities"):
            raise AttributeError(name)
        return lambda X: np.random.default_rng(self.seed_).dirichlet([1, 1], len(X))[: self.shape]


@pytest.mark.parametrize("probabilities", [True, False])
@pytest.mark.parametrize("names", [(0, 1), ("No", "Yes"), (False, True)])
def test_a_replica_that_predicts_other_classes_is_an_error(data, names, probabilities):
    """None of them would be favourable: every person would have the same prediction in all replicas, which passes."""
    X, y, X_test = data
    told = r"replica 0 .* failed: ValueError: it predicts '.*', and y holds 'no', 'yes'"
    with pytest.raises(eh.DataError, match=told):
        fitted((X, np.where(y == 1, "yes", "no"), X_test), Renaming(names, probabilities), positive="yes")


def test_the_classes_of_a_model_may_have_another_spelling(data):
    X, y, X_test = data
    for names in ((0, 1), (0.0, 1.0), (False, True), ("0", "1.0")):
        assert fitted((X, y, X_test), Renaming(names)).values.std() > 0.1


@pytest.mark.parametrize("probabilities", [True, False])
def test_a_replica_that_predicts_for_fewer_people_is_an_error(data, probabilities):
    with pytest.raises(eh.DataError, match=r"replica 0 .* gave shape .* for 30 people"):
        fitted(data, Renaming(probabilities=probabilities, shape=1))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_label_among_the_features_is_an_error(data, frame):
    X, y, X_test = data
    table = frame({"a": X[:, 0], "repaid": y})
    tests = frame({"a": X_test[:, 0], "repaid": np.zeros(30)})
    with pytest.raises(eh.CallError, match="X has a column 'repaid', which is y, the label itself: leave it out of X"):
        fitted((table, table["repaid"], tests))
    other = frame({"a": X[:, 0], "repaid": 1 - y})  # a column of the same name, but not the label
    assert fitted((other, table["repaid"], tests)).shape == (6, 30)
