"""Impossibility: known numbers, properties, intervals, degenerate cases, words, errors."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.audits.least_gaps import BaseRates, smallest_gap
from evenhand.core.results import spell
from evenhand.errors import CallError
from support.hostile import NAMES
from support.profiles import examples
from support.strategies import tables

COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
PAIR = ["African-American", "Caucasian"]

# All three gaps are .1 at these rates, and no rates with the same totals do better: PPV .6 and .5, FNR .55 and .45,
# FPR .3 and .2, with the group of the higher base rate behind in TPR and ahead in FPR, as far as ε allows.
TIGHT = {"a": (70, 30, 55, 45), "b": (220, 55, 45, 55)}


def counted(groups: dict[str, tuple[int, int, int, int]], **more: object) -> eh.Cube:
    """A cube from TN, FP, FN and TP of each group."""
    lines = [(name, i // 2, i % 2, n) for name, cells in groups.items() for i, n in enumerate(cells)]
    group, label, prediction, count = map(list, zip(*lines, strict=True))
    return eh.Cube.count(label=label, prediction=prediction, sensitive={"g": group}, count=count, **more)


def found(groups: dict[str, tuple[int, int, int, int]], **more: object) -> eh.Impossibility:
    return eh.impossibility(counted(groups), **{"min_group_size": 1, **more})


def compas(**more: object) -> eh.Cube:
    return eh.Cube.count(eh.datasets.compas(), **{**COMPAS, "sensitive": "race", **more})


# --- known numbers


def test_both_forced_numbers_on_compas():
    result = eh.impossibility(compas(), groups=PAIR)
    assert result.implied_gap.value == pytest.approx(0.16497, abs=5e-6)
    assert result.smallest_epsilon.value == pytest.approx(0.05691, abs=5e-6)
    assert result.degenerate is None
    rates = {line.group[0]: (line.base_rate, line.ppv, line.fpr, line.fnr) for line in result.groups}
    assert rates["African-American"] == pytest.approx((0.5143, 0.6297, 0.4485, 0.2799), abs=5e-5)
    assert rates["Caucasian"] == pytest.approx((0.3936, 0.5913, 0.2345, 0.4772), abs=5e-5)
    assert result.gaps.largest == pytest.approx(0.4485 - 0.2345, abs=1e-4)


@pytest.mark.parametrize("sensitive", ["race", "sex", "age", ["race", "sex"]])
def test_the_identity_holds_for_every_group_of_compas(sensitive):
    result = eh.impossibility(compas(sensitive=sensitive), attribute=sensitive)
    assert len(result.groups) >= 2
    for line in result.groups:
        if line.reason is None:
            assert abs(line.residual) < 1e-12
        else:
            assert math.isnan(line.residual)


def test_compas_leaves_the_smallest_group_out_and_says_so():
    result = eh.impossibility(compas())
    assert [line.group[0] for line in result.groups if line.left_out] == ["Native American"]
    assert len(result.compared) == 5
    assert any("fewer than 30 people" in note and "Native American" in note for note in result.notes)
    assert result.smallest_epsilon.value == pytest.approx(0.10499, abs=1e-4)
    assert result.implied_gap.value == pytest.approx(0.26351, abs=5e-6)


def test_the_implied_gap_by_hand():
    # Odds 1 and 1/4, PPV 35/70, FNR ½: FPR = odds · 1 · ½.
    result = found({"a": (30, 20, 30, 20), "b": (65, 15, 5, 15)})
    assert (result.pooled.ppv, result.pooled.fnr) == (0.5, 0.5)
    assert result.implied_gap.value == pytest.approx(0.375)
    assert [line.fpr_at_pooled for line in result.groups] == pytest.approx([0.5, 0.125])


def test_the_smallest_gap_by_hand():
    assert found(TIGHT).smallest_epsilon.value == pytest.approx(0.1, abs=1e-12)
    assert found(TIGHT).gaps.largest == pytest.approx(0.1)
    other = {"a": (80, 20, 40, 60), "b": (210, 65, 60, 40)}  # the same people and totals, other decisions
    assert found(other).smallest_epsilon.value == pytest.approx(0.1, abs=1e-12)


def test_with_everyone_selected_ppv_is_the_base_rate():
    everyone = {"a": (0, 50, 0, 50), "b": (0, 80, 0, 20), "c": (0, 70, 0, 30)}
    assert found(everyone).smallest_epsilon.value == pytest.approx(0.3)
    assert found({"a": (0, 50, 0, 50), "b": (0, 80, 0, 20)}).smallest_epsilon.value == pytest.approx(0.3)


def test_a_calibrated_balanced_score_has_the_gap_that_is_said():
    # Both groups: .8 or 0. Calibrated, and the positives have mean .8; odds 1 and ¼ force (1 − .8) · ¾.
    lines = [("a", 0.8, 1, 500), ("a", 0.8, 0, 125), ("a", 0.0, 0, 375)]
    lines += [("b", 0.8, 1, 200), ("b", 0.8, 0, 50), ("b", 0.0, 0, 750)]
    group, score, label, count = map(list, zip(*lines, strict=True))
    roles = {"label": label, "score": score, "sensitive": group, "count": count, "cutoff": 0.5}
    result = eh.impossibility(eh.Cube.count(**roles))
    assert result.negative_class_gap.value == pytest.approx(0.15)
    assert eh.balance_for_negative_class(**roles).difference.value == pytest.approx(0.15)
    assert any("negatives would lie 15.0 points apart" in sentence for sentence in result.sentences)


def test_a_balance_below_a_base_rate_is_refused():
    result = eh.impossibility(
        eh.Cube.count(
            label=[1] * 90 + [0] * 10 + [1] * 20 + [0] * 80,
            score=[0.3] * 200,
            cutoff=0.2,
            sensitive=["a"] * 100 + ["b"] * 100,
        )
    )
    assert not result.negative_class_gap.defined
    assert any("none has this mean in every group" in sentence for sentence in result.sentences)


def test_the_panel_holds_the_curve_and_what_was_observed():
    result = eh.impossibility(compas(), groups=PAIR)
    assert result.panel.kind == "curve"
    series = [row[0] for row in result.panel.rows]
    assert series[-2:] == ["least for all three", "observed"]
    assert result.panel.rows[-1][1:] == (result.gaps.ppv, max(result.gaps.fpr, result.gaps.fnr))
    assert all(len(row) == len(result.panel.columns) for row in result.panel.rows)


# --- properties


@examples(40)
@given(tables(complete=True, weights=True))
def test_the_identity_holds(table):
    for line in eh.impossibility(table.cube(), min_group_size=10**6).groups:
        assert line.reason is None
        assert abs(line.residual) < 1e-12


counts = st.integers(1, 200)
cells = st.tuples(counts, counts, counts, counts)


@examples(40)
@given(st.lists(cells, min_size=2, max_size=2))
def test_the_smallest_gap_of_two_is_never_more_than_what_was_observed(groups):
    result = found(dict(zip("ab", groups, strict=True)))
    assert 0 <= result.smallest_epsilon.value <= result.gaps.largest + 1e-9
    if result.degenerate is None:
        assert result.smallest_epsilon.low <= result.smallest_epsilon.value <= result.smallest_epsilon.high


@examples(20)
@given(st.lists(cells, min_size=2, max_size=2), st.integers(2, 50))
def test_neither_order_nor_scale_matters(groups, factor):
    first = found(dict(zip("ab", groups, strict=True)))
    turned = found(dict(zip("ab", groups[::-1], strict=True)))
    scaled = found({name: tuple(factor * n for n in part) for name, part in zip("ab", groups, strict=True)})
    for other in (turned, scaled):
        assert other.smallest_epsilon.value == pytest.approx(first.smallest_epsilon.value, abs=1e-9)
        assert other.implied_gap.value == pytest.approx(first.implied_gap.value, abs=1e-9, nan_ok=True)


@examples(40)
@given(cells, st.integers(1, 9), st.data())
def test_nothing_is_forced_at_equal_base_rates(first, factor, data):
    tn, fp, fn, tp = first
    negatives, positives = factor * (tn + fp), factor * (fn + tp)
    fp2, tp2 = data.draw(st.integers(0, negatives)), data.draw(st.integers(0, positives))
    result = found({"a": first, "b": (negatives - fp2, fp2, positives - tp2, tp2)})
    assert result.smallest_epsilon.value == 0
    assert result.implied_gap.value == pytest.approx(0, abs=1e-12)
    assert "equal" in result.degenerate
    assert all(each.possible for each in result.together)


# --- how sure it is


def test_the_intervals_hold_their_value_and_reach_zero():
    clear = eh.impossibility(compas(), groups=PAIR)
    for value in (clear.implied_gap, clear.smallest_epsilon):
        assert 0 < value.low < value.value < value.high < 1
    unclear = found({"a": (20, 12, 9, 20), "b": (22, 11, 9, 18)})
    assert unclear.smallest_epsilon.low == unclear.implied_gap.low == 0
    assert any("cannot tell the base rates apart" in note for note in unclear.notes)
    wide = eh.impossibility(compas(), groups=PAIR, confidence=0.99)
    assert wide.smallest_epsilon.low < clear.smallest_epsilon.low
    assert wide.smallest_epsilon.high > clear.smallest_epsilon.high


@pytest.mark.parametrize("rates", [(0.5, 0.4), (0.4, 0.4)])
def test_the_intervals_cover(rates):
    rng = np.random.default_rng(1)
    n, p, t, f = np.array([800, 500]), np.array(rates), np.array([0.7, 0.6]), np.array([0.4, 0.3])
    expected = np.stack([n * (1 - p) * (1 - f), n * (1 - p) * f, n * p * (1 - t), n * p * t], axis=1)
    truth = smallest_gap(BaseRates.of(expected))
    covered = 0
    for _ in range(60):
        positives = rng.binomial(n, p)
        tp, fp = rng.binomial(positives, t), rng.binomial(n - positives, f)
        drawn = np.stack([n - positives - fp, fp, positives - tp, tp], axis=1)
        value = found(dict(zip("ab", map(tuple, drawn.tolist()), strict=True))).smallest_epsilon
        covered += value.low is None or value.low <= truth <= value.high
    assert covered >= 53


# --- degenerate cases


@pytest.mark.parametrize(
    ("groups", "said", "epsilon", "implied"),
    [
        ({"a": (40, 10, 10, 40), "b": (35, 15, 20, 30)}, "Base rates are equal", 0, 0),
        ({"a": (50, 0, 0, 50), "b": (80, 0, 0, 20)}, "perfect prediction", 0, 0),
        ({"a": (50, 0, 30, 20), "b": (80, 0, 10, 10)}, "no false positives", 0, 0),
        ({"a": (40, 10, 50, 0), "b": (70, 10, 20, 0)}, "no true positives", 0, math.nan),
        ({"a": (50, 0, 50, 0), "b": (80, 0, 20, 0)}, "Nobody is selected", math.nan, math.nan),
    ],
)
def test_degenerate_cases_are_recognised(groups, said, epsilon, implied):
    result = found(groups)
    assert said in result.degenerate
    assert said in result.sentences[0]
    assert result.smallest_epsilon.value == pytest.approx(epsilon, nan_ok=True)
    assert result.implied_gap.value == pytest.approx(implied, nan_ok=True)
    assert result.together[0].possible
    json.dumps(result.to_dict(), allow_nan=False)


def test_perfect_prediction_allows_calibration_and_both_balances():
    perfect = found({"a": (50, 0, 0, 50), "b": (80, 0, 0, 20)})
    imperfect = found({"a": (50, 0, 10, 40), "b": (80, 0, 0, 20)})
    assert all(each.possible for each in perfect.together)
    assert [each.criteria for each in imperfect.together if not each.possible] == [
        ("calibration", "balance_for_positive_class", "balance_for_negative_class")
    ]


@pytest.mark.parametrize(("odd", "label"), [((50, 10, 0, 0), "positive"), ((0, 0, 20, 40), "negative")])
def test_a_base_rate_of_0_or_1_is_shown_and_not_compared(odd, label):
    result = found({**TIGHT, "odd": odd})
    assert result.smallest_epsilon.value == pytest.approx(0.1)
    line = result.groups[-1]
    assert line.left_out == f"no {label} labels: its base rate is {int(label == 'negative')}"
    assert f"no {label} labels among odd" in line.reason or "PPV is 0" in line.reason
    alone = found({"a": TIGHT["a"], "odd": odd})
    assert "Only g = a can be compared" in alone.degenerate


@pytest.mark.parametrize("person", [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)])
def test_one_person_changes_nothing_that_is_forced_on_three_groups(person):
    three = {**TIGHT, "c": (40, 30, 20, 60)}
    with_one = found({**three, "one": person}, min_group_size=1)
    assert with_one.smallest_epsilon.value == found(three).smallest_epsilon.value
    assert with_one.panel == found(three).panel


def test_one_group_has_nothing_to_be_compared_with():
    result = found({"a": TIGHT["a"]})
    assert "Only g = a can be compared" in result.degenerate
    assert not result.smallest_epsilon.defined
    assert result.panel is None
    assert result.groups[0].residual == pytest.approx(0, abs=1e-12)
    nobody = found(TIGHT, min_group_size=10_000)
    assert "No group can be compared" in str(nobody)
    json.dumps(nobody.to_dict(), allow_nan=False)


def test_missing_and_small_groups_are_left_out():
    lines = [("a", *TIGHT["a"]), ("b", *TIGHT["b"]), (None, 9, 9, 9, 90), ("c", 1, 2, 3, 4)]
    rows = [(name, i // 2, i % 2, n) for name, *part in lines for i, n in enumerate(part)]
    group, label, prediction, count = map(list, zip(*rows, strict=True))
    cube = eh.Cube.count(label=label, prediction=prediction, sensitive={"g": group}, count=count)
    result = eh.impossibility(cube)
    assert result.smallest_epsilon.value == pytest.approx(0.1)
    assert {line.group: line.left_out for line in result.groups if line.left_out} == {
        (None,): "the group is missing",
        ("c",): "fewer than 30 people with a label and a decision",
    }
    assert any("(missing)" in note for note in result.notes)


def test_an_undefined_identity_has_a_reason():
    result = found({**TIGHT, "none": (40, 0, 10, 0), "wrong": (40, 10, 10, 0)})
    reasons = {line.group[0]: line.reason for line in result.groups}
    assert reasons["none"] == "no positive decisions among none"
    assert "the PPV is 0" in reasons["wrong"]
    assert reasons["a"] is None


def test_a_false_positive_rate_above_1_cannot_be():
    result = found({"a": (2, 8, 10, 80), "b": (60, 30, 2, 8)})
    assert not result.implied_gap.defined
    assert any("the FPR of g = a would have to be" in sentence for sentence in result.sentences)
    assert result.smallest_epsilon.defined
    assert max(line.fpr_at_pooled for line in result.groups) > 1


def test_unlabelled_people_and_strata_are_said():
    label, prediction, group = [0, 1, 0, 1] * 20 + [None] * 4, [0, 1, 1, 0] * 21, list("aabb") * 21
    cube = eh.Cube.count(label=label, prediction=prediction, sensitive=group, control=["x", "y"] * 42)
    result = eh.impossibility(cube)
    assert any(note.startswith("4 people without a label") for note in result.notes)
    assert "Over all strata together." in result.notes
    assert sum(line.n for line in result.groups) == 80


# --- how it is called, and what it says


def test_an_audit_brings_its_policy():
    audit = compas().audit(min_group_size=400, metrics=["equalized_odds"])
    result = eh.impossibility(audit)
    assert [line.group[0] for line in result.compared] == ["African-American", "Caucasian", "Hispanic"]
    assert len(eh.impossibility(audit, min_group_size=10).compared) == 6


def test_weights_count_as_what_they_are_worth():
    label, prediction, group = [0, 0, 1, 1] * 40, [0, 1, 0, 1] * 40, ["a"] * 80 + ["b"] * 80
    weight = [3.0, 1.0, 1.0, 2.0] * 20 + [5.0, 1.0, 1.0, 1.0] * 20
    cube = eh.Cube.count(label=label, prediction=prediction, sensitive=group, weight=weight)
    plain = found({"a": (60, 20, 20, 40), "b": (100, 20, 20, 20)})
    assert eh.impossibility(cube).smallest_epsilon.value == pytest.approx(plain.smallest_epsilon.value)


def test_the_text_leads_with_the_groups_and_tells_both_numbers():
    text = str(eh.impossibility(compas(), groups=PAIR))
    assert text.startswith("race: 2 groups compared, 6,150 people\n")
    assert "16.5 points apart (95 % interval" in text
    assert "all below 5.7 points (95 % interval" in text
    assert not {"fair", "unfair"} & set(text.lower().replace(".", " ").split())


def test_many_groups_are_cut_short_in_the_text():
    groups = {f"{i:03}": (40 + i % 2, 10, 10, 40) for i in range(25)}
    assert "\n5 more groups\n" in str(found(groups))


def test_names_are_only_names():
    label, prediction, count = [0, 0, 1, 1], [0, 1, 0, 1], [30, 10, 10, 40]
    names = list(NAMES.values())[:20]
    cube = eh.Cube.count(
        label=label * len(names),
        prediction=prediction * len(names),
        sensitive={"g": [name for name in names for _ in label]},
        count=count * len(names),
    )
    result = eh.impossibility(cube)
    assert [line.group for line in result.groups] == list(cube.groups)
    assert all(spell(group)[:10] in str(result) for group in cube.groups)
    json.dumps(result.to_dict(), allow_nan=False)


def test_as_plain_data():
    told = json.loads(json.dumps(eh.impossibility(compas(), groups=PAIR).to_dict(), allow_nan=False))
    assert told["smallest_epsilon"]["value"] == pytest.approx(0.0569, abs=5e-5)
    assert told["groups"][0]["group"] == ["African-American"]
    assert told["together"][0] == {
        "criteria": ["predictive_parity", "predictive_equality", "false_negative_rate_parity"],
        "possible": False,
        "sentence": "Equal PPV, FPR and FNR cannot hold together, because base rates differ and there are false "
        "positives.",
    }
    assert told["panel"]["kind"] == "curve"


def test_the_criteria_are_metrics_of_the_catalogue():
    from evenhand.catalogue import METRICS

    assert {name for each in found(TIGHT).together for name in each.criteria} <= set(METRICS)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (lambda: eh.Cube.count(prediction=[1, 0], sensitive=["a", "b"]), {}, "needs labels.*label="),
        (lambda: eh.Cube.count(label=[1, 0], sensitive=["a", "b"]), {}, "needs decisions.*prediction="),
        (lambda: compas(sensitive=["race", "sex"]), {}, "attribute= must say which.*'race', 'sex'"),
        (compas, {"attribute": "rase"}, "did you mean 'race'"),
        (compas, {"groups": ["Caucasian", "african-american"]}, "did you mean 'African-American'"),
        (compas, {"groups": "Caucasian"}, "must be a list or None, such as"),
        (compas, {"confidence": 95}, "confidence=95"),
        (compas, {"min_group_size": 0}, "min_group_size=0"),
        (lambda: "compas.csv", {}, "takes an audit or a cube, not str"),
        (
            lambda: eh.Cube.count(label=list("xyz"), prediction=list("xyz"), sensitive=list("aab"), task="multiclass"),
            {},
            "yes-or-no decisions.*multiclass",
        ),
    ],
)
def test_calls_that_cannot_be_answered_say_what_to_do(make, arguments, message):
    with pytest.raises(CallError, match=message):
        eh.impossibility(make(), **arguments)
