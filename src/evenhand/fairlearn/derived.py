"""Metrics made of a function and of how its values are compared: `make_derived_metric`, and those that have names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from evenhand.errors import CallError, MissingDependencyError
from evenhand.fairlearn import base_metrics
from evenhand.fairlearn.frame import MetricFrame

_TRANSFORMS = ("difference", "group_min", "group_max", "ratio")

# Which comparisons of which function have a name of their own: accuracy_score_difference, …
_NAMED = {
    "true_positive_rate": ("difference", "ratio"),
    "true_negative_rate": ("difference", "ratio"),
    "false_positive_rate": ("difference", "ratio"),
    "false_negative_rate": ("difference", "ratio"),
    "selection_rate": ("difference", "ratio"),
    "accuracy_score": ("difference", "ratio", "group_min"),
    "zero_one_loss": ("difference", "ratio", "group_max"),
    "balanced_accuracy_score": ("group_min",),
    "precision_score": ("group_min",),
    "recall_score": ("group_min",),
    "roc_auc_score": ("group_min",),
    "mean_absolute_error": ("group_max",),
    "mean_squared_error": ("group_max",),
    "r2_score": ("group_min",),
    "f1_score": ("group_min",),
    "log_loss": ("group_max",),
}

GENERATED = {f"{name}_{how}": (name, how) for name, hows in _NAMED.items() for how in hows}
"""The metrics that `generate` makes, with the name of their function and their transform."""


class DerivedMetric:
    """A function `f(y_true, y_pred, *, sensitive_features, ...)` that compares another function between groups."""

    def __init__(self, metric: Callable[..., Any], transform: str, sample_param_names: Sequence[str]) -> None:
        if not callable(metric):
            raise CallError("Supplied metric object must be callable")
        if "method" in inspect.signature(metric).parameters:
            raise CallError(
                "Callables which accept a 'method' argument may not be passed to make_derived_metric(). "
                "Please use functools.partial()"
            )
        if transform not in _TRANSFORMS:
            raise CallError(f"Transform must be one of {[*_TRANSFORMS]}")
        self._metric, self._transform, self._sample_param_names = metric, transform, sample_param_names

    def __call__(self, y_true: Any, y_pred: Any, *, sensitive_features: Any, **others: Any) -> Any:
        """The comparison: `method=` is for it, sample parameters are split by group, the rest is for the function."""
        method = {name: others.pop(name) for name in ["method"] if name in others}
        by_row = {name: others.pop(name) for name in self._sample_param_names if name in others}
        frame = MetricFrame(
            metrics={"metric": functools.partial(self._metric, **others) if others else self._metric},
            y_true=y_true,
            y_pred=y_pred,
            sensitive_features=sensitive_features,
            sample_params={"metric": by_row},
        )
        takes_method = self._transform in ("difference", "ratio")
        return getattr(frame, self._transform)(**(method if takes_method else {})).iloc[0]


def make_derived_metric(
    *, metric: Callable[..., Any], transform: str, sample_param_names: Sequence[str] | None = None
) -> DerivedMetric:
    """A function of labels, predictions and sensitive features that returns one number.

    Parameters
    ----------
    metric : callable
        `f(y_true, y_pred, ...)`.
    transform : {"difference", "group_min", "group_max", "ratio"}
        The method of `MetricFrame` that compares its values.
    sample_param_names : list of str, optional
        The arguments of `metric` with one value for each row; `["sample_weight"]` where it is left out.

    Returns
    -------
    callable
        It takes the arguments of `metric`, `sensitive_features=`, and `method=` as the method of `MetricFrame` does.

    Examples
    --------
    >>> from evenhand.fairlearn import selection_rate
    >>> gap = make_derived_metric(metric=selection_rate, transform="difference")
    >>> float(gap([0, 1, 1, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    0.5
    """
    return DerivedMetric(metric, transform, ["sample_weight"] if sample_param_names is None else sample_param_names)


def generate(name: str) -> DerivedMetric:
    """One of the metrics of `GENERATED`."""
    function, transform = GENERATED[name]
    metric = getattr(base_metrics, function, None) or getattr(_scikit_learn(name), function)
    derived = make_derived_metric(metric=metric, transform=transform)
    derived.__name__ = name  # type: ignore[attr-defined]
    derived.__doc__ = (
        f"The {transform.replace('_', ' ')} of `{function}`, by group: "
        f"`{name}(y_true, y_pred, *, sensitive_features, sample_weight=None, ...)`."
    )
    return derived


def _scikit_learn(name: str) -> Any:
    try:
        import sklearn.metrics
    except ImportError:
        raise MissingDependencyError(f"{name} needs scikit-learn: pip install 'evenhand[ml]'.") from None
    return sklearn.metrics
