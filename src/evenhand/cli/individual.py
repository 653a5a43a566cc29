"""evenhand individual: are people who are alike treated alike? Consistency of decisions, Lipschitz of scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.audits.audit import Audit
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import NUMBER, PEOPLE, SEED
from evenhand.cli.options import (
    confidence_option,
    json_option,
    min_group_size_option,
    policy_option,
    quiet_option,
    reference_option,
    role_option,
)
from evenhand.cli.output import made_here, output_option, show, show_panel, verbose_option
from evenhand.cli.values import bands, numbers, paths, reference, thresholds
from evenhand.core.results import Finding
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, nearest
from evenhand.individual.consistency import consistency, lipschitz
from evenhand.sources.rows import load_files
from evenhand.verdicts.policy_file import resolve

if TYPE_CHECKING:
    from evenhand.verdicts.policy import Policy

_METRICS = ("consistency", "lipschitz")
_COMMON = (
    "k", "radius", "scale", "distance", "label", "missing_features", "neighbours", "na", "id", "worst",
    "min_group_size", "confidence", "random_state",
)  # fmt: skip


@click.command("individual", cls=Command)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--features",
    multiple=True,
    metavar="COLUMN[,COLUMN...]",
    help="Compare people by these columns (default: all that have no other role); may be repeated.",
)
@click.option("--prediction", help="Measure consistency of what was decided, which is in this column.")
@click.option("--score", help="Measure the Lipschitz condition of the score in this column.")
@role_option("sensitive")
@click.option(
    "--k", type=PEOPLE, default=5, show_default=True, help="Compare each person with this many of the nearest people."
)
@click.option("--radius", type=NUMBER, help="Compare with everyone within this distance instead.")
@click.option("--include-self", is_flag=True, help="Count each person as their own first neighbour, as AIF360 does.")
@click.option(
    "--lipschitz",
    "L",
    type=NUMBER,
    default=1.0,
    show_default=True,
    help="Allow this difference of scores for each unit of distance.",
)
@click.option(
    "--epsilon",
    type=NUMBER,
    default=0.1,
    show_default=True,
    help="Count scores that differ by less than this as equal.",
)
@click.option("--categorical", multiple=True, help="Take the numbers in this column as codes; may be repeated.")
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="COLUMN=NUMBER",
    help="Give a column this weight in the distance (default 1).",
)
@click.option(
    "--scale",
    type=click.Choice(["standard", "robust", "none"]),
    default="standard",
    show_default=True,
    help="Scale columns of numbers in this way.",
)
@click.option(
    "--distance",
    type=click.Choice(["euclidean", "learned"]),
    default="euclidean",
    show_default=True,
    help="Use the distance between the scaled features, or one learned from --label.",
)
@click.option("--label", help="Let a learned distance bring together people with the same value in this column.")
@click.option(
    "--missing-features",
    type=click.Choice(["level", "drop", "error"]),
    default="level",
    show_default=True,
    help="Count a missing feature as one more value, leave the person out, or stop with an error.",
)
@click.option(
    "--neighbours",
    type=click.Choice(["auto", "exact", "approximate"]),
    default="auto",
    show_default=True,
    help="Search for the nearest people in this way; approximate needs faiss.",
)
@role_option(
    "positive", help="Say which value of the prediction counts as positive (default 1); may be repeated for several."
)
@role_option("bands")
@role_option("na")
@role_option("hive")
@click.option("--id", help="Name people in the pairs shown by this column (default: by their row, counted from 0).")
@click.option("--worst", type=PEOPLE, default=10, show_default=True, help="Show this many pairs; 0 shows none.")
@reference_option()
@click.option(
    "--threshold",
    multiple=True,
    metavar="METRIC=NUMBER",
    help="Tolerate a gap of this size between groups (default 0.1).",
)
@policy_option
@min_group_size_option
@confidence_option()
@click.option("--random-state", type=SEED, default=0, show_default=True, help="Draw the order of ties from this seed.")
@output_option
@json_option
@quiet_option
@verbose_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Are people who are alike treated alike? FILES hold a row for each person (CSV, Parquet, JSON lines, Arrow; -).

    With --prediction the consistency of decisions, with --score the Lipschitz condition, with both both; compared
    between groups where --sensitive names some.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    if options["prediction"] is None and options["score"] is None:
        raise CallError("there is nothing to measure: give --prediction, --score or both.")
    policy = resolve(options["policy"])
    with paths(files) as named:
        table = load_files(named, _columns(options), hive=options["hive"])
    found = _findings(table, options, policy)
    audit = Audit(_cube(table, options), policy, tuple(found), (), tuple(finding.metric for finding in found))
    verdict = show(made_here(audit, files), as_json=as_json, output=output, quiet=quiet, verbose=options["verbose"])
    if not (as_json or quiet):
        for finding in found:
            for panel in (panel for panel in finding.panels if panel.kind == "pairs"):
                show_panel(panel)
    return verdict


def _columns(options: dict[str, Any]) -> list[str] | None:
    """The columns to read: all of them, unless the features are named."""
    features = _features(options)
    if features is None:
        return None
    single = [options[role] for role in ("prediction", "score", "label", "id") if options[role] is not None]
    return [*features, *options["sensitive"], *single]


def _features(options: dict[str, Any]) -> list[str] | None:
    named = [name for text in options["features"] for name in text.split(",") if name]
    return named or None


def _findings(table: dict[str, Any], options: dict[str, Any], policy: Policy) -> list[Finding]:
    limits = thresholds(options["threshold"])
    for name in limits:
        if name not in _METRICS:
            raise CallError(f"--threshold {name!r} is not measured here; {nearest(name, _METRICS)}")
    common = {name: options[name] for name in _COMMON} | {
        "features": _features(options),
        "categorical": options["categorical"],
        "weights": numbers("--weight", options["weights"]) or None,
        "sensitive": list(options["sensitive"]) or None,
        "reference": reference(options["reference"], options["sensitive"]),
        "bands": bands(options["bands"]) or None,
        "policy": policy,
    }
    found = []
    if options["prediction"] is not None:
        found.append(
            consistency(
                _without(table, options["score"], common),
                prediction=options["prediction"],
                include_self=options["include_self"],
                positive=list(options["positive"]) or 1,
                threshold=limits.get("consistency"),
                **common,
            )
        )
    if options["score"] is not None:
        rest = _without(table, options["prediction"], common)
        scales = {"L": options["L"], "epsilon": options["epsilon"]}
        found.append(lipschitz(rest, score=options["score"], threshold=limits.get("lipschitz"), **scales, **common))
    return found


def _without(table: dict[str, Any], name: str | None, common: dict[str, Any]) -> dict[str, Any]:
    """The table without the column of the other measure, which is a feature only if it is named as one."""
    named = common["features"] or ()
    return {key: column for key, column in table.items() if key != name or key in named}


def _cube(table: dict[str, Any], options: dict[str, Any]) -> Cube:
    """Counts of the same people, so that the findings can be saved as an audit."""
    size = len(next(iter(table.values())))
    return Cube.count(
        table,
        prediction=options["prediction"],
        score=options["score"],
        sensitive=list(options["sensitive"]) or {"everyone": ["everyone"] * size},
        positive=list(options["positive"]) or 1,
        bands=bands(options["bands"]) or None,
        na=options["na"],
        task="binary",
    )
