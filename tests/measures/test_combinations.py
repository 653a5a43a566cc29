"""Measures that are functions of several rates: their values beside scikit-learn's, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.inference import simultaneous
from evenhand.inference.combined import Combined
from evenhand.measures.cells import spread
from evenhand.measures.combinations import COMBINATIONS, Combination
from evenhand.measures.evaluate import every_measure

COUNTS = st.lists(st.integers(0, 40), min_size=4, max_size=4)


def combined(row: Combination, cells: list[list[float]]) -> Combined:
    padded = np.zeros((len(cells), 8))
    padded[:, :4] = cells
    return Combined([spread(part, padded) for part in row.of], row.function, row.least, row.most, row.logs)  # type: ignore[misc]


def test_values_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(3)
    label, prediction, group = random.integers(0, 2, 900), random.integers(0, 2, 900), random.choice(["a", "b"], 900)
    values = {each.measure.name: each.values for each in every_measure(_cube(label, prediction, group), 0.95)}
    for i, name in enumerate("ab"):
        own = label[group == name], prediction[group == name]
        plus, minus = metrics.class_likelihood_ratios(*own)
        assert values["matthews_correlation"][i] == pytest.approx(metrics.matthews_corrcoef(*own), abs=1e-12)
        assert values["positive_likelihood_ratio"][i] == pytest.approx(plus, abs=1e-12)
        assert values["negative_likelihood_ratio"][i] == pytest.approx(minus, abs=1e-12)
        assert values["threat_score"][i] == pytest.approx(metrics.jaccard_score(*own), abs=1e-12)
        informed = metrics.balanced_accuracy_score(*own, adjusted=True)
        assert values["informedness"][i] == pytest.approx(informed, abs=1e-12)


def _cube(label, prediction, group):
    return eh.Cube.count(label=label, prediction=prediction, sensitive=group)


@pytest.mark.parametrize("name", COMBINATIONS)
@given(cells=st.lists(COUNTS, min_size=2, max_size=4))
def test_limits_hold_the_value_and_stay_in_the_range(name, cells):
    row = COMBINATIONS[name]
    found = combined(row, cells)
    low, high = found.limits(1.96, 0.0)
    there = np.isfinite(found.values)
    assert (low[there] <= found.values[there] + 1e-12).all()
    assert (high[there] >= found.values[there] - 1e-12).all()
    assert (low[there] >= row.least - 1e-12).all()
    assert (high[there] <= row.most + 1e-12).all()
    assert np.isnan(low[~there]).all()


@pytest.mark.parametrize("name", COMBINATIONS)
def test_an_interval_is_never_a_point(name):
    """Also where nobody was decided wrongly, and in the smallest groups."""
    row = COMBINATIONS[name]
    for cells in ([20, 1, 1, 20], [20, 0, 1, 20], [20, 1, 0, 20], [30, 0, 0, 30], [2, 1, 1, 2]):
        found = combined(row, [cells])
        if np.isfinite(found.values[0]):
            low, high = found.limits(1.96, 0.0)
            assert high[0] - low[0] > 0.01


@pytest.mark.parametrize("name", COMBINATIONS)
def test_standard_errors_are_those_of_drawn_tables(name):
    row, cells = COMBINATIONS[name], np.array([400.0, 90, 130, 280])
    drawn = np.random.default_rng(1).multinomial(900, cells / 900, 20_000)
    assert combined(row, drawn.tolist()).values.std() == pytest.approx(combined(row, [cells]).errors[0], rel=0.03)


@pytest.mark.parametrize("name", COMBINATIONS)
@pytest.mark.parametrize("size", [60, 600])
def test_intervals_of_no_gap_hold_0(name, size):
    """At least 94 % of the samples, judged as the benchmarks judge: by the 99.9 % binomial limit."""
    from scipy.stats import binom

    row, random, samples = COMBINATIONS[name], np.random.default_rng(size), 400
    shares = np.array([0.52, 0.13, 0.11, 0.24])
    held = counted = 0
    for cells in random.multinomial(size, shares, (samples, 2)):
        found = combined(row, cells.tolist())
        if np.isfinite(found.values).all():
            ends = simultaneous.between_extremes([found], np.ones((1, 2), bool), 0.95)
            held, counted = held + (ends.difference[0] == 0), counted + 1
    assert held >= binom.ppf(0.001, counted, 0.94)


def test_a_value_that_is_undefined_says_why():
    found = eh.matthews_correlation_parity([1, 1, 1, 0], [1, 1, 0, 0], sensitive=["a", "a", "b", "b"])
    assert "no labels of both kinds, or decisions of both kinds, among group a" in " ".join(found.notes)
    likely = eh.positive_likelihood_ratio_parity([1, 0, 1, 0], [1, 0, 1, 1], sensitive=["a", "a", "b", "b"])
    assert "no positive labels or no false positives among group a" in " ".join(likely.notes)


def test_weights_that_are_all_alike_change_no_value():
    random = np.random.default_rng(8)
    label, prediction, group = random.integers(0, 2, 300), random.integers(0, 2, 300), random.choice(["a", "b"], 300)
    plain = eh.matthews_correlation_parity(label, prediction, sensitive=group)
    for scale in (1e-6, 1e6):
        weighted = eh.matthews_correlation_parity(label, prediction, sensitive=group, weight=np.full(300, scale))
        assert float(weighted) == pytest.approx(float(plain), abs=1e-12)
        assert weighted.value.high == pytest.approx(plain.value.high, rel=1e-6)


def test_rows_that_belong_together_leave_the_value_alone():
    random = np.random.default_rng(8)
    label, prediction, group = random.integers(0, 2, 300), random.integers(0, 2, 300), random.choice(["a", "b"], 300)
    found = eh.informedness_parity(label, prediction, sensitive=group, cluster=np.arange(300) // 5)
    assert found.value.low is None
    assert found.verdict == "not judged"


def test_a_page_does_not_compute_it_again():
    from evenhand.audits.recomputation import measures, recomputable
    from evenhand.catalogue import METRICS

    assert not {row["name"] for row in measures()} & set(COMBINATIONS)
    assert not recomputable(METRICS["matthews_correlation_parity"])
    assert recomputable(METRICS["f1_parity"])
    assert recomputable(METRICS["threat_score_parity"])
