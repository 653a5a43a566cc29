"""LENDING_MEASURES: what lenders and insurers compute for one group, from score bins and from sums of a regressor.

They are found by name and shown where a metric asks for them; an audit does not list them for every group.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats
from evenhand.core.results import figure
from evenhand.inference.combined import Combined
from evenhand.inference.events import Events
from evenhand.inference.means import Means
from evenhand.inference.spread import PLAIN, Normal, Proportions, Spread, effective
from evenhand.measures import scores
from evenhand.measures.group_data import NEGATIVE, POSITIVE, UNLABELLED, BinnedScores, RegressionSums, without_rounding
from evenhand.measures.regression import LEAST_EXPLAINED, mean_in
from evenhand.measures.scores import ScoreMeasure
from evenhand.sources.scores import TINY, ScoreReading

_ALL = (NEGATIVE, POSITIVE, UNLABELLED)
_STEPS, _SETTLED = 100, 1e-12  # of Newton's method
_STEEPEST = 100.0  # a slope beyond it is that of labels which the score tells apart, and has no end
_NORMAL = 2.0  # kurtosis − 1 of a normal law: deviations are not taken to be known better
MOST_CLASSES = 20
"""Different scores, above which they are not classes that are chosen one after the other."""
SHARES = tuple(k / 10 for k in range(1, 10))
"""The shares of everyone that are selected where cutoffs are set by quantiles."""


# --- Standardised means ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scale:
    """Everyone's mean and a standard deviation; `tails` is the kurtosis − 1, and `people` says how many they are."""

    centre: float
    deviation: float
    tails: float
    people: float


def _scale(means: Means, mass: Floats, squares: Floats, *, fourth: float | None, pooled: bool) -> _Scale:
    """The scale of some groups, from Σw and Σw(x − mean of the group)²; `fourth` is Σw(x − everyone's mean)⁴ / Σw."""
    known, people = mass > 0, float(np.nansum(means.worth))
    total, values = float(mass.sum()), np.where(known, means.values, 0.0)
    if not total > 0:
        return _Scale(math.nan, math.nan, _NORMAL, 1.0)
    centre = float((mass * values).sum() / total)
    between = 0.0 if pooled else float((mass * (values - centre) ** 2 * known).sum())
    free = people - (int(known.sum()) if pooled else 1)
    variance = (float(squares[known].sum()) + between) / total * (people / free if free > 0 else math.nan)
    deviation = math.sqrt(variance) if variance > (1e-12 * abs(centre)) ** 2 else math.nan
    tails = _NORMAL if fourth is None or math.isnan(deviation) else max(fourth / variance**2 - 1, _NORMAL)
    return _Scale(centre, deviation, tails, people)


def _on_scale(means: Means, scale: _Scale) -> Means:
    """Means as distances from everyone's, in standard deviations.

    The deviation is estimated as well, and the farther a group lies from everyone, the more rests on it: that adds
    z²(κ − 1)/4n to a variance, here twice as much, because both groups of a gap have it in common.
    """
    z = (means.values - scale.centre) / scale.deviation
    own = means.own / scale.deviation**2 + means.worth * z**2 * scale.tails / (2 * max(scale.people, 1.0))
    span = ((means.low - scale.centre) / scale.deviation, (means.high - scale.centre) / scale.deviation)
    if math.isnan(scale.deviation):
        span = (-math.inf, math.inf)
    return Means.of(z, own, means.sizes, means.worth, span, growth=means.growth)


def _standardized_score(*, pooled: bool) -> Callable[[BinnedScores], Spread]:
    def spread(data: BinnedScores) -> Spread:
        whole = data.whole
        mass, first = whole.mass.sum(axis=(1, 2)), whole.first.sum(axis=(1, 2))
        second = whole.mass * whole.places**2 if whole.second is None else whole.second
        total_squares, people = second.sum(axis=(1, 2)), whole.n.sum(axis=(1, 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.where(mass > 0, total_squares - first**2 / mass, 0.0)
        squares = without_rounding(squares, total_squares, people)
        total = max(float(mass.sum()), 1e-300)
        fourth = float((whole.mass.sum(axis=(0, 1)) * (whole.places - first.sum() / total) ** 4).sum()) / total
        own, means = scores.mean_score(_ALL)(whole), scores.mean_score(_ALL)(data)
        assert isinstance(own, Means)  # noqa: S101 - as mean_score makes them
        assert isinstance(means, Means)  # noqa: S101 - likewise
        return _on_scale(means, _scale(own, mass, squares, fourth=fourth, pooled=pooled))

    return spread


def _standardized_number(moment: str, *, pooled: bool) -> Callable[[RegressionSums], Spread]:
    """The same of predictions (f) or of residuals (e) of a regressor."""

    def spread(data: RegressionSums) -> Spread:
        whole, moved = data.whole, moment == "f"
        bands = whole.everyone if moved else whole.labelled
        own, means = (mean_in(part, moment, moment * 2, bands, moved) for part in (whole, data))
        mass, first, second = whole.total("", bands), whole.mean(moment, bands), whole.mean(moment * 2, bands)
        with np.errstate(invalid="ignore"):
            squares = np.where(mass > 0, mass * (second - first**2), 0.0)
        squares = without_rounding(squares, np.nan_to_num(mass * second), whole.people(bands))
        return _on_scale(means, _scale(own, mass, squares, fourth=None, pooled=pooled))

    return spread


# --- Selecting a share of everyone -----------------------------------------------------------------------------------


def top_share(mass: Floats, share: float, *, exact: bool) -> Floats:
    """The share of each score bin that is selected when the highest scores of everyone are, until `share` of all are.

    Where a bin is one score, all who have it are selected together: at least `share` are. On a grid the bin that holds
    the cutoff is shared out.

    >>> top_share(np.array([4.0, 3.0, 3.0]), 0.5, exact=True), top_share(np.array([4.0, 3.0, 3.0]), 0.5, exact=False)
    (array([0., 1., 1.]), array([0.        , 0.66666667, 1.        ]))
    """
    wanted = share * mass.sum()
    above = np.flip(np.cumsum(np.flip(mass))) - mass  # those with a higher score
    if exact:
        return np.where(above < wanted * (1 - 1e-12), 1.0, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.clip(np.where(mass > 0, (wanted - above) / mass, above < wanted), 0.0, 1.0))


def _selected_top(share: float) -> Callable[[BinnedScores], Spread]:
    def spread(data: BinnedScores) -> Spread:
        everyone = data.whole.mass.sum(axis=(0, 1))
        return _selected(data, top_share(everyone, share, exact=data.reading.bins.exact))

    return spread


def _selected(data: BinnedScores, chosen: Floats) -> Spread:
    """The share of each group that is selected; `chosen` is that of each bin."""
    mass = data.mass.sum(axis=1)
    top, rest = mass @ chosen, mass @ (1 - chosen)
    if data.mass is data.n:
        return Proportions(top, top + rest, PLAIN)
    squares = data.squares[0].sum(axis=1)
    return Proportions(*effective(top, rest, squares @ chosen, squares @ (1 - chosen)), PLAIN)


def _torn(share: float) -> Callable[[BinnedScores], Floats]:
    """How far the share of a group may be off: by all its people in the bin that holds the cutoff."""

    def error(data: BinnedScores) -> Floats:
        chosen = top_share(data.whole.mass.sum(axis=(0, 1)), share, exact=data.reading.bins.exact)
        mass = data.mass.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(mass @ np.where((chosen > 0) & (chosen < 1), 1.0, 0.0) / mass.sum(axis=1))

    return error


# --- Scores as probabilities -----------------------------------------------------------------------------------------


def gini(data: BinnedScores) -> Spread:
    """2 AUC − 1, with the limits of the AUC."""
    return Combined([scores.auc(data)], _twice, -1.0, 1.0)


def _twice(area: Floats) -> Floats:
    return np.asarray(2 * area - 1)


def net_benefit(data: BinnedScores) -> Spread:
    """TP/n − FP/n · odds of the cutoff: of everyone, those rightly selected less the wrongly selected at their price.

    The rightly selected of all, and the wrongly selected of the others, vary independently.
    """
    cutoff, labelled = data.reading.cutoff, data.n[:, [NEGATIVE, POSITIVE]].sum(axis=(1, 2))
    if cutoff is None or not 0 < cutoff < 1:
        nobody = np.full(len(data.n), np.nan)
        return Normal(nobody, nobody, labelled)
    above = (data.reading.bins.starts >= cutoff).astype(float)
    # The refused are counted: what remains of a sum of weights that are far apart may be less than nobody.
    cells, squares = (
        [part[:, POSITIVE] @ above, part[:, NEGATIVE] @ above, part[:, [NEGATIVE, POSITIVE]].sum(axis=1) @ (1 - above)]
        for part in (data.mass, data.squares[0])
    )
    rightly = effective(cells[0], cells[1] + cells[2], squares[0], squares[1] + squares[2])
    wrongly = effective(cells[1], cells[2], squares[1], squares[2])
    price = cutoff / (1 - cutoff)

    def benefit(right: Floats, wrong: Floats) -> Floats:
        return np.asarray(right - price * (1 - right) * np.where(right < 1, wrong, 0.0))

    return Combined([Proportions(*rightly, PLAIN), Proportions(*wrongly, PLAIN)], benefit, -price, 1.0)


def _recalibrated(place: int, *, slope: bool) -> Callable[[BinnedScores], Spread]:
    """A coefficient of the logistic regression of labels on the logit of the score, with its sandwich error.

    With `slope` the model is a + b·logit, else a + logit; `place` 0 is a, 1 is b. Undefined where labels are all alike
    or told apart by the score.
    """

    def spread(data: BinnedScores) -> Spread:
        beta, errors, settled = _logistic(data, slope=slope)
        fewer = np.minimum(data.of_label(POSITIVE).sum(axis=1), data.of_label(NEGATIVE).sum(axis=1))
        value, error = (np.where(settled, part[:, place], np.nan) for part in (beta, errors))
        return Normal(value, error, np.where(settled, fewer, 0.0))

    return spread


def _logistic(data: BinnedScores, *, slope: bool) -> tuple[Floats, Floats, Bools]:
    """Coefficients [groups, 2], their errors, and which groups have any: by Newton's method for all groups at once.

    A score of 0 or 1 has an infinite logit: with the label that it foretells it adds nothing, and with the other one no
    coefficient fits.
    """
    from scipy.special import expit

    inside = np.clip(data.places, TINY, 1 - TINY)
    x, open_to_both = np.log(inside / (1 - inside)), inside == data.places
    ruled_out = data.mass[:, POSITIVE] @ (data.places < TINY) + data.mass[:, NEGATIVE] @ (data.places > 1 - TINY) > 0
    yes, no = data.mass[:, POSITIVE] * open_to_both, data.mass[:, NEGATIVE] * open_to_both
    both = yes + no
    beta = np.tile([0.0, 1.0], (len(both), 1))
    step = np.full(beta.shape, np.inf)
    for _ in range(_STEPS):
        p = expit(beta[:, :1] + beta[:, 1:] * x)
        gradient = np.stack([(yes - both * p).sum(axis=1), ((yes - both * p) * x).sum(axis=1)], axis=1)
        bread = _crossed(both * p * (1 - p), x, slope=slope)
        step = np.clip(np.einsum("gij,gj->gi", bread, gradient * [1.0, float(slope)]), -2.0, 2.0)
        beta = beta + np.where(np.isfinite(step), step, 0.0)
        if not (np.abs(step) > _SETTLED * (1 + np.abs(beta))).any():
            break
    settled = (np.abs(step) <= 1e-8 * (1 + np.abs(beta))).all(axis=1) & (np.abs(beta) < _STEEPEST).all(axis=1)
    settled &= (yes.sum(axis=1) > 0) & (no.sum(axis=1) > 0) & ~ruled_out
    if slope:  # of one score there is no slope
        settled &= (both > 0).sum(axis=1) > 1
    p = expit(beta[:, :1] + beta[:, 1:] * x)
    squares = data.squares[0] * open_to_both
    weights = squares[:, POSITIVE] * (1 - p) ** 2 + squares[:, NEGATIVE] * p**2
    meat = np.einsum("gb,ibj->gij", weights, np.einsum("ib,jb->ibj", [np.ones(len(x)), x], [np.ones(len(x)), x]))
    people = data.n[:, [NEGATIVE, POSITIVE]].sum(axis=(1, 2))
    freedom = people / np.maximum(people - 1 - slope, 1)  # as many as coefficients are lost
    covered = np.einsum("gij,gjk,gkl->gil", bread, meat, bread) * freedom[:, None, None]
    return beta, np.sqrt(np.maximum(np.einsum("gii->gi", covered), 0.0)), settled


def _crossed(weights: Floats, x: Floats, *, slope: bool) -> Floats:
    """The inverse of Σ w (1, x)(1, x)ᵀ of each group, [groups, 2, 2]; without `slope`, of its first entry alone."""
    zero, one, two = weights.sum(axis=1), weights @ x, weights @ x**2
    found = np.zeros((len(zero), 2, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        if not slope:
            found[:, 0, 0] = 1 / zero
            return found
        determinant = zero * two - one**2
        found[:, 0, 0], found[:, 1, 1] = two / determinant, zero / determinant
        found[:, 0, 1] = found[:, 1, 0] = -one / determinant
    return found


# --- Predicted numbers -----------------------------------------------------------------------------------------------


def actual_to_expected(data: RegressionSums) -> Spread:
    """Σ outcomes / Σ predictions of each group, as events of a Poisson count.

    With exposure, outcomes are counts of events, and vary at least as such counts do; otherwise as much as those of the
    group's people do. Without any, an event is as large as those of the other groups.
    """
    bands, people = data.labelled, data.people(data.labelled)
    actual, expected = data.amount("y", bands), data.amount("f", bands)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(expected > 0, actual / expected, np.nan)
    return as_events(actual, expected, data.squared_distance(r, bands), people, counts=data.counts_events)


def as_events(actual: Floats, expected: Floats, squares: Floats, people: Floats, *, counts: bool) -> Events:
    """Outcomes over predictions as events, from Σw²(y − r·f)²; `counts` says that outcomes are numbers of events."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = squares * np.where(people > 1, people / (people - 1), np.nan)
    if counts:
        variance = np.fmax(np.nan_to_num(variance), actual)
    good = (expected > 0) & (actual >= 0)
    unit = 1.0 if counts else _unit(actual, variance, good)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where((actual > 0) & (variance > 0), variance / actual, unit)
        # Where nobody tells how large an event is, as of one row in each group, each row is one.
        size = np.where(np.isnan(size), np.where(actual > 0, actual, expected) / np.maximum(people, 1.0), size)
        events, worth = np.where(good, actual / size, 0.0), np.where(good, expected / size, 0.0)
    return Events(events, worth, np.where(good, people, 0.0))


def _unit(actual: Floats, variance: Floats, good: Bools) -> float:
    """How large an event is, over all groups."""
    known = good & np.isfinite(variance) & (actual > 0)
    total = float(actual[known].sum())
    return float(variance[known].sum()) / total if total > 0 and variance[known].sum() > 0 else math.nan


def ordered_gini(data: RegressionSums) -> Spread:
    """E[y (2F(f) − 1)] / E[y]: twice the area between the ordered Lorenz curve of outcomes and the diagonal.

    F is the rank of a prediction in the group. The error is that of its influence (y·(2F − 1 − G) + g − θ)/μ, with
    θ = E[y (2F − 1)], g the outcomes above a prediction less those below, and μ = E[y].
    """
    bands, people = data.labelled, data.people(data.labelled)
    middle, mass, second = data.reading.middle, data.by_bin("w", "", bands), data.by_bin("w2", "", bands)
    outcome, moved = data.by_bin("w", "y", bands) + middle * mass, data.by_bin("w2", "y", bands)
    outcomes, squared = (
        moved + middle * second,
        data.by_bin("w2", "yy", bands) + 2 * middle * moved + middle**2 * second,
    )
    total = mass.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        rank = 2 * (np.cumsum(mass, axis=1) - mass / 2) / total - 1
        mean = outcome.sum(axis=1, keepdims=True) / total
        theta = (outcome * rank).sum(axis=1, keepdims=True) / total
        g = np.where(mean > 0, theta / mean, np.nan)
        ahead = (outcome.sum(axis=1, keepdims=True) - 2 * np.cumsum(outcome, axis=1) + outcome) / total
        by_outcome, alone = rank - g, ahead - theta
        squares = (by_outcome**2 * squared + 2 * by_outcome * alone * outcomes + alone**2 * second).sum(axis=1)
        error = np.sqrt(np.maximum(squares, 0.0) * people / np.maximum(people - 1, 1)) / (total * mean)[:, 0]
    value = g[:, 0] if data.ranges["y"][0] >= 0 else np.full(len(people), np.nan)
    there = np.isfinite(value)
    worth = np.where(there, data.worth(bands), 0.0)
    own = np.where(there & (people > 1), error**2 * worth, np.nan)
    # That of one person is 0, whatever the predictions are worth, and that of a few is hardly known.
    return Means.of(value, own, np.where(there, people, 0.0), worth, (-1.0, 1.0)).known_from(LEAST_EXPLAINED)


# --- The table -------------------------------------------------------------------------------------------------------


def _everyone(_: BinnedScores, part: Array) -> Floats:
    return np.asarray(part.sum(axis=(1, 2)), dtype=np.float64)


_SCORE, _BOTH = frozenset({"score"}), frozenset({"score", "label"})
_PREDICTED, _OUTCOMES, _REGRESSION = (
    frozenset({"prediction"}),
    frozenset({"prediction", "label"}),
    frozenset({"regression"}),
)
_DIFFER = "scores that differ"
_RULED_OUT = "or some that a score of 0 or 1 rules out,"
_TOLD_APART = f"labels of both kinds that the score does not tell apart, {_RULED_OUT}"

# fmt: off
_SELECTED_TOP = tuple(
    ScoreMeasure(f"selected_top_{round(100 * share)}",
                 f"selection rate with at least {round(100 * share)} % of everyone selected",
                 _selected_top(share), _SCORE, "scores", "rate",
                 formula=f"P(S among the highest {round(100 * share)} %)", error=_torn(share), over=_everyone)
    for share in SHARES
)
LENDING_MEASURES: dict[str, ScoreMeasure] = {row.name: row for row in (
    ScoreMeasure("standardized_score", "standardised mean score", _standardized_score(pooled=False), _SCORE, _DIFFER,
                 formula="(E[S | A=a] − E[S]) / SD(S)", negative="always"),
    ScoreMeasure("standardized_score_pooled", "standardised mean score", _standardized_score(pooled=True), _SCORE,
                 _DIFFER, formula="(E[S | A=a] − E[S]) / pooled SD within groups", negative="always"),
    *_SELECTED_TOP,
    ScoreMeasure("gini", "Gini coefficient", gini, _BOTH, "positive or no negative labels with a score",
                 formula="2 AUC − 1", error=lambda data: 2 * scores.auc_error(data), negative="always"),
    ScoreMeasure("net_benefit", "net benefit", net_benefit, _BOTH, "labels with a score, or no cutoff between 0 and 1,",
                 formula="TP/n − FP/n · t/(1 − t) at the cutoff t", probability=True, negative="always",
                 at_cutoff=True),
    ScoreMeasure("calibration_slope", "calibration slope", _recalibrated(1, slope=True), _BOTH,
                 _TOLD_APART, formula="b of logit P(Y=1) = a + b logit S",
                 probability=True, negative="always"),
    ScoreMeasure("calibration_intercept", "calibration intercept", _recalibrated(0, slope=True), _BOTH,
                 _TOLD_APART, formula="a of logit P(Y=1) = a + b logit S",
                 probability=True, negative="always"),
    ScoreMeasure("calibration_in_the_large", "calibration in the large", _recalibrated(0, slope=False), _BOTH,
                 f"labels of both kinds, {_RULED_OUT}", formula="a of logit P(Y=1) = a + logit S", probability=True,
                 negative="always"),
    ScoreMeasure("standardized_prediction", "standardised mean prediction", _standardized_number("f", pooled=False),
                 _PREDICTED, "predictions that differ", formula="(E[f | A=a] − E[f]) / SD(f)", negative="always",
                 tasks=_REGRESSION),
    ScoreMeasure("standardized_prediction_pooled", "standardised mean prediction",
                 _standardized_number("f", pooled=True), _PREDICTED, "predictions that differ",
                 formula="(E[f | A=a] − E[f]) / pooled SD within groups", negative="always", tasks=_REGRESSION),
    ScoreMeasure("standardized_residual", "standardised mean residual", _standardized_number("e", pooled=False),
                 _OUTCOMES, "residuals that differ", formula="(E[Y − f | A=a] − E[Y − f]) / SD(Y − f)",
                 negative="always", tasks=_REGRESSION),
    ScoreMeasure("standardized_residual_pooled", "standardised mean residual", _standardized_number("e", pooled=True),
                 _OUTCOMES, "residuals that differ", formula="(E[Y − f | A=a] − E[Y − f]) / pooled SD within groups",
                 negative="always", tasks=_REGRESSION),
    ScoreMeasure("actual_to_expected", "actual-to-expected ratio", actual_to_expected, _OUTCOMES,
                 "labels of 0 or more with predictions above 0", "ratio", formula="Σ Y / Σ f", tasks=_REGRESSION),
    ScoreMeasure("ordered_gini", "Gini coefficient of labels ordered by prediction", ordered_gini, _OUTCOMES,
                 "labels of 0 or more", formula="E[Y (2F(f) − 1)] / E[Y]", negative="always", tasks=_REGRESSION),
)}
# fmt: on


@lru_cache(maxsize=64)  # the same measures, so that what is known of them is found again
def class_steps(reading: ScoreReading) -> tuple[ScoreMeasure, ...]:
    """A measure for each class of an ordered score but the lowest: how many are in it or in a higher one.

    None where a score has too many values to be one of classes.
    """
    values = reading.bins.values
    if values is None or not 2 <= len(values) <= MOST_CLASSES:
        return ()

    def rate(i: int) -> Callable[[BinnedScores], Spread]:
        return lambda data: _selected(data, (np.arange(len(values)) >= i).astype(float))

    return tuple(
        ScoreMeasure(
            "selected_from_class",
            f"share in class {_name(reading, value)} or better",
            rate(i),
            _SCORE,
            "scores",
            "rate",
            over=_everyone,
            of_class=_name(reading, value),
        )
        for i, value in enumerate(values)
        if i > 0
    )


def _name(reading: ScoreReading, value: float) -> str:
    """A class as it was given: a score that is read the other way round is turned back."""
    return figure(value if reading.mirror is None else reading.mirror - value)
