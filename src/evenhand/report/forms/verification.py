"""Is a form of these counts? Its checksums are compared, and every figure in it is computed again.

The form is written anew from the counts and compared line by line, so that nothing in it can be other than computed:
neither a figure nor a word. Findings that need rows are as they were found, and are said to be.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from evenhand.audits.audit import Audit
from evenhand.catalogue import METRICS
from evenhand.core import records
from evenhand.core.files import read_text
from evenhand.core.results import Finding
from evenhand.core.version import __version__
from evenhand.core.wording import clean, clip, number_of
from evenhand.cube import merge
from evenhand.cube.cube import Cube
from evenhand.cube.privacy import Sharing
from evenhand.errors import CallError, DataError, EvenhandError, either, join_names, short_path
from evenhand.report import forms
from evenhand.report.forms.judged import judging
from evenhand.report.forms.record import Record, unpack
from evenhand.report.json import content_digests
from evenhand.report.saved import MOST_BYTES, with_bases
from evenhand.verdicts import policy_file
from evenhand.verdicts.finding import judge
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import make_request

_MOST_LINES = 5
_WIDTH = 140


@dataclass(frozen=True)
class Verification:
    """What was checked, and what is wrong; a form is verified where nothing is."""

    form: str
    checked: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def verified(self) -> bool:
        """Is the form of these counts, figure for figure?"""
        return not self.problems

    def __str__(self) -> str:
        head = "Verified" if self.verified else "Not verified"
        return "\n".join([f"{head}: {self.form}", *(f"- {clean(line)}" for line in (*self.problems, *self.checked))])


def verify(form: Path, counts: Sequence[str | Path], policy: Any = None) -> Verification:
    """Check a form against the counts that it says it is of, and against a policy where one is given.

    `counts` are cubes, which are added, or one audit saved as JSON with its counts.
    """
    shown = repr(short_path(form))
    if form.suffix not in forms.SUFFIXES:
        raise CallError(f"{shown} is not a form: forms end in {either(forms.SUFFIXES)}.")
    text = read_text(form, "a form", MOST_BYTES)
    record = unpack(text, shown)
    if record.form not in forms.FORMS:
        raise DataError(f"{shown} is a form {clip(record.form)!r}, which this version does not know.")
    asked = None if policy is None else policy_file.resolve(policy)
    try:
        return _compared(form, text, record, _counts(record, counts), asked)
    except records.MisfitError as error:
        raise DataError(f"the record in {shown} is damaged: {error}. Write the form again.") from None


@dataclass(frozen=True)
class _Counts:
    """The counts that a form may show, and what was left out of them where they are shared."""

    cube: Cube
    parts: tuple[Cube, ...] = ()
    sharing: Sharing | None = None


def _compared(form: Path, text: str, record: Record, counts: _Counts, asked: Policy | None) -> Verification:
    """The form as it stands beside the form that the counts give."""
    shown, cube, parts = repr(short_path(form)), counts.cube, counts.parts
    if _hides(record.sharing) != _hides(counts.sharing):
        said = "What the form says to leave out is not what is left out of these counts."
        return Verification(shown, (), (said,))
    try:
        audit = record.compute(cube, parts)
        again = forms.rewrite(record, form.suffix, cube, parts)
        held = replace(audit, findings=())
        problems, checked = _digests(record, held)
        judged, known = judging(audit)
        smuggled = _smuggled(record, audit)
    except EvenhandError as error:
        return Verification(shown, (), (f"The form cannot be made from these counts: {error}",))
    problems += judged
    if asked is not None:
        problems += _policy(held, asked)
        checked += [] if problems else ["The policy that was given is that of the form."]
    problems += [*_lines(text, again, record), *smuggled]
    checked.append(
        f"{number_of(len(record.asked), 'finding was', 'findings were')} computed again from "
        f"{number_of(cube.size, 'person', 'people')}."
    )
    if record.given:
        names = join_names([clip(f"{each['metric']} by {' × '.join(each['attributes'])}") for each in record.given], 6)
        as_found = number_of(len(record.given), "finding was", "findings were")
        why = "needing the rows, or judged otherwise than the audit"
        checked.append(f"{as_found} not computed again, {why}: {names}.")
    checked += known
    return Verification(shown, tuple(checked), tuple(problems))


def _counts(record: Record, counts: Sequence[str | Path]) -> _Counts:
    """The counts of the form: as given, or of them what may be shared, where the form is of a shared audit."""
    paths = [Path(each) for each in counts]
    if not paths:
        raise CallError("verify needs the counts: --cube day.cube, or the audit that was saved as JSON.")
    if [path.suffix for path in paths] == [".json"]:
        audit = Audit.load(paths[0])
        if record.sharing is not None and audit.sharing is None:
            audit = audit.shared(record.sharing.least)
        return _Counts(audit.cube, audit.parts, audit.sharing)
    cube = merge.counted([str(path) for path in paths], {})
    if cube is None:
        raise CallError(f"{short_path(paths[0])!r} is neither a cube (.cube) nor an audit saved as JSON (.json).")
    if record.sharing is None:
        return _Counts(cube)
    # The sets that were left out have to be there again, because what may leave depends on what else is there.
    first = record.asked[0]
    more = [replace(first, attributes=names) for names in record.sharing.sets]
    whole = replace(record, sharing=None, given=(), asked=(*record.asked, *more))
    shared = replace(whole.compute(cube), findings=())
    shared = replace(shared, findings=tuple(with_bases(replace(shared, findings=whole.compute(cube).findings))))
    found = shared.shared(record.sharing.least)
    return _Counts(found.cube, found.parts, found.sharing)


def _hides(sharing: Sharing | None) -> Any:
    """From how few people, and which groups of which attributes were left out: a forged form could deny it."""
    return None if sharing is None else (sharing.least, sharing.attributes, sharing.groups)


def _digests(record: Record, held: Audit) -> tuple[list[str], list[str]]:
    """Problems with the checksums, and what is right about them."""
    problems, checked = [], []
    told = {"counts": record.cube, "policy": record.policy_digest}
    found = content_digests(held)
    for what, key, have, other in (
        ("counts", "cube", "have", "are not those"),
        ("policy", "policy", "has", "is not that"),
    ):
        if told[what] == found[key]:
            checked.append(f"The {what} {have} the SHA-256 {told[what]}.")
        else:
            problems.append(f"The {what} {other} of the form: SHA-256 {told[what]} there, {found[key]} here.")
    return problems, checked


def _smuggled(record: Record, audit: Audit) -> list[str]:
    """What is wrong with the findings that are said to need the rows.

    A finding that these counts tell is among them only where it was judged otherwise than the audit, as against another
    reference, and decides nothing. None has the title of another metric.
    """
    titles = {metric.title: metric.name for metric in METRICS.values()}
    problems = []
    for each in record.given_findings():
        on = f"{each.metric} by {' × '.join(each.attributes)}"
        if titles.get(each.title, each.metric) != each.metric:
            problems.append(f"{on} has the title of {titles[each.title]}.")
        told = _told(audit, each)
        if told is not None and audit.decides(each):
            problems.append(f"{on} decides and is said to need the rows, though these counts tell it: {told.value}.")
        elif told is not None and all(told.settings.get(key) == value for key, value in each.settings.items()):
            problems.append(f"{on} is said to need the rows, though these counts tell it: {told.value}.")
    return problems


def _told(audit: Audit, finding: Finding) -> Finding | None:
    """A finding as the counts tell it, judged as the audit is; None where they do not tell it."""
    cube = audit.cube
    if finding.metric not in METRICS or (cube.clustered and cube.clusters is None):
        return None  # sums over clusters do not leave with what is shared
    request = make_request(finding.metric, policy=audit.policy, reference=audit.reference)
    try:
        return judge(request, audit.counts(finding.attributes))
    except EvenhandError:
        return None


def _policy(held: Audit, asked: Policy) -> list[str]:
    names = [part.name for part in fields(asked) if part.compare]
    other = [name for name in names if getattr(asked, name) != getattr(held.policy, name)]
    return [f"The policy that was given differs in {', '.join(other)}."] if other else []


def _lines(text: str, again: str, record: Record) -> list[str]:
    """Lines of the form that are not those which the counts give."""
    pairs = itertools.zip_longest(_split(text), _split(again), fillvalue="")
    wrong = [(number, one, other) for number, (one, other) in enumerate(pairs, 1) if one != other]
    told = [
        f"Line {number}: the form says “{shown[0]}”, and the counts give “{shown[1]}”."
        for number, shown in ((number, _apart(one, other)) for number, one, other in wrong[:_MOST_LINES])
    ]
    if len(wrong) > _MOST_LINES:
        told.append(f"{len(wrong) - _MOST_LINES:,} more lines differ.")
    if wrong and record.evenhand != __version__:
        told.append(
            f"The form was made by evenhand {record.evenhand}, and this is {__version__}, whose words may be others: "
            "verify it with that version."
        )
    return told


def _split(text: str) -> list[str]:
    """The lines of a form without spaces at their ends, which mail and editors change, as they do the ends of lines."""
    return [line.rstrip(" \t\r") for line in text.split("\n")]


def _apart(one: str, other: str) -> tuple[str, str]:
    """Two lines that differ, as a person reads them, or with their markup where nothing else differs."""
    shown = _plain(one), _plain(other)
    return shown if shown[0] != shown[1] else (clip(one, _WIDTH), clip(other, _WIDTH))


def _plain(line: str) -> str:
    """A line as a person reads it, without markup."""
    return clip(" ".join(html.unescape(re.sub(r"<[^>]*>", " ", line)).split()), _WIDTH)
