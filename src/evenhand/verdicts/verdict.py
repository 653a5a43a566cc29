"""What passes, fails and is inconclusive: the one definition, used by every kind of finding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.core.results import Estimate, JudgedOn, Verdict
from evenhand.verdicts import comparison

TOLERANCE = 1e-9
"""Rounding errors up to this size do not move a value across a threshold."""


def passes(
    value: float, threshold: float | None, judged_on: JudgedOn = "value", *, two_sided: bool = False
) -> bool | None:
    """Whether an estimate is within the threshold; None where either is missing.

    A difference counts by its size. A ratio must reach the threshold; with `two_sided` a ratio above 1 counts as its
    inverse.

    >>> passes(-0.05, 0.1, "difference"), passes(1.5, 0.8, "ratio", two_sided=True), passes(0.2, None)
    (True, False, None)
    """
    if threshold is None or math.isnan(value):
        return None
    if judged_on == "ratio":
        return (float(comparison.folded(value)) if two_sided else value) >= threshold - TOLERANCE
    return (abs(value) if judged_on == "difference" else value) <= threshold + TOLERANCE


def verdict(*, judged: bool, outside: bool, inside: bool) -> Verdict:
    """Fail where the whole interval is outside the threshold, pass where all of it is inside, else inconclusive.

    `judged` is False where there is nothing to judge: no threshold, or no value.
    """
    if not judged:
        return "not judged"
    if outside:
        return "fail"
    return "pass" if inside else "inconclusive"


def verdict_on_value(value: Estimate, threshold: float | None) -> Verdict:
    """The verdict on a value of which less is better, such as a distance; not judged without an interval."""
    if threshold is None or value.low is None or value.high is None:
        return "not judged"
    limit = threshold + TOLERANCE
    return verdict(judged=True, outside=value.low > limit, inside=value.high <= limit)


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict of several: any fail fails, else any inconclusive one leaves it open, else it passes.

    >>> overall(["pass", "inconclusive", "not judged"]), overall([])
    ('inconclusive', 'not judged')
    """
    order: tuple[Verdict, ...] = ("fail", "inconclusive", "pass")
    return next((each for each in order if each in verdicts), "not judged")


def beyond(low: Floats | float, high: Floats | float, threshold: float | None) -> Bools:
    """Whether each difference is surely larger than the threshold."""
    limit = (threshold or 0.0) + TOLERANCE
    return (np.asarray(low) > limit) | (np.asarray(high) < -limit)


def within(low: Floats | float, high: Floats | float, threshold: float | None) -> Bools:
    """Whether each difference is surely no larger than the threshold."""
    limit = (threshold or 0.0) + TOLERANCE
    return (np.asarray(low) >= -limit) & (np.asarray(high) <= limit)


def ratio_beyond(low: Floats | float, high: Floats | float, threshold: float | None, two_sided: bool) -> Bools:
    """Whether each ratio is surely lower than the threshold or, on two sides, surely higher than its inverse."""
    limit = (threshold or 0.0) - TOLERANCE
    outside = np.asarray(np.asarray(high) < limit)
    if two_sided and limit > 0:
        outside = np.asarray(outside | (np.asarray(low) > 1 / limit))
    return np.asarray(outside)


def ratio_within(low: Floats | float, high: Floats | float, threshold: float | None, two_sided: bool) -> Bools:
    """Whether each ratio is surely no lower than the threshold and, on two sides, no higher than its inverse."""
    limit = (threshold or 0.0) - TOLERANCE
    inside = np.asarray(low) >= limit
    if two_sided and limit > 0:
        inside = inside & (np.asarray(high) <= 1 / limit)
    return np.asarray(inside)
