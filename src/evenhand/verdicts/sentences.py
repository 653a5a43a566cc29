"""The sentences of a finding: what was measured, on whom, and on which side of the threshold. Never the word "fair"."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenhand.core.results import Group, JudgedOn, spell
from evenhand.core.wording import amount, distance, limit_figure, quotient, reach
from evenhand.errors import join_names
from evenhand.measures.base import Measure
from evenhand.sources.bins import Bins
from evenhand.verdicts import comparison
from evenhand.verdicts.stratum import Stratum


def stratum_sentence(stratum: Stratum) -> str:
    """The finding in one sentence, with the real names and numbers."""
    gap, request, table = stratum.gap, stratum.request, stratum.table
    if math.isnan(stratum.value):
        if request.judged_on == "ratio" and (why := no_ratio(stratum)) is not None:
            return why
        zero = [row.title for i, row in enumerate(table.measures) if not np.nan_to_num(table.values[i]).any()]
        return undefined(table.measures, undefined_reasons(stratum), zero if request.judged_on == "ratio" else ())
    row, high = table.measures[gap.measure or 0], gap.high or 0
    ends = stratum.bounds.ratio if request.judged_on == "ratio" else stratum.bounds.difference
    ending = reach(ends, request.policy.confidence, request.judged_on, row.unit)
    ending += bound(request.threshold, stratum.passes, request.judged_on, row.unit)
    if gap.measure is None:
        other = spell(table.groups[gap.low]) if gap.low is not None else stratum.plan.name
        pair = f"{spell(table.groups[high])} and {other}"
        return average(table.measures, abs(stratum.value), pair, request.judged_on, ending)
    several = len(table.measures) > 1
    top = table.groups[high], float(table.values[gap.measure, high])
    if gap.low is not None:
        low = table.groups[gap.low], float(table.values[gap.measure, gap.low])
        return between(row, several, top, low, request.judged_on, ending)
    base = float(table.base[gap.measure, high]) if table.base is not None else math.nan
    return against(row, several, top, (stratum.plan.name or "", base), request.judged_on, ending)


def undefined_reasons(stratum: Stratum) -> list[str]:
    """Why values are undefined, for each that is."""
    table = stratum.table
    return [
        row.reason(spell(group))
        for i, row in enumerate(table.measures)
        for j, group in enumerate(table.groups)
        if math.isnan(table.values[i, j])
    ]


def no_ratio(stratum: Stratum) -> str | None:
    """Why values that can be negative have no ratio, with the values that are not above 0; None where they have one."""
    table, names = stratum.table, [spell(group) for group in stratum.table.groups]
    own, bases = comparison.without_ratio(table.values, table.base, stratum.judged.everyone, table.signed)
    rows, places = (own | bases).any(axis=1), []
    for i in np.flatnonzero(rows).tolist():
        unit = table.measures[i].unit
        each = [f"{amount(float(table.values[i, j]), unit)} for {names[j]}" for j in np.flatnonzero(own[i]).tolist()]
        if table.base is not None and stratum.plan.reference is None and bases[i].any():
            j = int(np.argmax(bases[i]))
            each.append(f"{amount(float(table.base[i, j]), unit)} for {stratum.plan.name}")
        places += each
    if not rows.any():
        return None
    titles = " and ".join(dict.fromkeys(table.measures[i].title for i in np.flatnonzero(rows).tolist()))
    return (
        f"The ratio of the {titles} is undefined: it is {join_names(places, 4)}, and a number that can be negative has "
        "no ratio unless every value is above 0."
    )


def measures_left_out(stratum: Stratum) -> list[str]:
    """Measures in which nothing could be compared, although others could."""
    if math.isnan(stratum.value) and stratum.table.base is None and len(stratum.table.measures) == 1:
        return []
    lost = []
    for i, row in enumerate(stratum.table.measures):
        if not row.judged:
            continue
        base = None if stratum.table.base is None else stratum.table.base[i : i + 1]
        one = comparison.gap(stratum.table.values[i : i + 1], base, stratum.judged.everyone[i : i + 1])
        if math.isnan(one.ratio if stratum.request.judged_on == "ratio" else one.difference):
            lost.append(row.title)
    return lost


def rare_groups(stratum: Stratum) -> list[str]:
    """The groups that are too rare to be compared, each with its people and its rates."""
    table = stratum.table
    people = dict(zip(table.groups, table.cube.n.sum(axis=(1, 2)).tolist(), strict=True))
    described = []
    for group in stratum.rare:
        rates = table.values[:, table.groups.index(group)]
        named = zip(table.measures[:2], rates, strict=False)
        shown = ", ".join(f"{row.title} {amount(float(rate), row.unit)}" for row, rate in named)
        described.append(f"{spell(group)} ({people[group]:,} people, {shown})")
    return described


def bound(threshold: float | None, passes: bool | None, judged_on: JudgedOn, unit: str = "rate") -> str:
    """The end of a sentence: on which side of the threshold the value lies."""
    if threshold is None or passes is None:
        return ""
    limit = f"{100 * threshold:g}" if judged_on == "difference" and unit == "rate" else limit_figure(threshold)
    side = "within" if passes else "beyond" if judged_on == "ratio" else "above"
    return f", {side} the threshold of {limit}"


def between(
    row: Measure,
    several: bool,
    high: tuple[Group, float],
    low: tuple[Group, float],
    judged_on: JudgedOn,
    ending: str,
) -> str:
    """The extremes: who is highest, who is lowest, and how far apart they are."""
    tops = f"{spell(high[0])} ({amount(high[1], row.unit)})"
    bottoms = f"{spell(low[0])} ({amount(low[1], row.unit)})"
    most = " differs most: it" if several else ""
    opening = f"The {row.title}{most} is highest for {tops} and lowest for {bottoms}"
    if judged_on == "ratio":
        value = low[1] / high[1] if high[1] else math.nan
        return f"{opening}: a ratio of {quotient(value)}{ending}."
    return f"{opening}: a gap of {distance(high[1] - low[1], row.unit)}{ending}."


def against(
    row: Measure,
    several: bool,
    group: tuple[Group, float],
    base: tuple[str, float],
    judged_on: JudgedOn,
    ending: str,
) -> str:
    """One group set against a reference."""
    most = " differs most: it" if several else ""
    opening = (
        f"The {row.title}{most} is {amount(group[1], row.unit)} for {spell(group[0])} and "
        f"{amount(base[1], row.unit)} for {base[0]}"
    )
    if judged_on == "ratio":
        value = group[1] / base[1] if base[1] else math.inf
        return f"{opening}: {quotient(value)} times as high{ending}."
    return f"{opening}: {distance(group[1] - base[1], row.unit, signed=True)}{ending}."


def average(rows: Sequence[Measure], value: float, who: str, judged_on: JudgedOn, ending: str) -> str:
    """Several measures averaged."""
    names = " and ".join(row.title for row in rows)
    size = f"a ratio of {quotient(value)}" if judged_on == "ratio" else f"a gap of {distance(value, rows[0].unit)}"
    return f"On average over {names}, {who} lie apart by {size}{ending}."


def precision(bins: Bins, error: float, *, exact: bool = True) -> str:
    """A sentence on how exact a value is that depends on the order of scores."""
    if not exact:
        return f"Computed on a grid, because there are many groups; within {error:.2g} of the exact value."
    if bins.exact:
        return "Exact: every score has its own bin."
    return f"From {bins.count:,} bins of the score; within {error:.2g} of the exact value."


def undefined(rows: Sequence[Measure], reasons: Sequence[str], zero: Sequence[str] = ()) -> str:
    """Why there is no number; `zero` are the measures that are 0 for every group, and so have no ratio."""
    names = " and ".join(row.title for row in rows)
    if zero and not reasons:
        return f"The ratio of the {' and '.join(zero)} is undefined: it is 0 for every group."
    why = f": {join_names(reasons, 4, mark='; ')}" if reasons else ""
    return f"The {names} cannot be compared between groups{why}."


def index(title: str, value: float, parts: Sequence[tuple[str, float]], ending: str) -> str:
    """An index over everyone, with its parts."""
    named = {
        "between_groups": "of which {} lies between the groups",
        "log_ratio_of_selection": "{} for being selected",
        "log_ratio_of_refusal": "{} for being refused",
    }
    shown = ", ".join(named.get(name, name + " {}").format(amount(part, "ratio")) for name, part in parts)
    return f"{title}: {amount(value, 'ratio')}{' (' + shown + ')' if shown else ''}{ending}."
