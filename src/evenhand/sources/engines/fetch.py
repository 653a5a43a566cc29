"""How the answer of a plan comes back from each engine: columns of the kind that the engine makes itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

import narwhals.stable.v2 as nw

from evenhand.errors import DataError, shorten

_TITLES = {
    "POLARS": "Polars",
    "DUCKDB": "DuckDB",
    "IBIS": "Ibis",
    "PYSPARK": "Spark",
    "PYSPARK_CONNECT": "Spark",
    "DASK": "Dask",
    "SQLFRAME": "SQLFrame",
}

_ARRAYS = (nw.String, nw.Boolean, nw.Float64, nw.Float32, nw.Int64, nw.Int32, nw.Int16, nw.Int8)

Answer = Mapping[str, Any]


def title(frame: nw.LazyFrame[Any]) -> str:
    """The engine in a sentence."""
    name: str = frame.implementation.name
    return _TITLES.get(name, name.capitalize())


def fetch(plan: nw.LazyFrame[Any], most: int | None = None) -> Answer:
    """Run a plan. At most so many lines come back, where an engine can be told so before it sends them."""
    kind = plan.implementation.name
    try:
        if kind == "DASK":  # which would run a limit as one more pass over the partitions
            frame = nw.to_native(plan).compute()
            return {name: frame[name] for name in frame.columns}
        return _run(plan if most is None else plan.head(most), kind)
    except Exception as error:
        raise DataError(f"{title(plan)} could not run the query: {_told(error)}") from error


def fetch_first(plan: nw.LazyFrame[Any], rows: int) -> Answer:
    """The first rows of a plan, without a look at the others."""
    if plan.implementation.name == "DASK":
        first = nw.from_native(nw.to_native(plan).get_partition(0))
        return {name: values[:rows] for name, values in fetch(first).items()}
    return fetch(plan, rows)


def _run(plan: nw.LazyFrame[Any], kind: str) -> Answer:
    native = nw.to_native(plan)
    if kind == "POLARS":
        frame = native.collect(engine="streaming")
        return {name: frame[name] for name in frame.columns}
    if kind == "DUCKDB":
        return _duckdb(plan.collect_schema(), native)
    table = native.to_pyarrow() if kind == "IBIS" else nw.to_native(plan.collect("pyarrow"))
    return {name: table[name] for name in table.column_names}


def _duckdb(schema: Mapping[str, Any], relation: Any) -> Answer:
    """Arrays where they hold what was asked for: as arrays, decimals would be rounded and days become times."""
    if all(isinstance(kind, _ARRAYS) for kind in schema.values()):
        return dict(relation.fetchnumpy())
    # Times with a zone would need pytz to come over: they come as UTC, without it, and are given it back here.
    zoned = {name for name, kind in schema.items() if isinstance(kind, nw.Datetime) and kind.time_zone is not None}
    moved = ", ".join(f"make_timestamp(epoch_us({name})) AS {name}" for name in zoned)
    rows = (relation.project(f"* REPLACE ({moved})") if zoned else relation).fetchall()
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return {
        name: [value and value.replace(tzinfo=UTC) for value in values] if name in zoned else list(values)
        for name, values in zip(schema, columns, strict=True)
    }


def _told(error: Exception) -> str:
    """The first lines of an engine's message; the rest quotes our own plan."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shorten(" ".join(lines[:3]) or type(error).__name__, 300)
