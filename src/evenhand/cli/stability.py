"""evenhand stability: do replicas of a model waver more for some groups? From files with a column for each replica."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evenhand.cli.output import check, made_here, output_option, show
from evenhand.cli.values import bands, paths, reference, thresholds
from evenhand.replicas.stability import Stability, stability
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.policy_file import resolve

_JUDGING = (
    click.option("--sensitive", multiple=True, required=True, help="Column that makes groups; may be repeated."),
    click.option(
        "--reference",
        multiple=True,
        metavar="[COLUMN=]VALUE",
        help="Group the others are compared with; or rest, largest.",
    ),
    click.option("--convention", type=click.Choice(["virny"]), help="Compare, and count one half, as Virny does."),
    click.option(
        "--bands", multiple=True, metavar="COLUMN=0,25,45", help="Edges that cut a numeric column into groups."
    ),
    click.option("--metric", "metrics", multiple=True, help="Compute only this one; may be repeated."),
    click.option(
        "--require", multiple=True, help="Metric that decides (default label_stability_difference); may be repeated."
    ),
    click.option("--threshold", multiple=True, metavar="METRIC=NUMBER", help="Replace a metric's threshold."),
    click.option("--policy", metavar="POLICY", help="A TOML file with thresholds and what decides."),
    click.option(
        "--missing",
        type=click.Choice(["group", "drop", "error"]),
        default="group",
        show_default=True,
        help="What becomes of rows without a group.",
    ),
    click.option("--na", multiple=True, help="Text that also means missing, such as NA; may be repeated."),
    click.option("--min-group-size", type=int, help="Groups below it are shown; no pass rests on them."),
    click.option("--confidence", type=float, help="Of the intervals (default 0.95)."),
    click.option("--intersections/--no-intersections", default=None, help="Also combine the attributes (default)."),
    click.option(
        "--cutoff", type=float, default=0.5, show_default=True, help="Probability from which a replica says yes."
    ),
    output_option,
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing; only the exit code answers."),
)


def judged(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that judges replicas."""
    for option in reversed(_JUDGING):
        command = option(command)
    return command


def arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Those options as `stability` takes them."""
    return {
        "sensitive": list(given["sensitive"]),
        "reference": reference(given["reference"], given["sensitive"]),
        "convention": given["convention"],
        "bands": bands(given["bands"]),
        "metrics": given["metrics"] or None,
        "policy": _policy(given),
        "missing": given["missing"],
        "na": given["na"],
        "min_group_size": given["min_group_size"],
        "confidence": given["confidence"],
        "intersections": given["intersections"],
        "cutoff": given["cutoff"],
    }


def answer(found: Stability, files: tuple[str, ...], given: dict[str, Any]) -> int:
    """Write what was found where it is wanted; the exit code of the verdict."""
    audit = made_here(found.audit(required=given["require"] or None), files)
    return show(audit, as_json=given["as_json"], output=given["output"], quiet=given["quiet"])


def _policy(given: dict[str, Any]) -> Policy:
    return resolve(given["policy"]).with_thresholds(thresholds(given["threshold"]))


@click.command("stability", short_help="Do replicas of a model waver more for some groups?")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--replicas-columns",
    multiple=True,
    required=True,
    metavar="PATTERN",
    help="Columns that hold a replica each, such as 'p_*'; may be repeated.",
)
@click.option("--label", help="Column of what happened.")
@click.option("--positive", multiple=True, help="The favourable value (default 1); repeated, several are.")
@click.option(
    "--higher-is",
    type=click.Choice(["positive", "negative"]),
    default="positive",
    show_default=True,
    help="Whether the columns hold P(Y=1) or P(Y=0).",
)
@click.option("--kind", type=click.Choice(["probability", "label"]), help="Told from the data if left out.")
@judged
def command(files: tuple[str, ...], output: tuple[Path, ...], **given: Any) -> int:
    """Does a model waver more for some groups? FILES hold a row for each person and a column for each replica.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    check(output)
    with paths(files) as named:
        found = stability(
            list(given["replicas_columns"]),
            data=named,
            label=given["label"],
            positive=list(given["positive"]) or 1,
            higher_is=given["higher_is"],
            kind=given["kind"],
            **arguments(given),
        )
    return answer(found, files, {**given, "output": output})
