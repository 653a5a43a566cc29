"""What the prose of README, CONTRIBUTING and docs names in code exists: functions, options, targets, extras, files."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import evenhand
import examples
from conftest import ROOT
from support.commands import COMMANDS

FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def code(markdown: str) -> list[str]:
    """The pieces of code inside sentences and tables; a cell of a table may hold an escaped pipe."""
    prose = examples.FENCE.sub("", markdown)
    return [" ".join(piece.split()) for piece in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]


def missing(piece: str) -> list[str]:
    """The names in a piece of code that do not exist; files and the tags of a tracker are no names."""
    other = r"(?!toml\b|gitlab-ci\b|verdict\b|cube_sha256\b|policy_sha256\b)"
    names = re.findall(rf"\b(?:eh|evenhand)\.{other}([A-Za-z_][\w.]*)", piece)
    found = [f"eh.{name}" for name in names if not public(name)]
    if not re.match(r"pip |git |python|benchmarks/", piece):
        found += [option for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", piece) if option not in options()]
    found += [f"evenhand {name}" for name in re.findall(r"^evenhand ([a-z]+)", piece) if name not in commands()]
    found += [f"make {name}" for name in re.findall(r"^make ([a-z]+)", piece) if name not in targets()]
    for extras in re.findall(r"evenhand\[([a-z,]+)\]", piece):
        found += [f"evenhand[{name}]" for name in extras.split(",") if name not in extras_of_the_package()]
    paths = re.findall(r"^(?:benchmarks|tools|docs|tests|src)/[\w/.]+\.\w+", piece)
    return found + [path for path in paths if not (ROOT / path).exists()]


def public(dotted: str) -> bool:
    """A name of the package, or of what is below it as far as that can be known without a value."""
    thing: object = evenhand
    for name in dotted.rstrip(".").split("."):
        if isinstance(thing, type) and name in getattr(thing, "__dataclass_fields__", {}):
            return True
        if not hasattr(thing, name):
            try:
                __import__(f"{getattr(thing, '__name__', '')}.{name}")
            except ImportError:
                return False
        thing = getattr(thing, name)
    return True


@cache
def commands() -> set[str]:
    return {name.split()[1] for name in COMMANDS if name != "evenhand"}


@cache
def options() -> set[str]:
    names = {
        name for command in COMMANDS.values() for each in command.params for name in (*each.opts, *each.secondary_opts)
    }
    return names | {"--help", "--version"}


@cache
def targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@cache
def extras_of_the_package() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_prose_names_exists(path: Path):
    assert [name for piece in code(path.read_text(encoding="utf-8")) for name in missing(piece)] == []


def test_the_figures_of_speed_in_the_readme_have_a_benchmark():
    """They are those of docs/speed.md, where each line names the benchmark that prints it."""
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    lines = [line for line in (ROOT / "docs/speed.md").read_text(encoding="utf-8").splitlines() if ".py" in line]
    figures = re.findall(r"\b(\d[\d,.]*) (?:times|MB)\b", readme.partition("On two cores, ")[2].partition("##")[0])
    assert len(figures) >= 3
    for figure in figures:
        assert any(re.search(rf"\| {re.escape(figure)} (MB )?\|", line) for line in lines), figure
    for script in {name for line in lines for name in re.findall(r"`(\w+\.py)", line)}:
        assert (ROOT / "benchmarks" / script).exists()


@pytest.mark.parametrize(
    "piece",
    [
        "eh.equalised_odds",
        "eh.Cube.cuont(frame)",
        "evenhand.testing.assert_fare",
        "--sensitve",
        "evenhand audits FILE",
        "make benches",
        "pip install 'evenhand[sqll]'",
        "benchmarks/no.py",
    ],
)
def test_a_name_that_does_not_exist_is_found(piece: str):
    assert missing(piece)


@pytest.mark.parametrize(
    "piece",
    ["eh.Cube.merge", "evenhand.errors.EvenhandError", "--policy nyc-ll144", "make bench", "eh.Policy(on='all')"],
)
def test_a_name_that_exists_is_not(piece: str):
    assert missing(piece) == []
