"""GroupThresholds: a classifier with a cutoff for each group, chosen so that a metric of the catalogue is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from evenhand.core import frames
from evenhand.core.arguments import check_argument
from evenhand.core.arrays import Floats, Indices
from evenhand.core.familiar import familiar
from evenhand.core.quantities import shown
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError
from evenhand.mitigate.estimators import Dropper, read_weights
from evenhand.mitigate.reweighing import fit_weighted, weight_argument
from evenhand.mitigate.thresholds.search import find_thresholds
from evenhand.sources import groups
from evenhand.sources.documentation import documented


@documented
class GroupThresholds(ClassifierMixin, MetaEstimatorMixin, Dropper):  # type: ignore[misc]
    """A classifier with a cutoff for each group: the most accurate ones that keep a constraint.

    The cutoffs are chosen on scores of people whom the model did not see when it was fitted (`cv`), and the model is
    then fitted to all. A person whose group is missing, or was not among those fitted, is an error, not a guess.

    Parameters
    ----------
    estimator
        Any classifier of two classes with predict_proba or decision_function.
    constraint
        The metric to keep, such as "equal_opportunity", "demographic_parity", "equalized_odds",
        "predictive_equality"; None for floors alone.
    within
        The largest difference, or smallest ratio, between groups; by default the metric's own threshold.
    floors
        The smallest value of measures in every group, as {"true_positive_rate": 0.8}.
    objective
        "accuracy", "balanced_accuracy", or what a person in each cell is worth, as {"TP": 1, "FP": -4}.
    randomised
        Whether a random draw between cutoffs is allowed, by which a constraint can be kept exactly.
    confidence
        As 0.95: leave enough room that the constraint also holds for the population of these people.
    sensitive
        The columns of X that make the groups; or pass `sensitive=` to fit and predict.
    drop
        Whether those columns are kept from the estimator.
    cv
        The number of parts into which rows are split, or a splitter, for scores of people the model has not seen;
        None uses the scores of the people it was fitted to.
    prefit
        Whether the estimator is fitted already; then fit only chooses cutoffs, from all rows.
    resolution
        "exact" tries every score, "grid" a thousand places.
    random_state
        The seed of random draws.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    thresholds_
        The `Thresholds`: cutoffs, what they keep and what they cost; print it.
    classes_
        The two classes; the second one is selected.

    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> race = rng.choice(["a", "b"], 400)
    >>> X = rng.normal(size=(400, 1)) + (race == "a")[:, None]
    >>> y = (X[:, 0] + rng.normal(size=400) > 0.5).astype(int)
    >>> model = GroupThresholds(LogisticRegression(), constraint="demographic_parity", within=0.05)
    >>> model = model.fit(X, y, sensitive=race)
    >>> chosen = model.predict(X, sensitive=race)
    >>> bool(abs(chosen[race == "a"].mean() - chosen[race == "b"].mean()) < 0.08)
    True
    """

    @familiar
    def __init__(
        self,
        estimator: Any,
        *,
        constraint: str | None = "equal_opportunity",
        within: float | None = None,
        floors: Mapping[str, float] | None = None,
        objective: str | Mapping[str, float] = "accuracy",
        randomised: bool = False,
        confidence: float | None = None,
        sensitive: Any = None,
        drop: bool = False,
        cv: Any = 5,
        prefit: bool = False,
        resolution: str = "exact",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.constraint = constraint
        self.within = within
        self.floors = floors
        self.objective = objective
        self.randomised = randomised
        self.confidence = confidence
        self.sensitive = sensitive
        self.drop = drop
        self.cv = cv
        self.prefit = prefit
        self.resolution = resolution
        self.random_state = random_state

    @familiar
    def fit(self, X: Any, y: Any, *, sensitive: Any = None, sample_weight: Any = None) -> GroupThresholds:
        """Fit the estimator, unless it is fitted already, and choose the cutoffs.

        Returns
        -------
        GroupThresholds
            The same estimator, fitted.
        """
        self._check_drop()
        check_argument("prefit", bool, self.prefit)
        check_random_state(self.random_state)
        checked, classes = self._checked(X, y)
        self.groups_ = groups.encode(self._who(sensitive), checked)
        self.classes_, codes = _two_classes(classes)
        weights = None if sample_weight is None else read_weights(sample_weight, len(codes))
        scores = self._fitted_scores(checked, self.classes_[codes], codes, weights)
        self.thresholds_ = find_thresholds(
            _counted(self.groups_, codes, scores, weights, self.resolution),
            constraint=self.constraint if len(self.groups_) > 1 else None,
            within=self.within,
            floors=self.floors,
            objective=self.objective,
            randomised=self.randomised,
            confidence=self.confidence if len(self.groups_) > 1 else None,
        )
        return self

    @familiar
    def predict(self, X: Any, *, sensitive: Any = None) -> Any:
        """The class of each row; random draws use `random_state`.

        Returns
        -------
        Any
            The class of each row.
        """
        chances = self.chances(X, sensitive=sensitive)
        certain = (chances == 0) | (chances == 1)
        lots = np.full(len(chances), 0.5)
        if not certain.all():
            lots = check_random_state(self.random_state).random_sample(len(chances))
        return self.classes_[(chances > lots).astype(np.intp)]

    @familiar
    def chances(self, X: Any, *, sensitive: Any = None) -> Floats:
        """The probability that each row gets the second class: 0 or 1 unless the cutoffs are random.

        Returns
        -------
        Floats
            The chance of each row to be selected.
        """
        check_is_fitted(self)
        scores = _scores(self.estimator_, self._seen(X), self.classes_)
        named = self.sensitive if sensitive is None else sensitive
        return self.thresholds_.chances_at(scores, self.groups_.match(named, X, len(scores)))

    @familiar
    def score(self, X: Any, y: Any, *, sensitive: Any = None, sample_weight: Any = None) -> float:
        """The accuracy.

        Returns
        -------
        float
            The accuracy.
        """
        labels, predicted = column_or_1d(frames.readable(y)), self.predict(X, sensitive=sensitive)
        check_consistent_length(labels, predicted)
        weights = None if sample_weight is None else read_weights(sample_weight, len(labels))
        return float(np.average(labels == predicted, weights=weights))

    def explain(self) -> str:
        """Which cutoffs were chosen, what they keep, and what they cost whom."""
        check_is_fitted(self)
        return self.thresholds_.explain()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _fitted_scores(self, X: Any, y: Any, codes: Indices, weights: Floats | None) -> Floats:
        """Fit the estimator, and return for each row the score of a model that has not seen it."""
        seen = self._seen(X)
        if self.prefit:
            self.estimator_ = self.estimator
            return _scores(self.estimator_, seen, self.classes_)
        self.estimator_ = _fit(self.estimator, seen, y, weights)
        folds = self._folds(codes)
        if folds is None:
            return _scores(self.estimator_, seen, self.classes_)
        found = np.full(len(codes), np.nan)
        for train, test in folds.split(np.zeros((len(codes), 1)), codes):
            rows, labels = frames.take(seen, train), frames.take(y, train)
            part = _fit(self.estimator, rows, labels, None if weights is None else weights[train])
            found[test] = _scores(part, frames.take(seen, test), self.classes_)
        if np.isnan(found).any():
            raise DataError("cv= leaves some rows without a score: it must test every row once, as KFold does.")
        return found

    def _folds(self, codes: Indices) -> Any:
        """The splitter of rows, with at most as many parts as the smaller class has rows; None for no split."""
        cv = self.cv
        if cv is None:
            return None
        if isinstance(cv, Integral) and not isinstance(cv, bool):
            cv = min(int(cv), int(np.bincount(codes).min()))
            if cv < 2:
                return None
        if isinstance(cv, bytes):
            raise CallError(f"cv={shown(cv)} must be a whole number, a splitter or None.")
        return check_cv(cv, codes, classifier=True)


def _two_classes(y: Any) -> tuple[Any, Indices]:
    """The classes in order, and which one each row has."""
    assert_all_finite(y, input_name="y")
    target = type_of_target(y, input_name="y", raise_unknown=True)
    check_classification_targets(y)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if target != "binary" or len(classes) > 2:
        raise ValueError(f"Only binary classification is supported. The type of the target is {target}.")
    if len(classes) < 2:
        raise ValueError(f"y has 1 class, {classes[0]!r}: cutoffs need people of two classes.")
    return classes, codes.reshape(-1)


def _fit(estimator: Any, X: Any, y: Any, weights: Floats | None) -> Any:
    model = clone(estimator)
    if weights is not None:
        return fit_weighted(model, X, y, weight_argument(model), weights)
    with config_context(enable_metadata_routing=False):
        return model.fit(X, y)


def _scores(model: Any, X: Any, classes: Any) -> Floats:
    """The score of the second class for each row."""
    if not np.array_equal(getattr(model, "classes_", classes), classes):
        raise DataError(f"the estimator knows the classes {list(model.classes_)!r}, and y has {list(classes)!r}.")
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64).reshape(-1)
    raise CallError(
        f"{type(model).__name__} has neither predict_proba nor decision_function, so it has no score to cut: "
        "choose a classifier that has one, such as LogisticRegression()."
    )


def _counted(who: groups.Groups, codes: Any, scores: Floats, weights: Floats | None, resolution: Any) -> Cube:
    """The cube of scores by group. Groups are counted by their position, and then get their names."""
    places = np.array([f"{i:07d}" for i in range(len(who))])
    cube = Cube.count(
        label=codes, score=scores, weight=weights, sensitive={"group": places[who.codes]}, resolution=resolution
    )
    pairs = tuple(((), who.names[int(group[0])]) for _, group in cube.pairs if group[0] is not None)
    return replace(cube, meaning=replace(cube.meaning, sensitive=who.attributes, bands=who.bands), pairs=pairs)
