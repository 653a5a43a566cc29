"""diff(): what changed between two audits, of two models or two months, and what crossed a threshold.

How the interval of a change is made is told in `evenhand.audits.gap_change`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evenhand.audits.audit import Audit
from evenhand.audits.gap_change import ADDED, FIXED, Pairing, has_sign, same_pair, size
from evenhand.core import frames, records, wording
from evenhand.core.arguments import checked
from evenhand.core.cards import Carded
from evenhand.core.results import UNDEFINED, Estimate, Finding, Group, JudgedOn, Verdict, spell
from evenhand.core.signs import escaped, printable
from evenhand.errors import CallError, join_names
from evenhand.measures.cells import MEASURES
from evenhand.sources.documentation import documented
from evenhand.verdicts.verdict import overall

Tendency = Literal["worse", "better", "unclear"]
Member = tuple[tuple[str, ...], Group]
"""A group with the attributes that make it."""


@dataclass(frozen=True, repr=False)
class Change:
    """One metric on one set of attributes, before and after.

    `before` and `after` are what was judged, and `change` is after − before. Against a reference all three have a sign:
    group − reference. `size_change` is how much farther from parity it is: of the size of a difference or an index
    (more is worse), or of a ratio with its inverse counted alike (less is worse). Between the groups that are farthest
    apart it is the change. `tendency` says worse or better only where the whole interval of `size_change` does.
    `outcome` is what it means where the finding decides: "fail" where it fails and did not before, or fails by more;
    "inconclusive" where a pass was lost.
    """

    metric: str
    title: str
    attributes: tuple[str, ...]
    judged_on: JudgedOn
    unit: str
    required: bool
    before: Estimate
    after: Estimate
    change: Estimate
    tendency: Tendency
    threshold_before: float | None
    threshold_after: float | None
    verdict_before: Verdict
    verdict_after: Verdict
    outcome: Verdict
    interpretation: str
    notes: tuple[str, ...] = ()
    size_change: Estimate = UNDEFINED

    @property
    def crossed(self) -> bool:
        """Whether the verdict changed."""
        return self.verdict_before != self.verdict_after

    def __str__(self) -> str:
        return printable(self.interpretation)

    def __repr__(self) -> str:
        on = escaped(" × ".join(self.attributes))
        verdicts = f"{self.verdict_before} → {self.verdict_after}" if self.crossed else self.verdict_after
        return printable(f"<Change of {self.metric} on {on}: {self.change}, {self.tendency}; {verdicts}>")


@documented
@checked
@dataclass(frozen=True, repr=False)
class Changes(Carded):
    """The result of diff(): what changed. `verdict` says only whether anything that decides got worse."""

    changes: tuple[Change, ...]
    appeared: tuple[Member, ...]
    vanished: tuple[Member, ...]
    only_before: tuple[Finding, ...]
    only_after: tuple[Finding, ...]
    verdict: Verdict
    required: tuple[str, ...]
    people: tuple[int, int]
    confidence: float
    notes: tuple[str, ...]
    frame_kind: str | None = None
    same_people: bool = False
    """Whether both audits are of the same people; if not, they are taken as independent samples."""

    @property
    def crossed(self) -> tuple[Change, ...]:
        """The changes in which the verdict changed."""
        return tuple(change for change in self.changes if change.crossed)

    def to_frame(self) -> Any:
        """The changes as a dataframe, of the kind of the later audit's data."""
        one: dict[str, Callable[[Change], Any]] = {
            "metric": lambda change: change.metric,
            "attributes": lambda change: " × ".join(change.attributes),
            "judged_on": lambda change: change.judged_on,
            "before": lambda change: change.before.value,
            "after": lambda change: change.after.value,
            "change": lambda change: change.change.value,
            "low": lambda change: change.change.low,
            "high": lambda change: change.change.high,
            "size_change": lambda change: change.size_change.value,
            "size_low": lambda change: change.size_change.low,
            "size_high": lambda change: change.size_change.high,
            "tendency": lambda change: change.tendency,
            "verdict_before": lambda change: change.verdict_before,
            "verdict_after": lambda change: change.verdict_after,
            "required": lambda change: change.required,
            "interpretation": lambda change: change.interpretation,
        }
        columns = {name: [column(change) for change in self.changes] for name, column in one.items()}
        return frames.frame(columns, self.frame_kind)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON."""
        return {
            "format": "evenhand-diff",
            "format_version": 1,
            "verdict": self.verdict,
            "required": list(self.required),
            "confidence": self.confidence,
            "people": {"before": self.people[0], "after": self.people[1]},
            "same_people": self.same_people,
            "changes": records.write(self.changes),
            **{
                name: [{"attributes": list(attributes), "group": list(group)} for attributes, group in members]
                for name, members in (("appeared", self.appeared), ("vanished", self.vanished))
            },
            **{
                name: [{"metric": f.metric, "attributes": list(f.attributes), "verdict": f.verdict} for f in findings]
                for name, findings in (("only_before", self.only_before), ("only_after", self.only_after))
            },
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write the changes to a file; the suffix decides the form: .json or .md (Markdown)."""
        from evenhand.report import changes

        changes.save(self, Path(path))

    def __str__(self) -> str:
        from evenhand.report.text import diff as changes

        return changes.plain(self)

    def __repr__(self) -> str:
        size = f"{wording.counted(len(self.changes), 'finding')} compared, {len(self.crossed)} with another verdict"
        return f"<Changes: {self.verdict}; {size}>"


@documented
def diff(before: Audit | str | Path, after: Audit | str | Path) -> Changes:
    """What changed from one audit to another, such as two models or two months.

    Parameters
    ----------
    before
        An Audit, or the path of one that was saved as JSON.
    after
        The audit that it is compared with, in the same way.

    Returns
    -------
    Changes
        How each gap changed, with its interval, and whether it crossed its threshold.

    >>> import evenhand as eh
    >>> roles = {"label": "recidivated", "score": "decile", "count": "count", "sensitive": "sex"}
    >>> low, high = (eh.audit(eh.datasets.compas(), **roles, cutoff=cutoff) for cutoff in (5, 8))
    >>> found = eh.diff(low, high)
    >>> print(found.verdict, found.changes[0], sep=": ")
    inconclusive: Equalized odds: the gap changed by +6.5 points (95 % interval 0.0 to 12.1), from 2.1 to 8.6
    points.
    """
    first, second = _audit("before", before), _audit("after", after)
    if (first.sharing is None) != (second.sharing is None):
        raise CallError(
            "one of the two audits was made to be shared and leaves groups out, so what differs is not a change: "
            "compare two full audits, or two to share."
        )
    pairs, only_before, only_after = _pair(first.findings, second.findings)
    if not pairs:
        raise CallError(
            "the two audits have no finding in common: compare audits with the same attributes and metrics. Before: "
            f"{_listed(first)}; after: {_listed(second)}."
        )
    people = Pairing(first, second)
    changes = tuple(_change(first, second, *pair, people) for pair in pairs)
    lost: list[Verdict] = [
        "inconclusive" for finding in only_before if first.decides(finding) and finding.verdict != "not judged"
    ]
    new = [second.policy.counted(finding.verdict) for finding in only_after if second.decides(finding)]
    groups = [_members(one, _shared(first, second)) for one in (first, second)]
    return Changes(
        changes,
        _without(groups[1], groups[0]),
        _without(groups[0], groups[1]),
        tuple(only_before),
        tuple(only_after),
        overall([*(change.outcome for change in changes if change.required), *lost, *new]),
        tuple(dict.fromkeys([*first.required, *second.required])),
        (first.cube.size, second.cube.size),
        min(first.policy.confidence, second.policy.confidence),
        (people.note, *_notes(first, second)),
        second.frame_kind,
        people.same,
    )


def _audit(name: str, value: Any) -> Audit:
    """The audit itself, or the one that was saved at a path; `name` is the argument, for the error."""
    if isinstance(value, Audit):
        return value
    if isinstance(value, (str, Path)):
        return Audit.load(value)
    raise CallError(f"{name} is of type {type(value).__name__}: pass an Audit, or the path of one saved as JSON.")


def _pair(
    before: Iterable[Finding], after: Iterable[Finding]
) -> tuple[list[tuple[Finding, Finding]], list[Finding], list[Finding]]:
    """Pairs of findings of one metric on the same attributes, judged on the same; then those with no partner."""
    waiting: dict[Any, list[Finding]] = {}
    for finding in before:
        waiting.setdefault(_key(finding), []).append(finding)
    pairs, alone = [], []
    for finding in after:
        partners = waiting.get(_key(finding))
        if partners:
            pairs.append((partners.pop(0), finding))
        else:
            alone.append(finding)
    return pairs, [finding for rest in waiting.values() for finding in rest], alone


def _key(finding: Finding) -> tuple[Any, ...]:
    """What two findings must have in common; values from other numbers of replicas mean something else."""
    return finding.metric, finding.judged_on, frozenset(finding.attributes), finding.settings.get("replicas")


def _change(first: Audit, second: Audit, before: Finding, after: Finding, people: Pairing) -> Change:
    required = first.decides(before) or second.decides(after)
    farther, paired = people.change_of_size(before, after)
    signed = has_sign(before, after)
    change, paired = people.signed_change(before, after) if signed else (farther, paired)
    # Gaps against two different groups have no sign in common: their sizes are set side by side.
    values = (before.value, after.value) if signed else (size(before), size(after))
    fixed = (FIXED,) if people.cannot_change(after) else ()
    tendency = _tendency(farther, after.judged_on)
    counted = first.policy.counted(before.verdict), second.policy.counted(after.verdict)
    return Change(
        after.metric,
        after.title,
        after.attributes,
        after.judged_on,
        after.unit,
        required,
        *values,
        change,
        tendency,
        before.threshold,
        after.threshold,
        before.verdict,
        after.verdict,
        _outcome(*counted, tendency, known=after.value.defined) if required else "not judged",
        _sentence(before, after, (change, farther), people.confidence),
        (*_warnings(before, after), *(() if paired or change.low is None else (ADDED,)), *fixed),
        farther,
    )


def _outcome(before: Verdict, after: Verdict, tendency: Tendency, *, known: bool) -> Verdict:
    """Whether something that decides got worse; of what can no longer be computed (`known`) nobody can say."""
    if after == "fail":
        return "fail" if before != "fail" or tendency == "worse" else "pass"
    return "inconclusive" if after == "inconclusive" and (before == "pass" or not known) else "pass"


def _tendency(change: Estimate, judged_on: JudgedOn) -> Tendency:
    if change.low is None or change.high is None or change.low <= 0 <= change.high:
        return "unclear"
    return "worse" if (change.low > 0) != (judged_on in ("ratio", "floor")) else "better"


def _sentence(before: Finding, after: Finding, changes: tuple[Estimate, Estimate], confidence: float) -> str:
    """What changed: as it was judged, then in size, where the two are not the same."""
    change, farther = changes
    what = {"difference": "gap", "ratio": "ratio", "value": "value", "floor": "value"}[after.judged_on]
    title = f"{wording.capital(after.title)}: the {what}"
    if not change.defined:
        return f"{title} has no change that can be computed: {before.value} before, {after.value} after."
    unit = after.unit if after.judged_on == "difference" or after.unit == wording.POINTS else after.judged_on
    signed = has_sign(before, after)
    values = [(one.shown if signed else size(one)).value for one in (before, after)]
    figures = [_distance(value, unit, signed=signed and after.judged_on == "difference") for value in values]
    reach = _reach(change, confidence, after)
    if change.value == 0:
        return f"{title} is {figures[1]}, as before{reach}."
    of = _groups(before, after) if signed else ("", "")
    by = _distance(change.value, unit, signed=True)
    said = f"{title} changed by {by}{reach}, from {figures[0].removesuffix(' points')}{of[0]} to {figures[1]}{of[1]}."
    return said if farther.value == change.value else f"{said} {_in_size(before, after, farther, unit, confidence)}"


def _groups(before: Finding, after: Finding) -> tuple[str, str]:
    """The groups that decide before and after, in brackets, where they are not the same."""
    first, second = (finding.evidence for finding in (before, after))
    if first is None or second is None or same_pair(before, after):
        return "", ""
    names = [spell(row.group, after.attributes) for row in (first, second)]
    if first.measure != second.measure:
        titles = [MEASURES[row.measure].title if row.measure in MEASURES else row.measure for row in (first, second)]
        names = [f"{title} of {name}" for title, name in zip(titles, names, strict=True)]
    return f" ({names[0]})", f" ({names[1]})"


def _in_size(before: Finding, after: Finding, farther: Estimate, unit: str, confidence: float) -> str:
    """How much farther from parity it is, in a sentence."""
    by, reach = _distance(farther.value, unit, signed=True), _reach(farther, confidence, after)
    if after.judged_on == "difference":
        return f"Its size changed by {by}{reach}."
    figures = [_distance(size(one).value, unit) for one in (before, after)]
    return f"As it is judged, below 1, it changed by {by}{reach}, from {figures[0]} to {figures[1]}."


def _distance(value: float, unit: str, *, signed: bool = False) -> str:
    """A value or a change in a sentence; a ratio as the table beside it shows it."""
    if unit != "ratio":
        return wording.distance(value, unit, signed=signed)
    shown = wording.table_figure(value)
    return f"+{shown}" if signed and float(shown.replace(",", "")) > 0 else shown


def _reach(change: Estimate, confidence: float, finding: Finding) -> str:
    if change.low is None or change.high is None:
        return ""
    return wording.reach((change.low, change.high), confidence, finding.judged_on, finding.unit)


def _warnings(before: Finding, after: Finding) -> Iterable[str]:
    if before.threshold != after.threshold:
        yield f"The threshold was {_limit(before)} before and is {_limit(after)} after."
    against = [finding.settings.get("against", "extremes") for finding in (before, after)]
    if against[0] != against[1]:
        yield f"Groups were compared with {against[0]} before and with {against[1]} after."


def _limit(finding: Finding) -> str:
    return "none" if finding.threshold is None else wording.limit_figure(finding.threshold)


def _shared(first: Audit, second: Audit) -> list[str]:
    """The attributes that both audits have, in the order of the later one."""
    return [name for name in second.meaning.sensitive if name in first.meaning.sensitive]


def _members(one: Audit, attributes: list[str]) -> list[Member]:
    """The groups of every attribute and intersection, in their order."""
    sets = [names for names in one.attribute_sets() if set(names) <= set(attributes)]
    ordered = [tuple(name for name in attributes if name in names) for names in sets]
    return [(names, group) for names in ordered for group in one.counts(names, control=False).groups]


def _without(members: list[Member], others: list[Member]) -> tuple[Member, ...]:
    """The members that are not among the others; an intersection only if no part of it is new by itself."""
    known = set(others)
    new: dict[frozenset[tuple[str, str | None]], Member] = {}
    for names, group in members:
        parts = set(zip(names, group, strict=True))
        if (names, group) not in known and not any(part <= parts for part in new):
            new[frozenset(parts)] = (names, group)
    return tuple(new.values())


def _listed(one: Audit) -> str:
    """Some findings of an audit by name, for an error."""
    names = list(dict.fromkeys(f"{f.metric} on {' × '.join(f.attributes)}" for f in one.findings))
    return join_names(names, 3) if names else "none"


def _notes(first: Audit, second: Audit) -> Iterable[str]:
    if first.policy.confidence != second.policy.confidence:
        yield (
            f"The confidence of the intervals is {first.policy.confidence:g} before and {second.policy.confidence:g} "
            "after; that of the changes is the lower of the two."
        )
    alone = {*first.meaning.sensitive} ^ {*second.meaning.sensitive}
    if alone:
        yield f"Not in both audits, and so not compared: {', '.join(sorted(alone))}."
    differences = first.meaning.differences(second.meaning)
    meant = ("prediction is", "score is", "cutoff is") if first.among is not None and second.among is not None else ()
    differences = [each for each in differences if not each.startswith(("sensitive is", "bands is", *meant))]
    if differences:
        yield f"The two audits read the data differently (here means before, there after): {'; '.join(differences)}."
    numbers = [{f.settings["replicas"] for f in one.findings if "replicas" in f.settings} for one in (first, second)]
    if all(numbers) and numbers[0] != numbers[1]:
        before, after = (" and ".join(map(str, sorted(part, key=str))) for part in numbers)
        yield f"There were {before} replicas before and {after} after: what depends on their number is not compared."
    if first.meaning.bands != second.meaning.bands:
        yield "Bands were cut at different places, so their groups differ: give the same bands=, or count with like=."
