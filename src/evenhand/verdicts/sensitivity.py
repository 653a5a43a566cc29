"""What missing labels, missing groups and wrong labels could hide: bounds, and how much it takes to turn a verdict.

Every tipping point is where the verdict, as the interval gives it, first becomes another one than it is with labels
taken as missing at random. Unlabelled people are represented by labelled people of the same group and decision, who are
given more weight, so that no interval becomes narrower by labels that nobody has seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.core.results import Estimate, Group, Row, Verdict
from evenhand.core.sensitivity import LabelError, Sensitivity
from evenhand.cube.cube import Cube
from evenhand.measures.cells import CellMeasure, cell_measures
from evenhand.measures.known import left_out, unknown
from evenhand.measures.missing import bounds, certain, gap_bounds, open_cells, without_group
from evenhand.verdicts.comparison import Plan, folded
from evenhand.verdicts.finding import strata_of, value_over
from evenhand.verdicts.notes.missing_text import sentences
from evenhand.verdicts.request import Request
from evenhand.verdicts.selective_labels import is_settled
from evenhand.verdicts.stratum import Stratum
from evenhand.verdicts.verdict import verdict

MOST_ODDS = 1000.0
_ODDS = (1.1, 1.25, 1.5, 2, 3, 5, 10, 30, 100, MOST_ODDS)
_SHARES = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_ERRORS = (0.02, 0.1, 0.25, 0.5)
"""Where a verdict is looked at; between two of them, where it first turns is found exactly."""

MOST_GROUPS = 12
"""Beyond so many groups, counted in each stratum, no tipping point is looked for: it would take minutes."""

NEGATIVE, POSITIVE, UNLABELLED = 0, 1, 2


def sensitivity(request: Request, plan: Plan, cube: Cube) -> Sensitivity | None:
    """The sensitivity of a finding; None where it is not a gap between rates of decisions that are yes or no."""
    rows = cell_measures(request.metric.rows)
    if cube.meaning.task != "binary" or len(rows) < len(request.metric.rows) or not rows:
        return None
    if is_settled(request.metric, request.judged_on, cube):
        request = replace(request, threshold=None)
    policy = replace(request.policy, missing_labels="ignore", interval="simultaneous")
    case = _Case(replace(request, policy=policy), plan, cube, rows)
    found = Sensitivity(case.verdict, case.share(UNLABELLED), case.share_without_group)
    found = _with_bounds(case, found)
    names = cube.meaning.sensitive
    many = len(case.groups) * len(case.strata) > MOST_GROUPS
    if request.threshold is None or many or cube.clustered:
        found = replace(found, searched=False)
        return replace(found, sentences=sentences(found, request, names, _unsearched(request, cube)))
    if found.by_labels and case.unseen:
        found = replace(found, unseen=case.unseen)
    elif found.by_labels:
        every = _turn_of_odds(case, None, math.inf)
        one, group = _least(lambda group, best: _turn_of_odds(case, group, best), case.groups)
        found = replace(found, odds_ratio=every, odds_ratio_one=one, odds_ratio_group=group)
    if found.by_groups:
        share, group = _least(lambda group, best: _turn_of_share(case, group, best), case.groups)
        found = replace(found, group_share=share, group_share_group=group)
    if any("label" in row.needs for row in rows):
        errors = tuple(_label_error(case, group) for group in ((), *case.groups))
        found = replace(found, label_errors=errors)
    return replace(found, sentences=sentences(found, request, names))


def _unsearched(request: Request, cube: Cube) -> str:
    """Why no tipping point is looked for; nothing where there is no verdict that could turn."""
    if request.threshold is None:
        return ""
    if cube.clustered:
        return "how rows of one cluster vary is not known of other counts"
    return f"there are more than {MOST_GROUPS} groups, counted in each stratum"


class _Case:
    """A finding that is judged again and again, on counts that differ in what was missing or wrong.

    Arrays of counts are [pairs, labels, decisions]; people, their weights and the squares of these.
    """

    def __init__(self, request: Request, plan: Plan, cube: Cube, rows: Sequence[CellMeasure]) -> None:
        self.request, self.plan, self.cube, self.rows = request, plan, cube, rows
        self.people: Floats = cube.n.astype(np.float64)
        self.mass: Floats = self.people if cube.w is None else cube.w
        self.squares: Floats = self.people if cube.w2 is None else cube.w2
        self.strata = self.judged(cube)
        self.verdict = self.decide(self.strata)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that are compared."""
        taking = [
            group
            for stratum in self.strata
            for group, judged in zip(stratum.table.groups, np.asarray(stratum.judged.everyone.any(axis=0)), strict=True)
            if judged
        ]
        return tuple(dict.fromkeys(taking))

    def of(self, group: Group | None) -> Bools:
        """The pairs of a group, in every stratum; of all groups where it is None or ()."""
        return np.array([not group or own == group for _, own in self.cube.pairs])

    @property
    def lacking(self) -> Bools:
        """The pairs of people without a group."""
        return np.array([None in group and group != self.plan.reference for _, group in self.cube.pairs])

    def share(self, label: int) -> float:
        """The share of decisions, or where there are none of people, that have this label."""
        part = self.mass[:, :, :-1] if self.cube.has_predictions else self.mass
        return float(part[~self.lacking, label].sum() / max(part[~self.lacking].sum(), 1e-300))

    @property
    def unseen(self) -> tuple[Group, ...]:
        """The groups that are compared and in which nobody with one of the decisions has a label."""
        labelled, lost = self.mass[:, :UNLABELLED].sum(axis=1), self.mass[:, UNLABELLED]
        none = ((labelled == 0) & (lost > 0)).any(axis=1)
        found = [group for (_, group), lacks in zip(self.cube.pairs, none.tolist(), strict=True) if lacks]
        return tuple(group for group in dict.fromkeys(found) if group in self.groups)

    @property
    def share_without_group(self) -> float:
        return float(self.mass[self.lacking].sum() / max(self.mass.sum(), 1e-300))

    def judged(self, cube: Cube) -> list[Stratum]:
        return strata_of(self.request, self.plan, self.rows, cube)

    def decide(self, strata: Sequence[Stratum]) -> Verdict:
        two_sided = strata[0].question.two_sided
        return verdict(value_over(strata), self.request.threshold, self.request.judged_on, two_sided=two_sided)

    def decided(self, mass: Floats, squares: Floats, people: Floats | None = None) -> Verdict:
        """The verdict on other counts."""
        counts = self.cube.n if people is None else people
        return self.decide(self.judged(replace(self.cube, n=counts, w=mass, w2=squares)))  # type: ignore[arg-type]


# --- Bounds ----------------------------------------------------------------------------------------------------------


def _with_bounds(case: _Case, found: Sensitivity) -> Sensitivity:
    """The bounds of every rate and of the gap, where labels or groups are missing on which they depend."""
    by_labels, by_groups = _Bounded(case, labels=True), _Bounded(case, labels=False)
    if by_labels.open:
        found = replace(found, by_labels=by_labels.rows(), gap_by_labels=by_labels.gap())
    if by_groups.open:
        found = replace(found, by_groups=by_groups.rows(), gap_by_groups=by_groups.gap())
    return found


class _Part(NamedTuple):
    """Bounds of the values and of the baselines in one stratum, and which groups are sure to be compared whatever is
    missing; [measures, groups] each."""

    low: Floats
    high: Floats
    base_low: Floats
    base_high: Floats
    sure: Bools


class _Bounded:
    """The bounds of each measure of each pair, and of its baseline, over the missing labels or the missing groups."""

    def __init__(self, case: _Case, *, labels: bool) -> None:
        self.case = case
        self.cells = cells = open_cells(case.mass)
        joining = None if labels else without_group(case.cube.pairs, cells)
        self.parts = [self._of(stratum, cells, joining) for stratum in case.strata]

    def _of(self, stratum: Stratum, cells: Floats, joining: Floats | None) -> _Part:
        """Bounds of the values and of the baselines in one stratum."""
        case, plan, labels = self.case, self.case.plan, joining is None
        here = np.array([name == stratum.name or len(case.strata) == 1 for name, _ in case.cube.pairs])
        own, more = cells[here], None if joining is None else joining[here]
        total = own.sum(axis=0)

        def of(parts: Sequence[tuple[Floats, Floats | None]]) -> tuple[Floats, Floats, Bools]:
            every = [
                (*bounds(row, part, joining, total[:8], labels=labels), certain(row, part, total[:8], labels=labels))
                for row, (part, joining) in zip(case.rows, parts, strict=True)
            ]
            lows, highs, sures = zip(*every, strict=True)
            return np.stack(lows), np.stack(highs), np.stack(sures)

        low, high, sure = of([(own, more)] * len(case.rows))
        if plan.between_extremes:
            none = np.full(low.shape, np.nan)
            return _Part(low, high, none, none, sure)
        if plan.against == "reference":
            place = next((i for i, group in enumerate(stratum.table.groups) if group == plan.reference), None)
            base_low = base_high = np.full(low.shape, np.nan)
            base_sure = sure
            if place is not None:
                base_low, base_high, base_sure = low[:, [place]], high[:, [place]], sure[:, [place]]
        else:
            base_low, base_high, base_sure = of([self._others(row, stratum, own, here, joining) for row in case.rows])
        base_low, base_high = np.broadcast_to(base_low, low.shape), np.broadcast_to(base_high, low.shape)
        return _Part(low, high, base_low, base_high, sure & base_sure)

    def _others(
        self, row: CellMeasure, stratum: Stratum, own: Floats, here: Bools, joining: Floats | None
    ) -> tuple[Floats, Floats | None]:
        """Everyone else for each group, or everyone, and who may join them.

        With all labels known these are all people; else they are those of whom the measure is known, as in the finding.
        """
        more = None if joining is None else joining[here]
        lacks = left_out(unknown(row, stratum.table.cube))
        if more is not None and lacks.any():
            cells = self.cells.copy()
            cells[np.flatnonzero(here)[lacks]] = 0.0
            own, more = cells[here], without_group(self.case.cube.pairs, cells)[here]
        total = own.sum(axis=0)
        if self.case.plan.against != "rest":
            return total[None], None
        return total - own if more is None else total - own - more, more

    @property
    def open(self) -> bool:
        """Does anything depend on what is missing?"""
        return any(
            bool(((part.low != part.high) & ~np.isnan(part.low))[stratum.judged.everyone].any())
            for part, stratum in zip(self.parts, self.case.strata, strict=True)
        )

    def rows(self) -> tuple[Row, ...]:
        """Each rate of each group that is compared, between its bounds."""
        return tuple(
            Row(
                row.name,
                group,
                stratum.name,
                n=int(stratum.table.support[i, j]),
                estimate=_estimate(stratum, part, i, j),
            )
            for stratum, part in zip(self.case.strata, self.parts, strict=True)
            for i, row in enumerate(self.case.rows)
            for j, group in enumerate(stratum.table.groups)
            if stratum.judged.everyone[i, j]
        )

    def gap(self) -> Estimate:
        """The size of the gap between its bounds, in the stratum where each is farthest."""
        every = [_gap(stratum, part) for stratum, part in zip(self.case.strata, self.parts, strict=True)]
        known = np.array([part for part in every if not math.isnan(part[1])])
        if not len(known):
            return Estimate(math.nan)
        farthest = np.fmin if self.case.request.judged_on == "ratio" else np.fmax
        value, low, high = (float(end) for end in farthest.reduce(known, axis=0))
        return Estimate(value, low, high)


def _estimate(stratum: Stratum, part: _Part, i: int, j: int) -> Estimate:
    low, high = float(part.low[i, j]), float(part.high[i, j])
    value = float(stratum.table.values[i, j])
    return Estimate(value, None if math.isnan(low) else low, None if math.isnan(high) else high)


def _gap(stratum: Stratum, part: _Part) -> tuple[float, float, float]:
    """The size of the gap as it is, at least and at most; each group and its baseline at the ends that are worst.

    Both ends need not be possible at once, so that the bounds may be wider than need be. Who may have no value with all
    labels known either is then not compared: the end nearer to no gap is that among those who have one in any case.
    """
    low, high, base_low, base_high, sure = part
    table, ratio = stratum.table, stratum.request.judged_on == "ratio"
    usable = stratum.judged.everyone & ~np.isnan(low) & ~np.isnan(high)
    if table.base is None:
        every = []
        for i, row in enumerate(table.values):
            far, near = (gap_bounds(low[i], high[i], takes)[ratio] for takes in (usable[i], usable[i] & sure[i]))
            ends = (far[0], 1.0 if math.isnan(near[1]) else near[1]) if ratio else (np.nan_to_num(near[0]), far[1])
            value = gap_bounds(row, row, usable[i])[ratio][0]
            every.append((value, *((np.nan, np.nan) if math.isnan(far[0]) else ends)))
        return _together(np.array(every), stratum)
    usable = usable & ~np.isnan(base_low) & ~np.isnan(base_high)
    if stratum.plan.reference is not None:  # the reference is not compared with itself
        usable = usable & np.array([group != stratum.plan.reference for group in table.groups])
    with np.errstate(divide="ignore", invalid="ignore"):
        if ratio:
            sides = table.values / table.base, low / base_high, high / base_low
        else:
            sides = table.values - table.base, low - base_high, high - base_low
    return _against(sides, usable, usable & sure, stratum)


def _together(every: Floats, stratum: Stratum) -> tuple[float, float, float]:
    """One gap of those of several measures, [measures, (value, low, high)]: the worst, or the mean."""
    known = every[~np.isnan(every[:, 1])]
    if not len(known):
        return math.nan, math.nan, math.nan
    worst = np.fmin if stratum.request.judged_on == "ratio" else np.fmax
    joined = worst.reduce(known, axis=0) if stratum.request.aggregate == "worst" else known.mean(axis=0)
    return float(joined[0]), float(joined[1]), float(joined[2])


def _against(sides: tuple[Floats, ...], usable: Bools, sure: Bools, stratum: Stratum) -> tuple[float, float, float]:
    """The gap of the group that lies farthest from its baseline; sizes, so that signs do not count.

    Of a group that is not `sure` to be compared, the end nearer to no gap is no gap.
    """
    request = stratum.request
    if request.aggregate == "mean":
        sides = tuple(side.mean(axis=0, keepdims=True) for side in sides)
        usable, sure = (np.asarray(part.all(axis=0, keepdims=True)) for part in (usable, sure))
    value, low, high = (np.where(usable, side, np.nan) for side in sides)
    if not usable.any():
        return math.nan, math.nan, math.nan
    if request.judged_on == "ratio" and not stratum.question.two_sided:
        every = value, low, np.where(sure | ~usable, np.minimum(high, 1.0), 1.0)
        farthest = np.fmin.reduce
    elif request.judged_on == "ratio":
        across = (low <= 1) & (high >= 1)
        every = (
            folded(value),
            np.minimum(folded(low), folded(high)),
            np.where(across | (usable & ~sure), 1.0, np.maximum(folded(low), folded(high))),
        )
        farthest = np.fmin.reduce
    else:
        nearer = np.where(sure | ~usable, np.maximum(0, np.maximum(low, -high)), 0.0)
        every = np.abs(value), nearer, np.maximum(np.abs(low), np.abs(high))
        farthest = np.fmax.reduce
    if request.aggregate == "mean_abs":
        every = tuple(part.mean(axis=0, keepdims=True) for part in every)
    found = [float(farthest(part, axis=None)) for part in every]
    return found[0], found[1], found[2]


# --- Tipping points --------------------------------------------------------------------------------------------------


def _least(turn: Callable[[Group, float], float | None], groups: Sequence[Group]) -> tuple[float | None, Group]:
    """The least amount at which the verdict turns, of all groups, and the group; None and () where it never does."""
    best: float = math.inf
    at: Group = ()
    for group in groups:
        amount = turn(group, best)
        if amount is not None and amount < best:
            best, at = amount, group
    return (None, ()) if math.isinf(best) else (best, at)


def first_turn(
    same: Callable[[float], bool], start: float, steps: Sequence[float], precision: float = 2e-7
) -> float | None:
    """The least amount from `start` at which `same` is no longer true, to this share of it; None where it stays true.

    It is looked for at `steps`, so that a verdict that turns and turns back between two of them is not seen.
    """
    if not same(start):
        return start
    last = start
    for step in steps:
        if not same(step):
            low, high = last, step
            while high - low > precision * max(high, 1e-3):
                middle = (low + high) / 2
                low, high = (middle, high) if same(middle) else (low, middle)
            return high
        last = step
    return None


def _turn_of_odds(case: _Case, group: Group | None, best: float) -> float | None:
    """The least odds ratio, above 1 or below it, at which the verdict turns, if it is less than `best`."""
    pairs = case.of(group)

    def same(odds: float, sign: int) -> bool:
        return case.decided(*tilted(case.mass, case.squares, np.where(pairs, odds**sign, 1.0))) == case.verdict

    steps = [step for step in _ODDS if step < best] + ([best] if best < MOST_ODDS else [])
    found = [first_turn(lambda odds, sign=sign: same(odds, sign), 1.0, steps) for sign in (1, -1)]  # type: ignore[misc]
    return min((turn for turn in found if turn is not None), default=None)


def tilted(mass: Floats, squares: Floats, odds: Floats) -> tuple[Floats, Floats]:
    """Weights, and their squares, with the labelled people of each decision in the place of the unlabelled ones too.

    Those have a positive label with `odds` [pairs] times the odds of the labelled. Where a decision has no label at
    all, its people stay out.
    """
    mass, squares = mass.copy(), squares.copy()
    positive, negative, lost = mass[:, POSITIVE], mass[:, NEGATIVE], mass[:, UNLABELLED]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = odds[:, None] * positive / (negative + odds[:, None] * positive)
        for label, known, part in ((POSITIVE, positive, share), (NEGATIVE, negative, 1 - share)):
            factor = np.where(known > 0, 1 + np.where(np.isnan(part), 0.0, lost * part) / known, 1.0)
            squares[:, label] = squares[:, label] * factor**2
            mass[:, label] = known * factor
    seen = (positive + negative) > 0
    for part in (mass, squares):
        part[:, UNLABELLED] = np.where(seen, 0.0, part[:, UNLABELLED])
    return mass, squares


def _turn_of_share(case: _Case, group: Group, best: float) -> float | None:
    """The least share of the people without a group, taken evenly, who make another verdict in this group."""
    moves = np.zeros((len(case.people), len(case.people)))
    for i, (stratum, own) in enumerate(case.cube.pairs):
        if own != group:
            continue
        for j in np.flatnonzero(case.lacking).tolist():
            other, values = case.cube.pairs[j]
            fits = all(value is None or value == mine for value, mine in zip(values, own, strict=True))
            moves[i, j] = other == stratum and fits
    gone = moves.sum(axis=0)

    def same(share: float) -> bool:
        moved = [
            part + share * (np.tensordot(moves, part, axes=1) - gone[:, None, None] * part)
            for part in (case.mass, case.squares, case.people)
        ]
        return case.decided(*moved) == case.verdict

    if not moves.any():
        return None
    return first_turn(same, 0.0, [step for step in _SHARES if step < best] + ([best] if best < 1 else []))


def _label_error(case: _Case, group: Group) -> LabelError:
    """How many labels of a group, or of all groups, may be wrong before the verdict turns."""
    pairs, counts = case.of(group), (case.mass, case.squares, case.people)

    def turn(negative: float, positive: float) -> float | None:
        def same(error: float) -> bool:
            errors = [np.where(pairs, part * error, 0.0) for part in (negative, positive)]
            return case.decided(*(mislabelled(part, *errors) for part in counts)) == case.verdict

        return first_turn(same, 0.0, _ERRORS, 1e-3)

    return LabelError(group, turn(1, 0), turn(0, 1), turn(1, 1))


def mislabelled(part: Floats, negative: Floats, positive: Floats) -> Floats:
    """Counts [pairs, labels, decisions] with these shares of the negative and of the positive labels turned round."""
    turned = part.copy()
    to_positive, to_negative = part[:, NEGATIVE] * negative[:, None], part[:, POSITIVE] * positive[:, None]
    turned[:, NEGATIVE] += to_negative - to_positive
    turned[:, POSITIVE] += to_positive - to_negative
    return turned
