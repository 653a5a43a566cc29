"""What changed between two audits, for a terminal or as plain text: what decides first, then what crossed a line."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.core.results import Estimate, Finding, spell
from evenhand.core.wording import clean, clip, shown_scale
from evenhand.errors import join_names
from evenhand.report import tables
from evenhand.report.text import STYLES, Screen, plain_text, say
from evenhand.report.text.columns import Columns

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.diff import Change, Changes, Member

_MOST_ROWS = 12
_MOST_NAMES = 12
_MOST_ALONE = 6  # findings, or metrics, that one side has
MEANS = {
    "fail": "something that decides got worse",
    "inconclusive": "nothing that decides is known to have got worse, but a pass was lost",
    "pass": "nothing that decides is known to have got worse",
    "not judged": "nothing decides",
}
_TENDENCIES = ("worse", "better", "unclear")


def plain(changes: Changes, screen: Screen | None = None) -> str:
    """The changes as plain text, for standard output unless another screen is given."""
    return plain_text(lambda console: write(changes, console), screen)


def write(changes: Changes, console: Console) -> None:
    """Write the changes to a console. Names of users are never read as markup."""
    verdict = (changes.verdict, f"bold {STYLES[changes.verdict]}")
    say(console, "Change: ", verdict, f" ({MEANS[changes.verdict]})")
    say(console, summary(changes))
    for change in changes.changes:
        if change.required:
            on = clip(" × ".join(change.attributes))
            words = f"{verdicts(change)}. {better_or_worse(change)}."
            say(console, f"  {on}: {words} {clean(change.interpretation)}")
            for note in change.notes:
                say(console, f"    - {clean(note)}")
    ordered = sorted(changes.changes, key=rank)
    for attributes, together in itertools.groupby(ordered, key=lambda change: change.attributes):
        _section(attributes, list(together), changes.confidence, console)
    for sentence in one_sided(changes):
        say(console, sentence)
    for note in changes.notes:
        say(console, f"- {clean(note)}")


def summary(changes: Changes) -> str:
    """Who was audited twice, and by what the change is judged."""
    by = f"; judged by {', '.join(map(clean, changes.required))}" if changes.required else ""
    people = f"{changes.people[0]:,} people before, {changes.people[1]:,} after, independent samples"
    if changes.same_people:
        people = f"The same {changes.people[0]:,} people before and after"
    return f"{people}{by}"


def better_or_worse(change: Change) -> str:
    """Whether groups are now farther apart, in words, and whether that is beyond what chance could bring about."""
    farther = change.size_change
    if not farther.defined:
        return "Not known whether better or worse"
    if farther.value == 0:
        return "Neither better nor worse"
    apart = (farther.value < 0) if change.judged_on == "ratio" else (farther.value > 0)
    word = "Worse" if apart else "Better"
    if change.tendency == word.lower():
        return f"{word}, by more than noise"
    return f"{word} as measured, but within noise"


def figure(change: Change, value: Estimate) -> str:
    """A value before or after, or a change, in the unit of the metric."""
    return tables.interval(value.value, value.low, value.high, shown_scale(change.judged_on, change.unit))


def rank(change: Change) -> tuple[Any, ...]:
    """By attributes; in each what decides, then what crossed a threshold, then what changed beyond chance."""
    place = _TENDENCIES.index(change.tendency)
    return len(change.attributes), change.attributes, not change.required, not change.crossed, place


def _section(attributes: tuple[str, ...], changes: list[Change], confidence: float, console: Console) -> None:
    notable = [change for change in changes if change.required or change.crossed or change.tendency != "unclear"]
    shown = notable[:_MOST_ROWS]
    say(console, (f"\n{clip(' × '.join(attributes), 100)}", "bold"))
    if shown:
        titles = ("metric", "before", "after", f"change [{confidence:.0%}]", "", "verdict")
        table = Columns(console, *titles, left=("", "verdict"), fold=[("verdict",), (titles[3],)])
        for change in shown:
            figures = [figure(change, replace(one, low=None, high=None)) for one in (change.before, change.after)]
            moved = figure(change, change.change)
            tendency = "" if change.tendency == "unclear" else change.tendency
            table.add([clip(change.metric), *figures, moved, tendency, verdicts(change)])
        table.show()
    if len(notable) > len(shown):
        say(console, f" {len(notable) - len(shown)} more that crossed a threshold or changed beyond chance.")
    if len(changes) > len(notable):
        say(console, f" {len(changes) - len(notable)} others changed by no more than chance could bring about.")


def one_sided(changes: Changes) -> list[str]:
    """What is only on one side."""
    lines = []
    for title, members in (("Groups that appeared", changes.appeared), ("Groups that vanished", changes.vanished)):
        if members:
            lines.append(f"{title}: {join_names(map(_member, members), _MOST_NAMES, mark='; ')}.")
    both = {change.metric for change in changes.changes}
    for title, findings in (("Only before", changes.only_before), ("Only after", changes.only_after)):
        names = dict.fromkeys(_finding(each) if each.metric in both else clip(each.metric) for each in findings)
        if names:
            lines.append(f"{title}: {join_names(names, _MOST_ALONE, mark='; ')}.")
    return lines


def _member(member: Member) -> str:
    name = spell(member[1], member[0])
    said = "" if name != spell(member[1]) else f" ({clip(' × '.join(member[0]))})"
    return f"{clip(name)}{said}"


def _finding(finding: Finding) -> str:
    return f"{clip(finding.metric)} on {clip(' × '.join(finding.attributes))} ({finding.verdict})"


def verdicts(change: Change) -> str:
    return f"{change.verdict_before} → {change.verdict_after}" if change.crossed else change.verdict_after
