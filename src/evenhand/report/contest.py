"""A contest of models in words: sentences and tables, the same on a terminal and in Markdown; and its files.

`evenhand.report.contest_page` is the page, with the same sentences.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.audits.model_change import Flips, MeasureChange, ModelChange
from evenhand.core import wording
from evenhand.core.files import write_text
from evenhand.core.results import spell
from evenhand.core.wording import amount, capital, clip, distance, shown_scale
from evenhand.errors import CallError, join_names, nearest, shorten
from evenhand.report import markdown, tables
from evenhand.report.text.diff import MEANS

if TYPE_CHECKING:
    from evenhand.audits.contest import Contest
    from evenhand.audits.diff import Change

FORMS = (".html", ".json", ".md")
_TENDENCIES = {"better": "better", "worse": "worse", "unclear": "not settled"}
_MOST_ROWS = 12
_MOST_NAMES = 4


@dataclass(frozen=True)
class Sheet:
    """A table: its title, the titles of its columns, and its rows; the first column and those in `left` are text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: tuple[str, ...] = ()
    left_out: int = 0
    """Further rows, which are in the JSON file."""


@dataclass(frozen=True)
class Section:
    """One model against the first: what a reader must know, then the tables."""

    title: str
    sentences: tuple[str, ...]
    sheets: tuple[Sheet, ...]


def tendency(each: Change | MeasureChange) -> str:
    """Better, worse or not settled; "the same" where it is known to be exactly that."""
    same = (each.change.value, each.change.low, each.change.high) == (0.0, 0.0, 0.0)
    return "the same" if same else _TENDENCIES[each.tendency]


def headline(contest: Contest) -> str:
    """What the verdict means, in a sentence."""
    return f"Change: {contest.verdict} ({MEANS[contest.verdict]})"


def sections(contest: Contest) -> list[Section]:
    """A section for each model but the first."""
    return [
        Section(
            f"{each.name} against {contest.first}, on the same {contest.people:,} people",
            tuple(_sentences(contest, each)),
            tuple(_sheets(contest, each)),
        )
        for each in contest.changes.values()
    ]


def _sentences(contest: Contest, change: ModelChange) -> list[str]:
    first, name, at = contest.first, change.name, contest.confidence
    found = [] if change.accuracy is None else [accuracy(change.accuracy, first, name, at)]
    found += [_measured(each, first, name, at) for each in change.auc if not each.group]
    if change.auc_reason is not None:
        found.append(f"No change of an AUC is shown: {change.auc_reason}.")
    everyone = next(each for each in change.flips if not each.group and each.label is None)
    found.append(flipped(everyone, first, name))
    for attributes in single(contest):
        found += who_moved(change, attributes, 1 - at)
    for gap in change.gaps.changes:
        if gap.required:
            said = " ".join((gap.interpretation, *gap.notes))
            found.append(f"{' × '.join(gap.attributes)}: {tendency(gap)}. {said}")
    return found


def accuracy(each: MeasureChange, first: str, name: str, confidence: float) -> str:
    """How accuracy changed, in a sentence."""
    if not each.change.defined:
        return f"Accuracy is undefined: {each.reason}."
    return f"Accuracy: {tendency(each)}. It is {_figures(each, first, name, confidence)}"


def _measured(each: MeasureChange, first: str, name: str, confidence: float) -> str:
    title = capital(each.title)
    if not each.change.defined:
        return f"{title} is undefined: {each.reason}."
    return f"{title} is {_figures(each, first, name, confidence)}"


def _figures(each: MeasureChange, first: str, name: str, confidence: float) -> str:
    """Both values and the change."""
    low, high = each.change.low, each.change.high
    reach = "" if low is None or high is None else wording.reach((low, high), confidence, "difference")
    moved = distance(each.change.value, signed=True)
    return f"{amount(each.after)} with {name} and {amount(each.before)} with {first}: {moved}{reach}."


def flipped(each: Flips, first: str, name: str) -> str:
    """How many decisions changed, in a sentence."""
    flips = each.gained + each.lost
    if not flips:
        return f"No decision of {each.people:,} changed."
    return (
        f"{flips:,} of {each.people:,} decisions changed: {each.gained:,} gained (selected by {name} only), "
        f"{each.lost:,} lost (selected by {first} only)."
    )


def who_moved(change: ModelChange, attributes: tuple[str, ...], error: float) -> list[str]:
    """In which groups more people gained than lost, or lost than gained, beyond chance."""
    attribute = " × ".join(attributes)
    lines = [each for each in change.flips if each.attributes == attributes and each.label is None]
    sure = [each for each in lines if each.p_adjusted is not None and each.p_adjusted <= error]
    if not sure:
        tested = any(each.p_adjusted is not None and each.gained + each.lost for each in lines)
        said = f"By {attribute}: in no group did more people gain than lose, or lose than gain, beyond chance."
        return [said] if tested else []
    sides = {"gained than lost": [], "lost than gained": []}  # type: dict[str, list[str]]
    for each in sure:
        way = "gained than lost" if each.gained > each.lost else "lost than gained"
        few, many = sorted((each.gained, each.lost))
        sides[way].append(f"{spell(each.group, each.attributes)} ({many:,} against {few:,})")
    return [
        f"By {attribute}: more people {way} among {join_names(names, _MOST_NAMES, mark='; ')}."
        for way, names in sides.items()
        if names
    ]


def single(contest: Contest) -> list[tuple[str, ...]]:
    """The attributes of a contest, each by itself."""
    audit = contest.audits[contest.first]
    return [names for names in audit.attribute_sets() if len(names) == 1]


def _sheets(contest: Contest, change: ModelChange) -> list[Sheet]:
    sheets = []
    for attributes in single(contest):
        sheets += [
            _flips(change, attributes),
            _gaps(contest, change, attributes),
            *_accuracies(contest, change, attributes),
        ]
    return sheets


def _sheet(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str] = ()) -> Sheet:
    kept = tuple(tuple(row) for row in rows[:_MOST_ROWS])
    return Sheet(title, tuple(columns), kept, tuple(left), len(rows) - len(kept))


def _flips(change: ModelChange, attributes: tuple[str, ...]) -> Sheet:
    own = [each for each in change.flips if each.attributes == attributes]
    labels = list(dict.fromkeys(each.label for each in own))
    columns = ["group", "people", "gained", "lost", *(f"{label}: +/-" for label in labels if label is not None), "p"]
    cells = {(each.group, each.label): each for each in own}
    rows = []
    for group in dict.fromkeys(each.group for each in own):
        whole = cells[group, None]
        by_label = [cells[group, label] for label in labels if label is not None]
        rows.append(
            [
                spell(group, attributes),
                *(f"{number:,}" for number in (whole.people, whole.gained, whole.lost)),
                *(f"{each.gained:,}/{each.lost:,}" for each in by_label),
                "-" if whole.p_adjusted is None else p_figure(whole.p_adjusted),
            ]
        )
    return _sheet(f"Who gained and who lost, by {attributes[0]}", columns, rows)


def p_figure(value: float) -> str:
    """A p-value as tables show it."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _gaps(contest: Contest, change: ModelChange, attributes: tuple[str, ...]) -> Sheet:
    columns = ("metric", *_sides(contest, change), f"change [{contest.confidence:.0%}]", "")
    rows = []
    own = [each for each in change.gaps.changes if each.attributes == attributes]
    for each in sorted(own, key=lambda gap: not gap.required):
        scale = shown_scale(each.judged_on, each.unit)
        figures = [tables.interval(one.value, None, None, scale) for one in (each.before, each.after)]
        rows.append([each.metric, *figures, tables.change(each.change, scale), tendency(each)])
    return _sheet(f"Gaps by {attributes[0]}", columns, rows, ("",))


def _accuracies(contest: Contest, change: ModelChange, attributes: tuple[str, ...]) -> list[Sheet]:
    """Accuracy by group, and the AUC where there is one; without labels, selection rates."""
    name = "accuracy" if change.accuracy is not None else "selection_rate"
    columns = ("group", "people", *_sides(contest, change), f"change [{contest.confidence:.0%}]")
    found = []
    for lines in ([each for each in change.measures if each.measure == name], change.auc):
        own = [each for each in lines if each.attributes == attributes]
        judged = name == "accuracy"
        rows = [
            [
                spell(each.group, attributes),
                f"{each.people:,}",
                *(tables.interval(value, None, None, 100) for value in (each.before, each.after)),
                tables.change(each.change, 100),
                *([tendency(each)] if judged else []),
            ]
            for each in own
        ]
        if own:
            title = f"{capital(own[0].title)} by {attributes[0]}, %"
            found.append(_sheet(title, (*columns, *([""] if judged else [])), rows, ("",)))
    return found


def _sides(contest: Contest, change: ModelChange) -> tuple[str, str]:
    return clip(contest.first, 16), clip(change.name, 16)


# --- files


def save(contest: Contest, path: Path) -> None:
    """Write a contest; whole or not at all. The suffix decides the form."""
    if path.suffix not in FORMS:
        named = path.suffix or path.name
        raise CallError(f"a contest cannot be saved as {shorten(named)!r}; {nearest(named, FORMS)}")
    from evenhand.report import contest_page

    write_text(path, {".html": contest_page.dumps, ".json": as_json, ".md": as_markdown}[path.suffix](contest))


def as_json(contest: Contest) -> str:
    """The contest as JSON."""
    return json.dumps(contest.to_dict(), indent=1, allow_nan=False).replace("\x7f", "\\u007f") + "\n"


def as_markdown(contest: Contest) -> str:
    """The contest as Markdown; names are code, and stay names."""
    parts = [f"# {headline(contest)}"]
    for section in sections(contest):
        parts += [f"## {markdown.prose(section.title)}", "\n".join(f"- {markdown.prose(s)}" for s in section.sentences)]
        for sheet in section.sheets:
            cells = [[markdown.code(row[0], in_table=True), *row[1:]] for row in sheet.rows]
            parts += [f"### {markdown.prose(sheet.title)}", markdown.table(_titles(sheet), cells, sheet.left)]
            parts += [more(sheet)] if sheet.left_out else []
    parts += ["\n".join(f"- {markdown.prose(note)}" for note in notes(contest))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _titles(sheet: Sheet) -> list[str]:
    return [markdown.code(title, in_table=True) if title else title for title in sheet.columns]


def more(sheet: Sheet) -> str:
    """What a table leaves out."""
    return f"{sheet.left_out:,} more rows are in the JSON form."


def notes(contest: Contest) -> list[str]:
    """What holds for all models."""
    shared = [note for change in contest.changes.values() for note in change.gaps.notes]
    return list(dict.fromkeys((*contest.notes, *shared)))
