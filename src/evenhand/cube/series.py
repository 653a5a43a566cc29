"""A cube for each period of time, from one read of the data: the period is a control, and each of its strata a cube."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from evenhand import sources
from evenhand.core.wording import number_of
from evenhand.cube import chunks
from evenhand.errors import CallError, DataError, as_typed, either, listing, nearest, shorten
from evenhand.sources.periods import Every, in_order
from evenhand.sources.roles import ReadArguments

if TYPE_CHECKING:
    from evenhand.cube.cube import Cube


def count(
    count_one: Callable[..., Cube], data: Any, by: str, every: Every | None, arguments: ReadArguments
) -> dict[str, Cube]:
    """The cubes by the names of their periods; the arguments are those of `Cube.series`."""
    if not isinstance(by, str):
        raise CallError(f"by={shorten(repr(by))} must be the name of the column that says when, such as 'month'.")
    if every is not None and not (isinstance(every, str) and every in get_args(Every)):
        raise CallError(f"every={shorten(repr(every))} must be {either(map(repr, get_args(Every)))}.")
    if chunks.is_chunks(data):
        raise CallError("periods are counted from one table: name its files, or count each chunk by itself.")
    if arguments["cluster"] is not None:
        cluster = as_typed("cluster=", "--cluster")
        raise CallError(f"a cluster may have rows in two periods, which would count it twice: leave out {cluster}.")
    _check_column(data, by, arguments)
    control = _controls(arguments["control"])
    arguments["control"] = [by, *control]
    cube = count_one(data, None, arguments, {by: every})
    periods = list(dict.fromkeys(stratum[0] for stratum in cube.strata))
    if None in periods:
        people = sum(int(cube.n[i].sum()) for i, pair in enumerate(cube.pairs) if pair[0][0] is None)
        where = as_typed("where=", "--where")
        raise DataError(
            f"column {shorten(by)!r} is missing in {number_of(people)}, and the period of these is not known: "
            f'leave them out with {where} "{shorten(by)} != none", or fill them in.'
        )
    parts = {name: _part(cube, name) for name in in_order(map(str, periods))}
    # Facts on the rows, such as how many were left out, are known of all periods together: their sum stays true.
    first = next(iter(parts))
    return {**parts, first: replace(parts[first], facts=cube.facts)}


def _check_column(data: Any, by: str, arguments: ReadArguments) -> None:
    """The column of the periods is there, and is nothing else."""
    said, names = as_typed("by=", "--by "), sources.open_source(data, hive=arguments["hive"]).names
    if names is not None and by not in names:
        raise CallError(f"{said}{shorten(by)!r} is not a column; {nearest(by, names)}")
    sensitive = arguments["sensitive"]
    named = sensitive if isinstance(sensitive, (list, tuple)) else [sensitive]
    if any(isinstance(name, str) and name == by for name in named):
        raise CallError(f"{said}{shorten(by)!r} is also a sensitive attribute: periods need a column of their own.")


def _controls(control: Any) -> list[str]:
    if control is None:
        return []
    named = [control] if isinstance(control, str) else control
    if not isinstance(named, (list, tuple)) or not all(isinstance(name, str) for name in named):
        raise CallError(f"control={listing([control])} must name columns of the data where periods are counted.")
    return list(named)


def _part(cube: Cube, period: str) -> Cube:
    """The cube of one period, without the period among its controls."""
    part = cube.only([pair[0][0] == period for pair in cube.pairs])
    meaning = replace(
        cube.meaning,
        control=cube.meaning.control[1:],
        bands={name: edges for name, edges in cube.meaning.bands.items() if name != cube.meaning.control[0]},
    )
    pairs = tuple((stratum[1:], group) for stratum, group in part.pairs)
    return replace(part, meaning=meaning, pairs=pairs, facts={})
