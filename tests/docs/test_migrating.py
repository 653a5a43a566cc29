"""The tables of docs/migrating.md: each row is run, and both calls give the number that it shows."""

from __future__ import annotations

import re
from typing import Any

import fairlearn.metrics
import numpy as np
import pytest

import evenhand as eh
import examples
from conftest import ROOT

PAGE = (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`(?P<theirs>[^`]+)`[^|]*) \| `(?P<ours>[^`]+)` \| (?P<value>[−\d.]+) \|$", re.MULTILINE)
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
ROWS = [
    (title, match["theirs"], match["ours"], match["value"])
    for title, text in SECTIONS.items()
    for match in ROW.finditer(text)
]

NAMES: dict[str, Any] = {}
for block in examples.blocks(PAGE):
    if "print" not in block.source:
        exec(block.source, NAMES)


def evaluate(expression: str) -> float:
    value = eval(expression, {**vars(fairlearn.metrics), **NAMES})
    return float(value.value if isinstance(value, eh.Finding) else value)


def cells(facet: str) -> tuple[float, float, float, float]:
    """TN, FP, FN, TP of a group."""
    y, p = (NAMES[name][NAMES["group"] == facet] for name in ("y", "p"))
    return tuple(float(np.sum((y == label) & (p == decision))) for label in (0, 1) for decision in (0, 1))


def figures(facet: str) -> dict[str, float]:
    tn, fp, fn, tp = cells(facet)
    n = tn + fp + fn + tp
    return {
        "pprev": (tp + fp) / n,
        "prev": (tp + fn) / n,
        "tpr": tp / (tp + fn),
        "fpr": fp / (fp + tn),
        "tnr": tn / (fp + tn),
        "fnr": fn / (tp + fn),
        "precision": tp / (tp + fp),
        "fdr": fp / (tp + fp),
        "for": fn / (tn + fn),
        "npv": tn / (tn + fn),
        "accuracy": (tp + tn) / n,
        "accepted": (tp + fn) / (tp + fp),
        "rejected": (tn + fp) / (tn + fn),
    }


def _disparity() -> float:
    """n_d(refused) / n(refused) − n_d(selected) / n(selected)."""
    facet, chosen = NAMES["group"] == "African-American", NAMES["p"] == 1
    return float(facet[~chosen].mean() - facet[chosen].mean())


A, D = figures("Caucasian"), figures("African-American")

BENEFIT = 1 + NAMES["p"] - NAMES["y"]

# AIF360 0.6.1 on these people; the first and the fourth are its definitions, P(Ŷ=1|D) − P(Ŷ=1|A) of all and of Y = 1.
AIF360 = {
    "metric.statistical_parity_difference()": D["pprev"] - A["pprev"],
    "metric.disparate_impact()": 1.6902240031631133,
    "metric.average_odds_difference()": 0.20564895979925066,
    "metric.equal_opportunity_difference()": D["tpr"] - A["tpr"],
    "metric.false_positive_rate_difference()": 0.21392495582112797,
    "metric.false_omission_rate_ratio()": 1.2131542866590084,
    "metric.error_rate_ratio()": 1.0959455667789,
    "metric.theil_index()": 0.22764925481327447,
    "BinaryLabelDatasetMetric(...).mean_difference()": 0.12069679505498576,
    "BinaryLabelDatasetMetric(...).disparate_impact()": 1.306614839611734,
}
CLARIFY = {
    "DPL": A["prev"] - D["prev"],
    "DPPL": A["pprev"] - D["pprev"],
    "DI": D["pprev"] / A["pprev"],
    "DCA": A["accepted"] - D["accepted"],
    "DCR": D["rejected"] - A["rejected"],
    "CDDPL": _disparity(),
    "RD": A["tpr"] - D["tpr"],
    "SD": D["tnr"] - A["tnr"],
    "AD": A["accuracy"] - D["accuracy"],
    "DAR": A["precision"] - D["precision"],
    "DRR": D["npv"] - A["npv"],
    "GE": float(np.mean((BENEFIT / BENEFIT.mean()) ** 2 - 1) / 2),
}


# SolasAI 0.6.0 on these people.
SOLAS = {
    "adverse_impact_ratio": 1.6902240031631133,
    "standardized_mean_difference": 0.5722783436215673,
    'standardized_mean_difference(smd_denominator="pooled")': 0.5961230417597257,
    "residual_standardized_mean_difference": -0.556351641557633,
    "adverse_impact_ratio_by_quantile(quantiles=[0.1])": 2.7296176046176046,
    "adverse_impact_ratio_by_quantile(quantiles=[0.5])": 1.4917263377535548,
    "adverse_impact_ratio_by_quantile(quantiles=[0.7])": 1.366010494463044,
}


def expected(title: str, theirs: str) -> float:
    if title.startswith("fairlearn"):
        return evaluate(theirs)
    if title == "AIF360":
        return AIF360[theirs]
    if title == "Aequitas":
        name = theirs.removesuffix("_disparity")
        return D[name] / A[name]
    return SOLAS[theirs] if title == "SolasAI" else CLARIFY[theirs]


def test_every_row_of_every_table_is_read():
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(ROWS) == len(lines) - 5
    assert {title for title, *_ in ROWS} == {
        "fairlearn: the same with an interval and a verdict",
        "AIF360",
        "Aequitas",
        "SageMaker Clarify",
        "SolasAI",
    }


@pytest.mark.parametrize(("title", "theirs", "ours", "shown"), ROWS, ids=lambda text: text[:60])
def test_both_calls_give_the_number_shown(title, theirs, ours, shown):
    value = expected(title, theirs)
    assert evaluate(ours) == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert f"{value:.4f}".replace("-", "−") == shown


@pytest.mark.parametrize(
    ("title", "theirs"), [(title, theirs) for title, theirs, *_ in ROWS if title.startswith("fairlearn")]
)
def test_the_drop_in_gives_the_same_number(title, theirs):
    import evenhand.fairlearn as ours

    functions = {name: getattr(ours, name) for name in ours.__all__}
    assert float(eval(theirs, {**functions, **NAMES})) == pytest.approx(evaluate(theirs), abs=1e-12)
