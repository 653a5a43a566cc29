"""Tests of "no gap at all" for a finding: over all groups, within strata, and group by group against a baseline.

A p-value stands beside the interval; it does not decide the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.results import Group
from evenhand.inference import hypotheses, multiplicity, simultaneous
from evenhand.inference.clustered import Clustered, together_of
from evenhand.inference.hypotheses import Test
from evenhand.inference.spread import Average, Normal, Proportions, Relative, Spread
from evenhand.measures.cells import CELLS
from evenhand.verdicts import comparison
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request
from evenhand.verdicts.stratum import Stratum

Counts = tuple[Floats, Floats]


class _Counted(NamedTuple):
    """The counts [strata, groups] of one proportion, and of which people: of which class or bin, and in which cells."""

    counts: Counts
    name: str
    of: object
    cells: frozenset[int]

    def apart_from(self, other: _Counted) -> bool:
        """Do the two rest on different people?"""
        if self.of == other.of:
            return not self.cells & other.cells
        # Bins are apart; the people of a class are, by label or by decision, but those of the rest are in all others.
        return any(self.cells <= part and other.cells <= part for part in (_LABELLED, _SELECTED))


_LABELLED, _SELECTED = (frozenset(CELLS.index(name) for name in names) for names in (("FN", "TP"), ("FP", "TP")))


def no_gap(strata: Sequence[Stratum]) -> tuple[Test | None, Counts | None]:
    """The test of equal rates over all strata, and the counts it rests on."""
    policy = strata[0].request.policy
    tests: list[Test] = []
    counted: list[_Counted] = []
    for measure in range(len(strata[0].table.measures)):
        if not any(stratum.judged.everyone[measure].any() for stratum in strata):
            continue
        spreads = [stratum.table.spreads[measure] for stratum in strata]
        if together_of(spreads[0]) is not None:
            tests += [_over_clusters(stratum, measure) for stratum in strata]
            continue
        if len(strata) == 1 and isinstance(spreads[0], Normal | Relative):
            tests.append(simultaneous.no_gap(spreads[0], strata[0].judged.everyone[measure]))
            continue
        counted += _count(strata, spreads, measure)
    if counted:
        tests += _of_counts(counted, policy)
    if not tests:
        return None, None
    sides = zip(*(each.counts for each in counted), strict=True)
    table = tuple(np.concatenate([part.reshape(-1) for part in side]) for side in sides)
    apart = all(a.apart_from(b) for a, b in combinations(counted, 2))
    return hypotheses.combined(tests, apart=apart), (table[0], table[1]) if counted else None


def _over_clusters(stratum: Stratum, measure: int) -> Test:
    """The test of a measure of rows that belong together, which agrees with its interval.

    It is one of all pairs or, with a baseline, of each group: the smallest p-value, for as many groups as there are.
    """
    table, usable = stratum.table, stratum.judged.everyone[measure]
    spread = table.spreads[measure]
    assert spread is not None  # noqa: S101 - it is known how much it varies
    base = table.base_spreads[measure] if table.base is not None else None
    if base is None or together_of(base) is None:
        return simultaneous.no_gap(spread, usable)
    compared = usable & np.array([group != stratum.plan.reference for group in table.groups])
    p = np.where(compared, simultaneous.no_differences(spread, base), np.nan)
    if np.isnan(p).all():
        return Test("Šidák", np.nan, np.nan, note="fewer than two groups to compare")
    least, many = float(np.nanmin(p)), int(np.isfinite(p).sum())
    return Test("Šidák", least, -math.expm1(many * math.log1p(-least)) if least < 1 else 1.0)


def _count(strata: Sequence[Stratum], spreads: Sequence[Spread | None], measure: int) -> list[_Counted]:
    """The proportions that a measure is made of."""
    row, several = strata[0].table.measures[measure], isinstance(spreads[0], Average)
    found = []
    for i, chosen in enumerate(zip(*(_proportions(spread) for spread in spreads), strict=True)):
        cells = frozenset(np.flatnonzero(chosen[0].form.top + chosen[0].form.rest).tolist())
        # The mean over the classes has one part for each of them.
        of = i if several and row.made_of == "classes" else (row.of_class, row.bin)
        found.append(_Counted(_by_stratum(strata, chosen, measure), row.name, of, cells))
    return found


def _of_counts(counted: Sequence[_Counted], policy: Policy) -> list[Test]:
    """A test of each table; one of all where they are the classes of the same people."""
    (_, first), draws = counted[0].counts, max(policy.draws, 1000)
    same = all(each.name == counted[0].name and np.array_equal(each.counts[1], first) for each in counted)
    if same and len(counted) > 2 and len(first) == 1:
        classes = np.stack([each.counts[0][0] for each in counted], axis=1)
        if np.allclose(classes.sum(axis=1), first[0]):
            return [hypotheses.class_independence(classes, draws, policy.random_state)]
    return [_test(*each.counts, policy) for each in counted]


def by_group(stratum: Stratum) -> tuple[Floats, Floats] | None:
    """For each measure and group, p against its baseline, plain and adjusted; None between extremes."""
    if stratum.plan.against in comparison.EXTREMES:
        return _against_extreme(stratum)
    if stratum.table.base is None:
        return None
    table, p = stratum.table, np.full(stratum.table.values.shape, np.nan)
    for i, (mine, theirs) in enumerate(zip(table.spreads, table.base_spreads, strict=False)):
        if isinstance(mine, Clustered) and isinstance(theirs, Clustered):
            judged = stratum.judged.everyone[i] & np.array([each != stratum.plan.reference for each in table.groups])
            p[i] = np.where(judged, simultaneous.no_differences(mine, theirs), np.nan)
        if not isinstance(mine, Proportions) or not isinstance(theirs, Proportions) or isinstance(mine, Clustered):
            continue
        for j in np.flatnonzero(stratum.judged.everyone[i]).tolist():
            if table.groups[j] != stratum.plan.reference and min(mine.n[j], theirs.n[j]) > 0:
                p[i, j] = _test(np.array([[mine.k[j], theirs.k[j]]]), np.array([[mine.n[j], theirs.n[j]]]),
                                stratum.request.policy).p_value  # fmt: skip
    return p, multiplicity.adjust(p.reshape(-1), stratum.request.policy.correction).reshape(p.shape)


def _against_extreme(stratum: Stratum) -> tuple[Floats, Floats]:
    """p of each group against the highest or lowest; Fisher's exact test for a ratio, as US practice has it."""
    p = np.full(stratum.table.values.shape, np.nan)
    for i, spread in enumerate(stratum.table.spreads):
        top = stratum.yardstick(i)
        if top is None or not isinstance(spread, Proportions) or spread.n[top] <= 0:
            continue
        if isinstance(spread, Clustered):
            theirs = spread.scaled(1.0, [top] * len(spread.n))
            judged = stratum.judged.everyone[i] & (np.arange(len(spread.n)) != top)
            p[i] = np.where(judged, simultaneous.no_differences(spread, theirs), np.nan)
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
        from evenhand.inference import stratified

        return stratified.cochran_mantel_haenszel(k, n)
    return _remembered(k.tobytes(), n.tobytes(), max(policy.draws, 1000), policy.random_state)


@lru_cache(maxsize=4096)
def _remembered(k: bytes, n: bytes, draws: int, random_state: int) -> Test:
    """Many metrics of an audit ask the same question of the same table."""
    return hypotheses.independence(np.frombuffer(k), np.frombuffer(n), draws, random_state)
