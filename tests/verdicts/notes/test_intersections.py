"""Intersections: one cube for all of them, beside what the attributes suggest, led by evidence."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from support.tables import close


def people(rates, n=400):
    rows = {"race": [], "sex": [], "p": [], "n": []}
    for (race, sex), rate in rates.items():
        for value, count in ((1, round(n * rate)), (0, n - round(n * rate))):
            for name, item in zip(rows, (race, sex, value, count), strict=True):
                rows[name].append(item)
    return rows


def call(rates, metric=eh.demographic_parity, **more):
    return metric(people(rates), prediction="p", sensitive=["race", "sex"], count="n", **more)


def panel(found):
    return next(each for each in found.panels if "attributes suggest" in each.title)


ADDED = {("a", "f"): 0.3, ("a", "m"): 0.4, ("b", "f"): 0.5, ("b", "m"): 0.6}
CROSSED = {("a", "f"): 0.2, ("a", "m"): 0.6, ("b", "f"): 0.6, ("b", "m"): 0.2}


def test_effects_that_add_up_bring_nothing_new():
    found = call(ADDED)
    for group, n, value, _low, _high, additive, _multiplicative in panel(found).rows:
        assert n == 400, group
        assert value == pytest.approx(additive, abs=1e-12)
    assert not any("one by one suggest" in note for note in found.notes)


def test_effects_that_multiply_are_what_the_product_suggests():
    rates = {("a", "f"): 0.2, ("a", "m"): 0.4, ("b", "f"): 0.4, ("b", "m"): 0.8}
    for _, _, value, _, _, _, multiplicative in panel(call(rates)).rows:
        assert value == close(multiplicative)


def test_a_crossing_that_single_attributes_hide_is_found():
    audit = eh.audit(people(CROSSED), prediction="p", sensitive=["race", "sex"], count="n")
    by_attributes = {found.attributes: found for found in audit.findings if found.metric == "demographic_parity"}
    assert by_attributes["race",].value.value == pytest.approx(0, abs=1e-12)
    assert by_attributes["sex",].value.value == pytest.approx(0, abs=1e-12)
    both = by_attributes["race", "sex"]
    assert both.verdict == "fail"
    assert any("not what the attributes one by one suggest" in note for note in both.notes)
    assert audit.verdict == "pass"  # the default policy judges single attributes


def test_the_panel_is_led_by_evidence_and_not_by_the_smallest():
    rows = people(ADDED | {("c", "f"): 0.15}, n=2000)
    for name, item in zip(rows, ("tiny", "f", 1, 2), strict=True):
        rows[name].append(item)  # two people, both selected: the most extreme rate, and no evidence
    found = eh.demographic_parity(rows, prediction="p", sensitive=["race", "sex"], count="n")
    assert found.highest == "tiny, f"
    groups = [row[0] for row in panel(found).rows]
    assert groups[0] == "race = c, sex = f"
    assert groups[-1] == "tiny, sex = f"
    farthest = [note for note in found.notes if "Farthest from the overall selection rate" in note]
    assert any("race = c, sex = f" in note for note in farthest)


@pytest.mark.parametrize(("intersections", "sets"), [(True, 7), (False, 3), (1, 3), (2, 6), (3, 7)])
def test_how_deep_intersections_go(intersections, sets):
    random = np.random.default_rng(0)
    data = {name: random.choice(["x", "y"], 400) for name in ("a", "b", "c")} | {"p": random.integers(0, 2, 400)}
    audit = eh.audit(data, prediction="p", sensitive=["a", "b", "c"], intersections=intersections,
                     metrics=["demographic_parity"])  # fmt: skip
    assert len({found.attributes for found in audit.findings}) == sets


def test_an_undefined_group_has_no_number_in_the_panel():
    data = {"race": list("aabb") * 30, "sex": list("fmfm") * 30, "y": [0, 1, 1, 1] * 30, "p": [0, 1, 1, 0] * 30}
    found = eh.equal_opportunity(data, label="y", prediction="p", sensitive=["race", "sex"])
    values = {row[0]: row[2] for row in panel(found).rows}
    assert values["race = a, sex = f"] is None


def test_an_intersection_within_strata():
    data = people(CROSSED)
    data["s"] = ["x" if i % 2 else "y" for i in range(len(data["p"]))]
    found = eh.demographic_parity(data, prediction="p", sensitive=["race", "sex"], count="n", control="s")
    assert panel(found).rows


def test_two_hundred_groups_with_scores_stay_within_memory():
    """Pairs of pairs would be 1.6 billion numbers: distances between very many groups take another way."""
    random, n = np.random.default_rng(0), 8000
    data = {name: random.choice(list(values), n) for name, values in (("a", "abcdefghij"), ("b", "0123456789"))}
    data |= {"y": random.integers(0, 2, n), "s": random.random(n), "c": random.choice(["x", "y"], n)}
    cube = eh.Cube.count(data, label="y", score="s", sensitive=["a", "b", "c"])
    for metric in (eh.cross_group_auc, eh.abroca, eh.ks_distance):
        found = metric(cube)
        assert found.value.low <= found.value.value <= found.value.high
    assert any("Computed on a grid" in note for note in eh.abroca(cube).notes)
