"""Figures for a technical file under Annex IV: every one is that of the audit, with its interval."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import evenhand as eh
from evenhand.report import forms, tables
from evenhand.report.forms import parts
from evenhand.report.forms.annex_iv import ACCURACY, content
from evenhand.report.forms.record import Record

ROLES = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}


def made(audit: eh.Audit):
    record, computed = Record.of(audit, "annex-iv")
    return content(computed, record)


def sections(audit: eh.Audit) -> dict[str, object]:
    return {section.title: section for section in made(audit).sections}


def test_accuracy_of_everyone_and_of_every_group():
    audit = eh.audit(eh.datasets.compas(), **ROLES, policy="eu-ai-act")
    found = next(part for title, part in sections(audit).items() if title.startswith("Accuracy (Article 15"))
    first = found.tables[0]
    assert first.columns[:3] == ("group", "people", "accuracy, %")
    values = {each.measure.name: each for each in audit.measures(("race",))}
    shown = {row[0]: row for row in first.rows}
    groups = [group[0] for group in audit.counts("race").groups]
    assert set(shown) == {"(everyone)", *groups}
    for i, group in enumerate(groups):
        each = values["accuracy"]
        assert shown[group][2] == tables.interval(each.values[i], each.low[i], each.high[i], 100)
    names = {title.removesuffix(", %") for table in found.tables for title in table.columns[2:]}
    assert names == {each.measure.title for each in audit.measures(("race",)) if each.measure.name in ACCURACY}


def test_every_finding_stands_with_its_figure_and_verdict():
    audit = eh.audit(eh.datasets.compas(), **ROLES)
    found = next(part for title, part in sections(audit).items() if title.startswith("Potentially discriminatory"))
    assert [table.title for table in found.tables] == [
        f"Differences between groups by {names}" for names in ("race", "sex", "race × sex")
    ]
    for table in found.tables:
        names = tuple(table.title.removeprefix("Differences between groups by ").split(" × "))
        chosen = [finding for finding in audit.findings if finding.attributes == names]
        assert [row[0] for row in table.rows] == [finding.title for finding in chosen]
        plain = [row[3].removeprefix("ratio ").replace(" points", "") for row in table.rows]
        assert plain == [tables.value(finding) for finding in chosen]
        assert [row[3].startswith("ratio ") for row in table.rows] == [each.judged_on == "ratio" for each in chosen]
        assert [" points" in row[3] for row in table.rows] == [
            each.judged_on == "difference" and each.unit == "rate" for each in chosen
        ]
    rows = [row for table in found.tables for row in table.rows]
    assert {row[-1] for row in rows} >= {"fail", "pass", "fail, does not decide"}
    assert found.tables[0].columns[:3] == ("metric", "between", "and"), "a ratio of two may be of either to the other"
    assert found.paragraphs[0] == "Verdict of the policy: fail."
    assert found.paragraphs[1] == "The threshold is the default of evenhand, which nobody chose for this decision."
    assert found.paragraphs[2].startswith("Fail: The ")


def test_what_missing_labels_and_groups_could_hide_is_robustness():
    rng = np.random.default_rng(2)
    label = [
        None if hidden else int(y) for y, hidden in zip(rng.integers(0, 2, 600), rng.random(600) < 0.1, strict=True)
    ]
    group = [
        None if hidden else g for g, hidden in zip(rng.choice(list("ab"), 600), rng.random(600) < 0.1, strict=True)
    ]
    audit = eh.audit(label=label, prediction=rng.integers(0, 2, 600).tolist(), sensitive={"g": group})
    found = next(part for title, part in sections(audit).items() if title.startswith("Robustness"))
    said = [
        text
        for finding in audit.findings
        if tables.sensitivity(finding)
        for text in tables.sensitivity(finding).sentences
    ]
    assert said
    assert all(any(text in point for point in found.points) for text in said)
    governed = next(part for title, part in sections(audit).items() if title.startswith("Data and data governance"))
    assert any("have no label" in point for point in governed.points)


def test_too_few_people_find_no_gap_however_large():
    audit = eh.audit(prediction=[1, 0, 1, 1], sensitive=list("aabb"))
    found = next(part for title, part in sections(audit).items() if title.startswith("Robustness"))
    assert found.tables[0].rows[0][3] == "none"


def test_who_set_the_threshold_is_said():
    audit = eh.audit(eh.datasets.compas(), **ROLES, policy=eh.Policy(thresholds={"equalized_odds": 0.1}))
    found = next(part for title, part in sections(audit).items() if title.startswith("Potentially discriminatory"))
    assert found.paragraphs[1] == "The policy of this audit sets the threshold."


def test_the_columns_stand_with_the_values_that_count_as_positive():
    people = {"hired": ["yes", "no"] * 60, "good": ["no", "yes", "no"] * 40, "g": list("aab") * 40}
    people["w"] = [1.0, 2.0] * 60
    roles = {"label": "good", "prediction": "hired", "weight": "w", "sensitive": "g", "positive": "yes"}
    scored = eh.audit(eh.datasets.compas(), **ROLES, policy="nyc-ll144")
    for form in ("annex-iv", "model-card", "nist"):
        said = forms.dumps(eh.audit(people, **roles), form, ".csv")
        assert "Label (what happened),good = yes" in said
        assert "Prediction (what was decided),hired = yes" in said
        assert "Weights,w" in said
        assert "Prediction (what was decided),decile ≥ 5" in forms.dumps(scored, form, ".csv")
    selected = eh.audit(people, **roles, policy="nyc-ll144")
    assert "Counted as selected,hired = yes" in forms.dumps(selected, "ll144", ".csv")
    assert "Counted as selected,decile ≥ 5\r\nScore,decile" in forms.dumps(scored, "ll144", ".csv")


def test_exposure_is_not_called_a_weight_as_well():
    audit = eh.audit(
        label=[0, 1, 2] * 40, prediction=[0.5, 1.0] * 60, exposure=[1.0, 2.0] * 60, sensitive=list("ab") * 60
    )
    said = forms.dumps(audit, "annex-iv", ".csv")
    assert "Exposure,exposure" in said
    assert "Weights" not in said


def test_without_labels_accuracy_is_said_to_be_unknown():
    audit = eh.audit(prediction=[1, 0] * 40, sensitive=list("ab") * 40)
    text = forms.dumps(audit, "annex-iv", ".md")
    assert "Without labels no accuracy can be computed." in text


def test_the_verdict_is_among_the_first_words_of_every_form():
    judged = eh.audit(eh.datasets.compas(), **ROLES)
    unjudged = eh.audit(eh.datasets.compas(), **ROLES, policy="nyc-ll144")
    for form in ("annex-iv", "model-card", "nist"):
        first = forms.dumps(judged, form, ".md").split("## ")[0]
        assert "- Verdict: fail (failed: equalized odds on race; passed: equalized odds on sex)\n" in first
    for form in forms.FORMS:
        assert "- Verdict: not judged: under this policy" in forms.dumps(unjudged, form, ".md").split("## ")[0]


def test_small_figures_keep_the_digits_of_their_interval():
    audit = eh.audit(label=[0, 1] * 300, score=[0.1, 0.9, 0.2, 0.8] * 150, cutoff=0.5, sensitive=list("aab") * 200)
    found = next(part for title, part in sections(audit).items() if title.startswith("Accuracy (Article 15"))
    rows = [dict(zip(table.columns, row, strict=True)) for table in found.tables for row in table.rows]
    brier = next(row["Brier score"] for row in rows if "Brier score" in row and row["group"] == "(everyone)")
    assert brier.startswith("0.025 [0.0")
    assert len(set(brier.removeprefix("0.025 [").rstrip("]").split(", "))) == 2


def test_the_rule_says_what_was_changed_of_the_policy():
    shipped = eh.audit(eh.datasets.compas(), **ROLES, policy="eu-ai-act")
    assert parts.changed_fields(shipped) == []
    strict = eh.Policy.named("eu-ai-act").updated(confidence=0.9).with_thresholds({"equalized_odds": 0.05})
    audit = eh.audit(eh.datasets.compas(), **ROLES, policy=strict)
    assert parts.changed_fields(audit) == ["thresholds", "confidence"]
    (rule,) = parts.rule_section(audit)
    assert ("Changed from the policy that ships", "thresholds, confidence") in rule.terms


HIRED = {"team": ["a", "a", "b", "b", "c", "c"], "hired": [1, 0] * 3}
COUNTED = {"prediction": "hired", "sensitive": "team", "count": "people"}


@pytest.mark.parametrize("form", sorted({*forms.FORMS} - {"ll144"}))
def test_what_the_policy_counts_as_a_pass_is_said_beside_it(form: str):
    data = {**HIRED, "people": [50, 50, 40, 60, 50, 50]}
    audit = eh.audit(data, **COUNTED, policy=eh.Policy.named("four-fifths").updated(inconclusive="pass"))
    assert (audit.verdict, audit.findings[0].verdict) == ("pass", "inconclusive")
    said = "- Verdict: pass (inconclusive, which counts as a pass here: disparate impact on team)"
    assert said in forms.dumps(audit, form, ".md")


@pytest.mark.parametrize("form", sorted({*forms.FORMS} - {"ll144"}))
def test_a_pass_names_the_groups_that_it_leaves_out(form: str):
    data = {**HIRED, "people": [50_000, 50_000, 49_500, 50_500, 10, 10]}
    policy = eh.Policy(required=["demographic_parity"], thresholds={"demographic_parity": 0.4})
    page = forms.dumps(eh.audit(data, **COUNTED, policy=policy), form, ".md")
    assert "- Verdict: pass (passed: demographic parity on team (leaving out team = c))" in page


def test_a_rule_that_does_not_ship_is_not_called_unchanged():
    data = {**HIRED, "people": [50, 50, 40, 60, 50, 50]}
    own = eh.Policy(required=["disparate_impact"], rule={"name": "four-fifth", "title": "The four-fifths rule"})
    page = forms.dumps(eh.audit(data, **COUNTED, policy=own), "nist", ".md")
    assert "- Made by: those who made the audit: no policy that ships has this name" in page
    assert "Changed from the policy that ships" not in page


def test_a_sheet_has_figures_for_programs():
    audit = eh.audit(eh.datasets.compas(), **ROLES, policy="eu-ai-act")
    rows = list(csv.reader(io.StringIO(forms.dumps(audit, "annex-iv", ".csv"))))
    start = next(i for i, row in enumerate(rows) if row and row[0].endswith("Accuracy by sex"))
    assert rows[start + 2][:2] == ["(everyone)", "7214"]
    (odds,) = [row for row in rows if row[:1] == ["equalized odds"] and row[1:3] == ["Male", "Female"]]
    assert (odds[4], odds[6]) == ("", "not judged"), "no threshold, which is shown as - elsewhere"


def test_many_groups_are_cut_with_a_word():
    names = [f"g{i}" for i in range(250)]
    audit = eh.audit(prediction=[1, 0, 1] * 250, sensitive={"g": names * 3}, metrics=["demographic_parity"])
    table = parts.measure_tables(audit, ("selection_rate",), "Data")[0]
    assert len(table.rows) == 201
    assert table.notes == ("50 smaller groups are not shown.",)
