"""evenhand schema: the JSON Schema of a saved audit."""

from __future__ import annotations

import click

from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.output import put
from evenhand.report.json import schema


@click.command("schema", cls=Command)
def command() -> Ending:
    """Print the JSON Schema (draft 2020-12) that every audit saved as JSON keeps to."""
    put(schema)
    return "done"
