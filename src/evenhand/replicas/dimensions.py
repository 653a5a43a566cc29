"""The dimensions of stability: a table of what the replicas of a model show about each person.

`replicas` is an array [replicas, people] of P(Y=1), or of labels 0 and 1. `measure` reads it once, in blocks of people
that fit into a processor's cache, and returns every dimension of each person. For intervals it also sums, over the
people of each group, the value of a dimension without each replica (the delete-one jackknife, in closed form).
Entropies are in bits. Arrays only.

To add a dimension, add a row to `_TABLE` and a metric that names it to `evenhand.catalogue.stability`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Array, Floats, Indices, Ints

Moves = dict[str, Floats]

_CELLS = 1 << 16  # numbers in a block: a few blocks of them stay in a processor's own cache
_MAX_WORKERS = 8


@dataclass(frozen=True)
class PersonValues:
    """Every dimension of each person; NaN where one is undefined.

    `votes` counts the replicas that say 1. `moves` is for each dimension [replicas, groups]: the sum over the people of
    a group of their value without that replica, up to a constant of the group. It is empty where no groups were passed.
    """

    people: dict[str, Floats]
    votes: Ints
    replicas: int
    moves: Moves = field(default_factory=dict)


def measure(
    replicas: Array,
    label: Floats | None = None,
    groups: Indices | None = None,
    *,
    names: Iterable[str] | None = None,
    cutoff: float = 0.5,
    above: bool = False,
    mirror: bool = False,
    show: Callable[[int], None] = lambda _: None,
) -> PersonValues:
    """The named dimensions (default: all) of each person and, with `groups`, the leave-one-out sums for intervals.

    `label` is 1, 0 or NaN for each person; `groups` is a code for each person, −1 for no group. A replica says 1 at or
    `above` the cutoff. With `mirror` the numbers are P(Y=0). `show` is called with the number of people done.

    >>> values = measure(np.array([[0.9, 0.4], [0.7, 0.6]]))
    >>> [float(values.people[name][1].round(4)) for name in ("label_stability", "jitter", "overall_uncertainty")]
    [0.0, 1.0, 1.0]
    """
    selected = frozenset(DIMENSIONS if names is None else names)
    rows = tuple(row for name, row in DIMENSIONS.items() if name in selected)
    count, people = replicas.shape
    task = _Task(replicas, label, groups, rows, cutoff, above, mirror)
    width = max(_CELLS // count, 16)
    values = {row.name: np.empty(people) for row in rows}
    votes = np.empty(people, dtype=np.int64)
    total: Moves = {}
    blocks = [slice(start, min(start + width, people)) for start in range(0, people, width)]
    workers = min(os.cpu_count() or 1, _MAX_WORKERS, len(blocks))
    with ThreadPoolExecutor(workers) as pool:
        # Sums are taken in the order of the blocks, so that no number depends on how many threads there are.
        for block, measured in zip(blocks, pool.map(task.measure_block, blocks), strict=True):
            votes[block] = measured.votes
            for name, of_block in measured.people.items():
                values[name][block] = of_block
            for name, moves in measured.moves.items():
                total[name] = total[name] + moves if name in total else moves
            show(block.stop)
    return PersonValues(values, votes, count, total)


def decide(mean: Floats, cutoff: float = 0.5, *, above: bool = False) -> npt.NDArray[np.int8]:
    """The decision of the replicas together: 1 where their mean is at or `above` the cutoff."""
    return (mean > cutoff if above else mean >= cutoff).astype(np.int8)


class _Task:
    """The arguments of `measure`, applied to one block of people at a time, on any thread."""

    def __init__(
        self,
        replicas: Array,
        label: Floats | None,
        groups: Indices | None,
        rows: tuple[Dimension, ...],
        cutoff: float,
        above: bool,
        mirror: bool,
    ) -> None:
        self.replicas, self.label, self.groups, self.rows, self.mirror = replicas, label, groups, rows, mirror
        self.count = len(replicas)
        self.group_count = 0 if groups is None else int(groups.max(initial=-1)) + 1
        # The precision of the array is kept, and sums are double: more would cost twice as much and add nothing.
        self.kind = np.float32 if replicas.dtype in (np.float16, np.float32) else np.float64
        self.labels = replicas.dtype.kind in "biu"
        self.cutoff, self.compare = self.kind(cutoff), np.greater if above else np.greater_equal

    def measure_block(self, people: slice) -> PersonValues:
        """The dimensions of some of the people."""
        block = Block(self, people)
        values = {row.name: row.value(block) for row in self.rows}
        moves = {} if self.groups is None else {row.name: row.moves(block) for row in self.rows}
        return PersonValues(values, block.votes, self.count, moves)

    def members(self, people: slice) -> Array:
        """Which person belongs to which group, [people, groups], as a matrix of 0 and 1."""
        if self.groups is None:
            return np.empty((people.stop - people.start, 0), dtype=self.kind)
        return np.asarray(self.groups[people][:, None] == np.arange(self.group_count), dtype=self.kind)


class Block:
    """Some of the people: `x` is [replicas, people]; what several dimensions need is computed once.

    `says_one` is True where a replica says 1; `votes` counts those replicas. `label` is 1, 0 or NaN for each person.
    """

    def __init__(self, task: _Task, people: slice) -> None:
        self.count = task.count
        if task.labels:
            labels = np.asarray(task.replicas[:, people], dtype=bool)
            self.x = self.says_one = ~labels if task.mirror else labels
        else:
            numbers = task.replicas[:, people]
            self.x = np.ascontiguousarray(1 - numbers if task.mirror else numbers, dtype=task.kind)
            self.says_one = task.compare(self.x, task.cutoff)
        self.kind = task.kind
        self.votes = np.add.reduce(self.says_one, axis=0, dtype=np.int32).astype(np.int64)
        self.label = np.full(len(self.votes), np.nan) if task.label is None else task.label[people]
        self.members = task.members(people)
        self._cache: dict[str, Any] = {}

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        # Not functools.cached_property: before Python 3.12 its lock makes the blocks of all threads wait.
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    def sum_by_group(self, values: Array, factor: Array | None = None) -> Floats:
        """Sums over the people of each group, [replicas, groups], of values [replicas, people] times a factor each."""
        members = self.members if factor is None else self.members * factor[:, None]
        return (values @ members).astype(np.float64)

    @property
    def mean(self) -> Floats:
        """The mean of each person over the replicas."""
        mean: Floats = self._once("mean", lambda: np.add.reduce(self.x, axis=0, dtype=np.float64) / self.count)
        return mean

    @property
    def squares(self) -> Array:
        """Squared distances from each person's mean."""

        def make() -> Array:
            distance: Array = self.x - self.mean.astype(self.kind)
            np.multiply(distance, distance, out=distance)
            return distance

        squares: Array = self._once("squares", make)
        return squares

    @property
    def square_sum(self) -> Floats:
        """The sum of those squares over the replicas."""
        total: Floats = self._once("square_sum", lambda: np.add.reduce(self.squares, axis=0, dtype=np.float64))
        return total

    @property
    def votes_by_replica(self) -> Array:
        """`says_one` as numbers 0 and 1."""
        votes: Array = self._once("votes_by_replica", lambda: self.says_one.astype(self.kind))
        return votes

    @property
    def nats(self) -> Array:
        """p log p + (1 − p) log(1 − p) of every number."""
        nats: Array = self._once("nats", lambda: _nats(self.x, np.empty_like(self.x), np.empty_like(self.x)))
        return nats

    @property
    def ordered(self) -> Array:
        """The replicas of each person from low to high, [people, replicas]."""

        def make() -> Array:
            turned = self.x.T.copy()
            turned.sort(axis=1)
            return turned

        ordered: Array = self._once("ordered", make)
        return ordered

    @property
    def overall(self) -> Floats:
        """The entropy of each person's mean."""
        overall: Floats = self._once("overall", lambda: entropy(self.mean))
        return overall

    @property
    def aleatoric(self) -> Floats:
        """The mean over the replicas of each person's entropy."""

        def make() -> Floats:
            return np.asarray(np.add.reduce(self.nats, axis=0, dtype=np.float64) / (-self.count * math.log(2)))

        aleatoric: Floats = self._once("aleatoric", make)
        return aleatoric

    @property
    def overall_moves(self) -> Floats:
        """The entropy of the mean without each replica."""

        def make() -> Floats:
            mean = self.mean.astype(self.kind)
            without = mean + (mean - self.x) * self.kind(1 / (self.count - 1))
            np.clip(without, 0.0, 1.0, out=without)
            buffers = np.empty_like(without), np.empty_like(without)
            return self.sum_by_group(_nats(without, *buffers)) / -math.log(2)

        moves: Floats = self._once("overall_moves", make)
        return moves

    @property
    def aleatoric_moves(self) -> Floats:
        """The mean entropy without each replica."""
        moves: Floats = self._once(
            "aleatoric_moves", lambda: self.sum_by_group(self.nats) / ((self.count - 1) * math.log(2))
        )
        return moves


# --- from votes


def label_stability(votes: Array, count: int) -> Floats:
    """|#1 − #0| / B: 1 where all replicas agree, 0 where one half says 1 and the other 0."""
    return np.asarray(np.abs(2.0 * votes - count) / count)


def jitter(votes: Array, count: int) -> Floats:
    """The share of pairs of replicas that disagree: 2k(B − k) / (B(B − 1)), without a loop over pairs."""
    return np.asarray(2.0 * votes * (count - votes) / (count * (count - 1)))


def _vote_moves(block: Block, of_votes: Callable[[Array, int], Floats]) -> Floats:
    """A replica that is left out takes a vote with it or does not: two values for each person."""
    change = of_votes(block.votes - 1, block.count - 1) - of_votes(block.votes, block.count - 1)
    return block.sum_by_group(block.votes_by_replica, change.astype(block.kind))


# --- from the spread of the probabilities


def _std(block: Block) -> Floats:
    return np.sqrt(block.square_sum / (block.count - 1))


def _std_moves(block: Block) -> Floats:
    rest = block.square_sum - block.squares * block.kind(block.count / (block.count - 1))
    np.maximum(rest, 0.0, out=rest)
    np.sqrt(rest, out=rest)
    return block.sum_by_group(rest) / math.sqrt(block.count - 2)


def _iqr(block: Block) -> Floats:
    return _quantile(block, 0.75) - _quantile(block, 0.25)


def _iqr_moves(block: Block) -> Floats:
    return _quantile_moves(block, 0.75) - _quantile_moves(block, 0.25)


def _quantile(block: Block, share: float) -> Floats:
    """Interpolated linearly between the two nearest values, as numpy and scipy do."""
    position = share * (block.count - 1)
    low = min(int(position), block.count - 2)
    below, above = (block.ordered[:, i].astype(np.float64) for i in (low, low + 1))
    return np.asarray(below + (position - low) * (above - below))


def _quantile_moves(block: Block, share: float) -> Floats:
    """A quantile without one value depends on whether that value is below, at or above one place in the order."""
    position = share * (block.count - 2)
    low = int(position)
    first, middle, last = (block.ordered[:, low + i] for i in range(3))
    fraction = block.kind(position - low)
    if_below, if_at, if_above = (a + fraction * (b - a) for a, b in ((middle, last), (first, last), (first, middle)))
    reached = block.sum_by_group((block.x >= middle).astype(block.kind), if_at - if_below)
    return reached + block.sum_by_group((block.x > middle).astype(block.kind), if_above - if_at)


def _variance(block: Block) -> Floats:
    return np.asarray(block.square_sum / block.count)


def _variance_moves(block: Block) -> Floats:
    return block.sum_by_group(block.squares) * (-block.count / (block.count - 1) ** 2)


# --- from the mean


def _mean(block: Block) -> Floats:
    return block.mean


def _mean_moves(block: Block) -> Floats:
    return block.sum_by_group(block.x) / (1 - block.count)


def _bias(block: Block) -> Floats:
    return np.abs(block.label - block.mean)


def _bias_moves(block: Block) -> Floats:
    """|y − mean| is a straight line in the mean, rising for y = 0 and falling for y = 1."""
    slope = np.nan_to_num(1 - 2 * block.label).astype(block.kind)
    return block.sum_by_group(block.x, slope) / (1 - block.count)


# --- from entropies


def entropy(p: Array) -> Floats:
    """H₂(p) = −p log₂ p − (1 − p) log₂(1 − p), in bits; 0 at both ends.

    >>> entropy(np.array([0.0, 0.5, 0.1])).round(6).tolist()
    [0.0, 1.0, 0.468996]
    """
    p = np.asarray(p, dtype=np.float64)
    return np.asarray(0.0 - _nats(p, np.empty_like(p), np.empty_like(p)) / math.log(2))


def _epistemic(block: Block) -> Floats:
    # Never below 0, because the entropy is concave; rounding may make it slightly negative.
    return np.maximum(block.overall - block.aleatoric, 0.0)


def _epistemic_moves(block: Block) -> Floats:
    return block.overall_moves - block.aleatoric_moves


def _nats(p: Array, product: Array, rest: Array) -> Array:
    """p log p + (1 − p) log(1 − p), with buffers of the same shape; 0 log 0 is 0."""
    smallest = np.finfo(p.dtype).tiny
    np.subtract(1, p, out=rest)
    np.maximum(rest, smallest, out=product)
    np.log(product, out=product)
    np.multiply(product, rest, out=rest)
    np.maximum(p, smallest, out=product)
    np.log(product, out=product)
    np.multiply(product, p, out=product)
    np.add(product, rest, out=product)
    return product


# --- the table


@dataclass(frozen=True)
class Dimension:
    """One dimension, computed for a block of people. The catalogue has its title, its unit and its need for a label.

    `value` returns the value of each person. `moves` returns the sum over each group without each replica,
    [replicas, groups]; a term that is the same for all replicas may be left out, because only differences between
    replicas are used. `from_labels`: can it be computed from labels alone? `least_stable`: at which end of its scale
    the least stable people are, who can then be set aside; None where it does not measure stability.
    """

    name: str
    value: Callable[[Block], Floats]
    moves: Callable[[Block], Floats]
    least_stable: Literal["lowest", "highest"] | None = "highest"
    from_labels: bool = False


_TABLE = (
    Dimension(
        "label_stability",
        lambda block: label_stability(block.votes, block.count),
        lambda block: _vote_moves(block, label_stability),
        least_stable="lowest",
        from_labels=True,
    ),
    Dimension(
        "jitter",
        lambda block: jitter(block.votes, block.count),
        lambda block: _vote_moves(block, jitter),
        from_labels=True,
    ),
    Dimension("std", _std, _std_moves),
    Dimension("iqr", _iqr, _iqr_moves),
    Dimension("mean_prediction", _mean, _mean_moves, least_stable=None),
    Dimension("statistical_bias", _bias, _bias_moves, least_stable=None),
    Dimension("overall_uncertainty", lambda block: block.overall, lambda block: block.overall_moves),
    Dimension("aleatoric_uncertainty", lambda block: block.aleatoric, lambda block: block.aleatoric_moves),
    Dimension("epistemic_uncertainty", _epistemic, _epistemic_moves),
    Dimension("epistemic_variance", _variance, _variance_moves),
)

DIMENSIONS = {row.name: row for row in _TABLE}
"""Every dimension by its name, in the order in which they are shown."""
