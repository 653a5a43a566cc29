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

    def work() -> None:
        try:
            outcome["rows"] = connection.execute(sql).fetchall()
        except BaseException as error:
            outcome["error"] = error

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        worker.join(_PATIENCE)
        if worker.is_alive() and sys.stderr is not None and sys.stderr.isatty():
            _show(connection, worker)
        while worker.is_alive():
            worker.join(_TICK)
    except BaseException:
        connection.interrupt()
        worker.join()
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["rows"]  # type: ignore[no-any-return]


def _show(connection: Any, worker: threading.Thread) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    # Before DuckDB 1.3 a connection cannot tell how far it is: the bar then only shows that something happens.
    ask = getattr(connection, "query_progress", None)
    columns = (TextColumn("counting"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=100 if ask else None)
        while worker.is_alive():
            done = ask() if ask else -1.0
            if done >= 0:
                bar.update(task, completed=done)
            worker.join(_TICK)
