"""The least gaps in PPV, FPR and FNR that any decisions could have at unequal base rates. Arrays only.

Base rates, the pooled true positive rate T and the pooled false positive rate F are fixed; the rates (t, f) of each
group are free, as long as they pool to T and F. With two groups the least gap is the root of one falling function.
With more it is a linear program once the window of PPVs is known, and windows are searched until none is left. A
group of whom nobody is selected has no PPV, and so no gap in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Floats

Rates = tuple[Floats, Floats]
"""TPR and FPR of each group."""

PROOF, ROUGH = 0.01, 0.05  # how close to the least gap a search must come, as a share of it
_MANY_GROUPS = 50  # from here on the frontier has few points
_HALVINGS = 60  # of an interval of length 1: beyond the precision of a float
_POLISHING_STEPS = 60
_PRECISION = 1e-9  # of rates and of improvements


@dataclass(frozen=True)
class BaseRates:
    """What is fixed for any decisions: positives and negatives of each group, and the pooled rates."""

    positives: Floats
    negatives: Floats
    tpr: float
    fpr: float

    @classmethod
    def of(cls, cells: Floats) -> BaseRates:
        """From TN, FP, FN and TP of each group, [groups, 4]; every group has positives and negatives."""
        tn, fp, fn, tp = cells.T
        positives, negatives = fn + tp, tn + fp
        return cls(positives, negatives, float(tp.sum() / positives.sum()), float(fp.sum() / negatives.sum()))

    @cached_property
    def odds(self) -> Floats:
        """p / (1 − p) of each group."""
        return self.positives / self.negatives

    @cached_property
    def relative(self) -> Floats:
        """The odds of each group to those of everyone."""
        return np.asarray(self.odds * self.negatives.sum() / self.positives.sum())

    @cached_property
    def ppv(self) -> float:
        """The pooled PPV; NaN where nobody is selected."""
        right, wrong = self.positives.sum() * self.tpr, self.negatives.sum() * self.fpr
        return float(right / (right + wrong)) if right + wrong > 0 else float("nan")

    @property
    def free(self) -> bool:
        """Whether all three rates can agree: base rates are equal, or every PPV is 1, 0 or undefined."""
        return self.tpr == 0 or self.fpr == 0 or bool(np.ptp(self.relative) < 1e-12)

    @property
    def everywhere(self) -> Rates:
        """The pooled rates in every group."""
        return np.full(len(self.odds), self.tpr), np.full(len(self.odds), self.fpr)

    def ppvs(self, rates: Rates) -> Floats:
        """The PPV of each group at these rates; NaN where nobody is selected."""
        right, wrong = self.positives * rates[0], self.negatives * rates[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(right + wrong > 0, right / (right + wrong), np.nan)

    def stretched(self, gap: float) -> BaseRates:
        """The same people with log odds moved apart, or together, until highest − lowest odds are `gap`."""
        pooled = self.positives.sum() / self.negatives.sum()

        def apart(factor: float) -> float:
            return float(pooled * np.ptp(self.relative**factor))

        most = 1.0
        while apart(most) < gap:
            most *= 2
        factor = most * _crossing(lambda share: gap - apart(share * most))
        odds, people = pooled * self.relative**factor, self.positives + self.negatives
        return replace(self, positives=people * odds / (1 + odds), negatives=people / (1 + odds))


def implied_rates(base: BaseRates) -> Floats:
    """The FPR of each group with the pooled PPV and FNR in every group (Chouldechova 2017).

    Above 1 it is impossible; without true positives it is NaN.

    >>> implied_rates(BaseRates(np.array([50.0, 20.0]), np.array([50.0, 80.0]), tpr=0.7, fpr=0.35)).round(4).tolist()
    [0.65, 0.1625]
    """
    if not base.ppv > 0:
        return np.full(len(base.odds), np.nan)
    return np.asarray(base.odds * ((1 - base.ppv) / base.ppv * base.tpr))


def smallest_gap(base: BaseRates, observed: Rates | None = None, proof: float = PROOF) -> float:
    """The least ε within which PPVs, FPRs and FNRs can all be held; `observed` rates are one more start.

    It is exact for two groups. For more it is attained, and no rates do better by more than a share `proof` of it.

    >>> round(smallest_gap(BaseRates(np.array([50.0, 20.0]), np.array([50.0, 80.0]), tpr=0.7, fpr=0.35)), 4)
    0.1699
    """
    if base.free:
        return 0.0
    if len(base.odds) == 2:
        return _crossing(lambda gap: _ahead(base, gap) - gap)
    starts = [base.everywhere, *([observed] if observed is not None else [])]
    return _Search(base, 1.0, 1.0).least(starts, proof)[0]


def frontier(base: BaseRates, points: int = 9) -> list[tuple[float, float]]:
    """(PPV gap, error-rate gap) of the least possible gaps: less of one takes more of the other.

    The error-rate gap is the larger of the gaps in FPR and FNR. The first point has equal error rates. With two
    groups the last has the least gap in PPV; with more the points lie on rays from the origin, evenly turned.
    """
    if base.free:
        return [(0.0, 0.0)]
    if len(base.odds) == 2:
        least = max(_ahead(base, 1.0), 0.0)
        most = _crossing(lambda gap: max(_ahead(base, gap), 0.0) - least)
        return [(max(_ahead(base, float(gap)), 0.0), float(gap)) for gap in np.linspace(0, most, points)]
    rates = base.everywhere
    curve = [(_spread(base.ppvs(rates)), 0.0)]
    for angle in np.linspace(0, np.pi / 2, min(points, 5) if len(base.odds) > _MANY_GROUPS else points)[1:-1]:
        sine, cosine = float(np.sin(angle)), float(np.cos(angle))
        least, rates = _Search(base, sine, cosine).least([base.everywhere, rates], ROUGH)
        curve.append((cosine * least, sine * least))
    return curve


def _ahead(base: BaseRates, gap: float) -> float:
    """Of two groups, how far the PPV of the one with higher odds stays ahead with error rates at most `gap` apart.

    It falls as the TPR of that group falls below the other's, and as its FPR rises above it; so it is least in the
    corner: both by the whole gap, or by as much as rates between 0 and 1 allow.
    """
    order = np.argsort(-base.odds)
    sides = replace(base, positives=base.positives[order], negatives=base.negatives[order])
    of_positives, of_negatives = sides.positives / sides.positives.sum(), sides.negatives / sides.negatives.sum()
    less = min(gap, base.tpr / of_positives[1], (1 - base.tpr) / of_positives[0])
    more = min(gap, base.fpr / of_negatives[0], (1 - base.fpr) / of_negatives[1])
    tpr = base.tpr + less * np.array([-of_positives[1], of_positives[0]])
    fpr = base.fpr + more * np.array([of_negatives[1], -of_negatives[0]])
    ahead, behind = sides.ppvs((np.maximum(tpr, 0.0), np.maximum(fpr, 0.0)))
    return float(ahead - behind)


def _crossing(falling: Callable[[float], float]) -> float:
    """Where a falling function on [0, 1] reaches 0."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if falling(middle) <= 0 else (middle, high)
    return high


def _spread(values: Floats) -> float:
    return float(np.nanmax(values) - np.nanmin(values))


class _Search:
    """The least z with error-rate gaps of at most z·for_errors and a PPV gap of at most z·for_ppv.

    For a window in which all PPVs must lie, what is left is a linear program. All is relative in it, so that rare
    outcomes lose no precision: t' = t/T, f' = f/F, j = odds / pooled odds, and an end of the window is V + V(1−V)y
    for the pooled PPV V. Then PPV ≥ that end says (1 + (1−V)y) f' ≤ (1 − Vy) j t'. The variables are t' and f' of
    each group, the least of each, both y, and z in units of the best so far.
    """

    def __init__(self, base: BaseRates, for_errors: float, for_ppv: float) -> None:
        self.base, self.for_errors, self.for_ppv = base, for_errors, for_ppv
        self.scale = base.ppv * (1 - base.ppv)
        self.many = many = len(base.odds)
        self.lines = self._lines()
        self.least_values = np.zeros(2 * many + 5)
        self.most_values = np.array([1 / base.tpr] * many + [1 / base.fpr] * many + [np.inf] * 5)

    def _lines(self) -> Floats:
        """The lines of every program, without what depends on the window: t' and f' of each group are at least their
        least and at most z above it, PPVs lie above the low end and below the high one, and rates pool to T and F."""
        base, many = self.base, self.many
        groups = np.arange(many)
        lines = np.zeros((6 * many + 3, 2 * many + 5))
        for kind in range(2):  # t', then f'
            start, rate = 2 * kind * many, kind * many
            lines[start + groups, rate + groups] = -1.0
            lines[start : start + many, 2 * many + kind] = 1.0
            lines[start + many + groups, rate + groups] = 1.0
            lines[start + many : start + 2 * many, 2 * many + kind] = -1.0
        lines[-2, :many] = base.positives / base.positives.sum()
        lines[-1, many : 2 * many] = base.negatives / base.negatives.sum()
        return lines

    def least(self, starts: Sequence[Rates], proof: float) -> tuple[float, Rates]:
        """The least z, up to a share of itself that is not searched, and rates that attain it.

        If rates reached the goal, all their PPVs would lie in [v, v + goal] for some v. A range of v's is ruled out
        when no rates with PPVs from its low end to its high end + goal have error rates that are close enough; else
        it is halved. A range shorter than what is not searched yields better rates, or rounding has let it through.
        """
        best, rates = min((self.polish(start) for start in starts), key=lambda polished: polished[0])
        ranges = [(self.base.ppv - self.for_ppv * best, self.base.ppv)]
        while ranges:
            low, high = ranges.pop()
            goal = best * (1 - proof)
            ends = np.array([max(low, 0.0), min(high + self.for_ppv * goal, 1.0)])
            inside, apart = self.solve((ends - self.base.ppv) / self.scale, None, 0.0, best)
            if inside is None or apart > goal:
                continue
            better = self.attained(inside) < best
            if better:
                best, rates = self.polish(inside)
            if better or high - low > self.for_ppv * best * proof / 4:
                middle = (low + high) / 2
                ranges += [(low, middle), (middle, high)]
        return best, rates

    def attained(self, rates: Rates) -> float:
        """The z of some rates."""
        errors = max(_spread(part) for part in rates)
        return max(errors / self.for_errors, _spread(self.base.ppvs(rates)) / self.for_ppv)

    def polish(self, rates: Rates) -> tuple[float, Rates]:
        """From some rates downwards, as long as moving the ends of their window helps."""
        best, reach = self.attained(rates), 1.0
        for _ in range(_POLISHING_STEPS):
            seen = self.base.ppvs(rates)
            ends = (np.array([np.nanmin(seen), np.nanmax(seen)]) - self.base.ppv) / self.scale
            proposed, promised = self.solve(ends, rates, reach, best)
            if proposed is None or promised > best * (1 - _PRECISION):
                break
            value = self.attained(proposed)
            if value < best:
                best, rates, reach = value, proposed, 2 * reach
            else:
                reach /= 4
        return best, rates

    def solve(self, ends: Floats, around: Rates | None, reach: float, unit: float) -> tuple[Rates | None, float]:
        """Rates and their z, with ends (as y) that move by up to `reach`, linearised around present rates.

        Without these the ends are fixed, and z is that of the error rates alone.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        base, many, ppv = self.base, self.many, self.base.ppv
        groups, lines, limits = np.arange(many), self.lines.copy(), np.zeros(6 * many + 3)
        lines[many : 2 * many, -1] = -self.for_errors * unit / base.tpr
        lines[3 * many : 4 * many, -1] = -self.for_errors * unit / base.fpr
        for end, sign, start in ((0, 1.0, 4 * many), (1, -1.0, 5 * many)):
            lines[start + groups, groups] = -sign * (1 - ppv * ends[end]) * base.relative
            lines[start + groups, many + groups] = sign * (1 + (1 - ppv) * ends[end])
        if around is not None:
            slope = (1 - ppv) * around[1] / base.fpr + ppv * base.relative * around[0] / base.tpr
            lines[4 * many : 5 * many, -3], lines[5 * many : 6 * many, -2] = slope, -slope
            limits[4 * many : 5 * many], limits[5 * many : 6 * many] = slope * ends[0], -slope * ends[1]
            lines[-3, -3:] = -self.scale, self.scale, -self.for_ppv * unit
        limits[-2:] = 1.0
        below = np.full(len(limits), -np.inf)
        below[-2:] = 1.0
        least, most = self.least_values.copy(), self.most_values.copy()
        least[-3:-1], most[-3:-1] = ends - reach, ends + reach
        # linprog() calls the same solver, and takes half as long again to check and to turn over what it is given.
        solution = milp(
            np.eye(1, 2 * many + 5, 2 * many + 4)[0],
            constraints=LinearConstraint(lines, below, limits),
            bounds=Bounds(least, most),
        )
        if solution.status != 0:
            return None, unit
        rates = np.where(solution.x > _PRECISION, solution.x, 0.0)
        return (rates[:many] * base.tpr, rates[many : 2 * many] * base.fpr), float(solution.fun) * unit
