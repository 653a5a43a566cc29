"""The measures of an audit side by side: each group, everyone, and the lowest, the highest and what lies between them.

Every number is one that the audit has measured already; tables are dataframes of the caller's own kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from evenhand.audits.audit_tables import own_lines, value_titles
from evenhand.catalogue import METRICS
from evenhand.core import frames
from evenhand.core.arrays import Bools, Floats
from evenhand.core.results import Group, Pair, spell
from evenhand.cube.cube import Cube
from evenhand.measures.evaluate import MeasureValues
from evenhand.measures.group_data import GroupData
from evenhand.verdicts import comparison

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

Summary = Literal["lowest", "highest", "difference", "ratio"]


class _Measured(NamedTuple):
    """The measures of the groups of some attributes: an array for each, in the order of the pairs of `cube`."""

    attributes: tuple[str, ...]
    cube: Cube
    values: dict[str, Floats]
    signed: dict[str, bool]


def by_group(audit: Audit) -> Any:
    """A line for each group of each set of attributes, in each stratum; see `Audit.by_group`."""
    every = [_measured(audit, names) for names in audit.attribute_sets()]
    measures = _names(every)
    table = _Columns(audit, ("attributes",), audit.meaning.sensitive, ("group", "people"), measures)
    for each in every:
        people = each.cube.n.sum(axis=(1, 2)).tolist()
        for i, (stratum, group) in enumerate(each.cube.pairs):
            own = dict(zip(each.attributes, each.cube.values(each.attributes, group), strict=True))
            shown = [own.get(name) for name in audit.meaning.sensitive]
            numbers = _line(each.values, measures, i)
            table.add(" × ".join(each.attributes), stratum, *shown, spell(group), people[i], *numbers)
    return table.frame()


def overall(audit: Audit) -> Any:
    """A line for everyone in each stratum; see `Audit.overall`."""
    everyone = _measured(audit, ())
    own = any(finding.metric not in METRICS for finding in audit.findings)
    sets = [_measured(audit, names) for names in audit.attribute_sets()] if own else []
    measures = _names([everyone, *sets])  # those of one's own have a column, though they are known for groups only
    table = _Columns(audit, (), (), ("people",), measures)
    people = everyone.cube.n.sum(axis=(1, 2)).tolist()
    for i, (stratum, _) in enumerate(everyone.cube.pairs):
        table.add(stratum, people[i], *_line(everyone.values, measures, i))
    return table.frame()


def across(audit: Audit, summary: Summary) -> Any:
    """A line for each set of attributes in each stratum; see `Audit.group_min`."""
    every = [_measured(audit, names) for names in audit.attribute_sets()]
    measures = _names(every)
    table = _Columns(audit, ("attributes",), (), (), measures)
    for each in every:
        for stratum in each.cube.strata:
            inside = _named(each.cube.pairs, stratum)
            found = {
                name: _across(np.where(inside, values, np.nan), summary, signed=each.signed.get(name, False))
                for name, values in each.values.items()
            }
            table.add(" × ".join(each.attributes), stratum, *(found.get(name, np.nan) for name in measures))
    return table.frame()


class _Columns:
    """The columns of a table, filled line by line; strata have columns only with `control=`."""

    def __init__(
        self, audit: Audit, first: Sequence[str], own: Sequence[str], rest: Sequence[str], measures: Sequence[str]
    ) -> None:
        control = audit.meaning.control
        self._audit, self._before = audit, len(first)
        strata = ("stratum",) if control else ()
        fixed = (*first, *strata, *rest)
        measured = value_titles(measures, fixed)  # a measure of one's own may have any name
        titles = value_titles((*control, *own), (*fixed, *measured))
        names = (*first, *titles[: len(control)], *strata, *titles[len(control) :], *rest, *measured)
        self._columns: dict[str, list[Any]] = {name: [] for name in names}

    def add(self, *cells: Any) -> None:
        """A line; the cell after the first ones is the stratum."""
        control = self._audit.meaning.control
        first, stratum, rest = cells[: self._before], cells[self._before], cells[self._before + 1 :]
        within = (*self._audit.cube.values(control, stratum), spell(stratum)) if control else ()
        for column, cell in zip(self._columns.values(), (*first, *within, *rest), strict=True):
            column.append(cell)

    def frame(self) -> Any:
        return frames.frame(self._columns, self._audit.frame_kind)


def _measured(audit: Audit, attributes: tuple[str, ...]) -> _Measured:
    cube = audit.counts(attributes)
    data = GroupData.of(cube)
    values, signed = {}, {}
    for each in audit.measures(attributes, strata=True):
        values[_name(each)] = each.values
        signed[_name(each)] = each.measure.signed(data)
    place = {pair: i for i, pair in enumerate(cube.pairs)}
    for stratum, group, name, of_class, value, *_ in own_lines(audit, attributes):
        column = values.setdefault(_title(name, of_class), np.full(len(cube.pairs), np.nan))
        column[place[stratum, group]] = value
    return _Measured(attributes, cube, values, signed)


def _name(measured: MeasureValues) -> str:
    return _title(measured.measure.name, measured.measure.of_class)


def _title(measure: str, of_class: str | None) -> str:
    """The column of a measure; where one of several classes is set against the others, with its name.

    >>> _title("accuracy", None), _title("true_positive_rate", "gold")
    ('accuracy', 'true_positive_rate of gold')
    """
    return measure if of_class is None else f"{measure} of {of_class}"


def _names(every: Sequence[_Measured]) -> list[str]:
    return list(dict.fromkeys(name for each in every for name in each.values))


def _line(values: dict[str, Floats], measures: Sequence[str], i: int) -> list[float]:
    return [float(values[name][i]) if name in values else np.nan for name in measures]


def _named(pairs: Sequence[Pair], stratum: Group) -> Bools:
    """The groups of a stratum; people whose group is missing are not judged as one."""
    return np.array([where == stratum and None not in group for where, group in pairs], dtype=bool)


def _across(values: Floats, summary: Summary, *, signed: bool) -> float:
    """One number for the groups; NaN is undefined, and no group."""
    if summary == "lowest":
        return float(np.fmin.reduce(values))
    if summary == "highest":
        return float(np.fmax.reduce(values))
    gap, quotient = comparison.apart(values)
    if summary == "difference":
        return float(gap)
    there, _ = comparison.without_ratio(values[None], None, np.ones(values.shape, dtype=bool), np.array([signed]))
    return float(np.nan if there.any() else quotient)
