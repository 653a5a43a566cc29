"""diff(): what changed between two audits, of two models or two months, and what crossed a threshold.

The interval of a change comes from the two intervals: each side moves by the hypotenuse of the two distances to the
ends (the square-and-add method of Newcombe 1998; "MOVER" of Zou and Donner 2008). That takes estimates as centred, and
the gap between the extremes of many groups is not: part of it is chance. So each end is computed twice, with that part
taken as chance and as real, and the one farther out counts. In simulations with 2 to 12 groups the interval then
covers in 95 to 100 of 100 pairs of audits; without this, in 87 to 100.

Two audits are taken as independent samples, because a cube does not tell who is in both. Those of a contest are of the
same people and share joint counts: then the interval is that of `evenhand.inference.paired_gap`. Where joint counts do
not tell, as of a calibration error, the two margins are added, which holds whatever the two have in common.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from evenhand.audits.audit import Audit
from evenhand.catalogue import METRICS
from evenhand.core import frames, records, wording
from evenhand.core.arguments import checked
from evenhand.core.cards import Carded
from evenhand.core.results import Estimate, Finding, Group, JudgedOn, Verdict
from evenhand.core.signs import escaped, printable
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, join_names
from evenhand.sources.documentation import documented
from evenhand.verdicts import comparison
from evenhand.verdicts.paired_change import ends_of_change, within
from evenhand.verdicts.verdict import overall

Tendency = Literal["worse", "better", "unclear"]
Member = tuple[tuple[str, ...], Group]
"""A group with the attributes that make it."""

_INDEPENDENT = (
    "The intervals of changes take the two audits as independent samples. For two models on the same people use "
    "contest, which pairs them."
)
_PAIRED = "Same people: the intervals of changes are paired, from who got which decision of both models."
_ADDED = (
    "Joint counts of decisions do not tell how this varies for the same people: the margins of the two models are "
    "added, which holds whatever they have in common, and is wider than need be."
)
_ITSELF = "Both audits are of the same counts of the same people, so a gap that both measure alike did not change."


@dataclass(frozen=True, repr=False)
class Change:
    """One metric on one set of attributes, before and after.

    `before` and `after` are what was judged. `change` is how much farther from parity it is: of the size of a
    difference or an index (more is worse), or of a ratio with its inverse counted alike (less is worse). `tendency`
    says worse or better only where the whole interval of the change does. `outcome` is what it means where the finding
    decides: "fail" where it fails and did not before, or fails by more; "inconclusive" where a pass was lost.
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
    people = _Pairing(first, second)
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


class _Pairing:
    """What two audits have in common: nothing, all of their counts, or their people, whom joint counts pair."""

    def __init__(self, first: Audit, second: Audit) -> None:
        self.confidence = min(first.policy.confidence, second.policy.confidence)
        self.joint = None if first.among is None or second.among is None else first.among.beside(second.among)
        self.itself = self.joint is None and _same_counts(first.cube, second.cube)

    @property
    def same(self) -> bool:
        return self.itself or self.joint is not None

    @property
    def note(self) -> str:
        return _PAIRED if self.joint is not None else _ITSELF if self.itself else _INDEPENDENT

    def change(self, before: Finding, after: Finding) -> tuple[Estimate, bool]:
        """The change with its interval, and whether it is one of pairs where there are any."""
        sizes = size(before), size(after)
        change = sizes[1].value - sizes[0].value
        if change == 0 and (self.itself or (self.joint is not None and self.joint.same)):
            return Estimate(0.0, 0.0, 0.0), True
        if self.joint is not None and math.isfinite(change):
            ends = ends_of_change(before, after, self.joint, self.confidence)
            if ends is not None:
                return Estimate(change, *within(ends, change)), True
        rates = after.judged_on == "ratio" or (after.judged_on, after.unit) == ("difference", "rate")
        chance, bound = (by_chance(before), by_chance(after)), 1.0 if rates else math.inf
        return between(*sizes, chance=chance, bound=bound, independent=self.joint is None), self.joint is None


def _change(first: Audit, second: Audit, before: Finding, after: Finding, people: _Pairing) -> Change:
    required = first.decides(before) or second.decides(after)
    change, paired = people.change(before, after)
    tendency = _tendency(change, after.judged_on)
    counted = first.policy.counted(before.verdict), second.policy.counted(after.verdict)
    return Change(
        after.metric,
        after.title,
        after.attributes,
        after.judged_on,
        after.unit,
        required,
        before.value,
        after.value,
        change,
        tendency,
        before.threshold,
        after.threshold,
        before.verdict,
        after.verdict,
        _outcome(*counted, tendency, known=after.value.defined) if required else "not judged",
        _sentence(before, after, change, min(first.policy.confidence, second.policy.confidence)),
        (*_warnings(before, after), *(() if paired or change.low is None else (_ADDED,))),
    )


def _same_counts(first: Cube, second: Cube) -> bool:
    """Are the counts the same? A file does not keep sums over clusters."""
    if first is second:
        return True
    if first.clusters is None or second.clusters is None:
        first, second = (replace(cube, clusters=None) for cube in (first, second))
    return first == second


def _outcome(before: Verdict, after: Verdict, tendency: Tendency, *, known: bool) -> Verdict:
    """Whether something that decides got worse; of what can no longer be computed (`known`) nobody can say."""
    if after == "fail":
        return "fail" if before != "fail" or tendency == "worse" else "pass"
    return "inconclusive" if after == "inconclusive" and (before == "pass" or not known) else "pass"


def size(finding: Finding) -> Estimate:
    """How far a finding is from parity, whichever side it is on: a difference without its sign, a ratio below 1."""
    if finding.judged_on == "value":
        return finding.value
    if finding.judged_on == "difference":
        return _folded(finding.extremes, abs, 0.0)
    metric = METRICS.get(finding.metric)
    against = finding.settings.get("against", "extremes") != "extremes"
    if metric is not None and metric.one_sided and against:
        return _mapped(finding.extremes, lambda ratio: min(ratio, 1.0))
    return _folded(finding.extremes, lambda ratio: float(comparison.folded(ratio)) if ratio else 0.0, 1.0)


def _mapped(value: Estimate, function: Callable[[float], float]) -> Estimate:
    if value.low is None or value.high is None:
        return Estimate(function(value.value))
    return Estimate(function(value.value), function(value.low), function(value.high))


def _folded(value: Estimate, function: Callable[[float], float], parity: float) -> Estimate:
    """An estimate folded at parity: an interval that holds it reaches it."""
    folded = _mapped(value, function)
    if value.low is None or value.high is None or folded.low is None or folded.high is None:
        return folded
    ends = [folded.low, folded.high, *([parity] if value.low <= parity <= value.high else [])]
    return Estimate(folded.value, min(ends), max(ends))


def between(
    before: Estimate,
    after: Estimate,
    *,
    chance: tuple[float, float] = (0.0, 0.0),
    bound: float = math.inf,
    independent: bool = True,
) -> Estimate:
    """after − before, with the interval that two estimates give it.

    `chance` is how much of each may be chance alone. Where the estimates are not `independent`, their margins are
    added, which holds whatever they have in common.

    >>> print(between(Estimate(0.10, 0.06, 0.14), Estimate(0.16, 0.13, 0.19)))
    0.06 [0.01, 0.11]
    """
    if not (math.isfinite(before.value) and math.isfinite(after.value)):
        return Estimate(math.nan)
    change = after.value - before.value
    if before.low is None or before.high is None or after.low is None or after.high is None:
        return Estimate(change)
    (least_before, most_before), (least, most) = _plausible(before, chance[0]), _plausible(after, chance[1])
    combined: Callable[[float, float], float] = math.hypot if independent else operator.add
    low = least - most_before - combined(least - after.low, before.high - most_before)
    high = most - least_before + combined(after.high - most, least_before - before.low)
    return Estimate(change, max(low, -bound), min(high, bound))


def _plausible(estimate: Estimate, chance: float) -> tuple[float, float]:
    """The estimate as it is, and without what chance may have added to it, in order."""
    low = -math.inf if estimate.low is None else estimate.low
    high = math.inf if estimate.high is None else estimate.high
    without = min(max(estimate.value - chance, low), high)
    return min(without, estimate.value), max(without, estimate.value)


def by_chance(finding: Finding) -> float:
    """How much of a gap may be chance: the extremes of groups of these sizes lie apart even where nothing differs.

    It makes a difference larger and a ratio smaller. Of two groups that surely differ it is nothing.
    """
    parity = 0.0 if finding.judged_on == "difference" else 1.0
    low, high = finding.extremes.low, finding.extremes.high
    sure = low is not None and high is not None and not low <= parity <= high
    groups = len({row.group for row in finding.groups})
    gap = math.nan if finding.sample is None else finding.sample.expected_gap
    if not math.isfinite(gap) or finding.judged_on == "value" or (groups <= 2 and sure):
        return 0.0
    if finding.judged_on == "difference":
        return gap
    ratio = float(comparison.folded(finding.ratio.value)) if finding.ratio.value else 0.0
    highest = abs(finding.difference.value) / (1 - ratio) if ratio < 1 else math.nan
    return -gap / highest if highest > 0 else 0.0


def _tendency(change: Estimate, judged_on: JudgedOn) -> Tendency:
    if change.low is None or change.high is None or change.low <= 0 <= change.high:
        return "unclear"
    return "worse" if (change.low > 0) != (judged_on == "ratio") else "better"


def _sentence(before: Finding, after: Finding, change: Estimate, confidence: float) -> str:
    what = {"difference": "gap", "ratio": "ratio", "value": "value"}[after.judged_on]
    title = f"{wording.capital(after.title)}: the {what}"
    if not change.defined:
        return f"{title} has no change that can be computed: {before.value} before, {after.value} after."
    unit = after.unit if after.judged_on == "difference" else "ratio"
    figures = [wording.distance(size(one).value, unit) for one in (before, after)]
    reach = _reach(change, confidence, after)
    if change.value == 0:
        return f"{title} is {figures[1]}, as before{reach}."
    by = wording.distance(change.value, unit, signed=True)
    return f"{title} changed by {by}{reach}, from {figures[0].removesuffix(' points')} to {figures[1]}."


def _reach(change: Estimate, confidence: float, finding: Finding) -> str:
    if change.low is None or change.high is None:
        return ""
    low, high = (round(end, 3) + 0.0 if math.isfinite(end) else end for end in (change.low, change.high))
    return wording.reach((low, high), confidence, finding.judged_on, finding.unit)


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
