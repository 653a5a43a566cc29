"""A comparison of ways to decide as plain text: a line for each, and what the frontier is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from evenhand.catalogue import METRICS
from evenhand.core.results import Estimate
from evenhand.core.wording import clip
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
    unit = "gap, points" if comparison.judged_on == "difference" else "ratio"
    said = ("verdict", "frontier")
    first = clip(comparison.contenders[0].name)
    numbers = ("accuracy, %", f"beside {first}", unit)
    table = Columns(console, "", *numbers, *said, left=said, fold=numbers)
    gap = _points if comparison.judged_on == "difference" else _ratio
    for each in comparison.contenders:
        cost = "-" if each is comparison.contenders[0] else _points(each.cost, "+")
        shown = (clip(each.name), _points(each.accuracy), cost, gap(each.gap))
        table.add([*shown, each.finding.verdict, "yes" if each.frontier else ""])
    table.show()


def _points(value: Estimate, sign: str = "") -> str:
    return _with_interval(value, lambda number: f"{100 * number:{sign}.1f}")


def _ratio(value: Estimate) -> str:
    return _with_interval(value, lambda number: f"{number:.2f}")


def _with_interval(value: Estimate, show: Callable[[float], str]) -> str:
    if value.low is None or value.high is None or math.isnan(value.low):
        return show(value.value)
    return f"{show(value.value)} [{show(value.low)}, {show(value.high)}]"
