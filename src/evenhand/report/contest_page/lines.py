"""The tables of a contest's page: both models side by side, and the paired change of each line, drawn.

A picture has its numbers in the same row. All pictures of a table have one axis, which is symmetric around no change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.audits.model_change import Flips, MeasureChange, ModelChange
from evenhand.core.results import OF_ONE_VALUE, Estimate, Verdict, spell
from evenhand.core.wording import capital, number_of, shown_scale
from evenhand.report import tables
from evenhand.report.contest import p_figure, tendency

if TYPE_CHECKING:
    from evenhand.audits.diff import Change

MOST_GROUPS = 30
WIDTH, EDGE = 160, 8  # of a picture, and the room for an arrow at both sides

# The measures of groups that are shown, in this order, as far as there are labels; the JSON form has all.
_MEASURES = ("selection_rate", "true_positive_rate", "false_positive_rate", "positive_predictive_value", "accuracy")


@dataclass(frozen=True)
class Picture:
    """An interval on the axis of its table, in pixels; `open_low` and `open_high` say that it has no end there."""

    value: float
    low: float
    high: float
    open_low: bool
    open_high: bool


@dataclass(frozen=True)
class Line:
    """A line of a table: what it is of, both values with their verdicts, and the change in words and as a picture."""

    name: str
    about: str
    before: str
    after: str
    change: str
    way: str
    change_of: Estimate
    scale: int
    verdicts: tuple[Verdict, Verdict] | None = None
    decides: bool = False
    picture: Picture | None = None


@dataclass(frozen=True)
class Table:
    """Lines of one unit: the title, the end of the axis of its pictures as text, and how many groups are left out."""

    title: str
    first: str
    axis: str
    lines: tuple[Line, ...]
    left_out: int = 0


@dataclass(frozen=True)
class FlipLine:
    """Who gained and who lost in a group; the bars are in pixels."""

    name: str
    people: str
    gained: str
    lost: str
    by_label: tuple[tuple[str, ...], tuple[str, ...]]
    p: str
    bars: tuple[float, float]


@dataclass(frozen=True)
class FlipTable:
    """Who gained and who lost by an attribute; the axis ends at this share of a group."""

    title: str
    axis: str
    lines: tuple[FlipLine, ...]
    tested: bool
    left_out: int = 0


def gap_tables(change: ModelChange, attributes: tuple[str, ...]) -> list[Table]:
    """The gaps by one set of attributes, those that decide first: a table for points and one for each other unit."""
    own = [each for each in change.gaps.changes if each.attributes == attributes]
    by_unit: dict[str, list[Line]] = {}
    for each in sorted(own, key=lambda gap: not gap.required):
        by_unit.setdefault(_unit(each), []).append(_gap(each))
    return [_table(f"{unit} by {' × '.join(attributes)}", "Metric", found) for unit, found in by_unit.items()]


def _unit(gap: Change) -> str:
    if shown_scale(gap.judged_on, gap.unit) == 100:
        return "Gaps in points"
    if gap.judged_on in OF_ONE_VALUE:
        return "Indices"
    return "Ratios" if gap.judged_on == "ratio" else f"Gaps of {gap.unit}s"


def _gap(gap: Change) -> Line:
    scale = shown_scale(gap.judged_on, gap.unit)
    limit = tables.limit_of(gap.threshold_after, gap.judged_on, gap.unit, gap.before, gap.after).replace(" ", "\u00a0")
    about = "no threshold" if gap.threshold_after is None else f"threshold {limit}"
    return Line(
        capital(gap.title),
        about,
        tables.interval(gap.before.value, None, None, scale),
        tables.interval(gap.after.value, None, None, scale),
        tables.change(gap.change, scale),
        tendency(gap),
        gap.change,
        scale,
        (gap.verdict_before, gap.verdict_after),
        gap.required,
    )


def measure_tables(change: ModelChange, attributes: tuple[str, ...]) -> list[Table]:
    """What each group and everyone got from both models, a table for each measure; the AUC last."""
    found = []
    for name in (*_MEASURES, "auc"):
        every = [each for each in (*change.measures, *change.auc) if each.measure == name]
        groups = [each for each in every if each.attributes == attributes]
        if not groups:
            continue
        largest = sorted(groups, key=lambda each: -each.people)[:MOST_GROUPS]
        shown = [each for each in groups if each in largest]
        everyone = [each for each in every if not each.group]
        title = f"{capital(groups[0].title)} by {' × '.join(attributes)}, %"
        made = _table(title, "Group", [_measure(each, judged=name in ("accuracy", "auc")) for each in shown + everyone])
        found.append(replace(made, left_out=len(groups) - len(shown)))
    return found


def _measure(each: MeasureChange, *, judged: bool) -> Line:
    """A measure of a group. Whether more of it is better is said of accuracy alone; of others, whether it moved."""
    about = number_of(each.people, "person", "people") if each.change.defined else each.reason or "undefined"
    return Line(
        spell(each.group, each.attributes) if each.group else "everyone",
        about,
        tables.interval(each.before, None, None, 100),
        tables.interval(each.after, None, None, 100),
        tables.change(each.change, 100),
        tendency(each) if judged else _moved(each.change),
        each.change,
        100,
    )


def _moved(change: Estimate) -> str:
    if not change.defined or change.low is None or change.high is None:
        return "not settled"
    if change.value == change.low == change.high == 0:
        return "the same"
    return "higher" if change.low > 0 else "lower" if change.high < 0 else "not settled"


def _table(title: str, first: str, lines: Sequence[Line]) -> Table:
    end = axis_end(abs(end) * line.scale for line in lines for end in finite(line.change_of))
    drawn = tuple(replace(line, picture=_picture(line.change_of, line.scale, end)) for line in lines)
    return Table(title, first, f"{end:g}", drawn)


def finite(value: Estimate) -> list[float]:
    """A value and its ends, as far as they are numbers."""
    parts = (value.value, value.low, value.high)
    return [part for part in parts if part is not None and math.isfinite(part)]


def axis_end(sizes: Iterable[float]) -> float:
    """A round number that no size is beyond.

    >>> axis_end([3.2, 11]), axis_end([0.021]), axis_end([])
    (20.0, 0.05, 1.0)
    """
    most = max(sizes, default=0.0)
    if not most > 1e-300:  # smaller ones have no power of ten of their own
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return float(f"{next(step for step in (1, 2, 5, 10, 20) if step * power >= most) * power:.6g}")


def _picture(change: Estimate, scale: int, end: float) -> Picture | None:
    """A change on an axis that is symmetric around 0."""
    return draw(change, -end / scale, end / scale)


def draw(value: Estimate, start: float, end: float) -> Picture | None:
    """An estimate on the axis from `start` to `end`; None where it is undefined or has no interval."""
    if not math.isfinite(value.value) or value.low is None or value.high is None:
        return None
    low, high = value.low, value.high
    middle, left, right = (place(part, start, end) for part in (value.value, low, high))
    return Picture(middle, left, right, low < start, high > end)


def place(value: float, start: float, end: float) -> float:
    """Where a value stands on an axis, in pixels; what lies beyond an end stands at the end.

    >>> place(0.0, -1.0, 1.0), place(9.0, -1.0, 1.0)
    (80.0, 152.0)
    """
    share = min(max((value - start) / (end - start), 0.0), 1.0)
    return round(EDGE + share * (WIDTH - 2 * EDGE), 2)


def flip_table(change: ModelChange, attributes: tuple[str, ...]) -> FlipTable:
    """Who gained and who lost in the groups of one set of attributes, the largest groups where there are many."""
    whole = [each for each in change.flips if each.attributes == attributes and each.label is None]
    largest = sorted(whole, key=lambda each: -each.people)[:MOST_GROUPS]
    shown = [each for each in whole if each in largest]
    shares = [count / each.people for each in shown for count in (each.gained, each.lost) if each.people]
    end = axis_end(100 * share for share in shares)
    by_label = {(each.group, each.label): each for each in change.flips if each.attributes == attributes}
    labels = [label for label in dict.fromkeys(label for _, label in by_label) if label is not None]
    lines = tuple(_flip(each, [by_label[each.group, label] for label in labels], end) for each in shown)
    tested = any(each.p_adjusted is not None for each in shown)
    title = f"Who gained and who lost, by {' × '.join(attributes)}{', with their labels' if labels else ''}"
    return FlipTable(title, f"{end:g}", lines, tested, len(whole) - len(shown))


def _flip(each: Flips, labelled: Sequence[Flips], end: float) -> FlipLine:
    def of(name: str) -> tuple[str, ...]:
        return tuple(f"{getattr(part, name):,} {part.label}" for part in labelled)

    def bar(count: int) -> float:
        return round((WIDTH / 2 - EDGE) * 100 * count / (end * each.people), 2) if each.people else 0.0

    return FlipLine(
        spell(each.group, each.attributes),
        number_of(each.people, "person", "people"),
        f"{each.gained:,}",
        f"{each.lost:,}",
        (of("gained"), of("lost")),
        "–" if each.p_adjusted is None else p_figure(each.p_adjusted),
        (bar(each.lost), bar(each.gained)),
    )
