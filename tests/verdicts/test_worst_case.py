"""Where labels are missing for a reason, a pass holds whatever they are; and the interval beside it says the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.cube.cube import Cube
from evenhand.verdicts.verdict import verdict

IGNORE = eh.Policy(missing_labels="ignore")
REFERENCES = [None, "rest", "overall", "highest", "a"]


def people(size: int = 6000, refused: float = 0.3, selected: float = 0.0, seed: int = 1) -> dict[str, Any]:
    """Two groups without a gap; these shares of the refused and of the selected lack a label, which `true` has."""
    rng = np.random.default_rng(seed)
    label = (rng.random(size) < 0.4).astype(float)
    decision = (rng.random(size) < np.where(label, 0.7, 0.2)).astype(int)
    seen = np.where(rng.random(size) < np.where(decision, selected, refused), np.nan, label)
    return {"label": seen, "prediction": decision, "sensitive": list("ab") * (size // 2), "true": label}


def finding(data: dict[str, Any], metric: str = "equalized_odds", **arguments: Any) -> eh.Finding:
    roles = {name: values for name, values in data.items() if name != "true"}
    return eh.audit(**roles, metrics=[metric], **arguments).findings[0]


@pytest.mark.parametrize("reference", REFERENCES)
def test_labels_missing_by_decision_do_not_pass(reference: str | None) -> None:
    data = people()
    assert finding(data, policy=IGNORE, reference=reference).verdict == "pass"
    found = finding(data, reference=reference)
    assert found.verdict == "inconclusive"
    assert found.passes
    assert "because labels are missing" in found.interpretation
    assert any("of the refused and 0.0% of the selected" in note and "would pass" in note for note in found.notes)
    assert any("More rows alone would not settle it" in note for note in found.notes)
    assert found.sample is None or found.sample.rows_to_settle is None


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("judged_on", ["difference", "ratio"])
@pytest.mark.parametrize(
    "metric",
    ["equalized_odds", "average_odds", "overall_accuracy_equality", "balanced_accuracy_equality", "treatment_equality"],
)
def test_one_answer(reference: str | None, judged_on: str, metric: str) -> None:
    for seed, (refused, selected) in enumerate([(0.3, 0.0), (0.05, 0.0), (0.5, 0.2), (0.0, 0.04), (0.9, 0.0)]):
        policy = eh.Policy() if metric == "treatment_equality" else eh.Policy(judged_on={metric: judged_on})
        found = finding(people(2000, refused, selected, seed), metric, policy=policy, reference=reference)
        two_sided = bool(found.settings["two_sided"])
        assert found.verdict == verdict(found.value, found.threshold, found.judged_on, two_sided=two_sided)
        assert found.verdict == verdict(found.shown, found.threshold, found.judged_on, two_sided=two_sided)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_interval_contains_the_gap_with_all_labels(reference: str | None, weighted: bool) -> None:
    rng = np.random.default_rng(7)
    for seed in range(20):
        data = people(600, *rng.random(2) * 0.5, seed)
        if weighted:
            data["weight"] = rng.lognormal(0, 1, 600)
        for metric in ("equalized_odds", "predictive_parity", "overall_accuracy_equality"):
            found = finding(data, metric, reference=reference, min_group_size=5)
            full = finding({**data, "label": data["true"]}, metric, reference=reference)
            if found.verdict != "fail":
                assert found.value.high is not None
                assert abs(full.value.value) <= max(abs(found.value.low or 0), abs(found.value.high)) + 1e-9


def test_a_pass_that_holds_whatever_the_labels_are() -> None:
    found = finding(people(40_000, refused=0.025))
    assert found.verdict == "pass"
    assert found.value.high is not None
    assert found.value.high > (finding(people(40_000, refused=0.025), policy=IGNORE).value.high or 0)
    assert any("The interval holds whatever they are" in note for note in found.notes)


def test_labels_missing_at_random_are_left_out_with_a_note() -> None:
    data = people(refused=0.1, selected=0.1)
    share = [np.isnan(data["label"][data["prediction"] == decision]).mean() for decision in (0, 1)]
    assert abs(share[0] - share[1]) < 0.02
    found, plain = finding(data), finding(data, policy=IGNORE)
    assert (found.value, found.verdict) == (plain.value, "pass")
    assert any("taken as missing at random" in note for note in found.notes)


def test_a_fail_stays_a_fail_and_says_what_it_takes_labels_for() -> None:
    data = people()
    data["prediction"] = np.where(np.array(data["sensitive"]) == "a", 1 - data["prediction"], data["prediction"])
    found = finding(data)
    assert found.verdict == "fail"
    assert found.value == finding(data, policy=IGNORE).value
    assert any("They are taken as missing at random" in note for note in found.notes)


def test_what_does_not_need_the_missing_labels_is_not_touched() -> None:
    data = people()
    for metric in ("predictive_parity", "demographic_parity"):  # every selected person has a label
        found = finding(data, metric)
        assert found.verdict == "pass"
        assert not any("abels" in note for note in found.notes)
    assert not any("abels" in note for note in finding({**data, "label": data["true"]}).notes)


@pytest.mark.parametrize("interval", ["percentile", "bca", "newcombe", "bayes"])
def test_every_method_of_intervals_obeys(interval: str) -> None:
    found = finding(people(), interval=interval)
    assert found.verdict == "inconclusive"
    assert finding(people(), interval=interval, policy=IGNORE).verdict == "pass"


def test_a_tiny_group_does_not_make_labels_of_others_selective() -> None:
    data = people(refused=0.0)
    data["sensitive"] = [*data["sensitive"][:-4], *"cccc"]
    data["label"][-4:], data["prediction"][-4:] = [np.nan, 1, 0, 1], [0, 0, 1, 1]
    assert finding(data).value == finding(data, policy=IGNORE).value


def test_strata_are_bounded_one_by_one() -> None:
    data = people(12_000)
    data["control"] = np.arange(12_000) % 4 // 2
    data["label"] = np.where(data["control"] == 0, data["true"], data["label"])
    found = finding(data)
    assert found.verdict == "inconclusive"
    assert found.interpretation.startswith("In stratum 1: ")


@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes(weighted: bool) -> None:
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, 9000)
    decision = np.where(rng.random(9000) < 0.8, label, rng.integers(0, 3, 9000))
    seen = np.where((decision == 2) & (rng.random(9000) < 0.5), None, label.astype(object))
    cube = Cube.count(label=seen, prediction=decision, sensitive=list("ab") * 4500, task="multiclass",
                      **({"weight": np.ones(9000)} if weighted else {}))  # fmt: skip
    for metric in ("overall_accuracy_equality", "equalized_odds"):
        assert cube.audit(metrics=[metric], policy=IGNORE).findings[0].verdict == "pass"
        found = cube.audit(metrics=[metric]).findings[0]
        assert found.verdict == "inconclusive"
        assert any("of those decided '2'" in note for note in found.notes)


@pytest.mark.parametrize(
    "change",
    [
        {"label": [None] * 200},
        {"prediction": [1] * 200},
        {"weight": [0.0, 1e6] * 100},
        {"sensitive": [1, 2.5] * 100},
        {"sensitive": ["1"] + ["2"] * 199},
    ],
)
def test_odd_tables_are_judged_without_a_fall(change: dict[str, Any]) -> None:
    data = {**{name: list(part) for name, part in people(200).items()}, **change}
    for reference in (None, "rest", "overall"):
        found = finding(data, reference=reference)
        assert (found.verdict == "not judged") == ("prediction" in change)  # everybody is selected
        two_sided = bool(found.settings["two_sided"])
        assert found.verdict == verdict(found.value, found.threshold, found.judged_on, two_sided=two_sided)


def test_the_policy_file_holds_it(tmp_path: Any) -> None:
    IGNORE.save(tmp_path / "p.toml")
    assert eh.Policy.load(tmp_path / "p.toml") == IGNORE
    with pytest.raises(eh.errors.CallError, match="missing_labels='random' is not known"):
        eh.Policy(missing_labels="random")  # type: ignore[arg-type]
