"""Finders of the value of one group: the largest loss, and the least or the most that any group has of a measure."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core import wording
from evenhand.core.results import Estimate, Row, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.inference import simultaneous
from evenhand.measures.base import Measure, evaluate, undefined_reason
from evenhand.measures.group_data import GroupData
from evenhand.measures.indices import GroupExtreme, LargestLoss
from evenhand.verdicts import sentences
from evenhand.verdicts.index_finding import ValueResult, deciding_row
from evenhand.verdicts.request import Request
from evenhand.verdicts.verdict import verdict


def largest_loss(request: Request, cube: Cube, index: LargestLoss) -> ValueResult:
    """The mean loss of the group that fares worst."""
    loss = request.options["loss"]
    if loss not in index.losses:
        raise CallError(f"loss={loss!r} must be {' or '.join(map(repr, index.losses))}.")
    return _extreme(request, cube, index.losses[loss], least=False)


def group_extreme(request: Request, cube: Cube, index: GroupExtreme) -> ValueResult:
    """The value of the group that has the least, or the most, of a measure."""
    return _extreme(request, cube, index.measure, least=index.which == "min")


def _extreme(request: Request, cube: Cube, row: Measure, *, least: bool) -> ValueResult:
    """The least or the largest value of any group that has a name; limits of all groups hold together.

    A fail rests on the near ends, towards the other groups, which share its error probability with other findings.
    """
    whole, names = cube.marginal(control=False).named(), cube.meaning.sensitive
    data, groups = GroupData.of(whole), [group for _, group in whole.pairs]
    spread, values, support = evaluate(row, data)
    low, high = (np.full(len(groups), np.nan),) * 2
    if spread is not None:
        levels = (request.confidence, request.near_confidence)
        low, high = (simultaneous.own(spread, level)[i] for i, level in enumerate(levels if least else levels[::-1]))
    rows = [
        Row(
            row.name,
            group,
            n=int(support[i]),
            estimate=Estimate.of(values[i], low[i], high[i]),
            reason=undefined_reason(row, data, i, spell(group, names), int(support[i]))
            if math.isnan(values[i])
            else None,
        )
        for i, group in enumerate(groups)
    ]
    if not np.isfinite(values).any():
        reasons = "; ".join(dict.fromkeys(each.reason for each in rows if each.reason)) or "no group has a value"
        sentence = f"{request.metric.title} is undefined: {reasons}."
        return ValueResult(Estimate(math.nan), sentence, Row(request.metric.name, ()), rows, unit=row.unit)
    pick, worst, best = (np.fmin, np.nanargmin, np.nanargmax) if least else (np.fmax, np.nanargmax, np.nanargmin)
    value = Estimate.of(*(float(pick.reduce(part)) for part in (values, low, high)))
    evidence = deciding_row(rows, value, request.threshold, floor=least)
    own, who = evidence.estimate or value, spell(evidence.group, names)
    sentence = (
        f"The {row.title} is {wording.amount(own.value, row.unit)} for {who} (n = {evidence.n:,})"
        f"{sentences.value_ending(request, own, row.unit)}."
    )
    other, far = spell(groups[int(best(values))], names), wording.amount(float(values[int(best(values))]), row.unit)
    notes = [f"It is {'largest' if least else 'smallest'} for {other}: {far}."]
    if groups[int(worst(values))] != evidence.group:
        size, whose = wording.amount(value.value, row.unit), spell(groups[int(worst(values))], names)
        decided = verdict(value, request.threshold, "floor" if least else "value")
        word = "smallest" if least else "largest"
        notes.append(sentences.larger_estimate(size, f"for {whose}", decided, word=word))
    undefined = [each.reason for each in rows if each.reason is not None]
    if undefined:
        notes.append(f"Undefined, so not compared: {'; '.join(dict.fromkeys(undefined))}.")
    summary = Row(request.metric.name, groups[int(worst(values))], against=spell(groups[int(best(values))]))
    return ValueResult(value, sentence, summary, rows, notes, unit=row.unit, evidence=evidence)
