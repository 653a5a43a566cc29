"""The cards of cutoffs and of ways to decide: a sweep, the thresholds of groups, and a comparison of estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.catalogue import METRICS
from evenhand.core.results import spell
from evenhand.core.wording import amount, clip, shown_scale
from evenhand.errors import join_names
from evenhand.measures.cells import MEASURES
from evenhand.report import tables
from evenhand.report.cards.card import MOST_ROWS, Card, Cell, Sentence, Word, make
from evenhand.report.text import comparison as comparisons
from evenhand.report.text import thresholds as cutoffs

if TYPE_CHECKING:
    from evenhand.audits.sweep import Sweep
    from evenhand.mitigate.comparison import Comparison
    from evenhand.mitigate.thresholds.rules import Thresholds

_SWEPT = ("demographic_parity", "equalized_odds", "predictive_parity")
_MOST_MEASURES = 3


def sweep(found: Sweep) -> Card:
    """What would be found at a few cutoffs, from the lowest that decides anything to the highest."""
    last = len(found.cutoffs) - 1  # above all scores, where nobody is selected
    chosen = np.unique(np.linspace(0, last, MOST_ROWS + 2).round().astype(int)[1:-1])
    places = chosen[chosen < last].tolist()
    metrics = [name for name in _SWEPT if name in found.differences]
    measures = [name for name in ("selection_rate", "accuracy") if name in found.overall]
    rows: list[list[Cell]] = [
        [
            f"{found.cutoffs[place]:.4g}",
            *(amount(float(found.overall[name][place])) for name in measures),
            *(tables.interval(float(found.differences[name][place]), None, None, 100) for name in metrics),
        ]
        for place in places
    ]
    groups = ", ".join(clip(spell(group), 24) for group in found.groups[:6])
    more = f" and {len(found.groups) - 6} more" if len(found.groups) > 6 else ""
    return make(
        "Sweep",
        f"{len(found.cutoffs):,} cutoffs; {len(found.groups)} groups: {groups}{more}",
        (
            (".differences[name]", "has the gap at every cutoff"),
            (".measures[name]", "each group"),
            ("plots.SweepDisplay.from_audit(audit)", "draws it"),
        ),
        columns=(
            "cutoff",
            *(MEASURES[name].title for name in measures),
            *(f"gap, points: {METRICS[name].title}" for name in metrics),
        ),
        rows=rows,
        noun=("cutoff", "cutoffs"),
        left_out=len(found.cutoffs) - len(places),
    )


def thresholds(found: Thresholds) -> Card:
    """What is kept and what it costs, and the cutoffs of the largest groups."""
    kept, gain, *rest = cutoffs.lines(found)
    names = list(found.rules[0].after)[:_MOST_MEASURES]
    ordered = sorted(found.rules, key=lambda rule: -rule.people)
    rows: list[list[Cell]] = [
        [
            clip(spell(rule.group, found.attributes), 32),
            f"{rule.people:,}",
            cutoffs.cutoff_text(rule, found.higher_is),
            *(f"{amount(rule.before[name])} → {amount(rule.after[name])}" for name in names),
        ]
        for rule in ordered
    ]
    return make(
        "Thresholds",
        kept,
        (
            (".to_frame()", "has every group"),
            ('.save("thresholds.json")', "keeps them"),
            ("print(...)", "shows the full report"),
        ),
        word=None if found.finding is None else Word(found.finding.verdict, found.finding.verdict),
        sentences=[Sentence(gain), *map(Sentence, rest)],
        columns=(" × ".join(found.attributes), "people", "cutoff", *(MEASURES[name].title for name in names)),
        rows=rows,
        noun=("group", "groups"),
    )


def comparison(found: Comparison) -> Card:
    """Each way to decide, in the order given."""
    scale = shown_scale(found.contenders[0].finding.judged_on, found.contenders[0].finding.unit)
    title = METRICS[found.metric].title if found.metric in METRICS else found.metric
    gap = f"{title}, {'ratio' if found.judged_on == 'ratio' else 'points' if scale == 100 else 'gap'}"
    rows: list[list[Cell]] = [
        [
            clip(each.name, 32),
            comparisons.interval(each.accuracy, 100),
            "-" if each is found.contenders[0] else comparisons.signed(each.cost),
            comparisons.interval(each.gap, scale),
            "yes" if each.frontier else "",
            Word(each.finding.verdict, each.finding.verdict),
        ]
        for each in found.contenders
    ]
    best = join_names((clip(name, 32) for name in found.frontier), 4)
    return make(
        "Comparison",
        f"{len(found.contenders)} ways to decide for {found.people:,} people, each by models not fitted to them",
        ((".to_frame()", "has every number"), (".plot()", "draws them"), ("print(...)", "shows the full report")),
        sentences=[Sentence(f"On the frontier: {best}. No other is at least as accurate with a gap at most as large.")],
        columns=(
            *(
                "way to decide",
                "accuracy, % [95%]",
                f"beside {clip(found.contenders[0].name, 16)}",
                f"{gap} [95%]",
                "frontier",
            ),
            "verdict",
        ),
        rows=rows,
        noun=("way to decide", "ways to decide"),
    )
