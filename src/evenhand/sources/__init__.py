"""Read: from any data to raw lines. A source knows its column names and returns lines; the cube counts them."""

from __future__ import annotations

from typing import Any, Protocol

from evenhand.errors import CallError, as_typed, shorten
from evenhand.sources.lines import Lines
from evenhand.sources.roles import Roles

__all__ = ["Lines", "Source", "open_source"]


class Source(Protocol):
    """What every kind of data offers: column names, raw lines, and whether labels and predictions are fractions."""

    @property
    def names(self) -> list[str] | None: ...

    def lines(self, roles: Roles) -> Lines: ...

    def fractional(self, roles: Roles) -> bool: ...


def open_source(data: Any, *, hive: bool = False) -> Source:
    """The source for a caller's data: a path or paths, a frame of an engine, a table in memory, or None for arrays.

    With `hive`, folders named KEY=VALUE in the paths are columns too.
    """
    from evenhand.sources.files import FileSource, is_path

    if not isinstance(hive, bool):
        raise CallError(f"hive={shorten(repr(hive))} must be True or False.")
    if is_path(data):
        return FileSource(data, hive=hive)
    if hive:
        asked = as_typed("hive=True", "--hive")
        raise CallError(f"{asked} reads the names of folders, and this data is not in files: leave it out.")
    from evenhand.sources.engines import LazySource, as_relation
    from evenhand.sources.engines.table import is_arrow_dataset, is_lazy
    from evenhand.sources.memory import MemorySource

    if is_arrow_dataset(data):
        return LazySource(as_relation(data))
    return LazySource(data) if is_lazy(data) else MemorySource(data)
