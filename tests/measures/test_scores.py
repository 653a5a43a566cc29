"""Scores: known numbers, scikit-learn and scipy, and every source the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import evenhand as eh
from evenhand.errors import CallError, DataError, EvenhandError
from evenhand.measures import curves
from support.profiles import examples

COMPAS = {"label": "recidivated", "score": "decile", "count": "count", "sensitive": "race"}


def by_group(finding: eh.Finding) -> dict[str, float]:
    return {row.group[0]: row.estimate.value for row in finding.groups}


def sample(n: int, groups: str = "ab", seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    score = rng.beta(2, 2, n)
    return {
        "score": score,
        "label": (rng.random(n) < score).astype(int),
        "sensitive": rng.choice(list(groups), n),
    }


def test_compas_auc_with_ties():
    found = by_group(eh.auc_parity(eh.datasets.compas(), **COMPAS))
    assert found["African-American"] == pytest.approx(0.6918, abs=5e-5)
    assert found["Caucasian"] == pytest.approx(0.6931, abs=5e-5)
    everyone = eh.Cube.count(eh.datasets.compas(), **COMPAS).marginal(())
    dense = everyone.scores.dense(1)["n"]
    assert curves.auc(dense[0, 1].astype(float), dense[0, 0].astype(float)) == pytest.approx(0.7022, abs=5e-5)


def test_means_and_calibration_equal_a_group_by():
    frame = pd.DataFrame(eh.datasets.compas())
    finding = eh.balance_for_positive_class(frame, **COMPAS)
    positives = frame[frame.recidivated == 1]
    expected = (positives.decile * positives["count"]).groupby(positives.race).sum()
    expected /= positives.groupby("race")["count"].sum()
    assert by_group(finding) == pytest.approx(expected.to_dict(), rel=1e-12)
    calibration = eh.calibration(frame, **COMPAS)
    counts = frame.groupby(["race", "decile", "recidivated"])["count"].sum().unstack(fill_value=0)
    for row in calibration.groups:
        decile = round((row.bin[0] - 1) / 0.9) + 1
        if (row.group[0], decile) not in counts.index:
            assert np.isnan(row.estimate.value)
            continue
        cell = counts.loc[(row.group[0], decile)]
        assert row.n == cell.sum()
        assert row.estimate.value == pytest.approx(cell[1] / cell.sum(), rel=1e-12)


def test_a_calibrated_score_passes_and_a_shifted_one_names_bin_and_groups():
    data = sample(40_000)
    assert eh.calibration(**data).verdict == "pass"
    shifted = np.where(data["sensitive"] == "b", np.clip(data["score"] + 0.2, 0, 1), data["score"])
    found = eh.calibration(**{**data, "score": shifted})
    assert found.verdict == "fail"
    assert "at scores from" in found.interpretation
    assert {found.highest, found.lowest} == {"a", "b"}


@pytest.mark.parametrize("resolution", ["exact", "grid"])
def test_against_scikit_learn(resolution):
    data = sample(5_000, "abc")
    tolerance = {"rel": 1e-9} if resolution == "exact" else {"abs": 2e-3}
    auc, brier, loss = (
        by_group(metric(**data, resolution=resolution))
        for metric in (eh.auc_parity, eh.brier_score_parity, eh.log_loss_parity)
    )
    for group in "abc":
        inside = data["sensitive"] == group
        y, s = data["label"][inside], data["score"][inside]
        assert auc[group] == pytest.approx(roc_auc_score(y, s), **tolerance)
        assert brier[group] == pytest.approx(brier_score_loss(y, s), rel=1e-9)  # exact whatever the bins
        assert loss[group] == pytest.approx(log_loss(y, s), **tolerance)


def test_calibration_curve_with_a_closed_last_bin():
    data = sample(3_000)
    data["score"][:50] = 1.0
    panel = eh.calibration(**data).panels[0]
    for group in "ab":
        inside = data["sensitive"] == group
        observed, mean = calibration_curve(data["label"][inside], data["score"][inside], n_bins=10)
        ours = [row for row in panel.rows if row[0] == f"group {group}"]
        assert [row[4] for row in ours] == pytest.approx(observed.tolist(), rel=1e-9)
        assert [row[7] for row in ours] == pytest.approx(mean.tolist(), rel=1e-9)


def test_distances_against_scipy():
    data = sample(800, "abc", seed=3)
    parts = {group: data["score"][data["sensitive"] == group] for group in "abc"}
    for metric, peer in ((eh.ks_distance, lambda a, b: stats.ks_2samp(a, b).statistic),
                         (eh.wasserstein_distance, stats.wasserstein_distance)):  # fmt: skip
        for row in metric(**data, resolution="exact").rows:
            expected = peer(parts[row.group[0]], parts[row.against])
            assert row.estimate.value == pytest.approx(expected, rel=1e-9)
            assert row.estimate.low <= expected <= row.estimate.high


def test_from_bins_a_distance_says_how_far_it_may_be_off():
    data = sample(5_000)
    exact, binned = (eh.ks_distance(**data, resolution=how) for how in ("exact", "grid"))
    assert exact.notes[0].startswith("Exact")
    assert "bins of the score; within" in binned.notes[0]
    assert binned.value.value == pytest.approx(exact.value.value, abs=0.01)


def test_cross_group_auc_is_the_auc_of_two_groups():
    data = sample(600, seed=5)
    found = eh.cross_group_auc(**data, resolution="exact")
    for row in found.rows:
        positives = data["score"][(data["sensitive"] == row.group[0]) & (data["label"] == 1)]
        negatives = data["score"][(data["sensitive"] == row.against) & (data["label"] == 0)]
        expected = roc_auc_score([1] * len(positives) + [0] * len(negatives), np.r_[positives, negatives])
        assert row.estimate.value == pytest.approx(expected, rel=1e-9)


def test_abroca_of_opposite_scores():
    label = [0, 0, 1, 1] * 2
    score = [0.1, 0.2, 0.8, 0.9, 0.9, 0.8, 0.2, 0.1]
    found = eh.abroca(label=label, score=score, sensitive=list("aaaabbbb"))
    assert found.value.value == pytest.approx(1.0)


@examples(60)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.integers(0, 6)), min_size=8, max_size=40))
def test_the_mean_of_any_scores_is_exact(rows):
    groups, _, scores = zip(*rows, strict=True)
    if len(set(groups)) < 2:
        return
    found = by_group(eh.mean_score_parity(score=list(scores), sensitive=list(groups)))
    for group in "ab":
        inside = [score for name, score in zip(groups, scores, strict=True) if name == group]
        assert found[group] == pytest.approx(np.mean(inside), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("extra", [{}, {"weight": "w"}, {"prediction": "p", "cutoff": 0.37}, {"higher_is": "negative"}])
def test_every_source_counts_the_same_scores(tmp_path, extra):
    rng = np.random.default_rng(1)
    n = 3_000
    frame = pd.DataFrame({"g": rng.choice(["x", "y", "z"], n), "y": rng.integers(0, 2, n), "p": rng.integers(0, 2, n),
                          "s": rng.random(n), "w": rng.random(n)})  # fmt: skip
    frame.loc[::97, "s"] = np.nan
    roles = {"label": "y", "score": "s", "sensitive": "g", **extra}
    cube = eh.Cube.count(frame, **roles)
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    assert eh.Cube.count(tmp_path / "d.csv", **roles) == cube
    assert eh.Cube.count(tmp_path / "d.parquet", **roles) == cube
    assert eh.Cube.count(frame.sample(frac=1, random_state=0), **roles) == cube
    first, second = (eh.Cube.count(part, **roles, like=cube) for part in (frame[:1000], frame[1000:]))
    assert first + second == cube
    cube.save(tmp_path / "x.cube")
    assert eh.Cube.load(tmp_path / "x.cube") == cube
    assert cube.facts["score_missing"] == frame.s.isna().sum()


def test_few_values_are_the_bins_and_unite_when_cubes_add():
    first = eh.Cube.count(score=[1, 2, 3, 3], sensitive=list("abab"), score_range=(0, 10))
    second = eh.Cube.count(score=[2, 7, 9, 9], sensitive=list("abab"), score_range=(0, 10))
    both = eh.Cube.count(score=[1, 2, 3, 3, 2, 7, 9, 9], sensitive=list("abababab"), score_range=(0, 10))
    assert (first + second) == both
    assert both.scores.bins.values == (1.0, 2.0, 3.0, 7.0, 9.0)


def test_cubes_with_other_cuts_do_not_add():
    rng = np.random.default_rng(0)
    first = eh.Cube.count(score=rng.normal(size=3000), sensitive=["a", "b"] * 1500)
    second = eh.Cube.count(score=rng.normal(size=3000), sensitive=["a", "b"] * 1500)
    with pytest.raises(CallError, match="score_range="):
        first + second


def test_a_mirrored_score_is_one_minus_it():
    data = sample(2_000)
    plain = eh.auc_parity(**data)
    turned = eh.auc_parity(**{**data, "score": 1 - data["score"]}, higher_is="negative")
    assert turned.value.value == pytest.approx(plain.value.value, abs=2e-3)
    decided = eh.demographic_parity(score=data["score"], cutoff=0.3, sensitive=data["sensitive"])
    mirrored = eh.demographic_parity(
        score=1 - data["score"], cutoff=0.7, sensitive=data["sensitive"], higher_is="negative"
    )
    assert mirrored.value.value == pytest.approx(decided.value.value, abs=1e-3)


def test_strange_scores():
    groups = list("abab")
    with pytest.raises(DataError, match="infinite"):
        eh.mean_score_parity(score=[1, 2, np.inf, 3], sensitive=groups)
    with pytest.raises(DataError, match="no value at all"):
        eh.mean_score_parity(score=[np.nan] * 4, sensitive=groups)
    with pytest.raises(DataError, match="outside score_range"):
        eh.mean_score_parity(score=[0.2, 0.4, 1.2, 0.1], sensitive=groups, score_range=(0, 1))
    with pytest.raises(CallError, match="needs a probability"):
        eh.brier_score_parity(label=[0, 1, 0, 1], score=[1, 5, 7, 9], sensitive=groups)
    equal = eh.auc_parity(label=[0, 0, 1, 1] * 5, score=[0.5] * 20, sensitive=groups * 5)
    assert equal.value.value == 0
    assert set(by_group(equal).values()) == {0.5}
    some = eh.mean_score_parity(score=[0.1, 0.2, np.nan, 0.4], sensitive=groups)
    assert by_group(some) == pytest.approx({"a": 0.1, "b": 0.3})


def test_a_score_alone_is_judged_by_score_metrics():
    data = sample(4_000)
    audit = eh.audit(**data)
    assert audit.required == ("calibration",)
    assert "demographic_parity" not in {finding.metric for finding in audit.findings}
    assert eh.audit(score=data["score"], sensitive=data["sensitive"]).required == ("mean_score_parity",)


def test_references_for_scores():
    data = sample(3_000, "abc")
    means = by_group(eh.mean_score_parity(score=data["score"], sensitive=data["sensitive"]))
    for reference in ("a", "rest", "overall"):
        found = eh.mean_score_parity(score=data["score"], sensitive=data["sensitive"], reference=reference)
        for row in found.groups:
            others = data["score"] if reference == "overall" else data["score"][data["sensitive"] != row.group[0]]
            base = means["a"] if reference == "a" else others.mean()
            if row.difference is not None:
                assert row.difference.value == pytest.approx(means[row.group[0]] - base, abs=1e-12)
                assert row.difference.low <= row.difference.value <= row.difference.high


def test_the_sweep_agrees_with_an_audit_at_each_cutoff():
    data = sample(1_000)
    found = eh.sweep(eh.Cube.count(**data, resolution="exact"))
    for cutoff in (0.2, 0.5, 0.81):
        place = found.at(cutoff)
        cube = eh.Cube.count(**data, cutoff=cutoff)
        for name, values in cube.measures().items():
            assert found.measures[name][place] == pytest.approx(values, nan_ok=True)
        odds = eh.equalized_odds(**data, cutoff=cutoff)
        assert found.differences["equalized_odds"][place] == pytest.approx(odds.difference.value)
    with pytest.raises(EvenhandError, match="needs a score"):
        eh.sweep(eh.Cube.count(prediction=[0, 1], sensitive=["a", "b"]))


def test_roc_curves_on_a_grid_are_close_to_those_by_corners():
    from evenhand.measures import distances

    cells = np.random.default_rng(0).integers(0, 30, (6, 2, 200)).astype(float)
    corners, grid = distances._Rocs(), distances._Heights()
    exact, near = corners.of(cells), grid.of(cells)
    assert corners.apart(exact[0], exact[1:]) == pytest.approx(grid.apart(near[0], near[1:]), abs=2 / 2048)
