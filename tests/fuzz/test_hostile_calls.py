"""Hostile values everywhere: a call gives a result or refuses in plain words, and nothing else happens.

In the thorough profile every option of every command and every parameter of every public function gets 40 values, and
each kind of file 60 mutants; the fast profile tries a small sample of them, always the same. What is known to fall is
in `known.txt`: a new fall is a failure, and so is one that was mended and is still listed.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from fuzz import calls, commands, mutants, suite
from fuzz.values import TEXTS, VALUES

OPTIONS, PARAMETERS, FILES = (
    suite.by_owner(places) for places in (suite.of_options(), suite.of_parameters(), suite.of_files())
)


def check(attempts, places, few):
    new, mended = suite.falls(attempts, places, few)
    assert not new, "falls:\n" + "\n".join(new)
    assert not mended, "holds now, take it out of known.txt:\n" + "\n".join(mended)


@pytest.mark.parametrize("command", OPTIONS)
def test_options(command, attempts):
    check(attempts, OPTIONS[command], few=12)


@pytest.mark.parametrize("function", PARAMETERS)
def test_parameters(function, attempts):
    check(attempts, PARAMETERS[function], few=6)


@pytest.mark.parametrize("call", FILES)
def test_files(call, attempts):
    check(attempts, FILES[call], few=2)


def test_there_are_forty_values():
    assert len(TEXTS) == len(VALUES) == 40


def test_every_command_has_a_valid_call(attempts, monkeypatch):
    monkeypatch.chdir(attempts.folder)
    assert set(commands.BASES) == set(commands.commands())
    groups = {name for name, command in commands.commands().items() if hasattr(command, "commands")} | {""}
    for written in Path().glob("new.*"):  # by another test, as a file of another kind
        written.unlink()
    for name, bases in commands.BASES.items():
        for base in bases if name not in groups else []:
            code, _, err = commands.run([*name.split(), *base])
            assert code in (0, 1, 3), (name, base, err)


def test_every_public_function_has_a_valid_call(attempts, monkeypatch):
    monkeypatch.chdir(attempts.folder)
    assert set(calls.public()) == set(attempts.bases), "write a base call in tests/fuzz/calls.py"
    for name, base in attempts.bases.items():
        try:
            assert base.call(**base.arguments) is not inspect.Parameter.empty, name
        except base.also:
            continue


def test_every_good_file_is_read(attempts, monkeypatch):
    monkeypatch.chdir(attempts.folder)
    for kind in mutants.KINDS:
        code, _, err = commands.run(kind.arguments(kind.file))
        assert code in (0, 1, 3), (kind.name, err)


def test_what_is_known_to_fall_is_still_tried():
    tried = {(each.group, each.spelled, value) for each in suite.every_place() for value in (*each.values, "*")}
    assert [case for case in suite.known() if case not in tried] == []
