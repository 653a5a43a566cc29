"""scorer(): a metric of the catalogue for `cross_validate` and `GridSearchCV` of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.core.arguments import checked
from evenhand.sources.documentation import documented

if TYPE_CHECKING:
    from evenhand.audits.functions import MetricFunction
    from evenhand.audits.metric_scorer import MetricScorer


@documented
@checked
def scorer(
    metric: str | MetricFunction, *, sensitive: Any = None, response_method: str | None = None, **arguments: Any
) -> MetricScorer:
    """A metric as a scorer of scikit-learn. Greater is better: a gap is negated, a ratio is left as it is.

    An estimator that itself needs each row's group to predict, such as `mitigate.GroupThresholds`, is given the same
    groups. An undefined metric scores NaN, with a warning.

    Parameters
    ----------
    metric
        The name of a metric, such as "equalized_odds" or "fpr", or its function, also of a metric of your own.
    sensitive
        The columns of X that make the groups. Or leave it out and pass it beside X and y: call
        `.set_score_request(sensitive=True)`, with metadata routing enabled.
    response_method
        "predict", "predict_proba" or "decision_function"; by default what the metric looks at.
    **arguments
        Other arguments of the metric's function: `positive`, `reference`, `cutoff` and the rest.

    Returns
    -------
    MetricScorer
        What is called with an estimator, X and y, for `scoring=` of scikit-learn.

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0, 1.0], [0, 4.0], [1, 2.0], [1, 5.0]] * 5), np.array([0, 1, 0, 1] * 5)
    >>> gap = scorer("demographic_parity", sensitive="x0")
    >>> gap(LogisticRegression().fit(X, y), X, y)
    0.0
    """
    from evenhand.audits.metric_scorer import MetricScorer, check

    named = {} if sensitive is None else {"sensitive": sensitive}
    settings = check(metric, response_method, {**named, **arguments})
    return MetricScorer(metric, settings.pop("sensitive", None), response_method, settings or None)
