"""The cookbook: thirty questions, each answered in at most fifteen lines, and all of them in its index.

The Python of its pages, and of the tutorial, can be typed into a console line by line.
"""

from __future__ import annotations

import re
from codeop import CommandCompiler

import pytest

import examples
from conftest import ROOT

FOLDER = ROOT / "docs" / "cookbook"
MOST_LINES = 15
# The part of a page below each heading, by page and heading.
RECIPES = {
    (path.name, section.partition("\n")[0]): section
    for path in sorted(FOLDER.glob("*.md"))
    if path.name != "index.md"
    for section in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
}
# Every block of Python on these pages, by page and line.
TYPED = {
    f"{path.relative_to(ROOT).as_posix()}:{block.line}": block.source
    for folder in (FOLDER, ROOT / "docs" / "learn")
    for path in sorted(folder.glob("*.md"))
    for block in examples.blocks(path.read_text(encoding="utf-8"))
    if block.language == "python"
}


def typed(source: str) -> str:
    """What a console still waits for after the lines of `source` and an empty one. A SyntaxError where it refuses."""
    compiled, waiting = CommandCompiler(), ""
    for line in [*source.splitlines(), ""]:
        waiting += line
        # As in a console, an empty line ends an indented block, and what is complete is not looked at again.
        waiting = waiting + "\n" if compiled(waiting, symbol="single") is None else ""
    return waiting.strip()


def test_there_are_thirty_and_the_index_lists_each_once():
    listed = re.findall(r"^\| \[(.*?)\]\((\w+\.md)#", (FOLDER / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted((page, question) for question, page in listed) == sorted(RECIPES)
    assert len(RECIPES) == 30


@pytest.mark.parametrize(("page", "question"), RECIPES)
def test_a_recipe_asks_is_short_and_leads_further(page: str, question: str):
    text = RECIPES[page, question]
    assert "?" in question
    shown = [block.source for block in examples.blocks(text) if "hidden" not in block.words]
    assert 0 < sum(source.count("\n") for source in shown) <= MOST_LINES
    assert re.search(r"^\*\*(How to read it|What to change):\*\* ", text, re.MULTILINE)
    assert re.search(r"^More: \[", text, re.MULTILINE)


@pytest.mark.parametrize("source", TYPED.values(), ids=TYPED)
def test_a_block_can_be_typed_into_a_console(source: str):
    assert typed(source) == ""


@pytest.mark.parametrize("after", ["print(1)", "\n    print(1)"], ids=["no empty line", "an empty line inside"])
def test_a_console_refuses(after: str):
    with pytest.raises(SyntaxError):
        typed(f"for x in (1, 2):\n    print(x)\n{after}\n")
    assert typed("for x in (1, 2):\n    print(x)\n\nprint(1)\n") == ""
    assert typed("print(\n") == "print("
