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


def plain(found: Comparison, width: int = 120) -> str:
    """The comparison as plain text."""
    return plain_text(lambda console: write(found, console), width)


def write(found: Comparison, console: Console) -> None:
    """Write the comparison to a console. Names of users are never read as markup."""
    from rich.text import Text

    metric = METRICS[found.metric].title if found.metric in METRICS else found.metric
    console.print(
        Text(
            f"{len(found.contenders)} ways to decide for {found.people:,} people, each by models that were not fitted "
            f"to them. The gap is that of {metric}, as a {found.judged_on}; 95 % intervals."
        ),
        soft_wrap=True,
    )
    unit = "gap, points" if found.judged_on == "difference" else "ratio"
    said = ("verdict", "frontier")
    first = clip(found.contenders[0].name)
    table = new_table("", "accuracy, %", f"beside {first}", unit, *said, left=said)
    gap = _points if found.judged_on == "difference" else _ratio
    for each in found.contenders:
        cells = (
            clip(each.name),
            _points(each.accuracy),
            "-" if each is found.contenders[0] else _points(each.cost, "+"),
            gap(each.gap),
            each.finding.verdict,
            "yes" if each.frontier else "",
        )
        table.add_row(*map(Text, cells))
    console.print(table)


def _points(value: Estimate, sign: str = "") -> str:
    return _told(value, lambda number: f"{100 * number:{sign}.1f}")


def _ratio(value: Estimate) -> str:
    return _told(value, lambda number: f"{number:.2f}")


def _told(value: Estimate, show: Callable[[float], str]) -> str:
    if value.low is None or value.high is None or math.isnan(value.low):
        return show(value.value)
    return f"{show(value.value)} [{show(value.low)}, {show(value.high)}]"
