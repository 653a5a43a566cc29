"""GroupThresholds as a scikit-learn user meets it: tables, pipelines, searches, routing, lots, and who is not known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

import evenhand as eh
from evenhand.errors import CallError, DataError
from evenhand.mitigate import GroupThresholds


def people(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    race = rng.choice(["a", "b"], n)
    skill, years = rng.normal(size=n) + 0.8 * (race == "a"), rng.normal(size=n)
    hired = (skill + 0.5 * years + rng.normal(size=n) > 0.5).astype(int)
    return pd.DataFrame({"race": race, "skill": skill, "years": years, "hired": hired})


DATA = people()
X, Y, RACE = DATA[["skill", "years"]], DATA["hired"], DATA["race"]


def gap(chosen, race=RACE) -> float:
    chosen, race = np.asarray(chosen, dtype=float), np.asarray(race)
    return abs(chosen[race == "a"].mean() - chosen[race == "b"].mean())


def test_the_gap_falls_to_what_is_allowed_and_the_cost_is_told():
    plain = LogisticRegression().fit(X, Y)
    model = GroupThresholds(plain, constraint="demographic_parity", within=0.02, prefit=True).fit(X, Y, sensitive=RACE)
    chosen = model.predict(X, sensitive=RACE)
    assert gap(plain.predict(X)) > 0.2
    assert gap(chosen) <= 0.02 + 1e-9
    assert (chosen == Y).mean() == pytest.approx(model.thresholds_.gain)
    assert model.thresholds_.gain < model.thresholds_.common_gain <= model.thresholds_.best_gain
    assert "keep demographic_parity within 0.02" in model.explain()
    assert model.thresholds_.finding.difference.high > 0.02


def test_cutoffs_are_chosen_on_scores_of_people_the_model_did_not_see():
    """A forest knows the people it was fitted to: on those any cutoff between 0 and 1 looks perfect."""
    forest = RandomForestClassifier(40, random_state=0)
    inside = GroupThresholds(forest, cv=None).fit(X, Y, sensitive=RACE).thresholds_
    outside = GroupThresholds(forest, cv=5).fit(X, Y, sensitive=RACE).thresholds_
    assert inside.gain > 0.99
    assert 0.6 < outside.gain < 0.85
    test = people(5000, seed=1)
    fitted = GroupThresholds(forest, constraint="demographic_parity", within=0.05).fit(X, Y, sensitive=RACE)
    chosen = fitted.predict(test[["skill", "years"]], sensitive=test.race)
    assert (chosen == test.hired).mean() == pytest.approx(fitted.thresholds_.gain, abs=0.06)


def test_groups_may_be_a_column_that_the_model_never_sees():
    table = DATA[["race", "skill", "years"]]
    model = GroupThresholds(LogisticRegression(), sensitive="race", drop=True).fit(table, Y)
    assert list(model.estimator_.feature_names_in_) == ["skill", "years"]
    beside = GroupThresholds(LogisticRegression()).fit(X, Y, sensitive=RACE)
    assert np.array_equal(model.predict(table), beside.predict(X, sensitive=RACE))
    with pytest.raises(CallError, match="drop=True needs sensitive="):
        GroupThresholds(LogisticRegression(), drop=True).fit(table, Y)


@pytest.mark.parametrize("kind", ["numpy", "list", "pandas", "polars", "sparse"])
def test_any_table_decides_the_same(kind):
    make = {
        "numpy": X.to_numpy(),
        "list": X.to_numpy().tolist(),
        "pandas": X,
        "polars": pl.from_pandas(X),
        "sparse": sparse.csr_array(X.to_numpy()),
    }
    race = pl.Series(RACE.tolist()) if kind == "polars" else RACE.to_numpy()
    model = GroupThresholds(LogisticRegression(), constraint="equalized_odds", within=0.05)
    found = model.fit(make[kind], Y.to_numpy(), sensitive=race).predict(make[kind], sensitive=race)
    expected = clone(model).fit(X.to_numpy(), Y, sensitive=RACE.to_numpy()).predict(X.to_numpy(), sensitive=RACE)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("model", [LinearSVC(), Perceptron(), KNeighborsClassifier()], ids=lambda m: type(m).__name__)
def test_any_score_will_do(model):
    found = GroupThresholds(model, constraint="demographic_parity", within=0.1).fit(X, Y, sensitive=RACE)
    assert gap(found.predict(X, sensitive=RACE)) < 0.2


def test_classes_of_any_name_and_weights():
    names = np.where(Y == 1, "yes", "no")
    model = GroupThresholds(LogisticRegression(), within=0.05).fit(X, names, sensitive=RACE)
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X, sensitive=RACE)) == {"no", "yes"}
    twice = GroupThresholds(LogisticRegression(), within=0.05, prefit=True, cv=None)
    twice.estimator = model.estimator_
    whole = np.random.default_rng(0).integers(1, 3, len(Y))
    weighed = twice.fit(X, names, sensitive=RACE, sample_weight=whole).thresholds_
    repeated = np.repeat(np.arange(len(Y)), whole)
    again = twice.fit(X.iloc[repeated], names[repeated], sensitive=RACE.iloc[repeated]).thresholds_
    assert [rule.cutoffs for rule in weighed.rules] == [rule.cutoffs for rule in again.rules]


def test_weights_reach_the_last_step_of_a_pipeline():
    weights = np.where(RACE == "a", 1.0, 3.0)
    model = GroupThresholds(make_pipeline(StandardScaler(), LogisticRegression()))
    heavy = model.fit(X, Y, sensitive=RACE, sample_weight=weights).estimator_[-1].coef_
    assert not np.allclose(heavy, clone(model).fit(X, Y, sensitive=RACE).estimator_[-1].coef_)


# --- lots


def test_lots_are_drawn_by_the_seed_and_keep_the_constraint_on_average():
    model = GroupThresholds(
        LogisticRegression(), constraint="equalized_odds", within=0.0, randomised=True, random_state=3, prefit=True
    )
    model.estimator = LogisticRegression().fit(X, Y)
    model.fit(X, Y, sensitive=RACE)
    assert model.thresholds_.randomised
    first = model.predict(X, sensitive=RACE)
    assert np.array_equal(first, model.predict(X, sensitive=RACE))
    chances = model.chances(X, sensitive=RACE)
    assert ((chances > 0) & (chances < 1)).any()
    for label in (0, 1):
        rates = [chances[(name == RACE) & (label == Y)].mean() for name in "ab"]
        assert rates[0] == pytest.approx(rates[1], abs=1e-8)
    assert np.array_equal(first[(chances == 0) | (chances == 1)], chances[(chances == 0) | (chances == 1)].astype(int))


# --- in scikit-learn's hands


def test_a_search_over_the_constraint_and_a_pipeline_inside():
    table = DATA[["race", "skill", "years"]]
    inside = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["race"]), remainder="passthrough"), LogisticRegression()
    )
    model = GroupThresholds(inside, sensitive="race", constraint="demographic_parity", cv=2)
    search = GridSearchCV(model, {"within": [0.0, 1.0], "estimator__logisticregression__C": [0.1, 1.0]}, cv=2)
    search.fit(table, Y)
    assert search.best_params_["within"] == 1.0  # accuracy alone would allow any gap
    scorer = eh.scorer("demographic_parity", sensitive="race")
    found = GridSearchCV(model, {"within": [0.01, 0.5]}, scoring=scorer, cv=2).fit(table, Y)
    assert found.best_params_["within"] == 0.01


def test_metadata_is_routed():
    with config_context(enable_metadata_routing=True):
        model = GroupThresholds(LogisticRegression(), constraint="demographic_parity", within=0.05)
        model.set_fit_request(sensitive=True).set_predict_request(sensitive=True)
        scorer = eh.scorer("demographic_parity").set_score_request(sensitive=True)
        plain = cross_validate(LogisticRegression(), X, Y, scoring=scorer, params={"sensitive": RACE}, cv=3)
        assert plain["test_score"].mean() < -0.2
        model.fit(X, Y, sensitive=RACE)
        assert gap(model.predict(X, sensitive=RACE)) < 0.1


def test_any_splitter_of_every_row():
    found = GroupThresholds(LogisticRegression(), cv=KFold(3)).fit(X, Y, sensitive=RACE)
    assert found.thresholds_.gain > 0.6
    with pytest.raises(DataError, match="must test every row once"):
        GroupThresholds(LogisticRegression(), cv=[(np.arange(300), np.arange(300, 400))]).fit(X, Y, sensitive=RACE)


# --- who is not known


def test_unseen_and_missing_groups_are_errors_that_name_them():
    model = GroupThresholds(LogisticRegression()).fit(X, Y, sensitive=RACE)
    with pytest.raises(DataError, match=r"not there when the model was fitted: 'c' \(1 row\)"):
        model.predict(X[:2], sensitive=["a", "c"])
    with pytest.raises(CallError, match="sensitive= is missing"):
        model.predict(X)
    with pytest.raises(DataError, match="missing"):
        model.predict(X[:2], sensitive=["a", None])


def test_tiny_and_odd_data():
    tiny = GroupThresholds(LogisticRegression(), constraint="demographic_parity").fit(
        [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], sensitive=list("abab")
    )
    assert tiny.predict([[5.0]], sensitive=["a"]).shape == (1,)
    with pytest.raises(ValueError, match="two classes"):
        GroupThresholds(LogisticRegression(), prefit=True).fit([[0.0], [1.0]], [1, 1], sensitive=list("ab"))
    with pytest.raises(CallError, match="neither predict_proba nor decision_function"):
        GroupThresholds(DecisionTreeRegressor()).fit(X, Y, sensitive=RACE)
    with pytest.warns(UserWarning, match="has no sensitive="):
        everyone = GroupThresholds(LogisticRegression()).fit(X, Y)
    assert everyone.predict(X).shape == Y.shape
    with pytest.raises(DataError, match=r"the estimator knows the classes"):
        GroupThresholds(LogisticRegression().fit(X, Y), prefit=True).fit(X, np.where(Y, "y", "n"), sensitive=RACE)
