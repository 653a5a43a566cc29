"""Distances between people: between points, by a function of the caller, or from a matrix of the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.core.calls import call
from evenhand.core.quantities import shown
from evenhand.errors import CallError, DataError

Function = Callable[[Floats, Floats], Any]

_CHUNK = 4_000_000  # values at a time where coordinates of pairs are compared


class Distances(Protocol):
    """Distances between people, as neighbours and pairs need them."""

    @property
    def people(self) -> int: ...

    def rows(self, first: int, last: int) -> Floats:
        """The distances of the people first … last − 1 to everyone, [last − first, people]."""
        ...

    def between(self, one: Ints, other: Ints) -> Floats:
        """The distance of each pair (one[i], other[i])."""
        ...


@dataclass(frozen=True)
class Points:
    """Euclidean distance between points [people, coordinates]."""

    points: Floats

    @property
    def people(self) -> int:
        return len(self.points)

    def rows(self, first: int, last: int) -> Floats:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(self.points[first:last], self.points))

    def between(self, one: Ints, other: Ints) -> Floats:
        found = np.empty(len(one))
        step = max(1, _CHUNK // self.points.shape[1])
        for first in range(0, len(one), step):
            part = slice(first, first + step)
            apart = self.points[one[part]] - self.points[other[part]]
            found[part] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        return found


@dataclass(frozen=True)
class ByFunction:
    """A function of two arrays of people that returns the matrix of their distances, as in scipy and scikit-learn."""

    points: Floats
    function: Function

    @property
    def people(self) -> int:
        return len(self.points)

    def rows(self, first: int, last: int) -> Floats:
        return self._matrix(self.points[first:last], self.points)

    def between(self, one: Ints, other: Ints) -> Floats:
        found = np.empty(len(one))
        order = np.argsort(one, kind="stable")
        starts = np.flatnonzero(np.diff(one[order], prepend=-1))
        for first, last in zip(starts, [*starts[1:], len(order)], strict=True):
            part = order[first:last]
            found[part] = self._matrix(self.points[one[part[:1]]], self.points[other[part]])[0]
        return found

    def _matrix(self, some: Floats, others: Floats) -> Floats:
        where = f"on {len(some):,} and {len(others):,} people"
        returned = call("distance=", where, self.function, some, others, remedy=_CONTRACT)
        try:
            found = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError):
            raise CallError(f"distance= returned {shown(returned)}. {_CONTRACT}") from None
        if found.shape != (len(some), len(others)):
            raise CallError(
                f"distance= returned shape {found.shape} for {len(some)} and {len(others)} people. {_CONTRACT}"
            )
        return checked(found, "distance= returned")


_CONTRACT = (
    "It takes two arrays of people and returns a matrix with a row for each of the first and a column for each of the "
    "second; for a function f of two persons pass lambda A, B: scipy.spatial.distance.cdist(A, B, f)."
)


@dataclass(frozen=True)
class Precomputed:
    """A matrix of distances that the caller holds, of which the people in `chosen` are used."""

    matrix: Any
    chosen: Ints

    @property
    def people(self) -> int:
        return len(self.chosen)

    def rows(self, first: int, last: int) -> Floats:
        part = np.asarray(self.matrix[self.chosen[first:last]], dtype=np.float64)
        whole = len(self.chosen) == self.matrix.shape[1]
        return checked(part if whole else part[:, self.chosen], "X holds")

    def between(self, one: Ints, other: Ints) -> Floats:
        found = self.matrix[self.chosen[one], self.chosen[other]]
        return checked(np.asarray(found, dtype=np.float64), "X holds")


def matrix(X: Any) -> Any:
    """X as a square matrix of distances; the caller's own array, not a copy."""
    found = X if hasattr(X, "ndim") and not hasattr(X, "columns") else np.asarray(X)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or hasattr(found, "tocsr"):
        raise CallError(
            f"distance='precomputed' needs X as a square matrix of distances; it has shape {tuple(found.shape)}."
        )
    return found


def checked(distances: Floats, who: str) -> Floats:
    """The distances, which must be numbers of at least 0."""
    if np.isnan(distances).any():
        raise DataError(f"{who} a distance that is not a number (NaN).")
    if (distances < 0).any():
        raise DataError(f"{who} a negative distance ({distances.min():g}).")
    return distances
