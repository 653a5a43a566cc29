"""fairlearn.json: its guide and its tests; fairlearn_quirks.json: where we do otherwise, on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

import evenhand as eh
from support import cases
from support.cases import Case, same, undefined

CASES = cases.load("fairlearn")
QUIRKS = {case["id"]: case for case in cases.load("fairlearn_quirks")}

# What other parts of evenhand answer for, by metric.
LATER = {"mean_prediction": "regression", "mean_absolute_error": "regression", "log_loss_group_max": "scores"}

COVERED = [case for case in CASES if case["metric"] not in LATER]

# 0/0, which fairlearn calls 0.
UNDEFINED = {"base_allzero_false_negative_rate", "base_allone_false_positive_rate"}

# The measure behind a name of fairlearn, where it is not a name of ours. Whole coefficients make F with β = 0.6.
MEASURES = {
    "demographic_parity": "selection_rate",
    "equal_opportunity": "true_positive_rate",
    "mean_squared_error": "error_rate",  # the same, for decisions of 0 and 1
    "fbeta_score": eh.measure("f06", numerator="34TP", denominator="34TP 9FN 25FP"),
}

AGGREGATES = ("difference", "ratio", "group_min", "group_max")


def test_every_case_is_covered_or_left_for_a_reason():
    assert Counter(LATER.get(case["metric"]) for case in CASES) == {None: 85, "regression": 3, "scores": 1}
    assert len(QUIRKS) == 18


def count(case: Case) -> eh.Cube:
    return cases.table(
        case["y_true"],
        case["y_pred"],
        case["sensitive"],
        control=case.get("control"),
        weight=case.get("sample_weight"),
        positive=case["params"].get("pos_label", 1),
    )


def split(case: Case) -> tuple[str, str]:
    """The measure and the aggregate: fairlearn writes them together, or apart in the parameters."""
    if "aggregate" in case["params"]:
        return case["metric"], case["params"]["aggregate"]
    for aggregate in AGGREGATES:
        if case["metric"].endswith(f"_{aggregate}"):
            return case["metric"].removesuffix(f"_{aggregate}"), aggregate
    return case["metric"], "overall"


def strata(cube: eh.Cube, measure) -> dict[str, list[float]]:
    """The values of all groups, stratum by stratum."""
    found: dict[str, list[float]] = {}
    (numbers,) = cube.measures([measure]).values()
    for (stratum, _), value in zip(cube.pairs, numbers.tolist(), strict=True):
        found.setdefault("|".join(stratum), []).append(value)
    return found


def compared(case: Case, name: str, kind: str) -> dict[str, float]:
    """A difference or ratio of each stratum, through a metric of the catalogue or one made for the measure."""
    arguments = {"convention": "fairlearn", "judged_on": kind}
    if case["params"].get("method") == "to_overall":
        arguments["reference"] = "overall"
    if case["params"].get("agg") == "mean":
        arguments["aggregate"] = "mean"
    measure = MEASURES.get(name, name)
    metric = eh.equalized_odds if name == "equalized_odds" else eh.metric("compared", measures=measure)
    found = metric(count(case), **arguments)
    if not case.get("control"):
        return {"": float(found.value)}
    return {
        "|".join(row.stratum): float(getattr(row, kind))
        for row in found.rows
        if row.measure == found.metric and row.estimate is None
    }


def answer(case: Case) -> dict[str, float]:
    name, aggregate = split(case)
    measure = MEASURES.get(name, name)
    if aggregate in ("difference", "ratio"):
        return compared(case, name, aggregate)
    if aggregate == "by_group":
        return cases.values(count(case), measure)
    if aggregate == "overall":
        return cases.values(cases.everyone(count(case)), measure)
    choose: Callable[[list[float]], float] = {"group_min": min, "group_max": max}[aggregate]
    return {stratum: choose(numbers) for stratum, numbers in strata(count(case), measure).items()}


@cases.parametrize(COVERED)
def test_fairlearn(case):
    expected = case["expected"]
    if case["metric"] == "confusion_matrix":
        assert count(case).n.sum(axis=0)[:2, :2].tolist() == expected
    elif case["id"] in UNDEFINED:
        assert expected == 0
        assert undefined(answer(case)[""])
    else:
        assert answer(case) == same(expected if isinstance(expected, dict) else {"": expected})


# --- the quirks: one test for each suggestion -------------------------------------------------------------------


def ask(name: str, metric: Callable[..., eh.Finding] | None = None, **arguments: object) -> eh.Finding:
    """Our metric on the rows of a quirk, with "nan" read as missing."""
    case = QUIRKS[name]
    metric = metric or getattr(eh, case["metric"])
    roles = {"label": case["y_true"], "prediction": case["y_pred"], "sensitive": case["sensitive"]}
    roles = {role: [None if value == "nan" else value for value in column] for role, column in roles.items()}
    if case["sample_weight"] is not None:
        roles["weight"] = case["sample_weight"]
    return metric(**roles, **arguments)


@pytest.mark.parametrize("name", ["no_positives_in_group", "no_positives_in_group_ratio"])
def test_quirk_a_group_without_positives_is_undefined_and_named(name):
    found = ask(name)
    assert undefined(found.value)
    assert (found.passes, found.verdict) == (None, "inconclusive")
    assert "no positive labels among group b" in found.interpretation
    assert any("no positive labels among group b" in note for note in found.notes)
    (b,) = (row for row in found.groups if row.group == ("b",))
    assert undefined(b.estimate)
    assert b.reason == "no positive labels among group b"
    assert b.n == 0


def test_quirk_all_rates_zero_ratio_is_undefined_and_says_why():
    found = ask("all_rates_zero_ratio")
    assert undefined(found.value)
    assert found.verdict == "inconclusive"
    assert "it is 0 for every group" in found.interpretation


def test_quirk_all_rates_zero_difference_is_zero_between_two_groups():
    found = ask("all_rates_zero_difference")
    assert float(found.value) == 0
    assert (found.passes, found.verdict) == (None, "not judged")  # nobody was selected, so any groups would be equal
    assert {found.highest, found.lowest} == {"a", "b"}


@pytest.mark.parametrize("name", ["eor_nan_second", "eor_nan_first"])
def test_quirk_worst_ratio_does_not_depend_on_the_order_of_measures(name):
    found = ask(name)
    assert float(found.value) == 0.5
    gaps = {row.measure: float(row.ratio) for row in found.rows if row.estimate is None}
    nothing = {"eor_nan_second": "false_positive_rate", "eor_nan_first": "true_positive_rate"}[name]
    assert undefined(gaps[nothing])
    title = nothing.replace("_", " ")
    assert any(title in note for note in found.notes), f"the {title} left the comparison without a word"


def test_quirk_mean_with_an_undefined_part_is_undefined_and_says_which():
    found = ask("eor_mean_skips_nan", aggregate="mean")
    assert undefined(found.value)
    assert found.verdict == "inconclusive"
    assert "true positive rate" in found.interpretation
    # The false positive rate is 50 % and 100 %: no sentence may call it 0.
    assert "false positive rate is undefined: it is 0 for every group" not in found.interpretation


def test_quirk_single_group_is_an_error():
    with pytest.raises(eh.DataError, match="one group only"):
        ask("single_group")


def test_quirk_missing_prediction_is_an_error():
    with pytest.raises(eh.DataError, match=r"prediction.* missing in 1 row"):
        ask("nan_pred")


def test_quirk_fractions_as_prediction_are_an_error():
    with pytest.raises(eh.DataError, match="looks like a score"):
        ask("continuous_pred")


def test_quirk_text_without_positive_is_an_error_with_the_remedy():
    with pytest.raises(
        eh.DataError, match=r"it holds 'n', 'y'\. Say which of its values counts as positive with positive="
    ):
        ask("string_labels")


def test_quirk_positive_is_given_by_value():
    found = ask("pos_label_kw", positive="y")
    assert float(found.value) == 0
    assert [float(row.estimate) for row in found.groups] == [0.5, 0.5]
    assert float(ask("pos_label_kw", pos_label="y").value) == 0


def test_quirk_group_without_weight_is_undefined_and_named():
    found = ask("zero_weight_group")
    assert undefined(found.value)
    assert found.verdict == "inconclusive"
    assert any(note.startswith("Undefined") and note.endswith("group a with a weight above 0.") for note in found.notes)


def test_quirk_negative_weight_is_an_error():
    with pytest.raises(eh.DataError, match="negative"):
        ask("negative_weight")


def test_quirk_missing_group_follows_the_policy():
    found = ask("nan_sensitive")
    assert float(found.value) == 0.5
    assert [row.group for row in found.groups] == [("a",), ("b",), (None,)]
    assert any("1 row (25.0%) has no group" in note for note in found.notes)
    dropped = ask("nan_sensitive", missing="drop")
    assert [row.group for row in dropped.groups] == [("a",), ("b",)]
    with pytest.raises(eh.DataError, match="missing"):
        ask("nan_sensitive", missing="error")


def test_quirk_lengths_that_differ_are_named():
    with pytest.raises(eh.DataError, match=r"lengths differ.* weight .*3"):
        ask("wrong_length_weight")


def test_quirk_no_rows_is_an_error():
    with pytest.raises(eh.DataError, match="no rows"):
        ask("empty")


def test_quirk_nothing_asked_is_ignored():
    for wrong in ({"method": "bogus"}, {"convention": "bogus"}, {"reference": "bogus"}):
        with pytest.raises(eh.CallError):
            ask("bogus_method_ignored", eh.overall_accuracy_equality, **wrong)
