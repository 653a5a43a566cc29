"""What measures are computed from: the cells, the classes, the binned scores and the regression sums of groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from evenhand.core.arrays import Array, Floats, Indices
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable, log_loss
from evenhand.errors import CallError, nearest
from evenhand.inference.spread import effective
from evenhand.sources.scores import ScoreReading

NEGATIVE, POSITIVE, UNLABELLED = 0, 1, 2
_MOST_KEPT = 1_000_000  # numbers that stay in memory as long as the table of scores they were read from


class GroupData:
    """The data of the groups of a cube or, with `rest`, of everyone else for each group; computed when first used."""

    def __init__(self, cube: Cube, *, rest: bool = False) -> None:
        self.groups = len(cube.pairs)
        self._cube = cube
        self._rest = rest

    @cached_property
    def cells(self) -> Cells:
        """The cells of a binary decision."""
        return self._cells(self._cube)

    @cached_property
    def classes(self) -> Mapping[str | None, Cells]:
        """The cells of each class against all others, by its name; under None those of right against wrong."""
        cells: dict[str | None, Cells] = {None: self._cells(correctness(self._cube))}
        for name in self._cube.classes:
            cells[name] = self._cells(against_rest(self._cube, name))
        return cells

    @cached_property
    def scores(self) -> BinnedScores | RegressionSums | None:
        """The scores or, for a regressor, the sums of predictions and outcomes; None where there are neither."""
        table = self._cube.scores
        if table is None:
            return None
        kind: type[BinnedScores | RegressionSums]
        kind = RegressionSums if self._cube.meaning.task == "regression" else BinnedScores
        scores = kind.from_table(table, self.groups)
        return scores.rest() if self._rest else scores

    def _cells(self, cube: Cube) -> Cells:
        cells = Cells(cube.counts, cube.cells, cube.squares)
        return cells.rest() if self._rest else cells


@dataclass(frozen=True)
class Cells:
    """The eight cells of each group, [groups, 8]: people, their weights, and squared weights where there are any."""

    people: Array
    mass: Floats
    squares: Floats | None

    def rest(self) -> Cells:
        """For each group, everyone else."""
        squares = None if self.squares is None else self.squares.sum(axis=0) - self.squares
        return Cells(self.people.sum(axis=0) - self.people, self.mass.sum(axis=0) - self.mass, squares)


def against_rest(cube: Cube, name: str) -> Cube:
    """The decisions about one class as a yes or no: `name` is positive, all other classes are negative.

    >>> cube = Cube.count(prediction=["a", "b", "c"], sensitive=["x", "x", "y"], task="multiclass")
    >>> against_rest(cube, "b").measures(["selection_rate"])["selection_rate"].tolist()
    [0.5, 0.0]
    """
    if name not in cube.classes:
        raise CallError(f"{name!r} is not a class of this cube; {nearest(name, cube.classes)}")
    place = [*(int(other == name) for other in cube.classes), 2]
    cells = [(i, j, a, b) for i, a in enumerate(place) for j, b in enumerate(place)]
    return _folded(cube, cells, dict.fromkeys(("label", "prediction"), (name,)))


def correctness(cube: Cube) -> Cube:
    """Labelled decisions as right (positive) or wrong (negative)."""
    last = len(cube.classes)
    cells = [(i, j, 1, int(i == j)) for i in range(last) for j in range(last)]
    cells += [(i, last, 1, 2) for i in range(last)] + [(last, j, 2, 1) for j in range(last)] + [(last, last, 2, 2)]
    return _folded(cube, cells, {})


def _folded(cube: Cube, cells: list[tuple[int, int, int, int]], positive: Mapping[str, tuple[str, ...]]) -> Cube:
    """A cube of two classes: `cells` say where each cell (label, prediction) of the classes goes."""

    def fold(values: Array) -> Array:
        folded = np.zeros((len(values), 3, 3), dtype=values.dtype)
        for label, prediction, to_label, to_prediction in cells:
            folded[:, to_label, to_prediction] += values[:, label, prediction]
        return folded

    return replace(
        cube,
        meaning=replace(cube.meaning, task="binary", positive=positive),
        n=fold(cube.n),
        w=None if cube.w is None else fold(cube.w),
        w2=None if cube.w2 is None else fold(cube.w2),
        classes=(),
    )


class BinnedScores:
    """The scores of some groups, dense: arrays [groups, labels, bins]."""

    def __init__(self, reading: ScoreReading, arrays: dict[str, Array]) -> None:
        self.reading = reading
        self.n = arrays["n"].astype(np.float64)
        weighted = "w" in arrays
        self.mass: Floats = arrays["w"] if weighted else self.n
        self.first: Floats = arrays["ws"] if weighted else arrays["s"]
        names = ("w2", "w2s", "w2s2") if weighted else ("n", "s", "s2")
        self.squares: list[Floats] = [arrays[name].astype(np.float64) for name in names]
        self.second: Floats | None = arrays.get("ws2" if weighted else "s2")
        """Σw·s² by bin; None where a table with weights does not have it."""
        self._arrays = arrays

    @classmethod
    def from_table(cls, table: ScoreTable, pairs: int) -> BinnedScores:
        """The scores of a table, which has this many groups."""
        return cls(table.reading, _dense(table, pairs))

    def rest(self) -> BinnedScores:
        """For each group, everyone else."""
        return BinnedScores(self.reading, {name: part.sum(axis=0) - part for name, part in self._arrays.items()})

    @cached_property
    def losses(self) -> tuple[Floats, Floats, Floats] | None:
        """Σw·l, Σw²·l and Σw²·l² of the log loss l by bin; None where neither sums nor single values tell it."""
        names = ("wl", "w2l", "w2l2") if "w" in self._arrays else ("l", "l", "l2")
        if all(name in self._arrays for name in names):
            first, q1, q2 = (self._arrays[name] for name in names)
            return first, q1, q2
        bins = self.reading.bins
        if not bins.exact:
            return None if self.n[:, [NEGATIVE, POSITIVE]].any() else (np.zeros_like(self.mass),) * 3
        each = np.stack(
            [log_loss(bins.starts, np.full(bins.count, label)) for label in (NEGATIVE, POSITIVE, UNLABELLED)]
        )
        return self.mass * each, self.squares[0] * each, self.squares[0] * each**2

    def of_label(self, label: int) -> Floats:
        """People by bin, as many as their weights are worth; [groups, bins]."""
        mass, people = self.mass[:, label], self.n[:, label]
        if self.mass is self.n:
            return people
        total, squares = mass.sum(axis=1, keepdims=True), self.squares[0][:, label].sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(squares > 0, mass * total / squares, 0.0)

    @cached_property
    def places(self) -> Floats:
        """Where each bin stands: its mean score over everyone, its value, or its lower edge where nobody is."""
        mass = self.mass.sum(axis=(0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(mass > 0, self.first.sum(axis=(0, 1)) / mass, self.reading.bins.starts)

    @cached_property
    def by_edge(self) -> Indices:
        """The calibration bin of each score bin; the last is closed."""
        edges = np.array(self.reading.edges)
        return np.clip(np.searchsorted(edges, self.reading.bins.starts, side="right") - 1, 0, len(edges) - 2)

    def calibration(self) -> tuple[Floats, Floats, Floats]:
        """Positives, everyone labelled (as people) and mean score by calibration bin; [groups, bins]."""
        return self._calibration

    @cached_property
    def _calibration(self) -> tuple[Floats, Floats, Floats]:
        inside = np.eye(len(self.reading.edges) - 1)[self.by_edge]  # [score bins, calibration bins]
        top, rest = (self.mass[:, label] @ inside for label in (POSITIVE, NEGATIVE))
        score = (self.first[:, POSITIVE] + self.first[:, NEGATIVE]) @ inside
        mass = top + rest
        k, n = top, mass
        if self.mass is not self.n:
            k, n = effective(top, rest, *(self.squares[0][:, label] @ inside for label in (POSITIVE, NEGATIVE)))
        with np.errstate(divide="ignore", invalid="ignore"):
            return k, n, np.where(mass > 0, score / mass, np.nan)


class RegressionSums:
    """The sums of some groups, dense: arrays [groups, bands of the outcome and unlabelled, bins of the prediction]."""

    def __init__(self, reading: ScoreReading, arrays: dict[str, Array]) -> None:
        self.reading = reading
        self.arrays = arrays
        self.n = arrays["n"].astype(np.float64)
        self.weighted = "w" in arrays
        self.mass: Floats = arrays["w"] if self.weighted else self.n
        self.everyone = list(range(reading.labels))
        self.labelled = self.everyone[:-1]

    @classmethod
    def from_table(cls, table: ScoreTable, pairs: int) -> RegressionSums:
        """The sums of a table, which has this many groups."""
        return cls(table.reading, _dense(table, pairs))

    def rest(self) -> RegressionSums:
        """For each group, everyone else."""
        return RegressionSums(self.reading, {name: part.sum(axis=0) - part for name, part in self.arrays.items()})

    def people(self, bands: list[int]) -> Floats:
        return _total(self.n, bands)

    def by_bin(self) -> Floats:
        """People by bin of the prediction, as many as their weights are worth; [groups, bins]."""
        mass = np.asarray(self.mass.sum(axis=1))
        if not self.weighted:
            return mass
        total, squares = mass.sum(axis=1, keepdims=True), self.arrays["w2"].sum(axis=(1, 2))[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(squares > 0, mass * total / squares, 0.0)

    @property
    def places(self) -> Floats:
        """Where each bin stands: its mean prediction over everyone, or its start where nobody is."""
        mass = self.mass.sum(axis=(0, 1))
        first = self.arrays["w_f" if self.weighted else "f"].sum(axis=(0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(mass > 0, first / mass + self.reading.middle, self.reading.bins.starts)

    def mean(self, moment: str, bands: list[int]) -> Floats:
        """The mean of a product over some bands, by weight; NaN where nobody is."""
        top, mass = self._sum("w", moment, bands), _total(self.mass, bands)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(mass > 0, top / mass, np.nan)

    def error(self, terms: dict[str, Floats | float], bands: list[int]) -> Floats:
        """The standard error of a mean whose squared deviations are this sum of products ("" is the constant)."""
        mass, n = _total(self.mass, bands), self.people(bands)
        squares = sum(factor * self._sum("w2", moment, bands) for moment, factor in terms.items())
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(np.where(n > 1, np.maximum(squares, 0) / mass**2 * n / (n - 1), np.nan)))

    def _sum(self, by: str, moment: str, bands: list[int]) -> Floats:
        if not moment:
            return _total(self.arrays[by] if self.weighted else self.n, bands)
        return _total(self.arrays[f"{by}_{moment}" if self.weighted else moment], bands)


def _total(values: Array, bands: list[int]) -> Floats:
    return np.asarray(values[:, bands].sum(axis=(1, 2)), dtype=np.float64)


_Arrays = dict[str, Array]
_KEPT: WeakKeyDictionary[ScoreTable, _Arrays] = WeakKeyDictionary()


def _dense(table: ScoreTable, pairs: int) -> _Arrays:
    """The arrays of a table, [groups, labels, bins]. Small ones are kept: every metric of an audit reads the same."""
    if table in _KEPT and len(_KEPT[table]["n"]) == pairs:
        return _KEPT[table]
    arrays = table.dense(pairs)
    if sum(array.size for array in arrays.values()) <= _MOST_KEPT:
        _KEPT[table] = arrays
    return arrays
