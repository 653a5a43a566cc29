"""evenhand mitigate: weights for the rows of a file, or cutoffs by group from its scores."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import NUMBER
from evenhand.cli.options import (
    arguments,
    confidence_option,
    cube_of,
    database_options,
    shared_role_options,
    skip_bad_option,
)
from evenhand.cli.output import force_option, put
from evenhand.cli.targets import REPAIR
from evenhand.cli.values import numbers, paths
from evenhand.core.files import write_text
from evenhand.errors import CallError, short_path
from evenhand.sources.files import FileSource
from evenhand.sources.named_columns import listed
from evenhand.sources.rows import load_files

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.mitigate import Reweigher

_WRITES = {"reweigh": ("weights are", ".csv"), "thresholds": ("cutoffs are", ".json")}


@click.command("mitigate", cls=Command)
@click.argument("files", nargs=-1)
@database_options
@click.option(
    "--method",
    type=click.Choice(list(_WRITES)),
    required=True,
    help="Make a weight for each row (reweigh), or cutoffs of the score by group (thresholds).",
)
@shared_role_options("exposure")
@skip_bad_option
@click.option(
    "--constraint",
    default="equal_opportunity",
    show_default=True,
    help="Keep this metric within its threshold; none keeps floors alone.",
)
@click.option(
    "--within", type=NUMBER, help="Allow this largest difference, or smallest ratio (default: the metric's threshold)."
)
@click.option(
    "--floor",
    "floors",
    multiple=True,
    metavar="MEASURE=NUMBER",
    help="Keep a measure at least this large in every group; may be repeated.",
)
@click.option(
    "--objective",
    type=click.Choice(["accuracy", "balanced_accuracy"]),
    default="accuracy",
    show_default=True,
    help="Maximise this.",
)
@click.option(
    "--gain",
    multiple=True,
    metavar="CELL=NUMBER",
    help="Maximise the sum of these values of a TP, FP, TN or FN instead.",
)
@click.option(
    "--randomised", is_flag=True, help="Draw at random between two cutoffs where no single one keeps the constraint."
)
@confidence_option("Leave a margin, so that the constraint also holds for other people with this confidence.")
@click.option(
    "-o", "--output", type=REPAIR, help="Write the result to this file, such as weights.csv or thresholds.json."
)
@force_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing.")
def command(files: tuple[str, ...], method: str, output: Path | None, quiet: bool, **options: Any) -> Ending:
    """Repair what an audit of FILES showed: a weight for each row, in their order, or cutoffs of the score by group.

    Weights make --label independent of --sensitive (Kamiran and Calders 2012); pass them as sample_weight. Cutoffs are
    the best that keep --constraint; they need only counts, so FILES may be cubes, or the data a database.
    """
    what, suffix = _WRITES[method]
    if output is not None and output.suffix != suffix:
        raise CallError(f"--output {short_path(output)!r}: {what} saved as {suffix}.")
    text = _weights(files, output, options) if method == "reweigh" else _thresholds(files, output, options)
    if not quiet:
        put(lambda: text + "\n")
    return "done"


def _weights(files: tuple[str, ...], output: Path | None, options: dict[str, Any]) -> str:
    from evenhand.mitigate import Reweigher

    for option in ("control", "count", "prediction", "score", "labels", "where"):
        if options[option]:
            raise CallError(f"--method reweigh goes by --label, --sensitive and --weight; leave --{option} out.")
    roles = arguments(options)
    if roles["label"] is None or not files:
        raise CallError("--method reweigh needs files and --label: the weights are by group and label.")
    weight = [roles["weight"]] if roles["weight"] else []
    with paths(files) as named:
        roles["sensitive"] = listed(roles["sensitive"], FileSource(named, hive=options["hive"]).names)
        table = load_files(named, [roles["label"], *roles["sensitive"], *weight], hive=options["hive"])
    label = table[roles["label"]]
    who = {name: table[name] for name in roles["sensitive"]}
    own = table[weight[0]] if weight else None
    weigher = Reweigher().fit([[0]] * len(label), label, sensitive=who, sample_weight=own)
    if output is not None:
        page = io.StringIO()
        page.write("weight\n")
        page.writelines(f"{value!r}\n" for value in weigher.sample_weights().tolist())
        write_text(output, page.getvalue())
    return _shown(weigher, roles)


def _shown(weigher: Reweigher, roles: dict[str, Any]) -> str:
    from evenhand.core.results import spell
    from evenhand.core.wording import clip
    from evenhand.report.text import plain_text
    from evenhand.report.text.columns import Columns

    def write(console: Console) -> None:
        name = " × ".join(map(clip, roles["sensitive"]))
        table = Columns(console, name, clip(roles["label"]), "rows", "weight")
        for group, counts, weights in zip(weigher.groups_, weigher.counts_, weigher.table_, strict=True):
            for value, count, weight in zip(weigher.classes_, counts, weights, strict=True):
                shown = f"{weight:.4f}" if count else "undefined"
                table.add([clip(spell(group)), clip(str(value)), f"{count:,}", shown])
        table.show()

    return plain_text(write).strip("\n")


def _thresholds(files: tuple[str, ...], output: Path | None, options: dict[str, Any]) -> str:
    from evenhand.mitigate import find_thresholds

    gain, floors = numbers("--gain", options["gain"]), numbers("--floor", options["floors"])
    found = find_thresholds(
        cube_of(files, options),
        constraint=None if options["constraint"] == "none" else options["constraint"],
        within=options["within"],
        floors=floors,
        objective=gain or options["objective"],
        randomised=options["randomised"],
        confidence=options["confidence"],
    )
    if output is not None:
        found.save(output)
    return found.explain().strip("\n")
