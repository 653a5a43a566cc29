"""A table of a database, by URL and name. A database is only ever read, and no error shows how to get in.

DuckDB is opened directly; PostgreSQL, SQLite and the others that Ibis knows, through Ibis. A query is one SELECT, and
each engine is opened so that it could not run anything else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from evenhand.errors import (
    CallError,
    DataError,
    EvenhandError,
    MissingDependencyError,
    as_typed,
    nearest,
    short_path,
    shorten,
    shown,
)
from evenhand.sources.files.formats import identifier
from evenhand.sources.files.query import connect, interruptible, run_here

T = TypeVar("T")


@contextmanager
def open_table(url: str, *, table: str | None = None, query: str | None = None) -> Iterator[Any]:
    """The frame of one table, or of a query, while the database is open."""
    if (table is None) == (query is None):
        raise CallError("name what to read of the database: either a table or a query.")
    address = repr(shown(url))
    connection = _asked(lambda: _connect(url), f"the database {address} cannot be opened", url)
    what = "this query" if table is None else f"the table {shorten(table)!r}"
    try:
        with interruptible(_driver(connection)):
            ask = lambda: run_here(lambda: _frame(connection, table, query))  # noqa: E731
            yield _asked(ask, f"{address} cannot answer for {what}", url)
    finally:
        with suppress(Exception):
            (connection.disconnect if _by_ibis(connection) else connection.close)()


def _asked(ask: Callable[[], T], failed: str, url: str) -> T:
    """The answer of a driver. Its error is not chained to ours: it may quote the URL."""
    try:
        return ask()
    except EvenhandError:
        raise
    except Exception as error:
        reason = _message(error, url)
    raise DataError(f"{failed}: {reason}")


# --- how each engine is opened, so that it only reads


def _connect(url: str) -> Any:
    scheme = url.partition("://")[0].lower()
    if "://" not in url or scheme == "file":
        raise CallError("a database is named by a URL, such as duckdb:///decisions.db or postgresql://host/name.")
    if scheme == "duckdb":
        return connect(database=_file(url))
    try:
        import ibis

        if scheme == "sqlite":
            return _sqlite(_file(url))
        parts = _split(url)
        return _postgres(parts) if scheme in ("postgres", "postgresql") else ibis.connect(url)
    except ImportError as error:
        missing = error.name or "a library"
    raise MissingDependencyError(
        f'a {scheme} database is read with Ibis: pip install "evenhand[sql]" '
        f"(or ibis-framework[{scheme}]; {missing} is not installed)."
    )


def _sqlite(file: str) -> Any:
    import sqlite3

    import ibis

    def allow(action: int, *_: Any) -> int:
        return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK

    address = f"{Path(file).absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)  # another thread waits for an interrupt
    connection.set_authorizer(allow)  # ATTACH, and VACUUM INTO, would open another file
    connection.execute("PRAGMA trusted_schema = OFF")
    return ibis.sqlite.from_connection(connection)


def _postgres(parts: SplitResult) -> Any:
    """A connection in one read-only transaction, which is never committed."""
    import ibis
    import psycopg
    from psycopg.conninfo import make_conninfo

    name, _, schema = parts.path.removeprefix("/").partition("/")
    place = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password}
    given = {key: unquote(str(value)) for key, value in {**place, "dbname": name}.items() if value}
    connection: Any = psycopg.connect(make_conninfo("", **{**given, **dict(parse_qsl(parts.query))}))
    connection.read_only = True
    connection.transaction = nullcontext  # what Ibis does in a transaction of its own is a part of ours
    if connection.execute("SHOW transaction_read_only").fetchone() != ("on",):
        raise DataError("the server does not open a read-only transaction, so nothing is asked of it.")
    if schema:
        connection.execute("SELECT pg_catalog.set_config('search_path', %s, true)", [unquote(schema)])
    return ibis.postgres.from_connection(connection)


def _split(url: str) -> SplitResult:
    """The parts of a URL that can be read in one way only: a sign in a password may look like the end of it."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # an error where it is not a number
        clear = "@" not in parts.path + parts.query + parts.fragment
    except ValueError:
        clear = False
    if not clear:
        raise CallError(
            "the URL of the database cannot be read. In a user name or a password write % as %25, / as %2F, : as %3A, "
            "@ as %40, ? as %3F and # as %23."
        )
    return parts


def _file(url: str) -> str:
    """The file of a local database: duckdb:///x.db and duckdb://x.db are relative paths, duckdb:////tmp/x.db is not."""
    path = unquote(url.partition("://")[2].partition("?")[0])
    relative = path.removeprefix("/")
    found = next((name for name in (relative, path) if name and Path(name).is_file()), None)
    if found is None:
        raise CallError(f"there is no database file {short_path(relative or shown(url))!r}.")
    return found


# --- what is read


def _frame(connection: Any, table: str | None, query: str | None) -> Any:
    if query is not None:
        return _selected(connection, query)
    name, schema = _table_and_schema(table or "", _tables(connection))
    if _by_ibis(connection):
        return connection.table(name, database=schema)
    whole = ".".join(identifier(part) for part in (schema, name) if part)
    return connection.sql(f"SELECT * FROM {whole}")  # noqa: S608 - quoted


def _selected(connection: Any, query: str) -> Any:
    """The frame of a query that is one SELECT, as the engine's own parser sees it."""
    if not _by_ibis(connection):
        import duckdb

        statements = connection.extract_statements(query)
        _check(len(statements) == 1 and statements[0].type == duckdb.StatementType.SELECT)
        text = query.encode()
        ends = (place for place, _ in duckdb.tokenize(query) if text[place : place + 1] == b";")
        return connection.sql(text[: next(ends, None)].decode())  # which stands in parentheses later
    plain = _one_select(query, connection.dialect)
    return connection.sql(plain, schema=_schema(connection, plain) if connection.name == "postgres" else None)


def _check(one_select: bool) -> None:
    if not one_select:
        option = as_typed("query=", "--query")
        raise CallError(f"{option} must be one SELECT and nothing else: a database is only read.")


def _one_select(query: str, dialect: Any) -> str:
    """A query without the semicolon at its end, if it is one SELECT to the parser that Ibis uses."""
    import sqlglot
    from sqlglot import TokenType
    from sqlglot import expressions as sql

    tokens = sqlglot.tokenize(query, read=dialect)
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        query = query[: tokens.pop().start]
    starts = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.VALUES)
    _check(bool(tokens) and tokens[0].token_type in starts)  # of anything else sqlglot would print a warning
    statements = sqlglot.parse(query, read=dialect)
    writes = (sql.DDL, sql.DML, sql.Command, sql.Copy, sql.Into, sql.Lock)
    _check(len(statements) == 1 and statements[0] is not None and statements[0].find(*writes) is None)
    return query


def _schema(connection: Any, query: str) -> dict[str, Any]:
    """The types of a query's columns. Ibis would make a view to learn them, which a reader may not be allowed to do.

    The text is the caller's: in the extended protocol, which `binary` stands for, it cannot be more than one statement.
    """
    known = connection.compiler.type_mapper
    with connection.con.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({query}\n) AS query LIMIT 0", binary=True)  # noqa: S608
        columns = {column.name: column.type_code for column in cursor.description}
        return {name: known.from_string(_type_name(cursor, code)) for name, code in columns.items()}


def _type_name(cursor: Any, code: int) -> str:
    kind = "CASE typtype WHEN 'e' THEN 'text' ELSE pg_catalog.format_type(oid, NULL) END"
    found = cursor.execute(f"SELECT {kind} FROM pg_catalog.pg_type WHERE oid = %s", [code]).fetchone()  # noqa: S608
    return str(found[0])


def _driver(connection: Any) -> Any:
    """The connection whose queries an interrupt has to end; None where the driver does that itself."""
    if not _by_ibis(connection):
        return connection
    return connection.con if connection.name == "sqlite" else None


def _by_ibis(connection: Any) -> bool:
    return hasattr(connection, "list_tables")


def _tables(connection: Any) -> list[str]:
    if _by_ibis(connection):
        return list(connection.list_tables())
    select = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    return [row[0] for row in connection.execute(select).fetchall()]


def _table_and_schema(name: str, known: Sequence[str]) -> tuple[str, str | None]:
    """The table and its schema. A name that is known as it stands may hold a point."""
    if name in known:
        return name, None
    schema, point, table = name.rpartition(".")
    if point:
        return table, schema
    raise CallError(f"there is no table {shorten(name)!r}; {nearest(name, known)}")


# --- what an error says


def _message(error: Exception, url: str) -> str:
    """The first lines of an error; nothing of it where it repeats a part of a password or of an option of the URL."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[:3]).replace(url, shown(url))
    text = re.sub(r'\b(user|role) "[^"]*"', r'\1 "***"', text)
    if not text or any(part in text.lower() for part in _secrets(url)):
        return f"{type(error).__name__}. Check the address, the user and the password."
    return shorten(text, 300)


def _secrets(url: str) -> set[str]:
    """The parts of users, passwords and options, as they stand and decoded, between signs that end a word."""
    place, _, options = url.partition("://")[2].partition("?")
    texts = [place.rpartition("@")[0], *(value for _, value in parse_qsl(options)), os.environ.get("PGPASSWORD", "")]
    words = {word for text in texts for each in (text, unquote(text)) for word in re.split(r"[\W_]+", each.lower())}
    return {word for word in words if len(word) >= 3}
