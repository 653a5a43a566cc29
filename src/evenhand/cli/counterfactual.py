"""evenhand counterfactual: would a model have predicted otherwise, had people been of another group?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from evenhand.audits.audit import Audit
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import DRAWS, JOBS, NUMBER, SEED
from evenhand.cli.numbers import REFITS as REFIT_COUNT
from evenhand.cli.options import (
    confidence_option,
    json_option,
    min_group_size_option,
    policy_option,
    quiet_option,
    reference_option,
    role_option,
)
from evenhand.cli.output import made_here, output_option, show, verbose_option
from evenhand.cli.values import imported, paths, reference
from evenhand.core import frames
from evenhand.core.calls import FAILURES, described
from evenhand.core.results import Finding
from evenhand.counterfactual.columns import text_numbers
from evenhand.counterfactual.fairness import NOISE_DRAWS, REFITS, CausalModel, counterfactual_fairness, flip_test
from evenhand.counterfactual.predictor import Predictor
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, MissingDependencyError, short_path
from evenhand.sources.rows import load_files
from evenhand.verdicts.policy_file import resolve


@click.command("counterfactual", cls=Command)
@click.argument("files", nargs=-1, required=True)
@role_option("hive")
@click.option(
    "--graph", type=click.Path(path_type=Path), help="Read what causes what from this DOT file: race -> LSAT."
)
@click.option("--sensitive", multiple=True, required=True, help="Change this column; several are changed together.")
@click.option(
    "--model", type=click.Path(path_type=Path), help="Ask this fitted model, which joblib saved; needs --trust."
)
@click.option(
    "--trust", is_flag=True, help="Load the model. A pickle can run any code: do this only if you know who made it."
)
@click.option(
    "--prediction-function",
    metavar="MODULE:FUNCTION",
    help="Ask this Python function, which takes a dataframe and returns a value for each row; may be in this folder.",
)
@click.option("--features", multiple=True, metavar="COLUMN[,COLUMN...]", help="Give the model these columns.")
@click.option(
    "--method",
    type=click.Choice(["predict", "predict_proba", "decision_function"]),
    default="predict",
    show_default=True,
    help="Call this method of the model.",
)
@click.option("--cutoff", type=NUMBER, help="Count the model's prediction as yes from this number on.")
@click.option("--positive", help="Say which class counts as positive, where the model gives classes.")
@click.option("--categorical", multiple=True, help="Take the numbers in this column as codes; may be repeated.")
@click.option("--flip", is_flag=True, help="Only change the column itself: the flip test, which ignores the causes.")
@click.option("--threshold", type=NUMBER, help="Tolerate a mean change of a prediction of this size.")
@reference_option("Measure the gaps of the others from this group.")
@click.option(
    "--refits",
    type=REFIT_COUNT,
    default=REFITS,
    show_default=True,
    help="Fit the causal model again so many times; 0 does without.",
)
@click.option(
    "--noise-draws",
    type=DRAWS,
    default=NOISE_DRAWS,
    show_default=True,
    help="Draw the noise of categories so many times.",
)
@policy_option
@min_group_size_option
@confidence_option()
@click.option("--random-state", type=SEED, help="Start resamples and draws from this seed (default 0).")
@click.option("--jobs", type=JOBS, help="Share the refits among so many processes.")
@output_option
@json_option
@quiet_option
@verbose_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Would a model have predicted otherwise, had people been of another group? FILES hold a row for each person.

    The graph says what causes what; people are moved to every other group, what it causes follows, and the model is
    asked again. Give the model with --model FILE --trust, or a function with --prediction-function.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    _check_call(options)
    predict = _predictor(options)
    graph = None if options["graph"] is None else CausalModel(options["graph"], categorical=options["categorical"])
    with paths(files) as named:
        table = frames.frame(text_numbers(load_files(named, hive=options["hive"]), options["categorical"]), None)
    found = _finding(predict, table, graph, options)
    audit = Audit(_cube(predict, table, options), resolve(options["policy"]), (found,), (), (found.metric,))
    return show(made_here(audit, files), as_json=as_json, output=output, quiet=quiet, verbose=options["verbose"])


def _check_call(options: dict[str, Any]) -> None:
    if (options["model"] is None) == (options["prediction_function"] is None):
        raise CallError("give one model, either --model FILE or --prediction-function MODULE:FUNCTION.")
    if options["model"] is not None and not options["trust"]:
        raise CallError(
            f"--model {short_path(options['model'])!r} is a pickle, and loading one can run any code. Add --trust "
            "if you know who made it, or name a function with --prediction-function."
        )
    if (options["graph"] is None) != options["flip"]:
        raise CallError("give --graph FILE, or --flip for the test that needs no graph.")


def _finding(predict: Any, table: Any, graph: CausalModel | None, options: dict[str, Any]) -> Finding:
    common = {name: options[name] for name in ("cutoff", "positive", "threshold", "confidence", "min_group_size")}
    common |= {
        "sensitive": list(options["sensitive"]),
        "features": _features(options),
        "policy": resolve(options["policy"]),
    }
    if graph is None:
        return flip_test(predict, table, **common)
    return counterfactual_fairness(
        predict,
        table,
        graph,
        reference=reference(options["reference"], options["sensitive"]),
        refits=options["refits"],
        noise_draws=options["noise_draws"],
        random_state=options["random_state"],
        n_jobs=options["jobs"],
        **common,
    )


def _features(options: dict[str, Any]) -> list[str] | None:
    return [name for text in options["features"] for name in text.split(",") if name] or None


def _predictor(options: dict[str, Any]) -> Any:
    if options["prediction_function"] is not None:
        if os.getcwd() not in sys.path:  # the module may lie in the current folder, as with `python -m`
            sys.path.insert(0, os.getcwd())
        return imported("--prediction-function", options["prediction_function"], "FUNCTION")
    model = _trusted(options["model"])
    if not callable(getattr(model, options["method"], None)):
        raise CallError(f"the model in {short_path(options['model'])!r} has no {options['method']}().")
    return getattr(model, options["method"])


def _trusted(path: Path) -> Any:
    """The model in a file: the one place where a pickle is loaded, after `_check_call` has seen --trust."""
    try:
        import joblib  # type: ignore[import-untyped]
    except ImportError:
        raise MissingDependencyError("--model needs joblib: pip install 'evenhand[ml]'") from None
    if not path.is_file():
        raise DataError(f"--model {short_path(path)!r}: there is no such file.")
    try:
        return joblib.load(path)
    except FAILURES as error:  # whatever a broken or foreign pickle raises
        raise DataError(f"--model {short_path(path)!r} cannot be loaded: {described(error)}.") from error


def _cube(predict: Any, table: Any, options: dict[str, Any]) -> Cube:
    """Counts of the same people, so that the finding can be saved as an audit."""
    predictor = Predictor(predict, _features(options), options["cutoff"], options["positive"])
    found = predictor.answers(predictor.needed(table))
    sensitive = list(options["sensitive"])
    if found.kind == "number":
        return Cube.count(table, prediction=found.values, sensitive=sensitive, task="regression")
    if found.kind == "decision":
        return Cube.count(table, prediction=found.values.astype(int), sensitive=sensitive, task="binary")
    classes = np.array(list(predictor.codes), dtype=object)[found.values.astype(int)]
    return Cube.count(table, prediction=classes, sensitive=sensitive, task="multiclass")
