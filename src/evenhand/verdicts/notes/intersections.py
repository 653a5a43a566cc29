"""Intersections compared with their attributes: groups whose value the single attributes do not suggest.

The additive view expects the overall value plus what each attribute adds to it, the multiplicative one the overall
value times what each attribute makes of it. Where the two attributes only add up, the intersection brings nothing new.
"""

from __future__ import annotations

import math

import numpy as np

from evenhand.core import wording
from evenhand.core.arrays import Floats
from evenhand.core.results import Panel, number_or_none
from evenhand.cube.cube import Cube
from evenhand.errors import join_names
from evenhand.measures.base import Measure
from evenhand.measures.evaluate import measure_values
from evenhand.measures.known import known
from evenhand.verdicts.stratum import Stratum

_MOST_NAMED = 3


def intersection_notes(stratum: Stratum) -> tuple[list[str], list[Panel]]:
    """A note on the groups that stand out from their attributes, and a panel of all, led by those with evidence."""
    cube = stratum.table.cube
    if len(cube.meaning.sensitive) < 2 or stratum.gap.measure is None:
        return [], []
    row, values = stratum.table.measures[stratum.gap.measure], stratum.table.values[stratum.gap.measure]
    pooled = any(len(group) < len(cube.meaning.sensitive) for group in stratum.table.groups)
    if pooled or row.made_of == "rows":  # no attribute is left by itself, or a cube cannot tell its value
        return [], []
    cube = known(row, cube)
    overall = float(measure_values(row, cube.marginal(()))[0])
    expected = _expected(stratum, cube, row, overall)
    low, high = stratum.bounds.own[stratum.gap.measure]
    evidence = np.fmax(np.fmax(low - overall, overall - high), -np.inf)
    apart = np.abs(values - overall)
    order = np.lexsort((-_known(apart), -_known(evidence)))
    support = stratum.table.support[stratum.gap.measure]
    lines = np.column_stack((values, low, high, *expected))[order].tolist()
    rows = tuple(
        (stratum.table.name(i), int(support[i]), *map(number_or_none, line))
        for i, line in zip(order.tolist(), lines, strict=True)
    )
    columns = ("group", "n", "value", "low", "high", "additive", "multiplicative")
    title = f"{wording.capital(row.title)}: groups compared with what their attributes suggest"
    panel = Panel("table", title, columns, rows)
    return _notes(stratum, row.title, row.unit, overall, expected), [panel]


def _expected(stratum: Stratum, cube: Cube, row: Measure, overall: float) -> tuple[Floats, Floats]:
    """What the attributes of each group suggest when they add up, and when they multiply."""
    groups = stratum.table.groups
    parts = np.empty((len(cube.meaning.sensitive), len(groups)))
    for i, name in enumerate(cube.meaning.sensitive):
        single = cube.marginal((name,))
        alone = dict(zip((group[0] for _, group in single.pairs), measure_values(row, single).tolist(), strict=True))
        parts[i] = [alone.get(group[i], math.nan) for group in groups]
    with np.errstate(over="ignore", invalid="ignore"):
        ratios = (parts / overall).prod(axis=0) if overall else np.full(len(groups), np.nan)
        return overall + (parts - overall).sum(axis=0), overall * ratios


def _notes(stratum: Stratum, title: str, unit: str, overall: float, expected: tuple[Floats, Floats]) -> list[str]:
    measure = stratum.gap.measure or 0
    values, judged = stratum.table.values[measure], stratum.judged.everyone[measure]
    low, high = stratum.bounds.own[measure]
    additive, multiplicative = expected
    outside = (np.fmin(additive, multiplicative) > high) | (np.fmax(additive, multiplicative) < low)
    beyond = [(abs(values[i] - additive[i]), i, additive[i]) for i in np.flatnonzero(judged & outside).tolist()]
    named = [
        f"{stratum.table.name(i)} ({wording.amount(float(values[i]), unit)}, where "
        f"{wording.amount(float(suggested), unit)} would be their sum)"
        for _, i, suggested in sorted(beyond, reverse=True)
    ]
    notes = []
    farthest = _farthest(stratum, overall)
    if farthest is not None:
        notes.append(
            f"Farthest from the overall {title} of {wording.amount(overall, unit)}, by its whole interval: "
            f"{stratum.table.name(farthest)} ({wording.amount(float(values[farthest]), unit)})."
        )
    if named:
        listed = join_names(named, _MOST_NAMED, mark="; ")
        notes.append(f"The {title} is not what the attributes one by one suggest for {listed}.")
    return notes


def _farthest(stratum: Stratum, overall: float) -> int | None:
    """The group whose whole interval lies farthest from everyone's value; None where none is clear of it."""
    measure = stratum.gap.measure or 0
    low, high = stratum.bounds.own[measure]
    clear = np.where(stratum.judged.everyone[measure], np.fmax(low - overall, overall - high), -np.inf)
    best = int(np.nanargmax(np.nan_to_num(clear, nan=-np.inf)))
    return best if clear[best] > 0 else None


def _known(values: Floats) -> Floats:
    return np.where(np.isnan(values), -np.inf, values)
