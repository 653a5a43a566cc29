"""evenhand watch: metrics over periods, a cube for each, and an exit code that says whether there is an alarm."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from evenhand.audits.trend import save, trend
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.options import (
    are_cubes,
    arguments,
    check_roles,
    confidence_option,
    intersections_option,
    json_option,
    min_group_size_option,
    policy_option,
    quiet_option,
    reference_option,
    refuse_roles,
    role_options,
    threshold_option,
)
from evenhand.cli.output import heading, heading_options, made_here, output_option, put, show
from evenhand.cli.settings import settle
from evenhand.cli.values import paths, reference, thresholds
from evenhand.cube.cube import Cube
from evenhand.cube.merge import expand
from evenhand.errors import CallError, short_path
from evenhand.sources.files.formats import SUFFIXES
from evenhand.sources.periods import Every, natural
from evenhand.verdicts.policy_file import resolve


@click.command("watch", cls=Command)
@click.argument("files", nargs=-1, required=True)
@click.option("--by", metavar="COLUMN", help="Count FILES of data by period: the column that says when, such as month.")
@click.option(
    "--every", type=click.Choice(get_args(Every)), help="With --by: make the dates of the column into periods."
)
@role_options
@click.option(
    "--metric", "metrics", multiple=True, help="Watch this metric (default: what the policy requires); may be repeated."
)
@threshold_option
@policy_option
@reference_option()
@confidence_option("Make intervals of this confidence, with which no false alarm is ever raised (default 0.95).")
@min_group_size_option
@intersections_option
@heading_options
@output_option
@json_option
@quiet_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Watch metrics over time. FILES are data with a column that says when (--by), or cubes, one for each period.

    Cubes, as evenhand cube writes them, are taken in the order of their names, 2 before 10. Nobody may be counted in
    two periods. However often this is run as periods are added, a false alarm is as rare as --confidence says.

    Exit codes: 0 no alarm, 1 an alarm, 2 the call or the data is wrong, 3 no alarm, and some metric cannot be watched.
    """
    settings = settle(files, options, quiet=quiet)
    cubes = _cubes(files, options) if options["by"] is None else _counted(files, options)
    policy = resolve(options["policy"])
    asked = reference(options["reference"], _attributes(cubes) if options["reference"] else ())
    found = trend(
        cubes,
        metrics=options["metrics"] or None,
        policy=policy,
        threshold=thresholds(options["threshold"]) or None,
        reference=asked,
        confidence=options["confidence"],
        min_group_size=options["min_group_size"],
        intersections=options["intersections"],
    )
    if not found.watchful:
        # An exit code of 0 would say that somebody is watching.
        reasons = "; ".join(dict.fromkeys(f"{each.metric}: {each.reason}" for each in found.series))
        raise CallError(f"no alarm can be raised on {reasons}. Name another with --metric.")
    audit = made_here(found.audit(), files, settings=settings, cover=heading(options))
    for path in output:
        save(audit, path)
    if not quiet and not as_json:
        from evenhand.report.text import trend as trends

        put(lambda: trends.plain(found) + "\n", lambda console: trends.write(found, console))
    return show(audit, as_json=as_json, output=(), quiet=not as_json)


def _cubes(files: tuple[str, ...], options: dict[str, Any]) -> list[Path]:
    """The files of cubes, one for each period, in the order of their names."""
    if options["every"] is not None:
        raise CallError("--every goes with --by, the column of the dates.")
    data = [
        name for name in files if Path(name.lower().removesuffix(".gz")).suffix in {*SUFFIXES} - {".parquet", ".pq"}
    ]
    if data:
        raise CallError(
            f"{short_path(data[0])!r} is not a cube: of a file of data, name the column that says when, as in "
            "--by month, and the roles of columns, as for evenhand audit."
        )
    refuse_roles()
    return sorted((path for file in files for path in expand(file)), key=natural)


def _counted(files: tuple[str, ...], options: dict[str, Any]) -> dict[str, Cube]:
    """The cubes of the periods in files of data."""
    if are_cubes(files):
        raise CallError("a cube is counted already, so --by cannot be given: each cube is a period.")
    with paths(files) as rows:
        check_roles(rows, options)
        return Cube.series(rows, by=options["by"], every=options["every"], **arguments(options))


def _attributes(cubes: list[Path] | dict[str, Cube]) -> tuple[str, ...]:
    first = next(iter(cubes.values())) if isinstance(cubes, dict) else Cube.load(cubes[0])
    return first.meaning.sensitive
