"""How commands write an audit: a rich table on a terminal, plain text in a pipe, JSON when asked; and into files."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import EXIT_CODES, hush
from evenhand.errors import CallError, short_path
from evenhand.report import WRITERS
from evenhand.sources.urls import without_secrets

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.audit import Audit

output_option = click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Save the audit: .html, .json, .md (Markdown) or .xml (JUnit); may be repeated.",
)


def counts_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the counts leave with the audit."""
    command = click.option(
        "--smallest-cell",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="The fewest people that a count which is saved with the audit may show.",
    )(command)
    return click.option(
        "--no-cube", is_flag=True, help="Save results only, without the counts that other cutoffs are computed from."
    )(command)


def check(outputs: Sequence[Path]) -> None:
    """Can the audit be saved there? Asked before anything is read."""
    for output in outputs:
        shown = repr(short_path(output))
        if output.suffix not in WRITERS:
            *others, last = WRITERS
            raise CallError(f"--output {shown}: an audit is saved as {', '.join(others)} or {last}.")
        if output.is_dir():
            raise CallError(f"--output {shown} is a folder: name a file in it.")
        if not output.parent.is_dir():
            raise CallError(f"--output {shown}: there is no folder {short_path(output.parent)!r}.")


def made_here(audit: Audit, data: Sequence[str]) -> Audit:
    """The audit with the command that made it, and the names of what it was made from."""
    arguments = click.get_current_context().obj or []
    told = map(without_secrets, ["evenhand", *arguments])
    named = ", ".join(Path(name).name if name != "-" else "standard input" for name in data)
    return replace(audit, origin={**audit.origin, "command": shlex.join(told), "source": named})


def show(audit: Audit, *, as_json: bool, output: Sequence[Path], quiet: bool, **counts: Any) -> int:
    """Write the audit where it is wanted and answer with the exit code of its verdict."""
    from evenhand.report import json
    from evenhand.report.text import audit as text

    saved = {"embed_cube": not counts.pop("no_cube", False), **counts}

    for path in output:
        audit.save(path, **saved)
    if as_json:
        put(lambda: json.dumps(audit, **saved))
    elif not quiet:
        put(lambda: text.plain(audit) + "\n", lambda console: text.write(audit, console))
    return EXIT_CODES[audit.verdict]


def put(plain: Callable[[], str], rich: Callable[[Console], Any] | None = None) -> None:
    """Write to standard output: with colours on a terminal that shows them, else as plain text."""
    if sys.stdout is None:
        return
    try:
        if rich is not None and sys.stdout.isatty():
            from rich.console import Console

            rich(Console(highlight=False, emoji=False, no_color=bool(os.environ.get("NO_COLOR")) or None))
        else:
            click.echo(plain(), nl=False)
    except BrokenPipeError:
        hush()
