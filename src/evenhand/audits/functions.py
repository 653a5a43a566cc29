"""The functions of the metrics that are computed from counts, made from their entries; also for metrics of your own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evenhand import catalogue
from evenhand.catalogue import ALIASES, METRICS, Metric
from evenhand.core.results import Finding
from evenhand.cube import merge
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, nearest
from evenhand.sources import roles
from evenhand.verdicts import comparison, row_measures
from evenhand.verdicts.finding import judge
from evenhand.verdicts.policy import misjudged
from evenhand.verdicts.request import make_request

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
    return {**names, **entry.options}


def make(entry: Metric, name: str | None = None) -> MetricFunction:
    """The function of a metric, or of one of its aliases."""
    presets = dict(entry.aliases.get(name or "", {}))
    usual = presets.get("judged_on", entry.judged_on)
    known = parameters(entry)

    def function(data: Any = None, **arguments: Any) -> Finding:
        for argument in arguments:
            if argument not in known:
                raise CallError(f"{function.__name__}() takes no argument {argument!r}; {nearest(argument, known)}")
        judged = arguments.get("judged_on")
        if judged is not None and not isinstance(judged, str):
            raise CallError(misjudged(entry, judged))
        judged = judged or usual
        # A threshold of a difference does not suit a ratio: the alias presets it only for what the alias judges.
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
    """A function for a metric of your own, like those of the catalogue; `audit(metrics=[...])` takes it too.

    >>> from evenhand.measures.cells import measure
    >>> flagged = measure("wrongly_flagged_share", numerator="FP", denominator="TN FP FN TP")
    >>> wrongly_flagged = metric("wrongly_flagged_parity", measures=flagged, threshold=0.05)
    >>> finding = wrongly_flagged(label=[0, 1, 0, 1], prediction=[1, 1, 0, 1], sensitive=["a", "a", "b", "b"])
    >>> finding.value.value
    0.5
    """
    made = catalogue.define(name, **definition)
    if name in METRICS or name in ALIASES:
        raise CallError(
            f"{name!r} is a metric of the catalogue: give your own another name, so that nobody mistakes it."
        )
    return make(made)


def _evaluate(entry: Metric, data: Any, arguments: Mapping[str, Any]) -> Finding:
    data = row_measures.reusable(data)
    read = row_measures.reusable({name: value for name, value in arguments.items() if name in roles.DEFAULTS})
    request = make_request(entry, **{name: value for name, value in arguments.items() if name not in roles.DEFAULTS})
    known = merge.counted(data, read)
    cube = Cube.count(data, **read) if known is None else known
    reference = comparison.check_reference(request.reference, cube.meaning.sensitive, cube.groups)
    request = replace(request, reference=reference)
    if any(row.made_of == "rows" for row in entry.rows):
        if known is not None:
            raise CallError(f"{entry.name} needs the rows; a cube does not keep them.")
        return row_measures.finding(request, cube, data, read)
    return judge(request, cube)


_TAKES = "Takes a table (or a path, a cube, or nothing) and the roles as keyword arguments: column names or arrays."


def document(entry: Metric, name: str | None = None, *, takes: str = _TAKES) -> str:
    """The docstring of a metric's function, from the texts of its entry; `takes` says which arguments it has."""
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
{takes}
Returns a `Finding`. Default threshold: {limit}.

{body}
"""


FUNCTIONS: dict[str, MetricFunction] = {name: make(entry) for name, entry in METRICS.items() if entry.counted}
FUNCTIONS |= {alias: make(METRICS[name], alias) for alias, name in ALIASES.items() if METRICS[name].counted}
