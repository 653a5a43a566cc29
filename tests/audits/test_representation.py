"""representation(): shares against a benchmark, by hand; what is wrong with a benchmark; verdicts."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import evenhand as eh
from support.hostile import NAMES

SHARES = {"White": 0.6, "Black": 0.3, "Asian": 0.1}


def people(counts, **more):
    return {"race": list(counts), "n": list(counts.values()), **more}


def represented(counts, shares=SHARES, **more):
    return eh.representation(people(counts), count="n", benchmark={"race": shares}, **more)


def cells(panel):
    return {row[0]: dict(zip(reversed(panel.columns), reversed(row), strict=True)) for row in panel.rows}


# --- numbers


def test_every_figure_by_hand():
    found = represented({"White": 700, "Black": 200, "Asian": 100})
    rows = {row.group[0]: row for row in found.rows}
    black = rows["Black"]
    assert black.estimate.value == 0.2
    assert black.difference.value == pytest.approx(-0.1)
    assert black.ratio.value == pytest.approx(2 / 3)
    assert black.n == 1000
    assert black.p_value == stats.binomtest(200, 1000, 0.3).pvalue
    shares, whole, imbalance = found.panels
    line = cells(shares)["Black"]
    assert line["z"] == pytest.approx(-100 / math.sqrt(1000 * 0.3 * 0.7))
    assert line["shortfall"] == pytest.approx(100)
    assert (line["share"], line["expected"], line["people"]) == (0.2, pytest.approx(0.3), 200)
    assert cells(imbalance)["Black"]["skew"] == pytest.approx(math.log(2 / 3))
    assert cells(imbalance)["Black"]["class imbalance"] == pytest.approx((800 - 200) / 1000)
    numbers = dict(zip(whole.columns, whole.rows[0], strict=True))
    assert numbers["chi-square"] == pytest.approx(100**2 / 600 + 100**2 / 300)
    assert (numbers["df"], numbers["TVD"]) == (2, pytest.approx(0.1))
    assert numbers["KL"] == pytest.approx(0.7 * math.log(0.7 / 0.6) + 0.2 * math.log(2 / 3))
    assert numbers["L2"] == pytest.approx(math.sqrt(0.02))
    assert found.p_value == pytest.approx(stats.chisquare([700, 200, 100], [600, 300, 100]).pvalue)
    assert (numbers["lowest skew"], numbers["highest skew"]) == pytest.approx((math.log(2 / 3), math.log(7 / 6)))


def test_castaneda_against_partida():
    """430 U.S. 482 (1977), note 17; see tests/inference/test_shares.py."""
    found = represented(
        {"Mexican-American": 339, "other": 531}, {"Mexican-American": 0.791, "other": 0.209}, threshold=0.8
    )
    assert (found.verdict, found.highest) == ("fail", "Mexican-American")
    assert round(cells(found.panels[0])["Mexican-American"]["z"]) == -29
    assert found.interpretation == (
        "Mexican-American is 39.0 % of 870 people and 79.1 % of the benchmark: 0.49 times the expected share (95 % "
        "interval 0.45 to 0.54), below the threshold of 0.8."
    )


def test_hazelwood():
    """433 U.S. 299 (1977), note 17: of 405 teachers hired 15 were black; with 5.7 % in the labour market 23 are
    expected, fewer than two standard deviations away; with 15.4 % 62, and more than six."""
    for share, expected, least, most in ((0.057, 23, 1, 2), (0.154, 62, 6, 7)):
        found = represented({"black": 15, "white": 390}, {"black": share, "white": 1 - share})
        line = cells(found.panels[0])["black"]
        assert round(line["shortfall"] + 15) == expected
        assert least < -line["z"] < most


def test_labels_are_compared_with_those_of_everyone_else():
    data = {"race": ["a", "a", "b", "b"], "n": [30, 70, 60, 40], "y": [1, 0, 1, 0]}
    found = eh.representation(data, count="n", label="y", benchmark={"race": {"a": 0.5, "b": 0.5}})
    line = next(dict(zip(found.panels[2].columns, row, strict=True)) for row in found.panels[2].rows)
    assert line["label TVD"] == pytest.approx(0.3)
    assert line["label L2"] == pytest.approx(0.3 * math.sqrt(2))
    assert line["label KL"] == pytest.approx(0.6 * math.log(2) + 0.4 * math.log(4 / 7))  # everyone else from the group
    middle = np.array([0.45, 0.55])
    both = [stats.entropy(part, middle) for part in ([0.3, 0.7], [0.6, 0.4])]
    assert line["label JS"] == pytest.approx(sum(both) / 2)


def test_several_classes_of_labels():
    data = {"race": list("aaabbb"), "y": ["x", "y", "z", "x", "x", "y"], "n": [10, 10, 10, 20, 5, 5]}
    found = eh.representation(data, count="n", label="y", task="multiclass", benchmark={"race": {"a": 0.5, "b": 0.5}})
    line = dict(zip(found.panels[2].columns, found.panels[2].rows[0], strict=True))
    assert line["label TVD"] == pytest.approx((abs(1 / 3 - 25 / 30) + abs(1 / 3 - 5 / 30) + 1 / 3) / 2)


# --- verdicts


@pytest.mark.parametrize(
    ("counts", "limit", "verdict"),
    [
        ({"White": 6000, "Black": 3000, "Asian": 1000}, 0.8, "pass"),
        ({"White": 7000, "Black": 2000, "Asian": 1000}, 0.8, "fail"),
        ({"White": 66, "Black": 24, "Asian": 10}, 0.8, "inconclusive"),
        ({"White": 7000, "Black": 2000, "Asian": 1000}, None, "not judged"),
    ],
)
def test_verdicts_on_the_lowest_ratio(counts, limit, verdict):
    found = represented(counts, threshold=limit)
    assert found.verdict == verdict
    assert found.value.low <= found.value.value <= found.value.high
    assert found.value.value == pytest.approx(min(row.ratio.value for row in found.rows))


@pytest.mark.parametrize(
    ("limit", "verdict"), [(0.05, "fail"), (0.2, "pass"), (0.1, "inconclusive"), (None, "not judged")]
)
def test_verdicts_on_the_largest_difference(limit, verdict):
    found = represented({"White": 7000, "Black": 2000, "Asian": 1000}, threshold=limit, judged_on="difference")
    assert (found.verdict, found.judged_on) == (verdict, "difference")
    assert found.value.value == pytest.approx(0.1)


@pytest.mark.parametrize("judged_on", ["ratio", "difference"])
def test_few_people_support_no_pass(judged_on):
    loose = {"ratio": 0.01, "difference": 0.99}[judged_on]
    found = represented({"White": 6, "Black": 3, "Asian": 1}, threshold=loose, judged_on=judged_on)
    assert found.verdict == "inconclusive"
    assert any("too few to support a pass" in note for note in found.notes)


def test_intervals_cover_and_the_alarm_is_rare():
    random, covered, failed = np.random.default_rng(2), 0, 0
    for _ in range(200):
        drawn = random.multinomial(300, list(SHARES.values()))
        found = represented(dict(zip(SHARES, drawn.tolist(), strict=True)), threshold=1.0)
        covered += found.value.low <= 1 <= found.value.high
        failed += found.verdict == "fail"
    assert covered >= 190
    assert failed <= 10


# --- who is there


def test_a_group_that_nobody_is_in():
    found = represented({"White": 700, "Black": 300}, threshold=0.8)
    row = next(row for row in found.rows if row.group == ("Asian",))
    assert (row.ratio.value, row.estimate.value) == (0.0, 0.0)
    assert found.verdict == "fail"
    assert any(note.startswith("Nobody in the data is Asian") for note in found.notes)
    assert cells(found.panels[2])["Asian"]["skew"] == -math.inf


def test_one_group_alone_is_compared():
    found = represented({"White": 100}, {"White": 0.9, "Black": 0.1})
    assert found.value.value == 0.0
    assert found.p_value < 0.01


def test_missing_values_are_left_out():
    found = represented({"White": 60, "Black": 30, "Asian": 10, None: 50})
    assert found.rows[0].n == 100
    assert any("50 rows without a value are left out" in note for note in found.notes)


def test_weights_have_shares_and_no_exact_test():
    data = people({"White": 100, "Black": 100, "Asian": 100}, w=[2.0, 1.0, 1.0])
    found = eh.representation(
        data, count="n", weight="w", benchmark={"race": {"White": 0.5, "Black": 0.25, "Asian": 0.25}}
    )
    assert [row.ratio.value for row in found.rows] == pytest.approx([1, 1, 1])
    assert {row.p_value for row in found.rows} == {None}
    assert any(f"rest on {400**2 / 600:,.0f} people" in note for note in found.notes)
    assert {line["shortfall"] for line in cells(found.panels[0]).values()} == {None}


@pytest.mark.parametrize("weight", [0.0, 1e-6, 1e6])
def test_weights_of_any_size(weight):
    data = people({"White": 100, "Black": 100}, w=[weight, 1.0])
    found = eh.representation(
        data, count="n", weight="w", benchmark={"race": {"White": 0.5, "Black": 0.5}}, threshold=0.8
    )
    assert sum(row.estimate.value for row in found.rows) == pytest.approx(1)
    assert found.verdict in ("fail", "inconclusive")


def test_clusters_have_shares_alone():
    data = {"race": ["White", "Black"] * 50, "person": [f"{i // 2}" for i in range(100)]}
    found = eh.representation(data, cluster="person", benchmark={"race": {"White": 0.5, "Black": 0.5}}, threshold=0.8)
    assert (found.verdict, found.p_value, found.value.low) == ("inconclusive", None, None)
    assert any("belong together" in note for note in found.notes)


# --- how a benchmark is given


def test_the_same_question_in_many_ways(tmp_path):
    counts = {"White": 700, "Black": 200, "Asian": 100}
    first = represented(counts)
    path = tmp_path / "census.csv"
    path.write_text("value,share\n" + "".join(f"{name},{share}\n" for name, share in SHARES.items()))
    frame = pd.DataFrame(people(counts))
    cube = eh.Cube.count({**people(counts), "d": [1, 0, 1]}, count="n", prediction="d", sensitive="race")
    rows = {"race": [name for name, n in counts.items() for _ in range(n)]}
    for found in (
        eh.representation(frame, count="n", sensitive="race", benchmark=SHARES),
        eh.representation(frame, count="n", benchmark={"race": str(path)}),
        eh.representation(frame, count="n", sensitive=["race"], benchmark=path),
        eh.representation(cube, benchmark={"race": SHARES}),
        eh.representation(cube, benchmark=SHARES),
        eh.representation(rows, benchmark={"race": SHARES}),
        eh.representation(sensitive={"race": rows["race"]}, benchmark={"race": SHARES}),
    ):
        assert found.rows == first.rows
        assert found.value == first.value
        assert found.panels == first.panels


def test_names_that_are_numbers():
    found = eh.representation({"code": [1, 2, 2, 2]}, benchmark={"code": {1: 0.5, 2: 0.5}})
    assert [row.group for row in found.rows] == [("1",), ("2",)]


def test_rounded_shares_are_scaled():
    found = represented({"White": 600, "Black": 300, "Asian": 100}, {"White": 0.601, "Black": 0.3, "Asian": 0.101})
    assert any("add up to 1.002; they are scaled to 1" in note for note in found.notes)
    assert sum(line["expected"] for line in cells(found.panels[0]).values()) == pytest.approx(1)
    found = represented({"White": 600, "Black": 400}, {"White": 0.6, "Black": 0.4000001})
    assert any("add up to 1.0000001; they are scaled to 1" in note for note in found.notes)


def test_names_stay_names():
    found = eh.representation({"race": list(NAMES)}, benchmark={"race": dict.fromkeys(NAMES, 1 / len(NAMES))})
    assert len(found.rows) == len(NAMES)


# --- what is wrong with it


@pytest.mark.parametrize(
    ("benchmark", "message"),
    [
        (None, "benchmark= is missing"),
        ({}, "names no share"),
        ({"race": {"White": 0.6, "Black": 0.3}}, "add up to 0.9 and not to 1"),
        ({"race": {"White": 60, "Black": 30, "Asian": 10}}, "are these percentages"),
        ({"race": {"White": 0.6, "Blakc": 0.3, "Asian": 0.1}}, "has no share for 'Black'.*did you mean 'Blakc'"),
        ({"race": {"White": 0.7, "Asian": 0.3}}, "has no share for 'Black' of 'race'.*add the share"),
        ({"race": {"White": 1.0}}, "one group only"),
        ({"race": {"White": 0.6, "Black": 0.4, "Asian": 0}}, "against nobody there is no ratio"),
        ({"race": {"White": 0.6, "Black": -0.1, "Asian": 0.5}}, "not above 0 and at most 1"),
        ({"race": {"White": 0.6, "Black": math.nan, "Asian": 0.4}}, "not above 0 and at most 1"),
        ({"race": {"White": "much", "Black": 0.1, "Asian": 0.4}}, "not above 0 and at most 1"),
        ({"race": {1: 0.5, "1": 0.5}}, "names '1' twice"),
        ({"race": {None: 0.5, "White": 0.5}}, "missing values, who are left out"),
        ({"race": SHARES, "sex": SHARES}, "call once for each"),
        ({"rase": SHARES}, "did you mean 'race'"),
        (7, "must map values to shares"),
        ({"race": 0.5}, "one group only"),
        ([0.5, 0.5], "must map values to shares"),
        ({"race": [0.5, 0.5]}, "must map values to shares"),
    ],
)
def test_a_benchmark_that_cannot_be(benchmark, message):
    data = people({"White": 60, "Black": 30, "Asian": 10})
    with pytest.raises(eh.CallError, match=message):
        eh.representation(data, count="n", sensitive="race", benchmark=benchmark)


def test_shares_in_a_list_are_not_taken_for_a_missing_attribute():
    with pytest.raises(eh.CallError, match="must map values to shares"):
        eh.representation(people({"White": 60, "Black": 30}), count="n", benchmark={"race": [0.5, 0.5]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("group,share\nWhite,1\n", "has no column 'value'.*'group'"),
        ("value,percent\nWhite,1\n", "has no column 'share'"),
        ("value,share\nWhite,most\nBlack,0.5\n", "is 'most', which is not a number"),
        ("value,share\nWhite,0.5\nWhite,0.5\n", "twice"),
        ("value,share\n", "has no rows"),
    ],
)
def test_a_file_that_cannot_be(tmp_path, text, message):
    path = tmp_path / "census.csv"
    path.write_text(text)
    with pytest.raises(eh.EvenhandError, match=message):
        eh.representation(people({"White": 60, "Black": 30}), count="n", benchmark={"race": path})


def test_which_attribute_must_be_said():
    data = {"race": ["White", "Black"], "sex": ["f", "m"]}
    with pytest.raises(eh.CallError, match="must say which of"):
        eh.representation(data, sensitive=["race", "sex"], benchmark={"White": 0.5, "Black": 0.5})
    found = eh.representation(data, sensitive=["race", "sex"], benchmark={"sex": {"f": 0.5, "m": 0.5}})
    assert found.attributes == ("sex",)


def test_nobody_at_all():
    with pytest.raises(eh.EvenhandError, match=r"nothing to compare|no value|one group"):
        eh.representation({"race": [None, None]}, benchmark={"race": {"White": 0.5, "Black": 0.5}})


def test_judged_on_what():
    with pytest.raises(eh.CallError, match="judged_on"):
        represented({"White": 60, "Black": 30, "Asian": 10}, judged_on="value")


def test_an_audit_takes_it_and_keeps_it(tmp_path):
    data = {**people({"White": 700, "Black": 200, "Asian": 100}), "d": [1, 0, 1]}
    audit = eh.audit(data, count="n", prediction="d", sensitive="race")
    found = eh.representation(data, count="n", benchmark={"race": SHARES}, threshold=0.8)
    more = audit.add(found)
    more.save(tmp_path / "audit.json")
    more.save(tmp_path / "audit.html")
    more.save(tmp_path / "audit.md")
    loaded = eh.Audit.load(tmp_path / "audit.json")["representation"]
    assert (loaded.value, loaded.verdict, loaded.panels) == (found.value, found.verdict, found.panels)
    assert "### Shares against the benchmark" in (tmp_path / "audit.md").read_text()
    assert found.to_frame()["ratio"].notna().all()
