"""The sentence, rows, panels and notes of a finding on counterfactuals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from evenhand.core import wording
from evenhand.core.results import Estimate, JudgedOn, Panel, Row, Verdict, pair_names, spell
from evenhand.counterfactual.changes import Ends, PredictionChanges
from evenhand.counterfactual.graph import Graph
from evenhand.counterfactual.groups import People
from evenhand.counterfactual.residual_checks import Check
from evenhand.errors import join_names, listing, shorten
from evenhand.verdicts import sentences
from evenhand.verdicts.request import Request

_MOST_SERIES, _BINS = 6, 20
FLIPS = "flip_share"
SIZE = "mean_absolute_change"


def judged_name(changes: PredictionChanges) -> str:
    """The measure that is judged: the share of decisions that flip, or the mean size of the change."""
    return SIZE if changes.kind == "number" else FLIPS


def unit(changes: PredictionChanges) -> str:
    """The unit in which changes are shown."""
    return "score" if changes.kind == "number" else "rate"


FOLLOWED = "had they been {}, with all that follows from it"
FLIPPED = "if only the column said {}"


def sentence(changes: PredictionChanges, evidence: Row, request: Request, verdict: Verdict, how: str) -> str:
    """The sentence of the pair of groups that decides; `how` is FOLLOWED or FLIPPED."""
    kind, value = unit(changes), evidence.estimate or Estimate(float("nan"))
    judged_on: JudgedOn = "difference" if kind == "rate" else "value"
    low, high = (float("nan") if end is None else end for end in (value.low, value.high))
    ends = wording.reach((low, high), request.policy.confidence, "difference", kind)
    ending = ends + sentences.bound(value.value, request.threshold, verdict, judged_on, kind)
    if not np.nan_to_num(changes.size).any():
        other = "in another group" if how == FOLLOWED else "something else"
        return f"No prediction would change for anybody {how.format(other)}{ending}."
    name, other = pair_names(evidence, changes.people.names, changes.people.attributes)
    group, target = f"{name} (n = {evidence.n:,})", how.format(other)
    if changes.kind == "number":
        size = wording.amount(value.value, "score")
        return f"For {group}, the prediction would change by {size} on average {target}{ending}."
    return f"For {group}, {wording.amount(value.value)} of the decisions would be different {target}{ending}."


def leaving_out(said: str, names: Sequence[str], least: int) -> str:
    """A sentence of a pass with the groups that it leaves out, where there are any."""
    return f"{said[:-1]}, leaving out {join_names(names, 6)}, with fewer than {least} people." if names else said


def rows(changes: PredictionChanges, ends: Ends) -> list[Row]:
    """For each pair of groups: the mean size of the change, the mean change, and the largest change of one person."""
    people, scores, found = changes.people, changes.mean_score, []
    for group, target in people.pairs:
        about = {"group": people.names[group], "against": spell(people.names[target]), "n": int(people.sizes[group])}
        size = Estimate(*(float(part[group, target]) for part in (changes.size, ends.low, ends.high)))
        found.append(Row(judged_name(changes), estimate=size, **about))  # type: ignore[arg-type]
        if changes.kind == "class":
            continue
        mean, worst = float(changes.mean[group, target]), changes.worst(group, target)
        found.append(Row("mean_change", estimate=Estimate(mean), **about))  # type: ignore[arg-type]
        found.append(Row("largest_change", estimate=Estimate(worst), **about))  # type: ignore[arg-type]
        if scores is not None:
            change = Estimate(float(scores[group, target]))
            found.append(Row("mean_score_change", estimate=change, **about))  # type: ignore[arg-type]
    return found


def panels(changes: PredictionChanges, ends: Ends, graph: Graph | None, checks: Sequence[Check]) -> tuple[Panel, ...]:
    """Tables of the changes, of the graph and of the residual checks, and the distribution of the changes."""
    found = [_table(changes, ends)]
    if changes.kind == "number":
        found.append(_distribution(changes))
    if graph is not None:
        found.append(Panel("table", "What causes what, as assumed", ("cause", "effect"), graph.edges))
    if checks:
        columns = ("node", "independent of", "statistic", "p-value, adjusted", "rows")
        lines = tuple((each.node, each.title, each.statistic, each.p_value, each.rows) for each in checks)
        found.append(Panel("table", "Residual checks", columns, lines))
    return tuple(found)


def _table(changes: PredictionChanges, ends: Ends) -> Panel:
    people = changes.people
    columns = (
        "people of",
        "had they been",
        "mean size of change",
        "low",
        "high",
        "n",
        "mean change",
        "largest",
    )
    lines = [
        (
            people.shown(group),
            people.shown(target),
            float(changes.size[group, target]),
            float(ends.low[group, target]),
            float(ends.high[group, target]),
            int(people.sizes[group]),
            float(changes.mean[group, target]),
            changes.worst(group, target),
        )
        for group, target in largest(changes)
    ]
    return Panel("pairs", "Changes by pair of groups", columns, tuple(lines))


def largest(changes: PredictionChanges) -> list[tuple[int, int]]:
    """The pairs of groups, the largest change first."""
    return sorted(changes.people.pairs, key=lambda pair: -changes.size[pair])


def _distribution(changes: PredictionChanges) -> Panel:
    """A histogram of the changes of single people, for the pairs with the largest changes."""
    chosen = largest(changes)[:_MOST_SERIES]
    every = np.concatenate([changes.of_pair(*pair) for pair in chosen])
    low, high = float(every.min()), float(every.max())
    edges = np.linspace(low, high, _BINS + 1) if high > low else np.array([low - 0.5, low + 0.5])
    lines: list[tuple[object, ...]] = []
    for group, target in chosen:
        inside = changes.of_pair(group, target)
        counts, _ = np.histogram(inside, edges)
        name = f"{changes.people.shown(group)} → {changes.people.shown(target)}"
        lines += [
            (name, float(start), float(end), float(count / len(inside)))
            for start, end, count in zip(edges, edges[1:], counts, strict=False)
        ]
    return Panel("distribution", "Change of the prediction", ("series", "from", "to", "share"), tuple(lines))


def graph_notes(graph: Graph, people: People, columns: Iterable[str], numeric: Sequence[str]) -> list[str]:
    """Notes about the attributes in the graph, and columns outside it."""
    notes = ["The result depends on the graph: the data alone cannot show which edges are right."]
    for name in people.attributes:
        causes = [cause for cause in graph.parents(name) if cause not in people.attributes]
        if causes:
            notes.append(
                f"{shorten(name)} is itself caused by {listing(causes)} in this graph: they stay as they are when it "
                "is changed, and belong to the spurious part of a gap."
            )
    if not graph.descendants(people.attributes):
        notes.append("The attribute causes nothing in this graph, so only its own column changes.")
    outside = [name for name in columns if name not in graph.nodes]
    if outside:
        notes.append(f"Not in the graph, so left as they are: {listing(outside)}.")
    if numeric:
        notes.append(
            f"{listing(numeric)} is treated as a number with equal steps between its values; if they are names, pass "
            f"CausalModel(..., categorical={list(numeric)!r})."
        )
    return notes


def small_note(people: People, least: int) -> list[str]:
    """A note that names the groups of fewer than `least` people."""
    small = [people.shown(i) for i, size in enumerate(people.sizes.tolist()) if size < least]
    return [f"Fewer than {least} people: {', '.join(small)}. Too few to support a pass."] if small else []
