"""What a page shows of an audit without computing: each group's measures, and the findings without their many rows.

These are the audit's own numbers, of every group however small. A page packs them beside the counts it recomputes from.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.core.results import Finding, Group, Panel, Row, pair_names, shown_names, spell, spell_stratum
from evenhand.core.wording import unit_of_values
from evenhand.report import tables

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.measures.evaluate import MeasureValues

MOST_CELLS = 8_000  # numbers of one set of attributes; beyond, only the measures that people ask for first
MOST_PANEL_CELLS = 12_000
_OWN = ("listed", "waterfall")  # roles of panels that say on the summary what a finding says

FIRST = (
    "selection_rate",
    "base_rate",
    "true_positive_rate",
    "false_positive_rate",
    "positive_predictive_value",
    "negative_predictive_value",
    "accuracy",
    "mean_score",
    "auc",
    "mean_prediction",
    "mean_outcome",
    "mean_residual",
    "mean_absolute_error",
    "r_squared",
    "macro_true_positive_rate",
    "macro_positive_predictive_value",
)
"""The measures that people ask for first, in their order."""

SECTIONS = {
    "Selection": ("selection_rate",),
    "Errors": ("true_positive_rate", "false_positive_rate"),
    "Predictive values": ("positive_predictive_value", "negative_predictive_value"),
    "Base rates": ("base_rate",),
    "Accuracy": ("accuracy", "macro_true_positive_rate", "macro_positive_predictive_value"),
    "Scores": ("mean_score", "auc"),
    "Predicted numbers": ("mean_prediction", "mean_outcome", "mean_residual", "mean_absolute_error", "r_squared"),
}
"""The same measures under the titles that a page gives them."""


class Column(NamedTuple):
    """One measure of every group of a set: value, ends of the interval and how many people it rests on."""

    name: str
    title: str
    unit: str
    of_class: str | None
    values: list[float]
    low: list[float]
    high: list[float]
    n: list[int]
    overall: float = math.nan

    @property
    def key(self) -> tuple[str, str | None]:
        return self.name, self.of_class

    @property
    def scale(self) -> int:
        """Rates are shown in percent."""
        return 100 if self.unit == "rate" else 1


class Results(NamedTuple):
    """The groups of some attributes: how many people, and every measure of each.

    `counted` says whether the cube knows the attributes; else all that is known is what findings say of the groups.
    """

    attributes: tuple[str, ...]
    groups: tuple[Group, ...]
    people: list[int]
    columns: list[Column]
    counted: bool = True

    def first(self) -> list[Column]:
        """The measures that people ask for first."""
        known = [column for column in self.columns if column.name in FIRST]
        return sorted(known, key=lambda column: FIRST.index(column.name))


def results(audit: Audit) -> list[Results]:
    """The results of every set of attributes that has a finding; of every set where there is none."""
    sensitive = audit.meaning.sensitive
    counted = sorted(audit.counted_sets, key=lambda names: (len(names), [sensitive.index(name) for name in names]))
    others = dict.fromkeys(finding.attributes for finding in audit.findings if finding.attributes not in counted)
    return [*(_counted(audit, names) for names in counted), *(_not_counted(audit, names) for names in others)]


def results_of(audit: Audit, attributes: tuple[str, ...], names: Collection[str]) -> Results:
    """The results of one set of attributes: the measures that people ask for first, those named, and those that only
    findings know."""
    if attributes not in audit.counted_sets:
        return _not_counted(audit, attributes)
    return _counted(audit, attributes, {*FIRST, *names})


def _counted(audit: Audit, attributes: Sequence[str], names: Collection[str] | None = None) -> Results:
    """Every measure that the cube allows, or those named, and those that findings bring along."""
    part, own = audit.counts(attributes, control=False), _own_rows(audit, attributes)
    groups = tuple(group for _, group in part.pairs)
    every = [each for each in audit.measures(attributes) if each.measure.name != "count"]
    overall = {_key(each): each for each in audit.measures(attributes, together=True)}
    columns = [
        _column(each, groups, own, overall.get(_key(each)))
        for each in every
        if names is None or each.measure.name in names
    ]
    columns += _brought(audit, attributes, groups, {_key(each) for each in every})
    if len(groups) * len(columns) * 4 > MOST_CELLS:
        wanted = {*FIRST, *_deciding_measures(audit)}
        columns = [column for column in columns if column.name in wanted]
    return Results(tuple(attributes), groups, part.n.sum(axis=(1, 2)).tolist(), columns)


def _not_counted(audit: Audit, attributes: Sequence[str]) -> Results:
    """What findings on attributes that are not in the cube say of their groups."""
    groups = tuple(dict.fromkeys(group for _, _, group in _own_rows(audit, attributes)))
    columns = _brought(audit, attributes, groups, set())
    people = [max((column.n[i] for column in columns), default=0) for i in range(len(groups))]
    return Results(tuple(attributes), groups, people, columns, counted=False)


_Rows = Mapping[tuple[str, str | None, Group], Row]


def _own_rows(audit: Audit, attributes: Sequence[str]) -> _Rows:
    """What the findings say of each group: by the policy's own intervals, and from the counts before they travelled."""
    rows = [row for finding in _on(audit, attributes) for row in _group_rows(finding)]
    return {(row.measure, row.of_class, row.group): row for row in reversed(rows)}


def _on(audit: Audit, attributes: Sequence[str]) -> list[Finding]:
    return [finding for finding in audit.findings if finding.attributes == tuple(attributes)]


def _group_rows(finding: Finding) -> list[Row]:
    return [row for row in finding.groups if row.bin is None and not row.stratum and row.group]


def _column(measured: MeasureValues, groups: Sequence[Group], own: _Rows, overall: MeasureValues | None) -> Column:
    """A measure with the numbers of the findings in place of those computed from the cube, where they have one."""
    numbers = zip(measured.values, measured.low, measured.high, measured.support, strict=True)
    lines = [
        _line(own.get((*_key(measured), group))) or (float(value), float(low), float(high), int(n))
        for group, (value, low, high, n) in zip(groups, numbers, strict=True)
    ]
    row, everyone = measured.measure, math.nan if overall is None else float(overall.values[0])
    return _of_lines(row.name, row.title, row.unit, _key(measured)[1], lines, everyone)


def _brought(
    audit: Audit, attributes: Sequence[str], groups: Sequence[Group], known: Collection[tuple[str, str | None]]
) -> list[Column]:
    """Measures that only findings know, such as those of neighbours or of replicas."""
    columns: dict[tuple[str, str | None], Column] = {}
    for finding in _on(audit, attributes):
        own = {(row.measure, row.of_class, row.group): row for row in _group_rows(finding)}
        for key in dict.fromkeys((measure, of_class) for measure, of_class, _ in own):
            if key in known or key in columns:
                continue
            lines = [_line(own.get((*key, group))) or (math.nan, math.nan, math.nan, 0) for group in groups]
            columns[key] = _of_lines(key[0], key[0].replace("_", " "), unit_of_values(finding.unit), key[1], lines)
    return list(columns.values())


_Line = tuple[float, float, float, int]


def _line(row: Row | None) -> _Line | None:
    if row is None or row.estimate is None or row.n is None:
        return None
    low, high = (math.nan if end is None else end for end in (row.estimate.low, row.estimate.high))
    return row.estimate.value, low, high, row.n


def _of_lines(
    name: str, title: str, unit: str, of_class: str | None, lines: Sequence[_Line], overall: float = math.nan
) -> Column:
    values, low, high, n = (list(part) for part in zip(*lines, strict=True)) if lines else ([], [], [], [])
    return Column(name, title, unit, of_class, values, low, high, n, overall)


def _deciding_measures(audit: Audit) -> set[str]:
    """The measures that decide."""
    return {row.measure for finding in audit.findings if audit.decides(finding) for row in finding.groups}


def _key(measured: MeasureValues) -> tuple[str, str | None]:
    return measured.measure.name, measured.measure.of_class


def results_data(results: Iterable[Results]) -> list[dict[str, Any]]:
    """The results as plain columns; null is undefined."""
    return [
        {
            "attributes": list(each.attributes),
            "counted": each.counted,
            "groups": [list(group) for group in each.groups],
            "names": [spell(group, each.attributes) for group in each.groups],
            "people": each.people,
            "measures": [_column_data(column) for column in each.columns],
        }
        for each in results
    ]


def _column_data(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "title": column.title,
        "unit": column.unit,
        "class": column.of_class,
        "overall": number(column.overall),
        "value": [number(value) for value in column.values],
        "low": [number(value) for value in column.low],
        "high": [number(value) for value in column.high],
        "n": column.n,
    }


def number(value: Any) -> float | None:
    """A number as a page holds it, to twelve figures. Undefined and infinite are null."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.12g}")


def findings_data(audit: Audit, *, curves: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The findings without their rows, and the panels they refer to by place; a panel that two share comes once.

    A page with the cube draws the curves of scores itself, so it needs none of those.
    """
    findings: list[dict[str, Any]] = []
    panels: list[dict[str, Any]] = []
    places: dict[Any, int | None] = {}
    cells = 0
    decided = tables.deciding(audit)
    for finding in audit.findings:
        mine, listed = [], []
        for panel in finding.panels:
            if panel.role == "calibration" and not curves:
                continue
            key = (panel.title, panel.rows)
            if key not in places:
                cells += len(panel.rows) * len(panel.columns)
                places[key] = len(panels) if cells <= MOST_PANEL_CELLS else None
                if cells <= MOST_PANEL_CELLS:
                    panels.append(panel_data(panel))
            if places[key] is not None:
                mine.append(places[key])
                listed += [places[key]] if panel.role in _OWN else []
        rank = next((i for i, each in enumerate(decided) if each is finding), None)
        within = _within(finding, audit.meaning.control)
        findings.append({**_finding_data(finding, rank), "within": within, "panels": mine, "listed": listed})
    return findings, panels


def _finding_data(finding: Finding, rank: int | None) -> dict[str, Any]:
    """A finding as plain data; `rank` is its place among those that decide."""
    required = rank is not None
    shown = [row for row in finding.groups if row.bin is None]
    extremes, against = _names(finding, finding.summary), finding.settings.get("against")
    return {
        "metric": finding.metric,
        "title": finding.title,
        "attributes": list(finding.attributes),
        "required": required,
        "rank": rank,
        "judged_on": finding.judged_on,
        "unit": finding.unit,
        "value": number(finding.value.value),
        "low": number(finding.value.low),
        "high": number(finding.value.high),
        "threshold": finding.threshold,
        "verdict": finding.verdict,
        "watched": finding.over_time,
        "shown": {name: number(getattr(finding.shown, name)) for name in ("value", "low", "high")},
        "highest": extremes[0] or None,
        "lowest": extremes[1] or None,
        "evidence": _evidence_data(finding),
        "left_out": shown_names(finding.left_out, (row.group for row in finding.rows), finding.attributes),
        "sentence": finding.interpretation,
        "notes": list(tables.notes(finding, decides=required)),
        "p": number(finding.p_adjusted),
        "against": _names(finding, Row("", (), against=against))[1] if isinstance(against, str) else against,
        "aggregate": finding.settings.get("aggregate"),
        "measures": list(dict.fromkeys(row.measure for row in shown)),
    }


def _within(finding: Finding, controls: Sequence[str]) -> str:
    """The stratum of the two groups on which the verdict rests; empty where there are no strata."""
    row = finding.evidence or finding.summary
    return f"in {spell_stratum(row.stratum, controls)}" if row.stratum else ""


def _evidence_data(finding: Finding) -> dict[str, Any] | None:
    """The pair of groups on which the verdict rests, and the measure, by the key of its column; null where averaged."""
    row = finding.evidence or finding.summary
    if not row.group:
        return None
    key = row.measure if row.of_class is None else f"{row.measure} {row.of_class}"
    pair = _names(finding, row)
    return {
        "measure": None if row.measure == finding.metric else key,
        "group": pair[0],
        "against": pair[1] or None,
        "n": row.n,
        "n_against": row.n_against,
    }


def _names(finding: Finding, row: Row) -> tuple[str, str]:
    """The two groups of a row as people read them."""
    return pair_names(row, (each.group for each in finding.rows), finding.attributes)


def panel_data(panel: Panel) -> dict[str, Any]:
    """A panel as plain data."""
    return {
        "kind": panel.kind,
        "title": panel.title,
        "columns": list(panel.columns),
        "rows": [[_cell(value) for value in row] for row in panel.rows],
    }


def _cell(value: object) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return number(value)
    return spell(value) if isinstance(value, tuple) else str(value)
