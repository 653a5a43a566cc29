"""The sentence and the notes of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core import wording
from evenhand.core.arrays import Bools
from evenhand.core.results import Verdict
from evenhand.errors import as_typed, join_names
from evenhand.subgroups import gaps
from evenhand.subgroups.conjunctions import Conjunctions
from evenhand.subgroups.gaps import Judged
from evenhand.subgroups.lines import AGAINST, MOST_LISTED, MOST_OPEN, Line
from evenhand.subgroups.questions import Question

_NAMED = 6
_ONE_SIDE = "Nobody on one side of the decision has a label there"
_BASE = {**AGAINST, "score": "the mean score"}


@dataclass(frozen=True)
class Counts:
    """How many groups were looked at, and what they came to; a group is certified where all its gaps are."""

    groups: int
    gaps: int
    flagged: int
    certified: int

    @classmethod
    def of(cls, every: Sequence[Judged]) -> Counts:
        count = len(every[0].gaps.groups)
        looked, flagged, uncertain = (np.zeros(count, dtype=np.bool_) for _ in range(3))
        for judged in every:
            which = judged.gaps.which
            looked[which] = True
            flagged[which] |= judged.flagged
            uncertain[which] |= ~judged.certified
        gaps = sum(len(judged.gaps.which) for judged in every)
        certified = 0 if unmeasured(every) else int((looked & ~uncertain).sum())
        return cls(int(looked.sum()), gaps, int(flagged.sum()), certified)

    @property
    def open(self) -> int:
        return self.groups - self.flagged - self.certified


def unmeasured(every: Sequence[Judged]) -> list[Question]:
    """The rates or means of a metric of several that no group has enough people for; a bin of scores may have none."""
    return [judged.gaps.question for judged in every if not len(judged.gaps.which) and not judged.gaps.question.alone]


def sentence(
    line: Line, counts: Counts, decided: Verdict, threshold: float, confidence: float, least: int, *, listed: bool
) -> str:
    """What was found, on how many groups, with the group on which the verdict rests. Is any that is open `listed`?"""
    limit = wording.distance(threshold, line.question.unit)
    of_size, about = f"of at least {least:,} people", _about(line, confidence)
    apart = f"{_differ(counts.flagged)} from {_BASE[line.against]} by more than {limit}"
    if decided == "pass":
        groups = "The one group" if counts.groups == 1 else f"All {counts.groups:,} groups"
        within = f"surely {_differ(counts.groups)} from {_BASE[line.against]} by at most {limit}"
        return f"{groups} {of_size} {within}. The one that may differ most: {about}."
    do, are = "does" if counts.certified == 1 else "do", "is" if counts.open == 1 else "are"
    rest = f"{counts.certified:,} surely {do} not, and {counts.open:,} {are} open"
    looked = f"Of {wording.counted(counts.groups, 'group')} {of_size}"
    if decided == "fail":
        return f"{looked}, {counts.flagged:,} surely {apart}, {rest}. The surest: {about}."
    first = "The surest of these" if line.near > 0 else "The one that is listed first"
    first = first if listed else "The one that may differ most"
    shown = f"none is shown to differ from {_BASE[line.against]} by more than {limit}"
    return f"{looked}, {shown}: {rest}. {first}: {about}."


def confirmed(
    line: Line, chosen: int, sure: int, looked: int, decided: Verdict, threshold: float, confidence: float
) -> str:
    """The same where one half of the people chose groups and the other half was asked about them."""
    limit = f"from {_BASE[line.against]} by more than {wording.distance(threshold, line.question.unit)}"
    beginning = (
        f"Of {wording.counted(looked, 'group')}, half of the people pointed to {chosen:,}, and the other half was "
        f"asked about {'it' if chosen == 1 else 'these'}"
    )
    told = f"{sure:,} surely {_differ(sure)}" if decided == "fail" else "none is shown to differ"
    first = "The surest" if line.near > 0 else "The one that is listed first"
    return f"{beginning}: {told} {limit}. {first}: {_about(line, confidence)}."


def _differ(groups: int) -> str:
    return "differs" if groups == 1 else "differ"


def _about(line: Line, confidence: float) -> str:
    """One group with its value, its gap, and the interval that holds for all groups together."""
    question, gap = line.question, line.gap
    side = "above" if gap.value >= 0 else "below"
    low, high = (0.0 if end is None else end for end in (gap.low, gap.high))
    ends = (low, high) if gap.value >= 0 else (-high, -low)
    kind = "difference" if question.unit == "rate" else "value"
    interval = wording.reach(ends, confidence, kind, question.unit)  # type: ignore[arg-type]
    interval = f"{interval[:-1]}, for all groups together)" if interval else ""
    size = wording.distance(abs(gap.value), question.unit)
    value, people = wording.amount(line.value, question.unit), f"{line.name} (n = {line.n:,})"
    if question.alone:
        low_bin, high_bin = question.bin or (0.0, 1.0)
        return (
            f"{people}: at scores from {low_bin:g} to {high_bin:g}, {value} turn out positive, {size} {side} the mean "
            f"score{interval}"
        )
    return f"{people}: the {question.title} is {value}, {size} {side} that of {AGAINST[line.against]}{interval}"


def notes(
    every: Sequence[Judged],
    counts: Counts,
    listed: tuple[Sequence[Line], Sequence[Line]],
    settings: tuple[int, int, int],
    draws: int,
    deviate: float,
) -> list[str]:
    """How groups were made and judged.

    Parameters
    ----------
    listed
        The lines beyond the threshold, and those that are open.
    settings
        Depth, least and how many columns.
    """
    depth, least, columns = settings
    groups = every[0].gaps.groups
    names = join_names(groups.profiles.columns, 6)
    fewer = len(groups) - counts.groups
    others = f" Another {fewer:,} {'has' if fewer == 1 else 'have'} as many people, but fewer whom it is about."
    asked = "" if counts.gaps == counts.groups else f" in {counts.gaps:,} gaps"
    found = [
        f"Looked at: every group that the values of up to {min(depth, columns)} of {names} make, with at least "
        f"{least:,} people whom the measure is about: {counts.groups:,}{asked}.{others if fewer else ''}",
        *_few(every, counts, least),
    ]
    if draws:
        found.append(
            f"The intervals hold for all of them together: each reaches {deviate:.2f} standard errors, which the "
            f"largest of all gaps stays below in {draws:,} draws over {len(groups.profiles.people):,} profiles."
        )
    elif len(groups.profiles.people) > gaps.MOST_PROFILES:
        found.append(
            f"The intervals hold for all of them together, by Bonferroni's deviate ({deviate:.2f}): there are more "
            f"than {gaps.MOST_PROFILES:,} profiles, too many to draw."
        )
    elif counts.gaps > 1:
        found.append(f"The intervals hold for all of them together, by Šidák's deviate ({deviate:.2f}).")
    found += _listing(every, *listed)
    missing = [
        name for name, values in zip(groups.profiles.columns, groups.profiles.values, strict=True) if None in values
    ]
    if missing:
        drop = as_typed("missing='drop'", "--missing drop")
        found.append(
            f"Values are missing in {join_names(missing, 6)}; people without one are searched too, unless {drop}."
        )
    return found


def _few(every: Sequence[Judged], counts: Counts, least: int) -> list[str]:
    """What was not looked at, of bins of scores or of several rates, because too few people are in it."""
    empty = [judged.gaps.question for judged in every if not len(judged.gaps.which)]
    if every[0].gaps.question.alone:
        return [f"{len(empty)} of {len(every)} bins of scores have no group of {least:,} people."] if empty else []
    found = [
        f"No group has {least:,} people whom the {question.title} is about, so that the search cannot pass: lower "
        f"{as_typed('least=', '--least')}, or search another {as_typed('metric=', '--metric')}."
        for question in empty
    ]
    for judged in every:
        size = len(judged.gaps.which)
        if 0 < size < counts.groups:
            found.append(
                f"The {judged.gaps.question.title} was looked at in {size:,} of {counts.groups:,} groups: the others "
                f"have fewer than {least:,} people whom it is about."
            )
    return found


def without(groups: Conjunctions, which: Bools) -> str:
    """Who takes no part, neither in a group nor among those it is compared with; groups within others go unnamed."""
    out, covered, names = groups.belonging(which), np.zeros(len(groups.profiles.people), dtype=np.bool_), []
    for one in np.flatnonzero(which).tolist():
        at = groups.set_of[one]
        own = groups.place(at) == one - groups.starts[at]
        if (own & ~covered).any():
            names.append(groups.name(one))
            covered |= own
        if len(names) > _NAMED or (covered == out).all():
            break
    whom = join_names(names[:_NAMED], _NAMED, mark="; ") + (" and others" if len(names) > _NAMED else "")
    people = wording.number_of(float(groups.profiles.people[out].sum()), "person", "people")
    return f"Left out of all groups, and of those they are compared with: {people} of {whom}. {_ONE_SIDE}."


def on_labels(every: Sequence[Judged]) -> list[str]:
    """What missing labels were taken for."""
    wider = [judged.gaps.unlabelled for judged in every if judged.gaps.unlabelled is not None]
    if not wider:
        return ["Labels that are missing are taken as missing at random."]
    count = sum(int(found.which.sum()) for found in wider)
    return [
        "Labels are missing more often for one decision than for the other, which matters to "
        f"{wording.counted(count, 'gap')}. A group is flagged by the labels that are there; all other intervals hold "
        "whatever the missing ones are."
    ]


def _listing(every: Sequence[Judged], beyond: Sequence[Line], still_open: Sequence[Line]) -> list[str]:
    """Which of all gaps are listed."""
    flagged = sum(int(judged.flagged.sum()) for judged in every)
    unsure = sum(int((~judged.flagged & ~judged.certified).sum()) for judged in every)
    parts = [
        f"{len(lines):,} of {wording.counted(size, 'gap')} {which}{f' (at most {most})' if len(lines) == most else ''}"
        for lines, size, which, most in (
            (beyond, flagged, "beyond the threshold", MOST_LISTED),
            (still_open, unsure, "that are open" if unsure != 1 else "that is open", MOST_OPEN),
        )
        if size
    ]
    if not parts:
        return []
    said = (
        f"Listed: {', and '.join(parts)}. A group is listed only if more is sure of it than of every group that "
        "contains it."
    )
    if any((judged.twice & ~judged.certified).any() for judged in every):
        said += " Of groups that have the same people, the first is listed."
    if any(not math.isnan(line.shrunken) for line in (*beyond, *still_open)):
        said += " The shrunken gap borrows from groups with the same values; it decides nothing."
    return [said]
