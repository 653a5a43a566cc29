"""Resampled: a classifier that is fitted to rows sampled anew, or relabelled, as an estimator of its own."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from evenhand.errors import CallError, shorten
from evenhand.mitigate.resampling import UniformResampler
from evenhand.mitigate.wrapping import Wrapper


class Resampled(Wrapper):
    """A classifier fitted to a sample in which the class is independent of the group; for those that take no weights.

    `resampler` is a `UniformResampler` (the default), a `PreferentialResampler`, a `Massager`, or anything with
    `fit_resample(X, y, sensitive=...)`. `sensitive` names the columns of X that make the groups, or `fit` is given
    `sensitive=` beside X and y; prediction needs neither. With `drop=True` those columns are kept from the estimator.
    All rows are predicted and scored as they are: only the training rows are sampled.

    Attributes:
        estimator_: The fitted classifier.
        resampler_: The resampler, with `sample_indices_`.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from evenhand.mitigate import PreferentialResampler
    >>> X = [[0, 1.0], [0, 2.0], [0, 3.0], [0, 4.0], [1, 1.0], [1, 2.0], [1, 3.0], [1, 4.0]]
    >>> model = Resampled(KNeighborsClassifier(1), PreferentialResampler(), sensitive="x0", drop=True)
    >>> model.fit(X, [0, 0, 0, 1, 0, 1, 1, 1]).resampler_.sample_indices_.tolist()
    [0, 1, 3, 3, 4, 4, 6, 7]
    """

    def __init__(self, estimator: Any, resampler: Any = None, *, sensitive: Any = None, drop: bool = False) -> None:
        self.estimator = estimator
        self.resampler = resampler
        self.sensitive = sensitive
        self.drop = drop

    def fit(self, X: Any, y: Any, *, sensitive: Any = None) -> Resampled:
        """Sample the rows anew, and fit a clone of the estimator to the sample."""
        self._check_drop()
        resampler = UniformResampler() if self.resampler is None else self.resampler
        if isinstance(resampler, type) or not hasattr(resampler, "fit_resample"):
            raise CallError(f"resampler={shorten(repr(resampler))} has no fit_resample: pass one, as Massager().")
        _, classes = self._checked(X, y)
        self.resampler_ = clone(resampler)
        who = self.sensitive if sensitive is None else sensitive
        X_even, y_even = self.resampler_.fit_resample(X, classes, sensitive=who)
        self._keep(clone(self.estimator).fit(self._seen(X_even), y_even))
        return self
