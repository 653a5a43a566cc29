"""Demographic parity, equalized odds and equal opportunity beside fairlearn's own."""

from __future__ import annotations

import inspect
from itertools import product

import fairlearn.metrics as theirs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand.fairlearn as ours
from evenhand.fairlearn import parity
from support.fairlearn_results import METHODS, outcome, same
from support.profiles import examples

NAMES = [name for name in vars(parity) if name.endswith(("_difference", "_ratio"))]
RANDOM = np.random.default_rng(2)
Y, P, GROUP = RANDOM.integers(0, 2, 40), RANDOM.integers(0, 2, 40), RANDOM.choice(["a", "b", "c"], 40)


def both(name, *arguments, **keywords):
    one, other = (
        outcome(lambda module=module: getattr(module, name)(*arguments, **keywords)) for module in (theirs, ours)
    )
    same(one, other)


def test_the_names():
    assert len(NAMES) == 6


@pytest.mark.parametrize("name", NAMES)
def test_the_signature_is_that_of_fairlearn(name):
    one, other = (inspect.signature(getattr(module, name)).parameters.values() for module in (theirs, ours))
    assert [(p.name, p.default, p.kind) for p in other] == [(p.name, p.default, p.kind) for p in one]


def aggregates(name):
    return [{"agg": "worst_case"}, {"agg": "mean"}, {}] if name.startswith("equalized_odds") else [{}]


@pytest.mark.parametrize("name", NAMES)
def test_every_argument(name):
    weights = ({}, {"sample_weight": RANDOM.random(40) + 0.1}, {"sample_weight": None})
    for method, more, weight in product(METHODS, aggregates(name), weights):
        for features in (GROUP, {"a": GROUP, "b": Y}):
            both(name, Y, P, sensitive_features=features, method=method, **more, **weight)
    assert isinstance(getattr(ours, name)(Y, P, sensitive_features=GROUP), float)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_refused(name):
    both(name, Y, P, sensitive_features=GROUP, method="other")
    both(name, Y, P[:-1], sensitive_features=GROUP)
    both(name, Y, P, sensitive_features=GROUP[:-1])
    both(name, Y, P, sensitive_features=[None, *GROUP[1:].tolist()])
    if name.startswith("equalized_odds"):
        both(name, Y, P, sensitive_features=GROUP, agg="other")
    if not name.startswith("demographic"):
        both(name, Y + 2, P, sensitive_features=GROUP)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero", "ignore:All-NaN", "ignore:.*reduction")
@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
@pytest.mark.parametrize("name", NAMES)
def test_weights_that_are_none(name, bad):
    one, group, everyone = np.ones(40), np.where(GROUP == "a", bad, 1.0), np.full(40, bad)
    one[0] = bad
    for weights in (one, group, everyone):
        for more in aggregates(name):
            both(name, Y, P, sensitive_features=GROUP, sample_weight=weights, **more)


@examples(120)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("abc"), st.floats(0.1, 5)),
        min_size=1,
        max_size=12,
    ),
    name=st.sampled_from(NAMES),
    method=st.sampled_from(METHODS),
    weighted=st.booleans(),
)
def test_any_rows(rows, name, method, weighted):
    y_true, y_pred, group, weight = map(list, zip(*rows, strict=True))
    for more in aggregates(name):
        both(
            name,
            y_true,
            y_pred,
            sensitive_features=group,
            method=method,
            sample_weight=weight if weighted else None,
            **more,
        )
