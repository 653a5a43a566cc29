"""REGRESSION_MEASURES: what is computed for one group of a regressor, from sums of powers; exact whatever the bins.

Predictions f and outcomes y are summed from the middle of the range, the residual e = y − f as it is. How much people
vary follows from the same sums: of a mean the variance, of R² = 1 − E[e²]/Var(y) its influence
(t·(y − ȳ)² − e²)/Var(y) with t = E[e²]/Var(y).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.core.results import figure
from evenhand.inference.means import AMOUNTS, SIGNED, Means, Roots
from evenhand.inference.spread import Spread
from evenhand.measures.group_data import RegressionSums
from evenhand.measures.scores import ScoreMeasure
from evenhand.sources.scores import ScoreReading

LEAST_EXPLAINED = 5
"""People without whom R² has no limits."""


def _mean(
    moment: str, square: str, *, labelled: bool = True, moved: bool = False
) -> Callable[[RegressionSums], Spread]:
    """The mean of a product; `moved` adds the middle again from which it was measured."""

    def spread(data: RegressionSums) -> Spread:
        return mean_in(data, moment, square, data.labelled if labelled else data.everyone, moved)

    return spread


def mean_in(data: RegressionSums, moment: str, square: str, bands: list[int], moved: bool) -> Means:
    """The mean of a product over some bands; `moved` adds the middle again from which it was measured."""
    value = data.mean(moment, bands)
    own = data.variance({square: 1.0, moment: -2 * value, "": value**2}, bands)
    low, high = data.ranges[moment]
    value = np.clip(value + data.reading.middle * moved, low, high)  # which only rounding can leave
    growth = SIGNED if moment == "e" else AMOUNTS
    people, worth = data.people(bands), data.worth(bands)
    squares, cubes = moment == "ee", _cubes(data, moment, bands)
    return Means.of(value, own, people, worth, (low, high), growth=growth, squares=squares, cubes=cubes)


def _cubes(data: RegressionSums, moment: str, bands: list[int]) -> Floats | None:
    """The third central moments of residuals or of their sizes; None where they are not known, or of other values."""
    if moment != "a" and not (moment == "e" and data.has("eee")):
        return None
    mean, square = data.mean(moment, bands), data.mean("ee", bands)
    third = data.mean("eee", bands) if moment == "e" else third_of_sizes(mean, square, data.mean("eeee", bands))
    return np.asarray(third - 3 * mean * square + 2 * mean**3)


def third_of_sizes(first: Floats, second: Floats, fourth: Floats) -> Floats:
    """E|e|³ from E|e|, E[e²] and E[e⁴]: logarithms of moments are convex, and nearly a cubic of their order.

    >>> third_of_sizes(np.array([0.798]), np.array([1.0]), np.array([3.0])).round(2).tolist()  # normal: 1.596
    [1.65]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        between = second**1.5 * fourth**0.25 / first
        return np.asarray(np.clip(between, second**2 / first, np.sqrt(second * fourth)))


def root_mean_squared_error(data: RegressionSums) -> Spread:
    """√E[e²], with the limits of E[e²] under the root."""
    return Roots(mean_in(data, "ee", "eeee", data.labelled, False))


def percentage_error(data: RegressionSums) -> Spread:
    """E[|e| / |y|]; undefined where an outcome is 0, and of tables that do not hold its sums."""
    bands = data.labelled
    value = data.mean("p", bands) if data.has("p") else np.full(len(data.n), np.nan)
    with np.errstate(invalid="ignore"):
        value = np.where(value < _FROM_ZERO, value, np.nan)
    own = data.variance({"pp": 1.0, "p": -2 * value, "": value**2}, bands) if data.has("p") else value
    return Means.of(value, own, data.people(bands), data.worth(bands), (0.0, np.inf), growth=AMOUNTS)


_FROM_ZERO = 1e10  # a mean that only an outcome of 0, taken as TINY, can bring about


def weighted_percentage_error(data: RegressionSums) -> Spread:
    """E|e| / E[y] of outcomes of 0 or more, with the variance of its influence (|e| − r·y)/E[y]."""
    bands, middle = data.labelled, data.reading.middle
    outcome = data.mean("y", bands) + middle
    if data.ranges["y"][0] < 0 or not data.has("ay"):
        outcome = np.full(len(data.n), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(outcome > 0, data.mean("a", bands) / outcome, np.nan)
        terms: dict[str, Floats | float] = {
            "ee": 1.0,
            "ay": -2 * r,
            "a": -2 * r * middle,
            "yy": r**2,
            "y": 2 * r**2 * middle,
            "": (r * middle) ** 2,
        }
        own = data.variance(terms, bands) / outcome**2 if data.has("ay") else r
    return Means.of(r, own, data.people(bands), data.worth(bands), (0.0, np.inf), growth=AMOUNTS)


def r_squared(data: RegressionSums) -> Spread:
    """1 − E[e²]/Var(y), with the variance of the group's own outcomes; undefined where these are all the same."""
    bands = data.labelled
    y, yy, ee = (data.mean(moment, bands) for moment in ("y", "yy", "ee"))
    variance = yy - y**2
    with np.errstate(divide="ignore", invalid="ignore"):
        some = variance > 1e-12 * np.maximum(np.abs(yy), 1e-300)
        t = np.where(some, ee / variance, np.nan)
        fourth = {"yyyy": t**2, "yyy": -4 * t**2 * y, "yy": 6 * t**2 * y**2, "y": -4 * t**2 * y**3, "": t**2 * y**4}
        mixed = {"eeyy": -2 * t, "eey": 4 * t * y, "ee": -2 * t * y**2}
        own = data.variance({**fourth, **mixed, "eeee": 1.0}, bands) / variance**2
    means = Means.of(1 - t, own, data.people(bands), data.worth(bands), (-np.inf, 1.0))
    # Of so few, the variance of the outcomes may be almost 0 by chance: nothing bounds R², and it decides nothing.
    return means.known_from(LEAST_EXPLAINED)


def _in_bands(bands: Callable[[RegressionSums], list[int]]) -> Callable[[RegressionSums, Array], Floats]:
    """Sums over everyone in some bands of the outcome."""
    return lambda data, part: np.asarray(part[:, bands(data)].sum(axis=(1, 2)), dtype=np.float64)


_EVERYONE, _LABELLED = _in_bands(lambda data: data.everyone), _in_bands(lambda data: data.labelled)
_REGRESSION = frozenset({"regression"})
_PREDICTED, _BOTH = frozenset({"prediction"}), frozenset({"prediction", "label"})
_KNOWN = "labels"

# fmt: off
REGRESSION_MEASURES: dict[str, ScoreMeasure] = {row.name: row for row in (
    ScoreMeasure("mean_prediction", "mean prediction", _mean("f", "ff", labelled=False, moved=True), _PREDICTED,
                 "predictions", formula="E[f]", in_score_units=True, over=_EVERYONE, negative="as the score",
                 tasks=_REGRESSION),
    ScoreMeasure("mean_outcome", "mean label", _mean("y", "yy", moved=True), _BOTH, _KNOWN, formula="E[Y]",
                 in_score_units=True, over=_LABELLED, negative="always", tasks=_REGRESSION),
    ScoreMeasure("mean_residual", "mean residual", _mean("e", "ee"), _BOTH, _KNOWN, formula="E[Y − f]",
                 in_score_units=True, over=_LABELLED, negative="always", tasks=_REGRESSION),
    ScoreMeasure("mean_absolute_error", "mean absolute error", _mean("a", "ee"), _BOTH, _KNOWN, formula="E|Y − f|",
                 in_score_units=True, over=_LABELLED, tasks=_REGRESSION),
    ScoreMeasure("mean_absolute_percentage_error", "mean absolute percentage error", percentage_error, _BOTH,
                 "labels, or a label of 0,", "rate", formula="E[|Y − f| / |Y|]", tasks=_REGRESSION),
    ScoreMeasure("weighted_absolute_percentage_error", "weighted absolute percentage error",
                 weighted_percentage_error, _BOTH, "labels, or only labels of 0 or below 0,", "rate",
                 formula="E|Y − f| / E[Y]", tasks=_REGRESSION),
    ScoreMeasure("root_mean_squared_error", "root mean squared error", root_mean_squared_error, _BOTH, _KNOWN,
                 formula="√E[(Y − f)²]", in_score_units=True, tasks=_REGRESSION),
    ScoreMeasure("r_squared", "R²", r_squared, _BOTH, "labels that differ", formula="1 − E[(Y − f)²] / Var(Y)",
                 negative="always", tasks=_REGRESSION),
)}
# fmt: on


LOSSES = {
    "absolute": REGRESSION_MEASURES["mean_absolute_error"],
    "squared": ScoreMeasure(
        "mean_squared_error",
        "mean squared error",
        _mean("ee", "eeee"),
        _BOTH,
        _KNOWN,
        over=_LABELLED,
        tasks=_REGRESSION,
    ),
}
"""The losses that a group's mean may be bounded in."""


@lru_cache(maxsize=64)  # the same measures, so that what is known of them is found again
def outcome_bands(reading: ScoreReading) -> tuple[ScoreMeasure, ...]:
    """A measure for each band of the outcome: the mean prediction within it."""

    def mean(band: int) -> Callable[[RegressionSums], Spread]:
        return lambda data: mean_in(data, "f", "ff", [band], True)

    return tuple(
        ScoreMeasure(
            "mean_prediction",
            f"mean prediction at labels from {figure(low)} to {figure(high)}",
            mean(band),
            _BOTH,
            f"labels from {figure(low)} to {figure(high)}",
            over=_in_bands(lambda _, band=band: [band]),  # type: ignore[misc]
            negative="as the score",
            tasks=_REGRESSION,
            bin=(low, high),
            in_score_units=True,
        )
        for band, (low, high) in enumerate(itertools.pairwise(reading.outcome or ()))
    )
