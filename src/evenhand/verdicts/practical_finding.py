"""The finding of practical disparity: a shortfall that counts only where the ratio of the rates is low as well."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.core.results import UNDEFINED, Estimate, Row, spell
from evenhand.core.wording import quotient
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.inference import simultaneous
from evenhand.inference.spread import Spread
from evenhand.measures.base import evaluate, undefined_reason
from evenhand.measures.cells import MEASURES
from evenhand.measures.group_data import GroupData
from evenhand.measures.indices import PracticalIndex
from evenhand.verdicts import comparison, sentences
from evenhand.verdicts.comparison import Convention
from evenhand.verdicts.index_finding import ValueResult, deciding_row
from evenhand.verdicts.request import Request


def practical(request: Request, cube: Cube, index: PracticalIndex) -> ValueResult:  # noqa: ARG001 - it has no settings
    """How much less often than the reference each group is selected, where its ratio is below the bound; else 0."""
    bound = float(request.options["ratio"])
    if not 0 < bound <= 1:
        raise CallError(f"ratio={bound!r} must be above 0 and at most 1, such as 0.8.")
    whole, names, metric = cube.marginal(control=False).named(), cube.meaning.sensitive, request.metric.name
    data, groups, row = GroupData.of(whole), [group for _, group in whole.pairs], MEASURES["selection_rate"]
    sizes = dict(zip(groups, whole.cells.sum(axis=1).tolist(), strict=True))
    plan = comparison.plan(request.reference, names, groups, sizes, Convention())
    spread, rates, support = evaluate(row, data)
    defined = np.isfinite(rates)
    unknown = plan.reference in groups and not defined[groups.index(plan.reference)]
    if spread is None or defined.sum() < 2 or unknown or not np.nanmax(rates) > 0:
        why = "nobody was selected in any group" if defined.sum() > 1 else "fewer than two groups have decisions"
        why = "the reference has no decisions that count" if unknown else why
        rows = [Row(metric, group, reason=why) for group in groups]
        return ValueResult(UNDEFINED, f"{request.metric.title} is undefined: {why}.", Row(metric, ()), rows)
    place = groups.index(plan.reference) if plan.reference in groups else int(np.nanargmax(rates))
    ends = _ends(request, spread, defined, place, named=plan.reference is not None)
    shortfall, ratios = rates[place] - rates, comparison.ratio(rates, rates[place])
    values = np.where(ratios < bound - 1e-9, np.maximum(shortfall, 0.0), 0.0)
    low = np.where(ends["ratio_most"] < bound, np.maximum(ends["least"], 0.0), 0.0)
    high = np.where(ends["ratio_least"] < bound - 1e-9, np.maximum(ends["most"], 0.0), 0.0)
    low, high = np.minimum(low, values), np.maximum(high, values)
    compared = defined & (np.arange(len(groups)) != place)
    rows = [
        Row(
            metric,
            group,
            against=spell(groups[place]),
            n=int(support[i]),
            n_against=int(support[place]),
            estimate=Estimate.of(values[i], low[i], high[i]) if compared[i] else UNDEFINED,
            difference=Estimate(-float(shortfall[i])) if defined[i] else None,
            ratio=Estimate(float(ratios[i])) if defined[i] else None,
            reason=None if defined[i] else undefined_reason(row, data, i, spell(group, names), int(support[i])),
        )
        for i, group in enumerate(groups)
        if i != place
    ]
    # The yardstick has a row, too: of groups that are selected equally often, none is missing for its name.
    yardstick = Row(metric, groups[place], n=int(support[place]), estimate=Estimate(0.0))
    notes = [f"A shortfall counts only where the ratio is below {bound:g}; elsewhere it is taken as 0."]
    if plan.reference is None and plan.against not in ("extremes", "highest"):
        notes.append(
            "It compares with the group that is selected most often: the reference that was named is no group."
        )
    value = Estimate.of(*(float(end[compared].max()) for end in (values, low, high)))
    judged = [each for each in rows if each.reason is None]
    evidence = deciding_row(judged, value, request.threshold)
    i = groups.index(evidence.group)
    own = evidence.estimate or value
    sentence = (
        f"The selection rate is {100 * rates[i]:.1f} % for {spell(evidence.group, names)} (n = {evidence.n:,}) and "
        f"{100 * rates[place]:.1f} % for {spell(groups[place], names)} (n = {evidence.n_against:,}): a ratio of "
        f"{quotient(float(ratios[i]))}, {'below' if ratios[i] < bound - 1e-9 else 'not below'} {bound:g}. The "
        f"shortfall that counts is {own.value:.3g}{sentences.value_ending(request, own)}."
    )
    return ValueResult(
        value,
        sentence,
        Row(metric, evidence.group, against=spell(groups[place])),
        [*rows, yardstick],
        notes,
        evidence=evidence,
    )


def _ends(request: Request, spread: Spread, defined: Bools, place: int, *, named: bool) -> dict[str, Floats]:
    """The ends of the shortfall and of the ratio of each group; near ends hold for all groups, far ends for each."""
    many, near = len(defined), request.near_confidence
    if not named:
        low, high, least, most = simultaneous.against_extreme(spread, defined, near, defined)
        return {"least": -high, "most": -low, "ratio_least": least, "ratio_most": most}
    compared = defined.copy()
    compared[place] = False
    base = spread.scaled(1.0, [place] * many)
    ends = simultaneous.against([spread], [base], compared[None, :], request.confidence, near=near)
    return {
        "least": -ends.difference_near[1][0],
        "most": -ends.difference_far[0][0],
        "ratio_least": np.where(np.isnan(ends.ratio_far[0][0]), 0.0, ends.ratio_far[0][0]),
        "ratio_most": np.where(np.isnan(ends.ratio_near[1][0]), math.inf, ends.ratio_near[1][0]),
    }
