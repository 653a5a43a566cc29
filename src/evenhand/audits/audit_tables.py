"""The tables of an audit, as dataframes of the caller's own kind: its findings, and its groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.catalogue import METRICS
from evenhand.core import frames
from evenhand.core.results import Caller, Estimate, Finding, Group, Verdict, spell
from evenhand.measures.base import undefined_reason
from evenhand.measures.group_data import GroupData
from evenhand.sources.kinds import TEXT, value_of

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit


def findings_table(audit: Audit) -> Any:
    """A line for each finding; see `Audit.to_frame`."""
    pairs = [finding.evidence for finding in audit.findings]
    columns: dict[str, list[Any]] = {
        "metric": [finding.metric for finding in audit.findings],
        "attributes": [" × ".join(finding.attributes) for finding in audit.findings],
        "judged_on": [finding.judged_on for finding in audit.findings],
        "value": [finding.value.value for finding in audit.findings],
        "low": [finding.value.low for finding in audit.findings],
        "high": [finding.value.high for finding in audit.findings],
        "threshold": [finding.threshold for finding in audit.findings],
        "difference": [finding.difference.value for finding in audit.findings],
        "ratio": [finding.ratio.value for finding in audit.findings],
        "highest": [_own_value(audit, each, each.highest) for each in audit.findings],
        "lowest": [_own_value(audit, each, each.lowest) for each in audit.findings],
        "group": [
            _own_value(audit, each, spell(each.evidence.group) if each.evidence else None) for each in audit.findings
        ],
        "n": [None if row is None else row.n for row in pairs],
        "against": [
            _own_value(audit, each, each.evidence.against if each.evidence else None) for each in audit.findings
        ],
        "n_against": [None if row is None else row.n_against for row in pairs],
        "shown": [finding.shown.value for finding in audit.findings],
        "shown_low": [finding.shown.low for finding in audit.findings],
        "shown_high": [finding.shown.high for finding in audit.findings],
        "p_value": [finding.p_value for finding in audit.findings],
        "p_adjusted": [finding.p_adjusted for finding in audit.findings],
        "passes": [finding.passes for finding in audit.findings],
        "verdict": [finding.verdict for finding in audit.findings],
        "required": [audit.decides(finding) for finding in audit.findings],
        "interpretation": [finding.interpretation for finding in audit.findings],
    }
    return frames.frame(columns, audit.frame_kind)


def summary_table(audit: Audit) -> Any:
    """A line for each finding that decides; see `Audit.summary`."""
    order: tuple[Verdict, ...] = ("fail", "inconclusive", "pass", "not judged")
    deciding = sorted(filter(audit.decides, audit.findings), key=lambda each: order.index(each.verdict))
    pairs = [finding.evidence or finding.summary for finding in deciding]
    columns: dict[str, list[Any]] = {
        "metric": [finding.metric for finding in deciding],
        "attributes": [" × ".join(finding.attributes) for finding in deciding],
        "group": [
            _own_value(audit, each, spell(row.group) if row.group else None)
            for each, row in zip(deciding, pairs, strict=True)
        ],
        "n": [row.n for row in pairs],
        "against": [_own_value(audit, each, row.against) for each, row in zip(deciding, pairs, strict=True)],
        "n_against": [row.n_against for row in pairs],
        "judged_on": [finding.judged_on for finding in deciding],
        "shown": [finding.shown.value for finding in deciding],
        "shown_low": [finding.shown.low for finding in deciding],
        "shown_high": [finding.shown.high for finding in deciding],
        "threshold": [finding.threshold for finding in deciding],
        "verdict": [finding.verdict for finding in deciding],
        "interpretation": [finding.interpretation for finding in deciding],
    }
    return frames.frame(columns, audit.frame_kind)


def finding_table(finding: Finding) -> Any:
    """A line for each row of a finding; see `Finding.to_frame`."""
    caller = finding.caller or Caller()
    compared = finding.summary.difference is not None or finding.summary.ratio is not None
    rows = [*finding.rows, *([replace(finding.summary, estimate=None, n=None)] if compared else [])]
    bins = any(row.bin is not None for row in rows)
    strata = any(row.stratum for row in rows)
    classes = any(row.of_class is not None for row in rows)
    first = ("measure", *(["class"] if classes else []), *(["bin_low", "bin_high"] if bins else []))
    rest = (*(["stratum"] if strata else []), "group", "n", "against", "n_against", *_FIGURES)
    titles = value_titles(finding.attributes, (*first, *rest))
    columns: dict[str, list[Any]] = {name: [] for name in (*first, *titles, *rest)}
    for row in rows:
        cells = {
            "measure": row.measure,
            "class": row.of_class,
            "bin_low": None if row.bin is None else row.bin[0],
            "bin_high": None if row.bin is None else row.bin[1],
            "stratum": spell(row.stratum),
            "group": spell(row.group),
            **dict(zip(titles, _caller_values(caller, finding.attributes, row.group), strict=True)),
            **{name: getattr(row, name) for name in ("n", "against", "n_against", "p_value", "p_adjusted", "reason")},
            **_ends("value", row.estimate),
            **_ends("difference", row.difference),
            **_ends("ratio", row.ratio),
        }
        for name, column in columns.items():
            column.append(cells[name])
    return frames.frame(columns, caller.frame_kind)


_FIGURES = (
    *("value", "low", "high", "difference", "difference_low", "difference_high"),
    *("ratio", "ratio_low", "ratio_high", "p_value", "p_adjusted", "reason"),
)


def _ends(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """A number and its ends, as cells; None where there is none."""
    one = estimate or Estimate(math.nan)
    value = None if estimate is None else one.value
    low, high = ("low", "high") if name == "value" else (f"{name}_low", f"{name}_high")
    return {name: value, low: one.low, high: one.high}


def _caller_values(caller: Caller, attributes: Sequence[str], group: Group) -> list[Any]:
    """The values of a group as the caller had them; None where the row is not about one group."""
    if len(group) != len(attributes):
        return [None] * len(attributes)
    return [value_of(text, caller.kinds.get(name, TEXT)) for name, text in zip(attributes, group, strict=True)]


def _own_value(audit: Audit, finding: Finding, name: str | None) -> Any:
    """The caller's value of a group of one attribute, by its name: 1 where it is "1"; other names stay as they are."""
    if name is None or len(finding.attributes) != 1 or not set(finding.attributes) <= set(audit.meaning.sensitive):
        return name
    part = audit.counts(finding.attributes, control=False)
    return part.values(finding.attributes, (name,))[0] if (name,) in part.groups else name


def groups_table(audit: Audit) -> Any:
    """A line for each measure of each group; see `Audit.groups`."""
    control, sensitive = audit.meaning.control, audit.meaning.sensitive
    measured_as = ("measure", "class", "value", "low", "high", "n", "reason")
    titles = value_titles((*control, *sensitive), ("attributes", "stratum", "group", *measured_as))
    names = ("attributes", *titles[: len(control)], "stratum", *titles[len(control) :], "group", *measured_as)
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for attributes in audit.attribute_sets():
        part = audit.counts(attributes)
        for stratum, group, *measured in (*_measure_lines(audit, attributes), *own_lines(audit, attributes)):
            own = dict(zip(attributes, part.values(attributes, group), strict=True))
            line = (
                " × ".join(attributes),
                *part.values(control, stratum),
                spell(stratum),
                *(own.get(name) for name in sensitive),
                spell(group),
                *measured,
            )
            for key, item in zip(names, line, strict=True):
                columns[key].append(item)
    if not control:
        del columns["stratum"]
    if not audit.cube.classes:
        del columns["class"]
    return frames.frame(columns, audit.frame_kind)


def _measure_lines(audit: Audit, attributes: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The lines of `groups` that the cube tells."""
    part = audit.counts(attributes)
    data = GroupData.of(part)
    for measured in audit.measures(attributes, strata=True):
        row = measured.measure
        for i, (stratum, group) in enumerate(part.pairs):
            people = int(measured.support[i])
            undefined = np.isnan(measured.values[i])
            why = undefined_reason(row, data, i, spell(group, attributes), people) if undefined else None
            numbers = [float(column[i]) for column in (measured.values, measured.low, measured.high)]
            yield stratum, group, row.name, row.of_class, *numbers, people, why


def own_lines(audit: Audit, attributes: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The lines of `groups` for measures of one's own, as their findings have them; each once."""
    known = {measured.measure.name for measured in audit.measures(attributes, strata=True)}
    pairs = set(audit.counts(attributes).pairs)
    own = [each for each in audit.findings if each.metric not in METRICS and each.attributes == tuple(attributes)]
    lines: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in (row for finding in own for row in finding.groups):
        if row.measure in known or (row.stratum, row.group) not in pairs or row.estimate is None:
            continue
        one = row.estimate
        ends = (math.nan if end is None else end for end in (one.low, one.high))
        key = (row.stratum, row.group, row.measure, row.of_class)
        lines.setdefault(key, (*key, one.value, *ends, row.n, row.reason))
    yield from lines.values()


def value_titles(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """The columns that hold the values of attributes: their own names, or another where a table has that one already.

    >>> value_titles(["race", "group"], ["group", "value"])
    ['race', 'group_value']
    """
    used, titles = set(taken), []
    for name in names:
        title = name
        while title in used:
            title = f"{title}_value"
        used.add(title)
        titles.append(title)
    return titles
