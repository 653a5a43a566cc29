"""Every two groups of a correspondence audit: gaps within units, flips beside noise, and their tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.core.wording import counted
from evenhand.counterfactual.units import Units
from evenhand.inference import critical
from evenhand.inference.multiplicity import holm
from evenhand.inference.paired import Differences, cochran, mcnemar, sign_flips

_AT_ONCE = 4_000_000  # units × pairs of groups
_MOST_STEPS = 10**6  # into which a difference of means over uneven runs is divided


@dataclass(frozen=True)
class Comparison:
    """Every two groups of some units, [pairs]; `first` and `second` are the positions of the groups.

    Ends of gaps: `shown` hold for all pairs together, `near` for all pairs of all findings that decide, `far` for one.
    `flips` and `noise` are of each pair, and `overall` of units over all their pairs: flips, noise, and the difference.
    """

    first: Ints
    second: Ints
    gaps: Differences
    shown: tuple[Floats, Floats]
    near: tuple[Floats, Floats]
    far: tuple[Floats, Floats]
    p: Floats
    adjusted: Floats
    flips: Differences
    excess: Differences
    overall: tuple[Differences, Differences, Differences]
    by_unit: Floats
    """For each unit the mean of its flips over its pairs of groups."""

    @property
    def low(self) -> Floats:
        """How large each gap is at least, whichever way it points; NaN where there is no interval."""
        return np.maximum(np.maximum(self.near[0], -self.near[1]), 0.0)

    @property
    def high(self) -> Floats:
        """How large each gap may be, whichever way it points."""
        return np.maximum(np.abs(self.far[0]), np.abs(self.far[1]))

    @property
    def sizes(self) -> Floats:
        return np.abs(self.gaps.values)


def compare(units: Units, confidence: float, near: float) -> Comparison:
    """Set the answers of the same units in every two groups side by side; `near` is the confidence of near ends."""
    pairs = np.array(units.pairs, dtype=np.int64)
    first, second = pairs[:, 0], pairs[:, 1]
    parts, flips, excess = [], [], []
    total, times = np.zeros(len(units.means)), np.zeros(len(units.means))
    noise, span = units.noise, units.span
    size = max(1, _AT_ONCE // len(units.means))
    for start in range(0, len(pairs), size):
        i, j = first[start : start + size], second[start : start + size]
        parts.append(Differences.of(units.means[:, i] - units.means[:, j], span))
        flipped = units.flips(i, j)
        flips.append(Differences.of(flipped, span**2))
        excess.append(Differences.of(flipped - _mean_of(noise[:, i], noise[:, j]), span**2))
        total += np.nansum(flipped, axis=1)
        times += np.count_nonzero(~np.isnan(flipped), axis=1)
    gaps = _joined(parts)
    known = int((gaps.n > 0).sum())
    deviate = critical.sidak(known, confidence)
    q = critical.sidak(known, near)
    beyond = critical.one_sided(q, confidence)
    p = _p_values(units, gaps, first, second)
    by_unit, own = total / times, row_means(noise)
    overall = [Differences.of(each[:, None], span**2) for each in (by_unit, own, by_unit - own)]
    return Comparison(
        first,
        second,
        gaps,
        _held(gaps.limits(deviate, deviate), p, deviate),
        _held(gaps.limits(q, q), p, q),
        gaps.limits(beyond, beyond),
        p,
        holm(p),
        _joined(flips),
        _joined(excess),
        (overall[0], overall[1], overall[2]),
        by_unit,
    )


def _held(ends: tuple[Floats, Floats], p: Floats, deviate: float) -> tuple[Floats, Floats]:
    """Ends that exclude 0 only where the exact test of the pair does: of few units Tango's alone do so too often."""
    from scipy.special import ndtr

    open_ = p >= 2 * ndtr(-deviate)
    return np.where(open_, np.minimum(ends[0], 0.0), ends[0]), np.where(open_, np.maximum(ends[1], 0.0), ends[1])


def _joined(parts: Sequence[Differences]) -> Differences:
    names = ("n", "up", "down", "scatter", "moved", "whole")
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Differences(**joined, span=parts[0].span)


def _mean_of(one: Floats, other: Floats) -> Floats:
    """The mean of two values, or the one that is known."""
    return np.where(np.isnan(one), other, np.where(np.isnan(other), one, (one + other) / 2))


def row_means(values: Floats) -> Floats:
    """The mean of each row over what is known; NaN where nothing is."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0.0).sum(axis=1) / there.sum(axis=1))


def _steps(units: Units) -> int | None:
    """Into how many steps a difference of means over runs is divided; None where these are too many to flip signs."""
    steps = math.lcm(*np.unique(units.runs[units.runs > 0]).tolist())
    return steps if steps <= _MOST_STEPS else None


def _p_values(units: Units, gaps: Differences, first: Ints, second: Ints) -> Floats:
    """The p-value of each pair: McNemar's exact test, with several runs signs that are flipped, of scores Student's."""
    none, steps = gaps.n == 0, _steps(units)
    if not units.decisions or steps is None:
        return np.where(none, np.nan, gaps.student)
    if not units.several:
        return np.where(none, np.nan, mcnemar(np.rint(gaps.up), np.rint(gaps.down)))
    differences = (units.means[:, i] - units.means[:, j] for i, j in zip(first, second, strict=True))
    found = [sign_flips(np.rint(steps * np.nan_to_num(each)).astype(np.int64)) for each in differences]
    return np.where(none, np.nan, found)


def overall_test(units: Units, compared: Comparison, random_state: int) -> tuple[float, str, list[str]]:
    """The p-value of "no gap between any groups", the name of its test, and what must be known of it."""
    notes, of_pairs = [], "Student's t over units"
    if units.decisions and not units.several:
        of_pairs = "McNemar's exact test"
    elif units.decisions and _steps(units) is not None:
        of_pairs = "signs flipped over units"
        notes.append(
            "A unit's decision in a group is the mean over its runs. In place of McNemar's test, which counts units "
            "that flip, the signs of the differences of units are flipped, over all combinations: of one run each, the "
            "two are the same test."
        )
    if len(compared.p) == 1:
        return float(compared.p[0]), of_pairs, notes
    complete = units.complete
    if units.decisions and units.even and complete.any():
        test = cochran(units.means[complete], random_state)
        if not complete.all():
            notes.append(f"Cochran's Q is over the {counted(int(complete.sum()), 'unit')} with every group.")
        if test.note:
            notes.append(f"Cochran's Q is set {test.note}.")
        return test.p_value, test.name, notes
    if units.decisions:
        why = "no unit has every group" if units.even else "units have more runs in one group than in another"
        notes.append(f"There is no Cochran's Q, because {why}: the p-value is the smallest of all pairs, after Holm.")
    return float(np.nanmin(compared.adjusted)), f"{of_pairs}, Holm over pairs", notes
