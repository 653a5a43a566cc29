"""What a finding says of labels that are missing: how often, and what they were taken for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.core.results import Estimate
from evenhand.core.wording import reach
from evenhand.measures.group_data import MISSING_AT_RANDOM, UNLABELLED, BinnedScores, GroupData
from evenhand.verdicts.bounds.worst_case import selective, unlabelled_shares
from evenhand.verdicts.stratum import Stratum


def missing_label_notes(strata: Sequence[Stratum]) -> list[str]:
    """Where labels are missing that the measures need: in which group, after which decision, and what follows."""
    affected = [stratum for stratum in strata if _matters(stratum)]
    if not affected:
        return _by_score(strata)
    chosen = [stratum for stratum in affected if selective(stratum.question).any()]
    if not chosen:
        lost = sum(float(_mass(stratum)[:, -1, :-1].sum()) for stratum in affected)
        share = lost / sum(float(_mass(stratum)[:, :, :-1].sum()) for stratum in affected)
        return [f"{share:.1%} of the labels are missing, about as often for each decision: taken as missing at random."]
    worst = next((stratum for stratum in chosen if stratum.bounds.without_labels is not None), chosen[0])
    return [f"Labels are missing for {_where(worst)}. {_meaning(worst)}"]


def _by_score(strata: Sequence[Stratum]) -> list[str]:
    """Where labels are missing that a measure of scores needs: whether that goes with the score, in any group."""
    found = [halves for stratum in strata if _scores_lack_labels(stratum) for halves in _unlabelled_halves(stratum)]
    if not found:
        return []
    name, low, high = max(found, key=lambda halves: abs(halves[2] - halves[1]))
    if abs(high - low) <= MISSING_AT_RANDOM:
        return ["Labels are missing about as often at low scores as at high: taken as missing at random."]
    return [
        f"Labels are missing for {low:.1%} of the lower half of the scores and {high:.1%} of the upper half in {name}. "
        "What needs a label is that of the labelled; for scores there are no bounds of what the missing could hide."
    ]


def _scores_lack_labels(stratum: Stratum) -> bool:
    cube, needs = stratum.table.cube, stratum.request.metric.needs
    told = cube.meaning.task == "binary" and cube.scores is not None and cube.has_labels
    return told and "label" in needs and "score" in needs and bool(cube.n[:, -1].any())


def _unlabelled_halves(stratum: Stratum) -> list[tuple[str, float, float]]:
    """Of each group that is large enough for a pass: its name, and the unlabelled shares of its two halves by score."""
    scores, table = GroupData.of(stratum.table.cube).scores, stratum.table
    if not isinstance(scores, BinnedScores):
        return []
    found = []
    for group in np.flatnonzero(stratum.judged.large.any(axis=0)).tolist():
        lost, everyone = scores.mass[group, UNLABELLED], scores.mass[group].sum(axis=0)
        upper = np.cumsum(everyone) > everyone.sum() / 2
        people = [everyone[half].sum() for half in (~upper, upper)]
        if min(people) > 0:
            shares = [float(lost[half].sum() / n) for half, n in zip((~upper, upper), people, strict=True)]
            found.append((table.name(group), shares[0], shares[1]))
    return found


def _matters(stratum: Stratum) -> bool:
    """Are labels missing in a group that is compared, and does a measure of it depend on them?"""
    cube = stratum.table.cube
    if not cube.has_labels or not cube.has_predictions or not cube.n[:, -1, :-1].any():
        return False
    from evenhand.measures.missing import bounded

    data, usable = GroupData.of(cube), _compared(stratum)
    every = [found for row in stratum.table.measures if (found := bounded(row, data)) is not None]
    return any(bool((found.low.values != found.high.values)[usable].any()) for found in every)


def _mass(stratum: Stratum) -> Floats:
    cube = stratum.table.cube
    return np.asarray((cube.n if cube.w is None else cube.w)[_compared(stratum)], dtype=np.float64)


def _compared(stratum: Stratum) -> Bools:
    """The groups that have a value in a measure that is judged."""
    return np.asarray((stratum.judged.everyone & ~np.isnan(stratum.table.values)).any(axis=0))


def _where(stratum: Stratum) -> str:
    """The group in which the shares differ most, with both shares."""
    cube = stratum.table.cube
    shares = np.where(selective(stratum.question)[:, None], unlabelled_shares(cube), np.nan)
    apart = np.fmax.reduce(shares, axis=1) - np.fmin.reduce(shares, axis=1)
    group = int(np.nanargmax(apart))
    said = [f"those decided {name!r}" for name in cube.classes] or ["the refused", "the selected"]
    most, least = int(np.nanargmax(shares[group])), int(np.nanargmin(shares[group]))
    name = stratum.table.name(group)
    return f"{shares[group, most]:.1%} of {said[most]} and {shares[group, least]:.1%} of {said[least]} in {name}"


def _meaning(stratum: Stratum) -> str:
    request, without = stratum.request, stratum.bounds.without_labels
    if without is None:
        who = "The policy takes them" if request.policy.missing_labels == "ignore" else "They are taken"
        return f"{who} as missing at random."
    said = reach(_ends(without), request.policy.confidence, request.judged_on, stratum.unit).strip(" ()")
    would = "; the finding would pass" if stratum.lacks_labels else ""
    return f"The interval holds whatever they are. Were they missing at random: {said}{would}."


def _ends(value: Estimate) -> tuple[float, float]:
    return (np.nan if value.low is None else value.low, np.nan if value.high is None else value.high)
