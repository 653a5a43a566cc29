"""Power: what a sample of this size can and cannot show."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Bools
from evenhand.inference import critical
from evenhand.inference.spread import Spread

MOST_ROWS = 10**9
_MARGIN = 0.8416212335729143  # the normal deviate of 80 %


def expected_gap(spread: Spread, usable: Bools) -> float:
    """How far apart the highest and the lowest group are expected to lie by chance alone."""
    deviations = spread.deviations[usable & np.isfinite(spread.values)]
    deviations = deviations[np.isfinite(deviations)]
    return critical.expected_range(deviations) if len(deviations) > 1 else math.nan


def detectable_gap(spread: Spread, pair: tuple[int, int], groups: int, confidence: float) -> float:
    """The smallest gap between two groups that would be detected with 80 % power among this number of groups."""
    deviations = spread.deviations[list(pair)]
    return float((critical.tukey(groups, confidence) + _MARGIN) * np.hypot(*deviations))


def variance_between(spread: Spread, usable: Bools) -> tuple[float, float]:
    """The variance of a measure between groups: raw, and with the sampling noise removed (Lum et al. 2022).

    The raw one grows with the number and smallness of the groups even where no group differs.
    """
    defined = usable & np.isfinite(spread.values) & np.isfinite(spread.variances)
    if defined.sum() < 2:
        return math.nan, math.nan
    raw = float(spread.values[defined].var(ddof=1))
    return raw, max(0.0, raw - float(spread.variances[defined].mean()))


@dataclass(frozen=True)
class Settling:
    """How many times as many rows would settle a finding, and the group that limits it most."""

    multiplier: float
    limiting: int


def rows_to_settle(
    spread: Spread, pair: tuple[int, int], judged_on: str, threshold: float, confidence: float, groups: int, people: int
) -> Settling | None:
    """The smallest multiplier of the data, rates and shares as estimated, at which the interval of the pair lies on
    one side of the threshold with 80 % probability; None when a billion rows would not do.
    """
    places = list(pair)
    q = critical.tukey(groups, confidence)
    c = critical.one_sided(q, confidence)
    most = math.log(max(MOST_ROWS / max(people, 1), 1.0))
    if not _settles(spread.scaled(math.exp(most), places), judged_on, threshold, q, c):
        return None
    low, high = 0.0, most
    for _ in range(14):  # to two figures, which is all that a forecast carries
        middle = (low + high) / 2
        if _settles(spread.scaled(math.exp(middle), places), judged_on, threshold, q, c):
            high = middle
        else:
            low = middle
    limiting = places[int(np.argmax(np.nan_to_num(spread.variances[places])))]
    return Settling(math.exp(high), limiting)


def _settles(two: Spread, judged_on: str, threshold: float, q: float, c: float) -> bool:
    high, low = (float(value) for value in two.values)
    near_low, near_high = two.limits(q, 0.0)
    far_low, far_high = two.limits(c, 0.25)
    spread = np.sqrt(two.variances)
    if judged_on == "ratio":
        if low <= 0 or threshold <= 0:
            return False
        value, limit = math.log(high / low), -math.log(threshold)
        with np.errstate(divide="ignore"):  # a limit below 0 is no limit to a ratio
            logs = [np.log(np.maximum(part, 0.0)) for part in (near_low, near_high, far_low, far_high)]
        margin = _MARGIN * float(np.hypot(*(spread / two.values)))
        near = value - float(np.hypot(math.log(high) - logs[0][0], logs[1][1] - math.log(low)))
        far = value + float(np.hypot(logs[3][0] - math.log(high), math.log(low) - logs[2][1]))
    else:
        value, limit = high - low, threshold
        margin = _MARGIN * float(np.hypot(*spread))
        near = value - float(np.hypot(high - near_low[0], near_high[1] - low))
        far = value + float(np.hypot(far_high[0] - high, low - far_low[1]))
    return near - margin > limit if value > limit else far + margin < limit
