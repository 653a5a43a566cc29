"""Draws of the cells of a cube: what the same count could have been, as plain arrays.

A bootstrap of N rows moves nothing but counts, so it is exactly one multinomial draw of N over the cells: it costs
the cells, whatever N. Sums of weights follow their counts with the mean and the variance of their cell. Rows are
taken as independent.

Draws come as blocks [draws in the block, groups, cells], small enough for every measure to be computed on one.
They come one after another from one stream, so the same numbers and `random_state` give the same draws whatever
the size of a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Array, Floats, Indices, Ints
from evenhand.errors import CallError

# Measures of a block take several arrays of its size; so large, they stay in the cache of a processor.
BLOCK_BYTES = 2 * 2**20

# Sums of floats carry rounding: weights of a cell that vary (relatively, squared) by less are equal.
EQUAL = 1e-12


def multinomial(n: npt.ArrayLike, draws: int = 1000, random_state: int = 0) -> Iterator[Ints]:
    """Resampled counts of n [groups, cells]: everyone is drawn again, over all groups and cells.

    A cell without people stays empty.

    >>> n = [[30, 10, 0], [5, 15, 0]]
    >>> (block,) = multinomial(n, draws=500)
    >>> block.shape, int(block[0].sum())
    ((500, 2, 3), 60)
    """
    counts = _counts(n)
    return _multinomial(counts, _sizes(draws, counts.size), _streams(random_state)[0])


def multinomial_once(counts: Ints, order: Indices, many: int, seed: int) -> Iterator[Floats]:
    """The draws of `multinomial` as floats, made as if the groups stood in this order.

    Inside `drawn_once` they are made once for all that ask for the same.
    """
    store = _DRAWN.get()
    if store is None or counts.size * many > _MOST_KEPT:
        yield from _in_order(counts, order, many, seed)
        return
    key = (counts.tobytes(), counts.shape, order.tobytes(), many, seed)
    if key not in store:
        store.clear()  # attribute sets come one after the other
        store[key] = list(_in_order(counts, order, many, seed))
    yield from store[key]


def _in_order(counts: Ints, order: Indices, many: int, seed: int) -> Iterator[Floats]:
    back = np.argsort(order)
    for block in multinomial(counts[order], many, seed):
        yield _by_cell(block, back)


def _by_cell(block: Ints, places: Indices) -> Floats:
    """The groups at these places of a block, as floats that are only read.

    They lie in memory cell by cell, because indices add up one cell of all groups at a time.
    """
    cells = np.zeros((block.shape[2], len(block), len(places)))
    for i in np.flatnonzero(block.any(axis=(0, 1))).tolist():
        cells[i] = block[:, places, i]
    cells.setflags(write=False)
    return np.moveaxis(cells, 0, -1)


_MOST_KEPT = 16_000_000  # numbers of one set of draws
_DRAWN: ContextVar[dict[tuple[object, ...], list[Floats]] | None] = ContextVar("drawn", default=None)


@contextmanager
def drawn_once() -> Iterator[None]:
    """Inside, metrics that ask for the same draws are given the same ones, which are made once."""
    token = _DRAWN.set({})
    try:
        yield
    finally:
        _DRAWN.reset(token)


def weighted(
    n: npt.ArrayLike,
    w: npt.ArrayLike,
    w2: npt.ArrayLike,
    draws: int = 1000,
    random_state: int = 0,
) -> Iterator[Floats]:
    """Resampled sums of weights, from n people, Σw and Σw² of each cell, [groups, cells].

    The people are those of `multinomial` with the same `random_state`. N* of them bring a sum of weights that is
    Gamma, with the mean N*·w̄ and the variance N*·s² of a resample of the cell: a normal draw would be negative in
    small cells. Where all weights of a cell are equal the sum is N*·w̄ exactly. Any column without negative values
    can be drawn in this way, such as a score.

    Two moments say enough while weights differ moderately: up to s² = 2w̄² quantiles are those of resampled rows.
    Where one person holds most of a small cell, low sums come too often, and intervals are somewhat too wide.

    >>> (block,) = weighted([[3, 4]], [[6.0, 8.0]], [[12.0, 30.0]], draws=200)
    >>> (counts,) = multinomial([[3, 4]], draws=200)
    >>> bool((block[:, 0, 0] == 2 * counts[:, 0, 0]).all()), bool((block >= 0).all())
    (True, True)
    """
    counts = _counts(n)
    mean, spread = _moments(counts, np.asarray(w, dtype=np.float64), np.asarray(w2, dtype=np.float64))
    people, sums = _streams(random_state)
    return _compound(_multinomial(counts, _sizes(draws, counts.size), people), mean, spread, sums)


def dirichlet(
    n: npt.ArrayLike,
    draws: int = 1000,
    random_state: int = 0,
    prior: float = 0.5,
    mask: npt.ArrayLike | None = None,
) -> Iterator[Floats]:
    """What the cells of each group may be, given n [groups, cells] and a Dirichlet prior: shares times the group's n.

    `prior` is added to each cell that can occur, which `mask` tells ([cells] or [groups, cells]; default: all). A
    cell that cannot occur, such as an unlabelled one where all are labelled, stays at 0. That none has occurred is
    no reason to leave a cell out: its rate would be 0 for sure. `n` may be effective counts.

    >>> (block,) = dirichlet([[0, 10, 0], [7, 3, 0]], draws=300, mask=[True, True, False])
    >>> block.shape, block[0].sum(axis=1).round(9).tolist(), float(block[..., 2].max())
    ((300, 2, 3), [10.0, 10.0], 0.0)
    >>> bool((block[:, 0, 0] > 0).all())
    True
    """
    counts = _table(n).astype(np.float64)
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise CallError("counts must be numbers of at least 0.")
    if not np.isfinite(prior) or prior < 0:
        raise CallError(f"prior={prior!r} must be a number of at least 0, such as 0.5.")
    possible = np.broadcast_to(True if mask is None else np.asarray(mask, dtype=np.bool_), counts.shape)
    if (counts[~possible] > 0).any():
        raise CallError("mask= rules out a cell in which there are people.")
    shape = np.where(possible, counts + prior, 0.0)
    return _dirichlet(counts, shape, _sizes(draws, counts.size), _streams(random_state)[0])


def one_less(n: npt.ArrayLike, w: npt.ArrayLike | None = None) -> Iterator[Floats]:
    """The table n [groups, cells] with one person less: blocks that together are [groups·cells, groups, cells].

    The i-th table lacks one person of the i-th cell (or the cell's mean weight, of w); an empty cell is left as it
    is. What a statistic makes of them is what `intervals.acceleration` takes.

    >>> next(one_less([[2, 0, 5]]))[:, 0].tolist()
    [[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [2.0, 0.0, 4.0]]
    """
    counts = _counts(n)
    mass = (counts if w is None else np.asarray(w)).astype(np.float64)
    return _one_less(mass, _per_person(mass, counts), _sizes(counts.size, counts.size))


def _multinomial(counts: Ints, sizes: Iterable[int], stream: np.random.Generator) -> Iterator[Ints]:
    pool = counts.reshape(-1)
    people = pool.sum()
    # Numpy leaves what rounding has lost to the last cell: that must be the largest, never an empty one.
    order = np.argsort(pool, kind="stable")
    occupied = order[-max(int(np.count_nonzero(pool)), 1) :]
    shares = pool[occupied] / max(people, 1)
    for size in sizes:
        drawn = np.zeros((size, len(pool)), dtype=np.int64)
        drawn[:, occupied] = stream.multinomial(people, shares, size=size)
        yield drawn.reshape(size, *counts.shape)


def _compound(blocks: Iterable[Ints], mean: Floats, spread: Floats, stream: np.random.Generator) -> Iterator[Floats]:
    varied = spread > 0
    for block in blocks:
        drawn = block * mean
        shape = block[:, varied] / spread[varied]
        drawn[:, varied] = stream.standard_gamma(shape) * (mean * spread)[varied]
        yield drawn


def _dirichlet(counts: Floats, shape: Floats, sizes: Iterable[int], stream: np.random.Generator) -> Iterator[Floats]:
    people = counts.sum(axis=1, keepdims=True)
    for size in sizes:
        drawn = stream.standard_gamma(shape, size=(size, *shape.shape))
        total = drawn.sum(axis=2, keepdims=True)
        np.divide(drawn, total, out=drawn, where=total > 0)
        drawn *= people
        yield drawn


def _one_less(mass: Floats, step: Floats, sizes: Iterable[int]) -> Iterator[Floats]:
    first = 0
    for size in sizes:
        block = np.repeat(mass.reshape(1, -1), size, axis=0)
        cells = np.arange(first, first + size)
        block[np.arange(size), cells] -= step.reshape(-1)[cells]
        yield np.maximum(block, 0.0).reshape(size, *mass.shape)
        first += size


def _moments(counts: Ints, w: Floats, w2: Floats) -> tuple[Floats, Floats]:
    """The mean weight of each cell, and the variance relative to its square; both 0 where nobody is."""
    if w.shape != counts.shape or w2.shape != counts.shape:
        raise CallError(f"n, w and w2 must have one shape; they have {counts.shape}, {w.shape} and {w2.shape}.")
    if not (np.isfinite(w).all() and np.isfinite(w2).all()) or (w < 0).any() or (w2 < 0).any():
        raise CallError("sums of weights must be numbers of at least 0.")
    if (w[counts == 0] > 0).any():
        raise CallError("there is weight in a cell without people.")
    mean = _per_person(w, counts)
    square = _per_person(w2, counts)
    spread = np.divide(square, mean**2, out=np.ones_like(mean), where=mean > 0) - 1
    if (spread < -1e-6).any():
        raise CallError("w2 is less than w²/n in a cell; it must be the sum of the squared weights.")
    return mean, np.where(spread > EQUAL, spread, 0.0)


def _per_person(sums: Floats, counts: Ints) -> Floats:
    return np.divide(sums, counts, out=np.zeros(counts.shape), where=counts > 0)


def _counts(n: npt.ArrayLike) -> Ints:
    table = _table(n)
    if table.dtype.kind not in "iu" or (table < 0).any():
        raise CallError("counts must be whole numbers of at least 0.")
    return table.astype(np.int64)


def _table(n: npt.ArrayLike) -> Array:
    table = np.asarray(n)
    if table.ndim != 2:
        raise CallError(f"counts must be a table of groups by cells; this has {table.ndim} dimensions.")
    return table


def _sizes(draws: int, cells: int) -> list[int]:
    """How many draws go into each block."""
    if not _whole(draws) or draws < 1:
        raise CallError(f"draws={draws!r} must be a whole number of at least 1.")
    most = max(1, BLOCK_BYTES // (8 * max(1, cells)))
    return [min(most, draws - first) for first in range(0, draws, most)]


def _streams(random_state: int) -> list[np.random.Generator]:
    """One stream for people and one for sums, so that neither depends on when the other is read."""
    if not _whole(random_state) or random_state < 0:
        raise CallError(f"random_state={random_state!r} must be a whole number of at least 0.")
    return [np.random.default_rng(seed) for seed in np.random.SeedSequence(random_state).spawn(2)]


def _whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
