"""Clusters: sums over rows that belong together, such as the visits of one person, without the names of clusters.

Rows of one cluster are alike, so that a rate varies more than as many strangers would make it vary. How much more
follows from the sums of products of cells over clusters (the linearised variance of survey statistics), which add up
over groups and over cubes as counts do. A place is a cell of a pair: pair · `cells` + cell, as in a flattened `Cube.n`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats, Indices, Ints
from evenhand.core.results import Pair
from evenhand.core.signs import Printable
from evenhand.errors import DataError
from evenhand.sources.clusters import MOST_PRODUCTS, too_many_products

Attributes = tuple[tuple[str, ...], tuple[str, ...]]
"""The controls and the sensitive attributes that make the pairs of a cube."""


@dataclass(frozen=True, eq=False, repr=False)
class Clusters(Printable):
    """The sums that variances need; clusters are drawn within each design stratum, of which there may be only one.

    `sums` and `products` are sparse. A product is kept once, with `first` at most `second`.
    """

    cells: int
    strata: tuple[str, ...]
    """The names of the design strata, in order; ("",) where there are none."""
    counts: Ints
    """Clusters in each design stratum, those without anyone in the pairs that are left included."""
    sum_stratum: Indices
    sum_place: Indices
    sums: Floats
    product_stratum: Indices
    first: Indices
    second: Indices
    products: Floats
    distinct: Mapping[Attributes, Mapping[Pair, int]] = field(default_factory=dict)
    """How many clusters have rows in each pair, by the attributes that make the pairs: groups that share clusters do
    not add up."""
    in_part: bool = False
    """Are these sums of a part of the rows, of clusters that had more than one in the whole?"""

    @classmethod
    def from_lines(
        cls, cells: int, strata: tuple[str, ...], stratum_of: Indices, cluster: Indices, place: Indices, mass: Floats
    ) -> Clusters:
        """The sums of lines: the number of the cluster of each, its place and how much it counts.

        `stratum_of` is the design stratum of each cluster, whose length is the number of clusters.
        """
        from scipy.sparse import coo_array

        # A cluster is in one stratum, so that products of cells of two strata are 0: one matrix does for all strata.
        high = int(place.max(initial=0)) + 1
        keys, where = numbered(stratum_of[cluster] * high + place)
        by_cluster = coo_array((mass, (cluster, where)), shape=(len(stratum_of), len(keys))).tocsr()
        by_cluster.sum_duplicates()
        row, column, value = _products(by_cluster)
        stratum, places = np.divmod(keys, high)
        return _summed(
            cls(
                cells,
                strata,
                np.bincount(stratum_of, minlength=len(strata)).astype(np.int64),
                stratum,
                places,
                _added(where, mass, len(keys)),
                stratum[row],
                places[row],
                places[column],
                value,
            )
        )

    def __repr__(self) -> str:
        within = "" if len(self.strata) == 1 else f" in {len(self.strata):,} design strata"
        return f"<Clusters: {self.number:,}{within}, {len(self.products):,} products>"

    def are_single(self, squares: Array) -> bool:
        """Is every cluster one row, so that the rows are strangers? `squares` are those of the rows by place."""
        if self.in_part or len(self.strata) > 1 or not np.array_equal(self.first, self.second):
            return False
        return bool(np.allclose(self.products, squares.reshape(-1)[self.first], rtol=1e-9, atol=0))

    @property
    def number(self) -> int:
        """How many clusters there are."""
        return int(self.counts.sum())

    @property
    def freedom(self) -> int:
        """Degrees of freedom of a variance over all clusters."""
        return int((self.counts - 1).sum())

    def moved(self, where: Indices, cells: int | None = None, cell_where: Indices | None = None) -> Clusters:
        """The sums under other pairs: `where` says for each pair which it becomes, −1 for one that is left out.

        `cell_where` says the same of cells, of which there are then `cells`.
        """
        to_cell = np.arange(self.cells) if cell_where is None else cell_where
        many = self.cells if cells is None else cells

        def place(old: Indices) -> Indices:
            pair, cell = where[old // self.cells], to_cell[old % self.cells]
            return np.where((pair < 0) | (cell < 0), -1, pair * many + cell).astype(np.intp)

        first, second = place(self.first), place(self.second)
        # Two places that become one: the product that was kept once stands for both orders of the two.
        twice = np.where((first == second) & (self.first != self.second), 2.0, 1.0)
        moved = replace(self, cells=many, sum_place=place(self.sum_place), first=first, second=second)
        return _summed(replace(moved, products=self.products * twice))

    def of_pairs(self, patterns: Sequence[Floats], pairs: int) -> Floats:
        """Covariances of totals over clusters, [patterns, patterns, pairs, pairs].

        A pattern says how much each cell counts in a total, as a number for every cell, or [pairs, cells].
        """
        weights = [np.broadcast_to(pattern, (pairs, self.cells)).reshape(-1) for pattern in patterns]
        # A cluster that is alone in its stratum says nothing about how clusters vary; it is refused when counted.
        more = np.divide(self.counts, self.counts - 1, out=np.zeros(len(self.counts)), where=self.counts > 1)
        value = self.products * more[self.product_stratum]
        found = np.empty((len(weights), len(weights), pairs, pairs))
        totals = [self._totals(weight, pairs) for weight in weights]
        scale = np.divide(more, self.counts, out=np.zeros(len(more)), where=self.counts > 0)[:, None]
        off = self.first != self.second
        at = (self.first // self.cells) * pairs + self.second // self.cells
        back = ((self.second // self.cells) * pairs + self.first // self.cells)[off]
        for i, mine in enumerate(weights):
            for j, theirs in enumerate(weights[: i + 1]):
                summed = np.bincount(at, value * mine[self.first] * theirs[self.second], pairs * pairs)
                summed += np.bincount(back, (value * mine[self.second] * theirs[self.first])[off], pairs * pairs)
                found[i, j] = summed.reshape(pairs, pairs) - (totals[i] * scale).T @ totals[j]
                found[j, i] = found[i, j].T
        return found

    def squares(self, pattern: Floats, pairs: int) -> Floats:
        """Sums over clusters of products of their totals in two pairs, [pairs, pairs]; a pattern as in `of_pairs`."""
        weight = np.broadcast_to(pattern, (pairs, self.cells)).reshape(-1)
        value = self.products * weight[self.first] * weight[self.second]
        first, second, off = self.first // self.cells, self.second // self.cells, self.first != self.second
        found = np.bincount(first * pairs + second, value, pairs * pairs)
        found += np.bincount((second * pairs + first)[off], value[off], pairs * pairs)
        return np.asarray(found.reshape(pairs, pairs))

    def totals(self, pattern: Floats, pairs: int) -> Floats:
        """The total of each pair; a pattern as in `of_pairs`."""
        return np.asarray(self._totals(np.broadcast_to(pattern, (pairs, self.cells)).reshape(-1), pairs).sum(axis=0))

    def _totals(self, weight: Floats, pairs: int) -> Floats:
        """The same in each design stratum, [strata, pairs]."""
        at = self.sum_stratum * pairs + self.sum_place // self.cells
        return _added(at, self.sums * weight[self.sum_place], len(self.strata) * pairs).reshape(-1, pairs)

    def in_pairs(self, attributes: Attributes, pairs: Sequence[Pair]) -> list[int | None]:
        """How many clusters have rows in each pair; None where that was not counted, as of pairs joined later."""
        known = self.distinct.get(attributes, {})
        return [known.get(pair) for pair in pairs]

    def same(self, other: Clusters | None) -> bool:
        """Are the sums equal to 1e-9, and the numbers of clusters the same?"""
        if other is None or self.cells != other.cells or self.strata != other.strata:
            return False
        exact = ("counts", "sum_stratum", "sum_place", "product_stratum", "first", "second")
        if not all(np.array_equal(getattr(self, name), getattr(other, name)) for name in exact):
            return False
        close = all(np.allclose(getattr(self, n), getattr(other, n), rtol=1e-9, atol=0) for n in ("sums", "products"))
        mine, theirs = ({key: dict(part) for key, part in each.distinct.items()} for each in (self, other))
        return close and mine == theirs

    @cached_property
    def smallest_stratum(self) -> tuple[str, int]:
        """The design stratum with the fewest clusters, and how many it has."""
        least = int(self.counts.argmin())
        return self.strata[least], int(self.counts[least])


def merged(parts: Sequence[Clusters]) -> Clusters:
    """The sums of cubes no cluster of which is in two of them; they must have the same places."""
    strata = tuple(sorted({name for part in parts for name in part.strata}))
    place = {name: i for i, name in enumerate(strata)}
    to = [np.array([place[name] for name in part.strata], dtype=np.intp) for part in parts]
    counts = np.zeros(len(strata), dtype=np.int64)
    for part, where in zip(parts, to, strict=True):
        np.add.at(counts, where, part.counts)

    def joined(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    distinct: dict[Attributes, dict[Pair, int]] = {}
    for part in parts:
        for attributes, known in part.distinct.items():
            total = distinct.setdefault(attributes, {})
            for pair, number in known.items():
                total[pair] = total.get(pair, 0) + number
    return _summed(
        Clusters(
            parts[0].cells,
            strata,
            counts,
            np.concatenate([where[part.sum_stratum] for part, where in zip(parts, to, strict=True)]),
            joined("sum_place"),
            joined("sums"),
            np.concatenate([where[part.product_stratum] for part, where in zip(parts, to, strict=True)]),
            joined("first"),
            joined("second"),
            joined("products"),
            distinct,
            any(part.in_part for part in parts),
        )
    )


def numbered(values: Indices) -> tuple[Indices, Indices]:
    """The different numbers in rising order, and for each number its place among them, as by np.unique.

    Where the numbers are not much larger than there are many of them, a table is faster than a sort.
    """
    wide = int(values.max(initial=0)) + 1
    if wide > 4 * len(values):
        found, where = np.unique(values, return_inverse=True)
        return found, where.reshape(-1)
    seen = np.zeros(wide, dtype=np.bool_)
    seen[values] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[values]


def _products(by_cluster: Any) -> tuple[Indices, Indices, Floats]:
    """Σ over rows of the product of two columns of a sparse matrix, the first at most the second.

    Block by block, so that no more is made than may be kept, and one block.
    """
    turned = by_cluster.T.tocsr()
    size, found, many = max(4 * MOST_PRODUCTS // max(turned.shape[0], 1), 1), [], 0
    for start in range(0, max(turned.shape[0], 1), size):
        product = (turned[start : start + size] @ by_cluster).tocoo()
        above = product.row + start <= product.col
        found.append((product.row[above] + start, product.col[above], product.data[above]))
        many += len(found[-1][0])
        check_size(many)
    row, column, value = (np.concatenate(part) for part in zip(*found, strict=True))
    return row, column, value


def check_size(products: int) -> None:
    """Refuse more products than a cube keeps."""
    if products > MOST_PRODUCTS:
        raise DataError(too_many_products(MOST_PRODUCTS))


def _summed(clusters: Clusters) -> Clusters:
    """The same sums with each place once, in rising order, and nothing of the places that are left out (−1), nor of
    design strata in which no cluster was drawn."""
    if not clusters.counts.all():
        present, place = np.flatnonzero(clusters.counts), np.cumsum(clusters.counts > 0) - 1
        clusters = replace(
            clusters,
            strata=tuple(clusters.strata[i] for i in present.tolist()),
            counts=clusters.counts[present],
            sum_stratum=place[clusters.sum_stratum],
            product_stratum=place[clusters.product_stratum],
        )
    high = (
        int(max(clusters.sum_place.max(initial=0), clusters.first.max(initial=0), clusters.second.max(initial=0))) + 1
    )
    kept = clusters.sum_place >= 0
    key = clusters.sum_stratum[kept] * high + clusters.sum_place[kept]
    keys, at = np.unique(key, return_inverse=True)
    both = (clusters.first >= 0) & (clusters.second >= 0)
    low, top = np.minimum(clusters.first, clusters.second)[both], np.maximum(clusters.first, clusters.second)[both]
    pair = (clusters.product_stratum[both] * high + low) * high + top
    pairs, of = np.unique(pair, return_inverse=True)
    check_size(len(pairs))
    sums, products = _added(at, clusters.sums[kept], len(keys)), _added(of, clusters.products[both], len(pairs))
    keys, sums, pairs, products = keys[sums > 0], sums[sums > 0], pairs[products > 0], products[products > 0]
    rest, second = np.divmod(pairs, high)
    stratum, first = np.divmod(rest, high)
    return replace(
        clusters,
        sum_stratum=keys // high,
        sum_place=keys % high,
        sums=sums,
        product_stratum=stratum,
        first=first,
        second=second,
        products=products,
    )


def _added(where: Indices, values: Floats, length: int) -> Floats:
    return np.asarray(np.bincount(where.reshape(-1), values, length), dtype=np.float64)
