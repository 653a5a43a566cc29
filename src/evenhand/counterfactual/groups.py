"""The groups between which a causal model moves people, and the value of each attribute in each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.core.arrays import Indices, Ints
from evenhand.core.results import Group, spell
from evenhand.errors import DataError, shorten
from evenhand.sources.features import Column, Columns
from evenhand.sources.groups import combine
from evenhand.sources.spelling import spelling

MOST_VALUES, MOST_GROUPS = 20, 64


@dataclass(frozen=True)
class People:
    """Who belongs to which group: `names` are the groups that occur, `codes` the position of each person's group.

    `values` has for each group what each attribute is set to when people are moved to it.
    """

    attributes: tuple[str, ...]
    names: tuple[Group, ...]
    values: tuple[dict[str, Any], ...]
    codes: Indices

    @cached_property
    def sizes(self) -> Ints:
        return np.bincount(self.codes, minlength=len(self.names))

    def shown(self, group: int) -> str:
        """A group as people read it."""
        return spell(self.names[group], self.attributes)

    def rows(self, group: int) -> Ints:
        return np.flatnonzero(self.codes == group)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every group with every other group."""
        count = range(len(self.names))
        return [(group, target) for group in count for target in count if group != target]


def group_people(rows: Columns, attributes: Sequence[str]) -> People:
    """The groups that some attributes make; too many, or only one value of an attribute, is an error."""
    values, codes = zip(*(_distinct(rows[name]) for name in attributes), strict=True)
    names, positions = combine([list(each) for each in values], codes)
    if len(names) > MOST_GROUPS:
        raise DataError(f"{len(names)} groups are too many to move people between all of them: name fewer attributes.")
    settings = tuple(
        {name: by_spelling[value] for name, by_spelling, value in zip(attributes, values, group, strict=True)}
        for group in names
    )
    return People(tuple(attributes), names, settings, positions)


def _distinct(column: Column) -> tuple[dict[str | None, Any], Indices]:
    """The values of an attribute that occur, by their spelling, and the position of each row's value among them."""
    present, codes = np.unique(column.values, return_inverse=True)
    values = [value.item() if column.levels is None else column.levels[int(value)] for value in present]
    name = repr(shorten(column.name))
    if len(values) > MOST_VALUES:
        raise DataError(
            f"{name} has {len(values):,} values; {MOST_VALUES} are the most that people are moved between. Cut it into "
            "bands first."
        )
    if len(values) < 2:
        raise DataError(f"{name} has one group only ({shorten(repr(values[0]))}): there is nothing to compare.")
    return {spelling(value): value for value in values}, codes.reshape(-1)
