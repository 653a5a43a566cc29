"""Combined: a measure that is any smooth function of independent proportions, such as Matthews' correlation.

A table of four cells is three proportions that vary independently: how many labels are positive, and of each label how
many decisions are. So whatever is made of the cells is a function of such proportions. Its limits are found by moving
one proportion at a time to its own limits, which stay honest at 0 and 1, and combining the moves as the sides of a
triangle (Zou and Donner 2008); of a sum that is the combination of `Average`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.inference.spread import Relative, Spread

Function = Callable[..., Floats]

_STEP = 1e-6  # of a proportion, in the numerical derivative


@dataclass(frozen=True)
class Combined(Relative):
    """A function of independent proportions in each group; `least` and `most` are the range of its values.

    With `logs` the moves are taken on logarithms, as of a quotient, which has no upper end.
    """

    parts: Sequence[Spread]
    function: Function
    least: float
    most: float
    logs: bool = False

    @cached_property
    def values(self) -> Floats:
        return self._at([part.values for part in self.parts])

    @cached_property
    def centre(self) -> Floats:
        """The value; where it is 0, that of the parts moved inside their range."""
        inside = self._at([part.centre for part in self.parts])
        return np.where((self.values > 0) | np.isnan(self.values), self.values, np.maximum(inside, 0.0))

    @property
    def sizes(self) -> Floats:
        return np.asarray(np.min([part.sizes for part in self.parts], axis=0))

    @property
    def span(self) -> float:
        return self.most - self.least

    @cached_property
    def errors(self) -> Floats:
        """By the delta method."""
        where = [part.values for part in self.parts]
        total = np.zeros(len(self.values))
        for i, part in enumerate(self.parts):
            up, down = (np.clip(where[i] + step, 0.0, 1.0) for step in (_STEP, -_STEP))
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = (self._moved(where, i, up) - self._moved(where, i, down)) / (up - down)
                total = total + slope**2 * part.variances
        return np.asarray(np.sqrt(total))

    def scaled(self, multiplier: float, places: Sequence[int]) -> Combined:
        parts = [part.scaled(multiplier, places) for part in self.parts]
        return Combined(parts, self.function, self.least, self.most, self.logs)

    def limits(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        down, up = self._reach(deviate, offset)
        if self.logs:
            with np.errstate(invalid="ignore", over="ignore"):
                low = np.where(self.values == 0, 0.0, self.centre * np.exp(-down))
                high = self.centre * np.exp(up)
            return np.fmin(low, self.values), np.fmax(high, self.values)
        return np.maximum(self.values - down, self.least), np.minimum(self.values + up, self.most)

    def log_reach(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        if not self.logs:
            low, high = self.limits(deviate, offset)
            with np.errstate(divide="ignore", invalid="ignore"):
                middle = np.log(self.centre)
                return middle - np.log(np.clip(low, 0.0, self.centre)), np.log(np.fmax(high, self.centre)) - middle
        return self._reach(deviate, offset)

    def _reach(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        """How far down and up the value may be off, or its logarithm; plain limits and those of ratios share it."""
        if (deviate, offset) not in self._reaches:
            self._reaches[deviate, offset] = self._moves(deviate, offset)
        return self._reaches[deviate, offset]

    @cached_property
    def _reaches(self) -> dict[tuple[float, float], tuple[Floats, Floats]]:
        return {}

    def _moves(self, deviate: float, offset: float) -> tuple[Floats, Floats]:
        """The same from the moves of each part to its two limits."""
        with np.errstate(divide="ignore", invalid="ignore"):
            where = [part.centre if self.logs else part.values for part in self.parts]
            start = np.log(self.centre) if self.logs else self.values
        down, up = np.zeros(len(start)), np.zeros(len(start))
        for i, part in enumerate(self.parts):
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = [self._moved(where, i, end) for end in part.limits(deviate, offset)]
                moved = np.stack([np.log(end) if self.logs else end for end in ends]) - start
            # A proportion at a limit may leave the value without a meaning: then it is not bounded on that side.
            moved = np.where(np.isnan(moved), 0.0, moved)
            down, up = down + np.maximum(-moved, 0.0).max(axis=0) ** 2, up + np.maximum(moved, 0.0).max(axis=0) ** 2
        gone = np.where(np.isnan(self.values), np.nan, 0.0)
        down, up = np.sqrt(down) + gone, np.sqrt(up) + gone
        return np.where(self.values == 0, np.inf, down) if self.logs else down, up

    def _moved(self, where: list[Floats], i: int, to: Floats) -> Floats:
        return self._at([to if i == j else part for j, part in enumerate(where)])

    def _at(self, proportions: Sequence[Floats]) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.function(*proportions), dtype=np.float64)
