"""Approximate nearest neighbours of very many people, by an HNSW graph of faiss.

The share of the true neighbours that it finds is measured on a sample, and the search widened until it is high enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core import progress
from evenhand.core.arrays import Floats, Ints
from evenhand.errors import MissingDependencyError
from evenhand.individual import exact_search

_LINKS, _CONSTRUCTION_WIDTH = 32, 40  # links of each point; candidates that are looked at when a point is added
_SEARCH_WIDTHS = (32, 64, 128, 256, 512)
_GOOD_RECALL = 0.98
_SAMPLE = 500
_STEP = 20_000


def available() -> bool:
    """Is faiss installed?"""
    from importlib.util import find_spec

    return find_spec("faiss") is not None


def nearest(points: Floats, k: int, random_state: int = 0) -> tuple[Ints, Floats, float]:
    """Nearly always the k nearest other points of each, with distances; and the share of the true ones in a sample."""
    if not available():
        raise MissingDependencyError(
            "neighbours='approximate' needs faiss: pip install 'evenhand[neighbours]'. "
            "neighbours='exact' needs nothing and takes longer."
        )
    small = np.ascontiguousarray(points - points.mean(axis=0), dtype=np.float32)
    graph = _graph(small)
    random = np.random.default_rng(random_state)
    sample = np.sort(random.choice(len(points), min(_SAMPLE, len(points)), replace=False))
    _, apart = exact_search.nearest(points, k, sample)
    recall = 0.0
    for width in _SEARCH_WIDTHS:
        graph.hnsw.efSearch = max(width, k + 1)
        recall = float(np.mean(_search(graph, points, small, sample, k)[1] <= apart[:, -1:] * (1 + 1e-9)))
        if recall >= _GOOD_RECALL:
            break
    index = np.empty((len(points), k), dtype=np.int64)
    distance = np.empty((len(points), k))
    steps = range(0, len(points), _STEP)
    for first in progress.track(steps, len(steps), "finding neighbours"):
        rows = np.arange(first, min(first + _STEP, len(points)))
        index[rows], distance[rows] = _search(graph, points, small, rows, k)
    return index, distance, recall


def _graph(small: npt.NDArray[np.float32]) -> Any:
    import faiss

    graph = faiss.IndexHNSWFlat(small.shape[1], _LINKS)
    graph.hnsw.efConstruction = _CONSTRUCTION_WIDTH
    steps = range(0, len(small), _STEP)
    for first in progress.track(steps, len(steps), "building the index"):
        graph.add(small[first : first + _STEP])
    return graph


def _search(graph: Any, points: Floats, small: npt.NDArray[np.float32], rows: Ints, k: int) -> tuple[Ints, Floats]:
    """What the graph finds, with distances in float64; rows for which it finds too few are searched exactly."""
    _, found = graph.search(small[rows], k + 1)
    others = np.where(found == rows[:, None], -1, found)
    order = np.argsort(others < 0, axis=1, kind="stable")[:, :k]  # those found, in their order, then those that lack
    others = np.take_along_axis(others, order, axis=1)
    short = np.flatnonzero((others < 0).any(axis=1))
    if len(short):
        others[short] = exact_search.nearest(points, k, rows[short])[0]
    apart = points[others] - points[rows][:, None, :]
    exact = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
    order = np.argsort(exact, axis=1, kind="stable")
    return np.take_along_axis(others, order, axis=1), np.take_along_axis(exact, order, axis=1)
