"""Metrics that nobody has defined before the call: a function of the rows by itself, and scikit-learn's by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from evenhand.catalogue.metric import Metric
from evenhand.errors import CallError, MissingDependencyError
from evenhand.measures.sklearn_functions import SKLEARN, measure_of, sklearn_name

PREFIXES = ("sklearn.metrics.", "sklearn.")


def metric_of(function: Callable[..., Any]) -> Metric:
    """A function of the rows as a metric of its own, which is named like the function.

    Of a function that nobody has set a limit for, no gap is too large: it is shown, and not judged.
    """
    if isinstance(function, type):
        raise CallError(f"a metric is given by its name, as a Metric or as a function, not as the class {function!r}.")
    measure, known = measure_of(function), sklearn_name(function)
    threshold = None if known is None else SKLEARN[known][2]
    return Metric(measure.name, measure.title, "own", (measure,), threshold=threshold)


@cache
def find_sklearn(name: str) -> Metric | None:
    """The metric of a function of scikit-learn, by its name alone or after "sklearn."; None where it has none."""
    plain = next((name.removeprefix(prefix) for prefix in PREFIXES if name.startswith(prefix)), name)
    if plain not in SKLEARN:
        return None
    try:
        module = import_module("sklearn.metrics")
    except ImportError:
        raise MissingDependencyError(
            f"{plain} is a function of scikit-learn, which is not installed: pip install scikit-learn"
        ) from None
    if not hasattr(module, plain):
        raise CallError(f"this version of scikit-learn does not have {plain}: update it, or name another metric.")
    return metric_of(getattr(module, plain))
