"""The largest of many studentised gaps of groups that overlap: one deviate at which the limits of all hold together.

Each base cell (a profile of people) varies by itself, and a group is a sum of base cells. So one draw is a normal
number for each base cell, and the gaps of all groups follow from it with their own correlations: groups that share
people move together, and the largest of their gaps is smaller than that of as many strangers. Margins are exactly
normal, so the deviate is never above Šidák's. What counts do at the ends of their range is left to the limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices
from evenhand.inference import critical

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_DRAWN = 2**25  # numbers that are in memory at once


@dataclass(frozen=True)
class Overlapping:
    """Groups of base cells, none of which share one: those of one set of columns.

    `place` is the group of each base cell, −1 where it is in none. `inside` and `outside` are, for each component of a
    gap, what a unit of noise inside and outside of a group moves it by; `compared` says which groups count.
    """

    place: Indices
    inside: Sequence[Floats]
    outside: Sequence[Floats]
    compared: Bools


def membership(place: Indices, groups: int) -> csr_array:
    """The matrix that sums base cells to groups, [groups, cells]."""
    from scipy.sparse import csr_array

    cells = np.flatnonzero(place >= 0)
    order = cells[np.argsort(place[cells], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(place[cells], minlength=groups))])
    shape = (groups, len(place))
    return csr_array((np.ones(len(order), dtype=np.float32), order, starts), shape=shape)


def largest(
    variances: Sequence[Floats], sets: Callable[[], Iterable[Overlapping]], draws: int, random: np.random.Generator
) -> Floats:
    """The size of the largest studentised gap in each draw.

    `variances` holds, for each component of a gap (one, or several that are averaged), the variance of the noise of
    each base cell. `sets` goes through all groups, once for each block of draws.
    """
    errors = [np.sqrt(variance).astype(np.float32)[:, None] for variance in variances]
    block = max(1, min(draws, _MOST_DRAWN // max(1, len(variances) * len(variances[0]))))
    found = []
    for start in range(0, draws, block):
        size = (len(variances[0]), min(block, draws - start))
        noises: list[Floats] = [random.standard_normal(size, dtype=np.float32) * error for error in errors]  # type: ignore[misc]
        totals = [noise.sum(axis=0) for noise in noises]
        largest = np.zeros(size[1], dtype=np.float32)
        for each in sets():
            if each.compared.any():
                np.maximum(largest, _studentised(each, variances, noises, totals), out=largest)
        found.append(largest)
    return np.concatenate(found).astype(np.float64)


def _studentised(
    groups: Overlapping, variances: Sequence[Floats], noises: Sequence[Floats], totals: Sequence[Floats]
) -> Floats:
    """The size of the largest studentised gap of these groups in each draw."""
    chosen = np.flatnonzero(groups.compared)
    matrix = membership(groups.place, len(groups.compared))[chosen]
    moved: Floats | float = 0.0
    squared: Floats | float = 0.0
    for i, (variance, noise, total) in enumerate(zip(variances, noises, totals, strict=True)):
        inside, outside = groups.inside[i][chosen], groups.outside[i][chosen]
        own = matrix @ variance
        squared = squared + inside**2 * own + outside**2 * np.maximum(variance.sum() - own, 0.0)
        sums = matrix @ noise
        both, other = ((part.astype(np.float32))[:, None] for part in (inside + outside, outside))
        moved = moved + both * sums - other * total
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(np.asarray(squared) > 0, 1 / np.sqrt(squared), 0.0).astype(np.float32)
    return np.asarray(np.abs(moved * scale[:, None]).max(axis=0))


def deviate(maxima: Floats, gaps: int, confidence: float) -> float:
    """The deviate that the largest of so many gaps stays below with this confidence, from the maxima of draws.

    It is the order statistic that holds whatever the number of draws; Šidák's where that is smaller.

    >>> random = np.random.default_rng(0)
    >>> round(deviate(np.abs(random.normal(size=999)), 1, 0.95), 2)
    1.89
    """
    rank = math.ceil((len(maxima) + 1) * confidence)
    most = critical.sidak(gaps, confidence)
    return most if rank > len(maxima) else min(float(np.partition(maxima, rank - 1)[rank - 1]), most)
