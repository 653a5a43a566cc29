"""The audited predictor: a model or function of a table, and the difference between two of its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.counterfactual.columns import row_count, select_features
from evenhand.errors import CallError, DataError, shorten
from evenhand.sources.spelling import spelling

Kind = Literal["decision", "class", "number"]


@dataclass(frozen=True)
class Answers:
    """Predictions as numbers; for classes, their codes. `kind` says what the numbers are.

    `scores` are the numbers behind decisions that are made at a cutoff.
    """

    values: Floats
    kind: Kind
    scores: Floats | None = None

    def minus(self, other: Answers) -> Floats:
        """The difference of each answer from another: signed for numbers and decisions, 0 or 1 for classes."""
        if self.kind == "class":
            return np.asarray(self.values != other.values, dtype=np.float64)
        return np.asarray(self.values - other.values)


class Predictor:
    """The caller's model or function. With a cutoff, numbers at or above it are positive decisions."""

    def __init__(self, predict: Any, features: Sequence[str] | str | None, cutoff: float | None, positive: Any) -> None:
        self.function, own = _callable(predict)
        self.features = [features] if isinstance(features, str) else list(features) if features is not None else own
        self.matrix = not callable(predict) and self.features is not None
        self.cutoff, self.positive = cutoff, positive
        self.codes: dict[str, int] = {}

    def __call__(self, table: Any) -> Any:
        """The raw answers for a table."""
        inputs = table if self.features is None else select_features(table, self.features)
        if self.matrix and isinstance(inputs, dict):
            inputs = np.column_stack([np.asarray(column) for column in inputs.values()])
        found = self.function(inputs)
        found = np.asarray(found.to_numpy() if hasattr(found, "to_numpy") else found)
        if found.ndim == 2 and found.shape[1] == 2:
            found = found[:, 1]  # probabilities of two classes, as predict_proba has them
        found = found.reshape(-1) if found.ndim == 2 and found.shape[1] == 1 else found
        rows = row_count(table)
        if found.shape != (rows,):
            raise CallError(
                f"predict gave an array of shape {found.shape} for {rows:,} rows: one value a row is needed."
            )
        return found

    def answers(self, table: Any) -> Answers:
        """The predictions for a table, as they are compared."""
        found = self(table)
        if self.positive is not None:
            wanted = spelling(self.positive)
            return Answers(
                np.array([spelling(value) == wanted for value in found.tolist()], dtype=np.float64), "decision"
            )
        if found.dtype.kind not in "biuf":
            return self._classes(found)
        values = found.astype(np.float64)
        if np.isnan(values).any():
            raise DataError(f"predict gave no number in {int(np.isnan(values).sum()):,} rows.")
        if self.cutoff is not None:
            return Answers((values >= self.cutoff).astype(np.float64), "decision", values)
        return Answers(values, "decision" if np.isin(values, (0.0, 1.0)).all() else "number")

    def _classes(self, predicted: Array) -> Answers:
        if self.cutoff is not None:
            raise CallError("cutoff= needs a predict that gives numbers; this one gives names of classes.")
        spelled = [spelling(value) for value in predicted.tolist()]
        for value in dict.fromkeys(spelled):
            self.codes.setdefault(value, len(self.codes))
        return Answers(np.array([self.codes[value] for value in spelled], dtype=np.float64), "class")


def _callable(predict: Any) -> tuple[Callable[[Any], Any], list[str] | None]:
    """The function to call, and the columns that a fitted model itself says it needs."""
    if callable(predict):
        owner = getattr(predict, "__self__", None)
        return predict, _seen_by(owner)
    method = getattr(predict, "predict", None)
    if not callable(method):
        raise CallError(f"predict must be a fitted model or a function of a table, not {shorten(repr(predict))}.")
    return method, _seen_by(predict)


def _seen_by(model: Any) -> list[str] | None:
    """The columns that a model was fitted to, where it knows them."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
