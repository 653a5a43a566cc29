"""What a search asks of every group: a measure of cells, a mean, or calibration within a bin of scores.

A question holds sums that add up over people, so that those of any group follow from those of its profiles. From the
sums of a group and of everyone else come their values with how far each may be from the truth, as in an audit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.cube.cube import Cube
from evenhand.cube.scores import log_loss
from evenhand.inference.means import SIGNED, Means
from evenhand.inference.spread import PLAIN, Bounded, Proportions, Spread, effective
from evenhand.measures import MEASURES
from evenhand.measures.cells import CELLS, CellMeasure, denominators, support
from evenhand.measures.cells import spread as spread_of_cells
from evenhand.measures.group_data import MISSING_AT_RANDOM, NEGATIVE, POSITIVE, Cells, silent_sides, without_rounding
from evenhand.measures.missing import bounded_cells, denominators_of_cells
from evenhand.measures.scores import UNMET
from evenhand.subgroups.conjunctions import Conjunctions

_N, _MASS, _SQUARED, _FIRST, _Q1, _Q2, _POSITIVE, _SCORE, _THIRD = range(9)  # fields of the sums of a mean
_ROUNDING = 1e-12


class Unlabelled(NamedTuple):
    """Gaps that are left open by labels which are missing more often for one decision than for the other.

    `which` these are; the values of each group and of everyone else whatever the labels are; and the least and the
    greatest share of each group in the denominator of everyone.
    """

    which: Bools
    values: tuple[Bounded, Bounded]
    shares: tuple[Floats, Floats]


class Question(Protocol):
    """What is asked of every group. `sums` is [profiles, fields]; all methods take such sums of any groups."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def unit(self) -> str:
        """ "rate" is shown in percent, "score" as a number."""
        ...

    @property
    def bin(self) -> tuple[float, float] | None:
        """The range of scores that it is restricted to."""
        ...

    @property
    def sums(self) -> Floats: ...

    @property
    def alone(self) -> bool:
        """Does each group have its own baseline, so that it is not compared with others?"""
        ...

    @property
    def linear(self) -> bool:
        """Is everyone's value the mean of the values of parts, weighted by `mass`?"""
        ...

    def people(self, sums: Floats) -> Floats:
        """How many people the value of each group rests on."""
        ...

    def enough(self, sums: Floats, least: int) -> Bools:
        """Which groups have enough of these people."""
        ...

    def spreads(self, mine: Floats, others: Floats) -> tuple[Spread, Spread]:
        """The values of groups and of everyone else, with how far each may be from the truth."""
        ...

    def mass(self, sums: Floats) -> Floats:
        """How much each group weighs in the mean over everyone."""
        ...

    def unlabelled(self, mine: Floats, others: Floats) -> Unlabelled | None:
        """What labels that are missing for a reason leave open; None where nothing, or where no bounds are known."""
        ...

    def noise(self) -> list[tuple[Floats, Floats]]:
        """For each component of the value the variance and the mass of each profile, if there were no gap at all."""
        ...


@dataclass(frozen=True)
class CellQuestion:
    """A measure of the cells of decisions and labels. Fields: people in the cells, and with weights Σw and Σw²."""

    row: CellMeasure
    sums: Floats
    bin: tuple[float, float] | None = None

    @classmethod
    def of(cls, cube: Cube, row: CellMeasure) -> CellQuestion:
        return cls(row, _sums_of(cube))

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def title(self) -> str:
        return self.row.title

    @property
    def unit(self) -> str:
        return self.row.unit

    @property
    def alone(self) -> bool:
        return False

    @property
    def linear(self) -> bool:
        return self.row.linear

    def people(self, sums: Floats) -> Floats:
        return np.asarray(support(sums[:, :8], self.row, silent_sides(_mass(sums))))

    def enough(self, sums: Floats, least: int) -> Bools:
        return np.asarray(self.people(sums) >= least)

    def spreads(self, mine: Floats, others: Floats) -> tuple[Spread, Spread]:
        first, second = (
            spread_of_cells(self.row, _mass(sums), sums[:, 16:] if sums.shape[1] > 8 else None)
            for sums in (mine, others)
        )
        assert first is not None and second is not None  # noqa: S101, PT018 - a total is not searched
        return first, second

    def mass(self, sums: Floats) -> Floats:
        return denominators(self.row, _mass(sums))

    def unlabelled(self, mine: Floats, others: Floats) -> Unlabelled | None:
        which = _lack_labels(mine) | _lack_labels(others)
        if "label" not in self.row.needs or not which.any():
            return None
        first, second = (bounded_cells(self.row, self._cells(sums)) for sums in (mine, others))
        assert first is not None and second is not None  # noqa: S101, PT018 - as in `spreads`
        masses = [denominators_of_cells(self.row, _mass(sums)) for sums in (mine, others)]
        shares = [own / np.maximum(own + rest, 1e-300) for own, rest in zip(masses[0], masses[1][::-1], strict=True)]
        return Unlabelled(which, (first, second), (shares[0], shares[1]))

    def _cells(self, sums: Floats) -> Cells:
        mass, squares = _mass(sums), sums[:, 16:] if sums.shape[1] > 8 else None
        return Cells(sums[:, :8], mass, squares, _mass(self.sums).sum(axis=0), silent_sides(mass))

    def noise(self) -> list[tuple[Floats, Floats]]:
        rows = [MEASURES[name] for name in self.row.of] or [self.row]
        mass, squares = _mass(self.sums), self.sums[:, 16:] if self.sums.shape[1] > 8 else self.sums
        found = []
        for row in rows:
            form = row.form
            assert form is not None  # noqa: S101 - as above
            top, rest = mass @ form.top, mass @ form.rest
            found.append((_noise(top, rest, squares @ form.top, squares @ form.rest), top + rest))
        return found

    @property
    def shares(self) -> tuple[Floats, Floats] | None:
        """Those counted and all others of each profile, for shrunken estimates; None where it is not one share."""
        form = self.row.form
        if form is None or not form.plain or self.sums.shape[1] > 8:
            return None
        return self.sums @ form.top, self.sums @ form.rest


def _mass(sums: Floats) -> Floats:
    return sums[:, 8:16] if sums.shape[1] > 8 else sums


def _lack_labels(sums: Floats) -> Bools:
    """Which groups lack labels more often for one decision than for the other, by more than chance.

    By four standard errors, because there are many groups.
    """
    cells = {name: sums[:, i] for i, name in enumerate(CELLS)}
    lost = np.stack([cells["U0"], cells["U1"]])
    decided = lost + np.stack([cells["TN"] + cells["FN"], cells["FP"] + cells["TP"]])
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.abs(np.subtract(*(lost / decided)))
        share = lost.sum(axis=0) / decided.sum(axis=0)
        chance = np.sqrt(share * (1 - share) * (1 / decided).sum(axis=0))
    return np.asarray(np.nan_to_num(apart) > MISSING_AT_RANDOM + 4 * np.nan_to_num(chance))


def silent(groups: Conjunctions, cube: Cube) -> Bools:
    """Of which groups nobody refused, and nobody selected, has a label, by more than chance; [groups, 2].

    Groups overlap: a large one, with a single refused person who lacks a label by chance, would take many others along.
    """
    if cube.meaning.task != "binary" or not cube.n[:, -1].any():
        return np.zeros((len(groups), 2), dtype=np.bool_)
    sums = groups.rolled_up(_sums_of(cube))
    return np.asarray(silent_sides(_mass(sums)) & _lack_labels(sums)[:, None])


def _sums_of(cube: Cube) -> Floats:
    parts = [cube.counts.astype(np.float64)]
    if cube.squares is not None:
        parts += [cube.cells, cube.squares]
    return np.concatenate(parts, axis=1)


def _noise(top: Floats, rest: Floats, squared_top: Floats, squared_rest: Floats) -> Floats:
    """The variance of the noise of each profile around the rate of everyone, from Σw and Σw² on both sides of it.

    Half a person more on either side, spread over all people, lets groups vary in which nobody was seen to differ.
    """
    mass, squares = top + rest, squared_top + squared_rest
    person = max(float(squares.sum()), 1e-300) / max(float(mass.sum()), 1e-300)  # the weight of one
    half = 0.5 * person / max(float(mass.sum()), 1e-300) * squares
    rate = (top.sum() + 0.5 * person) / (mass.sum() + person)
    return np.asarray((squared_top + half) * (1 - rate) ** 2 + (squared_rest + half) * rate**2)


@dataclass(frozen=True)
class MeanQuestion:
    """A mean over people. Fields: people, Σw, Σw², Σwx, Σw²x, Σw²x², and as x needs them positives, Σws and Σwx³."""

    name: str
    title: str
    sums: Floats
    span: tuple[float, float]
    growth: float
    middle: float = 0.0
    """What was taken off before summing."""
    of_label: bool = False
    """Does x depend on a label, which may be the same for all people of a group?"""
    unit: str = "score"
    bin: tuple[float, float] | None = None

    @property
    def alone(self) -> bool:
        return False

    @property
    def linear(self) -> bool:
        return True

    def people(self, sums: Floats) -> Floats:
        return sums[:, _N]

    def enough(self, sums: Floats, least: int) -> Bools:
        return np.asarray(sums[:, _N] >= least)

    def spreads(self, mine: Floats, others: Floats) -> tuple[Spread, Spread]:
        both = np.stack([mine, others], axis=1)  # a group and everyone else, each of which moderates the other
        n, mass, squared, first, q1, q2, *_ = np.moveaxis(both, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(mass > 0, first / mass, np.nan)
            squares = without_rounding(q2 - 2 * value * q1 + value**2 * squared, q2, n)
            worth = np.where(squared > 0, mass**2 / squared, 0.0)
            own = squares / squared * n / np.maximum(n - 1, 1)
            cubes = None
            if self.growth == SIGNED and both[..., _THIRD].any():
                cubes = both[..., _THIRD] / mass - 3 * value * q2 / squared + 2 * value**3
        own = np.where(own > 0, np.fmax(own, self._unmet(both, worth)), own)
        value = np.clip(value + self.middle, *self.span)  # which only rounding can leave
        means = Means.of(value, own, n, worth, self.span, growth=self.growth, cubes=cubes)
        return means.at(0), means.at(1)

    def _unmet(self, both: Floats, worth: Floats) -> Floats | float:
        """Where all labels are the same: how much x would vary if a few people had the other one."""
        if not self.of_label:
            return 0.0
        mass, positive = both[..., _MASS], both[..., _POSITIVE]
        with np.errstate(divide="ignore", invalid="ignore"):
            score = both[..., _SCORE] / mass
            apart = loss_of(self.name, score, POSITIVE) - loss_of(self.name, score, NEGATIVE)
            share = UNMET / (worth + 2 * UNMET)
            return np.where((positive <= 0) | (positive >= mass), share * (1 - share) * apart**2, 0.0)

    def mass(self, sums: Floats) -> Floats:
        return sums[:, _MASS]

    def unlabelled(self, mine: Floats, others: Floats) -> None:  # noqa: ARG002 - no bounds are known
        return None

    def noise(self) -> list[tuple[Floats, Floats]]:
        total = self.sums.sum(axis=0)
        mean = total[_FIRST] / max(total[_MASS], 1e-300)
        squared = self.sums[:, _SQUARED]
        variance = np.maximum(self.sums[:, _Q2] - 2 * mean * self.sums[:, _Q1] + mean**2 * squared, 0.0)
        if variance.sum() <= _ROUNDING * mean**2 * squared.sum():
            variance = squared  # nobody was seen to differ, which does not make any group certain
        return [(variance, self.sums[:, _MASS])]


@dataclass(frozen=True)
class _Residuals(Proportions):
    """Observed rates less mean scores: limits are those of the rate, which hold where labels are rare."""

    scores: Floats

    @cached_property
    def values(self) -> Floats:
        return self.theta - self.scores

    @property
    def centre(self) -> Floats:
        return self.values

    def lower(self, deviate: float, offset: float) -> Floats:
        return super().lower(deviate, offset) - self.scores

    def upper(self, deviate: float, offset: float) -> Floats:
        return super().upper(deviate, offset) - self.scores


class ResidualQuestion(MeanQuestion):
    """The mean of label − score. A mean of rare labels is skewed, which Student's limits do not know."""

    def spreads(self, mine: Floats, others: Floats) -> tuple[Spread, Spread]:
        first, second = (self._spread(sums) for sums in (mine, others))
        return first, second

    def _spread(self, sums: Floats) -> Spread:
        mass, squared, total = sums[:, _MASS], sums[:, _SQUARED], sums[:, _FIRST]
        with np.errstate(divide="ignore", invalid="ignore"):
            rate, score, mean = (part / mass for part in (sums[:, _POSITIVE], sums[:, _SCORE], total))
            variance = (sums[:, _Q2] - 2 * mean * sums[:, _Q1] + mean**2 * squared) / squared
            # A score that has little to do with the label makes residuals vary more than labels do.
            wider = np.fmax(variance / (rate * (1 - rate)), 1.0)
            worth = mass**2 / squared / np.where(np.isfinite(wider), wider, 1.0)
        worth = np.where(mass > 0, worth, 0.0)
        return _Residuals(np.where(mass > 0, rate * worth, 0.0), worth, PLAIN, score)


@dataclass(frozen=True)
class CalibrationQuestion:
    """Observed rate less mean score within a bin of scores.

    Fields, of the people in the bin who have a label: people, Σw of positives and of negatives, Σws, and with weights
    Σw² of positives and of negatives.
    """

    bin: tuple[float, float] | None
    sums: Floats
    name: str = "calibration_gap"
    title: str = "observed rate less mean score"
    unit: str = "rate"

    @property
    def alone(self) -> bool:
        return True

    @property
    def linear(self) -> bool:
        return True

    def people(self, sums: Floats) -> Floats:
        return sums[:, 0]

    def enough(self, sums: Floats, least: int) -> Bools:
        return np.asarray(sums[:, 0] >= least)

    def score(self, sums: Floats) -> Floats:
        """The mean score in the bin."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[:, 3] / self.mass(sums))

    def spreads(self, mine: Floats, others: Floats) -> tuple[Spread, Spread]:
        first, second = (self._rate(sums) for sums in (mine, others))
        return first, second

    def _rate(self, sums: Floats) -> Spread:
        top, rest = sums[:, 1], sums[:, 2]
        weighted = sums.shape[1] > 4
        k, n = effective(top, rest, sums[:, 4], sums[:, 5]) if weighted else (top, top + rest)
        return Proportions(k, n, PLAIN)

    def mass(self, sums: Floats) -> Floats:
        return np.asarray(sums[:, 1] + sums[:, 2])

    def unlabelled(self, mine: Floats, others: Floats) -> None:  # noqa: ARG002 - no bounds are known
        return None

    def noise(self) -> list[tuple[Floats, Floats]]:
        sides = self.sums[:, 1:3].T
        squares = self.sums[:, 4:].T if self.sums.shape[1] > 4 else sides
        return [(_noise(*sides, *squares), self.mass(self.sums))]


def loss_of(name: str, score: Floats, label: Any) -> Floats:
    """What one person with this score and label adds to a mean."""
    y = (np.asarray(label) == POSITIVE).astype(np.float64)
    if name == "log_loss":
        return log_loss(np.asarray(score), np.broadcast_to(np.asarray(label), np.shape(score)))
    return np.asarray((score - y) ** 2 if name == "brier_score" else y - score)
