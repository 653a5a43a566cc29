"""Table: every measure of a metric for every group, with its spread and what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand import comparison
from evenhand.comparison import Plan
from evenhand.cube import Cube
from evenhand.findings import Group
from evenhand.inference import spread
from evenhand.inference.spread import Spread
from evenhand.measures import Measure, RowMeasure, evaluate, support

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """What a metric is computed from: each measure of each group with its spread; [measures, groups]."""

    cube: Cube
    measures: Sequence[Measure | RowMeasure]
    groups: Sequence[Group]
    spreads: Sequence[Spread | None]
    values: Floats
    support: npt.NDArray[Any]
    base: Floats | None = None
    base_spreads: Sequence[Spread | None] = ()
    shares: Floats | None = None


def tabulate(rows: Sequence[Measure], cube: Cube, plan: Plan) -> Table:
    """The measures of the groups of a cube, and their baselines as the plan says."""
    groups = [group for _, group in cube.pairs]
    cells, squares = cube.cells, cube.squares
    values = evaluate(cells, rows)
    spreads = [spread.of(row, cells, squares) for row in rows]
    base = comparison.baselines(cells, rows, plan, groups)
    base_spreads: list[Spread | None] = []
    shares = None
    if plan.against == "reference" and plan.reference in groups:
        place = groups.index(plan.reference)
        again = np.repeat(cells[[place]], len(groups), axis=0)
        again_squares = None if squares is None else np.repeat(squares[[place]], len(groups), axis=0)
        base_spreads = [spread.of(row, again, again_squares) for row in rows]
    elif plan.against in ("rest", "overall"):
        others = None if squares is None else squares.sum(axis=0) - squares
        base_spreads = [spread.of(row, cells.sum(axis=0) - cells, others) for row in rows]
        if plan.against == "overall":
            sizes = np.stack([support(cells, row) for row in rows])
            shares = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
    return Table(
        cube,
        rows,
        groups,
        spreads,
        np.stack([values[row.name] for row in rows]),
        np.stack([support(cube.counts, row) for row in rows]),
        base,
        base_spreads,
        shares,
    )
