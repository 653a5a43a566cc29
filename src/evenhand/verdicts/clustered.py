"""Rows that belong together: which findings take account of it, and what is said of those that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.core.results import spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, as_typed, join_names
from evenhand.inference.clustered import Clustered, ClusteredAverage
from evenhand.inference.spread import Spread
from evenhand.measures.base import Measure
from evenhand.verdicts.request import Request

if TYPE_CHECKING:
    from evenhand.cube.clusters import Clusters

FEWEST_CLUSTERS = 30
"""With fewer clusters in a group nothing passes: their variance is not known well enough."""


def covers(cube: Cube, measures: Sequence[Measure]) -> bool:
    """Is it known how much these measures vary? Rates are covered by sums over clusters, other measures are not."""
    return not cube.clustered or (cube.clusters is not None and all(row.made_of in _RATES for row in measures))


_RATES = ("cells", "classes")


def alone(request: Request) -> Request:
    """The request for a value that is not judged."""
    return replace(request, threshold=None, covered=False)


def why_alone(cube: Cube) -> str:
    """Why a finding has a value alone."""
    of = f"Rows with the same {cube.meaning.cluster} belong together"
    if cube.clusters is None:
        return f"{of}, and the sums over them were not kept, so this has no interval and is not judged."
    why = f"{of}. How much this value varies does not follow from rates, so it has no interval and is not judged."
    if cube.meaning.exposure is None:
        return why
    return (
        f"{why} The actual-to-expected ratio has one if events, exposure and expected events are added up to one row "
        f"for each {cube.meaning.cluster}, and {as_typed('cluster=', '--cluster')} is left out."
    )


def check_interval(request: Request, cube: Cube) -> None:
    """Refuse an interval that takes rows for strangers."""
    if cube.clustered and request.policy.interval not in ("simultaneous", "none"):
        raise CallError(
            f"interval={request.policy.interval!r} takes rows for strangers, and those of one "
            f"{cube.meaning.cluster} belong together: leave interval= out, or set it to 'simultaneous'."
        )


def clusters_in(cube: Cube) -> list[int]:
    """How many clusters have rows in each pair of a cube; of pairs that were joined later, at least so many."""
    assert cube.clusters is not None  # noqa: S101 - only asked where they are kept
    known = cube.clusters.in_pairs((cube.meaning.control, cube.meaning.sensitive), cube.pairs)
    worth = _worth(cube.clusters, len(cube.pairs))
    return [
        int(np.ceil(least - 1e-9)) if number is None else number for number, least in zip(known, worth, strict=True)
    ]


def _worth(clusters: Clusters, pairs: int) -> Floats:
    """As how many clusters of one size those of each pair count."""
    pattern = np.ones(clusters.cells)
    squares, totals = np.diagonal(clusters.squares(pattern, pairs)), clusters.totals(pattern, pairs)
    return np.asarray(np.divide(totals**2, squares, out=np.zeros(pairs), where=squares > 0))


def few_clusters(cube: Cube, spreads: Sequence[Spread | None]) -> Ints:
    """How many clusters each measure of each pair rests on, [measures, pairs], where those are too few; else 0.

    Those with rows in the pair are counted. How many of them have anyone in the denominator is estimated from as how
    many clusters of one size they count.
    """
    found = np.zeros((len(spreads), len(cube.pairs)), dtype=np.int64)
    if not cube.clustered or cube.clusters is None:
        return found
    numbers = np.array(clusters_in(cube), dtype=np.float64)
    worth = _worth(cube.clusters, len(cube.pairs))
    for i, spread in enumerate(spreads):
        parts = spread.parts if isinstance(spread, ClusteredAverage) else [spread]
        free = [part.freedom for part in parts if isinstance(part, Clustered)]
        if free:
            share = np.divide(np.min(free, axis=0) + 1, worth, out=np.ones(len(worth)), where=worth > 0)
            several = np.maximum(np.round(numbers * np.minimum(share, 1.0)), 1)
            found[i] = np.where(several < FEWEST_CLUSTERS, several, 0)
    return found


def few_clusters_note(cube: Cube, few: Ints) -> str:
    """That groups have too few clusters, with how many; `few` is [pairs]."""
    names = [f"{spell(cube.pairs[i][1], cube.meaning.sensitive)} ({few[i]:,})" for i in np.flatnonzero(few).tolist()]
    return (
        f"Fewer than {FEWEST_CLUSTERS} clusters of {cube.meaning.cluster}: {join_names(names, 6)}. How much so few "
        "vary is not known well enough for a pass."
    )
