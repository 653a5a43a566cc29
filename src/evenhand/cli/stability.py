"""evenhand stability: whether the replicas of a model disagree more for some groups; a column for each replica."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

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
    role_option,
    threshold_option,
    together,
)
from evenhand.cli.output import made_here, output_option, show, verbose_option
from evenhand.cli.values import bands, paths, reference, thresholds
from evenhand.replicas.stability import Stability, stability
from evenhand.sources.rows import load_files
from evenhand.verdicts.policy_file import resolve

judging_options = together(
    [
        role_option("sensitive", required=True),
        reference_option("Compare the others with this group; or with rest, largest."),
        click.option(
            "--convention",
            type=click.Choice(["virny"]),
            help="Compare, and count one half as a 0, as Virny does.",
        ),
        role_option("bands"),
        click.option("--metric", "metrics", multiple=True, help="Compute only this metric; may be repeated."),
        click.option(
            "--require",
            multiple=True,
            help="Let this metric decide (default label_stability_difference); may be repeated.",
        ),
        threshold_option,
        policy_option,
        role_option("missing"),
        role_option("na"),
        role_option("hive"),
        min_group_size_option,
        confidence_option(),
        intersections_option,
        role_option(
            "cutoff", default=0.5, show_default=True, help="Let a replica predict yes from this probability on."
        ),
        output_option,
        json_option,
        quiet_option,
        verbose_option,
    ]
)


def arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The values of `judging_options` as `stability` takes them."""
    return {
        "sensitive": list(options["sensitive"]),
        "reference": reference(options["reference"], options["sensitive"]),
        "convention": options["convention"],
        "bands": bands(options["bands"]),
        "metrics": options["metrics"] or None,
        "policy": resolve(options["policy"]).with_thresholds(thresholds(options["threshold"])),
        "missing": options["missing"],
        "na": options["na"],
        "min_group_size": options["min_group_size"],
        "confidence": options["confidence"],
        "intersections": options["intersections"],
        "cutoff": options["cutoff"],
    }


def show_stability(result: Stability, files: tuple[str, ...], options: dict[str, Any]) -> Ending:
    """Print the result and write it to the files named by the options; the verdict."""
    audit = made_here(result.audit(required=options["require"] or None), files)
    return show(audit, **{name: options[name] for name in ("as_json", "output", "quiet", "verbose")})


@click.command("stability", cls=Command)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--replicas-columns",
    multiple=True,
    required=True,
    metavar="PATTERN",
    help="Take a replica from each of these columns, such as 'p_*'; may be repeated.",
)
@role_option("label")
@role_option("positive")
@role_option("higher_is", help="Say whether the columns hold P(Y=1) or P(Y=0).")
@click.option(
    "--kind",
    type=click.Choice(["probability", "label"]),
    help="Say what the columns hold (default: inferred from the data).",
)
@judging_options
def command(files: tuple[str, ...], output: tuple[Path, ...], **options: Any) -> Ending:
    """Do replicas of a model disagree more for some groups?

    FILES hold a row for each person and a column for each replica.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    with paths(files) as named:
        result = stability(
            list(options["replicas_columns"]),
            data=load_files(named, hive=True) if options["hive"] else named,
            label=options["label"],
            positive=list(options["positive"]) or 1,
            higher_is=options["higher_is"],
            kind=options["kind"],
            **arguments(options),
        )
    return show_stability(result, files, {**options, "output": output})
