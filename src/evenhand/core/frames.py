"""Tables back to the caller, in the caller's own kind of dataframe."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import MissingDependencyError

KINDS = ("pandas", "polars", "pyarrow")


def kind_of(data: Any) -> str | None:
    """Which library a caller's table is from; None for files and arrays."""
    kind = type(data).__module__.partition(".")[0]
    return kind if kind in KINDS else None


def frame(columns: Mapping[str, Sequence[Any]], kind: str | None) -> Any:
    """A dataframe of that kind; for files and arrays pandas, else Polars."""
    if kind is None:
        kind = next((name for name in ("pandas", "polars") if importlib.util.find_spec(name)), None)
    if kind is None:
        raise MissingDependencyError("a dataframe needs pandas or Polars: pip install pandas")
    library = importlib.import_module(kind)
    if kind == "pyarrow":
        return library.table(dict(columns))
    return library.DataFrame(dict(columns))
