"""The answers of a correspondence audit: what was decided, or scored, about each unit in each group, over its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats, Indices, Ints
from evenhand.core.results import Group, spell
from evenhand.core.wording import counted
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, Problems, join_names, shorten
from evenhand.sources import rows
from evenhand.sources.columns import encode, fractional, numbers
from evenhand.sources.files import is_path
from evenhand.sources.groups import narrow
from evenhand.sources.lines import Lines
from evenhand.sources.memory import MemorySource
from evenhand.sources.roles import Roles, assign
from evenhand.sources.spelling import spelling

_MOST_CELLS = 50_000_000  # units × groups
_MOST_NAMED = 8
_NAME_WIDTH = 60
_LARGEST_SCORE = 1e150  # squares of larger numbers are infinite


@dataclass(frozen=True)
class Units:
    """Units that were seen in two groups or more; arrays are [units, groups], NaN where a unit lacks a group.

    `means` are over the runs of a unit in a group, `scatter` is the variance between these runs, and `runs` their
    number. `ends` is the range of the answers.
    """

    attributes: tuple[str, ...]
    groups: tuple[Group, ...]
    names: Array
    means: Floats
    scatter: Floats
    runs: Ints
    decisions: bool
    ends: tuple[float, float] = (0.0, 1.0)
    alone: tuple[str, ...] = ()
    """The units that were seen in one group only, and are left out."""
    notes: tuple[str, ...] = ()

    @property
    def span(self) -> float:
        """The largest difference that two answers can have."""
        return self.ends[1] - self.ends[0]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every two groups."""
        return list(combinations(range(len(self.groups)), 2))

    @property
    def complete(self) -> Bools:
        """Which units were seen in every group."""
        return np.asarray((self.runs > 0).all(axis=1))

    @cached_property
    def several(self) -> bool:
        """Was a unit run more than once in a group? Then its decision there is the mean over its runs."""
        return bool((self.runs > 1).any())

    @property
    def even(self) -> bool:
        """Has each unit as many runs in every group in which it was seen?"""
        seen = np.where(self.runs > 0, self.runs, self.runs.max(axis=1, keepdims=True))
        return bool((seen == self.runs.max(axis=1, keepdims=True)).all())

    @cached_property
    def noise(self) -> Floats:
        """The mean squared difference between two runs, which of decisions is the share that differs; else NaN."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.runs > 1, 2 * self.scatter * self.runs / (self.runs - 1), np.nan)

    def count(self) -> Cube:
        """A cube with a row for each unit and group, not for each run: of several runs the mean is a score."""
        rows, codes = np.nonzero(self.runs)
        role = "prediction" if self.decisions and not self.several else "score"
        names = np.array(self.groups, dtype=object)[codes]
        answers: dict[str, Any] = {role: self.means[rows, codes]}
        return Cube.count(sensitive=dict(zip(self.attributes, names.T, strict=True)), task="binary", **answers)

    def flips(self, first: Any, second: Any) -> Floats:
        """The mean squared difference between an answer in one group and one in another; of decisions the share."""
        apart = (self.means[:, first] - self.means[:, second]) ** 2
        return np.asarray(apart + self.scatter[:, first] + self.scatter[:, second])


def read_units(
    data: Any,
    *,
    unit: Any,
    sensitive: Any,
    prediction: Any,
    score: Any,
    run: Any,
    positive: Any,
    bands: Mapping[Any, Any] | None,
    na: str | Iterable[str],
) -> Units:
    """Read the answers of a table, files or arrays; what cannot be paired is an error, or left out and counted."""
    _check_roles(unit, prediction, score)
    others = {"unit": unit, "score": score, "run": run}
    table = rows.load_files(data, column_names(sensitive, prediction, *others.values())) if is_path(data) else data
    source = MemorySource(table)
    roles = assign(
        source.names,
        prediction=prediction,
        sensitive=sensitive,
        positive=positive,
        bands=bands,
        na=na,
        task="binary",
        needs=("groups",),
        others=others,
    )
    # A number that was put into a case is a name of what was changed: cutting it would join groups.
    roles = replace(roles, categories=frozenset(roles.sensitive) - set(roles.bands))
    lines = source.lines(roles)
    if lines.length == 0:
        raise DataError("the data has no rows.")
    if prediction is not None and fractional(lines.columns["prediction"]):
        raise CallError("prediction= holds fractions, so it looks like a score: pass it as score=.")
    read = rows.read(lines, roles)
    values, gone = _answers(lines, roles, read.columns)
    unnamed = np.array([None in group for group in read.groups])[read.codes]
    keep = np.flatnonzero(~(gone | unnamed))
    units, names = _codes(lines, roles, "unit", keep)
    runs = _codes(lines, roles, "run", keep)[0] if "run" in roles.others else np.zeros(len(keep), dtype=np.int64)
    groups, codes = _of_groups(roles.sensitive, read.groups, read.codes[keep])
    order = np.lexsort((runs, codes, units))  # sums do not depend on the order of the rows
    units, codes, runs, values = units[order], codes[order], runs[order], values[keep][order]
    _check_repeated((units, codes, runs), names, groups, with_run="run" in roles.others)
    notes = []
    if gone.any():
        notes.append(f"{counted(int(gone.sum()), 'row')} without a score left out.")
    if unnamed.any():
        notes.append(f"{counted(int(unnamed.sum()), 'row')} without a group left out.")
    return _cells(roles.sensitive, groups, names, (units, codes, values), score is None, tuple(notes))


def _check_roles(unit: Any, prediction: Any, score: Any) -> None:
    problems = Problems()
    if unit is None:
        problems.add("unit= is missing: name the column that says which rows are the same case, such as unit='prompt'.")
    if prediction is None and score is None:
        problems.add("there is nothing to compare: give prediction= (what was decided) or score= (a number).")
    if prediction is not None and score is not None:
        problems.add("prediction= and score= are compared one at a time: give one of them.")
    problems.raise_if_any(CallError)


def column_names(*values: Any) -> list[str]:
    """The columns that arguments name, to be read from a file.

    >>> column_names("prompt", ["race", "sex"], None)
    ['prompt', 'race', 'sex']
    """
    found: list[str] = []
    for value in values:
        several = isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
        found += [value] if isinstance(value, str) else value if several else []
    return found


def _answers(lines: Lines, roles: Roles, columns: Mapping[str, Array]) -> tuple[Floats, Bools]:
    """The decision (1 or 0) or score of each row, and the rows that have no score."""
    if "score" in roles.others:
        scores, missing = numbers(lines.columns["score"], "score", roles.others["score"], roles.na)
        if missing.all():
            raise DataError("score= is missing in every row: there is nothing to compare.")
        if not np.abs(scores[~missing]).max() < _LARGEST_SCORE:
            raise DataError("score= holds an infinite or a huge number: cut it to a range, or leave those rows out.")
        return scores, missing
    decided = np.asarray(columns["prediction"], dtype=np.float64)
    missing = np.isnan(decided)
    if missing.any():
        raise DataError(
            f"prediction= is missing in {counted(int(missing.sum()), 'row')}: if no answer is an answer, write it as "
            "one, such as 'none', and name the favourable ones in positive=['yes']; else leave those rows out."
        )
    return decided, missing


def _codes(lines: Lines, roles: Roles, role: str, keep: Ints) -> tuple[Ints, Array]:
    """The position of each row's unit or run among their spellings, and the spellings; a missing one is an error."""
    title = f"{role} column {shorten(roles.others[role])!r}"
    values, codes = encode(lines.columns[role], title, roles.na)
    missing = int((codes < 0).sum())
    if missing:
        raise DataError(f"{title} is missing in {counted(missing, 'row')}: fill it in, or leave those rows out.")
    spelled, among = np.unique(np.array([spelling(value) for value in values], dtype=object), return_inverse=True)
    return among.reshape(-1)[codes][keep].astype(np.int64), spelled


def _of_groups(
    attributes: tuple[str, ...], names: tuple[Group, ...], codes: Indices
) -> tuple[tuple[Group, ...], Indices]:
    groups, codes = narrow(names, codes)
    if len(groups) < 2:
        what = " × ".join(shorten(name) for name in attributes)
        seen = repr(shorten(spell(groups[0]))) if groups else "no value at all"
        raise DataError(f"{what!r} has one group only ({seen}): there is nothing to compare.")
    return groups, codes


def _check_repeated(
    key: tuple[Ints, Indices, Ints], names: Array, groups: tuple[Group, ...], *, with_run: bool
) -> None:
    """Refuse two answers with one unit, group and run: nobody can say which of them is the answer."""
    units, codes, runs = key
    same = (np.diff(units) == 0) & (np.diff(codes) == 0) & (np.diff(runs) == 0)
    if not same.any():
        return
    places = np.flatnonzero(same)
    place = places[0]
    shown = f"{shorten(repr(names[units[place]]), _NAME_WIDTH)} in {shorten(spell(groups[codes[place]]))}"
    what = "unit, group and run" if with_run else "unit and group"
    apart = "give each run its own value of run=" if with_run else "tell repeated answers apart with run="
    more = counted(len(places), "row")
    raise DataError(
        f"several answers have the same {what} ({more} too many), such as {shown}: {apart}, or leave out what was "
        "entered twice."
    )


def _cells(
    attributes: tuple[str, ...],
    groups: tuple[Group, ...],
    names: Array,
    columns: tuple[Ints, Indices, Floats],
    decisions: bool,
    notes: tuple[str, ...],
) -> Units:
    """The means over runs of the units that can be compared."""
    units, codes, values = columns
    shape = len(names), len(groups)
    if shape[0] * shape[1] > _MOST_CELLS:
        raise DataError(f"{shape[0]:,} units in {shape[1]:,} groups are too many: compare fewer groups at a time.")
    cells, size = units * shape[1] + codes, shape[0] * shape[1]
    count = np.bincount(cells, minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(cells, values, size) / count
        between = np.bincount(cells, (values - mean[cells]) ** 2, size) / count
    runs = count.reshape(shape)
    seen = (runs > 0).sum(axis=1)
    compared = seen > 1
    if not compared.any():
        raise DataError(
            "no unit was seen in two groups, so nothing can be compared within a unit: unit= must name the case, "
            "without what was changed in it."
        )
    alone = tuple(str(name) for name in names[seen == 1])
    if alone:
        listed = join_names((shorten(repr(name), _NAME_WIDTH) for name in alone), _MOST_NAMED)
        notes = (*notes, f"Seen in one group only, so left out: {counted(len(alone), 'unit')} ({listed}).")
    lacking = int((seen[compared] < np.count_nonzero((runs[compared] > 0).any(axis=0))).sum())
    if lacking:
        few = f"Not seen in every group: {counted(lacking, 'unit')}"
        notes = (*notes, f"{few}. Each two groups are compared on the units with both.")
    present = (runs[compared] > 0).any(axis=0)
    lost = [spell(group) for group, there in zip(groups, present, strict=True) if not there]
    if lost:
        notes = (*notes, f"No unit in common with another group, so left out: {join_names(lost, _MOST_NAMED)}.")
    kept = np.ix_(compared, present)
    low, high = (0.0, 1.0) if decisions else (float(values.min()), float(values.max()))
    return Units(
        attributes,
        tuple(group for group, there in zip(groups, present, strict=True) if there),
        names[compared],
        mean.reshape(shape)[kept],
        between.reshape(shape)[kept],
        runs[kept],
        decisions,
        (0.0, 1.0) if low >= 0 and high <= 1 else (low, high),
        alone,
        notes,
    )
