"""The function of every metric of the catalogue, by its name and by each of its aliases.

>>> from evenhand import metrics
>>> finding = metrics.equal_opportunity([1, 1, 0, 1], [1, 0, 0, 1], sensitive=["a", "a", "b", "b"])
>>> float(finding)
0.5
>>> "demographic_parity_difference" in dir(metrics)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from evenhand.catalogue import ABBREVIATIONS, ALIASES, METRICS
from evenhand.core.familiar import missing_name

_HOMES = {
    "individual": "evenhand.individual.consistency",
    "counterfactual": "evenhand.counterfactual.fairness",
    "stability": "evenhand.replicas.functions",
}
"""Where the functions of a family are that are not computed from counts."""


def names() -> list[str]:
    """The names of all metrics, and their aliases."""
    return [*METRICS, *ALIASES]


def __getattr__(name: str) -> Any:
    """The function of a metric."""
    if name == "__all__":
        return sorted(names())
    entry = METRICS.get(ALIASES.get(name, name))
    if entry is None:
        remedy = missing_name(name, ABBREVIATIONS, names())
        raise AttributeError(f"module 'evenhand.metrics' has no attribute {name!r}; {remedy}")
    if name == "correspondence":
        return import_module("evenhand.counterfactual.correspondence").correspondence
    home = import_module(_HOMES.get(entry.family, "evenhand.audits.functions"))
    return home.FUNCTIONS[name] if hasattr(home, "FUNCTIONS") else getattr(home, name)


def __dir__() -> list[str]:
    return sorted(names())
