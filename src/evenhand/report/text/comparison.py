"""A comparison of ways to decide as plain text: a line for each, and what the frontier is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.catalogue import METRICS
from evenhand.core.results import Estimate
from evenhand.core.wording import clip, shown_scale
from evenhand.report import tables
from evenhand.report.text import Screen, plain_text, say
from evenhand.report.text.columns import Columns

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.mitigate.comparison import Comparison


def plain(comparison: Comparison, screen: Screen | None = None) -> str:
    """The comparison as plain text, for standard output unless another screen is given."""
    return plain_text(lambda console: write(comparison, console), screen)


def write(comparison: Comparison, console: Console) -> None:
    """Write the comparison to a console. Names of users are never read as markup."""
    metric = METRICS[comparison.metric].title if comparison.metric in METRICS else comparison.metric
    say(
        console,
        f"{len(comparison.contenders)} ways to decide for {comparison.people:,} people, each by models that were "
        f"not fitted to them. The gap is that of {metric}, as a {comparison.judged_on}; 95 % intervals.",
    )
    unit = comparison.contenders[0].finding.unit
    scale = shown_scale(comparison.contenders[0].finding.judged_on, unit)
    title = "ratio" if comparison.judged_on == "ratio" else "gap, points" if scale == 100 else "gap"
    said = ("verdict", "frontier")
    numbers = ("accuracy, %", f"beside {clip(comparison.contenders[0].name)}", title)
    table = Columns(console, "", *numbers, *said, left=said, fold=[numbers])
    for each in comparison.contenders:
        cost = "-" if each is comparison.contenders[0] else signed(each.cost)
        shown = (clip(each.name), interval(each.accuracy, 100), cost, interval(each.gap, scale))
        table.add([*shown, each.finding.verdict, "yes" if each.frontier else ""])
    table.show()


def interval(value: Estimate, scale: int) -> str:
    return tables.interval(value.value, value.low, value.high, scale)


def signed(value: Estimate) -> str:
    """A change of accuracy in points, with its interval."""
    show = "{:+.1f}".format
    if value.low is None or value.high is None or math.isnan(value.low):
        return show(100 * value.value)
    return f"{show(100 * value.value)} [{show(100 * value.low)}, {show(100 * value.high)}]"
