"""Pairs of people who are compared: the k nearest of each, all within a radius, all pairs, or pairs the caller names.

Pairs come in chunks, so that there may be far more of them than fit into memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evenhand.core import progress
from evenhand.core.arrays import Floats, Ints
from evenhand.errors import CallError, shorten
from evenhand.individual.distances import Distances
from evenhand.individual.neighbours import Nearest

_ROWS = 4_000_000  # distances at a time


@dataclass(frozen=True)
class Chunk:
    """Some pairs: for each the position of one person, of the other, and their distance."""

    one: Ints
    other: Ints
    distance: Floats

    def both_ways(self) -> Chunk:
        """Each pair twice, once from either side."""
        one, other = np.concatenate([self.one, self.other]), np.concatenate([self.other, self.one])
        return Chunk(one, other, np.concatenate([self.distance, self.distance]))


class Similar(Protocol):
    """Who is similar to whom."""

    @property
    def people(self) -> int: ...

    @property
    def described(self) -> str:
        """Which pairs these are, in words that end a sentence."""
        ...

    def pairs(self) -> Iterator[Chunk]:
        """Every pair once."""
        ...

    def neighbours(self) -> Iterator[Chunk]:
        """Each person with everyone they are compared with: a symmetric pair comes twice."""
        ...

    @property
    def spare(self) -> Ints | None:
        """For each person the next neighbours beyond those compared with, [people, some]; None if there are none."""
        ...


@dataclass(frozen=True)
class KNearest:
    """The k nearest of each person. `nearest` may hold more than k: the next ones are `spare`."""

    nearest: Nearest
    k: int
    own: bool = False
    """Is each person also counted among their own neighbours?"""

    @property
    def people(self) -> int:
        return len(self.nearest.index)

    @property
    def described(self) -> str:
        own = "themselves and " if self.own else ""
        return f"each person with {own}the {f'{self.k} ' if self.k > 1 else ''}nearest"

    @property
    def spare(self) -> Ints | None:
        index = self.nearest.index
        return index[:, self.k :] if index.shape[1] > self.k else None

    @property
    def tied(self) -> int:
        """The number of people for whom a random draw between ties decided who is among the k nearest."""
        distance = self.nearest.distance
        return int((distance[:, self.k - 1] == distance[:, self.k]).sum()) if distance.shape[1] > self.k > 0 else 0

    def neighbours(self) -> Iterator[Chunk]:
        one = np.repeat(np.arange(self.people), self.k)
        near = self.nearest
        yield Chunk(one, near.index[:, : self.k].reshape(-1), near.distance[:, : self.k].reshape(-1))

    def pairs(self) -> Iterator[Chunk]:
        for chunk in self.neighbours():
            low, high = np.minimum(chunk.one, chunk.other), np.maximum(chunk.one, chunk.other)
            _, once = np.unique(low * self.people + high, return_index=True)
            yield Chunk(low[once], high[once], chunk.distance[once])


class _Symmetric(ABC):
    """Pairs in which each person is compared with the other."""

    spare = None

    @abstractmethod
    def pairs(self) -> Iterator[Chunk]:
        """Every pair once."""

    def neighbours(self) -> Iterator[Chunk]:
        for chunk in self.pairs():
            yield chunk.both_ways()


@dataclass(frozen=True)
class Within(_Symmetric):
    """All pairs up to a distance; an infinite one is everyone with everyone."""

    distances: Distances
    radius: float

    @property
    def people(self) -> int:
        return self.distances.people

    @property
    def described(self) -> str:
        return "everyone with everyone" if np.isinf(self.radius) else f"all within a distance of {self.radius:g}"

    def pairs(self) -> Iterator[Chunk]:
        step = max(1, _ROWS // self.people)
        steps = range(0, self.people, step)
        for first in progress.track(steps, len(steps), "comparing people"):
            apart = self.distances.rows(first, min(first + step, self.people))[:, first:]
            near = np.triu(apart <= self.radius, 1)
            one, other = np.nonzero(near)
            yield Chunk(one + first, other + first, apart[one, other])


@dataclass(frozen=True)
class NamedPairs(_Symmetric):
    """Pairs that the caller named."""

    distances: Distances
    one: Ints
    other: Ints

    @property
    def people(self) -> int:
        return self.distances.people

    @property
    def described(self) -> str:
        return "the pairs that were named"

    def pairs(self) -> Iterator[Chunk]:
        yield Chunk(self.one, self.other, self.distances.between(self.one, self.other))


def named_pairs(pairs: Any, distances: Distances, position: Ints) -> NamedPairs:
    """Pairs of row numbers as pairs of people; `position` is each row's position among them, −1 for one left out."""
    try:
        rows = np.asarray(pairs)
        whole = rows.dtype.kind in "iu" or bool((rows == np.floor(rows)).all())
    except (TypeError, ValueError):
        whole = False
    if not whole or rows.ndim != 2 or rows.shape[1] != 2 or not len(rows):
        raise CallError(f"pairs={shorten(repr(pairs))} must be pairs of row numbers, such as [(0, 4), (2, 3)].")
    if rows.min() < 0 or rows.max() >= len(position):
        wrong = rows.min() if rows.min() < 0 else rows.max()
        raise CallError(f"pairs= names row {int(wrong)}; the rows are 0 to {len(position) - 1}.")
    if (rows[:, 0] == rows[:, 1]).any():
        row = int(rows[rows[:, 0] == rows[:, 1]][0, 0])
        raise CallError(f"pairs= sets row {row} against itself: a pair is two people.")
    kept = position[rows.astype(np.int64)]
    kept = np.sort(kept[(kept >= 0).all(axis=1)], axis=1)
    kept = np.unique(kept, axis=0)
    return NamedPairs(distances, kept[:, 0], kept[:, 1])
