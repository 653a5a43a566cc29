"""Bounds over what is missing: the labels of some people, and the groups of others.

A decision without a label stands in U0 or U1. Whatever its label is, a ratio of cells is largest, and smallest, where
all labels of one decision are alike: so four ways to complete the labels tell both bounds. People without a group may
belong to any group that agrees with what is known of them, all, some or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats
from evenhand.core.results import Pair
from evenhand.inference.clustered import as_clustered, mean_of
from evenhand.inference.spread import Bounded
from evenhand.measures.base import Measure
from evenhand.measures.cells import CELLS, MEASURES, CellMeasure, evaluate, spread, spread_of_cells
from evenhand.measures.classes import ClassMeasure
from evenhand.measures.group_data import Cells, GroupData

_UNKNOWN = len(CELLS)
"""A ninth column: people of whom neither label nor decision is known."""
_LABELS = {"U0": ("TN", "FN"), "U1": ("FP", "TP")}


def open_cells(part: Array) -> Array:
    """The cells of each pair, [pairs, 9], from `n`, `w` or `w2` of a cube; the ninth has neither label nor decision."""
    cells = part.reshape(-1, 9)
    return np.concatenate([cells[:, (0, 1, 3, 4, 6, 7, 2, 5)], cells[:, 8:]], axis=1)


def completions(cells: Floats) -> Floats:
    """The cells with every label known, in each of the extreme ways; [..., 8 or 9] to [ways, ..., 8].

    All refused without a label are negative, or all positive; so are all selected, and all who were not decided on.

    >>> completions(np.array([1.0, 2, 3, 4, 10, 20, 0, 0])).tolist()[0]
    [11.0, 22.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0]
    """
    sources = [(CELLS.index(name), tuple(map(CELLS.index, ways))) for name, ways in _LABELS.items()]
    if cells.shape[-1] > _UNKNOWN:
        sources.append((_UNKNOWN, (CELLS.index("D0"), CELLS.index("D1"))))
    completed = []
    for chosen in product((0, 1), repeat=len(sources)):
        one = cells.copy()
        for (source, ways), label in zip(sources, chosen, strict=True):
            one[..., ways[label]] += one[..., source]
            one[..., source] = 0.0
        completed.append(one[..., :_UNKNOWN])
    return np.stack(completed)


def _as_they_are(cells: Floats) -> Floats:
    return np.asarray(cells[None, ..., :_UNKNOWN])


def bounds(
    row: CellMeasure,
    cells: Floats,
    joining: Floats | None = None,
    total: Floats | None = None,
    *,
    labels: bool = True,
) -> tuple[Floats, Floats]:
    """The least and the greatest value of a measure in each group, whatever the missing labels are; NaN: undefined.

    `cells` are [..., groups, 8 or 9]. `joining`, of the same shape, are people who may belong to each group as well.
    `total` are the cells of everyone, for shares. Without `labels`, people without a label stay out, as in the measure.
    """
    complete = completions if labels else _as_they_are
    ways = complete(cells)
    more = None if joining is None or not joining.any() else complete(joining)
    low, high = _extremes(row, ways, more, cells.sum(axis=-2)[..., :_UNKNOWN] if total is None else total)
    return np.asarray(np.fmin.reduce(low, axis=0)), np.asarray(np.fmax.reduce(high, axis=0))


def certain(row: CellMeasure, cells: Floats, total: Floats | None = None, *, labels: bool = True) -> Bools:
    """Which groups have a value of the measure whatever the missing labels are, and whoever joins them."""
    ways = completions(cells) if labels else _as_they_are(cells)
    values = _values(row, ways, cells.sum(axis=-2)[..., :_UNKNOWN] if total is None else total)
    return np.asarray(~np.isnan(values).any(axis=0))


def _extremes(row: CellMeasure, ways: Floats, more: Floats | None, total: Floats) -> tuple[Floats, Floats]:
    """The extremes of a measure in each way to complete the labels, over all who may join; [ways, ..., groups].

    Of a mean they are the means: the true positive and the true negative rate have no cell in common. Where one of them
    is undefined in one of the ways, those of labels nearly as in that way are not, so each has its own extremes.
    """
    if row.of:
        parts = [_extremes(MEASURES[name], ways, more, total) for name in row.of]
        low, high = (np.mean(part, axis=0) for part in zip(*parts, strict=True))
        least = np.mean([np.fmin.reduce(part, axis=0) for part, _ in parts], axis=0)
        most = np.mean([np.fmax.reduce(part, axis=0) for _, part in parts], axis=0)
        unsure = np.isnan(low).any(axis=0)
        return np.where(unsure, least, low), np.where(unsure, most, high)
    if more is None:
        values = _values(row, ways, total)
        return values, values
    tries = np.stack([_values(row, ways + more * mask, total) for mask in _joined(row)])
    return np.asarray(np.fmin.reduce(tries, axis=0)), np.asarray(np.fmax.reduce(tries, axis=0))


def _joined(row: CellMeasure) -> list[Floats]:
    """Who joins where a ratio is extreme: everyone whose own ratio lies above some value, or below it."""
    top, bottom = row.coefficients
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(top + bottom > 0, top / bottom, np.nan) if row.denominator and not row.share else top
    cuts = np.unique(own[~np.isnan(own)])
    masks = [np.zeros(len(CELLS)), *(own >= cut for cut in cuts), *(own <= cut for cut in cuts)]
    return [np.asarray(mask, dtype=np.float64) for mask in masks]


def _values(row: CellMeasure, cells: Floats, total: Floats) -> Floats:
    """The measure; odds without a denominator, which completed labels come arbitrarily near to, are infinite."""
    values = evaluate(cells, [row], total)[row.name]
    if row.of or row.share or not row.denominator:
        return values
    top, bottom = (cells @ coefficients for coefficients in row.coefficients)
    return np.asarray(np.where((bottom == 0) & (top > 0), np.inf, values))


def without_group(pairs: Sequence[Pair], cells: Floats) -> Floats:
    """The people without a group who may belong to each pair, [pairs, cells]; nobody for those without a group.

    Of several attributes some may be known: a woman without a race may belong to every group of women.
    """
    lacking = [i for i, (_, group) in enumerate(pairs) if None in group]
    fits = np.zeros((len(pairs), len(pairs)))
    for i, (stratum, group) in enumerate(pairs):
        for j in lacking if None not in group else ():
            other, values = pairs[j]
            known = (mine for mine in zip(values, group, strict=True) if mine[0] is not None)
            fits[i, j] = other == stratum and all(value == own for value, own in known)
    return np.asarray(fits @ cells)


def bounded(measure: Measure, data: GroupData) -> Bounded | None:
    """The spread of a measure at its lower and at its upper bound over the missing labels.

    None for what is not made of cells, and for a plain total. Of the mean over several classes the bounds are the
    means, whether or not they can be true at once.
    """
    if isinstance(measure, CellMeasure):
        return bounded_cells(measure, data.cells)
    if not isinstance(measure, ClassMeasure):
        return None
    parts = [part for cells in measure.cells(data) if (part := bounded_cells(measure.of, cells)) is not None]
    if not measure.is_mean:
        return parts[0] if parts else None
    if not parts:
        return None
    values = np.asarray(np.mean([part.values for part in parts], axis=0))
    return Bounded(values, mean_of([part.low for part in parts]), mean_of([part.high for part in parts]))


def bounded_cells(row: CellMeasure, cells: Cells) -> Bounded | None:
    """The same from the cells of the groups.

    Where several ways to complete the labels reach a bound, it is the one with the fewest people: the least sure.
    """
    ways = np.stack([cells.mass, *completions(cells.mass)])
    squares = None if cells.squares is None else np.stack([cells.squares, *completions(cells.squares)])
    values = np.stack([_values(row, way, cells.everyone) for way in ways])
    weight = np.stack([_denominator(row, way) for way in ways])
    every = np.arange(cells.mass.shape[0])
    spreads = []
    for sign in (-1.0, 1.0):
        way = _choose(values, weight, sign)
        spreads.append(spread(row, ways[way, every], None if squares is None else squares[way, every], cells.everyone))
    low, high = spreads
    if low is None or high is None:
        return None
    if cells.clusters is not None:
        known, plain = spread_of_cells(row, cells), spread(row, cells.mass, cells.squares, cells.everyone, cells.silent)
        assert known is not None  # noqa: S101 - as the bounds are not
        assert plain is not None  # noqa: S101
        low, high = (as_clustered(bound, known, plain) for bound in (low, high))
    return Bounded(values[0], low, high)


def denominators(measure: Measure, data: GroupData) -> tuple[Floats, Floats]:
    """The least and the greatest denominator of each group over the missing labels, of a measure that is `linear`."""
    row, cells = (measure.of, measure.cells(data)[0]) if isinstance(measure, ClassMeasure) else (measure, data.cells)
    assert isinstance(row, CellMeasure)  # noqa: S101 - other measures have no bounds
    return denominators_of_cells(row, cells.mass)


def denominators_of_cells(row: CellMeasure, mass: Floats) -> tuple[Floats, Floats]:
    """The same from the cells of the groups."""
    every = np.stack([_denominator(row, way) for way in (mass, *completions(mass))])
    return np.asarray(every.min(axis=0)), np.asarray(every.max(axis=0))


def _choose(values: Floats, weight: Floats, sign: float) -> Array:
    """Which of the ways, [ways, groups], is extreme; of equals the one that rests on the least."""
    sizes = np.where(np.isnan(values), -np.inf, sign * values)
    with np.errstate(invalid="ignore"):
        best = sizes >= sizes.max(axis=0) - 1e-12
    return np.asarray(np.argmin(np.where(best, weight, np.inf), axis=0))


def _denominator(row: CellMeasure, cells: Floats) -> Floats:
    if row.of:
        return np.asarray(np.min([_denominator(MEASURES[name], cells) for name in row.of], axis=0))
    return np.asarray(cells @ row.coefficients[1])


def gap_bounds(low: Floats, high: Floats, usable: Bools) -> tuple[tuple[float, float], tuple[float, float]]:
    """Bounds of highest − lowest and of lowest / highest from those of the groups, [groups].

    Each group is taken at the end that is worst for the pair, whether or not both ends can be true at once: the bounds
    contain the gap and may be wider than need be. NaN where fewer than two groups have bounds.
    """
    there = usable & ~np.isnan(low) & ~np.isnan(high)
    if there.sum() < 2:
        return (np.nan, np.nan), (np.nan, np.nan)
    low, high = low[there], high[there]
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = high[:, None] - low[None, :]
        least, most = low[:, None] / high[None, :], high[:, None] / low[None, :]
    np.fill_diagonal(apart, -np.inf)
    for ratios in (least, most):
        np.fill_diagonal(ratios, np.inf)
    # 0 / 0 may be anything, and so may the difference of two infinities.
    apart, least, most = (
        np.where(np.isnan(part), free, part) for part, free in ((apart, np.inf), (least, 0.0), (most, np.inf))
    )
    nearest = max(0.0, float(low.max() - high.min())) if np.isfinite(high.min()) else 0.0
    return (nearest, float(apart.max())), (float(least.min()), float(min(1.0, most.min())))
