"""Mechanisms: how the value of a node is computed from its causes and its own noise.

A mechanism is fitted to rows; then it infers the noise of each row (abduction) and computes what the node would have
been with other causes and the same noise. Numbers have additive noise, x = f(causes) + u. Categories have a latent
noise u between 0 and 1: the unit interval is divided among the values, in their order, by their probabilities, and x is
the value in whose part u lies. From x only that part is known, so u is drawn within it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from evenhand.core.arguments import check_fields
from evenhand.core.arrays import Array, Floats
from evenhand.errors import CallError, MissingDependencyError, listing, shorten
from evenhand.sources.documentation import documented
from evenhand.sources.features import Column, Columns
from evenhand.sources.spelling import spelling

_RANK, _WELL_POSED = 1e-9, 1e-8


class State(Protocol):
    """A node with its inferred noise: `moved` is the node with other causes, `residual` the noise (or None)."""

    @property
    def residual(self) -> Floats | None: ...

    def moved(self, causes: Columns, shift: float = 0.0) -> Column: ...


class Fitted(Protocol):
    """A fitted mechanism; `uniform` places a latent noise within the range that is known of it."""

    @property
    def random(self) -> bool: ...

    def abduce(self, causes: Columns, node: Column, uniform: Floats | None = None) -> State: ...


class Mechanism(Protocol):
    """A mechanism before it is fitted; `known` means that nothing is estimated from data."""

    @property
    def known(self) -> bool: ...

    def fit(self, causes: Columns, node: Column) -> Fitted: ...


# --- additive noise


@dataclass(frozen=True)
class Additive:
    """x = mean(causes) + u, where mean is any function of the causes."""

    mean: Callable[[Columns], Floats]
    confused: bool = False
    """Do the causes determine each other, so that their effects cannot be separated?"""
    random: bool = False

    def abduce(self, causes: Columns, node: Column, uniform: Floats | None = None) -> State:  # noqa: ARG002
        return _Shifted(self.mean, node, self.mean(causes))


@dataclass(frozen=True)
class _Shifted:
    mean: Callable[[Columns], Floats]
    node: Column
    before: Floats

    @property
    def residual(self) -> Floats:
        return np.asarray(self.node.values - self.before)

    def moved(self, causes: Columns, shift: float = 0.0) -> Column:
        # Written as a change, so that causes that stay leave the node exactly as it was.
        return replace(self.node, values=self.node.values + (self.mean(causes) - self.before + shift))


@dataclass(frozen=True)
class ConstantNode:
    """A node that never varies: the effects of its causes are unknown, so it keeps its value."""

    random: bool = False

    def abduce(self, causes: Columns, node: Column, uniform: Floats | None = None) -> State:  # noqa: ARG002
        return _Unchanged(node)


@dataclass(frozen=True)
class _Unchanged:
    node: Column
    residual: None = None

    def moved(self, causes: Columns, shift: float = 0.0) -> Column:  # noqa: ARG002
        return self.node


@dataclass(frozen=True)
class Linear:
    """Least squares on the causes; each category of a cause has its own effect."""

    known: bool = False

    def fit(self, causes: Columns, node: Column) -> Fitted:
        matrix, values = design(causes).T, node.values
        centre = matrix.mean(axis=1)
        centred = matrix - centre[:, None]
        scale = np.sqrt(np.einsum("er,er->e", centred, centred) / matrix.shape[1])
        varies = scale > _RANK * np.maximum(np.abs(centre), 1e-300)
        scaled = centred[varies] / scale[varies, None]
        found, confused = _least_squares(scaled.T, values - values.mean())
        slopes = np.zeros(len(varies))
        slopes[varies] = found / scale[varies]
        level = values.mean() - centre @ slopes
        return Additive(lambda given: level + design(given) @ slopes, confused=confused)


def _least_squares(matrix: Floats, values: Floats) -> tuple[Floats, bool]:
    """Coefficients, and whether the columns determine each other.

    Where they are well conditioned, the normal equations are solved, with one step that corrects rounding errors: many
    times faster than a decomposition of all rows, which is used otherwise.
    """
    gram = matrix.T @ matrix
    strengths = np.linalg.eigvalsh(gram) if len(gram) else np.ones(1)
    if strengths[0] > _WELL_POSED * strengths[-1]:
        found = np.linalg.solve(gram, matrix.T @ values)
        return np.asarray(found + np.linalg.solve(gram, matrix.T @ (values - matrix @ found))), False
    found, _, rank, _ = np.linalg.lstsq(matrix, values, rcond=_RANK)
    return np.asarray(found), bool(rank < matrix.shape[1])


@dataclass(frozen=True)
class KnownCoefficients:
    """A linear mechanism with known coefficients: a number for each cause, or one for each of a cause's values."""

    coefficients: Mapping[str, Any]
    known: bool = True

    def fit(self, causes: Columns, node: Column) -> Fitted:
        differing = sorted(set(self.coefficients) ^ set(causes))
        if differing:
            raise CallError(
                f"the coefficients of {shorten(node.name)!r} are for {listing(self.coefficients)}; its causes are "
                f"{listing(causes)}."
            )
        return Additive(lambda given: _weighted(given, self.coefficients))


def _weighted(causes: Columns, coefficients: Mapping[str, Any]) -> Floats:
    total = np.zeros(len(next(iter(causes.values()))))
    for name, column in causes.items():
        weight = coefficients[name]
        if column.levels is None:
            total += float(weight) * column.values
            continue
        by_value = {spelling(value): float(effect) for value, effect in dict(weight).items()}
        lacking = [level for level in column.levels if spelling(level) not in by_value]
        if lacking:
            raise CallError(f"the coefficients for {shorten(name)!r} lack {listing(lacking)}.")
        total += np.array([by_value[spelling(level)] for level in column.levels])[column.values]
    return total


@dataclass(frozen=True)
class Function:
    """A known function of the causes, which takes them as a mapping of arrays and returns the mean."""

    function: Callable[[dict[str, Any]], Any]
    known: bool = True

    def fit(self, causes: Columns, node: Column) -> Fitted:  # noqa: ARG002
        return Additive(lambda given: _number_each(self.function(raw(given)), given, node.name))


@documented
@dataclass(frozen=True)
class Equation:
    """A structural equation that the caller knows, with its inverse: x = value(causes, u), u = noise(causes, x).

    Both functions get the causes as a mapping of arrays.

    >>> growth = Equation(value=lambda causes, u: causes["a"] * u, noise=lambda causes, x: x / causes["a"])
    """

    value: Callable[[dict[str, Any], Any], Any]
    noise: Callable[[dict[str, Any], Any], Any]
    known: bool = True
    random: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def fit(self, causes: Columns, node: Column) -> Fitted:  # noqa: ARG002
        """The equation itself: nothing is estimated.

        Parameters
        ----------
        causes
            The columns of the causes.
        node
            The column of the node.

        Returns
        -------
        Fitted
            The equation as it was given: nothing is learned.
        """
        return self

    def abduce(self, causes: Columns, node: Column, uniform: Floats | None = None) -> State:  # noqa: ARG002
        """The node with the noise of each row, computed by the inverse.

        Parameters
        ----------
        causes
            The columns of the causes.
        node
            The column of the node.
        uniform
            Draws from 0 to 1, where noise is drawn.

        Returns
        -------
        State
            The noise of each person.
        """
        found = _number_each(self.noise(raw(causes), node.raw()), causes, node.name)
        return Inverted(self.value, node, found)


@dataclass(frozen=True)
class Inverted:
    """A node with noise that one function inferred, and which another function computes."""

    value: Callable[[dict[str, Any], Any], Any]
    node: Column
    residual: Floats

    def moved(self, causes: Columns, shift: float = 0.0) -> Column:
        found = _number_each(self.value(raw(causes), self.residual), causes, self.node.name)
        return replace(self.node, values=found + shift)


def raw(causes: Columns) -> dict[str, Any]:
    """The causes as a caller's function takes them: arrays of plain values."""
    return {name: column.raw() for name, column in causes.items()}


def _number_each(answers: Any, causes: Columns, node: str) -> Floats:
    rows = len(next(iter(causes.values())))
    try:
        values = np.asarray(answers, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array([], dtype=np.float64)
    if values.shape in ((), (rows, 1)):
        values = np.broadcast_to(values.reshape(-1), rows)
    if values.shape != (rows,) or not np.isfinite(values).all():
        raise CallError(f"the mechanism of {shorten(node)!r} must give one finite number for each row.")
    return values


@dataclass(frozen=True)
class Regression:
    """A regressor with the methods of scikit-learn, for the mean."""

    estimator: Any
    known: bool = False

    def fit(self, causes: Columns, node: Column) -> Fitted:
        model = fresh(self.estimator).fit(design(causes), node.values)
        return Additive(lambda given: _number_each(model.predict(design(given)), given, node.name))


# --- latent noise


@dataclass(frozen=True)
class Classification:
    """A classifier with the methods of scikit-learn, for the probabilities of the values; None: logistic regression."""

    estimator: Any = None
    known: bool = False

    def fit(self, causes: Columns, node: Column) -> Fitted:
        values, codes = np.unique(node.values, return_inverse=True)
        if len(values) < 2:
            return ConstantNode()
        estimator = _logistic() if self.estimator is None else fresh(self.estimator)
        return Latent(estimator.fit(design(causes), codes), values)


@dataclass(frozen=True)
class Latent:
    """The unit interval divided among the values in their order; x is the value in whose part the noise lies."""

    model: Any
    values: Array
    random: bool = True

    def edges(self, causes: Columns) -> Floats:
        """The upper end of each value's part of the unit interval, [rows, values]."""
        found = self.model.predict_proba(design(causes))
        ends = np.cumsum(found, axis=1)
        ends[:, -1] = 1.0
        return np.asarray(ends)

    def abduce(self, causes: Columns, node: Column, uniform: Floats | None = None) -> State:
        ends, rows = self.edges(causes), np.arange(len(node))
        place = np.searchsorted(self.values, node.values).clip(max=len(self.values) - 1)
        high = ends[rows, place]
        low = np.where(place > 0, ends[rows, place - 1], 0.0)
        inside = np.full(len(node), 0.5) if uniform is None else uniform
        return _Drawn(self, node, low + inside * (high - low))


@dataclass(frozen=True)
class _Drawn:
    mechanism: Latent
    node: Column
    noise: Floats
    residual: None = None

    def moved(self, causes: Columns, shift: float = 0.0) -> Column:  # noqa: ARG002 - a latent noise has no unit to shift
        place = (self.mechanism.edges(causes) < self.noise[:, None]).sum(axis=1)
        return replace(self.node, values=self.mechanism.values[place.clip(max=len(self.mechanism.values) - 1)])


def _logistic() -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError:
        raise MissingDependencyError(
            "a node with categories that has causes needs scikit-learn: pip install 'evenhand[ml]'"
        ) from None
    # A very small penalty: a larger one would pull the effects towards 0, none at all fails where classes separate.
    return make_pipeline(StandardScaler(), LogisticRegression(C=1e4, max_iter=1000))


def fresh(estimator: Any) -> Any:
    """An unfitted copy of the caller's estimator."""
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)


def design(causes: Columns) -> Floats:
    """Causes as numbers, [rows, effects]: each value of a category but the first is a column of 0 and 1.

    The numbers of an effect lie side by side in memory, which makes sums over the rows several times faster.
    """
    parts: list[Floats] = []
    for column in causes.values():
        if column.levels is None:
            parts.append(column.values[None, :])
        else:
            parts.append((column.values == np.arange(1, len(column.levels))[:, None]).astype(np.float64))
    return np.concatenate(parts).T


def mechanism_of(node: Column, requested: Any) -> Mechanism:
    """The mechanism of a node: the one that the caller passed, or by default least squares or a latent noise."""
    if requested is None:
        two = not node.categorical and len(np.unique(node.values[:1000])) <= 2 and len(np.unique(node.values)) == 2
        return Classification() if node.categorical or two else Linear()
    if hasattr(requested, "predict_proba"):
        return Classification(requested)
    if node.categorical:
        raise CallError(
            f"{shorten(node.name)!r} holds categories: its mechanism must be a classifier with predict_proba, not "
            f"{shorten(repr(requested))}."
        )
    if isinstance(requested, Mapping):
        return KnownCoefficients(requested)
    if hasattr(requested, "fit") and hasattr(requested, "predict"):
        return Regression(requested)
    if hasattr(requested, "fit") and hasattr(requested, "known"):
        return requested  # type: ignore[no-any-return]
    if callable(requested):
        return Function(requested)
    raise CallError(
        f"the mechanism of {shorten(node.name)!r} must be a regressor or classifier, a function of its causes, or "
        f"coefficients by cause, not {shorten(repr(requested))}."
    )
