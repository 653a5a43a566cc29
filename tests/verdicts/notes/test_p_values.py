"""The p-value of a finding: no floor under it, and people who are counted once are tested once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import evenhand as eh
from evenhand.inference import hypotheses


def classes(seed: int = 0, people: int = 600) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    label = random.choice(["a", "b", "c"], people, p=[0.5, 0.3, 0.2])
    guess = random.choice(["a", "b", "c"], people)
    return {
        "label": label,
        "prediction": np.where(random.random(people) < 0.6, label, guess),
        "sensitive": random.choice(["x", "y", "z"], people, p=[0.5, 0.3, 0.2]),
    }


def test_small_groups_put_no_floor_under_compas():
    """Groups of 11 and 31 people: p_adjusted was .058 beside a fail, where chi-square gives 4e-42."""
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": "race"}
    audit = eh.audit(eh.datasets.compas(), **roles, metrics=["equalized_odds", "equal_opportunity", "calibration"])
    finding = next(finding for finding in audit.findings if finding.metric == "equal_opportunity")
    assert (finding.verdict, finding.tested) == ("fail", hypotheses.BOTH)
    assert finding.p_value < finding.p_adjusted < 1e-40
    assert all(each.p_adjusted < 1e-40 for each in audit.findings if each.verdict == "fail")


def test_several_classes_are_one_table():
    data = classes()
    finding = eh.demographic_parity(prediction=data["prediction"], sensitive=data["sensitive"], task="multiclass")
    table = [[np.sum((data["sensitive"] == g) & (data["prediction"] == c)) for c in "abc"] for g in "xyz"]
    assert finding.p_value == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_classes_against_the_rest_share_people_and_are_not_added():
    data = classes()
    finding = eh.predictive_equality(**data, task="multiclass")
    each = []
    for c in "abc":
        chosen = data["label"] != c
        groups = [chosen & (data["sensitive"] == g) for g in "xyz"]
        k = [int(np.sum(group & (data["prediction"] == c))) for group in groups]
        each.append(hypotheses.chi_square(k, [int(group.sum()) for group in groups]).p_value)
    assert finding.p_value == pytest.approx(min(1, 3 * min(each)))


def test_people_of_different_labels_are_added():
    data = classes(3)
    data["sensitive"] = np.where(data["sensitive"] == "z", "y", data["sensitive"])
    finding = eh.equal_opportunity(**data, task="multiclass")
    total = 0.0
    for c in "abc":
        groups = [(data["label"] == c) & (data["sensitive"] == g) for g in "xy"]
        k = [int(np.sum(group & (data["prediction"] == c))) for group in groups]
        total += hypotheses.chi_square(k, [int(group.sum()) for group in groups]).statistic
    assert finding.p_value == pytest.approx(stats.chi2.sf(total, 3))
