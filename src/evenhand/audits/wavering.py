"""A function for each metric of replicas: the gap in one dimension, as a finding on all attributes together."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from evenhand.audits.functions import document
from evenhand.catalogue import find
from evenhand.core.results import Finding
from evenhand.errors import CallError, nearest
from evenhand.replicas.stability import stability

_SIGNATURE = inspect.signature(stability)
_OURS = ("metrics", "intersections")


def _function(name: str) -> Callable[..., Finding]:
    """`stability` of one metric, or of an alias that judges it otherwise."""
    entry, _ = find(name)
    parameters = [part for key, part in _SIGNATURE.parameters.items() if key not in _OURS]
    known = {part.name for part in parameters}

    def function(replicas: Any, **arguments: Any) -> Finding:
        for given in arguments:
            if given not in known:
                raise CallError(f"{name}() takes no argument {given!r}; {nearest(given, known)}")
        found = stability(replicas, metrics=[name], intersections=True, **arguments)
        return found.finding(entry.name, found.cube.meaning.sensitive)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = document(entry, name).replace(
        "Takes a table (or a path, a cube, or nothing) and the roles as keyword arguments: column names or arrays.",
        "Takes replicas of a model as `evenhand.stability` does, with the same arguments.",
    )
    function.__signature__ = _SIGNATURE.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=Finding
    )
    return function


label_stability_difference = _function("label_stability_difference")
label_stability_ratio = _function("label_stability_ratio")
jitter_difference = _function("jitter_difference")
jitter_ratio = _function("jitter_ratio")
std_difference = _function("std_difference")
std_ratio = _function("std_ratio")
iqr_difference = _function("iqr_difference")
iqr_ratio = _function("iqr_ratio")
mean_probability_difference = _function("mean_probability_difference")
mean_probability_ratio = _function("mean_probability_ratio")
statistical_bias_difference = _function("statistical_bias_difference")
statistical_bias_ratio = _function("statistical_bias_ratio")
overall_uncertainty_difference = _function("overall_uncertainty_difference")
overall_uncertainty_ratio = _function("overall_uncertainty_ratio")
aleatoric_uncertainty_difference = _function("aleatoric_uncertainty_difference")
aleatoric_uncertainty_ratio = _function("aleatoric_uncertainty_ratio")
epistemic_uncertainty_difference = _function("epistemic_uncertainty_difference")
epistemic_uncertainty_ratio = _function("epistemic_uncertainty_ratio")
epistemic_variance_difference = _function("epistemic_variance_difference")
epistemic_variance_ratio = _function("epistemic_variance_ratio")
