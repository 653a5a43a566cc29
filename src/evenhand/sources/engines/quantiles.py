"""Order statistics of a column that an engine holds: exact, by narrowing down where they are.

Engines disagree on what a quantile is, and few can give one without sorting all rows. So rows are counted on a fine
grid first; the cells that hold the wanted ranks are then few, and only their values are fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.sources.engines.fetch import fetch
from evenhand.sources.groupby import floats
from evenhand.sources.levels import QUANTILE_BANDS

Literal = Callable[[float], nw.Expr]

_CELLS = 1 << 16
_ENOUGH = 500_000  # people in the cells whose values are fetched
_ROUNDS = 4  # of narrowing; each divides the range by _CELLS where most people are in few cells


def edges_of_rows(numbers: nw.LazyFrame[Any], literal: Literal, parts: int) -> Floats:
    """The edges that cut the numbers `v` into parts with equally many rows, as numpy's inverted_cdf does."""
    search = _Search(numbers.with_columns(nw.lit(1).cast(nw.Int64).alias("c")), literal)
    if not search.total:
        return np.array([])
    places = np.ceil(search.total * (np.arange(1, parts) / parts) - 1)
    return np.array([search.low, *search.values(np.maximum(places, 0).astype(np.int64) + 1), search.high])


def edges_of_people(numbers: nw.LazyFrame[Any], literal: Literal) -> tuple[float, ...]:
    """As `levels.quantile_edges`, of the numbers `v` that stand for `c` people each."""
    search = _Search(numbers.filter(nw.col("c") > 0), literal)
    if not search.total:
        return ()
    shares = np.arange(1, QUANTILE_BANDS) * search.total
    inner = search.values(-(-shares // QUANTILE_BANDS))
    return tuple(dict.fromkeys([search.low, *(float(cut) for cut in inner), search.high]))


class _Search:
    def __init__(self, numbers: nw.LazyFrame[Any], literal: Literal) -> None:
        self.numbers, self.literal = numbers, literal
        value = nw.col("v")
        row = fetch(numbers.select(value.min().alias("low"), value.max().alias("high"), nw.col("c").sum()))
        low, high, total = (float(floats(row[name])[0]) for name in ("low", "high", "c"))
        self.low, self.high, self.total = low, high, 0 if np.isnan(total) else int(total)

    def values(self, wanted: Ints) -> Floats:
        """For each rank, counted from 1, the smallest number that this many people reach."""
        low, high, below = self.low, self.high, 0
        for left in reversed(range(_ROUNDS)):
            cells, people, least, greatest = self._count(low, high)
            reached = below + np.cumsum(people)
            needed = np.unique(np.searchsorted(reached, wanted))
            if people[needed].sum() <= _ENOUGH or low == high or not left:
                break
            first, last = needed[0], needed[-1]
            low, high, below = least[first], greatest[last], int(reached[first] - people[first])
        return self._among(low, high, cells, reached - people, needed, wanted)

    def _count(self, low: float, high: float) -> tuple[Ints, Ints, Floats, Floats]:
        """The cells that hold someone, in order: how many people, and the least and the greatest number."""
        value, people = nw.col("v"), nw.col("c").sum()
        ends = value.min().alias("least"), value.max().alias("greatest")
        found = fetch(self._placed(low, high).group_by("cell").agg(people, *ends))
        columns = [floats(found[name]) for name in ("cell", "c", "least", "greatest")]
        order = np.argsort(columns[0])
        cells, counts, least, greatest = (column[order] for column in columns)
        return cells.astype(np.int64), counts.astype(np.int64), least, greatest

    def _placed(self, low: float, high: float) -> nw.LazyFrame[Any]:
        value, start = nw.col("v"), self.literal(low)
        scale = self.literal(_CELLS / (high - low) if high > low else 0.0)
        inside = self.numbers.filter((value >= start) & (value <= self.literal(high)))
        return inside.select(value, nw.col("c"), ((value - start) * scale).floor().alias("cell"))

    def _among(self, low: float, high: float, cells: Ints, before: Ints, needed: Any, wanted: Ints) -> Floats:
        """The numbers of the needed cells one by one; `before` says how many people are in lower cells."""
        kept = self._placed(low, high).filter(nw.col("cell").is_in([float(cell) for cell in cells[needed]]))
        found = fetch(kept.group_by("cell", "v").agg(nw.col("c").sum()))
        numbers, places, people = (floats(found[name]) for name in ("v", "cell", "c"))
        order = np.argsort(numbers)
        numbers, people = numbers[order], people[order].astype(np.int64)
        owner = np.searchsorted(cells, places[order])
        within = np.cumsum(people)
        start = np.searchsorted(owner, owner)  # the first number of the same cell
        reached = within - (within[start] - people[start]) + before[owner]
        return numbers[np.searchsorted(reached, wanted)]
