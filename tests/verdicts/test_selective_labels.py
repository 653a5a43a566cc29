"""Labels known on one side of a decision only: what is undefined, what decides instead, and what is never a pass."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.cli import run
from evenhand.measures.cells import MEASURES, evaluate, support
from evenhand.measures.group_data import silent_sides
from evenhand.verdicts.selective_labels import selective_labels

REFUSED = "nobody who was refused among group = b has a label"
RESTING = (
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "false_negative_rate",
    "accuracy",
    "error_rate",
    "base_rate",
    "negative_predictive_value",
    "false_omission_rate",
    "balanced_accuracy",
    "f1",
    "threat_score",
    "error_balance",
)
STAYING = ("selection_rate", "positive_predictive_value", "false_discovery_rate", "selected_share", "count")


def lender(groups=(("a", 5000, 0.5, 0.9), ("b", 5000, 0.2, 0.95)), **more):
    """Who was approved and who of them repaid; nobody knows of the refused. `more` are rows (label, decision, n)."""
    rows = []
    for name, people, approved, repaid in groups:
        chosen = round(people * approved)
        good = round(chosen * repaid)
        rows += [(name, 1, 1, good), (name, 0, 1, chosen - good), (name, None, 0, people - chosen)]
        rows += [(name, *row) for row in more.get(name, ())]
    rows = [row for row in rows if row[-1]]
    columns = ("group", "repaid", "approved", "count")
    return pd.DataFrame(rows, columns=columns).astype({"repaid": object}).where(lambda table: table.notna(), None)


ROLES = {"label": "repaid", "prediction": "approved", "sensitive": "group", "count": "count"}
SIDE = {1: 0, 0: 1}


def turned(table):
    """The same people with the decision turned round: labels are known of the refused only."""
    return table.assign(approved=table["approved"].map(SIDE))


# --- What is undefined -----------------------------------------------------------------------------------------------


def test_what_rests_on_labels_of_the_refused_is_undefined_and_says_so():
    found = eh.audit(lender(), **ROLES).groups().set_index(["group", "measure"])
    for name in RESTING:
        assert math.isnan(found.loc[("b", name), "value"]), name
        assert found.loc[("b", name), "reason"] == REFUSED
        assert found.loc[("b", name), "n"] == 0
    for name in STAYING:
        assert not math.isnan(found.loc[("b", name), "value"]), name
    assert found.loc[("b", "positive_predictive_value"), "value"] == pytest.approx(0.95)
    assert {*RESTING, *STAYING} == {*MEASURES}


def test_one_labelled_person_among_the_refused_defines_them():
    found = eh.equal_opportunity(lender(b=[(1, 0, 1)], a=[(1, 0, 1)]), **ROLES)
    assert [row.estimate.value for row in found.groups] == [pytest.approx(2250 / 2251), pytest.approx(950 / 951)]


def test_labels_of_the_refused_only():
    found = eh.audit(turned(lender()), **ROLES)
    values = found.groups().set_index(["group", "measure"])
    for name in ("true_positive_rate", "false_positive_rate", "accuracy", "base_rate", "positive_predictive_value"):
        assert values.loc[("b", name), "reason"] == "nobody who was selected among group = b has a label", name
    assert values.loc[("b", "negative_predictive_value"), "value"] == pytest.approx(0.05)
    assert found.required == ("negative_predictive_parity", "demographic_parity")
    assert "robust_outcome_test" not in {finding.metric for finding in found.findings}


def test_a_measure_of_ones_own_that_counts_the_unlabelled_stays():
    known = eh.measure("known_refusals", numerator="TN FN", denominator="TN FN U0")
    finding = eh.metric("known_refusals_parity", measures=known)(lender(), **ROLES)
    assert [row.estimate.value for row in finding.groups] == [0, 0]
    missed = eh.measure("missed", numerator="FN", denominator="")
    assert np.isnan(eh.Cube.count(lender(), **ROLES).measures([missed])["missed"]).all()


def scored(cutoff=0.5, **more):
    random = np.random.default_rng(3)
    score = random.beta(2, 2, 4000).round(3)
    label = (random.random(4000) < score).astype(object)
    return {"score": score, "label": np.where(score >= 0.5, label, None), "cutoff": cutoff,
            "sensitive": random.choice(["a", "b"], 4000), **more}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["balance_for_positive_class", "overall_balance", "auc_parity", "brier_score_parity", "log_loss_parity",
     "calibration_error_parity", "maximum_calibration_error_parity", "abroca", "cross_group_auc", "theil_index"],
)  # fmt: skip
def test_scores_of_labelled_people_are_those_of_the_selected_only(name):
    found = getattr(eh, name)(**scored())
    assert not found.value.defined
    assert "nobody who was refused among group a has a label" in found.interpretation
    assert not any(row.estimate and row.estimate.defined for row in found.rows)


def test_scores_that_need_no_label_and_rates_beyond_the_cutoff_stay():
    assert eh.mean_score_parity(**scored()).value.defined
    assert eh.ks_distance(**scored()).value.defined
    rates = [row for row in eh.calibration(**scored()).groups if row.estimate.defined]
    assert {row.bin[0] for row in rates} == {0.5, 0.6, 0.7, 0.8, 0.9}
    without = {key: value for key, value in scored().items() if key != "cutoff"}
    assert eh.auc_parity(**without).value.defined  # nobody was refused where nothing was decided


def test_functions_of_rows_are_undefined_too():
    table = lender((("a", 200, 0.5, 0.9), ("b", 200, 0.2, 0.9)))
    rows = table.loc[table.index.repeat(table["count"])]
    recall = eh.measure("own_recall", lambda label, prediction: prediction[label == 1].mean())
    found = eh.metric("own_recall_parity", measures=recall)(
        rows, label="repaid", prediction="approved", sensitive="group", draws=100
    )
    assert not found.value.defined
    assert REFUSED in found.interpretation


def test_several_classes():
    groups = ["a", "b"] * 300
    prediction = ["x", "x", "y", "y", "z", "z"] * 100
    label = [("x" if i % 5 else "y") if said == "x" else None for i, said in enumerate(prediction)]
    table = {"label": label, "prediction": prediction, "sensitive": groups, "task": "multiclass"}
    assert not eh.overall_accuracy_equality(**table).value.defined
    rows = {(row.measure, row.of_class): row for row in eh.equalized_odds(**table).groups if row.group == ("b",)}
    assert rows["true_positive_rate", "x"].reason == "nobody who was not predicted 'x' among group b has a label"
    assert rows["true_positive_rate", "y"].reason == "nobody who was predicted 'y' among group b has a label"
    audit = eh.audit(**table)
    assert audit.required == ("predictive_parity", "demographic_parity")
    assert audit.verdict != "pass"


def test_weights_of_nothing_count_for_nothing():
    """A refused person with a label and a weight of 0 does not make the rates known."""
    table = lender(a=[(1, 0, 7)], b=[(1, 0, 7)])
    weight = [0.0 if row.approved == 0 and row.repaid is not None else 1.0 for row in table.itertuples()]
    assert not eh.equalized_odds(table.assign(w=weight), **ROLES, weight="w").value.defined


def test_impossibility_leaves_them_out():
    found = eh.impossibility(eh.audit(lender(), **ROLES))
    assert not found.implied_gap.defined
    assert "nobody who was refused has a label" in found.notes[0]


# --- What decides ----------------------------------------------------------------------------------------------------


def test_the_choice_and_why():
    audit = eh.audit(lender(), **ROLES)
    assert audit.required == ("predictive_parity", "demographic_parity")
    (why,) = [note for note in audit.notes if "instead" in note]
    assert why.startswith("Nobody who was refused has a label in group = a, group = b.")
    assert "equalized odds cannot be judged: predictive parity and demographic parity decide instead" in why


def test_one_group_of_many_is_left_out_and_equalized_odds_decides():
    full = {name: [(1, 0, 300), (0, 0, 700)] for name in "cd"}
    groups = [("b", 2000, 0.5, 0.8), ("c", 1000, 1.0, 0.8), ("d", 1000, 1.0, 0.8)]
    audit = eh.audit(lender(groups, **full), **ROLES)
    assert audit.required == ("equalized_odds",)
    assert REFUSED in " ".join(audit.findings[0].notes)
    assert audit.findings[0].left_out == ("b",)


@pytest.mark.parametrize(("people", "least", "decides"), [(40, 30, False), (40, 50, True), (2, 30, True)])
def test_two_groups_must_be_large_enough(people, least, decides):
    full = {name: [(1, 0, 300), (0, 0, 700)] for name in "cd"}
    groups = [("a", people, 0.5, 1), ("b", people, 0.5, 1), ("c", 1000, 1.0, 0.8), ("d", 1000, 1.0, 0.8)]
    audit = eh.audit(lender(groups, **full), **ROLES, min_group_size=least)
    assert ("equalized_odds" in audit.required) is decides


def test_labels_missing_in_one_of_two_groups_leave_fewer_than_two():
    audit = eh.audit(lender(a=[(1, 0, 500), (0, 0, 500)]), **ROLES)
    assert audit.required == ("predictive_parity", "demographic_parity")
    assert "Nobody who was refused has a label in group = b." in " ".join(audit.notes)


def test_without_decisions_there_is_nothing_refused():
    cube = eh.Cube.count(label=[1, 0, None] * 20, score=[0.1, 0.2, 0.9] * 20, sensitive=["a", "b"] * 30)
    assert selective_labels(cube, [("sensitive",)], 1) is None


def test_everybody_selected_is_not_judged():
    table = lender((("a", 900, 1, 0.9), ("b", 800, 1, 0.95)))
    for policy in (None, "four-fifths", eh.Policy(required="demographic_parity")):
        audit = eh.audit(table, **ROLES, policy=policy)
        assert (audit.verdict, audit.required) == ("not judged", ())
        assert "Everybody in this table was selected." in " ".join(audit.notes)
    assert eh.audit(table, **ROLES, metrics=["predictive_parity"]).verdict == "pass"
    without = eh.audit(table, prediction="approved", sensitive="group", count="count")
    assert without.verdict == "not judged"


# --- The lender's table ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [None, "four-fifths", "nyc-ll144"])
@pytest.mark.parametrize("interval", ["simultaneous", "percentile", "basic", "bca", "bayes", "wilson"])
def test_the_lender_never_passes(policy, interval):
    audit = eh.audit(lender(), **ROLES, policy=policy, interval=interval)
    assert audit.verdict != "pass"
    assert "Nobody who was refused has a label in group = a, group = b." in " ".join(str(audit).split())
    odds = eh.equalized_odds(lender(), **ROLES, interval=interval)
    assert (odds.value.defined, odds.verdict) == (False, "inconclusive")


@pytest.mark.parametrize("reference", [None, {"group": "a"}, "rest", "overall", "largest", "highest"])
def test_whatever_it_is_compared_with(reference):
    audit = eh.audit(lender(), **ROLES, reference=reference, policy=eh.Policy(required="equalized_odds"))
    assert audit.verdict == "inconclusive"


def test_the_answer_and_the_robust_outcome_test():
    audit = eh.audit(lender(), **ROLES)
    assert audit.verdict == "fail"
    (test,) = [finding for finding in audit.findings if finding.metric == "robust_outcome_test"]
    assert (test.verdict, test.evidence.group, test.evidence.against) == ("fail", ("b",), "a")
    assert not audit.decides(test)
    assert any("group = b is selected less often than group = a" in note for note in audit.notes)


def test_every_door(tmp_path, capsys):
    path = tmp_path / "lender.csv"
    lender().to_csv(path, index=False)
    roles = [f"--{name}={value}" for name, value in ROLES.items()]
    for suffix in ("json", "html", "md", "xml"):
        assert run(["audit", str(path), *roles, "-o", str(tmp_path / f"audit.{suffix}")]) == 1
    capsys.readouterr()
    assert run(["audit", str(path), *roles]) == 1
    assert "Nobody who was refused has a label in group = a, group = b." in " ".join(capsys.readouterr().out.split())
    saved = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert saved["verdict"] == "fail"
    assert eh.Audit.load(tmp_path / "audit.json").verdict == "fail"
    assert "robust_outcome_test" in {finding["metric"] for finding in saved["findings"]}
    for suffix in ("md", "html"):
        assert "Nobody who was refused has a label" in (tmp_path / f"audit.{suffix}").read_text(encoding="utf-8")
    cube = eh.Cube.count(path, **ROLES)
    cube.save(tmp_path / "lender.cube")
    assert eh.audit(tmp_path / "lender.cube").verdict == "fail"
    assert eh.audit(lender(), **ROLES).shared().verdict != "pass"


def test_names_that_are_numbers():
    table = lender().assign(group=lambda rows: rows["group"].map({"a": 1, "b": 2}))
    audit = eh.audit(table, **ROLES)
    assert "Nobody who was refused has a label in group = 1, group = 2." in " ".join(audit.notes)


@pytest.mark.parametrize("people", [1, 2])
def test_one_person(people):
    table = lender((("a", 400, 0.5, 0.9), ("b", people, 0.5 if people > 1 else 0, 1)))
    assert eh.audit(table, **ROLES).verdict != "pass"


def test_nobody_labelled():
    table = lender().assign(repaid=None)
    audit = eh.audit(table, **ROLES)
    assert audit.verdict != "pass"
    assert not eh.robust_outcome_test(table, **ROLES).value.defined


# --- What groups are compared with -----------------------------------------------------------------------------------

ALIKE = {(1, 1): 1200, (1, 0): 800, (0, 1): 600, (0, 0): 1400}
RESTING_METRICS = ("equal_opportunity", "equalized_odds", "overall_accuracy_equality", "negative_predictive_parity",
                   "treatment_equality", "balanced_accuracy_equality")  # fmt: skip
COMPARED = {"rest": "everyone else", "overall": "everyone"}


def alike(silent=("c",), groups=("a", "b", "c"), **more):
    """Groups that are treated alike; of those that are `silent` nobody who was refused has a label."""
    rows = [(g, None if g in silent and not d else y, d, n) for g in groups for (y, d), n in ALIKE.items()]
    rows += [(g, *row) for g, some in more.items() for row in some]
    table = pd.DataFrame(rows, columns=["group", "repaid", "approved", "count"])
    return table.astype({"repaid": object}).where(lambda found: found.notna(), None)


def rows_of(table):
    return table.loc[table.index.repeat(table["count"])].drop(columns="count").reset_index(drop=True)


def gaps(finding):
    """Each group that has a value: that, and both gaps with their ends, in each measure and stratum."""
    return {
        (row.group, row.stratum, row.measure): [
            number
            for each in (row.estimate, row.difference, row.ratio)
            for number in (each.value, each.low, each.high)
            if number is not None
        ]
        for row in finding.groups
        if row.estimate.defined
    }


def same(found, other, tolerance=1e-12):
    mine, theirs = gaps(found), gaps(other)
    assert mine.keys() == theirs.keys()
    for key, numbers in mine.items():
        assert numbers == pytest.approx(theirs[key], abs=tolerance, nan_ok=True), key


@pytest.mark.parametrize("reference", COMPARED)
@pytest.mark.parametrize("name", RESTING_METRICS)
def test_everyone_else_are_the_groups_whose_value_is_known(name, reference):
    metric = getattr(eh, name)
    found = metric(alike(), **ROLES, reference=reference)
    assert found.verdict == "pass"
    assert found.value.value == (1.0 if found.judged_on == "ratio" else 0.0)
    same(found, metric(alike(silent=(), groups=("a", "b")), **ROLES, reference=reference))
    (lone,) = {row.group for row in found.groups if not row.estimate.defined}
    assert lone == ("c",)
    assert all(math.isnan(row.difference.value) for row in found.groups if row.group == lone)
    (note,) = [note for note in found.notes if " is without " in note]
    said = COMPARED[reference].capitalize()
    assert note == f"{said} is without group = c: nobody on one side of the decision has a label there."


@pytest.mark.parametrize("reference", COMPARED)
@pytest.mark.parametrize("interval", ["percentile", "basic", "bca", "bayes"])
def test_everyone_else_in_draws(reference, interval):
    asked = {**ROLES, "reference": reference, "interval": interval, "draws": 400}
    found = eh.equalized_odds(alike(), **asked)
    without = eh.equalized_odds(alike(silent=(), groups=("a", "b")), **asked)
    assert found.verdict == without.verdict == "pass"
    same(found, without, 0.02)  # other draws


@pytest.mark.parametrize("reference", COMPARED)
@pytest.mark.parametrize("role", ["weight", "cluster", "control"])
def test_everyone_else_with_weights_clusters_and_strata(reference, role):
    rows = rows_of(alike(weighed=[(1, 0, 40), (None, 1, 60)]))
    random = np.random.default_rng(5)
    columns = {
        "weight": random.choice([0.5, 1.0, 3.0], len(rows)),
        "cluster": random.integers(0, 300, len(rows)),
        "control": random.choice(["x", "y"], len(rows)),
    }
    rows[role] = columns[role]
    asked = {"label": "repaid", "prediction": "approved", "sensitive": "group", "reference": reference, role: role}
    without = rows[rows["group"].isin(["a", "b"])]
    # Clusters with nobody in any group count among the clusters, so that n / (n − 1) is another one.
    same(eh.equalized_odds(rows, **asked), eh.equalized_odds(without, **asked), 1e-12 if role != "cluster" else 1e-3)
    audit = eh.audit(rows, **asked)
    assert next(found for found in audit.findings if found.metric == "equalized_odds").verdict != "fail"


@pytest.mark.parametrize("reference", COMPARED)
@pytest.mark.parametrize("interval", ["simultaneous", "bca", "jackknife"])
def test_everyone_else_of_a_function_of_rows(reference, interval):
    recall = eh.measure("own_recall", lambda label, prediction: prediction[label == 1].mean())
    metric = eh.metric("own_recall_parity", measures=recall, threshold=0.1)
    small = alike().assign(count=lambda table: table["count"] // 20)
    asked = {"label": "repaid", "prediction": "approved", "sensitive": "group", "draws": 120, "interval": interval}
    found, without = (
        metric(rows_of(table), **asked, reference=reference) for table in (small, small[small["group"] != "c"])
    )
    assert found.verdict != "fail"
    same(found, without, 1e-4)  # BCa leaves out a row of everybody
    assert any(note.startswith(f"{COMPARED[reference].capitalize()} is without group = c") for note in found.notes)
    chosen = eh.metric("own_rate_parity", measures=eh.measure("own_rate", lambda prediction: prediction.mean()))
    everybody = chosen(rows_of(small), **{**asked, "draws": 0, "interval": "simultaneous"}, reference=reference)
    assert not any(math.isnan(row.difference.value) for row in everybody.groups)


@pytest.mark.parametrize("reference", COMPARED)
@pytest.mark.parametrize(("name", "label"), [("balance_for_positive_class", 1), ("auc_parity", 1)])
def test_everyone_else_of_scores(reference, name, label):
    table = alike().assign(score=lambda rows: np.where(rows["approved"] == 1, 0.8, 0.2))
    asked = {**ROLES, "score": "score", "reference": reference}
    metric = getattr(eh, name)
    found, without = (metric(rows, **asked) for rows in (table, table[table["group"] != "c"]))
    assert found.verdict == "pass"
    same(found, without, 1e-6)  # bins stand at the mean of everybody in them


@pytest.mark.parametrize("interval", ["simultaneous", "percentile"])
def test_what_is_known_of_everybody_keeps_everybody(interval):
    """Predictive values and selection rates need no label of the refused."""
    more = {"c": [(1, 1, 900)]}
    for name, mine, theirs in (
        ("predictive_parity", 1200 / 1800, (1200 + 2100) / (1800 + 2700)),
        ("demographic_parity", 1800 / 4000, (1800 + 2700) / (4000 + 4900)),
    ):
        found = getattr(eh, name)(alike(**more), **ROLES, reference="rest", interval=interval, draws=100)
        row = next(row for row in found.groups if row.group == ("a",))
        assert row.difference.value == pytest.approx(mine - theirs)
        assert not any(" is without " in note for note in found.notes)


def test_a_metric_of_both_names_the_measure_that_leaves_groups_out():
    found = eh.conditional_use_accuracy_equality(alike(), **ROLES, reference="rest")
    (note,) = [note for note in found.notes if " is without " in note]
    assert note.startswith("Everyone else is without group = c in the negative predictive value:")


@pytest.mark.parametrize("reference", COMPARED)
def test_a_single_person_does_not_change_what_the_others_are_compared_with(reference):
    ones = {f"one {i}": [(None, 0, 1)] for i in range(30)}
    found = eh.equalized_odds(alike(**ones), **ROLES, reference=reference)
    same(found, eh.equalized_odds(alike(), **ROLES, reference=reference))
    (note,) = [note for note in found.notes if " is without " in note]
    assert "one" not in note.replace("Everyone", "").replace("on one side", ""), "they have no label to lend"


@pytest.mark.parametrize("reference", COMPARED)
@pytest.mark.parametrize("interval", ["simultaneous", "percentile", "bca"])
def test_a_group_is_not_compared_with_itself(reference, interval):
    """Of two groups only one is known: there is nobody else, and everyone is that group."""
    table = alike(groups=("a", "c"))
    found = eh.equal_opportunity(table, **ROLES, reference=reference, interval=interval, draws=100)
    assert (found.verdict, found.value.defined) == ("inconclusive", False)
    scored = table.assign(score=lambda rows: np.where(rows["approved"] == 1, 0.8, 0.2))
    for name in ("balance_for_positive_class", "auc_parity"):
        assert not getattr(eh, name)(scored, **ROLES, score="score", reference=reference).value.defined
    rows = rows_of(table)
    rows["cluster"] = np.arange(len(rows)) // 5
    roles = {"label": "repaid", "prediction": "approved", "sensitive": "group"}
    assert not eh.equal_opportunity(rows, **roles, cluster="cluster", reference=reference).value.defined
    recall = eh.measure("own_recall", lambda label, prediction: prediction[label == 1].mean())
    metric = eh.metric("own_recall_parity", measures=recall, threshold=0.1)
    assert not metric(rows, **roles, reference=reference, draws=100).value.defined


@pytest.mark.parametrize("reference", COMPARED)
def test_several_classes_leave_groups_out_too(reference):
    rows = [(g, y, d) for g in "abc" for d in "xyz" for y in "xyz" for _ in range(90 if y == d else 30)]
    table = pd.DataFrame(rows, columns=["group", "label", "prediction"]).astype(object)
    table.loc[(table["group"] == "c") & (table["prediction"] == "x"), "label"] = None
    asked = {"label": "label", "prediction": "prediction", "sensitive": "group", "task": "multiclass"}
    for name in ("equal_opportunity", "overall_accuracy_equality"):
        metric = getattr(eh, name)
        found, without = (metric(part, **asked, reference=reference) for part in (table, table[table["group"] != "c"]))
        assert found.verdict != "fail"
        # Of the other classes c is known in part: who was predicted x is missing at random there.
        mine, theirs = (
            [row for row in each.groups if row.of_class in ("x", None) and row.group != ("c",)]
            for each in (found, without)
        )
        assert [row.difference.value for row in mine] == pytest.approx([row.difference.value for row in theirs])


@pytest.mark.parametrize("reference", COMPARED)
def test_bounds_of_missing_labels_are_of_the_same_groups(reference):
    """Labels are missing for a reason in a group whose value is known: the ends hold whatever they are."""
    more = {"b": [(None, 0, 300)]}
    found, without = (
        eh.equal_opportunity(alike(groups=groups, **more), **ROLES, reference=reference)
        for groups in (("a", "b", "c"), ("a", "b"))
    )
    same(found, without)
    assert found.value.high - found.value.low > 0.05
    assert (found.verdict, found.value) == (without.verdict, without.value)


@pytest.mark.parametrize("reference", COMPARED)
def test_people_without_a_group_may_join_the_same_groups(reference):
    more = {"x": [(1, 1, 5)]}
    table = alike(**more)
    table.loc[table["group"] == "x", "group"] = None
    without = table[table["group"] != "c"]
    found, other = (eh.equal_opportunity(part, **ROLES, reference=reference).sensitivity for part in (table, without))
    assert found.gap_by_groups.low == pytest.approx(other.gap_by_groups.low)
    assert found.gap_by_groups.high == pytest.approx(other.gap_by_groups.high)


def test_intersections_are_compared_with_what_is_known():
    table = pd.concat([alike().assign(sex=sex) for sex in "fm"])
    found = eh.equal_opportunity(table, **{**ROLES, "sensitive": ["group", "sex"]}, reference="rest")
    assert not any("Farthest" in note or "suggest" in note for note in found.notes)


@pytest.mark.parametrize("against", COMPARED)
@pytest.mark.parametrize("metric", ["true_positive_rate", "equalized_odds", "brier_score", "mean_score_positive"])
def test_a_search_leaves_them_out(against, metric):
    """Most of c are men: without labels of its refused, men would seem to be selected more often."""
    table = pd.concat([alike().assign(sex="f"), alike().assign(sex="m")])
    table["score"] = np.where(table["approved"] == 1, 0.8, 0.2)
    table.loc[(table["group"] == "c") & (table["sex"] == "m"), "count"] *= 5
    roles = {name: value for name, value in ROLES.items() if name != "sensitive"}
    asked = {**roles, "score": "score", "metric": metric, "against": against, "within": ["group", "sex"]}
    found, without = (eh.search(rows, **asked) for rows in (table, table[table["group"] != "c"]))
    assert found.verdict == "pass"
    assert found.value.value == pytest.approx(0, abs=1e-12)
    assert found.value.value == pytest.approx(without.value.value, abs=1e-12)
    (note,) = [
        note for note in found.notes if note.startswith("Left out of all groups, and of those they are compared")
    ]
    assert note.endswith(" with: 24,000 people of group = c. Nobody on one side of the decision has a label there.")
    assert eh.search(table, **asked, split=True).verdict != "fail"


def test_a_search_for_what_needs_no_label_of_the_refused_keeps_everybody():
    roles = {name: value for name, value in ROLES.items() if name != "sensitive"}
    for metric in ("positive_predictive_value", "selection_rate"):
        found = eh.search(alike(), **roles, within=["group"], metric=metric)
        assert found.settings["groups"] == 3
        assert not any(note.startswith("Left out") for note in found.notes)


def test_a_search_is_not_misled_by_chance():
    """One refused person of a hundred, whose label is missing by chance, takes nobody out of other groups."""
    random = np.random.default_rng(2)
    size = 20_000
    label = (random.random(size) < 0.5).astype(float)
    rows = {
        "label": np.where(random.random(size) < 0.5, np.nan, label),
        "prediction": (random.random(size) < 0.99).astype(int),
        "within": {"g": random.integers(0, 150, size), "h": random.choice(["x", "y"], size)},
    }
    found = eh.search(**rows, metric="true_positive_rate", least=20)
    assert not any(note.startswith("Left out") for note in found.notes)
    assert found.verdict != "fail"


@pytest.mark.parametrize("reference", [None, "a", "rest"])
@pytest.mark.parametrize("control", [False, True])
def test_no_alarm_rests_on_labels_of_the_selected_only(reference, control):
    """Bets on a group without labels of the refused would win every time: all its true positives are selected."""
    table = pd.concat([alike().assign(region=region) for region in "xy"]) if control else alike()
    roles = {**ROLES, "control": "region"} if control else ROLES
    asked = {"reference": reference, "metrics": "equal_opportunity"}
    days, without = (
        {f"day {i}": eh.Cube.count(part, **roles) for i in range(4)} for part in (table, table[table["group"] != "c"])
    )
    found, other = ([point.e_value for point in eh.trend(each, **asked).series[0].points] for each in (days, without))
    assert found == pytest.approx(other)
    assert max(found) < 1


# --- Properties ------------------------------------------------------------------------------------------------------

CELLS = st.lists(st.lists(st.integers(0, 60), min_size=6, max_size=6).filter(any), min_size=2, max_size=4)


@given(CELLS, st.sampled_from([1.0, 0.25, 3.0]))
def test_a_value_is_undefined_exactly_where_a_side_it_rests_on_is_silent(groups, weight):
    cells = np.array([[*group, 0, 0] for group in groups], dtype=float) * weight
    silent = silent_sides(cells)
    for row in MEASURES.values():
        values = evaluate(cells, [row])[row.name]
        for side, place in (("refused", 0), ("selected", 1)):
            if side in row.labels_of:
                assert np.isnan(values[silent[:, place]]).all()
                assert not support(cells, row)[silent[:, place]].any()
        again = evaluate(cells[::-1], [row], cells.sum(axis=0))[row.name][::-1]
        np.testing.assert_allclose(values, again)


@given(CELLS)
def test_full_labels_are_as_they_were(groups):
    """Without unlabelled people no side is silent."""
    cells = np.array([[*group[:4], 0, 0, *group[4:]] for group in groups], dtype=float)
    assert not silent_sides(cells).any()


def test_no_curve_of_the_selected_only():
    from evenhand.plots import RocDisplay

    drawn = RocDisplay.from_audit(eh.audit(**scored()))
    assert np.isnan(drawn.auc).all()
    assert np.isnan(drawn.tpr).all()


def test_the_text_of_the_lender_says_why_with_bounds_and_the_test():
    text = " ".join(eh.audit(lender(), **ROLES).details().split())
    assert "so that equalized odds cannot be judged" in text
    assert "whatever the missing labels are, the gap lies between 0.0 and 98.8 points. " in text
    assert "b is disfavoured, if the likelihood ratio of the risks is monotone" in text


def test_a_stratum_of_the_lender_does_not_pass_beside_one_whose_labels_are_known():
    known = [(name, y, d, 2500) for name in "ab" for y in (0, 1) for d in (0, 1)]
    known = pd.DataFrame(known, columns=["group", "repaid", "approved", "count"]).assign(region="y")
    table = pd.concat([lender().assign(region="x"), known.astype({"repaid": object})])
    audit = eh.audit(table, **ROLES, control="region")
    assert audit.verdict == "fail"
    assert {found.metric for found in audit.findings if audit.decides(found)} == {
        "demographic_parity",
        "predictive_parity",
    }
    assert any(
        note.startswith("Nobody who was refused has a label in group = a (region = x), group = b (region = x).")
        for note in audit.notes
    )
    odds = next(found for found in audit.findings if found.metric == "equalized_odds")
    assert not any("about as often for each decision" in note for note in odds.notes)


def test_a_stratum_without_labels_leaves_a_pass_open_also_where_equalized_odds_is_asked_for():
    known = [(name, y, d, 2500) for name in "ab" for y in (0, 1) for d in (0, 1)]
    known = pd.DataFrame(known, columns=["group", "repaid", "approved", "count"]).assign(region="y")
    table = pd.concat([lender().assign(region="x"), known.astype({"repaid": object})])
    for reference in (None, "a", "rest", "overall"):
        asked = {**ROLES, "control": "region", "reference": reference}
        audit = eh.audit(table, **asked, policy=eh.Policy(required="equalized_odds"))
        assert audit.verdict == "inconclusive", reference
    assert eh.audit(known, **ROLES, control="region", policy=eh.Policy(required="equalized_odds")).verdict == "pass"


def test_nobody_selected_is_not_judged():
    roles = {"label": [0, 1] * 200, "sensitive": ["a", "a", "b", "b"] * 100}
    decided = {"score": [0.2, 0.4] * 200, "cutoff": 50}
    for policy in (None, eh.Policy(required="demographic_parity")):
        found = eh.audit(**roles, **decided, policy=policy)
        assert (found.verdict, found.required) == ("not judged", ())
        assert any(
            note.startswith("Nobody in this table was selected, so that nothing is judged") for note in found.notes
        )
    assert eh.audit(**roles, **decided, policy="four-fifths").verdict == "inconclusive", "a ratio of 0/0 is undefined"
    one = eh.audit(**roles, prediction=[1] + [0] * 399)
    assert one.verdict != "not judged"


@pytest.mark.parametrize("interval", ["simultaneous", "percentile", "wilson"])
def test_a_pass_against_the_group_that_is_worse_off_says_so(interval):
    """Four fifths look one way: whom the reference itself falls short of is named with the verdict."""
    finding = eh.audit(lender(), **ROLES, policy="four-fifths", reference="b", interval=interval).findings[0]
    assert finding.verdict == "pass"
    assert "Only groups below group = b count here: group = b is itself at 0.40 of group = a." in finding.interpretation
    turned = eh.audit(lender(), **ROLES, policy="four-fifths", reference="a", interval=interval).findings[0]
    assert (turned.verdict, "Only groups" in turned.interpretation) == ("fail", False)
