"""Measure: the interface of every kind of measure, whether it is made of cells, scores, classes or rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.inference.spread import Spread
from evenhand.measures.group_data import SIDES, GroupData, Side

MadeOf = Literal["cells", "rates", "scores", "classes", "rows"]


class Measure(Protocol):
    """A number for one group, which is computed for all groups at once."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def unit(self) -> str:
        """ "rate" is shown in percent, "score" on the scale of the score, "ratio" and "number" as they are."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """The roles without which the measure has no value."""
        ...

    @property
    def made_of(self) -> MadeOf:
        """What the measure is computed from. Only "rows" cannot be computed from a cube."""
        ...

    @property
    def labels_of(self) -> tuple[Side, ...]:
        """The sides of a decision on whose labels it rests: where nobody on such a side has one, it is undefined."""
        ...

    def settled(self, side: Side) -> float | None:
        """The value of any group in which everybody is on this side of the decision; None where labels matter."""
        ...

    @property
    def bin(self) -> tuple[float, float] | None:
        """The range of scores or outcomes that the measure is restricted to."""
        ...

    @property
    def of_class(self) -> str | None:
        """The class that is set against all others."""
        ...

    @property
    def judged(self) -> bool:
        """Does the measure take part in a verdict, or is it only shown?"""
        ...

    @property
    def linear(self) -> bool:
        """Is everyone's value the mean of the groups' values, weighted by `mass`?"""
        ...

    @property
    def tasks(self) -> frozenset[str]:
        """The kinds of prediction that it is for."""
        ...

    @property
    def probability(self) -> bool:
        """Does it compare the score with what happened, and so need a score between 0 and 1?"""
        ...

    @property
    def in_score_units(self) -> bool:
        """Is the value on the scale of the score?"""
        ...

    def spread(self, data: GroupData) -> Spread | None:
        """The values of all groups with how far each may be from the truth; None where that is not known."""
        ...

    def values(self, data: GroupData, spread: Spread | None) -> Floats:
        """The value of each group; NaN where it is undefined. `spread` is what `spread(data)` returned."""
        ...

    def support(self, data: GroupData, spread: Spread | None) -> Array:
        """How many people the value of each group rests on."""
        ...

    def mass(self, data: GroupData) -> Floats:
        """How much each group weighs in the mean over everyone, by weight; only for a measure that is `linear`."""
        ...

    def signed(self, data: GroupData) -> bool:
        """Can a value be negative? Then a ratio has a meaning only where all values are above 0."""
        ...

    def grid_error(self, data: GroupData) -> Floats | None:
        """How far the value of each group may be off because scores share bins; None where they make no difference."""
        ...

    def reason(self, group: str) -> str:
        """Why the measure is undefined for a group."""
        ...


@dataclass(frozen=True, kw_only=True)
class MeasureDefaults:
    """What holds for a measure unless its kind says otherwise: all numbers come from its spread."""

    bin: tuple[float, float] | None = field(default=None, repr=False)
    of_class: str | None = field(default=None, repr=False)
    judged: bool = field(default=True, repr=False)
    probability: bool = field(default=False, repr=False)
    in_score_units: bool = field(default=False, repr=False)

    @property
    def labels_of(self) -> tuple[Side, ...]:
        return ()

    def settled(self, side: Side) -> float | None:  # noqa: ARG002 - most measures are not of decisions
        return None

    def values(self, data: GroupData, spread: Spread | None) -> Floats:
        return np.full(data.groups, np.nan) if spread is None else spread.values

    def support(self, data: GroupData, spread: Spread | None) -> Array:
        return np.zeros(data.groups) if spread is None else np.floor(spread.sizes + 1e-9)

    @property
    def linear(self) -> bool:
        return False

    def mass(self, data: GroupData) -> Floats:
        return np.full(data.groups, np.nan)

    def signed(self, data: GroupData) -> bool:  # noqa: ARG002 - most measures are never negative
        return False

    def grid_error(self, data: GroupData) -> Floats | None:  # noqa: ARG002 - only scores have bins
        return None


class Evaluated(NamedTuple):
    """A measure of all groups: how far each value may be from the truth, the values, and the people they rest on."""

    spread: Spread | None
    values: Floats
    support: Array


def evaluate(measure: Measure, data: GroupData) -> Evaluated:
    """A measure of all groups of the data, which is computed when it is first asked for."""
    found = data.evaluated.get(measure)
    if not isinstance(found, Evaluated):
        spread = measure.spread(data)
        found = Evaluated(spread, measure.values(data, spread), measure.support(data, spread))
        for part in found[1:]:
            part.setflags(write=False)  # everybody reads the same
        data.evaluated[measure] = found
    return found


def undefined_reason(measure: Measure, data: GroupData, place: int, group: str, people: int) -> str:
    """Why a measure is undefined for the group that stands at this place of the data.

    `people` are those that it rests on, whose weights may all be 0.
    """
    if measure.labels_of:  # else its class may be one of scores, which have no side of a decision
        silent = data.silence(measure.of_class)[place]
        lacking = [side for side in measure.labels_of if silent[SIDES.index(side)]]
        if len(lacking) == 1:  # with none on either side the group has no labels at all, which the measure itself says
            return no_labels(lacking[0], group, measure.of_class)
    return measure.reason(group) + (" with a weight above 0" if data.weighted and people > 0 else "")


def no_labels(side: Side, group: str, of_class: str | None = None) -> str:
    """That nobody on one side of a decision has a label, in words.

    >>> no_labels("refused", "b"), no_labels("refused", "b", "gold")
    ('nobody who was refused among b has a label', "nobody who was not predicted 'gold' among b has a label")
    """
    was = str(side) if of_class is None else f"{'not ' if side == 'refused' else ''}predicted {of_class!r}"
    return f"nobody who was {was} among {group} has a label"
