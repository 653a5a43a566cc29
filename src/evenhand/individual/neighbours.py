"""The k nearest neighbours of each person, by an exact or an approximate search.

Points that coincide are searched once. Among people at distance 0 the nearest are not defined, and taking the first
rows would compare everyone with the same few, so each person gets others, drawn at random from a seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.core import progress
from evenhand.core.arrays import Floats, Ints
from evenhand.errors import CallError, nearest, shorten
from evenhand.individual import approximate_search, exact_search
from evenhand.individual.distances import Distances, Points

Method = Literal["auto", "exact", "approximate"]

METHODS = ("auto", "exact", "approximate")
_MOST_PRODUCTS = 4e12  # of coordinates in an exact search by default: it takes some minutes
_ROWS = 8_000_000  # distances at a time, where they come from a function or a matrix


@dataclass(frozen=True)
class Nearest:
    """The k nearest others of each person, nearest first, and their distances: [people, k]."""

    index: Ints
    distance: Floats
    recall: float | None = None
    """The share of the true neighbours that an approximate index found, on a sample; None for an exact search."""


def check(method: str) -> None:
    """Raise an error for a way to search that is not known."""
    if method not in METHODS:
        raise CallError(f"neighbours={shorten(repr(method))} is not known; {nearest(str(method), METHODS)}")


def nearest_people(distances: Distances, k: int, *, method: Method = "auto", random_state: int = 0) -> Nearest:
    """The k nearest others of each person; there must be more than k people."""
    if isinstance(distances, Points):
        return _of_points(distances.points, k, method, random_state)
    if method == "approximate":
        raise CallError("neighbours='approximate' works with the Euclidean distance only; leave it out.")
    return _of_rows(distances, k, random_state)


def _of_rows(distances: Distances, k: int, random_state: int) -> Nearest:
    """From rows of distances, a block at a time. People are looked at in random order, which decides ties."""
    people = distances.people
    order = np.random.default_rng(random_state).permutation(people)
    found, apart = np.empty((people, k), dtype=np.int64), np.empty((people, k))
    step = max(1, _ROWS // people)
    steps = range(0, people, step)
    for first in progress.track(steps, len(steps), "finding neighbours"):
        last = min(first + step, people)
        rows = distances.rows(first, last)[:, order]
        rows[order[None, :] == np.arange(first, last)[:, None]] = np.inf
        places, apart[first:last] = exact_search.smallest_of(rows, k)
        found[first:last] = order[places]
    return Nearest(found, apart)


def _of_points(points: Floats, k: int, method: Method, random_state: int) -> Nearest:
    """From points: distinct ones are searched, then each person gets neighbours of their own."""
    alike = distinct(points)
    size = len(alike.first)
    if size == 1:
        return _spread(alike, np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0)), k, random_state, None)
    # Distinct points in random order, so that ties between them do not follow the order of the rows.
    order = np.random.default_rng(random_state).permutation(size)
    chosen, wanted = points[alike.first[order]], min(k, size - 1)
    recall = None
    if method == "approximate" or (method == "auto" and _too_many(chosen) and approximate_search.available()):
        found, apart, recall = approximate_search.nearest(chosen, wanted, random_state)
    else:
        found, apart = exact_search.nearest(chosen, wanted)
    back = np.empty(size, dtype=np.int64)
    back[order] = np.arange(size)
    return _spread(alike, order[found][back], apart[back], k, random_state, recall)


def _too_many(points: Floats) -> bool:
    """Would an exact search take many minutes?"""
    people, width = points.shape
    return bool(width > exact_search.FEW_DIMENSIONS and float(people) ** 2 * width > _MOST_PRODUCTS)


@dataclass(frozen=True)
class DistinctPoints:
    """The points that differ: `first` is one row of each, `which` the position of each row's point among them."""

    first: Ints
    which: Ints

    @property
    def sizes(self) -> Ints:
        return np.bincount(self.which, minlength=len(self.first))


def distinct(points: Floats) -> DistinctPoints:
    """The distinct rows, by a hash of each row that is then checked: far quicker than sorting rows."""
    rows = np.ascontiguousarray(points + 0.0)  # −0 and 0 are one number
    factors = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], dtype=np.uint64) | np.uint64(1)
    with np.errstate(over="ignore"):
        bits = rows.view(np.uint64)
        bits = (bits ^ (bits >> np.uint64(29))) * factors
        hashes = (bits ^ (bits >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    if not np.array_equal(rows[first][which], rows):
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return DistinctPoints(first.astype(np.int64), which.reshape(-1).astype(np.int64))


def _spread(
    alike: DistinctPoints, found: Ints, apart: Floats, k: int, random_state: int, recall: float | None
) -> Nearest:
    """From neighbours of distinct points to neighbours of people: first those at the same point, then the next points.

    People at the same point get a random circular order; each takes the next ones in it, and starts at a random place
    in other points' orders.
    """
    people, sizes = len(alike.which), alike.sizes
    random = np.random.default_rng((random_state, 1))
    circle = np.lexsort((random.random(people), alike.which))
    start = np.cumsum(sizes) - sizes
    place = np.empty(people, dtype=np.int64)
    place[circle] = np.arange(people) - start[alike.which[circle]]
    points = np.column_stack([np.arange(len(sizes)), found])
    steps = np.column_stack([np.zeros(len(sizes)), apart])
    taken = np.cumsum(sizes[points], axis=1) - 1  # how many others are met up to each point of the list
    turn = random.integers(0, people, people)
    index_, distance = np.empty((people, k), dtype=np.int64), np.empty((people, k))
    for slot in range(k):
        at = (taken <= slot).sum(axis=1)[alike.which]
        point = points[alike.which, at]
        before = np.where(at == 0, -1, taken[alike.which, np.maximum(at, 1) - 1])
        offset = slot - np.where(at == 0, 0, before)
        shift = np.where(at == 0, place + 1, turn)
        index_[:, slot] = circle[start[point] + (shift + offset) % sizes[point]]
        distance[:, slot] = steps[alike.which, at]
    return Nearest(index_, distance, recall)
