"""Folders named KEY=VALUE, as Hive writes them: read as columns of text, where the caller asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from evenhand.errors import DataError, listing, short_path, shorten
from evenhand.sources.files.formats import UNTYPED, Column, Run, Table, check_same, literal

_MISSING = "__HIVE_DEFAULT_PARTITION__"

Keys = Mapping[str, str | None]


def by_keys(paths: Sequence[Path]) -> list[tuple[Keys, list[Path]]]:
    """The files that lie in folders of the same keys and values, for each of these."""
    found: dict[tuple[tuple[str, str | None], ...], list[Path]] = {}
    for path in paths:
        found.setdefault(tuple(_keys(path).items()), []).append(path)
    names = {tuple(sorted(dict(keys))) for keys in found}
    if () in names:
        lost = next(paths[0] for keys, paths in found.items() if not keys)
        raise DataError(f"{short_path(lost)!r} lies in no folder that is named KEY=VALUE, so it has no partitions.")
    if len(names) > 1:
        shown = "; ".join(listing(keys) for keys in sorted(names))
        raise DataError(f"the files lie in folders with different keys: {shown}. Read them one kind at a time.")
    return [(dict(keys), files) for keys, files in found.items()]


def joined(parts: Sequence[tuple[Keys, Table]], run: Run) -> Table:
    """Tables as one, with the keys of each in columns of their own. A key never replaces a column of a file."""
    names = list(dict.fromkeys(name for _, table in parts for name in table.columns))
    if any(column.kind == UNTYPED for column in parts[0][1].columns.values()):
        check_same(table.columns for _, table in parts)
    keys = sorted(parts[0][0])
    both = [key for key in keys if key in names]
    if both:
        raise DataError(
            f"{listing(both)} is the name of a folder ({shorten(both[0])}=…) and of a column in the files: "
            "rename the folder, or read the files without the names of folders."
        )
    selects = [_select(table, names, [values[key] for key in keys]) for values, table in parts]
    relation = f"({' UNION ALL '.join(selects)})"
    types = [row[1] for row in run(f"DESCRIBE SELECT * FROM {relation}")]  # noqa: S608 - names are quoted
    columns = {
        name: _column(i, types[i], [table.columns.get(name) for _, table in parts]) for i, name in enumerate(names)
    }
    columns |= {key: Column(f"nullif(c{i}, '')", UNTYPED) for i, key in enumerate(keys, len(names))}
    return Table(relation, columns, frozenset().union(*(table.twice for _, table in parts)))


def _keys(path: Path) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for folder in path.parent.parts:
        name, equals, text = folder.partition("=")
        if not (name and equals):
            continue
        key, value = unquote(name), unquote(text)
        if key in found:
            raise DataError(f"{short_path(path)!r} lies in two folders of the key {shorten(key)!r}: rename one.")
        found[key] = None if value == _MISSING else value
    return found


def _select(table: Table, names: Sequence[str], values: Sequence[str | None]) -> str:
    known = [table.columns[name].sql if name in table.columns else "NULL" for name in names]
    fields = [*known, *("CAST(NULL AS VARCHAR)" if value is None else literal(value) for value in values)]
    return f"SELECT {', '.join(f'{sql} AS c{i}' for i, sql in enumerate(fields))} FROM {table.relation}"  # noqa: S608


def _column(place: int, found: str, columns: Sequence[Column | None]) -> Column:
    """A column of all tables: of the type that they have in common, else of the one that DuckDB found for them."""
    kinds = {column.kind for column in columns if column is not None}
    categorical = any(column is not None and column.categorical for column in columns)
    return Column(f"c{place}", kinds.pop() if len(kinds) == 1 else found, categorical)
