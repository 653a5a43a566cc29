"""What went wrong when a page was made from Markdown: leftover markup, a table that is not one, text cut short."""

from __future__ import annotations

import re
from html.parser import HTMLParser

BLOCKS = {"p", "li", "td", "th", "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6"}
CODE = {"code", "pre", "script", "style", "svg"}
WORD = "<code>"  # stands for a piece of code in the text around it
LINK = "\u200b"  # stands at both ends of a link: a paragraph may end with one, and a link may begin with a number

# In text that is not code. A pipe is part of no sentence, so a line of them is a table that was not recognised.
MARKUP = {
    "a table that is not one": re.compile(r"^\s*\|.*\|\s*$|\|[ :]*-{3}", re.MULTILINE),
    "a fence that is not one": re.compile(r"```|~~~"),
    "emphasis that is none": re.compile(r"\*\*"),
    "a link that is none": re.compile(r"\]\(|\]\["),
    "a list that is none": re.compile(r"(?<=\n)\s*(?:[-*+]|\d+\.)\s"),
    "a box that is none": re.compile(r"^!!!|^\?\?\?", re.MULTILINE),
    "a place that was not filled": re.compile(r"\{\{|\{%"),
}
ENDS = (*".:;!?)]…”\"'", WORD, LINK)  # of a paragraph


def faults(html: str) -> list[str]:
    """What is wrong with a rendered page, each with the text where it is; empty if nothing is."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    found = [f"a place that was not filled: {text}" for text in unfilled(reader.comments)]
    for tag, prose in reader.blocks:
        found += [f"{what}: {short(prose)}" for what, pattern in MARKUP.items() if pattern.search(prose)]
        if tag == "th" and not prose.strip():
            found.append("a column without a title, which no screen reader can name")
        if tag == "p" and prose.strip() and not prose.strip().endswith(ENDS) and not prose.startswith("Bases:"):
            found.append(f"a paragraph that does not end: {short(prose)}")
    return found


def unfilled(comments: list[str]) -> list[str]:
    """The comments that neither say why a block is not run nor stand around what a tool has written: x and /x."""
    ends = {f"/{text}" for text in comments}
    return [text for text in comments if not (text.startswith("not run: ") or text in ends or f"/{text}" in comments)]


def short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 100 else f"{words[:60]} … {words[-40:]}"


class _Reader(HTMLParser):
    """The text of each block of a page; a piece of code is one WORD."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, list[str]]] = []
        self.code = 0
        self.blocks: list[tuple[str, str]] = []
        self.comments: list[str] = []

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        if tag in CODE:
            self.code += 1
        elif tag in BLOCKS:
            self.open.append((tag, []))
        elif tag in ("br", "a") and self.open:
            self.open[-1][1].append("\n" if tag == "br" else LINK)

    def handle_endtag(self, tag: str) -> None:
        if tag in CODE:
            self.code -= 1
            if self.open and not self.code:
                self.open[-1][1].append(WORD)
        elif tag == "a" and self.open:
            self.open[-1][1].append(LINK)
        elif tag in BLOCKS and self.open:
            name, prose = self.open.pop()
            self.blocks.append((name, "".join(prose)))

    def handle_data(self, data: str) -> None:
        if self.open and not self.code:
            self.open[-1][1].append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data.strip())
