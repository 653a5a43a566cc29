"""Linearised variances over clusters: the figures of other packages, and of groups, rest and everyone by hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import statsmodels.api as statsmodels

import evenhand as eh
from evenhand.inference.clustered import Clustered, ClusteredAverage
from evenhand.measures.cells import MEASURES
from evenhand.measures.group_data import GroupData, Whose

ROWS, CLUSTERS = 1200, 150


def rows(seed: int = 0, *, weighted: bool = False) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    cluster = random.integers(0, CLUSTERS, ROWS)
    drawn = {
        "label": random.integers(0, 2, ROWS),
        "prediction": (random.random(ROWS) < random.random(CLUSTERS)[cluster]).astype(int),
        "sensitive": random.choice(["a", "b", "c"], ROWS, p=[0.5, 0.3, 0.2]),
        "cluster": cluster,
    }
    return {**drawn, "weight": random.lognormal(size=ROWS)} if weighted else drawn


def spread(data: dict[str, Any], name: str, whose: Whose = "groups") -> Any:
    return MEASURES[name].spread(GroupData(eh.Cube.count(**data), whose))


def influence(data: dict[str, Any], chosen: Any, top: Any) -> Any:
    """How much each cluster moves the rate of `top` among the `chosen` rows."""
    weight = data.get("weight", np.ones(ROWS)) * chosen
    rate = (weight * top).sum() / weight.sum()
    return np.bincount(data["cluster"], weight * (top - rate) / weight.sum(), CLUSTERS)


def covariance(first: Any, second: Any) -> float:
    return float(CLUSTERS / (CLUSTERS - 1) * (first @ second))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["selection_rate", "true_positive_rate", "positive_predictive_value", "accuracy"])
def test_groups_and_the_rest_by_hand(name: str, weighted: bool) -> None:
    data = rows(weighted=weighted)
    label, decision = data["label"] == 1, data["prediction"] == 1
    inside, top = {
        "selection_rate": (np.ones(ROWS, dtype=bool), decision),
        "true_positive_rate": (label, decision),
        "positive_predictive_value": (decision, label),
        "accuracy": (np.ones(ROWS, dtype=bool), label == decision),
    }[name]
    groups = [influence(data, inside & (data["sensitive"] == group), top) for group in "abc"]
    rest = [influence(data, inside & (data["sensitive"] != group), top) for group in "abc"]
    mine, theirs, everyone = (spread(data, name, whose) for whose in ("groups", "rest", "everyone"))
    for found, expected in ((mine, groups), (theirs, rest)):
        by_hand = [[covariance(one, two) for two in expected] for one in expected]
        np.testing.assert_allclose(found.together.covariance, by_hand, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        theirs.together.own,
        [covariance(one, two) for one, two in zip(groups, rest, strict=True)],
        rtol=1e-8,
        atol=1e-12,
    )
    whole = influence(data, inside, top)
    assert everyone.together.covariance[0, 0] == pytest.approx(covariance(whole, whole))


def test_a_share_of_all_selected_by_hand() -> None:
    data = rows(2)
    chosen = data["prediction"] == 1
    moves = [influence(data, chosen, data["sensitive"] == group) for group in "abc"]
    by_hand = [[covariance(one, two) for two in moves] for one in moves]
    np.testing.assert_allclose(spread(data, "selected_share").together.covariance, by_hand, rtol=1e-8, atol=1e-12)


def test_a_mean_of_rates_by_hand() -> None:
    data = rows(3)
    label, decision = data["label"] == 1, data["prediction"] == 1
    moves = []
    for group in "abc":
        own = data["sensitive"] == group
        moves.append((influence(data, own & label, decision) + influence(data, own & ~label, ~decision)) / 2)
    found = spread(data, "balanced_accuracy")
    assert isinstance(found, ClusteredAverage)
    by_hand = [[covariance(one, two) for two in moves] for one in moves]
    np.testing.assert_allclose(found.together.covariance, by_hand, rtol=1e-8, atol=1e-12)


def test_the_errors_of_an_intercept_in_statsmodels() -> None:
    """A regression on nothing but the groups, with errors that are robust to clusters and no small-sample factor."""
    data = rows(4)
    design = (data["sensitive"][:, None] == np.array(["a", "b", "c"])).astype(float)
    fit = statsmodels.OLS(data["prediction"], design).fit(
        cov_type="cluster", cov_kwds={"groups": data["cluster"], "use_correction": False}
    )
    found = spread(data, "selection_rate")
    factor = CLUSTERS / (CLUSTERS - 1)
    np.testing.assert_allclose(found.together.covariance, fit.cov_params() * factor, rtol=1e-6)
    alone = {**data, "sensitive": np.where(np.arange(ROWS) == 0, "x", "y")}
    intercept = statsmodels.OLS(data["prediction"], np.ones(ROWS)).fit(
        cov_type="cluster", cov_kwds={"groups": data["cluster"], "use_correction": False}
    )
    whole = spread(alone, "selection_rate", "everyone")
    assert whole.together.covariance[0, 0] ** 0.5 == pytest.approx(intercept.bse[0] * factor**0.5, rel=1e-6)


def test_the_errors_of_a_survey_in_samplics() -> None:
    """NHANES II: high blood pressure by race, with weights, strata and primary sampling units (Taylor)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from samplics import PopParam
        from samplics.datasets import load_nhanes2
        from samplics.estimation import TaylorEstimator

        people = load_nhanes2()["data"]
        taylor = TaylorEstimator(PopParam.mean)
        columns = {"samp_weight": "finalwgt", "stratum": "stratid", "psu": "psuid", "domain": "race"}
        taylor.estimate(
            y=people["highbp"].to_numpy(float), **{role: people[name].to_numpy() for role, name in columns.items()}
        )
    roles = {"weight": "finalwgt", "design_strata": "stratid", "cluster": "psuid", "sensitive": "race"}
    cube = eh.Cube.count(people, prediction="highbp", **roles)
    found = MEASURES["selection_rate"].spread(GroupData(cube))
    assert isinstance(found, Clustered)
    np.testing.assert_allclose(found.values, list(taylor.point_est.values()), rtol=1e-9)
    np.testing.assert_allclose(np.diag(found.together.covariance) ** 0.5, list(taylor.stderror.values()), rtol=1e-6)
    assert cube.clusters is not None
    assert (cube.clusters.number, cube.clusters.freedom) == (62, 31)
