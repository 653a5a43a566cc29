"""evenhand diff: what changed between two audits, with an exit code for what decides."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.audits.diff import diff
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.options import json_option, quiet_option
from evenhand.cli.output import force_option, put
from evenhand.cli.targets import CHANGES
from evenhand.report.changes import as_json as dumps
from evenhand.report.text import diff as text


@click.command("diff", cls=Command)
@click.argument("before")
@click.argument("after")
@click.option(
    "-o", "--output", multiple=True, type=CHANGES, help="Save the changes: .md (Markdown) or .json; may be repeated."
)
@force_option
@json_option
@quiet_option
def command(before: str, after: str, output: tuple[Path, ...], as_json: bool, quiet: bool) -> Ending:
    """What changed from the audit BEFORE to the audit AFTER, both saved as JSON (evenhand audit ... -o audit.json).

    Exit codes: 0 nothing that decides is known to have got worse, 1 something that decides fails and did not before or
    fails by more, 2 the call or a file is wrong, 3 a pass was lost: what decides can no longer be settled, or is gone.
    """
    changes = diff(before, after)
    for path in output:
        changes.save(path)
    if as_json:
        put(lambda: dumps(changes))
    elif not quiet:
        put(lambda: text.plain(changes) + "\n", lambda console: text.write(changes, console))
    return changes.verdict
