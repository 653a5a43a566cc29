"""MEASURES: what is computed for one group, as rows of coefficients over the cells.

The cells of a binary decision, in this order: TN FP FN TP for rows with a label, U0 U1 for decisions without
one (unlabelled), D0 D1 for labels without a decision. A measure is a ratio of two coefficient rows, a mean of
other measures, or a share of the overall total: data, not code, so that all measures of all groups are one
matrix product and a page can evaluate the same table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from evenhand.core.arguments import checked
from evenhand.core.arrays import Array, Bools, Floats
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, listing, nearest
from evenhand.inference import simultaneous
from evenhand.inference.clustered import Clustered
from evenhand.inference.spread import Average, Form, Proportions, Spread, effective
from evenhand.measures.base import MadeOf, Measure, MeasureDefaults
from evenhand.measures.group_data import SIDES, Cells, GroupData, Side, silent_sides, without_labels
from evenhand.measures.row_measure import row_measure
from evenhand.sources.documentation import documented

CELLS = ("TN", "FP", "FN", "TP", "U0", "U1", "D0", "D1")


@dataclass(frozen=True)
class CellMeasure(MeasureDefaults):
    """A number for one group.

    `numerator` and `denominator` name cells with an optional whole factor: "2TP" or "TP FN". `of` makes the
    measure the mean of other measures instead. With `share`, the denominator is taken over everyone. An empty
    denominator makes a plain total. `empty` completes the reason for an undefined value: "no … among Asian".
    """

    name: str
    title: str
    numerator: str = ""
    denominator: str = ""
    of: tuple[str, ...] = ()
    share: bool = False
    empty: str = ""
    aliases: tuple[str, ...] = ()
    formula: str = ""
    unit: str = "rate"
    """"rate" is shown in percent, "ratio" and "number" as they are."""

    @property
    def needs(self) -> frozenset[str]:
        """The roles without which the measure has no value."""
        if self.of:
            return frozenset().union(*(MEASURES[name].needs for name in self.of))
        cells = set(_tokens(self.numerator)) | set(_tokens(self.denominator))
        needs = set()
        if not cells & {"U0", "U1"} and cells != set(CELLS):
            needs.add("label")
        if not cells & {"D0", "D1"} and cells != set(CELLS):
            needs.add("prediction")
        return frozenset(needs)

    @property
    def made_of(self) -> MadeOf:
        return "cells"

    @cached_property
    def labels_of(self) -> tuple[Side, ...]:
        """Whose labels it rests on. A measure that counts the unlabelled of a side does not rest on their labels."""
        if self.of:
            return tuple(side for side in SIDES if any(side in MEASURES[name].labels_of for name in self.of))
        cells = set(_tokens(self.numerator)) | set(_tokens(self.denominator))
        return tuple(
            side for side, (labelled, unlabelled) in _SIDES.items() if cells & labelled and unlabelled not in cells
        )

    def settled(self, side: Side) -> float | None:
        if self.of:
            parts = [part for name in self.of if (part := MEASURES[name].settled(side)) is not None]
            return float(np.mean(parts)) if len(parts) == len(self.of) else None
        labelled, unlabelled = _SIDES[side]
        top, bottom = (part[[CELLS.index(name) for name in (*labelled, unlabelled)]] for part in self.coefficients)
        same = not self.share and bottom.any() and np.array_equal(top * bottom.sum(), bottom * top.sum())
        return float(top.sum() / bottom.sum()) if same else None

    @property
    def coefficients(self) -> tuple[Floats, Floats]:
        """Numerator and denominator as rows over the cells."""
        return _coefficients(self.numerator), _coefficients(self.denominator)

    @cached_property
    def form(self) -> Form | None:
        """The measure as a function of a proportion; None for totals, means and stranger ratios."""
        if self.of or not self.denominator:
            return None
        top, bottom = _coefficients(self.numerator), _coefficients(self.denominator)
        chosen = (top > 0).astype(float)
        if self.share:
            return Form(chosen, 1 - chosen)
        rest = ((bottom > 0) & (top == 0)).astype(float)
        factors = [set(part[cells > 0].tolist()) for part, cells in ((top, chosen), (bottom, chosen), (bottom, rest))]
        if any(len(part) != 1 for part in factors):
            return None
        alpha, gamma, beta = (part.pop() for part in factors)
        return Form(chosen, rest, alpha, beta, gamma) if gamma in (0.0, alpha) else None

    def spread(self, data: GroupData) -> Spread | None:
        """The measure of all groups; None for a plain total, which has no interval."""
        return spread_of_cells(self, data.cells)

    def values(self, data: GroupData, spread: Spread | None) -> Floats:  # noqa: ARG002 - the cells say it exactly
        """The value of each group."""
        return evaluate(data.cells.mass, [self], data.cells.everyone, data.cells.silent)[self.name]

    def support(self, data: GroupData, spread: Spread | None) -> Array:  # noqa: ARG002 - as above
        """The people in the denominator."""
        return support(data.cells.people, self, data.cells.silent)

    @property
    def linear(self) -> bool:
        """Of a ratio everyone's value is the mean weighted by the denominators; not of a mean, a share or a total."""
        return bool(self.denominator) and not self.of and not self.share

    @property
    def tasks(self) -> frozenset[str]:
        return frozenset({"binary", "multiclass"})

    def complements(self, other: CellMeasure) -> bool:
        """Do the two rates add up to 1 in every group, so that a gap in one is the same gap in the other?"""
        if not (self.linear and other.linear):
            return False
        (top, bottom), (rest, whole) = self.coefficients, other.coefficients
        return bool((bottom == whole).all() and (top + rest == bottom).all())

    def mass(self, data: GroupData) -> Floats:
        """The denominators."""
        return denominators(self, data.cells.mass)

    def reason(self, group: str) -> str:
        """Why the measure is undefined for a group."""
        return f"no {self.empty} among {group}"


_SIDES: dict[Side, tuple[set[str], str]] = {"refused": ({"TN", "FN"}, "U0"), "selected": ({"FP", "TP"}, "U1")}
_EVERYONE = " ".join(CELLS)
_DECIDED = "TN FP FN TP U0 U1"

# fmt: off
_TABLE = (
    CellMeasure("selection_rate", "selection rate", "FP TP U1", _DECIDED, empty="decisions",
                aliases=("predicted_prevalence", "pprev", "positive_rate", "acceptance_rate"), formula="(TP + FP) / n"),
    CellMeasure("base_rate", "base rate", "FN TP D1", "TN FP FN TP D0 D1", empty="labels",
                aliases=("prevalence", "prev"), formula="(TP + FN) / n"),
    CellMeasure("accuracy", "accuracy", "TN TP", "TN FP FN TP", empty="labelled decisions",
                aliases=("accuracy_score",), formula="(TP + TN) / n"),
    CellMeasure("error_rate", "error rate", "FP FN", "TN FP FN TP", empty="labelled decisions",
                aliases=("zero_one_loss",), formula="(FP + FN) / n"),
    CellMeasure("true_positive_rate", "true positive rate", "TP", "FN TP", empty="positive labels",
                aliases=("tpr", "recall", "sensitivity", "recall_score"), formula="TP / (TP + FN)"),
    CellMeasure("false_positive_rate", "false positive rate", "FP", "TN FP", empty="negative labels",
                aliases=("fpr", "fall_out"), formula="FP / (FP + TN)"),
    CellMeasure("true_negative_rate", "true negative rate", "TN", "TN FP", empty="negative labels",
                aliases=("tnr", "specificity"), formula="TN / (TN + FP)"),
    CellMeasure("false_negative_rate", "false negative rate", "FN", "FN TP", empty="positive labels",
                aliases=("fnr", "miss_rate"), formula="FN / (FN + TP)"),
    CellMeasure("positive_predictive_value", "positive predictive value", "TP", "FP TP", empty="positive decisions",
                aliases=("ppv", "precision", "precision_score"), formula="TP / (TP + FP)"),
    CellMeasure("negative_predictive_value", "negative predictive value", "TN", "TN FN", empty="negative decisions",
                aliases=("npv",), formula="TN / (TN + FN)"),
    CellMeasure("false_discovery_rate", "false discovery rate", "FP", "FP TP", empty="positive decisions",
                aliases=("fdr",), formula="FP / (FP + TP)"),
    CellMeasure("false_omission_rate", "false omission rate", "FN", "TN FN", empty="negative decisions",
                aliases=("for",), formula="FN / (FN + TN)"),
    CellMeasure("balanced_accuracy", "balanced accuracy", of=("true_positive_rate", "true_negative_rate"),
                empty="positive or no negative labels", aliases=("balanced_accuracy_score",),
                formula="(TPR + TNR) / 2"),
    CellMeasure("f1", "F1", "2TP", "FP FN 2TP", empty="positive labels or decisions", aliases=("f1_score",),
                formula="2 TP / (2 TP + FP + FN)"),
    CellMeasure("threat_score", "threat score", "TP", "FP FN TP", empty="positive labels or decisions",
                aliases=("critical_success_index", "jaccard_score"), formula="TP / (TP + FP + FN)"),
    CellMeasure("error_balance", "number of false negatives for each false positive", "FN", "FP",
                empty="false positives", aliases=("treatment_ratio",), formula="FN / FP", unit="ratio"),
    CellMeasure("selected_share", "share of all selected", "FP TP U1", "FP TP U1", share=True,
                empty="positive decisions", aliases=("ppr",), formula="selected in the group / selected overall"),
    CellMeasure("count", "count", _EVERYONE, aliases=("n", "group_size"), formula="n", unit="number"),
)
# fmt: on

MEASURES: dict[str, CellMeasure] = {row.name: row for row in _TABLE}
ALIASES: dict[str, str] = {alias: row.name for row in _TABLE for alias in row.aliases}


@documented
@checked
def measure(
    name: str,
    function: Any = None,
    *,
    numerator: str = "",
    denominator: str = "",
    columns: Mapping[str, Any] | None = None,
    raw: bool = False,
    title: str | None = None,
    unit: str = "rate",
) -> Any:
    """Your own measure: coefficients over the cells, or any function of the rows of a group.

    A function gets arrays of the rows of one group, by the names of its parameters: `label` (or `y_true`), `prediction`
    (`y_pred`), `score` (`y_score`, `y_proba`), `weight` (`sample_weight`), and whatever `columns` names. Another
    parameter is the column of the data with that name. Label and prediction are 1 and 0 (1 is positive), the numbers of
    a regressor, or the caller's own values where there are several classes. Rows that lack a label, prediction or score
    that the function takes are left out.

    The function returns a number, or NaN (or divides by zero) where there is none; an array, a matrix or a mapping is
    compared element by element. It runs group by group on data in memory, and again for each of `draws` samples of the
    rows, which make its interval: slower than a measure made of cells.

    Parameters
    ----------
    name
        A plain identifier, such as "lift".
    function
        A function of the rows of one group, in the place of `numerator`.
    numerator
        The cells whose sum is measured, such as "TP FP"; TN, FP, FN, TP, U0 and U1, with a factor as in "2TP".
    denominator
        The cells that it is divided by.
    columns
        What else the function takes, by its parameter, such as {"amount": "loan_amount"}: a column of the data, a list
        of columns, or an array.
    raw
        Whether label and prediction are the caller's own values for every task.
    title
        What tables and sentences call it; by default its name.
    unit
        What its numbers are: "rate" is shown in percent.

    Returns
    -------
    CellMeasure or RowMeasure
        The measure, for `evenhand.metric`.

    >>> lift = measure("wrongly_flagged_share", numerator="FP", denominator="TN FP FN TP")
    >>> lift.needs == {"label", "prediction"}
    True
    >>> def profit(label, prediction, amount):
    ...     return np.mean(prediction * np.where(label == 1, 0.1, -1.0) * amount)
    >>> measure("profit", profit, unit="ratio").inputs.columns
    {'amount': 'amount'}
    """
    if not name.isidentifier():
        raise CallError(f"measure name {name!r} must be a plain identifier such as 'lift'.")
    if (function is None) == (not numerator):
        raise CallError(f"measure {name!r} needs either numerator= (cells such as 'TP FP') or a function.")
    title = title or name.replace("_", " ")
    if function is not None:
        return row_measure(name, function, columns=columns, raw=raw, title=title, unit=unit)
    if columns is not None or raw:
        raise CallError(f"measure {name!r} is made of counts: columns= and raw= are for a function of the rows.")
    _coefficients(numerator)
    _coefficients(denominator)
    return CellMeasure(
        name,
        title,
        numerator,
        denominator,
        empty=f"cases for {title}",
        unit=unit,
        formula=f"({numerator}) / ({denominator})" if denominator else numerator,
    )


def find_cell_measure(name: str | CellMeasure) -> CellMeasure:
    """A measure made of cells by its name or an alias; a measure of your own is returned as it is."""
    if isinstance(name, CellMeasure):
        return name
    if name in MEASURES:
        return MEASURES[name]
    if name in ALIASES:
        return MEASURES[ALIASES[name]]
    raise CallError(f"{name!r} is not a measure; {nearest(name, [*MEASURES, *ALIASES])}")


def cell_measures(measures: Iterable[Measure]) -> list[CellMeasure]:
    """Those of some measures that are made of cells."""
    return [measure for measure in measures if isinstance(measure, CellMeasure)]


def evaluate(
    cells: Floats, measures: Iterable[CellMeasure], total: Floats | None = None, silent: Bools | None = None
) -> Mapping[str, Floats]:
    """Each measure for each group: `cells` is [..., groups, 8], a value is [..., groups].

    `total` holds the cells of everyone, for shares; by default their sum over the groups. `silent` says of each group
    whether nobody refused, and nobody selected, has a label; by default as the cells are (see `silent_sides`).
    """
    measures = list(measures)
    silent = silent_sides(cells) if silent is None else silent
    direct = {part.name: part for row in measures for part in _parts(row)}
    numerators = np.stack([_coefficients(row.numerator) for row in direct.values()], axis=1)
    denominators = np.stack([_coefficients(row.denominator) for row in direct.values()], axis=1)
    top, bottom = cells @ numerators, cells @ denominators
    if total is None:
        total = cells.sum(axis=-2)
    everyone = (total @ denominators)[..., None, :]
    values: dict[str, Floats] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for j, row in enumerate(direct.values()):
            unknown = without_labels(row.labels_of, silent)
            if not row.denominator:
                values[row.name] = np.where(unknown, np.nan, top[..., j])
                continue
            under = np.broadcast_to(everyone[..., j], top[..., j].shape) if row.share else bottom[..., j]
            values[row.name] = np.where((under == 0) | unknown, np.nan, top[..., j] / under)
    for row in measures:
        if row.of:
            values[row.name] = np.mean([values[name] for name in row.of], axis=0)
    return {row.name: values[row.name] for row in measures}


def support(cells: Array, row: CellMeasure, silent: Bools | None = None) -> Array:
    """How many rows of each group a measure rests on: its denominator (the smaller one, for a mean).

    Nobody, where the labels that it rests on are not known; `silent` is as in `evaluate`.
    """
    silent = silent_sides(cells) if silent is None else silent
    if row.of:
        return np.min([support(cells, MEASURES[name], silent) for name in row.of], axis=0)  # type: ignore[no-any-return]
    used = _coefficients(row.denominator or row.numerator) > 0
    if row.share:
        used = _coefficients(_DECIDED) > 0
    return np.where(without_labels(row.labels_of, silent), 0, cells[..., used].sum(axis=-1))


def denominators(row: CellMeasure, cells: Floats) -> Floats:
    """What the numerator of a measure is divided by in each group; `cells` is [groups, 8]."""
    return np.asarray(cells @ row.coefficients[1], dtype=np.float64)


def spread_of_cells(row: CellMeasure, cells: Cells) -> Spread | None:
    """The spread of a measure from the cells of the groups: over clusters, where rows belong together."""
    if cells.clusters is None:
        return spread(row, cells.mass, cells.squares, cells.everyone, cells.silent)
    if row.of:
        rows = [MEASURES[name] for name in row.of]
        parts = [part for part in (spread_of_cells(each, cells) for each in rows) if isinstance(part, Clustered)]
        tops, bottoms = (np.stack(side) for side in zip(*(_sides(each, cells) for each in rows), strict=True))
        return cells.clusters.average(parts, tops, bottoms)
    form = row.form
    if form is None:
        return None
    top, bottom = _sides(row, cells)
    known = ~without_labels(row.labels_of, cells.silent)
    if not row.share:
        return cells.clusters.spread(form, top, bottom, cells.people @ (form.top + form.rest) * known)
    people = bottom * (cells.people.sum() / max(cells.mass.sum(), 1e-300))  # of everyone, as far as weights tell
    return cells.clusters.spread(form, top, bottom, people, share=True)


def _sides(row: CellMeasure, cells: Cells) -> tuple[Floats, Floats]:
    """The numerator and the denominator of a ratio in each group; 0 where labels that it rests on are not known."""
    form = row.form
    assert form is not None  # noqa: S101 - only of ratios
    known = ~without_labels(row.labels_of, cells.silent)
    top = (cells.mass @ form.top) * known
    if row.share:
        return top, np.full(len(top), float(cells.everyone @ form.top))
    return top, top + (cells.mass @ form.rest) * known


def spread(
    row: CellMeasure,
    cells: Floats,
    squares: Floats | None = None,
    everyone: Floats | None = None,
    silent: Bools | None = None,
) -> Spread | None:
    """The spread of a measure from the cells of the groups, [groups, 8]; `squares` are Σw² where there are weights.

    `everyone` holds the cells of all groups together, for shares; by default their sum. `silent` is as in `evaluate`.
    None for a plain total, which has no interval.
    """
    silent = silent_sides(cells) if silent is None else silent
    if row.of:
        parts = [spread(MEASURES[name], cells, squares, silent=silent) for name in row.of]
        return Average([part for part in parts if part is not None])
    form = row.form
    if form is None:
        return None
    if row.share:
        chosen = cells @ form.top
        total = chosen.sum() if everyone is None else everyone @ form.top
        return Proportions(chosen, np.full(len(chosen), total), form)
    known = ~without_labels(row.labels_of, silent)
    top, rest = (cells @ form.top) * known, (cells @ form.rest) * known
    if squares is None:
        return Proportions(top, top + rest, form)
    return Proportions(*effective(top, rest, squares @ form.top, squares @ form.rest), form)


def limits(name: str, cube: Cube, confidence: float) -> tuple[Floats, Floats]:
    """Limits of a measure for each pair of a cube that hold for all together; NaN for a plain total, and where rows
    belong together and it is not known how much they vary."""
    cells = GroupData.of(cube).cells
    values = None if cube.clustered and cells.clusters is None else spread_of_cells(find_cell_measure(name), cells)
    if values is None:
        return np.full(len(cells.mass), np.nan), np.full(len(cells.mass), np.nan)
    return simultaneous.own(values, confidence)


def _parts(row: CellMeasure) -> list[CellMeasure]:
    return [MEASURES[name] for name in row.of] if row.of else [row]


@cache
def _coefficients(cells: str) -> Floats:
    row = np.zeros(len(CELLS))
    for name, factor in _tokens(cells).items():
        row[CELLS.index(name)] = factor
    row.flags.writeable = False
    return row


@cache
def _tokens(cells: str) -> dict[str, int]:
    factors: dict[str, int] = {}
    for token in cells.replace("+", " ").replace(",", " ").split():
        match = re.fullmatch(r"(\d*)([A-Z]+[01]?)", token)
        if not match or match[2] not in CELLS:
            raise CallError(f"{token!r} is not a cell; the cells are {listing(CELLS)}.")
        factors[match[2]] = factors.get(match[2], 0) + int(match[1] or 1)
    return factors
