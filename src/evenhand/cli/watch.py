"""evenhand watch: metrics over periods, a cube for each, and an exit code that says whether there is an alarm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.trend import save, trend
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.options import (
    confidence_option,
    intersections_option,
    json_option,
    min_group_size_option,
    policy_option,
    quiet_option,
    reference_option,
    threshold_option,
)
from evenhand.cli.output import made_here, output_option, put, show
from evenhand.cli.values import reference, thresholds
from evenhand.cube.merge import expand, natural
from evenhand.errors import CallError
from evenhand.verdicts.policy_file import resolve


@click.command("watch", cls=Command, short_help="Has evidence of a gap accumulated over time?")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--metric", "metrics", multiple=True, help="Metric to watch (default: what the policy requires); may be repeated."
)
@threshold_option
@policy_option
@reference_option()
@confidence_option("Confidence of the intervals, and of never raising a false alarm (default 0.95).")
@min_group_size_option
@intersections_option
@output_option
@json_option
@quiet_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Watch metrics over time: each of FILES is the cube of one period, as evenhand cube writes it.

    Files are taken in the order of their names, 2 before 10. Nobody may be counted in two of them. However often this
    is run as periods are added, a false alarm is as rare as --confidence says.

    Exit codes: 0 no alarm, 1 an alarm, 2 the call or the data is wrong, 3 no alarm, and some metric cannot be watched.
    """
    found_paths = sorted((path for file in files for path in expand(file)), key=natural)
    found = trend(
        found_paths,
        metrics=options["metrics"] or None,
        policy=resolve(options["policy"]),
        threshold=thresholds(options["threshold"]) or None,
        reference=reference(options["reference"], _attributes(found_paths) if options["reference"] else ()),
        confidence=options["confidence"],
        min_group_size=options["min_group_size"],
        intersections=options["intersections"],
    )
    if not found.watchful:
        # An exit code of 0 would say that somebody is watching.
        reasons = "; ".join(dict.fromkeys(f"{each.metric}: {each.reason}" for each in found.series))
        raise CallError(f"no alarm can be raised on {reasons}. Name another with --metric.")
    audit = made_here(found.audit(), files)
    for path in output:
        save(audit, path)
    if not quiet and not as_json:
        from evenhand.report.text import trend as trends

        put(lambda: trends.plain(found) + "\n", lambda console: trends.write(found, console))
    return show(audit, as_json=as_json, output=(), quiet=not as_json)


def _attributes(files: list[Path]) -> tuple[str, ...]:
    from evenhand.cube.cube import Cube

    return Cube.load(files[0]).meaning.sensitive
