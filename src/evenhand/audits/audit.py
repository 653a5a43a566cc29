"""audit(): every metric that the data allows, on every attribute and intersection, judged by one policy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from evenhand.catalogue import METRICS, find
from evenhand.core import frames
from evenhand.core.results import Finding, Verdict, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.inference import multiplicity
from evenhand.measures import cells
from evenhand.measures.cells import RowMeasure
from evenhand.sources.roles import ReadArguments, complete, with_read_arguments
from evenhand.verdicts import comparison, policy_file, row_measures
from evenhand.verdicts import finding as judge
from evenhand.verdicts.policy import Policy, Request, chosen_metrics, request
from evenhand.verdicts.table import every_measure

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
    origin: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where it comes from, as far as is known: when first written (`created`), by which version (`evenhand`), from
    which files (`source`) and by which `command`."""

    @property
    def verdict(self) -> Verdict:
        """Judged by the required metrics, on the attributes that the policy names, and by no others."""
        deciding = [finding.verdict for finding in self.findings if self.decides(finding)]
        return judge.overall([self.policy.counted(verdict) for verdict in deciding])

    def decides(self, finding: Finding) -> bool:
        """Does this finding count in the verdict?"""
        return finding.metric in self.required and self.policy.decides_on(finding.attributes)

    def add(self, *findings: Finding) -> Audit:
        """The same audit with more findings."""
        return replace(self, findings=(*self.findings, *findings))

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
        names = ("attributes", "stratum", "group", "measure", "class", "value", "low", "high", "n", "reason")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for attributes in attribute_sets(self.cube, True)[0]:
            part = self.cube.marginal(attributes)
            for told in every_measure(part, self.policy.confidence):
                row = told.measure
                for i, (stratum, group) in enumerate(part.pairs):
                    why = cells.reason(row, spell(group)) if np.isnan(told.values[i]) else None
                    numbers = [float(part[i]) for part in (told.values, told.low, told.high)]
                    place = (" × ".join(attributes), spell(stratum), spell(group), row.name)
                    line = (*place, getattr(row, "of_class", None), *numbers, int(told.support[i]), why)
                    for key, item in zip(names, line, strict=True):
                        columns[key].append(item)
        if not self.cube.meaning.control:
            del columns["stratum"]
        if not self.cube.classes:
            del columns["class"]
        return frames.frame(columns, self.frame_kind)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON."""
        from evenhand.report import json

        return json.as_dict(self)

    def save(self, path: str | Path, *, embed_cube: bool = True, smallest_cell: int = 5) -> None:
        """Write the audit to a file; the suffix decides the form: .html, .json, .md (Markdown) or .xml (JUnit).

        A page carries counts, none of fewer than `smallest_cell` people, to compute other cutoffs from; without the
        cube it holds results only.
        """
        from evenhand.report import save

        save(self, Path(path), embed_cube=embed_cube, smallest_cell=smallest_cell)

    @staticmethod
    def load(path: str | Path) -> Audit:
        """Read an audit that was saved as JSON: its findings as they were judged, and the cube. No data is needed."""
        from evenhand.report import load as loading

        return loading.load(Path(path))

    def __str__(self) -> str:
        from evenhand.report.text import audit as text

        return text.plain(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The page, in a frame of its own, where a notebook shows HTML."""
        from evenhand.report import page

        return page.notebook(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Plain text for terminals and the page for notebooks, as far as they are wanted."""
        forms = {"text/plain": self.__str__, "text/html": self._repr_html_}
        wanted = [name for name in forms if (not include or name in include) and name not in (exclude or ())]
        return {name: forms[name]() for name in wanted}


@with_read_arguments
def audit(
    data: Any = None,
    *,
    reference: Any = None,
    metrics: Iterable[Any] | None = None,
    policy: Policy | str | Path | None = None,
    intersections: bool | int | None = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    draws: int | None = None,
    random_state: int | None = None,
    **arguments: Unpack[ReadArguments],
) -> Audit:
    """Audit decisions, outcomes and groups: every metric the data allows, with a verdict.

    `data` is a dataframe, a path (CSV, Parquet, JSON lines, Arrow, or a glob of them), or None with arrays in the
    roles. `metrics` limits what is computed; `policy` says what decides: a Policy, the name of one that ships with the
    package ("four-fifths", "nyc-ll144") or the path of a TOML file. An argument beats the policy.

    >>> from evenhand.datasets import compas
    >>> found = audit(compas(), label="recidivated", score="decile", cutoff=5, count="count", sensitive="race")
    >>> found.verdict, found.findings[0].highest
    ('fail', 'Native American')
    """
    arguments = complete(audit, arguments)
    # What is wrong with these is said before the data is read.
    policy, metrics = policy_file.resolve(policy), chosen_metrics(metrics)
    data, arguments = row_measures.reusable(data), row_measures.reusable(arguments)
    cube = Cube.count(data, **arguments)

    def from_rows(asked: Request, part: Cube) -> Finding:
        return row_measures.finding(asked, part, data, arguments)

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
    policy: Policy | str | Path | None = None,
    intersections: bool | int | None = None,
    frame_kind: str | None = None,
    row_evaluator: RowEvaluator | None = None,
    **judging: Any,
) -> Audit:
    """Audit a cube that was counted before; `judging` are the policy's fields that a caller sets one by one."""
    policy = policy_file.resolve(policy).updated(reference=reference, intersections=intersections, **judging)
    notes = _data_notes(cube)
    asked = _choose(cube, chosen_metrics(metrics), policy, notes)
    reference = comparison.check_reference(policy.reference, cube.meaning.sensitive, cube.groups)
    sets, left_out = attribute_sets(cube, policy.intersections)
    notes += left_out
    required = policy.required_for(cube)
    chosen = policy.required is not None or policy.metrics is not None or metrics is not None
    if chosen and policy.required is None:
        required = tuple(dict.fromkeys(find(name)[0].name for name in asked))
    deciding = sum(policy.decides_on(attributes) for attributes in sets)
    if required and not deciding:
        raise CallError(
            "the policy decides on intersections and there are none: name two attributes or more in sensitive=, let "
            'them be combined, or set on = "all".'
        )
    findings = []
    strict = _strict(policy, len(required) * deciding)
    for attributes in sets:
        part = cube.marginal(attributes)
        for name in asked:
            decides = policy.decides_on(attributes) and find(name)[0].name in required
            wanted = request(name, policy=strict if decides else policy, reference=reference)
            if any(isinstance(row, RowMeasure) for row in wanted.metric.rows):
                if row_evaluator is None:
                    raise CallError(f"{wanted.metric.name} needs the rows; a cube does not keep them.")
                findings.append(row_evaluator(wanted, part))
            else:
                findings.append(judge.finding(wanted, part))
    found = Audit(cube, policy, _adjusted(findings, policy), (), required, frame_kind)
    ordered = sorted(found.findings, key=lambda finding: not found.decides(finding))
    return replace(found, findings=tuple(ordered), notes=(*notes, *_judging_notes(found, chosen)))


_ON = {
    "single": "on single attributes",
    "intersections": "on intersections of attributes",
    "all": "on every attribute and intersection",
}


def _judging_notes(found: Audit, chosen: bool) -> list[str]:
    """What decides, and how the policy wants it read; `chosen` says whether somebody chose what decides."""
    policy, judged = found.policy, ", ".join(found.required)
    on = _ON[policy.on]
    limits = [finding.threshold for finding in found.findings if found.decides(finding)]
    if not found.required:
        notes = ["No metric is required, so nothing is judged."]
    elif all(limit is None for limit in limits):
        notes = [f"Shown and not judged {on}: {judged}."]
    else:
        notes = [f"Judged by {judged} {on}."]
    if not chosen:
        notes[0] += (
            " The criteria exclude each other, so not all can be met: choose the one that fits the decision, as "
            "evenhand guide helps to."
        )
    if policy.inconclusive != "inconclusive":
        notes.append(
            f"A finding that decides and is inconclusive counts as a {policy.inconclusive}, as the policy says."
        )
    return [*notes, *policy.notes]


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
    """What to compute: what was asked for by name, else what the policy names and the data allows, else all of that.

    What is required is always among it, under the name that the policy gives it: an alias may preset how it is judged.
    """
    if metrics is None and policy.metrics is None:
        metrics = _usable(cube, notes)
    elif metrics is None:
        metrics = _possible(cube, policy, notes)
    required = {find(name)[0].name: name for name in policy.required or ()}
    chosen = [required.get(name, name) if isinstance(name, str) else name for name in metrics]
    known = {find(metric)[0].name for metric in chosen}
    chosen += [name for metric, name in required.items() if metric not in known]
    return [metric for i, metric in enumerate(chosen) if metric not in chosen[:i]]


def _possible(cube: Cube, policy: Policy, notes: list[str]) -> list[Any]:
    """The metrics of the policy that this data allows: one policy serves many tables. What is required stays."""
    possible, lacking = [], []
    required = {find(name)[0].name for name in policy.required or ()}
    for name in policy.metrics or ():
        metric = find(name)[0]
        try:
            judge.check_roles(metric, cube)
        except CallError as error:
            if metric.name not in required:
                lacking.append(str(error))
                continue
        possible.append(name)
    if not possible:
        raise CallError(f"no metric of the policy can be computed: {' '.join(lacking)}")
    if lacking:
        notes.append(f"Left out of what the policy names: {' '.join(lacking)}")
    return possible


def _usable(cube: Cube, notes: list[str]) -> list[str]:
    """Every metric of the catalogue that the data allows."""
    there = {role for role, present in cube.has.items() if present}
    fitting = [entry for entry in METRICS.values() if cube.meaning.task in entry.tasks]
    usable = [entry for entry in fitting if entry.needs <= there]
    if cube.scores is not None and not cube.scores.bins.is_probability:
        strange = [entry.name for entry in usable if entry.probability]
        usable = [entry for entry in usable if not entry.probability]
        if strange:
            notes.append(f"The score is no probability, so these are left out: {', '.join(strange)}.")
    left_out = [entry.name for entry in fitting if not entry.needs <= there]
    left_out = [name for name in left_out if METRICS[name].needs - there != {"score"} and name != "base_rate_parity"]
    if left_out:
        lacking = "a label" if "label" not in there else "a prediction"
        notes.append(f"Without {lacking}, these are left out: {', '.join(left_out)}.")
    return [entry.name for entry in usable]


def _data_notes(cube: Cube) -> list[str]:
    notes = list(cube.notes)
    if cube.facts.get("regression_chosen"):
        notes.append(
            "Label and prediction both hold fractions, so they are taken as numbers: task='regression'. "
            "If they are probabilities, pass the prediction as score= and a label of classes."
        )
    for name in cube.cut_by_us:
        notes.append(f"{name} is numeric and was cut into quantile bands; bands={{{name!r}: [...]}} sets your own.")
    if cube.has_labels and (unlabelled := int(cube.n[:, -1, :].sum())):
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
