"""Conjunctions: every group that some values of a few columns make, counted by roll-up of the profiles of people.

A profile is one combination of values of all columns that are searched. A conjunction fixes the values of some of
these columns, so that its people are those of some profiles: after the data is counted, what it costs depends on how
many profiles there are, not on how many people.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices, Ints
from evenhand.core.results import MISSING
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, as_typed, join_names, shorten
from evenhand.inference.maxima import membership
from evenhand.sources.levels import order_key
from evenhand.verdicts.notes.bands import undivided

MOST_GROUPS = 10**6
MOST_SETS = 20_000
_DENSE = 4_000_000  # keys up to which counting is quicker than sorting


@dataclass(frozen=True)
class Profiles:
    """The combinations of values that occur: `codes[profile, column]` counts from 0 in `values[column]`."""

    columns: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]
    codes: Indices
    people: Ints

    @classmethod
    def of(cls, cube: Cube) -> Profiles:
        """The profiles of a cube: its groups."""
        columns = list(zip(*(group for _, group in cube.pairs), strict=True))
        values = tuple(tuple(sorted(set(column), key=order_key)) for column in columns)
        codes = np.empty((len(cube.pairs), len(columns)), dtype=np.int64)
        for j, column in enumerate(columns):
            places = {value: place for place, value in enumerate(values[j])}
            codes[:, j] = [places[value] for value in column]
        people = cube.n.reshape(len(cube.pairs), -1).sum(axis=1)
        return cls(cube.meaning.sensitive, values, codes, people)

    @property
    def order(self) -> Indices:
        """The profiles in an order that does not depend on the order in which columns were named."""
        keys = sorted(range(len(self.columns)), key=self.columns.__getitem__, reverse=True)
        return np.lexsort([self.codes[:, j] for j in keys])

    def check(self, least: int, cut: Collection[str] = ()) -> None:
        """Raise DataError for columns that make no group: of one value alone, or of too many.

        Parameters
        ----------
        cut
            The columns of numbers that nobody said how to cut.
        """
        for j, name in enumerate(self.columns):
            sizes = np.bincount(self.codes[:, j], weights=self.people)
            told = f"column {shorten(name)!r}"
            out = f"leave it out of {as_typed('within=', '--within')}"
            if self.values[j] == (None,):
                raise DataError(f"{told} is missing in every row, so there is nothing to search: {out}.")
            if len(self.values[j]) < 2 and name in cut:
                raise DataError(f"{told} {undivided(name)}, or {out}.")
            if len(self.values[j]) < 2:
                raise DataError(f"{told} has one value only, {self.values[j][0]!r}, so it makes no group: {out}.")
            if sizes.max() < least:
                raise DataError(
                    f"{told} has {len(sizes):,} values, and none has {least:,} people ({int(sizes.max()):,} at most). "
                    f"If it is an id, {out}; else join its values, or lower {as_typed('least=', '--least')}."
                )


@dataclass(frozen=True)
class Conjunctions:
    """Every conjunction with enough people, in the order of its columns: those of few columns first.

    `keys` has, for each set of columns, the keys of its conjunctions in rising order; `starts` is where each set begins
    among all; `example` is a profile that belongs to each conjunction.
    """

    profiles: Profiles
    sets: tuple[tuple[int, ...], ...]
    keys: tuple[Ints, ...]
    example: Indices
    people: Ints

    @cached_property
    def starts(self) -> Indices:
        return np.concatenate([[0], np.cumsum([len(keys) for keys in self.keys])]).astype(np.intp)

    @cached_property
    def set_of(self) -> Indices:
        """The set of columns of each conjunction."""
        return np.repeat(np.arange(len(self.sets)), np.diff(self.starts))

    def __len__(self) -> int:
        return len(self.example)

    @cached_property
    def repeated(self) -> Bools:
        """Which conjunctions have the same people as one before, as where two columns divide people alike."""
        size = len(self.profiles.people)
        marks = np.random.default_rng(0).integers(1, 2 ** (52 - size.bit_length()), (size, 2))  # sums are exact
        sums = self.rolled_up(marks.astype(np.float64))
        _, first = np.unique(sums[:, 0] + 1j * sums[:, 1], return_index=True)
        found = np.ones(len(self), dtype=np.bool_)
        found[first] = False
        return found

    def place(self, at: int, profiles: Indices | None = None) -> Indices:
        """The conjunction of a set of columns that each profile belongs to, counted within the set; −1 for none."""
        codes = self.profiles.codes if profiles is None else self.profiles.codes[profiles]
        key, keys = _key(self.profiles, codes, self.sets[at]), self.keys[at]
        found = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        return np.where(keys[found] == key, found, -1)

    def rolled_up(self, sums: Floats) -> Floats:
        """Sums [profiles, fields] over the people of each conjunction, [conjunctions, fields]."""
        parts = [membership(self.place(at), len(self.keys[at])) @ sums for at in range(len(self.sets))]
        return np.concatenate(parts)

    def containing(self, which: Indices) -> Iterator[tuple[Indices, Indices]]:
        """The conjunctions of fewer of the same columns, which hold all people of these: pairs of (these, those).

        Each pair of arrays is of one set of columns in another; each of `which` occurs with all that contain it.
        """
        by_columns = {columns: at for at, columns in enumerate(self.sets)}
        for at in np.unique(self.set_of[which]).tolist():
            children = which[self.set_of[which] == at]
            columns = self.sets[at]
            for size in range(1, len(columns)):
                for fewer in itertools.combinations(columns, size):
                    parent = by_columns[fewer]
                    yield children, self.starts[parent] + self.place(parent, self.example[children])

    def belonging(self, which: Bools) -> Bools:
        """The profiles that belong to some of the conjunctions; both may have more axes."""
        found = np.zeros((len(self.profiles.people), *which.shape[1:]), dtype=np.bool_)
        for at in range(len(self.sets)):
            place = self.place(at)
            found |= which[self.starts[at] + place] & (place >= 0).reshape(-1, *[1] * (which.ndim - 1))
        return found

    def values(self, which: int) -> tuple[tuple[str, str | None], ...]:
        """The columns and values that make one conjunction."""
        names, values, codes = self.profiles.columns, self.profiles.values, self.profiles.codes[self.example[which]]
        return tuple((names[j], values[j][codes[j]]) for j in self.sets[self.set_of[which]])

    def name(self, which: int) -> str:
        """A conjunction as people read it."""
        return ", ".join(f"{name} = {MISSING if value is None else value}" for name, value in self.values(which))


def conjunctions(profiles: Profiles, depth: int, least: int) -> Conjunctions:
    """Every conjunction of at most `depth` columns with at least `least` people, and fewer than everyone."""
    columns = range(len(profiles.columns))
    count = sum(math.comb(len(columns), size) for size in range(1, depth + 1))
    if count > MOST_SETS:
        raise CallError(
            f"{len(columns)} columns make {count:,} sets of at most {depth}, more than {MOST_SETS:,}: {_advice(depth)}."
        )
    sets: list[tuple[int, ...]] = []
    keys, examples, people = [], [], []
    total, everyone, known = 0, int(profiles.people.sum()), set()
    for size in range(1, depth + 1):
        for chosen in itertools.combinations(columns, size):
            # A conjunction has no more people than those of fewer columns, so a set without any has no larger ones.
            if size > 1 and not all(part in known for part in itertools.combinations(chosen, size - 1)):
                continue
            found, example, sizes = _groups(profiles, chosen)
            kept = (sizes >= least) & (sizes < everyone)
            if not kept.any():
                continue
            total += int(kept.sum())
            if total > MOST_GROUPS:
                raise DataError(
                    f"{join_names(profiles.columns, 6)} make more than {MOST_GROUPS:,} groups of at least {least:,} "
                    f"people: {_advice(depth)}."
                )
            known.add(chosen)
            sets.append(chosen)
            keys.append(found[kept])
            examples.append(example[kept])
            people.append(sizes[kept])
    if not sets:
        largest = max(int(np.bincount(profiles.codes[:, j], weights=profiles.people).max()) for j in columns)
        raise DataError(
            f"no group has at least {least:,} people and leaves others to compare it with (the largest has "
            f"{largest:,} of {everyone:,}): lower {as_typed('least=', '--least')}."
        )
    return Conjunctions(profiles, tuple(sets), tuple(keys), np.concatenate(examples), np.concatenate(people))


def _advice(depth: int) -> str:
    fewer = [f"a smaller {as_typed('depth=', '--depth')}"] if depth > 1 else []
    ways = [
        f"name fewer columns in {as_typed('within=', '--within')}",
        *fewer,
        f"a larger {as_typed('least=', '--least')}",
        f"or cut numbers more coarsely with {as_typed('bands=', '--bands')}",
    ]
    return ", ".join(ways)


def _key(profiles: Profiles, codes: Indices, columns: Sequence[int]) -> Ints:
    """One number for the values of some columns, as in a number with mixed bases."""
    key = np.zeros(len(codes), dtype=np.int64)
    for j in columns:
        key = key * len(profiles.values[j]) + codes[:, j]
    return key


def _groups(profiles: Profiles, columns: Sequence[int]) -> tuple[Ints, Indices, Ints]:
    """The keys of the values of some columns that occur, a profile that has each, and the people of each."""
    key = _key(profiles, profiles.codes, columns)
    width = math.prod(len(profiles.values[j]) for j in columns)
    if width > _DENSE:
        keys, example, place = np.unique(key, return_index=True, return_inverse=True)
    else:
        first = np.full(width, -1, dtype=np.intp)
        first[key[::-1]] = np.arange(len(key))[::-1]
        keys = np.flatnonzero(first >= 0)
        example, place = first[keys], (np.cumsum(first >= 0) - 1)[key]
    sizes = np.zeros(len(keys), dtype=np.int64)
    np.add.at(sizes, place.reshape(-1), profiles.people)
    return keys, example, sizes
