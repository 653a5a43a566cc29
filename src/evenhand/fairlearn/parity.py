"""Demographic parity, equalized odds and equal opportunity as one number, under fairlearn's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from evenhand.errors import CallError
from evenhand.fairlearn.base_metrics import false_positive_rate, selection_rate, true_positive_rate
from evenhand.fairlearn.frame import Method, MetricFrame

Aggregate = Literal["worst_case", "mean"]


def demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    """The difference between the highest and the lowest selection rate of a group.

    Parameters
    ----------
    y_true : array-like
        The labels, which are not used.
    y_pred : array-like
        The predicted labels.
    sensitive_features : array-like
        The features whose combinations of values are the groups.
    method : {"between_groups", "to_overall"}
        Between groups, or the largest difference of a group from everyone.
    sample_weight : array-like, optional
        A weight for each row.

    Returns
    -------
    float
        The difference; 0 where all groups are selected at the same rate.

    Examples
    --------
    >>> float(demographic_parity_difference([0, 1, 1, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    0.5
    """
    frame = _frame({"rate": selection_rate}, y_true, y_pred, sensitive_features, sample_weight)
    return _one(frame.difference(method=method))


def demographic_parity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    """The lowest selection rate by the highest; arguments as for `demographic_parity_difference`.

    >>> float(demographic_parity_ratio([0, 1, 1, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    0.5
    """
    frame = _frame({"rate": selection_rate}, y_true, y_pred, sensitive_features, sample_weight)
    return _one(frame.ratio(method=method))


def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Aggregate = "worst_case",
) -> float:
    """The larger of two differences between groups: that of true and that of false positive rates.

    Arguments are those of `demographic_parity_difference`, and `agg`: "mean" returns the mean of the two.

    >>> float(equalized_odds_difference([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    1.0
    """
    return _odds(max, agg, y_true, y_pred, sensitive_features, sample_weight, lambda frame: frame.difference(method))


def equalized_odds_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    agg: Aggregate = "worst_case",
) -> float:
    """The smaller of two ratios between groups; arguments as for `equalized_odds_difference`.

    >>> float(equalized_odds_ratio([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    0.0
    """
    return _odds(min, agg, y_true, y_pred, sensitive_features, sample_weight, lambda frame: frame.ratio(method))


def equal_opportunity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    """The difference between true positive rates; arguments as for `demographic_parity_difference`.

    >>> float(equal_opportunity_difference([1, 1, 1, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    0.5
    """
    frame = _frame({"rate": true_positive_rate}, y_true, y_pred, sensitive_features, sample_weight)
    return _one(frame.difference(method=method))


def equal_opportunity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
) -> float:
    """The lowest true positive rate by the highest; arguments as for `demographic_parity_difference`.

    >>> float(equal_opportunity_ratio([1, 1, 1, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    0.5
    """
    frame = _frame({"rate": true_positive_rate}, y_true, y_pred, sensitive_features, sample_weight)
    return _one(frame.ratio(method=method))


def _odds(
    worst: Callable[[Any], Any],
    agg: str,
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    compare: Callable[[MetricFrame], Any],
) -> float:
    if agg not in ("worst_case", "mean"):
        raise CallError(f"agg must be one of 'worst_case' or 'mean', got {agg}")
    rates = {"true positive rate": true_positive_rate, "false positive rate": false_positive_rate}
    gaps = compare(_frame(rates, y_true, y_pred, sensitive_features, sample_weight))
    gap: float = worst(gaps) if agg == "worst_case" else gaps.mean()
    return gap


def _one(values: Any) -> float:
    value: float = values.iloc[0]
    return value


def _frame(
    metrics: dict[str, Callable[..., Any]], y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any
) -> MetricFrame:
    return MetricFrame(
        metrics=metrics,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_params={name: {"sample_weight": sample_weight} for name in metrics},
    )
