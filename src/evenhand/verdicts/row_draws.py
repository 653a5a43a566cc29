"""Functions of rows, called: for each group as it is, for draws of its rows, and with one row less."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats, Indices, Ints
from evenhand.core.calls import call as run
from evenhand.core.progress import track
from evenhand.errors import CallError, shorten
from evenhand.measures.cells import RowMeasure

Columns = dict[str, Array]

LEAST_DRAWS = 100  # with fewer a standard error is itself uncertain by more than 7 %
_MOST_LEFT_OUT = 20_000  # rows that are left out in turn, with a call for each
_MOST_UNDEFINED = 0.5  # share of draws without a value, beyond which the others say nothing about the group
_MOST_DRAWN = 200_000_000  # values of draws that are kept
_WEIGHT_ARGUMENTS = ("weight", "sample_weight")


@dataclass(frozen=True)
class Sample:
    """The values of some measures in some groups, [measures, groups], and in draws of their rows.

    `drawn` is [draws, measures, groups]; it is NaN where the function gave no number. `errors` are standard errors, NaN
    where the draws do not tell them. `sizes` are the people that each group rests on.
    """

    values: Floats
    drawn: Floats
    sizes: Floats
    failures: dict[str, Exception] = field(default_factory=dict)
    """By measure, an error that its function raised in some of the draws."""

    @property
    def defined(self) -> Indices:
        """In how many draws each measure of each group has a value."""
        return np.asarray((~np.isnan(self.drawn)).sum(axis=0))

    @property
    def errors(self) -> Floats:
        """Standard errors; NaN where most draws have no value, and where no draw differs from another."""
        errors = np.full(self.values.shape, np.nan)
        enough = self.defined > max(1, _MOST_UNDEFINED * len(self.drawn))
        if enough.any():
            errors[enough] = np.nanstd(self.drawn[:, enough], axis=0, ddof=1)
        size = np.maximum(np.abs(self.values), np.finfo(np.float64).tiny)
        return np.where(errors > 1e-12 * size, errors, np.nan)


def sample(
    measures: Sequence[RowMeasure], groups: Sequence[Columns], names: Sequence[str], draws: int, random_state: int
) -> Sample:
    """The measures of the groups, and as many draws; each group has its own stream of random numbers.

    `names` are those of the groups, for errors. A draw takes as many rows as the group has, with replacement, and all
    measures see the same ones.
    """
    calls = [_caller(measure, weighted="weight" in groups[0]) for measure in measures]
    values = np.full((len(measures), len(groups)), np.nan)
    if draws * values.size > _MOST_DRAWN:
        raise CallError(
            f"{draws:,} draws of {len(groups):,} groups do not fit into memory: draw at most "
            f"{_MOST_DRAWN // values.size:,} times."
        )
    drawn = np.full((draws, *values.shape), np.nan)
    sizes = np.zeros(values.shape)
    failures: dict[str, Exception] = {}
    streams = np.random.SeedSequence(random_state).spawn(len(groups))
    work = [(place, group) for place, group in enumerate(groups) if len(group["label"])]
    for place, group in track(work, len(work), "drawing rows"):
        people = len(group["label"])
        sizes[:, place] = people
        everyone = np.arange(people)
        values[:, place] = [call(taken(group, everyone), names[place]) for call in calls]
        random = np.random.default_rng(streams[place])
        for draw in range(draws if people > 1 else 0):
            chosen = random.integers(0, people, people)
            for i, call in enumerate(calls):
                try:
                    drawn[draw, i, place] = call(taken(group, chosen), names[place])
                except CallError as error:
                    failures[measures[i].name] = _cause(error)
    return Sample(values, drawn, sizes, failures)


def one_less(measures: Sequence[RowMeasure], groups: Sequence[Columns], values: Floats) -> tuple[Ints, Floats]:
    """For every different row of every group, how many people have it, and all values with one of them less.

    The values are [rows, measures, groups].
    """
    calls = [_caller(measure, weighted="weight" in groups[0]) for measure in measures]
    different = [_different(group) for group in groups]
    total = sum(len(first) for first, _ in different)
    if total > _MOST_LEFT_OUT:
        raise CallError(
            f"interval='bca' leaves out rows one by one, and {total:,} calls of a function are too many: choose "
            "interval='percentile', 'basic' or 'simultaneous'."
        )
    less = np.repeat(values[None], total, axis=0)
    done = 0
    for place, (group, (first, _)) in enumerate(zip(groups, different, strict=True)):
        for row in first:
            others = np.delete(np.arange(len(group["label"])), row)
            for i, call in enumerate(calls):
                less[done, i, place] = _or_nan(call, taken(group, others)) if len(others) else np.nan
            done += 1
    return np.concatenate([people for _, people in different]), less


def taken(columns: Columns, rows: Indices) -> Columns:
    """Some rows, as copies: what a function does to its arguments stays with it."""
    return {role: values[rows] for role, values in columns.items()}


def _different(columns: Columns) -> tuple[Indices, Ints]:
    """The positions of rows that differ from each other, and how many people have each."""
    keys = np.zeros(len(columns["label"]), dtype=np.int64)
    for values in columns.values():
        known, codes = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)
        keys = np.unique(keys * len(known) + codes.reshape(-1), return_inverse=True)[1].reshape(-1)
    _, first, people = np.unique(keys, return_index=True, return_counts=True)
    return first, people


def _caller(measure: RowMeasure, *, weighted: bool) -> Callable[[Columns, str], float]:
    """The function of a measure as one of columns: label and prediction by position, as in scikit-learn.

    Weights are passed by name; a function that takes none cannot be measured on weighted rows.
    """
    weight = None
    if weighted:
        try:
            parameters = inspect.signature(measure.function).parameters
        except (TypeError, ValueError):
            parameters = {}  # type: ignore[assignment]
        weight = next((name for name in _WEIGHT_ARGUMENTS if name in parameters), None)
        if weight is None:
            raise CallError(
                f"{measure.name} takes no weight, and the rows are weighted: add an argument weight (or sample_weight) "
                "to its function, or leave weight= out."
            )

    def call(columns: Columns, group: str) -> float:
        function = partial(measure.function, **({weight: columns["weight"]} if weight else {}))
        where = f"on the {len(columns['label']):,} rows of {shorten(group)!r}"
        try:
            returned = run(f"the function of {measure.name}", where, function, columns["label"], columns["prediction"])
        except CallError as error:
            if isinstance(error.__cause__, ZeroDivisionError):
                return float("nan")
            raise
        return _number(returned, measure.name, group)

    return call


def _number(returned: Any, name: str, group: str) -> float:
    """What a function returned as a number; NaN where it is infinite. Anything else is an error that shows it."""
    shape = getattr(returned, "shape", ())
    plain = not isinstance(returned, (str, bytes, complex, np.complexfloating)) and shape == ()
    try:
        value = float(returned) if plain else None
    except (TypeError, ValueError, OverflowError):
        value = None
    if value is None:
        kind = f"an array of shape {shape}" if shape else shorten(repr(returned))
        raise CallError(
            f"the function of {name} returned {kind} ({type(returned).__name__}) for {shorten(group)!r}: it must "
            "return one number, or NaN where there is none."
        )
    return value if np.isfinite(value) else float("nan")


def _or_nan(call: Callable[[Columns, str], float], columns: Columns) -> float:
    try:
        return call(columns, "")
    except CallError:
        return float("nan")


def _cause(error: Exception) -> Exception:
    """The error of the function itself; one that it returned something else than a number stays as it is."""
    return error.__cause__ if isinstance(error.__cause__, Exception) else error
