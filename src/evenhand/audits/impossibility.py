"""impossibility(): which criteria can hold together at the observed base rates, and which gaps are forced if not.

Two theorems. Chouldechova (2017): in every group FPR = p/(1−p) · (1−PPV)/PPV · (1−FNR), so with different base rates
p not all of PPV, FPR and FNR can be equal. Kleinberg, Mullainathan and Raghavan (2016): a score that is calibrated
in groups with different base rates cannot be balanced in both classes, unless it predicts perfectly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.audits import impossibility_text, least_gaps
from evenhand.audits.impossibility_text import RateTriple, Together
from evenhand.audits.least_gaps import BaseRates
from evenhand.core import records
from evenhand.core.arguments import checked
from evenhand.core.arrays import Floats
from evenhand.core.cards import Carded
from evenhand.core.results import UNDEFINED, Estimate, Group, Panel, spell
from evenhand.core.signs import Printable, escaped, printable
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, join_names, nearest
from evenhand.inference import simultaneous
from evenhand.measures import cells as measures
from evenhand.measures.group_data import POSITIVE, SIDES, BinnedScores, GroupData, silent_sides
from evenhand.sources.documentation import documented
from evenhand.verdicts.policy import Policy

_RATES = ("base_rate", "positive_predictive_value", "false_positive_rate", "false_negative_rate")
_ODDS = measures.measure("base_rate_odds", numerator="FN TP", denominator="TN FP", unit="ratio")
_MOST_LINES = 20  # of the table of groups
_MOST_NAMES = 5  # of groups in one note
_NAME_WIDTH = 32


@dataclass(frozen=True, slots=True)
class GroupRates(Printable):
    """One group: its rates, and what Chouldechova's identity makes of them.

    `implied_fpr` is p/(1−p) · (1−PPV)/PPV · (1−FNR), `residual` the false positive rate less that; `reason` says why
    they are undefined. `fpr_at_pooled` is the false positive rate that the pooled PPV and FNR would take. `left_out`
    says why the group is not compared with the others.
    """

    group: Group
    n: int
    base_rate: float
    ppv: float
    fpr: float
    fnr: float
    implied_fpr: float
    residual: float
    fpr_at_pooled: float = math.nan
    reason: str | None = None
    left_out: str | None = None


@documented
@dataclass(frozen=True, repr=False)
class Impossibility(Carded):
    """What the base rates of these groups allow, and what they force.

    `implied_gap` is the gap in false positive rates with the pooled PPV and FNR in every group. `smallest_epsilon` is
    the least ε within which the gaps in PPV, FPR and FNR can all be held, with the pooled true and false positive
    rates as they are. `negative_class_gap` is that of a calibrated score with the pooled mean score of the positive
    class in every group; None without a probability. `pooled` and `gaps` hold PPV, FPR and FNR: of the compared
    groups together, and as highest − lowest. `degenerate` says why nothing is forced, or nothing can be said.
    """

    attributes: tuple[str, ...]
    groups: tuple[GroupRates, ...]
    pooled: RateTriple
    gaps: RateTriple
    implied_gap: Estimate
    smallest_epsilon: Estimate
    negative_class_gap: Estimate | None
    together: tuple[Together, ...]
    sentences: tuple[str, ...]
    panel: Panel | None
    notes: tuple[str, ...]
    confidence: float
    degenerate: str | None = None

    @property
    def compared(self) -> tuple[GroupRates, ...]:
        """The groups that are named, large enough, and have people of both labels."""
        return tuple(line for line in self.groups if line.left_out is None)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON; undefined is None."""
        return dict(records.write(self))

    def __str__(self) -> str:
        people = sum(line.n for line in self.compared)
        heading = f"{' × '.join(self.attributes)}: {len(self.compared)} groups compared, {people:,} people"
        sections = [heading, _table(self.groups, self.attributes), *self.sentences]
        return printable("\n".join([*sections, *(f"- {note}" for note in self.notes)]))

    def __repr__(self) -> str:
        on = escaped(" × ".join(self.attributes))
        forced = escaped(self.degenerate) if self.degenerate else f"a gap of {self.smallest_epsilon} is forced"
        return printable(f"<Impossibility on {on}: {len(self.compared)} groups compared; {forced}>")


@documented
@checked
def impossibility(
    audit_or_cube: Any,
    *,
    attribute: str | Sequence[str] | None = None,
    groups: Iterable[Any] | None = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
) -> Impossibility:
    """Which fairness criteria can hold together at these base rates, and the gaps that are forced if they cannot.

    Parameters
    ----------
    audit_or_cube
        An Audit, or a Cube with labels and decisions.
    attribute
        The attribute whose groups are compared, where there are several; a list means their intersection.
    groups
        The groups that are compared; by default all.

    Returns
    -------
    Impossibility
        The base rates, what they force, and sentences that say so.

    >>> from evenhand.datasets import compas
    >>> cube = Cube.count(compas(), label="recidivated", score="decile", cutoff=5, count="count", sensitive="race")
    >>> found = impossibility(cube, groups=["African-American", "Caucasian"])
    >>> round(found.implied_gap.value, 3), round(found.smallest_epsilon.value, 3)
    (0.165, 0.057)
    """
    cube = audit_or_cube if isinstance(audit_or_cube, Cube) else getattr(audit_or_cube, "cube", None)
    if not isinstance(cube, Cube):
        raise CallError(f"impossibility() takes an audit or a cube, not {type(audit_or_cube).__name__}.")
    _check_roles(cube)
    if cube is not audit_or_cube:
        cube = audit_or_cube.counts(_attributes(audit_or_cube.meaning.sensitive, attribute))
    policy = getattr(audit_or_cube, "policy", None) or Policy()
    policy = policy.updated(min_group_size=min_group_size, confidence=confidence)
    part = cube.marginal(_attributes(cube.meaning.sensitive, attribute), control=False)
    return _Computation(part, _places(part, groups), policy, strata=bool(cube.meaning.control)).result()


MOST_COMPARED = 12
"""Groups that `by_attribute` compares: the time that it takes grows with them."""


def by_attribute(cubes: Sequence[Cube], policy: Policy) -> list[Impossibility]:
    """What the base rates force among the groups of each attribute, the largest groups where there are many.

    Each cube counts one attribute. Attributes with fewer than two groups to compare are left out, and all where the
    cubes lack labels or decisions.
    """
    found = []
    for cube in cubes:
        try:
            _check_roles(cube)
        except CallError:
            return []
        if cube.clustered and cube.clusters is None:  # a file did not keep how much they vary
            return []
        strata = bool(cube.meaning.control)
        part = cube.marginal(control=False)
        found.append(_Computation(part, _places(part, _largest(part)), policy, strata=strata).result())
    return [each for each in found if len(each.compared) > 1]


def _largest(cube: Cube) -> list[str] | None:
    """The groups to compare: None means all; the largest with a name where there are many."""
    if len(cube.pairs) <= MOST_COMPARED:
        return None
    people = cube.n.sum(axis=(1, 2))
    order = sorted(range(len(cube.pairs)), key=lambda i: -int(people[i]))
    return [value for i in order if (value := cube.pairs[i][1][0]) is not None][:MOST_COMPARED]


class _Computation:
    """The cells of the chosen groups, and everything that is computed from them."""

    def __init__(self, cube: Cube, places: Sequence[int], policy: Policy, strata: bool) -> None:
        self.part, self.places, self.confidence, self.strata = cube, list(places), policy.confidence, strata
        self.names = [cube.pairs[place][1] for place in places]
        self.shown = [spell(name, cube.meaning.sensitive) for name in self.names]
        self.silent = silent_sides(cube.cells[self.places])
        both = np.arange(len(measures.CELLS)) < 4  # people with a label and a decision
        self.cells = cube.cells[self.places] * both
        self.squares = None if cube.squares is None else cube.squares[self.places] * both
        counts = cube.counts[self.places]
        self.people = counts[:, :4].sum(axis=1)
        self.lost = int(counts[:, 4:].sum())
        rates = [measures.find_cell_measure(name) for name in _RATES]
        self.values = measures.evaluate(self.cells, rates, silent=self.silent)
        self.left_out = [self._why_not(i, policy.min_group_size) for i in range(len(self.names))]
        self.used = np.array([why is None for why in self.left_out], dtype=np.bool_)
        self.base = BaseRates.of(self.cells[self.used, :4]) if self.used.any() else None

    def result(self) -> Impossibility:
        base, rates = self.base, [self.values[name][self.used] for name in _RATES]
        if base is None or len(base.odds) < 2:
            return self._alone()
        degenerate = impossibility_text.degenerate(base)
        odds = self._odds_gap()
        implied, epsilon = self._implied(base, odds), self._epsilon(base, odds)
        balance, negative = self._negative_class(base, odds)
        gaps = RateTriple(*(_gap(values) for values in rates[1:]))
        pooled = RateTriple(base.ppv, base.fpr, 1 - base.tpr)
        names = [name for name, used in zip(self.shown, self.used, strict=True) if used]
        facts = impossibility_text.Facts(
            base, names, pooled, gaps, implied, epsilon, balance, negative, odds, self.confidence, degenerate
        )
        return Impossibility(
            attributes=self.part.meaning.sensitive,
            groups=self._lines(least_gaps.implied_rates(base)),
            pooled=pooled,
            gaps=gaps,
            implied_gap=implied,
            smallest_epsilon=epsilon,
            negative_class_gap=negative,
            together=impossibility_text.together(facts),
            sentences=impossibility_text.sentences(facts),
            panel=_panel(base, gaps, epsilon),
            notes=(*self._notes(), *impossibility_text.notes(facts)),
            confidence=self.confidence,
            degenerate=degenerate,
        )

    def _alone(self) -> Impossibility:
        """Fewer than two groups: nothing is forced, and nothing can be compared."""
        named = [name for name, used in zip(self.shown, self.used, strict=True) if used]
        why = f"Only {named[0]} can be compared" if named else "No group can be compared"
        why += ": it takes two groups that are named, large enough and have people of both labels."
        base, nothing = self.base, RateTriple(math.nan, math.nan, math.nan)
        pooled = nothing if base is None else RateTriple(base.ppv, base.fpr, 1 - base.tpr)
        return Impossibility(
            attributes=self.part.meaning.sensitive,
            groups=self._lines(np.full(int(self.used.sum()), np.nan)),
            pooled=pooled,
            gaps=nothing,
            implied_gap=UNDEFINED,
            smallest_epsilon=UNDEFINED,
            negative_class_gap=None,
            together=(),
            sentences=(why,),
            panel=None,
            notes=tuple(self._notes()),
            confidence=self.confidence,
            degenerate=why,
        )

    def _why_not(self, i: int, least: int) -> str | None:
        tn, fp, fn, tp = self.cells[i, :4]
        if None in self.names[i]:
            return "the group is missing"
        for side, lacking in zip(SIDES, self.silent[i], strict=True):
            if lacking:
                return f"nobody who was {side} has a label"
        if self.people[i] < least:
            return f"fewer than {least} people with a label and a decision"
        if fn + tp == 0 or tn + fp == 0:
            return f"no {'positive' if fn + tp == 0 else 'negative'} labels: its base rate is {int(fn + tp > 0)}"
        return None

    def _lines(self, at_pooled: Floats) -> tuple[GroupRates, ...]:
        """A line for each group; `at_pooled` is of the compared ones."""
        pooled = np.full(len(self.names), np.nan)
        pooled[self.used] = at_pooled
        return tuple(self._line(i, float(pooled[i])) for i in range(len(self.names)))

    def _line(self, i: int, at_pooled: float) -> GroupRates:
        p, ppv, fpr, fnr = (float(self.values[rate][i]) for rate in _RATES)
        implied, reason = _identity(p, ppv, fpr, fnr, who=self.shown[i])
        return GroupRates(
            self.names[i],
            int(self.people[i]),
            p,
            ppv,
            fpr,
            fnr,
            implied,
            fpr - implied,
            at_pooled,
            reason,
            self.left_out[i],
        )

    def _odds_gap(self) -> tuple[float, float]:
        """The interval of the highest less the lowest odds of the base rates."""
        odds = measures.spread(_ODDS, self.cells, self.squares)
        if self.part.clustered:
            every = measures.spread_of_cells(_ODDS, GroupData.of(self.part).cells)
            odds = None if every is None else every.scaled(1.0, self.places)
        assert odds is not None  # noqa: S101 - it is a function of a proportion
        return simultaneous.between_extremes([odds], self.used[None, :], self.confidence).difference

    def _implied(self, base: BaseRates, odds: tuple[float, float]) -> Estimate:
        rates = least_gaps.implied_rates(base)
        if not rates.max() <= 1:  # or NaN
            return UNDEFINED
        factor = (1 - base.ppv) / base.ppv * base.tpr
        return Estimate(float(np.ptp(rates)), min(factor * odds[0], 1.0), min(factor * odds[1], 1.0))

    def _epsilon(self, base: BaseRates, odds: tuple[float, float]) -> Estimate:
        if math.isnan(base.ppv):
            return UNDEFINED
        value = least_gaps.smallest_gap(base)
        if base.free:
            return Estimate(value)
        low, high = (
            least_gaps.smallest_gap(base.stretched(end), proof=least_gaps.ROUGH) if end > 0 else 0.0 for end in odds
        )
        return Estimate(value, min(low, value), max(high, value))

    def _negative_class(self, base: BaseRates, odds: tuple[float, float]) -> tuple[float, Estimate | None]:
        """The mean score of the positives, and the gap it forces among the negatives of a calibrated score."""
        scores = self.part.scores
        if scores is None or scores.counts_only or not scores.bins.is_probability:
            return math.nan, None
        binned, chosen = BinnedScores.from_table(scores, len(self.part.pairs)), np.array(self.places)[self.used]
        mass, total = (part[chosen, POSITIVE].sum() for part in (binned.mass, binned.first))
        balance = float(total / mass) if mass > 0 else math.nan
        if not balance >= float((base.odds / (1 + base.odds)).max()):
            return balance, UNDEFINED
        ends = ((1 - balance) * end for end in odds)
        return balance, Estimate((1 - balance) * float(np.ptp(base.odds)), *ends)

    def _notes(self) -> list[str]:
        notes = []
        for why in dict.fromkeys(why for why in self.left_out if why is not None):
            who = [name for name, other in zip(self.shown, self.left_out, strict=True) if other == why]
            notes.append(f"Not compared ({why}): {join_names(who, _MOST_NAMES)}.")
        if self.lost:
            notes.append(f"{self.lost:,} people without a label or a decision are not counted here.")
        if self.strata:
            notes.append("Over all strata together.")
        if self.part.scores is not None and not self.part.scores.bins.is_probability:
            notes.append("The score is not a probability, so nothing is said about calibrated scores.")
        return notes


def _identity(p: float, ppv: float, fpr: float, fnr: float, *, who: str) -> tuple[float, str | None]:
    """The FPR by Chouldechova's identity, or why it says nothing."""
    for value, name in ((ppv, "positive_predictive_value"), (fpr, "false_positive_rate"), (fnr, "false_negative_rate")):
        if math.isnan(value):
            return math.nan, measures.find_cell_measure(name).reason(who)
    if ppv == 0:
        return math.nan, f"no true positives among {who}: the PPV is 0, and the identity divides by it"
    return p / (1 - p) * (1 - ppv) / ppv * (1 - fnr), None


def _check_roles(cube: Cube) -> None:
    if cube.meaning.task != "binary":
        raise CallError(f"these theorems are of yes-or-no decisions; this cube is of task {cube.meaning.task!r}.")
    if not cube.has_labels:
        raise CallError("impossibility() needs labels, because base rates come from them: count the data with label=.")
    if not cube.has_predictions:
        raise CallError("impossibility() needs decisions: count the data with prediction=, or with score= and cutoff=.")


def _attributes(names: tuple[str, ...], attribute: str | Sequence[str] | None) -> tuple[str, ...]:
    if attribute is None:
        if len(names) > 1:
            each = ", ".join(repr(name) for name in names)
            raise CallError(f"attribute= must say which one is meant, or a list for their intersection: {each}.")
        return names
    return (attribute,) if isinstance(attribute, str) else tuple(attribute)


def _places(cube: Cube, groups: Iterable[Any] | None) -> list[int]:
    """The positions of these groups among the pairs of the cube; of all where `groups` is None."""
    known = [group for _, group in cube.pairs]
    if groups is None:
        return list(range(len(known)))
    wanted = set()
    for value in groups:
        group = cube.find_group(value)
        if group is None:
            raise CallError(f"{value!r} is not a group; {nearest(str(value), [spell(each) for each in known])}")
        wanted.add(group)
    return [i for i, group in enumerate(known) if group in wanted]


def _gap(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(np.ptp(defined)) if len(defined) > 1 else math.nan


def _panel(base: BaseRates, gaps: RateTriple, epsilon: Estimate) -> Panel | None:
    """The curve of the least possible gaps, with the point of equal gaps and the observed gaps."""
    if not epsilon.defined:
        return None
    rows: list[tuple[object, ...]] = [("least possible", *point) for point in least_gaps.frontier(base)]
    rows.append(("least for all three", epsilon.value, epsilon.value))
    rows.append(("observed", gaps.ppv, max(gaps.fpr, gaps.fnr)))
    columns = ("series", "gap in PPV", "larger gap of FPR and FNR")
    return Panel("curve", "What can be held together at these base rates", columns, tuple(rows))


def _table(lines: Sequence[GroupRates], attributes: Sequence[str]) -> str:
    """The groups as a table of plain text."""
    titles = ("group", "people", "base rate", "PPV", "FPR", "FNR", "FPR by the identity")
    rows: list[tuple[str, ...]] = [titles]
    for line in lines[:_MOST_LINES]:
        name = spell(line.group, attributes)
        name = name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "…"
        rates = (line.base_rate, line.ppv, line.fpr, line.fnr, line.implied_fpr)
        rows.append((name, f"{line.n:,}", *(impossibility_text.percent(rate) for rate in rates)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(titles))]
    text = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]
    return "\n".join(text + [f"{len(lines) - _MOST_LINES} more groups"] * (len(lines) > _MOST_LINES))
