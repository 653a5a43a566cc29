"""Which criteria exclude each other where base rates differ.

THEOREMS say how many equalities can hold together; each metric says in `holds_equal` which ones it demands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.catalogue import METRICS


@dataclass(frozen=True)
class Theorem:
    """At most `at_most` of the equalities in `equal` can hold together where base rates differ."""

    equal: frozenset[str]
    at_most: int
    because: str
    source: str


_FIVE = frozenset({"selection rate", "TPR", "FPR", "PPV", "NPV"})

THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        _FIVE,
        2,
        "any three of the selection rate, TPR, FPR, PPV and NPV fix the whole table, base rate included, unless one "
        "of its four cells is empty or the decision says nothing",
        "special cases in Chouldechova 2017 and in Barocas, Hardt and Narayanan 2023",
    ),
    Theorem(
        frozenset({"calibration", "balance for positives", "balance for negatives"}),
        2,
        "a calibrated score is balanced for both classes only if prediction is perfect",
        "Kleinberg, Mullainathan and Raghavan 2017",
    ),
    Theorem(
        frozenset({"calibration", "mean score"}),
        1,
        "the mean of a score that equals the chance is the base rate",
        "Kleinberg, Mullainathan and Raghavan 2017",
    ),
)


def excluding(metrics: Sequence[str]) -> Theorem | None:
    """The theorem by which these metrics cannot all hold where base rates differ; None if no theorem excludes it.

    >>> excluding(["equalized_odds", "predictive_parity"]).source
    'special cases in Chouldechova 2017 and in Barocas, Hardt and Narayanan 2023'
    >>> excluding(["equal_opportunity", "predictive_parity"]) is None
    True
    """
    equal = held_by(metrics)
    return next((theorem for theorem in THEOREMS if len(equal & theorem.equal) > theorem.at_most), None)


def held_by(metrics: Sequence[str]) -> frozenset[str]:
    """All that these metrics together hold equal between groups."""
    return frozenset(equal for name in metrics if name in METRICS for equal in METRICS[name].holds_equal)
