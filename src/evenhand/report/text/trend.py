"""Metrics over time, for a terminal or as plain text: whether there is an alarm, then a chart and its numbers for each
series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.core.wording import clean, clip, e_figure
from evenhand.report import tables
from evenhand.report.text import STYLES, Screen, plain_text, say
from evenhand.report.text.columns import Columns

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.trend import Point, Series, Trend

_MOST_PERIODS = 31


def plain(trend: Trend, screen: Screen | None = None) -> str:
    """The trend as plain text, for standard output unless another screen is given."""
    return plain_text(lambda console: write(trend, console), screen)


def write(trend: Trend, console: Console) -> None:
    """Write the trend to a console. Names of users are never read as markup."""
    silent = "none so far" if trend.watchful else "none can be raised"
    alarm = silent if trend.alarm is None else f"since {clip(trend.alarm)}"
    style = f"bold {STYLES['not judged' if trend.alarm is None else 'fail']}"
    say(console, "Alarm: ", (alarm, style))
    size = f"{len(trend.periods)} period{'s' if len(trend.periods) > 1 else ''}"
    say(console, f"{size}, {trend.cube.size:,} people")
    for each in trend.series:
        _section(each, console, trend.policy.confidence)
    for note in dict.fromkeys(trend.notes):
        say(console, f"- {clean(note)}")


def _section(each: Series, console: Console, confidence: float) -> None:
    say(console, (f"\n{clip(' × '.join(each.attributes))}: {clip(each.whole.title)}", "bold"))
    say(console, clean(each.interpretation))
    left_out = max(len(each.points) - _MOST_PERIODS, 0)
    if left_out:
        say(console, f" {left_out} earlier periods are not shown; to_frame() and saved files have them.")
    kind = each.whole.judged_on
    words = ("between", "and", "")
    drawn = any(point.finding is not None and tables.bar(point.finding) for point in each.points)
    chart = ("0 │ threshold",) if drawn else ()
    size = f"{kind} [{confidence:.0%}]"
    titles = ("period", *chart, size, "people", *words[:2], "e-value", "")
    fold = [words[:1], words[1:2], (size,), chart]
    table = Columns(console, *titles, left=(*chart, *words), fold=fold, spare=chart[0] if chart else None)
    raised = any(point.e_value >= each.needed for point in each.points[:left_out])
    for point in each.points[left_out:]:
        first = point.e_value >= each.needed and not raised
        raised |= first
        bar = [tables.bar(point.finding) if point.finding is not None else ""] if drawn else []
        value, *who = gap(point)
        cells = [clip(point.period), *bar, value, f"{point.people:,}", *who, e_figure(point.e_value)]
        table.add([*cells, "alarm" if first else ""])
    table.show()


def gap(point: Point) -> tuple[str, str, str]:
    """The gap of a period and the two groups that make it, or why there is none."""
    finding = point.finding
    if finding is None:
        return "undefined", clip(point.reason or ""), ""
    first, second = tables.pair(finding)
    return tables.value(finding), clip(first or ""), clip(second or "")
