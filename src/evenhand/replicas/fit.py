"""replicate(): many replicas of a model, each fitted to a bootstrap sample of the same data."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evenhand.core import progress
from evenhand.core.arguments import array_of
from evenhand.core.arrays import Array, Ints
from evenhand.core.calls import FAILURES, described, in_processes
from evenhand.core.familiar import familiar
from evenhand.core.quantities import MOST_REPLICAS, check_processes, check_seed, check_whole, number, shown
from evenhand.core.signs import Printable
from evenhand.core.wording import number_of
from evenhand.errors import CallError, DataError, MissingDependencyError, Problems, listing, nearest, shorten
from evenhand.sources.documentation import documented
from evenhand.sources.roles import read_positive
from evenhand.sources.spelling import canonical

Kind = Literal["probability", "label"]
IN_MEMORY = 1 << 30  # bytes of predictions beyond which they are kept in a temporary file


@dataclass(frozen=True)
class Replicas(Printable):
    """The predictions of the replicas of a model: `values` is [replicas, people] of P(Y=1), or of labels 0 and 1.

    `seeds` has the random seed of each replica, for its sample and for its model.
    """

    values: Array = field(repr=False)
    kind: Kind
    seeds: tuple[int, ...] = field(repr=False)
    fraction: float
    rows: int
    """The number of rows that each replica was fitted to."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of replicas and of people."""
        return len(self.values), self.values.shape[1]

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)


@documented
@familiar
def replicate(
    model: Any,
    X: Any,
    y: Any,
    X_test: Any,
    *,
    n_replicas: int = 200,
    fraction: float = 0.8,
    positive: Any = 1,
    sample_weight: Any = None,
    sensitive: Any = None,
    sensitive_test: Any = None,
    random_state: int = 0,
    n_jobs: int | None = -1,
) -> Replicas:
    """Fit a classifier or pipeline of scikit-learn to many bootstrap samples, and predict with each of these replicas.

    A model without `predict_proba` gives labels. The result does not depend on `n_jobs`.

    Parameters
    ----------
    model
        A classifier or pipeline of scikit-learn; each replica is a fresh clone.
    X
        The rows that replicas are fitted to.
    X_test
        The people whose predictions are returned.
    n_replicas
        How many replicas are fitted.
    fraction
        The share of the rows that is drawn, with replacement, for each replica.
    sample_weight
        The weight of each row, drawn along with the rows.
    sensitive
        Each row's group, for a model whose fit takes it; drawn along with the rows.
    sensitive_test
        The group of each person in `X_test`, for a model that needs it to predict.

    Returns
    -------
    Replicas
        The predictions, an array with a row for each replica, for `stability`.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1], 20)
    >>> replicas = replicate(LogisticRegression(), X, y, X, n_replicas=5, n_jobs=1)
    >>> replicas.shape, replicas.kind, replicas.rows
    ((5, 40), 'probability', 32)
    """
    _check_libraries()
    _check(model, n_replicas, fraction, random_state, n_jobs)
    _check_features(X, y)
    outcomes, classes, favourable = _outcomes(y, positive)
    length, people = _length(X, "X"), _length(X_test, "X_test")
    drawn = {"sample_weight": sample_weight, "sensitive": sensitive}
    drawn = {name: _indexable(column) for name, column in drawn.items() if column is not None}
    to_predict = {} if sensitive_test is None else {"sensitive": sensitive_test}
    _check_lengths({"y": outcomes, **drawn}, length, "X")
    _check_lengths({f"{name}_test": column for name, column in to_predict.items()}, people, "X_test")
    rows = max(int(fraction * length), 1)
    metadata = {_routed(model, name): column for name, column in drawn.items()}
    fit = _Fit(model, _indexable(X), outcomes, X_test, rows, people, classes, favourable, metadata, to_predict)
    seeds = _seeds(random_state, n_replicas)
    kind: Kind = "probability" if hasattr(model, "predict_proba") else "label"
    values = _empty(n_replicas, people, np.float32 if kind == "probability" else np.int8)
    fits = in_processes("the replicas", fit.replica, enumerate(seeds), n_jobs)
    with progress.shown("fitting replicas", n_replicas) as show:
        for number, predictions in enumerate(fits):
            values[number] = predictions
            show(number + 1)
    return Replicas(values, kind, tuple(seeds), float(fraction), rows)


@dataclass(frozen=True)
class _Fit:
    """What it takes to fit one replica, in a form that can be sent to another process."""

    model: Any
    X: Any
    y: Array
    X_test: Any
    rows: int
    people: int
    classes: frozenset[str]
    positive: frozenset[str]
    metadata: Mapping[str, Any]
    when_predicting: Mapping[str, Any]

    def replica(self, number: int, seed: int) -> Array:
        """The prediction of one replica for each person; an error names the replica."""
        try:
            return self._predictions(seed)
        except FAILURES as error:
            raise DataError(
                f"replica {number} (seed {seed}) failed: {described(error)}. "
                "Correct the model or the data; a replica that fails is not left out."
            ) from error

    def _predictions(self, seed: int) -> Array:
        from sklearn.base import clone

        drawn = np.random.default_rng(seed).integers(0, len(self.y), self.rows)
        model = clone(self.model)
        seeded = {name: seed for name in model.get_params(deep=True) if name.split("__")[-1] == "random_state"}
        model.set_params(**seeded)
        metadata = {name: _take(column, drawn) for name, column in self.metadata.items()}
        model.fit(_take(self.X, drawn), self.y[drawn], **metadata)
        if not hasattr(model, "predict_proba"):
            return self._labels(np.asarray(model.predict(self.X_test, **self.when_predicting)))
        shares, known = np.asarray(model.predict_proba(self.X_test, **self.when_predicting)), list(model.classes_)
        if shares.shape != (self.people, len(known)):
            raise ValueError(
                f"predict_proba gave shape {shares.shape} for {self.people} people and {len(known)} classes"
            )
        # A sample may hold one class only: then the other has no column, and no probability.
        columns = [i for i, favourable in enumerate(self._are_favourable(known)) if favourable]
        return self._checked(shares[:, columns].sum(axis=1))

    def _labels(self, predicted: Array) -> npt.NDArray[np.int8]:
        if predicted.shape != (self.people,):
            raise ValueError(f"predict gave shape {predicted.shape} for {self.people} people")
        levels, codes = np.unique(predicted, return_inverse=True)
        return np.array(self._are_favourable(levels), dtype=np.int8)[codes]

    def _are_favourable(self, classes: Iterable[Any]) -> list[bool]:
        """Which classes of a model are favourable; one that y does not have is an error, because all could be such."""
        spelled = [canonical(name) for name in classes]
        if strange := [name for name in spelled if name not in self.classes]:
            raise ValueError(f"it predicts {listing(strange, 3)}, and y holds {listing(sorted(self.classes), 3)}")
        return [name in self.positive for name in spelled]

    @staticmethod
    def _checked(values: Array) -> npt.NDArray[np.float32]:
        if not np.isfinite(values).all() or values.min(initial=0) < -1e-6 or values.max(initial=0) > 1 + 1e-6:
            raise ValueError("its predictions are not all probabilities, between 0 and 1.")
        return np.asarray(np.clip(values, 0.0, 1.0), dtype=np.float32)


def _check_libraries() -> None:
    try:
        import joblib  # type: ignore[import-untyped] # noqa: F401 - a clear error here, not in each worker
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            "replicas are fitted with scikit-learn and joblib: pip install 'evenhand[ml]'"
        ) from None


def _check(model: Any, n_replicas: Any, fraction: Any, random_state: Any, n_jobs: Any) -> None:
    problems = Problems()
    for name in ("fit", "predict", "get_params", "set_params"):
        if not hasattr(model, name) or isinstance(model, type):
            problems.add(
                f"model={shorten(repr(model))} is not an estimator with {name}(): pass one that scikit-learn can "
                "clone, such as LogisticRegression()."
            )
            break
    check_whole("n_replicas", n_replicas, 2, MOST_REPLICAS, problems, usual="; 50 to 200 are usual")
    if not 0 < number(fraction) <= 1:
        problems.add(f"fraction={shown(fraction)} must be a share above 0 and at most 1, such as 0.8.")
    check_seed(random_state, problems)
    check_processes(n_jobs, problems)
    problems.raise_if_any(CallError)


def _check_features(X: Any, y: Any) -> None:
    """Raise an error where X has a column of the name of y with its values: every replica would only repeat it."""
    name = getattr(y, "name", None)
    if not isinstance(name, str) or name not in list(getattr(X, "columns", ())):
        return
    if [canonical(value) for value in X[name]] == [canonical(value) for value in y]:
        raise CallError(f"X has a column {shorten(name)!r}, which is y, the label itself: leave it out of X.")


def _outcomes(y: Any, positive: Any) -> tuple[Array, frozenset[str], frozenset[str]]:
    """The outcomes as an array, their names, and those of the favourable ones; a missing outcome is an error."""
    values = array_of("y", y)
    if values.ndim != 1:
        raise DataError(f"y has {values.ndim} dimensions: pass one label for each row.")
    spelled = sorted(
        {canonical(value) for value in np.unique(values.astype(str) if values.dtype == object else values)}
    )
    if {"nan", "None", "NaT", ""} & set(spelled):
        raise DataError("y has missing labels: a model cannot be fitted to them; leave those rows out.")
    problems = Problems()
    favourable = frozenset(read_positive(positive, problems)["label"].values)
    problems.raise_if_any(CallError)
    if not favourable & set(spelled):
        raise DataError(f"positive={shown(positive)} does not occur in y; {nearest(canonical(positive), spelled)}")
    if len(spelled) < 2:
        raise DataError(f"y has one value only ({listing(spelled)}): there is nothing to learn.")
    return values, frozenset(spelled), favourable


def _length(table: Any, name: str) -> int:
    if getattr(table, "shape", ()):
        return int(table.shape[0])
    if hasattr(table, "__len__") and not isinstance(table, (str, bytes, np.ndarray)):
        return len(table)
    raise CallError(f"{name} is of type {type(table).__name__}: pass a table or an array with a row for each person.")


def _check_lengths(columns: Mapping[str, Any], length: int, table: str) -> None:
    problems = Problems()
    for name, column in columns.items():
        rows = _length(column, name)
        if rows != length:
            problems.add(f"{name} has {number_of(rows)} and {table} has {length:,}: pass one for each row.")
    problems.raise_if_any(DataError)


def _indexable(table: Any) -> Any:
    return array_of("a table", table) if isinstance(table, (list, tuple)) else table


def _take(table: Any, rows: Ints) -> Any:
    """Some rows of an array, a sparse matrix, or a table of pandas or Polars."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def _routed(model: Any, name: str) -> str:
    """The name of an argument of fit: with the prefix of a pipeline's last step, unless metadata routing is enabled."""
    from sklearn import get_config

    steps = getattr(model, "steps", None)
    routing = get_config().get("enable_metadata_routing", False)
    return f"{steps[-1][0]}__{name}" if steps and not routing else name


def _seeds(random_state: int, count: int) -> Sequence[int]:
    """A seed for each replica; the first seeds are the same for any number of replicas."""
    return [int(child.generate_state(1)[0]) for child in np.random.SeedSequence(random_state).spawn(count)]


def _empty(replicas: int, people: int, kind: Any) -> Array:
    """An empty array, in memory or in a temporary file that is deleted with the array."""
    if replicas * people * np.dtype(kind).itemsize <= IN_MEMORY:
        return np.empty((replicas, people), dtype=kind)
    with tempfile.TemporaryFile() as file:  # the map keeps it open, and it has no name
        return np.memmap(file, dtype=kind, mode="w+", shape=(replicas, people))
