"""evenhand diff: what changed between two audits, with an exit code for what decides."""

from __future__ import annotations

import json

import click

from evenhand.audits.diff import diff
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.options import json_option, quiet_option
from evenhand.cli.output import put
from evenhand.report.text import diff as text


@click.command("diff", cls=Command, short_help="What changed between two audits.")
@click.argument("before")
@click.argument("after")
@json_option
@quiet_option
def command(before: str, after: str, as_json: bool, quiet: bool) -> Ending:
    """What changed from the audit BEFORE to the audit AFTER, both saved as JSON (evenhand audit ... -o audit.json).

    Exit codes: 0 nothing that decides got worse, 1 something that decides fails and did not before or fails by more,
    2 the call or a file is wrong, 3 a pass was lost: what decides can no longer be settled, or is gone.
    """
    changes = diff(before, after)
    if as_json:
        put(lambda: json.dumps(changes.to_dict(), indent=1, allow_nan=False).replace("\x7f", "\\u007f") + "\n")
    elif not quiet:
        put(lambda: text.plain(changes) + "\n", lambda console: text.write(changes, console))
    return changes.verdict
