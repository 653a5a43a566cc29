"""Measures under two models: their values are those of each model alone, their variance that of the same people."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.cube.joint import Joint
from evenhand.measures.cells import MEASURES, evaluate, measure
from evenhand.measures.paired import can_pair, cells_of, paired_rates

PAIRED = [row for row in MEASURES.values() if can_pair(row) and "prediction" in row.needs]


def joint(cells, weights=None) -> Joint:
    n = np.asarray(cells)
    w = None if weights is None else n * weights
    return Joint(("g",), tuple((name,) for name in "abc"[: len(n)]), n, w, None if w is None else n * weights**2)


def sample(random, people: int) -> Joint:
    """Models that agree in four of five, whose errors are related."""
    label = random.random(people) < 0.4
    old = np.where(random.random(people) < 0.75, label, ~label)
    new = np.where(random.random(people) < 0.8, old, label)
    n = np.zeros((1, 3, 2, 2), dtype=np.int64)
    np.add.at(n, (0, label.astype(int), old.astype(int), new.astype(int)), 1)
    return joint(n)


def test_what_can_be_paired():
    assert {row.name for row in PAIRED} >= {"accuracy", "true_positive_rate", "positive_predictive_value", "f1"}
    assert not can_pair(MEASURES["selected_share"])
    assert not can_pair(MEASURES["count"])
    assert not can_pair(MEASURES["error_balance"])
    assert not can_pair(measure("rows", lambda label, prediction: 1.0))
    assert can_pair(measure("flagged", numerator="FP", denominator="TN FP FN TP"))


def test_values_are_those_of_each_model_alone():
    random = np.random.default_rng(1)
    both = joint(random.integers(0, 9, (3, 3, 2, 2)))
    rates = paired_rates(PAIRED, both)
    for after, values in ((False, rates.before), (True, rates.after)):
        alone = evaluate(cells_of(both, after), PAIRED)
        np.testing.assert_allclose(values, [alone[row.name] for row in PAIRED])


def test_the_variance_of_a_rate_is_that_of_the_flips():
    n = np.zeros((1, 3, 2, 2), dtype=np.int64)
    n[0, 0], n[0, 1] = [[30, 7], [4, 9]], [[10, 5], [2, 33]]
    rates = paired_rates([MEASURES["selection_rate"], MEASURES["true_positive_rate"]], joint(n)).moves
    for place, (up, down, people) in enumerate([(12, 6, 100), (5, 2, 50)]):
        assert rates.change[place, 0] == pytest.approx((up - down) / people)
        assert rates.variance()[place, 0] == pytest.approx(((up + down) - (up - down) ** 2 / people) / people**2)


def test_the_variance_is_what_samples_show():
    random = np.random.default_rng(5)
    moves = [paired_rates(PAIRED, sample(random, 300)).moves for _ in range(1500)]
    seen = np.var([move.change[:, 0] for move in moves], axis=0)
    said = np.mean([move.variance()[:, 0] for move in moves], axis=0)
    np.testing.assert_allclose(said, seen, rtol=0.15)


def test_equal_weights_change_no_error():
    random = np.random.default_rng(2)
    n = random.integers(1, 9, (2, 3, 2, 2))
    plain, weighted = (paired_rates(PAIRED, joint(n, w)).moves for w in (None, 2.5))
    np.testing.assert_allclose(plain.variance(), weighted.variance())
    np.testing.assert_allclose(plain.change, weighted.change)


def test_a_side_without_labels_has_no_value():
    n = np.zeros((1, 3, 2, 2), dtype=np.int64)
    n[0, 1, 1, 1], n[0, 2, 0, 0] = 10, 5
    rates = paired_rates([MEASURES["true_positive_rate"]], joint(n))
    assert np.isnan(rates.before[0, 0])
    assert np.isnan(rates.after[0, 0])
