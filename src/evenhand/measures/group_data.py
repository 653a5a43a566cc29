"""What measures are computed from: the cells, the classes, the binned scores and the regression sums of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats, Indices
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable, log_loss
from evenhand.errors import CallError, nearest
from evenhand.inference.spread import effective
from evenhand.sources.lines import PLAIN, WEIGHTED
from evenhand.sources.scores import ScoreReading

if TYPE_CHECKING:
    from evenhand.measures.clustered import CellClusters

NEGATIVE, POSITIVE, UNLABELLED = 0, 1, 2
MISSING_AT_RANDOM = 0.02
"""The unlabelled shares of the selected and of the refused may differ by so much."""
_MOST_KEPT = 4_000_000  # numbers that stay in memory as long as the table of scores they were read from


Whose = Literal["groups", "rest", "everyone"]
Side = Literal["refused", "selected"]
"""On which side of a decision people stand."""
SIDES: tuple[Side, ...] = ("refused", "selected")


def silent_sides(cells: Array) -> Bools:
    """Whether people of a group were refused, and were selected, of whom nobody has a label: [..., 8] to [..., 2].

    Who repays is often known of the approved only. Then every true and false positive rate that can be counted is 1,
    which says nothing: what rests on the labels of such a side is undefined.

    >>> silent_sides(np.array([[0, 10, 0, 90, 100, 0, 0, 0], [1, 10, 0, 90, 99, 0, 0, 0]])).tolist()
    [[True, False], [False, False]]
    """
    return np.asarray((cells[..., 4:6] > 0) & (cells[..., 0:2] + cells[..., 2:4] == 0))


def without_labels(sides: Sequence[Side], silent: Bools) -> Bools:
    """Which groups lack all labels of one of these sides; `silent` is [..., groups, 2]."""
    return np.asarray(silent[..., [SIDES.index(side) for side in sides]].any(axis=-1))


class GroupData:
    """The data of the groups of a cube, of everyone else for each group ("rest"), or of everyone as one group.

    Each part is computed when it is first used. `evaluated` keeps what measures made of it.
    """

    def __init__(self, cube: Cube, whose: Whose = "groups") -> None:
        self.groups = 1 if whose == "everyone" else len(cube.pairs)
        self.evaluated: dict[object, object] = {}
        self._cube = cube
        self._whose: Whose = whose

    @classmethod
    def of(cls, cube: Cube, whose: Whose = "groups") -> GroupData:
        """The data of a cube; every metric, text and page reads the same, as long as its scores are not too many."""
        if cube.scores is not None and _size(cube.scores, len(cube.pairs)) > _MOST_KEPT:
            return cls(cube, whose)
        name = ("group data", whose)
        if name not in cube.derived:
            cube.derived[name] = cls(cube, whose)
        data: GroupData = cube.derived[name]
        return data

    @cached_property
    def cells(self) -> Cells:
        """The cells of a binary decision."""
        return self._cells(self._cube)

    @cached_property
    def classes(self) -> Mapping[str | None, Cells]:
        """The cells of each class against all others, by its name; under None those of right against wrong."""
        cells: dict[str | None, Cells] = {None: self._cells(correctness(self._cube), self.silent)}
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
        found = kind.from_table(table, len(self._cube.pairs))
        if isinstance(found, RegressionSums):
            found.counts_events = self._cube.meaning.exposure is not None
        return found.of(self._whose)

    @cached_property
    def silent(self) -> Bools:
        """Of which sides of a decision nobody in a group has a label, [groups, 2]; of several classes, of any class."""
        if self._cube.meaning.task == "regression":
            return np.zeros((self.groups, 2), dtype=np.bool_)
        if not self._cube.classes:
            return self.cells.silent
        mass = _regroup(self._cube.n if self._cube.w is None else self._cube.w, self._whose)
        lacking = (mass[:, -1] > 0) & (mass[:, :-1].sum(axis=1) == 0)  # [groups, classes of the decision]
        return np.repeat(lacking[:, :-1].any(axis=1)[:, None], 2, axis=1)

    def silence(self, of_class: str | None = None) -> Bools:
        """As `silent`; of one class against all others, which sides of that decision have no label."""
        return self.silent if of_class is None else self.classes[of_class].silent

    @cached_property
    def clustered(self) -> bool:
        """Do rows belong together, so that they must not be taken for strangers?"""
        return self._cube.clustered

    @property
    def weighted(self) -> bool:
        """Are there weights?"""
        return self._cube.w is not None

    @cached_property
    def known_scores(self) -> BinnedScores | RegressionSums | None:
        """The scores, without the labels of the groups in which a side of the decision has none."""
        scores = self.scores
        return (
            scores.without_labels(np.asarray(self.silent.any(axis=1))) if isinstance(scores, BinnedScores) else scores
        )

    def _cells(self, cube: Cube, silent: Bools | None = None) -> Cells:
        squares = None if cube.squares is None else _regroup(cube.squares, self._whose)
        people, mass = (_regroup(part, self._whose) for part in (cube.counts, cube.cells))
        clusters = None
        if self.clustered and cube.clusters is not None:
            from evenhand.measures.clustered import CellClusters

            clusters = CellClusters(cube.clusters, len(cube.pairs), self._whose)
        silent = silent_sides(mass) if silent is None else silent
        return Cells(people, mass, squares, cube.cells.sum(axis=0), silent, clusters)


class Cells(NamedTuple):
    """The eight cells of each group, [groups, 8]: people, their weights, and squared weights where there are any.

    `everyone` holds the weights of all groups together, [8]; `silent` is what `silent_sides` says of the groups;
    `clusters` are there where rows belong together.
    """

    people: Array
    mass: Floats
    squares: Floats | None
    everyone: Floats
    silent: Bools
    clusters: CellClusters | None = None


def _regroup(part: Array, whose: Whose) -> Array:
    """Sums [groups, ...] as those of the groups, of everyone else for each group, or of everyone as one group.

    The others are added up: subtracted from everyone, a light group beside a heavy one would lose its digits.
    """
    if whose == "groups":
        return part
    if whose == "everyone":
        return np.asarray(part.sum(axis=0, keepdims=True))
    none = np.zeros_like(part[:1])
    before = np.concatenate([none, np.cumsum(part[:-1], axis=0)])
    after = np.concatenate([np.cumsum(part[:0:-1], axis=0)[::-1], none])
    return np.asarray(before + after)


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

    base = len(cube.classes) + 1
    to = np.full(base**2, -1, dtype=np.intp)
    for label, prediction, to_label, to_prediction in cells:
        to[label * base + prediction] = to_label * 3 + to_prediction
    return replace(
        cube,
        meaning=replace(cube.meaning, task="binary", positive=positive),
        n=fold(cube.n),
        w=None if cube.w is None else fold(cube.w),
        w2=None if cube.w2 is None else fold(cube.w2),
        classes=(),
        clusters=None if cube.clusters is None else cube.clusters.moved(np.arange(len(cube.pairs)), 9, to),
    )


class BinnedScores:
    """The scores of some groups, dense: arrays [groups, labels, bins]. Sums of joined bins are undefined (NaN)."""

    def __init__(self, reading: ScoreReading, arrays: dict[str, Array]) -> None:
        self.reading = reading
        unknown = np.full(arrays["n"].shape, np.nan)
        arrays = {**dict.fromkeys(WEIGHTED if "w" in arrays else PLAIN, unknown), **arrays}
        self.n = arrays["n"].astype(np.float64)
        weighted = "w" in arrays
        self.mass: Floats = arrays["w"] if weighted else self.n
        self.first: Floats = arrays["ws"] if weighted else arrays["s"]
        names = ("w2", "w2s", "w2s2") if weighted else ("n", "s", "s2")
        self.squares: list[Floats] = [arrays[name].astype(np.float64) for name in names]
        self.second: Floats | None = arrays.get("ws2" if weighted else "s2")
        """Σw·s² by bin; None where a table with weights does not have it."""
        self._arrays = arrays
        self.whole = self
        """The scores of the groups themselves, where these are of everyone else or of everyone."""

    @classmethod
    def from_table(cls, table: ScoreTable, pairs: int) -> BinnedScores:
        """The scores of a table, which has this many groups."""
        return cls(table.reading, _dense(table, pairs))

    def of(self, whose: Whose) -> BinnedScores:
        """The scores of the groups themselves, of everyone else for each group, or of everyone as one group."""
        if whose == "groups":
            return self
        found = BinnedScores(self.reading, {name: _regroup(part, whose) for name, part in self._arrays.items()})
        found.whole = self
        return found

    def without_labels(self, groups: Bools) -> BinnedScores:
        """The same scores, with nobody who has a label in these groups."""
        if not groups.any():
            return self
        kept = np.ones((len(groups), UNLABELLED + 1, 1), dtype=np.int64)
        kept[groups, :UNLABELLED] = 0
        return BinnedScores(self.reading, {name: part * kept for name, part in self._arrays.items()})

    def people(self, labels: Sequence[int] = (NEGATIVE, POSITIVE, UNLABELLED)) -> Floats:
        """People by bin, [groups, bins]: shares by weight, and in each group as many people as the weights are worth.

        Labels are added before that, because the weights of one label are worth another number than those of the next.
        """
        chosen = list(labels)
        mass = self.mass[:, chosen].sum(axis=1)
        return mass if self.mass is self.n else worth(mass, self.squares[0][:, chosen].sum(axis=1))

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
        """People with one label by bin, as many as their weights are worth; [groups, bins]."""
        return self.people((label,))

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
        """Positives, everyone labelled (as many as the weights are worth) and mean score by calibration bin."""
        return self._calibration

    def in_calibration_bins(self, part: Array) -> Floats:
        """An array [groups, labels, bins] summed over the labelled people of each calibration bin; [groups, bins]."""
        inside = np.eye(len(self.reading.edges) - 1)[self.by_edge]
        return np.asarray((part[:, POSITIVE] + part[:, NEGATIVE]) @ inside, dtype=np.float64)

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
        self.whole = self
        """The sums of the groups themselves, where these are of everyone else or of everyone."""
        self.counts_events = False
        """Are outcomes counts of events for each unit of exposure, which is the weight?"""

    @classmethod
    def from_table(cls, table: ScoreTable, pairs: int) -> RegressionSums:
        """The sums of a table, which has this many groups."""
        return cls(table.reading, _dense(table, pairs))

    def of(self, whose: Whose) -> RegressionSums:
        """The sums of the groups themselves, of everyone else for each group, or of everyone as one group."""
        if whose == "groups":
            return self
        found = RegressionSums(self.reading, {name: _regroup(part, whose) for name, part in self.arrays.items()})
        found.whole, found.counts_events = self, self.counts_events
        return found

    def people(self, bands: list[int]) -> Floats:
        return _total(self.n, bands)

    def total(self, moment: str, bands: list[int]) -> Floats:
        """The sum of a product over some bands, by weight."""
        return _total(self.mass, bands) if not moment else self._sum("w", moment, bands)

    def amount(self, letter: str, bands: list[int]) -> Floats:
        """The sum of outcomes (y) or predictions (f) themselves, not from the middle, by weight."""
        return self.total(letter, bands) + self.reading.middle * self.total("", bands)

    def squared_distance(self, r: Floats, bands: list[int]) -> Floats:
        """Σw²(y − r·f)² of outcomes and predictions themselves, by group."""
        sums = (self.by_bin("w2", moment, bands).sum(axis=1) for moment in ("", "y", "f", "yy", "ff", "ee"))
        return squared_distance(r, self.reading.middle, self.people(bands), *sums)

    def by_bin(self, by: str, moment: str, bands: list[int]) -> Floats:
        """A sum over some bands by bin, [groups, bins], by weight (w) or by squared weight (w2), from the middle."""
        if self.weighted:
            part = self.arrays[f"{by}_{moment}" if moment else by]
        else:
            part = self.arrays[moment] if moment else self.n
        return np.asarray(part[:, bands].sum(axis=1), dtype=np.float64)

    def predictions(self) -> BinnedScores:
        """The predictions as scores of people without a label."""
        names = ("n", "w", "w2") if self.weighted else ("n",)
        arrays = {name: np.zeros((len(self.n), UNLABELLED + 1, self.n.shape[2])) for name in names}
        for name, array in arrays.items():
            array[:, UNLABELLED] = self.arrays[name].sum(axis=1)
        powers = {"ws": ("w", 1), "ws2": ("w", 2), "w2s": ("w2", 1), "w2s2": ("w2", 2)} if self.weighted else {}
        for name, (by, power) in (powers or {"s": ("n", 1), "s2": ("n", 2)}).items():
            arrays[name] = arrays[by] * self.places**power
        return BinnedScores(self.reading, arrays)

    @property
    def places(self) -> Floats:
        """Where each bin stands: its mean prediction over everyone, or its start where nobody is."""
        mass = self.mass.sum(axis=(0, 1))
        first = self.arrays["w_f" if self.weighted else "f"].sum(axis=(0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(mass > 0, first / mass + self.reading.middle, self.reading.bins.starts)

    def has(self, moment: str) -> bool:
        """Is this product summed? Some are not in tables from earlier versions."""
        return (f"w_{moment}" if self.weighted else moment) in self.arrays

    def mean(self, moment: str, bands: list[int]) -> Floats:
        """The mean of a product over some bands, by weight; NaN where nobody is."""
        top, mass = self._sum("w", moment, bands), _total(self.mass, bands)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(mass > 0, top / mass, np.nan)

    def variance(self, terms: dict[str, Floats | float], bands: list[int]) -> Floats:
        """The variance between people whose squared deviations are this sum of products ("" is the constant).

        With weights, as many people as the weights are `worth` would make a mean vary as much. NaN for one person.
        """
        n = self.people(bands)
        parts = [factor * self._sum("w2", moment, bands) for moment, factor in terms.items()]
        squares = without_rounding(np.sum(parts, axis=0), np.sum(np.abs(parts), axis=0), n)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(n > 1, squares / self._sum("w2", "", bands) * n / (n - 1), np.nan)

    def worth(self, bands: list[int]) -> Floats:
        """How many people the weights in some bands are worth (Kish)."""
        squares = self._sum("w2", "", bands)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(squares > 0, _total(self.mass, bands) ** 2 / squares, 0.0)

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The range of predictions f and outcomes y, and so of residuals e, of their sizes a and of their squares."""
        f, outcome = (self.reading.bins.low, self.reading.bins.high), self.reading.outcome
        y = (outcome[0], outcome[-1]) if outcome else f
        e = y[0] - f[1], y[1] - f[0]
        largest = max(map(abs, e))
        return {"f": f, "y": y, "e": e, "a": (0.0, largest), "ee": (0.0, largest**2)}

    def _sum(self, by: str, moment: str, bands: list[int]) -> Floats:
        if not moment:
            return _total(self.arrays[by] if self.weighted else self.n, bands)
        return _total(self.arrays[f"{by}_{moment}" if self.weighted else moment], bands)


def squared_distance(
    r: Floats, middle: float, people: Floats, n: Floats, y: Floats, f: Floats, yy: Floats, ff: Floats, ee: Floats
) -> Floats:
    """Σ(y − r·f)² of numbers themselves, from sums of products that were measured from the middle; e is y − f.

    The sums may be by squared weight; `people` says how many rows they are of.
    """
    products = (yy + ff - ee) / 2 + middle * (y + f) + middle**2 * n
    squares = yy + 2 * middle * y + middle**2 * n, r**2 * (ff + 2 * middle * f + middle**2 * n)
    return without_rounding(squares[0] + squares[1] - 2 * r * products, squares[0] + squares[1], people)


def _total(values: Array, bands: list[int]) -> Floats:
    return np.asarray(values[:, bands].sum(axis=(1, 2)), dtype=np.float64)


def without_rounding(squares: Floats, scale: Floats, people: Floats) -> Floats:
    """Sums of squared deviations as differences of larger sums: 0 where no more than rounding errors remain.

    These grow with the people that are summed. Their root would pass for a small standard error.
    """
    errors = (16 + 2 * people) * np.finfo(np.float64).eps
    return np.asarray(np.where(squares > errors * scale, squares, 0.0))


def worth(mass: Floats, squares: Floats) -> Floats:
    """Weights [groups, bins] in proportion, as many people in each group as they are worth (Kish)."""
    total, squared = mass.sum(axis=-1, keepdims=True), squares.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squared > 0, mass * (total / squared), 0.0)


_Arrays = dict[str, Array]
_KEPT: WeakKeyDictionary[ScoreTable, _Arrays] = WeakKeyDictionary()


def _dense(table: ScoreTable, pairs: int) -> _Arrays:
    """The arrays of a table, [groups, labels, bins]. Small ones are kept: every metric of an audit reads the same."""
    if table in _KEPT and len(_KEPT[table]["n"]) == pairs:
        return _KEPT[table]
    arrays = table.dense(pairs)
    if _size(table, pairs) <= _MOST_KEPT:
        _KEPT[table] = arrays
    return arrays


def _size(table: ScoreTable, pairs: int) -> int:
    """How many numbers the arrays of a table are."""
    return pairs * table.reading.labels * table.bins.count * (1 + len(table.sums))
