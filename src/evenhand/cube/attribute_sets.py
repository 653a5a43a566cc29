"""The sets of attributes that an audit looks at: each attribute, then combinations of them, which grow as 2^k."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import NamedTuple

from evenhand.errors import CallError, as_typed

Set = tuple[str, ...]

MOST_GROUPS = 1000  # of a combination
MOST_COMBINED, MOST_SETS = 3, 64  # where a caller does not say how many
MOST_WANTED = 4096  # where one does


class AttributeSets(NamedTuple):
    """The sets to look at, single attributes first; those with too many groups; how many more there would be."""

    sets: tuple[Set, ...]
    crowded: tuple[tuple[Set, int], ...] = ()
    further: int = 0

    @property
    def notes(self) -> list[str]:
        """What is left out, and how to have it."""
        notes = [
            f"{' × '.join(names)} has {groups:,} groups, more than {MOST_GROUPS:,}: left out."
            for names, groups in self.crowded
        ]
        if self.further:
            every = as_typed("intersections=True", "--intersections")
            notes.append(
                f"{self.further:,} more combinations of attributes are left out: at most {MOST_COMBINED} attributes "
                f"are combined, in at most {MOST_SETS} sets. {every} looks at all."
            )
        return notes


def attribute_sets(
    names: Sequence[str], intersections: bool | int | None, groups: Callable[[Set], int]
) -> AttributeSets:
    """The sets of the attributes; `groups` counts the groups of a combination.

    `intersections` is how many attributes are combined at most: True for all, and None for a few that are soon looked
    at.
    """
    every = 2 ** len(names) - 1
    wanted = _few(names) if intersections is None else _asked(names, intersections)
    sizes = {each: groups(each) for each in wanted if len(each) > 1}
    crowded = tuple((each, size) for each, size in sizes.items() if size > MOST_GROUPS)
    sets = tuple(each for each in wanted if sizes.get(each, 0) <= MOST_GROUPS)
    return AttributeSets(sets, crowded, every - len(wanted) if intersections is None else 0)


def _few(names: Sequence[str]) -> list[Set]:
    """Single attributes, and combinations as long as there are not too many, those of few attributes first."""
    combined = (each for size in range(2, MOST_COMBINED + 1) for each in itertools.combinations(names, size))
    return [*((name,) for name in names), *itertools.islice(combined, max(MOST_SETS - len(names), 0))]


def _asked(names: Sequence[str], intersections: bool | int) -> list[Set]:
    if not isinstance(intersections, Integral) or intersections < 0:
        raise CallError(f"intersections={intersections!r} must be True, False or a whole number of at least 0.")
    deepest = len(names) if intersections is True else min(max(int(intersections), 1), len(names))
    count = sum(math.comb(len(names), size) for size in range(1, deepest + 1))
    if count > max(MOST_WANTED, len(names)):
        raise CallError(
            f"intersections={intersections!r} makes {count:,} sets of {len(names)} attributes, more than "
            f"{MOST_WANTED:,}: combine fewer at a time, such as intersections=2, or name fewer attributes."
        )
    return [each for size in range(1, deepest + 1) for each in itertools.combinations(names, size)]
