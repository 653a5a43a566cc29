"""Draws: what theory says of them, and the same as resampling the rows themselves."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.errors import CallError
from evenhand.inference import draws as drawing
from evenhand.inference.draws import dirichlet, multinomial, one_less, weighted
from evenhand.measures.cells import MEASURES, evaluate

N = np.array([[30, 5, 0, 12], [3, 1, 0, 80], [0, 0, 0, 1]])
W = N * np.array([1.0, 2.5, 1.0, 0.3])
W2 = np.where(N > 1, 1.7, 1.0) * W**2 / np.maximum(N, 1)

KINDS: dict[str, Callable[..., Iterator[Any]]] = {
    "multinomial": lambda **options: multinomial(N, **options),
    "weighted": lambda **options: weighted(N, W, W2, **options),
    "dirichlet": lambda **options: dirichlet(N, **options),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def whole(blocks: Iterator[Any]) -> Any:
    return np.concatenate(list(blocks))


# ---------------------------------------------------------------------------------------------------- every kind


@every_kind
@pytest.mark.parametrize("bytes_of_a_block", [1, 8 * N.size * 7, 8 * N.size * 64])
def test_block_size_does_not_matter(kind: str, bytes_of_a_block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = whole(KINDS[kind](draws=200))
    monkeypatch.setattr(drawing, "BLOCK_BYTES", bytes_of_a_block)
    blocks = list(KINDS[kind](draws=200))
    assert len(blocks) == -(-200 // max(1, bytes_of_a_block // (8 * N.size)))
    np.testing.assert_array_equal(np.concatenate(blocks), expected)


@every_kind
def test_a_seed_is_a_seed(kind: str) -> None:
    first, again = whole(KINDS[kind](draws=50, random_state=3)), whole(KINDS[kind](draws=50, random_state=3))
    other = whole(KINDS[kind](draws=50, random_state=4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@every_kind
def test_more_draws_begin_with_the_fewer(kind: str) -> None:
    np.testing.assert_array_equal(whole(KINDS[kind](draws=300))[:40], whole(KINDS[kind](draws=40)))


@every_kind
def test_blocks_stay_small_for_many_cells(kind: str) -> None:
    n = np.ones((1000, 100), dtype=np.int64)
    call: dict[str, Any] = {
        "multinomial": lambda: multinomial(n, draws=40),
        "weighted": lambda: weighted(n, n, n, draws=40),
        "dirichlet": lambda: dirichlet(n, draws=40),
    }
    sizes = [block.nbytes for block in call[kind.partition(",")[0]]()]
    assert len(sizes) > 1
    assert max(sizes) <= drawing.BLOCK_BYTES


@pytest.mark.parametrize(
    "call",
    [
        lambda: multinomial(N, draws=0),
        lambda: multinomial(N, draws=2.5),  # type: ignore[arg-type]
        lambda: multinomial(N, draws=True),
        lambda: multinomial(N, random_state=-1),
        lambda: multinomial(N, random_state=None),  # type: ignore[arg-type]
        lambda: multinomial(-N),
        lambda: multinomial(N / 2),
        lambda: multinomial(N[0]),
        lambda: weighted(N, W[:2], W2),
        lambda: weighted(N, -W, W2),
        lambda: weighted(N, W, W2 / 10),
        lambda: weighted(N, W + 1, W2),
        lambda: weighted(N, W * np.nan, W2),
        lambda: dirichlet(-N),
        lambda: dirichlet(N, prior=-1),
        lambda: dirichlet(N, prior=float("nan")),
        lambda: dirichlet(N, mask=[True, False, True, True]),
        lambda: dirichlet(N, random_state=-1),
    ],
)
def test_wrong_calls_are_told_before_the_first_draw(call: Callable[[], Any]) -> None:
    with pytest.raises(CallError):
        call()


# --------------------------------------------------------------------------------------------------- multinomial


def test_multinomial_has_the_mean_and_covariance_of_theory() -> None:
    draws = 40_000
    drawn = whole(multinomial(N, draws=draws)).reshape(draws, -1).astype(float)
    p = N.reshape(-1) / N.sum()
    covariance = N.sum() * (np.diag(p) - np.outer(p, p))
    deviation = np.sqrt(np.diag(covariance))
    off = np.abs(drawn.mean(axis=0) - N.reshape(-1))
    assert (off <= 5 * deviation / np.sqrt(draws)).all()
    # The error of a covariance is at most about √2 σσ'/√D; heavy-tailed small cells get a little more.
    error = np.abs(np.cov(drawn, rowvar=False) - covariance)
    assert (error <= 9 * np.outer(deviation, deviation) / np.sqrt(draws) + 1e-12).all()


@given(
    hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 10**12)),
    st.integers(0, 2**32),
)
def test_nobody_is_lost_and_empty_cells_stay_empty(n: Any, seed: int) -> None:
    drawn = whole(multinomial(n, draws=7, random_state=seed))
    assert drawn.dtype == np.int64
    assert drawn.shape == (7, *n.shape)
    assert (drawn >= 0).all()
    assert (drawn[:, n == 0] == 0).all()
    assert (drawn.sum(axis=(1, 2)) == n.sum()).all()


def test_rounding_leaves_nobody_in_an_empty_cell() -> None:
    """Numpy's multinomial, given these shares in this order, now and then puts people in the last, empty cell."""
    n = np.array([[10**12, 1, 0, 0, *[7] * 11, 0]])
    drawn = whole(multinomial(n, draws=20_000))
    assert drawn[..., n[0] == 0].sum() == 0
    assert drawn[..., 1].mean() == pytest.approx(1, abs=5 / np.sqrt(20_000))


def test_an_empty_cell_changes_no_draw() -> None:
    wider = np.insert(N, 2, 0, axis=1)
    np.testing.assert_array_equal(np.delete(whole(multinomial(wider)), 2, axis=2), whole(multinomial(N)))


def test_counts_of_a_trillion() -> None:
    n = np.array([[10**12, 3 * 10**12], [10**12, 1]])
    drawn = whole(multinomial(n, draws=4000)).astype(float)
    deviation = np.sqrt(n * (1 - n / n.sum()))
    assert (np.abs(drawn.mean(axis=0) - n) <= 5 * deviation / np.sqrt(4000)).all()
    np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=0.08)


def test_groups_of_one_person() -> None:
    n = np.array([[1, 0], [0, 1], [0, 0], [50, 50]])
    drawn = whole(multinomial(n))
    assert set(np.unique(drawn[:, 0, 0])) >= {0, 1, 2}
    assert (drawn[:, 2] == 0).all()


def test_one_person_in_all_and_none() -> None:
    assert (whole(multinomial([[0, 1]], draws=5)) == [[0, 1]]).all()
    assert (whole(multinomial([[0, 0]], draws=5)) == 0).all()
    assert (whole(weighted([[0, 0]], [[0, 0]], [[0, 0]], draws=5)) == 0).all()
    assert (whole(dirichlet([[0, 0]], draws=5)) == 0).all()


# -------------------------------------------------------------------------------- against resampling of the rows


def rows(seed: int = 11) -> tuple[Any, Any, Any]:
    """10,000 people in four groups, with a decision and a weight that depends on both."""
    rng = np.random.default_rng(seed)
    group = rng.choice(4, size=10_000, p=[0.6, 0.3, 0.08, 0.02])
    chosen = (rng.random(10_000) < np.array([0.5, 0.42, 0.35, 0.2])[group]).astype(np.int64)
    weight = rng.lognormal(mean=0.5 * chosen, sigma=0.3 + 0.15 * group)
    return group, chosen, weight


def gap(cells: Any) -> Any:
    """The largest difference of selection rates; cells are [draws, groups, (not chosen, chosen)]."""
    rate = cells[..., 1] / cells.sum(axis=-1)
    return rate.max(axis=-1) - rate.min(axis=-1)


def resampled(cell: Any, weight: Any, draws: int) -> Any:
    """The real bootstrap: rows with replacement, then counted."""
    rng = np.random.default_rng(5)
    cells = [
        np.bincount(cell[picked], None if weight is None else weight[picked], minlength=8)
        for picked in (rng.integers(0, len(cell), len(cell)) for _ in range(draws))
    ]
    return np.array(cells).reshape(draws, 4, 2).astype(float)


def same_distribution(ours: Any, theirs: Any) -> None:
    """Quantiles agree within 4 standard errors of both, the error taken from the spacing of order statistics."""
    for level in (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975):
        error = 0.0
        for sample in (ours, theirs):
            step = np.sqrt(level * (1 - level) / len(sample))
            low, high = np.quantile(sample, [max(level - step, 0), min(level + step, 1)])
            error = np.hypot(error, (high - low) / 2)
        assert abs(np.quantile(ours, level) - np.quantile(theirs, level)) <= 4 * error, level


def test_the_same_as_resampling_rows() -> None:
    group, chosen, _ = rows()
    cell = 2 * group + chosen
    n = np.bincount(cell, minlength=8).reshape(4, 2)
    same_distribution(gap(whole(multinomial(n, draws=20_000))), gap(resampled(cell, None, 4000)))


def test_the_same_as_resampling_weighted_rows() -> None:
    group, chosen, weight = rows()
    cell = 2 * group + chosen
    n, w, w2 = (np.bincount(cell, x, minlength=8).reshape(4, 2) for x in (np.ones(len(cell)), weight, weight**2))
    ours = whole(weighted(n.astype(int), w, w2, draws=20_000))
    theirs = resampled(cell, weight, 4000)
    same_distribution(gap(ours), gap(theirs))
    for g, c in np.ndindex(4, 2):
        same_distribution(ours[:, g, c], theirs[:, g, c])
    # Counts scaled by the mean weight would be too narrow.
    scaled = whole(multinomial(n.astype(int), draws=20_000)) * (w / n)
    assert scaled[:, 3, 1].std() < 0.92 * theirs[:, 3, 1].std()
    assert ours[:, 3, 1].std() == pytest.approx(theirs[:, 3, 1].std(), rel=0.06)


def test_one_weight_above_all_others_makes_wide_draws_not_narrow_ones() -> None:
    """The limit of two moments: the mean and the variance hold, and sums below the possible ones are drawn too."""
    weight = np.array([*[1.0] * 150, 200.0, *[1.0] * 849])
    cell = np.array([0] * 151 + [1] * 849)
    n, w, w2 = (np.bincount(cell, x, minlength=8).reshape(4, 2) for x in (np.ones(1000), weight, weight**2))
    ours, theirs = whole(weighted(n.astype(int), w, w2, draws=20_000))[:, 0, 0], resampled(cell, weight, 4000)[:, 0, 0]
    assert ours.mean() == pytest.approx(theirs.mean(), rel=0.04)
    assert ours.std() == pytest.approx(theirs.std(), rel=0.06)
    assert np.quantile(ours, 0.025) < np.quantile(theirs, 0.025)
    assert np.quantile(ours, 0.975) > 0.9 * np.quantile(theirs, 0.975)


# ------------------------------------------------------------------------------------------------------ weighted


def test_weighted_has_the_moments_of_a_resample() -> None:
    n, w, w2 = np.array([[4, 996]]), np.array([[8.0, 996.0]]), np.array([[40.0, 1200.0]])
    drawn = whole(weighted(n, w, w2, draws=60_000))
    # A resample of N rows has, for the sum over a cell, the mean Σw and the variance Σw² − (Σw)²/N.
    variance = w2 - w**2 / n.sum()
    error = np.sqrt(variance / 60_000)
    assert (np.abs(drawn.mean(axis=0) - w) <= 5 * error).all()
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.06)


def test_small_cells_are_never_negative() -> None:
    weights = np.array([0.01, 0.02, 9.0])
    n, w, w2 = [[3, 200]], [[weights.sum(), 200.0]], [[(weights**2).sum(), 260.0]]
    drawn = whole(weighted(n, w, w2, draws=20_000))
    people = whole(multinomial(n, draws=20_000))
    assert (drawn >= 0).all()
    np.testing.assert_array_equal(drawn == 0, people == 0)


def test_equal_weights_are_scaled_counts_exactly() -> None:
    drawn = whole(weighted(N, 0.1 * N, 0.1 * 0.1 * N))
    people = whole(multinomial(N))
    np.testing.assert_array_equal(drawn, people * np.divide(0.1 * N, N, out=np.zeros(N.shape), where=N > 0))


def test_equal_weights_that_were_summed_row_by_row() -> None:
    w = w2 = 0.0
    for _ in range(10_000):
        w, w2 = w + 0.1, w2 + 0.1 * 0.1
    assert w2 * 10_000 != w**2
    drawn = whole(weighted([[10_000, 5]], [[w, 5.0]], [[w2, 5.0]], draws=100))
    people = whole(multinomial([[10_000, 5]], draws=100))
    np.testing.assert_array_equal(drawn[..., 0], people[..., 0] * (w / 10_000))


def test_weights_of_zero() -> None:
    drawn = whole(weighted([[5, 5]], [[0.0, 5.0]], [[0.0, 9.0]], draws=100))
    assert (drawn[..., 0] == 0).all()
    assert (drawn[..., 1].var() > 0).all()


def test_weights_of_a_trillion_people() -> None:
    n = np.array([[10**12, 10**12]])
    drawn = whole(weighted(n, 2.0 * n, 5.0 * n, draws=4000))
    np.testing.assert_allclose(drawn.std(axis=0), np.sqrt(5.0 * n[0] - (2.0 * n[0]) ** 2 / n.sum())[None], rtol=0.08)


# ----------------------------------------------------------------------------------------------------- dirichlet


def test_dirichlet_has_the_mean_and_variance_of_theory() -> None:
    drawn = whole(dirichlet(N, draws=40_000)) / N.sum(axis=1)[None, :, None]
    shape = N + 0.5
    total = shape.sum(axis=1, keepdims=True)
    mean = shape / total
    variance = mean * (1 - mean) / (total + 1)
    assert (np.abs(drawn.mean(axis=0) - mean) <= 5 * np.sqrt(variance / 40_000)).all()
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.08)


def test_dirichlet_of_two_cells_is_the_jeffreys_posterior() -> None:
    from scipy import stats

    drawn = whole(dirichlet([[3, 17]], draws=20_000))[:, 0, 0] / 20
    assert stats.kstest(drawn, stats.beta(3.5, 17.5).cdf).pvalue > 0.001


def test_dirichlet_keeps_the_size_of_groups_and_what_cannot_occur() -> None:
    mask = np.array([[True, True, False, True], [True, True, True, True], [False, True, False, True]])
    drawn = whole(dirichlet(N, mask=mask))
    np.testing.assert_allclose(drawn.sum(axis=2), np.broadcast_to(N.sum(axis=1), (1000, 3)), rtol=1e-12)
    assert (drawn[:, ~mask] == 0).all()
    assert (drawn[:, mask] > 0).all()


def test_dirichlet_without_a_prior_is_the_bayesian_bootstrap() -> None:
    drawn = whole(dirichlet(N, prior=0))
    assert (drawn[:, N == 0] == 0).all()
    assert (drawn[:, 2, 3] == 1).all()


def test_dirichlet_of_a_trillion_and_of_effective_counts() -> None:
    drawn = whole(dirichlet([[10**12, 10**12]], draws=4000))
    assert drawn.std(axis=0)[0, 0] == pytest.approx(np.sqrt(0.5 * 10**12), rel=0.08)
    np.testing.assert_allclose(whole(dirichlet([[1.5, 2.25]])).sum(axis=2), 3.75)


# ------------------------------------------------------------------------------------------------- one person less


def test_one_less() -> None:
    tables = whole(one_less(N))
    assert tables.shape == (N.size, *N.shape)
    np.testing.assert_array_equal(N.sum() - tables.sum(axis=(1, 2)), (N > 0).reshape(-1))
    weights = whole(one_less(N, W))
    np.testing.assert_allclose(
        W.sum() - weights.sum(axis=(1, 2)), np.where(N > 0, W / np.maximum(N, 1), 0).reshape(-1), atol=1e-12
    )


def test_one_less_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = whole(one_less(N, W))
    monkeypatch.setattr(drawing, "BLOCK_BYTES", 8 * N.size * 5)
    np.testing.assert_array_equal(whole(one_less(N, W)), expected)


# -------------------------------------------------------------------------------------------------------- memory


def test_all_measures_of_200_groups_stay_below_300_mb() -> None:
    n = np.random.default_rng(0).integers(0, 500, (200, 8))
    tracemalloc.start()
    try:
        seen = 0
        for block in weighted(n, n.astype(float), 2.0 * n, draws=1000):
            values = evaluate(block, MEASURES.values())
            seen += len(values["f1"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seen == 1000
    assert peak < 300e6
