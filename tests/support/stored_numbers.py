"""Audits whose numbers were stored before they were made faster: each must still say the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import evenhand as eh
from evenhand.datasets import berkeley, compas


def people(rows: int, groups: int, seed: int = 0, *, uneven: bool = False) -> dict[str, np.ndarray]:
    """Rows of a label, a decision, a score, a weight and a group; uneven groups are of one person to many."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(groups, 0.3)) if uneven else np.full(groups, 1 / groups)
    group = random.choice(groups, rows, p=shares)
    score = np.clip(random.beta(2, 2, rows) + 0.1 * (group % 3 == 0) - 0.05, 0, 1)
    label = (random.random(rows) < score).astype(int)
    prediction = (score + random.normal(0, 0.1, rows) > 0.6).astype(int)
    return {
        "label": label,
        "prediction": prediction,
        "score": score,
        "weight": random.lognormal(0, 0.7, rows),
        "group": np.char.add("g", group.astype(str)),
        "sex": random.choice(["f", "m"], rows),
        "age": random.choice(["young", "middle", "old"], rows),
    }


def _audit(data: dict[str, np.ndarray], *roles: str, sensitive: Any = "group", **options: Any) -> eh.Audit:
    return eh.audit(data, **{role: role for role in roles}, sensitive=sensitive, **options)


DECIDED = ("label", "prediction")
SCORED = (*DECIDED, "score")
CASES: dict[str, Callable[[], eh.Audit]] = {
    "decisions": lambda: _audit(people(3000, 5), *DECIDED, metrics="all"),
    "intersections": lambda: _audit(people(5000, 6), *DECIDED, sensitive=["group", "sex", "age"]),
    "scores": lambda: _audit(people(4000, 7), *SCORED, metrics="all"),
    "core of scores": lambda: _audit(people(9000, 40), *SCORED),
    "weights": lambda: _audit(people(3000, 9), *SCORED, "weight", metrics="all"),
    "many groups": lambda: _audit(people(30_000, 150), *DECIDED, metrics="all"),
    "many uneven groups": lambda: _audit(people(9000, 150, uneven=True), *DECIDED, metrics="all"),
    "many groups, four-fifths": lambda: _audit(people(9000, 120, uneven=True), *DECIDED, policy="four-fifths"),
    "many scored groups": lambda: _audit(people(20_000, 90), *SCORED, "weight"),
    "reference": lambda: _audit(people(5000, 20), *SCORED, reference="g3", metrics="all"),
    "rest": lambda: _audit(people(5000, 90), *DECIDED, reference="rest"),
    "everyone": lambda: _audit(people(5000, 90), *DECIDED, reference="overall"),
    "strata": lambda: eh.audit(
        berkeley(), prediction="admitted", sensitive="gender", control="department", count="count", metrics="all"
    ),
    "compas": lambda: eh.audit(
        compas(), label="recidivated", score="decile", cutoff=5, count="count", sensitive=["race", "sex"], metrics="all"
    ),
    "percentile": lambda: _audit(people(2000, 5), *DECIDED, interval="percentile", draws=200),
}


def numbers(audit: eh.Audit) -> dict[str, dict[str, Any]]:
    """What each finding says, and sums over its rows in which a change of any number would show."""
    return {f"{each.metric} of {' × '.join(each.attributes)}": _said(each) for each in audit.findings}


def _said(finding: eh.Finding) -> dict[str, Any]:
    sums = np.zeros(9)
    for i, row in enumerate(finding.rows):
        estimates = (row.estimate, row.difference, row.ratio)
        parts = [
            part for each in estimates for part in ((None,) * 3 if each is None else (each.value, each.low, each.high))
        ]
        sums += [0.0 if part is None or not math.isfinite(part) else part * (1 + i % 7) for part in parts]
    value, pair = finding.value, finding.evidence
    ends = (value.value, value.low, value.high, finding.p_value, finding.p_adjusted)
    return {
        "verdict": finding.verdict,
        "evidence": None if pair is None else [list(pair.group), pair.against],
        "numbers": [_plain(each) for each in (*ends, *sums.tolist())],
    }


def _plain(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)
