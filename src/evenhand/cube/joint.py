"""Several models on the same people: a count of label × decision × decision × group, and the cube of each model."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from evenhand import sources
from evenhand.core.arrays import Array, Floats, Indices, Ints
from evenhand.core.results import Group
from evenhand.cube import chunks, merge
from evenhand.cube.cube import Cube
from evenhand.cube.meaning import Meaning
from evenhand.cube.tally import Tally, tally
from evenhand.errors import CallError, DataError, Problems, shorten
from evenhand.sources import Lines, Source, groups, levels, rows
from evenhand.sources.columns import encode
from evenhand.sources.conditions import note
from evenhand.sources.lines import read_masses
from evenhand.sources.memory import MemorySource
from evenhand.sources.roles import Roles, assign

Put = Callable[[Array, Group, Array], None]

_OTHER = "decision of the other model"
_ENDS = (-sys.float_info.max, sys.float_info.max)  # of bands that only a cutoff divides


@dataclass(frozen=True)
class Model:
    """What one model brings: the column or array of its predictions, of its scores, and the cutoff of these."""

    name: str
    prediction: Any = None
    score: Any = None
    cutoff: float | None = None

    def is_same(self, other: Model) -> bool:
        """Are these the very same decisions: one column, or one array, with one cutoff?"""
        decides, theirs = self._decides, other._decides
        return self.cutoff == other.cutoff and (
            decides is theirs or (isinstance(decides, str) and isinstance(theirs, str) and decides == theirs)
        )

    @property
    def _decides(self) -> Any:
        return self.score if self.prediction is None else self.prediction

    @property
    def arguments(self) -> dict[str, Any]:
        """The roles of the model in a call that reads it alone."""
        return {"prediction": self.prediction, "score": self.score, "cutoff": self.cutoff}


@dataclass(frozen=True, eq=False)
class Joint:
    """People by group, label and the decisions of two models: n[group, label, before, after], with Σw and Σw² where
    there are weights. The label axis is (negative, positive, unlabelled). `same` says that both are one column."""

    sensitive: tuple[str, ...]
    groups: tuple[Group, ...]
    n: Ints
    w: Floats | None = None
    w2: Floats | None = None
    same: bool = False

    @property
    def mass(self) -> Floats:
        """The sums that measures are computed from: weights where there are any, else people."""
        return np.asarray(self.n if self.w is None else self.w, dtype=np.float64)

    @property
    def squares(self) -> Floats:
        """Σw², or people where there are no weights."""
        return np.asarray(self.n if self.w2 is None else self.w2, dtype=np.float64)

    def turned(self) -> Joint:
        """The models in the other order."""
        return self._made(self.groups, lambda part: part.swapaxes(2, 3))

    def marginal(self, attributes: Sequence[str]) -> Joint:
        """The counts by some of the attributes, the others summed over; without any, of everyone."""
        places = [self.sensitive.index(name) for name in attributes]
        kept = [tuple(group[place] for place in places) for group in self.groups]
        names = tuple(sorted(set(kept), key=groups.order_key))
        place = {group: i for i, group in enumerate(names)}
        where = [place[group] for group in kept]

        def summed(part: Array) -> Array:
            total = np.zeros((len(names), *part.shape[1:]), dtype=part.dtype)
            np.add.at(total, where, part)
            return total

        return replace(self._made(names, summed), sensitive=tuple(attributes))

    def only(self, names: Sequence[Group]) -> Joint:
        """The counts of some of the groups, in this order."""
        places = [self.groups.index(group) for group in names]
        return self._made(tuple(names), lambda part: part[places])

    def _made(self, names: tuple[Group, ...], change: Callable[[Any], Any]) -> Joint:
        w, w2 = (None if part is None else change(part) for part in (self.w, self.w2))
        return Joint(self.sensitive, names, change(self.n), w, w2, self.same)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The rows themselves, where they are in memory, unweighted, and every model has a score: a row for each person.

    `codes` say to which of `groups` each belongs; a label is 1, 0 or NaN; `scores` has a column for each model.
    """

    groups: tuple[Group, ...]
    codes: Indices
    label: Floats
    scores: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class Counted:
    """The cube of each model, and the joint counts of every two of them by their places, the earlier first."""

    cubes: tuple[Cube, ...]
    joints: Mapping[tuple[int, int], Joint]
    rows: ScoredRows | None = None


@dataclass(frozen=True, eq=False)
class Place:
    """One of several models on the same people."""

    joints: Mapping[tuple[int, int], Joint]
    model: int

    def beside(self, later: Place) -> Joint | None:
        """The joint counts of this model and a later one; None where the two are not on the same people."""
        if self.joints is not later.joints or self.model == later.model:
            return None
        i, j = self.model, later.model
        return self.joints[i, j] if i < j else self.joints[j, i].turned()


def count(data: Any, models: Sequence[Model], arguments: Mapping[str, Any]) -> Counted:
    """Count several models on the same people. `arguments` are those of `Cube.count` that the models share.

    Predictions in files and in engines are read in one scan; scores take one for each model and one for all of them.
    """
    _refuse(data)
    source = sources.open_source(data, hive=arguments["hive"])
    roles = [replace(assign(source.names, **{**arguments, **model.arguments}), task="binary") for model in models]
    if isinstance(source, MemorySource):  # where a line is a row
        lines = [source.lines(each) for each in roles]
    elif any(model.score is not None for model in models):
        return _from_scores(data, source, models, roles, arguments)
    else:
        lines = list(_one_scan(source, roles))
    cubes = tuple(_cube(tally(part, each), each) for part, each in zip(lines, roles, strict=True))
    decisions = [_decisions(part, each) for part, each in zip(lines, roles, strict=True)]
    joints = {}
    for i, j in itertools.combinations(range(len(models)), 2):
        _check_rows(models, decisions, i, j)
        beside = replace(lines[j], columns={**lines[j].columns, f"control:{_OTHER}": decisions[i]})
        counted = tally(beside, replace(roles[j], control=(_OTHER,)))
        joints[i, j] = _joint(counted, roles[j].sensitive, _by_stratum, models[i].is_same(models[j]))
    return Counted(cubes, joints, _scored_rows(lines, roles))


def _scored_rows(lines: Sequence[Lines], roles: Sequence[Roles]) -> ScoredRows | None:
    """The rows with the scores of all models; None where they are not there, or have weights."""
    scores = [part.scores for part in lines if part.scores is not None]
    if len(scores) < len(lines) or roles[0].label is None or roles[0].weight is not None:
        return None
    read = rows.read(lines[0], replace(roles[0], count=None))
    times = read_masses(lines[0].columns, roles[0]).people
    columns = [read.codes, read.columns["label"], *scores]
    codes, label, *each = columns if times is None else [np.repeat(column, times) for column in columns]
    return ScoredRows(read.groups, codes, label, tuple(each))


def _refuse(data: Any) -> None:
    """Say no to what two decisions of the same people cannot be counted from."""
    if chunks.is_chunks(data):
        raise CallError(
            "data comes in chunks, and models are compared on one table: name its files, or join the tables."
        )
    if isinstance(data, Cube) or merge.counted(data, {}) is not None:
        raise CallError("a cube holds the decisions of one model, not who got which from both: pass the rows.")


def _check_rows(models: Sequence[Model], decisions: Sequence[Array], i: int, j: int) -> None:
    if len(decisions[i]) != len(decisions[j]):
        raise DataError(
            f"{shorten(models[i].name)!r} has {len(decisions[i]):,} decisions and {shorten(models[j].name)!r} has "
            f"{len(decisions[j]):,}: both must decide about the same people, in the same order."
        )


def _one_scan(source: Source, roles: Sequence[Roles]) -> Iterator[Lines]:
    """The lines of each model, from one group-by of all predictions."""
    rivals = tuple(str(each.prediction) for each in roles[1:])
    arrays = {key: array for each in roles for key, array in each.arrays.items()}
    lines = source.lines(replace(roles[0], rivals=rivals, arrays=arrays))
    for i, _ in enumerate(roles):
        own = lines.columns[f"prediction:{i}"] if i else lines.columns["prediction"]
        yield replace(lines, columns={**lines.columns, "prediction": own})


def _cube(counted: Tally, roles: Roles) -> Cube:
    parts = {part.name: getattr(counted, part.name) for part in fields(Tally) if part.name != "bands"}
    notes = (note(roles.where),) if roles.where else ()
    return Cube(Meaning.from_roles(roles, counted.bands), **parts, notes=notes, codes=roles.labels)


def _decisions(lines: Lines, roles: Roles) -> Array:
    """1 and 0 of each line, whose values were found to be in order."""
    if roles.prediction is None:
        return np.asarray(lines.columns["decided"])
    name = roles.prediction
    found, codes = encode(lines.columns["prediction"], f"prediction column {shorten(name)!r}", roles.na)
    seen = np.ones(len(found), dtype=np.bool_)
    lookup = levels.classes("prediction", name, found, seen, roles.positive["prediction"], Problems())
    return np.asarray(lookup.astype(np.int8)[codes])


def _joint(counted: Tally, sensitive: tuple[str, ...], put: Put, same: bool) -> Joint:
    """Joint counts from lines whose strata tell decisions; `put` adds the values of a stratum to the cells of a group.

    The cells of a group are [label, before, after].
    """
    names = tuple(sorted({group for _, group in counted.pairs}, key=groups.order_key))
    place = {group: i for i, group in enumerate(names)}

    def spread_out(part: Array | None) -> Any:
        if part is None:
            return None
        cells = np.zeros((len(names), 3, 2, 2), dtype=part.dtype)
        for (stratum, group), values in zip(counted.pairs, part, strict=True):
            put(cells[place[group]], stratum, values)
        return cells

    return Joint(sensitive, names, spread_out(counted.n), spread_out(counted.w), spread_out(counted.w2), same)


def _by_stratum(cells: Array, stratum: Group, values: Array) -> None:
    """The decision of the first model is the stratum, that of the second the prediction."""
    cells[:, int(stratum[0] or 0)] += values[:, :2]


def _from_scores(
    data: Any, source: Source, models: Sequence[Model], roles: Sequence[Roles], arguments: Mapping[str, Any]
) -> Counted:
    """From files and engines, whose scores are cut while they are read: a cube for each model, and one of all cuts."""
    cubes = tuple(Cube.count(data, **{**arguments, **model.arguments, "task": "binary"}) for model in models)
    if any(model.prediction is not None for model in models):
        plain = [replace(model, score=None, cutoff=None) for model in models]
        return Counted(cubes, count(data, plain, arguments).joints)
    cuts: dict[str, list[float]] = {}
    for model in models:
        cut = math.nextafter(float(model.cutoff or 0.0), math.inf) if roles[0].higher_is == "negative" else model.cutoff
        cuts.setdefault(str(model.score), []).append(float(cut or 0.0))
    edges = {name: (_ENDS[0], *sorted(set(values)), _ENDS[1]) for name, values in cuts.items()}
    shared = {**arguments, "control": list(edges), "bands": {**(arguments["bands"] or {}), **edges}}
    cut_roles = replace(assign(source.names, **shared, needs=("groups",)), task="binary")
    counted = tally(sources.open_source(data, hive=arguments["hive"]).lines(cut_roles), cut_roles)
    joints, order = {}, list(edges)
    for i, j in itertools.combinations(range(len(models)), 2):
        sides = [_sides(models[k], edges, roles[0].higher_is == "negative") for k in (i, j)]
        joints[i, j] = _joint(counted, roles[0].sensitive, _by_bands(sides, order), models[i].is_same(models[j]))
        for axis, cube in ((3, cubes[i]), (2, cubes[j])):
            _check_cut(joints[i, j].n.sum(axis=axis), cube)
    return Counted(cubes, joints)


def _sides(model: Model, edges: Mapping[str, tuple[float, ...]], negative: bool) -> tuple[str, dict[str | None, int]]:
    """The score of a model, and for each band that the cutoffs of all models make of it the decision."""
    name, cutoff = str(model.score), float(model.cutoff or 0.0)
    starts = edges[name][:-1]
    chosen = [start <= cutoff if negative else start >= cutoff for start in starts]
    return name, dict(zip(levels.band_names(edges[name]), map(int, chosen), strict=True))


def _by_bands(sides: Sequence[tuple[str, dict[str | None, int]]], order: list[str]) -> Put:
    """Both decisions follow from the bands that scores lie in, which make the strata."""

    def put(cells: Array, stratum: Group, values: Array) -> None:
        before, after = (decided[stratum[order.index(name)]] for name, decided in sides)
        cells[:, before, after] += values[:, levels.NEITHER]

    return put


def _check_cut(margin: Ints, cube: Cube) -> None:
    if not np.array_equal(margin, cube.n[:, :, :2]):
        raise DataError(
            "a score lies so near its cutoff that rounding decides on which side: give the decisions as predictions."
        )
