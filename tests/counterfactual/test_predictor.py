"""What counts as a decision of the audited model: a pass is never the result of an argument that matches nothing."""

from __future__ import annotations

import math
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.counterfactual.predictor import Predictor
from evenhand.errors import CallError, DataError, EvenhandError
from evenhand.testing import assert_fair

ROWS = {"group": np.repeat(["a", "b"], 100), "x": np.tile(np.linspace(-1, 1, 100), 2)}
MODEL = eh.CausalModel("group -> x", mechanisms={"x": {"group": {"a": 0.0, "b": 2.0}}})


def inside(table):
    """Everyone of group b, and nobody else: whoever is moved is decided differently."""
    return np.asarray(table["group"]) == "b"


ANSWERS = {
    "0 and 1": lambda table: inside(table).astype(int),
    "0.0 and 1.0": lambda table: inside(table).astype(float),
    "booleans": inside,
    "text": lambda table: np.where(inside(table), "1", "0"),
    "text with points": lambda table: np.where(inside(table), "1.0", "0.0"),
    "objects": lambda table: np.where(inside(table), True, False).astype(object),
}
YES = {
    "text": lambda table: np.where(inside(table), "yes", "no"),
    "spaces": lambda t: np.where(inside(t), " yes", "no"),
}


def scores(table):
    return np.where(inside(table), 0.9, 0.1)


def flipped(predict, **arguments):
    return eh.flip_test(predict, ROWS, sensitive="group", **arguments)


def moved(predict, **arguments):
    return eh.counterfactual_fairness(predict, ROWS, MODEL, sensitive="group", refits=0, **arguments)


def split(predict, **arguments):
    return eh.decompose(predict, ROWS, MODEL, sensitive="group", refits=0, **arguments)


DOORS = {"flip_test": flipped, "counterfactual_fairness": moved, "decompose": split}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)


def flips(found):
    """Does everyone's decision change?"""
    return (
        abs(found[0].gap.value) == 1 if isinstance(found, tuple) else (found.verdict, found.value.value) == ("fail", 1)
    )


# --- the positive value


@every_door
@pytest.mark.parametrize(
    "positive", [1, 1.0, True, "1", "1.0", " 1", "true", np.int8(1), Decimal("1.00"), [1], {"prediction": 1}]
)
@pytest.mark.parametrize("answers", ANSWERS)
def test_the_positive_value_has_one_spelling(door, answers, positive):
    assert flips(door(ANSWERS[answers], positive=positive))


@every_door
@pytest.mark.parametrize("positive", ["yes", " yes", "yes ", b"yes", ["yes", "perhaps"]])
@pytest.mark.parametrize("answers", YES)
def test_a_positive_class_is_found_with_spaces_around_it(door, answers, positive):
    assert flips(door(YES[answers], positive=positive))


@every_door
@pytest.mark.parametrize("positive", ["Yes", "YES", "y", 1, "", "nan", math.nan, 10**400, ["Yes"], "no such"])
def test_a_positive_value_that_is_no_answer_is_an_error(door, positive):
    with pytest.raises(CallError, match=r"never gives the positive value .* it gives 'no', 'yes'"):
        door(YES["text"], positive=positive)


@every_door
@pytest.mark.parametrize("positive", [[], {"predicton": "yes"}])
def test_a_positive_that_names_nothing_is_an_error(door, positive):
    with pytest.raises(CallError, match="positive="):
        door(YES["text"], positive=positive)


@every_door
def test_a_model_that_never_says_yes_has_decided_nothing(door):
    with pytest.raises(CallError, match=r"never gives the positive value '1'; it gives '0'\. Say which"):
        door(lambda table: np.zeros(len(table["x"])), positive=1)


def test_a_positive_answer_may_come_only_from_those_who_were_moved():
    def only_after(table):
        return np.where(np.asarray(table["x"]) > 1.5, "yes", "no")

    found = moved(only_after, positive="yes")
    assert (found.verdict, round(found.value.value, 2)) == ("fail", 0.75)


@every_door
def test_scores_are_not_classes(door):
    with pytest.raises(CallError, match=r"positive= names a class, and predict gives scores \('0.1'.*\): pass cutoff="):
        door(scores, positive=1)


# --- the cutoff


@every_door
def test_a_cutoff_and_a_positive_value_exclude_each_other(door):
    for predict in (scores, ANSWERS["0 and 1"]):
        with pytest.raises(CallError, match="cutoff= and positive= both say what a positive decision is"):
            door(predict, positive=1, cutoff=0.5)


@every_door
@pytest.mark.parametrize("cutoff", [math.nan, math.inf, -math.inf, 10**400, "0.5", True, [0.5], Decimal("0.5")])
def test_a_cutoff_is_a_finite_number(door, cutoff):
    with pytest.raises(CallError, match=r"cutoff=.* (must be a (finite )?number|is too large)"):
        door(scores, cutoff=cutoff)


@every_door
@pytest.mark.parametrize(
    ("cutoff", "side"), [(50, "below"), (0.91, "below"), (0.1, "at or above"), (-1, "at or above")]
)
def test_a_cutoff_that_divides_nobody_is_an_error(door, cutoff, side):
    with pytest.raises(CallError, match=f"every answer of predict is {side} the cutoff"):
        door(scores, cutoff=cutoff)


@every_door
@pytest.mark.parametrize("cutoff", [0.11, 0.5, 0.9, np.float32(0.5)])
def test_a_cutoff_between_the_scores_decides(door, cutoff):
    assert flips(door(scores, cutoff=cutoff))


def test_numbers_without_a_cutoff_are_judged_by_how_far_they_change():
    found = flipped(scores)
    assert (found.verdict, found.value.value) == ("fail", pytest.approx(0.8))


def test_the_values_of_a_node_have_no_cutoff():
    for argument in ({"cutoff": 0.5}, {"positive": 1}):
        with pytest.raises(CallError, match="for a predict that is a function"):
            split("x", **argument)


def test_a_gap_between_classes_has_no_size():
    with pytest.raises(CallError, match="name the favourable class with positive="):
        split(YES["text"])


# --- answers that are none


@every_door
@pytest.mark.parametrize("how", [{}, {"cutoff": 0.5}, {"positive": 1}])
@pytest.mark.parametrize(
    "missing", [math.nan, math.inf, -math.inf, None, pd.NA, pd.NaT, Decimal("NaN"), "nan"], ids=repr
)
def test_a_missing_or_infinite_answer_is_an_error(door, how, missing):
    def predict(table):
        answers = inside(table).astype(float).astype(object)
        answers[-1] = missing
        return answers.astype(float) if isinstance(missing, float) else answers

    with pytest.raises(DataError, match=r"gave no number or class in 1 of 200 rows \(missing, NaN or infinite\)"):
        door(predict, **how)


def test_numbers_for_some_and_classes_for_others_are_an_error():
    """The code of a class, 0, is not the number 0."""

    def predict(table):
        return np.full(200, "no") if len(set(table["group"])) == 2 else np.zeros(200)

    with pytest.raises(CallError, match="numbers for some people and names of classes for others"):
        flipped(predict)


# --- a function that fails


def leave(code):
    return lambda table: sys.exit(code)


def raising(error):
    def predict(table):
        raise error

    return predict


FAILURES = [
    ValueError("bad\nrows."),
    KeyError("x"),
    BrokenPipeError(32, "Broken pipe"),
    GeneratorExit(),
    SystemExit(0),
    MemoryError(),
]


@every_door
@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_model_that_fails_says_so_and_shows_why(door, error):
    with pytest.raises(
        EvenhandError, match=rf"^predict failed in call 1, on 200 rows: {type(error).__name__}"
    ) as caught:
        door(raising(error))
    assert caught.value.__cause__ is error
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("code", [0, 1, None, "goodbye"])
def test_a_model_that_leaves_the_program_does_not(code):
    with pytest.raises(CallError, match="predict failed in call 1, on 200 rows: SystemExit"):
        flipped(leave(code))


def test_the_call_that_failed_is_numbered():
    def after_a_while(table):
        if set(table["group"]) == {"b"}:
            raise RuntimeError("enough")
        return scores(table)

    with pytest.raises(CallError, match="predict failed in call 3, on 200 rows: RuntimeError: enough"):
        flipped(after_a_while)


def test_an_interrupt_stays_one():
    with pytest.raises(KeyboardInterrupt):
        flipped(raising(KeyboardInterrupt()))


def test_an_error_of_ours_in_the_model_is_not_wrapped():
    with pytest.raises(DataError, match=r"^only this$"):
        flipped(raising(DataError("only this")))


def test_a_model_whose_answer_cannot_be_read_says_so():
    class Answer:
        def to_numpy(self):
            raise RuntimeError("lost")

    with pytest.raises(CallError, match="predict failed in call 1, on 200 rows: RuntimeError: lost"):
        flipped(lambda table: Answer())


def test_a_failure_in_another_process_is_said_there_too():
    """The refits run in processes; sys.exit() in one of them must not end it silently."""
    joined = eh.CausalModel("group -> x").fit(ROWS)

    def predict(table):
        predict.calls += 1
        return sys.exit(0) if predict.calls > 6 else np.asarray(table["x"])

    predict.calls = 0
    with pytest.raises(EvenhandError, match=r"predict failed in call .* SystemExit: 0"):
        eh.counterfactual_fairness(predict, ROWS, joined, sensitive="group", refits=20, n_jobs=2)


# --- through pytest


def test_assert_fair_fails_with_each_spelling_of_the_positive_value():
    for positive in (1, 1.0, True, "1.0"):
        found = flipped(ANSWERS["0 and 1"], positive=positive)
        base = eh.Cube.count(prediction=ANSWERS["0 and 1"](ROWS).astype(int), sensitive={"group": ROWS["group"]})
        audit = eh.Audit(base, eh.Policy(), (found,), (), (found.metric,))
        with pytest.raises(AssertionError, match="flip_test on group: fail"):
            assert_fair(audit)


def test_a_predictor_reads_features_by_name():
    predictor = Predictor(lambda table: table["x"], "x", None, None)
    assert predictor.features == ["x"]
    assert predictor.answers(ROWS).kind == "number"
