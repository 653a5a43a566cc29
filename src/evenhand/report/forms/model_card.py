"""A model card, after Mitchell and others (2019), with the metadata block that Hugging Face reads above a README.md.

The block holds what was measured, as a model-index: metrics of everyone, and the gaps between groups. A licence, a
language and names of datasets are for the makers of the model to add; nothing is made up here.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from evenhand.core.wording import clean
from evenhand.report.forms import parts
from evenhand.report.forms.annex_iv import ACCURACY, DATA
from evenhand.report.forms.document import Document, Section

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.report.forms.record import Record

_TASKS = {
    "binary": "tabular-classification",
    "multiclass": "tabular-classification",
    "regression": "tabular-regression",
}
_NOT_HERE = (
    "Training data: an audit sees the people on whom the model was evaluated, and nobody else.",
    "Ethical considerations, uses that are out of scope, and the licence: for the makers of the model to add.",
)
_DETAILS = ("system", "version", "author", "date", "signer")


def content(audit: Audit, record: Record) -> Document:
    """The form."""
    cover = audit.cover
    return Document(
        parts.title(audit, "Model card"),
        (parts.people(audit),),
        (*parts.cover_terms(audit, _DETAILS), *parts.verdict_term(audit)),
        (
            Section("Intended use", (cover.purpose or f"{parts.NOT_STATED.capitalize()}.",)),
            Section("Factors", (f"Groups by {', '.join(' × '.join(names) for names in audit.counted_sets)}.",)),
            Section(
                "Evaluation data",
                terms=(*parts.cover_terms(audit, ("data_source", "data_kind")), *parts.role_terms(audit)),
                tables=parts.measure_tables(audit, DATA, "Data"),
                points=parts.counted_notes(audit),
            ),
            Section("Metrics", tables=(parts.metric_table(audit, limits=False),)),
            Section(
                "Performance by group",
                tables=parts.measure_tables(audit, ACCURACY, "Performance") if audit.cube.has_labels else (),
            ),
            Section(
                "Differences between groups",
                parts.sentences(audit),
                tables=parts.finding_tables(audit, audit.findings, "Findings"),
            ),
            Section("Caveats and limits", points=parts.limits(audit)),
            Section("Not in this card", points=_NOT_HERE),
            *parts.rule_section(audit),
            parts.integrity(record),
        ),
        front(audit),
    )


def front(audit: Audit) -> str:
    """The metadata block, in YAML: every text in the quotes of JSON, which YAML reads too."""
    metrics = [*_overall(audit), *_gaps(audit)]
    name = audit.cover.system or audit.cover.title or "model"
    dataset = {"type": "tabular", "name": audit.cover.data_source or audit.origin.get("source") or "evaluation data"}
    lines = ["---", "tags:", '- "evenhand"', '- "fairness"', "model-index:", f"- name: {_text(name)}", "  results:"]
    lines += ["  - task:", f"      type: {_text(_TASKS[audit.meaning.task])}", "    dataset:"]
    lines += [f"      {key}: {_text(value)}" for key, value in dataset.items()]
    lines += ["    metrics:"] + [line for each in metrics for line in _entry(each)] if metrics else ["    metrics: []"]
    return "\n".join([*lines, "---"])


def _entry(metric: dict[str, Any]) -> list[str]:
    told = [f"{key}: {_text(value) if isinstance(value, str) else json.dumps(value)}" for key, value in metric.items()]
    return [f"    - {told[0]}", *(f"      {line}" for line in told[1:])]


def _overall(audit: Audit) -> list[dict[str, Any]]:
    first = audit.counted_sets[0]
    found = [each for each in audit.measures(first, together=True) if each.measure.name in ACCURACY]
    return [
        {"type": each.measure.name, "value": float(each.values[0]), "name": each.measure.title}
        for each in found
        if math.isfinite(each.values[0])
    ]


def _gaps(audit: Audit) -> list[dict[str, Any]]:
    """The value of each finding that the card shows, with its ends and its verdict in the name."""
    return [
        {
            "type": finding.metric,
            "value": finding.shown.value,
            "name": f"{finding.title} by {' × '.join(finding.attributes)}: {parts.figure(finding)}, {finding.verdict}",
        }
        for finding in audit.findings
        if math.isfinite(finding.shown.value)
    ]


def _text(text: str) -> str:
    return json.dumps(clean(text))
