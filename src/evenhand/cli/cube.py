"""evenhand cube: count files, or add cubes, and keep the counts in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.options import cube_of, database_options, role_options, skip_bad_option
from evenhand.cli.output import force_option, put
from evenhand.cli.settings import settle
from evenhand.cli.targets import CUBE
from evenhand.core.wording import clean
from evenhand.errors import short_path


@click.command("cube", cls=Command)
@click.argument("files", nargs=-1)
@database_options
@role_options
@skip_bad_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=CUBE,
    help="Save the cube in this file, such as day.cube; it is written whole or not at all.",
)
@force_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing.")
def command(files: tuple[str, ...], output: Path, quiet: bool, **options: Any) -> Ending:
    """Count the decisions in FILES into one cube; or add cubes that mean the same.

    A cube keeps counts and no rows. It is audited by evenhand audit, and cubes of many days by evenhand watch.

    Exit codes: 0 saved, 2 the call or the data is wrong.
    """
    settle(files, options, quiet=quiet)
    cube = cube_of(files, options)
    cube.save(output)
    if not quiet:
        notes = "".join(f"- {clean(line)}\n" for note in cube.notes for line in note.splitlines())
        put(lambda: f"{clean(str(cube))}, saved as {clean(short_path(output))}\n{notes}")
    return "done"
