"""How commands write an audit: a rich table on a terminal, plain text in a pipe, JSON when asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from evenhand.auditing import Audit
from evenhand.cli import EXIT_CODES


def show(audit: Audit, *, as_json: bool, output: Path | None, quiet: bool) -> int:
    """Write the audit where it is wanted and answer with the exit code of its verdict."""
    from evenhand.report import json, text

    if output is not None:
        audit.save(output)
    if as_json:
        click.echo(json.dumps(audit), nl=False)
    elif not quiet and sys.stdout.isatty():
        from rich.console import Console

        text.write(audit, Console(highlight=False, emoji=False, no_color=bool(os.environ.get("NO_COLOR")) or None))
    elif not quiet:
        click.echo(text.plain(audit))
    return EXIT_CODES[audit.verdict]
