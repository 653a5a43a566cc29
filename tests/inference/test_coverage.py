"""The default interval covers. A small part of benchmarks/coverage.py, which has many more settings."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand import demographic_parity
from evenhand.inference import draws, intervals, simultaneous
from evenhand.inference.spread import Proportions, effective
from evenhand.measures.cells import MEASURES

RATE = MEASURES["selection_rate"].form
assert RATE is not None

RATES = (0.02, 0.05, 0.12, 0.3, 0.5)


def between(k: np.ndarray, n: np.ndarray) -> tuple[float, float, float, float]:
    spread = Proportions(np.asarray(k, dtype=float), np.asarray(n, dtype=float), RATE)
    ends = simultaneous.between_extremes([spread], np.ones((1, len(k)), dtype=bool), 0.95)
    return *ends.difference, *ends.ratio


@pytest.mark.parametrize("sizes", [(30, 30), (30, 200)])
def test_two_groups_by_enumeration(sizes: tuple[int, int]) -> None:
    """No chance involved: every table with its probability."""
    most = [int(stats.binom.isf(1e-9, n, max(RATES))) for n in sizes]
    grid = np.array(list(itertools.product(*(range(k + 1) for k in most))))
    lower, upper, least, greatest = np.array([between(k, np.array(sizes)) for k in grid]).T
    for first, second in itertools.product(RATES, repeat=2):
        chance = stats.binom.pmf(grid[:, 0], sizes[0], first) * stats.binom.pmf(grid[:, 1], sizes[1], second)
        gap, ratio = abs(first - second), min(first, second) / max(first, second)
        holds = (lower <= gap + 1e-12) & (gap <= upper + 1e-12)
        assert (chance * holds).sum() >= 0.95, f"difference at {first} and {second}"
        holds = (least <= ratio + 1e-12) & (ratio <= greatest + 1e-12)
        assert (chance * holds).sum() >= 0.95, f"ratio at {first} and {second}"
        if gap == 0:
            assert (chance * (lower > 0)).sum() <= 0.045


def test_eight_even_groups_without_a_gap() -> None:
    """The default holds where the bootstrap of highest less lowest never does."""
    random = np.random.default_rng(11)
    n = np.full(8, 50)
    samples = random.binomial(n, 0.3, (2000, 8))
    lower, _, _, greatest = np.array([between(k, n) for k in samples]).T
    assert (lower > 0).mean() <= 0.055
    assert (greatest < 1).mean() <= 0.055
    covered = 0
    for i, k in enumerate(samples[:100]):
        (block,) = draws.multinomial(np.stack([k, n - k], axis=1), draws=300, random_state=i)
        rates = block[..., 0] / block.sum(axis=-1)
        covered += intervals.percentile(np.ptp(rates, axis=1)).low <= 0
    assert covered / 100 < 0.2


def test_a_small_group_with_a_small_rate() -> None:
    """2,000 against 30 people at 2 %: the small group mostly shows none, and a bootstrap of it never varies."""
    random = np.random.default_rng(12)
    n, rates = np.array([2000, 30]), np.array([0.02, 0.02])
    found = np.array([between(k, n) for k in random.binomial(n, rates, (2000, 2))])
    assert ((found[:, 0] <= 0) & (found[:, 1] >= 0)).mean() >= 0.95


def test_against_a_reference_all_groups_hold_together() -> None:
    random = np.random.default_rng(13)
    n = np.array([400, 30, 60, 120, 250])
    rates = np.array([0.3, 0.1, 0.3, 0.5, 0.35])
    compared = np.arange(5)[None] > 0
    held = 0
    for k in random.binomial(n, rates, (1500, 5)).astype(float):
        spread, base = Proportions(k, n.astype(float), RATE), Proportions(np.full(5, k[0]), np.full(5, 400.0), RATE)
        low, high = simultaneous.against([spread], [base], compared, 0.95).difference_near
        truth = (rates - rates[0])[1:]
        held += bool(((low[0, 1:] <= truth) & (truth <= high[0, 1:])).all())
    assert held / 1500 >= 0.94


def test_unequal_weights() -> None:
    """As many people as vary as much: row counts would cover far less."""
    random = np.random.default_rng(14)
    n, groups = 200, 5
    weight = random.lognormal(0, np.sqrt(np.log(2)), (1500, groups, n))
    chosen = random.random((1500, groups, n)) < 0.3
    sums = [(weight**power * side).sum(axis=-1) for power in (1, 2) for side in (chosen, ~chosen)]
    k, of = effective(*sums)
    rows = of[:, :1] * 0 + n
    held = np.mean([between(*pair)[0] <= 0 for pair in zip(k, of, strict=True)])
    as_rows = np.mean([between(*pair)[0] <= 0 for pair in zip(k / of * rows, rows + 0 * of, strict=True)])
    assert held >= 0.92
    assert as_rows < held - 0.1


def test_a_finding_shows_these_ends() -> None:
    """What is checked here and in the benchmark is what a caller sees."""
    random = np.random.default_rng(15)
    for _ in range(20):
        n = random.integers(30, 400, 4)
        k = random.binomial(n, random.choice([0.02, 0.3, 0.9], 4))
        table = {
            "group": [name for name in "abcd" for _ in range(2)],
            "decision": [0, 1] * 4,
            "people": np.stack([n - k, k], axis=1).reshape(-1).tolist(),
        }
        roles = {"prediction": "decision", "sensitive": "group", "count": "people"}
        found = demographic_parity(pd.DataFrame(table), **roles, threshold=0.0)
        lower, upper, least, greatest = between(k, n)
        assert (found.difference.low, found.difference.high) == pytest.approx((lower, upper), abs=1e-12)
        if k.any():
            assert (found.ratio.low, found.ratio.high) == pytest.approx((least, greatest), abs=1e-12)
        assert (found.verdict == "fail") == (lower > 1e-9)
