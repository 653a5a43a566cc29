"""Weights worked by hand: a value mixes people by their weight, and never by how many people the weights are worth."""

import itertools

import numpy as np
import pytest

import evenhand as eh


def close(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def by_group(finding):
    return {row.group[0]: row.estimate.value for row in finding.groups if row.estimate is not None}


def gaps(finding, **wanted):
    rows = [row for row in finding.groups if all(getattr(row, key) == value for key, value in wanted.items())]
    return {row.group[0]: row.difference.value for row in rows if row.difference is not None}


SCORES = {"score": [0.2, 0.4, 0.6, 0.8], "sensitive": list("aabb"), "weight": [1, 1, 3, 3]}


def test_the_mean_score_of_everyone_is_a_mean_by_weight():
    """Everyone: (.2 + .4 + 1.8 + 2.4) / 8 = .6."""
    found = eh.mean_score_parity(**SCORES, reference="overall")
    assert gaps(found) == close({"a": 0.3 - 0.6, "b": 0.7 - 0.6})


def test_the_mean_prediction_of_everyone_is_a_mean_by_weight():
    arguments = {"prediction" if name == "score" else name: column for name, column in SCORES.items()}
    found = eh.mean_prediction_parity(**arguments, label=[1.5, 2.5, 3.5, 4.5], task="regression", reference="overall")
    assert gaps(found) == close({"a": 0.3 - 0.6, "b": 0.7 - 0.6})


def test_the_observed_rate_of_everyone_in_a_calibration_bin_is_a_mean_by_weight():
    """One bin: a has 1 of 4 by weight, b 9 of 12, everyone 10 of 16."""
    table = {"label": [1, 0, 0, 0, 1, 1, 1, 0], "score": [0.5] * 8, "sensitive": list("aaaabbbb")}
    found = eh.calibration(**table, weight=[1, 1, 1, 1, 3, 3, 3, 3], bins=1, min_bin=1, reference="overall")
    assert gaps(found) == close({"a": 1 / 4 - 10 / 16, "b": 9 / 12 - 10 / 16})


def test_the_expected_calibration_error_weighs_bins_by_weight():
    """a: bin .2 holds 4 of 6 at rate 3/4, bin .8 holds 2 of 6 at rate 1: 4/6 · .55 + 2/6 · .2."""
    a = {"label": [1, 0, 1, 1], "score": [0.2, 0.2, 0.8, 0.8], "weight": [3, 1, 1, 1]}
    b = {"label": [0, 1], "score": [0.5, 0.5], "weight": [1, 1]}
    table = {name: a[name] + b[name] for name in a} | {"sensitive": list("aaaabb")}
    assert by_group(eh.calibration_error_parity(**table))["a"] == close(4 / 6 * 0.55 + 2 / 6 * 0.2)


SAME = {"score": [0.2, 0.4, 0.6, 0.8] * 2, "sensitive": list("aaaabbbb"), "weight": [1, 9, 1, 1, 1, 1, 1, 1]}
LABELS = [0, 1, 0, 1, 1, 0, 0, 1]


@pytest.mark.parametrize("label", [None, LABELS])
def test_distances_of_scores_do_not_change_when_a_label_is_given(label):
    """Below .5 lie 10 of 12 and 2 of 4: KS 1/3. Steps are .2 wide: |1/12 − 1/4| + |10/12 − 1/2| + |11/12 − 3/4|."""
    table = SAME if label is None else {**SAME, "label": label}
    assert eh.ks_distance(**table).value.value == close(1 / 3)
    assert eh.wasserstein_distance(**table).value.value == close(0.2 * (1 / 6 + 1 / 3 + 1 / 6))


def information(table):
    joint = np.array(table) / np.sum(table)
    return float((joint * np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))).sum())


def test_dependence_of_scores_is_that_of_the_weights_with_and_without_a_label():
    observed = information([[1, 9, 1, 1], [1, 1, 1, 1]])
    assert observed == pytest.approx(0.0992, abs=5e-5)
    numbers = {"prediction" if name == "score" else name: column for name, column in SAME.items()}
    outcomes = np.arange(8) / 10 + 0.05
    calls = (SAME, {**SAME, "label": LABELS}, {**numbers, "label": outcomes, "task": "regression"})
    found = [eh.mutual_information(**table).rows[0] for table in calls]
    assert [row.measure for row in found] == ["observed"] * 3
    assert [row.estimate.value for row in found] == close([observed] * 3)
    joint = np.array([[1, 9, 1, 1], [1, 1, 1, 1]]) / 16
    scaled = joint / np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    second = np.linalg.svd(scaled, compute_uv=False)[1]
    assert [eh.maximal_correlation(**table).value.value for table in calls] == close([second] * 3)


def test_a_shift_from_everyone_is_a_shift_by_weight():
    """Everyone has 12: a stops at 2/12 where all its people are below; b and c by the same counting."""
    f, weight = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5], [1, 1, 4, 1, 1, 4]
    found = eh.regression_demographic_parity(
        prediction=f, label=f, sensitive=list("aabbcc"), weight=weight, task="regression"
    )
    assert by_group(found) == close({"a": 10 / 12, "b": 5 / 12, "c": 7 / 12})
    assert found.value.value == close(10 / 12)
    assert found.highest == "a"


def test_the_standardised_gap_weighs_strata_by_weight():
    """Stratum x: a 0, b 1/2 (weight 4); stratum y: a 1, b 1/2 (weight 20): −.5 · 4/24 + .5 · 20/24 = 1/3."""
    table = {
        "prediction": [0, 0, 1, 0, 1, 1, 1, 0],
        "sensitive": list("aabbaabb"),
        "control": list("xxxxyyyy"),
        "weight": [1] * 4 + [5] * 4,
    }
    found = eh.demographic_parity(**table)
    row = next(row for row in found.rows if row.measure == "standardised_gap")
    sign = 1 if row.group == ("a",) else -1
    assert sign * row.difference.value == close(1 / 3)


CLASSES = {
    "label": list("pqrpqrppqrrq"),
    "prediction": list("pqrqqrprqqrp"),
    "sensitive": list("aaaaabbbbbbb"),
    "task": "multiclass",
}


def recall(label, prediction, name):
    return np.mean(prediction[label == name] == name)


@pytest.mark.parametrize("weight", [None, [1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 6]])
def test_several_classes_against_everyone(weight):
    """The mean recall of everyone is the mean over the classes of everyone's recall, not a mean over the groups."""
    table = CLASSES if weight is None else {**CLASSES, "weight": weight}
    w = np.ones(12) if weight is None else np.array(weight)
    label, prediction, group = (np.array(CLASSES[name]) for name in ("label", "prediction", "sensitive"))

    def mean_recall(chosen):
        recalls = []
        for name in "pqr":
            inside = chosen & (label == name)
            recalls.append(np.average(prediction[inside] == name, weights=w[inside]))
        return np.mean(recalls)

    everyone = mean_recall(np.ones(12, dtype=bool))
    expected = {name: mean_recall(group == name) - everyone for name in "ab"}
    assert gaps(eh.balanced_accuracy_equality(**table, reference="overall")) == close(expected)
    found = eh.equal_opportunity(**table, reference="overall")
    assert gaps(found, measure="macro_true_positive_rate") == close(expected)


@pytest.mark.parametrize("reference", ["rest", "overall", "largest", None])
def test_an_audit_with_scores_against_everyone_computes_every_metric(reference):
    rng = np.random.default_rng(1)
    group = np.repeat(["a", "b", "c"], 60)
    label = rng.integers(0, 2, 180)
    score = np.clip(rng.random(180) / 2 + 0.3 * label, 0, 1)
    found = eh.audit(label=label, score=score, cutoff=0.5, sensitive=group, reference=reference, metrics="all")
    assert {"auc_parity", "balanced_accuracy_equality", "calibration_error_parity"} <= {
        each.metric for each in found.findings
    }


def test_curved_measures_of_everyone_are_those_of_all_the_rows():
    from sklearn import metrics

    rng = np.random.default_rng(2)
    group = np.repeat(["a", "b", "c"], [60, 50, 40])
    label = rng.integers(0, 2, 150)
    score = np.round(np.clip(rng.random(150) / 2 + 0.3 * label, 0, 1), 2)
    weight = rng.integers(1, 6, 150)
    table = {"label": label, "score": score, "sensitive": group, "weight": weight}
    everyone = metrics.roc_auc_score(label, score, sample_weight=weight)
    found = eh.auc_parity(**table, reference="overall")
    for row in found.groups:
        mine = group == row.group[0]
        own = metrics.roc_auc_score(label[mine], score[mine], sample_weight=weight[mine])
        assert row.difference.value == close(own - everyone)
        assert row.difference.low < row.difference.value < row.difference.high
        assert row.against == "everyone"


def test_regressors_against_everyone():
    from sklearn import metrics

    rng = np.random.default_rng(3)
    group = np.repeat(["a", "b", "c"], [60, 50, 40])
    y = rng.normal(5, 2, 150)
    f = y + rng.normal(0, 1, 150)
    weight = rng.random(150) * 5
    calls = {"root_mean_squared_error_parity": metrics.root_mean_squared_error, "r_squared_parity": metrics.r2_score}
    for name, function in calls.items():
        found = getattr(eh, name)(
            label=y, prediction=f, sensitive=group, weight=weight, task="regression", reference="overall"
        )
        for row in found.groups:
            mine = group == row.group[0]
            own = function(y[mine], f[mine], sample_weight=weight[mine])
            assert row.difference.value == pytest.approx(own - function(y, f, sample_weight=weight), abs=1e-9)


def test_f1_against_everyone_lies_inside_its_interval_however_few_the_true_positives():
    """F1 mixes by 2TP + FP + FN. By the number of people in TP, FP and FN its interval missed its own value."""
    for cells in itertools.product([1, 9], repeat=6):
        label, prediction, group = [], [], []
        for place, (name, y, z) in enumerate(itertools.product("ab", [0, 1], [0, 1])):
            if (y, z) != (0, 0):
                many = cells[(place % 4 - 1) + 3 * (name == "b")]
                label += [y] * many
                prediction += [z] * many
                group += [name] * many
        found = eh.f1_parity(label=label, prediction=prediction, sensitive=group, reference="overall")
        for row in found.groups:
            assert row.difference.low <= row.difference.value <= row.difference.high
            assert row.ratio.low <= row.ratio.value <= row.ratio.high


def test_the_share_of_all_selected_against_the_rest():
    """a has 1 of 6 selected, b 2, c 3: the rest of a has 5 of 6."""
    table = {"prediction": [1] * 6 + [0] * 3, "sensitive": list("abbccc") + list("abc")}
    shares = eh.metric("shares", measures="selected_share")
    assert gaps(shares(**table, reference="rest")) == close({"a": 1 / 6 - 5 / 6, "b": 2 / 6 - 4 / 6, "c": 0})


def test_precision_score_is_the_positive_predictive_value():
    assert eh.metric("own", measures="precision_score").metric.rows[0].name == "positive_predictive_value"


def test_a_metric_of_your_own_may_compare_regression_measures():
    own = eh.metric("own", measures="mean_absolute_error")
    found = own(label=[1.5, 2.5, 3.0, 4.5], prediction=[1.0, 2.5, 3.5, 5.5], sensitive=list("aabb"), task="regression")
    assert by_group(found) == close({"a": 0.25, "b": 0.75})
    with pytest.raises(eh.CallError, match="task 'regression'"):
        own(label=[0, 1, 0, 1], prediction=[0, 1, 1, 0], sensitive=list("aabb"))


def test_a_metric_of_your_own_may_not_mix_decisions_with_regression():
    with pytest.raises(eh.CallError, match=r"mixes.*accuracy.*r_squared"):
        eh.metric("own", measures=("accuracy", "r_squared"))
