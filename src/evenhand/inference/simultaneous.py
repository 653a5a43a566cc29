"""The default interval: simultaneous over all groups compared, analytic, with no draws and no seed.

Between extremes the near end (the lower one of a difference, the upper one of a ratio) holds for all pairs at once
and uses Clopper-Pearson limits at Tukey's critical value; the far end belongs to one fixed pair and needs no family.
Against a reference every group's interval holds together with the others'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.inference import critical
from evenhand.inference.spread import Spread

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_NEAR, _FAR = 0.0, 0.25  # offsets of the beta limits, as measured in benchmarks/coverage.py


@dataclass(frozen=True)
class Ends:
    """Both ends of a difference and of a ratio; `pair` is (measure, group, group) that attains the near end."""

    difference: tuple[float, float] = (0.0, 1.0)
    ratio: tuple[float, float] = (0.0, 1.0)
    pair: tuple[int, int, int] | None = None


def own(spread: Spread, confidence: float) -> tuple[Floats, Floats]:
    """Limits for each group's own value, holding for all groups together."""
    there = ~np.isnan(spread.values)
    return spread.limits(critical.sidak(int(there.sum()), confidence), _NEAR)


def between_extremes(spreads: Sequence[Spread], usable: Bools, confidence: float, aggregate: str = "worst") -> Ends:
    """The largest gap between any two groups in any of the measures; `usable` is [measures, groups]."""
    share = confidence ** (1 / len(spreads))
    parts = [_pairs(spread, chosen, share, confidence) for spread, chosen in zip(spreads, usable, strict=True)]
    found = [part for part in parts if part is not None]
    if not found:
        return Ends()
    differences = np.array([part.difference for part in found])
    ratios = np.array([part.ratio for part in found])
    if aggregate != "worst":
        return Ends(tuple(differences.mean(axis=0)), tuple(ratios.mean(axis=0)))
    worst = int(np.argmax(differences[:, 0]))
    pair = found[worst].pair
    measure = next(i for i, part in enumerate(parts) if part is found[worst])
    return Ends(
        (float(differences[:, 0].max()), float(differences[:, 1].max())),
        (float(ratios[:, 0].min()), float(ratios[:, 1].min())),
        None if pair is None else (measure, pair[1], pair[2]),
    )


def _pairs(spread: Spread, usable: Bools, share: float, confidence: float) -> Ends | None:
    chosen = np.flatnonzero(usable & np.isfinite(spread.values))
    if len(chosen) < 2:
        return None
    q = critical.tukey(len(chosen), share)
    c = critical.one_sided(q, confidence)
    near, far = _Limits(spread, q, _NEAR, chosen), _Limits(spread, c, _FAR, chosen)
    values = spread.values[chosen]
    apart = values[:, None] - values[None, :]
    lower = apart - np.hypot(near.down[:, None], near.up[None, :])
    upper = apart + np.hypot(far.up[:, None], far.down[None, :])
    np.fill_diagonal(lower, -np.inf)
    np.fill_diagonal(upper, -np.inf)
    high, low = np.unravel_index(int(np.argmax(lower)), lower.shape)
    return Ends(
        (max(0.0, float(lower.max())), float(upper.max())),
        _ratio(values, near, far),
        (0, int(chosen[high]), int(chosen[low])),
    )


def _ratio(values: Floats, near: _Limits, far: _Limits) -> tuple[float, float]:
    """lowest / highest on logarithms, around the median of Jeffreys' posterior."""
    if (values == 0).all():
        return 0.0, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.log(near.centre)[:, None] - np.log(near.centre)[None, :]
        low = middle - np.hypot(far.log_down[:, None], far.log_up[None, :])
        high = middle + np.hypot(near.log_up[:, None], near.log_down[None, :])
    np.fill_diagonal(low, np.inf)
    np.fill_diagonal(high, np.inf)
    estimate = values.min() / values.max()
    ends = float(np.exp(low.min())), min(1.0, float(np.exp(high.min())))
    return min(ends[0], estimate), max(ends[1], estimate)


class _Limits:
    """How far limits lie from the value, up and down, plain and on logarithms."""

    def __init__(self, spread: Spread, deviate: float, offset: float, chosen: npt.NDArray[np.intp]) -> None:
        low, high = (end[chosen] for end in spread.limits(deviate, offset))
        values = spread.values[chosen]
        self.centre = spread.centre[chosen]
        with np.errstate(divide="ignore", invalid="ignore"):
            self.down, self.up = values - low, high - values
            self.log_down = np.log(self.centre) - np.log(np.minimum(low, self.centre))
            self.log_up = np.log(np.maximum(high, self.centre)) - np.log(self.centre)


@dataclass(frozen=True)
class Against:
    """Ends of each group's comparison with its baseline, [measures, groups]; NaN where there is none.

    `near` holds for all groups together and is what a fail needs; `far` is what a pass needs.
    """

    difference_near: tuple[Floats, Floats]
    difference_far: tuple[Floats, Floats]
    ratio_near: tuple[Floats, Floats]
    ratio_far: tuple[Floats, Floats]


def against(
    spreads: Sequence[Spread],
    bases: Sequence[Spread],
    compared: Bools,
    confidence: float,
    *,
    shares: Floats | None = None,
) -> Against:
    """Each group against a baseline: `bases` holds the baseline of each group.

    The baseline is one group for all, or the rest of each group. With
    `shares`, the share of each group in everyone [measures, groups], the baseline is everyone: groups overlap with
    it, so the comparison with the rest is transformed, exactly.
    """
    rows = []
    for i, (spread, base) in enumerate(zip(spreads, bases, strict=True)):
        usable = compared[i] & np.isfinite(spread.values) & np.isfinite(base.values)
        q = family(usable, confidence ** (1 / len(spreads)))
        c = critical.one_sided(q, confidence)
        ends = [_one_by_one(spread, base, deviate, offset) for deviate, offset in ((q, _NEAR), (c, _FAR))]
        if shares is not None:
            ends = [_to_overall(pair, shares[i]) for pair in ends]
        rows.append([np.where(usable, values, np.nan) for pair in ends for values in pair])
    stacked = [np.stack(part) for part in zip(*rows, strict=True)]
    return Against(
        (stacked[0], stacked[1]), (stacked[4], stacked[5]), (stacked[2], stacked[3]), (stacked[6], stacked[7])
    )


def family(compared: Bools, confidence: float) -> float:
    """Šidák's critical value, which holds whatever the comparisons have to do with each other.

    Dunnett's is smaller, but it takes the variances as equal: with a small reference at a low rate and 19 others it
    covered 91 % (benchmarks/coverage.py).
    """
    return critical.sidak(int(compared.sum()), confidence)


def _one_by_one(spread: Spread, base: Spread, deviate: float, offset: float) -> tuple[Floats, Floats, Floats, Floats]:
    every = np.arange(len(spread.values))
    mine, theirs = _Limits(spread, deviate, offset, every), _Limits(base, deviate, offset, every)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = spread.values - base.values
        low, high = apart - np.hypot(mine.down, theirs.up), apart + np.hypot(mine.up, theirs.down)
        middle = np.log(mine.centre) - np.log(theirs.centre)
        ratio = spread.values / base.values
        least = np.exp(middle - np.hypot(mine.log_down, theirs.log_up))
        most = np.exp(middle + np.hypot(mine.log_up, theirs.log_down))
    return low, high, np.fmin(least, ratio), np.fmax(most, ratio)


def _to_overall(ends: tuple[Floats, Floats, Floats, Floats], share: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """From group against rest to group against everyone: d(1−π), and 1 / (π + (1−π)/R)."""
    low, high, least, most = ends
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [1 / (share + (1 - share) / ratio) for ratio in (least, most)]
    return (1 - share) * low, (1 - share) * high, ratios[0], ratios[1]
