"""People: the groups of the sensitive attributes in a table, and what each attribute is set to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.core.arrays import Ints
from evenhand.core.results import Group
from evenhand.counterfactual.columns import Columns
from evenhand.errors import DataError, shorten
from evenhand.sources.levels import order_key
from evenhand.sources.roles import spelling

MOST_VALUES, MOST_GROUPS = 20, 64


@dataclass(frozen=True)
class People:
    """Who belongs to which group; a group is a combination of values that occurs. `values` is what to set for each."""

    attributes: tuple[str, ...]
    names: tuple[Group, ...]
    values: tuple[dict[str, Any], ...]
    codes: Ints

    @cached_property
    def sizes(self) -> Ints:
        return np.bincount(self.codes, minlength=len(self.names))

    def rows(self, group: int) -> Ints:
        return np.flatnonzero(self.codes == group)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every group with every other one that its people could have been in."""
        count = range(len(self.names))
        return [(group, target) for group in count for target in count if group != target]


def group(rows: Columns, attributes: Sequence[str]) -> People:
    """The groups of some attributes."""
    codes = np.zeros(len(rows[attributes[0]]), dtype=np.int64)
    levels: list[list[Any]] = []
    for name in attributes:
        found, places = np.unique(rows[name].values, return_inverse=True)
        known = rows[name].levels
        if len(found) > MOST_VALUES:
            raise DataError(
                f"{shorten(name)!r} has {len(found):,} values; {MOST_VALUES} are the most that people are moved "
                "between. Cut it into bands first."
            )
        if len(found) < 2:
            only = shorten(repr(found[0] if known is None else known[int(found[0])]))
            raise DataError(f"{shorten(name)!r} has one group only ({only}): there is nothing to compare.")
        levels.append([value.item() if known is None else known[int(value)] for value in found])
        codes = codes * len(found) + places.reshape(-1)
    shape = [len(part) for part in levels]
    there = np.unique(codes)
    if len(there) > MOST_GROUPS:
        raise DataError(f"{len(there)} groups are too many to move people between all of them: name fewer attributes.")
    combined: list[tuple[Group, dict[str, Any], int]] = []
    for code in there:
        picked = [part[int(i)] for part, i in zip(levels, np.unravel_index(code, shape), strict=True)]
        spelled = tuple(spelling(value) for value in picked)
        combined.append((spelled, dict(zip(attributes, picked, strict=True)), int(code)))
    combined.sort(key=lambda each: [order_key(value) for value in each[0]])
    place = np.zeros(int(there.max()) + 1, dtype=np.int64)
    for i, (_, _, code) in enumerate(combined):
        place[code] = i
    names, values, _ = zip(*combined, strict=True)
    return People(tuple(attributes), names, values, place[codes])
