"""The law-school data of Kusner et al. (2017): their errors, and which of their predictors move with race and sex."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from conftest import require
from evenhand import CausalModel, InvariantPredictor, counterfactual_fairness, decompose, flip_test

GRAPH = "race -> {LSAT UGPA}; sex -> {LSAT UGPA}"
ATTRIBUTES = ["race", "sex"]
PUBLISHED = {"full": 0.873, "unaware": 0.894, "additive": 0.918}  # test RMSE in their Table 1


@pytest.fixture(scope="module")
def law(shared):
    path = shared / "data" / "law_school_kusner.csv"
    require("shared", path.is_file(), "there is no ../shared/data/law_school_kusner.csv beside the checkout")
    return pd.read_csv(path)[["race", "sex_label", "LSAT", "UGPA", "ZFYA"]].rename(columns={"sex_label": "sex"})


def everything(rows):
    """LSAT and UGPA, and the attributes as 0 and 1."""
    races = ("Asian", "Black", "Hispanic", "Mexican", "Other", "Puertorican", "White")
    told = np.asarray(rows["race"], dtype=object)[:, None] == np.array(races, dtype=object)
    return np.column_stack([rows["LSAT"], rows["UGPA"], told, rows["sex"] == "female"]).astype(float)


def trained(rows):
    full = LinearRegression().fit(everything(rows), rows["ZFYA"])
    return {
        "full": lambda table: full.predict(everything(table)),
        "unaware": LinearRegression().fit(rows[["LSAT", "UGPA"]], rows["ZFYA"]),
        "additive": InvariantPredictor(CausalModel(GRAPH), sensitive=ATTRIBUTES, outcome="ZFYA").fit(rows),
    }


def split(rows, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    cut = int(0.8 * len(rows))
    return rows.iloc[order[:cut]], rows.iloc[order[cut:]]


def asked(predict, rows):
    return np.asarray(predict(rows) if callable(predict) else predict.predict(known(predict, rows)))


def known(predict, rows):
    names = getattr(predict, "feature_names_in_", None)
    return rows if names is None else rows[list(names)]


def test_errors_are_those_of_the_paper(law):
    errors = {name: [] for name in PUBLISHED}
    for seed in range(5):
        train, test = split(law, seed)
        for name, predict in trained(train).items():
            errors[name].append(np.sqrt(np.mean((asked(predict, test) - test["ZFYA"]) ** 2)))
    for name, published in PUBLISHED.items():
        assert np.mean(errors[name]) == pytest.approx(published, abs=0.012), name
    full, unaware, additive = (np.mean(errors[name]) for name in PUBLISHED)
    assert full < unaware < additive


@pytest.fixture(scope="module")
def predictors(law):
    return trained(split(law, 0)[0])


@pytest.fixture(scope="module")
def model(law):
    return CausalModel(GRAPH).fit(law)


@pytest.mark.parametrize("sensitive", ["race", "sex"])
@pytest.mark.parametrize("name", ["full", "unaware"])
def test_full_and_unaware_move_with_race_and_with_sex(law, model, predictors, name, sensitive):
    """By the definition no change at all is allowed: a threshold of 0."""
    found = counterfactual_fairness(predictors[name], law, model, sensitive=sensitive, threshold=0.0, refits=25)
    assert found.verdict == "fail"
    assert found.value.low > 0
    assert found.p_value < 0.05


@pytest.mark.parametrize("sensitive", ["race", "sex"])
def test_the_additive_one_is_not_found_to_move(law, model, predictors, sensitive):
    found = counterfactual_fairness(predictors["additive"], law, model, sensitive=sensitive, threshold=0.0, refits=25)
    assert found.verdict == "inconclusive"  # no sample shows that there is no change at all
    assert found.value.low == 0
    assert found.p_value > 0.05


@pytest.mark.thorough
def test_beside_a_tolerance_race_fails_and_the_additive_one_passes(law, model, predictors):
    verdicts = {
        name: counterfactual_fairness(predict, law, model, sensitive="race", threshold=0.1, refits=25).verdict
        for name, predict in predictors.items()
    }
    assert verdicts == {"full": "fail", "unaware": "fail", "additive": "pass"}


def test_the_flip_test_sees_nothing_in_the_unaware_one(law, predictors):
    assert flip_test(predictors["unaware"], law, sensitive="race").value.value == 0
    assert flip_test(predictors["full"], law, sensitive="race").verdict == "fail"


def test_the_gap_in_first_year_grades_is_split(law):
    graph = f"{GRAPH}; {{race sex LSAT UGPA}} -> ZFYA"
    splits = decompose("ZFYA", law, graph, sensitive="race", reference="White", refits=0)
    black = next(each for each in splits if each.group == ("Black",))
    gap = law.loc[law["race"] == "White", "ZFYA"].mean() - law.loc[law["race"] == "Black", "ZFYA"].mean()
    assert black.gap.value == pytest.approx(gap)
    assert black.direct.value + black.indirect.value + black.spurious.value == pytest.approx(gap)
    assert black.direct.value > black.indirect.value > 0
    assert abs(black.spurious.value) < 0.05
