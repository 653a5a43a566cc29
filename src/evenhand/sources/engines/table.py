"""The table of engines: a row says how the frames of one library are recognised, named, asked and fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from evenhand.sources.columns import library

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

Answer = Mapping[str, Any]
"""The columns of a result, each of the kind that the engine makes itself."""
Numbered = tuple[list[str], Any]


def _by_arrow(plan: nw.LazyFrame[Any]) -> Answer:
    table = plan.collect("pyarrow").to_native()
    return {name: table[name] for name in table.column_names}


def _by_polars(plan: nw.LazyFrame[Any]) -> Answer:
    frame: Any = plan.to_native().collect(engine="streaming")
    return {name: frame[name] for name in frame.columns}


def _by_ibis(plan: nw.LazyFrame[Any]) -> Answer:
    table: Any = plan.to_native().to_pyarrow()
    return {name: table[name] for name in table.column_names}


def _by_dask(plan: nw.LazyFrame[Any]) -> Answer:
    frame: Any = plan.to_native().compute()
    return {name: frame[name] for name in frame.columns}


def _by_duckdb(plan: nw.LazyFrame[Any]) -> Answer:
    """Arrays where these keep the values as they are: in arrays, decimals would be rounded and days become times."""
    import narwhals.stable.v2 as nw

    schema, relation = plan.collect_schema(), plan.to_native()
    exact = (nw.String, nw.Boolean, nw.Float64, nw.Float32, nw.Int64, nw.Int32, nw.Int16, nw.Int8)
    if all(isinstance(kind, exact) for kind in schema.values()):
        return dict(relation.fetchnumpy())
    # To fetch times with a zone DuckDB needs pytz: they are fetched as UTC without a zone, which is added here.
    zoned = {name for name, kind in schema.items() if isinstance(kind, nw.Datetime) and kind.time_zone is not None}
    moved = ", ".join(f"make_timestamp(epoch_us({name})) AS {name}" for name in zoned)
    rows = (relation.project(f"* REPLACE ({moved})") if zoned else relation).fetchall()
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return {
        name: [value and value.replace(tzinfo=UTC) for value in values] if name in zoned else list(values)
        for name, values in zip(schema, columns, strict=True)
    }


def _renamed(native: Any) -> Numbered:
    names = native.collect_schema().names()
    return names, native.rename({name: f"c{i}" for i, name in enumerate(names)})


def _by_position(native: Any) -> Numbered:
    if not hasattr(native, "toDF"):
        raise TypeError("a table has columns")
    return list(native.columns), native.toDF(*(f"c{i}" for i in range(len(native.columns))))


def _by_number(native: Any) -> Numbered:
    if not hasattr(native, "project"):
        raise TypeError("a table has columns")
    return list(native.columns), native.project(", ".join(f"#{i + 1} AS c{i}" for i in range(len(native.columns))))


def _logarithms(plan: nw.LazyFrame[Any], names: Mapping[str, str]) -> nw.LazyFrame[Any]:
    import narwhals.stable.v2 as nw

    return plan.with_columns(*(nw.col(name).log().alias(new) for new, name in names.items()))


def _ibis_logarithms(plan: nw.LazyFrame[Any], names: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """The natural logarithm: one of a given base is computed in decimals by PostgreSQL, slowly and to 15 digits."""
    import narwhals.stable.v2 as nw

    table: Any = plan.to_native()
    added: nw.LazyFrame[Any] = nw.from_native(table.mutate(**{new: table[name].ln() for new, name in names.items()}))
    return added


@dataclass(frozen=True)
class Engine:
    """How the frames of one library are read."""

    library: str
    title: str
    """The engine in a sentence."""
    run: Callable[[nw.LazyFrame[Any]], Answer] = _by_arrow
    """Runs a plan and fetches its result."""
    also_in_memory: bool = False
    """Has the library frames in memory too? Those are read as such, and only its LazyFrame here."""
    numbers_as_text: bool = False
    """Are numbers written into a statement, where the engine may read them as decimals?"""
    numbered: Callable[[Any], Numbered] | None = None
    """The names of the columns, and the frame with c0, c1, … in their place, where the engine does not take a name as
    it is: in names some read patterns, or points and backticks, and ignore capitals."""
    has_nan: Callable[[Any], bool] = lambda _native: True
    """Does the engine that holds a frame know NaN?"""
    beginning: Callable[[Any], Any] | None = None
    """The first part of a frame, where a limit would cost one more pass over all parts; None where it costs nothing."""
    keep: Callable[[Any], Any] | None = None
    """Computes a frame and keeps it with the engine, where asking for it twice would read all rows twice."""
    logarithms: Callable[[nw.LazyFrame[Any], Mapping[str, str]], nw.LazyFrame[Any]] = _logarithms
    """Adds the natural logarithms of some columns, by their new names."""


ENGINES = (
    Engine("polars", "Polars", _by_polars, also_in_memory=True, numbered=_renamed),
    Engine("duckdb", "DuckDB", _by_duckdb, numbered=_by_number),
    Engine(
        "ibis",
        "Ibis",
        _by_ibis,
        numbers_as_text=True,
        logarithms=_ibis_logarithms,
        # To SQLite NaN is NULL from the start, and it has no function that asks for NaN.
        has_nan=lambda native: str(native.get_backend().name) != "sqlite",
    ),
    Engine("pyspark", "Spark", numbered=_by_position, keep=lambda native: native.persist()),
    Engine("sqlframe", "SQLFrame", numbers_as_text=True, numbered=_by_position),
    Engine(
        "dask",
        "Dask",
        _by_dask,
        beginning=lambda native: native.get_partition(0),
        keep=lambda native: native.persist(),
    ),
)
_BY_LIBRARY = {engine.library: engine for engine in ENGINES}


def engine_of(native: Any) -> Engine:
    """The engine of a frame; one that has no row is fetched as Arrow."""
    name = library(native).lstrip("_")
    return _BY_LIBRARY.get(name) or Engine(name, name.capitalize())


def is_lazy(data: Any) -> bool:
    """Is it a frame that an engine holds, whose rows are not in memory?"""
    engine = _BY_LIBRARY.get(library(data).lstrip("_"))
    return (engine is not None and not engine.also_in_memory) or type(data).__name__ == "LazyFrame"


def is_arrow_dataset(data: Any) -> bool:
    """Is it a dataset of PyArrow: files, of which nothing has been read yet?"""
    return library(data) == "pyarrow" and hasattr(data, "to_table") and hasattr(data, "scanner")
