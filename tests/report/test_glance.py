"""What comes first in an audit: findings, groups and notes."""

from __future__ import annotations

import pytest

import evenhand as eh
from conftest import ROOT
from evenhand.report import glance
from evenhand.verdicts.policy import Policy

COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}


def compas(**arguments: object) -> eh.Audit:
    return eh.audit(eh.datasets.compas(), **COMPAS, **{"sensitive": ["race", "sex"], **arguments})


@pytest.mark.parametrize("beginning", [*glance.GRAVE, *glance.MINOR])
def test_the_beginnings_of_notes_are_those_of_notes(beginning):
    """A note that is written otherwise would lose its place unseen."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "evenhand").rglob("*.py")]
    own = (ROOT / "src/evenhand/report/glance.py").read_text(encoding="utf-8")
    assert any(f'"{beginning}' in text or beginning.rstrip() in text for text in sources if text != own)


def test_what_decides_comes_first_and_what_fails_before_the_rest():
    assert [(each.attributes, each.verdict) for each in glance.leading(compas())] == [
        (("race",), "fail"),
        (("sex",), "pass"),
    ]
    unjudged = glance.leading(compas(policy=Policy(required=())))
    assert {each.attributes for each in unjudged} == {("race",)}


@pytest.mark.parametrize("most", [2, 4, 6, 8, 20])
def test_groups_are_shared_out_between_sets(most):
    found = compas()
    table = glance.groups(found, glance.leading(found), most)
    assert table.names[:2] == ("African-American", "Caucasian")
    assert len(table.names) == min(most, 8) if most > 2 else 2
    assert sum(table.left_out.values()) == (8 if most > 2 else 6) - len(table.names)


def test_the_cells_are_those_of_the_findings():
    found = compas()
    table = glance.groups(found, glance.leading(found), 8)
    finding = found.findings[0]
    shown = {
        row.group[0]: f"{100 * row.estimate.value:.1f} [{100 * row.estimate.low:.1f}, {100 * row.estimate.high:.1f}]"
        for row in finding.groups
        if row.measure == "false_positive_rate"
    }
    assert table.columns[0].title == "FPR, %"
    assert dict(zip(table.names[:6], table.columns[0].cells[:6], strict=True)) == shown
    assert sum(table.people[:6]) == sum(table.people[6:]) == 7214


def test_intervals_made_of_draws_are_those_of_the_findings():
    found = compas(sensitive="sex", interval="percentile", draws=200)
    table, (finding, *_) = glance.groups(found, glance.leading(found), 8), found.findings
    row = next(each for each in finding.groups if each.group == ("Male",) and each.measure == "true_positive_rate")
    at = table.names.index("Male")
    titles = [column.title for column in table.columns]
    cell = table.columns[titles.index("TPR, %")].cells[at]
    assert cell == f"{100 * row.estimate.value:.1f} [{100 * row.estimate.low:.1f}, {100 * row.estimate.high:.1f}]"
