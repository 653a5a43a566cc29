"""Several classes: every measure of a yes or no, for one class against the rest, and their means over the classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.inference.clustered import mean_of
from evenhand.inference.spread import Spread
from evenhand.measures.base import MadeOf, MeasureDefaults
from evenhand.measures.cells import CellMeasure, denominators, evaluate, find_cell_measure, spread_of_cells, support
from evenhand.measures.group_data import Cells, GroupData, Side

_RIGHT_OR_WRONG = ("accuracy", "error_rate")
_SAME_FOR_ALL = ("selection_rate", "base_rate", "selected_share", "count")
"""Measures whose mean over the classes says nothing."""


@dataclass(frozen=True)
class ClassMeasure(MeasureDefaults):
    """A measure of one class against all others; where `of_class` is None, of all classes together.

    Of all classes it is the mean over them or, for accuracy and error rate, right against wrong.
    """

    of: CellMeasure
    name: str
    title: str

    @property
    def unit(self) -> str:
        return self.of.unit

    @property
    def needs(self) -> frozenset[str]:
        return self.of.needs

    @property
    def made_of(self) -> MadeOf:
        return "classes"

    @property
    def labels_of(self) -> tuple[Side, ...]:
        return self.of.labels_of

    def spread(self, data: GroupData) -> Spread | None:
        """The measure of all groups; the mean of the spreads of the classes where it is a mean."""
        each = [spread_of_cells(self.of, cells) for cells in self.cells(data)]
        return mean_of([part for part in each if part is not None]) if self.is_mean else each[0]

    def values(self, data: GroupData, spread: Spread | None) -> Floats:  # noqa: ARG002 - the cells say it exactly
        """The value of each group, the mean over the classes where it is one."""
        return self._over_classes(data, self._values, np.mean)

    def support(self, data: GroupData, spread: Spread | None) -> Array:  # noqa: ARG002 - as above
        """The people behind each value, in the class with the fewest."""
        return self._over_classes(data, lambda cells: support(cells.people, self.of, cells.silent), np.min)

    @property
    def linear(self) -> bool:
        """A mean over the classes is not a mean over the groups: each class has its own denominators."""
        return self.of.linear and not self.is_mean

    @property
    def tasks(self) -> frozenset[str]:
        return frozenset({"multiclass"})

    def mass(self, data: GroupData) -> Floats:
        """The denominators, of the one class or of right against wrong."""
        return denominators(self.of, self.cells(data)[0].mass)

    def reason(self, group: str) -> str:
        """Why the measure is undefined for a group."""
        among = "" if self.of_class is None else f" of class {self.of_class!r}"
        return f"no {self.of.empty}{among} among {group}"

    def _values(self, cells: Cells) -> Floats:
        return evaluate(cells.mass, [self.of], cells.everyone, cells.silent)[self.of.name]

    @property
    def is_mean(self) -> bool:
        """Is it the mean over the classes?"""
        return self.of_class is None and self.of.name not in _RIGHT_OR_WRONG

    def cells(self, data: GroupData) -> list[Cells]:
        """The cells that the measure is computed from: of every class for a mean, else one entry."""
        if not self.is_mean:
            return [data.classes[self.of_class]]
        return [cells for name, cells in data.classes.items() if name is not None]

    def _over_classes(self, data: GroupData, one: Callable[[Cells], Any], combine: Any) -> Array:
        each = [one(cells) for cells in self.cells(data)]
        return np.asarray(combine(each, axis=0) if self.is_mean else each[0])


def class_measures(
    measures: Sequence[CellMeasure], classes: Sequence[str], *, means: bool = True
) -> tuple[ClassMeasure, ...]:
    """What a metric of these measures compares when there are several classes.

    Each measure for each class, and with `means`, where it says something, their mean, which is shown and not judged:
    it cannot lie farther apart than the class that differs most. Accuracy is one number, and balanced accuracy is the
    mean of the true positive rates, as for two classes.
    """
    rows = []
    for row in measures:
        if row.name in _RIGHT_OR_WRONG:
            rows.append(ClassMeasure(row, row.name, row.title))
        elif row.name == "balanced_accuracy":
            rows.append(ClassMeasure(find_cell_measure("true_positive_rate"), row.name, row.title))
        else:
            for name in classes:
                rows.append(ClassMeasure(row, row.name, f"{row.title} of class {name!r}", of_class=name))
            if means and row.name not in _SAME_FOR_ALL:
                mean = f"mean {row.title} of the classes"
                rows.append(ClassMeasure(row, f"macro_{row.name}", mean, judged=False))
    return tuple(rows)
