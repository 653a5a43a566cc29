"""Models on the same people: audits as each alone, paired changes, who gained and who lost, and hostile input."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar

import evenhand as eh
from evenhand.errors import CallError, DataError
from evenhand.report.text import Screen
from evenhand.report.text import contest as text
from support import hostile
from support.profiles import each_of


@cache
def people(size: int = 3000, agreement: float = 0.9) -> pd.DataFrame:
    random = np.random.default_rng(1)
    label = random.random(size) < 0.4
    race = random.choice(["x", "y", "z"], size, p=[0.5, 0.4, 0.1])
    old = np.where(random.random(size) < 0.7, label, ~label)
    new = np.where(random.random(size) < agreement, old, ~old) | ((race == "y") & (random.random(size) < 0.1))
    table = {"race": race, "sex": random.choice(["m", "f"], size), "y": label, "old": old, "new": new}
    frame = pd.DataFrame(table).astype({"y": int, "old": int, "new": int})
    frame["p"] = (0.3 * label + random.random(size)).clip(0, 1).round(3)
    return frame.assign(q=(frame.p + random.normal(0, 0.1, size)).clip(0, 1).round(3), w=random.random(size) + 0.5)


ROLES = {"label": "y", "sensitive": ["race", "sex"]}


@cache
def found() -> eh.Contest:
    return eh.contest(people(), **ROLES, predictions=["old", "new"])


# --- the audits


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"policy": "four-fifths"}, {"reference": "x"}], ids=str)
def test_each_audit_is_that_of_the_model_alone(more):
    contest = eh.contest(people(), **ROLES, predictions={"before": "old", "after": "new"}, **more)
    assert list(contest.audits) == ["before", "after"]
    for name, column in (("before", "old"), ("after", "new")):
        alone = eh.audit(people(), **ROLES, prediction=column, **more)
        assert contest.audits[name] == alone
        assert contest.audits[name].findings == alone.findings


def test_scores_make_the_audits_of_scores():
    contest = eh.contest(people(), **ROLES, scores=["p", "q"], cutoffs=[0.5, 0.6])
    assert contest.audits["q"] == eh.audit(people(), **ROLES, score="q", cutoff=0.6)


def test_files_give_what_memory_gives(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    filed = eh.contest(tmp_path / "people.csv", **ROLES, predictions=["old", "new"])
    assert filed.changes["new"].measures == found().changes["new"].measures
    assert filed.changes["new"].flips == found().changes["new"].flips
    assert filed.changes["new"].gaps.changes == found().changes["new"].gaps.changes
    scored = eh.contest(tmp_path / "people.csv", **ROLES, scores=["p", "q"], cutoffs=0.5)
    assert scored.changes["q"].auc == ()
    assert "in memory" in scored.changes["q"].auc_reason
    assert "No change of an AUC is shown" in str(scored)


# --- changes


def test_the_paired_interval_is_narrower_and_says_so():
    first, second = found().audits.values()
    paired = eh.diff(first, second)
    alone = eh.diff(*(eh.audit(people(), **ROLES, prediction=name) for name in ("old", "new")))
    assert paired.same_people
    assert not alone.same_people
    assert "same people" in paired.notes[0].lower()
    assert "The same 3,000 people" in str(paired)
    assert "independent samples" in alone.notes[0]
    assert "independent samples" in str(alone)
    mine, theirs = ({(c.metric, c.attributes): c.change for c in each.changes} for each in (paired, alone))
    place = ("demographic_parity", ("sex",))
    assert mine[place].value == theirs[place].value
    assert mine[place].high - mine[place].low < 0.75 * (theirs[place].high - theirs[place].low)


def test_the_order_turns_the_sign():
    first, second = found().audits.values()
    there, back = eh.diff(first, second), eh.diff(second, first)
    for one, other in zip(there.changes, back.changes, strict=True):
        assert other.change.value == pytest.approx(-one.change.value, nan_ok=True)
        if one.change.low is not None:
            assert (other.change.low, other.change.high) == pytest.approx((-one.change.high, -one.change.low))


def test_an_audit_to_share_does_not_carry_joint_counts():
    first, second = (audit.shared() for audit in found().audits.values())
    assert first.among is second.among is None
    assert not eh.diff(first, second).same_people
    assert b"among" not in json.dumps(found().audits["old"].to_dict()).encode()


def test_an_audit_against_itself_is_exactly_nothing():
    audit = eh.audit(people(), **ROLES, prediction="old")
    for other in (audit, eh.audit(people(), **ROLES, prediction="old")):
        changes = eh.diff(audit, other)
        assert changes.same_people
        defined = [change.change for change in changes.changes if change.change.defined]
        assert defined
        assert {(c.value, c.low, c.high) for c in defined} == {(0.0, 0.0, 0.0)}


@pytest.mark.parametrize("same", [["old", "old"], "array"])
def test_the_same_column_twice_is_exactly_nothing(same):
    array = people().old.to_numpy()
    contest = eh.contest(people(), **ROLES, predictions=[array, array] if same == "array" else same)
    (change,) = contest.changes.values()
    ends = {(each.change.low, each.change.high) for each in change.measures if each.change.defined}
    ends |= {(each.change.low, each.change.high) for each in change.gaps.changes if each.change.defined}
    assert ends == {(0.0, 0.0)}
    assert len(contest.audits) == 2


def test_two_models_without_a_flip_are_not_the_same():
    contest = eh.contest(people(), **ROLES, predictions={"a": people().old.to_numpy(), "b": people().old.tolist()})
    (change,) = contest.changes.values()
    assert change.accuracy.change.value == 0
    assert change.accuracy.change.low < 0 < change.accuracy.change.high
    decided = [c for c in change.gaps.changes if c.change.low is not None and c.metric != "base_rate_parity"]
    widths = [c.change.high - c.change.low for c in decided]
    assert widths
    assert min(widths) > 0
    assert "No decision of 3,000 changed" in str(contest)


def test_what_joint_counts_do_not_tell_adds_the_margins():
    contest = eh.contest(
        people(), **ROLES, scores=["p", "q"], cutoffs=0.5, metrics=["auc_parity", "demographic_parity"]
    )
    by_metric = {(c.metric, c.attributes): c for c in contest.changes["q"].gaps.changes}
    added = by_metric["auc_parity", ("sex",)]
    assert any("margins of the two models are added" in note for note in added.notes)
    assert by_metric["demographic_parity", ("sex",)].notes == ()
    before, after = (audit.findings for audit in contest.audits.values())
    alone = [f for f in (*before, *after) if (f.metric, f.attributes) == ("auc_parity", ("sex",))]
    widths = [f.extremes.high - f.extremes.low for f in alone]
    assert added.change.high - added.change.low >= max(widths)


def test_measures_of_groups_and_of_everyone():
    change, table = found().changes["new"], people()
    right = (table.new == table.y).mean() - (table.old == table.y).mean()
    assert change.accuracy.change.value == pytest.approx(right)
    assert change.measure("accuracy") is change.accuracy
    inside = table[table.race == "y"]
    selected = change.measure("selection_rate", "y")
    assert selected.change.value == pytest.approx(inside.new.mean() - inside.old.mean())
    assert selected.people == len(inside)
    assert selected.change.low < selected.change.value < selected.change.high
    with pytest.raises(CallError, match="there is no change of 'accuracy' of 'nobody'"):
        change.measure("accuracy", "nobody")


def test_who_gained_and_who_lost_with_mcnemar_as_in_statsmodels():
    change, table = found().changes["new"], people()
    for each in change.flips:
        if each.attributes != ("race",):
            continue
        inside = table[table.race == each.group[0]]
        if each.label is not None:
            inside = inside[inside.y == (each.label == "positive")]
        counts = pd.crosstab(inside.old, inside.new).to_numpy()
        assert (each.people, each.gained, each.lost) == (len(inside), counts[0, 1], counts[1, 0])
        assert each.p_value == pytest.approx(mcnemar(counts, exact=True).pvalue)
        assert each.p_adjusted >= each.p_value
    assert "more people gained than lost among race = y" in str(found())


def test_three_models_are_each_compared_with_the_first():
    table = people().assign(third=(people().p > 0.6).astype(int))
    contest = eh.contest(table, **ROLES, predictions=["old", "new", "third"])
    assert list(contest.changes) == ["new", "third"]
    assert contest.changes["new"].flips == found().changes["new"].flips
    assert eh.diff(contest.audits["new"], contest.audits["third"]).same_people
    assert "third against old" in str(contest)


def test_the_change_of_an_auc():
    contest = eh.contest(people(), **ROLES, scores=["p", "q"], cutoffs=0.5)
    everyone = contest.changes["q"].measure("auc")
    assert everyone.before == pytest.approx(_auc(people().y, people().p))
    assert everyone.change.value == pytest.approx(_auc(people().y, people().q) - everyone.before)
    counted = people().assign(k=2)
    twice = eh.contest(counted, **ROLES, count="k", scores=["p", "q"], cutoffs=0.5).changes["q"].measure("auc")
    assert twice.change.value == pytest.approx(everyone.change.value)
    assert twice.change.high - twice.change.low < everyone.change.high - everyone.change.low
    weighted = eh.contest(people(), **ROLES, weight="w", scores=["p", "q"], cutoffs=0.5)
    assert "weighted" in weighted.changes["q"].auc_reason


def _auc(label, score):
    apart = score[label == 1].to_numpy()[:, None] - score[label == 0].to_numpy()[None, :]
    return float(((apart > 0) + 0.5 * (apart == 0)).mean())


def test_weights_widen_and_are_not_tested():
    weighted = eh.contest(people(), **ROLES, weight="w", predictions=["old", "new"])
    change = weighted.changes["new"]
    assert all(each.p_value is None for each in change.flips)
    plain = found().changes["new"].measure("accuracy").change
    assert change.accuracy.change.high - change.accuracy.change.low > plain.high - plain.low
    ones = eh.contest(people().assign(w=1.0), **ROLES, weight="w", predictions=["old", "new"]).changes["new"]
    assert ones.accuracy.change.low == pytest.approx(plain.low)


# --- forms


def test_the_forms_of_a_contest(tmp_path):
    for suffix in (".json", ".md", ".html"):
        found().save(tmp_path / f"contest{suffix}")
    saved = json.loads((tmp_path / "contest.json").read_text(encoding="utf-8"))
    assert saved["format"] == "evenhand-contest"
    assert saved["changes"][0]["accuracy"]["change"]["value"] == pytest.approx(
        found().changes["new"].accuracy.change.value
    )
    assert (tmp_path / "contest.md").read_text(encoding="utf-8").startswith("# Change: ")
    page = (tmp_path / "contest.html").read_text(encoding="utf-8")
    assert "Who gained and who lost, by race" in page
    assert "<script" not in page
    assert "evenhand-card" in found()._repr_html_()
    assert set(found().to_frame().columns) >= {"model", "measure", "group", "change", "low", "high"}
    with pytest.raises(CallError, match="cannot be saved as"):
        found().save(tmp_path / "contest.xml")


def test_text_fits_80_columns():
    shown = text.plain(found(), Screen(80, "utf-8"))
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("Accuracy:", "gained (selected by new only)", "Gaps by race", "not settled"):
        assert words in " ".join(shown.split())


def test_text_of_three_kinds_of_labels_fits_80_columns():
    label = [1, 0, None] * 20
    shown = text.plain(
        contested(label=label, sensitive=["a rather long name of a group", "b"] * 30), Screen(80, "utf-8")
    )
    assert "unlabelled:" in shown
    assert max(map(len, shown.splitlines())) <= 80


@each_of("name", hostile.NAMES, handful=6)
def test_hostile_names_stay_names(name, tmp_path):
    table = {"y": [1, 0] * 40, "g": [name, "b"] * 40, "one": [1, 0, 1, 1] * 20, name: [1, 1, 0, 0] * 20}
    contest = eh.contest(table, label="y", sensitive="g", predictions=["one", name])
    contest.save(tmp_path / "contest.html")
    page = (tmp_path / "contest.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "\x1b" not in str(contest)
    contest.save(tmp_path / "contest.md")


# --- hostile input


def contested(**changes):
    base = {"label": [1, 0] * 30, "sensitive": ["a", "b", "b"] * 20, "predictions": [[1, 0] * 30, [1, 1, 0] * 20]}
    return eh.contest(**{**base, **changes})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"predictions": None}, "there is nothing to compare"),
        ({"predictions": [[1, 0] * 30]}, "holds 1 of the two or more models"),
        ({"predictions": []}, "holds 0 of the two or more models"),
        ({"predictions": 3}, "must be a list of columns or arrays"),
        ({"predictions": "a"}, "must be a list of columns or arrays"),
        ({"predictions": [1, 0, 1]}, "must be a list of columns or arrays"),
        ({"predictions": {1: [1, 0] * 30, "1": [0, 1] * 30}}, "two models of one name"),
        ({"scores": [[0.1] * 60]}, "scores= holds 1"),
        ({"scores": {"other": [0.1] * 60, "model 2": [0.2] * 60}}, "give both for the same models"),
        ({"cutoffs": 0.5}, "cutoffs= is given without scores="),
        ({"predictions": None, "scores": [[0.1] * 60, [0.2] * 60]}, "scores alone decide nothing"),
        ({"predictions": None, "scores": [[0.1] * 60, [0.2] * 60], "cutoffs": [0.5]}, "1 numbers for 2 models"),
        ({"prediction": [1, 0] * 30}, "give predictions="),
        ({"control": [1, 0] * 30}, "control= is not taken"),
        ({"task": "multiclass"}, "task= is not taken"),
    ],
)
def test_calls_that_are_wrong(changes, says):
    with pytest.raises(CallError, match=says):
        contested(**changes)


def test_an_unknown_argument_names_the_nearest():
    with pytest.raises(TypeError, match="did you mean 'sensitive'"):
        contested(sensitiv="a")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"predictions": [[1, 0] * 30, [1, 0] * 29]}, "lengths differ: .*prediction.* 58"),
        (
            {"predictions": [[1, 0] * 30, ["yes", "no"] * 30]},
            "never holds the positive value '1'; it holds 'no', 'yes'",
        ),
        ({"predictions": [[1, 0] * 30, [0, 1, 2] * 20]}, "has 3 values"),
        ({"predictions": [[1, 0] * 30, [0.2, 0.7] * 30]}, "looks like a score"),
        ({"predictions": [[1, 0] * 30, [None, 1] * 30]}, "is missing in 30 rows"),
        ({"weight": [0.0] * 60}, "every weight"),
    ],
)
def test_data_that_is_wrong(changes, says):
    with pytest.raises(DataError, match=says):
        contested(**changes)


def test_people_that_are_few_or_unlabelled():
    alone = contested(sensitive=["a"] + ["b"] * 59)
    lines = [each for each in alone.changes["model 2"].measures if each.group == ("a",)]
    assert all(each.change.low < each.change.high for each in lines if each.change.defined)
    unlabelled = contested(label=[None] * 60)
    assert unlabelled.changes["model 2"].accuracy.change.defined is False
    assert "Accuracy is undefined" in str(unlabelled)
    without = contested(label=None)
    assert without.changes["model 2"].accuracy is None
    assert {each.label for each in without.changes["model 2"].flips} == {None}
    assert "Selection rate by sensitive" in str(without)


def test_all_flips_in_one_direction():
    contest = contested(predictions=[[0] * 60, [0, 1] * 30])
    everyone = contest.changes["model 2"].measure("selection_rate").change
    assert (everyone.value, everyone.low > 0.3, everyone.high < 0.7) == (0.5, True, True)


def test_names_that_are_numbers():
    contest = contested(predictions={1: [1, 0] * 30, 2: [1, 1, 0] * 20})
    assert list(contest.audits) == ["1", "2"]
    frame = pd.DataFrame({0: [1, 0] * 30, 1: [1, 1, 0] * 20, "y": [1, 0] * 30, "g": ["a", "b", "b"] * 20})
    assert list(eh.contest(frame, label="y", sensitive="g", predictions=["0", "1"]).audits) == ["0", "1"]


def test_weights_of_0_count_for_nobody():
    half = contested(weight=[1.0] * 30 + [0.0] * 30)
    assert math.isfinite(half.changes["model 2"].accuracy.change.value)
    alone = contested(
        label=[1, 0] * 15, sensitive=["a", "b", "b"] * 10, predictions=[[1, 0] * 15, [1, 1, 0] * 10], weight=[1.0] * 30
    )
    ends = [each.changes["model 2"].accuracy.change for each in (half, alone)]
    assert (ends[0].value, ends[0].low) == pytest.approx((ends[1].value, ends[1].low))


def test_iterators_are_read_once():
    contest = eh.contest(
        label=iter([1, 0] * 30), sensitive=["a", "b"] * 30, predictions=[iter([1, 0] * 30), [1, 1, 0] * 20]
    )
    assert contest.people == 60


def test_fewer_errors_are_better_and_more_selected_is_neither():
    y = np.tile([0, 1], 600)
    old = y.copy()
    old[:300] = 1 - old[:300]
    new = np.where((y == 0) & (np.arange(1200) < 600), 1, old)
    table = {"y": y, "old": old, "new": new, "g": np.tile(list("aabb"), 300)}
    change = eh.contest(table, label="y", predictions=["old", "new"], sensitive="g").changes["new"]
    found = {each.measure: each.tendency for each in change.measures if each.group == ()}
    assert found["accuracy"] == found["error_rate"] == found["false_positive_rate"] == "worse"
    assert found["selection_rate"] == "unclear"


def test_four_of_four_flips_settle_nothing():
    y = np.tile([0, 1], 600)
    old = y.copy()
    old[:300] = 1 - old[:300]
    new = old.copy()
    new[:4] = y[:4]
    table = {"y": y, "old": old, "new": new, "g": np.tile(list("aabb"), 300)}
    change = eh.contest(table, label="y", predictions=["old", "new"], sensitive="g").changes["new"]
    assert change.accuracy.tendency == "unclear"
    assert change.accuracy.change.low == 0


def test_a_function_of_rows_is_not_for_a_contest():
    data = {"y": [0, 1] * 50, "p": [0, 1, 1, 1] * 25, "q": [1, 1, 0, 1] * 25, "g": ["a", "a", "b", "b"] * 25}
    with pytest.raises(CallError, match="f1_score is a function of the rows, and a contest compares metrics of counts"):
        eh.contest(data, label="y", predictions=["p", "q"], sensitive="g", metrics=["f1_score"])
