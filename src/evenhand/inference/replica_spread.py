"""Shared: values of groups that vary with people, group by group, and with replicas of a model, all groups at once.

One replica moves every group, often in the same direction, and what moves two groups alike is not noise in the gap
between them. So the moves are kept for each replica, and a pair of groups is compared by the moves it does not share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Shared:
    """A Spread of means of numbers between 0 and 1.

    `errors` are those of the people alone; the squares of `moves` [groups, replicas] sum up to the variance that the
    replicas bring, as the delete-one jackknife has it.
    """

    values: Floats
    errors: Floats
    sizes: Floats
    moves: Floats

    @property
    def centre(self) -> Floats:
        return self.values

    @property
    def variances(self) -> Floats:
        return np.asarray(self.errors**2 + (self.moves**2).sum(axis=1))

    @property
    def deviations(self) -> Floats:
        """Standard errors without the moves that all groups share: these make no difference between groups."""
        own = self.moves - np.nan_to_num(self.moves).mean(axis=0)
        return np.asarray(np.sqrt(self.errors**2 + (own**2).sum(axis=1)))

    def scaled(self, multiplier: float, places: Sequence[int]) -> Shared:
        """Some of the groups with more people, which reduces their errors but not the moves of the replicas."""
        chosen = list(places)
        return Shared(
            self.values[chosen],
            self.errors[chosen] / np.sqrt(multiplier),
            self.sizes[chosen] * multiplier,
            self.moves[chosen],
        )

    def of_people(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        """How far people may have moved a value, down and up, by the beta distribution with its mean and variance.

        Means of numbers between 0 and 1 vary no more than a proportion of as many people, so the distribution stands
        for at least this many.
        """
        from scipy.special import betainccinv, betaincinv, ndtr

        tail = ndtr(-_student(deviate, self.sizes - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            people = np.maximum(self.sizes, self.values * (1 - self.values) / self.errors**2)
            k, rest = self.values * people, (1 - self.values) * people
            low = np.where(k > 0, betaincinv(k + offset, rest + 1 - offset, tail), 0.0)
            high = np.where(rest > 0, betainccinv(k + 1 - offset, rest + offset, tail), 1.0)
        down, up = self.values - np.fmin(low, self.values), np.fmax(high, self.values) - self.values
        still = self.errors == 0
        return np.where(still, 0.0, down), np.where(still, 0.0, up)

    def of_replicas(self, deviate: float) -> Floats:
        """The moves of the replicas as far as they may reach, [groups, replicas].

        With half the usual degrees of freedom: several dimensions are spreads, and a variance of squares is known
        only about half as well. With all of them, ten replicas covered 90 % (benchmarks/stability.py).
        """
        return _student(deviate, np.array((self.moves.shape[1] - 1) / 2)) * self.moves

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        down, up = self.of_people(deviate, offset)
        replicas = np.sqrt((self.of_replicas(deviate) ** 2).sum(axis=1))
        low, high = self.values - np.hypot(down, replicas), self.values + np.hypot(up, replicas)
        return np.maximum(low, np.fmin(self.values, 0.0)), np.minimum(high, np.fmax(self.values, 1.0))


def apart(mine: Floats, theirs: Floats) -> Floats:
    """How far replicas may move two groups apart: one by one for [groups, replicas] on both sides, all pairs where
    `mine` is [groups, 1, replicas]."""
    if mine.ndim == theirs.ndim:
        return np.asarray(np.sqrt(((mine - theirs) ** 2).sum(axis=-1)))
    rows = mine[:, 0]
    products = rows @ theirs.T
    squares = (rows**2).sum(axis=1)[:, None] + (theirs**2).sum(axis=1) - 2 * products
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _student(deviate: float, freedom: Floats) -> Floats:
    """Student's quantile at the probability of a normal deviate, because the errors are themselves estimated."""
    from scipy.special import ndtr, stdtrit

    return np.asarray(stdtrit(np.maximum(freedom, 1), ndtr(deviate)))
