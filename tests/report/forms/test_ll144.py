"""The form of Local Law 144: the two worked examples of the rule, to their printed digits.

The figures are those of the examples in 6 RCNY 5-301 (notice of adoption of 6 April 2023, Department of Consumer and
Worker Protection of the City of New York). In the first example the line of Hispanic or Latino applicants by race (408,
of whom 204 were selected) is not the sum of its lines by sex and race (395 and 172), so that table has its own counts.
"""

from __future__ import annotations

import csv
import io
import re
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest

import evenhand as eh
from evenhand.report import forms
from evenhand.report.forms.ll144 import content, impact_table
from evenhand.report.forms.record import Record

RACES = ("Hispanic or Latino", "White", "Black", "Native Hawaiian", "Asian", "Native American", "Two or More Races")

# applicants, selected, printed selection rate in %, printed impact ratio
SELECTED_BY_SEX = {"Male": (1390, 667, "48", "1.00"), "Female": (1181, 555, "47", "0.979")}
SELECTED_BY_RACE = {
    "Hispanic or Latino": (408, 204, "50", "0.97"),
    "White": (797, 412, "52", "1.00"),
    "Black": (390, 170, "44", "0.84"),
    "Native Hawaiian": (119, 52, "44", "0.85"),
    "Asian": (616, 302, "49", "0.95"),
    "Native American": (41, 18, "44", "0.85"),
    "Two or More Races": (213, 96, "45", "0.87"),
}
SELECTED = {
    ("Male", "Hispanic or Latino"): (205, 90, "43.9", "0.841"),
    ("Female", "Hispanic or Latino"): (190, 82, "43.2", "0.827"),
    ("Male", "White"): (412, 215, "52.2", "1.000"),
    ("Male", "Black"): (226, 95, "42.0", "0.806"),
    ("Male", "Native Hawaiian"): (87, 37, "42.5", "0.815"),
    ("Male", "Asian"): (321, 167, "52.0", "0.997"),
    ("Male", "Native American"): (24, 11, "45.8", "0.878"),
    ("Male", "Two or More Races"): (115, 52, "45.2", "0.866"),
    ("Female", "White"): (385, 197, "51.2", "0.981"),
    ("Female", "Black"): (164, 75, "45.7", "0.876"),
    ("Female", "Native Hawaiian"): (32, 15, "46.9", "0.898"),
    ("Female", "Asian"): (295, 135, "45.8", "0.877"),
    ("Female", "Native American"): (17, 7, "41.2", "0.789"),
    ("Female", "Two or More Races"): (98, 44, "44.9", "0.860"),
}
# applicants, printed scoring rate in %, printed impact ratio. The rule prints 64.2 for 18 of 28, which is 64.29.
SCORED_BY_SEX = {"Male": (92, "54.3", "1.00"), "Female": (76, "44.7", "0.82")}
SCORED_BY_RACE = {
    "Hispanic or Latino": (28, "64.2", "1.00"),
    "White": (40, "37.5", "0.58"),
    "Black": (32, "50.0", "0.78"),
    "Native Hawaiian": (8, "62.5", "0.97"),
    "Asian": (24, "41.7", "0.65"),
    "Native American": (16, "62.5", "0.97"),
    "Two or More Races": (20, "50.0", "0.78"),
}
SCORED = {
    ("Male", "Hispanic or Latino"): (16, "75", "1.00"),
    ("Female", "Hispanic or Latino"): (12, "50", "0.67"),
    ("Male", "White"): (20, "35", "0.47"),
    ("Male", "Black"): (20, "50", "0.67"),
    ("Male", "Native Hawaiian"): (4, "75", "1.00"),
    ("Male", "Asian"): (12, "58.3", "0.78"),
    ("Male", "Native American"): (8, "62.5", "0.83"),
    ("Male", "Two or More Races"): (12, "50", "0.67"),
    ("Female", "White"): (20, "40", "0.53"),
    ("Female", "Black"): (12, "50", "0.67"),
    ("Female", "Native Hawaiian"): (4, "50", "0.67"),
    ("Female", "Asian"): (12, "25", "0.33"),
    ("Female", "Native American"): (8, "62.5", "0.83"),
    ("Female", "Two or More Races"): (8, "50", "0.67"),
}
NOBODY_LEFT_OUT = {"min_group_share": 0.0}
"""The auditor of the first example leaves no category out; in the second none has under 2 % of the people."""


def table(groups: dict, unknown: int = 0) -> dict[str, list]:
    """Rows of (sex, race, selected, people) from applicants and selected; some people of an unknown category."""
    rows = []
    for (sex, race), (applicants, selected, *_) in groups.items():
        rows += [(sex, race, 1, selected), (sex, race, 0, applicants - selected)]
    rows += [(None, None, 1, unknown // 2), (None, None, 0, unknown - unknown // 2)] if unknown else []
    return dict(zip(("sex", "race", "selected", "people"), map(list, zip(*rows, strict=True)), strict=True))


def of_selection(groups: dict, unknown: int = 0, **policy) -> eh.Audit:
    judged = eh.Policy.named("nyc-ll144").updated(**{**NOBODY_LEFT_OUT, **policy})
    return eh.audit(
        table(groups, unknown), prediction="selected", sensitive=["sex", "race"], count="people", policy=judged
    )


def of_scores() -> eh.Audit:
    """People with a score above the median of everyone, or at it, as the example's rates have it."""
    sexes, races, scores = [], [], []
    for (sex, race), (applicants, rate, _) in SCORED.items():
        above = round(applicants * float(rate) / 100)
        sexes += [sex] * applicants
        races += [race] * applicants
        scores += [0.9] * above + [0.1] * (applicants - above)
    # Half of everyone scores high, so the median lies between; the unknown do not move it.
    sexes, races, scores = sexes + [None] * 15, races + [None] * 15, scores + [0.1] * 15
    return eh.audit(score=scores, sensitive={"sex": sexes, "race": races}, policy="nyc-ll144")


def lines(audit: eh.Audit, *attributes: str, metric: str = "disparate_impact") -> dict[str, tuple[str, ...]]:
    finding = next(each for each in audit.findings if (each.metric, each.attributes) == (metric, attributes))
    return {row[0]: row[1:] for row in impact_table(audit, finding).rows}


def rounded(shown: str, printed: str) -> str:
    """A figure of ours with as many digits as the rule prints."""
    digits = len(printed.partition(".")[2])
    return str(Decimal(shown.removesuffix(" %")).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


@pytest.mark.parametrize(
    ("attributes", "printed"),
    [(("sex",), SELECTED_BY_SEX), (("sex", "race"), SELECTED)],
    ids=["by sex", "by sex and race"],
)
def test_the_example_of_a_tool_that_selects(attributes, printed):
    found = lines(of_selection(SELECTED, 250), *attributes)
    for group, (applicants, selected, rate, ratio) in printed.items():
        name = group if isinstance(group, str) else ", ".join(group)
        shown = found[name]
        assert shown[:2] == (f"{applicants:,}", f"{selected:,}"), name
        assert (rounded(shown[2], rate), rounded(shown[3], ratio)) == (rate, ratio), name
    assert found["(unknown)"][0] == "250"


def test_the_example_by_race_has_counts_of_its_own():
    data = {(None, race): numbers for race, numbers in SELECTED_BY_RACE.items()}
    rows = table(data)
    judged = eh.Policy.named("nyc-ll144").updated(**NOBODY_LEFT_OUT)
    audit = eh.audit(rows, prediction="selected", sensitive="race", count="people", policy=judged)
    found = lines(audit, "race")
    for race, (applicants, selected, rate, ratio) in SELECTED_BY_RACE.items():
        shown = found[race]
        assert shown[:2] == (f"{applicants:,}", f"{selected:,}")
        assert (rounded(shown[2], rate), rounded(shown[3], ratio)) == (rate, ratio), race
    # Of the lines by sex and race the rule's own sum is another one.
    summed = lines(of_selection(SELECTED), "race")["Hispanic or Latino"]
    assert summed[:2] == ("395", "172")


@pytest.mark.parametrize(
    ("attributes", "printed"),
    [(("sex",), SCORED_BY_SEX), (("race",), SCORED_BY_RACE), (("sex", "race"), SCORED)],
    ids=["by sex", "by race", "by sex and race"],
)
def test_the_example_of_a_tool_that_scores(attributes, printed):
    found = lines(of_scores(), *attributes, metric="scoring_rate_parity")
    for group, (applicants, rate, ratio) in printed.items():
        name = group if isinstance(group, str) else ", ".join(group)
        shown = found[name]
        assert shown[0] == str(applicants)
        wanted = "64.3" if rate == "64.2" else rate  # 18 of 28: the rule cuts where it should round
        assert (rounded(shown[1], wanted), rounded(shown[2], ratio)) == (wanted, ratio), name
    assert found["(unknown)"][0] == "15"


def test_categories_under_two_percent_stand_with_their_numbers_and_the_reason():
    audit = of_selection(SELECTED, min_group_share=0.02)
    found = lines(audit, "race")
    assert found["Native American"] == ("41", "18", "43.9 %", "excluded", "under 2 % of the people")
    assert found["White"] == ("797", "412", "51.7 %", "1.000", "the highest")
    document = content(*reversed(Record.of(audit, "ll144")))
    terms = dict(document.terms)
    assert terms["Why small categories are excluded"] == "not stated"
    said = Record.of(of_selection(SELECTED, min_group_share=0.02, cover={"exclusion": "Too few."}), "ll144")
    assert dict(content(*reversed(said)).terms)["Why small categories are excluded"] == "Too few."
    kept = dict(content(*reversed(Record.of(of_selection(SELECTED), "ll144"))).terms)
    assert "Why small categories are excluded" not in kept


def test_the_three_tables_in_html_and_csv():
    audit = of_selection(SELECTED, 250)
    page = forms.dumps(audit, "ll144", ".html")
    titles = re.findall(r"<h3><bdi>(By [^<]*)</bdi></h3>", page)
    assert titles == ["By sex", "By race", "By sex × race"]
    shown = [re.sub("<[^>]*>", "|", line) for line in page.splitlines() if line.startswith("<tr>")]
    assert any("Male, White||||412||||215||||52.2 %||||1.000||||the highest" in line for line in shown)
    sheet = list(csv.reader(io.StringIO(forms.dumps(audit, "ll144", ".csv"))))
    start = sheet.index(["Selection rates and impact ratios: By sex"])
    assert sheet[start + 1] == ["category", "applicants", "selected", "selection rate", "impact ratio", "95% interval"]
    assert sheet[start + 2][:5] == ["Female", "1181", "555", "47.0 %", "0.979"]
    assert ["(unknown)", "250", "", "not included", "", ""] in sheet
    assert ["Date of the audit", "not stated"] in sheet


def test_what_5_303_asks_to_publish_is_there():
    cover = {
        "date": "2026-11-18",
        "data_source": "Applications of 2025 to three employers",
        "data_kind": "historical",
        "distribution_date": "2025-01-01",
    }
    page = forms.dumps(of_selection(SELECTED, 250, cover=cover), "ll144", ".md")
    for text in cover.values():
        assert text in page
    assert "250 people have an unknown sex or race; they are not included below." in page
    assert "- Counted as selected: selected = 1" in page
    assert "The rule does not ask for them." in page, "the intervals"


def test_a_threshold_of_the_auditor_makes_a_verdict_and_the_form_says_whose_it_is():
    audit = of_selection(SELECTED, 250, thresholds={"disparate_impact": 0.9}, required=["disparate_impact"])
    page = forms.dumps(audit, "ll144", ".md")
    assert f"- Verdict: {audit.verdict} (" in page
    assert "The rule sets no threshold, so this is not a verdict by the rule." in page
    assert "The policy of this audit sets the threshold." in page
    assert f"Verdict of the policy: {audit.verdict}." in page
    assert "## Verdict" not in forms.dumps(of_selection(SELECTED, 250), "ll144", ".md")


def test_nobody_unknown_is_said_as_people_say_it():
    page = forms.dumps(of_selection(SELECTED), "ll144", ".md")
    assert "Nobody has an unknown sex or race." in page
    assert "0 people have" not in page


def test_one_unknown_person_is_one_person():
    data = table(SELECTED, 2)
    data["people"][-1] = 0
    audit = eh.audit(data, prediction="selected", sensitive=["sex", "race"], count="people", policy="nyc-ll144")
    assert "1 person has an unknown sex or race; they are not included below." in forms.dumps(audit, "ll144", ".md")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policy": None}, "needs impact ratios against the highest category: audit with policy='nyc-ll144'"),
        ({"control": list("pq") * 100}, "audit without control="),
    ],
)
def test_audits_that_are_not_what_the_rule_asks_for(arguments, message):
    given = {"policy": "nyc-ll144", **arguments}
    audit = eh.audit(prediction=[1, 0, 1, 1] * 50, sensitive=list("aabb") * 50, **given)
    with pytest.raises(eh.CallError, match=re.escape(message)):
        forms.dumps(audit, "ll144")


def test_people_of_an_unknown_category_are_never_said_not_to_be_there():
    roles = {"prediction": "selected", "sensitive": ["sex", "race"], "count": "people", "policy": "nyc-ll144"}
    data = table(SELECTED, 250)
    data["race"][-1] = "White"
    apart = forms.dumps(eh.audit(data, **roles, intersections=False), "ll144", ".md")
    assert "250 people have an unknown sex; they are not included below." in apart
    assert "125 people have an unknown race; they are not included below." in apart
    with pytest.raises(eh.CallError, match="people have an unknown category, and they were left out of these counts"):
        forms.dumps(eh.audit(data, **roles, missing="drop"), "ll144")


SMALL_AND_BEST = {
    "race": ["White", "White", "Black", "Black", "Islander"],
    "selected": [1, 0, 1, 0, 1],
    "people": [500, 500, 300, 700, 20],
}


def of_small_and_best(**judging) -> eh.Audit:
    policy = eh.Policy.named("nyc-ll144").updated(**judging.pop("policy", {}))
    roles = {"prediction": "selected", "sensitive": "race", "count": "people"}
    return eh.audit(SMALL_AND_BEST, **roles, policy=policy, **judging)


def test_the_highest_is_the_highest_however_few_people_it_has():
    """The rule divides by the most selected category; it knows no other limit than 2 % of the data."""
    left_out = lines(of_small_and_best(), "race")
    assert left_out["White"][3:] == ("1.000", "the highest")
    page = forms.dumps(of_small_and_best(), "ll144", ".md")
    assert "divided by the highest of the categories that are compared." in page
    assert left_out["Islander"] == ("20", "20", "100.0 %", "excluded", "under 2 % of the people")
    kept = lines(of_small_and_best(policy=NOBODY_LEFT_OUT), "race")
    assert [kept[name][3] for name in ("White", "Black", "Islander")] == ["0.500", "0.300", "1.000"]
    assert kept["Islander"][4] == "the highest"
    page = forms.dumps(of_small_and_best(policy=NOBODY_LEFT_OUT), "ll144", ".md")
    assert "divided by the highest.\n" in page


@pytest.mark.parametrize(
    ("judging", "message"),
    [
        ({"reference": "Black"}, "divides by the highest rate, and this audit by that of Black:"),
        ({"reference": "rest"}, "divides by the highest rate, and this audit by that of everyone else:"),
        ({"reference": "lowest"}, "divides by the highest rate, and this audit by that of the lowest:"),
        ({"policy": {**NOBODY_LEFT_OUT, "min_group_size": 30}}, "Islander has a higher rate than White"),
        ({"policy": {**NOBODY_LEFT_OUT, "min_reference_share": 0.02}}, "Islander has a higher rate than White"),
    ],
    ids=str,
)
def test_ratios_that_are_not_to_the_highest_are_not_handed_in_as_such(judging, message):
    with pytest.raises(eh.CallError, match=re.escape(message)):
        forms.dumps(of_small_and_best(**judging), "ll144")


def test_several_classes_are_audited_one_by_one():
    audit = eh.audit(prediction=list("xyz") * 60, sensitive=list("aab") * 60, task="multiclass", policy="nyc-ll144")
    with pytest.raises(eh.CallError, match="audit each class as a decision of its own"):
        forms.dumps(audit, "ll144")


def test_a_category_called_unknown_is_not_the_unknown_and_weights_are_said():
    race = ["unknown", "b", None, "b"] * 50
    audit = eh.audit(
        prediction=[1, 0, 1, 1] * 50, sensitive={"race": race}, weight=[1, 2, 3, 4] * 50, policy="nyc-ll144"
    )
    found = lines(audit, "race")
    assert (found["unknown"][0], found["(unknown)"][0]) == ("50", "50")
    assert "Rates are weighted; counts are of people." in forms.dumps(audit, "ll144", ".md")


def test_nobody_is_selected_and_everybody_is():
    nobody = eh.audit(prediction=[0] * 199 + [0], positive=1, sensitive=list("ab") * 100, policy="nyc-ll144")
    found = lines(nobody, "sensitive")
    assert [row[3] for name, row in found.items() if name != "(unknown)"] == ["undefined", "undefined"]
    everybody = eh.audit(prediction=np.ones(200, int), sensitive=list("ab") * 100, policy="nyc-ll144")
    assert [row[3] for name, row in lines(everybody, "sensitive").items() if name != "(unknown)"] == ["1.000", "1.000"]
