"""stability(): gaps between groups with intervals and verdicts, right and wrong decisions, abstention, and errors."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import evenhand as eh
from evenhand.replicas import dimensions
from evenhand.replicas.abstention import SHARES
from evenhand.replicas.findings import STABILITY

# Four replicas of five people; votes for 1: 4, 2, 0 | 3, 1.
P = np.array(
    [
        [0.9, 0.6, 0.1, 0.8, 0.7],
        [0.8, 0.7, 0.2, 0.6, 0.4],
        [0.7, 0.4, 0.1, 0.9, 0.3],
        [0.9, 0.35, 0.4, 0.2, 0.1],
    ]
)
GROUPS = ["a", "a", "a", "b", "b"]
LABEL = [1, 1, 0, 0, 1]


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def ensemble(seed: int = 0, sizes: tuple[int, ...] = (300, 300), replicas: int = 20, shifts=(0.0, 1.0)):
    """Logistic models with random coefficients, labels of the true one, and groups g0, g1, …"""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    x = random.normal(size=(len(group), 4))
    x[:, 0] += np.array(shifts)[group]
    logits = (np.array([1.0, 0.7, 0.5, 0.3]) + 0.3 * random.normal(size=(replicas, 4))) @ x.T
    label = (random.random(len(group)) < 1 / (1 + np.exp(-x @ [1.0, 0.7, 0.5, 0.3]))).astype(int)
    return 1 / (1 + np.exp(-logits)), label, np.array([f"g{i}" for i in group])


# --- numbers by hand


def test_every_person_group_and_everyone():
    found = eh.stability(P, label=LABEL, sensitive=GROUPS)
    assert found.people["label_stability"] == close([1, 0, 1, 0.5, 0.5])
    assert found.decisions.tolist() == [1, 1, 0, 1, 0]
    assert found.overall["label_stability"].value == close(0.6)
    by_group = {row.group[0]: row.estimate.value for row in found.finding("label_stability").groups}
    assert by_group == {"a": close(2 / 3), "b": close(0.5)}
    assert found.people["jitter"] == close([0, 2 / 3, 0, 0.5, 0.5])
    assert found.people["statistical_bias"] == close(np.abs(np.array(LABEL) - P.mean(axis=0)))
    assert found.cube.measures(["accuracy"])["accuracy"] == close([1.0, 0.0])


@pytest.mark.parametrize(
    ("reference", "difference", "ratio", "names"),
    [
        (None, 1 / 6, 3 / 4, ("a", "b")),
        ("b", 1 / 6, 4 / 3, ("a", "b")),
        ("a", -1 / 6, 3 / 4, ("b", "a")),
        ("rest", 1 / 6, 4 / 3, ("a", "everyone else")),
    ],
)
def test_groups_are_set_against_extremes_a_reference_or_the_rest(reference, difference, ratio, names):
    found = eh.label_stability_difference(P, sensitive=GROUPS, reference=reference)
    assert found.difference.value == close(difference)
    assert found.ratio.value == close(ratio)
    assert (found.highest, found.lowest) == names


def test_the_rest_is_everyone_else_of_each_group():
    p, _, _ = ensemble(sizes=(40, 50, 60), shifts=(0, 1, 2))
    group = np.repeat(["x", "y", "z"], (40, 50, 60))
    found = eh.jitter_difference(p, sensitive=group, reference="rest")
    jitter = eh.stability(p, sensitive=group).people["jitter"]
    for row in found.groups:
        mine = group == row.group[0]
        assert row.difference.value == close(jitter[mine].mean() - jitter[~mine].mean())
        assert row.against == "everyone else"
        assert row.difference.low < row.difference.value < row.difference.high


def test_a_ratio_is_judged_at_four_fifths():
    found = eh.epistemic_uncertainty_ratio(*ensemble()[:1], sensitive=ensemble()[2])
    assert (found.metric, found.judged_on, found.threshold) == ("epistemic_uncertainty_difference", "ratio", 0.8)
    assert found.verdict in ("pass", "fail", "inconclusive")
    assert eh.epistemic_uncertainty_difference(*ensemble()[:1], sensitive=ensemble()[2]).verdict == "not judged"


def test_every_metric_has_a_function_that_agrees_with_stability():
    p, label, group = ensemble(sizes=(60, 60))
    whole = eh.stability(p, label=label, sensitive=group)
    assert [finding.metric for finding in whole.findings] == list(STABILITY)
    for name in STABILITY:
        alone = getattr(eh, name)(p, label=label, sensitive=group)
        assert alone.value == whole.finding(name).value
        assert alone.interpretation == whole.finding(name).interpretation
    with pytest.raises(eh.CallError, match="takes no argument 'thresh'; did you mean 'threshold'"):
        eh.jitter_difference(p, sensitive=group, thresh=0.1)


def test_groups_may_be_set_against_the_highest():
    p, _, group = ensemble(sizes=(60, 60, 60), shifts=(0.0, 1.0, 2.0))
    found = eh.label_stability_ratio(p, sensitive=group, reference="highest")
    assert {row.against for row in found.groups} == {"g2"}
    assert all(row.ratio.low <= row.ratio.value <= row.ratio.high <= 1 for row in found.groups)


def test_a_finding_is_found_by_metric_alias_or_dimension():
    found = eh.stability(P, sensitive=GROUPS)
    assert found.finding("jitter") is found.finding("jitter_ratio") is found.finding("jitter_difference")
    with pytest.raises(eh.CallError, match="'jiter' was not computed here; did you mean 'jitter'"):
        found.finding("jiter")


# --- intervals and verdicts


def test_intervals_widen_with_the_doubt_that_replicas_bring():
    """The same people; a few replicas leave more doubt than many."""
    p, label, group = ensemble(replicas=200)
    few, many = (eh.jitter_difference(part, label=label, sensitive=group, reference="g0") for part in (p[:6], p))
    assert few.value.high - few.value.low > 1.3 * (many.value.high - many.value.low)


def test_verdicts_follow_the_interval():
    p, label, group = ensemble(sizes=(2000, 2000), shifts=(0.0, 2.5))
    found = eh.label_stability_difference(p, label=label, sensitive=group, threshold=0.02)
    assert found.verdict == "fail"
    assert found.value.low > 0.02
    assert eh.label_stability_difference(p, label=label, sensitive=group, threshold=0.9).verdict == "pass"
    assert "above the threshold of 0.02" in found.interpretation
    doubtful = eh.label_stability_difference(p, sensitive=group, threshold=abs(float(found.value)))
    assert doubtful.verdict == "inconclusive"
    assert "More people alone are not expected to settle it" in " ".join(doubtful.notes)


def test_small_numbers_are_told_with_enough_figures():
    p, _, group = ensemble()
    found = eh.epistemic_variance_difference(p, sensitive=group)
    assert f"interval {found.value.low:.4f} to {found.value.high:.4f}" in found.interpretation


@pytest.mark.parametrize("sizes", [(300, 60), (120, 120, 120)], ids=str)
def test_intervals_hold_the_true_gap(sizes):
    """A small version of benchmarks/stability.py --coverage: 40 ensembles, truths as means over large ones."""
    shifts = (0.0, 1.0) if len(sizes) == 2 else (0.0, 0.5, 1.0)
    names = ("label_stability", "epistemic_uncertainty")
    metrics = {f"{name}_difference": name for name in names}
    large = [ensemble(9000 + i, (2000,) * len(shifts), 20, shifts) for i in range(25)]
    truths = {
        metric: np.mean(
            [[dimensions.measure(p, names=[name]).people[name][group == g].mean() for g in np.unique(group)]
             for p, _, group in large], axis=0)
        for metric, name in metrics.items()
    }  # fmt: skip
    held = dict.fromkeys(metrics, 0)
    for i in range(40):
        p, _, group = ensemble(i, sizes, 20, shifts)
        for found in eh.stability(p, sensitive=group, metrics=list(metrics)).findings:
            true = truths[found.metric]
            held[found.metric] += found.difference.low <= true.max() - true.min() <= found.difference.high
    assert min(held.values()) >= 36, held


def test_without_intervals_nothing_is_settled():
    p, _, group = ensemble()
    found = eh.stability(p, sensitive=group, intervals=False)
    assert found.overall["jitter"].low is None
    assert found.finding("jitter").verdict == "inconclusive"
    assert found.finding("jitter").value.low is None
    assert "No intervals were computed" in found.notes[0]
    assert found.overall["jitter"].value == eh.stability(p, sensitive=group).overall["jitter"].value


def test_two_replicas_have_values_and_no_intervals():
    found = eh.stability(P[:2], label=LABEL, sensitive=GROUPS)
    assert found.overall["label_stability"].low is None
    assert "Intervals need at least 3 replicas and there are 2" in " ".join(found.notes)


def test_identical_replicas_agree_without_doubt():
    found = eh.stability(np.tile(P[:1], (10, 1)), sensitive=GROUPS, min_group_size=1)
    assert found.overall["label_stability"] == eh.Estimate(1.0, 1.0, 1.0)
    assert found.finding("label_stability").verdict == "pass"
    assert "is undefined" in eh.jitter_ratio(np.tile(P[:1], (10, 1)), sensitive=GROUPS).interpretation


# --- kinds of replicas


def test_labels_show_stability_and_jitter_only():
    labels = (P >= 0.5).astype(int)
    found = eh.stability(labels, label=LABEL, sensitive=GROUPS)
    assert list(found.people) == ["label_stability", "jitter"]
    assert found.people["label_stability"] == close([1, 0, 1, 0.5, 0.5])
    assert found.decisions.tolist() == [1, 1, 0, 1, 0]  # a tie of votes counts as a yes
    for other in (labels.astype(bool), np.where(labels, "yes", "no"), labels.astype(float)):
        positive = {"label": 1, "prediction": "yes"} if other.dtype.kind == "U" else 1
        again = eh.stability(other, sensitive=GROUPS, positive=positive)
        assert again.people["jitter"].tolist() == found.people["jitter"].tolist()
    with pytest.raises(eh.CallError, match="std_difference needs probabilities"):
        eh.std_difference(labels, sensitive=GROUPS)


def test_ends_are_labels_unless_they_are_said_to_be_probabilities():
    ends = (P >= 0.5).astype(float)
    found = eh.stability(ends, sensitive=GROUPS)
    assert "read as labels" in found.notes[0]
    as_told = eh.stability(ends, sensitive=GROUPS, kind="probability")
    assert as_told.overall["aleatoric_uncertainty"].value == 0.0
    assert as_told.notes == ()


def test_replicas_of_the_other_class_are_mirrored():
    first, second = eh.stability(P, sensitive=GROUPS), eh.stability(1 - P, sensitive=GROUPS, higher_is="negative")
    assert second.overall["mean_prediction"].value == close(first.overall["mean_prediction"].value)
    assert second.decisions.tolist() == first.decisions.tolist()


@pytest.mark.parametrize("make", [list, tuple, lambda p: pd.DataFrame(p.T), lambda p: pl.DataFrame(p.T.copy()),
                                  lambda p: {f"m{i}": row for i, row in enumerate(p)},
                                  lambda p: np.stack([1 - p, p], axis=2)])  # fmt: skip
def test_replicas_come_in_many_forms(make):
    assert eh.stability(make(P), sensitive=GROUPS).people["std"] == close(P.std(axis=0, ddof=1))


def test_columns_of_a_table_are_replicas_by_name_or_pattern(tmp_path):
    frame = pd.DataFrame({**{f"p_{i}": row for i, row in enumerate(P)}, "y": LABEL, "g": GROUPS, "pay": 1.0})
    path = tmp_path / "replicas.csv"
    frame.to_csv(path, index=False)
    frame.to_parquet(tmp_path / "replicas.parquet")
    whole = eh.stability(P, label=LABEL, sensitive={"g": GROUPS})
    for data in (frame, pl.from_pandas(frame), path, tmp_path / "replicas.parquet"):
        for columns in ("p_*", [f"p_{i}" for i in range(4)], ["p_[01]", "p_2", "p_3"]):
            found = eh.stability(columns, data=data, label="y", sensitive="g")
            assert found.finding("std").interpretation == whole.finding("std").interpretation
    arrays = eh.stability(P, data=path, label="y", sensitive="g")
    assert arrays.finding("std").value == whole.finding("std").value
    with pytest.raises(eh.CallError, match=r"no column is called 'q_\*' or matches it"):
        eh.stability("q_*", data=path, label="y", sensitive="g")


def test_a_missing_group_is_shown_and_not_judged_or_dropped():
    groups = ["a", "a", None, "b", "b"]
    found = eh.stability(P, sensitive=groups)
    assert [row.group[0] for row in found.finding("jitter").groups] == ["a", "b", None]
    dropped = eh.stability(P, sensitive=groups, missing="drop")
    assert dropped.cube.size == 4
    assert dropped.overall["label_stability"].value == close(np.mean([1, 0, 0.5, 0.5]))


def test_missing_labels_leave_the_rest_as_it_is():
    found = eh.stability(P, label=[1, 1, None, 0, 1], sensitive=GROUPS)
    assert np.isnan(found.people["statistical_bias"][2])
    assert found.finding("statistical_bias").groups[0].n == 2
    assert found.finding("label_stability").groups[0].n == 3


def test_several_attributes_are_looked_at_one_by_one_and_together():
    p, label, group = ensemble(sizes=(200, 200))
    sex = np.tile(["f", "m"], 200)
    found = eh.stability(p, label=label, sensitive={"group": group, "sex": sex}, metrics="jitter_difference")
    assert [finding.attributes for finding in found.findings] == [("group",), ("sex",), ("group", "sex")]
    alone = eh.jitter_difference(p, label=label, sensitive={"sex": sex})
    for end in ("value", "low", "high"):
        assert getattr(found.finding("jitter", "sex").value, end) == close(getattr(alone.value, end))
    crossed = found.finding("jitter", ("group", "sex"))
    assert {row.group for row in crossed.groups} == {(g, s) for g in ("g0", "g1") for s in ("f", "m")}
    single = eh.stability(p, sensitive={"group": group, "sex": sex}, intersections=False)
    assert all(len(finding.attributes) == 1 for finding in single.findings)


# --- the ensemble, right and wrong


def test_right_and_wrong_decisions_are_told_apart():
    found = eh.stability(P, label=LABEL, sensitive=GROUPS)
    table = found.by_correctness()
    assert table[["group", "prediction", "n"]].values.tolist() == [
        ["a", "right", 3], ["a", "wrong", 0], ["b", "right", 0], ["b", "wrong", 2]]  # fmt: skip
    assert table["label_stability"].tolist() == [close(2 / 3), pytest.approx(math.nan, nan_ok=True)] * 1 + [
        pytest.approx(math.nan, nan_ok=True), close(0.5)]  # fmt: skip
    with pytest.raises(eh.CallError, match="not known without labels"):
        eh.stability(P, sensitive=GROUPS).by_correctness()


def test_frames_are_of_the_callers_kind():
    frame = pl.DataFrame({**{f"p_{i}": row for i, row in enumerate(P)}, "g": GROUPS})
    found = eh.stability("p_*", data=frame, sensitive="g")
    assert isinstance(found.to_frame(), pl.DataFrame)
    pandas = eh.stability(P, sensitive=GROUPS).to_frame()
    assert set(pandas[pandas["group"] == "(everyone)"]["n"]) == {5}
    assert set(pandas["dimension"]) == set(found.people)


# --- abstention


def test_the_least_stable_are_set_aside_first():
    found = eh.stability(P, label=LABEL, sensitive=GROUPS).abstention(shares=[0, 0.2, 0.6])
    assert found.set_aside.tolist() == [[0, 0], [close(1 / 3), 0], [close(1 / 3), 1]]
    assert found.overall["accuracy"] == close([0.6, 0.5, 1.0])
    assert found.rates["accuracy"][:, 0] == close([1, 1, 1])
    assert np.isnan(found.rates["accuracy"][2, 1])
    assert found.gaps["accuracy"][:2] == close([1.0, 1.0])


def test_those_who_are_equally_stable_are_set_aside_in_part():
    found = eh.stability(P, label=LABEL, sensitive=GROUPS).abstention(shares=[0.4])
    assert found.set_aside[0] == close([1 / 3, 0.5])
    order = [4, 2, 0, 3, 1]
    turned = eh.stability(P[:, order], label=np.array(LABEL)[order], sensitive=np.array(GROUPS)[order])
    assert turned.abstention(shares=[0.4]).set_aside == close(found.set_aside)


def test_abstention_has_a_sentence_a_frame_and_two_curves():
    p, label, group = ensemble()
    found = eh.stability(p, label=label, sensitive={"group": group})
    aside = found.abstention()
    assert str(aside).startswith("Setting aside the least stable 10.0 % of people sets aside ")
    assert aside.shares.tolist() == list(SHARES)
    assert len(aside.to_frame()) == len(SHARES) * 3
    assert [panel.kind for panel in aside.panels()] == ["curve", "curve"]
    without = eh.stability(p, sensitive=group).abstention("epistemic_uncertainty")
    assert set(without.rates) == {"selection_rate"}
    with pytest.raises(eh.CallError, match="by='statistical_bias' does not measure stability"):
        found.abstention("statistical_bias")
    with pytest.raises(eh.CallError, match="must be shares of everyone"):
        found.abstention(shares=[1.5])


# --- as an audit


def test_findings_have_their_pictures_and_say_how_many_replicas():
    p, label, group = ensemble(sizes=(50, 50))
    first, *others = eh.stability(p, label=label, sensitive=group).findings
    assert [panel.kind for panel in first.panels] == ["distribution", "table", "curve", "curve", "pairs"]
    assert all([panel.kind for panel in finding.panels] == ["distribution", "table"] for finding in others)
    assert sum(row[3] for row in first.panels[0].rows) == 100
    assert len(first.panels[-1].rows) == len(STABILITY)
    assert first.settings["replicas"] == 20
    assert first.notes[-1] == "Measured with 20 replicas; values from another number of replicas are not comparable."


def test_an_audit_of_replicas_is_saved_judged_and_read_back(tmp_path):
    p, label, group = ensemble(sizes=(500, 500), shifts=(0.0, 2.5))
    policy = eh.Policy(thresholds={"label_stability_difference": 0.02})
    audit = eh.stability(p, label=label, sensitive={"group": group}, policy=policy).audit()
    assert (audit.verdict, audit.required) == ("fail", ("label_stability_difference",))
    audit.save(tmp_path / "audit.json")
    again = eh.Audit.load(tmp_path / "audit.json")
    assert again.verdict == "fail"
    assert [finding.value for finding in again.findings] == [finding.value for finding in audit.findings]
    assert json.loads((tmp_path / "audit.json").read_text())["findings"][0]["panels"]
    audit.save(tmp_path / "audit.md")
    assert "label_stability_difference" in (tmp_path / "audit.md").read_text()
    assert "Setting aside the least stable" in str(audit)
    chosen = eh.stability(p, sensitive=group).audit(required="jitter_ratio")
    assert chosen.required == ("jitter_difference",)


def test_findings_join_an_audit_of_decisions():
    p, label, group = ensemble(sizes=(100, 100))
    found = eh.stability(p, label=label, sensitive={"group": group})
    audit = eh.audit(label=label, prediction=found.decisions, sensitive={"group": group}).add(*found.findings)
    assert "jitter_difference" in audit.details()
    assert found.cube.measures()["accuracy"].tolist() == audit.cube.measures()["accuracy"].tolist()


def test_other_numbers_of_replicas_are_not_compared():
    p, label, group = ensemble(sizes=(60, 60))
    first, second, third = (eh.stability(part, label=label, sensitive=group).audit() for part in (p, p[:10], p[::-1]))
    with pytest.raises(eh.CallError, match="no finding in common"):
        eh.diff(first, second)
    assert len(eh.diff(first, third).changes) == len(STABILITY)
    mixed = eh.diff(first, second.add(*third.findings[:1]))
    assert [change.metric for change in mixed.changes] == ["label_stability_difference"]
    assert "There were 20 replicas before and 10 and 20 after" in " ".join(mixed.notes)


def test_hostile_names_are_only_names():
    p, label, _ = ensemble(sizes=(40, 40))
    group = np.repeat(["</script><script>alert(1)</script>", "[/red]\x1b[31m"], 40)
    audit = eh.stability(p, label=label, sensitive={"a\nb": group}).audit()
    assert "\x1b" not in str(audit)


# --- what is wrong is said with the remedy


@pytest.mark.parametrize(
    ("replicas", "arguments", "message"),
    [
        (P.T, {"sensitive": GROUPS}, "have 4 people and sensitive has 5 rows: replicas is .* transpose it"),
        (P[:, :4], {"sensitive": GROUPS}, "have 4 people and sensitive has 5 rows"),
        (P, {"sensitive": GROUPS, "label": [1]}, "have 5 people and label has 1 row"),
        (P + 1, {"sensitive": GROUPS}, "numbers from 1.1 to 1.9: probabilities lie between 0 and 1"),
        (np.where(P > 0.85, np.nan, P), {"sensitive": GROUPS}, "replica 0, 2, 3 has missing values"),
        (P[0], {"sensitive": GROUPS}, "have 1 dimensions"),
        (P[:1], {"sensitive": GROUPS}, "there is 1 replica"),
        ([[0.1, 0.2], [0.3]], {"sensitive": GROUPS}, "have different lengths"),
        (np.full((3, 5), 2), {"sensitive": GROUPS}, "no replica predicts '1'; they predict '2'"),
        (P, {"sensitive": ["a"] * 5}, "one group only"),
    ],
)
def test_data_that_cannot_be_replicas(replicas, arguments, message):
    with pytest.raises(eh.DataError, match=message):
        eh.stability(replicas, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sensitive": GROUPS, "cutoff": 1.5}, "cutoff=1.5 must be a probability"),
        ({"sensitive": GROUPS, "kind": "score"}, "kind='score' must be"),
        ({"sensitive": GROUPS, "metrics": "demographic_parity"}, "is not a stability metric"),
        ({"sensitive": GROUPS, "metrics": "jiter_difference"}, "did you mean 'jitter_difference'"),
        ({"sensitive": GROUPS, "metrics": "statistical_bias_difference"}, "needs label="),
        ({"sensitive": GROUPS, "reference": "z"}, "reference='z' is not a group"),
        ({"sensitive": GROUPS, "convention": "virny"}, "name it, as in reference="),
        ({"sensitive": GROUPS, "reference": "overall"}, "compared between extremes"),
    ],
)
def test_calls_that_cannot_be_answered(arguments, message):
    with pytest.raises(eh.CallError, match=message):
        eh.stability(P, **arguments)


def test_an_audit_of_counts_points_to_the_function():
    with pytest.raises(eh.CallError, match=r"call evenhand\.jitter_difference\(\)"):
        eh.audit(label=[1, 0, 1, 0], prediction=[1, 0, 0, 1], sensitive=list("aabb"), metrics=["jitter_difference"])


# --- nobody's group is named


@pytest.mark.parametrize("labelled", [False, True])
def test_without_groups_everyone_is_taken_together(labelled):
    random = np.random.default_rng(5)
    replicas = random.random((20, 60))
    roles = {"label": random.integers(0, 2, 60)} if labelled else {}
    found = eh.stability(replicas, **roles)
    grouped = eh.stability(replicas, **roles, sensitive=["a", "b"] * 30)
    assert found.findings == ()
    assert found.overall.keys() == grouped.overall.keys()
    for name, estimate in grouped.overall.items():
        ours = found.overall[name]
        assert (ours.value, ours.low, ours.high) == pytest.approx((estimate.value, estimate.low, estimate.high))
    assert any("No groups were named" in note for note in found.notes)
    assert "label stability: 0." in str(found)
    assert set(found.to_frame()["group"]) == {"(everyone)"}
    assert found.cube.size == 60
    assert "nan" not in str(found.abstention())
    if labelled:
        assert list(found.by_correctness()["n"]) == list(
            grouped.by_correctness().groupby("prediction", sort=False)["n"].sum()
        )


def test_without_groups_nothing_can_be_judged():
    found = eh.stability(np.random.default_rng(5).random((20, 60)))
    for ask in (found.audit, lambda: found.finding("label_stability")):
        with pytest.raises(eh.CallError, match=r"there are none here: pass sensitive= to stability\(\)"):
            ask()
    with pytest.raises(eh.CallError, match="are about groups: pass sensitive="):
        eh.stability(np.random.default_rng(5).random((20, 60)), reference="a")


@pytest.mark.parametrize("kind", [int, float, bool, str])
def test_the_favourable_label_is_read_alike_from_numbers_and_text(kind):
    """0.0 and 1.0 are labels like 0 and 1: positive=0 turns both."""
    labels = (np.random.default_rng(2).random((5, 40)) < 0.5).astype(int)
    turned = eh.stability(1 - labels, sensitive=GROUPS * 8, kind="label")
    again = eh.stability(labels.astype(kind), sensitive=GROUPS * 8, positive=0)
    np.testing.assert_array_equal(again.decisions, turned.decisions)


@pytest.mark.parametrize("positive", ["Yes", [], {"predictions": 1}, math.nan])
def test_a_favourable_label_that_nobody_predicts_is_an_error(positive):
    labels = np.where(np.random.default_rng(2).random((5, 40)) < 0.5, "yes", "no")
    with pytest.raises((eh.CallError, eh.DataError), match="positive="):
        eh.stability(labels, sensitive=GROUPS * 8, positive=positive)
