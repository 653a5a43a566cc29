"""How a score, or the prediction of a regressor, is read: its range, direction and bins. Shared by all sources."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Array, Bools, Floats, Indices
from evenhand.errors import CallError, DataError, shorten
from evenhand.sources.bins import GRID, Bins, grid, natural_range, uniform_edges
from evenhand.sources.quantiles import inner_edges
from evenhand.sources.roles import Roles

OUTCOME_BANDS = 5
TINY = float(np.finfo(np.float64).eps)
"""A probability is taken as this far from 0 and 1 at least where its logarithm is needed, as in scikit-learn."""
_LARGEST = 1e100  # above it, squares and their sums overflow
_FEW_EDGES = 3  # with this many edges, or odd scores, comparing each is cheap


class Pace(NamedTuple):
    """For equally wide edges, floor((score − low) · scale) counts the edges at or below a score.

    `odd` holds the few scores for which rounding makes that wrong by one.
    """

    scale: float
    odd: tuple[float, ...]


@dataclass(frozen=True)
class ScoreReading:
    """The range of a score, whether it is mirrored, and how it is cut.

    A score that is higher for the negative class is read as low + high − s (for a probability 1 − p), and so is the
    cutoff; from then on higher means positive.
    """

    bins: Bins
    edges: tuple[float, ...]
    mirror: float | None = None
    cutoff: float | None = None
    outcome: tuple[float, ...] | None = None
    """For a regressor, the edges of the bands of the label; () without a label. None for any other task."""

    @cached_property
    def pace(self) -> Pace | None:
        """A formula that counts the calibration edges at or below a score; None where comparing each is cheaper."""
        return _pace(self.bins, self.edges) if len(set(self.edges) & set(self.bins.extra)) > _FEW_EDGES else None

    @property
    def compared(self) -> tuple[float, ...]:
        """The edges that an engine compares with a score one by one."""
        return self.bins.extra if self.pace is None else tuple(set(self.bins.extra) - set(self.edges))

    @property
    def twice(self) -> tuple[float, ...]:
        """Edges that the engine's formula counts twice; `Bins.settle` subtracts them."""
        return () if self.pace is None else tuple(set(self.edges[1:-1]) - set(self.bins.extra))

    def place(self, score: float) -> float:
        """The bin that an engine should compute for a score, before `Bins.settle`: its cell plus the edges below."""
        cell = min(math.floor((score - self.bins.low) * self.bins.scale), self.bins.cells - 1)
        return float(cell + sum(edge <= score for edge in (*self.bins.extra, *self.twice)))

    @property
    def hides_losses(self) -> bool:
        """Do bins hold many values of a probability, so that losses must be summed while rows are counted?"""
        return self.outcome is None and self.bins.is_probability and not self.bins.exact

    @property
    def labels(self) -> int:
        """The length of the label axis; its last entry is for people without a label."""
        return 3 if self.outcome is None else max(len(self.outcome), 1)

    @property
    def calibration_bin(self) -> Indices:
        """The calibration bin of each score bin; the last one is closed."""
        edges = np.array(self.edges)
        return np.clip(np.searchsorted(edges, self.bins.starts, side="right") - 1, 0, len(edges) - 2)

    @property
    def middle(self) -> float:
        """The number that predictions and outcomes are measured from, so that sums of powers keep their digits."""
        return (self.bins.low + self.bins.high) / 2

    def turn(self, scores: Floats) -> Floats:
        return scores if self.mirror is None else self.mirror - scores


def prepare(
    roles: Roles, low: float, high: float, values: Floats | None, quantiles: Floats | None = None
) -> ScoreReading:
    """How a score with these extremes is read; `values` are its distinct values where they are few enough to be bins.

    `quantiles` are the inner edges of calibration bins that hold equally many people (strategy="quantile").
    """
    if roles.score_range is not None:
        if low < roles.score_range[0] or high > roles.score_range[1]:
            outside = low if low < roles.score_range[0] else high
            raise DataError(f"{roles.axis_title} holds {outside:g}, outside score_range={roles.score_range}.")
        low, high = roles.score_range
    else:
        low, high = natural_range(low, high)
    if abs(largest := max(low, high, key=abs)) > _LARGEST:
        raise DataError(f"{roles.axis_title} reaches {largest:g}, whose square is too large for a number: rescale it.")
    mirror = low + high if roles.higher_is == "negative" else None
    cutoff = roles.cutoff if roles.cutoff is None or mirror is None else mirror - roles.cutoff
    edges = uniform_edges(low, high, roles.bins)
    if quantiles is not None:
        inner = np.unique(quantiles if mirror is None else mirror - quantiles)
        edges = (low, *(float(edge) for edge in inner if low < edge < high), high)
    if values is not None:
        turned = np.sort(values if mirror is None else mirror - values)
        return ScoreReading(Bins(low, high, values=tuple(float(v) for v in turned)), edges, mirror, cutoff)
    cuts = [edge for edge in (*edges[1:-1], cutoff) if edge is not None]
    return ScoreReading(grid(low, high, cuts), edges, mirror, cutoff)


def read_scores(scores: Floats, missing: Bools, roles: Roles, mass: Array | None = None) -> ScoreReading:
    """How a score in memory is read; `mass` says how much each row counts where bins are quantiles."""
    seen = scores[~missing] if missing.any() else scores
    low, high = extent(seen, roles.axis_title)
    if roles.like_scores is not None and not roles.like_scores.bins.exact:
        return settled(roles, roles.like_scores, low, high)
    quantiles = None
    if roles.strategy == "quantile":
        quantiles = inner_edges(seen, roles.bins, None if mass is None else mass[~missing])
    return prepare(roles, low, high, _few_values(seen, roles.resolution), quantiles)


def extent(seen: Floats, title: str) -> tuple[float, float]:
    """The smallest and the largest of some numbers, which must be finite."""
    if seen.size == 0:
        raise DataError(f"{title} has no value at all.")
    low, high = float(seen.min()), float(seen.max())
    if not math.isfinite(low) or not math.isfinite(high):
        raise DataError(f"{title} holds an infinite value; cut it to a range first.")
    return low, high


def outcome_edges(seen: Floats, roles: Roles, mass: Array | None = None) -> tuple[float, ...]:
    """The bands of the label of a regressor: those of bands=, those of like=, or quantiles of what `mass` counts."""
    low, high = extent(seen, f"label column {shorten(str(roles.label))!r}")
    return settled_outcome(roles, low, high, inner_edges(seen, OUTCOME_BANDS, mass))


def settled_outcome(roles: Roles, low: float, high: float, inner: Floats) -> tuple[float, ...]:
    """The bands of the label from its extremes and the `inner` quantiles, unless bands= or like= has them."""
    known = roles.bands.get(str(roles.label)) or (roles.like_scores.outcome if roles.like_scores is not None else None)
    if known is None:
        edges = tuple(dict.fromkeys([low, *(float(edge) for edge in inner), high]))
        return edges if len(edges) > 1 else (low, high)
    if low < known[0] or high > known[-1]:
        outside = low if low < known[0] else high
        raise DataError(
            f"label column {shorten(str(roles.label))!r} holds {outside:g}, outside its bands ({known[0]:g} to "
            f"{known[-1]:g}); widen bands=."
        )
    return tuple(known)


def band_codes(outcomes: Floats, edges: tuple[float, ...]) -> npt.NDArray[np.int32]:
    """The band of each outcome, the last one closed; −1 where there is none (NaN)."""
    place = np.clip(np.searchsorted(edges, outcomes, side="right") - 1, 0, len(edges) - 2)
    return np.where(np.isnan(outcomes), -1, place).astype(np.int32)


def settled(roles: Roles, like: ScoreReading, low: float, high: float) -> ScoreReading:
    """The reading of another cube, after a check that these scores fit into it and mean the same."""
    if low < like.bins.low or high > like.bins.high:
        outside = low if low < like.bins.low else high
        raise DataError(
            f"{roles.axis_title} holds {outside:g}, outside the range of like= ({like.bins.low:g} to "
            f"{like.bins.high:g})."
        )
    if (roles.higher_is == "negative") != (like.mirror is not None):
        raise CallError(
            f"the cube given as like= reads the score the other way round: higher_is={roles.higher_is!r} here."
        )
    cutoff = roles.cutoff if roles.cutoff is None or like.mirror is None else like.mirror - roles.cutoff
    if cutoff is not None and cutoff != like.cutoff:
        raise CallError(
            f"the cube given as like= is not cut at cutoff={roles.cutoff:g}: count that one with the same cutoff."
        )
    return like


def _pace(bins: Bins, edges: tuple[float, ...]) -> Pace | None:
    """The formula of `ScoreReading.pace`. The count rises with the score, so both sides of each edge are checked; the
    upper end is an edge where the highest score has a bin of its own."""
    scale, odd = (len(edges) - 1) / (bins.high - bins.low), []
    for k, edge in enumerate(edges[1:] if bins.closed_above else edges[1:-1], 1):
        for score, way in ((edge, math.inf), (math.nextafter(edge, -math.inf), -math.inf)):
            seen = score
            while (math.floor((seen - bins.low) * scale) >= k) != (seen >= edge):
                odd.append(seen)
                seen = math.nextafter(seen, way)
                if len(odd) > _FEW_EDGES:
                    return None
    return Pace(scale, tuple(odd))


def _few_values(seen: Floats, resolution: str) -> Floats | None:
    """The distinct scores where they are few enough to be bins, else None; a sample rules most scores out quickly."""
    if resolution == "exact":
        return np.unique(seen)
    if len(np.unique(seen[: 4 * GRID])) > GRID:
        return None
    values = np.unique(seen)
    return values if len(values) <= GRID else None
