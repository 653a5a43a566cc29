"""Gathering what a call is about: the people, their groups, how far apart they are and who is compared with whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.core.results import Group
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, Problems, nearest, shorten
from evenhand.individual import distances, metric_learning, neighbours, pairs
from evenhand.individual import points as scaling
from evenhand.individual.distances import Distances
from evenhand.individual.pairs import Similar
from evenhand.sources import features as people
from evenhand.sources import roles as reading
from evenhand.sources import rows
from evenhand.sources.columns import fractional
from evenhand.sources.features import Features
from evenhand.sources.memory import MemorySource

EVERYONE = "everyone"
SPARE = 5  # neighbours beyond those asked for, who stand in for one that is left out when errors are found
DISTANCES = ("euclidean", "learned", "precomputed")
_MOST_FIGURES = 50_000_000  # people × groups
_FEATURE_ARGUMENTS = ("features", "categorical", "weights", "label")


@dataclass(frozen=True)
class Likeness:
    """How people are compared, as a caller says it; see `individual.consistency`."""

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
    least: int = 1
    """The fewest neighbours that k may ask for: with oneself among them, one would be nobody else."""

    def __post_init__(self) -> None:
        problems = Problems()
        scaling.check(self.scale, self.missing_features, problems)
        if isinstance(self.k, bool) or not isinstance(self.k, Integral) or self.k < self.least:
            why = " with include_self=True, which takes up one" if self.least > 1 else ""
            problems.add(f"k={shorten(repr(self.k))} must be a whole number of at least {self.least}{why}.")
        if self.radius is not None and not _positive(self.radius):
            problems.add(f"radius={shorten(repr(self.radius))} must be a number above 0.")
        if self.radius is not None and self.pairs is not None:
            problems.add("radius= and pairs= both say who is compared: give one of them.")
        if not callable(self.distance) and self.distance not in DISTANCES:
            hint = nearest(str(self.distance), DISTANCES)
            problems.add(f"distance={shorten(repr(self.distance))} is not known and no function; {hint}")
        if self.distance == "learned" and self.label is None:
            problems.add("distance='learned' needs label=, which says whom to bring near to each other.")
        if self.distance == "precomputed":
            for name in _FEATURE_ARGUMENTS:
                if getattr(self, name) not in (None, ()):
                    problems.add(f"distance='precomputed' takes no {name}=: X holds the distances themselves.")
        problems.raise_if_any(CallError)
        neighbours.check(self.neighbours)


@dataclass(frozen=True)
class Gathered:
    """The people who take part, in their order; `rows` are their places in X, `values` what was decided or scored."""

    rows: Ints
    values: Floats
    grouped: bool
    groups: tuple[Group, ...]
    codes: Ints
    cube: Cube
    features: Features | None
    names: Sequence[Any]
    similar: Similar
    notes: tuple[str, ...]

    @property
    def people(self) -> int:
        return len(self.rows)


def gather(
    X: Any, how: Likeness, *, role: str, values: Any, sensitive: Any, positive: Any, bands: Any, na: Any, id: Any
) -> Gathered:
    """Read the people of X with their decisions or scores (`role`) and groups, and find who is similar to whom."""
    matrix = distances.matrix(X) if how.distance == "precomputed" else None
    table = None if matrix is not None else people.as_table(X)
    size = len(matrix) if matrix is not None else _length(table)
    given = size if isinstance(values, str) or not hasattr(values, "__len__") else len(values)
    if given != size:
        raise DataError(f"X has {size:,} people and {role}= {given:,} values: give one for each person.")
    grouping = {EVERYONE: [EVERYONE] * size} if sensitive is None else sensitive
    source = MemorySource(table)
    roles = reading.assign(
        source.names, **{role: values}, sensitive=grouping, positive=positive, bands=bands, na=na, task="binary"
    )
    lines = source.lines(roles)
    if role == "prediction" and fractional(lines.columns["prediction"]):
        raise CallError(
            "prediction= holds fractions, so it looks like a score: cut it, or call lipschitz(X, score=...)."
        )
    found = rows.read(lines, roles)
    told = found.columns["prediction"] if role == "prediction" else np.asarray(lines.scores, dtype=np.float64)
    parts = {key: name for key, name in roles.keys.items() if sensitive is not None or not key.startswith("sensitive:")}
    features = None if table is None else _features(table, how, roles, parts.values(), id)
    kept, notes = _kept(told, role, features, how)
    chosen = None if features is None else features.take(kept)
    apart, described = _distances(chosen, matrix, kept, how, table)
    codes, groups = _codes(np.asarray(found.codes, dtype=np.int64)[kept], found.groups)
    cube = _cube(role, told[kept], roles.sensitive, groups, codes)
    codes, groups = _in_order(cube, groups, codes)
    if len(kept) * len(groups) > _MOST_FIGURES:
        raise CallError(f"{len(groups):,} groups of {len(kept):,} people are too many: name fewer attributes.")
    return Gathered(
        kept,
        told[kept],
        sensitive is not None,
        groups,
        codes,
        cube,
        chosen,
        _names(table, id, kept, size),
        _similar(apart, how, kept, size),
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


def _positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and float(value) > 0


def _length(table: Any) -> int:
    names = MemorySource(table).names
    if not names:
        raise DataError("X has no columns.")
    size = len(column_of(table, names[0], "features"))
    if size == 0:
        raise DataError("X has no rows.")
    return size


def _features(table: Any, how: Likeness, roles: reading.Roles, parts: Iterable[str], id: Any) -> Features:
    """Columns that play another part are no features, whether they were named or passed as arrays of that name."""
    decided = str(roles.prediction or roles.score)
    named = [how.features] if isinstance(how.features, str) else list(how.features or ())
    if decided in named and decided not in roles.arrays:
        raise CallError(f"features= names {shorten(decided)!r}, which is what is compared: people are not alike by it.")
    apart = set(parts)
    for value in (how.label, id):
        name = value if isinstance(value, str) else getattr(value, "name", None)
        if isinstance(name, str):
            apart.add(name)
    return people.read(table, features=how.features, categorical=how.categorical, apart=apart, na=roles.na)


def _kept(told: Floats, role: str, features: Features | None, how: Likeness) -> tuple[Ints, list[str]]:
    """Who takes part, and what is said about those who do not."""
    notes, missing = [], np.isnan(told)
    if missing.any() and role == "prediction":
        raise DataError(f"prediction= is missing for {int(missing.sum()):,} people: everyone needs a decision.")
    if missing.any():
        notes.append(f"{int(missing.sum()):,} people without a score were left out.")
    if features is not None and how.missing_features != "level":
        lacking = features.missing
        if how.missing_features == "error" and lacking.any():
            names = [column.name for column in features.columns if column.missing.any()]
            raise DataError(
                f"{int(lacking.sum()):,} people lack a value of {', '.join(map(repr, names[:6]))}: fill it, or let "
                "missing_features= be 'level' or 'drop'."
            )
        if lacking.any():
            notes.append(f"{int(lacking.sum()):,} people ({lacking.mean():.1%}) lack a feature and were left out.")
        missing = missing | lacking
    return np.flatnonzero(~missing), notes


def _distances(
    features: Features | None, matrix: Any, kept: Ints, how: Likeness, table: Any
) -> tuple[Distances, list[str]]:
    if matrix is not None:
        return distances.Precomputed(matrix, kept), ["Distances as they were given."]
    assert features is not None  # noqa: S101 - without a matrix there is a table
    if features.people == 0:
        raise DataError("nobody is left to compare: every person lacks a value.")
    made = scaling.points(features, scale=how.scale, weights=how.weights)
    notes = [f"The distance is over {made.described}.", *made.notes]
    if features.left_out:
        notes.insert(1, f"Left out of the distance: {', '.join(shorten(name, 40) for name in features.left_out)}.")
    points = made.points
    if how.distance == "learned":
        given = column_of(table, how.label, "label")
        codes, told = metric_learning.classes(given)
        if len(codes) <= int(kept.max()):
            raise DataError(f"label= has {len(codes):,} values: give one for each row of X.")
        points = metric_learning.transformed(points, codes[kept])
        notes.append(
            "The distance was learned from the label, so that people of one label are near: if the label carries a "
            "bias, so does the distance."
        )
        notes += [told] if told else []
    if callable(how.distance):
        notes[0] = f"The distance is a function of the caller's, over {made.described}."
        return distances.ByFunction(points, how.distance), notes
    return distances.Points(points), notes


def _similar(apart: Distances, how: Likeness, kept: Ints, size: int) -> Similar:
    if how.pairs is not None and not (isinstance(how.pairs, str) and how.pairs == "all"):
        place = np.full(size, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        return pairs.given(how.pairs, apart, place)
    if how.pairs is not None or how.radius is not None:
        return pairs.Within(apart, np.inf if how.radius is None else float(how.radius))
    k = int(how.k) - (how.least - 1)
    if len(kept) <= k:
        raise DataError(
            f"k={how.k} needs more than {k} people, and there are {len(kept)}: give a smaller k, or more people."
        )
    wanted = min(k + SPARE, len(kept) - 1)
    return pairs.KNearest(
        neighbours.find(apart, wanted, method=how.neighbours, random_state=how.random_state), k, how.least > 1
    )


def _codes(codes: Ints, groups: tuple[Group, ...]) -> tuple[Ints, tuple[Group, ...]]:
    """The groups that are left, and the place of each person's among them."""
    there, places = np.unique(codes, return_inverse=True)
    return places.reshape(-1).astype(np.int64), tuple(groups[i] for i in there)


def _cube(role: str, told: Any, attributes: Sequence[str], groups: Sequence[Group], codes: Ints) -> Cube:
    """The counts of the same people, which know the groups and what is compared with what."""
    sensitive = {}
    for i, name in enumerate(attributes):
        values = np.empty(len(groups), dtype=object)
        values[:] = [group[i] for group in groups]
        sensitive[name] = values[codes]
    return Cube.count(sensitive=sensitive, task="binary", **{role: told})


def _in_order(cube: Cube, groups: Sequence[Group], codes: Ints) -> tuple[Ints, tuple[Group, ...]]:
    """Codes in the order of the cube's own groups."""
    order = tuple(group for _, group in cube.pairs)
    place = {group: i for i, group in enumerate(order)}
    return np.array([place[group] for group in groups], dtype=np.int64)[codes], order


def _names(table: Any, id: Any, kept: Ints, size: int) -> Sequence[Any]:
    """What the people are called: their row, or what `id` says."""
    if id is None:
        return [int(row) for row in kept]
    given = list(column_of(table, id, "id"))
    if len(given) != size:
        raise DataError(f"id= has {len(given):,} values: give one for each of the {size:,} people.")
    return [reading.spelling(given[row]) for row in kept]
