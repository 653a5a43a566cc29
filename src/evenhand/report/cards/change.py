"""The cards of what changed: between two audits, between models on the same people, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.core.wording import e_figure, shown_scale
from evenhand.errors import join_names
from evenhand.report import tables
from evenhand.report.cards.card import Card, Cell, Sentence, Tone, Word, make
from evenhand.report.contest import sections, tendency
from evenhand.report.text.diff import MEANS, rank, verdicts
from evenhand.report.text.trend import gap

if TYPE_CHECKING:
    from evenhand.audits.contest import Contest
    from evenhand.audits.diff import Change, Changes
    from evenhand.audits.trend import Series, Trend

_NOTABLE = "crossed a threshold or changed beyond chance"
_TONES: dict[str, Tone] = {"worse": "fail", "better": "pass", "unclear": "not judged"}


def changes(found: Changes) -> Card:
    """What decides first, then what crossed a threshold, then what changed beyond chance."""
    people = f"{found.people[0]:,} people before, {found.people[1]:,} after"
    if found.same_people:
        people = f"the same {found.people[0]:,} people before and after"
    required = [change for change in found.changes if change.required]
    notable = [each for each in found.changes if each.required or each.crossed or each.tendency != "unclear"]
    return make(
        "Changes",
        f"{MEANS[found.verdict]}; {people}",
        ((".to_frame()", "has every change"), ("print(...)", "shows the full report")),
        word=Word(found.verdict, found.verdict),
        sentences=[Sentence(each.interpretation, f"{' × '.join(each.attributes)}:") for each in required],
        columns=("metric", "of", "before", "after", f"change [{found.confidence:.0%}]", "beyond chance", "verdict"),
        rows=[_change(each) for each in sorted(notable, key=lambda each: (not each.required, rank(each)))],
        noun=(f"that {_NOTABLE}", f"that {_NOTABLE}"),
    )


def _change(each: Change) -> list[Cell]:
    scale = shown_scale(each.judged_on, each.unit)
    figures = [tables.interval(one.value, None, None, scale) for one in (each.before, each.after)]
    moved = tables.interval(each.change.value, each.change.low, each.change.high, scale)
    way: Cell = "" if each.tendency == "unclear" else Word(each.tendency, _TONES[each.tendency])
    return [each.metric, " × ".join(each.attributes), *figures, moved, way, verdicts(each)]


def contest(found: Contest) -> Card:
    """One model against the first: the sentences of the first comparison, and the gaps that decide in each."""
    rows: list[list[Cell]] = []
    for change in found.changes.values():
        for each in change.gaps.changes:
            if each.required:
                first, *rest = _change(each)[:-2]
                word = Word(tendency(each), _TONES[each.tendency])
                rows.append([change.name, first, *rest, word])
    every = sections(found)
    sides = ("before", "after") if len(found.changes) > 1 else (found.first, next(iter(found.changes)))
    sentences = [sentence for section in every for sentence in section.sentences]
    return make(
        "Contest",
        f"{MEANS[found.verdict]}; {join_names([*found.changes], 3)} against {found.first}, {found.people:,} people",
        (('.save("contest.html")', "writes the full report to a file"), (".to_frame()", "has every measure")),
        word=Word(found.verdict, found.verdict),
        sentences=[Sentence(each) for each in sentences],
        columns=("model", "gap", "of", *sides, f"change [{found.confidence:.0%}]", "beyond chance"),
        rows=rows,
        noun=("gap that decides", "gaps that decide"),
    )


def trend(found: Trend) -> Card:
    """Whether there is an alarm, and the last period of each series; those with an alarm first."""
    silent = "no alarm so far" if found.watchful else "no alarm can be raised"
    word = Word(silent) if found.alarm is None else Word(f"alarm since {found.alarm}", "fail")
    ordered = sorted(found.series, key=lambda each: each.alarm is None)
    periods = f"{len(found.periods)} period{'s' if len(found.periods) > 1 else ''}"
    return make(
        "Trend",
        f"{periods}, {found.periods[0]} to {found.periods[-1]}, {found.cube.size:,} people",
        (
            (".audit().page()", "opens the full report here"),
            ('.save("trend.html")', "writes it to a file"),
            (".to_frame()", "has every period"),
        ),
        word=word,
        sentences=[Sentence(each.interpretation, f"{' × '.join(each.attributes)}:") for each in ordered],
        columns=("metric", "of", "last period", "people", f"value [{found.policy.confidence:.0%}]", "e-value", "alarm"),
        rows=[_series(each) for each in ordered],
        noun=("series", "series"),
    )


def _series(each: Series) -> list[Cell]:
    last = each.points[-1]
    raised: Cell = "" if each.alarm is None else Word(f"since {each.alarm}", "fail")
    on = " × ".join(each.attributes)
    return [each.metric, on, last.period, f"{last.people:,}", gap(last)[0], e_figure(last.e_value), raised]
