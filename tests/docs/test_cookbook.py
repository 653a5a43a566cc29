"""The cookbook: thirty questions, each answered in at most fifteen lines, and all of them in its index."""

from __future__ import annotations

import re

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
