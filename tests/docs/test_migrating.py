"""The tables of docs/migrating: each row is run, and both calls give the number that it shows."""

from __future__ import annotations

import re
from typing import Any

import fairlearn.metrics
import numpy as np
import pandas as pd
import pytest

import evenhand as eh
import examples
from conftest import ROOT

FOLDER = ROOT / "docs" / "migrating"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
ROW = re.compile(r"^\| (`(?P<theirs>[^`]+)`[^|]*) \| `(?P<ours>[^`]+)` \| (?P<value>[−\d.]+) \|$", re.MULTILINE)
TYPED = re.compile(r"^\| `(?P<theirs>[^`]+)` \| `(?P<ours>[^`]+)` \|$", re.MULTILINE)
ROWS = [
    (page, match["theirs"], match["ours"], match["value"])
    for page, text in PAGES.items()
    for match in ROW.finditer(text)
]
INDEX = PAGES["index"].partition("## What differs")[0]


def names_of(page: str) -> dict[str, Any]:
    """What the blocks of a page define, of those that print nothing."""
    names: dict[str, Any] = {"pd": pd}
    for block in examples.blocks(PAGES[page]):
        if block.is_run and "print" not in block.source:
            exec(block.source, names)
    return names


NAMES = {page: names_of(page) for page in PAGES}
HERE = NAMES["clarify"]


def evaluate(page: str, expression: str) -> float:
    value = eval(expression, {**vars(fairlearn.metrics), **NAMES[page]})
    return float(value.value if isinstance(value, eh.Finding) else value)


def cells(facet: str) -> tuple[float, float, float, float]:
    """TN, FP, FN, TP of a group."""
    y, p = (HERE[name][HERE["group"] == facet] for name in ("y", "p"))
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
    facet, chosen = HERE["group"] == "African-American", HERE["p"] == 1
    return float(facet[~chosen].mean() - facet[chosen].mean())


A, D = figures("Caucasian"), figures("African-American")

BENEFIT = 1 + HERE["p"] - HERE["y"]

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
# Aequitas 1.1.0 on these people, African-American by Caucasian.
AEQUITAS = {
    "pprev_disparity": 1.6902240031631133,
    "precision_disparity": 1.064903859291173,
    "fdr_disparity": 0.9060846735185033,
    "for_disparity": 1.2131542866590084,
    "fpr_disparity": 1.9120926483147231,
    "fnr_disparity": 0.5864158719979552,
    "tpr_disparity": 1.377549075265233,
    "tnr_disparity": 0.7205264844057607,
    "npv_disparity": 0.9137277206762046,
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


_OF_SOLAS = ("y", "p", "group", "score")
FIGURES = {"aif360": AIF360, "aequitas": AEQUITAS, "clarify": CLARIFY, "index": SOLAS}


def expected(page: str, theirs: str) -> float:
    return evaluate(page, theirs) if page == "fairlearn" else FIGURES[page][theirs]


def test_every_figure_of_another_tool_stands_on_its_page():
    assert {page: {theirs for of, theirs, *_ in ROWS if of == page} for page in FIGURES} == {
        page: set(figures) for page, figures in FIGURES.items()
    }
    for page, text in PAGES.items():
        with_value = [line for line in text.splitlines() if re.search(r"\| [−\d.]+ \|$", line)]
        assert len(with_value) == sum(of == page for of, *_ in ROWS) > 0, page


def test_aequitas_divides_as_its_documentation_says():
    for name, figure in AEQUITAS.items():
        measure = name.removesuffix("_disparity")
        assert figure == pytest.approx(D[measure] / A[measure], rel=1e-12)


def test_solas_computes_as_its_documentation_says():
    """The ratio of rates; means of group less reference over a deviation of all, or within both; shares by quantile."""
    names = NAMES["index"]
    y, p, group, score = (np.asarray(names[name], dtype=float if name != "group" else None) for name in _OF_SOLAS)
    first, other = group == "African-American", group == "Caucasian"

    def apart(values: Any, deviation: float) -> float:
        return float((values[first].mean() - values[other].mean()) / deviation)

    def ratio(chosen: Any) -> float:
        return float(chosen[first].mean() / chosen[other].mean())

    n, m = first.sum(), other.sum()
    pooled = ((n - 1) * score[first].var(ddof=1) + (m - 1) * score[other].var(ddof=1)) / (n + m - 2)
    residual = y - score
    expected = {
        "adverse_impact_ratio": ratio(p == 1),
        "standardized_mean_difference": apart(score, score.std(ddof=1)),
        'standardized_mean_difference(smd_denominator="pooled")': apart(score, np.sqrt(pooled)),
        "residual_standardized_mean_difference": apart(residual, residual.std(ddof=1)),
    }
    for share in (10, 50, 70):
        cutoff = np.sort(score)[::-1][int(np.ceil(len(score) * share / 100)) - 1]  # all who tie with it are selected
        expected[f"adverse_impact_ratio_by_quantile(quantiles=[{share / 100:g}])"] = ratio(score >= cutoff)
    assert expected == pytest.approx(SOLAS, rel=1e-12)


@pytest.mark.parametrize(("page", "theirs", "ours", "shown"), ROWS, ids=lambda text: text[:60])
def test_both_calls_give_the_number_shown(page, theirs, ours, shown):
    value = expected(page, theirs)
    assert evaluate(page, ours) == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert f"{value:.4f}".replace("-", "−") == shown


@pytest.mark.parametrize(("page", "theirs"), [(page, theirs) for page, theirs, *_ in ROWS if page == "fairlearn"])
def test_the_drop_in_gives_the_same_number(page, theirs):
    import evenhand.fairlearn as ours

    functions = {name: getattr(ours, name) for name in ours.__all__}
    assert float(eval(theirs, {**functions, **NAMES[page]})) == pytest.approx(evaluate(page, theirs), abs=1e-12)


@pytest.mark.parametrize("typed", [*TYPED.finditer(INDEX)], ids=lambda match: match["theirs"][:60])
def test_what_is_typed_here_runs(typed):
    """What the index proposes in place of a call; where theirs runs here, both give the same number."""
    if typed["ours"].startswith("from "):
        exec(typed["ours"], {})
        return
    found = eval(typed["ours"], dict(NAMES["index"]))
    assert found is not None
    if (
        isinstance(found, eh.Finding)
        and typed["theirs"].split("(")[0] in vars(fairlearn.metrics)
        and "..." not in typed[0]
    ):
        assert float(found) == pytest.approx(evaluate("index", typed["theirs"]), abs=1e-12)


def test_the_block_of_fairlearn_runs():
    [block] = [block for block in examples.blocks(PAGES["fairlearn"]) if block.not_run is not None]
    names = dict(NAMES["fairlearn"])
    exec(block.source, names)
    ours = eh.audit(label=names["y_true"], prediction=names["y_pred"], sensitive={"sex": names["sex"]})
    assert ours.by_group["selection_rate"].tolist() == pytest.approx(names["frame"].by_group.tolist())


# --- what the index says of others, where they can be asked


def test_fairlearn_gives_0_where_nobody_is_in_the_denominator():
    """The row on 0/0: nobody of b has a positive label."""
    y, p, g = [1, 0, 0, 0], [1, 0, 1, 0], ["a", "a", "b", "b"]
    rates = fairlearn.metrics.MetricFrame(
        metrics=fairlearn.metrics.true_positive_rate, y_true=y, y_pred=p, sensitive_features=g
    ).by_group
    assert rates["b"] == 0
    by_group = eh.audit(label=y, prediction=p, sensitive={"g": g}).by_group
    assert np.isnan(by_group.loc[by_group.g == "b", "true_positive_rate"].item())


def test_missing_groups_are_an_error_there_and_a_group_here():
    y, p, g = [1, 0, 1, 0], [1, 0, 0, 1], pd.Series(["a", "a", "b", None])
    assert "(missing)" in str(eh.audit(label=y, prediction=p, sensitive={"g": g}).by_group.group.tolist())
    if tuple(map(int, fairlearn.__version__.split(".")[:2])) >= (0, 15):
        with pytest.raises(ValueError, match="missing values"):
            fairlearn.metrics.MetricFrame(
                metrics=fairlearn.metrics.selection_rate, y_true=y, y_pred=p, sensitive_features=g
            )
