"""Four fifths and Local Law 144, as the rules read them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.core.results import Row
from evenhand.inference import hypotheses, simultaneous
from evenhand.inference.spread import PLAIN, Proportions
from evenhand.measures.group_data import BinnedScores
from evenhand.measures.scores import above_median, scoring_rate_error
from evenhand.verdicts.policy import Policy

# Scoring rates of the rule's own example, 6 RCNY 5-301, and the impact ratios it gives.
SEX = {"Male": (54.3, 1.00), "Female": (44.7, 0.82)}
RACE = {"Hispanic": (64.2, 1.00), "White": (37.5, 0.58), "Black": (50.0, 0.78), "Asian": (41.7, 0.65)}


def table(counts: dict[object, tuple[int, int]], name: str = "group") -> dict[str, list]:
    """Selected and not, for k of n in each group."""
    lines = [(group, yes, k if yes else n - k) for group, (k, n) in counts.items() for yes in (1, 0)]
    return dict(zip((name, "yes", "people"), map(list, zip(*lines, strict=True)), strict=True))


def audit(counts: dict[object, tuple[int, int]], policy: str | Policy, **arguments) -> eh.Audit:
    roles = {"prediction": "yes", "count": "people", "sensitive": "group"}
    return eh.audit(table(counts), **roles | arguments, policy=policy)


def ratios(finding: eh.Finding) -> dict[str, Row]:
    return {row.group[0]: row for row in finding.groups if row.ratio is not None}


# --- the rule's own example


@pytest.mark.parametrize("example", [SEX, RACE], ids=["sex", "race"])
def test_the_example_of_local_law_144_by_selection(example):
    counts = {name: (round(10 * rate), 1000) for name, (rate, _) in example.items()}
    (finding,) = audit(counts, "nyc-ll144").findings
    highest = max(example, key=lambda name: example[name][0])
    found = ratios(finding)
    assert set(found) == set(example)
    for name, (rate, ratio) in example.items():
        assert found[name].against == highest
        assert round(100 * found[name].estimate.value, 1) == rate
        assert round(found[name].ratio.value, 2) == ratio
        assert found[name].ratio.low <= found[name].ratio.value <= found[name].ratio.high <= 1


@pytest.mark.parametrize("example", [SEX, RACE], ids=["sex", "race"])
def test_the_example_of_local_law_144_by_scores(example):
    """Scores of which exactly these shares lie above the median of everyone: a last group balances them."""
    above = {name: round(10 * rate) for name, (rate, _) in example.items()}
    size = 1000 * len(example)
    balance = size - 2 * sum(above.values())  # how many more must be above than below for half to be
    lines = [(name, 0.9 if yes else 0.1, k if yes else 1000 - k) for name, k in above.items() for yes in (1, 0)]
    lines.append((None, 0.9 if balance > 0 else 0.1, abs(balance)))
    data = dict(zip(("group", "score", "people"), map(list, zip(*lines, strict=True)), strict=True))
    found = eh.audit(data, score="score", count="people", sensitive="group", policy="nyc-ll144")
    (finding,) = found.findings
    assert (finding.metric, finding.verdict, found.verdict) == ("scoring_rate_parity", "not judged", "not judged")
    for name, (rate, ratio) in example.items():
        row = ratios(finding)[name]
        assert (round(100 * row.estimate.value, 1), round(row.ratio.value, 2)) == (rate, ratio)
    assert any(f"{abs(balance):,} rows" in note for note in finding.notes)


# --- nyc-ll144


def test_local_law_144_shows_sex_race_and_both():
    lines = [
        (race, sex, yes, people)
        for race in ("White", "Black")
        for sex in ("Male", "Female")
        for yes, people in ((1, 40 + 20 * (race == "White") + 10 * (sex == "Male")), (0, 60))
    ]
    data = dict(zip(("race", "sex", "yes", "people"), map(list, zip(*lines, strict=True)), strict=True))
    found = eh.audit(data, prediction="yes", count="people", sensitive=["race", "sex"], policy="nyc-ll144")
    assert [finding.attributes for finding in found.findings] == [("race",), ("sex",), ("race", "sex")]
    assert all(found.decides(finding) for finding in found.findings)
    both = found.findings[2]
    assert {row.group for row in both.groups if row.ratio} == set(
        itertools.product(("White", "Black"), ("Male", "Female"))
    )
    assert both.highest == "White, Male"
    assert found.verdict == "not judged"
    assert "race × sex: not judged" in found.details()


def test_unknown_categories_are_counted_and_small_ones_may_be_left_out():
    counts = {"A": (500, 1000), "B": (400, 1000), "C": (30, 30), None: (50, 100)}
    found = audit(counts, "nyc-ll144")
    (finding,) = found.findings
    assert set(ratios(finding)) == {"A", "B"}
    assert finding.highest == "A"
    text = " ".join(finding.notes)
    assert (
        "Under 2 % of the people each, so shown and not compared: group = C (30 people, selection rate 100.0 %)."
        in text
    )
    assert "100 rows (4.7%) have no group" in text
    shown = {row.group[0]: row for row in finding.groups}
    assert (shown["C"].n, shown["C"].estimate.value, shown["C"].ratio) == (30, 1.0, None)
    assert (shown[None].n, shown[None].ratio) == (100, None)
    policy = Policy.named("nyc-ll144").updated(min_group_share=0.0)
    kept = audit(counts, policy).findings[0]  # the rule divides by the most selected category, however small
    assert (ratios(kept)["A"].against, ratios(kept)["A"].ratio.value) == ("C", 0.5)
    kept = audit(counts, policy.updated(min_reference_share=0.02)).findings[0]
    assert (ratios(kept)["C"].against, ratios(kept)["C"].ratio.value) == ("A", 2.0)


def test_a_share_leaves_a_reference_in():
    found = audit({"A": (500, 1000), "B": (400, 1000), "C": (3, 5)}, Policy(min_group_share=0.02), reference="C")
    assert found.findings[0].summary.against == "C"


def test_a_threshold_of_its_own_judges_local_law_144():
    counts = {name: (round(10 * rate), 1000) for name, (rate, _) in RACE.items()}
    policy = Policy.named("nyc-ll144").updated(thresholds={"disparate_impact": 0.8})
    assert audit(counts, policy).verdict == "fail"


def test_local_law_144_takes_what_the_data_has():
    data = {"g": list("aabb") * 50, "s": [0.1, 0.9, 0.2, 0.7] * 50, "yes": [0, 1, 0, 1] * 50}
    both = eh.audit(data, prediction="yes", score="s", sensitive="g", policy="nyc-ll144")
    assert {finding.metric for finding in both.findings} == {"disparate_impact", "scoring_rate_parity"}
    scores = eh.audit(data, score="s", sensitive="g", policy="nyc-ll144")
    assert [finding.metric for finding in scores.findings] == ["scoring_rate_parity"]
    assert any("disparate_impact needs prediction=" in note for note in scores.notes)
    with pytest.raises(eh.CallError, match=r"no metric of the policy can be computed.*needs prediction="):
        eh.audit(data, label="yes", sensitive="g", policy="nyc-ll144")


# --- the scoring rate


def scoring_rates(scores: list[float], groups: list[str], **roles) -> dict[str, float]:
    finding = eh.scoring_rate_parity(score=scores, sensitive=groups, **roles)
    return {row.group[0]: row.estimate.value for row in finding.groups}


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9)), min_size=4, max_size=60).filter(
        lambda rows: len({group for group, _ in rows}) == 2
    )
)
def test_the_scoring_rate_is_the_share_above_the_median(rows):
    groups, scores = [group for group, _ in rows], [score / 10 for _, score in rows]
    median = np.median(scores)
    for direction, wins in (("positive", np.array(scores) > median), ("negative", np.array(scores) < median)):
        found = scoring_rates(scores, groups, higher_is=direction)
        for group in "ab":
            assert found[group] == pytest.approx(wins[np.array(groups) == group].mean())


def test_on_a_grid_the_scoring_rate_is_close_and_exact_on_request():
    rng = np.random.default_rng(1)
    scores, groups = rng.random(5000), np.where(rng.random(5000) < 0.4, "a", "b")
    truth = {name: (scores > np.median(scores))[groups == name].mean() for name in "ab"}
    near = scoring_rates(scores, groups)
    exact = scoring_rates(scores, groups, resolution="exact")
    cube = eh.Cube.count(score=scores, sensitive=groups)
    off = dict(zip("ab", scoring_rate_error(BinnedScores.from_table(cube.scores, 2)), strict=True))
    assert 0 < max(off.values()) < 0.01
    for name in "ab":
        assert near[name] == pytest.approx(truth[name], abs=off[name])
        assert exact[name] == pytest.approx(truth[name], abs=1e-12)


def test_the_median_is_named():
    rng = np.random.default_rng(1)
    groups = ["a", "b"] * 1000
    for scores, told in ((rng.random(2000), "A score above about 0.49"), ([1, 5, 5, 9] * 500, "A score above 5 ")):
        finding = eh.audit(score=scores, sensitive=groups, policy="nyc-ll144").findings[0]
        assert any(note.startswith(told) for note in finding.notes)
    finding = eh.audit(score=scores, sensitive=groups, higher_is="negative", policy="nyc-ll144").findings[0]
    assert any(note.startswith("A score below 5 ") for note in finding.notes)


def test_weights_move_the_median():
    scores, groups = [0.1, 0.2, 0.3, 0.4] * 20, ["a", "b", "a", "b"] * 20
    found = scoring_rates(scores, groups, weight=[1, 1, 1, 9] * 20)
    assert found == {"a": 0.0, "b": 0.0}
    found = scoring_rates(scores, groups, weight=[9, 1, 1, 1] * 20)
    assert found == {"a": pytest.approx(0.1), "b": pytest.approx(1.0)}


@given(st.lists(st.floats(0.5, 10), min_size=1, max_size=12))
def test_half_of_the_mass_is_above_the_median_on_a_grid(mass):
    mass = np.array(mass)
    assert float(mass @ above_median(mass, exact=False)) == pytest.approx(mass.sum() / 2)
    assert float(mass @ above_median(mass, exact=True)) <= mass.sum() / 2 * (1 + 1e-9)


# --- four fifths


def test_four_fifths_with_its_tests():
    counts = {"White": (480, 1000), "Black": (300, 900), "Asian": (20, 50)}
    found = audit(counts, "four-fifths")
    (finding,) = found.findings
    assert (found.verdict, finding.highest, finding.lowest) == ("fail", "White", "Black")
    row = ratios(finding)["Black"]
    assert row.ratio.value == pytest.approx((300 / 900) / 0.48)
    assert row.p_value == pytest.approx(hypotheses.fisher_exact(300, 900, 480, 1000).p_value)
    panel = finding.panels[0]
    lines = {line[0]: dict(zip(panel.columns, line, strict=True)) for line in panel.rows}
    assert list(lines) == ["Black", "Asian", "White"]
    z = hypotheses.two_proportion_z(300, 900, 480, 1000).statistic
    assert lines["Black"]["standard deviations"] == pytest.approx(z)
    assert lines["Black"]["Fisher's exact p"] == row.p_value
    assert lines["Black"]["shortfall"] == pytest.approx(900 * 780 / 1900 - 300)
    assert (lines["White"]["impact ratio"], lines["White"]["Fisher's exact p"]) == (1.0, None)
    text = " ".join(finding.notes)
    assert "Impact ratios against White (48.0 %), the highest selection rate: Black 0.69 (33.3 %), Asian 0.83" in text
    assert "Below 0.8 of it and two or more standard deviations under it: Black (6.5, Fisher's exact p <" in text


def test_few_people_below_four_fifths_are_not_taken_for_evidence():
    found = audit({"A": (6, 10), "B": (4, 10)}, "four-fifths")
    assert found.verdict == "inconclusive"
    beside = "yet less than two standard deviations under it: group = B (0.9"
    assert any(beside in note for note in found.findings[0].notes)


def test_many_people_within_four_fifths_can_still_lie_apart():
    found = audit({"A": (5000, 10_000), "B": (4700, 10_000)}, "four-fifths")
    assert found.verdict == "pass"
    assert any(note.startswith("Not below 0.8 of it, yet two or more") for note in found.findings[0].notes)


def test_four_fifths_judges_single_attributes():
    policy = Policy.named("four-fifths")
    assert (policy.on, policy.reference) == ("single", "highest")
    assert (policy.required, policy.thresholds) == (("disparate_impact",), {"disparate_impact": 0.8})


def test_weights_have_no_exact_test():
    data = table({"A": (60, 100), "B": (40, 100)})
    data["w"] = [1.5, 0.7, 1.1, 0.9]
    roles = {"prediction": "yes", "count": "people", "weight": "w", "sensitive": "group"}
    finding = eh.audit(data, **roles, policy="four-fifths").findings[0]
    panel, tests = finding.panels
    assert tests.title == "Tests and effect sizes"  # and no table of how few decisions turn the result
    assert panel.rows[0][panel.columns.index("Fisher's exact p")] is None
    assert panel.rows[0][panel.columns.index("standard deviations")] < 0


def test_nobody_selected_has_no_ratio():
    found = audit({"A": (0, 100), "B": (0, 100)}, "four-fifths")
    panel = found.findings[0].panels[0]
    assert found.verdict == "inconclusive"
    assert [line[panel.columns.index("selected")] for line in panel.rows] == [0, 0]
    assert [line[panel.columns.index("impact ratio")] for line in panel.rows] == [None, None]


def test_there_are_these_policies_and_no_others():
    with pytest.raises(eh.CallError, match="did you mean 'four-fifths'"):
        Policy.named("four_fifths")
    with pytest.raises(eh.CallError):
        Policy.named(5)


# --- against the highest


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=2, max_size=6))
def test_against_the_highest_judges_as_between_extremes(pairs):
    counts = {f"g{i}": (min(k, n), n) for i, (k, n) in enumerate(pairs)}
    data = table(counts)
    roles = {"prediction": "yes", "count": "people", "sensitive": "group"}
    plain = eh.disparate_impact(data, **roles, min_group_size=1)
    found = eh.disparate_impact(data, **roles, reference="highest", min_group_size=1)
    for name in ("verdict", "passes", "highest", "lowest"):
        assert getattr(found, name) == getattr(plain, name)
    assert str(found.ratio) == str(plain.ratio)
    top = max(k / n for k, n in counts.values())
    for row in found.groups:
        k, n = counts[row.group[0]]
        if top > 0:
            assert row.ratio.value == pytest.approx(k / n / top)
            assert row.ratio.low <= row.ratio.value <= row.ratio.high <= 1
            assert row.difference.low <= row.difference.value <= row.difference.high <= 1e-12


def test_the_interval_allows_for_a_reference_that_the_data_chose():
    """Five equal groups: against the truly highest every ratio is 1, and nearly all intervals hold it at once."""
    rng = np.random.default_rng(11)
    n, covered = np.full(5, 80.0), 0
    for _ in range(400):
        spread = Proportions(rng.binomial(80, 0.3, 5).astype(float), n, PLAIN)
        low, high, least, most = simultaneous.against_extreme(
            spread, *(np.ones(5, dtype=bool), 0.95, np.ones(5, dtype=bool))
        )
        covered += bool((high >= 0).all() and (low <= 0).all() and (most >= 1).all() and (least <= 1).all())
    assert covered >= 0.93 * 400


def test_highest_may_be_the_name_of_a_group():
    data = table({"highest": (5, 10), "lowest": (6, 10)})
    finding = eh.disparate_impact(data, prediction="yes", count="people", sensitive="group", reference="highest")
    assert finding.settings["against"] == "highest"
    assert finding.summary.group == ("lowest",)


def test_the_highest_of_several_measures_is_that_of_each():
    data = {"y": [1, 1, 0, 0] * 50, "d": [1, 0, 1, 0, 1, 1, 0, 0] * 25, "g": list("aaaabbbb") * 25}
    finding = eh.equalized_odds(data, label="y", prediction="d", sensitive="g", reference="highest")
    against = {row.measure: row.against for row in finding.groups}
    assert against == {"true_positive_rate": "b", "false_positive_rate": "a"}


def test_other_intervals_have_rows_without_ends():
    data = table({"A": (60, 100), "B": (40, 100)})
    finding = eh.disparate_impact(
        data, prediction="yes", count="people", sensitive="group", reference="highest", interval="katz"
    )
    assert [(row.ratio.value, row.ratio.low) for row in finding.groups] == [(1.0, None), (pytest.approx(2 / 3), None)]
