"""Evidence of a gap beyond a metric's threshold, period by period, from bets on pairs of groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Ints
from evenhand.core.results import Group, Pair
from evenhand.cube.cube import Cube
from evenhand.inference.betting import Pool, wagers
from evenhand.inference.spread import Form
from evenhand.measures.cells import CellMeasure, cell_measures
from evenhand.measures.known import left_out, unknown
from evenhand.verdicts.comparison import Plan
from evenhand.verdicts.request import Request

MOST_PAIRS = 1_000_000
_LARGEST_LOG = math.log(1e300)  # larger e-values are cut, so that they can be written as numbers


@dataclass(frozen=True)
class GroupPair:
    """The two groups between which the evidence is strongest: the first has the higher rate; None is everyone else."""

    measure: CellMeasure
    stratum: Group
    higher: Group | None
    lower: Group | None


@dataclass(frozen=True)
class Evidence:
    """The e-value after each period (how many times the money of the bets has grown), or why there is none."""

    e_values: tuple[float, ...] = ()
    suspects: tuple[GroupPair | None, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class _Side:
    """One side of a bet: a group of a stratum, or everyone in the stratum but that group."""

    measure: int
    pair: int
    rest: bool = False


def evidence(request: Request, plan: Plan, total: Cube, periods: Sequence[Cube]) -> Evidence:
    """The evidence against "no gap is beyond the threshold" after each period; `total` is their sum.

    Every ordered pair that the plan compares is bet on, in each stratum and each measure. The mean over all bets is
    itself an e-value: with many groups an alarm needs more evidence, and false alarms stay as rare.
    """
    if (reason := _unsuited(request, plan, total)) is not None:
        return Evidence(reason=reason)
    measures = cell_measures(request.metric.rows)
    bets = list(_bets(request, plan, total, len(measures)))
    if not bets:
        return Evidence(reason="fewer than two groups can be compared")
    if len(bets) > MOST_PAIRS:
        return Evidence(reason=f"there are {len(bets):,} pairs of groups, more than {MOST_PAIRS:,}; name a reference")
    sides = list(dict.fromkeys(side for bet in bets for side in bet))
    place = {side: i for i, side in enumerate(sides)}
    first, second = (np.array([place[bet[i]] for bet in bets], dtype=np.intp) for i in (0, 1))
    k, n = _counts(measures, sides, total, periods)
    limit = float(request.threshold or 0.0)
    share, shift = (limit, 0.0) if request.judged_on == "ratio" else (1.0, limit)
    pool = Pool(len(bets))
    seen = np.zeros(len(sides), dtype=bool)
    e_values, suspects = [], []
    for money, now in zip(wagers(k, n, first, second, share, shift), n, strict=True):
        seen |= now > 0
        e_values.append(math.exp(min(pool.after(money, seen[first] & seen[second]), _LARGEST_LOG)))
        held = pool.held(money)
        suspects.append(_group_pair(bets[int(np.argmax(held))], measures, total) if held.max() > -math.inf else None)
    return Evidence(tuple(e_values), tuple(suspects))


def _unsuited(request: Request, plan: Plan, total: Cube) -> str | None:
    """Why no bet can be placed on this metric; None where one can. A bet needs people who count as 0 or 1."""
    metric = request.metric
    forms = [row.form for row in cell_measures(metric.rows) if not row.share]
    plain = len(forms) == len(metric.rows) and all(form is not None and form.plain for form in forms)
    shares = metric.index is None and not metric.binned and plain
    reasons = {
        "it has no threshold": request.threshold is None,
        "no class was named as the favourable one: count with positive=": bool(total.classes),
        f"{metric.title} is not a comparison of shares of people": not shares,
        "a mean of several gaps is not bet on": request.aggregate != "worst",
        "weighted rates are not counts of people": total.w is not None,
        "rows that belong together are not independent bets": total.clustered,
        'a group is part of everyone: compare with reference="rest"': plan.against == "overall",
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _bets(request: Request, plan: Plan, total: Cube, measures: int) -> Iterator[tuple[_Side, _Side]]:
    """Ordered pairs; a bet is that the first side has the higher rate."""
    one_sided = request.one_sided and not plan.fold
    for measure in range(measures):
        for stratum in total.strata:
            named = [i for i, pair in enumerate(total.pairs) if pair[0] == stratum and None not in pair[1]]
            if plan.between_extremes:
                for i, j in itertools.permutations(named, 2):
                    yield _Side(measure, i), _Side(measure, j)
                continue
            base = next((i for i, pair in enumerate(total.pairs) if pair == (stratum, plan.reference)), None)
            if plan.against == "reference" and base is None:
                continue
            for i in named:
                own, other = _Side(measure, i), _Side(measure, i, rest=True)
                if base is not None:
                    other = _Side(measure, base)
                if own != other:
                    yield other, own
                    if not one_sided:
                        yield own, other


def _counts(
    measures: Sequence[CellMeasure], sides: Sequence[_Side], total: Cube, periods: Sequence[Cube]
) -> tuple[Ints, Ints]:
    """k and n of each period and side, [periods, sides]; nobody of whom the measure is unknown over all periods."""
    place: dict[Pair, int] = {pair: i for i, pair in enumerate(total.pairs)}
    strata = {stratum: i for i, stratum in enumerate(total.strata)}
    within = np.array([strata[pair[0]] for pair in total.pairs], dtype=np.intp)
    of, where, rest = (np.array(part) for part in zip(*((s.measure, s.pair, s.rest) for s in sides), strict=True))
    forms: list[Form] = [row.form for row in measures if row.form is not None]
    inside = np.eye(len(strata), dtype=np.int64)[within]
    lacks = np.stack([unknown(row, total) for row in measures])
    out = lacks.copy()
    for stratum in range(len(strata)):
        out[:, within == stratum] = [left_out(row) for row in lacks[:, within == stratum]]
    counts = np.zeros((2, len(periods), len(sides)), dtype=np.int64)
    for t, cube in enumerate(periods):
        cells = np.zeros((len(total.pairs), cube.counts.shape[1]), dtype=np.int64)
        cells[[place[pair] for pair in cube.pairs]] = cube.counts
        for i, chosen in enumerate(zip(*((form.top, form.top + form.rest) for form in forms), strict=True)):
            own = np.stack([cells @ row.astype(np.int64) for row in chosen]) * ~lacks
            lent = own * ~out
            all_in = lent @ inside
            counts[i, t] = np.where(rest, all_in[of, within[where]] - lent[of, where], own[of, where])
    return counts[0], counts[1]


def _group_pair(bet: tuple[_Side, _Side], measures: Sequence[CellMeasure], total: Cube) -> GroupPair:
    higher, lower = (None if side.rest else total.pairs[side.pair][1] for side in bet)
    return GroupPair(measures[bet[0].measure], total.pairs[bet[0].pair][0], higher, lower)
