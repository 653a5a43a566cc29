"""A distance learned from a label: people with the same label are near, people with different labels are far.

The global form of Hastie and Tibshirani's discriminant metric (1996): points are whitened by the covariance within
labels, and a direction then counts the more, the further the labels differ along it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.errors import DataError, shorten
from evenhand.sources.columns import encode
from evenhand.sources.levels import as_numbers, quantile_edges

_MOST_LABELS = 20
_SHRINKAGE = 1e-3  # of the mean variance, added to each direction: one without any variance would have no scale
_FLOOR = 0.1  # the weight of a direction in which labels do not differ; the one in which they differ most has 1


def classes(label: Any, name: str = "label") -> tuple[Ints, str | None]:
    """The label as codes (−1 is missing), and a note where numbers of many values were cut at five quantiles."""
    levels, encoded = encode(label, f"label {shorten(name)!r}")
    codes = np.asarray(encoded, dtype=np.int64)
    used = np.unique(codes[codes >= 0])
    if len(used) < 2:
        raise DataError("distance='learned' needs a label of at least two values to learn from.")
    if len(used) <= _MOST_LABELS:
        return codes, None
    values = as_numbers([levels[i] for i in used], declared=False)
    if values is None:
        raise DataError(
            f"label {shorten(name)!r} has {len(used):,} values: a distance is learned from at most {_MOST_LABELS}."
        )
    edges = np.array(quantile_edges(values, np.bincount(codes[codes >= 0], minlength=len(levels))[used].astype(float)))
    lookup = np.full(len(levels) + 1, -1, dtype=np.int64)
    lookup[used] = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    return lookup[codes], f"The label has {len(used):,} values and was cut into {len(edges) - 1} bands to learn from."


def transformed(points: Floats, codes: Ints) -> Floats:
    """The points moved so that the learned distance is Euclidean. People without a label (−1) are not learned from."""
    known = codes >= 0
    present, places = np.unique(codes[known], return_inverse=True)
    inside = points[known]
    if len(inside) <= len(present):
        raise DataError("distance='learned' needs more labelled people than labels.")
    sizes = np.bincount(places)
    means = np.stack([np.bincount(places, weights=column) for column in inside.T], axis=1) / sizes[:, None]
    within = _covariance(inside - means[places], len(inside) - len(present))
    width = len(within)
    within += _SHRINKAGE * max(float(np.trace(within)) / width, 1e-12) * np.eye(width)
    values, vectors = np.linalg.eigh(within)
    whitening = vectors / np.sqrt(values)
    centred = (means - np.average(means, axis=0, weights=sizes)) @ whitening
    between, directions = np.linalg.eigh((centred * (sizes / sizes.sum())[:, None]).T @ centred)
    strongest = float(between.max())
    share = np.maximum(between, 0) / strongest if strongest > 1e-12 else np.ones(width)
    return np.ascontiguousarray(points @ whitening @ directions * np.sqrt(share + _FLOOR))


def _covariance(residuals: Floats, freedom: int) -> Floats:
    return np.asarray(residuals.T @ residuals / freedom)
