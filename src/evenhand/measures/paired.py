"""Measures of cells under two models on the same people, with how much each person moves them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.cube.joint import Joint
from evenhand.inference.paired_gap import PairedRates
from evenhand.measures.cells import MEASURES, CellMeasure, evaluate
from evenhand.measures.group_data import silent_sides


def can_pair(row: object) -> bool:
    """Is it a rate of cells, within a group? Shares of everyone, totals and odds are not."""
    if not isinstance(row, CellMeasure):
        return False
    if row.of:
        return all(can_pair(MEASURES[name]) for name in row.of)
    return row.unit == "rate" and bool(row.denominator) and not row.share


def paired_rates(rows: Sequence[CellMeasure], joint: Joint) -> PairedRates:
    """The measures of the groups of a joint count before and after, [measures, groups]."""
    old, new = (_side(rows, joint, after) for after in (False, True))
    people = joint.squares.reshape(len(joint.groups), -1)
    parts = tuple(paired_rates([MEASURES[name] for name in row.of], joint) if row.of else None for row in rows)
    return PairedRates(old[0], new[0], old[1], new[1], people, np.fmin(old[2], new[2]), parts)


def cells_of(joint: Joint, after: bool) -> Floats:
    """The cells of one of the two models, [groups, 8], in the order of `CELLS`."""
    one = joint.mass.sum(axis=2 if after else 3).reshape(len(joint.groups), -1)
    return np.pad(one, ((0, 0), (0, 2)))


def _side(rows: Sequence[CellMeasure], joint: Joint, after: bool) -> tuple[Floats, Floats, Floats]:
    """Values, influences and sizes of the measures under one model."""
    cells = cells_of(joint, after)
    silent = silent_sides(cells)
    values = evaluate(cells, rows, silent=silent)
    parts = [_influence(row, cells, silent, joint, after) for row in rows]
    influences, sizes = (np.stack(part) for part in zip(*parts, strict=True))
    return np.stack([values[row.name] for row in rows]), influences, sizes


def _influence(row: CellMeasure, cells: Floats, silent: Bools, joint: Joint, after: bool) -> tuple[Floats, Floats]:
    """How far one person of weight 1 in each joint cell moves the measure, [groups, 12], and the people it rests on."""
    if row.of:
        parts = [_influence(MEASURES[name], cells, silent, joint, after) for name in row.of]
        return np.mean([part[0] for part in parts], axis=0), np.min([part[1] for part in parts], axis=0)
    value = evaluate(cells, [row], silent=silent)[row.name][:, None]
    top, bottom = (_by_joint_cell(part, after) for part in row.coefficients)
    whole = joint.mass.reshape(len(cells), -1) @ bottom
    with np.errstate(divide="ignore", invalid="ignore"):
        influence = np.nan_to_num((top - value * bottom) / whole[:, None])
        squares = joint.squares.reshape(len(cells), -1) @ (bottom > 0)
        sizes = whole if joint.w is None else whole**2 / squares
    return influence, np.nan_to_num(sizes)


def _by_joint_cell(coefficients: Floats, after: bool) -> Floats:
    """Coefficients over the cells of one model as coefficients over the joint cells, [12]."""
    one = coefficients[:6].reshape(3, 2)
    joint = one[:, None, :] if after else one[:, :, None]
    return np.asarray(np.broadcast_to(joint, (3, 2, 2)).reshape(-1))
