"""Known tables, written out: what anybody can check with a pencil. Nothing beside the checkout is needed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import evenhand as eh
from evenhand.catalogue import ALIASES, METRICS
from evenhand.measures.cells import MEASURES
from evenhand.measures.combinations import COMBINATIONS
from evenhand.measures.evaluate import every_measure

F = Fraction  # exact, so that a mistake is not a matter of digits
DECISIONS = {"label", "prediction"}

# --- the example of fairlearn's guide: 18 people, three groups ---------------------------------------------------

GUIDE = {
    "label": [0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1],
    "prediction": [0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0],
    "sensitive": list("bbabbcccaacabccbcc"),
}


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("demographic_parity_difference", {}, 0.25),
        ("demographic_parity_ratio", {}, 2 / 3),
        ("equalized_odds_difference", {}, 1.0),
        ("equalized_odds_difference", {"aggregate": "mean"}, 0.6),
        ("equalized_odds_ratio", {}, 0.0),
        ("equal_opportunity_difference", {}, 0.2),
        ("equal_opportunity_ratio", {}, 2 / 3),
    ],
)
def test_guide(name, arguments, expected):
    assert float(getattr(eh, name)(**GUIDE, **arguments)) == pytest.approx(expected, rel=1e-12)


def test_guide_names_the_groups():
    found = eh.equalized_odds(**GUIDE)
    assert (found.highest, found.lowest) == ("a", "b")
    assert found.interpretation == (
        "The false positive rate is 100.0 % for group a (n = 2) and 0.0 % for group b (n = 1): a gap of 100.0 points "
        "(95 % interval 0.0 to 100.0); whether that is within the threshold of 10 is open."
    )
    assert str(found) == f"Inconclusive. {found.interpretation}"  # nobody should take the estimate for the verdict


# --- COMPAS at a decile of 5 or more: 7,214 people ----------------------------------------------------------------

COMPAS = eh.datasets.compas()
ROLES = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": "race"}
BOTH = {name: column[np.isin(COMPAS["race"], ["African-American", "Caucasian"])] for name, column in COMPAS.items()}


@pytest.mark.parametrize(
    ("measure", "black", "white", "digits"),
    [
        ("fpr", 44.85, 23.45, 2),
        ("fnr", 27.99, 47.72, 2),
        ("ppv", 63, 59, 0),
        ("npv", 65, 71, 0),
        ("selection_rate", 58.8, 34.8, 1),
        ("count", 369600, 245400, 0),
    ],
)
def test_compas_rates(measure, black, white, digits):
    cube = eh.Cube.count(COMPAS, **ROLES)
    assert cube.size == 7214
    (numbers,) = cube.measures([measure]).values()
    found = {group: round(100 * value, digits) for (_, (group,)), value in zip(cube.pairs, numbers, strict=True)}
    assert (found["African-American"], found["Caucasian"]) == (black, white)


def test_compas_four_fifths_between_two_groups():
    found = eh.disparate_impact(BOTH, **ROLES)
    assert float(found.value) == pytest.approx((854 / 2454) / (2174 / 3696), rel=1e-12)
    assert (found.passes, found.verdict) == (False, "fail")
    assert found.interpretation == (
        "The selection rate is 58.8 % for African-American (n = 3,696) and 34.8 % for Caucasian (n = 2,454): "
        "a ratio of 0.59 (95 % interval 0.56 to 0.63), below the threshold of 0.8."
    )


def test_compas_four_fifths_among_all():
    found = eh.disparate_impact(COMPAS, **ROLES)
    assert float(found.value) == pytest.approx((79 / 377) / (12 / 18), rel=1e-12)
    assert (found.highest, found.lowest) == ("Native American", "Other")
    assert found.verdict == "fail"  # without the 18 Native Americans too
    # The verdict rests on a pair that is sure; the 18 Native Americans, who are not, stand in a note.
    assert (found.evidence.group, found.evidence.against) == (("African-American",), "Caucasian")
    assert (found.evidence.n, found.evidence.n_against) == (3696, 2454)
    assert any("Native American (n = 18)" in note for note in found.notes)


def test_compas_against_a_reference():
    found = eh.predictive_equality(COMPAS, **ROLES, reference="Caucasian")
    differences = {row.group[0]: row.difference for row in found.groups}
    assert differences["Caucasian"] is None
    assert float(differences["African-American"]) == pytest.approx(805 / 1795 - 349 / 1488, rel=1e-12)
    ratio = eh.predictive_equality(BOTH, **ROLES, reference="Caucasian", judged_on="ratio")
    assert float(ratio.value) == pytest.approx((805 / 1795) / (349 / 1488), rel=1e-12)
    assert ratio.passes is False


@pytest.mark.parametrize("table", [COMPAS, BOTH], ids=["all", "two groups"])
def test_compas_audit_fails(table):
    audit = eh.audit(table, **ROLES, metrics="all")
    assert audit.required == ("equalized_odds",)
    assert audit.verdict == "fail"
    assert {finding.metric for finding in audit.findings} >= {
        name for name, entry in METRICS.items() if entry.needs <= DECISIONS and "binary" in entry.tasks
    } - {"robust_outcome_test"}  # which is added where labels are known of the selected only


def test_compas_audit_passes_where_the_policy_asks_for_less():
    policy = eh.Policy(required=("predictive_parity",))
    assert eh.audit(BOTH, **ROLES, policy=policy).verdict == "pass"  # .63 and .59: within 10 points


# --- Berkeley, 1973: 4,526 applicants -----------------------------------------------------------------------------

BERKELEY = eh.datasets.berkeley()
ADMISSIONS = {"prediction": "admitted", "count": "count", "sensitive": "gender"}
# Admitted and refused, men then women.
DEPARTMENTS = {
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}


def by_gender(numbers, cube):
    return {(*stratum, *group): float(value) for (stratum, group), value in zip(cube.pairs, numbers, strict=True)}


def test_berkeley_pooled():
    found = eh.demographic_parity(BERKELEY, **ADMISSIONS)
    rates = {row.group[0]: float(row.estimate) for row in found.groups}
    assert rates == {"Male": pytest.approx(1198 / 2691), "Female": pytest.approx(557 / 1835)}
    assert {name: round(100 * rate, 1) for name, rate in rates.items()} == {"Male": 44.5, "Female": 30.4}
    assert (found.highest, found.lowest, found.verdict) == ("Male", "Female", "fail")


def test_berkeley_by_department():
    cube = eh.Cube.count(BERKELEY, **ADMISSIONS, control="department")
    (rates,) = cube.measures(["selection_rate"]).values()
    expected = {}
    for department, (m1, m0, w1, w0) in DEPARTMENTS.items():
        expected[department, "Male"] = pytest.approx(m1 / (m1 + m0))
        expected[department, "Female"] = pytest.approx(w1 / (w1 + w0))
    assert by_gender(rates, cube) == expected
    (pooled,) = cube.marginal(control=False).measures(["selection_rate"]).values()
    assert sorted(pooled) == pytest.approx([557 / 1835, 1198 / 2691])


def test_berkeley_the_widest_department_speaks_and_women_lead_there():
    found = eh.demographic_parity(BERKELEY, **ADMISSIONS, control="department")
    rows = [row for row in found.rows if row.measure == "demographic_parity"]
    gaps = {row.stratum[0]: (float(row.difference), row.group[0]) for row in rows}
    assert set(gaps) == set(DEPARTMENTS)
    for department, (m1, m0, w1, w0) in DEPARTMENTS.items():
        men, women = m1 / (m1 + m0), w1 / (w1 + w0)
        assert gaps[department] == (pytest.approx(abs(men - women)), "Female" if women > men else "Male")
    assert float(found.value) == max(gap for gap, _ in gaps.values()) == gaps["A"][0]
    assert found.interpretation.startswith("In department = A: the selection rate is 82.4 % for Female (n = 108)")


# --- Kamiran and Calders (2012), table 1, by sex and class --------------------------------------------------------


def test_kamiran_calders():
    table = {"sex": ["M", "M", "F", "F"], "class": ["+", "-", "+", "-"], "people": [4, 1, 2, 3]}
    roles = {"label": "class", "positive": "+", "count": "people", "sensitive": "sex"}
    found = eh.base_rate_parity(table, **roles)
    assert float(found.difference) == pytest.approx(0.4, rel=1e-12)
    assert float(found.ratio) == pytest.approx(0.5, rel=1e-12)
    assert (found.highest, found.lowest) == ("M", "F")
    assert float(eh.base_rate_parity(table, **roles, reference="M").difference) == pytest.approx(-0.4, rel=1e-12)


# --- every measure and every metric, by hand ----------------------------------------------------------------------

#                 tp fp tn fn
CONFUSION = {"A": (4, 1, 4, 1), "B": (2, 3, 3, 2), "C": (6, 2, 9, 3)}
HAND = {
    "label": [y for _ in CONFUSION for y in (1, 0, 0, 1)],
    "prediction": [d for _ in CONFUSION for d in (1, 1, 0, 0)],
    "group": [group for group in CONFUSION for _ in range(4)],
    "people": [people for cells in CONFUSION.values() for people in cells],
}
ARRAYS = {"label": "label", "prediction": "prediction", "count": "people", "sensitive": "group"}

BY_HAND = {
    "selection_rate": (F(5, 10), F(5, 10), F(8, 20)),
    "base_rate": (F(5, 10), F(4, 10), F(9, 20)),
    "accuracy": (F(8, 10), F(5, 10), F(15, 20)),
    "error_rate": (F(2, 10), F(5, 10), F(5, 20)),
    "true_positive_rate": (F(4, 5), F(2, 4), F(6, 9)),
    "false_positive_rate": (F(1, 5), F(3, 6), F(2, 11)),
    "true_negative_rate": (F(4, 5), F(3, 6), F(9, 11)),
    "false_negative_rate": (F(1, 5), F(2, 4), F(3, 9)),
    "positive_predictive_value": (F(4, 5), F(2, 5), F(6, 8)),
    "negative_predictive_value": (F(4, 5), F(3, 5), F(9, 12)),
    "false_discovery_rate": (F(1, 5), F(3, 5), F(2, 8)),
    "false_omission_rate": (F(1, 5), F(2, 5), F(3, 12)),
    "balanced_accuracy": (F(4, 5), F(1, 2), F(49, 66)),
    "f1": (F(8, 10), F(4, 9), F(12, 17)),
    "threat_score": (F(4, 6), F(2, 7), F(6, 11)),
    "error_balance": (F(1, 1), F(2, 3), F(3, 2)),
    "selected_share": (F(5, 18), F(5, 18), F(8, 18)),
    "count": (10, 10, 20),
}


def test_every_measure_has_been_worked_by_hand():
    assert set(BY_HAND) == {name for name, row in MEASURES.items() if row.needs <= DECISIONS}


@pytest.mark.parametrize("name", BY_HAND)
def test_measure_by_hand(name):
    cube = eh.Cube.count(HAND, **ARRAYS)
    expected = [float(value) for value in BY_HAND[name]]
    for spelling in (name, *MEASURES[name].aliases):
        assert cube.measures([spelling])[name].tolist() == pytest.approx(expected, rel=1e-12)


# The difference, the ratio, and whether A, B or C is highest and lowest in what the metric is judged on.
METRICS_BY_HAND = {
    "demographic_parity": (F(1, 10), F(4, 5), "AC"),
    "disparate_impact": (F(1, 10), F(4, 5), "AC"),
    "equalized_odds": (F(7, 22), F(4, 11), "BC"),
    "equal_opportunity": (F(3, 10), F(5, 8), "AB"),
    "predictive_equality": (F(7, 22), F(4, 11), "BC"),
    "false_negative_rate_parity": (F(3, 10), F(2, 5), "BA"),
    "average_odds": ((F(3, 10) + F(7, 22)) / 2, (F(5, 8) + F(4, 11)) / 2, None),
    "conditional_use_accuracy_equality": (F(2, 5), F(1, 2), "AB"),
    "predictive_parity": (F(2, 5), F(1, 2), "AB"),
    "negative_predictive_parity": (F(1, 5), F(3, 4), "AB"),
    "false_discovery_rate_parity": (F(2, 5), F(1, 3), "BA"),
    "false_omission_rate_parity": (F(1, 5), F(1, 2), "BA"),
    "overall_accuracy_equality": (F(3, 10), F(5, 8), "AB"),
    "error_rate_parity": (F(3, 10), F(2, 5), "BA"),
    "treatment_equality": (F(5, 6), F(4, 9), "CB"),
    "balanced_accuracy_equality": (F(3, 10), F(5, 8), "AB"),
    "base_rate_parity": (F(1, 10), F(4, 5), "AB"),
}

METRICS_BY_HAND |= {
    "true_negative_rate_parity": (F(7, 22), F(11, 18), "CB"),
    "informedness_parity": (F(3, 5), math.nan, "AB"),  # B has 0, and a number that can be negative then has no ratio
    "positive_likelihood_ratio_parity": (F(3), F(1, 4), "AB"),
    "negative_likelihood_ratio_parity": (F(3, 4), F(1, 4), "BA"),
    "average_predictive_value": (F(3, 10), F(1, 2), None),
    "markedness_parity": (F(3, 5), math.nan, "AB"),
    "conditional_acceptance_parity": (F(13, 40), F(32, 45), "CB"),
    "conditional_rejection_parity": (F(17, 60), F(55, 72), "BC"),
    "f1_parity": (F(16, 45), F(5, 9), "AB"),
    "threat_score_parity": (F(8, 21), F(3, 7), "AB"),
    "matthews_correlation_parity": (F(3, 5), math.nan, "AB"),
}

# 6 people were wrongly refused (benefit 0), 6 wrongly accepted (2), 28 treated as their label says (1): the mean is 1.
INDICES_BY_HAND = {
    "generalized_entropy": (0.15, 0.001875),
    "theil_index": (0.3 * math.log(2), (11 * math.log(1.1) + 19 * math.log(0.95)) / 40),
    "coefficient_of_variation": (math.sqrt(0.3), math.sqrt(2 * 0.001875)),
    "differential_fairness": (math.log(21 / 17), None),
    "atkinson_index": (
        1 - ((28 + 6 * math.sqrt(2)) / 40) ** 2,
        1 - ((10 + 10 * math.sqrt(1.1) + 20 * math.sqrt(0.95)) / 40) ** 2,
    ),
    "bias_amplification": ((0 - 0.1 + 0.05) / 3, None),  # base rates .5, .4, .45 and .45 of all; selected .5, .5, .4
    "practical_disparity": (0.0, None),  # .4 against .5 is four fifths, and not below it
    "conditional_demographic_disparity": (12 / 22 - 8 / 18, None),  # C: 12 of 22 refused, 8 of 18 selected
}
COMBINED_BY_HAND = {
    "informedness": (F(3, 5), F(0), F(16, 33)),
    "markedness": (F(3, 5), F(0), F(1, 2)),
    "matthews_correlation": (F(3, 5), F(0), 48 / math.sqrt(8 * 9 * 11 * 12)),
    "positive_likelihood_ratio": (F(4), F(1), F(11, 3)),
    "negative_likelihood_ratio": (F(1, 4), F(1), F(11, 27)),
    "observed_to_accepted": (F(1), F(4, 5), F(9, 8)),
    "observed_to_rejected": (F(1), F(6, 5), F(11, 12)),
}


def test_every_combination_has_been_worked_by_hand():
    assert set(COMBINED_BY_HAND) == set(COMBINATIONS)
    groups = {(each.measure.name): each.values for each in every_measure(eh.Cube.count(HAND, **ARRAYS), 0.95)}
    for name, expected in COMBINED_BY_HAND.items():
        assert groups[name].tolist() == pytest.approx([float(value) for value in expected], rel=1e-12, abs=1e-15), name


def test_every_metric_has_been_worked_by_hand():
    """Those of dependence, and the robust outcome test, have files of their own, test_dependence, test_outcome_test."""
    binary = [entry for entry in METRICS.values() if entry.needs <= DECISIONS and "binary" in entry.tasks]
    names = {entry.name for entry in binary if entry.family != "dependence"} - {"robust_outcome_test"}
    assert {*METRICS_BY_HAND, *INDICES_BY_HAND} == names


@pytest.mark.parametrize("name", METRICS_BY_HAND)
def test_metric_by_hand(name):
    difference, ratio, pair = METRICS_BY_HAND[name]
    found = getattr(eh, name)(HAND, **ARRAYS)
    assert float(found.difference) == pytest.approx(float(difference), rel=1e-12)
    assert float(found.ratio) == pytest.approx(float(ratio), rel=1e-12, nan_ok=True)
    assert found.value == (found.ratio if found.judged_on == "ratio" else found.difference)
    if pair:
        assert (found.highest, found.lowest) == tuple(pair)
    if found.judged_on == "difference":
        assert found.passes is (difference <= F(1, 10))
    else:
        assert found.passes is (ratio >= F(4, 5))


@pytest.mark.parametrize(
    ("alias", "name"), [(alias, name) for alias, name in ALIASES.items() if name in METRICS_BY_HAND]
)
def test_alias_by_hand(alias, name):
    difference, ratio, _ = METRICS_BY_HAND[name]
    found = getattr(eh, alias)(HAND, **ARRAYS)
    assert found.metric == name
    assert float(found.value) == pytest.approx(float(ratio if found.judged_on == "ratio" else difference), rel=1e-12)
    if alias.endswith(("_difference", "_ratio")):
        assert found.judged_on == alias.rpartition("_")[2]


def test_average_odds_with_and_without_sign():
    """Against A: B has a true positive rate 3/10 lower and a false positive rate 3/10 higher."""
    signed = eh.average_odds(HAND, **ARRAYS, reference="A")
    sizes = eh.average_absolute_odds_difference(HAND, **ARRAYS, reference="A")
    assert float(signed.difference) == pytest.approx((2 / 3 - 4 / 5 + 2 / 11 - 1 / 5) / 2, rel=1e-12)
    assert float(sizes.difference) == pytest.approx(0.3, rel=1e-12)
    assert (signed.highest, sizes.highest) == ("C", "B")


@pytest.mark.parametrize("name", INDICES_BY_HAND)
def test_index_by_hand(name):
    value, between = INDICES_BY_HAND[name]
    found = getattr(eh, name)(HAND, **ARRAYS)
    assert float(found.value) == pytest.approx(value, rel=1e-12)
    assert (found.judged_on, found.threshold, found.verdict) == ("value", None, "not judged")
    if between is not None:
        (row,) = (row for row in found.rows if row.measure == "between_groups")
        assert float(row.estimate) == pytest.approx(between, rel=1e-9)


def test_entropy_of_other_orders():
    half = eh.generalized_entropy(HAND, **ARRAYS, alpha=0.5)
    assert float(half.value) == pytest.approx(1.2 - 0.6 * math.sqrt(2), rel=1e-12)
    assert float(eh.generalized_entropy(HAND, **ARRAYS, alpha=1).value) == pytest.approx(0.3 * math.log(2), rel=1e-12)
    assert float(eh.generalized_entropy(HAND, **ARRAYS, alpha=0).value) == math.inf  # somebody's benefit is 0
    within = {row.group: float(row.estimate) for row in eh.generalized_entropy(HAND, **ARRAYS).groups}
    assert within["A",] == pytest.approx(0.1, rel=1e-12)
    assert within["B",] == pytest.approx((17 / 1.21 - 10) / 20, rel=1e-12)


def test_differential_fairness_by_hand():
    """Rates are smoothed: (k + 1/2) / (n + 1) by default, so that nobody's is 0 or 1."""
    found = eh.differential_fairness(HAND, **ARRAYS)
    assert {row.group: float(row.estimate) for row in found.rows if row.group} == {
        ("A",): pytest.approx(5.5 / 11),
        ("B",): pytest.approx(5.5 / 11),
        ("C",): pytest.approx(8.5 / 21),
    }
    assert (found.highest, found.lowest) == ("A", "C")
    assert float(eh.differential_fairness(HAND, **ARRAYS, concentration=2).value) == pytest.approx(math.log(11 / 9))
    refused = eh.differential_fairness(prediction=[1, 1, 1, 0], sensitive=list("aabb"), threshold=1)
    assert float(refused.value) == pytest.approx(math.log(3))  # ln(1/2 / 1/6) of refusal above ln(5/6 / 1/2)
    assert refused.passes is False
