"""The base rates beside fairlearn's own."""

from __future__ import annotations

import inspect
import warnings

import fairlearn.metrics as theirs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand.fairlearn as ours
from evenhand.fairlearn.base_metrics import RATE_CELLS
from support.fairlearn_results import outcome, same
from support.profiles import examples

Y, P = [0, 1, 1, 1, 0, 0, 0, 1], [1, 1, 0, 1, 0, 0, 1, 1]
WEIGHT = [1, 2, 4, 5, 1, 2, 2, 3]
NAMES = [*RATE_CELLS, "selection_rate", "mean_prediction", "count"]


def both(name, *arguments, messages=True, **keywords):
    one, other = (
        outcome(lambda module=module: getattr(module, name)(*arguments, **keywords)) for module in (theirs, ours)
    )
    same(one, other, messages=messages)


@pytest.mark.parametrize("name", NAMES)
def test_the_signature_is_that_of_fairlearn(name):
    one, other = (inspect.signature(getattr(module, name)).parameters.values() for module in (theirs, ours))
    assert [(p.name, p.default, p.kind) for p in other] == [(p.name, p.default, p.kind) for p in one]


CALLS = {
    "lists": ((Y, P), {}),
    "arrays": ((np.array(Y), np.array(P)), {}),
    "series": ((pd.Series(Y, index=range(9, 17)), pd.Series(P)), {}),
    "columns": ((np.array(Y).reshape(-1, 1), np.array(P).reshape(-1, 1)), {}),
    "truths": ((np.array(Y) == 1, np.array(P) == 1), {}),
    "minus one": ((2 * np.array(Y) - 1, 2 * np.array(P) - 1), {}),
    "weights": ((Y, P), {"sample_weight": WEIGHT}),
    "small weights": ((Y, P), {"sample_weight": np.array(WEIGHT, dtype=np.float32) / 3}),
    "zeros": ((np.zeros(5), np.zeros(5)), {}),
    "ones": ((np.ones(5), np.ones(5)), {}),
    "one row": (([1], [0]), {}),
    "positive is 0": ((Y, P), {"pos_label": 0}),
    "zeros, positive is 0": ((np.zeros(5), np.zeros(5)), {"pos_label": 0}),
    "text": ((["a", "b", "a"], ["b", "b", "a"]), {"pos_label": "a"}),
    "one text": ((["a", "a"], ["a", "a"]), {"pos_label": "a"}),
    "another text": ((["a", "a"], ["a", "a"]), {"pos_label": "b"}),
    # what is refused
    "text without a positive": ((["a", "b", "a"], ["b", "b", "a"]), {}),
    "two labels": (([0, 2], [2, 0]), {}),
    "minus one and zero": (([-1, 0], [-1, 0]), {}),
    "three labels": (([0, 1, 2], [0, 1, 2]), {"pos_label": 1}),
    "three labels without a positive": (([0, 1, 2], [0, 1, 2]), {}),
    "a label that does not occur": ((Y, P), {"pos_label": 3}),
    "nothing": (([], []), {}),
}


@pytest.mark.filterwarnings("ignore:elementwise comparison")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", NAMES)
def test_any_call(name, call):
    arguments, keywords = CALLS[call]
    both(name, *arguments, **keywords, messages=call != "nothing" and name not in ("mean_prediction", "count"))


NO_WEIGHTS = {
    **{str(bad): [bad, *WEIGHT[1:]] for bad in (np.nan, np.inf, -np.inf)},
    "nothing": [0] * len(Y),
    "nothing but one": [1, *[0] * (len(Y) - 1)],
}


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("weights", NO_WEIGHTS)
@pytest.mark.parametrize("name", [*RATE_CELLS, "selection_rate", "mean_prediction"])
def test_weights_that_are_none(name, weights):
    both(name, Y, P, sample_weight=NO_WEIGHTS[weights], messages=name in RATE_CELLS)


@pytest.mark.parametrize("name", [*RATE_CELLS, "count"])
def test_lengths_that_differ(name):
    both(name, Y, P[:-1], messages=name == "count")


def test_labels_that_are_not_used_may_be_missing():
    both("mean_prediction", None, [0, 1, 2, 3])
    both("mean_prediction", None, [0, 1, 2, 3], [8, 2, 1, 2])
    both("selection_rate", 1, 1)


@examples(200)
@given(
    rows=st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(0.01, 100)), min_size=1, max_size=20),
    labels=st.sampled_from([(0, 1), (-1, 1), (1, 0), ("no", "yes"), (3, 7), (False, True)]),
    weighted=st.booleans(),
)
def test_any_rows(rows, labels, weighted):
    y_true, y_pred = ([labels[bool(row[i])] for row in rows] for i in (0, 1))
    keywords = {"sample_weight": [row[2] for row in rows]} if weighted else {}
    for name in (*RATE_CELLS, "selection_rate"):
        both(name, y_true, y_pred, pos_label=labels[1], **keywords)
        if labels in ((0, 1), (-1, 1), (False, True)):
            both(name, y_true, y_pred, **keywords)


@pytest.mark.parametrize(("name", "cell"), RATE_CELLS.items())
def test_zero_by_zero_is_zero_with_a_warning(name, cell):
    label = cell[0]
    with pytest.warns(ours.UndefinedRateWarning, match=f"{name} is 0/0: no label is") as caught:
        assert getattr(ours, name)([1 - label] * 3, [0, 1, 1]) == 0
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(ours, name)(Y, P)
