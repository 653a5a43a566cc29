"""counterfactual_fairness, flip_test and decompose: what they find in models whose answers are known."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import evenhand as eh
from evenhand import CausalModel, counterfactual_fairness, decompose, flip_test
from evenhand.errors import CallError, DataError
from support.causal_cases import GRAPH, KNOWN, people
from support.hostile import NAMES

QUICK = {"refits": 20}
BY_HAND = CausalModel(GRAPH, mechanisms=KNOWN)


def column(name):
    return lambda table: np.asarray(table[name], dtype=float)


def inside(table):
    return (np.asarray(table["group"]) == "b").astype(float)


def row_of(found, measure, group, against):
    (row,) = (r for r in found.rows if (r.measure, r.group, r.against) == (measure, (group,), against))
    return row


# --- verdicts in a linear Gaussian model: group → exam (−4) → grade (.25), group → grade (+1), effort is no effect


def test_a_predictor_of_non_descendants_passes():
    found = counterfactual_fairness(column("effort"), people(), CausalModel(GRAPH), sensitive="group", **QUICK)
    assert (found.verdict, found.passes) == ("pass", True)
    assert (found.value.value, found.value.low, found.value.high) == (0, 0, 0)
    assert "No prediction would change" in found.interpretation


def test_a_predictor_that_uses_the_attribute_fails():
    found = counterfactual_fairness(
        lambda table: inside(table) * 0.7 + 0.01 * np.asarray(table["effort"]), people(), BY_HAND, sensitive="group"
    )
    assert found.verdict == "fail"
    assert found.value.value == pytest.approx(0.7, abs=1e-8)
    assert found.settings["refits"] == 0  # nothing that moves people was estimated for it
    decided = counterfactual_fairness(inside, people(), BY_HAND, sensitive="group")
    assert (decided.verdict, decided.value.value) == ("fail", 1.0)


@pytest.mark.parametrize(("name", "amount"), [("exam", 4.0), ("grade", 4.0 * 0.25 - 1.0 + 0.0)])
def test_a_predictor_that_uses_a_mediator_fails_by_the_known_amount(name, amount):
    found = counterfactual_fairness(column(name), people(), BY_HAND, sensitive="group", threshold=0.5)
    assert found.value.value == pytest.approx(amount, abs=1e-8)
    assert found.verdict == ("fail" if amount > 0.5 else "pass")
    if amount:
        assert row_of(found, "mean_change", "b", "a").estimate.value == pytest.approx(amount, abs=1e-8)
        assert row_of(found, "mean_change", "a", "b").estimate.value == pytest.approx(-amount, abs=1e-8)
        assert row_of(found, "largest_change", "b", "a").estimate.value == pytest.approx(amount, abs=1e-8)


def test_the_amount_is_exact_when_fitted_to_noise_that_is_uncorrelated_in_the_sample():
    rows = people(300, orthogonal=True)
    model = CausalModel(GRAPH).fit(rows)
    found = counterfactual_fairness(column("exam"), rows, model, sensitive="group", threshold=1.0, **QUICK)
    assert found.value.value == pytest.approx(4.0, abs=1e-8)
    assert found.verdict == "fail"
    assert found.value.low < 4.0 < found.value.high
    assert found.p_value <= 1 / 20


def test_paths_that_cancel_are_found_to_cancel_but_each_is_seen():
    """On grade the effects are −4 · .25 + 1 = 0."""
    found = counterfactual_fairness(column("grade"), people(), BY_HAND, sensitive="group")
    assert found.value.value == pytest.approx(0, abs=1e-8)
    (split,) = decompose("grade", people(), BY_HAND, sensitive="group", reference="a", refits=0)
    assert split.direct.value == pytest.approx(-1.0, abs=1e-8)
    assert split.indirect.value == pytest.approx(1.0, abs=1e-8)


def test_changes_in_both_directions_do_not_cancel():
    rng = np.random.default_rng(0)
    rows = {"group": np.repeat(["a", "b"], 200), "x": rng.normal(size=400)}
    model = CausalModel("group -> x", mechanisms={"x": {"group": {"a": 0.0, "b": 1.0}}})
    rows["sign"] = np.where(np.arange(400) % 2 == 0, 1.0, -1.0)
    found = counterfactual_fairness(lambda t: t["x"] * t["sign"], rows, model, sensitive="group")
    assert found.value.value == pytest.approx(1.0)
    assert row_of(found, "mean_change", "a", "b").estimate.value == pytest.approx(0.0)


def test_a_model_fitted_elsewhere_is_used_as_it_is():
    model = CausalModel(GRAPH).fit(people(800, seed=1))
    fresh = {name: values[:60] for name, values in people(seed=2).items()}
    found = counterfactual_fairness(column("exam"), fresh, model, sensitive="group", **QUICK)
    moved = model.counterfactual(fresh, do={"group": "a"})["exam"] - fresh["exam"]
    expected = np.abs(moved[fresh["group"] == "b"]).mean()
    assert row_of(found, "mean_absolute_change", "b", "a").estimate.value == pytest.approx(expected, abs=1e-9)


# --- decisions, classes, models


def test_the_share_of_decisions_that_flip():
    rows = people(2000)
    found = counterfactual_fairness(lambda t: np.asarray(t["exam"]) >= 0, rows, BY_HAND, sensitive="group")
    flips = np.mean((rows["exam"] + 4.0 >= 0)[rows["group"] == "b"] != (rows["exam"] >= 0)[rows["group"] == "b"])
    assert row_of(found, "flip_share", "b", "a").estimate.value == pytest.approx(flips)
    assert found.unit == "rate"
    assert "% of the decisions would be different had they been" in found.interpretation


def test_a_cutoff_judges_flips_and_shows_the_scores():
    rows = people(500)
    found = counterfactual_fairness(column("exam"), rows, BY_HAND, sensitive="group", cutoff=0.0)
    same = counterfactual_fairness(lambda t: np.asarray(t["exam"]) >= 0, rows, BY_HAND, sensitive="group")
    assert found.value == same.value
    assert row_of(found, "mean_score_change", "b", "a").estimate.value == pytest.approx(4.0)


def test_classes_flip_and_a_favourable_one_can_be_named():
    rows = people(500)

    def classed(table):
        return np.where(np.asarray(table["exam"]) > 1, "high", np.where(np.asarray(table["exam"]) > -3, "mid", "low"))

    any_class = counterfactual_fairness(classed, rows, BY_HAND, sensitive="group")
    high = counterfactual_fairness(classed, rows, BY_HAND, sensitive="group", positive="high")
    assert any_class.value.value > high.value.value > 0
    assert {row.measure for row in any_class.rows} == {"flip_share"}
    assert "Where the gap comes from" not in [panel.title for panel in any_class.panels]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_fitted_model_gets_the_columns_it_knows(frame):
    rows = people(300)
    table = frame({name: list(values) for name, values in rows.items()})
    linear = LinearRegression().fit(pd.DataFrame(rows)[["exam", "effort"]], rows["grade"])
    found = counterfactual_fairness(linear, table, BY_HAND, sensitive="group", threshold=0.1)
    assert found.value.value == pytest.approx(abs(4.0 * linear.coef_[0]), abs=1e-8)


def test_probabilities_of_a_classifier():
    rows = pd.DataFrame(people(300))
    model = LogisticRegression().fit(rows[["exam"]], rows["grade"] > 0)
    found = counterfactual_fairness(model.predict_proba, rows, BY_HAND, sensitive="group")
    assert found.threshold == 0.1
    before = model.predict_proba(rows[["exam"]])[:, 1]
    after = model.predict_proba(rows[["exam"]] + 4.0)[:, 1]
    expected = np.abs(after - before)[(rows["group"] == "b").to_numpy()].mean()
    assert row_of(found, "mean_absolute_change", "b", "a").estimate.value == pytest.approx(expected)


def test_features_of_a_mapping_reach_a_model_as_a_matrix():
    rows = people(200)
    linear = LinearRegression().fit(np.column_stack([rows["exam"], rows["effort"]]), rows["grade"])
    found = counterfactual_fairness(linear, rows, BY_HAND, sensitive="group", features=["exam", "effort"])
    assert found.value.value == pytest.approx(abs(4.0 * linear.coef_[0]), abs=1e-8)


def test_several_attributes_are_changed_together():
    rng = np.random.default_rng(0)
    rows = {"race": rng.choice(["x", "y"], 500), "sex": rng.choice(["f", "m"], 500)}
    rows["score"] = 2.0 * (rows["race"] == "y") + 1.0 * (rows["sex"] == "m") + rng.normal(size=500)
    known = {"score": {"race": {"x": 0, "y": 2}, "sex": {"f": 0, "m": 1}}}
    model = CausalModel([("race", "score"), ("sex", "score")], mechanisms=known)
    found = counterfactual_fairness(column("score"), rows, model, sensitive=["race", "sex"])
    assert found.attributes == ("race", "sex")
    assert found.value.value == pytest.approx(3.0)
    assert {(r.group, r.against) for r in found.rows if r.estimate and abs(r.estimate.value - 3) < 1e-9} >= {
        (("x", "f"), "y, m"),
        (("y", "m"), "x, f"),
    }
    alone = counterfactual_fairness(column("score"), rows, model, sensitive="sex")
    assert alone.value.value == pytest.approx(1.0)


def test_categories_that_follow_are_drawn_with_a_seed():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], 600)
    rows = {"group": group, "passed": (rng.random(1200) < np.where(group == "a", 0.7, 0.4)).astype(int)}

    def find(seed):
        return counterfactual_fairness(
            column("passed"), rows, "group -> passed", sensitive="group", refits=10, random_state=seed
        )

    found = find(0)
    assert found.value.value == pytest.approx(0.3, abs=0.05)
    assert found.settings["noise_draws"] == 10
    assert find(0) == found
    assert find(1).value != found.value


# --- intervals, verdicts, notes


def test_the_seed_decides_and_processes_do_not():
    rows = people(200)
    model = CausalModel(GRAPH).fit(rows)
    one, two = (
        counterfactual_fairness(column("exam"), rows, model, sensitive="group", refits=8, n_jobs=jobs)
        for jobs in (None, 2)
    )
    assert one == two
    other = counterfactual_fairness(column("exam"), rows, model, sensitive="group", refits=8, random_state=5)
    assert other.value.value == one.value.value
    assert other.value.high != one.value.high


def test_an_effect_of_nothing_is_not_found_and_its_interval_begins_at_0():
    rng = np.random.default_rng(3)
    rows = {"group": rng.choice(["a", "b"], 400), "x": rng.normal(size=400)}
    found = counterfactual_fairness(column("x"), rows, "group -> x", sensitive="group", refits=60, threshold=0.0)
    assert found.value.low == 0
    assert found.value.value > 0
    assert found.verdict == "inconclusive"  # no finite sample shows that there is none at all
    assert found.p_value > 0.05


def test_the_interval_covers():
    """In 95 of 100 samples the truth should lie within; of these 30 in 26 at the least, but for rare chance."""
    hits = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        group = rng.choice(["a", "b", "c"], 150)
        x = np.select([group == "b", group == "c"], [0.3, 0.9], 0.0) + rng.normal(size=150)
        rows = {"group": group, "x": x}
        found = counterfactual_fairness(column("x"), rows, "group -> x", sensitive="group", refits=25)
        hits += found.value.low <= 0.9 <= found.value.high
    assert hits >= 26


def test_no_pass_rests_on_a_small_group_and_no_fail_on_a_single_person():
    rng = np.random.default_rng(0)
    rows = {"group": np.array(["a"] * 200 + ["b"] * 200 + ["c"]), "x": rng.normal(0, 0.01, 401)}
    rows["x"][-1] = 50.0
    found = counterfactual_fairness(column("x"), rows, "group -> x", sensitive="group", refits=20, threshold=1.0)
    assert found.verdict == "inconclusive"
    assert any("Fewer than 30 people: group = c" in note for note in found.notes)
    assert math.isinf(row_of(found, "mean_absolute_change", "a", "c").estimate.high)
    eh.Cube.count(prediction=[1, 0], sensitive=["a", "b"]).audit().add(found).to_dict()


def test_the_threshold_of_numbers_follows_their_range_unless_it_is_given():
    rows = people(500)
    found = counterfactual_fairness(lambda t: 1000 * np.asarray(t["exam"]), rows, BY_HAND, sensitive="group")
    low, high = np.quantile(1000 * rows["exam"], (0.025, 0.975))
    assert found.threshold == pytest.approx(0.1 * (high - low))
    assert any("a tenth of the range" in note for note in found.notes)
    policy = eh.Policy(thresholds={"counterfactual_fairness": 5000.0})
    by_policy = counterfactual_fairness(
        lambda t: 1000 * np.asarray(t["exam"]), rows, BY_HAND, sensitive="group", policy=policy
    )
    assert (by_policy.threshold, by_policy.verdict) == (5000.0, "pass")


def test_the_place_of_the_attribute_is_told():
    rows = people(100)
    graph = [("effort", "group"), ("group", "exam")]
    coded = {**rows, "group": (rows["group"] == "b").astype(float)}
    found = counterfactual_fairness(column("exam"), coded, graph, sensitive="group", **QUICK)
    assert any("group is itself caused by 'effort'" in note for note in found.notes)
    assert any("Not in the graph, so left as they are: 'grade'" in note for note in found.notes)
    nothing = counterfactual_fairness(column("exam"), rows, "effort -> exam; group", sensitive="group", **QUICK)
    assert any("causes nothing in this graph" in note for note in nothing.notes)
    assert nothing.verdict == "pass"


def test_an_attribute_that_is_caused_by_something_is_moved_alone():
    rows = people(300)
    known = {"exam": {"group": {"a": 0, "b": -4}, "effort": 2.0}}
    graph = [("effort", "group"), ("group", "exam"), ("effort", "exam")]
    found = counterfactual_fairness(
        column("exam"), rows, CausalModel(graph, mechanisms=known), sensitive="group", threshold=1.0
    )
    assert found.value.value == pytest.approx(4.0, abs=1e-8)


def test_numbers_that_look_like_names_are_told_of():
    rng = np.random.default_rng(0)
    rows = {"race": rng.integers(1, 4, 200), "x": rng.normal(size=200)}
    found = counterfactual_fairness(column("x"), rows, "race -> x", sensitive="race", **QUICK)
    assert any("categorical=['race']" in note for note in found.notes)


def test_it_joins_an_audit_and_survives_saving(tmp_path):
    rows = people(300)
    found = counterfactual_fairness(column("exam"), rows, CausalModel(GRAPH), sensitive="group", **QUICK)
    audit = eh.audit(prediction=(rows["exam"] > 0).astype(int), sensitive={"group": rows["group"]}).add(found)
    audit.save(tmp_path / "audit.json")
    again = eh.Audit.load(tmp_path / "audit.json").findings[-1]
    assert (again.metric, again.verdict, again.value) == (found.metric, found.verdict, found.value)
    assert [panel.title for panel in again.panels] == [panel.title for panel in found.panels]
    assert {panel.kind for panel in found.panels} == {"table", "pairs", "distribution"}


@pytest.mark.parametrize("name", ["script", "rich-close", "ansi", "formula", "rtl-override", "long"])
def test_hostile_group_names_are_only_names(name):
    rows = people(80)
    rows["group"] = np.where(rows["group"] == "b", NAMES[name], "plain")
    found = counterfactual_fairness(column("exam"), rows, GRAPH, sensitive="group", **QUICK)
    assert {row.group[0] for row in found.rows} == {NAMES[name], "plain"}
    audit = eh.audit(prediction=(rows["exam"] > 0).astype(int), sensitive={"group": rows["group"]}).add(found)
    assert "\x1b" not in str(audit)


# --- the confounder that would change it


def test_how_strong_a_confounder_must_be_is_right_in_a_linear_model():
    """exam differs by 4, its noise has a deviation of 1: to come within 1, 3 deviations must be made up."""
    rows = people(2000)
    found = counterfactual_fairness(column("exam"), rows, BY_HAND, sensitive="group", threshold=1.0)
    spread = rows["u_exam"].std()
    told = next(note for note in found.notes if "unobserved common cause" in note)
    assert f"a difference of {3.0 / spread:.2g} standard deviations" in told
    rising = counterfactual_fairness(column("exam"), rows, BY_HAND, sensitive="group", threshold=4.5)
    assert rising.verdict == "pass"
    told = next(note for note in rising.notes if "unobserved common cause" in note)
    assert f"a difference of {0.5 / spread:.2g} standard deviations" in told


def test_no_confounder_excuses_a_direct_use():
    found = counterfactual_fairness(inside, people(), BY_HAND, sensitive="group")
    told = next(note for note in found.notes if "unobserved common cause" in note)
    assert told.startswith("No unobserved common cause")


def test_the_robustness_value_is_that_of_cinelli_and_hazlett():
    from evenhand.counterfactual.confounding import robustness

    for strength, share in ((0.5, 0.5), (2.0, 0.1)):
        f2 = (strength * math.sqrt(share * (1 - share))) ** 2
        r = robustness(strength, share)
        assert r**2 / (1 - r) == pytest.approx(f2)
    assert robustness(math.inf, 0.5) == 1.0


# --- residual checks


def test_a_mechanism_that_does_not_fit_is_told_of():
    rng = np.random.default_rng(0)
    rows = {"group": rng.choice(["a", "b"], 600), "z": rng.uniform(-2, 2, 600)}
    rows["x"] = (rows["group"] == "b") + rows["z"] ** 2 + 0.1 * rng.normal(size=600)
    curved = counterfactual_fairness(column("x"), rows, "{group z} -> x", sensitive="group", **QUICK)
    assert any("not independent of the causes in x" in note for note in curved.notes)
    rows["x"] = (rows["group"] == "b") + rows["z"] + 0.5 * rng.normal(size=600)
    straight = counterfactual_fairness(column("x"), rows, "{group z} -> x", sensitive="group", **QUICK)
    assert any("in 600 rows there is no evidence that the noise depends" in note for note in straight.notes)
    checks = next(panel for panel in straight.panels if panel.title == "Residual checks")
    assert checks.rows[0][0] == "x"


def test_a_common_cause_that_the_graph_lacks_shows_in_the_noises():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=500)
    rows = {"group": rng.choice(["a", "b"], 500)}
    rows["x"], rows["y"] = (hidden + rng.normal(size=500) + (rows["group"] == "b") for _ in range(2))
    found = counterfactual_fairness(column("x"), rows, "group -> {x y}", sensitive="group", **QUICK)
    assert any("Noises are correlated" in note for note in found.notes)


def test_the_independence_test_counts_permutations_as_one_by_one():
    from evenhand.counterfactual.residual_checks import _FEATURES, PERMUTATIONS, features, independence

    x, y = np.random.default_rng(5).normal(size=(2, 90, 1))
    y = y + 0.3 * x
    rng = np.random.default_rng(6)
    a, b = (features(table, count, rng) for table, count in zip((x, y), _FEATURES, strict=True))
    least = ((a.T @ b) ** 2).sum()
    reached = sum(((a[rng.permutation(len(a))].T @ b) ** 2).sum() >= least for _ in range(PERMUTATIONS))
    assert 0 < reached < PERMUTATIONS
    assert independence(x, y, np.random.default_rng(6))[1] == (1 + reached) / (1 + PERMUTATIONS)


def test_the_independence_test_keeps_its_level():
    from evenhand.counterfactual.residual_checks import independence

    rng = np.random.default_rng(0)
    found = [independence(*rng.normal(size=(2, 60, 1)), rng)[1] for _ in range(60)]
    assert np.mean(np.array(found) <= 0.05) <= 0.15
    x = rng.normal(size=(200, 1))
    assert independence(x, x**2, rng)[1] <= 0.01
    assert independence(x, np.ones((200, 1)), rng) == (0.0, 1.0)


# --- the split of a gap


def test_the_parts_of_a_linear_model_are_products_along_the_paths():
    rng = np.random.default_rng(0)
    n = 4000
    cause = rng.normal(size=n)
    group = (cause + rng.normal(size=n) > 0).astype(float)
    exam = 2.0 * group + 1.0 * cause + rng.normal(size=n)
    grade = 0.5 * group + 0.25 * exam - 0.3 * cause + rng.normal(size=n)
    rows = {"cause": cause, "group": group, "exam": exam, "grade": grade}
    known = {
        "exam": {"group": 2.0, "cause": 1.0},
        "grade": {"group": 0.5, "exam": 0.25, "cause": -0.3},
    }
    edges = [("cause", "group"), *((c, "exam") for c in known["exam"]), *((c, "grade") for c in known["grade"])]
    # The group itself is caused, so it gets a mechanism too; it is never moved by it here.
    model = CausalModel(edges, mechanisms=known)
    (split,) = decompose("grade", rows, model, sensitive="group", reference="1", refits=0)
    assert split.direct.value == pytest.approx(0.5, abs=1e-8)
    assert split.indirect.value == pytest.approx(2.0 * 0.25, abs=1e-8)
    gap = grade[group == 1].mean() - grade[group == 0].mean()
    assert split.gap.value == pytest.approx(gap, abs=1e-10)
    assert split.spurious.value == pytest.approx(gap - 1.0, abs=1e-8)
    expected = (1.0 * 0.25 - 0.3) * (cause[group == 1].mean() - cause[group == 0].mean())
    assert split.spurious.low < expected < split.spurious.high


def test_the_parts_of_a_predictor_sum_to_its_gap_and_are_in_the_finding():
    rows = people(600)

    def predict(table):
        return 0.5 * np.asarray(table["exam"]) + 3.0 * inside(table)

    (split,) = decompose(predict, rows, CausalModel(GRAPH), sensitive="group", reference="a", refits=20)
    parts = split.direct.value + split.indirect.value + split.spurious.value
    assert parts == pytest.approx(split.gap.value)
    assert split.direct.value == pytest.approx(-3.0)
    assert split.indirect.value == pytest.approx(2.0, abs=0.3)
    assert split.indirect.low < 2.0 < split.indirect.high
    found = counterfactual_fairness(predict, rows, CausalModel(GRAPH), sensitive="group", reference="a", **QUICK)
    panel = next(panel for panel in found.panels if panel.title == "Where the gap comes from")
    assert panel.rows[0][:2] == ("b", "a")
    assert panel.rows[0][3] == pytest.approx(-3.0)
    assert "direct -3" in found.notes[0] or "direct -3" in found.notes[1]


def test_the_baseline_is_the_largest_group_or_the_one_named():
    rng = np.random.default_rng(0)
    rows = {"group": np.repeat(["a", "b", "c"], [50, 100, 70]), "x": rng.normal(size=220)}
    splits = decompose("x", rows, "group -> x", sensitive="group", refits=0)
    assert [(s.group, s.baseline) for s in splits] == [(("a",), ("b",)), (("c",), ("b",))]
    named = decompose("x", rows, "group -> x", sensitive="group", reference={"group": "c"}, refits=0)
    assert {split.baseline for split in named} == {("c",)}
    with pytest.raises(CallError, match="is not a group; did you mean"):
        decompose("x", rows, "group -> x", sensitive="group", reference="aa", refits=0)


def test_what_cannot_be_split_is_refused():
    with pytest.raises(CallError, match="cannot be split: it and all"):
        decompose("group", people(), GRAPH, sensitive="group")
    with pytest.raises(CallError, match="not a node of the graph"):
        decompose("grades", people(), GRAPH, sensitive="group")


# --- the flip test


def test_the_flip_test_sees_only_the_column_and_says_so():
    rows = people()
    through = flip_test(column("exam"), rows, sensitive="group")
    assert (through.metric, through.verdict, through.value.value) == ("flip_test", "pass", 0.0)
    assert "Only the column of the attribute was changed" in through.notes[0]
    direct = flip_test(lambda t: 0.4 * inside(t), rows, sensitive="group")
    assert (direct.verdict, direct.value.value) == ("fail", pytest.approx(0.4))
    assert "if only the column said" in direct.interpretation


def test_the_flip_test_is_the_direct_part():
    rows = people()

    def predict(table):
        return np.asarray(table["exam"]) * (1 + inside(table))

    found = flip_test(predict, rows, sensitive="group")
    (split,) = decompose(predict, rows, BY_HAND, sensitive="group", reference="a")
    assert row_of(found, "mean_change", "b", "a").estimate.value == pytest.approx(split.direct.value)


# --- what is wrong with a call


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sensitive": "grup"}, "not a node of the graph; did you mean 'group'"),
        ({"sensitive": []}, "must name one attribute"),
        ({"sensitive": ["group", "group"]}, "each once"),
        ({"sensitive": "effort"}, "Cut it into bands first"),
        ({"refits": -1}, "refits=-1 must be a whole number"),
        ({"refits": 2.5}, "refits=2.5 must be"),
        ({"noise_draws": 0}, "noise_draws=0 must be"),
        ({"threshold": -1}, "threshold=-1 must be"),
        ({"confidence": 2}, "confidence=2 must be"),
        ({"features": ["nope"]}, "needs a column 'nope'"),
        ({"predict": 3}, "predict must be a fitted model or a function"),
        ({"predict": lambda t: [1, 2]}, "one value a row"),
        ({"predict": lambda t: np.full(len(t["exam"]), np.nan)}, "gave no number"),
        ({"predict": lambda t: np.asarray(["x"] * len(t["exam"])), "cutoff": 1.0}, "names of classes"),
        ({"reference": "z"}, "is not a group"),
        ({"model": "group -> nothing"}, "'nothing' that is not a column"),
        ({"model": "group -> exam -> group"}, "cycle"),
        ({"data": "people.csv"}, "rows in memory"),
    ],
)
def test_a_call_that_is_wrong_says_what_to_do(change, told):
    arguments = {"predict": column("exam"), "data": people(60), "model": GRAPH, "sensitive": "group", "refits": 2}
    arguments |= change
    predict, data, model = (arguments.pop(name) for name in ("predict", "data", "model"))
    with pytest.raises((CallError, DataError), match=told):
        counterfactual_fairness(predict, data, model, **arguments)


def test_one_group_is_nothing_to_compare():
    rows = {name: values[people()["group"] == "a"] for name, values in people().items()}
    with pytest.raises(DataError, match="one group only"):
        counterfactual_fairness(column("exam"), rows, GRAPH, sensitive="group")
    with pytest.raises(DataError, match="one group only"):
        flip_test(column("exam"), rows, sensitive="group")


def test_missing_groups_are_an_error_that_counts_them():
    rows = people(50)
    rows["group"] = [None, None, *rows["group"][2:].tolist()]
    with pytest.raises(DataError, match="missing in 2 rows"):
        counterfactual_fairness(column("exam"), rows, GRAPH, sensitive="group")
    with pytest.raises(DataError, match="missing in 2 rows"):
        flip_test(column("exam"), rows, sensitive="group")


def test_predict_is_asked_once_for_people_as_they_are_and_sees_only_its_features():
    """A refit moves people; what was predicted for them before, and with the attribute alone set, stays."""
    rows, seen = people(), []

    def predict(table):
        seen.append((tuple(table), len(table["exam"])))
        return np.asarray(table["exam"], dtype=float)

    count, groups = len(rows["exam"]), 2
    decompose(predict, rows, CausalModel(GRAPH), sensitive="group", features=["exam"], refits=5)
    assert seen == [(("exam",), count)] * (3 + 5)
    seen.clear()
    counterfactual_fairness(
        predict, rows, CausalModel(GRAPH), sensitive="group", features=["exam"], refits=5, threshold=2.0, noise_draws=1
    )
    everyone = [each for each in seen if each[1] == count]
    assert len(everyone) == 1 + groups + 1 + 5 * groups
    assert {names for names, _ in seen} == {("exam",)}


def test_no_features_at_all_is_an_error():
    with pytest.raises(CallError, match="features= is empty"):
        flip_test(column("exam"), people(), sensitive="group", features=[])


def test_one_feature_and_duplicates_are_enough():
    rows = {"group": ["a", "a", "b", "b"] * 10, "x": [1.0, 1.0, 3.0, 3.0] * 10}
    found = counterfactual_fairness(column("x"), rows, "group -> x", sensitive="group", threshold=1.0, **QUICK)
    assert (found.verdict, found.value.value) == ("fail", pytest.approx(2.0))
