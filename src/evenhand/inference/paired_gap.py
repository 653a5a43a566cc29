"""The change of the largest gap between groups from one model to another, for the same people.

The largest gap is that of one pair of groups, a, under the first model and of one, perhaps another, b, under the
second. Which pairs these are is not known, but most can be ruled out. The change is at most gap b after − gap x before,
and at least gap y after − gap a before, whatever pairs x and y are. So the upper end is the greatest over all b that
are not ruled out, and for each b the least over all x that may be a. What belongs to fixed pairs needs no allowance for
the number of pairs; the choice of x among several has one. With two groups whose order is sure there is one pair, and
the interval is that of its change.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices
from evenhand.inference import critical
from evenhand.inference.moves import Moves
from evenhand.inference.spread import Spread

RULED_OUT = 0.04
"""The share of the error probability of an interval with which the pair that is truly largest may be ruled out."""

_MOST_MIXED = 250_000  # pairs of pairs; beyond that each pair is compared with itself alone, which is wider

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
    parts: tuple[PairedRates | None, ...] = ()
    """The measures of which a measure is the mean, as a balanced accuracy is; None for any other."""

    @cached_property
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

    @property
    def least_correlation(self) -> float:
        """The least correlation of a measure of a group before with the same after; 0 where none is known."""
        moves = self.moves
        with np.errstate(divide="ignore", invalid="ignore"):
            found = moves.covariance / np.sqrt(moves.variance_before * moves.variance_after)
        known = found[np.isfinite(found)]
        return float(np.clip(known.min(), -1.0, 1.0)) if known.size else 0.0

    def reach(
        self, i: Indices, g: Indices, deviate: float, now: Floats | float = 1.0, then: Floats | float = 1.0
    ) -> tuple[Floats, Floats]:
        """`Moves.reach` of measure i of group g, for each pair of places; of a mean as the sides of a triangle."""
        down, up = self.moves.take((i, g)).reach(deviate, now, then)
        for place, part in enumerate(self.parts):
            at = np.flatnonzero(i == place)
            if part is None or not at.size:
                continue
            factors = [np.broadcast_to(factor, i.shape)[at] for factor in (now, then)]
            many = range(len(part.before))
            ends = [part.reach(np.full(len(at), k), g[at], deviate, *factors) for k in many]
            for side, of_parts in zip((down, up), zip(*ends, strict=True), strict=True):
                side[at] = np.sqrt(np.sum(np.square(of_parts), axis=0)) / len(many)
        return down, up

    def only(self, measure: int) -> PairedRates:
        """One of the measures."""
        return PairedRates(
            self.before[[measure]],
            self.after[[measure]],
            self.influence_before[[measure]],
            self.influence_after[[measure]],
            self.people,
            self.sizes[[measure]],
            self.parts[measure : measure + 1],
        )

    def turned(self) -> PairedRates:
        """The models in the other order."""
        return PairedRates(
            self.after,
            self.before,
            self.influence_after,
            self.influence_before,
            self.people,
            self.sizes,
            tuple(None if part is None else part.turned() for part in self.parts),
        )


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
    error = 1 - confidence
    tail, ruled_out = error / 2 - RULED_OUT * error, RULED_OUT * error
    old, new = (_possible(spreads, gaps, ruled_out) for spreads in (gaps.before, gaps.after))
    high, low = _farthest(gaps, new, old, tail), -_farthest(_turned(gaps), old, new, tail)
    return (-high, -low) if gaps.ratio else (low, high)


def change_of_pair(gaps: Gaps, after: Place, before: Place, deviate: float) -> tuple[float, float]:
    """Both ends of the gap of one pair after less that of the same or another pair before, with its sign."""
    turned = _turned(gaps)
    if after == before:
        high, low = _own_ends(gaps, [after], deviate)[0], -_own_ends(turned, [after], deviate)[0]
    else:
        high = _mixed_ends(gaps, [(after, before)], deviate)[0]
        low = -_mixed_ends(turned, [(before, after)], deviate)[0]
    return (float(-high), float(-low)) if gaps.ratio else (float(low), float(high))


def _turned(gaps: Gaps) -> Gaps:
    """The gaps with the models in the other order."""
    return Gaps(gaps.rates.turned(), gaps.after, gaps.before, gaps.pairs, gaps.ratio)


def _possible(spreads: Sequence[Spread], gaps: Gaps, error: float) -> list[Place]:
    """The pairs that may truly be the farthest apart in some measure under one model.

    A pair is ruled out where another group is surely higher than its higher one, or lower than its lower one: for the
    pair that is truly farthest this goes wrong in few of the comparisons that its own two groups take part in.
    """
    groups = gaps.pairs.shape[1]
    each = critical.upper(error / max(2 * groups - 3, 1))
    found, several = [], len(spreads) > 1 and not gaps.ratio
    least = (
        max(
            float(np.where(allowed, _lower(spread, critical.tukey(groups, 1 - error)), -np.inf).max())
            for spread, allowed in zip(spreads, gaps.pairs, strict=True)
        )
        if several
        else -math.inf
    )
    for i, (spread, allowed) in enumerate(zip(spreads, gaps.pairs, strict=True)):
        low = _lower(spread, each)
        above = _compared(allowed) & (low > 0)  # the row is surely higher than the column
        ways, sure = allowed.astype(np.float32), above.astype(np.float32)
        beaten = (sure.T @ ways > 0) | (ways @ sure.T > 0) | (above & allowed).T
        kept = allowed & ~beaten & (least <= -low.T)  # the gap of another measure may surely be larger
        found += [(i, int(g), int(h)) for g, h in np.argwhere(kept)]
    return found


def _compared(allowed: Bools) -> Bools:
    """Which groups are compared at all, as a table of pairs."""
    used = np.asarray(allowed.any(axis=1) | allowed.any(axis=0))
    return np.asarray(used[:, None] & used[None, :])


def _lower(spread: Spread, deviate: float) -> Floats:
    """Lower ends of every group's value less every other's."""
    low, high = spread.limits(deviate, 0.0)
    values = np.asarray(spread.values)
    with np.errstate(invalid="ignore"):
        ends = values[:, None] - values - np.hypot((values - low)[:, None], high - values)
    np.fill_diagonal(ends, -np.inf)
    return np.asarray(np.nan_to_num(ends, nan=-np.inf))


def _farthest(gaps: Gaps, new: Sequence[Place], old: Sequence[Place], tail: float) -> float:
    """The upper end of the change, from the pairs that may be largest after and those that may be before."""
    if not new:
        return math.inf
    if not old or len(new) * len(old) > _MOST_MIXED:
        return float(_own_ends(gaps, new, critical.upper(tail)).max())
    known = set(old)
    share = tail / 2 if len(old) > 1 else tail
    own = np.where([place in known for place in new], _own_ends(gaps, new, critical.upper(share)), np.inf)
    others = [(b, a) for b in new for a in old]
    ends = _mixed_ends(gaps, others, critical.upper(share / max(len(old) - 1, 1))).reshape(len(new), len(old))
    ends[[[b == a for a in old] for b in new]] = np.inf
    return float(np.minimum(own, ends.min(axis=1)).max())


def _own_ends(gaps: Gaps, places: Sequence[Place], deviate: float) -> Floats:
    """Upper ends of the change of each of some pairs, from those of its two groups, which share nobody."""
    i, g, h = (np.array(part, dtype=np.intp) for part in zip(*places, strict=True))
    if not gaps.ratio:
        change = gaps.rates.after - gaps.rates.before
        reach = np.hypot(gaps.rates.reach(i, g, deviate)[1], gaps.rates.reach(i, h, deviate)[0])
        return np.where(g == h, 0.0, change[i, g] - change[i, h] + reach)
    then, now = (_factors(spreads, i, g, h) for spreads in (gaps.before, gaps.after))
    moved = then[0] - now[0]  # of minus the ratio, which is larger where the gap is
    up, down = (gaps.rates.reach(i, who, deviate, now[k], then[k]) for who, k in ((g, 1), (h, 2)))
    reach = np.hypot(up[1], down[0])
    return np.where(g == h, 0.0, moved + reach)


def _factors(spreads: Sequence[Spread], i: Indices, g: Indices, h: Indices) -> tuple[Floats, Floats, Floats]:
    """The ratio of each pair, and how fast minus the ratio rises with the higher and falls with the lower value."""
    centres = np.stack([spread.centre for spread in spreads])
    top, bottom = centres[i, g], centres[i, h]
    values = np.stack([spread.values for spread in spreads])
    seen = values[i, h] / top
    return seen, bottom / top**2, 1 / top


def _mixed_ends(gaps: Gaps, places: Sequence[tuple[Place, Place]], deviate: float) -> Floats:
    """Upper ends of the gap of a pair b after less the gap of another pair a before, for each (b, a)."""
    rates = gaps.rates
    new, old = (np.array([both[side] for both in places], dtype=np.intp).T for side in (0, 1))
    common = np.einsum("mgc,kgc,gc->mkg", rates.influence_after, rates.influence_before, rates.people)
    moves = rates.moves
    total, variance = np.zeros(len(places)), np.zeros(len(places))
    factors = []
    for (i, g, h), spreads, own, sign in (
        (new, gaps.after, moves.variance_after, 1),
        (old, gaps.before, moves.variance_before, -1),
    ):
        values = np.stack([spread.values for spread in spreads])
        size, up, down = values[i, g] - values[i, h], np.ones(len(i)), np.ones(len(i))
        if gaps.ratio:
            ratio, up, down = _factors(spreads, i, g, h)
            size = -ratio
        up, down = np.where(g == h, 0.0, up), np.where(g == h, 0.0, down)
        floors = [(part * deviate**2 / (rates.sizes[i, who] + deviate**2)) ** 2 for part, who in ((up, g), (down, h))]
        total = total + sign * size
        variance = variance + deviate**2 * (up**2 * own[i, g] + down**2 * own[i, h]) + floors[0] + floors[1]
        factors.append(((g, up), (h, -down)))
    for (who, mine), (other, theirs) in itertools.product(*factors):
        shared = np.where(who == other, common[new[0], old[0], who], 0.0)
        variance = variance - 2 * deviate**2 * mine * theirs * shared
    return np.asarray(total + np.sqrt(np.maximum(variance, 0.0)))
