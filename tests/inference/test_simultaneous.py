"""The default interval: what must hold for any table of groups."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.errors import DataError
from evenhand.inference import limits, simultaneous
from evenhand.inference.limits import FARTHEST_DEVIATE
from evenhand.inference.simultaneous import Against, Ends
from evenhand.inference.spread import Average, Largest, Normal, Proportions
from evenhand.measures.cells import MEASURES
from support.profiles import examples

RATE = MEASURES["selection_rate"].form
F1 = MEASURES["f1"].form
assert RATE is not None
assert F1 is not None

Table = tuple[list[int], list[int]]


@st.composite
def tables(draw: st.DrawFn, least: int = 1, most_groups: int = 6) -> Table:
    n = draw(st.lists(st.integers(least, 400), min_size=2, max_size=most_groups))
    return [draw(st.integers(0, of)) for of in n], n


def proportions(k: Sequence[float], n: Sequence[float]) -> Proportions:
    return Proportions(np.array(k, dtype=float), np.array(n, dtype=float), RATE)


def extremes(k: Sequence[float], n: Sequence[float], confidence: float = 0.95) -> Ends:
    return simultaneous.between_extremes([proportions(k, n)], np.ones((1, len(k)), dtype=bool), confidence)


def against(k: Sequence[float], n: Sequence[float], reference: int, confidence: float = 0.95) -> Against:
    compared = np.arange(len(k))[None] != reference
    base = proportions([k[reference]] * len(k), [n[reference]] * len(n))
    return simultaneous.against([proportions(k, n)], [base], compared, confidence)


def beside_the_rest(k: Sequence[float], n: Sequence[float], shares: npt.NDArray[np.float64] | None = None) -> Against:
    rest = proportions([sum(k) - some for some in k], [sum(n) - of for of in n])
    compared = np.ones((1, len(k)), dtype=bool)
    return simultaneous.against([proportions(k, n)], [rest], compared, 0.95, shares=shares)


def inside(inner: tuple[float, float], outer: tuple[float, float]) -> bool:
    return outer[0] <= inner[0] + 1e-12 and inner[1] <= outer[1] + 1e-12


# ------------------------------------------------------------------------------------------------ between extremes


@given(tables())
def test_it_holds_the_estimate_and_stays_in_its_range(table: Table) -> None:
    ends, rates = extremes(*table), np.divide(*table)
    assert 0 <= ends.difference[0] <= np.ptp(rates) + 1e-12
    assert np.ptp(rates) - 1e-12 <= ends.difference[1] <= 1 + 1e-12
    assert 0 <= ends.ratio[0] <= ends.ratio[1] <= 1
    if rates.max() > 0:
        assert inside((rates.min() / rates.max(),) * 2, ends.ratio)


@given(tables(), st.sampled_from([(0.8, 0.9), (0.9, 0.95), (0.95, 0.99), (0.99, 0.9999)]))
def test_more_confidence_is_never_narrower(table: Table, levels: tuple[float, float]) -> None:
    less, more = (extremes(*table, confidence=level) for level in levels)
    assert inside(less.difference, more.difference)
    assert inside(less.ratio, more.ratio)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(table: Table, random: object) -> None:
    order = list(range(len(table[0])))
    random.shuffle(order)  # type: ignore[attr-defined]
    ends, turned = extremes(*table), extremes(*([side[i] for i in order] for side in table))
    assert turned.difference == pytest.approx(ends.difference, abs=1e-12)
    assert turned.ratio == pytest.approx(ends.ratio, abs=1e-12)


@given(tables())
def test_those_not_selected_differ_as_much_as_those_selected(table: Table) -> None:
    k, n = table
    ends, others = extremes(k, n), extremes([of - some for some, of in zip(k, n, strict=True)], n)
    assert others.difference == pytest.approx(ends.difference, abs=1e-9)


@given(tables())
def test_the_pair_it_names_has_the_near_end(table: Table) -> None:
    ends = extremes(*table)
    (pairs,) = ends.pairs
    high, low = np.unravel_index(np.nanargmax(pairs.difference_near), pairs.difference_near.shape)
    alone = proportions(*table)
    q = simultaneous.critical.tukey(len(table[0]), 0.95)
    down, up = alone.limits(q, 0.0)
    values = alone.values
    near = values[high] - values[low] - math.hypot(values[high] - down[high], up[low] - values[low])
    assert max(near, 0.0) == pytest.approx(ends.difference[0], abs=1e-12)


@given(tables(), st.integers(0, 5))
def test_a_group_without_anyone_changes_nothing(table: Table, place: int) -> None:
    k, n = table
    with_empty = extremes([*k[:place], 0, *k[place:]], [*n[:place], 0, *n[place:]])
    assert with_empty.difference == extremes(k, n).difference
    assert with_empty.ratio == extremes(k, n).ratio


@given(tables(), tables())
def test_two_measures_come_to_the_worse_one_at_the_root_of_the_confidence(one: Table, two: Table) -> None:
    count = min(len(one[0]), len(two[0]))
    parts = [proportions(*(side[:count] for side in table)) for table in (one, two)]
    every = np.ones((1, count), dtype=bool)
    both = simultaneous.between_extremes(parts, np.repeat(every, 2, axis=0), 0.95)
    alone = [simultaneous.between_extremes([part], every, math.sqrt(0.95)) for part in parts]
    assert both.difference[0] == max(ends.difference[0] for ends in alone)
    assert both.ratio[1] == min(ends.ratio[1] for ends in alone)
    # The far end belongs to one pair in one measure: nothing is divided there.
    assert both.difference[1] <= max(ends.difference[1] for ends in alone) + 1e-12
    assert both.ratio[0] >= min(ends.ratio[0] for ends in alone) - 1e-12


def test_more_groups_make_the_same_gap_less_sure() -> None:
    near = [extremes([60, 40, *[50] * more], [100] * (2 + more)).difference[0] for more in (0, 1, 5, 30)]
    assert near == sorted(near, reverse=True)
    assert near[0] > 0.05


def test_more_people_make_it_narrower() -> None:
    widths = [np.ptp(extremes([3 * 10**i, 5 * 10**i], [10 * 10**i] * 2).difference) for i in range(11)]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("k", "n"),
    [([0, 5], [30, 50]), ([0, 2000], [30, 2000]), ([30, 1999], [30, 2000]), ([0, 1], [1, 1]), ([1, 1], [1, 1])],
)
def test_nobody_or_everybody_selected_still_leaves_doubt(k: list[int], n: list[int]) -> None:
    ends = extremes(k, n)
    assert ends.difference[1] > ends.difference[0]
    assert ends.difference[0] < abs(k[0] / n[0] - k[1] / n[1]) or ends.difference[0] == 0
    assert not np.isnan([*ends.difference, *ends.ratio]).any()


def test_nobody_selected_in_one_group_makes_any_small_ratio_possible() -> None:
    assert extremes([0, 50, 40], [100, 100, 100]).ratio[0] == 0


def test_nobody_selected_at_all() -> None:
    ends = extremes([0, 0, 0], [30, 200, 2000])
    assert ends.ratio == (0.0, 1.0)
    assert ends.difference[0] == 0
    assert 0 < ends.difference[1] < 0.25


def test_one_person_in_each_group_says_nothing() -> None:
    ends = extremes([1, 0], [1, 1])
    assert ends.difference == (0.0, 1.0)
    assert ends.ratio == (0.0, 1.0)


def test_a_trillion_people() -> None:
    n = 10**12
    ends = extremes([0.3 * n, 0.3 * n + 0.01 * n, 0], [n, n, n])
    assert ends.difference == pytest.approx((0.31, 0.31), abs=1e-5)
    two = extremes([3, 10**11], [n, n])
    assert two.difference == pytest.approx((0.1, 0.1), abs=1e-5)
    assert 0 < two.ratio[0] < 3e-11 < two.ratio[1] < 2e-10


def test_fewer_than_two_groups_leave_everything_open() -> None:
    assert extremes([3, 0], [10, 0]) == Ends(pairs=(None,))


def test_unusable_groups_take_no_part() -> None:
    spread = proportions([5, 60, 90], [100, 100, 100])
    ends = simultaneous.between_extremes([spread], np.array([[True, True, False]]), 0.95)
    assert ends.difference == extremes([5, 60], [100, 100]).difference


def test_a_function_of_a_proportion_has_the_limits_of_the_function() -> None:
    k, n = np.array([10.0, 40.0]), np.array([100.0, 90.0])
    low, high = Proportions(k, n, F1).limits(2.0, 0.25)
    plain = Proportions(k, n, RATE).limits(2.0, 0.25)
    np.testing.assert_allclose(low, 2 * plain[0] / (1 + plain[0]))
    np.testing.assert_allclose(high, 2 * plain[1] / (1 + plain[1]))


def test_a_mean_of_two_rates_is_surer_than_each() -> None:
    one, two = proportions([30, 50], [100, 100]), proportions([60, 20], [100, 100])
    down, up = Average([one, two]).limits(1.96, 0.0)
    widths = [np.subtract(*part.limits(1.96, 0.0)[::-1]) for part in (one, two)]
    np.testing.assert_allclose(up - down, np.hypot(*widths) / 2, rtol=0.01)


def test_normal_values_are_compared_as_normal_values() -> None:
    spread = Normal(np.array([1.0, 3.0]), np.array([0.3, 0.4]), np.array([50.0, 50.0]))
    ends = simultaneous.between_extremes([spread], np.ones((1, 2), dtype=bool), 0.95)
    # Student's quantile with 49 degrees of freedom: the errors are estimated from 50 people each.
    assert ends.difference == pytest.approx((2 - 2.009575 * 0.5, 2 + 2.009575 * 0.5), abs=1e-5)


# ------------------------------------------------------------------------------------------------ each group's own


def test_p_of_values_with_errors_has_no_floor():
    """Beyond a deviate of 8.3 the upper tail of a normal rounds to 1: Student's quantile comes from the lower one."""
    spread = Normal(np.array([0.0, 0.5]), np.full(2, 0.01), np.full(2, 1e9))
    z = 0.5 / (0.01 * np.sqrt(2))
    assert simultaneous.no_gap(spread, np.ones(2, bool)).p_value == pytest.approx(2 * stats.norm.sf(z), rel=1e-2, abs=0)


def test_margins_too_large_to_square_are_joined_without_a_warning():
    for common, expected in ((0.0, np.hypot(3e200, 4e200)), (-1.0, 7e200), (np.array([-1.0]), 7e200)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = limits.joined(np.array([3e200]), np.array([4e200]), common)
        assert found[0] == pytest.approx(expected)


@given(tables())
def test_own_limits_hold_the_value(table: Table) -> None:
    spread = proportions(*table)
    low, high = simultaneous.own(spread, 0.95)
    assert ((low <= spread.values) & (spread.values <= high)).all()


# ------------------------------------------------------------------------------------------------ against a baseline


@given(tables())
def test_against_a_reference_it_holds_the_estimate(table: Table) -> None:
    ends, rates = against(*table, reference=0), np.divide(*table)
    for low, high in (ends.difference_near, ends.difference_far):
        assert np.isnan(low[0, 0])
        assert (low[0, 1:] <= (rates - rates[0])[1:] + 1e-12).all()
        assert (high[0, 1:] >= (rates - rates[0])[1:] - 1e-12).all()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (rates / rates[0])[1:]
    known = ~np.isnan(ratio)
    for low, high in (ends.ratio_near, ends.ratio_far):
        assert (low[0, 1:][known] <= ratio[known] * (1 + 1e-12)).all()
        assert (high[0, 1:][known] >= ratio[known] * (1 - 1e-12)).all()


@given(tables(), st.sampled_from([(0.8, 0.9), (0.9, 0.95), (0.95, 0.99)]))
def test_against_a_reference_more_confidence_is_never_narrower(table: Table, levels: tuple[float, float]) -> None:
    less, more = (against(*table, reference=0, confidence=level) for level in levels)
    for name in ("difference_near", "difference_far", "ratio_near", "ratio_far"):
        (low, high), (lower, higher) = (getattr(ends, name) for ends in (less, more))
        assert (lower[0, 1:] <= low[0, 1:] + 1e-12).all()
        assert (higher[0, 1:] >= high[0, 1:] - 1e-9).all()


@given(tables(most_groups=2))
def test_two_groups_seen_from_either_side(table: Table) -> None:
    first, second = against(*table, reference=0), against(*table, reference=1)
    low, high = first.difference_near
    assert (low[0, 1], high[0, 1]) == pytest.approx(
        (-second.difference_near[1][0, 0], -second.difference_near[0][0, 0]), abs=1e-12
    )
    least, most = first.ratio_near
    if min(table[0]) > 0:
        assert (least[0, 1], most[0, 1]) == pytest.approx(
            (1 / second.ratio_near[1][0, 0], 1 / second.ratio_near[0][0, 0]), rel=1e-9
        )


@given(tables(most_groups=2))
def test_with_two_groups_a_reference_and_the_extremes_agree_on_a_gap(table: Table) -> None:
    between, beside = extremes(*table), against(*table, reference=0)
    low, high = (float(end[0, 1]) for end in beside.difference_near)
    assert max(0.0, low, -high) == pytest.approx(between.difference[0], abs=1e-9)


@given(tables())
def test_the_order_of_groups_does_not_matter_against_a_reference(table: Table) -> None:
    k, n = table
    ends, turned = against(k, n, 0), against([k[0], *k[:0:-1]], [n[0], *n[:0:-1]], 0)
    np.testing.assert_allclose(ends.difference_near[0][0, 1:], turned.difference_near[0][0, :0:-1], atol=1e-12)
    np.testing.assert_allclose(ends.ratio_near[1][0, 1:], turned.ratio_near[1][0, :0:-1], rtol=1e-9)


@given(tables())
def test_against_everyone_is_against_the_rest_seen_through_the_share(table: Table) -> None:
    k, n = table
    share = np.array(n, dtype=float)[None] / sum(n)
    rest, everyone = beside_the_rest(k, n), beside_the_rest(k, n, share)
    for name in ("difference_near", "difference_far"):
        for through, end in zip(getattr(everyone, name), getattr(rest, name), strict=True):
            np.testing.assert_allclose(through, (1 - share) * end, atol=1e-12)
    with np.errstate(divide="ignore"):
        for name in ("ratio_near", "ratio_far"):
            for through, end in zip(getattr(everyone, name), getattr(rest, name), strict=True):
                np.testing.assert_allclose(through, 1 / (share + (1 - share) / end), rtol=1e-9)
    rates, overall = np.divide(k, n), sum(k) / sum(n)
    low, high = everyone.difference_near
    assert (low[0] <= rates - overall + 1e-12).all()
    assert (high[0] >= rates - overall - 1e-12).all()


def test_a_reference_that_nobody_belongs_to_compares_nothing() -> None:
    ends = against([3, 0, 9], [10, 0, 20], reference=1)
    assert np.isnan(ends.difference_near).all()
    assert np.isnan(ends.ratio_far).all()


def test_against_a_reference_at_the_edges() -> None:
    ends = against([0, 0, 30, 1], [30, 2000, 30, 1], reference=1)
    low, high = (end[0] for end in ends.difference_near)
    assert not np.isnan(np.delete(low, 1)).any()
    assert low[0] < 0 < high[0]
    least, most = (end[0] for end in ends.ratio_near)
    assert (least[0], most[0]) == (0.0, np.inf)
    assert least[2] > 1
    assert most[2] == np.inf


def test_against_a_reference_of_a_trillion() -> None:
    n = 10**12
    low, high = against([0.3 * n, 0.25 * n, 7], [n, n, 20], reference=0).difference_near
    assert (low[0, 1], high[0, 1]) == pytest.approx((-0.05, -0.05), abs=1e-5)
    assert low[0, 2] < 0.05 < high[0, 2]


def test_against_everyone_without_shares_the_margins_are_added_and_cover():
    """Means of groups against the mean of all, as if nothing were known of how the two hang together.

    All true gaps are known, so the share of samples in which every interval holds can be counted; 95 % is asked for.
    """
    random, sizes, truth = np.random.default_rng(0), np.array([30, 60, 200]), np.array([0.0, 0.5, 0.2])
    true_gaps, held, widths = truth - sizes @ truth / sizes.sum(), 0, []
    runs = 400
    for _ in range(runs):
        groups = [random.normal(mean, 1, n) for mean, n in zip(truth, sizes, strict=True)]
        mean, everyone = Normal(*_moments(groups)), Normal(*_moments([np.concatenate(groups)]))
        rest = Normal(*_moments([np.concatenate(groups[:i] + groups[i + 1 :]) for i in range(3)]))
        compared, none = np.ones((1, 3), dtype=bool), np.full((1, 3), np.nan)
        ends = simultaneous.against([mean], [everyone.scaled(1.0, [0] * 3)], compared, 0.95, shares=none)
        shares = (sizes / sizes.sum())[None, :]
        exact = simultaneous.against([mean], [rest], compared, 0.95, shares=shares)
        low, high = (end[0] for end in ends.difference_near)
        held += bool(((low <= true_gaps) & (true_gaps <= high)).all())
        widths.append((high - low) / (exact.difference_near[1] - exact.difference_near[0])[0])
    assert held / runs > 0.95
    assert 1 < np.mean(widths) < 5


def _moments(groups):
    return tuple(
        np.array([part(group) for group in groups])
        for part in (np.mean, lambda g: np.std(g, ddof=1) / np.sqrt(len(g)), lambda g: float(len(g)))
    )


# --------------------------------------------------------------------------------------------------- many groups


@st.composite
def many(draw: st.DrawFn) -> tuple[Table, list[bool]]:
    """More groups than are all compared: some of one person, rates of 0 and 1, and some that are yardsticks."""
    groups = draw(st.integers(65, 90))
    n = draw(st.lists(st.sampled_from([1, 2, 5, 30, 31, 400, 5000]), min_size=groups, max_size=groups))
    share = draw(st.lists(st.sampled_from([0.0, 0.02, 0.3, 0.5, 1.0]), min_size=groups, max_size=groups))
    able = draw(st.lists(st.booleans(), min_size=groups, max_size=groups))
    return ([round(part * of) for part, of in zip(share, n, strict=True)], n), able if any(able) else [True] * groups


@examples(100)
@given(many(), st.booleans())
def test_of_many_groups_those_left_out_change_nothing(drawn, averaged):
    (k, n), able = drawn
    spread = proportions(k, n)
    if averaged:
        spread = Average([spread, proportions(k[::-1], n[::-1])])
    usable = np.ones((1, len(k)), bool)
    yardsticks = np.array([able])
    some = simultaneous.between_extremes([spread], usable, 0.95, yardsticks=yardsticks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simultaneous, "_FEW_GROUPS", 1000)
        every = simultaneous.between_extremes([spread], usable, 0.95, yardsticks=yardsticks)
    assert len(some.pairs[0].groups) < len(every.pairs[0].groups) == len(k)
    assert some.difference == pytest.approx(every.difference, abs=1e-15)
    assert some.ratio[0] == pytest.approx(every.ratio[0], abs=1e-15)
    # Of a mean of rates the near end of the ratio may rest on another pair, which is never nearer to a fail.
    assert some.ratio[1] >= every.ratio[1] - 1e-15
    assert averaged or some.ratio[1] == pytest.approx(every.ratio[1], abs=1e-15)
    for i, j in ((0, 1), (-1, 0)):
        high, low = some.pairs[0].groups[i], some.pairs[0].groups[j]
        assert some.pairs[0].difference(high, low) == every.pairs[0].difference(high, low)
        assert some.pairs[0].ratio(high, low) == every.pairs[0].ratio(high, low)


def test_more_groups_than_can_be_paired_are_an_error():
    away, sizes = np.linspace(0, 1, 5001)[:, None], np.full(5001, 50.0)
    with pytest.raises(DataError, match="5,001 groups, and this metric compares each with each"):
        simultaneous.between_extremes([Largest(away, away / 10, sizes)], np.ones((1, 5001), bool), 0.95)


@examples(40)
@given(tables(most_groups=40))
def test_whether_values_differ_is_found_without_comparing_all_pairs(table: Table) -> None:
    spread = proportions(*table)
    found = simultaneous.no_gap(spread, np.ones(len(table[0]), dtype=bool)).statistic
    if found in (0.0, FARTHEST_DEVIATE):
        return
    low, high = spread.limits(found, 0.0)
    values = spread.values
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = (values[:, None] - values) / np.hypot((values - low)[:, None], high - values)
    assert np.nanmax(gaps) == pytest.approx(1.0, rel=1e-6)
