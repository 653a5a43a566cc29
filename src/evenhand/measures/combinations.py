"""COMBINATIONS: what is computed for one group from several rates of its cells at once, such as F1's cousins.

Each is a function of proportions that vary independently of each other: the rates of positive and of negative labels,
those of positive and of negative decisions, or a rate and then one of those who are left. A measure that is one ratio
of cells, or a mean of such ratios, is a row of `MEASURES` instead, which a page can evaluate at other cutoffs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.inference.combined import Combined
from evenhand.inference.spread import Spread
from evenhand.measures.base import MadeOf, MeasureDefaults, evaluate
from evenhand.measures.cells import MEASURES, CellMeasure, support
from evenhand.measures.group_data import SIDES, GroupData, Side


@dataclass(frozen=True)
class Combination(MeasureDefaults):
    """A function of rates that vary independently; `least` and `most` are the range of its values.

    Where rows belong together it has no interval. With `logs` its interval is made on logarithms.
    """

    name: str
    title: str
    of: tuple[CellMeasure, ...]
    function: Callable[..., Floats]
    empty: str
    formula: str
    aliases: tuple[str, ...] = ()
    unit: str = "score"
    least: float = 0.0
    most: float = np.inf
    logs: bool = False

    @property
    def needs(self) -> frozenset[str]:
        return frozenset().union(*(row.needs for row in self.of))

    @property
    def made_of(self) -> MadeOf:
        return "rates"

    @property
    def labels_of(self) -> tuple[Side, ...]:
        return tuple(side for side in SIDES if any(side in row.labels_of for row in self.of))

    def settled(self, side: Side) -> float | None:
        parts = [np.array([part]) for row in self.of if (part := row.settled(side)) is not None]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(self.function(*parts)[0]) if len(parts) == len(self.of) else np.nan
        return None if np.isnan(value) else value

    @property
    def tasks(self) -> frozenset[str]:
        return frozenset({"binary"})

    def spread(self, data: GroupData) -> Spread | None:
        """The measure of all groups; None where rows belong together."""
        # Several measures are made of the same rates, whose limits are then found once.
        parts = [evaluate(row, data).spread for row in self.of] if data.cells.clusters is None else []
        known = [part for part in parts if part is not None]
        return Combined(known, self.function, self.least, self.most, self.logs) if known else None

    def values(self, data: GroupData, spread: Spread | None) -> Floats:
        """The value of each group."""
        if spread is not None:
            return spread.values
        parts = [evaluate(row, data).values for row in self.of]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.function(*parts), dtype=np.float64)

    def support(self, data: GroupData, spread: Spread | None) -> Array:  # noqa: ARG002 - the cells say it exactly
        """The people in the smallest of the denominators."""
        return np.asarray(np.min([support(data.cells.people, row, data.cells.silent) for row in self.of], axis=0))

    def signed(self, data: GroupData) -> bool:  # noqa: ARG002 - on any data
        return self.least < 0

    def reason(self, group: str) -> str:
        """Why the measure is undefined for a group."""
        return f"no {self.empty} among {group}"


def _above_chance(first: Floats, second: Floats) -> Floats:
    return np.asarray(first + second - 1)


def _quotient(top: Floats, bottom: Floats) -> Floats:
    return np.where(bottom > 0, top / bottom, np.nan)


def matthews(base: Floats, hits: Floats, false_alarms: Floats) -> Floats:
    """Matthews' correlation from the base rate, the true and the false positive rate; NaN for 0/0.

    >>> matthews(np.array([0.5]), np.array([0.8]), np.array([0.2])).round(6).tolist()
    [0.6]
    """
    selected = base * hits + (1 - base) * false_alarms
    spread = selected * (1 - selected)
    return np.where(spread > 0, (hits - false_alarms) * np.sqrt(base * (1 - base) / spread), np.nan)


def _observed_to_decided(wrong: Floats, missed: Floats) -> Floats:
    """(right + missed) / (right + wrong), from wrong / (right + wrong + missed) and missed / (right + missed)."""
    decided = 1 - (1 - wrong) * missed
    return np.where(decided > 0, (1 - wrong) / decided, np.nan)


_TPR, _FPR, _TNR, _FNR = (
    MEASURES[name]
    for name in ("true_positive_rate", "false_positive_rate", "true_negative_rate", "false_negative_rate")
)
_PPV, _NPV = MEASURES["positive_predictive_value"], MEASURES["negative_predictive_value"]
_BASE = CellMeasure("base_rate_of_the_decided", "base rate of the decided", "FN TP", "TN FP FN TP", empty="labels")
_WRONG_YES = CellMeasure("wrong_yes", "wrong yes", "FP", "FP FN TP", empty="positive labels or decisions")
_WRONG_NO = CellMeasure("wrong_no", "wrong no", "FN", "TN FP FN", empty="negative labels or decisions")

# fmt: off
COMBINATIONS: dict[str, Combination] = {row.name: row for row in (
    Combination("informedness", "informedness", (_TPR, _TNR), _above_chance, "positive or no negative labels",
                "TPR + TNR − 1", ("youden_j", "bookmaker_informedness"), least=-1.0, most=1.0),
    Combination("markedness", "markedness", (_PPV, _NPV), _above_chance, "positive or no negative decisions",
                "PPV + NPV − 1", ("delta_p",), least=-1.0, most=1.0),
    Combination("matthews_correlation", "Matthews correlation", (_BASE, _TPR, _FPR), matthews,
                "labels of both kinds, or decisions of both kinds,",
                "(TP TN − FP FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN))",
                ("mcc", "matthews_corrcoef", "phi_coefficient"), least=-1.0, most=1.0),
    Combination("positive_likelihood_ratio", "positive likelihood ratio", (_TPR, _FPR), _quotient,
                "positive labels or no false positives", "TPR / FPR", ("lr_plus",), "ratio", logs=True),
    Combination("negative_likelihood_ratio", "negative likelihood ratio", (_FNR, _TNR), _quotient,
                "positive labels or no true negatives", "FNR / TNR", ("lr_minus",), "ratio", logs=True),
    Combination("observed_to_accepted", "number of positive labels for each positive prediction", (_WRONG_YES, _FNR),
                _observed_to_decided, "positive labels or no positive decisions", "(TP + FN) / (TP + FP)",
                ("conditional_acceptance",), "ratio", logs=True),
    Combination("observed_to_rejected", "number of negative labels for each negative prediction", (_WRONG_NO, _FPR),
                _observed_to_decided, "negative labels or no negative decisions", "(TN + FP) / (TN + FN)",
                ("conditional_rejection",), "ratio", logs=True),
)}
# fmt: on
ALIASES: dict[str, str] = {alias: row.name for row in COMBINATIONS.values() for alias in row.aliases}
