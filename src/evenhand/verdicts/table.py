"""Table: every measure of a metric for every group, with its spread and what it is compared with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.catalogue.metric import AnyMeasure
from evenhand.core.arrays import Floats
from evenhand.core.results import Group
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.inference import simultaneous
from evenhand.inference.spread import Spread
from evenhand.measures import cells as measures
from evenhand.measures import classes
from evenhand.measures.cells import MEASURES, CellMeasure, evaluate, support
from evenhand.measures.classes import Classes, ClassMeasure
from evenhand.measures.regression import REGRESSION_MEASURES, RegressionSums
from evenhand.measures.scores import SCORE_MEASURES, BinnedScores, ScoreMeasure
from evenhand.verdicts.comparison import Plan


@dataclass(frozen=True)
class Table:
    """What a metric is computed from: each measure of each group with its spread; [measures, groups]."""

    cube: Cube
    measures: Sequence[AnyMeasure]
    groups: Sequence[Group]
    spreads: Sequence[Spread | None]
    values: Floats
    support: npt.NDArray[Any]
    base: Floats | None = None
    base_spreads: Sequence[Spread | None] = ()
    shares: Floats | None = None


def tabulate(rows: Sequence[AnyMeasure], cube: Cube, plan: Plan) -> Table:
    """The measures of the groups of a cube, and their baselines as the plan says."""
    groups = [group for _, group in cube.pairs]
    own = _Data(cube)
    spreads = [own.spread(row) for row in rows]
    values = np.stack([own.values(row, part) for row, part in zip(rows, spreads, strict=True)])
    sizes = np.stack([own.support(row, part) for row, part in zip(rows, spreads, strict=True)])
    base, base_spreads, shares = _baselines(rows, cube, plan, spreads, values)
    return Table(cube, rows, groups, spreads, values, sizes, base, base_spreads, shares)


@dataclass(frozen=True)
class MeasureValues:
    """One measure of all pairs of a cube, with limits that hold for all of them together; NaN is undefined."""

    measure: AnyMeasure
    values: Floats
    low: Floats
    high: Floats
    support: npt.NDArray[Any]


def every_measure(cube: Cube, confidence: float, names: Collection[str] | None = None) -> list[MeasureValues]:
    """All that can be measured for each of the pairs of a cube, or the measures named that can be."""
    data, told = _Data(cube), []
    for row in _measurable(cube):
        if names is not None and row.name not in names:
            continue
        part = data.spread(row)
        none = np.full(data.groups, np.nan)
        low, high = (none, none) if part is None else simultaneous.own(part, confidence)
        told.append(MeasureValues(row, data.values(row, part), low, high, data.support(row, part)))
    return told


def values_of(row: AnyMeasure, cube: Cube) -> Floats:
    """One measure for each of the pairs of a cube; NaN is undefined."""
    data = _Data(cube)
    return data.values(row, data.spread(row))


def _measurable(cube: Cube) -> list[AnyMeasure]:
    rows: dict[str, list[AnyMeasure]] = {
        "binary": [*MEASURES.values(), *SCORE_MEASURES.values()],
        "multiclass": [*classes.rows(list(MEASURES.values()), cube.classes)],
        "regression": [*REGRESSION_MEASURES.values()],
    }
    there = {role for role, present in cube.has.items() if present}
    probable = cube.scores is not None and cube.scores.bins.is_probability
    fitting = [row for row in rows[cube.meaning.task] if row.needs <= there]
    return [row for row in fitting if probable or not getattr(row, "probability", False)]


class _Data:
    """The cells and scores of a cube, or of everyone else for each of its groups."""

    def __init__(self, cube: Cube, rest: bool = False) -> None:
        self.groups = len(cube.pairs)
        self.binned: BinnedScores | RegressionSums | None = None
        if cube.classes:
            self.classes = Classes(cube, rest)
            return
        cells, squares = cube.cells, cube.squares
        self.counts = cube.counts
        self.cells = cells.sum(axis=0) - cells if rest else cells
        self.squares = None if squares is None else squares.sum(axis=0) - squares if rest else squares
        if cube.scores is not None:
            kind: Any = RegressionSums if cube.meaning.task == "regression" else BinnedScores
            binned = kind.from_table(cube.scores, len(cube.pairs))
            self.binned = binned.rest() if rest else binned

    def spread(self, row: AnyMeasure) -> Spread | None:
        if isinstance(row, ClassMeasure):
            return self.classes.spread(row)
        if isinstance(row, ScoreMeasure):
            return row.function(self.binned) if self.binned is not None else None
        return measures.spread(row, self.cells, self.squares) if isinstance(row, CellMeasure) else None

    def values(self, row: AnyMeasure, part: Spread | None) -> Floats:
        if isinstance(row, ClassMeasure):
            return self.classes.values(row)
        if isinstance(row, CellMeasure):
            return evaluate(self.cells, [row])[row.name]
        return part.values if part is not None else np.full(self.groups, np.nan)

    def mass(self, row: AnyMeasure, part: Spread | None) -> Floats:
        """What a measure weighs in the mean over everyone."""
        if isinstance(row, ClassMeasure):
            return np.asarray(self.classes.support(row, people=False), dtype=np.float64)
        if isinstance(row, CellMeasure):
            return np.asarray(support(self.cells, row), dtype=np.float64)
        return np.zeros(self.groups) if part is None else part.sizes

    def support(self, row: AnyMeasure, part: Spread | None) -> npt.NDArray[Any]:
        if isinstance(row, ClassMeasure):
            return self.classes.support(row)
        if isinstance(row, CellMeasure):
            return support(self.counts, row)
        return np.zeros(self.groups) if part is None else np.floor(part.sizes + 1e-9)


def _baselines(
    rows: Sequence[AnyMeasure], cube: Cube, plan: Plan, spreads: Sequence[Spread | None], values: Floats
) -> tuple[Floats | None, list[Spread | None], Floats | None]:
    """What each group is compared with: values, their spreads, and for everyone the share of each group in it."""
    groups = [group for _, group in cube.pairs]
    if plan.between_extremes:
        return None, [], None
    if plan.against == "reference":
        place = next((i for i, group in enumerate(groups) if group == plan.reference), None)
        if place is None:
            return np.full(values.shape, np.nan), [None] * len(rows), None
        base = np.repeat(values[:, [place]], len(groups), axis=1)
        base[:, place] = np.nan
        again = [place] * len(groups)
        return base, [None if part is None else part.scaled(1.0, again) for part in spreads], None
    others = _Data(cube, rest=True)
    rest = [others.spread(row) for row in rows]
    base = np.stack([others.values(row, part) for row, part in zip(rows, rest, strict=True)])
    if plan.against == "rest":
        return base, rest, None
    curved = [row.title for row in rows if isinstance(row, ScoreMeasure) and not row.linear]
    if curved:
        raise CallError(f"the {curved[0]} of everyone is no mean over the groups: compare with reference='rest'.")
    own = _Data(cube)
    sizes = np.stack([own.mass(row, part) for row, part in zip(rows, spreads, strict=True)])
    shares = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
    overall = np.where(np.isnan(base), values, shares * np.nan_to_num(values) + (1 - shares) * np.nan_to_num(base))
    for i, row in enumerate(rows):
        if isinstance(row, CellMeasure):
            overall[i] = evaluate(own.cells.sum(axis=0, keepdims=True), [row])[row.name]
    return overall, rest, shares
