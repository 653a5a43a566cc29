"""The benchmark of representation: the shares that the groups of an attribute are expected to have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.quantities import number, shown
from evenhand.core.results import MISSING
from evenhand.errors import CallError, DataError, listing, nearest, shorten
from evenhand.sources.rows import load_files
from evenhand.sources.spelling import spelling

COLUMNS = ("value", "share")
ROUNDING = 0.005
"""Published shares are rounded: a sum this far from 1 is scaled to 1, and said so."""


@dataclass(frozen=True)
class Benchmark:
    """The attribute, the expected share of each of its values, which add up to 1, and what they added up to before."""

    attribute: str
    shares: Mapping[str, float]
    total: float = 1.0


def attribute_of(benchmark: Any) -> str | None:
    """The attribute that a benchmark names; None where it holds shares alone, or is a file."""
    if not isinstance(benchmark, Mapping):
        return None
    if not benchmark:
        raise CallError(
            "benchmark={} names no share: map values to shares, as in benchmark={'race': {'White': 0.6, …}}."
        )
    parts = [isinstance(value, (Mapping, str, Path, list, tuple)) for value in benchmark.values()]
    if not any(parts):
        return None
    if len(benchmark) > 1:
        raise CallError(
            f"benchmark= names {listing(map(str, benchmark))}: a finding is about one attribute, so call once for each "
            "(evenhand representation takes several)."
        )
    return str(next(iter(benchmark)))


def read_benchmark(benchmark: Any, attribute: str) -> Benchmark:
    """The benchmark of an attribute, checked: from {value: share}, {attribute: ...}, or the path of a file."""
    given = benchmark
    if attribute_of(benchmark) is not None:
        given = next(iter(benchmark.values()))
    if isinstance(given, (str, Path)):
        given = _from_file(Path(given))
    if not isinstance(given, Mapping):
        raise CallError(
            f"benchmark={shown(benchmark)} must map values to shares, as in {{'White': 0.6, 'Black': 0.4}}, or be the "
            "path of a file with the columns value and share."
        )
    shares: dict[str, float] = {}
    for value, share in given.items():
        name = spelling(value)
        if value is None or (isinstance(value, float) and math.isnan(value)) or name == MISSING:
            raise CallError("the benchmark has a share for missing values, who are left out: take it out.")
        if name in shares:
            raise CallError(f"the benchmark names {name!r} twice: give it once.")
        if not 0 < number(share) <= 1:
            raise CallError(_not_a_share(name, share))
        shares[name] = number(share)
    if len(shares) < 2:
        many = "one group only" if shares else "no group"
        raise CallError(f"the benchmark of {attribute!r} has {many}: there is nothing to compare.")
    return _scaled(attribute, shares)


def _not_a_share(name: str, share: Any) -> str:
    said = f"the benchmark's share of {shorten(name)!r} is {shown(share)}, which is not above 0 and at most 1"
    if 1 < number(share) <= 100:
        return f"{said}: are these percentages? Divide them by 100."
    if number(share) == 0:
        return f"{said}: against nobody there is no ratio; take the value out, and rows with it by where=."
    return f"{said}."


def _scaled(attribute: str, shares: dict[str, float]) -> Benchmark:
    total = math.fsum(shares.values())
    if abs(total - 1) > ROUNDING:
        raise CallError(
            f"the benchmark's shares of {attribute!r} add up to {total:.4g} and not to 1: is a group missing, or named "
            "twice?"
        )
    return Benchmark(attribute, {name: share / total for name, share in shares.items()}, total)


def _from_file(path: Path) -> dict[Any, Any]:
    """The shares in a file with the columns value and share."""
    table = load_files([path], None)
    lacking = [name for name in COLUMNS if name not in table]
    if lacking:
        raise DataError(
            f"{path.name!r} has no column {lacking[0]!r}: a benchmark has the columns value and share, and this file "
            f"has {listing(table)}."
        )
    values, shares = (list(table[name]) for name in COLUMNS)
    found: dict[Any, Any] = {}
    for value, share in zip(values, shares, strict=True):
        if value in found:
            raise DataError(f"{path.name!r} names {shown(value)} twice: give it once.")
        found[value] = _number(share, value, path)
    return found


def _number(share: Any, value: Any, path: Path) -> float:
    try:
        return float(str(share))
    except ValueError:
        raise DataError(
            f"{path.name!r}: the share of {shown(value)} is {shown(share)}, which is not a number."
        ) from None


def matched(benchmark: Benchmark, groups: list[str]) -> list[str]:
    """The groups of data and benchmark, in the order of the data; those of the benchmark that nobody is in come last.

    A group of the data that the benchmark lacks is an error: it may be written in another way there.
    """
    unknown = [name for name in groups if name not in benchmark.shares]
    if unknown:
        free = [name for name in benchmark.shares if name not in groups]
        raise CallError(
            f"the benchmark has no share for {listing(unknown)} of {benchmark.attribute!r}; "
            + (f"{nearest(unknown[0], free)} " if free else "")
            + f"It names {listing(benchmark.shares)}. Spell both alike, add the share, or leave rows out by where=."
        )
    return [*groups, *(name for name in benchmark.shares if name not in groups)]
