"""The finding of (conditional) demographic disparity: who has a larger share of the refused than of the selected?"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.results import UNDEFINED, Estimate, Row, spell
from evenhand.core.wording import number_of
from evenhand.cube.cube import Cube
from evenhand.errors import join_names
from evenhand.inference import critical
from evenhand.inference.spread import PLAIN, Proportions
from evenhand.measures.cells import CELLS
from evenhand.measures.indices import DisparityIndex
from evenhand.verdicts import sentences
from evenhand.verdicts.index_finding import ValueResult, deciding_row
from evenhand.verdicts.request import Request
from evenhand.verdicts.verdict import verdict

_SIDES = (("TN", "FN", "U0"), ("FP", "TP", "U1"))


def disparity(request: Request, cube: Cube, index: DisparityIndex) -> ValueResult:  # noqa: ARG001 - it has no settings
    """Each group's share of the refused less its share of the selected; within strata, averaged by their people."""
    part, names, metric = cube.named(), cube.meaning.sensitive, request.metric.name
    groups, strata = list(part.groups), list(part.strata)
    people, squares, counts = _by_side(part)
    decided = people.sum(axis=1)  # [strata, sides]
    usable = (decided > 0).all(axis=1)
    without = [spell(stratum) for stratum, use in zip(strata, usable, strict=True) if not use]
    notes = [_left_out(without, int(counts[~usable].sum()))] if without else []
    if not usable.any():
        why = "nobody was selected" if not decided[:, 1].any() else "nobody was refused"
        why = why if len(strata) == 1 else "in every stratum everybody got the same decision"
        rows = [Row(metric, group, reason=why) for group in groups]
        return ValueResult(UNDEFINED, f"{request.metric.title} is undefined: {why}.", Row(metric, ()), rows)
    weights = decided.sum(axis=1) * usable / decided[usable].sum()
    near, far = (_ends(people, squares, weights, usable, deviate) for deviate in _deviates(request, len(groups)))
    sizes, counted = counts[usable].sum(axis=(0, 2)), people[usable].sum(axis=(0, 2)) > 0
    values = np.where(counted, near[0], -np.inf)  # whoever has no weight is no part of a share
    rows = [
        Row(metric, group, n=int(sizes[i]), estimate=Estimate.of(values[i], near[1][i], far[2][i]))
        if counted[i]
        else Row(
            metric, group, estimate=UNDEFINED, reason=_not_counted(spell(group, names), weighted=part.w is not None)
        )
        for i, group in enumerate(groups)
    ]
    value = Estimate.of(*(float(end[counted].max()) for end in (values, near[1], far[2])))
    evidence = deciding_row([row for row in rows if row.reason is None], value, request.threshold)
    own, who = evidence.estimate or value, spell(evidence.group, names)
    within = f", within strata of {' × '.join(cube.meaning.control)}" if cube.meaning.control else ""
    sentence = (
        f"The share of {who} (n = {evidence.n:,}) among the refused less that among the selected{within} is "
        f"{own.value:.3g}{sentences.value_ending(request, own)}."
    )
    if groups[int(values.argmax())] != evidence.group:
        largest = spell(groups[int(values.argmax())], names)
        decided = verdict(value, request.threshold, "value")
        notes.append(sentences.larger_estimate(f"{value.value:.3g}", f"for {largest}", decided))
    lowest = int(np.where(counted, values, np.inf).argmin())
    summary = Row(metric, groups[int(values.argmax())], against=spell(groups[lowest]))
    return ValueResult(value, sentence, summary, rows, notes, evidence=evidence)


def _not_counted(group: str, *, weighted: bool) -> str:
    return f"nobody was decided on in {group}{' with a weight above 0' if weighted else ''}"


def _left_out(strata: list[str], people: int) -> str:
    who = number_of(people, "person", "people")
    return f"Left out, because everybody got the same decision there: {join_names(strata, 6)} ({who})."


def _by_side(cube: Cube) -> tuple[Floats, Floats, Floats]:
    """Weights, squared weights and people, [strata, groups, refused and selected]."""
    strata, groups = ({name: i for i, name in enumerate(names)} for names in (cube.strata, cube.groups))
    places = np.array([strata[name] for name, _ in cube.pairs]), np.array([groups[name] for _, name in cube.pairs])
    found = np.zeros((3, len(strata), len(groups), 2))
    cells = np.stack([cube.cells, cube.cells if cube.squares is None else cube.squares, cube.counts])
    for side, names in enumerate(_SIDES):
        found[:, *places, side] = cells[..., [CELLS.index(name) for name in names]].sum(axis=-1)
    return found[0], found[1], found[2]


def _deviates(request: Request, groups: int) -> tuple[float, float]:
    """Of near ends, which hold for all groups, and of far ends, which belong to the one group that is worst."""
    near = critical.sidak(groups, request.near_confidence)
    return near, critical.one_sided(near, request.confidence)


def _ends(
    people: Floats, squares: Floats, weights: Floats, usable: Floats, deviate: float
) -> tuple[Floats, Floats, Floats]:
    """The disparity of each group with its limits: shares of the refused and of the selected vary independently."""
    value, down, up = np.zeros(people.shape[1]), np.zeros(people.shape[1]), np.zeros(people.shape[1])
    for s in np.flatnonzero(usable).tolist():
        reach = []
        for side in range(2):
            total, worth = people[s, :, side].sum(), people[s, :, side].sum() ** 2 / squares[s, :, side].sum()
            share = Proportions(people[s, :, side] / total * worth, np.full(people.shape[1], worth), PLAIN)
            low, high = share.limits(deviate, 0.0)
            value += weights[s] * share.values * (-1 if side else 1)
            reach.append((share.values - low, high - share.values))
        (refused_down, refused_up), (selected_down, selected_up) = reach
        down += weights[s] ** 2 * (refused_down**2 + selected_up**2)
        up += weights[s] ** 2 * (refused_up**2 + selected_down**2)
    return value, np.maximum(value - np.sqrt(down), -1.0), np.minimum(value + np.sqrt(up), 1.0)
