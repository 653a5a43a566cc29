"""The best choice among the options of all groups that keeps a constraint: by a linear program, or by a sweep.

Drawing lots between options makes every point of their hull reachable, and a constraint on measures whose denominator
does not depend on decisions is linear there, as is a floor under any measure. A gap between measures such as the
positive predictive value is linear once the level that groups share is fixed, so that levels are tried. Without lots,
an option is a point and a gap a window over the values: for every window the best option of each group is looked up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices
from evenhand.errors import CallError
from evenhand.measures.cells import CellMeasure
from evenhand.mitigate.thresholds.options import Options, coefficient_rows, is_linear

_CLOSE = 1e-9
_LEVELS = 33  # of a shared level that are tried at first, and again between the neighbours of the best
_ROUNDS = 3
_ANCHORS = 256  # windows along each of two measures
_MOST_WINDOWS = 200_000


@dataclass(frozen=True)
class Goal:
    """The constraint and the objective: gaps of `measures` up to `within` (a ratio: at least `within`), and floors.

    `gain` is what a person in each cell is worth. `margins[measure][group]` is how far the true value may lie from the
    one in the sample; the gap is kept with all of them to spare.
    """

    measures: tuple[CellMeasure, ...]
    as_ratio: bool
    within: float
    gain: Floats
    floors: tuple[tuple[CellMeasure, float], ...] = ()
    margins: tuple[Floats, ...] = ()

    def margin(self, measure: int, group: int) -> float:
        return float(self.margins[measure][group]) if self.margins else 0.0

    def end(self, start: float) -> float:
        """The highest value that is allowed with this lowest value."""
        if not self.as_ratio:
            return start + self.within
        return start / self.within if self.within > 0 else np.inf


@dataclass(frozen=True)
class Choice:
    """For each group the positions of the chosen options, and the probability of each."""

    places: tuple[Indices, ...]
    weights: tuple[Floats, ...]


# --- with lots: a linear program -------------------------------------------------------------------------------------


class _Program:
    """A linear program. Its variables are the weights of all options and, for each measure, a level."""

    def __init__(self, options: Sequence[Options], goal: Goal) -> None:
        self.options, self.goal = options, goal
        sizes = [len(each) for each in options]
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.width = int(self.starts[-1]) + len(goal.measures)
        self.rows: list[tuple[Indices, Floats, float]] = []

    def at_most(self, group: int, values: Floats, limit: float, level: tuple[int, float] | None = None) -> None:
        """Σ weights · values (+ factor · level) ≤ limit, in one group."""
        places = np.arange(self.starts[group], self.starts[group + 1])
        if level is not None:
            places, values = np.append(places, self.starts[-1] + level[0]), np.append(values, level[1])
        self.rows.append((places, values, limit))

    def solve(self) -> tuple[float, Floats] | None:
        """The gain and the weights of the options; None where the program has no solution."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        gains = np.concatenate([each.count(self.goal.gain) for each in self.options])
        scale = float(np.abs(gains).max()) or 1.0
        ends = np.cumsum([0, *(len(places) for places, _, _ in self.rows)])
        columns = np.concatenate([places for places, _, _ in self.rows]) if self.rows else np.zeros(0, dtype=np.intp)
        entries = np.concatenate([values for _, values, _ in self.rows]) if self.rows else np.zeros(0)
        upper = csr_array((entries, columns, ends), shape=(len(self.rows), self.width))
        one = csr_array(
            (np.ones(len(gains)), np.arange(len(gains)), self.starts), shape=(len(self.options), self.width)
        )
        found = linprog(
            np.append(-gains / scale, np.zeros(len(self.goal.measures))),
            A_ub=upper if self.rows else None,
            b_ub=[limit for _, _, limit in self.rows] if self.rows else None,
            A_eq=one,
            b_eq=np.ones(len(self.options)),
            bounds=[(0, None)] * len(gains) + [(0 if self.goal.as_ratio else None, None)] * len(self.goal.measures),
            method="highs",
        )
        if found.x is None or not found.success:
            return None
        return -float(found.fun) * scale, found.x[: len(gains)]


def best_mixture(options: Sequence[Options], goal: Goal) -> Choice | None:
    """The best random mixture of options in each group; None where none keeps the constraint."""
    kept = [each.hull() for each in options]
    bent = [i for i, measure in enumerate(goal.measures) if not is_linear(measure)]
    levels = _levels(kept, goal, bent)
    if bent and len(goal.measures) == 1:
        # Where the best single cutoffs lie: lots are then at least as good as those.
        levels = [np.union1d(levels[0], _lowest(options, goal))]
    best: tuple[float, Floats] | None = None
    for _ in range(_ROUNDS if bent else 1):
        held = None
        for level in itertools.product(*levels):
            found = _program(kept, goal, dict(zip(bent, level, strict=True))).solve()
            if found is not None and (best is None or found[0] > best[0] + 1e-12 * abs(best[0])):
                best, held = found, level
        if held is None:
            break
        levels = [_around(tried, value) for tried, value in zip(levels, held, strict=True)]
    return None if best is None else _choice(options, kept, best[1])


def _program(options: Sequence[Options], goal: Goal, levels: dict[int, float]) -> _Program:
    """The program of all constraints; `levels` fix the lowest values of measures that are not linear."""
    program = _Program(options, goal)
    for group, each in enumerate(options):
        for measure, floor in goal.floors:
            _bounded(program, group, each, measure, floor, None)
        for i, measure in enumerate(goal.measures):
            if i in levels:
                _bounded(program, group, each, measure, levels[i], goal.end(levels[i]))
                continue
            values = each.values(measure)
            if np.isnan(values).any():
                continue  # nobody there whom the measure is about
            spare = goal.margin(i, group)
            # The level is the lowest value: level ≤ value − spare, and value + spare ≤ the end beside that level.
            program.at_most(group, -values, -spare, (i, 1.0))
            if not goal.as_ratio:
                program.at_most(group, values, goal.within - spare, (i, -1.0))
            elif goal.within > 0:
                program.at_most(group, values * goal.within, -spare * goal.within, (i, -1.0))
    return program


def _bounded(
    program: _Program, group: int, each: Options, measure: CellMeasure, low: float, high: float | None
) -> None:
    """Add low ≤ measure ≤ high for a group, in counts: top − low · bottom ≥ 0, for any bottom."""
    if is_linear(measure):
        values = each.values(measure)
        if not np.isnan(values).any():
            program.at_most(group, -values, -low)
        return
    ((top, bottom),) = coefficient_rows(measure)
    scale = each.positives + each.negatives
    program.at_most(group, -each.count(top - low * bottom) / scale, 0.0)
    if high is not None and np.isfinite(high):
        program.at_most(group, each.count(top - high * bottom) / scale, 0.0)


def _levels(options: Sequence[Options], goal: Goal, bent: Sequence[int]) -> list[Floats]:
    """Candidates for a shared level: between the lowest and the highest value that every group can reach."""
    found = []
    for i in bent:
        values = [each.values(goal.measures[i]) for each in options]
        known = [part[~np.isnan(part)] for part in values]
        lowest = min((float(part.min()) for part in known if part.size), default=0.0)
        highest = max((float(part.max()) for part in known if part.size), default=1.0)
        found.append(np.linspace(lowest, highest, _LEVELS if len(bent) == 1 else _LEVELS // 3))
    return found


def _lowest(options: Sequence[Options], goal: Goal) -> list[float]:
    """The level of the best single cutoffs, if there are any."""
    single = best_single(options, goal)
    if single is None:
        return []
    values = [each.values(goal.measures[0])[place] for each, (place,) in zip(options, single.places, strict=True)]
    return [float(np.nanmin(values))] if not np.isnan(values).all() else []


def _around(tried: Floats, value: float) -> Floats:
    """Finer levels, from the neighbour below to the one above."""
    place = int(np.searchsorted(tried, value))
    return np.linspace(tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)], len(tried))


def _choice(options: Sequence[Options], kept: Sequence[Options], weights: Floats) -> Choice:
    """The weights by position among all options; weights below 1e-10 are rounding errors and left out."""
    places, shares = [], []
    for each, corners, part in zip(
        options, kept, np.split(weights, np.cumsum([len(k) for k in kept])[:-1]), strict=True
    ):
        chosen = np.flatnonzero(part > _CLOSE)
        places.append(np.searchsorted(each.cutoffs, corners.cutoffs[chosen]).astype(np.intp))
        shares.append(part[chosen] / part[chosen].sum())
    return Choice(tuple(places), tuple(shares))


# --- without lots: a sweep of windows --------------------------------------------------------------------------------


def best_single(options: Sequence[Options], goal: Goal) -> Choice | None:
    """The best single option in each group; None where none keeps the constraint."""
    gains = [np.where(_above_floors(each, goal.floors), each.count(goal.gain), -np.inf) for each in options]
    if not goal.measures:
        places: Indices | None = np.array([int(part.argmax()) for part in gains], dtype=np.intp)
        if any(np.isneginf(part.max()) for part in gains):
            places = None
    elif len(goal.measures) == 1:
        places = _one_window(options, goal, gains)
    elif len(goal.measures) == 2 and all(_falls(each.values(m)) for each in options for m in goal.measures):
        places = _two_windows(options, goal, gains)
    else:
        raise CallError(
            f"{' and '.join(measure.title for measure in goal.measures)} together can be kept only with random draws: "
            "pass randomised=True."
        )
    if places is None:
        return None
    return Choice(tuple(np.array([place], dtype=np.intp) for place in places), (np.ones(1),) * len(options))


def _above_floors(each: Options, floors: Iterable[tuple[CellMeasure, float]]) -> Bools:
    kept = np.ones(len(each), dtype=bool)
    for measure, floor in floors:
        values = each.values(measure)
        kept &= np.isnan(values) | (values >= floor - _CLOSE)
    return kept


def _falls(values: Floats) -> bool:
    """Does a measure never rise as the cutoff rises?"""
    return bool(np.isnan(values).all() or (np.diff(values) <= 0).all())


class _Highest:
    """The highest of values[start:end] for many windows at once, by a table of the highest of every 2^k neighbours."""

    def __init__(self, values: Floats) -> None:
        self.tables = [values]
        while 2 ** len(self.tables) <= len(values):
            last, step = self.tables[-1], 2 ** (len(self.tables) - 1)
            self.tables.append(np.maximum(last[:-step], last[step:]))

    def within(self, starts: Indices, ends: Indices) -> Floats:
        found = np.full(starts.shape, -np.inf)
        length = ends - starts
        levels = np.frexp(np.maximum(length, 1).astype(np.float64))[1] - 1
        for level, table in enumerate(self.tables):
            there = (length > 0) & (levels == level)
            if there.any():
                found[there] = np.maximum(table[starts[there]], table[ends[there] - 2**level])
        return found


def _windows(low: Floats, goal: Goal, measure: int, group: int) -> tuple[Floats, Floats]:
    """For each lowest value the range in which the group's value must lie."""
    spare = goal.margin(measure, group)
    with np.errstate(divide="ignore", invalid="ignore"):
        high = low + goal.within if not goal.as_ratio else np.where(low > 0, low / goal.within, 0.0)
    if goal.as_ratio and goal.within == 0:
        high = np.full(low.shape, np.inf)
    return low + spare - _CLOSE, high - spare + _CLOSE


def _one_window(options: Sequence[Options], goal: Goal, gains: Sequence[Floats]) -> Indices | None:
    """The best options for one measure, which need not fall with the cutoff: options are sorted by value."""
    values = [each.values(goal.measures[0]) for each in options]
    orders = [np.argsort(part, kind="stable")[: int((~np.isnan(part)).sum())] for part in values]
    judged = [i for i, order in enumerate(orders) if len(order)]
    if not judged:
        return None
    lows = _anchors([values[i][orders[i]] - goal.margin(0, i) for i in judged], _MOST_WINDOWS)
    total = np.zeros(len(lows))
    spans = {}
    for i in judged:
        ranked = values[i][orders[i]]
        low, high = _windows(lows, goal, 0, i)
        spans[i] = np.searchsorted(ranked, low), np.searchsorted(ranked, high, side="right")
        total += _Highest(gains[i][orders[i]]).within(*spans[i])
    if np.isneginf(total.max()):
        return None
    best = int(total.argmax())
    chosen = [int(part.argmax()) for part in gains]  # a group the measure says nothing of is free
    for i, (starts, ends) in spans.items():
        inside = orders[i][starts[best] : ends[best]]
        chosen[i] = int(inside[gains[i][inside].argmax()])
    return np.array(chosen, dtype=np.intp)


def _two_windows(options: Sequence[Options], goal: Goal, gains: Sequence[Floats]) -> Indices | None:
    """The best options for two measures that fall with the cutoff, so that allowed options are a range."""
    lows = [
        _anchors([_known(each.values(measure)) - goal.margin(k, i) for i, each in enumerate(options)], _ANCHORS)
        for k, measure in enumerate(goal.measures)
    ]
    total = np.zeros((len(lows[0]), len(lows[1])))
    spans = []
    for i, each in enumerate(options):
        ranges = []
        for k, measure in enumerate(goal.measures):
            rising, (low, high) = each.values(measure)[::-1], _windows(lows[k], goal, k, i)
            if np.isnan(rising).any():
                ranges.append((np.zeros(len(low), dtype=np.intp), np.full(len(low), len(each))))
                continue
            first, past = np.searchsorted(rising, low), np.searchsorted(rising, high, side="right")
            ranges.append((len(each) - past, len(each) - first))
        starts = np.maximum(ranges[0][0][:, None], ranges[1][0][None, :])
        ends = np.maximum(np.minimum(ranges[0][1][:, None], ranges[1][1][None, :]), starts)
        spans.append((starts, ends))
        total += _Highest(gains[i]).within(starts, ends)
    if np.isneginf(total.max()):
        return None
    best = np.unravel_index(int(total.argmax()), total.shape)
    chosen = []
    for part, (starts, ends) in zip(gains, spans, strict=True):
        chosen.append(int(starts[best] + part[starts[best] : ends[best]].argmax()))
    return np.array(chosen, dtype=np.intp)


def _known(values: Floats) -> Floats:
    return values[~np.isnan(values)]


def _anchors(values: Sequence[Floats], most: int) -> Floats:
    """The lowest values at which windows begin: all that occur, or `most` of them, evenly spread."""
    found = np.unique(np.concatenate(values))
    if len(found) <= most:
        return found
    return found[np.unique(np.linspace(0, len(found) - 1, most).astype(np.intp))]
