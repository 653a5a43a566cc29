"""A cube of scores decided at other cutoffs: which cutoffs its bins tell apart, and the counts that follow from one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable

Tables = dict[str, Any]


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


def decide(cube: Cube, chances: Array) -> Cube:
    """The cube as if its scores had decided: `chances` has the chance of selection for each cell of the score table.

    Where a chance is between 0 and 1 the counts are the expected numbers, in whole people. Who has no score is
    undecided. What the cube says of itself (`meaning`, `scores`) stays; sums over clusters are not known of scores.

    >>> cube = Cube.count(score=[1, 2, 3], cutoff=1.5, sensitive=["a", "b", "a"])
    >>> decide(cube, 1.0 * (cube.scores.bin >= 2)).measures()["selection_rate"].tolist()
    [0.5, 0.0]
    """
    assert cube.scores is not None  # noqa: S101 - said in the first line
    before = {name: values for name in ("n", "w", "w2") if (values := getattr(cube, name)) is not None}
    return replace(cube, clusters=None, **decided_tables(before, cube.scores, chances))


def decided_tables(before: Tables, scores: ScoreTable, chances: Array) -> Tables:
    """The tables of a cube (`n`, and `w` and `w2` where there are weights) as `decide` makes them from scores."""

    def by_label(values: Array) -> Floats:
        sums = np.bincount(scores.pair * 3 + scores.label, weights=values, minlength=3 * len(before["n"]))
        return sums.reshape(-1, 3).astype(np.float64)

    people, selected = by_label(scores.n), np.round(by_label(scores.n * chances))
    unscored = before["n"].sum(axis=2) - people
    after = {"n": np.stack([people - selected, selected, unscored], axis=2).astype(before["n"].dtype)}
    for name in before.keys() - {"n"}:
        rejected, accepted = (by_label(scores.sums[name] * share) for share in (1 - chances, chances))
        rest = np.where(unscored > 0, before[name].sum(axis=2) - rejected - accepted, 0.0)
        after[name] = np.maximum(np.stack([rejected, accepted, rest], axis=2), 0)
    return after
