"""How to read a report: its figures are those of the reports in its pictures, and it explains what they can show."""

from __future__ import annotations

import pytest

import learn_pictures
from conftest import ROOT
from evenhand.report.page import static
from evenhand.report.summary import summary
from evenhand.verdicts.verdict import ORDER

PAGE = " ".join((ROOT / "docs/learn/reading-a-report.md").read_text(encoding="utf-8").split())
TABS = {
    title
    for made, strata in ((learn_pictures.demo, False), (learn_pictures.berkeley, True))
    for title in static.tabs(made(), strata=strata, counted=True).values()
}


def test_the_figures_of_the_first_screen_are_those_of_the_demo():
    audit = learn_pictures.demo()
    found, sex = summary(audit).found, audit["equalized_odds", "sex"].value
    for figure in ("44.8 %", "23.5 %", "1,795", "1,488", "21.4 points", "16.0 to 24.0"):
        assert figure in PAGE
        assert figure in found
    race = audit["equalized_odds", "race"].evidence.difference
    value, low, high = (f"{100 * part:.1f}" for part in (race.value, race.low, race.high))
    assert f"from {value} down to {low}, and up to {high} only" in PAGE
    assert f"44.8 % of 1,795 are about {0.448 * 1795:.0f} people" in PAGE
    assert f"{100 * sex.high:.1f} points, not {100 * sex.value:.1f}" in PAGE


def test_the_group_that_is_not_named_is_as_the_page_says():
    """Farther apart than the named pair, and beyond the threshold too; the verdict rests on the surer pair."""
    rates = {row.group[0]: row for row in learn_pictures.demo()["predictive_equality", "race"].groups}
    named, other = rates["African-American"], rates["Other"]
    assert f"the rate is {100 * other.estimate.value:.1f} % in the group" in PAGE
    assert f'"Other" has {other.n} people' in PAGE
    assert f"That gap is {100 * (named.estimate.value - other.estimate.value):.0f} points" in PAGE
    assert named.estimate.low - other.estimate.high > 0.1


def test_the_figures_of_the_strata_are_those_of_berkeley():
    found = summary(learn_pictures.berkeley()).found
    for figure in ("30.4 %", "44.5 %", "14.2 points", "4.3 points"):
        assert figure.replace(" points", "") in PAGE
        assert figure in found
    assert "Simpson's paradox" in found
    assert "in 4 of 6 strata" in found
    assert "In four departments women" in PAGE


def test_the_alarm_is_on_the_day_that_the_page_names():
    assert f"The alarm is on {learn_pictures.twelve_days().alarm}," in PAGE


def test_the_evidence_begins_near_a_half_and_rises_late():
    """Flat while nothing shows a gap; the first days of one add little, and a clearly smaller gap lowers it."""
    points = learn_pictures.twelve_days().series[0].points
    values, gaps = [point.e_value for point in points], [point.value.value for point in points]
    assert values[0] == pytest.approx(0.5, abs=0.05)
    assert max(values[:5]) / min(values[:5]) < 1.2
    assert values[6] < 2 < 20 < values[8]
    fallen = [i for i in range(8, len(values)) if values[i] < values[i - 1]]
    assert all(gaps[i] < gaps[i - 1] for i in fallen)


@pytest.mark.parametrize("verdict", ORDER)
def test_each_verdict_has_its_meaning(verdict: str):
    assert f"| **{verdict}** |" in PAGE
    assert verdict == "not judged" or f"## After a{'n' * (verdict[0] in 'aeiou')} {verdict} " in PAGE


@pytest.mark.parametrize("tab", sorted(TABS))
def test_each_tab_is_described(tab: str):
    assert f"| {tab} |" in PAGE or f"the tab is called *{tab}*" in PAGE
