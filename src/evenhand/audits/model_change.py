"""What changed for people from the first model to another: measures of groups, decisions that flipped, the AUC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from evenhand.audits.audit import Audit
from evenhand.audits.diff import Changes, Tendency
from evenhand.core.results import Estimate, Group, spell
from evenhand.core.signs import Printable, escaped, printable
from evenhand.cube.joint import Joint, ScoredRows
from evenhand.errors import CallError
from evenhand.inference import critical, multiplicity, paired_auc
from evenhand.inference.moves import mcnemar
from evenhand.measures.cells import MEASURES, CellMeasure
from evenhand.measures.paired import can_pair, paired_rates

Outcome = Literal["positive", "negative", "unlabelled"]
_OUTCOMES: tuple[Outcome, ...] = ("negative", "positive", "unlabelled")
_NO_ROWS = "the change of an AUC needs labels, and the scores of all models in memory: counts do not tell it"
_WEIGHTED = "the change of an AUC is not computed of weighted rows"


_RIGHT = (
    *("accuracy", "balanced_accuracy", "f1", "auc", "true_positive_rate", "true_negative_rate"),
    *("positive_predictive_value", "negative_predictive_value"),
)
_WRONG = (*("error_rate", "false_positive_rate", "false_negative_rate", "false_discovery_rate", "false_omission_rate"),)


@dataclass(frozen=True)
class MeasureChange(Printable):
    """One measure of one group, or of everyone (`group` is ()), under the first model and under another.

    `people` is the number that it rests on under both models; `reason` says why there is no value or no interval.
    """

    measure: str
    title: str
    attributes: tuple[str, ...]
    group: Group
    people: int
    before: float
    after: float
    change: Estimate
    reason: str | None = None

    @property
    def tendency(self) -> Tendency:
        """ "better" or "worse" where the interval says so, of measures of right or wrong; others are neither."""
        low, high = self.change.low, self.change.high
        if low is None or high is None or low <= 0 <= high or self.measure not in (*_RIGHT, *_WRONG):
            return "unclear"
        return "better" if (low > 0) == (self.measure in _RIGHT) else "worse"


@dataclass(frozen=True)
class Flips(Printable):
    """How many people of a group only the later model selects (`gained`), and how many only the first (`lost`).

    `label` is None for all of them together. `p_value` is McNemar's, of the same number gained and lost; `p_adjusted`
    that after Holm over the groups of the same attributes. There is none for weighted rows.
    """

    attributes: tuple[str, ...]
    group: Group
    label: Outcome | None
    people: int
    gained: int
    lost: int
    p_value: float | None = None
    p_adjusted: float | None = None
    tested: str | None = None


@dataclass(frozen=True, repr=False)
class ModelChange(Printable):
    """One model against the first: gaps, measures, people whose decision changed, and accuracy.

    `gaps` is what `evenhand.diff` says of the two audits. `accuracy` is that of everyone; None without labels. `auc`
    holds the change of the AUC of everyone and of the groups; where there is none, `auc_reason` says why.
    """

    name: str
    gaps: Changes
    measures: tuple[MeasureChange, ...]
    flips: tuple[Flips, ...]
    accuracy: MeasureChange | None
    auc: tuple[MeasureChange, ...] = ()
    auc_reason: str | None = None

    def __repr__(self) -> str:
        moved = "" if self.accuracy is None else f"; accuracy {self.accuracy.change}"
        return printable(f"<ModelChange to {escaped(self.name)}: {self.gaps.verdict}{moved}>")

    def measure(self, name: str, group: Any = ()) -> MeasureChange:
        """The change of one measure of a group, named by its value or values; of everyone without one."""
        wanted = group if isinstance(group, tuple) else (group,)
        wanted = tuple(None if part is None else str(part) for part in wanted)
        for each in (*self.measures, *self.auc):
            if (each.measure, each.group) == (name, wanted):
                return each
        raise CallError(f"there is no change of {name!r} of {spell(wanted)!r}: see .measures for those there are.")


class Pairs:
    """The first model and another on the same people: how measures moved, and whose decision changed."""

    def __init__(self, joint: Joint, audit: Audit) -> None:
        self.joint, self.audit = joint, audit
        self.confidence = audit.policy.confidence
        present = {"prediction", *(("label",) if audit.cube.has_labels else ())}
        self.rows = [
            row for row in MEASURES.values() if can_pair(row) and "prediction" in row.needs and row.needs <= present
        ]

    @property
    def sets(self) -> list[tuple[str, ...]]:
        """Everyone together, then the sets of attributes that are audited."""
        return [(), *self.audit.attribute_sets()]

    @cached_property
    def measures(self) -> tuple[MeasureChange, ...]:
        """Every measure of every group, with intervals that hold for all groups of a set of attributes together."""
        return tuple(each for names in self.sets for each in self._measures(names))

    @property
    def accuracy(self) -> MeasureChange | None:
        """That of everyone."""
        return next((each for each in self.measures if each.measure == "accuracy" and not each.group), None)

    def _measures(self, names: tuple[str, ...]) -> list[MeasureChange]:
        joint = self.joint.marginal(names)
        rates = paired_rates(self.rows, joint)
        deviate = critical.sidak(len(joint.groups), self.confidence)
        measures, groups = (part.reshape(-1) for part in np.indices(rates.before.shape))
        down, up = (part.reshape(rates.before.shape) for part in rates.reach(measures, groups, deviate))
        found = []
        for i, row in enumerate(self.rows):
            for g, group in enumerate(joint.groups):
                values = float(rates.before[i, g]), float(rates.after[i, g])
                change = values[1] - values[0]
                ends = (change - float(down[i, g]), change + float(up[i, g])) if not joint.same else (0.0, 0.0)
                people = _people(row, joint, g)
                reason = None if math.isfinite(change) else row.reason(spell(group, names) if group else "everyone")
                estimate = Estimate.of(change, *ends) if reason is None else Estimate(math.nan)
                found.append(MeasureChange(row.name, row.title, names, group, people, *values, estimate, reason))
        return found

    @cached_property
    def flips(self) -> tuple[Flips, ...]:
        """Whose decision changed, of every group: all of them, then by label."""
        return tuple(each for names in self.sets for each in self._flips(names))

    def _flips(self, names: tuple[str, ...]) -> list[Flips]:
        joint = self.joint.marginal(names)
        labels: list[Outcome | None] = [None]
        if self.audit.cube.has_labels:
            labels += [label for i, label in enumerate(_OUTCOMES) if i < 2 or joint.n[:, i].any()]
        found = []
        for label in labels:
            cells = joint.n.sum(axis=1) if label is None else joint.n[:, _OUTCOMES.index(label)]
            tests = [mcnemar(int(one[0, 1]), int(one[1, 0])) for one in cells]
            weighted = joint.w is not None
            adjusted = multiplicity.holm([test.p_value for test in tests])
            found += [
                Flips(
                    names,
                    group,
                    label,
                    int(cells[g].sum()),
                    int(cells[g, 0, 1]),
                    int(cells[g, 1, 0]),
                    None if weighted else tests[g].p_value,
                    None if weighted else float(adjusted[g]),
                    None if weighted else tests[g].name,
                )
                for g, group in enumerate(joint.groups)
            ]
        return found


def _people(row: CellMeasure, joint: Joint, g: int) -> int:
    """The people that a measure of a group rests on under both models, the fewer of the two."""
    parts = [MEASURES[name] for name in row.of] or [row]
    used = [part.coefficients[1][:6].reshape(3, 2) > 0 for part in parts]
    return min(int((joint.n[g].sum(axis=axis) * cells).sum()) for axis in (1, 2) for cells in used)


def change_of_auc(
    pair: Pairs, rows: ScoredRows | None, model: int, *, scored: bool
) -> tuple[tuple[MeasureChange, ...], str | None]:
    """The change of the AUC of everyone and of the groups; or why there is none, unless there are no scores at all."""
    if rows is None or not scored:
        return (), None if not scored else _WEIGHTED if pair.joint.w is not None else _NO_ROWS
    known = np.isfinite(rows.label) & np.isfinite(rows.scores[0]) & np.isfinite(rows.scores[model])
    label, before, after = rows.label[known] == 1, rows.scores[0][known], rows.scores[model][known]
    same = rows.scores[0] is rows.scores[model] or pair.joint.same
    found = []
    for names in pair.sets:
        places = [pair.joint.sensitive.index(name) for name in names]
        kept = [tuple(group[place] for place in places) for group in rows.groups]
        groups = pair.joint.marginal(names).groups
        deviate = critical.sidak(len(groups), pair.confidence)
        for group in groups:
            inside = np.array([each == group for each in kept], dtype=np.bool_)[rows.codes[known]]
            old, new, low, high = paired_auc.change(label[inside], before[inside], after[inside], deviate)
            ends = (0.0, 0.0) if same else (low, high)
            reason = None if math.isfinite(new) else f"no people of both labels among {spell(group, names)}"
            people, estimate = int(inside.sum()), Estimate.of(new - old, *ends)
            found.append(MeasureChange("auc", "AUC", names, group, people, old, new, estimate, reason))
    return tuple(found), None
