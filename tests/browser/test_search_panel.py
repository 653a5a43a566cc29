"""The groups that a search lists, and the parts of a gap, on the page: whole names, in points, on a phone too."""

from __future__ import annotations

import pandas as pd
import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.datasets import berkeley, compas
from evenhand.report import page as html

ROLES = {"data": compas(), "label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
BERKELEY = {
    "data": berkeley(),
    "prediction": "admitted",
    "sensitive": "gender",
    "control": "department",
    "count": "count",
}
WIDTHS = [1280, 390]


@pytest.fixture(scope="module")
def made() -> str:
    metric = "false_positive_rate"
    found = eh.search(**ROLES, within=["race", "sex", "age"], metric=metric)
    between = ("African-American", "Caucasian")
    parts = eh.explain(**ROLES, metric="predictive_equality", sensitive="race", control="age", between=between)
    return html.dumps(eh.audit(**ROLES, sensitive="race").add(found, parts))


def line(page, metric: str, attribute: int):
    """The line of a finding, opened, under the attributes at this place."""
    page.go("metrics")
    page.tab.locator(".attribute input").nth(attribute).check(force=True)
    page.frame()
    found = page.tab.locator(f'#lines details.metric[data-metric="{metric}"]')
    found.locator("summary").first.click()
    page.frame()
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_groups_have_their_whole_names_and_gaps_are_in_points(opened, made, width):
    found = line(opened(made, width=width), "search", 1)
    assert "30.3 points" in found.locator("summary .value").first.inner_text()
    panel = found.locator("figure.panel").first
    names = panel.locator("svg text").all_text_contents()
    name = "race = African-American, age = under 25"
    assert f"{name}{name}" in names  # as it is read, and as a title
    assert "gap, points" in panel.inner_text()
    panel.locator("details.twin summary").click()
    panel.locator("th[scope=col]").first.wait_for()  # a box that opens draws what is in it a moment later
    head = panel.locator("th[scope=col]").all_inner_texts()
    assert head[:3] == ["group", "people", "measured on"]
    assert {"false positive rate, %", "gap, points", "shrunken gap, points"} <= set(head)
    drawn = panel.locator("svg.plot").bounding_box()
    letters = panel.locator("svg.plot text").first.bounding_box()
    assert drawn["width"] <= width
    assert letters["height"] >= 10  # not shrunk with the picture


@pytest.mark.parametrize("width", WIDTHS)
def test_parts_of_a_gap_are_in_points(opened, made, width):
    found = line(opened(made, width=width), "explain", 0)
    assert "points" in found.locator("summary .value").first.inner_text()
    head = found.locator("figure.panel").nth(1).locator("th[scope=col]").all_inner_texts()
    assert head == ["stratum", "share, %", "share of other, %", "rate, %", "rate of other, %", "gap, points"]


@pytest.mark.parametrize("width", WIDTHS)
def test_where_nothing_decides_the_parts_of_a_gap_stand_on_the_summary(opened, width, tmp_path):
    table, saved = tmp_path / "admissions.csv", tmp_path / "page.html"
    pd.DataFrame(berkeley()).to_csv(table, index=False)
    named = {name: value for name, value in BERKELEY.items() if name != "data"}
    options = [word for name, value in named.items() for word in (f"--{name}", value)]
    assert run(["explain", str(table), *options, "--output", str(saved), "--quiet"]) == 0
    finding = eh.explain(**BERKELEY)
    page = opened(saved.read_text(encoding="utf-8"), width=width)
    picture = page.tab.locator("#picture")
    assert picture.locator("h2").inner_text() == f"What was found {finding.title}"
    assert picture.locator("figure.panel h4").all_inner_texts() == ["From Female to Male in the selection rate"]
    drawn = picture.locator("svg")
    assert all(row[0] in " ".join(drawn.locator("text").all_text_contents()) for row in finding.panels[0].rows)
    assert drawn.bounding_box()["width"] <= width
    judged = eh.audit(**{**BERKELEY, "control": None}).add(finding)
    page = opened(html.dumps(judged), width=width)
    assert page.tab.locator("#picture h2").inner_text().startswith("The groups behind it")


@pytest.mark.parametrize("width", WIDTHS)
def test_where_a_search_decides_its_groups_stand_behind_the_verdict(opened, width):
    finding = eh.search(**ROLES, within=["race", "sex", "age"], metric="false_positive_rate")
    audit = eh.audit(**ROLES, sensitive=["race", "sex", "age"], policy=eh.Policy(required=["search"])).add(finding)
    page = opened(html.dumps(audit), width=width)
    picture = page.tab.locator("#picture")
    assert picture.locator("figure.panel h4").all_inner_texts() == [panel.title for panel in finding.panels[:2]]
    for figure, panel in zip(picture.locator("figure.panel").all(), finding.panels, strict=False):
        names = figure.locator("svg text").all_text_contents()
        assert all(any(row[0] in name for name in names) for row in panel.rows)
        assert figure.locator("svg.plot").bounding_box()["width"] <= width
    assert page.tab.locator("#verdict dd").nth(2).inner_text().startswith("Of 41 groups, 18 are open, such as ")
