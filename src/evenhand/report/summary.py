"""What a reader must know of an audit before anything else: what was decided, what was found, what is open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.audits.audit_notes import nothing_judged
from evenhand.core.results import TREND, Finding, Row, pair_names, shown_names, spell, spell_stratum
from evenhand.core.wording import capital, clip, number_of
from evenhand.errors import join_names
from evenhand.report import glance, tables

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

_MOST_OPEN = 3
_MOST_NAMES = 4
_LONG_NAME = 100  # of a group of several columns
_MOST_REASONS = 2


@dataclass(frozen=True)
class Summary:
    """An audit in a few sentences, each of them the answer to one question."""

    decided: str
    """What was decided, for whom."""
    found: str
    """The finding that comes first: the two groups with the strongest evidence, and how many people they are."""
    open: str
    """What this data cannot settle, and what would."""
    rests_on: str
    """What the verdict rests on."""
    unsaid: str
    """What the verdict does not say."""


def summary(audit: Audit) -> Summary:
    """The audit in a few sentences."""
    return Summary(
        decided(audit),
        " ".join(found(audit)),
        " ".join(still_open(audit)),
        _rests_on(audit),
        _unsaid(audit),
    )


def found(audit: Audit) -> list[str]:
    """The finding that comes first, with what its measure is; what strata change; who is worse off."""
    lead = next(iter(glance.leading(audit)), None)
    if lead is None:
        return ["Nothing was computed."]
    turned = [note for note in lead.notes if note.startswith(_OF_STRATA)]
    return [" ".join([lead.interpretation, *_gloss(audit, lead)]), *turned[:1], *_worse_off(audit, lead)]


_OF_STRATA = ("Simpson's paradox", "The strata explain the gap", "The strata show a gap")

_MEANINGS = {
    "selection_rate": "of the n people, the share with {decision}",
    "base_rate": "of the n people, the share with {label}",
    "true_positive_rate": "of the n people with {label}, the share with {decision}",
    "false_negative_rate": "of the n people with {label}, the share without {decision}",
    "false_positive_rate": "of the n people without {label}, the share with {decision}",
    "true_negative_rate": "of the n people without {label}, the share without {decision}",
    "positive_predictive_value": "of the n people with {decision}, the share with {label}",
    "false_discovery_rate": "of the n people with {decision}, the share without {label}",
    "negative_predictive_value": "of the n people without {decision}, the share without {label}",
    "false_omission_rate": "of the n people without {decision}, the share with {label}",
}
"""What the measures are, in the words of the data."""


def _gloss(audit: Audit, finding: Finding) -> list[str]:
    measure = (finding.evidence or finding.summary).measure
    if measure not in _MEANINGS or audit.meaning.task != "binary" or finding.over_time:
        return []
    made = valued(audit, "prediction", audit.meaning.prediction) or decision(audit)
    words = {"decision": clip(made or ""), "label": clip(valued(audit, "label", audit.meaning.label) or "")}
    # Names may hold braces: they are put in, and not read again.
    return [f"{capital(measure.replace('_', ' '))}: {_MEANINGS[measure].format_map(words)}."]


_RISES_WITH_DECISIONS = ("selection_rate", "true_positive_rate", "false_positive_rate")
"""The rates that are higher where more people get the decision."""


_EVERYONE = "everyone"  # the name of what groups are compared with where that is all of them


def _worse_off(audit: Audit, finding: Finding) -> list[str]:
    """Who is worse off, as far as it can be said: no data tells whether a decision helps a person or harms them."""
    pair, made = finding.evidence, decision(audit)
    if pair is None or made is None or pair.measure not in _RISES_WITH_DECISIONS or audit.meaning.task != "binary":
        return []
    gap = pair.difference
    if gap is None or gap.low is None or gap.high is None or gap.low <= 0 <= gap.high:
        return []
    names = pair_names(pair, (row.group for row in finding.rows), finding.attributes)
    one, other = (clip(name, _LONG_NAME) for name in names)
    higher, lower = (one, other) if gap.low > 0 else (other, one)
    if finding.over_time and f"higher for {higher} than for {lower}" not in finding.interpretation:
        return []  # the evidence is of other groups than the gap of all periods together
    what = clip(valued(audit, "prediction", audit.meaning.prediction) or made)
    if pair.against == _EVERYONE and all(row.group != (_EVERYONE,) for row in finding.rows):
        helped, harmed = ("better", "worse") if higher == one else ("worse", "better")
        return [f"If {what} helps a person, {one} is {helped} off than everyone together; if it harms, {harmed} off."]
    where = f"In {spell_stratum(pair.stratum, audit.meaning.control)}, if" if pair.stratum else "If"
    return [f"{where} {what} helps a person, {lower} is worse off; if it harms, {higher} is."]


def decided(audit: Audit) -> str:
    """What was decided, for whom: the people, the column, the groups, the strata."""
    meaning = audit.meaning
    people = number_of(audit.cube.size, "person", "people")
    groups = [
        f"{number_of(len(audit.counts(name).groups), 'group', 'groups')} of {clip(name)}"
        for name in meaning.sensitive[:_MOST_NAMES]
    ]
    more = len(meaning.sensitive) - len(groups)
    groups += [number_of(more, "more attribute", "more attributes")] if more else []
    within = ""
    if meaning.control:
        held = " × ".join(map(clip, meaning.control))
        within = f" They are compared within each {held} ({number_of(len(audit.cube.strata), 'stratum', 'strata')})."
    return f"{_subject(audit, people)}, in {joined(groups)}.{_label(audit)}{within}{_over_time(audit)}"


def _over_time(audit: Audit) -> str:
    """The periods, where an audit is of a trend."""
    panel = next((one for each in audit.findings for one in each.panels if one.role == TREND), None)
    if panel is None or "name" not in panel.columns:
        return ""
    column = panel.columns.index("name")
    names = list(dict.fromkeys(str(row[column]) for row in panel.rows))
    ends = f", {clip(names[0])} to {clip(names[-1])}" if len(names) > 1 else f", {clip(names[0])}"
    return f" They are followed over {number_of(len(names), 'period', 'periods')}{ends}."


def _subject(audit: Audit, people: str) -> str:
    meaning, made = audit.meaning, decision(audit)
    if meaning.prediction is not None and meaning.task != "binary":
        return f"The prediction is {clip(meaning.prediction)}, made for {people}"
    if made is not None:
        return f"The decision is {clip(valued(audit, 'prediction', meaning.prediction) or made)}, made on {people}"
    if meaning.score is not None:
        return f"The score {clip(meaning.score)} was given to {people}"
    return f"The data holds {people}"


def _label(audit: Audit) -> str:
    told = valued(audit, "label", audit.meaning.label)
    return "" if told is None else f" The label, what happened, is {clip(told)}."


def still_open(audit: Audit) -> list[str]:
    """What this data cannot settle, and what would: a few sentences on each finding that is open, then on groups."""
    decided = tables.deciding(audit)
    if not decided:
        return ["Nothing is judged, so nothing is open."]
    unsure = [each for each in decided if each.verdict == "inconclusive"]
    parts = [_unsettled(each) for each in unsure[:_MOST_OPEN]]
    if len(unsure) > _MOST_OPEN:
        parts.append(f"{number_of(len(unsure) - _MOST_OPEN, 'more finding', 'more findings')} that decide are open.")
    searched = [_open_groups(each) for each in decided if glance.listed(each) and each.settings.get("open")]
    parts = [*parts, *searched] or ["No finding that decides is open."]
    return [*parts, *[said for each in decided for said in _no_pass_for(audit, each)][:_MOST_OPEN]]


def _open_groups(finding: Finding) -> str:
    """How many of the groups that were searched are open, and the first of them."""
    groups, many = (int(str(finding.settings[name])) for name in ("groups", "open"))
    first = next((str(panel.rows[0][0]) for panel in glance.listed(finding) if "open" in panel.rows[0]), None)
    such = "" if first is None else f", such as {clip(first, _LONG_NAME)}"
    are = "is open: its gap" if many == 1 else f"are open{such}: their gaps"
    return f"Of {number_of(groups, 'group', 'groups')}, {many:,} {are} may lie within the threshold or beyond it."


def _unsettled(finding: Finding) -> str:
    settle = next((note for note in finding.notes if "settle it" in note), "")
    return f"{capital(finding.title)} on {_on(finding)} is open. {settle}".strip()


def _no_pass_for(audit: Audit, finding: Finding) -> list[str]:
    """The groups that no pass can include, with the reason: too few people, or no value at all."""
    least, rows = audit.policy.min_group_size, {name: _rows_of(finding, name) for name in finding.left_out}
    few = {name: [row for row in mine if row.reason is None and (row.n or 0) < least] for name, mine in rows.items()}
    without = {name: [row for row in mine if row.reason] for name, mine in rows.items() if not few[name]}
    without = {name: mine for name, mine in without.items() if mine}
    reasons = dict.fromkeys(row.reason or "" for mine in without.values() for row in mine)
    parts = [
        ({name: few[name] for name in few if name not in without}, f"fewer than {least} people to measure on"),
        (without, join_names(reasons, _MOST_REASONS, mark="; ")),
    ]
    return [f"No pass can include {_whom(audit, finding, named)}: {why}." for named, why in parts if named]


def _rows_of(finding: Finding, name: str) -> list[Row]:
    return [row for row in finding.groups if spell(row.group) == name]


def _whom(audit: Audit, finding: Finding, named: Mapping[str, Sequence[Row]]) -> str:
    """Groups by name, with the strata of their rows."""
    names = shown_names(named, (row.group for row in finding.rows), finding.attributes)
    strata = dict.fromkeys(row.stratum for rows in named.values() for row in rows if row.stratum)
    where = join_names((clip(spell_stratum(each, audit.meaning.control)) for each in strata), _MOST_NAMES, mark="; ")
    return f"{join_names(map(clip, names), _MOST_NAMES)} ({_on(finding)}{where and f', in {where}'})"


def _rests_on(audit: Audit) -> str:
    if not audit.required:
        return nothing_judged(audit.policy)
    sure = f"Intervals hold at {100 * audit.policy.confidence:g} % confidence."
    made = outcomes(audit) or joined(required_titles(audit))
    return " ".join([f"{capital(made)}.", *whose_thresholds(audit), sure])


def outcomes(audit: Audit) -> str:
    """What failed, what is open and what passed among the findings that decide, by the titles of the metrics."""
    titles = dict(zip(audit.required, required_titles(audit), strict=True))
    return tables.outcomes(audit, lambda name: clip(titles.get(name, name)))


def whose_thresholds(audit: Audit) -> list[str]:
    """Who set the thresholds of what decides: the policy, or nobody; nothing where a caller gave one by itself."""
    usual = {metric.name: metric.threshold for metric in audit.metrics}
    judged = [finding for finding in audit.findings if audit.decides(finding) and finding.threshold is not None]
    by_policy = {finding.metric in audit.policy.thresholds for finding in judged}
    if by_policy == {True}:
        return ["The policy of this audit sets the threshold."]
    if by_policy == {False} and all(finding.threshold == usual.get(finding.metric) for finding in judged):
        return ["The threshold is the default of evenhand, which nobody chose for this decision."]
    return []


def _unsaid(audit: Audit) -> str:
    others = sum(not audit.decides(finding) for finding in audit.findings)
    more = f"; {number_of(others, 'other finding does', 'other findings do')} not decide" if others else ""
    return (
        "Whether a higher rate helps or harms a person, whether decisions are right or lawful, or why there is a gap. "
        f"Other criteria may disagree{more}."
    )


def _on(finding: Finding) -> str:
    return " × ".join(map(clip, finding.attributes))


CORRECTIONS = {
    None: "none",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
}
"""How p-values are corrected for their number, by the names that a policy has for it."""


# --- What was audited, in words


def decision(audit: Audit) -> str | None:
    """What was decided: a column, or a score at a cutoff; None where there is no decision."""
    meaning = audit.meaning
    if meaning.prediction is not None:
        return meaning.prediction
    if meaning.score is None or meaning.cutoff is None:
        return None
    return f"{meaning.score} {'≥' if meaning.higher_is == 'positive' else '≤'} {meaning.cutoff:g}"


def valued(audit: Audit, role: str, name: str | None) -> str | None:
    """A column with the value that counts as positive."""
    if name is None or audit.meaning.task != "binary":
        return name
    return f"{name} = {' or '.join(audit.meaning.positive[role])}"


def required_titles(audit: Audit) -> list[str]:
    """The metrics that decide, by their titles."""
    named = {finding.metric: finding.title for finding in audit.findings}
    return [named.get(name, name) for name in audit.required]


def joined(parts: Iterable[str]) -> str:
    """Names in a row: a, b and c."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
