"""Kitagawa's split of a gap, Shapley's shares of the composition effect, and their intervals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.inference import composition
from evenhand.inference.composition import APART, COMPOSITION, GAP, RATES, Strata, limits, split

MEN = np.array([825, 560, 325, 417, 191, 373]), np.array([512, 353, 120, 138, 53, 22])
WOMEN = np.array([108, 25, 593, 375, 393, 341]), np.array([89, 17, 202, 131, 94, 24])


def strata(top, bottom, codes) -> Strata:
    top, bottom = (np.asarray(part, dtype=float) for part in (top, bottom))
    return Strata(top, bottom, bottom, np.asarray(codes))


def berkeley() -> Strata:
    return strata([MEN[1], WOMEN[1]], [MEN[0], WOMEN[0]], [range(6)])


def effect(top, bottom, keys) -> float:
    """The composition effect over strata with these keys, by the definition: sums over a dictionary."""
    sums: dict = {}
    for i, key in enumerate(keys):
        cell = sums.setdefault(key, np.zeros((2, 2)))
        cell += [[top[0][i], bottom[0][i]], [top[1][i], bottom[1][i]]]
    both = [cell for cell in sums.values() if (cell[:, 1] > 0).all()]
    people = sum(cell[:, 1] for cell in both)
    return sum(
        float((cell[0, 1] / people[0] - cell[1, 1] / people[1]) * (cell[:, 0] / cell[:, 1]).sum() / 2) for cell in both
    )


def shapley_by_orders(top, bottom, codes) -> list[float]:
    """The mean over all orders of the columns of what each adds: the definition, without its weights."""
    columns = range(len(codes))
    values = [0.0] * len(codes)
    orders = list(itertools.permutations(columns))
    for order in orders:
        before = 0.0
        for place in range(1, len(order) + 1):
            chosen = sorted(order[:place])
            after = effect(top, bottom, [tuple(codes[j][i] for j in chosen) for i in range(len(codes[0]))])
            values[order[place - 1]] += (after - before) / len(orders)
            before = after
    return values


def test_berkeley_is_split_as_by_hand():
    parts = split(berkeley()).values
    shares = MEN[0] / MEN[0].sum() - WOMEN[0] / WOMEN[0].sum()
    mean = (MEN[1] / MEN[0] + WOMEN[1] / WOMEN[0]) / 2
    assert parts[GAP] == pytest.approx(1198 / 2691 - 557 / 1835, abs=1e-15)
    assert parts[COMPOSITION] == pytest.approx(float(shares @ mean), abs=1e-15)
    assert parts[APART] == pytest.approx(0, abs=1e-15)
    assert parts[GAP] == pytest.approx(parts[COMPOSITION] + parts[RATES], abs=1e-15)


cells = st.lists(st.integers(0, 40), min_size=12, max_size=12)


@given(bottom=st.tuples(cells, cells), share=st.tuples(cells, cells))
def test_parts_sum_to_the_gap_and_shares_are_those_of_all_orders(bottom, share):
    codes = np.array(list(itertools.product(range(2), range(3), range(2)))).T
    bottom = np.array(bottom)
    bottom[:, 0] += 1  # a stratum with both groups
    top = np.minimum(np.array(share), bottom)
    parts = split(strata(top, bottom, codes)).values
    assert parts[GAP] == pytest.approx(parts[COMPOSITION] + parts[RATES] + parts[APART], abs=1e-12)
    assert parts[COMPOSITION] == pytest.approx(parts[APART + 1 :].sum(), abs=1e-12)
    assert parts[APART + 1 :] == pytest.approx(shapley_by_orders(top, bottom, codes.tolist()), abs=1e-12)


@given(bottom=st.tuples(cells, cells), share=st.tuples(cells, cells))
def test_the_order_of_the_groups_only_turns_the_signs(bottom, share):
    codes = np.array(list(itertools.product(range(4), range(3)))).T
    bottom = np.array(bottom) + 1
    top = np.minimum(np.array(share), bottom)
    one, other = strata(top, bottom, codes), strata(top[::-1], bottom[::-1], codes)
    assert split(one).values == pytest.approx(-split(other).values, abs=1e-12)
    low, high = limits(one, split(one), 0.95)
    turned = limits(other, split(other), 0.95)
    assert low == pytest.approx(-turned[1], abs=1e-9)
    assert high == pytest.approx(-turned[0], abs=1e-9)


@given(bottom=st.tuples(cells, cells), share=st.tuples(cells, cells))
def test_how_one_person_moves_a_part_is_its_derivative(bottom, share):
    codes = np.array(list(itertools.product(range(2), range(3), range(2)))).T
    bottom = np.array(bottom, dtype=float) + 1
    top = np.minimum(np.array(share, dtype=float), bottom)
    whole = strata(top, bottom, codes)
    parts, step = split(whole), 1e-6
    for group, place, outcome in ((0, 3, 1.0), (1, 7, 0.0), (0, 0, 0.0)):
        more_bottom, more_top = bottom.copy(), top.copy()
        more_bottom[group, place] += step
        more_top[group, place] += step * outcome
        moved = (split(strata(more_top, more_bottom, codes)).values - parts.values) / step * bottom[group].sum()
        away = outcome - top[group, place] / bottom[group, place]
        expected = parts.moved[:, group, place] + parts.slope[:, group, place] * away
        assert moved == pytest.approx(expected, abs=2e-4)


def test_one_stratum_leaves_everything_to_rates():
    one = strata([[30], [10]], [[100], [50]], [[0]])
    parts = split(one)
    assert parts.values.tolist() == pytest.approx([0.1, 0, 0.1, 0, 0])
    low, high = limits(one, parts, 0.95)
    assert (low[COMPOSITION], high[COMPOSITION]) == pytest.approx((0, 0))
    assert low[RATES] == pytest.approx(low[GAP])


def test_strata_with_one_group_are_a_part_of_their_own():
    found = split(strata([[10, 30, 0], [5, 0, 2]], [[20, 30, 0], [20, 0, 10]], [[0, 1, 2]])).values
    # Among those who can be compared, a is 10 of 20 and b 5 of 20: no composition, rates .25; the gap is .8 − 7/30.
    assert found[COMPOSITION] == pytest.approx(0)
    assert found[RATES] == pytest.approx(0.25)
    assert found[GAP] == pytest.approx(0.8 - 7 / 30)
    assert found[APART] == pytest.approx(0.8 - 7 / 30 - 0.25)


def test_what_cannot_be_compared_allows_for_people_who_were_not_seen():
    """Two strata lack b, of which many people are alone in theirs: some of b may well be there."""
    random = np.random.default_rng(0)
    shares, rates = np.full(12, 1 / 12), np.linspace(0.02, 0.9, 12)
    held, samples = 0, 200
    for _ in range(samples):
        bottom = np.stack([random.multinomial(2000, shares), random.multinomial(30, shares)])
        found = strata(random.binomial(bottom, rates), bottom, [range(12)])
        low, high = limits(found, split(found), 0.95)
        # In truth both groups are in every stratum, with the same shares and rates, so nothing is apart.
        held += low[APART] <= 1e-9 and high[APART] >= -1e-9
    assert held >= 0.94 * samples


def test_without_a_common_stratum_nothing_is_compared():
    parts = split(strata([[10, 0], [0, 5]], [[20, 0], [0, 20]], [[0, 1]]))
    assert parts.values[GAP] == pytest.approx(0.25)
    assert np.isnan(parts.values[COMPOSITION])
    assert np.isnan(limits(strata([[10, 0], [0, 5]], [[20, 0], [0, 20]], [[0, 1]]), parts, 0.95)[0][RATES])


def test_no_interval_vanishes_where_nobody_is_positive():
    nobody = strata(np.zeros((2, 2)), [[30, 30], [20, 5]], [[0, 1]])
    low, high = limits(nobody, split(nobody), 0.95)
    assert low[RATES] < -0.05
    assert high[RATES] > 0.05
    assert low[COMPOSITION] <= 0 <= high[COMPOSITION]
    everybody = strata([[30, 30], [20, 5]], [[30, 30], [20, 5]], [[0, 1]])
    turned = limits(everybody, split(everybody), 0.95)
    assert (turned[0], turned[1]) == (pytest.approx(-high, abs=1e-9), pytest.approx(-low, abs=1e-9))


def test_no_part_may_lie_where_no_rates_lead():
    three = strata([[1, 0], [0, 1]], [[1, 0], [1, 1]], [[0, 1]])
    low, high = limits(three, split(three), 0.95)
    assert (low[:APART] >= -1).all()
    assert (high[:APART] <= 1).all()
    assert (low[APART], high[APART]) == (-2, 2)


def test_weights_of_one_size_are_worth_their_people():
    plain = berkeley()
    heavy = Strata(plain.top * 3, plain.bottom * 3, plain.bottom * 9, plain.codes)
    for part, other in zip(limits(plain, split(plain), 0.95), limits(heavy, split(heavy), 0.95), strict=True):
        assert part == pytest.approx(other)


def test_means_have_the_interval_of_their_variances():
    values = Strata(np.array([[300.0], [90]]), np.array([[100.0], [50]]), np.array([[100.0], [50]]), np.array([[0]]),
                    np.array([[4.0], [9]]))  # fmt: skip
    low, high = limits(values, split(values), 0.95)
    reach = 1.959964 * math.sqrt(4 / 100 + 9 / 50)
    assert low[RATES] == pytest.approx(1.2 - reach)
    assert high[RATES] == pytest.approx(1.2 + reach)


@pytest.mark.parametrize("rates", [0.02, 0.3])
@pytest.mark.parametrize("sizes", [(400, 100), (60, 40)])
def test_each_interval_covers(rates, sizes):
    """A small simulation; `benchmarks/explain.py` has the settings and the bar."""
    random, samples = np.random.default_rng(7), 400
    shares = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])
    rate = np.clip(rates * np.array([[0.5, 1, 1.5, 2], [1, 1, 1, 1]]), 0, 1)
    truth = split(strata(shares * rate, shares, [range(4)])).values
    hits = np.zeros(len(truth))
    for _ in range(samples):
        bottom = np.stack([random.multinomial(n, share) for n, share in zip(sizes, shares, strict=True)])
        if not (bottom > 0).all():
            hits += 1
            continue
        found = strata(random.binomial(bottom, rate), bottom, [range(4)])
        low, high = limits(found, split(found), 0.95)
        hits += (low - 1e-9 <= truth) & (truth <= high + 1e-9)
    assert (hits >= 0.91 * samples).all(), hits / samples


def test_many_columns_are_split_at_once():
    random = np.random.default_rng(0)
    codes = random.integers(0, 2, (composition.MOST_COLUMNS, 60))
    bottom = random.integers(1, 9, (2, 60)).astype(float)
    parts = split(strata(random.binomial(bottom.astype(int), 0.4), bottom, codes)).values
    assert parts[APART + 1 :].sum() == pytest.approx(parts[COMPOSITION], abs=1e-12)
