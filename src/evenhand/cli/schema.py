"""evenhand schema: the JSON Schema of a saved audit."""

from __future__ import annotations

import click

from evenhand.cli.output import put
from evenhand.report.json import schema


@click.command("schema", short_help="Print the JSON Schema of a saved audit.")
def command() -> int:
    """Print the JSON Schema (draft 2020-12) that every audit saved as JSON keeps to."""
    put(schema)
    return 0
