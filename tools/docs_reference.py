"""A MkDocs hook for the reference: the list of names, the tables of functions, and a page for each command.

All of it is made from the library, so that nothing can be missing: docs/reference/ holds markers such as
<!-- public names -->, which are replaced here. tools/docs_catalogue.py does the same for the metrics.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from mkdocs.structure.files import File, Files

import evenhand
import evenhand.fairlearn
from evenhand.catalogue import METRICS
from evenhand.catalogue.metric import Metric
from evenhand.cli import help as cli_help
from evenhand.cli import program

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
DIRECTIVE = re.compile(r"^::: (evenhand\.[\w.]+)$", re.MULTILINE)
STABILITY = "label_stability_difference"  # the function that stands for all of its family


def on_config(config: MkDocsConfig) -> None:
    """Put the pages of the commands below their overview."""
    reference = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    overview = next(entry for entry in reference if entry == {"Command line": "reference/cli.md"})
    overview["Command line"] = ["reference/cli.md", *({name: address(name)} for name, _ in commands())]


def on_files(files: Files, config: MkDocsConfig) -> None:
    for name, command in commands():
        files.append(File.generated(config, address(name), content=page_of(name, command)))


def on_page_markdown(markdown: str, **_: Any) -> str:
    for marker, content in MADE.items():
        if f"<!-- {marker} -->" in markdown:
            markdown = markdown.replace(f"<!-- {marker} -->", content())
    return markdown


# --- names


def names() -> str:
    """Every name that stands on a page of the reference, with its first sentence."""
    found = sorted({name for page in REFERENCE.glob("*.md") for name in DIRECTIVE.findall(page.read_text("utf-8"))})
    rows = [f"| [`{name.removeprefix('evenhand.')}`][{name}] | {cell(first_sentence(thing(name)))} |" for name in found]
    return table("name", "what it is", rows)


def thing(path: str) -> Any:
    """What has this dotted name below the package."""
    value: Any = evenhand
    for part in path.split(".")[1:]:
        value = getattr(value, part)
    return value


def first_sentence(value: Any) -> str:
    paragraph = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    found = re.match(r".*?[.?](?= |$)", paragraph)
    return found[0] if found else paragraph


def metric_functions() -> str:
    """The function of each metric, its other names, and the arguments of its own."""
    rows = []
    for metric in METRICS.values():
        own = ", ".join(f"`{name}`" for name in own_arguments(metric))
        also = ", ".join(f"`{alias}`" for alias in metric.aliases)
        rows.append(f"| [`{metric.name}`](../metrics/{metric.name}.md) | {also} | {own} |")
    return table("function", "also called", "arguments of its own", rows)


def own_arguments(metric: Metric) -> list[str]:
    """The arguments that other metrics do not take."""
    shared = inspect.signature(evenhand.demographic_parity).parameters
    return [name for name in inspect.signature(getattr(evenhand, metric.name)).parameters if name not in shared]


def of_stability() -> str:
    rows = [
        f"| [`{metric.name}`](../metrics/{metric.name}.md) | {cell(metric.question)} |"
        for metric in METRICS.values()
        if metric.family == "stability" and metric.name != STABILITY
    ]
    return table("function", "question", rows)


def of_fairlearn() -> str:
    module = evenhand.fairlearn
    rows = []
    for name in module.__all__:
        if inspect.isfunction(getattr(module, name)) and f"evenhand.fairlearn.{name}" not in directives("fairlearn"):
            arguments = ", ".join(map(str, plain(getattr(module, name))))
            rows.append(f"| `{name}` | `{cell(arguments)}` |")
    return table("function", "arguments", rows)


def plain(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """The parameters of a function, without their types."""
    for each in inspect.signature(function).parameters.values():
        yield each.replace(annotation=each.empty)


def directives(name: str) -> list[str]:
    return DIRECTIVE.findall((REFERENCE / f"{name}.md").read_text(encoding="utf-8"))


# --- commands


def commands(group: click.Group = program, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command of the program with its name, those below a command after it."""
    context = context_of(group, before)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")


def context_of(command: click.Command, name: str) -> click.Context:
    return click.Context(command, info_name=f"evenhand {name}".strip(), **program.context_settings)


def address(name: str) -> str:
    return f"reference/cli/{name.replace(' ', '-')}.md"


def overview() -> str:
    rows = [
        f"| [`{name}`](cli/{Path(address(name)).name}) | {cell(command.get_short_help_str(200))} |"
        for name, command in commands()
    ]
    return table("command", "what it does", rows)


def page_of(name: str, command: click.Command) -> str:
    """The help of a command as a page."""
    context = context_of(command, name)
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"# evenhand {name}", f"`evenhand {name} {usage}`"]
    parts += [paragraph(" ".join(each.split())) for each in inspect.cleandoc(command.help or "").split("\n\n")]
    parts += [f"Example: `{example}`" for example in [cli_help.EXAMPLES.get(f"evenhand {name}")] if example]
    if isinstance(command, click.Group):
        below = [each for each, _ in commands(command, f"{name} ")]
        parts += ["## Commands", *(f"- [`evenhand {each}`]({Path(address(each)).name})" for each in below)]
    for heading, options in cli_help.grouped(command, context).items():
        parts += [f"## {heading}", "\n".join(f"`{option}`\n:   {text(what)}\n" for option, what in options)]
    return "\n\n".join(parts) + "\n"


def paragraph(words: str) -> str:
    """A paragraph of a help page; a command at its end is code."""
    said, colon, command = words.rpartition(": evenhand ")
    return f"{text(said)}: `evenhand {command}`" if colon else text(words)


def text(words: str) -> str:
    """Words of a help page, in which no sign means anything to Markdown."""
    return re.sub(r"([\\*_`\[\]|{}~])", r"\\\1", escape(words, quote=False))


def cell(words: str) -> str:
    return words.replace("|", "\\|")


def table(*parts: Any) -> str:
    """A table of Markdown: the heads of its columns, then its rows."""
    *heads, rows = parts
    return "\n".join(["| " + " | ".join(heads) + " |", "| --- " * len(heads) + "|", *rows])


MADE = {
    "public names": names,
    "metric functions": metric_functions,
    "functions of stability": of_stability,
    "functions of fairlearn": of_fairlearn,
    "commands": overview,
}
