"""The gap of every conjunction in one question, with limits that hold for all conjunctions and questions together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices
from evenhand.inference import critical, maxima
from evenhand.inference.simultaneous import at_deviate, at_deviate_alone
from evenhand.inference.spread import Spread
from evenhand.subgroups.conjunctions import Conjunctions
from evenhand.subgroups.questions import CalibrationQuestion, Question, Unlabelled
from evenhand.verdicts.bounds.bounds import deciding_ends, fold_differences
from evenhand.verdicts.verdict import beyond, within

Against = Literal["rest", "overall", "score"]
MOST_PROFILES = 100_000
"""Of more profiles the deviate is Šidák's, which needs no draws."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Gaps:
    """One question asked of every conjunction; arrays are of those in `which`, that have enough people for it."""

    groups: Conjunctions
    question: Question
    against: Against
    which: Indices
    people: Floats
    values: Floats
    bases: Floats
    differences: Floats
    spreads: tuple[Spread, Spread]
    shares: Floats | None
    unlabelled: Unlabelled | None

    @classmethod
    def of(cls, groups: Conjunctions, question: Question, against: Against, least: int) -> Gaps:
        """The gaps of the conjunctions that have at least `least` people whom the question is about."""
        mine = groups.rolled_up(question.sums)
        others = question.sums.sum(axis=0) - mine
        others = np.where(question.sums.min(axis=0) >= 0, np.maximum(others, 0.0), others)  # rounding of weights
        enough = question.enough(mine, least)
        if not question.alone:
            enough = enough & (question.people(others) >= 1)
        first, second = question.spreads(mine, others)
        enough = enough & np.isfinite(first.values) & (question.alone | np.isfinite(second.values))
        which = np.flatnonzero(enough)
        mine, others = mine[which], others[which]
        spreads = question.spreads(mine, others)
        values = spreads[0].values
        shares = None
        if isinstance(question, CalibrationQuestion):
            bases = question.score(mine)
        elif against == "overall":
            mass = question.mass(mine)
            shares = mass / (mass + question.mass(others))
            bases = shares * values + (1 - shares) * spreads[1].values
        else:
            bases = spreads[1].values
        people = question.people(mine)
        unlabelled = question.unlabelled(mine, others)
        return cls(groups, question, against, which, people, values, bases, values - bases, spreads, shares, unlabelled)

    def ends(self, deviate: float) -> tuple[Floats, Floats]:
        """The ends of each gap that decide, at a deviate that holds for all."""
        if self.question.alone:
            near, far = (
                (low - self.bases, high - self.bases) for low, high in at_deviate_alone(self.spreads[0], deviate)
            )
        else:
            near, far = at_deviate(*self.spreads, deviate, self.shares)
        return deciding_ends(near, far, self.differences, 0.0)

    def whatever_labels(self, deviate: float) -> tuple[Bools, Floats, Floats] | None:
        """Which gaps labels that are missing for a reason leave open, and ends that hold whatever these labels are."""
        found = self.unlabelled
        if found is None:
            return None
        shares: Sequence[Floats | None] = (None,) if self.shares is None else found.shares
        every = [deciding_ends(*at_deviate(*found.values, deviate, each), self.differences, 0.0) for each in shares]
        return found.which, np.min([low for low, _ in every], axis=0), np.max([high for _, high in every], axis=0)

    def maxima(self, draws: int, random: np.random.Generator) -> Floats:
        """The largest studentised gap in each of so many draws in which no group differs."""
        noise, order = self.question.noise(), self.groups.profiles.order
        masses = [mass for _, mass in noise]
        mine = self.groups.rolled_up(np.stack(masses, axis=1))
        compared = np.zeros(len(self.groups), dtype=np.bool_)
        compared[self.which] = True

        def sets() -> Iterator[maxima.Overlapping]:
            starts = self.groups.starts
            for at in range(len(self.groups.sets)):
                part = slice(starts[at], starts[at + 1])
                with np.errstate(divide="ignore"):
                    inside = [np.where(mine[part, i] > 0, 1 / mine[part, i], 0.0) for i in range(len(masses))]
                    rest = [np.maximum(mass.sum() - mine[part, i], 0.0) for i, mass in enumerate(masses)]
                    outside = [np.where((each > 0) & (not self.question.alone), 1 / each, 0.0) for each in rest]
                yield maxima.Overlapping(self.groups.place(at)[order], inside, outside, compared[part])

        return maxima.largest([variance[order] for variance, _ in noise], sets, draws, random)


@dataclass(frozen=True)
class Judged:
    """Gaps with their ends at the common deviate, and what they come to against a threshold."""

    gaps: Gaps
    low: Floats
    high: Floats
    threshold: float

    @classmethod
    def of(cls, gaps: Gaps, deviate: float, threshold: float, *, bounds: bool = True) -> Judged:
        """Gaps judged at a deviate; with `bounds`, those that are not flagged hold whatever missing labels are."""
        judged = cls(gaps, *gaps.ends(deviate), threshold)
        wide = gaps.whatever_labels(deviate) if bounds else None
        if wide is None:
            return judged
        which, low, high = wide
        wider = which & ~judged.flagged
        low, high = np.where(wider, low, judged.low), np.where(wider, high, judged.high)
        return cls(gaps, low, high, threshold)

    @cached_property
    def flagged(self) -> Bools:
        """Which gaps surely lie beyond the threshold."""
        return beyond(self.low, self.high, self.threshold, "difference")

    @cached_property
    def certified(self) -> Bools:
        """Which surely lie within it."""
        return within(self.low, self.high, self.threshold, "difference")

    @cached_property
    def near(self) -> Floats:
        """How large each gap surely is."""
        return fold_differences(self.low, self.high)[0]

    @cached_property
    def far(self) -> Floats:
        """How large it may be."""
        return fold_differences(self.low, self.high)[1]

    @cached_property
    def says_more(self) -> Bools:
        """Whether more is sure of a gap than of that of every conjunction that contains it, and nothing is said twice.

        Of conjunctions with the same people the first is listed.
        """
        return self._more & ~self.gaps.groups.repeated[self.gaps.which]

    @property
    def twice(self) -> Bools:
        """Which gaps would be listed if another conjunction did not have the same people."""
        return self._more & ~self.says_more

    @cached_property
    def _more(self) -> Bools:
        """Whether more is sure of a gap than of that of every conjunction that contains it.

        That is whether its near end lies farther out, on its side. It is a rule for what is listed and not a test of
        the two gaps against each other. Of the two values of a column, whose gaps are mirror images, the surer one is
        listed, and of equals the one with fewer people.
        """
        groups = self.gaps.groups
        low, high = (np.full(len(groups), np.nan) for _ in range(2))
        low[self.gaps.which], high[self.gaps.which] = self.low, self.high
        more = np.zeros(len(groups), dtype=np.bool_)
        more[self.gaps.which] = True
        up = np.zeros(len(groups), dtype=np.bool_)
        up[self.gaps.which] = self.gaps.differences >= 0
        own = np.where(up, low, -high)
        for children, parents in groups.containing(self.gaps.which):
            theirs = np.where(up[children], low[parents], -high[parents])
            more[children] &= ~(own[children] <= theirs + _ROUNDING)
        if not self.gaps.question.alone:
            more &= ~self._mirrored
        return more[self.gaps.which]

    @property
    def _mirrored(self) -> Bools:
        """Which conjunctions are one of the two values of a column, where the other one says as much or more."""
        groups = self.gaps.groups
        mirrored = np.zeros(len(groups), dtype=np.bool_)
        near = np.full(len(groups), np.nan)  # of those that are compared: without the other one, nothing mirrors a gap
        near[self.gaps.which] = self.near
        for at, columns in enumerate(groups.sets):
            one = int(groups.starts[at])
            if len(columns) == 1 and len(groups.profiles.values[columns[0]]) == 2 and len(groups.keys[at]) == 2:
                apart, more = near[one] - near[one + 1], groups.people[one] >= groups.people[one + 1]
                if not np.isnan(apart):
                    first = more if abs(apart) <= _ROUNDING else apart < 0
                    mirrored[one if first else one + 1] = True
        return mirrored


def common_deviate(every: Sequence[Gaps], confidence: float, draws: int, random_state: int) -> tuple[float, int]:
    """The deviate at which the ends of all gaps hold together, and how many draws it comes from (0: Šidák's)."""
    count = sum(len(gaps.which) for gaps in every)
    profiles = len(every[0].groups.profiles.people)
    if profiles > MOST_PROFILES or draws == 0 or count == 1:
        return critical.sidak(count, confidence), 0
    random = np.random.default_rng(random_state)
    largest = np.zeros(draws)
    for gaps in every:
        if len(gaps.which):
            np.maximum(largest, gaps.maxima(draws, random), out=largest)
    return maxima.deviate(largest, count, confidence), draws
