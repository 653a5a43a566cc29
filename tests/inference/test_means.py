"""Limits of means: they hold for one person and under skew, stay within the range, and none has width 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.inference import simultaneous
from evenhand.inference.means import AMOUNTS, SCORES, SIGNED, Means, Roots
from support.profiles import examples

Sample = list[np.ndarray]


def means(groups: Sample, span=(0.0, 1.0), growth=SCORES, squares=False, cubed=False) -> Means:
    """The means of samples [samples, people], or [people], one for each group."""
    values = np.stack([group.mean(axis=-1) for group in groups], axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        own = [group.var(axis=-1, ddof=1) if group.shape[-1] > 1 else np.nan * group[..., 0] for group in groups]
    people = np.array([float(group.shape[-1]) for group in groups]) + 0 * values
    cubes = np.stack([((group - group.mean(axis=-1, keepdims=True)) ** 3).mean(axis=-1) for group in groups], axis=-1)
    known = cubes if cubed else None
    return Means.of(values, np.stack(own, axis=-1), people, people, span, growth=growth, squares=squares, cubes=known)


def ends(spread, chosen: int, kind: str = "difference") -> tuple[float, float]:
    """The interval between extremes of one of several samples."""
    squared = spread.squared if isinstance(spread, Roots) else spread
    names = ("values", "own", "others", "trust", "skewness", "shrunk", "sizes", "worth", "backing")
    one = replace(squared, **{name: getattr(squared, name)[chosen] for name in names})
    one = Roots(one) if isinstance(spread, Roots) else one
    return getattr(simultaneous.between_extremes([one], np.ones((1, len(one.values)), bool), 0.95), kind)


def missed(groups: Sample, truth: float, span=(0.0, 1.0), *, kind="difference", growth=SCORES, root=False) -> float:
    """In what share of the samples the interval does not hold the truth."""
    spread = means(groups, span, AMOUNTS if root else growth, root)
    spread = Roots(spread) if root else spread
    intervals = [ends(spread, i, kind) for i in range(len(groups[0]))]
    return float(np.mean([not low - 1e-9 <= truth <= high + 1e-9 for low, high in intervals]))


# ------------------------------------------------------------------------------------------------ known numbers


def test_one_person_varies_as_the_others_do():
    spread = means([np.array([0.9]), np.array([0.2, 0.4, 0.6])], (-10.0, 10.0))
    assert spread.others.tolist() == pytest.approx([0.04, np.nan], nan_ok=True)
    assert spread.freedom.tolist() == [2.0, 2.0]  # of three people two degrees of freedom, and no more
    assert spread.variance.tolist() == pytest.approx([0.04, 0.04])
    low, high = spread.limits(1.96, 0.0)
    assert high[0] - 0.9 == pytest.approx(stats.t.ppf(stats.norm.cdf(1.96), 2) * 0.2, rel=0.02)
    assert 0.9 - low[0] == pytest.approx(high[0] - 0.9, rel=0.05)


def test_the_variance_of_signed_values_is_drawn_up_towards_the_others_and_never_down():
    n = np.array([41.0, 41.0])
    spread = Means.of(np.array([0.5, 0.5]), np.array([0.01, 0.25]), n, n, (0.0, 1.0))
    assert spread.variance.tolist() == pytest.approx([(40 * 0.01 + 20 * 0.25) / 60, 0.25])
    assert spread.freedom.tolist() == [60.0, 60.0]


def test_what_the_others_add_vanishes_in_large_groups():
    n = np.full(2, 1e4)
    spread = Means.of(np.array([0.5, 0.5]), np.array([0.01, 0.25]), n, n, (0.0, 1.0))
    low, high = spread.limits(1.96, 0.0)
    assert ((high - low) / 2).tolist() == pytest.approx([1.96 * 0.1 / 100 * 1.024, 1.96 * 0.5 / 100], rel=0.01)


def test_at_the_end_of_the_range_limits_are_those_of_a_share_of_as_many_people():
    low, high = means([np.zeros(40), np.zeros(40)]).limits(1.96, 0.0)
    tail = stats.norm.cdf(stats.t.ppf(stats.norm.sf(1.96), 59))  # of 39 degrees of freedom and 20
    assert low.tolist() == [0.0, 0.0]
    assert high.tolist() == pytest.approx([stats.beta.isf(tail, 0.5, 40.5)] * 2)


def test_where_nobody_tells_the_variance_the_limits_are_the_range():
    low, high = means([np.array([3.0]), np.array([9.0])], (1.0, 10.0)).limits(1.96, 0.0)
    assert (low.tolist(), high.tolist()) == ([1.0, 1.0], [10.0, 10.0])
    low, high = means([np.array([3.0]), np.array([9.0])], (-np.inf, 10.0)).limits(1.96, 0.0)
    assert (low.tolist(), high.tolist()) == ([-np.inf, -np.inf], [10.0, 10.0])
    assert np.isnan(means([np.array([3.0]), np.array([9.0])], (-np.inf, np.inf)).limits(1.96, 0.0)).all()


def test_values_that_all_agree_and_have_no_range_have_no_limits():
    assert np.isnan(means([np.full(9, 3.0), np.full(9, 3.0)], (3.0, 3.0)).limits(1.96, 0.0)).all()


def test_weights_count_as_many_people_as_they_are_worth():
    n, worth = np.array([100.0, 100.0]), np.array([12.0, 100.0])
    spread = Means.of(np.array([0.4, 0.5]), np.array([0.05, 0.05]), n, worth, (0.0, 1.0))
    assert spread.freedom.tolist() == [11 + 20, 99 + 11]
    assert spread.errors.tolist() == pytest.approx([np.sqrt(0.05 / 12), np.sqrt(0.05 / 100)])
    assert spread.sizes.tolist() == [100.0, 100.0]


def test_a_root_has_the_roots_of_the_limits_and_half_the_logarithm():
    squared = means([np.array([1.0, 4.0, 9.0]), np.array([0.5, 2.0, 8.0, 3.0])], (0.0, 100.0))
    root = Roots(squared)
    assert root.values.tolist() == pytest.approx(np.sqrt(squared.values).tolist())
    for mine, theirs in zip(root.limits(2.0, 0.0), squared.limits(2.0, 0.0), strict=True):
        assert (mine**2).tolist() == pytest.approx(theirs.tolist())
    assert (2 * root.log_reach(2.0, 0.0)[1]).tolist() == pytest.approx(squared.log_reach(2.0, 0.0)[1].tolist())
    assert root.span == 10.0


def test_without_a_lower_end_the_distance_from_the_upper_one_is_taken_on_logarithms():
    spread = means([np.array([0.1, 0.5, 0.9, 0.7, 0.8])] * 2, (-np.inf, 1.0))
    low, high = spread.limits(1.96, 0.0)
    reach = high - spread.values
    assert (1 - low).tolist() == pytest.approx((0.4 * np.exp(reach / 0.4)).tolist())


def test_the_others_vary_as_they_would_at_the_mean_of_the_group():
    n, values, own = np.array([41.0, 41.0]), np.array([2.0, 6.0]), np.array([1.0, 1.0])
    assert Means.of(values, own, n, n, (0.0, 100.0), growth=SIGNED).others.tolist() == [1.0, 1.0]
    assert Means.of(values, own, n, n, (0.0, 100.0), growth=AMOUNTS).others.tolist() == pytest.approx([1.0, 3**1.75])
    assert Means.of(values, own, n, n, (0.0, 8.0), growth=SCORES).others.tolist() == pytest.approx([1.0, 1.0])


def test_the_longer_the_tails_of_the_others_the_less_an_own_variance_counts():
    n, own = np.array([101.0, 101.0]), np.array([1.0, 4.0])
    short, long = (Means.of(np.array([mean, mean]), own, n, n, (0.0, 50.0), growth=AMOUNTS) for mean in (20.0, 1.0))
    assert short.trust[0] == pytest.approx(1 / (1 + (0.01 + 0.0001) / 2))
    assert long.trust.tolist() == pytest.approx([1 / 11, 1 / 2])
    assert long.variance[0] == pytest.approx((100 / 11 * 1 + 20 * 4) / (100 / 11 + 20))
    squares = Means.of(np.array([1.0, 1.0]), np.array([2.0, 2.0]), n, n, (0.0, 50.0), growth=AMOUNTS, squares=True)
    assert squares.trust.tolist() == [1.0, 1.0]


def test_mean_squares_reach_farther_up_and_ratios_of_them_farther_still():
    n = np.array([30.0, 30.0])
    spread = Means.of(np.array([1.0, 1.0]), np.array([2.0, 2.0]), n, n, (0.0, 50.0), growth=AMOUNTS, squares=True)
    reach = stats.t.ppf(stats.norm.cdf(1.96), 49) * np.sqrt(2 / 30)
    assert spread.limits(1.96, 0.0)[1].tolist() == pytest.approx([(1 + reach / 4) ** 4] * 2)
    assert spread.log_reach(1.96, 0.0)[1].tolist() == pytest.approx([reach] * 2)


# ------------------------------------------------------------------------------------------------ properties

people = st.lists(st.floats(0.0, 1.0).map(lambda value: round(value, 3)), min_size=1, max_size=12)


@given(st.lists(people, min_size=2, max_size=5), st.floats(0.1, 6.0), st.floats(0.05, 3.0))
@examples(60)
def test_limits_hold_the_value_stay_in_range_have_a_width_and_widen(groups, deviate, more):
    spread = means([np.array(group) for group in groups])
    low, high = spread.limits(deviate, 0.0)
    wider_low, wider_high = spread.limits(deviate + more, 0.0)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (high > low).all()
    assert (low <= spread.values + 1e-12).all()
    assert (high >= spread.values - 1e-12).all()
    assert (wider_low <= low + 1e-12).all()
    assert (wider_high >= high - 1e-12).all()


@given(st.lists(people, min_size=2, max_size=5), st.floats(-50, 50), st.floats(0.01, 100))
@examples(40)
def test_limits_follow_the_unit_and_the_order_of_groups(groups, shift, scale):
    plain = means([np.array(group) for group in groups])
    moved = means([shift + scale * np.array(group) for group in groups[::-1]], (shift, shift + scale))
    for mine, theirs in zip(plain.limits(2.0, 0.0), moved.limits(2.0, 0.0), strict=True):
        assert ((theirs[::-1] - shift) / scale).tolist() == pytest.approx(mine.tolist(), rel=1e-4, abs=1e-4)


@given(st.lists(people, min_size=2, max_size=5))
@examples(40)
def test_differences_and_ratios_always_have_both_ends_within_what_is_possible(groups):
    spread = means([np.array(group) for group in groups])
    found = simultaneous.between_extremes([spread], np.ones((1, len(groups)), bool), 0.95)
    assert 0 <= found.difference[0] < found.difference[1] <= 1
    assert 0 <= found.ratio[0] < found.ratio[1] <= 1


# ------------------------------------------------------------------------------------------------ what had broken

random = np.random.default_rng


@pytest.mark.parametrize(
    ("law", "sizes", "most"),
    [
        (lambda r, size: r.beta(2, 2, size), (1, 500, 500), 0.055),
        (lambda r, size: r.beta(2, 2, size), (1, 1, 1, 1000), 0.055),
        (lambda r, size: (r.random(size) < 0.03) * 1.0, (1, 500, 500), 0.055),
        (lambda r, size: (r.random(size) < 0.03) * 1.0, (1, 1, 1, 1000), 0.055),
        (lambda r, size: np.where(r.random(size) < 0.02, 0.96, 0.0004), (30, 3000), 0.055),
        (lambda r, size: r.beta(0.2, 9.8, size), (30, 3000), 0.055),
        (lambda r, size: r.beta(0.2, 9.8, size), (10,) * 20, 0.055),
    ],
)
def test_no_false_alarm_where_there_is_no_gap(law, sizes, most):
    r = random(20261117)
    assert missed([law(r, (400, size)) for size in sizes], 0.0) <= most


def test_a_gap_of_rare_events_is_covered():
    r = random(5)
    groups = [np.where(r.random((400, size)) < rate, 0.96, 0.0004) for size, rate in ((30, 0.05), (3000, 0.02))]
    assert missed(groups, 0.03 * 0.9596) <= 0.055


@pytest.mark.parametrize("kind", ["difference", "ratio"])
@pytest.mark.parametrize("sizes", [(5, 1000), (30, 3000), (40,) * 8])
def test_root_mean_squared_errors_of_lognormal_residuals_raise_no_alarm(kind, sizes):
    r = random(8)
    groups = [r.lognormal(0, 1, (300, size)) ** 2 for size in sizes]
    assert missed(groups, 0.0 if kind == "difference" else 1.0, (0.0, 1e4), kind=kind, root=True) <= 0.055


@pytest.mark.parametrize(
    ("law", "truth", "root"),
    [
        (lambda r, size: r.lognormal(0, 1.5, size), np.exp(1.125), False),
        (lambda r, size: r.lognormal(0, 1, size) ** 2, np.e, True),
        (lambda r, size: r.standard_normal(size) ** 2, 1.0, True),
    ],
)
@pytest.mark.parametrize("n", [100, 300])
def test_a_group_that_is_larger_by_half_and_has_not_met_its_tail_is_covered(law, truth, root, n):
    r = random(20261118)
    groups = [law(r, (600, n)) * (2.25 if root else 1.5), law(r, (600, 3000))]
    assert missed(groups, truth / 2, (0.0, 1e6), growth=AMOUNTS, root=root) <= 0.07  # 5 %, and its noise


def test_rare_scores_far_from_either_end_are_covered_alike():
    r = random(3)
    rare = [(r.random((400, size)) < rate) * 1.0 for size, rate in ((100, 0.06), (3000, 0.03))]
    assert missed([1 - group for group in rare], 0.03) == missed(rare, 0.03) <= 0.06


def test_more_people_narrow_what_was_estimated():
    spread = means([np.array([0.2, 0.4, 0.9]), np.array([0.1, 0.8, 0.3, 0.4])])
    more = spread.scaled(100.0, [1, 0, 1])
    assert more.values.tolist() == spread.values[[1, 0, 1]].tolist()
    assert more.sizes.tolist() == [400.0, 300.0, 400.0]
    assert (more.errors < spread.errors[[1, 0, 1]] / 8).all()


def far_miss(groups: Sample, truth: float, *, cubed: bool) -> float:
    """In what share of the samples the far end of the first group against everyone else lies below the truth."""
    spread, below = means(groups, (-np.inf, np.inf), SIGNED, cubed=cubed), 0
    names = ("values", "own", "others", "trust", "skewness", "shrunk", "sizes", "worth", "backing")
    for i in range(len(groups[0])):
        one = replace(spread, **{name: getattr(spread, name)[i] for name in names})
        base, compared = one.scaled(1.0, [1] * len(groups)), np.zeros((1, len(groups)), bool)
        compared[0, 0] = True
        # Confidence of 90 % leaves the far end 5 %, as 30 groups would at 95 %.
        far = simultaneous.against([one], [base], compared, 0.9).difference_far
        below += bool(far[1][0, 0] < truth)
    return below / len(groups[0])


def test_far_ends_allow_for_the_long_tail_of_residuals_where_their_cubes_are_known():
    random = np.random.default_rng(3)
    groups = [scale * (random.lognormal(0, 1, (600, n)) - np.exp(0.5)) for scale, n in ((1.5, 100), (1.0, 3000))]
    assert far_miss(groups, 0.0, cubed=False) > 0.08
    assert far_miss(groups, 0.0, cubed=True) <= 0.075


def test_far_ends_of_symmetric_values_stay_where_they_are():
    random = np.random.default_rng(4)
    one = means([random.normal(size=100), random.normal(size=3000)], (-np.inf, np.inf), SIGNED, cubed=True)
    plain = replace(one, skewness=np.zeros(2))
    ends = [simultaneous.between_extremes([each], np.ones((1, 2), bool), 0.95).difference for each in (one, plain)]
    assert ends[0][0] == ends[1][0]
    assert ends[1][1] <= ends[0][1] <= ends[1][1] * 1.06


def test_values_with_the_tail_below_reach_as_far_down_as_their_mirror_image_reaches_up():
    random = np.random.default_rng(5)
    groups = [random.lognormal(0, 1, 60), random.lognormal(0, 1, 900)]
    turned = [-group for group in groups]
    both = [means(each, (-np.inf, np.inf), SIGNED, cubed=True) for each in (groups, turned)]
    ends = [simultaneous.between_extremes([each], np.ones((1, 2), bool), 0.95).difference for each in both]
    assert ends[0] == pytest.approx(ends[1])


def test_a_group_of_weight_0_leaves_the_far_ends_of_others_without_a_warning():
    values, own, cubes = np.array([1.0, 2.0, 3.0]), np.array([np.nan, 1.0, 1.0]), np.array([0.0, 5.0, 5.0])
    worth = np.array([0.0, 50.0, 60.0])
    spread = Means.of(values, own, worth, worth, (-np.inf, np.inf), cubes=cubes)
    assert np.isfinite(spread.lean(1.645)).all()
    ends = simultaneous.against([spread], [spread.scaled(1.0, [1, 2, 1])], np.array([[False, True, True]]), 0.95)
    assert np.isfinite(ends.difference_far[1][0, 1:]).all()
