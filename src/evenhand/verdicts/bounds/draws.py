"""Bounds from draws of the cells: percentile, basic, BCa and Bayesian intervals.

They do not cover the gap between extremes where there is none (see benchmarks/coverage.py): the default does. They are
here because others use them, and for values that are not proportions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Bools, Floats, Ints
from evenhand.cube.cube import Cube
from evenhand.errors import join_names
from evenhand.inference import critical, draws
from evenhand.inference.draws import EQUAL
from evenhand.inference.intervals import METHODS, PERCENTILE, Resampled, acceleration
from evenhand.measures.cells import CELLS, cell_measures, evaluate
from evenhand.measures.group_data import silent_sides
from evenhand.verdicts import comparison
from evenhand.verdicts.bounds.baseline import bounds_against_baseline
from evenhand.verdicts.bounds.bounds import Bounds, Ends, Interval, Question
from evenhand.verdicts.bounds.extremes import Reach, bounds_between
from evenhand.verdicts.bounds.simultaneous import simultaneous_bounds
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request
from evenhand.verdicts.table import Drawn

Statistic = Callable[[Floats], Floats]


def bounds_from_draws(question: Question) -> Bounds | None:
    """All intervals of a table by one set of draws, with one statistic that returns everything as a row.

    None where the policy names another method, or a measure is made of neither cells nor rows.
    """
    policy, table = question.request.policy, question.table
    cells = len(cell_measures(table.measures)) == len(table.measures)
    if not policy.uses_draws or not (cells or table.drawn):
        return None
    layout = _Layout(question)
    if table.drawn is not None:
        return layout.bounds(_ends_of_rows(layout, table.drawn))
    ends = ends_of(layout.statistic, table.cube, question.request)
    same = layout.never_vary(*ends.own)
    if not same:
        return layout.bounds(ends)
    note = f"Draws never vary the value of {join_names(same, 6)}, so the intervals are the simultaneous ones."
    return simultaneous_bounds(question)._replace(note=note)


class DrawnEnds(NamedTuple):
    """Both ends of a row of values: as an interval of its own, as near ends, and as far ends.

    They differ where several findings decide, any of which may fail: then near ends share one error probability.
    """

    own: tuple[Floats, Floats]
    near: tuple[Floats, Floats]
    far: tuple[Floats, Floats]

    @classmethod
    def of(cls, method: Resampled, sample: Floats, request: Request, arguments: Mapping[str, Floats]) -> DrawnEnds:
        def at(confidence: float) -> tuple[Floats, Floats]:
            low, high, _ = method.function(sample, confidence=confidence, **arguments)
            return low, high

        own = at(request.confidence)
        if request.family == 1:
            return cls(own, own, own)
        return cls(own, at(request.near_confidence), at(critical.left(request.confidence, request.family)))


def ends_of(statistic: Statistic, cube: Cube, request: Request) -> DrawnEnds:
    """The ends of a statistic of the cells ([..., groups, 8] to [..., values]); undefined draws are left out."""
    policy = request.policy
    named = METHODS.get(policy.interval)
    method = named if isinstance(named, Resampled) else PERCENTILE
    sample = np.concatenate([statistic(block) for block in _draw(cube, policy, method.drawn == "dirichlet")])
    arguments: dict[str, Floats] = {}
    if "estimate" in method.needs:
        arguments["estimate"] = statistic(cube.cells)
    if "acceleration" in method.needs:
        mass = None if cube.w is None else cube.cells
        lessened = np.concatenate([statistic(block) for block in draws.one_less(cube.counts, mass)])
        arguments["acceleration"] = acceleration(cube.counts, lessened)
    return DrawnEnds.of(method, sample, request, arguments)


def _ends_of_rows(layout: _Layout, drawn: Drawn) -> DrawnEnds:
    """The ends of everything in the layout, from draws of functions of rows."""
    request = layout.question.request
    method = METHODS[request.policy.interval]
    assert isinstance(method, Resampled)  # noqa: S101 - the policy uses draws
    arguments: dict[str, Floats] = {}
    if "estimate" in method.needs:
        arguments["estimate"] = layout.of_values(layout.table.values, layout.table.base)
    if "acceleration" in method.needs and drawn.less is not None and drawn.people is not None:
        arguments["acceleration"] = acceleration(drawn.people, layout.of_values(drawn.less, drawn.less_base))
    sample = layout.of_values(drawn.sample, drawn.base)
    if layout.table.base is None:
        # A draw in which one of the groups has no value does not tell how far apart they are.
        needed = layout.judged.everyone & ~np.isnan(layout.table.values)
        sample[np.isnan(drawn.sample[:, needed]).any(axis=1), : -needed.size] = np.nan
    return DrawnEnds.of(method, sample, request, arguments)


def _draw(cube: Cube, policy: Policy, bayesian: bool) -> Iterator[Floats]:
    """Draws of all cells. They are made in the order of what rows count: the order of groups does not matter."""
    many, seed = max(policy.draws, 100), policy.random_state
    # In single precision, because another unit of weights changes the last digits.
    shares = (cube.cells / max(cube.cells.sum(), np.finfo(np.float64).tiny)).astype(np.float32)
    order = np.lexsort((*shares.T, *cube.counts.T))
    if not bayesian and (cube.w is None or cube.squares is None):
        yield from draws.multinomial_once(cube.counts, order, many, seed)
        return
    counts, cells, back = cube.counts[order], cube.cells[order], np.argsort(order)
    if bayesian:
        blocks = _posterior(counts, cells, np.array([_can_occur(name, cube) for name in CELLS]), many, seed)
    else:
        assert cube.squares is not None  # noqa: S101 - without weights the draws are those above
        blocks = draws.weighted(counts, cells, cube.squares[order], many, seed)
    yield from (block[:, back] for block in blocks)


def _posterior(counts: Ints, cells: Floats, possible: Bools, many: int, seed: int) -> Iterator[Floats]:
    """Shares of cells under Jeffreys' prior; a cell that the roles rule out stays empty."""
    mean = np.where(counts > 0, cells / np.maximum(counts, 1), cells.sum() / max(counts.sum(), 1))
    for block in draws.dirichlet(counts, many, seed, mask=possible):
        yield block * mean


def _can_occur(cell: str, cube: Cube) -> bool:
    place = CELLS.index(cell)
    if cube.counts[:, place].any():
        return True
    return cell in ("TN", "FP", "FN", "TP") and cube.has_labels and cube.has_predictions


class _Layout:
    """Where everything stands in the row that the statistic returns."""

    def __init__(self, question: Question) -> None:
        self.question, self.table, self.judged = question, question.table, question.judged
        self.rows = cell_measures(self.table.measures)
        self.shape = self.table.values.shape
        # Of the data and not of a draw: a prior would give labels to those who have none.
        self.silent = silent_sides(self.table.cube.cells) if self.rows else None

    def statistic(self, cells: Floats) -> Floats:
        """[..., groups, 8] to [..., everything]."""
        computed = evaluate(cells, self.rows, silent=self.silent)
        values = np.stack([computed[row.name] for row in self.rows], axis=-2)
        plan, groups = self.question.plan, self.table.groups
        return self._everything(values, comparison.baselines(cells, self.rows, plan, groups, self.silent))

    def of_values(self, values: Floats, base: Floats | None) -> Floats:
        """[..., measures, groups] to [..., everything]; `base` is what groups are compared with, if it is not one."""
        if self.table.base is None:
            return self._everything(values, None)
        if self.question.plan.against == "reference":
            groups = list(self.table.groups)
            if self.question.plan.reference not in groups:
                base = np.full(values.shape, np.nan)
            else:
                place = groups.index(self.question.plan.reference)
                base = np.repeat(values[..., [place]], values.shape[-1], axis=-1)
                base[..., place] = np.nan
        return self._everything(values, base)

    def _everything(self, values: Floats, base: Floats | None) -> Floats:
        lead = values.shape[:-2]
        if base is None:
            pieces = [self._extremes(values, usable) for usable in (self.judged.everyone, self.judged.large)]
            several = np.where(self.judged.everyone, values, np.nan)
            parts = np.concatenate(comparison.apart(several, self.judged.yardsticks), axis=-1)
            return np.concatenate([*pieces, parts, values.reshape(*lead, -1)], axis=-1)
        sides = [(values - base), comparison.ratio(values, base), values]
        return np.concatenate([side.reshape(*lead, -1) for side in sides], axis=-1)

    def _extremes(self, values: Floats, usable: Bools) -> Floats:
        differences, ratios = comparison.apart(np.where(usable, values, np.nan), self.judged.yardsticks)
        if self.question.request.aggregate == "worst":
            both = np.fmax.reduce(differences, axis=-1), np.fmin.reduce(ratios, axis=-1)
        else:
            both = differences.mean(axis=-1), ratios.mean(axis=-1)
        return np.stack(both, axis=-1)

    def never_vary(self, low: Floats, high: Floats) -> list[str]:
        """The groups whose value is the same in all draws, such as that of one person: it would seem to be known."""
        count = self.shape[0] * self.shape[1]
        width = (high[-count:] - low[-count:]).reshape(self.shape)
        same = (np.abs(width) <= EQUAL) & self.judged.everyone & np.isfinite(self.table.values)
        return [self.table.name(place) for place in np.flatnonzero(same.any(axis=0)).tolist()]

    def bounds(self, ends: DrawnEnds) -> Bounds:
        many, count = self.shape[0], self.shape[0] * self.shape[1]
        ends = DrawnEnds(*(self._possible(pair) for pair in (ends.own, ends.near, ends.far)))
        low, high = (end[-count:].reshape(self.shape) for end in ends.own)
        # The middle of a posterior leaves out a rate of 0 or 1; NaN is an end that is not known.
        low, high = np.minimum(low, self.table.values), np.maximum(high, self.table.values)
        own = [(low[i], high[i]) for i in range(many)]
        if self.table.base is None:
            return self._between(ends, own)
        compared = self.judged.everyone & ~np.isnan(self.table.base)
        return bounds_against_baseline(self.question, own, self._sides(ends.near), self._sides(ends.far), compared)

    def _possible(self, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Ends cut to what is possible: a basic interval is a mirror image, and may lie beyond it."""
        if not self.rows:
            return ends  # of functions of rows, whose range is not known
        most = np.array([1.0 if row.unit == "rate" else np.inf for row in self.rows])
        each, many = np.repeat(most, self.shape[1]), len(most)
        if self.table.base is not None:
            least, largest = [-each, 0 * (each > 0), 0 * (each > 0)], [each, np.inf + 0 * (each > 0), each]
        else:
            # A gap between extremes has a sign only where not every group may be the one that others are measured by.
            free = self.judged.yardsticks is not None
            top, ratio = most.max(), np.inf if free else 1.0
            none, full = (-most, -top) if free else (0 * (most > 0), 0.0)
            zeros = [np.zeros(many), np.zeros(len(each))]
            least = [np.array([full, 0.0, full, 0.0]), none, *zeros]
            largest = [np.array([top, ratio, top, ratio]), most, np.full(many, ratio), each]
        lowest, highest = np.concatenate(least), np.concatenate(largest)
        low, high = (np.clip(end, lowest, highest) for end in ends)
        return low, high

    def _sides(self, ends: tuple[Floats, Floats]) -> Ends:
        """Ends of the differences from the baseline and of the ratios."""
        count = self.shape[0] * self.shape[1]
        parts = [end[k * count : (k + 1) * count].reshape(self.shape) for k in (0, 1) for end in ends]
        return parts[0], parts[1], parts[2], parts[3]

    def _between(self, ends: DrawnEnds, own: list[tuple[Floats, Floats]]) -> Bounds:
        many, (near, far) = self.shape[0], (ends.near, ends.far)

        def reach(difference: int, ratio: int) -> tuple[Interval, Interval]:
            upwards = float(near[0][difference]), float(far[1][difference])
            return upwards, (float(far[0][ratio]), float(near[1][ratio]))

        large = Reach(*reach(2, 3)) if self.judged.enough(self.question.request.metric.binned) else None
        parts = tuple(reach(4 + i, 4 + many + i) for i in range(many)) if many > 1 else ()
        return bounds_between(self.question, own, Reach(*reach(0, 1)), large, parts)
