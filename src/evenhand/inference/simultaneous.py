"""The default interval: simultaneous over all groups compared, analytic, with no draws and no seed.

Between extremes the near end (the lower one of a difference, the upper one of a ratio) holds for all pairs at once
and uses Clopper-Pearson limits at Tukey's critical value; the far end belongs to one fixed pair and needs no family.
Against a reference every group's interval holds together with the others'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeGuard

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices
from evenhand.errors import DataError
from evenhand.inference import critical
from evenhand.inference.clustered import together_of
from evenhand.inference.hypotheses import Test
from evenhand.inference.limits import (
    FAR,
    FARTHEST_DEVIATE,
    NEAR,
    Leaning,
    Limits,
    both_limits,
    correlation,
    correlation_with_base,
    joined,
    lean,
    log_lean,
    log_lower,
    log_upper,
    lower,
    ratio_end,
    ratio_far,
    ratio_near,
    sides,
    upper,
)
from evenhand.inference.pairs import Pairs, front
from evenhand.inference.replica_spread import Shared
from evenhand.inference.spread import BiasedUpwards, Bounded, Skewed, Spread

_FEW_GROUPS, _MOST_PAIRED = 64, 5000  # of so many every pair is looked at, and can be looked at


class Ends(NamedTuple):
    """Both ends of a difference and of a ratio between extremes; `pairs` has those of all pairs, by measure."""

    difference: tuple[float, float] = (0.0, 1.0)
    ratio: tuple[float, float] = (0.0, 1.0)
    pairs: tuple[Pairs | None, ...] = ()


def own(spread: Spread, confidence: float, places: Sequence[int] | None = None) -> tuple[Floats, Floats]:
    """Limits for each group's own value, holding for all groups together; only of those at `places`, if given."""
    there = ~np.isnan(spread.values)
    asked = spread if places is None else spread.scaled(1.0, places)
    return asked.limits(critical.sidak(int(there.sum()), confidence), NEAR)


def between_extremes(
    spreads: Sequence[Spread | Bounded],
    usable: Bools,
    confidence: float,
    aggregate: str = "worst",
    *,
    near: float | None = None,
    yardsticks: Bools | None = None,
) -> Ends:
    """The largest gap between any two groups in any of the measures; `usable` is [measures, groups].

    Near ends hold with confidence `near`, where several findings share one error probability. Only `yardsticks`,
    [measures, groups], can be the higher group of a pair, if they are given. Where only bounds of a measure are known,
    each end takes the two groups at the bounds that move it farthest.
    """
    share = (near or confidence) ** (1 / max(int(usable.any(axis=1).sum()), 1))
    able = np.ones_like(usable) if yardsticks is None else yardsticks
    pairs = tuple(
        _pairs(spread, chosen, share, confidence, None if yardsticks is None else tops)
        for spread, chosen, tops in zip(spreads, usable, able, strict=True)
    )
    parts = [_extremes(part.among(tops)) for part, tops in zip(pairs, able, strict=True) if part is not None]
    if not parts:
        return Ends(pairs=pairs)
    differences, ratios = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    if aggregate != "worst":
        return Ends(tuple(differences.mean(axis=0)), tuple(ratios.mean(axis=0)), pairs)
    return Ends(
        (float(differences[:, 0].max()), float(differences[:, 1].max())),
        (float(ratios[:, 0].min()), float(ratios[:, 1].min())),
        pairs,
    )


def _extremes(pairs: Pairs) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ends of highest − lowest and of lowest / highest; NaN where no pair has them."""
    low, high = (np.fmax.reduce(part, axis=None) for part in (pairs.difference_near, pairs.difference_far))
    least, most = (np.fmin.reduce(part, axis=None) for part in (pairs.ratio_far, pairs.ratio_near))
    return (float(np.maximum(low, 0.0)), float(high)), (float(least), float(np.minimum(most, 1.0)))


def _pairs(
    spread: Spread | Bounded, usable: Bools, share: float, confidence: float, tops: Bools | None
) -> Pairs | None:
    low, high = sides(spread)
    chosen = np.flatnonzero(usable & np.isfinite(spread.values) & np.isfinite(low.values) & ~np.isnan(high.values))
    if len(chosen) < 2:
        return None
    q = critical.tukey(len(chosen), share)
    c = critical.one_sided(q, confidence)
    chosen = _candidates(spread, q, c, chosen, tops)
    common = correlation(spread, chosen)
    near, far = both_limits(spread, q, NEAR, chosen), both_limits(spread, c, FAR, chosen)
    for side in (*near, *far):
        side.common = common
    with np.errstate(invalid="ignore"):  # an infinite upper bound less another one
        differences = lower(near[0].column(), near[1]), upper(far[1].column(), far[0])
    ratios = ratio_near(near[1].column(), near[0]), ratio_far(far[0].column(), far[1])
    if isinstance(spread, Skewed):
        one, span = Leaning(spread, c, confidence, chosen), spread.span
        mine = one.column()
        differences = differences[0], np.maximum(differences[1], np.minimum(upper(mine, one) + lean(mine, one), span))
        ratios = ratios[0], np.minimum(ratios[1], ratio_far(mine, one) / np.exp(log_lean(one, mine)))
    ends = (*differences, *ratios)
    for part, unbounded in zip(ends, _UNBOUNDED, strict=True):
        # Where some pairs have ends, one without, such as of a group of one, may lie anywhere.
        unknown = np.isnan(part)
        part[unknown & (isinstance(spread, Bounded) or not unknown.all())] = unbounded
        np.fill_diagonal(part, np.nan)
    return Pairs(chosen, *ends)


def _candidates(spread: Spread | Bounded, q: float, c: float, chosen: Indices, tops: Bools | None) -> Indices:
    """Of many groups, those that can have the largest gap, the surest gap or the farthest end of any two.

    Beside a group of a higher value and a smaller margin no other is needed as the higher one of a surest gap, and so
    on for each end. Where margins do not combine so simply, all groups are kept.
    """
    if len(chosen) <= _FEW_GROUPS:
        return chosen
    if _plain(spread):
        near, far = Limits(spread, q, NEAR, chosen), Limits(spread, c, FAR, chosen)
        chosen = chosen[_kept(near, far, np.ones(len(chosen), bool) if tops is None else tops[chosen])]
    if len(chosen) > _MOST_PAIRED:
        raise DataError(
            f"there are {len(chosen):,} groups, and this metric compares each with each: at most {_MOST_PAIRED:,} can "
            "be. Choose a coarser column."
        )
    return chosen


def _plain(spread: Spread | Bounded) -> TypeGuard[Spread]:
    """Do the margins of two groups combine as the sides of a triangle, and in no other way?"""
    return not isinstance(spread, (Bounded, BiasedUpwards, Skewed, Shared)) and together_of(spread) is None


def _kept(near: Limits, far: Limits, able: Bools) -> Bools:
    """Which groups are kept; those that are `able` can be the higher one of a pair."""
    values, some = near.values, near.values > 0
    kept = np.zeros(len(values), bool)
    kept[[np.argmax(values), np.argmin(values), np.argmax(np.where(able, values, -np.inf))]] = True
    # Where all pairs reach as far, as to a ratio of 0, the first of them is named.
    kept[[np.argmax(each) for each in (able, ~some, some)]] = True
    for those in (able & some, able & ~some):
        kept |= front(values, -near.down, those) | front(values, far.up, those)
        kept |= front(near.centre, -near.log_down, those) | front(near.centre, far.log_up, those)
    for those in (some, ~some):
        kept |= front(-values, -near.up, those) | front(-values, far.down, those)
        kept |= front(-near.centre, -near.log_up, those) | front(-near.centre, far.log_down, those)
    return kept


_UNBOUNDED = (-np.inf, np.inf, np.inf, 0.0)  # of the fields of Pairs


def no_gap(spread: Spread, usable: Bools) -> Test:
    """Test whether the values of the groups differ: p is the error at which the default interval just reaches 0.

    So it agrees with the interval beside it, in small groups and under skew. The statistic is the normal deviate of
    that interval.
    """
    chosen = np.flatnonzero(usable & np.isfinite(spread.values))
    values, common = spread.values[chosen], correlation(spread, chosen)
    strangers = together_of(spread) is None

    def farthest(deviate: float) -> float:
        low, high = (end[chosen] for end in spread.limits(deviate, NEAR))
        down, up = values - low, high - values
        # Beside a group of a higher value and a smaller margin no other is needed as the higher one, and so below.
        tops, bottoms = (front(values, -down), front(-values, -up)) if strangers else (slice(None), slice(None))
        with np.errstate(divide="ignore", invalid="ignore"):
            margins = joined(down[tops, None], up[bottoms], common)
            apart = values[tops, None] - values[bottoms]
            return float(np.fmax.reduce(apart / margins, axis=None, initial=-1.0))

    first = farthest(2.0)
    if first < 0 or len(chosen) < 2:
        return Test("Tukey", math.nan, math.nan, note="fewer than two groups to compare")
    deviate = _reaching(farthest, first) if first > 0 else 0.0
    return Test("Tukey", deviate, min(1.0, critical.beyond_tukey(len(chosen), deviate)), float(len(chosen) - 1))


def _reaching(farthest: Callable[[float], float], first: float) -> float:
    """The deviate at which the interval just reaches 0: `farthest` is the gap over its margin, `first` that at 2."""
    deviate, found, least, most = 2.0, first, 1e-6, FARTHEST_DEVIATE
    for _ in range(_STEPS):
        least, most = (deviate, most) if found > 1 else (least, deviate)
        # Margins grow nearly in proportion to the deviate, so that a few steps lead there; of few clusters they grow
        # faster, and a step that leads out of the bracket halves it.
        before, deviate = deviate, float(np.clip(deviate * found, 1e-6, FARTHEST_DEVIATE))
        if abs(deviate - before) <= 1e-7 * deviate:
            break
        if not least < deviate < most:
            deviate = math.sqrt(least * most)
        found = farthest(deviate)
    return deviate


def no_differences(spread: Spread, base: Spread) -> Floats:
    """Of each group, p of no difference from its baseline: the error at which the interval of that pair reaches 0."""
    from scipy.special import ndtr

    values, theirs = spread.values, base.values
    common = np.broadcast_to(correlation_with_base(spread, base), values.shape)
    found = np.full(len(values), np.nan)
    for i in np.flatnonzero(np.isfinite(values) & np.isfinite(theirs)).tolist():
        mine, other, apart = spread.scaled(1.0, [i]), base.scaled(1.0, [i]), abs(values[i] - theirs[i])
        top, bottom = (mine, other) if values[i] > theirs[i] else (other, mine)

        def farthest(deviate: float, apart=apart, top=top, bottom=bottom, rho=common[[i]]) -> float:  # type: ignore[no-untyped-def]
            down, up = top.values - top.limits(deviate, NEAR)[0], bottom.limits(deviate, NEAR)[1] - bottom.values
            return float(apart / max(float(joined(down, up, rho)[0]), 1e-300))

        deviate = _reaching(farthest, farthest(2.0)) if apart > 0 else 0.0
        found[i] = min(1.0, 2 * float(ndtr(-deviate)))
    return found


_STEPS = 100


def against_extreme(
    spread: Spread, usable: Bools, confidence: float, yardsticks: Bools, *, lowest: bool = False
) -> tuple[Floats, Floats, Floats, Floats]:
    """Each group against the one of the yardsticks that is truly highest: ends of the difference and of the ratio.

    Which group is highest is not known, only estimated. Limits of all pairs hold together, and group − highest is the
    least of a group's differences from the others (and 0): so are its ends. Against the `lowest` it is the greatest.
    NaN for groups that are not usable.
    """
    ends = tuple(np.full(len(spread.values), np.nan) for _ in range(4))
    chosen = np.flatnonzero(usable & np.isfinite(spread.values))
    if len(chosen) < 2:
        return ends  # type: ignore[return-value]
    q, values = critical.tukey(len(chosen), confidence), spread.values[chosen]
    able = yardsticks[chosen]
    near = Limits(spread, q, NEAR, chosen)
    of = chosen[_farthest_yardsticks(spread, near, able, lowest=lowest)]
    theirs = Limits(spread, q, NEAR, of)
    mine = near.column()
    mine.common = correlation(spread, chosen, of)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        middle = np.log(near.centre)[:, None] - np.log(theirs.centre)[None, :]
        pairs = (
            lower(mine, theirs),
            upper(mine, theirs),
            np.exp(middle - log_lower(mine, theirs)),
            np.exp(middle + log_upper(mine, theirs)),
        )
        top = values[able].min(initial=np.inf) if lowest else values[able].max(initial=-np.inf)
        seen = (values - top, values / top)
    farther, itself = (np.maximum, -np.inf) if lowest else (np.minimum, np.inf)
    for i, (end, pair) in enumerate(zip(ends, pairs, strict=True)):
        pair[chosen[:, None] == of] = itself
        # Whoever is a yardstick may be the extreme one, which differs from itself by nothing.
        farthest = farther(farther.reduce(pair, axis=1, initial=itself), np.where(able, i // 2, itself))
        widened = np.minimum if i % 2 == 0 else np.maximum
        end[chosen] = widened(farthest, seen[i // 2])
    return ends  # type: ignore[return-value]


def _farthest_yardsticks(spread: Spread, limits: Limits, able: Bools, *, lowest: bool) -> Bools:
    """Of those that are able, the groups from which others can differ most; as in `_candidates`, no more are needed."""
    if len(able) <= _FEW_GROUPS or not _plain(spread):
        return able
    side = -1 if lowest else 1
    kept = np.zeros(len(able), bool)
    for place, down, up in (
        (limits.values, limits.down, limits.up),
        (limits.centre, limits.log_down, limits.log_up),
    ):
        kept |= front(side * place, side * up, able) | front(side * place, -side * down, able)
    return kept


class Against(NamedTuple):
    """Ends of each group's comparison with its baseline, [measures, groups]; NaN where there is none.

    `near` holds for all groups together and is what a fail needs; `far` is what a pass needs.
    """

    difference_near: tuple[Floats, Floats]
    difference_far: tuple[Floats, Floats]
    ratio_near: tuple[Floats, Floats]
    ratio_far: tuple[Floats, Floats]


def against(
    spreads: Sequence[Spread | Bounded],
    bases: Sequence[Spread | Bounded],
    compared: Bools,
    confidence: float,
    *,
    shares: Floats | None = None,
    near: float | None = None,
    common: Floats | None = None,
) -> Against:
    """Each group against a baseline: `bases` holds the baseline of each group.

    The baseline is one group for all, or the rest of each group. With `shares`, the share of each group in everyone
    [measures, groups], groups are compared with everyone, of whom they are a part. Where everyone's value is a mean
    over the groups, `bases` holds the rest and the comparison with the rest is transformed, exactly. Where it is not
    (an AUC, a root, an R²), the shares are NaN and `bases` holds everyone: the margins of the two are added, which
    holds whatever they have in common, and is wider than need be; unless `common`, [measures, groups], says how the two
    are correlated.
    """
    rows = []
    for i, (spread, base) in enumerate(zip(spreads, bases, strict=True)):
        usable = compared[i] & np.isfinite(spread.values) & np.isfinite(base.values)
        for side in (*sides(spread), *sides(base)):
            usable = usable & np.isfinite(side.values)
        q = _together(usable, (near or confidence) ** (1 / len(spreads)))
        c = critical.one_sided(q, confidence)
        mixed = shares is None or bool(np.isfinite(shares[i]).all())
        shared = correlation_with_base(spread, base) if mixed else -1.0 if common is None else common[i]
        ends = [_one_by_one(spread, base, deviate, offset, shared) for deviate, offset in ((q, NEAR), (c, FAR))]
        if isinstance(spread, Skewed) and isinstance(base, Skewed):
            ends[1] = _leaning(ends[1], spread, base, (c, confidence), shared)
        if shares is not None and mixed:
            ends = [_to_overall(pair, shares[i]) for pair in ends]
        rows.append([np.where(usable, values, np.nan) for pair in ends for values in pair])
    stacked = [np.stack(part) for part in zip(*rows, strict=True)]
    return Against(
        (stacked[0], stacked[1]), (stacked[4], stacked[5]), (stacked[2], stacked[3]), (stacked[6], stacked[7])
    )


def at_deviate(
    spread: Spread | Bounded, base: Spread | Bounded, deviate: float, shares: Floats | None = None
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Near and far ends of each group's difference from its baseline, at a deviate that holds for all of them.

    With `shares`, the share of each group in everyone, `base` is the rest and groups are compared with everyone.
    """
    from scipy.special import ndtr

    near, far = (_one_by_one(spread, base, deviate, offset, 0.0) for offset in (NEAR, FAR))
    if isinstance(spread, Skewed) and isinstance(base, Skewed):
        # The deviate of many groups lies far out, where skewness matters for near ends as well.
        near = far = _leaning(far, spread, base, (deviate, float(ndtr(deviate))), 0.0)
    if shares is not None:
        near, far = (_to_overall(ends, shares) for ends in (near, far))
    return near[:2], far[:2]


def at_deviate_alone(spread: Spread, deviate: float) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Near and far ends of each group's own value, likewise."""
    return spread.limits(deviate, NEAR), spread.limits(deviate, FAR)


def _together(compared: Bools, confidence: float) -> float:
    """Šidák's critical value, which holds whatever the comparisons have to do with each other.

    Dunnett's is smaller, but it takes the variances as equal: with a small reference at a low rate and 19 others it
    covered 91 % (benchmarks/coverage.py).
    """
    return critical.sidak(int(compared.sum()), confidence)


def _one_by_one(
    spread: Spread | Bounded, base: Spread | Bounded, deviate: float, offset: float, common: Floats | float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Lower and upper ends of the difference and of the ratio; each takes the bounds that move it farthest."""
    every = np.arange(len(sides(spread)[0].values))
    mine, theirs = both_limits(spread, deviate, offset, every), both_limits(base, deviate, offset, every)
    for side in mine:
        side.common = common
    with np.errstate(invalid="ignore"):
        low, high = lower(mine[0], theirs[1]), upper(mine[1], theirs[0])
    return low, high, ratio_end(mine[0], theirs[1], -1), ratio_end(mine[1], theirs[0], 1)


def _leaning(
    far: tuple[Floats, Floats, Floats, Floats],
    spread: Skewed,
    base: Skewed,
    level: tuple[float, float],
    common: Floats | float,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Far ends of `_one_by_one` that allow for skewness; `level` is their deviate, and the one-sided confidence."""
    every = np.arange(len(spread.values))
    mine, theirs = Leaning(spread, *level, every), Leaning(base, *level, every)
    mine.common = common
    low, high, least, most = far
    return (
        np.minimum(low, np.maximum(lower(mine, theirs) - lean(theirs, mine), -spread.span)),
        np.maximum(high, np.minimum(upper(mine, theirs) + lean(mine, theirs), spread.span)),
        np.minimum(least, ratio_end(mine, theirs, -1) / np.exp(log_lean(theirs, mine))),
        np.maximum(most, ratio_end(mine, theirs, 1) * np.exp(log_lean(mine, theirs))),
    )


def _to_overall(ends: tuple[Floats, Floats, Floats, Floats], share: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """From group against rest to group against everyone: d(1−π), and 1 / (π + (1−π)/R)."""
    low, high, least, most = ends
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = [1 / (share + (1 - share) / ratio) for ratio in (least, most)]
    return (1 - share) * low, (1 - share) * high, ratios[0], ratios[1]
