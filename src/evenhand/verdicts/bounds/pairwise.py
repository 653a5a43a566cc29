"""Bounds by the classical intervals of two proportions: Wilson, Clopper-Pearson, Newcombe, Agresti-Caffo, Katz.

Each holds for one pair of groups that was chosen beforehand. Between extremes the pair is chosen by the data, so they
are too narrow there; the finding says so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats
from evenhand.inference import intervals
from evenhand.inference.spread import Proportions
from evenhand.verdicts.bounds import simultaneous
from evenhand.verdicts.bounds.simultaneous import Bounds, Interval, Judged
from evenhand.verdicts.comparison import Gap, Plan, gap
from evenhand.verdicts.policy import Request
from evenhand.verdicts.table import Table

Function = Callable[..., tuple[Floats, Floats]]

# For a group's own rate, for a difference, for a ratio.
_WILSON = (intervals.wilson, intervals.newcombe, intervals.katz)
_FAMILIES: dict[str, tuple[Function, Function, Function]] = {
    "wilson": _WILSON,
    "newcombe": _WILSON,
    "katz": _WILSON,
    "clopper-pearson": (intervals.clopper_pearson, intervals.newcombe, intervals.katz),
    "jeffreys": (intervals.jeffreys, intervals.newcombe, intervals.katz),
    "agresti-coull": (intervals.agresti_coull, intervals.agresti_caffo, intervals.katz),
    "agresti-caffo": (intervals.agresti_coull, intervals.agresti_caffo, intervals.katz),
}


def applies(table: Table, plan: Plan) -> bool:
    """Only plain proportions, and not against everyone, who include the group itself."""
    plain = all(isinstance(part, Proportions) and part.form.plain for part in table.spreads)
    return plain and plan.against != "overall"


def find(asked: Request, plan: Plan, table: Table, chosen: Gap, judged: Judged) -> Bounds:
    """The bounds by the family that the policy names."""
    own, difference, ratio = _FAMILIES[asked.policy.interval]
    confidence = asked.confidence
    parts = [part for part in table.spreads if isinstance(part, Proportions)]
    limits = [own(part.k, part.n, confidence) for part in parts]
    if table.base is None:
        return _between(asked, table, chosen, judged, limits, (difference, ratio))
    bases = [part for part in table.base_spreads if isinstance(part, Proportions)]
    sides = [
        (*difference(a.k, a.n, b.k, b.n, confidence), *ratio(a.k, a.n, b.k, b.n, confidence))
        for a, b in zip(parts, bases, strict=True)
    ]
    compared = judged.everyone & ~np.isnan(table.base)
    near = tuple(np.where(compared, np.stack([side[i] for side in sides]), np.nan) for i in range(4))
    large = judged.large & compared
    return simultaneous.settle(asked, plan, chosen, limits, near, near, compared, large)  # type: ignore[arg-type]


def _between(
    asked: Request,
    table: Table,
    chosen: Gap,
    judged: Judged,
    limits: list[tuple[Floats, Floats]],
    functions: tuple[Function, Function],
) -> Bounds:
    def ends(usable: npt.NDArray[np.bool_]) -> list[tuple[Interval, Interval]]:
        found = []
        for i, part in enumerate(table.spreads):
            one = gap(table.values[i : i + 1], None, usable[i : i + 1])
            if one.high is None or one.low is None or not isinstance(part, Proportions):
                continue
            top, low = (part.k[one.high], part.n[one.high]), (part.k[one.low], part.n[one.low])
            sides = functions[0](*top, *low, asked.confidence), functions[1](*low, *top, asked.confidence)
            found.append(((float(sides[0][0]), float(sides[0][1])), (float(sides[1][0]), float(sides[1][1]))))
        return found

    everyone, large = ends(judged.everyone), ends(judged.large)
    if not everyone:
        return Bounds(limits)
    difference, ratio = _combined(everyone, asked.aggregate)
    outside = simultaneous.beyond(*difference, asked)
    inside: npt.NDArray[np.bool_] | bool = False
    if large and len(large) == len(everyone):
        for_pass = _combined(large, asked.aggregate)
        inside = simultaneous.within(*for_pass[0], asked)
        if asked.judged_on == "ratio":
            inside = simultaneous.ratio_within(*for_pass[1], asked, False)
    if asked.judged_on == "ratio":
        outside = simultaneous.ratio_beyond(*ratio, asked, False)
    by_measure = tuple(everyone) if len(everyone) > 1 and chosen.measure is not None else ()
    return Bounds(limits, difference, ratio, by_measure, None, bool(outside), bool(inside))


def _combined(parts: list[tuple[Interval, Interval]], aggregate: str) -> tuple[Interval, Interval]:
    table = np.array(parts)
    if aggregate == "worst":
        difference, ratio = table[:, 0].max(axis=0), table[:, 1].min(axis=0)
    else:
        difference, ratio = table[:, 0].mean(axis=0), table[:, 1].mean(axis=0)
    return (float(difference[0]), float(difference[1])), (float(ratio[0]), float(ratio[1]))
