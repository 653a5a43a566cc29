"""evenhand metrics: the catalogue, or one metric in full."""

from __future__ import annotations

import itertools
import shutil

import click

from evenhand import catalogue
from evenhand.catalogue import METRICS, Metric
from evenhand.cli import Ending, echo
from evenhand.cli.command import Command


@click.command("metrics", cls=Command)
@click.argument("name", required=False)
def command(name: str | None) -> Ending:
    """List the metrics of the catalogue; with NAME (or an alias, or short as in fpr), explain one in full."""
    echo(overview() if name is None else explain(catalogue.find(name)[0]))
    return "done"


def overview() -> str:
    """Every metric with the question it asks, by family."""
    width = max(len(name) for name in METRICS)
    lines = []
    for family, entries in itertools.groupby(METRICS.values(), key=lambda entry: entry.family):
        lines += ["", family, *(f"  {entry.name:<{width}}  {entry.question}" for entry in entries)]
    return "\n".join([*lines[1:], "", "evenhand metrics NAME explains one."])


def explain(entry: Metric) -> str:
    """One entry in full, wrapped for a terminal."""
    limit = "none" if entry.threshold is None else f"{entry.threshold:g} on the {entry.judged_on}"
    parts = {
        "formula": entry.formula,
        "compares": entry.compares,
        "when": entry.when,
        "assumes": entry.assumes,
        "harm": ", ".join(entry.harm),
        "limits": entry.limits,
        "threshold": limit,
        "needs": ", ".join(sorted(entry.needs)),
        "aliases": ", ".join(entry.aliases) or "none",
        "abbreviations": ", ".join(entry.abbreviations) or "none",
        "see also": ", ".join(entry.see_also),
        "sources": "\n\n".join(entry.sources),
    }
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    body = "\n".join(
        click.wrap_text(f"{title}: {text}", width, subsequent_indent="  ", preserve_paragraphs=True)
        for title, text in parts.items()
    )
    return f"{entry.name}: {entry.title}\n{entry.question}\n\n{body}"
