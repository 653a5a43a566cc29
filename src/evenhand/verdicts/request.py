"""Request: one metric with everything that a caller may set, settled from arguments, policy, alias and catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.catalogue import Metric, find
from evenhand.core.arguments import check_argument
from evenhand.core.results import OF_ONE_VALUE, JudgedOn
from evenhand.errors import CallError, nearest
from evenhand.inference import critical
from evenhand.verdicts import policy_file
from evenhand.verdicts.policy import Policy, check_threshold, misjudged, spelled_reference


@dataclass(frozen=True)
class Request:
    """One metric to judge: its catalogue entry with everything that a caller may set."""

    metric: Metric
    judged_on: JudgedOn
    threshold: float | None
    aggregate: str
    policy: Policy
    reference: Any = None
    convention: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    by_range: bool = False
    """Is the threshold a share of the score's range, because nobody set one in units of the score?"""

    strata: int = 1
    """How many strata are judged side by side, any of which may fail."""

    family: int = 1
    """How many findings decide with this one, any of which may fail: near ends hold for all of them together."""

    covered: bool = True
    """Is it known how much the value varies? If not, as of a score of rows that belong together, it is not judged."""

    @property
    def confidence(self) -> float:
        """Of the interval in one stratum, so that those of all strata hold together."""
        return float(self.policy.confidence ** (1 / self.strata))

    @property
    def near_confidence(self) -> float:
        """Of near ends, on which a fail rests: shared by the findings of which any may fail."""
        return critical.shared(self.confidence, self.family)

    @property
    def one_sided(self) -> bool:
        """Against a reference, does only the low side of a ratio count?"""
        return self.metric.one_sided and self.judged_on == "ratio"


def make_request(
    name: str | Metric,
    *,
    policy: Policy | str | Path | None = None,
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
    """The request for a metric: an argument beats the policy, the policy an alias, and an alias the catalogue."""
    metric, presets = find(name)
    policy = policy_file.resolve(policy).updated(
        min_group_size=min_group_size, confidence=confidence, interval=interval, draws=draws, random_state=random_state
    )
    usual = presets.get("judged_on") or metric.judged_on
    kind: Any = judged_on or policy.judged_on.get(metric.name) or usual
    alone = kind in OF_ONE_VALUE or metric.judged_on in OF_ONE_VALUE
    if kind != metric.judged_on if alone else kind not in ("difference", "ratio"):
        raise CallError(misjudged(metric, kind))
    if metric.name == "treatment_equality" and kind == "difference":
        raise CallError("treatment_equality is judged on its ratio only: the difference of two ratios has no scale.")
    own = kind == metric.judged_on or metric.threshold is None
    default = metric.threshold if own else {"difference": 0.1, "ratio": 0.8}[kind]
    limit: Any = presets.get("threshold", default) if kind == usual else default
    limit = policy.thresholds.get(metric.name, limit)
    limit = limit if threshold is None else threshold
    check_threshold(limit, kind)
    limit = None if limit is None else float(limit)
    check_argument("aggregate", str | None, aggregate)
    combined: Any = aggregate or presets.get("aggregate") or metric.aggregate
    if combined not in ("worst", "mean", "mean_abs"):
        raise CallError(f"aggregate={aggregate!r} must be 'worst', 'mean' or 'mean_abs'.")
    allowed = metric.options
    for option, value in options.items():
        if option not in allowed:
            raise CallError(f"{metric.name}() takes no argument {option!r}; {nearest(option, allowed)}")
        options[option] = check_argument(option, type(allowed[option]), value)  # the kind of its default
    own_threshold = threshold is not None or metric.name in policy.thresholds
    by_range = metric.in_score_units and kind == "difference" and not own_threshold
    reference = spelled_reference(reference)
    return Request(metric, kind, limit, combined, policy, reference, convention, {**allowed, **options}, by_range)
