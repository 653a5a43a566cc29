"""Groups set against each other: the ends of every pair, and which of many groups can be one of two that decide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices


class Pairs(NamedTuple):
    """Ends of some groups set against each other in one measure; matrices are [groups, groups].

    Differences are row − column and ratios row / column. Near ends hold for all pairs at once: lower ends of
    differences, upper ends of ratios. Far ones are upper ends of differences and lower ends of ratios, each for its own
    pair. NaN for a group against itself. `groups` says which groups these are: of many, only those that can have the
    largest or the surest gap.
    """

    groups: Indices
    difference_near: Floats
    difference_far: Floats
    ratio_near: Floats
    ratio_far: Floats

    def among(self, tops: Bools) -> Pairs:
        """Only the pairs whose higher group is one of these: the row of a difference, the column of a ratio."""
        able = tops[self.groups]
        if able.all():
            return self
        rows, columns = able[:, None], able[None, :]
        return Pairs(
            self.groups,
            np.where(rows, self.difference_near, np.nan),
            np.where(rows, self.difference_far, np.nan),
            np.where(columns, self.ratio_near, np.nan),
            np.where(columns, self.ratio_far, np.nan),
        )

    def difference(self, i: int, j: int) -> tuple[float, float, float, float]:
        """Near low, near high, far low and far high of i − j; two of them are those of j − i with the sign changed."""
        near, far, (i, j) = self.difference_near, self.difference_far, self._places(i, j)
        return float(near[i, j]), -float(near[j, i]), -float(far[j, i]), float(far[i, j])

    def ratio(self, i: int, j: int) -> tuple[float, float, float, float]:
        """The same of i / j."""
        near, far, (i, j) = self.ratio_near, self.ratio_far, self._places(i, j)
        return _inverse(near[j, i]), float(near[i, j]), float(far[i, j]), _inverse(far[j, i])

    def _places(self, i: int, j: int) -> tuple[int, int]:
        first, second = np.searchsorted(self.groups, (i, j))
        return int(first), int(second)


def _inverse(value: float) -> float:
    return float("inf") if value == 0 else float(1 / value)


def front(first: Floats, second: Floats, among: Bools | None = None) -> Bools:
    """Which groups can be one of two that reach farthest, where more of both numbers reaches farther.

    They are those that no other group beats in both, and those that only these beat, because a group is not set against
    itself. Of equals the first two are kept, and all of whom a number is not known.

    >>> front(np.array([4.0, 3.0, 2.0, 1.0]), np.array([1.0, 1.0, 1.0, 5.0])).tolist()
    [True, True, False, True]
    """
    left = np.ones(len(first), bool) if among is None else among.copy()
    unknown = left & (np.isnan(first) | np.isnan(second))
    left &= ~unknown
    kept = np.zeros(len(first), bool)
    for _ in range(2):
        places = np.flatnonzero(left)
        order = places[np.lexsort((places, -second[places], -first[places]))]
        best = np.maximum.accumulate(second[order])
        kept[order[:1]] = True
        kept[order[1:][second[order][1:] > best[:-1]]] = True
        left &= ~kept
    return kept | unknown
