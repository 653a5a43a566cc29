"""Results as text, for a terminal or a file: the console and the tables that all of them share."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {"pass": "green", "fail": "red", "inconclusive": "yellow", "not judged": "dim"}
"""The colour of each verdict on a terminal."""


def plain_text(write: Callable[[Console], None], width: int = 120) -> str:
    """What `write` prints to a console of that width, as plain text.

    Lines have no spaces at their ends, and there is one empty line where more were printed.
    """
    from rich.console import Console

    page = io.StringIO()
    write(
        Console(
            file=page,
            width=width,
            color_system=None,  # FORCE_COLOR is for terminals; text has neither colours nor bold letters
            force_terminal=False,
            force_jupyter=False,  # in a notebook rich would show each line there, and write nothing to the page
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )
    )
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in page.getvalue().splitlines()))


def new_table(first: str, *others: str, left: tuple[str, ...] = ()) -> Any:
    """A table without frames; numbers to the right, the columns that `left` names to the left."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column(Text(first), no_wrap=True)
    for title in others:
        table.add_column(Text(title), justify="left" if title in left else "right", overflow="fold")
    return table
