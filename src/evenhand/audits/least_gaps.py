"""The least gaps in PPV, FPR and FNR that any decisions could have at unequal base rates. Arrays only.

Base rates, the pooled true positive rate T and the pooled false positive rate F are fixed; the rates (t, f) of each
group are free, as long as they pool to T and F. With two groups the least gap is the root of one falling function.
With more, four numbers are searched: how far rates reach above and below T and F. They alone decide the least gap in
PPVs (`_Search`). A group of whom nobody is selected has no PPV, and so no gap in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand.core.arrays import Floats

Rates = tuple[Floats, Floats]
"""TPR and FPR of each group."""

PROOF, ROUGH = 0.01, 0.05  # how close to the least gap a search must come, as a share of it
_MANY_GROUPS = 50  # from here on the frontier has few points
_HALVINGS = 60  # of an interval of length 1: beyond the precision of a float
_POLISHES = 20  # from one start
_PRECISION = 1e-12  # of improvements, as a share
_KEPT = 1e-9  # a step downhill that gives what it promised, as closely as this share, is the last one
_SCAN = np.linspace(0, 1, 13)  # where a first look is taken
_ZOOM, _ZOOMS = np.linspace(0, 1, 33), 4  # towards the highest point of a concave function


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


def smallest_gap(base: BaseRates, proof: float = PROOF) -> float:
    """The least ε within which PPVs, FPRs and FNRs can all be held.

    It is exact for two groups. For more it is attained, and no rates do better by more than a share `proof` of it.

    >>> round(smallest_gap(BaseRates(np.array([50.0, 20.0]), np.array([50.0, 80.0]), tpr=0.7, fpr=0.35)), 4)
    0.1699
    """
    if base.free:
        return 0.0
    if len(base.odds) == 2:
        return _crossing(lambda gap: _ahead(base, gap) - gap)
    return _Search(base, 1.0, 1.0).least(proof)[0]


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
    curve = [(float(np.ptp(base.ppvs(base.everywhere))), 0.0)]
    for angle in np.linspace(0, np.pi / 2, min(points, 5) if len(base.odds) > _MANY_GROUPS else points)[1:-1]:
        sine, cosine = float(np.sin(angle)), float(np.cos(angle))
        least, _ = _Search(base, sine, cosine).least(ROUGH)
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


class _Search:
    """The least z with error-rate gaps of at most z·for_errors and a PPV gap of at most z·for_ppv.

    Let all TPRs lie between T(1 − below) and T(1 + above), all FPRs between F(1 − less) and F(1 + more): the `reach`,
    in this order. Groups are sorted by their odds, and a cut parts them into those with lower and with higher odds.
    Of all true positives, the lower part can take min(A·above, (1 − A)·below) more than its share A of the positives,
    and of all false positives min((1 − B)·more, B·less) less than its share B of the negatives. So no rates bring the
    highest PPV below that of the higher part after this shift, nor the lowest above that of the lower part.

    Over all cuts these bounds are attained, both at once: in counts (TP, FP), the rates that a group may have are a
    rectangle, cut by the two lines of the lowest and the highest PPV, which are the same for all groups. The sum of
    such polygons has no other directions of edges, so the pooled counts lie in it if they lie on the right side of six
    lines, and these are the bounds above.
    """

    def __init__(self, base: BaseRates, for_errors: float, for_ppv: float) -> None:
        self.base, self.for_errors, self.for_ppv = base, for_errors, for_ppv
        order = np.argsort(base.odds, kind="stable")
        self.positives, self.negatives = (
            np.stack([np.cumsum(part)[:-1], np.cumsum(part[::-1])[-2::-1]]) / part.sum()
            for part in (base.positives[order], base.negatives[order])
        )  # of the lower and of the higher part, at each cut
        self.most = np.array([1 / base.tpr - 1, 1.0, 1.0, 1 / base.fpr - 1])
        self.scale = base.ppv * (1 - base.ppv)

    def least(self, proof: float) -> tuple[float, Floats]:
        """The least z, up to a share `proof` of itself, and a reach that attains it.

        If rates reached the goal, all their PPVs would lie in [v, v + goal] for some v. A range of v's is ruled out
        when no rates with PPVs from its low end to its high end + goal have error rates that are close enough; else
        it is halved. A range shorter than what is not searched yields a better reach, or rounding has let it through.
        """
        best, at = min((self.polish(start) for start in (np.zeros(4), self.first())), key=lambda polished: polished[0])
        ends = np.linspace(self.base.ppv - self.for_ppv * best, self.base.ppv, 9)
        low, high = ends[:-1], ends[1:]
        while len(low):
            goal = best * (1 - proof)
            slack, reach = self.closest(np.maximum(low, 0.0), np.minimum(high + self.for_ppv * goal, 1.0), goal)
            possible = slack >= 0
            values = np.where(possible, self.attained(reach), np.inf)
            if values.min() < best:
                best, at = self.polish(reach[values.argmin()])
            possible &= (high - low > self.for_ppv * best * proof / 4) & (high > self.base.ppv - self.for_ppv * best)
            low, high, middle = low[possible], high[possible], (low + high)[possible] / 2
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        return best, at

    def ppvs(self, right: Floats, wrong: Floats) -> Floats:
        """PPVs of parts with these shares of all true and all false positives; the pooled PPV where there are none."""
        right, wrong = self.base.ppv * np.maximum(right, 0.0), (1 - self.base.ppv) * np.maximum(wrong, 0.0)
        none = right + wrong == 0
        return np.where(none, self.base.ppv, right / np.where(none, 1.0, right + wrong))

    def ends(self, reach: Floats) -> tuple[Floats, Floats]:
        """The lowest and the highest PPV, as close as they can be, for each reach, [..., 4]."""
        above, below, less, more = np.moveaxis(reach, -1, 0)[..., None]
        (lower, higher), (lower_negatives, higher_negatives) = self.positives, self.negatives
        right = np.minimum(lower * above, higher * below)
        wrong = np.minimum(higher_negatives * more, lower_negatives * less)
        lowest = self.ppvs(lower + right, lower_negatives - wrong).min(axis=-1)
        highest = self.ppvs(higher - right, higher_negatives + wrong).max(axis=-1)
        return np.minimum(lowest, self.base.ppv), np.maximum(highest, self.base.ppv)

    def attained(self, reach: Floats) -> Floats:
        """The z of each reach, [..., 4]."""
        lowest, highest = self.ends(reach)
        above, below, less, more = np.moveaxis(reach, -1, 0)
        errors = np.maximum(self.base.tpr * (above + below), self.base.fpr * (less + more))
        return np.asarray(np.maximum(errors / self.for_errors, (highest - lowest) / self.for_ppv))

    def first(self) -> Floats:
        """The best reach of a coarse grid of error-rate gaps, and of how far they lie below the pooled rates."""
        gap, of_tpr, of_fpr = np.meshgrid(_SCAN, _SCAN, _SCAN, indexing="ij")
        scale = np.array([self.base.tpr, self.base.tpr, self.base.fpr, self.base.fpr])
        parts = np.stack([gap * (1 - of_tpr), gap * of_tpr, gap * of_fpr, gap * (1 - of_fpr)], axis=-1)
        reach = np.minimum(parts / scale, self.most).reshape(-1, 4)
        return np.asarray(reach[self.attained(reach).argmin()])

    def closest(self, low: Floats, high: Floats, z: float) -> tuple[Floats, Floats]:
        """For windows of PPVs, by how much a reach of z suffices (below 0: it does not), and that reach, [..., 4].

        For a given `less`, the window says how much each cut must shift, and so the least `above` and `below`. What is
        left of the reach is a concave function of `less`, whose highest point is found by zooming in.
        """
        width, height = z * self.for_errors / self.base.tpr, z * self.for_errors / self.base.fpr
        start = np.full(len(low), max(height - self.most[3], 0.0))
        stop = np.full(len(low), min(height, 1.0))
        rows = np.arange(len(low))
        for _ in range(_ZOOMS):
            less = start[:, None] + _ZOOM * (stop - start)[:, None]
            above, below = self.needed(low[:, None, None], high[:, None, None], less[..., None], height)
            above = np.maximum(above, width - 1)
            below = np.maximum(below, width - self.most[0])
            best = (above + below).argmin(axis=1)
            start, stop = less[rows, np.maximum(best - 1, 0)], less[rows, np.minimum(best + 1, len(_ZOOM) - 1)]
        above, below, less = (part[rows, best] for part in (above, below, less))
        reach = np.stack([above, below, less, height - less], axis=-1)
        return width + 1e-12 - above - below, np.clip(reach, 0.0, self.most)

    def needed(self, low: Floats, high: Floats, less: Floats, height: float) -> Rates:
        """The least `above` and `below` with which PPVs lie from `low` to `high`."""
        (lower, higher), (lower_negatives, higher_negatives), ppv = self.positives, self.negatives, self.base.ppv
        wrong = np.minimum(higher_negatives * (height - less), lower_negatives * less)
        for_lowest = low * (1 - ppv) * (lower_negatives - wrong) / ((1 - low) * ppv) - lower
        with np.errstate(divide="ignore"):
            for_highest = higher - high * (1 - ppv) * (higher_negatives + wrong) / ((1 - high) * ppv)
        shift = np.maximum(np.maximum(for_lowest, for_highest), 0.0)
        return (shift / lower).max(axis=-1), (shift / higher).max(axis=-1)

    def polish(self, reach: Floats) -> tuple[float, Floats]:
        """The least z downhill from here, and its reach."""
        best = float(self.attained(reach))
        for _ in range(_POLISHES):
            proposed, promised = self.downhill(reach, best)
            value, before = float(self.attained(proposed)), best
            if value < best:
                best, reach = value, proposed
            if value > before * (1 - _PRECISION) or abs(value - promised) <= _KEPT * promised:
                break
        return best, reach

    def downhill(self, reach: Floats, unit: float) -> tuple[Floats, float]:
        """A better reach and its z: sequential quadratic programming in the reach, both ends of the PPVs, and z / unit.

        The z is NaN where the search did not end.

        An end of the PPVs is V + V(1 − V)y for the pooled PPV V, so that rare outcomes lose no precision.
        """
        from scipy.optimize import minimize

        ppv, scale = self.base.ppv, self.scale
        slopes, shares = self._slopes, self._shares
        wide = np.zeros((3, 7))
        wide[0, :2], wide[1, 2:4], wide[2, 4:6] = -self.base.tpr, -self.base.fpr, (scale, -scale)
        wide[:, 6] = unit * np.array([self.for_errors, self.for_errors, self.for_ppv])

        def parts(point: Floats) -> Floats:
            """Shares of true and of false positives: of each lower part, then of each higher part."""
            return np.asarray(shares + slopes @ point[:4])

        def sides(point: Floats) -> Floats:
            (right_low, right_high), (wrong_low, wrong_high) = parts(point)
            low, high = point[4:6]
            above = right_low * (1 - ppv * low) - wrong_low * (1 + (1 - ppv) * low)
            under = wrong_high * (1 + (1 - ppv) * high) - right_high * (1 - ppv * high)
            return np.concatenate([above, under, wide @ point])

        def gradient(point: Floats) -> Floats:
            (right_low, right_high), (wrong_low, wrong_high) = parts(point)
            low, high = point[4:6]
            many = len(right_low)
            lines = np.zeros((2 * many + 3, 7))
            lines[:many, :4] = slopes[0, 0] * (1 - ppv * low) - slopes[1, 0] * (1 + (1 - ppv) * low)
            lines[:many, 4] = -ppv * right_low - (1 - ppv) * wrong_low
            lines[many:-3, :4] = slopes[1, 1] * (1 + (1 - ppv) * high) - slopes[0, 1] * (1 - ppv * high)
            lines[many:-3, 5] = (1 - ppv) * wrong_high + ppv * right_high
            lines[-3:] = wide
            return lines

        lowest, highest = self.ends(reach)
        found = minimize(
            lambda point: point[6],
            np.array([*reach, (lowest - ppv) / scale, (highest - ppv) / scale, 1.0]),
            jac=lambda _: np.eye(1, 7, 6)[0],
            method="SLSQP",
            bounds=[*((0.0, most) for most in self.most), (-1 / (1 - ppv), 0.0), (0.0, 1 / ppv), (0.0, 1.0)],
            constraints={"type": "ineq", "fun": sides, "jac": gradient},
            options={"ftol": 1e-14, "maxiter": 100},
        )
        best = np.asarray(np.clip(np.nan_to_num(found.x[:4]), 0.0, self.most))
        return best, float(found.x[6] * unit) if found.success else float("nan")

    @cached_property
    def _shares(self) -> Floats:
        """[true or false positives, lower or higher part, four for each cut] at the pooled rates."""
        return np.tile(np.stack([self.positives, self.negatives]), 4)

    @cached_property
    def _slopes(self) -> Floats:
        """How these shares grow with the reach, which is the last axis: each minimum is written as its two lines."""
        (lower, higher), (lower_negatives, higher_negatives) = self.positives, self.negatives
        slopes = np.zeros((2, 2, 4, len(lower), 4))
        for pair, (of_right, of_wrong) in enumerate(((0, 2), (0, 3), (1, 2), (1, 3))):
            slopes[0, 0, pair, :, of_right] = lower if of_right == 0 else higher
            slopes[1, 1, pair, :, of_wrong] = lower_negatives if of_wrong == 2 else higher_negatives
        slopes[0, 1], slopes[1, 0] = -slopes[0, 0], -slopes[1, 1]
        return slopes.reshape(2, 2, -1, 4)
