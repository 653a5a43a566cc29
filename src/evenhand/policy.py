"""What is asked: the Policy an audit is judged by, and one metric with everything a caller may set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Literal

from evenhand.catalogue import Metric, find
from evenhand.cube import Cube
from evenhand.errors import CallError, nearest
from evenhand.findings import JudgedOn
from evenhand.indices import OPTIONS
from evenhand.inference.intervals import METHODS

MIN_GROUP_SIZE = 30
MIN_BIN = 10  # people of a group in a calibration bin, below which the bin is shown and not judged
INTERVALS = ("simultaneous", *METHODS)
CORRECTIONS = ("holm", "bonferroni", "bh", "by")


@dataclass(frozen=True)
class Policy:
    """What an audit is judged by.

    `required` names the metrics that decide; None leaves the choice to the data: equalized odds where there are
    decisions and labels, demographic parity where there are no labels; for scores alone calibration, or without
    labels mean-score parity; base-rate parity where there is only a label. `thresholds`
    replaces those of the catalogue. Groups below `min_group_size` are shown; no pass rests on them. `familywise`
    "audit" divides the error probability among the findings that decide.
    """

    required: tuple[str, ...] | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    min_group_size: int = MIN_GROUP_SIZE
    confidence: float = 0.95
    interval: str = "simultaneous"
    draws: int = 1000
    random_state: int = 0
    correction: str | None = "holm"
    familywise: Literal["finding", "audit"] = "finding"

    def __post_init__(self) -> None:
        for name in (*(self.required or ()), *self.thresholds):
            find(name)
        _whole("min_group_size", self.min_group_size, 1)
        _whole("draws", self.draws, 0)
        _whole("random_state", self.random_state, 0)
        if not isinstance(self.confidence, Real) or not 0.5 <= self.confidence < 1:
            raise CallError(f"confidence={self.confidence!r} must be a share such as 0.95.")
        _one_of("interval", self.interval, INTERVALS)
        if self.correction is not None:
            _one_of("correction", self.correction, CORRECTIONS)
        _one_of("familywise", self.familywise, ("finding", "audit"))
        if self.uses_draws and self.draws < 100:
            raise CallError(f"interval={self.interval!r} needs draws of at least 100; 1000 is usual.")

    @property
    def uses_draws(self) -> bool:
        """Are the intervals made of draws?"""
        return self.interval in METHODS and METHODS[self.interval].of == "draws"

    def required_for(self, cube: Cube) -> tuple[str, ...]:
        """The metrics that decide for this data."""
        if self.required is not None:
            return tuple(find(name)[0].name for name in self.required)
        if not cube.has_predictions:
            if cube.scores is not None:
                return ("calibration",) if cube.has_labels else ("mean_score_parity",)
            return ("base_rate_parity",)
        return ("equalized_odds",) if cube.has_labels else ("demographic_parity",)

    def updated(self, **arguments: Any) -> Policy:
        """The policy with the arguments that were given (not None) in place of its own."""
        return replace(self, **{name: value for name, value in arguments.items() if value is not None})


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise CallError(f"{name}={value!r} must be a whole number of at least {least}.")


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise CallError(f"{name}={value!r} is not known; {nearest(str(value), known)}")


@dataclass(frozen=True)
class Request:
    """One metric as it is asked for: the entry with everything a caller may set."""

    metric: Metric
    judged_on: JudgedOn
    threshold: float | None
    aggregate: str
    policy: Policy
    reference: Any = None
    convention: str | None = None
    options: Mapping[str, float] = field(default_factory=dict)
    by_range: bool = False
    """Is the threshold a share of the score's range, because nobody gave one in its own units?"""

    @property
    def one_sided(self) -> bool:
        """Against a reference, does only the low side of a ratio count?"""
        return self.metric.one_sided and self.judged_on == "ratio"


def request(
    name: str | Metric,
    *,
    policy: Policy | None = None,
    threshold: float | None = None,
    reference: Any = None,
    convention: str | None = None,
    judged_on: JudgedOn | None = None,
    aggregate: str | None = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    draws: int | None = None,
    random_state: int | None = None,
    **options: Any,
) -> Request:
    """Settle what is asked: the argument beats the policy, the policy beats the alias, the alias the catalogue."""
    metric, presets = find(name)
    policy = (policy or Policy()).updated(
        min_group_size=min_group_size, confidence=confidence, interval=interval, draws=draws, random_state=random_state
    )
    chosen: Any = judged_on or presets.get("judged_on") or metric.judged_on
    if chosen not in ("difference", "ratio", "value") or (chosen == "value") != (metric.judged_on == "value"):
        raise CallError(
            f"judged_on={judged_on!r} does not fit {metric.name}; it takes 'difference' or 'ratio'."
            if metric.judged_on != "value"
            else f"{metric.name} is judged on its value only."
        )
    if metric.name == "treatment_equality" and chosen == "difference":
        raise CallError("treatment_equality is judged on its ratio only: the difference of two ratios has no scale.")
    default = metric.threshold if chosen == metric.judged_on else {"difference": 0.1, "ratio": 0.8}[chosen]
    limit: Any = presets.get("threshold", default)
    limit = policy.thresholds.get(metric.name, limit)
    limit = limit if threshold is None else threshold
    _check_threshold(limit, chosen)
    combined: Any = aggregate or presets.get("aggregate") or metric.aggregate
    if combined not in ("worst", "mean", "mean_abs"):
        raise CallError(f"aggregate={aggregate!r} must be 'worst', 'mean' or 'mean_abs'.")
    allowed = options_of(metric)
    for option in options:
        if option not in allowed:
            raise CallError(f"{metric.name}() takes no argument {option!r}; {nearest(option, allowed)}")
    given = threshold is not None or metric.name in policy.thresholds
    by_range = metric.in_score_units and chosen == "difference" and not given
    return Request(metric, chosen, limit, combined, policy, reference, convention, {**allowed, **options}, by_range)


def options_of(metric: Metric) -> dict[str, float]:
    """What a metric takes beside the usual arguments, with defaults."""
    return {"min_bin": MIN_BIN} if metric.binned else OPTIONS.get(metric.index or "", {})


def _check_threshold(threshold: Any, judged_on: str) -> None:
    if threshold is None:
        return
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 <= float(threshold) < math.inf:
        raise CallError(f"threshold={threshold!r} must be a number of at least 0.")
    if judged_on == "ratio" and float(threshold) > 1:
        raise CallError(f"threshold={threshold!r} on a ratio is at most 1, such as 0.8 for four fifths.")
