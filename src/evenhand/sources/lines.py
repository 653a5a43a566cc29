"""Lines: the raw result of a source; errors of counts and weights; and which sums a line may hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats, Indices, Ints
from evenhand.core.wording import number_of
from evenhand.errors import Problems, shorten
from evenhand.sources.columns import numbers
from evenhand.sources.quantiles import mass_of
from evenhand.sources.roles import Roles
from evenhand.sources.scores import ScoreReading

LARGEST_COUNT = 2**53 - 1
LARGEST_WEIGHT = 1e60
SMALLEST_WEIGHT = 1e-60
"""Outside these limits sums of squares and products would overflow, or vanish. A weight may also be 0."""

NOT_A_WEIGHT = f"negative, missing or infinite, or outside {SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"

PLAIN = ("s", "s2")
WEIGHTED = ("w", "w2", "ws", "w2s", "w2s2")

LOSSES = ("l", "l2")
WEIGHTED_LOSSES = ("ws2", "wl", "w2l", "w2l2")
"""What the mean score of a bin does not tell: the log loss l of each person and its square, and Σws² for the Brier
score. They are summed where a bin holds many values of a probability, and labels say what happened."""

SIDES = ("no_", "yes_")
"""A loss depends on whether the label is positive, which engines do not know: they sum the loss of both cases, as
"no_l" and "yes_l", and the tally takes the one that happened. Σws² is the same for both."""

MOMENTS = ("f", "ff", "y", "yy", "yyy", "yyyy", "e", "ee", "eee", "eeee", "a", "eey", "eeyy", "ay", "p", "pp")
"""Of a regressor, each a product of its letters: the prediction f and the outcome y, both measured from the middle of
the range, the residual e = y − f, its size a, and p, its size as a share of that of the outcome (of at least TINY).
Without a label all but those of f are 0."""
LATER_MOMENTS = ("eee", "ay", "p", "pp")
"""Those that tables from earlier versions do not hold."""
TINY = 2.0**-52
"""What an outcome of 0 is taken as where residuals are divided by it, as in scikit-learn."""


def names_of_sums(reading: ScoreReading, weighted: bool) -> tuple[str, ...]:
    """The sums that a score table holds in addition to people, in order."""
    if reading.outcome is None:
        return WEIGHTED if weighted else PLAIN
    if not weighted:
        return MOMENTS
    return ("w", "w2", *(f"{by}_{moment}" for by in ("w", "w2") for moment in MOMENTS))


def names_of_later(weighted: bool) -> frozenset[str]:
    """The sums of `LATER_MOMENTS`."""
    return frozenset(f"{by}{moment}" for by in (("w_", "w2_") if weighted else ("",)) for moment in LATER_MOMENTS)


def names_of_losses(weighted: bool) -> tuple[str, ...]:
    """The sums of losses that a score table holds, all of them or none."""
    return WEIGHTED_LOSSES if weighted else LOSSES


def names_by_side(weighted: bool) -> tuple[str, ...]:
    """The sums of losses as engines compute them."""
    names = names_of_losses(weighted)
    return tuple(side + name for name in names for side in (("",) if name == "ws2" else SIDES))


class Members(NamedTuple):
    """Lines by cluster: the cluster of each, its place among the cells of a cube, and how much it counts there, which
    is 1 without `mass`. All lines of a cluster are here; `stratum_of` is the design stratum of each cluster."""

    strata: tuple[str, ...]
    stratum_of: Indices
    cluster: Indices
    place: Indices
    mass: Array | None = None


class SummedClusters(NamedTuple):
    """What an engine has summed over clusters, as in `cube.clusters`: sums and products of places by design stratum."""

    strata: tuple[str, ...]
    counts: Ints
    sum_stratum: Indices
    sum_place: Indices
    sums: Floats
    product_stratum: Indices
    first: Indices
    second: Indices
    products: Floats
    distinct: Sequence[tuple[Indices, Ints]]
    """For each set of keys that was asked for: a line of each group, and how many clusters are in the group."""


class ClusterRequest(NamedTuple):
    """What the tally knows once lines are counted: the place of each line, −1 where it is left out; where attributes
    are cut; and the sets of keys in whose groups clusters are to be counted."""

    places: Indices
    bands: Mapping[str, tuple[float, ...]]
    sets: Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """Raw lines: a column for each key of the roles. `n`, `w`, `w2` are set where an engine has summed them,
    `edges` where it had to choose the bands of an attribute itself."""

    columns: Mapping[str, Any]
    length: int
    n: Ints | None = None
    w: Floats | None = None
    w2: Floats | None = None
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    categories: frozenset[str] = frozenset()
    """The attributes that the source itself holds as categories."""
    reading: ScoreReading | None = None
    scores: Floats | None = None
    """The score of each line, or the prediction of a regressor, where lines are rows."""
    outcomes: Floats | None = None
    """The label of each line as a number, where the lines are rows of a regressor."""
    score_sums: Mapping[str, Floats] | None = None
    """The sums of `names_of_sums` and, where the reading needs them, of `names_by_side` for each line, where an engine
    has computed them; then there are no `scores`."""
    clusters: Callable[[ClusterRequest], Iterable[Members] | SummedClusters] | None = None
    """Asks the engine for clusters, where lines are not rows."""


class Masses(NamedTuple):
    """How many people each row stands for, and the weight of each of them; None where every row is one, or has none.

    What is not a count or a weight is 0 here, and counted as wrong.
    """

    people: Ints | None
    weights: Floats | None
    wrong_counts: int = 0
    wrong_weights: int = 0

    @property
    def total(self) -> Array | None:
        """How much each row counts in a quantile."""
        people = 1 if self.people is None else self.people
        return mass_of(self.people, None if self.weights is None else people * self.weights)


def read_masses(columns: Mapping[str, Any], roles: Roles) -> Masses:
    """The counts and weights of rows in memory."""
    people, weights, wrong = None, None, [0, 0]
    if roles.count is not None:
        counts, _ = numbers(columns["count"], "count", roles.count, roles.na)
        bad = ~((counts >= 0) & (counts <= LARGEST_COUNT) & (counts == np.floor(counts)))
        people, wrong[0] = np.where(bad, 0, counts).astype(np.int64), int(bad.sum())
    if roles.weight is not None:
        weights, _ = numbers(columns["weight"], roles.called("weight"), roles.weight, roles.na)
        bad = wrong_weights(weights)
        if roles.exposure is not None:
            bad |= weights == 0
        weights, wrong[1] = np.where(bad, 0, weights), int(bad.sum())
    return Masses(people, weights, *wrong)


def wrong_weights(weights: Floats) -> Bools:
    """Which numbers are not weights: neither 0 nor within the limits."""
    return np.asarray(~((weights == 0) | ((weights >= SMALLEST_WEIGHT) & (weights <= LARGEST_WEIGHT))))


def complain_count(wrong: int, name: str, problems: Problems) -> None:
    if wrong:
        problems.add(
            f"count column {shorten(name)!r} is negative, missing, infinite or not whole, or above {LARGEST_COUNT:,}, "
            f"in {number_of(wrong)}: a count says how many people a row stands for."
        )


def complain_weight(wrong: int, roles: Roles, problems: Problems) -> None:
    name = str(roles.weight)
    if wrong and roles.exposure is not None:
        problems.add(
            f"exposure column {shorten(name)!r} is 0, negative, missing or not a number in {number_of(wrong)}: nothing "
            "can be expected where nothing was exposed. Leave these rows out, or correct them."
        )
    elif wrong:
        problems.add(
            f"weight column {shorten(name)!r} is {NOT_A_WEIGHT}, in {number_of(wrong)}: a weight is 0 or a number of "
            "that size. Only the ratios of weights matter: divide all of them by the largest."
        )


def complain_twice(twice: Collection[str], roles: Roles, problems: Problems) -> None:
    """Each role needs exactly one column of its name; other names may occur several times."""
    for key, name in roles.keys.items():
        if key not in roles.arrays and name in twice:
            problems.add(f"the data has several columns named {shorten(name)!r}; rename them.")
