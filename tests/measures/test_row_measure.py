"""What a function of rows takes is read from the names of its parameters; what is wrong with them is said at once."""

from __future__ import annotations

import operator
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import fbeta_score

import evenhand as eh
from evenhand.measures.row_measure import PARAMETERS, RowMeasure, function_name, read_inputs


def roles_of(function, **columns):
    return dict(read_inputs("own", function, columns).roles)


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in PARAMETERS.items() for name in names])
def test_each_role_has_its_names(role, name):
    scope: dict = {}
    exec(f"def function({name}, amount): return 0", scope)
    assert roles_of(scope["function"]) == {name: role}


def test_a_role_that_is_not_taken_is_not_needed():
    assert eh.measure("own", lambda prediction: 0.0).needs == {"prediction"}
    assert eh.measure("own", lambda prediction: 0.0).labels_of == ()
    assert eh.measure("own", lambda y_true, y_pred, sample_weight: 0.0).needs == {"label", "prediction"}
    assert eh.measure("own", lambda label, score=None: 0.0).needs == {"label"}


def test_two_parameters_without_a_role_are_label_and_prediction():
    assert roles_of(lambda a, b: 0) == {"a": "label", "b": "prediction"}
    assert roles_of(lambda a, b, sample_weight=None: 0)["b"] == "prediction"
    assert roles_of(operator.sub) == {"label": "label", "prediction": "prediction"} or roles_of(operator.sub) == {
        "a": "label",
        "b": "prediction",
    }
    assert roles_of(lambda *arrays: 0) == {"label": "label", "prediction": "prediction"}


def test_other_parameters_are_columns_of_the_data():
    inputs = read_inputs("own", lambda label, amount, rate=0.1: 0, {})
    assert (dict(inputs.columns), inputs.assumed) == ({"amount": "amount"}, {"amount"})
    assert dict(read_inputs("own", lambda amount: 0, {}).columns) == {"amount": "amount"}
    declared = read_inputs("own", lambda label, amount: 0, {"amount": "loan"})
    assert (dict(declared.columns), declared.assumed) == ({"amount": "loan"}, frozenset())
    over = read_inputs("own", lambda label, score: 0, {"score": "logit"})
    assert (dict(over.roles), dict(over.columns)) == ({"label": "label"}, {"score": "logit"})


def test_what_a_partial_function_has_set_is_not_taken():
    assert roles_of(partial(fbeta_score, beta=2)) == {
        "y_true": "label",
        "y_pred": "prediction",
        "sample_weight": "weight",
    }


@pytest.mark.parametrize(
    ("function", "columns", "said"),
    [
        (lambda label, y_true: 0, {}, "takes the label twice, as 'label', 'y_true'"),
        (
            lambda label: 0,
            {"amount": "x"},
            "names 'amount', which is not a parameter .* parameters are 'label'",
        ),
        (lambda label: 0, ["amount"], r"columns=\['amount'\] must be a mapping"),
        (lambda *arrays: 0, {"amount": "x"}, "parameters of its function are not known.* wrap it in a function"),
        (7, {}, "7 is not a function"),
    ],
)
def test_what_cannot_be_taken_is_said(function, columns, said):
    with pytest.raises(eh.CallError, match=said):
        eh.measure("own", function, columns=columns)


def test_columns_and_raw_are_for_functions():
    with pytest.raises(eh.CallError, match="own' is made of counts: columns= and raw= are for a function"):
        eh.measure("own", numerator="TP", raw=True)
    with pytest.raises(eh.CallError, match="raw=1 must be True or False"):
        eh.measure("own", np.mean, raw=1)


def test_the_name_of_a_function():
    class Weighed:
        def __call__(self, label, prediction):
            return 0.0

    assert [function_name(each) for each in (np.mean, partial(partial(np.mean)), Weighed(), Weighed().__call__)] == [
        "mean",
        "mean",
        "Weighed",
        "__call__",
    ]


def test_a_row_measure_is_equal_to_itself_only():
    first, second = (eh.measure("own", np.mean, columns={"a": np.zeros(3)}) for _ in range(2))
    assert isinstance(first, RowMeasure)
    assert first == first
    assert first != second
