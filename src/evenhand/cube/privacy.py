"""What may leave in a file that is shared. Hiding leaves counts out; it never moves one.

A small cell is 1 to `least` − 1 people who share a group (in a stratum, where there are controls), a label and a
decision. Of a single attribute, a group with a small cell goes, and never one group alone: what is missing from a total
that another attribute tells would be that group. An intersection stays whole or goes whole. Scores are counted between
stops, the same for every group, so far apart that each group and label has nobody there or at least `least` people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.core.arrays import Bools, Ints
from evenhand.core.results import Group
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable
from evenhand.errors import CallError
from evenhand.sources.lines import MOMENTS

LEAST = 5

_MOST_CHECKS = 2 * 10**8  # of cells while stops are chosen; beyond, the score is cut into fewer bins first
_BINS = 256
_LEAST_OF_SUMS = 2 * len(MOMENTS)
"""Of a regressor: with as many people, its sums of powers could be solved for the numbers of single people."""


@dataclass(frozen=True)
class Sharing:
    """What an audit that was made to be shared holds, and what was left out of it, by name.

    `attributes` are those that stay. `groups` are the hidden groups of each of them; `sets` are the attributes and
    intersections that were left out whole, `metrics` what was left out on every set.
    """

    least: int = LEAST
    attributes: tuple[str, ...] = ()
    groups: dict[str, tuple[Group, ...]] = field(default_factory=dict)
    sets: tuple[tuple[str, ...], ...] = ()
    metrics: tuple[str, ...] = ()


def check_least(least: object) -> int:
    """The smallest number of people that a cell may show; anything but a whole number of at least 1 is an error."""
    if isinstance(least, bool) or not isinstance(least, int) or least < 1:
        raise CallError(f"least={least!r} must be a whole number of people of at least 1, which hides nothing.")
    return least


# --- Groups ----------------------------------------------------------------------------------------------------------


def small_groups(cube: Cube, least: int) -> set[Group]:
    """The groups that have a small cell in any stratum.

    Where there is no decision but a score, or of a regressor, people with and without one are cells too.
    """
    cells = [cube.n.reshape(len(cube.pairs), -1)]
    if cube.scores is not None and not _decided_without(cube):
        cells += _with_and_without(cube)
    least_of_all = max(least, _LEAST_OF_SUMS) if cube.meaning.task == "regression" and least > 1 else least
    small = np.concatenate([_small(part, least_of_all) for part in cells], axis=1)
    return {group for (_, group), row in zip(cube.pairs, small, strict=True) if row.any()}


def hidden_groups(cube: Cube, least: int) -> tuple[Group, ...]:
    """The groups of a single attribute that must not leave, in the order of the cube.

    If only one has a small cell, the next smallest group goes too; and as long as those that go are one person each
    in the same cell, which their total would tell, so does the next.

    >>> people = [40, 3, 60, 50, 80, 90]
    >>> cube = Cube.count(prediction=[0, 1] * 3, count=people, sensitive=["a", "a", "b", "b", "c", "c"])
    >>> hidden_groups(cube, 5)
    (('a',), ('b',))
    """
    hidden = small_groups(cube, least)
    people = dict.fromkeys(cube.groups, 0)
    for (_, group), n in zip(cube.pairs, cube.n.sum(axis=(1, 2)).tolist(), strict=True):
        people[group] += n
    waiting = sorted((group for group in people if group not in hidden), key=lambda group: people[group])
    while hidden and waiting and (len(hidden) == 1 or _told_by_their_total(cube, hidden)):
        hidden.add(waiting.pop(0))
    return tuple(group for group in cube.groups if group in hidden)


def alone_in_a_part(cube: Cube, name: str, hidden: Collection[Group]) -> Group | None:
    """A further group that must go, because a hidden one is the only hidden one of its part; None where none is.

    A part is a group of another attribute, or a stratum, that is made of whole groups of this one, as a continent is
    of countries: its total less the groups that stay would be the hidden group.

    >>> nested = {"country": ["a", "b", "c", "d"], "continent": ["x", "x", "y", "y"]}
    >>> cube = Cube.count(prediction=[1, 0, 1, 0], sensitive=nested, count=[50, 40, 30, 20])
    >>> alone_in_a_part(cube, "country", {("a",), ("d",)})
    ('b',)
    """
    place = cube.meaning.sensitive.index(name)
    people: dict[tuple[int, str | None], dict[Group, int]] = {}
    for (stratum, group), n in zip(cube.pairs, cube.n.sum(axis=(1, 2)).tolist(), strict=True):
        wholes = [*(group[j] for j in range(len(group)) if j != place), *stratum]
        for kind, whole in enumerate(wholes):
            inside = people.setdefault((kind, whole), {})
            inside[group[place],] = inside.get((group[place],), 0) + n
    for (kind, whole), inside in people.items():
        others = [each for (of, other), each in people.items() if of == kind and other != whole]
        if any(group in each for group in inside for each in others):
            continue
        gone = [group for group in inside if group in hidden]
        left = [group for group in inside if group not in hidden]
        if len(gone) == 1 and left:
            return min(left, key=lambda group: inside[group])
    return None


def without(cube: Cube, groups: Collection[Group]) -> Cube:
    """The cube without these groups, and without what was counted of everyone while reading."""
    kept = cube.only([group not in groups for _, group in cube.pairs])
    return replace(kept, facts={fact: n for fact, n in cube.facts.items() if fact == "regression_chosen"})


def _told_by_their_total(cube: Cube, groups: Collection[Group]) -> bool:
    """Do these groups hold one person each, all in the same cell?"""
    total = cube.only([group in groups for _, group in cube.pairs]).marginal((), control=True).n
    return int(total.sum()) == len(groups) and int((total > 0).sum()) == 1


def _small(people: Ints, least: int) -> Bools:
    return np.asarray((people > 0) & (people < least))


def _decided_without(cube: Cube) -> bool:
    """Was decided by a prediction, so that the score can be left out?"""
    return cube.meaning.task == "binary" and cube.meaning.prediction is not None


def _with_and_without(cube: Cube) -> list[Ints]:
    """People with and without a score by pair and label; of a regressor, those with and without an outcome."""
    table = cube.scores
    assert table is not None  # noqa: S101 - asked for cubes with scores only
    people = np.zeros((len(cube.pairs), table.reading.labels), dtype=np.int64)
    np.add.at(people, (table.pair, table.label), table.n)
    if cube.meaning.task == "binary":
        return [people, cube.n.sum(axis=2) - people]
    scored = np.stack([people[:, :-1].sum(axis=1), people[:, -1]], axis=1)
    return [scored, cube.n.sum(axis=(1, 2))[:, None] - scored.sum(axis=1, keepdims=True)]


# --- Intersections ---------------------------------------------------------------------------------------------------


def acyclic(sets: Iterable[Sequence[str]]) -> bool:
    """Whether the tables of these sets of attributes fit together like the branches of a tree.

    Then they say no more of a larger table than its sums do, each of which stays. Sets that close a circle, such as all
    pairs of three attributes, may settle single cells of the whole (Dobra and Fienberg 2000).

    >>> acyclic([("race", "sex"), ("sex", "age"), ("job",)]), acyclic([("a", "b"), ("b", "c"), ("a", "c")])
    (True, False)
    """
    edges = [set(each) for each in sets]
    while True:
        alone = [name for name in set().union(*edges) if sum(name in edge for edge in edges) == 1]
        smaller = [edge.difference(alone) for edge in edges]
        kept = [edge for i, edge in enumerate(smaller) if edge and not any(
            edge < other or (edge == other and i > j) for j, other in enumerate(smaller) if j != i
        )]  # fmt: skip
        if kept == edges:
            return not edges
        edges = kept


# --- Scores ----------------------------------------------------------------------------------------------------------


def joined(cubes: Sequence[Cube], least: int) -> list[Cube]:
    """The cubes, which share one score, with neighbouring bins joined, for all groups alike, until no cell is small.

    Of the ways to do so, one with the most stops. Where bins had to be joined the tables keep people and weights, and
    no sums of scores: from the sum of two values that were joined, each of them could be solved. Of a regressor, one
    sum for each group stays. Where a prediction decides and few people have a score, or few have none, it goes whole.
    """
    if not cubes or cubes[0].scores is None:
        return list(cubes)
    if _decided_without(cubes[0]) and any(
        _small(part, least).any() for cube in cubes for part in _with_and_without(cube)
    ):
        return [replace(cube, scores=None) for cube in cubes]
    if cubes[0].meaning.task == "regression":
        return _summed(cubes, least)
    rows = sum(len(cube.pairs) for cube in cubes) * 3
    if rows * cubes[0].scores.bins.count ** 2 > _MOST_CHECKS and not all(_large(cube.scores, least) for cube in cubes):
        cubes = [cube.coarsen(_BINS) for cube in cubes]
    tables = [cube.scores for cube in cubes if cube.scores is not None]
    if all(_large(table, least) for table in tables):
        return list(cubes)
    reading = tables[0].reading
    below = np.concatenate([_running(table, len(cube.pairs)) for table, cube in zip(tables, cubes, strict=True)])
    audited = -1
    if reading.cutoff is not None and cubes[0].meaning.prediction is None:
        audited = int(np.searchsorted(reading.bins.starts, reading.cutoff))
    kept = _stops(below, audited, least)
    return [replace(cube, scores=table.joined(kept)) for cube, table in zip(cubes, tables, strict=True)]


def _large(table: ScoreTable | None, least: int) -> bool:
    return table is None or not _small(table.n, least).any()


def _running(table: ScoreTable, pairs: int) -> Ints:
    """People below each bin, [pairs and labels that occur, bins + 1]."""
    people = table.dense(pairs)["n"].reshape(-1, table.bins.count)
    people = people[people.any(axis=1)]
    return np.concatenate([np.zeros((len(people), 1), dtype=np.int64), np.cumsum(people, axis=1)], axis=1)


def _stops(below: Ints, audited: int, least: int) -> list[int]:
    """The bins that start a stretch: the most of them between which every row has 0 or at least `least` people.

    No stretch reaches across the audited bin. `best[j]` is how many stretches end before bin j, −1 where none can.
    """
    bins = below.shape[1] - 1
    best, before = np.full(bins + 1, -1), np.zeros(bins + 1, dtype=np.intp)
    best[0] = 0
    for j in range(1, bins + 1):
        first = audited if 0 < audited < j else 0
        people = below[:, j : j + 1] - below[:, first:j]
        fits = ~_small(people, least).any(axis=0) & (best[first:j] >= 0)
        if fits.any():
            before[j] = first + int(np.argmax(np.where(fits, best[first:j], -1)))
            best[j] = best[before[j]] + 1
    place, kept = bins, []
    while place > 0:
        place = int(before[place])
        kept.append(place)
    return kept[::-1]


def _summed(cubes: Sequence[Cube], least: int) -> list[Cube]:
    """Of a regressor: one line for each group, because edges of bins and bands are the numbers of single people."""
    if least == 1:
        return list(cubes)
    return [replace(cube, scores=None if cube.scores is None else cube.scores.totals()) for cube in cubes]
