"""Reweighing after Kamiran and Calders (2012, algorithm 3): weights under which class and group are independent.

No features and no classes change: rows of a combination that is rarer than under independence get a larger weight, the
others a smaller one. W(a, y) = |a| · |y| / (n · |a, y|). `Reweighed` is a classifier that is fitted with these weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from evenhand.core import frames
from evenhand.core.arguments import is_series
from evenhand.core.arrays import Floats
from evenhand.core.familiar import familiar
from evenhand.core.quantities import shown
from evenhand.errors import CallError, DataError, shorten
from evenhand.mitigate.cells import class_places, cross
from evenhand.mitigate.estimators import GroupEstimator, Wrapper, read_weights
from evenhand.sources import groups
from evenhand.sources.documentation import documented


@documented
class Reweigher(GroupEstimator):
    """Weights that make the class independent of the group, for any number of groups, attributes and classes.

    `sensitive` names columns of X, here or in `fit`, or is passed to `fit` as an array, a table or a mapping.

    Attributes
    ----------
    weights_
        (group, class) to its weight: the value of one attribute, a tuple of several; a missing value is None.
    table_
        The same as an array [groups, classes]; undefined (NaN) for a combination that nobody is in.
    groups_
        The groups, in the order of the table.
    classes_
        The classes, in the order of the table.
    counts_
        [groups, classes]: how many rows.
    empty_
        The combinations that nobody is in, which weights cannot even out; a warning names them.

    >>> X = [[0], [1], [2], [3], [4]]
    >>> weigher = Reweigher().fit(X, ["+", "+", "-", "+", "-"], sensitive=["M", "M", "M", "F", "F"])
    >>> {key: round(weight, 3) for key, weight in weigher.weights_.items()}
    {('F', '+'): 1.2, ('F', '-'): 0.8, ('M', '+'): 0.9, ('M', '-'): 1.2}
    >>> weigher.sample_weights().round(3).tolist()
    [0.9, 0.9, 1.2, 1.2, 0.8]
    """

    @familiar
    def __init__(self, *, sensitive: Any = None) -> None:
        self.sensitive = sensitive

    @familiar
    def fit(self, X: Any, y: Any, *, sensitive: Any = None, sample_weight: Any = None) -> Reweigher:
        """Count the rows (or add up their weights) by group and class, and weigh each combination.

        Returns
        -------
        Reweigher
            The same estimator, fitted.
        """
        X, y = self._checked(X, y)
        own = None if sample_weight is None else read_weights(sample_weight, frames.row_count(X))
        found = cross(self._who(sensitive), X, y, own)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.table_ = np.where(found.weight > 0, found.expected / found.weight, np.nan)
        self.groups_, self.classes_, self.counts_ = found.groups, found.classes, found.rows
        self.weights_ = self._by_name()
        self.empty_ = found.empty
        self._cells, self._own = found, own
        if self.empty_:
            warnings.warn(
                f"{found.empty_in_words()}: no weight can correct that. The other cells are weighted as if it "
                "could; merge groups or classes to avoid it.",
                UserWarning,
                stacklevel=2,
            )
        return self

    @familiar
    def sample_weights(
        self, y: Any = None, sensitive: Any = None, *, X: Any = None, sample_weight: Any = None
    ) -> Floats:
        """The weight of each row: of those fitted, or of others by their class and group.

        Where the rows have weights of their own, as in a survey, these are multiplied. A group or class that was not
        there when fitted, and a combination that nobody was in, are errors.

        Parameters
        ----------
        y
            The class of each row; by default the rows are those fitted.
        X
            The rows, where `sensitive` names columns of them.

        Returns
        -------
        Floats
            The weight of each row.
        """
        check_is_fitted(self, "table_")
        if y is None:
            if sensitive is not None or sample_weight is not None or X is not None:
                raise CallError("sample_weights() of other rows needs y= and sensitive=, one of each for every row.")
            # Only rows that weigh nothing can be in a combination without a weight.
            weights = self._cells.gather(np.nan_to_num(self.table_, nan=0.0))
            return weights if self._own is None else np.asarray(weights * self._own)
        who = self.sensitive if sensitive is None else sensitive
        if not is_series(y):
            raise CallError(f"y={shown(y)} must be a list with the class of each row.")
        y = frames.readable(list(y) if isinstance(y, Iterator) else y)
        rows = self._cells.as_groups().match(who, X, len(y))
        weights = self.table_[rows, class_places(self.classes_, y)]
        if np.isnan(weights).any():
            raise DataError(f"{self._cells.empty_in_words()} when fitted: there is no weight for it.")
        return weights if sample_weight is None else np.asarray(weights * read_weights(sample_weight, len(weights)))

    def _by_name(self) -> Mapping[tuple[groups.Shown, Any], float]:
        names = [groups.plain(group) for group in self.groups_]
        return {
            (name, outcome): float(weight)
            for name, row in zip(names, self.table_, strict=True)
            for outcome, weight in zip(self.classes_.tolist(), row, strict=True)
        }


@documented
class Reweighed(Wrapper):
    """A classifier fitted with weights under which the class is independent of the group.

    `estimator` is any classifier whose fit takes sample_weight, or a pipeline that ends in one. `sensitive` names the
    columns of X that make the groups, or pass `sensitive=` to `fit`; prediction needs neither. With
    `drop=True` those columns make the weights and are hidden from the estimator.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    reweigher_
        The `Reweigher`, with `weights_`.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X = [[0, 1.0], [0, 2.0], [0, 3.0], [1, 1.0], [1, 2.0], [1, 3.0]]
    >>> model = Reweighed(LogisticRegression(), sensitive="x0", drop=True).fit(X, [0, 0, 1, 0, 1, 1])
    >>> {key: round(weight, 2) for key, weight in model.reweigher_.weights_.items()}
    {('0', 0): 0.75, ('0', 1): 1.5, ('1', 0): 1.5, ('1', 1): 0.75}
    >>> model.estimator_.n_features_in_
    1
    """

    @familiar
    def __init__(self, estimator: Any, *, sensitive: Any = None, drop: bool = False) -> None:
        self.estimator = estimator
        self.sensitive = sensitive
        self.drop = drop

    @familiar
    def fit(self, X: Any, y: Any, *, sensitive: Any = None, sample_weight: Any = None) -> Reweighed:
        """Weigh the rows by group and class, and fit a clone of the estimator with these weights.

        Weights of the rows themselves (`sample_weight`) are multiplied with them.

        Returns
        -------
        Reweighed
            The same estimator, fitted.
        """
        self._check_drop()
        argument = weight_argument(self.estimator)
        checked, classes = self._checked(X, y)
        self.reweigher_ = Reweigher(sensitive=self.sensitive).fit(
            checked, classes, sensitive=sensitive, sample_weight=sample_weight
        )
        weights = self.reweigher_.sample_weights()
        self._keep(fit_weighted(clone(self.estimator), self._seen(X), y, argument, weights))
        return self


def weight_argument(estimator: Any) -> str:
    """The name of the weights of rows in fit: a pipeline passes them to its last step, a search to its estimator.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_argument(make_pipeline(StandardScaler(), LogisticRegression()))
    'logisticregression__sample_weight'
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise CallError(
            f"estimator={shorten(repr(estimator))} is not a classifier: pass one, such as LogisticRegression()."
        )
    kept = getattr(estimator, "steps", None)
    if kept:
        name, last = kept[-1]
        return f"{name}__{weight_argument(last)}"
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    inside = getattr(estimator, "estimator", None)
    if inside is not None:
        return weight_argument(inside)
    raise CallError(
        f"{type(estimator).__name__} does not take sample_weight in fit: choose a classifier that does, or "
        "resample the rows with UniformResampler or PreferentialResampler."
    )


def fit_weighted(estimator: Any, X: Any, y: Any, argument: str, weights: Any) -> Any:
    """Fit with weights, with or without metadata routing; requests that the user has set are followed."""
    routed = get_config()["enable_metadata_routing"]
    if routed and get_routing_for_object(estimator).consumes("fit", ["sample_weight"]):
        return estimator.fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=False):
        return estimator.fit(X, y, **{argument: weights})
