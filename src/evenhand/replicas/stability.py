"""stability(): does a model waver more for some people than for others? From many replicas, whatever made them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evenhand.audits.audit import Audit, attribute_sets
from evenhand.catalogue import ALIASES, METRICS, find
from evenhand.core import frames, progress
from evenhand.core.arrays import Floats
from evenhand.core.results import Estimate, Finding, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, nearest
from evenhand.inference import simultaneous
from evenhand.replicas import (
    abstention as abstaining,
)
from evenhand.replicas import (
    dimensions,
    panels,
    read,
)
from evenhand.replicas import (
    findings as replicafindings,
)
from evenhand.replicas import (
    sums as replicasums,
)
from evenhand.replicas.abstention import SHARES, Abstention
from evenhand.replicas.dimensions import Dimensions
from evenhand.replicas.findings import Asked, Measured
from evenhand.replicas.fit import Kind
from evenhand.replicas.read import Ensemble
from evenhand.sources import roles as reading
from evenhand.sources.files import is_path
from evenhand.sources.memory import MemorySource
from evenhand.sources.rows import Rows, load_files
from evenhand.sources.rows import read as read_rows
from evenhand.verdicts import policy_file, row_measures
from evenhand.verdicts.policy import Policy

_FEWEST = 3  # replicas of which one can be left out and a spread remains
_LONG = 200_000_000  # numbers beyond which it is shown how far the work is
_DECIDING = "label_stability_difference"


@dataclass(frozen=True, repr=False)
class Stability:
    """What replicas of a model say: findings on every dimension, and each dimension of everyone, group and person."""

    findings: tuple[Finding, ...]
    overall: dict[str, Estimate]
    """Each dimension as a mean over everyone."""

    policy: Policy
    notes: tuple[str, ...]
    measured: Measured = field(repr=False)
    frame_kind: str | None = None

    @property
    def replicas(self) -> int:
        """How many replicas there are."""
        return self.measured.replicas

    @property
    def people(self) -> dict[str, Floats]:
        """Each dimension of each person, in the order of the rows."""
        return self.measured.people

    @property
    def decisions(self) -> npt.NDArray[np.int8]:
        """What the replicas decide together about each person, by their mean."""
        return self.measured.decisions

    @property
    def cube(self) -> Cube:
        """Those decisions, counted: `cube.audit()` gives the usual error rates of the ensemble."""
        return self.measured.cube

    def finding(self, name: str, attributes: Sequence[str] | str | None = None) -> Finding:
        """The finding on one metric or dimension; on the attributes named, or on the first."""
        wanted = (attributes,) if isinstance(attributes, str) else None if attributes is None else tuple(attributes)
        known: dict[str, Finding] = {}
        for found in self.findings:
            if wanted in (None, found.attributes):
                known.setdefault(found.metric, found)
                known.setdefault(METRICS[found.metric].rows[0].name, found)
        meant = ALIASES.get(name, name)
        if meant not in known:
            raise CallError(f"{name!r} was not computed here; {nearest(name, known)}")
        return known[meant]

    def to_frame(self) -> Any:
        """A line for each dimension of everyone and of each group: value, interval and people."""
        titles = ("attributes", "group", "dimension", "value", "low", "high", "n")
        lines: list[tuple[Any, ...]] = []
        for name, one in self.overall.items():
            people = int(self.measured.sums[name].n.sum())
            lines.append(("", spell(()), name, one.value, one.low, one.high, people))
        for found in self.findings:
            where = " × ".join(found.attributes)
            for row in found.groups:
                one = row.estimate or Estimate(math.nan)
                lines.append((where, spell(row.group), row.measure, one.value, one.low, one.high, row.n))
        return frames.frame({title: [line[i] for line in lines] for i, title in enumerate(titles)}, self.frame_kind)

    def by_correctness(self) -> Any:
        """Every dimension among right and wrong decisions of each group, as a dataframe."""
        measured = self.measured
        if measured.right is None:
            raise CallError("right and wrong are not known without labels: pass label= to stability().")
        columns: dict[str, list[Any]] = {name: [] for name in ("attributes", "group", "decision", "n", *self.people)}
        for attributes in dict.fromkeys(found.attributes for found in self.findings):
            part = measured.marginal(attributes)
            n, means = panels.split(self.people, measured.right, part.codes, len(part.groups))
            for i, group in enumerate(part.groups):
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
        """What becomes of accuracy and gaps when the least stable people are set aside, and who they are."""
        if by not in self.people:
            raise CallError(f"by={by!r} was not computed here; {nearest(by, self.people)}")
        measured = self.measured
        wanted = (attributes,) if isinstance(attributes, str) else tuple(attributes or self.cube.meaning.sensitive[:1])
        part = measured.marginal(wanted)
        return abstaining.abstain(
            self.people[by],
            measured.decisions,
            measured.label,
            part.codes,
            part.groups,
            by=by,
            attributes=wanted,
            shares=shares,
        )

    def audit(self, *, required: Sequence[str] | str | None = None) -> Audit:
        """These findings as an audit that can be saved; label stability decides, unless told otherwise."""
        known = {found.metric for found in self.findings}
        names = (required,) if isinstance(required, str) else required or self.policy.required
        if names is None:
            names = (_DECIDING,) if _DECIDING in known else ()
        deciding = tuple(dict.fromkeys(find(name)[0].name for name in names))
        for name in deciding:
            if name not in known:
                raise CallError(f"{name} cannot decide, for it was not computed here; {nearest(name, known)}")
        judged = f"Judged by {', '.join(deciding)}." if deciding else "No metric is required, so nothing is judged."
        aside = [str(self.abstention(attributes=name)) for name in self.cube.meaning.sensitive]
        policy = replace(self.policy, required=deciding)
        return Audit(self.cube, policy, self.findings, (*self.notes, *aside, judged), deciding, self.frame_kind)

    def __str__(self) -> str:
        told = [f"- {' × '.join(found.attributes)}: {found.verdict}. {found.interpretation}" for found in self.findings]
        return "\n".join([f"{self.replicas} replicas, {self.cube.size:,} people.", *told, *self.notes])

    __repr__ = __str__


def stability(
    replicas: Any,
    *,
    data: Any = None,
    label: Any = None,
    sensitive: Any = None,
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
    bands: Mapping[str, Sequence[float]] | None = None,
    missing: reading.Missing = "group",
    na: Iterable[str] = (),
    min_group_size: int | None = None,
    confidence: float | None = None,
    intervals: bool = True,
) -> Stability:
    """Does a model waver more for some people than for others?

    `replicas` is an array (B, n) of P(Y=1) or of labels, from bootstrap fits (`replicate`), seeds, an ensemble or
    dropout; a table with a column for each replica; or, with `data`, names of its columns or a pattern such as "p_*".
    `higher_is="negative"` reads P(Y=0). Labels and groups are arrays, or columns of the data.

    Intervals allow for the people and for the replicas, so that fifty replicas are not taken for all there could be.
    `reference="rest"` sets each group against everyone else; `convention="virny"` sets everyone else against the
    reference and counts a probability of exactly one half as a 0.

    >>> rng = np.random.default_rng(0)
    >>> logits = np.linspace(-3, 3, 200) + np.tile([0.2, 1.5], 100) * rng.normal(size=(50, 200))
    >>> found = stability(1 / (1 + np.exp(-logits)), sensitive=["a", "b"] * 100)
    >>> found.finding("label_stability").highest, found.finding("label_stability").verdict
    ('a', 'fail')
    """
    chosen = (metrics,) if isinstance(metrics, str) else None if metrics is None else tuple(metrics)
    settled = policy_file.resolve(policy).updated(
        reference=reference, intersections=intersections, min_group_size=min_group_size, confidence=confidence
    )
    asked = Asked(settled, chosen, convention, judged_on, threshold)
    favourable = dict(positive) if isinstance(positive, Mapping) else {"label": positive, "prediction": positive}
    absent = (na,) if isinstance(na, str) else tuple(na)
    needed = [name for part in (label, sensitive) for name in _column_names(part)]
    if data is not None and _names_columns(replicas):
        data, replicas = read.from_columns(data, replicas, roles=needed, kind=kind, na=absent)
    elif is_path(data):
        data = load_files(data, needed)
    ensemble = read.read(
        replicas, kind=kind, higher_is=higher_is, positive=_spelled(favourable.get("prediction", 1)), cutoff=cutoff
    )
    data = row_measures.reusable(data)
    arguments: dict[str, Any] = row_measures.reusable(
        {"label": label, "sensitive": sensitive, "bands": bands, "missing": missing, "na": absent, "task": "binary"}
    )
    arguments["positive"] = {"label": favourable.get("label", 1), "prediction": 1}
    names = asked.available(ensemble.kind, labelled=label is not None)
    measured = _measure(data, arguments, ensemble, names, cutoff, above=convention == "virny", intervals=intervals)
    sets, left_out = attribute_sets(measured.cube, settled.intersections)
    return Stability(
        tuple(replicafindings.findings(measured, asked, names, sets)),
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
) -> Measured:
    """One pass over the replicas, then the counts of what they decide together."""
    rows = _rows(data, arguments, ensemble)
    label = rows.columns.get("label")
    wanted = {find(name)[0].rows[0].name for name in names} | {"label_stability"}
    if ensemble.kind == "probability":
        wanted.add("mean_prediction")
    size = ensemble.replicas * ensemble.people
    with progress.shown("measuring people", ensemble.people) if size > _LONG else nullcontext(_silent) as tell:
        found = dimensions.measure(
            ensemble.values,
            label,
            rows.codes if intervals and ensemble.replicas >= _FEWEST else None,
            names=wanted,
            cutoff=cutoff,
            above=above,
            mirror=ensemble.mirror,
            show=tell,
        )
    decisions = _decide(ensemble, found, cutoff, above)
    cube = Cube.count(data, prediction=decisions, **arguments)
    # The rows know the same groups as the cube, in another order, and those that it may have left out.
    order = [rows.groups.index(group) for _, group in cube.pairs]
    places = np.full(len(rows.groups), -1, dtype=np.intp)
    places[order] = np.arange(len(order))
    found = replace(found, moves={name: moves[:, order] for name, moves in found.moves.items()})
    codes = places[rows.codes]
    return Measured(
        ensemble.replicas,
        ensemble.kind,
        cube,
        codes,
        label,
        decisions,
        found.people,
        replicasums.collect(found, codes, len(order)),
        {"replicas": ensemble.replicas, "kind": ensemble.kind, "cutoff": cutoff},
    )


def _rows(data: Any, arguments: Mapping[str, Any], ensemble: Ensemble) -> Rows:
    source = MemorySource(data)
    # Nothing is decided before the replicas were read; until then a 0 stands for it.
    roles = reading.assign(source.names, **arguments, prediction=np.zeros(ensemble.people, dtype=np.int8))
    lengths = {key.partition(":")[0]: len(column) for key, column in roles.arrays.items()}
    if source.data is not None and source.columns:
        lengths["data"] = len(source.data[next(iter(source.columns.values()))])
    for name, length in lengths.items():
        if length != ensemble.people:
            turned = length == ensemble.replicas
            remedy = "replicas is (replicas, people): transpose it." if turned else "rows pair by position."
            raise DataError(
                f"the replicas speak of {ensemble.people:,} people and {name} has {length:,} rows: {remedy}"
            )
    return read_rows(source.lines(roles), roles)


def _decide(ensemble: Ensemble, found: Dimensions, cutoff: float, above: bool) -> npt.NDArray[np.int8]:
    """Probabilities are averaged and cut; of labels the majority decides."""
    if ensemble.kind == "probability":
        return dimensions.decide(found.people["mean_prediction"], cutoff, above=above)
    return dimensions.decide(found.votes / found.replicas, above=above)


def _overall(measured: Measured, confidence: float) -> dict[str, Estimate]:
    """Each dimension as a mean over everyone who is counted."""
    overall = {}
    for name, sums in measured.sums.items():
        spread = sums.regroup([0] * len(sums.n), 1).spread()
        low, high = (float(end[0]) for end in simultaneous.own(spread, confidence))
        value = float(spread.values[0])
        overall[name] = Estimate(value) if math.isnan(low) else Estimate(value, low, high)
    return overall


def _notes(ensemble: Ensemble, intervals: bool) -> Iterable[str]:
    yield from ensemble.notes
    if not intervals:
        yield "No intervals were asked for, so nothing can be settled."
    elif ensemble.replicas < _FEWEST:
        yield f"From {ensemble.replicas} replicas no interval can be made, so nothing can be settled."


def _names_columns(replicas: Any) -> bool:
    names = [replicas] if isinstance(replicas, str) else replicas
    return isinstance(names, (list, tuple)) and bool(names) and all(isinstance(name, str) for name in names)


def _column_names(part: Any) -> list[str]:
    """The columns that a role names; none where it holds arrays."""
    names = [part] if isinstance(part, str) else part
    return [name for name in names if isinstance(name, str)] if isinstance(names, (list, tuple)) else []


def _spelled(positive: Any) -> tuple[str, ...]:
    several = isinstance(positive, (list, tuple, set, frozenset))
    return tuple(reading.canonical(value) for value in (positive if several else [positive]))


def _silent(_done: int) -> None:
    """Tell nobody."""
