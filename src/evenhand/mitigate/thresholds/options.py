"""The options of each group: for every cutoff of the score, how many true and false positives it selects.

Measures and gains are rows of coefficients over the cells, so that every metric of the catalogue can be a constraint:
the labels are fixed, so the true and the false positives determine all four cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.core.results import Group, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError
from evenhand.measures.cells import CELLS, MEASURES, CellMeasure
from evenhand.measures.group_data import NEGATIVE, POSITIVE

_TN, _FP, _FN, _TP = (CELLS.index(name) for name in ("TN", "FP", "FN", "TP"))


@dataclass(frozen=True)
class Options:
    """The options of one group: `cutoffs[j]` selects `tp[j]` of its positives and `fp[j]` of its negatives.

    The cutoffs rise, from everyone (−∞) to nobody (∞).
    """

    group: Group
    cutoffs: Floats
    tp: Floats
    fp: Floats
    positives: float
    negatives: float
    people: int

    def __len__(self) -> int:
        return len(self.cutoffs)

    def count(self, row: Floats) -> Floats:
        """The sum over the cells with these coefficients, for each option."""
        fixed = row[_TN] * self.negatives + row[_FN] * self.positives
        return np.asarray(fixed + (row[_FP] - row[_TN]) * self.fp + (row[_TP] - row[_FN]) * self.tp)

    def values(self, measure: CellMeasure) -> Floats:
        """The measure for each option; NaN where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [self.count(top) / self.count(bottom) for top, bottom in coefficient_rows(measure)]
        found = np.mean(parts, axis=0)
        return np.where(np.isfinite(found), found, np.nan)

    def hull(self) -> Options:
        """The options that are corners of what random draws between options can reach.

        Selected people and positives among them are a linear image of the two rates, and on this axis the upper hull is
        what a decreasing regression of the label on the score finds (Fawcett and Niculescu-Mizil 2007), the lower one
        an increasing one.
        """
        from scipy.optimize import isotonic_regression

        if len(self) < 3:
            return self
        width, rise = -np.diff(self.tp + self.fp), -np.diff(self.tp)
        corners = [
            isotonic_regression(rise / width, weights=width, increasing=rising).blocks for rising in (True, False)
        ]
        return self.only(np.unique(np.concatenate(corners)).astype(np.intp))

    def only(self, places: Indices) -> Options:
        return replace(self, cutoffs=self.cutoffs[places], tp=self.tp[places], fp=self.fp[places])


def coefficient_rows(measure: CellMeasure) -> list[tuple[Floats, Floats]]:
    """The coefficients of numerator and denominator; several pairs for a mean of measures."""
    parts = [MEASURES[name] for name in measure.of] if measure.of else [measure]
    if measure.share or not all(part.denominator for part in parts):
        raise CallError(f"{measure.title} depends on other groups, or on no decision: cutoffs cannot keep it.")
    return [part.coefficients for part in parts]


def is_linear(measure: CellMeasure) -> bool:
    """Is the denominator of a measure the same whoever is selected?"""
    return all(bottom[_TN] == bottom[_FP] and bottom[_FN] == bottom[_TP] for _, bottom in coefficient_rows(measure))


def options_by_group(cube: Cube) -> tuple[Options, ...]:
    """The options of each group of a cube; the cutoffs are the scores, or the bins of scores, that it has.

    >>> cube = Cube.count(label=[0, 1, 1, 0], score=[0.2, 0.4, 0.4, 0.4], sensitive=["a"] * 4)
    >>> (found,) = options_by_group(cube)
    >>> found.cutoffs.tolist(), found.tp.tolist(), found.fp.tolist()
    ([-inf, 0.4, inf], [2.0, 2.0, 0.0], [2.0, 1.0, 0.0])
    """
    whole = cube.marginal(control=False)
    table = whole.scores
    if table is None or table.reading.outcome is not None or not cube.has_labels:
        raise CallError("cutoffs are chosen from a score and a label: count the cube with score= and label=.")
    mass = table.sums["w"] if table.weighted else table.n.astype(np.float64)
    starts = table.bins.starts
    ends = np.searchsorted(table.pair, np.arange(len(whole.pairs) + 1))
    found = []
    for place, (_, group) in enumerate(whole.pairs):
        part = np.arange(ends[place], ends[place + 1])
        mine = part[(table.label[part] <= POSITIVE) & (mass[part] > 0)]
        bins, where = np.unique(table.bin[mine], return_inverse=True)
        if not bins.size:
            raise DataError(f"nobody in {spell(group)!r} has a label and a score, so no cutoff can be chosen.")
        above = {}
        for label in (NEGATIVE, POSITIVE):
            held = np.where(table.label[mine] == label, mass[mine], 0.0)
            people = np.bincount(where, weights=held, minlength=len(bins))
            above[label] = np.append(np.cumsum(people[::-1])[::-1], 0.0)
        cutoffs = np.concatenate([[-np.inf], starts[bins[1:]], [np.inf]])
        tp, fp = above[POSITIVE], above[NEGATIVE]
        found.append(Options(group, cutoffs, tp, fp, float(tp[0]), float(fp[0]), int(table.n[mine].sum())))
    return tuple(found)
