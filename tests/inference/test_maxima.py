"""The deviate that the largest of many overlapping gaps stays below."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.inference import critical, maxima


def of_sets(places, variance, *, alone=False):
    """The sets of groups that these places of base cells make, each cell with the same mass as its variance."""
    found = []
    for place in places:
        count = place.max() + 1
        mass = np.bincount(place[place >= 0], weights=variance[place >= 0], minlength=count)
        rest = variance.sum() - mass
        outside = np.zeros(count) if alone else np.where(rest > 0, 1 / np.maximum(rest, 1e-300), 0.0)
        found.append(maxima.Overlapping(place, [1 / mass], [outside], np.ones(count, dtype=bool)))
    return lambda: found


def test_one_group_has_the_normal_deviate():
    variance = np.full(40, 3.0)
    place = np.where(np.arange(40) < 12, 0, -1)
    drawn = maxima.largest([variance], of_sets([place], variance), 40_000, np.random.default_rng(0))
    assert np.quantile(drawn, 0.95) == pytest.approx(1.96, abs=0.03)


def test_groups_that_share_nobody_have_nearly_sidaks_deviate():
    variance = np.full(400, 1.0)
    place = np.arange(400) // 4
    drawn = maxima.largest([variance], of_sets([place], variance, alone=True), 20_000, np.random.default_rng(0))
    assert np.quantile(drawn, 0.95) == pytest.approx(critical.sidak(100, 0.95), abs=0.03)


def test_the_same_group_many_times_counts_once():
    variance = np.random.default_rng(1).gamma(2, size=60)
    place = np.where(np.arange(60) < 20, 0, -1)
    drawn = maxima.largest([variance], of_sets([place] * 50, variance), 20_000, np.random.default_rng(0))
    assert np.quantile(drawn, 0.95) == pytest.approx(1.96, abs=0.04)


def test_it_is_the_maximum_of_normals_with_the_correlations_of_the_gaps():
    """Against draws of the gaps themselves, from their covariance matrix."""
    random = np.random.default_rng(2)
    variance = random.gamma(2, size=90)
    places = [random.integers(0, 3, 90), random.integers(0, 4, 90), random.integers(-1, 5, 90)]
    sets = of_sets(places, variance)
    rows = [
        np.where(each.place == group, each.inside[0][group], -each.outside[0][group])
        for each in sets()
        for group in range(len(each.compared))
    ]
    covariance = np.array(rows) @ np.diag(variance) @ np.array(rows).T
    scale = np.sqrt(np.diag(covariance))
    wanted = np.abs(random.multivariate_normal(np.zeros(len(rows)), covariance / np.outer(scale, scale), 100_000))
    drawn = maxima.largest([variance], sets, 40_000, np.random.default_rng(0))
    for share in (0.5, 0.9, 0.95, 0.99):
        assert np.quantile(drawn, share) == pytest.approx(np.quantile(wanted.max(axis=1), share), abs=0.05)


def test_draws_come_in_blocks_that_do_not_change_what_they_are_about(monkeypatch):
    variance = np.full(50, 1.0)
    sets = of_sets([np.arange(50) // 5], variance)
    monkeypatch.setattr(maxima, "_MOST_DRAWN", 500)
    assert len(maxima.largest([variance], sets, 137, np.random.default_rng(0))) == 137


def test_groups_that_are_not_compared_do_not_count():
    variance = np.full(50, 1.0)
    (each,) = of_sets([np.arange(50) // 5], variance)()
    only = maxima.Overlapping(each.place, each.inside, each.outside, np.arange(10) == 3)
    drawn = maxima.largest([variance], lambda: [only], 20_000, np.random.default_rng(0))
    assert np.quantile(drawn, 0.95) == pytest.approx(1.96, abs=0.04)


def test_a_component_without_noise_moves_nothing():
    variance = np.zeros(10)
    each = maxima.Overlapping(np.arange(10) // 5, [np.ones(2)], [np.ones(2)], np.ones(2, dtype=bool))
    assert (maxima.largest([variance], lambda: [each], 10, np.random.default_rng(0)) == 0).all()


def test_the_deviate_is_an_order_statistic_and_at_most_sidaks():
    assert maxima.deviate(np.arange(1.0, 20.0), 10**9, 0.95) == critical.sidak(10**9, 0.95)
    assert maxima.deviate(np.linspace(0, 1, 19), 100, 0.95) == 1.0  # the 19th of 19
    assert maxima.deviate(np.linspace(0, 1, 10), 100, 0.95) == critical.sidak(100, 0.95)  # too few draws to tell
