"""peers.json: what fairlearn, AIF360 and Aequitas compute on real data, and what we do."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import evenhand as eh
from support import cases
from support.cases import Case, same

CASES = cases.load("peers")

# What other parts of evenhand answer for: the beginnings of the names of such metrics.
LATER = {
    "scores": ("brier", "roc_auc", "balance_", "calibration_", "generalized_false_", "generalized_true_", "ks_", "P("),
    "intervals and tests": ("selection_rate 95%", "selection_rate_ratio 95%", "two_proportion_z"),
    "strata": ("cmh_", "breslow_", "mantel_", "fisher_"),
    "regression": ("mae", "mean_prediction"),
    "individuals": ("consistency_score",),
    "mitigation": ("reweighing_weight", "threshold_optimizer_"),
}


def later(case: Case) -> str | None:
    return next((part for part, names in LATER.items() if case["metric"].startswith(names)), None)


COVERED = [case for case in CASES if not later(case)]
TOOLS = {tool: [case for case in COVERED if case["tool"].startswith(tool)] for tool in ("fairlearn", "aif360", "aeq")}

# fairlearn and Aequitas compare a measure ("fnr_ratio", "fnr_disparity"); each has a metric of ours.
METRICS = {
    "demographic_parity": eh.demographic_parity,
    "equal_opportunity": eh.equal_opportunity,
    "equalized_odds": eh.equalized_odds,
    "pprev": eh.demographic_parity,
    "fpr": eh.predictive_equality,
    "fnr": eh.false_negative_rate_parity,
    "ppv": eh.predictive_parity,
    "fdr": eh.false_discovery_rate_parity,
    "accuracy": eh.overall_accuracy_equality,
}

# AIF360's names, where they are not ours.
NAMES = {
    "mean_difference (labels)": "base_rate_difference",
    "disparate_impact (labels)": "base_rate_ratio",
    "equal_opportunity_difference_signed": "equal_opportunity_difference",
    "generalized_entropy_index_alpha2": "generalized_entropy_index",
    "between_group_generalized_entropy_index": "generalized_entropy_index",
    "between_all_groups_theil_index": "theil_index",
    "between_all_groups_coefficient_of_variation": "coefficient_of_variation",
}


def test_every_case_is_covered_or_left_for_a_reason():
    assert Counter(later(case) for case in CASES) == {
        None: 294,
        "scores": 69,
        "intervals and tests": 18,
        "strata": 5,
        "regression": 2,
        "individuals": 1,
        "mitigation": 6,
    }
    assert {tool: len(chosen) for tool, chosen in TOOLS.items()} == {"fairlearn": 191, "aif360": 47, "aeq": 56}


def count(case: Case) -> eh.Cube:
    params = case.get("params") or {}
    return counted(
        case["file"],
        json.dumps(case["filters"]),
        label=case["label"],
        prediction=case.get("prediction"),
        sensitive=tuple(case["sensitive"]),
        weight=params.get("sample_weight"),
        control=params.get("control_feature"),
        positive=params.get("favorable_label", 1),
    )


@cache
def counted(file: str, filters: str, *, sensitive: tuple[str, ...], **roles: object) -> eh.Cube:
    frame = cases.frame(file)
    for column, op, value in json.loads(filters):
        frame = frame[frame[column].isin(value if op == "in" else [value])]
    return eh.Cube.count(frame, sensitive=list(sensitive), **roles)


def group(case: Case) -> str:
    name = case["group"]
    return "|".join(name) if isinstance(name, list) else str(name)


def disparities(case: Case) -> bool:
    return case["metric"].endswith("_disparity")


OF_A_GROUP = [case for case in TOOLS["fairlearn"] + TOOLS["aeq"] if "group" in case and not disparities(case)]


@cases.parametrize(OF_A_GROUP)
def test_measure_of_a_group(case):
    cube = count(case)
    if case["group"] == "overall":
        assert cases.values(cases.everyone(cube), case["metric"]) == {"": same(case["expected"])}
    else:
        assert cases.values(cube, case["metric"])[group(case)] == same(case["expected"])


@cases.parametrize([case for case in TOOLS["fairlearn"] if "group" not in case])
def test_fairlearn(case):
    name, _, kind = case["metric"].removesuffix("_min").rpartition("_")
    params = case.get("params") or {}
    arguments = {"convention": "fairlearn"}
    if kind != "group":
        arguments["judged_on"] = kind
    if params.get("method") == "to_overall":
        arguments["reference"] = "overall"
    if params.get("agg") == "mean":
        arguments["aggregate"] = "mean"
    found = METRICS[name](count(case), **arguments)
    if "control_level" in params:
        (row,) = (row for row in found.rows if row.stratum == (params["control_level"],) and row.estimate is None)
        assert float(getattr(row, kind)) == same(case["expected"])
    elif kind == "group":
        smallest = min(found.groups, key=lambda row: row.estimate.value)
        assert float(smallest.estimate) == same(case["expected"])
    else:
        assert float(found.value) == same(case["expected"])


@cases.parametrize([case for case in TOOLS["aeq"] if disparities(case)])
def test_aequitas_disparity(case):
    metric = METRICS[case["metric"].removesuffix("_disparity")]
    found = metric(count(case), reference=case["params"]["reference"], convention="aequitas", judged_on="ratio")
    (row,) = (row for row in found.groups if row.group == (group(case),))
    assert float(row.ratio) == same(case["expected"])


INDICES = ("smoothed", "df_", "between_", "generalized_entropy", "theil", "coefficient")
INDEX_CASES = [case for case in TOOLS["aif360"] if case["metric"].startswith(INDICES)]


@cases.parametrize([case for case in TOOLS["aif360"] if case not in INDEX_CASES])
def test_aif360(case):
    metric = getattr(eh, NAMES.get(case["metric"], case["metric"]))
    found = metric(count(case), reference=case["params"]["privileged"], convention="aif360")
    assert float(found.value) == same(case["expected"])


@cases.parametrize(INDEX_CASES)
def test_aif360_index(case):
    params = case["params"]
    smoothed = case["metric"].startswith(("smoothed", "df_"))
    metric = eh.differential_fairness if smoothed else getattr(eh, NAMES.get(case["metric"], case["metric"]))
    options = {name: params[name] for name in ("alpha", "concentration") if name in params}

    def found(cube: eh.Cube) -> eh.Finding:
        # A dataset of AIF360 knows two groups, whatever the attribute holds; its sklearn functions know them all.
        return metric(cube if "sklearn" in case["tool"] else cube.pool((params["privileged"],)), **options)

    if smoothed:  # of the labels; amplification is what the decisions add
        of_labels = float(found(count({**case, "prediction": case["label"], "label": None})))
        amplified = "prediction" in case and float(found(count(case))) - of_labels
        assert (amplified or of_labels) == same(case["expected"])
    elif case["metric"].startswith("between"):
        (row,) = (row for row in found(count(case)).rows if row.measure == "between_groups")
        assert float(row.estimate) == same(case["expected"])
    else:
        assert float(found(count(case))) == same(case["expected"])
