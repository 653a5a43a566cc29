"""Files: CSV, TSV, Parquet, JSON lines, Arrow, plain or gzipped, and globs of them. One DuckDB statement.

DuckDB groups the raw values and only the distinct lines come back; what they mean is decided in counting, as
for data in memory. The rows are never loaded.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import DataError, MissingDependencyError, Problems, listing, shorten
from evenhand.roles import Roles
from evenhand.sources import progress
from evenhand.sources.counting import Lines, complain_count, complain_weight

_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_TITLES = {"csv": "CSV", "parquet": "Parquet", "json": "JSON lines", "arrow": "Arrow"}
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT")
_FRACTIONAL = ("FLOAT", "DOUBLE", "DECIMAL")
_MOST_LEVELS = 2000  # of a numeric attribute; above this its quantiles are found first
_MOST_CELLS = 5_000_000


def is_path(data: Any) -> bool:
    """Does `data` name files: a path, or several?"""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(x, (str, os.PathLike)) for x in data)


class FileSource:
    """One or more files of one format, read as one table."""

    def __init__(self, data: Any) -> None:
        import duckdb

        self.paths = _expand([data] if isinstance(data, (str, os.PathLike)) else list(data))
        self.format = _common_format(self.paths)
        self.connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
        self.connection.execute("SET preserve_insertion_order = false")
        self.connection.execute("SET enable_progress_bar = false")
        self.relation = self._reader()
        described = self._run(f"DESCRIBE SELECT * FROM {self.relation}")  # noqa: S608 - as below
        self.types = {row[0]: row[1] for row in described}

    @property
    def names(self) -> list[str]:
        return list(self.types)

    def lines(self, roles: Roles) -> Lines:
        if roles.arrays:
            raise DataError(f"{listing(roles.arrays)} is an array, but the data is in a file: name a column of it.")
        edges = {
            name: cut
            for name in (*roles.control, *roles.sensitive)
            if name not in roles.bands and (cut := self._quantile_edges(name, roles))
        }
        statement = _Statement(self, replace(roles, bands={**roles.bands, **edges}))
        rows = self._run(statement.sql)
        if len(rows) > _MOST_CELLS:
            raise DataError(f"the columns together have over {_MOST_CELLS:,} combinations of values: is one an id?")
        return replace(statement.read(rows), edges=edges)

    def _quantile_edges(self, name: str, roles: Roles) -> tuple[float, ...] | None:
        """Edges for a numeric column with very many values, which would make as many groups."""
        if not _is_number(self.types[name]):
            return None
        value = _plain(name, self.types[name])
        people = "1" if roles.count is None else _number(roles.count, self.types[roles.count])
        distinct = self._run(f"SELECT approx_count_distinct({value}) FROM {self.relation}")  # noqa: S608 - as below
        if distinct[0][0] < _MOST_LEVELS:
            return None
        cuts = ", ".join(f"min(v) FILTER (reached >= {k / 5} * total)" for k in range(1, 5))
        row = self._run(f"""
            WITH levels AS (SELECT {value} AS v, sum({people}) AS c FROM {self.relation} GROUP BY 1),
            run AS (SELECT v, sum(c) OVER (ORDER BY v) AS reached, sum(c) OVER () AS total
                    FROM levels WHERE v IS NOT NULL AND c > 0)
            SELECT min(v), {cuts}, max(v) FROM run""")[0]  # noqa: S608 - names are quoted, values are ours
        return tuple(dict.fromkeys(float(cut) for cut in row))

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            return progress.fetch(self.connection, sql)
        except duckdb.Error as error:
            raise DataError(_explain(self.paths, self.format, error)) from None

    def _reader(self) -> str:
        files = "[" + ", ".join(_text(_literal(path)) for path in self.paths) + "]"
        if self.format == "parquet":
            return f"read_parquet({files}, union_by_name = true)"
        if self.format == "json":
            return self._json_reader(files)
        if self.format == "arrow":
            return self._arrow_reader()
        return _csv_reader(self.paths, files)

    def _json_reader(self, files: str) -> str:
        options = "format = 'newline_delimited', union_by_name = true"
        found = self._run(f"DESCRIBE SELECT * FROM read_json({files}, {options})")  # noqa: S608 - names are quoted
        kept = ("BOOLEAN", "DOUBLE")
        columns = ", ".join(f"{_text(row[0])}: {_text(row[1] if row[1] in kept else 'VARCHAR')}" for row in found)
        return f"read_json({files}, {options}, columns = {{{columns}}})"

    def _arrow_reader(self) -> str:
        try:
            import pyarrow as pa
            import pyarrow.dataset as ds
        except ImportError:
            raise MissingDependencyError("Arrow files are read with pyarrow: pip install pyarrow") from None
        try:
            table = ds.dataset([str(path) for path in self.paths], format="ipc")
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(_explain(self.paths, self.format, error)) from None
        self.connection.register("arrow_files", table)
        return "arrow_files"


class _Statement:
    """The one group-by: keys as raw values, people and weights as sums, wrong values as counts of rows."""

    def __init__(self, source: FileSource, roles: Roles) -> None:
        self.roles = roles
        self.keys = {}
        types = source.types
        for key in (*roles.grouping, *(role for role in ("label", "prediction") if getattr(roles, role))):
            name = roles.keys[key]
            self.keys[key] = _banded(_key(name, types[name], roles.na), roles.bands.get(name))
        wrong = {"score": "0", "count": "0", "weight": "0"}
        if roles.cutoff is not None:
            score = _number(str(roles.score), types[str(roles.score)], roles.na)
            self.keys["decided"] = (
                f"CASE WHEN {score} IS NULL OR isnan({score}) THEN -1 "
                f"WHEN {score} >= {roles.cutoff!r} THEN 1 ELSE 0 END"
            )
            raw = _key(str(roles.score), types[str(roles.score)], roles.na)
            wrong["score"] = f"sum(CASE WHEN {raw} IS NOT NULL AND {score} IS NULL THEN 1 ELSE 0 END)"
        people = "1"
        if roles.count is not None:
            people = _number(roles.count, types[roles.count])
            bad = f"{people} IS NULL OR isnan({people}) OR {people} < 0 OR {people} <> floor({people})"
            wrong["count"] = f"sum(CASE WHEN {bad} THEN 1 ELSE 0 END)"
            people = f"CASE WHEN {bad} THEN 0 ELSE {people} END"
        weight = "0"
        if roles.weight is not None:
            weight = _number(roles.weight, types[roles.weight])
            bad = f"{weight} IS NULL OR NOT isfinite({weight}) OR {weight} < 0"
            wrong["weight"] = f"sum(CASE WHEN {bad} THEN 1 ELSE 0 END)"
            weight = f"CASE WHEN {bad} THEN 0 ELSE {weight} END"
        n = "count(*)" if roles.count is None else f"CAST(sum(CAST({people} AS BIGINT)) AS BIGINT)"
        summed = [n]
        if roles.weight is not None:
            summed += [f"kahan_sum(({people}) * ({weight}))", f"kahan_sum(({people}) * ({weight}) * ({weight}))"]
        shown = [f"{expression} AS k{i}" for i, expression in enumerate(self.keys.values())]
        fields = ", ".join([*shown, *summed, *wrong.values()])
        groups = ", ".join(str(i + 1) for i in range(len(self.keys)))
        self.sql = (
            f"SELECT {fields} FROM {source.relation} GROUP BY {groups} "  # noqa: S608
            f"LIMIT {_MOST_CELLS + 1}"
        )

    def read(self, rows: list[tuple[Any, ...]]) -> Lines:
        columns = list(zip(*rows, strict=True)) if rows else [()] * (len(self.keys) + 6)
        keys = {key: list(column) for key, column in zip(self.keys, columns, strict=False)}
        if "decided" in keys:
            keys["decided"] = np.asarray(keys["decided"], dtype=np.int8)  # type: ignore[assignment]
        *fields, score, count, weight = columns[len(self.keys) :]
        problems = Problems()
        if rows:
            if sum(score):
                problems.add(
                    f"score column {shorten(str(self.roles.score))!r} holds text that is no number in "
                    f"{int(sum(score)):,} rows."
                )
            complain_count(int(sum(count)), str(self.roles.count), problems)
            complain_weight(int(sum(weight)), str(self.roles.weight), problems)
        problems.raise_if_any(DataError)
        n = np.asarray(fields[0], dtype=np.int64)
        if self.roles.weight is None:
            return Lines(keys, len(rows), n)
        w, w2 = (np.asarray(field, dtype=np.float64) for field in fields[1:])
        return Lines(keys, len(rows), n, w, w2)


@dataclass(frozen=True)
class _Dialect:
    delimiter: str
    header: tuple[str, ...]


def _csv_reader(paths: Sequence[Path], files: str) -> str:
    """Every column as text, named by the header as we read it: nothing about a CSV is guessed by its values."""
    dialects = {_dialect(path) for path in paths}
    if len(dialects) > 1:
        raise DataError(f"the files have different columns: {listing(' '.join(d.header) for d in dialects)}.")
    dialect = dialects.pop()
    if len(set(dialect.header)) < len(dialect.header):
        twice = sorted({name for name in dialect.header if dialect.header.count(name) > 1})
        raise DataError(f"{shorten(str(paths[0]))!r} has several columns named {listing(twice)}; rename them.")
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in dialect.header)
    return (
        f"read_csv({files}, auto_detect = false, header = true, delim = {_text(dialect.delimiter)}, "
        f"quote = '\"', escape = '\"', strict_mode = true, max_line_size = 16777216, "
        f"columns = {{{columns}}})"
    )


def _dialect(path: Path) -> _Dialect:
    head = _head(path)
    if not head.strip():
        raise DataError(f"{shorten(str(path))!r} is empty.")
    if b"\0" in head or head.startswith((b"PAR1", b"ARROW1")):
        raise DataError(f"{shorten(str(path))!r} is not a text file, whatever its suffix says.")
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:
            raise DataError(f"{shorten(str(path))!r} is not UTF-8 text: save it as UTF-8.") from None
        text = head[: error.start].decode("utf-8-sig")
    tabbed = path.name.removesuffix(".gz").endswith((".tsv", ".tab"))
    first = _first_record(text)
    delimiter = "\t" if tabbed else max(",;\t|", key=lambda mark: len(_split(first, mark)))
    return _Dialect(delimiter, tuple(_split(first, delimiter)))


def _head(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            return file.read(1 << 20)
    except (OSError, EOFError) as error:
        raise DataError(f"{shorten(str(path))!r} cannot be read: {error}.") from None


def _first_record(text: str) -> str:
    quoted = False
    for i, mark in enumerate(text):
        quoted ^= mark == '"'
        if mark in "\r\n" and not quoted:
            return text[:i]
    return text


def _split(record: str, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(record), delimiter=delimiter), [])


def _expand(given: Sequence[Any]) -> list[Path]:
    paths: list[Path] = []
    for item in given:
        path = Path(os.fspath(item)).expanduser()
        if path.is_dir():
            raise DataError(f"{shorten(str(path))!r} is a folder: name its files, such as '{path.name}/*.parquet'.")
        found = [path] if path.exists() else sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        if not found:
            beside = (
                sorted(p.name for p in path.parent.iterdir() if p.suffix in _FORMATS) if path.parent.is_dir() else []
            )
            hint = f" In that folder: {listing(beside)}." if beside else ""
            raise DataError(f"there is no file {shorten(str(path))!r}.{hint}")
        paths += found
    for path in paths:
        if path.stat().st_size == 0:
            raise DataError(f"{shorten(str(path))!r} is empty.")
    return paths


def _common_format(paths: Sequence[Path]) -> str:
    found = {_FORMATS.get(Path(path.name.lower().removesuffix(".gz")).suffix, path.suffix) for path in paths}
    unknown = sorted(suffix for suffix in found if suffix not in _TITLES)
    if unknown:
        raise DataError(
            f"{shorten(str(paths[0]))!r}: {listing(unknown)} is not a suffix that is read here; "
            f"these are: {', '.join(_FORMATS)} (text also gzipped, as .csv.gz)."
        )
    if len(found) > 1:
        raise DataError(f"the files are of different formats: {listing(sorted(found))}; pass one at a time.")
    return found.pop()


def _explain(paths: Sequence[Path], kind: str, error: Exception) -> str:
    where = shorten(str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{where!r} cannot be read as {_TITLES[kind]}: {shorten(' '.join(lines[:3]), 300)}"


def _key(name: str, kind: str, na: Sequence[str] = ()) -> str:
    """A column as a raw value for grouping: text, whole numbers, fractions, booleans; all else as text."""
    quoted = _name(name)
    if kind == "VARCHAR":
        absent = ", ".join(_text(text) for text in ("", *na))
        return f"CASE WHEN {quoted} IN ({absent}) THEN NULL ELSE {quoted} END"
    if kind == "BOOLEAN" or _is_number(kind):
        return _plain(name, kind)
    return f"CAST({quoted} AS VARCHAR)"


def _plain(name: str, kind: str) -> str:
    quoted = _name(name)
    if not kind.startswith(_FRACTIONAL):
        return quoted
    return f"CASE WHEN isnan(CAST({quoted} AS DOUBLE)) THEN NULL ELSE CAST({quoted} AS DOUBLE) END"


def _number(name: str, kind: str, na: Sequence[str] = ()) -> str:
    if kind == "VARCHAR":
        return f"TRY_CAST(trim({_key(name, kind, na)}) AS DOUBLE)"
    return f"CAST({_name(name)} AS DOUBLE)"


def _banded(value: str, edges: Sequence[float] | None) -> str:
    """A value as the lower edge of its band; outside all bands it stays, so that the error can show it."""
    if edges is None or len(edges) < 2:
        return value
    number = f"TRY_CAST({value} AS DOUBLE)"
    steps = [f"WHEN {number} IS NULL OR {number} < {edges[0]!r} OR {number} > {edges[-1]!r} THEN {number}"]
    steps += [f"WHEN {number} < {high!r} THEN {low!r}" for low, high in itertools.pairwise(edges[:-1])]
    return f"CASE {' '.join(steps)} ELSE {edges[-2]!r} END"


def _is_number(kind: str) -> bool:
    return kind.startswith((*_WHOLE, *_FRACTIONAL))


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _literal(path: Path) -> str:
    """A path in which stars and brackets are only characters, for a reader that takes globs."""
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in str(path))
