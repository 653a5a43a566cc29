"""Every public name is reached from the reference, and the pages in the navigation are those in the folder."""

from __future__ import annotations

import re
from typing import Any

import pytest

import evenhand
from conftest import ROOT
from evenhand import datasets, errors, metrics, mitigate, plots, testing
from evenhand.catalogue import ALIASES, METRICS

REFERENCE = ROOT / "docs" / "reference"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.md"))}
DESCRIBED = {name for text in PAGES.values() for name in re.findall(r"^::: evenhand\.([\w.]+)$", text, re.MULTILINE)}
MODULES = {"mitigate": mitigate, "plots": plots, "testing": testing, "datasets": datasets}
RAISED = [name for name, thing in vars(errors).items() if isinstance(thing, type) and issubclass(thing, Exception)]


def in_the_table(name: str) -> bool:
    """The functions of metrics stand in one table, which the build makes from the catalogue."""
    return "<!-- metric functions -->" in PAGES["metrics"] and (name in METRICS or name in ALIASES)


@pytest.mark.parametrize("name", evenhand.__all__)
def test_every_public_name_is_on_a_page(name: str):
    named = name in ("datasets", "metrics", "__version__") and f"`evenhand.{name}`" in "".join(PAGES.values())
    assert name in DESCRIBED or f"errors.{name}" in DESCRIBED or in_the_table(name) or named


@pytest.mark.parametrize("module", MODULES)
def test_every_name_of_a_module_is_on_a_page(module: str):
    assert [name for name in MODULES[module].__all__ if f"{module}.{name}" not in DESCRIBED] == []


def test_every_error_is_on_a_page():
    assert [name for name in RAISED if not name.startswith("_") and f"errors.{name}" not in DESCRIBED] == []


def test_every_metric_is_in_evenhand_metrics():
    assert [name for name in metrics.names() if not in_the_table(name)] == []


@pytest.mark.parametrize("name", sorted(DESCRIBED))
def test_what_is_described_exists(name: str):
    thing: Any = evenhand
    for part in name.split("."):
        thing = getattr(thing, part)
    assert thing.__doc__


@pytest.mark.parametrize("stem", PAGES)
def test_every_page_of_the_reference_is_in_the_navigation_and_in_the_overview(stem: str):
    assert f"reference/{stem}.md" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert stem == "index" or f"({stem}.md)" in PAGES["index"]


def test_no_name_is_described_twice():
    lines = re.findall(r"^::: (.+)$", "\n".join(PAGES.values()), re.MULTILINE)
    assert len(lines) == len(set(lines))
