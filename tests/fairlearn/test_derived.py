"""Derived metrics beside fairlearn's own: every name, argument and error."""

from __future__ import annotations

import copy
import functools

import fairlearn.metrics as theirs
import numpy as np
import pytest
import sklearn.metrics as skm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin

import evenhand.fairlearn as ours
from evenhand.fairlearn.derived import GENERATED
from support.fairlearn_results import METHODS, outcome, same
from support.profiles import examples

RANDOM = np.random.default_rng(8)
Y, P = RANDOM.integers(0, 2, 50), RANDOM.integers(0, 2, 50)
WEIGHT, GROUP = RANDOM.integers(1, 6, 50), RANDOM.choice(["a", "b", "c"], 50)
TRANSFORMS = ("difference", "ratio", "group_min", "group_max")


def both(name, *arguments, **keywords):
    one, other = (
        outcome(lambda module=module: getattr(module, name)(*arguments, **keywords)) for module in (theirs, ours)
    )
    same(one, other)


def test_every_generated_name_is_here():
    generated = {name for name in theirs.__all__ if type(getattr(theirs, name)).__name__ == "_DerivedMetric"}
    assert set(GENERATED) == generated
    assert len(GENERATED) == 25


KEYWORDS = {
    "plain": {},
    "weights": {"sample_weight": WEIGHT},
    "no weights": {"sample_weight": None},
    "between groups": {"method": "between_groups"},
    "to overall": {"method": "to_overall"},
    "an unknown method": {"method": "other"},
    "two features": {"sensitive_features": {"a": GROUP, "b": Y}},
    "a positive label": {"pos_label": 0},
    "an unknown argument": {"colour": "red"},
}


@pytest.mark.parametrize("keywords", KEYWORDS)
@pytest.mark.parametrize("name", GENERATED)
def test_any_call(name, keywords):
    y_pred = RANDOM.random(50) if "loss" in name and "zero" not in name else P
    both(name, Y, y_pred, **{"sensitive_features": GROUP, **KEYWORDS[keywords]})


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("method", [None, *METHODS])
def test_make_derived_metric(transform, method):
    keywords = {} if method is None else {"method": method}
    for metric, more in (
        (skm.accuracy_score, {}),
        (skm.precision_score, {"sample_weight": WEIGHT}),
        (skm.fbeta_score, {"beta": 0.6, "sample_weight": WEIGHT}),
        (skm.fbeta_score, {"beta": 0.6}),
        (lambda y_true, y_pred, factor=1: factor * float((y_true * y_pred).sum()), {"factor": 3}),
    ):
        results = [
            module.make_derived_metric(metric=metric, transform=transform)(
                Y, P, sensitive_features=GROUP, **keywords, **more
            )
            for module in (theirs, ours)
        ]
        same(*results)


def test_which_parameters_have_a_value_for_each_row():
    def cost(y_true, y_pred, *, price):
        return float(np.sum(price * (y_true != y_pred)))

    for names in (["price"], ("price",)):
        results = [
            module.make_derived_metric(metric=cost, transform="ratio", sample_param_names=names)(
                Y, P, sensitive_features=GROUP, price=WEIGHT
            )
            for module in (theirs, ours)
        ]
        same(*results)
    results = [
        module.make_derived_metric(metric=cost, transform="difference", sample_param_names=[])(
            Y, P, sensitive_features=GROUP, price=3
        )
        for module in (theirs, ours)
    ]
    same(*results)


def has_method(y_true, y_pred, method):
    return 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"metric": "random", "transform": "group_max"},
        {"metric": has_method, "transform": "group_max"},
        {"metric": skm.accuracy_score, "transform": "something rotten"},
    ],
)
def test_what_is_refused(arguments):
    one, other = (outcome(lambda module=module: module.make_derived_metric(**arguments)) for module in (theirs, ours))
    assert isinstance(one, ValueError)
    same(one, other)


def test_a_partial_function_with_a_method_is_taken():
    bound = functools.partial(has_method, method="x")
    bound.__name__ = "bound"
    one, other = (
        outcome(lambda module=module: module.make_derived_metric(metric=bound, transform="group_max"))
        for module in (theirs, ours)
    )
    assert isinstance(one, Exception) == isinstance(other, Exception)


def test_a_function_without_a_name_is_taken():
    """fairlearn takes it and fails when it is called."""
    derived = ours.make_derived_metric(metric=functools.partial(skm.fbeta_score, beta=2), transform="group_min")
    expected = ours.MetricFrame(
        metrics={"f": functools.partial(skm.fbeta_score, beta=2)}, y_true=Y, y_pred=P, sensitive_features=GROUP
    )
    assert derived(Y, P, sensitive_features=GROUP) == expected.group_min()["f"]


def test_a_derived_metric_scores_a_model_and_can_be_copied():
    assert ours.accuracy_score_difference.__name__ == "accuracy_score_difference"
    assert "accuracy_score" in ours.accuracy_score_difference.__doc__
    scorer = skm.make_scorer(ours.accuracy_score_difference, sensitive_features=GROUP)

    class Model(RegressorMixin, BaseEstimator):
        def predict(self, X):
            return P

    assert scorer(Model(), Y.reshape(-1, 1), Y) == ours.accuracy_score_difference(Y, P, sensitive_features=GROUP)
    assert copy.deepcopy(ours.selection_rate_ratio)(Y, P, sensitive_features=GROUP) > 0


@examples(80)
@given(
    rows=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("ab")), min_size=2, max_size=12),
    name=st.sampled_from([name for name in GENERATED if "roc" not in name and "log" not in name]),
    method=st.sampled_from(METHODS),
)
def test_any_rows(rows, name, method):
    y_true, y_pred, group = map(list, zip(*rows, strict=True))
    both(name, y_true, y_pred, sensitive_features=group, method=method)
