"""evenhand impact: the adverse impact table of decisions in files, with an exit code for four fifths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.adverse_impact import METRIC, POLICY, with_yardstick
from evenhand.audits.audit import audit_cube
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import NUMBER
from evenhand.cli.options import (
    confidence_option,
    counted,
    database_options,
    database_source,
    intersections_option,
    json_option,
    min_group_size_option,
    policy_option,
    quiet_option,
    reference_option,
    role_options,
    skip_bad_option,
)
from evenhand.cli.output import counts_options, heading, heading_options, made_here, output_option, show
from evenhand.cli.settings import settle
from evenhand.cli.values import reference
from evenhand.verdicts.policy_file import resolve


@click.command("impact", cls=Command)
@click.argument("files", nargs=-1)
@database_options
@role_options
@skip_bad_option
@reference_option("Compare the others with this group; or highest (default), largest, rest.")
@policy_option
@click.option("--threshold", type=NUMBER, help="Tolerate no impact ratio below this (default 0.8, four fifths).")
@min_group_size_option
@confidence_option()
@intersections_option
@heading_options
@output_option
@counts_options
@json_option
@quiet_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Show the adverse impact of the decisions in FILES: each group against the one that is selected most.

    Impact ratios with intervals, the tests that US employment practice reads, and how few decisions turn the result.
    With --control, also within strata, as by Mantel and Haenszel.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    settings = settle(files, options, quiet=quiet)
    policy = resolve(options["policy"] or POLICY)
    with counted(files, options) as (cube, _):
        against = reference(options["reference"], cube.meaning.sensitive) or policy.reference or "highest"
        limits = {} if options["threshold"] is None else {METRIC: options["threshold"]}
        found = audit_cube(
            cube,
            reference=against,
            metrics=[METRIC],
            policy=policy.with_thresholds(limits),
            **{name: options[name] for name in ("min_group_size", "confidence", "intersections")},
        )
    for finding in found.findings:
        with_yardstick(finding)
    found = made_here(found, files or database_source(options), settings=settings, cover=heading(options))
    return show(
        found,
        as_json=as_json,
        output=output,
        quiet=quiet,
        as_tables=True,
        **{name: options[name] for name in ("no_cube", "share", "smallest_cell")},
    )
