"""How much of a gap between two groups is where people are, and how much is what happens there.

With shares a_s, b_s of two groups in strata s and rates r_s, q_s there, Kitagawa (1955) splits their gap into

    composition  Σ (a_s − b_s) · (r_s + q_s)/2      people are in different strata
    rates        Σ (a_s + b_s)/2 · (r_s − q_s)      people in the same stratum fare differently

A stratum with one group has no second rate. As Ñopo (2008) does, shares are taken among the strata that have both
groups, and what the others add to the gap is a part of its own, so that the three parts sum to the gap.

Strata of several columns are their combinations. The composition effect of a set of columns, v(S), is that of the joint
strata of S; Shapley's value (1953) of a column is what it adds to v, over all orders in which columns may come, and the
values of all columns sum to the composition effect of all of them.

Intervals rest on how much one person moves a part: through the stratum in which the person is, and through the rate
there. The rates of a group enter as two proportions, of those whose rise moves the part up and of those whose rise
moves it down, with limits of the beta distribution: so an interval does not vanish where nobody, or everybody, is
positive. A small stratum varies as if one more person were in it, who fares as its group does. Draws of the cells
would not do: a stratum in which nobody is positive never varies in them, and one with a single person is often empty.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Bools, Floats, Ints
from evenhand.inference.spread import PLAIN, Proportions

MOST_COLUMNS = 10  # each one more doubles the sets of columns
GAP, COMPOSITION, RATES, APART = range(4)
"""The parts that there are whatever the columns: the gap, and the three that sum to it. Those of columns follow."""

_OFFSET = 0.25  # between Clopper and Pearson's limits and Jeffreys'
_TWO = 1.5  # people: with fewer a stratum has one
_MODERATION = 10.0  # people of the other strata by whom the variance of a mean in a stratum is moderated


@dataclass(frozen=True)
class Strata:
    """Two groups in joint strata: arrays [2, strata], and the value of each column in each stratum, [columns, strata].

    `top` and `bottom` are the sums whose quotient is measured, and `squares` that of squared weights in `bottom`
    (people, where nobody has a weight). `variances` are those between people in a stratum; None where `top` counts
    some of the people in `bottom`.
    """

    top: Floats
    bottom: Floats
    squares: Floats
    codes: Ints
    variances: Floats | None = None

    @cached_property
    def shares(self) -> Floats:
        """The share of each group in each stratum."""
        return np.asarray(self.bottom / self.bottom.sum(axis=1, keepdims=True))

    @cached_property
    def rates(self) -> Floats:
        """The rate in each stratum; 0 where nobody is."""
        return _divide(self.top, self.bottom)

    @cached_property
    def people(self) -> Floats:
        """How many people the weights in each stratum are worth (Kish)."""
        return _divide(self.bottom**2, self.squares)

    @property
    def overall(self) -> Floats:
        """The rate of each group, [2]."""
        return np.asarray(self.top.sum(axis=1) / self.bottom.sum(axis=1))

    def joined(self, columns: tuple[int, ...]) -> tuple[Ints, int]:
        """For each stratum the number of its joint stratum of some of the columns, and how many of those there are."""
        if not columns:
            return np.zeros(self.codes.shape[1], dtype=np.int64), 1
        _, place = np.unique(self.codes[list(columns)], axis=1, return_inverse=True)
        return place.reshape(-1), int(place.max()) + 1


@dataclass(frozen=True)
class Parts:
    """Parts of a gap, and how one person moves them: arrays [parts], and [parts, 2, strata].

    A person of a group in a stratum, whose own outcome is y, moves a part by `moved` + `slope` · (y − rate there),
    divided by the people of the group.
    """

    values: Floats
    moved: Floats
    slope: Floats

    def __add__(self, other: Parts) -> Parts:
        return Parts(self.values + other.values, self.moved + other.moved, self.slope + other.slope)

    def __sub__(self, other: Parts) -> Parts:
        return self + -1.0 * other

    def __rmul__(self, factor: float) -> Parts:
        return Parts(factor * self.values, factor * self.moved, factor * self.slope)


def split(strata: Strata) -> Parts:
    """The gap, its composition, rates and what cannot be compared, then the part of each column in the composition.

    Composition and rates are NaN where no stratum has both groups.

    >>> berkeley = np.array([[512.0, 353], [89, 17]]), np.array([[825.0, 560], [108, 25]])
    >>> parts = split(Strata(berkeley[0], berkeley[1], berkeley[1], np.array([[0, 1]])))
    >>> parts.values.round(4).tolist()
    [-0.1724, -0.0145, -0.1579, 0.0, -0.0145]
    """
    count = len(strata.codes)
    every = tuple(range(count))
    whole, rates = _compared(strata, every)
    gap = _gap(strata)
    columns = [whole] if count == 1 else _shapley(strata, whole)
    parts = [gap, whole, rates, gap - whole - rates, *columns]
    return Parts(*(np.stack([getattr(part, name) for part in parts]) for name in ("values", "moved", "slope")))


def shared(strata: Strata) -> Bools:
    """Which strata have both groups."""
    return np.asarray((strata.bottom > 0).all(axis=0))


def limits(strata: Strata, parts: Parts, confidence: float) -> tuple[Floats, Floats]:
    """The ends of the interval of each part; NaN where the part is."""
    from scipy.special import stdtrit

    from evenhand.inference.critical import upper

    deviate = upper((1 - confidence) / 2)
    total = strata.bottom.sum(axis=1)
    # Where people are varies as a mean does: by Student's law, with as many people as the weights are worth.
    freedom = np.maximum(_divide(total**2, strata.squares.sum(axis=1)) - 1, 1.0)
    reach = stdtrit(freedom, (1 + confidence) / 2) / total
    with np.errstate(invalid="ignore"):
        through_place = (parts.moved**2 * strata.squares * reach[:, None] ** 2).sum(axis=(1, 2))
        weights = strata.shares * parts.slope
    down, up = _of_proportions(strata, weights, deviate) if strata.variances is None else _of_means(strata, weights)
    if strata.variances is not None:
        down, up = deviate**2 * down, deviate**2 * up
    low, high = parts.values - np.sqrt(through_place + down), parts.values + np.sqrt(through_place + up)
    hidden = sum(_unseen(strata, group, deviate) for group in (0, 1))
    low[APART] -= hidden
    high[APART] += hidden
    if strata.variances is None:  # a gap of rates, its composition and its rates lie within 1, other parts within 2
        most = np.where(np.arange(len(low)) < APART, 1.0, 2.0)
        low, high = np.maximum(low, -most), np.minimum(high, most)
    return low, high


def _unseen(strata: Strata, group: int, deviate: float) -> float:
    """How far people of a group may move what cannot be compared, who are in strata in which none of them was seen.

    Their share is that of the people who are alone in a stratum (Good 1953), or more by as much as such a count varies.
    They may fare as the other group does there.
    """
    mine, other = strata.bottom[group] > 0, strata.bottom[1 - group] > 0
    empty, both = other & ~mine, other & mine
    if not empty.any() or not both.any():
        return 0.0
    alone = 1 + int((mine & (strata.people[group] < _TWO)).sum())
    people = strata.bottom[group].sum() ** 2 / strata.squares[group].sum()
    most = min(1.0, float(alone + deviate * math.sqrt(alone)) / float(people))
    there = strata.bottom[1 - group][empty]
    usual = strata.top[group][both].sum() / strata.bottom[group][both].sum()
    apart = strata.rates[1 - group][empty] - usual
    return most * math.sqrt(float(there @ apart**2 / there.sum()))


def _gap(strata: Strata) -> Parts:
    sign = np.array([[1.0], [-1.0]])
    overall = strata.overall
    return Parts(
        np.asarray(overall[0] - overall[1]),
        np.where(strata.bottom > 0, sign * (strata.rates - overall[:, None]), 0.0),
        np.where(strata.bottom > 0, sign, 0.0),
    )


def _compared(strata: Strata, columns: tuple[int, ...]) -> tuple[Parts, Parts]:
    """Composition and rates over the joint strata of some columns, among the strata that have both groups."""
    place, count = strata.joined(columns)
    bottom, top = (_summed(part, place, count) for part in (strata.bottom, strata.top))
    both = np.asarray((bottom > 0).all(axis=0))
    if not both.any():
        nothing = np.full(strata.bottom.shape, np.nan)
        return (Parts(np.asarray(np.nan), nothing, nothing),) * 2
    inside = np.where(both, bottom, 0.0)
    share = inside / inside.sum(axis=1, keepdims=True)
    rate = np.where(both, _divide(top, bottom), 0.0)
    middle, apart = rate.mean(axis=0), rate[0] - rate[1]
    mean, change = share.mean(axis=0), share[0] - share[1]
    sign = np.array([[1.0], [-1.0]])
    # A person counts among those in comparable strata, and in the rate of the own stratum.
    among = np.where(both, strata.bottom.sum(axis=1, keepdims=True) / inside.sum(axis=1, keepdims=True), 0.0)
    within = _divide(np.broadcast_to(strata.bottom.sum(axis=1, keepdims=True), bottom.shape), bottom) * both
    found = []
    for value, place_effect, rate_effect in (
        (change @ middle, sign * (middle - (share @ middle)[:, None]), np.broadcast_to(change / 2, bottom.shape)),
        (mean @ apart, (apart - (share @ apart)[:, None]) / 2, sign * mean),
    ):
        slope = (rate_effect * within)[:, place]
        moved = (among * place_effect)[:, place] + slope * (strata.rates - rate[:, place])
        present = (strata.bottom > 0) & both[place]
        found.append(Parts(np.asarray(value), np.where(present, moved, 0.0), np.where(present, slope, 0.0)))
    return found[0], found[1]


def _shapley(strata: Strata, whole: Parts) -> list[Parts]:
    """What each column adds to the composition effect, over all orders of the columns."""
    count = len(strata.codes)
    found = [0.0 * whole for _ in range(count)]
    for columns in _sets(count):
        part = whole if len(columns) == count else _compared(strata, columns)[0]
        size = len(columns)
        for column in range(count):
            before = size - 1 if column in columns else size
            weight = math.factorial(before) * math.factorial(count - before - 1) / math.factorial(count)
            found[column] = found[column] + (weight if column in columns else -weight) * part
    return found


def _sets(count: int) -> Iterator[tuple[int, ...]]:
    """All sets of columns but the empty one, whose composition effect is 0."""
    return itertools.chain.from_iterable(itertools.combinations(range(count), size) for size in range(1, count + 1))


def _of_proportions(strata: Strata, weights: Floats, deviate: float) -> tuple[Floats, Floats]:
    """Squared margins below and above Σ weights · rates: of the proportions that move it up, and that move it down."""
    down, up = np.zeros(len(weights)), np.zeros(len(weights))
    for side in (1.0, -1.0):
        each = np.maximum(side * weights, 0.0)
        total = each.sum(axis=2)
        rate = np.clip(_divide((each * strata.rates).sum(axis=2), total), 0.0, 1.0)
        spread = Proportions(*_worth(strata, each, total, rate), PLAIN)
        low, high = spread.limits(deviate, _OFFSET)
        below, above = (np.where(total > 0, (total * reach) ** 2, 0.0) for reach in (rate - low, high - rate))
        down += (below if side > 0 else above).sum(axis=1)
        up += (above if side > 0 else below).sum(axis=1)
    return down, up


def _worth(strata: Strata, weights: Floats, total: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """A weighted rate over strata as k of n people, as many as would make it vary as much."""
    people = np.where(strata.bottom > 0, strata.people, 1.0)
    likely = (people * strata.rates + rate[..., None]) / (people + 1)
    # Where all strata have one rate, this is unbiased for rate · (1 − rate) / people.
    variance = likely * (1 - likely) / people / (1 - people / (people + 1) ** 2)
    squares = _divide(weights**2, np.broadcast_to((total**2)[..., None], weights.shape))
    varies = (squares * variance).sum(axis=2)
    kish = _divide(np.ones_like(total), (squares / people).sum(axis=2))
    n = np.where((varies > 0) & (rate > 0) & (rate < 1), _divide(rate * (1 - rate), varies), kish)
    return rate * n, n


def _of_means(strata: Strata, weights: Floats) -> tuple[Floats, Floats]:
    """The variance of Σ weights · means, twice, with the variance of each stratum moderated by that of its group."""
    assert strata.variances is not None  # noqa: S101 - asked for only where they are known
    free = np.maximum(strata.people - 1, 0.0)
    pooled = _divide((free * strata.variances).sum(axis=1, keepdims=True), free.sum(axis=1, keepdims=True))
    own = (free * strata.variances + _MODERATION * pooled) / (free + _MODERATION)
    variance = (weights**2 * _divide(own, strata.people)).sum(axis=(1, 2))
    return variance, variance


def _summed(part: Floats, place: Ints, count: int) -> Floats:
    return np.stack([np.bincount(place, weights=each, minlength=count) for each in part])


def _divide(top: Floats, bottom: Floats) -> Floats:
    """The quotient; 0 where the denominator is."""
    return np.divide(top, bottom, out=np.zeros(np.broadcast_shapes(top.shape, bottom.shape)), where=bottom > 0)
