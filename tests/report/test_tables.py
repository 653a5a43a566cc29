"""What all writers share: the header names what failed, what is inconclusive and what passed, wherever it stands."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

import pytest

import evenhand as eh
from evenhand.report import junit, markdown, page, tables
from evenhand.report.page import static
from evenhand.testing import assert_fair
from evenhand.verdicts.policy import Policy
from support import hostile

BOTH = ("equal_opportunity", "demographic_parity")


def people(n: int = 1000, **chosen: object) -> eh.Audit:
    """Labels and decisions such that equal opportunity holds and demographic parity does not."""
    cells = {("a", 1, 1): 0.4, ("a", 1, 0): 0.1, ("a", 0, 1): 0.05, ("a", 0, 0): 0.45,
             ("b", 1, 1): 0.08, ("b", 1, 0): 0.02, ("b", 0, 1): 0.09, ("b", 0, 0): 0.81}  # fmt: skip
    table = {
        "group": [group for group, _, _ in cells],
        "label": [label for _, label, _ in cells],
        "prediction": [prediction for _, _, prediction in cells],
        "count": [round(n * share) for share in cells.values()],
    }
    roles = {"label": "label", "prediction": "prediction", "sensitive": "group", "count": "count"}
    return eh.audit(table, **roles, metrics=BOTH, **chosen)


# The words in brackets, where one of two metrics failed.
ONE_OF_TWO = "failed: demographic_parity on group; passed: equal_opportunity on group"


def test_the_one_that_failed_is_named():
    found = people(10_000)
    assert [finding.verdict for finding in tables.deciding(found)] == ["fail", "pass"]
    assert tables.header(found) == f"Verdict: fail ({ONE_OF_TWO})"


def test_every_form_has_the_same_header():
    found = people(10_000)
    assert str(found).startswith(f"Verdict: fail ({ONE_OF_TWO})\n")
    assert markdown.dumps(found).replace("`", "").startswith(f"# Verdict: fail\n\nF{ONE_OF_TWO[1:]}.\n")
    properties = ElementTree.fromstring(junit.dumps(found)).iter("property")
    assert {each.get("name"): each.get("value") for each in properties}["outcomes"] == ONE_OF_TWO
    titles = ONE_OF_TWO.replace("_", " ")
    assert f"F{titles[1:]}." in html.unescape(re.sub("<.*?>", "", page.dumps(found)))
    assert f"<summary>Verdict: fail ({ONE_OF_TWO}) (as text)</summary>" in found.page()._repr_html_()
    with pytest.raises(AssertionError, match=re.escape(f"the audit fails ({ONE_OF_TWO})\n")):
        assert_fair(found)


def test_what_is_inconclusive_is_named():
    assert tables.header(people(40)) == (
        "Verdict: inconclusive (inconclusive: demographic_parity on group, equal_opportunity on group)"
    )


@pytest.mark.parametrize("counted", ["fail", "pass"])
def test_what_the_policy_counts_as_something_else_says_so(counted):
    told = tables.header(people(40, policy=Policy(inconclusive=counted)))
    assert told.startswith(f"Verdict: {counted} (inconclusive, which counts as a {counted} here: demographic_parity")


def test_what_is_not_judged_is_named():
    found = people(10_000, policy=Policy(required=BOTH, thresholds={"demographic_parity": None}))
    expected = "Verdict: pass (passed: equal_opportunity on group; not judged: demographic_parity on group)"
    assert tables.header(found) == expected


def test_nothing_is_named_where_nothing_decides():
    found = people(1000, policy=Policy(required=()))
    assert tables.header(found) == "Verdict: not judged"
    assert "No metric is required, so nothing is judged." in page.dumps(found)


def test_many_are_counted():
    required = ("equalized_odds", "equal_opportunity", "predictive_equality", "demographic_parity", "predictive_parity")
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    found = eh.audit(eh.datasets.compas(), **roles, policy=Policy(required=required, on="all"))
    told = tables.header(found)
    named = re.fullmatch(r"Verdict: fail \(failed: (.*?)(?:; [\w ]+: \d+)*\)", told)[1]
    assert re.fullmatch(r"\w+ on race, \w+ on race, \w+ on race and \d+ more", named)
    counts = [int(number) for number in re.findall(r"\d+", told)]
    assert sum(counts) + 3 == len(tables.deciding(found)) == 15
    assert len(told) < 200


@hostile.every_name_of_a_column
def test_hostile_names_in_a_header(name):
    roles = {"label": hostile.LABEL, "prediction": hostile.DECISION, "metrics": ["demographic_parity"]}
    found = eh.audit(hostile.as_column(name), sensitive=name, **roles)
    told = tables.header(found)
    assert hostile.unseen(told) == set()
    assert "\n" not in told
    assert len(told) < 200


# --- numbers


def test_the_table_of_a_page_has_the_figures_of_the_text():
    """A gap that is not a rate and is small has four digits in both."""
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    found = eh.audit(eh.datasets.compas(), **roles)
    lines = static.finding_lines(found)
    ordered = [finding for _, findings in tables.by_attributes(found) for finding in findings]
    for line, finding in zip(lines, ordered, strict=True):
        value, low, high = line["numbers"]
        assert tables.value(finding) == (value if low == "–" else f"{value} [{low}, {high}]")
    assert any(line["numbers"][0].startswith("0.0125") for line in lines)
