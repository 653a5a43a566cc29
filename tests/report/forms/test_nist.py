"""The crosswalk to the AI Risk Management Framework names what an audit shows, and what it does not."""

from __future__ import annotations

import re

import evenhand as eh
from evenhand.report import forms
from evenhand.report.forms.nist import content
from evenhand.report.forms.record import Record


def test_evidence_and_its_absence():
    cover = {"purpose": "Ranks people.", "author": "Example Audits Ltd"}
    audit = eh.audit(prediction=[1, 0, 1, 1] * 40, sensitive=list("aabb") * 40, policy=eh.Policy(cover=cover))
    record, computed = Record.of(audit, "nist")
    (table,) = content(computed, record).sections[0].tables
    told = {row[0]: row[2] for row in table.rows}
    assert all(re.fullmatch(r"(MAP|MEASURE|MANAGE) \d\.\d+", name) for name in told)
    assert told["MAP 1.1"] == "Ranks people."
    assert told["MEASURE 1.3"] == "Example Audits Ltd"
    assert told["MAP 2.2"] == "not stated"
    assert told["MEASURE 2.9"] == "nothing: evidence must come from elsewhere"
    assert told["MEASURE 2.11"] == f"{len(audit.findings)} findings, each with an interval at 95%; verdict: fail"
    assert record.cube in told["MEASURE 2.1"]
    assert "It certifies nothing." in forms.dumps(audit, "nist", ".html")


def test_where_no_threshold_decides_no_gap_is_said_to():
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    said = {}
    for policy in ("health", "four-fifths", None):
        audit = eh.audit(eh.datasets.compas(), **roles, policy=policy)
        record, computed = Record.of(audit, "nist")
        (table,) = content(computed, record).sections[0].tables
        said[policy] = next(row[2] for row in table.rows if row[0] == "MAP 5.1")
    assert said == {
        "health": "gaps between groups with intervals, none of which decide; no costs of errors",
        "four-fifths": "gaps between groups with intervals, 2 of which decide; no costs of errors",
        None: "gaps between groups with intervals, 2 of which decide; no costs of errors",
    }
