"""The robust outcome test (Gaebler and Goel 2025): who is selected less often and turns out positive more often.

A gap between two groups is weighted over strata as by Mantel and Haenszel, n₁n₂/(n₁+n₂). Its lower limit joins the
beta limits of all rates as the sides of a triangle, as for every gap between rates here, and its p-value is the tail at
which that limit reaches 0: limit and p-value always agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.inference import critical, multiplicity
from evenhand.inference.spread import PLAIN, Proportions

_DEVIATES = np.concatenate([np.arange(0, 6, 0.1), np.arange(6, 10, 0.25), np.arange(10, 38)])


@dataclass(frozen=True)
class Rates:
    """k of n in each stratum and group, [strata, groups]; weights as the people they are worth.

    `mass` is the sum of the weights, by which strata count; n where there are none.
    """

    k: Floats
    n: Floats
    mass: Floats | None = None


@dataclass(frozen=True)
class OutcomeTest:
    """Of each ordered pair of groups, [groups, groups]: is the first disfavoured against the second? NaN for no pair.

    `selection` is how much less often the first is selected, `outcome` how much more often its selected turn out
    positive, `low` the lower limit of the smaller of the two, which holds for all pairs together; `p` is the larger of
    the two one-sided p-values, `adjusted` the same after Holm over all pairs.
    """

    selection: Floats
    outcome: Floats
    low: Floats
    p: Floats
    adjusted: Floats


def outcome_test(selected: Rates, positive: Rates, confidence: float) -> OutcomeTest:
    """The test for every ordered pair of groups.

    >>> selected = Rates(np.array([[2500.0, 1000.0]]), np.array([[5000.0, 5000.0]]))
    >>> positive = Rates(np.array([[2250.0, 950.0]]), np.array([[2500.0, 1000.0]]))
    >>> outcome_test(selected, positive, 0.95).adjusted.round(4).tolist()
    [[nan, 1.0], [0.0, nan]]
    """
    gaps = _Gap(selected), _Gap(positive)
    selection, outcome = gaps[0].values.T, gaps[1].values
    tested = ~np.isnan(selection) & ~np.isnan(outcome)
    count = int(tested.sum())
    nothing = np.where(tested, selection, np.nan)
    if not count:
        return OutcomeTest(nothing, nothing, nothing, nothing, nothing)

    def lower(deviate: float) -> Floats:
        return np.fmin(gaps[0].lower(deviate).T, gaps[1].lower(deviate))

    level = critical.upper((1 - confidence) / count)
    p = np.where(tested, _tails(lower, level), np.nan)
    adjusted = multiplicity.holm(p.reshape(-1)).reshape(p.shape)
    outcome = np.where(tested, outcome, np.nan)
    return OutcomeTest(nothing, outcome, np.where(tested, lower(level), np.nan), p, adjusted)


class _Gap:
    """First less second of every two groups, [groups, groups], over the strata in which both have people."""

    def __init__(self, rates: Rates) -> None:
        self.shape = rates.n.shape
        self.spread = Proportions(rates.k.reshape(-1), rates.n.reshape(-1), PLAIN)
        mass = rates.n if rates.mass is None else rates.mass
        mine, theirs = mass[:, :, None], mass[:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where((mine > 0) & (theirs > 0), mine * theirs / (mine + theirs), 0.0)
            self.weights = weights / weights.sum(axis=0)
        self.weights[:, np.arange(self.shape[1]), np.arange(self.shape[1])] = np.nan
        rate = np.nan_to_num(self.spread.values.reshape(self.shape))
        self.values: Floats = (self.weights * (rate[:, :, None] - rate[:, None, :])).sum(axis=0)

    def lower(self, deviate: float) -> Floats:
        """Lower limits at a normal deviate."""
        low, high = (end.reshape(self.shape) for end in self.spread.limits(deviate, 0.0))
        rate = self.spread.values.reshape(self.shape)
        down, up = (np.nan_to_num(part) for part in (rate - low, high - rate))
        squares = self.weights**2 * (down[:, :, None] ** 2 + up[:, None, :] ** 2)
        return np.asarray(self.values - np.sqrt(squares.sum(axis=0)))


def _tails(lower: Callable[[float], Floats], level: float) -> Floats:
    """The tail of the deviate at which each lower limit reaches 0; 1 where it is below 0 from the start.

    `level` is among the deviates, so that a tail is below that of the level exactly where the limit there is above 0.
    """
    from scipy.special import ndtr

    deviates = np.unique(np.append(_DEVIATES, level))
    before = lower(float(deviates[0]))
    reached = np.where(before > 0, np.inf, -np.inf)
    for near, far in itertools.pairwise(deviates.tolist()):
        if not np.isposinf(reached).any():
            break
        after = lower(far)
        crossed = np.isposinf(reached) & ~(after > 0)
        reached[crossed] = (near + (far - near) * before / np.where(crossed, before - after, 1.0))[crossed]
        before = after
    return np.where(np.isneginf(reached), 1.0, ndtr(-np.minimum(reached, deviates[-1])))
