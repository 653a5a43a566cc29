"""The sentence and the notes of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core import wording
from evenhand.core.results import Verdict
from evenhand.errors import as_typed, join_names
from evenhand.subgroups import gaps
from evenhand.subgroups.gaps import Judged
from evenhand.subgroups.lines import AGAINST, MOST_LISTED, Line


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
        return cls(int(looked.sum()), gaps, int(flagged.sum()), int((looked & ~uncertain).sum()))

    @property
    def open(self) -> int:
        return self.groups - self.flagged - self.certified


def sentence(line: Line, counts: Counts, decided: Verdict, threshold: float, confidence: float, least: int) -> str:
    """What was found, on how many groups, with the group on which the verdict rests."""
    limit = wording.distance(threshold, line.question.unit)
    groups = "the one group" if counts.groups == 1 else f"{counts.groups:,} groups"
    looked, about = f"{groups} of at least {least:,} people", _about(line, confidence)
    if decided == "fail":
        lies = "lies" if counts.flagged == 1 else "lie"
        return f"Of {looked}, {counts.flagged:,} {lies} more than {limit} away. The surest: {about}."
    if decided == "pass":
        return f"All of {looked} lie within {limit}. The one that may lie farthest: {about}."
    rest = f"{counts.certified:,} lie within that, and {counts.open:,} are open"
    return f"Of {looked}, none is shown to lie more than {limit} away; {rest}. The surest of these: {about}."


def confirmed(
    line: Line, chosen: int, sure: int, looked: int, decided: Verdict, threshold: float, confidence: float
) -> str:
    """The same where one half of the people chose groups and the other half was asked about them."""
    limit = wording.distance(threshold, line.question.unit)
    groups = wording.counted(chosen, "group")
    beginning = (
        f"Of {looked:,} groups, half of the people pointed to {groups}, and the other half was asked about these"
    )
    if decided == "fail":
        told = f"{sure:,} {'lies' if sure == 1 else 'lie'} more than {limit} away"
        return f"{beginning}: {told}. The surest: {_about(line, confidence)}."
    return f"{beginning}: none is shown to lie more than {limit} away. The surest: {_about(line, confidence)}."


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
    every: Sequence[Judged], counts: Counts, listed: int, settings: tuple[int, int, int], draws: int, deviate: float
) -> list[str]:
    """How groups were made and judged; `settings` are depth, least and how many columns."""
    depth, least, columns = settings
    groups = every[0].gaps.groups
    names = join_names(groups.profiles.columns, 6)
    found = [
        f"Looked at: every group that the values of up to {min(depth, columns)} of {names} make, with at least "
        f"{least:,} people whom the measure is about: {counts.groups:,} groups, {counts.gaps:,} gaps. Beyond the "
        f"threshold {counts.flagged:,}, within it {counts.certified:,}, open {counts.open:,}."
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
    if counts.flagged:
        most = f" (the first {MOST_LISTED})" if listed == MOST_LISTED else ""
        found.append(
            f"Listed{most}: of groups beyond the threshold those whose gap is surely larger than that of every group "
            "which contains them. The shrunken gap borrows from groups with the same values; it decides nothing."
        )
    missing = [
        name for name, values in zip(groups.profiles.columns, groups.profiles.values, strict=True) if None in values
    ]
    if missing:
        drop = as_typed("missing='drop'", "--missing drop")
        found.append(
            f"Values are missing in {join_names(missing, 6)}; people without one are searched too, unless {drop}."
        )
    return found
