"""An audit whose tables are the result, such as adverse impact: the verdict, then each finding with its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.core.results import Finding
from evenhand.core.wording import clean, clip
from evenhand.report import panels, tables
from evenhand.report.panels import PrintedTable
from evenhand.report.text import STYLES, Screen, heading, plain_text, say
from evenhand.report.text.columns import Columns

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.audit import Audit

_MOST_LINES = 60  # of a table


def plain(audit: Audit, screen: Screen | None = None) -> str:
    """The audit as plain text, for standard output unless another screen is given."""
    return plain_text(lambda console: write(audit, console), screen)


def write(audit: Audit, console: Console) -> None:
    """Write the audit to a console. Names of users are never read as markup."""
    heading(audit.cover, console)
    style = f"bold {STYLES[audit.verdict]}"
    say(console, "Verdict: ", (audit.verdict, style), tables.in_brackets(tables.outcomes(audit)))
    say(console, tables.headline(audit))
    for _, findings in tables.by_attributes(audit):
        for finding in findings:
            _write_finding(audit, finding, console)
    for note in dict.fromkeys(audit.notes):
        say(console, f"- {clean(note)}")


def _write_finding(audit: Audit, finding: Finding, console: Console) -> None:
    aside = "" if audit.decides(finding) or not audit.required else ", which does not decide"
    say(console, (f"\n{clip(' × '.join(finding.attributes), 100)}", "bold"), aside)
    say(console, (finding.verdict.capitalize(), STYLES[finding.verdict]), f". {clean(finding.interpretation)}")
    for table in panels.printed(finding):
        write_table(table, console)
    for note in tables.notes(finding, decides=audit.decides(finding)):
        say(console, f"- {clean(note)}")


def write_table(table: PrintedTable, console: Console) -> None:
    """Write one table below its title."""
    say(console, (f"\n{clip(table.title, 100)}", "bold"))
    first, *others = table.titles
    shown = Columns(console, first, *others, left=table.left, fold=[[title] for title in others])
    for line in table.lines[:_MOST_LINES]:
        shown.add([clip(cell) for cell in line])
    shown.show()
    if len(table.lines) > _MOST_LINES:
        say(console, f" {len(table.lines) - _MOST_LINES:,} more lines: save as .json or .html.")
