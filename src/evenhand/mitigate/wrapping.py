"""A classifier around another one that is trained on evened-out rows: predictions are those of the one inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from evenhand.errors import CallError
from evenhand.mitigate import groups
from evenhand.mitigate.estimators import GroupEstimator
from evenhand.sources.columns import library

Method = TypeVar("Method", bound=Callable[..., Any])


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
