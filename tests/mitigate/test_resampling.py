"""The resamplers and the massager: who is dropped, repeated and relabelled, and what comes of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import evenhand as eh
from evenhand.mitigate import Massager, PreferentialResampler, Resampled, UniformResampler
from evenhand.mitigate.resampling import largest_remainder, queued
from support.rankers import Given, Unsure

RESAMPLERS = {
    "uniform": UniformResampler(random_state=0),
    "preferential": PreferentialResampler(),
    "massager": Massager(),
}
every_resampler = pytest.mark.parametrize("resampler", RESAMPLERS.values(), ids=RESAMPLERS)

# 6 of a: 4 positive; 6 of b: 2. Expected 3 and 3 each.
GROUP = list("aaaaaabbbbbb")
Y = np.array([1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0])
P = np.array([0.9, 0.6, 0.8, 0.7, 0.2, 0.3, 0.8, 0.7, 0.1, 0.4, 0.3, 0.2]).reshape(-1, 1)


def rates(y, groups) -> dict[str, float]:
    return pd.Series(np.asarray(y)).groupby(np.asarray(groups)).mean().to_dict()


# --- sizes


def test_sizes_are_those_of_independence():
    resampler = UniformResampler(random_state=1)
    _, even = resampler.fit_resample(P, Y, sensitive=GROUP)
    assert resampler.counts_.tolist() == [[2, 4], [4, 2]]
    assert resampler.sizes_.tolist() == [[3, 3], [3, 3]]
    assert rates(even, np.array(GROUP)[resampler.sample_indices_]) == {"a": 0.5, "b": 0.5}


def test_rounding_keeps_the_total_and_gives_ties_to_the_first():
    assert largest_remainder(np.array([1.5, 1.5, 2.0]), 5).tolist() == [2, 1, 2]
    assert largest_remainder(np.array([2.9999999999996, 2.0000000000004]), 5).tolist() == [3, 2]


@pytest.mark.parametrize(
    ("rows", "size", "expected"),
    [
        (4, 0, [0, 0, 0, 0]),
        (4, 1, [0, 0, 0, 1]),
        (4, 4, [1, 1, 1, 1]),
        (4, 6, [2, 2, 1, 1]),
        (2, 5, [3, 2]),
        (1, 9, [9]),
    ],
)
def test_the_queue_of_a_cell(rows, size, expected):
    assert queued(rows, size).tolist() == expected


@given(st.integers(1, 12), st.integers(0, 100))
def test_the_queue_is_that_of_the_paper_step_by_step(rows, size):
    queue, counts = list(range(rows)), [1] * rows
    for _ in range(rows - size):
        counts[queue.pop(0)] = 0
    for _ in range(size - rows):
        first = queue.pop(0)
        counts[first] += 1
        queue += [first, first]
    assert queued(rows, size).tolist() == counts


# --- who is chosen


def test_preferential_by_hand():
    """a+ loses 1 (.6), a− repeats 5 (.3), b+ repeats 7 (.7), b− loses 9 (.4)."""
    resampler = PreferentialResampler(ranker=Given())
    resampler.fit(P, Y, sensitive=GROUP)
    assert resampler.sample_indices_.tolist() == [0, 2, 3, 4, 5, 5, 6, 7, 7, 8, 10, 11]


def test_ties_go_by_the_order_of_the_rows():
    resampler = PreferentialResampler(ranker=Unsure())
    resampler.fit(P, Y, sensitive=GROUP)
    assert resampler.sample_indices_.tolist() == [1, 2, 3, 4, 4, 5, 6, 6, 7, 9, 10, 11]


def test_three_classes_are_ranked_by_the_probability_of_their_own():
    y = np.array(list("kkllmmkklmmm"))
    groups = list("aaaaaaaabbbb")
    resampler = PreferentialResampler()
    with pytest.warns(UserWarning, match="nobody is in 'b' with class 'k'"):
        resampler.fit(P, y, sensitive=groups)
    assert resampler.sizes_.sum(axis=1).tolist() == [8, 4]


def test_uniform_keeps_every_row_of_a_cell_that_grows():
    groups, y = ["a"] * 20 + ["b"] * 20, [1] * 18 + [0] * 2 + [1] * 2 + [0] * 18
    for seed in range(5):
        resampler = UniformResampler(random_state=seed)
        resampler.fit(np.zeros((40, 1)), y, sensitive=groups)
        times = np.bincount(resampler.sample_indices_, minlength=40)
        assert (times[18:22] == 5).all()  # 2 become 10
        assert times[:18].max() == 1
        assert times[:18].sum() == 10


def test_the_seed_decides():
    first, again, other = (
        UniformResampler(random_state=seed).fit(P, Y, sensitive=GROUP).sample_indices_.tolist() for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


def test_reversed_discrimination_is_evened_out_too():
    swapped = ["b" if group == "a" else "a" for group in GROUP]
    before = PreferentialResampler(ranker=Given()).fit(P, Y, sensitive=GROUP).sample_indices_
    after = PreferentialResampler(ranker=Given()).fit(P, Y, sensitive=swapped).sample_indices_
    assert before.tolist() == after.tolist()


# --- massaging


def test_massaging_by_hand():
    """d = 4/6 − 2/6, M = ⌈(1/3) · 6 · 6 / 12⌉ = 1: a's 1 (.6) loses, b's 9 (.4) gains."""
    massager = Massager(ranker=Given())
    _, even = massager.fit_resample(P, Y, sensitive=GROUP)
    told = [(flip.row, flip.group, flip.before, flip.after, flip.probability) for flip in massager.flips_]
    assert told == [(1, "a", 1, 0, pytest.approx(0.4)), (9, "b", 0, 1, pytest.approx(0.4))]
    assert rates(even, GROUP) == {"a": 0.5, "b": 0.5}
    assert massager.sample_indices_.tolist() == list(range(12))


def test_massaging_does_not_depend_on_which_class_is_favourable():
    first = Massager(ranker=Given()).fit(P, Y, sensitive=GROUP).flips_
    second = Massager(ranker=Given()).fit(1 - P, 1 - Y, sensitive=GROUP).flips_
    assert [flip.row for flip in first] == [flip.row for flip in second]


def test_an_even_table_is_left_alone():
    massager = Massager(ranker=Given())
    _, even = massager.fit_resample(P[:4], [1, 0, 1, 0], sensitive=list("aabb"))
    assert (even, massager.flips_) == ([1, 0, 1, 0], ())


@pytest.mark.parametrize(
    ("y", "groups", "words"),
    [
        ([0, 1, 0, 1, 0, 1], list("aabbcc"), "two groups, and there are 3 ('a', 'b', 'c')"),
        ([0, 1, 2, 0, 1, 2], list("aaabbb"), "two classes, and there are 3 (0, 1, 2)"),
        ([0, 1, 0, 1, 0, 1], [*"aabb", None, None], "'(missing)'"),
    ],
)
def test_massaging_is_for_two(y, groups, words):
    with pytest.raises(eh.DataError) as told:
        Massager().fit(np.zeros((6, 1)), y, sensitive=groups)
    assert words in str(told.value)
    assert "Reweigher" in str(told.value)


# --- for all of them


KINDS = {
    "pandas": lambda X: X,
    "polars": pl.from_pandas,
    "numpy": lambda X: X.to_numpy(),
    "sparse": lambda X: scipy.sparse.csr_matrix(X.to_numpy()),
    "list": lambda X: X.to_numpy().tolist(),
    "arrow": pa.Table.from_pandas,
}


@every_resampler
@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_out_is_of_the_kind_that_went_in(resampler, kind):
    X = KINDS[kind](pd.DataFrame({"p": P[:, 0], "q": P[::-1, 0]}, index=None if kind != "pandas" else range(5, 17)))
    y = {"pandas": pd.Series(Y, index=range(5, 17), name="y"), "polars": pl.Series("y", Y), "list": Y.tolist()}.get(
        kind, Y
    )
    X_even, y_even = clone(resampler).fit_resample(X, y, sensitive=GROUP)
    assert type(X_even) is type(X)
    assert type(y_even) is type(y)
    assert (len(y_even), X_even.shape[0] if kind == "sparse" else len(X_even)) == (12, 12)
    if kind == "pandas":
        assert (y_even.index == X_even.index).all()
        assert (y_even.name, y_even.dtype) == ("y", y.dtype)


@every_resampler
def test_mixed_columns_with_gaps_and_hostile_names(resampler):
    X = pd.DataFrame(
        {
            "sex": GROUP,
            "number": [*P[:10, 0], np.nan, np.nan],
            "</script>": ["x", None, "[/red]"] * 4,
            "yes": [True, False] * 6,
            "kind": pd.Categorical(list("uvwuvwuvwuvw")),
            "empty": [np.nan] * 12,
        }
    )
    for table in (X, pl.from_pandas(X)):
        X_even, y_even = clone(resampler).set_params(sensitive="sex").fit_resample(table, Y)
        assert rates(y_even, X_even["sex"]) == {"a": 0.5, "b": 0.5}


@every_resampler
def test_one_class_and_one_group_stay_as_they_are(resampler):
    for y, groups in (([1] * 12, GROUP), (Y, ["a"] * 12)):
        fitted = clone(resampler).fit(P, y, sensitive=groups)
        assert fitted.sample_indices_.tolist() == list(range(12))


@pytest.mark.parametrize("name", ["uniform", "preferential"])
def test_a_group_of_one_class_keeps_it_and_is_named(name):
    y, groups = [1, 1, 1, 0, 0, 0], list("aaaabb")
    resampler = clone(RESAMPLERS[name])
    with pytest.warns(UserWarning, match="nobody is in 'b' with class 1: there is no row to repeat"):
        resampler.fit(P[:6], y, sensitive=groups)
    assert resampler.empty_ == (("b", 1),)
    assert resampler.sizes_.tolist() == [[2, 2], [2, 0]]


@pytest.mark.parametrize("make", [PreferentialResampler, Massager])
def test_a_ranker_needs_probabilities(make):
    for ranker in (Perceptron(), Perceptron, "logistic"):
        with pytest.raises(eh.CallError, match="has no predict_proba"):
            make(ranker=ranker).fit(P, Y, sensitive=GROUP)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=60),
    st.sampled_from(["uniform", "preferential"]),
)
@pytest.mark.filterwarnings("ignore:nobody is in")
def test_rows_and_group_sizes_are_kept_and_rates_meet_to_rounding(drawn, name):
    groups, y, x = (list(column) for column in zip(*drawn, strict=True))
    resampler = UniformResampler(random_state=0) if name == "uniform" else PreferentialResampler(ranker=Unsure())
    resampler.fit(np.array(x).reshape(-1, 1), y, sensitive=groups)
    chosen = resampler.sample_indices_
    assert len(chosen) == len(y)
    assert np.unique(np.array(groups)[chosen]).tolist() == sorted(set(groups))
    assert (resampler.sizes_.sum(axis=1) == resampler.counts_.sum(axis=1)).all()
    if not resampler.empty_:
        expected = np.outer(resampler.counts_.sum(axis=1), resampler.counts_.sum(axis=0)) / len(y)
        assert (np.abs(resampler.sizes_ - expected) < 1).all()


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.floats(0, 1)), min_size=2, max_size=60))
def test_massaged_rates_meet_to_rounding_and_the_share_of_positives_stays(drawn):
    groups, y, p = (list(column) for column in zip(*drawn, strict=True))
    massager = Massager(ranker=Given())
    _, even = massager.fit_resample(np.array(p).reshape(-1, 1), y, sensitive=groups)
    assert sum(even) == sum(y)
    found = list(rates(even, groups).values())
    sizes = np.bincount(np.unique(groups, return_inverse=True)[1])
    assert np.ptp(found) < (1 / sizes).sum() + 1e-12


def test_sparse_formats_without_rows_become_one_with():
    X = scipy.sparse.coo_matrix(P)
    X_even, _ = UniformResampler(random_state=0).fit_resample(X, Y, sensitive=GROUP)
    assert (X_even.format, X_even.shape) == ("csr", (12, 1))


# --- around a classifier


@pytest.mark.parametrize("resampler", [None, *RESAMPLERS.values()], ids=["default", *RESAMPLERS])
def test_a_resampled_classifier_is_one_fitted_to_the_sample(resampler):
    X = np.column_stack([np.array(GROUP) == "a", P[:, 0]]).astype(float)
    model = Resampled(KNeighborsClassifier(1), resampler, sensitive="x0", drop=True).fit(X, Y)
    assert model.estimator_.n_features_in_ == 1
    sample = model.resampler_.sample_indices_
    if not isinstance(resampler, Massager):
        expected = KNeighborsClassifier(1).fit(X[sample][:, 1:], Y[sample]).predict(X[:, 1:])
        assert model.predict(X).tolist() == expected.tolist()
    assert len(sample) == 12
    assert model.predict_proba(X).shape == (12, 2)


def test_a_resampled_classifier_in_a_search_with_groups_beside_x():
    X, y, groups = np.tile(P, (5, 1)), np.tile(Y, 5), np.tile(GROUP, 5)
    with sklearn.config_context(enable_metadata_routing=True):
        model = Resampled(KNeighborsClassifier(), UniformResampler(random_state=0)).set_fit_request(sensitive=True)
        search = GridSearchCV(model, {"estimator__n_neighbors": [1, 3], "resampler__random_state": [0, 1]}, cv=2)
        search.fit(X, y, sensitive=groups)
    assert search.best_estimator_.resampler_.groups_ == (("a",), ("b",))


def test_a_resampler_is_needed():
    with pytest.raises(eh.CallError, match="has no fit_resample"):
        Resampled(KNeighborsClassifier(), KNeighborsClassifier(), sensitive="x0").fit(P, Y)


@pytest.mark.parametrize("resampler", [UniformResampler, PreferentialResampler, Massager])
def test_a_pipeline_of_imbalanced_learn_samples_the_training_rows_alone(resampler):
    from imblearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"g": rng.integers(0, 2, 600), "x": rng.normal(size=600)})
    y = (X["x"] + 0.8 * X["g"] + rng.normal(size=600) > 0.5).astype(int)
    plain = LogisticRegression().fit(X, y).predict(X)
    seed = {"random_state": 0} if resampler is UniformResampler else {}
    chosen = make_pipeline(resampler(sensitive="g", **seed), LogisticRegression()).fit(X, y).predict(X)
    gaps = [decided[X["g"] == 1].mean() - decided[X["g"] == 0].mean() for decided in (plain, chosen)]
    assert len(chosen) == 600
    assert abs(gaps[1]) < gaps[0] / 2
