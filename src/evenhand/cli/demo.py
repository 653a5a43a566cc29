"""evenhand demo: an audit of the COMPAS counts that ship with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import audit
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.options import json_option
from evenhand.cli.output import counts_options, made_here, output_option, show, verbose_option
from evenhand.datasets import compas


@click.command("demo", cls=Command)
@output_option
@counts_options
@json_option
@verbose_option
def command(output: tuple[Path, ...], as_json: bool, **counts: Any) -> Ending:
    """Audit the COMPAS counts that ship with the package. Always exits 0.

    7,214 people of Broward County, scored 1 to 10 for the risk of being arrested again; here a decile of 5 or more
    counts as a prediction that they will be.
    """
    found = audit(compas(), label="recidivated", score="decile", cutoff=5, count="count", sensitive=["race", "sex"])
    show(made_here(found, ["COMPAS counts of Broward County"]), as_json=as_json, output=output, quiet=False, **counts)
    return "done"
