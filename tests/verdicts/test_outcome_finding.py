"""The finding of the robust outcome test: who it points to, what it never says, and where it is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.errors import EvenhandError
from evenhand.verdicts.verdict import verdict


def table(**groups):
    """People by group: how many were refused, selected and negative, selected and positive."""
    rows = [
        (name, label, decision, n)
        for name, counts in groups.items()
        for (label, decision), n in zip(((None, 0), (0, 1), (1, 1)), counts, strict=True)
        if n
    ]
    group, label, decision, count = map(list, zip(*rows, strict=True))
    return {"sensitive": {"group": group}, "label": label, "prediction": decision, "count": count}


LENDER = table(a=(2500, 250, 2250), b=(4000, 50, 950))
SEARCHES = table(a=(9000, 700, 300), b=(4500, 420, 80))
"""Of a, 10 % were searched and 30 % of these had contraband; of b 10 % and 16 %."""


def test_who_is_disfavoured_and_the_assumption():
    found = eh.robust_outcome_test(**LENDER)
    assert (found.verdict, found.evidence.group, found.evidence.against) == ("fail", ("b",), "a")
    assert found.interpretation.startswith("group = b is selected less often than group = a (20.0 % and 50.0 %)")
    assert "likelihood ratio of the risks is monotone" in found.interpretation
    assert any("monotone" in note for note in found.notes)
    assert found.value.value == pytest.approx(0.05)
    assert found.value.high == 1
    assert found.p_value == pytest.approx(8.777e-07, rel=1e-3)
    assert (found.threshold, found.judged_on) == (0.0, "value")


def test_a_panel_of_pairs():
    (panel,) = eh.robust_outcome_test(**LENDER).panels
    assert panel.kind == "pairs"
    assert [row[:2] for row in panel.rows] == [("group = a", "group = b"), ("group = b", "group = a")]


def test_a_burden_turns_it_round():
    """More of b are searched, and fewer of the searched had anything: b is searched on weaker grounds."""
    stops = table(a=(9000, 700, 300), b=(4000, 840, 160))
    found = eh.robust_outcome_test(**stops, selection="burden")
    assert (found.verdict, found.evidence.group, found.evidence.against) == ("fail", ("b",), "a")
    assert found.interpretation.startswith("group = b is selected more often than group = a (20.0 % and 10.0 %)")
    assert "turn out positive less often (16.0 %, n = 1,000, and 30.0 %, n = 1,000" in found.interpretation
    benefit = eh.robust_outcome_test(**stops)
    assert (benefit.evidence.group, benefit.evidence.against) == (("a",), "b")
    assert benefit.p_value == found.p_value
    assert eh.robust_outcome_test(**SEARCHES, selection="burden").verdict == "inconclusive"  # searched alike


def test_absence_of_evidence_is_not_a_pass():
    even = table(a=(5000, 1000, 4000), b=(5000, 1000, 4000))
    found = eh.robust_outcome_test(**even)
    assert (found.verdict, found.value.value) == ("inconclusive", 0)
    assert "does not show that all are held to one standard" in found.interpretation
    both_higher = table(a=(2000, 100, 2900), b=(4000, 500, 500))
    assert eh.robust_outcome_test(**both_higher).verdict == "inconclusive"


def test_refused_people_may_have_labels_too():
    """Only labels of the selected are looked at."""
    known = {key: [*value] if isinstance(value, list) else value for key, value in LENDER.items()}
    known["label"] = [0 if label is None else label for label in known["label"]]
    assert eh.robust_outcome_test(**known).value == eh.robust_outcome_test(**LENDER).value


def test_within_strata():
    """Berkeley's paradox: pooled, b is selected less often and does better; within strata it is treated alike."""
    strata = {"easy": {"a": (200, 400, 400), "b": (20, 40, 40)}, "hard": {"a": (80, 2, 18), "b": (800, 20, 180)}}
    parts = [(stratum, table(**groups)) for stratum, groups in strata.items()]
    data = {key: [value for _, part in parts for value in part[key]] for key in ("label", "prediction", "count")}
    data["sensitive"] = [name for _, part in parts for name in part["sensitive"]["group"]]
    control = [stratum for stratum, part in parts for _ in part["label"]]
    pooled = eh.robust_outcome_test(**data)
    assert (pooled.verdict, pooled.evidence.group) == ("fail", ("b",))
    within = eh.robust_outcome_test(**data, control=control)
    assert within.verdict == "inconclusive"
    assert any("Mantel and Haenszel" in note for note in within.notes)
    assert not any("all strata together" in note for note in within.notes)


def test_three_groups_take_six_pairs():
    found = eh.robust_outcome_test(**table(a=(2500, 250, 2250), b=(4000, 50, 950), c=(100, 10, 90)))
    assert found.settings["pairs"] == 6
    assert len(found.rows) == 6


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ({"a": (500, 0, 0), "b": (500, 0, 0)}, "nobody who was selected has a label"),
        ({"a": (500, 10, 90), "b": (500, 0, 0)}, "nobody who was selected among group = b has a label"),
        ({"a": (0, 10, 90), "b": (0, 5, 95)}, "everybody in this table was selected"),
    ],
)
def test_undefined_with_a_reason(groups, why):
    data = table(**groups)
    if not any(label is not None for label in data["label"]):
        data["label"] = [None, None]
    found = eh.robust_outcome_test(**data)
    assert not found.value.defined
    assert why in found.interpretation
    assert found.verdict == "inconclusive"


def test_wrong_calls_say_what_to_do():
    with pytest.raises(EvenhandError, match="benefit"):
        eh.robust_outcome_test(**LENDER, selection="both")
    with pytest.raises(EvenhandError, match="one group only"):
        eh.robust_outcome_test(**table(a=(2500, 250, 2250)))
    with pytest.raises(EvenhandError, match="label"):
        eh.robust_outcome_test(prediction=[1, 0], sensitive=["a", "b"])


def test_weights_count_as_the_people_they_are_worth():
    plain = eh.robust_outcome_test(**LENDER)
    even = eh.robust_outcome_test(**LENDER, weight=[7.0] * 6)
    assert even.value.low == pytest.approx(plain.value.low, rel=1e-9)
    uneven = eh.robust_outcome_test(
        label=[1, 1, 0, None] * 200, prediction=[1, 1, 1, 0] * 200, sensitive=["a"] * 400 + ["b"] * 400,
        weight=[0.1, 5, 1, 1] * 200,
    )  # fmt: skip
    assert uneven.verdict == "inconclusive"


def test_people_without_a_group_are_not_compared():
    found = eh.robust_outcome_test(**{**LENDER, "sensitive": ["a", "a", "a", "b", "b", None]})
    assert {row.group for row in found.rows} == {("a",), ("b",)}


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200)).filter(any), min_size=2, max_size=4
    ),
    st.sampled_from([0.01, 1.0, 250.0]),
)
def test_names_and_scale_do_not_matter(groups, scale):
    named = {f"g{i}": counts for i, counts in enumerate(groups)}
    data = table(**named)
    if all(label is None for label in data["label"]):
        return
    found = eh.robust_outcome_test(**data, weight=[1.0] * len(data["label"]))
    again = eh.robust_outcome_test(**data, weight=[scale] * len(data["label"]))
    assert found.verdict == again.verdict == verdict(found.value, found.threshold)
    assert found.verdict != "pass"
    np.testing.assert_allclose(
        [row.p_value or np.nan for row in found.rows], [row.p_value or np.nan for row in again.rows], rtol=1e-6
    )
    other = eh.robust_outcome_test(**table(**{f"h{9 - i}": counts for i, counts in enumerate(groups)}))
    assert other.verdict == found.verdict
    burden = eh.robust_outcome_test(**data, selection="burden")
    assert burden.verdict == found.verdict
