"""Measures that are functions of rows: computed group by group, with errors from a bootstrap of the rows.

They are slower than measures made of cells, and the finding says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand import sources
from evenhand.core.arrays import Array
from evenhand.core.results import Finding, Group
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.inference.spread import Normal
from evenhand.measures.cells import RowMeasure
from evenhand.sources.roles import assign
from evenhand.sources.rows import by_group
from evenhand.verdicts.finding import check_roles, row_finding
from evenhand.verdicts.request import Request

Columns = dict[str, Array]

_DRAWS = 200  # enough for a standard error: within 5 % of what any number of draws would give


def finding(request: Request, cube: Cube, data: Any, arguments: Mapping[str, Any]) -> Finding:
    """The finding of a metric whose measures are functions of rows, on the attributes of the cube.

    `data` and `arguments` are those of `evenhand.audit`, from which the rows are read again.
    """
    if not request.metric.counted:
        check_roles(request.metric, cube)  # which names the function to call
    groups = _rows_by_group(cube, data, arguments)
    spreads: dict[str, Normal] = {}
    for row in request.metric.rows:
        if isinstance(row, RowMeasure):
            spreads[row.name] = _spread(row, [groups[group] for _, group in cube.pairs], request.policy.random_state)
        else:
            raise CallError(
                f"{request.metric.name} mixes {row.name}, made of cells, with functions of rows: keep to one."
            )
    computed = row_finding(request, cube, spreads)
    note = f"Computed from the rows of each group; errors by a bootstrap of the rows with {_DRAWS} draws."
    return replace(computed, notes=(*computed.notes, note))


def reusable(columns: Any) -> Any:
    """Columns that can be read twice, for the counts and for the rows: an iterator in a mapping becomes a list."""
    if not isinstance(columns, dict):
        return columns
    return {key: list(item) if isinstance(item, Iterator) else reusable(item) for key, item in columns.items()}


def _rows_by_group(cube: Cube, data: Any, arguments: Mapping[str, Any]) -> dict[Group, Columns]:
    source = sources.open_source(data)
    roles = assign(source.names, **arguments)
    # Groups as the cube has them, which may have cut an attribute by more than these rows show.
    bands = {name: edges for name, edges in cube.meaning.bands.items() if name in roles.sensitive}
    roles = replace(roles, bands=bands, categories=frozenset(roles.sensitive))
    positions = [roles.sensitive.index(name) for name in cube.meaning.sensitive]
    chunks: dict[Group, list[Columns]] = {}
    for group, columns in by_group(source.lines(roles), roles):
        chunks.setdefault(tuple(group[position] for position in positions), []).append(columns)
    return {
        group: {role: np.concatenate([chunk[role] for chunk in several]) for role in several[0]}
        for group, several in chunks.items()
    }


def _spread(row: RowMeasure, groups: list[Columns], random_state: int) -> Normal:
    call = _caller(row)
    random = np.random.default_rng(random_state)
    values, errors, sizes = [], [], []
    for columns in groups:
        lacking = row.needs - set(columns)
        if lacking:
            raise CallError(f"{row.name} needs {' and '.join(sorted(lacking))}, which was not given.")
        labelled = ~np.isnan(columns["label"])
        rows = {role: part[labelled] for role, part in columns.items()}
        n = int(labelled.sum())
        drawn = []
        for _ in range(_DRAWS if n > 1 else 0):
            chosen = random.integers(0, n, n)
            drawn.append(call({role: part[chosen] for role, part in rows.items()}))
        defined = np.array(drawn)[~np.isnan(drawn)] if drawn else np.array([])
        values.append(call(rows) if n else np.nan)
        errors.append(float(defined.std(ddof=1)) if len(defined) > 1 else np.nan)
        sizes.append(n)
    return Normal(np.array(values), np.array(errors), np.array(sizes, dtype=np.float64))


def _caller(row: RowMeasure) -> Callable[[Columns], float]:
    """The function of a measure as one of columns: label and prediction by position, as in scikit-learn.

    Weights are passed by name where there are some and the function takes them.
    """
    try:
        parameters = inspect.signature(row.function).parameters
    except (TypeError, ValueError):
        parameters = {}  # type: ignore[assignment]
    weight = next((name for name in ("weight", "sample_weight") if name in parameters), None)

    def call(columns: Columns) -> float:
        extra = {weight: columns["weight"]} if weight and "weight" in columns else {}
        try:
            return float(row.function(columns["label"], columns["prediction"], **extra))
        except ZeroDivisionError:
            return float("nan")

    return call
