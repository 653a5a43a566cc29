"""What holds for every cube, whatever was counted. A file whose numbers cannot be those of people is refused.

Sums of floating-point numbers are compared with room for rounding.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NoReturn

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.core.records import MisfitError
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable
from evenhand.sources.bins import GRID, Bins
from evenhand.sources.levels import NEGATIVE, NEITHER, POSITIVE
from evenhand.sources.scores import ScoreReading

_ROUNDING = 1e-6

_SQUARES = {
    "s": ("n", "s2"), "l": ("n", "l2"), "w": ("n", "w2"), "w2s": ("w2", "w2s2"), "w2l": ("w2", "w2l2"),
    "ws": ("w", "ws2"),
}  # fmt: skip
_MOMENTS = (("f", "ff"), ("y", "yy"), ("yy", "yyyy"), ("e", "ee"), ("a", "ee"), ("ee", "eeee"), ("p", "pp"))
"""Of a sum, who it adds up (people, or a sum of weights) and the sum of its squares: (Σx)² is at most n·Σx²."""


def check(cube: Cube) -> None:
    """Raise MisfitError for the first thing that does not hold."""
    if min(cube.facts.values(), default=0) < 0:
        _refuse("facts holds a number that is negative")
    if cube.w is not None and cube.w2 is not None:
        _check_squares("decisions", {"n": cube.n, "w": cube.w, "w2": cube.w2})
    if cube.scores is not None:
        _check_bins(cube.scores.bins, cube.scores.reading.edges)
        _check_direction(cube, cube.scores.reading)
        _check_people(cube, cube.scores)
        _check_squares("scores", {"n": cube.scores.n, **cube.scores.sums})
        _check_means(cube.scores)


def _refuse(problem: str) -> NoReturn:
    raise MisfitError(problem)


def _check_bins(bins: Bins, edges: tuple[float, ...]) -> None:
    """Bins rise within a finite range; a grid has a power of two of cells, and no more than counting makes."""
    if bins.cells not in [2**power for power in range(GRID.bit_length())]:
        _refuse(f"bins.cells is {bins.cells}, not a power of two up to {GRID}")
    if bins.values == ():
        _refuse("bins.values is empty")
    for name, points in (("extra", bins.extra), ("values", bins.values or ()), ("edges", edges)):
        inside = all(bins.low <= point <= bins.high for point in points)
        # Where all scores are the same, so are all edges.
        rises = len(points) <= 2 or bins.low == bins.high or all(one < other for one, other in pairwise(points))
        if not (inside and rises):
            _refuse(f"{name} of the score does not rise within {bins.low:g} and {bins.high:g}")
    if not (math.isfinite(bins.low) and math.isfinite(bins.high) and bins.low <= bins.high):
        _refuse(f"the range of the score is {bins.low:g} to {bins.high:g}")


def _check_direction(cube: Cube, reading: ScoreReading) -> None:
    """The score is turned round where a higher one is negative, and its cutoff is that of the cube."""
    if (reading.mirror is not None) != (cube.meaning.higher_is == "negative"):
        _refuse(f"higher_is is {cube.meaning.higher_is!r}, and the score was read the other way round")
    if cube.meaning.cutoff is None or reading.cutoff is None:
        return
    wanted = cube.meaning.cutoff if reading.mirror is None else reading.mirror - cube.meaning.cutoff
    if not math.isclose(wanted, reading.cutoff, rel_tol=1e-12, abs_tol=1e-12):
        _refuse(f"the cutoff is {cube.meaning.cutoff:g}, and the score was cut at {reading.cutoff:g}")


def _check_people(cube: Cube, table: ScoreTable) -> None:
    """Who has a score is among the people of the same pair and label; all are where scores decide or are predicted."""
    regressed = cube.meaning.task == "regression"
    cutoff = table.reading.cutoff if cube.meaning.prediction is None and cube.meaning.cutoff is not None else None
    last = table.reading.labels - 1
    label = np.where(table.label == last, NEITHER, NEGATIVE) if regressed else table.label
    decided = (table.bins.starts[table.bin] >= cutoff).astype(np.int64) if cutoff is not None else 0 * label
    shape = (len(cube.pairs), 3, 2)
    counted: dict[str, tuple[Array, Array]] = {"n": (cube.n, table.n)}
    if cube.w is not None:
        counted["w"] = (cube.w, table.sums["w"])
    for name, (cells, each) in counted.items():
        people = np.zeros(shape, dtype=each.dtype)
        np.add.at(people, (table.pair, label, decided), each)
        if cutoff is not None:
            fits = _alike(people, cells[:, :, : POSITIVE + 1]) and not cells[:, :, NEITHER].any()
        elif regressed:
            fits = _alike(people.sum(axis=2), cells.sum(axis=2))
        else:
            fits = bool((people.sum(axis=2) <= cells.sum(axis=2) * (1 + _ROUNDING)).all())
        if not fits:
            _refuse(f"scores.{name} does not add up to decisions.{name}")


def _alike(one: Array, other: Array) -> bool:
    exact = one.dtype.kind in "iu"
    return bool(np.array_equal(one, other) if exact else np.allclose(one, other, rtol=_ROUNDING, atol=0))


def _check_squares(table: str, sums: dict[str, Array]) -> None:
    rules = dict(_SQUARES)
    for prefix, mass in (("", "n"), ("w_", "w"), ("w2_", "w2")):
        rules |= {prefix + one: (mass, prefix + two) for one, two in _MOMENTS}
        rules[f"{prefix}eee"] = (f"{prefix}ee", f"{prefix}eeee")  # which a product of e and e² is bounded by
    for name, (mass, squares) in rules.items():
        if name not in sums or squares not in sums:
            continue
        if (sums[squares] < 0).any():
            _refuse(f"{table}.{squares} holds a number that is negative")
        most = np.sqrt(sums[mass].astype(np.float64)) * np.sqrt(sums[squares])  # of squares alone the root is finite
        if (np.abs(sums[name]) > most * (1 + _ROUNDING)).any():
            _refuse(f"{table}.{name} is larger than {table}.{squares} allows")


def _check_means(table: ScoreTable) -> None:
    """The mean score of a cell lies in its bin."""
    low, high = _ends(table.bins)
    middle = 0.0 if table.reading.outcome is None else table.reading.middle
    room = _ROUNDING * max(abs(table.bins.low), abs(table.bins.high), abs(table.bins.high - table.bins.low))
    for name, mass in (("s", "n"), ("ws", "w"), ("w2s", "w2"), ("f", "n"), ("w_f", "w"), ("w2_f", "w2")):
        if name not in table.sums:
            continue
        people = table.n.astype(np.float64) if mass == "n" else table.sums[mass]
        least, most = ((ends[table.bin] - middle) * people for ends in (low - room, high + room))
        if ((table.sums[name] < least) | (table.sums[name] > most)).any():
            _refuse(f"scores.{name} lies outside its bin")


def _ends(bins: Bins) -> tuple[Floats, Floats]:
    starts = bins.starts
    return starts, starts if bins.exact else np.append(starts[1:], bins.high)
