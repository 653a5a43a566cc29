"""Code of the caller that fails: every function that takes some says whose it is, in which call, and shows why."""

from __future__ import annotations

import os
import re
import sys
import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression

import evenhand as eh
from evenhand.core import calls
from evenhand.errors import CallError, DataError, EvenhandError
from evenhand.mitigate import compare

GROUPS = np.repeat(["a", "b"], 40)
ROWS = {"group": GROUPS, "x": np.linspace(0, 1, 80), "y": np.linspace(0, 2, 80)}
LABELS = np.tile([0, 1], 40)
MATRIX = np.column_stack([ROWS["x"]])
ERRORS = [RuntimeError("no\nluck"), SystemExit(0), SystemExit(1), GeneratorExit(), BrokenPipeError(32, "Broken pipe")]


class Failing(ClassifierMixin, BaseEstimator):
    """A model that raises an error in one of its methods."""

    def __init__(self, error=None, method="predict"):
        self.error, self.method = error, method

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self._fail("fit", self)

    def predict(self, X):
        return self._fail("predict", np.zeros(len(X), dtype=int))

    def _fail(self, method, result):
        if method == self.method:
            raise self.error
        return result


def failing(error):
    def function(*arguments):
        raise error

    return function


def with_mechanism(mechanism):
    model = eh.CausalModel([("group", "x"), ("x", "y")], mechanisms={"x": mechanism})
    return eh.counterfactual_fairness(lambda t: t["y"], ROWS, model, sensitive="group", refits=0)


def own_metric(error):
    measure = eh.measure("own", function=failing(error))
    return eh.metric("own_gap", measures=measure)(label=LABELS, prediction=LABELS, sensitive=GROUPS)


CALLS = {
    "predict": (lambda e: eh.flip_test(failing(e), ROWS, sensitive="group"), "predict failed in call 1, on 80 rows"),
    "distance": (
        lambda e: eh.consistency(MATRIX, prediction=LABELS, distance=failing(e)),
        "distance= failed on 80 and 80 people",
    ),
    "metric": (own_metric, "the function of own failed on the 40 rows of 'group a'"),
    "mean": (lambda e: with_mechanism(failing(e)), "the mechanism of 'x' failed when it inferred the noise of 80 rows"),
    "noise": (
        lambda e: with_mechanism(eh.Equation(value=lambda causes, u: u, noise=failing(e))),
        "the mechanism of 'x' failed when it inferred the noise of 80 rows",
    ),
    "value": (
        lambda e: with_mechanism(eh.Equation(value=failing(e), noise=lambda causes, x: x)),
        "the mechanism of 'x' failed when 80 rows were moved",
    ),
    "regressor": (
        lambda e: with_mechanism(Failing(e, "fit")),
        "the mechanism of 'x' failed when it was fitted to 80 rows",
    ),
    "invariant": (
        lambda e: eh.InvariantPredictor(
            eh.CausalModel("group -> x"), sensitive="group", outcome="y", estimator=Failing(e, "fit")
        ).fit(ROWS),
        "estimator= failed when it was fitted to 80 rows",
    ),
    "compare": (
        lambda e: compare({"own": Failing(e)}, MATRIX, LABELS, GROUPS, cv=2),
        "Failing failed in predict, on 40 rows",
    ),
    "scorer": (
        lambda e: eh.scorer("demographic_parity", sensitive=GROUPS)(Failing(e).fit(MATRIX, LABELS), MATRIX, LABELS),
        "Failing failed in predict",
    ),
}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("name", CALLS)
def test_whose_code_failed_and_why(name, error):
    function, told = CALLS[name]
    with pytest.raises(CallError, match=re.escape(f"{told}: {type(error).__name__}")) as caught:
        function(error)
    assert repr(caught.value.__cause__) == repr(error)  # a model is cloned, and its error with it
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("method", "error", "jobs"),
    [*(("predict", error, 1) for error in ERRORS), ("fit", ERRORS[1], 1), ("fit", ERRORS[1], 2)],
)
def test_a_replica_that_fails_is_named(method, error, jobs):
    told = rf"replica \d+ \(seed \d+\) failed: {type(error).__name__}"
    with pytest.raises(DataError, match=told):
        eh.replicate(Failing(error, method), MATRIX, LABELS, MATRIX, n_replicas=2, n_jobs=jobs)


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_is_for_the_whole_program(name):
    with pytest.raises(KeyboardInterrupt):
        CALLS[name][0](KeyboardInterrupt())


def test_an_error_without_a_message_or_with_one_that_fails_is_described():
    class BrokenError(Exception):
        def __str__(self):
            raise RuntimeError

    assert calls.described(MemoryError()) == "MemoryError"
    assert calls.described(BrokenError()) == "BrokenError"
    assert len(calls.described(ValueError("x" * 10_000))) < 400


# --- processes


class Dying(Failing):
    """A model that ends its process, as one does that runs out of memory."""

    def fit(self, X, y):
        os._exit(3)


class Locked(Failing):
    """A model that cannot be sent to another process."""

    def __init__(self, lock=None):
        self.lock = lock

    def __deepcopy__(self, memo):
        return self

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.tile([0, 1], len(X) // 2)


def test_a_process_that_ends_is_an_error():
    with pytest.raises(CallError, match=r"the processes for the replicas stopped: TerminatedWorkerError.*n_jobs=1"):
        eh.replicate(Dying(), MATRIX, LABELS, MATRIX, n_replicas=2, n_jobs=2)


def test_a_model_that_cannot_be_sent_is_an_error_and_works_here():
    model = Locked()
    model.lock = threading.Lock()
    with pytest.raises(EvenhandError, match="n_jobs=1"):
        list(calls.in_processes("the replicas", model.fit, [(MATRIX, LABELS)], 2))
    assert len(list(calls.in_processes("the replicas", model.fit, [(MATRIX, LABELS)], 1))) == 1


def test_no_mechanism_is_blamed_for_one_of_ours(monkeypatch):
    """A library that is not there keeps its own sentence."""
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    rows = {"group": GROUPS, "x": np.where(LABELS == 1, "p", "q")}
    with pytest.raises(eh.MissingDependencyError, match=r"evenhand\[ml\]"):
        eh.CausalModel("group -> x").fit(rows)


def test_an_estimator_that_works_is_untouched():
    model = eh.CausalModel("group -> x", mechanisms={"x": LinearRegression()}).fit(ROWS)
    assert model.counterfactual(ROWS, do={"group": "a"})["x"].shape == (80,)
