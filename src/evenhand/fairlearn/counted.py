"""Metrics that are counted: for all groups at once, from a few sums of each group.

A function is counted where it is itself one of fairlearn's, of scikit-learn's or of this package's, called with its
defaults and at most a weight, on data for which the sums tell the same. Everything else is called with the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats, Indices, Ints
from evenhand.fairlearn.base_metrics import RATE_CELLS
from evenhand.fairlearn.grouping import Grouping

_OURS = ("evenhand.fairlearn.base_metrics", "fairlearn.metrics")
_SCIKIT_LEARN = ("sklearn.metrics",)

Values = tuple[Array, Bools | None]
"""A value of each group, and where it is 0 in place of 0/0."""


class Columns:
    """Labels and predictions, as far as they can be counted."""

    def __init__(self, y_true: Array, y_pred: Array) -> None:
        self.y_true, self.y_pred = y_true, y_pred

    @cached_property
    def cells(self) -> Ints | None:
        """The cell of each row, 2 × label + prediction, where both are 0 and 1, or −1 and 1; else None."""
        columns = (self.y_true, self.y_pred)
        if not all(column.ndim == 1 and column.dtype.kind in "biuf" for column in columns):
            return None
        positive = [column == 1 for column in columns]
        for negative in (0, -1):
            if all((one | (column == negative)).all() for one, column in zip(positive, columns, strict=True)):
                return np.asarray(2 * positive[0].astype(np.int64) + positive[1])
        return None

    @cached_property
    def errors(self) -> Floats | None:
        """The prediction minus the label where both are finite numbers; else None."""
        if not all(column.ndim == 1 and column.dtype.kind in "iuf" for column in (self.y_true, self.y_pred)):
            return None
        if any(column.dtype.kind == "f" and column.dtype != np.float64 for column in (self.y_true, self.y_pred)):
            return None  # floats of fewer bytes are rounded on the way
        errors = self.y_pred.astype(np.float64) - self.y_true
        return errors if np.isfinite(errors).all() else None

    @cached_property
    def predictions(self) -> Floats | None:
        """The predictions where they are numbers; else None."""
        plain = self.y_pred.ndim == 1 and (self.y_pred.dtype.kind in "biu" or self.y_pred.dtype == np.float64)
        return self.y_pred.astype(np.float64) if plain else None


class Tally:
    """The sums of each group that metrics are made of, each computed when it is first asked for.

    "people" are rows, "total" is their weight, and "table" is their weight by group, label and prediction; "selected",
    "prediction", "squared_error" and "absolute_error" are sums of values times weight.
    """

    def __init__(self, compute: Callable[[str], Array]) -> None:
        self._compute, self._known = compute, dict[str, Array]()

    def __getitem__(self, name: str) -> Array:
        if name not in self._known:
            self._known[name] = self._compute(name)
        return self._known[name]

    def joined(self, size: int) -> Tally:
        """The same of fewer groups, each of which is made of as many of these."""
        return Tally(lambda name: self[name].reshape(size, -1, *self[name].shape[1:]).sum(axis=1))


def tally(columns: Columns, grouping: Grouping, weight: Array | None, rows: Indices | None) -> Tally:
    """The sums over some rows; those of the grouping are these rows already."""

    def compute(name: str) -> Array:
        if name == "people":
            return grouping.counts
        if name == "selected" and columns.cells is not None:
            return np.asarray(sums["table"][:, :, 1].sum(axis=1))
        weights = None if weight is None else drawn(weight)
        if name == "total":
            return grouping.counts if weights is None else bincount(grouping.codes, weights)
        if name == "table":
            key = grouping.codes * np.int64(4) + drawn(columns.cells)
            return np.bincount(key, weights=weights, minlength=4 * grouping.size).reshape(-1, 2, 2)
        values = drawn(_VALUES[name](columns))
        return bincount(grouping.codes, values if weights is None else values * weights)

    def drawn(values: Any) -> Any:
        return values if rows is None else values[rows]

    def bincount(codes: Array, weights: Array) -> Array:
        return np.bincount(codes, weights=weights, minlength=grouping.size)

    sums = Tally(compute)
    return sums


# What is summed, for data that has it.
_VALUES: dict[str, Callable[[Columns], Any]] = {
    "selected": lambda columns: columns.y_pred == 1,
    "prediction": lambda columns: columns.predictions,
    "squared_error": lambda columns: None if columns.errors is None else columns.errors**2,
    "absolute_error": lambda columns: None if columns.errors is None else np.abs(columns.errors),
}


@dataclass(frozen=True)
class Counted:
    """How a function is counted: who has it, what its data must be, and its value from a tally."""

    homes: tuple[str, ...]
    needs: str
    """The field of `Columns` that must be there; "" where any rows can be counted."""
    value: Callable[[Tally], Values]
    weighted: bool = True


def _share(part: Array, whole: Array) -> tuple[Floats, Bools]:
    """Part of whole in each group, and 0 where there is nothing to divide."""
    none = whole == 0
    return np.divide(part, whole, out=np.zeros(len(none)), where=~none), none


def _mean(total: Array, sums: Tally) -> tuple[Floats, None]:
    return _share(total, sums["total"])[0], None


def _rate(cell: tuple[int, int]) -> Callable[[Tally], Values]:
    label, prediction = cell
    return lambda sums: _share(sums["table"][:, label, prediction], sums["table"][:, label].sum(axis=1))


def _agreement(sums: Tally) -> Floats:
    return _mean(sums["table"][:, 0, 0] + sums["table"][:, 1, 1], sums)[0]


def _balanced_accuracy(sums: Tally) -> Values:
    """The mean recall of the labels that occur."""
    recalls = [_share(sums["table"][:, label, label], sums["table"][:, label].sum(axis=1)) for label in (0, 1)]
    occur = np.sum([~none for _, none in recalls], axis=0)
    return _share(recalls[0][0] + recalls[1][0], occur)[0], None


def _root(sums: Tally) -> Values:
    return np.sqrt(_mean(sums["squared_error"], sums)[0]), None


_METRICS = {  # t is a tally
    **{name: Counted(_OURS, "cells", _rate(cell)) for name, cell in RATE_CELLS.items()},
    "selection_rate": Counted(_OURS, "predictions", lambda t: _mean(t["selected"], t)),
    "mean_prediction": Counted(_OURS, "predictions", lambda t: _mean(t["prediction"], t)),
    "count": Counted(_OURS, "", lambda t: (t["people"], None), weighted=False),
    "accuracy_score": Counted(_SCIKIT_LEARN, "cells", lambda t: (_agreement(t), None)),
    "zero_one_loss": Counted(_SCIKIT_LEARN, "cells", lambda t: (1 - _agreement(t), None)),
    "hamming_loss": Counted(_SCIKIT_LEARN, "cells", lambda t: _mean(t["table"][:, 0, 1] + t["table"][:, 1, 0], t)),
    "balanced_accuracy_score": Counted(_SCIKIT_LEARN, "cells", _balanced_accuracy),
    "precision_score": Counted(
        _SCIKIT_LEARN, "cells", lambda t: _share(t["table"][:, 1, 1], t["table"][..., 1].sum(axis=1))
    ),
    "recall_score": Counted(_SCIKIT_LEARN, "cells", _rate((1, 1))),
    "f1_score": Counted(
        _SCIKIT_LEARN,
        "cells",
        lambda t: _share(2 * t["table"][:, 1, 1], t["table"][:, 1].sum(axis=1) + t["table"][..., 1].sum(axis=1)),
    ),
    "jaccard_score": Counted(
        _SCIKIT_LEARN,
        "cells",
        lambda t: _share(t["table"][:, 1, 1], t["table"][:, 1, 1] + t["table"][:, 0, 1] + t["table"][:, 1, 0]),
    ),
    "mean_squared_error": Counted(_SCIKIT_LEARN, "errors", lambda t: _mean(t["squared_error"], t)),
    "root_mean_squared_error": Counted(_SCIKIT_LEARN, "errors", _root),
    "mean_absolute_error": Counted(_SCIKIT_LEARN, "errors", lambda t: _mean(t["absolute_error"], t)),
}


def recognise(function: Any, parameters: Mapping[str, Array], columns: Columns) -> Counted | None:
    """How a function is counted with these parameters on this data; None where it has to be called with the rows."""
    name = getattr(function, "__name__", None)
    counted = _METRICS.get(name) if isinstance(name, str) else None
    if counted is None or not any(
        getattr(sys.modules.get(home), str(name), None) is function for home in counted.homes
    ):
        return None
    if set(parameters) - ({"sample_weight"} if counted.weighted else set()):
        return None
    if counted.needs and getattr(columns, counted.needs) is None:
        return None
    weight = parameters.get("sample_weight")
    return counted if weight is None or _is_plain(weight) else None


def _is_plain(weight: Array) -> bool:
    """Are all weights positive numbers, so that no group weighs nothing?"""
    numbers = weight.dtype.kind in "iu" or weight.dtype == np.float64
    return bool(numbers and np.isfinite(weight).all() and (weight > 0).all())
