"""The rates of one set of rows under fairlearn's names: `f(y_true, y_pred, sample_weight=...)` returns a number."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from evenhand.core.arrays import Array
from evenhand.errors import CallError, DataError


class UndefinedRateWarning(UserWarning):
    """A rate is 0/0 for some rows and shown as 0, as fairlearn does; `evenhand.audit` calls it undefined.

    Silence it with `warnings.simplefilter("ignore", UndefinedRateWarning)`.
    """


def warn(message: str, kind: type[Warning]) -> None:
    """Warn at the line of the caller, which is the first one outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("evenhand.fairlearn."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


def as_array(values: Any) -> Array:
    """Values as an array without dimensions of length 1; one value stays an array of one."""
    array = np.asarray(values)
    if array.size == 1:
        return array.reshape(1)
    return np.squeeze(array) if array.size else array


def check_lengths(*columns: Any) -> None:
    """Raise unless all columns have equally many rows."""
    lengths = [len(column) for column in columns if column is not None]
    if len(set(lengths)) > 1:
        raise DataError(f"Found input variables with inconsistent numbers of samples: {lengths}")


# --- rates of a table of two labels


def true_positive_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """The share of positive labels that are predicted positive.

    Parameters
    ----------
    y_true : array-like
        The labels.
    y_pred : array-like
        The predicted labels.
    sample_weight : array-like, optional
        A weight for each row.
    pos_label : scalar, optional
        The label that counts as positive; without it labels are 0 and 1, or −1 and 1.

    Returns
    -------
    float
        The rate; 0, with an `UndefinedRateWarning`, where no label is positive.

    Examples
    --------
    >>> true_positive_rate([1, 1, 0, 0], [1, 0, 1, 0])
    np.float64(0.5)
    """
    return _rate("true_positive_rate", y_true, y_pred, sample_weight, pos_label)


def true_negative_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """The share of negative labels that are predicted negative; arguments as for `true_positive_rate`.

    >>> true_negative_rate([1, 1, 0, 0], [1, 0, 0, 0])
    np.float64(1.0)
    """
    return _rate("true_negative_rate", y_true, y_pred, sample_weight, pos_label)


def false_positive_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """The share of negative labels that are predicted positive; arguments as for `true_positive_rate`.

    >>> false_positive_rate(["no", "no", "yes"], ["yes", "no", "yes"], pos_label="yes")
    np.float64(0.5)
    """
    return _rate("false_positive_rate", y_true, y_pred, sample_weight, pos_label)


def false_negative_rate(y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
    """The share of positive labels that are predicted negative; arguments as for `true_positive_rate`.

    >>> false_negative_rate([1, 1, 0, 0], [1, 0, 1, 0], sample_weight=[1, 3, 1, 1])
    np.float64(0.75)
    """
    return _rate("false_negative_rate", y_true, y_pred, sample_weight, pos_label)


# Each rate is the share of one cell in its label: (label, prediction), where 1 is positive.
RATE_CELLS = {
    "true_negative_rate": (0, 0),
    "false_positive_rate": (0, 1),
    "false_negative_rate": (1, 0),
    "true_positive_rate": (1, 1),
}


def _rate(name: str, y_true: Any, y_pred: Any, sample_weight: Any, pos_label: Any) -> float:
    check_lengths(y_true, y_pred, sample_weight)
    labels, predictions = as_array(y_true), as_array(y_pred)
    positive = _positive(np.vstack((labels, predictions)), pos_label)
    label, prediction = RATE_CELLS[name]
    asked = (labels == positive) == bool(label)
    counted = asked & ((predictions == positive) == bool(prediction))
    weights = np.ones(len(labels)) if sample_weight is None else _weights(sample_weight)
    whole = weights[asked].sum()
    if whole == 0:
        what = f"{name} is 0/0: no label is {'positive' if label else 'negative'}. It is shown as 0."
        warn(what, UndefinedRateWarning)
        return np.float64(0)
    return np.float64(weights[counted].sum() / whole)


def _weights(sample_weight: Any) -> Array:
    """The weights as numbers, with scikit-learn's errors for those that weigh nothing or are not numbers."""
    weights: Array = as_array(sample_weight).astype(np.float64)
    if np.isnan(weights).any():
        raise DataError("Input sample_weight contains NaN.")
    if np.isinf(weights).any():
        raise DataError("Input sample_weight contains infinity or a value too large for dtype('float64').")
    if not weights.any():
        raise DataError("Sample weights must contain at least one non-zero number.")
    return weights


def _positive(values: Array, pos_label: Any) -> Any:
    """The label that counts as positive among the one or two values that occur."""
    present = np.unique(values).tolist()
    if pos_label is None:
        if not ({0, 1}.issuperset(present) or {-1, 1}.issuperset(present)):
            raise DataError("If pos_label is not specified, values must be from {0, 1} or {-1, 1}")
        pos_label = 1
    if len(present) not in (1, 2):
        raise DataError("Must have no more than two unique y values")
    if len(present) == 2 and pos_label not in present:
        raise CallError("Must have pos_label in y values")
    return pos_label


# --- what needs no table


def selection_rate(
    y_true: Any,  # noqa: ARG001 - a metric takes both
    y_pred: Any,
    *,
    pos_label: Any = 1,
    sample_weight: Any = None,
) -> float:
    """The share of rows that are predicted positive.

    Parameters
    ----------
    y_true : array-like
        The labels, which are not used.
    y_pred : array-like
        The predicted labels.
    pos_label : scalar, default 1
        The prediction that counts as selected.
    sample_weight : array-like, optional
        A weight for each row.

    Returns
    -------
    float
        The rate.

    Examples
    --------
    >>> selection_rate([0, 0, 1, 1], [1, 0, 1, 1])
    np.float64(0.75)
    """
    selected = as_array(y_pred) == pos_label
    if len(selected) == 0:
        raise DataError("Empty y_pred passed to selection_rate function.")
    return _mean(selected, sample_weight)


def mean_prediction(
    y_true: Any,  # noqa: ARG001 - a metric takes both
    y_pred: Any,
    sample_weight: Any = None,
) -> float:
    """The mean of the predictions, weighted where `sample_weight` is given; `y_true` is not used.

    >>> mean_prediction([0, 0], [0.5, 1.5], sample_weight=[3, 1])
    np.float64(0.75)
    """
    return _mean(as_array(y_pred), sample_weight)


def count(y_true: Any, y_pred: Any) -> int:
    """How many rows there are.

    >>> count([0, 1, 1], [1, 1, 0])
    3
    """
    check_lengths(y_true, y_pred)
    return len(y_true)


def _mean(values: Array, sample_weight: Any) -> float:
    weights = np.ones(len(values)) if sample_weight is None else as_array(sample_weight)
    mean: float = np.dot(values, weights) / weights.sum()
    return mean
