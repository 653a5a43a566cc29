"""Progress bar on stderr. It appears after one second, and only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

SECONDS_BEFORE_A_BAR = 1.0

T = TypeVar("T")


def visible() -> bool:
    """Is stderr a terminal, where a bar can be shown?"""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def shown(
    title: str, total: int | None, *, percent: bool = False, at_once: bool = False
) -> Iterator[Callable[[float], None]]:
    """A function that takes how much of the total is done, and shows it; None is a total that nobody knows.

    With `percent` the bar shows a percentage in place of "3 of 10"; with `at_once` it does not wait a second.

    >>> with shown("fitting", 3) as tell:
    ...     tell(3)
    """
    if not visible():
        yield lambda _: None
        return
    bar = _Bar(title, total, percent, 0.0 if at_once else SECONDS_BEFORE_A_BAR)
    try:
        if at_once:
            bar.tell(0.0)
        yield bar.tell
    finally:
        bar.close()


def track(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    """The items, one by one, counted on a bar.

    >>> list(track(range(3), 3, "counting"))
    [0, 1, 2]
    """
    with shown(title, total) as tell:
        for done, item in enumerate(items):
            tell(done)
            yield item


class _Bar:
    def __init__(self, title: str, total: int | None, percent: bool, patience: float) -> None:
        self.title, self.total, self.percent = title, total, percent
        self.start = time.monotonic() + patience
        self.progress: Any = None
        self.task: Any = None

    def tell(self, done: float) -> None:
        if self.progress is None and time.monotonic() < self.start:
            return
        if self.progress is None:
            self._open()
        self.progress.update(self.task, completed=done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        share = (TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn())
        columns = share if self.percent else (MofNCompleteColumn(), TimeRemainingColumn())
        self.progress = Progress(
            TextColumn(self.title),
            BarColumn(),
            *columns,
            console=Console(stderr=True, force_jupyter=False),  # in a notebook rich would ask for ipywidgets
            transient=True,
        )
        self.progress.start()
        self.task = self.progress.add_task("", total=self.total)

    def close(self) -> None:
        if self.progress is not None:
            self.progress.stop()
