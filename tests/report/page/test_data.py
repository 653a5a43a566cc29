"""What a page computes with."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.audits import page_counts, recomputation
from evenhand.core.records import pack
from evenhand.cube import cutoffs
from evenhand.inference import critical
from evenhand.measures.cells import MEASURES
from support import hostile, page_data

COMPAS = {"label": "recidivated", "score": "decile", "count": "count"}
PLAIN = ("equalized_odds", "demographic_parity", "disparate_impact", "average_odds", "balanced_accuracy_equality")


def build(audit: eh.Audit) -> dict[str, Any]:
    return audit.recomputation.page_data()


def compas(**arguments: Any) -> eh.Audit:
    usual = {"cutoff": 5, "sensitive": "race", "metrics": (*PLAIN, "auc_parity")}
    return eh.audit(eh.datasets.compas(), **COMPAS, **{**usual, **arguments})


# --- what a page is given


def test_a_page_is_given_tables_and_a_packed_cube():
    told = build(compas())
    assert sorted(told) == ["counts", "tables"]
    assert re.fullmatch("[A-Za-z0-9+/]+=*", told["counts"])
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
    families = [finding.settings["family"] for finding in audit.findings if finding.metric in PLAIN]
    assert set(families) == {1, 10}
    assert [plan["levels"] for plan in plans] == [[0.9, pytest.approx(1 - 0.1 / family)] for family in families]


def test_critical_values_are_those_of_python():
    tables = build(compas())["tables"]
    near, far = (tables["critical"]["pairs 0.95 6 2"][side] for side in ("near", "far"))
    assert near[6] == pytest.approx(critical.tukey(6, (1 - 0.05 / 6) ** 0.5), abs=1e-12)
    assert far[6] == pytest.approx(critical.one_sided(near[6], 0.95), abs=1e-11)
    assert tables["own"] == pytest.approx([critical.sidak(count, 0.95) for count in range(7)], abs=1e-12)


@pytest.mark.parametrize("most", [25, 60, 1000])
def test_critical_values_of_many_groups_are_smooth(most):
    values = recomputation.tukey(0.95, most)
    assert len(values) == most + 1
    for count in sorted({25, (25 + most) // 2, 2 * most // 3, most - 1, most}):
        assert values[count] == pytest.approx(critical.tukey(count, 0.95), abs=1e-8)


@hostile.every_name
def test_hostile_names_stay_names(name):
    told = build(eh.audit(
        prediction=[0, 1] * 40, label=[0, 0, 1, 1] * 20, sensitive={name: [name, "b"] * 20 + ["b", name] * 20},
        metrics=["demographic_parity"],
    ))  # fmt: skip
    assert re.fullmatch("[A-Za-z0-9+/]+=*", told["counts"])
    (part,) = page_data.unpack(told["counts"])["parts"]
    assert part["sensitive"] == [name]
    assert part["groups"] in ([[name], ["b"]], [["b"], [name]])
    assert told["tables"]["attribute_sets"] == [[name]]


def test_without_the_cube_only_results_leave():
    told = compas().recomputation.page_data(embed_cube=False)
    assert told["counts"] is None
    assert told["tables"]["plans"] == []


def test_strata_are_shown_and_not_recomputed():
    audit = compas(sensitive="race", control="sex")
    told = build(audit)
    assert told["tables"]["plans"] == []
    (part,) = page_data.unpack(told["counts"])["parts"]
    assert part["groups"] == [list(group) for group in audit.cube.marginal(control=False).groups]
    assert len(part["n"]) == 9 * len(part["groups"])


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_other_tasks_embed_nothing_to_recompute(task):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 300)) if task == "regression" else rng.choice(["p", "q", "r"], (2, 300))
    audit = eh.audit(label=values[0], prediction=values[1], sensitive=rng.choice(["a", "b"], 300), task=task)
    told = build(audit)
    assert told["counts"] is None
    assert told["tables"]["plans"] == []
    assert told["tables"]["attribute_sets"] == [["sensitive"]]
    json.dumps(told, allow_nan=False)


def test_no_findings_at_all():
    told = build(replace(compas(sensitive=("race", "sex")), findings=()))
    assert told["tables"]["plans"] == []
    assert told["tables"]["attribute_sets"] == [["race"], ["sex"], ["race", "sex"]]
    assert told["counts"] is not None


def test_a_loaded_audit_can_be_recomputed(tmp_path):
    audit = compas()
    audit.save(tmp_path / "audit.json")
    first, again = (build(one) for one in (audit, eh.Audit.load(tmp_path / "audit.json")))
    assert again == first


# --- the slider


@pytest.mark.parametrize("cutoff", [1, 4.5, 5, 10, 11])
def test_the_audited_cutoff_is_a_stop(cutoff):
    audit = compas(cutoff=cutoff)
    (cube,) = page_data.embedded(audit)
    stops, audited = cutoffs.stops(cube)
    assert stops[audited] == cutoff
    assert (np.diff(stops) > 0).all()
    assert np.array_equal(page_data.decided(cube, cutoff).n, cube.n)
    assert np.array_equal(audit.cube.n, cube.n)


def test_where_a_prediction_decides_no_stop_was_audited():
    cube = eh.Cube.count(score=[0.1, 0.2, 0.9], prediction=[0, 0, 0], sensitive=["a", "b", "a"])
    assert cutoffs.stops(cube)[1] == -1
    assert page_data.decided(cube, None) is cube


def test_a_cutoff_decides_as_a_new_count_would():
    data = eh.datasets.compas()
    scored = eh.Cube.count(data, **COMPAS, sensitive=["race", "sex"], cutoff=5)
    for cutoff in cutoffs.stops(scored)[0][:-1]:
        anew = eh.Cube.count(data, **COMPAS, sensitive=["race", "sex"], cutoff=float(cutoff))
        assert np.array_equal(page_data.decided(scored, float(cutoff)).n, anew.n)
    assert page_data.decided(scored, 10.5).measures()["selection_rate"].max() == 0


def test_the_counts_of_a_page_are_those_of_the_audit():
    """They were changed once, to hide small cells: 57.7 points fell to 37.2 where they rise to 65.2."""
    audit = compas(sensitive=["race", "sex"], metrics=["equalized_odds"])
    (cube,) = page_data.embedded(audit)
    assert np.array_equal(cube.n, audit.cube.n)
    assert cube.scores.same(audit.cube.scores)
    for cutoff, points in ((None, 57.7), (6.0, 65.2)):
        again = page_data.decided(cube, cutoff).audit(metrics=["equalized_odds"], intersections=False)
        assert 100 * again.findings[0].value.value == pytest.approx(points, abs=0.05)


def test_a_file_from_before_with_moved_counts_is_shown_and_not_recomputed():
    """Up to 0.1 files changed small counts and said so in the facts of the cube."""
    audit = compas()
    old = replace(audit, cube=replace(audit.cube, facts={"cells_moved": 4}))
    assert build(old)["counts"] is None
    assert build(old)["tables"]["plans"] == []


def test_a_large_cube_is_cut_into_fewer_bins(monkeypatch):
    rng = np.random.default_rng(0)
    score, group = rng.random(20_000), rng.integers(0, 20, 20_000)
    roles = {"score": score, "label": rng.random(20_000) < score, "sensitive": group, "cutoff": 0.37, "positive": True}
    audit = eh.audit(**roles, metrics=["equalized_odds"])
    (whole,) = page_data.embedded(audit)
    size = len(pack(page_counts.page_counts([whole])))
    assert size < page_counts.MOST_BYTES
    monkeypatch.setattr(page_counts, "MOST_BYTES", size // 2)
    (short,) = page_data.embedded(audit)
    assert short.scores.bins.count < whole.scores.bins.count
    assert np.array_equal(short.n, whole.n)
    assert 0.37 in cutoffs.stops(short)[0]
