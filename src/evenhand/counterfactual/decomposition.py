"""The parts of an observed gap: direct, indirect and spurious.

After Zhang and Bareinboim (2018) and Plečko and Bareinboim (2022). Between a group a and the baseline b, with f the
prediction, the gap E[f | b] − E[f | a] is the sum of

    direct    E[f(b, W_a) − f(a, W_a) | a]      only the attribute's own column is set to b
    indirect  E[f(b, W_b) − f(b, W_a) | a]      then the effects of the attribute change too
    spurious  E[f | b] − E[f(b, W_b) | a]       the rest: the groups differ for other reasons

for people of a. Every part is computed person by person from the model, so that it holds for any mechanism and any f;
in a linear model the parts are the sums of products of coefficients along the paths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.results import Estimate, Group, Panel, spell
from evenhand.core.signs import printable
from evenhand.counterfactual.changes import Subject, World
from evenhand.counterfactual.columns import with_columns
from evenhand.counterfactual.groups import People
from evenhand.counterfactual.model import FittedModel, set_to
from evenhand.errors import CallError
from evenhand.sources.features import Columns

PARTS = ("gap", "direct", "indirect", "spurious")
TITLE = "Where the gap comes from"


@dataclass(frozen=True)
class GapSplit:
    """The gap from one group to the baseline, and its parts, which sum to the gap."""

    group: Group
    baseline: Group
    gap: Estimate
    direct: Estimate
    indirect: Estimate
    spurious: Estimate

    def __str__(self) -> str:
        return printable(
            f"{spell(self.baseline)} − {spell(self.group)}: {self.gap.value:+.3g}, of which direct "
            f"{self.direct.value:+.3g}, indirect {self.indirect.value:+.3g}, spurious {self.spurious.value:+.3g}"
        )


@dataclass(frozen=True)
class Views:
    """Predictions as they are, with only the attribute's column set to the baseline, and with its effects too."""

    before: Floats
    flipped: Floats
    moved: Floats


def predictor_views(subject: Subject, world: World, baseline: int) -> Views:
    """The three views of a predictor's predictions."""
    answers = subject.predictor.answers
    flipped = answers(subject.acted[baseline]).values
    moved = predictions_moved(subject, world, baseline)
    before = answers(subject.table)
    if before.kind == "class":
        raise CallError("the gap between classes has no size: name the favourable class with positive=.")
    subject.predictor.check_decisions()
    return Views(before.values, flipped, moved)


def predictions_moved(subject: Subject, world: World, baseline: int) -> Floats:
    """The predictions for everyone as a member of the baseline, with its effects: the mean over draws of noise."""
    acted = subject.acted[baseline]
    each = []
    for draw in range(world.draws):
        (columns,) = world.moved(subject, draw, [baseline])
        each.append(subject.predictor.answers(with_columns(acted, columns)).values)
    return np.asarray(np.mean(each, axis=0))


def node_views(learned: FittedModel, rows: Columns, people: People, baseline: int, node: str) -> Views:
    """The three views of an outcome in the graph, whose mechanism replaces the predictor."""
    do = {name: set_to(rows, learned, name, value) for name, value in people.values[baseline].items()}
    if node not in learned.graph.descendants(people.attributes):
        return Views(rows[node].values, rows[node].values, rows[node].values)
    alone = learned.abduced(rows, [node]).under(do)
    followed = learned.abduced(rows, learned.graph.descendants(people.attributes)).under(do)
    return Views(rows[node].values, alone.get(node, rows[node]).values, followed[node].values)


def parts(views: Views, people: People, baseline: int) -> Floats:
    """Gap, direct, indirect and spurious part of each group against the baseline, [groups, 4]; NaN for the baseline."""
    found = np.full((len(people.names), len(PARTS)), np.nan)
    there = views.before[people.codes == baseline].mean() if people.sizes[baseline] else math.nan
    for group in range(len(people.names)):
        inside = people.codes == group
        if group != baseline and inside.any():
            here, flip, move = (float(each[inside].mean()) for each in (views.before, views.flipped, views.moved))
            found[group] = there - here, flip - here, move - flip, there - move
    return found


def splits(
    people: People, baseline: int, views: Views, drawn: Floats | None, confidence: float
) -> tuple[GapSplit, ...]:
    """The split of every group against the baseline; intervals from refits, `drawn[refit, group, part]`, and people."""
    from scipy.special import ndtri

    point = parts(views, people, baseline)
    spread = np.zeros_like(point) if drawn is None else drawn.std(axis=0, ddof=1)
    reach = float(ndtri((1 + confidence) / 2)) * np.hypot(spread, _sampling(views, people, baseline))
    return tuple(
        GapSplit(
            people.names[group],
            people.names[baseline],
            *(_estimate(point[group, part], reach[group, part]) for part in range(len(PARTS))),
        )
        for group in range(len(people.names))
        if not np.isnan(point[group, 0])
    )


def _sampling(views: Views, people: People, baseline: int) -> Floats:
    """The standard errors of the parts from the sampling of people, [groups, 4]."""

    def variance(values: Floats) -> float:
        return float(values.var(ddof=1)) / len(values) if len(values) > 1 else math.inf

    found = np.full((len(people.names), len(PARTS)), np.nan)
    there = variance(views.before[people.codes == baseline])
    for group in range(len(people.names)):
        inside = people.codes == group
        before, flipped, moved = (each[inside] for each in (views.before, views.flipped, views.moved))
        both = (
            there + variance(before),
            variance(flipped - before),
            variance(moved - flipped),
            there + variance(moved),
        )
        found[group] = np.sqrt(both)
    return found


def _estimate(value: float, reach: float) -> Estimate:
    return Estimate(float(value), float(value - reach), float(value + reach))


def note(splits: Sequence[GapSplit]) -> str:
    """The widest gap with its parts, in a sentence."""
    widest = max(splits, key=lambda each: abs(each.gap.value))
    text = f"The widest gap between groups, {widest}."
    return text if len(splits) == 1 else f"{text} The others are in the table."


def panel(splits: Sequence[GapSplit]) -> Panel:
    """The splits as a table."""
    rows = [
        (spell(each.group), spell(each.baseline), *(getattr(each, part).value for part in PARTS)) for each in splits
    ]
    return Panel("table", TITLE, ("group", "baseline", *PARTS), tuple(rows))
