"""Sums over the people of each group, from which every mean, gap and interval of stability follows.

Sums add: the groups of one attribute are sums over the groups of an intersection, and everyone else is the total less
the group. So people are read once, whatever is compared afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.inference.replica_spread import Shared
from evenhand.inference.spread import Normal, Spread
from evenhand.replicas.dimensions import PersonValues

# As if each group had two more people with the variance of all groups: a small group may by chance not vary at all.
_PRIOR_PEOPLE = 2.0


@dataclass(frozen=True)
class Sums:
    """One dimension by group: the number of people, their sum and their sum of squares.

    `moves` is [replicas, groups]: the sum without each replica, up to a constant. Without it there are no intervals.
    """

    n: Floats
    total: Floats
    squares: Floats
    moves: Floats | None = None

    @classmethod
    def of(cls, values: Floats, codes: Indices, groups: int, moves: Floats | None) -> Sums:
        """Over the people with a group (a code of at least 0) and a value (not NaN)."""
        inside, numbers = counted(codes, values)
        weights = (None, numbers, numbers**2)
        n, total, squares = (np.bincount(inside, weight, groups).astype(np.float64) for weight in weights)
        return cls(n, total, squares, moves)

    def regroup(self, index: Sequence[int], groups: int) -> Sums:
        """Groups added up: group i becomes a part of group index[i]."""
        to = np.zeros((len(self.n), groups))
        to[np.arange(len(self.n)), np.asarray(index)] = 1.0
        moves = None if self.moves is None else self.moves @ to
        return Sums(self.n @ to, self.total @ to, self.squares @ to, moves)

    def rest(self) -> Sums:
        """For each group, everyone else."""
        moves = None if self.moves is None else self.moves.sum(axis=1, keepdims=True) - self.moves
        n, total, squares = (sums.sum() - sums for sums in (self.n, self.total, self.squares))
        return Sums(n, total, squares, moves)

    @property
    def means(self) -> Floats:
        """The mean of each group; NaN for a group without people."""
        return _divide(self.total, self.n)

    def spread(self, *, like: Sums | None = None) -> Spread:
        """The means with their errors, from people and from replicas.

        The variance of each group is drawn a little towards that of all groups of `like` (default: these groups).
        """
        n, means = self.n, self.means
        if self.moves is None:
            return Normal(means, np.full(len(n), np.nan), n)
        everyone = self if like is None else like
        pooled = float(everyone._squares_within().sum() / max(float(np.maximum(everyone.n - 1, 0).sum()), 1.0))
        variance = _divide(self._squares_within() + _PRIOR_PEOPLE * pooled, np.maximum(n - 1, 0) + _PRIOR_PEOPLE)
        count = len(self.moves)
        moves = _divide(self.moves, n)
        moves = (moves - moves.mean(axis=0)) * np.sqrt((count - 1) / count)
        return Shared(means, np.sqrt(_divide(variance, n)), n, moves.T)

    def _squares_within(self) -> Floats:
        """The sum of squared distances from the mean of each group."""
        return np.maximum(self.squares - self.n * np.nan_to_num(self.means) ** 2, 0.0)


def counted(codes: Indices, values: Floats) -> tuple[Indices, Floats]:
    """Codes and values of the people who have both; where that is everyone, nothing is copied."""
    if codes.min(initial=0) >= 0 and not np.isnan(values.sum()):
        return codes, values
    mask = (codes >= 0) & ~np.isnan(values)
    return codes[mask], values[mask]


def collect(values: PersonValues, codes: Indices, groups: int) -> dict[str, Sums]:
    """The sums of every dimension, by group."""
    return {name: Sums.of(people, codes, groups, values.moves.get(name)) for name, people in values.people.items()}


def regroup_all(sums: Mapping[str, Sums], index: Sequence[int], groups: int) -> dict[str, Sums]:
    """Every dimension with its groups added up: group i becomes a part of group index[i]."""
    return {name: each.regroup(index, groups) for name, each in sums.items()}


def _divide(top: Floats, bottom: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)
