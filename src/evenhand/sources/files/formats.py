"""The file formats, and how DuckDB reads each: one relation, and for each column its expression and type.

Nothing is guessed from values: a CSV is text throughout, JSON is decoded level by level, and a column is found by
its exact name, whatever characters and capitals it has.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import DataError, MissingDependencyError, join_names, listing, short_path, shorten
from evenhand.sources.spelling import without_point

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMERIC = (*_SIGNED, *(f"U{kind}" for kind in _SIGNED), "FLOAT", "DOUBLE", "DECIMAL")
UNTYPED = "text of a CSV"
_ZONED = "TIMESTAMP WITH TIME ZONE"
_HEAD = 1 << 20
_NUMBERS = itertools.count()
# DuckDB would put the value of a folder named KEY=VALUE in place of a column of that name.
_NO_FOLDERS = "hive_partitioning = false"

# What a file may begin with that is not what its suffix says, and the remedy.
_STARTS = {
    b"PAR1": ("a Parquet file", "Name it .parquet."),
    b"ARROW1": ("an Arrow file", "Name it .arrow."),
    b"\x1f\x8b": ("gzipped", "Let its name end in .gz, as .csv.gz."),
    b"PK\x03\x04": ("a zip archive or an Excel sheet", "Name a sheet .xlsx, or save it as CSV; unpack an archive."),
    b"\xd0\xcf\x11\xe0": ("an old Excel sheet, .xls", "Save it as .xlsx or as CSV (UTF-8)."),
    b"\x89PNG": ("a picture", "Choose another file."),
    b"\xff\xfe": ("UTF-16 text", "Save it as UTF-8."),
    b"\xfe\xff": ("UTF-16 text", "Save it as UTF-8."),
}

Run = Callable[[str], list[tuple[Any, ...]]]


class Format(NamedTuple):
    """A file format: a new one is one more row of `FORMATS`."""

    name: str
    title: str
    """The format in a sentence."""
    suffixes: tuple[str, ...]
    open: Callable[[Sequence[Path], Any, Run], Table]
    """The table in some files, from a connection of DuckDB and a function that runs a query there."""
    mark: bytes | None = None
    """The bytes at both ends of a whole file."""
    gzip: bool = False
    """May a file be gzipped?"""


class Column(NamedTuple):
    """One column: its expression in the relation and its DuckDB type."""

    sql: str
    kind: str
    categorical: bool = False
    """Does the file itself say that the values are categories?"""

    @property
    def only_numbers(self) -> str:
        """SQL for whether all values are numbers. Text never is one here, however it looks."""
        if self.kind == "JSON":
            return f"bool_and(coalesce(json_type({self.sql}) IN ('BIGINT', 'UBIGINT', 'DOUBLE', 'NULL'), true))"
        return "true" if self.numeric else "false"

    @property
    def numeric(self) -> bool:
        return self.kind.startswith(_NUMERIC) and not self.kind.endswith("]")

    @property
    def key(self) -> str:
        """The value to group by, NULL where it is missing; `decode` turns it back into the value of the file."""
        if self.kind in ("FLOAT", "DOUBLE"):
            number = f"CAST({self.sql} AS DOUBLE)"
            return f"CASE WHEN isnan({number}) THEN NULL ELSE {number} END"
        if self.kind == "JSON":
            return f"nullif(CAST({self.sql} AS VARCHAR), 'null')"
        return f"make_timestamp(epoch_us({self.sql}))" if self.kind == _ZONED else self.sql

    def decode(self, value: Any) -> Any:
        if value is None:
            return None
        if self.kind == "JSON":
            try:
                return json.loads(value)
            except (RecursionError, ValueError):  # a ValueError is a number of thousands of digits
                shown = shorten(value, 30)
                raise DataError(
                    f"the files hold {shown!r}, which is nested too deeply or too long for a value."
                ) from None
        if self.kind == UNTYPED:
            return without_point(value)  # a column of 1, 2 and nothing is often written as 1.0, 2.0 and nothing
        return value.replace(tzinfo=UTC) if self.kind == _ZONED else value

    @property
    def text(self) -> str:
        return f"({self.sql} ->> '$')" if self.kind == "JSON" else f"CAST({self.sql} AS VARCHAR)"

    @property
    def number(self) -> str:
        """The value as a number, NULL where it is not a number; NaN stays."""
        plain = self.numeric or self.kind == "BOOLEAN"
        return f"CAST({self.sql} AS DOUBLE)" if plain else f"TRY_CAST(trim({self.text}) AS DOUBLE)"

    def strange(self, absent: Collection[str]) -> str:
        """SQL for whether the value is neither a number nor missing."""
        gone = ", ".join(literal(text) for text in ("", *absent))
        return f"{self.key} IS NOT NULL AND {self.number} IS NULL AND trim({self.text}) NOT IN ({gone})"


class Table(NamedTuple):
    """Files as one table; names in `twice` stand for several columns each."""

    relation: str
    columns: Mapping[str, Column]
    twice: frozenset[str] = frozenset()


def common_format(paths: Sequence[Path]) -> Format:
    """The one format of all files, by their suffixes."""
    formats = {_format(path).name: _format(path) for path in paths}
    if len(formats) > 1:
        raise DataError(f"the files are of different formats: {listing(sorted(formats))}; pass one at a time.")
    return next(iter(formats.values()))


def _format(path: Path) -> Format:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    form = SUFFIXES.get(suffix)
    if form is None or (is_gzipped(path) and not form.gzip):
        gzipped = " and ".join(form.title for form in FORMATS if form.gzip)
        raise DataError(
            f"{short_path(path)!r}: {path.suffix!r} is not a suffix that is read here; these are: "
            f"{', '.join(SUFFIXES)} ({gzipped} also gzipped, as .csv.gz)."
        )
    return form


def check_files(paths: Sequence[Path], form: Format) -> None:
    """Refuse files that are not what their suffix says."""
    for path in paths:
        _check_content(path, form)


def explain(paths: Sequence[Path], form: Format, error: Exception) -> str:
    """Why files could not be read, in one line, without the parts of a message that quote our statement."""
    where = short_path(join_names(map(str, paths), 1))
    message = (str(error) or type(error).__name__).partition("LINE 1:")[0].partition("Possible ")[0]
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if form.name == "csv" and "state machine" in message:
        lines = ["its lines end in different ways, or a quote stands in the wrong place. Write it again."]
    told = f"{where!r} cannot be read as {form.title}: {shorten(' '.join(lines[:4]), 300)}"
    plain = form.name == "csv" and len(paths) == 1 and not is_gzipped(paths[0])
    return f"{told}{_converted(paths[0])}" if plain and re.search(r"(?i)unicode|utf-?8", message) else told


def _converted(path: Path) -> str:
    """The line to type for a file in Latin-1, as spreadsheet programs in Western Europe write."""
    name = str(path)
    if not name.isprintable() or is_gzipped(path):
        return ""
    other = path.with_name(f"{path.stem}-utf8{path.suffix}")
    import shlex

    return f" If it is Latin-1: iconv -f latin1 -t utf-8 {shlex.quote(name)} > {shlex.quote(str(other))}"


def identifier(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def double(number: float) -> str:
    """A number without loss: DuckDB reads a bare 0.1 as a decimal, and rounds long ones twice."""
    return f"CAST('{number!r}' AS DOUBLE)"


def path_list(paths: Sequence[Path]) -> str:
    """Paths in which stars and brackets are only characters, for a reader that takes globs."""
    whole = (os.path.abspath(path) for path in paths)  # DuckDB would read ~ and s3: at the beginning
    return "[" + ", ".join(literal(as_pattern(path)) for path in whole) + "]"


def as_pattern(path: str) -> str:
    """The glob that finds exactly this path."""
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in path)


def is_gzipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _compression(paths: Sequence[Path]) -> str:
    return ", compression = 'gzip'" if all(is_gzipped(path) for path in paths) else ""


def _parquet(paths: Sequence[Path], _connection: Any, run: Run) -> Table:
    files = path_list(paths)
    relation = f"read_parquet({files}, union_by_name = true, {_NO_FOLDERS})"
    schema = run(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({path_list(paths[:1])})")  # noqa: S608
    names, below = [], 0
    for title, children in schema[1:]:
        if not below:
            names.append(title)
        below += children - bool(below)
    return _described(relation, names, run)


def _arrow(paths: Sequence[Path], connection: Any, run: Run) -> Table:
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ImportError:
        raise MissingDependencyError("Arrow files are read with pyarrow: pip install pyarrow") from None
    import duckdb

    try:
        for path in paths:
            _check_batches(path, pa)
        files = ds.dataset([str(path) for path in paths], format="ipc")
        names = files.schema.names
        connection.register(view := f"arrow_files_{next(_NUMBERS)}", files)
    except (pa.ArrowException, OSError, UnicodeError, duckdb.Error) as error:
        raise DataError(explain(paths, _format(paths[0]), error)) from None
    table = _described(view, names, run)
    named = {field.name for field in files.schema if pa.types.is_dictionary(field.type)}
    marked = {name: column._replace(categorical=name in named) for name, column in table.columns.items()}
    return table._replace(columns=marked)


def _check_batches(path: Path, pa: Any) -> None:
    """Refuse an Arrow file with places outside its own data, where DuckDB would read whatever lies there, or crash."""
    with pa.memory_map(str(path)) as content:
        file = pa.ipc.open_file(content)
        for i in range(file.num_record_batches):
            file.get_batch(i).validate(full=True)


def _described(relation: str, names: Sequence[str], run: Run) -> Table:
    """The columns of a relation. DuckDB ignores capitals and renames columns that differ in nothing else; `names` are
    the names in the file."""
    found = run(f"DESCRIBE SELECT * FROM {relation}")  # noqa: S608 - names are quoted, values are ours
    titles = names if len(names) == len(found) else [row[0] for row in found]
    columns = {title: Column(identifier(row[0]), row[1]) for title, row in zip(titles, found, strict=True)}
    return Table(relation, columns, _several(titles))


def _json(paths: Sequence[Path], _connection: Any, run: Run) -> Table:
    relation = f"read_ndjson_objects({path_list(paths)}{_compression(paths)}, {_NO_FOLDERS})"
    keys = "CASE WHEN json_type(json) = 'OBJECT' THEN json_keys(json) ELSE [NULL] END"
    lists = f"(SELECT DISTINCT {keys} AS k FROM {relation})"  # noqa: S608 - as above
    rows = run(f"SELECT DISTINCT unnest(k), list_unique(k) < len(k) FROM {lists}")  # noqa: S608 - as above
    found = {title for title, _ in rows}
    if None in found:
        raise DataError(f"{short_path(paths[0])!r} must hold a JSON object {{...}} in every line, and nothing else.")
    columns = {}
    for title in sorted(found):
        pointer = "/" + title.replace("~", "~0").replace("/", "~1")
        columns[title] = Column(f"json_extract(json, {literal(pointer)})", "JSON")
    twice: set[str] = set()
    if any(repeated for _, repeated in rows):
        for (titles,) in run(f"SELECT k FROM {lists} WHERE list_unique(k) < len(k)"):  # noqa: S608 - as above
            twice |= _several(titles)
    return Table(relation, columns, frozenset(twice))


def _csv(paths: Sequence[Path], _connection: Any, _run: Run) -> Table:
    """CSV files: every column as text, numbered in the order of the header."""
    dialects = {_dialect(path) for path in paths}
    check_same(names for _, names, _ in dialects)
    if len(dialects) > 1:
        raise DataError("the files have different delimiters or ends of lines: write them alike.")
    delimiter, names, ending = dialects.pop()
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    relation = (
        f"read_csv({path_list(paths)}{_compression(paths)}, {_NO_FOLDERS}, auto_detect = false, header = true, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', max_line_size = 16777216, "
        f"columns = {{{columns}}}{ending and f', new_line = {literal(ending)}'})"
    )
    reached = {title: Column(f"nullif(c{i}, '')", UNTYPED) for i, title in enumerate(names)}
    return Table(relation, reached, _several(names))


def _excel(paths: Sequence[Path], connection: Any, _run: Run) -> Table:
    from evenhand.sources.files.excel import open_sheets

    return open_sheets(paths, connection)


def check_same(columns: Iterable[Collection[str]]) -> None:
    """Refuse CSV files whose columns differ: a column that some lack would be missing there."""
    headers = dict.fromkeys(" ".join(names) for names in columns)
    if len(headers) > 1:
        raise DataError(f"the files have different columns: {listing(headers)}.")


def _dialect(path: Path) -> tuple[str, tuple[str, ...], str]:
    """The delimiter of a CSV, the names of its columns, and how lines end if a name with a line break hides it."""
    head = _head(path)
    shown = repr(short_path(path))
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:
            raise DataError(f"{shown} is not UTF-8 text: save it as UTF-8.{_converted(path)}") from None
        text = head[: error.start].decode("utf-8-sig")
    if not text.strip():
        raise DataError(f"{shown} is empty.")
    if not text.splitlines()[0].strip():
        raise DataError(f"{shown} begins with an empty line: the first line must name the columns.")
    # Names may hold other delimiters, so the one is right that splits every line into as many fields as the first.
    tabbed = path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab"))
    split, wrong = {}, None
    for mark in "\t" if tabbed else ",;\t|":
        try:
            split[mark] = _records(text, mark, 20)
        except csv.Error as error:
            wrong = error
    if wrong is not None and all(len(lines[0]) < 2 for lines in split.values()):
        raise DataError(f"the first lines of {shown} cannot be read as CSV: {wrong}. Is a quote left open?")
    even = {mark: all(len(line) in (0, len(lines[0])) for line in lines) for mark, lines in split.items()}
    delimiter = max(split, key=lambda mark: (len(split[mark][0]) > 1, even[mark], len(split[mark][0])))
    names = tuple(split[delimiter][0])
    return delimiter, names, _ending(text) if any(mark in title for title in names for mark in "\r\n") else ""


def _check_content(path: Path, form: Format) -> None:
    """Refuse a file that is not what its suffix says, or that is cut short."""
    head, shown, own = _head(path, 1 << 16), repr(short_path(path)), form.mark
    if form.name == "excel" and head.startswith(b"PK\x03\x04"):
        return
    if own is not None and head.startswith(own):
        if not _tail(path).endswith(own):
            raise DataError(f"{shown} is cut short: its end is missing. Write or copy it again.")
        return
    for start, (what, remedy) in _STARTS.items():
        if head.startswith(start):
            raise DataError(f"{shown} is {what}, not {form.title}. {remedy}")
    if own is not None:
        raise DataError(f"{shown} is not {form.title}, whatever its suffix says.")
    if any(b"\0" in part for part in _content(path)):
        raise DataError(f"{shown} holds null bytes, so it is damaged or not text: save it as UTF-8.")
    if form.name == "json" and head.startswith(b"\xef\xbb\xbf"):
        raise DataError(f"{shown} begins with a byte-order mark: save it as UTF-8 without one.")


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 8, 0))
        return file.read()


def _head(path: Path, size: int = _HEAD) -> bytes:
    return next(_content(path, size), b"")


def _opened(path: Path) -> io.BufferedIOBase:
    if not is_gzipped(path):
        return path.open("rb")
    import gzip

    return gzip.open(path)


def _content(path: Path, size: int = _HEAD) -> Iterator[bytes]:
    """The content of a file, part by part; of a gzipped one the checksum is compared, which DuckDB ignores."""
    try:
        with _opened(path) as file:
            while part := file.read(size):
                yield part
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{short_path(path)!r} cannot be read: {error}.") from None


def _ending(text: str) -> str:
    """How the first line of a CSV ends, as DuckDB spells it."""
    outside = "".join(text.split('"')[::2])  # what stands between quoted parts
    end = min((outside.find(mark) for mark in "\r\n" if mark in outside), default=0)
    return "\\r\\n" if outside[end : end + 2] == "\r\n" else "\\r" if outside[end : end + 1] == "\r" else "\\n"


def _records(text: str, delimiter: str, most: int) -> list[list[str]]:
    """The first lines of a CSV, split; a line that the end of the text cuts off is left out."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    found = list(itertools.islice(lines, most + 1))
    return found[:most] if len(found) > most or len(text) < _HEAD else found[:-1] or found


def _several(names: Collection[str]) -> frozenset[str]:
    return frozenset(title for title, times in Counter(names).items() if times > 1)


FORMATS = (
    Format("csv", "CSV", (".csv", ".tsv", ".tab", ".txt"), _csv, gzip=True),
    Format("parquet", "Parquet", (".parquet", ".pq"), _parquet, mark=b"PAR1"),
    Format("json", "JSON lines", (".jsonl", ".ndjson"), _json, gzip=True),
    Format("excel", "an Excel file", (".xlsx",), _excel),
    Format("arrow", "Arrow", (".arrow", ".feather", ".ipc"), _arrow, mark=b"ARROW1"),
)
SUFFIXES = {suffix: form for form in FORMATS for suffix in form.suffixes}
