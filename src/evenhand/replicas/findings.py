"""From the sums over groups to findings: which metrics, on which groups, with the pictures that belong to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evenhand.catalogue import METRICS, Metric, find
from evenhand.core.arrays import Floats, Indices
from evenhand.core.results import Finding, Group, Panel
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, nearest
from evenhand.replicas import abstention, panels
from evenhand.replicas import sums as replicasums
from evenhand.replicas.dimensions import OF_LABELS
from evenhand.replicas.fit import Kind
from evenhand.replicas.sums import Sums
from evenhand.verdicts import comparison
from evenhand.verdicts.finding import row_finding
from evenhand.verdicts.policy import Policy, Request, request

Split = tuple[Floats, dict[str, Floats]]
"""People with right and wrong decisions by group, and each dimension among them."""

STABILITY = {name: metric for name, metric in METRICS.items() if metric.family == "stability"}
"""The metrics of replicas by their names."""


@dataclass(frozen=True)
class Measured:
    """What was measured of each person, and the sums of it over the groups of the cube.

    `codes` is the place of each person's group among the pairs of the cube, −1 where they were left out.
    """

    replicas: int
    kind: Kind
    cube: Cube
    codes: Indices
    label: Floats | None
    decisions: npt.NDArray[np.int8]
    people: dict[str, Floats]
    sums: dict[str, Sums]
    settings: dict[str, object]

    @property
    def right(self) -> Floats | None:
        """1 where the replicas together decide as it came, 0 where not, NaN where that is not known."""
        if self.label is None:
            return None
        return np.where(np.isnan(self.label), np.nan, (self.label == self.decisions).astype(np.float64))

    def marginal(self, attributes: Sequence[str]) -> Part:
        """The groups of some of the attributes, and everyone's place among them."""
        cube = self.cube.marginal(attributes)
        at = [self.cube.meaning.sensitive.index(name) for name in attributes]
        groups = [group for _, group in cube.pairs]
        places = np.array([groups.index(tuple(group[i] for i in at)) for _, group in self.cube.pairs] + [-1])
        sums = replicasums.regrouped(self.sums, places[:-1].tolist(), len(groups))
        return Part(cube, tuple(groups), places[self.codes], sums)


@dataclass(frozen=True)
class Part:
    """The same on some of the attributes."""

    cube: Cube
    groups: tuple[Group, ...]
    codes: Indices
    sums: dict[str, Sums]

    def pooled(self, keep: Group) -> Part:
        """All groups but one added up; those without a name stay apart."""
        cube = self.cube.pool(keep)
        groups = [group for _, group in cube.pairs]
        (others,) = [group for group in groups if group not in self.groups] or [keep]
        places = np.array([groups.index(group if group in groups else others) for group in self.groups] + [-1])
        sums = replicasums.regrouped(self.sums, places[:-1].tolist(), len(groups))
        return Part(cube, tuple(groups), places[self.codes], sums)


@dataclass(frozen=True)
class Asked:
    """Which metrics are asked for, and how they are judged."""

    policy: Policy
    names: tuple[str, ...] | None = None
    convention: str | None = None
    judged_on: Literal["difference", "ratio"] | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        comparison.find_convention(self.convention)
        for name in self.names or ():
            if find(name)[0].name not in STABILITY:
                raise CallError(f"{name} is no metric of replicas; {nearest(name, STABILITY)}")

    def available(self, kind: Kind, *, labelled: bool) -> list[str]:
        """Those that can be computed; an error where one was asked for by name and cannot."""
        lacking = {name: _lacking(metric, kind, labelled) for name, metric in STABILITY.items()}
        for name in self.names or ():
            if lacking[find(name)[0].name]:
                raise CallError(f"{name} needs {lacking[find(name)[0].name]}")
        return list(self.names or [name for name, why in lacking.items() if why is None])

    def request(self, name: str, cube: Cube) -> Request:
        """One metric with everything that was set; the reference must be among the groups of the cube."""
        return request(
            name,
            policy=self.policy,
            convention=self.convention,
            judged_on=self.judged_on,
            threshold=self.threshold,
            reference=comparison.check_reference(self.policy.reference, cube.meaning.sensitive, cube.groups),
        )


def _lacking(metric: Metric, kind: Kind, labelled: bool) -> str | None:
    """What a metric needs and is not there."""
    (row,) = metric.rows
    if kind == "label" and row.name not in OF_LABELS:
        return "probabilities, and these replicas are labels."
    return "label=, which was not given." if "label" in row.needs and not labelled else None


def findings(
    measured: Measured, asked: Asked, names: Sequence[str], sets: Iterable[Sequence[str]]
) -> Iterator[Finding]:
    """A finding for each metric on each set of attributes; the first of a set also shows what concerns them all."""
    wanted = [asked.request(name, measured.cube) for name in names]
    right = measured.right
    for attributes in sets:
        part = measured.marginal(attributes)
        split = None if right is None else panels.split(measured.people, right, part.codes, len(part.groups))
        found = [_finding(measured, part, split, one) for one in wanted]
        if found:
            beside = (*_abstention(measured, part, attributes), panels.forest(found))
            found[0] = replace(found[0], panels=(*found[0].panels, *beside))
        yield from found


def _finding(measured: Measured, part: Part, split: Split | None, wanted: Request) -> Finding:
    (row,) = wanted.metric.rows
    judged = _as_compared(wanted, part)
    sums = judged.sums[row.name]
    own, rest = {row.name: sums.spread()}, {row.name: sums.rest().spread(like=sums)}
    found = row_finding(wanted, judged.cube, own, rest)
    note = f"From {measured.replicas} replicas: what other numbers of replicas give is not comparable."
    return replace(
        found,
        notes=(*found.notes, note),
        panels=_panels(measured, part, split, row.name, row.title),
        settings={**found.settings, **measured.settings},
    )


def _as_compared(wanted: Request, part: Part) -> Part:
    """The groups as the convention has them: some set everyone else, as one group, against the reference."""
    convention = comparison.find_convention(wanted.convention)
    if not convention.pool:
        return part
    sizes = dict(zip(part.groups, part.cube.n.sum(axis=(1, 2)).tolist(), strict=True))
    plan = comparison.plan(wanted.reference, part.cube.meaning.sensitive, part.groups, sizes, convention)
    return part if plan.reference is None else part.pooled(plan.reference)


def _panels(measured: Measured, part: Part, split: Split | None, name: str, title: str) -> tuple[Panel, ...]:
    spread_out = panels.distribution(title, measured.people[name], part.codes, part.groups)
    if split is None:
        return (spread_out,)
    n, means = split
    return spread_out, panels.by_correctness(title, n, means[name], part.groups)


def _abstention(measured: Measured, part: Part, attributes: Sequence[str]) -> tuple[Panel, ...]:
    by: Any = "label_stability"
    return abstention.abstain(
        measured.people[by],
        measured.decisions,
        measured.label,
        part.codes,
        part.groups,
        by=by,
        attributes=attributes,
    ).panels()
