"""Accuracy, robustness and data governance for a technical file under Annex IV of the AI Act of the European Union.

An audit of counts fills points 2(d), 2(g), 3 and 4 of the annex as far as figures go. What it cannot fill is named.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.core.wording import distance
from evenhand.report import tables
from evenhand.report.forms import parts
from evenhand.report.forms.document import Document, Section, Table

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.core.results import Sample
    from evenhand.report.forms.record import Record

ACCURACY = (
    "accuracy", "balanced_accuracy", "true_positive_rate", "false_positive_rate", "positive_predictive_value",
    "negative_predictive_value", "f1", "auc", "brier_score", "log_loss", "calibration_error",
    "macro_true_positive_rate", "macro_positive_predictive_value", "mean_residual", "mean_absolute_error",
    "root_mean_squared_error", "r_squared",
)  # fmt: skip
DATA = ("base_rate", "selection_rate", "mean_score", "mean_outcome", "mean_prediction")
_COVER = ("system", "version", "purpose", "author", "date", "signer")
_NOT_HERE = (
    "Points 1(b) to 1(h), 2(a) to 2(c), 2(e), 2(f) and 2(h), and points 5 to 9 of Annex IV: design, training, "
    "oversight, risk management, changes, standards, declaration of conformity, post-market monitoring.",
    "Robustness against errors, faults, attacks and feedback loops (Article 15(4) and (5)): not tested by counts.",
    "Whether the data was lawfully collected and may be used to look for bias (Article 10(5)).",
)


def content(audit: Audit, record: Record) -> Document:
    """The form."""
    return Document(
        parts.title(audit, "Technical documentation, figures of accuracy, robustness and data governance"),
        (
            "Parts of a technical file under Article 11 and Annex IV of Regulation (EU) 2024/1689, computed from "
            "counts. A figure that has an interval stands with it.",
        ),
        (*parts.cover_terms(audit, _COVER), *parts.verdict_term(audit)),
        (
            _governance(audit),
            _accuracy(audit),
            _robustness(audit),
            _impacts(audit),
            _appropriateness(audit),
            Section("Limits (Annex IV, point 3)", points=parts.limits(audit)),
            Section("Not in this document", points=_NOT_HERE),
            *parts.rule_section(audit),
            parts.integrity(record),
        ),
    )


def _governance(audit: Audit) -> Section:
    meaning = audit.meaning
    found = [finding for finding in audit.findings if finding.metric == "base_rate_parity"]
    terms = [
        *parts.cover_terms(audit, ("data_source", "data_kind")),
        ("People", f"{audit.cube.size:,}"),
        *parts.role_terms(audit),
        ("Groups by", ", ".join(meaning.sensitive)),
        ("Strata by", ", ".join(meaning.control) or "nothing"),
    ]  # fmt: skip
    shares = parts.measure_tables(audit, DATA, "Data")
    examined = parts.finding_tables(audit, found, "Differences in the data itself")
    return Section(
        "Data and data governance (Article 10; Annex IV, point 2(d))",
        ("The data that was examined, by group: how many people, and how often label and prediction are positive.",),
        tuple(terms),
        (*shares, *examined),
        parts.counted_notes(audit),
    )


def _accuracy(audit: Audit) -> Section:
    lead = "The level of accuracy for everyone and for each group, with intervals that hold for all groups together."
    return Section(
        "Accuracy (Article 15; Annex IV, points 2(g) and 3)",
        (lead,) if audit.cube.has_labels else ("Without labels no accuracy can be computed.",),
        tables=parts.measure_tables(audit, ACCURACY, "Accuracy") if audit.cube.has_labels else (),
    )


def _robustness(audit: Audit) -> Section:
    """What the sample can show, and what missing labels and groups could hide."""
    rows, said = [], []
    for finding in audit.findings:
        on = " × ".join(finding.attributes)
        if (sample := finding.sample) is not None:
            more = "-" if sample.rows_to_settle is None else f"{sample.rows_to_settle:,}"
            rows.append((finding.title, on, *_gaps(sample, finding.unit), more))
        found = tables.sensitivity(finding)
        said += [f"{finding.title} by {on}: {text}" for text in (found.sentences if found else ())]
        if finding.left_out:
            said.append(f"{finding.title} by {on}: too small to support a pass: {', '.join(finding.left_out)}.")
    columns = ("metric", "by", "gap by chance alone", "smallest gap that would be found", "rows to settle it")
    note = (
        "The smallest gap that 80 of 100 samples of this size would find, or “none”, however large it is; rows in all "
        "that would probably settle it."
    )
    table = Table("What a sample of this size can show", columns, tuple(rows), 2, (note,))
    return Section(
        "Robustness of the figures (Article 15; Annex IV, point 2(g))",
        ("How far chance, missing labels and missing groups could move the figures.",),
        tables=(table,) if rows else (),
        points=tuple(dict.fromkeys(said)) or ("No label and no group is missing.",),
    )


def _gaps(sample: Sample, unit: str) -> tuple[str, str]:
    """The gap by chance alone, and the smallest that would be found, which is none among too few people."""
    if math.isnan(sample.expected_gap):
        return "undefined", "undefined"
    found = "none" if math.isnan(sample.detectable_gap) else distance(sample.detectable_gap, unit)
    return distance(sample.expected_gap, unit), found


def _impacts(audit: Audit) -> Section:
    return Section(
        "Potentially discriminatory impacts (Annex IV, point 2(g); Article 10(2)(f))",
        parts.sentences(audit),
        tables=parts.finding_tables(audit, audit.findings, "Differences between groups"),
        points=tuple(
            dict.fromkeys(
                f"{each.title} by {' × '.join(each.attributes)}: {note}"
                for each in audit.findings
                for note in each.notes
            )
        ),
    )


def _appropriateness(audit: Audit) -> Section:
    return Section(
        "Appropriateness of the metrics (Annex IV, point 4)", tables=(parts.metric_table(audit, limits=True),)
    )
