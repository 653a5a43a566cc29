"""Findings that are judged on their value: indices, distances, dependence. `conclude` makes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.core.results import Estimate, Finding, Row, Verdict
from evenhand.cube.cube import Cube
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.bounds.simultaneous import TOLERANCE
from evenhand.verdicts.policy import Request


def conclude(
    asked: Request,
    cube: Cube,
    value: Estimate,
    sentence: str,
    summary: Row,
    rows: Sequence[Row],
    notes: Sequence[str],
    *,
    unit: str = "rate",
    settings: Mapping[str, object] | None = None,
    p_value: float | None = None,
    tested: str | None = None,
) -> Finding:
    """A finding on a value, with the smaller the better."""
    metric, strata = asked.metric, ["Computed over all strata together."] if cube.meaning.control else []
    return Finding(
        metric.name,
        metric.title,
        cube.meaning.sensitive,
        value,
        "value",
        asked.threshold,
        passes(value, asked.threshold),
        verdict(value, asked.threshold),
        sentence,
        summary,
        tuple(rows),
        (*notes, *strata),
        unit=unit,
        p_value=p_value,
        tested=tested,
        settings={
            "confidence": asked.policy.confidence,
            "random_state": asked.policy.random_state,
            **(settings or {}),
            **asked.options,
        },
        basis=Basis(asked),
    )


def estimate(value: Any, low: float, high: float) -> Estimate:
    """A value with its interval; none where either is undefined."""
    if math.isnan(float(value)) or math.isnan(low) or math.isnan(high):
        return Estimate(float(value))
    return Estimate(float(value), float(low), float(high))


def passes(value: Estimate, threshold: float | None) -> bool | None:
    """Is the estimate within the threshold? None where either is missing."""
    return None if threshold is None or not value.defined else value.value <= threshold + TOLERANCE


def verdict(value: Estimate, threshold: float | None) -> Verdict:
    """Fail when the whole interval is outside, pass when all of it is inside."""
    if threshold is None or value.low is None or value.high is None:
        return "not judged"
    if value.low > threshold + TOLERANCE:
        return "fail"
    return "pass" if value.high <= threshold + TOLERANCE else "inconclusive"
