"""Count tables that come one after the other, so that no more than one is in memory.

The cube is the same as if all had been read at once. Cuts that depend on all of the data must therefore be known from
the start, as an argument or from a cube to count `like`: the bands of an attribute of many numbers, and the range of a
score. A score from 0 to 1 is taken for a probability, and a score of few values keeps each of them: no range is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import CallError, DataError, EvenhandError, Problems, shorten
from evenhand.sources.conditions import NoRowsError
from evenhand.sources.kinds import TEXT, are_categories, value_of
from evenhand.sources.levels import attribute
from evenhand.sources.roles import ReadArguments, absent

if TYPE_CHECKING:
    from evenhand.cube.cube import Cube

_TOGETHER = 16  # chunks that are added at a time: one addition costs as much as the cube has cells
_TABLES = ("__arrow_c_stream__", "__dataframe__")


def is_chunks(data: Any) -> bool:
    """Is it an iterator or a list of tables? An iterator that is itself a table, such as a stream of Arrow, is not."""
    if any(hasattr(data, mark) for mark in _TABLES):
        return False
    if isinstance(data, (list, tuple)):
        return bool(data) and all(_is_table(part) for part in data)
    return isinstance(data, Iterator)


def count(count_one: Callable[..., Cube], chunks: Any, like: Cube | None, arguments: ReadArguments) -> Cube:
    """The cube of all chunks; `like` and `arguments` are those of `Cube.count`."""
    if str(arguments["strategy"]) == "quantile" and like is None:
        raise CallError("strategy='quantile' needs all scores at once: give like=, a cube that is cut already.")
    arguments["na"] = absent(arguments["na"])
    total: Cube | None = None
    waiting: list[Cube] = []
    for i, chunk in enumerate(chunks, 1):
        if _is_empty(chunk):
            continue
        try:
            cube = count_one(chunk, like, arguments.copy())
            _check(cube, like, arguments)
        except NoRowsError:
            continue
        except EvenhandError as error:
            raise type(error)(f"chunk {i}: {error}") from None
        arguments["task"] = cube.meaning.task  # the task of the first chunk is that of all
        waiting.append(cube)
        if len(waiting) == _TOGETHER:
            total, waiting = _added(total, waiting, like, arguments), []
    if waiting:
        total = _added(total, waiting, like, arguments)
    if total is None:
        raise CallError("there are no chunks, or none with rows in it.")
    attributes = () if like is None else (*like.meaning.control, *like.meaning.sensitive)
    _check_levels(total, attributes)
    return total


def _is_table(chunk: Any) -> bool:
    """Is it a frame, or a mapping of columns? A mapping of single values is one row, not a table."""
    if isinstance(chunk, Mapping):
        return all(hasattr(column, "__len__") and not isinstance(column, (str, bytes)) for column in chunk.values())
    return hasattr(type(chunk), "columns")  # asked of the type: a lazy frame would look for its columns


def _is_empty(chunk: Any) -> bool:
    """Has it columns but no rows? Counting complains later about anything that is not a table."""
    if isinstance(chunk, Mapping):
        return bool(chunk) and all(hasattr(column, "__len__") and len(column) == 0 for column in chunk.values())
    rows = getattr(chunk, "num_rows", None)
    return rows == 0 or (rows is None and getattr(chunk, "shape", (1,))[0] == 0)


def _added(total: Cube | None, cubes: list[Cube], like: Cube | None, arguments: ReadArguments) -> Cube:
    parts = cubes if total is None else [total, *cubes]
    summed = type(cubes[0]).merge(parts, clusters=arguments["clusters"])
    if summed.scores is None or arguments["resolution"] == "exact":
        return summed
    table = summed.scores.on_grid()
    if table is not summed.scores and not _known_range(summed, like, arguments):
        raise CallError(_RANGE)
    return replace(summed, scores=table)


_RANGE = (
    "the score has many values and is not a probability, so its range must be known before the chunks are read: give "
    "score_range=, or like=, a cube that is cut already."
)


def _known_range(cube: Cube, like: Cube | None, arguments: ReadArguments) -> bool:
    if arguments["score_range"] is not None or cube.scores is None or cube.scores.bins.is_probability:
        return True
    return like is not None and like.scores is not None and not like.scores.bins.exact


def _check(cube: Cube, like: Cube | None, arguments: ReadArguments) -> None:
    """Refuse a cube that was cut by the values of its own chunk, because other chunks would be cut elsewhere."""
    if cube.cut_by_us:
        raise CallError(_cut(cube.cut_by_us[0]))
    if cube.meaning.task == "regression" and like is None:
        label = cube.meaning.label
        if arguments["score_range"] is None or (label is not None and label not in (arguments["bands"] or {})):
            raise CallError(
                "numbers that come in chunks need score_range=, the range of the prediction, and bands= with edges for "
                "the label; or like=, a cube that is cut already."
            )
    if cube.scores is not None and not cube.scores.bins.exact and not _known_range(cube, like, arguments):
        raise CallError(_RANGE)


def _check_levels(cube: Cube, settled: Collection[str]) -> None:
    """Raise an error for an attribute that would have been cut if all its values had been seen at once; those that
    another cube has `settled` would not."""
    columns = zip(*((*stratum, *group) for stratum, group in cube.pairs), strict=True)
    for name, values in zip((*cube.meaning.control, *cube.meaning.sensitive), columns, strict=True):
        kind = cube.kinds.get(name, TEXT)
        levels = [value_of(value, kind) for value in sorted({value for value in values if value is not None})]
        if name in cube.meaning.bands or not levels:
            continue
        problems, someone, uncut = Problems(), np.ones(len(levels)), name in settled or are_categories(kind)
        read = attribute(name, levels, partial(np.asarray, someone), None, problems, categories=uncut)
        if read.cut_by_us:
            raise CallError(_cut(name))
        problems.raise_if_any(DataError)


def _cut(name: str) -> str:
    return (
        f"{shorten(name)!r} holds many numbers, and one chunk cannot show where to cut them: give "
        f"bands={{{shorten(name)!r}: [...]}}, or None for it where each is a group; or like=, a cube that is cut "
        "already."
    )
