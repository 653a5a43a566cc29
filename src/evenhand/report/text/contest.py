"""A contest of models for a terminal or as plain text: sentences first, then a table for each question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.core.wording import clean, clip
from evenhand.report.contest import Sheet, more, notes, sections
from evenhand.report.text import STYLES, Screen, plain_text, say
from evenhand.report.text.columns import Columns
from evenhand.report.text.diff import MEANS

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.contest import Contest


def plain(contest: Contest, screen: Screen | None = None) -> str:
    """The contest as plain text, for standard output unless another screen is given."""
    return plain_text(lambda console: write(contest, console), screen)


def write(contest: Contest, console: Console) -> None:
    """Write the contest to a console. Names of users are never read as markup."""
    verdict = (contest.verdict, f"bold {STYLES[contest.verdict]}")
    say(console, "Change: ", verdict, f" ({MEANS[contest.verdict]})")
    for section in sections(contest):
        say(console, (f"\n{clip(section.title, 200)}", "bold"))
        for sentence in section.sentences:
            say(console, f"  {clean(sentence)}")
        for sheet in section.sheets:
            _table(sheet, console)
    for note in notes(contest):
        say(console, f"- {clean(note)}")


def _table(sheet: Sheet, console: Console) -> None:
    say(console, (f"\n{clip(sheet.title, 100)}", "bold"))
    first, *others = sheet.columns
    changed = [title for title in others if title.startswith("change")]
    counted = [title for title in others if title.endswith("+/-")]
    table = Columns(console, first, *others, left=sheet.left, fold=[counted, changed])
    for row in sheet.rows:
        table.add([clip(cell) for cell in row])
    table.show()
    if sheet.left_out:
        say(console, f" {more(sheet)}")
