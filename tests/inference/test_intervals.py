"""Intervals by name: the same as statsmodels and scipy, and honest at the edges where those are not defined."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from evenhand import Policy
from evenhand.errors import CallError
from evenhand.inference.draws import dirichlet, multinomial, one_less
from evenhand.inference.intervals import (
    METHODS,
    Resampled,
    acceleration,
    agresti_caffo,
    agresti_coull,
    basic,
    bca,
    clopper_pearson,
    jeffreys,
    katz,
    newcombe,
    percentile,
    wilson,
)

ONE = {"wilson": wilson, "beta": clopper_pearson, "jeffreys": jeffreys, "agresti_coull": agresti_coull}
TWO = {"newcomb": newcombe, "agresti-caffo": agresti_caffo}

K = np.array([0, 1, 1, 2, 7, 29, 30, 1, 500, 999, 1000, 10**6, 3, 10**11])
OF = np.array([1, 1, 2, 9, 20, 30, 30, 1000, 1000, 1000, 1000, 10**7, 10**12, 10**12])


def same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)


# ------------------------------------------------------------------------------------------------ one proportion


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("name", ONE)
def test_one_proportion_agrees_with_statsmodels(name: str, confidence: float) -> None:
    k, n = K, OF
    if name == "jeffreys":  # statsmodels does not close it at the ends
        k, n = (part[(K > 0) & (K < OF)] for part in (K, OF))
    low, high = ONE[name](k, n, confidence)
    expected = proportion_confint(k, n, alpha=1 - confidence, method=name)
    same(low, expected[0])
    same(high, expected[1])


@pytest.mark.parametrize(
    ("function", "method"), [(wilson, "wilson"), (clopper_pearson, "exact")], ids=["wilson", "exact"]
)
def test_one_proportion_agrees_with_scipy(function: Callable[..., Any], method: str) -> None:
    for k, n in [(0, 12), (3, 12), (12, 12), (40, 1000)]:
        expected = stats.binomtest(k, n).proportion_ci(0.9, method=method)
        same(function(k, n, 0.9), (expected.low, expected.high))


@pytest.mark.parametrize("function", ONE.values(), ids=ONE)
def test_one_proportion_at_the_edges(function: Callable[..., Any]) -> None:
    low, high = function([0, 0, 50, 1], [0, 50, 50, 1])
    assert (low[0], high[0]) == (0, 1)
    assert low[1] == 0
    assert 0.03 < high[1] < 0.12
    assert high[2] == 1
    assert 0.88 < low[2] < 0.97
    assert low[3] < 0.3
    assert high[3] == 1


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.sampled_from([0.8, 0.95, 0.99]))
def test_one_proportion_always_holds_its_estimate(a: int, b: int, confidence: float) -> None:
    k, n = min(a, b), max(a, b)
    for function in ONE.values():
        low, high = function(k, n, confidence)
        assert 0 <= low <= high <= 1
        if n:
            assert low <= k / n <= high or function is jeffreys  # the posterior's middle may lie beside k/n


@pytest.mark.parametrize("function", [clopper_pearson, jeffreys])
def test_counts_on_which_scipy_gives_up(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    k, n = np.array([0, 10**11, 9 * 10**11, 10**12]), 10**12
    deviation = np.sqrt(k / n * (1 - k / n) / n)
    exact, score = function(k, n), wilson(k, n)
    np.testing.assert_allclose(np.subtract(exact, score)[:, 1:3] / deviation[1:3], 0, atol=1e-4)
    for name in ("betaincinv", "betainccinv"):
        monkeypatch.setattr(f"scipy.special.{name}", lambda a, b, tail: np.full(np.shape(a), np.nan))
    same(function(k, n), score)


def test_exact_interval_covers_at_least_what_it_says() -> None:
    n = 25
    low, high = clopper_pearson(np.arange(n + 1), n, 0.9)
    for p in np.linspace(0.01, 0.99, 99):
        inside = (low <= p) & (p <= high)
        assert stats.binom.pmf(np.arange(n + 1), n, p)[inside].sum() >= 0.9 - 1e-12


# ------------------------------------------------------------------------------------------------------ two groups

# fmt: off
PAIRS = [
    (56, 70, 48, 80), (9, 10, 3, 10), (0, 10, 0, 10), (0, 10, 10, 10), (10, 10, 20, 20), (1, 1, 0, 1), (5, 56, 0, 29),
    (10**11, 10**12, 2 * 10**11, 10**12),
]
# fmt: on


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("name", TWO)
def test_difference_agrees_with_statsmodels(name: str, confidence: float) -> None:
    for pair in PAIRS:
        low, high = TWO[name](*pair, confidence)
        expected = confint_proportions_2indep(*pair, method=name, compare="diff", alpha=1 - confidence)
        same((low, high), np.clip(expected, -1, 1))


def test_newcombe_agrees_with_the_paper() -> None:
    """Newcombe (1998), table II, method 10."""
    published = {
        (56, 70, 48, 80): (0.0524, 0.3339),
        (9, 10, 3, 10): (0.1705, 0.8090),
        (6, 7, 2, 7): (0.0582, 0.8062),
        (5, 56, 0, 29): (-0.0381, 0.1926),
        (0, 10, 0, 20): (-0.1611, 0.2775),
        (0, 10, 0, 10): (-0.2775, 0.2775),
        (10, 10, 0, 20): (0.6791, 1.0),
        (10, 10, 0, 10): (0.6075, 1.0),
    }
    for pair, expected in published.items():
        assert [round(float(end), 4) for end in newcombe(*pair)] == list(expected)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_ratio_agrees_with_statsmodels(confidence: float) -> None:
    for pair in [(56, 70, 48, 80), (9, 10, 3, 10), (10, 10, 3, 20), (1, 1000, 1, 10), (10**11, 10**12, 10**9, 10**12)]:
        same(katz(*pair, confidence), confint_proportions_2indep(*pair, "log", "ratio", 1 - confidence))


def test_ratio_where_katz_is_not_defined() -> None:
    low, high = katz([0, 5, 0, 10, 5, 0], [10, 10, 10, 10, 10, 0], [5, 0, 0, 20, 1, 3], [10, 10, 10, 20, 1, 9])
    assert low[0] == 0
    assert high[1] == np.inf
    same(high[0], confint_proportions_2indep(0.5, 10, 5, 10, "log", "ratio")[1])
    same(low[1], confint_proportions_2indep(5, 10, 0.5, 10, "log", "ratio")[0])
    same(high[0], 1 / low[1])
    assert (low[2], high[2]) == (0, np.inf)
    same((low[3], high[3]), confint_proportions_2indep(9.5, 10, 19.5, 20, "log", "ratio"))
    assert low[3] < 1 < high[3]
    assert (low[5], high[5]) == (0, np.inf)


@pytest.mark.parametrize("function", [newcombe, agresti_caffo])
def test_difference_with_an_empty_group(function: Callable[..., Any]) -> None:
    low, high = function([0, 3, 0], [0, 9, 0], [3, 0, 0], [9, 0, 0])
    assert (low == -1).all()
    assert (high == 1).all()


@pytest.mark.parametrize("function", [newcombe, agresti_caffo])
@given(st.lists(st.integers(0, 10**12), min_size=4, max_size=4))
def test_difference_turns_round(function: Callable[..., Any], counts: list[int]) -> None:
    a, b = sorted(counts[:2]), sorted(counts[2:])
    low, high = function(*a, *b)
    back = function(*b, *a)
    np.testing.assert_allclose((low, high), (-back[1], -back[0]), atol=1e-12)
    assert -1 <= low <= high <= 1


@given(st.lists(st.integers(0, 10**12), min_size=4, max_size=4))
def test_ratio_turns_round(counts: list[int]) -> None:
    a, b = sorted(counts[:2]), sorted(counts[2:])
    low, high = katz(*a, *b)
    back_low, back_high = katz(*b, *a)
    assert 0 <= low <= high
    assert low == pytest.approx(1 / back_high if back_high > 0 else np.inf, rel=1e-9)
    assert high == pytest.approx(1 / back_low if back_low > 0 else np.inf, rel=1e-9)


def test_shapes_broadcast() -> None:
    low, high = newcombe(np.array([[3], [4]]), 10, np.array([1, 2, 3]), 20)
    assert low.shape == high.shape == (2, 3)
    same(low[1, 2], newcombe(4, 10, 3, 20)[0])
    assert wilson(3, [10, 20])[0].shape == (2,)
    assert katz(3, 10, [1, 2], 20)[1].shape == (2,)


@pytest.mark.parametrize("arguments", [(5, 4), (-1, 4), (np.nan, 4), (1, np.nan), (1, np.inf), (0, -1)])
def test_counts_that_cannot_be(arguments: tuple[float, float]) -> None:
    for function in ONE.values():
        with pytest.raises(CallError, match="0 ≤ k ≤ n"):
            function(*arguments)
    with pytest.raises(CallError, match="0 ≤ k ≤ n"):
        katz(1, 2, *arguments)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan")])
def test_confidence_that_cannot_be(confidence: float) -> None:
    with pytest.raises(CallError, match="confidence"):
        wilson(1, 2, confidence)
    with pytest.raises(CallError, match="confidence"):
        percentile([1.0, 2.0], confidence)


# ------------------------------------------------------------------------------------------------------ from draws


def table_of_draws() -> Any:
    draws = np.random.default_rng(3).gamma(2, size=(501, 3, 2))
    draws[:100, 0, 0] = np.nan
    draws[:, 1, 1] = np.nan
    return draws


def test_percentile_is_the_quantile_of_what_is_defined() -> None:
    draws = table_of_draws()
    low, high, undefined = percentile(draws, 0.9)
    defined = ~np.isnan(draws).all(axis=0)
    same(low[defined], np.nanquantile(draws[:, defined], 0.05, axis=0))
    same(high[defined], np.nanquantile(draws[:, defined], 0.95, axis=0))
    assert np.isnan(low[1, 1])
    assert np.isnan(high[1, 1])
    assert undefined[0, 0] == pytest.approx(100 / 501)
    assert undefined[1, 1] == 1
    assert undefined[2, 0] == 0


def test_percentile_with_infinite_draws() -> None:
    low, high, undefined = percentile([1.0, 2.0, 3.0, np.inf, np.inf], 0.5)
    assert (low, high, undefined) == (2, np.inf, 0)
    low, high, _ = percentile([1.0, 2.0, np.inf], 0.9)
    assert low == pytest.approx(1.1)
    assert high == np.inf


def test_one_draw_and_none() -> None:
    assert percentile([0.25]) == (0.25, 0.25, 0)
    with pytest.raises(CallError, match="no draws"):
        percentile([])


def test_basic_mirrors_and_agrees_with_scipy() -> None:
    data = np.random.default_rng(1).gamma(2, size=60)
    expected = stats.bootstrap((data,), np.mean, method="basic", n_resamples=999, rng=np.random.default_rng(2))
    low, high, _ = basic(expected.bootstrap_distribution, data.mean())
    same((low, high), (expected.confidence_interval.low, expected.confidence_interval.high))


def test_basic_of_what_is_undefined() -> None:
    low, high, undefined = basic(table_of_draws(), np.full((3, 2), 2.0))
    assert np.isnan(low[1, 1])
    assert undefined[1, 1] == 1
    assert np.isnan(basic([1.0, np.inf], np.inf).low)
    assert np.isfinite(high[0, 0])


# Cells TN FP FN TP of one group, and a skewed statistic of them: false negatives for each false positive.
CELLS = np.array([60, 14, 31, 9])


def balance(cells: Any) -> Any:
    return cells[..., 2] / cells[..., 1]


def balance_of_rows(rows: Any, axis: int = -1) -> Any:
    return balance(np.stack([(rows == cell).sum(axis=axis) for cell in range(4)], axis=-1))


ROWS = np.repeat(np.arange(4), CELLS)


def our_acceleration() -> Any:
    tables = np.concatenate(list(one_less(CELLS[None])))
    return acceleration(CELLS, balance(tables[:, 0]))


def test_bca_agrees_with_scipy_on_the_same_draws() -> None:
    theirs = stats.bootstrap((ROWS,), balance_of_rows, method="BCa", n_resamples=9999, rng=np.random.default_rng(0))
    draws = theirs.bootstrap_distribution
    low, high, undefined = bca(draws, balance(CELLS), our_acceleration())
    same((low, high), (theirs.confidence_interval.low, theirs.confidence_interval.high))
    assert undefined == 0
    # Each part of the correction tells.
    assert low < bca(draws, balance(CELLS)).low < percentile(draws).low
    assert high < bca(draws, balance(CELLS)).high < percentile(draws).high


def test_bca_agrees_with_scipy_on_draws_of_cells() -> None:
    theirs = stats.bootstrap((ROWS,), balance_of_rows, method="BCa", n_resamples=9999, rng=np.random.default_rng(0))
    ours = np.concatenate([balance(block[:, 0]) for block in multinomial(CELLS[None], draws=40_000)])
    low, high, _ = bca(ours, balance(CELLS), our_acceleration())
    # A 2.5 % quantile of 9,999 draws has an error of about 0.027 standard deviations; that of the bias is as much.
    error = 4 * 0.04 * ours.std()
    assert low == pytest.approx(theirs.confidence_interval.low, abs=error)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=error)


def test_acceleration_is_the_jackknife_of_rows() -> None:
    left_out = np.array([balance_of_rows(np.delete(ROWS, i)) for i in range(len(ROWS))])
    away = left_out.mean() - left_out
    same(our_acceleration(), (away**3).sum() / (6 * (away**2).sum() ** 1.5))


def test_acceleration_of_many_statistics_at_once() -> None:
    n = np.array([[5, 9], [3, 0]])
    tables = np.concatenate(list(one_less(n)))
    rates = tables[..., 0] / np.maximum(tables.sum(axis=-1), 1)
    both = acceleration(n, rates)
    assert both.shape == (2,)
    same(both[0], acceleration(n, rates[:, 0]))
    assert both[1] == 0  # all of the second group are in one cell: nobody moves its rate


def test_acceleration_leaves_out_what_is_undefined() -> None:
    same(acceleration([4, 1, 6], [0.3, np.nan, 0.5]), acceleration([4, 6], [0.3, 0.5]))
    assert acceleration([0, 0], [0.1, 0.2]) == 0
    assert acceleration([3, 4], [np.nan, np.nan]) == 0
    with pytest.raises(CallError, match="one value for each"):
        acceleration([1, 2, 3], [0.1, 0.2])


def test_acceleration_of_a_trillion_is_next_to_nothing() -> None:
    n = np.array([[10**12, 3 * 10**12]])
    tables = np.concatenate(list(one_less(n)))
    found = acceleration(n, tables[:, 0, 1] / tables[:, 0].sum(axis=-1))
    assert abs(found) < 1e-6


def test_bca_leaves_out_what_is_undefined() -> None:
    draws = np.random.default_rng(0).normal(size=2000)
    holed = np.concatenate([draws, np.full(500, np.nan)])
    low, high, undefined = bca(holed, 0.1, 0.02)
    assert (low, high) == bca(draws, 0.1, 0.02)[:2]
    assert undefined == pytest.approx(0.2)
    low, high, undefined = bca(table_of_draws(), np.full((3, 2), 1.5), np.zeros((3, 2)))
    assert np.isnan(low[1, 1])
    assert (np.isnan(low) == np.isnan(high)).all()
    assert np.isnan(low).sum() == 1
    assert np.isnan(bca(draws, np.nan).low)


def test_bca_where_the_estimate_lies_beside_all_draws() -> None:
    draws = np.linspace(1, 2, 1000)
    assert bca(draws, 0.0)[:2] == pytest.approx((1, 1), abs=0.001)
    assert bca(draws, 9.0)[:2] == pytest.approx((2, 2), abs=0.001)
    assert bca(np.full(100, 0.5), 0.5)[:2] == (0.5, 0.5)


def test_bca_past_the_pole_of_its_correction() -> None:
    low, high, _ = bca(np.linspace(0, 1, 1001), 0.5, 0.6)
    assert high == 1
    assert 0 <= low <= 0.5
    with pytest.raises(CallError, match="finite"):
        bca([1.0, 2.0], 1.0, np.nan)


def test_bca_without_bias_or_acceleration_is_the_percentile_interval() -> None:
    draws = np.linspace(-1, 1, 2001)
    np.testing.assert_allclose(bca(draws, 0.0)[:2], percentile(draws)[:2], atol=1e-9)


def test_bayes_is_the_jeffreys_interval_of_one_proportion() -> None:
    method = METHODS["bayes"]
    assert isinstance(method, Resampled)
    assert method.drawn == "dirichlet"
    rates = np.concatenate([block[:, 0, 0] for block in dirichlet([[7, 23]], draws=40_000)]) / 30
    low, high, _ = method.function(rates, 0.95)
    expected = jeffreys(7, 30)
    assert low == pytest.approx(expected[0], abs=0.004)
    assert high == pytest.approx(expected[1], abs=0.004)


# -------------------------------------------------------------------------------------------------------- by name


def test_every_method_gives_ends_in_order() -> None:
    names = {"wilson", "clopper-pearson", "newcombe", "agresti-caffo", "katz", "percentile", "basic", "bca", "bayes"}
    assert names <= set(METHODS)
    needed = {"estimate": 1.5, "acceleration": 0.0}
    for name, method in METHODS.items():
        if isinstance(method, Resampled):
            extra = {need: needed[need] for need in method.needs}
            ends = [method.function([1.0, 2.0], **extra, confidence=0.9)[:2]]
        else:
            pair = (3, 10, 4, 10)
            ends = [method.proportion(3, 10, 0.9), method.difference(*pair, 0.9), method.ratio(*pair, 0.9)]
        assert all(low <= high for low, high in ends), name


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("clopper_pearson", "'clopper-pearson'"),
        ("simultanous", "'simultaneous'"),
        ("Wilson", "'wilson'"),
        ("xyz", "there are"),
    ],
)
def test_unknown_names_come_with_the_nearest(name: str, remedy: str) -> None:
    with pytest.raises(CallError, match=remedy):
        Policy(interval=name)


# ---------------------------------------------------------------------------------------------------- real data


def test_real_data_agrees_with_statsmodels(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "peers.json").read_text(encoding="utf-8"))
    checked = 0
    for case in cases:
        if "95% CI" not in case["metric"]:
            continue
        frame = pd.read_csv(shared / "data" / case["file"], usecols=[case["prediction"], *case["sensitive"]])
        for column, op, values in case["filters"]:
            assert op == "in"
            frame = frame[frame[column].isin(values)]
        counts = frame.groupby(case["sensitive"][0])[case["prediction"]].agg(["sum", "count"])
        method = case["metric"].split("(")[1].rstrip(")")
        if method == "log/Katz":
            one, two = (counts.loc[case["params"][side]] for side in ("group1", "group2"))
            ends = katz(*one, *two)
        else:
            ends = ONE[method](*counts.loc[case["group"]])
        end = ends[0 if "CI low" in case["metric"] else 1]
        assert end == pytest.approx(case["expected"], rel=1e-9), case["id"]
        checked += 1
    assert checked >= 16
