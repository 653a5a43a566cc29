"""Ratios of values that can be negative: undefined, with the reason, wherever a compared value is not above 0."""

import math

import numpy as np
import pytest

import evenhand as eh

MANY = 40


def numbers(**means):
    """Groups of MANY people, whose predictions lie half a unit on either side of a mean, and outcomes beside them."""
    f = np.concatenate([mean + np.tile([-0.5, 0.5], MANY // 2) for mean in means.values()])
    group = np.repeat(list(means), MANY)
    return {"prediction": f, "label": f + np.tile([0.25, -0.05], len(f) // 2), "sensitive": group, "task": "regression"}


@pytest.mark.parametrize("reference", [None, "a", "b", "rest", "overall", "largest", "highest"])
@pytest.mark.parametrize("means", [(-3, -2), (-3, 2), (0, 2), (-1, 0)])
def test_the_ratio_of_means_that_can_be_negative_is_undefined(reference, means):
    table = numbers(a=means[0], b=means[1])
    found = eh.mean_prediction_ratio(**table, reference=reference)
    assert not found.value.defined
    assert (found.passes, found.verdict) == (None, "inconclusive")
    assert not found.ratio.defined
    assert "nan" not in found.interpretation.lower()
    assert "can be negative" in found.interpretation
    for row in found.groups:
        if row.ratio is not None and row.ratio.defined:
            assert row.estimate.value > 0
            assert row.ratio.low is None or row.ratio.low < row.ratio.value < row.ratio.high
    difference = eh.mean_prediction_parity(**table, reference=reference)
    assert difference.value.defined
    assert any("can be negative" in note for note in difference.notes)


def test_one_group_that_is_not_above_0_leaves_no_ratio_to_judge():
    """a / b is 1.5, yet c is negative: to leave it out would be to pass it."""
    table = numbers(a=3, b=2, c=-1)
    for reference in (None, "b", "highest"):
        found = eh.mean_prediction_ratio(**table, reference=reference)
        assert not found.value.defined
        assert "-1 for group c" in found.interpretation
    rows = {row.group[0]: row for row in eh.mean_prediction_ratio(**table, reference="b").groups}
    assert rows["a"].ratio.value == pytest.approx(1.5)
    assert not rows["c"].ratio.defined


def test_positive_means_keep_their_ratio():
    table = numbers(a=3, b=2)
    assert eh.mean_prediction_ratio(**table).value.value == pytest.approx(2 / 3)
    assert eh.mean_prediction_ratio(**table, reference="b").value.value == pytest.approx(1.5)


@pytest.mark.parametrize("reference", [None, "b", "rest", "overall"])
def test_a_limit_below_0_never_makes_the_estimate_its_own_end(reference):
    """Three people a group: plain limits of a mean error reach 0, which has no logarithm; those of the ratio do not."""
    f = np.zeros(9)
    table = {"label": np.array([1, 1, 7, 2, 1, 1, 1, 2, 1.5]), "prediction": f + np.arange(9) / 100}
    found = eh.mean_absolute_error_parity(**table, sensitive=list("aaabbbccc"), task="regression", reference=reference)
    assert 0 < found.ratio.low < found.ratio.value
    for row in found.groups:
        if row.ratio is not None and row.ratio.low is not None:
            assert row.ratio.low < row.ratio.value < row.ratio.high


def test_residuals_and_r_squared_have_no_ratio_where_one_is_not_above_0():
    rng = np.random.default_rng(0)
    y = rng.normal(5, 1, 80)
    table = {
        "label": y,
        "prediction": np.where(np.arange(80) < 40, y + 0.5, 10 - y),
        "sensitive": np.repeat(["a", "b"], 40),
    }
    for metric in (eh.mean_residual_parity, eh.r_squared_parity):
        found = metric(**table, task="regression", judged_on="ratio")
        assert not found.value.defined
        assert "can be negative" in found.interpretation


@pytest.mark.parametrize("reference", [None, "a", "rest", "overall"])
def test_scores_below_0(reference):
    score = np.repeat([-3.0, -2.0], MANY) + np.tile([-0.5, 0.5], MANY)
    found = eh.mean_score_ratio(score=score, sensitive=np.repeat(["a", "b"], MANY), reference=reference)
    assert not found.value.defined
    assert found.verdict == "inconclusive"


def test_a_mean_probability_of_0_is_a_ratio_of_0():
    score = np.repeat([0.0, 0.5], MANY)
    found = eh.mean_score_ratio(score=score, sensitive=np.repeat(["a", "b"], MANY))
    assert found.value.value == 0


def test_a_function_that_returns_negative_numbers_has_no_ratio():
    lift = eh.measure("net", lambda label, prediction: float(np.mean(prediction) - 2))
    metric = eh.metric("net_parity", measures=lift, judged_on="ratio")
    rng = np.random.default_rng(0)
    columns = {"label": rng.integers(0, 2, 80), "prediction": rng.integers(0, 2, 80)}
    found = metric(**columns, sensitive=np.repeat(["a", "b"], 40))
    assert not found.value.defined
    assert "can be negative" in found.interpretation


def test_strata_have_no_ratio_of_what_can_be_negative():
    one, other = numbers(a=-3, b=-2), numbers(a=4, b=2)
    table = {name: np.concatenate([one[name], other[name]]) for name in ("prediction", "label", "sensitive")}
    found = eh.mean_prediction_parity(**table, task="regression", control=np.repeat(["x", "y"], 2 * MANY))
    gap = next(row for row in found.rows if row.measure == "standardised_gap")
    assert gap.difference.defined
    assert not gap.ratio.defined
    ratio = eh.mean_prediction_ratio(**table, task="regression", control=np.repeat(["x", "y"], 2 * MANY))
    assert (ratio.value.value, ratio.verdict) == (0.5, "fail")
    assert any(note.startswith("In stratum x: the ratio of the mean prediction is undefined") for note in ratio.notes)


def test_texts_and_files_say_undefined(tmp_path):
    found = eh.audit(**numbers(a=-3, b=-2), policy=eh.Policy(judged_on={"mean_prediction_parity": "ratio"}))
    finding = next(each for each in found.findings if each.metric == "mean_prediction_parity")
    assert math.isnan(finding.value.value)
    for suffix in ("md", "json", "xml", "html"):
        found.save(tmp_path / f"audit.{suffix}")
    assert "nan" not in str(finding).lower()
    assert "NaN" not in (tmp_path / "audit.json").read_text()
