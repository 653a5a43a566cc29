"""An audit as plain data. Undefined is null with its reason; a group is a list of values, null where missing.

The form is described by schema.json, which has the version of the form in it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from evenhand.catalogue import Metric
from evenhand.core import checksum, records
from evenhand.core.results import Finding, Row
from evenhand.core.version import __version__
from evenhand.cube import tables
from evenhand.report import tables as report_tables
from evenhand.report.results import results, results_data
from evenhand.report.summary import summary

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.verdicts.policy import Policy

FORMAT = "evenhand-audit"
FORMAT_VERSION = 1
MOST_GROUPS = 1_000
"""Of an attribute with more groups, JSON holds the measures that its findings compare, and no others."""
ORIGIN = ("source", "command", "settings")
"""What is known of where an audit comes from, besides when and by which version it was written."""


def schema() -> str:
    """The JSON Schema of this form, as text."""
    return files("evenhand.report").joinpath("schema.json").read_text(encoding="utf-8")


def dumps(audit: Audit, *, embed_cube: bool = True) -> str:
    """The audit as JSON text in plain ASCII, so that no name can reach a terminal as more than a name."""
    data = as_dict(audit, embed_cube=embed_cube)
    parts = [f'\n "{key}": {_encode(value, key)}' for key, value in data.items()]
    return f"{{{','.join(parts)}\n}}\n"


def _encode(value: Any, key: str) -> str:
    """Indented for people, but for the cells: those are many, and for programs."""
    text = json.dumps(value, indent=None if key in ("cube", "parts") else 1, ensure_ascii=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f").replace("\n", "\n ")


def as_dict(audit: Audit, *, embed_cube: bool = True) -> dict[str, Any]:
    """Everything an audit says, without the rows that it never kept; without the cube it cannot be loaded again."""
    told = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        checksum.KEY: "",
        **as_origin(audit),
        **{key: audit.origin[key] for key in ORIGIN if key in audit.origin},
        "cover": records.write(audit.cover.given()),
        "digests": content_digests(audit),
        "verdict": audit.verdict,
        "summary": records.write(summary(audit)),
        "required": list(audit.required),
        "policy": policy_data(audit.policy),
        "data": {"rows": audit.cube.size, **records.write(audit.meaning)},
        "findings": [finding_data(finding, required=audit.decides(finding)) for finding in audit.findings],
        "groups": results_data(each for each in results(audit) if len(each.groups) <= MOST_GROUPS),
        "notes": list(audit.notes),
        "sharing": _sharing(audit),
        "cube": tables.write(audit.cube) if embed_cube else None,
        "parts": [tables.write(part) for part in audit.parts] if embed_cube else [],
    }
    return {**told, checksum.KEY: checksum.of_record(told, **(digests(audit) if embed_cube else {}))}


def as_origin(audit: Audit) -> dict[str, str]:
    """By which version and when an audit was first written: now, where it was not yet."""
    return {
        "evenhand": audit.origin.get("evenhand", __version__),
        "created": audit.origin.get("created") or datetime.now(UTC).isoformat(timespec="seconds"),
    }


def content_digests(audit: Audit) -> dict[str, str]:
    """The SHA-256 of the counts of an audit (of the shared ones, where it is shared) and of its policy.

    They are those of the content, whatever the file: from CSV, where a number is text, they are as from Parquet. Of a
    policy they cover what differs from the defaults, and not the cover, so that a later version with more fields, and
    another title, have the same.
    """
    own = digests(audit, kinds=False)
    usual = policy_data(type(audit.policy)())
    told = {key: value for key, value in policy_data(audit.policy).items() if value != usual.get(key)}
    return {
        "cube": own["cube"] if not audit.parts else checksum.of_record(own),
        "policy": checksum.of_record(told),
    }


def digests(audit: Audit, *, kinds: bool = True) -> dict[str, Any]:
    """The checksums of the counts of an audit, which stand for them in its own."""
    cube, *parts = (tables.digest(each, kinds=kinds) for each in (audit.cube, *audit.parts))
    return {"cube": cube, "parts": parts}


def _sharing(audit: Audit) -> dict[str, Any]:
    """Whether the file may be shared, and what was left out of it for that."""
    told = {"shared": audit.sharing is not None, "note": full_counts(audit)}
    return told if audit.sharing is None else {**told, **records.write(audit.sharing)}


def full_counts(audit: Audit) -> str | None:
    """What a file for oneself says of its counts; None of an audit that was made to be shared."""
    if audit.sharing is not None:
        return None
    return (
        "This file is for yourself: it holds the full counts and results, of small groups too. To share the audit, "
        "save it with share=True (--share), which leaves out what would tell of few people."
    )


def policy_data(policy: Policy) -> dict[str, Any]:
    """A policy with every field; a metric of your own by its name."""
    told = {part: _named(getattr(policy, part.name)) for part in records.saved_fields(policy)}
    newer = {part.name for part, value in told.items() if value is None and part.metadata.get("newer")}
    return {part.name: records.write(value) for part, value in told.items() if part.name not in newer}


def _named(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(item.name if isinstance(item, Metric) else item for item in value)
    return value


def finding_data(finding: Finding, *, required: bool = False) -> dict[str, Any]:
    """A finding with every field, and with what its properties say."""
    apart = ("summary", "rows", "evidence")
    plain = [part.name for part in records.saved_fields(finding) if part.name not in apart]
    return {
        **{name: records.write(getattr(finding, name)) for name in plain},
        "required": required,
        "difference": records.write(finding.difference),
        "ratio": records.write(finding.ratio),
        "highest": finding.highest,
        "lowest": finding.lowest,
        "evidence": None if finding.evidence is None else _row(finding.evidence),
        "sensitivity": _sensitivity(finding) if required else None,
        "summary": _row(finding.summary),
        "rows": [_row(row) for row in finding.rows],
    }


def _sensitivity(finding: Finding) -> dict[str, Any] | None:
    """What missing labels and groups could hide, of a finding that decides; null where nothing is missing."""
    found = report_tables.sensitivity(finding)
    if found is None:
        return None
    rows = {name: [_row(row) for row in getattr(found, name)] for name in ("by_labels", "by_groups")}
    return {**records.write(found), **rows}


def _row(row: Row) -> dict[str, Any]:
    """Most fields of most rows are empty; those are left out."""
    record = records.write(row)
    return {key: value for key, value in record.items() if key == "group" or (value is not None and value != [])}
