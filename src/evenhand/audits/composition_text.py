"""The sentence, the notes and the panels of a gap that is split into its parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenhand.core import wording
from evenhand.core.results import Estimate, Group, Panel, number_or_none, spell, spell_stratum
from evenhand.errors import join_names
from evenhand.inference import composition, stratified

if TYPE_CHECKING:
    from evenhand.audits.composition import SplitGap

WATERFALL = "waterfall"
"""The role of the panel whose rows lead from the value of one group, part by part, to that of the other."""

MOST_STRATA = 100  # that are shown
_SURE = 0.05
_HARDLY = 0.02  # of a gap: too little to say that it points the other way


def columns(names: Sequence[str]) -> str:
    """The columns in a sentence."""
    return join_names(names, 6, mark=" × ")


def place(stratum: Group, names: Sequence[str]) -> str:
    """A stratum in a sentence."""
    return spell_stratum(stratum, names)


def sentence(found: SplitGap) -> str:
    """How much of the gap is where people are, and how much is what happens there.

    What is said of more than the whole gap, or of the other direction, is said only where the interval says it too.
    """
    gap, made, rates = (found.estimate(part) for part in (composition.GAP, composition.COMPOSITION, composition.RATES))
    sign = -1.0 if gap.value < 0 else 1.0
    where, same = f"where people are ({columns(found.columns)})", f"the same {columns(found.columns)}"
    first, second = found.shown if sign > 0 else found.shown[::-1]
    size, moved, within = (sign * each.value for each in (gap, made, rates))
    opening = _opening(found, first, second, size)
    by_place, by_rates = _reach(found, made, sign), _again(found, rates, sign)
    if _amount(found, size) == _amount(found, 0.0):
        parts = f"{_amount(found, moved)}{by_place} come from {where}, and {_amount(found, within)}{by_rates} from"
        return f"{opening}: {parts} what happens there{_rest(found, sign)}."
    if moved > size:
        return f"{_beyond(found, sign, opening, where, same)}{_rest(found, sign)}."
    if moved < -_HARDLY * size:
        return (
            f"{opening}. {wording.capital(where)} does not explain it, and alone would make {_signed(found, moved)}"
            f"{by_place}; within {same} the gap is {_amount(found, within)}{by_rates}{_rest(found, sign)}."
        )
    share = f"{_number(found, moved)}{by_place} of the {_amount(found, size)}"
    return (
        f"{share} between {first} and {second} in the {found.measure.title} come from {where}, and "
        f"{_number(found, within)}{by_rates} from what happens there{_rest(found, sign)}."
    )


def _beyond(found: SplitGap, sign: float, opening: str, where: str, same: str) -> str:
    """The sentence where the composition effect is larger than the gap, as in Berkeley."""
    gap, made, rates = (found.estimate(part) for part in (composition.GAP, composition.COMPOSITION, composition.RATES))
    _, second = found.shown if sign > 0 else found.shown[::-1]
    by_place, by_rates = _reach(found, made, sign), _again(found, rates, sign)
    within = sign * rates.value
    moved = f"{_number(found, sign * made.value)}{by_place}"
    if _ends(rates, sign)[1] < 0:
        start = f"Simpson's paradox: t{opening[1:]}" if _ends(gap, sign)[0] > 0 else opening
        return (
            f"{start}. {wording.capital(where)} makes {moved}, more than the whole gap; within {same} it is "
            f"higher for {second}, by {_number(found, -within)}{_again(found, rates, -sign)}"
        )
    if _ends(made, sign)[0] > 0:
        return (
            f"{opening}. {wording.capital(where)} makes {moved}, the whole gap and more; within {same} it is not "
            f"sure that there is any: {_signed(found, within)}{by_rates}"
        )
    return (
        f"{opening}. {wording.capital(where)} makes {moved}, and what happens there {_signed(found, within)}{by_rates}"
    )


def _opening(found: SplitGap, first: str, second: str, size: float) -> str:
    """The gap between the two groups, the one with the higher value first."""
    ahead = dict(zip(found.shown, zip(found.values, found.people, strict=True), strict=True))
    (one, n), (other, m) = ahead[first], ahead[second]
    unit = found.measure.unit
    return (
        f"The {found.measure.title} is {wording.amount(one.value, unit)} for {first} (n = {n:,}) and "
        f"{wording.amount(other.value, unit)} for {second} (n = {m:,}), {wording.distance(size, unit)} apart"
    )


def _rest(found: SplitGap, sign: float) -> str:
    """What cannot be compared, at the end of a sentence."""
    if not any(found.apart):
        return ""
    part = found.estimate(composition.APART)
    return (
        f"; {_signed(found, sign * part.value)}{_again(found, part, sign)} come from strata with one of the two groups "
        "only, which cannot be compared"
    )


def _ends(part: Estimate, sign: float) -> tuple[float, float]:
    """The ends of a part when the gap is above 0; NaN where there are none."""
    if part.low is None or part.high is None:
        return math.nan, math.nan
    return (part.low, part.high) if sign > 0 else (-part.high, -part.low)


def _reach(found: SplitGap, part: Estimate, sign: float) -> str:
    return wording.reach(_ends(part, sign), found.confidence, "difference", found.measure.unit)


def _again(found: SplitGap, part: Estimate, sign: float) -> str:
    """The interval of a second part of a sentence, which has said what it is."""
    return _reach(found, part, sign).replace(f"{100 * found.confidence:g} % interval ", "")


def _amount(found: SplitGap, value: float) -> str:
    return wording.distance(value, found.measure.unit)


def _signed(found: SplitGap, value: float) -> str:
    return wording.distance(value, found.measure.unit, signed=True)


def _number(found: SplitGap, value: float) -> str:
    """A part without its unit, where the next words have it."""
    return _amount(found, value).removesuffix(" points")


def notes(found: SplitGap, risk: str | None) -> list[str]:
    """What a reader must know of the parts."""
    unit, rates = found.measure.unit, found.estimate(composition.RATES)
    said = []
    if risk is not None:
        among = "" if len(found.columns) == 1 else " and with the same values of the other columns"
        said.append(
            f"The risk-adjusted gap, between people in the same bin of {risk}{among}, is "
            f"{wording.distance(rates.value, unit, signed=True)}{_reach(found, rates, 1.0)}."
        )
    if any(found.apart):
        first, second = (
            f"{wording.amount(share)} of {name}" for share, name in zip(found.apart, found.shown, strict=True)
        )
        alone = [name for name, both in zip(found.names, composition.shared(found.strata), strict=True) if not both]
        said.append(
            f"{first} and {second} are in strata without the other group: "
            f"{join_names([place(name, found.columns) for name in alone], 4)}."
        )
    said += _directions(found)
    if len(found.columns) > 1:
        said.append(
            "What each column adds to the composition depends on the columns before it: shown is the mean over all "
            "orders (Shapley's value)."
        )
    if found.ends is None:
        said.append(
            "Rows belong together in clusters: it is not known how much the parts vary, so they have no interval."
        )
    else:
        said.append(
            f"Each interval holds its own part in {100 * found.confidence:g} % of samples, not all of them together."
        )
    said.append(
        "Where people are may itself come from unequal treatment: the parts say where a gap arises, and not whether it "
        "is justified."
    )
    return said


def _directions(found: SplitGap) -> list[str]:
    """In how many strata the gap points the other way, and whether the strata differ beyond chance."""
    strata, both = found.strata, composition.shared(found.strata)
    apart = (strata.rates[0] - strata.rates[1])[both] * math.copysign(1.0, found.gap.value)
    other = int((apart < 0).sum())
    if len(apart) < 2 or not other:
        return []
    said = f"Within strata the gap points the other way in {other:,} of the {len(apart):,} that have both groups."
    plain = strata.variances is None and np.array_equal(strata.squares, strata.bottom) and found.ends is not None
    test = stratified.breslow_day(strata.top.T, strata.bottom.T) if plain else None
    if test is not None and test.p_value < _SURE:
        said += f" They differ among themselves (Breslow-Day p = {test.p_value:.2g}): no single number fits all."
    return [said]


def panels(found: SplitGap) -> tuple[Panel, ...]:
    """The way from one group to the other, part by part; and the strata."""
    return _waterfall(found), _strata(found)


def parts(found: SplitGap) -> list[tuple[str, Estimate]]:
    """The parts that sum to the gap, as people read them."""
    shown = [(f"by {name}", found.estimate(composition.APART + 1 + j)) for j, name in enumerate(found.columns)]
    shown.append(("what happens there", found.estimate(composition.RATES)))
    if any(found.apart):
        shown.append(("cannot be compared", found.estimate(composition.APART)))
    return shown


def _waterfall(found: SplitGap) -> Panel:
    """From the value of the second group to that of the first: each part starts where the one before it ends."""
    first, second = found.values
    rows: list[tuple[object, ...]] = [(found.shown[1], None, second.value, second.value, second.low, second.high)]
    start = second.value
    for name, part in parts(found):
        rows.append((name, start, start + part.value, part.value, part.low, part.high))
        start += part.value
    rows.append((found.shown[0], None, first.value, first.value, first.low, first.high))
    title = f"From {found.shown[1]} to {found.shown[0]} in the {found.measure.title}"
    return Panel("table", title, ("part", "from", "to", "value", "low", "high"), tuple(rows), role=WATERFALL)


def _strata(found: SplitGap) -> Panel:
    """Both groups in every stratum; of very many those with the most people."""
    strata = found.strata
    shares, rates, both = strata.shares, strata.rates, composition.shared(strata)
    order = np.argsort(-strata.bottom.sum(axis=0), kind="stable")[:MOST_STRATA]
    lines = []
    for i in sorted(order.tolist()):
        known = [float(rates[g, i]) if strata.bottom[g, i] > 0 else math.nan for g in (0, 1)]
        gap = known[0] - known[1] if both[i] else math.nan
        stratum = place(found.names[i], found.columns) if len(found.columns) > 1 else spell(found.names[i])
        numbers = (shares[0, i], shares[1, i], *known, gap)
        lines.append((stratum, *(number_or_none(float(each)) for each in numbers)))
    more = "" if len(order) == len(found.names) else f", the {MOST_STRATA} with the most people"
    title = f"{found.shown[0]} and {found.shown[1]} (the other group) by {columns(found.columns)}{more}"
    head = ("stratum", "share", "share of other", "rate", "rate of other", "gap")
    return Panel("table", wording.clip(title, 200), head, tuple(lines))
