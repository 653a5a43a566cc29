"""METRICS: one entry for each named criterion, and the names by which it is found.

The families stand in the order of the questions they ask: who is selected (independence), who is decided wrongly
(separation), what a decision is worth (sufficiency), how often it is right (accuracy), how evenly people fare
(inequality), what a score says of people (scores), how far apart scores lie (distances), how much a group tells about
what is decided (dependence), how a predicted number fares (regression), whether people who are alike are
treated alike (individual), whether the same person would be predicted otherwise in another group (counterfactual),
whether the model's predictions vary between fits (stability), what the data brought along (data), the figures that
lenders and insurers ask for (lending), and whether a group was overlooked (search).
Functions, documentation, command line and page are made from these entries.
"""

from __future__ import annotations

from functools import cache

from evenhand.catalogue import (
    accuracy,
    counterfactual,
    data,
    dependence,
    distances,
    independence,
    individual,
    inequality,
    lending,
    regression,
    scores,
    search,
    separation,
    stability,
    sufficiency,
    uncertainty,
)
from evenhand.catalogue.extremes import find_extreme
from evenhand.catalogue.metric import Metric, define
from evenhand.catalogue.own import PREFIXES, find_sklearn, metric_of
from evenhand.errors import CallError, either, nearest
from evenhand.measures.cells import cell_measures
from evenhand.measures.sklearn_functions import SKLEARN

__all__ = [
    "ABBREVIATIONS",
    "ALIASES",
    "METRICS",
    "Metric",
    "complement_of",
    "define",
    "find",
    "find_extreme",
    "full_name",
    "is_known",
]

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
    lending,
    search,
)

METRICS: dict[str, Metric] = {entry.name: entry for family in _FAMILIES for entry in family.ENTRIES}
"""Each metric by its name."""

ALIASES: dict[str, str] = {alias: entry.name for entry in METRICS.values() for alias in entry.aliases}
"""The metric that each alias stands for."""


@cache
def complement_of(name: str) -> str | None:
    """The metric of the core set that has the same gap, as its rate is 1 less the rate of this one; None for others.

    >>> complement_of("false_negative_rate_parity"), complement_of("equal_opportunity")
    ('equal_opportunity', None)
    """
    entry = METRICS.get(name)
    if entry is None or entry.core or entry.judged_on != "difference":
        return None
    own = cell_measures(entry.rows)
    for other in METRICS.values():
        rows = cell_measures(other.rows)
        alike = other.core and other.judged_on == "difference" and len(rows) == len(own) == len(entry.rows) == 1
        if alike and own[0].complements(rows[0]):
            return other.name
    return None


ABBREVIATIONS: dict[str, list[str]] = {}
"""The names or aliases that each abbreviation stands for: one, or several where people use it for several."""
for _entry in METRICS.values():
    for _short, _name in _entry.abbreviations.items():
        ABBREVIATIONS.setdefault(_short, []).append(_name)


def is_known(name: str) -> bool:
    """Is this a name, an alias or an abbreviation of the catalogue, however it is written?"""
    plain = _plain(name)
    return name in METRICS or name in ALIASES or plain in METRICS or plain in ALIASES or plain in ABBREVIATIONS


def _plain(name: str) -> str:
    return "_".join(name.casefold().replace("-", " ").split())


def full_name(name: str) -> str:
    """The name or alias of the catalogue that is meant: written otherwise, or abbreviated.

    >>> full_name("FPR"), full_name("spd"), full_name("Equalized odds")
    ('predictive_equality', 'statistical_parity_difference', 'equalized_odds')
    >>> full_name("eo")
    Traceback (most recent call last):
    evenhand.errors.CallError: 'eo' stands for several metrics: say 'equalized_odds' or 'equal_opportunity'.
    """
    if name in METRICS or name in ALIASES:
        return name
    plain = _plain(name)
    if plain in METRICS or plain in ALIASES:
        return plain
    meant = ABBREVIATIONS.get(plain, [])
    if len(meant) > 1:
        raise CallError(f"{name!r} stands for several metrics: say {either(map(repr, meant))}.")
    if not meant:
        raise CallError(f"{name!r} is not a metric; {nearest(name, [*METRICS, *ALIASES, *ABBREVIATIONS, *SKLEARN])}")
    return meant[0]


def find(name: str | Metric) -> tuple[Metric, dict[str, object]]:
    """A metric by its name, an alias or an abbreviation, and the arguments that the alias presets.

    A metric of your own is returned as it is, and a function of the rows is one. scikit-learn's functions have their
    own names, alone where no metric here has that name, or after "sklearn.". A measure with the ending "_group_min" or
    "_group_max" is its value in the group that has the least, or the most.

    >>> entry, presets = find("demographic_parity_ratio")
    >>> entry.name, presets
    ('demographic_parity', {'judged_on': 'ratio', 'threshold': 0.8})
    >>> find("thiel_index")
    Traceback (most recent call last):
    evenhand.errors.CallError: 'thiel_index' is not a metric; did you mean 'theil_index'?
    """
    if isinstance(name, Metric):
        return name, {}
    if callable(name):
        own = metric_of(name)
        if own.name in METRICS or own.name in ALIASES:
            raise CallError(
                f"the function {own.name} has the name of a metric of the catalogue: name the metric, as in "
                f"{own.name!r}, or give the function another name by evenhand.metric('other', measures=function)."
            )
        return own, {}
    if not isinstance(name, str):
        raise CallError(f"a metric is given by its name, as a Metric or as a function, not as {name!r}.")
    if name.startswith(PREFIXES) or not is_known(name):
        theirs = find_extreme(_plain(name)) or find_sklearn(name)
        if theirs is not None:
            return theirs, {}
    if name.startswith(PREFIXES):
        plain = name.rpartition(".")[2]
        raise CallError(f"{name!r} is not a metric function of scikit-learn; {nearest(plain, SKLEARN)}")
    meant = full_name(name)
    entry = METRICS[ALIASES.get(meant, meant)]
    return entry, dict(entry.aliases.get(meant, {}))
