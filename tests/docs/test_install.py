"""The page on installing names every extra of the package, and what each brings."""

from __future__ import annotations

import re
import tomllib

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OTHER_NAMES = {"faiss-cpu": "faiss", "ibis-framework": "ibis"}


def libraries(extra: str) -> list[str]:
    names = [re.match(r"[\w-]+", line)[0] for line in EXTRAS[extra]]
    return [OTHER_NAMES.get(name, name) for name in names]


def test_every_extra_is_there():
    assert list(ROWS) == list(EXTRAS)


@pytest.mark.parametrize("extra", [name for name in EXTRAS if name != "all"])
def test_what_an_extra_brings_is_named(extra: str):
    assert [name for name in libraries(extra) if name not in ROWS[extra].lower()] == []


def test_all_is_everything_but_what_the_page_says():
    (line,) = EXTRAS["all"]
    missing = set(EXTRAS) - {"all"} - set(re.search(r"\[(.*)\]", line)[1].split(","))
    assert ROWS["all"] == "everything above but MLflow and wandb"
    assert missing == {"mlflow", "wandb"}


def test_the_oldest_python_is_named():
    assert f"Python {PROJECT['requires-python'].removeprefix('>=')} or newer" in PAGE
