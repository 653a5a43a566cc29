"""Several classes: every measure of a yes or no, for one class against the rest, and their means over the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, nearest
from evenhand.inference.spread import Average, Spread
from evenhand.measures import cells as measures
from evenhand.measures.cells import CellMeasure

_RIGHT_OR_WRONG = ("accuracy", "error_rate")
_SAME_FOR_ALL = ("selection_rate", "base_rate", "selected_share", "count")
"""Measures whose mean over the classes says nothing."""


@dataclass(frozen=True)
class ClassMeasure:
    """A measure of one class against the rest; of None, of all classes: the mean, or right against wrong."""

    of: CellMeasure
    of_class: str | None
    name: str
    title: str
    judged: bool = True

    @property
    def unit(self) -> str:
        return self.of.unit

    @property
    def needs(self) -> frozenset[str]:
        return self.of.needs

    @property
    def empty(self) -> str:
        return self.of.empty if self.of_class is None else f"{self.of.empty} of class {self.of_class!r}"


def rows(chosen: Sequence[CellMeasure], classes: Sequence[str], *, means: bool = True) -> tuple[ClassMeasure, ...]:
    """What a metric of these measures compares when there are several classes.

    Each measure for each class, and with `means`, where it says something, their mean, which is shown and not judged:
    it cannot lie farther apart than the class that differs most. Accuracy is one number, and balanced accuracy is the
    mean of the true positive rates, as for two classes.
    """
    found = []
    for row in chosen:
        if row.name in _RIGHT_OR_WRONG:
            found.append(ClassMeasure(row, None, row.name, row.title))
        elif row.name == "balanced_accuracy":
            recall = measures.find("true_positive_rate")
            found.append(ClassMeasure(recall, None, row.name, row.title))
        else:
            found += [ClassMeasure(row, name, row.name, f"{row.title} of class {name!r}") for name in classes]
            if means and row.name not in _SAME_FOR_ALL:
                found.append(ClassMeasure(row, None, f"macro_{row.name}", f"mean {row.title} of the classes", False))
    return tuple(found)


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

    def fold(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
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


class Classes:
    """The cells of each class against the rest, or of everyone else for each group."""

    def __init__(self, cube: Cube, rest: bool = False) -> None:
        self.names = cube.classes
        parts: dict[str | None, Cube] = {name: against_rest(cube, name) for name in cube.classes}
        parts[None] = correctness(cube)
        self.counts = {name: part.counts for name, part in parts.items()}
        self.cells = {name: _others(part.cells) if rest else part.cells for name, part in parts.items()}
        self.squares = {
            name: None if part.squares is None else _others(part.squares) if rest else part.squares
            for name, part in parts.items()
        }

    def spread(self, row: ClassMeasure) -> Spread | None:
        if row.of_class is None and row.of.name not in _RIGHT_OR_WRONG:
            parts = [measures.spread(row.of, self.cells[name], self.squares[name]) for name in self.names]
            return Average([part for part in parts if part is not None])
        return measures.spread(row.of, self.cells[row.of_class], self.squares[row.of_class])

    def values(self, row: ClassMeasure) -> Floats:
        return self._over_classes(row, lambda name: measures.evaluate(self.cells[name], [row.of])[row.of.name], np.mean)

    def support(self, row: ClassMeasure, people: bool = True) -> npt.NDArray[Any]:
        held = self.counts if people else self.cells
        return self._over_classes(row, lambda name: measures.support(held[name], row.of), np.min)

    def _over_classes(self, row: ClassMeasure, one: Any, combine: Any) -> npt.NDArray[Any]:
        if row.of_class is None and row.of.name not in _RIGHT_OR_WRONG:
            return np.asarray(combine([one(name) for name in self.names], axis=0))
        return np.asarray(one(row.of_class))


def _others(cells: Floats) -> Floats:
    return np.asarray(cells.sum(axis=0) - cells)
