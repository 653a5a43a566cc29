"""Audits of every kind that a page must make sense of; small, and made once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import evenhand as eh
from evenhand.core.results import Panel

FEW = ["demographic_parity", "disparate_impact", "equalized_odds", "predictive_parity", "calibration", "theil_index"]


@cache
def compas() -> eh.Audit:
    """What `evenhand demo` audits."""
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    return eh.audit(eh.datasets.compas(), **roles)


@cache
def strata() -> eh.Audit:
    roles = {"prediction": "admitted", "count": "count", "sensitive": "gender", "control": "department"}
    return eh.audit(eh.datasets.berkeley(), **roles)


def _drawn(people: int = 900) -> dict[str, Any]:
    random = np.random.default_rng(20240229)
    region = random.choice(["north", "south", "east"], people)
    sex = random.choice(["f", "m"], people)
    score = 1 / (1 + np.exp(-random.normal(0.4 * (region == "north"), 1, people)))
    label = (random.random(people) < score).astype(int)
    return {"region": region, "sex": sex, "score": score, "label": label, "decided": (score > 0.5).astype(int)}


@cache
def two_groups() -> eh.Audit:
    """Two groups, labels and decisions, no score."""
    table = _drawn()
    return eh.audit(label=table["label"], prediction=table["decided"], sensitive={"sex": table["sex"]})


@cache
def decisions_only() -> eh.Audit:
    table = _drawn()
    return eh.audit(prediction=table["decided"], sensitive={"sex": table["sex"]})


@cache
def score_and_decision() -> eh.Audit:
    """The decision is a column of its own, so the slider begins at what was decided."""
    table = _drawn()
    roles = {"label": table["label"], "prediction": table["decided"], "score": table["score"]}
    return eh.audit(**roles, sensitive={"region": table["region"]}, metrics=FEW)


@cache
def mirrored() -> eh.Audit:
    """A score that is higher for the negative class."""
    table = _drawn()
    roles = {"label": table["label"], "score": 1 - table["score"], "cutoff": 0.4, "higher_is": "negative"}
    return eh.audit(**roles, sensitive={"region": table["region"]}, metrics=FEW)


@cache
def scores_only() -> eh.Audit:
    table = _drawn()
    return eh.audit(score=table["score"], sensitive={"region": table["region"]})


@cache
def labels_only() -> eh.Audit:
    table = _drawn()
    return eh.audit(label=table["label"], sensitive={"region": table["region"]})


@cache
def regression() -> eh.Audit:
    table = _drawn()
    outcome = 40_000 + 20_000 * table["score"]
    guess = outcome + np.random.default_rng(1).normal(0, 3000, len(outcome))
    groups = {name: table[name] for name in ("region", "sex")}
    return eh.audit(label=outcome, prediction=guess, sensitive=groups, task="regression")


@cache
def multiclass() -> eh.Audit:
    table = _drawn()
    classes = np.array(["low", "middle", "high"])
    label = classes[np.digitize(table["score"], [0.35, 0.65])]
    random = np.random.default_rng(2)
    guess = np.where(random.random(len(label)) < 0.7, label, random.choice(classes, len(label)))
    return eh.audit(label=label, prediction=guess, sensitive={"region": table["region"]}, task="multiclass")


@cache
def against_a_reference() -> eh.Audit:
    table = _drawn()
    roles = {"label": table["label"], "score": table["score"], "cutoff": 0.5}
    return eh.audit(**roles, sensitive={"region": table["region"]}, reference="south", metrics=FEW)


@cache
def trend() -> eh.Audit:
    """Twelve months, the last of which drift apart, as `evenhand watch` saves them."""
    random = np.random.default_rng(1)
    months = {}
    for month in range(1, 13):
        region = random.choice(["north", "south"], 800)
        approved = random.random(800) < 0.5 - max(month - 6, 0) * 0.05 * (region == "south")
        table = {"region": region, "approved": approved.astype(int)}
        months[f"2026-{month:02d}"] = eh.Cube.count(table, prediction="approved", sensitive="region")
    return eh.trend(months).audit()


@cache
def nothing_found() -> eh.Audit:
    """No finding at all."""
    return replace(two_groups(), findings=(), required=(), notes=())


PANELS = (
    Panel("table", "Numbers and words", ("who", "how many"), (("a", 1), ("b", 2))),
    Panel("table", "Values", ("who", "n", "value", "low", "high"), (("a", 9, 0.2, 0.1, 0.3), ("b", 90, 0.4, 0.3, 0.6))),
    Panel(
        "table",
        "Parts",
        ("part", "from", "to", "value", "low", "high"),
        (("a", None, 0.2, 0.2, 0.1, 0.3), ("by place", 0.2, 0.5, 0.3, 0.2, 0.4), ("b", None, 0.5, 0.5, 0.4, 0.6)),
    ),
    Panel("curve", "Named lines", ("series", "x", "y"), (("a", 0.0, 0.1), ("a", 1.0, 0.4), ("b", 0.5, 0.2))),
    Panel(
        "curve",
        "Lines by group",
        ("x", "group", "y", "z"),
        ((0, "a", 1.0, 3.0), (1, "a", 2.0, 1.0), (0, "b", 2.0, 4.0)),
    ),
    Panel("curve", "Columns as lines", ("x", "y", "z"), ((0, 1.0, 3.0), (1, 2.0, 1.0), (2, None, 4.0))),
    Panel("distribution", "Shares", ("group", "from", "to", "share"), (("a", 0.0, 0.5, 0.3), ("a", 0.5, 1.0, 0.7))),
    Panel(
        "pairs", "A grid", ("a", "b", "distance"), (("x", "x", 0.0), ("x", "y", 1.0), ("y", "x", 1.0), ("y", "y", 0.0))
    ),
    Panel("pairs", "Gaps", ("a", "b", "gap", "low", "high"), (("x", "y", 0.1, 0.0, 0.2), ("y", "z", 0.3, 0.1, 0.5))),
    Panel("pairs", "People", ("one", "other", "distance"), tuple((f"p{i}", f"q{i}", i / 9) for i in range(9))),
)


@cache
def with_more() -> eh.Audit:
    """A finding that another capability brought: attributes that the counts do not know, and panels of every kind."""
    first = two_groups().findings[0]
    rows = tuple(replace(row, measure="nearness") for row in first.groups)
    found = replace(first, metric="closeness", title="closeness", attributes=("elsewhere",), rows=rows, panels=PANELS)
    return two_groups().add(found)


@cache
def many_groups(groups: int = 200, bins: int = 256, *, weighted: bool = False, metrics: str | None = None) -> eh.Audit:
    """As many groups and bins as a page is promised to hold; no cell is empty."""
    random = np.random.default_rng(20240229)
    score = (np.arange(bins) + 0.5) / bins
    table: dict[str, list[Any]] = {"district": [], "score": [], "label": [], "count": []}
    for group in range(groups):
        weight = np.exp(-((score - 0.5 - random.normal(0, 0.08)) ** 2) / 0.08)
        for label in (0, 1):
            table["district"] += [f"District {group:03d}"] * bins
            table["score"] += score.tolist()
            table["label"] += [label] * bins
            table["count"] += (6 + random.poisson(60 * weight * (score if label else 1 - score))).tolist()
    roles = {"label": "label", "score": "score", "cutoff": 0.5, "count": "count", "sensitive": "district"}
    if weighted:
        table["weight"] = random.gamma(2.0, 1.0, len(table["count"])).tolist()
        roles["weight"] = "weight"
    return eh.audit(table, score_range=(0, 1), metrics=metrics, **roles)


KINDS = {
    "compas": compas,
    "strata": strata,
    "two groups": two_groups,
    "decisions only": decisions_only,
    "score and decision": score_and_decision,
    "mirrored": mirrored,
    "scores only": scores_only,
    "labels only": labels_only,
    "regression": regression,
    "multiclass": multiclass,
    "reference": against_a_reference,
    "nothing found": nothing_found,
    "with more": with_more,
    "trend": trend,
}
