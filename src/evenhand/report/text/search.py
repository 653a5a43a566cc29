"""The groups that a search lists, for a terminal or as plain text: who, how many people, the gap with its limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.core.results import Finding, Panel
from evenhand.core.wording import clean, clip, shown_scale, table_figure
from evenhand.report import tables
from evenhand.report.glance import listed
from evenhand.report.text import PAGE, STYLES, heading, say, words
from evenhand.report.text.columns import Columns

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.audit import Audit

_MOST = 12  # lines of a table
_FEW = 5  # of those that are open, below those beyond the threshold
_SHORT = {"everyone else": "others", "its mean score": "score"}
_POINTS = {100: " in points", 1: ""}
_NAME_WIDTH = 120
_LINE = 36  # letters of a name on a narrow screen, which leaves room for the numbers


def write(audit: Audit, finding: Finding, console: Console) -> None:
    """Write a search to a console: the verdict, the groups beyond the threshold, those that are open, notes."""
    heading(audit.cover, console)
    verdict = (audit.verdict, f"bold {STYLES[audit.verdict]}")
    say(console, "Verdict: ", verdict, f" ({audit.cube.size:,} people)")
    console.print()
    say(console, clean(finding.interpretation))
    first, *others = listed(finding) or finding.panels[:1]
    _table(first, finding, console)
    for panel in others:
        _table(panel, finding, console, _FEW)
    for note in finding.notes:
        say(console, f"- {clean(note)}")


def write_groups(_audit: Audit, finding: Finding, console: Console) -> None:
    """Write every table of groups."""
    for panel in finding.panels:
        _table(panel, finding, console)


def _table(panel: Panel, finding: Finding, console: Console, most: int = _MOST) -> None:
    scale = shown_scale(finding.judged_on, finding.unit)
    rows = [dict(zip(panel.columns, row, strict=True)) for row in panel.rows[:most]]
    # The value of the group and what it is compared with stand between the people and the gap.
    value, base = panel.columns[panel.columns.index("gap") - 2 : panel.columns.index("gap")]
    several = "measure" in panel.columns
    percent = " %" if scale == 100 else ""
    said = value if several else f"{value}{percent}"
    say(console, (f"\n{panel.title}", "bold"), "" if several else f": {said}")
    titles = ["group", "people", f"here{percent}", f"{_SHORT.get(base, base)}{percent}", f"gap{_POINTS[scale]}"]
    extra = [name for name in ("measure", "scores") if name in panel.columns][:1]
    below = extra[0] if extra else None
    table = Columns(console, *titles, *extra, left=extra, fold=[titles[4:], titles[2:4]], below=below)
    for row in rows:
        told = [f"{said}{row[name]}" for name, said in (("measure", ""), ("scores", "scores ")) if name in row]
        people = row.get("measured on", row["people"])
        away = tables.gap(row["gap"], row["low"], row["high"], scale)  # type: ignore[arg-type]
        table.add(["", f"{people:,}", _number(row[value], scale), _number(row[base], scale), away, *told])
        table.rows[-1][0] = [words(console, each) for each in _name(str(row["group"]), console.width)]
    table.show()
    if len(panel.rows) > most:
        say(console, f" and {len(panel.rows) - most} more, which --json and a saved page list")


def _name(group: str, width: int) -> list[str]:
    """A name in lines of whole conditions, as many as it takes beside the numbers."""
    if width >= PAGE.width:
        return [clip(group, _NAME_WIDTH)]
    lines: list[str] = []
    for part in re.split(r", (?=[^=]+ = )", group):
        joined = f"{lines[-1]}, {part}" if lines else part
        if lines and len(joined) <= _LINE:
            lines[-1] = joined
        else:
            lines = [*(f"{line}," if line is lines[-1] else line for line in lines), clip(part, _LINE)]
    return lines


def _number(value: object, scale: int) -> str:
    return table_figure(value, scale) if isinstance(value, float) else "-"
