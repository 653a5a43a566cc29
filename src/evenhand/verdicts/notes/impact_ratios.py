"""Impact ratios: each group against the highest, with the tests that US employment practice reads beside them.

Fisher's exact test is exact for small numbers; the two-standard-deviation test is the z of two proportions with their
pooled variance. Both take the highest group as given, although the data chose it; the intervals allow for that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.results import Panel, Row
from evenhand.core.wording import amount, quotient
from evenhand.errors import join_names
from evenhand.inference.clustered import Clustered
from evenhand.inference.hypotheses import two_proportion_z
from evenhand.inference.spread import Proportions
from evenhand.measures.group_data import BinnedScores
from evenhand.measures.scores import above_median
from evenhand.verdicts.stratum import Stratum

MARK = 2.0  # standard deviations
_COLUMNS = (
    "group",
    "people",
    "rate",
    "against",
    "impact ratio",
    "low",
    "high",
    "Fisher's exact p",
    "standard deviations",
    "shortfall",
)
_MOST_RATIOS, _MOST_TESTS = 20, 6


@dataclass(frozen=True)
class _Line:
    """A group below the highest: its distance in standard deviations, and the people missing for parity."""

    name: str
    row: Row
    exact: float | None
    deviations: float
    shortfall: float

    @property
    def ratio(self) -> float:
        return self.row.ratio.value if self.row.ratio is not None else math.nan

    @property
    def rate(self) -> float:
        return self.row.estimate.value if self.row.estimate is not None else math.nan

    def text(self) -> str:
        exact = "" if self.exact is None else f", Fisher's exact p {_p(self.exact)}"
        return f"{self.name} ({abs(self.deviations):.1f}{exact})"


def impact_ratios(stratum: Stratum, rows: Sequence[Row]) -> tuple[tuple[Panel, ...], list[str]]:
    """The table and the sentences of a stratum whose one rate is set against the highest; else neither."""
    spread = stratum.table.spreads[0] if len(stratum.table.spreads) == 1 else None
    top = stratum.highest(0) if stratum.plan.against == "highest" and stratum.request.judged_on == "ratio" else None
    if top is None or not isinstance(spread, Proportions) or math.isnan(stratum.gap.ratio) or stratum.unit != "rate":
        return (), []
    if isinstance(spread, Clustered):  # tests of single people, and how many of them are missing
        return (), []
    table = stratum.table
    compared = [j for j in range(len(table.groups)) if rows[j].ratio is not None]
    lines = [_line(table.name(j), spread, j, top, rows[j]) for j in compared]
    lines.sort(key=lambda line: line.ratio)
    within = f" in {stratum.where}" if stratum.name else ""
    cells = tuple(_cells(line, table.name(top)) for line in lines)
    panel = Panel("table", f"Impact ratios{within}", _COLUMNS, cells)
    others = [line for line in lines if line.row.group != stratum.table.groups[top] and not math.isnan(line.rate)]
    return (panel,), _notes(stratum, top, others)


def _line(name: str, spread: Proportions, j: int, top: int, row: Row) -> _Line:
    """The shortfall is how many more of the group would have to be chosen for its rate to be that of both together."""
    k, n = spread.k, spread.n
    pooled = (k[j] + k[top]) / (n[j] + n[top])
    z = 0.0 if j == top else two_proportion_z(k[j], n[j], k[top], n[top]).statistic
    whole = bool((k == k.round()).all() and (n == n.round()).all())  # weights have no exact test
    return _Line(name, row, row.p_value if whole else None, float(z), 0.0 if j == top else float(n[j] * pooled - k[j]))


def _cells(line: _Line, top: str) -> tuple[object, ...]:
    row, ratio = line.row, line.row.ratio
    ends = (None, None, None) if ratio is None else (ratio.value, ratio.low, ratio.high)
    return (line.name, row.n, line.rate, top, *ends, line.exact, line.deviations, line.shortfall)


def _notes(stratum: Stratum, top: int, lines: Sequence[_Line]) -> list[str]:
    row, value = stratum.table.measures[0], float(stratum.table.values[0, top])
    shown = join_names((f"{line.name} {quotient(line.ratio)} ({amount(line.rate)})" for line in lines), _MOST_RATIOS)
    name = stratum.table.name(top)
    passed_over = any(line.rate > value for line in lines)
    of = " of a group large enough to measure others by" if passed_over else ""
    notes = [f"Impact ratios against {name} ({amount(value)}), the highest {row.title}{of}: {shown}."]
    notes += _median(stratum) if row.name == "scoring_rate" else []
    limit = stratum.request.threshold
    if limit is None:
        return notes
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for line in lines:
        kinds.setdefault((line.ratio < limit, line.deviations <= -MARK), []).append(line.text())
    headings = {
        (True, True): f"Below {limit:g} of it and two or more standard deviations under it",
        (True, False): f"Below {limit:g} of it, yet less than two standard deviations under it",
        (False, True): f"Not below {limit:g} of it, yet two or more standard deviations under it",
    }
    return notes + [
        f"{heading}: {join_names(kinds[kind], _MOST_TESTS)}." for kind, heading in headings.items() if kind in kinds
    ]


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
