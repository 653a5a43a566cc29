"""Cutoffs by group as plain text: what they keep, what they cost, and a line for each group before and after."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.core.results import figure, spell
from evenhand.core.wording import amount, clean, clip, limit_figure
from evenhand.measures.cells import MEASURES
from evenhand.report.text import Screen, plain_text, say
from evenhand.report.text.columns import Columns

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.mitigate.thresholds.rules import Rule, Thresholds

_MOST = 40


def plain(thresholds: Thresholds, screen: Screen | None = None) -> str:
    """The thresholds as plain text, for standard output unless another screen is given."""
    return plain_text(lambda console: write(thresholds, console), screen)


def write(thresholds: Thresholds, console: Console) -> None:
    """Write the thresholds to a console. Names of users are never read as markup."""
    for line in lines(thresholds):
        say(console, clean(line))
    titles = [MEASURES[name].title for name in _measures(thresholds)]
    name = " × ".join(clip(attribute) for attribute in thresholds.attributes)
    table = Columns(console, name, "people", "cutoff", *titles, fold=[titles])
    for rule in thresholds.rules[:_MOST]:
        changes = [f"{amount(rule.before[name])} → {amount(rule.after[name])}" for name in _measures(thresholds)]
        name = clip(spell(rule.group, thresholds.attributes))
        table.add([name, f"{rule.people:,}", cutoff_text(rule, thresholds.higher_is), *changes])
    table.show()
    if len(thresholds.rules) > _MOST:
        say(console, f"{len(thresholds.rules) - _MOST} more groups: see to_frame().")
    for note in thresholds.notes:
        say(console, f"- {clean(note)}")


def _measures(thresholds: Thresholds) -> list[str]:
    return list(thresholds.rules[0].after)


def lines(thresholds: Thresholds) -> list[str]:
    """What is kept, and at what cost."""
    kept = "Cutoffs by group without a constraint."
    if thresholds.constraint is not None and thresholds.within is not None:
        kept = f"Cutoffs by group that keep {thresholds.constraint} within {limit_figure(thresholds.within)}."
    rates = {"accuracy": "Accuracy", "balanced_accuracy": "Balanced accuracy"}
    name = rates.get(thresholds.objective, "Gain of a person")
    show = amount if thresholds.objective in rates else figure
    common = _cutoff(thresholds.common, thresholds.higher_is)
    lines = [
        kept,
        f"{name}: {show(thresholds.gain)}; with one cutoff of {common} for all {show(thresholds.common_gain)}, with "
        f"the best cutoff for each group {show(thresholds.best_gain)}.",
    ]
    return lines if thresholds.finding is None else [*lines, thresholds.finding.interpretation]


def cutoff_text(rule: Rule, higher_is: str) -> str:
    if len(rule.cutoffs) == 1:
        return _cutoff(rule.cutoffs[0], higher_is)
    pairs = zip(rule.cutoffs, rule.weights, strict=True)
    return ", ".join(f"{_cutoff(cutoff, higher_is)} ({100 * weight:.1f} %)" for cutoff, weight in pairs)


def _cutoff(value: float, higher_is: str) -> str:
    if math.isinf(value):
        return "everyone" if (value < 0) == (higher_is == "positive") else "nobody"
    return f"{value:.6g}"
