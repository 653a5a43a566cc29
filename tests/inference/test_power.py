"""What a sample can show: forecasts, checked by simulating what they forecast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evenhand.inference import power, simultaneous
from evenhand.inference.spread import Average, Logit, Proportions
from evenhand.measures.cells import MEASURES

RATE = MEASURES["selection_rate"].form
assert RATE is not None


def expected(rates: Sequence[float], sizes: Sequence[float]) -> Proportions:
    """Groups that show exactly their true rates."""
    n = np.array(sizes, dtype=float)
    return Proportions(np.array(rates) * n, n, RATE)


def settled(rates: Sequence[float], sizes: Sequence[float], judged_on: str, threshold: float, many: int) -> float:
    """How often the interval of a sample lies on one side of the threshold."""
    random = np.random.default_rng(5)
    n = np.round(sizes).astype(int)
    every = np.ones((1, len(n)), dtype=bool)
    count = 0
    for k in random.binomial(n, rates, (many, len(n))):
        spread = Proportions(k.astype(float), n.astype(float), RATE)
        ends = simultaneous.between_extremes([spread], every, 0.95)
        low, high = ends.ratio if judged_on == "ratio" else ends.difference
        count += low > threshold or high < threshold
    return count / many


def everyone(spread: Proportions) -> np.ndarray:
    return np.ones(len(spread.k), dtype=bool)


def forecast(
    rates: Sequence[float], sizes: Sequence[float], judged_on: str = "difference", threshold: float = 0.1, **more: Any
) -> power.Settling | None:
    """The rows that settle groups which show exactly their true rates."""
    spread = expected(rates, sizes)
    how = power.Forecast(judged_on, threshold, 0.95, **more)
    return power.rows_to_settle([spread], everyone(spread)[None, :], how, int(sum(sizes)))


@pytest.mark.parametrize(
    ("rate", "sizes"),
    [
        (0.3, [50] * 8),
        (0.5, [50] * 20),
        (0.1, [200, 200]),
        (0.3, [30, 60, 120, 250, 500, 1000, 2000]),
        (0.01, [50] * 5),
        (0.02, [30, 2000, 100]),
        (0.002, [300] * 10),
    ],
)
def test_the_gap_expected_by_chance_is_the_mean_of_simulated_gaps(rate: float, sizes: list[int]) -> None:
    spread = expected([rate] * len(sizes), sizes)
    drawn = np.random.default_rng(3).binomial(sizes, rate, (40_000, len(sizes))) / np.array(sizes)
    assert power.expected_gap(spread, everyone(spread)) == pytest.approx(np.ptp(drawn, axis=1).mean(), rel=0.03)


def test_chance_needs_two_groups() -> None:
    spread = expected([0.3, 0.3], [100, 0])
    assert math.isnan(power.expected_gap(spread, everyone(spread)))


@pytest.mark.parametrize(
    ("rates", "sizes", "judged_on", "threshold"),
    [
        ([0.35, 0.30], [200, 150], "difference", 0.1),
        ([0.50, 0.30], [60, 40], "difference", 0.1),
        ([0.12, 0.02], [50, 200], "difference", 0.05),
        ([0.50, 0.30], [60, 40], "ratio", 0.8),
        ([0.50, 0.47], [60, 400], "ratio", 0.8),
        ([0.10, 0.05], [300, 300], "ratio", 0.8),
    ],
)
def test_that_many_rows_settle_it_four_times_in_five(
    rates: list[float], sizes: list[int], judged_on: str, threshold: float
) -> None:
    found = forecast(rates, sizes, judged_on, threshold)
    assert found is not None
    share = settled(rates, found.multiplier * np.array(sizes), judged_on, threshold, 1500)
    assert share == pytest.approx(0.8, abs=0.05)
    assert settled(rates, found.multiplier / 2 * np.array(sizes), judged_on, threshold, 500) < 0.7


def test_rows_to_settle_among_many_groups() -> None:
    """Of several groups the farthest two decide; the others can only add to the evidence of a gap."""
    rates, sizes = [0.5, 0.4, 0.4, 0.4, 0.3], [100] * 5
    found = forecast(rates, sizes)
    assert found is not None
    assert settled(rates, found.multiplier * np.array(sizes), "difference", 0.1, 1000) == pytest.approx(0.8, abs=0.06)


def test_the_smaller_group_limits() -> None:
    found = forecast([0.5, 0.45], [1000, 20])
    assert found is not None
    assert found.limiting == 1


def test_what_is_settled_needs_no_more_rows() -> None:
    found = forecast([0.9, 0.1], [500, 500])
    assert found is not None
    assert found.multiplier == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("rates", "judged_on", "threshold"),
    [
        ([0.4, 0.3], "difference", 0.1),
        ([0.5, 0.4], "ratio", 0.8),
        ([0.3, 0.0], "ratio", 0.8),
        ([0.3, 0.3], "ratio", 0.0),
    ],
)
def test_at_the_threshold_no_sample_settles_it(rates: list[float], judged_on: str, threshold: float) -> None:
    assert forecast(rates, [400, 400], judged_on, threshold) is None


@pytest.mark.parametrize("groups", [5, 10, 20])
@pytest.mark.parametrize(
    ("low", "high", "uneven"), [(0.3, 0.3, False), (0.3, 0.3, True), (0.04, 0.04, False), (0.2, 0.5, False)]
)
def test_any_number_of_groups_is_settled_four_times_in_five(groups, low, high, uneven) -> None:
    """One pair and the raw gap promised 80 % and settled 11, 0.4 and 0 % at 5, 10 and 20 groups."""
    sizes = [30] + [1000] * (groups - 1) if uneven else [60] * groups
    rates = np.linspace(low, high, groups).tolist()
    found = forecast(rates, sizes)
    assert found is not None
    assert settled(rates, found.multiplier * np.array(sizes), "difference", 0.1, 600) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(("judged_on", "threshold", "one_sided"), [("difference", 0.1, False), ("ratio", 0.8, True)])
@pytest.mark.parametrize("rates", [[0.5, 0.5, 0.5, 0.5], [0.5, 0.3, 0.45, 0.5]])
def test_groups_against_a_reference_are_settled_too(judged_on, threshold, one_sided, rates) -> None:
    sizes = [400, 100, 200, 100]
    found = forecast(rates, sizes, judged_on, threshold, place=0, one_sided=one_sided)
    assert found is not None
    n, count = np.round(found.multiplier * np.array(sizes)).astype(int), 0
    compared = np.array([[False, True, True, True]])
    for k in np.random.default_rng(4).binomial(n, rates, (500, 4)):
        spread = Proportions(k.astype(float), n.astype(float), RATE)
        ends = simultaneous.against([spread], [spread.scaled(1.0, [0] * 4)], compared, 0.95)
        if judged_on == "ratio":
            failed = np.any(ends.ratio_near[1][compared] < threshold)
            passed = np.all(ends.ratio_far[0][compared] >= threshold)
        else:
            low, high = (np.array(end)[compared] for end in ends.difference_near)
            failed = np.any((low > threshold) | (high < -threshold))
            low, high = (np.array(end)[compared] for end in ends.difference_far)
            passed = np.all((low >= -threshold) & (high <= threshold))
        count += failed or passed
    assert count / 500 == pytest.approx(0.8, abs=0.07)


def test_nothing_to_compare_is_not_forecast() -> None:
    spread, how = expected([0.3, 0.4], [100, 100]), power.Forecast("difference", 0.1, 0.95)
    assert power.rows_to_settle([spread], np.array([[True, False]]), how, 200) is None
    assert power.rows_to_settle([spread], np.array([[False, True]]), power.Forecast("ratio", 0.8, 0.95, 0), 200) is None


def test_a_pass_needs_every_measure() -> None:
    one, far = expected([0.3, 0.3], [100, 100]), expected([0.3, 0.36], [100, 100])
    how, usable = power.Forecast("difference", 0.1, 0.95), np.ones((2, 2), dtype=bool)
    both, worse = (power.rows_to_settle([one, other], usable, how, 200) for other in (one, far))
    alone = forecast([0.3, 0.3], [100, 100])
    assert both is not None
    assert worse is not None
    assert alone is not None
    assert alone.multiplier < both.multiplier < worse.multiplier


def test_rates_are_drawn_together_as_far_as_they_differ_by_chance() -> None:
    spread = expected([0.1, 0.3, 0.5], [1000, 1000, 1000])
    raw, freed = power.variance_between(spread, everyone(spread))
    near = power.shrunken(spread, everyone(spread)).values
    assert np.ptp(near) / 0.4 == pytest.approx(freed / raw)
    assert near.mean() == pytest.approx(0.3)
    noise = expected([0.28, 0.3, 0.32], [50, 50, 50])
    assert np.ptp(power.shrunken(noise, everyone(noise)).values) == pytest.approx(0)
    assert power.shrunken(noise, np.array([True, False, False])) is noise


@pytest.mark.parametrize(("groups", "size", "rate"), [(2, 400, 0.3), (2, 2000, 0.1), (6, 400, 0.5)])
def test_a_detectable_gap_is_found_four_times_in_five(groups: int, size: int, rate: float) -> None:
    spread = expected([rate] * groups, [size] * groups)
    gap = power.detectable_gap(spread, (0, 1), groups, 0.95)
    rates = np.full(groups, rate)
    rates[:2] += gap / 2, -gap / 2
    random = np.random.default_rng(6)
    found = 0
    for k in random.binomial(size, rates, (1000, groups)):
        pair = Proportions(k.astype(float), np.full(groups, float(size)), RATE)
        found += simultaneous.between_extremes([pair], np.ones((1, groups), dtype=bool), 0.95).difference[0] > 0
    assert found / 1000 == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(("sizes", "rate"), [((50, 50), 0.02), ((400, 400), 0.02), ((2000, 60), 0.05), ((40, 40), 0.9)])
def test_a_detectable_gap_of_rare_rates_is_found_four_times_in_five(sizes: tuple[int, int], rate: float) -> None:
    """It was 51 % at a rate of .02."""
    gap = power.detectable_gap(expected([rate, rate], sizes), (0, 1), 2, 0.95)
    bottom = min(max(rate - gap / 2, 0.0), 1 - gap)
    random, found = np.random.default_rng(6), 0
    for rates in ([bottom, bottom + gap], [bottom + gap, bottom]):
        for k in random.binomial(sizes, rates, (500, 2)):
            pair = Proportions(k.astype(float), np.array(sizes, dtype=float), RATE)
            found += simultaneous.between_extremes([pair], np.ones((1, 2), dtype=bool), 0.95).difference[0] > 0
    assert found / 1000 == pytest.approx(0.8, abs=0.05)


def test_two_people_show_no_gap() -> None:
    assert math.isnan(power.detectable_gap(expected([0.5, 0.5], [2, 2]), (0, 1), 2, 0.95))


def test_the_variance_between_groups_is_freed_of_noise() -> None:
    random = np.random.default_rng(7)
    rates, n = np.linspace(0.2, 0.4, 12), np.full(12, 60)
    found = []
    for k in random.binomial(n, rates, (4000, 12)):
        spread = Proportions(k.astype(float), n.astype(float), RATE)
        found.append(power.variance_between(spread, everyone(spread)))
    raw, freed = np.mean(found, axis=0)
    assert freed == pytest.approx(rates.var(ddof=1), rel=0.05)
    assert raw > 1.5 * rates.var(ddof=1)


def test_without_a_gap_the_raw_variance_is_noise() -> None:
    spread = expected([0.3, 0.3, 0.3], [50, 50, 50])
    assert power.variance_between(spread, everyone(spread))[1] == 0
    assert math.isnan(power.variance_between(spread, np.array([True, False, False]))[0])


def test_a_detectable_gap_beyond_what_is_possible_is_undefined():
    few, half = np.full(2, 2.0), np.full(2, 0.5)
    auc = Logit(half, np.full(2, 0.4), few, few)
    rates = Proportions(half, np.ones(2), MEASURES["selection_rate"].form)
    for spread in (auc, Average([rates, rates])):
        assert math.isnan(power.detectable_gap(spread, (0, 1), 2, 0.95))
    many = Logit(half, np.full(2, 0.02), 100 * few, 100 * few)
    assert power.detectable_gap(many, (0, 1), 2, 0.95) == pytest.approx(0.0793, abs=0.001)
