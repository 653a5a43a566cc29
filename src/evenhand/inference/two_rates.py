"""Two rates as employment practice reads them: exact tests, the odds ratio, and how few decisions turn a result.

Everything takes plain counts: k1 of n1 people in a group and k2 of n2 in the yardstick that it is set against.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evenhand.inference import critical, hypotheses
from evenhand.inference.hypotheses import FISHER_MOST, fisher_exact, hypergeometric_tails


@lru_cache(maxsize=4096)
def exact_p(k1: int, n1: int, k2: int, n2: int) -> tuple[float, float]:
    """Two-sided p-values of "no gap": Fisher's exact test and its mid-p; NaN where a group is empty.

    Both sum the chances of all tables with the same margins. The mid-p (Lancaster 1961) counts those that are as likely
    as the table that was seen by one half, as Fagerland, Lydersen and Laake (2017) have it: Fisher's test is too
    cautious where numbers are small, because few p-values are possible. Past ten million people the two are the same.

    >>> fisher, mid = exact_p(1, 10, 3, 20)
    >>> round(fisher, 6), round(mid, 6)
    (1.0, 0.792009)
    """
    if not (n1 and n2):
        return math.nan, math.nan
    if n1 + n2 > FISHER_MOST:
        p = fisher_exact(k1, n1, k2, n2).p_value
        return p, p
    below, equal = hypergeometric_tails(k1, n1, k2, n2)
    return min(1.0, below + equal), min(1.0, below + equal / 2)


@dataclass(frozen=True)
class OddsRatio:
    """The odds of a group against those of its yardstick, with Woolf's interval.

    `corrected` says that a cell is 0, so that one half was added to each of the four (Haldane 1956, Anscombe 1956).
    """

    value: float
    low: float
    high: float
    corrected: bool


def odds_ratio(k1: float, n1: float, k2: float, n2: float, confidence: float = 0.95) -> OddsRatio:
    """The odds ratio with Woolf's (1955) interval: normal on logarithms. NaN where a group is empty.

    >>> found = odds_ratio(26, 48, 206, 259)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.304, 0.16, 0.578)
    """
    cells = np.array([k1, n1 - k1, k2, n2 - k2], dtype=np.float64)
    if not (n1 > 0 and n2 > 0):
        return OddsRatio(math.nan, math.nan, math.nan, corrected=False)
    corrected = bool((cells == 0).any())
    cells += 0.5 * corrected
    middle = float(np.log(cells) @ [1, -1, -1, 1])
    reach = critical.upper((1 - confidence) / 2) * math.sqrt(float((1 / cells).sum()))
    return OddsRatio(math.exp(middle), math.exp(middle - reach), _exp(middle + reach), corrected)


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf


def shortfall(k1: float, n1: float, k2: float, n2: float) -> float:
    """How many more of the group would have been selected, had both groups had the rate of the two together.

    As many selections are made as before: they go from the yardstick to the group. Below 0 the group has more.

    >>> shortfall(12, 40, 48, 80)
    8.0
    """
    return n1 * (k1 + k2) / (n1 + n2) - k1


@dataclass(frozen=True)
class Turn:
    """How few decisions turn the result of a group whose impact ratio is read against a threshold.

    `flip` is "one more" where one more selection in the group makes it pass, "one fewer" where one less makes it fall
    below, and "no". `to_pass` is how many selections must go from the yardstick to the group for it to pass: 0 where it
    does. `to_reverse` is how many, until the group is selected more often than the yardstick. None where no number is
    enough.
    """

    flip: str | None
    to_pass: int | None
    to_reverse: int | None


NO_TURN = Turn(None, None, None)


def turn(k1: int, n1: int, k2: int, n2: int, passes: Callable[[float], bool | None]) -> Turn:
    """What turns the result; `passes` says whether an impact ratio is within the threshold.

    >>> turn(1, 10, 3, 20, lambda ratio: ratio >= 0.8)
    Turn(flip='one more', to_pass=1, to_reverse=1)
    """
    if not (n1 and n2) or k1 + k2 == 0:
        return NO_TURN

    def ratio(more: int, fewer: int = 0) -> float:
        return hypotheses.ratio((k1 + more) * n2, (k2 - fewer) * n1)

    most = min(n1 - k1, k2)
    return Turn(
        _flip(k1, n1, ratio, passes),
        _least(lambda moved: bool(passes(ratio(moved, moved))), most),
        _least(lambda moved: (k1 + moved) * n2 > (k2 - moved) * n1, most),
    )


def _flip(k1: int, n1: int, ratio: Callable[[int], float], passes: Callable[[float], bool | None]) -> str | None:
    now = passes(ratio(0))
    if now is None or math.isnan(ratio(0)):
        return None
    if not now:
        return "one more" if k1 < n1 and passes(ratio(1)) else "no"
    return "one fewer" if k1 > 0 and passes(ratio(-1)) is False else "no"


def _least(holds: Callable[[int], bool], most: int) -> int | None:
    """The least number from 0 to `most` for which it holds; it holds for every greater one, too. None where it never
    does."""
    if not holds(most):
        return None
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
