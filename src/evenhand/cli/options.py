"""Options that say how data is counted, and what is counted: data files, or cubes that were counted before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from evenhand.cli import database
from evenhand.cli.values import bands, paths
from evenhand.cube import salvage
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, listing

SUFFIX = ".cube"

_ROLES = (
    click.option("--label", help="Column of what happened."),
    click.option("--prediction", help="Column of what was decided."),
    click.option("--score", help="Column of the score behind the decision."),
    click.option("--cutoff", type=float, help="Score at or above which a row is predicted positive."),
    click.option(
        "--score-range", nargs=2, type=float, metavar="LOW HIGH", help="Range of the score; spares a look for it."
    ),
    click.option(
        "--higher-is",
        type=click.Choice(["positive", "negative"]),
        default="positive",
        show_default=True,
        help="Which class a higher score speaks for.",
    ),
    click.option("--bins", type=int, default=10, show_default=True, help="Calibration bins."),
    click.option(
        "--strategy",
        type=click.Choice(["uniform", "quantile"]),
        default="uniform",
        show_default=True,
        help="Calibration bins of one width, or with equally many people.",
    ),
    click.option("--sensitive", multiple=True, help="Column that makes groups; may be repeated."),
    click.option("--control", multiple=True, help="Column to hold fixed; may be repeated."),
    click.option("--count", help="Column: how many people a row stands for."),
    click.option("--weight", help="Column of sampling or importance weights."),
    click.option("--positive", multiple=True, help="The favourable value (default 1); repeated, several are."),
    click.option("--positive-label", multiple=True, help="The favourable value of the label alone."),
    click.option("--positive-prediction", multiple=True, help="The favourable value of the prediction alone."),
    click.option(
        "--bands", multiple=True, metavar="COLUMN=0,25,45", help="Edges that cut a numeric column into groups."
    ),
    click.option(
        "--missing",
        type=click.Choice(["group", "drop", "error"]),
        default="group",
        show_default=True,
        help="What becomes of rows without a group.",
    ),
    click.option(
        "--task",
        type=click.Choice(["binary", "multiclass", "regression"]),
        help="What is predicted: a yes or no, one of several classes, or a number. Told from the data if left out.",
    ),
    click.option("--na", multiple=True, help="Text that also means missing, such as NA; may be repeated."),
)
_NAMES = (
    *("label", "prediction", "score", "cutoff", "score_range", "higher_is", "bins", "strategy", "sensitive", "control"),
    *("count", "weight", "positive", "positive_label", "positive_prediction", "bands", "missing", "task", "na"),
)
skip_bad_option = click.option(
    "--skip-bad", is_flag=True, help="Leave out files that cannot be read, and say so in the notes."
)


def role_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that counts data."""
    for option in reversed(_ROLES):
        command = option(command)
    return command


def arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Those options as `Cube.count` takes them."""
    if not given["sensitive"]:
        raise click.UsageError("Missing option '--sensitive'.")
    return {
        "label": given["label"],
        "prediction": given["prediction"],
        "score": given["score"],
        "cutoff": given["cutoff"],
        "score_range": given["score_range"] or None,
        "higher_is": given["higher_is"],
        "bins": given["bins"],
        "strategy": given["strategy"],
        "sensitive": list(given["sensitive"]),
        "control": list(given["control"]) or None,
        "count": given["count"],
        "weight": given["weight"],
        # A value that was asked for may stand for one class among many, so it is passed on as a list.
        "positive": {
            role: list(given[f"positive_{role}"] or given["positive"]) or 1 for role in ("label", "prediction")
        },
        "bands": bands(given["bands"]),
        "missing": given["missing"],
        "na": given["na"],
        "task": given["task"],
    }


def cube_of(files: tuple[str, ...], given: dict[str, Any]) -> Cube:
    """The cube of some files: counted from data, or the sum of cubes; or of a table of a database."""
    if database.is_asked(given, files):
        roles = arguments(given)
        with database.opened(given) as frame:
            return Cube.count(frame, **roles)
    if are_cubes(files):
        _refuse_roles()
        return salvage.merge(files, skip_bad=given["skip_bad"])
    roles = arguments(given)
    with paths(files) as found:
        return salvage.count(found, roles, skip_bad=given["skip_bad"])


def are_cubes(files: tuple[str, ...]) -> bool:
    """Do the files hold cubes? All of them, or none."""
    cubes = [name for name in files if Path(name).suffix == SUFFIX]
    if cubes and len(cubes) < len(files):
        other = next(name for name in files if name not in cubes)
        raise CallError(f"{cubes[0]!r} is a cube and {other!r} is not: count that one first, with evenhand cube.")
    return bool(cubes)


def _refuse_roles() -> None:
    """Options that say how to count are refused where everything is counted already, lest they seem to do something."""
    context = click.get_current_context()
    said = [name for name in _NAMES if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if said:
        options = listing([f"--{name.replace('_', '-')}" for name in said]).replace("'", "")
        raise CallError(f"a cube is counted already, so {options} cannot be given: it says itself what it holds.")
