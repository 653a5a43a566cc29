"""Results as text, for a terminal or a file: the console and the lines that all of them share."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.core import signs
from evenhand.core.wording import clip

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.core.cover import Cover

STYLES = {"pass": "green", "fail": "red", "inconclusive": "yellow", "not judged": "dim"}
"""The colour of each verdict on a terminal."""

_LEAST_WIDTH = 40
_LONGEST = 400  # letters of a text of the caller


class Screen(NamedTuple):
    """What text is written for: its width in columns, and the encoding, which may lack some signs."""

    width: int = 120
    encoding: str = "utf-8"

    @classmethod
    def here(cls) -> Screen:
        """What standard output shows: as wide as the terminal, or as COLUMNS says, and in its encoding."""
        encoding = getattr(sys.stdout, "encoding", None)
        return cls(_columns(), encoding if isinstance(encoding, str) else PAGE.encoding)


PAGE = Screen()
"""A file, or another place that carries every sign."""


def _columns() -> int:
    """The columns of standard output; those of a page where it is neither a terminal nor set by COLUMNS."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return max(int(said), _LEAST_WIDTH)
    try:
        terminal = sys.stdout is not None and sys.stdout.isatty()
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, _LEAST_WIDTH) if terminal else PAGE.width
    except (OSError, ValueError, AttributeError):
        return PAGE.width


def plain_text(write: Callable[[Console], None], screen: Screen | None = None) -> str:
    """What `write` prints to a console, as plain text for that screen, or for standard output.

    Lines have no spaces at their ends, and there is one empty line where more were printed.
    """
    from rich.console import Console

    screen = screen or Screen.here()
    page = _Page(screen.encoding)
    write(
        Console(
            file=page,
            width=screen.width,
            color_system=None,  # FORCE_COLOR is for terminals; text has neither colours nor bold letters
            force_terminal=False,
            force_jupyter=False,  # in a notebook rich would show each line there, and write nothing to the page
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )
    )
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in page.getvalue().splitlines()))
    return signs.carried(text, screen.encoding)


class _Page(io.StringIO):
    """Text in memory for a stream of some encoding, by which a console chooses its signs."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override] # None in the stub of StringIO
        return self._encoding


def words(console: Console, text: str, style: str = "") -> Any:
    """Text for a line or a cell, with stand-ins for signs that the console cannot show; never read as markup.

    Before the layout, because a stand-in may be longer than its sign.
    """
    from rich.text import Text

    return Text(signs.carried(text, console.encoding), style=style)


def say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print a line made of parts, each a text or a (text, style).

    Where there is less room than on a page, a long line continues below itself; elsewhere whoever shows it breaks it,
    so that a search finds it whole.
    """
    from rich.padding import Padding
    from rich.text import Text

    line = Text().join(words(console, *([part] if isinstance(part, str) else part)) for part in parts)
    if console.width >= PAGE.width or "\n" in line.plain:
        console.print(line, soft_wrap=True)
        return
    indent = len(line.plain) - len(line.plain.lstrip(" "))
    console.print(Padding(line[indent:], (0, 0, 0, indent), expand=False))


def heading(cover: Cover, console: Console) -> None:
    """The title and the note that the maker of an audit gave it, where there are any."""
    if cover.title:
        say(console, (clip(cover.title, _LONGEST), "bold"))
    if cover.note:
        say(console, clip(cover.note, _LONGEST))
