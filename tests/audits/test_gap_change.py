"""The change of one finding: with the sign that a reference gives it, and in size."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import evenhand as eh
from evenhand.core.wording import shown_scale
from evenhand.report import changes as as_files
from evenhand.report.contest import as_markdown
from evenhand.report.tables import interval

METRICS = ("equalized_odds", "demographic_parity", "disparate_impact", "treatment_equality", "average_odds")


@cache
def compared(reference: str = "a") -> eh.Contest:
    """Two unrelated models, of which the first is against the groups b and c, and the second for b."""
    random = np.random.default_rng(3)
    label, group = (random.random(4000) < 0.4).astype(int), random.choice(list("abc"), 4000)
    old = (random.random(4000) < np.where(group == "a", 0.6, 0.4)).astype(int)
    new = (random.random(4000) < np.where(group == "b", 0.5, 0.3)).astype(int)
    roles = {"label": label, "sensitive": {"g": group}, "reference": reference, "metrics": [*METRICS, "auc_parity"]}
    return eh.contest(predictions={"old": old, "new": new}, scores=[old * 0.5, new * 0.5], **roles)


def gaps(reference: str = "a") -> tuple[eh.Change, ...]:
    return compared(reference).changes["new"].gaps.changes


@pytest.mark.parametrize("reference", ["a", "b", "overall", "rest"])
def test_a_change_against_a_reference_is_after_less_before_with_its_sign(reference):
    assert len(gaps(reference)) == 6
    for change in gaps(reference):
        assert change.change.value == pytest.approx(change.after.value - change.before.value), change.metric
        assert change.change.low <= change.change.value <= change.change.high


def test_better_and_worse_are_said_of_the_size():
    by_metric = {change.metric: change for change in gaps()}
    turned = by_metric["demographic_parity"]
    assert (turned.before.value, turned.after.value) == pytest.approx((-0.242, 0.207), abs=0.001)
    assert turned.change.low > 0.3
    assert turned.size_change.value == pytest.approx(abs(turned.after.value) - abs(turned.before.value))
    assert turned.size_change.low < 0 < turned.size_change.high
    assert turned.tendency == "unclear"
    assert "changed by +44.9 points" in str(turned)
    assert "from -24.2 to +20.7 points. Its size changed by -3.5 points" in str(turned)


def test_the_groups_are_named_where_they_are_not_the_same():
    change = next(each for each in gaps("b") if each.metric == "disparate_impact")
    first, second = (audit["disparate_impact"].evidence for audit in compared("b").audits.values())
    assert (first.group, second.group) == (("c",), ("a",))
    assert "from 1.05 (g = c) to 0.58 (g = a)." in str(change)


def test_a_signed_change_covers_the_true_one():
    """Two models on the same people: the gap of b against a falls from 10 to -5 points."""
    random, covered, times = np.random.default_rng(5), 0, 150
    group = np.repeat(["a", "b"], 400)
    for _ in range(times):
        chance = random.random(800)
        old = (chance < np.where(group == "a", 0.4, 0.5)).astype(int)
        new = (np.where(random.random(800) < 0.7, chance, random.random(800)) < np.where(group == "a", 0.5, 0.45)) * 1
        (change,) = (
            eh.contest(
                predictions={"old": old, "new": new}, sensitive=group, reference="a", metrics=["demographic_parity"]
            )
            .changes["new"]
            .gaps.changes
        )
        covered += change.change.low <= -0.15 <= change.change.high
    assert covered / times >= 0.9


def test_every_form_has_the_signed_change():
    contest = compared()
    data = {each["metric"]: each for each in json.loads(json.dumps(contest.to_dict()))["changes"][0]["gaps"]["changes"]}
    texts = [as_markdown(contest), as_files.as_markdown(contest.changes["new"].gaps), contest._repr_html_()]
    for i, change in enumerate(gaps()):
        assert data[change.metric]["change"]["value"] == pytest.approx(change.change.value)
        scale = shown_scale(change.judged_on, change.unit)
        shown = interval(change.change.value, change.change.low, change.change.high, scale)
        assert all(shown in text for text in texts[: 2 if i else 3]), change.metric


@pytest.mark.parametrize("reference", [None, "a"])
def test_base_rates_of_the_same_people_cannot_change(reference):
    random = np.random.default_rng(3)
    label, group, old, new = random.random((4, 900)) < 0.5
    roles = {"label": label, "sensitive": {"g": np.where(group, "a", "b")}, "reference": reference}
    found = eh.contest(**roles, predictions={"old": old, "new": new}, metrics=["base_rate_parity"])
    (change,) = found.changes["new"].gaps.changes
    assert change.change == change.size_change == eh.Estimate(0.0, 0.0, 0.0)
    assert any("no model can change it" in note for note in change.notes)
    assert "as before (95 % interval 0.0 to 0.0)" in str(change)
    said = " ".join(str(found).split())
    assert "g: the same." in said
    assert "no model can change it" in said
    assert "0.0 [0.0, 0.0] the same" in said
    assert "the same" in found._repr_html_()


def test_sentence_and_table_of_a_ratio_have_the_same_figures():
    for seed in range(40):
        random = np.random.default_rng(seed)
        counts = random.integers(20, 400, 6)
        roles = {"prediction": [1, 0, 1, 0], "sensitive": ["a", "a", "b", "b"], "metrics": ["disparate_impact"]}
        roles["reference"] = "a" if seed % 2 else None
        before, after = (eh.audit(**roles, count=[*part, 200]) for part in (counts[:3], counts[3:]))
        (change,) = eh.diff(before, after).changes
        for estimate in (change.before, change.after, change.change):
            assert f"{interval(estimate.value, None, None)}" in str(change)
        low, high = (interval(end, None, None) for end in (change.change.low, change.change.high))
        assert f"{low} to {high}" in str(change)


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_the_paired_interval_of_unrelated_models_is_not_wider_than_that_of_two_audits(groups):
    random = np.random.default_rng(groups)
    label, old, new = (random.random((3, 3000)) < [[0.4], [0.5], [0.3]]).astype(int)
    roles = {"label": label, "sensitive": {"g": random.integers(0, groups, 3000)}}
    metrics = ["demographic_parity", "predictive_parity", "overall_accuracy_equality", "balanced_accuracy_equality"]
    found = eh.contest(**roles, predictions={"old": old, "new": new}, metrics=metrics)
    alone = eh.diff(*(eh.audit(**roles, prediction=model, metrics=metrics) for model in (old, new)))
    for paired, separate in zip(found.changes["new"].gaps.changes, alone.changes, strict=True):
        widths = [each.change.high - each.change.low for each in (paired, separate)]
        assert widths[0] <= 1.1 * widths[1], paired.metric
        assert paired.change.low <= paired.change.value <= paired.change.high


def test_the_interval_of_opposed_models_is_wider_than_that_of_two_audits():
    random = np.random.default_rng(1)
    label, group, chance = random.integers(0, 2, 3000), random.integers(0, 3, 3000), random.random(3000)
    roles = {"label": label, "sensitive": {"g": group}, "metrics": ["demographic_parity"]}
    more = np.where(group == 0, 0.1, 0.0)  # the gap is beyond doubt in both
    models = [(chance < 0.4 + more).astype(int), (chance > 0.6 - more).astype(int)]
    paired = eh.contest(**roles, predictions=models).changes["model 2"].gaps.changes[0].change
    separate = eh.diff(*(eh.audit(**roles, prediction=model) for model in models)).changes[0].change
    assert paired.high - paired.low > separate.high - separate.low


def test_the_measures_are_named_where_they_are_not_the_same():
    label, group = [0, 1] * 400, ["a"] * 400 + ["b"] * 400
    old = [0, 1] * 200 + [0, 0, 0, 1] * 100  # the true positive rate of b falls
    new = [0, 1] * 200 + [1, 1, 0, 1] * 100  # its false positive rate rises
    found = eh.contest(label=label, predictions=[old, new], sensitive={"g": group}, reference="a")
    (change,) = [each for each in found.changes["model 2"].gaps.changes if each.metric == "equalized_odds"]
    assert "from -50.0 (true positive rate of g = b) to +50.0 points (false positive rate of g = b)." in str(change)
    assert change.size_change.value == pytest.approx(0)


def test_gaps_against_two_different_groups_are_compared_by_their_size():
    random = np.random.default_rng(2)
    group, label = random.choice(["a", "b", "c"], 900), random.binomial(1, 0.4, 900)
    wrong = (random.random((2, 900)) < np.where(group == "b", 0.3, 0.15)).astype(int)

    def audited(model: int, reference: str) -> eh.Audit:
        return eh.audit(label=label, prediction=label ^ wrong[model], sensitive=group, reference=reference)

    for reference in ("b", "rest"):
        changes = eh.diff(audited(0, "a"), audited(1, reference))
        for change in changes.changes:
            if change.change.defined:
                assert change.change.value == pytest.approx(change.after.value - change.before.value, abs=1e-12)
                assert change.before.value >= 0
                assert change.after.value >= 0
