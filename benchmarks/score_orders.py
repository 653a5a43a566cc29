"""Samples of what rests on the order of scores, for `coverage_scores.py`: AUC from .5 to 1, and distances between
distributions (KS, Wasserstein, ABROCA), with and without weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from evenhand.inference.spread import Logit
from evenhand.measures import curves, distances
from evenhand.measures.group_data import BinnedScores, worth
from evenhand.sources.bins import Bins
from evenhand.sources.scores import ScoreReading

Floats = npt.NDArray[np.float64]
Random = np.random.Generator
Triple = tuple[float, float, float]

CONFIDENCE = 0.95
BINS = 256
FINE = 20_000  # places at which a curve is integrated
WEIGHT_SIGMA = 1.5

AUCS = {
    **{f"{auc:g}": (auc, auc) for auc in (0.5, 0.7, 0.9, 0.97, 0.995, 1.0)},
    ".7 and .9": (0.7, 0.9), ".8 and .95": (0.8, 0.95), ".995 and .9": (0.995, 0.9), "1 and .9": (1.0, 0.9),
}  # fmt: skip
CLASSES: dict[str, tuple[tuple[int, int], ...]] = {
    "1:500, 500:500": ((1, 500), (500, 500)),
    "2:30, 500:500": ((2, 30), (500, 500)),
    "5:100, 300:300": ((5, 100), (300, 300)),
    "10:300, 200:1,000": ((10, 300), (200, 1000)),
    "30:30, 30:30": ((30, 30), (30, 30)),
    "100:400, 100:400": ((100, 400), (100, 400)),
    "8 × 20:80": ((20, 80),) * 8,
    "20 × 10:30": ((10, 30),) * 20,
    "30 × 20:80": ((20, 80),) * 30,
}


def auc_truths(law: str, layout: str) -> Floats:
    first, others = AUCS[law]
    return np.array([first, *[others] * (len(CLASSES[layout]) - 1)])


def auc_spreads(
    law: str, layout: str, weighted: bool, samples: int, random: Random, *, rest: bool = False
) -> Iterator[tuple[Logit, Logit | None]]:
    """The AUC of each group, as the library has it, and that of everyone else if it is asked for."""
    from scipy.special import ndtri

    groups = []
    for auc, (positives, negatives) in zip(auc_truths(law, layout), CLASSES[layout], strict=True):
        shift = math.sqrt(2) * float(ndtri(auc)) if auc < 1 else 30.0
        above = _binned(random.normal(shift, 1, (samples, positives)), weighted, random)
        below = _binned(random.standard_normal((samples, negatives)), weighted, random)
        groups.append((above, below))
    own = [np.stack(part, axis=1) for part in zip(*(_auc(*group) for group in groups), strict=True)]
    everyone = [sum(side) for side in zip(*groups, strict=True)]
    others = [_auc(everyone[0] - above, everyone[1] - below) for above, below in groups if rest]
    bases = [np.stack(part, axis=1) for part in zip(*others, strict=True)]
    for i in range(samples):
        yield _logit(own, i), _logit(bases, i) if rest else None


def _auc(above: Floats, below: Floats) -> tuple[Floats, Floats, Floats]:
    """Value, error and the people of the smaller class; people are as many as their weights are worth."""
    people = above.sum(axis=1), below.sum(axis=1)
    value = curves.auc(above, below)
    error = np.sqrt(np.fmax(curves.auc_variance(above, below), curves.auc_floor(value, *people)))
    return value, error, np.minimum(*people)


def _logit(columns: list[Floats], i: int) -> Logit:
    values, errors, fewer = (part[i] for part in columns)
    return Logit(values, errors, fewer, fewer)


def _binned(scores: Floats, weighted: bool, random: Random) -> Floats:
    edges = np.linspace(-5, 8, 2 * BINS)
    place = np.searchsorted(edges, scores) + (len(edges) + 1) * np.arange(len(scores))[:, None]

    def summed(weights: Floats | None) -> Floats:
        flat = None if weights is None else weights.reshape(-1)
        sums = np.bincount(place.reshape(-1), weights=flat, minlength=(len(edges) + 1) * len(scores))
        return sums.reshape(len(scores), -1).astype(float)

    if not weighted:
        return summed(None)
    w = random.lognormal(0, WEIGHT_SIGMA, scores.shape)
    return worth(summed(w), summed(w**2))


SHAPES: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "beta(2, 2)": ((2, 2), (2, 2)),
    "beta(.2, 9.8)": ((0.2, 9.8), (0.2, 9.8)),
    "beta(3, 2) and (2, 2)": ((3, 2), (2, 2)),
    "beta(.4, 9.6) and (.2, 9.8)": ((0.4, 9.6), (0.2, 9.8)),
}
DISTANCES: dict[str, tuple[Callable[[BinnedScores, distances.Levels, int], distances.Distances], int]] = {
    "KS": (distances.ks, 500),
    "Wasserstein": (distances.wasserstein, 200),
    "ABROCA": (distances.abroca, 60),
}
READING = ScoreReading(Bins(0.0, 1.0, cells=BINS), tuple(np.linspace(0, 1, 11)))
PLACES = (np.arange(BINS) + 0.5) / BINS


def sample_distances(
    measure: str, law: str, sizes: tuple[int, ...], weighted: bool, samples: int, random: Random
) -> list[Triple]:
    """Both ends of the largest distance and the true one; only the first group may differ from the others."""
    first, others = SHAPES[law]
    function, ends = DISTANCES[measure][0], []
    true = 0.0 if first == others else _distance(measure, first, others)
    for i in range(samples):
        n, w, w2 = (np.zeros((len(sizes), 3, BINS)) for _ in range(3))
        for j, size in enumerate(sizes):
            score = random.beta(*(first if j == 0 else others), size)
            label = (random.random(size) < score).astype(int)
            at = label, np.minimum((score * BINS).astype(int), BINS - 1)
            np.add.at(n[j], at, 1)
            if weighted:
                weight = random.lognormal(0, WEIGHT_SIGMA, size)
                np.add.at(w[j], at, weight)
                np.add.at(w2[j], at, weight**2)
        if weighted:
            sums = {"n": n, "w": w, "w2": w2, "ws": w * PLACES, "w2s": w2 * PLACES, "w2s2": w2 * PLACES**2}
        else:
            sums = {"n": n, "s": n * PLACES, "s2": n * PLACES**2}
        found = function(BinnedScores(READING, sums), (CONFIDENCE, CONFIDENCE), i).worst
        if np.isfinite(found).all():
            ends.append((found[1], found[2], true))
    return ends


def _distance(measure: str, first: tuple[float, float], others: tuple[float, float]) -> float:
    from scipy.special import betainc, betaincinv

    if measure == "ABROCA":  # a label is as likely as its score: scores of positives and negatives are beta laws too
        rate = (np.arange(FINE) + 0.5) / FINE
        curves = [betainc(a + 1, b, betaincinv(a, b + 1, 1 - rate)) for a, b in (first, others)]
        return float(np.abs(curves[0] - curves[1]).mean())
    edges = np.arange(1, BINS) / BINS
    apart = np.abs(betainc(*first, edges) - betainc(*others, edges))
    return float(apart.max() if measure == "KS" else apart.sum() / BINS)
