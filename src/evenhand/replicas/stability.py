"""stability(): how much predictions vary between replicas of a model, for each group, with the gaps between groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evenhand.audits.audit import Audit
from evenhand.catalogue import ALIASES, METRICS, find
from evenhand.core import frames, progress
from evenhand.core.arguments import checked
from evenhand.core.arrays import ColumnLike, ColumnsLike, DataLike, Floats
from evenhand.core.cards import Carded
from evenhand.core.results import Caller, Estimate, Finding, figure, spell
from evenhand.core.signs import printable
from evenhand.core.wording import number_of
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, Problems, nearest
from evenhand.inference import simultaneous
from evenhand.replicas import dimensions, panels, read
from evenhand.replicas.abstention import SHARES, Abstention, abstain
from evenhand.replicas.dimensions import PersonValues
from evenhand.replicas.findings import MeasuredPeople, StabilityRequest, findings
from evenhand.replicas.fit import Kind
from evenhand.replicas.read import Ensemble
from evenhand.replicas.sums import collect
from evenhand.sources.documentation import documented
from evenhand.sources.files import is_path
from evenhand.sources.groups import EVERYONE
from evenhand.sources.memory import MemorySource
from evenhand.sources.roles import Missing, absent, assign, read_positive
from evenhand.sources.rows import Rows, load_files
from evenhand.sources.rows import read as read_rows
from evenhand.verdicts import policy_file
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.row_source import reusable

_MIN_FOR_INTERVALS = 3  # replicas: one is left out, and two are needed for a spread
_SHOW_PROGRESS_FROM = 200_000_000  # numbers in the array of replicas
_DECIDING = "label_stability_difference"  # decides an audit by default
_TOGETHER = "No groups were named (sensitive=), so everyone is taken together and nothing is compared."


@documented
@checked
@dataclass(frozen=True, repr=False)
class Stability(Carded):
    """The result of `stability()`: findings on every dimension, and each dimension of everyone, group and person."""

    findings: tuple[Finding, ...]
    overall: dict[str, Estimate]
    """The mean of each dimension over everyone."""

    policy: Policy
    notes: tuple[str, ...]
    measured: MeasuredPeople = field(repr=False)
    frame_kind: str | None = None

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return self.measured.replicas

    @property
    def people(self) -> dict[str, Floats]:
        """Each dimension of each person, in the order of the rows."""
        return self.measured.people

    @property
    def decisions(self) -> npt.NDArray[np.int8]:
        """The decision of the replicas together about each person: by their mean, or by majority for labels."""
        return self.measured.decisions

    @property
    def cube(self) -> Cube:
        """The counts of those decisions: `cube.audit()` gives the usual error rates of the ensemble."""
        return self.measured.cube

    def finding(self, name: str, attributes: Sequence[str] | str | None = None) -> Finding:
        """The finding on a metric or dimension, for the named attributes or else for the first ones.

        Parameters
        ----------
        name
            The metric, or its dimension such as "jitter".
        """
        wanted = (attributes,) if isinstance(attributes, str) else None if attributes is None else tuple(attributes)
        by_name: dict[str, Finding] = {}
        for finding in self.findings:
            if wanted in (None, finding.attributes):
                by_name.setdefault(finding.metric, finding)
                by_name.setdefault(METRICS[finding.metric].rows[0].name, finding)
        full_name = ALIASES.get(name, name)
        if not self.findings:
            raise CallError("a finding compares groups, and there are none here: pass sensitive= to stability().")
        if full_name not in by_name:
            raise CallError(f"{name!r} was not computed here; {nearest(name, by_name)}")
        return by_name[full_name]

    def to_frame(self) -> Any:
        """A table with a row for each dimension of everyone and of each group: value, interval and number of people."""
        titles = ("attributes", "group", "dimension", "value", "low", "high", "n")
        lines: list[tuple[Any, ...]] = []
        for name, one in self.overall.items():
            people = int(self.measured.sums[name].n.sum())
            lines.append(("", spell(()), name, one.value, one.low, one.high, people))
        for finding in self.findings:
            where = " × ".join(finding.attributes)
            for row in finding.groups:
                one = row.estimate or Estimate(math.nan)
                lines.append((where, spell(row.group), row.measure, one.value, one.low, one.high, row.n))
        return frames.frame({title: [line[i] for line in lines] for i, title in enumerate(titles)}, self.frame_kind)

    def by_correctness(self) -> Any:
        """A table with the mean of every dimension among the right and the wrong predictions of each group."""
        measured = self.measured
        if measured.right is None:
            raise CallError("which predictions are right is not known without labels: pass label= to stability().")
        columns: dict[str, list[Any]] = {name: [] for name in ("attributes", "group", "prediction", "n", *self.people)}
        for attributes in dict.fromkeys(finding.attributes for finding in self.findings) or [()]:
            sums = measured.by_groups(attributes)
            n, means = panels.split(self.people, measured.right, sums.codes, len(sums.groups))
            for i, group in enumerate(sums.groups):
                for j, decision in enumerate(panels.DECISIONS):
                    cells = (" × ".join(attributes), spell(group), decision, int(n[i, j]))
                    values = (float(means[name][i, j]) for name in self.people)
                    for column, value in zip(columns.values(), (*cells, *values), strict=True):
                        column.append(value)
        return frames.frame(columns, self.frame_kind)

    def abstention(
        self,
        by: str = "label_stability",
        *,
        shares: Sequence[float] = SHARES,
        attributes: Sequence[str] | str | None = None,
    ) -> Abstention:
        """Accuracy and gaps when the least stable people are set aside, and which groups those people are from.

        Parameters
        ----------
        by
            The dimension by which people are set aside, the least sure first.
        shares
            The shares of people that are set aside.
        """
        if by not in self.people:
            raise CallError(f"by={by!r} was not computed here; {nearest(by, self.people)}")
        measured = self.measured
        wanted = (attributes,) if isinstance(attributes, str) else tuple(attributes or self.cube.meaning.sensitive[:1])
        sums = measured.by_groups(wanted)
        return abstain(
            self.people[by],
            measured.decisions,
            measured.label,
            sums.codes,
            sums.groups,
            by=by,
            attributes=wanted,
            shares=shares,
        )

    def audit(self, *, required: Sequence[str] | str | None = None) -> Audit:
        """These findings as an audit that can be saved.

        It is judged by `required`, or else by what the policy requires, or else by label stability.

        Parameters
        ----------
        required
            The metrics that decide; by default those that the policy requires, or all.
        """
        if not self.findings:
            raise CallError("an audit compares groups, and there are none here: pass sensitive= to stability().")
        computed = {finding.metric for finding in self.findings}
        names = (required,) if isinstance(required, str) else required or self.policy.required
        if names is None:
            names = (_DECIDING,) if _DECIDING in computed else ()
        deciding = tuple(dict.fromkeys(find(name)[0].name for name in names))
        for name in deciding:
            if name not in computed:
                raise CallError(f"{name} cannot decide, because it was not computed here; {nearest(name, computed)}")
        judged = f"Judged by {', '.join(deciding)}." if deciding else "No metric is required, so nothing is judged."
        aside = [self.abstention(attributes=name).sentence() for name in self.cube.meaning.sensitive]
        policy = replace(self.policy, required=deciding)
        return Audit(self.cube, policy, self.findings, (*self.notes, *aside, judged), deciding, self.frame_kind)

    def __str__(self) -> str:
        lines = [f"- {' × '.join(each.attributes)}: {each.verdict}. {each.interpretation}" for each in self.findings]
        if not lines:
            lines = [f"- {name.replace('_', ' ')}: {_shown(one)}" for name, one in self.overall.items()]
        return printable("\n".join([f"{self.replicas} replicas, {self.cube.size:,} people.", *lines, *self.notes]))

    def __repr__(self) -> str:
        failed = sum(each.verdict == "fail" for each in self.findings)
        judged = f"{len(self.findings)} findings, {failed} fail" if self.findings else "no groups"
        return f"<Stability: {self.replicas} replicas, {self.cube.size:,} people; {judged}>"


@documented
@checked
def stability(
    replicas: Any,
    *,
    data: DataLike | None = None,
    label: ColumnLike | None = None,
    sensitive: ColumnsLike | None = None,
    positive: Any = 1,
    higher_is: Literal["positive", "negative"] = "positive",
    cutoff: float = 0.5,
    kind: Kind | None = None,
    metrics: Iterable[str] | str | None = None,
    reference: Any = None,
    convention: str | None = None,
    judged_on: Literal["difference", "ratio"] | None = None,
    threshold: float | None = None,
    policy: Policy | str | Path | None = None,
    intersections: bool | int | None = None,
    bands: Mapping[Any, Sequence[float] | None] | None = None,
    missing: Missing = "group",
    na: str | Iterable[str] = (),
    min_group_size: int | None = None,
    confidence: float | None = None,
    intervals: bool = True,
) -> Stability:
    """How much predictions vary between replicas of a model, for each person and group, with the gaps between groups.

    Without `sensitive` the values are those of everyone together, and there are no findings.

    Parameters
    ----------
    replicas
        An array (B, n) of P(Y=1) or of labels, from bootstrap fits (`replicate`), seeds, an ensemble or dropout; a
        table with a column for each replica; or, with `data`, names of its columns or a pattern such as "p_*".
    data
        A table, or the path of a file, with the columns that are named.
    higher_is
        The class that a higher number speaks for; "negative" reads P(Y=0).
    cutoff
        The probability at or above which a replica decides positively.
    kind
        Whether replicas are probabilities or labels; by default it is seen.
    reference
        The group that others are compared with; "rest" compares each group with everyone else.
    convention
        "virny" compares everyone else with the reference and counts a probability of exactly one half as a 0.
    intervals
        Whether intervals are computed, which include the chance in which people and which replicas were drawn.

    Returns
    -------
    Stability
        The dimensions of everyone and of each group, and the findings on their gaps.

    >>> rng = np.random.default_rng(0)
    >>> logits = np.linspace(-3, 3, 200) + np.tile([0.2, 1.5], 100) * rng.normal(size=(50, 200))
    >>> result = stability(1 / (1 + np.exp(-logits)), sensitive=["a", "b"] * 100)
    >>> result.finding("label_stability").highest, result.finding("label_stability").verdict
    ('a', 'fail')
    """
    selected = (metrics,) if isinstance(metrics, str) else None if metrics is None else tuple(metrics)
    settled = policy_file.resolve(policy).updated(
        reference=reference, intersections=intersections, min_group_size=min_group_size, confidence=confidence
    )
    request = StabilityRequest(settled, selected, convention, judged_on, threshold)
    if sensitive is None and (reference is not None or bands):
        raise CallError("reference= and bands= are about groups: pass sensitive=, too, or leave them out.")
    problems = Problems()
    favourable = read_positive(positive, problems)
    problems.raise_if_any(CallError)
    na = absent(na)
    needed = [name for role in (label, sensitive) for name in _column_names(role)]
    if data is not None and _names_columns(replicas):
        data, replicas = read.from_columns(data, replicas, roles=needed, kind=kind, na=na)
    elif is_path(data):
        data = load_files(data, needed)
    ensemble = read.read(
        replicas, kind=kind, higher_is=higher_is, positive=favourable["prediction"].values, cutoff=cutoff
    )
    data = reusable(data)
    arguments: dict[str, Any] = reusable(
        {"label": label, "sensitive": sensitive, "bands": bands, "missing": missing, "na": na, "task": "binary"}
    )
    arguments["positive"] = {"label": positive.get("label", 1) if isinstance(positive, Mapping) else positive}
    names = request.available(ensemble.kind, labelled=label is not None)
    measured = _measure(data, arguments, ensemble, names, cutoff, above=convention == "virny", intervals=intervals)
    looked_at = measured.cube.attribute_sets(settled.intersections)
    sets, left_out = (looked_at.sets, looked_at.notes) if sensitive is not None else ((), [_TOGETHER])
    caller = Caller(frames.kind_of(data), measured.cube.kinds)
    return Stability(
        tuple(replace(each, caller=caller) for each in findings(measured, request, names, sets)) if sets else (),
        _overall(measured, settled.confidence),
        settled,
        (*_notes(ensemble, intervals), *left_out),
        measured,
        frames.kind_of(data),
    )


def _measure(
    data: Any,
    arguments: Mapping[str, Any],
    ensemble: Ensemble,
    names: Sequence[str],
    cutoff: float,
    *,
    above: bool,
    intervals: bool,
) -> MeasuredPeople:
    """The dimensions of each person, from one pass over the replicas, and the counts of what they decide together."""
    together = arguments["sensitive"] is None
    if together:
        arguments = {**arguments, "sensitive": {EVERYONE: np.full(ensemble.people, EVERYONE, dtype=object)}}
    rows = _rows(data, arguments, ensemble)
    label = rows.columns.get("label")
    wanted = {find(name)[0].rows[0].name for name in names} | {"label_stability"}
    if ensemble.kind == "probability":
        wanted.add("mean_prediction")
    large = ensemble.replicas * ensemble.people > _SHOW_PROGRESS_FROM
    with progress.shown("measuring people", ensemble.people) if large else nullcontext(_silent) as show:
        values = dimensions.measure(
            ensemble.values,
            label,
            rows.codes if intervals and ensemble.replicas >= _MIN_FOR_INTERVALS else None,
            names=wanted,
            cutoff=cutoff,
            above=above,
            mirror=ensemble.mirror,
            show=show,
        )
    decisions = _decide(ensemble, values, cutoff, above)
    cube = Cube.count(data, prediction=decisions, **arguments)
    # The rows have the groups of the cube in another order, and those that the cube may have left out.
    order = [rows.groups.index(group) for _, group in cube.pairs]
    index = np.full(len(rows.groups), -1, dtype=np.intp)
    index[order] = np.arange(len(order))
    values = replace(values, moves={name: moves[:, order] for name, moves in values.moves.items()})
    codes = index[rows.codes]
    return MeasuredPeople(
        ensemble.replicas,
        ensemble.kind,
        cube.marginal(()) if together else cube,
        codes,
        label,
        decisions,
        values.people,
        collect(values, codes, len(order)),
        {"replicas": ensemble.replicas, "kind": ensemble.kind, "cutoff": cutoff},
    )


def _rows(data: Any, arguments: Mapping[str, Any], ensemble: Ensemble) -> Rows:
    """Label and group of each person; as many as the replicas have."""
    source = MemorySource(data)
    roles = assign(source.names, **arguments, needs=("groups",))
    lengths = {key.partition(":")[0]: len(column) for key, column in roles.arrays.items()}
    if source.data is not None and source.columns:
        lengths["data"] = len(source.data[next(iter(source.columns.values()))])
    for name, length in lengths.items():
        if length != ensemble.people:
            transposed = length == ensemble.replicas
            remedy = "replicas is (replicas, people): transpose it." if transposed else "rows are paired by position."
            raise DataError(
                f"the replicas have {ensemble.people:,} people and {name} has {number_of(length)}: {remedy}"
            )
    return read_rows(source.lines(roles), roles)


def _decide(ensemble: Ensemble, values: PersonValues, cutoff: float, above: bool) -> npt.NDArray[np.int8]:
    """The decision about each person: the mean of probabilities at the cutoff, or the majority of labels."""
    if ensemble.kind == "probability":
        return dimensions.decide(values.people["mean_prediction"], cutoff, above=above)
    return dimensions.decide(values.votes / values.replicas, above=above)


def _overall(measured: MeasuredPeople, confidence: float) -> dict[str, Estimate]:
    """The mean of each dimension over everyone who is counted."""
    overall = {}
    for name, sums in measured.sums.items():
        spread = sums.regroup([0] * len(sums.n), 1).spread()
        low, high = (float(end[0]) for end in simultaneous.own(spread, confidence))
        overall[name] = Estimate.of(float(spread.values[0]), low, high)
    return overall


def _notes(ensemble: Ensemble, intervals: bool) -> Iterable[str]:
    yield from ensemble.notes
    if not intervals:
        yield "No intervals were computed (intervals=False), so no metric can pass or fail."
    elif ensemble.replicas < _MIN_FOR_INTERVALS:
        yield (
            f"Intervals need at least {_MIN_FOR_INTERVALS} replicas and there are {ensemble.replicas}, "
            "so no metric can pass or fail."
        )


def _shown(one: Estimate) -> str:
    known = one.low is not None and one.high is not None
    return figure(one.value) + (f" ({figure(one.low)} to {figure(one.high)})" if known else "")  # type: ignore[arg-type]


def _names_columns(replicas: Any) -> bool:
    """Are the replicas names of columns, or patterns?"""
    names = [replicas] if isinstance(replicas, str) else replicas
    return isinstance(names, (list, tuple)) and bool(names) and all(isinstance(name, str) for name in names)


def _column_names(role: Any) -> list[str]:
    """The columns that a role names; none where it holds arrays."""
    names = [role] if isinstance(role, str) else role
    return [name for name in names if isinstance(name, str)] if isinstance(names, (list, tuple)) else []


def _silent(_done: int) -> None:
    """Show no progress."""
