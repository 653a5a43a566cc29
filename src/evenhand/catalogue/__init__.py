"""METRICS: one entry for each named criterion, and the names by which it is found.

The families stand in the order of the questions they ask: who is selected (independence), who is decided wrongly
(separation), what a decision is worth (sufficiency), how often it is right (accuracy), how evenly people fare
(inequality), what a score says of people (scores), how far apart scores lie (distances), how much a group tells about
what is decided (dependence), how a predicted number fares (regression), whether people who are alike are
treated alike (individual), whether the same person would be predicted otherwise in another group (counterfactual),
whether the model's predictions vary between fits (stability), and what the data brought along (data).
Functions, documentation, command line and page are made from these entries.
"""

from __future__ import annotations

from evenhand.catalogue import (
    accuracy,
    counterfactual,
    data,
    dependence,
    distances,
    independence,
    individual,
    inequality,
    regression,
    scores,
    separation,
    stability,
    sufficiency,
    uncertainty,
)
from evenhand.catalogue.metric import Metric, define
from evenhand.errors import CallError, nearest

__all__ = ["ALIASES", "METRICS", "Metric", "define", "find"]

_FAMILIES = (
    independence,
    separation,
    sufficiency,
    accuracy,
    inequality,
    scores,
    distances,
    dependence,
    regression,
    individual,
    counterfactual,
    stability,
    uncertainty,
    data,
)

METRICS: dict[str, Metric] = {entry.name: entry for family in _FAMILIES for entry in family.ENTRIES}
"""Each metric by its name."""

ALIASES: dict[str, str] = {alias: entry.name for entry in METRICS.values() for alias in entry.aliases}
"""The metric that each alias stands for."""


def find(name: str | Metric) -> tuple[Metric, dict[str, object]]:
    """A metric by its name or an alias, and the arguments that the alias presets.

    A metric of your own is returned as it is.

    >>> entry, presets = find("demographic_parity_ratio")
    >>> entry.name, presets
    ('demographic_parity', {'judged_on': 'ratio', 'threshold': 0.8})
    >>> find("theil")
    Traceback (most recent call last):
    evenhand.errors.CallError: 'theil' is not a metric; did you mean 'theil_index'?
    """
    if isinstance(name, Metric):
        return name, {}
    if not isinstance(name, str):
        raise CallError(f"a metric is given by its name or as a Metric, not as {name!r}.")
    if name in METRICS:
        return METRICS[name], {}
    if name in ALIASES:
        entry = METRICS[ALIASES[name]]
        return entry, dict(entry.aliases[name])
    raise CallError(f"{name!r} is not a metric; {nearest(name, [*METRICS, *ALIASES])}")
