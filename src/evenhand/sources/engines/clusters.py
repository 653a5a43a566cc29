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

from evenhand.core.arrays import Bools, Codes, Indices
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
_PRODUCTS, _SUMS, _COUNTS = range(3)
"""The parts of the answer, by design stratum: products of two cells, sums of cells, clusters; then come the clusters in
the groups of each set of keys."""
_MOST_LINES = 4 * MOST_PRODUCTS


def sum_clusters(plan: Plan, lines: Lines, request: ClusterRequest) -> SummedClusters:
    """The sums and products over clusters of the rows behind the lines; `plan` has the bands of the request."""
    _check_bands(plan, request)
    counted_rows = plan.by_cluster().filter(nw.col("m") != plan.columns.literal(0.0))  # nobody counts in a weight of 0
    with _kept(counted_rows) as members:
        query = _Query(plan, members, lines)
        found = fetch(query.frame(request), _MOST_LINES + 1)
    part, number = floats(found["part"]).astype(np.int64), floats(found["number"])
    multiplied, summed, counted = (part == i for i in (_PRODUCTS, _SUMS, _COUNTS))
    if len(part) > _MOST_LINES or multiplied.sum() > 2 * MOST_PRODUCTS:  # each is there with both orders of its cells
        raise DataError(too_many_products(MOST_PRODUCTS))
    strata, stratum = _strata(query.strata, found)
    known = _Known(plan, lines, request.places, found)
    first, second = (request.places[known.lines(query.names, side, multiplied)] for side in "ab")
    kept = first <= second
    return SummedClusters(
        strata,
        np.bincount(stratum[counted], number[counted], len(strata)).astype(np.int64),
        stratum[summed],
        request.places[known.lines(query.names, "a", summed)],
        number[summed],
        stratum[multiplied][kept],
        first[kept],
        second[kept],
        number[multiplied][kept],
        [
            (known.lines([plan.keys[key] for key in keys], "a", part == i), number[part == i].astype(np.int64))
            for i, keys in enumerate(request.sets, _COUNTS + 1)
        ],
    )


@contextmanager
def _kept(members: nw.LazyFrame[Any]) -> Iterator[nw.LazyFrame[Any]]:
    """The lines by cluster, asked about several times: an engine that would read all rows again keeps them."""
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


class _Query:
    """What is asked about clusters, all of it of the lines by cluster, as one table."""

    def __init__(self, plan: Plan, members: nw.LazyFrame[Any], lines: Lines) -> None:
        self.plan, self.members = plan, members
        self.names = [*plan.keys.values(), *(name for name in _CUTS if name in lines.columns)]
        self.by = [name for role, name in MEMBERS.items() if role in plan.roles.keys]
        self.strata = [name for name in self.by if name != "c"]

    def frame(self, request: ClusterRequest) -> nw.LazyFrame[Any]:
        """The columns part, h where there are design strata, the keys of two cells as a_… and b_…, and number."""
        keys = [*self.strata, *self.names]
        sums = self.members.group_by(*keys).agg(nw.col("m").sum().alias("number"))
        sets = [self.strata, *([self.plan.keys[key] for key in each] for each in request.sets)]
        counts = [self._part(i, self._clusters(names)) for i, names in enumerate(sets, _COUNTS)]
        return nw.concat([self._products(), self._part(_SUMS, sums), *counts], how="vertical")

    def _products(self) -> nw.LazyFrame[Any]:
        """Σ over clusters of the product of two cells, in both orders of the two."""
        sides = [
            self.members.select(
                *(nw.col(name).alias(name if side == "a" else f"{name}_b") for name in self.by),
                *(nw.col(name).alias(f"{side}_{name}") for name in (*self.names, "m")),
            )
            for side in "ab"
        ]
        joined = sides[0].join(sides[1], how="inner", left_on=self.by, right_on=[f"{name}_b" for name in self.by])
        keys = [*self.strata, *(f"{side}_{name}" for side in "ab" for name in self.names)]
        flat = joined.select(*(nw.col(name) for name in keys), (nw.col("a_m") * nw.col("b_m")).alias("number"))
        summed = flat.group_by(*keys).agg(nw.col("number").sum())
        return summed.select(nw.lit(_PRODUCTS).alias("part"), *(nw.col(name) for name in (*keys, "number")))

    def _clusters(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """How many clusters have rows in each group of these keys; the other keys are null."""
        rest = [_blank(name).alias(name) for name in self.names if name not in names]
        own = dict.fromkeys([*self.by, *names])
        clusters = self.members.select(*(nw.col(name) for name in own), *rest)
        clusters = clusters.group_by(*self.by, *self.names).agg(nw.len().alias("number"))
        hidden = [name for name in self.strata if name not in names]
        keys = [*self.strata, *self.names]
        shown = clusters.select(
            *(nw.col(name) for name in keys if name not in hidden), *(_blank(name).alias(name) for name in hidden)
        )
        return shown.group_by(*keys).agg(nw.len().alias("number"))

    def _part(self, i: int, counted: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        keys = [*(nw.col(name) for name in self.strata), *(nw.col(name).alias(f"a_{name}") for name in self.names)]
        others = [_blank(name).alias(f"b_{name}") for name in self.names]
        return counted.select(nw.lit(i).alias("part"), *keys, *others, nw.col("number").cast(nw.Float64))


def _blank(name: str) -> nw.Expr:
    """A column of nulls of the same type."""
    value = nw.col(name)
    return nw.when(value.is_null()).then(value)


def _strata(names: Sequence[str], found: Answer) -> tuple[tuple[str, ...], Indices]:
    """The names of the design strata, and the stratum of each number."""
    if not names:
        return NO_STRATA, np.zeros(len(found["part"]), dtype=np.intp)
    levels, codes = encode(found["h"], "design_strata")
    strata, place = strata_of(levels)
    return strata, np.append(place, 0)[codes]


class _Known:
    """The lines of the main group-by, by their keys, and the same keys in an answer; an attribute that is cut stands
    there as its band."""

    def __init__(self, plan: Plan, lines: Lines, places: Indices, found: Answer) -> None:
        self.order = np.argsort(places < 0, kind="stable")  # lines that are left out come last
        self.bases: dict[str, int] = {}
        self.codes: dict[str, Codes] = {}
        roles = {name: key for key, name in plan.keys.items()} | {name: name for name in _CUTS if name in lines.columns}
        for name, key in roles.items():
            absent = () if name in _CUTS else plan.roles.na
            levels, codes = encode(lines.columns[key], name, absent)
            levels = [_lower(level, plan.edges[key]) for level in levels] if key in plan.edges else levels
            place = {level: i for i, level in enumerate(dict.fromkeys(levels))}
            self.bases[name] = len(place) + 2
            self.codes[name] = np.array([*(place[level] for level in levels), -1], dtype=np.int64)[codes]
            for side in "ab":
                others, codes = encode(found[f"{side}_{name}"], name, absent)
                where = [place.get(level, -2) for level in others]
                self.codes[f"{side}_{name}"] = np.array([*where, -1], dtype=np.int64)[codes]

    def lines(self, names: Sequence[str], side: str, inside: Bools) -> Indices:
        """A line with the same values of these keys, for each row of the answer that is `inside`."""
        own = np.zeros(len(self.order), dtype=np.int64)
        wanted = np.zeros(int(inside.sum()), dtype=np.int64)
        for name in names:
            own = own * self.bases[name] + self.codes[name] + 2
            wanted = wanted * self.bases[name] + self.codes[f"{side}_{name}"][inside] + 2
        known, first = np.unique(own[self.order], return_index=True)
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        if not np.array_equal(known[at], wanted):
            raise DataError("the data changed while it was read: clusters have rows in groups that had none before.")
        return np.asarray(self.order[first[at]])


def _lower(level: Any, edges: Sequence[float]) -> float:
    """The lower edge of the band of a number, as in `plan.banded`."""
    if len(edges) < 2:
        return float(level)
    place = np.searchsorted(edges, float(level), side="right") - 1
    return float(edges[min(max(int(place), 0), len(edges) - 2)])
