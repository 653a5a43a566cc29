"""Distances between the score distributions and ROC curves of groups, for every pair, with honest intervals.

A distance between samples is never 0, even where the truth is. How far the largest distance between two cumulative
distributions may be off is known for any sizes (Dvoretzky, Kiefer and Wolfowitz; Wei and Dudley 2012). The others are
distances in the strict sense, so the triangle inequality bounds the error: the estimate is off by no more than how far
each group's sample lies from its own truth, and that is what resampling measures. A group is resampled from its own
people and, as if there were ten more of them, from the people of all other groups: one person alone would never vary.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.inference import critical, simultaneous
from evenhand.inference.spread import Logit
from evenhand.measures import curves, pair_search
from evenhand.measures.group_data import NEGATIVE, POSITIVE, BinnedScores

EVERY_PAIR = 50
"""Of more groups, each has a row only with the one that is farthest from it."""

_DRAWS = 200
_ALL_DRAWS = 20_000  # over all groups
_MOST_EXACT = 20  # groups whose ROC curves are compared corner by corner
_HEIGHTS = 2048
_DRAWN_HEIGHTS = 512  # how far samples stray need not be known to the last corner
_BLOCKS = 128  # of equal width, and as many of equally many people: the scores are drawn in these
_MOST_PAIRED = 2000  # values that are compared pair by pair
_MODERATION = 10.0
_EQUAL_LEAST, _EQUAL_CONSTANT = 4, 2.17  # of Wei and Dudley, for two samples of one size; e holds for any two


Levels = tuple[float, float]
"""The confidence of lower ends, on which a fail rests and which several findings may share, and that of upper ends."""

End = TypeVar("End")


class _Shape(Protocol):
    """What a distance looks at: the shape of a group's cells [..., labels, bins], and how far apart two shapes are."""

    labels: bool
    span: float
    """The largest distance that is possible."""

    def of(self, cells: Floats) -> Any: ...

    def in_blocks(self, first: Indices) -> _Shape:
        """The same distance of cells whose bins were joined; `first` are the bins that start a block."""
        ...

    def apart(self, one: Any, others: Any) -> Floats:
        """One shape from each of several."""
        ...


class _Shares:
    """Cumulative shares by bin: the largest distance, or the area between, with the widths of the bins."""

    labels = False

    def __init__(self, widths: Floats | None = None, span: float = 1.0) -> None:
        self.widths, self.span = widths, span

    def of(self, cells: Floats) -> Floats:
        return np.asarray(np.cumsum(cells[..., 0, :], axis=-1) / cells[..., 0, :].sum(axis=-1, keepdims=True))

    def in_blocks(self, first: Indices) -> _Shares:
        widths = None if self.widths is None else np.add.reduceat(np.append(self.widths, 0.0), first)[:-1]
        return _Shares(widths, self.span)

    def apart(self, one: Floats, others: Floats) -> Floats:
        gaps = np.abs(others - one)
        # Not as a product of matrices, whose threads cost more than they save, and whose last digits depend on how
        # many are multiplied.
        return np.asarray(gaps.max(axis=-1) if self.widths is None else (gaps[..., :-1] * self.widths).sum(axis=-1))


class _Rocs:
    """ROC curves, corner by corner: exact, and slow for many groups."""

    labels = True
    span = 1.0

    def of(self, cells: Floats) -> list[tuple[Floats, Floats]]:
        fpr, tpr = curves.roc(cells[..., 1, :], cells[..., 0, :])
        return list(zip(fpr.reshape(-1, fpr.shape[-1]), tpr.reshape(-1, tpr.shape[-1]), strict=True))

    def in_blocks(self, first: Indices) -> _Shape:  # noqa: ARG002 - curves have no bins
        return _Heights(_DRAWN_HEIGHTS)

    def apart(self, one: Any, others: Any) -> Floats:
        first = one[0] if isinstance(one, list) else one
        return np.array([curves.area_between(first, other) for other in others])


class _Heights(_Rocs):
    """ROC curves by their heights on a fine grid. Both rise, so the area is off by at most 2 / grid."""

    def __init__(self, cells: int = _HEIGHTS) -> None:
        self.cells = cells

    def of(self, cells: Floats) -> Any:
        grid = np.linspace(0, 1, self.cells + 1)
        heights = [np.interp(grid, fpr[::-1], tpr[::-1]) for fpr, tpr in super().of(cells)]
        return np.array(heights).reshape(*cells.shape[:-2], -1)

    def apart(self, one: Any, others: Any) -> Floats:
        gaps = np.asarray(others) - np.asarray(one)
        np.abs(gaps, out=gaps)
        return np.asarray((gaps.sum(axis=-1) - (gaps[..., 0] + gaps[..., -1]) / 2) / self.cells)  # by trapezoids


class Distances(NamedTuple):
    """The distance of every pair of groups, [groups, groups], with both ends; NaN where there is none.

    Of more than `EVERY_PAIR` groups, NaN as well where a pair is not the farthest of one of its groups and does not
    decide.
    """

    values: Floats
    low: Floats
    high: Floats
    worst: tuple[float, float, float]
    title: str
    error: float = 0.0
    """How far a value may be off because scores within a bin count as equal."""
    exact: bool = True
    """Whether the error would be 0 if each score had its own bin."""
    ordered: bool = False
    """Whether (a, b) and (b, a) are different values, and the largest gap between any two values is judged."""


def ks(data: BinnedScores, levels: Levels, random_state: int) -> Distances:  # noqa: ARG001 - it needs no draws
    """The largest distance between two cumulative distributions."""
    cells = _cells(data, labels=False)
    people = cells.sum(axis=(1, 2))
    usable = int((people > 0).sum())
    near, far = _ks_reach(people[:, None], people, usable * (usable - 1) // 2, levels)
    distances = _compare(cells, _Shares(), near, far, "Kolmogorov-Smirnov distance")
    share = cells.max(axis=(1, 2)) / np.maximum(people, 1)
    return distances._replace(error=float(share.max()))


def _ks_reach(people: Floats, others: Floats, comparisons: int, levels: Levels) -> tuple[Floats, Floats]:
    """How far the distance between two samples may lie above and below the true one.

    Above, for all comparisons at once. Below, the distance is at least that at the one score where the truth is
    largest, so that Hoeffding's bound for two shares is enough.
    """
    above, below = 1 - levels[0], 1 - levels[1]
    equal = (people == others) & (people >= _EQUAL_LEAST)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (1 / people + 1 / others) / 2
    constant = np.where(equal, _EQUAL_CONSTANT, math.e)
    near = np.sqrt(np.log(constant * max(comparisons, 1) / above) * scale)
    return near, np.sqrt(np.log(2 / below) * scale)


def wasserstein(data: BinnedScores, levels: Levels, random_state: int) -> Distances:
    """How far scores must move, on average, to turn one distribution into the other."""
    bins = data.reading.bins
    span = bins.high - bins.low
    distances = _between(data, levels, random_state, "Wasserstein distance", _Shares(np.diff(data.places), span))
    return distances._replace(error=span / bins.cells)


def abroca(data: BinnedScores, levels: Levels, random_state: int) -> Distances:
    """The area between two ROC curves."""
    many = len(data.n) > _MOST_EXACT
    distances = _between(data, levels, random_state, "area between ROC curves", _Heights() if many else _Rocs())
    off = curves.auc_error(data.of_label(POSITIVE), data.of_label(NEGATIVE))
    error = 2 * float(np.nan_to_num(off).max()) + (2 / _HEIGHTS if many else 0.0)
    return distances._replace(error=error, exact=not many)


def largest_shift(data: BinnedScores, levels: Levels, random_state: int) -> Distances:  # noqa: ARG001 - as for ks
    """How far each group's distribution lies from everyone's, [groups, 1].

    Everyone includes the group, with a share π by weight: the shift is (1 − π) times the distance from the rest.
    """
    people, rest, mass = data.people(), data.of("rest").people(), data.mass.sum(axis=(1, 2))
    size, others = people.sum(axis=1), rest.sum(axis=1)
    usable = (size > 0) & (others > 0)
    near, far = _ks_reach(size, others, int(usable.sum()), levels)
    shifts = np.full((3, len(people), 1), np.nan)
    share = mass / mass.sum()
    for i in np.flatnonzero(usable):
        apart = curves.ks(people[i], rest[i])
        shifts[:, i, 0] = (1 - share[i]) * np.array([apart, max(0.0, apart - near[i]), min(1.0, apart + far[i])])
    none = np.isnan(shifts).all()
    value, low, high = (np.nan if none else float(np.nanmax(part)) for part in shifts)
    error = float((people.max(axis=1) / np.maximum(people.sum(axis=1), 1)).max())
    return Distances(shifts[0], shifts[1], shifts[2], (value, low, high), "shift from everyone", error)


def cross_auc(data: BinnedScores, levels: Levels, random_state: int) -> Distances:  # noqa: ARG001 - it needs no draws
    """P(a positive of the first group scores higher than a negative of the second), for every two groups.

    The worst is the largest gap between any two of these.
    """
    positives, negatives = data.of_label(POSITIVE), data.of_label(NEGATIVE)
    values = curves.cross_auc(positives, negatives)
    p, n = positives.sum(axis=1)[:, None], negatives.sum(axis=1)[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        off = positives @ negatives.T / 2 / (p * n)
    variance = np.fmax(curves.cross_auc_variance(positives, negatives, values), curves.auc_floor(values, p, n))
    fewer = np.minimum(p, n).reshape(-1)
    spread = Logit(values.reshape(-1), np.sqrt(variance).reshape(-1), fewer, fewer)
    shown = _shown(values)
    low, high = (np.full(values.shape, np.nan) for _ in range(2))
    low.flat[shown], high.flat[shown] = _at(levels, lambda level: simultaneous.own(spread, level, shown.tolist()))
    gap, ends = np.nan, (np.nan, np.nan)
    if np.isfinite(values).sum() > 1:
        gap = float(np.nanmax(values) - np.nanmin(values))
        ends = _at(levels, lambda level: _range_of(spread, level))
    error = 2 * float(np.nan_to_num(off).max())
    return Distances(values, low, high, (gap, *ends), "cross-group AUC", error, ordered=True)


def _at(levels: Levels, ends: Callable[[float], tuple[End, End]]) -> tuple[End, End]:
    """The lower and the upper end, each at its own confidence."""
    near = ends(levels[0])
    far = near if levels[1] == levels[0] else ends(levels[1])
    return near[0], far[1]


def _shown(values: Floats) -> Indices:
    """The places of the values that have a row, in a flat array: of many groups, the extremes of each."""
    if len(values) <= EVERY_PAIR:
        return np.arange(values.size)
    first, second = extremes(values)
    return np.asarray(first * len(values) + second)


def extremes(values: Floats) -> tuple[Indices, Indices]:
    """Of each row of a matrix the places of its highest value and of its lowest, the first of equals: rows, columns."""
    highest = np.argmax(np.where(np.isnan(values), -np.inf, values), axis=1)
    lowest = np.argmin(np.where(np.isnan(values), np.inf, values), axis=1)
    return np.repeat(np.arange(len(values)), 2), np.stack([highest, lowest], axis=1).reshape(-1)


def _range_of(spread: Logit, confidence: float) -> tuple[float, float]:
    """Ends of the largest gap between any two values; of very many, wider ones that need no pairs."""
    there = np.isfinite(spread.values)
    many = int(there.sum())
    if many <= _MOST_PAIRED:
        return simultaneous.between_extremes([spread], there[None, :], confidence).difference
    low, high = (end[there] for end in spread.limits(critical.tukey(many, confidence), 0.0))
    return max(0.0, float(low.max() - high.min())), float(high.max() - low.min())


def _between(data: BinnedScores, levels: Levels, random_state: int, title: str, shape: _Shape) -> Distances:
    cells = _cells(data, shape.labels)
    first = _block_starts(cells)
    errors = _own_errors(np.add.reduceat(cells, first, axis=-1), levels, random_state, shape.in_blocks(first))
    near, far = (each[:, None] + each for each in errors)
    return _compare(cells, shape, near, far, title)


def _compare(cells: Floats, shape: _Shape, near: Floats, far: Floats, title: str) -> Distances:
    """The distances with their ends: `near` below the estimate and `far` above it, [groups, groups]."""
    places = np.flatnonzero((cells.sum(axis=-1) > 0).all(axis=-1))
    values = np.full((len(cells), len(cells)), np.nan)
    if len(places) > 1:
        both = np.ix_(places, places)
        # Shares of weights may add up to a hair above 1.
        values[both] = np.minimum(_apart(shape, shape.of(cells[places]), near[both], far[both]), shape.span)
    low, high = np.maximum(values - near, 0.0), np.minimum(values + far, shape.span)
    worst = tuple(float(np.fmax.reduce(part, axis=None)) for part in (values, low, high))
    return Distances(values, low, high, (worst[0], worst[1], worst[2]), title)


def _apart(shape: _Shape, shapes: Any, near: Floats, far: Floats) -> Floats:
    """The distances of shapes, [shapes, shapes]; of many shapes, which are arrays then, only those that decide."""
    if len(shapes) <= EVERY_PAIR:
        return pair_search.every_pair(
            lambda i, others: shape.apart(shapes[i], [shapes[j] for j in others]), len(shapes)
        )
    centre = shape.apart(shapes.mean(axis=0), shapes)
    return pair_search.deciding_pairs(lambda i, others: shape.apart(shapes[i], shapes[others]), centre, near, far,
                                      shape.span)  # fmt: skip


def _cells(data: BinnedScores, labels: bool) -> Floats:
    """People by bin: [groups, 1, bins], or [groups, (negative, positive), bins]."""
    if labels:
        return np.stack([data.of_label(NEGATIVE), data.of_label(POSITIVE)], axis=1)
    return data.people()[:, None, :]


def _block_starts(cells: Floats) -> Indices:
    """The bins that start a block: of equal width, and of equally many people, so that neither hides what varies."""
    people = cells.sum(axis=(0, 1))
    bins = len(people)
    by_people = (np.cumsum(people) - people) * _BLOCKS // max(people.sum(), 1.0)
    by_width = np.arange(bins) * _BLOCKS // bins
    starts = (np.diff(by_people, prepend=-1) > 0) | (np.diff(by_width, prepend=-1) > 0)
    return np.flatnonzero(starts)


def _own_errors(cells: Floats, levels: Levels, random_state: int, shape: _Shape) -> Floats:
    """How far a sample of each group is expected to lie from its truth, at the confidence that all pairs need.

    Of each confidence in `levels`, [levels, groups].
    """
    usable = np.flatnonzero((cells.sum(axis=-1) > 0).all(axis=-1))
    many = max(len(usable), 1)
    tails = (1 - np.array(levels)) / (2 * many)
    draws = min(max(_ALL_DRAWS // many, 50), _DRAWS)
    everyone = cells[usable].sum(axis=0)
    errors = np.full((len(levels), len(cells)), np.nan)
    for i in usable:
        # The draws follow from the shares of the group, so that neither the order of groups nor the unit of weights
        # makes a difference; in single precision, because another unit changes the last digits.
        shares = (cells[i] / cells[i].sum()).astype(np.float32)
        random = np.random.default_rng([random_state, zlib.crc32(shares.tobytes())])
        people = np.maximum(np.rint(cells[i].sum(axis=-1)), 1).astype(np.int64)
        law = _moderated(cells[i], everyone - cells[i])
        drawn = random.multinomial(people, law, size=(draws, len(people))).astype(np.float64)
        apart = shape.apart(shape.of(law[None]), shape.of(drawn))
        # Of a few people the distance is far from normal.
        errors[:, i] = _reach(apart, people.min() + 2, tails, many)
        if apart.max() <= 1e-12 * shape.span:  # nobody differs: what bounds the distance of any sample from its truth
            bounds = np.sqrt(-np.log(tails[:, None]) / (2 * people)).sum(axis=1)
            errors[:, i] = shape.span * bounds if shape.span > 0 else np.nan
    return errors


def _reach(apart: Floats, freedom: float, tails: Floats, many: int) -> Floats:
    """What drawn distances of a group from its own law rarely exceed.

    They are skewed, as a gamma law is. Of two groups the errors hardly ever add up, which makes up for that; of many,
    those of some pair nearly do. Half of the way is enough (benchmarks/coverage_scores.py).
    """
    from scipy.special import gammainccinv, stdtrit

    mean, deviation = float(apart.mean()), float(apart.std(ddof=1))
    usual = mean - stdtrit(freedom, tails) * deviation
    if deviation == 0:
        return np.asarray(usual)
    form = (mean / deviation) ** 2
    skewed = np.maximum(mean / form * gammainccinv(form, tails), usual)
    return np.asarray(usual + (0.5 - 1 / max(many, 2)) * (skewed - usual))


def _moderated(own: Floats, others: Floats) -> Floats:
    """The shares of a group's people and of ten more, who are like those of the other groups; [labels, bins]."""
    mine, theirs = (np.maximum(part, 0.0) for part in (own, others))
    total = theirs.sum(axis=-1, keepdims=True)
    mixed = mine + np.where(total > 0, _MODERATION * theirs / np.maximum(total, 1e-300), 0.0)
    return np.asarray(mixed / mixed.sum(axis=-1, keepdims=True))
