"""Bins: one axis for a score. Means stay exact whatever the bins, because each bin also sums its scores.

Up to 1,024 distinct values the values are the bins. Beyond, a grid of 1,024 over the range, cut once more at every
extra edge (the calibration edges and the cutoff), so that neither is approximated: bin = grid index + number of extra
edges at or below the score.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.errors import DataError

Floats = npt.NDArray[np.float64]

GRID = 1024


@dataclass(frozen=True)
class Bins:
    """How a score is cut: `values` where each bin is one value, else a grid over [low, high] with extra edges."""

    low: float
    high: float
    extra: tuple[float, ...] = ()
    values: tuple[float, ...] | None = None

    @property
    def exact(self) -> bool:
        """Does each bin hold one value only?"""
        return self.values is not None

    @property
    def is_probability(self) -> bool:
        return self.low >= 0 and self.high <= 1

    @property
    def count(self) -> int:
        return len(self.values) if self.values is not None else GRID + len(self.extra)

    @property
    def scale(self) -> float:
        return GRID / (self.high - self.low) if self.high > self.low else 0.0

    @property
    def starts(self) -> Floats:
        """The least score of each bin: the values themselves, or the lower edges."""
        if self.values is not None:
            return np.array(self.values)
        grid = self.low + np.arange(GRID) / self.scale if self.scale else np.full(GRID, self.low)
        return np.sort(np.concatenate([grid, self.extra]))

    def codes(self, scores: Floats) -> npt.NDArray[np.int32]:
        """The bin of each score; −1 where there is none (NaN)."""
        missing = np.isnan(scores)
        scores = np.where(missing, self.low, scores)
        if self.values is not None:
            values = np.array(self.values)
            codes = np.minimum(np.searchsorted(values, scores), len(values) - 1)
            strange = (values[codes] != scores) & ~missing
            if strange.any():
                raise DataError(f"the score {float(scores[strange][0])!r} is not among the values of these bins.")
        else:
            codes = np.clip(np.floor((scores - self.low) * self.scale), 0, GRID - 1).astype(np.int64)
            codes += np.searchsorted(self.extra, scores, side="right")
        return np.where(missing, -1, codes).astype(np.int32)

    def on_grid(self, edge: float) -> bool:
        """Does the grid itself already part scores below the edge from those at it?"""
        if not self.low < edge <= self.high or not self.scale:
            return edge <= self.low
        below = np.floor((np.nextafter(edge, -np.inf) - self.low) * self.scale)
        return bool(np.floor((edge - self.low) * self.scale) > below and edge < self.high)


def natural_range(low: float, high: float) -> tuple[float, float]:
    """The range of a score: that of a probability where it fits, else from the lowest to the highest."""
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def uniform_edges(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Inner and outer edges of so many bins of one width.

    >>> uniform_edges(0.0, 1.0, 4)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    return tuple(float(edge) for edge in np.linspace(low, high, bins + 1))


def grid(low: float, high: float, edges: Iterable[float]) -> Bins:
    """A grid over the range with the edges that are not on it as extra ones."""
    plain = Bins(low, high)
    extra = {float(edge) for edge in edges if low < edge <= high and not plain.on_grid(edge)}
    return Bins(low, high, tuple(sorted(extra)))
