"""From any data to counts. A source knows its column names and hands over raw lines; counting does the rest."""

from __future__ import annotations

from typing import Any, Protocol

from evenhand.roles import Roles
from evenhand.sources.counting import Lines, Tally, tally
from evenhand.sources.encode import is_lazy

__all__ = ["Lines", "Source", "Tally", "open_source", "tally"]


class Source(Protocol):
    """What every kind of data offers. A new engine is one more class with these three."""

    @property
    def names(self) -> list[str] | None: ...

    def lines(self, roles: Roles) -> Lines: ...

    def fractional(self, roles: Roles) -> bool: ...


def open_source(data: Any) -> Source:
    """The source for a caller's data: a path or paths, a frame of an engine, a table in memory, or None for arrays."""
    from evenhand.sources.files import FileSource, is_path
    from evenhand.sources.lazy import LazySource
    from evenhand.sources.memory import MemorySource

    if is_path(data):
        return FileSource(data)
    return LazySource(data) if is_lazy(data) else MemorySource(data)
