"""Learning a distance from a label, so that people of one label are near and people of different labels are far.

The global form of Hastie and Tibshirani's discriminant metric (1996): points are whitened by the covariance within the
labels, and of the directions that remain those count most along which the labels lie apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.errors import DataError, shorten
from evenhand.sources.columns import encode
from evenhand.sources.levels import as_numbers, quantile_edges

_MOST_LABELS = 20
_SHRINKAGE = 1e-3  # of the mean variance, added within: a direction without any variance has no scale
_FLOOR = 0.1  # what a direction counts that tells nothing about the label, beside 1 for the one that tells most


def classes(label: Any, name: str = "label") -> tuple[Ints, str | None]:
    """The label as codes; numbers of many values are cut at five quantiles, and a note says so. −1 is missing."""
    levels, given = encode(label, f"label {shorten(name)!r}")
    codes = np.asarray(given, dtype=np.int64)
    used = np.unique(codes[codes >= 0])
    if len(used) < 2:
        raise DataError("distance='learned' needs a label of at least two values to learn from.")
    if len(used) <= _MOST_LABELS:
        return codes, None
    values = as_numbers([levels[i] for i in used], declared=False)
    if values is None:
        raise DataError(f"label {shorten(name)!r} has {len(used):,} values: a distance is learned from {_MOST_LABELS}.")
    edges = np.array(quantile_edges(values, np.bincount(codes[codes >= 0], minlength=len(levels))[used].astype(float)))
    lookup = np.full(len(levels) + 1, -1, dtype=np.int64)
    lookup[used] = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    return lookup[codes], f"The label has {len(used):,} values and was cut into {len(edges) - 1} bands to learn from."


def transformed(points: Floats, codes: Ints) -> Floats:
    """Points between which the learned distance is Euclidean; people without a label are moved and not learned from."""
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
