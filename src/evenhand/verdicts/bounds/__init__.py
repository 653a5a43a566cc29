"""The intervals of a table of groups, by the method that a policy names: simultaneous, from draws, or by pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenhand.verdicts.bounds.bounds import Bounds, Question
from evenhand.verdicts.bounds.simultaneous import simultaneous_bounds
from evenhand.verdicts.bounds.worst_case import with_worst_case


def find_bounds(question: Question) -> Bounds:
    """The bounds of a table by the first method that applies; where labels are missing for a reason, the worst case.

    Where the policy wants no interval there is the estimate alone.
    """
    if question.request.policy.interval == "none":
        none = np.full(len(question.table.groups), np.nan)
        return question.without_interval([(none, none)] * len(question.table.measures))
    return with_worst_case(question, next(bounds for bounds in _tried(question) if bounds is not None))


def _tried(question: Question) -> Iterator[Bounds | None]:
    """The bounds by each method; None where the policy names another one or the measures do not allow it.

    The last one, the default, applies to every table.
    """
    if question.request.policy.interval != "simultaneous":
        from evenhand.verdicts.bounds.draws import bounds_from_draws
        from evenhand.verdicts.bounds.pairwise import pairwise_bounds

        yield bounds_from_draws(question)
        yield pairwise_bounds(question)
    yield simultaneous_bounds(question)
