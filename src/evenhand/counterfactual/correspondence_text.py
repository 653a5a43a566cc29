"""The sentence, rows, panels and notes of a correspondence audit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import nsmallest

import numpy as np

from evenhand.core import wording
from evenhand.core.results import UNDEFINED, Estimate, Panel, Row, Verdict, number_or_none, pair_names, spell
from evenhand.counterfactual.unit_gaps import Comparison, row_means
from evenhand.counterfactual.units import Units
from evenhand.errors import join_names, shorten
from evenhand.inference import critical
from evenhand.inference.paired import Differences
from evenhand.sources.levels import order_key
from evenhand.verdicts import sentences
from evenhand.verdicts.request import Request

MOST_PAIRS = 1000  # that have rows
_NAME_WIDTH = 200

SHARES = ("flip_share", "noise_share", "excess_flip_share")
ROOTS = ("difference_between_groups", "difference_between_runs", "difference_beyond_noise")
"""For scores: roots of mean squared differences between two answers of the same unit."""


def sentence(units: Units, compared: Comparison, evidence: Row, request: Request, decided: Verdict) -> str:
    """The gap between the two groups on which the verdict rests."""
    kind = "rate" if units.decisions else "score"
    value = evidence.estimate or UNDEFINED
    low, high = (math.nan if end is None else end for end in (value.low, value.high))
    judged_on = "difference" if units.decisions else "value"
    ending = wording.reach((low, high), request.policy.confidence, "difference", kind)
    if ending and evidence.p_adjusted is not None:
        ending = f"{ending[:-1]}, p {_chance(evidence.p_adjusted)})"
    ending += sentences.bound(value.value, request.threshold, decided, judged_on, kind)  # type: ignore[arg-type]
    same = f"the same units (n = {evidence.n:,})"
    if not compared.by_unit.any():
        what = "decided" if units.decisions else "scored"
        return f"None of {same} is {what} differently in another group{ending}."
    names = [spell(group, units.attributes) for group in units.groups]
    i, j = (names.index(name) for name in pair_names(evidence, units.groups, units.attributes))
    both = ~np.isnan(units.means[:, i]) & ~np.isnan(units.means[:, j])
    one, other = (wording.amount(float(units.means[both, k].mean()), kind) for k in (i, j))
    gap = f"{other} as {names[j]}: a gap of {wording.distance(value.value, kind)}{ending}."
    if units.decisions:
        return f"Of {same}, {one} are decided positively as {names[i]} and {gap}"
    return f"The mean score of {same} is {one} as {names[i]} and {gap}"


def _chance(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"= {p:.2g}"


def beside_noise(units: Units, compared: Comparison, confidence: float) -> str:
    """How many units flip between groups, beside those that flip between runs; nothing where none flip."""
    if not compared.by_unit.any():
        return ""
    flips, noise, excess = (_estimate(units, part, confidence) for part in compared.overall)
    over = "" if len(compared.p) == 1 else ", over all pairs of groups,"
    if units.decisions:
        between = f"{wording.amount(flips.value)} of the units flip between two groups{over}"
    else:
        between = f"Two groups{over} differ by {wording.amount(flips.value, 'score')} within a unit (root mean square)"
    if not noise.defined:
        return f" {between.removesuffix(',')}, which includes noise: no unit was run twice in a group (run=)."
    ends = (math.nan if end is None else end for end in (excess.low, excess.high))
    few, every = (int(part.n[0]) for part in (compared.overall[2], compared.overall[0]))
    where = f" in the {wording.counted(few, 'unit')} that were run twice" if few < every else ""
    if units.decisions:
        reach = wording.reach((*ends,), confidence, "difference")  # type: ignore[arg-type]
        more = wording.distance(excess.value, signed=True)
        again = f"{wording.amount(noise.value)} between two runs of the same unit"
        return f" {between} and {again}: {more} beyond noise{where}{reach}."
    reach = wording.reach((*ends,), confidence, "value", "score")  # type: ignore[arg-type]
    return (
        f" {between}, and two runs by {wording.amount(noise.value, 'score')}: {wording.amount(excess.value, 'score')} "
        f"beyond noise{where}{reach}."
    )


def leaving_out(said: str, names: Sequence[str], least: int) -> str:
    """The sentence of a pass with the groups that it leaves out."""
    return f"{said[:-1]}, leaving out {join_names(names, 6)}, with fewer than {least} units."


def largest(units: Units, farthest: Row, decided: Verdict) -> str:
    """The largest estimate, where the verdict rests on another pair of groups."""
    size = wording.distance((farthest.estimate or UNDEFINED).value, "rate" if units.decisions else "score")
    first, second = pair_names(farthest, units.groups, units.attributes)
    return sentences.larger_estimate(size, f"between {first} and {second} (n = {farthest.n:,} units)", decided)


def small(names: Sequence[str], least: int) -> str:
    return f"Fewer than {least} units: {join_names(names, 6)}. Too few to support a pass."


def rows(units: Units, compared: Comparison, confidence: float) -> list[Row]:
    """A row for each group and for each pair of groups; and flips, noise and their difference over all units."""
    measure, names = ("selection_rate", SHARES) if units.decisions else ("mean_score", ROOTS)
    found = _group_rows(units, measure, confidence)
    found += [
        Row(name, (), n=int(part.n[0]), estimate=_estimate(units, part, confidence), reason=_reason(part))
        for name, part in zip(names, compared.overall, strict=True)
    ]
    for pair in _shown(compared):
        about = {
            "group": units.groups[compared.first[pair]],
            "against": spell(units.groups[compared.second[pair]]),
            "n": int(compared.gaps.n[pair]),
        }
        ends = (float(end[pair]) for end in (compared.gaps.values, *compared.shown))
        p, adjusted = (number_or_none(float(each[pair])) for each in (compared.p, compared.adjusted))
        why = None if compared.gaps.n[pair] else "no unit has both groups"
        found.append(Row(measure, difference=Estimate.of(*ends), p_value=p, p_adjusted=adjusted, reason=why, **about))  # type: ignore[arg-type]
    return found


def _group_rows(units: Units, measure: str, confidence: float) -> list[Row]:
    low, _ = units.ends
    own = Differences.of(units.means - low, units.span)
    deviate = critical.sidak(len(units.groups), confidence)
    lows, highs = (np.clip(low + end, *units.ends) for end in own.limits(deviate, deviate))
    numbers = zip(low + own.values, lows, highs, strict=True)
    return [
        Row(measure, group, n=int(n), estimate=Estimate.of(*map(float, each)))
        for group, n, each in zip(units.groups, own.n, numbers, strict=True)
    ]


def _estimate(units: Units, part: Differences, confidence: float) -> Estimate:
    """A mean over units with its interval; of scores its root, which is 0 where noise has made it negative."""
    deviate = critical.upper((1 - confidence) / 2)
    numbers = [float(part.values[0]), *(float(end[0]) for end in part.limits(deviate, deviate))]
    if not units.decisions:
        numbers = [math.nan if math.isnan(number) else math.sqrt(max(number, 0.0)) for number in numbers]
    least = 0.0 if numbers[0] >= 0 and (part.down[0] == 0) else -math.inf
    return Estimate.of(numbers[0], max(numbers[1], least), numbers[2])


def _reason(part: Differences) -> str | None:
    return None if part.n[0] else "no unit was run twice in a group"


def _shown(compared: Comparison) -> list[int]:
    """The pairs that have rows, in their order; of very many those with the largest gaps."""
    count = len(compared.p)
    if count <= MOST_PAIRS:
        return list(range(count))
    return sorted(np.argsort(-np.nan_to_num(compared.sizes, nan=-1.0), kind="stable")[:MOST_PAIRS].tolist())


def notes(units: Units, compared: Comparison, request: Request) -> list[str]:
    """What a reader must know of intervals and threshold."""
    found = []
    count = len(compared.p)
    if count > 1:
        found.append(f"The intervals of {count:,} gaps hold together, and their p-values are adjusted by Holm.")
    if count > MOST_PAIRS:
        found.append(f"Of these pairs of groups the {MOST_PAIRS:,} with the largest gaps are shown.")
    apart = int((compared.gaps.n == 0).sum())
    if apart:
        found.append(f"{apart:,} pairs of groups have no unit in common, so they are not compared.")
    if request.by_range and request.threshold is not None:
        found.append(
            f"The threshold of {wording.limit_figure(request.threshold)} is a hundredth of the range that holds 95 % "
            "of the scores; threshold= sets another."
        )
    if units.span == 0:
        found.append("All scores are the same number, which tells nothing of how far they could differ: no interval.")
    return found


def panels(units: Units, compared: Comparison, worst: int) -> tuple[Panel, ...]:
    """Every two groups, and the units that flip most."""
    found = [_pairs(units, compared)]
    if worst and compared.by_unit.any():
        found.append(_units(units, compared, worst))
    return tuple(found)


def _pairs(units: Units, compared: Comparison) -> Panel:
    flips = ("flips", "beyond noise") if units.decisions else ("difference within units", "beyond noise")
    columns = ("group", "against", "gap", "low", "high", "units", *flips, "p", "p after Holm")
    lines = []
    for pair in sorted(_shown(compared), key=lambda pair: -np.nan_to_num(compared.sizes[pair], nan=-1.0)):
        squares = [float(part.values[pair]) for part in (compared.flips, compared.excess)]
        if not units.decisions:
            squares = [math.nan if math.isnan(each) else math.sqrt(max(each, 0.0)) for each in squares]
        numbers = (*(float(each[pair]) for each in (compared.gaps.values, *compared.shown)),)
        tests = (float(compared.p[pair]), float(compared.adjusted[pair]))
        lines.append(
            (
                spell(units.groups[compared.first[pair]], units.attributes),
                spell(units.groups[compared.second[pair]], units.attributes),
                *map(number_or_none, numbers),
                int(compared.gaps.n[pair]),
                *map(number_or_none, (*squares, *tests)),
            )
        )
    return Panel("pairs", "Gaps between groups within the same units", columns, tuple(lines))


def _units(units: Units, compared: Comparison, worst: int) -> Panel:
    """The units whose answers differ most between groups; of equals those with the widest gap, in their order."""
    means = units.means
    highest, lowest = np.nanargmax(means, axis=1), np.nanargmin(means, axis=1)
    width = np.nanmax(means, axis=1) - np.nanmin(means, axis=1)
    flips = compared.by_unit
    least = np.partition(flips, -worst)[-worst] if worst < len(flips) else 0.0
    places = [int(place) for place in np.flatnonzero((flips >= least) & (flips > 0))]
    first = nsmallest(worst, places, key=lambda u: (-flips[u], -width[u], order_key(str(units.names[u]))))
    noise = row_means(units.noise)
    what = "flips" if units.decisions else "difference within units"
    columns = ("unit", "highest", "its mean", "lowest", "its mean there", what, "noise")
    lines = tuple(
        (
            shorten(str(units.names[u]), _NAME_WIDTH),
            spell(units.groups[highest[u]], units.attributes),
            float(means[u, highest[u]]),
            spell(units.groups[lowest[u]], units.attributes),
            float(means[u, lowest[u]]),
            _root(units, flips[u]),
            number_or_none(_root(units, noise[u])),
        )
        for u in first
    )
    return Panel(
        "table", "The units that flip most" if units.decisions else "The units that differ most", columns, lines
    )


def _root(units: Units, square: float) -> float:
    return float(square) if units.decisions or math.isnan(square) else math.sqrt(square)
