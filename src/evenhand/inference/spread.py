"""Spread: the values of one measure for all groups, and how far each may be from the truth.

Most measures are a rising function of a proportion k/n: a rate is the proportion itself, F1 = 2J/(1 + J), FN/FP is
its odds. Their limits come from the beta distribution, which stays honest at k = 0 and in small groups. Anything
else brings a standard error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from evenhand.core.arrays import Floats

_HUGE = 1e7
_FEW = 5.0
_COARSE = 1.5  # standard errors on the logit scale, from which on the logit is not nearly normal


class Spread(Protocol):
    """What intervals need to know: values, limits at a normal deviate, a centre for ratios."""

    @property
    def values(self) -> Floats: ...

    @property
    def centre(self) -> Floats:
        """The value moved inside its range, so that logarithms exist."""
        ...

    @property
    def sizes(self) -> Floats:
        """How many people each value rests on."""
        ...

    @property
    def deviations(self) -> Floats:
        """Standard errors, if all groups shared one rate."""
        ...

    @property
    def variances(self) -> Floats:
        """The sampling variance of each value, at its own rate."""
        ...

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        """Some of the groups, as they would be with `multiplier` times as many people."""
        ...

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        """Lower and upper limits; `offset` 0 is Clopper-Pearson, ½ is Jeffreys."""
        ...


class BiasedUpwards(ABC):
    """A size that noise alone makes positive: a sum or the largest of deviations. It cannot be below 0."""

    @property
    @abstractmethod
    def bias(self) -> Floats:
        """Median upward bias of the value when the true value is 0."""

    @abstractmethod
    def below(self, deviate: float) -> Floats:
        """How far a value may be lifted beyond `bias`, at a normal deviate."""


class Relative(ABC):
    """Values whose logarithm has limits of its own: a ratio has both ends also where a plain limit reaches 0."""

    @property
    @abstractmethod
    def span(self) -> float:
        """The largest difference between two values that is possible."""

    @property
    @abstractmethod
    def errors(self) -> Floats:
        """The standard error of each value."""

    @property
    def deviations(self) -> Floats:
        return self.errors

    @property
    def variances(self) -> Floats:
        return np.asarray(self.errors**2)

    @abstractmethod
    def log_reach(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        """How far the logarithm of each value may be off, down and up."""


class Skewed(Relative):
    """Means of values that may have a long tail on one side; `worth` is how many people the weights are worth."""

    values: Floats
    sizes: Floats
    worth: Floats

    @property
    @abstractmethod
    def centre(self) -> Floats: ...

    @abstractmethod
    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread: ...

    @abstractmethod
    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]: ...

    @property
    @abstractmethod
    def moderated(self) -> bool:
        """Do the errors of a group that has not met the tail come mostly from groups that have?"""

    @abstractmethod
    def lean(self, deviate: float) -> Floats:
        """How much farther a one-sided limit lies on the side of the long tail: upwards, below 0 downwards.

        By the first term of the expansion of a studentised mean (Johnson 1978, Hall 1992). `limits` leave it out.
        """


@dataclass(frozen=True, eq=False, repr=False)
class Form:
    """A measure as a function of a proportion θ = top / (top + rest): αθ / (γθ + β(1−θ)).

    `top` and `rest` say with 0 and 1 which cells are counted. It rises with θ, so limits of θ are limits of it.
    """

    top: Floats
    rest: Floats
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0

    def measure(self, theta: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.alpha * theta / (self.gamma * theta + self.beta * (1 - theta)))

    @property
    def plain(self) -> bool:
        """Is the measure the proportion itself?"""
        return self.alpha == self.beta == self.gamma

    def slope(self, theta: Floats) -> Floats:
        """How fast the measure rises with θ."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.alpha * self.beta / (self.gamma * theta + self.beta * (1 - theta)) ** 2)


PLAIN = Form(np.zeros(0), np.zeros(0))
"""The proportion itself; which cells it counts is known elsewhere."""


@dataclass(frozen=True, eq=False, repr=False)
class Proportions:
    """k of n in each group (not whole for weights), under a rising function αθ / (γθ + β(1−θ))."""

    k: Floats
    n: Floats
    form: Form

    @cached_property
    def theta(self) -> Floats:
        return _divide(self.k, self.n)

    @cached_property
    def values(self) -> Floats:
        return self._measure(self.theta)

    @cached_property
    def centre(self) -> Floats:
        """The value; where its logarithm is infinite, or it has none, the measure of Jeffreys' median.

        That median everywhere would be a bias at k = n, which intervals of ratios would take for noise: four-fifths
        with a true ratio of .8 and 30 people who are all selected passed in 22 % of samples.
        """
        from scipy.special import betaincinv

        inside = (self.values > 0) & np.isfinite(self.values)
        if inside.all():
            return self.values
        n = np.maximum(self.n, 0)
        return np.where(inside, self.values, self._measure(betaincinv(self.k + 0.5, n - self.k + 0.5, 0.5)))

    @property
    def sizes(self) -> Floats:
        return self.n

    @cached_property
    def deviations(self) -> Floats:
        total = self.n.sum()
        pooled = np.array(self.k.sum() / total if total else 0.5)
        with np.errstate(invalid="ignore"):  # as below
            return np.asarray(self.form.slope(pooled) * np.sqrt(pooled * (1 - pooled) * _divide(1.0, self.n)))

    @cached_property
    def variances(self) -> Floats:
        theta = self.theta
        with np.errstate(invalid="ignore"):  # an infinite slope where the measure itself is infinite
            spread = np.maximum(theta * (1 - theta), 0.0)  # weights may add up to a rate a hair above 1
            return np.asarray(self.form.slope(theta) ** 2 * spread / np.maximum(self.n - 1, 1))

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        return Proportions(self.k[list(places)] * multiplier, self.n[list(places)] * multiplier, self.form)

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        """As for every spread; computed once for each deviate and offset, as several metrics ask for the same."""
        if (deviate, offset) not in self._limits:
            self._limits[deviate, offset] = self.lower(deviate, offset), self.upper(deviate, offset)
        return self._limits[deviate, offset]

    @cached_property
    def _limits(self) -> dict[tuple[float, float], tuple[Floats, Floats]]:
        return {}

    def lower(self, deviate: float, offset: float) -> Floats:
        """The lower limits alone."""
        from scipy.special import betaincinv, ndtr

        k, rest = self.k, self.n - self.k
        with np.errstate(invalid="ignore"):
            low = betaincinv(np.where(k > 0, k, 1) + offset, rest + 1 - offset, float(ndtr(-deviate)))
        low = self._near_score(np.where(k > 0, low, 0.0), -deviate)
        # At an end with an offset the estimate itself may lie outside by a hair.
        return self._measure(np.fmin(low, self.theta))

    def upper(self, deviate: float, offset: float) -> Floats:
        """The upper limits alone."""
        from scipy.special import betainccinv, ndtr

        k, rest = self.k, self.n - self.k
        with np.errstate(invalid="ignore"):
            high = betainccinv(k + 1 - offset, np.where(rest > 0, rest, 1) + offset, float(ndtr(-deviate)))
        high = self._near_score(np.where(rest > 0, high, 1.0), deviate)
        return self._measure(np.fmax(high, self.theta))

    def _near_score(self, ends: Floats, z: float) -> Floats:
        """Limits at a normal deviate; where both counts are huge the beta quantile is slow, in older scipy NaN, and a
        score interval the same."""
        huge = (self.k > _HUGE) & (self.n - self.k > _HUGE)
        if not huge.any():
            return ends
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = self.theta + z**2 / (2 * self.n)
            reach = z * np.sqrt(self.theta * (1 - self.theta) / self.n + (z / (2 * self.n)) ** 2)
            return np.where(huge, (middle + reach) / (1 + z**2 / self.n), ends)

    def _measure(self, theta: Floats) -> Floats:
        return theta if self.form.plain else self.form.measure(theta)


@dataclass(frozen=True, eq=False, repr=False)
class Average:
    """The mean of measures with separate denominators: their limits combine as the sides of a triangle."""

    parts: Sequence[Spread]

    @property
    def values(self) -> Floats:
        return np.asarray(np.mean([part.values for part in self.parts], axis=0))

    @property
    def centre(self) -> Floats:
        return np.asarray(np.mean([part.centre for part in self.parts], axis=0))

    @property
    def sizes(self) -> Floats:
        return np.asarray(np.min([part.sizes for part in self.parts], axis=0))

    @property
    def deviations(self) -> Floats:
        return np.asarray(np.sqrt(np.sum([part.deviations**2 for part in self.parts], axis=0)) / len(self.parts))

    @property
    def variances(self) -> Floats:
        return np.asarray(np.sum([part.variances for part in self.parts], axis=0) / len(self.parts) ** 2)

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        return Average([part.scaled(multiplier, places) for part in self.parts])

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        lows, highs = (
            np.array(ends) for ends in zip(*(part.limits(deviate, offset) for part in self.parts), strict=True)
        )
        each, count, values = np.array([part.values for part in self.parts]), len(self.parts), self.values
        # Odds without a denominator are infinite: then nothing can be squared and added, and the plain mean is wider.
        with np.errstate(invalid="ignore"):
            down, up = (self._joined(reach) / count for reach in (each - lows, highs - each))
            low, high = values - down, values + up
        endless = np.isinf(each).any(axis=0)
        return np.where(endless, lows.mean(axis=0), low), np.where(endless, highs.mean(axis=0), high)

    def _joined(self, reach: Floats) -> Floats:
        """How far the sum may be off, from how far each part may be, [parts, groups]."""
        return np.asarray(np.sqrt((reach**2).sum(axis=0)))


@dataclass(frozen=True, eq=False, repr=False)
class Bounded:
    """A measure of which only bounds are known, with how far each of them may be from the truth.

    `values` are those of the people who are known; a group without one is not compared.
    """

    values: Floats
    low: Spread
    high: Spread


@dataclass(frozen=True, eq=False, repr=False)
class _Measured:
    """Values with standard errors."""

    values: Floats
    errors: Floats

    @property
    def centre(self) -> Floats:
        return self.values

    @property
    def deviations(self) -> Floats:
        return self.errors

    @property
    def variances(self) -> Floats:
        return self.errors**2


@dataclass(frozen=True, eq=False, repr=False)
class Normal(_Measured):
    """Functions of rows, means of scores."""

    sizes: Floats

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        chosen = list(places)
        errors, sizes = self.errors[chosen] / np.sqrt(multiplier), self.sizes[chosen] * multiplier
        return replace(self, values=self.values[chosen], errors=errors, sizes=sizes)

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:  # noqa: ARG002 - a normal has no offset
        """With Student's quantile in place of the deviate, because the errors are estimated from as many people."""
        from scipy.special import ndtr, stdtrit

        # From the lower tail, because the upper one rounds to 1 beyond a deviate of 8.3.
        reach = -stdtrit(np.maximum(self.sizes - 1, 1), ndtr(-deviate)) * self.errors
        return self.values - reach, self.values + reach


@dataclass(frozen=True, eq=False, repr=False)
class Logit(Normal):
    """Values between 0 and 1 whose errors are symmetric on the logit scale, such as an AUC.

    `fewer` are the people of the smaller class, from whom the error is mostly estimated. With fewer than five of them,
    or where the error is large on the logit scale because the value is near 0 or 1, the limits are those of a share of
    so many people: an AUC varies no more (Birnbaum and Klose 1957).
    """

    fewer: Floats

    @property
    def centre(self) -> Floats:
        return np.clip(self.values, 1e-9, 1 - 1e-9)

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        more = super().scaled(multiplier, places)
        assert isinstance(more, Logit)  # noqa: S101 - it replaces fields of this one
        return replace(more, fewer=self.fewer[list(places)] * multiplier)

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        from scipy.special import expit, logit, ndtr, stdtrit

        inside = np.clip(self.values, 1e-6, 1 - 1e-6)
        student = -stdtrit(np.maximum(self.fewer - 1, 1), ndtr(-deviate))
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = self.errors / (inside * (1 - inside))
            low, high = expit(logit(inside) - student * reach), expit(logit(inside) + student * reach)
        coarse = (reach > _COARSE) | (self.fewer < _FEW)
        if coarse.any():
            people = np.nan_to_num(np.maximum(self.fewer[coarse], 0.0))
            positive = np.nan_to_num(self.values[coarse]) * people
            low[coarse], high[coarse] = Proportions(positive, people, PLAIN).limits(deviate, offset)
        there = np.where(np.isnan(self.values), np.nan, 0.0)
        return np.fmin(low, self.values) + there, np.fmax(high, self.values) + there


@dataclass(frozen=True, eq=False, repr=False)
class Errors(_Measured, BiasedUpwards):
    """Sums of absolute deviations, such as a calibration error: noise alone makes them positive.

    The upper limit adds `errors`; the lower takes off what pure noise would make, `noise` on average with `noise_sd`.
    """

    noise: Floats
    noise_sd: Floats
    sizes: Floats

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        chosen, root = list(places), np.sqrt(multiplier)
        errors, noise, noise_sd = (part[chosen] / root for part in (self.errors, self.noise, self.noise_sd))
        return Errors(self.values[chosen], errors, noise, noise_sd, self.sizes[chosen] * multiplier)

    @property
    def bias(self) -> Floats:
        return self.noise

    def below(self, deviate: float) -> Floats:
        return deviate * self.noise_sd

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:  # noqa: ARG002 - as for a normal
        low = np.maximum(self.values - self.bias - self.below(deviate), 0.0)
        return low, self.values + deviate * self.errors


@dataclass(frozen=True, eq=False, repr=False)
class Largest(BiasedUpwards):
    """The largest of several deviations, such as the maximum calibration error; `away`, `errors`: [groups, parts].

    The largest of many is too large: it picks what noise has lifted most. The deviation of the one true largest part
    is at most the upper limit of that part, so the largest upper limit is one, with no allowance for their number. The
    lower one takes off what the largest of the noises would be if all true deviations were 0.
    """

    away: Floats
    errors: Floats
    sizes: Floats

    @cached_property
    def values(self) -> Floats:
        return np.asarray(np.fmax.reduce(self.away, axis=1))

    @property
    def centre(self) -> Floats:
        return self.values

    @property
    def deviations(self) -> Floats:
        return self.below(1.0)

    @property
    def variances(self) -> Floats:
        """That of the part which is largest."""
        largest = np.nan_to_num(self.away, nan=-1.0).argmax(axis=1)
        return np.asarray(np.take_along_axis(self.errors, largest[:, None], axis=1)[:, 0] ** 2)

    @cached_property
    def bias(self) -> Floats:
        return self._largest_noise(0.0)

    def below(self, deviate: float) -> Floats:
        return self._largest_noise(deviate) - self.bias

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        chosen = list(places)
        return Largest(self.away[chosen], self.errors[chosen] / np.sqrt(multiplier), self.sizes[chosen] * multiplier)

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:  # noqa: ARG002 - as for a normal
        low = np.maximum(self.values - self._largest_noise(deviate), 0.0)
        return low, np.fmax.reduce(self.away + deviate * self.errors, axis=1)

    def _largest_noise(self, deviate: float) -> Floats:
        """What the largest of the noises stays below, as probably as a normal stays below the deviate."""
        from scipy.special import ndtr

        there = np.isfinite(self.away)
        widths = np.where(there & (self.errors > 0), self.errors, 1e-300)
        low, high = np.zeros(len(widths)), 10 * widths.max(axis=1)
        for _ in range(30):
            middle = (low + high) / 2
            below = (2 * ndtr(middle[:, None] / widths) - 1).prod(axis=1) < ndtr(deviate)
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.where(there.any(axis=1), high, np.nan)


_ROUNDED = 1e-11


def effective(top: Floats, rest: Floats, top_squares: Floats, rest_squares: Floats) -> tuple[Floats, Floats]:
    """Weights as people: as many as would make the proportion vary as much as it does.

    The smaller of Kish's effective size and p(1−p)/v, with v the variance of the weighted proportion.
    """
    total = top + rest
    p = _divide(top, total)
    kish = _divide(total**2, top_squares + rest_squares)
    variance = _divide((1 - p) ** 2 * top_squares + p**2 * rest_squares, total**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        n = np.where(variance > 0, np.fmin(kish, p * (1 - p) / variance), kish)
    n = np.where(total > 0, n, 0.0)
    return _whole(np.where(total > 0, p * n, 0.0)), _whole(n)


def _whole(counts: Floats) -> Floats:
    """Counts that are whole but for rounding errors, made whole: which test they get does not depend on units."""
    nearest = np.rint(counts)
    return np.where(np.abs(counts - nearest) <= _ROUNDED * nearest, nearest, counts)


def _divide(top: Floats | float, bottom: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom > 0, np.true_divide(top, bottom), np.nan)
