"""Bootstrap intervals: the rows that fairlearn draws for the same random state, and quantiles over the draws."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.arrays import Array, Bools, Floats
from evenhand.errors import CallError
from evenhand.fairlearn.evaluation import Evaluation
from evenhand.fairlearn.grouping import Grouping


def check(n_boot: Any, ci_quantiles: Any) -> bool:
    """Is a bootstrap asked for? One of the two arguments alone, or a wrong one, is an error."""
    wanted = ci_quantiles is not None and len(ci_quantiles) > 0
    if (n_boot is not None) != wanted:
        raise CallError("Must specify both n_boot and ci_quantiles")
    if not wanted:
        return False
    if not isinstance(n_boot, numbers.Integral) or n_boot < 1:
        raise CallError("Must have n_boot be a positive integer")
    if not all(isinstance(quantile, float) and 0 < quantile < 1 for quantile in ci_quantiles):
        raise CallError("Must have all ci_quantiles be floats in (0, 1)")
    return True


def _seeds(random_state: Any, n: int) -> Array:
    """A seed for each draw."""
    most = np.iinfo(np.uint32).max
    if isinstance(random_state, np.random.RandomState):
        return random_state.randint(0, most, size=n, dtype=np.uint32)
    if random_state is None or isinstance(random_state, numbers.Integral):
        generator = np.random.default_rng(None if random_state is None else int(random_state))
        return generator.integers(0, most, size=n, dtype=np.uint32)
    raise CallError(f"Unsupported random_state: {random_state}")


@dataclass(frozen=True)
class Draws:
    """The values of each draw: draws × strata × metrics and draws × groups × metrics."""

    overall: Floats
    by_group: Floats
    strata: Grouping
    groups: Grouping
    seen_strata: Bools
    seen_groups: Bools
    names: pd.Index
    quantiles: Sequence[float]

    @classmethod
    def make(
        cls,
        evaluation: Evaluation,
        strata: Grouping,
        groups: Grouping,
        *,
        n_boot: int,
        quantiles: Sequence[float],
        random_state: Any,
    ) -> Draws:
        rows = len(groups.codes)
        overall, by_group = [], []
        occurs: tuple[list[Bools], list[Bools]] = ([], [])
        for seed in _seeds(random_state, n_boot):
            drawn = np.random.RandomState(seed).choice(rows, size=rows, replace=True)
            taken = [grouping.take(drawn) for grouping in (strata, groups)]
            values = evaluation.numbers(taken[0], taken[1], drawn)
            overall.append(values[0])
            by_group.append(values[1])
            for grouping, draws in zip(taken, occurs, strict=True):
                draws.append(grouping.counts > 0)
        return cls(
            overall=np.array(overall),
            by_group=np.array(by_group),
            strata=strata,
            groups=groups,
            seen_strata=strata.seen(np.array(occurs[0])),
            seen_groups=groups.seen(np.array(occurs[1])),
            names=evaluation.names,
            quantiles=quantiles,
        )

    def of_everyone(self) -> list[Any]:
        return self._shown(self.overall, self.strata, self.seen_strata)

    def of_groups(self) -> list[Any]:
        return self._shown(self.by_group, self.groups, self.seen_groups)

    def of_extreme(self, which: str) -> list[Any]:
        return self._of_strata(_EXTREMES[which].reduce(self._stacked, axis=2))

    def of_difference(self, method: str) -> list[Any]:
        other = self.overall if method == "to_overall" else np.fmin.reduce(self._stacked, axis=2)
        return self._of_strata(np.fmax.reduce(np.abs(self._stacked - other[:, :, None]), axis=2))

    def of_ratio(self, method: str) -> list[Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            if method == "between_groups":
                low, high = (_EXTREMES[which].reduce(self._stacked, axis=2) for which in ("min", "max"))
                return self._of_strata(low / high)
            ratios = self._stacked / self.overall[:, :, None]
            return self._of_strata(np.fmin.reduce(np.where(ratios > 1, 1 / ratios, ratios), axis=2))

    @property
    def _stacked(self) -> Floats:
        """Draws × strata × groups of a stratum × metrics."""
        draws, _, metrics = self.by_group.shape
        return self.by_group.reshape(draws, self.strata.size, -1, metrics)

    def _of_strata(self, values: Floats) -> list[Any]:
        return self._shown(values, self.strata, self.seen_strata)

    def _shown(self, values: Floats, grouping: Grouping, seen: Bools) -> list[Any]:
        """The quantiles over the draws. Draws without a value are left out, but not where everyone is one group."""
        if grouping.index is None:
            ends = np.quantile(values[:, 0], self.quantiles, axis=0)
            return [pd.Series(end, index=self.names) for end in ends]
        known = ~np.isnan(values).all(axis=0)
        ends = np.full((len(self.quantiles), *values.shape[1:]), np.nan)
        ends[:, known] = np.nanquantile(values[:, known], self.quantiles, axis=0)
        return [pd.DataFrame(end[seen], index=grouping.index[seen], columns=self.names) for end in ends]


_EXTREMES = {"min": np.fmin, "max": np.fmax}
