"""From any data to counts. A source knows its column names and hands over raw lines; counting does the rest."""

from __future__ import annotations

from typing import Any, Protocol

from evenhand.errors import CallError
from evenhand.roles import Roles
from evenhand.sources.counting import Lines, Tally, tally

__all__ = ["Lines", "Source", "Tally", "open_source", "tally"]

_LAZY = ("pyspark", "dask", "ibis", "duckdb", "sqlframe")


class Source(Protocol):
    """What every kind of data offers. A new engine is one more class with these three."""

    @property
    def names(self) -> list[str] | None: ...

    def lines(self, roles: Roles) -> Lines: ...

    def fractional(self, roles: Roles) -> bool: ...


def open_source(data: Any) -> Source:
    """The source for a caller's data: a path or paths, a table in memory, or None for arrays alone."""
    from evenhand.sources.files import FileSource, is_path
    from evenhand.sources.memory import MemorySource

    if is_path(data):
        return FileSource(data)
    kind = type(data).__module__.partition(".")[0]
    if kind in _LAZY or type(data).__name__ == "LazyFrame":
        raise CallError(
            f"a {kind} {type(data).__name__} is not read yet: collect it first, or write it to Parquet "
            "and pass the path."
        )
    return MemorySource(data)
