"""What files and engines share: the statistics they compute before the group-by, and how its lines are read.

An engine groups by raw values and by the bin of a score. To cut a score, its range must be known, and whether it has
few values; the engine computes them first, where the arguments do not say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.errors import DataError, Problems, shorten
from evenhand.sources import scores
from evenhand.sources.bins import GRID
from evenhand.sources.clusters import complain_missing
from evenhand.sources.columns import numbers
from evenhand.sources.lines import Lines, complain_count, complain_weight, names_by_side, names_of_sums
from evenhand.sources.roles import Roles
from evenhand.sources.scores import ScoreReading

MOST_LINES = 2_000_000
"""A group-by with more lines than this is refused: its groups would be single people."""
MOST_LEVELS = 2000
"""Levels of a numeric attribute from which it is cut at its quantiles before the group-by."""


class Statistics(Protocol):
    """Statistics of the numbers of one role, without missing ones."""

    def extremes(self, role: str, *, count: bool) -> tuple[float | None, float | None, bool]:
        """The smallest and the largest number; with `count` also whether there may be few distinct ones."""

    def values(self, role: str) -> Sequence[float]:
        """The distinct numbers; more than GRID of them are cut short."""

    def quantiles(self, role: str, parts: int) -> Floats:
        """The edges of parts that hold equally many people, or equally much of their weight, each a number that occurs,
        with both ends; empty without rows."""


def settle(roles: Roles, statistics: Statistics) -> ScoreReading | None:
    """How the score, or the prediction of a regressor, is cut; None where there is neither."""
    if roles.axis is None:
        return None
    read = _score(roles, statistics)
    return replace(read, outcome=_outcome(roles, statistics)) if roles.task == "regression" else read


def say_outside(roles: Roles, statistics: Statistics) -> None:
    """Raise the error that names a score outside its range; the group-by itself does not keep such a score."""
    _score(roles, statistics, look=True)


def _score(roles: Roles, statistics: Statistics, *, look: bool = False) -> ScoreReading:
    like = roles.like_scores if roles.like_scores is not None and not roles.like_scores.bins.exact else None
    known = (like.bins.low, like.bins.high) if like is not None else roles.score_range
    axis = str(roles.axis)
    if look or known is None or (like is None and roles.strategy == "quantile"):
        low, high, few = statistics.extremes(axis, count=roles.score_range is None)
    else:
        (low, high), few = known, False
    if low is None or high is None:
        raise DataError(f"{roles.axis_title} has no number at all.")
    if not (math.isfinite(low) and math.isfinite(high)):
        raise DataError(f"{roles.axis_title} holds an infinite value; cut it to a range first.")
    if like is not None:
        return scores.settled(roles, like, low, high)
    if roles.resolution == "exact":
        raise DataError("resolution='exact' keeps every distinct score and is for data in memory.")
    values = None
    if few and roles.score_range is None:
        levels = statistics.values(axis)
        values = np.array(levels, dtype=np.float64) if len(levels) <= GRID else None
    quantiles = statistics.quantiles(axis, roles.bins)[1:-1] if roles.strategy == "quantile" else None
    return scores.prepare(roles, float(low), float(high), values, quantiles)


def _outcome(roles: Roles, statistics: Statistics) -> tuple[float, ...]:
    """The edges of the bands of the label of a regressor; () without a label."""
    if roles.label is None:
        return ()
    like = roles.like_scores.outcome if roles.like_scores is not None else None
    if roles.label in roles.bands or like:
        found = [end for end in statistics.extremes("label", count=False)[:2] if end is not None]
        edges = np.array(found, dtype=np.float64)
    else:
        edges = statistics.quantiles("label", scores.OUTCOME_BANDS)
    low, high = scores.extent(edges, f"label column {shorten(roles.label)!r}")
    return scores.settled_outcome(roles, low, high, edges[1:-1])


def lines_of(columns: Mapping[str, Any], keys: Mapping[str, Any], roles: Roles, read: ScoreReading | None) -> Lines:
    """The lines of a group-by. `keys` are the raw values by the key of their role; `found` holds the column n, and as
    the roles need them decided, band, bin, wrong_count, wrong_weight, w, w2 and the sums of `names_of_sums` and
    `names_by_side`."""
    lines = dict(keys)
    if "decided" in columns:
        lines["decided"] = floats(columns["decided"]).astype(np.int8)
    if "band" in columns:
        lines["band"] = floats(columns["band"]).astype(np.int32)
    if read is not None:
        places = floats(columns["bin"])
        lines["bin"] = read.bins.codes(places) if read.bins.exact else read.bins.settle(places, read.twice)
    problems = Problems()
    complain_count(int(floats(columns.get("wrong_count", ())).sum()), str(roles.count), problems)
    complain_weight(int(floats(columns.get("wrong_weight", ())).sum()), roles, problems)
    for role in ("design_strata", "cluster"):
        complain_missing(role, roles, int(floats(columns.get(f"wrong_{role}", ())).sum()), problems)
    problems.raise_if_any(DataError)
    people = _whole(columns["n"])
    weights = [floats(columns[name]) if roles.weight is not None else None for name in ("w", "w2")]
    sums = None
    if read is not None:
        names = [name for name in names_of_sums(read, roles.weight is not None) if name not in ("w", "w2")]
        names += names_by_side(roles.weight is not None) if sums_losses(roles, read) else ()
        sums = {name: floats(columns[name]) for name in names}
    return Lines(lines, len(people), people, weights[0], weights[1], reading=read, score_sums=sums)


def sums_losses(roles: Roles, read: ScoreReading | None) -> bool:
    """Is the group-by to sum the losses of probabilities?"""
    return roles.label is not None and read is not None and read.hides_losses


def outside(lines: Lines) -> bool:
    """Does a line hold a score outside the range?"""
    return lines.reading is not None and bool((lines.columns["bin"] >= lines.reading.bins.count).any())


def floats(values: Any) -> Floats:
    """A column of numbers from any engine as floats, NaN where one is missing."""
    if isinstance(values, (list, tuple)):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return numbers(values, "column", "of numbers")[0]


def _whole(values: Any) -> Ints:
    """A column of whole numbers from any engine, past 2⁵³ too; none is missing."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    return np.asarray(np.ma.getdata(values)).astype(np.int64)
