"""What a page computes with, and the rule that no cell of only a few people leaves in a file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.audits import page_counts, recomputation
from evenhand.core.records import pack
from evenhand.cube import cutoffs, privacy
from evenhand.errors import CallError
from evenhand.inference import critical
from evenhand.measures.cells import MEASURES
from evenhand.report import json as report_json
from support import hostile, page_data
from support.profiles import examples
from support.strategies import cubes

COMPAS = {"label": "recidivated", "score": "decile", "count": "count"}
PLAIN = ("equalized_odds", "demographic_parity", "disparate_impact", "average_odds", "balanced_accuracy_equality")


def build(audit: eh.Audit) -> dict[str, Any]:
    return audit.recomputation.page_data()


def compas(**arguments: Any) -> eh.Audit:
    usual = {"cutoff": 5, "sensitive": "race", "metrics": (*PLAIN, "auc_parity")}
    return eh.audit(eh.datasets.compas(), **COMPAS, **{**usual, **arguments})


def strange_roles(seed: int) -> dict[str, Any]:
    """Few rows of scores, so that most cells are small."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 400))
    score = np.round(rng.random(n), int(rng.integers(1, 4)))
    label = rng.integers(0, 2, n).astype(object)
    roles: dict[str, Any] = {
        "label": np.where(rng.random(n) < 0.1, None, label),
        "score": score,
        "sensitive": {"g": rng.choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1]), "h": rng.choice(["x", "y", None], n)},
    }
    if rng.random() < 0.4:
        roles |= {"prediction": rng.integers(0, 2, n), "score": np.where(rng.random(n) < 0.2, np.nan, score)}
    if "prediction" not in roles or rng.random() < 0.5:
        roles["cutoff"] = float(rng.choice([0.05, 0.5, 0.9, 0.333]))
    if rng.random() < 0.5:
        roles["weight"] = rng.gamma(2.0, 1.0, n)
    if rng.random() < 0.3:
        roles["higher_is"] = "negative"
    return roles


# --- what a page is given


def test_a_page_is_given_tables_and_a_packed_cube():
    told = build(compas())
    assert sorted(told) == ["cube", "notes", "tables"]
    assert re.fullmatch("[A-Za-z0-9+/]+=*", told["cube"])
    json.dumps(told, allow_nan=False)
    tables = told["tables"]
    assert [row["name"] for row in tables["measures"]] == list(MEASURES)
    rows = {row["name"]: row for row in tables["measures"]}
    assert rows["f1"]["top"] == [0, 0, 0, 2, 0, 0, 0, 0]
    assert rows["f1"]["form"] == {"top": [0, 0, 0, 1, 0, 0, 0, 0], "rest": [0, 1, 1, 0, 0, 0, 0, 0]} | {
        "alpha": 2.0,
        "beta": 1.0,
        "gamma": 2.0,
    }
    assert rows["balanced_accuracy"]["of"] == ["true_positive_rate", "true_negative_rate"]
    assert rows["count"]["total"]
    assert tables["attribute_sets"] == [["race"]]


def test_only_findings_of_plain_measures_are_recomputed():
    audit = compas()
    plans = build(audit)["tables"]["plans"]
    assert [plan["metric"] for plan in plans] == [found.metric for found in audit.findings if found.metric in PLAIN]
    assert [audit.findings[plan["finding"]].metric for plan in plans] == [plan["metric"] for plan in plans]
    odds = next(plan for plan in plans if plan["metric"] == "equalized_odds")
    assert odds["measures"] == ["true_positive_rate", "false_positive_rate"]
    assert (odds["judged_on"], odds["threshold"], odds["aggregate"]) == ("difference", 0.1, "worst")
    assert (odds["against"], odds["against_name"], odds["reference"], odds["kind"]) == ("extremes", None, None, "pairs")


def test_a_finding_that_somebody_added_is_not_recomputed_from_other_counts():
    audit = compas()
    others = eh.demographic_parity(prediction=[1, 0, 0, 1] * 20, sensitive={"race": ["Asian", "Other"] * 40})
    otherwise = eh.demographic_parity(audit.cube, reference="Asian")
    tool = eh.demographic_parity(audit.cube, convention="fairlearn")
    same = eh.demographic_parity(audit.cube, threshold=0.5)
    plans = build(audit.add(others, otherwise, tool, same))["tables"]["plans"]
    first = len(audit.findings)
    assert [plan["finding"] for plan in plans if plan["finding"] >= first] == [first + 3]
    assert plans[-1]["threshold"] == 0.5


def test_plans_follow_the_policy():
    policy = eh.Policy(
        thresholds={"demographic_parity": None},
        judged_on={"equalized_odds": "ratio"},
        familywise="audit",
        confidence=0.9,
    )
    audit = compas(sensitive=("race", "sex"), policy=policy, reference={"race": "Asian"}, min_group_size=7)
    plans = build(audit)["tables"]["plans"]
    found = {(plan["metric"], *plan["attributes"]): plan for plan in plans}
    assert found["demographic_parity", "race"]["threshold"] is None
    assert found["equalized_odds", "race"]["judged_on"] == "ratio"
    assert found["equalized_odds", "race"]["reference"] == ["Asian"]
    assert found["equalized_odds", "sex"]["against"] == "extremes"
    assert found["equalized_odds", "race", "sex"]["reference"] is None
    assert {plan["min_group_size"] for plan in plans} == {7}
    asked = [finding.settings["confidence"] for finding in audit.findings if finding.metric in PLAIN]
    assert [plan["confidence"] for plan in plans] == asked


def test_critical_values_are_those_of_python():
    tables = build(compas())["tables"]
    near, far = (tables["critical"]["pairs 0.95 2"][side] for side in ("near", "far"))
    assert near[6] == pytest.approx(critical.tukey(6, 0.95**0.5), abs=1e-12)
    assert far[6] == pytest.approx(critical.one_sided(near[6], 0.95), abs=1e-11)
    assert tables["own"] == pytest.approx([critical.sidak(count, 0.95) for count in range(7)], abs=1e-12)


@pytest.mark.parametrize("most", [25, 60, 1000])
def test_critical_values_of_many_groups_are_smooth(most):
    values = recomputation.tukey(0.95, most)
    assert len(values) == most + 1
    for count in sorted({25, (25 + most) // 2, 2 * most // 3, most - 1, most}):
        assert values[count] == pytest.approx(critical.tukey(count, 0.95), abs=1e-8)


@hostile.every_name_in_memory
def test_hostile_names_stay_names(name):
    told = build(eh.audit(
        prediction=[0, 1] * 40, label=[0, 0, 1, 1] * 20, sensitive={name: [name, "b"] * 20 + ["b", name] * 20},
        metrics=["demographic_parity"],
    ))  # fmt: skip
    assert re.fullmatch("[A-Za-z0-9+/]+=*", told["cube"])
    cube = page_data.unpack(told["cube"])
    assert cube["sensitive"] == [name]
    assert cube["groups"] in ([[name], ["b"]], [["b"], [name]])
    assert told["tables"]["attribute_sets"] == [[name]]


def test_without_the_cube_only_results_leave():
    told = compas().recomputation.page_data(embed_cube=False)
    assert told["cube"] is None
    assert told["tables"]["plans"] == []
    assert told["notes"] == []


def test_strata_are_shown_and_not_recomputed():
    audit = compas(sensitive="race", control="sex")
    told = build(audit)
    assert told["tables"]["plans"] == []
    cube = page_data.unpack(told["cube"])
    assert cube["groups"] == [list(group) for group in audit.cube.marginal(control=False).groups]
    assert len(cube["n"]) == 9 * len(cube["groups"])


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_other_tasks_embed_nothing_to_recompute(task):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 300)) if task == "regression" else rng.choice(["p", "q", "r"], (2, 300))
    audit = eh.audit(label=values[0], prediction=values[1], sensitive=rng.choice(["a", "b"], 300), task=task)
    told = build(audit)
    assert told["cube"] is None
    assert told["tables"]["plans"] == []
    assert told["tables"]["attribute_sets"] == [["sensitive"]]
    json.dumps(told, allow_nan=False)


def test_no_findings_at_all():
    told = build(replace(compas(sensitive=("race", "sex")), findings=()))
    assert told["tables"]["plans"] == []
    assert told["tables"]["attribute_sets"] == [["race"], ["sex"], ["race", "sex"]]
    assert told["cube"] is not None


def test_a_loaded_audit_can_be_recomputed(tmp_path):
    audit = compas()
    audit.save(tmp_path / "audit.json")
    first, again = (build(one) for one in (audit, eh.Audit.load(tmp_path / "audit.json")))
    assert again == first
    assert again["notes"]


# --- the slider


@pytest.mark.parametrize("cutoff", [1, 4.5, 5, 10, 11])
def test_the_audited_cutoff_is_a_stop(cutoff):
    cube = page_data.embedded(compas(cutoff=cutoff).cube)
    stops, audited = cutoffs.stops(cube)
    assert stops[audited] == cutoff
    assert (np.diff(stops) > 0).all()
    assert np.array_equal(page_data.decided(cube, audited).n, cube.n)


def test_where_a_prediction_decides_no_stop_was_audited():
    roles = strange_roles(0) | {"prediction": np.zeros(len(strange_roles(0)["score"])), "cutoff": None}
    cube = eh.Cube.count(**roles)
    assert cutoffs.stops(cube)[1] == -1
    assert page_data.decided(cube, -1) is cube


def test_a_cutoff_decides_as_a_new_count_would():
    data = eh.datasets.compas()
    scored = eh.Cube.count(data, **COMPAS, sensitive=["race", "sex"], cutoff=5)
    for stop, cutoff in enumerate(cutoffs.stops(scored)[0][:-1]):
        anew = eh.Cube.count(data, **COMPAS, sensitive=["race", "sex"], cutoff=float(cutoff))
        assert np.array_equal(page_data.decided(scored, stop).n, anew.n)
    assert page_data.decided(scored, 10).measures()["selection_rate"].max() == 0


def test_a_large_cube_is_cut_into_fewer_bins(monkeypatch):
    rng = np.random.default_rng(0)
    score, group = rng.random(20_000), rng.integers(0, 20, 20_000)
    cube = eh.Cube.count(score=score, label=rng.random(20_000) < score, sensitive=group, cutoff=0.37, positive=True)
    whole = page_data.embedded(cube)
    size = len(pack(page_counts.cells(whole)))
    assert size < page_counts.MOST_BYTES
    monkeypatch.setattr(page_counts, "MOST_BYTES", size // 2)
    short = page_data.embedded(cube)
    assert short.scores.bins.count < whole.scores.bins.count
    assert np.array_equal(short.n, whole.n)
    assert 0.37 in cutoffs.stops(short)[0]


# --- privacy


def smallest(values: np.ndarray) -> int:
    return int(values[values > 0].min()) if (values > 0).any() else 10**9


def hides(cube: eh.Cube, least: int) -> bool:
    scores = 10**9 if cube.scores is None or not len(cube.scores.n) else int(cube.scores.n.min())
    return min(smallest(cube.n), scores) >= least


@pytest.mark.parametrize("seed", range(40))
def test_no_cell_of_a_few_people_leaves(seed):
    least = 2 + seed % 6
    cube = eh.Cube.count(**strange_roles(seed))
    shared = privacy.shared(cube, least)
    assert hides(shared, least)
    assert privacy.shared(shared, least) == shared
    assert hides(page_data.embedded(cube, least), least)
    kept(cube, shared, least)
    if cube.meaning.prediction is None:
        place = cutoffs.stops(shared)[1]
        assert np.array_equal(page_data.decided(shared, place).n, shared.n)
        assert shared.scores.reading.cutoff == cube.scores.reading.cutoff


def kept(cube: eh.Cube, shared: eh.Cube, least: int) -> None:
    """People by group and label stay, but for those of whom there are too few; a decision moves by half of `least`."""
    before, after = cube.n.sum(axis=2), shared.n.sum(axis=2)
    few = (before > 0) & (before < least)
    assert np.array_equal(np.where(few, 0, before), after)
    assert shared.facts.get("cells_left_out", 0) == int(before[few].sum()) == cube.size - shared.size
    if cube.w is not None:
        weight = np.where(few, 0, cube.w.sum(axis=2))
        np.testing.assert_allclose(shared.w.sum(axis=2), weight, rtol=1e-9, atol=1e-12)
    decided = ~few & (shared.n[:, :, 2] == cube.n[:, :, 2])
    moved = np.abs(shared.n - cube.n)[decided]
    assert moved.size == 0 or moved.max() <= least / 2
    held = shared.n[:, :, 2] - np.where(few, 0, cube.n[:, :, 2])
    assert (held >= 0).all()
    assert held.max() < 2 * least


@pytest.mark.parametrize("seed", range(12))
def test_sums_of_scores_stay_with_their_people(seed):
    cube = eh.Cube.count(**strange_roles(seed))
    shared = privacy.shared(cube)
    rows = []
    for table in (cube.coarsen().scores, shared.scores):
        found = table.dense(len(cube.pairs))
        rows.append({name: values.sum(axis=2) for name, values in found.items()})
    there = rows[1]["n"] > 0
    for name in rows[0]:
        np.testing.assert_allclose(rows[1][name][there], rows[0][name][there], rtol=1e-9)
    lost = rows[0]["n"][~there]
    assert lost.size == 0 or lost.max() < 2 * privacy.LEAST


@examples(60)
@given(cubes(), st.integers(1, 9))
def test_any_cube_without_scores_hides_its_small_cells(cube, least):
    shared = privacy.shared(cube, least)
    assert hides(shared, least)
    assert privacy.shared(shared, least) == shared
    assert least > 1 or shared == cube
    kept(cube, shared, least)


def test_the_rule_by_hand():
    counts = {"a": (97, 3), "b": (96, 2), "c": (6, 3), "d": (2, 1), "e": (50, 50)}
    cube = eh.Cube.count(
        prediction=[0, 1] * 5, sensitive=[name for name in counts for _ in range(2)], count=[*sum(counts.values(), ())]
    )
    shared = privacy.shared(cube)
    assert shared.n[:, 2].tolist() == [[95, 5, 0], [98, 0, 0], [0, 0, 9], [0, 0, 0], [50, 50, 0]]
    assert {name: shared.facts[name] for name in privacy.FACTS if name in shared.facts} == {
        "cells_left_out": 3,
        "cells_withheld": 9,
        "cells_moved": 4,
    }
    (note,) = privacy.notes(shared)
    assert "no cell of fewer than 5 people" in note
    assert "3 people are left out; 9 are counted without their decision or score; 4 count with" in note
    assert privacy.notes(privacy.shared(cube, 1)) == []


def test_scores_are_joined_on_their_side_of_the_cutoff():
    cube = eh.Cube.count(
        score=[1, 2, 3, 4, 5, 6], count=[2, 2, 4, 1, 3, 40], cutoff=4, sensitive=["a"] * 6, missing="group"
    )
    shared = privacy.shared(cube)
    assert dict(zip(shared.scores.bin.tolist(), shared.scores.n.tolist(), strict=True)) == {1: 8, 5: 44}
    assert shared.n[0, 2].tolist() == [8, 44, 0]
    assert shared.scores.sums["s"].sum() == cube.scores.sums["s"].sum()


def test_calibration_bins_stay_where_they_hold_enough():
    cube = eh.Cube.count(
        score=[0.05, 0.15, 0.17, 0.25, 0.29],
        count=[7, 3, 4, 2, 9],
        label=[0] * 5,
        sensitive=["a"] * 5,
        score_range=(0, 1),
    )
    shared = privacy.shared(cube)
    assert dict(zip(shared.scores.bin.tolist(), shared.scores.n.tolist(), strict=True)) == {0: 7, 2: 7, 4: 11}


def test_the_json_of_an_audit_holds_the_shared_cube(tmp_path):
    audit = compas(sensitive=("race", "sex"))
    told = json.loads(report_json.dumps(audit))
    assert min(told["cube"]["decisions"]["n"]) >= 5
    assert min(told["cube"]["scores"]["n"]) >= 5
    audit.save(tmp_path / "audit.json")
    loaded = eh.Audit.load(tmp_path / "audit.json")
    assert loaded.cube == privacy.shared(audit.cube)
    assert loaded.notes == (*audit.notes, *privacy.notes(loaded.cube))
    assert "6 people are left out" in str(loaded)


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_other_tasks_hide_small_cells_too(task):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 200)) if task == "regression" else rng.choice(["p", "q", "r", "s"], (2, 200))
    group = rng.choice(["a", "b", "c"], 200, p=[0.8, 0.18, 0.02])
    cube = eh.Cube.count(label=values[0], prediction=values[1], sensitive=group, task=task)
    assert not hides(cube, 5)
    shared = privacy.shared(cube)
    assert hides(shared, 5)
    assert privacy.shared(shared) == shared
    assert 200 - shared.size == shared.facts.get("cells_left_out", 0)
    if shared.scores is not None:
        assert shared.scores.n.sum() == shared.size
    assert shared.audit(metrics=["ks_distance" if task == "regression" else "equalized_odds"]).findings


@pytest.mark.parametrize("least", [0, -1, 2.5, True, "5"])
def test_a_strange_minimum_is_an_error(least):
    with pytest.raises(CallError, match="must be a whole number of people"):
        privacy.shared(compas().cube, least)
