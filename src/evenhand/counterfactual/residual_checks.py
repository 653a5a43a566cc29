"""Residual checks: tests whether the noise of each node is independent of its causes and of other noises.

Additive noise that still depends on the causes means that the mechanism does not fit, and counterfactuals through it
are wrong. Correlated noises mean a common cause that the graph lacks. The first is tested by the Hilbert-Schmidt
independence criterion (Gretton et al. 2008) with permutations, its Gaussian kernels approximated by random features
(Rahimi and Recht 2007), so that no matrix of all pairs is needed; the second by correlation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.core.wording import number_of
from evenhand.counterfactual.model import FittedModel, causes_of, take_columns
from evenhand.errors import shorten
from evenhand.inference import multiplicity
from evenhand.sources.features import Columns

MOST, PERMUTATIONS = 1_000, 199
_FEATURES, _FOR_WIDTH = (25, 50), 300  # of the noise and of the causes; rows from which the width of a kernel is taken
_TOGETHER = 20  # permutations in one product: one by one, the threads of the product cost more than the product
_NOTED_CORRELATION = 0.1  # between noises; a smaller one is not mentioned
_NOTHING = 1e-12  # the features are cosines: one that varies at all lies far above


@dataclass(frozen=True)
class Check:
    """One test: of a node's noise against its causes (`other` is None), or against another node's noise."""

    node: str
    other: str | None
    statistic: float
    p_value: float
    rows: int

    @property
    def title(self) -> str:
        return "causes" if self.other is None else f"noise of {self.other}"


def check(learned: FittedModel, rows: Columns, random_state: int = 0) -> tuple[Check, ...]:
    """The checks of every node with additive noise; p-values are corrected by Holm's method."""
    states = learned.abduced(rows, learned.graph.nodes).states
    noise = {node: state.residual for node, state in states.items() if state.residual is not None}
    found = [_of_causes(learned, rows, node, residual, random_state) for node, residual in noise.items()]
    found += [_together(*pair) for pair in itertools.combinations(noise.items(), 2)]
    adjusted = multiplicity.adjust([each.p_value for each in found], "holm", list(range(len(found))))
    return tuple(
        Check(each.node, each.other, each.statistic, float(p), each.rows)
        for each, p in zip(found, adjusted, strict=True)
    )


def _of_causes(learned: FittedModel, rows: Columns, node: str, residual: Floats, random_state: int) -> Check:
    rng = np.random.default_rng(random_state)
    chosen = rng.permutation(len(residual))[:MOST]
    causes = take_columns(causes_of(learned.graph, rows, node), chosen)
    noise = residual[chosen]
    if np.ptp(noise) <= 1e-12 * max(float(np.abs(rows[node].values).max()), 1e-300):
        return Check(node, None, 0.0, 1.0, len(chosen))
    statistic, p_value = independence(noise[:, None], _side_by_side(causes), rng)
    return Check(node, None, statistic, p_value, len(chosen))


def independence(first: Floats, second: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """HSIC of two tables, as a correlation of their kernels (0 is none, 1 the same), and its permutation p-value."""
    a, b = (features(table, count, rng) for table, count in zip((first, second), _FEATURES, strict=True))
    scale = math.sqrt(float(((a.T @ a) ** 2).sum()) * float(((b.T @ b) ** 2).sum()))
    if scale < _NOTHING:
        return 0.0, 1.0
    observed = float(((a.T @ b) ** 2).sum())
    orders = [rng.permutation(len(a)) for _ in range(PERMUTATIONS)]
    reached = sum(
        int((_kernel_products(a, b, orders[start : start + _TOGETHER]) >= observed).sum())
        for start in range(0, PERMUTATIONS, _TOGETHER)
    )
    return observed / scale, (1 + reached) / (1 + PERMUTATIONS)


def _kernel_products(a: Floats, b: Floats, orders: Sequence[Ints]) -> Floats:
    """The statistic with the rows of `a` in each of these orders, by one product of matrices for all of them."""
    turned = np.concatenate([a[order].T for order in orders])
    return np.asarray(((turned @ b) ** 2).reshape(len(orders), -1).sum(axis=1))


def features(table: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Random features of the rows, centred: their products approximate a Gaussian kernel as wide as the median."""
    few = table[:_FOR_WIDTH]
    squared = ((few[:, None, :] - few[None, :, :]) ** 2).sum(axis=2)
    middle = float(np.median(squared[squared > 0])) if (squared > 0).any() else 1.0
    waves = rng.normal(0, math.sqrt(2 / middle), (table.shape[1], count))
    found = np.cos(table @ waves + rng.uniform(0, 2 * math.pi, count))
    return np.asarray(found - found.mean(axis=0))


def _side_by_side(causes: Columns) -> Floats:
    """Causes as standardised columns; each value of a category makes a column of 0 and 1."""
    parts: list[Floats] = []
    for column in causes.values():
        if column.levels is not None:
            parts.append((column.values[:, None] == np.arange(len(column.levels))).astype(np.float64))
        else:
            spread = float(column.values.std())
            parts.append(((column.values - column.values.mean()) / (spread if spread > 0 else 1.0))[:, None])
    return np.concatenate(parts, axis=1)


def _together(first: tuple[str, Floats], second: tuple[str, Floats]) -> Check:
    """The test of a correlation between two noises, by its normal approximation."""
    from scipy.special import ndtr

    (node, a), (other, b) = first, second
    n = len(a)
    spread = float(a.std() * b.std())
    if n < 4 or spread <= 0:
        return Check(node, other, 0.0, 1.0, n)
    r = float(np.clip(((a - a.mean()) * (b - b.mean())).mean() / spread, -1, 1))
    z = math.atanh(min(abs(r), 1 - 1e-15)) * math.sqrt(n - 3)
    return Check(node, other, r, 2 * float(ndtr(-z)), n)


def notes(checks: tuple[Check, ...], level: float = 0.05) -> list[str]:
    """Notes about the checks that failed, or that none did."""
    found = []
    unfit = [each for each in checks if each.other is None and each.p_value <= level]
    if unfit:
        names = ", ".join(f"{shorten(each.node)} (p = {each.p_value:.2g})" for each in unfit)
        found.append(
            f"The noise is not independent of the causes in {names}: the mechanism does not fit there, and changes of "
            "single people are wrong by as much. Try another regressor for it."
        )
    linked = [
        each
        for each in checks
        if each.other is not None and each.p_value <= level and abs(each.statistic) >= _NOTED_CORRELATION
    ]
    if linked:
        names = ", ".join(f"{shorten(e.node)} and {shorten(str(e.other))} (r = {e.statistic:.2f})" for e in linked)
        found.append(f"Noises are correlated, as with a common cause that the graph lacks: {names}.")
    if checks and not found:
        most = max(each.rows for each in checks if each.other is None)
        found.append(
            f"Residual checks: in {number_of(most)} there is no evidence that the noise depends on the causes."
        )
    return found
