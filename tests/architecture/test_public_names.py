"""What is public: every name is there, in the stubs, with a docstring, and hidden by no module."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import types
from collections.abc import Iterator

import pytest

import evenhand
from conftest import ROOT
from evenhand.audits.functions import FUNCTIONS
from evenhand.catalogue import ALIASES, METRICS
from support.modules import MODULES, PACKAGE, tree


def test_the_stubs_are_those_of_the_catalogue():
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools" / "stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    assert stubs.TARGET.read_text(encoding="utf-8") == stubs.stubs(), "run: make stubs"
    assert stubs.METRICS.read_text(encoding="utf-8") == stubs.metric_stubs(), "run: make stubs"


def test_every_public_name_is_there_and_in_the_stubs():
    declared = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    known = {node.name for node in declared.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    known |= {a.asname for node in declared.body if isinstance(node, ast.ImportFrom) for a in node.names if a.asname}
    assert len(set(evenhand.__all__)) == len(evenhand.__all__)
    for name in evenhand.__all__:
        assert hasattr(evenhand, name), name
        assert name in known, f"{name} is not in __init__.pyi"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_metric_takes_its_roles_by_name_and_explains_itself(name):
    function = FUNCTIONS[name]
    first, second, *rest = inspect.signature(function).parameters.values()
    assert [(each.name, each.default) for each in (first, second)] == [("data", None), ("y_pred", None)]
    assert {each.kind for each in rest} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(each.default is not inspect.Parameter.empty for each in rest)
    assert inspect.signature(function).return_annotation is evenhand.Finding
    assert function.__name__ == name
    assert getattr(evenhand, name) is function
    assert function.metric.title in inspect.getdoc(function).splitlines()[0]


def test_no_module_hides_a_public_function():
    """A submodule that is imported becomes an attribute of its package, in place of what had that name."""
    for _, package in _packages():
        modules = {each.name for each in pkgutil.iter_modules(package.__path__)}
        public = [name for name in getattr(package, "__all__", ()) if not isinstance(getattr(package, name), _MODULE)]
        assert modules.isdisjoint(public), package.__name__


_MODULE = types.ModuleType


def _packages() -> Iterator[tuple[str, types.ModuleType]]:
    for module, path in MODULES.items():
        if path.name == "__init__.py":
            name = f"evenhand.{module}".rstrip(".")
            yield name, importlib.import_module(name)


def test_every_module_says_what_it_is():
    assert [module for module in MODULES if not ast.get_docstring(tree(module))] == []


def test_everything_public_has_a_docstring():
    lacking = []
    for name in evenhand.__all__:
        thing = getattr(evenhand, name)
        if name.startswith("__"):
            continue
        if not inspect.getdoc(thing):
            lacking.append(name)
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for part, value in vars(thing).items():
                shown = isinstance(value, (property, classmethod, staticmethod)) or inspect.isfunction(value)
                if shown and not part.startswith("_") and not inspect.getdoc(value):
                    lacking.append(f"{name}.{part}")
    assert not lacking, ", ".join(lacking)


# --- what an editor proposes


def test_an_editor_proposes_what_people_call_first():
    assert len(dir(evenhand)) <= 40
    assert {"audit", "Cube", "Policy", "metrics", "mitigate", "testing", "plots", "datasets"} <= set(dir(evenhand))
    assert set(dir(evenhand)) - set(evenhand.__all__) == {"fairlearn", "mitigate", "plots", "testing"}
    for name in dir(evenhand):
        assert hasattr(evenhand, name), name


def test_all_metrics_live_in_one_place():
    assert set(dir(evenhand.metrics)) == {*METRICS, *ALIASES} == set(evenhand.metrics.__all__)
    for name in dir(evenhand.metrics):
        assert getattr(evenhand.metrics, name) is getattr(evenhand, name)


@pytest.mark.parametrize("door", ["datasets", "mitigate", "plots", "testing"])
def test_a_door_proposes_its_own_names_only(door):
    module = importlib.import_module(f"evenhand.{door}")
    assert dir(module) == sorted(module.__all__)
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "").startswith(module.__name__)]
    assert {name for name in own if not name.startswith("_")} <= set(module.__all__)


def test_everything_can_be_imported_at_once():
    taken: dict[str, object] = {}
    exec("from evenhand import *", taken)
    assert set(evenhand.__all__) <= set(taken)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("fpr", "evenhand.predictive_equality"),
        ("eo", "evenhand.equalized_odds or evenhand.equal_opportunity"),
        ("equalised_odds", "did you mean 'equalized_odds'"),
    ],
)
def test_a_name_that_is_not_there_names_the_remedy(name, remedy):
    for module in (evenhand, evenhand.metrics):
        with pytest.raises(AttributeError, match=remedy):
            getattr(module, name)
