"""SCORE_MEASURES: what is computed for one group from its score bins, each as a Spread of all groups.

Means are exact whatever the bins. What depends on the order of scores within a bin is exact where each bin is one
value, and otherwise off by no more than the bound that `Binned.resolution_error` gives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand import curves
from evenhand.inference.spread import Errors, Logit, Normal, Proportions, Spread, effective
from evenhand.measures import Form
from evenhand.sources.scoretable import ScoreTable
from evenhand.sources.scoring import Reading

Floats = npt.NDArray[np.float64]

NEGATIVE, POSITIVE, UNLABELLED = 0, 1, 2
_ALL = (NEGATIVE, POSITIVE, UNLABELLED)
_LABELLED = (NEGATIVE, POSITIVE)
_PLAIN = Form(np.zeros(0), np.zeros(0))


class Binned:
    """The scores of some groups, dense: arrays [groups, labels, bins]."""

    def __init__(self, reading: Reading, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self.reading = reading
        self.n = arrays["n"].astype(np.float64)
        weighted = "w" in arrays
        self.mass: Floats = arrays["w"] if weighted else self.n
        self.first: Floats = arrays["ws"] if weighted else arrays["s"]
        names = ("w2", "w2s", "w2s2") if weighted else ("n", "s", "s2")
        self.squares: list[Floats] = [arrays[name].astype(np.float64) for name in names]
        self.second: Floats | None = None if weighted else arrays["s2"]
        self._arrays = arrays

    @classmethod
    def of(cls, table: ScoreTable, pairs: int) -> Binned:
        return cls(table.reading, table.dense(pairs))

    def rest(self) -> Binned:
        """For each group, everyone else."""
        return Binned(self.reading, {name: part.sum(axis=0) - part for name, part in self._arrays.items()})

    def of_label(self, label: int) -> Floats:
        """People by bin, as many as their weights are worth; [groups, bins]."""
        mass, people = self.mass[:, label], self.n[:, label]
        if self.mass is self.n:
            return people
        total, squares = mass.sum(axis=1, keepdims=True), self.squares[0][:, label].sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(squares > 0, mass * total / squares, 0.0)

    @cached_property
    def places(self) -> Floats:
        """Where each bin stands: its mean score over everyone, its value, or its lower edge where nobody is."""
        mass = self.mass.sum(axis=(0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(mass > 0, self.first.sum(axis=(0, 1)) / mass, self.reading.bins.starts)

    @cached_property
    def by_edge(self) -> npt.NDArray[np.intp]:
        """The calibration bin of each score bin; the last is closed."""
        edges = np.array(self.reading.edges)
        return np.clip(np.searchsorted(edges, self.reading.bins.starts, side="right") - 1, 0, len(edges) - 2)

    def calibration(self) -> tuple[Floats, Floats, Floats]:
        """Positives, everyone labelled (as people) and mean score by calibration bin; [groups, bins]."""
        k, n, score = (np.zeros((len(self.n), len(self.reading.edges) - 1)) for _ in range(3))
        mass = np.zeros_like(k)
        top, rest, top2, rest2 = (np.zeros_like(k) for _ in range(4))
        for label, part, part2 in ((POSITIVE, top, top2), (NEGATIVE, rest, rest2)):
            for group in range(len(self.n)):
                np.add.at(part[group], self.by_edge, self.mass[group, label])
                np.add.at(part2[group], self.by_edge, self.squares[0][group, label])
                np.add.at(score[group], self.by_edge, self.first[group, label])
                np.add.at(mass[group], self.by_edge, self.mass[group, label])
        k, n = (top, top + rest) if self.mass is self.n else effective(top, rest, top2, rest2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return k, n, np.where(mass > 0, score / mass, np.nan)


def mean_score(labels: tuple[int, ...]) -> Callable[[Binned], Spread]:
    """The mean score of the rows with these labels: Σws / Σw of the group's own rows."""

    def spread(data: Binned) -> Spread:
        chosen = list(labels)
        mass, first = (part[:, chosen].sum(axis=(1, 2)) for part in (data.mass, data.first))
        q0, q1, q2 = (part[:, chosen].sum(axis=(1, 2)) for part in data.squares)
        n = data.n[:, chosen].sum(axis=(1, 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(mass > 0, first / mass, np.nan)
            variance = np.maximum(q2 - 2 * value * q1 + value**2 * q0, 0) / mass**2 * n / np.maximum(n - 1, 1)
        return Normal(value, np.sqrt(variance), n)

    return spread


def auc(data: Binned) -> Spread:
    """The area under the ROC curve of each group, with DeLong's variance on the logit scale."""
    positives, negatives = data.of_label(POSITIVE), data.of_label(NEGATIVE)
    value, variance = curves.auc(positives, negatives), curves.auc_variance(positives, negatives)
    p, n = positives.sum(axis=1), negatives.sum(axis=1)
    sizes = np.minimum(*(data.n[:, label].sum(axis=1) for label in _LABELLED))
    return Logit(value, np.sqrt(np.fmax(variance, curves.auc_floor(value, p, n))), sizes)


def brier(data: Binned) -> Spread:
    """The mean of (score − label)²: exact for people, from the mean of each bin for weights."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(data.mass > 0, data.first / data.mass, 0.0)
    second = data.second if data.second is not None else data.mass * mean**2
    loss = second.copy()
    loss[:, POSITIVE] += data.mass[:, POSITIVE] - 2 * data.first[:, POSITIVE]
    return _mean_loss(data, loss, np.stack([mean[:, NEGATIVE] ** 2, (1 - mean[:, POSITIVE]) ** 2], axis=1))


def log_loss(data: Binned) -> Spread:
    """The mean of −log of the probability given to what happened, from the mean score of each bin."""
    tiny = np.finfo(np.float64).eps
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.clip(np.where(data.mass > 0, data.first / data.mass, 0.5), tiny, 1 - tiny)
    each = np.stack([-np.log(1 - mean[:, NEGATIVE]), -np.log(mean[:, POSITIVE])], axis=1)
    return _mean_loss(data, data.mass[:, _LABELLED] * each, each)


def _mean_loss(data: Binned, loss: Floats, each: Floats) -> Spread:
    """Mean and error of a loss: its sums by bin, and what one person in a bin loses."""
    chosen = list(_LABELLED)
    mass, n = data.mass[:, chosen].sum(axis=(1, 2)), data.n[:, chosen].sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(mass > 0, loss[:, chosen].sum(axis=(1, 2)) / mass, np.nan)
        away = (each - value[:, None, None]) ** 2 * data.squares[0][:, chosen]
        error = np.sqrt(np.where(n > 1, away.sum(axis=(1, 2)) / mass**2 * n / np.maximum(n - 1, 1), np.nan))
    return Normal(value, error, n)


def calibration_error(data: Binned) -> Spread:
    """The expected calibration error of each group; biased upwards, which its lower limits allow for."""
    k, n, score = data.calibration()
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, smooth = k / n, (k + 0.5) / (n + 1)
        share = n / n.sum(axis=1, keepdims=True)
    value, _ = curves.calibration_error(np.nan_to_num(rate), np.nan_to_num(score), n)
    noise = np.where(n > 0, share * np.sqrt(smooth * (1 - smooth) / np.maximum(n, 1)), 0.0)
    mean = math.sqrt(2 / math.pi)
    return Errors(value, np.sqrt((noise**2).sum(axis=1)), mean * noise.sum(axis=1),
                  np.sqrt(((1 - mean**2) * noise**2).sum(axis=1)), n.sum(axis=1))  # fmt: skip


@dataclass(frozen=True)
class ScoreMeasure:
    """A number for one group that needs its scores."""

    name: str
    title: str
    function: Callable[[Binned], Spread]
    needs: frozenset[str]
    empty: str
    unit: str = "score"
    bin: tuple[float, float] | None = None
    formula: str = ""
    linear: bool = True
    """Is everyone's value the mean of the groups', weighted by their sizes?"""
    probability: bool = False
    """Does it compare the score with what happened, and so need a score between 0 and 1?"""
    in_score_units: bool = False


_SCORE, _BOTH = frozenset({"score"}), frozenset({"score", "label"})

# fmt: off
SCORE_MEASURES: dict[str, ScoreMeasure] = {row.name: row for row in (
    ScoreMeasure("mean_score", "mean score", mean_score(_ALL), _SCORE, "scores", formula="E[S]",
                 in_score_units=True),
    ScoreMeasure("mean_score_positive", "mean score of the positive class", mean_score((POSITIVE,)), _BOTH,
                 "positive labels with a score", formula="E[S | Y=1]", in_score_units=True),
    ScoreMeasure("mean_score_negative", "mean score of the negative class", mean_score((NEGATIVE,)), _BOTH,
                 "negative labels with a score", formula="E[S | Y=0]", in_score_units=True),
    ScoreMeasure("auc", "AUC", auc, _BOTH, "positive or no negative labels with a score",
                 formula="P(S of a positive > S of a negative) + ½ P(equal)", linear=False),
    ScoreMeasure("brier_score", "Brier score", brier, _BOTH, "labels with a score", formula="E[(S − Y)²]",
                 probability=True),
    ScoreMeasure("log_loss", "log loss", log_loss, _BOTH, "labels with a score",
                 formula="−E[Y log S + (1−Y) log(1−S)]", probability=True),
    ScoreMeasure("expected_calibration_error", "expected calibration error", calibration_error, _BOTH,
                 "labels with a score", formula="Σ_b n_b/n · |observed rate − mean score|", linear=False,
                 probability=True),
)}
# fmt: on


def calibration_bins(reading: Reading) -> tuple[ScoreMeasure, ...]:
    """The observed rate in each calibration bin, as a measure of its own."""
    edges = reading.edges

    def rate(i: int) -> Callable[[Binned], Spread]:
        def spread(data: Binned) -> Spread:
            k, n, _ = data.calibration()
            return Proportions(k[:, i], n[:, i], _PLAIN)

        return spread

    return tuple(
        ScoreMeasure(
            "observed_rate",
            f"observed rate at scores from {low:g} to {high:g}",
            rate(i),
            _BOTH,
            f"labels at scores from {low:g} to {high:g}",
            "rate",
            (low, high),
        )
        for i, (low, high) in enumerate(itertools.pairwise(edges))
    )
