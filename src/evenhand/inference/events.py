"""Events: how many events there were for each that was expected, with the limits of a Poisson count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.inference.spread import Relative

_JEFFREYS = 0.5


@dataclass(frozen=True)
class Events(Relative):
    """Events over expected events in each group, both as many as would vary as much (not whole for amounts).

    A sum of amounts varies like a Poisson count of (sum)² / variance events. Limits are those of Garwood (1936), which
    stay honest without any event; with an offset they are nearer, as those of a proportion. `sizes` counts people.
    """

    events: Floats
    expected: Floats
    sizes: Floats

    @cached_property
    def values(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.expected > 0, self.events / self.expected, np.nan)

    @property
    def centre(self) -> Floats:
        """The value; without an event the median of Jeffreys' posterior."""
        from scipy.special import gammaincinv

        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.values == 0, gammaincinv(_JEFFREYS, 0.5) / self.expected, self.values)

    @property
    def span(self) -> float:
        return float(np.inf)

    @property
    def errors(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(np.maximum(self.events, _JEFFREYS)) / self.expected)

    def scaled(self, multiplier: float, places: Sequence[int]) -> Events:
        chosen = list(places)
        return Events(*(part[chosen] * multiplier for part in (self.events, self.expected, self.sizes)))

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        from scipy.special import gammainccinv, gammaincinv, ndtr

        tail = float(ndtr(-deviate))
        with np.errstate(divide="ignore", invalid="ignore"):
            some = self.events > 0
            low = np.where(some, gammaincinv(np.where(some, self.events, 1.0) + offset, tail), 0.0) / self.expected
            high = gammainccinv(self.events + 1 - offset, tail) / self.expected
        there = np.where(np.isnan(self.values), np.nan, 0.0)
        return np.fmin(low, self.values) + there, np.fmax(high, self.values) + there

    def log_reach(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        low, high = self.limits(deviate, offset)
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = np.log(self.centre)
            return middle - np.log(np.fmin(low, self.centre)), np.log(np.fmax(high, self.centre)) - middle
