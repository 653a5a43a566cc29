"""Kinds of index: metrics that are one number over all groups instead of a comparison of measures between groups.

An entry of the catalogue names one of these with the function that computes it, the roles and options of that
function. The type says what the function is given; `evenhand.verdicts.finders` has a finder for each type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from evenhand.core.arrays import Floats
from evenhand.measures.base import Measure
from evenhand.measures.dependence import Statistic
from evenhand.measures.distances import Distances, Levels
from evenhand.measures.entropy import IndexValues
from evenhand.measures.group_data import BinnedScores
from evenhand.measures.scores import ScoreMeasure


@dataclass(frozen=True, kw_only=True)
class Index:
    """What every kind of index has.

    Attributes
    ----------
    needs
        The roles without which it cannot be computed.
    options
        The arguments that a caller may set, with their defaults.
    any_number
        It is also computed for predicted numbers (task "regression").
    """

    needs: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    any_number: bool = False
    within_strata: ClassVar[bool] = False
    """Is it computed within strata? Others take all strata together."""
    against_reference: ClassVar[bool] = False
    """Does it set groups against a reference, or the highest group where none is named?"""


@dataclass(frozen=True)
class CellIndex(Index):
    """Computed from the cells of all groups, [..., groups, 8], and the options; its interval comes from draws.

    With `named`, people without a group are left out: of a comparison of groups they are no part.
    """

    function: Callable[..., IndexValues]
    named: bool = False


class LogRatioIndex(CellIndex):
    """The same for the largest log ratio of selection rates, whose interval is simultaneous over all groups."""


@dataclass(frozen=True)
class _DistanceIndex(Index):
    """Computed from binned scores, the confidence of both ends and the seed."""

    function: Callable[[BinnedScores, Levels, int], Distances]


class ScoreDistance(_DistanceIndex):
    """Computed for every pair of groups from their binned scores."""


class ShiftFromEveryone(_DistanceIndex):
    """Computed for each group from the binned predictions of all."""


@dataclass(frozen=True)
class LargestLoss(Index):
    """The largest mean loss of a group; the option `loss` chooses one of the losses by name."""

    losses: Mapping[str, ScoreMeasure]


@dataclass(frozen=True)
class DependenceIndex(Index):
    """A statistic of tables [..., groups, values], judged against tables that are drawn without dependence.

    Under independence the statistic shrinks as people ** −power. `chance` gives its mean under independence, which
    is then subtracted; None leaves the statistic as it is.
    """

    statistic: Statistic
    power: float
    chance: Callable[[Floats], float] | None = None


@dataclass(frozen=True)
class ConditionalDependence(Index):
    """How much groups tell about what is decided among people with the same label, or about the label among people
    for whom the same was decided: mutual information within each, averaged over people."""

    given: Literal["label", "decision"]


@dataclass(frozen=True)
class GroupExtreme(Index):
    """The value of the group that has the least, or the most, of a measure."""

    measure: Measure
    which: Literal["min", "max"]


class DisparityIndex(Index):
    """By how much a group has a larger share of the refused than of the selected, within strata of a control."""

    within_strata: ClassVar[bool] = True


class PracticalIndex(Index):
    """By how much a group is selected less often than the reference, where its ratio to it is also below a bound."""

    against_reference: ClassVar[bool] = True


class OutcomeTestIndex(Index):
    """The robust outcome test of every ordered pair of groups; it looks at selected people whose outcome is known."""

    within_strata: ClassVar[bool] = True
