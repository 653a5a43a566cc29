"""Measures that are functions of the rows: computed group by group, with errors from a bootstrap of the rows.

Slower than cells, and the finding says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand import sources
from evenhand.core.results import Finding, Group
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.inference.spread import Normal
from evenhand.measures.cells import RowMeasure
from evenhand.sources import roles as reading
from evenhand.sources.rows import by_group
from evenhand.verdicts import finding as judge
from evenhand.verdicts.request import Request

Columns = dict[str, npt.NDArray[Any]]

_DRAWS = 200  # enough for a standard error: within 5 % of what any number of draws would give


def finding(asked: Request, cube: Cube, data: Any, arguments: Mapping[str, Any]) -> Finding:
    """A finding with measures that need the rows, on the attributes of the cube."""
    if asked.metric.home is not None:
        judge.check_roles(asked.metric, cube)  # which names the function to call
    groups = _rows_by_group(cube, data, arguments)
    spreads: dict[str, Normal] = {}
    for row in asked.metric.rows:
        if isinstance(row, RowMeasure):
            spreads[row.name] = _spread(row, [groups[group] for _, group in cube.pairs], asked.policy.random_state)
        else:
            raise CallError(
                f"{asked.metric.name} mixes {row.name}, made of cells, with functions of rows: keep to one."
            )
    found = judge.row_finding(asked, cube, spreads)
    note = f"Computed from the rows of each group; errors by a bootstrap of the rows with {_DRAWS} draws."
    return replace(found, notes=(*found.notes, note))


def reusable(columns: Any) -> Any:
    """Columns that can be read twice, for the counts and for the rows: an iterator in a mapping becomes a list."""
    if not isinstance(columns, dict):
        return columns
    return {key: list(item) if isinstance(item, Iterator) else reusable(item) for key, item in columns.items()}


def _rows_by_group(cube: Cube, data: Any, arguments: Mapping[str, Any]) -> dict[Group, Columns]:
    source = sources.open_source(data)
    roles = reading.assign(source.names, **arguments)
    places = [roles.sensitive.index(name) for name in cube.meaning.sensitive]
    parts: dict[Group, list[Columns]] = {}
    for group, columns in by_group(source.lines(roles), roles):
        parts.setdefault(tuple(group[place] for place in places), []).append(columns)
    return {
        group: {role: np.concatenate([part[role] for part in pieces]) for role in pieces[0]}
        for group, pieces in parts.items()
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
    """Label and prediction by position, as in scikit-learn; weights if there are some and the function asks."""
    try:
        known = inspect.signature(row.function).parameters
    except (TypeError, ValueError):
        known = {}  # type: ignore[assignment]
    weight = next((name for name in ("weight", "sample_weight") if name in known), None)

    def call(columns: Columns) -> float:
        extra = {weight: columns["weight"]} if weight and "weight" in columns else {}
        try:
            return float(row.function(columns["label"], columns["prediction"], **extra))
        except ZeroDivisionError:
            return float("nan")

    return call
