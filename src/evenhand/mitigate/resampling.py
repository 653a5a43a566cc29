"""Resampling after Kamiran and Calders (2012, algorithms 4 and 5): rows dropped and repeated until class and group
are independent, to rounding, with as many rows as before.

A cell is a group with a class. Its expected size is W · |cell| = |a| · |y| / n: a cell that is smaller grows and one
that is larger shrinks, whichever group that favours. Sizes are rounded by largest remainder within each group, so that
every group keeps its size.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from evenhand.core import frames
from evenhand.core.arrays import Floats, Indices
from evenhand.core.familiar import familiar
from evenhand.core.quantities import shown
from evenhand.errors import CallError, shorten
from evenhand.mitigate.cells import Cells, cross
from evenhand.mitigate.estimators import GroupEstimator, Wrapper
from evenhand.mitigate.ranking import nearest_first, probabilities
from evenhand.sources.documentation import documented


@documented
class Resampler(GroupEstimator, ABC):
    """The base of the resamplers, which differ in which rows of a cell are dropped or repeated.

    Attributes
    ----------
    sample_indices_
        The rows that were taken, in their order; a repeated row comes several times.
    sizes_
        [groups, classes]: how many rows each cell has now; `counts_` is how many it had.
    groups_, classes_
        The order of these tables.
    empty_
        Combinations that nobody is in, which a sample cannot fill; a warning names them.
    """

    @familiar
    def fit(self, X: Any, y: Any, *, sensitive: Any = None) -> Any:
        """Choose the rows: `sample_indices_`."""
        X, y = self._checked(X, y)
        found = cross(self._who(sensitive), X, y)
        self.groups_, self.classes_, self.counts_ = found.groups, found.classes, found.rows
        self.empty_ = found.empty
        if self.empty_:
            warnings.warn(
                f"{found.empty_in_words()}: there is no row to repeat, and that group keeps its other classes.",
                UserWarning,
                stacklevel=2,
            )
        self.sizes_ = expected_sizes(found)
        copies = np.ones(len(found.keys), dtype=np.int64)
        moved = np.flatnonzero(self.sizes_.reshape(-1) != found.rows.reshape(-1))
        if len(moved):
            self._resize(found, moved, copies, X, y)
        self.sample_indices_ = np.repeat(np.arange(len(copies), dtype=np.intp), copies)
        return self

    @familiar
    def fit_resample(self, X: Any, y: Any, *, sensitive: Any = None) -> tuple[Any, Any]:
        """The chosen rows of X and of y, each in the kind of table or array that was passed."""
        self.fit(X, y, sensitive=sensitive)
        return frames.take(X, self.sample_indices_), frames.take(y, self.sample_indices_)

    @abstractmethod
    def _resize(self, cells: Cells, moved: Indices, copies: Indices, X: Any, y: Any) -> None:
        """Write into `copies` how often each row of the cells in `moved` is taken."""


class UniformResampler(Resampler):
    """Rows dropped, and repeated, at random within their group and class until class and group are independent.

    Every row of a cell that grows stays, and none is repeated once more before the others are.

    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], [1, 1, 1, 0, 1, 0, 0, 0]
    >>> resampler = UniformResampler(random_state=0)
    >>> X_even, y_even = resampler.fit_resample(X, y, sensitive=list("MMMMFFFF"))
    >>> resampler.counts_.tolist(), resampler.sizes_.tolist()
    ([[3, 1], [1, 3]], [[2, 2], [2, 2]])
    >>> resampler.sample_indices_.tolist(), y_even
    ([0, 2, 3, 3, 4, 4, 6, 7], [1, 1, 0, 0, 1, 1, 0, 0])
    """

    @familiar
    def __init__(self, *, sensitive: Any = None, random_state: Any = None) -> None:
        self.sensitive = sensitive
        self.random_state = random_state

    def _resize(self, cells: Cells, moved: Indices, copies: Indices, X: Any, y: Any) -> None:  # noqa: ARG002
        try:
            chance = check_random_state(self.random_state)
        except ValueError as error:
            raise CallError(f"random_state={shown(self.random_state)} is not a seed: {error}") from None
        for cell in moved:
            rows = np.flatnonzero(cells.codes == cell)
            times, rest = divmod(int(self.sizes_.flat[cell]), len(rows))
            copies[rows] = times
            copies[chance.choice(rows, rest, replace=False)] += 1


class PreferentialResampler(Resampler):
    """Rows dropped, and repeated, nearest the decision boundary first, until class and group are independent.

    `ranker` is any classifier with predict_proba; it is fitted to the rows and says how near the boundary each is: the
    least probable for its class is nearest. By default it is a logistic regression on all columns of X, numbers and
    categories, with their gaps. A cell that shrinks loses its nearest rows; one that grows repeats its nearest row,
    which then goes to the end of the queue with its copy. Ties go by the order of the rows, so nothing is random.

    >>> X, y = [[0.9], [0.4], [0.8], [0.2], [0.7], [0.1], [0.5], [0.3]], [1, 1, 1, 0, 1, 0, 0, 0]
    >>> resampler = PreferentialResampler()
    >>> X_even, y_even = resampler.fit_resample(X, y, sensitive=list("MMMMFFFF"))
    >>> resampler.sample_indices_.tolist(), y_even
    ([0, 2, 3, 3, 4, 4, 5, 7], [1, 1, 0, 0, 1, 1, 0, 0])
    """

    @familiar
    def __init__(self, *, sensitive: Any = None, ranker: Any = None) -> None:
        self.sensitive = sensitive
        self.ranker = ranker

    def _resize(self, cells: Cells, moved: Indices, copies: Indices, X: Any, y: Any) -> None:
        probability = probabilities(self.ranker, X, y, cells.classes)
        for cell in moved:
            rows = nearest_first(cells, int(cell), probability)
            copies[rows] = queued(len(rows), int(self.sizes_.flat[cell]))


@documented
class Resampled(Wrapper):
    """A classifier fitted to a sample in which class and group are independent, for classifiers without weights.

    `resampler` is a `UniformResampler` (the default), a `PreferentialResampler`, a `Massager`, or anything with
    `fit_resample(X, y, sensitive=...)`. `sensitive` names the columns of X that make the groups, or pass
    `sensitive=` to `fit`; prediction needs neither. With `drop=True` those columns are hidden from the estimator.
    All rows are predicted and scored as they are: only the training rows are sampled.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    resampler_
        The resampler, with `sample_indices_`.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from evenhand.mitigate import PreferentialResampler
    >>> X = [[0, 1.0], [0, 2.0], [0, 3.0], [0, 4.0], [1, 1.0], [1, 2.0], [1, 3.0], [1, 4.0]]
    >>> model = Resampled(KNeighborsClassifier(1), PreferentialResampler(), sensitive="x0", drop=True)
    >>> model.fit(X, [0, 0, 0, 1, 0, 1, 1, 1]).resampler_.sample_indices_.tolist()
    [0, 1, 3, 3, 4, 4, 6, 7]
    """

    @familiar
    def __init__(self, estimator: Any, resampler: Any = None, *, sensitive: Any = None, drop: bool = False) -> None:
        self.estimator = estimator
        self.resampler = resampler
        self.sensitive = sensitive
        self.drop = drop

    @familiar
    def fit(self, X: Any, y: Any, *, sensitive: Any = None) -> Resampled:
        """Resample the rows, and fit a clone of the estimator to the sample.

        Returns
        -------
        Resampled
            The same estimator, fitted.
        """
        self._check_drop()
        resampler = UniformResampler() if self.resampler is None else self.resampler
        if isinstance(resampler, type) or not hasattr(resampler, "fit_resample"):
            raise CallError(
                f"resampler={shorten(repr(resampler))} has no fit_resample: pass a resampler, such as Massager()."
            )
        _, classes = self._checked(X, y)
        self.resampler_ = clone(resampler)
        who = self.sensitive if sensitive is None else sensitive
        X_even, y_even = self.resampler_.fit_resample(X, classes, sensitive=who)
        self._keep(clone(self.estimator).fit(self._seen(X_even), y_even))
        return self


def expected_sizes(cells: Cells) -> Indices:
    """The number of rows each cell shall have: whole numbers that keep the size of every group.

    A group that lacks a class cannot have it: its rows are shared out among the classes that it has.
    """
    shares = cells.expected
    shares = np.where(cells.rows > 0, shares, 0.0)
    people = cells.rows.sum(axis=1)
    shares *= (people / shares.sum(axis=1))[:, None]
    return np.array([largest_remainder(row, int(total)) for row, total in zip(shares, people, strict=True)])


def largest_remainder(shares: Floats, total: int) -> Indices:
    """The shares rounded to whole numbers that add up to `total`; of equal remainders the first is rounded up.

    >>> largest_remainder(np.array([1.4, 1.3, 2.3]), 5).tolist()
    [2, 1, 2]
    """
    # A share a hair below a whole number is that number: it came from a division.
    floor = np.floor(shares + 1e-9)
    order = np.argsort(floor - shares, kind="stable")
    sizes = floor.astype(np.int64)
    sizes[order[: total - int(sizes.sum())]] += 1
    return sizes


def queued(rows: int, size: int) -> Indices:
    """How often each row of a cell, nearest the boundary first, is taken so that the cell has the wanted size.

    Shrinking leaves out the first. Growing takes the first from the queue, and puts it and a copy at the end: after
    each round the queue is twice as long, with all copies of a row side by side.

    >>> queued(3, 2).tolist(), queued(3, 4).tolist(), queued(2, 7).tolist()
    ([0, 1, 1], [2, 1, 1], [4, 3])
    """
    if size <= rows:
        return (np.arange(rows) >= rows - size).astype(np.int64)
    times = 1
    while rows * times * 2 <= size:
        times *= 2
    extra = size - rows * times
    return times + np.clip(extra - times * np.arange(rows, dtype=np.int64), 0, times)
