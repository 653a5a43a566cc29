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


def searched(**arguments: object) -> eh.Finding:
    within = ["race", "sex", "age"]
    return eh.search(eh.datasets.compas(), within=within, metric="false_positive_rate", **COMPAS, **arguments)


def test_where_a_search_comes_first_the_groups_are_those_that_it_lists():
    """And not those which the counts of its columns make, of which none may be among them."""
    policy = Policy(required=["predictive_equality", "search"], thresholds={"predictive_equality": 0.9})
    found = compas(policy=policy).add(finding := searched(policy=policy))
    assert glance.leading(found)[0].metric == "search"
    table = glance.groups(found, glance.leading(found), 3)
    panel = finding.panels[0]
    lines = [dict(zip(panel.columns, row, strict=True)) for row in panel.rows[:3]]
    assert table.names == tuple(line["group"] for line in lines)
    assert table.people == tuple(line["measured on"] for line in lines)
    titles = ["gap, points", "false positive rate, %", "everyone else, %"]
    assert [column.title for column in table.columns] == titles
    assert table.columns[0].cells[0] == "+{:.1f} [{:.1f}, {:.1f}]".format(
        *(100 * lines[0][name] for name in ("gap", "low", "high"))
    )
    assert table.columns[1].cells[0] == f"{100 * lines[0]['false positive rate']:.1f}"
    assert sum(table.left_out.values()) == len(panel.rows) - 3


def test_where_another_finding_comes_first_a_search_adds_no_groups():
    policy = Policy(required=["predictive_equality", "search"], thresholds={"search": 0.9})
    found = compas(policy=policy).add(searched(policy=policy))
    table = glance.groups(found, glance.leading(found), 12)
    assert set(table.names) <= {*(group[0] for name in ("race", "sex") for group in found.counts(name).groups)}


def test_gaps_of_scores_are_listed_in_their_own_unit_and_bins_are_named():
    data = eh.datasets.compas()
    calibrated = {"label": "recidivated", "score": data["decile"] / 10, "count": "count"}
    finding = eh.search(data, within=["race", "sex"], metric="calibration", bins=5, **calibrated)
    found = eh.audit(data, sensitive="race", policy=Policy(required=["search"]), **calibrated).add(finding)
    table = glance.groups(found, glance.leading(found), 5)
    assert [column.title for column in table.columns] == [
        "gap, points", "scores", "observed rate, %", "its mean score, %",
    ]  # fmt: skip
    assert " to " in table.columns[1].cells[0]
