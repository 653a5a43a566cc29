"""The cards of what an audit leads to: stability of a model, what base rates force, and the advice of the guide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.core.results import spell
from evenhand.core.wording import amount, clip
from evenhand.report import tables
from evenhand.report.cards.card import Card, Cell, Sentence, Word, make

if TYPE_CHECKING:
    from evenhand.audits.guide import Recommendation
    from evenhand.audits.impossibility import Impossibility
    from evenhand.replicas.stability import Stability

_DIMENSION = ("dimension", "dimensions")


def stability(found: Stability) -> Card:
    """The findings, those that fail first; without groups, each dimension of everyone."""
    people = f"{found.replicas} replicas, {found.cube.size:,} people"
    if not found.findings:
        plain: list[list[Cell]] = [
            [name.replace("_", " "), tables.interval(one.value, one.low, one.high, digits=3)]
            for name, one in found.overall.items()
        ]
        calls = ((".to_frame()", "has every dimension"), (".people[name]", "each person"))
        return make("Stability", people, calls, columns=("dimension", "everyone"), rows=plain, noun=_DIMENSION)
    ordered = sorted(found.findings, key=lambda each: tables.VERDICTS.index(each.verdict))
    rows: list[list[Cell]] = []
    for each in ordered:
        first, second = tables.pair(each)
        between = f"{clip(first or '-', 18)} | {clip(second or '-', 18)}"
        word = Word(each.verdict, each.verdict)
        on = clip(" × ".join(each.attributes), 24)
        rows.append([each.metric, on, between, tables.value(each), tables.limit(each), word])
    return make(
        "Stability",
        f"{people}; findings: {tables.tally(found.findings)}",
        (
            (".audit().page()", "opens the full report here"),
            ('.audit().save("stability.html")', "writes it to a file"),
            (".to_frame()", "has every dimension"),
        ),
        sentences=[Sentence(each.interpretation, f"{' × '.join(each.attributes)}:") for each in ordered[:1]],
        columns=("metric", "of", "between", f"value [{found.policy.confidence:.0%}]", "threshold", "verdict"),
        rows=rows,
        noun=("finding", "findings"),
    )


def impossibility(found: Impossibility) -> Card:
    """What the base rates force, and the rates of the largest groups."""
    ordered = sorted(found.groups, key=lambda line: (line.left_out is not None, -line.n))
    rows: list[list[Cell]] = [
        [
            clip(spell(line.group, found.attributes), 32),
            f"{line.n:,}",
            *map(amount, (line.base_rate, line.ppv, line.fpr, line.fnr)),
        ]
        for line in ordered
    ]
    people = sum(line.n for line in found.compared)
    return make(
        "Impossibility",
        f"{' × '.join(found.attributes)}: {len(found.compared)} groups compared, {people:,} people",
        (("print(...)", "shows the full report"), (".to_dict()", "has every number")),
        sentences=[Sentence(each) for each in found.sentences],
        columns=("group", "people", "base rate", "PPV", "FPR", "FNR"),
        rows=rows,
        noun=("group", "groups"),
    )


def recommendation(found: Recommendation) -> Card:
    """The metrics that fit, those that decide first, and what they exclude."""
    ordered = sorted(found.metrics, key=lambda advice: advice.metric not in found.deciding)
    rows: list[list[Cell]] = [
        [each.metric, Word("decides", "pass") if each.metric in found.deciding else "", clip(each.why, 110)]
        for each in ordered
    ]
    return make(
        "Recommendation",
        ", ".join(f"{argument.replace('_', ' ')}: {value}" for argument, value in found.answers),
        (("print(...)", "shows the full report"), ("evenhand.audit(..., policy=advice.policy)", "audits by it")),
        sentences=[Sentence(each) for each in found.sentences],
        columns=("metric", "in an audit", "why"),
        rows=rows,
        noun=("metric", "metrics"),
    )
