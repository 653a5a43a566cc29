"""What numpy can read is data: objects that have only `__array__`, memory views, sequences without `__iter__`."""

from __future__ import annotations

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


KINDS = [OnlyArray, OnlyInterface, OnlyItems, memoryview, np.ndarray.tolist, tuple, iter]
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


def test_what_is_not_an_array():
    class Nothing:
        pass

    with pytest.raises(eh.CallError, match="an array with one value for each row"):
        eh.demographic_parity(prediction=DECISION, sensitive=Nothing())
    with pytest.raises(eh.CallError, match="an array with one value for each row"):
        eh.demographic_parity(prediction=DECISION, sensitive=OnlyArray)
