"""People as points: columns of numbers and categories are scaled so that distances between people are Euclidean.

The squared distance of two people is the sum over the columns of weight × difference². A number's difference is counted
in standard deviations (or in robust ones), a category's is 1 where the two do not match, as in Gower (1971). A category
of L levels therefore makes L coordinates, of which one is √½; a category of two levels makes one, 0 or 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.quantities import number, shown
from evenhand.errors import CallError, DataError, Problems, join_names, listing, nearest, shorten
from evenhand.sources.features import Column, Features

Scale = Literal["standard", "robust", "none"]

SCALES = ("standard", "robust", "none")
MISSING = ("level", "drop", "error")
_MOST_COORDINATES = 2000
_NORMAL_RANGE = 1.3489795003921634  # of the quartiles of a normal distribution with deviation 1
_MOST_NAMED = 8
_NOISE = 1e-12  # of the largest value: what differs by no more was the same before it was rounded


@dataclass(frozen=True)
class Scaled:
    """People as points [people, coordinates], and a description in words of how the points were made."""

    points: Floats
    described: str
    notes: tuple[str, ...]


@dataclass
class _Used:
    """Names of columns by how they were used, for the description and the notes."""

    numbers: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    crowded: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)


def check_scaling(scale: Any, missing_features: Any, problems: Problems) -> None:
    """Add a problem for each argument whose value is not known."""
    for what, value, known in (("scale", scale, SCALES), ("missing_features", missing_features, MISSING)):
        if value not in known:
            problems.add(f"{what}={shorten(repr(value))} is not known; {nearest(str(value), known)}")


def to_points(features: Features, *, scale: Scale = "standard", weights: Any = None) -> Scaled:
    """People as points. A missing number is put at the median, and that it is missing counts as a mismatch."""
    weighed = _weights(weights, [column.name for column in features.columns])
    used, blocks = _Used(), []
    for column in features.columns:
        weight = weighed[column.name]
        if weight > 0:
            blocks.append(np.sqrt(weight) * _coordinates(column, scale, used))
    width = sum(block.shape[1] for block in blocks)
    if width == 0:
        raise DataError(
            f"every feature ({listing([column.name for column in features.columns], 4)}) is constant or has weight 0: "
            "nobody can be told apart. Name other columns with features=."
        )
    if width > _MOST_COORDINATES:
        raise DataError(f"the categories of X have {width:,} levels in all: make them coarser, or leave some out.")
    return Scaled(np.ascontiguousarray(np.hstack(blocks)), _described(used, scale), tuple(_notes(used)))


def _weights(weights: Any, names: list[str]) -> dict[str, float]:
    """The weight of each feature; 1 where the caller names none."""
    if weights is None:
        return dict.fromkeys(names, 1.0)
    if not isinstance(weights, Mapping):
        listed = list(weights) if hasattr(weights, "__iter__") and not isinstance(weights, str) else None
        if listed is None or len(listed) != len(names):
            raise CallError(f"weights= must map features to numbers, such as {{{names[0]!r}: 2}}.")
        weights = dict(zip(names, listed, strict=True))
    problems = Problems()
    for name, weight in weights.items():
        if name not in names:
            problems.add(f"weights= names {shorten(repr(name))}, which is not a feature; {nearest(str(name), names)}")
        if not 0 <= number(weight) < np.inf:
            problems.add(f"the weight of {shorten(repr(name))} is {shown(weight)}; it must be a number of at least 0.")
    problems.raise_if_any(CallError)
    return {name: float(weights.get(name, 1.0)) for name in names}


def _coordinates(column: Column, scale: Scale, used: _Used) -> Floats:
    """The coordinates of one column, [people, coordinates]; no coordinate for a constant column."""
    missing = column.missing
    if missing.any():
        used.lacking.append(f"{column.name} ({int(missing.sum()):,})")
    if column.levels is not None:
        return _of_categories(column, used)
    there = column.values[~missing]
    if there.size == 0 or np.ptp(there) <= _NOISE * np.abs(there).max():
        if there.size and missing.any():
            used.categories.append(column.name)
            return np.asarray(missing[:, None], dtype=np.float64)
        used.constant.append(column.name)
        return np.zeros((len(missing), 0))
    used.numbers.append(column.name)
    middle = float(np.median(there))
    values = np.where(missing, middle, column.values)
    if scale != "none":
        values = (values - middle) / _unit(there, scale, column.name, used)
    return np.column_stack([values, missing] if missing.any() else [values])


def _unit(values: Floats, scale: Scale, name: str, used: _Used) -> float:
    """The unit of a column of numbers: its standard deviation, or a robust one."""
    if scale == "robust":
        low, high = np.quantile(values, (0.25, 0.75))
        if high > low:
            return float((high - low) / _NORMAL_RANGE)
        used.crowded.append(name)
    largest = np.abs(values).max()  # first to a size at which squares neither vanish nor overflow
    return float(largest * (values / largest).std())


def _of_categories(column: Column, used: _Used) -> Floats:
    """The coordinates of a category, among which a missing value is a level."""
    codes = np.where(column.missing, len(column.levels or ()), column.values)
    present, places = np.unique(codes, return_inverse=True)
    if len(present) < 2:
        used.constant.append(column.name)
        return np.zeros((len(codes), 0))
    used.categories.append(column.name)
    if len(present) == 2:
        return places.reshape(-1, 1).astype(np.float64)
    return np.asarray(np.eye(len(present))[places.reshape(-1)] * np.sqrt(0.5))


def _described(used: _Used, scale: Scale) -> str:
    """Which columns the distance is over, in words."""
    units = {"standard": "in standard deviations", "robust": "in robust standard deviations", "none": "as they are"}
    parts = []
    if used.numbers:
        parts.append(f"{_names(used.numbers)} ({units[scale]})")
    if used.categories:
        parts.append(f"{_names(used.categories)} (a mismatch counts 1)")
    return " and ".join(parts)


def _notes(used: _Used) -> list[str]:
    notes = []
    if used.lacking:
        notes.append(
            f"Missing features: {_names(used.lacking)}. A missing value counts as one more value, a mismatch with "
            "any other; a missing number is put at the median. missing_features='drop' leaves these people out."
        )
    if used.constant:
        notes.append(f"The same for everyone, so not part of the distance: {_names(used.constant)}.")
    if used.crowded:
        notes.append(
            f"Half the people or more share one value of {_names(used.crowded)}, so the standard deviation scales it."
        )
    return notes


def _names(names: list[str]) -> str:
    return join_names((shorten(name, 40) for name in names), _MOST_NAMED)
