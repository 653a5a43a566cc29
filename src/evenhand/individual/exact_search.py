"""Exact nearest neighbours of distinct points: a tree in few dimensions, else matrix products in blocks.

A block of people is compared with everyone by one product of float32 matrices, which gives squared distances with
rounding errors. From them a few more candidates than needed are taken and measured again in float64. A bound on the
rounding says whether anyone who was left out could be nearer; where that cannot be excluded, the row is searched again
in float64. So the result is exact at the cost of float32, and no array of size people × people is ever made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from evenhand.core import progress
from evenhand.core.arrays import Floats, Ints

Neighbours = tuple[Ints, Floats]
"""Indices and distances, [rows, k]."""

FEW_DIMENSIONS = 8  # up to here a tree is faster than comparing everyone with everyone
_FEW_PEOPLE = 2000
_SPARE = 4  # candidates beyond k
_STRIDES = 32  # columns of which the smallest value is taken together
_BLOCK = 16_000_000  # distances at a time for each worker: 64 MB in float32
_ROUNDING = 2.0**-24
_HUGE = 1e15  # beyond it squares no longer fit into float32


def nearest(points: Floats, k: int, rows: Ints | None = None) -> Neighbours:
    """The k nearest other points of each point (or of those in `rows`), nearest first, with their distances.

    No two points may be the same: `neighbours` passes distinct ones.
    """
    if points.shape[1] <= FEW_DIMENSIONS:
        return _by_tree(points, k, rows)
    return Blocks(points).nearest(k, rows)


def _by_tree(points: Floats, k: int, rows: Ints | None) -> Neighbours:
    from scipy.spatial import cKDTree

    searched = np.arange(len(points)) if rows is None else rows
    tree = cKDTree(points)
    index = np.empty((len(searched), k), dtype=np.int64)
    distance = np.empty((len(searched), k))
    steps = range(0, len(searched), 50_000)
    for first in progress.track(steps, len(steps), "finding neighbours"):
        part = slice(first, first + 50_000)
        apart, found = tree.query(points[searched[part]], k=k + 1, workers=-1)
        index[part], distance[part] = _without(searched[part], found.reshape(-1, k + 1), apart.reshape(-1, k + 1))
    return index, distance


def _without(own: Ints, neighbours: Ints, apart: Floats) -> Neighbours:
    """The lists of neighbours without the person themselves, or without the last where they are not in their list."""
    itself = neighbours == own[:, None]
    itself[~itself.any(axis=1), -1] = True
    shape = len(own), neighbours.shape[1] - 1
    return neighbours[~itself].reshape(shape), apart[~itself].reshape(shape)


class Blocks:
    """Points prepared for matrix products: [x, 1] · [−2y, |y|²] is the squared distance less |x|²."""

    def __init__(self, points: Floats) -> None:
        self.points = points
        self.people, self.width = points.shape
        centred = points - points.mean(axis=0)
        self.norms = np.sqrt(np.einsum("ij,ij->i", centred, centred))
        self.groups = -(-self.people // _STRIDES)
        columns = np.zeros((self.width + 1, self.groups * _STRIDES), dtype=np.float32)
        columns[:-1, : self.people] = -2 * centred.T
        columns[-1] = np.inf
        columns[-1, : self.people] = self.norms**2
        self.columns = columns
        self.queries = np.column_stack([centred, np.ones(self.people)]).astype(np.float32)

    def nearest(self, k: int, rows: Ints | None = None) -> Neighbours:
        searched = np.arange(self.people) if rows is None else rows
        index = np.empty((len(searched), k), dtype=np.int64)
        distance = np.empty((len(searched), k))
        if self.people <= max(_FEW_PEOPLE, _STRIDES * (k + _SPARE)) or not 1 / _HUGE < self.norms.max() < _HUGE:
            step, work = max(1, _BLOCK // (4 * self.people)), self._in_float64
        else:
            step, work = int(np.clip(_BLOCK // self.columns.shape[1], 4, 128)), self._block

        def block(first: int) -> None:
            part = slice(first, first + step)
            index[part], distance[part] = work(searched[part], k)

        for _ in progress.track(
            in_parallel(block, range(0, len(searched), step)), -(-len(searched) // step), "finding neighbours"
        ):
            pass
        return index, distance

    def _block(self, rows: Ints, k: int) -> Neighbours:
        """Candidates by float32, their order by float64; rows in which float32 may be wrong are searched in float64."""
        wanted = k + _SPARE
        near = self.queries[rows] @ self.columns
        near[np.arange(len(rows)), rows] = np.inf
        # The k nearest lie in the k groups with the nearest members: any other group has k nearer ones before it.
        least = np.minimum.reduce(near.reshape(len(rows), _STRIDES, self.groups), axis=1)
        groups = np.argpartition(least, wanted - 1, axis=1)[:, :wanted]
        places = (groups[:, :, None] + np.arange(_STRIDES) * self.groups).reshape(len(rows), -1)
        values = np.take_along_axis(near, places, axis=1)
        chosen = np.argpartition(values, wanted - 1, axis=1)[:, :wanted]
        candidates = np.take_along_axis(places, chosen, axis=1)
        farthest = np.take_along_axis(values, chosen, axis=1).max(axis=1).astype(np.float64)
        index, distance = self._measured(rows, candidates, k)
        self._redo(rows, farthest, index, distance)
        return index, distance

    def _measured(self, rows: Ints, candidates: Ints, k: int) -> Neighbours:
        apart = self.points[candidates] - self.points[rows][:, None, :]
        exact = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
        order = np.argsort(exact, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(exact, order, axis=1)

    def _redo(self, rows: Ints, farthest: Floats, index: Ints, distance: Floats) -> None:
        """Search those rows again in float64 in which someone who is not a candidate might be nearer than the k-th.

        Only points with a norm up to |x| + d can be within d of x, so the rounding that matters is bounded by that.
        """
        norm, last = self.norms[rows], distance[:, -1]
        reach = norm + last
        rounding = (self.width + 4) * _ROUNDING * (reach**2 + 2 * norm * reach)
        doubtful = np.flatnonzero(last**2 > farthest + norm**2 - rounding)
        step = max(1, _BLOCK // (4 * self.people))
        for first in range(0, len(doubtful), step):
            part = doubtful[first : first + step]
            index[part], distance[part] = self._in_float64(rows[part], index.shape[1])

    def _in_float64(self, rows: Ints, k: int) -> Neighbours:
        from scipy.spatial.distance import cdist

        apart = cdist(self.points[rows], self.points)
        apart[np.arange(len(rows)), rows] = np.inf
        return smallest_of(apart, k)


def smallest_of(apart: Floats, k: int) -> Neighbours:
    """The columns of the k smallest values of each row, in rising order, and these values."""
    found = np.argpartition(apart, k - 1, axis=1)[:, :k] if k < apart.shape[1] else np.argsort(apart, axis=1)[:, :k]
    values = np.take_along_axis(apart, found, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(values, order, axis=1)


def in_parallel(work: Callable[[int], None], blocks: range) -> Iterator[None]:
    """Run `work` for each block in as many threads as there are processors; yields as the blocks are done.

    Matrix products that start threads inside these threads would wait for each other, so each product is limited to
    one thread; where they cannot be limited, the blocks run in one thread.
    """
    limits = _one_thread_each()
    workers = 1 if limits is None else os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    with limits or nullcontext():
        pool = ThreadPoolExecutor(workers)
        try:
            yield from pool.map(work, blocks)
        finally:
            pool.shutdown(cancel_futures=True)


def _one_thread_each() -> AbstractContextManager[Any] | None:
    """A context in which each matrix product uses one thread; None without threadpoolctl."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return None
    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits
