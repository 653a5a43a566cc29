"""MetricScorer: a metric as a scorer of scikit-learn, where greater is better. Importing it needs scikit-learn."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from evenhand.audits.functions import FUNCTIONS, MetricFunction, parameters
from evenhand.catalogue import full_name
from evenhand.core.arrays import Floats
from evenhand.core.calls import call
from evenhand.core.familiar import OURS, familiar, in_our_words
from evenhand.core.results import Finding
from evenhand.errors import CallError, DataError, MissingDependencyError, listing, nearest, shorten
from evenhand.sources import groups
from evenhand.sources.spelling import canonical

try:
    from sklearn import get_config
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import UndefinedMetricWarning
    from sklearn.utils.metadata_routing import UNUSED, get_routing_for_object
except ImportError:
    raise MissingDependencyError("a scorer needs scikit-learn 1.6 or later: pip install 'evenhand[ml]'") from None

METHODS = ("predict", "predict_proba", "decision_function")
GROUP_ARGUMENTS = ("sensitive", "sensitive_features")
"""The names that estimators have for the argument with each row's group."""

_FROM_ESTIMATOR = ("label", "prediction", "score", "weight", "count")


class MetricScorer(BaseEstimator):  # type: ignore[misc]
    """The scorer that `eh.scorer` returns: called with an estimator, X and y, it returns one number."""

    # scikit-learn reads what can be routed from the signature of `score`; the estimator is not metadata.
    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012 - a declaration that scikit-learn reads

    def __init__(
        self,
        metric: str | MetricFunction,
        sensitive: Any = None,
        response_method: str | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.metric = metric
        self.sensitive = sensitive
        self.response_method = response_method
        self.arguments = arguments

    @familiar
    def __call__(
        self, estimator: Any, X: Any, y: Any = None, *, sensitive: Any = None, sample_weight: Any = None
    ) -> float:
        """The score of an estimator on some rows; NaN, with a warning, where the metric is undefined."""
        return self.score(estimator, X, y, sensitive=sensitive, sample_weight=sample_weight)

    @familiar
    def score(
        self, estimator: Any, X: Any, y: Any = None, *, sensitive: Any = None, sample_weight: Any = None
    ) -> float:
        """The score, under the name by which scikit-learn routes metadata."""
        finding = self.finding(estimator, X, y, sensitive=sensitive, sample_weight=sample_weight)
        value = float(finding.value)
        if math.isnan(value):
            name = finding.metric
            warnings.warn(
                f"{name} is undefined here, and so is its score: {finding.interpretation}",
                UndefinedMetricWarning,
                stacklevel=3,
            )
        return greater_is_better(value, finding.judged_on)

    @familiar
    def finding(
        self, estimator: Any, X: Any, y: Any = None, *, sensitive: Any = None, sample_weight: Any = None
    ) -> Finding:
        """The finding behind the score: with its groups, interval and sentence."""
        function = function_of(self.metric)
        roles = {} if y is None else {"label": y}
        roles |= {} if sample_weight is None else {"weight": sample_weight}
        arguments = dict(self.arguments or {})
        method = self.response_method or usual_method(function)
        who = self.sensitive if sensitive is None else sensitive
        if who is None:
            raise CallError(
                "the scorer has no sensitive=: name columns of X, as in scorer(..., sensitive='sex'), or enable "
                "metadata routing, call set_score_request(sensitive=True) on it, and pass sensitive= beside X and y."
            )
        named = groups.named_columns(who, X)
        who = groups.columns_of(X, named) if named else who
        ask = partial(getattr(estimator, method), **group_arguments(estimator, method, who))
        response = call(type(estimator).__name__, f"in {method}", ask, X)
        if method == "predict":
            roles["prediction"] = response
        else:
            roles["score"] = _scores(estimator, response, arguments.get("positive", 1))
        return function(**roles, sensitive=who, **arguments)


def function_of(metric: str | MetricFunction) -> MetricFunction:
    """The function of a metric that is named, or the function that was passed."""
    if not isinstance(metric, str):
        if not hasattr(metric, "metric"):
            raise CallError(
                f"metric={shorten(repr(metric))} is not a metric: pass a name, or what eh.metric(...) returns."
            )
        return metric
    name = full_name(metric)
    if name not in FUNCTIONS:
        raise CallError(f"{shorten(metric)!r} is not a metric of predictions or scores; {nearest(metric, FUNCTIONS)}")
    return FUNCTIONS[name]


def usual_method(function: MetricFunction) -> str:
    """The method that a metric needs: predict_proba where it needs a score, else predict."""
    return "predict_proba" if "score" in function.metric.needs else "predict"  # type: ignore[attr-defined]


def greater_is_better(value: float, judged_on: str) -> float:
    """A value as a score: a gap, an index or a distance is negated, and a ratio above 1 is inverted.

    >>> greater_is_better(0.2, "difference"), greater_is_better(0.8, "ratio"), greater_is_better(1.25, "ratio")
    (-0.2, 0.8, 0.8)
    """
    if judged_on == "ratio":
        return min(value, 1 / value) if value > 0 else value
    return 0.0 - abs(value)


def check(metric: str | MetricFunction, response_method: str | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in our words; what would fail in every fold is an error at once."""
    known = parameters(function_of(metric).metric)  # type: ignore[attr-defined]
    settings = in_our_words("scorer", arguments, known)
    for name in arguments:
        if OURS.get(name, name) in _FROM_ESTIMATOR:
            raise CallError(f"a scorer takes {name}= from the estimator, X and y: leave it out.")
    if response_method is not None and response_method not in METHODS:
        raise CallError(f"response_method={response_method!r} must be one of {listing(METHODS)}.")
    return settings


def group_arguments(estimator: Any, method: str, who: Any) -> dict[str, Any]:
    """The arguments by which a method of an estimator learns each row's group, and a seed where it draws by lot.

    There are none where the method takes no groups, or where the estimator has its own (`sensitive` names columns of
    X). An estimator that hands arguments on, such as a pipeline, gets them where metadata routing says who takes them.
    """
    parameters = inspect.signature(getattr(estimator, method)).parameters
    taken = [name for name in GROUP_ARGUMENTS if name in parameters]
    if not taken and get_config()["enable_metadata_routing"]:
        taken = [name for name in GROUP_ARGUMENTS if get_routing_for_object(estimator).consumes(method, [name])]
    if not taken or getattr(estimator, "sensitive", None) is not None:
        return {}
    return {taken[0]: who, **({"random_state": 0} if "random_state" in parameters else {})}


def _scores(estimator: Any, response: Any, positive: Any) -> Floats:
    """The score of the positive class, from what the estimator said of all classes."""
    found = np.asarray(response, dtype=np.float64)
    if found.ndim == 1:
        return found
    several = isinstance(positive, (list, tuple, set, frozenset))
    wanted = {canonical(value) for value in (positive if several else [positive])}
    columns = [i for i, known in enumerate(estimator.classes_) if canonical(known) in wanted]
    if not columns:
        classes = list(estimator.classes_)
        raise DataError(f"positive={positive!r} is not a class of the estimator ({listing(classes)}): say which is.")
    return np.asarray(found[:, columns].sum(axis=1))
