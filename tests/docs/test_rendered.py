"""Markdown that does not become what was meant is found: `make docs` looks at every page, this at the files."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from conftest import ROOT
from rendered import faults

FILES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "benchmarks/README")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
MADE_LATER = re.compile(
    r"^::: .*$|^<!-- (table of metrics|public names|familiar names|metric functions|functions of \w+|commands) -->$",
    re.MULTILINE,
)


def html(markdown: str) -> str:
    return MarkdownIt("commonmark").enable("table").render(markdown)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_page_becomes_what_was_meant(path):
    assert faults(html(MADE_LATER.sub("", path.read_text(encoding="utf-8")))) == []


NAMES = "AAAI ABROCA ASCII BLAS COMPAS DPPL HNSW HTML ITCS JSON LSAT NIST RCNY RMSE SHAP STANDING TOML TRIPOD UGPA"
WORDS = "CHANGELOG CONTRIBUTING README SECURITY MANAGE MEASURE SELECT VALUE WITH"  # of files, of NIST, of SQL


@pytest.mark.parametrize("path", [FILES[0], *FILES[4:]], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_words_in_capitals_are_names(path):
    """A word that stood for a figure to come, and was never replaced, was in capitals."""
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert set(re.findall(r"\b[A-Z]{4,}\b", prose)) <= {*NAMES.split(), *WORDS.split()}


BROKEN = {
    "a row after an empty line": "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| 3 | 4 |",
    "a row of code after an empty line": "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| the decision | `x`, `y` |",
    "a table without its second line": "| a | b |\n| 1 | 2 |",
    "a column without a title": "| | b |\n| --- | --- |\n| 1 | 2 |",
    "a second line that is too short": "| a | b | c |\n| --- | --- |\n| 1 | 2 | 3 |",
    "a fence inside a sentence": "Some ```python\n\nx",
    "emphasis that is not closed": "This **word is bold.",
    "a link with a space": "See [the guide] (guide.md) and [this](no end.",
    "a place of a template": "The value is {{ value }}.",
    "a place that was not filled": "<!-- table of something -->",
    "a sentence that is cut": "The interval is wider because",
    "a box": "!!! note\n    Look.",
}


@pytest.mark.parametrize("markdown", BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_found(markdown: str):
    assert faults(html(markdown))


def test_a_list_that_python_markdown_takes_for_text_is_found():
    assert faults("<p>The rules:\n- one\n- two.</p>")


SOUND = [
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "`P(Y=1 | A=a) equal for all groups a`",
    "the share that breaks\n|difference of scores| ≤ `L` × distance, and more.",
    "A list:\n\n- one\n- two",
    "```text\n| a | b |\n**\n```",
    "![A picture](a.png)",
    "More: [Clusters](clusters.md)",
    "Next:\n[3. Reading a finding](03.md)",
    "<!-- not run: a drawing -->\n```text\nx\n```",
    "<!-- agreement -->\n\n| a |\n| --- |\n| 1 |\n\n<!-- /agreement -->",
]


@pytest.mark.parametrize("markdown", SOUND)
def test_what_is_sound_is_not(markdown: str):
    assert faults(html(markdown)) == []
