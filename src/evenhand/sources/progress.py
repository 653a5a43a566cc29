"""Run a query; when it takes more than a second on a terminal, show how far it is."""

from __future__ import annotations

import sys
import threading
from typing import Any

_PATIENCE = 1.0


def fetch(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    """All rows of a query. An interrupt stops the query, not only the waiting."""
    if not sys.stderr.isatty():
        return connection.execute(sql).fetchall()  # type: ignore[no-any-return]
    outcome: dict[str, Any] = {}

    def work() -> None:
        try:
            outcome["rows"] = connection.execute(sql).fetchall()
        except BaseException as error:
            outcome["error"] = error

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(_PATIENCE)
    try:
        if worker.is_alive():
            _show(connection, worker)
    except KeyboardInterrupt:
        connection.interrupt()
        worker.join()
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["rows"]  # type: ignore[no-any-return]


def _show(connection: Any, worker: threading.Thread) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("counting"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=100)
        while worker.is_alive():
            done = connection.query_progress()
            if done >= 0:
                bar.update(task, completed=done)
            worker.join(0.1)
