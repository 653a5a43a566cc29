"""Limits of each group, and how those of two groups combine to ends of their difference and of their ratio.

The margins of two groups combine as the sides of a triangle, where nothing says that they have more in common.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.inference import critical
from evenhand.inference.clustered import together_of
from evenhand.inference.replica_spread import Shared, apart
from evenhand.inference.spread import BiasedUpwards, Bounded, Relative, Skewed, Spread

NEAR, FAR = 0.0, 0.25  # offsets of the beta limits, as measured in benchmarks/coverage.py
FARTHEST_DEVIATE = 37.0  # where the tail of a normal variable is about the smallest number there is


def sides(spread: Spread | Bounded) -> tuple[Spread, Spread]:
    """The spread at the lower and at the upper bound; twice the same where the value itself is known."""
    return (spread.low, spread.high) if isinstance(spread, Bounded) else (spread, spread)


class Limits:
    """How far limits lie from the value, up and down, plain and on logarithms.

    `bias` is how far noise alone may have lifted the value, which errors of other groups cannot cancel: it is added,
    while `down` and `up` combine as the sides of a triangle. `least` is what no true value can be below. `moves` is
    what the groups may have in common, [groups, replicas]; `log_moves` the same on logarithms. `common` is the
    correlation with those that the limits are set against: at −1 the margins of the two are added.
    """

    def __init__(self, spread: Spread, deviate: float, offset: float, chosen: Indices) -> None:
        low, high = (end[chosen] for end in spread.limits(deviate, offset))
        self.values = values = spread.values[chosen]
        self.centre = spread.centre[chosen]
        self.bias, self.least = np.zeros(len(values)), -np.inf
        self.moves: Floats | None = None
        self.log_moves: Floats | None = None
        self.common: Floats | float = 0.0
        if isinstance(spread, Shared):
            down, up = spread.of_people(deviate, offset)
            low, high, self.moves = values - down[chosen], values + up[chosen], spread.of_replicas(deviate)[chosen]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            self.down, self.up = values - low, high - values
            if self.moves is not None:
                self.log_moves = self.moves / self.centre[:, None]
            if isinstance(spread, BiasedUpwards):
                self.bias, self.down, self.least = spread.bias[chosen], spread.below(deviate)[chosen], 0.0
            # A limit below 0 leaves the ratio without an end on that side: 0 or infinity, never the estimate itself.
            self.log_down = np.log(self.centre) - np.log(np.maximum(np.minimum(low, self.centre), 0.0))
            self.log_up = np.log(np.maximum(high, self.centre)) - np.log(self.centre)
        if isinstance(spread, Relative):
            self.log_down, self.log_up = (end[chosen] for end in spread.log_reach(deviate, offset))

    def column(self) -> Self:
        """The same limits with a trailing axis, so that broadcasting against another `Limits` compares all pairs."""
        turned = object.__new__(type(self))
        turned.__dict__ = {
            name: part[:, None] if isinstance(part, np.ndarray) and name != "common" else part
            for name, part in vars(self).items()
        }
        return turned


class Leaning(Limits):
    """Limits of skewed means, and how much farther they lie on the side of the long tail; far ends reach as far.

    A far end at `deviate` has what the near end leaves of the error probability: with two groups half of it, with many
    next to all. What it has less than all makes up for the skewness of moderated means, which limits at the one-sided
    confidence allow for in full.
    """

    def __init__(self, spread: Skewed, deviate: float, confidence: float, chosen: Indices) -> None:
        deviate = critical.upper(1 - confidence) if spread.moderated else deviate
        super().__init__(spread, deviate, FAR, chosen)
        self.lean, self.worth = spread.lean(deviate)[chosen], np.nan_to_num(spread.worth[chosen])


def both_limits(spread: Spread | Bounded, deviate: float, offset: float, chosen: Indices) -> tuple[Limits, Limits]:
    """The limits at the lower and at the upper bound; the same ones where the value itself is known."""
    low = Limits(sides(spread)[0], deviate, offset, chosen)
    return low, Limits(spread.high, deviate, offset, chosen) if isinstance(spread, Bounded) else low


def lower(mine: Limits, theirs: Limits) -> Floats:
    """The lower end of mine − theirs."""
    reach = _reach(mine.down, theirs.up, mine.moves, theirs.moves, mine.common)
    end = mine.values - mine.bias - theirs.values - reach
    return np.asarray(np.maximum(end, mine.least - (theirs.values + theirs.up)))


def upper(mine: Limits, theirs: Limits) -> Floats:
    reach = _reach(mine.up, theirs.down, mine.moves, theirs.moves, mine.common)
    end = mine.values - (theirs.values - theirs.bias) + reach
    return np.asarray(np.minimum(end, mine.values + mine.up - theirs.least))


def log_lower(mine: Limits, theirs: Limits) -> Floats:
    """How far below its estimate the logarithm of mine / theirs may be."""
    return _reach(mine.log_down, theirs.log_up, mine.log_moves, theirs.log_moves, mine.common)


def log_upper(mine: Limits, theirs: Limits) -> Floats:
    return _reach(mine.log_up, theirs.log_down, mine.log_moves, theirs.log_moves, mine.common)


def _reach(
    mine: Floats, theirs: Floats, moves: Floats | None, their_moves: Floats | None, common: Floats | float
) -> Floats:
    """√(a² + b² − 2ρab) of two margins with correlation ρ; plus the replica noise that the two groups do not share."""
    alone = joined(mine, theirs, common)
    return alone if moves is None or their_moves is None else np.hypot(alone, apart(moves, their_moves))


def joined(mine: Floats, theirs: Floats, common: Floats | float) -> Floats:
    """√(a² + b² − 2ρab) of two margins with correlation ρ."""
    if isinstance(common, float) and common == 0:
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.sqrt(mine * mine + theirs * theirs)  # many times as fast as hypot
        return np.asarray(found if np.isfinite(found).all() else np.hypot(mine, theirs))
    with np.errstate(invalid="ignore", over="ignore"):  # of infinite margins, or nearly so
        squares = (mine - theirs) ** 2 + 2 * (1 - common) * mine * theirs
        plain = np.where(np.isinf(squares), mine + theirs, np.sqrt(np.maximum(squares, 0.0)))
    return np.where(np.isnan(squares), np.hypot(mine, theirs), plain)


def ratio_near(mine: Limits, theirs: Limits) -> Floats:
    """Upper near ends of mine / theirs, on logarithms, which contain the estimate; 0 / 0 may be anything."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        high = np.exp(np.log(mine.centre) - np.log(theirs.centre) + log_upper(mine, theirs))
        estimates = mine.values / theirs.values
    nothing = (mine.values == 0) & (theirs.values == 0)
    return np.where(nothing, np.inf, np.maximum(high, estimates))


def ratio_far(mine: Limits, theirs: Limits) -> Floats:
    """Lower far ends of the same."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low = np.exp(np.log(mine.centre) - np.log(theirs.centre) - log_lower(mine, theirs))
        estimates = mine.values / theirs.values
    nothing = (mine.values == 0) & (theirs.values == 0)
    return np.where(nothing, 0.0, np.minimum(low, estimates))


def ratio_end(mine: Limits, theirs: Limits, side: int) -> Floats:
    """The lower (−1) or upper (1) end of mine / theirs, which contains the estimate."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = log_lower(mine, theirs) if side < 0 else log_upper(mine, theirs)
        end = np.exp(np.log(mine.centre) - np.log(theirs.centre) + side * reach)
        ratio = mine.values / theirs.values
    return np.where(np.isnan(end), np.nan, (np.fmin if side < 0 else np.fmax)(end, ratio))


def lean(mine: Leaning, theirs: Leaning) -> Floats:
    """How much farther up mine − theirs may lie because values are skewed; the tails of like groups cancel."""
    return _joint_lean(mine, theirs, mine.lean, theirs.lean)


def log_lean(mine: Leaning, theirs: Leaning) -> Floats:
    """The same of the logarithm of mine / theirs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        leans = [np.where(each.values > 0, each.lean / each.values, 0.0) for each in (mine, theirs)]
    return np.minimum(_joint_lean(mine, theirs, leans[0], leans[1]), FARTHEST_DEVIATE)


def _joint_lean(mine: Leaning, theirs: Leaning, my_lean: Floats, their_lean: Floats) -> Floats:
    """By the third moment of the difference, as if people varied alike in both: variances of few tell little."""
    people = mine.worth + theirs.worth
    with np.errstate(divide="ignore", invalid="ignore"):
        lean = (theirs.worth * my_lean - mine.worth * their_lean) / people
    return np.where(people > 0, np.maximum(lean, 0.0), 0.0)


def correlation(spread: Spread | Bounded, chosen: Indices, others: Indices | None = None) -> Floats | float:
    """The correlation of the errors of every two groups, [groups, groups or others]; 0 of strangers.

    Where only bounds are known, a group at one bound may have anything to do with another at the other.
    """
    together = together_of(sides(spread)[0])
    if together is None:
        return 0.0
    found = together.correlations[np.ix_(chosen, chosen if others is None else others)]
    return -np.ceil(np.abs(np.round(found, 6))) if isinstance(spread, Bounded) else found


def correlation_with_base(spread: Spread | Bounded, base: Spread | Bounded) -> Floats | float:
    """The same of each group and its baseline, [groups]."""
    mine, theirs = together_of(sides(spread)[0]), together_of(sides(base)[0])
    if mine is None or theirs is None:
        return 0.0
    if theirs.own is None:
        return -1.0
    found = mine.with_base(theirs)
    return -np.ceil(np.abs(np.round(found, 6))) if isinstance(spread, Bounded) else found
