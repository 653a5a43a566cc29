"""The rows of a cell in order of their distance from the decision boundary, by a classifier's probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from evenhand.core.arrays import Array, Floats, Indices
from evenhand.errors import CallError, DataError, shorten
from evenhand.mitigate.cells import Cells
from evenhand.sources import features


def probabilities(ranker: Any, X: Any, y: Any, classes: Array) -> Floats:
    """P(class) of each row, [rows, classes], by a clone of the ranker that is fitted to these rows.

    Without a ranker it is a logistic regression on the columns of X, numbers and categories alike.
    """
    if ranker is None:
        model, seen = _default(X)
    else:
        if isinstance(ranker, type) or not hasattr(ranker, "fit") or not hasattr(ranker, "predict_proba"):
            raise CallError(
                f"ranker={shorten(repr(ranker))} has no predict_proba: pass a classifier that has it, such as "
                "LogisticRegression() or a pipeline that ends in one; or leave it out."
            )
        model, seen = clone(ranker), X
    model.fit(seen, y)
    found = np.asarray(model.predict_proba(seen), dtype=np.float64)
    if found.shape != (len(y), len(classes)):
        raise DataError(
            f"the ranker's predict_proba returns shape {found.shape}, not a column for each of {len(classes)} classes."
        )
    if np.isnan(found).any():
        raise DataError("the ranker's predict_proba returns NaN: change the ranker, or fill the gaps in X.")
    return found


def nearest_first(cells: Cells, cell: int, probability: Floats) -> Indices:
    """The rows of a cell, nearest the boundary first: the least probable for their class. Ties keep the row order."""
    rows = np.flatnonzero(cells.codes == cell)
    width = len(cells.classes)
    own = cell % width
    # For two classes one column is used, so that both have the same ties.
    sure = probability[rows, own] if width != 2 or own == 1 else -probability[rows, 1]
    return rows[np.argsort(sure, kind="stable")]


def _default(X: Any) -> tuple[Any, Any]:
    """A logistic regression for any table, and its inputs: numbers with gaps, and codes of categories."""
    logistic = LogisticRegression(max_iter=1000)
    if hasattr(X, "tocsr"):
        return make_pipeline(StandardScaler(with_mean=False), logistic), X
    columns = features.read(features.as_table(X)).columns
    numbers = [i for i, column in enumerate(columns) if not column.categorical]
    names = [i for i, column in enumerate(columns) if column.categorical]
    filled = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    parts = [("numbers", filled, numbers), ("names", OneHotEncoder(), names)]  # a missing name counts as one more name
    seen = np.column_stack([np.asarray(column.values, dtype=np.float64) for column in columns])
    return make_pipeline(ColumnTransformer(parts), logistic), seen
