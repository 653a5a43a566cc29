"""Causal models whose answers are known: linear, Gaussian, with coefficients that were chosen here."""

from __future__ import annotations

from typing import Any

import numpy as np

GRAPH = [("group", "exam"), ("effort", "exam"), ("exam", "grade"), ("group", "grade"), ("effort", "grade")]
"""effort is no effect of group; exam is one, and passes it on to grade."""

ON_EXAM = {"group": {"a": 0.0, "b": -4.0}, "effort": 2.0}
ON_GRADE = {"group": {"a": 0.0, "b": 1.0}, "effort": 0.5, "exam": 0.25}
KNOWN = {"exam": ON_EXAM, "grade": ON_GRADE}


def people(n: int = 400, seed: int = 0, *, orthogonal: bool = False) -> dict[str, Any]:
    """Rows of that model. With `orthogonal`, noise in the sample is exactly uncorrelated with its causes."""
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < 0.4, "b", "a")
    effort, first, second = rng.normal(size=(3, n))
    inside = (group == "b").astype(float)
    if orthogonal:
        first = _apart(first, inside, effort)
    exam = -4.0 * inside + 2.0 * effort + first
    if orthogonal:
        second = _apart(second, inside, effort, exam)
    grade = 1.0 * inside + 0.5 * effort + 0.25 * exam + second
    return {"group": group, "effort": effort, "exam": exam, "grade": grade, "u_exam": first, "u_grade": second}


def truth(rows: dict[str, Any], group: str) -> dict[str, Any]:
    """Everyone in that group, by the equations themselves and each person's own noise."""
    inside = 1.0 if group == "b" else 0.0
    exam = -4.0 * inside + 2.0 * rows["effort"] + rows["u_exam"]
    grade = 1.0 * inside + 0.5 * rows["effort"] + 0.25 * exam + rows["u_grade"]
    return {"exam": exam, "grade": grade}


def _apart(noise: Any, *causes: Any) -> Any:
    matrix = np.column_stack([np.ones(len(noise)), *causes])
    return noise - matrix @ np.linalg.lstsq(matrix, noise, rcond=None)[0]
