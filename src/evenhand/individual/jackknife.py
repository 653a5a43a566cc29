"""Standard errors of figures about neighbours, by a delete-one jackknife over people.

One person's decision is part of their own figure and of the figures of all who have them as a neighbour, so people are
not independent, and errors that take them as independent are too small by up to a half. Here each person is left out in
turn and replaced by the next neighbours. The variance of this jackknife is on average at least the true one, because it
counts the joint effect of two people twice (Efron and Stein 1981); the squares of that effect are subtracted once, as
is usual for pairs (Fafchamps and Gubert 2007). A bootstrap would repeat people, who are then their own nearest
neighbours, and fails (Abadie and Imbens 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.inference.spread import PLAIN, Normal, Proportions

_UNSEEN = 0.5  # effective share of the people where nothing varied: one unseen decision would move two figures

NOTE = "Errors by a jackknife over people, because a person counts in the figures of all who have them as a neighbour."
_SMALLEST_SHARE = 1 / 3  # of the plain jackknife's variance: in small samples the subtraction may be too large


@dataclass(frozen=True)
class Dependent(Normal):
    """Shares between 0 and 1 with jackknife errors; limits from the beta distribution, which stay inside.

    A group is treated as the number of independent people whose share would be as precise (half of the people where
    nothing varied). `freedom` are the degrees of freedom of the error: few, where few people move the share.
    """

    freedom: Floats

    def scaled(self, multiplier: float, places: Sequence[int]) -> Dependent:
        chosen, root = list(places), np.sqrt(multiplier)
        values, errors = self.values[chosen], self.errors[chosen] / root
        return Dependent(values, errors, self.sizes[chosen] * multiplier, self.freedom[chosen] * multiplier)

    @property
    def effective(self) -> Floats:
        """The number of independent people whose share would be as precise."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.values * (1 - self.values) / self.errors**2
        return np.where(np.isfinite(found) & (found > 0), found, _UNSEEN * self.sizes)

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtr, stdtrit

        known = ~(np.isnan(self.values) | np.isnan(self.errors))
        wider = stdtrit(np.maximum(self.freedom, 1.0), ndtr(deviate)) / deviate
        n = np.where(known, self.effective / wider**2, 1.0)
        values = np.where(known, np.clip(self.values, 0, 1), 0.5)
        low, high = Proportions(values * n, n, PLAIN).limits(deviate, offset)
        return np.where(known, low, np.nan), np.where(known, high, np.nan)


def errors(moves: Floats, twice: Floats) -> tuple[Floats, Floats]:
    """Standard errors and degrees of freedom of figures; `moves` is how far each moves without each person.

    `moves` is [people, figures]. `twice` is the sum of squares of the joint effects of two people, which are part of
    the moves of both. Figures are compared as if they were independent; where two of them vary in opposite directions
    their difference varies more than that, so both errors are raised until the difference is covered.
    """
    people = len(moves)
    centred = moves - moves.mean(axis=0)
    squares = centred**2
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0)
    covariance = (people - 1) / people * (centred.T @ centred)
    variance = np.maximum(np.diag(covariance) - twice, _SMALLEST_SHARE * np.diag(covariance))
    opposed = np.maximum(-covariance, 0.0)
    np.fill_diagonal(opposed, 0.0)
    freedom = np.where(np.isfinite(freedom), freedom, float(people))
    return np.sqrt(variance + opposed.max(axis=1, initial=0.0)), freedom
