"""Judging: Policy, verdicts, and `finding`, the only maker of Findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand import comparison, wording
from evenhand.catalogue import Metric, find
from evenhand.comparison import Gap, Plan
from evenhand.cube import Cube
from evenhand.errors import CallError, DataError, nearest
from evenhand.findings import Estimate, Finding, Group, JudgedOn, Row, Verdict, spell
from evenhand.indices import INDICES, OPTIONS
from evenhand.measures import Measure, RowMeasure, evaluate, reason, support

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TOLERANCE = 1e-9
MIN_GROUP_SIZE = 30
WORTH_A_WORD = 0.05  # above this share of missing groups every pass is qualified


@dataclass(frozen=True)
class Policy:
    """What an audit is judged by.

    `required` names the metrics that decide; None leaves the choice to the data: equalized odds where there are
    labels, demographic parity where there are none, base-rate parity where there is only a label. `thresholds`
    replaces those of the catalogue. Groups below `min_group_size` are shown; no pass rests on them.
    """

    required: tuple[str, ...] | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    min_group_size: int = MIN_GROUP_SIZE

    def __post_init__(self) -> None:
        for name in (*(self.required or ()), *self.thresholds):
            find(name)
        if not isinstance(self.min_group_size, int) or self.min_group_size < 1:
            raise CallError(f"min_group_size={self.min_group_size!r} must be a whole number of at least 1.")

    def required_for(self, cube: Cube) -> tuple[str, ...]:
        if self.required is not None:
            return tuple(find(name)[0].name for name in self.required)
        if not cube.has_predictions:
            return ("base_rate_parity",)
        return ("equalized_odds",) if cube.has_labels else ("demographic_parity",)


@dataclass(frozen=True)
class Request:
    """One metric as it is asked for: the entry with everything a caller may set."""

    metric: Metric
    judged_on: JudgedOn
    threshold: float | None
    aggregate: str
    reference: Any = None
    convention: str | None = None
    min_group_size: int = MIN_GROUP_SIZE
    options: Mapping[str, float] = field(default_factory=dict)


def request(
    name: str | Metric,
    *,
    policy: Policy | None = None,
    threshold: float | None = None,
    reference: Any = None,
    convention: str | None = None,
    judged_on: JudgedOn | None = None,
    aggregate: str | None = None,
    min_group_size: int | None = None,
    **options: Any,
) -> Request:
    """Settle what is asked: the argument beats the policy, the policy beats the alias, the alias the catalogue."""
    metric, presets = find(name)
    policy = policy or Policy()
    chosen: Any = judged_on or presets.get("judged_on") or metric.judged_on
    if chosen not in ("difference", "ratio", "value") or (chosen == "value") != (metric.judged_on == "value"):
        raise CallError(
            f"judged_on={judged_on!r} does not fit {metric.name}; it takes 'difference' or 'ratio'."
            if metric.judged_on != "value"
            else f"{metric.name} is judged on its value only."
        )
    if metric.name == "treatment_equality" and chosen == "difference":
        raise CallError("treatment_equality is judged on its ratio only: the difference of two ratios has no scale.")
    default = metric.threshold if chosen == metric.judged_on else {"difference": 0.1, "ratio": 0.8}[chosen]
    limit: Any = presets.get("threshold", default)
    limit = policy.thresholds.get(metric.name, limit)
    limit = limit if threshold is None else threshold
    _check_threshold(limit, chosen)
    combined: Any = aggregate or presets.get("aggregate") or metric.aggregate
    if combined not in ("worst", "mean", "mean_abs"):
        raise CallError(f"aggregate={aggregate!r} must be 'worst', 'mean' or 'mean_abs'.")
    allowed = OPTIONS.get(metric.index or "", {})
    for option in options:
        if option not in allowed:
            raise CallError(f"{metric.name}() takes no argument {option!r}; {nearest(option, allowed)}")
    size = policy.min_group_size if min_group_size is None else Policy(min_group_size=min_group_size).min_group_size
    return Request(metric, chosen, limit, combined, reference, convention, size, {**allowed, **options})


def _check_threshold(threshold: Any, judged_on: str) -> None:
    if threshold is None:
        return
    if not isinstance(threshold, (int, float)) or not math.isfinite(threshold) or threshold < 0:
        raise CallError(f"threshold={threshold!r} must be a number of at least 0.")
    if judged_on == "ratio" and threshold > 1:
        raise CallError(f"threshold={threshold!r} on a ratio is at most 1, such as 0.8 for four fifths.")


def finding(asked: Request, cube: Cube) -> Finding:
    """Evaluate one metric on the groups of a cube."""
    _check_roles(asked.metric, cube)
    _check_groups(cube)
    if asked.metric.index is not None:
        return _index_finding(asked, cube)
    convention = comparison.find_convention(asked.convention)
    sizes = dict.fromkeys(cube.groups, 0)
    for (_, group), people in zip(cube.pairs, cube.n.sum(axis=(1, 2)), strict=True):
        sizes[group] += int(people)
    plan = comparison.plan(asked.reference, cube.meaning.sensitive, cube.groups, sizes, convention)
    if convention.pool and plan.reference is not None:
        cube = cube.pool(plan.reference)
    parts = [_Part(asked, plan, stratum, cube.stratum(stratum)) for stratum in cube.strata]
    return _conclude(asked, plan, cube, parts)


def row_finding(asked: Request, cube: Cube, values: Mapping[str, Floats]) -> Finding:
    """A finding for measures that were computed from the rows: `values[measure]` holds one for each group."""
    _check_groups(cube)
    convention = comparison.find_convention(asked.convention)
    sizes = {group: int(n) for (_, group), n in zip(cube.pairs, cube.n.sum(axis=(1, 2)), strict=True)}
    plan = comparison.plan(asked.reference, cube.meaning.sensitive, cube.groups, sizes, convention)
    if plan.against in ("rest", "overall") or convention.pool:
        raise CallError("a measure made of a function is compared between extremes or with a reference group.")
    return _conclude(asked, plan, cube, [_Part(asked, plan, (), cube, values)])


class _Part:
    """One stratum: the values of all groups, what they are compared with, and the gap."""

    def __init__(
        self, asked: Request, plan: Plan, stratum: Group, cube: Cube, values: Mapping[str, Floats] | None = None
    ) -> None:
        self.asked, self.plan, self.stratum = asked, plan, stratum
        self.measures = asked.metric.rows
        self.groups = [group for _, group in cube.pairs]
        counts, cells = cube.counts, cube.cells
        if values is None:
            values = evaluate(cells, self.measures)  # type: ignore[arg-type]
            self.support = np.stack([support(counts, row) for row in self.measures])  # type: ignore[arg-type]
            self.base = comparison.baselines(cells, self.measures, plan, self.groups)  # type: ignore[arg-type]
        else:
            self.support = np.stack([counts.sum(axis=1) for _ in self.measures])
            self.base = self._reference_values(values)
        self.values = np.stack([values[row.name] for row in self.measures])
        self.judged = np.array([None not in group for group in self.groups])
        if plan.reference in self.groups:
            self.judged[self.groups.index(plan.reference)] |= self.base is not None
        self.gap = self._gap(np.broadcast_to(self.judged, self.values.shape))
        large = self.support >= asked.min_group_size
        self.small = [group for i, group in enumerate(self.groups) if self.judged[i] and not large[:, i].all()]
        reference_large = plan.reference is None or plan.reference not in self.small
        self.large_gap = self._gap(self.judged & large) if reference_large else Gap()

    def _reference_values(self, values: Mapping[str, Floats]) -> Floats | None:
        if self.plan.against == "extremes" or self.plan.reference not in self.groups:
            return None
        place = self.groups.index(self.plan.reference)
        base = np.stack([np.full(len(self.groups), values[row.name][place]) for row in self.measures])
        base[:, place] = np.nan
        return base

    def _gap(self, usable: Bools) -> Gap:
        return comparison.gap(
            self.values,
            self.base,
            usable,
            aggregate=self.asked.aggregate,
            judged_on=self.asked.judged_on,
            one_sided=self.one_sided,
            fold=self.plan.fold,
        )

    @property
    def one_sided(self) -> bool:
        return self.asked.metric.one_sided and self.asked.judged_on == "ratio"

    def passes(self, gap: Gap) -> bool | None:
        return within(gap, self.asked, two_sided=self.base is not None and not self.one_sided)

    def reasons(self) -> list[str]:
        return [
            self._reason(row, group)
            for i, row in enumerate(self.measures)
            for j, group in enumerate(self.groups)
            if math.isnan(self.values[i, j])
        ]

    def _reason(self, row: Measure | RowMeasure, group: Group) -> str:
        if isinstance(row, RowMeasure):
            return f"{row.title} gave no number for {spell(group)}"
        return reason(row, spell(group))

    def rows(self) -> list[Row]:
        rows = []
        for i, row in enumerate(self.measures):
            for j, group in enumerate(self.groups):
                value = float(self.values[i, j])
                difference = quotient = None
                compared = self.base is not None and group != self.plan.reference
                if compared and self.base is not None:
                    difference = Estimate(value - float(self.base[i, j]))
                    quotient = Estimate(float(comparison.ratio(value, self.base[i, j])))
                rows.append(
                    Row(
                        row.name,
                        group,
                        self.stratum,
                        against=self.plan.name if compared else None,
                        n=int(self.support[i, j]),
                        estimate=Estimate(value),
                        difference=difference,
                        ratio=quotient,
                        reason=self._reason(row, group) if math.isnan(value) else None,
                    )
                )
        return rows + self._gap_rows()

    def _gap_rows(self) -> list[Row]:
        """How far apart the groups are in each measure, where that is not what the finding itself says."""
        rows = []
        if self.base is None and len(self.measures) > 1:
            for i, row in enumerate(self.measures):
                one = comparison.gap(self.values[i : i + 1], None, np.broadcast_to(self.judged, (1, len(self.judged))))
                rows.append(self.gap_row(row.name, one))
        if self.stratum:
            rows.append(self.gap_row(self.asked.metric.name, self.gap))
        return rows

    def gap_row(self, name: str, gap: Gap) -> Row:
        high = self.groups[gap.high] if gap.high is not None else ()
        low = spell(self.groups[gap.low]) if gap.low is not None else self.plan.name
        return Row(
            name, high, self.stratum, against=low, difference=Estimate(gap.difference), ratio=Estimate(gap.ratio)
        )

    def sentence(self, passes: bool | None) -> str:
        gap, asked, row = self.gap, self.asked, self.measures[self.gap.measure or 0]
        value = gap.ratio if asked.judged_on == "ratio" else gap.difference
        if math.isnan(value):
            return wording.undefined(self.measures, self.reasons(), asked.judged_on)
        ending = wording.bound(asked.threshold, passes, asked.judged_on, row.unit)
        several = len(self.measures) > 1
        if gap.measure is None:
            who = self.plan.name or spell(self.groups[gap.low]) if gap.low is not None else self.plan.name
            pair = f"{spell(self.groups[gap.high or 0])} and {who}"
            return wording.average(self.measures, abs(value), pair, asked.judged_on, ending)
        top = self.groups[gap.high or 0], float(self.values[gap.measure, gap.high or 0])
        if gap.low is not None:
            low = self.groups[gap.low], float(self.values[gap.measure, gap.low])
            return wording.between(row, several, top, low, asked.judged_on, ending)
        base = self.plan.name or "", float(self.base[gap.measure, gap.high or 0]) if self.base is not None else math.nan
        return wording.against(row, several, top, base, asked.judged_on, ending)


def within(gap: Gap, asked: Request, two_sided: bool) -> bool | None:
    """Is the estimate within the threshold? None where either is missing."""
    value = gap.ratio if asked.judged_on == "ratio" else gap.difference
    if asked.threshold is None or math.isnan(value):
        return None
    if asked.judged_on == "ratio":
        near = float(comparison.folded(value)) if two_sided else value
        return near >= asked.threshold - TOLERANCE
    return abs(value) <= asked.threshold + TOLERANCE


def _conclude(asked: Request, plan: Plan, cube: Cube, parts: Sequence[_Part]) -> Finding:
    """The finding of all strata together: the worst one speaks."""
    worst = max(parts, key=_severity)
    passes = worst.passes(worst.gap)
    verdict = overall([_verdict(part) for part in parts])
    sentence = worst.sentence(passes)
    if worst.stratum:
        sentence = f"In {spell(worst.stratum)}: {sentence[0].lower()}{sentence[1:]}"
    summary = worst.gap_row(asked.metric.name, worst.gap)
    value = summary.ratio if asked.judged_on == "ratio" else summary.difference
    return Finding(
        asked.metric.name,
        asked.metric.title,
        cube.meaning.sensitive,
        value or Estimate(math.nan),
        asked.judged_on,
        asked.threshold,
        passes,
        verdict,
        sentence,
        summary,
        tuple(row for part in parts for row in part.rows()),
        tuple(_notes(asked, cube, parts)),
        settings=_settings(asked, plan),
    )


def _severity(part: _Part) -> float:
    if part.asked.judged_on == "ratio":
        quotient = part.gap.ratio if part.one_sided else float(comparison.folded(part.gap.ratio))
        return -2.0 if math.isnan(quotient) else -quotient
    return -2.0 if math.isnan(part.gap.difference) else abs(part.gap.difference)


def _verdict(part: _Part) -> Verdict:
    """A fail rests on groups that are large enough; a pass must hold with and without the small ones."""
    if part.asked.threshold is None or part.passes(part.gap) is None:
        return "not judged"
    large = part.passes(part.large_gap)
    if large is False:
        return "fail"
    return "pass" if large and part.passes(part.gap) else "inconclusive"


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Any fail fails, else any doubt leaves it open, else it passes; nothing judged is not judged."""
    order: tuple[Verdict, ...] = ("fail", "inconclusive", "pass")
    return next((verdict for verdict in order if verdict in verdicts), "not judged")


def _notes(asked: Request, cube: Cube, parts: Sequence[_Part]) -> list[str]:
    notes = []
    small = dict.fromkeys(spell(group) for part in parts for group in part.small)
    if small and asked.threshold is not None:
        notes.append(f"Fewer than {asked.min_group_size} rows to measure on: {_names(small)}. No pass rests on them.")
    reasons = dict.fromkeys(reason for part in parts for reason in part.reasons())
    if reasons:
        notes.append(f"Undefined, so not compared: {_names(reasons, '; ')}.")
    missing = int(sum(n for (_, group), n in zip(cube.pairs, cube.n.sum(axis=(1, 2)), strict=True) if None in group))
    if missing:
        share = missing / cube.size
        qualified = " A pass says nothing of them." if share > WORTH_A_WORD else ""
        notes.append(f"{missing:,} rows ({share:.1%}) have no group; they are shown and not judged.{qualified}")
    return notes


def _names(names: Mapping[str, None] | Sequence[str], mark: str = ", ", most: int = 6) -> str:
    shown = list(names)
    return mark.join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def _settings(asked: Request, plan: Plan) -> dict[str, object]:
    return {
        "against": plan.name or "extremes",
        "aggregate": asked.aggregate,
        "convention": asked.convention,
        "min_group_size": asked.min_group_size,
        **asked.options,
    }


def _index_finding(asked: Request, cube: Cube) -> Finding:
    metric = asked.metric
    whole = cube.marginal(control=False)
    index = INDICES[str(metric.index)](whole.cells, **asked.options)
    groups = [group for _, group in whole.pairs]
    people = whole.counts.sum(axis=1)
    rows = [
        Row(
            metric.name,
            group,
            n=int(n),
            estimate=Estimate(float(value)),
            reason="no labelled decision brings any benefit" if math.isnan(value) else None,
        )
        for group, n, value in zip(groups, people, index.by_group, strict=True)
    ]
    rows += [Row(name, (), n=whole.size, estimate=Estimate(value)) for name, value in index.parts]
    passes = None
    if asked.threshold is not None and not math.isnan(index.value):
        passes = index.value <= asked.threshold + TOLERANCE
    ending = wording.bound(asked.threshold, passes, "value", "ratio")
    sentence = (
        f"The {metric.title} is undefined: {index.reason}."
        if index.reason
        else wording.index(metric.title, index.value, index.parts, ending)
    )
    high = groups[index.high] if index.high is not None else ()
    low = spell(groups[index.low]) if index.low is not None else None
    verdict: Verdict = "not judged" if passes is None else "pass" if passes else "fail"
    notes = (f"Rows of this finding: the {index.title}.",)
    return Finding(
        metric.name,
        metric.title,
        cube.meaning.sensitive,
        Estimate(index.value),
        "value",
        asked.threshold,
        passes,
        verdict,
        sentence,
        Row(metric.name, high, against=low),
        tuple(rows),
        notes,
        settings=dict(asked.options),
    )


def _check_roles(metric: Metric, cube: Cube) -> None:
    there = {"label": cube.has_labels, "prediction": cube.has_predictions}
    lacking = sorted(role for role in metric.needs if not there[role])
    if lacking:
        raise CallError(f"{metric.name} needs {' and '.join(role + '=' for role in lacking)}, which was not given.")


def _check_groups(cube: Cube) -> None:
    for i, name in enumerate(cube.meaning.sensitive):
        values = {group[i] for group in cube.groups} - {None}
        if len(values) < 2:
            seen = ", ".join(repr(value) for value in values) or "no value at all"
            raise DataError(f"{name!r} has one group only ({seen}): there is nothing to compare.")
