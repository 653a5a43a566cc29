"""Evidence that accumulates: bets against "the gap is at most the threshold". Arrays only.

A claim says of two groups that share · p₁ − shift ≤ p₂: with a tolerated difference ε it is p₁ − ε ≤ p₂, with a
tolerated ratio τ it is τ · p₁ ≤ p₂. Somebody who doubts it bets, period after period, before the outcomes are known.
With n₁ and n₂ people, a stake Λ and a centre c, the money is multiplied by

    Π (1 + Λ/n₁ · (share · yᵢ − shift − c))  over the people of the first group, and
    Π (1 − Λ/n₂ · (yⱼ − c))                  over those of the second.

As 1 + t ≤ exp(t), the mean of that is at most exp(Λ (share · p₁ − shift − p₂)), so at most 1 while the claim holds: for
any stake and centre chosen from the past, for people who are independent given the past but not alike, and for groups
of any sizes. So the money stays below 1/α at all times with probability 1 − α (Ville's inequality), and may be looked
at whenever one likes. The stakes are Kelly's, for what earlier periods lead one to expect.

The idea of betting on pairs of people is that of Chugg, Cortes-Gomez, Wilder and Ramdas, "Auditing fairness by betting"
(NeurIPS 2023); the product over groups of any sizes spares the choice of pairs and uses everybody.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices, Ints

_MEMORIES = (1.0, 0.8, 0.5)
"""How much of the past is kept from one period to the next: all, the last few, mostly the last. A third of the money
follows each, so that a gap which opens late is not hidden by a long even past."""
_LARGEST_LOSS = 0.5  # of the money of one group's bets that a single person can lose
_CENTRES = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
_SIZES = np.array([1.5, 3.0, 6.0])
"""Without a past half the money is spread, over centres and over gaps of this many standard errors; half is kept."""


def wagers(k: Ints, n: Ints, first: Indices, second: Indices, share: float, shift: float) -> Iterator[Floats]:
    """The logarithm of the money of each pair after each period; each pair begins with 1.

    `k` of `n` are counted in each period and group, [periods, groups]; pairs are places of groups. Nothing is bet in a
    period in which one of the two groups is absent.

    >>> k, n = np.array([[50, 30], [60, 30]]), np.array([[100, 100], [100, 100]])
    >>> money = list(wagers(k, n, np.array([0, 1]), np.array([1, 0]), 1.0, 0.1))
    >>> [np.exp(part).round(1).tolist() for part in money]
    [[0.7, 0.5], [4.6, 0.5]]
    """
    past_k = np.zeros((len(_MEMORIES), k.shape[1]))
    past_n = np.zeros((len(_MEMORIES), k.shape[1]))
    money = np.zeros((len(_MEMORIES), len(first)))
    keep = np.array(_MEMORIES)[:, None]
    for now_k, now_n in zip(k.astype(np.float64), n.astype(np.float64), strict=True):
        there = np.flatnonzero((now_n[first] > 0) & (now_n[second] > 0))
        one, two = first[there], second[there]
        counts = now_k[one], now_n[one], now_k[two], now_n[two]
        for i in range(len(_MEMORIES)):
            known = (past_n[i, one] > 0) & (past_n[i, two] > 0)
            seen = tuple(part[i, places] for places in (one, two) for part in (past_k, past_n))
            gained = np.empty(len(there))
            gained[known] = _informed(_some(counts, known), _some(seen, known), share, shift)
            gained[~known] = _spread(_some(counts, ~known), share, shift)
            money[i, there] += gained
        past_k, past_n = past_k * keep + now_k, past_n * keep + now_n
        yield np.logaddexp.reduce(money, axis=0) - np.log(len(_MEMORIES))


class Pool:
    """The mean money of many pairs, which is itself money: no correction for their number is needed beyond that.

    A pair that appears later begins with what the others have on average, as if all money were shared out
    again before the next bet. That does not change the mean, and earlier values stay as they were.
    """

    def __init__(self, pairs: int) -> None:
        self.log_mean = 0.0
        self._start = np.full(pairs, -np.inf)

    def after(self, money: Floats, known: Bools) -> float:
        """The logarithm of the mean after a period, in which so much was won by the pairs that are known by then."""
        self._start[known & np.isneginf(self._start)] = self.log_mean
        held = self.held(money)
        inside = ~np.isneginf(self._start)
        if inside.any():
            self.log_mean = float(np.logaddexp.reduce(held[inside]) - np.log(inside.sum()))
        return self.log_mean

    def held(self, money: Floats) -> Floats:
        """The logarithm of what each pair holds; −∞ for one that has not appeared."""
        return self._start + money


def _informed(counts: tuple[Floats, ...], seen: tuple[Floats, ...], share: float, shift: float) -> Floats:
    """What is won with the stake that suits the rates of the past, taken with caution: a gap within noise is none."""
    _, n1, _, n2 = counts
    past_k1, past_n1, past_k2, past_n2 = seen
    p1, p2 = (past_k1 + 0.5) / (past_n1 + 1), (past_k2 + 0.5) / (past_n2 + 1)
    m1, m2 = share * p1 - shift, p2
    centre = np.clip((m1 * n2 + m2 * n1) / (n1 + n2), 0.0, 1.0)
    v1, v2 = share**2 * p1 * (1 - p1) + (m1 - centre) ** 2, p2 * (1 - p2) + (m2 - centre) ** 2
    gap = m1 - m2
    with np.errstate(divide="ignore", invalid="ignore"):
        careful = np.where(gap > 0, np.maximum(gap - (v1 / past_n1 + v2 / past_n2) / gap, 0.0), 0.0)
    return _won(counts, careful / (v1 / n1 + v2 / n2), centre, share, shift)


def _spread(counts: tuple[Floats, ...], share: float, shift: float) -> Floats:
    """What is won when nothing is known: half is kept, half is shared among centres and sizes of a gap."""
    _, n1, _, n2 = counts
    parts = []
    for centre in _CENTRES:
        error = np.sqrt(centre * (1 - centre) * (1 / n1 + 1 / n2))
        parts += [_won(counts, size / error, np.full(len(n1), centre), share, shift) for size in _SIZES]
    shared = np.logaddexp.reduce(np.stack(parts), axis=0) - np.log(len(parts))
    return np.asarray(np.logaddexp(0.0, shared) - np.log(2))


def _won(counts: tuple[Floats, ...], stake: Floats, centre: Floats, share: float, shift: float) -> Floats:
    """The logarithm of what the money is multiplied by."""
    k1, n1, k2, n2 = counts
    with np.errstate(divide="ignore"):
        most = _LARGEST_LOSS * np.minimum(n1 / (shift + centre), n2 / (1 - centre))
    stake = np.minimum(stake, most)
    one, two = stake / n1, stake / n2
    return np.asarray(
        k1 * np.log1p(one * (share - shift - centre))
        + (n1 - k1) * np.log1p(-one * (shift + centre))
        + k2 * np.log1p(-two * (1 - centre))
        + (n2 - k2) * np.log1p(two * centre)
    )


def _some(parts: tuple[Floats, ...], chosen: Bools) -> tuple[Floats, ...]:
    return tuple(part[chosen] for part in parts)
