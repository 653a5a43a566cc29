"""Virny's numbers: its own fixtures, those it publishes for 50 forests on COMPAS, and those it gives for them."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import evenhand as eh
from evenhand.replicas import dimensions
from support import cases
from support.cases import same

CASES = {case["id"]: case for case in cases.load("virny_exfairness_kamiran")}
PUBLISHED = [case for case in cases.load("published") if re.match(r"virny_rf_.*_[A-Z]", case["id"])]

NAMES = {
    "Label_Stability": "label_stability",
    "Jitter": "jitter",
    "Std": "std",
    "IQR": "iqr",
    "Mean_Prediction": "mean_prediction",
    "Statistical_Bias": "statistical_bias",
    "Overall_Uncertainty": "overall_uncertainty",
    "Aleatoric_Uncertainty": "aleatoric_uncertainty",
    "Epistemic_Uncertainty": "epistemic_uncertainty",
}

# Virny 0.6.0, count_prediction_metrics, run on the file that ../shared/data holds; in the order of NAMES.
EXECUTED = {
    "overall": (0.8408712121212122, 0.11221320346320351, 0.06812843664539374, 0.0894002471377841, 0.523332045690341,
                0.40445580844867424, 0.860751435911844, 0.8369703514226803, 0.023781084489163717),
    "sex_priv": (0.8072037914691944, 0.13494922139471924, 0.07299380529306605, 0.096787477464455, 0.5794753061886256,
                 0.3959503497545023, 0.8788724829606476, 0.8505045656484974, 0.02836791731215016),
    "sex_dis": (0.8492781065088757, 0.10653592561284883, 0.06691353394165545, 0.08755562512721894, 0.5093128409978699,
                0.40657965671431956, 0.8562265354061666, 0.8335908020716183, 0.02263573333454827),
    "race_priv": (0.8338164251207729, 0.11490880410135078, 0.06910839721619551, 0.08984494973429952,
                  0.5968332809748792, 0.3937444011632851, 0.8508813702595733, 0.8254419136304045, 0.0254394566291688),
    "race_dis": (0.8454205607476636, 0.11047491893953824, 0.06749649945487672, 0.08911347630451714,
                 0.4759340528433021, 0.41136316454859817, 0.8671162446034952, 0.8444045776625589,
                 0.022711666940936293),
    "sex&race_priv": (0.8362737642585552, 0.11528982695739905, 0.06887580920102476, 0.09004701407794678,
                      0.5857743766490495, 0.3966915413479088, 0.8606807965289175, 0.8356556533106875,
                      0.025025143218230017),
    "sex&race_dis": (0.8454339622641509, 0.10915979976896446, 0.06738670463735238, 0.08875836145754717,
                     0.46136097760679246, 0.4121614773071698, 0.8608215421673524, 0.838275127284771,
                     0.022546414882581356),
}  # fmt: skip


def measured(case) -> dimensions.PersonValues:
    """The fixtures hold P(Y=0), and Virny counts one half as a 0."""
    given = case["inputs"]
    label = np.array(given["y_true"], dtype=float) if "y_true" in given else None
    return dimensions.measure(np.array(given["ensemble_proba_of_class_0"]), label, mirror=True, above=True)


def of(found: dimensions.PersonValues, name: str) -> float:
    value = float(found.people[NAMES[name]].mean())
    return 1 - value if name == "Mean_Prediction" else value


def test_every_case_of_replicas_is_here():
    here = [name for name in CASES if name.startswith(("virny-cpm", "virny-jitter", "virny-labels", "virny-entropy"))]
    assert len(here) == 14
    assert "virny-statbias-doc" in CASES


@pytest.mark.parametrize("case", [case for name, case in CASES.items() if name.startswith("virny-cpm1-")], ids=str)
def test_first_fixture(case):
    found = measured(case)
    if case["metric"] == "ensemble_hard_prediction":
        assert dimensions.decide(found.people["mean_prediction"], above=True).tolist() == case["expected"]
    else:
        assert of(found, case["metric"].replace("Iqr", "IQR")) == same(case["expected"])


def test_second_fixture():
    found = measured(CASES["virny-cpm2-all"])
    for name, expected in CASES["virny-cpm2-all"]["expected"].items():
        assert of(found, name) == same(expected), name
    decided = dimensions.decide(measured(CASES["virny-cpm2-ypred"]).people["mean_prediction"], above=True)
    assert decided.tolist() == CASES["virny-cpm2-ypred"]["expected"]


def test_churn_and_jitter():
    churn = CASES["virny-cpm2-pairwise-churn"]
    pair = np.array([churn["inputs"]["labels_1"], churn["inputs"]["labels_2"]])
    assert dimensions.measure(pair, names=["jitter"]).people["jitter"].mean() == same(churn["expected"])
    several = CASES["virny-jitter-closed-form"]
    labels = np.array(several["inputs"]["model_labels"])
    assert dimensions.measure(labels, names=["jitter"]).people["jitter"].mean() == same(several["expected"])


def test_labels_only():
    case = CASES["virny-labels-only"]
    labels, label = case["inputs"]["model_labels"], case["inputs"]["y_true"]
    found = eh.stability(labels, label=label, sensitive=["a", "a", "b", "b"], convention="virny", reference="a")
    assert found.decisions.tolist() == case["expected"]["y_pred"]
    assert found.overall["jitter"].value == same(case["expected"]["Jitter"])
    assert found.overall["label_stability"].value == same(case["expected"]["Label_Stability"])
    assert {finding.metric for finding in found.findings} == {"label_stability_difference", "jitter_difference"}


def test_one_replica_is_an_error_with_a_remedy():
    p = CASES["virny-cpm-single-model"]["inputs"]["ensemble_proba_of_class_0"]
    with pytest.raises(eh.DataError, match="there is 1 replica; two are needed"):
        eh.stability(p, sensitive=["a", "b"] * 5)


@pytest.mark.parametrize("name", ["virny-entropy-0.1", "virny-entropy-0.5"])
def test_entropy_is_in_bits(name):
    case = CASES[name]
    assert float(dimensions.entropy(np.array(case["inputs"]["p0"]))) == same(case["expected"])


def test_statistical_bias_of_a_person():
    case = CASES["virny-statbias-doc"]
    p, label = np.full((2, 2), case["inputs"]["p0"]), np.array(case["inputs"]["y_true"], dtype=float)
    assert dimensions.measure(p, label, mirror=True).people["statistical_bias"] == same(case["expected"])


# --- 50 forests on COMPAS


@cache
def forests(attribute: str) -> eh.Stability:
    """Privileged in both attributes together: female or Caucasian."""
    frame = cases.frame("virny_compas_rf_bootstrap.csv")
    privileged = {"sex": frame["sex_code"] == 0, "race": frame["race"] == "Caucasian"}
    privileged["sex&race"] = privileged["sex"] | privileged["race"]
    side = np.where(privileged[attribute], "priv", "dis")
    replicas = frame.filter(regex=r"^p0_\d+$")
    return eh.stability(replicas, label=frame["y_true"], sensitive={attribute: side}, higher_is="negative",
                        convention="virny", reference="priv")  # fmt: skip


def in_forests(subgroup: str, name: str) -> float:
    """A dimension of a subgroup, in Virny's direction: its mean prediction is that of P(Y=0)."""
    attribute, _, side = subgroup.rpartition("_")
    found = forests(attribute or "sex")
    if subgroup == "overall":
        value = found.overall[NAMES[name]].value
    else:
        (row,) = (row for row in found.finding(NAMES[name]).groups if (row.group == ("priv",)) == (side == "priv"))
        value = row.estimate.value
    return 1 - value if name == "Mean_Prediction" else value


@pytest.mark.parametrize("subgroup", EXECUTED)
def test_every_dimension_of_the_forests_is_that_of_virny(subgroup):
    for name, expected in zip(NAMES, EXECUTED[subgroup], strict=True):
        assert in_forests(subgroup, name) == same(expected, abs=1e-12), name


def test_every_published_number_of_replicas_is_met():
    names = "|".join(NAMES)
    found = [case for case in PUBLISHED if re.fullmatch(rf"virny_rf_(.+)_({names})", case["id"])]
    assert len(found) == 20
    for case in found:
        subgroup, name = re.fullmatch(rf"virny_rf_(.+?)_({names})", case["id"]).groups()
        assert in_forests(subgroup, name) == pytest.approx(case["expected"], abs=case["tolerance"]), case["id"]


RATES = {
    "TPR": "true_positive_rate",
    "TNR": "true_negative_rate",
    "FPR": "false_positive_rate",
    "PPV": "positive_predictive_value",
    "Accuracy": "accuracy",
    "F1": "f1",
    "Selection-Rate": "selection_rate",
}


def test_every_published_error_rate_of_the_ensemble_is_met():
    found = [case for case in PUBLISHED if case["id"].rpartition("_")[2] in RATES]
    assert len(found) == len(PUBLISHED) - 20
    for case in found:
        subgroup, _, rate = case["id"].removeprefix("virny_rf_").rpartition("_")
        attribute, _, side = subgroup.rpartition("_")
        values = cases.values(forests(attribute).cube, RATES[rate])
        assert values[side] == pytest.approx(case["expected"], abs=case["tolerance"]), case["id"]


@pytest.mark.parametrize("attribute", ["sex", "race", "sex&race"])
def test_disparities_are_disadvantaged_less_privileged(attribute):
    """As Virny's MetricsComposer has them."""
    priv, dis = (dict(zip(NAMES, EXECUTED[f"{attribute}_{side}"], strict=True)) for side in ("priv", "dis"))
    for name, ours in NAMES.items():
        if name != "Mean_Prediction":
            found = forests(attribute).finding(ours)
            assert (found.highest, found.lowest) == ("dis", "priv")  # the only other group keeps its name
            assert found.difference.value == same(dis[name] - priv[name], abs=1e-12)
            assert found.ratio.value == same(dis[name] / priv[name])
