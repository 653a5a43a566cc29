"""The variance of ratios of cells over clusters, by linearisation: of groups, of the rest of each, and of everyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.cube.clusters import Clusters
from evenhand.inference.clustered import Clustered, ClusteredAverage, Together, strangers
from evenhand.inference.spread import Form

_PLACES = np.array([0, 1, 3, 4, 6, 7, 2, 5])  # of the eight cells in a flattened table of label and prediction


Whose = Literal["groups", "rest", "everyone"]


@dataclass(frozen=True, eq=False)
class CellClusters:
    """Sums over the clusters of a cube of a yes or no, and whose rates are asked for."""

    clusters: Clusters
    pairs: int
    whose: Whose = "groups"

    def spread(self, form: Form, top: Floats, bottom: Floats, people: Floats, *, share: bool = False) -> Clustered:
        """The rates top / bottom of the groups, which rest on so many rows; of a `share` every bottom is the top of
        everyone."""
        return _Rates(self, [form], top[None], bottom[None], people[None], share).clustered(0)

    def average(self, parts: Sequence[Clustered], tops: Floats, bottoms: Floats) -> ClusteredAverage:
        """The mean of several rates, whose tops and bottoms are [rates, groups]."""
        people = np.stack([part.people for part in parts])
        return _Rates(self, [part.form for part in parts], tops, bottoms, people, False).average(parts)


class _Rates:
    """Several rates of the same groups, with the covariances of their errors, [rates, rates, groups, groups]."""

    def __init__(
        self, of: CellClusters, forms: Sequence[Form], tops: Floats, bottoms: Floats, people: Floats, share: bool
    ) -> None:
        self.of, self.forms, self.people = of, forms, people
        self.theta, self.slopes = _rates(tops, bottoms)
        parts = [part for form in forms for part in (form.top, form.top if share else form.top + form.rest)]
        patterns = [_pattern(part) for part in parts]
        sums = of.clusters.of_pairs(patterns, of.pairs)  # [top and bottom of each rate, the same, pairs, pairs]
        if share:
            sums = _of_everyone(sums)
        self.covariance = self._changes(_joined(sums, of.whose), self.theta, self.slopes)
        self.own = self._with_group(sums, patterns) if of.whose == "rest" else None
        squares = [_joined(of.clusters.squares(pattern, of.pairs), of.whose) for pattern in patterns[1::2]]
        below = np.array([np.full(tops.shape[1], part.sum()) if share else np.diagonal(part) for part in squares])
        with np.errstate(divide="ignore", invalid="ignore"):
            self.worth = np.where(below > 0, bottoms**2 / below, 0.0)

    def _with_group(self, sums: Floats, patterns: Sequence[Floats]) -> Floats:
        """Covariances of the rest of each group with the group itself, [rates, rates, groups]."""
        totals = np.stack([self.of.clusters.totals(pattern, self.of.pairs) for pattern in patterns])
        theta, slopes = _rates(totals[::2], totals[1::2])
        across = sums.sum(axis=2, keepdims=True) - sums  # the rest of the row's pair with the column's pair
        return np.asarray(np.diagonal(self._changes(across, theta, slopes), axis1=2, axis2=3))

    def _changes(self, sums: Floats, theirs: Floats, slopes: Floats) -> Floats:
        """Covariances of rates from those of their tops and bottoms; `theirs` are the rates of the columns."""
        many = len(self.forms)
        found = np.empty((many, many, *sums.shape[2:]))
        for i in range(many):
            for j in range(many):
                tt, tb, bt, bb = (sums[2 * i + a, 2 * j + b] for a in (0, 1) for b in (0, 1))
                rows, columns = self.theta[i][:, None], theirs[j]
                change = tt - columns * tb - rows * bt + rows * columns * bb
                found[i, j] = change * self.slopes[i][:, None] * slopes[j]
        return found

    def clustered(self, i: int) -> Clustered:
        """One of the rates, as of as many strangers as vary as much."""
        theta, people = self.theta[i], self.people[i]
        n = strangers(theta, np.diagonal(self.covariance[i, i]), people, self.worth[i])
        n = np.where(np.isnan(theta), 0.0, n)
        freedom = np.clip(self.worth[i] - 1, 0.0, self.of.clusters.freedom)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.sqrt(theta * (1 - theta) / np.maximum(n - 1, 1))
        own = None if self.own is None else self.own[i, i]
        together = Together(self.covariance[i, i], errors, own)
        return Clustered(np.nan_to_num(theta) * n, n, self.forms[i], people, freedom, together)

    def average(self, parts: Sequence[Clustered]) -> ClusteredAverage:
        """Their mean."""
        errors = np.stack([part.together.errors for part in parts])
        within = np.diagonal(self.covariance, axis1=2, axis2=3)  # [rates, rates, groups]
        with np.errstate(divide="ignore", invalid="ignore"):
            between = np.nan_to_num(np.clip(within / (errors[:, None] * errors[None, :]), -1.0, 1.0))
        between[np.arange(len(parts)), np.arange(len(parts))] = 1.0
        mean = np.sqrt(np.einsum("ig,jg,ijg->g", errors, errors, between)) / len(parts)
        own = None if self.own is None else self.own.mean(axis=(0, 1))
        return ClusteredAverage(parts, between, Together(self.covariance.mean(axis=(0, 1)), mean, own))


def _rates(tops: Floats, bottoms: Floats) -> tuple[Floats, Floats]:
    """Rates, and how fast they rise with their tops."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(bottoms > 0, 1 / bottoms, np.nan)
    return tops * slopes, slopes


def _joined(sums: Floats, whose: Whose) -> Floats:
    """Covariances of totals of pairs, [..., pairs, pairs], as those of the groups that are asked for."""
    if whose == "groups":
        return sums
    both = sums.sum(axis=(-2, -1), keepdims=True)
    if whose == "everyone":
        return np.asarray(both)
    return np.asarray(both - sums.sum(axis=-1, keepdims=True) - sums.sum(axis=-2, keepdims=True) + sums)


def _of_everyone(sums: Floats) -> Floats:
    """The same with everyone's total as the bottom of every pair; top and bottom take turns on the first two axes."""
    found = sums.copy()
    found[1::2, ::2] = sums[1::2, ::2].sum(axis=-2, keepdims=True)
    found[::2, 1::2] = sums[::2, 1::2].sum(axis=-1, keepdims=True)
    found[1::2, 1::2] = sums[1::2, 1::2].sum(axis=(-2, -1), keepdims=True)
    return found


def _pattern(cells: Floats) -> Floats:
    whole = np.zeros(9)
    whole[_PLACES] = cells
    return whole
