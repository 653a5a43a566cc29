"""A cube of scores decided at other cutoffs: which cutoffs its bins tell apart, and the counts that follow from one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats
from evenhand.cube.cube import Cube


def stops(cube: Cube) -> tuple[Floats, int]:
    """The cutoffs that a cube of scores tells apart, rising, the last above every score; and the place of the audited
    one.

    The audited cutoff stands for all that decide alike; its place is −1 where a prediction decides, or nothing does.

    >>> cube = Cube.count(score=[1, 2, 3], cutoff=1.5, sensitive=["a", "b", "a"])
    >>> stops(cube)[0][:3].tolist(), stops(cube)[1]
    ([1.0, 1.5, 3.0], 1)
    """
    assert cube.scores is not None  # noqa: S101 - said in the first line
    bins, cutoff = cube.scores.bins, cube.scores.reading.cutoff
    found = np.append(bins.starts, np.nextafter(bins.high, np.inf))
    if cutoff is None:
        return found, -1
    place = min(int(np.searchsorted(found, cutoff)), len(found) - 1)
    found[place] = cutoff
    return found, place if cube.meaning.prediction is None else -1


def decide(cube: Cube, chances: npt.NDArray[Any]) -> Cube:
    """The cube as if its scores had decided: `chances` has the chance of selection for each cell of the score table.

    Where a chance is between 0 and 1 the counts are the expected numbers, in whole people. Who has no score is
    undecided. What the cube says of itself (`meaning`, `scores`) stays.

    >>> cube = Cube.count(score=[1, 2, 3], cutoff=1.5, sensitive=["a", "b", "a"])
    >>> decide(cube, cube.scores.bin >= 2).measures()["selection_rate"].tolist()
    [0.5, 0.0]
    """
    table = cube.scores
    assert table is not None  # noqa: S101 - said in the first line

    def by_label(values: npt.NDArray[Any]) -> Floats:
        sums = np.bincount(table.pair * 3 + table.label, weights=values, minlength=len(cube.pairs) * 3)
        return sums.reshape(-1, 3).astype(np.float64)

    undecided = cube.n.sum(axis=2) - by_label(table.n)
    arrays: dict[str, Any] = {}
    for name in ("n", "w", "w2"):
        before = getattr(cube, name)
        if before is None:
            continue
        values = table.n if name == "n" else table.sums[name]
        selected, scored = by_label(values * chances), by_label(values)
        selected = np.round(selected) if name == "n" else selected
        rest = np.where(undecided > 0, before.sum(axis=2) - scored, 0.0)
        cells = np.stack([scored - selected, selected, rest], axis=2)
        arrays[name] = np.maximum(cells, 0).astype(before.dtype)
    return replace(cube, **arrays)
