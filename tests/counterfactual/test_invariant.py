"""Predictors that see only what the attribute cannot reach, at Kusner's three levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from evenhand import CausalModel, InvariantPredictor, counterfactual_fairness
from evenhand.counterfactual.invariant import one_factor
from evenhand.errors import CallError, DataError
from support.causal_cases import GRAPH, people


def made(level=3, **more):
    return InvariantPredictor(CausalModel(GRAPH), sensitive="group", outcome="grade", level=level, **more)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_predictions_do_not_move_under_the_model_they_were_learned_with(level):
    rows = people(400)
    predictor = made(level).fit(rows)
    model = CausalModel(GRAPH).fit(rows)
    moved = model.counterfactual(rows, do={"group": "a"})
    np.testing.assert_allclose(predictor.predict(moved), predictor.predict(rows), atol=1e-8)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_it_is_found_to_pass(level):
    rows = people(600)
    predictor = made(level).fit(rows)
    found = counterfactual_fairness(predictor, rows, CausalModel(GRAPH), sensitive="group", threshold=0.3, refits=20)
    assert found.verdict == "pass"


def test_level_1_sees_only_what_the_attribute_does_not_cause():
    rows = people(200)
    predictor = made(1).fit(rows)
    np.testing.assert_array_equal(predictor.inputs(rows), rows["effort"][:, None])
    expected = LinearRegression().fit(rows["effort"][:, None], rows["grade"]).predict(rows["effort"][:, None])
    np.testing.assert_allclose(predictor.predict(rows), expected)


def test_level_3_sees_the_residuals_too():
    rows = people(200)
    predictor = made(3).fit(rows)
    residual = CausalModel(GRAPH).fit(rows).residuals(rows)["exam"]
    np.testing.assert_allclose(predictor.inputs(rows), np.column_stack([rows["effort"], residual]), atol=1e-9)


def test_each_level_knows_more():
    rows, fresh = people(2000), people(2000, seed=1)
    errors = [np.mean((made(level).fit(rows).predict(fresh) - fresh["grade"]) ** 2) for level in (1, 3)]
    assert errors[1] < errors[0]


def test_the_outcome_need_not_be_there_to_predict_and_may_be_given_apart():
    rows = people(100)
    without = {name: values for name, values in rows.items() if name != "grade"}
    expected = made().fit(rows).predict(rows)
    np.testing.assert_allclose(made().fit(rows).predict(without), expected)
    np.testing.assert_allclose(made().fit(without, rows["grade"]).predict(pd.DataFrame(without)), expected)
    with pytest.raises(DataError, match=r"pass the outcomes as fit\(data, y\)"):
        made().fit(without)
    with pytest.raises(DataError, match="3 outcomes for 100 rows"):
        made().fit(without, [1, 2, 3])


def test_with_nothing_left_everyone_gets_the_mean():
    rows = {"group": ["a", "b"] * 10, "y": np.arange(20.0)}
    predictor = InvariantPredictor(CausalModel("group -> y"), sensitive="group", outcome="y", level=1).fit(rows)
    assert predictor.predict(rows).tolist() == [9.5] * 20


def test_a_classifier_and_its_probabilities():
    rows = people(300)
    rows["passed"] = np.where(rows["grade"] > 0, "yes", "no")
    predictor = InvariantPredictor(
        CausalModel([("group", "exam"), ("effort", "exam")]),
        sensitive="group",
        outcome="passed",
        estimator=LogisticRegression(),
    ).fit(rows)
    assert set(predictor.predict(rows)) == {"yes", "no"}
    assert predictor.predict_proba(rows).shape == (300, 2)
    with pytest.raises(CallError, match="needs a classifier"):
        made().fit(rows).predict_proba(rows)


def test_a_factor_behind_several_signs_is_found():
    """Level 2 tells an ability from three tests that it causes, each with noise of its own."""
    rng = np.random.default_rng(0)
    n = 3000
    ability, group = rng.normal(size=n), rng.choice(["a", "b"], n)
    rows = {"group": group, "y": ability + 0.5 * rng.normal(size=n) + (group == "b")}
    for name, loading in (("t1", 1.0), ("t2", 0.7), ("t3", 0.4)):
        rows[name] = loading * ability + rng.normal(size=n) - 2.0 * (group == "b")
    model = CausalModel("group -> {t1 t2 t3}")
    predictor = InvariantPredictor(model, sensitive="group", outcome="y", level=2).fit(rows)
    told = predictor.inputs(rows)
    assert told.shape == (n, 1)
    assert abs(np.corrcoef(told[:, 0], ability)[0, 1]) > 0.75
    assert abs(told[group == "a"].mean() - told[group == "b"].mean()) < 1e-8


def test_one_factor_reproduces_a_covariance():
    rng = np.random.default_rng(0)
    loading, own = rng.uniform(0.3, 1, 5), rng.uniform(0.2, 1, 5)
    found, left = one_factor(np.outer(loading, loading) + np.diag(own), steps=20_000)
    np.testing.assert_allclose(np.abs(found), loading, atol=1e-5)
    np.testing.assert_allclose(left, own, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"level": 4}, "level=4 must be 1, 2 or 3"),
        ({"sensitive": "grup"}, "not a node of the graph"),
        ({"outcome": "group"}, "is a sensitive attribute"),
        ({"sensitive": "grade", "outcome": "effort"}, "the outcome causes 'grade'"),
    ],
)
def test_what_is_wrong_is_told(change, told):
    with pytest.raises(CallError, match=told):
        InvariantPredictor(CausalModel(GRAPH), **{"sensitive": "group", "outcome": "grade", **change})


def test_categories_have_no_residual():
    rows = {"group": ["a", "b"] * 20, "word": ["x", "y", "y", "x"] * 10, "y": np.arange(40.0)}
    for level, fine in ((1, True), (3, False)):
        predictor = InvariantPredictor(CausalModel("group -> word"), sensitive="group", outcome="y", level=level)
        if fine:
            predictor.fit(rows)
            continue
        with pytest.raises(CallError, match="has categories, so it has no residual"):
            predictor.fit(rows)


def test_it_must_be_fitted_first():
    with pytest.raises(CallError, match="not fitted"):
        made().predict(people(5))
