"""SCORE_MEASURES: what is computed for one group from its score bins, each as a Spread of all groups.

Means are exact whatever the bins. What depends on the order of scores within a bin is exact where each bin is one
value, and otherwise off by no more than the bound that the measure's `error` gives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.cube.scores import log_loss as loss_of
from evenhand.inference.means import SCORES, Means
from evenhand.inference.spread import PLAIN, Errors, Largest, Logit, Proportions, Spread, effective
from evenhand.measures import curves
from evenhand.measures.base import MadeOf, MeasureDefaults
from evenhand.measures.group_data import (
    NEGATIVE,
    POSITIVE,
    SIDES,
    UNLABELLED,
    BinnedScores,
    GroupData,
    Side,
    without_rounding,
)
from evenhand.sources.scores import TINY, ScoreReading

MIN_BIN = 10
"""People of a group in a calibration bin, below which the bin is shown and not judged."""

_LOG_LOSSES = (0.0, -math.log(TINY))  # the range of a log loss
_ALL = (NEGATIVE, POSITIVE, UNLABELLED)
_LABELLED = (NEGATIVE, POSITIVE)
UNMET = 2.5  # people with a label that nobody in a group has: two groups of 30 have the limits of 0/30 and 0/30


def mean_score(labels: tuple[int, ...]) -> Callable[[BinnedScores], Spread]:
    """The mean score of the rows with these labels: Σws / Σw of the group's own rows."""

    def spread(data: BinnedScores) -> Spread:
        bins = data.reading.bins
        return _mean(data, (data.first, *data.squares[1:]), labels, (bins.low, bins.high))

    return spread


def _mean(
    data: BinnedScores,
    sums: tuple[Floats, ...],
    labels: tuple[int, ...],
    span: tuple[float, float],
    apart: Floats | None = None,
) -> Means:
    """The mean of what was summed by bin over the rows with these labels; `sums` are Σwx, Σw²x and Σw²x².

    `span` is the range of x; `apart` is as in `_means`.
    """
    chosen = list(labels)
    mass, q0 = (part[:, chosen].sum(axis=(1, 2)) for part in (data.mass, data.squares[0]))
    first, q1, q2 = (part[:, chosen].sum(axis=(1, 2)) for part in sums)
    n = data.n[:, chosen].sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(mass > 0, first / mass, np.nan)
        squares = without_rounding(q2 - 2 * value * q1 + value**2 * q0, q2, n)
    return _means(value, squares, (mass, q0, n), span, apart)


def _means(
    value: Floats,
    squares: Floats,
    sums: tuple[Floats, Floats, Floats],
    span: tuple[float, float],
    apart: Floats | None = None,
) -> Means:
    """Means of groups from Σw²(x − mean)² and the sums of weights, of squared weights and of people.

    `apart` is how far x lies, on average, from what it would be with the other label, where all have the same: then it
    may vary as much as if some people had the other one, so many that limits are those of a share of 0. Where no x
    differs, `Means` takes its limits from the range.
    """
    mass, q0, n = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(q0 > 0, mass**2 / q0, 0.0)
        own = squares / q0 * n / np.maximum(n - 1, 1)
        if apart is not None:
            unmet = UNMET / (worth + 2 * UNMET)
            own = np.where(own > 0, np.fmax(own, unmet * (1 - unmet) * apart**2), own)
        return Means.of(value, own, n, worth, span, growth=SCORES)


def scoring_rate(data: BinnedScores) -> Spread:
    """The share of each group that scores above the median of everyone.

    On a grid the people in the median's bin are shared out as everyone's: what is above half of all is above.
    """
    mass = data.mass.sum(axis=1)
    share = above_median(mass.sum(axis=0), data.reading.bins.exact)
    above, rest = mass @ share, mass @ (1 - share)
    if data.mass is data.n:
        return Proportions(above, above + rest, PLAIN)
    squares = data.squares[0].sum(axis=1)
    return Proportions(*effective(above, rest, squares @ share, squares @ (1 - share)), PLAIN)


def scoring_rate_error(data: BinnedScores) -> Floats:
    """How far the scoring rate of each group may be off: by all its people in the bin that holds the median."""
    mass = data.mass.sum(axis=1)
    share = above_median(mass.sum(axis=0), data.reading.bins.exact)
    torn = np.where((share > 0) & (share < 1), 1.0, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mass @ torn / mass.sum(axis=1))


def above_median(mass: Floats, exact: bool) -> Floats:
    """The share of each score bin that lies above the median of all the mass; `exact` where a bin is one value.

    >>> above_median(np.array([1.0, 1.0, 2.0]), exact=True), above_median(np.array([1.0, 2.0, 1.0]), exact=True)
    (array([0., 0., 1.]), array([0., 0., 1.]))
    >>> above_median(np.array([1.0, 2.0, 1.0]), exact=False)
    array([0. , 0.5, 1. ])
    """
    half, below = mass.sum() / 2, np.concatenate([[0.0], np.cumsum(mass)[:-1]])
    beyond = np.where(below >= half * (1 - 1e-12), 1.0, 0.0)
    if exact:
        return beyond
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(mass > 0, (below + mass - half) / mass, beyond), 0.0, 1.0)


def auc(data: BinnedScores) -> Spread:
    """The area under the ROC curve of each group, with DeLong's variance on the logit scale."""
    positives, negatives = data.of_label(POSITIVE), data.of_label(NEGATIVE)
    value, variance = curves.auc(positives, negatives), curves.auc_variance(positives, negatives)
    p, n = positives.sum(axis=1), negatives.sum(axis=1)
    sizes = np.minimum(*(data.n[:, label].sum(axis=1) for label in _LABELLED))
    return Logit(value, np.sqrt(np.fmax(variance, curves.auc_floor(value, p, n))), sizes, np.minimum(p, n))


def auc_error(data: BinnedScores) -> Floats:
    """How far the AUC of each group may be off because scores within a bin count as equal."""
    return curves.auc_error(data.of_label(POSITIVE), data.of_label(NEGATIVE))


def average_precision(data: BinnedScores) -> Spread:
    """The average precision (area under the precision-recall curve) of each group, on the logit scale."""
    positives, negatives = data.of_label(POSITIVE), data.of_label(NEGATIVE)
    value = curves.average_precision(positives, negatives)
    variance = curves.average_precision_variance(positives, negatives, value)
    p = positives.sum(axis=1)
    inside = np.clip(value, 0.5 / (p + 1), 1 - 0.5 / (p + 1))
    floor = inside * (1 - inside) / np.maximum(p, 1) / 4  # as of an AUC: a sample without errors is no proof
    people = data.n[:, POSITIVE].sum(axis=1)
    return Logit(value, np.sqrt(np.fmax(variance, floor)), people, p)


def average_precision_error(data: BinnedScores) -> Floats:
    """How far it may be off: the precision at a positive moves by the people of its bin, if both labels are in it."""
    positives, negatives = data.of_label(POSITIVE), data.of_label(NEGATIVE)
    above = np.flip(np.cumsum(np.flip(positives + negatives, axis=-1), axis=-1), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        torn = np.where((positives > 0) & (negatives > 0), positives * (positives + negatives) / above, 0.0)
        return np.asarray(torn.sum(axis=1) / positives.sum(axis=1)) * (not data.reading.bins.exact)


def brier(data: BinnedScores) -> Spread:
    """The mean of (score − label)², from sums of squared scores; its error from the mean of each bin."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(data.mass > 0, data.first / data.mass, 0.0)
    second = data.second if data.second is not None else data.mass * mean**2
    loss = second.copy()
    loss[:, POSITIVE] += data.mass[:, POSITIVE] - 2 * data.first[:, POSITIVE]
    return _mean_loss(data, loss, np.stack([mean[:, NEGATIVE] ** 2, (1 - mean[:, POSITIVE]) ** 2], axis=1))


def brier_error(data: BinnedScores) -> Floats | None:
    """How far the Brier score may be off where Σws² is not known: by the variance of scores within a bin."""
    if data.second is not None or data.reading.bins.exact:
        return None
    width = np.diff(np.append(data.reading.bins.starts, data.reading.bins.high)).max()
    return np.full(len(data.mass), width**2 / 4)


def log_loss(data: BinnedScores) -> Spread:
    """The mean of −log of the probability that was predicted for what happened, from sums over people."""
    if data.losses is None:
        unknown, nobody = np.full(len(data.mass), np.nan), np.zeros(len(data.mass))
        return Means.of(unknown, unknown, nobody, nobody, _LOG_LOSSES)
    apart = _apart(data, lambda score, label: loss_of(score, np.full(score.shape, label)))
    return _mean(data, data.losses, _LABELLED, _LOG_LOSSES, apart)


def _apart(data: BinnedScores, loss: Callable[[Floats, int], Floats]) -> Floats:
    """How far apart the mean losses of a group would be with one label and with the other; 0 where it has both."""
    mass, first = (part[:, list(_LABELLED)].sum(axis=1) for part in (data.mass, data.first))
    met = (data.mass[:, list(_LABELLED)].sum(axis=2) > 0).all(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(mass > 0, first / mass, 0.0)
        would = [(mass * loss(score, label)).sum(axis=1) / mass.sum(axis=1) for label in _LABELLED]
    return np.where(met, 0.0, would[1] - would[0])


def _mean_loss(data: BinnedScores, loss: Floats, each: Floats) -> Spread:
    """Mean and error of a loss: its sums by bin, and what one person in a bin loses."""
    chosen = list(_LABELLED)
    mass, n = data.mass[:, chosen].sum(axis=(1, 2)), data.n[:, chosen].sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(mass > 0, loss[:, chosen].sum(axis=(1, 2)) / mass, np.nan)
    squares = data.squares[0][:, chosen]
    away, scale = (
        (part**2 * squares).sum(axis=(1, 2)) for part in (each - value[:, None, None], np.where(squares > 0, each, 0.0))
    )
    sums, apart = (mass, squares.sum(axis=(1, 2)), n), _apart(data, lambda score, label: (score - label) ** 2)
    return _means(value, without_rounding(away, scale, n), sums, (0.0, 1.0), apart)


def calibration_error(data: BinnedScores) -> Spread:
    """The expected calibration error of each group; biased upwards, which its lower limits allow for.

    Bins count by weight; how many people their weights are worth decides only how far each may be off.
    """
    k, n, score = data.calibration()
    mass, people = (data.in_calibration_bins(part) for part in (data.mass, data.n))
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, smooth = k / n, (k + 0.5) / (n + 1)
        share = mass / mass.sum(axis=1, keepdims=True)
    value, _ = curves.calibration_error(np.nan_to_num(rate), np.nan_to_num(score), mass)
    noise = np.where(n > 0, share * np.sqrt(smooth * (1 - smooth) / np.maximum(n, 1)), 0.0)
    mean = math.sqrt(2 / math.pi)
    return Errors(value, np.sqrt((noise**2).sum(axis=1)), mean * noise.sum(axis=1),
                  np.sqrt(((1 - mean**2) * noise**2).sum(axis=1)), people.sum(axis=1))  # fmt: skip


def maximum_calibration_error(data: BinnedScores) -> Spread:
    """The largest distance between observed rate and mean score in any calibration bin with enough people.

    In a bin of a few people the distance is large whatever the score is worth, and would always be the largest; bins
    below MIN_BIN are left out, as calibration leaves them out. The largest of what remains is still biased upwards,
    which the limits of `Largest` allow for.
    """
    k, n, score = data.calibration()
    people = data.in_calibration_bins(data.n)
    enough = people >= MIN_BIN
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where(enough, np.abs(k / n - score), np.nan)
        smooth = (k + 0.5) / (n + 1)
        noise = np.where(enough, np.sqrt(smooth * (1 - smooth) / n), 0.0)
    return Largest(away, noise, np.where(enough, people, 0.0).sum(axis=1))


@dataclass(frozen=True)
class ScoreMeasure(MeasureDefaults):
    """A number for one group that needs its scores or, for a regressor, its predictions and outcomes."""

    name: str
    title: str
    function: Callable[[Any], Spread]
    """From the BinnedScores of the groups or, for a regressor, from their RegressionSums."""
    needs: frozenset[str]
    empty: str
    unit: str = "score"
    formula: str = ""
    error: Callable[[Any], Floats | None] | None = None
    """How far the value of each group may be off on a grid; None where bins make no difference."""
    over: Callable[[Any, Array], Floats] | None = None
    """Of a mean: an array [groups, labels, bins] summed over those whose mean it is. None where it is not a mean."""
    negative: Literal["never", "as the score", "always"] = "never"
    """Whether a value can be negative: where the score (or the prediction) itself can be, or on any scale."""
    tasks: frozenset[str] = frozenset({"binary"})
    of_losses: bool = False
    """Is it made of the losses of people, which bins do not tell?"""
    at_cutoff: bool = False
    """Is it that of a cutoff, and so undefined without one?"""

    @property
    def made_of(self) -> MadeOf:
        return "scores"

    @property
    def labels_of(self) -> tuple[Side, ...]:
        """Those of everyone; but the observed rate in a bin, as a predictive value, is that of whoever has a label."""
        return SIDES if "label" in self.needs and self.bin is None else ()

    def _scores(self, data: GroupData) -> Any:
        return data.known_scores if self.labels_of else data.scores

    def spread(self, data: GroupData) -> Spread | None:
        """The measure of all groups; None where the data has no scores."""
        return None if data.scores is None else self.function(self._scores(data))

    def support(self, data: GroupData, spread: Spread | None) -> Array:
        """How many people the value of each group rests on, whatever their weights are worth."""
        if self.over is None or data.scores is None:
            return super().support(data, spread)
        return self.over(self._scores(data), self._scores(data).n)

    @property
    def linear(self) -> bool:
        return self.over is not None

    def mass(self, data: GroupData) -> Floats:
        """The weight of those whose mean it is."""
        if self.over is None or data.scores is None:
            return super().mass(data)
        return self.over(self._scores(data), self._scores(data).mass)

    def signed(self, data: GroupData) -> bool:
        """Can a value be negative, on the scale that the score has in this data?"""
        if self.negative == "as the score" and data.scores is not None:
            return data.scores.reading.bins.low < 0
        return self.negative == "always"

    def grid_error(self, data: GroupData) -> Floats | None:
        """How far the value of each group may be off because scores within a bin count as equal."""
        return None if self.error is None or data.scores is None else self.error(self._scores(data))

    def reason(self, group: str) -> str:
        """Why the measure is undefined for a group."""
        return f"no {self.empty} among {group}"


def _with_labels(labels: tuple[int, ...]) -> Callable[[BinnedScores, Array], Floats]:
    """Sums over everyone with one of these labels."""

    def over(data: BinnedScores, part: Array) -> Floats:  # noqa: ARG001 - labels stand in the array
        return np.asarray(part[:, list(labels)].sum(axis=(1, 2)), dtype=np.float64)

    return over


_SCORE, _BOTH = frozenset({"score"}), frozenset({"score", "label"})
_EVERYONE, _KNOWN = _with_labels(_ALL), _with_labels(_LABELLED)

# fmt: off
SCORE_MEASURES: dict[str, ScoreMeasure] = {row.name: row for row in (
    ScoreMeasure("mean_score", "mean score", mean_score(_ALL), _SCORE, "scores", formula="E[S]",
                 in_score_units=True, over=_EVERYONE, negative="as the score"),
    ScoreMeasure("scoring_rate", "scoring rate", scoring_rate, _SCORE, "scores", "rate",
                 formula="P(S > median of all S)", error=scoring_rate_error, over=_EVERYONE),
    ScoreMeasure("mean_score_positive", "mean score of the positive class", mean_score((POSITIVE,)), _BOTH,
                 "positive labels with a score", formula="E[S | Y=1]", in_score_units=True,
                 over=_with_labels((POSITIVE,)), negative="as the score"),
    ScoreMeasure("mean_score_negative", "mean score of the negative class", mean_score((NEGATIVE,)), _BOTH,
                 "negative labels with a score", formula="E[S | Y=0]", in_score_units=True,
                 over=_with_labels((NEGATIVE,)), negative="as the score"),
    ScoreMeasure("auc", "AUC", auc, _BOTH, "positive or no negative labels with a score",
                 formula="P(S of a positive > S of a negative) + ½ P(equal)", error=auc_error),
    ScoreMeasure("average_precision", "average precision", average_precision, _BOTH,
                 "positive or no negative labels with a score",
                 formula="Σ_k (recall_k − recall_{k−1}) · precision_k", error=average_precision_error),
    ScoreMeasure("brier_score", "Brier score", brier, _BOTH, "labels with a score", formula="E[(S − Y)²]",
                 probability=True, error=brier_error, over=_KNOWN),
    ScoreMeasure("log_loss", "log loss", log_loss, _BOTH, "labels with a score",
                 formula="−E[Y log S + (1−Y) log(1−S)]", probability=True, of_losses=True, over=_KNOWN),
    ScoreMeasure("expected_calibration_error", "expected calibration error", calibration_error, _BOTH,
                 "labels with a score", formula="Σ_b n_b/n · |observed rate − mean score|",
                 probability=True),
    ScoreMeasure("maximum_calibration_error", "maximum calibration error", maximum_calibration_error, _BOTH,
                 f"calibration bin with at least {MIN_BIN} labels", formula="max_b |observed rate − mean score|",
                 probability=True),
)}
# fmt: on


@lru_cache(maxsize=64)  # the same measures, so that what is known of them is found again
def calibration_bins(reading: ScoreReading) -> tuple[ScoreMeasure, ...]:
    """A measure for each calibration bin: the observed rate within it."""
    edges = reading.edges

    def rate(i: int) -> Callable[[BinnedScores], Spread]:
        def spread(data: BinnedScores) -> Spread:
            k, n, _ = data.calibration()
            return Proportions(k[:, i], n[:, i], PLAIN)

        return spread

    def over(i: int) -> Callable[[BinnedScores, Array], Floats]:
        return lambda data, part: data.in_calibration_bins(part)[:, i]

    return tuple(
        ScoreMeasure(
            "observed_rate",
            f"observed rate at scores from {low:g} to {high:g}",
            rate(i),
            _BOTH,
            f"labels at scores from {low:g} to {high:g}",
            "rate",
            over=over(i),
            bin=(low, high),
        )
        for i, (low, high) in enumerate(itertools.pairwise(edges))
    )
