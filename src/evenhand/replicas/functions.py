"""A function for each stability metric of the catalogue: `stability` of one metric, as a finding on all attributes."""

from __future__ import annotations

import inspect
from typing import Any

from evenhand.audits.functions import MetricFunction, document
from evenhand.catalogue import Metric
from evenhand.core.familiar import in_our_words
from evenhand.core.results import Finding
from evenhand.replicas.findings import STABILITY
from evenhand.replicas.stability import stability

_SET_HERE = ("metrics", "intersections")
"""The arguments of `stability` that a function of one metric sets itself."""

_SIGNATURE = inspect.signature(stability)
_PARAMETERS = {name: each for name, each in _SIGNATURE.parameters.items() if name not in _SET_HERE}


_EXAMPLE = """\
>>> import numpy as np
>>> import evenhand as eh
>>> replicas = np.random.default_rng(0).uniform(0.2, 0.9, (20, 6))
>>> finding = eh.{name}(replicas, label=[1, 0, 1, 0, 1, 0], sensitive=["a", "a", "a", "b", "b", "b"])
>>> finding.metric
'{metric}'"""


def make(entry: Metric, name: str) -> MetricFunction:
    """The function of a stability metric, or of one of its aliases."""

    def function(replicas: Any, **arguments: Any) -> Finding:
        settings = in_our_words(name, arguments, _PARAMETERS)
        result = stability(replicas, metrics=[name], intersections=True, **settings)
        return result.finding(entry.name, result.cube.meaning.sensitive)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "evenhand"
    signature = _SIGNATURE.replace(parameters=list(_PARAMETERS.values()), return_annotation=Finding)
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = document(entry, name, signature, _EXAMPLE.format(name=name, metric=entry.name))
    return function


FUNCTIONS: dict[str, MetricFunction] = {
    name: make(entry, name) for entry in STABILITY.values() for name in (entry.name, *entry.aliases)
}
"""The functions by their names."""
