"""What the estimators of this room share: scikit-learn itself, who is asked for, and what X and y have to be."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from evenhand.errors import MissingDependencyError
from evenhand.sources.columns import library

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils import _safe_indexing, check_array, column_or_1d
    from sklearn.utils.validation import check_consistent_length, validate_data
except ImportError:
    raise MissingDependencyError("mitigation needs scikit-learn 1.6 or later: pip install 'evenhand[ml]'") from None


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


def take(table: Any, rows: Any) -> Any:
    """Some rows of a table, an array, a sparse matrix or a list, as the kind that it was."""
    if getattr(table, "format", None) in ("bsr", "coo", "dia"):
        table = table.tocsr()  # these cannot be indexed
    elif not hasattr(table, "__getitem__"):
        table = np.asarray(table)
    return _safe_indexing(table, rows)
