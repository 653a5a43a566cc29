"""scikit-learn's metric functions: what each takes, and any function of the rows as a measure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from evenhand.errors import CallError, shorten
from evenhand.measures.row_measure import RowMeasure, function_name, row_measure

_RATES = "accuracy_score balanced_accuracy_score f1_score fbeta_score hamming_loss jaccard_score precision_score "
_RATES += "recall_score zero_one_loss"
_OF_SCORES = "average_precision_score brier_score_loss roc_auc_score top_k_accuracy_score"
_RATIOS = "class_likelihood_ratios cohen_kappa_score d2_absolute_error_score d2_pinball_score d2_tweedie_score "
_RATIOS += "explained_variance_score matthews_corrcoef r2_score"
_NUMBERS = "confusion_matrix max_error mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance "
_NUMBERS += "mean_pinball_loss mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance "
_NUMBERS += "median_absolute_error multilabel_confusion_matrix root_mean_squared_error root_mean_squared_log_error"
_LOSSES_OF_SCORES = "d2_brier_score d2_log_loss_score hinge_loss log_loss"

SKLEARN: dict[str, tuple[str, str, float | None]] = {
    name: row
    for names, row in (
        (_RATES, ("prediction", "rate", 0.1)),
        (_OF_SCORES, ("score", "ratio", 0.1)),
        (_RATIOS, ("prediction", "ratio", None)),
        (_NUMBERS, ("prediction", "ratio", None)),
        (_LOSSES_OF_SCORES, ("score", "ratio", None)),
    )
    for name in names.split()
}
"""scikit-learn's metric functions: what each takes beside the label, its unit, and the gap that is tolerated. Those
without a limit have no scale of their own: they are shown with their interval and not judged."""


def measure_of(function: Callable[..., Any], name: str | None = None, **settings: Any) -> RowMeasure:
    """A function of the rows as a measure; one of scikit-learn's takes what `SKLEARN` says."""
    own = function_name(function)
    known = sklearn_name(function)
    name = name or own
    if not name.isidentifier():
        raise CallError(
            f"{shorten(repr(own))} is not a name for a metric: give the function one, as in evenhand.metric('profit', "
            "measures=function)."
        )
    if known is None:
        return row_measure(name, function, **{"unit": "ratio", **settings})
    role, unit, _ = SKLEARN[known]
    return row_measure(name, function, roles=("label", role), **{"unit": unit, **settings})


def sklearn_name(function: Callable[..., Any]) -> str | None:
    """The name of a function that is scikit-learn's, or is made of one by functools.partial; else None."""
    while isinstance(function, partial):
        if function.args:
            return None
        function = function.func
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    return name if module.startswith("sklearn.metrics") and name in SKLEARN else None
