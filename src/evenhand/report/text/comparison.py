"""A comparison of ways to decide as plain text: a line for each, and what the frontier is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from evenhand.catalogue import METRICS
from evenhand.core.results import Estimate
from evenhand.core.wording import clip
from evenhand.report.text import new_table, plain_text

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.mitigate.comparison import Comparison


def plain(comparison: Comparison, width: int = 120) -> str:
    """The comparison as plain text."""
    return plain_text(lambda console: write(comparison, console), width)


def write(comparison: Comparison, console: Console) -> None:
    """Write the comparison to a console. Names of users are never read as markup."""
    from rich.text import Text

    metric = METRICS[comparison.metric].title if comparison.metric in METRICS else comparison.metric
    console.print(
        Text(
            f"{len(comparison.contenders)} ways to decide for {comparison.people:,} people, each by models that were "
            f"not fitted to them. The gap is that of {metric}, as a {comparison.judged_on}; 95 % intervals."
        ),
        soft_wrap=True,
    )
    unit = "gap, points" if comparison.judged_on == "difference" else "ratio"
    said = ("verdict", "frontier")
    first = clip(comparison.contenders[0].name)
    table = new_table("", "accuracy, %", f"beside {first}", unit, *said, left=said)
    gap = _points if comparison.judged_on == "difference" else _ratio
    for each in comparison.contenders:
        cells = (
            clip(each.name),
            _points(each.accuracy),
            "-" if each is comparison.contenders[0] else _points(each.cost, "+"),
            gap(each.gap),
            each.finding.verdict,
            "yes" if each.frontier else "",
        )
        table.add_row(*map(Text, cells))
    console.print(table)


def _points(value: Estimate, sign: str = "") -> str:
    return _with_interval(value, lambda number: f"{100 * number:{sign}.1f}")


def _ratio(value: Estimate) -> str:
    return _with_interval(value, lambda number: f"{number:.2f}")


def _with_interval(value: Estimate, show: Callable[[float], str]) -> str:
    if value.low is None or value.high is None or math.isnan(value.low):
        return show(value.value)
    return f"{show(value.value)} [{show(value.low)}, {show(value.high)}]"
