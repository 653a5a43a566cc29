"""Maximal correlation and mutual information: how strongly rows and columns of a table of people depend on each other.

Both are 0 under independence, but never in a sample. So each comes with its mean under independence, from tables that
are drawn with the same margins, and with a p-value: twice the smaller of the share of those tables that look as
dependent (Phipson and Smyth 2010: (c + 1)/(draws + 1)) and of Pearson's, which has no such floor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.inference import contingency, hypotheses

Statistic = Callable[[Floats], Floats]
"""A number for each of several tables [..., rows, columns]."""

MOST_COLUMNS = 10
DRAWS = 400  # a p-value of 0.05 is then known to within 0.01
_BLOCK = 256  # rows of a table that are looked at together
_MOST_DRAWN = 100_000  # people in a drawn table; beyond it the null shrinks in a known way


@dataclass(frozen=True)
class Dependence:
    """A value, its mean under independence, and how often independence looks as dependent."""

    value: float
    null_mean: float
    p_value: float
    raw: float


def maximal_correlation(table: Floats) -> Floats:
    """Of tables [..., rows, columns]: the largest correlation that any functions of both can have (HGR).

    It is the second singular value of p(a, b)/√(p(a) p(b)).

    >>> maximal_correlation(np.array([[5.0, 0.0], [0.0, 5.0]])).item()
    1.0
    """
    shares = table / table.sum(axis=(-2, -1), keepdims=True)
    row, column = shares.sum(axis=-1, keepdims=True), shares.sum(axis=-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(shares > 0, shares / np.sqrt(row * column), 0.0)
    singular = np.linalg.svd(_folded(scaled), compute_uv=False)
    return np.asarray(np.clip(singular[..., 1], 0.0, 1.0)) if singular.shape[-1] > 1 else np.zeros(singular.shape[:-1])


def _folded(matrices: Floats) -> Floats:
    """Matrices [..., rows, columns] of few rows with the same singular values: by QR of blocks of rows.

    Of larger ones BLAS would start threads, which cost many times what they compute.
    """
    while matrices.shape[-2] > _BLOCK > 2 * matrices.shape[-1]:
        *several, rows, columns = matrices.shape
        blocks = -(-rows // _BLOCK)
        filled = np.zeros((*several, blocks * _BLOCK, columns))
        filled[..., :rows, :] = matrices
        corners = np.asarray(np.linalg.qr(filled.reshape(*several, blocks, _BLOCK, columns), mode="r"))
        matrices = corners.reshape(*several, blocks * columns, columns)
    return matrices


def mutual_information(table: Floats) -> Floats:
    """Of tables [..., rows, columns]: how much one tells about the other, in nats; biased upward in a sample.

    >>> round(mutual_information(np.array([[5.0, 0.0], [0.0, 5.0]])).item(), 4)
    0.6931
    """
    shares = table / table.sum(axis=(-2, -1), keepdims=True)
    row, column = shares.sum(axis=-1, keepdims=True), shares.sum(axis=-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(shares > 0, shares * np.log(shares / (row * column)), 0.0)
    return np.asarray(np.maximum(terms.sum(axis=(-2, -1)), 0.0))


def chance_information(table: Floats) -> float:
    """What mutual information shows on average under independence: (rows − 1)(columns − 1)/2n (Miller 1955)."""
    return float((table.shape[0] - 1) * (table.shape[1] - 1) / (2 * table.sum()))


def against_chance(
    table: Floats,
    statistic: Statistic,
    draws: int,
    random_state: int,
    *,
    power: float,
    chance: Callable[[Floats], float] | None = None,
) -> Dependence:
    """The dependence in one table of people, with its mean and p-value over tables drawn with the same margins.

    Under independence the statistic shrinks as people ** −power; what `chance` gives for the table is subtracted.
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return Dependence(np.nan, np.nan, np.nan, np.nan)
    table = table[np.lexsort(table.T)]  # whatever the groups are called, the same draws
    people = float(table.sum())
    scale = min(1.0, _MOST_DRAWN / people)
    rows, columns = (_margins(table.sum(axis=axis) * scale) for axis in (1, 0))
    total = int(max(rows.sum(), columns.sum()))
    rows, columns = _same_total(rows, total), _same_total(columns, total)
    drawn = _kept(tuple(rows.tolist()), tuple(columns.tolist()), draws, random_state)
    null = statistic(drawn) * (rows.sum() / people) ** power
    raw = float(statistic(table))
    p = (1 + int((null >= raw - 1e-12).sum())) / (draws + 1)
    merged = contingency.merge_small(table)
    if len(merged) > 1:
        p = min(1.0, 2 * min(p, hypotheses.class_chi_square(merged).p_value))
    value = raw if chance is None else max(raw - chance(table), 0.0)
    return Dependence(value, float(null.mean()), p, raw)


@lru_cache(maxsize=4)
def _kept(rows: tuple[int, ...], columns: tuple[int, ...], draws: int, random_state: int) -> Floats:
    """The drawn tables, kept because both kinds of dependence use the same ones."""
    return contingency.draw_tables(np.array(rows), np.array(columns), draws, np.random.default_rng(random_state))


def _margins(people: Floats) -> Ints:
    return np.maximum(np.rint(people), 1).astype(np.int64)


def _same_total(margin: Ints, total: int) -> Ints:
    """Rounding may leave the margins some people apart; the largest entry of the smaller margin takes them."""
    margin = margin.copy()
    margin[int(np.argmax(margin))] += total - margin.sum()
    return margin
