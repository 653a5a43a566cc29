"""Two decisions about the same people: how far a rate moved, and whether as many were lifted as were dropped.

A move of a rate varies only with the people whose decision changed. Its limits are Tango's (1998), which have a width
also where nobody's did. What is not a plain rate (a precision, whose denominator changes too; weighted rates) is
linearised, and takes Tango's limits at as many changed decisions as make the same variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.inference import paired
from evenhand.inference.hypotheses import Test
from evenhand.inference.paired import score_limits

_FEW_FLIPS = 100


@dataclass(frozen=True)
class Moves:
    """Rates of groups before and after, for the same people; all arrays have one entry for each rate.

    `sizes` are the people whom the smaller of the two denominators counts, fewer where weights differ.
    """

    before: Floats
    after: Floats
    variance_before: Floats
    variance_after: Floats
    covariance: Floats
    sizes: Floats

    @property
    def change(self) -> Floats:
        """after − before."""
        return self.after - self.before

    def variance(self, now: Floats | float = 1.0, then: Floats | float = 1.0) -> Floats:
        """The variance of now · after − then · before."""
        own = now**2 * self.variance_after + then**2 * self.variance_before
        return np.asarray(np.maximum(own - 2 * now * then * self.covariance, 0.0))

    def reach(self, deviate: float, now: Floats | float = 1.0, then: Floats | float = 1.0) -> tuple[Floats, Floats]:
        """How far now · after − then · before may lie below and above what was seen; the factors are above 0."""
        scale = (now + then) / 2
        low, high = limits(self.change, self.variance(now, then) / scale**2, self.sizes, deviate)
        return scale * (self.change - low), scale * (high - self.change)

    def take(self, places: tuple[Indices, ...]) -> Moves:
        """Some of the rates."""
        return Moves(*(getattr(self, name)[places] for name in self.__dataclass_fields__))


def limits(change: Floats, variance: Floats, sizes: Floats, deviate: float) -> tuple[Floats, Floats]:
    """Limits of the change of a rate among so many people, by Tango's score method.

    With b people lifted and c dropped of n the change is (b − c)/n and the variance [(b + c) − (b − c)²/n]/n²; from
    these two the numbers are found again. Without a flip in 50 people:

    >>> [round(float(end[0]), 3) for end in limits(np.zeros(1), np.zeros(1), np.array([50.0]), 1.96)]
    [-0.071, 0.071]
    """
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        # Where a person moves the rate by less than 1/n, as half an accuracy does, more people would move it as much.
        finest = np.where(variance > 0, (np.abs(change) - change**2) / variance, 0.0)
    n = np.fmax(np.asarray(sizes, dtype=np.float64), np.where(np.asarray(sizes) > 0, finest, 0.0))
    there = (n > 0) & np.isfinite(change) & np.isfinite(variance)
    n, change, variance = (np.where(there, part, 0.0) for part in (n, change, variance))
    flips = np.clip(n**2 * variance + n * change**2, n * np.abs(change), n)
    up, down = (flips + n * change) / 2, (flips - n * change) / 2
    low, high = score_limits(up, down, n, deviate, deviate)
    # Of few flips the score test is bolder than the exact one, with which the limits are to agree.
    unsure = (flips < _FEW_FLIPS) & (paired.mcnemar(np.rint(up), np.rint(down)) > 2 * float(ndtr(-deviate)))
    return np.where(unsure, np.minimum(low, 0.0), low), np.where(unsure, np.maximum(high, 0.0), high)


def mcnemar(up: int, down: int) -> Test:
    """Were as many people lifted as were dropped? The exact test, with the smaller of the two numbers.

    >>> mcnemar(9, 1).p_value
    0.021484375
    """
    note = "" if up + down else "no decision changed"
    return Test("McNemar (exact)", float(min(up, down)), float(paired.mcnemar(up, down)), note=note)
