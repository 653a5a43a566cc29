"""What numpy can read is data: objects that have only `__array__`, memory views, sequences without `__iter__`."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand import mitigate

RANDOM = np.random.default_rng(0)
GROUP = RANDOM.integers(0, 2, 300)
X = np.column_stack([RANDOM.normal(size=300) + GROUP, GROUP])
LABEL = (X[:, 0] + RANDOM.normal(size=300) > 0.5).astype(int)
DECISION = (X[:, 0] > 0.4).astype(int)


class OnlyArray:
    """As much of an array as numpy needs, and nothing else."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class OnlyInterface:
    def __init__(self, values):
        self.values = np.ascontiguousarray(values)
        self.__array_interface__ = self.values.__array_interface__


class OnlyItems:
    """A sequence of the old kind: a length and positions."""

    def __init__(self, values):
        self.values = np.asarray(values).tolist()

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]


KINDS = [OnlyArray, OnlyInterface, OnlyItems, memoryview, np.ndarray.tolist, tuple, deque, iter]
WHOLE = [OnlyArray, OnlyInterface, memoryview, np.ndarray.tolist]


@pytest.mark.parametrize("kind", KINDS)
def test_a_metric(kind):
    expected = eh.equalized_odds(label=LABEL, prediction=DECISION, sensitive=GROUP)
    found = eh.equalized_odds(label=kind(LABEL), prediction=kind(DECISION), sensitive=kind(GROUP))
    assert found.value == expected.value
    table = {"y": kind(LABEL), "d": kind(DECISION), "g": kind(GROUP)}
    assert eh.equalized_odds(table, label="y", prediction="d", sensitive="g").value == expected.value


@pytest.mark.parametrize("kind", KINDS)
def test_cutoffs_by_group(kind):
    model = mitigate.GroupThresholds(LogisticRegression(), constraint="demographic_parity").fit(
        X, LABEL, sensitive=GROUP
    )
    expected = model.predict(X, sensitive=GROUP)
    assert (model.predict(X, sensitive=kind(GROUP)) == expected).all()
    assert (model.predict(X, sensitive={"sensitive": kind(GROUP)}) == expected).all()


@pytest.mark.parametrize("kind", WHOLE)
def test_features_of_cutoffs_by_group(kind):
    model = mitigate.GroupThresholds(LogisticRegression(), constraint="demographic_parity", sensitive="x1")
    expected = model.fit(X, LABEL).predict(X)
    assert (model.predict(kind(X)) == expected).all()
    assert (model.fit(kind(X), LABEL).predict(X) == expected).all()
    other = mitigate.GroupThresholds(LogisticRegression(), constraint="demographic_parity", sensitive=["x1"], drop=True)
    assert len(other.fit(kind(X), LABEL).predict(kind(X))) == len(X)


@pytest.mark.parametrize("kind", [OnlyArray, OnlyInterface, memoryview])
def test_a_table_of_groups_without_names(kind):
    with pytest.raises(eh.CallError, match=r"2 dimensions|table without names"):
        eh.demographic_parity(prediction=DECISION, sensitive=kind(X))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not iter])
def test_labels_of_estimators(kind):
    plain = mitigate.GroupThresholds(LogisticRegression(), constraint="demographic_parity")
    model = plain.fit(X, kind(LABEL), sensitive=GROUP)
    assert model.score(X, kind(LABEL), sensitive=GROUP) == np.mean(model.predict(X, sensitive=GROUP) == LABEL)
    chances = model.thresholds_.chances(kind(X[:, 0]), kind(GROUP))
    assert (chances == model.thresholds_.chances(X[:, 0], GROUP)).all()
    expected = mitigate.UniformResampler(random_state=0).fit_resample(X, LABEL, sensitive=GROUP)[1]
    drawn = mitigate.UniformResampler(random_state=0).fit_resample(X, kind(LABEL), sensitive=GROUP)[1]
    assert (np.asarray(drawn) == expected).all()


def test_a_score_is_not_made_of_an_iterator():
    """An array of one iterator equals no decision: the accuracy was 0."""
    model = mitigate.GroupThresholds(LogisticRegression(), sensitive="x1").fit(X, LABEL)
    with pytest.raises(ValueError, match="should be a 1d array"):
        model.score(X, iter(LABEL))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, LABEL[:-1])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (memoryview, iter)])
def test_a_function_of_rows(kind):
    own = eh.metric("own", measures=eh.measure("agreement", lambda label, prediction: np.mean(label == prediction)))
    for label, prediction in ((LABEL, DECISION), (X[:, 0], X[:, 0] + 1)):
        expected = own(label=label, prediction=prediction, sensitive=GROUP, draws=100)
        found = own(label=kind(label), prediction=kind(prediction), sensitive=kind(GROUP), draws=100)
        assert found.value == expected.value


def test_what_is_not_an_array():
    class Nothing:
        pass

    with pytest.raises(eh.CallError, match="an array with one value for each row"):
        eh.demographic_parity(prediction=DECISION, sensitive=Nothing())
    with pytest.raises(eh.CallError, match="an array with one value for each row"):
        eh.demographic_parity(prediction=DECISION, sensitive=OnlyArray)
