"""What a reader takes is written once: audit, Cube.count, the metric functions and the command line follow it."""

from __future__ import annotations

import inspect
from dataclasses import fields

import click
import pytest

import evenhand as eh
from evenhand.audits.functions import FUNCTIONS
from evenhand.cli import program
from evenhand.errors import CallError
from evenhand.sources.roles import ARGUMENTS, DEFAULTS, TYPES, Roles, assign, shown_type

READERS = {"audit": eh.audit, "Cube.count": eh.Cube.count, "assign": assign}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_shows_every_argument_with_its_type_and_default(name):
    shown = inspect.signature(READERS[name]).parameters
    assert {key: shown[key].default for key in DEFAULTS} == DEFAULTS
    assert {key: shown[key].annotation for key in DEFAULTS} == {key: shown_type(TYPES[key]) for key in DEFAULTS}
    assert {shown[key].kind for key in DEFAULTS} == {inspect.Parameter.KEYWORD_ONLY}
    assert inspect.Parameter.VAR_KEYWORD not in {each.kind for each in shown.values()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_metric_takes_every_argument(name):
    shown = inspect.signature(FUNCTIONS[name]).parameters
    assert {key: shown[key].default for key in DEFAULTS} == DEFAULTS


def test_the_arguments_of_0_1():
    names = [
        *("label", "prediction", "score", "sensitive", "control", "count", "weight", "positive", "cutoff"),
        *("score_range", "higher_is", "bins", "strategy", "resolution", "bands", "missing", "na", "task"),
    ]
    assert [name for name in DEFAULTS if name in names] == names
    set_by_default = {name: DEFAULTS[name] for name in names if DEFAULTS[name] is not None}
    assert set_by_default == {
        **{"positive": 1, "higher_is": "positive", "bins": 10, "strategy": "uniform", "resolution": "grid"},
        **{"missing": "group", "na": ()},
    }


def test_roles_keep_every_argument():
    assert {each.name for each in fields(Roles)} == {*DEFAULTS, "arrays", "like_scores", "categories"}


@pytest.mark.parametrize("name", READERS)
def test_an_unknown_name_is_a_type_error_that_names_the_nearest(name):
    names = [None] if name == "assign" else []
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'sensitiv'.*'sensitive'"):
        READERS[name](*names, sensitiv=["a"])


def test_a_metric_refuses_an_unknown_name_too():
    with pytest.raises(CallError, match=r"takes no argument 'sensitiv'; did you mean 'sensitive'\?"):
        eh.demographic_parity(sensitiv=["a"])


@pytest.mark.parametrize("command", ["audit", "cube", "mitigate"])
def test_the_command_line_has_an_option_for_each_that_is_explained(command):
    found = program.get_command(click.Context(program), command)
    options = {each.name for each in found.params}
    assert options >= {name for name, argument in ARGUMENTS.items() if argument.help}
    assert "resolution" not in options  # single values are for data in memory
