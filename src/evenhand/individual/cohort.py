"""Reading the people of a call: their decisions or scores, their groups, and which of them are similar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Indices, Ints
from evenhand.core.quantities import check_whole, number, shown
from evenhand.core.results import Group
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, Problems, listing, nearest, shorten
from evenhand.individual import distances, metric_learning, neighbours, pairs
from evenhand.individual.distances import Distances
from evenhand.individual.pairs import Similar
from evenhand.individual.points import check_scaling, to_points
from evenhand.sources import features, groups, rows
from evenhand.sources.columns import fractional
from evenhand.sources.features import Features
from evenhand.sources.memory import MemorySource
from evenhand.sources.roles import Roles, assign
from evenhand.sources.spelling import spelling

SPARE = 5  # neighbours beyond k, which replace one that the jackknife leaves out
DISTANCES = ("euclidean", "learned", "precomputed")
_MOST_FIGURES = 50_000_000  # people × groups
_FEATURE_ARGUMENTS = ("features", "categorical", "weights", "label")


@dataclass(frozen=True)
class SimilarityOptions:
    """The arguments of `consistency` and `lipschitz` that say who is similar to whom, checked."""

    k: int = 5
    radius: float | None = None
    pairs: Any = None
    features: Iterable[str] | str | None = None
    categorical: Iterable[str] | str = ()
    weights: Any = None
    scale: Any = "standard"
    distance: Any = "euclidean"
    label: Any = None
    missing_features: Any = "level"
    neighbours: Any = "auto"
    random_state: int = 0
    smallest_k: int = 1
    """2 where each person is the first of their own neighbours, so that at least one is another person."""

    def __post_init__(self) -> None:
        problems = Problems()
        check_scaling(self.scale, self.missing_features, problems)
        why = " with include_self=True, which takes up one" if self.smallest_k > 1 else ""
        check_whole("k", self.k, self.smallest_k, None, problems, usual=why)
        if self.radius is not None and not number(self.radius) > 0:
            problems.add(f"radius={shown(self.radius)} must be a number above 0.")
        if self.radius is not None and self.pairs is not None:
            problems.add("radius= and pairs= both say who is compared: pass one of them.")
        if not callable(self.distance) and self.distance not in DISTANCES:
            hint = nearest(str(self.distance), DISTANCES)
            problems.add(f"distance={shorten(repr(self.distance))} is neither known nor a function; {hint}")
        if self.distance == "learned" and self.label is None:
            problems.add("distance='learned' needs label=: people with the same label are brought near to each other.")
        if self.distance == "precomputed":
            for name in _FEATURE_ARGUMENTS:
                if getattr(self, name) not in (None, ()):
                    problems.add(f"distance='precomputed' takes no {name}=: X holds the distances themselves.")
        problems.raise_if_any(CallError)
        neighbours.check(self.neighbours)


@dataclass(frozen=True)
class Cohort:
    """The people who are compared, in the order of X, with their decisions or scores and who is similar to whom."""

    rows: Ints
    """Their row numbers in X."""
    values: Floats
    """What was decided (0 or 1) or the score."""
    grouped: bool
    """Did the caller name sensitive attributes? Else everyone is one group."""
    groups: tuple[Group, ...]
    codes: Indices
    cube: Cube
    """The counts of the same people, with the groups in the same order."""
    features: Features | None
    names: Sequence[Any]
    similar: Similar
    notes: tuple[str, ...]

    @property
    def people(self) -> int:
        return len(self.rows)


def read_cohort(
    X: Any,
    options: SimilarityOptions,
    *,
    role: str,
    values: Any,
    sensitive: Any,
    positive: Any,
    bands: Any,
    na: Any,
    id: Any,
) -> Cohort:
    """Read the people of X with their decisions or scores (`role`) and groups, and find who is similar to whom."""
    matrix = distances.matrix(X) if options.distance == "precomputed" else None
    table = None if matrix is not None else features.as_table(X)
    size = len(matrix) if matrix is not None else _length(table)
    count = size if isinstance(values, str) or not hasattr(values, "__len__") else len(values)
    if count != size:
        raise DataError(f"X has {size:,} people and {role}= {count:,} values: pass one for each person.")
    source = MemorySource(table)
    roles = assign(
        source.names,
        **{role: values},
        sensitive=sensitive,
        positive=positive,
        bands=bands,
        na=na,
        task="binary",
        needs=("outcomes",),
    )
    lines = source.lines(roles)
    if role == "prediction" and fractional(lines.columns["prediction"]):
        raise CallError(
            "prediction= holds fractions, so it looks like a score: cut it, or call lipschitz(X, score=...)."
        )
    read = rows.read(lines, roles)
    outcomes = read.columns["prediction"] if role == "prediction" else np.asarray(lines.scores, dtype=np.float64)
    every = None if table is None else _features(table, options, roles, id)
    kept, notes = _complete(outcomes, role, every, options)
    compared = None if every is None else every.take(kept)
    measured, described = _distances(compared, matrix, kept, options, table)
    names, codes = groups.narrow(read.groups, read.codes[kept])
    cube = _cube(role, outcomes[kept], roles.sensitive or (groups.EVERYONE,), names, codes)
    if len(kept) * len(names) > _MOST_FIGURES:
        raise CallError(f"{len(names):,} groups of {len(kept):,} people are too many: name fewer attributes.")
    return Cohort(
        kept,
        outcomes[kept],
        sensitive is not None,
        names,
        codes,
        cube,
        compared,
        _names(table, id, kept, size),
        _similar(measured, options, kept, size),
        (*described, *notes),
    )


def column_of(table: Any, value: Any, what: str) -> Any:
    """A column by its name in the table, or the array itself."""
    if not isinstance(value, str):
        return value
    source = MemorySource(table)
    if value not in source.columns:
        raise CallError(f"{what}={shorten(value)!r} is not a column of X; {nearest(value, source.columns)}")
    return source.data[source.columns[value]]


def _length(table: Any) -> int:
    names = MemorySource(table).names
    if not names:
        raise DataError("X has no columns.")
    size = len(column_of(table, names[0], "features"))
    if size == 0:
        raise DataError("X has no rows.")
    return size


def _features(table: Any, options: SimilarityOptions, roles: Roles, id: Any) -> Features:
    """The features that people are compared by: no column that has another role, by its name or as an array of it."""
    role = "prediction" if roles.score is None else "score"
    outcomes = {} if role in roles.arrays and roles.keys[role] == role else {roles.keys[role]: "the decision or score"}
    outcomes |= dict.fromkeys(_own_name(options.label), "the label")
    return features.read(
        table,
        features=options.features,
        categorical=options.categorical,
        apart={*roles.keys.values(), *outcomes, *_own_name(id)},
        outcomes=outcomes,
        na=roles.na,
    )


def _own_name(value: Any) -> tuple[str, ...]:
    """The name of a column that is passed by its name, or as a column of a table."""
    name = value if isinstance(value, str) else getattr(value, "name", None)
    return (name,) if isinstance(name, str) else ()


def _complete(
    outcomes: Floats, role: str, every: Features | None, options: SimilarityOptions
) -> tuple[Ints, list[str]]:
    """The people who are compared, as row numbers, and notes about those who are left out."""
    notes, missing = [], np.isnan(outcomes)
    if missing.any() and role == "prediction":
        raise DataError(f"prediction= is missing for {int(missing.sum()):,} people: everyone needs a decision.")
    if missing.any():
        notes.append(f"{int(missing.sum()):,} people without a score were left out.")
    if every is not None and options.missing_features != "level":
        lacking = every.missing
        if options.missing_features == "error" and lacking.any():
            names = [column.name for column in every.columns if column.missing.any()]
            raise DataError(
                f"{int(lacking.sum()):,} people lack a value of {listing(names, 6)}: fill it, or let "
                "missing_features= be 'level' or 'drop'."
            )
        if lacking.any():
            notes.append(f"{int(lacking.sum()):,} people ({lacking.mean():.1%}) lack a feature and were left out.")
        missing = missing | lacking
    return np.flatnonzero(~missing), notes


def _distances(
    compared: Features | None, matrix: Any, kept: Ints, options: SimilarityOptions, table: Any
) -> tuple[Distances, list[str]]:
    if matrix is not None:
        return distances.Precomputed(matrix, kept), ["Distances as they were passed."]
    assert compared is not None  # noqa: S101 - without a matrix there is a table
    if compared.people == 0:
        raise DataError("nobody is left to compare: every person lacks a value.")
    made = to_points(compared, scale=options.scale, weights=options.weights)
    notes = [f"The distance is over {made.described}.", *made.notes]
    if compared.left_out:
        notes.insert(1, f"Left out of the distance: {', '.join(shorten(name, 40) for name in compared.left_out)}.")
    points = made.points
    if options.distance == "learned":
        codes, note = metric_learning.classes(column_of(table, options.label, "label"))
        if len(codes) <= int(kept.max()):
            raise DataError(f"label= has {len(codes):,} values: pass one for each row of X.")
        points = metric_learning.transformed(points, codes[kept])
        notes.append(
            "The distance was learned from the label, so that people with the same label are near: if the label is "
            "biased, so is the distance."
        )
        notes += [note] if note else []
    if callable(options.distance):
        notes[0] = f"The distance is the caller's function, over {made.described}."
        return distances.ByFunction(points, options.distance), notes
    return distances.Points(points), notes


def _similar(measured: Distances, options: SimilarityOptions, kept: Ints, size: int) -> Similar:
    if options.pairs is not None and not (isinstance(options.pairs, str) and options.pairs == "all"):
        position = np.full(size, -1, dtype=np.int64)
        position[kept] = np.arange(len(kept))
        return pairs.named_pairs(options.pairs, measured, position)
    if options.pairs is not None or options.radius is not None:
        return pairs.Within(measured, np.inf if options.radius is None else number(options.radius))
    k = int(options.k) - (options.smallest_k - 1)
    if len(kept) <= k:
        raise DataError(
            f"k={shown(options.k)} needs more than {shown(k)} people, and there are {len(kept)}: pass a smaller k, or "
            "more people."
        )
    wanted = min(k + SPARE, len(kept) - 1)
    nearest = neighbours.nearest_people(measured, wanted, method=options.neighbours, random_state=options.random_state)
    finite = int(np.isfinite(nearest.distance).all(axis=0).sum())  # distances rise, so these are the first
    if finite < k:
        raise DataError(
            f"someone has fewer than {k} others at a finite distance, so there are no {k} nearest: pass a smaller k, "
            "or radius=."
        )
    nearest = replace(nearest, index=nearest.index[:, :finite], distance=nearest.distance[:, :finite])
    return pairs.KNearest(nearest, k, options.smallest_k > 1)


def _cube(role: str, outcomes: Any, attributes: Sequence[str], names: Sequence[Group], codes: Indices) -> Cube:
    """The counts of the same people."""
    sensitive = {}
    for i, name in enumerate(attributes):
        values = np.empty(len(names), dtype=object)
        values[:] = [group[i] for group in names]
        sensitive[name] = values[codes]
    return Cube.count(sensitive=sensitive, task="binary", **{role: outcomes})


def _names(table: Any, id: Any, kept: Ints, size: int) -> Sequence[Any]:
    """What each person is called: their row number, or the value of `id`."""
    if id is None:
        return [int(row) for row in kept]
    values = list(column_of(table, id, "id"))
    if len(values) != size:
        raise DataError(f"id= has {len(values):,} values: pass one for each of the {size:,} people.")
    return [spelling(values[row]) for row in kept]
