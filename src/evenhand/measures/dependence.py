"""Maximal correlation and mutual information: how strongly rows and columns of a table of people depend on each other.

Both are 0 under independence, but never in a sample. So each comes with its mean over tables with the same margins
under independence, and with a p-value: twice the smaller of its own and of Pearson's. Where no cell expects fewer than
five people, formulas tell both of mutual information, and of the maximal correlation with a yes or no. Elsewhere tables
are drawn, and the p-value is the share of them that look as dependent (Phipson and Smyth 2010: (c + 1)/(draws + 1)).
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


def expected_information(table: Floats) -> float:
    """The mean of mutual information over all tables with the margins of this one (Vinh, Epps and Bailey 2010).

    People in a cell are then hypergeometric. Of a wide distribution every so many counts are enough, a quarter of a
    standard deviation apart: it is as smooth as a normal one.

    >>> round(expected_information(np.array([[1.0, 0.0], [0.0, 1.0]])), 4)
    0.6931
    """
    from scipy.special import gammaln

    rows, columns = _whole_margins(table, 1.0)
    people, row = float(rows.sum()), rows[:, None].astype(np.float64)
    found = 0.0
    for column in columns.tolist():
        usual = row * column / people
        spread = np.sqrt(usual * (1 - column / people) * (people - row) / max(people - 1, 1.0))
        counts = np.floor(usual) + np.ceil(spread / 4 + 1e-9) * _PLACES
        inside = (counts >= np.maximum(row + column - people, 0)) & (counts <= np.minimum(row, column))
        counts = np.where(inside, counts, np.floor(usual))
        others = (counts, row - counts, column - counts, people - row - column + counts)
        logs = np.where(inside, -sum(gammaln(each + 1) for each in others), -np.inf)
        share = np.exp(logs - logs.max(axis=1, keepdims=True))
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(counts > 0, counts * np.log(counts / usual), 0.0)
        found += float(((share * terms).sum(axis=1) / share.sum(axis=1)).sum())
    return found / people


_PLACES = np.arange(-28.0, 29.0)  # quarters of a standard deviation, so that 7 of them are on either side


def against_chance(
    table: Floats,
    statistic: Statistic,
    draws: int,
    random_state: int,
    *,
    power: float,
    chance: Callable[[Floats], float] | None = None,
) -> Dependence:
    """The dependence in one table of people, with its mean and p-value over tables with the same margins.

    Under independence the statistic shrinks as people ** −power; what `chance` gives for the table is subtracted.
    """
    table = _occupied(table)
    if min(table.shape) < 2:
        return Dependence(np.nan, np.nan, np.nan, np.nan)
    raw = float(statistic(table))
    if statistic is mutual_information and _large(table):
        mean, p = _by_formula(raw, [table])
    elif statistic is maximal_correlation and min(table.shape) == 2 and _large(table):
        mean, p = _of_two(raw, table)
    else:
        null = _under_independence(table, statistic, draws, random_state, power)
        mean, p = float(null.mean()), _share_as_large(null, raw)
    merged = contingency.merge_small(table)
    if len(merged) > 1:
        p = min(1.0, 2 * min(p, hypotheses.class_chi_square(merged).p_value))
    value = raw if chance is None else max(raw - chance(table), 0.0)
    return Dependence(value, mean, p, raw)


def within_strata(tables: Sequence[Floats], draws: int, random_state: int) -> Dependence:
    """Conditional mutual information: that of each table of people, averaged over people, against chance within each.

    What chance adds on average is subtracted, table by table. Tables of one row or column tell nothing.
    """
    people = sum(float(table.sum()) for table in tables)
    tables = [table for table in map(_occupied, tables) if min(table.shape) > 1]
    if not tables:
        return Dependence(np.nan, np.nan, np.nan, np.nan)
    shares = [float(table.sum()) / people for table in tables]
    raw = sum(share * float(mutual_information(table)) for share, table in zip(shares, tables, strict=True))
    chance = sum(share * chance_information(table) for share, table in zip(shares, tables, strict=True))
    if all(map(_large, tables)):
        mean, p = _by_formula(raw, tables, people)
    else:
        mean, null = 0.0, np.zeros(draws)
        for i, (share, table) in enumerate(zip(shares, tables, strict=True)):
            usual, drawn = _chance_of(table, draws, random_state + i)
            mean, null = mean + share * usual, null + share * drawn
        p = _share_as_large(null, raw)
    tests = [hypotheses.class_chi_square(merged) for merged in map(contingency.merge_small, tables) if len(merged) > 1]
    freedom = sum(test.df or 0.0 for test in tests)
    if freedom:
        statistic = sum(test.statistic for test in tests)
        p = min(1.0, 2 * min(p, hypotheses.from_chi_square("chi-square", statistic, freedom).p_value))
    return Dependence(max(raw - chance, 0.0), mean, p, raw)


def _occupied(table: Floats) -> Floats:
    """The table without empty rows and columns, in the same order whatever the groups are called."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return np.asarray(table[np.lexsort(table.T)]) if table.size else table


def _large(table: Floats) -> bool:
    """Does every cell expect so many people that twice the people × the information is nearly a chi-square?"""
    return bool(contingency.expected(table).min() >= contingency.SMALL)


def _freedom(table: Floats) -> float:
    return float((table.shape[0] - 1) * (table.shape[1] - 1))


def _by_formula(raw: float, tables: Sequence[Floats], people: float | None = None) -> tuple[float, float]:
    """The mean of (conditional) mutual information under independence, and its p-value.

    2n × the information is a chi-square with as many degrees of freedom as it is large on average, but for a factor
    that the exact mean tells (Bartlett 1937).
    """
    sizes = [float(table.sum()) for table in tables]
    people = people or sum(sizes)
    mean = sum(n / people * expected_information(table) for n, table in zip(sizes, tables, strict=True))
    freedom = sum(map(_freedom, tables))
    return mean, hypotheses.from_chi_square("chi-square", raw / mean * freedom, freedom).p_value


def _chance_of(table: Floats, draws: int, random_state: int) -> tuple[float, Floats]:
    """The mean of mutual information under independence, and draws of it: of a large table those of its chi-square."""
    if not _large(table):
        drawn = _under_independence(table, mutual_information, draws, random_state, 1.0)
        return float(drawn.mean()), drawn
    mean, freedom = expected_information(table), _freedom(table)
    return mean, mean / freedom * np.random.default_rng(random_state).chisquare(freedom, draws)


def _of_two(raw: float, table: Floats) -> tuple[float, float]:
    """The same of the maximal correlation with a yes or no: with n − 1 people its square is Pearson's statistic."""
    from scipy.special import gammaln

    people, freedom = float(table.sum()) - 1, float(max(table.shape) - 1)
    mean = np.sqrt(2 / people) * np.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))
    return float(mean), hypotheses.from_chi_square("chi-square", people * raw**2, freedom).p_value


def _share_as_large(null: Floats, raw: float) -> float:
    return (1 + int((null >= raw - 1e-12).sum())) / (len(null) + 1)


def _under_independence(table: Floats, statistic: Statistic, draws: int, random_state: int, power: float) -> Floats:
    """The statistic of tables drawn with the margins of this one; under independence it shrinks as people ** −power."""
    people = float(table.sum())
    rows, columns = _whole_margins(table, min(1.0, _MOST_DRAWN / people))
    drawn = _kept(tuple(rows.tolist()), tuple(columns.tolist()), draws, random_state)
    return np.asarray(statistic(drawn) * (rows.sum() / people) ** power)


@lru_cache(maxsize=4)
def _kept(rows: tuple[int, ...], columns: tuple[int, ...], draws: int, random_state: int) -> Floats:
    """The drawn tables, kept because both kinds of dependence use the same ones."""
    return contingency.draw_tables(np.array(rows), np.array(columns), draws, np.random.default_rng(random_state))


def _whole_margins(table: Floats, scale: float) -> tuple[Ints, Ints]:
    """The margins of a table as whole numbers with the same total, of so many times as many people."""
    rows, columns = (_margins(table.sum(axis=axis) * scale) for axis in (1, 0))
    total = int(max(rows.sum(), columns.sum()))
    return _same_total(rows, total), _same_total(columns, total)


def _margins(people: Floats) -> Ints:
    return np.maximum(np.rint(people), 1).astype(np.int64)


def _same_total(margin: Ints, total: int) -> Ints:
    """Rounding may leave the margins some people apart; the largest entry of the smaller margin takes them."""
    margin = margin.copy()
    margin[int(np.argmax(margin))] += total - margin.sum()
    return margin
