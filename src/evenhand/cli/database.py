"""Options that name a table of a database in place of files."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import click

from evenhand.errors import CallError
from evenhand.sources.database import open_table

ENVIRONMENT = "EVENHAND_DATABASE"

_OPTIONS = (
    click.option(
        "--database",
        metavar="URL",
        help="Read a database in place of files: duckdb:///x.db, sqlite:///x.db, postgresql://host/name. "
        f"With {ENVIRONMENT} the URL stays out of the command.",
    ),
    click.option("--table", metavar="NAME", help="Table of the database."),
    click.option("--query", metavar="SQL", help="What to read of the database, in place of a whole table."),
)


def database_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that counts data."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def is_asked(given: dict[str, Any], files: tuple[str, ...]) -> bool:
    """Is the data in a database? Files and a database at once are refused, and so is neither."""
    asked = any(given[name] is not None for name in ("database", "table", "query"))
    if asked and files:
        raise CallError("files and a database are read one at a time: leave out the files, or --database.")
    if not asked and not files:
        raise click.UsageError("Missing argument 'FILES...', or --database with --table.")
    return asked


def opened(given: dict[str, Any]) -> AbstractContextManager[Any]:
    """The frame that the options name, while its database is open."""
    url = given["database"] or os.environ.get(ENVIRONMENT)
    if not url:
        raise CallError(f"--table and --query need --database, or its URL in {ENVIRONMENT}.")
    if (given["table"] is None) == (given["query"] is None):
        raise CallError("with --database, give either --table or --query.")
    return open_table(url, table=given["table"], query=given["query"])


def source_of(given: dict[str, Any]) -> tuple[str, ...]:
    """What the report calls the data."""
    if given["table"] is not None:
        return (given["table"],)
    return ("a database query",) if given["query"] is not None else ()
