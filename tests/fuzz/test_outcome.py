"""What counts as a fall: the suite notices each of the faults that the page "What we test" names."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

from evenhand.errors import CallError
from fuzz import commands, outcome, suite
from fuzz.outcome import attempt, limits
from fuzz.values import raises


def refuse(text):
    raise CallError(text)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: int("x"), "ValueError: invalid literal"),
        (lambda: {}[3], "KeyError: 3"),
        (lambda: warnings.warn("careful", RuntimeWarning, stacklevel=1), "RuntimeWarning: careful"),
        (lambda: np.zeros(10**11), "MemoryError"),
        (lambda: refuse(" "), "without a word"),
        (lambda: refuse("word " * 1000), "a message of 5,000 characters"),
        (lambda: refuse("bins is wrong: 'NoneType' object is not iterable"), "the words of Python"),
        (lambda: refuse("bins=\x1b[31m must be a number"), "a terminal acts on"),
        (lambda: refuse("this must be a number"), "bins is not named"),
    ],
)
def test_a_fault_is_a_fall(call, why):
    found = attempt(call, named=("bins",))
    assert (found.kind, found.held) == ("fell", False)
    assert why in found.why


def test_what_holds():
    assert attempt(lambda: 3).kind == "result"
    assert attempt(lambda: refuse("bins=-1 must be a number of at least 1."), named=("bins",)).kind == "refused"
    assert attempt(raises).kind == "refused"
    assert attempt(lambda: 3, nonsense=True).why == "taken without a word"


def test_time_and_memory_are_limited_only_for_the_call():
    with pytest.raises(outcome.TookTooLongError), limits(seconds=1):
        time.sleep(3)
    time.sleep(0.01)
    assert np.zeros(2**20).nbytes == 2**23


@pytest.mark.parametrize(
    ("code", "out", "err", "why"),
    [
        (70, "", "evenhand: internal error: ValueError", "exit code 70"),
        (1, "", "Traceback (most recent call last):", "exit code 1"),
        (-1, "", "", "exit code -1"),
        (2, "", "", "no sentence"),
        (2, "half a table", "evenhand: error: it failed.", "on standard output"),
        (2, "", "evenhand: error: " + "word " * 1000, "a message of"),
        (0, "a\x1b[2Jb", "", "wrote 0x1b"),
    ],
)
def test_a_program_that_ends_badly_is_a_fall(code, out, err, why):
    assert why in commands.judged([], code, out, err).why


def test_a_program_that_ends_well():
    assert commands.judged([], 2, "", "evenhand: error: bins=0 must be a whole number.\n").kind == "refused"
    assert commands.judged(["--json"], 1, "{}", "").kind == "result"
    with pytest.raises(ValueError, match="NaN is not JSON"):
        commands.judged(["--json"], 0, '{"a": NaN}', "")


def test_an_input_that_is_overwritten_is_a_fall(attempts, monkeypatch):
    def overwrite(_):
        (attempts.folder / "people.csv").write_text("label\n", encoding="utf-8")
        return outcome.Outcome("result")

    monkeypatch.setattr(commands, "attempt", overwrite)
    place = next(each for each in suite.of_options() if each.owner == "audit")
    assert attempts(place, "empty").why == "an input was overwritten"
    monkeypatch.undo()
    assert attempts(place, "the data").kind == "result"


def test_what_falls_and_what_is_mended_are_told_apart(monkeypatch):
    place = suite.Place("options", "audit", "--bins", ("zero", "nan"))
    monkeypatch.setattr(suite, "known", lambda: {("options", "audit --bins", "nan"): "it fell"})
    new, mended = suite.falls(lambda _, value: outcome.Outcome("fell" if value == "zero" else "result"), [place], 9)
    assert new == ["options | audit --bins | zero | "]
    assert mended == ["options | audit --bins | nan"]
