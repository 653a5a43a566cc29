"""Massaging after Kamiran and Calders (2012, algorithms 1 and 2): labels nearest the decision boundary are changed, as
few as possible, until two groups have the same share of each class. Every change is reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core import frames
from evenhand.core.arrays import Floats, Ints
from evenhand.core.familiar import familiar
from evenhand.core.results import spell
from evenhand.errors import DataError, listing
from evenhand.mitigate.cells import Cells, cross
from evenhand.mitigate.estimators import GroupEstimator
from evenhand.mitigate.ranking import nearest_first, probabilities
from evenhand.sources import groups
from evenhand.sources.documentation import documented


@dataclass(frozen=True)
class Flip:
    """One label that was changed; `probability` is that of the new class by the ranker."""

    row: int
    group: groups.Shown
    before: Any
    after: Any
    probability: float


@documented
class Massager(GroupEstimator):
    """Labels changed at the decision boundary so that two groups have the same share of each class, to rounding.

    Of two classes, the one that a group has less often than the other group is given to M of its rows, and taken from
    M rows of the other group: those that the ranker finds nearest the boundary. M = ⌈d · |b| · |w| / n⌉, where d is the
    difference of the shares, |b| and |w| are the sizes of the groups. Which class is favourable makes no difference.

    This changes what is recorded about people: use it for training data, keep the record, and never evaluate on it.

    Attributes
    ----------
    flips_
        A `Flip` for each label that was changed, by row.
    sample_indices_
        Every row, once: none is dropped or repeated.
    groups_, classes_, counts_
        [groups, classes] rows before.

    >>> X, y = [[0.9], [0.8], [0.2], [0.7], [0.3], [0.1]], [1, 1, 1, 1, 0, 0]
    >>> massager = Massager()
    >>> X, even = massager.fit_resample(X, y, sensitive=["M", "M", "M", "F", "F", "F"])
    >>> even, [(flip.row, flip.group, flip.after) for flip in massager.flips_]
    ([1, 1, 0, 1, 1, 0], [(2, 'M', 0), (4, 'F', 1)])
    """

    @familiar
    def __init__(self, *, sensitive: Any = None, ranker: Any = None) -> None:
        self.sensitive = sensitive
        self.ranker = ranker

    @familiar
    def fit(self, X: Any, y: Any, *, sensitive: Any = None) -> Massager:
        """Choose the labels that are changed: `flips_`.

        Returns
        -------
        Massager
            The same estimator, fitted.
        """
        X, y = self._checked(X, y)
        found = cross(self._who(sensitive), X, y)
        self.groups_, self.classes_, self.counts_ = found.groups, found.classes, found.rows
        self.sample_indices_ = np.arange(len(found.keys), dtype=np.intp)
        self.flips_: tuple[Flip, ...] = ()
        if len(found.groups) == 1 or len(found.classes) == 1:
            return self
        _check_two(found)
        self._lenders = {found.classes[c].item(): int(np.argmax(found.codes % 2 == c)) for c in (0, 1)}
        change = flips_needed(found.rows)
        if change:
            self.flips_ = _flips(found, change, probabilities(self.ranker, X, y, found.classes))
        return self

    @familiar
    def fit_resample(self, X: Any, y: Any, *, sensitive: Any = None) -> tuple[Any, Any]:
        """X as it was passed, and y in the kind that was passed, with the labels changed.

        Returns
        -------
        tuple[Any, Any]
            X as it is, and the classes after the exchange.
        """
        self.fit(X, y, sensitive=sensitive)
        return X, self._relabelled(y)

    def _relabelled(self, y: Any) -> Any:
        """y with the labels changed. A new label is copied from a row that has it, so that y keeps its kind."""
        if not self.flips_:
            return y
        rows = self.sample_indices_.copy()
        for flip in self.flips_:
            rows[flip.row] = self._lenders[flip.after]
        changed = frames.take(y, rows)
        if hasattr(y, "index") and hasattr(y, "iloc"):
            changed.index = y.index
        return changed


def flips_needed(rows: Ints) -> int:
    """How many labels change in each group: ⌈d · |b| · |w| / n⌉, in whole numbers; negative for the other direction.

    >>> flips_needed(np.array([[3, 2], [1, 4]])), flips_needed(np.array([[1, 4], [3, 2]]))
    (1, -1)
    """
    counts: list[list[int]] = rows.tolist()
    (a, b), n = counts, int(rows.sum())
    gap = b[1] * sum(a) - a[1] * sum(b)  # d · |b| · |w|
    needed = -(-abs(gap) // n)
    return needed if gap > 0 else -needed


def _check_two(cells: Cells) -> None:
    for what, names in (
        ("groups", [spell(group) for group in cells.groups]),
        ("classes", cells.classes.tolist()),
    ):
        if len(names) != 2:
            raise DataError(
                f"massaging is defined for two {what}, and there are {len(names)} ({listing(names)}): merge them, or "
                "use Reweigher or UniformResampler, which take any number."
            )


def _flips(cells: Cells, change: int, probability: Floats) -> tuple[Flip, ...]:
    """The labels to change; with `change` above 0 the first group has the last class less often than the other."""
    poor, rich = (0, 1) if change > 0 else (1, 0)
    flips = []
    for group, before, after in ((poor, 0, 1), (rich, 1, 0)):
        for row in nearest_first(cells, 2 * group + before, probability)[: abs(change)]:
            flips.append(
                Flip(
                    int(row),
                    groups.plain(cells.groups[group]),
                    cells.classes[before].item(),
                    cells.classes[after].item(),
                    float(probability[row, after]),
                )
            )
    return tuple(sorted(flips, key=lambda flip: flip.row))
