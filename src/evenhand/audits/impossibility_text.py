"""The results of impossibility() in sentences, in notes and as a table of criteria."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.audits import least_gaps
from evenhand.audits.least_gaps import BaseRates
from evenhand.core.results import Estimate
from evenhand.core.wording import amount, distance, reach

PPV, FPR, FNR = "predictive_parity", "predictive_equality", "false_negative_rate_parity"
CALIBRATION, POSITIVES, NEGATIVES = "calibration", "balance_for_positive_class", "balance_for_negative_class"


@dataclass(frozen=True, slots=True)
class RateTriple:
    """PPV, FPR and FNR: rates, or gaps in them."""

    ppv: float
    fpr: float
    fnr: float

    @property
    def largest(self) -> float:
        """The largest that is defined."""
        return max((value for value in (self.ppv, self.fpr, self.fnr) if not math.isnan(value)), default=math.nan)


@dataclass(frozen=True, slots=True)
class Together:
    """Metrics of the catalogue, whether they can hold together at these base rates, and what follows."""

    criteria: tuple[str, ...]
    possible: bool
    sentence: str


@dataclass(frozen=True)
class Facts:
    """What the sentences are made from; `balance` is the mean score of the positives, `odds` an interval."""

    base: BaseRates
    names: Sequence[str]
    pooled: RateTriple
    gaps: RateTriple
    implied: Estimate
    epsilon: Estimate
    balance: float
    negative: Estimate | None
    odds: tuple[float, float]
    confidence: float
    degenerate: str | None

    def interval(self, value: Estimate) -> str:
        if value.low is None or value.high is None:
            return ""
        return reach((value.low, value.high), self.confidence, "difference")

    def extremes(self) -> tuple[tuple[str, float], tuple[str, float]]:
        """The group with the highest base rate, and the one with the lowest."""
        rates = self.base.odds / (1 + self.base.odds)
        places = int(np.argmax(rates)), int(np.argmin(rates))
        high, low = ((self.names[place], float(rates[place])) for place in places)
        return high, low


def degenerate(base: BaseRates) -> str | None:
    """Why these base rates force nothing, or why nothing can be said; None where they force gaps."""
    if base.tpr == 0 and base.fpr == 0:
        return "Nobody is selected, so there is no PPV to compare."
    if base.tpr == 1 and base.fpr == 0:
        return "Every decision agrees with its label: with perfect prediction all criteria hold together."
    if base.fpr == 0:
        return "There are no false positives: every PPV is 1 and every FPR is 0, whatever the base rates."
    if base.tpr == 0:
        return "There are no true positives: every PPV is 0 and every FNR is 1, whatever the base rates."
    if base.free:
        return "Base rates are equal, so that all criteria can hold together."
    return None


def sentences(facts: Facts) -> tuple[str, ...]:
    """The main sentences: how base rates differ, and which gaps that forces."""
    high, low = facts.extremes()
    lines = [facts.degenerate] if facts.degenerate else []
    if not _equal(facts.base):
        lines.append(
            f"The base rate is {amount(high[1])} for {high[0]} and {amount(low[1])} for {low[0]}: "
            f"{distance(high[1] - low[1])} apart."
        )
    if facts.degenerate is None:
        lines += ["So PPV, FPR and FNR cannot all be equal (Chouldechova 2017).", _implied(facts), _epsilon(facts)]
    if facts.negative is not None and not _equal(facts.base):
        lines.append(_negative(facts))
    return tuple(lines)


def notes(facts: Facts) -> list[str]:
    """Notes on the uncertainty and precision of the numbers."""
    if facts.degenerate is not None and not _equal(facts.base):
        return []
    lines = [
        "Base rates are estimates. The intervals carry the uncertainty of their differences over to what is forced, "
        "and take the pooled rates as they are."
    ]
    if facts.odds[0] <= 0:
        lines.append("This sample cannot tell the base rates apart: if they are equal, nothing is forced.")
    if len(facts.names) > 2 and facts.degenerate is None:
        lines.append(f"For more than two groups, the smallest gap is proved to {100 * least_gaps.PROOF:g} % of itself.")
    return lines


def together(facts: Facts) -> tuple[Together, ...]:
    """Which criteria can hold together, of decisions and of scores."""
    base = facts.base
    decisions = facts.degenerate is not None
    scores = _equal(base) or (base.tpr == 1 and base.fpr == 0)
    unequal = "cannot hold together, because base rates differ"
    easy = "can hold together"
    return (
        Together(
            (PPV, FPR, FNR),
            decisions,
            f"Equal PPV, FPR and FNR {easy if decisions else unequal + ' and there are false positives'}.",
        ),
        Together((FPR, FNR), True, f"Equal FPR and FNR {easy}{_forced_ppv(facts)}."),
        Together((PPV, FNR), True, f"Equal PPV and FNR {easy}{_forced_rates(facts, FPR)}."),
        Together((PPV, FPR), True, f"Equal PPV and FPR {easy}{_forced_rates(facts, FNR)}."),
        Together(
            (CALIBRATION, POSITIVES, NEGATIVES),
            scores,
            f"Calibration and balance in both classes {easy if scores else unequal}"
            f"{'' if scores else ' and prediction is not perfect (Kleinberg, Mullainathan and Raghavan 2016)'}.",
        ),
        Together(
            (CALIBRATION, POSITIVES),
            True,
            f"Calibration and balance for the positive class {easy}: with a mean score x of the positives in every "
            f"group, the negatives lie {_number(np.ptp(base.odds))} · (1 − x) apart.",
        ),
        Together(
            (CALIBRATION, NEGATIVES),
            True,
            f"Calibration and balance for the negative class {easy}: with a mean score y of the negatives in every "
            f"group, the positives lie {_number(np.ptp(1 / base.odds))} · y apart.",
        ),
        Together((POSITIVES, NEGATIVES), True, f"Balance in both classes {easy}, without calibration."),
    )


def percent(value: float) -> str:
    """A rate in a table."""
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def _implied(facts: Facts) -> str:
    pooled = facts.pooled
    opening = f"With the pooled PPV ({amount(pooled.ppv)}) and FNR ({amount(pooled.fnr)}) in every group,"
    if facts.implied.defined:
        apart = distance(facts.implied.value)
        return f"{opening} false positive rates would lie {apart} apart{facts.interval(facts.implied)}."
    rates = least_gaps.implied_rates(facts.base)
    worst = int(np.argmax(rates))
    impossible = f"would have to be {amount(rates[worst])}, which is impossible"
    return f"{opening} the FPR of {facts.names[worst]} {impossible}."


def _epsilon(facts: Facts) -> str:
    return (
        f"With the pooled TPR ({amount(facts.base.tpr)}) and FPR ({amount(facts.base.fpr)}), no decisions bring the "
        f"gaps in PPV, FPR and FNR all below {distance(facts.epsilon.value)}{facts.interval(facts.epsilon)}; "
        f"the largest of them now is {distance(facts.gaps.largest)}."
    )


def _negative(facts: Facts) -> str:
    assert facts.negative is not None  # noqa: S101 - checked by the caller
    opening = f"The mean score of the positives is {amount(facts.balance)}."
    if math.isnan(facts.balance):
        return "No positive has a score, so nothing is said about calibrated scores."
    if not facts.negative.defined:
        high = facts.extremes()[0]
        return (
            f"{opening} A calibrated score gives the positives of a group its base rate or more on average, so none "
            f"has this mean in every group: the base rate is {amount(high[1])} for {high[0]}."
        )
    return (
        f"{opening} If a calibrated score had it in every group, the mean scores of the negatives would lie "
        f"{distance(facts.negative.value)} apart{facts.interval(facts.negative)}."
    )


def _forced_ppv(facts: Facts) -> str:
    """The gap in PPV that equal error rates force, as the end of a sentence."""
    if facts.degenerate is not None:
        return ""
    apart = np.ptp(facts.base.ppvs(facts.base.everywhere))
    return f"; with the pooled rates in every group, PPVs lie {distance(float(apart))} apart"


def _forced_rates(facts: Facts, criterion: str) -> str:
    """The gap that equal PPVs and one equal error rate force in the other, as the end of a sentence."""
    base = facts.base
    if facts.degenerate is not None:
        return ""
    rates = least_gaps.implied_rates(base) if criterion == FPR else base.tpr / base.relative
    name, worst = ("FPR", "FPR") if criterion == FPR else ("FNR", "TPR")
    if rates.max() > 1:
        who = facts.names[int(np.argmax(rates))]
        return f", though not with the pooled rates in every group: the {worst} of {who} would be {amount(rates.max())}"
    return f"; with the pooled rates in every group, {name}s lie {distance(float(np.ptp(rates)))} apart"


def _equal(base: BaseRates) -> bool:
    return bool(np.ptp(base.relative) < 1e-12)


def _number(value: float) -> str:
    return f"{value:.3g}"
