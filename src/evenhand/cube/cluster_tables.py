"""Sums over clusters as plain data, and back: what the file of a cube holds of them.

Sums of products of small cells may tell of single people, so the JSON of an audit does not hold them. Whatever comes
from a file is checked before it becomes a part of a cube.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from evenhand.core import records
from evenhand.core.arrays import Array
from evenhand.core.records import MisfitError
from evenhand.core.results import Pair
from evenhand.cube.clusters import Attributes, Clusters, merged
from evenhand.cube.cube import Cube
from evenhand.sources.clusters import MOST_PRODUCTS

_ROUNDING = 1e-6
_WHOLE = ("counts", "sum_stratum", "sum_place", "product_stratum", "first", "second")
_NUMBERS = ("sums", "products")
_Distinct = tuple[tuple[tuple[tuple[str, ...], tuple[str, ...]], tuple[tuple[Pair, int], ...]], ...]


def write(clusters: Clusters) -> dict[str, Any]:
    """The sums as plain data, ready for JSON."""
    arrays = {name: getattr(clusters, name).tolist() for name in (*_WHOLE, *_NUMBERS)}
    distinct = [(attributes, [*known.items()]) for attributes, known in clusters.distinct.items()]
    return {"strata": list(clusters.strata), **arrays, "distinct": records.write(distinct)}


def read(record: Any, cube: Cube) -> Clusters:
    """The sums that `write` wrote of a cube with the same counts; MisfitError where they cannot be its own."""
    if not isinstance(record, Mapping):
        _refuse(f"is {records.shown(record)}, not an object")
    strata = records.read(tuple[str, ...], record.get("strata"), "clusters.strata")
    arrays: dict[str, Any] = {name: _whole(name, record.get(name)) for name in _WHOLE}
    arrays |= {name: _numbers(name, record.get(name)) for name in _NUMBERS}
    cells = int(np.prod(cube.n.shape[1:]))
    _check_places(arrays, len(strata), cube.n.size)
    distinct: dict[Attributes, dict[Pair, int]] = {
        attributes: dict(known)
        for attributes, known in records.read(_Distinct, record.get("distinct"), "clusters.distinct")
    }
    clusters = Clusters(cells, strata, **arrays, distinct=distinct)
    check(clusters, cube)
    return merged([clusters])


def check(clusters: Clusters, cube: Cube) -> None:
    """Raise MisfitError for the first thing that does not hold of the clusters of a cube."""
    if cube.meaning.cluster is None:
        _refuse("holds sums, and the cube names no cluster")
    if list(clusters.strata) != sorted(set(clusters.strata)) or (clusters.counts < 1).any():
        _refuse("names a design stratum twice, or one without clusters")
    mass = cube.n if cube.w is None else cube.w
    total = np.bincount(clusters.sum_place, clusters.sums, mass.size)
    if not np.allclose(total, mass.reshape(-1), rtol=_ROUNDING, atol=0):
        _refuse("sums do not add up to decisions")
    _check_products(clusters, mass.size)
    numbers = [number for known in clusters.distinct.values() for number in known.values()]
    if any(not 1 <= number <= clusters.number for number in numbers):
        _refuse(f"counts a number of clusters that is not between 1 and {clusters.number:,}")
    own = (cube.meaning.control, cube.meaning.sensitive)
    counted = zip(cube.pairs, mass.sum(axis=(1, 2)), strict=True)
    if set(clusters.distinct.get(own, ())) != {pair for pair, total in counted if total > 0}:
        _refuse("does not count the clusters of each group")


def _check_products(clusters: Clusters, places: int) -> None:
    """Σx² lies between (Σx)² / clusters and (Σx)², and |Σxy|² is at most Σx²·Σy²."""
    square = clusters.first == clusters.second
    at = clusters.product_stratum * places + clusters.first
    squares = np.zeros(len(clusters.strata) * places)
    squares[at[square]] = clusters.products[square]
    sums = np.zeros(squares.shape)
    sums[clusters.sum_stratum * places + clusters.sum_place] = clusters.sums
    many = np.repeat(clusters.counts, places)
    if ((squares * many * (1 + _ROUNDING) < sums**2) | (squares > sums**2 * (1 + _ROUNDING))).any():
        _refuse("products are not those of the sums")
    other = squares[clusters.product_stratum * places + clusters.second]
    if (clusters.products > np.sqrt(squares[at]) * np.sqrt(other) * (1 + _ROUNDING)).any():
        _refuse("products are larger than their squares allow")


def _check_places(arrays: Mapping[str, Array], strata: int, places: int) -> None:
    if len(arrays["counts"]) != strata or not strata:
        _refuse("has another number of counts than of design strata")
    for names in (("sum_stratum", "sum_place", "sums"), ("product_stratum", "first", "second", "products")):
        if len({len(arrays[name]) for name in names}) > 1:
            _refuse(f"has columns of different lengths: {', '.join(names)}")
    if len(arrays["products"]) > MOST_PRODUCTS:
        _refuse(f"has more than {MOST_PRODUCTS:,} products")
    for name, size in {"sum_place": places, "first": places, "second": places}.items():
        if (arrays[name] >= size).any():
            _refuse(f"{name} holds a place that the cube does not have")
    for name in ("sum_stratum", "product_stratum"):
        if (arrays[name] >= strata).any():
            _refuse(f"{name} holds a design stratum that is not named")
    sums = arrays["sum_stratum"] * places + arrays["sum_place"]
    products = (arrays["product_stratum"] * places + arrays["first"]) * places + arrays["second"]
    if (np.diff(sums) <= 0).any() or (np.diff(products) <= 0).any() or (arrays["first"] > arrays["second"]).any():
        _refuse("holds one place twice, or not in order")


def _whole(name: str, values: Any) -> Array:
    found = records.read(tuple[int, ...], values, f"clusters.{name}")
    if any(not 0 <= value < 2**62 for value in found):
        _refuse(f"{name} holds a number that is negative or too large")
    return np.array(found, dtype=np.int64)


def _numbers(name: str, values: Any) -> Array:
    found = np.array(records.read(tuple[float, ...], values, f"clusters.{name}"), dtype=np.float64)
    if not np.isfinite(found).all() or (found <= 0).any():
        _refuse(f"{name} holds a number that is not finite, or not above 0")
    return found


def _refuse(problem: str) -> NoReturn:
    raise MisfitError(f"clusters {problem}")
