"""Dimensions of stability: what many replicas of a model say of each person, and how far one replica moves it.

`replicas` is [replicas, people] of P(Y=1), or of labels 0 and 1. One pass over blocks of people that fit into a cache
gives every dimension of each person. For intervals it also sums, over the people of each group, how a dimension would
change if one replica were left out: the delete-one jackknife, in closed form and so without computing anything anew.
Entropies are in bits. Arrays only.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Array, Floats

Moves = dict[str, Floats]

OF_LABELS = ("label_stability", "jitter")
"""What labels alone can show; the rest needs probabilities."""

NAMES = (
    *OF_LABELS,
    "std",
    "iqr",
    "mean_prediction",
    "statistical_bias",
    "overall_uncertainty",
    "aleatoric_uncertainty",
    "epistemic_uncertainty",
    "epistemic_variance",
)
"""Every dimension, in the order in which they are shown."""

_CELLS = 1 << 16  # numbers in a block: a few blocks of them stay in a processor's own cache
_MOST_WORKERS = 8


@dataclass(frozen=True)
class Dimensions:
    """Every dimension of each person; NaN where one is undefined.

    `votes` counts the replicas that say 1. `moves` is for each dimension [replicas, groups]: the sum over the people of
    a group of their value without that replica, up to a constant of the group, or empty where nobody asked for it.
    """

    people: dict[str, Floats]
    votes: npt.NDArray[np.int64]
    replicas: int
    moves: Moves = field(default_factory=dict)


def measure(
    replicas: Array,
    label: Floats | None = None,
    groups: npt.NDArray[np.intp] | None = None,
    *,
    names: Iterable[str] = NAMES,
    cutoff: float = 0.5,
    above: bool = False,
    mirror: bool = False,
    show: Callable[[int], None] = lambda _: None,
) -> Dimensions:
    """Every dimension of each person and, with `groups` (a code for each person, −1 for none), what intervals need.

    `label` is 1, 0 or NaN for each person. A replica says 1 at or `above` the cutoff. With `mirror` the numbers are
    P(Y=0). `show` is told how many people are done.

    >>> found = measure(np.array([[0.9, 0.4], [0.7, 0.6]]))
    >>> [float(found.people[name][1].round(4)) for name in ("label_stability", "jitter", "overall_uncertainty")]
    [0.0, 1.0, 1.0]
    """
    chosen = frozenset(names)
    count, people = replicas.shape
    task = _Task(replicas, label, groups, chosen, cutoff, above, mirror)
    width = max(_CELLS // count, 16)
    found = {name: np.empty(people) for name in NAMES if name in chosen}
    votes = np.empty(people, dtype=np.int64)
    total: Moves = {}
    blocks = [slice(start, min(start + width, people)) for start in range(0, people, width)]
    workers = min(os.cpu_count() or 1, _MOST_WORKERS, len(blocks))
    with ThreadPoolExecutor(workers) as pool:
        # Sums are taken in the order of the blocks, so that no number depends on how many work at once.
        for block, part in zip(blocks, pool.map(task.block, blocks), strict=True):
            votes[block] = part.votes
            for name, values in part.people.items():
                found[name][block] = values
            for name, moves in part.moves.items():
                total[name] = total[name] + moves if name in total else moves
            show(block.stop)
    return Dimensions(found, votes, count, total)


def decide(mean: Floats, cutoff: float = 0.5, *, above: bool = False) -> npt.NDArray[np.int8]:
    """What the replicas say together: 1 where their mean is at or `above` the cutoff."""
    return (mean > cutoff if above else mean >= cutoff).astype(np.int8)


def label_stability(votes: Array, count: int) -> Floats:
    """|#1 − #0| / B: 1 where all replicas agree, 0 where they are split in halves."""
    return np.asarray(np.abs(2.0 * votes - count) / count)


def jitter(votes: Array, count: int) -> Floats:
    """The share of pairs of replicas that disagree: 2k(B − k) / (B(B − 1)), with no loop over pairs."""
    return np.asarray(2.0 * votes * (count - votes) / (count * (count - 1)))


def entropy(p: Array) -> Floats:
    """H₂(p) = −p log₂ p − (1 − p) log₂(1 − p), in bits; 0 at both ends.

    >>> entropy(np.array([0.0, 0.5, 0.1])).round(6).tolist()
    [0.0, 1.0, 0.468996]
    """
    p = np.asarray(p, dtype=np.float64)
    return np.asarray(0.0 - _nats(p, np.empty_like(p), np.empty_like(p)) / math.log(2))


class _Task:
    """What is done to every block of people, on as many threads as there are; buffers belong to one block."""

    def __init__(
        self,
        replicas: Array,
        label: Floats | None,
        groups: npt.NDArray[np.intp] | None,
        names: frozenset[str],
        cutoff: float,
        above: bool,
        mirror: bool,
    ) -> None:
        self.replicas, self.label, self.groups, self.names, self.mirror = replicas, label, groups, names, mirror
        self.count = len(replicas)
        self.groups_there = 0 if groups is None else int(groups.max(initial=-1)) + 1
        # The precision of the array is kept, and sums are double: more would cost twice as much and add nothing.
        self.kind = np.float32 if replicas.dtype in (np.float16, np.float32) else np.float64
        self.labels = replicas.dtype.kind in "biu"
        self.cutoff, self.compare = self.kind(cutoff), np.greater if above else np.greater_equal

    def block(self, place: slice) -> Dimensions:
        """The dimensions of some of the people."""
        block = _Block(self, place)
        found = {name: getattr(block, name)() for name in NAMES if name in self.names}
        members = self._members(place)
        moves = {name: getattr(block, f"move_{name}")(members) for name in found} if members is not None else {}
        return Dimensions(found, block.votes, self.count, moves)

    def _members(self, place: slice) -> Array | None:
        """Who belongs to which group, [people, groups], as a matrix of 0 and 1."""
        if self.groups is None:
            return None
        codes = self.groups[place]
        return np.asarray(codes[:, None] == np.arange(self.groups_there), dtype=self.kind)


class _Block:
    """Some of the people: x is [replicas, people], and what several dimensions need is computed once.

    The `move_` of a dimension sums it over each group, [replicas, groups], as it is without each replica; whatever is
    the same for all replicas is left out, because only differences between replicas count.
    """

    def __init__(self, task: _Task, place: slice) -> None:
        self.count = task.count
        if task.labels:
            labels = np.asarray(task.replicas[:, place], dtype=bool)
            self.x = self.said = ~labels if task.mirror else labels
        else:
            given = task.replicas[:, place]
            self.x = np.ascontiguousarray(1 - given if task.mirror else given, dtype=task.kind)
            self.said = task.compare(self.x, task.cutoff)
        self.kind = task.kind
        self.votes = np.add.reduce(self.said, axis=0, dtype=np.int32).astype(np.int64)
        self.label = None if task.label is None else task.label[place]
        self._kept: dict[str, Any] = {}

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    @property
    def mean(self) -> Floats:
        found: Floats = self._once("mean", lambda: np.add.reduce(self.x, axis=0, dtype=np.float64) / self.count)
        return found

    @property
    def squares(self) -> Array:
        """Squared distances from each person's mean."""

        def make() -> Any:
            away = self.x - self.mean.astype(self.kind)
            return np.multiply(away, away, out=away)

        found: Array = self._once("squares", make)
        return found

    @property
    def square_sum(self) -> Floats:
        found: Floats = self._once("square_sum", lambda: np.add.reduce(self.squares, axis=0, dtype=np.float64))
        return found

    @property
    def nats(self) -> Array:
        """p log p + (1 − p) log(1 − p) of every number."""
        found: Array = self._once("nats", lambda: _nats(self.x, np.empty_like(self.x), np.empty_like(self.x)))
        return found

    @property
    def ordered(self) -> Array:
        """The replicas of each person from low to high, [people, replicas]."""

        def make() -> Array:
            turned = self.x.T.copy()
            turned.sort(axis=1)
            return turned

        found: Array = self._once("ordered", make)
        return found

    # --- each dimension

    def label_stability(self) -> Floats:
        return label_stability(self.votes, self.count)

    def jitter(self) -> Floats:
        return jitter(self.votes, self.count)

    def std(self) -> Floats:
        return np.sqrt(self.square_sum / (self.count - 1))

    def iqr(self) -> Floats:
        return self._quantile(0.75) - self._quantile(0.25)

    def mean_prediction(self) -> Floats:
        return self.mean

    def statistical_bias(self) -> Floats:
        return np.full(len(self.mean), np.nan) if self.label is None else np.abs(self.label - self.mean)

    def overall_uncertainty(self) -> Floats:
        found: Floats = self._once("overall", lambda: entropy(self.mean))
        return found

    def aleatoric_uncertainty(self) -> Floats:
        found: Floats = self._once(
            "aleatoric", lambda: np.add.reduce(self.nats, axis=0, dtype=np.float64) / (-self.count * math.log(2))
        )
        return found

    def epistemic_uncertainty(self) -> Floats:
        # Never below 0, for the entropy is concave; rounding may take it there by a hair.
        return np.maximum(self.overall_uncertainty() - self.aleatoric_uncertainty(), 0.0)

    def epistemic_variance(self) -> Floats:
        return np.asarray(self.square_sum / self.count)

    def _quantile(self, share: float) -> Floats:
        """With a line between the two nearest, as numpy and scipy have it."""
        place = share * (self.count - 1)
        low = min(int(place), self.count - 2)
        below, above = (self.ordered[:, i].astype(np.float64) for i in (low, low + 1))
        return np.asarray(below + (place - low) * (above - below))

    # --- each dimension without one replica, summed over groups

    def move_label_stability(self, members: Array) -> Floats:
        return self._move_votes(label_stability, members)

    def move_jitter(self, members: Array) -> Floats:
        return self._move_votes(jitter, members)

    def _move_votes(self, dimension: Callable[[Array, int], Floats], members: Array) -> Floats:
        """A replica that is left out takes a vote with it or does not: two values for each person."""
        change = dimension(self.votes - 1, self.count - 1) - dimension(self.votes, self.count - 1)
        said: Array = self._once("said", lambda: self.said.astype(self.kind))
        return _summed(said, members * change.astype(self.kind)[:, None])

    def move_std(self, members: Array) -> Floats:
        rest = self.square_sum - self.squares * self.kind(self.count / (self.count - 1))
        np.maximum(rest, 0.0, out=rest)
        np.sqrt(rest, out=rest)
        return _summed(rest, members.astype(rest.dtype)) / math.sqrt(self.count - 2)

    def move_iqr(self, members: Array) -> Floats:
        return self._move_quantile(0.75, members) - self._move_quantile(0.25, members)

    def _move_quantile(self, share: float, members: Array) -> Floats:
        """A quantile without one number: it depends on whether that lies below, at or above one place in the order."""
        place = share * (self.count - 2)
        low = int(place)
        first, middle, last = (self.ordered[:, low + i] for i in range(3))
        part = self.kind(place - low)
        if_below, if_at, if_above = (a + part * (b - a) for a, b in ((middle, last), (first, last), (first, middle)))
        reached = _summed((self.x >= middle).astype(self.kind), members * (if_at - if_below)[:, None])
        return reached + _summed((self.x > middle).astype(self.kind), members * (if_above - if_at)[:, None])

    def move_mean_prediction(self, members: Array) -> Floats:
        return _summed(self.x, members) / (1 - self.count)

    def move_statistical_bias(self, members: Array) -> Floats:
        """|y − mean| is a straight line in the mean, rising for y = 0 and falling for y = 1."""
        known = np.full(len(self.mean), np.nan) if self.label is None else self.label
        slope = np.nan_to_num(1 - 2 * known).astype(self.kind)
        return _summed(self.x, members * slope[:, None]) / (1 - self.count)

    def move_overall_uncertainty(self, members: Array) -> Floats:
        def make() -> Floats:
            mean = self.mean.astype(self.kind)
            without = mean + (mean - self.x) * self.kind(1 / (self.count - 1))
            np.clip(without, 0.0, 1.0, out=without)
            buffers = np.empty_like(without), np.empty_like(without)
            return _summed(_nats(without, *buffers), members) / -math.log(2)

        found: Floats = self._once("move_overall", make)
        return found

    def move_aleatoric_uncertainty(self, members: Array) -> Floats:
        found: Floats = self._once(
            "move_aleatoric", lambda: _summed(self.nats, members) / ((self.count - 1) * math.log(2))
        )
        return found

    def move_epistemic_uncertainty(self, members: Array) -> Floats:
        return self.move_overall_uncertainty(members) - self.move_aleatoric_uncertainty(members)

    def move_epistemic_variance(self, members: Array) -> Floats:
        return _summed(self.squares, members) * (-self.count / (self.count - 1) ** 2)


def _nats(p: Array, product: Array, rest: Array) -> Array:
    """p log p + (1 − p) log(1 − p), with buffers of the same shape; 0 log 0 is 0."""
    least = np.finfo(p.dtype).tiny
    np.subtract(1, p, out=rest)
    np.maximum(rest, least, out=product)
    np.log(product, out=product)
    np.multiply(product, rest, out=rest)
    np.maximum(p, least, out=product)
    np.log(product, out=product)
    np.multiply(product, p, out=product)
    np.add(product, rest, out=product)
    return product


def _summed(values: Array, members: Array) -> Floats:
    return (values @ members).astype(np.float64)
