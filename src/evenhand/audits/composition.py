"""explain(): how much of a gap is where people are, and how much is what happens to people in the same place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from evenhand.audits import composition_text as text
from evenhand.audits.audit_notes import data_notes
from evenhand.audits.group_pair import two_groups
from evenhand.audits.proxy_text import without_group
from evenhand.audits.strata_columns import counted, named_controls
from evenhand.catalogue import METRICS, Metric
from evenhand.core import frames, wording
from evenhand.core.arrays import ColumnLike, DataLike
from evenhand.core.familiar import familiar
from evenhand.core.results import UNDEFINED, Caller, Estimate, Finding, Group, Row, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, as_typed, either, shorten
from evenhand.inference import composition
from evenhand.inference.means import Means
from evenhand.inference.spread import Proportions
from evenhand.measures.base import Measure, evaluate, undefined_reason
from evenhand.measures.cells import CellMeasure
from evenhand.measures.group_data import GroupData
from evenhand.sources.documentation import documented
from evenhand.sources.read_arguments import ReadArguments, with_read_arguments
from evenhand.verdicts.finding import judge, on_value
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.notes.bands import undivided
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request
from evenhand.verdicts.requirements import check_roles
from evenhand.verdicts.row_source import reusable


@documented
@familiar
@with_read_arguments
def explain(
    data: DataLike | Cube | None = None,
    metric: str | Metric = "demographic_parity",
    *,
    between: Sequence[Any] | None = None,
    risk: ColumnLike | None = None,
    policy: Policy | str | Path | None = None,
    confidence: float | None = None,
    **arguments: Unpack[ReadArguments],
) -> Finding:
    """Why there is a gap between two groups: how much is where people are, and how much is what happens there.

    The gap is split, after Kitagawa (1955), over the strata of `control`: the composition effect, because the groups
    are in different strata, and the effect of rates, because people in the same stratum fare differently. What cannot
    be compared, because a stratum has one of the groups only, is a part of its own, and the three sum to the gap. With
    several columns each has its share of the composition effect (Shapley's value), whatever their order.

    Parameters
    ----------
    data
        What `evenhand.audit` takes, or a Cube that was counted with `control`.
    metric
        The metric whose gap is explained, by its name, such as "equal_opportunity"; it compares one rate or one mean.
    between
        The two groups, such as ("Male", "Female"): the gap is that of the first less that of the second. By default the
        two groups that there are, the one with the higher value first.
    control
        Where people are: one column or several. Of a Cube, which of its controls; by default all.
    risk
        A column or an array of risk scores, whose bins are strata too: people of the same risk are then compared, and
        the effect of rates is the risk-adjusted gap. The bins are those of `bands`, by default `bins` of equal width
        from 0 to 1.

    Returns
    -------
    Finding
        It is not judged. `value` is the composition effect, `difference` the gap; every part is one of `rows`, by its
        name in `measure`, and `panels` hold the parts in order and the strata.

    >>> from evenhand.datasets import berkeley
    >>> found = explain(berkeley(), prediction="admitted", sensitive="gender", control="department", count="count")
    >>> {row.measure: round(row.difference.value, 3) for row in found.rows if row.difference}
    {'gap': 0.142, 'composition': 0.178, 'rates': -0.036}
    """
    data, said = reusable(data), reusable(arguments)
    explained = make_request(getattr(metric, "metric", metric), policy=policy, confidence=confidence)
    measured(explained.metric)  # what is wrong with the metric is said before the data is read
    cube, columns = counted(data, said, risk)
    finding = explain_cube(
        cube, explained, between=between, columns=columns, risk=None if risk is None else columns[-1]
    )
    return replace(finding, caller=Caller(frames.kind_of(data), cube.kinds))


def explain_cube(
    cube: Cube, explained: Request, *, between: Any, columns: Sequence[str] | None = None, risk: str | None = None
) -> Finding:
    """What `explain` finds in a cube that was counted before; `risk` is the one of its controls that holds risks."""
    measure = measured(explained.metric)
    columns = named_controls(cube, columns)
    if cube.meaning.task == "multiclass":
        favourable = as_typed("positive=[...]", "--positive")
        raise CallError(f"of several classes no one gap can be split: say which count as positive with {favourable}.")
    check_roles(explained.metric, cube)
    pairs, pair = two_groups(cube, between, measure)
    found = split_gap(explained, measure, pairs, pair, columns)
    request = make_request("explain", policy=explained.policy)
    return _finding(request, found, risk, [*data_notes(cube), *_left_out(measure, cube, pairs)])


def _left_out(measure: Measure, cube: Cube, pairs: Cube) -> list[str]:
    """Who is in neither group, or has no label where the measure needs one."""
    said = []
    whole = cube.marginal(pairs.meaning.sensitive, control=False)
    lost = sum(int(n.sum()) for (_, group), n in zip(whole.pairs, whole.n, strict=True) if None in group)
    if lost:
        said.append(without_group(lost))
    if "label" in measure.needs and pairs.has_labels and pairs.n[:, -1].any():
        said.append("The gap and its parts are those of people with a label, as if labels were missing at random.")
    return said


@dataclass(frozen=True)
class SplitGap:
    """The gap between two groups in one measure, and its parts, in the order of `composition.split`.

    `gap` is the row that the metric itself has of the two groups, `values` are theirs over all strata; `ends` are None
    where it is not known how much the parts vary, because rows belong together.
    """

    metric: Metric
    measure: Measure
    cube: Cube
    pair: tuple[Group, Group]
    columns: tuple[str, ...]
    strata: composition.Strata
    names: tuple[Group, ...]
    people: tuple[int, int]
    gap: Estimate
    values: tuple[Estimate, Estimate]
    parts: composition.Parts
    ends: tuple[Any, Any] | None
    confidence: float

    def estimate(self, part: int) -> Estimate:
        """One of the parts with its interval."""
        value = float(self.parts.values[part])
        if part == composition.GAP:
            return self.gap
        return Estimate(value) if self.ends is None else Estimate.of(value, *(float(end[part]) for end in self.ends))

    @property
    def shown(self) -> tuple[str, str]:
        """The names of the two groups, as people read them."""
        first, second = (spell(group, self.cube.meaning.sensitive) for group in self.pair)
        return first, second

    @property
    def apart(self) -> tuple[float, float]:
        """The share of each group that is in strata without the other group."""
        alone = ~composition.shared(self.strata)
        first, second = (float(share[alone].sum()) for share in self.strata.shares)
        return first, second


def measured(metric: Metric) -> Measure:
    """The one rate or mean that a metric compares; others are refused with what to explain instead."""
    name = metric.name
    if metric.index is not None or metric.binned or not metric.measures:
        raise CallError(f"{name} does not compare one rate or mean of each group, so it has no parts; {_instead()}")
    rows = metric.rows
    if len(rows) > 1:
        alone = [_metric_of(row) for row in rows]
        raise CallError(
            f"{name} compares {len(rows)} measures: explain the gap in one of them, "
            f"{as_typed(f'metric={either(map(repr, alone))}', f'--metric {either(alone)}')}."
        )
    (row,) = rows
    plain = not isinstance(row, CellMeasure) or (row.form is not None and row.form.plain)
    if not row.linear or not plain:
        raise CallError(f"the {row.title} is not the mean of those of its strata, so it has no parts; {_instead()}")
    return row


def _metric_of(row: Measure) -> str:
    """The name of the metric that compares this measure alone."""
    single = [entry.name for entry in METRICS.values() if entry.measures == (row.name,)]
    return single[0] if single else row.name


def _instead() -> str:
    such = as_typed("metric='demographic_parity' or 'equal_opportunity'", "--metric equal_opportunity")
    return f"explain another one, such as {such}."


def split_gap(
    request: Request, measure: Measure, cube: Cube, pair: tuple[Group, Group], columns: Sequence[str]
) -> SplitGap:
    """The gap between two groups of a cube, split over the strata of some of its controls.

    Parameters
    ----------
    request
        The metric whose gap it is.
    measure
        What the metric compares.
    cube
        Counts of the two groups alone.
    """
    if len(columns) > composition.MOST_COLUMNS:
        raise CallError(
            f"the gap is to be split over {len(columns)} columns: name at most {composition.MOST_COLUMNS} in "
            f"{as_typed('control=', '--control')}."
        )
    gap, values, people = _whole(request, measure, cube.marginal(control=False), pair)
    names = _strata_names(cube, columns)
    strata = _strata(measure, cube, pair, columns, names)
    _check_strata(strata, cube, columns, names)
    parts = composition.split(strata)
    confidence = request.policy.confidence
    ends = None if cube.clustered else composition.limits(strata, parts, confidence)
    return SplitGap(
        request.metric,
        measure,
        cube,
        pair,
        tuple(columns),
        strata,
        names,
        people,
        gap,
        values,
        parts,
        ends,
        confidence,
    )


def _strata_names(cube: Cube, columns: Sequence[str]) -> tuple[Group, ...]:
    """The joint strata of some of the controls, in the order of the cube."""
    return tuple(dict.fromkeys(_place(cube, stratum, columns) for stratum in cube.strata))


def _place(cube: Cube, stratum: Group, columns: Sequence[str]) -> Group:
    return tuple(stratum[cube.meaning.control.index(name)] for name in columns)


def _strata(
    measure: Measure, cube: Cube, pair: tuple[Group, Group], columns: Sequence[str], names: Sequence[Group]
) -> composition.Strata:
    """The sums of both groups in every joint stratum."""
    data = GroupData.of(cube)
    spread, values, _ = evaluate(measure, data)
    mass = np.asarray(measure.mass(data), dtype=np.float64)
    unknown = np.isnan(values) & (mass > 0)
    if unknown.any():
        stratum, group = cube.pairs[int(np.argmax(unknown))]
        who = text.place(_place(cube, stratum, columns), columns)
        why = undefined_reason(measure, data, int(np.argmax(unknown)), spell(group, cube.meaning.sensitive), 1)
        raise DataError(
            f"the {measure.title} in {who} is not known: {why}. Hold a coarser column fixed, or leave those rows out "
            f"with {as_typed('where=', '--where')}."
        )
    if isinstance(spread, Means):
        sizes, variances = spread.worth, spread.own
    elif isinstance(spread, Proportions):
        sizes, variances = spread.n, None
    else:
        raise CallError(f"it is not known how much the {measure.title} varies, so its gap is not split; {_instead()}")
    shape = (2, len(names))
    top, bottom, squares, within = (np.zeros(shape) for _ in range(4))
    place = {name: i for i, name in enumerate(names)}
    for i, (stratum, group) in enumerate(cube.pairs):
        at = pair.index(group), place[_place(cube, stratum, columns)]
        if mass[i] > 0:
            top[at] += values[i] * mass[i]
            bottom[at] += mass[i]
            squares[at] += mass[i] ** 2 / max(float(sizes[i]), 1e-300)
            within[at] += 0.0 if variances is None else float(np.nan_to_num(variances[i])) * mass[i]
    codes = np.array([_codes([name[j] for name in names]) for j in range(len(columns))], dtype=np.int64)
    spread_within = None if variances is None else np.divide(within, bottom, out=within, where=bottom > 0)
    return composition.Strata(top, bottom, squares, codes, spread_within)


def _codes(values: Sequence[str | None]) -> list[int]:
    place = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return [place[value] for value in values]


def _check_strata(strata: composition.Strata, cube: Cube, columns: Sequence[str], names: Sequence[Group]) -> None:
    """Refuse columns by which nothing can be compared."""
    for j, name in enumerate(columns):
        values = {stratum[j] for stratum in names}
        if values == {None}:
            raise DataError(f"control column {shorten(name)!r} is missing in every row: leave it out.")
        if len(values) == 1:
            (value,) = values
            if name in cube.cut_by_us:
                raise DataError(f"control column {shorten(name)!r} {undivided(name)}.")
            raise DataError(
                f"control column {shorten(name)!r} is always {shorten(repr(value))}: one stratum explains nothing. "
                "Name a column in which people differ."
            )
    if not composition.shared(strata).any():
        each = wording.number_of(round(cube.size / len(names)))
        raise DataError(
            f"no stratum of {text.columns(columns)} has both groups: there are {len(names):,} strata with "
            f"{each} each on average. Name a coarser column, or cut numbers with "
            f"{as_typed('bands=', '--bands')}."
        )


def _whole(
    request: Request, measure: Measure, whole: Cube, pair: tuple[Group, Group]
) -> tuple[Estimate, tuple[Estimate, Estimate], tuple[int, int]]:
    """The gap, the value and the people of both groups over all strata, as the metric itself reports them."""
    reference = dict(zip(whole.meaning.sensitive, pair[1], strict=True))
    policy = replace(request.policy, missing_labels="ignore")  # of the same people as the parts
    found = judge(replace(request, reference=reference, policy=policy), whole)
    rows = {row.group: row for row in found.groups if row.measure == measure.name}
    if any(group not in rows or not (rows[group].estimate or UNDEFINED).defined for group in pair):
        raise DataError(found.interpretation)
    evidence = found.evidence
    gap = evidence.difference if evidence is not None and evidence.difference is not None else found.difference
    first, second = (rows[group] for group in pair)
    values = first.estimate or UNDEFINED, second.estimate or UNDEFINED
    return gap, values, (first.n or 0, second.n or 0)


def _finding(request: Request, found: SplitGap, risk: str | None, said: Sequence[str]) -> Finding:
    """The finding, which is not judged; `said` is what a reader must know of the columns."""
    measure, attributes = found.measure, found.cube.meaning.sensitive
    named = {
        "gap": found.estimate(composition.GAP),
        "composition": found.estimate(composition.COMPOSITION),
        **(
            {f"composition: {name}": found.estimate(composition.APART + 1 + j) for j, name in enumerate(found.columns)}
            if len(found.columns) > 1
            else {}
        ),
        "rates": found.estimate(composition.RATES),
        **({"not_comparable": found.estimate(composition.APART)} if any(found.apart) else {}),
    }
    about = {
        "group": found.pair[0],
        "against": spell(found.pair[1]),
        "n": found.people[0],
        "n_against": found.people[1],
    }
    rows = [
        *(
            Row(measure.name, group, n=n, estimate=value)
            for group, n, value in zip(found.pair, found.people, found.values, strict=True)
        ),
        *(Row(name, difference=part, **about) for name, part in named.items()),  # type: ignore[arg-type]
    ]
    result = ValueResult(
        named["composition"],
        text.sentence(found),
        Row(measure.name, difference=named["gap"], **about),  # type: ignore[arg-type]
        rows,
        text.notes(found, risk),
        unit=wording.POINTS if measure.unit == "rate" else measure.unit,
        panels=text.panels(found),
        settings={
            "metric": found.metric.name,
            "between": [spell(group) for group in found.pair],
            "control": list(found.columns),
            **({} if risk is None else {"risk": risk}),
        },
    )
    finding = on_value(request, attributes, result, notes=said)
    return replace(finding, title=f"{finding.title} ({measure.title})")
