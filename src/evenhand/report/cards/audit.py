"""The card of an audit: its verdict, a sentence and a row for each finding that decides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.core.results import Finding
from evenhand.core.wording import clip
from evenhand.errors import join_names
from evenhand.report import tables
from evenhand.report.cards.card import Bar, Card, Cell, Sentence, Word, make

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit


def audit(found: Audit) -> Card:
    """Where nothing decides, the first findings are shown and no sentence is."""
    deciding = tables.deciding(found)
    shown = deciding or list(found.findings)
    drawn = any(not math.isnan(tables.share_of_limit(finding)[0]) for finding in shown)
    names = ("metric", "of", "between", f"value [{found.policy.confidence:.0%}]", "threshold")
    columns = (*names, *(["0 to 3 times the threshold"] if drawn else []), "verdict")
    return make(
        "Audit",
        tables.headline(found),
        (
            (".page()", "opens the full report here"),
            ('.save("audit.html")', "writes it to a file"),
            (".summary()", "is this table") if deciding else (".to_frame()", "has every finding"),
            *([(".notes", f"has {len(found.notes)} notes")] if found.notes else []),
        ),
        word=Word(found.verdict, found.verdict),
        sentences=[*_left_out(found), *(Sentence(each.interpretation, _lead(each)) for each in deciding)],
        columns=columns,
        rows=[_row(finding, drawn=drawn) for finding in shown],
        noun=("finding that decides", "findings that decide") if deciding else ("finding", "findings"),
    )


def _left_out(found: Audit) -> list[Sentence]:
    """What would decide and is left out."""
    if not found.left_out:
        return []
    return [Sentence(f"{join_names(found.left_out, 3, mark='; ')}. A pass cannot rest on the others.", "Left out:")]


def _lead(finding: Finding) -> str:
    return f"{' × '.join(finding.attributes)}:"


def _row(finding: Finding, *, drawn: bool) -> list[Cell]:
    share = tables.share_of_limit(finding)
    bar: list[Cell] = [] if not drawn else ["" if math.isnan(share[0]) else Bar(*share)]
    first, second = tables.pair(finding)
    between = "-" if first is None else f"{clip(first, 18)} | {clip(second or '-', 18)}"
    on = " × ".join(finding.attributes)
    figures = (tables.value(finding), tables.limit(finding))
    return [finding.metric, clip(on, 24), between, *figures, *bar, Word(finding.verdict, finding.verdict)]
