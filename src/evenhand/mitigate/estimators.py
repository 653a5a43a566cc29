"""What the estimators of this package share: how they learn each row's group, check X and y, and wrap a classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from evenhand.core import frames
from evenhand.core.arguments import check_argument
from evenhand.core.arrays import Floats
from evenhand.core.quantities import shown
from evenhand.core.wording import number_of
from evenhand.errors import CallError, DataError, MissingDependencyError
from evenhand.sources import groups
from evenhand.sources.columns import library
from evenhand.sources.lines import NOT_A_WEIGHT, wrong_weights

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin
    from sklearn.utils import check_array, column_or_1d, get_tags
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
except ImportError:
    raise MissingDependencyError("mitigation needs scikit-learn 1.6 or later: pip install 'evenhand[ml]'") from None

Method = TypeVar("Method", bound=Callable[..., Any])


def read_weights(sample_weight: Any, rows: int) -> Floats:
    """The weights of the rows as an array, checked."""
    try:
        values = np.asarray(frames.readable(sample_weight), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise CallError(f"sample_weight={shown(sample_weight)} must be a list of numbers, one for each row.") from None
    if values.shape != (rows,):
        raise DataError(f"sample_weight has the shape {values.shape}: pass one number for each of {number_of(rows)}.")
    if wrong := int(wrong_weights(values).sum()):
        raise DataError(
            f"sample_weight is {NOT_A_WEIGHT}, in {number_of(wrong)}. Only the ratios of weights matter: divide all of "
            "them by the largest."
        )
    if not values.any():
        raise DataError("every sample_weight is zero: nobody is left to count.")
    return values


class GroupEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that needs each row's group: from columns of X, or from `sensitive=` in fit."""

    sensitive: Any

    def _who(self, sensitive: Any) -> Any:
        """What makes the groups: the argument of the call, else that of the estimator; None with a warning."""
        found = self.sensitive if sensitive is None else sensitive
        if found is None:
            warnings.warn(
                f"{type(self).__name__} has no sensitive=: everyone is one group, and nothing is corrected. "
                "Name the columns of X, or pass sensitive= to fit.",
                UserWarning,
                stacklevel=3,
            )
        return found

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """X and y as they are passed on, after the checks of scikit-learn, which also note the names of columns."""
        if y is None:
            raise CallError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None. "
                "Pass the class of each row."
            )
        if library(X) not in ("pandas", "polars", "pyarrow"):
            X = check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False, estimator=self)
        validate_data(self, X, skip_check_array=True)
        y = frames.readable(y)
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
    """Offer a method only where the wrapped estimator has it; the fitted one is looked at once there is one."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    found: Callable[[Method], Method] = available_if(check)
    return found


class Dropper(GroupEstimator):
    """A classifier around another one, which can hide from it the columns that make the groups."""

    drop: bool

    def _check_drop(self) -> None:
        check_argument("drop", bool, self.drop)
        if self.drop and self.sensitive is None:
            raise CallError("drop=True needs sensitive= to name the columns of X, as in sensitive='sex'.")

    def _seen(self, X: Any) -> Any:
        """X for the wrapped estimator: with drop=True without the columns that make the groups."""
        X = frames.readable(X)
        if not self.drop:
            return X
        names = {self.sensitive} if isinstance(self.sensitive, str) else set(self.sensitive)
        return frames.drop(X, names, groups.column_names(X if hasattr(X, "shape") else np.asarray(X)))


class Wrapper(MetaEstimatorMixin, Dropper):  # type: ignore[misc]
    """A classifier whose predictions are those of `estimator_`, which `fit` makes from `estimator`."""

    estimator: Any

    @_offers("predict")
    def predict(self, X: Any) -> Any:
        """The class of each row."""
        return self._of_estimator("predict", X)

    @_offers("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class for each row."""
        return self._of_estimator("predict_proba", X)

    @_offers("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the probability of each class for each row."""
        return self._of_estimator("predict_log_proba", X)

    @_offers("decision_function")
    def decision_function(self, X: Any) -> Any:
        """The signed distance of each row from the decision boundary."""
        return self._of_estimator("decision_function", X)

    @_offers("score")
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The estimator's own score: the accuracy, for a classifier."""
        check_is_fitted(self)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.estimator_.score(self._seen(X), y, **weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inside = get_tags(self.estimator)
        tags.estimator_type = inside.estimator_type
        tags.classifier_tags = inside.classifier_tags
        tags.regressor_tags = inside.regressor_tags
        tags.input_tags = inside.input_tags
        tags.target_tags = inside.target_tags
        return tags

    def _of_estimator(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.estimator_, method)(self._seen(X))

    def _keep(self, fitted: Any) -> None:
        """Keep the fitted estimator, and its classes under the name that scikit-learn expects."""
        self.estimator_ = fitted
        if hasattr(fitted, "classes_"):
            self.classes_ = fitted.classes_
