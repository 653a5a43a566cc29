"""The worst pairs of very many, which come in chunks: the few that are shown to the reader."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Bools, Floats, Ints
from evenhand.individual.pairs import Chunk


@dataclass(frozen=True)
class Pair:
    """Two people, by their positions, and their distance."""

    one: int
    other: int
    distance: float


class Worst:
    """Keeps the `most` pairs with the lowest rank: a rank is two numbers, of which the second decides ties."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: dict[tuple[int, int], tuple[float, float, float]] = {}

    @property
    def pairs(self) -> list[Pair]:
        """The pairs, worst first."""
        ranked = sorted(self._kept.items(), key=lambda item: (item[1][:2], item[0]))
        return [Pair(one, other, rank[2]) for (one, other), rank in ranked[: self.most]]

    def nearest(self, chunk: Chunk, differing: Bools) -> int:
        """Keep the nearest of the pairs that were decided differently; return how many of these have distance 0."""
        chosen = np.flatnonzero(differing)
        distance = chunk.distance[chosen]
        self._keep(chunk, chosen, distance, np.zeros(len(chosen)))
        same = chosen[distance == 0]
        return len(np.unique(np.sort(np.column_stack([chunk.one[same], chunk.other[same]]), axis=1), axis=0))

    def steepest(self, chunk: Chunk, apart: Floats, slope: Floats) -> int:
        """Keep the pairs whose scores differ most for their distance; return how many differ at distance 0."""
        chosen = np.flatnonzero(apart > 0)
        self._keep(chunk, chosen, -slope[chosen], -apart[chosen])
        return int(np.isinf(slope[chosen]).sum())

    def _keep(self, chunk: Chunk, chosen: Ints, first: Floats, second: Floats) -> None:
        few = _smallest(first, second, 2 * self.most)  # a pair may come from either side
        for place in few:
            row = chosen[place]
            one, other = sorted((int(chunk.one[row]), int(chunk.other[row])))
            rank = float(first[place]), float(second[place]), float(chunk.distance[row])
            self._kept[one, other] = min(rank, self._kept.get((one, other), rank))
        ranked = sorted(self._kept.items(), key=lambda item: (item[1][:2], item[0]))
        self._kept = dict(ranked[: self.most])


def _smallest(first: Floats, second: Floats, most: int) -> Ints:
    """The positions of the `most` smallest by the first number, and among equals by the second."""
    if most == 0 or not len(first):
        return np.zeros(0, dtype=np.int64)
    if len(first) > most:
        limit = np.partition(first, most - 1)[most - 1]
        sure, tied = np.flatnonzero(first < limit), np.flatnonzero(first == limit)
        lacking = most - len(sure)
        if len(tied) > lacking:
            tied = tied[np.argpartition(second[tied], lacking - 1)[:lacking]]
        return np.concatenate([sure, tied])
    return np.arange(len(first))
