"""What the tables of a report hold, as text, whatever writes them: findings and groups, those with evidence first."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.catalogue import complement_of
from evenhand.core import wording
from evenhand.core.arrays import Floats
from evenhand.core.results import Estimate, Finding, JudgedOn, Verdict, pair_names, shown_names, spell
from evenhand.core.wording import clip, table_figure
from evenhand.errors import join_names
from evenhand.verdicts.basis import Basis

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.core.sensitivity import Sensitivity
    from evenhand.measures.evaluate import MeasureValues

VERDICTS: tuple[Verdict, ...] = ("fail", "inconclusive", "pass", "not judged")

BAR, LIMIT_AT = 12, 2  # characters of a small drawing, and where the threshold stands in it
_GROUP_COLUMNS = {
    "selection_rate": "selected, %",
    "base_rate": "base rate, %",
    "true_positive_rate": "TPR, %",
    "false_positive_rate": "FPR, %",
    "positive_predictive_value": "PPV, %",
}
_OTHER_COLUMNS = {
    "mean_prediction": "mean prediction",
    "mean_residual": "mean residual",
    "mean_absolute_error": "mean |error|",
    "r_squared": "R²",
    "accuracy": "accuracy, %",
    "macro_true_positive_rate": "mean TPR, %",
    "macro_positive_predictive_value": "mean PPV, %",
}
_MOST_COLUMNS = 4
_FEW = 4  # findings that decide, up to which a header names each of them
_MOST_NAMED = 3
_PAIR_WIDTH = 28  # of each of two names in one cell


class GroupTable(NamedTuple):
    """The groups of some attributes with their first measures; `left_out` more groups are not shown.

    A line is the group's name, as it is, and then its cells; `titles` are those of the cells.
    """

    attributes: tuple[str, ...]
    titles: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    left_out: int


def group_table(audit: Audit, attributes: Sequence[str], most: int) -> GroupTable | None:
    """The table of the groups, or None where the cube does not know the attributes.

    Where there are more than `most`, only those are shown whose interval stays away from what holds for everyone, the
    farthest first.
    """
    if tuple(attributes) not in audit.counted_sets:
        return None
    part = audit.counts(attributes, control=False)
    wanted = _GROUP_COLUMNS if part.meaning.task == "binary" else _OTHER_COLUMNS
    columns = [each for each in audit.measures(attributes) if each.measure.name in wanted]
    if len(columns) > _MOST_COLUMNS:
        columns = [each for each in columns if each.measure.name != "base_rate"]
    columns.sort(key=lambda each: list(wanted).index(each.measure.name))
    people = part.n.sum(axis=(1, 2))
    chosen = list(range(len(part.pairs)))
    if len(chosen) > most:
        evidence = _evidence(columns, audit.measures(attributes, together=True), len(chosen))
        chosen = [i for i in np.lexsort((-people, -evidence)).tolist() if evidence[i] > 0][:most]
    lines = [
        (spell(part.pairs[i][1], attributes), f"{people[i]:,}", *(_cell(each, i) for each in columns)) for i in chosen
    ]
    titles = ("people", *(wanted[each.measure.name] for each in columns))
    return GroupTable(tuple(attributes), titles, tuple(lines), len(part.pairs) - len(lines))


def left_out(groups: GroupTable) -> str:
    """What to say below a table that does not show every group."""
    if not groups.lines:
        return f"None of the {groups.left_out:,} groups stands out from everyone by more than its interval."
    return (
        f"These lie farthest from everyone, by evidence; {groups.left_out:,} more groups lie nearer, or are too small "
        "to tell."
    )


def _cell(measured: MeasureValues, i: int) -> str:
    scale = 100 if measured.measure.unit == "rate" else 1
    return interval(measured.values[i], measured.low[i], measured.high[i], scale)


def _evidence(columns: Sequence[MeasureValues], everyone: Sequence[MeasureValues], groups: int) -> Floats:
    """How far a group's interval stays away from what holds for everyone, in the measure where that is farthest.

    A small group with an extreme rate has a wide interval, and so does not lead.
    """
    overall = {each.measure.name: each.values[0] for each in everyone}
    evidence = np.zeros(groups)
    for each in columns:
        middle = overall.get(each.measure.name, math.nan)
        away = np.fmax(each.low - middle, middle - each.high)
        if each.measure.unit != "rate" and np.isfinite(each.values).any():
            away = away / max(float(np.nanmax(each.values) - np.nanmin(each.values)), 1e-300)
        evidence = np.fmax(evidence, away)
    return evidence


def deciding(audit: Audit) -> list[Finding]:
    """The findings that decide: those that fail first, single attributes before intersections, then by evidence."""
    chosen = [finding for finding in audit.findings if audit.decides(finding)]
    return sorted(chosen, key=lambda each: (VERDICTS.index(each.verdict), len(each.attributes), _weakness(each)))


def _weakness(finding: Finding) -> tuple[float, float]:
    """How far the near end and the value stay from no gap, beside what is tolerated; the less, the higher."""
    value, near, _ = share_of_limit(finding)
    return (0.0, 0.0) if math.isnan(value) else (-round(max(near, 0.0), 9), -round(value, 9))


def notes(finding: Finding, *, decides: bool) -> tuple[str, ...]:
    """What the reader must know of a finding; of one that decides also what missing labels and groups could hide."""
    found = sensitivity(finding) if decides else None
    return (*finding.notes, *(found.sentences if found is not None else ()))


def sensitivity(finding: Finding) -> Sensitivity | None:
    """What missing labels and groups could hide; None where nothing is missing."""
    basis = finding.basis
    found = finding.sensitivity if isinstance(basis, Basis) and basis.incomplete else None
    return found if found is not None and found.missing else None


def by_attributes(audit: Audit) -> list[tuple[tuple[str, ...], list[Finding]]]:
    """The findings of each set of attributes, single ones first; in each, those that decide, then by evidence."""
    order = {attributes: i for i, attributes in enumerate(dict.fromkeys(f.attributes for f in audit.findings))}
    ranked = sorted(
        audit.findings,
        key=lambda finding: (
            len(finding.attributes),
            order[finding.attributes],
            not audit.decides(finding),
            finding.metric not in audit.required,
            VERDICTS.index(finding.verdict),
        ),
    )
    grouped = itertools.groupby(ranked, key=lambda finding: finding.attributes)
    return [(attributes, list(findings)) for attributes, findings in grouped]


def folded(audit: Audit, findings: Sequence[Finding]) -> tuple[list[Finding], str]:
    """The findings without those that say the same as another, by exact complements; and a line that names these.

    A gap in 1 - TPR is the gap in TPR, with the two groups the other way round. What decides is never folded.
    """
    kept, same = list(findings), []
    for finding in findings:
        other = next((each for each in findings if each.metric == complement_of(finding.metric)), None)
        if other is not None and not audit.decides(finding) and _says_the_same(finding, other):
            kept.remove(finding)
            same.append(f"{finding.metric} as {other.metric}")
    return kept, f"The same gaps, of exact complements: {', '.join(same)}." if same else ""


def _says_the_same(finding: Finding, other: Finding) -> bool:
    """Are two findings on complements judged alike?"""
    alike = [(each.judged_on, each.threshold, each.verdict) for each in (finding, other)]
    sizes = [abs(each.shown.value) for each in (finding, other)]
    return alike[0] == alike[1] and finding.judged_on == "difference" and math.isclose(*sizes, abs_tol=1e-9)


def tally(findings: Iterable[Finding]) -> str:
    """How many there are of each verdict: 3 inconclusive, 10 pass."""
    counts = Counter(finding.verdict for finding in findings)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])


def header(audit: Audit) -> str:
    """The verdict, and the findings that it rests on: Verdict: fail (failed: equalized_odds on race; passed: ...)."""
    return f"Verdict: {audit.verdict}{in_brackets(outcomes(audit))}"


def in_brackets(text: str) -> str:
    """A text to stand in brackets behind another; nothing where there is none."""
    return f" ({text})" if text else ""


def outcomes(audit: Audit, name: Callable[[str], str] = clip) -> str:
    """What failed, what is inconclusive and what passed among the findings that decide; `name` writes a name.

    Where many decide, only those are named that make the verdict, and the others are counted.

    >>> from evenhand import audit, datasets
    >>> roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
    >>> outcomes(audit(datasets.compas(), **roles, sensitive=["race", "sex"]))
    'failed: equalized_odds on race; passed: equalized_odds on sex'
    """
    decided = deciding(audit)
    parts = []
    for verdict in VERDICTS:
        chosen = [finding for finding in decided if finding.verdict == verdict]
        most = len(decided) if len(decided) <= _FEW else _MOST_NAMED if decided[0].verdict == verdict else 0
        names = [
            f"{name(each.metric)} on {name(' × '.join(each.attributes))}{_without(each, name)}"
            for each in chosen[:most]
        ]
        left = len(chosen) - len(names)
        more = f"{' and ' if names else ''}{left}{' more' if names else ''}" if left else ""
        if chosen:
            parts.append(f"{_outcome(audit, verdict)}: {', '.join(names)}{more}")
    if audit.left_out:
        aside = "" if audit.sharing is None else " to be shared"
        parts.append(f"left out{aside}: {', '.join(map(name, audit.left_out))}")
    return "; ".join(parts)


def _without(finding: Finding, name: Callable[[str], str]) -> str:
    """The groups that a pass leaves out."""
    if finding.verdict != "pass" or not finding.left_out:
        return ""
    groups = shown_names(finding.left_out, (row.group for row in finding.rows), finding.attributes)
    return f" (leaving out {join_names(map(name, groups), 4)})"


def _outcome(audit: Audit, verdict: Verdict) -> str:
    counted = audit.policy.counted(verdict)
    aside = "" if counted == verdict else f", which counts as a {counted} here"
    return {"fail": "failed", "pass": "passed"}.get(verdict, verdict) + aside


def headline(audit: Audit, most: int | None = None) -> str:
    """Who was audited: people, and the attributes with the number of their groups, `most` of them by name."""
    names = audit.meaning.sensitive
    shown = names if most is None or len(names) <= most + 1 else names[:most]
    groups = (wording.number_of(len(audit.counts(name).groups), "group", "groups") for name in shown)
    attributes = ", ".join(f"{clip(name)} ({size})" for name, size in zip(shown, groups, strict=True))
    more = f" and {len(names) - len(shown)} more attributes" if len(shown) < len(names) else ""
    return f"{wording.number_of(audit.cube.size, 'person', 'people')}; {attributes}{more}"


def judgement(finding: Finding) -> str:
    """What is judged, and by what, in a line: difference 8.4 [6.4, 10.4], threshold ≤ 10 points."""
    if "alarm_at" in finding.settings:
        return f"{value(finding)}, {limit(finding)}"
    return f"{finding.judged_on} {value(finding)}, threshold {limit(finding)}"


def value(finding: Finding) -> str:
    """The judged value with its interval: points of a rate, or a plain number; over time the evidence instead."""
    e_value = finding.settings.get("e_value")
    if "alarm_at" in finding.settings:
        return f"e-value {wording.e_figure(e_value)}" if isinstance(e_value, float) else "no e-value"
    return _joined(*figures(finding))


def figures(finding: Finding) -> tuple[str, str | None, str | None]:
    """The judged value and its ends, each by itself; None for an end that there is not."""
    shown, scale = finding.shown, wording.shown_scale(finding.judged_on, finding.unit)
    ends = [abs(end) for end in (shown.value, shown.low, shown.high) if end is not None]
    small = finding.judged_on == "difference" and scale == 1 and max(ends) < 0.1  # NaN is not small
    return _figures(shown.value, shown.low, shown.high, scale, digits=4 if small else None)


def interval(value: float, low: float | None, high: float | None, scale: int = 1, *, digits: int | None = None) -> str:
    """A value and its ends, in percent (or points) when scaled by 100; with as many `digits` after the point.

    >>> interval(0.5767, 0.2577, 0.6877, 100), interval(0.3143, None, None), interval(51234.5, -0.001, math.inf)
    ('57.7 [25.8, 68.8]', '0.31', '51,234 [0.00, ∞]')
    """
    return _joined(*_figures(value, low, high, scale, digits))


def gap(value: float, low: float | None, high: float | None, scale: int = 1) -> str:
    """A gap and its ends, with the sign of a gap upwards too.

    >>> gap(0.404, 0.277, 0.533, 100)
    '+40.4 [27.7, 53.3]'
    """
    return f"{'+' if value > 0 else ''}{interval(value, low, high, scale)}"


def change(moved: Estimate, scale: int = 1) -> str:
    """A change and its ends, with as many digits as show on which side of no change each end lies, at most three.

    >>> change(Estimate(-0.003, -0.006, -0.0004), 100), change(Estimate(-0.003, -0.006, 0.0), 100)
    ('-0.30 [-0.60, -0.04]', '-0.3 [-0.6, 0.0]')
    """
    ends = [scale * end for end in (moved.low, moved.high) if end]
    digits = 1 if scale == 100 else 2
    while digits < 3 and any(round(end, digits) == 0 for end in ends):
        digits += 1
    return interval(moved.value, moved.low, moved.high, scale, digits=digits)


def _joined(value: str, low: str | None, high: str | None) -> str:
    return value if low is None or high is None else f"{value} [{low}, {high}]"


def _figures(
    value: float, low: float | None, high: float | None, scale: int, digits: int | None
) -> tuple[str, str | None, str | None]:
    if math.isnan(value):
        return "undefined", None, None
    shown = table_figure(value, scale, digits) if math.isfinite(value) else "infinite" if value > 0 else "-infinite"
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return shown, None, None
    return shown, table_figure(low, scale, digits), table_figure(high, scale, digits)


def share_of_limit(finding: Finding) -> tuple[float, float, float]:
    """Value and ends as a share of what is tolerated, 1 being the threshold: a gap over the threshold, or what a ratio
    lacks to 1; NaN where there is no threshold, no interval or no number."""
    shown, threshold = finding.shown, finding.threshold
    if not threshold or shown.low is None or shown.high is None or not shown.defined:
        return math.nan, math.nan, math.nan
    if finding.judged_on == "floor" and threshold >= 1:
        return math.nan, math.nan, math.nan  # a floor under a number that has no upper end
    if finding.judged_on in ("ratio", "floor"):
        room = max(1 - threshold, 1e-9)
        value, high, low = ((1 - min(end, 1.0)) / room for end in (shown.value, shown.low, shown.high))
        return value, low, high
    low, high = shown.low / threshold, shown.high / threshold
    return (shown.value / threshold, low, high) if shown.value >= 0 else (-shown.value / threshold, -high, -low)


def bar(finding: Finding) -> str:
    """The interval as a small drawing from no gap on; the upright line is the threshold, an arrow says that it goes on.

    >>> from evenhand import Estimate, Finding, Row
    >>> value = Estimate(0.2, 0.05, 0.3)
    >>> bar(Finding("x", "x", ("g",), value, "difference", 0.1, False, "fail", "", Row("x", ()), ()))
    '·─┼─●──·····'
    """
    value, low, high = share_of_limit(finding)
    if math.isnan(value):
        return ""
    place, first, last = (round(min(max(end, 0) * LIMIT_AT, BAR)) for end in (value, low, high))
    marks = ["─" if first <= i <= last else "·" for i in range(BAR)]
    marks[LIMIT_AT] = "┼" if first <= LIMIT_AT <= last else "│"
    if place < BAR:
        marks[place] = "●"
    if last >= BAR:
        marks[-1] = "›"
    return "".join(marks)


def pair(finding: Finding) -> tuple[str | None, str | None]:
    """The two groups that the shown value and the sentence of a finding are about; None where there are none."""
    row = finding.evidence or finding.summary
    first, second = pair_names(row, (each.group for each in finding.rows), finding.attributes)
    return first or None, second or None


def between(finding: Finding) -> str:
    """The two groups that a finding speaks of, in one cell."""
    first, second = pair(finding)
    return "-" if first is None else f"{clip(first, _PAIR_WIDTH)} | {clip(second or '-', _PAIR_WIDTH)}"


def limit(finding: Finding) -> str:
    """How far the judged value may go."""
    alarm = finding.settings.get("alarm_at")
    return gap_limit(finding) if not isinstance(alarm, float) else f"alarm at {wording.e_figure(alarm)}"


def gap_limit(finding: Finding) -> str:
    """How far a gap may go, also where it is judged over time."""
    return limit_of(finding.threshold, finding.judged_on, finding.unit, finding.shown)


def limit_of(threshold: float | None, judged_on: JudgedOn, unit: str, *shown: Estimate) -> str:
    """How far a value may go. Beside `shown` gaps with a minus it is said that they may go as far to either side.

    >>> limit_of(0.1, "difference", "rate"), limit_of(0.8, "ratio", "rate"), limit_of(None, "ratio", "rate")
    ('≤ 10 points', '≥ 0.8', '-')
    >>> from evenhand import Estimate
    >>> limit_of(0.1, "difference", "rate", Estimate(-0.42, -0.48, -0.33))
    '±10 points'
    """
    if threshold is None:
        return "-"
    ends = [end for each in shown for end in (each.value, each.low, each.high) if end is not None]
    around = judged_on == "difference" and any(end < 0 for end in ends)
    side = "±" if around else "≥ " if judged_on in ("ratio", "floor") else "≤ "
    if wording.shown_scale(judged_on, unit) == 100:
        return f"{side}{100 * threshold:g} points"
    return f"{side}{wording.limit_figure(threshold)}"
