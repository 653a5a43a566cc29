"""Run a query; when it takes more than a second on a terminal, show how far it is."""

from __future__ import annotations

import sys
import threading
from typing import Any

_PATIENCE = 1.0
_TICK = 0.1


def fetch(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    """All rows of a query. An interrupt stops the query, not only the waiting."""
    outcome: dict[str, Any] = {}
    # An event, for Thread.join takes a thread for finished when an interrupt comes while it waits (before Python 3.13).
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
        if not finished.wait(_PATIENCE) and sys.stderr is not None and sys.stderr.isatty():
            _show(connection, finished)
        while not finished.wait(_TICK):
            pass
    except BaseException:
        cancelled.set()
        while worker.ident is not None and not finished.is_set():
            connection.interrupt()
            finished.wait(_TICK)
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["rows"]  # type: ignore[no-any-return]


def _show(connection: Any, finished: threading.Event) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    # Before DuckDB 1.3 a connection cannot tell how far it is: the bar then only shows that something happens.
    ask = getattr(connection, "query_progress", None)
    columns = (TextColumn("counting"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=100 if ask else None)
        while not finished.wait(_TICK):
            done = ask() if ask else -1.0
            if done >= 0:
                bar.update(task, completed=done)
