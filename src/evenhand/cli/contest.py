"""evenhand contest: two models or more on the same people, with an exit code for what decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.contest import contest
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import NUMBER
from evenhand.cli.options import (
    arguments,
    confidence_option,
    database_options,
    intersections_option,
    json_option,
    min_group_size_option,
    policy_option,
    quiet_option,
    reference_option,
    rows_of,
    shared_role_options,
    threshold_option,
)
from evenhand.cli.output import force_option, put
from evenhand.cli.targets import CONTEST
from evenhand.cli.values import reference, thresholds
from evenhand.report.contest import as_json as dumps
from evenhand.report.text import contest as text
from evenhand.verdicts.data_table import TABLE, data_table
from evenhand.verdicts.policy_file import resolve

_EACH = ("prediction", "score", "cutoff")


@click.command("contest", cls=Command)
@click.argument("files", nargs=-1)
@database_options
@click.option(
    "--prediction", multiple=True, help="Take what a model decided from this column; repeat it for each model."
)
@click.option("--score", multiple=True, help="Take the score of a model from this column; repeat it for each model.")
@click.option(
    "--cutoff",
    multiple=True,
    type=NUMBER,
    help="Predict positive at or above this score; give one for each model, or one for all.",
)
@shared_role_options(*_EACH, "control", "task", "cluster", "design_strata", "clusters", "exposure")
@reference_option()
@policy_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Compute this metric, which then decides; may be repeated. all: compute every one, without deciding.",
)
@threshold_option
@min_group_size_option
@confidence_option()
@intersections_option
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=CONTEST,
    help="Save the contest: .html, .json or .md (Markdown); may be repeated.",
)
@force_option
@json_option
@quiet_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Compare models on the people in FILES: the first of the predictions or scores with each of the others.

    Exit codes: 0 nothing that decides is known to have got worse, 1 something that decides fails and did not before or
    fails by more, 2 the call or a file is wrong, 3 a pass was lost: what decides can no longer be settled, or is gone.
    """
    policy = resolve(options["policy"])
    table = data_table(options["policy"])
    options[TABLE] = {name: value for name, value in table.items() if name in options and name not in _EACH}
    read = arguments({name: value for name, value in options.items() if name not in _EACH})
    named = [read["sensitive"]] if isinstance(read["sensitive"], str) else read["sensitive"]
    attributes = (*named, *(part.strip() for name in named for part in name.split(",")))
    cutoffs = list(options["cutoff"])
    with rows_of(files, options) as rows:
        found = contest(
            rows,
            predictions=list(options["prediction"]) or None,
            scores=list(options["score"]) or None,
            cutoffs=cutoffs[0] if len(cutoffs) == 1 else cutoffs or None,
            reference=reference(options["reference"], attributes),
            metrics=list(options["metrics"]) or None,
            policy=policy.with_thresholds(thresholds(options["threshold"])),
            **{name: options[name] for name in ("intersections", "min_group_size", "confidence")},
            **read,
        )
    for path in output:
        found.save(path)
    if as_json:
        put(lambda: dumps(found))
    elif not quiet:
        put(lambda: text.plain(found) + "\n", lambda console: text.write(found, console))
    return found.verdict
