"""The change of an AUC from one score to another of the same people, after DeLong, DeLong and Clarke-Pearson (1988)."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core.arrays import Bools, Floats


def delong(positive: Bools, before: Floats, after: Floats) -> tuple[float, float, float]:
    """The AUC of both scores, and the variance of their difference; NaN without people of both labels.

    >>> delong(np.array([True, True, False, False]), np.array([4.0, 2, 3, 1]), np.array([4.0, 3, 2, 1]))
    (0.75, 1.0, 0.125)
    """
    classes = int(positive.sum()), int((~positive).sum())
    if not all(classes):
        return math.nan, math.nan, math.nan
    old, new = (_placements(positive, score) for score in (before, after))
    moved = [late - early for early, late in zip(old, new, strict=True)]
    variance = sum(float(part.var(ddof=1)) / len(part) for part in moved if len(part) > 1)
    return float(old[0].mean()), float(new[0].mean()), variance


def change(positive: Bools, before: Floats, after: Floats, deviate: float) -> tuple[float, float, float, float]:
    """Both AUCs, and the ends of their difference.

    An AUC varies no more than a share of as many people as the smaller class has (Birnbaum and Klose 1957): the ends
    are no closer than Tango's are where none of so many changed, so that two scores that rank alike have an interval.
    """
    old, new, variance = delong(positive, before, after)
    fewer = float(min(positive.sum(), (~positive).sum()))
    reach = math.hypot(deviate * math.sqrt(variance), deviate**2 / (fewer + deviate**2))
    return old, new, max(new - old - reach, -1.0), min(new - old + reach, 1.0)


def _placements(positive: Bools, score: Floats) -> tuple[Floats, Floats]:
    """Of each positive the share of negatives below it, of each negative that of positives above; ties count half."""
    high, low = np.sort(score[positive]), np.sort(score[~positive])

    def below(values: Floats, others: Floats) -> Floats:
        sides = (np.searchsorted(others, values, side=side) for side in ("left", "right"))
        return np.asarray(sum(sides) / (2 * len(others)))

    return below(score[positive], low), 1 - below(score[~positive], high)
