"""The change of a finding from one model to another on the same people, from the counts of both their decisions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from evenhand.core.arrays import Bools
from evenhand.core.results import OF_ONE_VALUE, Finding
from evenhand.cube.joint import Joint
from evenhand.inference import critical
from evenhand.inference.paired_gap import Gaps, PairedRates, Place, change_of_gap, change_of_pair
from evenhand.measures.cells import cell_measures
from evenhand.measures.paired import can_pair, paired_rates
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.stratum import Stratum
from evenhand.verdicts.table import tabulate


def ends_of_change(
    before: Finding, after: Finding, joint: Joint, confidence: float
) -> tuple[float, float, float] | None:
    """Both ends of the change of the size of a gap, and the least correlation of a rate of a group before and after.

    None where the joint counts do not tell.

    They tell of gaps in rates of decisions, between the extremes or against one group.
    """
    counted = _counted(before, after, joint)
    if counted is None:
        return None
    old, _, gaps = counted
    if old.request.aggregate == "worst":
        return *change_of_gap(gaps, confidence), gaps.rates.least_correlation
    if not old.plan.between_extremes or not gaps.pairs.any(axis=(1, 2)).all():
        return None
    ends = [change_of_gap(gaps.only(i), confidence) for i in range(len(gaps.pairs))]
    low, high = np.mean(ends, axis=0)
    return float(low), float(high), gaps.rates.least_correlation


def ends_of_signed_change(
    before: Finding, after: Finding, joint: Joint, confidence: float
) -> tuple[float, float] | None:
    """Both ends of the gap of the group that decides after, with its sign, less that before; None as above.

    Which group decides is seen in the data, so the ends hold for all groups and measures together.
    """
    counted = _counted(before, after, joint)
    if counted is None:
        return None
    old, new, gaps = counted
    places = _place(before, old), _place(after, new)
    if places[0] is None or places[1] is None:
        return None
    compared = int(np.triu(gaps.pairs | gaps.pairs.transpose(0, 2, 1), 1).sum())
    family = compared if places[0] == places[1] else compared**2
    return change_of_pair(gaps, places[1], places[0], critical.sidak(max(family, 1), confidence))


def _counted(before: Finding, after: Finding, joint: Joint) -> tuple[Stratum, Stratum, Gaps] | None:
    """The groups of both findings as they were judged, and the gaps that joint counts tell of, if they do."""
    old, new = (_stratum(finding) for finding in (before, after))
    if old is None or new is None or old.plan != new.plan or old.request.aggregate != new.request.aggregate:
        return None
    pairs = _pairs(old)
    rates = _rates(old, new, joint.marginal(before.attributes))
    if rates is None or not np.array_equal(pairs, _pairs(new)) or not pairs.any():
        return None
    then, now = ([part for part in each.table.spreads if part is not None] for each in (old, new))
    return old, new, Gaps(rates, then, now, pairs, before.judged_on == "ratio")


def _place(finding: Finding, stratum: Stratum) -> Place | None:
    """The measure of the group that decides and of its reference; of a ratio group / reference the two are turned."""
    row, names = finding.evidence, [measure.name for measure in stratum.table.measures]
    groups = list(stratum.table.groups)
    if row is None or row.measure not in names or row.group not in groups or stratum.plan.reference not in groups:
        return None
    own, other = groups.index(row.group), groups.index(stratum.plan.reference)
    return (names.index(row.measure), *((other, own) if finding.judged_on == "ratio" else (own, other)))


def _stratum(finding: Finding) -> Stratum | None:
    """The groups of a finding as they were judged; None where they are not rates of decisions, or not the only ones."""
    basis = finding.basis
    if not isinstance(basis, Basis) or basis.plan is None or basis.cube is None or finding.judged_on in OF_ONE_VALUE:
        return None
    request, rows = basis.request, basis.request.metric.rows
    plain = request.convention is None and bool(rows) and all(map(can_pair, rows))
    if (
        not plain
        or basis.plan.against not in ("extremes", "highest", "lowest", "reference")
        or len(basis.cube.strata) > 1
    ):
        return None
    request = replace(request, policy=replace(request.policy, interval="simultaneous"))
    return Stratum(request, basis.plan, (), tabulate(rows, basis.cube, basis.plan))


def _pairs(stratum: Stratum) -> Bools:
    """Which groups are compared, [measures, higher, lower]: all pairs, or those with the reference.

    Where only groups below the reference count, the reference is also compared with itself: they may all be above it.
    """
    used = stratum.judged.everyone & np.isfinite(stratum.table.values)
    pairs = used[:, :, None] & used[:, None, :] & ~np.eye(used.shape[1], dtype=np.bool_)
    if stratum.judged.yardsticks is not None:
        pairs &= stratum.judged.yardsticks[:, :, None]
    if stratum.plan.against != "reference":
        return pairs
    known = np.array([group == stratum.plan.reference for group in stratum.table.groups])
    if stratum.one_sided:
        return np.asarray((pairs | (used[:, :, None] & np.diag(known))) & known[:, None])
    return np.asarray(pairs & (known[:, None] | known))


def _rates(old: Stratum, new: Stratum, joint: Joint) -> PairedRates | None:
    """The measures of the compared groups under both models; None where the joint counts are of others."""
    names = old.table.groups
    if list(names) != list(new.table.groups) or not set(names) <= set(joint.groups):
        return None
    joint = joint.only(names)
    for side, axis in ((old, 3), (new, 2)):
        if not np.array_equal(joint.n.sum(axis=axis), side.table.cube.n[:, :, :2]):
            return None
    return paired_rates(cell_measures(old.table.measures), joint)


def within(ends: tuple[float, float], change: float, bound: float = 1.0) -> tuple[float, float]:
    """The ends, which contain the change that was seen and lie between minus the bound and the bound.

    >>> within((-1.5, 0.1), 0.2)
    (-1.0, 0.2)
    """
    low, high = (end if math.isfinite(end) else math.copysign(bound, end) for end in ends)
    return max(min(low, change), -bound), min(max(high, change), bound)
