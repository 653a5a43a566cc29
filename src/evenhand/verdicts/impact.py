"""Adverse impact: each group against its yardstick, in every figure that employment practice reads.

The yardstick is the group with the highest rate, a group that was named, or everyone else. Tests and odds ratios take
it as given, although the data may have chosen it; the intervals of ratios and differences allow for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.core.results import Estimate, Group, Panel, Row, number_or_none
from evenhand.inference import hypotheses, stratified, two_rates
from evenhand.inference.clustered import Clustered
from evenhand.inference.spread import Proportions
from evenhand.inference.two_rates import NO_TURN, OddsRatio, Turn
from evenhand.verdicts.stratum import Stratum
from evenhand.verdicts.verdict import passes

ROLE = "impact"
"""The role of the panels, by which texts and forms find them."""

Standing = Literal["compared", "reference", "excluded", "unknown"]


@dataclass(frozen=True)
class ImpactLine:
    """One group of an adverse impact table, in one stratum; what cannot be computed is None.

    `standing` says what the line is: a group that is compared, the reference, a category with too small a share of the
    people to be compared (`excluded`), or the people whose group is not known (`unknown`). `ratio` and `difference`,
    group over and group less reference, have intervals that hold for all groups together. `deviations` is the z of two
    proportions with their pooled variance. Weights have no exact test and no number of decisions that turn a result.
    """

    group: Group
    name: str
    standing: Standing
    people: int
    selected: float | None
    rate: Estimate
    against: str | None = None
    ratio: Estimate | None = None
    difference: Estimate | None = None
    deviations: float | None = None
    fisher_p: float | None = None
    mid_p: float | None = None
    odds_ratio: OddsRatio | None = None
    cohens_h: float | None = None
    shortfall: float | None = None
    turn: Turn = NO_TURN
    stratum: Group = ()
    where: str = ""


@dataclass(frozen=True)
class CommonLine:
    """A group against its yardstick within strata, as by Mantel and Haenszel; `breslow_day_p` tests whether
    one odds ratio fits all strata."""

    group: Group
    name: str
    against: str
    people: int
    common: stratified.Common
    breslow_day_p: float | None


@dataclass(frozen=True)
class _Yardstick:
    """What groups are set against in a stratum: its name, its place where it is one of the groups, k and n."""

    name: str
    place: int | None
    k: Sequence[float]
    n: Sequence[float]


def impact_lines(stratum: Stratum, rows: Sequence[Row]) -> list[ImpactLine]:
    """The lines of a stratum, the lowest ratio first, then categories that are not compared.

    `rows` are those of the finding in this stratum, one for each group, with the ratios and differences.
    """
    yardstick = _yardstick(stratum)
    lines = [_line(stratum, j, rows[j], yardstick) for j in range(len(stratum.table.groups))]
    order: dict[Standing, int] = {"compared": 0, "reference": 0, "excluded": 1, "unknown": 2}

    def key(line: ImpactLine) -> tuple[int, float]:
        value = math.inf if line.ratio is None or not line.ratio.defined else line.ratio.value
        return order[line.standing], value

    return sorted(lines, key=key)


def _yardstick(stratum: Stratum) -> _Yardstick | None:
    table, spread = stratum.table, stratum.table.spreads[0]
    assert isinstance(spread, Proportions)  # noqa: S101 - `Stratum.is_impact` asked
    if stratum.plan.against == "highest":
        top = stratum.yardstick(0)
        if top is None:
            return None
        every = len(table.groups)
        return _Yardstick(table.name(top), top, [float(spread.k[top])] * every, [float(spread.n[top])] * every)
    base = table.base_spreads[0] if len(table.base_spreads) else None
    if not isinstance(base, Proportions):
        return None
    groups = list(table.groups)
    place = groups.index(stratum.plan.reference) if stratum.plan.reference in groups else None
    return _Yardstick(str(stratum.baseline), place, base.k.tolist(), base.n.tolist())


def _line(stratum: Stratum, j: int, row: Row, yardstick: _Yardstick | None) -> ImpactLine:
    spread = stratum.table.spreads[0]
    assert isinstance(spread, Proportions)  # noqa: S101 - `Stratum.is_impact` asked
    k, n = float(spread.k[j]), float(spread.n[j])
    standing = _standing(stratum, j, yardstick)
    selected = _selected(stratum, j, k)
    line = ImpactLine(
        row.group,
        stratum.table.name(j),
        standing,
        int(row.n or 0),
        selected,
        row.estimate or Estimate(math.nan),
        stratum=stratum.name,
        where=stratum.where if stratum.name else "",
    )
    if standing in ("excluded", "unknown") or yardstick is None:
        return line
    if standing == "reference":
        return replace(line, ratio=Estimate(1.0), difference=Estimate(0.0)) if k > 0 else line
    line = replace(line, against=yardstick.name, ratio=row.ratio, difference=row.difference)
    if isinstance(spread, Clustered) or not (n > 0 and yardstick.n[j] > 0):
        return line
    return _with_tests(stratum, line, (k, n, yardstick.k[j], yardstick.n[j]))


def _with_tests(stratum: Stratum, line: ImpactLine, counts: tuple[float, float, float, float]) -> ImpactLine:
    """The line with what compares single people; of weights only what does not count whole people."""
    k1, n1, k2, n2 = counts
    line = replace(
        line,
        deviations=hypotheses.two_proportion_z(*counts).statistic,
        odds_ratio=two_rates.odds_ratio(*counts, confidence=stratum.request.policy.confidence),
        cohens_h=hypotheses.cohens_h(k1 / n1, k2 / n2),
    )
    if any(count != round(count) for count in counts):
        return line
    whole = int(k1), int(n1), int(k2), int(n2)
    fisher, mid = two_rates.exact_p(*whole)
    threshold = stratum.request.threshold
    return replace(
        line,
        fisher_p=fisher,
        mid_p=mid,
        shortfall=two_rates.shortfall(*whole),
        turn=two_rates.turn(*whole, lambda ratio: passes(ratio, threshold, "ratio")),
    )


def _standing(stratum: Stratum, j: int, yardstick: _Yardstick | None) -> Standing:
    group = stratum.table.groups[j]
    if yardstick is not None and j == yardstick.place:
        return "reference"
    if None in group:
        return "unknown"
    return "excluded" if group in stratum.rare else "compared"


def _selected(stratum: Stratum, j: int, k: float) -> float | None:
    """How many people of a group were selected: k, and with weights the people behind it, where cells tell them."""
    cube, spread = stratum.table.cube, stratum.table.spreads[0]
    if cube.w is None and not isinstance(spread, Clustered):
        return int(k) if k == round(k) else k  # a scoring rate may split the people at the median
    top = getattr(getattr(spread, "form", None), "top", None)
    if top is None or cube.classes or len(top) != cube.counts.shape[1]:  # as of a scoring rate, which bins tell
        return None
    return int(cube.counts[j] @ top)


# --- over strata


def common_lines(whole: Stratum, strata: Sequence[Stratum]) -> list[CommonLine]:
    """Each group against the yardstick of everyone, within strata; none where rows belong together."""
    yardstick = _yardstick(whole)
    if yardstick is None or isinstance(whole.table.spreads[0], Clustered):
        return []
    lines = []
    for j, group in enumerate(whole.table.groups):
        if _standing(whole, j, yardstick) != "compared":
            continue
        k, n = (np.array(part) for part in zip(*_by_stratum(whole, strata, group, yardstick), strict=True))
        found = stratified.common(k, n, whole.request.policy.confidence)
        apart = stratified.breslow_day(k, n).p_value
        people = int(whole.table.support[0, j])
        lines.append(CommonLine(group, whole.table.name(j), yardstick.name, people, found, number_or_none(apart)))
    return sorted(lines, key=lambda line: (math.isnan(line.common.ratio[0]), line.common.ratio[0]))


def _by_stratum(
    whole: Stratum, strata: Sequence[Stratum], group: Group, yardstick: _Yardstick
) -> list[tuple[list[float], list[float]]]:
    """k and n of a group and of its yardstick in each stratum, 0 where a stratum does not hold one of them."""
    top = None if yardstick.place is None else whole.table.groups[yardstick.place]
    found = []
    for stratum in strata:
        groups, spread = list(stratum.table.groups), stratum.table.spreads[0]
        assert isinstance(spread, Proportions)  # noqa: S101 - as in the whole
        pair = [(0.0, 0.0), (0.0, 0.0)]
        if group in groups:
            place = groups.index(group)
            pair[0] = float(spread.k[place]), float(spread.n[place])
            base = stratum.table.base_spreads[0] if len(stratum.table.base_spreads) else None
            if top is None and isinstance(base, Proportions):
                pair[1] = float(base.k[place]), float(base.n[place])
        if top is not None and top in groups:
            place = groups.index(top)
            pair[1] = float(spread.k[place]), float(spread.n[place])
        found.append(([k for k, _ in pair], [n for _, n in pair]))
    return found


# --- as tables

_Column = tuple[str, Callable[[ImpactLine], object]]


def _end(name: str, part: str) -> Callable[[ImpactLine], object]:
    def value(line: ImpactLine) -> object:
        estimate = getattr(line, name)
        end = None if estimate is None else getattr(estimate, part)
        return None if end is None else number_or_none(end)

    return value


def _number(name: str) -> Callable[[ImpactLine], object]:
    def value(line: ImpactLine) -> object:
        found = getattr(line, name)
        return found if found is None or isinstance(found, int) else number_or_none(found)

    return value


def _titles(title: str) -> tuple[str, str, str]:
    return title, f"{title} low", f"{title} high"


def _with_ends(title: str, name: str) -> tuple[_Column, ...]:
    return tuple(zip(_titles(title), (_end(name, part) for part in ("value", "low", "high")), strict=True))


_GROUP: _Column = ("group", lambda line: line.name)
_AGAINST: _Column = ("against", lambda line: line.against)
_STRATUM: _Column = ("stratum", lambda line: line.where)
_RATIOS: tuple[_Column, ...] = (
    _GROUP,
    ("people", lambda line: line.people),
    ("selected", _number("selected")),
    ("rate", _end("rate", "value")),
    _AGAINST,
    *_with_ends("impact ratio", "ratio"),
    ("Fisher's exact p", _number("fisher_p")),
    ("standard deviations", _number("deviations")),
    ("shortfall", _number("shortfall")),
    ("line", lambda line: line.standing),
)
_TESTS: tuple[_Column, ...] = (
    _GROUP,
    _AGAINST,
    *_with_ends("difference", "difference"),
    ("standard deviations", _number("deviations")),
    ("Fisher's exact p", _number("fisher_p")),
    ("mid-p", _number("mid_p")),
    *_with_ends("odds ratio", "odds_ratio"),
    ("Cohen's h", _number("cohens_h")),
)
_TURNS: tuple[_Column, ...] = (
    _GROUP,
    _AGAINST,
    ("impact ratio", _end("ratio", "value")),
    ("one-person flip", lambda line: line.turn.flip),
    ("swaps to pass", lambda line: line.turn.to_pass),
    ("swaps to reverse", lambda line: line.turn.to_reverse),
    ("shortfall", _number("shortfall")),
)
RATIOS, TESTS, TURNS, COMMON = (
    "Impact ratios",
    "Tests and effect sizes",
    "How few decisions turn the result",
    "Within strata (Mantel-Haenszel)",
)
"""The titles of the tables."""


def panels(lines: Sequence[ImpactLine], threshold: float | None) -> tuple[Panel, ...]:
    """The lines as tables: the ratios, the tests, and what turns a result where there is a threshold."""
    tested = [line for line in lines if line.deviations is not None]
    found = [_panel(RATIOS, _RATIOS, lines)]
    if tested:
        found.append(_panel(TESTS, _TESTS, tested))
    turned = [line for line in tested if line.shortfall is not None and line.turn != NO_TURN]
    if turned and threshold is not None:
        found.append(_panel(f"{TURNS}, at {threshold:g}", _TURNS, turned))
    return tuple(found)


def _panel(title: str, columns: Sequence[_Column], lines: Sequence[ImpactLine]) -> Panel:
    if any(line.stratum for line in lines):
        columns = (_STRATUM, *columns)
    cells = tuple(tuple(value(line) for _, value in columns) for line in lines)
    return Panel("table", title, tuple(name for name, _ in columns), cells, role=ROLE)


def common_panel(lines: Sequence[CommonLine]) -> Panel:
    """The lines within strata as a table."""
    columns = (
        *("group", "against", "strata", *_titles("impact ratio"), *_titles("odds ratio")),
        *("standard deviations", "p", "shortfall", "Breslow-Day p"),
    )
    cells = tuple(
        (
            line.name,
            line.against,
            line.common.strata,
            *map(number_or_none, (*line.common.ratio, *line.common.odds_ratio)),
            *map(number_or_none, (line.common.deviations, line.common.p_value, line.common.shortfall)),
            line.breslow_day_p,
        )
        for line in lines
    )
    return Panel("table", COMMON, columns, cells, role=ROLE)
