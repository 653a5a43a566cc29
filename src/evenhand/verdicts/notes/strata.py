"""Strata against the whole: the gap over everyone, the gap within strata, and whether the two disagree.

A gap over everyone mixes how groups are treated with where they are: in Berkeley in 1973 women were admitted less
often, and in most departments more often. The standardised gap compares two groups as if both were spread over the
strata as everyone is, using the strata that hold both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core import wording
from evenhand.core.results import Estimate, Group, Panel, Row, spell
from evenhand.inference import critical, stratified
from evenhand.inference.clustered import Clustered, together_of
from evenhand.inference.limits import joined
from evenhand.inference.spread import Proportions, Spread
from evenhand.verdicts import comparison
from evenhand.verdicts.rows import summary_row
from evenhand.verdicts.stratum import Stratum

_SURE = 0.05  # a p-value below this is worth a sentence


@dataclass(frozen=True)
class _Standardised:
    """Two groups as if each were spread over the strata as everyone is."""

    first: float
    second: float
    low: float
    high: float
    people: int
    left_out: float
    opposite: int
    strata: int

    @property
    def gap(self) -> float:
        return self.first - self.second


def stratum_notes(pooled: Stratum, strata: Sequence[Stratum]) -> tuple[list[Row], list[str], list[Panel]]:
    """Rows, notes and a panel on the whole beside its strata; nothing where no two groups can be set side by side."""
    pair = _pair(pooled)
    if pair is None:
        return [], [], []
    measure, first, second = pair
    names = pooled.table.groups[first], pooled.table.groups[second]
    standard = _standardise(pooled, strata, measure, names)
    panel = _panel(pooled, strata, measure)
    if standard is None:
        return (
            [],
            ["No stratum holds both groups that lie farthest apart, so the whole cannot be standardised."],
            [panel],
        )
    whole = summary_row(pooled)
    rows = [
        Row("pooled_gap", whole.group, against=whole.against, difference=whole.difference, ratio=whole.ratio),
        Row(
            "standardised_gap",
            names[0],
            against=spell(names[1]),
            n=standard.people,
            difference=Estimate.of(standard.gap, standard.low, standard.high),
            ratio=Estimate(_quotient(standard, pooled, measure)),
        ),
    ]
    return rows, [_note(pooled, standard, measure, names), *_differences(strata, measure, names)], [panel]


def _pair(pooled: Stratum) -> tuple[int, int, int] | None:
    """The measure and the two groups of the largest gap over all strata together."""
    gap = pooled.gap
    if gap.measure is None or gap.high is None or math.isnan(gap.difference):
        return None
    low = gap.low
    if low is None:
        low = next((i for i, group in enumerate(pooled.table.groups) if group == pooled.plan.reference), None)
    return None if low is None else (gap.measure, gap.high, low)


def _standardise(
    pooled: Stratum, strata: Sequence[Stratum], measure: int, names: tuple[Group, Group]
) -> _Standardised | None:
    q = critical.tukey(max(int(pooled.judged.everyone[measure].sum()), 2), pooled.request.confidence)
    values, down, up, people, mass, norm = [], [], [], [], [], 2
    for stratum in strata:
        spread, places = stratum.table.spreads[measure], _places(stratum, names)
        if spread is None or places is None or not np.isfinite(spread.values[places]).all():
            continue
        low, high = (end[places] for end in spread.limits(q, 0.0))
        values.append(spread.values[places])
        together = together_of(spread)
        common = 0.0 if together is None else float(together.correlations[places[0], places[1]])
        # Clusters may reach over strata: what these have in common is not known, and their margins are added.
        norm = 2 if together is None else 1
        down.append(joined(values[-1][0] - low[0], high[1] - values[-1][1], common))
        up.append(joined(high[0] - values[-1][0], values[-1][1] - low[1], common))
        cube = stratum.table.cube
        people.append(cube.size)
        mass.append(float((cube.n if cube.w is None else cube.w).sum()))
    if not sum(mass):
        return None
    each, sizes = np.array(values), np.array(people, dtype=np.float64)
    share = np.array(mass) / sum(mass)
    first, second = share @ each
    gaps = each[:, 0] - each[:, 1]
    whole = pooled.table.values[measure]
    sign = np.sign(whole[pooled.table.groups.index(names[0])] - whole[pooled.table.groups.index(names[1])])
    return _Standardised(
        float(first),
        float(second),
        float(first - second - np.linalg.norm(share * np.array(down), norm)),
        float(first - second + np.linalg.norm(share * np.array(up), norm)),
        int(sizes.sum()),
        1 - float(sizes.sum()) / pooled.table.cube.size,
        int((gaps * sign < 0).sum()),
        len(gaps),
    )


def _places(stratum: Stratum, names: tuple[Group, Group]) -> list[int] | None:
    groups = list(stratum.table.groups)
    return [groups.index(name) for name in names] if all(name in groups for name in names) else None


def _quotient(standard: _Standardised, pooled: Stratum, measure: int) -> float:
    """lowest / highest between extremes, group / reference against one; as everywhere."""
    top, bottom = (
        (standard.first, standard.second) if pooled.table.base is not None else (standard.second, standard.first)
    )
    signed = False if pooled.table.signed is None else pooled.table.signed[measure]
    return float(comparison.ratio(top, bottom, signed)) if bottom else math.nan


def _note(pooled: Stratum, standard: _Standardised, measure: int, names: tuple[Group, Group]) -> str:
    row, groups = pooled.table.measures[measure], list(pooled.table.groups)
    first, second = (float(pooled.table.values[measure, groups.index(name)]) for name in names)
    one, other = (pooled.table.name(groups.index(name)) for name in names)
    # Within strata the higher group is named, so that no reader has to know what a minus sign stands for.
    turned = standard.gap < 0
    size = abs(standard.gap)
    ends = (-standard.high, -standard.low) if turned else (standard.low, standard.high)
    interval = wording.reach(ends, pooled.request.confidence, "difference", row.unit)
    whole = (
        f"over all strata together the {row.title} is {wording.amount(first, row.unit)} for {one} and "
        f"{wording.amount(second, row.unit)} for {other}, "
        f"{wording.distance(first - second, row.unit)} apart; within strata, weighted by their size, it is "
        f"{wording.distance(size, row.unit)} higher for {other if turned else one}{interval}"
    )
    if standard.opposite:
        lower = other if first >= second else one
        whole += f", and it is higher for {lower} in {standard.opposite} of {standard.strata} strata"
    if standard.left_out > 0:
        whole += f"; {standard.left_out:.1%} of the people are in strata that lack one of the two and are left out"
    kind = _disagreement(pooled, standard, first - second)
    return f"{kind}: {whole}." if kind else f"{whole[0].upper()}{whole[1:]}."


def _disagreement(pooled: Stratum, standard: _Standardised, gap: float) -> str | None:
    """How the whole and its strata disagree; None where they do not, or where it is not sure that they do.

    Simpson's paradox is a gap that turns round: both intervals exclude 0, on different sides. A gap that the strata
    explain, or one that only the strata show, is confounding.
    """
    near = pooled.bounds.difference[0] if pooled.table.base is None else _nearest_end(*pooled.bounds.difference)
    turned = standard.high < 0 if gap > 0 else standard.low > 0
    if near > 0 and turned:
        return "Simpson's paradox"
    limit = pooled.request.threshold
    if limit is None or pooled.request.judged_on != "difference":
        return None
    largest, least = max(abs(standard.low), abs(standard.high)), _nearest_end(standard.low, standard.high)
    if pooled.verdict == "fail" and largest <= limit:
        return "The strata explain the gap (confounding)"
    if pooled.verdict == "pass" and least > limit:
        return "The strata show a gap that the whole hides (confounding)"
    return None


def _nearest_end(low: float, high: float) -> float:
    """How far an interval is from 0."""
    return max(low, -high, 0.0)


def _differences(strata: Sequence[Stratum], measure: int, names: tuple[Group, Group]) -> list[str]:
    """The Mantel-Haenszel test of the two groups, and whether the strata differ among themselves."""
    k, n = [], []
    for stratum in strata:
        spread, places = stratum.table.spreads[measure], _places(stratum, names)
        if isinstance(spread, Proportions) and not isinstance(spread, Clustered) and places is not None:
            k.append(spread.k[places])
            n.append(spread.n[places])
    if len(k) < 2:
        return []
    notes = []
    shown = [spell(name, strata[0].table.cube.meaning.sensitive) for name in names]
    common = stratified.cochran_mantel_haenszel(np.array(k), np.array(n))
    if not math.isnan(common.p_value):
        notes.append(
            f"Within strata, the test of no gap between {' and '.join(shown)} gives p = "
            f"{common.p_value:.3g} (Mantel-Haenszel, which weights strata by how many of both groups they have)."
        )
    apart = stratified.breslow_day(np.array(k), np.array(n))
    if not math.isnan(apart.p_value) and apart.p_value < _SURE:
        notes.append(
            f"The strata differ among themselves (Breslow-Day p = {apart.p_value:.2g}): no single number fits all."
        )
    return notes


def _panel(pooled: Stratum, strata: Sequence[Stratum], measure: int) -> Panel:
    """Every group in every stratum and in the whole, in the measure with the largest gap."""
    rows: list[tuple[object, ...]] = []
    for stratum in [*strata, pooled]:
        spread: Spread | None = stratum.table.spreads[measure]
        low, high = stratum.bounds.own[measure] if spread is not None else (stratum.table.values[measure],) * 2
        for i in range(len(stratum.table.groups)):
            value = float(stratum.table.values[measure, i])
            if not math.isnan(value):
                where = stratum.where if stratum is not pooled else "all together"
                size = int(stratum.table.support[measure, i])
                rows.append((where, stratum.table.name(i), size, value, float(low[i]), float(high[i])))
    title = f"{wording.capital(pooled.table.measures[measure].title)} within strata and over all of them"
    return Panel("table", title, ("stratum", "group", "n", "value", "low", "high"), tuple(rows), role="strata")
