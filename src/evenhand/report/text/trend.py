"""Metrics over time, for a terminal or as plain text: whether there is an alarm, then a table for each series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.core.wording import clean, clip
from evenhand.report import tables
from evenhand.report.text import STYLES, new_table, plain_text

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.trend import Point, Series, Trend

_MOST_PERIODS = 31


def plain(trend: Trend, width: int = 120) -> str:
    """The trend as plain text."""
    return plain_text(lambda console: write(trend, console), width)


def write(trend: Trend, console: Console) -> None:
    """Write the trend to a console. Names of users are never read as markup."""
    from rich.text import Text

    silent = "none so far" if trend.watchful else "none can be raised"
    alarm = silent if trend.alarm is None else f"since {clip(trend.alarm)}"
    style = f"bold {STYLES['not judged' if trend.alarm is None else 'fail']}"
    console.print(Text("Alarm: ") + Text(alarm, style=style))
    size = f"{len(trend.periods)} period{'s' if len(trend.periods) > 1 else ''}"
    console.print(Text(f"{size}, {trend.cube.size:,} people"))
    for each in trend.series:
        _section(each, console, trend.policy.confidence)
    for note in dict.fromkeys(trend.notes):
        console.print(Text(f"- {clean(note)}"), soft_wrap=True)


def _section(each: Series, console: Console, confidence: float) -> None:
    from rich.text import Text

    from evenhand.audits.trend import e_figure

    console.print(Text(f"\n{clip(' × '.join(each.attributes))}: {clip(each.whole.title)}", style="bold"))
    console.print(Text(clean(each.interpretation)), soft_wrap=True)
    left_out = max(len(each.points) - _MOST_PERIODS, 0)
    if left_out:
        console.print(Text(f" {left_out} earlier periods are not shown; to_frame() and saved files have them."))
    kind = each.whole.judged_on
    words = ("highest", "lowest", "")
    table = new_table("period", "people", f"{kind} [{confidence:.0%}]", *words[:2], "e-value", "", left=words)
    raised = any(point.e_value >= each.needed for point in each.points[:left_out])
    for point in each.points[left_out:]:
        first = point.e_value >= each.needed and not raised
        raised |= first
        cells = [clip(point.period), f"{point.people:,}", *_gap(point), e_figure(point.e_value)]
        table.add_row(*map(Text, [*cells, "alarm" if first else ""]))
    console.print(table)


def _gap(point: Point) -> tuple[str, str, str]:
    """The gap of a period and the two groups that make it, or why there is none."""
    finding = point.finding
    if finding is None:
        return "undefined", clip(point.reason or ""), ""
    return tables.value(finding), clip(finding.highest or ""), clip(finding.lowest or "")
