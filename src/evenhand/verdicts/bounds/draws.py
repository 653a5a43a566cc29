"""Bounds from draws of the cells: percentile, basic, BCa and Bayesian intervals.

They do not cover the gap between extremes where there is none (see benchmarks/coverage.py): the default does. They are
here because others use them, and for what is no proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats
from evenhand.cube.cube import Cube
from evenhand.inference import draws, intervals
from evenhand.measures.cells import CELLS, CellMeasure, evaluate
from evenhand.verdicts import comparison
from evenhand.verdicts.bounds import simultaneous
from evenhand.verdicts.bounds.simultaneous import Bounds, Judged
from evenhand.verdicts.comparison import Gap, Plan
from evenhand.verdicts.policy import Policy, Request
from evenhand.verdicts.table import Table

Statistic = Callable[[Floats], Floats]

_MOST_KEPT = 2_000_000  # numbers of one set of draws


def find(asked: Request, plan: Plan, table: Table, gap: Gap, judged: Judged) -> Bounds:
    """All intervals of a table by one set of draws, with one statistic that returns everything as a row."""
    layout = _Layout(asked, plan, table, gap, judged)
    low, high, undefined = interval(layout.statistic, table.cube, asked.policy)
    return layout.bounds(low, high, float(undefined[: layout.gaps].max(initial=0.0)))


def interval(statistic: Statistic, cube: Cube, policy: Policy) -> tuple[Floats, Floats, Floats]:
    """Ends of a statistic of the cells ([..., groups, 8] to [..., values]), and the share of undefined draws."""
    method = intervals.by_name(policy.interval if policy.uses_draws else "percentile")
    sample = np.concatenate([statistic(block) for block in _draw(cube, policy, method.drawn == "dirichlet")])
    arguments: dict[str, Floats] = {}
    if "estimate" in method.needs:
        arguments["estimate"] = statistic(cube.cells)
    if "acceleration" in method.needs:
        mass = None if cube.w is None else cube.cells
        lessened = np.concatenate([statistic(block) for block in draws.one_less(cube.counts, mass)])
        arguments["acceleration"] = intervals.acceleration(cube.counts, lessened)
    low, high, undefined = method.function(sample, confidence=policy.confidence, **arguments)
    return low, high, undefined


def _draw(cube: Cube, policy: Policy, bayesian: bool) -> Iterator[Floats]:
    many, seed = max(policy.draws, 100), policy.random_state
    if bayesian:
        yield from _posterior(cube, many, seed)
    elif cube.w is None or cube.squares is None:
        yield from _plain(cube.counts, many, seed)
    else:
        yield from draws.weighted(cube.counts, cube.cells, cube.squares, many, seed)


def _plain(counts: npt.NDArray[np.int64], many: int, seed: int) -> Iterator[Floats]:
    """Several metrics of an audit ask for the same draws, so the last ones are kept while they are small."""
    if counts.size * many <= _MOST_KEPT:
        yield _kept(counts.tobytes(), counts.shape, many, seed)
    else:
        yield from (block.astype(np.float64) for block in draws.multinomial(counts, many, seed))


@lru_cache(maxsize=1)
def _kept(counts: bytes, shape: tuple[int, ...], many: int, seed: int) -> Floats:
    table = np.frombuffer(counts, dtype=np.int64).reshape(shape)
    return np.concatenate([block.astype(np.float64) for block in draws.multinomial(table, many, seed)])


def _posterior(cube: Cube, many: int, seed: int) -> Iterator[Floats]:
    """Shares of cells under Jeffreys' prior; a cell that the roles rule out stays empty."""
    possible = np.array([_can_occur(name, cube) for name in CELLS])
    counts = cube.counts
    mean = np.ones(counts.shape) if cube.w is None else cube.cells / np.maximum(counts, 1)
    mean = np.where(counts > 0, mean, cube.cells.sum() / max(cube.size, 1))
    for block in draws.dirichlet(counts, many, seed, mask=possible):
        yield block * mean


def _can_occur(cell: str, cube: Cube) -> bool:
    place = CELLS.index(cell)
    if cube.counts[:, place].any():
        return True
    return cell in ("TN", "FP", "FN", "TP") and cube.has_labels and cube.has_predictions


class _Layout:
    """Where everything stands in the row that the statistic returns."""

    def __init__(self, asked: Request, plan: Plan, table: Table, gap: Gap, judged: Judged) -> None:
        self.asked, self.plan, self.table, self.gap, self.judged = asked, plan, table, gap, judged
        self.rows = [row for row in table.measures if isinstance(row, CellMeasure)]
        self.shape = table.values.shape
        self.gaps = 4 if table.base is None else 0

    def statistic(self, cells: Floats) -> Floats:
        """[..., groups, 8] to [..., everything]."""
        computed = evaluate(cells, self.rows)
        values = np.stack([computed[row.name] for row in self.rows], axis=-2)
        lead = values.shape[:-2]
        base = comparison.baselines(cells, self.rows, self.plan, self.table.groups)
        if base is None:
            pieces = [self._extremes(values, usable) for usable in (self.judged.everyone, self.judged.large)]
            several = np.where(self.judged.everyone, values, np.nan)
            parts = np.concatenate(comparison.apart(several), axis=-1)
            return np.concatenate([*pieces, parts, values.reshape(*lead, -1)], axis=-1)
        sides = [(values - base), comparison.ratio(values, base), values]
        return np.concatenate([side.reshape(*lead, -1) for side in sides], axis=-1)

    def _extremes(self, values: Floats, usable: npt.NDArray[np.bool_]) -> Floats:
        differences, ratios = comparison.apart(np.where(usable, values, np.nan))
        if self.asked.aggregate == "worst":
            both = np.fmax.reduce(differences, axis=-1), np.fmin.reduce(ratios, axis=-1)
        else:
            both = differences.mean(axis=-1), ratios.mean(axis=-1)
        return np.stack(both, axis=-1)

    def bounds(self, low: Floats, high: Floats, undefined: float) -> Bounds:
        many, count = self.shape[0], self.shape[0] * self.shape[1]
        own = [(low[-count:].reshape(self.shape)[i], high[-count:].reshape(self.shape)[i]) for i in range(many)]
        if self.table.base is None:
            return self._between(low, high, own, undefined)
        ends = [end[k * count : (k + 1) * count].reshape(self.shape) for k in (0, 1) for end in (low, high)]
        near = (ends[0], ends[1], ends[2], ends[3])
        compared = self.judged.everyone & ~np.isnan(self.table.base)
        large = self.judged.large & compared
        return simultaneous.settle(self.asked, self.plan, self.gap, own, near, near, compared, large)

    def _between(self, low: Floats, high: Floats, own: list[tuple[Floats, Floats]], undefined: float) -> Bounds:
        asked, many = self.asked, self.shape[0]
        ends = [(float(low[i]), float(high[i])) for i in range(4 + 2 * many)]
        enough = self.judged.enough(asked.metric.binned)
        if asked.judged_on == "ratio":
            outside = simultaneous.ratio_beyond(*ends[1], asked, False)
            inside = simultaneous.ratio_within(*ends[3], asked, False)
        else:
            outside, inside = simultaneous.beyond(*ends[0], asked), simultaneous.within(*ends[2], asked)
        parts = tuple((ends[4 + i], ends[4 + many + i]) for i in range(many)) if many > 1 else ()
        return Bounds(own, ends[0], ends[1], parts, None, bool(outside), bool(inside) and enough, undefined)
