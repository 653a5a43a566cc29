"""Which criteria exclude each other where base rates differ, as data: THEOREMS, and what each criterion HOLDS equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Theorem:
    """Of these equalities no more than `at_most` can hold together where base rates differ."""

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

# What each criterion holds equal between groups; those not here are bound by no theorem of these.
HOLDS: dict[str, frozenset[str]] = {
    "demographic_parity": frozenset({"selection rate"}),
    "disparate_impact": frozenset({"selection rate"}),
    "equal_opportunity": frozenset({"TPR"}),
    "false_negative_rate_parity": frozenset({"TPR"}),
    "predictive_equality": frozenset({"FPR"}),
    "equalized_odds": frozenset({"TPR", "FPR"}),
    "predictive_parity": frozenset({"PPV"}),
    "false_discovery_rate_parity": frozenset({"PPV"}),
    "negative_predictive_parity": frozenset({"NPV"}),
    "false_omission_rate_parity": frozenset({"NPV"}),
    "conditional_use_accuracy_equality": frozenset({"PPV", "NPV"}),
    "calibration": frozenset({"calibration"}),
    "mean_score_parity": frozenset({"mean score"}),
    "balance_for_positive_class": frozenset({"balance for positives"}),
    "balance_for_negative_class": frozenset({"balance for negatives"}),
    "overall_balance": frozenset({"balance for positives", "balance for negatives"}),
}


def excluding(metrics: Sequence[str]) -> Theorem | None:
    """The theorem by which these cannot all hold where base rates differ; None if there is none here.

    >>> excluding(["equalized_odds", "predictive_parity"]).source
    'special cases in Chouldechova 2017 and in Barocas, Hardt and Narayanan 2023'
    >>> excluding(["equal_opportunity", "predictive_parity"]) is None
    True
    """
    equal = held_by(metrics)
    return next((theorem for theorem in THEOREMS if len(equal & theorem.equal) > theorem.at_most), None)


def held_by(metrics: Sequence[str]) -> frozenset[str]:
    """What these criteria hold equal between groups, all of them together."""
    return frozenset[str]().union(*(HOLDS.get(name, frozenset()) for name in metrics))
