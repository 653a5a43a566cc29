"""How far predictions change when people are moved to another group, with intervals.

For every pair of groups (a → b): the predictions of people of a, less what they would be had these people been in b.
The mean size of that change is judged, not the mean change, in which ups and downs cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.counterfactual.columns import take_rows, with_columns
from evenhand.counterfactual.groups import People
from evenhand.counterfactual.model import FittedModel, set_to, take_columns, uniforms
from evenhand.counterfactual.predictor import Answers, Kind, Predictor
from evenhand.inference import critical
from evenhand.sources.features import Columns

MOST_CELLS = 50_000_000  # changes kept at once
MOST_REFITTED = 5_000  # people on whom each refit is tried
_SMALLEST_SAMPLE = 200  # people of a group, where it has as many
_ROUNDING = 1e-12  # of the largest prediction: a smaller change is rounding


@dataclass(frozen=True)
class Subject:
    """What is audited: the columns of the caller's table that predict needs, those in the graph, groups, predictor."""

    table: Any
    rows: Columns
    people: People
    predictor: Predictor

    @cached_property
    def acted(self) -> list[Any]:
        """The table with the attributes set to each group, and nothing else changed."""
        return [
            with_columns(self.table, {name: self.rows[name].filled(value) for name, value in values.items()})
            for values in self.people.values
        ]

    def some(self, most: int) -> tuple[Subject, Ints]:
        """A sample of about `most` people, of each group in proportion but not too few; and their row numbers."""
        sizes, total = self.people.sizes, len(self.people.codes)
        if total <= most:
            return self, np.arange(total)
        rng = np.random.default_rng(0)
        kept = []
        for group, size in enumerate(sizes):
            share = min(int(size), max(int(most * size / total), _SMALLEST_SAMPLE))
            kept.append(rng.choice(self.people.rows(group), share, replace=False))
        places = np.sort(np.concatenate(kept))
        people = People(self.people.attributes, self.people.names, self.people.values, self.people.codes[places])
        return Subject(take_rows(self.table, places), take_columns(self.rows, places), people, self.predictor), places


@dataclass(frozen=True)
class World:
    """How people are moved: by a causal model, or (None) by changing the attribute's column alone."""

    learned: FittedModel | None
    draws: int = 1
    random_state: int = 0

    def moved(self, subject: Subject, draw: int, targets: Sequence[int] | None = None) -> list[Columns]:
        """The columns that change when everyone is moved to each group, or to each of `targets`."""
        rows, people = subject.rows, subject.people
        values = people.values if targets is None else [people.values[target] for target in targets]
        if self.learned is None:
            return [{} for _ in values]
        nodes = self.learned.graph.descendants(people.attributes)
        noise = uniforms(self.learned, nodes, rows, self.random_state, draw)
        abduced = self.learned.abduced(rows, nodes, noise)
        found = []
        for settings in values:
            do = {name: set_to(rows, self.learned, name, value) for name, value in settings.items()}
            changed = abduced.under(do)
            found.append({name: column for name, column in changed.items() if name not in do})
        return found


@dataclass(frozen=True)
class PredictionChanges:
    """How predictions change: `apart[target, draw, row]` is a person's prediction in the target group minus their own.

    `scores[target, row]` is the same for the number behind a decision, where a cutoff decides.
    """

    people: People
    before: Answers
    apart: Floats
    kind: Kind
    scores: Floats | None = None

    @cached_property
    def size(self) -> Floats:
        """The mean size of the change, [groups, targets]; NaN from a group to itself."""
        return self._by_pair(np.abs(self.apart).mean(axis=1))

    @cached_property
    def mean(self) -> Floats:
        return self._by_pair(self.apart.mean(axis=1))

    @property
    def mean_score(self) -> Floats | None:
        return None if self.scores is None else self._by_pair(self.scores)

    @cached_property
    def error(self) -> Floats:
        """The standard error of `size` from the sampling of people alone."""
        sizes = np.abs(self.apart).mean(axis=1)
        found = np.full(self.size.shape, np.nan)
        for group, target in self.people.pairs:
            inside = sizes[target, self.people.codes == group]
            found[group, target] = inside.std(ddof=1) / np.sqrt(len(inside)) if len(inside) > 1 else np.inf
        return found

    def worst(self, group: int, target: int) -> float:
        """The largest change of one person."""
        inside = self.apart[target][:, self.people.codes == group]
        return float(inside.reshape(-1)[np.abs(inside).argmax()])

    def of_pair(self, group: int, target: int) -> Floats:
        """The changes of all people of one group when they are moved to another."""
        return np.asarray(self.apart[target][:, self.people.codes == group].reshape(-1))

    def distance(self, other: PredictionChanges) -> Floats:
        """The mean difference between the changes of the same people, [groups, targets].

        The mean sizes cannot differ by more, so that it is a margin for `size`, also around 0, where `size` itself is
        biased because it cannot be negative.
        """
        return self._by_pair(np.abs(self.apart - other.apart).mean(axis=1))

    def _by_pair(self, values: Floats) -> Floats:
        codes, sizes = self.people.codes, np.maximum(self.people.sizes, 1)
        sums = np.stack([np.bincount(codes, weights=row, minlength=len(sizes)) for row in values], axis=1)
        found = np.asarray(sums / sizes[:, None])
        np.fill_diagonal(found, np.nan)
        return found


def measure(subject: Subject, world: World, before: Answers | None = None) -> PredictionChanges:
    """Move everyone to every group and compare the predictions with those before, which a caller may know already."""
    before = subject.predictor.answers(subject.table) if before is None else before
    kind: Kind = before.kind
    apart = np.empty((len(subject.people.names), world.draws, len(before.values)))
    rounding = _ROUNDING * float(np.abs(before.values).max(initial=0.0))
    scores = None if before.scores is None else np.zeros((len(apart), len(before.values)))
    for draw in range(world.draws):
        for target, columns in enumerate(world.moved(subject, draw)):
            after = subject.predictor.answers(with_columns(subject.acted[target], columns))
            kind = after.kind if kind == "decision" else kind
            change = after.minus(before)
            apart[target, draw] = np.where(np.abs(change) <= rounding, 0.0, change)
            if scores is not None and after.scores is not None and before.scores is not None:
                scores[target] += (after.scores - before.scores) / world.draws
    subject.predictor.check_decisions()
    return PredictionChanges(subject.people, before, apart, kind, scores)


@dataclass(frozen=True)
class Ends:
    """The interval of each pair, [groups, targets]: `low` and `high` for all pairs at once, `far` for one pair."""

    low: Floats
    high: Floats
    far: Floats
    p_value: float | None


def ends(changes: PredictionChanges, distances: Floats | None, learned_from: Ints, confidence: float) -> Ends:
    """Intervals from refits, `distances[refit, group, target]`, and from the sampling of people, combined.

    `learned_from` is how many rows of each group the mechanisms were fitted to.
    """
    pairs, size, error = len(changes.people.pairs), changes.size, changes.error
    near, far = critical.sidak(pairs, confidence) * error, critical.sidak(1, confidence) * error
    p_value = None
    if distances is not None:
        spread = np.sqrt((distances**2).mean(axis=0))
        scaled = _scaled(distances, spread)
        largest = np.nanmax(scaled, axis=(1, 2))
        # The quantile for one pair is taken over all pairs: over one alone it would depend on the noisiest refits.
        alone = _quantile(scaled[:, ~np.isnan(scaled[0])], confidence)
        near = np.hypot(
            near, _widened(spread * _quantile(largest, confidence), learned_from, confidence ** (1 / pairs))
        )
        far = np.hypot(far, _widened(spread * alone, learned_from, confidence))
        observed = float(np.nanmax(_scaled(size[None], spread)))
        if np.isfinite(observed) and observed > 0:
            p_value = float((1 + (largest >= observed).sum()) / (1 + len(largest)))
    top = np.inf if changes.kind == "number" else 1.0
    return Ends(np.maximum(size - near, 0.0), np.minimum(size + near, top), np.minimum(size + far, top), p_value)


def _scaled(distances: Floats, spread: Floats) -> Floats:
    """Distances in units of each pair's spread; infinite where the spread is 0, NaN from a group to itself."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(distances > 0, distances / spread, 0.0)
    return np.where(np.isnan(distances), np.nan, scaled)


def _quantile(scaled: Floats, confidence: float) -> float:
    """The `confidence` quantile over refits, [refits, ...], widened by 1 + 1/n when there are few."""
    share = min(confidence * (1 + 1 / len(scaled)), 1.0)
    return float(np.quantile(scaled, share, method="inverted_cdf"))


def _widened(margins: Floats, sizes: Ints, confidence: float) -> Floats:
    """Margins made wider for small groups, because resampling few people understates their variation."""
    from scipy.special import ndtri, stdtrit

    few = np.minimum(sizes[:, None], sizes[None, :]).astype(np.float64)
    tail = (1 + confidence) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        wider = stdtrit(np.maximum(few - 1, 1), tail) / ndtri(tail) * np.sqrt(few / (few - 1))
        return np.where(margins > 0, margins * np.where(few > 1, wider, np.inf), margins)
