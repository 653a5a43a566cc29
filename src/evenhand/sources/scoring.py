"""How a score is read: its range, its direction, its bins. Shared by every source."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.errors import DataError, shorten
from evenhand.roles import Roles
from evenhand.sources.bins import GRID, Bins, grid, natural_range, uniform_edges

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """The range of a score, whether it is mirrored, and how it is cut.

    A score that is higher for the negative class is read as low + high − s (for a probability 1 − p), and so is the
    cutoff; from then on higher means positive.
    """

    bins: Bins
    edges: tuple[float, ...]
    mirror: float | None = None
    cutoff: float | None = None

    def turn(self, scores: Floats) -> Floats:
        return scores if self.mirror is None else self.mirror - scores


def prepare(roles: Roles, low: float, high: float, values: Floats | None, quantiles: Floats | None = None) -> Reading:
    """Settle the bins: `low` and `high` are the extremes seen, `values` the distinct scores if they are few enough.

    `quantiles` are the inner edges of calibration bins that hold equally many people, where that was asked for.
    """
    name = shorten(str(roles.score))
    if roles.score_range is not None:
        if low < roles.score_range[0] or high > roles.score_range[1]:
            outside = low if low < roles.score_range[0] else high
            raise DataError(f"score column {name!r} holds {outside:g}, outside score_range={roles.score_range}.")
        low, high = roles.score_range
    else:
        low, high = natural_range(low, high)
    mirror = low + high if roles.higher_is == "negative" else None
    cutoff = roles.cutoff if roles.cutoff is None or mirror is None else mirror - roles.cutoff
    edges = uniform_edges(low, high, roles.bins)
    if quantiles is not None:
        inner = np.unique(quantiles if mirror is None else mirror - quantiles)
        edges = (low, *(float(edge) for edge in inner if low < edge < high), high)
    if values is not None:
        turned = np.sort(values if mirror is None else mirror - values)
        return Reading(Bins(low, high, values=tuple(float(v) for v in turned)), edges, mirror, cutoff)
    cuts = [edge for edge in (*edges[1:-1], cutoff) if edge is not None]
    return Reading(grid(low, high, cuts), edges, mirror, cutoff)


def read(scores: Floats, missing: npt.NDArray[np.bool_], roles: Roles) -> Reading:
    """The reading of a score in memory."""
    seen = scores[~missing] if missing.any() else scores
    name = shorten(str(roles.score))
    if seen.size == 0:
        raise DataError(f"score column {name!r} has no value at all.")
    low, high = float(seen.min()), float(seen.max())
    if not math.isfinite(low) or not math.isfinite(high):
        raise DataError(f"score column {name!r} holds an infinite value; cut it to a range first.")
    if roles.like_scores is not None and not roles.like_scores.bins.exact:
        return settled(roles.like_scores, low, high, name)
    quantiles = None
    if roles.strategy == "quantile":
        quantiles = np.quantile(seen, np.arange(1, roles.bins) / roles.bins, method="inverted_cdf")
    return prepare(roles, low, high, _few_values(seen, roles.resolution), quantiles)


def settled(like: Reading, low: float, high: float, name: str) -> Reading:
    """The reading of another cube, if these scores fit in."""
    if low < like.bins.low or high > like.bins.high:
        outside = low if low < like.bins.low else high
        raise DataError(
            f"score column {name!r} holds {outside:g}, outside the range of like= ({like.bins.low:g} to "
            f"{like.bins.high:g})."
        )
    return like


def _few_values(seen: Floats, resolution: str) -> Floats | None:
    """The distinct scores, where they are to be the bins; a sample tells most continuous scores at once."""
    if resolution == "exact":
        return np.unique(seen)
    if len(np.unique(seen[: 4 * GRID])) > GRID:
        return None
    values = np.unique(seen)
    return values if len(values) <= GRID else None
