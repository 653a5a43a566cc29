"""The rows of files in memory, for what no count can hold: who is near whom, what a model says of each person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from evenhand.errors import CallError, DataError, nearest, shorten
from evenhand.sources import progress
from evenhand.sources.files import FileSource
from evenhand.sources.files.formats import explain

_MOST_VALUES = 2_000_000_000


def load(data: Any, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Columns of files as arrays, in the order of the rows; by default all of them.

    Text stays text and numbers stay numbers; what they mean is decided by whoever asked, as for a table in memory.
    """
    import duckdb

    source = FileSource(data)
    chosen = _chosen(source, names)
    columns = [source.table.columns[name] for name in chosen]
    source.connection.execute("SET preserve_insertion_order = true")
    fields = ", ".join(f"{column.key} AS v{i}" for i, column in enumerate(columns))
    try:
        size = progress.fetch(source.connection, f"SELECT count(*) FROM {source.table.relation}")[0][0]  # noqa: S608
        if size == 0:
            raise DataError("the file has no rows.")
        if size * len(chosen) > _MOST_VALUES:
            raise DataError(f"{size:,} rows of {len(chosen)} columns do not fit into memory: name fewer columns.")
        found = source.connection.execute(f"SELECT {fields} FROM {source.table.relation}").fetchnumpy()  # noqa: S608
    except duckdb.Error as error:
        raise DataError(explain(source.paths, source.format, error)) from None
    return {
        name: _decoded(column, found[f"v{i}"]) for i, (name, column) in enumerate(zip(chosen, columns, strict=True))
    }


def _chosen(source: FileSource, names: Iterable[str] | None) -> Sequence[str]:
    known = source.names
    chosen = known if names is None else list(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            raise CallError(f"{shorten(name)!r} is not a column; {nearest(name, known)}")
        if name in source.table.twice:
            raise DataError(f"two columns are called {shorten(name)!r}: rename one.")
    return chosen


def _decoded(column: Any, values: Any) -> Any:
    """The values as they were before DuckDB; a number needs no look at each of them."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        plain = values.data
        if plain.dtype.kind in "iuf":
            return np.where(mask, np.nan, plain.astype(np.float64))
        values = plain.astype(object)
        values[mask] = None
    if values.dtype.kind != "O":
        return values
    known: dict[Any, Any] = {}
    return [known[value] if value in known else known.setdefault(value, column.decode(value)) for value in values]
