"""The default intervals for many samples at once, for `coverage.py`: an interval takes the library half a millisecond.

They are the library's own as far as `check` can tell: run this file to compare the two on random tables.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from evenhand.inference import critical, simultaneous
from evenhand.inference.limits import FAR, NEAR
from evenhand.inference.spread import Proportions
from evenhand.measures.cells import MEASURES

Floats = npt.NDArray[np.float64]
Part = tuple[Floats, Floats]  # k and n of one measure, [samples, groups]

CONFIDENCE = 0.95
TABLES = 500
FORM = MEASURES["selection_rate"].form


class Reach:
    """Values, and how far limits lie from them, up and down, plain and on logarithms; [samples, groups]."""

    def __init__(self, k: Floats, n: Floats, deviate: float, offset: float, jeffreys: bool = False) -> None:
        pairs, back = np.unique(k + 1j * n, return_inverse=True)  # limits depend on (k, n) only: each pair once
        spread = Proportions(pairs.real.copy(), pairs.imag.copy(), FORM)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = spread.limits(deviate, offset)
            value, middle = spread.values, spread.centre
            if jeffreys:
                middle = betaincinv(spread.k + 0.5, spread.n - spread.k + 0.5, 0.5)
            table = np.stack(
                [
                    value,
                    value - low,
                    high - value,
                    np.log(middle) - np.log(np.minimum(low, middle)),
                    np.log(np.maximum(high, middle)) - np.log(middle),
                    np.log(middle),
                ]
            )
        table[:, pairs.imag == 0] = np.nan  # nobody to measure on: no part in any comparison
        self.value, self.down, self.up, self.log_down, self.log_up, self.log_centre = table[:, back.reshape(k.shape)]


def extremes(parts: Sequence[Part], jeffreys: bool = False) -> tuple[Floats, ...]:
    """As `simultaneous.between_extremes`: both ends of the difference and of the ratio, for each sample.

    With `jeffreys` ratios are centred as they were before: at Jeffreys' medians.
    """
    found = np.stack([_pairs(k, n, CONFIDENCE ** (1 / len(parts)), jeffreys) for k, n in parts])
    none = np.isnan(found).all(axis=0)
    ends = [np.fmax.reduce(found[:, 0]), np.fmax.reduce(found[:, 1])]
    ends += [np.fmin.reduce(found[:, 2]), np.fmin.reduce(found[:, 3])]
    return tuple(np.where(none[i], (0.0, 1.0)[i % 2], end) for i, end in enumerate(ends))


def _pairs(k: Floats, n: Floats, share: float, jeffreys: bool) -> Floats:
    """The four ends of one measure, [4, samples]; NaN where fewer than two groups have a value."""
    there = (n > 0).sum(axis=1)
    out = np.full((4, len(k)), np.nan)
    step = max(1, 1_000_000 // k.shape[1] ** 2)
    for groups in np.unique(there[there >= 2]).tolist():
        q = critical.tukey(groups, share)
        c = critical.one_sided(q, CONFIDENCE)
        rows = np.flatnonzero(there == groups)
        near, far = (Reach(k[rows], n[rows], *how, jeffreys) for how in ((q, NEAR), (c, FAR)))
        for first in range(0, len(rows), step):
            block = slice(first, first + step)
            out[:, rows[block]] = _combine(near, far, block)
    return out


def _combine(near: Reach, far: Reach, block: slice) -> list[Floats]:
    def across(left: Floats, right: Floats) -> tuple[Floats, Floats]:
        return left[block][:, :, None], right[block][:, None, :]

    def best(ends: Floats, worst: float) -> Floats:
        ends[:, np.arange(ends.shape[1]), np.arange(ends.shape[1])] = worst
        flat = ends.reshape(len(ends), -1)
        return np.fmax.reduce(flat, axis=1) if worst < 0 else np.fmin.reduce(flat, axis=1)

    value = near.value[block]
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.subtract(*across(near.value, near.value))
        lower = best(apart - np.hypot(*across(near.down, near.up)), -np.inf)
        upper = best(apart + np.hypot(*across(far.up, far.down)), -np.inf)
        middle = np.subtract(*across(near.log_centre, near.log_centre))
        least = np.exp(best(middle - np.hypot(*across(far.log_down, far.log_up)), np.inf))
        most = np.exp(best(middle + np.hypot(*across(near.log_up, near.log_down)), np.inf))
        highest = np.fmax.reduce(value, axis=1)
        estimate = np.fmin.reduce(value, axis=1) / highest
    nobody = highest == 0
    least = np.where(nobody, 0.0, np.fmin(least, estimate))
    most = np.where(nobody, 1.0, np.fmax(np.minimum(most, 1.0), estimate))
    return [np.maximum(lower, 0.0), upper, least, most]


def reference(parts: Sequence[Part], place: int) -> tuple[Floats, ...]:
    """As `simultaneous.against`: near then far ends of difference and ratio; 8 times [samples, measures, groups].

    Where denominators are random each sample has its own critical value, and the library is called for each.
    """
    if len(parts) == 1 and (parts[0][1] == parts[0][1][0]).all():
        return tuple(end[:, None, :] for end in _one_by_one(*parts[0], place))
    return _by_library(parts, place)


def _one_by_one(k: Floats, n: Floats, place: int) -> list[Floats]:
    others = np.arange(k.shape[1]) != place
    q = critical.sidak(int(others.sum()), CONFIDENCE)
    found = []
    for how in ((q, NEAR), (critical.one_sided(q, CONFIDENCE), FAR)):
        r = Reach(k, n, *how)
        of = slice(place, place + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            apart, middle = r.value - r.value[:, of], r.log_centre - r.log_centre[:, of]
            ratio = r.value / r.value[:, of]
            low = apart - np.hypot(r.down, r.up[:, of])
            high = apart + np.hypot(r.up, r.down[:, of])
            least = np.fmin(np.exp(middle - np.hypot(r.log_down, r.log_up[:, of])), ratio)
            most = np.fmax(np.exp(middle + np.hypot(r.log_up, r.log_down[:, of])), ratio)
        for end in (low, high, least, most):
            end[:, place] = np.nan
            found.append(end)
    return found


def others(parts: Sequence[Part], overall: bool) -> tuple[Floats, ...]:
    """Each group against all others, or with them against everyone: as `reference` has it."""
    return _by_library(parts, None, overall)


def _by_library(parts: Sequence[Part], place: int | None, overall: bool = False) -> tuple[Floats, ...]:
    compared = np.ones((len(parts), parts[0][0].shape[1]), dtype=bool)
    if place is not None:
        compared[:, place] = False

    def base(part: Floats) -> Floats:
        return part.sum() - part if place is None else np.full(len(part), part[place])

    found = []
    for i in range(len(parts[0][0])):
        spreads = [Proportions(k[i], n[i], FORM) for k, n in parts]
        bases = [Proportions(base(k[i]), base(n[i]), FORM) for k, n in parts]
        shares = np.stack([n[i] / n[i].sum() for _, n in parts]) if overall else None
        ends = simultaneous.against(spreads, bases, compared, CONFIDENCE, shares=shares)
        found.append((*ends.difference_near, *ends.ratio_near, *ends.difference_far, *ends.ratio_far))
    return tuple(np.stack(end) for end in zip(*found, strict=True))


def check(seed: int = 0) -> float:
    """The largest distance of `extremes` and `reference` from the library's, on random tables."""
    random = np.random.default_rng(seed)
    farthest = 0.0
    for i in range(TABLES):
        groups, many = int(random.integers(2, 9)), 1 + i % 2
        sizes = random.integers(1 - (i % 3 == 0), 400, (many, groups)).astype(float)
        counts = random.binomial(sizes.astype(int), random.choice([0.0, 0.02, 0.3, 0.97], (many, groups))).astype(float)
        spreads = [Proportions(k, n, FORM) for k, n in zip(counts, sizes, strict=True)]
        ends = simultaneous.between_extremes(spreads, np.ones((many, groups), dtype=bool), CONFIDENCE)
        theirs = [*ends.difference, *ends.ratio]
        mine = [float(end[0]) for end in extremes([(k[None], n[None]) for k, n in zip(counts, sizes, strict=True)])]
        farthest = max(farthest, _apart(np.array(mine), np.array(theirs)))
        whole = np.maximum(sizes[0], 1)
        part = [(np.minimum(counts[0], whole)[None], whole[None])]
        farthest = max(farthest, *itertools.starmap(_apart, zip(reference(part, 0), _by_library(part, 0), strict=True)))
    return farthest


def _apart(mine: Floats, theirs: Floats) -> float:
    with np.errstate(invalid="ignore"):
        distance = np.where((mine == theirs) | (np.isnan(mine) & np.isnan(theirs)), 0.0, np.abs(mine - theirs))
    distance = distance / np.where(np.abs(theirs) > 1, np.abs(theirs), 1.0)
    return float(np.where(np.isnan(distance), np.inf, distance).max())


if __name__ == "__main__":
    distance = check()
    print(f"on {TABLES} random tables within {distance:.1e} of the library's intervals")
    sys.exit(distance > 1e-12)
