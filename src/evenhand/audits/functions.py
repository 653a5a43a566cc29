"""A function for each metric of the catalogue, with a real signature and docstring; and for metrics of your own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evenhand import catalogue
from evenhand.catalogue import ALIASES, METRICS, Metric
from evenhand.core.results import Finding
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, nearest
from evenhand.measures.cells import RowMeasure
from evenhand.sources import roles
from evenhand.verdicts import comparison, finding, row_measures
from evenhand.verdicts.policy import options_of, request

MetricFunction = Callable[..., Finding]

_JUDGING = (
    "threshold",
    "reference",
    "convention",
    "judged_on",
    "min_group_size",
    "confidence",
    "interval",
    "draws",
    "random_state",
)


def parameters(entry: Metric) -> dict[str, Any]:
    """The keyword arguments of a metric's function with their defaults."""
    names = {**roles.DEFAULTS, **dict.fromkeys(_JUDGING)}
    if len(entry.measures) > 1 and not entry.binned:
        names["aggregate"] = None
    if entry.judged_on == "value":
        for name in ("reference", "convention", "judged_on"):
            del names[name]
    return {**names, **options_of(entry)}


def make(entry: Metric, name: str | None = None) -> MetricFunction:
    """The function of a metric, or of one of its aliases."""
    presets = dict(entry.aliases.get(name or "", {}))
    usual = presets.get("judged_on", entry.judged_on)
    known = parameters(entry)

    def function(data: Any = None, **arguments: Any) -> Finding:
        for key in arguments:
            if key not in known:
                raise CallError(f"{function.__name__}() takes no argument {key!r}; {nearest(key, known)}")
        judged = arguments.get("judged_on") or usual
        # A threshold is one of a difference or of a ratio: that of the alias holds only for what the alias judges.
        fitting = {key: value for key, value in presets.items() if key != "threshold" or judged == usual}
        return _evaluate(entry, data, {**fitting, **arguments})

    function.__name__ = function.__qualname__ = name or entry.name
    function.__module__ = "evenhand"
    function.__doc__ = document(entry, name)
    keywords = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default) for key, default in known.items()
    ]
    first = inspect.Parameter("data", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    function.__signature__ = inspect.Signature([first, *keywords], return_annotation=Finding)  # type: ignore[attr-defined]
    function.metric = entry  # type: ignore[attr-defined]
    return function


def metric(name: str, **definition: Any) -> MetricFunction:
    """A metric of your own: a function like those of the catalogue, which `audit(metrics=[...])` takes too.

    >>> from evenhand.measures.cells import measure
    >>> flagged = measure("wrongly_flagged_share", numerator="FP", denominator="TN FP FN TP")
    >>> wrongly_flagged = metric("wrongly_flagged_parity", measures=flagged, threshold=0.05)
    >>> found = wrongly_flagged(label=[0, 1, 0, 1], prediction=[1, 1, 0, 1], sensitive=["a", "a", "b", "b"])
    >>> found.value.value
    0.5
    """
    return make(catalogue.define(name, **definition))


def _evaluate(entry: Metric, data: Any, arguments: Mapping[str, Any]) -> Finding:
    data = row_measures.reusable(data)
    read = row_measures.reusable({name: value for name, value in arguments.items() if name in roles.DEFAULTS})
    asked = request(entry, **{name: value for name, value in arguments.items() if name not in roles.DEFAULTS})
    if isinstance(data, Cube):
        if any(value is not None for value in read.values()):
            raise CallError("a cube already knows its columns: leave out the arguments that name them.")
        cube = data
    else:
        cube = Cube.count(data, **read)
    reference = comparison.check_reference(asked.reference, cube.meaning.sensitive, cube.groups)
    asked = replace(asked, reference=reference)
    if any(isinstance(row, RowMeasure) for row in entry.rows):
        return row_measures.finding(asked, cube, data, read)
    return finding.finding(asked, cube)


def document(entry: Metric, name: str | None = None) -> str:
    """The docstring, from the entry's own words."""
    alias = f"\nAnother name for `{entry.name}`.\n" if name and name != entry.name else ""
    limit = "none" if entry.threshold is None else f"{entry.threshold:g} on the {entry.judged_on}"
    parts = {
        "Formula": entry.formula,
        "Compares": entry.compares,
        "When to use it": entry.when,
        "Assumes": entry.assumes,
        "Limits": entry.limits,
        "Sources": "\n".join(f"- {s}" for s in entry.sources),
        "See also": ", ".join(f"`{other}`" for other in entry.see_also),
    }
    body = "\n\n".join(f"**{title}**\n\n{text}" for title, text in parts.items() if text)
    return f"""{entry.title}: {entry.question or "a metric of your own"}
{alias}
Takes a table (or a path, a cube, or nothing) and the roles as keyword arguments: column names or arrays.
Returns a `Finding`. Default threshold: {limit}.

{body}
"""


FUNCTIONS: dict[str, MetricFunction] = {name: make(entry) for name, entry in METRICS.items() if entry.home is None}
FUNCTIONS |= {alias: make(METRICS[name], alias) for alias, name in ALIASES.items() if METRICS[name].home is None}
