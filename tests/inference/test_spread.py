"""Calibration and its errors: what is judged, what is only shown, and how exact a finding says it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import evenhand as eh
from evenhand.inference import simultaneous
from evenhand.inference.spread import Errors, Largest
from evenhand.measures.scores import MIN_BIN


def calibrated(people: int, groups: str = "ab", seed: int = 0) -> dict[str, np.ndarray]:
    """Scores that are the chance of a positive label, so many people in each group."""
    rng = np.random.default_rng(seed)
    score = rng.beta(2, 2, people * len(groups))
    label = (rng.random(len(score)) < score).astype(int)
    return {"score": score, "label": label, "sensitive": np.repeat(list(groups), people)}


def by_group(finding: eh.Finding) -> dict[str, eh.Estimate]:
    return {row.group[0]: row.estimate for row in finding.groups}


# ------------------------------------------------------------------------------------------------ calibration


@pytest.mark.parametrize("seed", range(3))
def test_a_calibrated_score_passes_and_the_gap_less_the_score_is_small(seed):
    found = eh.calibration(**calibrated(20_000, seed=seed))
    assert found.verdict == "pass"
    assert found.notes[0].startswith("In observed rate less mean score the largest gap is")


def test_a_shifted_score_fails_and_the_finding_names_bin_and_groups():
    data = calibrated(20_000)
    shifted = np.where(data["sensitive"] == "b", np.clip(data["score"] + 0.2, 0, 1), data["score"])
    found = eh.calibration(**{**data, "score": shifted})
    assert found.verdict == "fail"
    assert "at scores from 0." in found.interpretation
    assert (found.highest, found.lowest) == ("a", "b")
    note = found.notes[0]
    assert "at scores from" in note
    assert "a (+" in note
    assert "b (-" in note


def test_the_gap_less_the_mean_score_is_that_of_the_curve():
    data = calibrated(3_000, "abc", seed=4)
    found = eh.calibration(**data)
    curve = pd.DataFrame(found.panels[0].rows, columns=found.panels[0].columns)
    judged = curve[curve["n"] >= MIN_BIN].groupby("from")["observed - mean score"]
    gaps = judged.max() - judged.min()
    assert f"the largest gap is {100 * gaps.max():.1f} points, at scores from {gaps.idxmax():g} to" in found.notes[0]


def test_on_another_scale_than_a_probability_there_is_no_rate_less_score():
    found = eh.calibration(
        eh.datasets.compas(), label="recidivated", score="decile", count="count", sensitive="race", min_bin=20
    )
    assert not any("less mean score" in note for note in found.notes)
    assert {row[8] for row in found.panels[0].rows} == {None}
    assert any(note.startswith("Fewer than 20 people, so shown and not judged: ") for note in found.notes)


def test_a_bin_below_min_bin_is_shown_and_not_judged():
    """Group b has nine people at high scores, all negative: a gap of 1 that nobody may judge."""
    score = [0.15] * 200 + [0.95] * 100 + [0.15] * 200 + [0.95] * 9
    label = [0, 1] * 100 + [1] * 100 + [0, 1] * 100 + [0] * 9
    data = {"score": score, "label": label, "sensitive": ["a"] * 300 + ["b"] * 209}
    found = eh.calibration(**data)
    assert found.value.value == pytest.approx(0)
    assert "Fewer than 10 people, so shown and not judged: group b at scores from 0.9 to 1." in found.notes
    shown = next(row for row in found.groups if row.group == ("b",) and row.bin == (0.9, 1.0))
    assert (shown.n, shown.estimate.value) == (9, 0.0)
    assert next(row[:5] for row in found.panels[0].rows if row[:2] == ("group b", 0.9)) == ("group b", 0.9, 1.0, 9, 0.0)
    lenient = eh.calibration(**data, min_bin=9)
    assert lenient.value.value == pytest.approx(1)
    assert lenient.verdict == "fail"


def test_a_bin_of_ten_to_29_people_may_keep_a_score_from_passing():
    """Twenty people of b in one bin, with a true gap at the threshold: that passed in half of the samples."""
    random, verdicts = np.random.default_rng(2), []
    score = (np.arange(5) + 0.5) / 5
    sizes = np.array([[20_000] * 5, [20_000, 20, 20_000, 20_000, 20_000]])
    rates = np.array([score, np.where(np.arange(5) == 1, score + 0.1, score)])
    for _ in range(20):
        k = random.binomial(sizes, rates)
        table = {
            "score": np.tile(score, 4),
            "label": np.repeat([1, 0], 10),
            "sensitive": np.tile(np.repeat(["a", "b"], 5), 2),
            "count": np.concatenate([k.ravel(), (sizes - k).ravel()]),
        }
        verdicts.append(eh.calibration(**table, bins=5, score_range=(0, 1)).verdict)
    assert "pass" not in verdicts
    left_out = eh.calibration(**table, bins=5, score_range=(0, 1), min_bin=30)
    assert left_out.left_out == ("b from 0.2 to 0.4",)


def test_the_last_bin_is_closed():
    found = eh.calibration(score=[1.0] * 40, label=[1, 0] * 20, sensitive=["a"] * 20 + ["b"] * 20, score_range=(0, 1))
    assert {(row[1], row[2], row[3]) for row in found.panels[0].rows} == {(0.9, 1.0, 20)}


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("bins", [4, 8, 10])
@pytest.mark.parametrize("scale", [(0.0, 1.0), (-3.7, 11.1), (1.0, 10.0)])
def test_calibration_bins_are_those_of_a_group_by(scale, bins, strategy):
    """No score lies in the wrong bin, whatever the range: edges of a grid and of bins may differ in the last digit."""
    low, high = scale
    data = calibrated(2_000, seed=bins)
    score = low + (high - low) * np.concatenate([data["score"][:-40], np.repeat(np.arange(40) / 40, 1)])
    cube = eh.Cube.count(**{**data, "score": score}, score_range=scale, bins=bins, strategy=strategy)
    edges = np.array(cube.scores.reading.edges)
    place = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    expected = pd.DataFrame({"g": data["sensitive"], "b": place, "y": data["label"]}).groupby(["g", "b"])["y"]
    found = cube.audit(metrics=["calibration"]).findings[0]
    for row in found.groups:
        b = int(np.searchsorted(edges, row.bin[0]))
        if row.n:
            assert row.n == expected.size()[row.group[0], b]
            assert row.estimate.value == pytest.approx(expected.mean()[row.group[0], b], rel=1e-12)


# ------------------------------------------------------------------------------------------------ calibration errors


def test_expected_and_maximum_error_of_known_bins():
    """Two bins: a is off by .1 (100 people) and .3 (50), b by 0 and .1, and nine people who are off by .55."""
    score = [0.25] * 100 + [0.75] * 50 + [0.25] * 100 + [0.75] * 60 + [0.45] * 9
    label = [1] * 35 + [0] * 65 + [1] * 22 + [0] * 28 + [1] * 25 + [0] * 75 + [1] * 51 + [0] * 9 + [1] * 9
    data = {"score": score, "label": label, "sensitive": ["a"] * 150 + ["b"] * 169}
    largest = by_group(eh.maximum_calibration_error_parity(**data))
    assert largest["a"].value == pytest.approx(abs(22 / 50 - 0.75))
    assert largest["b"].value == pytest.approx(0.1)  # nine people are too few
    expected = by_group(eh.calibration_error_parity(**data))
    assert expected["a"].value == pytest.approx((100 * 0.1 + 50 * 0.31) / 150)
    assert expected["b"].value == pytest.approx((60 * 0.1 + 9 * 0.55) / 169)
    for estimate in (*largest.values(), *expected.values()):
        assert 0 <= estimate.low <= estimate.value <= estimate.high


def test_the_maximum_error_is_undefined_without_a_bin_of_ten():
    found = eh.maximum_calibration_error_parity(
        label=[0, 1] * 12, score=[0.2, 0.4] * 12, sensitive=["a", "b", "b", "a"] * 6
    )
    assert np.isnan(found.value.value)
    assert "no calibration bin with at least 10 labels among group a" in found.interpretation


def test_noise_alone_is_no_calibration_gap():
    """A small group shows a larger error than a large one, although both are calibrated; the interval knows."""
    for seed in range(5):
        small, large = calibrated(150, "a", seed), calibrated(20_000, "b", seed + 100)
        data = {name: np.concatenate([small[name], large[name]]) for name in small}
        for metric in (eh.calibration_error_parity, eh.maximum_calibration_error_parity):
            found = metric(**data)
            assert found.value.value > 0.02
            assert found.value.low == 0


def test_the_largest_of_noises_has_the_quantiles_of_a_simulation():
    errors = np.array([[0.05, 0.1, 0.02, 0.08]])
    spread = Largest(np.abs(errors), errors, np.array([100.0]))
    noise = np.abs(np.random.default_rng(0).normal(size=(200_000, 4)) * errors).max(axis=1)
    assert spread.bias == pytest.approx(np.quantile(noise, 0.5), rel=0.01)
    assert spread.bias + spread.below(1.959964) == pytest.approx(np.quantile(noise, 0.975), rel=0.01)


def test_the_upper_end_of_a_gap_of_sizes_is_never_above_that_of_the_higher():
    """The lower group cannot be below 0, however far noise has lifted it."""
    errors = Errors(
        *(np.array(part) for part in ([0.2, 0.08], [0.01, 0.01], [0.01, 0.07], [0.005, 0.02], [99.0, 99.0]))
    )
    ends = simultaneous.between_extremes([errors], np.ones((1, 2), dtype=bool), 0.95).difference
    assert ends[1] == pytest.approx(0.2 + 1.96 * 0.01, abs=1e-4)
    largest = Largest(np.array([[0.2, 0.1], [0.05, 0.04]]), np.full((2, 2), 0.03), np.array([99.0, 99.0]))
    low, high = simultaneous.between_extremes([largest], np.ones((1, 2), dtype=bool), 0.95).difference
    assert low < 0.15 < high <= 0.2 + 1.96 * 0.03 + 1e-9


@pytest.mark.parametrize("spread", [
    Errors(np.array([0.1, np.nan]), np.array([0.01, np.nan]), np.array([0.02, np.nan]), np.array([0.01, np.nan]),
           np.array([50.0, 0.0])),
    Largest(np.array([[0.1, np.nan], [np.nan, np.nan]]), np.array([[0.05, 0.0], [0.0, 0.0]]), np.array([50.0, 0.0])),
], ids=["sum", "largest"])  # fmt: skip
def test_more_people_narrow_the_limits_of_a_size(spread):
    low, high = spread.limits(2.0, 0.0)
    narrow_low, narrow_high = spread.scaled(4.0, [0, 1]).limits(2.0, 0.0)
    assert np.isnan(spread.values[1])
    assert np.isnan(low[1])
    assert low[0] <= narrow_low[0] <= spread.values[0] <= narrow_high[0] <= high[0]
    assert spread.scaled(4.0, [0]).sizes == pytest.approx([200.0])


# ------------------------------------------------------------------------------------------------ how exact it is


def test_an_auc_says_whether_it_is_exact():
    data = calibrated(2_500, seed=2)
    exact, binned = (eh.auc_parity(**data, resolution=how) for how in ("exact", "grid"))
    few = eh.auc_parity(**{**data, "score": np.round(data["score"], 1)})
    assert exact.notes[0] == few.notes[0] == "Exact: every score has its own bin."
    assert binned.notes[0].startswith("From 1,032 bins of the score; within ")
    bound = float(binned.notes[0].partition("within ")[2].partition(" of")[0])
    assert abs(binned.value.value - exact.value.value) <= bound < 0.01


@pytest.mark.parametrize("bins", [16, 64, 256])
def test_the_bound_of_a_coarse_auc_holds(bins):
    data = calibrated(1_500, "abc", seed=bins)
    cube = eh.Cube.count(**data, score_range=(0, 1)).coarsen(bins)
    found = cube.audit(metrics=["auc_parity"]).findings[0]
    bound = float(found.notes[0].partition("within ")[2].partition(" of")[0])
    for group, estimate in by_group(found).items():
        inside = data["sensitive"] == group
        assert abs(estimate.value - roc_auc_score(data["label"][inside], data["score"][inside])) <= bound / 2 + 1e-3


# ------------------------------------------------------------------------------------------------ COMPAS


def test_compas_by_decile_equals_a_group_by(shared):
    frame = pd.read_csv(shared / "data" / "compas_two_years.csv")
    roles = {"label": "two_year_recid", "score": "decile_score", "sensitive": "race"}
    cube = eh.Cube.count(frame, **roles)
    found = {f.metric: f for f in cube.audit(metrics=["auc_parity", "overall_balance", "calibration"]).findings}
    auc = by_group(found["auc_parity"])
    assert auc["African-American"].value == pytest.approx(0.6918, abs=5e-5)
    assert auc["Caucasian"].value == pytest.approx(0.6931, abs=5e-5)
    for race, part in frame.groupby("race"):
        assert auc[race].value == pytest.approx(roc_auc_score(part.two_year_recid, part.decile_score), abs=1e-9)
    assert roc_auc_score(frame.two_year_recid, frame.decile_score) == pytest.approx(0.7022, abs=5e-5)
    means = frame.groupby(["race", "two_year_recid"])["decile_score"].mean()
    for row in found["overall_balance"].groups:
        if row.estimate is not None:
            label = int(row.measure == "mean_score_positive")
            assert row.estimate.value == pytest.approx(means[row.group[0], label], abs=1e-9)
    rates = frame.groupby(["race", "decile_score"])["two_year_recid"].agg(["mean", "size"])
    curve = {(row[0], round((row[1] - 1) / 0.9) + 1): row[3:5] for row in found["calibration"].panels[0].rows}
    assert set(curve) == set(rates.index)
    for place, (n, rate) in curve.items():
        assert (n, rate) == (rates["size"][place], pytest.approx(rates["mean"][place], abs=1e-12))
