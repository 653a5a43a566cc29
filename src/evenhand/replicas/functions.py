"""A function for each stability metric of the catalogue: `stability` of one metric, as a finding on all attributes."""

from __future__ import annotations

import inspect
from typing import Any

from evenhand.audits.functions import MetricFunction, document
from evenhand.catalogue import Metric
from evenhand.core.results import Finding
from evenhand.errors import CallError, nearest
from evenhand.replicas.findings import STABILITY
from evenhand.replicas.stability import stability

_SET_HERE = ("metrics", "intersections")
"""The arguments of `stability` that a function of one metric sets itself."""

_SIGNATURE = inspect.signature(stability)
_PARAMETERS = {name: each for name, each in _SIGNATURE.parameters.items() if name not in _SET_HERE}


def make(entry: Metric, name: str) -> MetricFunction:
    """The function of a stability metric, or of one of its aliases."""

    def function(replicas: Any, **arguments: Any) -> Finding:
        for argument in arguments:
            if argument not in _PARAMETERS:
                raise CallError(f"{name}() takes no argument {argument!r}; {nearest(argument, _PARAMETERS)}")
        result = stability(replicas, metrics=[name], intersections=True, **arguments)
        return result.finding(entry.name, result.cube.meaning.sensitive)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "evenhand"
    function.__doc__ = document(
        entry, name, takes="Takes replicas of a model as `evenhand.stability` does, with the same arguments."
    )
    function.__signature__ = _SIGNATURE.replace(  # type: ignore[attr-defined]
        parameters=list(_PARAMETERS.values()), return_annotation=Finding
    )
    return function


FUNCTIONS: dict[str, MetricFunction] = {
    name: make(entry, name) for entry in STABILITY.values() for name in (entry.name, *entry.aliases)
}
"""The functions by their names."""
