"""evenhand audit: read files, audit them, answer with an exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import audit_cube
from evenhand.audits.guide import recommend
from evenhand.cli.database import database_options, source_of
from evenhand.cli.options import are_cubes, cube_of, role_options, skip_bad_option
from evenhand.cli.output import check, counts_options, made_here, output_option, show
from evenhand.cli.values import reference, thresholds
from evenhand.errors import CallError
from evenhand.verdicts.policy import CORRECTIONS, INCONCLUSIVE, ON, Policy, chosen_metrics
from evenhand.verdicts.policy_file import resolve

_JUDGING = ("min_group_size", "confidence", "interval", "draws", "random_state", "intersections")


@click.command("audit", short_help="Audit decisions in files.")
@click.argument("files", nargs=-1)
@database_options
@role_options
@skip_bad_option
@click.option(
    "--reference",
    multiple=True,
    metavar="[COLUMN=]VALUE",
    help="Group the others are compared with; or rest, overall, largest, highest.",
)
@click.option("--policy", metavar="POLICY", help="What decides: a TOML file, four-fifths or nyc-ll144.")
@click.option("--guide", metavar="PRIORITY", help="Metrics by what matters most, as evenhand guide has it.")
@click.option("--legal", metavar="CONTEXT", help="With --guide: us_employment, nyc_ll144 or eu.")
@click.option("--metric", "metrics", multiple=True, help="Compute only this one; may be repeated.")
@click.option("--require", multiple=True, help="Metric that decides the verdict; may be repeated.")
@click.option("--threshold", multiple=True, metavar="METRIC=NUMBER", help="Replace a metric's threshold.")
@click.option("--min-group-size", type=int, help="Groups below it are shown; no pass rests on them.")
@click.option("--confidence", type=float, help="Of the intervals (default 0.95).")
@click.option("--interval", help="simultaneous (default), percentile, basic, bca, bayes, newcombe, ...")
@click.option("--draws", type=int, help="How many, for intervals made of draws (default 1000).")
@click.option("--random-state", type=int, help="Seed of the draws (default 0).")
@click.option(
    "--correction",
    type=click.Choice([*CORRECTIONS, "none"]),
    help="Of the p-values for their number (default holm).",
)
@click.option(
    "--familywise",
    type=click.Choice(["finding", "audit"]),
    help="Whether the confidence holds for each finding (default), or for all that decide together.",
)
@click.option("--intersections/--no-intersections", default=None, help="Also combine the attributes (default).")
@click.option("--on", type=click.Choice(ON), help="Which attribute sets decide (default single).")
@click.option("--inconclusive", type=click.Choice(INCONCLUSIVE), help="What an inconclusive finding counts as.")
@output_option
@counts_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; only the exit code answers.")
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **given: Any) -> int:
    """Audit the decisions in FILES (CSV, TSV, Parquet, JSON lines, Arrow; - is CSV from standard input), or cubes.

    Or those of a table or query of a database, with --database. Only the counts leave it.

    Cubes, as evenhand cube writes them, are added up first; they say themselves which column is what.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    check(output)
    metrics, cubes = chosen_metrics(given["metrics"] or None), are_cubes(files)
    # What is wrong with the policy is said before data is read; what a cube holds is known only then.
    policy = None if cubes else _policy(given, given["label"] is not None)
    cube = cube_of(files, given)
    found = audit_cube(
        cube,
        reference=reference(given["reference"], cube.meaning.sensitive),
        metrics=metrics,
        policy=policy or _policy(given, cube.has_labels),
        **{name: given[name] for name in _JUDGING},
    )
    return show(
        made_here(found, files or source_of(given)),
        as_json=as_json,
        output=output,
        quiet=quiet,
        **{name: given[name] for name in ("no_cube", "smallest_cell")},
    )


def _policy(given: dict[str, Any], has_labels: bool) -> Policy:
    """The policy, or what the guide advises, with the options of its own that were given."""
    start = _start(given, has_labels)
    policy = start.updated(
        required=given["require"] or None,
        familywise=given["familywise"],
        correction=None if given["correction"] == "none" else given["correction"],
        on=given["on"],
        inconclusive=given["inconclusive"],
    )
    if given["correction"] == "none":
        policy = replace(policy, correction=None)
    return policy.with_thresholds(thresholds(given["threshold"]))


def _start(given: dict[str, Any], has_labels: bool) -> Policy:
    if given["guide"] is None:
        if given["legal"] is not None:
            raise CallError("--legal goes with --guide; for the rules by themselves there is --policy.")
        return resolve(given["policy"])
    if given["policy"] is not None:
        raise CallError("--guide and --policy both say what decides: give one of them.")
    return recommend(ground_truth=has_labels, priority=given["guide"], legal=given["legal"] or "none").policy
