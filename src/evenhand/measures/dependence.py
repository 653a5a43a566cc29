"""Maximal correlation and mutual information: how strongly rows and columns of a table of people depend on each other.

Both are 0 under independence, but never in a sample. So each comes with its mean under independence, from tables that
are drawn with the same margins, and with a p-value: twice the smaller of the share of those tables that look as
dependent (Phipson and Smyth 2010: (c + 1)/(draws + 1)) and of Pearson's, which has no such floor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.inference import contingency, hypotheses

Statistic = Callable[[Floats], Floats]
"""A number for each of several tables [..., rows, columns]."""

MOST_COLUMNS = 10
DRAWS = 400  # a p-value of 0.05 is then known to within 0.01
_BLOCK = 256  # rows of a table that are looked at together
_MOST_DRAWN = 100_000  # people in a drawn table; beyond it the null shrinks in a known way


class Dependence(NamedTuple):
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


def best_split(ordered: Floats, apart: Floats | None = None) -> tuple[float, int]:
    """How well one cut through the columns of a table tells one row from all others, as an AUC; and which row it is.

    Columns stand in the order of a number, and are cut between two of them. `apart` is one more column for each row,
    of people without a number, who are added to either side. The AUC of two sides is ½ + ½ |share of the row − share of
    the others| on one of them.

    >>> best_split(np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 3.0]]))
    (0.875, 0)
    """
    missing = np.zeros(len(ordered)) if apart is None else apart
    below = np.cumsum(ordered, axis=1)[:, :-1]
    sides = np.concatenate([below, below + missing[:, None], ordered.sum(axis=1, keepdims=True)], axis=1)
    return _told(sides, ordered.sum(axis=1) + missing)


def best_sides(table: Floats) -> tuple[float, int]:
    """The same where columns have no order: each may stand on either side of the split.

    >>> best_sides(np.array([[3.0, 1.0, 3.0], [0.0, 7.0, 0.0]]))
    (0.9285714285714286, 0)
    """
    people = table.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        mine, others = table / people, (table.sum(axis=0) - table) / (people.sum() - people)
    apart = np.abs(mine - others).sum(axis=1) / 2
    row = int(np.nanargmax(apart))
    return float(0.5 + apart[row] / 2), row


def _told(sides: Floats, people: Floats) -> tuple[float, int]:
    """The best of several splits, [rows, splits] people on one side, with the row that it tells from the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mine, others = sides / people[:, None], (sides.sum(axis=0) - sides) / (people.sum() - people)[:, None]
    apart = np.abs(mine - others)
    row, _ = np.unravel_index(int(np.nanargmax(apart)), apart.shape)
    return float(0.5 + apart.max() / 2), int(row)


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
    null = _under_independence(table, statistic, draws, random_state, power)
    raw = float(statistic(table))
    p = (1 + int((null >= raw - 1e-12).sum())) / (draws + 1)
    merged = contingency.merge_small(table)
    if len(merged) > 1:
        p = min(1.0, 2 * min(p, hypotheses.class_chi_square(merged).p_value))
    value = raw if chance is None else max(raw - chance(table), 0.0)
    return Dependence(value, float(null.mean()), p, raw)


def within_strata(tables: Sequence[Floats], draws: int, random_state: int) -> Dependence:
    """Conditional mutual information: that of each table of people, averaged over people, against chance within each.

    What chance adds on average is subtracted, table by table. Tables of one row or column tell nothing.
    """
    people = sum(float(table.sum()) for table in tables)
    tables = [table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0] for table in tables]
    tables = [table[np.lexsort(table.T)] for table in tables if min(table.shape) > 1]
    if not tables:
        return Dependence(np.nan, np.nan, np.nan, np.nan)
    raw, chance, null, statistic, freedom = 0.0, 0.0, np.zeros(draws), 0.0, 0.0
    for i, table in enumerate(tables):
        share = float(table.sum()) / people
        raw += share * float(mutual_information(table))
        chance += share * chance_information(table)
        null += share * _under_independence(table, mutual_information, draws, random_state + i, 1.0)
        merged = contingency.merge_small(table)
        if len(merged) > 1:
            test = hypotheses.class_chi_square(merged)
            statistic, freedom = statistic + test.statistic, freedom + (test.df or 0.0)
    p = (1 + int((null >= raw - 1e-12).sum())) / (draws + 1)
    if freedom:
        p = min(1.0, 2 * min(p, hypotheses.from_chi_square("chi-square", statistic, freedom).p_value))
    return Dependence(max(raw - chance, 0.0), float(null.mean()), p, raw)


def _under_independence(table: Floats, statistic: Statistic, draws: int, random_state: int, power: float) -> Floats:
    """The statistic of tables drawn with the margins of this one; under independence it shrinks as people ** −power."""
    people = float(table.sum())
    scale = min(1.0, _MOST_DRAWN / people)
    rows, columns = (_margins(table.sum(axis=axis) * scale) for axis in (1, 0))
    total = int(max(rows.sum(), columns.sum()))
    rows, columns = _same_total(rows, total), _same_total(columns, total)
    drawn = _kept(tuple(rows.tolist()), tuple(columns.tolist()), draws, random_state)
    return np.asarray(statistic(drawn) * (rows.sum() / people) ** power)


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
