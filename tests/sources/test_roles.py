"""What a reader takes is written once: audit, Cube.count, the metric functions and the command line follow it."""

from __future__ import annotations

import datetime
import inspect
import math
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.audits.functions import FUNCTIONS
from evenhand.errors import CallError, EvenhandError
from evenhand.sources.roles import ARGUMENTS, DEFAULTS, TYPES, Roles, assign, shown_type
from support.backends import FILES
from support.commands import COMMANDS

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
    of_roles_alone = {"arrays", "like_scores", "categories", "others", "rivals", "periods"}
    assert {each.name for each in fields(Roles)} == {*DEFAULTS, *of_roles_alone}


@pytest.mark.parametrize("name", READERS)
def test_an_unknown_name_is_a_type_error_that_names_the_nearest(name):
    names = [None] if name == "assign" else []
    with pytest.raises(TypeError, match=rf"{name}\(\) takes no argument 'sensitiv'.*'sensitive'"):
        READERS[name](*names, sensitiv=["a"])


def test_a_metric_refuses_an_unknown_name_too():
    with pytest.raises(CallError, match=r"takes no argument 'sensitiv'; did you mean 'sensitive'\?"):
        eh.demographic_parity(sensitiv=["a"])


@pytest.mark.parametrize("command", ["audit", "cube", "mitigate"])
def test_the_command_line_has_an_option_for_each_that_is_explained(command):
    found = COMMANDS[f"evenhand {command}"]
    options = {each.name for each in found.params}
    without = {"exposure"} if command == "mitigate" else set()  # decisions are mended, and no numbers of events
    assert options >= {name for name, argument in ARGUMENTS.items() if argument.help} - without
    assert "resolution" not in options  # single values are for data in memory


# --- whatever a caller passes

PEOPLE: dict[str, list[Any]] = {
    "race": ["a", "b"] * 50,
    "age": list(range(100)),
    "y": [1, 0, 0, 1] * 25,
    "p": [1, 0, 1, 1] * 25,
    "s": [i / 100 for i in range(100)],
}
HOSTILE: list[Any] = [
    *(None, True, False, 0, 1, -1, 3, 10**400, -(10**400), 2.5, math.nan, math.inf, -math.inf, 1e308, 1j),
    *("", "x", "race", "nan", "^.*$", "\0", "\ud800", "x" * 10_000, b"race", b"\xff", Ellipsis, type, object(), len),
    *([], (), {}, set(), [None], [1, 2], ["race"], ["race", "race"], [["a"]], [math.nan], [[]], [{}], range(3)),
    *({"race": None}, {3: [1, 2]}, {3: None}, {None: None}, {"race": {}}, {"label": []}, {"prediction": None}),
    *({"age": [0, math.nan, 200]}, {"age": [200, 0]}, {"age": "abc"}, {"age": 5}, {"age": [0, 10**400]}),
    *(np.array([]), np.array(3), np.zeros((2, 2)), np.array(["a", "b"] * 50), np.array([None] * 100)),
    *(["a"] * 100, [math.nan] * 100, [{}] * 100, [10**400] * 100, ["\0"] * 100, datetime.date(2020, 1, 1)),
    *(pd.Series([1] * 100), pd.DataFrame(PEOPLE), pd.NA, pd.NaT),
]


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("source", ["table", "file", "arrays", "chunks"])
def test_a_hostile_argument_gives_counts_or_an_error_of_ours(name, source, tmp_path):
    path = FILES["csv"](PEOPLE, tmp_path)
    roles: dict[str, Any] = {"label": "y", "prediction": "p", "score": "s", "sensitive": ["race", "age"]}
    if source == "arrays":
        roles = {key: PEOPLE[column] for key, column in zip(roles, ("y", "p", "s"), strict=False)}
        roles["sensitive"] = {"race": PEOPLE["race"], "age": PEOPLE["age"]}
    for value in HOSTILE:
        data = {"table": PEOPLE, "file": path, "arrays": None, "chunks": iter([PEOPLE])}[source]
        said = ""
        try:
            assert eh.Cube.count(data, **{**roles, "bands": {"age": [0, 50, 100]}, name: value}).size == 100
        except EvenhandError as error:
            said = str(error)
        assert len(said) < 1500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"na": None}, r"na=None must be text that means missing, such as 'NA'; None and NaN do so already"),
        ({"na": [math.nan]}, r"na=\[nan\] must be text"),
        ({"na": {"NA": 1}}, r"na=\{'NA': 1\} must be text"),
        ({"sensitive": []}, r"sensitive= is empty: name at least one column"),
        ({"sensitive": ()}, r"sensitive= is empty"),
        ({"sensitive": {}}, r"sensitive= is empty"),
        ({"bands": {3: [0, 1]}}, r"bands= names '3', which is not an attribute here; there are: 'race'"),
        ({"bands": {None: None}}, r"bands= names 'None', which is not an attribute here"),
        ({"cutoff": 10**400, "score": "s"}, r"cutoff=1000.* must be a finite number"),
        ({"score_range": (0, 10**400), "score": "s"}, r"score_range=.* must be two rising numbers"),
        ({"missing": np.array(["group", "drop"])}, r"missing=array.* must be 'group', 'drop' or 'error'"),
    ],
)
def test_a_plausible_mistake_is_named(arguments, message, tmp_path):
    for data in (PEOPLE, FILES["csv"](PEOPLE, tmp_path)):
        for ask in (eh.audit, eh.Cube.count, eh.demographic_parity):
            with pytest.raises(CallError, match=message):
                ask(data, **{"prediction": "p", "sensitive": "race", **arguments})


def test_the_mistake_where_there_are_only_arrays():
    for empty in ([], (), {}):
        with pytest.raises(EvenhandError, match="sensitive"):
            eh.audit(prediction=PEOPLE["p"], sensitive=empty)
    for ask in (
        lambda: eh.consistency(PEOPLE, prediction="p", na=None),
        lambda: eh.stability([PEOPLE["p"], PEOPLE["y"]], sensitive=PEOPLE["race"], na=None),
        lambda: eh.stability([PEOPLE["p"], PEOPLE["y"]], sensitive=PEOPLE["race"], bands={3: [0, 1]}),
    ):
        with pytest.raises(CallError, match=r"na=None must be text|bands= names '3'"):
            ask()


def test_one_text_means_missing_also_in_chunks():
    table = {**PEOPLE, "y": ["1", "0", "NA", "1"] * 25}
    roles: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": "race"}
    chunks = ({name: values[start : start + 50] for name, values in table.items()} for start in (0, 50))
    assert eh.Cube.count(chunks, **roles, na="NA") == eh.Cube.count(table, **roles, na=["", "NA"])


def test_bands_by_the_number_of_a_column():
    roles: dict[str, Any] = {"prediction": PEOPLE["p"], "sensitive": {3: PEOPLE["age"]}}
    assert len(eh.Cube.count(**roles, bands={3: [0, 50, 100]}).groups) == 2
