"""Which metrics an audit computes: those that were asked for, or those that the data allows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenhand.catalogue import METRICS, find
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.measures.indices import OutcomeTestIndex
from evenhand.verdicts.finding import check_roles, lacks_losses
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.selective_labels import lacking_labels


def choose(cube: Cube, metrics: Iterable[Any] | None, policy: Policy, notes: list[str]) -> list[Any]:
    """The metrics to compute: those that the caller names, else those of the policy that the data allows, else all.

    Required metrics are always included, under the name that the policy gives them: an alias may preset how a metric is
    judged.
    """
    if metrics is None and policy.metrics is None:
        metrics = _usable(cube, policy, notes)
    elif metrics is None:
        metrics = _possible(cube, policy, notes)
    required = {find(name)[0].name: name for name in policy.required or ()}
    chosen = [required.get(name, name) if isinstance(name, str) else name for name in metrics]
    known = {find(metric)[0].name for metric in chosen}
    chosen += [name for metric, name in required.items() if metric not in known]
    return [metric for i, metric in enumerate(chosen) if metric not in chosen[:i]]


def _possible(cube: Cube, policy: Policy, notes: list[str]) -> list[Any]:
    """The metrics of the policy that this data allows, as one policy serves many tables; required ones always stay."""
    possible, lacking = [], []
    required = {find(name)[0].name for name in policy.required or ()}
    for name in policy.metrics or ():
        metric = find(name)[0]
        try:
            check_roles(metric, cube)
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


def _usable(cube: Cube, policy: Policy, notes: list[str]) -> list[str]:
    """Every metric of the catalogue that the data allows; the robust outcome test where labels are selective."""
    available = {role for role, present in cube.has.items() if present}
    fitting = [entry for entry in METRICS.values() if cube.meaning.task in entry.tasks]
    selective = lacking_labels(cube, policy)
    if selective is None or "refused" not in selective.sides:
        fitting = [entry for entry in fitting if not isinstance(entry.index, OutcomeTestIndex)]
    usable = [entry for entry in fitting if entry.needs <= available]
    if cube.scores is not None and not cube.scores.bins.is_probability:
        other_scale = [entry.name for entry in usable if entry.probability]
        usable = [entry for entry in usable if not entry.probability]
        if other_scale:
            notes.append(f"The score is not a probability, so these are left out: {', '.join(other_scale)}.")
    unknown = [entry.name for entry in usable if lacks_losses(entry, cube)]
    if unknown:
        usable = [entry for entry in usable if entry.name not in unknown]
        notes.append(
            "The cube was counted by an earlier version, which did not sum the loss of each person, so these are left "
            f"out: {', '.join(unknown)}. Count the rows again to have them."
        )
    unfit = [entry for entry in fitting if not entry.needs <= available and entry.name != "base_rate_parity"]
    left_out = [entry.name for entry in unfit if entry.needs - available != {"score"}]
    if left_out:
        lacking = "a label" if "label" not in available else "a prediction"
        notes.append(f"Without {lacking}, these are left out: {', '.join(left_out)}.")
    return [entry.name for entry in usable]
