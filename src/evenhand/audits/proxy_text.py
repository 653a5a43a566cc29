"""The sentences, rows, notes and panels of columns that say something about an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.audits.composition_text import WATERFALL
from evenhand.core import wording
from evenhand.core.results import Estimate, Panel, Row, figure, number_or_none, spell
from evenhand.errors import join_names
from evenhand.measures.dependence import DRAWS

if TYPE_CHECKING:
    from evenhand.audits.carried_gap import CarriedGap
    from evenhand.audits.proxy_columns import People, Proxy

MOST_PARTS = 20  # of a gap that are shown one by one
_LEAST_GAP = 1e-12


def sentence(people: People, found: Sequence[Proxy], flagged: Sequence[Proxy], confidence: float) -> str:
    """Which columns say something about the attribute beyond chance, and which says most."""
    attribute = " × ".join(people.attributes)
    if not flagged:
        first, level = found[0], f"p at most {1 - confidence:.3g} after Holm"
        value = f"{first.correlation:.2f} (by chance {first.correlation_chance:.2f})"
        if len(found) == 1:
            nothing = f"{first.name} says nothing about {attribute} beyond chance ({level})"
            return f"{nothing}: its maximal correlation is {value}."
        return (
            f"None of {len(found):,} columns says anything about {attribute} beyond chance ({level}). The farthest "
            f"from chance is {first.name}, with a maximal correlation of {value}."
        )
    top = flagged[0]
    told, others = spell(top.group, people.attributes), "the other" if len(people.groups) == 2 else "all others"
    return (
        f"{wording.counted(len(flagged), 'column')} of {len(found):,} say{'s' if len(flagged) == 1 else ''} something "
        f"about {attribute} beyond chance: {join_names([each.name for each in flagged], 6)}. {top.name} says most: its "
        f"maximal correlation is {top.correlation:.2f} (by chance {top.correlation_chance:.2f}), and its best single "
        f"split tells {told} from {others} with an AUC of {top.auc:.2f}."
    )


def carried(gap: CarriedGap) -> str:
    """Which feature carries most of the gap between the scores of two groups."""
    first, second = gap.shown
    name, part = gap.ranked[0]
    size = f"The mean score is {figure(gap.means[0])} for {first} and {figure(gap.means[1])} for {second}"
    of_gap = share_of(gap, part.value)
    share = "" if of_gap is None else f", {100 * of_gap:.0f} % of it"
    return (
        f"{size}: of the gap of {_signed(gap.gap.value)}, {name} carries {_signed(part.value)}"
        f"{_reach(part, gap.confidence)}{share}."
    )


def share_of(gap: CarriedGap, value: float) -> float | None:
    """A part as a share of the gap; None where it is not sure that there is a gap."""
    low, high = gap.gap.low, gap.gap.high
    sure = abs(gap.gap.value) >= _LEAST_GAP and low is not None and high is not None and (low > 0 or high < 0)
    return value / gap.gap.value if sure else None


def _signed(value: float) -> str:
    return wording.distance(value, "score", signed=True)


def _reach(part: Estimate, confidence: float) -> str:
    if part.low is None or part.high is None:
        return ""
    return wording.reach((part.low, part.high), confidence, "difference", "score")


def rows(people: People, found: Sequence[Proxy], gap: CarriedGap | None) -> list[Row]:
    """A row for each column, the one that says most first; and one for each part of the gap."""
    n = int(people.grouped.sum())
    listed = [
        Row(
            f"column: {each.name}",
            (),
            n=n,
            estimate=Estimate(each.correlation),
            p_value=number_or_none(each.p_value),
            p_adjusted=number_or_none(each.p_adjusted),
        )
        for each in found
    ]
    if gap is None:
        return listed
    about = {"group": gap.pair[0], "against": spell(gap.pair[1]), "n": gap.people[0], "n_against": gap.people[1]}
    parts = [("score gap", gap.gap), *((f"contribution: {name}", part) for name, part in gap.parts)]
    parts += [] if gap.rest is None else [("not in the contributions", gap.rest)]
    return [*listed, *(Row(name, difference=part, **about) for name, part in parts)]  # type: ignore[arg-type]


def summary(metric: str, gap: CarriedGap | None) -> Row:
    """What the finding is about as a whole."""
    if gap is None:
        return Row(metric, ())
    return Row(metric, gap.pair[0], against=spell(gap.pair[1]), difference=gap.gap)


def notes(people: People, found: Sequence[Proxy], gap: CarriedGap | None, confidence: float) -> list[str]:
    """What a reader must know."""
    said = list(people.notes)
    said.append(
        f"p-values are twice the smaller of that over {DRAWS} tables with the same margins and of Pearson's, corrected "
        f"for {wording.counted(len(found), 'column')} (Holm)."
    )
    said.append("Each column is looked at by itself: several that say little may together tell the group.")
    parts = 0 if gap is None else len(gap.parts) + (gap.rest is not None)
    if parts > 1:
        said.append(f"The intervals of the {parts} parts hold together in {100 * confidence:g} % of samples.")
    if gap is not None and gap.rest is not None:
        said.append(
            f"The contributions do not add up to the score: {_signed(gap.rest.value)} of the gap is not in them. Are "
            "they on another scale, such as log odds?"
        )
    return said


def constant(names: Sequence[str]) -> str:
    """That columns were left out in which nobody differs."""
    return f"Left out, because everyone has the same value: {join_names(names, 6)}."


def without_group(rows: int) -> str:
    """That people without a group were left out."""
    verbs = ("has", "is") if rows == 1 else ("have", "are")
    return f"{wording.number_of(rows)} {verbs[0]} no group and {verbs[1]} left out."


def panels(people: People, found: Sequence[Proxy], gap: CarriedGap | None) -> tuple[Panel, ...]:
    """The columns, and the way from the mean score of one group to that of the other."""
    title = f"What columns say about {' × '.join(people.attributes)}"
    columns = ("column", "correlation", "chance", "information", "its chance", "AUC", "p (Holm)")
    lines = tuple(
        (
            each.name,
            *(
                number_or_none(value)
                for value in (
                    each.correlation,
                    each.correlation_chance,
                    each.information,
                    each.information_chance,
                    each.auc,
                    each.p_adjusted,
                )
            ),
        )
        for each in found
    )
    table = Panel("table", wording.clip(title, 200), columns, lines)
    return (table,) if gap is None else (table, _waterfall(gap))


def _waterfall(gap: CarriedGap) -> Panel:
    """From the mean score of the second group to that of the first, feature by feature, the largest first."""
    first, second = gap.means
    shown, others = gap.ranked[:MOST_PARTS], gap.ranked[MOST_PARTS:]
    if others:
        shown.append((f"{len(others):,} other features", Estimate(sum(part.value for _, part in others))))
    if gap.rest is not None:
        shown.append(("not in the contributions", gap.rest))
    rows: list[tuple[object, ...]] = [(gap.shown[1], None, second, None, second, None, None)]
    start = second
    for name, part in shown:
        rows.append((name, start, start + part.value, share_of(gap, part.value), part.value, part.low, part.high))
        start += part.value
    rows.append((gap.shown[0], None, first, None, first, None, None))
    title = f"From {gap.shown[1]} to {gap.shown[0]} in the mean score"
    return Panel("table", title, ("part", "from", "to", "share", "value", "low", "high"), tuple(rows), role=WATERFALL)
