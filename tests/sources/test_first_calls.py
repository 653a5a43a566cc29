"""The first calls of people who know fairlearn, scikit-learn or AIF360: each works, or the error names the remedy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand import mitigate
from evenhand.core.familiar import OURS, REMEDIES
from evenhand.testing import assert_fair

_DRAWN = np.random.default_rng(7)
N = 400
SEX = _DRAWN.choice(["f", "m"], N)
RACE = _DRAWN.choice(["a", "b", "c"], N)
Y = _DRAWN.integers(0, 2, N)
P = np.clip(0.35 * Y + 0.1 * (SEX == "m") + 0.55 * _DRAWN.random(N), 0, 1).round(3)
YHAT = (P > 0.5).astype(int)
W = _DRAWN.integers(1, 5, N).astype(float)
DF = pd.DataFrame({"y": Y, "yhat": YHAT, "p": P, "sex": SEX, "race": RACE, "w": W})
ROLES = {"label": "y", "prediction": "yhat", "sensitive": "sex"}
CUBE = eh.Cube.count(label=Y, prediction=YHAT, sensitive=SEX)
X = np.column_stack([P, _DRAWN.normal(size=N)])


def rate(which: np.ndarray, weight: np.ndarray | None = None) -> dict[str, float]:
    """The share that is predicted positive in each sex, among some rows."""
    weights = np.ones(N) if weight is None else weight
    places = {sex: which & np.equal(SEX, sex) for sex in ("f", "m")}
    return {sex: np.average(YHAT[rows], weights=weights[rows]) for sex, rows in places.items()}


def gap(which: np.ndarray, weight: np.ndarray | None = None) -> float:
    found = rate(which, weight)
    return abs(found["m"] - found["f"])


ALL, POSITIVE, NEGATIVE = np.ones(N, dtype=bool), Y == 1, Y == 0
SELECTED = rate(ALL)


@dataclass(frozen=True)
class Works:
    """A call that works, and its value."""

    call: Callable[[], Any]
    value: Any

    def check(self) -> None:
        found = self.call()
        assert isinstance(self.value, float) is isinstance(found, (eh.Finding, float))
        if isinstance(self.value, float):
            assert float(found) == pytest.approx(self.value)
        else:
            assert found == self.value


@dataclass(frozen=True)
class Remedy:
    """A call that cannot work, and what the error says to type."""

    call: Callable[[], Any]
    words: str
    kind: type[Exception] = eh.CallError

    def check(self) -> None:
        with pytest.raises(self.kind, match=self.words):
            self.call()


FIRST_CALLS: dict[str, Works | Remedy] = {
    # fairlearn
    "demographic_parity_difference(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.demographic_parity_difference(Y, YHAT, sensitive_features=SEX), gap(ALL)
    ),
    "demographic_parity_ratio(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.demographic_parity_ratio(Y, YHAT, sensitive_features=SEX), SELECTED["f"] / SELECTED["m"]
    ),
    "equalized_odds_difference(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.equalized_odds_difference(Y, YHAT, sensitive_features=SEX), max(gap(POSITIVE), gap(NEGATIVE))
    ),
    "equalized_odds_difference(..., agg='mean')": Remedy(
        lambda: eh.equalized_odds_difference(Y, YHAT, sensitive_features=SEX, agg="mean"), "aggregate='mean_abs'"
    ),
    "equal_opportunity_difference(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.equal_opportunity_difference(Y, YHAT, sensitive_features=SEX), gap(POSITIVE)
    ),
    "true_positive_rate_difference(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.true_positive_rate_difference(Y, YHAT, sensitive_features=SEX), gap(POSITIVE)
    ),
    "false_positive_rate_difference(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.false_positive_rate_difference(Y, YHAT, sensitive_features=SEX), gap(NEGATIVE)
    ),
    "selection_rate_difference(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.selection_rate_difference(Y, YHAT, sensitive_features=SEX), gap(ALL)
    ),
    "demographic_parity_difference(..., method='to_overall')": Remedy(
        lambda: eh.demographic_parity_difference(Y, YHAT, sensitive_features=SEX, method="to_overall"),
        "reference='overall'",
    ),
    "demographic_parity_difference(..., sample_weight=w)": Works(
        lambda: eh.demographic_parity_difference(Y, YHAT, sensitive_features=SEX, sample_weight=W), gap(ALL, W)
    ),
    "demographic_parity_difference(y_true=, y_pred=, sensitive_features=)": Works(
        lambda: eh.demographic_parity_difference(y_true=Y, y_pred=YHAT, sensitive_features=SEX), gap(ALL)
    ),
    "MetricFrame(...)": Remedy(lambda: eh.MetricFrame, "evenhand.fairlearn", AttributeError),
    "accuracy_score_group_min(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.accuracy_score_group_min(Y, YHAT, sensitive_features=SEX),
        min(float(np.mean((np.array(Y) == YHAT)[np.array(SEX) == sex])) for sex in set(SEX)),
    ),
    "lift_group_min(...)": Remedy(lambda: eh.lift_group_min, "'lift' is not a measure", AttributeError),
    "audit(y_true, y_pred, sensitive_features=a)": Works(
        lambda: eh.audit(Y, YHAT, sensitive_features=SEX).cube == CUBE, True
    ),
    "audit(..., control_features=c)": Works(
        lambda: eh.audit(Y, YHAT, sensitive_features=SEX, control_features=RACE).meaning.control, ("control",)
    ),
    "audit(y_true, y_pred, a)": Remedy(lambda: eh.audit(Y, YHAT, SEX), "name the others, as in sensitive="),
    "audit(df, 'yhat', sensitive='sex')": Remedy(
        lambda: eh.audit(DF, "yhat", sensitive="sex"), "type DataFrame: name the second, as in prediction="
    ),
    "audit(y_true, y_pred) without groups": Remedy(lambda: eh.audit(Y, YHAT), "sensitive= is missing"),
    "audit(y_pred, sensitive=a)": Remedy(lambda: eh.audit(YHAT, sensitive=SEX), "prediction=yhat, sensitive=race"),
    # scikit-learn
    "y_score= and decision_threshold=": Works(
        lambda: eh.demographic_parity(Y, y_score=P, decision_threshold=0.5001, groups=SEX), gap(ALL)
    ),
    "y_prob=": Works(lambda: eh.Cube.count(y_true=Y, y_prob=P, group=SEX).has["score"], True),
    "pos_label='yes'": Works(
        lambda: eh.demographic_parity(y_pred=np.where(YHAT == 1, "yes", "no"), sensitive_features=SEX, pos_label="yes"),
        gap(ALL),
    ),
    "both y_true= and label=": Remedy(
        lambda: eh.audit(y_true=Y, label=Y, y_pred=YHAT, groups=SEX), "y_true= and label=, which are one argument"
    ),
    "label by position and by name": Remedy(
        lambda: eh.audit(Y, YHAT, y_true=Y, groups=SEX), "label= by position and by name"
    ),
    "calibration(n_bins=5)": Works(
        lambda: eh.calibration(Y, y_prob=P, sensitive_features=SEX, n_bins=5).metric, "calibration"
    ),
    "scorer('tpr', sensitive_features=...)": Works(
        lambda: eh.scorer("tpr", sensitive_features="x0", pos_label=1).sensitive, "x0"
    ),
    "Reweigher().fit(X, y, sensitive_features=a)": Works(
        lambda: len(mitigate.Reweigher().fit(X, Y, sensitive_features=SEX).sample_weights()), N
    ),
    "GroupThresholds(...).fit / predict(sensitive_features=a)": Works(
        lambda: len(
            mitigate.GroupThresholds(LogisticRegression(), constraint="demographic_parity", within=0.2)
            .fit(X, Y, sensitive_features=SEX)
            .predict(X, sensitive_features=SEX)
        ),
        N,
    ),
    "assert_fair(y_true, y_pred, sensitive_features=a)": Remedy(
        lambda: assert_fair(Y, YHAT, sensitive_features=SEX, metrics=["fpr"], threshold=0.0),
        "takes no argument 'threshold'|fails",
    ),
    "metrics=['fpr', 'TPR']": Works(
        lambda: [each.metric for each in eh.audit(DF, **ROLES, metrics=["fpr", "TPR"]).findings],
        ["predictive_equality", "equal_opportunity"],
    ),
    "metrics=['eo']": Remedy(lambda: eh.audit(DF, **ROLES, metrics=["eo"]), "'equalized_odds' or 'equal_opportunity'"),
    "metrics='accuracy'": Works(
        lambda: eh.audit(DF, **ROLES, metrics="accuracy").findings[0].metric, "overall_accuracy_equality"
    ),
    "eh.fpr(...)": Remedy(lambda: eh.fpr, "evenhand.predictive_equality", AttributeError),
    "a misspelt familiar name": Remedy(
        lambda: eh.audit(Y, YHAT, sensitive_feature_s=SEX), "did you mean 'sensitive_features'"
    ),
    # AIF360
    "privileged_groups=[{'sex': 1}]": Remedy(
        lambda: eh.statistical_parity_difference(DF, **ROLES, privileged_groups=[{"sex": "m"}]),
        r"sensitive='sex', reference='male'",
    ),
    "unprivileged_groups=[{'sex': 0}]": Remedy(
        lambda: eh.disparate_impact(DF, **ROLES, unprivileged_groups=[{"sex": "f"}]), "leave it out.*reference="
    ),
    "privileged='m'": Works(
        lambda: eh.statistical_parity_difference(DF, **ROLES, privileged="m"), SELECTED["f"] - SELECTED["m"]
    ),
    "protected_attribute=, favorable_label=": Works(
        lambda: eh.audit(DF, label="y", prediction="yhat", protected_attribute="sex", favorable_label=1).cube.size, N
    ),
    "unfavorable_label=0": Remedy(
        lambda: eh.audit(DF, **ROLES, unfavorable_label=0), "leave it out: every value that is not positive="
    ),
    "average_odds_difference(df, ...)": Works(
        lambda: eh.average_odds_difference(DF, **ROLES, reference="m"),
        ((rate(POSITIVE)["f"] - rate(POSITIVE)["m"]) + (rate(NEGATIVE)["f"] - rate(NEGATIVE)["m"])) / 2,
    ),
    "metrics=['spd']": Works(lambda: eh.audit(DF, **ROLES, metrics=["spd"]).findings[0].metric, "demographic_parity"),
    "ClassificationMetric(...)": Remedy(lambda: eh.ClassificationMetric, r"evenhand.audit\(", AttributeError),
    "a dataset of AIF360": Remedy(
        lambda: eh.audit(type("Dataset", (), {"convert_to_dataframe": None})(), label="y", sensitive="sex"),
        r"convert_to_dataframe\(\)\[0\]",
    ),
    "df=": Works(lambda: eh.Cube.count(df=DF, **ROLES).size, N),
    "alpha=0.05": Remedy(lambda: eh.audit(DF, **ROLES, alpha=0.05), "confidence=0.95"),
}


@pytest.mark.parametrize("typed", FIRST_CALLS)
def test_a_first_call_works_or_names_the_remedy(typed):
    FIRST_CALLS[typed].check()


def test_there_are_forty():
    assert len(FIRST_CALLS) >= 40


# --- every function that takes one of our words takes its familiar names


READERS = ["audit", "contest", "demographic_parity", "calibration", "consistency", "lipschitz", "correspondence"]
READERS += ["stability", "counterfactual_fairness", "flip_test", "decompose", "replicate", "jitter_difference", "trend"]
READERS += ["adverse_impact", "representation"]
READERS += ["explain", "proxies"]


@pytest.mark.parametrize("name", READERS)
def test_a_familiar_name_is_not_refused(name):
    """Whatever else is wrong with the call, it is not the name."""
    function = getattr(eh, name)
    known = inspect.signature(function).parameters
    given = [None] if "replicas" in known else []
    for familiar, word in OURS.items():
        if word in known and familiar not in known:
            with pytest.raises(Exception) as caught:  # noqa: PT011 - most calls lack their data
                function(*given, **{familiar: object(), "no_such_argument": 1})
            assert f"'{familiar}'" not in str(caught.value).partition(";")[0], familiar
            assert "no_such_argument" in str(caught.value)


def test_an_argument_of_its_own_is_not_translated():
    """`weights` of consistency() are those of columns, `groups` of impossibility() are groups."""
    found = eh.consistency(X[:50], y_pred=YHAT[:50], weights=[1.0, 2.0], k=2)
    assert 0 <= float(found) <= 1
    audit = eh.audit(DF, label="y", prediction="yhat", sensitive="race")
    assert len(eh.impossibility(audit, groups=["a", "b"]).groups) == 2


def test_no_name_is_both_an_alias_and_a_word_of_ours():
    from evenhand.core.judging import JUDGING
    from evenhand.sources.read_arguments import ARGUMENTS

    words = {*ARGUMENTS, "data", *JUDGING}
    assert set(OURS.values()) <= words
    assert words.isdisjoint(OURS)
    assert set(OURS).isdisjoint(REMEDIES)


def test_a_name_that_is_not_taken_here_says_our_word():
    with pytest.raises(TypeError, match=r"takes no argument 'y_true': it is our label=, which is not taken here"):
        eh.correspondence(DF, unit="y", y_true="y", sensitive="sex")


def test_a_cube_takes_familiar_names_of_what_judges():
    assert CUBE.audit(privileged="m", seed=3).policy.random_state == 3
    with pytest.raises(eh.CallError, match="did you mean 'metrics'"):
        CUBE.audit(metricss=["fpr"])


def test_type_checkers_know_the_familiar_names():
    from evenhand.sources.read_arguments import CallArguments

    assert set(OURS) <= set(CallArguments.__annotations__)
