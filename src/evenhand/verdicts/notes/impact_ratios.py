"""Notes on impact ratios: each group against its yardstick, and which of the two rules of US employment practice it
meets: four fifths, and two standard deviations. `verdicts.impact` has the numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from evenhand.core.results import Group, Panel, Row
from evenhand.core.wording import amount, quotient
from evenhand.errors import join_names
from evenhand.inference.clustered import Clustered
from evenhand.measures.group_data import BinnedScores
from evenhand.measures.scores import above_median
from evenhand.verdicts import impact
from evenhand.verdicts.impact import ImpactLine
from evenhand.verdicts.stratum import Stratum
from evenhand.verdicts.verdict import passes

MARK = 2.0  # standard deviations
_MOST_RATIOS, _MOST_TESTS = 20, 6
_OF_WEIGHTS = (
    "With weights, the standard deviations and the odds ratio rest on the number of people that the weights are worth. "
    "Exact tests, the shortfall and how few decisions turn the result count whole people, so they are not computed."
)


def impact_ratios(
    strata: Sequence[Stratum], rows: Mapping[Group, Sequence[Row]], worst: Stratum
) -> tuple[tuple[Panel, ...], list[str]]:
    """The tables and the sentences of a rate that is set against a yardstick.

    The sentences are about the stratum that the finding speaks of, and only where the data chose the yardstick: against
    a group that was named, the finding says the same.
    """
    lines = {stratum.name: impact.impact_lines(stratum, rows[stratum.name]) for stratum in strata}
    every = [line for each in lines.values() for line in each]
    notes = _notes(worst, lines[worst.name]) if worst.plan.against == "highest" else []
    if worst.table.cube.w is not None:
        notes.append(_OF_WEIGHTS)
    return impact.panels(every, worst.request.threshold), notes


def _notes(stratum: Stratum, every: Sequence[ImpactLine]) -> list[str]:
    top = stratum.yardstick(0)
    lines = [line for line in every if line.standing == "compared" and line.rate.defined]
    if top is None or math.isnan(stratum.gap.ratio) or isinstance(stratum.table.spreads[0], Clustered):
        return []
    row, value = stratum.table.measures[0], float(stratum.table.values[0, top])
    shown = join_names(
        (f"{line.name} {quotient(_ratio(line))} ({amount(line.rate.value)})" for line in lines), _MOST_RATIOS
    )
    name = stratum.table.name(top)
    passed_over = any(line.rate.value > value for line in lines)
    of = " of a group large enough to measure others by" if passed_over else ""
    notes = [f"Impact ratios against {name} ({amount(value)}), the highest {row.title}{of}: {shown}."]
    notes += _median(stratum) if row.name == "scoring_rate" else []
    return notes + _rules(lines, stratum.request.threshold)


def _rules(lines: Sequence[ImpactLine], limit: float | None) -> list[str]:
    """Who is below the threshold, and who is two standard deviations below: the two may disagree."""
    if limit is None:
        return []
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for line in lines:
        below = passes(_ratio(line), limit, "ratio") is False
        kinds.setdefault((below, (line.deviations or 0.0) <= -MARK), []).append(_tested(line))
    headings = {
        (True, True): f"Below {limit:g} of it and two or more standard deviations under it",
        (True, False): f"Below {limit:g} of it, yet less than two standard deviations under it",
        (False, True): f"Not below {limit:g} of it, yet two or more standard deviations under it",
    }
    return [
        f"{heading}: {join_names(kinds[kind], _MOST_TESTS)}." for kind, heading in headings.items() if kind in kinds
    ]


def _ratio(line: ImpactLine) -> float:
    return math.nan if line.ratio is None else line.ratio.value


def _tested(line: ImpactLine) -> str:
    exact = "" if line.fisher_p is None else f", Fisher's exact p {_p(line.fisher_p)}"
    return f"{line.name} ({abs(line.deviations or 0.0):.1f}{exact})"


def _median(stratum: Stratum) -> list[str]:
    """Which scores count as above the median of everyone."""
    scores = stratum.table.cube.scores
    if scores is None:
        return []
    binned = BinnedScores.from_table(scores, len(stratum.table.groups))
    reading, bins = binned.reading, binned.reading.bins
    share = above_median(binned.mass.sum(axis=(0, 1)), bins.exact)
    last = int((share < 1).nonzero()[0][-1])
    edge = float(reading.turn(bins.starts)[last])
    side = "above" if reading.mirror is None else "below"
    if bins.exact:
        return [f"A score {side} {edge:g} is better than the median of everyone."]
    return [f"A score {side} about {edge:.4g} is better than the median of everyone."]


def _p(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"= {p:.2g}"
