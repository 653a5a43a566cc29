"""The functions of the stability metrics: one for each name and alias of the catalogue, with a signature and a text."""

from __future__ import annotations

import inspect

import pytest

import evenhand as eh
from evenhand.catalogue import METRICS
from evenhand.replicas.functions import FUNCTIONS

ENTRIES = [entry for entry in METRICS.values() if entry.family == "stability"]


def test_every_name_and_alias_has_a_function():
    assert list(FUNCTIONS) == [name for entry in ENTRIES for name in (entry.name, *entry.aliases)]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_function_takes_the_arguments_of_stability_and_explains_itself(entry):
    for name in (entry.name, *entry.aliases):
        function = FUNCTIONS[name]
        taken = inspect.signature(function)
        assert getattr(eh, name) is function
        assert (function.__name__, function.__module__) == (name, "evenhand")
        assert set(inspect.signature(eh.stability).parameters) - set(taken.parameters) == {"metrics", "intersections"}
        assert set(taken.parameters) < set(inspect.signature(eh.stability).parameters)
        assert taken.return_annotation is eh.Finding
        assert inspect.getdoc(function).startswith(f"{entry.title}: {entry.question}")
        assert "with a row for each replica of the model" in function.__doc__
