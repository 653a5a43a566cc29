"""What passes, fails and is inconclusive: the one rule, used by every kind of finding."""

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

    A difference counts by its size. A ratio or a floor must reach the threshold; with `two_sided` a ratio above 1
    counts as its inverse.

    >>> passes(-0.05, 0.1, "difference"), passes(1.5, 0.8, "ratio", two_sided=True), passes(0.2, None)
    (True, False, None)
    """
    if threshold is None or math.isnan(value):
        return None
    if judged_on in ("ratio", "floor"):
        return (float(comparison.folded(value)) if two_sided else value) >= threshold - TOLERANCE
    return (abs(value) if judged_on == "difference" else value) <= threshold + TOLERANCE


def verdict(
    value: Estimate, threshold: float | None, judged_on: JudgedOn = "value", *, two_sided: bool = False
) -> Verdict:
    """The rule: fail where the whole interval is outside the threshold, pass where all of it is inside.

    Otherwise inconclusive, also where there is no interval or no value: what cannot be computed opens no gate. What has
    no threshold is not judged. A difference counts on both sides of 0, a ratio above 1 only with `two_sided`; of a
    plain value less is better, and a floor must be reached.

    >>> verdict(Estimate(0.3, 0.2, 0.4), 0.1), verdict(Estimate(-0.3, -0.4, -0.2), 0.1, "difference")
    ('fail', 'fail')
    >>> verdict(Estimate(0.9, 0.75, 1.0), 0.8, "ratio"), verdict(Estimate(0.02, 0.0, 0.05), 0.1)
    ('inconclusive', 'pass')
    >>> verdict(Estimate(math.nan), 0.1), verdict(Estimate(math.nan), None)
    ('inconclusive', 'not judged')
    """
    if threshold is None:
        return "not judged"
    if not value.defined or value.low is None or value.high is None:
        return "inconclusive"
    if bool(beyond(value.low, value.high, threshold, judged_on, two_sided=two_sided)):
        return "fail"
    inside = within(value.low, value.high, threshold, judged_on, two_sided=two_sided)
    return "pass" if bool(inside) else "inconclusive"


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict of several: any fail fails, else any inconclusive one leaves it open, else it passes.

    >>> overall(["pass", "inconclusive", "not judged"]), overall([])
    ('inconclusive', 'not judged')
    """
    return next((each for each in ORDER if each in verdicts), "not judged")


ORDER: tuple[Verdict, ...] = ("fail", "inconclusive", "pass", "not judged")
"""The verdicts, those that weigh most first."""


def beyond(
    low: Floats | float, high: Floats | float, threshold: float, judged_on: JudgedOn, *, two_sided: bool = False
) -> Bools:
    """Whether each interval lies wholly outside the threshold."""
    if judged_on in ("ratio", "floor"):
        limit = threshold - TOLERANCE
        return np.asarray((high < limit) | (low > 1 / limit) if two_sided and limit > 0 else high < limit)
    limit = threshold + TOLERANCE
    return np.asarray((low > limit) | (high < -limit) if judged_on == "difference" else low > limit)


def within(
    low: Floats | float, high: Floats | float, threshold: float, judged_on: JudgedOn, *, two_sided: bool = False
) -> Bools:
    """Whether each interval lies wholly inside the threshold."""
    if judged_on in ("ratio", "floor"):
        limit = threshold - TOLERANCE
        return np.asarray((low >= limit) & (high <= 1 / limit) if two_sided and limit > 0 else low >= limit)
    limit = threshold + TOLERANCE
    return np.asarray((low >= -limit) & (high <= limit) if judged_on == "difference" else high <= limit)
