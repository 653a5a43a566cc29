"""Means: the mean of each group, with limits that hold for one person, for values that all agree, and under skew.

The variance of a small group is hardly known: of one person it is not known at all, and where a rare large value is
missing from the sample it is far too small. So it is moderated (Smyth 2004): the group counts as if it had some more
people, who vary as those of the other groups do, or as its own where these vary more. Two things make that hold under
skew. A group whose values are larger varies more, so the variance of the others grows with the mean. And where values
vary much for their mean in the other groups, as those with long tails do, the group's own variance tells little, and
counts for fewer people. What the skewness itself moves is in `lean`, and far ends allow for it. Limits stay within the
range, and none has width 0: where nobody in a group differs, they are those of a share of as many people on the range
of the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.inference.spread import Relative, Skewed

# As measured in benchmarks/coverage_scores.py.
_MODERATION = 20.0  # so many people of the other groups count with each group
_MODERATION_OF_FEW, _FEW = 3.0, 3.0  # with a group of fewer than three
_PULL = 0.3  # how far a variance above that of the others is drawn to it, where that is known to grow with the mean
_SQUARED_NORMAL = 2.0  # variance over squared mean of the square of a normal error: tails that a chi-square has
_ROOT = 4  # the upper limit of mean squares is symmetric to the value on this root
_MOST_SKEWED, _MOST_OF_SIGNED = 0.4, 1.0  # skewness/√n of a mean; beyond it no expansion tells its quantiles
_OF_AMOUNTS = 2.0  # skewness over deviation / mean, of a gamma law

SIGNED, SCORES, AMOUNTS = 0.0, 1.0, 1.75
"""How the variance grows with the mean: not at all, as that of a share, nearly as that of a scale."""
_JEFFREYS = 0.5
_HUGE = 1e7  # people from which on beta quantiles are slow, and a share is known well enough


@dataclass(frozen=True, eq=False, repr=False)
class Means(Skewed):
    """The mean of each group; arrays are [..., groups], and `low` and `high` are the range of what is averaged.

    `own` is the variance between people within each group, or of their influence on a value that is not a mean;
    `others` is that within all other groups, as it would be at the group's mean, NaN where none of these has two
    people. `trust` is what share of its people the group's own variance counts for. `skewness` is that of what is
    averaged. `shrunk` is by how much the variance of the others falls, for ratios, with the mean of a group that lies
    below theirs. `sizes` counts people, `worth` how many people their weights are worth (Kish), `backing` the degrees
    of freedom of `others`. `growth` is one of SIGNED, SCORES and AMOUNTS.
    """

    values: Floats
    own: Floats
    others: Floats
    trust: Floats
    skewness: Floats
    shrunk: Floats
    sizes: Floats
    worth: Floats
    backing: Floats
    low: float
    high: float
    growth: float = SIGNED
    squares: bool = False
    """Are squares averaged?"""

    @classmethod
    def of(
        cls,
        values: Floats,
        own: Floats,
        sizes: Floats,
        worth: Floats,
        span: tuple[float, float],
        *,
        growth: float = SIGNED,
        squares: bool = False,
        cubes: Floats | None = None,
    ) -> Means:
        """The means of groups with these variances within, each moderated by those of the others.

        `cubes` are the third central moments within the groups. Without them amounts and scores are taken to be as
        skewed as laws that vary as much, and other values not to be skewed.
        """
        free = np.where(np.isfinite(own), np.maximum(worth - 1, 0.0), 0.0)
        known = np.where(free > 0, own, 0.0)
        others, trust = _divide(_of_others(free * known), _of_others(free)), np.ones(values.shape)
        shrunk = np.ones(values.shape)
        skewness = np.zeros(values.shape) if cubes is None else _skewness(cubes, known, others, free)
        if growth and span[0] > -np.inf:
            there = np.where(np.isfinite(values), worth, 0.0)
            mean = _divide(_of_others(there * np.where(there > 0, values, 0.0)), _of_others(there))
            # Scores have two ends: rare ones may be missing at the one that is farther away.
            mine, theirs = values - span[0], mean - span[0]
            if growth == SCORES:
                mine, theirs = np.minimum(mine, span[1] - values), np.minimum(theirs, span[1] - mean)
            tails = np.maximum(np.nan_to_num(_divide(others, theirs**2)) - _SQUARED_NORMAL * squares, 0.0)
            trust = 1 / (1 + (tails + tails**2) / 2)
            if cubes is None and not squares:
                # That of scores changes its sign in the middle of the range.
                width = max(span[1] - span[0], np.finfo(np.float64).tiny)
                side = _OF_AMOUNTS if growth == AMOUNTS else 1 - 2 * (mean - span[0]) / width
                skewness = np.nan_to_num(side * np.sqrt(_divide(others, theirs**2)))
            scale = _divide(mine, theirs)
            others = others * np.fmax(scale, 1.0) ** growth
            # Where the own variance tells little, that of the others would be far too large for a group below them.
            shrunk = np.fmin(scale, 1.0) ** (1 - trust) if squares else shrunk
        backing = _of_others(free)
        return cls(values, known, others, trust, skewness, shrunk, sizes, worth, backing, *span, growth, squares)

    def at(self, place: int) -> Means:
        """The means at one place of the last axis."""
        names = ("values", "own", "others", "trust", "skewness", "shrunk", "sizes", "worth", "backing")
        return replace(self, **{name: getattr(self, name)[..., place] for name in names})

    def known_from(self, least: float) -> Means:
        """The same, where nothing is known of groups that are worth fewer people than these."""
        few = self.worth < least
        worth, others = np.where(few, np.minimum(self.worth, 1.0), self.worth), np.where(few, np.nan, self.others)
        return replace(self, worth=worth, others=others)

    @property
    def centre(self) -> Floats:
        """The value; at 0, where values have no logarithm, the median of a share of as many people."""
        from scipy.special import betaincinv

        if self.low != 0 or not self.high < np.inf:
            return self.values
        inside = self.high * betaincinv(_JEFFREYS, np.maximum(self.worth, 0.0) + _JEFFREYS, 0.5)
        return np.where(self.values == 0, inside, self.values)

    @cached_property
    def freedom(self) -> Floats:
        """Degrees of freedom of the moderated variance; 0 where nothing is known of it."""
        return np.asarray(np.maximum(self.worth - 1, 0.0) + self._added)

    @property
    def _added(self) -> Floats:
        # Two groups of five are not known as well as if each had twenty more people.
        most = np.where(self.worth < _FEW, _MODERATION_OF_FEW, _MODERATION)
        return np.where(np.isnan(self.others), 0.0, np.minimum(most, self.backing))

    @cached_property
    def variance(self) -> Floats:
        """The moderated variance between people."""
        return self._moderated(self.others)

    def _moderated(self, others: Floats) -> Floats:
        free, others = self.trust * np.maximum(self.worth - 1, 0.0), np.nan_to_num(others)
        pull = _PULL if self.growth else 0.0
        like = np.maximum(others, self.own - pull * np.maximum(self.own - others, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((free * self.own + self._added * like) / (free + self._added))

    @cached_property
    def errors(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(self.variance / self.worth))

    def lean(self, deviate: float) -> Floats:
        most = _MOST_SKEWED if self.growth else _MOST_OF_SIGNED
        with np.errstate(divide="ignore", invalid="ignore"):
            of_mean = np.clip(self.skewness / np.sqrt(self.worth), -most, most)
            lean = (2 * deviate**2 + 1) / 6 * of_mean * self.errors
        return np.where(np.isfinite(lean), lean, 0.0)

    @property
    def moderated(self) -> bool:
        return self.growth > 0

    @property
    def span(self) -> float:
        """The largest difference that is possible."""
        return self.high - self.low

    def scaled(self, multiplier: float, places: Sequence[int]) -> Means:
        chosen = list(places)
        values, own, others, trust = (part[..., chosen] for part in (self.values, self.own, self.others, self.trust))
        sizes, worth, backing = (part[..., chosen] * multiplier for part in (self.sizes, self.worth, self.backing))
        less = replace(self, values=values, own=own, others=others, trust=trust, sizes=sizes, worth=worth)
        return replace(less, backing=backing, skewness=self.skewness[..., chosen], shrunk=self.shrunk[..., chosen])

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:  # noqa: ARG002 - the beta is Jeffreys'
        """The range itself where no group tells how much people vary; NaN where there is none either."""
        reach, known = self._student(deviate), self._known
        low, high = self._share(deviate) if self.low > -np.inf else self._below(deviate)
        low = np.where(known, np.maximum(np.fmin(self.values - reach, low), self.low), self.low)
        high = np.where(known, np.minimum(np.fmax(self.values + self._upwards(reach), high), self.high), self.high)
        return np.where(self._bounded, low, np.nan), np.where(self._bounded, high, np.nan)

    def _upwards(self, reach: Floats) -> Floats:
        """How far limits lie above their values: farther where squares are averaged, whose means are skewed."""
        if not self.squares:
            return reach
        with np.errstate(divide="ignore", invalid="ignore"):
            farther = self.values * ((1 + reach / self.values / _ROOT) ** _ROOT - 1)
        return np.where(self.values > 0, farther, reach)

    def log_reach(self, deviate: float, offset: float) -> tuple[Floats, Floats]:  # noqa: ARG002 - as for limits
        low, high = self._share(deviate)
        centre, known, few = self.centre, self._known, self.worth < _FEW
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            narrower = np.sqrt(self._moderated(self.others * self.shrunk) / self.variance) if self.squares else 1.0
            reach = np.where(self.values > 0, self._student(deviate) * narrower / self.values, 0.0)
            # Of one or two people a large value may be an exception: then the plain limit, at worst 0, is the wider.
            plain = np.where(few, np.where(reach < 1, -np.log1p(-np.fmin(reach, 1.0)), np.inf), reach)
            down = np.fmax(plain, np.log(centre / np.where(self.values > 0, low, 0.0)))
            top = np.where(self.values > 0, high, np.fmax(high, self._student(deviate)))
            up = np.fmax(reach, np.log(top / centre))
            least, most = np.log(centre / max(self.low, 0.0)), np.log(self.high / centre)
        down, up = (np.fmin(np.where(known, end, np.inf), last) for end, last in ((down, least), (up, most)))
        return np.where(self._bounded, down, np.nan), np.where(self._bounded, up, np.nan)

    @property
    def _known(self) -> Bools:
        """Whether people vary, or a range says how far they could if they do not."""
        return (self.freedom > 0) & ((self.errors > 0) | (0 < self.span < np.inf))

    @property
    def _bounded(self) -> Bools:
        """Whether anything bounds a value: what is known of people, or an end of the range."""
        end = self.span > 0 and (self.low > -np.inf or self.high < np.inf)
        return (self._known | end) & ~np.isnan(self.values)

    def _student(self, deviate: float) -> Floats:
        from scipy.special import ndtr, stdtrit

        return np.asarray(-stdtrit(np.maximum(self.freedom, 1.0), ndtr(-deviate)) * self.errors)

    def _below(self, deviate: float) -> tuple[Floats, Floats]:
        """Limits of values that only have an upper end, such as R²: their distance from it is taken on logarithms."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            away = self.high - self.values
            low = np.where(away > 0, self.high - away * np.exp(np.fmin(self._student(deviate) / away, 50.0)), np.nan)
        return low, self.values

    def _share(self, deviate: float) -> tuple[Floats, Floats]:
        """Limits of groups in which nobody differs: those of a share of as many people; NaN elsewhere.

        Values within a range vary no more than those at its two ends. Where the range is only what was seen, what is
        known of the others is used if they vary.
        """
        from scipy.special import betainccinv, betaincinv, ndtr, stdtrit

        low, high = np.full(self.values.shape, np.nan), np.full(self.values.shape, np.nan)
        unknown = (self.errors == 0) | np.isnan(self.errors)
        alike = (self.own == 0) & (unknown | ((self.growth == SCORES) & (self.worth > 1)))
        if 0 < self.span < np.inf and alike.any():
            values, people = self.values[alike], np.minimum(self.worth[alike], _HUGE)
            tail = ndtr(stdtrit(np.maximum(self.freedom[alike], 1.0), ndtr(-deviate)))
            share = np.clip((values - self.low) / self.span, 0.0, 1.0)
            k, rest = share * people, (1 - share) * people
            least = np.where(k > 0, betaincinv(k + _JEFFREYS, rest + _JEFFREYS, tail), 0.0)
            most = np.where(rest > 0, betainccinv(k + _JEFFREYS, rest + _JEFFREYS, tail), 1.0)
            low[alike], high[alike] = (
                self.low + self.span * end for end in (np.fmin(least, share), np.fmax(most, share))
            )
        return low, high


@dataclass(frozen=True, eq=False, repr=False)
class Roots(Relative):
    """The root of each mean, such as a root mean squared error: its limits are the roots of the mean's."""

    squared: Means

    @property
    def values(self) -> Floats:
        return np.asarray(np.sqrt(self.squared.values))

    @property
    def centre(self) -> Floats:
        return np.asarray(np.sqrt(self.squared.centre))

    @property
    def sizes(self) -> Floats:
        return self.squared.sizes

    @property
    def errors(self) -> Floats:
        """By the delta method; at 0 the root of the error, because nothing smaller is known."""
        errors, root = self.squared.errors, self.values
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(root > 0, np.fmin(errors / (2 * root), np.sqrt(errors)), np.sqrt(errors))

    @property
    def span(self) -> float:
        return float(np.sqrt(self.squared.high))

    def scaled(self, multiplier: float, places: Sequence[int]) -> Roots:
        return Roots(self.squared.scaled(multiplier, places))

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        low, high = self.squared.limits(deviate, offset)
        return np.sqrt(low), np.sqrt(high)

    def log_reach(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        down, up = self.squared.log_reach(deviate, offset)
        return down / 2, up / 2


def _divide(top: Floats, bottom: Floats) -> Floats:
    return np.asarray(np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0))


def _skewness(cubes: Floats, own: Floats, others: Floats, free: Floats) -> Floats:
    """The skewness within each group or within all others, whichever is larger: a small group does not show its own."""
    cubes = np.where(free > 0, cubes, 0.0)
    of_others = _divide(_of_others(free * cubes), _of_others(free))
    mine, theirs = (np.nan_to_num(_divide(cube, square**1.5)) for cube, square in ((cubes, own), (of_others, others)))
    return np.where(np.abs(mine) > np.abs(theirs), mine, theirs)


def _of_others(part: Floats) -> Floats:
    """The sum over all other groups, added up: subtracted, a light group beside a heavy one would lose its digits."""
    none = np.zeros((*part.shape[:-1], 1))
    before = np.concatenate([none, np.cumsum(part[..., :-1], axis=-1)], axis=-1)
    after = np.concatenate([np.cumsum(part[..., :0:-1], axis=-1)[..., ::-1], none], axis=-1)
    return np.asarray(before + after)
