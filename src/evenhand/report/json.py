"""An audit as plain data. Undefined is null with its reason; a group is a list of values, null where missing."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evenhand.findings import Estimate, Finding, Row

if TYPE_CHECKING:
    from evenhand.auditing import Audit

FORMAT = "evenhand-audit"
FORMAT_VERSION = 1


def dumps(audit: Audit) -> str:
    """The audit as JSON text in plain ASCII, so that no name can reach a terminal as more than a name."""
    text = json.dumps(as_dict(audit), indent=1, ensure_ascii=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"


def as_dict(audit: Audit) -> dict[str, Any]:
    """Everything an audit says, without the rows that it never kept."""
    from evenhand import __version__

    meaning = asdict(audit.cube.meaning)
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "evenhand": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "verdict": audit.verdict,
        "required": list(audit.required),
        "policy": _plain(asdict(audit.policy)),
        "data": {"rows": audit.cube.size, **_plain(meaning)},
        "findings": [finding(found, required=audit.decides(found)) for found in audit.findings],
        "notes": list(audit.notes),
    }


def finding(found: Finding, *, required: bool = False) -> dict[str, Any]:
    return {
        "metric": found.metric,
        "title": found.title,
        "attributes": list(found.attributes),
        "required": required,
        "verdict": found.verdict,
        "passes": found.passes,
        "judged_on": found.judged_on,
        "threshold": found.threshold,
        "value": _estimate(found.value),
        "difference": _estimate(found.difference),
        "ratio": _estimate(found.ratio),
        "highest": found.highest,
        "lowest": found.lowest,
        "interpretation": found.interpretation,
        "p_value": found.p_value,
        "p_adjusted": found.p_adjusted,
        "tested": found.tested,
        "sample": None if found.sample is None else _plain(asdict(found.sample)),
        "notes": list(found.notes),
        "settings": _plain(found.settings),
        "unit": found.unit,
        "panels": [_plain(asdict(panel)) for panel in found.panels],
        "rows": [_row(row) for row in found.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    shown = {
        "measure": row.measure,
        "bin": None if row.bin is None else list(row.bin),
        "stratum": list(row.stratum),
        "group": list(row.group),
        "against": row.against,
        "n": row.n,
        "estimate": _estimate(row.estimate),
        "difference": _estimate(row.difference),
        "ratio": _estimate(row.ratio),
        "p_value": row.p_value,
        "p_adjusted": row.p_adjusted,
        "reason": row.reason,
    }
    return {key: value for key, value in shown.items() if value is not None and value != []}


def _estimate(value: Estimate | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"value": _number(value.value), "low": _number(value.low), "high": _number(value.high)}


def _number(value: float | None) -> float | str | None:
    """JSON has no infinity: it is spelled out. Undefined is null."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "infinite" if value > 0 else "-infinite"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return _number(value) if isinstance(value, float) else value
