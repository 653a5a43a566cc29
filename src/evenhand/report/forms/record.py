"""What a form carries so that it can be computed again: who was asked what, and the checksums of counts and policy.

A form is written from the figures that are computed here, from the counts alone, and `evenhand verify` computes them
in the same way. So whatever a form shows can be had again by whoever has the counts, or is said to need the rows.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.audits import audit as audits
from evenhand.audits.audit import Audit
from evenhand.core import records
from evenhand.core.cover import Cover
from evenhand.core.results import Finding, JudgedOn
from evenhand.cube.cube import Cube
from evenhand.cube.privacy import Sharing
from evenhand.errors import DataError, EvenhandError
from evenhand.report import json as report_json
from evenhand.report import saved
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.finding import judge

MARK = "evenhand-record"
_MOST_BYTES = 64 * 1024**2
_FOUND = re.compile(MARK + r"[^A-Za-z0-9+/=]{1,3}([A-Za-z0-9+/=]+)")


@dataclass(frozen=True)
class Asked:
    """A finding without its figures: the metric, the groups, and by what it is judged."""

    metric: str
    attributes: tuple[str, ...]
    judged_on: JudgedOn
    threshold: float | None
    settings: dict[str, Any] = field(default_factory=dict)

    def skeleton(self) -> Finding:
        """The finding with nothing found."""
        told = {
            **records.write(self),
            "title": self.metric,
            "value": {"value": None},
            "passes": None,
            "verdict": "not judged",
            "interpretation": "",
            "summary": {"measure": self.metric, "group": []},
            "rows": [],
        }
        return records.read(Finding, told)


@dataclass(frozen=True)
class Record:
    """Everything of an audit that its counts do not tell."""

    form: str
    evenhand: str
    created: str
    source: str
    cube: str
    """The SHA-256 of the counts, or of the shared counts."""
    policy_digest: str
    policy: dict[str, Any]
    cover: dict[str, Any]
    required: tuple[str, ...]
    asked: tuple[Asked, ...]
    sharing: Sharing | None = None
    given: tuple[Any, ...] = ()
    """Findings that the counts do not tell, such as those of rows, as they were found."""

    @classmethod
    def of(cls, audit: Audit, form: str) -> tuple[Record, Audit]:
        """The record of a form, and the audit as it is computed from the record: what the form is to show."""
        origin = report_json.as_origin(audit)
        digests = report_json.content_digests(audit)
        asked = tuple(
            Asked(each.metric, each.attributes, each.judged_on, each.threshold, dict(records.write(each.settings)))
            for each in audit.findings
        )
        whole = cls(
            form,
            origin["evenhand"],
            origin["created"],
            audit.origin.get("source", ""),
            digests["cube"],
            digests["policy"],
            report_json.policy_data(audit.policy),
            records.write(audit.cover.given()),
            audit.required,
            asked,
            audit.sharing,
        )
        again = {(each.metric, each.attributes): each for each in whole.compute(audit.cube, audit.parts).findings}
        same = [_equal(each, again.get((each.metric, each.attributes))) for each in audit.findings]
        given = [each for each, equal in zip(audit.findings, same, strict=True) if not equal]
        record = replace(
            whole,
            asked=tuple(each for each, equal in zip(asked, same, strict=True) if equal),
            given=tuple(report_json.finding_data(each, required=audit.decides(each)) for each in given),
        )
        return record, record.compute(audit.cube, audit.parts)

    def compute(self, cube: Cube, parts: Sequence[Cube] = ()) -> Audit:
        """The audit with every figure that the counts tell computed from them."""
        policy = saved.read_policy(dict(self.policy), records.read(Cover, dict(self.cover), "cover"))
        origin = {
            "evenhand": self.evenhand,
            "created": self.created,
            **({"source": self.source} if self.source else {}),
        }
        held = Audit(
            cube,
            policy,
            tuple(each.skeleton() for each in self.asked),
            (),
            self.required,
            origin=origin,
            sharing=self.sharing,
            parts=tuple(parts),
        )
        found = []
        for each in saved.with_bases(held):
            if isinstance(each.basis, Basis):
                try:
                    request = replace(each.basis.request, strata=1)  # judge() counts the strata itself
                    found.append(judge(request, held.counts(each.attributes)))
                except EvenhandError:  # what counts cannot tell, such as a measure of rows
                    continue
        findings = (*audits.adjusted(found, policy), *self.given_findings())
        return replace(held, findings=tuple(sorted(findings, key=lambda each: not held.decides(each))))

    def given_findings(self) -> tuple[Finding, ...]:
        """The findings that the counts do not tell."""
        return records.read(tuple[Finding, ...], list(self.given), "findings")

    def pack(self) -> str:
        """The record as letters that no form takes for more than letters."""
        return records.pack(records.write(self))


def _equal(one: Finding, other: Finding | None) -> bool:
    """Do two findings say the same, figure for figure?"""
    apart = {"notes", "settings"}
    if other is None:
        return False
    told = [report_json.finding_data(replace(each, p_adjusted=None)) for each in (one, other)]
    return all(told[0][key] == told[1][key] for key in told[0] if key not in apart)


def unpack(text: str, shown: str) -> Record:
    """The record in the text of a form, where it stands last; `shown` names the file for the errors."""
    found = _FOUND.findall(text)
    if not found:
        raise DataError(
            f"{shown} holds no record of evenhand: only a form that evenhand report --form wrote can be verified."
        )
    try:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        data = inflate.decompress(base64.b64decode(found[-1], validate=True), _MOST_BYTES)
        if inflate.unconsumed_tail or not inflate.eof:
            raise ValueError("it is cut or too long")
        return records.read(Record, json.loads(data), "record")
    except (ValueError, binascii.Error, zlib.error, RecursionError, EvenhandError) as error:
        raise DataError(f"the record in {shown} is damaged: {error}. Write the form again.") from None
