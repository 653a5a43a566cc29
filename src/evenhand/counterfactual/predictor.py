"""The audited predictor: a model or function of a table, and the difference between two of its answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats, Ints
from evenhand.core.calls import call
from evenhand.core.quantities import check_finite
from evenhand.core.wording import number_of
from evenhand.counterfactual.columns import row_count, select_features
from evenhand.errors import CallError, DataError, Problems, as_typed, listing, shorten
from evenhand.sources.columns import encode
from evenhand.sources.levels import is_fraction
from evenhand.sources.roles import Positive, read_positive
from evenhand.sources.spelling import canonical, spelling

Kind = Literal["decision", "class", "number"]

_MISSING = ("None", "nan", "NaN", "NaT", "<NA>", "inf", "-inf", "Infinity", "-Infinity")


@dataclass(frozen=True)
class Answers:
    """Predictions as numbers; for classes, their codes. `kind` says what the numbers are.

    `scores` are the numbers behind decisions that are made at a cutoff.
    """

    values: Floats
    kind: Kind
    scores: Floats | None = None

    def take(self, rows: Ints) -> Answers:
        """The answers for some of the people."""
        return Answers(self.values[rows], self.kind, None if self.scores is None else self.scores[rows])

    def minus(self, other: Answers) -> Floats:
        """The difference of each answer from another: signed for numbers and decisions, 0 or 1 for classes."""
        if (self.kind == "class") != (other.kind == "class"):
            raise CallError("predict gives numbers for some people and names of classes for others: give one of them.")
        if self.kind == "class":
            return np.asarray(self.values != other.values, dtype=np.float64)
        return np.asarray(self.values - other.values)


class Predictor:
    """The caller's model or function. With a cutoff, numbers at or above it are positive decisions."""

    def __init__(self, predict: Any, features: Sequence[str] | str | None, cutoff: float | None, positive: Any) -> None:
        self.function, own = _callable(predict)
        self.features = [features] if isinstance(features, str) else list(features) if features is not None else own
        self.matrix = not callable(predict) and self.features is not None
        problems = Problems()
        if cutoff is not None:
            check_finite("cutoff", cutoff, problems)
        if cutoff is not None and positive is not None:
            problems.add(
                f"{_cutoff()} and {_positive()} both say what a positive decision is: pass the cutoff where predict "
                "gives numbers, or the positive value where it gives classes."
            )
        favourable = None if positive is None else read_positive(positive, problems)["prediction"]
        problems.raise_if_any(CallError)
        self.cutoff, self.positive = None if cutoff is None else float(cutoff), favourable
        self.codes: dict[str, int] = {}
        self.calls = 0
        self._lowest, self._highest = math.inf, -math.inf  # of all numbers that were compared with the cutoff

    def needed(self, table: Any) -> Any:
        """The columns of a table that predict needs: chosen once, before people are moved, not in every call."""
        if self.features is None:
            return table
        if not self.features:
            raise CallError("features= is empty: name the columns that predict needs.")
        return select_features(table, self.features)

    def __call__(self, table: Any) -> Any:
        """The raw answers for a table of the columns that are needed."""
        inputs = table
        if self.matrix and isinstance(inputs, dict):
            inputs = np.column_stack([np.asarray(column) for column in inputs.values()])
        rows = row_count(table)
        self.calls += 1
        found = call("predict", f"in call {self.calls}, on {number_of(rows)}", _answered, self.function, inputs)
        if found.ndim == 2 and found.shape[1] == 2:
            found = found[:, 1]  # probabilities of two classes, as predict_proba has them
        found = found.reshape(-1) if found.ndim == 2 and found.shape[1] == 1 else found
        if found.shape != (rows,):
            raise CallError(
                f"predict gave an array of shape {found.shape} for {number_of(rows)}: one value a row is needed."
            )
        _check_complete(found)
        return found

    def answers(self, table: Any) -> Answers:
        """The predictions for a table, as they are compared."""
        found = self(table)
        if self.positive is not None:
            return self._favourable(found, self.positive)
        if found.dtype.kind not in "biuf":
            return self._classes(found)
        values = found.astype(np.float64)
        if self.cutoff is not None:
            self._lowest, self._highest = min(self._lowest, values.min()), max(self._highest, values.max())
            return Answers((values >= self.cutoff).astype(np.float64), "decision", values)
        return Answers(values, "decision" if np.isin(values, (0.0, 1.0)).all() else "number")

    def check_decisions(self) -> None:
        """Raise an error where every decision so far had to be the same, whatever the model does: the positive value is
        none of its answers, or the cutoff divides nobody. Called after everyone was moved to every group."""
        if self.positive is not None and not set(self.positive.values).intersection(self.codes):
            raise CallError(
                f"predict never gives the positive value {self.positive}; it gives {listing(self.codes)}. Say which "
                f"of its values counts as positive with {_positive()}."
            )
        if self.cutoff is not None and not self._lowest < self.cutoff <= self._highest:
            side = "below" if self._highest < self.cutoff else "at or above"
            raise CallError(
                f"every answer of predict is {side} the cutoff {self.cutoff:g} (they are from {self._lowest:g} to "
                f"{self._highest:g}), so no decision could change: pass a cutoff on the scale of predict."
            )

    def _favourable(self, predicted: Array, positive: Positive) -> Answers:
        spelled = self._spelled(predicted)
        fractions = [value for value in self.codes if is_fraction(value)]
        if fractions:
            raise CallError(
                f"{_positive()} names a class, and predict gives scores ({listing(fractions, 3)}): pass {_cutoff()} "
                "in its place, the number at or above which a decision is positive."
            )
        return Answers(np.array([value in positive.values for value in spelled], dtype=np.float64), "decision")

    def _classes(self, predicted: Array) -> Answers:
        if self.cutoff is not None:
            raise CallError(f"{_cutoff()} needs a predict that gives numbers; this one gives names of classes.")
        spelled = self._spelled(predicted)
        return Answers(np.array([self.codes[value] for value in spelled], dtype=np.float64), "class")

    def _spelled(self, predicted: Array) -> list[str]:
        """The answers in canonical spelling; each that is new gets a code."""
        levels, codes = encode(predicted, "predict")
        _check_lacking(codes < 0)
        spelled = [canonical(level) for level in levels]
        for value in spelled:
            self.codes.setdefault(value, len(self.codes))
        return [spelled[code] for code in codes.tolist()]


def _cutoff() -> str:
    return as_typed("cutoff=", "--cutoff")


def _positive() -> str:
    return as_typed("positive=", "--positive")


def _answered(function: Callable[[Any], Any], inputs: Any) -> Array:
    found = function(inputs)
    return np.asarray(found.to_numpy() if hasattr(found, "to_numpy") else found)


def _check_complete(found: Array) -> None:
    """Raise an error where an answer is missing, or a number is not finite."""
    if found.dtype.kind in "fc":
        _check_lacking(~np.isfinite(found))
    elif found.dtype.kind not in "biu":
        _check_lacking(np.array([_is_missing(value) for value in found.tolist()], dtype=np.bool_))


def _check_lacking(lacking: Bools) -> None:
    if lacking.any():
        raise DataError(
            f"predict gave no number or class in {int(lacking.sum()):,} of {number_of(len(lacking))} (missing, NaN or "
            "infinite): leave those rows out, or correct it."
        )


def _is_missing(value: Any) -> bool:
    """Is a value that is not a plain number missing? A class may be called None, but text "nan" comes from NaN."""
    return value == "nan" if isinstance(value, str) else spelling(value) in _MISSING


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
