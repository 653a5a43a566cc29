"""evenhand representation: who is in files, against the shares of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.representation import METRIC, audit_of, representation
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import NUMBER
from evenhand.cli.options import (
    are_cubes,
    arguments,
    confidence_option,
    json_option,
    min_group_size_option,
    policy_option,
    quiet_option,
    refuse_roles,
    role_option,
    shared_role_options,
)
from evenhand.cli.output import heading, heading_options, made_here, output_option, show
from evenhand.cli.values import pairs, paths
from evenhand.cube import merge
from evenhand.cube.cube import Cube, count_people
from evenhand.sources.roles import complete
from evenhand.verdicts.request import make_request

_OTHERS = (
    *("sensitive", "prediction", "score", "control", "cluster", "design_strata", "clusters", "cutoff", "score_range"),
    *("higher_is", "bins", "strategy", "task", "exposure"),
)


@click.command("representation", cls=Command)
@click.argument("files", nargs=-1, required=True)
@role_option("sensitive", help="Count people by this column; by default by those of --benchmark.")
@click.option(
    "--benchmark",
    multiple=True,
    required=True,
    metavar="COLUMN=FILE",
    help="Compare a column with the shares in a file, which has the columns value and share; may be repeated.",
)
@shared_role_options(*_OTHERS)
@policy_option
@click.option("--threshold", type=NUMBER, help="Tolerate no ratio of share to expected share below this, such as 0.8.")
@click.option(
    "--judged-on", type=click.Choice(["ratio", "difference"]), help="Judge the ratio (default), or the difference."
)
@min_group_size_option
@confidence_option()
@heading_options
@output_option
@json_option
@quiet_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Show who is in FILES, or in cubes, against who is expected to be: shares beside those of a benchmark.

    Neither a label nor a decision is needed. With --label, also how differently the labels of groups are distributed.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    benchmarks = pairs("--benchmark", options["benchmark"])
    judging = ("policy", "threshold", "judged_on", "min_group_size", "confidence")
    request = make_request(METRIC, **{name: options[name] for name in judging})
    found = audit_of(request, _counted(files, options, list(benchmarks)), benchmarks)
    found = made_here(found, files, cover=heading(options))
    return show(found, as_json=as_json, output=output, quiet=quiet, as_tables=True)


def _counted(files: tuple[str, ...], options: dict[str, Any], attributes: list[str]) -> Cube:
    """The people in the files by the attributes that are compared, or the cubes added up."""
    if are_cubes(files):
        refuse_roles()
        return merge.merge_files(files)
    read = arguments({**options, "sensitive": list(options["sensitive"]) or attributes, "score_range": None})
    with paths(files) as found:
        return count_people(found, complete(representation, read))  # type: ignore[arg-type] # options, by name
