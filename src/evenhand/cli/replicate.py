"""evenhand replicate: fit many replicas of a model to a file, and judge how stable they are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
import numpy as np

from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import JOBS, NUMBER, REPLICAS, SEED
from evenhand.cli.stability import arguments, judging_options, show_stability
from evenhand.cli.targets import REPLICAS as REPLICAS_FILE
from evenhand.cli.values import imported, pairs, paths
from evenhand.core.arrays import Array, Floats, Indices
from evenhand.core.calls import FAILURES, described
from evenhand.core.files import replacing
from evenhand.core.quantities import check_seed
from evenhand.core.wording import number_of
from evenhand.errors import CallError, DataError, Problems, listing, shorten
from evenhand.replicas.fit import Replicas, replicate
from evenhand.replicas.sheet import guarded
from evenhand.replicas.stability import stability
from evenhand.sources.columns import encode
from evenhand.sources.features import Features
from evenhand.sources.features import read as read_features
from evenhand.sources.files.formats import identifier, literal
from evenhand.sources.files.query import connect
from evenhand.sources.rows import load_files


@click.command("replicate", cls=Command)
@click.argument("files", nargs=-1, required=True)
@click.option("--label", required=True, help="Take what happened from this column.")
@click.option("--positive", default="1", show_default=True, help="Say which value counts as positive.")
@click.option(
    "--feature",
    "features",
    multiple=True,
    help="Learn from this column (default: from all but label and groups); may be repeated.",
)
@click.option(
    "--estimator",
    default="sklearn.linear_model:LogisticRegression",
    show_default=True,
    metavar="MODULE:CLASS",
    help="Fit this classifier, which has the interface of scikit-learn.",
)
@click.option(
    "--parameter",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of the estimator, such as max_iter=500; may be repeated.",
)
@click.option("--n-replicas", type=REPLICAS, default=50, show_default=True, help="Fit this many replicas.")
@click.option(
    "--fraction", type=NUMBER, default=0.8, show_default=True, help="Draw this share of the rows for each replica."
)
@click.option(
    "--test-share", type=NUMBER, default=0.3, show_default=True, help="Keep this share of the rows for the test."
)
@click.option(
    "--random-state", type=SEED, default=0, show_default=True, help="Start the split and the replicas from this seed."
)
@click.option(
    "--n-jobs", type=JOBS, default=-1, show_default=True, help="Fit this many replicas at once; -1 uses all cores."
)
@click.option("--save-replicas", type=REPLICAS_FILE, help="Also write the replicas, as .parquet or .csv.")
@judging_options
def command(files: tuple[str, ...], output: tuple[Path, ...], **options: Any) -> Ending:
    """Fit replicas of a model to bootstrap samples of FILES and see for whom they disagree.

    Rows are split once; replicas are fitted to one part and predict the other. Numbers are standardised, text becomes a
    column for each value, and a missing number is replaced by the mean.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    model = estimator(options["estimator"], options["parameter"])
    with paths(files) as named:
        table = load_files(named, hive=options["hive"])
    roles = [options["label"], *options["sensitive"]]
    for name in roles:
        if name not in table:
            raise CallError(f"{shorten(name)!r} is not a column; there are: {listing(table)}.")
    features = read_features(
        table,
        features=options["features"] or None,
        apart=roles,
        outcomes={options["label"]: "the label"},
        na=options["na"],
    )
    levels, codes = encode(table[options["label"]], f"label column {shorten(options['label'])!r}", options["na"])
    train, test = split(codes, options["test_share"], options["random_state"])
    X = matrix(features, train)
    y = np.array([str(level) for level in levels])[codes[train]]
    replicas = replicate(
        model,
        X[train],
        y,
        X[test],
        n_replicas=options["n_replicas"],
        fraction=options["fraction"],
        positive=options["positive"],
        random_state=options["random_state"],
        n_jobs=options["n_jobs"],
    )
    people = {name: [table[name][i] for i in test] for name in roles}
    if options["save_replicas"] is not None:
        save(replicas, people, options["save_replicas"])
    result = stability(
        replicas, data=people, label=options["label"], positive=[options["positive"]], **arguments(options)
    )
    return show_stability(result, files, {**options, "output": output})


def estimator(path: str, parameters: tuple[str, ...] = ()) -> Any:
    """A classifier by MODULE:CLASS, with parameters whose values are read as JSON where they are."""
    found = imported("--estimator", path, "CLASS")
    settings = {key: _value(text) for key, text in pairs("--parameter", parameters).items()}
    try:
        return found(**settings)
    except FAILURES as error:
        raise CallError(f"--estimator {shorten(path)!r} cannot be made: {described(error)}.") from error


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def split(codes: Array, share: float, random_state: int) -> tuple[Indices, Indices]:
    """Rows to fit to, which need a label, and rows to predict; the same share of each label."""
    problems = Problems()
    if not 0 < share < 1:
        problems.add(f"--test-share {share} must be a share above 0 and below 1, such as 0.3.")
    check_seed(random_state, problems)
    problems.raise_if_any(CallError)
    random = np.random.default_rng(random_state)
    test = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = random.permutation(np.flatnonzero(codes == code))
        test[rows[: round(share * len(rows))]] = True
    train = np.flatnonzero(~test & (codes >= 0))
    if not len(train) or not test.any():
        verb = "is" if len(codes) == 1 else "are"
        raise DataError(f"{number_of(len(codes))} {verb} too few to fit a model to some and predict the others.")
    return train, np.flatnonzero(test)


def matrix(features: Features, train: Indices) -> Floats:
    """The features as numbers: standardised by the rows to learn from, and a column of 0 and 1 for each value."""
    columns = []
    for column in features.columns:
        if column.levels is not None:
            columns += [(column.values == i).astype(np.float64) for i in range(len(column.levels))]
            continue
        known = column.values[train][~np.isnan(column.values[train])]
        middle, width = (float(known.mean()), float(known.std())) if len(known) else (0.0, 0.0)
        filled = np.where(np.isnan(column.values), middle, column.values)
        columns.append((filled - middle) / (width or 1.0))
    return np.stack(columns, axis=1)


def save(replicas: Replicas, people: dict[str, list[Any]], path: Path) -> None:
    """A row for each person: label, groups, and p_0, p_1, … as `evenhand stability` reads them."""
    import duckdb

    form, spelled = ("parquet", str) if path.suffix == ".parquet" else ("csv, HEADER", guarded)
    held: dict[str, Any] = {
        f"c{i}": np.array(["" if value is None else spelled(str(value)) for value in values])
        for i, values in enumerate(people.values())
    }
    held |= {f"p_{i}": said for i, said in enumerate(replicas.values)}
    renamed = [f"c{i} AS {identifier(spelled(name))}" for i, name in enumerate(people)]
    fields = ", ".join([*renamed, *(f"p_{i}" for i in range(len(replicas)))])
    with replacing(path) as temporary, connect([temporary]) as connection:
        connection.register("people", held)
        target = literal(os.path.abspath(temporary))
        try:
            connection.execute(f"COPY (SELECT {fields} FROM people) TO {target} (FORMAT {form})")  # noqa: S608 - quoted
        except duckdb.Error as error:
            raise OSError(str(error).partition("\n")[0]) from None
