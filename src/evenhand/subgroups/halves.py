"""Half of the people to search, and the other half to confirm: counts, split as if by a coin for each person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.cube.cube import Cube
from evenhand.errors import CallError, as_typed


def halves(cube: Cube, random_state: int) -> tuple[Cube, Cube]:
    """Two cubes that add up to one. Scores within a bin count as equal, so that sums are split as people are."""
    if cube.w is not None:
        raise CallError(
            f"{as_typed('split=True', '--split')} splits counts of people, and weights are not counts: leave out "
            f"{as_typed('weight=', '--weight')}, or split the rows yourself and search one part."
        )
    random = np.random.default_rng(random_state)
    first = random.binomial(cube.n, 0.5)
    parts = [replace(cube, n=part) for part in (first, cube.n - first)]
    if cube.scores is None:
        return parts[0], parts[1]
    table = cube.scores
    chosen = random.binomial(table.n, 0.5)
    scores = []
    for n in (chosen, table.n - chosen):
        share = n / np.maximum(table.n, 1)
        scores.append(replace(table, n=n, sums={name: values * share for name, values in table.sums.items()}))
    first_part, second_part = (replace(part, scores=table) for part, table in zip(parts, scores, strict=True))
    return first_part, second_part
