"""Waiting for a long loop: a bar on a terminal says how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from evenhand.core import progress

T = TypeVar("T")


def track(items: Iterable[T], total: int, doing: str) -> Iterator[T]:
    """The items, one by one, counted on the bar.

    >>> list(track(range(3), 3, "counting"))
    [0, 1, 2]
    """
    with progress.shown(doing, total) as tell:
        for done, item in enumerate(items):
            tell(done)
            yield item
