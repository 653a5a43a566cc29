"""A MkDocs hook that writes the pages of the metrics, and the lists of metrics and of familiar names.

The pages are made in memory from `evenhand.catalogue.METRICS`, so that they cannot differ from what the code
does. On the written pages, <!-- table of metrics --> and <!-- familiar names --> are replaced by those lists.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import griffe
from mkdocs.structure.files import File, Files

import evenhand
from docs_reference import REFERENCE, own_arguments
from evenhand.catalogue import ALIASES, METRICS
from evenhand.catalogue.metric import Metric
from evenhand.core.familiar import OURS, also_called

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

FAMILIES = {
    "independence": "Does the decision depend on the group? No label is needed.",
    "separation": "Among people with the same outcome, does the decision depend on the group?",
    "sufficiency": "Among people with the same decision or score, does the outcome depend on the group?",
    "accuracy": "Is the model right equally often for each group?",
    "inequality": "How unevenly is the benefit spread over all people?",
    "scores": "Before any cutoff: means, calibration and ranking of the score itself.",
    "distances": "How far apart the score distributions and ROC curves of groups lie.",
    "dependence": "How strongly the decision depends on a group, or on a quantity such as age.",
    "regression": "The prediction is a number: a wage, a price, a length of stay.",
    "individual": "Are people who are alike treated alike? From features and a distance between people.",
    "counterfactual": "Would the prediction for the same person differ in another group? Needs a graph of causes.",
    "stability": "Do predictions vary more for some groups than for others? From many replicas of a model.",
    "data": "Do the groups differ before any decision is made?",
    "search": "Is there a group that nobody looked at? Every combination of values is one.",
    "lending": "What lenders and insurers ask for: standardised gaps, every cutoff at once, claims that come true.",
}
PASSES = {
    "difference": "a difference of at most {}",
    "ratio": "a ratio of at least {}",
    "value": "a value of at most {}",
}

EXAMPLE = """\
On the COMPAS counts that ship with the package. A score of 5 or more counts as the prediction that a person
will be charged again.

```python exec
import evenhand as eh

finding = eh.NAME(
    eh.datasets.compas(), label="recidivated", score="decile", cutoff=5, count="count", sensitive="race"
)
print(finding)
finding
```
"""

AS_PROBABILITY = """\
On the COMPAS counts that ship with the package, with a tenth of the decile taken as if it were a probability, which
it was not made to be.

```python exec
import evenhand as eh

people = eh.datasets.compas()
finding = eh.NAME(people, label="recidivated", score=people["decile"] / 10, count="count", sensitive="race")
print(finding)
finding
```
"""

OF_A_NUMBER = """\
On made-up wages of three regions, of which one is predicted too low.

```python exec
import numpy as np
import evenhand as eh

rng = np.random.default_rng(0)
region = rng.choice(["north", "south", "west"], 4_000)
wage = rng.normal(20, 4, 4_000)
predicted = 8 + 0.6 * wage + rng.normal(0, 2, 4_000) - 1.2 * (region == "west")

finding = eh.NAME(label=wage, prediction=predicted, sensitive={"region": region}, task="regression")
print(finding)
finding
```
"""


def on_config(config: MkDocsConfig) -> None:
    """Put the pages of the metrics below the overview that mkdocs.yml names."""
    section = next(entry["Metrics"] for entry in config.nav if "Metrics" in entry)
    section[1:] = [
        {family.capitalize(): [{capital(metric.title): f"metrics/{metric.name}.md"} for metric in metrics]}
        for family, metrics in by_family()
    ]


def on_files(files: Files, config: MkDocsConfig) -> None:
    for metric in METRICS.values():
        files.append(File.generated(config, f"metrics/{metric.name}.md", content=page_of(metric)))


def on_page_markdown(markdown: str, **_: Any) -> str:
    for place, content in (("table of metrics", table), ("familiar names", familiar)):
        marker = f"<!-- {place} -->"
        if marker in markdown:
            markdown = markdown.replace(marker, content())
    return markdown


def page_of(metric: Metric) -> str:
    sections = {
        "Definition": f"`{metric.formula}`\n\n{metric.compares}",
        "Arguments": arguments(metric),
        "When to use it": metric.when,
        "What it assumes": metric.assumes,
        "What it cannot see": metric.limits,
        "Sources": "\n".join(f"- {source}" for source in metric.sources),
        "See also": "\n".join(f"- {link(name)}" for name in metric.see_also),
        "Example": example(metric),
    }
    text = "\n\n".join(f"## {heading}\n\n{body}" for heading, body in sections.items() if body)
    return f"# {capital(metric.title)}\n\n**{metric.question}**\n\n{facts(metric)}\n\n{text}\n"


def arguments(metric: Metric) -> str:
    """What its function takes beyond the arguments of all metrics, or where on the reference it is described."""
    function = f"evenhand.{metric.name}"
    for page in sorted(REFERENCE.glob("*.md")):
        if f"::: {function}\n" in page.read_text(encoding="utf-8"):
            return f"They stand in the reference: [`{function}`][{function}]."
    own = own_arguments(metric)
    said = "".join(f"- `{name}`: {text}\n" for name, text in described(getattr(evenhand, metric.name)) if name in own)
    rest = "All other arguments" if said else "The arguments"
    return f"{said}\n{rest} are [those of every metric](../reference/metrics.md#the-arguments-of-all)."


def described(function: Any) -> Iterator[tuple[str, str]]:
    """The parameters of a function with what its docstring says of each."""
    for section in griffe.Docstring(inspect.getdoc(function) or "", parser="numpy").parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            yield from ((each.name, each.description) for each in section.value)


def facts(metric: Metric) -> str:
    measures = ", ".join(f"`{row.name}`" for row in metric.rows)
    threshold = "none: it is shown and not judged, unless `threshold=` is given"
    if metric.threshold is not None:
        threshold = PASSES[metric.judged_on].format(f"{metric.threshold:g}")
    lines = {
        "Also called": ", ".join(map(alias, metric.aliases.items())),
        "Abbreviated": ", ".join(f"`{short}`" for short in metric.abbreviations),
        "Family": metric.family,
        "Needs": ", ".join(f"`{role}`" for role in sorted(metric.needs)),
        "Measures": measures,
        "Passes by default": threshold,
        "Harm it can show": ", ".join(metric.harm),
    }
    rows = [f"| {key} | {cell(value)} |" for key, value in lines.items() if value]
    return "\n".join([f"| Function | `evenhand.{metric.name}` |", "| --- | --- |", *rows])


def alias(item: tuple[str, Any]) -> str:
    name, presets = item
    preset = ", ".join(f"{key}={value!r}" for key, value in presets.items())
    return f"`{name}`" + (f" ({preset})" if preset else "")


def example(metric: Metric) -> str:
    if metric.example:
        return f"```python exec\n{metric.example.strip()}\n```\n"
    if metric.tasks == {"regression"}:
        return OF_A_NUMBER.replace("NAME", metric.name)
    return (AS_PROBABILITY if metric.probability else EXAMPLE).replace("NAME", metric.name)


def link(name: str) -> str:
    """A link to the page of a metric or of the metric whose alias it is; else only the name."""
    metric = METRICS.get(ALIASES.get(name, name))
    return f"[{capital(metric.title)}]({metric.name}.md): {metric.question}" if metric else f"`{name}`"


def table() -> str:
    parts = []
    for family, metrics in by_family():
        parts += [f"## {family.capitalize()}", FAMILIES.get(family, "")]
        rows = [
            f"| [{capital(metric.title)}]({metric.name}.md) | {cell(metric.question)} "
            f"| {', '.join(f'`{role}`' for role in sorted(metric.needs))} |"
            for metric in metrics
        ]
        parts.append("\n".join(["| metric | question | needs |", "| --- | --- | --- |", *rows]))
    return "\n\n".join(part for part in parts if part)


def familiar() -> str:
    """What other tools call our arguments."""
    called = also_called(set(OURS.values()))
    rows = [f"| `{word}` | {', '.join(f'`{name}`' for name in names)} |" for word, names in called.items()]
    return "\n".join(["| argument | also accepted as |", "| --- | --- |", *rows])


def by_family() -> list[tuple[str, list[Metric]]]:
    order = list(FAMILIES)
    ranked = sorted(METRICS.values(), key=lambda metric: order.index(metric.family))
    return [(family, list(metrics)) for family, metrics in groupby(ranked, key=lambda metric: metric.family)]


def capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def cell(text: str) -> str:
    return text.replace("|", "\\|")
