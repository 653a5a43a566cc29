"""What a sample of this size can show: the Sample of a finding, and the sentences that follow from it."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core.results import Group, Sample, spell
from evenhand.core.wording import distance
from evenhand.inference import power
from evenhand.inference.replica_spread import Shared
from evenhand.inference.spread import Spread
from evenhand.verdicts.stratum import Part


def describe(part: Part, people: int) -> Sample | None:
    """The gap to expect by chance, the gap that could be found, and the rows that would settle the finding."""
    measure = part.gap.measure or 0
    spread = part.table.spreads[measure]
    if spread is None or part.gap.high is None:
        return None
    usable = part.judged.everyone[measure]
    groups = int((usable & np.isfinite(spread.values)).sum())
    pair = _pair(part, spread)
    raw, debiased = power.variance_between(spread, usable)
    detectable = math.nan if pair is None else power.detectable_gap(spread, pair, groups, part.asked.confidence)
    settling = None
    if part.verdict == "inconclusive" and pair is not None and part.gap.measure is not None:
        settling = _settle(part, people)
    return Sample(
        power.expected_gap(spread, usable),
        detectable,
        raw,
        debiased,
        None if settling is None else settling[0],
        None if settling is None else settling[1],
    )


def notes(part: Part, sample: Sample | None, people: int) -> list[str]:
    """What the reader must know of the sample."""
    if sample is None:
        return []
    said = []
    unit = part.table.measures[part.gap.measure or 0].unit
    if part.table.base is None and math.isfinite(sample.expected_gap) and len(part.table.groups) > 2:
        expected = min(sample.expected_gap, 1.0) if unit == "rate" else sample.expected_gap
        said.append(f"Groups of these sizes would lie {distance(expected, unit)} apart by chance alone.")
    if part.verdict == "inconclusive" and part.asked.policy.interval == "simultaneous":
        if sample.rows_to_settle is None:
            said += _unsettled(part)
        else:
            times = sample.rows_to_settle / max(people, 1)
            said.append(
                f"About {_rounded(sample.rows_to_settle):,} rows like these ({times:.3g} times as many) would probably "
                f"settle it; {spell(sample.limiting_group)} limits it most."
            )
    return said


def _unsettled(part: Part) -> list[str]:
    """Why no number of rows is named; against the rest of each group none is looked for."""
    spread = part.table.spreads[part.gap.measure or 0]
    if spread is None or _pair(part, spread) is None:
        return []
    if isinstance(spread, Shared):
        return ["More people alone are not expected to settle it: the replicas bring noise of their own."]
    return ["No sample below a billion rows is expected to settle it: the estimate is at the threshold."]


def _pair(part: Part, spread: Spread, measure: int | None = None) -> tuple[int, int] | None:
    """The two groups whose gap is hardest to bring within the threshold: the extremes, or the widest apart."""
    gap, groups = part.gap, part.table.groups
    if gap.high is None:
        return None
    if gap.low is not None:
        own = gap.measure or 0 if measure is None else measure
        return (gap.high, gap.low) if part.passes is False else _widest(part, spread, own)
    place = next((i for i, group in enumerate(groups) if group == part.plan.reference), None)
    if place is None:
        return None
    values = spread.values
    return (gap.high, place) if values[gap.high] >= values[place] else (place, gap.high)


def _widest(part: Part, spread: Spread, measure: int) -> tuple[int, int] | None:
    chosen = np.flatnonzero(part.judged.everyone[measure] & np.isfinite(spread.values))
    if len(chosen) < 2:
        return None
    reach = 2 * np.sqrt(np.nan_to_num(spread.variances[chosen]))
    values = spread.values[chosen]
    far = values[:, None] - values[None, :] + np.hypot(reach[:, None], reach[None, :])
    np.fill_diagonal(far, -np.inf)
    high, low = np.unravel_index(int(np.argmax(far)), far.shape)
    return int(chosen[high]), int(chosen[low])


def _settle(part: Part, people: int) -> tuple[int, Group] | None:
    """How many rows, and the group that limits it. One measure beyond is a fail; to pass, all must be within."""
    asked = part.asked
    measures = [part.gap.measure or 0]
    if part.passes and part.gap.low is not None and asked.aggregate == "worst":
        measures = list(range(len(part.table.measures)))
    every = [_settled(part, measure, people) for measure in measures]
    found = [each for each in every if each is not None]
    if not found or len(found) < len(every):
        return None
    most = max(found, key=lambda each: each.multiplier)
    multiplier, limiting = most.multiplier, most.limiting
    support = part.table.support
    named = part.judged.everyone
    smallest = float(support[named].min()) if part.passes and named.any() else math.inf
    if 0 < smallest * multiplier < asked.policy.min_group_size:
        multiplier = asked.policy.min_group_size / smallest
        limiting = int(np.argmin(np.where(named, support, np.inf).min(axis=0)))
    return math.ceil(multiplier * people), part.table.groups[limiting]


def _settled(part: Part, measure: int, people: int) -> power.Settling | None:
    """The same for one measure; None where no number of rows would do."""
    asked, spread = part.asked, part.table.spreads[measure]
    if spread is None or (pair := _pair(part, spread, measure)) is None:
        return None
    share = asked.confidence ** (1 / len(part.table.measures))
    groups = int((part.judged.everyone[measure] & np.isfinite(spread.values)).sum())
    return power.rows_to_settle(spread, pair, asked.judged_on, asked.threshold or 0.0, share, groups, people)


def _rounded(rows: int) -> int:
    """Two figures are all that such a forecast carries."""
    digits = max(len(str(rows)) - 2, 0)
    return round(rows, -digits)
