"""trend(): metrics over periods with intervals, and evidence of a gap that stays valid however often one looks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.audits.audit import Audit
from evenhand.audits.evidence import Evidence, GroupPair, evidence
from evenhand.core import frames
from evenhand.core.arguments import checked
from evenhand.core.cards import Carded
from evenhand.core.familiar import familiar
from evenhand.core.results import (
    TREND,
    UNDEFINED,
    Estimate,
    Finding,
    Panel,
    Row,
    Verdict,
    number_or_none,
    spell,
    spell_stratum,
)
from evenhand.core.signs import Printable, escaped, printable
from evenhand.core.wording import capital, counted, distance, e_figure, limit_figure, reach, tolerated
from evenhand.cube import merge, parquet
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError
from evenhand.sources.documentation import documented
from evenhand.verdicts import comparison, policy_file
from evenhand.verdicts.finding import judge, plan_of
from evenhand.verdicts.policy import ALL, Policy, chosen_metrics
from evenhand.verdicts.request import Request, make_request

_MOST_GROUPS_DRAWN = 8  # each is a line over time
_MOST_ROWS_DRAWN = 430  # of such a panel: a page has room for few


@dataclass(frozen=True, repr=False)
class Point(Printable):
    """One period: the gap with its interval, as that period alone shows it, and the e-value of all periods so far.

    The e-value is how many times somebody who doubts that the gap is within the threshold would have multiplied their
    money by now; NaN where no bet can be placed.
    """

    period: str
    people: int
    e_value: float
    finding: Finding | None = None
    reason: str | None = None

    @property
    def value(self) -> Estimate:
        """The gap in this period; undefined where there is nothing to compare."""
        return UNDEFINED if self.finding is None else self.finding.extremes

    def __repr__(self) -> str:
        told = f"{self.value}, e-value {e_figure(self.e_value)}, {self.people:,} people"
        return printable(f"<Point {escaped(self.period)}: {told}>")


@dataclass(frozen=True, repr=False)
class Series(Printable):
    """One metric on one set of attributes over all periods.

    `needed` is the e-value that raises an alarm, and `alarm` the first period in which it was reached. Later periods
    do not take an alarm back. `whole` is the finding on all periods together.
    """

    points: tuple[Point, ...]
    whole: Finding
    needed: float
    suspect: GroupPair | None = None
    reason: str | None = None
    """Why there is no evidence, where no bet can be placed on the metric."""
    controls: tuple[str, ...] = ()
    """The columns that make the strata."""
    confidence: float = 0.95
    """At which the interval of each period holds."""

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.whole.metric

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that make the groups."""
        return self.whole.attributes

    @property
    def alarm(self) -> str | None:
        """The first period in which the evidence sufficed; None if there is none so far."""
        return next((point.period for point in self.points if point.e_value >= self.needed), None)

    @property
    def peak(self) -> float:
        """The highest e-value so far; NaN where there is none."""
        return max((point.e_value for point in self.points), default=math.nan)

    @property
    def interpretation(self) -> str:
        """What has been seen, in a sentence."""
        beyond = f"{self._beyond} in {self.whole.title}"
        if self.reason is not None:
            return f"No evidence is gathered on {self.whole.title}: {self.reason}. Its gaps are shown."
        if not self.whole.value.defined:
            return f"No evidence on {self.whole.title} so far: no two groups have people who count in it."
        last = self.points[-1].e_value
        now = "" if last == self.peak else f" It is now {e_figure(last)}."
        if self.alarm is None:
            return (
                f"No alarm in {len(self.points)} {_plural('period', len(self.points))}: the e-value for {beyond} is "
                f"{e_figure(last)}, {e_figure(self.peak)} at its highest; {e_figure(self.needed)} would raise one."
            )
        at = next(point.e_value for point in self.points if point.period == self.alarm)
        return (
            f"Evidence of {beyond} had accumulated by {self.alarm}: the e-value was {e_figure(at)}, and "
            f"an alarm needs {e_figure(self.needed)}.{self._who()}{self._begins()}{now}{self._last()}"
        )

    @property
    def _beyond(self) -> str:
        limit = float(self.whole.threshold or 0.0)
        if self.whole.judged_on == "ratio":
            return f"a ratio below {limit_figure(limit)}"
        return f"a gap above {tolerated(limit, self.whole.unit)}"

    def _who(self) -> str:
        if self.suspect is None:
            return ""
        both = (self.suspect.higher, self.suspect.lower)
        higher, lower = ("everyone else" if who is None else spell(who, self.attributes) for who in both)
        within = f" in {spell_stratum(self.suspect.stratum, self.controls)}" if self.suspect.stratum else ""
        title = self.suspect.measure.title
        said = f"higher for {higher} than for {lower}{within}."
        rows = [row for row in self.whole.groups if row.measure is not None]
        if len({(row.measure, row.stratum) for row in rows}) > 1:
            return f" Most of this evidence comes from the {title}: it is {said}"
        pair = "" if len({row.group for row in rows}) < 3 else "Most of this evidence comes from two groups: the "
        return f" {pair or 'The '}{title} is {said}"

    def _begins(self) -> str:
        """The first period whose own interval lies beyond the threshold."""
        begun = next((each.period for each in self.points if each.finding and each.finding.verdict == "fail"), None)
        return "" if begun is None else f" The first period whose own interval lies beyond the threshold is {begun}."

    def _last(self) -> str:
        """The gap of the last period."""
        point = self.points[-1]
        if not point.value.defined:
            return ""
        whole, (value, low, high) = self.whole, (point.value.value, point.value.low, point.value.high)
        ratio = whole.judged_on == "ratio"
        size = f"{value:.2f}" if ratio else distance(value, whole.unit)
        if low is not None and high is not None:
            size += reach((low, high), self.confidence, whole.judged_on, whole.unit)
        return f" The last period, {point.period}, has a {'ratio' if ratio else 'gap'} of {size}."

    def _line(self, i: int, period: str, row: Row) -> tuple[object, ...]:
        """A measure of a group in one period."""
        got, name = row.estimate or UNDEFINED, spell(row.group, self.attributes)
        name = name if not row.stratum else f"{name} in {spell_stratum(row.stratum, self.controls)}"
        return name, i, number_or_none(got.value), got.low, got.high, row.n, period

    def finding(self) -> Finding:
        """The finding of all periods with the verdict of the evidence: fail after an alarm, else not judged.

        Where there is a threshold and no alarm can be raised, it is inconclusive: nobody is watching.

        The p-value is 1 over the highest e-value: it, too, stays valid however often one looks.
        """
        verdict: Verdict = "not judged" if self.alarm is None else "fail"
        if self.whole.threshold is not None and (self.reason is not None or not self.whole.value.defined):
            verdict = "inconclusive"
        peak = self.peak
        # How many rows would settle the gap of all periods together says nothing of when evidence suffices.
        notes = [note for note in self.whole.notes if verdict == "inconclusive" or "settle it" not in note]
        return replace(
            self.whole,
            verdict=verdict,
            interpretation=self.interpretation,
            notes=(f"All periods together: {self.whole.interpretation}", *notes),
            p_value=None if math.isnan(peak) else min(1.0, 1.0 / max(peak, 1e-300)),
            p_adjusted=None,
            tested=None if math.isnan(peak) else "betting",
            panels=(*self.panels(), *self.whole.panels),
            settings={**self.whole.settings, "e_value": number_or_none(peak), "alarm_at": self.needed},
        )

    def __repr__(self) -> str:
        alarm = "no alarm" if self.alarm is None else f"alarm since {escaped(self.alarm)}"
        on = escaped(" × ".join(self.attributes))
        return printable(f"<Series of {self.metric} on {on}: {counted(len(self.points), 'period')}, {alarm}>")

    def panels(self) -> tuple[Panel, ...]:
        """The gap over time, the evidence over time and, for few groups, their measures over time."""
        where = " × ".join(self.attributes)
        value = "ratio" if self.whole.judged_on == "ratio" else "gap"
        gaps: list[tuple[object, ...]] = []
        money: list[tuple[object, ...]] = []
        for i, point in enumerate(self.points, 1):
            got = point.value
            gaps.append((value, i, number_or_none(got.value), got.low, got.high, point.people, point.period))
            money.append(("evidence", i, _log10(point.e_value), point.period))
        if self.whole.threshold is not None:
            ends = [(i, point) for i, point in enumerate(self.points, 1) if i in (1, len(self.points))]
            gaps += [("threshold", i, self.whole.threshold, None, None, None, point.period) for i, point in ends]
            money += [
                (f"alarm at {e_figure(self.needed)}", i, math.log10(self.needed), point.period) for i, point in ends
            ]
        title = f"{self.whole.title} by {where}"
        columns: tuple[str, ...] = ("line", "period", value, *_REST)
        panels = [Panel("curve", f"{capital(title)}, over time", columns, tuple(gaps), role=TREND)]
        if self.reason is None:
            columns = ("line", "period", "log10 of the e-value", "name")
            panels.append(Panel("curve", f"Evidence beyond the threshold: {title}", columns, tuple(money), role=TREND))
        return (*panels, *self._groups_over_time(where))

    def _groups_over_time(self, where: str) -> list[Panel]:
        rows: dict[str, list[tuple[object, ...]]] = {}
        for i, point in enumerate(self.points, 1):
            for row in () if point.finding is None else point.finding.groups:
                rows.setdefault(row.measure, []).append(self._line(i, point.period, row))
        panels = []
        for measure, lines in rows.items():
            groups = {line[0] for line in lines}
            if len(groups) <= _MOST_GROUPS_DRAWN and len(lines) <= _MOST_ROWS_DRAWN:
                name = capital(measure.replace("_", " "))
                columns = ("group", "period", measure, *_REST)
                title = f"{name} of each group of {where}, over time"
                panels.append(Panel("curve", title, columns, tuple(lines), role=TREND))
        return panels


_REST = ("low", "high", "n", "name")
_ABOUT = ("metric", "attributes", "period", "people", "judged_on")
_FIGURES = ("value", "low", "high", "threshold", "highest", "lowest")
_COLUMNS = (*_ABOUT, *_FIGURES, "e_value", "needed", "alarm", "reason")


@documented
@checked
@dataclass(frozen=True, repr=False)
class Trend(Carded):
    """The result of trend(): metrics over periods, and the first `alarm` that any of the series raised.

    Under "no gap is beyond its threshold, in any period", the probability that an alarm is ever raised, however long
    and often one looks, is at most 1 − confidence, for all series together.
    """

    periods: tuple[str, ...]
    series: tuple[Series, ...]
    cube: Cube
    policy: Policy
    notes: tuple[str, ...] = ()

    @property
    def alarm(self) -> str | None:
        """The first period in which any of the series raised an alarm."""
        raised = {each.alarm for each in self.series}
        return next((period for period in self.periods if period in raised), None)

    @property
    def watchful(self) -> bool:
        """Whether an alarm can be raised at all."""
        return any(each.reason is None for each in self.series)

    def to_frame(self, kind: str | None = None) -> Any:
        """A line for each series and period, as a dataframe."""
        lines = []
        for each in self.series:
            raised = False
            for point in each.points:
                raised |= point.e_value >= each.needed
                value, finding = point.value, point.finding
                about = (each.metric, " × ".join(each.attributes), point.period, point.people, each.whole.judged_on)
                figures = (value.value, value.low, value.high, each.whole.threshold)
                who = (None, None) if finding is None else (finding.highest, finding.lowest)
                lines.append((*about, *figures, *who, point.e_value, each.needed, raised, point.reason or each.reason))
        return frames.frame({name: [line[i] for line in lines] for i, name in enumerate(_COLUMNS)}, kind)

    def audit(self) -> Audit:
        """An audit of all periods together, judged by the evidence over time; its panels show the trend."""
        findings = tuple(each.finding() for each in self.series)
        required = tuple(dict.fromkeys(finding.metric for finding in findings))
        return Audit(self.cube, replace(self.policy, required=required), findings, self.notes, required)

    def save(self, path: str | Path) -> None:
        """Write it to a file as an audit: .html, .json, .md, .pdf or .xml."""
        save(self.audit(), Path(path))

    def __str__(self) -> str:
        from evenhand.report.text import trend as trends

        return trends.plain(self)

    def __repr__(self) -> str:
        alarm = "no alarm" if self.alarm is None else f"alarm since {escaped(self.alarm)}"
        size = f"{counted(len(self.periods), 'period')}, {len(self.series)} series, {self.cube.size:,} people"
        return printable(f"<Trend: {alarm}; {size}>")


@documented
@familiar
def trend(
    cubes: Any,
    *,
    metrics: Iterable[Any] | str | None = None,
    policy: Policy | str | Path | None = None,
    reference: Any = None,
    threshold: Mapping[str, float] | float | None = None,
    confidence: float | None = None,
    intersections: bool | int | None = None,
    min_group_size: int | None = None,
) -> Trend:
    """Metrics over periods, and whether evidence of a gap beyond the threshold has accumulated.

    Each person is counted in one period, and a period that was looked at is not counted again.

    Parameters
    ----------
    cubes
        The periods in their order: a mapping from names to cubes or paths, a list of paths or a glob (named by file),
        or a list of cubes.
    metrics
        The metrics that decide; by default what the policy requires.
    threshold
        How large a gap is tolerated: one number, or a mapping by metric.

    Returns
    -------
    Trend
        The series of each metric, and when its evidence was enough for an alarm.

    >>> day = Cube.count(prediction=[1] * 60 + [0] * 40 + [1] * 30 + [0] * 70, sensitive=["a"] * 100 + ["b"] * 100)
    >>> found = trend({"monday": day, "tuesday": day, "wednesday": day})
    >>> found.alarm, [round(point.e_value, 1) for point in found.series[0].points]
    ('tuesday', [2.7, 149.9, 9633.3])
    """
    settled = policy_file.resolve(policy).updated(
        reference=reference, confidence=confidence, intersections=intersections, min_group_size=min_group_size
    )
    settled = _with_thresholds(settled, threshold, metrics)
    named = _periods(cubes)
    total = merge.add([(f"period {name!r}", cube) for name, cube in named.items()])
    chosen = chosen_metrics([metrics] if isinstance(metrics, str) else metrics)
    if chosen == ALL:
        raise CallError("a series watches what decides, so that metrics='all' says nothing here: name some, or none.")
    names = list(chosen) if chosen is not None else list(settled.required_for(total))
    if not names:
        raise CallError("no metric is required by the policy, so there is nothing to watch: name some in metrics=.")
    baseline = comparison.reference_in(settled.reference, total)
    looked_at = total.attribute_sets(settled.intersections)
    sets = [attributes for attributes in looked_at.sets if settled.decides_on(attributes)]
    if not sets:
        raise CallError("the policy decides on intersections and there are none: name two attributes or more.")
    watched = [
        _WatchedMetric.of(make_request(name, policy=settled, reference=baseline), attributes, total, named)
        for attributes in sets
        for name in names
    ]
    # Whether a metric can be bet on does not depend on outcomes, so that the level may depend on how many can.
    needed = max(sum(one.evidence.reason is None for one in watched), 1) / (1 - settled.confidence)
    series = tuple(one.series(named, needed) for one in watched)
    notes = [*total.notes, *looked_at.notes, *_notes(series, settled, needed)]
    return Trend(tuple(named), series, total, settled, tuple(notes))


def save(audit: Audit, path: Path) -> None:
    """Write the audit of a trend. A page gets no counts: it would judge from them again, and not by the evidence."""
    audit.save(path, embed_cube=path.suffix != ".html")


def _with_thresholds(policy: Policy, threshold: Mapping[str, float] | float | None, metrics: Any) -> Policy:
    if threshold is None:
        return policy
    if isinstance(threshold, Mapping):
        return policy.with_thresholds(threshold)
    chosen = [metrics] if isinstance(metrics, str) else list(metrics or policy.required or ())
    if not chosen or not all(isinstance(name, str) for name in chosen):
        raise CallError("a single threshold needs metrics= by name; or pass threshold={'equalized_odds': 0.05}.")
    return policy.with_thresholds(dict.fromkeys(chosen, threshold))


def _periods(cubes: Any) -> dict[str, Cube]:
    """The cubes by the names of their periods."""
    parts = merge.named(cubes)
    if not parts:
        raise CallError("there are no periods: pass cubes, or paths of saved cubes.")
    paths = [part for part in parts.values() if isinstance(part, Path)]
    loaded = iter(parquet.load_each(paths))
    periods = {name: part if isinstance(part, Cube) else next(loaded) for name, part in parts.items()}
    if (cluster := next(iter(periods.values())).meaning.cluster) is not None:
        raise CallError(
            f"watching takes each row for a decision of its own, and these cubes have clusters of {cluster!r}: watch "
            "cubes in which each cluster has one row, counted without cluster=."
        )
    if isinstance(cubes, Mapping):
        return periods
    stems = [part.stem if isinstance(part, Path) else str(i) for i, part in enumerate(parts.values(), 1)]
    names = stems if len(set(stems)) == len(stems) else [str(part) for part in parts.values()]
    return dict(zip(names, periods.values(), strict=True))


@dataclass(frozen=True)
class _WatchedMetric:
    """One metric on one set of attributes with its evidence, before the e-value that raises an alarm is known."""

    request: Request
    cubes: tuple[Cube, ...]
    whole: Finding
    evidence: Evidence

    @classmethod
    def of(cls, request: Request, attributes: Sequence[str], total: Cube, named: Mapping[str, Cube]) -> _WatchedMetric:
        everyone = total.marginal(attributes)
        cubes = tuple(cube.marginal(attributes) for cube in named.values())
        whole = judge(request, everyone)
        judged = replace(request, threshold=whole.threshold)
        return cls(request, cubes, whole, evidence(judged, plan_of(request, everyone)[0], everyone, cubes))

    def series(self, names: Iterable[str], needed: float) -> Series:
        e_values = self.evidence.e_values or (math.nan,) * len(self.cubes)
        points = tuple(self._point(*part) for part in zip(names, self.cubes, e_values, strict=True))
        suspect, controls = _strongest_pair(self.evidence, needed), self.cubes[0].meaning.control
        confidence = self.request.policy.confidence
        return Series(points, self.whole, needed, suspect, self.evidence.reason, tuple(controls), confidence)

    def _point(self, name: str, cube: Cube, e_value: float) -> Point:
        try:
            return Point(name, cube.size, e_value, judge(self.request, cube))
        except DataError as error:
            return Point(name, cube.size, e_value, reason=str(error))


def _strongest_pair(result: Evidence, needed: float) -> GroupPair | None:
    """The pair with most evidence when the alarm was raised, or at the end."""
    at = next((i for i, e_value in enumerate(result.e_values) if e_value >= needed), len(result.e_values) - 1)
    return result.suspects[at] if result.suspects else None


def _notes(series: Sequence[Series], policy: Policy, needed: float) -> list[str]:
    often = f"{100 * (1 - policy.confidence):.3g} %"
    alarm = (
        f"An alarm is raised at an e-value of {e_figure(needed)}. If no gap were ever beyond its threshold, at "
        f"most {often} of such series would raise one, however long they run and however often one looks."
    )
    notes = [
        *([alarm] if any(each.reason is None for each in series) else []),
        f"The intervals are those of single periods, at {100 * policy.confidence:g} % each.",
        "Each person is taken to be counted once, in one period, and to be independent of the others given the past.",
    ]
    without = [each for each in series if each.reason is not None]
    if without:
        shown = "; ".join(dict.fromkeys(f"{each.metric}: {each.reason}" for each in without))
        notes.append(f"Shown without evidence: {shown}.")
    return notes


def _log10(value: float) -> float | None:
    return None if math.isnan(value) else math.log10(max(value, 1e-300))


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"
