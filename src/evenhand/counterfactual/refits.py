"""Refits of a causal model to resampled rows, from which the intervals of its results are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.core.calls import in_processes
from evenhand.core.progress import track
from evenhand.counterfactual.model import FittedModel, take_columns
from evenhand.errors import CallError


def resampled(
    learned: FittedModel,
    strata: Ints,
    statistic: Callable[[FittedModel], Floats],
    *,
    count: int,
    random_state: int,
    n_jobs: int | None = None,
) -> Floats:
    """A statistic of the model fitted to each of `count` resamples of its rows, [count, ...].

    Rows are drawn within the groups (`strata`), so that no group disappears. Each resample has its own seed: the
    result is the same however many processes share the work.
    """
    rows = learned.rows
    if rows is None:
        raise CallError("the model does not hold the rows it was fitted to, so it cannot be refitted.")
    members = [np.flatnonzero(strata == group) for group in np.unique(strata)]
    seeds = np.random.SeedSequence(random_state).spawn(count)

    def once(seed: np.random.SeedSequence) -> Floats:
        rng = np.random.default_rng(seed)
        drawn = np.concatenate([rng.choice(part, len(part)) for part in members])
        return statistic(learned.refitted(take_columns(rows, drawn)))

    return np.stack(list(track(_run(once, seeds, n_jobs), count, "refitting the causal model")))


def _run(once: Callable[[Any], Floats], seeds: list[Any], n_jobs: int | None) -> Iterable[Floats]:
    if n_jobs in (None, 1):
        return map(once, seeds)
    return in_processes("the refits", once, ((seed,) for seed in seeds), n_jobs)
