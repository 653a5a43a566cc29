"""Samples of scores, labels and claims whose truth is known, for the figures of lenders and insurers in
`coverage_scores.py`.

Scores stand on a grid, and people, labels and scores are drawn together from one table of chances: the truth is what
the library computes from the chances themselves. Claims are Poisson counts of a rate, a group's factor and an exposure.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import evenhand as eh
from evenhand.inference import simultaneous
from evenhand.inference.spread import Spread
from evenhand.measures import find_measure
from evenhand.measures.group_data import BinnedScores, GroupData
from evenhand.measures.lending import SHARES
from evenhand.sources.bins import Bins
from evenhand.sources.scores import ScoreReading

Floats = npt.NDArray[np.float64]
Triple = tuple[float, float, float]

GRID = 256
CUTOFF = 0.25
PLACES = (np.arange(GRID) + 0.5) / GRID
READING = ScoreReading(
    Bins(0.0, 1.0, values=tuple(PLACES.tolist())), tuple(np.linspace(0, 1, 11).tolist()), cutoff=CUTOFF
)
CONFIDENCE = 0.95
MANY = 1e9  # people of whom the truth is computed


@dataclass(frozen=True)
class Figure:
    """The measures of a figure, whether it is compared as a ratio, and whether 92 % are enough, as of an AUC."""

    measures: tuple[str, ...]
    kind: str = "difference"
    loose: bool = False
    claims: bool = False


LENDING: dict[str, Figure] = {
    "SMD": Figure(("standardized_score",)),
    "SMD, pooled": Figure(("standardized_score_pooled",)),
    "SMD of predictions": Figure(("standardized_prediction",), claims=True),
    "SMD of residuals": Figure(("standardized_residual",), claims=True),
    "ratio by quantile": Figure(tuple(f"selected_top_{round(100 * share)}" for share in SHARES), "ratio"),
    "net benefit": Figure(("net_benefit",)),
    "Gini": Figure(("gini",), loose=True),
    "average precision": Figure(("average_precision",), loose=True),
    "calibration slope": Figure(("calibration_slope",), loose=True),
    "calibration intercept": Figure(("calibration_intercept",), loose=True),
    "in the large": Figure(("calibration_in_the_large",), loose=True),
    "actual to expected": Figure(("actual_to_expected",), "ratio", claims=True),
    "ordered Gini": Figure(("ordered_gini",), loose=True, claims=True),
}
SIZES: dict[str, tuple[int, ...]] = {
    "2 × 100": (100, 100),
    "100, 3,000": (100, 3000),
    "2 × 1,000": (1000, 1000),
    "8 × 200": (200,) * 8,
    "300, 1,000, 10,000": (300, 1000, 10_000),
}
# The shape of the scores, and slope and shift of the log odds of a label: of the first group, and of the others.
Law = tuple[float, float, float, float]
LAWS: dict[str, tuple[Law, Law]] = {
    "even scores": ((2.0, 2.0, 1.0, 0.0), (2.0, 2.0, 1.0, 0.0)),
    "rare positives": ((1.0, 6.0, 1.0, 0.0), (1.0, 6.0, 1.0, 0.0)),
    "not calibrated": ((2.0, 3.0, 0.7, 0.4), (2.0, 3.0, 0.7, 0.4)),
    "a lower score": ((2.0, 3.0, 1.0, 0.0), (3.0, 2.0, 1.0, 0.0)),
    "a flatter line": ((2.0, 2.0, 0.6, -0.3), (2.0, 2.0, 1.1, 0.0)),
}
FACTORS = {"even claims": (1.0, 1.0), "more claims": (1.4, 1.0)}


def lending_settings() -> Iterator[tuple[str, str, str, bool]]:
    """Measure, law, layout, and whether there is a gap in it."""
    for measure, layout in itertools.product(LENDING, SIZES):
        for law in FACTORS if LENDING[measure].claims else LAWS:
            alike = law == "even claims" or (law in LAWS and len(set(LAWS[law])) == 1)
            yield measure, law, layout, not alike


def is_loose(measure: str) -> bool:
    """Are 92 % enough?"""
    return measure in LENDING and LENDING[measure].loose


def sample_lending(measure: str, law: str, layout: str, samples: int, random: np.random.Generator) -> list[Triple]:
    """The ends of the gap in each sample, and the true gap."""
    figure = LENDING[measure]
    draw = _claims(law, SIZES[layout], random) if figure.claims else _scores(law, SIZES[layout], random)
    truths, ends = draw.truths(figure.measures), []
    for _ in range(samples):
        spreads = draw.spreads(figure.measures)
        usable = np.stack([np.isfinite(each.values) for each in spreads])
        if (usable.sum(axis=1) < 2).any() or not usable[:, 0].all():
            continue
        found = simultaneous.between_extremes(spreads, usable, CONFIDENCE)
        there = np.where(usable, truths, np.nan)
        high, low = np.nanmax(there, axis=1), np.nanmin(there, axis=1)
        if figure.kind == "difference":
            ends.append((*found.difference, float((high - low).max())))
        else:
            ends.append((-found.ratio[1], -found.ratio[0], -float((low / high).min())))
    return ends


@dataclass(frozen=True)
class Draw:
    """What makes the spreads of a sample, and the true values [measures, groups]."""

    spreads: Callable[[tuple[str, ...]], list[Spread]]
    truths: Callable[[tuple[str, ...]], Floats]


def _scores(law: str, sizes: tuple[int, ...], random: np.random.Generator) -> Draw:
    first, others = LAWS[law]
    chances = np.stack([_chances(first if i == 0 else others) for i in range(len(sizes))])  # [groups, labels, bins]

    def functions(names: tuple[str, ...], n: Floats) -> list[Spread]:
        counts = np.zeros((len(sizes), 3, GRID))
        counts[:, :2] = n
        data = BinnedScores(READING, {"n": counts, "s": counts * PLACES, "s2": counts * PLACES**2})
        return [find_measure(name).function(data) for name in names]  # type: ignore[attr-defined]

    def spreads(names: tuple[str, ...]) -> list[Spread]:
        drawn = [
            random.multinomial(size, each.reshape(-1)).reshape(2, GRID)
            for size, each in zip(sizes, chances, strict=True)
        ]
        return functions(names, np.stack(drawn).astype(float))

    def truths(names: tuple[str, ...]) -> Floats:
        many = chances * (MANY * np.array(sizes) / sum(sizes))[:, None, None]
        return np.stack([each.values for each in functions(names, many)])

    return Draw(spreads, truths)


def _chances(law: Law) -> Floats:
    """How likely each label with each score is."""
    a, b, slope, shift = law
    density = PLACES ** (a - 1) * (1 - PLACES) ** (b - 1)
    density /= density.sum()
    positive = 1 / (1 + np.exp(-(shift + slope * np.log(PLACES / (1 - PLACES)))))
    return np.stack([density * (1 - positive), density * positive])


def _claims(law: str, sizes: tuple[int, ...], random: np.random.Generator) -> Draw:
    first, others = FACTORS[law]
    rates = np.linspace(0.02, 0.6, 40)
    factors = np.array([first if i == 0 else others for i in range(len(sizes))])
    group = np.repeat([f"g{i}" for i in range(len(sizes))], sizes)

    def spreads(names: tuple[str, ...]) -> list[Spread]:
        rate, exposure = random.choice(rates, sum(sizes)), random.uniform(0.2, 1.8, sum(sizes))
        claims = random.poisson(rate * exposure * np.repeat(factors, sizes))
        cube = eh.Cube.count(label=claims, prediction=rate, exposure=exposure, sensitive=group)
        data = GroupData.of(cube)
        return [find_measure(name).spread(data) for name in names]  # type: ignore[misc]

    def truths(names: tuple[str, ...]) -> Floats:
        rank = (2 * np.arange(len(rates)) + 1) / len(rates) - 1
        gini = float((rates * rank).sum() / rates.sum())
        known = {
            "actual_to_expected": factors,
            "ordered_gini": np.full(len(sizes), gini),
            "standardized_prediction": np.zeros(len(sizes)),
            "standardized_residual": _residuals(factors, np.array(sizes) / sum(sizes), rates),
        }
        return np.stack([known[name] for name in names])

    return Draw(spreads, truths)


def _residuals(factors: Floats, shares: Floats, rates: Floats) -> Floats:
    """Mean residuals of claims for each unit, as distances from everyone's in everyone's standard deviation.

    Each unit of exposure counts once, and exposures have a mean of 1, so that claims vary by their mean.
    """
    means = (factors - 1) * rates.mean()
    squares = factors * rates.mean() + (factors - 1) ** 2 * (rates**2).mean()
    centre = shares @ means
    return np.asarray((means - centre) / np.sqrt(shares @ squares - centre**2))
