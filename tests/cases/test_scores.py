"""The cases of other tools that need a score: mean scores, AUC, Brier score, calibration, distances."""

from __future__ import annotations

import math
from collections import Counter

import evenhand as eh
from evenhand.measures import curves
from evenhand.measures.group_data import BinnedScores
from evenhand.measures.scores import SCORE_MEASURES
from support.cases import Case, frame, load, parametrize, same

MEASURES = {
    "balance_positive_class": "mean_score_positive",
    "balance_negative_class": "mean_score_negative",
    "roc_auc": "auc",
    "brier": "brier_score",
    "generalized_true_positive_rate": "mean_score_positive",
    "generalized_false_positive_rate": "mean_score_negative",
    "generalized_false_negative_rate": "mean_score_positive",
}
LATER = ("threshold_optimizer", "reweighing", "consistency")

CASES = [case for case in load("peers") if case.get("score") and not case["metric"].startswith(LATER)]


def table(case: Case) -> eh.Cube:
    data = frame(case["file"])
    for column, operator, value in case["filters"]:
        data = data[data[column].isin(value) if operator == "in" else data[column] == value]
    positive = {"label": ["yes"], "prediction": 1} if "kozodoi" in case["file"] else 1
    return eh.Cube.count(data, label=case["label"], score=case["score"], sensitive=case["sensitive"], positive=positive,
                         resolution="exact")  # fmt: skip


def group_cube(case: Case, cube: eh.Cube) -> tuple[eh.Cube, int]:
    group = case.get("group")
    if group in (None, "overall"):
        return cube.marginal(()), 0
    if group in ("privileged", "unprivileged"):
        privileged = (case["params"]["privileged"],)
        cube = cube.pool(privileged)
        (place,) = (i for i, pair in enumerate(cube.pairs) if (pair[1] == privileged) == (group == "privileged"))
        return cube, place
    wanted = tuple(group) if isinstance(group, list) else (str(group),)
    return cube, [pair[1] for pair in cube.pairs].index(wanted)


@parametrize(CASES)
def test_score_case(case):
    cube, place = group_cube(case, table(case))
    binned = BinnedScores.from_table(cube.scores, len(cube.pairs))
    metric = case["metric"].partition(" ")[0]
    if metric in MEASURES:
        value = float(SCORE_MEASURES[MEASURES[metric]].function(binned).values[place])
        if metric == "generalized_false_negative_rate":
            value = 1 - value
    elif metric.startswith("calibration_"):
        value = calibration(case, cube, place, binned)
    else:
        first, second = (part.sum(axis=0) for part in BinnedScores.from_table(table(case).scores, 2).n)
        value = curves.ks(first, second) if metric == "ks_statistic" else float(curves.auc(first, second))
    assert value == same(case["expected"])


def calibration(case: Case, cube: eh.Cube, place: int, binned: BinnedScores) -> float:
    if "decile" in case["params"]:
        values = cube.scores.bins.starts
        at = int((abs(values - case["params"]["decile"])).argmin())
        return float(binned.n[place, 1, at] / binned.n[place, :2, at].sum())
    k, n, score = binned.calibration()
    held = [i for i in range(n.shape[1]) if n[place, i] > 0]
    at = held[case["params"]["bin"]]
    value = score[place, at] if case["metric"] == "calibration_mean_score" else k[place, at] / n[place, at]
    assert not math.isnan(value)
    return float(value)


def test_how_many():
    assert len(CASES) == sum(Counter(case["metric"].partition(" ")[0] for case in CASES).values())
    assert len(CASES) >= 65
