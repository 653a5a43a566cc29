"""The card of a finding: its sentence, and the groups, those on which the verdict rests first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evenhand.core.results import OF_ONE_VALUE, Finding, Pair, Row, spell
from evenhand.core.wording import clip
from evenhand.report import tables
from evenhand.report.cards.card import Card, Sentence, Word, make

_MOST_MEASURES = 3
_Key = tuple[str, tuple[float, float] | None, str | None]
"""A measure, with the range of scores and the class that it is restricted to."""


def finding(found: Finding) -> Card:
    """Of many measures, as of the bins of a score, those are shown first that the verdict rests on."""
    about = found.evidence or found.summary
    every = list(dict.fromkeys(map(_key, found.groups)))
    measures = sorted(every, key=lambda key: key != _key(about))[:_MOST_MEASURES]
    measures = [key for key in every if key in measures]
    lines: dict[Pair, dict[_Key, Row]] = {}
    for row in found.groups:
        lines.setdefault((row.stratum, row.group), {})[_key(row)] = row
    ordered = sorted(lines, key=lambda pair: (_place(pair, about), -_people(lines[pair].values())))
    rows = [
        [clip(_name(cells, found.attributes), 32), *(_figure(cells.get(key), found) for key in measures)]
        for cells in (lines[pair] for pair in ordered)
    ]
    on = " × ".join(found.attributes)
    return make(
        "Finding",
        f"{found.title} by {on}: {tables.judgement(found)}",
        (
            (".to_frame()", "has every row"),
            (".plot()", "draws them"),
            ("audit.page()", "opens the full report of its audit"),
        ),
        word=Word(found.verdict, found.verdict),
        sentences=[Sentence(found.interpretation), *(Sentence(note) for note in found.notes[:1])],
        columns=(" × ".join(found.attributes), *map(_title, measures)),
        rows=rows,
        noun=("group", "groups"),
    )


def _key(row: Row) -> _Key:
    return row.measure, row.bin, row.of_class


def _title(key: _Key) -> str:
    measure, bounds, of_class = key
    of = "" if of_class is None else f" of {clip(of_class, 16)}"
    within = "" if bounds is None else f", {bounds[0]:g} to {bounds[1]:g}"
    return f"{measure.replace('_', ' ')}{of}{within}"


def _place(pair: Pair, about: Row) -> int:
    """First the group that the sentence is about, then the other, then all others."""
    stratum, group = pair
    if stratum != about.stratum:
        return 2
    return 0 if group == about.group else 1 if spell(group) == about.against else 2


def _people(rows: Iterable[Row]) -> int:
    return max((row.n or 0 for row in rows), default=0)


def _name(cells: dict[_Key, Row], attributes: Sequence[str]) -> str:
    row = next(iter(cells.values()))
    group = spell(row.group, attributes)
    return f"{spell(row.stratum)}: {group}" if row.stratum else group


def _figure(row: Row | None, found: Finding) -> str:
    if row is None or row.estimate is None:
        return "-"
    one, percent = row.estimate, found.unit == "rate" and found.judged_on not in OF_ONE_VALUE
    figures = tables.interval(one.value, one.low, one.high, 100 if percent else 1)
    people = "" if row.n is None else f" (n = {row.n:,})"
    return f"{figures}{' %' if percent and one.defined else ''}{people}"
