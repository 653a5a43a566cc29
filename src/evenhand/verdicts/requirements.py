"""What a metric needs of the data: its task, its roles, a score of the right kind, and groups to compare."""

from __future__ import annotations

from evenhand.catalogue import Metric
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError
from evenhand.measures.lending import MOST_CLASSES
from evenhand.measures.scores import ScoreMeasure


def check_counted(metric: Metric) -> None:
    """Raise CallError for a metric that has a function of its own, such as one of replicas."""
    if not metric.counted:
        raise CallError(f"{metric.name} needs more than counts: call evenhand.{metric.name}() and add what it finds.")


def check_roles(metric: Metric, cube: Cube) -> None:
    """Raise CallError or DataError where the data lacks what a metric needs."""
    task, present = cube.meaning.task, cube.has
    check_counted(metric)
    if task not in metric.tasks and cube.facts.get("regression_chosen"):
        raise DataError(
            f"label and prediction both hold fractions, as numbers do (task='regression'), and {metric.name} is for "
            "decisions. If the prediction looks like a score, pass it as score= with cutoff=."
        )
    if task not in metric.tasks:
        raise CallError(f"{metric.name} is for task {' or '.join(map(repr, sorted(metric.tasks)))}; this is {task!r}.")
    if cube.scores is not None and cube.scores.joined_bins and metric.by_bins:
        raise CallError(
            f"{metric.name} depends on where scores stand, and those of this shared audit are only counted between "
            "stops: compute it from the audit that was not shared."
        )
    lacking = sorted(role for role in metric.needs if not present[role])
    if lacking:
        raise CallError(f"{metric.name} needs {' and '.join(role + '=' for role in lacking)}, which was not given.")
    if metric.probability and cube.scores is not None and not cube.scores.bins.is_probability:
        raise CallError(
            f"{metric.name} compares the score with what happened, so it needs a probability; this score goes from "
            f"{cube.scores.bins.low:g} to {cube.scores.bins.high:g}."
        )

    if lacks_classes(metric, cube):
        raise CallError(
            f"{metric.name} is for a score of 2 to {MOST_CLASSES} ordered classes, and this one has more values, or "
            "only one: give the class as a number in score=, or ask for impact_ratio_by_quantile."
        )
    if lacks_losses(metric, cube):
        raise CallError(
            f"{metric.name} needs the loss of each person, which this cube does not hold: it was counted by an earlier "
            "version, or merged with one that was. Count the rows again; resolution='exact' also keeps every score."
        )


def lacks_classes(metric: Metric, cube: Cube) -> bool:
    """Is the metric made of the classes of a score that has none?"""
    return metric.along is not None and cube.scores is not None and not metric.along(cube.scores.reading)


def lacks_cutoff(metric: Metric, cube: Cube) -> bool:
    """Is the metric that of a cutoff, where there is none?"""
    of_cutoff = any(isinstance(row, ScoreMeasure) and row.at_cutoff for row in metric.rows)
    return of_cutoff and (cube.scores is None or cube.scores.reading.cutoff is None)


def lacks_losses(metric: Metric, cube: Cube) -> bool:
    """Is the metric made of losses that the cube has not summed?"""
    of_losses = any(isinstance(row, ScoreMeasure) and row.of_losses for row in metric.rows)
    return of_losses and cube.scores is not None and not cube.scores.knows_losses


def check_groups(cube: Cube) -> None:
    """Raise DataError where an attribute has one group only."""
    for i, name in enumerate(cube.meaning.sensitive):
        values = {group[i] for group in cube.groups} - {None}
        if len(values) < 2:
            seen = ", ".join(repr(value) for value in values) or "no value at all"
            raise DataError(f"{name!r} has one group only ({seen}): there is nothing to compare.")
