"""Scaling: from columns of numbers and categories to points, between which the distance is Euclidean.

The squared distance of two people is the sum over the columns of weight × difference². A number's difference is counted
in standard deviations (or in robust ones), a category's is 1 where the two do not match, as in Gower (1971). A category
of L levels therefore stands as L coordinates of which one is √½, a yes or no as one coordinate of 0 or 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.errors import CallError, DataError, Problems, join_names, listing, nearest, shorten
from evenhand.sources.features import Column, Features

Scale = Literal["standard", "robust", "none"]
MissingFeatures = Literal["level", "drop", "error"]

SCALES = ("standard", "robust", "none")
MISSING = ("level", "drop", "error")
_MOST_COORDINATES = 2000
_NORMAL_RANGE = 1.3489795003921634  # of the quartiles of a normal distribution with deviation 1
_MOST_NAMED = 8
_NOISE = 1e-12  # of the largest value: what differs by no more was the same before it was rounded


@dataclass(frozen=True)
class Scaled:
    """People as points [people, coordinates], and in words how they were made."""

    points: Floats
    described: str
    notes: tuple[str, ...]


@dataclass
class _Told:
    """What the reader must know, collected column by column."""

    numbers: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    crowded: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)


def check(scale: Any, missing_features: Any, problems: Problems) -> None:
    """Are these known?"""
    for what, value, known in (("scale", scale, SCALES), ("missing_features", missing_features, MISSING)):
        if value not in known:
            problems.add(f"{what}={shorten(repr(value))} is not known; {nearest(str(value), known)}")


def points(features: Features, *, scale: Scale = "standard", weights: Any = None) -> Scaled:
    """Turn features into points. Whoever lacks a number stands at its median, and lacking it counts as a mismatch."""
    weighed = _weights(weights, [column.name for column in features.columns])
    told, blocks = _Told(), []
    for column in features.columns:
        weight = weighed[column.name]
        if weight > 0:
            blocks.append(np.sqrt(weight) * _coordinates(column, scale, told))
    width = sum(block.shape[1] for block in blocks)
    if width == 0:
        raise DataError(
            f"every feature ({listing([column.name for column in features.columns], 4)}) is constant or has weight 0: "
            "nothing tells people apart. Name others with features=."
        )
    if width > _MOST_COORDINATES:
        raise DataError(f"the categories of X have {width:,} levels in all: make them coarser, or leave some out.")
    return Scaled(np.ascontiguousarray(np.hstack(blocks)), _described(told, scale), tuple(_notes(told)))


def _weights(given: Any, names: list[str]) -> dict[str, float]:
    if given is None:
        return dict.fromkeys(names, 1.0)
    if not isinstance(given, Mapping):
        listed = list(given) if hasattr(given, "__iter__") and not isinstance(given, str) else None
        if listed is None or len(listed) != len(names):
            raise CallError(f"weights= must map features to numbers, such as {{{names[0]!r}: 2}}.")
        given = dict(zip(names, listed, strict=True))
    problems = Problems()
    for name, weight in given.items():
        if name not in names:
            problems.add(f"weights= names {shorten(repr(name))}, which is no feature; {nearest(str(name), names)}")
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
            problems.add(f"the weight of {shorten(repr(name))} is {weight!r}; it must be a number of at least 0.")
    problems.raise_if_any(CallError)
    return {name: float(given.get(name, 1.0)) for name in names}


def _coordinates(column: Column, scale: Scale, told: _Told) -> Floats:
    """The coordinates of one column, [people, as many as it takes]; none for a constant one."""
    missing = column.missing
    if missing.any():
        told.lacking.append(f"{column.name} ({int(missing.sum()):,})")
    if column.levels is not None:
        return _of_categories(column, told)
    there = column.values[~missing]
    if there.size == 0 or np.ptp(there) <= _NOISE * np.abs(there).max():
        if there.size and missing.any():
            told.categories.append(column.name)
            return np.asarray(missing[:, None], dtype=np.float64)
        told.constant.append(column.name)
        return np.zeros((len(missing), 0))
    told.numbers.append(column.name)
    middle = float(np.median(there))
    values = np.where(missing, middle, column.values)
    if scale != "none":
        values = (values - middle) / _unit(there, scale, column.name, told)
    return np.column_stack([values, missing] if missing.any() else [values])


def _unit(values: Floats, scale: Scale, name: str, told: _Told) -> float:
    """What counts as 1 in a column of numbers."""
    if scale == "robust":
        low, high = np.quantile(values, (0.25, 0.75))
        if high > low:
            return float((high - low) / _NORMAL_RANGE)
        told.crowded.append(name)
    largest = np.abs(values).max()  # first to a size at which squares neither vanish nor overflow
    return float(largest * (values / largest).std())


def _of_categories(column: Column, told: _Told) -> Floats:
    codes = np.where(column.missing, len(column.levels or ()), column.values)
    used, places = np.unique(codes, return_inverse=True)
    if len(used) < 2:
        told.constant.append(column.name)
        return np.zeros((len(codes), 0))
    told.categories.append(column.name)
    if len(used) == 2:
        return places.reshape(-1, 1).astype(np.float64)
    return np.asarray(np.eye(len(used))[places.reshape(-1)] * np.sqrt(0.5))


def _described(told: _Told, scale: Scale) -> str:
    """Who counts as near, in a sentence."""
    units = {"standard": "in standard deviations", "robust": "in robust standard deviations", "none": "as they are"}
    parts = []
    if told.numbers:
        parts.append(f"{_names(told.numbers)} ({units[scale]})")
    if told.categories:
        parts.append(f"{_names(told.categories)} (a mismatch counts 1)")
    return " and ".join(parts)


def _notes(told: _Told) -> list[str]:
    notes = []
    if told.lacking:
        notes.append(
            f"Missing features: {_names(told.lacking)}. Lacking a value counts as a value of its own: a mismatch with "
            "whoever has one; a missing number stands at the median. missing_features='drop' leaves these people out."
        )
    if told.constant:
        notes.append(f"The same for everyone, so without a say in the distance: {_names(told.constant)}.")
    if told.crowded:
        notes.append(
            f"Half the people or more share one value of {_names(told.crowded)}, so the standard deviation scales it."
        )
    return notes


def _names(names: list[str]) -> str:
    return join_names((shorten(name, 40) for name in names), _MOST_NAMED)
