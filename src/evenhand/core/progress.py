"""How far a long work is: a bar on a terminal, from the second second on, and nothing anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 1.0


@contextmanager
def shown(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Gives a function to be told how much of the total is done.

    >>> with shown("fitting", 3) as tell:
    ...     tell(3)
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    bar = _Bar(title, total)
    try:
        yield bar.tell
    finally:
        bar.close()


class _Bar:
    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.start = title, total, time.monotonic()
        self.progress: Any = None
        self.task: Any = None

    def tell(self, done: int) -> None:
        if self.progress is None and time.monotonic() - self.start < _PATIENCE:
            return
        if self.progress is None:
            self._open()
        self.progress.update(self.task, completed=done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(self.title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.progress.start()
        self.task = self.progress.add_task("", total=self.total)

    def close(self) -> None:
        if self.progress is not None:
            self.progress.stop()
