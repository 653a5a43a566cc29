"""evenhand verify: is a form of these counts, figure for figure?"""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli import Ending, echo
from evenhand.cli.command import Command


@click.command("verify", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--cube",
    "cubes",
    multiple=True,
    help="Compute from these counts: a .cube, which may be repeated and is added up, or the audit saved as JSON.",
)
@click.option("--policy", metavar="POLICY", help="Compare with this policy, too: a TOML file or a name.")
def command(file: Path, cubes: tuple[str, ...], policy: str | None) -> Ending:
    """Check the form in FILE (.html, .md or .csv) against the counts that it is of.

    The checksums of counts and policy are compared, every figure is computed again, and the form is compared line by
    line. Exit codes: 0 verified, 1 not verified, 2 the call or a file is wrong.
    """
    from evenhand.report.forms.verification import verify

    found = verify(file, cubes, policy)
    echo(str(found))
    if not found.verified:
        return "fail"
    return "done"
