"""Predictors whose predictions do not change with the attribute, after Kusner et al. (2017).

Level 1 uses only the columns that the attribute does not cause. Level 2 adds a latent variable, a common cause of what
the attribute causes and of the outcome, estimated from the parts of these that the attribute does not explain. Level 3
adds these parts themselves: the residuals of an additive model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from evenhand.core.arguments import array_of, checked, is_series
from evenhand.core.arrays import Array, Floats
from evenhand.core.calls import call
from evenhand.core.quantities import shown
from evenhand.core.wording import number_of
from evenhand.counterfactual.columns import names_of, read_nodes, row_count
from evenhand.counterfactual.mechanisms import design, fresh
from evenhand.counterfactual.model import CausalModel, FittedModel, learn, read_rows
from evenhand.errors import CallError, DataError, MissingDependencyError, check_kind, listing, shorten
from evenhand.sources.documentation import documented
from evenhand.sources.features import Columns

LEVELS = (1, 2, 3)


@documented
@checked
class InvariantPredictor:
    """A predictor trained on what the sensitive attributes do not cause, and on residuals of what they do.

    `model` gives the graph and the mechanisms; they are learned from the training rows alone. `outcome` is the column
    to predict; if it is a node, it and its effects are left out of the inputs. `estimator` is any regressor or
    classifier of scikit-learn, by default linear regression. `level` is Kusner's: 1 uses non-descendants, 2 adds
    one latent variable, 3 adds the residuals.

    >>> rows = {"group": ["a", "b"] * 4, "score": [1.0, 5, 2, 6, 3, 7, 4, 8], "grade": [1.0, 3, 2, 4, 3, 5, 4, 6]}
    >>> model = InvariantPredictor(CausalModel([("group", "score")]), sensitive="group", outcome="grade").fit(rows)
    >>> model.predict(rows).round(6).tolist()
    [2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]
    """

    def __init__(
        self,
        model: CausalModel,
        *,
        sensitive: str | Iterable[str],
        outcome: str,
        level: int = 3,
        estimator: Any = None,
    ) -> None:
        check_kind(model, CausalModel, "model", "pass a CausalModel(graph)")
        if level not in LEVELS:
            raise CallError(f"level={shown(level)} must be 1, 2 or 3.")
        if estimator is not None and not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise CallError(f"estimator={shown(estimator)} must be one of scikit-learn, such as Ridge(), or None.")
        self.model, self.outcome, self.level, self.estimator = model, outcome, level, estimator
        self.sensitive = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
        model.graph.check_nodes(self.sensitive, "sensitive")
        if outcome in self.sensitive:
            raise CallError(f"outcome={shorten(repr(outcome))} is a sensitive attribute.")
        late = {outcome, *model.graph.descendants([outcome])} if outcome in model.graph.nodes else set()
        lost = sorted(late.intersection(self.sensitive))
        if lost:
            raise CallError(f"the outcome causes {listing(lost)} in this graph: nothing can be predicted before it.")
        self.graph = model.graph.without(late)
        self.moved = tuple(node for node in self.graph.nodes if node in self.graph.descendants(self.sensitive))
        self.plain = tuple(node for node in self.graph.nodes if node not in self.moved and node not in self.sensitive)
        self._learned: FittedModel | None = None

    def fit(self, data: Any, y: Any = None) -> InvariantPredictor:
        """Fit to rows that hold the outcome, or to rows and outcomes `y`; returns the predictor itself.

        Parameters
        ----------
        data
            A table with a column for every node that the model needs.
        y
            The outcome; by default its column in the data.

        Returns
        -------
        InvariantPredictor
            The same predictor, fitted.
        """
        learned = learn(self.model, data, self.graph)
        outcomes = self._outcomes(data, y)
        if len(outcomes) != row_count(data):
            raise DataError(f"there are {len(outcomes):,} outcomes for {number_of(row_count(data))}.")
        self._learned = learned
        self._check_residuals(learned)
        rows = learned.rows
        assert rows is not None  # noqa: S101 - it was just learned from some
        self._loadings = self._latent(rows, outcomes) if self.level == 2 else None
        inputs = self._inputs(rows)
        self._centre = None
        if inputs.shape[1] == 0:
            # Nothing is left to predict from: everyone gets the same.
            self._centre = _most_common(outcomes)
        else:
            estimator = _linear() if self.estimator is None else fresh(self.estimator)
            self._fitted = call(
                "estimator=", f"when it was fitted to {number_of(len(inputs))}", estimator.fit, inputs, outcomes
            )
        return self

    def predict(self, data: Any) -> Any:
        """The prediction for each row of a table, which need not hold the outcome.

        Parameters
        ----------
        data
            A table with a column for every node that the model needs.

        Returns
        -------
        Any
            The prediction for each person.
        """
        rows = self._rows(data)
        if self._centre is not None:
            return np.full(row_count(data), self._centre)
        return self._asked("predict", rows)

    def predict_proba(self, data: Any) -> Any:
        """The probabilities of the classes, where the estimator has predict_proba.

        Parameters
        ----------
        data
            A table with a column for every node that the model needs.

        Returns
        -------
        Any
            The probability of each class for each person.
        """
        if self.estimator is None or not hasattr(self.estimator, "predict_proba"):
            raise CallError("predict_proba needs a classifier: pass one as estimator=.")
        return self._asked("predict_proba", self._rows(data))

    def _asked(self, method: str, rows: Columns) -> Any:
        inputs = self._inputs(rows)
        return call("estimator=", f"in {method}, on {number_of(len(inputs))}", getattr(self._fitted, method), inputs)

    def inputs(self, data: Any) -> Floats:
        """The inputs of the estimator: columns that the attributes do not cause, then residuals.

        Parameters
        ----------
        data
            A table with a column for every node that the model needs.

        Returns
        -------
        Floats
            The columns that the estimator sees, a row for each person.
        """
        return self._inputs(self._rows(data))

    def _rows(self, data: Any) -> Columns:
        if self._learned is None:
            raise CallError("the predictor is not fitted: call fit(data) first.")
        return read_rows(self.model, data, self._learned)

    def _outcomes(self, data: Any, y: Any) -> Array:
        if y is not None:
            if not is_series(y):
                raise CallError(f"y={shown(y)} must be a list of outcomes, one for each row.")
            return array_of("y", list(y))
        if self.outcome not in names_of(data):
            raise DataError(f"there is no column {shorten(self.outcome)!r}: pass the outcomes as fit(data, y).")
        return read_nodes(data, [self.outcome])[self.outcome].raw()

    def _check_residuals(self, learned: FittedModel) -> None:
        lacking = [node for node in self.moved if learned.fitted[node].random]
        if self.level > 1 and lacking:
            raise CallError(
                f"{listing(lacking)} has categories, so it has no residual: leave it out of the graph and the inputs, "
                "or use level=1."
            )

    def _inputs(self, rows: Columns) -> Floats:
        count = len(next(iter(rows.values())))
        plain = {name: rows[name] for name in self.plain}
        parts = [design(plain) if plain else np.zeros((count, 0))]
        if self.level == 3:
            parts.append(self._residuals(rows))
        elif self.level == 2 and self._loadings is not None:
            parts.append(self._residuals(rows) @ self._loadings)
        return np.concatenate(parts, axis=1)

    def _residuals(self, rows: Columns) -> Floats:
        assert self._learned is not None  # noqa: S101 - every caller has made sure
        states = self._learned.abduced(rows, self.moved).states
        found = [states[node].residual for node in self.moved]
        known = [part for part in found if part is not None]
        return np.stack(known, axis=1) if known else np.zeros((len(next(iter(rows.values()))), 0))

    def _latent(self, rows: Columns, outcomes: Array) -> Floats | None:
        """Weights of the residuals that estimate the latent variable: its conditional mean in a one-factor model.

        When the factor is fitted, the outcome's residual, given the attributes, is one more indicator of it; the
        weights use the residuals of the inputs alone, because the outcome is not known when a prediction is made.
        """
        residuals = self._residuals(rows)
        if residuals.shape[1] == 0:
            return None
        attributes = design({name: rows[name] for name in self.sensitive})
        outcome = outcomes.astype(np.float64)
        matrix = np.column_stack([np.ones(len(outcome)), attributes])
        outcome = outcome - matrix @ np.linalg.lstsq(matrix, outcome, rcond=None)[0]
        signs = np.column_stack([residuals, outcome])
        scale = np.where(signs.std(axis=0) > 0, signs.std(axis=0), 1.0)
        loading, unique = one_factor(np.cov(signs / scale, rowvar=False))
        weights = loading[:-1] / unique[:-1]
        return np.asarray(weights / scale[:-1] / (1 + loading[:-1] @ weights))[:, None]


def one_factor(covariance: Floats, steps: int = 1000) -> tuple[Floats, Floats]:
    """Loadings and own variances of the model covariance = loading loadingᵀ + diag(own), by its EM algorithm.

    >>> loading = np.array([0.8, 0.6, 0.5])
    >>> found, own = one_factor(np.outer(loading, loading) + np.diag(1 - loading**2))
    >>> np.abs(found).round(4).tolist()
    [0.8, 0.6, 0.5]
    """
    values, vectors = np.linalg.eigh(covariance)
    loading = vectors[:, -1] * np.sqrt(max(float(values[-1]), 1e-12))
    own = np.maximum(np.diag(covariance) - 0.5 * loading**2, 1e-3 * np.diag(covariance))
    for _ in range(steps):
        weights = loading / own / (1 + loading @ (loading / own))
        crossed = covariance @ weights
        second = 1 - weights @ loading + weights @ crossed
        new = crossed / second
        own = np.maximum(np.diag(covariance) - new * crossed, 1e-6 * np.diag(covariance))
        if np.abs(new - loading).max() < 1e-12:
            break
        loading = new
    return loading, own


def _linear() -> Any:
    try:
        from sklearn.linear_model import LinearRegression
    except ImportError:
        raise MissingDependencyError("InvariantPredictor needs scikit-learn: pip install 'evenhand[ml]'") from None
    return LinearRegression()


def _most_common(outcomes: Array) -> Any:
    """The mean of numbers, or the most common class."""
    if outcomes.dtype.kind in "iuf":
        return float(outcomes.mean())
    values, counts = np.unique(outcomes, return_counts=True)
    return values[counts.argmax()]
