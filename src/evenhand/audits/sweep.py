"""The cutoff sweep: every measure and every metric at every cutoff, from the cube alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.catalogue import METRICS
from evenhand.core.arguments import checked
from evenhand.core.arrays import Floats
from evenhand.core.cards import Carded
from evenhand.core.results import Group
from evenhand.core.signs import Printable
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, check_kind
from evenhand.measures.cells import CELLS, MEASURES, cell_measures, evaluate
from evenhand.measures.group_data import NEGATIVE, POSITIVE, UNLABELLED, BinnedScores
from evenhand.sources.documentation import documented
from evenhand.verdicts import comparison

_CELLS = {NEGATIVE: ("TN", "FP"), POSITIVE: ("FN", "TP"), UNLABELLED: ("U0", "U1")}


@documented
@checked
@dataclass(frozen=True)
class Sweep(Carded, Printable):
    """What would be found at each cutoff: `measures[name]` is [cutoffs, groups], a metric's gap is [cutoffs].

    At a cutoff everyone with a score at or above it is predicted positive.
    """

    cutoffs: Floats
    groups: tuple[Group, ...]
    measures: dict[str, Floats]
    overall: dict[str, Floats]
    differences: dict[str, Floats]
    ratios: dict[str, Floats]

    def __repr__(self) -> str:
        counts = f"{len(self.cutoffs):,} cutoffs, {len(self.groups)} groups, {len(self.measures)} measures"
        return f"<Sweep: {counts}, {len(self.differences)} metrics>"

    def at(self, cutoff: float) -> int:
        """The place of the first cutoff that decides as this one does: no score lies between them.

        Parameters
        ----------
        cutoff
            The score at or above which a row would be predicted positive.

        Returns
        -------
        int
            The place in `cutoffs`.
        """
        return int(np.searchsorted(self.cutoffs, cutoff))


@documented
@checked
def sweep(cube: Cube) -> Sweep:
    """Decide again at the lowest score of each bin, and above all of them.

    Parameters
    ----------
    cube
        A Cube that was counted with `score`, such as `audit.cube`.

    Returns
    -------
    Sweep
        Every measure of every group, and every gap, at every cutoff.

    >>> from evenhand.datasets import compas
    >>> cube = Cube.count(compas(), label="recidivated", score="decile", count="count", sensitive="sex")
    >>> found = sweep(cube)
    >>> place = found.at(5)
    >>> selected, gaps = found.measures["selection_rate"], found.differences["equal_opportunity"]
    >>> found.groups[0], round(float(selected[place, 0]), 3), round(float(gaps[place]), 3)
    (('Female',), 0.424, 0.021)
    """
    check_kind(cube, Cube, "cube", "pass a Cube that was counted with score=, such as audit.cube")
    if cube.scores is None:
        raise CallError("a sweep needs a score: count the cube with score=.")
    whole = cube.marginal(control=False)
    assert whole.scores is not None  # noqa: S101 - a marginal keeps the scores
    binned = BinnedScores.from_table(whole.scores, len(whole.pairs))
    cells = _cells(binned.mass)
    has_labels = cube.has_labels
    rows = [row for row in MEASURES.values() if has_labels or "label" not in row.needs]
    measures = dict(evaluate(cells, rows))
    overall = {name: values[..., 0] for name, values in evaluate(cells.sum(axis=1, keepdims=True), rows).items()}
    named = np.array([None not in group for _, group in whole.pairs])
    differences, ratios = {}, {}
    for entry in METRICS.values():
        chosen = [row for row in cell_measures(entry.rows) if row.name in measures]
        if not chosen or len(chosen) < len(entry.rows):
            continue
        values = np.stack([np.where(named, measures[row.name], np.nan) for row in chosen], axis=-2)
        gaps, quotients = comparison.apart(values)
        worst = entry.aggregate == "worst"
        differences[entry.name] = np.fmax.reduce(gaps, axis=-1) if worst else gaps.mean(axis=-1)
        ratios[entry.name] = np.fmin.reduce(quotients, axis=-1) if worst else quotients.mean(axis=-1)
    beyond = np.nextafter(binned.reading.bins.high, np.inf)
    cutoffs = np.append(binned.reading.bins.starts, beyond)
    return Sweep(cutoffs, tuple(group for _, group in whole.pairs), measures, overall, differences, ratios)


def _cells(mass: Floats) -> Floats:
    """The eight cells of each group at each cutoff, [cutoffs, groups, 8], from people by label and bin."""
    above = np.flip(np.cumsum(np.flip(mass, axis=-1), axis=-1), axis=-1)
    above = np.concatenate([above, np.zeros((*above.shape[:-1], 1))], axis=-1)
    total = mass.sum(axis=-1, keepdims=True)
    cells = np.zeros((above.shape[-1], len(mass), len(CELLS)))
    for label, (refused, chosen) in _CELLS.items():
        cells[:, :, CELLS.index(chosen)] = above[:, label].T
        cells[:, :, CELLS.index(refused)] = (total - above)[:, label].T
    return cells
