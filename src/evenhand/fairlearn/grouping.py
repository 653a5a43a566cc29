"""Groups: the combinations of the values of some features, and the group of each row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from evenhand.core.arrays import Bools, Codes, Indices, Ints
from evenhand.fairlearn.features import Feature


@dataclass(frozen=True)
class Grouping:
    """The groups, in the order of `index`, and for each row the position of its group.

    Of several features every combination of values is a group, whether it occurs or not.
    """

    index: pd.Index | None
    """None where everyone is one group."""
    shape: tuple[int, ...]
    codes: Codes

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def counts(self) -> Ints:
        """The rows of each group."""
        return np.bincount(self.codes, minlength=self.size)

    def take(self, rows: Indices | None) -> Grouping:
        """The same groups, of other rows."""
        return self if rows is None else Grouping(self.index, self.shape, self.codes[rows])

    def slices(self) -> tuple[Indices, list[tuple[int, int]]]:
        """The rows in the order of their groups, and where each group that occurs begins and ends in that order."""
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(self.counts[self.counts > 0])
        return order, list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))

    def seen(self, occurs: Bools) -> Bools:
        """Of some draws (draws × groups): the groups all of whose values occur together in one draw."""
        draws = occurs.reshape(-1, *self.shape)
        axes = range(1, draws.ndim)
        together = np.ones_like(draws)
        for axis in axes:
            together &= draws.any(axis=tuple(other for other in axes if other != axis), keepdims=True)
        return np.asarray(together.any(axis=0).reshape(-1))


def everyone(rows: int) -> Grouping:
    """All rows as one group."""
    return Grouping(None, (1,), np.zeros(rows, dtype=np.int8))


def combine(features: Sequence[Feature]) -> Grouping:
    """The groups of one or several features."""
    if len(features) == 1:
        (feature,) = features
        places, values = pd.factorize(feature.levels, sort=True)
        return Grouping(values.rename(feature.name), (len(values),), _narrow(places, len(values))[feature.codes])
    levels, codes = [], np.zeros(1, dtype=np.intp)
    for feature in features:
        values, places = np.unique(np.asarray(feature.levels), return_inverse=True)
        codes = codes * len(values) + places[feature.codes]
        levels.append(values)
    shape = tuple(map(len, levels))
    index = pd.MultiIndex.from_product(levels, names=[feature.name for feature in features])
    return Grouping(index, shape, _narrow(codes, math.prod(shape)))


def _narrow(codes: Codes, size: int) -> Codes:
    """Codes in the fewest bytes, which sort fastest."""
    return codes.astype(next(kind for kind in (np.int8, np.int16, np.int64) if size <= np.iinfo(kind).max))
