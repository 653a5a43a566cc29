"""Frames that an engine holds: Polars LazyFrame, DuckDB relation, Ibis table, PySpark, Dask and SQLFrame.

The engine runs one group-by and only its lines are fetched. Whatever must be known first (the range of a score, the
bands of a wide attribute) is computed by the engine too. No row is fetched, except a few thousand at the beginning,
which show whether a score has few values. A new engine is one row in `evenhand.sources.engines.table`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.errors import DataError, Problems, listing
from evenhand.sources.bins import GRID
from evenhand.sources.columns import library
from evenhand.sources.engines.table import engine_of
from evenhand.sources.groupby import MOST_LEVELS, MOST_LINES, floats, lines_of, outside, say_outside, settle
from evenhand.sources.levels import QUANTILE_BANDS, too_many
from evenhand.sources.lines import ClusterRequest, Lines, SummedClusters, complain_twice
from evenhand.sources.roles import Roles

if TYPE_CHECKING:
    from evenhand.sources.engines.plan import Columns
    from evenhand.sources.scores import ScoreReading

_HEAD = 1000  # rows that show whether a column holds fractions
_SAMPLE = 4 * GRID  # rows that show whether a score has few values, as for data in memory


def as_relation(dataset: Any) -> Any:
    """A dataset of PyArrow as a relation of DuckDB, which reads the columns that are needed, batch by batch."""
    import duckdb

    return duckdb.connect().from_arrow(dataset)


class LazySource:
    """A frame of an engine."""

    def __init__(self, data: Any) -> None:
        import narwhals.stable.v2 as nw

        native = nw.to_native(data, pass_through=True)
        engine = engine_of(native)
        try:
            names, native = (None, native) if engine.numbered is None else engine.numbered(native)
            self.frame: Any = nw.from_native(native)
        except TypeError:
            raise DataError(
                f"a {library(data)} {type(data).__name__} is not a table: pass the frame, table or relation itself."
            ) from None
        self.title = engine.title
        reached = list(self.frame.collect_schema())
        self._names = reached if names is None else names
        self.reached = dict(zip(self._names, reached, strict=True))

    @property
    def names(self) -> list[str]:
        return list(self.reached)

    def fractional(self, roles: Roles) -> bool:
        """Do the first labels and predictions both hold fractions?"""
        from evenhand.sources.engines.plan import Columns

        columns = Columns(self.frame, roles, self.reached)
        if roles.arrays or not all(columns.fractional(role) for role in ("label", "prediction")):
            return False
        frame = _Frame(columns)
        return all(_has_fractions(frame.beginning(role, _HEAD)) for role in ("label", "prediction"))

    def lines(self, roles: Roles) -> Lines:
        from evenhand.sources.engines.conditions import chosen
        from evenhand.sources.engines.plan import Columns

        if roles.arrays:
            raise DataError(
                f"{listing(roles.arrays)} is an array, but {self.title} holds the data: name a column of it."
            )
        problems = Problems()
        complain_twice({name for name, times in Counter(self._names).items() if times > 1}, roles, problems)
        problems.raise_if_any(DataError)
        columns = Columns(self.frame, roles, self.reached)
        frame = _Frame(replace(columns, frame=chosen(columns)) if roles.where else columns)
        edges = frame.wide_edges()
        read = settle(roles, frame)
        lines = frame.group(read, edges)
        if lines is None:
            edges = frame.wide_edges(sure=True)
            lines = frame.group(read, edges)
        if lines is None:
            raise DataError(frame.widest)
        if outside(lines):
            say_outside(roles, frame)
        return replace(lines, edges=edges)


class _Frame:
    """The columns of a call in the frame of an engine: their `Statistics`, and the group-by."""

    def __init__(self, columns: Columns) -> None:
        self.whole, self.columns, self.roles = columns, columns.with_people(), columns.roles
        self._levels: dict[str, list[float]] = {}

    def group(self, read: ScoreReading | None, edges: Mapping[str, tuple[float, ...]]) -> Lines | None:
        """The lines of the one group-by; None where there are too many."""
        from evenhand.sources.engines.fetch import fetch
        from evenhand.sources.engines.plan import Plan

        plan = Plan(self.columns, read, {**self.roles.bands, **edges})
        found = fetch(plan.frame, MOST_LINES + 1)
        if len(found["n"]) > MOST_LINES:
            return None
        keys = {key: found[name] for key, name in plan.keys.items()}
        lines = lines_of(found, keys, self.roles, read) if len(found["n"]) else Lines({}, 0)
        return lines if self.roles.cluster is None else replace(lines, clusters=partial(self._clusters, read, lines))

    def _clusters(self, read: ScoreReading | None, lines: Lines, request: ClusterRequest) -> SummedClusters:
        from evenhand.sources.engines.clusters import sum_clusters
        from evenhand.sources.engines.plan import Plan

        return sum_clusters(Plan(self.columns, read, request.bands), lines, request)

    def extremes(self, role: str, *, count: bool) -> tuple[float | None, float | None, bool]:
        import narwhals.stable.v2 as nw

        from evenhand.sources.engines.fetch import fetch

        if count and len(np.unique(self.beginning(role, _SAMPLE))) <= GRID:
            levels = self.values(role)
            if len(levels) <= GRID:
                return (min(levels), max(levels), True) if levels else (None, None, True)
        value = nw.col("v")
        row = fetch(self._numbers(role).select(value.min().alias("low"), value.max().alias("high")))
        low, high = (_present(row[end]) for end in ("low", "high"))
        return (low[0], high[0], False) if len(low) else (None, None, False)

    def values(self, role: str) -> list[float]:
        import narwhals.stable.v2 as nw

        from evenhand.sources.engines.fetch import fetch

        if role not in self._levels:
            counted = self._numbers(role).group_by("v").agg(nw.len().alias("n"))
            self._levels[role] = _present(fetch(counted, GRID + 2)["v"]).tolist()
        return self._levels[role]

    def quantiles(self, role: str, parts: int) -> Floats:
        from evenhand.sources.engines.quantiles import edges

        found = edges(self._numbers(role, weighted=True), self.columns.literal, parts)
        if len(found) or self.roles.weight is None:
            return found
        return edges(self._numbers(role, weighted=False), self.columns.literal, parts)

    def beginning(self, role: str, rows: int) -> Floats:
        """The first numbers of a column, in the order of the engine."""
        from evenhand.sources.engines.fetch import fetch_first

        # Of all rows, because engines read the beginning of a frame quickly, but not that of a filtered one.
        wanted = {"v": role} if self.roles.count is None else {"v": role, "c": "count"}
        found = fetch_first(
            self.whole.frame.select(*(self.whole.number(key).alias(name) for name, key in wanted.items())), rows
        )
        numbers = floats(found["v"])
        return _present(numbers[floats(found["c"]) != 0] if "c" in found else numbers)

    def wide_edges(self, *, sure: bool = False) -> dict[str, tuple[float, ...]]:
        """Edges for attributes of very many numbers, which would make as many groups. The beginning of a column of
        fractions shows most of these; `sure` counts all numbers, after the group-by turned out too long."""
        found = {}
        for key in self.roles.grouping:
            name = self.roles.keys[key]
            if name in self.roles.bands or name in self.roles.categories or not self.columns.numeric(key):
                continue
            wide = self._different(key) >= MOST_LEVELS if sure else self._starts_wide(key)
            if wide and (cut := self._quantile_edges(key)):
                found[name] = cut
        return found

    @property
    def widest(self) -> str:
        most, key = max((self._different(key), key) for key in self.roles.raw_keys)
        return too_many(self.roles.keys[key], f"{most:,}", numbers=key in self.roles.grouping)

    def _starts_wide(self, key: str) -> bool:
        return self.columns.fractional(key) and len(np.unique(self.beginning(key, _SAMPLE))) >= MOST_LEVELS

    def _different(self, key: str) -> int:
        from evenhand.sources.engines.fetch import fetch

        found = fetch(self.columns.frame.select(self.columns.raw(key).n_unique().alias("n")))
        return int(found["n"][0])

    def _quantile_edges(self, key: str) -> tuple[float, ...]:
        return tuple(dict.fromkeys(float(edge) for edge in self.quantiles(key, QUANTILE_BANDS)))

    def _numbers(self, key: str, *, weighted: bool = True) -> Any:
        """The numbers of a column without missing ones, as `v`, and how much each row counts, as `c`."""
        import narwhals.stable.v2 as nw

        mass = self.columns.mass(weighted=weighted)
        return self.columns.frame.select(self.columns.number(key).alias("v"), mass.alias("c")).filter(
            ~nw.col("v").is_null()
        )


def _has_fractions(numbers: Floats) -> bool:
    return bool(np.any(np.isfinite(numbers) & (numbers != np.floor(numbers))))


def _present(values: Any) -> Floats:
    """The numbers without missing ones."""
    found = floats(values)
    return found[~np.isnan(found)]
