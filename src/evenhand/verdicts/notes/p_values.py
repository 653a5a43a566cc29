"""Tests of "no gap at all" for a finding: over all groups, within strata, and group by group against a baseline.

A p-value stands beside the interval; it does not decide the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.results import Group
from evenhand.inference import hypotheses, multiplicity, simultaneous
from evenhand.inference.hypotheses import Test
from evenhand.inference.spread import Average, Normal, Proportions, Relative, Spread
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request
from evenhand.verdicts.stratum import Stratum

Counts = tuple[Floats, Floats]


def no_gap(strata: Sequence[Stratum]) -> tuple[Test | None, Counts | None]:
    """The test of equal rates over all strata, and the counts it rests on."""
    policy = strata[0].request.policy
    tests: list[Test] = []
    counts: list[Counts] = []
    for measure in range(len(strata[0].table.measures)):
        if not any(stratum.judged.everyone[measure].any() for stratum in strata):
            continue
        spreads = [stratum.table.spreads[measure] for stratum in strata]
        if len(strata) == 1 and isinstance(spreads[0], Normal | Relative):
            tests.append(simultaneous.no_gap(spreads[0], strata[0].judged.everyone[measure]))
            continue
        for chosen in zip(*(_proportions(spread) for spread in spreads), strict=True):
            k, n = _by_stratum(strata, chosen, measure)
            tests.append(_test(k, n, policy))
            counts.append((k.reshape(-1), n.reshape(-1)))
    if not tests:
        return None, None
    table = (np.concatenate([k for k, _ in counts]), np.concatenate([n for _, n in counts])) if counts else None
    return hypotheses.combined(tests) if len(tests) > 1 else tests[0], table


def by_group(stratum: Stratum) -> tuple[Floats, Floats] | None:
    """For each measure and group, p against its baseline, plain and adjusted; None between extremes."""
    if stratum.plan.against == "highest":
        return _below_highest(stratum)
    if stratum.table.base is None:
        return None
    p = np.full(stratum.table.values.shape, np.nan)
    for i, (mine, theirs) in enumerate(zip(stratum.table.spreads, stratum.table.base_spreads, strict=False)):
        if not isinstance(mine, Proportions) or not isinstance(theirs, Proportions):
            continue
        for j in np.flatnonzero(stratum.judged.everyone[i]).tolist():
            if stratum.table.groups[j] != stratum.plan.reference and min(mine.n[j], theirs.n[j]) > 0:
                p[i, j] = _test(np.array([[mine.k[j], theirs.k[j]]]), np.array([[mine.n[j], theirs.n[j]]]),
                                stratum.request.policy).p_value  # fmt: skip
    return p, multiplicity.adjust(p.reshape(-1), stratum.request.policy.correction).reshape(p.shape)


def _below_highest(stratum: Stratum) -> tuple[Floats, Floats]:
    """p of each group against the highest; Fisher's exact test for a ratio, as US employment practice has it."""
    p = np.full(stratum.table.values.shape, np.nan)
    for i, spread in enumerate(stratum.table.spreads):
        top = stratum.highest(i)
        if top is None or not isinstance(spread, Proportions) or spread.n[top] <= 0:
            continue
        for j in np.flatnonzero(stratum.judged.everyone[i] & (spread.n > 0)).tolist():
            if j != top:
                p[i, j] = _pair(spread, j, top, stratum.request).p_value
    return p, multiplicity.adjust(p.reshape(-1), stratum.request.policy.correction).reshape(p.shape)


def _pair(spread: Proportions, j: int, top: int, request: Request) -> Test:
    k, n = spread.k[[j, top]], spread.n[[j, top]]
    whole = bool(np.all(k == np.rint(k)) and np.all(n == np.rint(n)))
    if request.judged_on == "ratio" and whole:
        return hypotheses.fisher_exact(k[0], n[0], k[1], n[1])
    return _test(k[None, :], n[None, :], request.policy)


def _proportions(spread: Spread | None) -> list[Proportions]:
    if isinstance(spread, Proportions):
        return [spread]
    if isinstance(spread, Average):
        return [part for part in spread.parts if isinstance(part, Proportions)]
    return []


def _by_stratum(strata: Sequence[Stratum], spreads: Sequence[Proportions], measure: int) -> Counts:
    """Counts [strata, groups] of the groups that are judged; a group that is not in a stratum has none there."""
    groups: dict[Group, int] = {}
    for stratum in strata:
        for group, judged in zip(stratum.table.groups, stratum.judged.everyone[measure], strict=True):
            if judged:
                groups.setdefault(group, len(groups))
    k, n = np.zeros((len(strata), len(groups))), np.zeros((len(strata), len(groups)))
    for i, (stratum, spread) in enumerate(zip(strata, spreads, strict=True)):
        for j, group in enumerate(stratum.table.groups):
            if group in groups:
                k[i, groups[group]], n[i, groups[group]] = spread.k[j], spread.n[j]
    return k, n


def _test(k: Floats, n: Floats, policy: Policy) -> Test:
    if len(k) > 1:
        return hypotheses.cochran_mantel_haenszel(k, n)
    return _remembered(k.tobytes(), n.tobytes(), max(policy.draws, 1000), policy.random_state)


@lru_cache(maxsize=4096)
def _remembered(k: bytes, n: bytes, draws: int, random_state: int) -> Test:
    """Many metrics of an audit ask the same question of the same table."""
    return hypotheses.independence(np.frombuffer(k), np.frombuffer(n), draws, random_state)
