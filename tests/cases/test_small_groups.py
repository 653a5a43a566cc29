"""Groups of one person, values that never vary, AUC near 1: nobody passes or fails on what says nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

import evenhand as eh
from evenhand.inference import critical, simultaneous
from evenhand.inference.means import Means, Roots
from evenhand.inference.spread import Logit

ALL = np.ones(2, bool)


def people(random: np.random.Generator, *singles: str) -> dict[str, np.ndarray]:
    score = random.beta(2, 2, 400 + len(singles))
    label = (random.random(len(score)) < score).astype(int)
    return {"score": score, "label": label, "sensitive": np.array(["a", "b"] * 200 + list(singles))}


def test_score_audits_with_singletons_do_not_fail_and_warn_of_nothing():
    random, fails = np.random.default_rng(1), 0
    metrics = ["mean_score_parity", "balance_for_positive_class", "brier_score_parity", "log_loss_parity", "auc_parity"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(20):
            audit = eh.audit(**people(random, "c", "d", "e"), metrics=metrics, score_range=(0, 1))
            fails += any(finding.verdict == "fail" for finding in audit.findings)
            for finding in audit.findings:
                assert finding.difference is None or finding.difference.low is not None
    assert fails <= 3


def test_regression_audits_with_singletons_do_not_fail():
    random, fails = np.random.default_rng(2), 0
    for _ in range(20):
        predicted = random.normal(50, 10, 401)
        outcome = predicted + random.normal(0, 5, 401)
        group = np.array(["a", "b"] * 200 + ["c"])
        audit = eh.audit(prediction=predicted, label=outcome, sensitive=group, task="regression")
        fails += any(finding.verdict == "fail" for finding in audit.findings)
    assert fails <= 3


def test_a_mean_of_scores_from_1_to_10_has_limits_from_1_to_10():
    finding = eh.mean_score_parity(score=[1, 10, 10, 2, 10], sensitive=list("aabbc"), score_range=(1, 10))
    for row in finding.groups:
        assert 1 <= row.estimate.low < row.estimate.high <= 10
    assert finding.value.high <= 9


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca"])
def test_a_group_whose_draws_never_vary_decides_nothing(interval):
    decided = np.array([0, 0, 1, 1] * 100 + [1])
    group = np.array(["a", "b"] * 200 + ["c"])
    finding = eh.demographic_parity(prediction=decided, sensitive=group, interval=interval)
    assert finding.verdict == "inconclusive"
    assert "Draws never vary the value of group c, so the intervals are the simultaneous ones." in finding.notes
    assert finding.value == eh.demographic_parity(prediction=decided, sensitive=group).value


def test_what_lies_between_groups_has_no_interval_and_a_perfect_decision_has_one():
    random = np.random.default_rng(0)
    label, decided = random.integers(0, 2, 300), random.integers(0, 2, 300)
    finding = eh.theil_index(label=label, prediction=decided, sensitive=["a", "b", "c"] * 100)
    between = next(row for row in finding.rows if row.measure == "between_groups")
    assert between.estimate.low is None
    assert finding.value.low < finding.value.value < finding.value.high
    perfect = eh.theil_index(label=label, prediction=label, sensitive=["a", "b", "c"] * 100).value
    assert perfect.value == 0 == perfect.low < perfect.high < 0.05


# ------------------------------------------------------------------------------------------------ AUC


def test_an_auc_of_1_and_of_one_positive_has_the_limits_of_a_share():
    one, few = np.array([1.0, 1.0]), np.array([40.0, 1.0])
    low, high = Logit(one, np.full(2, 0.01), few, few).limits(1.96, 0.0)
    assert low.tolist() == pytest.approx([stats.norm.sf(1.96) ** (1 / 40), stats.norm.sf(1.96)])
    assert high.tolist() == [1.0, 1.0]


def test_with_many_of_both_classes_the_limits_are_those_of_the_logit():
    many = np.full(1, 1e6)
    low, high = Logit(np.array([0.8]), np.array([0.001]), many, many).limits(1.96, 0.0)
    assert (low[0], high[0]) == pytest.approx((0.8 - 0.00196, 0.8 + 0.00196), rel=1e-4)


def test_one_positive_is_no_evidence_of_another_auc():
    random, fails = np.random.default_rng(7), 0
    for _ in range(40):
        score, label = random.random(801), np.array([0, 1] * 300 + [0] * 200 + [1])
        group = np.repeat(["a", "b"], [600, 201])
        fails += eh.auc_parity(score=score, label=label, sensitive=group, score_range=(0, 1)).value.low > 0
    assert fails == 0


# ------------------------------------------------------------------------------------------------ p-values of means


def test_p_is_the_error_at_which_the_interval_reaches_no_gap():
    n = np.full(5, 60.0)
    spread = Means.of(np.array([0.4, 0.5, 0.45, 0.52, 0.41]), np.full(5, 0.05), n, n, (0.0, 1.0))
    test = simultaneous.no_gap(spread, np.ones(5, bool))
    for error, above in ((test.p_value * 0.99, False), (test.p_value * 1.01, True)):
        low = simultaneous.between_extremes([spread], np.ones((1, 5), bool), 1 - error).difference[0]
        assert (low > 0) is above


def test_p_of_many_people_is_that_of_a_normal_and_has_no_floor():
    n = np.full(2, 1e9)
    spread = Means.of(np.array([0.4, 0.4003]), np.full(2, 0.05), n, n, (0.0, 1.0))
    z = 0.0003 / np.sqrt(2 * 0.05 / 1e9)
    assert simultaneous.no_gap(spread, ALL).p_value == pytest.approx(2 * stats.norm.sf(z), rel=1e-3)
    assert 0 < simultaneous.no_gap(spread, ALL).p_value < 1e-100
    assert critical.beyond_tukey(3, 2.0) == pytest.approx(
        stats.studentized_range.sf(2 * np.sqrt(2), 3, np.inf), rel=1e-6
    )


def test_p_is_1_without_a_gap_and_unknown_for_one_group():
    n = np.full(2, 10.0)
    spread = Means.of(np.full(2, 0.4), np.full(2, 0.05), n, n, (0.0, 1.0))
    assert simultaneous.no_gap(spread, ALL).p_value == 1.0
    assert np.isnan(simultaneous.no_gap(spread, np.array([True, False])).p_value)


@pytest.mark.parametrize(("groups", "size", "root"), [(20, 10, False), (8, 40, True), (2, 30, True)])
def test_the_size_of_p_is_at_most_its_nominal_one(groups, size, root):
    random, small = np.random.default_rng(12), 0
    samples = 300
    rows = (
        random.normal(size=(samples, groups, size))
        if not root
        else random.lognormal(0, 1, (samples, groups, size)) ** 2
    )
    n = np.full(groups, float(size))
    for sample in rows:
        spread = Means.of(sample.mean(axis=1), sample.var(axis=1, ddof=1), n, n, (0.0, 1e4) if root else (-9.0, 9.0))
        small += simultaneous.no_gap(Roots(spread) if root else spread, np.ones(groups, bool)).p_value <= 0.05
    assert small / samples <= 0.06
