"""scikit-learn's metric functions: the table names those that there are, with what they take."""

from __future__ import annotations

import inspect
from functools import partial

import pytest
import sklearn.metrics

from evenhand.measures.sklearn_functions import SKLEARN, measure_of, sklearn_name

# Curves, reports, rankings and functions of several labels: they do not give numbers that groups can be compared in.
OTHERS = {
    "classification_report",
    "confusion_matrix_at_thresholds",
    "coverage_error",
    "dcg_score",
    "det_curve",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "metric_at_thresholds",
    "ndcg_score",
    "precision_recall_curve",
    "precision_recall_fscore_support",
    "roc_curve",
}


def functions_of_labels():
    every = {name: getattr(sklearn.metrics, name) for name in sklearn.metrics.__all__}
    return {
        name
        for name, each in every.items()
        if inspect.isfunction(each) and "y_true" in inspect.signature(each).parameters
    }


def test_the_table_names_every_function_of_labels():
    assert functions_of_labels() - set(SKLEARN) - OTHERS == set()


@pytest.mark.parametrize("name", sorted(set(SKLEARN) & set(sklearn.metrics.__all__)))
def test_each_function_takes_a_label_and_what_the_table_says(name):
    role = SKLEARN[name][0]
    inputs = measure_of(getattr(sklearn.metrics, name)).inputs
    assert list(inputs.roles.values())[:2] == ["label", role]
    assert inputs.needs == {"label", role}
    assert set(inputs.roles.values()) <= {"label", role, "weight"}


def test_a_function_is_recognised_by_where_it_is_from():
    assert sklearn_name(sklearn.metrics.f1_score) == "f1_score"
    assert sklearn_name(partial(sklearn.metrics.fbeta_score, beta=2)) == "fbeta_score"
    assert sklearn_name(lambda y_true, y_pred: 0) is None
    assert sklearn_name(partial(sklearn.metrics.f1_score, [1, 0])) is None

    def f1_score(y_true, y_pred):
        return 0.0

    assert sklearn_name(f1_score) is None
