"""Of whom a measure is known: everyone else, and everyone, are the groups whose own value labels can tell.

Where nobody who was refused in a group has a label, its people with a label are the selected alone. Added to everyone
else they would raise every true positive rate that groups are compared with.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.core.arrays import Bools
from evenhand.cube.cube import Cube
from evenhand.measures.base import Measure
from evenhand.measures.group_data import GroupData, without_labels


def unknown(measure: Measure, cube: Cube) -> Bools:
    """The groups of which nobody on a side of the decision has a label, where the measure rests on these labels."""
    if not measure.labels_of:  # else its class may be one of scores, which have no side of a decision
        return np.zeros(len(cube.pairs), dtype=np.bool_)
    return without_labels(measure.labels_of, GroupData.of(cube).silence(measure.of_class))


def known(measure: Measure, cube: Cube) -> Cube:
    """The cube with the same groups, and with nobody in those that are not among everyone else."""
    return emptied(cube, left_out(unknown(measure, cube)))


def left_out(lacking: Bools) -> Bools:
    """Who is not among everyone else: groups that lack labels, and all if these leave fewer than two to compare."""
    return np.asarray(lacking | (lacking.any() and (~lacking).sum() < 2))


def emptied(cube: Cube, which: Bools) -> Cube:
    """The cube with the same pairs, and with nobody in some of them."""
    if not which.any():
        return cube
    name = ("emptied", which.tobytes())
    if name not in cube.derived:
        place = np.where(which, -1, np.arange(len(which)))
        kept = (~which)[:, None, None]
        cube.derived[name] = replace(
            cube,
            n=cube.n * kept,
            w=None if cube.w is None else cube.w * kept,
            w2=None if cube.w2 is None else cube.w2 * kept,
            scores=None if cube.scores is None else cube.scores.regroup(place),
            clusters=None if cube.clusters is None else replace(cube.clusters.moved(place), in_part=cube.clustered),
        )
    found: Cube = cube.derived[name]
    return found
