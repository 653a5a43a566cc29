"""The guide: every branch is reachable, says why, and leads to a policy that an audit can use."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import numpy as np
import pytest

import evenhand as eh
from evenhand.audits import guide
from evenhand.audits.guide import TREE, Question, recommend
from evenhand.catalogue import METRICS
from evenhand.catalogue.exclusions import THEOREMS, excluding
from evenhand.verdicts.policy import Policy

QUESTIONS = {question.name: question for question in TREE}
BEYOND_COUNTS = {"consistency", "lipschitz", "counterfactual_fairness"}


def paths(name: str = TREE[0].name) -> Iterator[dict[str, str]]:
    """Every way through the tree, as the answers given on it."""
    question = QUESTIONS[name]
    for answer in question.answers:
        here = {question.argument: answer.value}
        if answer.then is None:
            yield here
        else:
            yield from (here | rest for rest in paths(answer.then))


PATHS = list(paths())
every_path = pytest.mark.parametrize("answers", PATHS, ids=["-".join(path.values()) for path in PATHS])


def advice_for(answers: dict[str, str]) -> guide.Recommendation:
    return recommend(**{**answers, "label_known": answers["label_known"] == "yes"})


def people(size: int = 2000) -> dict[str, list]:
    """Two groups with other base rates, a score that is a probability, and decisions by it."""
    rng = np.random.default_rng(3)
    group = np.where(np.arange(size) % 2, "a", "b")
    score = np.round(np.clip(rng.beta(2, 2, size) + 0.1 * (group == "a"), 0, 1), 2)
    label = (rng.random(size) < score).astype(int)
    return {
        "group": group.tolist(),
        "score": score.tolist(),
        "label": label.tolist(),
        "yes": (score >= 0.5).astype(int).tolist(),
    }


# --- the tree as data


def test_every_question_is_reached_and_every_answer_leads_on():
    reached = {TREE[0].name} | {answer.then for question in TREE for answer in question.answers if answer.then}
    assert reached == set(QUESTIONS)
    assert len(QUESTIONS) == len(TREE)


def test_all_paths_are_there():
    assert len(PATHS) == (7 + 3) * 4
    asked = {(q.argument, a.value) for q in TREE for a in q.answers}
    assert {(name, value) for path in PATHS for name, value in path.items()} == asked


@pytest.mark.parametrize("question", TREE, ids=QUESTIONS)
def test_a_question_is_one_and_its_answers_are_sentences(question: Question):
    assert question.text.endswith("?")
    assert len({answer.value for answer in question.answers}) == len(question.answers) > 1
    for answer in question.answers:
        assert answer.value.isidentifier()
        assert answer.text.endswith(".")
        for advice in answer.advice:
            assert advice.why.endswith(".")
            assert advice.limits.endswith(".")
            assert "fair" not in f"{advice.why} {answer.text}".lower()


def test_only_what_is_measured_beyond_counts_is_not_in_the_catalogue():
    named = {advice.metric for question in TREE for answer in question.answers for advice in answer.advice}
    assert named - {name for name, entry in METRICS.items() if entry.counted} == BEYOND_COUNTS


# --- every branch


@every_path
def test_every_branch_leads_to_metrics_with_why_and_limits(answers):
    advice = advice_for(answers)
    assert dict(advice.answers) == answers
    assert advice.metrics
    names = [each.metric for each in advice.metrics]
    assert len(set(names)) == len(names)
    for each in advice.metrics:
        assert each.why
        assert each.limits
        assert each.available == (each.metric not in BEYOND_COUNTS)
        assert each.metric in str(advice)
    assert all(sentence.endswith(".") for sentence in advice.sentences)


@every_path
def test_every_policy_names_only_what_an_audit_can_compute(answers):
    policy = advice_for(answers).policy
    assert isinstance(policy, Policy)
    assert set(policy.metrics) <= set(METRICS)
    assert set(policy.required) <= set(policy.metrics)
    beyond_counts = answers["priority"] in ("individuals", "causality")
    assert (policy.required == ()) == (beyond_counts and answers["legal"] != "us_employment")


@every_path
def test_every_policy_audits(answers):
    """With labels and scores where there is ground truth, with decisions alone where there is none."""
    roles = {"prediction": "yes", "sensitive": "group", "score": "score"}
    if answers["label_known"] == "yes":
        roles["label"] = "label"
    advice = advice_for(answers)
    found = eh.audit(people(), **roles, policy=advice.policy)
    assert found.required == advice.deciding
    assert {finding.metric for finding in found.findings} == set(advice.policy.metrics)
    assert (found.verdict == "not judged") == (not advice.deciding)


@every_path
def test_the_policy_of_every_branch_is_a_file_too(answers, tmp_path):
    policy = advice_for(answers).policy
    policy.save(tmp_path / "p.toml")
    assert Policy.load(tmp_path / "p.toml") == policy


@every_path
def test_it_is_plain_data_too(answers):
    told = json.loads(json.dumps(advice_for(answers).to_dict()))
    assert told["answers"] == answers
    assert {"metric", "why", "limits", "decides", "available"} == set(told["metrics"][0])


@pytest.mark.parametrize(
    ("priority", "metric"),
    [
        ("opportunity", "equal_opportunity"),
        ("both_errors", "equalized_odds"),
        ("prediction", "predictive_parity"),
        ("probability", "calibration"),
        ("selection", "demographic_parity"),
    ],
)
def test_what_decides_is_what_was_asked_for(priority, metric):
    assert recommend(label_known=True, priority=priority).deciding == (metric,)


def test_the_law_adds_its_own():
    us = recommend(label_known=True, priority="both_errors", legal="us_employment")
    assert us.policy.required == ("equalized_odds", "disparate_impact")
    assert us.policy.reference == "highest"
    city = recommend(label_known=True, priority="both_errors", legal="nyc_ll144").policy
    assert city.required == ("equalized_odds",)
    assert city.thresholds == {"disparate_impact": None, "scoring_rate_parity": None}
    europe = recommend(label_known=True, priority="selection", legal="eu")
    (advice,) = (each for each in europe.metrics if each.metric == "demographic_parity")
    assert advice.decides
    assert "Wachter" in advice.why
    assert "selected" in advice.why


# --- what excludes what


def rates(p: float, tpr: float, fpr: float) -> dict[str, float]:
    selected = p * tpr + (1 - p) * fpr
    return {
        "selection rate": selected,
        "TPR": tpr,
        "FPR": fpr,
        "PPV": p * tpr / selected,
        "NPV": (1 - p) * (1 - fpr) / (1 - selected),
    }


@pytest.mark.parametrize("three", list(itertools.combinations(sorted(THEOREMS[0].equal), 3)), ids="-".join)
def test_three_rates_fix_the_table(three):
    """The three rates as a function of (base rate, TPR, FPR) can be inverted, and two of them cannot."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        p, tpr, fpr = rng.uniform(0.15, 0.85, 3)
        if abs(tpr - fpr) < 0.1:
            continue
        at, step = np.array([p, tpr, fpr]), 1e-6
        slopes = np.empty((3, 3))
        for i in range(3):
            up, down = at.copy(), at.copy()
            up[i], down[i] = up[i] + step, down[i] - step
            high, low = rates(*up), rates(*down)
            slopes[:, i] = [(high[name] - low[name]) / (2 * step) for name in three]
        assert abs(np.linalg.det(slopes)) > 1e-4


def test_two_rates_can_be_held_at_other_base_rates():
    """Equal TPR and equal PPV, with base rates of 0.5 and 0.3: only the FPRs differ."""
    first = rates(0.5, 0.6, 0.2)
    odds = 0.3 / 0.7
    second = rates(0.3, 0.6, odds * (1 - first["PPV"]) / first["PPV"] * 0.6)
    assert second["PPV"] == pytest.approx(first["PPV"])
    assert second["FPR"] != pytest.approx(first["FPR"])
    assert excluding(["equal_opportunity", "predictive_parity"]) is None
    assert excluding(["equal_opportunity", "predictive_parity", "predictive_equality"]) is THEOREMS[0]


@pytest.mark.parametrize(
    ("metrics", "theorem"),
    [
        (["equalized_odds", "predictive_parity"], 0),
        (["equalized_odds", "demographic_parity"], 0),
        (["demographic_parity", "conditional_use_accuracy_equality"], 0),
        (["calibration", "overall_balance"], 1),
        (["calibration", "balance_for_positive_class", "balance_for_negative_class"], 1),
        (["calibration", "mean_score_parity"], 2),
    ],
)
def test_known_exclusions(metrics, theorem):
    assert excluding(metrics) is THEOREMS[theorem]
    assert excluding(metrics[:1]) is None


def test_the_advice_says_what_it_excludes():
    advice = recommend(label_known=True, priority="both_errors")
    assert {"demographic_parity", "disparate_impact", "predictive_parity"} <= set(advice.excluded)
    assert "equal_opportunity" not in advice.excluded
    assert any("it excludes demographic_parity" in sentence for sentence in advice.sentences)
    loose = recommend(label_known=True, priority="opportunity")
    assert loose.excluded == ("conditional_use_accuracy_equality",)
    assert any("leaves room for one more of equal FPR" in sentence for sentence in loose.sentences)
    score = recommend(label_known=True, priority="probability")
    assert score.excluded == ("mean_score_parity", "overall_balance")


def test_advice_that_excludes_itself_says_so():
    advice = recommend(label_known=True, priority="both_errors", legal="us_employment")
    assert advice.excluded == ()
    assert "equalized_odds and disparate_impact cannot all hold" in advice.sentences[1]


# --- answers that are none


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, r"label_known= is missing.*True, False"),
        ({"label_known": True}, r"priority= is missing. What matters most\?.*'both_errors'"),
        ({"label_known": "perhaps", "priority": "selection"}, r"label_known='perhaps' is not an answer; it is True"),
        ({"label_known": 1, "priority": "selection"}, r"label_known=1 is not an answer"),
        ({"label_known": True, "priority": "both_erors"}, r"did you mean 'both_errors'\?"),
        ({"label_known": True, "priority": 5}, r"priority=5 is not an answer"),
        ({"label_known": True, "priority": "selection", "legal": "us"}, r"legal='us' is not an answer"),
        ({"label_known": True, "priority": "selection", "legal": None}, r"legal= is missing"),
        ({"label_known": False, "priority": "both_errors"}, r"without a label nobody knows: give the label"),
        ({"label_known": False, "priority": "probabilty"}, r"priority='probabilty' is not an answer; there are: 'sel"),
    ],
)
def test_unknown_answers(answers, message):
    with pytest.raises(eh.CallError, match=message):
        recommend(**answers)


def test_an_answer_is_nothing_but_text():
    with pytest.raises(eh.CallError):
        recommend(label_known=True, priority=["both_errors"])
    with pytest.raises(eh.CallError, match="…"):
        recommend(label_known=True, priority="x" * 10_000)


# --- the drawing


def test_the_drawing_shows_all_of_the_tree():
    drawn = guide.tree()
    for question in TREE:
        assert drawn.count(question.text) == 1
        for answer in question.answers:
            assert f"─ {answer.value}: {answer.text}" in drawn
            for advice in answer.advice:
                assert advice.metric in drawn
    assert "equalized_odds*" in drawn
    assert max(map(len, drawn.splitlines())) <= 100
