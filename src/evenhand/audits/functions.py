"""The functions of the metrics that are computed from counts, made from their entries; also for metrics of your own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from evenhand import catalogue
from evenhand.catalogue import ALIASES, METRICS, Metric
from evenhand.core import frames
from evenhand.core.judging import JUDGING
from evenhand.core.results import OF_ONE_VALUE, Caller, Finding
from evenhand.cube import merge
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.sources import documentation, roles
from evenhand.sources.documentation import documented
from evenhand.sources.reader import DATA, SECOND, call_with
from evenhand.verdicts import comparison, row_measures
from evenhand.verdicts.finding import judge
from evenhand.verdicts.policy import misjudged
from evenhand.verdicts.request import make_request
from evenhand.verdicts.row_source import RowSource, reusable

MetricFunction = Callable[..., Finding]

_JUDGING = (
    *("threshold", "reference", "convention", "judged_on", "min_group_size"),
    *("confidence", "interval", "draws", "random_state"),
)


def parameters(entry: Metric) -> dict[str, Any]:
    """The keyword arguments of a metric's function with their defaults."""
    names = {**roles.DEFAULTS, **dict.fromkeys(_JUDGING)}
    if len(entry.measures) > 1 and not entry.binned:
        names["aggregate"] = None
    if entry.judged_on in OF_ONE_VALUE:
        kept = ("reference",) if entry.index is not None and entry.index.against_reference else ()
        for name in ("reference", "convention", "judged_on"):
            if name not in kept:
                del names[name]
    return {**names, **entry.options}


@cache
def _keyword(argument: str, default: Any) -> inspect.Parameter:
    """An argument of a metric's function; an option that only some metrics take has the type of its default."""
    if argument in roles.TYPES:
        kind = roles.shown_type(roles.TYPES[argument])
    else:
        kind = JUDGING[argument].type if argument in JUDGING else type(default).__name__
    return inspect.Parameter(argument, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def make(entry: Metric, name: str | None = None) -> MetricFunction:
    """The function of a metric, or of one of its aliases."""
    presets = dict(entry.aliases.get(name or "", {}))
    usual = presets.get("judged_on", entry.judged_on)
    known = parameters(entry)

    def function(*positional: Any, **named: Any) -> Finding:
        arguments = call_with(function, known, positional, named)
        data = arguments.pop("data", None)
        judged = arguments.get("judged_on")
        if judged is not None and not isinstance(judged, str):
            raise CallError(misjudged(entry, judged))
        judged = judged or usual
        # A threshold of a difference does not suit a ratio: the alias presets it only for what the alias judges.
        fitting = {key: value for key, value in presets.items() if key != "threshold" or judged == usual}
        return evaluate(entry, data, {**fitting, **arguments})

    function.__name__ = function.__qualname__ = name or entry.name
    function.__module__ = "evenhand"
    keywords = [_keyword(key, default) for key, default in known.items()]
    signature = inspect.Signature([DATA, SECOND, *keywords], return_annotation=Finding)
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = document(entry, name, signature, _example(entry, name or entry.name))
    function.metric = entry  # type: ignore[attr-defined]
    return function


@documented
def metric(name: str, **definition: Any) -> MetricFunction:
    """A function for a metric of your own, like those of the catalogue; `audit(metrics=[...])` takes it too.

    Parameters
    ----------
    name
        A plain identifier that no metric of the catalogue has, such as "lift_parity".
    **definition
        `measures`, one or several, by name or as `evenhand.measure` made them; `judged_on` ("difference" or "ratio"),
        `threshold`, `title` and `question`.

    Returns
    -------
    MetricFunction
        A function that takes the arguments of every metric and returns a `Finding`.

    >>> from evenhand.measures.cells import measure
    >>> flagged = measure("wrongly_flagged_share", numerator="FP", denominator="TN FP FN TP")
    >>> wrongly_flagged = metric("wrongly_flagged_parity", measures=flagged, threshold=0.05)
    >>> finding = wrongly_flagged(label=[0, 1, 0, 1], prediction=[1, 1, 0, 1], sensitive=["a", "a", "b", "b"])
    >>> finding.value.value
    0.5

    A function of the rows is a measure too: see `evenhand.measure` for what it takes and returns.

    >>> def profit(label, prediction, amount):
    ...     return float((prediction * (1.1 * label - 1) * amount).sum())
    >>> profit_parity = metric("profit_parity", measures=profit, columns={"amount": [10, 20, 10, 40]}, threshold=1)
    >>> finding = profit_parity(label=[0, 1, 0, 1], prediction=[1, 1, 0, 1], sensitive=["a", "a", "b", "b"], draws=0)
    >>> round(finding.value.value, 6)
    12.0
    """
    made = catalogue.define(name, **definition)
    if name in METRICS or name in ALIASES:
        raise CallError(
            f"{name!r} is a metric of the catalogue: give your own another name, so that nobody mistakes it."
        )
    return make(made)


def evaluate(entry: Metric, data: Any, arguments: Mapping[str, Any]) -> Finding:
    """The finding of a metric on data; `arguments` are those of a reader and those of `make_request`."""
    data = reusable(data)
    read = reusable({name: value for name, value in arguments.items() if name in roles.DEFAULTS})
    request = make_request(entry, **{name: value for name, value in arguments.items() if name not in roles.DEFAULTS})
    known = merge.counted(data, read)
    rows = RowSource(data, read, [entry])
    cube = Cube.count(data, **rows.counted) if known is None else known
    caller = Caller(frames.kind_of(data), cube.kinds)
    reference = comparison.reference_in(request.reference, cube)
    request = replace(request, reference=reference)
    if any(row.made_of == "rows" for row in entry.rows):
        if known is not None:
            raise CallError(f"{entry.name} needs the rows; a cube does not keep them.")
        return replace(row_measures.finding(request, cube, rows), caller=caller)
    return replace(judge(request, cube), caller=caller)


def document(entry: Metric, name: str | None, signature: inspect.Signature, example: str) -> str:
    """The docstring of a metric's function, from the texts of its entry and the record of arguments."""
    limit = "none" if entry.threshold is None else f"{entry.threshold:g} on the {entry.judged_on}"
    beginning = [
        f"{entry.title}: {entry.question or 'a metric of your own'}",
        f"Another name for `{entry.name}`." if name and name != entry.name else "",
        documentation.filled(entry.compares),
        f"Default threshold: {limit}.",
    ]
    notes = {
        "Formula": entry.formula,
        "When to use it": entry.when,
        "Assumes": entry.assumes,
        "Limits": entry.limits,
    }
    sections = {
        "Parameters": documentation.shared_parameters(signature),
        "Returns": documentation.returned("Finding"),
        "Raises": documentation.raised(),
        "See Also": ", ".join(entry.see_also),
        "Notes": "\n\n".join(documentation.filled(f"{title}: {text}") for title, text in notes.items() if text),
        "References": documentation.references(entry.sources),
        "Examples": example,
    }
    return documentation.text("\n\n".join(part for part in beginning if part), sections)


def _example(entry: Metric, name: str) -> str:
    """A call of the function, with what can be said of the result whatever the numbers are."""
    if entry.family == "own":
        return ""
    arguments = "people, label='recidivated', score='decile', cutoff=5, count='count', sensitive='race'"
    setting = "people = eh.datasets.compas()"
    if entry.tasks == {"regression"}:
        setting, arguments = "wage, offer = [11.5, 12.2, 19.8, 20.3], [12.1, 12.9, 20.4, 19.2]", "wage, offer"
        arguments += ", sensitive=['north', 'north', 'south', 'south'], task='regression'"
    elif entry.probability:
        arguments = "people, label='recidivated', score=people['decile'] / 10, count='count', sensitive='race'"
    attribute = "sensitive" if entry.tasks == {"regression"} else "race"
    lines = [
        ">>> import evenhand as eh",
        f">>> {setting}",
        f">>> finding = eh.{name}({arguments})",
        ">>> finding.metric, finding.attributes",
        f"({entry.name!r}, ({attribute!r},))",
    ]
    return "\n".join(lines)


FUNCTIONS: dict[str, MetricFunction] = {name: make(entry) for name, entry in METRICS.items() if entry.counted}
FUNCTIONS |= {alias: make(METRICS[name], alias) for alias, name in ALIASES.items() if METRICS[name].counted}
