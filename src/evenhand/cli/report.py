"""evenhand report: a saved audit in another form, without the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import Audit
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.options import json_option
from evenhand.cli.output import counts_options, output_option, show, verbose_option


@click.command("report", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@output_option
@counts_options
@json_option
@verbose_option
def command(file: Path, output: tuple[Path, ...], as_json: bool, **counts: Any) -> Ending:
    """Show the audit in FILE (JSON), or save it in other forms with -o. The data is not needed.

    The findings stay as they were judged. Exits 0 whatever the verdict: the judging was done by evenhand audit.
    """
    show(Audit.load(file), as_json=as_json, output=output, quiet=bool(output), silent=False, **counts)
    return "done"
