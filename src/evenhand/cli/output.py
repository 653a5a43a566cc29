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
from evenhand.cube.privacy import LEAST
from evenhand.errors import CallError, either, short_path
from evenhand.report import WITH_CUBE, WRITERS

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
        default=LEAST,
        show_default=True,
        help="With --share: smallest number of people of whom a count may tell.",
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
    arguments = click.get_current_context().obj
    command = ["evenhand", *(arguments.shown if arguments is not None else [])]
    named = ", ".join(Path(name).name if name != "-" else "standard input" for name in data)
    return replace(audit, origin={**audit.origin, "command": shlex.join(command), "source": named})


def show(audit: Audit, *, as_json: bool, output: Sequence[Path], quiet: bool, **counts: Any) -> int:
    """Save and print the audit as the options say; the exit code of its verdict.

    Files that hold the full counts are said to, once and on standard error, unless the command is to print nothing.
    """
    silent = counts.pop("silent", quiet)
    from evenhand.report import json
    from evenhand.report.text import audit as text

    code = EXIT_CODES[audit.verdict]  # of everyone, also where what is shown leaves groups out
    least = counts.get("smallest_cell", LEAST)
    if counts.get("share"):
        audit = audit.shared(least)
    elif least != LEAST:
        raise CallError("--smallest-cell is for a file to share: add --share.")
    embed_cube = not counts.get("no_cube", False)
    for path in output:
        audit.save(path, embed_cube=embed_cube)
    full = [path for path in output if path.suffix in WITH_CUBE and audit.sharing is None]
    if full and not silent:
        echo(_FOR_YOURSELF, err=True)
    if as_json:
        put(lambda: json.dumps(audit, embed_cube=embed_cube))
    elif not quiet:
        put(lambda: text.plain(audit) + "\n", lambda console: text.write(audit, console))
    return code


_FOR_YOURSELF = (
    "Saved for yourself: with the full counts and results, of small groups too. To make a file to share, add --share."
)


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
