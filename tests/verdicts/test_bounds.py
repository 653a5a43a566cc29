"""Bounds by the method that a policy names: one row in the table of intervals makes a method usable everywhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

import evenhand as eh
from evenhand.errors import CallError
from evenhand.inference.intervals import METHODS, Classical, Resampled, katz, newcombe, percentile, wilson

COLUMNS = {
    "label": [0, 1] * 200,
    "prediction": [1] * 120 + [0] * 80 + [1] * 70 + [0] * 130,
    "sensitive": ["a"] * 200 + ["b"] * 200,
}


def test_a_new_row_for_a_classical_interval_is_all_that_a_policy_needs(monkeypatch):
    def shifted(*arguments):
        low, high = newcombe(*arguments)
        return low - 0.01, high + 0.01

    monkeypatch.setitem(METHODS, "shifted", Classical("shifted", wilson, shifted, katz))
    known = eh.demographic_parity(**COLUMNS, interval="newcombe")
    new = eh.demographic_parity(**COLUMNS, interval="shifted")
    assert new.value.value == known.value.value
    assert new.value.low == pytest.approx(known.value.low - 0.01)
    assert new.value.high == pytest.approx(known.value.high + 0.01)
    assert new.settings["interval"] == "shifted"
    with pytest.raises(CallError, match="did you mean 'shifted'"):
        eh.Policy(interval="shiftd")


def test_a_new_row_for_an_interval_from_draws_is_all_that_a_policy_needs(monkeypatch):
    monkeypatch.setitem(METHODS, "again", Resampled("again", percentile, "multinomial"))
    known = eh.audit(**COLUMNS, interval="percentile", draws=200)
    new = eh.audit(**COLUMNS, interval="again", draws=200)
    assert new.policy.uses_draws
    assert [f.value for f in new.findings] == [f.value for f in known.findings]
    assert all(f.settings["interval"] in ("again", "simultaneous") for f in new.findings if "interval" in f.settings)


def test_a_row_that_lacks_a_function_is_refused_at_once():
    with pytest.raises(TypeError, match="ratio"):
        Classical("half", wilson, newcombe)
    with pytest.raises(TypeError, match="drawn"):
        Resampled("half", percentile)


@pytest.mark.parametrize("interval", METHODS)
def test_every_row_of_the_table_gives_an_interval(interval):
    found = eh.demographic_parity(**COLUMNS, interval=interval, draws=100)
    assert found.value.low <= found.value.value <= found.value.high
    assert np.isfinite([found.value.low, found.value.high]).all()


@pytest.mark.parametrize("reference", [None, "a", "rest", "overall", "highest"])
@pytest.mark.parametrize("interval", ["basic", "bca", "percentile", "bayes", "jeffreys", "katz"])
@pytest.mark.parametrize("selected", [(1, 3, 4), (0, 3, 0), (40, 38, 5)])
def test_intervals_of_every_kind_hold_their_value_and_what_is_possible(interval, reference, selected):
    sizes = (40, 40, 5)
    groups = [name for name, size in zip("abc", sizes, strict=True) for _ in range(size)]
    decisions = [int(i < k) for k, size in zip(selected, sizes, strict=True) for i in range(size)]
    found = eh.demographic_parity(prediction=decisions, sensitive=groups, interval=interval, reference=reference)
    for row in found.groups:
        assert 0 <= row.estimate.low <= row.estimate.value <= row.estimate.high <= 1
    for gap, least, most in ((found.difference, -1, 1), (found.ratio, 0, math.inf)):
        if gap.low is not None:
            assert least <= gap.low <= gap.value <= gap.high <= most


def _rates(**counts):
    """Decisions of groups, each given as (selected, people)."""
    rows = [(name, 1, k) for name, (k, _) in counts.items()] + [(name, 0, n - k) for name, (k, n) in counts.items()]
    group, prediction, count = zip(*rows, strict=True)
    return {"sensitive": list(group), "prediction": list(prediction), "count": list(count)}


@pytest.mark.parametrize("metric", [eh.demographic_parity, eh.disparate_impact])
def test_a_fail_leads_with_the_surest_gap_of_those_that_alone_fail(metric):
    # c lies farthest from a and is small; b is known far better, and a against b fails by itself.
    finding = metric(**_rates(a=(3_000, 5_000), b=(1_750, 5_000), c=(20, 100)))
    assert finding.verdict == "fail"
    assert {finding.evidence.group[0], finding.evidence.against} == {"a", "b"}
    assert {finding.highest, finding.lowest} == {"a", "c"}
    assert (finding.evidence.n, finding.evidence.n_against) == (5_000, 5_000)


def test_a_sure_gap_within_the_limit_does_not_lead_a_fail():
    # a against b is beyond doubt, and smaller than the limit: it is not what fails.
    finding = eh.demographic_parity(**_rates(a=(30_000, 50_000), b=(27_500, 50_000), c=(60, 200)))
    assert finding.verdict == "fail"
    assert finding.evidence.against == "c"


def test_against_a_reference_the_surest_group_leads_a_fail():
    finding = eh.demographic_parity(**_rates(a=(3_000, 5_000), b=(1_750, 5_000), c=(20, 100)), reference="a")
    assert (finding.verdict, finding.evidence.group) == ("fail", ("b",))
    assert finding.value == finding.evidence.difference
