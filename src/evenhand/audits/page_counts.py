"""The counts that a page carries, so that its script can compute findings again at other cutoffs.

They are those of the cube as it leaves in a file (`privacy.shared`). Python on that same cube, decided at the same
cutoff, gives the same numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.records import pack
from evenhand.cube import cutoffs, privacy
from evenhand.cube.cube import Cube

MOST_BYTES = 250_000
"""Of the packed cube, so that the data of a page stays below 330 KB; a larger cube is cut into fewer bins."""

_FEWEST_BINS = 32


def fitted(cube: Cube, least: int = privacy.LEAST) -> tuple[Cube, str]:
    """The cube as a page holds it, and the same packed.

    Small cells are made coarser, strata are summed over, and there are as many bins as there is room for. Sums of
    weights are rounded to seven digits, which is most of what a weighted cube takes.
    """
    inside = _rounded(privacy.shared(cube, least).marginal(control=False))
    packed = pack(cells(inside))
    while inside.scores is not None and len(packed) > MOST_BYTES:
        fewer = inside.scores.bins.count // 2 + len(inside.scores.reading.edges)
        if fewer < _FEWEST_BINS or fewer >= inside.scores.bins.count:
            break
        inside = _rounded(inside.coarsen(fewer))
        packed = pack(cells(inside))
    return inside, packed


def _rounded(cube: Cube) -> Cube:
    if cube.w is None or cube.w2 is None:
        return cube
    scores = cube.scores
    if scores is not None:
        weights = {name: _seven_digits(scores.sums[name]) for name in ("w", "w2")}
        scores = replace(scores, sums={**scores.sums, **weights})
    return replace(cube, w=_seven_digits(cube.w), w2=_seven_digits(cube.w2), scores=scores)


def _seven_digits(values: Floats) -> Floats:
    return np.array([float(f"{value:.7g}") for value in values.reshape(-1).tolist()]).reshape(values.shape)


def cells(inside: Cube) -> dict[str, Any]:
    """A cube as the page reads it: the tables of (label, prediction) one after the other, scores as runs of bins."""
    data: dict[str, Any] = {
        "sensitive": list(inside.meaning.sensitive),
        "groups": [list(group) for _, group in inside.pairs],
        "values": [[group[0] for group in inside.marginal([name]).groups] for name in inside.meaning.sensitive],
        "has": inside.has,
        "n": inside.n.reshape(-1).tolist(),
        "scores": _scores(inside),
    }
    if inside.w is not None and inside.w2 is not None:
        data |= {"w": inside.w.reshape(-1).tolist(), "w2": inside.w2.reshape(-1).tolist()}
    return data


def _scores(inside: Cube) -> dict[str, Any] | None:
    """How many cells each row (a group and a label) has, and for each how many bins on from the one before it is.

    `first` sums the scores of labelled people by group and calibration bin.
    """
    table = inside.scores
    if table is None:
        return None
    reading, dense = table.reading, table.dense(len(inside.pairs))["ws" if table.weighted else "s"]
    row = table.pair * reading.labels + table.label
    before = np.where(np.diff(row, prepend=-1) != 0, -1, np.roll(table.bin, 1))
    by_edge = np.eye(len(reading.edges) - 1)[reading.calibration_bin]
    first = (dense[:, 0] + dense[:, 1]) @ by_edge  # without those who have no label
    stops, audited = cutoffs.stops(inside)
    data: dict[str, Any] = {
        "stops": stops.tolist(),
        "audited": audited,
        "high": reading.bins.high,
        "edges": list(reading.edges),
        "by_edge": reading.calibration_bin.tolist(),
        "cells": np.bincount(row, minlength=len(inside.pairs) * reading.labels).tolist(),
        "step": (table.bin - before).tolist(),
        "n": table.n.tolist(),
        "first": first.reshape(-1).tolist(),
    }
    return data | ({name: table.sums[name].tolist() for name in ("w", "w2")} if table.weighted else {})
