"""Half of the people to search, and the other half to confirm: counts, split as if by a coin for each person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable
from evenhand.errors import CallError, as_typed

Moment = tuple[str, str, str | None]
"""The names of the sums of what is averaged, of its squares, and of its cubes where they are known."""

_ROUNDING = 1e-12


def halves(cube: Cube, random_state: int, moments: Sequence[Moment]) -> tuple[Cube, Cube]:
    """Two cubes that add up to one.

    Parameters
    ----------
    moments
        The sums that are asked about. Those of the two halves are drawn apart, as far as people in a line differ.
        Other sums are split as people are.
    """
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
    scores = _tables(cube.scores, moments, random)
    first_part, second_part = (replace(part, scores=table) for part, table in zip(parts, scores, strict=True))
    return first_part, second_part


def _tables(table: ScoreTable, moments: Sequence[Moment], random: np.random.Generator) -> list[ScoreTable]:
    chosen = random.binomial(table.n, 0.5)
    share = chosen / np.maximum(table.n, 1)
    first = {name: values * share for name, values in table.sums.items()}
    for names in moments:
        if names[0] in table.sums and names[1] in table.sums:
            first |= _apart(table, names, chosen, random)
    rest = {name: values - first[name] for name, values in table.sums.items()}
    return [replace(table, n=n, sums=sums) for n, sums in ((chosen, first), (table.n - chosen, rest))]


def _apart(table: ScoreTable, names: Moment, chosen: Ints, random: np.random.Generator) -> dict[str, Floats]:
    """The sums of the first half, whose mean differs from that of the second as those of two random halves do.

    If both halves had the mean of their line, the second would confirm whatever chance had shown in the first. Of
    people who vary normally, the share of their sum of squares that lies between two halves has a beta distribution.
    """
    n, first, second = table.n.astype(np.float64), table.sums[names[0]], table.sums[names[1]]
    mean = first / np.maximum(n, 1)
    squares = second - n * mean**2
    moved = (squares > _ROUNDING * second) & (chosen > 0) & (chosen < table.n)
    people, mine, mean, squares = n[moved], chosen[moved].astype(np.float64), mean[moved], squares[moved]
    between = np.ones(len(people))  # two people differ between the halves alone
    more = people > 2
    between[more] = random.beta(0.5, (people[more] - 2) / 2)
    sign = np.where(random.random(len(people)) < 0.5, -1.0, 1.0)
    own = mean + sign * np.sqrt(between * squares * (people - mine) / (people * mine))
    left = (1 - between) * squares * (mine - 1) / np.maximum(people - 2, 1)
    share = chosen / np.maximum(table.n, 1)
    found = {name: table.sums[name] * share for name in names if name is not None and name in table.sums}
    found[names[0]][moved] = mine * own
    found[names[1]][moved] = mine * own**2 + left
    if names[2] is not None and names[2] in found:
        third = table.sums[names[2]][moved] - 3 * mean * second[moved] + 2 * people * mean**3
        found[names[2]][moved] = third * mine / people + 3 * own * found[names[1]][moved] - 2 * mine * own**3
    return found
