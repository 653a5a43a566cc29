"""Strata: the pooled gap beside the standardised one, Simpson's paradox, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from support.profiles import examples
from support.tables import close

BERKELEY = {
    "data": eh.datasets.berkeley(),
    "prediction": "admitted",
    "count": "count",
    "sensitive": "gender",
    "control": "department",
}


def people(cells):
    """Rows from {(stratum, group): (selected, refused)}."""
    rows = {"s": [], "g": [], "p": [], "n": []}
    for (stratum, group), counts in cells.items():
        for value, count in zip((1, 0), counts, strict=True):
            for name, item in zip(rows, (stratum, group, value, count), strict=True):
                rows[name].append(item)
    return rows


def call(cells, **more):
    return eh.demographic_parity(people(cells), prediction="p", sensitive="g", control="s", count="n", **more)


def row(found, name):
    return next(each for each in found.rows if each.measure == name)


def test_berkeley_is_simpsons_paradox():
    found = eh.demographic_parity(**BERKELEY)
    assert row(found, "pooled_gap").group == ("Male",)
    assert row(found, "pooled_gap").difference.value == pytest.approx(0.1416, abs=5e-5)
    # By hand: Σ N_s (men's rate − women's rate) / Σ N_s over the six departments.
    assert row(found, "standardised_gap").difference.value == pytest.approx(-0.0426, abs=5e-5)
    assert found.p_value == pytest.approx(0.217, abs=5e-4)
    (paradox,) = (note for note in found.notes if note.startswith("Simpson's paradox"))
    assert "44.5 % for Male and 30.4 % for Female" in paradox
    assert "4 of 6 strata" in paradox
    assert any("p = 0.217 (Mantel-Haenszel, which weights strata by how many of both" in note for note in found.notes)
    assert any("Breslow-Day p = 0.0021" in note for note in found.notes)
    panel = next(panel for panel in found.panels if "within strata" in panel.title)
    assert len(panel.rows) == 14
    assert panel.rows[-1][:2] == ("all together", "Male")


def test_a_reference_turns_the_sign():
    found = eh.demographic_parity(**BERKELEY, reference="Male")
    assert row(found, "pooled_gap").difference.value == pytest.approx(-0.1416, abs=5e-5)
    assert row(found, "standardised_gap").difference.value == pytest.approx(0.0426, abs=5e-5)
    assert any(note.startswith("Simpson's paradox") for note in found.notes)


def test_no_paradox_where_the_strata_agree():
    found = call({("x", "a"): (60, 40), ("x", "b"): (30, 70), ("y", "a"): (70, 30), ("y", "b"): (40, 60)})
    assert not any("Simpson" in note for note in found.notes)
    assert row(found, "standardised_gap").difference.value == close(0.3)
    assert any(note.startswith("Over all strata together") for note in found.notes)


def test_a_gap_that_the_strata_explain_is_confounding():
    """The same rates within strata, and very different strata: the whole fails, the strata agree."""
    cells = {("x", "a"): (4500, 500), ("x", "b"): (450, 50), ("y", "a"): (50, 450), ("y", "b"): (500, 4500)}
    found = call(cells)
    assert row(found, "standardised_gap").difference.value == pytest.approx(0, abs=1e-12)
    assert not any("Simpson" in note for note in found.notes)
    assert found.notes[0].startswith("The strata explain the gap (confounding): over all strata together")
    assert found.verdict == "pass"


def test_a_gap_that_only_the_strata_show_is_confounding():
    """20 points in both strata and 4 over all, because b is where most are selected."""
    cells = {("x", "a"): (2700, 300), ("x", "b"): (4900, 2100), ("y", "a"): (3500, 3500), ("y", "b"): (900, 2100)}
    found = call(cells)
    assert row(found, "pooled_gap").difference.value == close(0.04)
    assert row(found, "standardised_gap").difference.value == close(0.2)
    assert found.notes[0].startswith("The strata show a gap that the whole hides (confounding): over all strata")


@pytest.mark.parametrize("groups", [2, 4])
def test_the_paradox_is_not_said_by_chance(groups):
    """Strata at 20 and 60 %, groups spread over them unequally, no gap within: the sign of an estimate is a coin."""
    random, said, explained = np.random.default_rng(11), 0, 0
    sizes = np.linspace(50, 450, groups).round().astype(int)
    for _ in range(150):
        cells = {}
        for stratum, rate, n in (("x", 0.2, sizes), ("y", 0.6, sizes[::-1])):
            for group, k, m in zip("abcd", random.binomial(n, rate), n, strict=False):
                cells[stratum, group] = (int(k), int(m - k))
        notes = call(cells).notes
        said += any("Simpson" in note for note in notes)
        explained += any("confounding" in note for note in notes)
    assert said <= 12  # 5 % and less; on the sign of the estimate 46 to 49 %
    assert explained > 0 or groups > 2


def test_strata_that_lack_a_group_are_left_out_and_said():
    cells = {("x", "a"): (60, 40), ("x", "b"): (30, 70), ("y", "a"): (50, 50)}
    found = call(cells)
    assert row(found, "standardised_gap").n == 200
    assert any("33.3% of the people are in strata that lack one of the two" in note for note in found.notes)


def test_nothing_to_standardise_is_said():
    found = call({("x", "a"): (60, 40), ("y", "b"): (30, 70)})
    assert any("cannot be standardised" in note for note in found.notes)
    assert not [each for each in found.rows if each.measure == "standardised_gap"]


def test_one_stratum_is_no_strata():
    found = call({("x", "a"): (60, 40), ("x", "b"): (30, 70)})
    assert not [each for each in found.rows if each.measure == "pooled_gap"]


def test_intervals_hold_for_all_strata_together():
    """More strata, wider intervals: any of them may fail the whole."""
    one = call({("x", "a"): (60, 40), ("x", "b"): (30, 70)})
    cells = {(s, g): counts for s in "xyzuvw" for g, counts in (("a", (60, 40)), ("b", (30, 70)))}
    several = call(cells)
    assert several.value.value == one.value.value
    assert several.value.low < one.value.low
    assert several.value.high > one.value.high


def test_the_interval_holds_the_largest_gap_though_another_stratum_has_the_largest_estimate():
    """A small stratum with a true gap of .2 often shows less than large ones with .12, whose intervals are short."""
    random, held, alone = np.random.default_rng(5), 0, 0
    for _ in range(120):
        cells = {}
        for stratum, n, gap in (("small", 60, 0.2), ("x", 5000, 0.12), ("y", 5000, 0.12)):
            for group, rate in (("a", 0.5 + gap), ("b", 0.5)):
                k = int(random.binomial(n, rate))
                cells[stratum, group] = (k, n - k)
        found = call(cells)
        assert found.difference == found.value
        assert found.value.value == pytest.approx(found.difference.value)
        held += found.value.low <= 0.2 <= found.value.high
        rows = [each for each in found.rows if each.measure == "demographic_parity" and each.stratum]
        own = max(rows, key=lambda each: each.difference.value).difference
        alone += own.low <= 0.2 <= own.high
    assert held >= 0.93 * 120
    assert alone < 0.85 * 120


def test_false_alarms_of_many_strata_stay_few():
    random, alarms = np.random.default_rng(3), 0
    for _ in range(200):
        cells = {
            (stratum, group): (k := int(random.binomial(200, 0.4)), 200 - k)
            for stratum in range(8)
            for group in ("a", "b")
        }
        alarms += call(cells, threshold=1e-6).verdict == "fail"
    assert alarms <= 18  # 5 % of 200 and three standard deviations


def test_other_measures_have_strata_too():
    random = np.random.default_rng(0)
    n = 4000
    data = {
        "y": random.integers(0, 2, n),
        "p": random.integers(0, 2, n),
        "s": random.random(n),
        "g": random.choice(["a", "b"], n),
        "d": random.choice(["x", "y"], n),
    }
    roles = {"label": "y", "sensitive": "g", "control": "d"}
    for found in (
        eh.equalized_odds(data, prediction="p", **roles),
        eh.auc_parity(data, score="s", **roles),
        eh.calibration(data, score="s", **roles),
        eh.mean_score_parity(data, score="s", **roles),
    ):
        assert row(found, "standardised_gap").difference.low <= row(found, "standardised_gap").difference.high


@examples(50)
@given(st.lists(st.tuples(*[st.integers(1, 200)] * 4), min_size=2, max_size=5))
def test_the_standardised_gap_is_the_weighted_mean_of_the_strata(strata):
    cells = {}
    for i, (a, b, c, d) in enumerate(strata):
        cells |= {(f"s{i}", "a"): (a, b), (f"s{i}", "b"): (c, d)}
    found = call(cells)
    gap = row(found, "standardised_gap")
    sign = 1 if gap.group == ("a",) else -1
    sizes = [sum(part) for part in strata]
    each = [sign * (a / (a + b) - c / (c + d)) for a, b, c, d in strata]
    assert gap.difference.value == pytest.approx(np.average(each, weights=sizes), abs=1e-12)
    assert gap.difference.low <= gap.difference.value <= gap.difference.high
