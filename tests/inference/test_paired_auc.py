"""The change of an AUC of the same people: DeLong's variance by its definition, pair by pair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand.inference.paired_auc import change, delong


def by_pairs(positive, before, after):
    """AUCs and variance from the kernel of every positive with every negative."""

    def kernel(score):
        apart = score[positive][:, None] - score[~positive][None, :]
        return (apart > 0) + 0.5 * (apart == 0)

    old, new = kernel(before), kernel(after)
    moved = new - old
    rows, columns = moved.mean(axis=1), moved.mean(axis=0)
    return old.mean(), new.mean(), rows.var(ddof=1) / len(rows) + columns.var(ddof=1) / len(columns)


@pytest.mark.parametrize("digits", [1, 6])
def test_delong_is_its_definition(digits):
    random = np.random.default_rng(3)
    positive = random.random(120) < 0.4
    before = (positive + random.normal(size=120)).round(digits)
    after = (before + random.normal(size=120) / 2).round(digits)
    assert delong(positive, before, after) == pytest.approx(by_pairs(positive, before, after))


def test_scores_that_rank_alike_have_an_interval():
    positive = np.arange(40) % 2 == 0
    score = np.linspace(0, 1, 40)
    old, new, low, high = change(positive, score, score**3, 1.96)
    assert old == new
    assert low == -high
    assert high > 0.05


def test_one_label_has_no_auc():
    found = change(np.ones(5, dtype=bool), np.arange(5.0), np.arange(5.0), 1.96)
    assert all(map(math.isnan, found[:2]))


def test_the_interval_covers():
    random = np.random.default_rng(8)
    inside, truth = 0, 0.0
    for _ in range(400):
        positive = np.arange(200) % 4 == 0
        signal = positive + random.normal(size=200)
        noisy = [signal + 0.5 * random.normal(size=200) for _ in range(2)]
        _, _, low, high = change(positive, *noisy, 1.959964)
        inside += low <= truth <= high
    assert inside >= 364  # of a true 95 %, fewer are seen in one of a thousand runs
