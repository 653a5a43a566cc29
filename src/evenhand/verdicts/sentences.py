"""The sentences of a finding: what was measured, on whom, and on which side of the threshold. Never the word "fair"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Bools
from evenhand.core.results import OF_ONE_VALUE, Estimate, JudgedOn, Row, Verdict
from evenhand.core.wording import POINTS, amount, capital, distance, limit_figure, number_of, quotient, reach
from evenhand.errors import join_names
from evenhand.measures.base import Measure
from evenhand.measures.known import unknown
from evenhand.sources.bins import Bins
from evenhand.verdicts import comparison
from evenhand.verdicts.request import Request
from evenhand.verdicts.rows import evidence_row
from evenhand.verdicts.stratum import Stratum
from evenhand.verdicts.table import Table
from evenhand.verdicts.verdict import verdict

_BIN = re.compile(r"(?: at scores)? from \S+ to \S+ among ")


def stratum_sentence(stratum: Stratum) -> str:
    """The finding in one sentence: the pair of groups it rests on, with the real names and numbers."""
    request, table, evidence = stratum.request, stratum.table, evidence_row(stratum)
    if not stratum.value.defined or evidence is None or stratum.evidence is None:
        if request.judged_on == "ratio" and (why := no_ratio(stratum)) is not None:
            return why
        zero = [row.title for i, row in enumerate(table.measures) if not np.nan_to_num(table.values[i]).any()]
        return undefined(table.measures, undefined_reasons(stratum), zero if request.judged_on == "ratio" else ())
    judged = evidence.ratio if request.judged_on == "ratio" else evidence.difference
    ending = _ending(stratum, judged or Estimate(math.nan))
    measure, group, other = stratum.evidence.measure, stratum.evidence.group, stratum.evidence.other
    names = table.name(group), str(stratum.baseline) if other is None else table.name(other)
    pair = Pair(evidence, names, request.judged_on, ending, clear=is_clear(judged, request.judged_on, stratum.verdict))
    if measure is None:
        return average(table.measures, pair, stratum.unit, _extremes(stratum), signed=stratum.signed)
    value = float(table.values[measure, group])
    if other is not None:
        return between(table.measures[measure], pair, (value, float(table.values[measure, other])))
    base = float(table.base[measure, group]) if table.base is not None else math.nan
    return against(table.measures[measure], pair, (value, base), signed=stratum.signed)


class Pair(NamedTuple):
    """Two groups in a sentence: the row of their gap, their names, what is judged of it and how the sentence ends.

    `clear` says that there is a gap, and that only its size is open.
    """

    row: Row
    names: tuple[str, str]
    judged_on: JudgedOn
    ending: str
    clear: bool = False

    @property
    def people(self) -> tuple[str, str]:
        """Both groups with the rows that each is measured on."""
        of_both = "" if self.row.n_against is None else f" (n = {self.row.n_against:,})"
        return f"{self.names[0]} (n = {self.row.n or 0:,})", f"{self.names[1]}{of_both}"

    @property
    def difference(self) -> float:
        return (self.row.difference or Estimate(math.nan)).value

    @property
    def ratio(self) -> float:
        return (self.row.ratio or self.row.difference or Estimate(math.nan)).value


def is_clear(judged: Estimate | None, judged_on: JudgedOn, decided: Verdict) -> bool:
    """Is it beyond doubt that there is a gap, where it is open whether the gap exceeds the threshold?

    >>> is_clear(Estimate(0.123, 0.078, 0.167), "difference", "inconclusive")
    True
    """
    if judged is None or judged.low is None or judged.high is None or decided != "inconclusive":
        return False
    none = 1.0 if judged_on == "ratio" else 0.0
    return judged_on not in OF_ONE_VALUE and (judged.low > none or judged.high < none)


def _ending(stratum: Stratum, judged: Estimate) -> str:
    """The interval, and the side of the threshold."""
    request, unit = stratum.request, stratum.unit
    low, high = (math.nan if end is None else end for end in (judged.low, judged.high))
    said = reach((low, high), request.policy.confidence, request.judged_on, unit)
    clear = is_clear(judged, request.judged_on, stratum.verdict)
    side = bound(judged.value, request.threshold, stratum.verdict, request.judged_on, unit, clear=clear)
    return said + side + (", because labels are missing" if stratum.lacks_labels else "")


def undefined_reasons(stratum: Stratum) -> list[str]:
    """Why values are undefined, each reason once."""
    table, rows = stratum.table, stratum.table.measures
    reasons: dict[str, None] = {}
    for i, j in np.argwhere(np.isnan(table.values)).tolist():
        reason = table.reason(i, j)
        if reason is not None and len(rows) > 1 and rows[i].bin is not None and np.isnan(table.values[:, j]).all():
            # Without anybody in any bin, the bins are no part of the reason.
            reason = _BIN.sub(" among ", reason, count=1)
        if reason is not None:
            reasons[reason] = None
    return list(reasons)


def no_ratio(stratum: Stratum) -> str | None:
    """Why values that can be negative have no ratio, with the values that are not above 0; None where they have one."""
    table = stratum.table
    own, bases = comparison.without_ratio(table.values, table.base, stratum.judged.everyone, table.signed)
    rows, places = (own | bases).any(axis=1), []
    for i in np.flatnonzero(rows).tolist():
        unit = table.measures[i].unit
        each = [
            f"{amount(float(table.values[i, j]), unit)} for {table.name(j)}" for j in np.flatnonzero(own[i]).tolist()
        ]
        if table.base is not None and stratum.plan.reference is None and bases[i].any():
            j = int(np.argmax(bases[i]))
            each.append(f"{amount(float(table.base[i, j]), unit)} for {stratum.baseline}")
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
    if not stratum.value.defined and stratum.table.base is None and len(stratum.table.measures) == 1:
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


def without_groups(stratum: Stratum) -> str:
    """Of whom a measure is unknown, so that everyone else, or everyone, is without them; nothing where there are none.

    Only people with a label could stand for others: groups that have none are missing anywhere.
    """
    table = stratum.table
    if stratum.plan.against not in ("rest", "overall"):
        return ""
    labelled = table.cube.n[:, :-1, :-1].sum(axis=(1, 2)) > 0
    lacks = np.array([unknown(row, table.cube) & row.judged for row in table.measures]) & labelled
    lacks &= (~lacks).sum(axis=1, keepdims=True) > 1  # else nothing is compared, which the sentence says
    names = [table.name(place) for place in np.flatnonzero(lacks.any(axis=0)).tolist()]
    if not names:
        return ""
    known = "" if lacks.any(axis=1).all() else f" in the {join_names(_titles(table, lacks), 4)}"
    where = f" in {stratum.where}" if stratum.name else ""
    return (
        f"{capital(str(stratum.baseline))}{where} is without {join_names(names, 6)}{known}: nobody on one side of the "
        "decision has a label there."
    )


def _titles(table: Table, lacks: Bools) -> list[str]:
    return list(dict.fromkeys(row.title for row, some in zip(table.measures, lacks, strict=True) if some.any()))


def rare_groups(stratum: Stratum) -> list[str]:
    """The groups that are too rare to be compared, each with its people and its rates."""
    table = stratum.table
    people = dict(zip(table.groups, table.cube.n.sum(axis=(1, 2)).tolist(), strict=True))
    described = []
    for group in stratum.rare:
        rates = table.values[:, table.groups.index(group)]
        named = zip(table.measures[:2], rates, strict=False)
        shown = ", ".join(f"{row.title} {amount(float(rate), row.unit)}" for row, rate in named)
        name, many = table.name(table.groups.index(group)), number_of(people[group], "person", "people")
        described.append(f"{name} ({many}, {shown})")
    return described


def bound(
    value: float,
    threshold: float | None,
    decided: Verdict,
    judged_on: JudgedOn = "value",
    unit: str = "ratio",
    *,
    clear: bool = False,
) -> str:
    """The end of a sentence: on which side of the threshold the value lies, as far as that is sure.

    `clear` says that the sentence has said that there is a gap, beyond doubt.

    >>> bound(0.2, 0.1, "fail", "difference", "rate"), bound(0.7, 0.8, "inconclusive", "ratio")
    (', above the threshold of 10', '; whether that is within the threshold of 0.8 is open')
    >>> bound(0.123, 0.1, "inconclusive", "difference", "rate", clear=True), bound(0.6, 0.8, "fail", "floor", POINTS)
    ('; whether it exceeds the threshold of 10 is open', ', below the threshold of 80 %')
    """
    if threshold is None or decided == "not judged":
        return ""
    limit = f"{100 * threshold:g}" if judged_on == "difference" and unit == "rate" else limit_figure(threshold)
    if judged_on in OF_ONE_VALUE and unit == POINTS:
        limit = f"{100 * threshold:g} %"
    if decided == "inconclusive" and clear:
        beyond = "exceeds" if judged_on == "difference" else "is beyond"
        return f"; whether it {beyond} the threshold of {limit} is open"
    if decided == "inconclusive":
        return f"; whether that is within the threshold of {limit} is open"
    if decided == "pass":
        return f", within the threshold of {limit}"
    if judged_on in ("ratio", "floor"):
        return f", {'below' if value < 1 or judged_on == 'floor' else 'beyond'} the threshold of {limit}"
    return f", {'above' if value >= 0 else 'beyond'} the threshold of {limit}"


def value_ending(request: Request, value: Estimate, unit: str = "ratio") -> str:
    """The interval and the side of the threshold of a value that is judged by itself; of a rate in percent."""
    low, high = (math.nan if end is None else end for end in (value.low, value.high))
    shown = POINTS if unit == "rate" else unit
    said = reach((low, high), request.policy.confidence, request.judged_on, shown)
    decided = verdict(value, request.threshold, request.judged_on)
    return said + bound(value.value, request.threshold, decided, request.judged_on, shown)


def larger_estimate(size: str, where: str, decided: Verdict, *, word: str = "largest") -> str:
    """The note on a larger estimate than the one that a finding speaks of, with the reason why that one leads."""
    why = "it is less sure" if decided == "fail" else "the verdict does not rest on it"
    return f"The {word} estimate is {size}, {where}; {why}."


def between(row: Measure, pair: Pair, values: tuple[float, float]) -> str:
    """Two groups, the one with the higher value first, and how far apart they are."""
    opening = _two(row, pair, *values)
    there = "there is a gap, " if pair.clear else ""
    if pair.judged_on == "ratio":
        return f"{opening}: {there}a ratio of {quotient(pair.ratio)}{pair.ending}."
    return f"{opening}: {there or 'a gap of '}{distance(pair.difference, row.unit)}{pair.ending}."


def against(row: Measure, pair: Pair, values: tuple[float, float], *, signed: bool) -> str:
    """One group set against a baseline; without `signed` as a gap, whichever is higher."""
    if not signed:
        return between(row, pair, values)
    opening, there = _two(row, pair, *values), "there is a gap, " if pair.clear else ""
    if pair.judged_on == "ratio":
        return f"{opening}: {there}{quotient(pair.ratio)} times as high{pair.ending}."
    return f"{opening}: {there}{distance(pair.difference, row.unit, signed=True)}{pair.ending}."


def _two(row: Measure, pair: Pair, value: float, other: float) -> str:
    first, second = pair.people
    return f"The {row.title} is {amount(value, row.unit)} for {first} and {amount(other, row.unit)} for {second}"


def _extremes(stratum: Stratum) -> list[str]:
    """Of measures that are averaged, the highest and the lowest group of each, where these are not the same two."""
    table, usable = stratum.table, stratum.judged.everyone
    if table.base is not None:
        return []
    gaps = [
        comparison.gap(table.values[i : i + 1], None, usable[i : i + 1], sizes=table.sizes)
        for i in range(len(table.measures))
    ]
    pairs = [(each.high, each.low) for each in gaps if each.high is not None and each.low is not None]
    if len(pairs) < len(gaps) or len({frozenset(pair) for pair in pairs}) == 1:
        return []
    people = [[f"{table.name(j)} (n = {int(table.support[i, j]):,})" for j in pair] for i, pair in enumerate(pairs)]
    return [f"{' and '.join(two)} in the {row.title}" for two, row in zip(people, table.measures, strict=True)]


def average(rows: Sequence[Measure], pair: Pair, unit: str, extremes: Sequence[str] = (), *, signed: bool) -> str:
    """Two groups in several measures averaged, or the `extremes` of each measure, in words."""
    if extremes:
        ratio, difference = (
            f"their ratio is {quotient(pair.ratio)}",
            f"they differ by {distance(pair.difference, unit)}",
        )
        apart = ratio if pair.judged_on == "ratio" else difference
        return f"The highest and the lowest group are {' and '.join(extremes)}: on average {apart}{pair.ending}."
    names, who = " and ".join(row.title for row in rows), " and ".join(pair.people)
    if pair.judged_on == "ratio":
        return f"On average over {names}, the ratio between {who} is {quotient(pair.ratio)}{pair.ending}."
    return f"On average over {names}, {who} differ by {distance(pair.difference, unit, signed=signed)}{pair.ending}."


def precision(bins: Bins, error: float, *, exact: bool = True) -> str:
    """A sentence on how exact a value is that depends on the order of scores."""
    if not exact:
        return f"Computed on a grid, because there are many groups; within {error:.2g} of the exact value."
    if bins.exact:
        return "Exact: every score has its own bin."
    return f"From {bins.count:,} bins of the score; within {error:.2g} of the exact value."


def undefined(rows: Sequence[Measure], reasons: Sequence[str], zero: Sequence[str] = ()) -> str:
    """Why there is no number; `zero` are the measures that are 0 for every group, and so have no ratio."""
    binned = [row for row in rows if row.bin is not None]
    names = " and ".join(row.title for row in rows)
    if len(binned) > 1 and len(binned) == len(rows):  # a title for each bin would hide the reason
        (low, _), (_, high) = binned[0].bin or (0, 0), binned[-1].bin or (0, 0)
        names = f"{rows[0].title.rsplit(' from ', 1)[0]} from {low:g} to {high:g}"
    if zero and not reasons:
        return f"The ratio of the {' and '.join(zero)} is undefined: it is 0 for every group."
    why = f": {join_names(reasons, 4, mark='; ')}" if reasons else ""
    return f"The {names} cannot be compared between groups{why}."


def index(title: str, value: float, parts: Sequence[tuple[str, float]], ending: str) -> str:
    """An index over everyone, with its parts."""
    named = {
        "between_groups": "of which {} lies between the groups",
        "gap_in_labels": "with a gap of {} in the labels",
        "gap_in_decisions": "{} in the decisions",
        "log_ratio_of_selection": "{} for being selected",
        "log_ratio_of_refusal": "{} for being refused",
    }
    shown = ", ".join(named.get(name, name + " {}").format(amount(part, "ratio")) for name, part in parts)
    return f"{title}: {amount(value, 'ratio')}{' (' + shown + ')' if shown else ''}{ending}."
