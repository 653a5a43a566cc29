"""Weights and samples that others published: AIF360, ExFairness, Kamiran and Calders; a reweighed model of Adult."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.mitigate import Massager, PreferentialResampler, Reweigher, UniformResampler
from support import cases
from support.cases import same
from support.rankers import Given

PEERS = [case for case in cases.load("peers") if case["metric"] == "reweighing_weight"]
PUBLISHED = {case["id"]: case for case in cases.load("published")}
SMALL = {case["id"]: case for case in cases.load("virny_exfairness_kamiran")}
TABLE = "kamiran_calders_2012_table1.csv"


def test_there_is_something_to_agree_with():
    assert len(PEERS) == 2
    assert len([name for name in PUBLISHED if name.startswith("kc_w_")]) == 4


def unprivileged(frame: pd.DataFrame, column: str, privileged: str) -> str:
    (other,) = set(frame[column]) - {privileged}
    return other


@cases.parametrize(PEERS)
def test_weights_are_those_of_aif360(case):
    frame, params = cases.frame(case["file"]), case["params"]
    for column, op, value in case["filters"]:
        frame = frame[frame[column].isin(value if op == "in" else [value])]
    (column,) = case["sensitive"]
    weights = Reweigher(sensitive=column).fit(frame, frame[case["label"]]).weights_
    favoured = case["group"].startswith("w_p_")
    group = params["privileged"] if favoured else unprivileged(frame, column, params["privileged"])
    assert weights[group, params["favorable_label"]] == same(case["expected"])


@pytest.mark.parametrize(("group", "sign"), [(group, sign) for group in "FM" for sign in "+-"])
def test_weights_of_kamiran_and_calders(group, sign):
    frame = cases.frame(TABLE)
    case = PUBLISHED[f"kc_w_{group}{sign}"]
    weights = Reweigher(sensitive="sex").fit(frame, frame["class"]).weights_
    assert weights[group, sign] == pytest.approx(case["expected"], abs=case["tolerance"])


def test_weighted_german_credit_has_no_difference():
    """AIF360's tutorial: 700 rows of a shuffle, the young against the others."""
    case, before = PUBLISHED["aif360_german_age_after"], PUBLISHED["aif360_german_age_split"]
    frame = cases.frame("german_credit.csv").iloc[np.random.RandomState(0).permutation(1000)[:700]]
    young = frame["age"] < 25
    roles = {"label": frame["credit_good"], "sensitive": young, "reference": "False"}
    assert float(eh.base_rate_parity(**roles).difference) == pytest.approx(before["expected"], abs=before["tolerance"])
    weights = Reweigher().fit(frame, frame["credit_good"], sensitive=young).sample_weights()
    after = eh.base_rate_parity(**roles, weight=weights)
    assert float(after.difference) == pytest.approx(case["expected"], abs=case["tolerance"])


def test_exfairness_weights_lack_the_share_of_the_group():
    """P(y)/P(a, y) is ours divided by P(a); scaled to a mean of 1 it is ours only where groups are of one size."""
    raw, scaled = SMALL["exf-reweight-raw"], SMALL["exf-reweight-norm"]
    given = raw["inputs"]
    weights = Reweigher().fit(np.zeros((20, 1)), given["y_true"], sensitive=given["A"]).weights_
    ours = {f"a{group}y{outcome}": weight for (group, outcome), weight in weights.items()}
    assert ours == same(scaled["expected"])
    assert {name: 2 * weight for name, weight in ours.items()} == pytest.approx(raw["expected"], abs=0.005)


def ranked() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The ten people of Kamiran and Calders, with the scores of their ranker."""
    given = SMALL["kc2012-massaging"]["inputs"]
    return np.array(given["ranker_score"]).reshape(-1, 1), np.array(given["y_true"]), given["S"]


def test_massaging_changes_the_two_labels_of_the_paper():
    expected = SMALL["kc2012-massaging"]["expected"]
    X, y, sex = ranked()
    massager = Massager(ranker=Given())
    _, even = massager.fit_resample(X, y, sensitive=sex)
    assert [(flip.row, flip.group, flip.before, flip.after) for flip in massager.flips_] == [
        (expected["demote_index"], "M", 1, 0),
        (expected["promote_index"], "F", 0, 1),
    ]
    assert len(massager.flips_) == 2 * expected["M"]
    assert float(eh.base_rate_parity(label=even, sensitive=sex).difference) == 0


def test_preferential_sample_of_the_ten_worked_by_hand():
    """M+ 4 → 3 loses 3 (.69), M− 1 → 2 repeats 4, F− 3 → 2 loses 6 (.4), F+ 2 → 3 repeats 7 (.76)."""
    X, y, sex = ranked()
    resampler = PreferentialResampler(ranker=Given())
    _, even = resampler.fit_resample(X, y, sensitive=sex)
    assert resampler.sample_indices_.tolist() == [0, 1, 2, 4, 4, 5, 7, 7, 8, 9]
    chosen = np.array(sex)[resampler.sample_indices_]
    assert float(eh.base_rate_parity(label=even, sensitive=chosen).difference) == 0


@pytest.mark.parametrize("how", ["weights", "uniform", "preferential", "massaging"])
def test_afterwards_the_ten_show_no_discrimination(how):
    """All four on the mixed columns of the table, by the default ranker."""
    frame = cases.frame(TABLE)
    X, y, sex = frame.drop(columns="class"), frame["class"], frame["sex"]
    before = eh.base_rate_parity(label=y, sensitive=sex, positive="+")
    assert float(before.difference) == same(0.4)
    weight = None
    if how == "weights":
        weight = Reweigher(sensitive="sex").fit(X, y).sample_weights()
        assert weight.tolist() == same([0.75] * 4 + [2.0] + [2 / 3, 2 / 3, 1.5, 2 / 3, 1.5])
    else:
        makers = {
            "uniform": UniformResampler(sensitive="sex", random_state=3),
            "preferential": PreferentialResampler(sensitive="sex"),
            "massaging": Massager(sensitive="sex"),
        }
        X, y = makers[how].fit_resample(X, y)
        assert len(y) == len(X) == 10
    after = eh.base_rate_parity(label=y, sensitive=X["sex"], positive="+", weight=weight)
    assert float(after.difference) == pytest.approx(0, abs=1e-12)


def test_a_reweighed_model_of_adult_halves_the_gap():
    frame = cases.frame("adult_scored.csv")
    gaps = [
        float(eh.demographic_parity(frame, prediction=name, sensitive="sex").difference)
        for name in ("pred_lr", "pred_lr_reweighed")
    ]
    assert gaps == pytest.approx([0.168, 0.086], abs=5e-4)
