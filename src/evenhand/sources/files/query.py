"""Connections of DuckDB, which reach only the files they are given, and queries, which an interrupt stops."""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, TypeVar

from evenhand.core import inputs, progress
from evenhand.errors import DataError
from evenhand.sources.files.formats import as_pattern, literal

T = TypeVar("T")
_current: ContextVar[Any] = ContextVar("connection", default=None)
_TICK = 0.1  # seconds between two looks at a query that runs
_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}


def connect(files: Sequence[Path] = (), *, database: str | None = None, ordered: bool = True) -> Any:
    """A new connection to a database file, which is only read, or to none.

    Whatever a file or a view in it asks for, DuckDB opens nothing but `files` and that database: no other file, no
    network, no extension; and no statement can change that. `ordered=False` is faster and gives rows in any order.
    """
    import duckdb

    # DuckDB may also read the folder that it spills to, so this is one of our own. It is made only when it is needed.
    spill = os.path.join(tempfile.gettempdir(), f"evenhand-{secrets.token_hex(8)}")
    settings: Any = {**_SETTINGS, "temp_directory": spill, "preserve_insertion_order": str(ordered).lower()}
    try:
        connection = duckdb.connect(database or ":memory:", read_only=database is not None, config=settings)
    except (MemoryError, RuntimeError, duckdb.OutOfMemoryException) as error:  # the second where no thread can start
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DataError(f"DuckDB could not start: {reason}. Memory may be short: end other programs.") from None
    wanted = "true" if progress.visible() else "false"
    # DuckDB knows how far a query is only while its bar is on. In a notebook without ipywidgets it has no bar, and
    # refuses every setting of one.
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute(f"SET enable_progress_bar = {wanted}")
    for file in files:
        inputs.check_name(file)
    whole = [os.path.abspath(file) for file in files]
    reached = dict.fromkeys([*whole, *map(as_pattern, whole)])  # a pattern is checked, then each file that it finds
    if reached:
        connection.execute(f"SET allowed_paths = [{', '.join(map(literal, reached))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def fetch(connection: Any, sql: str, parameters: Sequence[Any] = (), want: str = "fetchall") -> Any:
    """All rows of a query, in the form of `want`. An interrupt stops the query, not only the wait for it."""

    def ask() -> Any:
        answer = connection.execute(sql, list(parameters)) if parameters else connection.execute(sql)
        return getattr(answer, want)()

    return run(connection, ask)


@contextmanager
def interruptible(connection: Any) -> Iterator[None]:
    """Within it, `run_here` knows which connection an interrupt must end; None where the driver sees to that itself."""
    token = _current.set(connection)
    try:
        yield
    finally:
        _current.reset(token)


def run_here(work: Callable[[], T]) -> T:
    """The result of some work that queries the connection of `interruptible`, if there is one."""
    connection = _current.get()
    return work() if connection is None else run(connection, work)


def run(connection: Any, work: Callable[[], T]) -> T:
    """The result of some work that queries a connection; an interrupt stops the query."""
    outcome: dict[str, Any] = {}
    context = copy_context()
    # An event, because before Python 3.13 an interrupt during Thread.join made the thread count as finished.
    finished, cancelled = threading.Event(), threading.Event()

    def attempt() -> None:
        try:
            if not cancelled.is_set():
                outcome["result"] = context.run(work)
        except BaseException as error:
            outcome["error"] = error
        finally:
            finished.set()

    worker = threading.Thread(target=attempt, daemon=True)
    try:
        worker.start()
        _wait(connection, finished)
    except BaseException:
        cancelled.set()
        while worker.ident is not None and not finished.is_set():
            connection.interrupt()
            finished.wait(_TICK)
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]  # type: ignore[no-any-return]


def _wait(connection: Any, finished: threading.Event) -> None:
    if finished.wait(progress.SECONDS_BEFORE_A_BAR):
        return
    # Before DuckDB 1.3 a connection does not know how far it is: the bar then only shows that something happens.
    ask = getattr(connection, "query_progress", None) if progress.visible() else None
    with progress.shown("counting", None if ask is None else 100, percent=True, at_once=True) as tell:
        while not finished.wait(_TICK):
            tell(0.0 if ask is None else max(ask(), 0.0))
