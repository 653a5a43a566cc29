"""Metrics that are no comparison of measures: functions of the cells of all groups at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.errors import CallError
from evenhand.measures import CELLS

Floats = npt.NDArray[np.float64]

# The benefit of a person is 1 + prediction − label (Speicher et al. 2018); rows without both have none.
_BENEFITS = np.array([0.0, 1.0, 2.0])
_CELLS_BY_BENEFIT = ((CELLS.index("FN"),), (CELLS.index("TN"), CELLS.index("TP")), (CELLS.index("FP"),))
_SELECTED = [CELLS.index(name) for name in ("FP", "TP", "U1")]
_DECIDED = [CELLS.index(name) for name in ("TN", "FP", "FN", "TP", "U0", "U1")]


@dataclass(frozen=True)
class Index:
    """An index over everyone: `by_group` is its value within each group, `title` what that value is called."""

    value: float
    by_group: Floats
    title: str
    parts: tuple[tuple[str, float], ...] = ()
    reason: str | None = None
    high: int | None = None
    low: int | None = None


def entropy(benefits: Floats, people: Floats, alpha: float) -> float:
    """Generalised entropy of benefits b held by so many people: 1/(nα(α−1)) Σ ((b/μ)^α − 1).

    α = 1 is the Theil index, α = 0 the mean log deviation (infinite when someone's benefit is 0).

    >>> round(entropy(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0]), 2), 4)
    0.25
    """
    total = people.sum()
    if total == 0:
        return math.nan
    mean = (benefits * people).sum() / total
    if mean == 0:
        return math.nan
    x, share = benefits / mean, people / total
    held = share > 0
    x, share = x[held], share[held]
    if alpha == 1:
        return float((share * x * np.log(np.where(x > 0, x, 1))).sum())
    if alpha == 0:
        return math.inf if (x == 0).any() else float(-(share * np.log(x)).sum())
    if alpha < 0 and (x == 0).any():
        return math.inf
    return float((share * (x**alpha - 1)).sum() / (alpha * (alpha - 1)))


def generalized_entropy(cells: Floats, *, alpha: float = 2.0) -> Index:
    """Inequality of benefits over everyone, within each group, and between the groups."""
    if not isinstance(alpha, (int, float)) or not math.isfinite(alpha):
        raise CallError(f"alpha={alpha!r} must be a finite number; 1 is the Theil index, 2 is usual.")
    held = np.stack([cells[:, list(places)].sum(axis=1) for places in _CELLS_BY_BENEFIT], axis=1)
    people = held.sum(axis=1)
    whole = entropy(_BENEFITS, held.sum(axis=0), alpha)
    within = np.array([entropy(_BENEFITS, row, alpha) for row in held])
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (held @ _BENEFITS) / people
    present = people > 0
    between = entropy(means[present], people[present], alpha)
    reason = "no labelled decision brings any benefit" if math.isnan(whole) else None
    return Index(whole, within, "inequality within the group", (("between_groups", between),), reason)


def theil(cells: Floats) -> Index:
    return generalized_entropy(cells, alpha=1)


def coefficient_of_variation(cells: Floats) -> Index:
    """√(2·GE₂): the standard deviation of benefits over their mean."""
    squared = generalized_entropy(cells, alpha=2)
    parts = tuple((name, math.sqrt(2 * value)) for name, value in squared.parts)
    return Index(
        math.sqrt(2 * squared.value),
        np.sqrt(2 * squared.by_group),
        "coefficient of variation within the group",
        parts,
        squared.reason,
    )


def differential_fairness(cells: Floats, *, concentration: float = 1.0) -> Index:
    """The largest log ratio, over pairs of groups and both outcomes, of smoothed rates (Foulds et al. 2020)."""
    if not concentration > 0:
        raise CallError(f"concentration={concentration!r} must be above 0: it smooths rates of small groups.")
    decided = cells[:, _DECIDED].sum(axis=1)
    rates = (cells[:, _SELECTED].sum(axis=1) + concentration / 2) / (decided + concentration)
    rates = np.where(decided > 0, rates, np.nan)
    if (~np.isnan(rates)).sum() < 2:
        return Index(math.nan, rates, "smoothed selection rate", reason="fewer than two groups have decisions")
    high, low = int(np.nanargmax(rates)), int(np.nanargmin(rates))
    chosen = math.log(rates[high] / rates[low])
    refused = math.log((1 - rates[low]) / (1 - rates[high]))
    return Index(
        max(chosen, refused),
        rates,
        "smoothed selection rate",
        (("log_ratio_of_selection", chosen), ("log_ratio_of_refusal", refused)),
        None,
        high,
        low,
    )


INDICES: dict[str, Callable[..., Index]] = {
    "generalized_entropy": generalized_entropy,
    "theil": theil,
    "coefficient_of_variation": coefficient_of_variation,
    "differential_fairness": differential_fairness,
}

OPTIONS: dict[str, dict[str, float]] = {
    "generalized_entropy": {"alpha": 2.0},
    "differential_fairness": {"concentration": 1.0},
}
"""What an index takes beside the cells, with defaults."""
