"""Every measure of every group of a cube, with intervals that hold for all groups together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.cube.cube import Cube
from evenhand.inference import simultaneous
from evenhand.inference.clustered import together_of
from evenhand.measures.base import Measure, evaluate
from evenhand.measures.cells import MEASURES
from evenhand.measures.classes import class_measures
from evenhand.measures.combinations import COMBINATIONS
from evenhand.measures.group_data import GroupData
from evenhand.measures.regression import REGRESSION_MEASURES
from evenhand.measures.scores import SCORE_MEASURES, ScoreMeasure


class MeasureValues:
    """One measure of all pairs of a cube, with limits that hold for all of them together; NaN is undefined.

    Everything is computed when it is first asked for, as most readers ask for a few measures only.
    """

    def __init__(self, measure: Measure, data: GroupData, confidence: float) -> None:
        self.measure = measure
        self._data, self._confidence = data, confidence

    @property
    def values(self) -> Floats:
        return evaluate(self.measure, self._data).values

    @property
    def support(self) -> Array:
        return evaluate(self.measure, self._data).support

    @property
    def low(self) -> Floats:
        return self._limits[0]

    @property
    def high(self) -> Floats:
        return self._limits[1]

    @cached_property
    def _limits(self) -> tuple[Floats, Floats]:
        spread = evaluate(self.measure, self._data).spread
        if spread is None or (self._data.clustered and together_of(spread) is None):
            return (np.full(self._data.groups, np.nan),) * 2
        return simultaneous.own(spread, self._confidence)


def every_measure(cube: Cube, confidence: float, names: Collection[str] | None = None) -> list[MeasureValues]:
    """Each measure that can be computed for the pairs of a cube; with `names`, only those named."""
    data = GroupData.of(cube)
    measurable = [measure for measure in _measurable(cube) if names is None or measure.name in names]
    return [MeasureValues(measure, data, confidence) for measure in measurable]


def measure_values(measure: Measure, cube: Cube) -> Floats:
    """One measure for each of the pairs of a cube; NaN is undefined."""
    return evaluate(measure, GroupData.of(cube)).values


def _measurable(cube: Cube) -> list[Measure]:
    """The measures of the cube's task whose roles it has; those of a probability only if the score is one."""
    measures: dict[str, Sequence[Measure]] = {
        "binary": [*MEASURES.values(), *COMBINATIONS.values(), *SCORE_MEASURES.values()],
        "multiclass": class_measures(list(MEASURES.values()), cube.classes),
        "regression": list(REGRESSION_MEASURES.values()),
    }
    present = {role for role, has in cube.has.items() if has}
    is_probability = cube.scores is not None and cube.scores.bins.is_probability
    fitting = [measure for measure in measures[cube.meaning.task] if measure.needs <= present]
    fitting = [measure for measure in fitting if is_probability or not measure.probability]
    if cube.scores is None or cube.scores.knows_losses:
        return fitting
    return [measure for measure in fitting if not (isinstance(measure, ScoreMeasure) and measure.of_losses)]
