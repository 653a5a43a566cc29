"""Reweighed: a classifier that is fitted with the weights of a Reweigher, as a scikit-learn estimator of its own."""

from __future__ import annotations

from typing import Any

from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from evenhand.errors import CallError, shorten
from evenhand.mitigate.reweighing import Reweigher
from evenhand.mitigate.wrapping import Wrapper, without

__all__ = ["Reweighed", "fit_weighted", "weight_argument", "without"]


class Reweighed(Wrapper):
    """A classifier fitted with weights under which the class is independent of the group.

    `estimator` is any classifier whose fit takes sample_weight, or a pipeline that ends in one. `sensitive` names the
    columns of X that make the groups, or `fit` is given `sensitive=` beside X and y; prediction needs neither. With
    `drop=True` those columns make the weights and are kept from the estimator.

    Attributes:
        estimator_: The fitted classifier.
        reweigher_: The `Reweigher`, with `weights_`.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X = [[0, 1.0], [0, 2.0], [0, 3.0], [1, 1.0], [1, 2.0], [1, 3.0]]
    >>> model = Reweighed(LogisticRegression(), sensitive="x0", drop=True).fit(X, [0, 0, 1, 0, 1, 1])
    >>> {key: round(weight, 2) for key, weight in model.reweigher_.weights_.items()}
    {('0', 0): 0.75, ('0', 1): 1.5, ('1', 0): 1.5, ('1', 1): 0.75}
    >>> model.estimator_.n_features_in_
    1
    """

    def __init__(self, estimator: Any, *, sensitive: Any = None, drop: bool = False) -> None:
        self.estimator = estimator
        self.sensitive = sensitive
        self.drop = drop

    def fit(self, X: Any, y: Any, *, sensitive: Any = None, sample_weight: Any = None) -> Reweighed:
        """Weigh the rows by group and class, and fit a clone of the estimator with these weights.

        Weights of the rows themselves (`sample_weight`) are multiplied with them.
        """
        self._check_drop()
        argument = weight_argument(self.estimator)
        checked, classes = self._checked(X, y)
        self.reweigher_ = Reweigher(sensitive=self.sensitive).fit(
            checked, classes, sensitive=sensitive, sample_weight=sample_weight
        )
        weights = self.reweigher_.sample_weights()
        self._keep(fit_weighted(clone(self.estimator), self._seen(X), y, argument, weights))
        return self


def weight_argument(estimator: Any) -> str:
    """What fit calls the weights of the rows: a pipeline hands them to its last step, a search to what it searches.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_argument(make_pipeline(StandardScaler(), LogisticRegression()))
    'logisticregression__sample_weight'
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise CallError(f"estimator={shorten(repr(estimator))} is no classifier: pass one, as LogisticRegression().")
    kept = getattr(estimator, "steps", None)
    if kept:
        name, last = kept[-1]
        return f"{name}__{weight_argument(last)}"
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    inside = getattr(estimator, "estimator", None)
    if inside is not None:
        return weight_argument(inside)
    raise CallError(
        f"{type(estimator).__name__} takes no sample_weight when it is fitted: choose a classifier that does, or "
        "resample the rows with UniformResampler or PreferentialResampler."
    )


def fit_weighted(estimator: Any, X: Any, y: Any, argument: str, weights: Any) -> Any:
    """Fit with weights, whether metadata is routed or not: requests that a user has set are followed."""
    if get_config()["enable_metadata_routing"]:
        asked = get_routing_for_object(estimator).consumes("fit", ["sample_weight"])
        if asked:
            return estimator.fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=False):
        return estimator.fit(X, y, **{argument: weights})
