"""audit(): every metric that the data allows, on every attribute and intersection, judged by one policy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evenhand import comparison, frames, judge, measures, rowwise
from evenhand import roles as reading
from evenhand.catalogue import METRICS, find
from evenhand.cube import Cube
from evenhand.errors import CallError
from evenhand.findings import Finding, Verdict, spell
from evenhand.inference import multiplicity
from evenhand.measures import RowMeasure
from evenhand.policy import Policy, Request, request

MOST_GROUPS = 1000

# Computes a metric made of functions of the rows, on some of the attributes.
RowEvaluator = Callable[[Request, Cube], Finding]


@dataclass(frozen=True)
class Audit:
    """What was found: findings, notes, the cube they rest on, and the verdict of the policy."""

    cube: Cube
    policy: Policy
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    required: tuple[str, ...]
    frame_kind: str | None = None

    @property
    def verdict(self) -> Verdict:
        """Judged by the required metrics on single attributes, and by no others."""
        return judge.overall([finding.verdict for finding in self.findings if self.decides(finding)])

    def decides(self, finding: Finding) -> bool:
        """Does this finding count in the verdict?"""
        return finding.metric in self.required and len(finding.attributes) == 1

    def add(self, *findings: Finding) -> Audit:
        """The same audit with more findings."""
        return Audit(self.cube, self.policy, (*self.findings, *findings), self.notes, self.required, self.frame_kind)

    def to_frame(self) -> Any:
        """The findings as a dataframe of the caller's own kind."""
        columns: dict[str, list[Any]] = {
            "metric": [finding.metric for finding in self.findings],
            "attributes": [" × ".join(finding.attributes) for finding in self.findings],
            "judged_on": [finding.judged_on for finding in self.findings],
            "value": [finding.value.value for finding in self.findings],
            "low": [finding.value.low for finding in self.findings],
            "high": [finding.value.high for finding in self.findings],
            "threshold": [finding.threshold for finding in self.findings],
            "difference": [finding.difference.value for finding in self.findings],
            "ratio": [finding.ratio.value for finding in self.findings],
            "highest": [finding.highest for finding in self.findings],
            "lowest": [finding.lowest for finding in self.findings],
            "p_value": [finding.p_value for finding in self.findings],
            "p_adjusted": [finding.p_adjusted for finding in self.findings],
            "passes": [finding.passes for finding in self.findings],
            "verdict": [finding.verdict for finding in self.findings],
            "required": [self.decides(finding) for finding in self.findings],
            "interpretation": [finding.interpretation for finding in self.findings],
        }
        return frames.frame(columns, self.frame_kind)

    def groups(self) -> Any:
        """Every measure of every group, with its interval, counts and the reason where one is undefined."""
        names = ("attributes", "stratum", "group", "measure", "value", "low", "high", "n", "reason")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for attributes in attribute_sets(self.cube, True)[0]:
            part = self.cube.marginal(attributes)
            values, counts = part.measures(), part.counts
            for name, column in values.items():
                row = measures.find(name)
                ends = part.limits(name, self.policy.confidence)
                support = measures.support(counts, row)
                for i, (stratum, group) in enumerate(part.pairs):
                    why = measures.reason(row, spell(group)) if np.isnan(column[i]) else None
                    numbers = (float(column[i]), float(ends[0][i]), float(ends[1][i]), int(support[i]))
                    told = (" × ".join(attributes), spell(stratum), spell(group), name, *numbers, why)
                    for key, item in zip(names, told, strict=True):
                        columns[key].append(item)
        if not self.cube.meaning.control:
            del columns["stratum"]
        return frames.frame(columns, self.frame_kind)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON."""
        from evenhand.report import json

        return json.as_dict(self)

    def save(self, path: str | Path) -> None:
        """Write the audit to a file; the suffix decides the form (.json)."""
        from evenhand.report import save

        save(self, Path(path))

    def __str__(self) -> str:
        from evenhand.report import text

        return text.plain(self)

    __repr__ = __str__


def audit(
    data: Any = None,
    *,
    label: Any = None,
    prediction: Any = None,
    score: Any = None,
    sensitive: Any = None,
    control: Any = None,
    count: Any = None,
    weight: Any = None,
    positive: Any = 1,
    cutoff: float | None = None,
    score_range: Sequence[float] | None = None,
    higher_is: Literal["positive", "negative"] = "positive",
    bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
    resolution: Literal["grid", "exact"] = "grid",
    reference: Any = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    metrics: Iterable[Any] | None = None,
    policy: Policy | None = None,
    intersections: bool | int = True,
    missing: reading.Missing = "group",
    min_group_size: int | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    draws: int | None = None,
    random_state: int | None = None,
    na: Iterable[str] = (),
) -> Audit:
    """Audit decisions, outcomes and groups: every metric the data allows, with a verdict.

    `data` is a dataframe, a path (CSV, Parquet, JSON lines, Arrow, or a glob of them), or None with arrays in the
    roles. `metrics` limits what is computed; `policy` says what decides.

    >>> from evenhand.datasets import compas
    >>> found = audit(compas(), label="recidivated", score="decile", cutoff=5, count="count", sensitive="race")
    >>> found.verdict, found.findings[0].highest
    ('fail', 'Native American')
    """
    arguments = {
        "label": label,
        "prediction": prediction,
        "score": score,
        "sensitive": sensitive,
        "control": control,
        "count": count,
        "weight": weight,
        "positive": positive,
        "cutoff": cutoff,
        "score_range": score_range,
        "higher_is": higher_is,
        "bins": bins,
        "strategy": strategy,
        "resolution": resolution,
        "bands": bands,
        "missing": missing,
        "na": tuple(na),
    }
    cube = Cube.count(data, **arguments)

    def from_rows(asked: Request, part: Cube) -> Finding:
        return rowwise.finding(asked, part, data, arguments)

    return audit_cube(
        cube,
        reference=reference,
        metrics=metrics,
        policy=policy,
        intersections=intersections,
        min_group_size=min_group_size,
        confidence=confidence,
        interval=interval,
        draws=draws,
        random_state=random_state,
        frame_kind=frames.kind_of(data),
        row_evaluator=from_rows,
    )


def audit_cube(
    cube: Cube,
    *,
    reference: Any = None,
    metrics: Iterable[Any] | None = None,
    policy: Policy | None = None,
    intersections: bool | int = True,
    frame_kind: str | None = None,
    row_evaluator: RowEvaluator | None = None,
    **judging: Any,
) -> Audit:
    """Audit a cube that was counted before; `judging` are the policy's fields that a caller sets one by one."""
    policy = (policy or Policy()).updated(**judging)
    notes = _data_notes(cube)
    asked = _choose(cube, metrics, policy, notes)
    reference = comparison.check_reference(reference, cube.meaning.sensitive, cube.groups)
    sets, left_out = attribute_sets(cube, intersections)
    notes += left_out
    required = policy.required_for(cube)
    if policy.required is None and metrics is not None:
        required = tuple(dict.fromkeys(find(name)[0].name for name in asked))
    findings = []
    strict = _strict(policy, len(required) * len(cube.meaning.sensitive))
    for attributes in sets:
        part = cube.marginal(attributes)
        for name in asked:
            decides = len(attributes) == 1 and find(name)[0].name in required
            wanted = request(name, policy=strict if decides else policy, reference=reference)
            if any(isinstance(row, RowMeasure) for row in wanted.metric.rows):
                if row_evaluator is None:
                    raise CallError(f"{wanted.metric.name} needs the rows; a cube does not keep them.")
                findings.append(row_evaluator(wanted, part))
            else:
                findings.append(judge.finding(wanted, part))
    findings.sort(key=lambda finding: finding.metric not in required or len(finding.attributes) > 1)
    judged = ", ".join(required)
    notes.append(
        f"Judged by {judged} on single attributes. The criteria exclude each other, so not all can be "
        "met: choose the one that fits the decision."
    )
    return Audit(cube, policy, _adjusted(findings, policy), tuple(notes), required, frame_kind)


def _strict(policy: Policy, deciding: int) -> Policy:
    """With familywise="audit", the findings that decide share one error probability."""
    if policy.familywise == "finding" or deciding < 2:
        return policy
    return replace(policy, confidence=1 - (1 - policy.confidence) / deciding)


def _adjusted(findings: Sequence[Finding], policy: Policy) -> tuple[Finding, ...]:
    """Every p-value of the audit corrected for how many different questions were asked."""
    p = [np.nan if finding.p_value is None else finding.p_value for finding in findings]
    first = multiplicity.distinct([finding.counts for finding in findings])
    corrected = multiplicity.adjust(p, policy.correction, first)
    return tuple(
        finding if np.isnan(value) else replace(finding, p_adjusted=float(value))
        for finding, value in zip(findings, corrected, strict=True)
    )


def attribute_sets(cube: Cube, intersections: bool | int) -> tuple[list[tuple[str, ...]], list[str]]:
    """The attributes one by one, then their intersections; those with too many groups are named in a note."""
    names = cube.meaning.sensitive
    deepest = len(names) if intersections is True else max(int(intersections), 1)
    sets, notes = [], []
    for size in range(1, min(deepest, len(names)) + 1):
        for attributes in itertools.combinations(names, size):
            groups = len({tuple(group[names.index(name)] for name in attributes) for group in cube.groups})
            if size > 1 and groups > MOST_GROUPS:
                notes.append(f"{' × '.join(attributes)} has {groups:,} groups, more than {MOST_GROUPS:,}: left out.")
            else:
                sets.append(attributes)
    return sets, notes


def _choose(cube: Cube, metrics: Iterable[Any] | None, policy: Policy, notes: list[str]) -> list[Any]:
    there = {role for role, present in cube.has.items() if present}
    if metrics is not None:
        if isinstance(metrics, str):
            metrics = [metrics]
        chosen = [getattr(metric, "metric", metric) for metric in metrics]
        known = {find(metric)[0].name for metric in chosen}
        return chosen + [name for name in policy.required or () if find(name)[0].name not in known]
    usable = [entry for entry in METRICS.values() if entry.needs <= there]
    if cube.scores is not None and not cube.scores.bins.is_probability:
        strange = [entry.name for entry in usable if entry.probability]
        usable = [entry for entry in usable if not entry.probability]
        if strange:
            notes.append(f"The score is no probability, so these are left out: {', '.join(strange)}.")
    left_out = [entry.name for entry in METRICS.values() if not entry.needs <= there]
    left_out = [name for name in left_out if METRICS[name].needs - there != {"score"} and name != "base_rate_parity"]
    if left_out:
        lacking = "a label" if "label" not in there else "a prediction"
        notes.append(f"Without {lacking}, these are left out: {', '.join(left_out)}.")
    return [entry.name for entry in usable]


def _data_notes(cube: Cube) -> list[str]:
    notes = []
    for name in cube.cut_by_us:
        notes.append(f"{name} is numeric and was cut into quantile bands; bands={{{name!r}: [...]}} sets your own.")
    if cube.has_labels and (unlabelled := int(cube.n[:, 2, :].sum())):
        notes.append(f"{unlabelled:,} rows have no label: they count in selection rates and in nothing that needs one.")
    if lost := cube.facts.get("dropped"):
        notes.append(f"{lost:,} rows without a group were left out (missing='drop').")
    if differs := cube.facts.get("cutoff_disagrees"):
        notes.append(f"In {differs:,} rows the prediction and the cutoff disagree; the prediction counts.")
    if absent := cube.facts.get("score_missing"):
        notes.append(f"{absent:,} rows have no score.")
    if cube.w is not None:
        notes.append("Rates are weighted; counts are of people.")
    return notes
