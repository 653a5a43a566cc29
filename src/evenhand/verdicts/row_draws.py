"""Functions of rows, called: for sets of rows as they are, for draws of them, and with one row less.

Rows lie in atoms, one for each stratum and group. A set is one or several of them: a group, everyone else, everyone, or
a group over all strata. A draw takes as many rows of each atom as it has, with replacement, and all sets are made of
the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats, Indices, Ints
from evenhand.core.calls import call as run
from evenhand.core.progress import track
from evenhand.core.wording import clean, number_of
from evenhand.errors import CallError, listing, shorten
from evenhand.measures.row_measure import RowMeasure

Columns = dict[str, Array]
Places = tuple[int, ...]
"""The atoms of a set."""

LEAST_DRAWS = 100  # with fewer a standard error is itself uncertain by more than 7 %
_MOST_LEFT_OUT = 20_000  # rows that are left out in turn, with a call for each
_MOST_UNDEFINED = 0.5  # share of draws without a value, beyond which the others say nothing about the group
_MOST_DRAWN = 200_000_000  # values of draws that are kept
_MOST_ELEMENTS = 100  # of an array that a function returns


@dataclass(frozen=True)
class RowSets:
    """The rows of each atom, the sets that are made of them, and what each set is called in an error."""

    atoms: Sequence[Indices]
    sets: Sequence[Places]
    names: Sequence[str]
    silent: frozenset[int] = frozenset()
    """Sets that have no value, because nobody on a side of the decision has a label."""

    def rows(self, place: int) -> Indices:
        """The rows of a set, in the order of the data."""
        atoms = self.sets[place]
        if len(atoms) == 1:
            return self.atoms[atoms[0]]
        return np.sort(np.concatenate([self.atoms[atom] for atom in atoms], dtype=np.intp))

    def size(self, place: int) -> int:
        """How many rows a set rests on."""
        return 0 if place in self.silent else sum(len(self.atoms[atom]) for atom in self.sets[place])


@dataclass(frozen=True)
class Sample:
    """The values of some measures in some sets of rows, [measures, sets], and in draws of these rows.

    `measures` are those of the metric or, where a function returns an array, one for each of its elements. `drawn` is
    [draws, measures, sets]. `sizes` are the people that each set rests on.
    """

    measures: Sequence[RowMeasure]
    values: Floats
    drawn: Floats
    sizes: Floats
    failures: dict[str, Exception] = field(default_factory=dict)
    """By measure, an error that its function raised in some of the draws."""

    @property
    def defined(self) -> Indices:
        """In how many draws each measure of each set has a value."""
        return np.asarray((~np.isnan(self.drawn)).sum(axis=0))

    @property
    def errors(self) -> Floats:
        """Standard errors; NaN where most draws have no value, and where no draw differs from another."""
        errors = np.full(self.values.shape, np.nan)
        enough = self.defined > max(1, _MOST_UNDEFINED * len(self.drawn))
        if enough.any():
            errors[enough] = np.nanstd(self.drawn[:, enough], axis=0, ddof=1)
        return self.not_zero(errors)

    def correlations(self, places: Sequence[int], whole: int) -> Floats:
        """Of the draws of some sets with those of another one, [measures, places]; NaN where they do not tell."""
        mine, theirs = self.drawn[:, :, list(places)], self.drawn[:, :, [whole]]
        both = ~np.isnan(mine) & ~np.isnan(theirs)
        count = np.maximum(both.sum(axis=0), 1)

        def apart(values: Floats) -> Floats:
            known = np.where(both, values, 0.0)
            return np.where(both, known - known.sum(axis=0) / count, 0.0)

        first, second = apart(mine), apart(theirs)
        scale = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((first * second).sum(axis=0) / scale)

    def not_zero(self, errors: Floats) -> Floats:
        """The errors; NaN in place of 0, because a value that never varies is not known exactly."""
        size = np.maximum(np.abs(self.values), np.finfo(np.float64).tiny)
        return np.where(errors > 1e-12 * size, errors, np.nan)


@dataclass(frozen=True)
class Left:
    """What remains with one row less: for each different row of each atom how many `people` have it, and all values
    without one of them, [rows, measures, sets]."""

    atom: Indices
    people: Ints
    values: Floats

    def errors(self, sets: Sequence[Places]) -> Floats:
        """Standard errors by the jackknife, [measures, sets]; NaN where a set without one of its rows has no value."""
        return np.sqrt(np.stack([self._covariance(atoms, i, i) for i, atoms in enumerate(sets)], axis=1))

    def correlations(self, sets: Sequence[Places], places: Sequence[int], whole: int) -> Floats:
        """Of the errors of some sets with those of another one that holds their rows, [measures, places]."""
        errors = self.errors(sets)
        found = [self._covariance(sets[i], i, whole) for i in places]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.stack(found, axis=1) / (errors[:, list(places)] * errors[:, [whole]]))

    def _covariance(self, atoms: Places, first: int, second: int) -> Floats:
        """What some atoms add to the covariance of two sets, for each measure."""
        found = np.zeros(self.values.shape[1])
        for atom in atoms:
            chosen = self.atom == atom
            people, values = self.people[chosen, None, None], self.values[chosen][:, :, [first, second]]
            total = people.sum()
            with np.errstate(invalid="ignore", divide="ignore"):
                apart = values - (people * values).sum(axis=0) / total
                found += (total - 1) / total * (people[:, :, 0] * apart.prod(axis=-1)).sum(axis=0)
        return found


class Functions:
    """The functions of a metric on some sets of rows; `arrays` are what each function takes, by parameter.

    `elements` are the measures, one for each number that a function returns, and `values` are those of the sets,
    [elements, sets].
    """

    def __init__(self, measures: Sequence[RowMeasure], arrays: Sequence[Columns], rows: RowSets) -> None:
        self._calls = [_Call(measure, columns) for measure, columns in zip(measures, arrays, strict=True)]
        self._arrays, self._rows = arrays, rows
        self._used = [place for place in range(len(rows.sets)) if rows.size(place)]
        first = [{place: call(rows.rows(place), rows.names[place]) for place in self._used} for call in self._calls]
        self._layouts = [
            _layout(each.name, {rows.names[place]: result for place, result in returned.items()})
            for each, returned in zip(measures, first, strict=True)
        ]
        self.elements = [
            _element(each, label) for each, layout in zip(measures, self._layouts, strict=True) for label in layout
        ]
        self.values = np.full((len(self.elements), len(rows.sets)), np.nan)
        for place in self._used:
            results = [returned[place] for returned in first]
            self.values[:, place] = self._joined(results)

    def _joined(self, results: Sequence[_Result]) -> Floats:
        return np.concatenate([each.at(layout) for each, layout in zip(results, self._layouts, strict=True)])

    def sample(self, draws: int, random_state: int) -> Sample:
        """The values, and as many draws; each atom has its own stream of random numbers."""
        rows, values = self._rows, self.values
        if draws * values.size > _MOST_DRAWN:
            raise CallError(
                f"{draws:,} draws of {len(rows.sets):,} groups do not fit into memory: draw at most "
                f"{_MOST_DRAWN // values.size:,} times."
            )
        sizes = np.array([float(rows.size(place)) for place in range(len(rows.sets))])
        drawn = np.full((draws, *values.shape), np.nan)
        failures: dict[str, Exception] = {}
        seeds = np.random.SeedSequence(random_state).spawn(len(rows.atoms))
        streams = [np.random.default_rng(seed) for seed in seeds]
        varied = [place for place in self._used if rows.size(place) > 1]
        for draw in track(range(draws if varied else 0), draws, "drawing rows"):
            chosen = [
                atom[random.integers(0, len(atom), len(atom))] if len(atom) else atom
                for atom, random in zip(rows.atoms, streams, strict=True)
            ]
            for place in varied:
                atoms = rows.sets[place]
                taken = chosen[atoms[0]] if len(atoms) == 1 else np.concatenate([chosen[atom] for atom in atoms])
                drawn[draw, :, place] = self._or_nan(taken, failures)
        return Sample(self.elements, values, drawn, np.repeat(sizes[None], len(values), axis=0), failures)

    def _or_nan(self, taken: Indices, failures: dict[str, Exception] | None = None) -> Floats:
        """The values of some rows; NaN of a function that fails, whose error is kept."""
        parts = []
        for call, layout in zip(self._calls, self._layouts, strict=True):
            try:
                parts.append(call(taken, "a draw").at(layout))
            except CallError as error:
                parts.append(np.full(len(layout), np.nan))
                if failures is not None:
                    failures[call.measure.name] = _cause(error)
        return np.concatenate(parts)

    def one_less(self, interval: str) -> Left:
        """All values with one row less, for every different row; `interval` is what they are for, in an error."""
        rows = self._rows
        different = [_different(self._arrays, atom) for atom in rows.atoms]
        holding = [[place for place in self._used if atom in rows.sets[place]] for atom in range(len(rows.atoms))]
        calls = sum(len(first) * len(sets) for (first, _), sets in zip(different, holding, strict=True))
        lines = sum(len(first) for first, _ in different)
        if calls > _MOST_LEFT_OUT or lines * self.values.size > _MOST_DRAWN:
            raise CallError(
                f"interval={interval!r} leaves out rows one by one, and {calls:,} calls of a function are too many: "
                "choose interval='percentile', 'basic' or 'simultaneous'."
            )
        less = np.repeat(self.values[None], lines, axis=0)
        done = 0
        for atom, (first, _) in enumerate(different):
            for row in first:
                for place in holding[atom]:
                    every = rows.rows(place)
                    others = every[every != row]
                    less[done, :, place] = self._or_nan(others) if len(others) else np.nan
                done += 1
        atoms = np.repeat(np.arange(len(different)), [len(first) for first, _ in different])
        return Left(atoms, np.concatenate([people for _, people in different]), less)


def _different(arrays: Sequence[Columns], atom: Indices) -> tuple[Indices, Ints]:
    """The rows of an atom that differ from each other, one of each kind, and how many people have each."""
    keys = np.zeros(len(atom), dtype=np.int64)
    for values in {id(values): values[atom] for columns in arrays for values in columns.values()}.values():
        plain = values.astype(str) if values.dtype == object else values
        known, codes = np.unique(plain, axis=0, return_inverse=True)
        keys = np.unique(keys * max(len(known), 1) + codes.reshape(-1), return_inverse=True)[1].reshape(-1)
    _, first, people = np.unique(keys, return_index=True, return_counts=True)
    return atom[first], people


@dataclass(frozen=True)
class _Result:
    """What a function returned: one number, which has the label "", or several, with a label for each.

    `own` labels are the function's, such as the keys of a mapping; others are positions.
    """

    labels: tuple[str, ...]
    numbers: Floats
    own: bool = False

    @property
    def undefined(self) -> bool:
        """Is it one number, and none?"""
        return self.labels == ("",) and bool(np.isnan(self.numbers[0]))

    def at(self, layout: tuple[str, ...]) -> Floats:
        """The numbers in the order of some labels; NaN where there is none."""
        if self.labels == layout:
            return self.numbers
        if self.undefined:
            return np.full(len(layout), np.nan)
        if not self.own:
            raise CallError(f"returned {len(self.labels)} numbers and not {len(layout)}.")
        known = dict(zip(self.labels, self.numbers.tolist(), strict=True))
        return np.array([known.get(label, np.nan) for label in layout])


def _layout(name: str, results: Mapping[str, _Result]) -> tuple[str, ...]:
    """The labels of all numbers that a function returned for some groups."""
    known = {group: result for group, result in results.items() if not result.undefined}
    shapes = {result.labels: group for group, result in reversed(known.items())}
    if len(shapes) > 1 and not all(result.own for result in known.values()):
        shown = [f"{_counted(labels)} for {shorten(group)!r}" for labels, group in list(shapes.items())[::-1][:2]]
        raise CallError(
            f"the function of {name} returned {' and '.join(shown)}: it must return as many for every group, as "
            "scikit-learn's functions do with labels=, or a mapping that names them."
        )
    labels = tuple(dict.fromkeys(label for result in known.values() for label in result.labels))
    if len(labels) > _MOST_ELEMENTS:
        raise CallError(
            f"the function of {name} returned {len(labels):,} numbers: at most {_MOST_ELEMENTS} are compared, so "
            "return those that matter."
        )
    return labels or ("",)


def _counted(labels: tuple[str, ...]) -> str:
    return "one number" if len(labels) == 1 else f"{len(labels):,} numbers"


def _element(measure: RowMeasure, label: str) -> RowMeasure:
    """One of the numbers that a function returns, as a measure."""
    if not label:
        return measure
    return replace(measure, name=f"{measure.name}[{label}]", title=f"{measure.title} [{label}]")


class _Call:
    """A function of rows with the arrays that it takes."""

    def __init__(self, measure: RowMeasure, columns: Columns) -> None:
        self.measure = measure
        first = measure.inputs.positional
        self._positional = [columns[name] for name in first if name in columns]
        self._named = {name: values for name, values in columns.items() if name not in first}

    def __call__(self, rows: Indices, group: str) -> _Result:
        """What the function returns for some rows, which it gets as copies: what it does to them stays with it."""
        named = {name: values[rows] for name, values in self._named.items()}
        function = partial(self.measure.function, *(values[rows] for values in self._positional), **named)
        where = f"on the {number_of(len(rows))} of {shorten(group)!r}"
        try:
            returned = run(f"the function of {self.measure.name}", where, function)
        except CallError as error:
            if isinstance(error.__cause__, ZeroDivisionError):
                return _result(np.nan, self.measure.name, group)
            raise
        return _result(returned, self.measure.name, group)


def _result(returned: Any, name: str, group: str) -> _Result:
    """What a function returned as numbers; NaN where one is infinite. Anything else is an error that shows it."""
    labels, numbers, own = _labelled(returned)
    labels = tuple(shorten(clean(label)) for label in labels) if own else labels
    try:
        values = np.array([_number(each) for each in numbers], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        shape = getattr(returned, "shape", ())
        kind = f"an array of shape {shape}" if shape else shorten(repr(returned))
        raise CallError(
            f"the function of {name} returned {kind} ({type(returned).__name__}) for {shorten(group)!r}: it must "
            "return a number, or NaN where there is none, or an array or a mapping of numbers."
        ) from None
    if len(set(labels)) < len(labels) or not labels:
        raise CallError(
            f"the function of {name} returned {'two numbers with one name' if labels else 'nothing'} for "
            f"{shorten(group)!r}: {listing(labels) or shorten(repr(returned))}."
        )
    return _Result(labels, np.where(np.isfinite(values), values, np.nan), own)


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes, complex, np.complexfloating)) or value is None:
        raise TypeError
    return float(value)


def _labelled(returned: Any) -> tuple[tuple[str, ...], Sequence[Any], bool]:
    """The labels of what a function returned, the numbers themselves, and whether the labels are its own."""
    if isinstance(returned, Mapping):
        return tuple(map(str, returned)), list(returned.values()), True
    if hasattr(returned, "columns") and hasattr(returned, "index"):  # a frame of pandas
        labels = [f"{row}, {column}" for row in returned.index for column in returned.columns]
        return tuple(labels), list(returned.to_numpy().reshape(-1)), True
    if hasattr(returned, "index") and hasattr(returned, "to_numpy"):
        return tuple(map(str, returned.index)), list(returned.to_numpy()), True
    if hasattr(returned, "_fields"):
        return tuple(returned._fields), list(returned), True
    shaped = bool(getattr(returned, "shape", False))
    if shaped or isinstance(returned, (list, tuple)):
        array = np.asarray(returned) if shaped else np.asarray(returned, dtype=object)
        places = [", ".join(map(str, place)) for place in np.ndindex(array.shape)]
        return tuple(places), list(array.reshape(-1)), False
    return ("",), [returned], False


def _cause(error: Exception) -> Exception:
    """The error of the function itself; one that it returned something else than a number stays as it is."""
    return error.__cause__ if isinstance(error.__cause__, Exception) else error
