"""Bins: the axis of a score. Means are exact whatever the bins, because each bin also sums its scores.

Up to 1,024 distinct values are bins themselves. More of them fall on a grid of 1,024 cells over the range, which is
also cut at every extra edge (the calibration edges and the cutoff), so that neither is approximated: bin = cell of the
grid + number of extra edges at or below the score.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats
from evenhand.errors import CallError, DataError

GRID = 1024
_CHUNK = 1 << 15  # rows at a time, so that what is computed on the way stays in the processor's cache


@dataclass(frozen=True)
class Bins:
    """How a score is cut: `values` where each bin is one value, else a grid over [low, high] with extra edges."""

    low: float
    high: float
    extra: tuple[float, ...] = ()
    values: tuple[float, ...] | None = None
    cells: int = GRID
    """Of the grid; a power of two, so that a coarser grid has every edge in common with a finer one."""

    @property
    def exact(self) -> bool:
        """Does each bin hold one value only?"""
        return self.values is not None

    @property
    def is_probability(self) -> bool:
        return self.low >= 0 and self.high <= 1

    @property
    def count(self) -> int:
        return len(self.values) if self.values is not None else self.cells + len(self.extra)

    @property
    def scale(self) -> float:
        return self.cells / (self.high - self.low) if self.high > self.low else 0.0

    @property
    def starts(self) -> Floats:
        """The smallest score of each bin: the values themselves, or the lower edges."""
        if self.values is not None:
            return np.array(self.values)
        grid = self.low + np.arange(self.cells) / self.scale if self.scale else np.full(self.cells, self.low)
        extra, cells = np.array(self.extra), self._cells(np.array(self.extra))
        lower = np.searchsorted(cells, np.arange(self.cells))  # how many extra edges lie in lower cells
        # Rounding may put the start of a cell on the wrong side of an extra edge beside it; the edge is exact.
        before, after = np.append(-np.inf, extra)[lower], np.append(extra, np.inf)[lower]
        starts = np.empty(self.count)
        starts[np.arange(self.cells) + lower] = np.clip(
            grid, np.nextafter(before, np.inf), np.nextafter(after, -np.inf)
        )
        starts[cells + np.arange(len(extra)) + 1] = extra
        return starts

    def codes(self, scores: Floats) -> npt.NDArray[np.int32]:
        """The bin of each score; −1 for NaN."""
        missing = np.isnan(scores)
        absent = bool(missing.any())
        if absent:
            scores = np.where(missing, self.low, scores)
        if self.values is not None:
            values = np.array(self.values)
            codes = np.minimum(np.searchsorted(values, scores), len(values) - 1).astype(np.int32)
            strange = (values[codes] != scores) & ~missing
            if strange.any():
                raise DataError(f"the score {float(scores[strange][0])!r} is not among the values of these bins.")
        else:
            codes = self._grid_codes(scores)
        if absent:
            codes[missing] = -1
        return codes

    def _grid_codes(self, scores: Floats) -> npt.NDArray[np.int32]:
        """The bin of each score on the grid. Only scores in a cell with an extra edge are compared with the edges."""
        edges = self._cells(np.array(self.extra))
        first = (np.arange(self.cells) + np.searchsorted(edges, np.arange(self.cells))).astype(np.int32)
        cut = np.zeros(self.cells, dtype=bool)
        cut[edges] = True
        codes = np.empty(len(scores), dtype=np.int32)
        for start in range(0, len(scores), _CHUNK):
            chunk, part = scores[start : start + _CHUNK], codes[start : start + _CHUNK]
            cells = self._cells(chunk)
            np.take(first, cells, out=part)
            near = np.flatnonzero(cut[cells])
            part[near] = cells[near] + np.searchsorted(self.extra, chunk[near], side="right")
        return codes

    def _cells(self, scores: Floats) -> npt.NDArray[np.int32]:
        """The cell of the grid that holds each score."""
        places = np.subtract(scores, self.low, dtype=np.float64)
        places *= self.scale
        return np.clip(places, 0, self.cells - 1, out=places).astype(np.int32)

    def settle(self, places: Floats, twice: Collection[float] = ()) -> npt.NDArray[np.int32]:
        """Turn an engine's raw bin numbers into codes: −1 is missing, `count` is outside the range.

        Rounding may put a score at an end of the range up to two bins too low or too high: it is clipped to the first
        or last bin. Edges that the engine has counted `twice` are subtracted once.
        """
        edges = sorted({*self.extra, *twice})
        cells = self._cells(np.array(edges))
        starts = [cell + i + 1 for i, (cell, edge) in enumerate(zip(cells, edges, strict=True)) if edge in twice]
        places = places - np.searchsorted(starts, places, side="right")
        inside = (places >= -2) & (places <= self.count + 1)
        codes = np.where(inside, np.clip(places, 0, self.count - 1), self.count)
        return np.where(np.isnan(places), -1, codes).astype(np.int32)

    @property
    def closed_above(self) -> bool:
        """Whether the highest score has a bin of its own, which a score just below must not reach by rounding."""
        return self.high in self.extra

    @property
    def beyond(self) -> float:
        """What an engine adds to the absolute value of a score outside the range, so that `settle` recognises it."""
        return 2.0 * self.count + 2

    def on_grid(self, edge: float) -> bool:
        """Does a cell of the grid start exactly at the edge, so that no extra edge is needed?"""
        if not self.low < edge <= self.high or not self.scale:
            return edge <= self.low
        cell = np.floor((edge - self.low) * self.scale)
        below = np.floor((np.nextafter(edge, -np.inf) - self.low) * self.scale)
        return bool(below < cell < self.cells and edge < self.high and self.low + cell / self.scale == edge)

    def coarser(self, most: int, edges: Iterable[float]) -> Bins:
        """Bins of which there are at most `most`, cut at the edges too: these bins, or the finest grid that fits."""
        kept, cells = sorted({edge for edge in edges if self.low < edge <= self.high}), min(self.cells, GRID)
        if self.count <= most:
            return self
        if self.cells == 1 and len(kept) < most:
            # Joined bins: another grid would cut through them, so some of their edges stay.
            step = math.ceil(len(self.extra) / max(most - 1 - len(kept), 1))
            return replace(self, extra=tuple(sorted({*self.extra[::step][: most - 1 - len(kept)], *kept})))
        while (coarse := grid(self.low, self.high, kept, cells)).count > most and cells > 1:
            cells //= 2
        if coarse.count > most:
            raise CallError(
                f"coarsen(bins={most}) leaves no room for the {len(kept)} edges of calibration and cutoff: ask for at "
                f"least {len(kept) + 1}."
            )
        return coarse

    def places_in(self, coarse: Bins) -> npt.NDArray[np.int32]:
        """For each bin, the bin of a coarser axis that holds it. Counted in whole cells, so that nothing is rounded."""
        if self.values is not None:
            return coarse.codes(np.array(self.values))
        own = self._cells(np.array(self.extra))
        passed = np.searchsorted(own + np.arange(len(own)) + 1, np.arange(self.count), side="right")
        cell = np.arange(self.count) - passed
        places = cell * coarse.cells // self.cells
        for edge in coarse.extra:
            # An extra edge there is one here too, unless it lies on this finer grid.
            places += passed > self.extra.index(edge) if edge in self.extra else cell >= self._cells(np.array([edge]))
        return places.astype(np.int32)


def natural_range(low: float, high: float) -> tuple[float, float]:
    """The range of a score: that of a probability where it fits, else from the lowest to the highest."""
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def uniform_edges(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Inner and outer edges of `bins` bins of equal width.

    >>> uniform_edges(0.0, 1.0, 5)  # a score of 0.6 is in the bin that starts there, not below 0.6000000000000001
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    return (*(low + (high - low) * k / bins for k in range(bins)), high)


def grid(low: float, high: float, edges: Iterable[float], cells: int = GRID) -> Bins:
    """A grid over the range with the edges that are not on it as extra ones."""
    plain = Bins(low, high, cells=cells)
    extra = {float(edge) for edge in edges if low < edge <= high and not plain.on_grid(edge)}
    return Bins(low, high, tuple(sorted(extra)), cells=cells)
