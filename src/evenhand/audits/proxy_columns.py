"""proxies(): how much each column says about the group that a person belongs to, and which features carry a gap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.audits import proxy_text as text
from evenhand.audits.carried_gap import CarriedGap, carried_gap, read_contributions
from evenhand.core import frames
from evenhand.core.arguments import checked
from evenhand.core.arrays import Bools, ColumnLike, ColumnsLike, DataLike, Floats, Indices, Ints
from evenhand.core.results import Caller, Estimate, Finding, Group, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, as_typed, listing, shorten
from evenhand.inference import multiplicity
from evenhand.measures import dependence
from evenhand.sources import features as feature_columns
from evenhand.sources import groups as group_columns
from evenhand.sources.documentation import documented
from evenhand.sources.features import Column
from evenhand.sources.memory import MemorySource, check_indexes
from evenhand.sources.quantiles import inner_edges
from evenhand.verdicts.finding import on_value
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request

FEW = 5  # people: values of a category that fewer have are taken together
_MOST_COLUMNS = 10_000


@dataclass(frozen=True)
class Proxy:
    """What one column says about the groups.

    `correlation` and `information` are its maximal correlation with the groups, and its mutual information less what
    chance adds; `correlation_chance` and `information_chance` are what each would be on average if column and groups
    were independent. `auc` is that of the best single split, which tells people of `group` from all others.
    """

    name: str
    correlation: float
    correlation_chance: float
    information: float
    information_chance: float
    auc: float
    group: Group
    p_value: float
    p_adjusted: float

    @property
    def beyond_chance(self) -> float:
        """The maximal correlation with what chance adds taken off, by which columns are ranked."""
        chance = self.correlation_chance**2
        return math.sqrt(max(self.correlation**2 - chance, 0.0) / (1 - chance)) if chance < 1 else 0.0


@documented
@checked
def proxies(
    data: DataLike | None = None,
    *,
    features: Iterable[str] | str | None = None,
    sensitive: ColumnsLike | None = None,
    categorical: Iterable[str] | str = (),
    contributions: Any = None,
    score: ColumnLike | None = None,
    between: Sequence[Any] | None = None,
    na: Iterable[str] = (),
    policy: Policy | str | Path | None = None,
    confidence: float | None = None,
    random_state: int | None = None,
) -> Finding:
    """How much each column says about the sensitive attribute; and which features carry the gap between scores.

    Columns are ranked by their maximal correlation with the groups, beyond what chance gives. A column says something
    about the attribute where its p-value, corrected over all columns (Holm), is at most 1 less the confidence.

    Parameters
    ----------
    data
        A table in memory, or the path of a file, with a row for each person.
    features
        The columns that are looked at; by default all others than those of other arguments.
    sensitive
        The attribute, or several whose combinations make the groups. People without a group are left out.
    categorical
        Columns of numbers that are codes of categories.
    contributions
        How much each feature adds to the score of each person, such as SHAP values: a matrix with a row for each person
        and a column for each feature, in the order of `features`; or a table with the names of the features.
    score
        With `contributions`, the score itself: a column or an array. What the contributions do not add up to is then
        shown as a part of its own; a constant makes no difference.
    between
        With `contributions`, the two groups whose gap is shared out; by default the two groups that there are.

    Returns
    -------
    Finding
        It is not judged. `value` is the maximal correlation of the column that says most; every column is one of
        `rows`, and `panels` hold the table of columns and the parts of the gap.

    >>> people = {"sex": ["f", "m"] * 200, "name": ["Ann", "Bob"] * 200, "room": [1, 1, 2, 2] * 100}
    >>> found = proxies(people, sensitive="sex", categorical="room")
    >>> [(row.measure, round(row.estimate.value, 6)) for row in found.rows]
    [('column: name', 1.0), ('column: room', 0.0)]
    """
    request = make_request("proxies", policy=policy, confidence=confidence, random_state=random_state)
    people = _read(data, features, sensitive, categorical, score, tuple(na))
    found = _proxies(people, request)
    gap = None
    if contributions is not None:
        check_indexes({as_typed("score=", "--score"): score, "contributions=": contributions}, data)
        matrix = read_contributions(contributions, people.named, people.size)
        gap = carried_gap(matrix, people.scores, people.groups, people.codes, people.attributes, between, request)
    elif score is not None or between is not None:
        given = "score" if score is not None else "between"
        raise CallError(
            f"{as_typed(f'{given}=', f'--{given}')} is for the gap that "
            f"{as_typed('contributions=', '--contributions')} share out: give these too, or leave it out."
        )
    return replace(_finding(request, people, found, gap), caller=Caller(frames.kind_of(data)))


@dataclass(frozen=True)
class People:
    """The columns of all people, and the group of each; −1 is no group."""

    named: tuple[str, ...]
    """The features as they were read, in their order: with those that are not looked at."""
    columns: tuple[Column, ...]
    attributes: tuple[str, ...]
    groups: tuple[Group, ...]
    codes: Indices
    scores: Floats | None
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.codes)

    @property
    def grouped(self) -> Bools:
        return np.asarray(self.codes >= 0)


def count_people(data: Any, sensitive: Any) -> Cube:
    """The people of each group and nothing else of them, so that what `proxies` finds can be saved as an audit."""
    table = feature_columns.as_table(data)
    unknown: Any = [None] * len(group_columns.encode(sensitive, table).codes)
    cube = Cube.count(table, sensitive=sensitive, label=unknown)
    return replace(cube, meaning=replace(cube.meaning, label=None), facts={})


def _read(data: Any, features: Any, sensitive: Any, categorical: Any, score: Any, na: tuple[str, ...]) -> People:
    if sensitive is None:
        typed = as_typed("sensitive=", "--sensitive")
        raise CallError(f"{typed} is missing: name the attribute that columns may stand for, such as 'race'.")
    if data is None:
        raise CallError("data is missing: pass the columns of the people as a table, or the path of a file.")
    table = feature_columns.as_table(data)
    MemorySource(table)  # which says what is wrong with what is not a table
    grouped = group_columns.encode(sensitive, table)
    names, codes = _with_groups(grouped.names, grouped.codes)
    apart = {*group_columns.named_columns(sensitive, table), *([score] if isinstance(score, str) else [])}
    own = dict.fromkeys(group_columns.named_columns(sensitive, table), "the attribute")
    found = feature_columns.read(table, features=features, categorical=categorical, apart=apart, outcomes=own, na=na)
    if len(found.columns) > _MOST_COLUMNS:
        raise CallError(f"there are {len(found.columns):,} columns: name at most {_MOST_COLUMNS:,} of them.")
    varied, notes = _that_vary(found.columns, codes >= 0, named=features is not None)
    if (codes < 0).any():
        notes.append(text.without_group(int((codes < 0).sum())))
    scores = None if score is None else _scores(table, score, len(codes))
    return People(
        tuple(column.name for column in found.columns), varied, grouped.attributes, names, codes, scores, tuple(notes)
    )


def _with_groups(names: Sequence[Group], codes: Indices) -> tuple[tuple[Group, ...], Indices]:
    """The groups that have a name, and the codes among these; −1 for people without one."""
    kept = [i for i, name in enumerate(names) if None not in name]
    if len(kept) < 2:
        seen = listing([spell(names[i]) for i in kept]) or "no value at all"
        raise DataError(f"the attribute has one group only ({seen}): there is nothing to tell apart.")
    place = np.full(len(names), -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    return tuple(names[i] for i in kept), place[codes]


def _that_vary(columns: Sequence[Column], known: Bools, *, named: bool) -> tuple[tuple[Column, ...], list[str]]:
    """The columns in which people differ; others are an error where the caller named them, else a note."""
    varied = [column for column in columns if len(np.unique(_values(column)[known])) > 1]
    same = [column.name for column in columns if column not in varied]
    if same and (named or not varied):
        shown = listing([shorten(name) for name in same])
        raise DataError(
            f"in {shown} everyone has the same value, or none, so nothing can be told from it: leave it out of "
            f"{as_typed('features=', '--features')}."
        )
    return tuple(varied), [text.constant(same)] if same else []


def _values(column: Column) -> Any:
    """The values, with one number for what is missing."""
    return column.values if column.categorical else np.where(np.isnan(column.values), np.inf, column.values)


def _scores(table: Any, score: Any, size: int) -> Floats:
    """The scores of all people, which must be numbers."""
    named = isinstance(score, str)
    (column,) = feature_columns.read(
        table if named else {"score": score}, features=[score if named else "score"]
    ).columns
    numbers = column.values.astype(np.float64) if not column.categorical else _of_codes(column)
    if len(numbers) != size:
        raise DataError(f"there are {len(numbers):,} scores for {size:,} people: pass one for each.")
    if np.isnan(numbers).any():
        raise DataError("the score has missing values, or holds text: pass a number for each person.")
    return np.asarray(numbers)


def _of_codes(column: Column) -> Floats:
    """Categories 0 and 1 as numbers; other categories are none."""
    levels = np.array(
        [float(level) if str(level) in ("0", "1") else np.nan for level in column.levels or ()] + [np.nan]
    )
    return np.asarray(levels[column.values])


def _proxies(people: People, request: Request) -> list[Proxy]:
    """Every column, the one that says most first."""
    known = people.grouped
    codes, count = people.codes[known], len(people.groups)
    measured = []
    for column in people.columns:
        values = _values(column)[known]
        table = _table(codes, count, _binned(column, values))
        correlation, information = _dependence(table, request.policy.random_state)
        measured.append((column.name, correlation, information, *_split(column, values, codes, count)))
    adjusted = multiplicity.holm([correlation.p_value for _, correlation, *_ in measured])
    found = [
        Proxy(
            name,
            correlation.value,
            correlation.null_mean,
            information.value,
            information.null_mean,
            auc,
            people.groups[row],
            correlation.p_value,
            float(p),
        )
        for (name, correlation, information, auc, row), p in zip(measured, adjusted, strict=True)
    ]
    return sorted(found, key=lambda each: (-each.beyond_chance, each.p_value))


def _dependence(table: Floats, seed: int) -> tuple[dependence.Dependence, dependence.Dependence]:
    """Maximal correlation and mutual information of a table, each beside what chance gives."""
    correlation, information = dependence.maximal_correlation, dependence.mutual_information
    chance = dependence.chance_information
    return (
        dependence.against_chance(table, correlation, dependence.DRAWS, seed, power=0.5),
        dependence.against_chance(table, information, dependence.DRAWS, seed, power=1.0, chance=chance),
    )


def _binned(column: Column, values: Any) -> Ints:
    """The bin of each person: numbers in ten of equal size, and categories that few have as one."""
    if column.categorical:
        distinct, place, people = np.unique(values, return_inverse=True, return_counts=True)
        rare = (people < FEW) & (distinct >= 0)
        rare &= rare.sum() < len(rare)  # where every value is rare, there is nothing to set them apart from
        return np.asarray(np.where(rare, len(distinct), np.arange(len(distinct)))[place.reshape(-1)])
    present = values < np.inf
    distinct = np.unique(values[present])
    if len(distinct) > dependence.MOST_COLUMNS:
        mass = np.bincount(np.searchsorted(distinct, values[present])).astype(np.float64)
        edges = _around_heavy(inner_edges(distinct, dependence.MOST_COLUMNS, mass), distinct)
        return np.where(present, np.searchsorted(edges, values, side="right"), len(edges) + 1)
    return np.asarray(np.searchsorted(distinct, values))  # what is missing lies beyond all of them


def _around_heavy(edges: Floats, distinct: Floats) -> Floats:
    """The edges of bins, in which a number that most people have, such as 0, is apart from all that is above it."""
    heavy = edges[1:][edges[1:] == edges[:-1]]
    above = np.minimum(np.searchsorted(distinct, heavy, side="right"), len(distinct) - 1)
    return np.unique(np.concatenate([edges, distinct[above]]))


def _table(codes: Indices, count: int, place: Ints) -> Floats:
    """People by group and bin."""
    _, bins = np.unique(place, return_inverse=True)
    bins = bins.reshape(-1)
    width = int(bins.max()) + 1
    return np.bincount(codes * width + bins, minlength=count * width).reshape(count, width).astype(np.float64)


def _split(column: Column, values: Any, codes: Indices, count: int) -> tuple[float, int]:
    """The AUC of the best single split of a column, and the group that it tells from all others."""
    if column.categorical:
        return dependence.best_sides(_table(codes, count, values))
    table = _table(codes, count, values)
    if not (values < np.inf).all():
        return dependence.best_split(table[:, :-1], table[:, -1])
    return dependence.best_split(table)


def _finding(request: Request, people: People, found: Sequence[Proxy], gap: CarriedGap | None) -> Finding:
    """The finding, which is not judged."""
    sure = request.policy.confidence
    flagged = [each for each in found if each.p_adjusted <= 1 - sure + 1e-12]
    rows, said = text.rows(people, found, gap), text.sentence(people, found, flagged, sure)
    result = ValueResult(
        Estimate(found[0].correlation),
        said if gap is None else f"{said} {text.carried(gap)}",
        text.summary(request.metric.name, gap),
        rows,
        text.notes(people, found, gap, sure),
        unit="ratio",
        p_value=min((each.p_value for each in found), default=None),
        tested="permutation",
        panels=text.panels(people, found, gap),
        settings={
            "columns": len(found),
            "flagged": [each.name for each in flagged],
            "correction": "holm",
            "draws": dependence.DRAWS,
        },
    )
    return on_value(request, people.attributes, result)
