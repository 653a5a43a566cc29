"""evenhand audit: read files, audit them, answer with an exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evenhand.auditing import audit
from evenhand.catalogue import find
from evenhand.cli.given import bands, paths, reference, thresholds
from evenhand.cli.output import check, counts_options, made_here, output_option, show
from evenhand.errors import CallError
from evenhand.guide import recommend
from evenhand.policy import CORRECTIONS, INCONCLUSIVE, ON, Policy
from evenhand.policyfile import resolve


@click.command("audit", short_help="Audit decisions in files.")
@click.argument("files", nargs=-1, required=True)
@click.option("--label", help="Column of what happened.")
@click.option("--prediction", help="Column of what was decided.")
@click.option("--score", help="Column of the score behind the decision.")
@click.option("--cutoff", type=float, help="Score at or above which a row is predicted positive.")
@click.option(
    "--score-range", nargs=2, type=float, metavar="LOW HIGH", help="Range of the score; spares a look for it."
)
@click.option(
    "--higher-is",
    type=click.Choice(["positive", "negative"]),
    default="positive",
    show_default=True,
    help="Which class a higher score speaks for.",
)
@click.option("--bins", type=int, default=10, show_default=True, help="Calibration bins.")
@click.option(
    "--strategy",
    type=click.Choice(["uniform", "quantile"]),
    default="uniform",
    show_default=True,
    help="Calibration bins of one width, or with equally many people.",
)
@click.option("--sensitive", multiple=True, required=True, help="Column that makes groups; may be repeated.")
@click.option("--control", multiple=True, help="Column to hold fixed; may be repeated.")
@click.option("--count", help="Column: how many people a row stands for.")
@click.option("--weight", help="Column of sampling or importance weights.")
@click.option("--positive", multiple=True, help="The favourable value (default 1); repeated, several are.")
@click.option("--positive-label", multiple=True, help="The favourable value of the label alone.")
@click.option("--positive-prediction", multiple=True, help="The favourable value of the prediction alone.")
@click.option(
    "--reference",
    multiple=True,
    metavar="[COLUMN=]VALUE",
    help="Group the others are compared with; or rest, overall, largest, highest.",
)
@click.option("--bands", multiple=True, metavar="COLUMN=0,25,45", help="Edges that cut a numeric column into groups.")
@click.option("--policy", metavar="POLICY", help="What decides: a TOML file, four-fifths or nyc-ll144.")
@click.option("--guide", metavar="PRIORITY", help="Metrics by what matters most, as evenhand guide has it.")
@click.option("--legal", metavar="CONTEXT", help="With --guide: us_employment, nyc_ll144 or eu.")
@click.option("--metric", "metrics", multiple=True, help="Compute only this one; may be repeated.")
@click.option("--require", multiple=True, help="Metric that decides the verdict; may be repeated.")
@click.option("--threshold", multiple=True, metavar="METRIC=NUMBER", help="Replace a metric's threshold.")
@click.option(
    "--missing",
    type=click.Choice(["group", "drop", "error"]),
    default="group",
    show_default=True,
    help="What becomes of rows without a group.",
)
@click.option(
    "--task",
    type=click.Choice(["binary", "multiclass", "regression"]),
    help="What is predicted: a yes or no, one of several classes, or a number. Told from the data if left out.",
)
@click.option("--na", multiple=True, help="Text that also means missing, such as NA; may be repeated.")
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
    """Audit the decisions in FILES (CSV, TSV, Parquet, JSON lines, Arrow; - is CSV from standard input).

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    check(output)
    policy = _policy(given)
    with paths(files) as found_paths:
        found = audit(
            found_paths,
            label=given["label"],
            prediction=given["prediction"],
            score=given["score"],
            cutoff=given["cutoff"],
            score_range=given["score_range"] or None,
            higher_is=given["higher_is"],
            bins=given["bins"],
            strategy=given["strategy"],
            sensitive=list(given["sensitive"]),
            control=list(given["control"]) or None,
            count=given["count"],
            weight=given["weight"],
            positive=_positive(given),
            reference=reference(given["reference"], given["sensitive"]),
            bands=bands(given["bands"]),
            metrics=given["metrics"] or None,
            policy=policy,
            missing=given["missing"],
            na=given["na"],
            task=given["task"],
            min_group_size=given["min_group_size"],
            confidence=given["confidence"],
            interval=given["interval"],
            draws=given["draws"],
            random_state=given["random_state"],
            intersections=given["intersections"],
        )
    return show(
        made_here(found, files),
        as_json=as_json,
        output=output,
        quiet=quiet,
        **{name: given[name] for name in ("no_cube", "smallest_cell")},
    )


def _policy(given: dict[str, Any]) -> Policy:
    """The policy, or what the guide advises, with the options of its own that were given."""
    start = _start(given)
    policy = start.updated(
        required=given["require"] or None,
        familywise=given["familywise"],
        correction=None if given["correction"] == "none" else given["correction"],
        on=given["on"],
        inconclusive=given["inconclusive"],
    )
    if given["correction"] == "none":
        policy = replace(policy, correction=None)
    new = thresholds(given["threshold"])
    renewed = {find(name)[0].name for name in new}
    kept = {name: limit for name, limit in policy.thresholds.items() if name not in renewed}
    return replace(policy, thresholds={**kept, **new})


def _start(given: dict[str, Any]) -> Policy:
    if given["guide"] is None:
        if given["legal"] is not None:
            raise CallError("--legal goes with --guide; for the rules by themselves there is --policy.")
        return resolve(given["policy"])
    if given["policy"] is not None:
        raise CallError("--guide and --policy both say what decides: give one of them.")
    return recommend(
        ground_truth=given["label"] is not None, priority=given["guide"], legal=given["legal"] or "none"
    ).policy


def _positive(given: dict[str, Any]) -> Any:
    """A value that was asked for may stand for one class among many, so it is passed on as a list."""
    chosen = {role: list(given[f"positive_{role}"] or given["positive"]) or 1 for role in ("label", "prediction")}
    return chosen
