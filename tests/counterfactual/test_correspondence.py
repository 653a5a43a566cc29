"""Correspondence audits: the same case with only the group changed."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import evenhand as eh
from evenhand.audits.audit import Audit
from evenhand.counterfactual.units import read_units
from evenhand.inference.paired import tango
from evenhand.verdicts.verdict import verdict
from support.hostile import NAMES


def pairs(both: int, first: int, second: int, neither: int) -> dict[str, list]:
    """Answers of two groups, by how many units are positive in both, in one of them, and in neither."""
    outcomes = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    return {
        "unit": [unit for unit in range(len(outcomes)) for _ in (0, 1)],
        "group": ["a", "b"] * len(outcomes),
        "answer": [answer for pair in outcomes for answer in pair],
    }


def drawn(units: int, groups: int, runs: int, *, effect: float = 0.0, noise: float = 0.3, seed: int = 0) -> dict:
    random = np.random.default_rng(seed)
    unit, group, run = (part.ravel() for part in np.indices((units, groups, runs)))
    latent = random.normal(size=units)[unit] + noise * random.normal(size=unit.size) + effect * (group == 0)
    return {
        "unit": unit,
        "group": np.array([f"g{i}" for i in range(groups)])[group],
        "run": run,
        "answer": (latent > 0).astype(int),
        "score": latent,
    }


ROLES = {"unit": "unit", "sensitive": "group", "prediction": "answer"}


def of_pair(finding, measure="selection_rate"):
    return [row for row in finding.rows if row.measure == measure and row.difference is not None]


def share(finding, measure):
    return next(row.estimate for row in finding.rows if row.measure == measure and not row.group)


# --- known numbers


def test_two_groups_have_tangos_interval_and_mcnemars_p_value():
    from statsmodels.stats.contingency_tables import mcnemar

    found = eh.correspondence(pairs(300, 60, 25, 615), **ROLES)
    low, high = tango(60, 25, 1000)
    assert found.value == eh.Estimate(0.035, pytest.approx(float(low)), pytest.approx(float(high)))
    assert found.p_value == pytest.approx(mcnemar([[300, 60], [25, 615]], exact=True).pvalue)
    assert found.tested == "McNemar's exact test"
    assert (found.verdict, found.highest, found.lowest) == ("fail", "a", "b")
    assert found.difference.value == pytest.approx(0.035)
    assert share(found, "flip_share").value == pytest.approx(0.085)
    assert found.interpretation == (
        "Of the same units (n = 1,000), 36.0 % are decided positively as group = a and 32.5 % as group = b: a gap of "
        "3.5 points (95 % interval 1.7 to 5.4, p = 0.00019), above the threshold of 1. 8.5 % of the units flip between "
        "two groups, which includes noise: no unit was run twice in a group (run=)."
    )


def test_several_groups_have_cochrans_q_and_holm_over_pairs():
    from statsmodels.stats.contingency_tables import cochrans_q, mcnemar
    from statsmodels.stats.multitest import multipletests

    data = drawn(400, 4, 1, effect=0.1)
    found = eh.correspondence(data, **ROLES)
    table = data["answer"].reshape(400, 4)
    assert found.tested == "Cochran's Q"
    assert found.p_value == pytest.approx(cochrans_q(table).pvalue)
    rows = of_pair(found)
    cross = [np.histogram2d(table[:, i], table[:, j], 2)[0] for i in range(4) for j in range(i + 1, 4)]
    p = [mcnemar(each, exact=True).pvalue for each in cross]
    assert [row.p_value for row in rows] == pytest.approx(p)
    assert [row.p_adjusted for row in rows] == pytest.approx(multipletests(p, method="holm")[1])
    q = stats.norm.ppf(1 - (1 - 0.95 ** (1 / 6)) / 2)
    for row, each in zip(rows, cross, strict=True):
        low, high = tango(each[1, 0], each[0, 1], 400, 1 - 2 * stats.norm.sf(q))
        assert min(low, 0) - 1e-9 <= row.difference.low <= low + 1e-9
        assert high - 1e-9 <= row.difference.high <= max(high, 0) + 1e-9


def test_flips_beside_noise_by_hand():
    # Two runs each. u: (1, 1) and (0, 0); v: (1, 0) and (1, 1); w: (0, 0) and (0, 0).
    data = {
        "unit": list("uuuuvvvvwwww"),
        "group": ["a", "a", "b", "b"] * 3,
        "run": [1, 2] * 6,
        "answer": [1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0],
    }
    found = eh.correspondence(data, **ROLES, run="run")
    assert share(found, "flip_share").value == pytest.approx((1 + 0.5 + 0) / 3)
    assert share(found, "noise_share").value == pytest.approx((0 + 0.5 + 0) / 3)
    assert share(found, "excess_flip_share").value == pytest.approx(1 / 3)
    assert found.value.value == pytest.approx((1 - 0.5 + 0) / 3)
    assert found.p_value == 1.0  # signs of 1 and -1/2 in units of runs: 2 of 4 combinations are as far, both ways 4
    assert found.tested == "signs flipped over units"
    assert "beyond noise" in found.interpretation
    assert "which includes noise" not in found.interpretation
    assert found.panels[1].rows[0][0] == "u"


def test_flips_beyond_noise_are_the_squared_effect_within_units():
    random = np.random.default_rng(1)
    chance = np.stack([random.random(4000) * 0.6, random.random(4000) * 0.6 + 0.4], axis=1)
    answers = (random.random((4000, 2, 3)) < chance[..., None]).astype(int)
    unit, group, run = (part.ravel() for part in np.indices(answers.shape))
    found = eh.correspondence(unit=unit, sensitive=group, prediction=answers.ravel(), run=run)
    truth = float(np.mean((chance[:, 0] - chance[:, 1]) ** 2))
    estimate = share(found, "excess_flip_share")
    assert estimate.low < truth < estimate.high
    assert estimate.high - estimate.low < 0.05


def test_scores_have_students_test():
    data = drawn(200, 2, 1, effect=0.1)
    found = eh.correspondence(data, unit="unit", sensitive="group", score="score")
    a, b = data["score"].reshape(200, 2).T
    assert found.p_value == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert found.value.value == pytest.approx(float(np.mean(a - b)))
    low, high = stats.ttest_rel(a, b).confidence_interval()
    assert found.difference.low < low < high < found.difference.high
    assert found.difference.high - found.difference.low < 1.2 * (high - low)
    assert share(found, "difference_between_groups").value == pytest.approx(float(np.sqrt(np.mean((a - b) ** 2))))
    span = np.ptp(np.quantile(data["score"], [0.025, 0.975]))
    assert found.threshold == pytest.approx(0.01 * span)
    assert any("a hundredth of the range" in note for note in found.notes)


def test_scores_from_0_to_1_keep_their_threshold():
    found = eh.correspondence(unit=[1, 1, 2, 2], sensitive=["a", "b"] * 2, score=[0.1, 0.2, 0.3, 0.3])
    assert found.threshold == 0.01


# --- what must hold

TABLES = st.integers(0, 2**32 - 1).map(
    lambda seed: drawn(12, 3, 2, effect=0.8, noise=0.6, seed=seed) | {"seed": seed}
)  # fmt: skip


def numbers(finding):
    return {
        (row.measure, row.group, row.against): (
            tuple(repr(part) for part in (row.estimate, row.difference, row.p_value, row.p_adjusted))
        )
        for row in finding.rows
    }


@given(TABLES, st.booleans())
def test_the_order_of_rows_does_not_matter(table, scored):
    seed = table.pop("seed")
    order = np.random.default_rng(seed).permutation(len(table["unit"]))
    roles = {
        "unit": "unit",
        "sensitive": "group",
        "run": "run",
        "score" if scored else "prediction": "score" if scored else "answer",
    }
    before = eh.correspondence(table, **roles)
    after = eh.correspondence({name: column[order] for name, column in table.items()}, **roles)
    assert numbers(before) == numbers(after)
    assert (before.interpretation, before.panels, before.p_value) == (after.interpretation, after.panels, after.p_value)


@given(TABLES)
def test_new_names_for_groups_change_names_only_and_a_swap_turns_the_sign(table):
    roles = {**ROLES, "run": "run"}
    names = {"g0": "z", "g1": "y", "g2": "x"}  # in the other order
    renamed = {**table, "group": np.array([names[name] for name in table["group"]])}
    before, after = eh.correspondence(table, **roles), eh.correspondence(renamed, **roles)
    turned = {(row.group[0], row.against): row for row in of_pair(after)}
    for row in of_pair(before):
        other = turned[names[row.against], names[row.group[0]]]
        assert (other.difference.value, other.difference.low, other.difference.high) == pytest.approx(
            (-row.difference.value, -row.difference.high, -row.difference.low)
        )
        assert other.p_value == pytest.approx(row.p_value)
    assert after.value.value == pytest.approx(before.value.value)
    assert after.verdict == before.verdict


@given(TABLES, st.sampled_from([1, 2]), st.sampled_from([0.0, 0.05, 0.5]), st.sampled_from([1, 10, 100]))
def test_one_answer(table, runs, threshold, least):
    kept = table["run"] < runs
    table = {name: column[kept] for name, column in table.items() if name != "seed"}
    found = eh.correspondence(table, **ROLES, run="run", threshold=threshold, min_group_size=least)
    assert found.verdict == verdict(found.value, found.threshold)
    assert verdict(found.evidence.estimate, found.threshold) == found.verdict
    assert found.value.low < found.value.high
    assert found.value.low <= found.value.value <= found.value.high
    for row in of_pair(found):
        assert row.difference.low < row.difference.high
        # what an interval says of 0, the test of its pair says too
        excluded = row.difference.low > 0 or row.difference.high < 0
        assert not excluded or row.p_value < 1 - 0.95 ** (1 / 3)
    if least == 100:
        assert found.verdict != "pass"


def test_an_interval_excludes_0_only_where_the_exact_test_does():
    found = eh.correspondence(pairs(0, 5, 0, 0), **ROLES)
    assert tango(5, 0, 5)[0] > 0
    assert found.p_value == 0.0625
    assert found.value.low == 0
    assert found.verdict == "inconclusive"


# --- groups and units that lack something


def test_each_pair_uses_the_units_with_both():
    data = {
        "unit": [1, 1, 1, 2, 2, 3, 3, 4],
        "group": ["a", "b", "c", "a", "b", "b", "c", "a"],
        "answer": [1, 0, 0, 1, 1, 0, 1, 1],
    }
    found = eh.correspondence(data, **ROLES)
    assert {(row.group[0], row.against): row.n for row in of_pair(found)} == {
        ("a", "b"): 2,
        ("a", "c"): 1,
        ("b", "c"): 2,
    }
    assert "Seen in one group only, so left out: 1 unit ('4')." in found.notes
    assert "Cochran's Q is over the 1 unit with every group." in found.notes


def test_without_a_unit_in_every_group_holm_is_what_remains():
    data = {"unit": [1, 1, 2, 2], "group": ["a", "b", "b", "c"], "answer": [1, 0, 0, 1]}
    found = eh.correspondence(data, **ROLES)
    assert found.tested == "McNemar's exact test, Holm over pairs"
    assert any("There is no Cochran's Q, because no unit has every group" in note for note in found.notes)
    row = next(row for row in of_pair(found) if (row.group, row.against) == (("a",), "c"))
    assert math.isnan(row.difference.value)
    assert row.reason == "no unit has both groups"


def test_uneven_runs_have_no_cochrans_q_and_say_where_noise_is_known():
    data = drawn(60, 3, 3)
    keep = (data["run"] == 0) | ((data["group"] == "g1") & (data["unit"] < 20))
    found = eh.correspondence({name: column[keep] for name, column in data.items()}, **ROLES, run="run")
    assert any("units have more runs in one group than in another" in note for note in found.notes)
    assert "in the 20 units that were run twice" in found.interpretation


def test_groups_of_few_units_support_no_pass_and_are_named():
    data = pairs(500, 0, 0, 500)
    more = {"unit": [0, 1, 2], "group": ["c"] * 3, "answer": [1, 1, 1]}
    found = eh.correspondence({name: data[name] + more[name] for name in data}, **ROLES)
    assert found.verdict == "pass"
    assert found.left_out == ("c",)
    assert "leaving out group = c, with fewer than 30 units" in found.interpretation
    few = eh.correspondence(pairs(29, 0, 0, 0), **ROLES, threshold=0.5)
    assert few.verdict == "inconclusive"
    assert few.value.high == 1.0


def test_answers_that_are_all_the_same():
    found = eh.correspondence(pairs(1000, 0, 0, 0), **ROLES)
    assert found.verdict == "pass"
    assert found.p_value == 1.0
    assert found.value.high > 0
    assert found.interpretation.startswith("None of the same units (n = 1,000) is decided differently in another group")
    assert len(found.panels) == 1
    same = eh.correspondence(unit=[1, 1, 2, 2], sensitive=["a", "b"] * 2, score=[7.0] * 4)
    assert same.value.low is None
    assert same.verdict == "inconclusive"
    assert "All scores are the same number" in same.notes[-1]


def test_one_unit():
    found = eh.correspondence(pairs(0, 1, 0, 0), **ROLES)
    assert found.verdict == "inconclusive"
    assert found.interpretation.startswith("Of the same units (n = 1), 100.0 % are decided positively as group = a")
    score = eh.correspondence(unit=[1, 1], sensitive=["a", "b"], score=[0.2, 0.9])
    assert (score.p_value, score.verdict) == (None, "inconclusive")


def test_two_hundred_groups():
    data = drawn(40, 200, 1)
    found = eh.correspondence(data, **ROLES)
    assert found.settings["pairs"] == 19_900
    assert len(of_pair(found)) == 1000
    assert found.verdict == "inconclusive"
    largest = max(abs(row.difference.value) for row in of_pair(found))
    assert largest == pytest.approx(found.value.value)


def test_runs_that_no_common_step_divides_are_tested_by_student():
    counts = {"u": (17, 19), "v": (23, 29), "w": (31, 37)}
    rows = [
        (unit, group, run)
        for unit, runs in counts.items()
        for group, many in zip("ab", runs, strict=True)
        for run in range(many)
    ]
    unit, group, run = zip(*rows, strict=True)
    answer = np.random.default_rng(0).integers(0, 2, len(rows))
    found = eh.correspondence(unit=list(unit), sensitive=list(group), run=list(run), prediction=answer)
    units = read_units(
        None, unit=list(unit), sensitive=list(group), run=list(run), prediction=answer,
        score=None, positive=1, bands=None, na=(),
    )  # fmt: skip
    assert found.p_value == pytest.approx(stats.ttest_rel(*units.means.T).pvalue)
    assert found.tested == "Student's t over units"


# --- policies and outputs


def test_the_policy_and_its_arguments():
    data = pairs(300, 60, 25, 615)
    assert eh.correspondence(data, **ROLES, threshold=0.1).verdict == "pass"
    assert (
        eh.correspondence(data, **ROLES, policy=eh.Policy(thresholds={"correspondence": 0.02})).verdict
        == "inconclusive"
    )
    wide, narrow = (eh.correspondence(data, **ROLES, confidence=c).value for c in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high
    with pytest.raises(eh.CallError, match="worst=-1 must be a whole number"):
        eh.correspondence(data, **ROLES, worst=-1)


def test_the_units_that_flip_most():
    data = drawn(200, 3, 2, noise=0.6)
    found = eh.correspondence(data, **ROLES, run="run", worst=5)
    panel = found.panels[1]
    flips = [row[panel.columns.index("flips")] for row in panel.rows]
    assert len(flips) == 5
    assert flips == sorted(flips, reverse=True)
    means = np.asarray(data["answer"]).reshape(200, 3, 2).mean(axis=2)
    unit = int(panel.rows[0][0])
    assert (panel.rows[0][2], panel.rows[0][4]) == (means[unit].max(), means[unit].min())
    assert len(eh.correspondence(data, **ROLES, run="run", worst=0).panels) == 1


def test_units_of_numbers_are_listed_in_their_order():
    panel = eh.correspondence(pairs(0, 12, 0, 30), **ROLES, worst=12).panels[1]
    assert [row[0] for row in panel.rows] == [str(i) for i in range(12)]


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_hostile_names_are_only_names_in_every_output(name, tmp_path):
    data = pairs(3, 30, 2, 10)
    data["group"] = [name if group == "a" else "b" for group in data["group"]]
    data["unit"] = [f"{name} {unit}" for unit in data["unit"]]
    arguments = {"score": None, "run": None, "positive": 1, "bands": None, "na": ()}
    finding = eh.correspondence(data, **ROLES)
    audit = Audit(read_units(data, **ROLES, **arguments).count(), eh.Policy(), (finding,), (), ("correspondence",))
    for suffix in ("html", "json", "md", "xml"):
        audit.save(tmp_path / f"audit.{suffix}")
    page = (tmp_path / "audit.html").read_text("utf-8")
    assert "<img src=x" not in page
    assert page.count("</script>") == page.count("<script")
    saved = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert saved["findings"][0]["verdict"] == "fail"
    assert eh.Audit.load(tmp_path / "audit.json").findings[0].panels == finding.panels


def test_the_largest_estimate_is_named_where_the_verdict_rests_on_another_pair():
    random = np.random.default_rng(0)
    unit, group, run = (part.ravel() for part in np.indices((40, 6, 2)))
    answer = (random.random(unit.size) * 0.5 + random.random(40)[unit] * 0.5 < 0.4).astype(int)
    found = eh.correspondence(
        {"u": unit, "g": group, "k": run, "a": answer}, unit="u", sensitive="g", prediction="a", run="k"
    )
    assert found.evidence is not None
    assert (found.highest, found.lowest) != (found.evidence.group[0], found.evidence.against)
    assert found.verdict == "inconclusive"
    said = (
        "The largest estimate is 3.8 points, between g = 2 and g = 0 (n = 40 units); the verdict does not rest on it."
    )
    assert said in found.notes
