"""Columns of text that stay readable on a narrow terminal: a row takes one line where it can, and two at most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.report.text import words

if TYPE_CHECKING:
    from rich.console import Console

_GAPS = (3, 2)  # spaces between columns: where there is room, and where there is little
_LEAST_NAME = 12
_INDENT = "  "
# Where a cell is broken: before an interval, after an arrow, between two words.
_BREAKS = (r" (?=\[)", r"(?<=→) |(?<=->) ", r" |(?<=\w-)(?=\w)")


Cells = list[list[Any]]
"""A row: for each column the lines of its cell."""


class Columns:
    """A table without frames: names to the left in the first column, numbers to the right.

    Args:
        console: What it is written for.
        first: The title of the first column; its cells are broken or shortened where nothing else helps.
        others: The titles of the other columns.
        left: Those that stand to the left.
        fold: Those whose cells may take two lines where there is no room for one, in the order in which that is tried.
        below: The one that moves to a line of its own below the row where there is no room beside the others.
        spare: The one that is left out where nothing else helps.
    """

    def __init__(
        self,
        console: Console,
        first: str,
        *others: str,
        left: Sequence[str] = (),
        fold: Sequence[Sequence[str]] = (),
        below: str | None = None,
        spare: str | None = None,
    ) -> None:
        titles = (first, *others)
        self.console = console
        self.left = {0, *(i for i, title in enumerate(titles) if i and title in left)}
        self.fold = [[i for i, title in enumerate(titles) if i and title in together] for together in fold]
        self.below, self.spare = (None if title is None else titles.index(title) for title in (below, spare))
        self.rows: list[Cells] = [[[words(console, title, "bold")] for title in titles]]

    def add(self, cells: Iterable[str | tuple[str, str]]) -> None:
        """A row; a cell is a text or a (text, style)."""
        self.rows.append([[words(self.console, *([cell] if isinstance(cell, str) else cell))] for cell in cells])

    def show(self) -> None:
        """Print the table, with an empty line before and after it."""
        every = list(range(len(self.rows[0])))
        # A column in which nothing stands, such as that of alarms where there are none, takes no room.
        columns = [i for i, width in zip(every, self._widths(every), strict=True) if width]
        gap = _GAPS[0]
        beneath = None
        if self._excess(columns, gap) > 0:
            gap = _GAPS[1]
        if self._excess(columns, gap) > 0 and self.below is not None:
            beneath = self.below
            columns = [i for i in columns if i != beneath]
        for together in self.fold:
            if self._excess(columns, gap) > 0:
                for i in together:
                    self._fold(i)
        if self._excess(columns, gap) > 0:
            columns = [i for i in columns if i != self.spare]
        self._narrow(columns, gap)
        self._print(columns, gap, beneath)

    def _widths(self, columns: list[int]) -> list[int]:
        return [max(part.cell_len for row in self.rows for part in row[i]) for i in columns]

    def _excess(self, columns: list[int], gap: int) -> int:
        """By how much the rows are too long."""
        return 1 + sum(self._widths(columns)) + gap * (len(columns) - 1) - int(self.console.width)

    def _fold(self, i: int) -> None:
        """Break the cells of a column that are longer than the halves of others."""
        halves = [_halves(row[i][0]) for row in self.rows]
        width = max(part.cell_len for parts in halves for part in parts)
        for row, parts in zip(self.rows, halves, strict=True):
            row[i] = row[i] if row[i][0].cell_len <= width else parts

    def _narrow(self, columns: list[int], gap: int) -> None:
        """Break the names in the first column, and cut them if that is not enough; numbers are never cut."""
        excess = self._excess(columns, gap)
        room = max(self._widths(columns)[0] - excess, _LEAST_NAME)
        for row in self.rows:
            if excess > 0 and row[0][0].cell_len > room:
                row[0] = [self._cut(part, room) for part in _halves(row[0][0])]

    def _cut(self, name: Any, room: int) -> Any:
        if name.cell_len > room:
            mark = words(self.console, "…")
            name.truncate(room - mark.cell_len, overflow="crop")
            name.append_text(mark)
        return name

    def _print(self, columns: list[int], gap: int, beneath: int | None) -> None:
        widths = self._widths(columns)
        self.console.print()
        for number, row in enumerate(self.rows):
            for part in range(max(len(row[i]) for i in columns)):
                self._line(" " * gap, [self._aligned(row[i], part, i, w) for i, w in zip(columns, widths, strict=True)])
            if number == 0:
                self._line("", [words(self.console, "─" * (sum(widths) + gap * (len(columns) - 1)))])
            elif beneath is not None and row[beneath][0].plain not in ("", "-"):
                self._line("", [words(self.console, _INDENT), row[beneath][0]])
        self.console.print()

    def _aligned(self, cell: list[Any], part: int, i: int, width: int) -> Any:
        text = cell[part].copy() if part < len(cell) else words(self.console, "")
        text.align("left" if i in self.left else "right", width)
        return text

    def _line(self, gap: str, parts: list[Any]) -> None:
        line = words(self.console, " ") + words(self.console, gap).join(parts)
        line.rstrip()
        self.console.print(line, soft_wrap=True)


def _halves(cell: Any) -> list[Any]:
    """A cell as two lines, broken where both are short; as one where it cannot be broken."""
    for place in _BREAKS:
        found = [match.span() for match in re.finditer(place, cell.plain)]
        if found:
            start, end = min(found, key=lambda span: max(span[0], len(cell.plain) - span[1]))
            return [cell[:start], cell[end:]]
    return [cell]
