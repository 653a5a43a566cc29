"""Distances between score distributions: known ends, no width 0, and no alarm from one person."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.measures import distances
from support.profiles import examples


def test_the_reach_of_a_ks_distance_is_that_of_wei_and_dudley():
    score = np.concatenate([np.linspace(0, 0.6, 50), np.linspace(0.4, 1, 50), np.linspace(0, 1, 20)])
    found = eh.ks_distance(score=score, sensitive=np.repeat(list("abc"), [50, 50, 20]))
    rows = {(row.group[0], row.against): row.estimate for row in found.groups}
    equal, unequal = rows["a", "b"], rows["a", "c"]
    assert equal.value - equal.low == pytest.approx(np.sqrt(np.log(2.17 * 3 / 0.05) / 2 * (1 / 50 + 1 / 50)))
    near, far = np.sqrt(np.log(np.e * 3 / 0.05) / 2 * (1 / 50 + 1 / 20)), np.sqrt(np.log(40) / 2 * (1 / 50 + 1 / 20))
    assert (unequal.low, unequal.high) == pytest.approx((max(unequal.value - near, 0), min(unequal.value + far, 1)))


def test_the_seed_makes_no_difference_to_ks_and_to_the_shift():
    random = np.random.default_rng(0)
    data = {"score": random.random(200), "sensitive": random.choice(list("abc"), 200)}
    assert eh.ks_distance(**data, random_state=1).value == eh.ks_distance(**data, random_state=2).value


@pytest.mark.parametrize("metric", ["ks_distance", "wasserstein_distance", "abroca"])
@pytest.mark.parametrize("small", [1, 2, 5])
def test_a_few_people_are_no_evidence_of_a_distance(metric, small):
    random, alarms = np.random.default_rng(3), 0
    for _ in range(40):
        score = random.beta(2, 2, 600 + small)
        label = (random.random(len(score)) < score).astype(int)
        group = np.repeat(["a", "b", "c"], [300, 300, small])
        finding = getattr(eh, metric)(score=score, label=label, sensitive=group, score_range=(0, 1))
        alarms += finding.value.low > 0
    assert alarms <= 4


def test_a_regressor_is_not_failed_by_one_person():
    random, fails = np.random.default_rng(4), 0
    for _ in range(40):
        predicted = random.normal(50, 10, 1001)
        group = np.repeat(["a", "b", "c"], [500, 500, 1])
        finding = eh.regression_demographic_parity(prediction=predicted, sensitive=group, task="regression")
        fails += finding.verdict == "fail"
    assert fails == 0


def test_scores_that_all_agree_leave_a_width():
    group = ["a", "b"] * 15
    for metric in (eh.wasserstein_distance, eh.ks_distance):
        value = metric(score=np.full(30, 0.3), sensitive=group).value
        assert value.value == 0 == value.low < value.high
    perfect = eh.abroca(score=[0.1, 0.9] * 20, label=[0, 1] * 20, sensitive=["a", "a", "b", "b"] * 10).value
    assert perfect.value == 0 == perfect.low < perfect.high
    assert eh.wasserstein_distance(score=np.full(30, 3), sensitive=group).value.low is None


@pytest.mark.parametrize("metric", ["ks_distance", "wasserstein_distance"])
def test_weights_do_not_lift_a_distance_above_all_there_is(metric):
    random = np.random.default_rng(8)
    group = np.repeat(["a", "b", "c"], [7, 9, 400])
    for _ in range(20):
        score = np.where(group == "a", 0.0, np.where(group == "b", 1.0, random.random(len(group))))
        value = getattr(eh, metric)(score=score, sensitive=group, weight=random.lognormal(0, 1.5, len(group))).value
        assert value.low <= value.value <= value.high <= 1


@given(st.lists(st.lists(st.floats(0, 1).map(lambda score: round(score, 2)), min_size=1, max_size=9), min_size=2,
                max_size=4), st.sampled_from(["ks_distance", "wasserstein_distance"]))  # fmt: skip
@examples(25)
def test_ends_hold_the_value_and_stay_within_the_range(groups, metric):
    names = np.repeat([f"g{i}" for i in range(len(groups))], [len(group) for group in groups])
    value = getattr(eh, metric)(score=np.concatenate(groups), sensitive=names, score_range=(0, 1)).value
    assert 0 <= value.low <= value.value <= value.high <= 1
    assert value.low < value.high


@pytest.mark.parametrize("metric", ["abroca", "wasserstein_distance", "generalized_entropy", "theil_index"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_groups_makes_no_difference(metric, weighted):
    random = np.random.default_rng(4)
    place, label, score = random.integers(0, 3, 300), random.integers(0, 2, 300), random.beta(2, 2, 300)
    scored = metric in ("abroca", "wasserstein_distance")
    roles = {"score": score, "score_range": (0, 1)} if scored else {"prediction": (score > 0.5) * 1}
    if metric != "wasserstein_distance":
        roles["label"] = label
    if weighted:
        roles["weight"] = random.uniform(0.5, 2, 300)
    names = (["a", "b", "c"], ["c", "a", "b"])
    first, second = (getattr(eh, metric)(sensitive=np.array(name)[place], **roles).value for name in names)
    assert (first.value, first.low, first.high) == pytest.approx((second.value, second.low, second.high), rel=1e-9)


def test_of_many_groups_each_is_listed_with_the_one_that_is_farthest():
    random = np.random.default_rng(3)
    group = np.arange(6000) % 60
    score = np.clip(random.random(6000) + (group == 7) * 0.2, 0, 1)
    label = (random.random(6000) < score).astype(int)
    data = {"score": score, "label": label, "sensitive": np.char.add("g", group.astype(str))}
    for metric in (eh.ks_distance, eh.wasserstein_distance, eh.abroca):
        found = metric(**data)
        assert len(found.rows) == 60
        assert max(row.estimate.value for row in found.rows) == found.value.value
        assert max(row.estimate.low for row in found.rows) <= found.value.low + 1e-12
        assert any("each is shown with the one that is farthest from it" in note for note in found.notes)
    crossed = eh.cross_group_auc(**data)
    values = [row.estimate.value for row in crossed.rows]
    assert len(values) == 120
    assert max(values) - min(values) == crossed.value.value
    few = eh.ks_distance(score=score[group < 50], sensitive=data["sensitive"][group < 50])
    assert len(few.rows) == 50 * 49 / 2


@pytest.mark.parametrize("groups", [3, 25])
def test_errors_drawn_in_blocks_are_those_of_all_bins(groups, monkeypatch):
    """Blocks hide nothing that varies: with as many blocks as bins, the ends are nearly the same."""
    random = np.random.default_rng(5)
    score = random.beta(0.3, 4, 9000)
    label = (random.random(9000) < score).astype(int)
    data = {"score": score, "label": label, "sensitive": np.char.add("g", (np.arange(9000) % groups).astype(str))}
    for metric in (eh.wasserstein_distance, eh.abroca):
        found = metric(**data).value
        with monkeypatch.context() as patch:
            patch.setattr(distances, "_BLOCKS", 4096)
            every = metric(**data).value
        assert found.value == every.value
        assert found.high - found.value == pytest.approx(every.high - every.value, rel=0.15)


def test_many_groups_of_whom_nobody_counts_have_no_distance():
    group = np.char.add("g", (np.arange(300) % 30).astype(str))
    weight = np.zeros(300)
    weight[-1] = 1.0
    data = {"score": np.linspace(0, 1, 300), "label": np.arange(300) % 2, "sensitive": group, "weight": weight}
    for metric in (eh.abroca, eh.wasserstein_distance, eh.ks_distance, eh.cross_group_auc):
        found = metric(**data)
        assert not found.value.defined
        assert found.verdict in ("inconclusive", "not judged")
