"""How commands write an audit: a rich table on a terminal, plain text in a pipe, JSON when asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from evenhand.auditing import Audit
from evenhand.cli import EXIT_CODES, hush
from evenhand.errors import CallError, short_path

_SUFFIXES = (".json",)


def check(output: Path | None) -> None:
    """Can the audit be saved there? Asked before anything is read."""
    if output is None:
        return
    shown = repr(short_path(output))
    if output.suffix not in _SUFFIXES:
        raise CallError(f"--output {shown}: an audit is saved as {' or '.join(_SUFFIXES)}.")
    if output.is_dir():
        raise CallError(f"--output {shown} is a folder: name a file in it.")
    if not output.parent.is_dir():
        raise CallError(f"--output {shown}: there is no folder {short_path(output.parent)!r}.")


def show(audit: Audit, *, as_json: bool, output: Path | None, quiet: bool) -> int:
    """Write the audit where it is wanted and answer with the exit code of its verdict."""
    if output is not None:
        audit.save(output)
    if (as_json or not quiet) and sys.stdout is not None:
        try:
            _write(audit, as_json=as_json)
        except BrokenPipeError:
            hush()
    return EXIT_CODES[audit.verdict]


def _write(audit: Audit, *, as_json: bool) -> None:
    from evenhand.report import json, text

    if as_json:
        click.echo(json.dumps(audit), nl=False)
    elif sys.stdout.isatty():
        from rich.console import Console

        text.write(audit, Console(highlight=False, emoji=False, no_color=bool(os.environ.get("NO_COLOR")) or None))
    else:
        click.echo(text.plain(audit))
