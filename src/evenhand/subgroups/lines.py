"""The lines of a search that people read: which gaps are listed, in which order, and what stands beside each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.core.results import Estimate, Panel, Row, number_or_none
from evenhand.subgroups.gaps import Judged
from evenhand.subgroups.questions import CellQuestion, Question
from evenhand.subgroups.shrinkage import shrunken_rates
from evenhand.verdicts.bounds.bounds import fold_differences

LISTED = "listed"
"""The role of the panels that hold the groups on which a verdict rests."""
MOST_LISTED = 50
MOST_OPEN = 20
MOST_SINGLE = 100
AGAINST = {"rest": "everyone else", "overall": "everyone", "score": "its mean score"}


@dataclass(frozen=True)
class Line:
    """One gap of one conjunction: `state` is "flagged", "open" or "certified"."""

    question: Question
    group: int
    name: str
    depth: int
    people: int
    """Everyone in the group; `n` are those whom the measure is about."""
    n: int
    value: float
    base: float
    gap: Estimate
    state: str
    against: str
    shrunken: float = math.nan

    @property
    def near(self) -> float:
        """How large the gap surely is."""
        low, high = self.gap.low, self.gap.high
        return 0.0 if low is None or high is None else max(low, -high, 0.0)

    @property
    def row(self) -> Row:
        """The line as a row of a finding."""
        return Row(
            self.question.name,
            (self.name,),
            bin=self.question.bin,
            against=AGAINST[self.against],
            n=self.n,
            estimate=Estimate(self.value),
            difference=self.gap,
        )

    @property
    def evidence(self) -> Row:
        """The row on which a verdict rests: its estimate is the size of the gap, which is judged."""
        low, high = (math.nan if end is None else end for end in (self.gap.low, self.gap.high))
        near, far = (float(end) for end in fold_differences(np.array(low), np.array(high)))
        return replace(self.row, estimate=Estimate.of(abs(self.gap.value), near, far))


def make_line(judged: Judged, at: int) -> Line:
    """The line of the gap at this place among those of its question."""
    gaps = judged.gaps
    group = int(gaps.which[at])
    state = "flagged" if judged.flagged[at] else "certified" if judged.certified[at] else "open"
    ends = (gaps.differences[at], judged.low[at], judged.high[at])
    return Line(
        gaps.question,
        group,
        gaps.groups.name(group),
        len(gaps.groups.values(group)),
        int(gaps.groups.people[group]),
        int(gaps.people[at]),
        float(gaps.values[at]),
        float(gaps.bases[at]),
        Estimate.of(*map(float, ends)),
        state,
        gaps.against,
    )


def ranked(every: Sequence[Judged], chosen: Callable[[Judged], Bools], most: int) -> list[Line]:
    """The lines of chosen gaps, those that are surely largest first, and of equals those with the larger estimate."""
    places = [
        (-float(judged.near[at]), -abs(float(judged.gaps.differences[at])), i, int(at))
        for i, judged in enumerate(every)
        for at in np.flatnonzero(chosen(judged))
    ]
    return [make_line(every[i], at) for *_, i, at in sorted(places)[:most]]


def flagged(every: Sequence[Judged], most: int = MOST_LISTED) -> list[Line]:
    """The flagged conjunctions that say more than those which contain them."""
    return ranked(every, lambda judged: judged.flagged & judged.says_more, most)


def still_open(every: Sequence[Judged]) -> list[Line]:
    """Those that are neither flagged nor certified, likewise."""
    return ranked(every, lambda judged: ~judged.flagged & ~judged.certified & judged.says_more, MOST_OPEN)


def single(every: Sequence[Judged]) -> list[Line]:
    """Every value of every column by itself, in the order of the columns."""
    lines = []
    for judged in every:
        groups = judged.gaps.groups
        depths = np.array([len(columns) for columns in groups.sets])[groups.set_of[judged.gaps.which]]
        lines += [make_line(judged, int(at)) for at in np.flatnonzero(depths == 1)]
    return lines[:MOST_SINGLE]


def with_shrunken(lines: Sequence[Line], every: Sequence[Judged]) -> list[Line]:
    """The lines with the shrunken gap of each, where the question is about one share of people."""
    rates: dict[int, Floats] = {}
    for judged in every:
        question = judged.gaps.question
        shares = question.shares if isinstance(question, CellQuestion) else None
        if shares is not None and any(line.question is question for line in lines):
            rates[id(question)] = shrunken_rates(judged.gaps.groups, *shares)
    found = []
    for line in lines:
        rate = float(rates[id(line.question)][line.group]) if id(line.question) in rates else math.nan
        found.append(replace(line, shrunken=rate - line.base))
    return found


def panel(title: str, lines: Sequence[Line], role: str = LISTED) -> Panel:
    """Lines as a table; columns that say nothing are left out."""
    several = len({line.question.title for line in lines}) > 1
    binned = any(line.question.bin is not None for line in lines)
    shrunken = any(not math.isnan(line.shrunken) for line in lines)
    what = "value" if several else lines[0].question.title
    columns = ["group", *(["measure"] if several else []), *(["scores"] if binned else []), "people"]
    fewer = any(line.n != line.people for line in lines)
    columns += ["measured on"] if fewer else []
    columns += ["observed rate" if binned else what, AGAINST[lines[0].against], "gap", "low", "high"]
    columns += [*(["shrunken gap"] if shrunken else []), "state"]
    rows = []
    for line in lines:
        row: list[object] = [line.name, *([line.question.title] if several else [])]
        row += [f"{line.question.bin[0]:g} to {line.question.bin[1]:g}"] if binned and line.question.bin else []
        row += [
            line.people,
            *([line.n] if fewer else []),
            line.value,
            line.base,
            line.gap.value,
            line.gap.low,
            line.gap.high,
        ]
        row += [*([number_or_none(line.shrunken)] if shrunken else []), line.state]
        rows.append(tuple(row))
    return Panel("table", title, tuple(columns), tuple(rows), role=role)
