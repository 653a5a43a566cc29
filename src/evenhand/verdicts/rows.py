"""The rows of a stratum: each measure of each group, against what it is compared with, and the gap in each measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.results import UNDEFINED, Estimate, Row, number_or_none, spell
from evenhand.verdicts import comparison
from evenhand.verdicts.bounds.bounds import Interval
from evenhand.verdicts.comparison import Gap
from evenhand.verdicts.stratum import Stratum


def stratum_rows(stratum: Stratum, p: tuple[Floats, Floats] | None = None) -> list[Row]:
    """A row for each measure of each group, then how far apart the groups are in each.

    `p` are p-values of each group against its baseline, plain and adjusted, [measures, groups].
    """
    table, rows = stratum.table, []
    compared = table.base is not None or stratum.plan.against in comparison.EXTREMES
    for i, row in enumerate(table.measures):
        values, people = table.values[i].tolist(), table.support[i].tolist()
        own = zip(table.groups, values, *(end.tolist() for end in stratum.bounds.own[i]), strict=True)
        for j, (group, value, low, high) in enumerate(own):
            against, difference, ratio = _compared(stratum, i, j) if compared else (None, None, None)
            rows.append(
                Row(
                    row.name,
                    group,
                    stratum.name,
                    bin=row.bin,
                    against=against,
                    n=int(people[j]),
                    estimate=Estimate.of(value, low, high),
                    difference=difference,
                    ratio=ratio,
                    p_value=number_or_none(p[0][i, j]) if p is not None else None,
                    p_adjusted=number_or_none(p[1][i, j]) if p is not None else None,
                    reason=table.reason(i, j) if math.isnan(value) else None,
                    of_class=row.of_class,
                )
            )
    return rows + _gap_rows(stratum)


def _baseline(stratum: Stratum, i: int, j: int) -> tuple[str | None, float] | None:
    """What a group is set against in one measure; None for the reference itself and between extremes."""
    table = stratum.table
    if stratum.plan.against in comparison.EXTREMES:
        top = stratum.yardstick(i) if stratum.judged.everyone[i, j] else None
        return None if top is None else (spell(table.groups[top]), float(table.values[i, top]))
    if table.base is None or table.groups[j] == stratum.plan.reference:
        return None
    return stratum.plan.name, float(table.base[i, j])


def _compared(stratum: Stratum, i: int, j: int) -> tuple[str | None, Estimate | None, Estimate | None]:
    """A group against its baseline, in one measure: the name of that, the difference, the ratio."""
    base = _baseline(stratum, i, j)
    if base is None:
        return None, None, None
    name, other = base
    value, ends = stratum.table.values[i, j], stratum.bounds.by_group
    difference, ratio = float(value - other), float(comparison.ratio(value, other, _signed(stratum, i)))
    if ends is None:
        return name, Estimate(difference), Estimate(ratio)
    low, high, least, most = (end[i, j] for end in ends)
    return name, Estimate.of(difference, low, high), Estimate.of(ratio, least, most)


def _signed(stratum: Stratum, i: int) -> bool:
    return stratum.table.signed is not None and bool(stratum.table.signed[i])


def _gap_rows(stratum: Stratum) -> list[Row]:
    """The gap in each measure and in each stratum, where that is not what the finding itself says."""
    rows = []
    for i, (difference, ratio) in enumerate(stratum.bounds.by_measure):
        row = stratum.table.measures[i]
        signed = None if stratum.table.signed is None else stratum.table.signed[i : i + 1]
        usable, able = stratum.judged.in_measure(i), stratum.judged.able_in_measure(i)
        values, sizes = stratum.table.values[i : i + 1], stratum.table.sizes
        one = comparison.gap(values, None, usable, signed=signed, yardsticks=able, sizes=sizes)
        # No end is known on the side of a yardstick that lies below everyone.
        # The middle of a posterior leaves out a ratio of 0: ends contain their estimate.
        ends = ((math.nan, math.nan),) * 2
        if one.difference >= 0:
            ends = _holding(one.difference, difference), _holding(one.ratio, ratio)
        gap_row = _gap_row(stratum, row.name, one, *ends)
        rows.append(replace(gap_row, of_class=row.of_class))
    if stratum.name:
        rows.append(summary_row(stratum))
    return rows


def _holding(value: float, ends: Interval) -> Interval:
    """The interval, which contains its estimate; NaN is an end that is not known."""
    return float(np.minimum(ends[0], value)), float(np.maximum(ends[1], value))


def summary_row(stratum: Stratum) -> Row:
    """The gap itself as a row: who is highest, who is lowest, how far apart."""
    return _gap_row(stratum, stratum.request.metric.name, stratum.gap, stratum.bounds.difference, stratum.bounds.ratio)


def largest_row(strata: Sequence[Stratum]) -> Row:
    """The largest gap over all strata as a row, with the largest lower and the largest upper end over strata.

    The interval of the stratum with the largest estimate alone would often miss the largest true gap, which may be
    that of a smaller stratum. Against a baseline, where gaps have a sign, it is the row of that stratum.
    """
    row = summary_row(max(strata, key=lambda stratum: stratum.size))
    judged_on = strata[0].request.judged_on
    if len(strata) < 2 or strata[0].signed:
        return row
    if judged_on == "ratio":
        return replace(row, ratio=_widest(row.ratio, [stratum.bounds.ratio for stratum in strata], min))
    return replace(row, difference=_widest(row.difference, [stratum.bounds.difference for stratum in strata], max))


def _widest(own: Estimate | None, intervals: Sequence[Interval], farthest: Callable[[list[float]], float]) -> Estimate:
    """The estimate with the farthest ends of the intervals that there are."""
    known = [ends for ends in intervals if not math.isnan(ends[0])]
    if own is None or own.low is None or not known:
        return own or UNDEFINED
    return Estimate(own.value, *(farthest([ends[i] for ends in known]) for i in (0, 1)))


def evidence_row(stratum: Stratum) -> Row | None:
    """The two groups on which the verdict rests, with the rows that each is measured on."""
    evidence, table = stratum.evidence, stratum.table
    if evidence is None:
        return None
    measures = list(range(len(table.measures))) if evidence.measure is None else [evidence.measure]
    row, group = table.measures[measures[0]], evidence.group
    low, high = stratum.bounds.own[measures[0]]
    averaged = evidence.measure is None
    support = table.support if evidence.other is not None else table.base_support
    other = group if evidence.other is None else evidence.other
    return Row(
        stratum.request.metric.name if averaged else row.name,
        table.groups[group],
        stratum.name,
        bin=None if averaged else row.bin,
        against=stratum.plan.name if evidence.other is None else spell(table.groups[evidence.other]),
        n=int(table.support[measures, group].min()),
        n_against=None if support is None else int(support[measures, other].min()),
        estimate=None if averaged else Estimate.of(float(table.values[measures[0], group]), low[group], high[group]),
        difference=evidence.difference,
        ratio=evidence.ratio,
        of_class=None if averaged else row.of_class,
    )


def _gap_row(stratum: Stratum, name: str, gap: Gap, difference: Interval, ratio: Interval) -> Row:
    groups = stratum.table.groups
    return Row(
        name,
        groups[gap.high] if gap.high is not None else (),
        stratum.name,
        against=spell(groups[gap.low]) if gap.low is not None else stratum.plan.name,
        difference=Estimate.of(gap.difference, *difference),
        ratio=Estimate.of(gap.ratio, *ratio),
    )
