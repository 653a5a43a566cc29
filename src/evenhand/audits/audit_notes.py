"""Notes of an audit: how its data was counted, and what decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.core.wording import capital, number_of
from evenhand.cube.cube import Cube
from evenhand.inference import multiplicity
from evenhand.verdicts.notes.bands import cut_notes, text_notes
from evenhand.verdicts.selective_labels import lacking_labels

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.verdicts.policy import Policy


def data_notes(cube: Cube) -> list[str]:
    """Notes on how the data was counted."""
    notes = list(cube.notes)
    if cube.facts.get("regression_chosen"):
        notes.append(
            "Label and prediction both hold fractions, so they are taken as numbers: task='regression'. "
            "If they are probabilities, pass the prediction as score= and a label of classes."
        )
    notes += [*cut_notes(cube), *text_notes(cube)]
    if cube.has_labels and (unlabelled := int(cube.n[:, -1, :].sum())):
        lack = "has no label: it counts" if unlabelled == 1 else "have no label: they count"
        notes.append(f"{number_of(unlabelled)} {lack} in selection rates and in nothing that needs one.")
    if lost := cube.facts.get("dropped"):
        notes.append(f"{number_of(lost)} without a group {'was' if lost == 1 else 'were'} left out (missing='drop').")
    if differs := cube.facts.get("cutoff_disagrees"):
        notes.append(f"In {number_of(differs)} the prediction and the cutoff disagree; the prediction counts.")
    if absent := cube.facts.get("score_missing"):
        notes.append(f"{number_of(absent)} {'has' if absent == 1 else 'have'} no score.")
    if cube.clustered:
        notes.append(_on_clusters(cube))
    if cube.w is not None:
        notes.append("Rates are weighted; counts are of people.")
    return notes


def _on_clusters(cube: Cube) -> str:
    """That rows belong together, and what that means for how sure the findings are."""
    name = cube.meaning.cluster
    if cube.clusters is None:
        return f"Rows with the same {name} belong together; sums over them were not kept, and nothing new has limits."
    drawn = f", drawn within {len(cube.clusters.strata):,} strata of {cube.meaning.design_strata}"
    within = drawn if cube.meaning.design_strata is not None else ""
    return (
        f"Rows with the same {name} belong together: {cube.size:,} rows in {cube.clusters.number:,} clusters{within}. "
        "Intervals and tests go by clusters."
    )


_ON = {
    "single": "on single attributes",
    "intersections": "on intersections of attributes",
    "all": "on every attribute and intersection",
}


def _sharing(audited: Audit, limits: Sequence[float | None]) -> str:
    """How many findings decide, where there are several."""
    many = sum(limit is not None for limit in limits)
    if many < 2:
        return ""
    if audited.policy.familywise == "finding":
        return f": {many} findings decide, each with its own error probability"
    return f": {many} findings decide, and share the error probability of a fail"


def _on_outcomes(audited: Audit) -> list[str]:
    """What outcomes tell that are known on one side of the decision only: the robust outcome test, and bounds."""
    notes = []
    for finding in audited.findings:
        if not audited.policy.decides_on(finding.attributes):
            continue
        place = f"{capital(finding.title)} on {' × '.join(finding.attributes)}"
        if finding.metric == "robust_outcome_test":
            notes.append(f"{place}: {finding.interpretation}")
        if finding.metric == "equalized_odds" and not audited.decides(finding) and finding.sensitivity is not None:
            notes += [f"{place}: w{said[1:].split('. ')[0].rstrip('.')}." for said in finding.sensitivity.sentences[:1]]
    return notes


def correction_notes(audited: Audit) -> list[str]:
    """Over how many different tests the p-values are corrected."""
    tested = [finding.counts for finding in audited.findings if finding.p_value is not None]
    tests = len({*multiplicity.distinct(tested).tolist()})
    if tests < 2 or audited.policy.correction is None:
        return []
    return [f"P-values are corrected ({audited.policy.correction}) over {tests:,} different tests."]


def nothing_judged(policy: Policy) -> str:
    """Why no metric decides: the policy requires none, or nothing that is required can be judged on this table."""
    if policy.required == ():
        return "No metric is required, so nothing is judged."
    return "Nothing that is required can be judged on this table."


def judging_notes(audited: Audit, chosen: bool) -> list[str]:
    """Notes on what decides and on the policy; `chosen` is False where the metrics that decide are the default."""
    policy, judged = audited.policy, ", ".join(audited.required)
    on = _ON[policy.on]
    limits = [finding.threshold for finding in audited.findings if audited.decides(finding)]
    if not audited.required:
        notes = [nothing_judged(policy)]
    elif all(limit is None for limit in limits):
        notes = [f"Shown and not judged {on}: {judged}."]
    else:
        notes = [f"Judged by {judged} {on}{_sharing(audited, limits)}."]
    lacking = lacking_labels(audited.cube, policy)
    if lacking is not None:
        notes.insert(0, lacking.missing if chosen else lacking.why)
        notes[1:1] = _on_outcomes(audited)
    if not chosen:
        notes.append(
            "The criteria exclude each other, so not all can be met: choose the one that fits the decision, as "
            "evenhand guide helps to."
        )
    if policy.inconclusive != "inconclusive":
        notes.append(
            f"A finding that decides and is inconclusive counts as a {policy.inconclusive}, as the policy says."
        )
    return [*notes, *policy.notes]
