"""ScoreTable: people by pair, label and score bin, with the sums that keep means and variances exact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats, Indices, Ints
from evenhand.errors import CallError
from evenhand.sources.bins import GRID, Bins, grid, natural_range, uniform_edges
from evenhand.sources.levels import NEGATIVE, NEITHER
from evenhand.sources.lines import MOMENTS, names_of_later, names_of_losses
from evenhand.sources.lines import TINY as LEAST_OUTCOME
from evenhand.sources.scores import TINY, ScoreReading


def moments(
    predicted: Floats, outcomes: Floats | None, middle: float, factors: tuple[Ints | None, Floats | None, Floats | None]
) -> dict[str, Floats]:
    """The products of `MOMENTS` for each line, times people (n), or times weights and their squares (w, w2)."""
    n, w, w2 = factors
    f = np.nan_to_num(predicted) - middle
    known = np.zeros(len(f), dtype=bool) if outcomes is None else ~np.isnan(outcomes)
    y = np.zeros(len(f)) if outcomes is None else np.where(known, outcomes - middle, 0.0)
    e = np.where(known, y - f, 0.0)
    size = np.ones(len(f)) if outcomes is None else np.where(known, np.abs(outcomes), 1.0)
    letters = {"f": f, "y": y, "e": e, "a": np.abs(e), "p": np.abs(e) / np.maximum(size, LEAST_OUTCOME)}
    people = np.array(1.0) if n is None else n.astype(np.float64)
    by = {"": people} if w is None or w2 is None else {"w_": w, "w2_": w2}
    sums: dict[str, Floats] = {}
    for moment in MOMENTS:
        product = math.prod(letters[letter] for letter in moment)
        sums |= {f"{name}{moment}": people * product for name, people in by.items()}
    return sums


def log_loss(scores: Floats, labels: Array) -> Floats:
    """−log of the probability that was predicted for what happened (label 0 or 1); 0 for people without a label.

    >>> log_loss(np.array([0.5, 0.25, 0.0, 0.7]), np.array([1, 0, 0, 2])).round(3).tolist()
    [0.693, 0.288, 0.0, 0.0]
    """
    likely: Floats = np.subtract(labels == NEGATIVE, scores, dtype=np.float64)  # 1 − s or −s, which is fastest
    np.abs(likely, out=likely)
    np.clip(likely, TINY, 1 - TINY, out=likely)
    np.log(likely, out=likely)
    np.negative(likely, out=likely)
    unknown = labels == NEITHER
    if unknown.any():
        likely[unknown] = 0.0
    return likely


def loss_sums(
    scores: Floats, labels: Array, factors: tuple[Array | None, Array | None, Array | None]
) -> dict[str, Floats]:
    """The sums of `names_of_losses` for lines of one score each; `factors` are people, Σw and Σw² as in `moments`."""
    n, w, w2 = factors
    loss = log_loss(scores, labels)
    if w is not None and w2 is not None:
        return {"ws2": w * scores**2, "wl": w * loss, "w2l": w2 * loss, "w2l2": w2 * loss**2}
    each = loss if n is None else n.astype(np.float64) * loss
    return {"l": each, "l2": each * loss}


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """A line for each (pair, label, bin) that occurs, in this order.

    `n` counts people. `sums` holds Σs and Σs², or with weights Σw, Σw², Σws, Σw²s and Σw²s²; for a regressor the
    MOMENTS. Where the bins of a probability hold many values and someone has a label, it also holds the sums of
    `names_of_losses`. Tables from a version that did not sum losses, or some moments, do not hold them. The label
    axis is (negative, positive, unlabelled), or the bands of the outcome and then unlabelled.
    """

    reading: ScoreReading
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

    @property
    def counts_only(self) -> bool:
        """Were bins joined so that no count is small? Then decisions at their edges are exact, and nothing else is."""
        return self.reading.outcome is None and not {"s", "ws"} & self.sums.keys()

    @property
    def joined_bins(self) -> bool:
        """Were bins joined, so that what depends on where scores stand is not exact any more?"""
        return self.counts_only or (self.reading.outcome is not None and self.bins.count == 1 and not self.bins.exact)

    def joined(self, first: Sequence[int]) -> ScoreTable:
        """The table with bins joined: `first` are the bins that start the new ones. It keeps people and weights only.

        An audited cutoff that starts no bin any more, because a prediction decides, is forgotten. Where bins were
        single scores, a new one starts between two of them, so that it does not tell the score of a person.
        """
        read, starts = self.reading, self.bins.starts
        stops = starts[list(first[1:])]
        if self.bins.exact:
            stops = (stops + starts[np.array(first[1:], dtype=np.intp) - 1]) / 2
            at = [int(np.searchsorted(starts, read.cutoff))] if read.cutoff is not None else []
            stops = np.where(np.isin(first[1:], at), read.cutoff or 0.0, stops)
        low, high = (read.bins.low, read.bins.high) if read.bins.is_probability else outward(starts[0], read.bins.high)
        bins = Bins(low, high, tuple(stops.tolist()), cells=1)
        place = np.searchsorted(np.asarray(first), self.bin, side="right") - 1
        edge = None if read.cutoff is None else int(np.searchsorted(starts, read.cutoff))
        cutoff = read.cutoff if edge in (*first, self.bins.count) else None
        reading = replace(read, bins=bins, edges=(bins.low, bins.high), cutoff=cutoff)
        sums = {name: self.sums[name] for name in ("w", "w2") if self.weighted}
        return collect(reading, self.pair, self.label, place, self.n, sums)

    def totals(self) -> ScoreTable:
        """Of a regressor, the table with one bin, and one band of the outcome beside those without one."""
        read, last = self.reading, self.reading.labels - 1
        outcome = read.outcome and outward(read.outcome[0], read.outcome[-1])
        bins = Bins(*outward(read.bins.low, read.bins.high), cells=1)
        reading = replace(read, bins=bins, edges=(bins.low, bins.high), outcome=outcome)
        label = np.where(self.label == last, reading.labels - 1, 0)
        return collect(reading, self.pair, label, np.zeros_like(self.bin), self.n, self.sums)

    @property
    def has_losses(self) -> bool:
        """Are the losses of a probability summed?"""
        return self._losses <= self.sums.keys()

    @property
    def knows_losses(self) -> bool:
        """Does the table tell the losses exactly: by its sums, by single values, or because there are none?"""
        return self.has_losses or self.bins.exact or not self._labelled

    @property
    def _losses(self) -> frozenset[str]:
        return frozenset(names_of_losses(self.weighted))

    @property
    def _labelled(self) -> bool:
        return bool((self.label < NEITHER).any())

    def with_losses(self) -> ScoreTable:
        """The table with sums of losses, before its single values fall on a grid; itself where there are none."""
        if not (self.bins.exact and self.bins.is_probability and self.reading.outcome is None):
            return self
        w, w2 = (self.sums.get(name) for name in ("w", "w2"))
        sums = loss_sums(self.bins.starts[self.bin], self.label, (self.n, w, w2)) if self._labelled else {}
        return replace(self, sums={**self.sums, **sums})

    def without_losses(self) -> ScoreTable:
        """The table without sums of losses."""
        return replace(self, sums={name: values for name, values in self.sums.items() if name not in self._losses})

    def regroup(self, place: Indices) -> ScoreTable:
        """The table with the pairs renumbered; pairs with the same number are added, pairs with −1 left out."""
        kept = place[self.pair] >= 0
        sums = {name: values[kept] for name, values in self.sums.items()}
        return collect(self.reading, place[self.pair[kept]], self.label[kept], self.bin[kept], self.n[kept], sums)

    def coarsen(self, most: int) -> ScoreTable:
        """The table with at most `most` bins; calibration edges and the cutoff stay exact."""
        read = self.reading
        bins = read.bins.coarser(most, [edge for edge in (*read.edges[1:-1], read.cutoff) if edge is not None])
        if bins == read.bins:
            return self
        place = read.bins.places_in(bins)[self.bin]
        return collect(replace(read, bins=bins), self.pair, self.label, place, self.n, self.with_losses().sums)

    def on(self, reading: ScoreReading) -> ScoreTable:
        """The table on coarser bins; each bin lies inside one of them."""
        place = reading.bins.codes(self.bins.starts)[self.bin]
        sums = self.sums if reading.bins.exact else self.with_losses().sums
        return collect(reading, self.pair, self.label, place, self.n, sums)

    def on_grid(self) -> ScoreTable:
        """The table on the grid if it has too many single values to be bins, else the table itself."""
        read = self.reading
        if read.bins.values is None or len(read.bins.values) <= GRID:
            return self
        cuts = [edge for edge in (*read.edges[1:-1], read.cutoff) if edge is not None]
        return self.on(replace(read, bins=grid(read.bins.low, read.bins.high, cuts)))

    def dense(self, pairs: int) -> dict[str, Array]:
        """n and every sum as arrays [pairs, 3, bins]."""
        found: dict[str, Array] = {}
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
        return (
            keys
            and self.sums.keys() == other.sums.keys()
            and all(np.allclose(self.sums[name], other.sums[name], rtol=1e-12, atol=1e-300) for name in self.sums)
        )


def collect(reading: ScoreReading, pair: Any, label: Any, bin_: Any, n: Any, sums: Mapping[str, Any]) -> ScoreTable:
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


def merge_tables(tables: Sequence[ScoreTable]) -> ScoreTable:
    """The sum of tables whose pairs have the same numbers, on bins that all of them fit.

    Sums of losses are dropped where one of the tables does not know its losses, and so are sums that one of them lacks.
    """
    reading = united([table.reading for table in tables])
    parts = [table if table.reading == reading else table.on(reading) for table in tables]
    parts = _alike(parts) if reading.hides_losses else _with_moments_alike(parts)
    return collect(
        reading,
        np.concatenate([table.pair for table in parts]),
        np.concatenate([table.label for table in parts]),
        np.concatenate([table.bin for table in parts]),
        np.concatenate([table.n for table in parts]),
        {name: np.concatenate([table.sums[name] for table in parts]) for name in parts[0].sums},
    )


def _alike(tables: Sequence[ScoreTable]) -> list[ScoreTable]:
    """Tables on a grid, all with sums of losses or all without them."""
    if not all(table.knows_losses for table in tables) or not any(table.has_losses for table in tables):
        return [table.without_losses() for table in tables]
    names = names_of_losses(tables[0].weighted)
    return [table if table.has_losses else _without_a_loss(table, names) for table in tables]


def _with_moments_alike(tables: Sequence[ScoreTable]) -> list[ScoreTable]:
    """Tables of a regressor, without the sums that some of them lack; other tables as they are."""
    lost = {name for name in names_of_later(tables[0].weighted) if not all(name in table.sums for table in tables)}
    return [
        replace(table, sums={name: part for name, part in table.sums.items() if name not in lost}) for table in tables
    ]


def _without_a_loss(table: ScoreTable, names: Sequence[str]) -> ScoreTable:
    """A table in which nobody has a label, so that all losses add up to 0."""
    return replace(table, sums={**table.sums, **{name: np.zeros(len(table.n)) for name in names}})


def united(readings: Sequence[ScoreReading]) -> ScoreReading:
    """The reading that several convert to without loss: single values are united, or fall on the grid of another.

    Where no range was set and the ranges differ, it is the range of all values, as if they had been read at once.
    """
    first = next((read for read in readings if not read.bins.exact), readings[0])
    others = [read for read in readings if read != first]
    if not others:
        return first
    if any(not read.bins.exact for read in others):
        raise CallError(
            "these cubes cut the score at different places: count them with the same score_range=, or the second with "
            "like=."
        )
    alike = [(read.mirror, read.cutoff, read.outcome, _kind_of_edges(read)) for read in (first, *others)]
    if any(part != alike[0] for part in alike) or not _same_middle([first, *others]):
        raise CallError(
            "these cubes read the score differently: count them with the same score_range=, cutoff= and bins=."
        )
    values = np.unique(np.concatenate([read.bins.values for read in (first, *others) if read.bins.values is not None]))
    if not first.bins.exact:
        if values[0] < first.bins.low or values[-1] > first.bins.high:
            outside = float(values[0] if values[0] < first.bins.low else values[-1])
            raise CallError(
                f"one cube cuts the score from {first.bins.low:g} to {first.bins.high:g}, and another holds "
                f"{outside:g}: count them with the same score_range=."
            )
        return first
    low, high = first.bins.low, first.bins.high
    edges = first.edges
    if any((read.bins.low, read.bins.high) != (low, high) for read in others):
        low, high = natural_range(float(values[0]), float(values[-1]))
        edges = uniform_edges(low, high, len(edges) - 1)
    return replace(first, bins=Bins(low, high, values=tuple(values.tolist())), edges=edges)


def _kind_of_edges(read: ScoreReading) -> object:
    """Edges in a form that can be compared: their number if they have equal width, else the edges themselves."""
    uniform = uniform_edges(read.bins.low, read.bins.high, len(read.edges) - 1)
    return len(read.edges) if read.edges == uniform else read.edges


def _same_middle(readings: Sequence[ScoreReading]) -> bool:
    """Have the readings of a regressor one middle? Sums measured from different middles cannot be added."""
    return readings[0].outcome is None or len({read.middle for read in readings}) == 1


def outward(low: float, high: float) -> tuple[float, float]:
    """A range made wider to round numbers, because its ends are the numbers of single people.

    >>> outward(431.23, 987_654.32), outward(-0.27, 0.31)
    ((0.0, 1000000.0), (-0.3, 0.35))
    """
    if not high > low:
        return low, high
    digits = math.floor(math.log10(high - low))
    step = 10.0**digits / 2
    return round(math.floor(low / step) * step, 1 - digits), round(math.ceil(high / step) * step, 1 - digits)
