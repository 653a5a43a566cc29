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

_PRIOR = 2.0  # people whose variance is that of all groups, added to each: a small group may by chance not vary at all


@dataclass(frozen=True)
class Sums:
    """One dimension by group: people, their sum and sum of squares; and how replicas move it, [replicas, groups].

    Without moves there are no intervals.
    """

    n: Floats
    total: Floats
    squares: Floats
    moves: Floats | None = None

    @classmethod
    def of(cls, values: Floats, codes: Indices, groups: int, moves: Floats | None) -> Sums:
        """Over the people with a group (a code of at least 0) and a value (no NaN)."""
        inside, chosen = counted(codes, values)
        weights = (None, chosen, chosen**2)
        n, total, squares = (np.bincount(inside, part, groups).astype(np.float64) for part in weights)
        return cls(n, total, squares, moves)

    def regroup(self, places: Sequence[int], groups: int) -> Sums:
        """Groups added up: the i-th becomes part of group places[i]."""
        to = np.zeros((len(self.n), groups))
        to[np.arange(len(self.n)), np.asarray(places)] = 1.0
        moves = None if self.moves is None else self.moves @ to
        return Sums(self.n @ to, self.total @ to, self.squares @ to, moves)

    def rest(self) -> Sums:
        """Everyone else, for each group."""
        moves = None if self.moves is None else self.moves.sum(axis=1, keepdims=True) - self.moves
        n, total, squares = (part.sum() - part for part in (self.n, self.total, self.squares))
        return Sums(n, total, squares, moves)

    @property
    def means(self) -> Floats:
        return _divide(self.total, self.n)

    def spread(self, *, like: Sums | None = None) -> Spread:
        """Means with the errors that people and replicas bring; `like` are the groups whose variance is borrowed."""
        n, means = self.n, self.means
        if self.moves is None:
            return Normal(means, np.full(len(n), np.nan), n)
        within = np.maximum(self.squares - n * np.nan_to_num(means) ** 2, 0.0)
        whole = self if like is None else like
        spare = np.maximum(whole.squares - whole.n * np.nan_to_num(whole.means) ** 2, 0.0)
        pooled = float(spare.sum() / max(float(np.maximum(whole.n - 1, 0).sum()), 1.0))
        variance = _divide(within + _PRIOR * pooled, np.maximum(n - 1, 0) + _PRIOR)
        count = len(self.moves)
        moves = _divide(self.moves, n)
        moves = (moves - moves.mean(axis=0)) * np.sqrt((count - 1) / count)
        return Shared(means, np.sqrt(_divide(variance, n)), n, moves.T)


def counted(codes: Indices, values: Floats) -> tuple[Indices, Floats]:
    """Indices and values of those who have both; mostly that is everybody, and then nothing is copied."""
    if codes.min(initial=0) >= 0 and not np.isnan(values.sum()):
        return codes, values
    there = (codes >= 0) & ~np.isnan(values)
    return codes[there], values[there]


def collect(found: PersonValues, codes: Indices, groups: int) -> dict[str, Sums]:
    """The sums of every dimension, by group."""
    return {name: Sums.of(values, codes, groups, found.moves.get(name)) for name, values in found.people.items()}


def regrouped(sums: Mapping[str, Sums], places: Sequence[int], groups: int) -> dict[str, Sums]:
    """Every dimension with its groups added up."""
    return {name: part.regroup(places, groups) for name, part in sums.items()}


def _divide(top: Floats, bottom: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)
