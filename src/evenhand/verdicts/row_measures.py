"""Measures that are functions of rows: computed group by group, with intervals from a bootstrap of the rows.

They are slower than measures made of cells, and the finding says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand import sources
from evenhand.core.arrays import Array
from evenhand.core.results import Finding, Group, spell
from evenhand.cube import chunks
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, join_names, shorten
from evenhand.inference.intervals import METHODS, Resampled
from evenhand.inference.spread import Normal
from evenhand.measures.cells import RowMeasure
from evenhand.measures.group_data import GroupData
from evenhand.sources.roles import assign
from evenhand.sources.rows import read
from evenhand.verdicts import row_draws
from evenhand.verdicts.finding import check_roles, row_finding
from evenhand.verdicts.request import Request
from evenhand.verdicts.row_draws import LEAST_DRAWS, Columns, Sample
from evenhand.verdicts.table import Drawn


def finding(request: Request, cube: Cube, data: Any, arguments: Mapping[str, Any]) -> Finding:
    """The finding of a metric whose measures are functions of rows, on the attributes of the cube.

    `data` and `arguments` are those of `evenhand.audit`, from which the rows are read again.
    """
    measures = _measures(request)
    if isinstance(data, Cube):
        raise CallError(f"{request.metric.name} needs the rows; a cube does not keep them.")
    check_roles(request.metric, cube)
    request, said = _feasible(request)
    policy = request.policy
    by_name = _rows_by_group(cube, data, arguments)
    names = [group for _, group in cube.pairs]
    # What a function makes of labels is not known, so that it has none where a side of the decision has none.
    silent = np.asarray(GroupData(cube).silent.any(axis=1))
    groups = [
        {role: values[:0] for role, values in by_name[name].items()} if lacking else by_name[name]
        for name, lacking in zip(names, silent, strict=True)
    ]
    sample = row_draws.sample(measures, groups, [spell(name) for name in names], policy.draws, policy.random_state)
    spreads = {
        row.name: Normal(*parts)
        for row, *parts in zip(measures, sample.values, sample.errors, sample.sizes, strict=True)
    }
    computed = row_finding(request, cube, spreads, drawn=_drawn(request, measures, groups, sample))
    settings = {**computed.settings, "draws": policy.draws, "random_state": policy.random_state}
    notes = [*computed.notes, *_sample_notes(measures, names, sample), *said]
    if policy.draws:
        return replace(computed, notes=(*notes, _how(request)), settings=settings)
    return replace(computed, notes=(*notes, _UNSETTLED), settings={**settings, "interval": None})


_UNSETTLED = "Computed from the rows of each group. Without draws (draws=0) there is no interval: the verdict is open."


def reusable(columns: Any) -> Any:
    """Columns that can be read twice, for the counts and for the rows: an iterator in a mapping becomes a list."""
    if not isinstance(columns, dict):
        return columns
    return {key: list(item) if isinstance(item, Iterator) else reusable(item) for key, item in columns.items()}


def _measures(request: Request) -> list[RowMeasure]:
    """The measures of the metric, which must all be functions."""
    for row in request.metric.rows:
        if not isinstance(row, RowMeasure):
            raise CallError(
                f"{request.metric.name} mixes {row.name}, made of {row.made_of}, with functions of rows: keep to one."
            )
    return [row for row in request.metric.rows if isinstance(row, RowMeasure)]


def _feasible(request: Request) -> tuple[Request, list[str]]:
    """The request with an interval that functions of rows can have, and what to say where that is another one."""
    policy = request.policy
    if 0 < policy.draws < LEAST_DRAWS:
        raise CallError(
            f"draws={policy.draws} is too few for the interval of a function of rows: draw at least {LEAST_DRAWS} "
            "times, or pass draws=0 for values without intervals."
        )
    method = METHODS.get(policy.interval)
    if method is None or (isinstance(method, Resampled) and method.drawn == "multinomial"):
        return request, []
    said = (
        f"interval={policy.interval!r} is made of counts, which a function of rows does not have; this interval is "
        "simultaneous, from standard errors."
    )
    return replace(request, policy=replace(policy, interval="simultaneous")), [said]


def _drawn(request: Request, measures: Sequence[RowMeasure], groups: Sequence[Columns], sample: Sample) -> Drawn | None:
    """What an interval made of draws needs; None for the default one."""
    method = METHODS.get(request.policy.interval)
    if not isinstance(method, Resampled):
        return None
    people, less = None, None
    if "acceleration" in method.needs:
        people, less = row_draws.one_less(measures, groups, sample.values)
    # A group that never varies would seem to be known exactly.
    known = np.where(np.isnan(sample.errors), np.nan, sample.drawn)
    return Drawn(known, people, less)


def _how(request: Request) -> str:
    policy = request.policy
    made = "standard errors" if policy.interval == "simultaneous" else f"{policy.interval} intervals"
    return f"Computed from the rows of each group; {made} by a bootstrap of the rows with {policy.draws:,} draws."


def _sample_notes(measures: Sequence[RowMeasure], names: Sequence[Group], sample: Sample) -> list[str]:
    """Draws without a value, and groups whose interval the draws do not tell."""
    draws, notes = len(sample.drawn), []
    for i, measure in enumerate(measures if draws else ()):
        values, errors, lost = sample.values[i], sample.errors[i], draws - sample.defined[i]
        known = [j for j in range(len(names)) if not np.isnan(values[j])]
        some = [f"{spell(names[j])} ({lost[j]:,})" for j in known if lost[j] and sample.sizes[i, j] > 1]
        if some:
            notes.append(f"In some draws {measure.title} has no value, and they are left out: {join_names(some, 6)}.")
        error = sample.failures.get(measure.name)
        if error is not None:
            shown = f"{type(error).__name__}: {shorten(str(error), 200)}"
            notes.append(f"In some draws the function of {measure.title} failed, such as with {shown}")
        unknown = [spell(names[j]) for j in known if np.isnan(errors[j])]
        if unknown:
            notes.append(
                f"No interval of {measure.title} is known for {join_names(unknown, 6)}: draws of the rows do not "
                "differ, or most have no value."
            )
    return notes


def _rows_by_group(cube: Cube, data: Any, arguments: Mapping[str, Any]) -> dict[Group, Columns]:
    """The rows of each group of the cube that have a label."""
    if chunks.is_chunks(data):
        raise CallError("a function of rows needs all rows at once: pass one table instead of several.")
    meaning = cube.meaning
    source = sources.open_source(data, hive=arguments.get("hive", False))
    # As the cube was counted, where that was found in the data: the task, and bands of attributes.
    roles = assign(source.names, **{**arguments, "task": meaning.task})
    bands = {name: edges for name, edges in meaning.bands.items() if name in roles.sensitive}
    roles = replace(roles, bands=bands, categories=frozenset(roles.sensitive))
    rows = read(source.lines(roles), roles)
    positions = [roles.sensitive.index(name) for name in meaning.sensitive]
    names = [tuple(group[position] for position in positions) for group in rows.groups]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    codes = np.array([places[name] for name in names], dtype=np.intp)[rows.codes]
    # Each group keeps the order of the rows, whatever other attributes there are.
    return {
        name: _labelled({role: values[codes == place] for role, values in rows.columns.items()})
        for name, place in places.items()
    }


def _labelled(columns: Columns) -> Columns:
    """The rows that have a label; values of one kind of number as an array of that kind."""
    label = columns["label"]
    there = np.array([value is not None for value in label], bool) if label.dtype == object else ~np.isnan(label)
    return {role: _plain(values[there]) for role, values in columns.items()}


def _plain(values: Array) -> Array:
    kinds = {type(value) for value in values} if values.dtype == object else set()
    return np.array(values.tolist()) if len(kinds) == 1 and kinds <= {int, float, bool} else values
