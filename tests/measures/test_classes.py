"""Several classes: each against the rest as scikit-learn counts them, the whole distribution, and the class named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, precision_score, recall_score

import evenhand as eh
from evenhand.measures import group_data
from support.backends import BACKENDS
from support.tables import close

CLASSES = ("high", "low", "middle")


def people(n=3000, seed=0):
    random = np.random.default_rng(seed)
    group = random.choice(["x", "y"], n, p=[0.6, 0.4])
    label = random.choice(CLASSES, n, p=[0.2, 0.5, 0.3])
    right = random.random(n) < np.where((group == "y") & (label == "high"), 0.3, 0.8)
    return {"g": group, "label": label, "prediction": np.where(right, label, random.choice(CLASSES, n))}


def call(data=None, **more):
    return {"label": "label", "prediction": "prediction", "sensitive": "g", "task": "multiclass", **more}


def values(found, measure):
    return {(row.group[0], row.of_class): row.estimate.value for row in found.groups if row.measure == measure}


def test_each_class_against_the_rest_equals_scikit_learn():
    data = people()
    odds = eh.equalized_odds(data, **call())
    parity = eh.predictive_parity(data, **call())
    for group in "xy":
        inside = data["g"] == group
        y, p = data["label"][inside], data["prediction"][inside]
        recall, precision = (score(y, p, labels=CLASSES, average=None) for score in (recall_score, precision_score))
        for i, name in enumerate(CLASSES):
            assert values(odds, "true_positive_rate")[group, name] == close(recall[i])
            assert values(parity, "positive_predictive_value")[group, name] == close(precision[i])
        assert values(odds, "macro_true_positive_rate")[group, None] == close(recall.mean())
        accuracy = eh.overall_accuracy_equality(data, **call())
        assert values(accuracy, "accuracy")[group, None] == close(accuracy_score(y, p))
        balanced = eh.balanced_accuracy_equality(data, **call())
        assert values(balanced, "balanced_accuracy")[group, None] == close(balanced_accuracy_score(y, p))


def test_the_class_that_drives_a_gap_is_named():
    found = eh.equal_opportunity(people(), **call())
    assert found.verdict == "fail"
    assert (found.highest, found.lowest) == ("x", "y")
    assert "true positive rate of class 'high' is" in found.interpretation
    means = [row for row in found.rows if row.measure == "macro_true_positive_rate" and row.difference]
    assert 0 < means[0].difference.value < found.value.value


def test_demographic_parity_is_the_largest_gap_over_the_whole_distribution():
    data = pd.DataFrame(people())
    shares = pd.crosstab(data.g, data.prediction, normalize="index")
    found = eh.demographic_parity(people(), **call())
    assert found.value.value == close((shares.max() - shares.min()).max())


def test_two_classes_agree_with_the_binary_metric():
    data = people()
    kept = {name: part[np.isin(data["label"], ["high", "low"]) & np.isin(data["prediction"], ["high", "low"])]
            for name, part in data.items()}  # fmt: skip
    several = eh.equalized_odds(kept, **call())
    binary = eh.equalized_odds(kept, **call(task="binary", positive="high"))
    assert several.value.value == close(binary.value.value)


def test_a_set_of_favourable_classes_collapses():
    data = people()
    found = eh.demographic_parity(data, **call(task=None, positive=["high", "middle"]))
    chosen = np.isin(data["prediction"], ["high", "middle"])
    rates = [chosen[data["g"] == group].mean() for group in "xy"]
    assert found.value.value == close(abs(rates[0] - rates[1]))


def test_an_audit_holds_every_metric_of_classes():
    found = eh.audit(people(), **call())
    assert found.required == ("equalized_odds",)
    assert found.verdict == "fail"
    assert "class 'high'" in str(found)
    frame = found.groups()
    assert set(frame["class"].dropna()) == set(CLASSES)
    assert {"macro_f1", "accuracy", "balanced_accuracy"} <= set(frame["measure"])
    saved = found.to_dict()
    assert any(row.get("of_class") == "high" for finding in saved["findings"] for row in finding["rows"])


@pytest.mark.parametrize("kind", BACKENDS)
def test_every_source_gives_the_same_cube(kind, tmp_path):
    table = {
        "g": ["x", "y", None, "x", "y", "x"] * 3,
        "label": ["1", "2", "3", None, "2", "1"] * 3,
        "prediction": ["1", "3", "3", "2", "2", "2"] * 3,
    }
    expected = eh.Cube.count({name: np.array(part, dtype=object) for name, part in table.items()}, **call())
    assert eh.Cube.count(BACKENDS[kind](table, tmp_path), **call()) == expected
    assert expected.classes == ("1", "2", "3")


def test_cubes_with_different_classes_merge_and_are_saved(tmp_path):
    data = pd.DataFrame(people())
    rare = (data.label == "high") | (data.prediction == "high")
    parts = [eh.Cube.count(part, **call()) for part in (data[rare], data[~rare])]
    assert parts[1].classes == ("low", "middle")
    whole = eh.Cube.count(data, **call())
    assert eh.Cube.merge(parts) == whole
    whole.save(tmp_path / "classes.cube")
    assert eh.Cube.load(tmp_path / "classes.cube") == whole


def test_against_a_reference_within_strata_with_weights():
    data = people()
    data["region"] = np.where(np.arange(len(data["g"])) % 2, "north", "south")
    data["w"] = np.random.default_rng(1).uniform(0.5, 2, len(data["g"]))
    found = eh.equal_opportunity(data, **call(control="region", weight="w", reference="x"))
    assert found.verdict == "fail"
    inside = (data["g"] == "y") & (data["region"] == "north")
    north = next(
        row for row in found.rows if row.stratum == ("north",) and row.group == ("y",) and row.of_class == "high"
    )
    recall = recall_score(
        data["label"][inside],
        data["prediction"][inside],
        labels=["high"],
        average=None,
        sample_weight=data["w"][inside],
    )
    assert north.estimate.value == close(recall[0])


def test_what_does_not_fit_is_refused():
    data = people(50)
    with pytest.raises(eh.CallError, match="takes no score="):
        eh.Cube.count(data, **call(score="label"))
    with pytest.raises(eh.CallError, match="theil_index is for task 'binary'"):
        eh.theil_index(data, **call())
    with pytest.raises(eh.DataError, match=r"3 values .*task='multiclass'"):
        eh.equalized_odds(data, **call(task=None))
    cube = eh.Cube.count(data, **call())
    with pytest.raises(eh.CallError, match="'hihg' is not a class of this cube; did you mean 'high'"):
        group_data.against_rest(cube, "hihg")
    with pytest.raises(eh.CallError, match=r"group_data\.against_rest"):
        _ = cube.counts
    many = {"g": ["x", "y"] * 200, "label": list(range(400)), "prediction": list(range(400))}
    with pytest.raises(eh.DataError, match="400 classes, more than 100"):
        eh.Cube.count(many, **call())


@pytest.mark.parametrize("errors", ["none", "one sided", "one class alone"])
def test_classes_without_errors_of_one_kind_make_no_warning(errors):
    """Odds of errors are infinite then, for a class or for all of them; warnings are errors here."""
    label = np.repeat([0, 1, 2], 60)
    prediction = label.copy()
    if errors == "one sided":
        prediction[:20] = 1
    elif errors == "one class alone":
        prediction[:] = 0
    audit = eh.audit(label=label, prediction=prediction, sensitive=list("ab") * 90, task="multiclass")
    for finding in audit.findings:
        for row in finding.rows:
            if row.estimate is not None and row.estimate.low is not None and not np.isnan(row.estimate.low):
                assert row.estimate.low - 1e-9 <= row.estimate.value <= row.estimate.high + 1e-9
