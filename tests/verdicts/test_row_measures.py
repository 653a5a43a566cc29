"""Measures of rows read the data twice, for the counts and for the rows: an iterator is kept. And a group without a
name may be a reference."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.errors import CallError

RANDOM = np.random.default_rng(0)
LABEL, DECISION = RANDOM.integers(0, 2, 200), RANDOM.integers(0, 2, 200)
GROUP = np.array(["a", "b"])[RANDOM.integers(0, 2, 200)]
AGREE = eh.measure("agreement", function=lambda label, prediction: float(np.mean(label == prediction)))
OWN = eh.metric("agreement_parity", measures=AGREE, threshold=0.5)


def once(values):
    return (value for value in values)


@pytest.mark.parametrize("wrapped", ["array", "mapping"])
def test_iterators_of_a_metric_of_rows(wrapped):
    expected = OWN(label=LABEL, prediction=DECISION, sensitive={"g": GROUP})
    sensitive = once(GROUP) if wrapped == "array" else {"g": once(GROUP)}
    found = OWN(label=once(LABEL), prediction=once(DECISION), sensitive=sensitive)
    assert found.value == expected.value
    assert eh.audit(label=once(LABEL), prediction=once(DECISION), sensitive=once(GROUP), metrics=[OWN]).findings[
        0
    ].value == (expected.value)


def test_iterators_in_a_table():
    found = OWN({"y": once(LABEL), "d": DECISION, "g": once(GROUP)}, label="y", prediction="d", sensitive="g")
    assert found.value == OWN(label=LABEL, prediction=DECISION, sensitive=GROUP).value


def test_a_group_without_a_name_is_missing_and_not_a_reference():
    with pytest.raises(CallError, match="reference='' is not a group"):
        eh.demographic_parity(prediction=[1, 0, 1, 1] * 20, sensitive=["", "b", "c", "b"] * 20, reference="")
    between = eh.demographic_parity(prediction=[1, 0, 1, 1] * 20, sensitive=["", "b", "c", "b"] * 20)
    assert between.settings["against"] == "extremes"
