"""The intervals of a table of groups, by the method that a policy names: simultaneous, from draws, or by pairs."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from evenhand.verdicts.bounds.bounds import Bounds, Question
from evenhand.verdicts.bounds.draws import bounds_from_draws
from evenhand.verdicts.bounds.pairwise import pairwise_bounds
from evenhand.verdicts.bounds.simultaneous import simultaneous_bounds
from evenhand.verdicts.bounds.worst_case import with_worst_case


class BoundsMethod(Protocol):
    """A way to make the bounds of a table; None where the policy names another one or the measures do not allow it."""

    def __call__(self, question: Question, /) -> Bounds | None: ...


METHODS: tuple[BoundsMethod, ...] = (bounds_from_draws, pairwise_bounds, simultaneous_bounds)
"""In the order in which they are tried. The last one, the default, applies to every table."""


def find_bounds(question: Question) -> Bounds:
    """The bounds of a table by the first method that applies; where labels are missing for a reason, the worst case.

    Where the policy wants no interval there is the estimate alone.
    """
    if question.request.policy.interval == "none":
        none = np.full(len(question.table.groups), np.nan)
        return question.without_interval([(none, none)] * len(question.table.measures))
    every = (method(question) for method in METHODS)
    return with_worst_case(question, next(bounds for bounds in every if bounds is not None))
