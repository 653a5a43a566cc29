"""Quantiles of people: where numbers are cut so that each part holds equally many, or equally much of their weight.

One definition for memory, files and engines: the quantile of a share is the smallest number that this share of all
people reaches. It is a number that occurs, a row with a count of k is k rows, and a row with a weight of k is too.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Array, Floats

LEEWAY = 1e-9
"""A share counts as reached from this much below it: engines add up weights in different orders, so that their sums
differ in the last digits. Below a thousand million people it makes no difference for counts."""


def shares(parts: int) -> Floats:
    """The shares of all people that the inner edges of some parts reach.

    >>> shares(4).round(6).tolist()
    [0.25, 0.5, 0.75]
    """
    return np.arange(1, parts) / parts * (1 - LEEWAY)


def inner_edges(numbers: Floats, parts: int, mass: Array | None = None) -> Floats:
    """The edges between the parts; `mass` says how much each number counts, by default all count alike.

    >>> inner_edges(np.array([3.0, 1.0, 2.0, 4.0]), 2).tolist()
    [2.0]
    >>> inner_edges(np.array([3.0, 1.0, 2.0, 4.0]), 2, np.array([1, 1, 1, 5])).tolist()
    [4.0]
    """
    if mass is None:
        places = np.maximum(np.ceil(len(numbers) * shares(parts)).astype(np.intp) - 1, 0)
        return np.asarray(np.partition(numbers, places)[places])
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(mass[order], dtype=np.float64)
    return np.asarray(numbers[order][np.searchsorted(reached, reached[-1] * shares(parts))])


def mass_of(people: Array | None, weights: Array | None) -> Array | None:
    """How much each row counts: its weight, or its people where there is no weight at all; None for one each."""
    return people if weights is None or not weights.any() else weights
