"""Known answers at the edges: undefined rates, strata, weights, counts, missing labels."""

from __future__ import annotations

import math

import pytest

import evenhand as eh
from support.tables import HAND, by_group, close, rows, selected

# --- undefined ----------------------------------------------------------------------------------------------------

# Which cells of a group to empty (tp fp tn fn), and what then is missing.
EMPTY = {
    "true_positive_rate": ((0, 3, 3, 0), "no positive labels among group B"),
    "false_negative_rate": ((0, 3, 3, 0), "no positive labels among group B"),
    "false_positive_rate": ((2, 0, 0, 2), "no negative labels among group B"),
    "true_negative_rate": ((2, 0, 0, 2), "no negative labels among group B"),
    "positive_predictive_value": ((0, 0, 3, 2), "no positive decisions among group B"),
    "false_discovery_rate": ((0, 0, 3, 2), "no positive decisions among group B"),
    "negative_predictive_value": ((2, 3, 0, 0), "no negative decisions among group B"),
    "false_omission_rate": ((2, 3, 0, 0), "no negative decisions among group B"),
    "error_balance": ((2, 0, 3, 2), "no false positives among group B"),
    "balanced_accuracy": ((0, 3, 3, 0), "no positive or no negative labels among group B"),
    "f1": ((0, 0, 3, 0), "no positive labels or decisions among group B"),
}


@pytest.mark.parametrize("name", EMPTY)
def test_undefined_is_never_zero_and_its_group_is_named(name):
    cells, reason = EMPTY[name]
    metric = eh.metric("compared", measures=name, judged_on="ratio")
    found = metric(**rows(HAND | {"B": cells}))
    values = by_group(found)
    assert math.isnan(values.pop("B"))
    assert not any(map(math.isnan, values.values()))
    assert [row.reason for row in found.groups] == [None, reason, None]
    assert any(note == f"Undefined, so not compared: {reason}." for note in found.notes)
    # A and C are compared all the same.
    assert {found.highest, found.lowest} == {"A", "C"}
    assert float(found.value) == close(min(values.values()) / max(values.values()))


@pytest.mark.parametrize("name", EMPTY)
def test_undefined_when_one_group_is_left(name):
    cells, reason = EMPTY[name]
    found = eh.metric("compared", measures=name)(**rows({"A": HAND["A"], "B": cells}))
    assert math.isnan(found.value)
    assert (found.passes, found.verdict) == (None, "inconclusive")
    assert reason in found.interpretation
    assert str(found.value) == "undefined"


def test_undefined_reference_leaves_nothing_to_compare():
    found = eh.equal_opportunity(**rows(HAND | {"B": (0, 3, 3, 0)}), reference="B")
    assert math.isnan(found.value)
    assert found.verdict == "inconclusive"
    assert "no positive labels among group B" in found.interpretation


def test_equalized_odds_goes_on_with_the_measure_that_is_left():
    found = eh.equalized_odds(**rows({"A": (4, 1, 4, 1), "B": (0, 3, 3, 0)}))
    assert float(found.value) == close(0.5 - 0.2)
    assert any("no positive labels among group B" in note for note in found.notes)


def test_ratio_of_nobody_selected_is_undefined():
    nobody = selected(A=(0, 40), B=(0, 40))
    found = eh.disparate_impact(**nobody)
    assert math.isnan(found.value)
    assert (found.passes, found.verdict) == (None, "inconclusive")
    assert found.interpretation == "The ratio of the selection rate is undefined: it is 0 for every group."
    assert float(eh.demographic_parity(**nobody).value) == 0


def test_ratio_with_one_group_never_selected_is_zero():
    found = eh.disparate_impact(**selected(A=(0, 40), B=(20, 40)))
    assert (float(found.value), found.verdict, found.lowest) == (0, "fail", "A")


@pytest.mark.parametrize("metric", [eh.demographic_parity_ratio, eh.disparate_impact])
def test_ratio_to_a_reference_never_selected_is_infinite(metric):
    found = metric(**selected(A=(0, 40), B=(20, 40)), reference="A")
    assert float(found.value) == math.inf
    assert found.highest == "B"
    assert found.passes is (metric is eh.disparate_impact)  # one-sided: B is not the worse off
    assert "for every group" not in found.interpretation


def test_equal_groups_are_still_two_groups():
    found = eh.demographic_parity(**selected(A=(20, 40), B=(20, 40)))
    assert (float(found.value), found.passes) == (0, True)
    assert {found.highest, found.lowest} == {"A", "B"}


# --- indices at their edges ---------------------------------------------------------------------------------------


def test_entropy_is_undefined_when_nobody_has_a_benefit():
    for metric in (eh.theil_index, eh.generalized_entropy, eh.coefficient_of_variation):
        found = metric(**rows({"A": (0, 0, 0, 5), "B": (0, 0, 0, 5)}))
        assert math.isnan(found.value)
        assert "no labelled decision brings any benefit" in found.interpretation


def test_entropy_of_right_decisions_is_zero():
    for metric in (eh.theil_index, eh.generalized_entropy, eh.coefficient_of_variation):
        assert float(metric(**rows({"A": (5, 0, 5, 0), "B": (2, 0, 8, 0)})).value) == 0


@pytest.mark.parametrize(
    ("confusion", "weight"),
    [({"a": (1, 0, 0, 1), "b": (1, 0, 0, 1)}, [0.4, 0.1, 0.8, 0.2]), ({"a": (13, 6, 0, 3), "b": (26, 12, 0, 6)}, None)],
    ids=["weighted", "counted"],
)
def test_groups_that_fare_alike_have_nothing_between_them(confusion, weight):
    """Both groups have the same mean benefit: what lies between them is 0, not the root of −1e-17."""
    found = eh.coefficient_of_variation(**rows(confusion), weight=weight)
    (row,) = (row for row in found.rows if row.measure == "between_groups")
    assert float(row.estimate) == pytest.approx(0, abs=1e-7)


# --- treatment equality -------------------------------------------------------------------------------------------


def test_treatment_equality_is_judged_on_its_ratio_only():
    found = eh.treatment_equality(**rows(HAND))
    assert (found.judged_on, float(found.value)) == ("ratio", close(4 / 9))
    with pytest.raises(eh.CallError, match="ratio only"):
        eh.treatment_equality(**rows(HAND), judged_on="difference")


# --- strata -------------------------------------------------------------------------------------------------------


def in_strata(**strata: dict[str, list]) -> dict[str, list]:
    """Several tables, each a stratum."""
    return {
        "prediction": [value for table in strata.values() for value in table["prediction"]],
        "sensitive": [group for table in strata.values() for group in table["sensitive"]],
        "control": [name for name, table in strata.items() for _ in table["prediction"]],
    }


def test_a_stratum_that_cannot_be_compared_is_named():
    """In y there is one group; a pass in x says nothing of it."""
    table = in_strata(x=selected(A=(20, 40), B=(20, 40)), y=selected(A=(20, 40)))
    for reference in (None, "B"):
        found = eh.demographic_parity(**table, reference=reference)
        assert float(found.value) == 0
        assert any("y" in note.replace(",", " ").replace(".", " ").split() for note in found.notes)


def test_an_undefined_stratum_does_not_hide_one_that_is_defined():
    table = in_strata(x=selected(A=(10, 40), B=(40, 40)), y=selected(A=(0, 40), B=(0, 40)))
    found = eh.disparate_impact(**table, reference="A")
    assert (float(found.value), found.passes, found.verdict) == (close(4.0), True, "pass")


# --- weights, counts, missing labels ------------------------------------------------------------------------------


def test_weights_weigh_and_people_are_counted():
    table = {"label": [1, 1, 1, 1], "prediction": [1, 0, 1, 0], "sensitive": list("aabb"), "weight": [1, 3, 1, 1]}
    found = eh.demographic_parity(**table)
    assert by_group(found) == {"a": close(1 / 4), "b": close(1 / 2)}
    assert [row.n for row in found.groups] == [2, 2]
    cube = eh.Cube.count(**table)
    assert cube.size == 4
    assert cube.cells.sum() == 6


def test_weights_of_one_change_nothing():
    plain, weighted = (eh.Cube.count(**rows(HAND), weight=weight).measures() for weight in (None, [1.0] * 40))
    assert {name: values.tolist() for name, values in weighted.items()} == {
        name: close(values.tolist()) for name, values in plain.items()
    }


def test_count_times_weight():
    table = {"prediction": [1, 0, 1], "sensitive": list("aab"), "count": [2, 3, 4], "weight": [0.5, 1, 2]}
    cube = eh.Cube.count(**table)
    assert cube.size == 9
    assert cube.measures(["selection_rate"])["selection_rate"].tolist() == [close(1 / 4), 1]
    assert cube.w.sum() == close(2 * 0.5 + 3 * 1 + 4 * 2)
    assert cube.w2.sum() == close(2 * 0.25 + 3 * 1 + 4 * 4)


def test_counts_say_the_same_as_rows():
    cells = [(1, 1), (0, 1), (0, 0), (1, 0)]  # tp fp tn fn
    counted = {
        "label": [label for _ in HAND for label, _ in cells],
        "prediction": [decision for _ in HAND for _, decision in cells],
        "sensitive": [group for group in HAND for _ in cells],
        "count": [people for confusion in HAND.values() for people in confusion],
    }
    assert eh.Cube.count(**counted) == eh.Cube.count(**rows(HAND))
    for metric in (eh.equalized_odds, eh.treatment_equality, eh.theil_index):
        assert metric(**counted) == metric(**rows(HAND))


def test_a_missing_label_stays_in_the_selection_rate():
    table = {
        "label": [1, 0, None, None, 1, 0, 1, 0],
        "prediction": [1, 0, 1, 1, 1, 1, 0, 0],
        "sensitive": list("aaaabbbb"),
    }
    assert by_group(eh.demographic_parity(**table)) == {"a": 0.75, "b": 0.5}
    assert by_group(eh.equal_opportunity(**table)) == {"a": 1.0, "b": 0.5}
    assert by_group(eh.overall_accuracy_equality(**table)) == {"a": 1.0, "b": 0.5}
    assert by_group(eh.base_rate_parity(**table)) == {"a": 0.5, "b": 0.5}
    assert by_group(eh.predictive_parity(**table)) == {"a": 1.0, "b": 0.5}
    audit = eh.audit(**table)
    assert "2 rows have no label: they count in selection rates and in nothing that needs one." in audit.notes


def test_a_group_without_any_label_has_a_selection_rate_and_nothing_else():
    table = {"label": [None, None, 1, 0], "prediction": [1, 0, 1, 0], "sensitive": list("aabb")}
    assert float(eh.demographic_parity(**table).value) == 0
    found = eh.overall_accuracy_equality(**table)
    assert math.isnan(found.value)
    assert "no labelled decisions among group a" in found.interpretation


def test_an_alias_judged_otherwise_has_the_threshold_of_that():
    rows = {"prediction": [1, 0, 1, 1] * 20, "sensitive": list("aabb") * 20}
    turned = eh.demographic_parity_ratio(**rows, judged_on="difference")
    assert (turned.judged_on, turned.threshold, turned.passes) == ("difference", 0.1, False)
    assert eh.demographic_parity_ratio(**rows).threshold == 0.8
    assert eh.demographic_parity_ratio(**rows, judged_on="difference", threshold=0.6).threshold == 0.6
