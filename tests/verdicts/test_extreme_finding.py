"""The value of the worst group, against a floor or a ceiling."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.catalogue import find
from evenhand.errors import CallError

GROUPS = ["a"] * 200 + ["b"] * 200
LABELS = [1] * 400
HITS = [1] * 180 + [0] * 20 + [1] * 120 + [0] * 80  # true positive rates of .9 and .6


def worst(name: str, **settings):
    return getattr(eh, name)(LABELS, HITS, sensitive=GROUPS, **settings)


def test_the_least_is_judged_against_a_floor():
    found = worst("true_positive_rate_group_min", threshold=0.8)
    assert float(found) == pytest.approx(0.6)
    assert (found.judged_on, found.verdict, found.passes) == ("floor", "fail", False)
    assert found.evidence.group == ("b",)
    assert found.interpretation.startswith("The true positive rate is 60.0 % for group b (n = 200)")
    low, high = (f"{100 * end:.1f}" for end in (found.value.low, found.value.high))
    assert found.interpretation.endswith(f" (95 % interval {low} to {high}), below the threshold of 80 %.")
    assert worst("recall_group_min", threshold=0.5).verdict == "pass"
    assert worst("recall_group_min", threshold=0.6).verdict == "inconclusive"
    assert worst("recall_group_min").verdict == "not judged"


def test_the_most_is_judged_against_a_ceiling():
    found = worst("false_negative_rate_group_max", threshold=0.3)
    assert float(found) == pytest.approx(0.4)
    assert (found.judged_on, found.verdict) == ("value", "fail")
    assert worst("false_negative_rate_group_max", threshold=0.5).verdict == "pass"


def test_any_measure_has_them():
    random = np.random.default_rng(2)
    label, score, group = random.integers(0, 2, 400), random.random(400), random.choice(["a", "b"], 400)
    audit = eh.audit(
        label=label,
        score=score,
        cutoff=0.5,
        sensitive=group,
        metrics=["auc_group_min", "mcc_group_max", "fpr_group_max"],
    )
    assert [finding.metric for finding in audit.findings] == [
        "auc_group_min",
        "matthews_correlation_group_max",
        "false_positive_rate_group_max",
    ]
    regressed = eh.mean_absolute_error_group_max(
        [1.5, 2.5, 3.5, 4.5], [1.25, 2.25, 3.0, 4.0], sensitive=["a", "a", "b", "b"], task="regression"
    )
    assert float(regressed) == pytest.approx(0.5)


def test_it_is_that_of_bounded_group_loss():
    random = np.random.default_rng(2)
    y, f, group = random.random(400) * 10, random.random(400) * 10, random.choice(["a", "b"], 400)
    one = eh.bounded_group_loss(y, f, sensitive=group, task="regression", loss="absolute")
    other = eh.mean_absolute_error_group_max(y, f, sensitive=group, task="regression")
    assert one.value == other.value


def test_a_policy_and_an_audit_take_it(tmp_path):
    policy = eh.Policy(
        required=["accuracy_group_min"], thresholds={"accuracy_group_min": 0.7}, metrics=["accuracy_group_min"]
    )
    audit = eh.audit(label=LABELS, prediction=HITS, sensitive=GROUPS, policy=policy)
    assert audit.verdict == "fail"
    audit.save(tmp_path / "a.json")
    again = eh.Audit.load(tmp_path / "a.json")
    assert again.verdict == "fail"
    assert again.findings[0].judged_on == "floor"
    for name in ("a.html", "a.md", "a.xml"):
        audit.save(tmp_path / name)
    assert "0.7" in (tmp_path / "a.md").read_text(encoding="utf-8")


def test_the_limits_of_all_groups_hold_together():
    """The true least value lies in the interval in at least 94 % of samples, also where all groups are alike."""
    from scipy.stats import binom

    random, held, samples = np.random.default_rng(6), 0, 400
    groups = np.repeat(["a", "b", "c", "d"], 50)
    for _ in range(samples):
        found = eh.selection_rate_group_min(prediction=(random.random(200) < 0.3).astype(int), sensitive=groups)
        held += found.value.low <= 0.3 <= found.value.high
    assert held >= binom.ppf(0.001, samples, 0.94)


def test_groups_without_a_value_are_named():
    found = eh.true_positive_rate_group_min([1, 1, 0, 0], [1, 0, 0, 1], sensitive=["a", "a", "b", "b"])
    assert "no positive labels among group b" in " ".join(found.notes)
    none = eh.true_positive_rate_group_min([0, 0, 0, 0], [1, 0, 0, 1], sensitive=["a", "a", "b", "b"])
    assert "undefined: no positive labels among group a" in none.interpretation


def test_names_that_are_none():
    for name in ("lift_group_min", "group_min", "count_group_min", "accuracy_group_mean"):
        with pytest.raises(CallError):
            find(name)
    with pytest.raises(AttributeError):
        eh.lift_group_min  # noqa: B018
    with pytest.raises(CallError):
        worst("accuracy_group_min", judged_on="ratio")
