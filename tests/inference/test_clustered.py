"""As how many strangers clustered rows count, and limits that go by clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from evenhand.inference import simultaneous
from evenhand.inference.clustered import Clustered, ClusteredAverage, Together, mean_of, strangers
from evenhand.inference.spread import PLAIN, Average, Proportions


def clustered(k: list[float], n: list[float], freedom: float = 40.0, correlation: float = 0.0) -> Clustered:
    counts, sizes = np.array(k), np.array(n)
    rates = counts / sizes
    errors = np.sqrt(rates * (1 - rates) / (sizes - 1))
    shared = np.outer(errors, errors) * np.where(np.eye(len(k)), 1.0, correlation)
    return Clustered(counts, sizes, PLAIN, sizes * 3, np.full(len(k), freedom), Together(shared, errors))


def test_rows_of_one_are_strangers() -> None:
    theta, people = np.array([0.3, 0.5]), np.array([100.0, 80.0])
    variance = theta * (1 - theta) / people
    assert strangers(theta, variance, people, people).tolist() == [100.0, 80.0]


def test_rows_of_a_cluster_that_are_all_alike_are_one() -> None:
    theta, people, worth = np.array([0.4, 0.4]), np.array([5000.0, 5000.0]), np.array([1000.0, 1000.0])
    variance = theta * (1 - theta) / worth
    assert strangers(theta, variance, people, worth) == pytest.approx([1000, 1000], rel=0.01)


def test_a_rate_of_nothing_takes_the_design_effect_of_the_others() -> None:
    theta, people, worth = np.array([0.4, 0.0]), np.array([5000.0, 500.0]), np.array([1000.0, 100.0])
    variance = theta * (1 - theta) / worth
    assert strangers(theta, variance, people, worth)[1] == pytest.approx(100, rel=0.01)


def test_one_side_alone_goes_by_clusters_too() -> None:
    spread, plain = (
        clustered([30, 60], [100, 90], freedom=5),
        Proportions(np.array([30.0, 60]), np.array([100.0, 90]), PLAIN),
    )
    assert np.array_equal(spread.limits(2.0, 0.25), [spread.lower(2.0, 0.25), spread.upper(2.0, 0.25)])
    assert (spread.lower(2.0, 0.25) < plain.lower(2.0, 0.25)).all()
    assert (spread.upper(2.0, 0.25) > plain.upper(2.0, 0.25)).all()


def test_where_nobody_can_tell_a_cluster_is_one_person() -> None:
    theta, people, worth = np.zeros(2), np.array([500.0, 200.0]), np.array([100.0, 40.0])
    assert strangers(theta, np.zeros(2), people, worth).tolist() == [100.0, 40.0]


def test_limits_go_by_the_number_of_clusters() -> None:
    spread = clustered([30.0], [100.0], freedom=10.0)
    fewer = (student.ppf(0.025, 299) / student.ppf(0.025, 10)) ** 2
    plain = Proportions(np.array([30.0]) * fewer, np.array([100.0]) * fewer, PLAIN)
    deviate = 1.959963984540054
    for mine, theirs in zip(spread.limits(deviate, 0.0), plain.limits(deviate, 0.0), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9)


def test_what_groups_share_does_not_tell_them_apart() -> None:
    usable = np.ones((1, 2), dtype=bool)
    high = [
        simultaneous.between_extremes([clustered([30.0, 40.0], [100.0, 100.0], correlation=rho)], usable, 0.95)
        for rho in (-0.5, 0.0, 0.5, 0.9)
    ]
    ends = [each.difference[1] for each in high]
    assert ends == sorted(ends, reverse=True)


def test_the_rest_hangs_together_with_its_group() -> None:
    spread = clustered([30.0, 40.0], [100.0, 100.0], correlation=0.8)
    base = spread.scaled(1.0, [0, 0])
    assert isinstance(base, Clustered)
    assert spread.together.with_base(base.together) == pytest.approx([1.0, 0.8])
    p = simultaneous.no_differences(spread, base)
    assert p[0] == 1.0
    alone = clustered([30.0, 40.0], [100.0, 100.0])
    assert p[1] < simultaneous.no_differences(alone, alone.scaled(1.0, [0, 0]))[1]


def test_more_clusters_of_the_same_kind() -> None:
    spread = clustered([30.0, 40.0], [100.0, 100.0], freedom=19.0).scaled(4.0, [1])
    assert isinstance(spread, Clustered)
    assert (spread.n.tolist(), spread.freedom.tolist(), spread.people.tolist()) == ([400.0], [79.0], [1200.0])


def test_a_mean_over_clusters() -> None:
    part = clustered([30.0, 40.0], [100.0, 100.0])
    mean = mean_of([part, part])
    assert isinstance(mean, ClusteredAverage)
    for mine, theirs in zip(mean.limits(1.96, 0.0), part.limits(1.96, 0.0), strict=True):
        assert mine == pytest.approx(theirs), "of the same errors the mean is no surer than each"
    plain = Proportions(np.array([30.0]), np.array([100.0]), PLAIN)
    assert isinstance(mean_of([plain, plain]), Average)
    assert not isinstance(mean_of([plain, plain]), ClusteredAverage)
