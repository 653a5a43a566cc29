"""Sensitive and control features: their names, and for each row the position of its value among those that occur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.arrays import Array, Codes
from evenhand.errors import DataError
from evenhand.fairlearn.base_metrics import check_lengths

# Kinds of numpy whose values keep their type when pandas reads the distinct ones alone.
_PLAIN = "iubfU"
_OF_ONE_TYPE = ("string", "integer", "boolean")


@dataclass(frozen=True)
class Feature:
    """One feature. `levels` are its distinct values, of the type that pandas gives to the whole column."""

    name: str
    codes: Codes
    levels: pd.Series


def read(features: Any, kind: str, rows: int) -> list[Feature]:
    """The features of a call; `kind` begins the names of those that have none: "sensitive_feature_0", …"""
    columns = _columns(features, rows)
    for _, column in columns:
        check_lengths(column, range(rows))
    return [_feature(f"{kind}{i}" if name is None else name, values) for i, (name, values) in enumerate(columns)]


def check_names(features: list[Feature]) -> None:
    """Raise where two features have one name."""
    names = [feature.name for feature in features]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise DataError(f"Detected duplicate feature name: '{twice}'")


def _columns(features: Any, rows: int) -> list[tuple[str | None, Any]]:
    """Each column with its name, or None."""
    if isinstance(features, pd.Series):
        if features.name is not None and not isinstance(features.name, str):
            kind = type(features.name)
            raise DataError(f"Series name must be a string. Value '{features.name}' was of type {kind}")
        return [(features.name, features)]
    if isinstance(features, dict):
        try:
            features = pd.DataFrame.from_dict(features)
        except ValueError as error:
            raise DataError(
                "DataFrame.from_dict() failed on sensitive features. Please ensure each array is strictly 1-D. "
                "The __cause__ field of this exception may contain further information."
            ) from error
    if isinstance(features, pd.DataFrame):
        names = [features.columns[i] for i in range(features.shape[1])]
        for name in names:
            if not isinstance(name, str):
                raise DataError(f"DataFrame column names must be strings. Name '{name}' is of type {type(name)}")
        return [(name, features.iloc[:, i]) for i, name in enumerate(names)]
    if isinstance(features, list):
        return [(None, _scalars(features))]
    return [(None, column) for column in _of_array(features, rows)]


def _scalars(values: list[Any]) -> Array:
    """A list of values as an array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    simple = pd.api.types.infer_dtype(array, skipna=False) in _OF_ONE_TYPE
    if not simple and not all(pd.api.types.is_scalar(value) for value in values):
        raise DataError("Feature lists must be of scalar types")
    return array


def _of_array(features: Any, rows: int) -> list[Array]:
    """The columns of an array of one or two dimensions, or of what numpy reads as one."""
    array = np.asarray(features)
    if array.dtype.kind not in _PLAIN:
        array = np.asarray(features, dtype=object)  # times, and values of several types, stay what they are
    if array.size > 1 and (rows > 1 or array.ndim > 2):
        array = np.squeeze(array)
    if array.ndim not in (1, 2):
        raise DataError("Feature array has too many dimensions")
    return [array] if array.ndim == 1 else list(array.T)


def _feature(name: str, values: Any) -> Feature:
    if values.dtype == object and pd.api.types.infer_dtype(values, skipna=False) not in _OF_ONE_TYPE:
        values = pd.Series(list(values))  # of several types, such as 1 and 1.0, pandas makes one
    codes, levels = _text(values) if values.dtype.kind == "U" else pd.factorize(values)
    if (codes < 0).any():
        raise DataError(
            f"Feature '{name}' contains missing values. Remove or replace them before constructing a MetricFrame"
        )
    return Feature(name, codes, pd.Series(levels.tolist()))


def _text(values: Array) -> tuple[Codes, Array]:
    """The codes and levels of an array of text, by a number for each text, which is faster than by an object."""
    letters = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
    numbers = np.zeros(len(values), dtype=np.uint64)
    for column in letters.T:
        numbers = numbers * np.uint64(0x9E3779B97F4A7C15) + column
    codes, distinct = pd.factorize(numbers)
    places = np.zeros(len(distinct), dtype=np.intp)
    places[codes[::-1]] = np.arange(len(values))[::-1]
    levels = values[places]
    return (codes, levels) if (levels[codes] == values).all() else pd.factorize(values.astype(object))
