"""How commands write an audit: a rich table on a terminal, plain text in a pipe, JSON when asked; and into files."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import echo, write
from evenhand.cli.arguments import Call
from evenhand.cli.targets import AUDIT
from evenhand.core.results import Panel, Verdict
from evenhand.cube.privacy import LEAST
from evenhand.errors import CallError, either
from evenhand.report import WITH_APPENDIX, WITH_CUBE, WITH_GROUPS

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.audit import Audit

force_option = click.option(
    "--force", is_flag=True, help="Replace a file of another kind where an output is to be written."
)


def output_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where the audit is saved. `Command` checks the paths before the command starts."""
    return click.option(
        "-o",
        "--output",
        multiple=True,
        type=AUDIT,
        help="Save the audit: .html, .json, .md (Markdown), .pdf or .xml (JUnit); may be repeated.",
    )(force_option(command))


def counts_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which counts are saved with an audit, and whether paper ends with every number."""
    command = click.option(
        "--appendix",
        is_flag=True,
        help="Let a page that is printed, and a PDF, end with every number and the metrics in plain words.",
    )(command)
    command = click.option(
        "--smallest-cell",
        type=click.IntRange(min=1),
        default=LEAST,
        show_default=True,
        help="With --share, let no count tell of fewer people than this.",
    )(command)
    command = click.option(
        "--share",
        is_flag=True,
        help="Make what is saved and shown fit to be shared: without groups of whom a count would tell of few people.",
    )(command)
    return click.option(
        "--no-cube",
        is_flag=True,
        help="Save results only, without the counts that other cutoffs need.",
    )(command)


def verbose_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Whether all of an audit is printed, and not only what a person must know."""
    return click.option("-v", "--verbose", is_flag=True, help="Print every finding and every note.")(command)


def heading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The words of the caller above an audit."""
    command = click.option("--note", help="Show a sentence of your own below the title, and save it.")(command)
    return click.option("--title", help="Show this title above the audit, and save it.")(command)


def heading(options: dict[str, Any]) -> dict[str, Any]:
    """What `heading_options` were given, for the cover."""
    return {"title": options["title"], "note": options["note"]}


def made_here(
    audit: Audit, data: Sequence[str], *, settings: str | None = None, cover: Mapping[str, Any] | None = None
) -> Audit:
    """The audit with its origin: the command that made it, the names of its data, and what else is known."""
    command = ["evenhand", *click.get_current_context().ensure_object(Call).shown]
    named = ", ".join(Path(name).name if name != "-" else "standard input" for name in data)
    known = {} if settings is None else {"settings": settings}
    return replace(
        audit,
        policy=replace(audit.policy, cover=audit.cover.updated(**(cover or {}))),
        origin={**audit.origin, "command": shlex.join(command), "source": named, **known},
    )


def show(audit: Audit, *, as_json: bool, output: Sequence[Path], quiet: bool, **counts: Any) -> Verdict:
    """Save and print the audit as the options say; its verdict.

    With `as_tables` the tables of the findings are printed. Files that hold the full counts are said to, once and on
    standard error, unless the command is to print nothing.
    """
    silent = counts.pop("silent", quiet)
    verbose, as_tables = counts.pop("verbose", False), counts.pop("as_tables", False)
    verdict = audit.verdict  # of everyone, also where what is shown leaves groups out
    least = counts.get("smallest_cell", LEAST)
    if counts.get("share"):
        audit = audit.shared(least)
    elif least != LEAST:
        raise CallError("--smallest-cell is for a file to share: add --share.")
    embed_cube = not counts.get("no_cube", False)
    if not embed_cube and not as_json and not any(path.suffix in WITH_CUBE for path in output):
        raise CallError(f"--no-cube is for what carries the counts: add --json, or -o with {either(WITH_CUBE)}.")
    appendix = counts.get("appendix", False)
    if appendix and not any(path.suffix in WITH_APPENDIX for path in output):
        raise CallError(f"--appendix is for what is printed: add -o with {either(WITH_APPENDIX)}.")
    for path in output:
        audit.save(path, embed_cube=embed_cube, appendix=appendix)
    suffixes = {path.suffix for path in output} if audit.sharing is None else set()
    if not suffixes.isdisjoint(WITH_GROUPS) and not silent:
        held = "the results" if not embed_cube or suffixes.isdisjoint(WITH_CUBE) else "the full counts and results"
        echo(f"Saved for yourself: with {held}, of small groups too. To make a file to share, add --share.", err=True)
    if as_json:
        from evenhand.report import json

        put(lambda: json.dumps(audit, embed_cube=embed_cube))
    elif not quiet:
        from evenhand.report.text import audit as short

        text: Any = short
        if as_tables:
            from evenhand.report.text import practice

            text = practice
        elif verbose:
            from evenhand.report.text import details

            text = details
        put(lambda: text.plain(audit) + "\n", lambda console: text.write(audit, console))
    return verdict


def put(plain: Callable[[], str], rich: Callable[[Console], Any] | None = None) -> None:
    """Write to standard output: with colours on a terminal that shows them, else as plain text.

    The text is made first, so that an error while it is made is not taken for a reader who has left.
    """
    if sys.stdout is None:
        return
    if rich is None or not sys.stdout.isatty():
        write(plain())
        return
    from rich.console import Console

    console = Console(highlight=False, emoji=False, no_color=bool(os.environ.get("NO_COLOR")) or None)
    with console.capture() as page:
        rich(console)
    write(page.get())


def show_panel(panel: Panel) -> None:
    """Print the table of a panel below the audit."""
    from evenhand.core.wording import clip
    from evenhand.report.text import plain_text, say
    from evenhand.report.text.columns import Columns

    def cell(value: object) -> str:
        return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)

    def lines(console: Console) -> None:
        say(console, (f"\n{panel.title}", "bold"))
        table = Columns(console, *(clip(name, 24) for name in panel.columns))
        for row in panel.rows:
            table.add([clip(cell(value), 24) for value in row])
        table.show()

    put(lambda: plain_text(lines) + "\n", lines)
