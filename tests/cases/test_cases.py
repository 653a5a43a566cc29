"""virny_exfairness_kamiran.json: small tables from the tests of Virny and ExFairness, and Kamiran and Calders'.

The other files of ../shared/cases: test_cases_fairlearn.py, test_cases_peers.py, test_cases_published.py. Each says
what it leaves for the parts of evenhand that answer for it, and counts both sides.
"""

from __future__ import annotations

from collections import Counter

import pytest

import evenhand as eh
from evenhand.core.results import spell
from support import cases
from support.cases import Case, same, undefined

CASES = {case["id"]: case for case in cases.load("virny_exfairness_kamiran")}

# What other parts of evenhand answer for: the beginnings of the ids.
LATER = {
    "replicas": ("virny-cpm", "virny-jitter", "virny-labels", "virny-entropy", "virny-statbias"),
    "intervals and tests": ("exf-ztest", "exf-cohens", "exf-chi2"),
    "scores": ("exf-cal",),
    "mitigation": ("exf-reweight", "kc2012-massaging"),
}

# 0/0, or a ratio of zeros, which ExFairness calls 0 or 1; the name of the value, and why it has none.
UNDEFINED = {
    "exf-eo-no-negatives": ("false_positive_rate", "negative labels"),
    "exf-eopp-no-positives": ("true_positive_rate", "positive labels"),
    "exf-pp-no-pos-pred": ("positive_predictive_value", "positive decisions"),
}

METRICS = {"equalized_odds": eh.equalized_odds, "equal_opportunity": eh.equal_opportunity}


def later(name: str) -> str | None:
    return next((part for part, names in LATER.items() if name.startswith(names)), None)


def some(*names: str) -> pytest.MarkDecorator:
    return cases.parametrize([case for name, case in CASES.items() if name.startswith(names) and name not in UNDEFINED])


def test_every_case_is_covered_or_left_for_a_reason():
    assert Counter(later(name) for name in CASES) == {
        None: 21,
        "replicas": 15,
        "intervals and tests": 4,
        "scores": 3,
        "mitigation": 3,
    }


def asked(case: Case, metric, **arguments) -> eh.Finding:
    given = case["inputs"]
    label = {"label": given["y_true"]} if "y_true" in given else {}
    return metric(prediction=given["y_pred"], sensitive=given["A"], convention="exfairness", **label, **arguments)


# --- ExFairness ---------------------------------------------------------------------------------------------------


@some("exf-eo-", "exf-eopp-")
def test_exfairness_differences(case):
    expected = case["expected"]
    metric = METRICS[case["metric"]]
    found = asked(case, metric)
    gaps = {row.measure: float(row.difference) for row in found.rows if row.estimate is None}
    rates = {row.measure: float(row.estimate) for row in found.groups if row.group == ("0",)}
    ours = {
        "disparity": float(found.value),
        "tpr_disparity": gaps.get("true_positive_rate"),
        "fpr_disparity": gaps.get("false_positive_rate"),
        "group_a_tpr": rates["true_positive_rate"],
        "group_a_fpr": rates.get("false_positive_rate"),
        "passes": found.passes,
    }
    assert {name: ours[name] for name in expected} == same(expected)


@some("exf-di-")
def test_exfairness_four_fifths(case):
    found = asked(case, eh.disparate_impact)
    if case["id"] == "exf-di-allzero":  # nobody is selected in either group: 0/0, and not a ratio of 1
        assert undefined(found.value)
        assert found.passes is None
        assert "it is 0 for every group" in found.interpretation
    else:
        assert float(found.value) == same(case["expected"]["ratio"])
        assert found.passes is case["expected"]["passes_80_percent_rule"]


@pytest.mark.parametrize("name", UNDEFINED)
def test_exfairness_calls_zero_what_is_undefined(name):
    case, (measure, why) = CASES[name], UNDEFINED[name]
    metric = {"predictive_parity": eh.predictive_parity, **METRICS}[case["metric"]]
    found = asked(case, metric)
    empty = [{"a": "0", "b": "1"}[key.split("_")[1]] for key in case["expected"] if key.startswith("group_")]
    for row in found.groups:
        if row.measure == measure and row.group[0] in empty:
            assert undefined(row.estimate)
            assert row.reason == f"no {why} among {spell(row.group, found.attributes)}"
            assert any(row.reason in note for note in found.notes)
    if case["metric"] != "equalized_odds":  # there the other measure is still compared
        assert undefined(found.value)
        assert found.verdict == "inconclusive"


def test_exfairness_too_few_in_a_group():
    """They refuse; we show the group and let no pass rest on it."""
    case = CASES["exf-dp-insufficient"]
    groups = case["inputs"]["A"]
    half = [i % 2 for i in range(len(groups))]  # where everybody is selected, nothing is judged
    found = eh.demographic_parity(prediction=half, sensitive=groups, min_group_size=case["params"]["min_per_group"])
    assert (found.passes, found.verdict) == (True, "inconclusive")
    assert found.notes[0] == "Fewer than 10 rows to measure on: group 1. Too few to support a pass."


@some("exf-cm-")
def test_exfairness_counts(case):
    given = case["inputs"]
    kept = [i for i, inside in enumerate(given.get("mask", [1] * len(given["y_true"]))) if inside]
    cube = cases.table([given["y_true"][i] for i in kept], [given["y_pred"][i] for i in kept])
    ours = dict(cases.counts(cube)["everyone"])
    ours |= {name: cases.values(cube, name)["everyone"] for name in ("tpr", "fpr", "ppv")}
    assert {name: ours[name] for name in case["expected"]} == same(case["expected"])


# --- Virny --------------------------------------------------------------------------------------------------------


def test_virny_confusion_matrix():
    case = CASES["virny-confusion-1"]
    cube = cases.table(case["inputs"]["y_true"], case["inputs"]["y_pred"])
    for name, expected in case["expected"].items():
        assert cases.values(cube, name.lower().replace("-", "_")) == {"everyone": same(expected)}


def test_virny_groups():
    """Two attributes together: those with the disadvantaged value in both, and everyone else."""
    frame = cases.frame("virny_compas_rf_bootstrap.csv")
    cube = eh.Cube.count(frame, label="y_true", prediction="y_pred", sensitive=["sex_code", "race"])
    sex, race = (cases.values(cube.marginal([name]), "count") for name in ("sex_code", "race"))
    both = cases.values(cube.pool(("1", "African-American")), "count")
    assert {
        "sex_priv": sex["0"],
        "sex_dis": sex["1"],
        "race_priv": race["Caucasian"],
        "race_dis": race["African-American"],
        "sex&race_priv": both["everyone else"],
        "sex&race_dis": both["1|African-American"],
    } == CASES["virny-groups-compas"]["expected"]


# The disparities of decisions; those of replicas (Jitter, Std, uncertainty) are left for the replicas.
COMPOSED = {
    "Accuracy_Difference": (eh.overall_accuracy_equality, "Accuracy", "difference"),
    "Equalized_Odds_FNR": (eh.false_negative_rate_parity, "FNR", "difference"),
    "Equalized_Odds_FPR": (eh.predictive_equality, "FPR", "difference"),
    "Equalized_Odds_TPR": (eh.equal_opportunity, "TPR", "difference"),
    "Equalized_Odds_TNR": (eh.true_negative_rate_parity, "TNR", "difference"),
    "Statistical_Parity_Difference": (eh.demographic_parity, "Selection-Rate", "difference"),
    "Disparate_Impact": (eh.disparate_impact, "Selection-Rate", "ratio"),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_virny_composer(name):
    """Each rate made of 100 people a group: the rates of the case do not fit into one table."""
    case, (metric, rate, kind) = CASES["virny-composer"], COMPOSED[name]
    label = 0 if rate in ("TNR", "FPR") else 1
    hit = 0 if rate in ("TNR", "FNR") else 1
    prediction, sensitive = [], []
    for group, rates in case["inputs"].items():
        hits = round(100 * rates[rate])
        prediction += [hit] * hits + [1 - hit] * (100 - hits)
        sensitive += [group] * 100
    found = metric(
        label=[label] * 200, prediction=prediction, sensitive=sensitive, reference="priv", convention="virny"
    )
    assert float(getattr(found, kind)) == same(case["expected"][name])
    assert found.lowest == "priv"


# --- and the rest -------------------------------------------------------------------------------------------------


def test_seed_fairlearn():
    case = CASES["seed004-fairlearn"]
    given = case["inputs"]
    for name, expected in case["expected"].items():
        found = getattr(eh, name)(label=given["y_true"], prediction=given["y_pred"], sensitive=given["A"])
        assert float(found.value) == same(expected)


def test_seed_ratios():
    """Two balances in this case need scores and are left for them; the six ratios of decisions are here."""
    case = CASES["seed001-ratios"]
    given = case["inputs"]
    names = {
        "overall_accuracy_equality_ratio": "accuracy_ratio",
        "statistical_parity_ratio": "demographic_parity_ratio",
    }
    expected = {name: value for name, value in case["expected"].items() if not name.startswith("balance_")}
    assert len(expected) == 6
    for name, value in expected.items():
        metric = getattr(eh, names.get(name, name))
        found = metric(label=given["y_true"], prediction=given["y_pred"], sensitive=given["A"], reference=0)
        assert float(found.value) == same(value)


def test_kamiran_calders_discrimination():
    case = CASES["kc2012-disc"]
    given = case["inputs"]
    found = eh.base_rate_parity(label=given["y_true"], sensitive=given["S"])
    assert float(found.difference) == same(case["expected"])
    assert (found.highest, found.lowest) == ("M", "F")
    against = eh.base_rate_parity(label=given["y_true"], sensitive=given["S"], reference="M")
    assert float(against.difference) == same(-case["expected"])
