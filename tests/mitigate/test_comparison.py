"""compare(): accuracy against the gap on people not trained on, for our estimators and fairlearn's; and the CLI."""

from __future__ import annotations

import json
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

import evenhand as eh
from evenhand.cli import run
from evenhand.errors import CallError, DataError
from evenhand.mitigate import GroupThresholds, Resampled, Reweighed, Thresholds, UniformResampler, compare
from support import hostile

mpl.use("Agg")


def people(n: int = 600) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    race = rng.choice(["a", "b"], n)
    X = pd.DataFrame({"skill": rng.normal(size=n), "years": rng.normal(size=n), "a": (race == "a").astype(float)})
    hired = (X["skill"] + 0.5 * X["years"] + 0.8 * X["a"] + rng.normal(size=n) > 0.5).astype(int).to_numpy()
    return X, hired, race


X, Y, RACE = people()
PLAIN = LogisticRegression()


@pytest.fixture(scope="module")
def found():
    ways = {
        "plain": PLAIN,
        "reweighed": Reweighed(PLAIN),
        "resampled": Resampled(PLAIN, UniformResampler(random_state=0)),
        "cut by group": GroupThresholds(PLAIN, constraint="demographic_parity", within=0.02),
        "fairlearn, in training": ExponentiatedGradient(PLAIN, DemographicParity(), max_iter=5),
        "fairlearn, cutoffs": ThresholdOptimizer(
            estimator=PLAIN, constraints="demographic_parity", predict_method="predict_proba"
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of pandas, about fairlearn's reductions
        return compare(ways, X, Y, RACE, cv=3)


def test_each_is_measured_on_people_it_was_not_fitted_to(found):
    chosen = cross_val_predict(PLAIN, X, Y, cv=StratifiedKFold(3, shuffle=True, random_state=0))
    plain = found["plain"]
    assert plain.accuracy.value == pytest.approx((chosen == Y).mean())
    assert plain.finding.value == eh.demographic_parity(label=Y, prediction=chosen, sensitive=RACE).value
    assert plain.accuracy.low < plain.accuracy.value < plain.accuracy.high
    assert (plain.cost.value, plain.cost.low, plain.cost.high) == (0, 0, 0)


def test_all_bring_the_gap_down_and_the_cost_is_told(found):
    plain = found["plain"]
    for each in found.contenders[1:]:
        assert each.gap.value < plain.gap.value - 0.05, each.name
        assert each.cost.value == pytest.approx(each.accuracy.value - plain.accuracy.value)
        assert each.cost.low <= each.cost.value <= each.cost.high
    assert found["cut by group"].gap.value < 0.1


def test_the_frontier_is_what_nobody_beats(found):
    for each in found.contenders:
        beaten = any(
            other.accuracy.value >= each.accuracy.value
            and other.gap.value <= each.gap.value
            and (other.accuracy.value, -other.gap.value) != (each.accuracy.value, -each.gap.value)
            for other in found.contenders
        )
        assert each.frontier == (not beaten)
    accuracies = [found[name].accuracy.value for name in found.frontier]
    assert accuracies == sorted(accuracies, reverse=True)


def test_as_frame_text_picture_and_panel(found, tmp_path):
    frame = found.to_frame()
    assert list(frame["contender"]) == [each.name for each in found.contenders]
    assert {"accuracy", "accuracy_low", "gap", "gap_high", "cost", "verdict", "frontier"} <= set(frame.columns)
    told = str(found)
    assert "6 ways to decide for 600 people" in told
    assert all(each.name in told for each in found.contenders)
    drawn = found.plot()
    assert [text.get_text() for text in drawn.ax_.get_legend().get_texts()] == [e.name for e in found.contenders]
    audit = eh.audit(label=Y, prediction=PLAIN.fit(X, Y).predict(X), sensitive=RACE).add(found.finding)
    audit.save(tmp_path / "x.json")
    assert eh.Audit.load(tmp_path / "x.json").findings[-1].panels[-1] == found.panel
    assert found.panel.rows[0][0] == "plain"


def test_german_credit(shared):
    """Reweighing and cutoffs by group reduce the gap by age, at a cost in accuracy of a point or so."""
    german = pd.read_csv(shared / "data" / "german_credit.csv")
    table = german.drop(columns=["credit", "credit_good", "age", "age_gt25", "sex", "personal_status"])
    table = pd.get_dummies(table).astype(float)
    table = (table - table.mean()) / table.std()
    plain = LogisticRegression(max_iter=1000)
    ways = {
        "plain": plain,
        "reweighed": Reweighed(plain),
        "cut": GroupThresholds(plain, constraint="demographic_parity", within=0.02),
    }
    found = compare(ways, table, german["credit_good"], german["age_gt25"])
    assert found["plain"].gap.value == pytest.approx(0.123, abs=0.03)
    assert found["reweighed"].gap.value < found["plain"].gap.value - 0.02
    assert found["cut"].gap.value < found["plain"].gap.value - 0.05
    assert all(-0.04 < found[name].cost.value < 0.01 for name in ("reweighed", "cut"))


def test_columns_of_x_metrics_by_ratio_and_splitters():
    table = X.assign(race=(RACE == "a").astype(int))
    found = compare([PLAIN], table, Y, "race", "disparate_impact", cv=KFold(3))
    assert found.judged_on == "ratio"
    assert 0 < found["LogisticRegression"].gap.value < 1
    assert "ratio" in str(found)
    several = compare([PLAIN], X, Y, {"race": RACE, "old": np.arange(600) % 2}, "equalized_odds", cv=3)
    assert several.contenders[0].finding.attributes == ("race", "old")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([], X, Y, RACE), "no estimators"),
        (([PLAIN, LogisticRegression(C=2)], X, Y, RACE), "of the same kind"),
        (({"x": LogisticRegression}, X, Y, RACE), "'x' is not a classifier"),
        (([PLAIN], X, np.arange(600) % 3, RACE), "3 classes"),
        (([Ridge()], X, Y, RACE), "predicts classes that y does not have"),
        (([PLAIN], X, Y, RACE, "demographic_partiy"), "did you mean"),
    ],
)
def test_what_cannot_be_compared_is_said(arguments, said):
    with pytest.raises((CallError, DataError), match=said):
        compare(*arguments, cv=3)


def test_a_splitter_that_leaves_people_out_is_refused():
    with pytest.raises(DataError, match="test every row once"):
        compare([PLAIN], X, Y, RACE, cv=[(np.arange(300), np.arange(300, 400))])


@hostile.every_name
def test_names_stay_names(found, name):
    from dataclasses import replace

    renamed = replace(found, contenders=(replace(found.contenders[0], name=name), *found.contenders[1:]))
    assert not hostile.unseen(str(renamed))


# --- the command line

CSV = "race,hired,score,other\n" + "".join(
    f"{race},{label},{score / 10},{i}\n"
    for i, (race, label, score) in enumerate(
        (race, label, score)
        for race, shift in (("a", 2), ("b", 0))
        for score in range(10)
        for label, n in ((1, score + shift), (0, 10 - score))
        for _ in range(n)
    )
)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "rows.csv").write_text(CSV)
    return tmp_path / "rows.csv"


def test_weights_by_the_command_line(file, tmp_path, capsys):
    out = tmp_path / "weights.csv"
    roles = ["--label=hired", "--sensitive=race"]
    assert run(["mitigate", str(file), "--method=reweigh", *roles, "-o", str(out)]) == 0
    table = pd.read_csv(file).assign(weight=pd.read_csv(out)["weight"])
    rates = table.assign(top=table.hired * table.weight).groupby("race")[["top", "weight"]].sum()
    assert (rates.top / rates.weight).nunique() == 1 or np.ptp(rates.top / rates.weight) < 1e-12
    assert "a" in capsys.readouterr().out


def test_cutoffs_by_the_command_line(file, tmp_path, capsys):
    out = tmp_path / "thresholds.json"
    roles = ["--label=hired", "--score=score", "--sensitive=race"]
    asked = ["--constraint=demographic_parity", "--within=0.05", "--gain=TP=1", "--gain=FP=-1"]
    assert run(["mitigate", str(file), "--method=thresholds", *roles, *asked, "-o", str(out)]) == 0
    found = Thresholds.load(out)
    assert [rule.group for rule in found.rules] == [("a",), ("b",)]
    told = capsys.readouterr().out
    assert "keep demographic_parity within 0.05" in told
    assert json.loads(out.read_text())["objective"] == "gain"
    floors = ["--constraint=none", "--floor=tpr=0.9", "--randomised", "-q"]
    assert run(["mitigate", str(file), "--method=thresholds", *roles, *floors]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method=reweigh", "--label=hired", "--sensitive=race", "-o", "x.json"], "saved as .csv"),
        (["--method=reweigh", "--label=hired", "--sensitive=race", "-o", "no/x.csv"], "there is no folder"),
        (["--method=reweigh", "--sensitive=race"], "needs files and --label"),
        (["--method=reweigh", "--label=hired", "--score=score", "--sensitive=race"], "leave --score out"),
        (["--method=thresholds", "--label=hired", "--sensitive=race"], "--score and --label"),
        (["--method=thresholds", "--label=hired", "--score=score", "--sensitive=race", "--gain=TP=x"], "not a number"),
        (["--method=magic"], "magic"),
    ],
)
def test_calls_that_cannot_work_say_why(file, capsys, options, said):
    assert run(["mitigate", str(file), *options]) == 2
    assert said in capsys.readouterr().err
