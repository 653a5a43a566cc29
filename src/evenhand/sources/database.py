"""A table of a database, by URL and name; and which part of a URL may be shown: where it is, never how to get in.

No error, note or report shows a user, a password or an option of the URL. DuckDB is opened directly; PostgreSQL, SQLite
and the others that Ibis knows, through Ibis. A database is only ever read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from evenhand.errors import CallError, DataError, EvenhandError, MissingDependencyError, nearest, short_path, shorten
from evenhand.sources.files.formats import identifier

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PLACE = re.compile(r"(\[[0-9a-fA-F:.]*\]|[^:/]*)(:\d+)?(/.*)?")
_SECRETS = re.compile("pass|secret|token|key|credential", re.IGNORECASE)
_READ_ONLY = {"postgres": "SET default_transaction_read_only = on"}


@contextmanager
def open_table(url: str, *, table: str | None = None, query: str | None = None) -> Iterator[Any]:
    """The frame of one table, or of a query, while the database is open."""
    if (table is None) == (query is None):
        raise CallError("name what to read of the database: either a table or a query.")
    address = shown(url)
    try:
        connection = _connect(url)
    except EvenhandError:
        raise
    except Exception as error:
        raise DataError(f"the database {address!r} cannot be opened: {_message(error, url)}") from None
    try:
        yield _frame(connection, address, url, table, query)
    finally:
        with suppress(Exception):
            (connection.disconnect if _by_ibis(connection) else connection.close)()


def _connect(url: str) -> Any:
    scheme = url.partition("://")[0].lower()
    if "://" not in url:
        raise CallError("a database is named by a URL, such as duckdb:///decisions.db or postgresql://host/name.")
    if scheme == "duckdb":
        import duckdb

        return duckdb.connect(_file(url), read_only=True)
    try:
        import ibis

        connection = ibis.sqlite.connect(_file(url)) if scheme == "sqlite" else ibis.connect(url)
    except ImportError as error:
        raise MissingDependencyError(
            f'a {scheme} database is read with Ibis: pip install "evenhand[sql]" '
            f"(or ibis-framework[{scheme}]; {error.name or 'a library'} is not installed)."
        ) from None
    if connection.name in _READ_ONLY:
        connection.raw_sql(_READ_ONLY[connection.name]).close()
    return connection


def _file(url: str) -> str:
    """The file of a local database: duckdb:///x.db and duckdb://x.db are relative paths, duckdb:////tmp/x.db is not."""
    path = unquote(url.partition("://")[2].partition("?")[0])
    relative = path.removeprefix("/")
    found = next((name for name in (relative, path) if name and Path(name).is_file()), None)
    if found is None:
        raise CallError(f"there is no database file {short_path(relative or shown(url))!r}.")
    return found


def _frame(connection: Any, address: str, url: str, table: str | None, query: str | None) -> Any:
    try:
        if query is not None:
            found = _query(connection, query)
            if found is None:
                raise DataError("a query must give rows: write it as SELECT ...")
            return found
        name, schema = _table_and_schema(table or "", _tables(connection))
        if not _by_ibis(connection):
            whole = ".".join(identifier(part) for part in (schema, name) if part)
            return connection.sql(f"SELECT * FROM {whole}")  # noqa: S608 - quoted
        return connection.table(name, database=schema)
    except EvenhandError:
        raise
    except Exception as error:
        what = "this query" if table is None else f"the table {shorten(table)!r}"
        raise DataError(f"{address!r} cannot answer for {what}: {_message(error, url)}") from None


def _query(connection: Any, query: str) -> Any:
    if not _by_ibis(connection) or connection.name != "postgres":
        return connection.sql(query)
    # Ibis would make a view to learn the types, which a reader may not be allowed to do.
    plain = query.strip().rstrip(";")
    with connection.con.cursor() as cursor, connection.con.transaction():
        cursor.execute(f"SELECT * FROM ({plain}\n) AS query LIMIT 0")  # noqa: S608 - the caller's own query
        columns = {column.name: column.type_code for column in cursor.description}
        kinds = {name: _type_name(cursor, code) for name, code in columns.items()}
    known = connection.compiler.type_mapper
    return connection.sql(plain, schema={name: known.from_string(kind) for name, kind in kinds.items()})


def _type_name(cursor: Any, code: int) -> str:
    kind = "CASE typtype WHEN 'e' THEN 'text' ELSE pg_catalog.format_type(oid, NULL) END"
    found = cursor.execute(f"SELECT {kind} FROM pg_catalog.pg_type WHERE oid = %s", [code]).fetchone()  # noqa: S608
    return str(found[0])


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


def _message(error: Exception, url: str) -> str:
    """The first lines of an error, without the secrets of the URL."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = (" ".join(lines[:3]) or type(error).__name__).replace(url, shown(url))
    for secret in sorted(secrets_of(url), key=len, reverse=True):
        text = text.replace(secret, "***")
    return shorten(re.sub('user "[^"]*"', 'user "***"', text), 300)


def without_secrets(argument: str) -> str:
    """An argument of the command line, with its URL cut to what may be shown: no user, no password, no options.

    >>> without_secrets("--database=postgresql://ann:secret@db.example/loans?sslpassword=x")
    '--database=postgresql://db.example/loans'
    """
    found = _URL.search(argument)
    return argument if found is None else argument[: found.start()] + shown(argument[found.start() :])


def shown(url: str) -> str:
    """Where the database is; only its kind where the address might hold a password."""
    scheme, _, rest = url.partition("://")
    place, _, options = rest.partition("?")
    place = place.rpartition("@")[2].partition("#")[0]
    return f"{scheme}://{place if _PLACE.fullmatch(place) and '@' not in options else '…'}"


def secrets_of(url: str) -> set[str]:
    """The passwords and keys in a URL, as they stand there and decoded."""
    try:
        parts = urlsplit(url)
        options = parse_qsl(parts.query)
    except ValueError:
        return {url}
    found = {value for name, value in options if _SECRETS.search(name)}
    for text in (parts.password, parts.netloc.rpartition("@")[0].partition(":")[2]):
        found |= {text, unquote(text)} if text else set()
    return {text for text in found if text}
