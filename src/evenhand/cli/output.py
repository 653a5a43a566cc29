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

from evenhand.cli import EXIT_CODES, echo, hush
from evenhand.errors import CallError, either, short_path
from evenhand.report import WRITERS
from evenhand.sources.database import without_secrets

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
    """The options that say which counts are saved with an audit."""
    command = click.option(
        "--smallest-cell",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="Smallest number of people that a saved count may show.",
    )(command)
    return click.option(
        "--no-cube",
        is_flag=True,
        help="Save results only, without the counts that other cutoffs need.",
    )(command)


def check_outputs(outputs: Sequence[Path]) -> None:
    """Refuse paths that an audit cannot be saved to."""
    for output in outputs:
        check_target("--output", output, "an audit is", list(WRITERS))


def check_target(option: str, path: Path, what: str, suffixes: Sequence[str]) -> None:
    """Refuse a path that cannot be written to, before anything is read; `what` is, for example, "an audit is"."""
    shown = f"{option} {short_path(path)!r}"
    if path.suffix not in suffixes:
        raise CallError(f"{shown}: {what} saved as {either(suffixes)}.")
    if path.is_dir():
        raise CallError(f"{shown} is a folder: name a file in it.")
    if not path.parent.is_dir():
        raise CallError(f"{shown}: there is no folder {short_path(path.parent)!r}.")


def made_here(audit: Audit, data: Sequence[str]) -> Audit:
    """The audit with its origin: the command that made it and the names of its data."""
    arguments = click.get_current_context().obj or []
    command = map(without_secrets, ["evenhand", *arguments])
    named = ", ".join(Path(name).name if name != "-" else "standard input" for name in data)
    return replace(audit, origin={**audit.origin, "command": shlex.join(command), "source": named})


def show(audit: Audit, *, as_json: bool, output: Sequence[Path], quiet: bool, **counts: Any) -> int:
    """Save and print the audit as the options say; the exit code of its verdict."""
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
            echo(plain(), nl=False)
    except BrokenPipeError:
        hush()
