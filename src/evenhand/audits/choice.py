"""Which metrics an audit computes: those that were asked for, or the core set or all that the data allows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Literal

from evenhand.catalogue import METRICS, Metric, find
from evenhand.core.signs import printable
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.measures.indices import OutcomeTestIndex
from evenhand.verdicts.policy import ALL, Policy
from evenhand.verdicts.requirements import check_roles, lacks_classes, lacks_cutoff, lacks_losses
from evenhand.verdicts.selective_labels import lacking_labels

Named = Iterable[Any] | Literal["all"] | None
"""What a caller or a policy says of the metrics to compute: their names, "all", or nothing."""


def choose(cube: Cube, metrics: Named, policy: Policy, notes: list[str]) -> list[Any]:
    """The metrics to compute: those that the caller names, else those of the policy that the data allows.

    Where neither names any, those of the core set; "all" is every one that the data allows. What decides is always
    included, under the name that the policy gives it: an alias may preset how a metric is judged.
    """
    wanted = policy.metrics if metrics is None else metrics
    if wanted is None or wanted == ALL:
        chosen = _usable(cube, policy, notes, everything=wanted is not None)
    else:
        chosen = _possible(cube, policy, notes) if metrics is None else list(metrics)
    names = policy.required or (_possible(cube, policy, notes) if metrics == ALL and _names(policy.metrics) else ())
    # What looks at any columns is found by its own function and added.
    decide = {find(name)[0].name: name for name in names if not find(name)[0].any_attributes}
    chosen = [decide.get(name, name) if isinstance(name, str) else name for name in chosen]
    known = {find(metric)[0].name for metric in chosen}
    chosen += [name for metric, name in decide.items() if metric not in known]
    return [metric for i, metric in enumerate(chosen) if metric not in chosen[:i]]


def required(cube: Cube, metrics: Named, policy: Policy) -> tuple[tuple[str, ...], bool]:
    """The metrics that decide, and whether somebody named them.

    They are what the policy requires, else what the caller or the policy names to be computed, else those that fit the
    data. Neither the core set nor "all" changes what decides.
    """
    named = metrics if _names(metrics) else _possible(cube, policy, []) if _names(policy.metrics) else None
    if policy.required is not None or named is None:
        return policy.required_for(cube), policy.required is not None
    return tuple(dict.fromkeys(find(name)[0].name for name in named)), True


def _names(metrics: Named) -> bool:
    """Are metrics named one by one?"""
    return metrics is not None and metrics != ALL


def _possible(cube: Cube, policy: Policy, notes: list[str]) -> list[Any]:
    """The metrics of the policy that this data allows, as one policy serves many tables; required ones always stay."""
    possible, lacking, elsewhere = [], [], []
    required = {find(name)[0].name for name in policy.required or ()}
    for name in policy.metrics or ():
        metric = find(name)[0]
        if cube.meaning.task not in metric.tasks and metric.name not in required:
            elsewhere.append(metric.name)
            continue
        try:
            check_roles(metric, cube)
        except CallError as error:
            if metric.name not in required:
                lacking.append(str(error))
                continue
        possible.append(name)
    if elsewhere:
        lacking.append(f"{', '.join(elsewhere)}, for another task than {cube.meaning.task!r}.")
    if not possible:
        raise CallError(f"no metric of the policy can be computed: {' '.join(lacking)}")
    if lacking:
        notes.append(f"Left out of what the policy names: {' '.join(lacking)}")
    return possible


def _usable(cube: Cube, policy: Policy, notes: list[str], *, everything: bool) -> list[Any]:
    """The metrics that the data allows, of the catalogue or of its core set with what the policy speaks of.

    The robust outcome test is among them where labels are selective.
    """
    available = {role for role, present in cube.has.items() if present}
    selective = lacking_labels(cube, policy)
    tested = selective is not None and "refused" in selective.sides
    spoken_of = {*policy.thresholds, *policy.judged_on, *policy.required_for(cube)}
    fitting = [
        entry
        for entry in METRICS.values()
        if (tested if isinstance(entry.index, OutcomeTestIndex) else everything or _is_core(entry, spoken_of))
        and cube.meaning.task in entry.tasks
    ]
    usable = [entry for entry in fitting if entry.needs <= available]
    usable = [entry for entry in usable if not (lacks_classes(entry, cube) or lacks_cutoff(entry, cube))]
    if cube.scores is not None and not cube.scores.bins.is_probability:
        other_scale = [entry.name for entry in usable if entry.probability]
        usable = [entry for entry in usable if not entry.probability]
        if other_scale:
            notes.append(f"The score is not a probability, so these are left out: {', '.join(other_scale)}.")
    usable = _within_reach(usable, cube, spoken_of, notes)
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


def _within_reach(usable: list[Metric], cube: Cube, spoken_of: Collection[str], notes: list[str]) -> list[Metric]:
    """Of an attribute with very many groups only metrics of counts, and what the policy speaks of."""
    names = cube.meaning.sensitive
    many = {name: len({group[i] for group in cube.groups}) for i, name in enumerate(names)}
    name = max(names, key=lambda name: many[name])
    if many[name] <= MOST_COMPARED:
        return usable
    left_out = [entry.name for entry in usable if not _is_of_counts(entry) and entry.name not in spoken_of]
    if left_out:
        notes.append(
            f"{printable(name)} has {many[name]:,} groups, so only metrics of counts are computed. Left out: "
            f"{', '.join(left_out)}. A coarser column has them all."
        )
    return [entry for entry in usable if entry.name not in left_out]


def _is_of_counts(entry: Metric) -> bool:
    return entry.index is None and not entry.binned and all(row.made_of in ("cells", "classes") for row in entry.rows)


MOST_COMPARED = 2000  # groups of an attribute for which every metric is computed


def _is_core(entry: Metric, spoken_of: Collection[str]) -> bool:
    return entry.core or entry.name in spoken_of
