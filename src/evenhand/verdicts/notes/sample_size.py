"""What a sample of this size can show: the Sample of a finding, and the sentences that follow from it."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core.results import Group, Sample, spell
from evenhand.core.wording import distance
from evenhand.inference import power
from evenhand.inference.pairs import front
from evenhand.inference.replica_spread import Shared
from evenhand.inference.spread import Spread
from evenhand.verdicts.stratum import Stratum

_HARDLY, _FAR = 100, 100_000  # times as many rows, and rows in all, from which more of them are no advice
_FEW_GROUPS = 64  # of so many every pair is looked at


def describe_sample(stratum: Stratum, people: int) -> Sample | None:
    """The gap to expect by chance, the gap that could be detected, and the rows that would settle the finding."""
    measure = stratum.gap.measure or 0
    spread = stratum.table.spreads[measure]
    if spread is None or stratum.gap.high is None:
        return None
    usable = stratum.judged.everyone[measure]
    groups = int((usable & np.isfinite(spread.values)).sum())
    pair = _pair(stratum, spread)
    raw, debiased = power.variance_between(spread, usable)
    near = stratum.request.near_confidence
    detectable = math.nan if pair is None else power.detectable_gap(spread, pair, groups, near)
    settling = None
    unlabelled = _needs_labels(stratum)
    open_by_size = stratum.verdict == "inconclusive" and not unlabelled and not stratum.few_clusters
    if open_by_size and pair is not None and stratum.gap.measure is not None:
        settling = _settle(stratum, people)
    return Sample(
        power.expected_gap(spread, usable),
        detectable,
        raw,
        debiased,
        None if settling is None else settling[0],
        None if settling is None else settling[1],
    )


def sample_notes(stratum: Stratum, sample: Sample | None, people: int) -> list[str]:
    """What the reader must know of the sample."""
    if sample is None:
        return []
    said = []
    unit = stratum.table.measures[stratum.gap.measure or 0].unit
    if stratum.table.base is None and math.isfinite(sample.expected_gap) and len(stratum.table.groups) > 2:
        expected = min(sample.expected_gap, 1.0) if unit == "rate" else sample.expected_gap
        allowed = "; the interval allows for that" if stratum.request.policy.interval == "simultaneous" else ""
        said.append(
            f"If all groups were alike, the highest and the lowest of these sizes would still lie about "
            f"{distance(expected, unit)} apart by chance{allowed}."
        )
    if stratum.verdict == "inconclusive" and stratum.request.policy.interval == "simultaneous":
        if sample.rows_to_settle is None:
            said += _unsettled(stratum)
        elif (times := sample.rows_to_settle / max(people, 1)) >= 1.05:  # fewer are no advice
            limiting = spell(sample.limiting_group, stratum.table.cube.meaning.sensitive)
            said.append(_settling(sample.rows_to_settle, times, limiting))
    return said


def _settling(rows: int, times: float, limiting: str) -> str:
    """What would settle it; a number of rows that nobody will ever have is said to be one."""
    needed = f"about {_rounded(rows):,} rows like these in all ({_times(times)} times as many)"
    if times >= _HARDLY and rows >= _FAR:
        return (
            "More rows may not settle it: some of an estimated gap is chance, and without that part this one lies near "
            f"the threshold. It would take {needed}."
        )
    return f"It would probably take {needed} to settle it; more rows of {limiting} would help most."


def _times(times: float) -> str:
    """A multiple in three figures, without powers of ten."""
    return f"{times:,.0f}" if times >= 100 else f"{times:.3g}"


def _unsettled(stratum: Stratum) -> list[str]:
    """Why no number of rows is named; against the rest of each group none is looked for."""
    if _needs_labels(stratum):
        return ["More rows alone would not settle it: it takes the labels that are missing."]
    if not stratum.value.defined:  # it lies nowhere, so that no number of rows like these would move it
        return []
    spread = stratum.table.spreads[stratum.gap.measure or 0]
    pair = None if spread is None else _pair(stratum, spread)
    if spread is None or pair is None or np.isnan(spread.variances[list(pair)]).any():
        return []
    if isinstance(spread, Shared):
        return ["More people alone are not expected to settle it: the replicas add noise too."]
    return ["No sample below a billion rows is expected to settle it: without chance, it lies at the threshold."]


def _needs_labels(stratum: Stratum) -> bool:
    """Is the estimate within the threshold and the end of the interval beyond it because of missing labels?"""
    return stratum.bounds.without_labels is not None and bool(stratum.passes)


def _pair(stratum: Stratum, spread: Spread) -> tuple[int, int] | None:
    """The two groups whose gap is hardest to bring within the threshold: the extremes, or the widest apart."""
    gap, groups = stratum.gap, stratum.table.groups
    if gap.high is None:
        return None
    if gap.low is not None:
        return (gap.high, gap.low) if stratum.passes is False else _widest(stratum, spread, gap.measure or 0)
    place = next((i for i, group in enumerate(groups) if group == stratum.plan.reference), None)
    if place is None:
        return None
    values = spread.values
    return (gap.high, place) if values[gap.high] >= values[place] else (place, gap.high)


def _widest(stratum: Stratum, spread: Spread, measure: int) -> tuple[int, int] | None:
    chosen = np.flatnonzero(stratum.judged.everyone[measure] & np.isfinite(spread.values))
    if len(chosen) < 2:
        return None
    reach = 2 * np.sqrt(np.nan_to_num(spread.variances[chosen]))
    values = spread.values[chosen]
    highs = lows = np.arange(len(chosen))
    if len(chosen) > _FEW_GROUPS:
        highs, lows = (np.flatnonzero(front(side * values, reach)) for side in (1, -1))
    far = values[highs, None] - values[None, lows] + np.hypot(reach[highs, None], reach[None, lows])
    far[highs[:, None] == lows] = -np.inf
    high, low = np.unravel_index(int(np.argmax(far)), far.shape)
    return int(chosen[highs[high]]), int(chosen[lows[low]])


def _settle(stratum: Stratum, people: int) -> tuple[int, Group] | None:
    """How many rows, and the group that limits it; in an average of measures nothing is forecast."""
    request, table = stratum.request, stratum.table
    usable = stratum.judged.everyone & np.isfinite(table.values)
    spreads = [spread for spread in table.spreads if spread is not None]
    if len(spreads) < len(table.spreads) or not (usable.sum(axis=1) > 1).any():
        return None
    place = next((i for i, group in enumerate(table.groups) if group == stratum.plan.reference), None)
    forecast = power.Forecast(
        request.judged_on,
        request.threshold or 0.0,
        request.confidence,
        place,
        stratum.one_sided and place is not None,
        request.near_confidence,
    )
    likely = [power.shrunken(spread, use) for spread, use in zip(spreads, usable, strict=True)]
    settled = power.rows_to_settle(likely, usable, forecast, people)
    if settled is None:
        return None
    multiplier, limiting = settled.multiplier, settled.limiting
    named = stratum.judged.everyone
    smallest = float(table.support[named].min()) if stratum.passes and named.any() else math.inf
    if 0 < smallest * multiplier < request.policy.min_group_size:
        multiplier = request.policy.min_group_size / smallest
        limiting = int(np.argmin(np.where(named, table.support, np.inf).min(axis=0)))
    return math.ceil(multiplier * people), table.groups[limiting]


def _rounded(rows: int) -> int:
    """Two figures are all that such a forecast carries."""
    digits = max(len(str(rows)) - 2, 0)
    return round(rows, -digits)
