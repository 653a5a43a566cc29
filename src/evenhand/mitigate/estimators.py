"""What the estimators of this package share: how they learn each row's group, check X and y, and wrap a classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from evenhand.errors import CallError, MissingDependencyError
from evenhand.sources import groups
from evenhand.sources.columns import library

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin
    from sklearn.utils import _safe_indexing, check_array, column_or_1d, get_tags
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
except ImportError:
    raise MissingDependencyError("mitigation needs scikit-learn 1.6 or later: pip install 'evenhand[ml]'") from None

Method = TypeVar("Method", bound=Callable[..., Any])


class GroupEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that is told who is in which group: by a column of X, or by `sensitive=` beside X and y."""

    sensitive: Any

    def _who(self, sensitive: Any) -> Any:
        """What makes the groups: the argument of the call, else that of the estimator, else nothing."""
        found = self.sensitive if sensitive is None else sensitive
        if found is None:
            warnings.warn(
                f"{type(self).__name__} was given no sensitive=: everyone is one group, and nothing is evened out. "
                "Name the columns of X, or pass sensitive= to fit.",
                UserWarning,
                stacklevel=3,
            )
        return found

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """X and y as they came, with their columns noted and all that is plainly wrong refused."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None. "
                "Pass the class of each row."
            )
        if library(X) not in ("pandas", "polars", "pyarrow"):
            X = check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False, estimator=self)
        validate_data(self, X, skip_check_array=True)
        if not hasattr(y, "__len__"):
            y = np.asarray(y)
        if getattr(y, "ndim", 1) != 1:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # X itself is read only for the columns that make the groups.
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _offers(name: str) -> Callable[[Method], Method]:
    """Is there such a method of the estimator inside? The fitted one is asked where there is one."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    found: Callable[[Method], Method] = available_if(check)
    return found


class Dropper(GroupEstimator):
    """A classifier around another one, which may keep from it the columns that make the groups."""

    drop: bool

    def _check_drop(self) -> None:
        if self.drop and self.sensitive is None:
            raise CallError("drop=True needs sensitive= to name the columns of X, as in sensitive='sex'.")

    def _seen(self, X: Any) -> Any:
        """X as the estimator sees it."""
        return without(X, self.sensitive) if self.drop else X


class Wrapper(MetaEstimatorMixin, Dropper):  # type: ignore[misc]
    """What such classifiers share. Each has an `estimator`, and its `fit` makes `estimator_`."""

    estimator: Any

    @_offers("predict")
    def predict(self, X: Any) -> Any:
        """The class of each row."""
        return self._asked("predict", X)

    @_offers("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class for each row."""
        return self._asked("predict_proba", X)

    @_offers("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the probability of each class for each row."""
        return self._asked("predict_log_proba", X)

    @_offers("decision_function")
    def decision_function(self, X: Any) -> Any:
        """How far each row is on which side of the decision."""
        return self._asked("decision_function", X)

    @_offers("score")
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The estimator's own score: the accuracy, for a classifier."""
        check_is_fitted(self)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.estimator_.score(self._seen(X), y, **given)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inside = get_tags(self.estimator)
        tags.estimator_type = inside.estimator_type
        tags.classifier_tags = inside.classifier_tags
        tags.regressor_tags = inside.regressor_tags
        tags.input_tags = inside.input_tags
        tags.target_tags = inside.target_tags
        return tags

    def _asked(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.estimator_, method)(self._seen(X))

    def _keep(self, fitted: Any) -> None:
        """Keep the fitted estimator, and its classes for those who ask."""
        self.estimator_ = fitted
        if hasattr(fitted, "classes_"):
            self.classes_ = fitted.classes_


def without(X: Any, names: Any) -> Any:
    """X without some columns, as the kind of table it was; a table that lacks them already stays as it is."""
    left_out = {names} if isinstance(names, str) else set(names)
    kind = library(X)
    if kind in ("polars", "pyarrow"):
        there = left_out & set(groups.column_names(X))
        return X.drop(list(there)) if kind == "polars" else X.drop_columns(list(there))
    if kind == "pandas":
        return X.loc[:, [str(name) not in left_out for name in X.columns]]
    array = X if hasattr(X, "shape") else np.asarray(X)
    kept = [i for i, name in enumerate(groups.column_names(array)) if name not in left_out]
    return array[:, kept]


def take(table: Any, rows: Any) -> Any:
    """Some rows of a table, an array, a sparse matrix or a list, as the kind that it was."""
    if getattr(table, "format", None) in ("bsr", "coo", "dia"):
        table = table.tocsr()  # these cannot be indexed
    elif not hasattr(table, "__getitem__"):
        table = np.asarray(table)
    return _safe_indexing(table, rows)
