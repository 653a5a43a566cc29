"""Sums over clusters by an engine: lines by cluster, joined with themselves on the cluster; no line of one is fetched.

What values mean was decided when the lines of the main group-by were counted: the keys that come back are looked up
among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from evenhand.core.arrays import Codes, Indices, Ints
from evenhand.errors import DataError, shorten
from evenhand.sources.clusters import MOST_PRODUCTS, NO_STRATA, strata_of, too_many_products
from evenhand.sources.columns import encode
from evenhand.sources.engines.fetch import fetch
from evenhand.sources.engines.plan import MEMBERS, Plan
from evenhand.sources.engines.table import Answer, engine_of
from evenhand.sources.files.query import run_here
from evenhand.sources.groupby import floats
from evenhand.sources.lines import ClusterRequest, Lines, SummedClusters

_CUTS = ("decided", "band")
_SUMS, _COUNTS = (
    0,
    1,
)  # parts of the numbers: sums by design stratum and cell, clusters by design stratum; then the sets


def sum_clusters(plan: Plan, lines: Lines, request: ClusterRequest) -> SummedClusters:
    """The sums and products over clusters of the rows behind the lines; `plan` has the bands of the request."""
    _check_bands(plan, request)
    with _kept(plan.by_cluster()) as members:
        query = _Query(plan, members, lines)
        products = fetch(query.products(), 2 * MOST_PRODUCTS + 1)  # each with both orders of its cells
        if len(products["p"]) > 2 * MOST_PRODUCTS:
            raise DataError(too_many_products(MOST_PRODUCTS))
        numbers = fetch(query.numbers(request))
    part, number = floats(numbers["part"]).astype(np.int64), floats(numbers["number"])
    strata, of_numbers, of_products = _strata(query.strata, part, numbers, products)
    known = _Known(plan, lines, request.places)
    first, second = (request.places[known.lines(products, query.names, f"{side}_")] for side in "ab")
    kept = first <= second
    summed, counted = part == _SUMS, part == _COUNTS
    places = request.places[known.lines(numbers, query.names, inside=summed)]
    return SummedClusters(
        strata,
        np.bincount(of_numbers[counted], number[counted], len(strata)).astype(np.int64),
        of_numbers[summed],
        places,
        number[summed],
        of_products[kept],
        first[kept],
        second[kept],
        floats(products["p"])[kept],
        [
            (known.lines(numbers, [plan.keys[key] for key in keys], inside=part == i), _whole(number[part == i]))
            for i, keys in enumerate(request.sets, _COUNTS + 1)
        ],
    )


@contextmanager
def _kept(members: nw.LazyFrame[Any]) -> Iterator[nw.LazyFrame[Any]]:
    """The lines by cluster, which both questions are about; kept by an engine that would read all rows for each."""
    native: Any = nw.to_native(members)
    keep = engine_of(native).keep
    if keep is None:
        yield members
        return
    held = run_here(lambda: keep(native))
    try:
        yield nw.from_native(held)
    finally:
        if hasattr(held, "unpersist"):
            held.unpersist()


def _check_bands(plan: Plan, request: ClusterRequest) -> None:
    for key in plan.roles.grouping:
        name = plan.roles.keys[key]
        if name in request.bands and key not in plan.edges:
            raise DataError(
                f"column {shorten(name)!r} is text that is cut into bands, and the engine cannot count the clusters of "
                "a band: cast it to numbers in the engine first."
            )


def _whole(numbers: Any) -> Ints:
    return np.asarray(numbers).astype(np.int64)


class _Query:
    """The two questions about clusters, both of the lines by cluster."""

    def __init__(self, plan: Plan, members: nw.LazyFrame[Any], lines: Lines) -> None:
        self.plan, self.members = plan, members
        self.names = [*plan.keys.values(), *(name for name in _CUTS if name in lines.columns)]
        self.by = [name for role, name in MEMBERS.items() if role in plan.roles.keys]
        self.strata = [name for name in self.by if name != "c"]

    def products(self) -> nw.LazyFrame[Any]:
        """Σ over clusters of the product of two cells, whose keys are a_… and b_…, by design stratum."""
        sides = [
            self.members.select(
                *(nw.col(name).alias(name if side == "a" else f"{name}_b") for name in self.by),
                *(nw.col(name).alias(f"{side}_{name}") for name in (*self.names, "m")),
            )
            for side in "ab"
        ]
        joined = sides[0].join(sides[1], how="inner", left_on=self.by, right_on=[f"{name}_b" for name in self.by])
        keys = [*self.strata, *(f"{side}_{name}" for side in "ab" for name in self.names)]
        flat = joined.select(*(nw.col(name) for name in keys), (nw.col("a_m") * nw.col("b_m")).alias("p"))
        return flat.group_by(*keys).agg(nw.col("p").sum())

    def numbers(self, request: ClusterRequest) -> nw.LazyFrame[Any]:
        """Sums by cell, clusters by design stratum, and clusters by the groups of each set of keys."""
        keys = [*self.strata, *self.names]
        sums = self.members.group_by(*keys).agg(nw.col("m").sum().alias("number"))
        parts = [self._part(_SUMS, sums)]
        for i, names in enumerate(
            (self.strata, *([self.plan.keys[key] for key in each] for each in request.sets)), _COUNTS
        ):
            rest = [_blank(name).alias(name) for name in self.names if name not in names]
            here = self.members.select(*(nw.col(name) for name in dict.fromkeys([*self.by, *names])), *rest)
            clusters = here.group_by(*self.by, *self.names).agg(nw.len().alias("m"))
            hidden = [_blank(name).alias(name) for name in self.strata if name not in names]
            shown = clusters.select(
                *(nw.col(name) for name in keys if name not in self.strata or name in names), *hidden
            )
            parts.append(self._part(i, shown.group_by(*keys).agg(nw.len().alias("number"))))
        return nw.concat(parts, how="vertical")

    def _part(self, i: int, counted: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        keys = [nw.col(name) for name in (*self.strata, *self.names)]
        return counted.select(nw.lit(i).alias("part"), *keys, nw.col("number").cast(nw.Float64))


def _blank(name: str) -> nw.Expr:
    """A column of nulls of the same type."""
    value = nw.col(name)
    return nw.when(value.is_null()).then(value)


def _strata(
    names: Sequence[str], part: Ints, numbers: Answer, products: Answer
) -> tuple[tuple[str, ...], Indices, Indices]:
    """The names of the design strata, and the stratum of each number and of each product."""
    if not names:
        return NO_STRATA, np.zeros(len(part), dtype=np.intp), np.zeros(len(products["p"]), dtype=np.intp)
    levels, codes = encode(numbers["h"], "design_strata")
    strata, place = strata_of(levels)
    known = dict(zip(levels, place.tolist(), strict=True))
    others, of_products = encode(products["h"], "design_strata")
    return strata, np.append(place, 0)[codes], np.array([known[level] for level in others], dtype=np.intp)[of_products]


class _Known:
    """The lines of the main group-by, by their keys; an attribute that is cut stands there as its band."""

    def __init__(self, plan: Plan, lines: Lines, places: Indices) -> None:
        self.na, self.order = plan.roles.na, np.argsort(places < 0, kind="stable")  # those that are left out come last
        self.levels: dict[str, dict[Any, int]] = {}
        self.codes: dict[str, Codes] = {}
        roles = {name: key for key, name in plan.keys.items()}
        for name in (*roles, *(name for name in _CUTS if name in lines.columns)):
            key = roles.get(name, name)
            levels, codes = encode(lines.columns[key], name, self._absent(name))
            levels = [_lower(level, plan.edges[key]) for level in levels] if key in plan.edges else levels
            self.levels[name] = {level: i for i, level in reversed([*enumerate(levels)])}
            same = [self.levels[name][level] for level in levels]
            self.codes[name] = np.array([*same, -1], dtype=np.int64)[codes]

    def _absent(self, name: str) -> Sequence[str]:
        return () if name in _CUTS else self.na

    def lines(self, answer: Answer, names: Sequence[str], prefix: str = "", inside: Any = slice(None)) -> Indices:
        """A line with the same values of these columns, for each row of an answer; those that are `inside`."""
        own = wanted = np.zeros(1, dtype=np.int64)
        for name in names:
            levels, codes = encode(answer[prefix + name], name, self._absent(name))
            where = np.array([*(self.levels[name].get(level, -2) for level in levels), -1], dtype=np.int64)[codes]
            base = len(self.levels[name]) + 2
            own, wanted = own * base + self.codes[name] + 2, wanted * base + where + 2
        sorted_keys, first = np.unique(own[self.order], return_index=True)
        wanted = wanted[inside]
        at = np.minimum(np.searchsorted(sorted_keys, wanted), len(sorted_keys) - 1)
        if not np.array_equal(sorted_keys[at], wanted):
            raise DataError("the data changed while it was read: clusters were found in groups that were not there.")
        return np.asarray(self.order[first[at]])


def _lower(level: Any, edges: Sequence[float]) -> float:
    """The lower edge of the band of a number, as in `plan.banded`."""
    if len(edges) < 2:
        return float(level)
    place = np.searchsorted(edges, float(level), side="right") - 1
    return float(edges[min(max(int(place), 0), len(edges) - 2)])
