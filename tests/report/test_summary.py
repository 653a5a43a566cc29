"""The few sentences with which a page begins: they say what the findings say, and names stay names."""

from __future__ import annotations

import json

import numpy as np

import evenhand as eh
from evenhand.report import json as form
from evenhand.report.summary import summary
from support import pages


def test_the_demo_in_a_few_sentences():
    told = summary(pages.compas())
    assert told.decided == (
        "The decision is decile ≥ 5, made on 7,214 people, in 6 groups of race and 2 groups of sex. The label, "
        "what happened, is recidivated = 1."
    )
    assert told.found.startswith(pages.compas().findings[0].interpretation)
    assert told.found.endswith(
        "False positive rate: of the n people without recidivated = 1, the share with decile ≥ 5. If decile ≥ 5 helps "
        "a person, Caucasian is worse off; if it harms, African-American is."
    )
    assert told.open == (
        "No finding that decides is open. No pass can include Asian, Native American (race): fewer than 30 people to "
        "measure on."
    )
    assert told.rests_on.startswith("Failed: equalized odds on race; passed: equalized odds on sex. ")


def test_json_holds_the_same_sentences():
    for kind in ("compas", "strata", "regression", "labels only", "nothing found"):
        audit = pages.KINDS[kind]()
        told = summary(audit)
        assert json.loads(form.dumps(audit))["summary"]["found"] == told.found
        assert all((told.decided, told.found, told.open, told.rests_on, told.unsaid))


def test_where_strata_turn_a_gap_the_first_sentences_say_so():
    assert "Simpson's paradox" in summary(pages.strata()).found


def test_a_group_of_one_person_is_named_and_settles_nothing():
    audit = eh.audit(prediction=[1, 0] * 50 + [1], sensitive=["a"] * 50 + ["b"] * 50 + ["c"])
    assert audit.verdict == "inconclusive"
    assert "No pass can include group c (sensitive): fewer than 30 people to measure on." in summary(audit).open


def test_a_large_group_without_a_value_is_not_called_small():
    group, label = np.repeat(["a", "b", "c"], 500), np.tile([0, 1], 750)
    label[1000:] = 0
    audit = eh.audit(label=label, prediction=np.tile([0, 0, 1], 500), sensitive=group)
    assert audit.findings[0].left_out == ("c",)
    assert "No pass can include group c (sensitive): no positive labels among group c." in summary(audit).open


def test_a_group_that_is_small_in_one_stratum_is_named_with_it():
    assert (
        "No pass can include Female (gender, in department = B): fewer than 30 people to measure on."
        in summary(pages.strata()).open
    )


def test_who_is_worse_off_is_said_of_strata_and_of_a_trend_too():
    assert summary(pages.strata()).found.endswith(
        "In department = A, if admitted = 1 helps a person, Male is worse off; if it harms, Female is."
    )
    told = summary(pages.trend())
    assert told.decided.endswith("They are followed over 12 periods, 2026-01 to 2026-12.")
    assert "has a gap of 33.2 points (95 % interval 26.5 to 39.5). If approved = 1 helps" in told.found
    assert told.found.endswith("a person, south is worse off; if it harms, north is.")


def test_a_prediction_of_numbers_is_called_one():
    assert summary(pages.regression()).decided.startswith("The prediction is prediction, made for 900 people, in 3 ")


def test_braces_in_a_name_are_only_a_name():
    table = {"{decision}": [1, 0] * 50, "g": ["a", "b", "b", "a"] * 25}
    told = summary(eh.audit(table, prediction="{decision}", sensitive="g"))
    assert told.found.endswith("the share with {decision} = 1.")


def test_groups_that_a_search_leaves_open_are_open():
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
    policy = eh.Policy(required=["search"])
    finding = eh.search(eh.datasets.compas(), within=["race", "sex", "age"], metric="false_positive_rate", **roles)
    told = summary(eh.audit(eh.datasets.compas(), sensitive="race", policy=policy, **roles).add(finding))
    assert told.open == (
        "Of 41 groups, 18 are open, such as race = Caucasian: their gaps may lie within the threshold or beyond it."
    )
    assert told.found.endswith("worse off; if it harms, race = African-American, age = under 25 is.")


def test_a_group_is_worse_off_than_everyone_together():
    """Everyone together is not a group that is worse off."""
    audit = eh.audit(
        prediction=[1] * 300 + [0] * 100 + [1] * 200 + [0] * 400,
        sensitive=["a"] * 400 + ["b"] * 600,
        reference="overall",
    )
    assert audit.findings[0].evidence.group == ("a",)
    assert "group a is better off than everyone together; if it harms, worse off." in summary(audit).found


def test_why_nothing_is_judged():
    """A metric that is required and says nothing about this table is still required."""
    table = {"label": [0, 1] * 50, "prediction": [0] * 100, "sensitive": ["a", "b"] * 50}
    assert summary(eh.audit(**table)).rests_on == "Nothing that is required can be judged on this table."
    free = eh.audit(**table, policy=eh.Policy(required=()))
    assert summary(free).rests_on == "No metric is required, so nothing is judged."
