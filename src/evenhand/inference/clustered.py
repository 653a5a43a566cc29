"""Rates of rows that belong together: limits as of fewer strangers, and what groups have in common.

A rate of clustered rows varies as much as one of n / deff strangers, where deff is the design effect. Its variance is
estimated from as many clusters as there are, hence Student's quantile by clusters in place of that by people (Korn and
Graubard 1998). Limits are then those of a share of so many strangers, which stay honest at 0 of n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.inference.spread import Average, Proportions, Spread

_DOUBT = 2.0  # clusters of one outcome that are assumed beside those that were seen
_WORTH = 10.0  # clusters that the design effect of the other groups counts as, beside a group's own


class Together(NamedTuple):
    """What the errors of groups have in common because they share clusters.

    `covariance` is [groups, groups] and `errors` are those that the limits are made of, which may be larger than the
    roots of its diagonal. `own` is, of the rest of each group, the covariance with that group itself.
    """

    covariance: Floats
    errors: Floats
    own: Floats | None = None

    @property
    def correlations(self) -> Floats:
        """Between all groups, [groups, groups]."""
        return _correlations(self.covariance, self.errors[:, None], self.errors[None, :])

    def with_base(self, base: Together) -> Floats:
        """Between each group and its baseline, [groups]."""
        assert base.own is not None  # noqa: S101 - a baseline is made with it
        return _correlations(base.own, self.errors, base.errors)

    def chosen(self, places: Sequence[int], multiplier: float = 1.0) -> Together:
        """Some of the groups, with `multiplier` times as many clusters; `own` is then with the groups as they were."""
        many = list(places)
        own = None if len(many) != len(self.errors) else self.covariance[np.arange(len(many)), many]
        return Together(self.covariance[np.ix_(many, many)] / multiplier, self.errors[many] / multiplier**0.5, own)


def _correlations(covariance: Floats, mine: Floats, theirs: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.clip(covariance / (mine * theirs), -1.0, 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class Clustered(Proportions):
    """k of n strangers in each group, as many as would make a rate vary as much as the clusters do.

    `people` are the rows that it rests on, `freedom` the degrees of freedom by clusters.
    """

    people: Floats
    freedom: Floats
    together: Together

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        chosen = list(places)
        k, n, people, clusters = (part[chosen] * multiplier for part in (self.k, self.n, self.people, self.freedom + 1))
        return replace(
            self, k=k, n=n, people=people, freedom=clusters - 1, together=self.together.chosen(chosen, multiplier)
        )

    def lower(self, deviate: float, offset: float) -> Floats:
        return self._strangers(deviate).lower(deviate, offset)

    def upper(self, deviate: float, offset: float) -> Floats:
        return self._strangers(deviate).upper(deviate, offset)

    def _strangers(self, deviate: float) -> Proportions:
        """So many strangers that their limits at a normal deviate are those of so few clusters at Student's."""
        from scipy.special import ndtr, stdtrit

        tail = ndtr(-abs(deviate))
        rows, clusters = (stdtrit(np.maximum(part, 1.0), tail) for part in (self.people - 1, self.freedom))
        if tail == 0.5:  # at no deviate at all
            return Proportions(self.k, self.n, self.form)
        with np.errstate(invalid="ignore"):  # beyond every quantile, of which few clusters know nothing
            fewer = np.clip(np.nan_to_num(rows / clusters, nan=0.0, posinf=1.0), 0.0, 1.0) ** 2
        return Proportions(self.k * fewer, self.n * fewer, self.form)


@dataclass(frozen=True, eq=False, repr=False)
class ClusteredAverage(Average):
    """The mean of measures of the same clusters; `between` are correlations of the parts, [parts, parts, groups]."""

    between: Floats
    together: Together

    @property
    def variances(self) -> Floats:
        errors = np.sqrt(np.stack([part.variances for part in self.parts]))
        return np.asarray(np.einsum("ig,jg,ijg->g", errors, errors, self.between) / len(self.parts) ** 2)

    @property
    def deviations(self) -> Floats:
        errors = np.stack([part.deviations for part in self.parts])
        return np.asarray(np.sqrt(np.einsum("ig,jg,ijg->g", errors, errors, self.between)) / len(self.parts))

    def scaled(self, multiplier: float, places: Sequence[int]) -> Spread:
        parts, chosen = [part.scaled(multiplier, places) for part in self.parts], list(places)
        return ClusteredAverage(parts, self.between[:, :, chosen], self.together.chosen(chosen, multiplier))

    def _joined(self, reach: Floats) -> Floats:
        squares = np.einsum("ig,jg,ijg->g", reach, reach, self.between)
        # At least as far as the smallest part alone would reach: correlations are estimates too.
        return np.asarray(np.sqrt(np.maximum(squares, (reach**2).min(axis=0))))


def strangers(theta: Floats, variance: Floats, people: Floats, worth: Floats) -> Floats:
    """As how many strangers the rows of each group count: people / deff, [groups].

    `variance` is that over clusters, `worth` as how many clusters of one size the clusters of a group count. The design
    effect of a group is moderated by that of all groups together, which is taken alone where every row of a group has
    the same outcome, so that its own is not known.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = theta * (1 - theta) / np.maximum(people - 1, 1)
        known = plain > 0
        own = np.maximum(np.where(known, variance / plain, np.nan), 1.0)
        rows = np.maximum(np.where(worth > 0, people / worth, 1.0), 1.0)  # in a cluster of the usual size
        events = np.where(known, np.minimum(theta, 1 - theta) * people, 0.0)
        freedom = np.where(known, np.clip(np.minimum(worth - 1, events), 0.0, None), 0.0)
        inside = known & (rows > 1)
        within = np.where(inside, np.clip((own - 1) / (rows - 1), 0.0, 1.0), 0.0)
    # Where few clusters can tell, rows of one cluster are taken for one person.
    common = float(((freedom * within)[inside].sum() + _DOUBT) / (freedom[inside].sum() + _DOUBT))
    usual = 1 + common * (rows - 1)
    moderated = (freedom * np.where(known, own, 1.0) + _WORTH * np.fmax(own, usual)) / (freedom + _WORTH)
    return np.asarray(people / moderated)


def mean_of(parts: Sequence[Spread]) -> Spread:
    """The mean of measures with separate denominators. Of clusters, their errors may have anything to do with each
    other, and the margins are added."""
    shared = [part.together for part in parts if isinstance(part, Clustered)]
    if len(shared) < len(parts) or not parts:
        return Average(parts)
    errors = np.stack([part.errors for part in shared])
    own = [part.own for part in shared if part.own is not None]
    covariance = np.asarray(np.mean([part.covariance for part in shared], axis=0))
    together = Together(covariance, errors.mean(axis=0), np.asarray(np.mean(own, axis=0)) if own else None)
    return ClusteredAverage(parts, np.ones((len(parts), len(parts), errors.shape[1])), together)


def as_clustered(bound: Spread, known: Spread, plain: Spread) -> Spread:
    """A bound over missing labels with the design effects of the labels that are there: `known` over clusters, and
    `plain` as if they were strangers. A group without a design effect of its own takes the largest."""
    if isinstance(bound, Average) and isinstance(known, ClusteredAverage) and isinstance(plain, Average):
        parts = [as_clustered(*each) for each in zip(bound.parts, known.parts, plain.parts, strict=True)]
        return ClusteredAverage(parts, known.between, known.together)
    assert isinstance(bound, Proportions)  # noqa: S101 - bounds are of the same measure as what is known
    assert isinstance(known, Clustered)  # noqa: S101
    assert isinstance(plain, Proportions)  # noqa: S101
    with np.errstate(divide="ignore", invalid="ignore"):
        fewer = np.where((plain.n > 0) & (known.n > 0), known.n / plain.n, np.nan)
    fewer = np.where(np.isnan(fewer), np.fmin.reduce(fewer, initial=1.0), fewer)
    freedom = np.where(known.freedom > 0, known.freedom, np.fmin.reduce(known.freedom, initial=1.0))
    return Clustered(bound.k * fewer, bound.n * fewer, bound.form, bound.n, freedom, known.together)


def together_of(spread: Any) -> Together | None:
    """What the groups of a spread have in common; None of strangers."""
    return spread.together if isinstance(spread, Clustered | ClusteredAverage) else None
