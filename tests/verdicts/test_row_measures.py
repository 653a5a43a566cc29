"""Measures of rows: read twice from the data, compared as counts are, with arrays element by element, and honest where
nothing varies. A function that computes what a measure of ours is must give the numbers of that measure."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, recall_score

import evenhand as eh
from evenhand.errors import CallError

RANDOM = np.random.default_rng(0)
LABEL, DECISION = RANDOM.integers(0, 2, 200), RANDOM.integers(0, 2, 200)
GROUP = np.array(["a", "b"])[RANDOM.integers(0, 2, 200)]
AGREE = eh.measure("agreement", function=lambda label, prediction: float(np.mean(label == prediction)))
OWN = eh.metric("agreement_parity", measures=AGREE, threshold=0.5)


def once(values):
    return (value for value in values)


@pytest.mark.parametrize("wrapped", ["array", "mapping"])
def test_iterators_of_a_metric_of_rows(wrapped):
    expected = OWN(label=LABEL, prediction=DECISION, sensitive={"g": GROUP})
    sensitive = once(GROUP) if wrapped == "array" else {"g": once(GROUP)}
    found = OWN(label=once(LABEL), prediction=once(DECISION), sensitive=sensitive)
    assert found.value == expected.value
    assert eh.audit(label=once(LABEL), prediction=once(DECISION), sensitive=once(GROUP), metrics=[OWN]).findings[
        0
    ].value == (expected.value)


def test_iterators_in_a_table():
    found = OWN({"y": once(LABEL), "d": DECISION, "g": once(GROUP)}, label="y", prediction="d", sensitive="g")
    assert found.value == OWN(label=LABEL, prediction=DECISION, sensitive=GROUP).value


def test_a_group_without_a_name_is_missing_and_not_a_reference():
    with pytest.raises(CallError, match="reference='' is not a group"):
        eh.demographic_parity(prediction=[1, 0, 1, 1] * 20, sensitive=["", "b", "c", "b"] * 20, reference="")
    between = eh.demographic_parity(prediction=[1, 0, 1, 1] * 20, sensitive=["", "b", "c", "b"] * 20)
    assert between.settings["against"] == "extremes"


# --- compared like a measure that is counted

N = 900
SURE = np.random.default_rng(3)
TRUTH = SURE.integers(0, 2, N)
RACE = SURE.choice(["a", "b", "c", None], N, p=[0.4, 0.3, 0.2, 0.1])
DATA = {
    "label": TRUTH,
    "prediction": np.where(SURE.random(N) < np.where(RACE == "b", 0.65, 0.85), TRUTH, 1 - TRUTH),
    "sensitive": {"race": RACE},
}
STRATA = SURE.choice(["north", "south"], N)
RATE = eh.metric("accuracy_of_rows", measures=lambda label, prediction: np.mean(label == prediction), unit="rate")


def gaps(finding):
    """Every value and every gap of a finding."""
    parts = [
        (row.stratum, row.group, row.against, row.n, row.estimate, row.difference, row.ratio) for row in finding.rows
    ]
    return [
        [None if each is None else each.value if isinstance(each, eh.Estimate) else each for each in row]
        for row in parts
    ]


def close(first, second):
    assert len(first) == len(second)
    for mine, theirs in zip(first, second, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            assert one == (pytest.approx(other, nan_ok=True) if isinstance(other, float) else other)


@pytest.mark.parametrize("reference", [None, "a", "rest", "overall", "highest", "largest"])
@pytest.mark.parametrize("control", [None, STRATA])
def test_values_and_gaps_are_those_of_the_counts(reference, control):
    found = RATE(**DATA, reference=reference, control=control, draws=200)
    counted = eh.accuracy_parity(**DATA, reference=reference, control=control)
    close(gaps(found), gaps(counted))
    assert found.settings["against"] == counted.settings["against"]
    assert abs(found.value.high - found.value.low) == pytest.approx(counted.value.high - counted.value.low, rel=0.35)


@pytest.mark.parametrize("convention", ["fairlearn", "aif360", "aequitas", "virny", "exfairness", "solas"])
def test_conventions_are_those_of_the_counts(convention):
    found = RATE(**DATA, reference="a", convention=convention, draws=100)
    close(gaps(found), gaps(eh.accuracy_parity(**DATA, reference="a", convention=convention)))


def test_intersections_and_ratios():
    data = {**DATA, "sensitive": {"race": RACE, "sex": SURE.choice(["f", "m"], N)}}
    mine = eh.audit(**data, metrics=[RATE], draws=100, policy=eh.Policy(judged_on={}))
    ours = eh.audit(**data, metrics=["accuracy_parity"])
    for found, counted in zip(mine.findings, ours.findings, strict=True):
        assert found.attributes == counted.attributes
        close(gaps(found), gaps(counted))
    ratio = RATE(**DATA, judged_on="ratio", threshold=0.9, draws=200)
    counted = eh.accuracy_parity(**DATA, judged_on="ratio", threshold=0.9)
    assert ratio.value.value == pytest.approx(counted.value.value)
    assert (ratio.verdict, ratio.judged_on) == (counted.verdict, "ratio")


def test_strata_are_set_beside_the_whole():
    found = RATE(**DATA, control={"region": STRATA}, draws=200)
    assert {row.measure for row in found.rows} >= {"pooled_gap", "standardised_gap"}
    assert [panel.role for panel in found.panels] == ["strata"]
    assert any("over all strata together the" in note.lower() for note in found.notes)
    seen = []
    eh.metric("own", measures=lambda label, prediction: seen.append(len(label)) or 0.5)(**DATA, control=STRATA, draws=0)
    assert len(seen) == 2 * 4 + 4


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("reference", ["rest", "overall"])
def test_draws_of_a_baseline_are_those_of_its_rows(interval, reference):
    found = RATE(**DATA, reference=reference, interval=interval, draws=300)
    counted = eh.accuracy_parity(**DATA, reference=reference, interval=interval, draws=2000)
    assert found.settings["interval"] == interval
    for mine, theirs in zip(found.groups, counted.groups, strict=True):
        for end in ("low", "high"):
            assert getattr(mine.difference, end) == pytest.approx(getattr(theirs.difference, end), abs=0.02)


def test_the_jackknife_is_that_of_a_mean():
    """Leaving out one row at a time gives the standard error of a mean exactly."""
    found = RATE(**DATA, interval="jackknife", reference="a", confidence=0.95, draws=0)
    assert (found.settings["interval"], found.notes[-1].endswith("leaves out one row at a time.")) == (
        "jackknife",
        True,
    )
    right = DATA["label"] == DATA["prediction"]
    errors = {name: right[name == RACE].std(ddof=1) / math.sqrt((name == RACE).sum()) for name in "abc"}
    halves = {row.group[0]: (row.estimate.high - row.estimate.low) / 2 for row in found.groups}
    deviates = [halves[name] / errors[name] for name in "abc"]
    assert deviates == pytest.approx([2.5] * 3, rel=0.02)
    everyone = RATE(**DATA, interval="jackknife", reference="overall")
    counted = eh.accuracy_parity(**DATA, reference="overall")
    for mine, theirs in zip(everyone.groups, counted.groups, strict=True):
        assert mine.difference.high == pytest.approx(theirs.difference.high, abs=0.01)


def test_an_interval_of_no_kind():
    found = RATE(**DATA, interval="none")
    assert (found.value.low, found.verdict, found.settings["interval"]) == (None, "inconclusive", None)
    assert found.notes[-1].endswith("With interval='none' there is no interval: the verdict is open.")
    both = eh.audit(**DATA, metrics=["equalized_odds", "theil_index", "disparate_impact", RATE], interval="none")
    assert {finding.verdict for finding in both.findings} == {"inconclusive", "not judged"}
    for finding in both.findings:
        assert (finding.value.low, finding.value.high) == (None, None)
        assert all(row.estimate is None or row.estimate.low is None for row in finding.rows)
        assert any("interval='none'" in note for note in finding.notes)
        assert "95 % interval" not in str(finding)


def test_the_jackknife_of_counts_says_that_it_is_another_interval():
    found = eh.demographic_parity(**DATA, interval="jackknife")
    assert found.value == eh.demographic_parity(**DATA).value
    assert found.settings["interval"] == "simultaneous"
    assert found.notes[-1] == "interval='jackknife' is for functions of rows; this interval is made of the counts."


def test_labels_that_are_selective_leave_a_function_without_a_value():
    """Nobody who was refused among b has a label: what a function makes of that is not known."""
    label = DATA["label"].astype(float)
    label[(RACE == "b") & (DATA["prediction"] == 0)] = np.nan
    found = RATE(**{**DATA, "label": label}, reference="rest", draws=100)
    undefined = [row for row in found.groups if row.group == ("b",)]
    assert math.isnan(undefined[0].estimate.value)
    assert undefined[0].reason == "nobody who was refused among race = b has a label"
    selection = eh.metric("chosen", measures=lambda prediction: float(np.mean(prediction)))
    assert not math.isnan(selection(**{**DATA, "label": label}, draws=100).value.value)


# --- arrays, matrices and mappings


def recalls(label, prediction):
    return recall_score(label, prediction, labels=[0, 1], average=None)


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (recalls, ["recalls[0]", "recalls[1]"]),
        (lambda y, p: recalls(y, p).tolist(), ["own[0]", "own[1]"]),
        (lambda y, p: tuple(recalls(y, p)), ["own[0]", "own[1]"]),
        (lambda y, p: dict(zip(["no", "yes"], recalls(y, p), strict=True)), ["own[no]", "own[yes]"]),
        (lambda y, p: pd.Series(recalls(y, p), index=["no", "yes"]), ["own[no]", "own[yes]"]),
        (lambda y, p: pd.DataFrame([recalls(y, p)], index=["x"], columns=["no", "yes"]), ["own[x, no]", "own[x, yes]"]),
        (lambda y, p: confusion_matrix(y, p, labels=[0, 1], normalize="true")[:, 1], ["own[0]", "own[1]"]),
        (lambda y, p: recalls(y, p).reshape(1, 2), ["own[0, 0]", "own[0, 1]"]),
    ],
)
def test_an_array_is_compared_element_by_element(function, names):
    found = eh.metric("own", measures=function, unit="rate", threshold=0.1)(**DATA, draws=300)
    shown = dict.fromkeys(row.measure for row in found.groups)
    assert list(shown) == names
    rates = eh.metric("both", measures=("true_negative_rate", "true_positive_rate"))(**DATA)
    if "confusion" not in str(function.__code__.co_names):
        assert found.value.value == pytest.approx(rates.value.value)
        assert found.verdict == rates.verdict
        assert found.value.low == pytest.approx(rates.value.low, abs=0.03)
    gaps = [row for row in found.rows if row.estimate is None and row.measure in names]
    assert len(gaps) == 2
    assert all(row.difference.low is not None for row in gaps)


def test_an_array_is_judged_on_all_of_its_elements():
    """The interval of the largest gap allows for the number of elements: more of them make it wider."""
    one = eh.metric("one", measures=lambda y, p: np.mean(y == p))(**DATA, draws=400)
    many = eh.metric("many", measures=lambda y, p: np.full(20, np.mean(y == p)))(**DATA, draws=400)
    assert many.value.value == one.value.value
    assert many.value.low < one.value.low


def test_an_element_that_a_group_does_not_have_is_undefined():
    def shares(label, prediction):
        return {str(value): np.mean(prediction == value) for value in np.unique(prediction)}

    prediction = np.where(RACE == "c", 0, DATA["prediction"])
    found = eh.metric("own", measures=shares)(**{**DATA, "prediction": prediction}, draws=200)
    (row,) = (row for row in found.groups if (row.measure, row.group) == ("shares[1]", ("c",)))
    assert math.isnan(row.estimate.value)
    assert row.reason == "shares [1] gave no number for race = c"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            lambda y, p: np.zeros(2 if len(y) > 300 else 3),
            r"returned 2 numbers for .race = a. and 3 numbers for .race = b.: it must return as many .* labels=",
        ),
        (
            lambda y, p: np.zeros(2) if len(y) > 300 else 1.0,
            "returned 2 numbers for 'race = a' and one number for 'race = b'",
        ),
        (lambda y, p: np.zeros(101), "returned 101 numbers: at most 100 are compared"),
        (lambda y, p: [], r"returned nothing for 'race = a'"),
        (
            lambda y, p: pd.Series([1.0, 2.0], index=["x", "x"]),
            "returned two numbers with one name for 'race = a': 'x', 'x'",
        ),
        (lambda y, p: [[1.0, 2.0], [3.0]], r"returned \[\[1.0, 2.0\], \[3.0\]\] \(list\) for 'race = a'"),
    ],
)
def test_an_array_that_cannot_be_compared(function, said):
    with pytest.raises(CallError, match=said):
        eh.metric("own", measures=eh.measure("own", function))(**DATA, draws=100)


def test_an_array_of_another_shape_in_a_draw_is_left_out():
    label = np.array([2] + [0, 1] * 15 + [0, 1, 2] * 30)
    group = np.repeat(["a", "b"], [31, 90])
    found = eh.metric("own", measures=lambda y, p: recall_score(y, p, average=None))(
        label=label, prediction=label, sensitive=group, task="multiclass", draws=200
    )
    assert any("In some draws" in note for note in found.notes)


def test_arrays_are_saved_shown_and_loaded(tmp_path):
    own = eh.metric("recalls_parity", measures=recalls, unit="rate", threshold=0.1)
    audit = eh.audit(**DATA, metrics=[own, "equalized_odds"], draws=100)
    for suffix in ("html", "json", "md", "xml"):
        audit.save(tmp_path / f"audit.{suffix}")
    text = str(audit)
    assert "recalls_parity" in text
    loaded = eh.Audit.load(tmp_path / "audit.json")
    first, again = (each.findings[0] for each in (audit, loaded))
    assert (again.metric, again.value, again.rows) == (first.metric, first.value, first.rows)
    assert str(loaded) == text
    page = (tmp_path / "audit.html").read_text()
    assert "recalls [0]" in page
    assert "100, seed 0" in page  # and not "none: the intervals are analytic"
    assert re.search(r"recalls \\?\[\d", (tmp_path / "audit.md").read_text())
    table = audit.groups()
    assert {"recalls[0]", "recalls[1]"} <= set(table["measure"])


# --- weights, clusters and what never varies


def test_weights_reach_a_function_against_the_rest():
    weight = SURE.random(N) * 5

    def weighted(label, prediction, weight):
        return np.average(label == prediction, weights=weight)

    found = eh.metric("own", measures=weighted, unit="rate")(**DATA, weight=weight, reference="rest", draws=100)
    close(gaps(found), gaps(eh.accuracy_parity(**DATA, weight=weight, reference="rest")))


def test_a_weight_that_a_function_must_have():
    own = eh.metric("own", measures=lambda label, prediction, weight: 0.5)
    with pytest.raises(CallError, match="takes weight, and there are no weights: pass weight=, or give it a default"):
        own(**DATA)


def test_rows_that_belong_together_are_not_judged():
    found = RATE(**DATA, cluster=np.arange(N) // 3, draws=500)
    assert (found.verdict, found.value.low) == ("not judged", None)
    assert found.value.value == pytest.approx(RATE(**DATA, draws=0).value.value)


@pytest.mark.parametrize("interval", ["simultaneous", "percentile", "bca", "jackknife"])
@pytest.mark.parametrize("reference", [None, "rest", "overall", "a"])
def test_a_group_that_never_varies_has_no_interval(interval, reference):
    prediction = np.where(RACE == "c", DATA["label"], DATA["prediction"])
    group = RACE.copy()
    group[0] = "alone"
    found = RATE(
        **{**DATA, "prediction": prediction, "sensitive": group}, interval=interval, reference=reference, draws=100
    )
    for row in found.groups:
        if row.group in (("c",), ("alone",)):
            assert row.estimate.low is None
            assert row.difference is None or row.difference.low is None
    assert found.verdict != "pass"


def test_a_function_that_fails_in_a_stratum_names_it():
    def picky(label, prediction):
        if len(label) < 100:
            raise ValueError("too few")
        return 0.5

    with pytest.raises(CallError, match=r"failed on the \d+ rows of 'race = c in stratum north': ValueError: too few"):
        eh.metric("own", measures=picky)(**DATA, control=STRATA)


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_every_task_has_strata_and_a_rest(task):
    label = SURE.normal(size=N) if task == "regression" else SURE.choice(["x", "y", "z"], N)
    prediction = label + SURE.normal(size=N) if task == "regression" else SURE.choice(["x", "y", "z"], N)
    near = eh.metric("near", measures=lambda y_true, y_pred: np.mean(y_true[: len(y_true)] == y_pred), threshold=0.5)
    found = near(
        label=label, prediction=prediction, sensitive=RACE, control=STRATA, reference="rest", task=task, draws=100
    )
    chosen = (RACE == "a") & (STRATA == "north")
    others = (RACE != "a") & (STRATA == "north")
    (row,) = (row for row in found.groups if (row.group, row.stratum) == (("a",), ("north",)))
    assert row.estimate.value == pytest.approx(np.mean(label[chosen] == prediction[chosen]))
    expected = row.estimate.value - np.mean(label[others] == prediction[others])
    assert row.difference.value == pytest.approx(expected)


# --- where there are no rows, and names that are no names


def test_counts_alone_do_not_tell_a_function():
    cube = eh.Cube.count(**DATA)
    for ask in (
        lambda: eh.audit(cube, metrics=["f1_score"]),
        lambda: eh.trend({"1": cube, "2": cube}, metrics=["f1_score"]),
        lambda: RATE(cube),
    ):
        with pytest.raises(CallError, match="needs the rows; a cube does not keep them"):
            ask()


def test_keys_of_a_mapping_stay_names():
    found = eh.metric("own", measures=lambda y, p: {"<b>\x1b[31m": np.mean(y), "x" * 300: np.mean(p)})(
        **DATA, draws=100
    )
    names = {row.measure for row in found.groups}
    assert not any("\x1b" in name or len(name) > 100 for name in names)


def test_a_change_between_two_audits():
    first, second = (
        eh.audit(
            **{role: values for role, values in DATA.items() if role != "sensitive"},
            sensitive=groups,
            metrics=[RATE],
            draws=100,
        )
        for groups in (RACE, np.roll(RACE, 7))
    )
    (change,) = eh.diff(first, second).changes
    assert change.metric == "accuracy_of_rows"
    assert change.change.value == pytest.approx(second.findings[0].value.value - first.findings[0].value.value)


def test_small_numbers_keep_their_digits():
    """Without a unit, a number is shown as it is: neither in percent nor rounded to a whole."""
    found = eh.metric("own", measures=lambda y, p: 0.01 * np.mean(y == p))(**DATA, draws=100)
    assert re.search(r"is 0\.00\d+ for", str(found))
