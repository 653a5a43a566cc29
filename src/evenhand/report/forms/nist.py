"""A crosswalk to the NIST AI Risk Management Framework 1.0: what of its core an audit gives evidence for, and what not.

The framework is NIST AI 100-1 (January 2023). What each subcategory asks is said here in other words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report import tables
from evenhand.report.forms import parts
from evenhand.report.forms.annex_iv import ACCURACY
from evenhand.report.forms.document import Document, Section, Table
from evenhand.report.forms.parts import stated

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.report.forms.record import Record

_COVER = ("system", "version", "purpose", "author", "signer", "date", "data_source")
_NOTHING = "nothing: evidence must come from elsewhere"
_ASKS = {
    "MAP 1.1": "purpose, context, and who is affected are written down",
    "MAP 2.2": "limits of what the system knows, and how people use and oversee its output, are written down",
    "MAP 2.3": "how data was chosen, and whether it is suitable and representative",
    "MAP 5.1": "how likely and how large harms are",
    "MEASURE 1.1": "metrics are chosen for the risks that were found, and what is not measured is named",
    "MEASURE 1.3": "people who did not build the system assess it",
    "MEASURE 2.1": "test sets, metrics and tools are documented",
    "MEASURE 2.2": "evaluations represent the people concerned",
    "MEASURE 2.3": "performance is measured under conditions like those of use",
    "MEASURE 2.5": "validity, reliability, and limits to generalising are shown",
    "MEASURE 2.9": "the model is explained and its output interpreted",
    "MEASURE 2.11": "fairness and bias are evaluated and documented",
    "MEASURE 2.13": "the evaluation itself is evaluated",
    "MEASURE 3.1": "risks are tracked over time",
    "MANAGE 1.3": "responses to high risks are planned",
    "MANAGE 4.1": "the system is monitored after it is put to use",
}
"""The subcategories that an audit touches, or that its readers look for, in our words."""


def content(audit: Audit, record: Record) -> Document:
    """The form."""
    evidence = _evidence(audit, record)
    table = Table(
        "Subcategories",
        ("subcategory", "what it asks", "evidence in this audit"),
        tuple((name, asks, evidence.get(name, _NOTHING)) for name, asks in _ASKS.items()),
        sentences=True,
        notes=("Subcategories that are not named here are not touched by an audit of counts.",),
    )
    return Document(
        parts.title(audit, "Crosswalk to the NIST AI Risk Management Framework"),
        (
            "What of the core of NIST AI 100-1 (version 1.0, January 2023) this audit gives evidence for. It certifies "
            "nothing.",
        ),
        (*parts.cover_terms(audit, _COVER), *parts.verdict_term(audit)),
        (
            Section("Map, measure, manage", tables=(table,)),
            Section(
                "Figures (MEASURE 2.3, 2.5 and 2.11)",
                terms=parts.role_terms(audit),
                tables=(
                    *parts.finding_tables(audit, audit.findings, "Differences between groups"),
                    *(parts.measure_tables(audit, ACCURACY, "Performance") if audit.cube.has_labels else ()),
                ),
                points=parts.counted_notes(audit),
            ),
            Section("Limits (MAP 2.2, MEASURE 1.1)", points=parts.limits(audit)),
            *parts.rule_section(audit),
            parts.integrity(record),
        ),
    )


def _evidence(audit: Audit, record: Record) -> dict[str, str]:
    """What the audit shows for each subcategory; those that are not here are not touched by it."""
    cover = audit.cover
    metrics = ", ".join(dict.fromkeys(finding.title for finding in audit.findings))
    judged = sum(audit.decides(finding) and finding.threshold is not None for finding in audit.findings)
    decide = "decides" if judged == 1 else "decide"
    labelled = "with labels" if audit.cube.has_labels else "without labels, so that no performance is measured"
    groups = ", ".join(f"{name} ({len(audit.counts(name).groups)} groups)" for name in audit.meaning.sensitive)
    sure = f"{audit.policy.confidence:.0%}"
    tested = f"{len(audit.findings)} findings, each with an interval at {sure}; verdict: {audit.verdict}"
    fragile = sum(tables.sensitivity(finding) is not None for finding in audit.findings)
    hidden = f"; what missing labels or groups could hide, of {fragile} findings" if fragile else ""
    represented = "whether they represent the population is not known from counts"
    return {
        "MAP 1.1": stated(cover, "purpose"),
        "MAP 2.2": stated(cover, "limits"),
        "MAP 2.3": stated(cover, "data_source"),
        "MAP 5.1": f"gaps between groups with intervals, {judged or 'none'} of which {decide}; no costs of errors",
        "MEASURE 1.1": metrics,
        "MEASURE 1.3": stated(cover, "author"),
        "MEASURE 2.1": f"SHA-256 of the counts {record.cube}; evenhand {record.evenhand}",
        "MEASURE 2.2": f"{audit.cube.size:,} people by {groups}; {represented}",
        "MEASURE 2.3": f"performance by group, {labelled}; kind of data: {stated(cover, 'data_kind')}",
        "MEASURE 2.5": f"{tested}{hidden}",
        "MEASURE 2.11": tested,
        "MEASURE 2.13": "this form can be verified: every figure is computed again from the counts",
        "MEASURE 3.1": "one audit; evenhand watch tracks many",
    }
