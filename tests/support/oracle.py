"""Every metric of the catalogue on plain rows, by numpy, scipy, scikit-learn and statsmodels; nothing of the package.

A group is the rows that belong to it, each with a weight. What the package computes from counts must equal this.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from sklearn import metrics
from statsmodels.stats.weightstats import DescrStatsW

NAN = float("nan")


@dataclass(frozen=True)
class People:
    """Rows as columns, and how much each row weighs."""

    columns: dict[str, np.ndarray]
    weight: np.ndarray

    def __len__(self) -> int:
        return len(self.weight)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def take(self, rows: Any) -> People:
        return People({name: column[rows] for name, column in self.columns.items()}, self.weight[rows])

    def weighing(self, weight: Any) -> People:
        return replace(self, weight=np.asarray(weight, dtype=float))

    def with_columns(self, **columns: np.ndarray) -> People:
        return replace(self, columns={**self.columns, **columns})

    @property
    def groups(self) -> list[str]:
        return sorted(set(self["group"].tolist()))

    def group(self, name: str) -> People:
        return self.take(self["group"] == name)

    @property
    def heaviest(self) -> float:
        """The weight of the heaviest group."""
        return max(float(self.group(each).weight.sum()) for each in self.groups)

    def against(self, name: str, against: str | None) -> People | None:
        """Whom a group is set against; None for the reference itself and between extremes."""
        if against is None or against == name:
            return None
        if against in ("rest", "overall"):
            return self if against == "overall" else self.take(self["group"] != name)
        return self.group(against)

    def of_class(self, name: str) -> People:
        """One class against all others, as a yes or no."""
        return self.with_columns(**{role: (self[role] == name).astype(int) for role in ("label", "prediction")})


Value = Callable[[People, People], float]
"""A number of a group, given everyone as well."""


def mean(values: np.ndarray, weight: np.ndarray) -> float:
    return float(DescrStatsW(values.astype(float), weight).mean) if weight.sum() > 0 else NAN


def _share(of: Callable[[People], Any], among: Callable[[People], Any]) -> Value:
    """The share of some people among others."""

    def value(people: People, everyone: People) -> float:
        chosen = people.take(np.asarray(among(people), dtype=bool))
        return mean(np.asarray(of(chosen)), chosen.weight)

    return value


def _sklearn(function: Callable[..., float], of: str = "prediction", *, both: bool = False) -> Value:
    """A function of scikit-learn; with `both`, undefined without both classes."""

    def value(people: People, everyone: People) -> float:
        if not people.weight.sum() or (both and min(_mass(people, label) for label in (0, 1)) == 0):
            return NAN
        return float(function(people["label"], people[of], sample_weight=people.weight))

    return value


def _mass(people: People, label: int, prediction: int | None = None) -> float:
    inside = people["label"] == label
    if prediction is not None:
        inside &= people["prediction"] == prediction
    return float(people.weight[inside].sum())


def _error_balance(people: People, everyone: People) -> float:
    false_positives = _mass(people, 0, 1)
    return _mass(people, 1, 0) / false_positives if false_positives else NAN


def _log_loss(label: np.ndarray, score: np.ndarray, sample_weight: np.ndarray) -> float:
    return metrics.log_loss(label, np.stack([1 - score, score], axis=1), sample_weight=sample_weight, labels=[0, 1])


def _scoring_rate(people: People, everyone: People) -> float:
    """Above the lowest score that at least half of all the weight does not exceed."""
    for score in sorted(set(everyone["score"].tolist())):
        if everyone.weight[everyone["score"] <= score].sum() >= everyone.weight.sum() / 2 * (1 - 1e-12):
            return mean(people["score"] > score, people.weight)
    return NAN


def inside(values: np.ndarray, low: float, high: float, last: float) -> np.ndarray:
    """Who is in a bin; the last one is closed."""
    return (values >= low) & ((values < high) | ((high == last) & (values == high)))


def _away(people: People, bins: int, least: int) -> list[tuple[float, float]]:
    """Of each calibration bin with enough people: its weight, and how far its rate is from its mean score."""
    edges, found = np.linspace(0, 1, bins + 1), []
    for low, high in itertools.pairwise(edges):
        held = people.take(inside(people["score"], low, high, 1.0))
        if len(held) >= least and held.weight.sum() > 0:
            found.append((held.weight.sum(), abs(np.average(held["label"] - held["score"], weights=held.weight))))
    return found


def calibration_error(bins: int) -> Value:
    def value(people: People, everyone: People) -> float:
        away = _away(people, bins, 0)
        return float(np.average([each[1] for each in away], weights=[each[0] for each in away])) if away else NAN

    return value


def maximum_calibration_error(bins: int, least: int = 10) -> Value:
    return lambda people, everyone: max((each[1] for each in _away(people, bins, least)), default=NAN)


def _r_squared(people: People, everyone: People) -> float:
    y = people["label"]
    if not people.weight.sum() or np.ptp(y[people.weight > 0]) == 0:
        return NAN
    return float(metrics.r2_score(y, people["prediction"], sample_weight=people.weight))


BINS = 5

CELLS: dict[str, Value] = {
    "selection_rate": _share(lambda p: p["prediction"], lambda p: p.weight >= 0),
    "base_rate": _share(lambda p: p["label"], lambda p: p.weight >= 0),
    "accuracy": _sklearn(metrics.accuracy_score),
    # scikit-learn's zero_one_loss is 1 − accuracy, which has no digits left where weights are far apart.
    "error_rate": _share(lambda p: 1.0 * (p["label"] != p["prediction"]), lambda p: p.weight >= 0),
    "true_positive_rate": _share(lambda p: p["prediction"], lambda p: p["label"] == 1),
    "false_positive_rate": _share(lambda p: p["prediction"], lambda p: p["label"] == 0),
    "true_negative_rate": _share(lambda p: 1 - p["prediction"], lambda p: p["label"] == 0),
    "false_negative_rate": _share(lambda p: 1 - p["prediction"], lambda p: p["label"] == 1),
    "positive_predictive_value": _share(lambda p: p["label"], lambda p: p["prediction"] == 1),
    "negative_predictive_value": _share(lambda p: 1 - p["label"], lambda p: p["prediction"] == 0),
    "false_discovery_rate": _share(lambda p: 1 - p["label"], lambda p: p["prediction"] == 1),
    "false_omission_rate": _share(lambda p: p["label"], lambda p: p["prediction"] == 0),
    "balanced_accuracy": _sklearn(metrics.balanced_accuracy_score, both=True),
    "error_balance": _error_balance,
}
SCORES: dict[str, Value] = {
    "mean_score": lambda people, everyone: mean(people["score"], people.weight),
    "scoring_rate": _scoring_rate,
    "mean_score_positive": _share(lambda p: p["score"], lambda p: p["label"] == 1),
    "mean_score_negative": _share(lambda p: p["score"], lambda p: p["label"] == 0),
    "auc": _sklearn(metrics.roc_auc_score, "score", both=True),
    "brier_score": _sklearn(metrics.brier_score_loss, "score"),
    "log_loss": _sklearn(_log_loss, "score"),
    "expected_calibration_error": calibration_error(BINS),
    "maximum_calibration_error": maximum_calibration_error(BINS),
}
NUMBERS: dict[str, Value] = {
    "mean_prediction": lambda people, everyone: mean(people["prediction"], people.weight),
    "mean_residual": lambda people, everyone: mean(people["label"] - people["prediction"], people.weight),
    "mean_absolute_error": _sklearn(metrics.mean_absolute_error),
    "root_mean_squared_error": _sklearn(metrics.root_mean_squared_error),
    "r_squared": _r_squared,
}


def in_bin(bin_: tuple[float, float], last: float, task: str) -> Value:
    """The observed rate in a calibration bin or, of a regressor, the mean prediction in a band of the outcome."""
    by, of = ("label", "prediction") if task == "regression" else ("score", "label")
    return _share(lambda p: p[of], lambda p: inside(p[by], *bin_, last))


def macro(value: Value, classes: Sequence[str]) -> Value:
    """The mean over the classes, each against all others."""
    return lambda people, everyone: float(
        np.mean([value(people.of_class(name), everyone.of_class(name)) for name in classes])
    )


# --- one number over all groups


def shares(people: People, of: str, values: Sequence[Any]) -> np.ndarray:
    """The cumulative shares of a column at some values."""
    return np.array([mean(people[of] <= value, people.weight) for value in values])


def _pairs(people: People, apart: Callable[[People, People], float]) -> dict[tuple[str, str], float]:
    named = people.groups
    return {(a, b): apart(people.group(a), people.group(b)) for i, a in enumerate(named) for b in named[i + 1 :]}


def ks(people: People, of: str) -> dict[tuple[str, str], float]:
    values = sorted(set(people[of].tolist()))
    return _pairs(people, lambda a, b: float(np.abs(shares(a, of, values) - shares(b, of, values)).max()))


def wasserstein(people: People, of: str) -> dict[tuple[str, str], float]:
    return _pairs(people, lambda a, b: float(stats.wasserstein_distance(a[of], b[of], a.weight, b.weight)))


def shift(people: People) -> dict[str, float]:
    values = sorted(set(people["prediction"].tolist()))
    whole = shares(people, "prediction", values)
    return {
        name: float(np.abs(shares(people.group(name), "prediction", values) - whole).max()) for name in people.groups
    }


def _both_classes(people: People) -> bool:
    return min(_mass(people, label) for label in (0, 1)) > 0


def abroca(people: People) -> dict[tuple[str, str], float]:
    def apart(a: People, b: People) -> float:
        if not (_both_classes(a) and _both_classes(b)):
            return NAN
        curves = [
            metrics.roc_curve(each["label"], each["score"], sample_weight=each.weight, drop_intermediate=False)[:2]
            for each in (a, b)
        ]
        places = np.unique(np.concatenate([fpr for fpr, _ in curves]))
        return sum(_between(curves, low, high) for low, high in itertools.pairwise(places))

    return _pairs(people, apart)


def _between(curves: Sequence[tuple[np.ndarray, np.ndarray]], low: float, high: float) -> float:
    """The area between two curves where both are straight: from two points inside, which no jump touches."""
    inner = low + (high - low) * np.array([0.25, 0.75])
    gaps = np.interp(inner, *curves[0]) - np.interp(inner, *curves[1])
    start, end = 1.5 * gaps[0] - 0.5 * gaps[1], 1.5 * gaps[1] - 0.5 * gaps[0]
    if start * end >= 0:
        return float((high - low) * abs(start + end) / 2)
    return float((high - low) * (start**2 + end**2) / (2 * abs(start - end)))


def cross_auc(people: People) -> dict[tuple[str, str], float]:
    found = {}
    for a in people.groups:
        for b in people.groups:
            mine = (people["group"] == a) & (people["label"] == 1)
            theirs = (people["group"] == b) & (people["label"] == 0)
            both = people.take(mine | theirs)
            defined = len(both) > 0 and _both_classes(both)
            found[a, b] = _sklearn(metrics.roc_auc_score, "score")(both, both) if defined else NAN
    return found


def joint(people: People, of: str) -> np.ndarray:
    """Weights by group and by value."""
    values = sorted(set(people[of].tolist()))
    return np.array(
        [[people.weight[(people["group"] == a) & (people[of] == v)].sum() for v in values] for a in people.groups]
    )


def mutual_information(people: People, of: str) -> float:
    table = joint(people, of)
    if min(table.shape) < 2:
        return NAN
    parts = (table.sum(axis=1), table.sum(axis=0), table.ravel())
    rows, columns, both = (float(stats.entropy(part)) for part in parts)
    return max(rows + columns - both, 0.0)


def maximal_correlation(people: People, of: str) -> float:
    """The largest correlation between functions of group and value: the root of the second eigenvalue of C Cᵀ."""
    table = joint(people, of)
    if min(table.shape) < 2:
        return NAN
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    kernel = (table / rows[:, None]) @ (table / columns).T
    return float(np.sqrt(max(np.sort(np.linalg.eigvals(kernel).real)[-2], 0.0)))


def entropy(benefits: np.ndarray, weight: np.ndarray, alpha: float) -> float:
    average = mean(benefits, weight)
    if not average > 0:
        return NAN
    x = benefits / average
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        terms = np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0.0) if alpha == 1 else (x**2 - 1) / 2
    return mean(terms, weight)


def inequality(people: People, name: str) -> float:
    benefits = 1 + people["prediction"] - people["label"]
    value = entropy(benefits, people.weight, 1 if name == "theil_index" else 2)
    return math.sqrt(2 * max(value, 0.0)) if name == "coefficient_of_variation" else value


def differential_fairness(people: People) -> float:
    rates = []
    for name in people.groups:
        mine = people.group(name)
        weight = mine.weight * mine.weight.sum() / (mine.weight**2).sum()
        rates.append((weight[mine["prediction"] == 1].sum() + 0.5) / (weight.sum() + 1))
    high, low = max(rates), min(rates)
    return max(math.log(high / low), math.log((1 - low) / (1 - high)))


def robust_outcome_test(people: People) -> dict[tuple[str, str], float]:
    """The smaller of how much less often the first is selected and how much more often its selected are positive."""
    chosen = people["prediction"] == 1
    values = {}
    for one, other in itertools.permutations(people.groups, 2):
        mine, theirs = people.group(one), people.group(other)
        rates = [mean(each["prediction"] == 1, each.weight) for each in (mine, theirs)]
        hits = [
            mean(each["label"] == 1, each.weight)
            for each in (part.take(part["prediction"] == 1) for part in (mine, theirs))
        ]
        gap = min(rates[1] - rates[0], hits[0] - hits[1])
        unknown = math.isnan(sum(hits)) or not people.weight[~chosen].any()
        values[one, other] = NAN if unknown else max(gap, 0.0)
    return values


def bounded_group_loss(people: People) -> dict[str, float]:
    return {name: NUMBERS["mean_absolute_error"](people.group(name), people) for name in people.groups}
