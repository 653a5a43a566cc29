"""help() of everything public explains each parameter, what is returned, and shows an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import evenhand
from evenhand import datasets, mitigate, plots, testing
from evenhand.audits.functions import FUNCTIONS as COUNTED
from evenhand.replicas.functions import FUNCTIONS as OF_REPLICAS
from evenhand.sources.documentation import SECTIONS

DOORS = {"evenhand": evenhand, "mitigate": mitigate, "plots": plots, "testing": testing, "datasets": datasets}


def public() -> Iterator[tuple[str, Any]]:
    for door, module in DOORS.items():
        for name in module.__all__:
            yield f"{door}.{name}", getattr(module, name)


FUNCTIONS = {name: thing for name, thing in public() if inspect.isfunction(thing)}
METHODS = {
    f"{name}.{part}": getattr(value, "__func__", value)
    for name, thing in public()
    if inspect.isclass(thing) and not issubclass(thing, Exception)
    for part, value in vars(thing).items()
    if not part.startswith("_") and inspect.isfunction(getattr(value, "__func__", value))
}


def sections(function: Callable[..., Any]) -> dict[str, str]:
    parts = re.split(rf"(?m)^({'|'.join(SECTIONS)})\n-+\n", inspect.getdoc(function) or "")
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def explained(section: str) -> dict[str, str]:
    """The parameters that a section names, each with what it says."""
    found = re.findall(r"(?m)^(\*{0,2}\w+)(?: :.*|, .*)?\n((?:    .*\n?)*)", section + "\n")
    return {name.lstrip("*"): " ".join(text.split()) for name, text in found}


def lacking(function: Callable[..., Any], *, examples: bool) -> list[str]:
    """What is missing from the docstring of a function."""
    found = sections(function)
    named = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    said = explained(found.get("Parameters", ""))
    missing = [f"parameter {name}" for name in named if not said.get(name)]
    missing += [f"{name}, which is not a parameter" for name in said if name not in named]
    missing += [] if found.get("Returns") else ["Returns"]
    return missing + ([] if not examples or ">>>" in found.get("Examples", "") else ["Examples"])


def test_every_function_has_parameters_returns_and_examples():
    wrong = {name: found for name, thing in FUNCTIONS.items() if (found := lacking(thing, examples=True))}
    assert not wrong
    assert len(FUNCTIONS) >= 165


def test_every_method_has_parameters_and_returns():
    wrong = {name: found for name, thing in METHODS.items() if (found := lacking(thing, examples=False))}
    assert not wrong
    assert len(METHODS) >= 60


def test_a_parameter_that_is_not_explained_is_found():
    def share(of: str, least: int = 1) -> str:
        """The share.

        Parameters
        ----------
        of : str
            Of what.
        """
        return of * least

    assert lacking(share, examples=True) == ["parameter least", "Returns", "Examples"]


@pytest.mark.parametrize("name", ["audit", "demographic_parity", "contest"])
def test_help_says_what_other_libraries_call_an_argument(name):
    said = explained(sections(getattr(evenhand, name))["Parameters"])
    assert "sensitive_features" in said["sensitive"]
    assert "y_true" in said["label"]


@pytest.mark.parametrize("name", [*COUNTED, *OF_REPLICAS])
def test_the_example_of_a_metric_runs(name):
    """Those of other functions are found by pytest in their modules; these are made from the catalogue."""
    function = getattr(evenhand, name)
    example = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, None, 0)
    assert len(example.examples) >= 4
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert result.failed == 0
