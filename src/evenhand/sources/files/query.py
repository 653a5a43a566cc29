"""Queries of DuckDB: an interrupt stops one, and a bar shows its progress when it takes long."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from evenhand.core import progress

_TICK = 0.1  # seconds between two looks at a query that runs


def connect(**settings: Any) -> Any:
    """A new connection that draws no bar of its own; DuckDB knows how far a query is only while its bar is on."""
    import duckdb

    connection = duckdb.connect(config=settings)
    wanted = "true" if progress.visible() else "false"
    # In a notebook without ipywidgets DuckDB has no bar, and refuses every setting of one.
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute(f"SET enable_progress_bar = {wanted}")
    return connection


def fetch(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    """All rows of a query. An interrupt stops the query, not only the wait for it."""
    outcome: dict[str, Any] = {}
    # An event, because before Python 3.13 an interrupt during Thread.join made the thread count as finished.
    finished, cancelled = threading.Event(), threading.Event()

    def work() -> None:
        try:
            if not cancelled.is_set():
                outcome["rows"] = connection.execute(sql).fetchall()
        except BaseException as error:
            outcome["error"] = error
        finally:
            finished.set()

    worker = threading.Thread(target=work, daemon=True)
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
    return outcome["rows"]  # type: ignore[no-any-return]


def _wait(connection: Any, finished: threading.Event) -> None:
    if finished.wait(progress.SECONDS_BEFORE_A_BAR):
        return
    # Before DuckDB 1.3 a connection does not know how far it is: the bar then only shows that something happens.
    ask = getattr(connection, "query_progress", None) if progress.visible() else None
    with progress.shown("counting", None if ask is None else 100, percent=True, at_once=True) as tell:
        while not finished.wait(_TICK):
            tell(0.0 if ask is None else max(ask(), 0.0))
