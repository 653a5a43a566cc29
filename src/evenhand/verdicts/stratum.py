"""Part: one stratum of one metric, with its gap, its bounds, its rows and its sentence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.catalogue.metric import AnyMeasure
from evenhand.core import wording
from evenhand.core.arrays import Floats
from evenhand.core.results import Estimate, Group, Row, Verdict, number_or_none, spell
from evenhand.measures.cells import Measure, RowMeasure, reason
from evenhand.verdicts import comparison, sentences
from evenhand.verdicts.bounds import draws, pairwise, simultaneous
from evenhand.verdicts.bounds.simultaneous import Bounds, Interval, Judged
from evenhand.verdicts.comparison import Gap, Plan
from evenhand.verdicts.policy import Request
from evenhand.verdicts.table import Table
from evenhand.verdicts.verdict import passes, verdict


class Part:
    """A table judged: the gap over all groups, its interval, and which groups are too small for a pass."""

    def __init__(self, asked: Request, plan: Plan, stratum: Group, table: Table) -> None:
        self.asked, self.plan, self.stratum, self.table = asked, plan, stratum, table
        self.one_sided = asked.one_sided and not plan.fold
        named = np.array([None not in group or group == plan.reference for group in table.groups])
        people = table.cube.n.sum(axis=(1, 2))
        rare = named & (people < asked.policy.min_group_share * people.sum())
        rare &= np.array([group != plan.reference for group in table.groups])
        self.rare = [group for group, left_out in zip(table.groups, rare, strict=True) if left_out]
        named &= ~rare
        large = table.support >= asked.policy.min_group_size
        judged = np.array([getattr(row, "judged", True) for row in table.measures])
        self.small = [group for i, group in enumerate(table.groups) if named[i] and not large[judged, i].all()]
        everyone = named & judged[:, None]
        if asked.metric.binned:
            everyone = everyone & (table.support >= asked.options["min_bin"])
        self.judged = Judged(everyone, everyone & large & (plan.reference not in self.small))
        self.gap = comparison.gap(
            table.values,
            table.base,
            everyone,
            aggregate=asked.aggregate,
            judged_on=asked.judged_on,
            one_sided=self.one_sided,
            fold=plan.fold,
        )
        self.bounds: Bounds = self._method().find(asked, plan, table, self.gap, self.judged)

    def _method(self) -> Any:
        """The module that finds bounds as the policy wants them, where that applies to these measures."""
        cells = all(isinstance(row, Measure) for row in self.table.measures)
        if self.asked.policy.uses_draws and cells:
            return draws
        if self.asked.policy.interval != "simultaneous" and pairwise.applies(self.table, self.plan):
            return pairwise
        return simultaneous

    @property
    def value(self) -> float:
        return self.gap.ratio if self.asked.judged_on == "ratio" else self.gap.difference

    @property
    def unit(self) -> str:
        return self.table.measures[self.gap.measure or 0].unit if self.table.measures else "rate"

    @property
    def severity(self) -> float:
        """How bad the gap is; the stratum with the worst one speaks for the finding."""
        if math.isnan(self.value):
            return -math.inf
        if self.asked.judged_on == "difference":
            return abs(self.value)
        return -self.value if self.one_sided else -float(comparison.folded(self.value))

    @property
    def passes(self) -> bool | None:
        """Is the estimate within the threshold? None where either is missing."""
        two_sided = self.table.base is not None and not self.one_sided
        return passes(self.value, self.asked.threshold, self.asked.judged_on, two_sided=two_sided)

    @property
    def verdict(self) -> Verdict:
        """Fail when the whole interval is outside, pass when all of it is inside, else inconclusive."""
        within = self.passes
        inside = self.bounds.inside and within is True
        return verdict(judged=within is not None, outside=self.bounds.outside, inside=inside)

    def rare_groups(self) -> list[str]:
        """The groups that are too rare to be compared, each with its people and its rates."""
        table = self.table
        people = dict(zip(table.groups, table.cube.n.sum(axis=(1, 2)).tolist(), strict=True))
        told = []
        for group in self.rare:
            rates = table.values[:, table.groups.index(group)]
            named = zip(table.measures[:2], rates, strict=False)
            shown = ", ".join(f"{row.title} {wording.amount(float(rate), row.unit)}" for row, rate in named)
            told.append(f"{spell(group)} ({people[group]:,} people, {shown})")
        return told

    def left_out(self) -> list[str]:
        """Measures in which nothing could be compared, although others could."""
        if math.isnan(self.value) and self.table.base is None and len(self.table.measures) == 1:
            return []
        lost = []
        for i, row in enumerate(self.table.measures):
            if not getattr(row, "judged", True):
                continue
            base = None if self.table.base is None else self.table.base[i : i + 1]
            one = comparison.gap(self.table.values[i : i + 1], base, self.judged.everyone[i : i + 1])
            if math.isnan(one.ratio if self.asked.judged_on == "ratio" else one.difference):
                lost.append(row.title)
        return lost

    def reasons(self) -> list[str]:
        """Why values are undefined, for each that is."""
        table = self.table
        return [
            why(row, group)
            for i, row in enumerate(table.measures)
            for j, group in enumerate(table.groups)
            if math.isnan(table.values[i, j])
        ]

    def rows(self, p: tuple[Floats, Floats] | None = None) -> list[Row]:
        """A row for each measure of each group, then how far apart the groups are in each.

        `p` are p-values of each group against its baseline, plain and adjusted, [measures, groups].
        """
        table, rows = self.table, []
        for i, row in enumerate(table.measures):
            low, high = self.bounds.own[i]
            for j, group in enumerate(table.groups):
                value = float(table.values[i, j])
                against, difference, ratio = self._compared(i, j)
                rows.append(
                    Row(
                        row.name,
                        group,
                        self.stratum,
                        bin=getattr(row, "bin", None),
                        against=against,
                        n=int(table.support[i, j]),
                        estimate=Estimate.of(value, low[j], high[j]),
                        difference=difference,
                        ratio=ratio,
                        p_value=number_or_none(p[0][i, j]) if p is not None else None,
                        p_adjusted=number_or_none(p[1][i, j]) if p is not None else None,
                        reason=why(row, group) if math.isnan(value) else None,
                        of_class=getattr(row, "of_class", None),
                    )
                )
        return rows + self._gap_rows()

    def highest(self, i: int) -> int | None:
        """The group with the highest value of a measure, among those compared."""
        values = np.where(self.judged.everyone[i], self.table.values[i], np.nan)
        return None if np.isnan(values).all() else int(np.nanargmax(values))

    def _baseline(self, i: int, j: int) -> tuple[str | None, float] | None:
        """What a group is set against in one measure; None for the reference itself and between extremes."""
        table = self.table
        if self.plan.against == "highest":
            top = self.highest(i) if self.judged.everyone[i, j] else None
            return None if top is None else (spell(table.groups[top]), float(table.values[i, top]))
        if table.base is None or table.groups[j] == self.plan.reference:
            return None
        return self.plan.name, float(table.base[i, j])

    def _compared(self, i: int, j: int) -> tuple[str | None, Estimate | None, Estimate | None]:
        """A group against its baseline, in one measure: the name of that, the difference, the ratio."""
        base = self._baseline(i, j)
        if base is None:
            return None, None, None
        name, other = base
        value, ends = self.table.values[i, j], self.bounds.by_group
        difference, ratio = float(value - other), float(comparison.ratio(value, other))
        if ends is None:
            return name, Estimate(difference), Estimate(ratio)
        low, high, least, most = (end[i, j] for end in ends)
        return name, Estimate.of(difference, low, high), Estimate.of(ratio, least, most)

    def _gap_rows(self) -> list[Row]:
        """The gap in each measure and in each stratum, where that is not what the finding itself says."""
        rows = []
        for i, (difference, ratio) in enumerate(self.bounds.by_measure):
            row = self.table.measures[i]
            one = comparison.gap(self.table.values[i : i + 1], None, self.judged.in_measure(i))
            found = self._gap_row(row.name, one, difference, ratio)
            rows.append(replace(found, of_class=getattr(row, "of_class", None)))
        if self.stratum:
            rows.append(self.summary())
        return rows

    def summary(self) -> Row:
        """The gap itself as a row: who is highest, who is lowest, how far apart."""
        return self._gap_row(self.asked.metric.name, self.gap, self.bounds.difference, self.bounds.ratio)

    def _gap_row(self, name: str, gap: Gap, difference: Interval, ratio: Interval) -> Row:
        groups = self.table.groups
        return Row(
            name,
            groups[gap.high] if gap.high is not None else (),
            self.stratum,
            against=spell(groups[gap.low]) if gap.low is not None else self.plan.name,
            difference=Estimate.of(gap.difference, *difference),
            ratio=Estimate.of(gap.ratio, *ratio),
        )

    def sentence(self) -> str:
        """What was found, with the real names and numbers."""
        gap, asked, table = self.gap, self.asked, self.table
        if math.isnan(self.value):
            zero = [row.title for i, row in enumerate(table.measures) if not np.nan_to_num(table.values[i]).any()]
            return sentences.undefined(table.measures, self.reasons(), zero if asked.judged_on == "ratio" else ())
        row, high = table.measures[gap.measure or 0], gap.high or 0
        ends = self.bounds.ratio if asked.judged_on == "ratio" else self.bounds.difference
        ending = wording.reach(ends, asked.policy.confidence, asked.judged_on, row.unit)
        ending += sentences.bound(asked.threshold, self.passes, asked.judged_on, row.unit)
        if gap.measure is None:
            other = spell(table.groups[gap.low]) if gap.low is not None else self.plan.name
            pair = f"{spell(table.groups[high])} and {other}"
            return sentences.average(table.measures, abs(self.value), pair, asked.judged_on, ending)
        several = len(table.measures) > 1
        top = table.groups[high], float(table.values[gap.measure, high])
        if gap.low is not None:
            low = table.groups[gap.low], float(table.values[gap.measure, gap.low])
            return sentences.between(row, several, top, low, asked.judged_on, ending)
        base = float(table.base[gap.measure, high]) if table.base is not None else math.nan
        return sentences.against(row, several, top, (self.plan.name or "", base), asked.judged_on, ending)


def why(row: AnyMeasure, group: Group) -> str:
    """Why a value is undefined."""
    if isinstance(row, RowMeasure):
        return f"{row.title} gave no number for {spell(group)}"
    return reason(row, spell(group))
