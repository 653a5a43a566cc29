"""The first screen of a contest's page: who was compared, and for each model three sentences and what decides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.audits.model_change import ModelChange
from evenhand.core import wording
from evenhand.core.results import Estimate, Verdict
from evenhand.core.version import __version__
from evenhand.errors import join_names
from evenhand.report import contest as words
from evenhand.report import tables
from evenhand.report.contest_page import lines
from evenhand.report.page import static
from evenhand.report.summary import joined

if TYPE_CHECKING:
    from evenhand.audits.contest import Contest
    from evenhand.audits.diff import Change

MOST_CARDS = 8
_MOST_OPEN = 4
_ONE = {"pass": "passes", "fail": "fails", "inconclusive": "is inconclusive", "not judged": "is not judged"}
_BOTH = {"pass": "pass", "fail": "fail", "inconclusive": "are inconclusive", "not judged": "are not judged"}


@dataclass(frozen=True)
class Side:
    """A line of a card: a model with its value and what was judged of it, or the change."""

    name: str
    figure: str
    picture: lines.Picture | None
    word: str


@dataclass(frozen=True)
class Card:
    """A gap that decides: which way it went, both models beside the threshold, and the change on an axis of its own."""

    way: str
    on: str
    title: str
    values: str
    limit: str
    sides: tuple[Side, Side]
    axis: tuple[str, str]
    limits_at: tuple[float, ...]
    change: Side
    change_axis: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Cover:
    """One model against the first: who is affected, what was found, what is open."""

    title: str
    verdict: Verdict
    sentences: tuple[tuple[str, str], ...]
    """Each with its question."""
    cards: tuple[Card, ...]
    more_cards: int


def title(contest: Contest) -> str:
    """The models and the attributes, in one line."""
    names = [attributes[0] for attributes in words.single(contest)]
    return f"{join_names(contest.changes, 3)} against {contest.first}, by {joined(names)}"


def facts(contest: Contest, created: str) -> list[tuple[str, str]]:
    """Who and what was compared, as terms with their values."""
    audit = contest.audits[contest.first]
    known = dict(static.facts(audit, created))
    terms = [
        ("Compared with", contest.first),
        ("Models" if len(contest.changes) > 1 else "Model", ", ".join(contest.changes)),
        ("People", f"{contest.people:,}, the same for every model"),
        *((term, known.get(term)) for term in ("Groups", "Label", "Weighted by", "Date")),
    ]
    return [(term, value) for term, value in terms if value]


def covers(contest: Contest) -> list[Cover]:
    """A cover for each model but the first."""
    return [_cover(contest, change) for change in contest.changes.values()]


def _cover(contest: Contest, change: ModelChange) -> Cover:
    required = [gap for gap in change.gaps.changes if gap.required]
    cards = sorted(required, key=_evidence, reverse=True)
    return Cover(
        f"{change.name} against {contest.first}",
        change.gaps.verdict,
        (
            ("Whose decision changed", _kept_whole(_affected(contest, change))),
            ("What was found", _kept_whole(_found(contest, change, cards))),
            ("What is open", _kept_whole(_open(change, required))),
        ),
        tuple(_card(contest, change, gap) for gap in cards[:MOST_CARDS]),
        max(len(cards) - MOST_CARDS, 0),
    )


def _kept_whole(text: str) -> str:
    """A text in which no line ends between a number and its unit."""
    return re.sub(r"(\d) (%|points\b)", "\\1\u00a0\\2", text)


def _evidence(gap: Change) -> tuple[bool, float]:
    """What is worse or better comes first, then the change that is largest beside its interval."""
    moved = gap.size_change
    if not moved.defined or moved.low is None or moved.high is None:
        return False, 0.0
    width = moved.high - moved.low
    return gap.tendency != "unclear", abs(moved.value) / width if width > 0 else 0.0


def _affected(contest: Contest, change: ModelChange) -> str:
    """Whose decision changed, and in which groups beyond chance."""
    everyone = next(each for each in change.flips if not each.group and each.label is None)
    who = [
        sentence
        for attributes in words.single(contest)
        for sentence in words.who_moved(change, attributes, 1 - contest.confidence)
    ]
    return " ".join([words.flipped(everyone, contest.first, change.name), *who])


def _found(contest: Contest, change: ModelChange, required: Sequence[Change]) -> str:
    """The gap that decides with the strongest evidence, and what was judged of it; then accuracy."""
    found = []
    for gap in required[:1]:
        on = f"By {' × '.join(gap.attributes)}: {words.tendency(gap)}."
        found.append(f"{on} {gap.interpretation} {_limits(contest, change, gap)}")
    if change.accuracy is not None:
        found.append(words.accuracy(change.accuracy, contest.first, change.name, contest.confidence))
    return " ".join(found) or "Nothing decides, and there are no labels to be right about."


def _limits(contest: Contest, change: ModelChange, gap: Change) -> str:
    """What was judged of both models, against which threshold."""
    limit = f"The threshold is {_limit(gap)}; " if gap.threshold_after is not None else ""
    before, after = gap.verdict_before, gap.verdict_after
    both = f"both models {_BOTH[after]}." if before == after else ""
    return wording.capital(limit + (both or f"{contest.first} {_ONE[before]} and {change.name} {_ONE[after]}."))


def _limit(gap: Change) -> str:
    return _limit_of(gap).replace("≤", "at most").replace("≥", "at least")


def _limit_of(gap: Change) -> str:
    return tables.limit_of(gap.threshold_after, gap.judged_on, gap.unit, gap.before, gap.after)


def _bounds(gap: Change, threshold: float) -> tuple[float, ...]:
    """Where a value is no longer within the threshold: on both sides of 0 where a gap has a sign."""
    return (-threshold, threshold) if _limit_of(gap).startswith("±") else (threshold,)


def _open(change: ModelChange, required: Sequence[Change]) -> str:
    """What the data does not settle, of what decides."""
    if not required:
        return "No metric decides, so nothing is judged."
    moves = [gap for gap in required if gap.tendency == "unclear" and words.tendency(gap) != "the same"]
    within = [gap for gap in required if gap.verdict_after == "inconclusive"]
    said = []
    if moves:
        said.append(f"whether groups moved apart or together on {_listed(moves)}")
    if within:
        said.append(f"whether {change.name} is within the threshold on {_listed(within)}")
    if not said:
        return "Of what decides, nothing is open."
    return f"Open is {', and '.join(said)}. More people in the smallest groups would narrow the intervals."


def _listed(gaps: Sequence[Change]) -> str:
    """The metrics, each with its attributes: "equalized odds (sex, race)"."""
    by_title: dict[str, list[str]] = {}
    for gap in gaps:
        by_title.setdefault(gap.title, []).append(" × ".join(gap.attributes))
    return join_names([f"{title} ({join_names(on, _MOST_OPEN)})" for title, on in by_title.items()], _MOST_OPEN)


def _card(contest: Contest, change: ModelChange, gap: Change) -> Card:
    scale = wording.shown_scale(gap.judged_on, gap.unit)
    threshold = gap.threshold_after
    values = [part for one in (gap.before, gap.after) for part in lines.finite(one)]
    bounds = () if threshold is None else _bounds(gap, threshold)
    ends = [0.0, *values, *bounds]
    start, end = -_rounded(ends, scale, -1), _rounded(ends, scale, 1)
    sides = tuple(
        Side(name, _interval(one, scale), lines.draw(one, start, end), verdict)
        for name, one, verdict in (
            (contest.first, gap.before, gap.verdict_before),
            (change.name, gap.after, gap.verdict_after),
        )
    )
    size = lines.axis_end(abs(part) * scale for part in lines.finite(gap.change))
    way = words.tendency(gap)
    drawn = lines.draw(gap.change, -size / scale, size / scale)
    return Card(
        way,
        " × ".join(gap.attributes),
        wording.capital(gap.title),
        " → ".join(tables.interval(one.value, None, None, scale) for one in (gap.before, gap.after)),
        "no threshold" if threshold is None else f"threshold {_limit_of(gap)}",
        (sides[0], sides[1]),
        (f"{start * scale + 0.0:g}", f"{end * scale:g}"),  # + 0.0: an axis does not begin at -0
        tuple(lines.place(each, start, end) for each in bounds),
        Side("change", tables.change(gap.change, scale), drawn, way),
        f"{size:g}",
        gap.notes,
    )


def _rounded(ends: Sequence[float], scale: int, sign: int) -> float:
    """The round number that no end is beyond on one side of 0; 0 where none is on that side."""
    sizes = [sign * end * scale for end in ends if sign * end > 0]
    return lines.axis_end(sizes) / scale if sizes else 0.0


def _interval(value: Estimate, scale: int) -> str:
    return tables.interval(value.value, value.low, value.high, scale)


def method(contest: Contest, created: str) -> list[tuple[str, str]]:
    """How the numbers were made, as terms with their values."""
    audit = contest.audits[contest.first]
    known = dict(static.method(audit, {"evenhand": __version__, "created": created}))
    terms = [
        (
            "Intervals of changes",
            f"paired, {100 * contest.confidence:g} %; those of all groups of an attribute together",
        ),
        ("Tests of gained and lost", "McNemar's, corrected after Holm over the groups of an attribute"),
        *((term, known.get(term)) for term in ("What decides", "Groups are compared", "Smallest group for a pass")),
        *((term, known.get(term)) for term in ("Missing groups", "Page written with")),
    ]
    return [(term, value) for term, value in terms if value]
