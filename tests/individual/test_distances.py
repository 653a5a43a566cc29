"""The distance between people: scaling, categories, weights, missing values, functions, matrices, learning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.spatial.distance import cdist

import evenhand as eh
from evenhand.errors import CallError, DataError
from evenhand.individual import distances, metric_learning
from evenhand.individual.points import to_points
from evenhand.sources import features


def apart(table, **options):
    """All distances between the people of a table, and what is said about them."""
    chosen = {name: options.pop(name) for name in ("features", "categorical", "apart", "na") if name in options}
    made = to_points(features.read(features.as_table(table), **chosen), **options)
    return cdist(made.points, made.points), made


def test_numbers_are_scaled_by_their_deviation():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 3)) * [1, 100, 0.01] + [0, 1000, 5]
    found, made = apart(X)
    np.testing.assert_allclose(found, cdist(X / X.std(axis=0), X / X.std(axis=0)), atol=1e-12)
    assert made.described == "x0, x1, x2 (in standard deviations)"
    assert made.notes == ()


def test_numbers_may_be_scaled_by_their_quartiles():
    x = np.append(np.arange(100.0), 1e6)
    found, _ = apart({"x": x}, scale="robust")
    quarter = np.subtract(*np.quantile(x, (0.75, 0.25))) / 1.3489795003921634
    assert found[0, 1] == pytest.approx(1 / quarter)
    crowded, made = apart({"x": [5.0] * 8 + [1.0, 2.0]}, scale="robust")
    assert crowded[0, 8] == pytest.approx(4 / np.std([5.0] * 8 + [1.0, 2.0]))
    assert "Half the people or more share one value of x" in made.notes[0]


def test_numbers_may_stay_as_they_are():
    X = np.random.default_rng(1).normal(3, 1, size=(20, 2))
    found, made = apart(X, scale="none")
    np.testing.assert_allclose(found, cdist(X, X), atol=1e-12)
    np.testing.assert_array_equal(made.points, X)  # a function of the caller's sees them untouched


@pytest.mark.parametrize("levels", [["a", "b", "a", "c"], ["a", "b", "a", "b"]])
def test_a_mismatch_of_categories_counts_one(levels):
    found, made = apart({"job": levels})
    np.testing.assert_allclose(found, [[float(one != other) for other in levels] for one in levels], atol=1e-15)
    assert made.described == "job (a mismatch counts 1)"


def test_columns_add_up_in_squares_with_their_weights():
    table = {"x": [0.0, 3.0, 6.0], "job": ["a", "a", "b"], "old": [0, 1, 1]}
    found, _ = apart(table, weights={"x": 4, "old": 0.25})
    unit = np.std(table["x"])
    assert found[0, 2] == pytest.approx(np.sqrt(4 * (6 / unit) ** 2 + 1 + 0.25))
    assert found[1, 2] == pytest.approx(np.sqrt(4 * (3 / unit) ** 2 + 1))
    listed, _ = apart(table, weights=[4, 1, 0.25])
    np.testing.assert_allclose(found, listed)
    without, made = apart(table, weights={"x": 0})
    assert without[0, 2] == pytest.approx(np.sqrt(2))
    assert "x" not in made.described


def test_what_looks_like_numbers_and_what_does_not():
    table = {
        "flag": [True, False, True, False],
        "binary": [0, 1, 1, 0],
        "text": ["1.5", "2", "3", "2"],
        "zip": ["007", "010", "7", "8"],
        "code": [10, 20, 30, 10],
    }
    read = features.read(table, categorical="code")
    assert [column.categorical for column in read.columns] == [True, True, False, True, True]
    assert read.columns[2].values.tolist() == [1.5, 2, 3, 2]
    assert read.columns[3].levels == ("7", "8", "007", "010")


def test_every_kind_of_table_gives_the_same_distance():
    columns = {"x": [1.0, None, 3.5, 2.0], "job": ["a", "b", None, "a"], "n": [3, 1, 2, 2]}
    kinds = [
        columns,
        pd.DataFrame(columns),
        pd.DataFrame(columns).astype({"job": "category", "n": "Int64"}),
        pl.DataFrame(columns),
        pa.table(columns),
        [list(row) for row in zip(*columns.values(), strict=True)],
    ]
    wanted, _ = apart(columns)
    for kind in kinds:
        np.testing.assert_allclose(apart(kind)[0], wanted, atol=1e-15)


def test_a_missing_number_stands_at_the_median_and_is_a_mismatch():
    found, made = apart({"x": [1.0, 2.0, 9.0, np.nan, np.nan]})
    unit = np.std([1, 2, 9])
    assert found[3, 4] == 0
    assert found[1, 3] == pytest.approx(1)
    assert found[0, 3] == pytest.approx(np.hypot(1, 1 / unit))
    assert "Missing features: x (2)" in made.notes[0]


def test_a_missing_category_is_one_of_its_own():
    found, _ = apart({"job": ["a", None, None, "b"]})
    assert found[1, 2] == 0
    np.testing.assert_allclose(found[1, [0, 3]], 1)


def test_a_constant_column_says_nothing():
    found, made = apart(
        {"x": [1.0, 2.0, 4.0], "same": [7.0, 7.0, 7.0], "word": ["a"] * 3, "noise": [0.3, 0.3, 0.1 + 0.2]}
    )
    assert found[0, 1] == pytest.approx(1 / np.std([1, 2, 4]))
    assert made.notes == ("The same for everyone, so not part of the distance: same, word, noise.",)


@pytest.mark.parametrize("table", [{"x": [1.0, 1.0, 1.0]}, {"x": [np.nan] * 3}, {"job": ["a"] * 3}])
def test_nothing_that_tells_people_apart_is_an_error(table):
    with pytest.raises(DataError, match="nobody can be told apart"):
        apart(table)


def test_a_column_that_is_there_or_missing_tells_people_apart():
    found, _ = apart({"x": [1.0, 1.0, np.nan]})
    assert found[0, 1] == 0
    assert found[0, 2] == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": {"age": 1}}, "weights= names 'age', which is not a feature"),
        ({"weights": {"x": -1}}, "must be a number of at least 0"),
        ({"weights": {"x": np.nan}}, "must be a number of at least 0"),
        ({"weights": [1, 2, 3]}, "weights= must map features to numbers"),
        ({"weights": "x"}, "weights= must map features to numbers"),
        ({"features": ["x", "nope"]}, "features= names 'nope', which is not a column of X"),
        ({"features": ["x", "x"]}, "features= names a column twice"),
        ({"features": []}, "there is no feature to compare people by"),
        ({"categorical": ["nope"]}, "categorical= names 'nope'"),
    ],
)
def test_wrong_columns_are_named(options, message):
    with pytest.raises(CallError, match=message):
        apart({"x": [1.0, 2.0], "y": [1.0, 3.0]}, **options)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [1.0, np.inf]}, "feature 'x' holds an infinite value"),
        ({"id": [f"p{i}" for i in range(1500)]}, "1,500 different values that are not numbers: an id"),
        ({"x": [1.0, 2.0], "y": [1.0]}, "lengths differ"),
        ({f"c{i}": [f"{i}-{j}" for j in range(900)] for i in range(3)}, "have 2,700 levels in all"),
    ],
)
def test_wrong_data_is_named(table, message):
    with pytest.raises(DataError, match=message):
        apart(table)


def test_columns_of_one_name_are_an_error():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["x", "x"])
    with pytest.raises(CallError, match="two columns are called 'x'"):
        apart(frame)


def test_what_x_may_not_be():
    from scipy import sparse

    with pytest.raises(CallError, match="X is missing"):
        features.as_table(None)
    with pytest.raises(CallError, match=r"pass X.toarray\(\)"):
        features.as_table(sparse.eye(3).tocsr())
    with pytest.raises(DataError, match="3 dimensions"):
        features.as_table(np.zeros((2, 2, 2)))
    with pytest.raises(DataError, match="rows of different lengths"):
        features.as_table([[1, 2], [3]])
    assert list(features.as_table([1.0, 2.0])) == ["x0"]


# --- functions and matrices


def test_a_function_sees_people_as_they_are_scaled():
    X = np.random.default_rng(2).normal(size=(60, 3))
    y = np.random.default_rng(3).integers(0, 2, 60)
    found = eh.consistency(X, prediction=y, scale="none", distance=lambda A, B: cdist(A, B, "cityblock"))
    again = eh.consistency(cdist(X, X, "cityblock"), prediction=y, distance="precomputed")
    assert float(found) == float(again)
    assert found.settings["distance"] == "function"
    assert "the caller's function" in " ".join(found.notes)
    assert again.panels[0].columns == ("person", "other person", "distance", "prediction", "other prediction")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: 1.0, r"returned shape \(\) for 4 and 4 people"),
        (lambda a, b: np.abs(a - b).sum(axis=1), "for a function f of two persons"),
        (lambda a, b: -cdist(a, b), "returned a negative distance"),
        (lambda a, b: cdist(a, b) * np.nan, r"not a number \(NaN\)"),
        (lambda a: 1, "failed on [0-9]+ and [0-9]+ people: TypeError"),
    ],
)
def test_a_function_that_does_not_fit_is_told_what_it_should_be(function, message):
    with pytest.raises((CallError, DataError), match=message):
        eh.consistency([[1.0], [2.0], [4.0], [8.0]], prediction=[0, 1, 0, 1], k=1, distance=function)


def test_pairs_by_a_function_are_those_of_its_matrix():
    points = np.random.default_rng(4).normal(size=(30, 2))
    one, other = np.array([5, 0, 5, 9]), np.array([1, 2, 3, 9])
    found = distances.ByFunction(points, cdist).between(one, other)
    np.testing.assert_allclose(found, cdist(points, points)[one, other])


@pytest.mark.parametrize("X", [np.zeros((2, 3)), [[0.0, 1.0]], np.zeros(4)])
def test_a_matrix_of_distances_is_square(X):
    with pytest.raises(CallError, match="needs X as a square matrix"):
        eh.consistency(X, prediction=[1, 0], distance="precomputed")


@pytest.mark.parametrize(("value", "message"), [(-1.0, "negative"), (np.nan, "not a number")])
def test_a_matrix_holds_distances(value, message):
    matrix = cdist([[0.0], [1.0], [2.0]], [[0.0], [1.0], [2.0]])
    matrix[0, 2] = value
    with pytest.raises(DataError, match=message):
        eh.consistency(matrix, prediction=[1, 0, 1], k=1, distance="precomputed")


def test_a_matrix_of_some_people_only():
    points = np.random.default_rng(5).normal(size=(40, 2))
    score = np.where(np.arange(40) % 7 == 0, np.nan, np.linspace(0, 1, 40))
    there = ~np.isnan(score)
    found = eh.lipschitz(cdist(points, points), score=score, distance="precomputed")
    again = eh.lipschitz(points[there], score=score[there], scale="none")
    assert [float(row.estimate) for row in found.rows] == pytest.approx([float(row.estimate) for row in again.rows])
    assert "6 people without a score were left out." in found.notes


# --- learned


def test_a_learned_distance_brings_people_of_one_label_together():
    random = np.random.default_rng(6)
    label = random.integers(0, 2, 1500)
    X = random.normal(size=(1500, 12))
    X[:, 0] += 2 * label
    X[:, 1] *= 50

    def purity(points):
        apart = cdist(points, points)
        np.fill_diagonal(apart, np.inf)
        return (label[np.argsort(apart, axis=1)[:, :5]] == label[:, None]).mean()

    plain = (X - X.mean(axis=0)) / X.std(axis=0)
    learned = metric_learning.transformed(plain, label)
    assert purity(learned) > purity(plain) + 0.08


def test_a_learned_distance_is_not_moved_by_units():
    random = np.random.default_rng(7)
    label = random.integers(0, 3, 400)
    points = random.normal(size=(400, 4)) + label[:, None]
    mixing = random.normal(size=(4, 4))
    one, other = (metric_learning.transformed(each, label) for each in (points, points @ mixing))
    np.testing.assert_allclose(cdist(one, one), cdist(other, other), rtol=0.05)


def test_learning_through_the_function():
    random = np.random.default_rng(8)
    X = pd.DataFrame(random.normal(size=(300, 3)), columns=list("abc"))
    X["y"] = np.where(X["a"] + 0.3 * random.normal(size=300) > 0, "good", "bad")
    X["d"] = (X["a"] > 0).astype(int)
    learned = eh.consistency(X, prediction="d", distance="learned", label="y")
    plain = eh.consistency(X, prediction="d", features=["a", "b", "c"])
    assert float(learned) > float(plain)
    assert any("learned from the label" in note for note in learned.notes)
    assert any("Left out of the distance: y, d." in note for note in learned.notes)


def test_a_label_of_many_numbers_is_cut():
    codes, note = metric_learning.classes(np.arange(100.0))
    assert len(np.unique(codes)) == 5
    assert note == "The label has 100 values and was cut into 5 bands to learn from."


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (["a"] * 6, "at least two values"),
        ([f"w{i}" for i in range(30)], "30 values: a distance is learned from at most 20"),
    ],
)
def test_labels_that_nothing_can_be_learned_from(label, message):
    with pytest.raises(DataError, match=message):
        metric_learning.classes(label)


def test_a_label_is_there_for_everyone():
    with pytest.raises(DataError, match="label= has 3 values"):
        eh.consistency([[1.0], [2.0], [3.0], [5.0]], prediction=[1, 0, 1, 0], k=1, distance="learned", label=[1, 0, 1])
