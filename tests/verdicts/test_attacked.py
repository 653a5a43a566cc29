"""Findings that lied when somebody who had not built them looked: each stays what it should be."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import evenhand as eh


def rows_of(*groups: tuple[str, int, float, float]) -> pd.DataFrame:
    """Rows of groups: name, people of each label, true and false positive rate."""
    rows = []
    for name, size, tpr, fpr in groups:
        for label, rate in ((1, tpr), (0, fpr)):
            rows += [(name, label, int(i < round(rate * size))) for i in range(size)]
    return pd.DataFrame(rows, columns=["g", "y", "p"])


def test_a_pass_on_an_average_does_not_speak_of_the_group_it_leaves_out():
    table = rows_of(("a", 2000, 0.5, 0.5), ("b", 2000, 0.5, 0.5), ("c", 10, 0.5, 0.6))
    found = eh.average_odds(table, label="y", prediction="p", sensitive="g")
    assert found.verdict == "pass"
    assert {found.evidence.group[0], found.evidence.against} == {"a", "b"}
    assert found.interpretation.endswith("leaving out g = c, with fewer than 30 rows to measure on.")


def test_a_pass_on_calibration_names_the_bins_that_it_leaves_out():
    score = np.array([0.05] * 3 + [0.95] * 97 + [0.05] * 50 + [0.95] * 50)
    label = np.array([1] * 100 + [0] * 50 + [1] * 50)
    found = eh.calibration(label=label, score=score, sensitive=["a"] * 100 + ["b"] * 100)
    assert found.left_out == ("a from 0 to 0.1",)
    assert "leaving out group a from 0 to 0.1, with" in found.interpretation


def test_a_pass_of_the_flip_test_names_who_is_left_out():
    table = pd.DataFrame({"a": np.linspace(-1, 1, 503), "g": ["x"] * 250 + ["y"] * 250 + ["z"] * 3})
    found = eh.flip_test(lambda rows: (rows["a"] > 0).astype(int).to_numpy(), table, sensitive="g")
    assert (found.verdict, found.left_out) == ("pass", ("z",))
    assert found.interpretation.endswith("leaving out g = z, with fewer than 30 people.")


def test_a_size_has_no_sign_and_the_ratio_of_its_own_pair():
    found = eh.equalized_odds(
        label=[1, 0, 1, 0, 1, 1, 0, 0] * 30,
        prediction=[1, 0, 1, 0, 0, 1, 1, 0] * 30,
        sensitive=list("aaaabbbb") * 30,
        convention="aif360",
        reference="a",
    )
    assert "a gap of 50.0 points" in found.interpretation
    rates = {row.group[0]: row.estimate.value for row in found.groups if row.measure == found.evidence.measure}
    assert found.evidence.ratio.value == pytest.approx(min(rates.values()) / max(rates.values()))


def test_a_pair_against_its_order_has_an_end_of_its_own():
    table = pd.DataFrame({"g": ["a"] * 44 + ["b"] + ["c"] * 35, "p": [1] * 43 + [0] + [1] + [1] * 34 + [0]})
    found = eh.demographic_parity(table, prediction="p", sensitive="g")
    difference = found.evidence.difference
    assert difference.low < difference.value - 0.01 or difference.low == 0.0


@pytest.mark.parametrize("interval", ["wilson", "newcombe", "agresti-caffo", "percentile", "simultaneous"])
def test_a_reference_that_a_stratum_lacks(interval):
    table = pd.DataFrame(
        {"g": ["a"] * 20 + ["b"] * 5 + ["a"] * 20, "c": ["u"] * 25 + ["v"] * 20, "p": [0, 1] * 22 + [1]}
    )
    found = eh.demographic_parity(table, prediction="p", sensitive="g", control="c", reference="b", interval=interval)
    assert found.interpretation.startswith("In c = u: ")


def test_no_nan_in_notes_and_no_note_on_a_tie():
    everybody = eh.disparate_impact(prediction=[0] * 80, sensitive=["a", "b"] * 40, reference="a")
    assert not any("nan" in note or "largest estimate" in note for note in everybody.notes)
    tie = eh.demographic_parity(prediction=[1, 1, 0] * 30, sensitive=["a", "b", "c"] * 30)
    assert not any("largest estimate is 0.0" in note for note in tie.notes)


def test_weights_far_apart_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eh.disparate_impact(
            prediction=[1, 0, 0] + [0, 1] * 20,
            sensitive=["a"] * 3 + ["b"] * 40,
            weight=[1] + [1e6] * 2 + [1.0] * 40,
            interval="wilson",
        )


@pytest.mark.parametrize("interval", ["percentile", "bayes", "bca", "basic"])
def test_an_index_lies_in_its_own_interval(interval):
    random = np.random.default_rng(5)
    for _ in range(10):
        label, prediction = random.integers(0, 2, 30), random.integers(0, 2, 30)
        for metric in (eh.theil_index, eh.generalized_entropy):
            value = metric(label=label, prediction=prediction, sensitive=["a", "b"] * 15, interval=interval).value
            assert value.low <= value.value <= value.high


def test_the_low_end_of_a_wide_ratio_keeps_its_digits():
    from evenhand.core.wording import reach

    assert reach((0.507, 677_788.0), 0.95, "ratio") == " (95 % interval 0.51 to 677,788)"


def test_of_two_groups_as_far_apart_the_one_that_decides_is_named():
    # By fairlearn's convention signs do not count: Black and White are both selected never, only White's end decides.
    finding = eh.disparate_impact(
        prediction=[1, 0, 0, 0],
        label=[0, 0, 0, 0],
        sensitive={"race": ["Asian", "Black", "Asian", "White"]},
        count=[30, 30, 150, 60],
        convention="fairlearn",
        reference="Asian",
    )
    assert finding.verdict == "fail"
    assert finding.evidence.group == ("White",)
    assert finding.evidence.ratio.high == finding.value.high < 0.8


def selected(**groups: tuple[int, int]) -> dict:
    """Decisions: so many selected of so many people, by group."""
    decision = [int(i < k) for k, n in groups.values() for i in range(n)]
    return {"prediction": decision, "sensitive": {"g": [name for name, (_, n) in groups.items() for _ in range(n)]}}


def test_a_yardstick_below_everyone_has_both_ends():
    data = selected(A=(4000, 10_000), C=(48, 100))
    policy = eh.Policy(reference="highest", min_reference_share=0.02)
    found = eh.audit(**data, policy=policy, metrics=["demographic_parity"]).findings[0]
    assert found.value.value == pytest.approx(-0.08)
    assert found.value.low < -0.15  # what passed had no end beyond its estimate
    assert found.value == found.shown == found.difference
    assert found.verdict == "inconclusive"


def test_the_gap_in_each_measure_is_that_of_the_yardstick():
    counts = {"a": (100, 900, 50, 950), "b": (100, 900, 60, 940), "c": (0, 4, 0, 4)}
    table = [(name, i // 2, i % 2, n) for name, row in counts.items() for i, n in enumerate(row)]
    table = pd.DataFrame(table, columns=["g", "y", "p", "n"])
    found = eh.equalized_odds(table, label="y", prediction="p", count="n", sensitive="g", reference="highest")
    for row in found.rows:
        if row.estimate is None:
            assert row.group != ("c",)
            assert row.difference.low <= row.difference.value <= row.difference.high


@pytest.mark.parametrize("n", [50, 110, 1000, 30_000])
@pytest.mark.parametrize("metric", [eh.brier_score_parity, eh.mean_score_parity, eh.log_loss_parity])
def test_rounding_errors_of_people_who_are_alike_are_no_interval(metric, n):
    label, sensitive = [1] * (n + 1), ["a"] * n + ["c"]
    found = metric(score=[0.52] * n + [0.88], label=label, sensitive=sensitive, threshold=0.1)
    assert found.verdict == "inconclusive"
    assert found.value.high - found.value.low > 0.1


def test_an_audit_of_one_number_can_be_loaded_again(tmp_path):
    rng = np.random.default_rng(0)
    data = {"label": rng.normal(size=200), "prediction": [2.0] * 200, "sensitive": {"g": ["a", "b"] * 100}}
    audit = eh.audit(**data, task="regression")
    audit.save(tmp_path / "audit.json")
    assert str(eh.Audit.load(tmp_path / "audit.json")) == str(audit)


def test_impact_ratios_are_of_rates_that_are_known():
    data = {"sensitive": {"g": list("aaaabbbbcc")}, "label": [0, 0, 1, 1] * 2 + [0, 1]}
    data |= {"prediction": [0, 1, 0, 1] * 2 + [0, 0], "count": [90, 20, 10, 80, 90, 30, 10, 70, 50, 5]}
    kinds = {"reference": "highest", "judged_on": "ratio", "threshold": 0.8}
    precise = eh.predictive_parity(**data, **kinds)
    told = [note for note in precise.notes if note.startswith("Impact ratios")]
    assert told == ["Impact ratios against g = a (80.0 %), the highest positive predictive value: g = b 0.87 (70.0 %)."]
    balance = eh.treatment_equality(**data, **kinds)  # errors for each other error are not a share of people
    assert not any(note.startswith("Impact ratios") for note in balance.notes)


def test_bounds_of_a_gap_contain_it_beside_a_group_that_has_no_value():
    data = {"sensitive": {"g": list("aaaabbbc")}, "prediction": [0, 0, 1, 1, 1, 1, 0, 0]}
    data |= {"label": [1, None, 0, 1, 1, 0, 1, None], "count": [2, 3, 7, 41, 50, 5, 2, 1]}
    found = eh.equal_opportunity(**data).sensitivity.gap_by_labels
    assert found.low <= found.value < 0.9 < found.high


def test_a_standardised_gap_without_ends_has_none():
    data = {"prediction": [3.0] * 80, "label": [3.0] * 80, "sensitive": {"g": ["a", "b"] * 40}}
    found = eh.mean_prediction_parity(**data, control={"s": ["u"] * 40 + ["v"] * 40}, task="regression")
    row = next(row for row in found.rows if row.measure == "standardised_gap")
    assert row.difference.low is None


@pytest.mark.parametrize("metric", ["demographic_parity", "equalized_odds", "disparate_impact"])
@pytest.mark.parametrize("selected", [0, 1])
def test_a_metric_alone_does_not_judge_what_is_the_same_for_any_groups(metric, selected):
    roles = {"label": [0, 0, 1, 1] * 50, "prediction": [selected] * 200, "sensitive": ["a", "b"] * 100}
    found = getattr(eh, metric)(**roles)
    if metric == "disparate_impact" and not selected:
        assert found.verdict == "inconclusive", "a ratio of 0/0 is undefined"
        return
    assert (found.verdict, found.threshold, found.passes, found.left_out) == ("not judged", None, None, ())
    assert found.value.high > 0.01 or found.value.low < 0.99  # the interval stays
    assert found.notes[0].startswith("Everybody" if selected else "Nobody")
    assert found.sensitivity.verdict == "not judged"
    one = {**roles, "prediction": [1 - selected, *[selected] * 199]}
    assert getattr(eh, metric)(**one).verdict != "not judged"


@pytest.mark.parametrize(
    ("metric", "judged_on", "judged_if"),
    [
        ("informedness_parity", "difference", ()),
        ("positive_likelihood_ratio_parity", "ratio", (0,)),
        ("negative_likelihood_ratio_parity", "ratio", (1,)),
        ("f1_parity", "difference", (1,)),
        ("threat_score_parity", "difference", (1,)),
        ("false_negative_rate_parity", "ratio", ()),
        ("balanced_accuracy_equality", "ratio", ()),
        ("overall_accuracy_equality", "difference", (0, 1)),
        ("matthews_correlation_parity", "difference", (0, 1)),
    ],
)
def test_what_everybody_s_decision_alone_makes_equal_is_never_a_pass(metric, judged_on, judged_if):
    label = [0, 0, 0, 1, 1, 1, 1, 0] * 50
    for selected in (0, 1):
        roles = {"label": label, "prediction": [selected] * 400, "sensitive": ["a", "b"] * 200}
        found = getattr(eh, metric)(**roles, judged_on=judged_on, threshold=0.8 if judged_on == "ratio" else 0.1)
        assert (found.verdict == "not judged") == (selected not in judged_if), selected


def test_classical_limits_hold_a_value_that_a_light_weight_moves_off_its_end():
    # Of three people one weighs a millionth: the middle of Jeffreys' posterior lies above so small a share.
    people = {"prediction": [1, 0, 0] + [0, 1] * 20, "sensitive": ["a"] * 3 + ["b"] * 40}
    weight = [1.0] + [1e6] * 2 + [1.0] * 40
    for interval in ("jeffreys", "wilson", "clopper-pearson", "agresti-coull", "katz"):
        for decision in (people["prediction"], [1 - each for each in people["prediction"]]):
            found = eh.demographic_parity(**{**people, "prediction": decision}, weight=weight, interval=interval)
            for row in found.groups:
                assert row.estimate.low <= row.estimate.value <= row.estimate.high, (interval, row)


def test_gaps_in_each_measure_hold_their_estimate():
    people = {"label": [1, 1, 1, 0, 0, 0] * 2, "prediction": [0] * 6 + [1, 1, 0, 1, 0, 0]}
    for interval in ("bayes", "percentile", "basic", "bca", "simultaneous", "wilson"):
        found = eh.equalized_odds(**people, sensitive=["a"] * 6 + ["b"] * 6, interval=interval)
        for row in found.rows:
            for each in (row.estimate, row.difference, row.ratio):
                assert each is None or each.low is None or each.low <= each.value <= each.high, (interval, row)


@pytest.mark.parametrize("interval", ["wilson", "newcombe", "agresti-caffo", "simultaneous", "percentile"])
@pytest.mark.parametrize("reference", [None, "highest", "lowest"])
def test_of_groups_that_are_alike_no_name_decides(interval, reference):
    people = {"x": (1, 1), "y": (40, 40), "z": (2, 10), "u": (1, 5), "v": (30, 60)}
    found = []
    for names in ("abcde", "edcba", "cadbe"):
        named = dict(zip(names, people.values(), strict=True))
        one = eh.demographic_parity(**selected(**named), interval=interval, reference=reference, draws=200)
        found.append((one.verdict, one.value, one.evidence.n, one.evidence.n_against))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("unit", [7.3, 1e-3, 1 / 3])
def test_the_test_of_whole_weights_does_not_depend_on_their_unit(unit):
    people = {"prediction": [1, 0, 0, 1, 1, 1, 1, 1] * 3, "sensitive": list("aaabbccc") * 3}
    weight = np.array([1.0, 1, 0, 1, 1, 1, 0, 1] * 3)
    one, other = (eh.demographic_parity(**people, weight=weight * each) for each in (1.0, unit))
    assert (other.p_value, other.tested) == (one.p_value, one.tested)


def test_one_score_has_no_calibration_slope():
    found = eh.calibration_slope_parity(score=[0.3] * 80, label=[0, 1] * 40, sensitive=["a"] * 40 + ["b"] * 40)
    assert not found.value.defined


def test_impact_ratios_by_class_of_a_score_where_a_group_has_no_weight():
    data = {"score": [0.1, 0.9] * 6, "sensitive": ["a", "b", "c"] * 4, "weight": [0, 1, 1] * 4}
    found = eh.impact_ratio_by_class(**data)
    reasons = {row.reason for row in found.groups if row.group == ("a",)}
    assert reasons == {"no scores among group a with a weight above 0"}


def test_without_an_error_in_the_sample_no_gap_is_called_detectable():
    label = [0, 1] * 40
    found = eh.balanced_accuracy_equality(label=label, prediction=label, sensitive=list("aabbccdd") * 10)
    assert np.isnan(found.sample.detectable_gap)
    assert not any("apart by chance" in note for note in found.notes)


def test_where_nobody_is_selected_a_gap_must_be_wide_to_be_found():
    for selected in (0, 1):
        found = eh.demographic_parity(prediction=[selected] * 200, sensitive=["a", "b"] * 100).sample
        assert 0.05 < found.detectable_gap < 0.12  # with rates of 0 and .07 in two groups of 100, 80 % are found
