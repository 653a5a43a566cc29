"""evenhand audit: read files, audit them, answer with an exit code."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import RowEvaluator, audit_cube, from_rows
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import DRAWS, SEED
from evenhand.cli.options import (
    are_cubes,
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
    threshold_option,
)
from evenhand.cli.output import (
    counts_options,
    heading,
    heading_options,
    made_here,
    output_option,
    show,
    verbose_option,
)
from evenhand.cli.settings import settle
from evenhand.cli.values import reference, thresholds
from evenhand.core.results import Finding
from evenhand.cube.cube import Cube
from evenhand.cube.merge import whole_files
from evenhand.errors import CallError
from evenhand.sources.files import is_path
from evenhand.verdicts.data_table import TABLE
from evenhand.verdicts.policy import ALL, CORRECTIONS, INCONCLUSIVE, MISSING_LABELS, ON, Policy, chosen_metrics
from evenhand.verdicts.policy_file import resolve
from evenhand.verdicts.request import Request

_JUDGING = ("min_group_size", "confidence", "interval", "draws", "random_state", "intersections")


@click.command("audit", cls=Command)
@click.argument("files", nargs=-1)
@database_options
@role_options
@skip_bad_option
@reference_option("Compare the others with this group; or with rest, overall, largest, highest, lowest.")
@policy_option
@click.option("--guide", metavar="PRIORITY", help="Choose the metrics by what matters most, as evenhand guide does.")
@click.option("--legal", metavar="CONTEXT", help="With --guide, say the legal context: us_employment, nyc_ll144 or eu.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Compute this metric, which then decides; may be repeated. all: compute every one, without deciding.",
)
@click.option("--require", multiple=True, help="Let this metric decide the verdict; may be repeated.")
@threshold_option
@min_group_size_option
@confidence_option()
@click.option(
    "--interval",
    help="Make intervals by this method: simultaneous (default), percentile, basic, bca, bayes, newcombe, ...",
)
@click.option("--draws", type=DRAWS, help="Make this many draws, for intervals made of draws (default 1000).")
@click.option("--random-state", type=SEED, help="Start the draws from this seed (default 0).")
@click.option(
    "--correction",
    type=click.Choice([*CORRECTIONS, "none"]),
    help="Correct the p-values for their number in this way (default holm).",
)
@click.option(
    "--familywise",
    type=click.Choice(["finding", "audit"]),
    help="Let the findings that decide share the error of a fail (audit, default), or give each its own.",
)
@intersections_option
@click.option("--on", type=click.Choice(ON), help="Let these sets of attributes decide (default single).")
@click.option(
    "--inconclusive", type=click.Choice(INCONCLUSIVE), help="Count an inconclusive finding that decides as this."
)
@click.option(
    "--missing-labels",
    type=click.Choice(MISSING_LABELS),
    help="Where labels are missing for a reason, ask that a pass holds whatever they are (bounds, default), or not.",
)
@heading_options
@output_option
@counts_options
@json_option
@quiet_option
@verbose_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Audit the decisions in FILES (CSV, TSV, Parquet, JSON lines, Arrow; - is CSV from standard input), or cubes.

    With --database, those of a table or a query of a database; only counts are fetched from it.

    Cubes, as evenhand cube writes them, are added up first; they hold the names of their columns.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    metrics, cubes = chosen_metrics(options["metrics"] or None), are_cubes(files)
    settings = settle(files, options, quiet=quiet)
    # Errors in the policy are raised before data is read; only for cubes the labels must be known first.
    policy = None if cubes else _policy(options, options["label"] is not None or "label" in options[TABLE])
    with counted(files, options) as (cube, behind):
        found = audit_cube(
            cube,
            reference=reference(options["reference"], cube.meaning.sensitive),
            metrics=metrics,
            policy=policy or _policy(options, cube.has_labels),
            row_evaluator=None if behind is None else _from_rows(*behind, metrics, skip_bad=options["skip_bad"]),
            **{name: options[name] for name in _JUDGING},
        )
    return show(
        made_here(found, files or database_source(options), settings=settings, cover=heading(options)),
        as_json=as_json,
        output=output,
        quiet=quiet,
        **{name: options[name] for name in ("no_cube", "share", "smallest_cell", "verbose")},
    )


def _from_rows(data: Any, roles: dict[str, Any], metrics: Any, *, skip_bad: bool) -> RowEvaluator:
    """What computes metrics that are functions of the rows, from the data that was counted; it is read when needed."""

    @cache
    def evaluator() -> RowEvaluator:
        from evenhand.verdicts.row_source import RowSource

        rows = RowSource(data, roles, () if metrics is None or metrics == ALL else metrics)
        if skip_bad and rows.measures and is_path(data):
            rows = RowSource(whole_files(data), roles, metrics)
        return from_rows(rows)

    def found(wanted: Request, part: Cube) -> Finding:
        return evaluator()(wanted, part)

    return found


def _policy(options: dict[str, Any], has_labels: bool) -> Policy:
    """The policy, or what the guide advises, changed by the options of this command."""
    start = _start(options, has_labels)
    policy = start.updated(
        required=options["require"] or None,
        familywise=options["familywise"],
        correction=None if options["correction"] == "none" else options["correction"],
        on=options["on"],
        inconclusive=options["inconclusive"],
        missing_labels=options["missing_labels"],
    )
    if options["correction"] == "none":
        policy = replace(policy, correction=None)
    return policy.with_thresholds(thresholds(options["threshold"]))


def _start(options: dict[str, Any], has_labels: bool) -> Policy:
    if options["guide"] is None:
        if options["legal"] is not None:
            raise CallError("--legal goes with --guide; for the rules by themselves there is --policy.")
        return resolve(options["policy"])
    if options["policy"] is not None:
        raise CallError("--guide and --policy both say what decides: give one of them.")
    from evenhand.audits.guide import recommend

    return recommend(label_known=has_labels, priority=options["guide"], legal=options["legal"] or "none").policy
