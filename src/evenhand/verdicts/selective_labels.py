"""Labels that are known on one side of a decision only: which metrics can decide then, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evenhand.catalogue import METRICS, Metric, find
from evenhand.core.results import spell, spell_stratum
from evenhand.core.wording import capital
from evenhand.cube.cube import Cube
from evenhand.errors import join_names
from evenhand.measures.group_data import SIDES, GroupData, Side

if TYPE_CHECKING:
    from evenhand.verdicts.policy import Policy

Alike = Literal["everybody", "nobody"]
"""Who was selected, where that is all of the people or none."""

_INSTEAD: dict[tuple[Side, ...], tuple[str, ...]] = {
    ("refused",): ("predictive_parity", "demographic_parity"),
    ("selected",): ("negative_predictive_parity", "demographic_parity"),
    # Undefined somewhere, whichever is asked: labels that are lost open no gate.
    ("refused", "selected"): ("predictive_parity", "demographic_parity"),
}


class SelectiveLabels(NamedTuple):
    """The sides of the decision on which groups have no label, and the groups, where too few others are left."""

    sides: tuple[Side, ...]
    groups: tuple[str, ...]

    @property
    def required(self) -> tuple[str, ...]:
        """What decides instead of equalized odds: what rests on labels that are known, and who is selected."""
        return _INSTEAD[self.sides]

    @property
    def missing(self) -> str:
        """Who has no label, as a sentence."""
        were = " and nobody who was ".join(self.sides)
        return f"Nobody who was {were} has a label in {join_names(self.groups, 6)}."

    @property
    def why(self) -> str:
        """Why equalized odds does not decide, in words."""
        instead = " and ".join(METRICS[name].title for name in self.required)
        return (
            f"{self.missing} Among people whose labels nobody knows, error rates are not known either, so that "
            f"equalized odds cannot be judged: {instead} decide instead."
        )


def lacking_labels(cube: Cube, policy: Policy) -> SelectiveLabels | None:
    """The groups of which a whole side of the decision has no label, where that leaves a policy too little to judge."""
    sets = [each for each in cube.attribute_sets(policy.intersections).sets if policy.decides_on(each)]
    return selective_labels(cube, sets, policy.min_group_size)


def selective_labels(cube: Cube, sets: Sequence[Sequence[str]], least: int) -> SelectiveLabels | None:
    """Whether on one of these sets of attributes labels are missing for a whole side of the decision, and of whom.

    That is so where it holds for two groups of at least `least` people, or leaves fewer than two groups; also where it
    does so in one stratum, for groups that have so many people there.
    """
    if not (cube.has_labels and cube.has_predictions) or cube.meaning.task == "regression":
        return None
    if not cube.n[:, -1].any():  # everybody has a label
        return None
    sides, groups = np.zeros(len(SIDES), dtype=np.bool_), list[str]()
    for attributes in sets:
        part = cube.marginal(attributes, control=False).named()
        if not part.pairs:
            continue
        silent = GroupData.of(part).silent
        lacking = np.asarray(silent.any(axis=1))
        large = part.n.sum(axis=(1, 2)) >= least
        if (lacking & large).sum() >= 2 or (lacking.any() and (~lacking).sum() < 2):
            sides = sides | silent.any(axis=0)
            pairs = zip(part.pairs, lacking, strict=True)
            groups += [spell(group, attributes) for (_, group), missing in pairs if missing]
            continue
        counted = cube.marginal(attributes).named()
        for name in counted.strata if cube.meaning.control else ():
            stratum = counted.stratum(name)
            large = stratum.n.sum(axis=(1, 2)) >= least
            silent = GroupData.of(stratum).silent & large[:, None]
            lacking = np.asarray(silent.any(axis=1))
            if lacking.sum() >= 2 or (lacking.any() and large.sum() == 2):
                sides = sides | silent.any(axis=0)
                pairs = zip(stratum.pairs, lacking, strict=True)
                where = spell_stratum(name, cube.meaning.control)
                groups += [f"{spell(group, attributes)} ({where})" for (_, group), missing in pairs if missing]
    if not groups:
        return None
    return SelectiveLabels(
        tuple(side for side, lacks in zip(SIDES, sides.tolist(), strict=True) if lacks), tuple(groups)
    )


def judgeable(
    names: Sequence[str], metrics: Sequence[str | Metric], cube: Cube, judged_on: Mapping[str, str]
) -> tuple[tuple[str, ...], list[str]]:
    """The required metrics that say something about this table, and a note on the others.

    Where everybody was selected, all true and false positive rates are 1 and all selection rates equal, whatever was
    done to whom, and where nobody was, they are 0: nothing is judged by them. Their ratio is then 0/0, undefined, which
    is inconclusive by itself. `metrics` are those that are computed, among them metrics of your own; `judged_on` is
    that of the policy.
    """
    entries = {entry.name: entry for entry in (find(metric)[0] for metric in metrics)}
    alike = selected_alike(cube)
    kinds = {name: judged_on.get(name, entry.judged_on) for name, entry in entries.items()}
    settled = [name for name in names if name in entries and is_settled(entries[name], kinds[name], cube)]
    if alike is None or not settled:
        return tuple(names), []
    same = f"nothing is judged by {join_names(settled, 6)}, which would be the same for any groups"
    said = {
        "everybody": f"Everybody in this table was selected. It does not show who was refused, so that {same}. Add the "
        "people who were refused.",
        "nobody": f"Nobody in this table was selected, so that {same}. Look at the decision or the cutoff.",
    }
    return tuple(name for name in names if name not in settled), [said[alike]]


def is_settled(entry: Metric, judged_on: str, cube: Cube) -> bool:
    """Is what the metric compares the same for all groups, because all or none of the people were selected?"""
    return selected_alike(cube) in settled_by(entry, judged_on)


def settled_note(alike: Alike) -> str:
    """Why a gap is not judged that is the same for any groups."""
    return f"{capital(alike)} in this table was selected, so that any groups show no gap: it is not judged."


def settled_by(entry: Metric, judged_on: str) -> tuple[Alike, ...]:
    """Who must have been selected for what the metric compares to be the same for any groups.

    The ratio of rates that are all 0 because nobody was selected is undefined instead.
    """
    sides: tuple[tuple[Alike, Side], ...] = (("everybody", "selected"), ("nobody", "refused"))
    found = []
    for alike, side in sides:
        values = [row.settled(side) for row in entry.rows]
        undefined = alike == "nobody" and judged_on == "ratio" and 0 in values
        if values and None not in values and not undefined:
            found.append(alike)
    return tuple(found)


def selected_alike(cube: Cube) -> Alike | None:
    """Was everybody, or nobody, selected who has a group and a decision that counts? None where some were."""
    refused, selected = _decided(cube)
    if (refused > 0) == (selected > 0):
        return None
    return "everybody" if selected else "nobody"


def _decided(cube: Cube) -> tuple[float, float]:
    """How many were refused and how many selected, by weight; nobody where decisions are not yes or no."""
    if not cube.has_predictions or cube.meaning.task != "binary":
        return 0.0, 0.0
    refused, selected = cube.named().cells[:, :6].reshape(-1, 3, 2).sum(axis=(0, 1))
    return float(refused), float(selected)
