"""Indices of inequality and differential fairness: functions of the cells of all groups at once.

`cells` is [..., groups, 8], so that an index of a thousand draws costs one call.
"""

from __future__ import annotations

import math
from functools import reduce
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats
from evenhand.errors import CallError
from evenhand.measures.cells import CELLS

# The benefit of a person is 1 + prediction − label (Speicher et al. 2018); rows without both have none.
_BENEFITS = np.array([0.0, 1.0, 2.0])
_CELLS_BY_BENEFIT = (("FN",), ("TN", "TP"), ("FP",))
_SELECTED = ("FP", "TP", "U1")
_FARTHEST, _NEAREST = 100, 1e-6  # of alpha: beyond, powers overflow; nearer to 0 and 1, its formula loses its digits
_DECIDED = ("TN", "FP", "FN", "TP", "U0", "U1")


class IndexValues(NamedTuple):
    """An index over everyone [...], its value within each group [..., groups], and its parts.

    `title` is what the value of a group is called, `reason` why an index is undefined.
    """

    value: Floats
    by_group: Floats
    parts: dict[str, Floats]
    title: str
    reason: str


_ROUNDING = 4 * np.finfo(np.float64).eps


def entropy(benefits: npt.ArrayLike, people: npt.ArrayLike, alpha: float, axis: int = -1) -> Floats:
    """Generalised entropy of benefits b, each held by n_b `people`: 1/(nα(α−1)) Σ ((b/μ)^α − 1), over an axis.

    α = 1 is the Theil index, α = 0 the mean log deviation (infinite when someone's benefit is 0).

    >>> entropy([0.0, 1.0, 2.0], [1.0, 2.0, 1.0], 2).item()
    0.25
    """
    benefits, people = np.asarray(benefits, dtype=np.float64), np.asarray(people, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = people / people.sum(axis=axis, keepdims=True)
        x = benefits / (benefits * share).sum(axis=axis, keepdims=True)
        if alpha == 1:
            terms = x * np.log(np.where(x > 0, x, 1))
        elif alpha == 0:
            terms = -np.log(x)
        else:
            terms = ((x * x if alpha == 2 else x**alpha) - 1) / (alpha * (alpha - 1))
        held = share * terms
        if alpha <= 0:  # the term of a benefit of 0 is infinite, also where nobody has it
            held = np.where(share == 0, 0.0, held)
        total = held.sum(axis=axis)
        return np.asarray(np.where(np.abs(total) < _ROUNDING, 0.0, total))  # its root would be 1e-8


def generalized_entropy(cells: Floats, *, alpha: float = 2.0) -> IndexValues:
    """Inequality of benefits over everyone, within each group, and between the groups."""
    if not isinstance(alpha, Real) or not abs(alpha) <= _FARTHEST or 0 < min(abs(alpha), abs(alpha - 1)) < _NEAREST:
        raise CallError(
            f"alpha={alpha!r} must be a number from -{_FARTHEST} to {_FARTHEST}, and 0 or 1 itself or at least "
            f"{_NEAREST} away from them; 1 is the Theil index, 2 is usual."
        )
    held = np.stack([_sum(cells, names) for names in _CELLS_BY_BENEFIT])  # first, because a short last axis is slow
    benefits, people = _BENEFITS.reshape(-1, *[1] * (held.ndim - 1)), held.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(people > 0, (held * benefits).sum(axis=0) / people, 0.0)
    whole = entropy(benefits[..., 0], held.sum(axis=-1), alpha, axis=0)
    parts = {"between_groups": entropy(means, people, alpha)}
    return IndexValues(whole, entropy(benefits, held, alpha, axis=0), parts, "inequality within the group",
                 "no labelled decision brings any benefit")  # fmt: skip


def theil(cells: Floats) -> IndexValues:
    """Generalised entropy at α = 1."""
    return generalized_entropy(cells, alpha=1)


def coefficient_of_variation(cells: Floats) -> IndexValues:
    """√(2·GE₂): the standard deviation of benefits over their mean."""
    squared = generalized_entropy(cells, alpha=2)
    parts = {name: _root(value) for name, value in squared.parts.items()}
    return IndexValues(_root(squared.value), _root(squared.by_group), parts,
                 "coefficient of variation within the group", squared.reason)  # fmt: skip


def atkinson(cells: Floats, *, epsilon: float = 0.5) -> IndexValues:
    """The share of all benefit that could be given up if the rest were spread evenly (Atkinson 1970)."""
    if not isinstance(epsilon, Real) or not _NEAREST <= epsilon <= _FARTHEST or 0 < abs(epsilon - 1) < _NEAREST:
        raise CallError(
            f"epsilon={epsilon!r} must be a number from {_NEAREST} to {_FARTHEST}, and 1 itself or at least {_NEAREST} "
            "away from it; the larger, the more the worst off count, and 0.5 is usual."
        )
    held = np.stack([_sum(cells, names) for names in _CELLS_BY_BENEFIT])
    benefits, people = _BENEFITS.reshape(-1, *[1] * (held.ndim - 1)), held.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(people > 0, (held * benefits).sum(axis=0) / people, 0.0)
    whole = _given_up(benefits[..., 0], held.sum(axis=-1), epsilon, axis=0)
    parts = {"between_groups": _given_up(means, people, epsilon, axis=-1)}
    return IndexValues(whole, _given_up(benefits, held, epsilon, axis=0), parts, "inequality within the group",
                 "no labelled decision brings any benefit")  # fmt: skip


def _given_up(benefits: Floats, people: Floats, epsilon: float, axis: int) -> Floats:
    """1 − the benefit that, given to everybody, would be worth as much, over the mean benefit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = people / people.sum(axis=axis, keepdims=True)
        mean = (benefits * share).sum(axis=axis)
        if epsilon == 1:
            terms = np.where(share > 0, share * np.log(benefits), 0.0)
            even = np.exp(terms.sum(axis=axis))
        else:
            terms = np.where(share > 0, share * benefits ** (1 - epsilon), 0.0)
            even = terms.sum(axis=axis) ** (1 / (1 - epsilon))
        found = np.where(mean > 0, 1 - even / mean, np.nan)
    return np.asarray(np.where(np.abs(found) < _ROUNDING, 0.0, found))


def bias_amplification(cells: Floats) -> IndexValues:
    """By how much decisions lie farther from everyone's base rate than labels do (Wang and Russakovsky 2021).

    Of a group whose labels are positive more often than everyone's, how much more often its decisions are positive than
    its labels; of any other group how much less often; and the mean over the groups.
    """
    labelled = _sum(cells, ("TN", "FP", "FN", "TP"))
    with np.errstate(invalid="ignore", divide="ignore"):
        base, selected = (_sum(cells, names) / labelled for names in (("FN", "TP"), ("FP", "TP")))
        overall = _sum(cells, ("FN", "TP")).sum(axis=-1) / labelled.sum(axis=-1)
    by_group = np.where(base > overall[..., None] * (1 + _ROUNDING), selected - base, base - selected)
    enough = (labelled > 0).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(enough >= 2, np.nansum(by_group, axis=-1) / enough, np.nan)
    parts = {
        name: np.where(enough >= 2, np.fmax.reduce(rates, axis=-1) - np.fmin.reduce(rates, axis=-1), np.nan)
        for name, rates in (("gap_in_labels", base), ("gap_in_decisions", selected))
    }
    return IndexValues(value, by_group, parts, "amplification in the group",
                 "fewer than two groups have labelled decisions")  # fmt: skip


def differential_fairness(cells: Floats, *, concentration: float = 1.0) -> IndexValues:
    """The largest log ratio, over pairs of groups and both outcomes, of smoothed rates (Foulds et al. 2020)."""
    if not isinstance(concentration, Real) or not 0 < concentration < math.inf:
        raise CallError(f"concentration={concentration!r} must be above 0: it smooths rates of small groups.")
    decided = _sum(cells, _DECIDED)
    rates = (_sum(cells, _SELECTED) + concentration / 2) / (decided + concentration)
    rates = np.where(decided > 0, rates, np.nan)
    high, low = np.fmax.reduce(rates, axis=-1), np.fmin.reduce(rates, axis=-1)
    enough = (decided > 0).sum(axis=-1) >= 2
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = {
            "log_ratio_of_selection": np.where(enough, np.log(high / low), np.nan),
            "log_ratio_of_refusal": np.where(enough, np.log((1 - low) / (1 - high)), np.nan),
        }
    return IndexValues(np.maximum(*parts.values()), rates, parts, "smoothed selection rate",
                 "fewer than two groups have decisions")  # fmt: skip


def _root(half_squared: Floats) -> Floats:
    """√(2·GE₂), where rounding may leave an entropy of 0 slightly below 0."""
    return np.asarray(np.sqrt(2 * np.maximum(half_squared, 0.0)))


def _sum(cells: Floats, names: tuple[str, ...]) -> Any:
    return reduce(np.add, [cells[..., CELLS.index(name)] for name in names])
