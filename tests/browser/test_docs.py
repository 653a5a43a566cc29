"""The built documentation in a real browser, as wide as a desk and as a phone: `make docs`, then `make site`.

Nothing is cut, nothing is fetched from elsewhere, nothing complains, and axe finds nothing on any kind of page.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from conftest import ROOT, require

SITE = Path(ROOT / "site")
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("index.html"))
WIDTHS = (1280, 390)

# One page of each kind, and the pages with most on them.
KINDS = {
    "home": "index.html",
    "install": "install/index.html",
    "tutorial": "learn/index.html",
    "tutorial chapter": "learn/02-first-audit/index.html",
    "how to read a report": "learn/reading-a-report/index.html",
    "recipes": "cookbook/index.html",
    "recipe": "cookbook/data/index.html",
    "user guide": "uncertainty/index.html",
    "gallery": "gallery/index.html",
    "methods": "methods/index.html",
    "glossary": "glossary/index.html",
    "migrating": "migrating/fairlearn/index.html",
    "metrics": "metrics/index.html",
    "metric": "metrics/equalized_odds/index.html",
    "names": "reference/index.html",
    "reference": "reference/audits/index.html",
    "commands": "reference/cli/index.html",
    "command": "reference/cli/audit/index.html",
}

# What holds more than it shows. A table scrolls inside itself; nothing else may.
CUT = """() => {
  const seen = "pre, code, .md-typeset h1, .md-typeset p, .md-typeset img, .doc-signature";
  const cut = [...document.querySelectorAll(seen)]
    .filter((node) => !node.closest(".md-typeset__scrollwrap"))
    .filter((node) => node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1
      || node.getBoundingClientRect().right > innerWidth + 1 && node.checkVisibility() && !node.closest(".md-sidebar"))
    .map((node) => `${node.tagName}: ${node.textContent.trim().slice(0, 60)}`);
  const page = document.documentElement.scrollWidth;
  return page > innerWidth ? [`the page is ${page} px wide`, ...cut] : cut;
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing of each request."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site on an address of this machine, because its search does not work from files."""
    require("site", bool(PAGES), "make docs")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def heard(tab: Any, address: str) -> Iterator[list[str]]:
    """What a page complained about, and what it asked of others."""
    told: list[str] = []

    def asked(request: Any) -> None:
        if urlsplit(request.url).netloc != urlsplit(address).netloc and not request.url.startswith(("data:", "blob:")):
            told.append(request.url)

    def said(message: Any) -> None:
        if message.type in ("error", "warning"):
            told.append(message.text)

    def failed(error: Any) -> None:
        told.append(str(error))

    listeners = {"request": asked, "console": said, "pageerror": failed}
    for event, listener in listeners.items():
        tab.on(event, listener)
    yield told
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)


def at(tab: Any, width: int, where: str) -> Any:
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(where)
    tab.wait_for_function("() => document.fonts.status === 'loaded'")
    return tab


@pytest.mark.parametrize("page", PAGES or [pytest.param("", marks=pytest.mark.usefixtures("address"))])
def test_nothing_is_cut_and_nothing_complains(tab: Any, address: str, heard: list[str], page: str):
    at(tab, WIDTHS[0], f"{address}/{page.removesuffix('index.html')}")
    found = {}
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        found[width] = tab.evaluate(CUT)
    assert found == {width: [] for width in WIDTHS}
    assert heard == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(tab: Any, address: str, axe: str, kind: str, width: int):
    assert KINDS[kind] in PAGES, "there is no such page any more: name another of this kind"
    at(tab, width, f"{address}/{KINDS[kind].removesuffix('index.html')}")
    assert violations(tab, axe) == []


@pytest.mark.parametrize("kind", ["home", "user guide", "reference"])
def test_axe_finds_nothing_in_the_dark(browser: Any, address: str, axe: str, kind: str):
    """In a context of its own, because the theme remembers which colours a reader had first."""
    context = browser.new_context(color_scheme="dark", reduced_motion="reduce")
    tab = at(context.new_page(), WIDTHS[0], f"{address}/{KINDS[kind].removesuffix('index.html')}")
    assert tab.evaluate("() => document.body.dataset.mdColorScheme") == "slate"
    assert violations(tab, axe) == []
    context.close()


def violations(tab: Any, axe: str) -> list[str]:
    if not tab.evaluate("() => 'axe' in window"):
        tab.evaluate(axe)
    found = tab.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]


def test_the_search_finds_a_function(tab: Any, address: str, heard: list[str]):
    at(tab, WIDTHS[0], f"{address}/")
    tab.locator(".md-search__input").first.fill("equalized odds")
    tab.wait_for_selector(".md-search-result__item")
    assert re.search("equalized odds", tab.locator(".md-search-result__list").inner_text(), re.IGNORECASE)
    assert heard == []


def test_no_table_that_is_printed_breaks_in_the_middle_of_a_line():
    """At 1280 px a line of 82 signs fits the column. A table is as wide as the line below its head."""
    require("site", bool(PAGES), "make docs")
    rules = [(page, rule) for page in PAGES for rule in re.findall("─{5,}", (SITE / page).read_text(encoding="utf-8"))]
    assert len(rules) > 50
    assert [(page, len(rule)) for page, rule in rules if len(rule) > 81] == []


# Figures of the tutorial that no example of their chapter prints: what a word means, what another chapter prints, and
# two groups that a list leaves out.
ELSEWHERE = {
    "02": {"0.1"},
    "03": {"21.4", "16.3", "24.1", "16.0", "24.0"},
    "06": {"0.5"},
    "07": {"17.1", "61.7", "8.5"},
}


@pytest.mark.parametrize("chapter", [page for page in PAGES if re.match(r"learn/\d", page)])
def test_the_figures_of_the_tutorial_are_those_of_its_outputs(chapter: str):
    """What a chapter says of a number, and the note that it quotes, stand in what its examples print."""
    text = (SITE / chapter).read_text(encoding="utf-8")
    text = text[text.index("<article") : text.index("</article>")]
    code = plain(" ".join(re.findall(r"<pre.*?</pre>", text, re.DOTALL))).replace(",", "")
    prose = plain(re.sub(r"<pre.*?</pre>|<code.*?</code>", "", text, flags=re.DOTALL))
    figures = {figure.replace(",", "") for figure in re.findall(r"(?<![\w.])\d[\d,]*\.\d+|\d+,\d{3}", prose)}
    printed = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", code)]
    unknown = {figure for figure in figures if not any(rounded(number, figure) for number in printed)}
    assert unknown - ELSEWHERE.get(chapter.split("/")[1][:2], set()) == set()
    assert [note for note in re.findall(r'[Nn]otes? "([^"]+)"', prose) if note.lower() not in code.lower()] == []


def rounded(number: float, figure: str) -> bool:
    """Is the figure the number, to as many digits as it has?"""
    return f"{number:.{len(figure.partition('.')[2])}f}" == figure


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def test_every_kind_of_page_is_there():
    require("site", bool(PAGES), "make docs")
    assert sorted(set(KINDS.values()) - set(PAGES)) == []
