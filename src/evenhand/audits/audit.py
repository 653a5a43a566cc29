"""audit(): every metric that the data allows, on every attribute and intersection, judged by one policy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from evenhand.audits import audit_notes, choice
from evenhand.audits.accessors import Accessors
from evenhand.catalogue import METRICS, Metric
from evenhand.core import frames
from evenhand.core.arguments import checked
from evenhand.core.arrays import DataLike
from evenhand.core.cover import Cover
from evenhand.core.results import Caller, Finding, Verdict
from evenhand.cube import merge
from evenhand.cube.attribute_sets import attribute_sets
from evenhand.cube.cube import Cube
from evenhand.cube.meaning import Meaning
from evenhand.cube.privacy import LEAST, Sharing
from evenhand.errors import CallError, check_kind, nearest
from evenhand.inference import multiplicity
from evenhand.inference.draws import drawn_once
from evenhand.measures.evaluate import MeasureValues, every_measure
from evenhand.sources.documentation import documented
from evenhand.sources.reader import reader
from evenhand.sources.roles import DEFAULTS, ReadArguments, complete
from evenhand.sources.value_labels import named_reference
from evenhand.verdicts import comparison, policy_file
from evenhand.verdicts.data_table import data_table
from evenhand.verdicts.finding import judge
from evenhand.verdicts.policy import ALL, Policy, chosen_metrics
from evenhand.verdicts.request import Request, make_request
from evenhand.verdicts.selective_labels import judgeable
from evenhand.verdicts.verdict import overall

if TYPE_CHECKING:
    from evenhand.audits.impossibility import Impossibility
    from evenhand.audits.recomputation import Recomputation
    from evenhand.cube.joint import Place
    from evenhand.verdicts.row_source import RowSource

# Computes a metric made of functions of the rows, on some of the attributes.
RowEvaluator = Callable[[Request, Cube], Finding]


@documented
@checked
@dataclass(frozen=True)
class Audit(Accessors):
    """The result of audit(): findings, notes, the cube they were computed from, and the verdict of the policy."""

    cube: Cube
    policy: Policy
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    required: tuple[str, ...]
    frame_kind: str | None = None
    origin: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where it comes from, as far as is known: when first written (`created`), by which version (`evenhand`), from
    which files (`source`) and by which `command`."""
    sharing: Sharing | None = None
    """What was left out of an audit that was made to be shared; None where it holds the full counts."""
    parts: tuple[Cube, ...] = ()
    """Of an audit to share, where no one cube may tell all: the counts of each set of attributes that stays. `cube` is
    then everyone together."""
    among: Place | None = field(default=None, compare=False)
    """Of an audit in a contest: the models on the same people, and which of them it is of."""

    def __post_init__(self) -> None:
        caller = Caller(self.frame_kind, self.cube.kinds)
        known = tuple(each if each.caller else replace(each, caller=caller) for each in self.findings)
        object.__setattr__(self, "findings", known)

    @property
    def cover(self) -> Cover:
        """What its makers say of the audit, such as its title, the system and who signs: that of its policy."""
        return self.policy.cover

    @property
    def verdict(self) -> Verdict:
        """The verdict of the required metrics, on the sets of attributes that the policy names; others do not count."""
        deciding = [finding.verdict for finding in self._deciding if _is_covered(finding)]
        decided = overall([self.policy.counted(verdict) for verdict in deciding])
        return "inconclusive" if self.left_out and (decided == "pass" or not deciding) else decided

    @cached_property
    def _deciding(self) -> list[Finding]:
        """The findings that count in the verdict."""
        return [finding for finding in self.findings if self.decides(finding)]

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """What would decide and is left out, in words: a pass cannot rest on the others."""
        return (*self._not_found, *self._not_shared, *self._not_covered)

    @property
    def _not_found(self) -> list[str]:
        """What the policy decides on and no finding is about, such as a combination of attributes not looked at."""
        hidden = (set(), set()) if self.sharing is None else ({*self.sharing.metrics}, {*self.sharing.sets})
        found = {(finding.metric, finding.attributes) for finding in self.findings}
        wanted = attribute_sets(self.meaning.sensitive, self.policy.intersections, lambda _: 0)
        deciding = [names for names in wanted.sets if self.policy.decides_on(names) and names not in hidden[1]]
        metrics = [name for name in self.required if name not in hidden[0]]
        anywhere = [name for name in metrics if name in METRICS and METRICS[name].any_attributes]
        metrics = [name for name in metrics if name not in anywhere]
        missing = [name for name in anywhere if name not in {finding.metric for finding in self.findings}]
        missing += [f"{name} on {' × '.join(on)}" for on in deciding for name in metrics if (name, on) not in found]
        if wanted.further and self.required and self.policy.on != "single":
            missing.append(f"{wanted.further:,} more combinations of attributes")
        return missing

    @property
    def _not_shared(self) -> tuple[str, ...]:
        """What must not leave with an audit to be shared."""
        if self.sharing is None:
            return ()
        groups = [
            f"{len(groups)} groups of {name}"
            for name, groups in self.sharing.groups.items()
            if self.policy.decides_on((name,))
        ]
        sets = [" × ".join(names) for names in self.sharing.sets if self.policy.decides_on(names)]
        return (*groups, *sets, *(name for name in self.required if name in self.sharing.metrics))

    @property
    def _not_covered(self) -> list[str]:
        """What would decide and has a value alone, because it is not known how much rows that belong together vary."""
        alone = [each for each in self._deciding if not _is_covered(each)]
        return [f"{each.metric} on {' × '.join(each.attributes)}, which clusters do not cover" for each in alone]

    def decides(self, finding: Finding) -> bool:
        """Whether this finding counts in the verdict.

        Parameters
        ----------
        finding
            One of `findings`.

        Returns
        -------
        bool
            Whether it counts.
        """
        check_kind(finding, Finding, "finding", "pass one of audit.findings")
        anywhere = finding.metric in METRICS and METRICS[finding.metric].any_attributes
        return finding.metric in self.required and (anywhere or self.policy.decides_on(finding.attributes))

    def add(self, *findings: Finding) -> Audit:
        """The same audit with more findings.

        Parameters
        ----------
        *findings
            Findings of other functions, such as `consistency` or `correspondence`.
        """
        return replace(self, findings=(*self.findings, *findings))

    @property
    def metrics(self) -> list[Metric]:
        """What the catalogue says of the metrics that have a finding, in the order of the catalogue."""
        names = {finding.metric for finding in self.findings}
        return [entry for name, entry in METRICS.items() if name in names]

    @cached_property
    def meaning(self) -> Meaning:
        """What the counts stand for, with the names of all attributes."""
        if not self.parts or self.sharing is None:
            return self.cube.meaning
        return replace(self.cube.meaning, sensitive=self.sharing.attributes)

    def counts(self, attributes: str | Sequence[str], *, control: bool = True) -> Cube:
        """The counts of the groups of some attributes; `control=False` sums over the strata.

        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 0] * 4, sensitive={"a": list("xxyyxxyy"), "b": list("pqpqqpqp")})
        >>> audit.counts("a")
        <Cube: 8 people, 2 groups of a>
        """
        names = (attributes,) if isinstance(attributes, str) else tuple(attributes)
        holding = [part for part in self.parts if set(names) <= set(part.meaning.sensitive)]
        if self.parts and names and not holding:
            known = [" × ".join(each) for each in self.attribute_sets()]
            raise CallError(f"{' × '.join(names)!r} is not in this shared audit; {nearest(' × '.join(names), known)}")
        if not names or not holding:
            return self.cube.marginal(names, control=control)
        return min(holding, key=lambda part: len(part.meaning.sensitive)).marginal(names, control=control)

    def attribute_sets(self) -> list[tuple[str, ...]]:
        """The sets of attributes that the policy looks at and that are counted, single ones first."""
        combined = self.policy.intersections
        if not self.parts:
            return list(self.cube.attribute_sets(combined).sets)
        order = {name: i for i, name in enumerate(self.meaning.sensitive)}
        sets = {names for part in self.parts for names in part.attribute_sets(combined).sets}
        return sorted(sets, key=lambda names: (len(names), [order[name] for name in names]))

    @property
    def counted_sets(self) -> list[tuple[str, ...]]:
        """The sets of attributes of the cube that findings are about; every set where there is no such finding."""
        counted = {frozenset(names) for names in self.attribute_sets()} if self.parts else None
        known = dict.fromkeys(finding.attributes for finding in self.findings)
        sensitive = set(self.meaning.sensitive)
        sets = [names for names in known if set(names) <= sensitive and (counted is None or {*names} in counted)]
        return sets or self.attribute_sets()

    @cached_property
    def reference(self) -> Any:
        """What the policy compares groups with, as `comparison.check_reference` settles it for all attributes."""
        names = self.meaning.sensitive
        asked = named_reference(self.policy.reference, self.cube.codes, names)
        if not self.parts:
            return comparison.check_reference(asked, names, self.cube.groups)
        groups = [
            tuple(group[0] if other == name else None for other in names)
            for name in names
            for group in self.counts(name).groups
        ]
        return comparison.check_reference(asked, names, groups)

    def measures(
        self, attributes: Sequence[str], *, strata: bool = False, together: bool = False
    ) -> Sequence[MeasureValues]:
        """Every measure of the groups of some attributes, over all strata or in each; computed once.

        `together` means everyone in these groups as one. The values stand in the order of the pairs of `counts`.

        Parameters
        ----------
        attributes
            The attributes whose groups are measured.
        strata
            Whether strata are kept apart.
        together
            Whether everyone is measured as one group.

        Returns
        -------
        Sequence[MeasureValues]
            Each measure with the values of all groups and the ends of their intervals.
        """
        key = tuple(attributes), strata and bool(self.meaning.control), together
        if key not in self._measures:
            part = self.counts(attributes, control=key[1])
            self._measures[key] = every_measure(part.marginal(()) if together else part, self.policy.confidence)
        return self._measures[key]

    @cached_property
    def _measures(self) -> dict[tuple[tuple[str, ...], bool, bool], Sequence[MeasureValues]]:
        """What `measures` has computed."""
        return {}

    @cached_property
    def impossibilities(self) -> list[Impossibility]:
        """What the base rates of each attribute force, where labels and decisions allow to say it; computed once."""
        from evenhand.audits import impossibility

        return impossibility.by_attribute([self.counts(name) for name in self.meaning.sensitive], self.policy)

    @cached_property
    def recomputation(self) -> Recomputation:
        """What it takes to compute the findings again at another cutoff; computed once."""
        from evenhand.audits import recomputation

        return recomputation.Recomputation(self)

    def to_frame(self) -> Any:
        """The findings as a dataframe of the caller's own kind.

        `value`, `low` and `high` are judged. `group` and `against` are the pair on which the verdict rests, and
        `shown` with its ends is their gap, as sentences and tables have it.
        """
        from evenhand.audits import audit_tables

        return audit_tables.findings_table(self)

    def groups(self) -> Any:
        """Every measure of every group, with its interval, counts and the reason where one is undefined.

        `group` is the name of the group: its values, joined. Each attribute and each control also has a column
        of its own, which holds the caller's values, so that the table can be joined with the data: 1 stays 1 and is not
        "1"; None is a missing value, or an attribute that the line is not about. Measures of your own are among the
        lines, for the attributes that they were audited on.
        """
        from evenhand.audits import audit_tables

        return audit_tables.groups_table(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON."""
        from evenhand.report import json

        return json.as_dict(self)

    def shared(self, least: int = LEAST) -> Audit:
        """The audit as it may be shared: without every group of which fewer than `least` people share a cell.

        What stays is judged again, and no number in it is changed; `sharing` and `notes` name what was left out.

        Parameters
        ----------
        least
            The fewest people that a cell may have and still be shown.

        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1] * 60 + [0] * 63, sensitive=["a", "b"] * 45 + ["c"] * 30 + ["d"] * 3)
        >>> audit.shared().sharing.groups
        {'sensitive': (('c',), ('d',))}
        """
        from evenhand.audits import sharing

        return sharing.shared(self, least)

    def save(
        self,
        path: str | Path,
        *,
        form: str | None = None,
        embed_cube: bool = True,
        smallest_cell: int = LEAST,
        share: bool = False,
        appendix: bool = False,
    ) -> None:
        """Write the audit to a file; the suffix decides the form: .html, .json, .md (Markdown), .pdf or .xml (JUnit).

        With `form` it is a document that a rule asks for, as .html, .md or .csv.

        A page and a JSON file carry the full counts, so that other cutoffs can be computed from them; without the cube
        they hold results only. A PDF is the page as printed by Chromium, or by WeasyPrint, which draws no plots. With
        `share` the file is that of `shared(smallest_cell)`.

        Parameters
        ----------
        path
            The file; its suffix says the form.
        form
            "ll144", "annex-iv", "model-card" or "nist"; None writes the audit itself.
        embed_cube
            Whether a page and a JSON file carry the counts.
        smallest_cell
            With `share`, the fewest people that a cell may have.
        share
            Whether the file is to be given to others.
        appendix
            Whether what is printed of a page, and a PDF, ends with every number and the metrics in plain words.
        """
        from evenhand import report

        if smallest_cell != LEAST and not share:
            raise CallError(f"smallest_cell={smallest_cell!r} is for a file to share: add share=True.")
        audit = self.shared(smallest_cell) if share else self
        report.save(audit, Path(path), form, embed_cube=embed_cube, appendix=appendix)

    @staticmethod
    def load(path: str | Path) -> Audit:
        """Read an audit that was saved as JSON: its findings as they were judged, and the cube. No data is needed."""
        from evenhand.report import saved

        return saved.load(Path(path))

    def details(self) -> str:
        """All of it as text: every finding and every note, where `print(audit)` shows what a person must know.

        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 0] * 50, sensitive=["north", "south"] * 50)
        >>> len(str(audit).splitlines()) < len(audit.details().splitlines())
        True
        """
        from evenhand.report.text import details

        return details.plain(self)

    def __str__(self) -> str:
        from evenhand.report.text import audit as text

        return text.plain(self)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Plain text for terminals and the card for notebooks, as far as they are wanted."""
        forms = {"text/plain": self.__str__, "text/html": self._repr_html_}
        wanted = [name for name in forms if (not include or name in include) and name not in (exclude or ())]
        return {name: forms[name]() for name in wanted}


def _is_covered(finding: Finding) -> bool:
    """Is it known how much the value varies, where rows belong together?"""
    return bool(finding.settings.get("covered", True))


@documented
@reader
def audit(
    data: DataLike | None = None,
    *,
    reference: Any = None,
    metrics: Iterable[Any] | str | None = None,
    policy: Policy | str | Path | None = None,
    intersections: bool | int | None = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    draws: int | None = None,
    random_state: int | None = None,
    **arguments: Unpack[ReadArguments],
) -> Audit:
    """Audit predictions, labels and groups: the core metrics that the data allows, with a verdict.

    Columns are named, or passed as arrays: `audit(data, label="repaid", prediction="approved", sensitive="race")`, or
    `audit(y_true, y_pred, sensitive_features=race)`, as in other libraries.

    Parameters
    ----------
    data
        A table (pandas, Polars, PyArrow, Dask, Spark, Ibis, DuckDB, a mapping of arrays, a list of rows), the path of a
        file (CSV, Parquet, JSON lines, Arrow, or a glob of them), or None with arrays in the roles. Or it is counted
        already: a Cube, the path of a saved one ("x.cube"), a glob or a list of them.

    Raises
    ------
    CallError
        An argument is wrong, or two contradict each other; the message says what to type.
    DataError
        The data cannot be what the call says it is.

    >>> from evenhand.datasets import compas
    >>> found = audit(compas(), label="recidivated", score="decile", cutoff=5, count="count", sensitive="race")
    >>> found.verdict, found.findings[0].highest
    ('fail', 'Native American')
    """
    # What only rows need; an audit of counts does without it.
    from evenhand.sources.identities import repeated_identity
    from evenhand.verdicts.row_source import RowSource, reusable

    complete(audit, arguments)
    # What is wrong with these is said before the data is read.
    policy, table, metrics = policy_file.resolve(policy), data_table(policy), chosen_metrics(metrics)
    data, said = reusable(data), reusable(arguments)
    known = merge.counted(data, said)
    arguments = complete(audit, {**table, **said})  # type: ignore[typeddict-item]
    rows = RowSource(data, arguments, () if metrics is None or metrics == ALL else metrics)
    cube = Cube.count(data, **rows.counted) if known is None else known
    found = audit_cube(
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
        row_evaluator=from_rows(rows) if known is None else None,
    )
    hint = repeated_identity(data, arguments) if known is None else None
    return found if hint is None else replace(found, notes=(*found.notes, hint))


def from_rows(rows: RowSource) -> RowEvaluator:
    """What makes the findings of metrics that are functions of the rows."""
    from evenhand.verdicts import row_measures

    return lambda wanted, part: row_measures.finding(wanted, part, rows)


def judging_arguments() -> list[str]:
    """What an audit of a cube takes: the arguments of audit() that are not about reading data, and fields of Policy."""
    read = {*DEFAULTS, "data", "y_pred"}
    own = [name for name in inspect.signature(audit).parameters if name not in read]
    return [*own, *(part.name for part in fields(Policy))]


def audit_cube(
    cube: Cube,
    *,
    reference: Any = None,
    metrics: Iterable[Any] | str | None = None,
    policy: Policy | str | Path | None = None,
    intersections: bool | int | None = None,
    frame_kind: str | None = None,
    row_evaluator: RowEvaluator | None = None,
    **judging: Any,
) -> Audit:
    """Audit a cube that was counted before; `judging` are the policy's fields that a caller sets one by one."""
    policy = policy_file.resolve(policy)
    asked = policy.reference if reference is None else reference
    named = named_reference(asked, cube.codes, cube.meaning.sensitive, cube.groups)
    policy = policy.updated(reference=named, intersections=intersections, **judging)
    notes = audit_notes.data_notes(cube)
    metrics = chosen_metrics(metrics)
    chosen_names = choice.choose(cube, metrics, policy, notes)
    reference = comparison.check_reference(policy.reference, cube.meaning.sensitive, cube.groups)
    looked_at = cube.attribute_sets(policy.intersections)
    sets = looked_at.sets
    notes += looked_at.notes
    required, chosen = choice.required(cube, metrics, policy)
    required, unjudged = judgeable(required, chosen_names, cube, policy.judged_on)
    notes += unjudged
    deciding = sum(policy.decides_on(attributes) for attributes in sets)
    if required and not deciding:
        raise CallError(
            "the policy decides on intersections and there are none: name two attributes or more in sensitive=, let "
            'them be combined, or set on = "all".'
        )
    requests = [make_request(name, policy=policy, reference=reference) for name in chosen_names]
    judged = sum(each.metric.name in required and each.threshold is not None for each in requests)
    together = family(policy, judged * deciding)
    findings = []
    for attributes in sets:
        share = together if policy.decides_on(attributes) else 1
        wanted = [replace(each, family=share if each.metric.name in required else 1) for each in requests]
        findings += _judged(wanted, cube.marginal(attributes), row_evaluator)
    audited = Audit(cube, policy, adjusted(findings, policy), (), required, frame_kind)
    ordered = sorted(audited.findings, key=lambda finding: not audited.decides(finding))
    notes += [*audit_notes.judging_notes(audited, chosen), *audit_notes.correction_notes(audited)]
    return replace(audited, findings=tuple(ordered), notes=tuple(notes))


def _judged(requests: Sequence[Request], part: Cube, row_evaluator: RowEvaluator | None) -> list[Finding]:
    """The findings of one set of attributes; those that ask for the same draws are given the same."""
    of_rows = {each.metric.name for each in requests if any(row.made_of == "rows" for row in each.metric.rows)}
    if row_evaluator is None:
        for name in of_rows:
            raise CallError(f"{name} needs the rows; a cube does not keep them: audit the data itself.")
        row_evaluator = judge
    with drawn_once():
        return [(row_evaluator if each.metric.name in of_rows else judge)(each, part) for each in requests]


def family(policy: Policy, deciding: int) -> int:
    """How many findings share the error probability of a fail: those that decide, or each has its own."""
    return max(deciding, 1) if policy.familywise == "audit" else 1


def adjusted(findings: Sequence[Finding], policy: Policy) -> tuple[Finding, ...]:
    """The findings with p-values corrected for the number of different tests in the audit."""
    p = [np.nan if finding.p_value is None else finding.p_value for finding in findings]
    first = multiplicity.distinct([finding.counts for finding in findings])
    corrected = multiplicity.adjust(p, policy.correction, first)
    return tuple(
        finding if np.isnan(value) else replace(finding, p_adjusted=float(value))
        for finding, value in zip(findings, corrected, strict=True)
    )
