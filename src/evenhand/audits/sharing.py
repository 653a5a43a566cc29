"""An audit as it may be shared: what must not leave is left out, by name, and what stays is judged again.

Everything in a shared audit is computed from the counts that it carries, so that nothing in it tells more than they do,
and Python, the file and its page cannot disagree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.audits import audit as audits
from evenhand.audits import audit_notes
from evenhand.audits.audit import Audit
from evenhand.core.results import OF_ONE_VALUE, Finding, Group, spell
from evenhand.cube import privacy
from evenhand.cube.cube import Cube
from evenhand.cube.privacy import Sharing
from evenhand.errors import DataError, EvenhandError, join_names
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.finding import judge
from evenhand.verdicts.request import Request
from evenhand.verdicts.requirements import check_roles

_MOST_NAMES = 50


def shared(audit: Audit, least: int = privacy.LEAST) -> Audit:
    """The audit without every group that must not leave; see `evenhand.cube.privacy` for the rule."""
    if audit.sharing is not None and privacy.check_least(least) <= audit.sharing.least:
        return audit
    stays = _Selection.of(audit, privacy.check_least(least))
    if not stays.parts:
        names = join_names([repr(name) for name in audit.meaning.sensitive], _MOST_NAMES)
        raise DataError(
            f"nothing of this audit can be shared: in {names} fewer than two groups have no cell of 1 to {least - 1} "
            "people. Merge small groups (bands=), use fewer strata, or set a smaller least=."
        )
    cube = stays.parts[0] if len(stays.parts) == 1 else _everyone(stays.parts)
    held = replace(
        audit,
        cube=cube,
        parts=stays.parts if len(stays.parts) > 1 else (),
        policy=replace(audit.policy, reference=stays.reference),
        among=None,  # joint counts tell more than the counts of one model
        findings=(),
        sharing=stays.sharing,
    )
    return _judged_again(audit, held)


def _everyone(parts: Sequence[Cube]) -> Cube:
    """Everyone together, of the part that holds most people."""
    return max(parts, key=lambda part: part.size).marginal(())


# --- What stays ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Selection:
    """The counts that stay: a cube for each set of attributes that is not part of another; and what does not."""

    parts: tuple[Cube, ...]
    sharing: Sharing
    reference: Any

    @classmethod
    def of(cls, audit: Audit, least: int) -> _Selection:
        sets, reference = audit.counted_sets, audit.reference
        singles = list(dict.fromkeys(name for names in sets for name in names))
        singles = [name for name in audit.meaning.sensitive if name in singles]
        hidden = {name: _hidden(audit, name, least) for name in singles}
        alone = [name for name in singles if _too_few(audit.counts(name), hidden[name], name, reference)]
        whole = [name for name in singles if not hidden[name]]
        crossed = _crossed(audit, [names for names in sets if len(names) > 1], whole, least)
        kept = [(name,) for name in singles if name not in alone and not any(name in names for names in crossed)]
        tops = [names for names in [*crossed, *kept] if not any(set(names) < set(other) for other in crossed)]
        order = {name: i for i, name in enumerate(singles)}
        tops = sorted(tops, key=lambda names: [order[name] for name in names])
        parts = [
            privacy.without(audit.counts(names), hidden.get(names[0], ()) if len(names) == 1 else ()) for names in tops
        ]
        lost = [names for names in sets if not any(set(names) <= set(top) for top in tops)]
        before = audit.sharing or Sharing()
        sharing = Sharing(
            least,
            tuple(name for name in singles if name not in alone),
            {name: (*before.groups.get(name, ()), *hidden[name]) for name in singles if name not in alone and (
                hidden[name] or before.groups.get(name))},
            (*before.sets, *lost),
        )  # fmt: skip
        if isinstance(reference, Mapping):
            reference = {name: value for name, value in reference.items() if name not in alone} or None
        return cls(tuple(privacy.joined(parts, least)), sharing, reference)


def _hidden(audit: Audit, name: str, least: int) -> tuple[Group, ...]:
    """The groups of an attribute that must go; also those that another attribute or the strata would tell."""
    hidden = set(privacy.hidden_groups(audit.counts(name), least))
    while hidden and not audit.parts and (more := privacy.alone_in_a_part(audit.cube, name, hidden)) is not None:
        hidden.add(more)
    return tuple(group for group in audit.counts(name).groups if group in hidden)


def _too_few(cube: Cube, hidden: Sequence[Any], name: str, reference: Any) -> bool:
    """Whether an attribute must go whole: fewer than two groups are left, or not the one they are compared with."""
    left = {group for group in cube.groups if group not in hidden and None not in group}
    wanted = reference.get(name) if isinstance(reference, Mapping) else None
    return len(left) < 2 or (wanted is not None and cube.find_group(wanted) in hidden)


def _crossed(audit: Audit, sets: Iterable[tuple[str, ...]], whole: Sequence[str], least: int) -> list[tuple[str, ...]]:
    """The intersections that stay: those without a small cell, which together do not tell of one in another."""
    singles: list[tuple[str, ...]] = [(name,) for name in whole]
    kept: list[tuple[str, ...]] = []
    for names in sorted(sets, key=lambda names: -len(names)):
        if not set(names) <= set(whole) or privacy.small_groups(audit.counts(names), least):
            continue
        if any(set(names) <= set(other) for other in kept) or privacy.acyclic([*kept, names, *singles]):
            kept.append(names)
    return kept


# --- Judging again ---------------------------------------------------------------------------------------------------


def _judged_again(audit: Audit, held: Audit) -> Audit:
    """The audit with the findings that the counts which stay allow, the families they are corrected in, and notes."""
    sets = [set(names) for names in held.attribute_sets()]
    there = [finding for finding in audit.findings if set(finding.attributes) in sets]
    able = [finding for finding in there if _computable(audit, held, finding)]
    family = audits.family(held.policy, sum(audit.decides(finding) for finding in able))
    findings = []
    for finding in able:
        request = _request(finding, held.reference)
        limit = _of_wider_range(request.threshold, finding, audit.cube, held.cube)
        request = replace(request, threshold=limit, family=family if audit.decides(finding) else 1)
        findings.append(judge(request, held.counts(finding.attributes)))
    remaining = {finding.metric for finding in findings}
    lost = dict.fromkeys(finding.metric for finding in there if finding.metric not in remaining)
    assert held.sharing is not None  # noqa: S101 - it was just made
    sharing = replace(held.sharing, metrics=tuple(dict.fromkeys([*held.sharing.metrics, *lost])))
    judged = replace(
        held,
        findings=audits.adjusted(findings, held.policy),
        sharing=sharing,
    )
    # Sums of products over clusters would tell of small cells: the findings rest on them, and they do not leave.
    cube, *parts = (replace(part, clusters=None) for part in (held.cube, *held.parts))
    return replace(judged, notes=tuple(_notes(audit, judged)), cube=cube, parts=tuple(parts))


def _of_wider_range(threshold: float | None, finding: Finding, before: Cube, after: Cube) -> float | None:
    """A threshold that is a share of the range of numbers, as a share of the rounded range: it would tell the other."""
    request: Request = finding.basis.request  # type: ignore[attr-defined] # asked of findings with a basis only
    if threshold is None or not request.by_range or before.scores is None or after.scores is None:
        return threshold
    old, new = (table.bins.high - table.bins.low for table in (before.scores, after.scores))
    return threshold if old in (new, 0) else threshold * new / old


def _computable(audit: Audit, held: Audit, finding: Finding) -> bool:
    """Whether a finding follows from the counts of the audit, and the counts that stay can tell it as exactly."""
    if not isinstance(finding.basis, Basis) or not finding.basis.request.metric.counted:
        return False
    if any(row.made_of == "rows" for row in finding.basis.request.metric.rows):
        return False
    if finding.basis.request.metric.by_bins and held.cube.scores is None and audit.cube.scores is not None:
        return False  # without the score it would be another question
    try:
        check_roles(finding.basis.request.metric, held.counts(finding.attributes))
        quick = _request(finding, audit.reference, interval="simultaneous")
        again = judge(quick, audit.counts(finding.attributes))
    except EvenhandError:
        return False
    # The ends of an interval may choose another group as the evidence, and so another value; the extremes stay.
    one, other = (
        each.value.value if finding.judged_on in OF_ONE_VALUE else each.difference.value for each in (again, finding)
    )
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))


def _request(finding: Finding, reference: Any, **policy: Any) -> Request:
    """What the finding answered, asked again with these fields of its policy, as far as they are given."""
    request: Request = finding.basis.request  # type: ignore[attr-defined] # asked of findings with a basis only
    asked = reference if isinstance(request.reference, Mapping) else request.reference
    return replace(request, policy=request.policy.updated(**policy), reference=asked, by_range=False, strata=1)


# --- What a reader is told -------------------------------------------------------------------------------------------


def _notes(audit: Audit, judged: Audit) -> list[str]:
    """Notes on the counts that stay, on what decides, and on what was left out.

    Of the notes of the audit, those stay that hold no number: the others may count people who are hidden.
    """
    chosen = next(
        (way for way in (True, False) if set(audit_notes.judging_notes(audit, way)) <= set(audit.notes)), True
    )
    old = {note for way in (True, False) for note in audit_notes.judging_notes(audit, way)}
    plain = [note for note in audit.notes if not re.search(r"\d", note) and note not in old]
    counted = [note for names in judged.counted_sets for note in audit_notes.data_notes(judged.counts(names))]
    judging = [*audit_notes.judging_notes(judged, chosen), *audit_notes.correction_notes(judged)]
    return list(dict.fromkeys([*counted, *plain, *judging, *sharing_notes(judged)]))


def sharing_notes(audit: Audit) -> list[str]:
    """What was left out of a shared audit, by name."""
    told = audit.sharing
    if told is None:
        return []
    if told.least == 1:
        return ["Made to be shared with least = 1, which hides nothing: it holds the full counts."]
    few = "one person" if told.least == 2 else f"1 to {told.least - 1} people"
    notes = [
        f"Made to be shared: no count of {few} who share a group, a label and a decision is in this file or follows "
        "from it. What had to be hidden is left out; no number was changed."
    ]
    for name, groups in told.groups.items():
        who = join_names([spell(group) for group in groups], _MOST_NAMES, mark="; ")
        notes.append(f"Left out of {name}: {who}. Everyone, the rest and all findings on {name} are of other groups.")
    if told.sets:
        gone = join_names([" × ".join(names) for names in told.sets], _MOST_NAMES, mark="; ")
        notes.append(f"Left out whole, because counts of {few} would follow: {gone}.")
    lost = [name for name in audit.required if name in told.metrics]
    if lost:
        notes.append(f"Required, and left out: {', '.join(lost)}. So the verdict is at best inconclusive.")
    if told.metrics:
        notes.append(f"Left out, because counts that may leave do not tell them exactly: {', '.join(told.metrics)}.")
    scores = audit.cube.scores
    if scores is None and audit.meaning.score is not None:
        notes.append(f"The score is left out, because {few} of a group with the same label have one, or have none.")
    if scores is not None and scores.counts_only:
        notes.append(
            f"The score is counted between {scores.bins.count + 1} stops, the only ones at which a cutoff may stand."
        )
    return notes
