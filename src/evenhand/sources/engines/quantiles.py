"""Quantiles of a column that an engine holds: exact, by narrowing down where they are.

Engines disagree on what a quantile is, and few can give one without sorting all rows. So people are counted on a fine
grid first; the cells that hold the wanted shares are then few, and only their values are fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.sources.engines.fetch import fetch
from evenhand.sources.groupby import floats
from evenhand.sources.quantiles import shares

Literal = Callable[[float], nw.Expr]

_CELLS = 1 << 16
_ENOUGH = 500_000  # rows in the cells whose values are fetched
_ROUNDS = 4  # of narrowing; each divides the range by _CELLS where most people are in few cells


def edges(numbers: nw.LazyFrame[Any], literal: Literal, parts: int) -> Floats:
    """The edges that cut the numbers `v` into parts of equal mass `c`, both ends included; empty without any mass."""
    search = _Search(numbers, literal)
    if not search.total > 0:
        return np.array([])
    return np.array([search.low, *search.values(search.total * shares(parts)), search.high])


@dataclass(frozen=True)
class _Cells:
    """The cells of a grid that hold someone, in order: their rows and mass, the least and the greatest number."""

    places: Floats
    rows: Floats
    mass: Floats
    least: Floats
    greatest: Floats


class _Search:
    def __init__(self, numbers: nw.LazyFrame[Any], literal: Literal) -> None:
        self.numbers, self.literal = numbers, literal
        value = nw.col("v")
        row = fetch(numbers.select(value.min().alias("low"), value.max().alias("high"), nw.col("c").sum()))
        self.low, self.high, self.total = (float(floats(row[name])[0]) for name in ("low", "high", "c"))

    def values(self, wanted: Floats) -> Floats:
        """For each sum of mass, the smallest number that reaches it."""
        low, high, below = self.low, self.high, 0.0
        for left in reversed(range(_ROUNDS)):
            cells = self._count(low, high)
            reached = below + np.cumsum(cells.mass)
            needed = np.unique(_reach(reached, wanted))
            if cells.rows[needed].sum() <= _ENOUGH or low == high or not left:
                break
            first, last = needed[0], needed[-1]
            low, high, below = cells.least[first], cells.greatest[last], float(reached[first] - cells.mass[first])
        return self._among(low, high, cells, reached - cells.mass, needed, wanted)

    def _count(self, low: float, high: float) -> _Cells:
        value = nw.col("v")
        counted = (nw.len().alias("rows"), nw.col("c").sum(), value.min().alias("least"), value.max().alias("greatest"))
        found = fetch(self._placed(low, high).group_by("cell").agg(*counted))
        columns = [floats(found[name]) for name in ("cell", "rows", "c", "least", "greatest")]
        order = np.argsort(columns[0])
        return _Cells(*(column[order] for column in columns))

    def _placed(self, low: float, high: float) -> nw.LazyFrame[Any]:
        value, start = nw.col("v"), self.literal(low)
        scale = self.literal(_CELLS / (high - low) if high > low else 0.0)
        inside = self.numbers.filter((value >= start) & (value <= self.literal(high)))
        return inside.select(value, nw.col("c"), ((value - start) * scale).floor().alias("cell"))

    def _among(self, low: float, high: float, cells: _Cells, before: Floats, needed: Array, wanted: Floats) -> Floats:
        """The numbers of the needed cells one by one; `before` says how much mass is in lower cells."""
        kept = self._placed(low, high).filter(nw.col("cell").is_in([float(cell) for cell in cells.places[needed]]))
        found = fetch(kept.group_by("cell", "v").agg(nw.col("c").sum()))
        numbers, places, mass = (floats(found[name]) for name in ("v", "cell", "c"))
        order = np.argsort(numbers)
        numbers, mass = numbers[order], mass[order]
        owner = np.searchsorted(cells.places, places[order])
        within = np.cumsum(mass)
        start = np.searchsorted(owner, owner)  # the first number of the same cell
        reached = within - (within[start] - mass[start]) + before[owner]
        return np.asarray(numbers[_reach(reached, wanted)])


def _reach(reached: Floats, wanted: Floats) -> Array:
    """The first place at which each sum is reached; the last one where rounding hides that it is."""
    return np.minimum(np.searchsorted(reached, wanted), len(reached) - 1)
