"""ScoreTable: people by pair, label and score bin, with the sums that keep means and variances exact. Sparse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.errors import CallError
from evenhand.sources.bins import Bins
from evenhand.sources.scoring import Reading

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

PLAIN = ("s", "s2")
WEIGHTED = ("w", "w2", "ws", "w2s", "w2s2")

MOMENTS = ("f", "ff", "y", "yy", "yyy", "yyyy", "e", "ee", "eeee", "a", "eey", "eeyy")
"""Of a regressor, each a product of its letters: the prediction f and the outcome y, both measured from the middle of
the range, the residual e = y − f and its size a. Without a label all but those of f are 0."""


def names_of_sums(reading: Reading, weighted: bool) -> tuple[str, ...]:
    """What a table sums beside people, in order."""
    if reading.outcome is None:
        return WEIGHTED if weighted else PLAIN
    if not weighted:
        return MOMENTS
    return ("w", "w2", *(f"{by}_{moment}" for by in ("w", "w2") for moment in MOMENTS))


def moments(
    predicted: Floats, outcomes: Floats | None, middle: float, given: tuple[Ints | None, Floats | None, Floats | None]
) -> dict[str, Floats]:
    """The products that are summed for a regressor, of each line, by people or by weights and their squares."""
    n, w, w2 = given
    f = np.nan_to_num(predicted) - middle
    known = np.zeros(len(f), dtype=bool) if outcomes is None else ~np.isnan(outcomes)
    y = np.zeros(len(f)) if outcomes is None else np.where(known, outcomes - middle, 0.0)
    e = np.where(known, y - f, 0.0)
    letters = {"f": f, "y": y, "e": e, "a": np.abs(e)}
    people = np.array(1.0) if n is None else n.astype(np.float64)
    by = {"": people} if w is None or w2 is None else {"w_": w, "w2_": w2}
    sums: dict[str, Floats] = {}
    for moment in MOMENTS:
        product = math.prod(letters[letter] for letter in moment)
        sums |= {f"{name}{moment}": people * product for name, people in by.items()}
    return sums


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """A line for each (pair, label, bin) that occurs, in this order.

    `n` counts people. `sums` holds Σs and Σs², or with weights Σw, Σw², Σws, Σw²s and Σw²s²; for a regressor the
    MOMENTS. The label axis is (negative, positive, unlabelled), or the bands of the outcome and then unlabelled.
    """

    reading: Reading
    pair: Ints
    label: Ints
    bin: Ints
    n: Ints
    sums: Mapping[str, Floats]

    @property
    def bins(self) -> Bins:
        return self.reading.bins

    @property
    def weighted(self) -> bool:
        return "w" in self.sums

    def regroup(self, place: npt.NDArray[np.intp]) -> ScoreTable:
        """The table with the pairs renumbered; pairs with one number are summed, those with −1 left out."""
        kept = place[self.pair] >= 0
        sums = {name: values[kept] for name, values in self.sums.items()}
        return collect(self.reading, place[self.pair[kept]], self.label[kept], self.bin[kept], self.n[kept], sums)

    def coarsen(self, most: int) -> ScoreTable:
        """The table on an axis of at most so many bins; calibration edges and the cutoff stay exact."""
        read = self.reading
        bins = read.bins.coarser(most, [edge for edge in (*read.edges[1:-1], read.cutoff) if edge is not None])
        if bins == read.bins:
            return self
        place = read.bins.places_in(bins)[self.bin]
        return collect(replace(read, bins=bins), self.pair, self.label, place, self.n, self.sums)

    def dense(self, pairs: int) -> dict[str, npt.NDArray[Any]]:
        """n and every sum as arrays [pairs, 3, bins]."""
        found: dict[str, npt.NDArray[Any]] = {}
        for name, values in {"n": self.n, **self.sums}.items():
            cells = np.zeros((pairs, self.reading.labels, self.bins.count), dtype=values.dtype)
            cells[self.pair, self.label, self.bin] = values
            found[name] = cells
        return found

    def same(self, other: ScoreTable) -> bool:
        """Equal in meaning and counts, with sums that agree to 1e-12."""
        if self.reading != other.reading or len(self.n) != len(other.n):
            return False
        keys = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("pair", "label", "bin", "n"))
        close = all(np.allclose(self.sums[name], other.sums[name], rtol=1e-12, atol=1e-300) for name in self.sums)
        return keys and self.sums.keys() == other.sums.keys() and close


def collect(reading: Reading, pair: Any, label: Any, bin_: Any, n: Any, sums: Mapping[str, Any]) -> ScoreTable:
    """Sum the lines that agree in pair, label and bin."""
    count = reading.bins.count
    key = (np.asarray(pair, dtype=np.int64) * reading.labels + label) * count + bin_
    distinct, where = np.unique(key, return_inverse=True)
    where = where.reshape(-1)
    people = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(people, where, n)
    summed: dict[str, Floats] = {
        name: np.bincount(where, weights=values, minlength=len(distinct)).astype(np.float64)
        for name, values in sums.items()
    }
    rest, place = np.divmod(distinct, count)
    pairs, labels = np.divmod(rest, reading.labels)
    return ScoreTable(reading, pairs, labels, place, people, summed)


def merge(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Add tables whose pairs are numbered alike. Bins of single values are united; others must be the same."""
    reading = tables[0].reading
    if any(table.reading != reading for table in tables[1:]):
        reading = _united([table.reading for table in tables])
    bins = reading.bins
    parts = [(table, table.bin if table.bins == bins else bins.codes(table.bins.starts)[table.bin]) for table in tables]
    return collect(
        reading,
        np.concatenate([table.pair for table, _ in parts]),
        np.concatenate([table.label for table, _ in parts]),
        np.concatenate([place for _, place in parts]),
        np.concatenate([table.n for table, _ in parts]),
        {name: np.concatenate([table.sums[name] for table, _ in parts]) for name in tables[0].sums},
    )


def _united(readings: Sequence[Reading]) -> Reading:
    first = readings[0]
    if not all(read.bins.exact for read in readings):
        raise CallError(
            "these cubes cut the score at different places: count them with the same score_range=, or the second with "
            "like=."
        )
    rest = [(read.edges, read.mirror, read.cutoff, read.outcome) for read in readings]
    if any(part != rest[0] for part in rest):
        raise CallError("these cubes read the score differently: count the second with like=.")
    values = sorted({value for read in readings for value in read.bins.values or ()})
    return replace(first, bins=replace(first.bins, values=tuple(values)))
