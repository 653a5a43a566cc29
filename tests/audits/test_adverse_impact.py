"""adverse_impact(): textbook tables, written out; what cannot be compared; the same table wherever it is asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable, Table2x2

import evenhand as eh
from evenhand.audits.adverse_impact import common_lines, impact_lines

ROLES = {"prediction": "hired", "sensitive": "race", "count": "people"}


def table(counts, **more):
    """Selected of all, by group; None is a missing group."""
    rows = [(group, hired, people) for group, (k, n) in counts.items() for hired, people in ((1, k), (0, n - k))]
    data = {"race": [row[0] for row in rows], "hired": [row[1] for row in rows], "people": [row[2] for row in rows]}
    return {**data, **{name: [value] * len(rows) for name, value in more.items()}}


def lines(finding):
    return {line.name: line for line in impact_lines(finding)}


def cells(panel):
    """The rows of a panel by group; of two columns of one name the first."""
    place = panel.columns.index("group")
    return {row[place]: dict(zip(reversed(panel.columns), reversed(row), strict=True)) for row in panel.rows}


# --- tables that others have worked out


def test_the_example_of_the_enforcement_agencies():
    """EEOC and others (1979), Questions and Answers on the Uniform Guidelines, 44 FR 11996: hiring rates of 60, 45, 48
    and 51 % make impact ratios of 75, 80 and 85 %, and adverse impact is indicated for American Indians alone."""
    counts = {"White": (600, 1000), "American Indian": (450, 1000), "Hispanic": (480, 1000), "Black": (510, 1000)}
    found = lines(eh.adverse_impact(table(counts), **ROLES))
    ratios = {name: line.ratio.value for name, line in found.items()}
    assert ratios == pytest.approx({"American Indian": 0.75, "Hispanic": 0.8, "Black": 0.85, "White": 1.0})
    assert list(found) == ["American Indian", "Hispanic", "Black", "White"]
    assert {name: line.turn.to_pass for name, line in found.items()} == {
        "American Indian": 17,  # (450 + m) / (600 − m) ≥ 0.8 from m = 30 / 1.8 on
        "Hispanic": 0,
        "Black": 0,
        "White": None,
    }
    assert found["Hispanic"].turn.flip == "one fewer"
    assert found["White"].standing == "reference"


def test_connecticut_against_teal():
    """457 U.S. 440 (1982), note 4: 26 of 48 black candidates passed (54.17 %) and 206 of 259 white ones (79.54 %), a
    ratio of 68 %. The other figures by hand."""
    found = lines(eh.adverse_impact(table({"Black": (26, 48), "White": (206, 259)}), **ROLES))["Black"]
    assert (found.people, found.selected, found.against) == (48, 26, "White")
    assert round(100 * found.rate.value, 2) == 54.17
    assert round(100 * found.ratio.value) == 68
    assert found.difference.value == pytest.approx(26 / 48 - 206 / 259)
    assert found.deviations == pytest.approx(-3.7574, abs=1e-4)  # pooled 232/307
    assert found.odds_ratio.value == pytest.approx(26 * 53 / (22 * 206))
    assert (found.odds_ratio.low, found.odds_ratio.high) == (
        pytest.approx(0.15984, abs=1e-5),
        pytest.approx(0.57839, abs=1e-5),
    )
    assert found.cohens_h == pytest.approx(2 * math.asin(math.sqrt(26 / 48)) - 2 * math.asin(math.sqrt(206 / 259)))
    assert found.shortfall == pytest.approx(48 * 232 / 307 - 26)  # 10.27
    assert (found.turn.flip, found.turn.to_pass, found.turn.to_reverse) == ("no", 4, 11)


def test_one_different_person():
    """Question 21 of the same Questions and Answers: no enforcement where the choice of one different person for one
    job would turn a lower rate into a higher one. 1 of 10 women and 3 of 20 men: 2 of 10 and 2 of 20 after one swap."""
    found = eh.adverse_impact(table({"women": (1, 10), "men": (3, 20)}), **ROLES)
    line = lines(found)["women"]
    assert line.ratio.value == pytest.approx(2 / 3)
    assert (line.turn.flip, line.turn.to_pass, line.turn.to_reverse) == ("one more", 1, 1)
    assert (line.fisher_p, line.mid_p) == pytest.approx((1, 1 - 5 * math.comb(20, 3) / math.comb(30, 4)))
    assert found.verdict == "inconclusive"  # too few people for anything


def test_berkeley_with_departments_held_fixed():
    """Bickel, Hammel and O'Connell (1975), as mantelhaen.test(UCBAdmissions, correct = FALSE) of R has it for men."""
    found = eh.adverse_impact(
        eh.datasets.berkeley(), prediction="admitted", sensitive="gender", control="department", count="count"
    )
    (line,) = common_lines(found)
    value, low, high = line.common.odds_ratio
    assert (1 / value, 1 / high, 1 / low) == pytest.approx((0.9046968, 0.7719074, 1.0603298), abs=5e-8)
    assert (round(line.common.p_value, 4), round(line.common.deviations**2, 4)) == (0.2169, 1.5246)
    panel = found.panels[-1]
    assert panel.title == "Within strata (Mantel-Haenszel)"
    assert cells(panel)["Female"]["p"] == line.common.p_value
    assert {line.where for line in impact_lines(found)} == {f"department = {name}" for name in "ABCDEF"}


# --- against scipy and statsmodels


@pytest.mark.parametrize("seed", range(5))
def test_every_figure_as_in_scipy_and_statsmodels(seed):
    random = np.random.default_rng(seed)
    n = random.integers(40, 400, (3, 4))
    k = random.binomial(n, random.uniform(0.1, 0.9, (3, 1)))
    strata = [table({name: (k[s, g], n[s, g]) for g, name in enumerate("abcd")}, site=str(s)) for s in range(3)]
    data = {name: [value for part in strata for value in part[name]] for name in strata[0]}
    found = eh.adverse_impact(data, **ROLES, control="site", reference="a")
    for line in impact_lines(found):
        s, g = int(line.stratum[0]), "abcd".index(line.group[0])
        if g == 0:
            assert line.standing == "reference"
            continue
        cell = np.array([[k[s, g], n[s, g] - k[s, g]], [k[s, 0], n[s, 0] - k[s, 0]]])
        theirs = Table2x2(cell, shift_zeros=False)
        assert line.fisher_p == pytest.approx(stats.fisher_exact(cell)[1], rel=1e-8)
        assert line.odds_ratio.value == pytest.approx(theirs.oddsratio, rel=1e-8)
        assert (line.odds_ratio.low, line.odds_ratio.high) == pytest.approx(theirs.oddsratio_confint(), rel=1e-8)
        assert line.deviations**2 == pytest.approx(stats.chi2_contingency(cell, correction=False)[0], rel=1e-8)
        assert line.ratio.value == pytest.approx(theirs.riskratio, rel=1e-12)
    for line in common_lines(found):
        g = "abcd".index(line.group[0])
        pairs = [np.array([[k[s, i], n[s, i] - k[s, i]] for i in (g, 0)]) for s in range(3)]
        theirs = StratifiedTable(pairs)
        assert line.common.odds_ratio[0] == pytest.approx(theirs.oddsratio_pooled, rel=1e-8)
        assert line.common.p_value == pytest.approx(theirs.test_null_odds(correction=False).pvalue, rel=1e-8)
        assert line.breslow_day_p == pytest.approx(theirs.test_equal_odds().pvalue, rel=1e-8)


# --- what the lines are


def test_unknown_and_excluded_categories_are_lines():
    counts = {"White": (480, 1000), "Black": (300, 900), "Other": (9, 11), None: (3, 8)}
    policy = eh.Policy(reference="highest", min_group_share=0.02)
    found = lines(eh.adverse_impact(table(counts), **ROLES, policy=policy))
    standings = {name: line.standing for name, line in found.items()}
    assert standings == {"Black": "compared", "White": "reference", "Other": "excluded", "(missing)": "unknown"}
    for name, people, selected in (("Other", 11, 9), ("(missing)", 8, 3)):
        line = found[name]
        assert (line.people, line.selected, line.rate.value) == (people, selected, selected / people)
        assert (line.ratio, line.deviations, line.fisher_p, line.shortfall, line.against) == (None,) * 5


def test_a_handful_of_people_is_not_the_yardstick():
    counts = {"White": (480, 1000), "Black": (300, 900), "Other": (11, 11)}
    found = lines(eh.adverse_impact(table(counts), **ROLES))
    assert found["White"].standing == "reference"
    assert (found["Other"].standing, found["Other"].turn.to_reverse) == ("compared", 0)
    assert found["Other"].ratio.value > 2


@pytest.mark.parametrize(
    ("reference", "against", "k", "n"),
    [("Black", "Black", 300, 900), ("largest", "White", 480, 1000), ("rest", "everyone else", None, None)],
)
def test_other_yardsticks(reference, against, k, n):
    counts = {"White": (480, 1000), "Black": (300, 900), "Asian": (20, 50)}
    found = lines(eh.adverse_impact(table(counts), **ROLES, reference=reference))
    line = found["Asian"]
    k, n = (780, 1900) if k is None else (k, n)
    assert line.against == against
    assert line.ratio.value == pytest.approx((20 / 50) / (k / n))
    assert line.fisher_p == pytest.approx(stats.fisher_exact([[20, 30], [k, n - k]])[1], rel=1e-8)
    assert line.shortfall == pytest.approx(50 * (20 + k) / (50 + n) - 20)


def test_weights_have_figures_that_do_not_count_people():
    data = {**table({"White": (60, 100), "Black": (40, 100)}), "w": [1.5, 0.5, 1.0, 2.0]}
    found = eh.adverse_impact(data, **ROLES, weight="w")
    line = lines(found)["Black"]
    rates = 40 / (40 + 120), 90 / (90 + 20)
    assert line.rate.value == pytest.approx(rates[0])
    assert (line.people, line.selected) == (100, 40)
    assert line.ratio.value == pytest.approx(rates[0] / rates[1])
    assert line.odds_ratio.value == pytest.approx((40 / 120) / (90 / 20))
    assert (line.fisher_p, line.mid_p, line.shortfall) == (None, None, None)
    assert (line.turn.flip, line.turn.to_pass, line.turn.to_reverse) == (None, None, None)
    assert any("Exact tests, the shortfall" in note for note in found.notes)
    assert [panel.title for panel in found.panels] == ["Impact ratios", "Tests and effect sizes"]


def test_weights_of_1_are_no_weights_but_for_the_exact_tests():
    data = {**table({"White": (60, 100), "Black": (40, 100)}), "w": [1.0] * 4}
    weighted, plain = (lines(eh.adverse_impact(data, **ROLES, **more))["Black"] for more in ({"weight": "w"}, {}))
    assert weighted.deviations == pytest.approx(plain.deviations, rel=0.05)
    assert weighted.ratio.value == plain.ratio.value


def test_rows_that_belong_together_have_no_tests_of_single_people():
    rows = {"hired": [1, 1, 0, 0, 1, 0] * 20, "race": ["one", "one", "two", "two", "two", "one"] * 20}
    rows["person"] = [f"{i // 2}" for i in range(120)]
    found = eh.adverse_impact(rows, prediction="hired", sensitive="race", cluster="person")
    line = lines(found)["two"]
    assert line.ratio.low is not None
    assert (line.fisher_p, line.deviations, line.shortfall) == (None, None, None)
    assert [panel.title for panel in found.panels] == ["Impact ratios"]


# --- what has no ratio


def test_nobody_selected():
    found = eh.adverse_impact(table({"White": (0, 100), "Black": (0, 90)}), **ROLES)
    assert found.verdict == "inconclusive"
    assert "undefined" in found.interpretation
    for line in impact_lines(found):
        assert line.selected == 0
        assert line.ratio is None or not line.ratio.defined
        assert line.turn.to_pass is None
    assert [panel.title for panel in found.panels] == ["Impact ratios", "Tests and effect sizes"]
    assert not any("at the threshold" in note for note in found.notes), "what is undefined lies nowhere"


def test_everybody_selected():
    found = eh.adverse_impact(table({"White": (100, 100), "Black": (90, 90)}), **ROLES)
    line = next(line for line in impact_lines(found) if line.standing == "compared")
    assert (line.ratio.value, line.fisher_p, line.deviations) == (1.0, 1.0, 0.0)
    assert line.odds_ratio.corrected
    assert (line.turn.to_pass, line.turn.to_reverse) == (0, None)


def test_a_group_of_which_nobody_is_selected():
    line = lines(eh.adverse_impact(table({"White": (50, 100), "Black": (0, 90)}), **ROLES))["Black"]
    assert (line.ratio.value, line.odds_ratio.corrected) == (0.0, True)
    assert 0 < line.odds_ratio.low < line.odds_ratio.value < line.odds_ratio.high < 0.1


def test_one_person_each():
    line = next(
        line
        for line in impact_lines(eh.adverse_impact(table({"White": (1, 1), "Black": (0, 1)}), **ROLES))
        if line.standing == "compared"
    )
    assert (line.fisher_p, line.mid_p, line.turn.to_reverse) == (1.0, 0.5, 1)


def test_one_group_has_nothing_to_compare():
    with pytest.raises(eh.DataError, match="one group only"):
        eh.adverse_impact(table({"White": (50, 100)}), **ROLES)


# --- calls


@pytest.mark.parametrize("reference", ["overall", "lowest"])
def test_what_is_not_a_yardstick(reference):
    with pytest.raises(eh.CallError, match="not a reference of adverse impact: leave it out"):
        eh.adverse_impact(table({"White": (50, 100), "Black": (40, 100)}), **ROLES, reference=reference)


def test_a_group_may_have_the_name_of_a_yardstick():
    found = eh.adverse_impact(table({"lowest": (50, 100), "Black": (40, 100)}), **ROLES, reference="lowest")
    assert lines(found)["Black"].against == "lowest"


def test_a_reference_for_another_attribute_is_none():
    data = {**table({"White": (50, 100), "Black": (40, 100)}), "sex": ["f", "m", "f", "m"]}
    roles = {**ROLES, "sensitive": ["race", "sex"]}
    with pytest.raises(eh.CallError, match="names no group of race × sex"):
        eh.adverse_impact(data, **roles, reference={"race": "White"})


def test_without_decisions_there_is_nothing_to_measure():
    with pytest.raises(eh.CallError, match="needs prediction="):
        eh.adverse_impact(table({"White": (50, 100), "Black": (40, 100)}), label="hired", sensitive="race")


@pytest.mark.parametrize("function", [impact_lines, common_lines])
def test_lines_of_what_has_none(function):
    data = table({"White": (50, 100), "Black": (40, 100)})
    with pytest.raises(eh.CallError, match="was not judged on its ratio against a reference"):
        function(eh.demographic_parity(data, **ROLES))
    with pytest.raises(eh.CallError, match="pass what adverse_impact"):
        function("disparate_impact")


def test_a_threshold_of_ones_own():
    data = table({"White": (480, 1000), "Black": (300, 900)})
    strict, mild = (eh.adverse_impact(data, **ROLES, threshold=limit) for limit in (0.9, 0.5))
    assert (strict.verdict, mild.verdict) == ("fail", "pass")
    assert lines(strict)["Black"].turn.to_pass > lines(mild)["Black"].turn.to_pass == 0
    unjudged = eh.adverse_impact(data, **ROLES, policy="nyc-ll144")
    assert (unjudged.verdict, lines(unjudged)["Black"].turn.flip) == ("not judged", None)


def test_a_cube_and_a_loaded_audit_have_the_same_lines(tmp_path):
    counts = {"White": (480, 1000), "Black": (300, 900), "Asian": (20, 50), None: (3, 8)}
    data = table(counts)
    found = eh.adverse_impact(data, **ROLES)
    assert impact_lines(eh.adverse_impact(eh.Cube.count(data, **ROLES))) == impact_lines(found)
    audit = eh.audit(data, **ROLES, policy="four-fifths")
    assert audit["disparate_impact"].panels == found.panels
    audit.save(tmp_path / "audit.json")
    loaded = eh.Audit.load(tmp_path / "audit.json")["disparate_impact"]
    assert impact_lines(loaded) == impact_lines(found)
    assert loaded.panels == found.panels


def test_panels_and_lines_say_the_same():
    found = eh.adverse_impact(table({"White": (480, 1000), "Black": (300, 900)}), **ROLES)
    ratios, tests, turns = map(cells, found.panels)
    line = lines(found)["Black"]
    assert ratios["Black"]["impact ratio"] == line.ratio.value == found.ratio.value
    assert (tests["Black"]["mid-p"], tests["Black"]["Cohen's h"]) == (line.mid_p, line.cohens_h)
    assert (turns["Black"]["swaps to pass"], turns["Black"]["swaps to reverse"]) == (
        line.turn.to_pass,
        line.turn.to_reverse,
    )
    assert ratios["White"]["line"] == "reference"
    assert "White" not in tests
