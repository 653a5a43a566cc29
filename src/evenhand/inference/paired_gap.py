"""The change of the largest gap between groups from one model to another, for the same people.

The largest gap is that of one pair of groups under the first model and of one, perhaps another, under the second. Which
pairs these are is not known, but most can be ruled out. For a pair b that is largest after and a that is largest before
the change is gap b after − gap a before, and at most the change of b itself, at least that of a itself: each of these
belongs to fixed groups and needs no allowance for their number. The interval reaches from the least to the greatest end
over all pairs that are not ruled out. With two groups whose order is sure there is only one, and the interval is that of
its change.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices
from evenhand.inference import critical
from evenhand.inference.paired import Moves
from evenhand.inference.spread import Spread

RULED_OUT = 0.002
"""The probability with which the pair that is truly largest may be ruled out; it is taken from the interval's own."""

_MOST_MIXED = 4_000  # pairs of pairs that are looked at one by one

Place = tuple[int, int, int]
"""A measure, the group that is higher in it, and the one that is lower."""


@dataclass(frozen=True)
class PairedRates:
    """Measures of groups under two models, [measures, groups].

    The influences, [measures, groups, cells], say by how much one person of a joint cell moves the measure of a group;
    `people` are the (squared) weights in each cell, [groups, cells]. `sizes` are as in `Moves`.
    """

    before: Floats
    after: Floats
    influence_before: Floats
    influence_after: Floats
    people: Floats
    sizes: Floats

    @property
    def moves(self) -> Moves:
        """How each measure of each group moved."""
        old, new, people = self.influence_before, self.influence_after, self.people
        return Moves(
            self.before,
            self.after,
            np.einsum("mgc,mgc,gc->mg", old, old, people),
            np.einsum("mgc,mgc,gc->mg", new, new, people),
            np.einsum("mgc,mgc,gc->mg", old, new, people),
            self.sizes,
        )

    def only(self, measure: int) -> PairedRates:
        """One of the measures."""
        one = slice(measure, measure + 1)
        parts = (self.before, self.after, self.influence_before, self.influence_after)
        return PairedRates(*(part[one] for part in parts), self.people, self.sizes[one])


@dataclass(frozen=True)
class Gaps:
    """What makes a gap: the spreads of each measure before and after, and which pairs are compared.

    `pairs` is [measures, higher, lower]. With `ratio` the gap is lower / higher, else higher − lower.
    """

    rates: PairedRates
    before: Sequence[Spread]
    after: Sequence[Spread]
    pairs: Bools
    ratio: bool = False

    def only(self, measure: int) -> Gaps:
        """The gap in one of the measures."""
        spreads = [self.before[measure]], [self.after[measure]]
        return Gaps(self.rates.only(measure), *spreads, self.pairs[measure : measure + 1], self.ratio)


def change_of_gap(gaps: Gaps, confidence: float) -> tuple[float, float]:
    """Both ends of the change of the largest difference or, where `ratio`, of the smallest ratio."""
    deviate = critical.upper((1 - confidence) / 2 - RULED_OUT)
    old, new = (_possible(spreads, gaps) for spreads in (gaps.before, gaps.after))
    mixed = len(old) * len(new) <= _MOST_MIXED
    high = _farthest(gaps, new, old if mixed else new, deviate)
    low = -_farthest(_turned(gaps), old, new if mixed else old, deviate)
    return (-high, -low) if gaps.ratio else (low, high)


def _turned(gaps: Gaps) -> Gaps:
    """The gaps with the models in the other order."""
    rates = gaps.rates
    turned = PairedRates(
        rates.after, rates.before, rates.influence_after, rates.influence_before, rates.people, rates.sizes
    )
    return Gaps(turned, gaps.after, gaps.before, gaps.pairs, gaps.ratio)


def _possible(spreads: Sequence[Spread], gaps: Gaps) -> list[Place]:
    """The pairs that may truly be the farthest apart in some measure under one model.

    A pair is ruled out where another group is surely higher than its higher one, or lower than its lower one: for the
    pair that is truly farthest this goes wrong in few of the comparisons that its own two groups take part in.
    """
    groups = gaps.pairs.shape[1]
    each = critical.upper(RULED_OUT / max(2 * groups - 3, 1))
    found, several = [], len(spreads) > 1 and not gaps.ratio
    least = max(float(np.where(allowed, _lower(spread, critical.tukey(groups, 1 - RULED_OUT)), -np.inf).max())
                for spread, allowed in zip(spreads, gaps.pairs, strict=True)) if several else -math.inf
    for i, (spread, allowed) in enumerate(zip(spreads, gaps.pairs, strict=True)):
        low = _lower(spread, each)
        above = _compared(allowed) & (low > 0)  # the row is surely higher than the column
        ways, sure = allowed.astype(np.float32), above.astype(np.float32)
        beaten = (sure.T @ ways > 0) | (ways @ sure.T > 0) | (above & allowed).T
        kept = allowed & ~beaten & (-low.T >= least)  # the gap of another measure may surely be larger
        found += [(i, int(g), int(h)) for g, h in np.argwhere(kept)]
    return found


def _compared(allowed: Bools) -> Bools:
    """Which groups are compared at all, as a table of pairs."""
    used = allowed.any(axis=1) | allowed.any(axis=0)
    return np.asarray(used[:, None] & used[None, :])


def _lower(spread: Spread, deviate: float) -> Floats:
    """Lower ends of every group's value less every other's."""
    low, high = spread.limits(deviate, 0.0)
    values = np.asarray(spread.values)
    with np.errstate(invalid="ignore"):
        ends = values[:, None] - values - np.hypot((values - low)[:, None], high - values)
    np.fill_diagonal(ends, -np.inf)
    return np.asarray(np.nan_to_num(ends, nan=-np.inf))


def _farthest(gaps: Gaps, new: Sequence[Place], old: Sequence[Place], deviate: float) -> float:
    """The greatest upper end over the pairs that may be largest after; `old` are those that may be before."""
    known, alone = set(old), [place for place in new if place in set(old)]
    ends = [_own_ends(gaps, alone, deviate).max(initial=-np.inf)] if alone else []
    ends += [_mixed_end(gaps, b, a, deviate) for b, a in itertools.product(new, old) if b not in known]
    return float(max(ends, default=math.inf))


def _own_ends(gaps: Gaps, places: Sequence[Place], deviate: float) -> Floats:
    """Upper ends of the change of each of some pairs, from those of its two groups, which share nobody."""
    i, g, h = (np.array(part, dtype=np.intp) for part in zip(*places, strict=True))
    moves = gaps.rates.moves
    top, bottom = moves.take((i, g)), moves.take((i, h))
    if not gaps.ratio:
        return np.asarray(top.change - bottom.change + np.hypot(top.reach(deviate)[1], bottom.reach(deviate)[0])) * (
            g != h
        )
    then, now = (_factors(spreads, i, g, h) for spreads in (gaps.before, gaps.after))
    moved = then[0] - now[0]  # of minus the ratio, which is larger where the gap is
    reach = np.hypot(top.reach(deviate, now[1], then[1])[1], bottom.reach(deviate, now[2], then[2])[0])
    return np.where(g == h, 0.0, moved + reach)


def _factors(spreads: Sequence[Spread], i: Indices, g: Indices, h: Indices) -> tuple[Floats, Floats, Floats]:
    """The ratio of each pair, and how fast minus the ratio rises with the higher and falls with the lower value."""
    centres = np.stack([spread.centre for spread in spreads])
    top, bottom = centres[i, g], centres[i, h]
    values = np.stack([spread.values for spread in spreads])
    seen = values[i, h] / top
    return seen, bottom / top**2, 1 / top


def _mixed_end(gaps: Gaps, b: Place, a: Place, deviate: float) -> float:
    """The upper end of the gap of pair b after less the gap of pair a before."""
    rates = gaps.rates
    sides = []
    for place, spreads, influence in (
        (b, gaps.after, rates.influence_after),
        (a, gaps.before, rates.influence_before),
    ):
        i, g, h = place
        size, factors = float(spreads[i].values[g] - spreads[i].values[h]), (1.0, 1.0)
        if gaps.ratio:
            ratio, up, down = (float(part[0]) for part in _factors(spreads, *(np.array([k]) for k in place)))
            size, factors = -ratio, (up, down)
        moved = {} if g == h else {g: factors[0] * influence[i, g], h: -factors[1] * influence[i, h]}
        sides.append((size, moved, dict(zip((g, h), factors, strict=True)), i))
    squares = 0.0
    for group in {*sides[0][1], *sides[1][1]}:
        total = sides[0][1].get(group, 0.0) - sides[1][1].get(group, 0.0)
        floors = [
            factors[group] / (rates.sizes[i, group] + deviate**2) for _, moved, factors, i in sides if group in moved
        ]
        squares += deviate**2 * float((rates.people[group] * total**2).sum()) + (deviate**2 * max(floors)) ** 2
    return sides[0][0] - sides[1][0] + math.sqrt(squares)
