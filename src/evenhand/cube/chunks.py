"""Counting tables that come one after the other, so that no more than one is in memory.

The cube is the same as if all had been read at once. What is cut by a look at all of the data must therefore be known
from the start, given as an argument or by a cube to count `like`: the bands of an attribute of many numbers, and the
range of a score. A score from 0 to 1 is taken for a probability, and one of few values keeps each: these need no range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import CallError, DataError, EvenhandError, Problems, shorten
from evenhand.sources.levels import attribute

if TYPE_CHECKING:
    from evenhand.cube.cube import Cube

_TOGETHER = 16  # chunks that are added at a time, because adding costs as much as there are cells
_TABLES = ("__arrow_c_stream__", "__dataframe__")


def is_chunks(data: Any) -> bool:
    """Is it an iterator or a list of tables? One that is a table itself, as a stream of Arrow, is read as one."""
    if any(hasattr(data, mark) for mark in _TABLES):
        return False
    if isinstance(data, (list, tuple)):
        return bool(data) and all(_is_table(part) for part in data)
    return isinstance(data, Iterator)


def count(count_one: Callable[..., Cube], chunks: Iterable[Any], given: Mapping[str, Any]) -> Cube:
    """The cube of all chunks; `given` are the arguments of `Cube.count` but the data."""
    if given["strategy"] == "quantile" and given["like"] is None:
        raise CallError("strategy='quantile' needs all scores at once: give like=, a cube that is cut already.")
    given = {**given, "na": tuple(given["na"])}
    total: Cube | None = None
    waiting: list[Cube] = []
    for i, chunk in enumerate(chunks, 1):
        if _is_empty(chunk):
            continue
        try:
            cube = count_one(chunk, **given)
            _check(cube, given)
        except EvenhandError as error:
            raise type(error)(f"chunk {i}: {error}") from None
        given["task"] = cube.meaning.task  # what the first chunk is taken for, all are
        waiting.append(cube)
        if len(waiting) == _TOGETHER:
            total, waiting = _added(total, waiting, given), []
    if waiting:
        total = _added(total, waiting, given)
    if total is None:
        raise CallError("there are no chunks, or none with rows in it.")
    _check_levels(total)
    return total


def _is_table(part: Any) -> bool:
    """A mapping of columns, or a frame; a mapping of single values is one row, and a list of rows is no table here."""
    if isinstance(part, Mapping):
        return all(hasattr(column, "__len__") and not isinstance(column, (str, bytes)) for column in part.values())
    return hasattr(type(part), "columns")  # asked of the type: a lazy frame would look for its columns


def _is_empty(chunk: Any) -> bool:
    """Has it columns but no rows? Anything that is no table is left for counting to complain about."""
    if isinstance(chunk, Mapping):
        return bool(chunk) and all(hasattr(column, "__len__") and len(column) == 0 for column in chunk.values())
    rows = getattr(chunk, "num_rows", None)
    return rows == 0 or (rows is None and getattr(chunk, "shape", (1,))[0] == 0)


def _added(total: Cube | None, cubes: list[Cube], given: Mapping[str, Any]) -> Cube:
    parts = cubes if total is None else [total, *cubes]
    summed = type(cubes[0]).merge(parts)
    if summed.scores is None or given["resolution"] == "exact":
        return summed
    table = summed.scores.on_grid()
    if table is not summed.scores and not _known_range(summed, given):
        raise CallError(_RANGE)
    return replace(summed, scores=table)


_RANGE = (
    "the score has many values and is no probability, so its range must be known before the chunks are read: give "
    "score_range=, or like=, a cube that is cut already."
)


def _known_range(cube: Cube, given: Mapping[str, Any]) -> bool:
    if given["score_range"] is not None or cube.scores is None or cube.scores.bins.is_probability:
        return True
    like = given["like"]
    return like is not None and like.scores is not None and not like.scores.bins.exact


def _check(cube: Cube, given: Mapping[str, Any]) -> None:
    """Was anything cut by what is in this chunk alone?"""
    if cube.cut_by_us:
        raise CallError(_cut(cube.cut_by_us[0]))
    if cube.meaning.task == "regression" and given["like"] is None:
        label = cube.meaning.label
        if given["score_range"] is None or (label is not None and label not in (given["bands"] or {})):
            raise CallError(
                "numbers that come in chunks need score_range=, the range of the prediction, and bands= with edges for "
                "the label; or like=, a cube that is cut already."
            )
    if cube.scores is not None and not cube.scores.bins.exact and not _known_range(cube, given):
        raise CallError(_RANGE)


def _check_levels(cube: Cube) -> None:
    """Would an attribute have been cut if all its values had been seen at once?"""
    columns = zip(*((*stratum, *group) for stratum, group in cube.pairs), strict=True)
    for name, values in zip((*cube.meaning.control, *cube.meaning.sensitive), columns, strict=True):
        levels = sorted({value for value in values if value is not None})
        if name in cube.meaning.bands or not levels:
            continue
        problems, someone = Problems(), np.ones(len(levels))
        read = attribute(name, levels, partial(np.asarray, someone), None, problems)
        if read.cut_by_us:
            raise CallError(_cut(name))
        problems.raise_if_any(DataError)


def _cut(name: str) -> str:
    return (
        f"{shorten(name)!r} holds many numbers, and where to cut them cannot be told from one chunk: give "
        f"bands={{{shorten(name)!r}: [...]}}, or like=, a cube that is cut already."
    )
