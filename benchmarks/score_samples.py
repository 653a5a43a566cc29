"""Samples of scores, losses and residuals whose truth is known, for `coverage_scores.py`: many samples at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from evenhand.inference import means as kinds
from evenhand.inference.means import AMOUNTS, SIGNED, Means, Roots
from evenhand.inference.spread import Normal, Spread
from evenhand.measures.regression import LEAST_EXPLAINED, third_of_sizes
from evenhand.measures.scores import UNMET
from evenhand.sources.scores import TINY

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Random = np.random.Generator
Shape = tuple[int, int]

WEIGHT_SIGMA = 1.5
_NOISE = 0.7  # the standard deviation of a residual beside predictions with 1, for R²


@dataclass(frozen=True)
class Law:
    """Numbers x with E[x], E|x| and E[x²]."""

    draw: Callable[[Random, Shape], Floats]
    mean: float
    size: float
    square: float


def _lognormal(sigma: float) -> Law:
    mean = math.exp(sigma**2 / 2)
    return Law(lambda r, shape: r.lognormal(0, sigma, shape), mean, mean, math.exp(2 * sigma**2))


def _ones(rate: float) -> Law:
    return Law(lambda r, shape: (r.random(shape) < rate) * 1.0, rate, rate, rate)


def _beta(a: float, b: float) -> Law:
    mean = a / (a + b)
    square = mean * (a + 1) / (a + b + 1)
    return Law(lambda r, shape: r.beta(a, b, shape), mean, mean, square)


def _zeros(share: float) -> Law:
    mean, square = share * math.exp(0.5), share * math.exp(2)
    return Law(lambda r, shape: (r.random(shape) < share) * r.lognormal(0, 1, shape), mean, mean, square)


T3 = Law(lambda r, shape: r.standard_t(3, shape), 0.0, 2 * math.sqrt(3) / math.pi, 3.0)
NORMAL = Law(lambda r, shape: r.standard_normal(shape), 0.0, math.sqrt(2 / math.pi), 1.0)
BETAS = {"beta(2, 2)": ((2.0, 2.0), (3.0, 2.0)), "beta(.2, 9.8)": ((0.2, 9.8), (0.4, 9.6))}
SCORES = {
    "beta(2, 2)": (_beta(2, 2), _beta(3, 2)),
    "beta(.2, 9.8)": (_beta(0.2, 9.8), _beta(0.4, 9.6)),
    "3 % ones": (_ones(0.03), _ones(0.06)),
}
NUMBERS = {"lognormal 1.5": _lognormal(1.5), "lognormal 1": _lognormal(1), "t3": T3, "normal": NORMAL,
           "97 % zeros": _zeros(0.03)}  # fmt: skip
WHAT = (
    *(("mean score", law) for law in SCORES),
    *((measure, law) for measure in ("balance", "Brier score", "log loss") for law in BETAS),
    *(("mean prediction", law) for law in ("lognormal 1.5", "t3", "97 % zeros")),
    *(("mean residual", law) for law in ("lognormal 1", "t3")),
    *(("mean |error|", law) for law in ("lognormal 1.5", "t3", "97 % zeros")),
    *(("RMSE", law) for law in ("lognormal 1", "t3", "normal")),
    *(("R²", law) for law in ("normal", "t3")),
)
GROWTH = {"mean prediction": AMOUNTS, "mean |error|": AMOUNTS, "RMSE": AMOUNTS, "mean residual": SIGNED, "R²": SIGNED}
KNOWN_CUBES = ("mean residual", "mean |error|")
OF_LABELS = ("balance", "Brier score", "log loss")
GAP = 1.5  # the first group has so many times the size, where sizes can grow


@dataclass(frozen=True)
class Drawn:
    """What is averaged for each person, [samples, people], and 0 for those who do not count, else 1.

    Of losses also the labels, and by how much a positive one would cost more than a negative one.
    """

    x: Floats
    counted: Floats
    labels: Bools | None = None
    apart: Floats | None = None


def draw(what: tuple[str, str], gap: bool, random: Random, shape: Shape) -> Drawn:
    """Samples of one group; the one with the gap has a law or a label of its own."""
    measure, law = what
    everyone = np.ones(shape)
    if measure == "mean score":
        return Drawn(SCORES[law][int(gap)].draw(random, shape), everyone)
    if measure in OF_LABELS:
        a, b = BETAS[law][int(gap and measure == "balance")]
        score = random.beta(a, b, shape)
        label = random.random(shape) < _chance(measure, score, gap)
        if measure == "balance":
            return Drawn(score, label * 1.0)
        of_negative, of_positive = _losses(measure, score)
        return Drawn(np.where(label, of_positive, of_negative), everyone, label, of_positive - of_negative)
    number, scale, shift = NUMBERS[law], *_change(what, gap)
    x = scale * number.draw(random, shape) + shift
    moved = {"mean prediction": x, "mean residual": x - number.mean, "mean |error|": np.abs(x), "RMSE": x**2}
    return Drawn(moved[measure], everyone)


def _change(what: tuple[str, str], gap: bool) -> tuple[float, float]:
    """By how much the numbers of the group with the gap are multiplied, and what is added; t3 has no size to grow."""
    if not gap:
        return 1.0, 0.0
    return (1.0, 1.0) if what[1] == "t3" and what[0] in ("mean prediction", "mean residual") else (GAP, 0.0)


def _losses(measure: str, score: Floats) -> tuple[Floats, Floats]:
    """What a score loses with a negative and with a positive label."""
    if measure == "Brier score":
        return score**2, (1 - score) ** 2
    return -np.log(np.clip(1 - score, TINY, 1.0)), -np.log(np.clip(score, TINY, 1.0))


def _chance(measure: str, score: Floats, gap: bool) -> Floats:
    """The chance of a positive label; where losses differ, the group with the gap has more positives."""
    return np.minimum(GAP * score, 1.0) if gap and measure != "balance" else score


@cache
def truth(what: tuple[str, str], gap: bool) -> float:
    """The true value of a group."""
    measure, law = what
    if measure == "mean score":
        return SCORES[law][int(gap)].mean
    if measure in OF_LABELS:
        return _truth_of_labels(measure, law, gap)
    number, scale, shift = NUMBERS[law], *_change(what, gap)
    noise = scale * _NOISE
    return {
        "mean prediction": scale * number.mean + shift,
        "mean residual": (scale - 1) * number.mean + shift,
        "mean |error|": scale * number.size,
        "RMSE": scale * math.sqrt(number.square),
        "R²": 1 - noise**2 / (1 + noise**2),
    }[measure]


def _truth_of_labels(measure: str, law: str, gap: bool) -> float:
    from scipy.stats import beta

    a, b = BETAS[law][int(gap and measure == "balance")]
    score = beta.ppf((np.arange(400_000) + 0.5) / 400_000, a, b)
    chance = _chance(measure, score, gap)
    if measure == "balance":
        return float((chance * score).mean() / chance.mean())
    of_negative, of_positive = _losses(measure, score)
    return float((chance * of_positive + (1 - chance) * of_negative).mean())


@dataclass(frozen=True)
class Sums:
    """Of each sample and group, [samples, groups]; for R² of influence values."""

    mass: Floats
    squares: Floats
    people: Floats
    value: Floats
    away: Floats
    """Σw²(x − mean)²."""
    cubes: Floats
    """E[(x − mean)³], where the library knows it."""
    least: Floats
    most: Floats

    def spread(self, what: tuple[str, str], i: int, low: float, high: float) -> Spread:
        """The spread of one sample, made by the library."""
        parts = (self.value, self.away, self.mass, self.squares, self.people, self.cubes)
        return _spread(what[0], *(part[i] for part in parts), low, high)

    def rest(self) -> Sums:
        """The same of everyone else, for each group of means."""
        mass, squares, people, value, away, cubes = (np.empty_like(self.mass) for _ in range(6))
        for i in range(self.mass.shape[1]):
            others = [j for j in range(self.mass.shape[1]) if j != i]
            m = self.mass[:, others]
            mass[:, i], squares[:, i] = m.sum(axis=1), self.squares[:, others].sum(axis=1)
            people[:, i] = self.people[:, others].sum(axis=1)
            each = np.nan_to_num(self.value[:, others])
            value[:, i] = (m * each).sum(axis=1) / mass[:, i]
            apart = each - value[:, i : i + 1]
            away[:, i] = (self.away[:, others] + self.squares[:, others] * apart**2).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                variance = np.nan_to_num(self.away[:, others] / self.squares[:, others])
                cubes[:, i] = (m * (self.cubes[:, others] + 3 * variance * apart + apart**3)).sum(axis=1) / mass[:, i]
        return Sums(mass, squares, people, value, away, cubes, self.least, self.most)

    def old(self, i: int, root: bool) -> Normal:
        """The spread of one sample as it was before variances were moderated."""
        value, away, mass, n = (part[i] for part in (self.value, self.away, self.mass, self.people))
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.sqrt(away / mass**2 * n / np.maximum(n - 1, 1))
            if root:
                value, errors = np.sqrt(value), np.where(value > 0, errors / (2 * np.sqrt(value)), 0.0)
        return Normal(value, errors, n)


def _spread(measure: str, value: Floats, away: Floats, mass: Floats, squares: Floats, n: Floats, cubes: Floats,
            low: float, high: float) -> Spread:  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        worth, own = np.where(squares > 0, mass**2 / squares, 0.0), away / squares * n / np.maximum(n - 1, 1)
    growth = GROWTH.get(measure, kinds.SCORES)
    known = cubes if measure in KNOWN_CUBES else None
    means = Means.of(value, own, n, worth, (low, high), growth=growth, squares=measure == "RMSE", cubes=known)
    if measure == "R²":
        return means.known_from(LEAST_EXPLAINED)
    return Roots(means) if measure == "RMSE" else means


def span(what: tuple[str, str], least: float, most: float) -> tuple[float, float]:
    """The range that the library would know: that of a score or a loss, else one wider than what was seen."""
    if what[0] in ("mean score", "balance", "Brier score"):
        return 0.0, 1.0
    if what[0] == "log loss":
        return 0.0, -math.log(TINY)
    if what[0] == "R²":
        return -math.inf, 1.0
    if what[0] == "mean prediction":
        return least, most
    wider = (most - least) / 2
    return (0.0 if what[0] in ("mean |error|", "RMSE") else least - wider), most + wider


def sums(
    what: tuple[str, str], gap: bool, sizes: tuple[int, ...], weighted: bool, samples: int, random: Random
) -> Sums:
    """The sums of so many samples of all groups; only the first has the gap."""
    columns = [_group_sums(what, gap and i == 0, size, weighted, samples, random) for i, size in enumerate(sizes)]
    return Sums(*(np.stack(part, axis=1) for part in zip(*columns, strict=True)))


def _group_sums(
    what: tuple[str, str], gap: bool, size: int, weighted: bool, samples: int, random: Random
) -> list[Floats]:
    parts: list[list[Floats]] = []
    block = max(1, min(samples, 4_000_000 // size))
    for start in range(0, samples, block):
        shape = min(block, samples - start), size
        w = random.lognormal(0, WEIGHT_SIGMA, shape) if weighted else np.ones(shape)
        if what[0] == "R²":
            parts.append(_r_squared(NUMBERS[what[1]], gap, w, random))
            continue
        drawn = draw(what, gap, random, shape)
        x, counted = drawn.x, drawn.counted
        w = w * counted
        mass, squares = w.sum(axis=1), (w**2).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(mass > 0, (w * x).sum(axis=1) / mass, np.nan)
        away = (w**2 * (x - np.nan_to_num(value)[:, None]) ** 2).sum(axis=1)
        away = np.where(away > 0, np.maximum(away, _unmet(drawn, w)), away)
        cubes = _cubes(what[0], x, w, value) if what[0] in KNOWN_CUBES else np.zeros_like(value)
        parts.append([mass, squares, counted.sum(axis=1), value, away, cubes, x.min(axis=1), x.max(axis=1)])
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def _unmet(drawn: Drawn, w: Floats) -> Floats:
    """Σw²(x − mean)² as it would be at least if `UNMET` people had the label that nobody has."""
    if drawn.labels is None or drawn.apart is None:
        return np.zeros(len(w))
    mass, squares, n = w.sum(axis=1), (w**2).sum(axis=1), w.shape[1]
    share = UNMET / (mass**2 / squares + 2 * UNMET)
    variance = share * (1 - share) * ((w * drawn.apart).sum(axis=1) / mass) ** 2
    alike = drawn.labels.all(axis=1) | ~drawn.labels.any(axis=1)
    return np.where(alike, variance * squares * max(n - 1, 1) / n, 0.0)


def _cubes(measure: str, x: Floats, w: Floats, value: Floats) -> Floats:
    """The third central moments of residuals, and those of sizes from the moments that the library sums."""
    second, third, fourth = ((w * x**power).sum(axis=1) / w.sum(axis=1) for power in (2, 3, 4))
    if measure == "mean |error|":
        third = third_of_sizes(value, second, fourth)
    return third - 3 * value * second + 2 * value**3


def _r_squared(law: Law, gap: bool, w: Floats, random: Random) -> list[Floats]:
    scale = (GAP if gap else 1.0) * _NOISE / math.sqrt(law.square)
    e = scale * law.draw(random, (w.shape[0], w.shape[1]))
    y = random.standard_normal(w.shape) + e
    mass = w.sum(axis=1, keepdims=True)
    centred = y - (w * y).sum(axis=1, keepdims=True) / mass
    variance = (w * centred**2).sum(axis=1, keepdims=True) / mass
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (w * e**2).sum(axis=1, keepdims=True) / mass / variance
        influence = (t * centred**2 - e**2) / variance
        away = np.nan_to_num((w**2 * influence**2).sum(axis=1))
    value = np.where(variance[:, 0] > 1e-12, 1 - t[:, 0], np.nan)
    n = np.full(len(w), float(w.shape[1]))
    unknown = np.zeros_like(value)
    return [mass[:, 0], (w**2).sum(axis=1), n, value, away, unknown, e.min(axis=1), e.max(axis=1)]
