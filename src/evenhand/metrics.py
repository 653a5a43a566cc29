"""The function of every metric of the catalogue, by its name and by each of its aliases.

>>> from evenhand import metrics
>>> finding = metrics.equal_opportunity([1, 1, 0, 1], [1, 0, 0, 1], sensitive=["a", "a", "b", "b"])
>>> float(finding)
0.5
>>> "demographic_parity_difference" in dir(metrics)
True
>>> worst = metrics.accuracy_group_min([1, 1, 0, 1], [1, 0, 0, 1], sensitive=["a", "a", "b", "b"])
>>> float(worst), worst.evidence.group
(0.5, ('a',))
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from evenhand.catalogue import ABBREVIATIONS, ALIASES, METRICS, find_extreme
from evenhand.core.familiar import missing_name

_HOMES = {
    "individual": "evenhand.individual.consistency",
    "counterfactual": "evenhand.counterfactual.fairness",
    "stability": "evenhand.replicas.functions",
    "search": "evenhand.subgroups.search",
}
"""Where the functions of a family are that are not computed from counts."""

_ALONE = {
    "correspondence": "counterfactual.correspondence",
    "explain": "audits.composition",
    "proxies": "audits.proxy_columns",
    "representation": "audits.representation",
}
"""Metrics whose function is in another module than that of their family."""


def names() -> list[str]:
    """The names of all metrics, and their aliases."""
    return [*METRICS, *ALIASES]


def __getattr__(name: str) -> Any:
    """The function of a metric."""
    if name == "__all__":
        return sorted(names())
    entry = METRICS.get(ALIASES.get(name, name))
    extreme = find_extreme(name) if entry is None else None
    if extreme is not None:
        return import_module("evenhand.audits.functions").make(extreme)
    if entry is None:
        remedy = missing_name(name, ABBREVIATIONS, names())
        raise AttributeError(f"module 'evenhand.metrics' has no attribute {name!r}; {remedy}")
    if name in _ALONE:
        return getattr(import_module(f"evenhand.{_ALONE[name]}"), name)
    home = import_module(_HOMES.get(entry.family, "evenhand.audits.functions"))
    return home.FUNCTIONS[name] if hasattr(home, "FUNCTIONS") else getattr(home, name)


def __dir__() -> list[str]:
    return sorted(names())
