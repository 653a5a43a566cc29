"""What a caller asks of a search: from the name of a metric or a measure to its questions on the profiles of a cube."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.catalogue import METRICS, Metric, find, is_known
from evenhand.core.arrays import Bools, Floats
from evenhand.cube.cube import Cube
from evenhand.cube.scores import ScoreTable, log_loss
from evenhand.errors import CallError, listing, nearest
from evenhand.inference.means import AMOUNTS, SCORES, SIGNED
from evenhand.measures import ALIASES, MEASURES, REGRESSION_MEASURES, SCORE_MEASURES, Measure
from evenhand.measures.cells import CellMeasure, find_cell_measure
from evenhand.measures.group_data import NEGATIVE, POSITIVE, SIDES, UNLABELLED, silent_sides, without_labels
from evenhand.measures.known import emptied
from evenhand.sources.scores import TINY
from evenhand.subgroups.halves import Moment
from evenhand.subgroups.questions import (
    CalibrationQuestion,
    CellQuestion,
    MeanQuestion,
    Question,
    ResidualQuestion,
    loss_of,
)
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.requirements import check_roles

RESIDUAL = "mean_residual"
_OF_LABELS = ("brier_score", "log_loss", RESIDUAL)
_BINARY_MEANS = {
    "mean_score": "mean score",
    "mean_score_positive": "mean score of the positive class",
    "mean_score_negative": "mean score of the negative class",
    "brier_score": "Brier score",
    "log_loss": "log loss",
    RESIDUAL: "mean residual (label − score)",
}
_MOMENTS = {
    "mean_prediction": ("f", "ff"),
    "mean_outcome": ("y", "yy"),
    RESIDUAL: ("e", "ee"),
    "mean_absolute_error": ("a", "ee"),
}
"""Of a regressor: what is averaged, and its square."""
_SCORE_MOMENTS: tuple[Moment, ...] = (("s", "s2", None), ("l", "l2", None))


@dataclass(frozen=True)
class Asked:
    """A metric or a measure that is searched: its questions, and how large a gap it tolerates by default."""

    name: str
    title: str
    threshold: float
    rows: tuple[Any, ...]
    binned: bool = False

    @cached_property
    def needs(self) -> frozenset[str]:
        """The roles without which it cannot be computed."""
        if self.binned:
            return frozenset({"score", "label"})
        return frozenset().union(*(_needs(row) for row in self.rows))


def settle(metric: Any, cube: Cube, policy: Policy) -> Asked:
    """What is searched: a metric or a measure by its name; by default the metric that decides an audit."""
    if metric is None and cube.meaning.task == "regression":
        metric = RESIDUAL if cube.has_labels else "mean_prediction"
    if metric is None:
        metric = policy.required_for(cube)[0]
    if isinstance(metric, str) and (metric in _MEASURES or not is_known(metric)):
        return _of_measure(metric, cube)
    entry, presets = find(getattr(metric, "metric", metric))
    if presets.get("judged_on", entry.judged_on) != "difference" or entry.index is not None or not entry.counted:
        raise CallError(
            f"{entry.name} cannot be searched: groups are compared by the difference of a measure. Name one such as "
            "'demographic_parity', 'equal_opportunity' or 'calibration', or a measure such as 'selection_rate'."
        )
    check_roles(entry, cube)
    if entry.binned and cube.meaning.task == "regression":
        raise CallError(f"{entry.name} cannot be searched; metric='mean_residual' can.")
    return Asked(entry.name, entry.title, _threshold(entry, policy), entry.rows, entry.binned)


def _threshold(entry: Metric, policy: Policy) -> float:
    limit = policy.thresholds.get(entry.name, entry.threshold)
    return 0.1 if limit is None else float(limit)


_MEASURES = (*MEASURES, *ALIASES, *SCORE_MEASURES, *REGRESSION_MEASURES)


def _of_measure(name: str, cube: Cube) -> Asked:
    """A measure by its own name; its threshold is that of the metric which compares it."""
    if name not in _MEASURES:
        raise CallError(f"{name!r} is not a metric or a measure; {nearest(name, [*METRICS, *_MEASURES])}")
    if name in MEASURES or name in ALIASES:
        row: Any = find_cell_measure(name)
    else:
        row = (REGRESSION_MEASURES if cube.meaning.task == "regression" else SCORE_MEASURES).get(name, name)
    asked = Asked(name if isinstance(row, str) else row.name, getattr(row, "title", name), 0.1, (row,))
    lacking = sorted(role for role in asked.needs if not cube.has[role])
    if lacking:
        raise CallError(f"{name} needs {' and '.join(role + '=' for role in lacking)}, which was not given.")
    return asked


def _needs(row: Any) -> frozenset[str]:
    if isinstance(row, str):
        return frozenset({"score", "label"})
    needs: frozenset[str] = row.needs
    return needs


def questions(asked: Asked, cube: Cube, silent: Bools | None = None) -> tuple[Question, ...]:
    """The questions of a metric or measure on the profiles of a cube.

    `silent` says of which profiles the labels of those refused, and of those selected, tell nothing, [profiles, 2]:
    what rests on these labels is asked of all others.
    """
    if asked.binned:
        return _calibration(cube)
    if silent is None:
        return tuple(_question(row, cube) for row in asked.rows)
    return tuple(_question(row, _known(row, cube, silent)) for row in asked.rows)


def lacking(row: Measure | str, silent: Bools) -> Bools:
    """Which profiles or groups lack labels that a measure rests on; `silent` is [groups, 2]."""
    known = SCORE_MEASURES.get(row) if isinstance(row, str) else row
    return without_labels(SIDES if known is None else known.labels_of, silent)


def _known(row: Measure | str, cube: Cube, silent: Bools) -> Cube:
    """The cube with nobody in the profiles that lack the labels; as it is where all of them do."""
    which = lacking(row, silent)
    return cube if which.all() else emptied(cube, which)


def moments(asked: Asked, cube: Cube) -> tuple[Moment, ...]:
    """The sums of a table of scores that are asked about."""
    if cube.meaning.task != "regression":
        return _SCORE_MOMENTS
    names = (row if isinstance(row, str) else row.name for row in asked.rows)
    return tuple((*_MOMENTS[name], "eee" if name == RESIDUAL else None) for name in names if name in _MOMENTS)


def _question(row: Measure | str, cube: Cube) -> Question:
    if isinstance(row, CellMeasure):
        if cube.meaning.task != "binary":
            raise CallError(f"{row.name} is searched for a yes or no; this task is {cube.meaning.task!r}.")
        if row.share or row.unit != "rate" or not (row.form or row.of):
            raise CallError(f"{row.name} is not a rate of each group, so it cannot be searched: choose a rate.")
        return CellQuestion.of(cube, row)
    name = row if isinstance(row, str) else row.name
    known = _MOMENTS if cube.meaning.task == "regression" else _BINARY_MEANS
    if name not in known or cube.scores is None:
        raise CallError(
            f"{name} cannot be searched, because it is not a mean over people; of scores these can: {listing(known)}."
        )
    if cube.meaning.task == "regression":
        return _of_numbers(name, row, cube, cube.scores)
    return _of_scores(name, cube, cube.scores)


def _by_pair(table: ScoreTable, count: int, *fields: Floats, where: Any = None) -> Floats:
    """Lines of a table of scores summed by profile, [profiles, fields]."""
    chosen = np.ones(len(table.n), dtype=bool) if where is None else where
    pair = table.pair[chosen]
    sums = [np.bincount(pair, weights=field[chosen], minlength=count) for field in fields]
    return np.stack(sums, axis=1)


def _masses(table: ScoreTable) -> tuple[Floats, Floats, Floats]:
    """People, Σw and Σw² of each line of a table."""
    n = table.n.astype(np.float64)
    return (n, table.sums["w"], table.sums["w2"]) if table.weighted else (n, n, n)


def _of_scores(name: str, cube: Cube, table: ScoreTable) -> Question:
    """A mean of scores or of losses."""
    if name in _OF_LABELS and cube.has_predictions and silent_sides(cube.cells.sum(axis=0)).any():
        raise CallError(f"{name} needs labels of the selected and of the refused, and one of the two has none.")
    weighted = table.weighted
    n, w, w2 = _masses(table)
    s, q1, q2 = (table.sums[key] for key in (("ws", "w2s", "w2s2") if weighted else ("s", "s", "s2")))
    bins, label = table.bins, table.label
    labels = {"mean_score_positive": [POSITIVE], "mean_score_negative": [NEGATIVE]}.get(name, [NEGATIVE, POSITIVE])
    chosen = np.isin(label, [*labels, *([UNLABELLED] if name == "mean_score" else [])])
    first, span, growth = s, (bins.low, bins.high), SCORES
    positive = np.where(label == POSITIVE, w, 0.0)
    if name in _OF_LABELS and not bins.is_probability:
        raise CallError(
            f"{name} compares the score with what happened, so it needs a probability; this score goes from "
            f"{bins.low:g} to {bins.high:g}."
        )
    if name == RESIDUAL:
        y2 = np.where(label == POSITIVE, w2, 0.0)
        y1 = np.where(label == POSITIVE, q1, 0.0)
        first, q1, q2, span, growth = positive - s, y2 - q1, y2 - 2 * y1 + q2, (-1.0, 1.0), SIGNED
    elif name == "brier_score":
        mean = s / np.where(w > 0, w, 1.0)
        each, second = loss_of(name, mean, label), table.sums.get("ws2" if weighted else "s2", w * mean**2)
        first = second + np.where(label == POSITIVE, w - 2 * s, 0.0)
        q1, q2, span = w2 * each, w2 * each**2, (0.0, 1.0)
    elif name == "log_loss":
        first, q1, q2 = _log_losses(table, w, w2)
        span = (0.0, -float(np.log(TINY)))
    sums = _by_pair(table, len(cube.pairs), n, w, w2, first, q1, q2, positive, s, 0 * s, where=chosen)
    kind = ResidualQuestion if name == RESIDUAL else MeanQuestion
    return kind(name, _BINARY_MEANS[name], sums, span, growth, of_label=name in _OF_LABELS)


def _log_losses(table: ScoreTable, w: Floats, w2: Floats) -> tuple[Floats, Floats, Floats]:
    names = ("wl", "w2l", "w2l2") if table.weighted else ("l", "l", "l2")
    if all(name in table.sums for name in names):
        first, q1, q2 = (table.sums[name] for name in names)
        return first, q1, q2
    if not table.bins.exact:
        raise CallError("log_loss needs the loss of each person, which this cube does not hold: count the rows again.")
    each = log_loss(table.bins.starts[table.bin], table.label)
    return w * each, w2 * each, w2 * each**2


def _of_numbers(name: str, row: Any, cube: Cube, table: ScoreTable) -> Question:
    """A mean of what a regressor predicts, or of its errors."""
    moment, square = _MOMENTS[name]
    weighted, reading = table.weighted, table.reading
    n, w, w2 = _masses(table)
    names = (f"w_{moment}", f"w2_{moment}", f"w2_{square}") if weighted else (moment, moment, square)
    first, q1, q2 = (table.sums[key] for key in names)
    none = np.zeros(len(n))
    third = table.sums.get("w_eee" if weighted else "eee", none) if moment == "e" else none
    chosen = None if name == "mean_prediction" else table.label < reading.labels - 1
    f = (reading.bins.low, reading.bins.high)
    y = (reading.outcome[0], reading.outcome[-1]) if reading.outcome else f
    e = (y[0] - f[1], y[1] - f[0])
    span = {"f": f, "y": y, "e": e, "a": (0.0, max(map(abs, e)))}[moment]
    sums = _by_pair(table, len(cube.pairs), n, w, w2, first, q1, q2, none, none, third, where=chosen)
    growth, middle = SIGNED if moment == "e" else AMOUNTS, reading.middle if moment in "fy" else 0.0
    return MeanQuestion(name, getattr(row, "title", name), sums, span, growth, middle)


def _calibration(cube: Cube) -> tuple[Question, ...]:
    """A question for each calibration bin."""
    table = cube.scores
    assert table is not None  # noqa: S101 - check_roles has asked for it
    edges = table.reading.edges
    by_edge = np.clip(np.searchsorted(edges, table.bins.starts, side="right") - 1, 0, len(edges) - 2)[table.bin]
    labelled = table.label < UNLABELLED
    n, w, w2 = _masses(table)
    s = table.sums["ws" if table.weighted else "s"]
    sides = [(table.label == side).astype(np.float64) for side in (POSITIVE, NEGATIVE)]
    fields: Sequence[Floats] = [n, *(w * side for side in sides), s]
    if table.weighted:
        fields = [*fields, *(w2 * side for side in sides)]
    return tuple(
        CalibrationQuestion((low, high), _by_pair(table, len(cube.pairs), *fields, where=labelled & (by_edge == i)))
        for i, (low, high) in enumerate(itertools.pairwise(edges))
    )
