"""Findings on stability: which metrics, on which groups, from sums over groups, with their panels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from evenhand.catalogue import METRICS, Metric, find
from evenhand.core.arrays import Floats, Indices
from evenhand.core.results import Finding, Group, Panel
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, nearest
from evenhand.replicas import abstention, panels
from evenhand.replicas.dimensions import DIMENSIONS
from evenhand.replicas.fit import Kind
from evenhand.replicas.sums import Sums, regroup_all
from evenhand.verdicts import comparison
from evenhand.verdicts.finding import row_finding
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request

STABILITY = {name: metric for name, metric in METRICS.items() if metric.family == "stability"}
"""The stability metrics by their names."""

_LEAST_STABLE_BY = "label_stability"  # the dimension by which the panels set people aside


@dataclass(frozen=True)
class MeasuredPeople:
    """The dimensions of each person (`people`), and their sums over the groups of the cube (`sums`).

    `codes` is the index of each person's group among the pairs of the cube, −1 for people who were left out.
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
        """1 where the decision of the replicas equals the label, 0 where not, NaN where the label is missing."""
        if self.label is None:
            return None
        return np.where(np.isnan(self.label), np.nan, (self.label == self.decisions).astype(np.float64))

    def by_groups(self, attributes: Sequence[str]) -> GroupSums:
        """The sums over the groups of some of the attributes, and the group of each person."""
        cube = self.cube.marginal(attributes)
        columns = [self.cube.meaning.sensitive.index(name) for name in attributes]
        groups = [group for _, group in cube.pairs]
        index = [groups.index(tuple(group[i] for i in columns)) for _, group in self.cube.pairs]
        sums = regroup_all(self.sums, index, len(groups))
        return GroupSums(cube, tuple(groups), np.array([*index, -1])[self.codes], sums)


@dataclass(frozen=True)
class GroupSums:
    """Sums over the groups of some attributes; `codes` is the index of each person's group, −1 for none."""

    cube: Cube
    groups: tuple[Group, ...]
    codes: Indices
    sums: dict[str, Sums]

    def pooled(self, keep: Group) -> GroupSums:
        """All groups but one added up; groups with a missing value stay apart."""
        cube = self.cube.pool(keep)
        groups = [group for _, group in cube.pairs]
        (others,) = [group for group in groups if group not in self.groups] or [keep]
        index = [groups.index(group if group in groups else others) for group in self.groups]
        sums = regroup_all(self.sums, index, len(groups))
        return GroupSums(cube, tuple(groups), np.array([*index, -1])[self.codes], sums)


@dataclass(frozen=True)
class StabilityRequest:
    """Which metrics are computed (default: all that can be), and how they are judged."""

    policy: Policy
    names: tuple[str, ...] | None = None
    convention: str | None = None
    judged_on: Literal["difference", "ratio"] | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        comparison.find_convention(self.convention)
        for name in self.names or ():
            if find(name)[0].name not in STABILITY:
                raise CallError(f"{name} is not a stability metric; {nearest(name, STABILITY)}")

    def available(self, kind: Kind, *, labelled: bool) -> list[str]:
        """The names of the metrics to compute; an error where a metric was named and cannot be computed."""
        lacks = {name: _lacks(metric, kind, labelled) for name, metric in STABILITY.items()}
        for name in self.names or ():
            if reason := lacks[find(name)[0].name]:
                raise CallError(f"{name} needs {reason}")
        return list(self.names or [name for name, reason in lacks.items() if reason is None])

    def request(self, name: str, cube: Cube) -> Request:
        """One metric with everything that was set; the reference must be among the groups of the cube."""
        return make_request(
            name,
            policy=self.policy,
            convention=self.convention,
            judged_on=self.judged_on,
            threshold=self.threshold,
            reference=comparison.reference_in(self.policy.reference, cube),
        )


def _lacks(metric: Metric, kind: Kind, labelled: bool) -> str | None:
    """What a metric needs and does not have, as the end of a sentence; None where it can be computed."""
    (row,) = metric.rows
    if kind == "label" and not DIMENSIONS[row.name].from_labels:
        return "probabilities, but these replicas are labels."
    return "label=, which was not passed." if "label" in row.needs and not labelled else None


def findings(
    measured: MeasuredPeople,
    stability_request: StabilityRequest,
    names: Sequence[str],
    attribute_sets: Iterable[Sequence[str]],
) -> Iterator[Finding]:
    """A finding for each metric on each set of attributes.

    The first finding of a set also has the panels that concern all metrics: abstention, and all gaps side by side.
    """
    requests = [stability_request.request(name, measured.cube) for name in names]
    right = measured.right
    for attributes in attribute_sets:
        sums = measured.by_groups(attributes)
        split = None if right is None else panels.split(measured.people, right, sums.codes, len(sums.groups))
        made = [_finding(measured, sums, split, each) for each in requests]
        if made:
            shared = (*_abstention(measured, sums, attributes), panels.forest(made))
            made[0] = replace(made[0], panels=(*made[0].panels, *shared))
        yield from made


def _finding(
    measured: MeasuredPeople, groups: GroupSums, split: panels.Split | None, metric_request: Request
) -> Finding:
    (row,) = metric_request.metric.rows
    compared = _as_compared(metric_request, groups)
    sums = compared.sums[row.name]
    own, rest = {row.name: sums.spread()}, {row.name: sums.rest().spread(like=sums)}
    judged = row_finding(metric_request, compared.cube, own, rest)
    note = f"Measured with {measured.replicas} replicas; values from another number of replicas are not comparable."
    return replace(
        judged,
        notes=(*judged.notes, note),
        panels=_panels(measured, groups, split, row.name, row.title),
        settings={**judged.settings, **measured.settings},
    )


def _as_compared(metric_request: Request, sums: GroupSums) -> GroupSums:
    """The groups that the convention compares: some conventions pool all groups but the reference."""
    convention = comparison.find_convention(metric_request.convention)
    if not convention.pool:
        return sums
    sizes = dict(zip(sums.groups, sums.cube.n.sum(axis=(1, 2)).tolist(), strict=True))
    plan = comparison.plan(metric_request.reference, sums.cube.meaning.sensitive, sums.groups, sizes, convention)
    return sums if plan.reference is None else sums.pooled(plan.reference)


def _panels(
    measured: MeasuredPeople, sums: GroupSums, split: panels.Split | None, name: str, title: str
) -> tuple[Panel, ...]:
    distribution = panels.distribution(title, measured.people[name], sums.codes, sums.groups)
    if split is None:
        return (distribution,)
    n, means = split
    return distribution, panels.by_correctness(title, n, means[name], sums.groups)


def _abstention(measured: MeasuredPeople, sums: GroupSums, attributes: Sequence[str]) -> tuple[Panel, ...]:
    return abstention.abstain(
        measured.people[_LEAST_STABLE_BY],
        measured.decisions,
        measured.label,
        sums.codes,
        sums.groups,
        by=_LEAST_STABLE_BY,
        attributes=attributes,
    ).panels()
