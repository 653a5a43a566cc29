"""All of an audit as text: a finding takes one line of 80 columns, and its groups another."""

from __future__ import annotations

import re

import pytest

import evenhand as eh
from evenhand.report import tables
from evenhand.report.text import Screen
from evenhand.report.text import details as text
from support import hostile

COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}


def compas(**arguments: object) -> eh.Audit:
    return eh.audit(eh.datasets.compas(), **COMPAS, **{"sensitive": ["race", "sex"], "metrics": "all", **arguments})


@pytest.mark.parametrize("width", [80, 100, 119])
def test_no_line_is_longer_than_a_narrow_screen(width):
    assert max(map(len, text.plain(compas(), Screen(width)).splitlines())) <= width


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252", "cp437"])
def test_a_finding_takes_one_line_of_80_columns_and_its_groups_another(encoding):
    """Verdict, value and limit stand in the line of the finding; the two groups beside or below them."""
    told = text.plain(compas(), Screen(80, encoding))
    for line in text.plain(compas(), Screen(200)).splitlines():
        cells = [cell for cell in line.split("  ") if cell.strip()]
        if not line.startswith(" ") or not line.rstrip().endswith(("fail", "pass", "inconclusive", "judged")):
            continue
        metric, value, verdict = cells[0].strip(), cells[1].strip(), cells[-1].strip()
        shown = [row for row in told.splitlines() if row.startswith(f" {metric[:20]}") and value in row]
        assert shown, line
        assert all(row.rstrip().endswith(("fail", "pass", "inconclusive", "not judged")) for row in shown)
        assert any(row.rstrip().endswith(verdict) for row in shown)


def test_a_row_of_80_columns_takes_two_lines_at_most():
    told = text.plain(compas(), Screen(80)).splitlines()
    rows = [i for i, line in enumerate(told) if line.startswith(" equalized_odds ")]
    assert len(rows) == 3
    for i in rows:
        assert told[i + 1].startswith("   ")
        assert " | " in told[i + 1]
        assert told[i + 2].split()[-1] in ("fail", "inconclusive")
    groups = told[next(i for i, line in enumerate(told) if line.startswith(" race  ")) :]
    names = [line.split()[0] for line in groups[2:14:2]]
    assert names == ["African-", "Asian", "Caucasian", "Hispanic", "Native", "Other"]


@hostile.every_name
def test_hostile_names_on_a_narrow_screen(name):
    roles = {"label": hostile.LABEL, "prediction": hostile.DECISION, "metrics": ["demographic_parity"]}
    found = eh.audit(hostile.as_group(name), sensitive=hostile.GROUP, **roles)
    for encoding in ("utf-8", "ascii"):
        told = text.plain(found, Screen(80, encoding))
        assert hostile.unseen(told) == set()
        told.encode(encoding)


# --- Exact complements


def test_exact_complements_take_one_line_together():
    told = " ".join(text.plain(compas(sensitive="sex"), Screen(80)).split())
    assert "The same gaps, of exact complements: false_discovery_rate_parity as predictive_parity, " in told
    assert "error_rate_parity as overall_accuracy_equality" in told
    assert "false_negative_rate_parity as equal_opportunity" in told


def test_complements_that_are_judged_otherwise_have_their_own_line():
    found = compas(sensitive="sex", policy=eh.Policy(thresholds={"false_negative_rate_parity": 0.02}))
    kept, same = tables.folded(found, found.findings)
    assert "false_negative_rate_parity" in {finding.metric for finding in kept}
    assert "error_rate_parity as" in same


def test_a_complement_that_decides_is_not_folded():
    found = compas(sensitive="sex", policy=eh.Policy(required=["false_negative_rate_parity"]))
    kept, _ = tables.folded(found, found.findings)
    assert "false_negative_rate_parity" in {finding.metric for finding in kept}


def test_over_how_many_tests_p_values_are_corrected():
    core, every = (eh.audit(eh.datasets.compas(), **COMPAS, sensitive="sex", metrics=said) for said in (None, "all"))
    said = [
        re.search(r"P-values are corrected \(holm\) over (\d+) different tests", found.details())
        for found in (core, every)
    ]
    assert [int(match[1]) for match in said] == [11, 36]
    assert core.findings[0].p_value == every.findings[0].p_value
    assert core.findings[0].p_adjusted <= every.findings[0].p_adjusted
