"""Tables of people, groups by outcomes: Pearson's statistic, groups that are too small for it, and permutations.

Which groups are too small, and so which test is used, follows from the margins alone: a choice that looked at the
outcomes of the groups would spoil the test that it chooses.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.core.arrays import Array, Floats, Ints

SMALL = 5
"""An expected count below this makes the chi-square test reject too often (8 % at nominal 5 %)."""

LEAST_DRAWS, MOST_DRAWS = 1_000, 100_000
EXCEEDANCES = 20
"""Drawn tables as far from independence as the one that was seen; with so many its p-value is settled."""

_ROUNDING = 1e-9
_AT_ONCE, _IN_ALL = 2**20, 2 * 10**6  # cells of drawn tables; a million take about 0.15 s


def expected(table: Floats) -> Floats:
    """The people of each cell if the groups (rows) were alike."""
    return np.outer(table.sum(axis=1), table.sum(axis=0) / table.sum())


def is_sparse(table: Floats) -> bool:
    """Is an expected count too small for chi-square?"""
    return bool(expected(table).min() < SMALL - _ROUNDING)


def pearson(tables: Array, rows: Floats, columns: Floats) -> Floats:
    """Chi-square of tables [..., groups, outcomes] with these margins, none of which is 0."""
    usual = np.outer(rows, columns / rows.sum())
    return np.asarray(np.sum((tables - usual) ** 2 / usual, axis=(-2, -1)))


def merge_small(table: Floats, *, keep: bool = False) -> Floats:
    """The table with all groups that expect too few of an outcome as one, or without them if they are too few even so.

    With `keep` they stay, however few they are. Where nothing is left to compare, the table has one row.

    >>> merge_small(np.array([[4.0, 8.0], [4.0, 9.0], [30.0, 70.0]])).tolist()
    [[8.0, 17.0], [30.0, 70.0]]
    >>> merge_small(np.array([[1.0, 3.0], [40.0, 60.0], [30.0, 70.0]])).tolist()
    [[40.0, 60.0], [30.0, 70.0]]
    """
    sizes = table.sum(axis=1)
    rarest = float(table.sum(axis=0).min() / sizes.sum())
    small = sizes * rarest < SMALL - _ROUNDING
    if not small.any():
        return table
    if not keep and sizes[small].sum() * rarest < SMALL - _ROUNDING:
        large = table[~small][:, table[~small].any(axis=0)]
        return np.asarray(large if large.shape[1] > 1 else large[:1])
    return np.vstack([table[small].sum(axis=0, keepdims=True), table[~small]])


def permutation_p(
    draw: Callable[[int], Floats],
    seen: float,
    cells: int,
    least: int = LEAST_DRAWS,
    most: int = MOST_DRAWS,
    *,
    enough: float = 0.0,
) -> float:
    """The share of tables that are at least as far from independence as the one that was seen (Besag, Clifford 1991).

    `draw` makes that many statistics of tables drawn under independence, of `cells` numbers each. After `least` draws
    they stop when `EXCEEDANCES` tables were as far, and at `most` in any case, earlier for very wide tables: large
    p-values need few draws, small ones many. A p-value that can no longer be below `enough` is not pursued.
    """
    most = max(least, min(most, _IN_ALL // cells))
    as_far = drawn = 0
    while drawn < most and not 0 < enough <= (as_far + 1) / (most + 1):
        size = min(least - drawn if drawn < least else drawn, most - drawn, max(1, _AT_ONCE // cells))
        # Tables that mirror each other are equally far and may differ in the last bit.
        far = draw(size) >= seen * (1 - _ROUNDING)
        if drawn >= least and as_far + int(far.sum()) >= EXCEEDANCES:
            place = int(np.flatnonzero(far)[EXCEEDANCES - as_far - 1])
            return EXCEEDANCES / (drawn + place + 1)
        as_far, drawn = as_far + int(far.sum()), drawn + size
        if drawn >= least and as_far >= EXCEEDANCES:
            break
    return (as_far + 1) / (drawn + 1)


def draw_tables(rows: Ints, columns: Ints, draws: int, random: np.random.Generator) -> Floats:
    """Tables with these margins, as chance would fill them: cell by cell, each hypergeometric after those before it."""
    tables = np.zeros((draws, len(rows), len(columns)))
    left = np.tile(columns, (draws, 1))
    for i, people in enumerate(rows[:-1]):
        wanted, others = np.full(draws, people), left.sum(axis=1)
        for j in range(len(columns) - 1):
            others = others - left[:, j]
            taken = random.hypergeometric(left[:, j], others, wanted)
            tables[:, i, j] = taken
            left[:, j] -= taken
            wanted = wanted - taken
        tables[:, i, -1] = wanted
        left[:, -1] -= wanted
    tables[:, -1] = left
    return tables
