"""Power: what a sample of this size can and cannot show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.inference import critical
from evenhand.inference.spread import PLAIN, Average, Logit, Proportions, Relative, Spread

MOST_ROWS = 10**9
POWER = 0.8
_MARGIN = 0.8416212335729143  # the normal deviate of 80 %
_RARE = 30  # expected counts below this are not normal
_COARSE = 10  # counts with a larger deviation are taken as normal
_CUTS = 500


def expected_gap(spread: Spread, usable: Bools) -> float:
    """How far apart the highest and the lowest group are expected to lie by chance alone, if all had one rate."""
    there = usable & np.isfinite(spread.values) & np.isfinite(spread.deviations)
    if there.sum() < 2:
        return math.nan
    if isinstance(spread, Proportions) and spread.form.plain:
        n, rate = spread.n[there], spread.k[there].sum() / spread.n[there].sum()
        if n.min() * min(rate, 1 - rate) < _RARE:
            return _expected_range(tuple(sorted(n.tolist())), float(min(rate, 1 - rate)))
    # Where no value in the sample varies, it does not tell how far chance alone would move them.
    return critical.expected_range(spread.deviations[there]) if spread.deviations[there].any() else math.nan


@lru_cache(maxsize=1024)
def _expected_range(people: tuple[float, ...], rate: float) -> float:
    """The same of binomial rates: the mean length of what lies below the highest and not below the lowest."""
    from scipy.special import bdtr

    if rate <= 0:
        return 0.0
    n = np.array(people)
    top = min(1.0, float((rate + 9 * np.sqrt(rate / n) + 12 / n).max()))
    at = (np.arange(_CUTS) + 0.5) * (top / _CUTS)
    sizes, many = np.unique(np.maximum(np.rint(n), 1), return_counts=True)
    below = bdtr(np.floor(at[:, None] * sizes + 1e-9), sizes.astype(np.int64), rate)
    return float(np.sum(1 - (below**many).prod(axis=1) - ((1 - below) ** many).prod(axis=1)) * (top / _CUTS))


def detectable_gap(spread: Spread, pair: tuple[int, int], groups: int, confidence: float) -> float:
    """The smallest gap between two groups that would be found with 80 % power among this number of groups.

    The two lie apart around the rate of all groups, as far as rates can. NaN where not even the largest gap that is
    possible would be found, and where neither value varies in the sample.
    """
    places, q = list(pair), critical.tukey(groups, confidence)
    usual = float((q + _MARGIN) * np.hypot(*spread.deviations[places]))
    if isinstance(spread, Proportions) and spread.form.plain and spread.n[places].min() > 0:
        n, rate = sorted(spread.n[places].tolist()), float(spread.k.sum() / spread.n.sum())
        if n[0] * min(rate, 1 - rate) < _RARE:
            return _rare_gap(n[0], n[1], min(rate, 1 - rate), q, min(usual or 1 / n[1], 1.0))
    return usual if 0 < usual <= _largest_gap(spread) else math.nan


def _largest_gap(spread: Spread) -> float:
    """The largest difference between two values that is possible; infinite where nothing limits it."""
    if isinstance(spread, Relative):
        return spread.span
    if isinstance(spread, Average):
        return float(np.mean([_largest_gap(part) for part in spread.parts]))
    if isinstance(spread, Proportions):
        return spread.form.alpha / spread.form.gamma if spread.form.gamma else math.inf
    return 1.0 if isinstance(spread, Logit) else math.inf


@lru_cache(maxsize=4096)
def _rare_gap(fewer: float, more: float, rate: float, q: float, usual: float) -> float:
    """The same by binomial probabilities, sought from the usual gap on."""
    low, high = usual / 2, usual  # above 0
    while high < 1 and _found(fewer, more, rate, high, q) < POWER:
        low, high = high, min(1.4 * high, 1.0)
    if high == 1 and _found(fewer, more, rate, high, q) < POWER:
        return math.nan
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _found(fewer, more, rate, middle, q) >= POWER else (middle, high)
    return high


def _found(fewer: float, more: float, rate: float, gap: float, q: float) -> float:
    """The chance that the near end of a gap of this size lies above 0; the mean over which of the two is higher."""
    bottom = min(max(rate - gap / 2, 0.0), 1 - gap)
    sizes = {(fewer, more), (more, fewer)}
    return sum(_above(*pair, bottom + gap, bottom, q) for pair in sizes) / len(sizes)


def _above(n: float, other: float, high: float, low: float, q: float) -> float:
    (k, chance), (others, their_chance) = _outcomes(n, high), _outcomes(other, low)
    top, bottom = Proportions(k, np.full(len(k), n), PLAIN), Proportions(others, np.full(len(others), other), PLAIN)
    down, up = top.values - top.limits(q, 0.0)[0], bottom.limits(q, 0.0)[1] - bottom.values
    apart = np.subtract.outer(top.values, bottom.values)
    return float(chance @ (apart > np.hypot(down[:, None], up[None, :])) @ their_chance)


def _outcomes(n: float, rate: float) -> tuple[Floats, Floats]:
    """Counts that a binomial may show, with their probabilities; a large one in steps of equal probability."""
    from scipy.special import gammaln, ndtri, xlog1py, xlogy

    middle, deviation = n * rate, math.sqrt(max(n * rate * (1 - rate), 0.0))
    if deviation < 1e-6:
        return np.array([middle]), np.ones(1)
    if deviation > _COARSE:
        return middle + deviation * ndtri((np.arange(60) + 0.5) / 60), np.full(60, 1 / 60)
    k = np.arange(max(0.0, math.floor(middle - 6 * deviation - 6)), min(n, middle + 6 * deviation + 6) + 1e-9)
    logs = xlogy(k, rate) + xlog1py(n - k, -rate) - gammaln(k + 1) - gammaln(n - k + 1)
    chance = np.exp(logs - logs.max())
    return k, chance / chance.sum()


def variance_between(spread: Spread, usable: Bools) -> tuple[float, float]:
    """The variance of a measure between groups: raw, and with the sampling noise removed (Lum et al. 2022).

    The raw one grows with the number and smallness of the groups even where no group differs.
    """
    defined = usable & np.isfinite(spread.values) & np.isfinite(spread.variances)
    if defined.sum() < 2:
        return math.nan, math.nan
    raw = float(spread.values[defined].var(ddof=1))
    return raw, max(0.0, raw - float(spread.variances[defined].mean()))


def shrunken(spread: Spread, usable: Bools) -> Spread:
    """The values drawn towards their mean as far as they differ by chance: rates in a small sample lie too far apart.

    What is left of each distance is the share of the variance between groups that noise does not explain.
    """
    raw, freed = variance_between(spread, usable)
    if not isinstance(spread, Proportions) or not raw > 0:
        return spread
    total = spread.n[usable].sum()
    mean = spread.k[usable].sum() / total if total else math.nan
    left = mean * spread.n + (freed / raw) * (spread.k - mean * spread.n)
    return replace(spread, k=np.where(usable, left, spread.k))


class Settling(NamedTuple):
    """How many times as many rows would settle a finding, and the group that limits it most."""

    multiplier: float
    limiting: int


class _Part(NamedTuple):
    """The groups of one measure; of very many, some that stand for `many` others each. `against` is the reference.

    Of many measures, such as the bins of a score, it stands for several.
    """

    spread: Spread
    many: Floats
    against: int | None
    measures: int = 1

    def ease(self, threshold: float) -> float:
        """How many standard errors the extremes are within a threshold: less is harder to pass, and easier to fail."""
        noise = math.sqrt(2 * np.nan_to_num(self.spread.variances).max()) or 1e-12
        return float((threshold - np.ptp(self.spread.values)) / noise)


def _part(spread: Spread, usable: Bools, place: int | None) -> _Part | None:
    """The groups to forecast; None where there is nothing to compare.

    Those that may be highest or lowest stand for themselves, the others for those next to them in value.
    """
    chosen = np.flatnonzero(usable & np.isfinite(spread.values))
    if len(chosen) < 2 or (place is not None and place not in chosen):
        return None
    many = np.ones(len(chosen))
    if len(chosen) > _MOST_KEPT:
        values, reach = spread.values[chosen], 2 * np.sqrt(np.nan_to_num(spread.variances[chosen]))
        keep = np.zeros(len(chosen), dtype=bool)
        for order in (values + reach, reach - values, reach):
            keep[np.argsort(order)[-4:]] = True
        keep |= chosen == place
        others = np.flatnonzero(~keep)
        parts = np.array_split(others[np.argsort(values[others])], _MOST_KEPT - int(keep.sum()))
        places = [*np.flatnonzero(keep).tolist(), *(int(part[len(part) // 2]) for part in parts)]
        many = np.concatenate([np.ones(int(keep.sum())), [float(len(part)) for part in parts]])
        chosen = chosen[places]
    against = None if place is None else int(np.flatnonzero(chosen == place)[0])
    return _Part(spread.scaled(1.0, chosen.tolist()), many, against)


class Forecast(NamedTuple):
    """What a finding is judged by: how, at which threshold and confidence; against which of the groups, if any."""

    judged_on: str
    threshold: float
    confidence: float
    place: int | None = None
    one_sided: bool = False
    near: float | None = None
    """The confidence of near ends, where findings share the error probability of a fail."""

    def settles(self, parts: Sequence[_Part], multiplier: float) -> float:
        """The chance that the interval lies on one side of the threshold, with that many times as many people.

        All measures must be within for a pass, one beyond is a fail. The true values are those of the parts.
        """
        within = not_beyond = 1.0
        share = (self.near or self.confidence) ** (1 / sum(part.measures for part in parts))
        for part in parts:
            every = part.spread.scaled(multiplier, range(len(part.many)))
            passed, not_failed = self._chances(every, part.many, part.against, share)
            within, not_beyond = within * passed**part.measures, not_beyond * not_failed**part.measures
        return within + 1 - not_beyond

    def _chances(self, spread: Spread, each: Floats, against: int | None, share: float) -> tuple[float, float]:
        """The chances that all far ends are within the threshold, and that no near end is beyond it."""
        many = int(each.sum())
        q = critical.tukey(many, share) if against is None else critical.sidak(many - 1, share)
        c = critical.one_sided(q, self.confidence)
        # It is settled or not where groups stand apart by chance, so that is where their reach matters: for a pass the
        # farthest of all pairs, for a fail one.
        wide, one = (deviate / math.sqrt(2) for deviate in (critical.tukey(many, POWER), _MARGIN))
        ratio = self.judged_on == "ratio"
        near_down, near_up = _reach(spread, one, q, 0.0, ratio)
        far_down, far_up = _reach(spread, wide, c, 0.25, ratio)
        values, sigma, limit = spread.values, np.sqrt(spread.variances), self.threshold
        if ratio:
            values, sigma, limit = np.log(values), sigma / values, -math.log(limit)
        sigma = np.maximum(sigma, 1e-12)
        if against is None:
            passed = _all_pairs(values, sigma, each, far_up, far_down, limit)
            return passed, _all_pairs(values, sigma, each, -near_down, -near_up, limit)
        above = np.hypot(far_up, far_down[against]), -np.hypot(near_down, near_up[against])
        below = np.hypot(far_down, far_up[against]), -np.hypot(near_up, near_down[against])
        if self.one_sided:  # a group above the reference does not count
            above = (np.full(len(each), -np.inf),) * 2
        passed, not_failed = (
            _all_against(values, sigma, each, against, *side, limit) for side in zip(above, below, strict=True)
        )
        return passed, not_failed


def rows_to_settle(spreads: Sequence[Spread], usable: Bools, forecast: Forecast, people: int) -> Settling | None:
    """The smallest multiplier of the data, rates and shares as given, at which the finding is settled with 80 %
    probability; None when a billion rows would not do. `usable` is [measures, groups].
    """
    counts = []
    for spread in spreads:
        if not isinstance(spread, Proportions) or not spread.form.plain:
            return _seek(spreads, usable, forecast, people)
        # The gap between rates is that between the rates of the other outcome.
        turned = forecast.judged_on == "difference" and 2 * spread.k.sum() > spread.n.sum()
        counts.append(((spread.n - spread.k if turned else spread.k).tobytes(), spread.n.tobytes()))
    return _remembered(tuple(counts), usable.tobytes(), forecast, people)


@lru_cache(maxsize=1024)
def _remembered(
    counts: tuple[tuple[bytes, bytes], ...], usable: bytes, forecast: Forecast, people: int
) -> Settling | None:
    """Many metrics of an audit ask the same question of the same counts."""
    spreads = [Proportions(np.frombuffer(k), np.frombuffer(n), PLAIN) for k, n in counts]
    return _seek(spreads, np.frombuffer(usable, dtype=bool).reshape(len(spreads), -1), forecast, people)


def _fewer(parts: list[_Part], threshold: float) -> list[_Part]:
    """The hardest measure by itself, and of the others two that stand for the harder and for the easier ones."""
    if len(parts) <= 3:
        return parts
    first, *others = sorted(parts, key=lambda part: part.ease(threshold))
    halves = others[: len(others) // 2], others[len(others) // 2 :]
    return [first, *(half[len(half) // 2]._replace(measures=len(half)) for half in halves)]


def _seek(spreads: Sequence[Spread], usable: Bools, forecast: Forecast, people: int) -> Settling | None:
    if forecast.judged_on == "ratio" and (
        forecast.threshold <= 0 or any(np.any(part.values[use] <= 0) for part, use in zip(spreads, usable, strict=True))
    ):
        return None
    every = [_part(spread, use, forecast.place) for spread, use in zip(spreads, usable, strict=True)]
    parts = _fewer([part for part in every if part is not None], forecast.threshold)
    if not parts:
        return None
    low, high = 0.0, math.log(max(MOST_ROWS / max(people, 1), 1.0))
    ends = [_beyond(forecast.settles(parts, math.exp(at))) for at in (low, high)]
    if ends[1] < 0:
        return None
    at = low if ends[0] >= 0 else high
    step = 0
    while ends[0] < 0 and high - low > 0.003 and step < 14:  # two figures are all that a forecast carries
        # Between the two ends as if the line were straight, and every third time in the middle.
        share = 0.5 if step % 3 == 2 else min(max(-ends[0] / (ends[1] - ends[0]), 0.05), 0.95)
        at = low + share * (high - low)
        found = _beyond(forecast.settles(parts, math.exp(at)))
        if abs(found) < 0.04:
            break
        low, high, ends = (at, high, [found, ends[1]]) if found < 0 else (low, at, [ends[0], found])
        at, step = high, step + 1
    noise = np.array(
        [np.where(use, np.nan_to_num(part.variances), 0.0) for part, use in zip(spreads, usable, strict=True)]
    )
    return Settling(math.exp(at), int(np.argmax(noise.max(axis=0))))


def _beyond(chance: float) -> float:
    """How far a chance is beyond 80 %, in deviates, which rise steadily with the people."""
    from scipy.special import ndtri

    return -math.inf if math.isnan(chance) else float(ndtri(min(max(chance, 1e-6), 1 - 1e-6))) - _MARGIN


def _reach(spread: Spread, apart: float, deviate: float, offset: float, ratio: bool) -> tuple[Floats, Floats]:
    """How far limits reach down from a value that is `apart` standard errors too low, and up from one too high."""
    if isinstance(spread, Proportions):
        away = apart * np.sqrt(np.maximum(spread.n * spread.theta * (1 - spread.theta), 0.0))  # θ rounds
        lower, upper = (replace(spread, k=np.clip(spread.k + move, 0.0, spread.n)) for move in (-away, away))
        pairs = (lower.values, lower.lower(deviate, offset)), (upper.values, upper.upper(deviate, offset))
    else:
        low, high = spread.limits(deviate, offset)
        pairs = (spread.values, low), (spread.values, high)
    with np.errstate(divide="ignore", invalid="ignore"):  # a limit below 0 is no limit to a ratio
        if ratio:
            pairs = tuple((np.log(value), np.log(np.maximum(end, 0.0))) for value, end in pairs)  # type: ignore[assignment]
        down, up = (abs(value - end) for value, end in pairs)
    return np.where(np.isnan(down), np.inf, down), np.where(np.isnan(up), np.inf, up)


_STEPS = np.linspace(-5, 5, 19)
_MOST_RESOLVED, _MOST_KEPT = 4, 20  # groups


def _all_pairs(values: Floats, sigma: Floats, many: Floats, up: Floats, down: Floats, limit: float) -> float:
    """The chance that x_i − x_j + √(up_i² + down_j²) is at most the limit for all pairs of groups, x normal.

    With negative reaches the root is taken off. It is split into a part of each group, exactly for every pair with the
    group whose reach is the second largest, so that the highest of one list and the lowest of another are compared, as
    in the studentised range.
    """
    from scipy.special import ndtr

    sign = 1.0 if up.max() > 0 else -1.0
    size = np.nan_to_num(abs(up) + abs(down), posinf=-1.0)
    middle = int(np.repeat(np.argsort(size), many[np.argsort(size)].astype(int))[-2])
    if size[middle] < 0 or (sign > 0 and size.min() < 0):  # a group without a limit is never within
        return 0.0 if sign > 0 else 1.0
    both = math.hypot(up[middle], down[middle]) or 1.0
    top = values + sign * (np.hypot(up, down[middle]) - down[middle] ** 2 / both)
    bottom = values - sign * (np.hypot(up[middle], down) - up[middle] ** 2 / both)
    # In steps of the groups that may be highest, whose deviations may be very different.
    resolved = np.argsort(top + 2 * sigma)[-_MOST_RESOLVED:]
    at = np.unique(top[resolved, None] + sigma[resolved, None] * _STEPS)
    at = at[at >= (top - 5 * sigma).max()]
    below = ndtr((at[:, None] - top) / sigma) - ndtr((at[:, None] - limit - bottom) / sigma)
    logs = np.log(np.maximum(below, 1e-300))
    density = np.exp(-(((at[:, None] - top) / sigma) ** 2) / 2) / (math.sqrt(2 * math.pi) * sigma)
    chance = (density * np.exp((logs @ many)[:, None] - logs)) @ many
    return float(np.sum(np.diff(at) * (chance[1:] + chance[:-1])) / 2)


@cache
def _quadrature() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(48)


def _all_against(
    values: Floats, sigma: Floats, many: Floats, place: int, up: Floats, down: Floats, limit: float
) -> float:
    """The chance that x_i − x_place + up_i and x_place − x_i + down_i are at most the limit for all other groups."""
    from scipy.special import ndtr

    nodes, weights = _quadrature()
    at = values[place] + 8 * sigma[place] * nodes
    others = np.arange(len(values)) != place
    middle, spread = values[others], sigma[others]
    above = ndtr((at[:, None] + limit - up[others] - middle) / spread)
    inside = np.maximum(above - ndtr((at[:, None] - limit + down[others] - middle) / spread), 0.0)
    weight = 8 * weights * np.exp(-((8 * nodes) ** 2) / 2) / math.sqrt(2 * math.pi)
    return float(weight @ (inside ** many[others]).prod(axis=1))
