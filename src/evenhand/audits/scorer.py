"""scorer(): a metric of the catalogue for `cross_validate` and `GridSearchCV` of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.core.arguments import checked

if TYPE_CHECKING:
    from evenhand.audits.functions import MetricFunction
    from evenhand.audits.metric_scorer import MetricScorer


@checked
def scorer(
    metric: str | MetricFunction, *, sensitive: Any = None, response_method: str | None = None, **arguments: Any
) -> MetricScorer:
    """A metric as a scorer of scikit-learn. Greater is better: a gap is negated, a ratio is left as it is.

    `sensitive` names the columns of X that make the groups. Or leave it out and pass it beside X and y: call
    `.set_score_request(sensitive=True)`, with metadata routing enabled. An estimator that itself needs each row's group
    to predict, such as `mitigate.GroupThresholds`, is given the same groups. `response_method` is "predict",
    "predict_proba" or "decision_function"; by default what the metric looks at. Other arguments are those of the
    metric's function: `positive`, `reference`, `cutoff` and the rest. An undefined metric scores NaN, with a warning.

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0, 1.0], [0, 4.0], [1, 2.0], [1, 5.0]] * 5), np.array([0, 1, 0, 1] * 5)
    >>> gap = scorer("demographic_parity", sensitive="x0")
    >>> gap(LogisticRegression().fit(X, y), X, y)
    0.0
    """
    from evenhand.audits.metric_scorer import MetricScorer, check

    check(metric, response_method, arguments)
    return MetricScorer(metric, sensitive, response_method, arguments or None)
