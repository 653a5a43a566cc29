"""evenhand audit: read files, audit them, answer with an exit code."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from evenhand.auditing import audit
from evenhand.cli.output import check, show
from evenhand.errors import CallError, DataError
from evenhand.policy import Policy


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
    help="Group the others are compared with; or rest, overall, largest.",
)
@click.option("--bands", multiple=True, metavar="COLUMN=0,25,45", help="Edges that cut a numeric column into groups.")
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
@click.option("--na", multiple=True, help="Text that also means missing, such as NA; may be repeated.")
@click.option("--min-group-size", type=int, help="Groups below it are shown; no pass rests on them.")
@click.option("--confidence", type=float, help="Of the intervals (default 0.95).")
@click.option("--interval", help="simultaneous (default), percentile, basic, bca, bayes, newcombe, ...")
@click.option("--draws", type=int, help="How many, for intervals made of draws (default 1000).")
@click.option("--random-state", type=int, help="Seed of the draws (default 0).")
@click.option(
    "--correction",
    type=click.Choice(["holm", "bonferroni", "bh", "by", "none"]),
    default="holm",
    show_default=True,
    help="Of the p-values for their number.",
)
@click.option(
    "--familywise",
    type=click.Choice(["finding", "audit"]),
    default="finding",
    show_default=True,
    help="Whether the confidence holds for each finding, or for all that decide together.",
)
@click.option("--intersections/--no-intersections", default=True, help="Also combine the attributes.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Save the audit (.json).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; only the exit code answers.")
def command(files: tuple[str, ...], output: Path | None, as_json: bool, quiet: bool, **given: Any) -> int:
    """Audit the decisions in FILES (CSV, TSV, Parquet, JSON lines, Arrow; - is CSV from standard input).

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    check(output)
    policy = Policy(
        required=given["require"] or None,
        thresholds=_thresholds(given["threshold"]),
        correction=None if given["correction"] == "none" else given["correction"],
        familywise=given["familywise"],
    )
    with _paths(files) as paths:
        found = audit(
            paths,
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
            reference=_reference(given["reference"], given["sensitive"]),
            bands=_bands(given["bands"]),
            metrics=given["metrics"] or None,
            policy=policy,
            missing=given["missing"],
            na=given["na"],
            min_group_size=given["min_group_size"],
            confidence=given["confidence"],
            interval=given["interval"],
            draws=given["draws"],
            random_state=given["random_state"],
            intersections=given["intersections"],
        )
    return show(found, as_json=as_json, output=output, quiet=quiet)


@contextmanager
def _paths(files: tuple[str, ...]) -> Iterator[Any]:
    """The paths to read; standard input is kept in a temporary file while it is read."""
    if "-" not in files:
        yield list(files)
        return
    if len(files) > 1:
        raise CallError("- (standard input) stands alone: it cannot be read together with files.")
    if sys.stdin is None:
        raise CallError("- is standard input, and that is closed.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "standard-input.csv"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if path.stat().st_size == 0:
            raise DataError("standard input is empty.")
        yield [path]


def _positive(given: dict[str, Any]) -> Any:
    """A value that was asked for may stand for one class among many, so it is passed on as a list."""
    chosen = {role: list(given[f"positive_{role}"] or given["positive"]) or 1 for role in ("label", "prediction")}
    return chosen


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise CallError(f"{option} {text!r}: write it as NAME=VALUE.")
    return name, value


def _reference(given: tuple[str, ...], sensitive: tuple[str, ...]) -> Any:
    """COLUMN=VALUE where the text begins with an attribute and an =, else a value: a group may well be called >=65."""
    by_attribute, values = {}, []
    for text in given:
        name = max((name for name in sensitive if text.startswith(f"{name}=")), key=len, default=None)
        if name is None:
            values.append(text)
        else:
            by_attribute[name] = text[len(name) + 1 :]
    if not values:
        return by_attribute or None
    if by_attribute or len(values) > 1:
        raise CallError(f"--reference {values[0]!r}: with several, write each as COLUMN=VALUE.")
    return values[0]


def _thresholds(given: tuple[str, ...]) -> dict[str, float]:
    return {name: _float("--threshold", value) for name, value in (_pair("--threshold", text) for text in given)}


def _bands(given: tuple[str, ...]) -> dict[str, list[float]]:
    pairs = (_pair("--bands", text) for text in given)
    return {name: [_float("--bands", edge) for edge in value.split(",")] for name, value in pairs}


def _float(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CallError(f"{option}: {text!r} is not a number.") from None
