"""The counts that a page carries, so that its script can compute findings again at other cutoffs.

They are the counts of the audit, summed over strata. Where they are too many for a page, bins of the score are joined:
the slider has fewer stops then, and at each of them the numbers are those of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.core.arrays import Array
from evenhand.core.records import pack
from evenhand.cube import cutoffs
from evenhand.cube.cube import Cube

MOST_BYTES = 140_000
"""Of the packed counts, so that the data of a page stays below 330 KB; more of them are cut into fewer bins."""

_BINS = 256
_FEWEST_BINS = 8


def fitted(cubes: Sequence[Cube]) -> tuple[list[Cube], str]:
    """The counts as a page holds them, over all strata and with as many bins as there is room for; and packed."""
    inside = [cube.marginal(control=False).coarsen(_BINS) for cube in cubes]
    packed = pack(page_counts(inside))
    while inside[0].scores is not None and len(packed) > MOST_BYTES:
        reading = inside[0].scores.reading
        kept = {edge for edge in (*reading.edges[1:-1], reading.cutoff) if edge is not None}
        fewer = reading.bins.count // 2 + len(kept)
        if fewer < max(_FEWEST_BINS, len(kept) + 2) or fewer >= reading.bins.count:
            break
        inside = [cube.coarsen(fewer) for cube in inside]
        packed = pack(page_counts(inside))
    return inside, packed


def page_counts(inside: Sequence[Cube]) -> dict[str, Any]:
    """Cubes that share one score as the page reads them: what they have in common, and the counts of each."""
    return {
        "has": inside[0].has,
        "scores": _axis(inside[0]),
        "parts": [_part(cube) for cube in inside],
    }


def _axis(cube: Cube) -> dict[str, Any] | None:
    """The stops of the slider; and, unless bins were joined, where the bins of calibration lie."""
    table = cube.scores
    if table is None:
        return None
    stops, audited = cutoffs.stops(cube)
    axis = {"stops": stops.tolist(), "audited": audited, "high": table.bins.high}
    if table.counts_only:
        return {**axis, "edges": None}
    return {**axis, "edges": list(table.reading.edges), "by_edge": table.reading.calibration_bin.tolist()}


def _part(cube: Cube) -> dict[str, Any]:
    """A cube: the tables of (label, prediction) one after the other, scores as runs of bins."""
    return {
        "sensitive": list(cube.meaning.sensitive),
        "groups": [list(group) for _, group in cube.pairs],
        "values": [[group[0] for group in cube.marginal([name]).groups] for name in cube.meaning.sensitive],
        "n": cube.n.reshape(-1).tolist(),
        "scores": _scores(cube),
        **{name: _digits(values, n) for name, n in _DIGITS.items() if (values := getattr(cube, name)) is not None},
    }


def _scores(cube: Cube) -> dict[str, Any] | None:
    """How many cells each row (a group and a label) has, and for each how many bins on from the one before it is.

    `first` sums the scores of labelled people by group and calibration bin.
    """
    table = cube.scores
    if table is None:
        return None
    reading = table.reading
    row = table.pair * reading.labels + table.label
    before = np.where(np.diff(row, prepend=-1) != 0, -1, np.roll(table.bin, 1))
    data: dict[str, Any] = {
        "cells": np.bincount(row, minlength=len(cube.pairs) * reading.labels).tolist(),
        "step": (table.bin - before).tolist(),
        "n": table.n.tolist(),
        **{name: _digits(table.sums[name], digits) for name, digits in _DIGITS.items() if table.weighted},
    }
    if table.counts_only:
        return data
    dense = table.dense(len(cube.pairs))["ws" if table.weighted else "s"]
    by_edge = np.eye(len(reading.edges) - 1)[reading.calibration_bin]
    first = (dense[:, 0] + dense[:, 1]) @ by_edge  # without those who have no label
    return {**data, "first": _digits(first)}


def _digits(values: Array, digits: int = 10) -> list[float]:
    """Sums to so many digits: ten make rates that are right to more than nine."""
    return [float(f"{value:.{digits}g}") for value in values.reshape(-1).tolist()]


_DIGITS = {"w": 10, "w2": 8}
"""Of sums of weights; squares only tell how wide intervals are, which are right to six."""
