"""Dimensions of stability, person by person: their definitions, identities that always hold, and what blocks change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.catalogue import METRICS
from evenhand.replicas import dimensions
from evenhand.replicas.dimensions import DIMENSIONS, measure

FROM_LABELS = [name for name, row in DIMENSIONS.items() if row.from_labels]
SHAPES = st.tuples(st.integers(2, 9), st.integers(1, 6))
PROBABILITIES = SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1)))
LABELS = SHAPES.flatmap(lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1)))


def close(expected, **tolerance):
    return pytest.approx(expected, **({"rel": 1e-9, "abs": 1e-12} | tolerance))


# --- identities


@given(PROBABILITIES)
def test_jitter_is_the_share_of_pairs_that_disagree(p):
    said = p >= 0.5
    pairs = [first != second for first, second in itertools.combinations(said, 2)]
    assert measure(p).people["jitter"] == close(np.mean(pairs, axis=0))


@given(LABELS)
def test_labels_give_the_votes_and_what_follows_from_them(labels):
    found = measure(labels, names=FROM_LABELS)
    ones = labels.sum(axis=0)
    assert found.votes.tolist() == ones.tolist()
    assert found.people["label_stability"] == close(np.abs(ones - (len(labels) - ones)) / len(labels))
    assert set(found.people) == set(FROM_LABELS)


@given(PROBABILITIES)
def test_uncertainty_splits_into_parts_that_are_never_negative(p):
    people = measure(p).people
    parts = people["aleatoric_uncertainty"] + people["epistemic_uncertainty"]
    assert people["overall_uncertainty"] == close(parts, abs=1e-9)
    for name in ("overall", "aleatoric", "epistemic"):
        assert (people[f"{name}_uncertainty"] >= 0).all()
        assert (people[f"{name}_uncertainty"] <= 1 + 1e-12).all()


@given(PROBABILITIES)
def test_the_variance_form_obeys_the_law_of_total_variance(p):
    people = measure(p).people
    mean = people["mean_prediction"]
    assert mean * (1 - mean) == close((p * (1 - p)).mean(axis=0) + people["epistemic_variance"])
    assert people["std"] ** 2 * (len(p) - 1) == close(people["epistemic_variance"] * len(p))


@given(PROBABILITIES, st.randoms(use_true_random=False))
def test_the_order_of_replicas_does_not_matter(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    first, second = measure(p).people, measure(p[order]).people
    for name in DIMENSIONS:
        assert first[name] == close(second[name], nan_ok=True)


@given(arrays(np.float64, st.integers(1, 6), elements=st.floats(0, 1)), st.integers(2, 30))
def test_identical_replicas_are_stable(one, count):
    people = measure(np.tile(one, (count, 1))).people
    assert people["label_stability"].tolist() == [1.0] * len(one)
    assert people["jitter"].tolist() == [0.0] * len(one)
    for name in ("std", "iqr", "epistemic_uncertainty", "epistemic_variance"):
        assert people[name] == close(0.0, abs=1e-7)


@given(PROBABILITIES)
def test_quartiles_are_those_of_numpy(p):
    low, high = np.quantile(p, [0.25, 0.75], axis=0)
    assert measure(p).people["iqr"] == close(high - low)


@given(PROBABILITIES)
def test_a_mirror_reads_the_other_class(p):
    first, second = measure(1 - p), measure(p, mirror=True)
    for name in DIMENSIONS:
        assert first.people[name] == close(second.people[name], nan_ok=True)


# --- one replica left out


def left_out(p, label, name):
    """Every dimension of each person without each replica, computed anew."""
    return np.stack([measure(np.delete(p, i, axis=0), label).people[name] for i in range(len(p))])


@given(
    st.tuples(st.integers(3, 8), st.integers(1, 6)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape, elements=st.floats(0, 1).map(lambda value: round(value, 2))),
            arrays(np.float64, shape[1], elements=st.sampled_from([0.0, 1.0, np.nan])),
            arrays(np.intp, shape[1], elements=st.integers(-1, 2)),
        )
    )
)
def test_moves_are_what_leaving_a_replica_out_does(case):
    p, label, groups = case
    found = measure(p, label, groups)
    for name in DIMENSIONS:
        anew = np.nan_to_num(left_out(p, label, name))
        for group in range(groups.max() + 1):
            expected = anew[:, groups == group].sum(axis=1)
            moves = found.moves[name][:, group]
            assert moves - moves.mean() == close(expected - expected.mean(), abs=1e-7), name


# --- the table


def test_every_dimension_has_one_metric_of_the_catalogue():
    measured = [row.name for metric in METRICS.values() if metric.family == "stability" for row in metric.rows]
    assert measured == list(DIMENSIONS)


# --- how it is computed


def test_blocks_and_workers_change_nothing(monkeypatch):
    random = np.random.default_rng(1)
    p, label, groups = random.random((7, 200)), random.integers(0, 2, 200).astype(float), random.integers(0, 3, 200)
    whole = measure(p, label, groups)
    for cells, workers in ((7 * 16, 1), (7 * 16, 5), (7 * 50, 3)):
        monkeypatch.setattr(dimensions, "_CELLS", cells)
        monkeypatch.setattr(dimensions, "_MAX_WORKERS", workers)
        parts = measure(p, label, groups)
        for name in DIMENSIONS:
            assert parts.people[name].tolist() == whole.people[name].tolist()
            assert parts.moves[name] == close(whole.moves[name])


def test_single_precision_stays_close_to_double():
    random = np.random.default_rng(2)
    p = random.beta(2, 3, (30, 500)).astype(np.float32)
    single, double = measure(p), measure(p.astype(np.float64))
    for name in DIMENSIONS:
        assert single.people[name] == close(double.people[name], rel=1e-4, abs=1e-5, nan_ok=True)


def test_a_tie_is_a_yes_unless_only_more_than_half_is():
    p = np.array([[0.5, 0.5], [0.5, 0.4]])
    assert measure(p).votes.tolist() == [2, 1]
    assert measure(p, above=True).votes.tolist() == [0, 0]
    assert measure(p, cutoff=0.4).votes.tolist() == [2, 2]
    assert dimensions.decide(p.mean(axis=0)).tolist() == [1, 0]
    assert dimensions.decide(p.mean(axis=0), above=True).tolist() == [0, 0]


def test_progress_is_shown_as_people_are_done(monkeypatch):
    monkeypatch.setattr(dimensions, "_CELLS", 16)
    shown: list[int] = []
    measure(np.zeros((2, 50)), show=shown.append)
    assert shown == [16, 32, 48, 50]
