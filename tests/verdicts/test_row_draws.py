"""Functions of rows do what their settings say: as many draws, the named interval, and the rows that there are."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import f1_score, mean_absolute_error

import evenhand as eh
from evenhand.inference import intervals

RANDOM = np.random.default_rng(0)
N = 240
LABEL = RANDOM.integers(0, 2, N)
DECISION = np.where(RANDOM.random(N) < 0.7, LABEL, 1 - LABEL)
GROUP = np.array(["a", "b", "c"])[RANDOM.integers(0, 3, N)]
DATA = {"label": LABEL, "prediction": DECISION, "sensitive": GROUP}


def agreement(label, prediction):
    return np.mean(label == prediction)


def of(values, name):
    """Those of one group."""
    return values[np.char.equal(GROUP, name)]


def metric_of(function, **arguments):
    return eh.metric("own_parity", measures=eh.measure("own", function), **arguments)


AGREEMENT = metric_of(agreement)


# --- draws and intervals


def test_as_many_draws_as_were_asked_for():
    calls = []
    counted = metric_of(lambda label, prediction: calls.append(len(label)) or agreement(label, prediction))
    for draws in (100, 250):
        calls.clear()
        found = counted(**DATA, draws=draws)
        assert len(calls) == 3 * (draws + 1)
        assert found.settings["draws"] == draws
        assert f"with {draws:,} draws" in found.notes[-1]
    calls.clear()
    assert counted(**DATA).settings["draws"] == 1000
    assert len(calls) == 3 * 1001


def test_the_draws_follow_the_seed():
    first, same, other = (AGREEMENT(**DATA, random_state=seed, draws=200) for seed in (1, 1, 2))
    assert first.value == same.value
    assert first.value.high != other.value.high
    assert (first.settings["random_state"], other.settings["random_state"]) == (1, 2)


def test_no_draws_no_interval_and_an_open_verdict():
    found = AGREEMENT(**DATA, draws=0)
    assert found.verdict == "inconclusive"
    assert (found.value.low, found.value.high) == (None, None)
    assert found.value.value == AGREEMENT(**DATA).value.value
    assert (found.settings["draws"], found.settings["interval"]) == (0, None)
    assert "draws=0" in found.notes[-1]
    audited = eh.audit(**DATA, metrics=[AGREEMENT], draws=0)
    assert audited.verdict == "inconclusive"
    assert audited.to_dict()["findings"][0]["settings"]["interval"] is None


@pytest.mark.parametrize("draws", [1, 2, 99])
def test_too_few_draws_are_refused(draws):
    with pytest.raises(eh.CallError, match=f"draws={draws} is too few .* at least 100 .* draws=0"):
        AGREEMENT(**DATA, draws=draws)


@pytest.mark.parametrize("draws", [-1, 10**6 + 1, 2.5, True])
def test_draws_that_are_not_a_number_of_draws(draws):
    with pytest.raises(eh.CallError, match="must be a whole number from 0 to 1,000,000"):
        AGREEMENT(**DATA, draws=draws)


def test_draws_that_do_not_fit_into_memory():
    groups = [f"group {i}" for i in range(400)]
    data = {"label": [0, 1] * 400, "prediction": [0, 1] * 400, "sensitive": groups * 2}
    with pytest.raises(
        eh.CallError, match="1,000,000 draws of 400 groups do not fit into memory: draw at most 500,000"
    ):
        AGREEMENT(**data, draws=10**6)


def drawn_by_hand(label, prediction, groups, draws, seed):
    """The same bootstrap, written out."""
    streams = np.random.SeedSequence(seed).spawn(len(groups))
    values = np.empty((draws, len(groups)))
    for place, (rows, stream) in enumerate(zip(groups, streams, strict=True)):
        random = np.random.default_rng(stream)
        for draw in range(draws):
            chosen = rows[random.integers(0, len(rows), len(rows))]
            values[draw, place] = agreement(label[chosen], prediction[chosen])
    return values


@pytest.mark.parametrize("interval", ["percentile", "basic"])
@pytest.mark.parametrize("reference", [None, "a"])
def test_the_interval_that_was_named(interval, reference):
    found = AGREEMENT(**DATA, interval=interval, draws=300, reference=reference)
    assert found.settings["interval"] == interval
    assert f"{interval} intervals" in found.notes[-1]
    rows = [np.flatnonzero(np.char.equal(GROUP, name)) for name in "abc"]
    drawn = drawn_by_hand(LABEL, DECISION, rows, 300, 0)
    own = np.array([agreement(LABEL[part], DECISION[part]) for part in rows])

    def ends(sample, estimate):
        arguments = {"estimate": estimate} if interval == "basic" else {}
        low, high, _ = getattr(intervals, interval)(sample, **arguments)
        return float(low), float(high)

    for i, row in enumerate(row for row in found.groups):
        assert (row.estimate.low, row.estimate.high) == pytest.approx(ends(drawn[:, i], own[i]))
    if reference is None:
        expected = ends(drawn.max(axis=1) - drawn.min(axis=1), own.max() - own.min())
        assert (found.difference.low, found.difference.high) == pytest.approx(expected)
    else:
        (row,) = (row for row in found.groups if row.group == ("b",))
        expected = ends(drawn[:, 1] - drawn[:, 0], own[1] - own[0])
        assert (row.difference.low, row.difference.high) == pytest.approx(expected)


def test_bca_is_that_of_the_rows():
    found = AGREEMENT(**DATA, interval="bca", draws=500, reference="a")
    rows = [np.flatnonzero(np.char.equal(GROUP, name)) for name in "abc"]
    drawn = drawn_by_hand(LABEL, DECISION, rows, 500, 0)
    own = np.array([agreement(LABEL[part], DECISION[part]) for part in rows])
    less = []
    for place, part in enumerate(rows):
        for i in range(len(part)):
            values = own.copy()
            values[place] = agreement(LABEL[np.delete(part, i)], DECISION[np.delete(part, i)])
            less.append(values[1] - values[0])
    bend = intervals.acceleration(np.ones(len(less)), less)
    low, high, _ = intervals.bca(drawn[:, 1] - drawn[:, 0], own[1] - own[0], bend)
    (row,) = (row for row in found.groups if row.group == ("b",))
    assert (row.difference.low, row.difference.high) == pytest.approx((float(low), float(high)))


def test_bca_of_too_many_rows_is_refused():
    many = 30_000
    label, prediction = RANDOM.normal(size=many), RANDOM.normal(size=many)
    own = metric_of(lambda label, prediction: np.mean(label - prediction))
    with pytest.raises(eh.CallError, match=r"30,000 calls of a function are too many: choose interval='percentile'"):
        own(label=label, prediction=prediction, sensitive=["a", "b"] * (many // 2), interval="bca", draws=100)


@pytest.mark.parametrize("interval", ["wilson", "newcombe", "katz", "bayes", "clopper-pearson"])
def test_an_interval_of_counts_is_replaced_and_the_finding_says_so(interval):
    found = AGREEMENT(**DATA, interval=interval)
    plain = AGREEMENT(**DATA)
    assert found.settings["interval"] == "simultaneous"
    assert any(f"interval='{interval}' is made of counts" in note for note in found.notes)
    assert found.value == plain.value


def test_standard_errors_are_those_of_the_draws():
    """A mean of n numbers has the standard error sd / √n, to within what 2,000 draws can tell."""
    label = RANDOM.normal(size=400)
    groups = np.repeat(["a", "b"], 200)
    own = metric_of(lambda label, prediction: np.mean(label))
    found = own(label=label, prediction=label + 0.5, sensitive=groups, draws=2000, reference="a", confidence=0.95)
    errors = [label[groups == name].std(ddof=1) / math.sqrt(200) for name in "ab"]
    (row,) = (row for row in found.groups if row.difference is not None)
    half = (row.difference.high - row.difference.low) / 2
    assert half == pytest.approx(1.97 * math.hypot(*errors), rel=0.06)


def test_a_stability_finding_does_not_name_an_interval_that_it_does_not_have():
    found = eh.stability(
        np.random.default_rng(0).random((20, 80)), sensitive=["a", "b"] * 40, policy=eh.Policy(interval="percentile")
    )
    assert {finding.settings["interval"] for finding in found.findings} == {"simultaneous"}


# --- which rows, and what they hold


def test_regression_gets_the_numbers():
    label = RANDOM.normal(10, 3, N)
    prediction = label + RANDOM.normal(0, 1, N)
    seen = []

    def mae(label, prediction):
        seen.append((label.dtype.kind, prediction.dtype.kind))
        return mean_absolute_error(label, prediction)

    own = metric_of(mae, threshold=1)
    expected = [mean_absolute_error(of(label, name), of(prediction, name)) for name in "abc"]
    for task in (None, "regression"):
        found = own(label=label, prediction=prediction, sensitive=GROUP, task=task, draws=100)
        assert [row.estimate.value for row in found.groups] == pytest.approx(expected)
    assert set(seen) == {("f", "f")}
    audited = eh.audit(label=label, prediction=prediction, sensitive=GROUP, metrics=[own], draws=100)
    assert float(audited.findings[0]) == pytest.approx(max(expected) - min(expected))


@pytest.mark.parametrize("values", [("x", "y", "z"), (0, 1, 2)])
def test_several_classes_get_the_callers_own_values(values):
    label = np.array(values)[RANDOM.integers(0, 3, N)]
    prediction = np.array(values)[RANDOM.integers(0, 3, N)]
    seen = set()

    def f1(label, prediction):
        seen.update(type(value) for value in label.tolist())
        return f1_score(label, prediction, average="macro", labels=list(values))

    found = metric_of(f1)(label=label, prediction=prediction, sensitive=GROUP, task="multiclass", draws=100)
    expected = [f1(of(label, name), of(prediction, name)) for name in "abc"]
    assert [row.estimate.value for row in found.groups] == pytest.approx(expected)
    assert seen == {type(values[0])}


def test_one_class_in_two_spellings_is_one_value():
    label = RANDOM.integers(0, 3, N)
    prediction = np.where(RANDOM.random(N) < 0.5, label, 0).astype(str)
    found = AGREEMENT(label=label, prediction=prediction, sensitive=GROUP, task="multiclass", draws=100)
    expected = [agreement(of(label, name).astype(str), of(prediction, name)) for name in "abc"]
    assert [row.estimate.value for row in found.groups] == pytest.approx(expected)


def test_rows_without_a_label_are_left_out():
    for values, task in ((np.array([0, 1]), None), (np.array(["x", "y"]), "multiclass")):
        label = values[LABEL].astype(object)
        label[::7] = None
        roles = {"prediction": values[DECISION], "sensitive": GROUP, "task": task, "draws": 100}
        if task is None:
            roles["prediction"] = DECISION
        found = AGREEMENT(label=label, **roles)
        kept = np.arange(N) % 7 != 0
        expected = [
            agreement(LABEL[kept & np.char.equal(GROUP, name)], DECISION[kept & np.char.equal(GROUP, name)])
            for name in "abc"
        ]
        assert [row.estimate.value for row in found.groups] == pytest.approx(expected)
        assert [row.n for row in found.groups] == [int((kept & np.char.equal(GROUP, name)).sum()) for name in "abc"]


@pytest.mark.parametrize("weighted", [False, True])
def test_count_is_rows_written_out(weighted):
    count = RANDOM.integers(0, 4, N)
    weights = {"weight": np.round(RANDOM.random(N) * 4)} if weighted else {}
    own = metric_of(f1_score)
    counted = own(**DATA, **weights, count=count, draws=150)
    written = {role: np.repeat(values, count) for role, values in (DATA | weights).items()}
    expected = own(**written, draws=150)
    assert counted.value == expected.value
    assert [row.n for row in counted.groups] == [row.n for row in expected.groups]


def test_weights_are_passed_with_their_rows():
    weight = RANDOM.random(N) * 10

    def weighted(label, prediction, weight):
        return np.average(label == prediction, weights=weight)

    expected = [np.average(of(LABEL, name) == of(DECISION, name), weights=of(weight, name)) for name in "abc"]
    found = metric_of(weighted)(**DATA, weight=weight, draws=200)
    assert [row.estimate.value for row in found.groups] == pytest.approx(expected)
    other_name = metric_of(lambda y, p, sample_weight: np.average(y == p, weights=sample_weight))
    same = other_name(**DATA, weight=weight, draws=200)
    assert same.value == found.value
    heavier = metric_of(weighted)(**DATA, weight=weight * 1e6, draws=200)
    assert heavier.value.value == pytest.approx(found.value.value)
    assert heavier.value.high == pytest.approx(found.value.high)


def test_a_function_without_weights_cannot_be_measured_on_weighted_rows():
    with pytest.raises(eh.CallError, match=r"own takes no weight.* add an argument weight .* or leave weight= out"):
        AGREEMENT(**DATA, weight=RANDOM.random(N))


def test_weights_of_zero():
    weight = np.where(GROUP == "a", 0.0, 1.0)

    def weighted(label, prediction, weight):
        return np.average(label == prediction, weights=weight)

    found = metric_of(weighted)(**DATA, weight=weight, draws=100)
    assert any("own gave no number for group a" in note for note in found.notes)


def test_bands_of_a_quantity_are_those_of_the_counts():
    """The edges of quantile bands are found while counting; rows are put into the same ones, whatever they count."""
    age = RANDOM.normal(40, 12, N)
    count = np.where(age > 50, 9, 1)
    found = AGREEMENT(label=LABEL, prediction=DECISION, sensitive={"age": age}, count=count, draws=100)
    cube = eh.Cube.count(label=LABEL, prediction=DECISION, sensitive={"age": age}, count=count)
    assert [row.group for row in found.groups] == list(cube.groups)
    assert [row.n for row in found.groups] == cube.n.sum(axis=(1, 2)).tolist()


def test_the_order_of_rows_does_not_depend_on_other_attributes():
    """The share of rows that agree with the one before: of race alone, and of race beside sex, it is one number."""
    own = metric_of(lambda label, prediction: np.mean(label[1:] == label[:-1]))
    sex = np.array(["f", "m"])[RANDOM.integers(0, 2, N)]
    alone = own(label=LABEL, prediction=DECISION, sensitive={"race": GROUP}, draws=100)
    roles = {"label": LABEL, "prediction": DECISION, "sensitive": {"race": GROUP, "sex": sex}}
    both = eh.audit(**roles, metrics=[own], draws=100, policy=eh.Policy(familywise="finding"))
    beside = next(finding for finding in both.findings if finding.attributes == ("race",))
    assert beside.value == alone.value


# --- what a function returns


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (None, r"None \(NoneType\)"),
        ("0.5", r"'0\.5' \(str\)"),
        (b"0.5", r"b'0\.5' \(bytes\)"),
        (0.5j, r"0\.5j \(complex\)"),
        ([0.5, None], r"\[0\.5, None\] \(list\)"),
        ({"a": "1"}, r"\{'a': '1'\} \(dict\)"),
        (np.array([0.5j]), r"an array of shape \(1,\) \(ndarray\)"),
        (pd.NA, r"<NA> \(NAType\)"),
        (10**400, r"1000.* \(int\)"),
    ],
    ids=repr,
)
def test_what_is_not_a_number_is_an_error_that_shows_it(returned, shown):
    own = metric_of(lambda label, prediction: returned)
    with pytest.raises(
        eh.CallError, match=rf"the function of own returned {shown} for 'group a': it must return a number"
    ):
        own(**DATA)


@pytest.mark.parametrize(
    "kind", [float, np.float32, np.float64, np.array, lambda value: __import__("fractions").Fraction(value)]
)
def test_every_kind_of_number(kind):
    found = metric_of(lambda label, prediction: kind(float(np.mean(label == prediction))))(**DATA, draws=100)
    assert found.value.value == pytest.approx(AGREEMENT(**DATA).value.value, rel=1e-6)


def test_an_error_inside_the_function_says_so_and_shows_it():
    def broken(label, prediction):
        raise KeyError("no such thing")

    with pytest.raises(
        eh.CallError, match=r"the function of own failed on the \d+ rows of 'group a': KeyError: .*no such"
    ) as e:
        metric_of(broken)(**DATA)
    assert isinstance(e.value.__cause__, KeyError)


def test_an_error_in_some_draws_is_a_note():
    """One positive in 20: about a third of the draws have none, and then the function fails."""
    label = np.array([1] + [0] * 19 + [0, 1] * 40)
    prediction = np.array([1, 0] * 50)
    group = np.repeat(["a", "b"], [20, 80])

    def strict(label, prediction):
        if not label.any():
            raise ValueError("only one class")
        return np.mean(prediction[label == 1]) + 0.001 * np.mean(prediction)

    found = metric_of(strict)(label=label, prediction=prediction, sensitive=group, draws=400)
    (note,) = (note for note in found.notes if "and they are left out" in note)
    lost = int(re.search(r"a \((\d+)\)", note)[1])
    assert 400 * 0.2 < lost < 400 * 0.5
    assert any("failed, such as with ValueError: only one class" in note for note in found.notes)


def test_nan_in_some_draws_and_in_most():
    label = np.array([1] + [0] * 19 + [0, 1] * 40)
    prediction = RANDOM.integers(0, 2, 100)
    group = np.repeat(["a", "b"], [20, 80])

    def rate(least):
        return lambda label, prediction: (
            np.mean(prediction) if label.sum() >= least else math.nan if len(label) < 50 else np.mean(prediction)
        )

    some = metric_of(rate(1))(label=label, prediction=prediction, sensitive=group, draws=300)
    assert some.groups[0].estimate.low is not None
    calls = iter(range(10**9))
    most = metric_of(
        lambda label, prediction: np.mean(prediction) if len(label) > 50 or next(calls) % 5 == 0 else math.nan
    )(label=label, prediction=prediction, sensitive=group, draws=300)
    assert most.groups[0].estimate.low is None
    assert any("No interval of own is known for group a" in note for note in most.notes)
    assert most.verdict == "inconclusive"


@pytest.mark.parametrize("interval", ["simultaneous", "percentile", "basic", "bca"])
def test_what_never_varies_is_not_known_exactly(interval):
    """Fifty right decisions of fifty: no draw differs, and that is not a rate known to be 1."""
    data = {
        "label": np.ones(150),
        "prediction": np.r_[np.ones(50), np.zeros(50), np.ones(50)],
        "sensitive": np.repeat(["a", "b", "c"], 50),
        "draws": 100,
        "interval": interval,
    }
    found = AGREEMENT(**data)
    assert found.verdict == "inconclusive"
    assert (found.value.value, found.value.low) == (1.0, None)
    assert any("No interval of own is known for group a, group b" in note for note in found.notes)
    assert not any("billion" in note for note in found.notes)
    constant = metric_of(lambda label, prediction: 0.25)(**data)
    assert constant.verdict == "inconclusive"


@pytest.mark.parametrize("interval", ["simultaneous", "percentile"])
def test_a_group_of_one(interval):
    data = {"label": [*LABEL, 1], "prediction": [*DECISION, 1], "sensitive": [*GROUP, "alone"], "draws": 100}
    found = AGREEMENT(**data, interval=interval)
    (row,) = (row for row in found.groups if row.group == ("alone",))
    assert (row.estimate.value, row.estimate.low, row.n) == (1.0, None, 1)
    assert found.verdict == "inconclusive"


def test_infinite_and_divided_by_zero_are_undefined():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (lambda y, p: math.inf, lambda y, p: 1 / 0, lambda y, p: math.nan):
            found = metric_of(function)(**DATA, draws=100)
            assert found.verdict == "inconclusive"
            assert math.isnan(found.value.value)


def test_what_a_function_does_to_its_arguments_stays_with_it():
    def sorting(label, prediction):
        result = np.mean(label == prediction)
        label.sort()
        prediction[:] = 1
        return result

    label, prediction = LABEL.copy(), DECISION.copy()
    found = metric_of(sorting)(label=label, prediction=prediction, sensitive=GROUP, draws=200)
    assert found.value == AGREEMENT(**DATA, draws=200).value
    assert (label == LABEL).all()
    assert (prediction == DECISION).all()


# --- what cannot be asked


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"label": None}, "own_parity needs label=, which was not given"),
        ({"prediction": None}, "own_parity needs prediction=, which was not given"),
    ],
)
def test_a_refusal_says_what_to_do(arguments, said):
    with pytest.raises(eh.CallError, match=said):
        AGREEMENT(**(DATA | {"draws": 100} | arguments))


def test_functions_are_not_mixed_with_other_measures():
    mixed = eh.metric("mixed", measures=("selection_rate", eh.measure("own", agreement)))
    with pytest.raises(eh.CallError, match="mixes selection_rate, made of cells, with functions of rows"):
        mixed(**DATA)


def test_chunks_engines_and_cubes_are_refused_with_a_remedy():
    frame = pd.DataFrame(DATA)
    roles = {"label": "label", "prediction": "prediction", "sensitive": "sensitive"}
    with pytest.raises(eh.CallError, match=r"in memory: collect the table first, or read"):
        AGREEMENT(pl.from_pandas(frame).lazy(), **roles)
    with pytest.raises(eh.CallError, match="pass one table instead of several"):
        AGREEMENT([frame, frame], **roles)
    for ask in (AGREEMENT, lambda cube: cube.audit(metrics=[AGREEMENT])):
        with pytest.raises(eh.CallError, match="own_parity needs the rows; a cube does not keep them"):
            ask(eh.Cube.count(frame, **roles))


def test_two_groups_and_a_convention_that_pools():
    two = {role: values[GROUP != "c"] for role, values in DATA.items()}
    found = AGREEMENT(**two, reference="a", convention="aif360", draws=100)
    assert (found.highest, found.lowest) == ("b", "a")
    assert float(found) == AGREEMENT(**two, reference="a", draws=100).value.value
