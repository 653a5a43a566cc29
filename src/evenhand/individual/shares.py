"""Shares for each group: of decisions that agree with those of similar people, and of pairs that are treated alike.

Arrays only. `codes` is the group of each person; people who are compared with nobody are left out of the shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Bools, Floats, Ints
from evenhand.individual import jackknife
from evenhand.individual.pairs import Similar
from evenhand.individual.worst_pairs import Worst


@dataclass(frozen=True)
class Figures:
    """A share for each group, and last for everyone, with standard error, number of people, degrees of freedom."""

    values: Floats
    errors: Floats
    sizes: Floats
    freedom: Floats

    @classmethod
    def from_moves(cls, values: Floats, sizes: Floats, moves: Floats, twice: Floats) -> Figures:
        """Figures with jackknife errors; `moves` is how far each figure moves without each person, everyone last."""
        parts = (jackknife.errors(moves[:, part], twice[part]) for part in (slice(0, -1), slice(-1, None)))
        errors, freedom = (np.concatenate(both) for both in zip(*parts, strict=True))
        return cls(values, np.where(sizes > 1, errors, np.nan), sizes, freedom)

    @property
    def groups(self) -> jackknife.Dependent:
        return jackknife.Dependent(self.values[:-1], self.errors[:-1], self.sizes[:-1], self.freedom[:-1])

    @property
    def everyone(self) -> jackknife.Dependent:
        return jackknife.Dependent(self.values[-1:], self.errors[-1:], self.sizes[-1:], self.freedom[-1:])


@dataclass(frozen=True)
class Agreement:
    """Consistency of each group, the people without a neighbour, identical pairs decided differently, worst pairs."""

    figures: Figures
    alone: int
    identical: int
    worst: Worst


def consistency(
    similar: Similar, decisions: Floats, codes: Ints, groups: int, *, include_self: bool, most: int
) -> Agreement:
    """1 − the mean of |decision − mean decision of the neighbours|, for each group.

    Decisions are 0 or 1, so that this distance is the share of one's neighbours who were decided differently.
    """
    people = len(decisions)
    differing, count = np.zeros(people), np.zeros(people)
    worst, identical = Worst(most), 0
    for chunk in similar.neighbours():
        other = decisions[chunk.one] != decisions[chunk.other]
        differing += np.bincount(chunk.one, weights=other, minlength=people)
        count += np.bincount(chunk.one, minlength=people)
        identical += worst.nearest(chunk, other)
    # Whoever has no neighbour has no figure, also where each person counts among their own neighbours.
    some = count > 0
    apart = np.full(people, np.nan)
    apart[some] = differing[some] / (count[some] + include_self)
    sizes = np.bincount(codes[some], minlength=groups).astype(np.float64)
    with np.errstate(invalid="ignore"):
        means = np.bincount(codes[some], weights=apart[some], minlength=groups) / sizes
    influence = _Influence(similar, decisions, differing, count, apart, include_self)
    moves, twice = influence.on_groups(codes, means)
    return Agreement(_figures(apart, codes, sizes, means, moves, twice), int((~some).sum()), identical, worst)


@dataclass(frozen=True)
class _Influence:
    """How much each person moves the figures of those who have them as a neighbour (jackknife influence)."""

    similar: Similar
    decisions: Floats
    differing: Floats
    count: Floats
    apart: Floats
    include_self: bool

    def on_groups(self, codes: Ints, means: Floats) -> tuple[Floats, Floats]:
        """The change of each group's sum of figures when a person is left out, [people, groups], and sums of squares.

        The person is replaced by the mean of the other neighbours and of the next ones; where there are none, the
        figure is left out as well, and the mean of its group stays.
        """
        decisions, people, groups = self.decisions, len(self.decisions), len(means)
        differing, others = self.differing, self.count - 1
        if self.similar.spare is not None:
            next_ones = decisions[:, None] != decisions[self.similar.spare]
            differing, others = differing + next_ones.sum(axis=1), others + next_ones.shape[1]
        moves, twice = np.zeros(people * groups), np.zeros(groups)
        for chunk in self.similar.neighbours():
            one, away = chunk.one, (decisions[chunk.one] != decisions[chunk.other]).astype(np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                instead = (differing[one] - away) / others[one]
            change = (instead - away) / (self.count[one] + self.include_self)
            change = np.where(others[one] > 0, change, means[codes[one]] - self.apart[one])
            moves += np.bincount(chunk.other * groups + codes[one], weights=change, minlength=people * groups)
            twice += np.bincount(codes[one], weights=change**2, minlength=groups)
        return moves.reshape(people, groups), twice


def _figures(apart: Floats, codes: Ints, sizes: Floats, means: Floats, moves: Floats, twice: Floats) -> Figures:
    """The means with their errors; `moves` and `twice` are the sums that `_Influence.on_groups` returns."""
    there = ~np.isnan(apart)
    total = float(there.sum())
    mean = apart[there].mean() if there.any() else np.nan
    own = np.zeros_like(moves)
    own[there, codes[there]] = 1.0
    leaving = np.nan_to_num(apart)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        by_group = (moves - own * (leaving - np.nan_to_num(means))) / (sizes - own)
        overall = (moves.sum(axis=1) - there * (leaving[:, 0] - np.nan_to_num(mean))) / (total - there)
        squares = np.nan_to_num(np.append(twice / sizes**2, twice.sum() / total**2))
    every = _finite(np.column_stack([by_group, overall]))
    return Figures.from_moves(1 - np.append(means, mean), np.append(sizes, total), every, squares)


def _finite(moves: Floats) -> Floats:
    """Moves that are undefined, because nobody would be left in the group, as 0."""
    return np.where(np.isfinite(moves), moves, 0.0)


@dataclass(frozen=True)
class Treatment:
    """How the pairs keep a Lipschitz condition; `constants` are the smallest L that holds, by group, everyone last."""

    within: Figures
    violating: Figures
    constants: Floats
    pairs: int
    alike: int
    violations: int
    identical: int
    worst: Worst


def lipschitz(
    similar: Similar, scores: Floats, codes: Ints, groups: int, *, L: float, epsilon: float, most: int
) -> Treatment:
    """For each group the share of its people's pairs within epsilon, and the share that breaks |Δs| ≤ L·distance."""
    people = len(scores)
    tables = {name: np.zeros((people, groups), dtype=np.int64) for name in ("pairs", "within", "violating")}
    constants = np.full(groups + 1, np.nan)
    worst, identical = Worst(most), 0
    for chunk in similar.pairs():
        apart = np.abs(scores[chunk.one] - scores[chunk.other])
        ratio = slopes(apart, chunk.distance)
        chosen = {
            "pairs": None,
            "within": apart <= epsilon + _tolerance(epsilon),
            "violating": apart > L * chunk.distance + _tolerance(L * chunk.distance),
        }
        for name, which in chosen.items():
            for one, other in ((chunk.one, chunk.other), (chunk.other, chunk.one)):
                _count(tables[name], one, codes[other], which)
        for members in (codes[chunk.one], codes[chunk.other]):
            np.fmax.at(constants, members, ratio)
        identical += worst.steepest(chunk, apart, ratio)
    constants[-1] = np.fmax.reduce(constants)
    parts = {name: tables[name].sum() // 2 for name in tables}
    return Treatment(
        _shares(tables["within"], tables["pairs"], codes),
        _shares(tables["violating"], tables["pairs"], codes),
        constants,
        int(parts["pairs"]),
        int(parts["within"]),
        int(parts["violating"]),
        identical,
        worst,
    )


def slopes(apart: Floats, distance: Floats) -> Floats:
    """Difference of scores for each unit of distance: infinite at distance 0, where any difference is too much."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(apart == 0, 0.0, apart / distance)


def _tolerance(limit: Floats | float) -> Floats | float:
    """The rounding error that is allowed: 0.3 − 0.2 is not exactly 0.1."""
    return 1e-12 * np.maximum(np.abs(limit), 1.0)


def _count(table: Ints, one: Ints, groups: Ints, which: Bools | None) -> None:
    """Add 1 at [person, group of the other] for each pair, or for each in `which`."""
    keys = one * table.shape[1] + groups
    if which is not None:
        keys = keys[which]
    table += np.bincount(keys, minlength=table.size).reshape(table.shape)


def _shares(chosen: Ints, pairs: Ints, codes: Ints) -> Figures:
    """The share of chosen pairs among those of each group's people; a pair inside a group counts twice."""
    people, groups = pairs.shape
    inside = np.zeros((people, groups), dtype=np.int64)
    inside[np.arange(people), codes] = 1
    (top, lost_top, inner_top, outer_top), (bottom, lost_bottom, inner, outer) = (
        _totals(table, inside) for table in (chosen, pairs)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        values = top / bottom
        moves = _finite(-(lost_top - values * lost_bottom) / (bottom - lost_bottom))
        # A pair inside the group loses both ends with either person, a pair with one person outside loses one end.
        squares = 4 * _squares(inner_top, inner, values) + _squares(outer_top, outer, values)
        twice = np.nan_to_num(squares / bottom**2)
    paired = pairs.any(axis=1)
    sizes = np.append(np.bincount(codes[paired], minlength=groups), paired.sum()).astype(np.float64)
    return Figures.from_moves(values, sizes, moves, twice)


def _totals(table: Ints, inside: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Counts for each group, everyone last: ends of pairs that its people hold, ends that leave with each person, pairs
    inside the group, and pairs with one person outside it."""
    own = table.sum(axis=1)
    total = np.append((inside * own[:, None]).sum(axis=0), own.sum())
    lost = np.column_stack([table + inside * own[:, None], 2 * own])
    inner = np.append((inside * table).sum(axis=0), own.sum()) / 2
    outer = np.append(((1 - inside) * table).sum(axis=0), 0)
    return total.astype(np.float64), lost.astype(np.float64), inner, outer.astype(np.float64)


def _squares(chosen: Floats, pairs: Floats, share: Floats) -> Floats:
    """The sum of (1 or 0 − share)² over pairs of which some are chosen."""
    return np.asarray(chosen * (1 - share) ** 2 + (pairs - chosen) * share**2)
